//! The train step of the examples on four devices, for any topology that has them.

use std::fs;
use std::time::Instant;

use xla::{Client, CompileOptions, CompiledProgram, Donation, ElementType, Topology};

use crate::cpu::{client, compiled, program, program_path};

/// Weights and biases of the two convolutions and the dense layer, three times (parameters and
/// both of Adam's moments), the step and three sums of the metrics; 4 bytes each.
pub const STATE_BYTES: usize =
    4 * (3 * (3 * 3 * 16 + 16 + 3 * 3 * 16 * 32 + 32 + 1568 * 10 + 10) + 1 + 3);

/// The same on a v5e, by hand: the last dimension in memory is padded to 128 elements, the one
/// before it to 8 where it is long; the weights of the dense layer lie with the 1568 last.
#[cfg(feature = "fetch-tpu")]
pub const STATE_BYTES_V5E: i64 = {
    let conv1 = 3 * 3 * 128 + 128;
    let conv2 = 3 * 3 * 16 * 128 + 128;
    let dense = 1664 * 16 + 128;
    4 * (3 * (conv1 + conv2 + dense) + 128 + 3 * 128)
};

/// What the program's text says of its arguments: into which output each is donated.
pub fn donations_in_the_text(name: &str) -> Vec<Option<usize>> {
    let text = fs::read_to_string(program_path(&format!("{name}.mlir"))).expect("a program");
    let main = text.lines().find(|line| line.contains("@main("));
    let (arguments, _) = main.expect("@main").split_once(") -> (").expect("results");
    let arguments = arguments.split("%arg").skip(1);
    arguments
        .map(|argument| {
            let (_, rest) = argument.split_once("tf.aliasing_output = ")?;
            rest.split(' ').next()?.parse().ok()
        })
        .collect()
}

/// The donations are found in the step that has none, and the compiler makes as many bytes of
/// them as it is told that there are, beside those of `more` that only this target has.
#[track_caller]
pub fn verify(topology: &Topology, options: &CompileOptions, state: i64, more: i64) {
    let undonated = program("train_step_4_undonated");
    let compiled = topology.compile(&undonated, options).expect("compiles");
    let advice = compiled.signature().donation_advice();
    let found = advice.candidates().iter().map(|it| (it.input, it.output));
    let found: Vec<(usize, usize)> = found.collect();
    let wanted = donations_in_the_text("train_step_4")
        .into_iter()
        .enumerate();
    for (input, output) in wanted {
        if let Some(output) = output {
            assert!(found.contains(&(input, output)), "{input}: {advice}");
        }
    }
    let compared = advice
        .verify_for(topology, &undonated, options)
        .expect("both compile");
    assert_eq!(compared.before.alias_bytes, 0);
    assert_eq!(compared.after.alias_bytes, state + more, "{compared}");
    assert_eq!(advice.bytes_saved() as i64, state + more);
    assert_eq!(compared.refused, [0; 0]);
    assert!(compared.peak_bytes_saved().expect("told") > 0, "{compared}");
    assert!(!compared.executable.serialize().expect("bytes").is_empty());

    // Advice on one program is none on another, whoever has compiled it.
    let other = program("train_step_4");
    let error = advice.verify_for(topology, &other, options);
    error.expect_err("it donates already");
    let add = program("add");
    let error = advice.verify_compiled(&compiled, &add, options);
    error.expect_err("another program");
}

pub fn compile(topology: &Topology, name: &str, options: &CompileOptions) -> CompiledProgram {
    let before = Instant::now();
    let compiled = topology
        .compile(&program(name), options)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    println!(
        "{name} for {:?}: {:?}",
        topology.devices()[0].kind(),
        before.elapsed()
    );
    compiled
}

/// All that the signature says but layouts, which differ by platform.
fn told(signature: &xla::Signature) -> Vec<String> {
    let inputs = signature.inputs().iter().map(|input| {
        format!(
            "{:?} {} {:?} {:?}",
            input.name(),
            input.shape(),
            input.donation(),
            input.sharding()
        )
    });
    let outputs = signature.outputs().iter();
    let outputs = outputs.map(|output| format!("{} {:?}", output.shape(), output.sharding()));
    inputs.chain(outputs).collect()
}

/// Checks the train step of four devices, donated and not, and gives both.
#[track_caller]
pub fn check(topology: &Topology, options: &CompileOptions) -> [CompiledProgram; 2] {
    let donated = compile(topology, "train_step_4", options);
    let undonated = compile(topology, "train_step_4_undonated", options);

    let here: Client = client(4);
    let on_cpu = compiled(&here, "train_step_4");
    let signature = donated.signature();
    assert_eq!((signature.replicas(), signature.partitions()), (1, 4));
    assert_eq!(told(signature), told(on_cpu.signature()));

    let wanted = donations_in_the_text("train_step_4");
    assert_eq!(wanted.iter().flatten().count(), 22, "18 + step + 3 metrics");
    let table: Vec<Option<usize>> = signature
        .inputs()
        .iter()
        .map(|input| match input.donation() {
            Donation::Into {
                output,
                required: false,
            } => Some(output),
            Donation::None => None,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(table, wanted);
    assert_eq!(signature.donated_bytes(), STATE_BYTES);
    assert_eq!(undonated.signature().donated_bytes(), 0);

    // A batch of 64 images over four devices.
    let images = signature
        .inputs()
        .iter()
        .find(|input| input.shape().element_type() == ElementType::U8);
    let images = images.expect("images");
    assert_eq!(images.shape().dims(), [16, 784]);
    assert_eq!(images.global_shape().expect("known").dims(), [64, 784]);

    let (with, without) = (
        donated.memory_stats().expect("told"),
        undonated.memory_stats().expect("told"),
    );
    assert_eq!(without.alias_bytes, 0);
    assert!(with.peak_bytes.expect("told") < without.peak_bytes.expect("told"));
    assert!(donated.serialize().expect("bytes").len() > 10_000);
    let module = donated.optimized_hlo().expect("told");
    let refused = xla::Program::from_hlo(module).expect_err("it has a schedule");
    assert!(refused.message().contains("schedule"), "{refused}");
    [donated, undonated]
}
