//! States that are saved by the names of their leaves, and states that begin with zeros.

mod cpu;

use cpu::{client, program};
use xla::{Buffer, CompileOptions, Each, ElementType, Give, HostArray, HostTree};
use xla::{ParallelFunction, PerDevice, Program, Ref, Tree};

#[derive(Tree)]
struct Layer {
    w: Buffer,
    b: Buffer,
}

#[derive(Tree)]
struct State {
    layers: [Layer; 2],
    step: Buffer,
}

fn state() -> HostTree<'static, State> {
    let leaves = (0..5).map(|number| HostArray::scalar(number).expect("a scalar"));
    HostTree::new(leaves).expect("a state")
}

fn saved() -> Vec<(String, HostArray<'static>)> {
    let state = state();
    let named = state.named_leaves("state").into_iter();
    named.map(|(name, leaf)| (name, leaf.clone())).collect()
}

fn restored(leaves: Vec<(String, HostArray<'static>)>) -> Result<HostTree<'static, State>, String> {
    HostTree::from_named_leaves("state", leaves).map_err(|error| error.message().to_owned())
}

#[test]
fn leaves_go_to_their_names_in_any_order() {
    let names: Vec<String> = saved().into_iter().map(|(name, _)| name).collect();
    let wanted = [
        "layers[0].w",
        "layers[0].b",
        "layers[1].w",
        "layers[1].b",
        "step",
    ];
    assert_eq!(names, wanted.map(|name| format!("state.{name}")));
    for first in 0..5 {
        let mut leaves = saved();
        leaves.rotate_left(first);
        assert_eq!(restored(leaves), Ok(state()));
    }
}

#[test]
fn a_leaf_that_is_missing_surplus_or_there_twice_is_named() {
    let mut missing = saved();
    missing.remove(2);
    assert_eq!(
        restored(missing).unwrap_err(),
        "there is no `state.layers[1].w`"
    );
    let mut twice = saved();
    twice.push(twice[3].clone());
    assert_eq!(
        restored(twice).unwrap_err(),
        "`state.layers[1].b` is there twice"
    );
    let mut surplus = saved();
    surplus.push((
        "state.ema".to_owned(),
        HostArray::scalar(0).expect("a scalar"),
    ));
    let message = restored(surplus).unwrap_err();
    assert!(
        message.starts_with("`state.ema` is no leaf of `state`"),
        "{message}"
    );
    // How long a list is, names don't tell.
    let list = HostTree::<Vec<Buffer>>::from_named_leaves("list", []);
    let message = list.expect_err("no structure").message().to_owned();
    assert!(message.contains("with_structure"), "{message}");
}

#[test]
fn zeros_have_the_shapes_of_the_parameter_on_each_device() {
    let client = client(2);
    let text = r#"
        func.func @main(%x: tensor<f32>, %flags: tensor<3xi1>, %sums: tensor<2x2xbf16>)
            -> (tensor<3xi1>, tensor<2x2xbf16>) {
          return %flags, %sums : tensor<3xi1>, tensor<2x2xbf16>
        }"#;
    let program = Program::from_text(text).expect("a program");
    let options = CompileOptions::new().replicas(2);
    type Typed = ParallelFunction<(Ref<Buffer>, Give<(Buffer, Buffer)>), Each<(Buffer, Buffer)>>;
    let typed: Typed = client
        .compile(&program, &options)
        .and_then(|program| program.parallel())
        .expect("it fits");
    let zeros: PerDevice<(Buffer, Buffer)> = typed.zeros(1).expect("zeros");
    assert_eq!(zeros.len(), 2);
    for (zeros, device) in zeros.iter().zip(typed.executable().devices()) {
        assert_eq!(zeros.0.device(), *device);
        assert_eq!(zeros.0.to_host::<bool>().expect("values"), [false; 3]);
        assert_eq!(zeros.1.shape().element_type(), ElementType::Bf16);
        assert_eq!(zeros.1.to_bytes().expect("values"), [0; 8]);
    }
    let message = |outcome: xla::Result<PerDevice<Buffer>>| {
        let error = outcome.expect_err("no such parameter");
        error.message().to_owned()
    };
    assert!(message(typed.zeros(1)).contains("`#1`"), "another type");
    assert!(
        message(typed.zeros(2)).contains("2 parameters"),
        "none there"
    );
}

/// A layout other than row-major is the program's, and the zeros are in it.
#[test]
fn zeros_have_the_layout_of_the_parameter() {
    let client = client(1);
    let program = program("column_major_argument.mlir");
    let typed: ParallelFunction<(Give<Buffer>,), Each<Buffer>> = client
        .compile(&program, &CompileOptions::new())
        .and_then(|program| program.parallel())
        .expect("it fits");
    let zeros = typed.zeros(0).expect("zeros");
    let doubled = typed.call((zeros,)).expect("a layout that fits");
    assert_eq!(doubled[0].to_host::<f32>().expect("values"), [0.0; 6]);
}
