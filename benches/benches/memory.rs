//! What a process takes at most: to have a tree of 256 MB on four devices, and to make Adam
//! steps on a state of that size with and without donation; what a million donated steps leave
//! behind. Each in a process of its own.

use std::fs;
use std::process::Command;
use std::time::Duration;

use benches::client;
use benches::side_by_side::{compare_timed, is_measured, is_short, is_wanted, spent, Line};
use xla::{
    Buffer, Client, CompileOptions, Executable, HostArray, HostTree, PerDevice, Program, Tree,
};

const DEVICES: usize = 4;
const MIB: usize = 1 << 20;
/// Floats in 256 MiB.
const COUNT: usize = 64 * MIB;
const CHILD: &str = "XLA_BENCH_MEMORY_CHILD";

fn main() {
    if let Ok(case) = std::env::var(CHILD) {
        return child(&case);
    }
    if !is_measured() {
        return;
    }
    println!("a tree of 256 MiB on {DEVICES} devices: wanted is its source and {DEVICES} copies");
    for (name, case) in [
        ("replicate, host values, 1 leaf", "host 1"),
        ("replicate, host values, 64 leaves", "host 64"),
        ("replicate_tree, device tree, 1 leaf", "tree 1"),
        ("replicate_tree, device tree, 64 leaves", "tree 64"),
    ] {
        if is_wanted(name) {
            let [before, peak] = in_child(case);
            print(name, before, peak, (1 + DEVICES) * 256, 1.15);
        }
    }
    adam();
    million();
}

/// What a child of this program tells of a case: the MiB that it had resident before it
/// began, and the most that it had.
fn in_child(case: &str) -> [usize; 2] {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .env(CHILD, case)
        .output()
        .expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers = text.lines().last().unwrap_or_default().split(' ');
    let numbers: Vec<usize> = numbers.filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [before, peak] => [before, peak],
        _ => panic!("{case}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn print(name: &str, before: usize, peak: usize, wanted: usize, most: f64) {
    let ratio = peak as f64 / wanted as f64;
    let verdict = if ratio <= most { "met" } else { "missed" };
    println!(
        "{name:44} peak {peak:5} MiB (of which {before} before it)  wanted {wanted:5} MiB  ratio \
         {ratio:.3}  at most {most:.3}: {verdict}"
    );
    assert!(!is_short() || ratio <= 2.0, "{name}: more than 2 times");
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
            let before = resident();
            forget_peak();
            steps(5);
            println!("{before} {}", peak());
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
    let before = resident();
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
    println!("{before} {}", peak());
}

/// Floats of each of three parts of a state of 264 MiB.
const PART: usize = 22 * MIB;

fn adam_program(donated: bool) -> Program {
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
    let text = format!(
        "func.func @main(%w: {part}{}, %m: {part}{}, %v: {part}{}, %g: {part}) -> ({part}, {part}, {part}) {{
           {}
           return %w1, %m1, %v1 : {part}, {part}, {part}
         }}",
        alias(0), alias(1), alias(2), body.concat(),
    );
    Program::from_text(text).expect("a program")
}

fn compiled(client: &Client, donated: bool) -> Executable {
    let options = CompileOptions::new();
    let step = client.compile(&adam_program(donated), &options);
    step.expect("it compiles")
}

/// Makes so many steps, each awaited.
fn adam_steps(client: &Client, donated: bool) -> impl FnMut(u64) {
    let step = compiled(client, donated);
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
    let name = "Adam on 264 MiB, peak";
    if is_wanted(name) {
        let [before, donated] = in_child("adam donated");
        println!("Adam on a state of 264 MiB and a gradient of 88: peak with donation to without");
        let [_, undonated] = in_child("adam undonated");
        print(name, before, donated, undonated, 2. / 3.);
    }
    let client = client(1);
    let inside = |donated| {
        let stats = compiled(&client, donated).memory_stats();
        let stats = stats.expect("stats");
        (
            stats.run_bytes() as usize / MIB,
            stats.alias_bytes as usize / MIB,
        )
    };
    let ((donated, alias), (undonated, _)) = (inside(true), inside(false));
    print(
        "the same, as the compiler states it",
        0,
        donated,
        undonated,
        2. / 3.,
    );
    println!("{:44} {alias} MiB of the outputs lie in donated inputs", "");

    let name = "Adam on 264 MiB, a step";
    if is_wanted(name) {
        let line = Line {
            name,
            names: ["donated", "undonated"],
            most: 1.0,
            batch: Duration::from_millis(20),
        };
        let mut with = adam_steps(&client, true);
        let mut without = adam_steps(&client, false);
        compare_timed(line, |n| spent(&mut with, n), |n| spent(&mut without, n));
    }
}

/// Steps of a number that is donated to each: the account may see no more than one buffer, and
/// the process may not grow.
fn million() {
    let name = "1,000,000 donated steps, growth";
    if is_wanted(name) {
        let [before, after] = in_child("steps 1000000");
        let grown = after.saturating_sub(before);
        let verdict = if grown <= 1024 { "met" } else { "missed" };
        println!("{name:44} from {before} to {after} KiB  at most 1024 KiB: {verdict}");
        assert!(!is_short() || grown <= 10 * 1024, "{name}: {grown} KiB");
    }
}

fn donated_steps(client: &Client, count: u64) {
    let program = "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32> {
           %half = stablehlo.constant dense<0.5> : tensor<f32>
           %new = stablehlo.add %x, %half : tensor<f32>
           return %new : tensor<f32>
         }";
    let program = Program::from_text(program).expect("a program");
    let step = client.compile(&program, &CompileOptions::new());
    let step = step.expect("it compiles");
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
        assert_eq!((account.live_buffers(), account.live_bytes()), (1, 4));
        assert_eq!(account.devices()[0].peak_bytes, 4, "{account}");
    };
    // What the plugin and the allocator keep for good.
    steps(100_000);
    let before = status("VmRSS:");
    steps(count);
    println!("{before} {}", status("VmRSS:"));
}

/// What the process has resident now, in MiB.
fn resident() -> usize {
    status("VmRSS:") / 1024
}

/// The most that it had, in MiB.
fn peak() -> usize {
    status("VmHWM:") / 1024
}

/// In KiB.
fn status(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<usize>().ok());
    kibibytes.expect("a number")
}

/// Sets the most back to what is resident now.
fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("Linux 4.0");
}
