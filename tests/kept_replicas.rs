//! Arrays that are kept while a training on two devices donates, with typed programs: the
//! initial metrics, the best parameters, checkpoints, copies, and what an interruption leaves.
//!
//! This is how donation on replicas goes wrong elsewhere: all replicas are made of one set of
//! arrays, which are kept as the initial metrics too and are gone after the first step; the best
//! parameters are references to what the next step donates; a checkpoint is read after that; a
//! step fails on one replica when the other's state is consumed already.

mod cpu;
mod regression;

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};

use cpu::{client, compiled_text, values};
use regression::{
    batches, interrupt, near, train_step, Batch, Best, Examples, Metrics, Model, Parameters, Plain,
    BATCHES, RATES, VALIDATE,
};
use xla::{
    Buffer, Client, CompileOptions, Device, Each, Give, HostArray, HostTree, ParallelFunction,
    Part, PerDevice, Program, Ref, Same, Split, Tree,
};

const DEVICES: usize = 2;

type Step = ParallelFunction<
    (Give<Model>, Give<Metrics>, Split<Batch>, Ref<Buffer>),
    (Each<Model>, Each<Metrics>),
>;
type Validate = ParallelFunction<(Part<Parameters>, Same<Batch>), Each<Buffer>>;
/// What a step goes on from, on each device.
type State = (PerDevice<Model>, PerDevice<Metrics>);

struct Lab {
    _client: Client,
    devices: Vec<Device>,
    step: Step,
    validate: Validate,
}

impl Lab {
    fn new() -> Lab {
        let client = client(DEVICES);
        let step: Step = compiled_text(&client, &train_step(DEVICES))
            .parallel()
            .expect("fits");
        let validate = Program::from_text(VALIDATE).expect("text");
        let options = CompileOptions::new().replicas(DEVICES);
        let validate = client.compile(&validate, &options).expect("compiles");
        Lab {
            devices: step.executable().devices().to_vec(),
            step: step.with_names(&["model", "metrics", "batch", "rate"]),
            validate: validate.parallel().expect("fits"),
            _client: client,
        }
    }

    fn rate(&self, rate: f32) -> PerDevice<Buffer> {
        let rate = HostArray::scalar(rate).expect("one").into();
        PerDevice::replicate(&self.devices, &rate).expect("room")
    }

    fn models(&self) -> PerDevice<Model> {
        PerDevice::from_fn(&self.devices, |_, device| Ok(Model::new(device))).expect("room")
    }

    fn metrics(&self) -> PerDevice<Metrics> {
        PerDevice::from_fn(&self.devices, |_, device| Ok(Metrics::new(device))).expect("room")
    }
}

fn host(examples: &[Examples]) -> HostTree<'static, Batch> {
    let x: Vec<f32> = examples
        .iter()
        .flat_map(|e| e.x.into_iter().flatten())
        .collect();
    let y: Vec<f32> = examples.iter().flat_map(|e| e.y).collect();
    HostTree::new([
        HostArray::new(&x, &[y.len(), 2]).expect("rows of two"),
        HostArray::new(&y, &[y.len()]).expect("rows"),
    ])
    .expect("two")
}

/// The examples of both devices.
fn both(seed: usize) -> [Examples; DEVICES] {
    [Examples::some(seed), Examples::some(seed + 50)]
}

#[track_caller]
fn check(plain: &Plain, (models, metrics): &State) {
    for (model, metrics) in models.iter().zip(metrics) {
        plain.check(model, metrics);
    }
    models.assert_replicas_equal().expect("the same on both");
    metrics.assert_replicas_equal().expect("the same on both");
}

/// Two epochs; `reset` makes the metrics of each from those that are kept.
fn two_epochs(lab: &Lab, reset: impl Fn(&PerDevice<Metrics>) -> PerDevice<Metrics>) {
    let host_unseen = Examples::some(100);
    let unseen = host(&[host_unseen]);
    let mut plain = Plain::default();
    let mut plain_best = plain.clone();
    let mut models = lab.models();
    let initial = lab.metrics();
    let mut best: Option<Best> = None;
    let mut losses = Vec::new();
    let mut checkpoints = Vec::new();
    for rate in RATES {
        let rates = lab.rate(rate);
        let mut metrics = reset(&initial);
        plain.reset_metrics();
        for seed in 0..BATCHES {
            let examples = both(seed);
            let arguments = (models, metrics, &host(&examples), &rates);
            let report;
            ((models, metrics), report) = lab.step.call_reported(arguments).expect("runs");
            // All of the state on both devices; of the batch nothing.
            for leaf in report.leaves() {
                assert_eq!(leaf.consumed, !leaf.name.starts_with("batch"), "{report:?}");
            }
            assert_eq!(report.leaves().len(), DEVICES * (4 + 2 + 2));
            plain.step(&examples, rate);
        }
        let state = (models, metrics);
        check(&plain, &state);
        // What was kept is as it was, on both.
        for kept in &initial {
            assert_eq!(
                (values(&kept.loss_sum), values(&kept.steps)),
                (vec![0.], vec![0.])
            );
        }
        // Validation borrows what the next epoch gives.
        let parameters = state.0.part(|model| &model.parameters);
        let loss = lab.validate.call((parameters, &unseen)).expect("runs");
        loss.assert_replicas_equal().expect("the same parameters");
        let loss = loss.unreplicate().expect("two");
        let loss = loss.to_scalar::<f32>().expect("a number");
        near(&[loss], &[plain.validate(&host_unseen)]);
        if !best.as_ref().is_some_and(|best| best.loss <= loss) {
            best = Some(Best::of(loss, &state.0[1].parameters));
            plain_best = plain.clone();
        }
        losses.push(loss);
        checkpoints.push((HostTree::read(&state.0[0]).expect("values"), plain.clone()));
        models = state.0;
    }
    assert!(losses[0] < losses[1], "{losses:?}");
    // Read from memory that the second epoch took over.
    let best = best.expect("two epochs");
    assert_eq!(best.loss, losses[0]);
    near(&best.w.wait().expect("values"), &plain_best.w);
    near(&best.b.wait().expect("values"), &[plain_best.b]);
    // Each checkpoint is of its epoch, and restores both devices.
    for (saved, mut plain) in checkpoints {
        let models = PerDevice::replicate(&lab.devices, &saved).expect("room");
        plain.reset_metrics();
        check(&plain, &(models, lab.metrics()));
    }
}

#[test]
fn two_epochs_with_metrics_that_are_reset_by_a_copy() {
    let lab = Lab::new();
    for _ in 0..5 {
        two_epochs(&lab, |kept| kept.copy_on_device().expect("room"));
    }
}

#[test]
fn two_epochs_with_metrics_that_are_reset_from_one_device_or_the_host() {
    let lab = Lab::new();
    two_epochs(&lab, |kept| {
        PerDevice::replicate_tree(&lab.devices, &kept[1]).expect("room")
    });
    two_epochs(&lab, |kept| {
        let saved = HostTree::read(&kept[0]).expect("values");
        PerDevice::replicate(&lab.devices, &saved).expect("room")
    });
}

#[test]
fn a_copy_of_the_model_trains_on_its_own() {
    let lab = Lab::new();
    let rates = lab.rate(0.25);
    let mut plain = Plain::default();
    let mut state = (lab.models(), lab.metrics());
    for seed in 0..3 {
        let examples = both(seed);
        state = lab
            .step
            .call((state.0, state.1, &host(&examples), &rates))
            .expect("runs");
        plain.step(&examples, 0.25);
    }
    let (models, metrics) = &state;
    let mut copy = (
        models.copy_on_device().expect("room"),
        metrics.copy_on_device().expect("room"),
    );
    let mut plain_copy = plain.clone();
    // The copy goes on alone, then the first does.
    for seed in 10..13 {
        let examples = both(seed);
        copy = lab
            .step
            .call((copy.0, copy.1, &host(&examples), &rates))
            .expect("runs");
        plain_copy.step(&examples, 0.25);
        check(&plain, &state);
    }
    let examples = both(20);
    state = lab
        .step
        .call((state.0, state.1, &host(&examples), &rates))
        .expect("runs");
    plain.step(&examples, 0.25);
    check(&plain, &state);
    check(&plain_copy, &copy);
}

#[test]
fn a_refused_step_is_made_up_for_with_what_came_back() {
    let lab = Lab::new();
    let mut plain = Plain::default();
    let (mut models, mut metrics) = (lab.models(), lab.metrics());
    let rates = lab.rate(0.25);
    for seed in 0..10 {
        // The last batch of an epoch, which is not full.
        let short = Examples::some(seed);
        let call = lab.step.call((models, metrics, &host(&[short]), &rates));
        let error = call.err().expect("4 examples are not 8");
        for words in [
            "`batch` of `train_step`",
            "`x`",
            "wanted f32[8,2]",
            "got f32[4,2]",
        ] {
            assert!(
                error.to_string().contains(words),
                "no `{words}` in: {error}"
            );
        }
        (models, metrics, (), ()) = error.into_given().expect("refused");
        // And a rate that one device lacks.
        let mut lacking = lab.rate(0.25).into_inner();
        lacking.remove(seed % 2);
        let lacking = PerDevice::from_parts(lacking);
        let examples = both(seed);
        let call = lab.step.call((models, metrics, &host(&examples), &lacking));
        let error = call.err().expect("one of two");
        assert!(
            error.to_string().contains("`rate` of `train_step`"),
            "{error}"
        );
        (models, metrics, (), ()) = error.into_given().expect("refused");
        let state = (models, metrics);
        check(&plain, &state);
        let call = lab.step.call((state.0, state.1, &host(&examples), &rates));
        (models, metrics) = call.expect("runs");
        plain.step(&examples, 0.25);
    }
    check(&plain, &(models, metrics));
}

#[test]
fn a_panic_before_the_step_leaves_the_state_and_one_after_it_the_checkpoint() {
    let lab = Lab::new();
    let rates = lab.rate(0.25);
    let mut plain = Plain::default();
    let mut state = Some((lab.models(), lab.metrics()));
    let interrupted = Cell::new(0);
    for (round, _) in batches().into_iter().cycle().take(30).enumerate() {
        let examples = both(round);
        let batch = host(&examples);
        let (models, metrics) = state.as_ref().expect("a state");
        // One device is enough: they are equal.
        let checkpoint = (
            HostTree::read(&models[0]).expect("values"),
            HostTree::read(&metrics[1]).expect("values"),
        );
        let step = catch_unwind(AssertUnwindSafe(|| {
            interrupt(round % 5 == 1, &interrupted);
            let (models, metrics) = state.take().expect("a state");
            let next = lab
                .step
                .call((models, metrics, &batch, &rates))
                .expect("runs");
            // Here the old state is gone and the new one nowhere.
            interrupt(round % 5 == 3, &interrupted);
            state = Some(next);
        }));
        match (step, &state) {
            (Ok(()), Some(_)) => plain.step(&examples, 0.25),
            (Err(_), Some(state)) => {
                assert_eq!(round % 5, 1);
                check(&plain, state);
            }
            // It can't be used by mistake: there is none.
            (_, None) => {
                assert_eq!(round % 5, 3);
                let models = PerDevice::replicate(&lab.devices, &checkpoint.0).expect("room");
                let metrics = PerDevice::replicate(&lab.devices, &checkpoint.1).expect("room");
                state = Some((models, metrics));
            }
        }
        check(&plain, state.as_ref().expect("a state"));
    }
    assert_eq!(interrupted.get(), 12);
}

#[test]
fn a_checkpoint_is_named_leaf_by_leaf() {
    let lab = Lab::new();
    let saved = HostTree::read(&lab.models()[1]).expect("values");
    let names: Vec<_> = saved
        .named_leaves("model")
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        [
            "model.parameters.w",
            "model.parameters.b",
            "model.momentum.w",
            "model.momentum.b"
        ]
    );
    assert_eq!(saved.structure().leaf_count(), Model::LEAVES.expect("four"));
    assert_eq!(saved.byte_size(), 24);
}
