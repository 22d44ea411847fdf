//! Programs: every form that they come in runs, and what is no program is an error.

mod cpu;
mod hlo;

use std::fs;
use std::path::{Path, PathBuf};

use cpu::{
    api_minor, client, compiled, compiled_text, device, in_child, lesson, program, program_path,
    values, vector,
};
use xla::{
    Buffer, Client, Code, CompileOptions, Donation, Element, ElementType, Error, Executable,
    Program, ProgramFormat, StableHloVersion,
};

fn file(name: &str) -> Vec<u8> {
    fs::read(program_path(name)).expect("a file of the examples")
}

fn compile(client: &Client, program: &Program) -> Result<Executable, Error> {
    client.compile(program, &CompileOptions::new())
}

fn compile_text(client: &Client, text: &str) -> Result<Executable, Error> {
    compile(client, &Program::from_text(text)?)
}

#[track_caller]
fn refused<T>(outcome: Result<T, impl Into<Error>>, parts: &[&str]) -> Error {
    let error: Error = match outcome {
        Err(error) => error.into(),
        Ok(_) => panic!("this was not refused: {parts:?}"),
    };
    for part in parts {
        assert!(error.message().contains(part), "no `{part}` in: {error}");
    }
    error
}

/// A client that has refused something goes on as before.
fn works(client: &Client) {
    let x = vector(&device(client, 0), &[1., 2., 3., 4.]);
    let sum = compiled(client, "add").run((&x, &x)).expect("a run");
    assert_eq!(values(&sum[0]), [2., 4., 6., 8.]);
}

#[test]
fn every_form_runs() {
    let client = client(1);
    let device = device(&client, 0);
    let lesson = lesson("add");
    for (name, format) in [
        ("add.mlir", ProgramFormat::StableHloText),
        ("add.bc", ProgramFormat::StableHloBytecode),
        ("add.stablehlo", ProgramFormat::StableHloBytecode),
        ("add.hlo.pb", ProgramFormat::Hlo),
    ] {
        let from_file = program(name);
        let from_bytes = Program::from_bytes(file(name)).expect("a program");
        let by_its_form = match format {
            ProgramFormat::StableHloText => {
                Program::from_text(String::from_utf8(file(name)).expect("text"))
            }
            ProgramFormat::StableHloBytecode => Program::from_bytecode(file(name)),
            _ => Program::from_hlo(file(name)),
        };
        for program in [from_file, from_bytes, by_its_form.expect("a program")] {
            assert_eq!(program.format(), format);
            assert_eq!(program.as_bytes(), file(name));
            assert_eq!(
                program.artifact_version().is_some(),
                name == "add.stablehlo"
            );
            let add = compile(&client, &program).expect(name);
            assert_eq!(add.signature().name(), "jit_add", "{name}");
            let arguments: Vec<Buffer> = lesson
                .arguments
                .iter()
                .map(|argument| argument.buffer(0, &device))
                .collect();
            let sum = add.run(&arguments).expect(name);
            assert_eq!(values(&sum[0]), lesson.results[0].f32(0), "{name}");
        }
    }
}

#[test]
fn inputs_have_the_names_of_the_program() {
    let client = client(1);
    for name in ["add.mlir", "add.bc", "add.hlo.pb"] {
        let add = compiled(&client, name);
        let names: Vec<_> = add.signature().inputs().iter().map(|x| x.name()).collect();
        assert_eq!(names, [Some("x"), Some("y")], "{name}");
    }
    let step = compiled(&client, "sgd_step.hlo.pb");
    assert_eq!(step.signature().inputs()[1].name(), Some("g"));
    // A portable artifact says no more than it has to.
    let add = compiled(&client, "add.stablehlo");
    assert_eq!(add.signature().inputs()[0].name(), None);
    // Messages use the name.
    let add = compiled(&client, "add");
    let device = device(&client, 0);
    let x = vector(&device, &[1., 2., 3., 4.]);
    let short = vector(&device, &[1.]);
    let error = refused(add.run((&x, &short)), &["`y`", "f32[4]", "f32[1]"]);
    assert_eq!(error.code(), Code::InvalidArgument);
    let plain = compiled_text(
        &client,
        "func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> { return %arg0 : tensor<2xf32> }",
    );
    assert_eq!(plain.signature().inputs()[0].name(), None);
    refused(plain.run(&short), &["argument 0", "f32[2]", "f32[1]"]);
}

#[test]
fn forms_are_not_taken_for_each_other() {
    let text = String::from_utf8(file("add.mlir")).expect("text");
    refused(Program::from_bytecode(text.clone()), &["no MLIR bytecode"]);
    refused(
        Program::from_bytecode(file("add.hlo.pb")),
        &["no MLIR bytecode"],
    );
    refused(Program::from_bytecode(""), &["no MLIR bytecode"]);
    refused(Program::from_hlo(text), &["HLO protobuf"]);
    refused(Program::from_hlo(file("add.bc")), &["HLO protobuf"]);
    refused(Program::from_hlo(""), &["no computations"]);
    refused(Program::from_text(""), &["is empty"]);
    refused(Program::from_text(" \n\t"), &["is empty"]);
    refused(Program::from_text("module {}\0"), &["a NUL at byte 9"]);
}

/// A module's name stands at the start of its protobuf, and may look like the start of
/// a text, whatever its length.
#[test]
fn hlo_is_known_whatever_its_name() {
    let client = client(1);
    let vector = hlo::array(hlo::F32, &[2]);
    for length in [
        0, 1, 8, 9, 10, 13, 32, 61, 62, 63, 64, 70, 100, 127, 128, 300,
    ] {
        let name = "n".repeat(length);
        let module = hlo::module(
            &name,
            std::slice::from_ref(&vector),
            &vector,
            &[
                hlo::parameter(1, 0, &vector),
                hlo::instruction(2, "negate", &vector, &[1], vec![]),
            ],
            2,
        );
        let program = Program::from_bytes(module).expect("a module");
        assert_eq!(program.format(), ProgramFormat::Hlo, "{length}");
        if length > 0 {
            let negate = compile(&client, &program).expect("a program");
            assert_eq!(negate.signature().name(), name);
        }
    }
}

/// A folder for files, which goes away with the value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("programs-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // An earlier process may have had this number, and ended without clearing up.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_that_hold_no_program_are_named() {
    let folder = Folder::new();
    let absent = folder.0.join("absent.mlir");
    let error = refused(Program::from_file(&absent), &["absent.mlir"]);
    assert_eq!(error.code(), Code::NotFound);
    let error = refused(Program::from_file(&folder.0), &["can't read the program"]);
    assert_ne!(error.code(), Code::NotFound);
    assert_eq!(error.function(), None);
    refused(
        Program::from_file(folder.file("empty.mlir", b"")),
        &["empty.mlir", "is empty"],
    );
    refused(
        Program::from_file(folder.file("blank.mlir", b" \n\n")),
        &["blank.mlir", "is empty"],
    );
    // The same bytes on every run, from a small generator.
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(4096)
    .collect();
    let error = refused(
        Program::from_file(folder.file("noise", &noise)),
        &[
            "noise",
            "neither StableHLO text, nor MLIR bytecode, nor an HLO protobuf",
        ],
    );
    assert_eq!(error.code(), Code::InvalidArgument);
    refused(
        Program::from_file(folder.file("zeros", &[0; 100])),
        &["zeros"],
    );
}

#[test]
fn text_that_is_no_program_is_the_compilers_error() {
    let client = client(1);
    for text in [
        "garbage",
        "func.func @main(",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %y : tensor<4xf32> }",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<5xf32> }",
        "func.func @main(%x: tensor<4xf32>) { %y = stablehlo.no_such_op %x : tensor<4xf32> return }",
        "func.func @main(%x: tensor<99999999999999999999xf32>) { return }",
        "func.func @other() { return }",
        "module {}",
        "module @\u{e9}\u{1f980} {}",
        "// only a comment",
        "}",
        "\u{feff}module {}",
    ] {
        let error = refused(compile_text(&client, text), &["compiling"]);
        assert_eq!(error.function(), Some("PJRT_Client_Compile"), "{text}");
    }
    works(&client);
}

#[test]
fn unknown_custom_calls_are_an_error() {
    let client = client(1);
    let call = compile_text(
        &client,
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
           %y = stablehlo.custom_call @no_such_target(%x) : (tensor<2xf32>) -> tensor<2xf32>
           return %y : tensor<2xf32>
         }",
    );
    let error = refused(call, &["no_such_target"]);
    assert_eq!(error.code(), Code::NotFound);
    works(&client);
}

/// Every start of a text: the plugins' parser reads on to a NUL, wherever that is.
#[test]
fn cut_text_is_an_error() {
    in_child("cut_text_is_an_error", || {
        let client = client(1);
        let whole = String::from_utf8(file("add.mlir")).expect("text");
        assert!(whole.ends_with("}\n"));
        for length in 1..whole.len() {
            eprintln!("{length}");
            let outcome = compile_text(&client, &whole[..length]);
            assert_eq!(outcome.is_ok(), length == whole.len() - 1, "{length}");
        }
        works(&client);
    })
    .check_well();
}

#[test]
fn cut_bytecode_is_an_error() {
    in_child("cut_bytecode_is_an_error", || {
        let client = client(1);
        for name in ["add.bc", "add.stablehlo"] {
            let whole = file(name);
            for length in 0..whole.len() {
                eprintln!("{name} {length}");
                let program = Program::from_bytes(&whole[..length]);
                // What lacks its first four bytes isn't known as bytecode.
                assert!(program.is_ok() || length < 4);
                let outcome = program.and_then(|program| compile(&client, &program));
                assert!(outcome.is_err(), "{length}");
            }
        }
        works(&client);
    })
    .check_well();
}

#[test]
fn cut_hlo_is_an_error_or_a_program() {
    in_child("cut_hlo_is_an_error_or_a_program", || {
        let client = client(1);
        for name in ["add.hlo.pb", "must_alias.hlo.pb"] {
            let whole = file(name);
            let mut compiled = 0;
            for length in 0..whole.len() {
                eprintln!("{name} {length}");
                let program = Program::from_hlo(&whole[..length]);
                let outcome = program.and_then(|program| compile(&client, &program));
                compiled += usize::from(outcome.is_ok());
            }
            // A protobuf has no end of its own: without its last fields it is whole, too.
            assert!(compiled < 10, "{compiled}");
        }
        works(&client);
    })
    .check_well();
}

/// Bits from all over the module, the other way round: whatever comes of it, the process
/// goes on. (All of them took a while, and gave no more.)
#[test]
fn damaged_hlo_is_an_error_or_a_program() {
    in_child("damaged_hlo_is_an_error_or_a_program", || {
        let client = client(1);
        let whole = file("add.hlo.pb");
        let mut refused = 0;
        for bit in (0..whole.len() * 8).step_by(31) {
            eprintln!("{bit}");
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let program = Program::from_hlo(damaged);
            let outcome = program.and_then(|program| compile(&client, &program));
            refused += usize::from(outcome.is_err());
        }
        assert!(refused > 40, "{refused}");
        works(&client);
    })
    .check_well();
}

/// Modules that hang together badly, as only a tool's mistake makes them.
#[test]
fn malformed_hlo_is_an_error() {
    // In a child for its long words on standard error.
    in_child("malformed_hlo_is_an_error", || {
        let client = client(1);
        let vector = hlo::array(hlo::F32, &[2]);
        let made = |instructions: &[Vec<u8>], root: u64| {
            let module = hlo::module(
                "m",
                std::slice::from_ref(&vector),
                &vector,
                instructions,
                root,
            );
            Program::from_hlo(module).and_then(|program| compile(&client, &program))
        };
        let x = || hlo::parameter(1, 0, &vector);
        let one = |opcode: &str, operands: &[u64]| {
            let y = hlo::instruction(2, opcode, &vector, operands, vec![]);
            made(&[x(), y], 2)
        };
        assert!(one("negate", &[1]).is_ok());
        let long = hlo::array(hlo::F32, &[3]);
        let huge = hlo::array(hlo::F32, &[1 << 40, 1 << 40]);
        let unknown = hlo::array(99, &[2]);
        for (what, outcome) in [
            ("an unknown opcode", one("no-such-op", &[1])),
            ("an operand that isn't there", one("negate", &[7])),
            ("an operand too few", one("add", &[1])),
            ("an instruction of its own result", one("negate", &[2])),
            ("a root that isn't there", made(&[x()], 9)),
            (
                "a parameter too many",
                made(&[x(), hlo::parameter(2, 0, &vector)], 2),
            ),
            (
                "a parameter out of range",
                made(&[hlo::parameter(1, 5, &vector)], 1),
            ),
            (
                "another shape than the operation gives",
                made(
                    &[x(), hlo::instruction(2, "negate", &long, &[1], vec![])],
                    2,
                ),
            ),
            (
                "more elements than there are numbers",
                made(&[hlo::parameter(1, 0, &huge)], 1),
            ),
            (
                "an unknown element type",
                made(&[hlo::parameter(1, 0, &unknown)], 1),
            ),
        ] {
            assert!(outcome.is_err(), "{what}");
        }
        // A module that names another entry than it has doesn't even get to the compiler.
        let mut module = hlo::module("m", std::slice::from_ref(&vector), &vector, &[x()], 1);
        module.extend(hlo::number(6, 2));
        let error = refused(
            Program::from_hlo(module),
            &["damaged", "entry computation 2"],
        );
        assert_eq!(error.function(), None);
        works(&client);
    })
    .check_well();
}

/// Compilers make tables as long as the largest id: over a file of 200 bytes they took all memory.
#[test]
fn absurd_ids_are_refused() {
    let vector = hlo::array(hlo::F32, &[2]);
    let numbered = |id: u64| {
        let y = hlo::instruction(id, "negate", &vector, &[1], vec![]);
        let instructions = [hlo::parameter(1, 0, &vector), y];
        let parameters = std::slice::from_ref(&vector);
        Program::from_hlo(hlo::module("m", parameters, &vector, &instructions, id))
    };
    for id in [1 << 24, 1 << 30, (1 << 32) - 1, (7 << 32) + (1 << 30)] {
        let number = (id & 0xffff_ffff).to_string();
        refused(
            numbered(id),
            &["damaged", "2 instructions", &number, "all memory"],
        );
    }
    let of_computation = |id: u64| {
        let instructions = [hlo::parameter(1, 0, &vector)];
        let parameters = std::slice::from_ref(&vector);
        let mut module = hlo::module("m", parameters, &vector, &instructions, 1);
        let more: Vec<u8> = [hlo::number(5, id), hlo::number(6, 1)].concat();
        module.extend(hlo::bytes(3, &more));
        Program::from_hlo(module)
    };
    assert!(of_computation(1 << 12).is_ok());
    for id in [1 << 24, 1 << 40, u64::MAX] {
        let number = id.to_string();
        refused(of_computation(id), &["damaged", "2 computations", &number]);
    }
    let client = client(1);
    for id in [2, 1 << 12, 5 << 32 | 2] {
        let program = numbered(id).expect("a module");
        assert!(compile(&client, &program).is_ok(), "{id}");
    }
}

#[test]
fn compiled_hlo_is_refused() {
    // Compiling it again would end the process.
    for outcome in [
        Program::from_file(program_path("scheduled.hlo.pb")),
        Program::from_hlo(file("scheduled.hlo.pb")),
        Program::from_bytes(file("scheduled.hlo.pb")),
    ] {
        let error = refused(outcome, &["schedule", "before compilation"]);
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(error.function(), None);
    }
}

#[test]
fn must_alias_is_read() {
    let client = client(1);
    let device = device(&client, 0);
    let lesson = lesson("sgd_step");
    let step = compiled(&client, "must_alias.hlo.pb");
    let inputs = step.signature().inputs();
    let must = Donation::Into {
        output: 0,
        required: true,
    };
    assert_eq!(inputs[0].donation(), must);
    assert_eq!(inputs[1].donation(), Donation::None);
    assert!(step.signature().to_string().contains("must be donated"));
    let [w, g] = [0, 1].map(|index| lesson.arguments[index].buffer(0, &device));
    let error = refused(step.run((&w, &g)), &["`w`", "must consume it"]);
    assert_eq!(error.function(), None);
    let next = step.run((w, &g)).expect("a run");
    assert_eq!(values(&next[0]), lesson.results[0].f32(0));
    // The same program says may, written another way.
    for name in ["sgd_step", "sgd_step.hlo.pb"] {
        let may = Donation::Into {
            output: 0,
            required: false,
        };
        let step = compiled(&client, name);
        assert_eq!(step.signature().inputs()[0].donation(), may, "{name}");
    }
}

fn with_version(version: &str) -> Program {
    let artifact = file("add.stablehlo");
    let name = b"StableHLO_v";
    let start = artifact
        .windows(name.len())
        .position(|window| window == name);
    let start = start.expect("its version") + name.len();
    let length = artifact[start..].iter().position(|byte| *byte == 0);
    let end = start + length.expect("its end");
    let whole = [&artifact[..start], version.as_bytes(), &artifact[end..]].concat();
    Program::from_bytecode(whole).expect("bytecode")
}

#[test]
fn artifacts_of_versions_that_the_plugin_does_not_read_are_refused() {
    let client = client(1);
    let plugin = client.plugin();
    let (oldest, current) = plugin.stablehlo_versions().expect("its versions");
    let range = format!("{oldest} to {current}");
    for (version, parsed) in [("9.9.9", (9, 9, 9)), ("0.8.7", (0, 8, 7))] {
        let program = with_version(version);
        let read = program.artifact_version().expect("its version");
        assert_eq!((read.major, read.minor, read.patch), parsed);
        let parts = [version, &range, "export it for a version in that range"];
        let error = refused(compile(&client, &program), &parts);
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert_eq!(error.function(), None);
    }
    // One step beyond each end, and the ends themselves.
    let next = StableHloVersion {
        minor: current.minor + 1,
        ..current
    };
    refused(
        compile(&client, &with_version(&next.to_string())),
        &[&range],
    );
    for version in [oldest, current] {
        let program = with_version(&version.to_string());
        assert_eq!(program.artifact_version(), Some(version));
        // The plugin gets it; whether it can read what is written so is its own affair.
        if let Err(error) = compile(&client, &program) {
            assert_eq!(error.function(), Some("PJRT_Client_Compile"));
        }
    }
    // The committed one is older than all three plugins.
    let version = program("add.stablehlo")
        .artifact_version()
        .expect("a version");
    assert!(oldest < version && version < current, "{version}");
    // No version is none, and a damaged one the compiler's business.
    assert_eq!(program("add.bc").artifact_version(), None);
    assert_eq!(with_version("x.y").artifact_version(), None);
    works(&client);
}

#[test]
fn programs_may_take_and_give_nothing() {
    let client = client(2);
    let nothing = compiled_text(&client, "func.func @main() { return }");
    assert!(nothing.signature().inputs().is_empty());
    assert!(nothing.signature().outputs().is_empty());
    let outputs = nothing.run(()).expect("a run");
    assert!(outputs.is_empty());
    assert!(outputs.into_vec().is_empty());

    let constant = compiled_text(
        &client,
        "func.func @main() -> tensor<3xi64> {
           %x = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi64>
           return %x : tensor<3xi64>
         }",
    );
    let outputs = constant.run(()).expect("a run");
    assert_eq!(outputs[0].to_host::<i64>().expect("values"), [1, -2, 3]);

    let sink = compiled_text(&client, "func.func @main(%x: tensor<4xf32>) { return }");
    let x = vector(&device(&client, 0), &[1., 2., 3., 4.]);
    assert!(sink.run(&x).expect("a run").is_empty());
    assert_eq!(values(&x), [1., 2., 3., 4.]);
    refused(sink.run(()), &["takes 1 argument", "0 were given"]);

    // On two devices as well.
    let program = Program::from_text(
        "func.func @main() -> tensor<ui32> {
           %id = stablehlo.replica_id : tensor<ui32>
           return %id : tensor<ui32>
         }",
    );
    let ids = client.compile(&program.expect("text"), &CompileOptions::new().replicas(2));
    let ids = ids.expect("a program");
    let outputs = ids.run_per_device([(), ()]).expect("a run");
    for (position, output) in outputs.iter().enumerate() {
        assert_eq!(output[0].to_scalar::<u32>().expect("one"), position as u32);
    }
}

#[test]
fn outputs_come_in_the_programs_order() {
    let client = client(1);
    let device = device(&client, 0);
    let swap = compiled_text(
        &client,
        "func.func @main(%a: tensor<f32>, %b: tensor<2xi32>)
           -> (tensor<2xi32>, tensor<f32>, tensor<f32>) {
           %c = stablehlo.negate %a : tensor<f32>
           return %b, %a, %c : tensor<2xi32>, tensor<f32>, tensor<f32>
         }",
    );
    let a = Buffer::scalar(&device, 1.5f32).expect("room");
    let b = Buffer::from_host(&device, &[7i32, 8], &[2]).expect("room");
    let outputs = swap.run((&a, &b)).expect("a run");
    assert_eq!(outputs.len(), 3);
    refused(
        swap.run((&a, &b)).expect("a run").into_single(),
        &["single output", "has 3"],
    );
    let [b2, a2, c] = outputs.into_array().expect("three");
    assert_eq!(b2.to_host::<i32>().expect("values"), [7, 8]);
    assert_eq!(a2.to_scalar::<f32>().expect("one"), 1.5);
    assert_eq!(c.to_scalar::<f32>().expect("one"), -1.5);
    // One argument twice, as two outputs of their own.
    let twice = compiled_text(
        &client,
        "func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
           return %a, %a : tensor<f32>, tensor<f32>
         }",
    );
    let [first, second] = twice.run(a).expect("a run").into_array().expect("two");
    drop(first);
    assert_eq!(second.to_scalar::<f32>().expect("one"), 1.5);
}

/// 150 arguments, no two of one shape next to each other, returned in reverse.
#[test]
fn programs_may_take_many_arguments() {
    let client = client(1);
    let device = device(&client, 0);
    let types = ["f32", "i32", "f64"];
    let tensor = |i: usize| format!("tensor<{}x{}>", i % 7 + 1, types[i % 3]);
    const COUNT: usize = 150;
    let list = |join: &dyn Fn(usize) -> String, order: &mut dyn Iterator<Item = usize>| {
        order.map(join).collect::<Vec<_>>().join(", ")
    };
    let arguments = list(&|i| format!("%x{i}: {}", tensor(i)), &mut (0..COUNT));
    let results = list(&tensor, &mut (0..COUNT).rev());
    let names = list(&|i| format!("%x{i}"), &mut (0..COUNT).rev());
    let reverse = compiled_text(
        &client,
        &format!("func.func @main({arguments}) -> ({results}) {{ return {names} : {results} }}"),
    );
    let signature = reverse.signature();
    assert_eq!(signature.inputs().len(), COUNT);
    assert_eq!(signature.outputs().len(), COUNT);
    let shape_of = |i: usize| {
        let element = [ElementType::F32, ElementType::S32, ElementType::F64][i % 3];
        format!("{element}[{}]", i % 7 + 1)
    };
    for (i, input) in signature.inputs().iter().enumerate() {
        assert_eq!(input.shape().to_string(), shape_of(i));
        let output = &signature.outputs()[COUNT - 1 - i];
        assert_eq!(output.shape().to_string(), shape_of(i));
    }
    // A line for each, and the program's own.
    assert_eq!(signature.to_string().lines().count(), 2 * COUNT + 1);

    let filled = |i: usize| -> Buffer {
        fn of<T: Element>(device: &xla::Device, value: T, count: usize) -> Buffer {
            Buffer::from_host(device, &vec![value; count], &[count]).expect("room")
        }
        let count = i % 7 + 1;
        match i % 3 {
            0 => of(&device, i as f32, count),
            1 => of(&device, i as i32, count),
            _ => of(&device, i as f64, count),
        }
    };
    let arguments: Vec<Buffer> = (0..COUNT).map(filled).collect();
    let mut outputs = reverse.run(&arguments).expect("a run").into_vec();
    outputs.reverse();
    for (argument, output) in arguments.iter().zip(&outputs) {
        let (ours, theirs) = (argument.to_bytes(), output.to_bytes());
        assert_eq!(ours.expect("bytes"), theirs.expect("bytes"));
    }
    // One wrong among many is named by its place.
    let mut wrong: Vec<&Buffer> = arguments.iter().collect();
    wrong[149] = &arguments[0];
    refused(
        reverse.run(wrong),
        &["argument 149", &shape_of(149), &shape_of(0)],
    );
    refused(
        reverse.run(&arguments[1..]),
        &["takes 150 arguments", "149 were given"],
    );
}

#[test]
fn tuples_as_results_are_outputs() {
    let client = client(1);
    let device = device(&client, 0);
    let pair = compiled_text(
        &client,
        "func.func @main(%x: tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
           %y = stablehlo.negate %x : tensor<2xf32>
           %z = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<2xf32>>
           return %z : tuple<tensor<2xf32>, tensor<2xf32>>
         }",
    );
    assert_eq!(pair.signature().outputs().len(), 2);
    let outputs = pair.run(vector(&device, &[1., 2.])).expect("a run");
    assert_eq!(values(&outputs[0]), [1., 2.]);
    assert_eq!(values(&outputs[1]), [-1., -2.]);
}

/// Running one ends the process on the oldest plugin and is refused by the others.
#[test]
fn tuples_as_arguments_are_refused() {
    let client = client(1);
    let text = compile_text(
        &client,
        "func.func @main(%x: tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32> {
           %y = stablehlo.get_tuple_element %x[0]
             : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
           return %y : tensor<2xf32>
         }",
    );
    let vector = hlo::array(hlo::F32, &[2]);
    let pair = hlo::tuple(&[vector.clone(), vector.clone()]);
    let first = hlo::instruction(2, "get-tuple-element", &vector, &[1], hlo::number(13, 0));
    let instructions = [hlo::parameter(1, 0, &pair), first];
    let module = hlo::module("m", &[pair], &vector, &instructions, 2);
    let module = Program::from_hlo(module).and_then(|program| compile(&client, &program));
    for outcome in [text, module] {
        let error = refused(outcome, &["tuple"]);
        assert_eq!(error.code(), Code::Unimplemented);
        assert_eq!(error.function(), None);
    }
    works(&client);
}

#[test]
fn dynamic_dimensions_are_refused() {
    let client = client(1);
    let unbounded = compile_text(
        &client,
        "module @grows { func.func @main(%n: tensor<i32>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
           return %x : tensor<?x4xf32>
         } }",
    );
    let words = [
        "argument 1 (`%x`) of the program `grows` is f32[?,4]",
        "fixed shapes",
    ];
    let error = refused(unbounded, &words);
    assert_eq!(error.code(), Code::Unimplemented);
    assert_eq!(error.message().lines().count(), 1);
    // Before the compiler was asked.
    assert_eq!(error.function(), None);
    // A compiler knows more of a result than the text says.
    let settled = compiled_text(
        &client,
        "func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
           %y = stablehlo.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
           return %y : tensor<?xf32>
         }",
    );
    assert_eq!(settled.signature().outputs()[0].shape().dims(), [4]);

    let text = compile_text(
        &client,
        "func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>)
           -> tensor<?xf32, #stablehlo.bounds<4>> {
           return %x : tensor<?xf32, #stablehlo.bounds<4>>
         }",
    );
    let mut bounded = hlo::array(hlo::F32, &[4]);
    bounded.extend(hlo::number(6, 1));
    let instructions = [hlo::parameter(1, 0, &bounded)];
    let module = hlo::module("m", &[bounded.clone()], &bounded, &instructions, 1);
    let module = Program::from_hlo(module).and_then(|program| compile(&client, &program));
    for outcome in [text, module] {
        let error = refused(outcome, &["dynamic dimension", "f32[4]", "static shapes"]);
        assert_eq!(error.code(), Code::Unimplemented);
        assert_eq!(error.function(), None);
    }
    works(&client);
}

#[test]
fn tokens_come_out_and_go_in() {
    let client = client(1);
    let device = device(&client, 0);
    let start = compiled_text(
        &client,
        "func.func @main(%x: tensor<f32>) -> (tensor<f32>, !stablehlo.token) {
           %t = stablehlo.create_token : !stablehlo.token
           return %x, %t : tensor<f32>, !stablehlo.token
         }",
    );
    assert_eq!(
        start.signature().outputs()[1].shape().to_string(),
        "token[]"
    );
    let next = compiled_text(
        &client,
        "func.func @main(%t: !stablehlo.token, %x: tensor<f32>) -> (tensor<f32>, !stablehlo.token) {
           %u = stablehlo.after_all %t : !stablehlo.token
           %y = stablehlo.negate %x : tensor<f32>
           return %y, %u : tensor<f32>, !stablehlo.token
         }",
    );
    assert_eq!(next.signature().inputs()[0].shape().to_string(), "token[]");
    let x = Buffer::scalar(&device, 1f32).expect("room");
    let [x, t] = start.run(x).expect("a run").into_array().expect("two");
    let [y, u] = next
        .run((&t, &x))
        .expect("a run")
        .into_array()
        .expect("two");
    assert_eq!(y.to_scalar::<f32>().expect("one"), -1.0);
    u.wait().expect("it is there");
    // Given away, too.
    let [z, _] = next.run((t, y)).expect("a run").into_array().expect("two");
    assert_eq!(z.to_scalar::<f32>().expect("one"), 1.0);
    let error = refused(next.run((&x, &x)), &["argument 0", "token[]", "f32[]"]);
    assert_eq!(error.function(), None);
    let again = client.deserialize(&start.serialize().expect("bytes"));
    let again = again.expect("the same program");
    assert_eq!(again.signature().outputs().len(), 2);
    drop(again.run(x).expect("a run"));
}

#[test]
fn results_that_no_memory_can_hold_are_an_error() {
    let client = client(1);
    let one = Buffer::scalar(&device(&client, 0), 1f32).expect("room");
    // 2^50 elements: 4 PiB.
    let huge = compiled_text(
        &client,
        "func.func @main(%x: tensor<f32>) -> tensor<1048576x1048576x1024xf32> {
           %y = stablehlo.broadcast_in_dim %x, dims = []
             : (tensor<f32>) -> tensor<1048576x1048576x1024xf32>
           return %y : tensor<1048576x1048576x1024xf32>
         }",
    );
    let error = refused(huge.run(&one), &["running `main`", "Out of memory"]);
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert_eq!(error.function(), Some("PJRT_LoadedExecutable_Execute"));
    assert_eq!(one.to_scalar::<f32>().expect("one"), 1.0);
    works(&client);
}

#[test]
fn programs_describe_themselves() {
    let program = program("add");
    let text = format!("{program:?}");
    assert!(
        text.contains("StableHloText") && text.contains("add"),
        "{text}"
    );
    let client = client(1);
    let add = compiled(&client, "add");
    let text = add.signature().to_string();
    for part in ["jit_add", "f32[4]", "input", "output", "x", "y"] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
    assert_eq!(add.signature().replicas(), 1);
    assert_eq!(add.signature().partitions(), 1);
    assert!(!add.signature().has_collectives());
    assert_eq!(add.signature().donated_bytes(), 0);
    assert_eq!(
        compiled(&client, "sgd_step").signature().donated_bytes(),
        16
    );
    assert_eq!(add.devices(), client.devices());
    assert_eq!(add.client(), client);
    let sizes = add.memory_stats().expect("sizes");
    assert_eq!((sizes.argument_bytes, sizes.output_bytes), (32, 16));
    assert!([81, 106, 115].contains(&api_minor(&client)));
}

#[test]
fn matrices_are_multiplied_as_the_oracle_says() {
    let client = client(1);
    let device = device(&client, 0);
    let lesson = lesson("matmul_bf16");
    let product = compiled(&client, "matmul_bf16");
    let arguments: Vec<Buffer> = lesson
        .arguments
        .iter()
        .map(|argument| argument.buffer(0, &device))
        .collect();
    let result = product.run(arguments).expect("a run");
    let result = result[0].to_host::<xla::bf16>().expect("values");
    let result: Vec<f32> = result.into_iter().map(f32::from).collect();
    assert_eq!(result, lesson.results[0].f32(0));
}
