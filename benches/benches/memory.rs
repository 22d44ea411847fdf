//! What a process takes at most: to have a tree of 256 MB on four devices, and to make Adam
//! steps on a state of that size with and without donation; what a million donated steps leave
//! behind. Each in a process of its own.

use std::time::Duration;

use benches::client;
use benches::process::{case, forget_peak, in_child, peak, resident};
use benches::programs::compiled;
use benches::side_by_side::{compare, is_wanted, Line};
use benches::table::{begin, Figure};
use xla::{Buffer, Client, HostArray, HostTree, PerDevice, Tree};

const DEVICES: usize = 4;
const MIB: usize = 1 << 20;
/// Floats in 256 MiB.
const COUNT: usize = 64 * MIB;

fn main() {
    if let Some(case) = case() {
        return child(&case);
    }
    if !begin("Memory") {
        return;
    }
    // Wanted is the source and a copy for each device. A whole process is counted, the plugin
    // and all.
    for (name, case) in [
        ("replicate 256 MB on 4, host values, 1 leaf", "host 1"),
        ("replicate 256 MB on 4, host values, 64 leaves", "host 64"),
        ("replicate 256 MB on 4, a device's tree, 1 leaf", "tree 1"),
        (
            "replicate 256 MB on 4, a device's tree, 64 leaves",
            "tree 64",
        ),
    ] {
        let wanted = ("wanted", ((1 + DEVICES) * 256) as f64);
        measure(name, wanted, 1.15, || in_child(case)[0]);
    }
    adam();
    million();
}

/// A peak in MiB.
fn measure(name: &str, beside: (&str, f64), most: f64, peak: impl FnMut() -> f64) {
    let figure = Figure {
        name,
        unit: "MiB",
        beside: Some(beside),
        most,
    };
    figure.measure(peak);
}

fn child(case: &str) {
    let client = client(DEVICES);
    match case.split_once(' ') {
        Some(("host", leaves)) => replicated(&client, leaves, false),
        Some(("tree", leaves)) => replicated(&client, leaves, true),
        Some(("adam", how)) => {
            let mut steps = adam_steps(&client, how == "donated");
            // The first run may take memory for good.
            steps(1);
            forget_peak();
            steps(5);
            println!("{}", peak() / 1024);
        }
        Some(("steps", count)) => donated_steps(&client, count.parse().expect("a number")),
        _ => panic!("no case `{case}`"),
    }
}

fn replicated(client: &Client, leaves: &str, from_tree: bool) {
    match leaves {
        "1" => replicated_as::<1>(client, from_tree),
        _ => replicated_as::<64>(client, from_tree),
    }
}

fn replicated_as<const LEAVES: usize>(client: &Client, from_tree: bool) {
    let devices = client.devices();
    let values = vec![1.5f32; COUNT];
    let leaves = values.chunks(COUNT / LEAVES);
    let leaves = leaves.map(|leaf| HostArray::borrowed(leaf, &[leaf.len()]).expect("an array"));
    let host: HostTree<'_, [Buffer; LEAVES]> = HostTree::new(leaves).expect("a tree");
    let copies: PerDevice<[Buffer; LEAVES]> = if from_tree {
        let tree = host.to_device(&devices[0]).expect("room");
        drop(host);
        drop(values);
        let copies = PerDevice::replicate_tree(&devices, &tree).expect("room");
        copies.wait().expect("values");
        assert_eq!(tree.structure().leaf_count(), LEAVES);
        copies
    } else {
        PerDevice::replicate(&devices, &host).expect("room")
    };
    copies.wait().expect("values");
    println!("{}", peak() / 1024);
}

/// Floats of each of three parts of a state of 264 MiB.
const PART: usize = 22 * MIB;

fn adam_program(donated: bool) -> String {
    let part = format!("tensor<{PART}xf32>");
    let alias = |index| match donated {
        true => format!(" {{tf.aliasing_output = {index} : i32}}"),
        false => String::new(),
    };
    let constant = |name: &str, value: f32| {
        format!("%{name} = stablehlo.constant dense<{value:.10}> : {part}\n")
    };
    let line = |name: &str, operation: &str, operands: &str| {
        format!("%{name} = stablehlo.{operation} {operands} : {part}\n")
    };
    let body = [
        constant("b1", 0.9) + &constant("a1", 0.1) + &constant("b2", 0.999),
        constant("a2", 0.001) + &constant("rate", 1e-3) + &constant("eps", 1e-8),
        line("m0", "multiply", "%m, %b1") + &line("g1", "multiply", "%g, %a1"),
        line("m1", "add", "%m0, %g1") + &line("v0", "multiply", "%v, %b2"),
        line("gg", "multiply", "%g, %g") + &line("g2", "multiply", "%gg, %a2"),
        line("v1", "add", "%v0, %g2") + &line("s", "sqrt", "%v1"),
        line("d", "add", "%s, %eps") + &line("q", "divide", "%m1, %d"),
        line("c", "multiply", "%q, %rate") + &line("w1", "subtract", "%w, %c"),
    ];
    format!(
        "func.func @main(%w: {part}{}, %m: {part}{}, %v: {part}{}, %g: {part}) -> ({part}, {part}, {part}) {{
           {}
           return %w1, %m1, %v1 : {part}, {part}, {part}
         }}",
        alias(0), alias(1), alias(2), body.concat(),
    )
}

/// Makes so many steps, each awaited.
fn adam_steps(client: &Client, donated: bool) -> impl FnMut(u64) {
    let step = compiled(client, adam_program(donated));
    let device = client.device(0).expect("a device");
    let part = || {
        let values = vec![0.5f32; PART];
        Buffer::from_host(&device, &values, &[PART]).expect("room")
    };
    let gradient = part();
    let mut state = vec![part(), part(), part()];
    move |times| {
        for _ in 0..times {
            let before = std::mem::take(&mut state);
            let after = step.run((before, &gradient)).expect("a run");
            state = after.into_vec();
            state.iter().for_each(|part| part.wait().expect("a run"));
        }
    }
}

fn adam() {
    let name = "Adam on 264 MiB, peak of the process";
    if is_wanted(name) {
        let undonated = ("undonated", in_child("adam undonated")[0]);
        measure(name, undonated, 2. / 3., || in_child("adam donated")[0]);
    }
    let client = client(1);
    let name = "Adam on 264 MiB, as the compiler states it";
    if is_wanted(name) {
        let stated = |donated| {
            let stats = compiled(&client, adam_program(donated)).memory_stats();
            stats.expect("stats").run_bytes() as f64 / MIB as f64
        };
        measure(name, ("undonated", stated(false)), 2. / 3., || stated(true));
    }
    let name = "Adam on 264 MiB, a step";
    if is_wanted(name) {
        let line = Line {
            name,
            names: ["donated", "undonated"],
            most: 1.0,
            batch: Duration::from_millis(20),
            apart: false,
        };
        compare(line, adam_steps(&client, true), adam_steps(&client, false));
    }
}

/// Steps of a number that is donated to each: the account may see no more than one buffer, and
/// the process may not grow.
fn million() {
    let names = [
        "1,000,000 donated steps, growth of the process",
        "1,000,000 donated steps, live buffers after them",
    ];
    if !names.iter().any(|name| is_wanted(name)) {
        return;
    }
    let figure = Figure {
        name: names[0],
        unit: "KiB",
        beside: None,
        most: 1024.,
    };
    let mut live = [0.; 2];
    figure.measure(|| {
        let told = in_child("steps 1000000");
        live = [told[2], told[3]];
        told[1] - told[0]
    });
    let figure = Figure {
        name: names[1],
        unit: "buffers",
        beside: Some(("before them", live[0])),
        most: 1.,
    };
    figure.measure(|| live[1]);
}

fn donated_steps(client: &Client, count: u64) {
    let program = "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32> {
           %half = stablehlo.constant dense<0.5> : tensor<f32>
           %new = stablehlo.add %x, %half : tensor<f32>
           return %new : tensor<f32>
         }";
    let step = compiled(client, program);
    let mut x = Buffer::scalar(&step.devices()[0], 0f32).ok();
    let mut steps = |count| {
        for number in 0..count {
            let outputs = step.run(x.take().expect("the state")).expect("a run");
            let new = outputs.into_single().expect("one");
            // No queue of runs, which would take memory of its own.
            if number % 16 == 0 {
                new.wait().expect("a value");
            }
            x = Some(new);
        }
        let account = client.memory_account();
        assert_eq!(account.live_bytes(), 4, "{account}");
        assert_eq!(account.devices()[0].peak_bytes, 4, "{account}");
        account.live_buffers()
    };
    // What the plugin and the allocator keep for good.
    let live = steps(100_000);
    let before = resident();
    let live_after = steps(count);
    println!("{before} {} {live} {live_after}", resident());
}
