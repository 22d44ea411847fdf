//! The training of the example `train_mnist` beside the same training in JAX, on 1 to 8
//! devices, which add up in another order. The images come with the feature `fetch-cpu`.
#![cfg(feature = "fetch-cpu")]
#![allow(dead_code)] // of the example's modules

#[path = "../examples/train_mnist/data.rs"]
mod data;
#[path = "../examples/train_mnist/programs.rs"]
mod programs;
#[path = "../examples/train_mnist/snapshot.rs"]
mod snapshot;

use std::sync::OnceLock;

use data::Data;
use programs::{Programs, State, BATCH};
use serde_json::Value;
use xla::{ClientOptions, HostTree, PerDevice, Plugin};

macro_rules! on_devices {
    ($($name:ident $devices:literal $steps:literal)*) => {$(
        #[test]
        fn $name() {
            compare($devices, $steps);
        }
    )*};
}

on_devices! {
    on_one_device 1 100
    on_two_devices 2 100
    on_three_devices_with_padding 3 10
    on_four_devices 4 100
    on_five_devices_with_padding 5 10
    on_six_devices_with_padding 6 10
    on_seven_devices_with_padding 7 10
    on_eight_devices 8 100
}

/// The images, unpacked once.
fn images() -> &'static Data {
    static DATA: OnceLock<Data> = OnceLock::new();
    DATA.get_or_init(|| data::read().expect("the images"))
}

fn programs_for(devices: usize) -> Programs {
    let plugin = Plugin::cpu().expect("a CPU plugin");
    let options = ClientOptions::new().cpu_device_count(devices);
    let client = plugin.client_with(&options).expect("a client");
    Programs::compile(&client, devices).expect("the programs compile")
}

/// Takes steps. The first losses are those of JAX, and at the end every device has the
/// same state, bit by bit.
fn compare(devices: usize, steps: usize) {
    let oracle = include_str!("../examples/programs/oracle/train_mnist.json");
    let oracle: Value = serde_json::from_str(oracle).expect("JSON");
    let numbers = |value: &Value| -> Vec<f64> {
        let list = value.as_array().expect("a list");
        list.iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    let wanted = numbers(&oracle["losses"][devices.to_string()]);
    assert_eq!(wanted.len(), 50);

    let programs = programs_for(devices);
    let data = images();
    let orders = [0, 1].map(|epoch| programs.order(0, epoch).expect("an order"));
    for (epoch, order) in orders.iter().enumerate() {
        let start: Vec<f64> = order[..20]
            .iter()
            .map(|number| f64::from(*number))
            .collect();
        assert_eq!(start, numbers(&oracle["shuffle"][epoch.to_string()]));
    }

    let mut state = programs.init(0).expect("a state");
    let mut metrics = programs.zero_metrics().expect("metrics");
    let batches = orders.iter().flat_map(|order| order.chunks_exact(BATCH));
    let mut farthest = 0.0f64;
    for (step, numbers) in batches.take(steps).enumerate() {
        let images = data.training.choose(numbers);
        let batch = programs.batch(images).expect("a batch");
        let results = programs.step.call((state, metrics, &batch));
        let loss;
        (state, metrics, loss) = results.expect("a step");
        let loss = f64::from(loss.to_scalar::<f32>().expect("a loss"));
        let Some(wanted) = wanted.get(step) else {
            continue;
        };
        let deviation = ((loss - wanted) / wanted).abs();
        assert!(
            deviation <= 1e-5,
            "step {step} on {devices} devices: the loss is {loss}, not {wanted}"
        );
        farthest = farthest.max(deviation);
    }
    println!("{devices} devices: the relative deviation is at most {farthest:.1e}");
    state.assert_replicas_equal().expect("the same state");
    metrics.assert_replicas_equal().expect("the same metrics");
    let score = metrics.unreplicate().expect("metrics").read();
    assert_eq!(score.expect("numbers").seen, (steps * BATCH) as i32);
    let held_out = programs.evaluation_batch(&data.held_out).expect("a batch");
    let score = programs.evaluate(&state, &held_out).expect("a score");
    assert_eq!(
        score.seen,
        data.held_out.len() as i32,
        "padding is left out"
    );
}

/// What one number of devices has written, another reads, and goes on with the same numbers.
#[test]
fn a_snapshot_goes_to_any_number_of_devices() {
    let file = std::env::temp_dir().join(format!("snapshot-{}.safetensors", std::process::id()));
    let data = images();
    let two = programs_for(2);
    let state = two.init(3).expect("a state");
    let written = HostTree::read(&state[1]).expect("values");
    snapshot::write(&file, &written).expect("a file");

    let three = programs_for(3);
    let read: HostTree<'_, State> = snapshot::read(&file).expect("the same");
    std::fs::remove_file(&file).expect("it was written");
    assert_eq!(read, written);
    let restored: PerDevice<State> = three.restore(&read).expect("a state");
    restored.assert_replicas_equal().expect("the same state");
    assert_eq!(HostTree::read(&restored[2]).expect("values"), written);

    let loss = |programs: &Programs, state| {
        let images = data.training.choose(&(0..BATCH as i32).collect::<Vec<_>>());
        let batch = programs.batch(images).expect("a batch");
        let metrics = programs.zero_metrics().expect("metrics");
        let results = programs.step.call((state, metrics, &batch));
        results.expect("a step").2.to_scalar::<f32>().expect("it")
    };
    let (on_two, on_three) = (loss(&two, state), loss(&three, restored));
    assert!(
        ((on_two - on_three) / on_two).abs() <= 1e-6,
        "{on_two} and {on_three}"
    );
}

/// The step that the memory is compared with is the same but for the donation.
#[test]
fn the_undonated_step_donates_nothing() {
    let plugin = Plugin::cpu().expect("a CPU plugin");
    let client = plugin.client_with(&ClientOptions::new().cpu_device_count(7));
    let client = client.expect("a client");
    for devices in [1, 4, 7] {
        let step = Programs::undonated(&client, devices).expect("it compiles");
        assert_eq!(step.signature().donated_bytes(), 0);
        assert_eq!(step.signature().inputs().len(), 24);
    }
}
