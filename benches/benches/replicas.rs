//! One launch on 1 to 8 devices, with a state of 1 or 64 leaves donated and a gradient lent:
//! of replicas that sum their gradients, and of replicas that don't speak to each other.

use std::time::Duration;

use benches::programs::{compiled, descent, ROW};
use benches::raw::{self, Launches, Parallel};
use benches::side_by_side::{compare, is_short, is_wanted, Line};
use benches::table::begin;
use benches::{clients, MOST_DEVICES};
use xla::{Buffer, Client, Each, Give, HostArray, HostTree, ParallelFunction, PerDevice, Ref};

fn main() {
    if !begin("Launches on several devices") {
        return;
    }
    let counts: &[usize] = if is_short() {
        &[1, 4]
    } else {
        &[1, 2, 4, MOST_DEVICES]
    };
    for devices in counts {
        for summed in [false, true] {
            measure::<1>(*devices, summed);
            measure::<64>(*devices, summed);
        }
    }
}

fn measure<const LEAVES: usize>(devices: usize, summed: bool) {
    let how = if summed { "summed" } else { "alone" };
    let name = format!("{devices} x {LEAVES} {how}");
    let (typed, untyped) = (format!("{name}, typed"), format!("{name}, run_per_device"));
    if !is_wanted(&typed) && !is_wanted(&untyped) {
        return;
    }
    // Clients of their own: on one with collectives every launch is noted.
    let (safe, raw) = clients(devices);
    let mut step = raw_step(raw, LEAVES, devices, summed);
    let mut run_raw = |times| step.run(times);

    let run_safe = typed_step::<LEAVES>(&safe, devices, summed);
    compare(line(&typed, devices), run_safe, &mut run_raw);

    let run_safe = untyped_step(&safe, LEAVES, devices, summed);
    compare(line(&untyped, devices), run_safe, &mut run_raw);
}

fn line(name: &str, devices: usize) -> Line<'_> {
    Line {
        // Each ends with waiting: enough launches that this doesn't count for much.
        batch: Duration::from_millis(4),
        most: if devices == 4 { 1.05 } else { 1.10 },
        ..Line::new(name)
    }
}

fn raw_step(client: raw::Client, leaves: usize, devices: usize, summed: bool) -> Launches {
    let text = descent(leaves, devices, summed);
    let executable = client.compile(&text, Parallel::Replicas(devices));
    let counts = [leaves, 1, 0];
    let row = |client: &raw::Client, device| client.from_host(device, &ROW, &[4]);
    let step = Launches::new(client, executable, devices, counts, row);
    if summed {
        step.one_at_a_time()
    } else {
        step
    }
}

type Step<const LEAVES: usize> =
    ParallelFunction<(Give<[Buffer; LEAVES]>, Ref<Buffer>), Each<[Buffer; LEAVES]>>;

fn typed_step<const LEAVES: usize>(
    client: &Client,
    devices: usize,
    summed: bool,
) -> impl FnMut(u64) {
    let step = compiled(client, descent(LEAVES, devices, summed));
    let step: Step<LEAVES> = step.parallel().expect("it fits");
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
    let step = compiled(client, descent(leaves, devices, summed));
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
