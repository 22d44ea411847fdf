//! Events that are late, never come, or bring an error; callbacks on either thread.

mod session;

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use pjrt_fake::{Callbacks, Code, EventKind, Failure, Fake, Live, Readiness};
use session::{client, compile, pair, STEP};
use xla::Client;

const SOON: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(60);

fn lost() -> Failure {
    Failure::new(Code::DATA_LOSS, "lost on the way").payload("type.example/Cause", *b"x")
}

#[test]
fn a_dropped_read_keeps_its_destination_and_the_client() {
    let fake = Fake::new();
    fake.events(EventKind::Read, Readiness::Held);
    let client = client(&fake);
    let buffer = pair(&client, 0, [1., 2.]);
    let read = buffer.to_host_async::<f32>().expect("it starts");
    drop((buffer, read));
    drop(client);
    // The copy is under way: the client is needed. Its handles aren't.
    let pending = |live: Live| live.clients == 1 && live.buffers == 0 && live.events == 0;
    assert!(fake.wait_for(LONG, pending), "{:?}", fake.live());
    assert_eq!(fake.count("PJRT_Client_Destroy"), 0);
    // Writes to the destination.
    fake.release_events();
    fake.assert_clean();
    assert_eq!(fake.count("PJRT_Client_Destroy"), 1);
}

#[test]
fn a_wait_with_a_timeout_ends() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        fake.events(EventKind::Read, Readiness::Held);
        let client = client(&fake);
        let buffer = pair(&client, 0, [1., 2.]);
        let read = buffer.to_host_async::<f32>().expect("it starts");
        assert!(!read.wait_timeout(SOON).expect("nothing failed"));
        assert!(!read.wait_timeout(SOON).expect("nothing failed"));
        assert_eq!(
            fake.count("PJRT_Event_OnReady"),
            1,
            "one callback is enough"
        );
        fake.release_events();
        assert!(read.wait_timeout(LONG).expect("nothing failed"));
        assert_eq!(read.wait().expect("values"), [1., 2.]);
        drop((buffer, client));
        fake.assert_clean();
    }
}

#[test]
fn an_event_that_never_comes_keeps_nobody_waiting() {
    let fake = Fake::new();
    fake.events(EventKind::Upload, Readiness::Never);
    let client = client(&fake);
    let buffer = pair(&client, 0, [1., 2.]);
    assert!(!buffer.is_ready().expect("it can be asked"));
    let ready = buffer.ready().expect("there's an event");
    assert!(!ready.wait_timeout(SOON).expect("nothing failed"));
    // The read waits for the values; without the buffer it still does.
    let read = buffer.to_host_async::<f32>().expect("it starts");
    drop((ready, read, buffer, client));
    let pending = |live: Live| live.buffers == 0 && live.events == 0;
    assert!(fake.wait_for(LONG, pending), "{:?}", fake.live());
    assert_eq!(fake.live().clients, 1);
    assert!(fake.violations().is_empty(), "{:#?}", fake.violations());
}

#[test]
fn values_wait_for_what_they_are_made_of() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let g = pair(&client, 0, [1., 1.]);
    fake.events(EventKind::Upload, Readiness::Held);
    let w = pair(&client, 0, [1., 2.]);
    let before = w.to_host_async::<f32>().expect("it starts");
    let w = step
        .run((w, &g))
        .expect("it starts")
        .into_single()
        .expect("one");
    let w = step
        .run((w, &g))
        .expect("it starts")
        .into_single()
        .expect("one");
    assert!(!w.is_ready().expect("it can be asked"));
    fake.release_events();
    assert!(w.is_ready().expect("it can be asked"));
    assert_eq!(w.to_host::<f32>().expect("values"), [3., 4.]);
    // Asked for before the donation: the values of then.
    assert_eq!(before.wait().expect("values"), [1., 2.]);
    drop((w, g, step, client));
    fake.assert_clean();
}

#[test]
fn errors_come_with_events() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        let client = client(&fake);
        let buffer = pair(&client, 0, [1., 2.]);
        fake.events(EventKind::Read, Readiness::Failing(lost()));
        let error = buffer.to_host::<f32>().expect_err("the read fails");
        assert_eq!(
            (error.code(), error.message()),
            (xla::Code::DataLoss, "lost on the way")
        );
        assert_eq!(error.payloads().len(), 1);
        assert!(buffer.read_into(&mut [0f32; 2]).is_err());
        let read = buffer.to_host_async::<f32>().expect("it starts");
        assert!(read.wait_timeout(LONG).is_err());
        drop(read);

        // Through a callback: the values come late, and then the read fails.
        fake.events(EventKind::Upload, Readiness::Held);
        let late = pair(&client, 0, [1., 2.]);
        let read = late.to_host_async::<f32>().expect("it starts");
        assert!(!read.wait_timeout(SOON).expect("nothing failed yet"));
        fake.release_events();
        let error = read.wait_timeout(LONG).expect_err("the read fails");
        assert_eq!(
            (error.code(), error.payloads().len()),
            (xla::Code::DataLoss, 1)
        );
        assert!(read.wait().is_err());

        fake.events(EventKind::Upload, Readiness::Failing(lost()));
        let failed = pair(&client, 0, [1., 2.]);
        assert!(failed.wait().is_err());
        assert!(failed.is_ready().expect("it can be asked"));
        drop((failed, late, buffer, client));
        fake.assert_clean();
    }
}

#[test]
fn a_run_can_fail_after_its_call() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let g = pair(&client, 0, [1., 1.]);
    fake.fail_outputs(lost());
    let w = pair(&client, 0, [1., 2.]);
    let failed = step
        .run((w, &g))
        .expect("the call is fine")
        .into_single()
        .expect("one");
    assert_eq!(
        failed.to_host::<f32>().expect_err("no values").code(),
        xla::Code::DataLoss
    );
    assert_eq!(fake.live().storages, 2, "the weights are gone");
    // A run with an error buffer is fine too, and its output has the first cause.
    fake.events(EventKind::Output, Readiness::Immediate);
    let next = step
        .run((failed, &g))
        .expect("the call is fine")
        .into_single()
        .expect("one");
    assert_eq!(
        next.to_host::<f32>().expect_err("no values").message(),
        "lost on the way"
    );
    drop((next, g, step, client));
    fake.assert_clean();
}

/// Panics when it's woken.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics, on purpose");
    }
}

#[test]
fn a_waker_that_panics_keeps_no_other_from_being_woken() {
    let fake = Fake::new();
    fake.events(EventKind::Upload, Readiness::Held);
    let client = client(&fake);
    let buffer = pair(&client, 0, [1., 2.]);
    let ready = buffer.ready().expect("there's an event");
    let holder = Arc::new(LastHolder {
        client: Mutex::new(None),
        woken: AtomicUsize::new(0),
    });
    for waker in [
        Waker::from(Arc::new(Panics)),
        Waker::from(Arc::clone(&holder)),
    ] {
        assert!(pin!(&ready)
            .poll(&mut Context::from_waker(&waker))
            .is_pending());
    }
    fake.release_events();
    let start = std::time::Instant::now();
    while holder.woken.load(Ordering::SeqCst) == 0 {
        assert!(start.elapsed() < LONG, "the second waker is never woken");
        thread::yield_now();
    }
    drop((ready, buffer, client));
    fake.assert_clean();
}

/// Holds a client, and drops it when it's woken.
struct LastHolder {
    client: Mutex<Option<Client>>,
    woken: AtomicUsize,
}

impl Wake for LastHolder {
    fn wake(self: Arc<Self>) {
        drop(self.client.lock().expect("no panic").take());
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_waker_may_drop_the_client_last() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        fake.events(EventKind::Read, Readiness::Held);
        let client = client(&fake);
        let buffer = pair(&client, 0, [1., 2.]);
        let holder = Arc::new(LastHolder {
            client: Mutex::new(Some(client)),
            woken: AtomicUsize::new(0),
        });
        {
            let mut read = pin!(buffer.to_host_async::<f32>().expect("it starts"));
            let waker = Waker::from(Arc::clone(&holder));
            assert!(read
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending());
        }
        drop(buffer);
        fake.release_events();
        fake.assert_clean();
        assert_eq!(holder.woken.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_future_gives_the_values() {
    for callbacks in [Callbacks::Inline, Callbacks::OnThread] {
        let fake = Fake::new();
        fake.callbacks(callbacks);
        fake.events(EventKind::Read, Readiness::Held);
        let client = client(&fake);
        let buffer = pair(&client, 0, [1., 2.]);
        let holder = Arc::new(LastHolder {
            client: Mutex::new(None),
            woken: AtomicUsize::new(0),
        });
        let waker = Waker::from(Arc::clone(&holder));
        let mut context = Context::from_waker(&waker);
        let mut read = pin!(buffer.to_host_async::<f32>().expect("it starts"));
        assert!(read.as_mut().poll(&mut context).is_pending());
        assert!(read.as_mut().poll(&mut context).is_pending());
        fake.release_events();
        while holder.woken.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        match read.as_mut().poll(&mut context) {
            Poll::Ready(values) => assert_eq!(values.expect("values"), [1., 2.]),
            Poll::Pending => panic!("it was woken, and isn't ready"),
        }
        assert_eq!(
            holder.woken.load(Ordering::SeqCst),
            1,
            "a waker is woken once"
        );
        drop((buffer, client));
        fake.assert_clean();
    }
}
