//! Trees: in which order their leaves come, what they are called, and how they are built
//! again.
//!
//! What a tree gives or lends is seen by the only thing that takes it: a run. The
//! program is the identity, so its outputs are the leaves in their order.

mod cpu;

use std::collections::BTreeMap;

use cpu::{client, compiled_text, device};
use serde_json::Value;
use xla::tree::{Key, Source, Structure};
use xla::{ArgumentList, Buffer, Client, Device, Executable, Outputs, Tree};

/// A device, and programs that give back as many numbers as they take.
struct World {
    client: Client,
    device: Device,
}

impl World {
    fn new() -> World {
        let client = client(1);
        let device = device(&client, 0);
        World { client, device }
    }

    /// A leaf that can be told from others.
    fn leaf(&self, number: usize) -> Buffer {
        Buffer::scalar(&self.device, number as f32).expect("room for a number")
    }

    /// As many leaves as asked for, numbered from 0.
    fn leaves(&self, count: usize) -> Vec<Buffer> {
        (0..count).map(|number| self.leaf(number)).collect()
    }

    /// The program that gives what it takes.
    fn identity(&self, leaves: usize) -> Executable {
        let each =
            |of: &dyn Fn(usize) -> String| (0..leaves).map(of).collect::<Vec<_>>().join(", ");
        compiled_text(
            &self.client,
            &format!(
                "func.func @main({}) -> ({}) {{ return {} {} {} }}",
                each(&|i| format!("%x{i}: tensor<f32>")),
                each(&|_| "tensor<f32>".to_owned()),
                each(&|i| format!("%x{i}")),
                if leaves == 0 { "" } else { ":" },
                each(&|_| "tensor<f32>".to_owned()),
            ),
        )
    }

    /// The numbers of the leaves in the order in which they are lent.
    fn lent(&self, tree: &impl Tree) -> Vec<usize> {
        let mut list = ArgumentList::new();
        tree.lend(&mut list);
        let identity = self.identity(list.len());
        numbers(&identity.run(list).expect("runs"))
    }

    /// Takes a tree apart, passes the leaves through a program and builds it again.
    #[track_caller]
    fn round_trip<T: Tree>(&self, tree: T) -> T {
        let structure = tree.structure();
        let lent = self.lent(&tree);
        let mut list = ArgumentList::new();
        tree.give(&mut list);
        assert_eq!(list.len(), structure.leaf_count(), "{structure:?}");
        assert_eq!(lent.len(), structure.leaf_count(), "{structure:?}");
        assert_eq!(structure.paths("").len(), structure.leaf_count());
        if let Some(leaves) = T::LEAVES {
            assert_eq!(leaves, structure.leaf_count(), "{structure:?}");
            assert_eq!(T::constant_structure(), Some(structure.clone()));
        } else {
            assert_eq!(T::constant_structure(), None);
        }
        let outputs = self.identity(lent.len()).run(list).expect("runs");
        assert_eq!(numbers(&outputs), lent, "lent as it is given");
        let mut outputs = outputs.into_iter();
        let mut source = Source::new(&mut outputs, &structure);
        let rebuilt = T::rebuild(&mut source).expect("its own leaves make it again");
        assert_eq!(outputs.count(), 0, "leaves left of {structure:?}");
        assert_eq!(rebuilt.structure(), structure);
        assert_eq!(self.lent(&rebuilt), lent, "{structure:?}");
        rebuilt
    }
}

fn numbers(outputs: &Outputs) -> Vec<usize> {
    outputs.iter().map(number).collect()
}

#[track_caller]
fn number(leaf: &Buffer) -> usize {
    leaf.to_scalar::<f32>().expect("a number") as usize
}

fn map<T>(entries: impl IntoIterator<Item = (&'static str, T)>) -> BTreeMap<String, T> {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

// Structs.

#[derive(Tree)]
struct Layer {
    w: Buffer,
    b: Buffer,
}

#[derive(Tree)]
struct Maybe {
    w: Buffer,
    b: Option<Buffer>,
}

/// Fields that are not in the order of their names.
#[derive(Tree)]
struct State {
    weights: Buffer,
    bias: Buffer,
    count: Buffer,
}

#[derive(Tree)]
#[tree(sorted)]
struct Sorted {
    b: Buffer,
    #[tree(name = "A name")]
    c: Layer,
    a: Buffer,
    r#type: Buffer,
}

#[derive(Tree)]
struct Numbered(Buffer, Layer, Buffer);

#[derive(Tree)]
struct Nothing;

#[derive(Tree)]
struct Skipping {
    nu: Buffer,
    #[tree(skip)]
    name: String,
    mu: Buffer,
}

#[derive(Tree)]
struct Pair<A, B> {
    second_in_name: B,
    first_in_name: A,
}

#[derive(Tree)]
struct Stack<T, const N: usize> {
    layers: [T; N],
    head: T,
}

#[derive(Tree)]
struct Model {
    state: State,
    opt: Pair<Layer, (Buffer, [Buffer; 2])>,
    nothing: (Nothing, ()),
    ema: Box<Layer>,
}

#[test]
fn fields_come_as_they_are_declared() {
    let world = World::new();
    let state = State {
        bias: world.leaf(1),
        count: world.leaf(2),
        weights: world.leaf(0),
    };
    let structure = state.structure();
    assert_eq!(structure.name(), Some("State"));
    assert_eq!(
        structure.paths("state"),
        ["state.weights", "state.bias", "state.count"]
    );
    assert_eq!(State::LEAVES, Some(3));
    let state = world.round_trip(state);
    assert_eq!(number(&state.weights), 0);
    assert_eq!(number(&state.bias), 1);
    assert_eq!(number(&state.count), 2);
}

#[test]
fn sorted_fields_come_by_name() {
    let world = World::new();
    let sorted = world.round_trip(Sorted {
        b: world.leaf(0),
        c: Layer {
            w: world.leaf(1),
            b: world.leaf(2),
        },
        a: world.leaf(3),
        r#type: world.leaf(4),
    });
    assert_eq!(
        sorted.structure().paths("#0"),
        ["#0.A name.w", "#0.A name.b", "#0.a", "#0.b", "#0.type"]
    );
    assert_eq!(world.lent(&sorted), [1, 2, 3, 0, 4]);
    assert_eq!(number(&sorted.b), 0);
    assert_eq!(number(&sorted.c.b), 2);
    assert_eq!(number(&sorted.a), 3);
    assert_eq!(number(&sorted.r#type), 4);
}

#[test]
fn structs_without_names_and_without_fields() {
    let world = World::new();
    let numbered = world.round_trip(Numbered(
        world.leaf(0),
        Layer {
            w: world.leaf(1),
            b: world.leaf(2),
        },
        world.leaf(3),
    ));
    assert_eq!(
        numbered.structure().paths("x"),
        ["x[0]", "x[1].w", "x[1].b", "x[2]"]
    );
    assert_eq!((number(&numbered.0), number(&numbered.2)), (0, 3));
    assert_eq!(Nothing::LEAVES, Some(0));
    world.round_trip(Nothing);
    world.round_trip(((), [Nothing, Nothing]));
    assert_eq!(<()>::LEAVES, Some(0));
    assert_eq!(<[Layer; 0]>::LEAVES, Some(0));
    world.round_trip::<[Layer; 0]>([]);
}

#[test]
fn what_is_skipped_has_no_leaf_and_is_made_anew() {
    let world = World::new();
    assert_eq!(Skipping::LEAVES, Some(2));
    let skipping = Skipping {
        nu: world.leaf(0),
        name: "adam".to_owned(),
        mu: world.leaf(1),
    };
    assert_eq!(skipping.structure().paths("s"), ["s.nu", "s.mu"]);
    assert_eq!(skipping.name, "adam");
    let skipping = world.round_trip(skipping);
    assert_eq!(skipping.name, "");
    assert_eq!((number(&skipping.nu), number(&skipping.mu)), (0, 1));
}

#[test]
fn nested_and_generic_structs() {
    let world = World::new();
    type Opt = Pair<Layer, (Buffer, [Buffer; 2])>;
    assert_eq!(Opt::LEAVES, Some(5));
    assert_eq!(Model::LEAVES, Some(3 + 5 + 2));
    let mut leaves = world.leaves(10).into_iter();
    let mut next = || leaves.next().expect("ten");
    let model = Model {
        state: State {
            weights: next(),
            bias: next(),
            count: next(),
        },
        opt: Pair {
            second_in_name: (next(), [next(), next()]),
            first_in_name: Layer {
                w: next(),
                b: next(),
            },
        },
        nothing: (Nothing, ()),
        ema: Box::new(Layer {
            w: next(),
            b: next(),
        }),
    };
    let model = world.round_trip(model);
    assert_eq!(
        model.structure().paths("m"),
        [
            "m.state.weights",
            "m.state.bias",
            "m.state.count",
            "m.opt.second_in_name[0]",
            "m.opt.second_in_name[1][0]",
            "m.opt.second_in_name[1][1]",
            "m.opt.first_in_name.w",
            "m.opt.first_in_name.b",
            "m.ema.w",
            "m.ema.b",
        ]
    );
    assert_eq!(world.lent(&model), (0..10).collect::<Vec<_>>());
    assert_eq!(number(&model.opt.second_in_name.1[1]), 5);
    assert_eq!(number(&model.opt.first_in_name.w), 6);
    assert_eq!(number(&model.ema.b), 9);

    assert_eq!(Stack::<Layer, 2>::LEAVES, Some(6));
    assert_eq!(Stack::<Option<Layer>, 2>::LEAVES, None);
    let stack = world.round_trip(Stack::<Option<Buffer>, 3> {
        layers: [Some(world.leaf(0)), None, Some(world.leaf(1))],
        head: Some(world.leaf(2)),
    });
    assert_eq!(
        stack.structure().paths("s"),
        ["s.layers[0]", "s.layers[2]", "s.head"]
    );
    assert!(stack.layers[1].is_none());
}

// What the standard library has.

#[test]
fn tuples_up_to_twelve() {
    let world = World::new();
    macro_rules! tuples {
        ($($count:literal ($($number:literal)+))+) => {$(
            let tuple = ($(world.leaf($number),)+);
            assert_eq!(leaves_of(&tuple), Some($count));
            let paths: Vec<String> = (0..$count).map(|i: usize| format!("t[{i}]")).collect();
            assert_eq!(tuple.structure().paths("t"), paths);
            let tuple = world.round_trip(tuple);
            assert_eq!(world.lent(&tuple), (0..$count).collect::<Vec<usize>>());
        )+};
    }
    tuples!(
        1 (0)
        2 (0 1)
        3 (0 1 2)
        4 (0 1 2 3)
        5 (0 1 2 3 4)
        6 (0 1 2 3 4 5)
        7 (0 1 2 3 4 5 6)
        8 (0 1 2 3 4 5 6 7)
        9 (0 1 2 3 4 5 6 7 8)
        10 (0 1 2 3 4 5 6 7 8 9)
        11 (0 1 2 3 4 5 6 7 8 9 10)
        12 (0 1 2 3 4 5 6 7 8 9 10 11)
    );
    // Twelve different types, some without leaves.
    let l = |number| world.leaf(number);
    let mixed = (
        l(0),
        (),
        [l(1), l(2)],
        vec![l(3)],
        Some(l(4)),
        None::<Buffer>,
        Box::new(l(5)),
        map([("k", l(6))]),
        (l(7),),
        Layer { w: l(8), b: l(9) },
        Nothing,
        Vec::<Buffer>::new(),
    );
    let mixed = world.round_trip(mixed);
    assert_eq!(
        mixed.structure().paths("t"),
        [
            "t[0]",
            "t[2][0]",
            "t[2][1]",
            "t[3][0]",
            "t[4]",
            "t[6]",
            "t[7][\"k\"]",
            "t[8][0]",
            "t[9].w",
            "t[9].b"
        ]
    );
    assert_eq!(world.lent(&mixed), (0..10).collect::<Vec<_>>());
}

fn leaves_of<T: Tree>(_: &T) -> Option<usize> {
    T::LEAVES
}

#[test]
fn arrays_and_lists_come_in_their_order() {
    let world = World::new();
    assert_eq!(<[Layer; 3]>::LEAVES, Some(6));
    assert_eq!(<[[Buffer; 2]; 3]>::LEAVES, Some(6));
    assert_eq!(<[Vec<Buffer>; 3]>::LEAVES, None);
    let array: [[Buffer; 2]; 2] = [
        [world.leaf(0), world.leaf(1)],
        [world.leaf(2), world.leaf(3)],
    ];
    let array = world.round_trip(array);
    assert_eq!(
        array.structure().paths("a"),
        ["a[0][0]", "a[0][1]", "a[1][0]", "a[1][1]"]
    );
    assert_eq!(number(&array[1][0]), 2);
    for length in [0, 1, 5] {
        let list = world.round_trip(world.leaves(length));
        assert_eq!(list.len(), length);
        assert_eq!(world.lent(&list), (0..length).collect::<Vec<_>>());
    }
    let lists = world.round_trip(vec![world.leaves(2), vec![], world.leaves(1)]);
    assert_eq!(
        lists.structure().paths("l"),
        ["l[0][0]", "l[0][1]", "l[2][0]"]
    );
    assert_eq!((lists.len(), lists[1].len()), (3, 0));
    assert_eq!(Vec::<Buffer>::LEAVES, None);
}

#[test]
fn an_option_is_its_content_or_nothing() {
    let world = World::new();
    assert_eq!(Option::<Layer>::LEAVES, None);
    let some = world.round_trip(Some(Layer {
        w: world.leaf(0),
        b: world.leaf(1),
    }));
    assert_eq!(some.structure().paths("o"), ["o.w", "o.b"]);
    assert_eq!(some.map(|layer| number(&layer.b)), Some(1));
    let none = world.round_trip(None::<Layer>);
    assert!(none.is_none());
    assert_eq!(none.structure().leaf_count(), 0);
    // One of each, in one list.
    let list = vec![
        Maybe {
            w: world.leaf(0),
            b: None,
        },
        Maybe {
            w: world.leaf(1),
            b: Some(world.leaf(2)),
        },
    ];
    let list = world.round_trip(list);
    assert_eq!(list.structure().paths("l"), ["l[0].w", "l[1].w", "l[1].b"]);
    assert!(list[0].b.is_none());
    assert_eq!(list[1].b.as_ref().map(number), Some(2));
    // Content without leaves is content.
    assert!(world.round_trip(Some(Nothing)).is_some());
    assert!(world.round_trip(Some(Vec::<Buffer>::new())).is_some());
}

#[test]
fn a_struct_with_the_name_of_a_missing_value_is_there() {
    mod named {
        #[derive(xla::Tree)]
        pub struct None {
            pub leaf: xla::Buffer,
        }
    }
    let world = World::new();
    let there = world.round_trip(Some(named::None {
        leaf: world.leaf(7),
    }));
    assert_eq!(there.map(|there| number(&there.leaf)), Some(7));
}

#[test]
fn a_map_comes_by_key() {
    let world = World::new();
    assert_eq!(BTreeMap::<String, Buffer>::LEAVES, None);
    let keyed = map([
        ("b", world.leaf(0)),
        ("a", world.leaf(1)),
        ("", world.leaf(2)),
    ]);
    let keyed = world.round_trip(keyed);
    assert_eq!(
        keyed.structure().paths("m"),
        [r#"m[""]"#, r#"m["a"]"#, r#"m["b"]"#]
    );
    assert_eq!(world.lent(&keyed), [2, 1, 0]);
    assert_eq!(number(&keyed["a"]), 1);
    let deep = world.round_trip(map([
        ("say \"hi\"", map([("x", world.leaf(0))])),
        ("none", map([])),
    ]));
    assert_eq!(deep.structure().paths("m"), [r#"m["say \"hi\""]["x"]"#]);
    assert!(deep["none"].is_empty());
}

#[test]
fn a_box_is_its_content() {
    let world = World::new();
    assert_eq!(Box::<Layer>::LEAVES, Some(2));
    let boxed = world.round_trip(Box::new(Layer {
        w: world.leaf(0),
        b: world.leaf(1),
    }));
    assert_eq!(
        boxed.structure(),
        Layer::constant_structure().expect("constant")
    );
    let boxed = world.round_trip(Box::new(world.leaves(2)));
    assert_eq!(boxed.structure().paths("b"), ["b[0]", "b[1]"]);
}

#[test]
fn leaves_are_counted_where_types_tell() {
    assert_eq!(Buffer::LEAVES, Some(1));
    assert_eq!(<(Layer, [State; 4], Box<Model>)>::LEAVES, Some(2 + 12 + 10));
    assert_eq!(Maybe::LEAVES, None);
    assert_eq!(<(Layer, Maybe)>::LEAVES, None);
    assert_eq!(<[Maybe; 2]>::LEAVES, None);
    // Also in a constant.
    const LEAVES: Option<usize> = <(Layer, Buffer) as Tree>::LEAVES;
    assert_eq!(LEAVES, Some(3));
    assert_eq!(xla::tree::sum(&[]), Some(0));
    assert_eq!(xla::tree::sum(&[Some(2), None]), None);
}

#[test]
fn structures_can_be_compared_and_shown() {
    let world = World::new();
    let [one, two] = [1, 2].map(|length| world.leaves(length).structure());
    assert_ne!(one, two);
    assert_ne!(one, Structure::leaf());
    assert_eq!(one, world.leaves(1).structure());
    assert_eq!(format!("{two:?}"), "Vec([0]: *, [1]: *)");
    assert_eq!(
        format!("{:?}", Layer::constant_structure().expect("constant")),
        "Layer(.w: *, .b: *)"
    );
    assert_eq!(two.children().len(), 2);
    assert_eq!(two.children()[1], (Key::Index(1), Structure::leaf()));
    assert!(Structure::leaf().children().is_empty());
    assert_eq!(Structure::leaf().name(), None);
    assert_eq!(Structure::leaf().paths("root"), ["root"]);
}

/// A node around a node around a leaf, with a leaf beside each.
fn nested(depth: usize, name: &'static str) -> Structure {
    let mut structure = Structure::leaf();
    for _ in 0..depth {
        let parts = vec![
            (Key::Index(0), structure),
            (Key::Field("b"), Structure::leaf()),
        ];
        structure = Structure::node(name, parts);
    }
    structure
}

#[test]
fn a_structure_nested_a_million_deep_is_one_like_any_other() {
    // Deeper than the stack of this thread: what recursed would end the process.
    let depth = 1_000_000;
    let structure = nested(depth, "n");
    assert_eq!(structure.leaf_count(), depth + 1);
    let copy = structure.clone();
    assert_eq!(copy, structure);
    assert_ne!(nested(depth, "m"), structure);
    assert_ne!(nested(depth - 1, "n"), structure);
    let shown = format!("{copy:?}");
    drop((structure, copy));
    assert_eq!(&shown[..13], "n([0]: n([0]:");
    assert_eq!(shown.matches(".b: *)").count(), depth);
    assert!(shown.ends_with(".b: *), .b: *), .b: *)"));

    // Every leaf has a path, which takes memory of its own: fewer, then.
    let paths = nested(2_000, "n").paths("x");
    assert_eq!(paths.len(), 2_001);
    assert_eq!(paths[0], format!("x{}", "[0]".repeat(2_000)));
    assert_eq!(paths[1], format!("x{}.b", "[0]".repeat(1_999)));
    assert_eq!(paths[2_000], "x.b");
}

#[test]
fn structures_differ_by_name_key_number_and_nesting() {
    let leaf = Structure::leaf;
    let of = |name, parts: Vec<(Key, Structure)>| Structure::node(name, parts);
    let base = of("n", vec![(Key::Index(0), leaf()), (Key::Index(1), leaf())]);
    assert_eq!(base, base.clone());
    for other in [
        of("m", vec![(Key::Index(0), leaf()), (Key::Index(1), leaf())]),
        of("n", vec![(Key::Index(0), leaf()), (Key::Index(2), leaf())]),
        of("n", vec![(Key::Index(0), leaf())]),
        of(
            "n",
            vec![(Key::Index(0), leaf()), (Key::Index(1), of("n", vec![]))],
        ),
        // The same leaves, and the same names in the same order.
        of(
            "n",
            vec![(
                Key::Index(0),
                of("n", vec![(Key::Index(1), leaf()), (Key::Index(1), leaf())]),
            )],
        ),
        leaf(),
    ] {
        assert_ne!(other, base, "{other:?}");
        assert_eq!(other.clone(), other);
    }
}

// Leaves as they are, and copies.

#[test]
fn leaves_can_be_looked_at_with_their_paths() {
    let world = World::new();
    let tree = Maybe {
        w: world.leaf(3),
        b: Some(world.leaf(4)),
    };
    let tree = (tree, map([("k", world.leaf(5))]), None::<Buffer>);
    let leaves = tree.leaves("state");
    let paths: Vec<&str> = leaves.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["state[0].w", "state[0].b", r#"state[1]["k"]"#]);
    let numbers: Vec<usize> = leaves.iter().map(|(_, leaf)| number(leaf)).collect();
    assert_eq!(numbers, [3, 4, 5]);
    assert!(std::ptr::eq(leaves[0].1, &tree.0.w));
    assert!(().leaves("nothing").is_empty());
    assert_eq!(world.leaf(1).leaves("x")[0].0, "x");
}

#[test]
fn a_copy_of_a_tree_shares_nothing_with_it() {
    let world = World::new();
    let add = compiled_text(
        &world.client,
        "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32> {
           %y = stablehlo.add %x, %x : tensor<f32>
           return %y : tensor<f32>
         }",
    );
    let tree = (
        vec![world.leaf(1), world.leaf(2)],
        map([("k", Some(world.leaf(3))), ("n", None)]),
    );
    let copy = tree.copy_on_device().expect("room");
    assert_eq!(copy.structure(), tree.structure());
    assert_eq!(world.lent(&copy), [1, 2, 3]);
    let pairs = tree.leaves("").into_iter().zip(copy.leaves(""));
    for ((_, leaf), (_, copy)) in pairs {
        let [one, other] = [leaf, copy].map(|leaf| leaf.view::<f32>().expect("a view"));
        assert_ne!(one.as_ptr(), other.as_ptr());
    }
    // What is done to the tree's memory is not done to the copy's.
    for leaf in tree.0 {
        let old = number(&leaf);
        let outputs = add.run(leaf).expect("runs");
        assert_eq!(numbers(&outputs), [2 * old]);
    }
    assert_eq!(world.lent(&copy), [1, 2, 3]);
    assert!(copy.1["n"].is_none());
    assert!(().copy_on_device().is_ok());
}

// Rebuilding from other leaves than a tree's own.

#[test]
fn too_few_and_too_many_leaves_are_an_error() {
    let world = World::new();
    fn finished<T: Tree>(world: &World, count: usize, structure: &Structure) -> Option<String> {
        let mut leaves = world.leaves(count).into_iter();
        let finished = Source::new(&mut leaves, structure).finish::<T>();
        finished.err().map(|error| error.to_string())
    }
    let state = State::constant_structure().expect("constant");
    let array = <[Layer; 2]>::constant_structure().expect("constant");
    let list = world.leaves(2).structure();
    let few = |wanted: Option<String>| wanted.expect("leaves are missing");
    for (error, count) in [
        (few(finished::<State>(&world, 2, &state)), 2),
        (few(finished::<[Layer; 2]>(&world, 3, &array)), 3),
        (few(finished::<Vec<Buffer>>(&world, 1, &list)), 1),
        (few(finished::<Vec<Buffer>>(&world, 0, &list)), 0),
        (few(finished::<Buffer>(&world, 0, &Structure::leaf())), 0),
    ] {
        let words = format!("more than the {count} leaves");
        assert!(error.contains(&words), "no `{words}` in: {error}");
    }
    let many = |left: Option<String>| left.expect("leaves are left");
    for (error, count) in [
        (many(finished::<State>(&world, 4, &state)), 3),
        (many(finished::<[Layer; 2]>(&world, 9, &array)), 4),
        (many(finished::<Vec<Buffer>>(&world, 3, &list)), 2),
        (many(finished::<()>(&world, 1, &().structure())), 0),
        (many(finished::<Buffer>(&world, 2, &Structure::leaf())), 1),
    ] {
        let words = format!("took {count} leaves");
        assert!(error.contains(&words), "no `{words}` in: {error}");
    }
    assert_eq!(finished::<State>(&world, 3, &state), None);
    assert_eq!(finished::<[Layer; 2]>(&world, 4, &array), None);
    assert_eq!(finished::<Vec<Buffer>>(&world, 2, &list), None);
    assert_eq!(finished::<()>(&world, 0, &().structure()), None);
}

#[test]
fn another_trees_structure_is_an_error() {
    let world = World::new();
    fn rebuilt<T: Tree>(world: &World, structure: &Structure) -> Option<String> {
        let mut leaves = world.leaves(9).into_iter();
        let rebuilt = T::rebuild(&mut Source::new(&mut leaves, structure));
        rebuilt.err().map(|error| error.to_string())
    }
    let list = world.leaves(2).structure();
    // A struct of two and a list of two have parts of the same kind.
    assert_eq!(rebuilt::<Layer>(&world, &list), None);
    let error = rebuilt::<State>(&world, &list).expect("it has no third part");
    assert!(error.contains("no part 2"), "{error}");
    let error = rebuilt::<(Layer, Buffer)>(&world, &list).expect("its first part is a leaf");
    assert!(error.contains("no part 0"), "{error}");
    // A list has no keys.
    let error = rebuilt::<BTreeMap<String, Buffer>>(&world, &list).expect("no keys");
    assert!(error.contains("map"), "{error}");
    // A leaf is no list, not even an empty one.
    let leaf = Structure::leaf();
    assert!(rebuilt::<Vec<Buffer>>(&world, &leaf).is_some());
    assert!(rebuilt::<BTreeMap<String, Buffer>>(&world, &leaf).is_some());
}

// The order is JAX's.

#[derive(Tree)]
struct Optimizer<A, B> {
    nu: A,
    #[tree(skip)]
    _name: &'static str,
    mu: B,
}

#[derive(Tree)]
#[tree(sorted)]
struct Dicts {
    params: DictParams,
    opt: DictOpt,
    step: Buffer,
}

#[derive(Tree)]
#[tree(sorted)]
struct DictParams {
    w2: Buffer,
    w1: Buffer,
    bias: Buffer,
}

#[derive(Tree)]
#[tree(sorted)]
struct DictOpt {
    nu: BTreeMap<String, Buffer>,
    mu: BTreeMap<String, Buffer>,
}

/// JAX's dict with values of one type each is a map, with several a sorted struct.
#[derive(Tree)]
#[tree(sorted)]
struct ModelDict {
    state: StateOf<ModelWeights, Option<Buffer>>,
    opt: (Optimizer<Vec<Buffer>, BTreeMap<String, Buffer>>, Buffer),
}

#[derive(Tree)]
struct StateOf<W, B> {
    weights: W,
    bias: B,
    count: Buffer,
}

#[derive(Tree)]
#[tree(sorted)]
struct ModelWeights {
    dense: Vec<Maybe>,
    conv: Layer,
}

#[derive(Tree)]
#[tree(sorted)]
struct Empty {
    x: Buffer,
    list: Vec<Buffer>,
    dict: BTreeMap<String, Buffer>,
    tuple: (),
    a: Buffer,
}

/// Compares a tree with the one of the same name in `examples/programs/trees.py`: the
/// order, and the paths, where JAX writes the key of a dict as `['key']`. A field of a
/// sorted struct is such a key there.
#[track_caller]
fn as_in_jax(world: &World, name: &str, tree: impl Tree) {
    let text = include_str!("../examples/programs/oracle/trees.json");
    let oracle: Value = serde_json::from_str(text).expect("JSON");
    let list = |key: &str| oracle[name][key].as_array().expect("a list").clone();
    let order: Vec<usize> = list("order")
        .iter()
        .map(|number| number.as_u64().expect("a number") as usize)
        .collect();
    assert_eq!(world.lent(&tree), order, "{name}");
    let plain = |path: &str| path.replace(['.', '\'', '"', ']'], " ").replace('[', " ");
    let paths: Vec<Vec<String>> = list("paths")
        .iter()
        .map(|path| words(&plain(path.as_str().expect("a path"))))
        .collect();
    let ours = tree.structure().paths("");
    let ours: Vec<Vec<String>> = ours.iter().map(|path| words(&plain(path))).collect();
    assert_eq!(ours, paths, "{name}");
    let again = world.round_trip(tree);
    assert_eq!(world.lent(&again), order, "{name}");
}

fn words(path: &str) -> Vec<String> {
    path.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn leaves_come_in_the_order_of_jax() {
    let world = &World::new();
    let l = |number| world.leaf(number);
    as_in_jax(world, "leaf", l(0));
    as_in_jax(world, "dict", map([("b", l(0)), ("a", l(1)), ("c", l(2))]));
    as_in_jax(
        world,
        "dicts",
        Dicts {
            params: DictParams {
                w2: l(0),
                w1: l(1),
                bias: l(2),
            },
            opt: DictOpt {
                nu: map([("w", l(3))]),
                mu: map([("w", l(4))]),
            },
            step: l(5),
        },
    );
    let keys = ["b", "a10", "a2", "_", "Z", "\u{e9}", "a", ""];
    let keys = keys.iter().enumerate();
    as_in_jax(
        world,
        "keys",
        map(keys.map(|(number, key)| (*key, l(number)))),
    );
    as_in_jax(
        world,
        "named_tuple",
        State {
            weights: l(0),
            bias: l(1),
            count: l(2),
        },
    );
    as_in_jax(
        world,
        "dataclass",
        Optimizer {
            nu: l(0),
            _name: "adam",
            mu: l(1),
        },
    );
    as_in_jax(world, "list", world.leaves(3));
    as_in_jax(world, "list", [l(0), l(1), l(2)]);
    as_in_jax(world, "tuple", ((l(0), l(1)), l(2), (l(3),)));
    let some_of_two = map([("y", Some(l(1))), ("x", None)]);
    as_in_jax(
        world,
        "none",
        (l(0), None::<Buffer>, some_of_two, vec![None, Some(l(2))]),
    );
    as_in_jax(
        world,
        "empty",
        Empty {
            x: l(0),
            list: vec![],
            dict: map([]),
            tuple: (),
            a: l(1),
        },
    );
    as_in_jax(
        world,
        "model",
        ModelDict {
            state: StateOf {
                weights: ModelWeights {
                    dense: vec![
                        Maybe {
                            w: l(0),
                            b: Some(l(1)),
                        },
                        Maybe { w: l(2), b: None },
                    ],
                    conv: Layer { w: l(3), b: l(4) },
                },
                bias: None,
                count: l(5),
            },
            opt: (
                Optimizer {
                    nu: vec![l(6), l(7)],
                    _name: "adam",
                    mu: map([("z", l(8)), ("y", l(9))]),
                },
                l(10),
            ),
        },
    );
}
