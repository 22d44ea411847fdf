//! What `xla run` does with its arguments, and what it says of them.

use serde_json::json;

use crate::{json, output, program, text, Folder};

const SGD: [&str; 4] = ["--arg", "f32[4]=1,2,3,4", "--arg", "=8,-20,0.5,0"];

#[test]
fn what_is_given_and_lent_is_told() {
    let file = program("sgd_step.mlir");
    let told = json(&[&["run", &file], &SGD[..]].concat());
    let consumed = json!([
        {"index": 0, "name": "w", "device": 0, "consumed": true, "output": 0}
    ]);
    assert_eq!(told["donation"], consumed);
    assert!(told.get("timings").is_none() && told.get("files").is_none());

    let told = json(&["run", &file, "--arg", "lend:=ones", "--arg", "give:=ones"]);
    let released = json!([
        {"index": 1, "name": "g", "device": 0, "consumed": false, "output": null}
    ]);
    assert_eq!(told["donation"], released);
    // 1 - 0.125 * 1.
    assert_eq!(
        told["outputs"][0]["values"],
        json!([0.875, 0.875, 0.875, 0.875])
    );
}

#[test]
fn on_several_devices_each_is_told() {
    let file = program("sgd_replicas_4.mlir");
    let told = json(&["run", &file, "--arg", "=ones", "--arg", "=zeros"]);
    let donation = told["donation"].as_array().expect("a list");
    assert_eq!(donation.len(), 4);
    for (device, given) in donation.iter().enumerate() {
        assert_eq!(given["device"], device);
        assert_eq!(
            (&given["consumed"], &given["output"]),
            (&json!(true), &json!(0))
        );
    }
}

#[test]
fn donated_outputs_are_fed_back() {
    let file = program("counter.mlir");
    let told = json(&["run", &file, "--arg", "=41", "--repeat", "5"]);
    assert_eq!(told["outputs"][0]["values"], json!([46.0]));
    assert_eq!(told["timings"]["runs"], 5);
    assert_eq!(told["timings"]["fed_back"], json!([0]));
    for number in ["first_ms", "min_ms", "median_ms", "mean_ms"] {
        assert!(told["timings"][number].as_f64().expect(number) > 0.);
    }
    assert_eq!(told["donation"][0]["consumed"], true);

    // What is lent stays what it was.
    let told = json(&["run", &file, "--arg", "lend:=41", "--repeat", "5"]);
    assert_eq!(told["outputs"][0]["values"], json!([42.0]));
    assert_eq!(told["timings"]["fed_back"], json!([]));
    assert_eq!(told["donation"], json!([]));

    // What is given and not donated is made anew.
    let file = program("add.mlir");
    let words = ["run", &file, "--arg", "give:=ones", "--arg", "give:=ones"];
    let told = json(&[&words[..], &["--repeat", "3"]].concat());
    assert_eq!(told["outputs"][0]["values"], json!([2.0, 2.0, 2.0, 2.0]));
}

/// The program with one input and output of this type, as it is.
fn identity(folder: &Folder, tensor: &str) -> String {
    let text = format!(
        "func.func @main(%x: tensor<{tensor}> loc(\"x\")) -> tensor<{tensor}> {{
           return %x : tensor<{tensor}>
         }}"
    );
    folder.write(&format!("{tensor}.mlir").replace(['<', '>'], "_"), text)
}

#[test]
fn values_of_every_kind_come_back() {
    let folder = Folder::new();
    for (tensor, written, wanted) in [
        ("3xf32", "=0.1,inf,nan", json!([0.1, "Infinity", "NaN"])),
        ("2xf64", "f64[2]=1e300,-0.1", json!([1e300, -0.1])),
        ("2xf16", "=0.5,-2", json!([0.5, -2.0])),
        ("2xbf16", "=0.5,-2", json!([0.5, -2.0])),
        ("2xi8", "i8[2]=-128,127", json!([-128, 127])),
        (
            "ui64",
            "=18446744073709551615",
            json!([18_446_744_073_709_551_615_u64]),
        ),
        ("2x2xi32", "=[[1,2],[3,4]]", json!([1, 2, 3, 4])),
        ("3xi1", "pred[3]=true,false,1", json!([true, false, true])),
        ("1xcomplex<f32>", "=1-2i", json!([[1.0, -2.0]])),
        ("2xi16", "=iota", json!([0, 1])),
        ("2xf8E4M3FN", "=0.5,-2", json!([0.5, -2.0])),
        ("0xf32", "=", json!([])),
        ("3xi2", "=1,-2,0", json!([1, -2, 0])),
        ("3xui2", "=3,2,0", json!([3, 2, 0])),
        ("2xi4", "=-8,7", json!([-8, 7])),
        ("2xui4", "=15,0", json!([15, 0])),
        ("2xui8", "=255,0", json!([255, 0])),
        ("2xui16", "=65535,0", json!([65535, 0])),
        ("2xi32", "=-2147483648,1", json!([i32::MIN, 1])),
        ("2xui32", "=4294967295,1", json!([u32::MAX, 1])),
        ("1xi64", "=-9223372036854775808", json!([i64::MIN])),
        ("1xcomplex<f64>", "=-0.1+1e300i", json!([[-0.1, 1e300]])),
        ("2xf8E5M2", "=0.5,inf", json!([0.5, "Infinity"])),
        ("2xf8E4M3", "=0.5,-2", json!([0.5, -2.0])),
        ("2xf8E3M4", "=0.5,-2", json!([0.5, -2.0])),
        ("2xf8E4M3FNUZ", "=0.5,-2", json!([0.5, -2.0])),
        ("2xf8E4M3B11FNUZ", "=0.5,-2", json!([0.5, -2.0])),
        ("2xf8E5M2FNUZ", "=0.5,-2", json!([0.5, -2.0])),
        ("2xf8E8M0FNU", "=0.5,2", json!([0.5, 2.0])),
        ("2xf4E2M1FN", "=0.5,-6", json!([0.5, -6.0])),
        ("f32", " f32[] = [0.25] ", json!([0.25])),
        ("2x2xf32", "=[[1, 2], [3, 4]]", json!([1.0, 2.0, 3.0, 4.0])),
        // The highest four bits of the seed's numbers.
        ("2xf8E4M3FN", "=rand:1234567", json!([0.3125, 0.125])),
    ] {
        let file = identity(&folder, tensor);
        let told = json(&["run", &file, "--arg", written]);
        assert_eq!(told["outputs"][0]["values"], wanted, "{tensor}");
    }
}

/// The numbers of splitmix64 for the seed 1234567, from its author's program.
#[test]
fn seeds_give_the_same_numbers_for_ever() {
    let folder = Folder::new();
    let file = identity(&folder, "3xui64");
    let told = json(&["run", &file, "--arg", "=rand:1234567"]);
    let wanted = json!([
        6_457_827_717_110_365_317_u64,
        3_203_168_211_198_807_973_u64,
        9_817_491_932_198_370_423_u64
    ]);
    assert_eq!(told["outputs"][0]["values"], wanted);
}

#[test]
fn large_outputs_are_summed_up() {
    let folder = Folder::new();
    let file = identity(&folder, "1000xf32");
    let told = json(&["run", &file, "--arg", "=iota"]);
    let output = &told["outputs"][0];
    let wanted = json!({"min": 0.0, "max": 999.0, "mean": 499.5, "nan_count": 0});
    assert_eq!(output["statistics"], wanted);
    assert!(output.get("values").is_none());

    let told = json(&["run", &file, "--arg", "=iota", "--values"]);
    let values = told["outputs"][0]["values"].as_array().expect("a list");
    assert_eq!((values.len(), &values[999]), (1000, &json!(999.0)));

    let file = identity(&folder, "999xf32");
    let told = json(&["run", &file, "--arg", "=iota"]);
    let values = told["outputs"][0]["values"].as_array().expect("a list");
    assert_eq!(values.len(), 999);
}

#[test]
fn people_read_the_same() {
    let file = program("sgd_step.mlir");
    let told = output(&[&["run", &file], &SGD[..]].concat());
    assert_eq!(told.status.code(), Some(0));
    let wanted = "output 0  f32[4]  result\n  [0.0, 4.5, 2.9375, 4.0]\n\
                  donation: 1 of 1 given buffer consumed\n  \
                  argument 0 (`w`): consumed, into output 0\n";
    assert_eq!(text(&told.stdout), wanted);
}

/// One argument for all devices, another for each.
#[test]
fn shared_and_own_arguments_stand_in_one_list() {
    let file = program("sgd_replicas_4.mlir");
    let mut words = vec!["run", &file, "--arg", "=ones"];
    words.extend(["--arg@3", "=4,4,4,4", "--arg@2==3,3,3,3"]);
    words.extend(["--arg-on", "1==2,2,2,2", "--arg-on=0==1,1,1,1"]);
    let told = json(&words);
    // The gradients' sum is 10: 1 - 0.125 * 10.
    for values in told["outputs"][0]["values"].as_array().expect("a list") {
        assert_eq!(values, &json!([-0.25, -0.25, -0.25, -0.25]));
    }
}
