//! Advice on donation, on a real CPU plugin: what is taken out of a program is found again,
//! written back and kept by the compiler, and no number changes.

mod cpu;
mod donations;

use cpu::{client, compiled_text, device, lesson, program, vector};
use donations::stripped;
use xla::{
    Buffer, Client, Code, CompileOptions, Device, Donation, DonationAdvice, ElementType,
    Executable, Input, Pairing, Program,
};

fn text_of(program: &Program) -> String {
    String::from_utf8(program.as_bytes().to_vec()).expect("a text")
}

fn advice_of(client: &Client, text: &str) -> DonationAdvice {
    compiled_text(client, text).donation_advice()
}

/// Input and output of each candidate.
fn candidates(advice: &DonationAdvice) -> Vec<(usize, usize)> {
    let candidates = advice.candidates().iter();
    candidates.map(|pair| (pair.input, pair.output)).collect()
}

fn donated(advice: &DonationAdvice) -> Vec<(usize, usize)> {
    let donated = advice.donated().iter();
    donated.map(|pair| (pair.input, pair.output)).collect()
}

fn compile(client: &Client, program: &Program) -> Executable {
    let compiled = client.compile(program, &CompileOptions::new());
    compiled.unwrap_or_else(|error| panic!("{error}\n{program:?}"))
}

fn alias_bytes(executable: &Executable) -> i64 {
    executable.memory_stats().expect("told").alias_bytes
}

/// Takes the donations out of a program of the examples, and puts those back that are
/// advised. Gives the program as it was, and as advised.
#[track_caller]
fn found_again(client: &Client, name: &str) -> (Executable, Executable) {
    let original = program(name);
    let text = stripped(&text_of(&original));
    assert!(text.len() < original.as_bytes().len(), "{name}");
    let original = compile(client, &original);
    let undonated = Program::from_text(text).expect("text").named(name);
    let compiled = compile(client, &undonated);
    assert_eq!(compiled.signature().donated_bytes(), 0, "{name}");
    let advice = compiled.donation_advice();
    let was = original.donation_advice();
    assert!(!was.donated().is_empty(), "{name}");
    assert_eq!(candidates(&advice), donated(&was), "{name}\n{advice}");
    assert_eq!(
        advice.bytes_saved(),
        original.signature().donated_bytes(),
        "{name}"
    );

    // The pairs of several partitions are the compiler's.
    let partitions = original.signature().partitions();
    for ((input, pairing), pair) in advice.donations().into_iter().zip(advice.candidates()) {
        let wanted = match partitions {
            1 => Pairing::Output(pair.output),
            _ => Pairing::ByCompiler,
        };
        assert_eq!((input, pairing), (pair.input, wanted), "{name}");
    }
    let compared = advice
        .verify(client, &undonated, &CompileOptions::new())
        .expect("both compile");
    assert!(compared.refused.is_empty(), "{name}: {compared}");
    assert_eq!(compared.before.alias_bytes, 0, "{name}");
    assert_eq!(compared.after.alias_bytes, alias_bytes(&original), "{name}");
    let saved = advice.bytes_saved() as i64;
    assert_eq!(compared.alias_bytes_gained(), saved, "{name}");
    let rewritten = compared.executable;
    let left = rewritten.donation_advice();
    assert!(left.candidates().is_empty(), "{name}\n{left}");
    (original, rewritten)
}

/// Runs a lesson as the oracle has it, giving everything, and checks its numbers.
fn check_lesson(executable: &Executable, name: &str) {
    let lesson = lesson(name);
    let mut arguments: Vec<Vec<Buffer>> = Vec::new();
    for (position, device) in executable.devices().iter().enumerate() {
        let values = lesson.arguments.iter();
        arguments.push(
            values
                .map(|values| values.buffer(position, device))
                .collect(),
        );
    }
    let outputs = executable.run_per_device(arguments).expect("runs");
    for (position, outputs) in outputs.iter().enumerate() {
        for (index, values) in lesson.results.iter().enumerate() {
            let got: Vec<f32> = outputs[index].to_host().expect("readable");
            assert_eq!(got, values.f32(position), "{name} {position} {index}");
        }
    }
}

#[test]
fn lessons_are_found_again() {
    let client = client(4);
    for name in [
        "counter",
        "sgd_step",
        "sgd_replicas_4",
        "sgd_partitions_4",
        "sgd_gspmd_4",
    ] {
        let (original, rewritten) = found_again(&client, name);
        check_lesson(&original, name);
        check_lesson(&rewritten, name);
    }
}

/// In every program of the examples; those of other tests are compiled with their donations there.
#[test]
fn what_is_taken_out_of_any_example_is_found_again() {
    let client = client(8);
    let all = donations::donating();
    assert!(all.len() >= 19, "programs of the examples are missing");
    for (name, text) in all {
        let wanted = donations::in_the_text(&text);
        assert!(!wanted.is_empty(), "{name}");
        if !name.starts_with("train_step") {
            let (original, _) = found_again(&client, &name);
            let found = candidates(&original.donation_advice());
            assert!(found.is_empty(), "{name}: {found:?}");
        }
        let undonated = Program::from_text(stripped(&text)).expect("text");
        let advice = compile(&client, &undonated).donation_advice();
        let found: Vec<usize> = advice.candidates().iter().map(|pair| pair.input).collect();
        let inputs: Vec<usize> = wanted.iter().map(|(input, _)| *input).collect();
        assert_eq!(found, inputs, "{name}");
        for (pair, (_, output)) in advice.candidates().iter().zip(wanted) {
            assert_eq!(output.unwrap_or(pair.output), pair.output, "{name}");
        }
    }
}

/// An argument of a training step: numbers that differ, or zeros.
fn argument(device: &Device, input: &Input, zero: bool) -> Buffer {
    let shape = input.shape();
    let count = shape.element_count();
    let number = |index: usize| if zero { 0 } else { index * 7 % 10 };
    let made = match shape.element_type() {
        ElementType::F32 => {
            let values = (0..count).map(|index| number(index) as f32 * 0.01);
            Buffer::from_host(device, &values.collect::<Vec<f32>>(), shape.dims())
        }
        ElementType::U8 => {
            let values = (0..count).map(|index| number(index) as u8 * 25);
            Buffer::from_host(device, &values.collect::<Vec<u8>>(), shape.dims())
        }
        ElementType::S32 => {
            let values = (0..count).map(|index| number(index) as i32);
            Buffer::from_host(device, &values.collect::<Vec<i32>>(), shape.dims())
        }
        other => panic!("{other:?} is new in the training step"),
    };
    made.expect("room")
}

/// One training step on all devices; every output as f64, device by device.
fn step(executable: &Executable, zero: bool) -> Vec<Vec<Vec<f64>>> {
    let devices = executable.devices().iter();
    let arguments = devices.map(|device| {
        let inputs = executable.signature().inputs().iter();
        inputs
            .map(|input| argument(device, input, zero))
            .collect::<Vec<Buffer>>()
    });
    let outputs = executable
        .run_per_device(arguments.collect::<Vec<_>>())
        .expect("runs");
    let read = |buffer: &Buffer| -> Vec<f64> {
        match buffer.element_type() {
            ElementType::F32 => {
                let values: Vec<f32> = buffer.to_host().expect("readable");
                values.into_iter().map(f64::from).collect()
            }
            _ => {
                let values: Vec<i32> = buffer.to_host().expect("readable");
                values.into_iter().map(f64::from).collect()
            }
        }
    };
    outputs
        .iter()
        .map(|outputs| outputs.iter().map(read).collect())
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * a.abs().max(b.abs()).max(1e-3)
}

#[test]
fn training_steps_are_found_again() {
    for devices in [1, 2, 3, 4, 8] {
        let client = client(devices);
        let name = format!("train_step_{devices}");
        let (original, rewritten) = found_again(&client, &name);
        let signature = rewritten.signature();
        assert_eq!(signature.inputs()[0].name(), Some("state.params.conv1.w"));
        let names = signature.outputs().iter().map(|output| output.name());
        let names: Vec<&str> = names.map(|name| name.expect("a name")).collect();
        // With weights of zero all ten digits are as likely as each other. The mean is that
        // of 64 images, of which a batch for 3 devices has 66.
        let images = signature.inputs()[22].shape().dims()[0] * devices;
        let sum = images as f64 * 10f64.ln();
        for outputs in step(&rewritten, true) {
            let of = |name: &str| {
                let index = names.iter().position(|other| *other == name);
                outputs[index.expect("an output of this name")][0]
            };
            assert!(close(of("result[2]"), sum / 64.), "{devices}");
            assert!(close(of("result[1].loss_sum"), sum), "{devices}");
            assert_eq!(of("result[1].seen"), images as f64);
            assert_eq!(of("result[0].step"), 1.);
        }
        let (was, is) = (step(&original, false), step(&rewritten, false));
        for (was, is) in was.iter().zip(&is) {
            for ((was, is), name) in was.iter().zip(is).zip(&names) {
                assert_eq!(was.len(), is.len());
                let same = was.iter().zip(is).all(|(was, is)| close(*was, *is));
                assert!(same, "{devices} {name}");
            }
        }
    }
}

/// Those for other numbers of devices have the same pairs, which stand in their texts.
#[test]
fn training_steps_of_all_sizes_are_advised() {
    for devices in [5, 6, 7] {
        let client = client(devices);
        let text = text_of(&program(&format!("train_step_{devices}")));
        let donors = text.matches("tf.aliasing_output = ").count();
        assert_eq!(donors, 22);
        let wanted: Vec<(usize, usize)> = (0..donors).map(|index| (index, index)).collect();
        for (input, output) in &wanted {
            assert!(text.contains(&format!("%arg{input}: ")));
            assert!(text.contains(&format!("tf.aliasing_output = {output} : i32")));
        }
        check(&client, &stripped(&text), &wanted);
    }
}

/// JAX writes the same text when nothing is donated.
#[test]
fn what_is_taken_out_is_what_jax_leaves_out() {
    for devices in [1, 2, 4, 8] {
        let name = format!("train_step_{devices}");
        let undonated = text_of(&program(&format!("{name}_undonated")));
        assert_eq!(stripped(&text_of(&program(&name))), undonated);
    }
}

#[test]
fn nothing_to_donate() {
    let client = client(1);
    // All outputs are of other sizes, or have donors, or there are none.
    for text in [
        "func.func @main() -> tensor<f32> {
           %x = stablehlo.constant dense<1.0> : tensor<f32>
           return %x : tensor<f32>
         }",
        "func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
           %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
           return %y : tensor<8xf32>
         }",
        "func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32>) -> tensor<4xf32> {
           %z = stablehlo.add %x, %y : tensor<4xf32>
           return %z : tensor<4xf32>
         }",
        // Without bytes there is nothing to be saved.
        "func.func @main(%x: tensor<0xf32>) -> tensor<0xf32> {
           %y = stablehlo.add %x, %x : tensor<0xf32>
           return %y : tensor<0xf32>
         }",
        // Four bytes on the device, eight on the host.
        "func.func @main(%x: tensor<8xi4>, %y: tensor<3xi32>) -> tensor<2xi32> {
           %z = stablehlo.slice %y [0:2] : (tensor<3xi32>) -> tensor<2xi32>
           return %z : tensor<2xi32>
         }",
    ] {
        let advice = advice_of(&client, text);
        assert!(candidates(&advice).is_empty(), "{text}");
        assert_eq!(advice.bytes_saved(), 0);
        assert!(advice.donations().is_empty());
        assert!(advice.to_string().contains(": no further input could be donated\n"));
        let program = Program::from_text(text).expect("text");
        let compared = advice
            .verify(&client, &program, &CompileOptions::new())
            .expect("both compile");
        assert_eq!(compared.program.as_bytes(), program.as_bytes());
        assert_eq!(compared.alias_bytes_gained(), 0);
        assert!(compared.peak_bytes_saved().is_none_or(|saved| saved == 0));
    }
}

/// What the advice says of a program, and that the compiler keeps to it.
#[track_caller]
fn check(client: &Client, text: &str, wanted: &[(usize, usize)]) -> DonationAdvice {
    let advice = advice_of(client, text);
    assert_eq!(candidates(&advice), wanted, "{text}\n{advice}");
    let program = Program::from_text(text).expect("text");
    let compared = advice
        .verify(client, &program, &CompileOptions::new())
        .expect("both compile");
    assert!(compared.refused.is_empty(), "{text}\n{compared}");
    let saved = advice.bytes_saved() as i64;
    assert_eq!(compared.alias_bytes_gained(), saved, "{text}\n{compared}");
    let rewritten = compared.executable.donation_advice();
    let mut all = donated(&advice);
    all.extend(wanted);
    all.sort_unstable();
    assert_eq!(donated(&rewritten), all, "{text}");
    advice
}

#[test]
fn inputs_that_are_returned_go_into_themselves() {
    let client = client(1);
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }";
    check(&client, text, &[(0, 0)]);
    let returned = |text: &str| -> Vec<Option<usize>> {
        let executable = compiled_text(&client, text);
        let outputs = executable.signature().outputs().iter();
        outputs.map(|output| output.returned_input()).collect()
    };
    assert_eq!(returned(text), [Some(0)]);
    // Exchanged: each has its own output.
    let text =
        "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
                  return %y, %x : tensor<4xf32>, tensor<4xf32>
                }";
    check(&client, text, &[(0, 1), (1, 0)]);
    assert_eq!(returned(text), [Some(1), Some(0)]);
    // Returned twice: once into itself, and the other is for another.
    let text =
        "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
                  return %y, %y : tensor<4xf32>, tensor<4xf32>
                }";
    check(&client, text, &[(0, 1), (1, 0)]);
    assert_eq!(returned(text), [Some(1), Some(1)]);
    // In another shape it is the same memory.
    let text = "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
                  %y = stablehlo.add %x, %x : tensor<4xf32>
                  %z = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
                  return %y, %z : tensor<4xf32>, tensor<2x2xf32>
                }";
    check(&client, text, &[(0, 1)]);
    // Its own output is taken: it is needed as it is, though another output would fit.
    let text = "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
                  %z = stablehlo.add %x, %y : tensor<4xf32>
                  return %x, %z : tensor<4xf32>, tensor<4xf32>
                }";
    check(&client, text, &[]);
    // A transposed one isn't the same values in the same places.
    let text = "func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
                  %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
                  return %y : tensor<3x2xf32>
                }";
    check(&client, text, &[(0, 0)]);
}

/// What comes back of inputs that were donated into themselves, and into each other.
#[test]
fn returned_inputs_keep_their_values() {
    let client = client(1);
    let device = device(&client, 0);
    let text = "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
                  %z = stablehlo.add %x, %y : tensor<2xf32>
                  return %y, %z, %y : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
                }";
    let advice = check(&client, text, &[(0, 1), (1, 0)]);
    let program = advice
        .apply(&Program::from_text(text).expect("text"))
        .expect("written");
    let executable = compile(&client, &program);
    let (x, y) = (vector(&device, &[1., 2.]), vector(&device, &[10., 20.]));
    let outputs = executable.run((x, y)).expect("runs");
    let values: Vec<Vec<f32>> = outputs
        .iter()
        .map(|output| output.to_host().expect("readable"))
        .collect();
    assert_eq!(values, [[10., 20.], [11., 22.], [10., 20.]]);
}

/// `@main` with inputs and outputs of these types and names; the outputs are constants.
fn ambiguous(inputs: &[(&str, &str)], outputs: &[(&str, &str)]) -> String {
    let arguments: Vec<String> = inputs
        .iter()
        .enumerate()
        .map(|(index, (kind, name))| match *name {
            "" => format!("%a{index}: tensor<{kind}>"),
            name => format!("%a{index}: tensor<{kind}> loc(\"{name}\")"),
        })
        .collect();
    let results: Vec<String> = outputs
        .iter()
        .map(|(kind, name)| match *name {
            "" => format!("tensor<{kind}>"),
            name => format!("tensor<{kind}> {{jax.result_info = \"{name}\"}}"),
        })
        .collect();
    let mut body = String::new();
    for (index, (kind, _)) in outputs.iter().enumerate() {
        let point = if kind.ends_with("f32") { "." } else { "" };
        body += &format!("%r{index} = stablehlo.constant dense<{index}{point}> : tensor<{kind}>\n");
    }
    let values: Vec<String> = (0..outputs.len())
        .map(|index| format!("%r{index}"))
        .collect();
    let kinds: Vec<String> = outputs
        .iter()
        .map(|(kind, _)| format!("tensor<{kind}>"))
        .collect();
    format!(
        "func.func @main({}) -> ({}) {{\n{body}return {} : {}\n}}",
        arguments.join(", "),
        results.join(", "),
        values.join(", "),
        kinds.join(", ")
    )
}

#[test]
fn the_best_output_is_taken() {
    let client = client(1);
    // Names before order.
    let text = ambiguous(
        &[
            ("4xi32", "state['a']"),
            ("4xi32", "state['b']"),
            ("4xi32", "x"),
        ],
        &[
            ("4xi32", "result[0]['b']"),
            ("4xi32", "result[1]"),
            ("4xi32", "result[0]['a']"),
        ],
    );
    check(&client, &text, &[(0, 2), (1, 0), (2, 1)]);
    // A result that is the state alone; several arguments.
    let text = ambiguous(
        &[
            ("4xi32", "args[0].a"),
            ("4xi32", "args[0].b"),
            ("4xi32", "args[1].a"),
        ],
        &[("4xi32", "result.b"), ("4xi32", "result.a")],
    );
    check(&client, &text, &[(0, 1), (1, 0)]);
    // A tuple in a tuple: the state's second part isn't the second result.
    let text = ambiguous(
        &[("4xi32", "state[0]"), ("4xi32", "state[1]")],
        &[
            ("4xi32", "result[1]"),
            ("4xi32", "result[0][0]"),
            ("4xi32", "result[0][1]"),
        ],
    );
    check(&client, &text, &[(0, 1), (1, 2)]);
    // The shape before the size, the size at last.
    let text = ambiguous(
        &[("2x2xi32", ""), ("4xi32", ""), ("4xui32", "")],
        &[("4xi32", ""), ("4xf32", ""), ("2x2xi32", "")],
    );
    check(&client, &text, &[(0, 2), (1, 0), (2, 1)]);
    // Names of another shape don't count before the shape does.
    let text = ambiguous(
        &[("4xi32", "s.a"), ("2x2xi32", "s.b")],
        &[("4xi32", "result.b"), ("2x2xi32", "result.a")],
    );
    check(&client, &text, &[(0, 0), (1, 1)]);
    // More inputs than outputs: the first ones.
    let text = ambiguous(
        &[("4xi32", ""), ("4xi32", ""), ("4xi32", "")],
        &[("4xi32", "")],
    );
    check(&client, &text, &[(0, 0)]);
    // More outputs than inputs, of which some are taken.
    let text = ambiguous(
        &[("4xi32", ""), ("4xi32", "")],
        &[("4xi32", ""), ("4xi32", "")],
    );
    let text = text.replacen(
        "tensor<4xi32>",
        "tensor<4xi32> {tf.aliasing_output = 1 : i32}",
        1,
    );
    let advice = check(&client, &text, &[(1, 0)]);
    assert_eq!(donated(&advice), [(0, 1)]);
}

#[test]
fn the_table() {
    let client = client(1);
    let text = "module @m { func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc(\"s.w\"),
                  %m: tensor<2x2xi32> loc(\"s.m\"), %b: tensor<3xi8> {jax.buffer_donor = true} loc(\"batch\"))
                  -> (tensor<4xf32> {jax.result_info = \"result.w\"}, tensor<4xf32> {jax.result_info = \"result.m\"}) {
                  %a = stablehlo.add %w, %w : tensor<4xf32>
                  %c = stablehlo.multiply %w, %w : tensor<4xf32>
                  return %a, %c : tensor<4xf32>, tensor<4xf32>
                } }";
    let advice = check(&client, text, &[(1, 1)]);
    assert_eq!(
        advice.to_string(),
        "m: 1 more input could be donated, 16 bytes on each device\n  \
           donated   input 0  f32[4]    s.w    into output 0, result.w          16 bytes\n  \
           could be  input 1  s32[2,2]  s.m    into output 1, f32[4], result.m  16 bytes\n  \
           unused    input 2  s8[3]     batch  no output has 3 bytes\n"
    );
    let unused = &advice.unused()[0];
    assert_eq!((unused.input, unused.name.as_deref()), (2, Some("batch")));
    assert_eq!(unused.reason, "no output has 3 bytes");
    let program = Program::from_text(text).expect("text");
    let compared = advice
        .verify(&client, &program, &CompileOptions::new())
        .expect("both compile");
    assert_eq!(compared.before.alias_bytes, 16);
    assert!(compared
        .to_string()
        .starts_with("alias            16 ->           32 bytes\ntemp "));
}

#[test]
fn other_forms_and_other_programs_are_refused() {
    let client = client(1);
    for (name, form) in [
        ("add.bc", "MLIR bytecode"),
        ("add.stablehlo", "MLIR bytecode"),
        ("add.hlo.pb", "an HLO protobuf"),
    ] {
        let program = program(name);
        let advice = compile(&client, &program).donation_advice();
        // The advice needs no text, writing does.
        assert_eq!(candidates(&advice), [(0, 0)], "{name}");
        let error = advice.apply(&program).expect_err("no text");
        assert_eq!(error.code(), Code::Unimplemented);
        let message = error.to_string();
        let wanted =
            format!("is {form}, into which no donations can be written; export it as StableHLO");
        assert!(message.contains(&wanted), "{message}");
        let options = CompileOptions::new();
        assert!(advice.verify(&client, &program, &options).is_err());
    }
    let add = program("add");
    let error = add
        .with_donations(&[(0, Pairing::Output(0)), (1, Pairing::Output(0))])
        .expect_err("one output");
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(
        error.message().ends_with(
            "add.mlir: input 1 (`y`) is to be donated into output 0, which input 0 is donated into"
        ),
        "{error}"
    );
    let error = add.with_donations(&[(2, Pairing::ByCompiler)]);
    assert!(error.is_err());
    let error = program("counter").with_donations(&[(0, Pairing::ByCompiler)]);
    let error = error.expect_err("donated already");
    assert!(
        error
            .message()
            .contains("(`count`) is to be donated, but it is"),
        "{error}"
    );

    let advice = compile(&client, &add).donation_advice();
    let other = program("matmul_bf16");
    let error = advice
        .verify(&client, &other, &CompileOptions::new())
        .expect_err("another program");
    assert!(
        error
            .message()
            .starts_with("the advice is about `jit_add`, but "),
        "{error}"
    );
}

/// The generic form, as MLIR's tools print it.
#[test]
fn the_generic_form_is_advised_and_compiles() {
    let client = client(1);
    let text = "\"builtin.module\"() ({
      \"func.func\"() <{function_type = (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>, sym_name = \"main\"}> ({
      ^bb0(%w: tensor<2xf32> loc(\"w\"), %g: tensor<2xf32>):
        %0 = \"stablehlo.subtract\"(%w, %g) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        \"func.return\"(%0) : (tensor<2xf32>) -> ()
      }) : () -> ()
    }) : () -> ()";
    check(&client, text, &[(0, 0)]);
    let text = text.replace("<{function", "<{arg_attrs = [{}, {a.b}], function");
    check(&client, &text, &[(0, 0)]);
    let text = text
        .replace("<{arg_attrs", "{arg_attrs")
        .replace("\"main\"}> ({", "\"main\"} ({");
    assert!(Program::from_text(text)
        .expect("text")
        .with_donations(&[])
        .is_err());
}

/// An offer counts by being there, whatever its value: all plugins see it so.
#[test]
fn an_offer_of_false_is_an_offer() {
    let client = client(1);
    let text = "func.func @main(%x: tensor<4xf32> {jax.buffer_donor = false}) -> tensor<4xf32> {
                  %y = stablehlo.add %x, %x : tensor<4xf32>
                  return %y : tensor<4xf32>
                }";
    let executable = compiled_text(&client, text);
    let donation = executable.signature().inputs()[0].donation();
    let wanted = Donation::Into {
        output: 0,
        required: false,
    };
    assert_eq!(donation, wanted);
    let program = Program::from_text(text).expect("text");
    assert!(program.with_donations(&[(0, Pairing::ByCompiler)]).is_err());
    // So it contradicts a pair, which is why nothing is written beside it.
    let both = text.replace("= false", "= false, tf.aliasing_output = 0 : i32");
    let both = Program::from_text(both).expect("text");
    assert!(client.compile(&both, &CompileOptions::new()).is_err());
}

/// Why a pair must have one size: the compiler refuses others.
#[test]
fn pairs_of_two_sizes_do_not_compile() {
    let client = client(1);
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
                  %y = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
                  return %y : tensor<8xf32>
                }";
    let program = Program::from_text(text).expect("text");
    let program = program.with_donations(&[(0, Pairing::Output(0))]);
    let program = program.expect("written as it is asked for");
    assert!(client.compile(&program, &CompileOptions::new()).is_err());
}

#[test]
fn packed_elements_are_counted_as_the_device_does() {
    let client = client(1);
    let text = "func.func @main(%x: tensor<8xi4>, %y: tensor<i32>) -> (tensor<i32>, tensor<8xi4>) {
                  %z = stablehlo.add %y, %y : tensor<i32>
                  %w = stablehlo.add %x, %x : tensor<8xi4>
                  return %z, %w : tensor<i32>, tensor<8xi4>
                }";
    let advice = check(&client, text, &[(0, 1), (1, 0)]);
    assert_eq!(advice.candidates()[0].bytes, 4);
    let offered = text.replacen("tensor<8xi4>", "tensor<8xi4> {jax.buffer_donor = true}", 1);
    let executable = compiled_text(&client, &offered);
    assert_eq!(executable.signature().inputs()[0].device_bytes(), 4);
    assert_eq!(alias_bytes(&executable), 4);
    let lonely = "func.func @main(%x: tensor<8xi4> {jax.buffer_donor = true}, %y: tensor<2xi32>) -> tensor<2xi32> {
                    %z = stablehlo.add %y, %y : tensor<2xi32>
                    return %z : tensor<2xi32>
                  }";
    let executable = compiled_text(&client, lonely);
    let why = executable.signature().why_unused(0);
    assert_eq!(why.as_deref(), Some("no output has 4 bytes"));
}

#[test]
fn a_thousand_inputs() {
    const COUNT: usize = 1000;
    let client = client(1);
    let inputs: Vec<String> = (0..COUNT).map(|index| format!("s['{index}']")).collect();
    let outputs: Vec<String> = (0..COUNT)
        .map(|index| format!("result[0]['{}']", COUNT - 1 - index))
        .collect();
    fn of(names: &[String]) -> Vec<(&str, &str)> {
        names.iter().map(|name| ("4xi32", name.as_str())).collect()
    }
    let wanted: Vec<(usize, usize)> = (0..COUNT).map(|index| (index, COUNT - 1 - index)).collect();
    let advice = check(&client, &ambiguous(&of(&inputs), &of(&outputs)), &wanted);
    assert_eq!(advice.bytes_saved(), 16 * COUNT);
}

#[test]
fn pictures() {
    let client = client(1);
    let text = "module @m { func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc(\"s['w\\22<b>']\"),
                  %b: tensor<3xi8> {jax.buffer_donor = true}) -> (tensor<4xf32>, tensor<4xf32> {jax.result_info = \"r\\\\N\"}) {
                  %a = stablehlo.add %w, %w : tensor<4xf32>
                  %c = stablehlo.multiply %w, %w : tensor<4xf32>
                  return %a, %c : tensor<4xf32>, tensor<4xf32>
                } }";
    let executable = compiled_text(&client, text);
    let signature = executable.signature();
    assert_eq!(
        signature.to_mermaid(),
        "flowchart LR\n  \
           in0[\"input 0<br/>s['w#34;#60;b#62;']<br/>f32[4]\"]\n  \
           in1[\"input 1<br/>s8[3]\"]\n  \
           out0[\"output 0<br/>f32[4]\"]\n  \
           out1[\"output 1<br/>r#92;N<br/>f32[4]\"]\n  \
           in0 -->|donated| out1\n  \
           in1 -.->|offered in vain| none((\" \"))\n"
    );
    assert_eq!(
        signature.to_dot(),
        "digraph \"m\" {\n  \
           rankdir=LR;\n  \
           node [shape=box];\n  \
           in0 [label=\"input 0\\ns['w\\\"<b>']\\nf32[4]\"];\n  \
           in1 [label=\"input 1\\ns8[3]\"];\n  \
           out0 [label=\"output 0\\nf32[4]\"];\n  \
           out1 [label=\"output 1\\nr\\\\N\\nf32[4]\"];\n  \
           none [shape=point];\n  \
           in0 -> out1 [label=\"donated\"];\n  \
           in1 -> none [label=\"offered in vain\", style=dashed];\n\
         }\n"
    );
}
