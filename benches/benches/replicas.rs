//! One launch on four devices, with the weights donated and the gradients lent: of
//! replicas that sum their gradients, and of replicas that don't speak to each other.

#![allow(missing_docs)] // the main function that criterion writes

use benches::{clients, raw, side_by_side::compare, DEVICES};
use criterion::{criterion_group, criterion_main, Criterion};
use xla::{Buffer, Client, CompileOptions, Program};

const SUMMED: &str = include_str!("../../examples/programs/sgd_replicas_4.mlir");

/// The same without the sum.
const ALONE: &str = "
module @alone attributes {mhlo.num_replicas = 4 : i32} {
  func.func public @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<4xf32>) -> tensor<4xf32> {
    %rate = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
    %change = stablehlo.multiply %rate, %g : tensor<4xf32>
    %next = stablehlo.subtract %w, %change : tensor<4xf32>
    return %next : tensor<4xf32>
  }
}";

fn replicas(criterion: &mut Criterion) {
    let (safe, raw) = clients();
    let summed = "4 replicas, summed";
    compare(criterion, summed, step(&safe, SUMMED), summed_raw(raw));
    let alone = "4 replicas, alone";
    compare(criterion, alone, step(&safe, ALONE), alone_raw(raw));
}

fn step(client: &Client, text: &str) -> impl FnMut(u64) {
    let program = Program::from_text(text).expect("a program");
    let step = client.compile(&program, &CompileOptions::new());
    let step = step.expect("it compiles");
    let row = |device| Buffer::from_host(device, &[1f32, 2.0, 3.0, 4.0], &[4]).expect("a buffer");
    let devices = step.devices();
    let mut weights: Vec<Buffer> = devices.iter().map(row).collect();
    let gradients: Vec<Buffer> = devices.iter().map(row).collect();
    move |times| {
        for _ in 0..times {
            let arguments = weights.drain(..).zip(&gradients);
            let outputs = step.run_per_device(arguments).expect("a run");
            let singles = outputs.into_iter().map(|outputs| outputs.into_single());
            weights.extend(singles.map(|output| output.expect("an output")));
        }
    }
}

/// Replicas that sum: as the safe layer does, a launch waits until the one before it is done,
/// without which a loop like this one ends in a hang.
fn summed_raw(client: raw::Client) -> impl FnMut(u64) {
    let mut launch = RawStep::new(client, SUMMED);
    let mut pending: Option<[raw::Event; DEVICES]> = None;
    move |times| {
        for _ in 0..times {
            for event in pending.take().into_iter().flatten() {
                // SAFETY: handed out by the launch before, and taken once.
                unsafe { client.wait(event) };
            }
            let mut events = [std::ptr::null_mut(); DEVICES];
            launch.run(&mut events);
            pending = Some(events);
        }
    }
}

fn alone_raw(client: raw::Client) -> impl FnMut(u64) {
    let mut launch = RawStep::new(client, ALONE);
    move |times| {
        for _ in 0..times {
            launch.run(&mut []);
        }
    }
}

struct RawStep {
    client: raw::Client,
    executable: raw::Executable,
    /// Weights and gradients of each device.
    arguments: [[raw::Buffer; 2]; DEVICES],
}

impl RawStep {
    fn new(client: raw::Client, text: &str) -> RawStep {
        let row = |device| client.from_host(device, &[1f32, 2.0, 3.0, 4.0], &[4]);
        RawStep {
            client,
            executable: client.compile(text, DEVICES as u8),
            arguments: std::array::from_fn(|device| [row(device), row(device)]),
        }
    }

    fn run(&mut self, events: &mut [raw::Event]) {
        let mut next = [std::ptr::null_mut(); DEVICES];
        let mut outputs = next.each_mut().map(|output| output as *mut _);
        let lists = self.arguments.each_ref().map(|list| list.as_slice());
        // SAFETY: two arguments and one output on each of four devices; a donated argument's
        // handle is destroyed once.
        unsafe {
            let Self {
                client, executable, ..
            } = self;
            client.execute(*executable, &lists, &[1], &mut outputs, events);
            for ([weights, _], next) in self.arguments.iter_mut().zip(next) {
                self.client.destroy(*weights);
                *weights = next;
            }
        }
    }
}

criterion_group!(all, replicas);
criterion_main!(all);
