//! The programs of the examples give the oracle's numbers.

use serde_json::Value;

use crate::{json, listed, numbers, oracle, program};

/// How the arguments of several devices are written.
#[derive(Clone, Copy, Debug)]
enum Written {
    /// All of an array, which the command splits.
    Whole,
    /// `--arg@D SPEC`, each device's part.
    EachApart,
    /// `--arg@D=SPEC`.
    EachTogether,
    /// `--arg-on D=SPEC`.
    On,
}

/// What `xla run` gives, output by output; several devices have a list each.
fn run(name: &str, file: &str, lesson: &Value, written: Written) -> Vec<Value> {
    let mut words = vec!["run".to_owned(), program(file)];
    let arguments = lesson["arguments"].as_array().expect("a list");
    for argument in arguments {
        let Some(parts) = argument["per_device"].as_array() else {
            words.extend(["--arg".to_owned(), listed(&numbers(&argument["data"]))]);
            continue;
        };
        for (device, part) in parts.iter().enumerate() {
            let values = listed(&numbers(part));
            match written {
                Written::Whole => {
                    words.extend(["--arg".to_owned(), listed(&numbers(&argument["data"]))]);
                    break;
                }
                Written::EachApart => words.extend([format!("--arg@{device}"), values]),
                Written::EachTogether => words.push(format!("--arg@{device}={values}")),
                Written::On => words.extend(["--arg-on".to_owned(), format!("{device}={values}")]),
            }
        }
    }
    let count = |what: &str| lesson[what].as_u64().expect("a count");
    let devices = count("replicas") * count("partitions");
    words.extend(["--devices".to_owned(), devices.to_string()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let told = json(&words);
    let used = told["devices"].as_array().expect("a list").len();
    assert_eq!(used as u64, devices, "{name}");
    told["outputs"].as_array().expect("a list").clone()
}

fn check(name: &str, file: &str, lesson: &Value, written: Written) {
    let outputs = run(name, file, lesson, written);
    let results = lesson["results"].as_array().expect("a list");
    assert_eq!(outputs.len(), results.len(), "{name}");
    for (index, (output, result)) in outputs.iter().zip(results).enumerate() {
        let what = format!("{file}, {written:?}, output {index}");
        let local = result.get("local_dims").unwrap_or(&result["dims"]);
        let dtype = match result["dtype"].as_str().expect("text") {
            "i32" => "s32",
            "ui32" => "u32",
            other => other,
        };
        let wanted = format!("{dtype}{}", local.to_string().replace(' ', ""));
        assert_eq!(output["type"], wanted.as_str(), "{what}");
        match result["per_device"].as_array() {
            None => assert_eq!(
                numbers(&output["values"]),
                numbers(&result["data"]),
                "{what}"
            ),
            Some(parts) => {
                let given = output["values"].as_array().expect("a list");
                assert_eq!(given.len(), parts.len(), "{what}");
                for (given, wanted) in given.iter().zip(parts) {
                    assert_eq!(numbers(given), numbers(wanted), "{what}");
                }
            }
        }
    }
}

/// All files of all lessons but the one that is compiled already.
fn check_all(devices: u64) {
    let mut checked = 0;
    for (name, lesson) in oracle("lessons").as_object().expect("lessons") {
        let count = |what: &str| lesson[what].as_u64().expect("a count");
        if count("replicas") * count("partitions") != devices {
            continue;
        }
        let arguments = lesson["arguments"].as_array().expect("a list");
        let is_whole = arguments.iter().all(|it| it.get("data").is_some());
        for file in lesson["files"].as_object().expect("files").keys() {
            if file == "scheduled.hlo.pb" {
                continue;
            }
            if is_whole {
                check(name, file, lesson, Written::Whole);
            }
            if devices > 1 {
                let written = [Written::EachApart, Written::EachTogether, Written::On];
                check(name, file, lesson, written[checked % 3]);
            }
            checked += 1;
        }
    }
    let wanted = match devices {
        1 => 11,
        2 => 4,
        _ => 7,
    };
    assert_eq!(checked, wanted, "on {devices} devices");
}

#[test]
fn on_one_device() {
    check_all(1);
}

#[test]
fn on_two_devices() {
    check_all(2);
}

#[test]
fn on_four_devices() {
    check_all(4);
}

/// JAX says which part of an array each device holds; the programs double it.
#[test]
fn arrays_are_split_as_jax_splits_them() {
    for (name, mesh) in oracle("shardings").as_object().expect("meshes") {
        for file in [format!("{name}.mlir"), format!("{name}_gspmd.mlir")] {
            check_split(mesh, &file);
        }
    }
}

fn check_split(mesh: &Value, name: &str) {
    let arrays = mesh["arrays"].as_array().expect("a list");
    let file = program(name);
    let mut words = vec!["run", file.as_str(), "--values"];
    words.extend(arrays.iter().flat_map(|_| ["--arg", "=iota"]));
    let told = json(&words);
    let outputs = told["outputs"].as_array().expect("a list");
    let results = numbers(&mesh["results"]);
    assert_eq!(results.len(), outputs.len());
    for (array, output) in results.iter().zip(outputs) {
        let array = &arrays[*array as usize];
        let dims: Vec<usize> = numbers(&array["dims"])
            .iter()
            .map(|d| *d as usize)
            .collect();
        let boxes = array["boxes"].as_array().expect("a list");
        let each = output["values"].as_array().expect("a list");
        assert_eq!(each.len(), boxes.len());
        for (values, corners) in each.iter().zip(boxes) {
            let wanted: Vec<f64> = inside(&dims, corners).iter().map(|it| 2. * it).collect();
            assert_eq!(numbers(values), wanted, "{name}, {}", array["spec"]);
        }
    }
}

/// The row-major numbers of the elements in a box, given by begin and end along each axis.
fn inside(dims: &[usize], corners: &Value) -> Vec<f64> {
    let mut all = vec![0.];
    for (axis, size) in dims.iter().enumerate() {
        let range = numbers(&corners[axis]);
        let range = range[0] as usize..range[1] as usize;
        let longer = all.iter().flat_map(|start| {
            let start = start * *size as f64;
            range.clone().map(move |at| start + at as f64)
        });
        all = longer.collect();
    }
    all
}

/// Five steps over a mesh of two by two, in which the weights are fed back.
#[test]
fn a_training_step_repeats_as_in_jax() {
    let oracle = oracle("partitioned");
    let mut words = vec!["run".to_owned(), program("partitioned_2x2.mlir")];
    for (group, name) in [("params", "w1"), ("params", "b1"), ("params", "w2")] {
        words.extend(["--arg".to_owned(), listed(&numbers(&oracle[group][name]))]);
    }
    for name in ["x", "y"] {
        words.extend(["--arg".to_owned(), listed(&numbers(&oracle["batch"][name]))]);
    }
    let losses = numbers(&oracle["losses"]);
    for (steps, wanted) in losses.iter().enumerate() {
        let steps = (steps + 1).to_string();
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.extend(["--repeat", &steps]);
        let told = json(&words);
        for loss in told["outputs"][3]["values"].as_array().expect("a list") {
            let loss = numbers(loss)[0];
            assert!((loss - wanted).abs() <= 1e-6 * wanted, "{loss}, {wanted}");
        }
        if steps != "1" {
            assert_eq!(told["timings"]["fed_back"], serde_json::json!([0, 1, 2]));
        }
    }
}
