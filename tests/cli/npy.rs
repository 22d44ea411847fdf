//! Arrays go in and out as NumPy's files.

use std::fs;

use serde_json::json;

use crate::{json, names_in, program, refused, Folder};

/// A file as NumPy writes it: this header, filled up with spaces, and the elements.
fn file(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    let fixed = if version == 1 { 10 } else { 12 };
    let length = (fixed + header.len() + 1).next_multiple_of(64) - fixed;
    match version {
        1 => bytes.extend((length as u16).to_le_bytes()),
        _ => bytes.extend((length as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.resize(fixed + length - 1, b' ');
    bytes.push(b'\n');
    bytes.extend(elements);
    bytes
}

fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// The program with one argument of this type, which it gives back.
fn identity(folder: &Folder, tensor: &str) -> String {
    let text = format!(
        "func.func @main(%x: tensor<{tensor}> loc(\"x\")) -> tensor<{tensor}> {{
           return %x : tensor<{tensor}>
         }}"
    );
    folder.write("identity.mlir", text)
}

#[test]
fn files_of_every_format_are_read() {
    let folder = Folder::new();
    let halves: Vec<u8> = [0x3c00u16, 0xc000]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    let longs: Vec<u8> = [-1i64, 1 << 40]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    let short = [1u16, 65_535]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect::<Vec<_>>();
    for (tensor, bytes, wanted) in [
        (
            "2x2xf32",
            file(1, &header("<f4", "(2, 2)"), &f32s(&[1., 2., 3., 4.5])),
            json!([1.0, 2.0, 3.0, 4.5]),
        ),
        (
            "f32",
            file(1, &header("<f4", "()"), &f32s(&[0.1])),
            json!([0.1]),
        ),
        (
            "2xf32",
            file(2, &header("<f4", "(2,)"), &f32s(&[1., 2.])),
            json!([1.0, 2.0]),
        ),
        (
            "2xf32",
            file(3, &header("=f4", "(2,)"), &f32s(&[1., 2.])),
            json!([1.0, 2.0]),
        ),
        (
            "1xf64",
            file(1, &header("<f8", "(1,)"), &0.1f64.to_le_bytes()),
            json!([0.1]),
        ),
        (
            "2xf16",
            file(1, &header("<f2", "(2,)"), &halves),
            json!([1.0, -2.0]),
        ),
        (
            "2xi64",
            file(1, &header("<i8", "(2,)"), &longs),
            json!([-1, 1_i64 << 40]),
        ),
        (
            "2xui16",
            file(1, &header("<u2", "(2,)"), &short),
            json!([1, 65_535]),
        ),
        (
            "2xi8",
            file(1, &header("|i1", "(2,)"), &[0xff, 7]),
            json!([-1, 7]),
        ),
        (
            "2xi1",
            file(1, &header("|b1", "(2,)"), &[1, 0]),
            json!([true, false]),
        ),
        (
            "1xcomplex<f32>",
            file(1, &header("<c8", "(1,)"), &f32s(&[1., -2.])),
            json!([[1.0, -2.0]]),
        ),
        ("0x3xf32", file(1, &header("<f4", "(0, 3)"), &[]), json!([])),
        // Keys in another order, other quotes, no comma at the end, Python 2's long integers.
        (
            "2xf32",
            file(
                1,
                "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<f4\"}",
                &f32s(&[5., 6.]),
            ),
            json!([5.0, 6.0]),
        ),
    ] {
        let program = identity(&folder, tensor);
        let array = folder.write("array.npy", bytes);
        let told = json(&["run", &program, "--arg", &format!("=@{array}")]);
        assert_eq!(told["outputs"][0]["values"], wanted, "{tensor}");
    }
}

/// NumPy has no bf16: its bits are taken where the type is stated.
#[test]
fn bits_of_bf16_are_taken_when_asked() {
    let folder = Folder::new();
    let program = identity(&folder, "2xbf16");
    let bits: Vec<u8> = [0x3f80u16, 0xc000]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    for descr in ["<u2", "<V2"] {
        let array = folder.write("array.npy", file(1, &header(descr, "(2,)"), &bits));
        let told = json(&["run", &program, "--arg", &format!("bf16[2]=@{array}")]);
        assert_eq!(told["outputs"][0]["values"], json!([1.0, -2.0]));
        let unasked = format!("=@{array}");
        refused(
            1,
            &["run", &program, "--arg", &unasked],
            &["bf16", "state the type", "argument 0 (`x`)"],
        );
    }

    let out = folder.path("out");
    let words = ["run", &program, "--arg", "=1,-2", "--out", &out];
    refused(1, &words, &["output 0", "bf16", "--bf16-as-u16"]);
    assert!(fs::metadata(&out).is_err(), "nothing is written");
    json(&[&words[..], &["--bf16-as-u16"]].concat());
    let written = fs::read(folder.0.join("out/output_0.npy")).expect("written");
    assert_eq!(written, file(1, &header("<u2", "(2,)"), &bits));
}

#[test]
fn files_that_do_not_fit_are_refused_in_a_sentence() {
    let folder = Folder::new();
    let program = identity(&folder, "2x2xf32");
    let four = f32s(&[1., 2., 3., 4.]);
    let fortran = header("<f4", "(2, 2)").replace("False", "True");
    let good = file(1, &header("<f4", "(2, 2)"), &four);
    for (bytes, words) in [
        (
            file(1, &fortran, &four),
            &["Fortran order", "ascontiguousarray"][..],
        ),
        (
            file(1, &header(">f4", "(2, 2)"), &four),
            &["big-endian", "astype('<f4')"],
        ),
        (
            file(1, &header("<i4", "(2, 2)"), &four),
            &["`i4` (s32)", "f32 is wanted"],
        ),
        (
            file(1, &header("<f4", "(4,)"), &four),
            &["dimensions [4]", "f32[2,2]"],
        ),
        (file(1, &header("|O", "(2, 2)"), &four), &["`O`"]),
        (
            file(
                1,
                "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }",
                &four,
            ),
            &["records"],
        ),
        (
            file(1, &header("<f4", "(2, 2)"), &four[..15]),
            &["cut off", "16 bytes, and 15"],
        ),
        (
            file(1, &header("<f4", "(2, 2)"), &[&four[..], &[0]].concat()),
            &["after its end", "and 17"],
        ),
        (
            file(1, &header("<f4", "(4294967296, 4294967296, 2)"), &four),
            &["f32"],
        ),
        (
            file(1, &header("<f4", "(99999999999999999999,)"), &four),
            &["no tuple of sizes"],
        ),
        (
            file(4, &header("<f4", "(2, 2)"), &four),
            &["format 4.0", "1.0 to 3.0"],
        ),
        (good[..40].to_vec(), &["within its header"]),
        (good[..7].to_vec(), &["within its header"]),
        (b"PK\x03\x04".to_vec(), &["no .npy file"]),
        (
            file(1, "{'descr': '<f4', 'shape': (2, 2), }", &four),
            &["lacks", "`fortran_order`"],
        ),
        (file(1, "nonsense", &four), &["Python dictionary"]),
    ] {
        let array = folder.write("array.npy", bytes);
        let spec = format!("=@{array}");
        let words = [words, &["argument 0 (`x`)", "array.npy"]].concat();
        refused(1, &["run", &program, "--arg", &spec], &words);
    }
    let gone = folder.path("gone.npy");
    let spec = format!("=@{gone}");
    refused(
        1,
        &["run", &program, "--arg", &spec],
        &["argument 0", "gone.npy", "No such file"],
    );
}

/// To the byte what `numpy.save` writes.
#[test]
fn what_is_written_is_what_numpy_writes() {
    let folder = Folder::new();
    for (tensor, written, descr, shape, elements) in [
        (
            "2x3xf32",
            "=1,2,3,4,5,6",
            "<f4",
            "(2, 3)",
            f32s(&[1., 2., 3., 4., 5., 6.]),
        ),
        ("3xi8", "=1,-2,3", "|i1", "(3,)", vec![1, 254, 3]),
        ("f64", "=0.1", "<f8", "()", 0.1f64.to_le_bytes().to_vec()),
        ("2xi1", "=true,false", "|b1", "(2,)", vec![1, 0]),
        ("1xcomplex<f32>", "=1-2i", "<c8", "(1,)", f32s(&[1., -2.])),
    ] {
        let program = identity(&folder, tensor);
        let out = folder.path("out");
        let told = json(&["run", &program, "--arg", written, "--out", &out]);
        let path = format!("{out}/output_0.npy");
        assert_eq!(told["files"], json!([path]));
        let bytes = fs::read(&path).expect("written");
        assert_eq!(bytes, file(1, &header(descr, shape), &elements), "{tensor}");
        // And in again.
        let again = json(&["run", &program, "--arg", &format!("=@{path}")]);
        assert_eq!(again["outputs"], told["outputs"]);
    }
}

#[test]
fn each_device_writes_its_own() {
    let folder = Folder::new();
    let out = folder.path("out");
    let file = program("two_devices.mlir");
    json(&["run", &file, "--arg", "=iota", "--out", &out]);
    let names = names_in(&folder.0.join("out"));
    assert_eq!(names, ["output_0_device_0.npy", "output_0_device_1.npy"]);
}

#[test]
fn nothing_is_left_half_written() {
    let folder = Folder::new();
    let program = identity(&folder, "2xf32");
    // A folder stands where the file should.
    fs::create_dir_all(folder.0.join("out/output_0.npy/full")).expect("a folder");
    let out = folder.path("out");
    let words = ["run", &program, "--arg", "=1,2", "--out", &out];
    refused(1, &words, &["output_0.npy"]);
    assert_eq!(names_in(&folder.0.join("out")), ["output_0.npy"]);

    let in_the_way = folder.write("file", "");
    let words = ["run", &program, "--arg", "=1,2", "--out", &in_the_way];
    refused(1, &words, &["making the folder"]);
}
