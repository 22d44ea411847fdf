//! Scratch.
mod cpu;
use cpu::*;
use std::time::Instant;
use xla::*;

fn sum(devices: usize) -> String {
    let all: Vec<String> = (0..devices).map(|i| i.to_string()).collect();
    format!(
        r#"
module @sum attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {devices} : i32}} {{
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %all = "stablehlo.all_reduce"(%x) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %ab : tensor<f32>
    }}) {{replica_groups = dense<[[{}]]> : tensor<1x{devices}xi64>}} : (tensor<4xf32>) -> tensor<4xf32>
    return %all : tensor<4xf32>
  }}
}}"#,
        all.join(", ")
    )
}

#[test]
fn scratch() {
    let devices: usize = std::env::var("DEV")
        .ok()
        .and_then(|x| x.parse().ok())
        .unwrap_or(2);
    let n: i32 = std::env::var("N")
        .ok()
        .and_then(|x| x.parse().ok())
        .unwrap_or(100_000);
    let singles: usize = std::env::var("SINGLES")
        .ok()
        .and_then(|x| x.parse().ok())
        .unwrap_or(1);
    let rounds: usize = std::env::var("ROUNDS")
        .ok()
        .and_then(|x| x.parse().ok())
        .unwrap_or(30);
    let before = std::env::var("BEFORE").is_ok();
    let client = client(devices);
    let c = compiled_text(&client, &sum(devices));
    let d = client.devices();
    let slow: Vec<Executable> = d
        .iter()
        .map(|d| {
            client
                .compile(
                    &Program::from_text(SLOW).unwrap(),
                    &CompileOptions::new().device(d),
                )
                .unwrap()
        })
        .collect();
    let x: Vec<Buffer> = d.iter().map(|d| vector(d, &[1.; 4])).collect();
    let y: Vec<Buffer> = d.iter().map(|d| vector(d, &[1.; SLOW_LENGTH])).collect();
    let k: Vec<Buffer> = d.iter().map(|d| Buffer::scalar(d, n).unwrap()).collect();
    for b in x.iter().chain(&y).chain(&k) {
        b.wait().unwrap();
    }
    let mut names = std::collections::BTreeMap::new();
    for t in std::fs::read_dir("/proc/self/task").unwrap() {
        let n = std::fs::read_to_string(t.unwrap().path().join("comm")).unwrap();
        *names.entry(n.trim().to_owned()).or_insert(0) += 1;
    }
    eprintln!("threads {names:?}");
    let t = Instant::now();
    if n < 10_000_000 {
        slow[0].run((&y[0], &k[0])).unwrap()[0].wait().unwrap();
    }
    eprintln!("a single run takes {:?}", t.elapsed());
    let t = Instant::now();
    for o in c.run_per_device(&x).unwrap() {
        o[0].wait().unwrap();
    }
    eprintln!("a collective takes {:?}", t.elapsed());
    let mut took = Vec::new();
    for _ in 0..rounds {
        let start = |kept: &mut Vec<Outputs>| {
            for i in 0..singles {
                kept.push(
                    slow[i % devices]
                        .run((&y[i % devices], &k[i % devices]))
                        .unwrap(),
                )
            }
        };
        let mut kept = Vec::new();
        if before {
            start(&mut kept);
        }
        let t = Instant::now();
        let out = c.run_per_device(&x).unwrap();
        let called = t.elapsed();
        if !before {
            start(&mut kept);
        }
        let started = t.elapsed();
        for o in &out {
            o[0].wait().unwrap();
            assert_eq!(values(&o[0]), [devices as f32; 4]);
        }
        let done = t.elapsed();
        for o in &kept {
            o[0].wait().unwrap();
        }
        took.push((done, called, started, t.elapsed()));
    }
    took.sort();
    eprintln!("(done, called, started, all) min {:?}", took[0]);
    eprintln!("median {:?}", took[took.len() / 2]);
    eprintln!("max {:?}", took[took.len() - 1]);
}
