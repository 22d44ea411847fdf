//! The same training through the C API.

use std::ptr::null_mut;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use benches::programs::example;
use benches::raw::{Buffer, Client, Event, Executable, Parallel};
use benches::{raw_client, MOST_DEVICES};

use crate::data::{Images, PIXELS};
use crate::programs::BATCH;
use crate::workload::{Outcome, Workload, SEED};

/// Leaves of the weights, of the whole state, and of the metrics.
const PARAMS: usize = 6;
const STATE: usize = 3 * PARAMS + 1;
const METRICS: usize = 3;
/// Images and labels.
const BATCH_LEAVES: usize = 2;
/// How many floats or integers each leaf of the weights has, with its dimensions.
const DIMS: [&[i64]; PARAMS] = [
    &[3, 3, 1, 16],
    &[16],
    &[3, 3, 16, 32],
    &[32],
    &[1568, 10],
    &[10],
];

/// Cuts images for the devices.
#[derive(Clone, Copy)]
struct Uploader {
    client: Client,
    devices: usize,
}

struct Training {
    client: Client,
    devices: usize,
    uploader: Uploader,
    init: Executable,
    shuffle: Executable,
    step: Executable,
    evaluate: Executable,
}

/// A batch on its way from the thread that has uploaded it.
struct Uploaded(Vec<[Buffer; BATCH_LEAVES]>);

// SAFETY: the C API's buffers may be used from any thread.
unsafe impl Send for Uploaded {}

pub fn train(workload: &Workload) -> Outcome {
    let (training, held_out) = (workload.training(), workload.held_out());
    let with = Training::compile(workload.devices);
    let start = Instant::now();
    let held_out = with.uploader.upload(&held_out);
    let mut state = with.first_state();
    let (mut loss, mut correct) = (f32::NAN, 0);
    for epoch in 0..workload.epochs {
        let order = with.order(epoch);
        let order = &order[..order.len().min(workload.steps.saturating_mul(BATCH))];
        loss = with.run_epoch(&training, order, &mut state);
        correct = with.evaluate(&state, &held_out);
    }
    Outcome {
        seconds: start.elapsed().as_secs_f64(),
        loss: f64::from(loss),
        correct: f64::from(correct),
    }
}

impl Uploader {
    /// Each device's share.
    fn upload(&self, images: &Images) -> Vec<[Buffer; BATCH_LEAVES]> {
        let rows = images.len() / self.devices;
        let pixels = images.pixels.chunks_exact(rows * PIXELS);
        let shares = pixels.zip(images.labels.chunks_exact(rows)).enumerate();
        let upload = |(device, (pixels, labels)): (usize, (&[u8], &[i32]))| {
            let rows = rows as i64;
            let pixels = self
                .client
                .from_host(device, pixels, &[rows, PIXELS as i64]);
            [pixels, self.client.from_host(device, labels, &[rows])]
        };
        shares.map(upload).collect()
    }
}

impl Training {
    fn compile(devices: usize) -> Training {
        let client = raw_client(devices);
        let compile =
            |name: &str, devices| client.compile(&example(name), Parallel::Partitions(devices));
        Training {
            client,
            devices,
            uploader: Uploader { client, devices },
            init: compile("init", 1),
            shuffle: compile("shuffle", 1),
            step: compile(&format!("train_step_{devices}"), devices),
            evaluate: compile(&format!("evaluate_{devices}"), devices),
        }
    }

    /// Runs a program with a list of arguments for each device, of which the last are lent.
    /// Gives each device's outputs.
    fn run(
        &self,
        executable: Executable,
        arguments: &[Vec<Buffer>],
        lent: usize,
        outputs: usize,
        events: &mut [Event],
    ) -> Vec<Vec<Buffer>> {
        let count = arguments[0].len();
        let lent: Vec<i64> = (count - lent..count).map(|index| index as i64).collect();
        let mut given = vec![vec![null_mut(); outputs]; arguments.len()];
        let lists: Vec<_> = arguments.iter().map(|list| list.as_ptr()).collect();
        let output_lists: Vec<_> = given.iter_mut().map(|list| list.as_mut_ptr()).collect();
        // SAFETY: all are alive, and as many as the program has.
        unsafe {
            self.client
                .execute(executable, &lists, count, &lent, &output_lists, events);
        }
        given
    }

    fn destroy(&self, buffers: impl IntoIterator<Item = Buffer>) {
        for buffer in buffers {
            // SAFETY: whoever gives a buffer away here doesn't use it again.
            unsafe { self.client.destroy(buffer) };
        }
    }

    /// On every device.
    fn first_state(&self) -> Vec<Vec<Buffer>> {
        let seed = self.client.from_host(0, &[SEED], &[]);
        let [first] = <[_; 1]>::try_from(self.run(self.init, &[vec![seed]], 1, STATE, &mut []))
            .expect("one device");
        self.destroy([seed]);
        let mut state = vec![first];
        for device in 1..self.devices {
            let leaves = state[0].iter().enumerate().map(|(index, leaf)| {
                if index == STATE - 1 {
                    // SAFETY: the step's number.
                    let step: Vec<i32> = unsafe { self.client.to_host(*leaf, 1) };
                    return self.client.from_host(device, &step, &[]);
                }
                let dims = DIMS[index % PARAMS];
                let count: i64 = dims.iter().product();
                // SAFETY: a leaf of the state has these dimensions.
                let values: Vec<f32> = unsafe { self.client.to_host(*leaf, count as usize) };
                self.client.from_host(device, &values, dims)
            });
            let leaves = leaves.collect();
            state.push(leaves);
        }
        state
    }

    fn order(&self, epoch: u32) -> Vec<i32> {
        let numbers = [SEED, epoch].map(|number| self.client.from_host(0, &[number], &[]));
        let given = self.run(self.shuffle, &[numbers.to_vec()], 2, 1, &mut []);
        // SAFETY: a number for each training image.
        let order = unsafe { self.client.to_host(given[0][0], 4500) };
        self.destroy(numbers.into_iter().chain(given.into_iter().flatten()));
        order
    }

    /// The last step's loss.
    fn run_epoch(&self, images: &Images, order: &[i32], state: &mut [Vec<Buffer>]) -> f32 {
        let mut metrics: Vec<[Buffer; METRICS]> = (0..self.devices)
            .map(|device| {
                let number = || self.client.from_host(device, &[0i32], &[]);
                [
                    self.client.from_host(device, &[0f32], &[]),
                    number(),
                    number(),
                ]
            })
            .collect();
        let (sender, receiver) = sync_channel(1);
        let uploader = self.uploader;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for numbers in order.chunks_exact(BATCH) {
                    let batch = Uploaded(uploader.upload(&images.choose(numbers)));
                    if sender.send(batch).is_err() {
                        return;
                    }
                }
            });
            let mut pending: Option<(Event, Box<f32>)> = None;
            let mut done: Vec<Event> = Vec::new();
            for Uploaded(batch) in receiver {
                let loss = self.run_step(state, &mut metrics, &batch, &mut done);
                let mut value = Box::new(f32::NAN);
                // SAFETY: one float, in a box that stays until the event is awaited.
                let event = unsafe { self.client.start_read(loss[0], &mut *value, 1) };
                self.destroy(loss);
                if let Some((event, _)) = pending.replace((event, value)) {
                    // SAFETY: handed out a step ago.
                    unsafe { self.client.wait(event) };
                }
            }
            let (event, value) = pending.expect("a step");
            // SAFETY: handed out by the last step; so are the metrics.
            unsafe {
                self.client.wait(event);
                let _: Vec<f32> = self.client.to_host(metrics[0][0], 1);
                done.drain(..).for_each(|event| self.client.wait(event));
            }
            self.destroy(metrics.into_iter().flatten());
            *value
        })
    }

    /// Each device's loss.
    fn run_step(
        &self,
        state: &mut [Vec<Buffer>],
        metrics: &mut [[Buffer; METRICS]],
        batch: &[[Buffer; BATCH_LEAVES]],
        done: &mut Vec<Event>,
    ) -> Vec<Buffer> {
        // One collective at a time, without which such a loop hangs on CPU.
        for event in done.drain(..) {
            // SAFETY: handed out by the step before.
            unsafe { self.client.wait(event) };
        }
        let mut events = [null_mut(); MOST_DEVICES];
        let events = if self.devices > 1 {
            &mut events[..self.devices]
        } else {
            &mut []
        };
        let arguments = state.iter().zip(&*metrics).zip(batch);
        let arguments: Vec<Vec<Buffer>> = arguments
            .map(|((state, metrics), batch)| [&state[..], metrics, batch].concat())
            .collect();
        let outputs = STATE + METRICS + 1;
        let given = self.run(self.step, &arguments, BATCH_LEAVES, outputs, events);
        done.extend_from_slice(events);
        self.destroy(arguments.into_iter().flatten());
        let mut losses = Vec::new();
        for (device, mut outputs) in given.into_iter().enumerate() {
            losses.extend(outputs.pop());
            metrics[device].copy_from_slice(&outputs.split_off(STATE));
            state[device] = outputs;
        }
        losses
    }

    /// How many of the images are seen right.
    fn evaluate(&self, state: &[Vec<Buffer>], images: &[[Buffer; BATCH_LEAVES]]) -> i32 {
        let arguments = state.iter().zip(images);
        let arguments: Vec<Vec<Buffer>> = arguments
            .map(|(state, images)| [&state[..PARAMS], images].concat())
            .collect();
        let all = PARAMS + BATCH_LEAVES;
        let given = self.run(self.evaluate, &arguments, all, METRICS, &mut []);
        // SAFETY: the number of those that were seen right.
        let correct: Vec<i32> = unsafe { self.client.to_host(given[0][1], 1) };
        self.destroy(given.into_iter().flatten());
        correct[0]
    }
}
