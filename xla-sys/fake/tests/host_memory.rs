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
