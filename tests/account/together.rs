//! Several devices, several threads, many steps.

use std::thread;

use xla::{label, Buffer, HostArray, HostTree, PerDevice, Tree};

use crate::cpu::{client, compiled_text, device, in_child, resident};
use crate::{check, check_device, first, kilobytes, step, under};

#[derive(Tree)]
struct State {
    w: Buffer,
    scale: Buffer,
}

#[test]
fn each_device_for_itself() {
    let client = client(4);
    let devices = client.devices();
    let text = step(true).replace(
        "func.func",
        "module @m attributes {mhlo.num_replicas = 4 : i32} { func.func",
    ) + "}";
    let program = compiled_text(&client, &text);
    let host: HostTree<'_, State> = HostTree::new([
        HostArray::new(&[1f32; 1024], &[1024]).expect("1024"),
        HostArray::scalar(2f32).expect("1"),
    ])
    .expect("two");
    let state = {
        let _state = label("each device: state");
        PerDevice::<State>::replicate(&devices, &host).expect("room")
    };
    (0..4).for_each(|index| check_device(&client, index, 4100, 4100, 2));
    let g: Vec<Buffer> = devices.iter().map(kilobytes).collect();
    let (mut w, scales) = state.map(|state| (state.w, state.scale)).unzip();
    client.forget_memory_peaks();
    for _ in 0..3 {
        let outputs = program.run_per_device(w.into_inner().into_iter().zip(&g));
        let outputs = outputs.expect("it runs").into_iter();
        w = PerDevice::from_parts(outputs.map(|each| {
            let [new, sum] = each.into_array().expect("2");
            assert_eq!(sum.to_scalar::<f32>().expect("a number"), 1024.0);
            new
        }));
    }
    (0..4).for_each(|index| check_device(&client, index, 8196, 8200, 3));
    let account = client.memory_account();
    assert_eq!(account.live_bytes_of("each device: state"), 4 * 4100);
    drop(w.into_inner().remove(2));
    drop((scales, g));
    (0..4).for_each(|index| check_device(&client, index, 0, 8200, 0));
}

#[test]
fn threads_count_together() {
    const ROUNDS: usize = 500;
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let g = kilobytes(&here);
    let kept: Vec<Buffer> = thread::scope(|scope| {
        let workers = (0..4).map(|worker| {
            let (program, here, g) = (&program, &here, &g);
            scope.spawn(move || {
                let _even = (worker % 2 == 0).then(|| label("threads: even"));
                let mut w = kilobytes(here);
                for _ in 0..ROUNDS {
                    let other = Buffer::scalar(here, 1f64).expect("room");
                    let [new, _] = program
                        .run((w, g))
                        .expect("it runs")
                        .into_array()
                        .expect("2");
                    w = new;
                    drop(other);
                }
                w
            })
        });
        let workers: Vec<_> = workers.collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|kept| kept.expect("no panic")).collect()
    });
    let found = first(&client);
    assert_eq!((found.live_bytes, found.live_buffers), (5 * 4096, 5));
    // Every thread had at most its state, a sum and a number beside `g`.
    let most = 4096 + 4 * (4096 + 4 + 8);
    assert!(
        (5 * 4096 + 12..=most).contains(&found.peak_bytes),
        "{found:?}"
    );
    assert_eq!(under(&client, "threads: even").0, 8192);
    drop((kept, g));
    let found = first(&client);
    assert_eq!((found.live_bytes, found.live_buffers), (0, 0));
    assert_eq!(under(&client, "threads: even").2, 0);
}

#[test]
fn many_donated_steps_leave_nothing_behind() {
    let ended = in_child("together::many_donated_steps_leave_nothing_behind", || {
        let client = client(1);
        let here = device(&client, 0);
        let program = compiled_text(
            &client,
            "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32> {
               %half = stablehlo.constant dense<0.5> : tensor<f32>
               %new = stablehlo.add %x, %half : tensor<f32>
               return %new : tensor<f32>
             }",
        );
        let mut x = Some(Buffer::scalar(&here, 0f32).expect("room"));
        let mut steps = |count: usize| {
            for number in 0..count {
                let outputs = program.run(x.take().expect("the state")).expect("it runs");
                let new = outputs.into_single().expect("one");
                // No queue of runs, which would take memory of its own.
                if number % 16 == 0 {
                    new.wait().expect("a value");
                }
                x = Some(new);
            }
            check(&client, 4, 4, 1);
        };
        // What the plugin and the allocator keep for good.
        steps(50_000);
        // What a step leaves is left each time. What a thread takes that is new to it isn't.
        let grown = [(); 4].map(|()| {
            let before = resident();
            steps(50_000);
            resident().saturating_sub(before)
        });
        let least = grown.into_iter().min().expect("four");
        assert!(least <= 1 << 18, "the process has {grown:?} bytes more");
        let x = x.expect("the state").to_scalar::<f32>().expect("a number");
        assert_eq!(x, 125_000.0);
        check(&client, 0, 4, 0);
    });
    ended.check_well();
}
