//! Donation is a move, on a real CPU plugin.
//!
//! What the runtime does, and what these tests hold against it: a program that aliases
//! an input to an output consumes that input, also one that the caller only meant to
//! lend, unless the call says by its index that it may not; dtype and dims of an
//! argument are not looked at; after a failed call some donated inputs are gone and
//! some are not, by version of the plugin.

mod cpu;

use cpu::{
    api_minor, check_resident, client, compiled, compiled_text, device, failing, in_child, lesson,
    program, refused, resident, until_pending, values, vector, SLOW, SLOW_LENGTH,
};
use xla::{Buffer, Client, Code, CompileOptions, Device, Donation, Executable, Program, Shape};

/// Both inputs are aliased to outputs: `a + 1` and `b + a`.
const TWO_DONORS: &str = r#"
module @two_donors {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("state.a"),
                  %b: tensor<4xf32> {tf.aliasing_output = 1 : i32} loc("state.b")) -> (tensor<4xf32>, tensor<4xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %first = stablehlo.add %a, %one : tensor<4xf32>
    %second = stablehlo.add %b, %a : tensor<4xf32>
    return %first, %second : tensor<4xf32>, tensor<4xf32>
  }
}"#;

/// `x + 1` for f32[4], with an attribute on the argument.
fn plus_one(attribute: &str) -> String {
    format!(
        "module @plus_one {{
          func.func @main(%x: tensor<4xf32> {{{attribute}}}) -> tensor<4xf32> {{
            %one = stablehlo.constant dense<1.0> : tensor<4xf32>
            %y = stablehlo.add %x, %one : tensor<4xf32>
            return %y : tensor<4xf32>
          }}
        }}"
    )
}

/// The sum of the elements: a donor that no output fits.
const UNUSABLE_DONOR: &str = r#"
module @unusable_donor {
  func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true} loc("x")) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %sum : tensor<f32>
  }
}"#;

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

fn donation(executable: &Executable, input: usize) -> Donation {
    executable.signature().inputs()[input].donation()
}

fn into(output: usize) -> Donation {
    Donation::Into {
        output,
        required: false,
    }
}

// What a program takes, by how it is marked and how it is passed.

#[test]
fn a_lent_input_survives_a_program_that_aliases_it() {
    let (client, device) = one_device();
    let step = compiled(&client, "sgd_step");
    assert_eq!(donation(&step, 0), into(0));
    let lesson = lesson("sgd_step");
    let w = lesson.arguments[0].buffer(0, &device);
    let g = lesson.arguments[1].buffer(0, &device);
    for round in 0..200 {
        let next = step
            .run((&w, &g))
            .expect("runs")
            .into_single()
            .expect("one");
        assert_eq!(values(&next), lesson.results[0].f32(0), "round {round}");
        assert_eq!(values(&w), lesson.arguments[0].f32(0), "round {round}");
        assert_eq!(values(&g), lesson.arguments[1].f32(0), "round {round}");
    }
}

#[test]
fn a_given_input_is_consumed_and_the_result_is_right() {
    let (client, device) = one_device();
    let step = compiled(&client, "sgd_step");
    let lesson = lesson("sgd_step");
    let g = lesson.arguments[1].buffer(0, &device);
    for round in 0..200 {
        let w = lesson.arguments[0].buffer(0, &device);
        let next = step.run((w, &g)).expect("runs").into_single().expect("one");
        assert_eq!(values(&next), lesson.results[0].f32(0), "round {round}");
    }
    assert_eq!(values(&g), lesson.arguments[1].f32(0));
}

#[test]
fn a_chain_of_given_values_counts_right() {
    let (client, device) = one_device();
    let step = compiled(&client, "counter");
    let mut count = Buffer::scalar(&device, 41f32).expect("a number");
    for _ in 0..2000 {
        count = step.run(count).expect("runs").into_single().expect("one");
    }
    assert_eq!(count.to_scalar::<f32>().expect("a number"), 2041.);
}

#[test]
fn of_two_aliased_inputs_only_the_given_one_is_consumed() {
    let (client, device) = one_device();
    let step = compiled_text(&client, TWO_DONORS);
    assert_eq!([donation(&step, 0), donation(&step, 1)], [into(0), into(1)]);
    let a = [1., 2., 3., 4.];
    let b = [10., 20., 30., 40.];
    let (kept_a, kept_b) = (vector(&device, &a), vector(&device, &b));
    for round in 0..100 {
        let outputs = match round % 4 {
            0 => step.run((vector(&device, &a), &kept_b)),
            1 => step.run((&kept_a, vector(&device, &b))),
            2 => step.run((&kept_a, &kept_b)),
            _ => step.run((vector(&device, &a), vector(&device, &b))),
        };
        let [first, second] = outputs.expect("runs").into_array().expect("two");
        assert_eq!(values(&first), [2., 3., 4., 5.], "round {round}");
        assert_eq!(values(&second), [11., 22., 33., 44.], "round {round}");
        assert_eq!(values(&kept_a), a, "round {round}");
        assert_eq!(values(&kept_b), b, "round {round}");
    }
}

#[test]
fn the_last_of_many_inputs_is_lent_as_safely_as_the_first() {
    // 40 aliased inputs: output i is input i plus 1.
    let (client, device) = one_device();
    const N: usize = 40;
    let list = |each: &dyn Fn(usize) -> String| (0..N).map(each).collect::<Vec<_>>().join(", ");
    let text = format!(
        "module @many {{ func.func @main({}) -> ({}) {{
           %one = stablehlo.constant dense<1.0> : tensor<4xf32>
           {}
           return {} : {}
         }} }}",
        list(&|i| format!("%x{i}: tensor<4xf32> {{tf.aliasing_output = {i} : i32}}")),
        list(&|_| "tensor<4xf32>".to_owned()),
        (0..N)
            .map(|i| format!("%y{i} = stablehlo.add %x{i}, %one : tensor<4xf32>\n"))
            .collect::<String>(),
        list(&|i| format!("%y{i}")),
        list(&|_| "tensor<4xf32>".to_owned()),
    );
    let step = compiled_text(&client, &text);
    let lent: Vec<Buffer> = (0..N).map(|i| vector(&device, &[i as f32; 4])).collect();
    for _ in 0..3 {
        // Every third is given.
        let mut arguments = xla::ArgumentList::new();
        for (i, buffer) in lent.iter().enumerate() {
            if i % 3 == 0 {
                arguments.push(vector(&device, &[i as f32; 4]));
            } else {
                arguments.push(buffer);
            }
        }
        let outputs = step.run(arguments).expect("runs");
        for (i, output) in outputs.iter().enumerate() {
            assert_eq!(values(output), [i as f32 + 1.; 4], "output {i}");
        }
        for (i, buffer) in lent.iter().enumerate() {
            assert_eq!(values(buffer), [i as f32; 4], "input {i}");
        }
    }
}

#[test]
fn a_donor_is_paired_with_an_output_that_fits() {
    let (client, device) = one_device();
    let step = compiled_text(&client, &plus_one("jax.buffer_donor = true"));
    assert_eq!(donation(&step, 0), into(0));
    let kept = vector(&device, &[1., 2., 3., 4.]);
    for _ in 0..50 {
        let lent = step.run(&kept).expect("runs").into_single().expect("one");
        assert_eq!(values(&lent), [2., 3., 4., 5.]);
        assert_eq!(values(&kept), [1., 2., 3., 4.]);
        let given = step.run(lent).expect("runs").into_single().expect("one");
        assert_eq!(values(&given), [3., 4., 5., 6.]);
    }
}

#[test]
fn a_mark_of_another_dialect_donates_nothing() {
    let (client, device) = one_device();
    let step = compiled_text(&client, &plus_one("mhlo.buffer_donor = true"));
    assert_eq!(donation(&step, 0), Donation::None);
    let stats = step.memory_stats().expect("stated sizes");
    assert_eq!(
        (stats.alias_bytes, step.signature().donated_bytes()),
        (0, 0)
    );
    let x = vector(&device, &[1., 2., 3., 4.]);
    let y = step.run(x).expect("runs").into_single().expect("one");
    assert_eq!(values(&y), [2., 3., 4., 5.]);
}

#[test]
fn pairing_goes_by_size_in_bytes() {
    // f32[4] and s32[2,2] are 16 bytes both.
    let (client, device) = one_device();
    let convert = compiled_text(
        &client,
        r#"
        module @convert {
          func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<2x2xi32> {
            %n = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
            %m = stablehlo.reshape %n : (tensor<4xi32>) -> tensor<2x2xi32>
            return %m : tensor<2x2xi32>
          }
        }"#,
    );
    assert_eq!(donation(&convert, 0), into(0));
    let kept = vector(&device, &[1., 2., 3., 4.]);
    let given = vector(&device, &[5., 6., 7., 8.]);
    let outputs = convert.run(given).expect("runs");
    assert_eq!(outputs[0].shape().to_string(), "s32[2,2]");
    assert_eq!(outputs[0].to_host::<i32>().expect("s32"), [5, 6, 7, 8]);
    let outputs = convert.run(&kept).expect("runs");
    assert_eq!(outputs[0].to_host::<i32>().expect("s32"), [1, 2, 3, 4]);
    assert_eq!(values(&kept), [1., 2., 3., 4.]);
}

#[test]
fn a_donor_that_no_output_fits_is_reported_and_runs_right() {
    let (client, device) = one_device();
    let sum = compiled_text(&client, UNUSABLE_DONOR);
    assert_eq!(donation(&sum, 0), Donation::Unused);
    let table = sum.signature().to_string();
    assert!(
        table.contains("offered for donation, but no output has 16 bytes"),
        "{table}"
    );
    assert_eq!(sum.signature().donated_bytes(), 0);
    assert_eq!(sum.memory_stats().expect("stated sizes").alias_bytes, 0);
    let kept = vector(&device, &[1., 2., 3., 4.]);
    for _ in 0..50 {
        let given = vector(&device, &[10., 20., 30., 40.]);
        let outputs = sum.run(given).expect("runs");
        assert_eq!(outputs[0].to_scalar::<f32>().expect("a number"), 100.);
        let outputs = sum.run(&kept).expect("runs");
        assert_eq!(outputs[0].to_scalar::<f32>().expect("a number"), 10.);
    }
    assert_eq!(values(&kept), [1., 2., 3., 4.]);
}

#[test]
fn a_program_without_marks_takes_given_buffers_too() {
    let (client, device) = one_device();
    let add = compiled(&client, "add");
    assert_eq!(
        [donation(&add, 0), donation(&add, 1)],
        [Donation::None, Donation::None]
    );
    let lesson = lesson("add");
    let y = lesson.arguments[1].buffer(0, &device);
    for _ in 0..100 {
        let x = lesson.arguments[0].buffer(0, &device);
        let sum = add.run((x, &y)).expect("runs").into_single().expect("one");
        assert_eq!(values(&sum), lesson.results[0].f32(0));
    }
    assert_eq!(values(&y), lesson.arguments[1].f32(0));
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_is_given_but_not_donated_is_released() {
    // In a child, where nothing else takes memory.
    let test = "memory_that_is_given_but_not_donated_is_released";
    in_child(test, || {
        // 64 times 32 MiB would be 2 GiB.
        let (client, device) = one_device();
        const N: usize = 8 << 20;
        let sum = compiled_text(
            &client,
            &UNUSABLE_DONOR.replace("4xf32", &format!("{N}xf32")),
        );
        let host = vec![1f32; N];
        let before = resident();
        for _ in 0..64 {
            let x = Buffer::from_host(&device, &host, &[N]).expect("room");
            let outputs = sum.run(x).expect("runs");
            assert_eq!(outputs[0].to_scalar::<f32>().expect("a number"), N as f32);
        }
        check_resident(before);
    })
    .check_well();
}

/// The most memory that this process has ever had in use, in bytes.
#[cfg(target_os = "linux")]
fn resident_at_most() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system's figures");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    figure
        .expect("a figure")
        .parse::<usize>()
        .expect("a number")
        * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_donated_value_is_updated_in_its_own_memory() {
    // In a child, where nothing else takes memory.
    let test = "a_donated_value_is_updated_in_its_own_memory";
    in_child(test, || {
        let (client, device) = one_device();
        const N: usize = 32 << 20;
        const BYTES: usize = N * 4;
        let marked = plus_one("tf.aliasing_output = 0 : i32").replace("4xf32", &format!("{N}xf32"));
        let step = compiled_text(&client, &marked);
        let fill = compiled_text(
            &client,
            &format!(
                "func.func @main(%x: tensor<f32>) -> tensor<{N}xf32> {{
                   %all = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<{N}xf32>
                   return %all : tensor<{N}xf32>
                 }}"
            ),
        );
        let zero = Buffer::scalar(&device, 0f32).expect("a number");
        let mut x = fill.run(&zero).expect("runs").into_single().expect("one");
        x.wait().expect("filled");
        let before = resident_at_most();
        assert!(before > BYTES, "the figure counts the buffer");
        for _ in 0..5 {
            x = step.run(x).expect("runs").into_single().expect("one");
        }
        x.wait().expect("counted");
        let grown = resident_at_most() - before;
        assert!(grown < BYTES / 4, "given, it took {grown} bytes more");
        let y = step.run(&x).expect("runs").into_single().expect("one");
        y.wait().expect("counted");
        let grown = resident_at_most() - before;
        assert!(grown > BYTES / 2, "lent, it took only {grown} bytes more");
        drop(x);
        let values = values(&y);
        assert_eq!((values[0], values[N - 1]), (6., 6.));
    })
    .check_well();
}

#[test]
fn a_buffer_may_be_lent_twice_next_to_a_given_one() {
    let (client, device) = one_device();
    let step = compiled_text(
        &client,
        r#"
        module @muladd {
          func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
            %ab = stablehlo.multiply %a, %b : tensor<4xf32>
            %next = stablehlo.add %w, %ab : tensor<4xf32>
            return %next : tensor<4xf32>
          }
        }"#,
    );
    let twice = vector(&device, &[1., 2., 3., 4.]);
    let w = vector(&device, &[100., 100., 100., 100.]);
    let next = step.run((w, &twice, &twice)).expect("runs");
    assert_eq!(values(&next[0]), [101., 104., 109., 116.]);
    assert_eq!(values(&twice), [1., 2., 3., 4.]);
}

#[test]
fn a_buffer_may_be_lent_at_a_donating_place_and_another_at_once() {
    let (client, device) = one_device();
    let step = compiled(&client, "sgd_step");
    let both = vector(&device, &[8., 16., 24., 32.]);
    for _ in 0..50 {
        // w - w / 8
        let next = step.run((&both, &both)).expect("runs");
        assert_eq!(values(&next[0]), [7., 14., 21., 28.]);
        assert_eq!(values(&both), [8., 16., 24., 32.]);
    }
}

#[test]
fn an_output_that_is_an_input_is_a_buffer_of_its_own() {
    let (client, device) = one_device();
    let step = compiled_text(&client, &plus_one("tf.aliasing_output = 0 : i32"));
    for attribute in ["", "{tf.aliasing_output = 0 : i32}"] {
        let same = compiled_text(
            &client,
            &format!(
                "func.func @main(%x: tensor<4xf32> {attribute}) -> (tensor<4xf32>, tensor<4xf32>) {{
                   return %x, %x : tensor<4xf32>, tensor<4xf32>
                 }}"
            ),
        );
        let x = vector(&device, &[1., 2., 3., 4.]);
        let [y, z] = same.run(&x).expect("runs").into_array().expect("two");
        // Changed in place, if they shared memory all would change.
        let y = step.run(y).expect("runs").into_single().expect("one");
        let y = step.run(y).expect("runs").into_single().expect("one");
        let z = step.run(z).expect("runs").into_single().expect("one");
        assert_eq!(values(&y), [3., 4., 5., 6.], "{attribute}");
        assert_eq!(values(&z), [2., 3., 4., 5.], "{attribute}");
        assert_eq!(values(&x), [1., 2., 3., 4.], "{attribute}");
        let [y, z] = same.run(x).expect("runs").into_array().expect("two");
        let y = step.run(y).expect("runs").into_single().expect("one");
        assert_eq!(values(&y), [2., 3., 4., 5.], "{attribute}");
        assert_eq!(values(&z), [1., 2., 3., 4.], "{attribute}");
    }
}

#[test]
fn arrays_without_elements_are_given_like_others() {
    let (client, device) = one_device();
    let text = plus_one("tf.aliasing_output = 0 : i32").replace("4xf32", "0xf32");
    let step = compiled_text(&client, &text);
    let mut x = vector(&device, &[]);
    for _ in 0..50 {
        x = step.run(x).expect("runs").into_single().expect("one");
        assert_eq!(x.dims(), [0]);
    }
    let y = step.run(&x).expect("runs").into_single().expect("one");
    assert_eq!((values(&x), values(&y)), (vec![], vec![]));
}

#[test]
fn the_alias_size_is_that_of_the_donated_inputs() {
    // Stated by the compiler: donation takes place, whatever the addresses are.
    let (client, _) = one_device();
    let text = std::fs::read_to_string(cpu::program_path("sgd_step.mlir")).expect("text");
    let mark = " {tf.aliasing_output = 0 : i32}";
    assert!(text.contains(mark));
    let unmarked = text.replace(mark, "");
    for (text, bytes) in [(text.as_str(), 16), (TWO_DONORS, 32), (&unmarked, 0)] {
        let executable = compiled_text(&client, text);
        let stats = executable.memory_stats().expect("stated sizes");
        assert_eq!(stats.alias_bytes, bytes, "{}", executable.signature());
        let donated = executable.signature().donated_bytes();
        assert_eq!(donated as i64, bytes, "{}", executable.signature());
    }
}

// An input that HLO says must be aliased.

fn must_alias(client: &Client) -> Executable {
    let options = CompileOptions::new();
    client
        .compile(&program("must_alias.hlo.pb"), &options)
        .expect("compiles")
}

#[test]
fn an_input_that_must_be_donated_can_not_be_lent() {
    // Left to the plugins, 0.115 refuses and the others copy without a word.
    let (client, device) = one_device();
    let step = must_alias(&client);
    assert_eq!(
        donation(&step, 0),
        Donation::Into {
            output: 0,
            required: true
        }
    );
    let lesson = lesson("sgd_step");
    let w = lesson.arguments[0].buffer(0, &device);
    let g = lesson.arguments[1].buffer(0, &device);
    let name = step.signature().inputs()[0].name().map(str::to_owned);
    let called = name.map_or("argument 0".to_owned(), |name| {
        format!("argument 0 (`{name}`)")
    });
    let words = [&called, step.signature().name(), "lent", "by value"];
    let given = refused(step.run((&w, &g)), &words);
    assert!(given.is_empty());
    let given = refused(step.run((&w, g)), &words);
    assert_eq!(given.len(), 1);
    assert_eq!(values(&given[0].buffer), lesson.arguments[1].f32(0));
    assert_eq!(values(&w), lesson.arguments[0].f32(0));
}

#[test]
fn an_input_that_must_be_donated_can_be_given() {
    let (client, device) = one_device();
    let step = must_alias(&client);
    let lesson = lesson("sgd_step");
    let g = lesson.arguments[1].buffer(0, &device);
    for _ in 0..50 {
        let w = lesson.arguments[0].buffer(0, &device);
        let next = step.run((w, &g)).expect("runs");
        assert_eq!(values(&next[0]), lesson.results[0].f32(0));
    }
}

// Refused before the plugin sees it: it looks at counts, sizes and devices only.

/// A program with names, `f32[2,3]` donated and `s32[6]` lent.
const NAMED: &str = r#"
module @named {
  func.func @main(%w: tensor<2x3xf32> {tf.aliasing_output = 0 : i32} loc("params.w"), %n: tensor<6xi32> loc("batch.n")) -> tensor<2x3xf32> {
    %x = stablehlo.convert %n : (tensor<6xi32>) -> tensor<6xf32>
    %y = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
    %z = stablehlo.add %w, %y : tensor<2x3xf32>
    return %z : tensor<2x3xf32>
  }
}"#;

const W: [f32; 6] = [1., 2., 3., 4., 5., 6.];
const N: [i32; 6] = [10, 20, 30, 40, 50, 60];

/// Runs `NAMED` with what is given, expects a refusal with all these words, and that
/// `w` and `n` come back as they were, as far as they were given.
#[track_caller]
fn refused_named(step: &Executable, w: Buffer, n: Buffer, words: &[&str]) {
    let (shape_w, shape_n) = (w.shape().clone(), n.shape().clone());
    let (bytes_w, bytes_n) = (w.to_bytes().expect("bytes"), n.to_bytes().expect("bytes"));
    let words: Vec<&str> = words.iter().copied().chain(["`named`"]).collect();
    // `n` is lent: only `w` comes back.
    let given = refused(step.run((w, &n)), &words);
    let [w] = <[_; 1]>::try_from(given).expect("one was given");
    assert_eq!((w.argument, w.device), (0, 0));
    // `w` is lent.
    let given = refused(step.run((&w.buffer, n)), &words);
    let [n] = <[_; 1]>::try_from(given).expect("one was given");
    assert_eq!((n.argument, n.device), (1, 0));
    // Both are given.
    let given = refused(step.run((w.buffer, n.buffer)), &words);
    let [w, n] = <[_; 2]>::try_from(given).expect("two were given");
    assert_eq!((w.argument, n.argument), (0, 1));
    assert_eq!((w.buffer.shape(), n.buffer.shape()), (&shape_w, &shape_n));
    assert_eq!(w.buffer.to_bytes().expect("bytes"), bytes_w);
    assert_eq!(n.buffer.to_bytes().expect("bytes"), bytes_n);
}

fn good_w(device: &Device) -> Buffer {
    Buffer::from_host(device, &W, &[2, 3]).expect("room")
}

fn good_n(device: &Device) -> Buffer {
    Buffer::from_host(device, &N, &[6]).expect("room")
}

#[test]
fn the_program_that_refuses_runs_when_all_is_right() {
    let (client, device) = one_device();
    let step = compiled_text(&client, NAMED);
    let n = good_n(&device);
    let next = step.run((good_w(&device), &n)).expect("runs");
    assert_eq!(values(&next[0]), [11., 22., 33., 44., 55., 66.]);
}

#[test]
fn another_element_type_of_the_same_size_is_refused() {
    let (client, device) = one_device();
    let step = compiled_text(&client, NAMED);
    let w = Buffer::from_host(&device, &N, &[2, 3]).expect("room");
    let words = ["argument 0 (`params.w`)", "wanted f32[2,3]", "got s32[2,3]"];
    refused_named(&step, w, good_n(&device), &words);
    let n = Buffer::from_host(&device, &W, &[6]).expect("room");
    let words = ["argument 1 (`batch.n`)", "wanted s32[6]", "got f32[6]"];
    refused_named(&step, good_w(&device), n, &words);
    let n = Buffer::from_host(&device, &[7u32; 6], &[6]).expect("room");
    let words = ["argument 1 (`batch.n`)", "wanted s32[6]", "got u32[6]"];
    refused_named(&step, good_w(&device), n, &words);
}

#[test]
fn other_dims_with_as_many_bytes_are_refused() {
    let (client, device) = one_device();
    let step = compiled_text(&client, NAMED);
    for dims in [&[3, 2][..], &[6], &[1, 6], &[2, 3, 1], &[6, 1, 1]] {
        let w = Buffer::from_host(&device, &W, dims).expect("room");
        let got = format!("got {}", Shape::of::<f32>(dims).expect("small"));
        let words = ["argument 0 (`params.w`)", "wanted f32[2,3]", &got];
        refused_named(&step, w, good_n(&device), &words);
    }
}

#[test]
fn other_sizes_are_refused() {
    let (client, device) = one_device();
    let step = compiled_text(&client, NAMED);
    for dims in [&[2, 2][..], &[2, 4], &[], &[0]] {
        let count = dims.iter().product();
        let w = Buffer::from_host(&device, &vec![1f32; count], dims).expect("room");
        let got = format!("got {}", Shape::of::<f32>(dims).expect("small"));
        let words = ["argument 0 (`params.w`)", "wanted f32[2,3]", &got];
        refused_named(&step, w, good_n(&device), &words);
    }
}

#[test]
fn too_few_and_too_many_arguments_are_refused() {
    let (client, device) = one_device();
    let step = compiled_text(&client, NAMED);
    let given = refused(
        step.run(()),
        &["`named`", "takes 2 arguments", "0 were given"],
    );
    assert!(given.is_empty());
    let words = ["`named`", "takes 2 arguments", "1 was given"];
    let given = refused(step.run(good_w(&device)), &words);
    assert_eq!(given.len(), 1);
    assert_eq!(values(&given[0].buffer), W);
    let words = ["`named`", "takes 2 arguments", "3 were given"];
    let n = good_n(&device);
    let arguments = (good_w(&device), &n, good_w(&device));
    let given = refused(step.run(arguments), &words);
    let places: Vec<usize> = given.iter().map(|each| each.argument).collect();
    assert_eq!(places, [0, 2]);
    for each in &given {
        assert_eq!(values(&each.buffer), W);
    }
    assert_eq!(n.to_host::<i32>().expect("s32"), N);
}

#[test]
fn a_buffer_of_another_device_is_refused() {
    let client = client(2);
    let (here, there) = (device(&client, 0), device(&client, 1));
    let program = Program::from_text(NAMED).expect("text");
    let options = CompileOptions::new().device(&here);
    let step = client.compile(&program, &options).expect("compiles");
    let (wanted, got) = (format!("{here:?}"), format!("{there:?}"));
    let words = ["argument 0 (`params.w`)", &wanted, &got, "copy_to_device"];
    refused_named(&step, good_w(&there), good_n(&here), &words);
    let words = ["argument 1 (`batch.n`)", &wanted, &got, "copy_to_device"];
    refused_named(&step, good_w(&here), good_n(&there), &words);
    // The way out that the message names.
    let w = good_w(&there).copy_to_device(&here).expect("copies");
    let next = step.run((w, &good_n(&here))).expect("runs");
    assert_eq!(values(&next[0]), [11., 22., 33., 44., 55., 66.]);
}

#[test]
fn a_buffer_of_another_client_is_refused() {
    let (client, here) = one_device();
    let (_other, there) = one_device();
    let step = compiled_text(&client, NAMED);
    let words = ["argument 0 (`params.w`)", "another client"];
    refused_named(&step, good_w(&there), good_n(&here), &words);
    let words = ["argument 1 (`batch.n`)", "another client"];
    refused_named(&step, good_w(&here), good_n(&there), &words);
}

#[test]
fn what_a_refused_call_gives_back_can_be_given_again() {
    let (client, device) = one_device();
    let step = compiled_text(&client, NAMED);
    let n = good_n(&device);
    let mut w = good_w(&device);
    for _ in 0..100 {
        let mut given = refused(step.run((w, &n, &n)), &["3 were given"]);
        w = given.pop().expect("it came back").buffer;
    }
    let next = step.run((w, &n)).expect("runs");
    assert_eq!(values(&next[0]), [11., 22., 33., 44., 55., 66.]);
}

// Failures inside the plugin.

/// The second output needs 2^48 bytes, more than a process can address.
const FAILS_AT_ONCE: &str = r#"
module @fails_at_once {
  func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("state.w"),
                  %v: tensor<4xf32> loc("state.v"),
                  %x: tensor<f32> loc("x")) -> (tensor<4xf32>, tensor<70368744177664xf32>) {
    %next = stablehlo.add %w, %v : tensor<4xf32>
    %huge = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
    return %next, %huge : tensor<4xf32>, tensor<70368744177664xf32>
  }
}"#;

#[test]
fn a_call_that_fails_inside_the_plugin_returns_survivors_and_names_the_lost() {
    let (client, device) = one_device();
    let step = compiled_text(&client, FAILS_AT_ONCE);
    let x = Buffer::scalar(&device, 1f32).expect("a number");
    for _ in 0..50 {
        let w = vector(&device, &[1., 2., 3., 4.]);
        let v = vector(&device, &[5., 6., 7., 8.]);
        let error = step
            .run((w, v, &x))
            .expect_err("there is not so much memory");
        let message = error.to_string();
        assert_eq!(error.code(), Code::ResourceExhausted, "{message}");
        assert_eq!(
            error.error().function(),
            Some("PJRT_LoadedExecutable_Execute"),
            "{message}"
        );
        assert!(message.contains("running `fails_at_once`"), "{message}");
        assert!(message.contains("Out of memory"), "{message}");
        let lost: Vec<_> = error.lost().iter().map(|lost| lost.name.clone()).collect();
        // The undonated `v` survives on all; the donated `w` only on 0.81.
        let survivors = if api_minor(&client) < 100 {
            assert!(lost.is_empty(), "{message}");
            vec![(0, vec![1., 2., 3., 4.]), (1, vec![5., 6., 7., 8.])]
        } else {
            assert_eq!(lost, ["argument 0 (`state.w`)"]);
            assert!(message.contains("argument 0 (`state.w`)"), "{message}");
            vec![(1, vec![5., 6., 7., 8.])]
        };
        let given: Vec<_> = error
            .given()
            .iter()
            .map(|given| (given.argument, values(&given.buffer)))
            .collect();
        assert_eq!(given, survivors);
    }
    assert_eq!(x.to_scalar::<f32>().expect("a number"), 1.);
    // The client is as good as before.
    let counter = compiled(&client, "counter");
    let count = counter.run(x).expect("runs");
    assert_eq!(count[0].to_scalar::<f32>().expect("a number"), 2.);
}

#[test]
fn a_call_that_fails_inside_the_plugin_leaves_what_was_lent() {
    let (client, device) = one_device();
    let step = compiled_text(&client, FAILS_AT_ONCE);
    let x = Buffer::scalar(&device, 1f32).expect("a number");
    let w = vector(&device, &[1., 2., 3., 4.]);
    let v = vector(&device, &[5., 6., 7., 8.]);
    for _ in 0..50 {
        let error = step
            .run((&w, &v, &x))
            .expect_err("there is not so much memory");
        assert!(
            error.given().is_empty() && error.lost().is_empty(),
            "{error}"
        );
        assert_eq!(values(&w), [1., 2., 3., 4.]);
        assert_eq!(values(&v), [5., 6., 7., 8.]);
    }
}

#[test]
fn a_run_that_fails_after_its_call_says_so_wherever_its_output_is_used() {
    let (client, device) = one_device();
    let cause = "Out of memory allocating 281474976710656 bytes";
    let output = failing(&client, &device);
    let says = |what: &str, error: xla::Error| {
        assert!(error.message().contains(cause), "{what}: {error}");
    };
    says("wait", output.wait().expect_err("failed"));
    says("to_host", output.to_host::<f32>().expect_err("failed"));
    let read = output.to_host_async::<f32>();
    says(
        "to_host_async",
        read.and_then(|read| read.wait()).expect_err("failed"),
    );
    let mut four = [0f32; 4];
    says(
        "read_into",
        output.read_into(&mut four).expect_err("failed"),
    );
    let ready = output.ready().expect("an event");
    says("an event", ready.wait().expect_err("failed"));
    says(
        "copy_on_device",
        output.copy_on_device().expect_err("failed"),
    );
    // It is ready all the same: nothing more will come.
    assert!(output.is_ready().expect("known"));
    assert!(ready.is_ready().expect("known"));
}

#[test]
fn a_run_with_a_failed_input_carries_the_first_cause_on() {
    let (client, device) = one_device();
    let step = compiled(&client, "sgd_step");
    let g = vector(&device, &[1., 2., 3., 4.]);
    let mut w = failing(&client, &device);
    for _ in 0..20 {
        let outputs = step.run((w, &g)).expect("the failure shows later");
        w = outputs.into_single().expect("one");
    }
    let error = w.to_host::<f32>().expect_err("failed");
    assert!(error.message().contains("Out of memory"), "{error}");
    // As a lent input too, and next to a good one that is given.
    let good = vector(&device, &[1., 2., 3., 4.]);
    let outputs = step.run((good, &w)).expect("the failure shows later");
    let error = outputs[0].wait().expect_err("failed");
    assert!(error.message().contains("Out of memory"), "{error}");
    // What was lent next to it is fine.
    assert_eq!(values(&g), [1., 2., 3., 4.]);
}

// The runtime orders what happens to a device's memory.

/// `x + 1` in place, for the vector of `SLOW`.
fn bump(client: &Client) -> Executable {
    let text = plus_one("tf.aliasing_output = 0 : i32");
    compiled_text(
        client,
        &text.replace("4xf32", &format!("{SLOW_LENGTH}xf32")),
    )
}

#[test]
fn a_buffer_may_be_given_away_while_a_run_that_borrowed_it_goes_on() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let bump = bump(&client);
    until_pending(|rounds| {
        let x = vector(&device, &[1.; SLOW_LENGTH]);
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let sum = slow
            .run((&x, &n))
            .expect("runs")
            .into_single()
            .expect("one");
        let pending = !sum.is_ready().expect("known");
        let next = bump.run(x).expect("runs").into_single().expect("one");
        // Had `x` become 2 under way, the sum would be more.
        assert_eq!(values(&sum), [rounds as f32 + 1.; SLOW_LENGTH]);
        assert_eq!(values(&next), [2.; SLOW_LENGTH]);
        pending
    });
}

#[test]
fn a_buffer_may_be_dropped_while_a_run_that_borrowed_it_goes_on() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    until_pending(|rounds| {
        let x = vector(&device, &[1.; SLOW_LENGTH]);
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let sum = slow
            .run((&x, &n))
            .expect("runs")
            .into_single()
            .expect("one");
        drop((x, n));
        // Would take the memory if it were free.
        let others: Vec<_> = (0..20)
            .map(|_| vector(&device, &[7.; SLOW_LENGTH]))
            .collect();
        let pending = !sum.is_ready().expect("known");
        assert_eq!(values(&sum), [rounds as f32 + 1.; SLOW_LENGTH]);
        assert_eq!(values(&others[19]), [7.; SLOW_LENGTH]);
        pending
    });
}

#[test]
fn forty_runs_may_be_under_way_at_once() {
    // Each waits for the one before it; the runtime lets 32 queue up.
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let bump = bump(&client);
    let n = Buffer::scalar(&device, 2000).expect("a number");
    let ones = vector(&device, &[1.; SLOW_LENGTH]);
    let sums: Vec<Buffer> = (0..40)
        .map(|_| {
            slow.run((&ones, &n))
                .expect("runs")
                .into_single()
                .expect("one")
        })
        .collect();
    let mut chain = vector(&device, &[0.; SLOW_LENGTH]);
    for _ in 0..40 {
        chain = bump.run(chain).expect("runs").into_single().expect("one");
    }
    for sum in &sums {
        assert_eq!(values(sum), [2001.; SLOW_LENGTH]);
    }
    assert_eq!(values(&chain), [40.; SLOW_LENGTH]);
}

#[test]
fn a_read_that_was_started_before_a_donation_gives_the_old_values() {
    let (client, device) = one_device();
    const N: usize = 1 << 18;
    let text = plus_one("tf.aliasing_output = 0 : i32");
    let bump = compiled_text(&client, &text.replace("4xf32", &format!("{N}xf32")));
    let mut x = vector(&device, &[0.; N]);
    for round in 0..100 {
        let read = x.to_host_async::<f32>().expect("starts");
        x = bump.run(x).expect("runs").into_single().expect("one");
        let old = read.wait().expect("values");
        assert!(old.iter().all(|old| *old == round as f32), "round {round}");
    }
    assert_eq!(values(&x), [100.; N]);
}

#[test]
fn a_read_of_a_pending_value_gives_what_it_was_before_the_donation() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let bump = bump(&client);
    until_pending(|rounds| {
        let x = vector(&device, &[1.; SLOW_LENGTH]);
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let sum = slow
            .run((&x, &n))
            .expect("runs")
            .into_single()
            .expect("one");
        let pending = !sum.is_ready().expect("known");
        let read = sum.to_host_async::<f32>().expect("starts");
        let next = bump.run(sum).expect("runs").into_single().expect("one");
        assert_eq!(
            read.wait().expect("values"),
            [rounds as f32 + 1.; SLOW_LENGTH]
        );
        assert_eq!(values(&next), [rounds as f32 + 2.; SLOW_LENGTH]);
        pending
    });
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

#[test]
fn calls_in_any_order_give_what_a_model_gives() {
    // Every buffer next to the values that it must have. `a - b` is donated from `a`,
    // `3x` from `x`, and of two results that are one value each is a buffer of its own.
    const N: usize = 64;
    let (client, device) = one_device();
    let program = |inputs: &str, outputs: &str, body: &str| {
        let text = format!("func.func @main({inputs}) -> ({outputs}) {{ {body} }}");
        compiled_text(&client, &text.replace("v64", "tensor<64xi32>"))
    };
    let subtract = program(
        "%a: v64 {tf.aliasing_output = 0 : i32}, %b: v64",
        "v64",
        "%c = stablehlo.subtract %a, %b : v64 return %c : v64",
    );
    let triple = program(
        "%x: v64 {jax.buffer_donor = true}",
        "v64",
        "%y = stablehlo.add %x, %x : v64 %z = stablehlo.add %x, %y : v64 return %z : v64",
    );
    let twice = program("%x: v64", "v64, v64", "return %x, %x : v64, v64");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut live: Vec<(Buffer, Vec<i32>)> = Vec::new();
    let zip = |a: &[i32], b: &[i32], f: fn(i32, i32) -> i32| -> Vec<i32> {
        a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
    };
    for turn in 0..4000 {
        if live.len() < 3 {
            let host: Vec<i32> = (0..N).map(|_| dice.roll(1 << 30) as i32).collect();
            let buffer = Buffer::from_host(&device, &host, &[N]).expect("room");
            live.push((buffer, host));
            continue;
        }
        let (x, model) = live.swap_remove(dice.roll(live.len()));
        let other = dice.roll(live.len());
        match dice.roll(10) {
            // Given, lent.
            0 | 1 => {
                let (b, with) = &live[other];
                let c = subtract.run((x, b)).expect("runs").into_single();
                let c = (c.expect("one"), zip(&model, with, i32::wrapping_sub));
                live.push(c);
            }
            // Lent, given: to a place that doesn't donate.
            2 | 3 => {
                let (b, with) = live.swap_remove(other);
                let c = subtract.run((&x, b)).expect("runs").into_single();
                live.push((c.expect("one"), zip(&model, &with, i32::wrapping_sub)));
                live.push((x, model));
            }
            4 => {
                let c = subtract.run((&x, &x)).expect("runs").into_single();
                live.push((c.expect("one"), vec![0; N]));
                live.push((x, model));
            }
            5 => {
                let y = triple.run(x).expect("runs").into_single().expect("one");
                live.push((y, model.iter().map(|x| x.wrapping_mul(3)).collect()));
            }
            6 => {
                // Both copies and the original go on, each its own way.
                let [a, b] = twice.run(&x).expect("runs").into_array().expect("two");
                let a = triple.run(a).expect("runs").into_single().expect("one");
                live.push((a, model.iter().map(|x| x.wrapping_mul(3)).collect()));
                live.push((b, model.clone()));
                live.push((x, model));
            }
            7 => {
                // Read while it is given away.
                let read = x.to_host_async::<i32>().expect("starts");
                let y = triple.run(x).expect("runs").into_single().expect("one");
                assert_eq!(read.wait().expect("values"), model, "turn {turn}");
                live.push((y, model.iter().map(|x| x.wrapping_mul(3)).collect()));
            }
            8 => {
                drop(x.to_host_async::<i32>().expect("starts"));
                live.push((x.copy_on_device().expect("room"), model));
            }
            // Dropped.
            _ => {}
        }
        if let Some((buffer, model)) = live.get(dice.roll(40)) {
            assert_eq!(
                buffer.to_host::<i32>().expect("values"),
                *model,
                "turn {turn}"
            );
        }
    }
    for (buffer, model) in &live {
        assert_eq!(buffer.to_host::<i32>().expect("values"), *model);
    }
}

// Executables as bytes.

#[test]
fn a_loaded_executable_donates_as_before() {
    let (client, device) = one_device();
    let bytes = compiled_text(&client, TWO_DONORS)
        .serialize()
        .expect("bytes");
    let step = client.deserialize(&bytes).expect("loads");
    assert_eq!([donation(&step, 0), donation(&step, 1)], [into(0), into(1)]);
    assert_eq!(step.signature().inputs()[1].name(), Some("state.b"));
    assert_eq!(step.signature().donated_bytes(), 32);
    let kept = vector(&device, &[10., 20., 30., 40.]);
    let mut a = vector(&device, &[1., 2., 3., 4.]);
    for round in 0..50 {
        let [next, sum] = step
            .run((a, &kept))
            .expect("runs")
            .into_array()
            .expect("two");
        let base = round as f32;
        assert_eq!(
            values(&sum),
            [11. + base, 22. + base, 33. + base, 44. + base]
        );
        assert_eq!(values(&kept), [10., 20., 30., 40.]);
        a = next;
    }
    assert_eq!(values(&a), [51., 52., 53., 54.]);
}

#[test]
fn a_loaded_executable_refuses_as_before() {
    let (client, device) = one_device();
    let bytes = compiled_text(&client, NAMED).serialize().expect("bytes");
    let step = client.deserialize(&bytes).expect("loads");
    let w = Buffer::from_host(&device, &W, &[3, 2]).expect("room");
    let words = ["argument 0 (`params.w`)", "wanted f32[2,3]", "got f32[3,2]"];
    refused_named(&step, w, good_n(&device), &words);
}

#[test]
fn a_loaded_executable_that_must_alias_refuses_to_borrow() {
    let (client, device) = one_device();
    let bytes = must_alias(&client).serialize().expect("bytes");
    let step = client.deserialize(&bytes).expect("loads");
    let w = vector(&device, &[1., 2., 3., 4.]);
    let g = vector(&device, &[8., 8., 8., 8.]);
    refused(step.run((&w, &g)), &["argument 0", "lent"]);
    let next = step.run((w, &g)).expect("runs");
    assert_eq!(values(&next[0]), [0., 1., 2., 3.]);
}

/// Device by device, for what was given; nothing of what was lent.
#[test]
fn a_report_tells_of_every_device() {
    let four = |device: &Device| vector(device, &[1., 2., 3., 4.]);
    let client = client(4);
    let step = compiled(&client, "sgd_replicas_4");
    let gradients: Vec<Buffer> = step.devices().iter().map(four).collect();
    let weights = step.devices().iter().map(four);
    let arguments = weights.zip(&gradients);
    let (outputs, report) = step.run_per_device_reported(arguments).expect("runs");
    assert_eq!(outputs.len(), 4);
    let leaves = report.leaves().iter();
    let leaves: Vec<_> = leaves
        .map(|it| (it.argument, it.device, it.consumed))
        .collect();
    assert_eq!(
        leaves,
        [(0, 0, true), (0, 1, true), (0, 2, true), (0, 3, true)]
    );
    // 1 - 0.125 * 4 * 1, and so on.
    for output in &outputs {
        assert_eq!(values(&output[0]), [0.5, 1., 1.5, 2.]);
    }
    for gradient in &gradients {
        assert_eq!(values(gradient), [1., 2., 3., 4.]);
    }

    let twice = compiled(&client, "add")
        .run_per_device_reported([(four(&step.devices()[0]), four(&step.devices()[0]))]);
    let (_, report) = twice.expect("runs on one device too");
    assert_eq!(report.leaves().len(), 2);
    assert!(!report.all_consumed());
}
