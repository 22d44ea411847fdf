//! Results whose structure is known at run time only: built like the argument of their
//! type, or as told, and otherwise refused before anything is run.

mod cpu;

use std::collections::BTreeMap;

use cpu::{client, compiled_text, device, values, vector};
use xla::tree::{Key, Structure};
use xla::{Buffer, Client, Code, Device, Executable, Function, Give, Ref, Tree};

/// A program that adds 1 to each of `inputs` vectors in place; `extra` outputs more are
/// copies of the first.
fn plus_one(client: &Client, inputs: usize, extra: usize) -> Executable {
    let each = |count: usize, of: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..count).map(of).collect()
    };
    let mut outputs = each(inputs, &|i| format!("%y{i}"));
    outputs.extend(each(extra, &|_| "%y0".to_owned()));
    let types = vec!["tensor<2xf32>"; inputs + extra].join(", ");
    let arguments = each(inputs, &|i| {
        format!("%x{i}: tensor<2xf32> {{tf.aliasing_output = {i} : i32}}")
    });
    let sums = each(inputs, &|i| {
        format!("%y{i} = stablehlo.add %x{i}, %one : tensor<2xf32>\n")
    });
    compiled_text(
        client,
        &format!(
            "module @plus_one {{
               func.func @main({}) -> ({types}) {{
                 %one = stablehlo.constant dense<1.0> : tensor<2xf32>
                 {}
                 return {} : {types}
               }}
             }}",
            arguments.join(", "),
            sums.concat(),
            outputs.join(", "),
        ),
    )
}

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

    fn leaf(&self, number: usize) -> Buffer {
        vector(&self.device, &[number as f32, -1.])
    }

    fn leaves(&self, count: usize) -> Vec<Buffer> {
        (0..count).map(|number| self.leaf(number)).collect()
    }
}

/// Checks that it holds `number` after so many additions of 1.
#[track_caller]
fn check(leaf: &Buffer, number: usize, added: usize) {
    let added = added as f32;
    assert_eq!(values(leaf), [number as f32 + added, -1. + added]);
}

#[derive(Tree)]
struct Layer {
    w: Buffer,
    b: Option<Buffer>,
}

#[derive(Tree)]
struct State {
    layers: Vec<Layer>,
    named: BTreeMap<String, Buffer>,
    ema: Option<Box<Layer>>,
}

impl World {
    /// A state of six leaves.
    fn state(&self) -> State {
        let layer = |w: usize, b: Option<usize>| Layer {
            w: self.leaf(w),
            b: b.map(|b| self.leaf(b)),
        };
        State {
            layers: vec![layer(0, Some(1)), layer(2, None), layer(3, None)],
            named: BTreeMap::from([
                ("z".to_owned(), self.leaf(5)),
                ("a".to_owned(), self.leaf(4)),
            ]),
            ema: None,
        }
    }
}

#[track_caller]
fn check_state(state: &State, added: usize) {
    assert_eq!(state.layers.len(), 3);
    check(&state.layers[0].w, 0, added);
    check(state.layers[0].b.as_ref().expect("a bias"), 1, added);
    check(&state.layers[1].w, 2, added);
    assert!(state.layers[1].b.is_none() && state.layers[2].b.is_none());
    check(&state.layers[2].w, 3, added);
    let keys: Vec<&str> = state.named.keys().map(String::as_str).collect();
    assert_eq!(keys, ["a", "z"]);
    check(&state.named["a"], 4, added);
    check(&state.named["z"], 5, added);
    assert!(state.ema.is_none());
}

#[test]
fn a_result_is_built_like_the_argument_of_its_type() {
    let world = World::new();
    let step: Function<(Give<State>,), State> = plus_one(&world.client, 6, 0)
        .typed()
        .expect("nothing is known");
    let mut state = world.state();
    for round in 1..=100 {
        let (next, report) = step.call_reported((state,)).expect("runs");
        assert!(report.all_consumed(), "{report}");
        check_state(&next, round);
        state = next;
    }
    let list: Function<(Give<Vec<Buffer>>,), Vec<Buffer>> = plus_one(&world.client, 3, 0)
        .typed()
        .expect("nothing is known");
    let next = list.call((world.leaves(3),)).expect("runs");
    assert_eq!(next.len(), 3);
    check(&next[2], 2, 1);
    type Map = BTreeMap<String, Buffer>;
    let map: Function<(Give<Map>,), Map> = plus_one(&world.client, 2, 0)
        .typed()
        .expect("nothing is known");
    let next = map.call((world.state().named,)).expect("runs");
    check(&next["a"], 4, 1);
    check(&next["z"], 5, 1);
    type Maybe = Option<Buffer>;
    let maybe: Function<(Give<Maybe>, Give<Buffer>), (Maybe, Buffer)> =
        plus_one(&world.client, 1, 0)
            .typed()
            .expect("nothing is known");
    let (none, one) = maybe.call((None, world.leaf(7))).expect("runs");
    assert!(none.is_none());
    check(&one, 7, 1);
    // The same number of leaves the other way round: an option that is there, and no room
    // for the other.
    let error = maybe.call((Some(world.leaf(7)), world.leaf(8))).err();
    assert!(error.expect("two of one").is_refusal());
}

#[test]
fn a_part_of_the_results_is_built_like_an_argument() {
    let world = World::new();
    // In a tuple, beside what its type tells.
    let step: Function<(Give<State>,), (State, Buffer)> = plus_one(&world.client, 6, 1)
        .typed()
        .expect("nothing is known");
    let (state, loss) = step.call((world.state(),)).expect("runs");
    check_state(&state, 1);
    check(&loss, 0, 1);
    // In an array and a box.
    type List = Vec<Buffer>;
    let step: Function<(Give<List>,), [Box<List>; 2]> = plus_one(&world.client, 2, 2)
        .typed()
        .expect("nothing is known");
    let [first, second] = step.call((world.leaves(2),)).expect("runs");
    check(&first[1], 1, 1);
    check(&second[0], 0, 1);
    check(&second[1], 0, 1);
}

#[derive(Tree)]
struct Stepped {
    state: State,
    loss: Buffer,
}

#[derive(Tree)]
struct Halves {
    front: Vec<Buffer>,
    back: Vec<Buffer>,
}

#[test]
fn a_field_of_the_results_is_built_like_an_argument() {
    let world = World::new();
    let step: Function<(Give<State>,), Stepped> = plus_one(&world.client, 6, 1)
        .typed()
        .expect("nothing is known");
    let Stepped { state, loss } = step.call((world.state(),)).expect("runs");
    check_state(&state, 1);
    check(&loss, 0, 1);
    let step: Function<(Give<Vec<Buffer>>,), Halves> = plus_one(&world.client, 2, 2)
        .typed()
        .expect("nothing is known");
    let Halves { front, back } = step.call((world.leaves(2),)).expect("runs");
    check(&front[1], 1, 1);
    check(&back[1], 0, 1);
}

/// Checks that a call was refused before the plugin was asked, by a message with all these
/// words, and gives what was given.
#[track_caller]
fn refused<R, G>(result: Result<R, xla::FunctionError<G>>, words: &[&str]) -> G {
    let error = result.err().expect("a refusal");
    let text = error.to_string();
    assert_eq!(
        error.error().function(),
        None,
        "the plugin was asked: {text}"
    );
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
    error.into_given().expect("everything comes back")
}

#[test]
fn a_result_that_nothing_tells_of_is_refused_before_the_run() {
    let world = World::new();
    let step: Function<(Give<Buffer>, Give<Buffer>), Vec<Buffer>> = plus_one(&world.client, 2, 0)
        .typed()
        .expect("nothing is known");
    let words = ["`plus_one`", "run time only", "`results_like`"];
    let (a, b) = refused(step.call((world.leaf(1), world.leaf(2))), &words);
    // Not consumed: they can be given again, now that it is told how the list is built.
    let step = step.results_like(world.leaves(2).structure()).expect("two");
    let list = step.call((a, b)).expect("runs");
    check(&list[0], 1, 1);
    check(&list[1], 2, 1);

    let step: Function<(Give<[Buffer; 6]>,), State> = plus_one(&world.client, 6, 0)
        .typed()
        .expect("nothing is known");
    let leaves = || std::array::from_fn(|number| world.leaf(number));
    refused(step.call((leaves(),)), &words);
    let step = step.results_like(world.state().structure()).expect("six");
    check_state(&step.call((leaves(),)).expect("runs"), 1);

    let constant = compiled_text(
        &world.client,
        "func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
           %x = stablehlo.constant dense<2.5> : tensor<2xf32>
           return %x, %x : tensor<2xf32>, tensor<2xf32>
         }",
    );
    let constant: Function<(), Vec<Buffer>> = constant.typed().expect("nothing is known");
    refused(constant.call(()), &["run time only"]);
    let constant = constant
        .results_like(world.leaves(2).structure())
        .expect("two");
    assert_eq!(constant.call(()).expect("runs").len(), 2);
}

#[test]
fn results_of_another_number_than_the_outputs_are_refused_before_the_run() {
    let world = World::new();
    // Two in, three out.
    let step: Function<(Give<Vec<Buffer>>,), Vec<Buffer>> = plus_one(&world.client, 2, 1)
        .typed()
        .expect("nothing is known");
    let words = ["`plus_one` gives 3 outputs", "2 leaves"];
    let (list,) = refused(step.call((world.leaves(2),)), &words);
    check(&list[1], 1, 0);
    let step = step
        .results_like(world.leaves(3).structure())
        .expect("three");
    let next = step.call((list,)).expect("runs");
    assert_eq!(next.len(), 3);
    check(&next[1], 1, 1);
    check(&next[2], 0, 1);
}

#[test]
fn a_structure_of_another_number_is_refused_when_it_is_told() {
    let world = World::new();
    let step = || -> Function<(Give<Vec<Buffer>>,), Vec<Buffer>> {
        plus_one(&world.client, 2, 0)
            .typed()
            .expect("nothing is known")
    };
    for count in [0, 1, 3] {
        let error = step().results_like(world.leaves(count).structure()).err();
        let error = error.expect("another number");
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("2 outputs"), "{error}");
    }
    // Types that tell everything can't be told otherwise.
    let pair: Function<(Give<Vec<Buffer>>,), (Buffer, Buffer)> =
        plus_one(&world.client, 2, 0).typed().expect("fits");
    let same = <(Buffer, Buffer)>::constant_structure().expect("constant");
    let pair = pair.results_like(same).expect("the same");
    let error = pair.results_like(world.leaves(2).structure()).err();
    assert!(error.expect("a list").message().contains("Vec("));
}

#[test]
fn two_arguments_of_one_type_must_be_built_alike_where_a_result_is_like_them() {
    let world = World::new();
    type Two = (Give<Vec<Buffer>>, Give<Vec<Buffer>>);
    let step: Function<Two, (Vec<Buffer>, Vec<Buffer>)> = plus_one(&world.client, 4, 0)
        .typed()
        .expect("nothing is known");
    let (first, second) = step.call((world.leaves(2), world.leaves(2))).expect("runs");
    check(&first[1], 1, 1);
    check(&second[1], 1, 1);
    let (first, second) = refused(
        step.call((world.leaves(1), world.leaves(3))),
        &["built differently", "`results_like`"],
    );
    assert_eq!((first.len(), second.len()), (1, 3));
    let structures = vec![
        (Key::Index(0), first.structure()),
        (Key::Index(1), second.structure()),
    ];
    let step = step
        .results_like(Structure::node("tuple", structures))
        .expect("four");
    let (first, second) = step.call((first, second)).expect("runs");
    assert_eq!((first.len(), second.len()), (1, 3));
    check(&first[0], 0, 1);
    check(&second[2], 2, 1);
    // Where no result is like them they may differ.
    let flat: Function<Two, [Buffer; 4]> = plus_one(&world.client, 4, 0)
        .typed()
        .expect("nothing is known");
    let flat = flat.call((world.leaves(1), world.leaves(3))).expect("runs");
    check(&flat[3], 2, 1);
    type Three = (Give<State>, Give<Vec<Buffer>>, Give<Vec<Buffer>>);
    let state: Function<Three, (State, [Buffer; 3])> = plus_one(&world.client, 9, 0)
        .typed()
        .expect("nothing is known");
    let arguments = (world.state(), world.leaves(1), world.leaves(2));
    let (state, _) = state.call(arguments).expect("runs");
    check_state(&state, 1);
}

#[test]
fn an_ambiguous_whole_is_not_made_of_other_arguments_parts() {
    let world = World::new();
    type Three = (Give<Halves>, Give<Halves>, Give<Vec<Buffer>>);
    let step: Function<Three, (Halves, Halves)> = plus_one(&world.client, 8, 0)
        .typed()
        .expect("nothing is known");
    let halves = |front, back| Halves {
        front: world.leaves(front),
        back: world.leaves(back),
    };
    let arguments = (halves(1, 2), halves(2, 1), world.leaves(2));
    refused(step.call(arguments), &["Halves", "built differently"]);
}

#[test]
fn another_number_of_leaves_is_refused_with_a_table() {
    let world = World::new();
    type Two = (Give<Vec<Layer>>, Give<Buffer>);
    let step: Function<Two, (Vec<Layer>, Buffer)> = plus_one(&world.client, 4, 0)
        .typed()
        .expect("nothing is known");
    let step = step.with_names(&["layers", "scale"]);
    let layers = world.state().layers;
    let words = ["takes 4 arguments", "5 leaves", "(layers: 4, scale: 1)"];
    let (mut layers, scale) = refused(step.call((layers, world.leaf(9))), &words);
    layers.pop();
    let (layers, scale) = step.call((layers, scale)).expect("runs");
    check(layers[0].b.as_ref().expect("a bias"), 1, 1);
    check(&scale, 9, 1);
    let words = ["takes 4 arguments", "1 leaves", "(layers: 0, scale: 1)"];
    let (_, scale) = refused(step.call((vec![], scale)), &words);
    check(&scale, 9, 1);
}

#[test]
fn a_misfit_in_a_list_or_map_is_refused_by_path() {
    let world = World::new();
    let step: Function<(Give<State>,), State> = plus_one(&world.client, 6, 0)
        .typed()
        .expect("nothing is known");
    let step = step.with_names(&["state"]);
    let mut state = world.state();
    for round in 1..20 {
        state.layers[1].w = vector(&world.device, &[1.; 3]);
        let words = ["`state.layers[1].w` (argument 2)", "got f32[3]"];
        (state,) = refused(step.call((state,)), &words);
        state.layers[1].w = vector(&world.device, &[1. + round as f32, round as f32 - 2.]);
        let a = state
            .named
            .insert("a".to_owned(), vector(&world.device, &[1.]));
        let words = [r#"`state.named["a"]` (argument 4)"#, "got f32[1]"];
        (state,) = refused(step.call((state,)), &words);
        state.named.insert("a".to_owned(), a.expect("it was there"));
        state = step.call((state,)).expect("runs");
        check_state(&state, round);
    }
}

#[test]
fn what_is_lent_tells_of_results_too() {
    let world = World::new();
    let copy = compiled_text(
        &world.client,
        "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
           return %y, %x : tensor<2xf32>, tensor<2xf32>
         }",
    );
    let copy: Function<(Ref<Vec<Buffer>>,), Vec<Buffer>> = copy.typed().expect("nothing is known");
    let list = world.leaves(2);
    let swapped = copy.call((&list,)).expect("runs");
    check(&swapped[0], 1, 0);
    check(&swapped[1], 0, 0);
    check(&list[0], 0, 0);
}
