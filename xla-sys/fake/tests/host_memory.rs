//! Host memory that is used in place, through the safe layer.

mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pjrt_fake::{Callbacks, Code, EventKind, Failure, Fake, Readiness};
use session::{client, compile, pair, STEP};
use xla::{Buffer, HostVec};

#[test]
fn owned_memory_follows_its_storage_into_the_output() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        let client = client(&fake);
        let device = client.device(0).expect("a device");
        let step = compile(&client, STEP);
        let g = pair(&client, 0, [1., 1.]);
        let values = HostVec::from_slice(&[1f32, 2.]);
        let address = values.as_ptr();
        let mut w = Buffer::from_host_vec(&device, values, &[2]).expect("an upload");
        assert!(w.is_zero_copy());
        for round in 1..4 {
            w = step
                .run((w, &g))
                .expect("it runs")
                .into_single()
                .expect("one");
            let view = w.view::<f32>().expect("it's on the host");
            assert_eq!(view.as_ptr(), address, "round {round}");
            assert_eq!(view[..], [1. + round as f32, 2. + round as f32]);
        }
        assert_eq!(fake.live().storages, 2);
        drop((w, g, step, device, client));
        fake.assert_clean();
    }
}

#[test]
fn lent_owned_memory_is_copied_from() {
    let fake = Fake::new();
    let client = client(&fake);
    let device = client.device(0).expect("a device");
    let step = compile(&client, STEP);
    let g = pair(&client, 0, [1., 1.]);
    let values = HostVec::from_slice(&[1f32, 2.]);
    let w = Buffer::from_host_vec(&device, values, &[2]).expect("an upload");
    let next = step
        .run((&w, &g))
        .expect("it runs")
        .into_single()
        .expect("one");
    assert_eq!(w.view::<f32>().expect("it's on the host")[..], [1., 2.]);
    assert_eq!(next.to_host::<f32>().expect("values"), [2., 3.]);
    drop((next, w, g, step, device, client));
    fake.assert_clean();
}

#[test]
fn a_failed_upload_gives_the_memory_back() {
    for with_handles in [false, true] {
        let fake = Fake::new();
        let client = client(&fake);
        let device = client.device(0).expect("a device");
        let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room");
        let failure = if with_handles {
            failure.with_handles()
        } else {
            failure
        };
        fake.fail("PJRT_Client_BufferFromHostBuffer", failure);
        let values = HostVec::from_slice(&[1f32, 2.]);
        let error = Buffer::from_host_vec(&device, values, &[2]).expect_err("it's made to fail");
        assert_eq!(error.error().code(), xla::Code::ResourceExhausted);
        assert_eq!(error.into_values()[..], [1., 2.]);
        drop((device, client));
        fake.assert_clean();
    }
}

#[test]
fn a_scope_ends_when_the_runs_have_ended() {
    let fake = Fake::new();
    let client = client(&fake);
    let device = client.device(0).expect("a device");
    let step = compile(&client, STEP);
    let w = pair(&client, 0, [1., 1.]);
    fake.events(EventKind::Output, Readiness::Held);
    let values = HostVec::from_slice(&[1f32, 2.]);
    let ended = AtomicBool::new(false);
    let output = thread::scope(|threads| {
        let scoped = threads.spawn(|| {
            let output = client.scope(|scope| {
                let g = scope.borrow(&device, &values, &[2]).expect("it's lent");
                assert!(g.is_zero_copy());
                step.run((w, g))
                    .expect("it starts")
                    .into_single()
                    .expect("one")
            });
            ended.store(true, Ordering::SeqCst);
            output
        });
        while fake.held() == 0 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20));
        assert!(!ended.load(Ordering::SeqCst), "the run reads the memory");
        fake.release_events();
        scoped.join().expect("no panic")
    });
    assert_eq!(output.to_host::<f32>().expect("values"), [2., 3.]);
    drop((output, step, device, client));
    fake.assert_clean();
}

#[test]
fn a_scope_that_panics_is_left_clean() {
    let fake = Fake::new();
    let client = client(&fake);
    let device = client.device(0).expect("a device");
    let values = HostVec::from_slice(&[1f32, 2.]);
    let work = || {
        client.scope(|scope| {
            for _ in 0..3 {
                scope.borrow(&device, &values, &[2]).expect("it's lent");
            }
            panic!("on purpose");
        })
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    assert!(outcome.is_err());
    assert_eq!((fake.live().buffers, fake.live().storages), (0, 0));
    drop((device, client));
    fake.assert_clean();
}

#[test]
fn an_end_of_use_with_an_error_is_an_end() {
    let fake = Fake::new();
    fake.events(
        EventKind::HostDone,
        Readiness::Failing(Failure::new(Code::ABORTED, "the transfer was cut")),
    );
    let client = client(&fake);
    let device = client.device(0).expect("a device");
    let values = HostVec::from_slice(&[1f32, 2.]);
    drop(Buffer::from_host_vec(&device, values, &[2]).expect("an upload"));
    let values = HostVec::from_slice(&[1f32, 2.]);
    client.scope(|scope| {
        scope.borrow(&device, &values, &[2]).expect("it's lent");
    });
    drop((device, client));
    fake.assert_clean();
}

/// What follows from a shape and its order is asked once on a CPU, whose memories are all the
/// host's; elsewhere of each buffer.
#[test]
fn questions_about_a_shape_are_asked_once_on_a_cpu() {
    let asked = |fake: &Fake| {
        [
            "PJRT_Buffer_IsOnCpu",
            "PJRT_Buffer_OnDeviceSizeInBytes",
            "PJRT_Buffer_UnsafePointer",
        ]
        .map(|entry| {
            fake.calls()
                .iter()
                .filter(|call| call.entry == entry)
                .count()
        })
    };
    for platform in ["cpu", "fake"] {
        let fake = Fake::builder().platform(platform).build();
        let client = client(&fake);
        let device = client.device(0).expect("a device");
        let is_cpu = platform == "cpu";
        // Each view asks where the values lie.
        for round in 1..4 {
            let copy = Buffer::from_host(&device, &[1f32, 2.], &[2]).expect("an upload");
            assert_eq!(copy.view::<f32>().expect("it's on the host")[..], [1., 2.]);
            let once = if is_cpu { 1 } else { round };
            assert_eq!(asked(&fake), [once, once, round], "{platform}");
        }
        // As many bytes, but another shape.
        let copy = Buffer::from_host(&device, &[1f32, 2.], &[1, 2]).expect("an upload");
        assert_eq!(copy.view::<f32>().expect("it's on the host")[..], [1., 2.]);
        let again = if is_cpu { 2 } else { 4 };
        assert_eq!(asked(&fake), [again, again, 4], "{platform}");
        // Whether it shares what is lent, and what is given, is a question each.
        let values = HostVec::from_slice(&[1f32, 2.]);
        for round in 1..4 {
            client.scope(|scope| {
                let lent = scope.borrow(&device, &values, &[2]).expect("it's lent");
                assert!(lent.is_zero_copy());
            });
            let given = HostVec::from_slice(&[1f32, 2.]);
            let given = Buffer::from_host_vec(&device, given, &[2]).expect("an upload");
            assert!(given.is_zero_copy());
            let shared = if is_cpu { 2 } else { 2 * round };
            assert_eq!(asked(&fake), [again, again, 4 + shared], "{platform}");
        }
        drop((copy, device, client));
        fake.assert_clean();
    }
}

/// All handles of a scope go before it waits for one of them, whatever their number.
#[test]
fn a_scope_gives_all_handles_back_before_it_waits() {
    for count in [1, 4, 5, 9] {
        let fake = Fake::new();
        let client = client(&fake);
        let device = client.device(0).expect("a device");
        let values = HostVec::from_slice(&[1f32, 2.]);
        client.scope(|scope| {
            for _ in 0..count {
                let lent = scope.borrow(&device, &values, &[2]).expect("it's lent");
                assert!(lent.is_zero_copy());
            }
        });
        let calls = fake.calls();
        let places = |entry: &str| -> Vec<usize> {
            let calls = calls.iter().enumerate();
            let calls = calls.filter(|(_, call)| call.entry == entry);
            calls.map(|(place, _)| place).collect()
        };
        let (gone, awaited) = (places("PJRT_Buffer_Destroy"), places("PJRT_Event_Await"));
        assert_eq!((gone.len(), awaited.len()), (count, count));
        assert!(gone.iter().max() < awaited.iter().min(), "{count}");
        drop((device, client));
        fake.assert_clean();
    }
}
