//! Programs inspected without being compiled, and without a plugin.

use serde_json::{json, Value};

use crate::{command, json, output, program, read_json, refused, text, Folder};

/// What a program says of itself where there is no plugin.
fn stated(path: &str) -> Value {
    let words = ["inspect", path, "--no-compile", "--json"];
    let told = command(&words)
        .env("XLA_PJRT_CPU_PLUGIN", "/nowhere/plugin.so")
        .output();
    read_json(0, &words, &told.expect("starts"))
}

#[test]
fn a_program_says_what_its_compiled_form_says() {
    for name in [
        "sgd_step.mlir",
        "sgd_step.hlo.pb",
        "must_alias.hlo.pb",
        "add.mlir",
        "add.hlo.pb",
        "counter.mlir",
        "train_step_1.mlir",
        "train_step_1_undonated.mlir",
        "matmul_bf16.mlir",
        "init.mlir",
        "shuffle.mlir",
        "evaluate_1.mlir",
    ] {
        let path = program(name);
        let (mut stated, mut compiled) = (stated(&path), json(&["inspect", &path]));
        assert_eq!(
            (&stated["compiled"], &compiled["compiled"]),
            (&json!(false), &json!(true))
        );
        let left_out = stated["left_out"].as_str().expect("a sentence");
        assert!(left_out.contains("memory isn't told"), "{left_out}");
        assert!(compiled.get("left_out").is_none());
        for told in [&mut stated, &mut compiled] {
            let fields = told.as_object_mut().expect("an object");
            for field in ["compiled", "left_out", "memory", "platform"] {
                fields.remove(field);
            }
        }
        assert_eq!(stated, compiled, "{name}");
    }
}

#[test]
fn of_several_partitions_only_the_whole_is_known() {
    let told = stated(&program("two_devices.mlir"));
    assert_eq!(told["partitions"], 2);
    let row = &told["inputs"][0];
    assert_eq!(
        (&row["type"], &row["global_type"]),
        (&Value::Null, &json!("f32[2,4]"))
    );
    assert!(row["sharding"].is_null());
    assert!(told.get("advice").is_none());
    let left_out = told["left_out"].as_str().expect("a sentence");
    assert!(left_out.contains("shapes on each device"), "{left_out}");
}

#[test]
fn donors_are_offered() {
    let folder = Folder::new();
    let path = folder.write(
        "offers.mlir",
        "module @offers {
           func.func @main(%w: tensor<2xf32> {jax.buffer_donor = true}, %x: tensor<2xf32>,
                           %n: tensor<3xi32>) -> (tensor<2xf32>, tensor<3xi32>) {
             %y = stablehlo.add %w, %x : tensor<2xf32>
             %m = stablehlo.add %n, %n : tensor<3xi32>
             return %y, %m : tensor<2xf32>, tensor<3xi32>
           }
         }",
    );
    let told = stated(&path);
    assert_eq!(told["inputs"][0]["donation"], json!({"kind": "offered"}));
    // The output of the size of `w` is taken by it.
    let candidates = told["advice"]["candidates"].as_array().expect("a list");
    assert_eq!(candidates.len(), 1);
    assert_eq!(
        (&candidates[0]["input"], &candidates[0]["output"]),
        (&json!(2), &json!(1))
    );
    let compiled = json(&["inspect", &path]);
    assert_eq!(compiled["inputs"][0]["donation"]["kind"], "into");
    assert_eq!(
        compiled["advice"]["candidates"],
        told["advice"]["candidates"]
    );
    let shown = output(&["inspect", &path, "--no-compile"]);
    let shown = text(&shown.stdout);
    for part in [
        "offers (1 replica x 1 partition), not compiled",
        "offered for donation\n",
    ] {
        assert!(shown.contains(part), "no `{part}` in:\n{shown}");
    }
    let drawn = output(&["inspect", &path, "--no-compile", "--diagram", "mermaid"]);
    let drawn = text(&drawn.stdout);
    assert!(drawn.starts_with("flowchart LR\n"), "{drawn}");
    assert!(drawn.contains("in0 -.->|offered| none"), "{drawn}");
}

#[test]
fn what_needs_a_compiler_is_said() {
    let bytecode = program("add.bc");
    refused(
        1,
        &["inspect", &bytecode, "--no-compile"],
        &["add.bc", "MLIR bytecode", "as text"],
    );
    assert_eq!(json(&["inspect", &bytecode])["compiled"], true);
    let add = program("add.mlir");
    for more in ["--compile", "--partitions=2", "--plugin=cpu"] {
        refused(
            2,
            &["inspect", &add, "--no-compile", more],
            &["cannot be used with"],
        );
    }
    let folder = Folder::new();
    let cut = folder.write("cut.xla", "xlapjrt\u{2}");
    refused(
        1,
        &["inspect", &cut],
        &["no whole kept executable", "end early"],
    );
    let dynamic = folder.write(
        "dynamic.mlir",
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }",
    );
    refused(
        1,
        &["inspect", &dynamic, "--no-compile"],
        &["dynamic.mlir", "input 0", "static shapes"],
    );
    // A length that the file doesn't have.
    let lying = folder.write("lying.pb", [0x1a, 0xff, 0xff, 0xff, 0xff, 7, 0x12]);
    refused(
        1,
        &["inspect", &lying],
        &["lying.pb", "longer than what is there at byte 0"],
    );
}
