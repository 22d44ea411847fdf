//! The training of the example `train_mnist` beside the same training in JAX.
//!
//! On one device and on four, which add up in another order. The images come with the
//! feature `fetch-cpu`.
#![cfg(feature = "fetch-cpu")]
#![allow(dead_code)] // of the example's modules

#[path = "../examples/train_mnist/data.rs"]
mod data;
#[path = "../examples/train_mnist/programs.rs"]
mod programs;
#[path = "../examples/train_mnist/snapshot.rs"]
mod snapshot;

use programs::Programs;
use serde_json::Value;
use xla::{ClientOptions, Plugin};

#[test]
fn losses_on_one_device_are_those_of_jax() {
    compare(1);
}

#[test]
fn losses_on_four_devices_are_those_of_jax() {
    compare(4);
}

/// Takes the first steps and compares each loss.
fn compare(devices: usize) {
    let oracle = include_str!("../examples/programs/oracle/train_mnist.json");
    let oracle: Value = serde_json::from_str(oracle).expect("JSON");
    let numbers = |value: &Value| -> Vec<f64> {
        let list = value.as_array().expect("a list");
        list.iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    let wanted = numbers(&oracle["losses"][devices.to_string()]);
    assert_eq!(wanted.len(), 50);

    let plugin = Plugin::cpu().expect("a CPU plugin");
    let options = ClientOptions::new().cpu_device_count(devices);
    let client = plugin.client_with(&options).expect("a client");
    let programs = Programs::compile(&client, devices).expect("the programs compile");
    let data = data::read().expect("the images");
    let order = programs.order(0, 0).expect("an order");
    let start: Vec<f64> = order[..20]
        .iter()
        .map(|number| f64::from(*number))
        .collect();
    assert_eq!(start, numbers(&oracle["shuffle"]["0"]));

    let mut state = programs.init(0).expect("a state");
    let mut farthest = 0.0f64;
    let batches = order.chunks_exact(programs.batch_size());
    for (step, (numbers, wanted)) in batches.zip(&wanted).enumerate() {
        let images = data.training.choose(numbers);
        let batch = programs.batch(&images).expect("a batch");
        let (next, loss) = programs.step(state, &batch).expect("a step");
        state = next;
        let loss = f64::from(loss.wait().expect("a loss")[0]);
        let deviation = ((loss - wanted) / wanted).abs();
        assert!(
            deviation <= 1e-5,
            "step {step} on {devices} devices: the loss is {loss}, not {wanted}"
        );
        farthest = farthest.max(deviation);
    }
    println!("{devices} devices: the relative deviation is at most {farthest:.1e}");
}
