//! A typed call beside the same program's untyped one: what flattening and rebuilding a
//! tree of 100 leaves costs.

#![allow(missing_docs)] // the main function that criterion writes

use benches::side_by_side::{compare, Line};
use criterion::{criterion_group, criterion_main, Criterion};
use xla::{
    Buffer, Client, ClientOptions, CompileOptions, Executable, Function, Give, Plugin, Program,
};

const LEAVES: usize = 100;

/// Takes scalars and gives each plus one, all donated.
fn program() -> Program {
    let mut inputs = Vec::new();
    let mut body = String::new();
    let mut outputs = Vec::new();
    for leaf in 0..LEAVES {
        inputs.push(format!(
            "%a{leaf}: tensor<f32> {{tf.aliasing_output = {leaf} : i32}}"
        ));
        body.push_str(&format!(
            "%b{leaf} = stablehlo.add %a{leaf}, %one : tensor<f32>\n"
        ));
        outputs.push(format!("%b{leaf}"));
    }
    let types = vec!["tensor<f32>"; LEAVES].join(", ");
    let text = format!(
        "func.func @main({}) -> ({types}) {{
           %one = stablehlo.constant dense<1.0> : tensor<f32>
           {body}
           return {} : {types}
         }}",
        inputs.join(", "),
        outputs.join(", "),
    );
    Program::from_text(text).expect("a program")
}

fn compiled(client: &Client) -> Executable {
    let compiled = client.compile(&program(), &CompileOptions::new());
    compiled.expect("it compiles")
}

fn typed(criterion: &mut Criterion) {
    let plugin = Plugin::cpu().unwrap_or_else(|error| panic!("{error}"));
    let options = ClientOptions::new().cpu_device_count(1);
    let client = plugin.client_with(&options).expect("a client");
    let device = client.device(0).expect("a device");
    let start = || -> [Buffer; LEAVES] {
        std::array::from_fn(|_| Buffer::scalar(&device, 0f32).expect("a scalar"))
    };

    let function: Function<(Give<[Buffer; LEAVES]>,), [Buffer; LEAVES]> =
        compiled(&client).typed().expect("it fits");
    let mut state = Some(start());
    let run_typed = |times| {
        for _ in 0..times {
            let before = state.take().expect("the state");
            state = Some(function.call((before,)).expect("a call"));
        }
    };

    let executable = compiled(&client);
    let mut untyped = Some(start());
    let run_untyped = |times| {
        for _ in 0..times {
            let before = untyped.take().expect("the state");
            let outputs = executable.run(before).expect("a run");
            untyped = Some(outputs.into_array().expect("as many"));
        }
    };
    let line = Line {
        names: ["typed", "untyped"],
        ..Line::new("100 leaves, donated")
    };
    compare(criterion, line, run_typed, run_untyped);
}

criterion_group!(all, typed);
criterion_main!(all);
