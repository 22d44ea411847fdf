//! The programs of the longer examples, one call of the command line for each step, with what
//! a step gives written into files and read from there by the next.

use std::f64::consts::LN_10;

use serde_json::Value;
use xla::RngKey;

use crate::{json, listed, numbers, oracle, program, Folder};

/// An argument: for all devices, or a file for each.
#[derive(Clone)]
enum Given {
    Whole(String),
    Each(Vec<String>),
}

use Given::{Each, Whole};

fn zeros() -> Given {
    Whole("=zeros".to_owned())
}

fn values(values: &[f64]) -> Given {
    Whole(listed(values))
}

fn from_file(file: &str) -> Given {
    Whole(format!("=@{file}"))
}

/// `xla run` with `--out`; the files that it wrote, output by output and device by device.
#[track_caller]
fn run(folder: &Folder, name: &str, file: &str, arguments: &[Given]) -> (Value, Vec<Vec<String>>) {
    let mut words = vec!["run".to_owned(), program(file), "--values".to_owned()];
    words.extend(["--out".to_owned(), folder.path(name)]);
    for argument in arguments {
        match argument {
            Whole(text) => words.extend(["--arg".to_owned(), text.clone()]),
            Each(files) => {
                for (device, file) in files.iter().enumerate() {
                    words.extend([format!("--arg@{device}"), format!("=@{file}")]);
                }
            }
        }
    }
    let told = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let mut files = told["files"].as_array().expect("a list").iter();
    let outputs = told["outputs"].as_array().expect("a list").iter();
    let devices = told["devices"].as_array().expect("a list").len();
    let written = outputs.map(|_| {
        let each = files.by_ref().take(devices);
        each.map(|file| file.as_str().expect("a path").to_owned())
            .collect()
    });
    let written = written.collect();
    (told, written)
}

/// The values of an output on the first device.
fn first(told: &Value, output: usize) -> Vec<f64> {
    let values = &told["outputs"][output]["values"];
    match told["devices"].as_array().map(Vec::len) {
        Some(1) => numbers(values),
        _ => numbers(&values[0]),
    }
}

#[track_caller]
fn close(got: f64, wanted: f64, tolerance: f64) {
    let deviation = (got - wanted).abs() / wanted.abs().max(1.);
    assert!(deviation <= tolerance, "{got} instead of {wanted}");
}

#[test]
fn the_shuffle_and_the_first_state_are_those_of_jax() {
    let folder = Folder::new();
    let oracle = oracle("train_mnist");
    for epoch in ["0", "1"] {
        let arguments = [values(&[0.]), Whole(format!("={epoch}"))];
        let (told, _) = run(&folder, epoch, "shuffle.mlir", &arguments);
        let wanted = numbers(&oracle["shuffle"][epoch]);
        assert_eq!(first(&told, 0)[..wanted.len()], wanted);
    }
    let (told, _) = run(&folder, "init", "init.mlir", &[values(&[0.])]);
    let state = oracle["initial_state"].as_object().expect("leaves");
    assert_eq!(
        told["outputs"].as_array().expect("a list").len(),
        state.len()
    );
    for output in told["outputs"].as_array().expect("a list") {
        let name = output["name"].as_str().expect("a name");
        let leaf = name.split_once('.').expect("the tree's name").1;
        let wanted = &state[&format!("state.{leaf}")];
        let values = numbers(&output["values"]);
        let sum: f64 = values.iter().sum();
        let squares: f64 = values.iter().map(|x| x * x).sum();
        close(sum, wanted["sum"].as_f64().expect("a number"), 1e-5);
        close(
            squares,
            wanted["sum_of_squares"].as_f64().expect("a number"),
            1e-5,
        );
    }
}

#[cfg(feature = "fetch-cpu")]
mod train_mnist {
    use super::*;
    use crate::data::{self, Images};

    /// A file of NumPy's, by hand.
    fn npy(kind: &str, dims: &[usize], bytes: &[u8]) -> Vec<u8> {
        let dims: Vec<String> = dims.iter().map(|dim| format!("{dim},")).collect();
        let head = format!(
            "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({})}}\n",
            dims.concat()
        );
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((head.len() as u16).to_le_bytes());
        file.extend(head.bytes());
        file.extend(bytes);
        file
    }

    /// Arguments of images and labels, for so many rows.
    fn batch(folder: &Folder, name: &str, images: Images, rows: usize) -> Vec<Given> {
        let images = images.padded(rows);
        let pixels = npy("|u1", &[rows, data::PIXELS], &images.pixels);
        let labels: Vec<u8> = images
            .labels
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let labels = npy("<i4", &[rows], &labels);
        vec![
            from_file(&folder.write(&format!("{name}_images.npy"), pixels)),
            from_file(&folder.write(&format!("{name}_labels.npy"), labels)),
        ]
    }

    /// What all trainings begin with; it lies in the folder.
    struct Start<'a> {
        folder: &'a Folder,
        images: Images,
        order: Vec<i32>,
        state: Vec<Given>,
    }

    impl Start<'_> {
        fn new(folder: &Folder) -> Start<'_> {
            let seeds = [values(&[0.]), values(&[0.])];
            let (told, _) = run(folder, "shuffle", "shuffle.mlir", &seeds);
            let order = first(&told, 0).iter().map(|it| *it as i32).collect();
            let (_, state) = run(folder, "init", "init.mlir", &seeds[..1]);
            let state = state.iter().map(|file| from_file(&file[0]));
            Start {
                folder,
                images: data::read().expect("the images").training,
                order,
                state: state.chain([zeros(), zeros(), zeros()]).collect(),
            }
        }

        /// Takes steps; their losses are those of JAX.
        fn check(&self, devices: usize, steps: usize, file: &str) {
            let oracle = oracle("train_mnist");
            let losses = numbers(&oracle["losses"][devices.to_string()]);
            let mut state = self.state.clone();
            for (step, loss) in losses.iter().enumerate().take(steps) {
                let chosen = self.images.choose(&self.order[step * 64..][..64]);
                let rows = 64usize.next_multiple_of(devices);
                let mut arguments = state.clone();
                arguments.extend(batch(self.folder, "batch", chosen, rows));
                let (told, files) = run(self.folder, &format!("{step}"), file, &arguments);
                assert_eq!(told["devices"].as_array().map(Vec::len), Some(devices));
                close(first(&told, 22)[0], *loss, 1e-5);
                assert_eq!(first(&told, 21), [64. * (step + 1) as f64], "images");
                assert_eq!(first(&told, 18), [(step + 1) as f64], "steps");
                state = files[..22].iter().map(|it| from_file(&it[0])).collect();
            }
        }
    }

    #[test]
    fn steps_on_any_number_of_devices() {
        let folder = Folder::new();
        let start = Start::new(&folder);
        for devices in 1..=8 {
            let steps = if matches!(devices, 1 | 4) { 3 } else { 1 };
            start.check(devices, steps, &format!("train_step_{devices}.mlir"));
        }
        for devices in [1, 2, 4, 8] {
            start.check(devices, 1, &format!("train_step_{devices}_undonated.mlir"));
        }
    }

    /// Weights of zero: all digits are as likely as each other, and 0 is the first of them.
    #[test]
    fn an_evaluation_on_any_number_of_devices() {
        let folder = Folder::new();
        let images = data::read().expect("the images").held_out;
        let nulls = images.labels.iter().filter(|label| **label == 0).count();
        assert_eq!((images.len(), nulls), (500, 50));
        for devices in 1..=8 {
            let rows = 500usize.next_multiple_of(devices);
            let mut arguments = vec![zeros(); 6];
            arguments.extend(batch(&folder, "held_out", images.clone(), rows));
            let file = format!("evaluate_{devices}.mlir");
            let (told, _) = run(&folder, &devices.to_string(), &file, &arguments);
            close(first(&told, 0)[0], 500. * LN_10, 1e-6);
            assert_eq!(first(&told, 1), [50.], "right, on {devices} devices");
            assert_eq!(first(&told, 2), [500.], "seen, on {devices} devices");
        }
    }
}

/// Numbers of the arguments, by the formulas of `training_loop.py`.
fn spread_out(count: usize, scale: f64) -> Vec<f64> {
    let number = |i: usize| (i * 37 % 64) as f64 / 32. - 1.;
    (0..count).map(|i| number(i) * scale).collect()
}

/// Rows of a step's batch: `x`, then `y`.
fn rows(step: usize, rows: std::ops::Range<usize>) -> [Vec<f64>; 2] {
    let at = |row: usize, column: usize| ((step * 31 + row * 7 + column * 5) % 16) as f64 / 8. - 1.;
    let x = rows
        .clone()
        .flat_map(|row| (0..6).map(move |column| at(row, column)));
    let y = rows
        .clone()
        .map(|row| at(row, 0) * at(row, 1) + at(row, 2) / 2.);
    [x.collect(), y.collect()]
}

/// Four shards a step, as micro-steps on so many devices: the losses of one large step.
fn training_loop(devices: usize, steps: usize) {
    let folder = Folder::new();
    let oracle = oracle("training_loop");
    let key = RngKey::new(oracle["seed"].as_u64().expect("a seed"));
    let mut state = vec![values(&spread_out(96, 0.5)), values(&spread_out(16, 0.25))];
    state.extend([zeros(), zeros(), zeros()]);
    let mut metrics = vec![zeros(), zeros()];
    let mut sum = 0.;
    let losses = numbers(&oracle["losses"]);
    for (step, loss) in losses[..steps].iter().enumerate() {
        let mut sums = vec![zeros(), zeros(), zeros()];
        for start in (0..4).step_by(devices) {
            let shards = start..start + devices;
            let own = |shard| key.fold_in(step as u32).fold_in(shard as u32).data();
            let keys: Vec<f64> = shards.flat_map(|it| own(it).map(f64::from)).collect();
            let mut arguments = [&state[..2], &sums].concat();
            arguments.push(values(&keys));
            let batch = rows(step, start * 4..(start + devices) * 4);
            arguments.extend(batch.iter().map(|it| values(it)));
            let file = format!("micro_{devices}.mlir");
            let name = format!("{step}_{start}");
            let (_, files) = run(&folder, &name, &file, &arguments);
            // Each device's own.
            sums = files.into_iter().map(Each).collect();
        }
        let arguments = [&state[..], &sums, &metrics].concat();
        let file = format!("update_{devices}.mlir");
        let (told, files) = run(&folder, &format!("{step}"), &file, &arguments);
        state = files[..5].iter().map(|it| from_file(&it[0])).collect();
        metrics = files[8..].iter().map(|it| from_file(&it[0])).collect();
        assert_eq!(first(&told, 5), [0.; 96], "the sums come back as zeros");
        sum += loss;
        close(first(&told, 8)[0], sum, 1e-6);
        assert_eq!(first(&told, 9), [(step + 1) as f64]);
    }
}

#[test]
fn the_training_loop_on_two_devices() {
    training_loop(2, 2);
}

#[test]
fn the_training_loop_on_four_devices() {
    training_loop(4, 3);
}

#[test]
fn random_numbers_are_those_of_jax_to_the_last_bit() {
    let folder = Folder::new();
    let oracle = oracle("training_loop");
    let key = RngKey::new(oracle["seed"].as_u64().expect("a seed"));
    let keys = (0..4).flat_map(|device| key.fold_in(device).data().map(f64::from));
    let keys = listed(&keys.collect::<Vec<_>>());
    let (told, _) = run(&folder, "noise", "noise_4.mlir", &[Whole(keys)]);
    for device in 0..4 {
        let got = numbers(&told["outputs"][0]["values"][device]);
        let wanted = numbers(&oracle["noise"][device]);
        let bits = |values: Vec<f64>| values.into_iter().map(|x| (x as f32).to_bits());
        assert!(bits(got).eq(bits(wanted)), "device {device}");
    }
}
