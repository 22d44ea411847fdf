//! One launch on 1 to 8 devices, with a state of 1 or 64 leaves donated and a gradient lent:
//! of replicas that sum their gradients, and of replicas that don't speak to each other.

#![allow(missing_docs)] // the main function that criterion writes

use std::ptr::null_mut;
use std::time::Duration;

use benches::programs::{descent, descent_program, ROW};
use benches::side_by_side::{compare, is_wanted, Line};
use benches::{clients, print_plugin, raw, MOST_DEVICES};
use criterion::{criterion_group, criterion_main, Criterion};
use xla::{
    Buffer, Client, CompileOptions, Each, Give, HostArray, HostTree, ParallelFunction, PerDevice,
    Ref,
};

fn replicas(criterion: &mut Criterion) {
    print_plugin();
    for devices in [1, 2, 4, MOST_DEVICES] {
        for summed in [false, true] {
            measure::<1>(criterion, devices, summed);
            measure::<64>(criterion, devices, summed);
        }
    }
}

fn measure<const LEAVES: usize>(criterion: &mut Criterion, devices: usize, summed: bool) {
    let how = if summed { "summed" } else { "alone" };
    let name = format!("{devices} x {LEAVES} {how}");
    let (typed, untyped) = (format!("{name}, typed"), format!("{name}, run_per_device"));
    if !is_wanted(&typed) && !is_wanted(&untyped) {
        return;
    }
    // Clients of their own: on one with collectives every launch is noted.
    let (safe, raw) = clients(devices);
    let mut step = RawStep::new(raw, LEAVES, devices, summed);
    let mut run_raw = |times| step.run(times);

    let mut run_safe = typed_step::<LEAVES>(&safe, devices, summed);
    compare(criterion, line(&typed), &mut run_safe, &mut run_raw);

    let mut run_safe = untyped_step(&safe, LEAVES, devices, summed);
    compare(criterion, line(&untyped), &mut run_safe, &mut run_raw);
}

fn line(name: &str) -> Line<'_> {
    Line {
        // Each ends with waiting: enough launches that this doesn't count for much.
        batch: Duration::from_millis(4),
        ..Line::new(name)
    }
}

type Step<const LEAVES: usize> =
    ParallelFunction<(Give<[Buffer; LEAVES]>, Ref<Buffer>), Each<[Buffer; LEAVES]>>;

fn typed_step<const LEAVES: usize>(
    client: &Client,
    devices: usize,
    summed: bool,
) -> impl FnMut(u64) {
    let program = descent_program(LEAVES, devices, summed);
    let step = client.compile(&program, &CompileOptions::new());
    let step: Step<LEAVES> = step.and_then(|step| step.parallel()).expect("it fits");
    let on = step.executable().devices();
    let row = || HostArray::new(&ROW, &[4]).expect("a row");
    let state = HostTree::new((0..LEAVES).map(|_| row())).expect("a tree");
    let mut state = Some(PerDevice::replicate(on, &state).expect("room"));
    let gradient: PerDevice<Buffer> = PerDevice::replicate(on, &row().into()).expect("room");
    move |times| {
        for _ in 0..times {
            let before = state.take().expect("the state");
            state = Some(step.call((before, &gradient)).expect("a call"));
        }
        for part in state.iter().flatten() {
            part[LEAVES - 1].wait().expect("a run");
        }
    }
}

fn untyped_step(client: &Client, leaves: usize, devices: usize, summed: bool) -> impl FnMut(u64) {
    let program = descent_program(leaves, devices, summed);
    let step = client.compile(&program, &CompileOptions::new());
    let step = step.expect("it compiles");
    let row = |device| Buffer::from_host(device, &ROW, &[4]).expect("a buffer");
    let rows = |device| (0..leaves).map(|_| row(device)).collect();
    let on = step.devices();
    let mut state: Vec<Vec<Buffer>> = on.iter().map(rows).collect();
    let gradients: Vec<Buffer> = on.iter().map(row).collect();
    move |times| {
        for _ in 0..times {
            let arguments = state.drain(..).zip(&gradients);
            let outputs = step.run_per_device(arguments).expect("a run");
            state.extend(outputs.into_iter().map(|outputs| outputs.into_vec()));
        }
        for part in &state {
            part[leaves - 1].wait().expect("a run");
        }
    }
}

/// The same launch through the C API, with all its lists made before.
struct RawStep {
    client: raw::Client,
    executable: raw::Executable,
    leaves: usize,
    /// State and gradient of each device, one device after another.
    arguments: Vec<raw::Buffer>,
    outputs: Vec<raw::Buffer>,
    argument_lists: Vec<*const raw::Buffer>,
    output_lists: Vec<*mut raw::Buffer>,
    /// Of launches that sum: as the safe layer does, one waits until the one before it is
    /// done, without which a loop like this one ends in a hang.
    pending: Option<Vec<raw::Event>>,
}

impl RawStep {
    fn new(client: raw::Client, leaves: usize, devices: usize, summed: bool) -> RawStep {
        let rows =
            (0..devices * (leaves + 1)).map(|n| client.from_host(n / (leaves + 1), &ROW, &[4]));
        let arguments: Vec<raw::Buffer> = rows.collect();
        let mut outputs = vec![null_mut(); devices * leaves];
        RawStep {
            client,
            executable: client.compile(&descent(leaves, devices, summed), devices as u8),
            leaves,
            argument_lists: arguments
                .chunks(leaves + 1)
                .map(|list| list.as_ptr())
                .collect(),
            output_lists: outputs
                .chunks_mut(leaves)
                .map(|list| list.as_mut_ptr())
                .collect(),
            arguments,
            outputs,
            pending: summed.then(Vec::new),
        }
    }

    fn run(&mut self, times: u64) {
        for _ in 0..times {
            self.launch();
        }
        for state in self.arguments.chunks(self.leaves + 1) {
            // SAFETY: the outputs of the last launch.
            unsafe { self.client.wait_for(state[self.leaves - 1]) };
        }
    }

    fn launch(&mut self) {
        let devices = self.argument_lists.len();
        let mut events = [null_mut(); MOST_DEVICES];
        let events = match &mut self.pending {
            Some(pending) => {
                for event in pending.drain(..) {
                    // SAFETY: handed out by the launch before, and taken once.
                    unsafe { self.client.wait(event) };
                }
                &mut events[..devices]
            }
            None => &mut [],
        };
        let (leaves, gradient) = (self.leaves, [self.leaves as i64]);
        let (lists, outputs) = (&self.argument_lists, &self.output_lists);
        // SAFETY: as many arguments and outputs on each device as the program has, in lists
        // that stay where they are; a donated argument's handle is destroyed once.
        unsafe {
            self.client.execute(
                self.executable,
                lists,
                leaves + 1,
                &gradient,
                outputs,
                events,
            );
            let states = self.arguments.chunks_mut(leaves + 1);
            for (state, outputs) in states.zip(self.outputs.chunks(leaves)) {
                for (before, after) in state.iter_mut().zip(outputs) {
                    self.client.destroy(*before);
                    *before = *after;
                }
            }
        }
        if let Some(pending) = &mut self.pending {
            pending.extend_from_slice(events);
        }
    }
}

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500))
}

criterion_group!(name = all; config = quick(); targets = replicas);
criterion_main!(all);
