//! Inputs of a program meant by name.

mod cpu;

use cpu::{client, compiled, compiled_text};
use xla::{Buffer, Executable, HostArray, HostTree, PerDevice, Tree, Which};

#[derive(Tree)]
struct Params {
    w1: Buffer,
    b1: Buffer,
    w2: Buffer,
}

#[derive(Tree)]
struct Mixed {
    w2: Buffer,
    b1: Buffer,
    w1: Buffer,
}

/// The program that JAX exported with `params` (w1, b1, w2) and `batch` (x, y), on 2 x 2 devices.
fn partitioned() -> Executable {
    compiled(&client(4), "partitioned_2x2")
}

fn array(first: usize, dims: &[usize]) -> HostArray<'static> {
    let count: usize = dims.iter().product();
    let values: Vec<f32> = (first..first + count).map(|n| n as f32).collect();
    HostArray::new(&values, dims).expect("as many")
}

fn params() -> HostTree<'static, Params> {
    HostTree::new([array(0, &[4, 8]), array(100, &[8]), array(200, &[8, 2])]).expect("three")
}

#[track_caller]
fn refused<T>(outcome: xla::Result<PerDevice<T>>) -> String {
    let Err(error) = outcome else {
        panic!("it was placed")
    };
    assert_eq!(error.code(), xla::Code::InvalidArgument, "{error}");
    error.to_string()
}

#[test]
fn a_name_is_an_input_or_all_that_begin_with_it() {
    let step = partitioned();
    let names: Vec<_> = step.signature().inputs().iter().map(|i| i.name()).collect();
    let wanted = ["params.w1", "params.b1", "params.w2", "batch.x", "batch.y"].map(Some);
    assert_eq!(names, wanted, "what is named below is there");

    let by_number = step.place(0, &params()).expect("placed");
    for by_name in [
        step.place("params", &params()),
        step.place(&"params".to_owned(), &params()),
        step.place(Which::Name("['params']"), &params()),
        step.place_split("params", &params()),
    ] {
        for (named, numbered) in by_name.expect("placed").iter().zip(by_number.iter()) {
            for ((path, leaf), (_, wanted)) in named.leaves("").iter().zip(numbered.leaves("")) {
                assert_eq!(leaf.device(), wanted.device(), "{path}");
                assert_eq!(
                    leaf.to_host::<f32>().expect("values"),
                    wanted.to_host::<f32>().expect("values"),
                    "{path}"
                );
            }
        }
    }

    // A leaf alone: the eight rows of y are split over the mesh's first axis.
    let y: HostTree<'_, Buffer> = array(0, &[8, 2]).into();
    for name in ["batch.y", "batch['y']", "batch[\"y\"]"] {
        let placed = step.place(name, &y).expect("placed");
        let parts: Vec<Vec<f32>> = placed
            .iter()
            .map(|part| part.to_host().expect("values"))
            .collect();
        let halves: [Vec<f32>; 2] = [(0..8), (8..16)].map(|n| n.map(|n| n as f32).collect());
        assert_eq!(parts, [0, 0, 1, 1].map(|half| halves[half].clone()));
    }
}

#[test]
fn a_name_that_there_is_not_is_refused_with_those_that_there_are() {
    let step = partitioned();
    let y: HostTree<'_, Buffer> = array(0, &[8, 2]).into();
    for name in ["weights", "params.w3", "y", "param", "batch.y.z", "", "[]"] {
        let message = refused(step.place(name, &y));
        let wanted = format!(
            "has no input `{name}`; it has `params.w1`, `params.b1`, `params.w2`, `batch.x`, `batch.y`"
        );
        assert!(message.contains(&wanted), "{message}");
    }
    // Another number of leaves than the name stands for.
    let message = refused(step.place("params", &y));
    let wanted = "1 array for `params` of `jit_step`, but that is 3 inputs: `params.w1`, \
                  `params.b1`, `params.w2`; say the number of the first input to go by";
    assert!(message.contains(wanted), "{message}");
    let message = refused(step.place("params.w1", &params()));
    assert!(
        message.contains("that is 1 input: `params.w1`"),
        "{message}"
    );

    // The same leaves in another order.
    let mixed = HostTree::<Mixed>::new([array(0, &[8, 2]), array(0, &[8]), array(0, &[4, 8])]);
    let message = refused(step.place("params", &mixed.expect("three")));
    for words in ["leaf 0 of `params` is `w2`", "the program has `params.w1`"] {
        assert!(message.contains(words), "no {words} in: {message}");
    }
}

#[test]
fn a_program_without_names_wants_numbers() {
    let client = client(1);
    let text = "module @bare { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { \
                return %a : tensor<2xf32> } }";
    let bare = compiled_text(&client, text);
    let x: HostTree<'_, Buffer> = array(5, &[2]).into();
    assert_eq!(bare.signature().inputs()[0].name(), None);
    let message = refused(bare.place("a", &x));
    let wanted = "`bare` names none of its inputs; say the number";
    assert!(message.contains(wanted), "{message}");
    let placed = bare.place(0, &x).expect("placed");
    assert_eq!(placed[0].to_host::<f32>().expect("values"), [5., 6.]);
}

#[test]
fn many_names_are_not_all_listed() {
    let inputs: Vec<String> = (0..20)
        .map(|n| format!("%a{n}: tensor<f32> loc(\"s.a{n}\")"))
        .collect();
    let text = format!(
        "module @many {{ func.func @main({}) -> tensor<f32> {{ return %a0 : tensor<f32> }} }}",
        inputs.join(", ")
    );
    let many = compiled_text(&client(1), &text);
    let x: HostTree<'_, Buffer> = array(5, &[]).into();
    let message = refused(many.place("t", &x));
    assert!(message.contains("`s.a0`, "), "{message}");
    assert!(message.ends_with("`s.a15` and 4 more"), "{message}");
    let placed = many.place("s.a19", &x).expect("placed");
    assert_eq!(placed[0].to_scalar::<f32>().expect("a value"), 5.);
}
