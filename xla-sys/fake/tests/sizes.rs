//! Launches of all sizes that fail inside the plugin: on one device and on many, with lists that
//! lie on the stack and in memory of their own.

mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pjrt_fake::{Code, Failure, Fake};
use session::{client, compile, pair};
use xla::{Buffer, Client, Executable};

const EXECUTE: &str = "PJRT_LoadedExecutable_Execute";

/// Gives its first inputs as they are, in their memory, and more of the last of them.
fn program(client: &Client, devices: usize, inputs: usize, outputs: usize) -> Executable {
    let mut text = format!("program sized\nmhlo.num_replicas = {devices}\n");
    for input in 0..inputs {
        text += &match input < outputs {
            true => format!("input f32[2] donated {input}\n"),
            false => "input f32[2]\n".to_owned(),
        };
    }
    for output in 0..outputs {
        text += &format!("output f32[2] = copy {}\n", output.min(inputs - 1));
    }
    compile(client, &text)
}

/// The arguments of each device: each is told from the others.
fn arguments(client: &Client, devices: usize, inputs: usize) -> Vec<Vec<Buffer>> {
    let of = |device| (0..inputs).map(move |n| pair(client, device, [device as f32, n as f32]));
    (0..devices).map(|device| of(device).collect()).collect()
}

#[test]
fn a_launch_of_any_size_may_fail() {
    for devices in [1, 2, 9] {
        for (inputs, outputs) in [(1, 0), (1, 1), (1, 9), (16, 8), (17, 9), (66, 66)] {
            for platform in ["fake", "cpu"] {
                let builder = Fake::builder().devices(devices).platform(platform);
                let fake = builder.build();
                let client = client(&fake);
                let program = program(&client, devices, inputs, outputs);
                check(&fake, &client, &program, [devices, inputs, outputs]);
                drop((program, client));
                fake.assert_clean();
            }
        }
    }
}

fn check(fake: &Fake, client: &Client, program: &Executable, sizes: [usize; 3]) {
    let [devices, inputs, outputs] = sizes;
    let what = format!("{devices} devices, {inputs} inputs, {outputs} outputs");
    let given = || arguments(client, devices, inputs);
    let last = (devices - 1, inputs - 1);
    for with_handles in [false, true] {
        let failure = Failure::new(Code::INTERNAL, "on demand").consuming_on(last.0, &[last.1]);
        let failure = match with_handles {
            true => failure.with_handles(),
            false => failure,
        };
        fake.fail(EXECUTE, failure);
        let error = program.run_per_device(given()).expect_err(&what);
        assert_eq!(error.error().function(), Some(EXECUTE), "{what}");
        let donated = if with_handles { inputs.min(outputs) } else { 0 };
        let mut lost: Vec<_> = (0..devices)
            .flat_map(|device| (0..donated).map(move |argument| (device, argument)))
            .collect();
        if !lost.contains(&last) {
            lost.push(last);
        }
        let told: Vec<_> = error
            .lost()
            .iter()
            .map(|l| (l.device, l.argument))
            .collect();
        assert_eq!(told, lost, "{what}");
        for left in error.into_given() {
            let wanted = [left.device as f32, left.argument as f32];
            assert_eq!(
                left.buffer.to_host::<f32>().expect("values"),
                wanted,
                "{what}"
            );
        }
    }
    // It says that it went well, and gives nothing.
    if outputs > 0 {
        fake.silence(EXECUTE);
        let error = program.run_per_device(given()).expect_err(&what);
        assert_eq!(error.given().len(), devices * inputs, "{what}: {error}");
        fake.heal();
    }
    let before = fake.count(EXECUTE);
    let all = program.run_per_device(given()).expect(&what);
    assert_eq!(fake.count(EXECUTE), before + 1);
    for (device, all) in all.iter().enumerate() {
        assert_eq!(all.len(), outputs, "{what}");
        for (n, output) in all.iter().enumerate() {
            let wanted = [device as f32, n.min(inputs - 1) as f32];
            assert_eq!(output.to_host::<f32>().expect("values"), wanted, "{what}");
        }
    }
}

#[test]
fn runs_go_on_while_programs_with_collectives_come_and_go() {
    let fake = Fake::builder().devices(2).platform("cpu").build();
    let client = client(&fake);
    let alone = program(&client, 1, 2, 1);
    let apart = program(&client, 2, 2, 1);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let running = [(&alone, 1), (&apart, 2)].map(|(program, devices)| {
            let (over, client) = (&over, &client);
            scope.spawn(move || {
                let mut rounds = 0;
                while rounds < 50 || !over.load(Ordering::Relaxed) {
                    let all = program.run_per_device(arguments(client, devices, 2));
                    for (device, all) in all.expect("runs").iter().enumerate() {
                        let values = all[0].to_host::<f32>().expect("values");
                        assert_eq!(values, [device as f32, 0.]);
                    }
                    rounds += 1;
                }
            })
        });
        for _ in 0..20 {
            let together = compile(&client, session::REPLICATED);
            for _ in 0..3 {
                let all = together
                    .run_per_device(arguments(&client, 2, 2))
                    .expect("runs");
                assert_eq!(all[0][1].to_host::<f32>().expect("values"), [1., 2.]);
            }
        }
        over.store(true, Ordering::Relaxed);
        for thread in running {
            thread.join().expect("no panic");
        }
    });
    drop((alone, apart, client));
    fake.assert_clean();
}

#[test]
fn outputs_are_counted_and_none_is_left_behind() {
    let fake = Fake::new();
    let client = client(&fake);
    // Up to four lie without memory of their own.
    for outputs in [0, 1, 2, 4, 5, 9] {
        let program = program(&client, 1, 1, outputs);
        let run = || {
            let arguments = arguments(&client, 1, 1).swap_remove(0);
            program.run(arguments).expect("runs")
        };
        match run().into_single() {
            Ok(only) => {
                assert_eq!(outputs, 1);
                assert_eq!(only.to_host::<f32>().expect("values"), [0., 0.]);
            }
            Err(error) => {
                assert_ne!(outputs, 1);
                let says = format!("a single output was asked for, but the program has {outputs}");
                assert!(error.message().contains(&says), "{error}");
            }
        }
        assert_eq!(fake.live().buffers, 0, "{outputs} outputs");
        match run().into_array() {
            Ok([_, second]) => {
                assert_eq!(outputs, 2);
                assert_eq!(second.to_host::<f32>().expect("values"), [0., 0.]);
            }
            Err(error) => {
                assert_ne!(outputs, 2);
                let says = format!("2 outputs were asked for, but the program has {outputs}");
                assert!(error.message().contains(&says), "{error}");
            }
        }
        assert_eq!(run().into_vec().len(), outputs);
        assert_eq!(fake.live().buffers, 0, "{outputs} outputs");
    }
    drop(client);
    fake.assert_clean();
}
