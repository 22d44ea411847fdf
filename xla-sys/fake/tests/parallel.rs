//! Typed programs on many devices: a launch that fails inside the plugin, and what is left of it on
//! each device.

mod session;

use std::collections::BTreeMap;

use pjrt_fake::{Code, EventKind, Failure, Fake, Readiness, ENTRIES};
use session::{client, compile, pair};
use xla::{
    Buffer, Client, Each, Error, Give, HostArray, One, ParallelFunction, PerDevice, Plugin, Ref,
    Same, Split, Tree,
};

const DEVICES: usize = 3;

/// Adds `g` to both parts of the state, in their memory, and sums `g` over all devices.
const STEP: &str = "program step\n\
    mhlo.num_replicas = 3\n\
    input f32[2] donated 0\n\
    input f32[2] donated 1\n\
    input f32[2]\n\
    output f32[2] = add 0 2\n\
    output f32[2] = add 1 2\n\
    output f32[2] = all_reduce 2";

#[derive(Debug, Tree)]
struct State {
    w: Buffer,
    v: Buffer,
}

type Step = ParallelFunction<(Give<State>, Ref<Buffer>), (Each<State>, One<Buffer>)>;

fn step(client: &Client) -> Step {
    let step: Step = compile(client, STEP).parallel().expect("it fits");
    step.with_names(&["state", "g"])
}

fn fake(platform: &str) -> Fake {
    Fake::builder().devices(DEVICES).platform(platform).build()
}

/// On device `d` w is `[d, d]`, v `[10 * d, 0]`.
fn state(client: &Client) -> PerDevice<State> {
    PerDevice::from_parts((0..DEVICES).map(|device| {
        let d = device as f32;
        State {
            w: pair(client, device, [d, d]),
            v: pair(client, device, [10. * d, 0.]),
        }
    }))
}

fn gradient(client: &Client) -> PerDevice<Buffer> {
    PerDevice::from_parts((0..DEVICES).map(|device| pair(client, device, [1., 2.])))
}

fn values(buffer: &Buffer) -> Vec<f32> {
    buffer.to_host().expect("readable values")
}

fn no_room() -> Failure {
    Failure::new(Code::RESOURCE_EXHAUSTED, "no room on demand")
}

#[test]
fn what_a_failed_launch_left_is_told_by_device() {
    // What is consumed on which device; with handles the outputs were made first, and what is
    // donated is gone everywhere.
    type Consumed = &'static [(usize, &'static [usize])];
    let cases: [(Consumed, bool); 7] = [
        (&[], false),
        (&[(0, &[0])], false),
        (&[(2, &[0, 1])], false),
        (&[(1, &[1])], false),
        (&[(0, &[0, 1]), (1, &[0])], false),
        (&[(0, &[0, 1]), (1, &[0, 1]), (2, &[0, 1])], false),
        (&[], true),
    ];
    for platform in ["fake", "cpu"] {
        for (consumed, handles) in cases {
            let fake = fake(platform);
            let client = client(&fake);
            let step = step(&client);
            let g = gradient(&client);
            let mut failure = no_room();
            for (device, arguments) in consumed {
                failure = failure.consuming_on(*device, arguments);
            }
            if handles {
                failure = failure.with_handles();
            }
            fake.fail("PJRT_LoadedExecutable_Execute", failure);
            let error = step.call((state(&client), &g)).expect_err("it fails");
            let text = error.to_string();
            assert_eq!(
                error.error().function(),
                Some("PJRT_LoadedExecutable_Execute")
            );
            assert!(error.may_be_out_of_step() && !error.is_refusal(), "{text}");
            let says = "some devices may have run it and others not: restore them from one state";
            assert!(
                text.contains(says) && text.contains("no room on demand"),
                "{text}"
            );
            let gone = |device: usize, argument: usize| {
                let mut own = consumed.iter().filter(|(of, _)| *of == device);
                handles || own.any(|(_, arguments)| arguments.contains(&argument))
            };
            let (mut left, mut lost) = (Vec::new(), Vec::new());
            for device in 0..DEVICES {
                for (argument, path) in ["state.w", "state.v"].into_iter().enumerate() {
                    let list = if gone(device, argument) {
                        &mut lost
                    } else {
                        &mut left
                    };
                    list.push((path, device));
                }
            }
            let got: Vec<_> = error
                .lost()
                .iter()
                .map(|l| (&l.path[..], l.device))
                .collect();
            assert_eq!(got, lost, "{text}");
            for (path, device) in lost {
                assert!(
                    text.contains(&format!("{path} on device {device}")),
                    "{text}"
                );
            }
            let survivors = error.survivors().iter().map(|s| (&s.path[..], s.device));
            assert_eq!(survivors.collect::<Vec<_>>(), left, "{text}");
            for survivor in error.into_survivors() {
                let d = survivor.device as f32;
                let wanted = match &survivor.path[..] {
                    "state.w" => [d, d],
                    _ => [10. * d, 0.],
                };
                assert_eq!(values(&survivor.buffer), wanted);
                assert_eq!(survivor.buffer.device(), client.devices()[survivor.device]);
            }
            // What was lent is there, and the next launch is right.
            assert!(g.iter().all(|g| values(g) == [1., 2.]));
            let (next, sum) = step.call((state(&client), &g)).expect("it is healed");
            assert_eq!(values(&sum), [3., 6.]);
            for (device, state) in next.iter().enumerate() {
                let d = device as f32;
                assert_eq!(values(&state.w), [d + 1., d + 2.]);
                assert_eq!(values(&state.v), [10. * d + 1., 2.]);
            }
            drop((next, sum, g, step, client));
            fake.assert_clean();
        }
    }
}

#[test]
fn a_refusal_leaves_no_device_out_of_step() {
    for platform in ["fake", "cpu"] {
        let fake = fake(platform);
        let client = client(&fake);
        let step = step(&client);
        let g = gradient(&client);
        for odd in 0..DEVICES {
            let mut parts = state(&client).into_inner();
            parts[odd].v = pair(&client, (odd + 1) % DEVICES, [0., 0.]);
            let error = step
                .call((PerDevice::from_parts(parts), &g))
                .expect_err("elsewhere");
            let text = error.to_string();
            assert!(!error.may_be_out_of_step() && error.is_refusal(), "{text}");
            assert!(!text.contains("some devices"), "{text}");
            assert!(text.contains(&format!("`state.v` (argument 1) of `step` on device {odd}")));
            let (state, ()) = error.into_given().expect("refused");
            assert_eq!(state.len(), DEVICES);
            assert_eq!(values(&state[odd].w), [odd as f32; 2]);
        }
        // An upload that failed, seen before the launch.
        fake.events(EventKind::Upload, Readiness::Failing(no_room()));
        let bad = pair(&client, 1, [5., 5.]);
        fake.events(EventKind::Upload, Readiness::Immediate);
        let mut parts = state(&client).into_inner();
        parts[1].w = bad;
        let error = step
            .call((PerDevice::from_parts(parts), &g))
            .expect_err("no values");
        assert!(error.is_refusal() && !error.may_be_out_of_step(), "{error}");
        let text = error.to_string();
        for words in ["`state.w` (argument 0)", "on device 1", "no room on demand"] {
            assert!(text.contains(words), "no `{words}` in: {text}");
        }
        let (state, ()) = error.into_given().expect("refused");
        assert_eq!(values(&state[2].v), [20., 0.]);
        assert_eq!(fake.count("PJRT_LoadedExecutable_Execute"), 0);
        drop((state, g, step, client));
        fake.assert_clean();
    }
}

#[test]
fn one_device_is_never_out_of_step() {
    let fake = fake("fake");
    let client = client(&fake);
    let one: ParallelFunction<(Give<Buffer>, Ref<Buffer>), Each<Buffer>> =
        compile(&client, session::STEP).parallel().expect("it fits");
    fake.fail("PJRT_LoadedExecutable_Execute", no_room().consuming(&[0]));
    let w = PerDevice::from_parts([pair(&client, 0, [1., 1.])]);
    let g = PerDevice::from_parts([pair(&client, 0, [1., 2.])]);
    let error = one.call((w, &g)).expect_err("it fails");
    assert!(
        !error.may_be_out_of_step() && !error.is_refusal(),
        "{error}"
    );
    assert!(!error.to_string().contains("some devices"), "{error}");
    assert_eq!((error.lost().len(), error.lost()[0].device), (1, 0));
    drop((error, g, one, client));
    fake.assert_clean();
}

#[test]
fn steps_leave_nothing_behind() {
    for platform in ["fake", "cpu"] {
        let fake = fake(platform);
        let client = client(&fake);
        let step = step(&client);
        let (mut state, g) = (state(&client), gradient(&client));
        for _ in 0..20 {
            let sum;
            (state, sum) = step.call((state, &g)).expect("runs");
            // Two of the state, one gradient on each device; one sum.
            assert_eq!(fake.live().buffers, 3 * DEVICES + 1);
            drop(sum);
        }
        assert_eq!(values(&state[2].w), [22., 42.]);
        let lent = fake.executions().pop().expect("runs");
        assert_eq!(lent.non_donatable_input_indices, [2]);
        assert_eq!(lent.num_devices, DEVICES);
        drop((state, g, step, client));
        fake.assert_clean();
    }
}

/// Places, copies, steps and reads on all devices.
fn session_on_many(fake: &Fake) -> Result<(), Error> {
    // SAFETY: the table is a fake's.
    let client = unsafe { Plugin::from_table(fake.table()) }?.client()?;
    let devices = client.devices();
    let host = HostArray::new(&[1f32, 2.], &[2])?.into();
    let program = xla::Program::from_text(STEP)?;
    let options = xla::CompileOptions::new();
    type Hosted = ParallelFunction<(Give<State>, Split<Buffer>), (Each<State>, One<Buffer>)>;
    let hosted: Hosted = client.compile(&program, &options)?.parallel()?;
    type Whole = ParallelFunction<(Give<State>, Same<Buffer>), Each<(State, Buffer)>>;
    let whole: Whole = client.compile(&program, &options)?.parallel()?;
    let w: PerDevice<Buffer> = PerDevice::replicate(&devices, &host)?;
    let v = PerDevice::replicate_tree(&devices, &w[1])?;
    let mut state = w.zip(v)?.map(|(w, v)| State { w, v });
    let rows = HostArray::new(&[1f32, 2., 3., 4., 5., 6.], &[6])?.into();
    let kept = state.copy_on_device()?;
    for _ in 0..2 {
        state = hosted.call((state, &rows))?.0;
    }
    let ((next, sums), report) = whole
        .call_reported((state, &host))
        .map(|(results, report)| {
            let (state, sums) = results.unzip();
            ((state, sums), report)
        })?;
    drop(report);
    next.wait()?;
    next.pending()?;
    kept.assert_replicas_equal()?;
    sums.assert_replicas_equal()?;
    assert_eq!(
        sums.stack()?.leaves()[0].to_vec::<f32>()?,
        [3., 6., 3., 6., 3., 6.]
    );
    assert_eq!(next[2].w.to_host::<f32>()?, [12., 16.]);
    assert_eq!(kept[1].v.to_host::<f32>()?, [1., 2.]);
    Ok(())
}

#[test]
fn whatever_fails_in_a_session_on_many_devices_nothing_is_left_behind() {
    for platform in ["fake", "cpu"] {
        let healthy = fake(platform);
        session_on_many(&healthy).expect("nothing fails");
        healthy.assert_clean();
        let mut calls = BTreeMap::new();
        for call in healthy.calls() {
            *calls.entry(call.entry).or_insert(0) += 1;
        }
        let mut failed = 0;
        for entry in ENTRIES.iter().filter(|entry| calls.contains_key(**entry)) {
            for number in 1..=calls[*entry] {
                for handles in [false, true] {
                    let fake = fake(platform);
                    let failure = no_room().on_call(number);
                    fake.fail(
                        entry,
                        if handles {
                            failure.with_handles()
                        } else {
                            failure
                        },
                    );
                    if let Err(error) = session_on_many(&fake) {
                        failed += 1;
                        let told = error.message().contains("no room on demand");
                        // An error's own entries are asked when there's one already.
                        assert!(told || entry.starts_with("PJRT_Error_"), "{entry}: {error}");
                    }
                    fake.assert_clean();
                }
            }
        }
        assert!(failed > 50, "{failed}");
    }
}
