//! What HLO modules say of themselves is what XLA reads in them, and what compilers make of
//! them.

mod cpu;
mod hlo;

use std::fs;

use serde_json::Value;
use xla::{CompileOptions, Donation, Program, Signature};

fn module(name: &str) -> Program {
    let path = cpu::program_path(&format!("modules/{name}.hlo.pb"));
    Program::from_file(path).expect("a module of XLA's")
}

fn oracle() -> Value {
    let text = fs::read(cpu::program_path("oracle/modules.json")).expect("there");
    serde_json::from_slice(&text).expect("JSON")
}

/// The oracle's list of this name, of numbers or truth values.
fn listed<'v>(told: &'v Value, name: &str) -> &'v Vec<Value> {
    told[name].as_array().expect("a list")
}

/// The donation of each input as XLA's text has it.
fn donations(told: &Value) -> Vec<Donation> {
    let mut donations = vec![Donation::None; listed(told, "inputs").len()];
    for entry in listed(told, "donated") {
        let number = |index: usize| entry[index].as_u64().expect("a number") as usize;
        donations[number(0)] = Donation::Into {
            output: number(1),
            required: entry[2].as_bool().expect("a truth value"),
        };
    }
    for entry in listed(told, "offered") {
        donations[entry.as_u64().expect("a number") as usize] = Donation::Offered;
    }
    donations
}

#[track_caller]
fn check(name: &str, signature: &Signature, told: &Value) {
    assert_eq!(signature.name(), told["name"], "{name}");
    assert_eq!(signature.has_collectives(), told["collectives"], "{name}");
    let inputs = listed(told, "inputs");
    assert_eq!(signature.inputs().len(), inputs.len(), "{name}");
    for (input, told) in signature.inputs().iter().zip(inputs) {
        assert_eq!(input.name(), told["name"].as_str(), "{name}");
        assert_eq!(input.shape().to_string(), told["type"], "{name}");
        assert_eq!(input.layout().to_string(), told["layout"], "{name}");
    }
    let outputs = listed(told, "outputs");
    assert_eq!(signature.outputs().len(), outputs.len(), "{name}");
    for (output, told) in signature.outputs().iter().zip(outputs) {
        assert_eq!(output.shape().to_string(), told["type"], "{name}");
        assert_eq!(output.layout().to_string(), told["layout"], "{name}");
    }
    let donated: Vec<Donation> = signature.inputs().iter().map(|it| it.donation()).collect();
    assert_eq!(donated, donations(told), "{name}");
}

#[test]
fn modules_say_what_xla_reads_in_them() {
    let oracle = oracle();
    let oracle = oracle.as_object().expect("an object");
    assert_eq!(oracle.len(), 6);
    for (name, told) in oracle {
        let signature = module(name).signature().expect("it is read");
        assert!(!signature.is_compiled());
        check(name, &signature, told);
    }
}

/// As their sources have it: `returned` gives (y, x + y, x); `nested` gives its first two
/// parameters through a call that swaps them, a copy and tuples in tuples.
#[test]
fn returned_inputs_are_found() {
    for (name, wanted) in [
        ("returned", &[Some(1), None, Some(0)][..]),
        ("nested", &[Some(0), Some(1), None, Some(1), None, Some(3)]),
        ("while_loop", &[None, None, None]),
        ("single", &[None]),
    ] {
        let signature = module(name).signature().expect("it is read");
        let outputs = signature.outputs().iter();
        let returned: Vec<_> = outputs.map(|output| output.returned_input()).collect();
        assert_eq!(returned, wanted, "{name}");
    }
}

/// Donated inputs, their outputs and all names are the same once the program is compiled; what is
/// offered has found its output.
#[test]
fn compilers_say_the_same() {
    let client = cpu::client(4);
    for (name, partitions) in [
        ("while_loop", 1),
        ("single", 1),
        ("returned", 1),
        ("sharded", 4),
        ("shard_map", 4),
    ] {
        let program = module(name);
        let stated = program.signature().expect("it is read");
        let options = CompileOptions::new().partitions(partitions);
        let compiled = client.compile(&program, &options).expect(name);
        let compiled = compiled.signature();
        assert!(compiled.is_compiled());
        assert_eq!(compiled.name(), stated.name());
        for (compiled, stated) in compiled.inputs().iter().zip(stated.inputs()) {
            assert_eq!(compiled.name(), stated.name(), "{name}");
            if let Some(whole) = compiled.global_shape() {
                assert_eq!(whole, *stated.shape(), "{name}");
            }
            match stated.donation() {
                Donation::Offered => {
                    let found = matches!(compiled.donation(), Donation::Into { .. });
                    assert!(found, "{name}: {:?}", compiled.donation());
                }
                donation => assert_eq!(compiled.donation(), donation, "{name}"),
            }
        }
        assert_eq!(compiled.outputs().len(), stated.outputs().len(), "{name}");
        if partitions == 1 {
            let outputs = compiled.outputs().iter().zip(stated.outputs());
            for (compiled, stated) in outputs {
                assert_eq!(compiled.shape(), stated.shape(), "{name}");
                assert_eq!(compiled.returned_input(), stated.returned_input(), "{name}");
            }
            let advice = compiled.donation_advice();
            assert_eq!(advice, stated.donation_advice(), "{name}");
        }
    }
}

/// The same of text.
#[test]
fn text_says_which_inputs_it_returns() {
    let text = "func.func @main(%w: tensor<4xf32>, %x: tensor<4xf32>, %n: tensor<i32>)
        -> (tensor<4xf32>, tensor<4xf32>, tensor<i32>) {
          %y = stablehlo.add %w, %x : tensor<4xf32>
          return %x, %y, %n : tensor<4xf32>, tensor<4xf32>, tensor<i32>
        }";
    let program = Program::from_text(text).expect("text");
    let stated = program.signature().expect("it is read");
    let client = cpu::client(1);
    let compiled = client.compile(&program, &CompileOptions::new());
    let compiled = compiled.expect("it compiles");
    for signature in [&stated, compiled.signature()] {
        let outputs = signature.outputs().iter();
        let returned: Vec<_> = outputs.map(|output| output.returned_input()).collect();
        assert_eq!(returned, [Some(1), None, Some(2)]);
    }
    // `x` goes into its own output, so that `w` is left for the sum.
    let advice = stated.donation_advice();
    assert_eq!(advice, compiled.donation_advice());
    let pairs: Vec<_> = advice
        .candidates()
        .iter()
        .map(|it| (it.input, it.output))
        .collect();
    assert_eq!(pairs, [(0, 1), (1, 0), (2, 2)]);
}

/// Bytecode states its replicas and partitions as text does: nobody has to say them.
#[test]
fn bytecode_runs_on_as_many_devices_as_it_states() {
    let client = cpu::client(4);
    let file = |name: &str| {
        let path = cpu::program_path(&format!("modules/{name}"));
        Program::from_file(path).expect("bytecode")
    };
    let artifact = file("sgd_gspmd_4.stablehlo");
    let compiled = client.compile(&artifact, &CompileOptions::new());
    let compiled = compiled.expect("every plugin reads so old an artifact");
    let signature = compiled.signature();
    assert_eq!((signature.replicas(), signature.partitions()), (1, 4));
    let text = cpu::compiled(&client, "sgd_gspmd_4");
    for (of_bytecode, of_text) in signature.inputs().iter().zip(text.signature().inputs()) {
        assert_eq!(of_bytecode.shape(), of_text.shape());
        assert_eq!(of_bytecode.sharding(), of_text.sharding());
        assert_eq!(of_bytecode.donation(), of_text.donation());
    }
    let otherwise = client.compile(&artifact, &CompileOptions::new().partitions(2));
    let error = otherwise.expect_err("another number");
    assert!(error.message().contains("states 4"), "{error}");

    let replicas = client.compile(&file("all_reduce_replicas_4.bc"), &CompileOptions::new());
    let replicas = replicas.expect("it compiles");
    assert_eq!(replicas.signature().replicas(), 4);
    // What is written for one device, and speaks to no other, runs on several.
    let add = cpu::program("add.bc");
    let twice = client.compile(&add, &CompileOptions::new().replicas(2));
    assert_eq!(twice.expect("it compiles").signature().replicas(), 2);
}

/// Seven of four bits take four bytes, before compiling and behind.
#[test]
fn narrow_elements_are_packed() {
    const S4: u64 = 21;
    let seven = hlo::array(S4, &[7]);
    let same = [
        hlo::parameter(1, 0, &seven),
        hlo::instruction(2, "copy", &seven, &[1], vec![]),
    ];
    let module = hlo::module("packed", std::slice::from_ref(&seven), &seven, &same, 2);
    let program = Program::from_hlo(module).expect("a module");
    let stated = program.signature().expect("it is read");
    let compiled = cpu::client(1).compile(&program, &CompileOptions::new());
    let compiled = compiled.expect("it compiles");
    for signature in [&stated, compiled.signature()] {
        assert_eq!(signature.inputs()[0].shape().to_string(), "s4[7]");
        assert_eq!(signature.inputs()[0].device_bytes(), 4);
        assert_eq!(signature.outputs()[0].device_bytes(), 4);
    }
}
