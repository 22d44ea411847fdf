//! Arrays that are kept while a training donates: the initial metrics, the best
//! parameters, what is validated, and what an interruption leaves.
//!
//! This is how donation goes wrong for users elsewhere: a reset installs the very arrays
//! that were kept as the initial state, so that the next step donates them and the one
//! after finds them gone; a copy of the model that shares its buffers; an interruption
//! between the step and the assignment, after which the model holds consumed buffers. Here
//! the first two can't be written, and the third loses nothing that it needn't.
//!
//! The numbers are compared with the same training in plain Rust.

mod cpu;
mod regression;

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};

use cpu::{client, compiled_text, device, values};
use regression::{
    batches, interrupt, near, train_step, Batch, Best, Examples, Metrics, Model, Parameters, Plain,
    Replica, BATCHES, RATES, VALIDATE,
};
use xla::tree::Source;
use xla::{
    ArgumentList, Buffer, CallError, Client, CompileOptions, Device, Executable, Function, Give,
    Program, Ref, Tree,
};

type Step = Function<(Give<Model>, Give<Metrics>, Ref<Batch>, Ref<Buffer>), Replica>;
type Validate = Function<(Ref<Parameters>, Ref<Batch>), Buffer>;

/// One device with both programs.
struct Lab {
    _client: Client,
    device: Device,
    step: Step,
    validate: Validate,
}

impl Lab {
    fn new() -> Lab {
        let client = client(1);
        let step: Step = compiled_text(&client, &train_step(1))
            .typed()
            .expect("fits");
        let validate = compiled_text(&client, VALIDATE).typed().expect("fits");
        Lab {
            device: device(&client, 0),
            step: step.with_names(&["model", "metrics", "batch", "rate"]),
            validate,
            _client: client,
        }
    }

    fn rate(&self, rate: f32) -> Buffer {
        Buffer::scalar(&self.device, rate).expect("room")
    }
}

/// Two epochs; `reset` makes the metrics of each from those that are kept.
fn two_epochs(lab: &Lab, reset: impl Fn(&Metrics) -> Metrics) {
    let host_batches = batches();
    let batches: Vec<Batch> = host_batches.iter().map(|b| b.on(&lab.device)).collect();
    let (host_unseen, unseen) = (Examples::some(100), Examples::some(100).on(&lab.device));

    let mut plain = Plain::default();
    let mut plain_best = plain.clone();
    let mut model = Model::new(&lab.device);
    let initial = Metrics::new(&lab.device);
    let mut best: Option<Best> = None;
    let mut losses = Vec::new();
    for rate in RATES {
        let on_device = lab.rate(rate);
        let mut metrics = reset(&initial);
        plain.reset_metrics();
        for (batch, host) in batches.iter().zip(&host_batches) {
            let arguments = (model, metrics, batch, &on_device);
            let report;
            ((model, metrics), report) = lab.step.call_reported(arguments).expect("runs");
            assert!(report.all_consumed(), "{report}");
            plain.step(&[*host], rate);
            plain.check(&model, &metrics);
        }
        // Validation borrows what the next epoch gives.
        let loss = lab
            .validate
            .call((&model.parameters, &unseen))
            .expect("runs");
        let loss = loss.to_scalar::<f32>().expect("a number");
        near(&[loss], &[plain.validate(&host_unseen)]);
        if !best.as_ref().is_some_and(|best| best.loss <= loss) {
            best = Some(Best::of(loss, &model.parameters));
            plain_best = plain.clone();
        }
        losses.push(loss);
        plain.check(&model, &metrics);
        // What was kept is as it was.
        assert_eq!(values(&initial.loss_sum), [0.]);
        assert_eq!(values(&initial.steps), [0.]);
    }
    assert!(losses[0] < losses[1], "{losses:?}");
    // The best parameters were read from memory that the second epoch took over.
    let best = best.expect("two epochs");
    assert_eq!(best.loss, losses[0]);
    near(&best.w.wait().expect("values"), &plain_best.w);
    near(&best.b.wait().expect("values"), &[plain_best.b]);
}

#[test]
fn two_epochs_with_metrics_that_are_reset_by_a_copy() {
    let lab = Lab::new();
    for _ in 0..10 {
        two_epochs(&lab, |kept| kept.copy_on_device().expect("room"));
    }
}

#[test]
fn two_epochs_with_metrics_that_are_reset_from_the_host() {
    let lab = Lab::new();
    for _ in 0..10 {
        two_epochs(&lab, |_| Metrics::new(&lab.device));
    }
}

#[test]
fn kept_metrics_can_be_lent_instead_of_copied() {
    // To the same program: what is lent is copied by XLA where it would be donated.
    let lab = Lab::new();
    let initial = Metrics::new(&lab.device);
    let batch = Examples::some(0).on(&lab.device);
    let rate = lab.rate(0.25);
    let mut plain = Plain::default();
    let mut model = Model::new(&lab.device);
    for _ in 0..20 {
        let mut list = ArgumentList::new();
        model.give(&mut list);
        initial.lend(&mut list);
        batch.lend(&mut list);
        list.push(&rate);
        let outputs = lab.step.executable().run(list).expect("runs");
        let built = <(Model, Metrics)>::constant_structure().expect("constant");
        let mut outputs = outputs.into_iter();
        let metrics: Metrics;
        (model, metrics) = Source::new(&mut outputs, &built).finish().expect("as many");
        plain.reset_metrics();
        plain.step(&[Examples::some(0)], 0.25);
        plain.check(&model, &metrics);
    }
    assert_eq!(values(&initial.steps), [0.]);
}

// Interruptions.

#[test]
fn a_refused_step_is_made_up_for_with_what_came_back() {
    let lab = Lab::new();
    let rate = lab.rate(0.25);
    let mut plain = Plain::default();
    let (mut model, mut metrics) = (Model::new(&lab.device), Metrics::new(&lab.device));
    for examples in batches() {
        // The last batch of an epoch, which is not full.
        let short = Batch {
            x: Buffer::from_host(&lab.device, &[1f32; 6], &[3, 2]).expect("room"),
            y: Buffer::from_host(&lab.device, &[1f32; 3], &[3]).expect("room"),
        };
        let error = lab.step.call((model, metrics, &short, &rate)).err();
        let error = error.expect("3 examples are not 4");
        let text = error.to_string();
        for words in ["`batch.x` (argument 6)", "wanted f32[4,2]", "got f32[3,2]"] {
            assert!(text.contains(words), "no `{words}` in: {text}");
        }
        (model, metrics, (), ()) = error.into_given().expect("refused");
        plain.check(&model, &metrics);
        let batch = examples.on(&lab.device);
        (model, metrics) = lab
            .step
            .call((model, metrics, &batch, &rate))
            .expect("runs");
        plain.step(&[examples], 0.25);
    }
    plain.check(&model, &metrics);
}

#[test]
fn a_panic_before_the_step_leaves_the_model_and_one_after_it_the_snapshot() {
    let lab = Lab::new();
    let rate = lab.rate(0.25);
    let mut plain = Plain::default();
    let mut state = Some((Model::new(&lab.device), Metrics::new(&lab.device)));
    let interrupted = Cell::new(0);
    for (round, examples) in batches().into_iter().cycle().take(60).enumerate() {
        let batch = examples.on(&lab.device);
        // Each step begins with a snapshot of everything.
        let old = state.as_ref().expect("a state");
        let (before, built) = (plain.clone(), old.structure());
        let leaves = old.leaves("state").into_iter();
        let snapshot = leaves.map(|(_, leaf)| {
            let values = leaf.to_host_async::<f32>().expect("starts");
            (leaf.dims().to_vec(), values)
        });
        let snapshot: Vec<_> = snapshot.collect();
        let step = catch_unwind(AssertUnwindSafe(|| {
            interrupt(round % 5 == 1, &interrupted);
            let (model, metrics) = state.take().expect("a state");
            let next = lab
                .step
                .call((model, metrics, &batch, &rate))
                .expect("runs");
            // Here the old state is gone and the new one nowhere.
            interrupt(round % 5 == 3, &interrupted);
            state = Some(next);
        }));
        match (step, &state) {
            (Ok(()), Some((model, metrics))) => {
                plain.step(&[examples], 0.25);
                plain.check(model, metrics);
            }
            // Nothing was taken: it is all there.
            (Err(_), Some((model, metrics))) => {
                assert_eq!(round % 5, 1);
                before.check(model, metrics);
            }
            // It can't be used by mistake: there is none. The snapshot is whole.
            (_, None) => {
                assert_eq!(round % 5, 3);
                let leaves = snapshot.into_iter().map(|(dims, values)| {
                    let values = values.wait().expect("values");
                    Buffer::from_host(&lab.device, &values, &dims).expect("room")
                });
                let mut leaves = leaves.collect::<Vec<_>>().into_iter();
                let (model, metrics) = Source::new(&mut leaves, &built)
                    .finish::<Replica>()
                    .expect("as many as there were");
                before.check(&model, &metrics);
                state = Some((model, metrics));
            }
        }
    }
    assert_eq!(interrupted.get(), 24);
}

// Two devices.

/// Two devices with the replicated program.
struct Pair {
    client: Client,
    step: Executable,
}

impl Pair {
    fn new() -> Pair {
        let client = client(2);
        let program = Program::from_text(train_step(2)).expect("text");
        let step = client
            .compile(&program, &CompileOptions::new())
            .expect("compiles");
        assert!(step.signature().has_collectives());
        Pair { client, step }
    }

    fn replicas(&self) -> Vec<Replica> {
        let devices = self.step.devices().iter();
        devices
            .map(|device| (Model::new(device), Metrics::new(device)))
            .collect()
    }

    fn batches(&self, seed: usize) -> (Vec<Batch>, [Examples; 2]) {
        let host = [Examples::some(seed), Examples::some(seed + 50)];
        let devices = self.step.devices().iter().zip(&host);
        (
            devices.map(|(device, host)| host.on(device)).collect(),
            host,
        )
    }

    fn rates(&self, rate: f32) -> Vec<Buffer> {
        let devices = self.step.devices().iter();
        devices
            .map(|device| Buffer::scalar(device, rate).expect("room"))
            .collect()
    }

    /// One step on both devices.
    fn step(
        &self,
        replicas: Vec<Replica>,
        batches: &[Batch],
        rates: &[Buffer],
    ) -> Result<Vec<Replica>, CallError> {
        let each = replicas.into_iter().zip(batches).zip(rates);
        let lists = each.map(|((replica, batch), rate)| {
            let mut list = ArgumentList::new();
            replica.give(&mut list);
            batch.lend(&mut list);
            list.push(rate);
            list
        });
        let outputs = self.step.run_per_device(lists)?;
        Ok(outputs
            .into_iter()
            .map(|each| built(each.into_vec()))
            .collect())
    }
}

/// A replica of its leaves.
fn built(leaves: Vec<Buffer>) -> Replica {
    let structure = Replica::constant_structure().expect("constant");
    let mut leaves = leaves.into_iter();
    Source::new(&mut leaves, &structure)
        .finish()
        .expect("as many leaves as a replica has")
}

#[test]
fn two_epochs_on_two_devices() {
    let pair = Pair::new();
    let devices = pair.client.devices();
    let validate: Vec<Executable> = devices
        .iter()
        .map(|device| {
            let program = Program::from_text(VALIDATE).expect("text");
            let options = CompileOptions::new().device(device);
            pair.client.compile(&program, &options).expect("compiles")
        })
        .collect();
    let host_unseen = Examples::some(100);

    let mut plain = Plain::default();
    let mut plain_best = plain.clone();
    let mut best: Option<Best> = None;
    let mut losses = Vec::new();
    let initial: Vec<Metrics> = devices.iter().map(Metrics::new).collect();
    let mut replicas = pair.replicas();
    for rate in RATES {
        let rates = pair.rates(rate);
        for (replica, initial) in replicas.iter_mut().zip(&initial) {
            replica.1 = initial.copy_on_device().expect("room");
        }
        plain.reset_metrics();
        for seed in 0..BATCHES {
            let (batches, host) = pair.batches(seed);
            replicas = pair.step(replicas, &batches, &rates).expect("runs");
            plain.step(&host, rate);
            for (model, metrics) in &replicas {
                plain.check(model, metrics);
            }
        }
        // Each device validates the same parameters, which stay its own.
        for ((model, metrics), validate) in replicas.iter().zip(&validate) {
            let unseen = host_unseen.on(&validate.devices()[0]);
            let Parameters { w, b } = &model.parameters;
            let loss = validate.run((w, b, &unseen.x, &unseen.y)).expect("runs");
            let loss = loss[0].to_scalar::<f32>().expect("a number");
            near(&[loss], &[plain.validate(&host_unseen)]);
            if !best.as_ref().is_some_and(|best| best.loss <= loss) {
                best = Some(Best::of(loss, &model.parameters));
                plain_best = plain.clone();
            }
            losses.push(loss);
            plain.check(model, metrics);
        }
        assert!(initial.iter().all(|kept| values(&kept.steps) == [0.]));
    }
    assert_eq!(losses[0], losses[1], "replicas are equal");
    assert!(losses[1] < losses[2], "{losses:?}");
    let best = best.expect("two epochs");
    near(&best.w.wait().expect("values"), &plain_best.w);
    near(&best.b.wait().expect("values"), &[plain_best.b]);
}

#[test]
fn a_refused_step_on_two_devices_gives_back_both_models() {
    let pair = Pair::new();
    let rates = pair.rates(0.25);
    let mut plain = Plain::default();
    let mut replicas = pair.replicas();
    for seed in 0..20 {
        // One device has a batch of another shape: nothing is launched on the other.
        let (mut batches, host) = pair.batches(seed);
        let devices = pair.step.devices();
        let spoilt = seed % 2;
        let good = std::mem::replace(
            &mut batches[spoilt].y,
            Buffer::from_host(&devices[spoilt], &[1f32; 3], &[3]).expect("room"),
        );
        let error = pair.step(replicas, &batches, &rates).err();
        let error = error.expect("3 examples are not 4");
        let text = error.to_string();
        for words in ["argument 7", &format!("on device {spoilt}"), "got f32[3]"] {
            assert!(text.contains(words), "no `{words}` in: {text}");
        }
        assert!(error.lost().is_empty(), "{text}");
        let mut leaves = [Vec::new(), Vec::new()];
        for back in error.into_given() {
            leaves[back.device].push(back.buffer);
        }
        replicas = leaves.map(built).into();
        for (model, metrics) in &replicas {
            plain.check(model, metrics);
        }
        batches[spoilt].y = good;
        replicas = pair.step(replicas, &batches, &rates).expect("runs");
        plain.step(&host, 0.25);
    }
    for (model, metrics) in &replicas {
        plain.check(model, metrics);
    }
}

#[test]
fn a_panic_between_two_steps_on_two_devices() {
    let pair = Pair::new();
    let rates = pair.rates(0.25);
    for round in 0..20 {
        let mut plain = Plain::default();
        let mut replicas = pair.replicas();
        let (batches, host) = pair.batches(round);
        for _ in 0..3 {
            replicas = pair.step(replicas, &batches, &rates).expect("runs");
            plain.step(&host, 0.25);
        }
        // One replica is enough to go on from: they are equal.
        let (model, metrics) = &replicas[0];
        let Parameters { w, b } = &model.parameters;
        let snapshot = [w, b].map(|leaf| leaf.to_host_async::<f32>().expect("starts"));
        plain.check(model, metrics);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let next = pair.step(replicas, &batches, &rates).expect("runs");
            interrupt(true, &Cell::new(0));
            drop(next);
        }));
        assert!(panic.is_err());
        let [w, b] = snapshot.map(|read| read.wait().expect("values"));
        near(&w, &plain.w);
        near(&b, &[plain.b]);
    }
}
