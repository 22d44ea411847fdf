//! The safe layer beside JAX and pypjrt, which run in a child process and take turns with it.
//!
//! `XLA_BENCH_PYTHON` names a Python with what `third_party/bench-requirements.txt` lists.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use benches::client;
use benches::programs::{self, compiled, example, ROW};
use benches::side_by_side::{compare_timed, is_short, is_wanted, spent, Line, Spent};
use benches::table::begin;
use xla::{Buffer, Each, Function, Give, HostArray, HostTree, ParallelFunction, PerDevice, Ref};

const DEVICES: usize = 4;

fn main() {
    if is_short() || !begin("Beside JAX and pypjrt") {
        return;
    }
    let Some(python) = std::env::var_os("XLA_BENCH_PYTHON") else {
        println!("jax: not measured; XLA_BENCH_PYTHON names no Python that has it");
        return;
    };
    let python = Path::new(&python);
    // What the time is at most to be, as a share of the other's.
    line(python, "scalar", 1. / 1.8, scalar);
    line(python, "pypjrt-scalar", 1. / 20., scalar);
    let hundred = "100-lent-100-donated";
    line(python, hundred, 1. / 1.8, additions);
    line(python, &format!("pypjrt-{hundred}"), 1. / 20., additions);
    line(python, "to-device-4KB", 1.0, || to_device(1 << 10));
    line(python, "to-device-256MB", 1.0, || to_device(1 << 26));
    line(python, "to-host-4KB", 1.0, || to_host(1 << 10));
    line(python, "to-host-256MB", 1.0, || to_host(1 << 26));
    line(python, "4x1-alone", 1. / 3., || descent::<1>(false, false));
    line(python, "4x64-alone", 1. / 3., || {
        descent::<64>(false, false)
    });
    line(python, "4x1-alone-awaited", 1. / 1.5, || {
        descent::<1>(false, true)
    });
    line(python, "4x1-summed-awaited", 1. / 1.5, || {
        descent::<1>(true, true)
    });
    line(python, "4x64-summed-awaited", 1. / 1.5, || {
        descent::<64>(true, true)
    });
    line(python, "4x1-summed", 1. / 1.5, || descent::<1>(true, false));
    line(python, "train-step-1", 1.1, || train_step(1));
    line(python, "train-step-4", 1.1, || train_step(4));
}

fn line<F: FnMut(u64)>(python: &Path, name: &str, most: f64, ours: impl FnOnce() -> F) {
    if !is_wanted(name) {
        return;
    }
    let mut theirs = Served::start(python, name);
    let mut ours = ours();
    let line = Line {
        name,
        names: [
            "xla",
            if name.starts_with("pypjrt") {
                "pypjrt"
            } else {
                "jax"
            },
        ],
        most,
        batch: Duration::from_millis(20),
        apart: true,
    };
    compare_timed(line, |n| spent(&mut ours, n), |n| theirs.run(n));
}

/// `bench.py`, serving a line.
struct Served {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Served {
    fn start(python: &Path, name: &str) -> Served {
        let plugin = benches::plugin();
        let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "jax", "bench.py"]
            .iter()
            .collect();
        let mut child = Command::new(python)
            .arg(script)
            .args(["--serve", name])
            .env(
                "XLA_PJRT_CPU_PLUGIN",
                plugin.path().expect("a plugin from a file"),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("XLA_BENCH_PYTHON starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut served = Served {
            child,
            input,
            output,
        };
        assert_eq!(served.read(), "ready", "what bench.py says first");
        served
    }

    fn run(&mut self, times: u64) -> Spent {
        writeln!(self.input, "{times}").expect("bench.py takes a number");
        let line = self.read();
        let (wall, cpu) = line.split_once(' ').expect("two numbers");
        let seconds = |text: &str| Duration::from_secs_f64(text.parse().expect("seconds"));
        Spent {
            wall: seconds(wall),
            cpu: Some(seconds(cpu)),
        }
    }

    fn read(&mut self) -> String {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("a line of bench.py");
        line.trim_end().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may be in the midst of nothing: it only waits for a number.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn scalar() -> impl FnMut(u64) {
    let client = client(1);
    let counter = compiled(&client, example("counter"));
    let device = client.device(0).expect("a device");
    let mut count = Some(Buffer::scalar(&device, 0f32).expect("room"));
    move |times| {
        for _ in 0..times {
            let before = count.take().expect("the count");
            let outputs = counter.run(before).expect("a run");
            count = Some(outputs.into_single().expect("an output"));
        }
        count.iter().for_each(|count| count.wait().expect("a run"));
    }
}

type Hundred = [Buffer; 100];

fn additions() -> impl FnMut(u64) {
    let client = client(1);
    let device = client.device(0).expect("a device");
    let scalars =
        || -> Hundred { std::array::from_fn(|_| Buffer::scalar(&device, 0f32).expect("room")) };
    let step = compiled(&client, programs::additions(100));
    let step: Function<(Give<Hundred>, Ref<Hundred>), Hundred> = step.typed().expect("it fits");
    let (mut state, lent) = (Some(scalars()), scalars());
    move |times| {
        for _ in 0..times {
            let before = state.take().expect("the state");
            state = Some(step.call((before, &lent)).expect("a call"));
        }
        state.iter().for_each(|all| all[99].wait().expect("a run"));
    }
}

fn to_device(count: usize) -> impl FnMut(u64) {
    let device = client(1).device(0).expect("a device");
    let values: Vec<f32> = (0..count).map(|n| n as f32).collect();
    move |times| {
        for _ in 0..times {
            let buffer = Buffer::from_host(&device, &values, &[count]).expect("room");
            buffer.wait().expect("values");
        }
    }
}

fn to_host(count: usize) -> impl FnMut(u64) {
    let device = client(1).device(0).expect("a device");
    let values: Vec<f32> = (0..count).map(|n| n as f32).collect();
    let buffer = Buffer::from_host(&device, &values, &[count]).expect("room");
    move |times| {
        for _ in 0..times {
            let read = buffer.to_host::<f32>().expect("values");
            assert_eq!(read[count - 1], values[count - 1]);
        }
    }
}

type Step<const LEAVES: usize> =
    ParallelFunction<(Give<[Buffer; LEAVES]>, Ref<Buffer>), Each<[Buffer; LEAVES]>>;

fn descent<const LEAVES: usize>(summed: bool, awaited: bool) -> impl FnMut(u64) {
    let client = client(DEVICES);
    let step = compiled(&client, programs::descent(LEAVES, DEVICES, summed));
    let step: Step<LEAVES> = step.parallel().expect("it fits");
    let on = step.executable().devices();
    let row = || HostArray::new(&ROW, &[4]).expect("a row");
    let state = HostTree::new((0..LEAVES).map(|_| row())).expect("a tree");
    let mut state = Some(PerDevice::replicate(on, &state).expect("room"));
    let gradient: PerDevice<Buffer> = PerDevice::replicate(on, &row().into()).expect("room");
    move |times| {
        for n in 0..times {
            let before = state.take().expect("the state");
            let after = step.call((before, &gradient)).expect("a call");
            if awaited || n + 1 == times {
                after.wait().expect("a run");
            }
            state = Some(after);
        }
    }
}

/// A step of the examples' network, each awaited.
fn train_step(devices: usize) -> impl FnMut(u64) {
    let client = client(devices);
    let init = compiled(&client, example("init"));
    let seed = Buffer::scalar(&client.device(0).expect("a device"), 0u32).expect("room");
    let start = init.run(&seed).expect("a run");
    let start: Vec<HostArray<'static>> = start
        .iter()
        .map(|leaf| HostArray::read(leaf).expect("values"))
        .collect();
    let step = compiled(&client, example(&format!("train_step_{devices}")));
    let inputs = step.signature().inputs();
    // The state, then the metrics, then images and labels.
    let changed = inputs.len() - 2;
    let upload = |device| {
        let rest = inputs[start.len()..].iter();
        let zeros: Vec<_> = rest
            .map(|input| HostArray::zeros(input.shape().clone()))
            .collect();
        let all = start.iter().chain(&zeros);
        all.map(|leaf| leaf.to_device(device).expect("room"))
            .collect()
    };
    let mut state: Vec<Vec<Buffer>> = step.devices().iter().map(upload).collect();
    let batches: Vec<Vec<Buffer>> = state.iter_mut().map(|all| all.split_off(changed)).collect();
    move |times| {
        for _ in 0..times {
            let batches = batches.iter().map(|batch| &batch[..]);
            let outputs = step
                .run_per_device(state.drain(..).zip(batches))
                .expect("a run");
            for outputs in outputs {
                let mut outputs = outputs.into_vec();
                outputs.pop().expect("the loss").wait().expect("a run");
                state.push(outputs);
            }
        }
    }
}
