//! Calls on many devices that are refused: for each device in turn and in both worlds, nothing is
//! launched anywhere, everything that was given comes back from all devices as it was, and the next
//! call is right.
//!
//! Underneath, one bad argument on one device costs the others their donated inputs, and where
//! devices speak to each other the process is ended a minute later, when those that were launched
//! have waited in vain. So all of it is done in a process of its own, which must live on.

mod cpu;
mod worlds;

use std::cell::Cell;
use std::time::Duration;

use cpu::{client, device, in_child_within, FAILS_LATER};
use worlds::{rate, step, Batch, Plain, Rows, State, World, WORLDS};
use xla::{
    Buffer, Client, CompileOptions, Each, Executable, FunctionError, Give, HostArray, HostTree,
    One, ParallelFunction, PerDevice, Program, Ref, Same, Split,
};

type Placed = ParallelFunction<(Give<State>, Ref<Batch>, Ref<Buffer>), (Each<State>, One<Buffer>)>;
type Hosted =
    ParallelFunction<(Give<State>, Split<Batch>, Same<Buffer>), (Each<State>, One<Buffer>)>;
type List = Vec<Buffer>;
type Listed = ParallelFunction<(Give<List>, Ref<List>, Ref<Buffer>), (Each<State>, One<Buffer>)>;

const PATHS: [&str; 5] = ["state.w", "state.steps", "batch.x", "batch.y", "rate"];
const NAMES: &[&str] = &["state", "batch", "rate"];
const RATE: f32 = 0.5;

/// What is wrong with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// Another element type of the same width.
    Type,
    /// Other dimensions, and as many bytes.
    Dims,
    /// On the next device.
    Elsewhere,
    /// Of another client.
    Client,
    /// The run that was to fill it fails.
    Failed,
}

const WRONGS: [Wrong; 5] = [
    Wrong::Type,
    Wrong::Dims,
    Wrong::Elsewhere,
    Wrong::Client,
    Wrong::Failed,
];

struct Lab {
    client: Client,
    other: Client,
    devices: usize,
    rows: Rows,
    placed: Placed,
    hosted: Hosted,
    listed: Listed,
    /// A program for each device whose run fails.
    failing: Vec<Executable>,
    refused: Cell<usize>,
}

impl Lab {
    fn new(world: World, devices: usize) -> Lab {
        let client = client(devices);
        let fails = FAILS_LATER
            .replace("tensor<4xf32>", "tensor<2xf32>")
            .replace("[0:4]", "[0:2]");
        let fails = Program::from_text(fails).expect("text");
        let failing = client.devices().into_iter().map(|device| {
            let options = CompileOptions::new().device(&device);
            client.compile(&fails, &options).expect("compiles")
        });
        let placed: Placed = step(&client, world, devices).parallel().expect("it fits");
        let hosted: Hosted = step(&client, world, devices).parallel().expect("it fits");
        let listed: Listed = step(&client, world, devices).parallel().expect("it fits");
        assert!(placed.signature().has_collectives());
        Lab {
            other: cpu::client(devices),
            devices,
            rows: Rows::some(devices, 7),
            placed: placed.with_names(NAMES),
            hosted: hosted.with_names(NAMES),
            listed: listed.with_names(NAMES),
            failing: failing.collect(),
            client,
            refused: Cell::new(0),
        }
    }

    /// The values of a leaf on a device, as they belong there.
    fn values(&self, plain: &Plain, leaf: usize, position: usize) -> (Vec<f32>, Vec<usize>) {
        match leaf {
            0 => (plain.w.to_vec(), vec![2]),
            1 => (vec![plain.steps as f32], vec![]),
            2 => (self.rows.x[4 * position..][..4].to_vec(), vec![2, 2]),
            3 => (self.rows.y[2 * position..][..2].to_vec(), vec![2]),
            _ => (vec![RATE], vec![]),
        }
    }

    fn leaf(&self, plain: &Plain, leaf: usize, position: usize, wrong: Option<Wrong>) -> Buffer {
        let (values, mut dims) = self.values(plain, leaf, position);
        let mut on = device(&self.client, position);
        let mut integer = leaf == 1;
        match wrong {
            None => {}
            Some(Wrong::Type) => integer = !integer,
            Some(Wrong::Dims) if leaf == 2 => dims = vec![4, 1],
            Some(Wrong::Dims) => dims.push(1),
            Some(Wrong::Elsewhere) => on = device(&self.client, (position + 1) % self.devices),
            Some(Wrong::Client) => on = device(&self.other, position),
            Some(Wrong::Failed) => {
                let w = Buffer::from_host(&on, &values, &dims).expect("room");
                let x = Buffer::scalar(&on, 1f32).expect("room");
                let outputs = self.failing[position].run((w, &x));
                return outputs.expect("it fails later").into_single().expect("one");
            }
        }
        if integer {
            let values: Vec<i32> = values.into_iter().map(|x| x as i32).collect();
            return Buffer::from_host(&on, &values, &dims).expect("room");
        }
        Buffer::from_host(&on, &values, &dims).expect("room")
    }

    /// Everything, with one leaf spoilt on one device.
    fn arguments(
        &self,
        plain: &Plain,
        spoilt: Option<(usize, usize, Wrong)>,
    ) -> (PerDevice<State>, PerDevice<Batch>, PerDevice<Buffer>) {
        let each = |position: usize| {
            let leaf = |leaf: usize| {
                let wrong = spoilt.filter(|(l, p, _)| (*l, *p) == (leaf, position));
                self.leaf(plain, leaf, position, wrong.map(|(_, _, wrong)| wrong))
            };
            let state = State {
                w: leaf(0),
                steps: leaf(1),
            };
            let batch = Batch {
                x: leaf(2),
                y: leaf(3),
            };
            ((state, batch), leaf(4))
        };
        let (both, rate) = PerDevice::from_parts((0..self.devices).map(each)).unzip();
        let (state, batch) = both.unzip();
        (state, batch, rate)
    }

    /// Checks that a call was refused before the launch, by a message with these words; gives
    /// what was given.
    fn refused<R, G>(&self, what: &str, result: Result<R, FunctionError<G>>, words: &[&str]) -> G {
        let error = result
            .err()
            .unwrap_or_else(|| panic!("{what} is let through"));
        let text = error.to_string();
        assert_eq!(
            error.error().function(),
            None,
            "{what}: the plugin was asked: {text}"
        );
        for word in words {
            assert!(text.contains(word), "{what}: no `{word}` in: {text}");
        }
        assert!(
            error.is_refusal() && !error.may_be_out_of_step(),
            "{what}: {text}"
        );
        assert!(!text.contains("some devices"), "{what}: {text}");
        assert!(
            error.lost().is_empty() && error.survivors().is_empty(),
            "{what}"
        );
        self.refused.set(self.refused.get() + 1);
        error
            .into_given()
            .unwrap_or_else(|| panic!("{what}: nothing came back"))
    }

    /// The next call with good arguments.
    fn check_good(&self, plain: &Plain, state: PerDevice<State>) {
        let (_, batch, rate) = self.arguments(plain, None);
        let (next, mean) = self.placed.call((state, &batch, &rate)).expect("runs");
        let mut plain = plain.clone();
        let wanted = plain.step(&self.rows, RATE);
        assert_eq!(mean.to_scalar::<f32>().expect("a number"), wanted);
        plain.check_all(&next);
    }

    /// A wrong leaf on a device: the others come back as they were.
    fn wrong_leaf(&self, leaf: usize, position: usize, wrong: Wrong) {
        let what = format!("{wrong:?} {} on device {position}", PATHS[leaf]);
        eprintln!("{what}");
        let plain = Plain::new();
        let (state, batch, rate) = self.arguments(&plain, Some((leaf, position, wrong)));
        let words = [
            &format!(
                "`{}` (argument {leaf}) of `step` on device {position}",
                PATHS[leaf]
            )[..],
            match wrong {
                Wrong::Type | Wrong::Dims => "got ",
                Wrong::Elsewhere => "wanted it on",
                Wrong::Client => "belongs to another client",
                Wrong::Failed => "Out of memory",
            },
        ];
        let arguments = (state, &batch, &rate);
        let (state, (), ()) = match position % 2 {
            0 => self.refused(&what, self.placed.call(arguments), &words),
            _ => self.refused(&what, self.placed.call_reported(arguments), &words),
        };
        assert_eq!(state.len(), self.devices, "{what}");
        let mut parts = state.into_inner();
        for (device, part) in parts.iter_mut().enumerate() {
            if device == position && leaf < 2 {
                // It is what was passed; then it's put right.
                let spoilt = match leaf {
                    0 => &mut part.w,
                    _ => &mut part.steps,
                };
                assert_eq!(spoilt.to_bytes().is_err(), wrong == Wrong::Failed, "{what}");
                *spoilt = self.leaf(&plain, leaf, position, None);
            }
            plain.check(part);
        }
        // What was lent is as it was.
        for (device, part) in batch.iter().enumerate() {
            if (leaf, device) != (3, position) {
                let (y, _) = self.values(&plain, 3, device);
                assert_eq!(part.y.to_host::<f32>().expect("values"), y, "{what}");
            }
        }
        self.check_good(&plain, PerDevice::from_parts(parts));
    }

    /// Values on another number of devices, for each argument.
    fn wrong_devices(&self) {
        let plain = Plain::new();
        let count = self.devices;
        let wanted = format!(
            "wanted values on {count} devices, got values on {}",
            count - 1
        );
        for missing in 0..count {
            for (argument, name) in NAMES.iter().enumerate() {
                eprintln!("`{name}` without device {missing}");
                let (state, batch, rate) = self.arguments(&plain, None);
                let (mut state, mut batch, mut rate) =
                    (state.into_inner(), batch.into_inner(), rate.into_inner());
                match argument {
                    0 => drop(state.remove(missing)),
                    1 => drop(batch.remove(missing)),
                    _ => drop(rate.remove(missing)),
                }
                let (batch, rate) = (PerDevice::from_parts(batch), PerDevice::from_parts(rate));
                let call = self
                    .placed
                    .call((PerDevice::from_parts(state), &batch, &rate));
                let words = [&format!("`{name}` of `step`"), &wanted[..]];
                let (state, (), ()) = self.refused("a device is missing", call, &words);
                let left = if argument == 0 { count - 1 } else { count };
                assert_eq!(state.len(), left);
                state.iter().for_each(|state| plain.check(state));
            }
        }
        // One too many, and none.
        let (state, batch, rate) = self.arguments(&plain, None);
        let (more, _, _) = self.arguments(&plain, None);
        let mut parts = state.into_inner();
        parts.extend(more.into_inner().into_iter().take(1));
        let call = self
            .placed
            .call((PerDevice::from_parts(parts), &batch, &rate));
        let got = format!("got values on {}", count + 1);
        let (state, (), ()) = self.refused("a device too many", call, &["`state`", &got]);
        let mut parts = state.into_inner();
        drop(parts.pop());
        let none = PerDevice::from_parts([]);
        let call = self
            .placed
            .call((PerDevice::from_parts(parts), &none, &rate));
        let words = ["`batch`", "got values on 0"];
        let (state, (), ()) = self.refused("no device", call, &words);
        self.check_good(&plain, state);
    }

    /// Lists that lack a leaf on one device, or have one too many.
    fn wrong_counts(&self) {
        let plain = Plain::new();
        for position in 0..self.devices {
            for (argument, more) in [(0, false), (0, true), (1, false), (1, true)] {
                eprintln!("a leaf of argument {argument} on {position}, too many: {more}");
                let (state, batch, rate) = self.arguments(&plain, None);
                let mut state = state.map(|state| vec![state.w, state.steps]).into_inner();
                let mut batch = batch.map(|batch| vec![batch.x, batch.y]).into_inner();
                let list = match argument {
                    0 => &mut state[position],
                    _ => &mut batch[position],
                };
                match more {
                    true => list.push(self.leaf(&plain, 4, position, None)),
                    false => drop(list.pop()),
                }
                let (state, batch) = (PerDevice::from_parts(state), PerDevice::from_parts(batch));
                let call = self.listed.call((state, &batch, &rate));
                let words = [
                    "takes 5 arguments",
                    &format!("{} leaves on device {position}", if more { 6 } else { 4 }),
                    &format!("{}: {}", NAMES[argument], if more { 3 } else { 1 }),
                ];
                let (state, (), ()) = self.refused("another count", call, &words);
                for part in &state {
                    assert_eq!(part[0].to_host::<f32>().expect("values"), plain.w);
                }
            }
        }
        let (state, batch, rate) = self.arguments(&plain, None);
        let state = state.map(|state| vec![state.w, state.steps]);
        let batch = batch.map(|batch| vec![batch.x, batch.y]);
        let (next, _) = self.listed.call((state, &batch, &rate)).expect("runs");
        let mut plain = plain;
        plain.step(&self.rows, RATE);
        plain.check_all(&next);
    }

    /// Host arrays that are no share of the program's.
    fn wrong_host_arrays(&self) {
        let mut plain = Plain::new();
        let mut state = self.arguments(&plain, None).0;
        let wide = Rows::some(self.devices + 1, 0);
        let all = 2 * self.devices;
        let x = || HostArray::borrowed(&self.rows.x, &[all, 2]).expect("rows of two");
        let integers = vec![1i32; all];
        let flat = HostArray::borrowed(&self.rows.y, &[all, 1]).expect("as many");
        let integers = HostArray::borrowed(&integers, &[all]).expect("as many");
        let batches = [
            (wide.host(), "`x`", "got f32["),
            (HostTree::new([x(), flat]).expect("two"), "`y`", "got f32["),
            (
                HostTree::new([x(), integers]).expect("two"),
                "`y`",
                "got s32[",
            ),
        ];
        for (batch, leaf, got) in &batches {
            let call = self.hosted.call((state, batch, &rate(RATE)));
            let words = ["`batch` of `step`", leaf, "wanted f32[", got];
            (state, (), ()) = self.refused("a host batch", call, &words);
            state.iter().for_each(|state| plain.check(state));
        }
        let vector = HostArray::new(&[RATE], &[1]).expect("one").into();
        let call = self.hosted.call((state, &self.rows.host(), &vector));
        let words = ["`rate` of `step`", "wanted f32[]", "got f32[1]"];
        (state, (), ()) = self.refused("a host rate", call, &words);
        state.iter().for_each(|state| plain.check(state));
        // A good batch, and a state that doesn't fit.
        for position in 0..self.devices {
            let (wrong, _, _) = self.arguments(&plain, Some((0, position, Wrong::Type)));
            let call = self.hosted.call((wrong, &self.rows.host(), &rate(RATE)));
            let words = [&format!("`state.w` (argument 0) of `step` on device {position}")[..]];
            let (wrong, (), ()) = self.refused("a state", call, &words);
            for (device, part) in wrong.iter().enumerate().filter(|(p, _)| *p != position) {
                assert_eq!(
                    part.w.to_host::<f32>().expect("values"),
                    plain.w,
                    "{device}"
                );
            }
        }
        let call = self.hosted.call((state, &self.rows.host(), &rate(RATE)));
        plain.step(&self.rows, RATE);
        plain.check_all(&call.expect("runs").0);
    }

    fn all(&self) {
        for position in 0..self.devices {
            for leaf in 0..PATHS.len() {
                for wrong in WRONGS {
                    // The runs that fail give f32[2].
                    if wrong != Wrong::Failed || [0, 3].contains(&leaf) {
                        self.wrong_leaf(leaf, position, wrong);
                    }
                }
            }
        }
        self.wrong_devices();
        self.wrong_counts();
        self.wrong_host_arrays();
    }
}

/// Longer than devices wait for each other before the process is ended.
const LONGEST_WAIT: Duration = Duration::from_secs(70);

#[test]
fn a_refused_launch_leaves_no_device_waiting() {
    let limit = LONGEST_WAIT + Duration::from_secs(230);
    let ended = in_child_within(limit, "a_refused_launch_leaves_no_device_waiting", || {
        let labs = WORLDS.map(|world| [2, 4].map(|devices| (world, Lab::new(world, devices))));
        for (world, lab) in labs.iter().flatten() {
            eprintln!("{world:?} on {}", lab.devices);
            lab.all();
            // Each kind on each leaf and device, each argument without each device, and so on.
            let per_device = 4 * 5 + 2 + 3 + 4 + 1;
            assert_eq!(lab.refused.get(), lab.devices * per_device + 2 + 4);
        }
        std::thread::sleep(LONGEST_WAIT);
        for (_, lab) in labs.iter().flatten() {
            let plain = Plain::new();
            let (state, _, _) = lab.arguments(&plain, None);
            lab.check_good(&plain, state);
        }
    });
    ended.check_well();
}
