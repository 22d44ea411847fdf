//! Handles and their lifetimes, on a real CPU plugin.
//!
//! What the runtime does, and what these tests hold against it: a buffer that is used
//! after its client was destroyed is a segfault, and so is a client that is destroyed
//! with a copy to the host under way; a client that is destroyed inside an event's
//! callback waits for itself for ever; destroying a client waits for its runs.

mod cpu;

use std::future::Future;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use cpu::{
    client, compiled, compiled_text, device, failing, in_child, until_idle, until_pending, values,
    vector, SLOW, SLOW_LENGTH,
};
use xla::{Buffer, CallError, Client, Code, Device, Error, Event, Executable, HostRead, Outputs};

/// Much longer than anything here takes.
const LONG: Duration = Duration::from_secs(100);

/// `SLOW` with its argument, ready to be started.
struct Slow {
    executable: Executable,
    x: Buffer,
    device: Device,
}

impl Slow {
    fn on(client: &Client) -> Slow {
        let device = device(client, 0);
        let x = vector(&device, &[1.; SLOW_LENGTH]);
        x.wait().expect("there");
        Slow {
            executable: compiled_text(client, SLOW),
            x,
            device,
        }
    }

    fn start(&self, rounds: i32) -> Buffer {
        let n = Buffer::scalar(&self.device, rounds).expect("a number");
        let outputs = self.executable.run((&self.x, n)).expect("runs");
        outputs.into_single().expect("one")
    }
}

fn sum(rounds: i32) -> [f32; SLOW_LENGTH] {
    [rounds as f32 + 1.; SLOW_LENGTH]
}

fn pending(buffer: &Buffer) -> bool {
    !buffer.is_ready().expect("known")
}

/// Wakes a thread and counts how often it did.
struct Unpark {
    thread: Thread,
    count: AtomicUsize,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Unpark {
    /// Waits on its own thread until it has woken it.
    #[track_caller]
    fn wait(&self) {
        let deadline = Instant::now() + LONG;
        while self.count.load(Ordering::SeqCst) == 0 {
            assert!(Instant::now() < deadline, "never woken");
            thread::park_timeout(Duration::from_secs(1));
        }
    }
}

fn unpark() -> Arc<Unpark> {
    Arc::new(Unpark {
        thread: thread::current(),
        count: AtomicUsize::new(0),
    })
}

/// The smallest executor there is: polls again only when it was woken.
#[track_caller]
fn block_on<F: Future>(future: F) -> F::Output {
    let task = unpark();
    let waker = Waker::from(Arc::clone(&task));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        task.wait();
        task.count.store(0, Ordering::SeqCst);
    }
}

fn poll_once<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

// Every handle keeps the client.

#[test]
fn a_buffer_outlives_the_name_of_its_client() {
    let client = client(2);
    let device = device(&client, 1);
    let x = vector(&device, &[1., 2., 3.]);
    drop((client, device));
    assert_eq!(values(&x), [1., 2., 3.]);
    assert_eq!(x.client().device_count(), 2);
    let again = vector(&x.device(), &[4.]);
    drop(x);
    assert_eq!(values(&again), [4.]);
}

#[test]
fn an_executable_outlives_the_name_of_its_client() {
    let client = client(1);
    let counter = compiled(&client, "counter");
    drop(client);
    let client = counter.client();
    let count = Buffer::scalar(&device(&client, 0), 1f32).expect("a number");
    drop(client);
    let count = counter
        .run(count)
        .expect("runs")
        .into_single()
        .expect("one");
    assert_eq!(count.to_scalar::<f32>().expect("a number"), 2.);
}

#[test]
fn outputs_outlive_the_executable_that_made_them() {
    let client = client(1);
    let slow = Slow::on(&client);
    drop(client);
    until_pending(|rounds| {
        let output = slow.start(rounds);
        let again = slow.executable.client();
        let other = Slow::on(&again);
        let other_output = other.start(rounds);
        let was_pending = pending(&other_output);
        drop((again, other));
        assert_eq!(values(&other_output), sum(rounds));
        assert_eq!(values(&output), sum(rounds));
        was_pending
    });
}

#[test]
fn an_event_is_all_that_need_be_left() {
    until_pending(|rounds| {
        let slow = Slow::on(&client(1));
        let output = slow.start(rounds);
        let ready = output.ready().expect("an event");
        drop((output, slow));
        let was_pending = !ready.is_ready().expect("known");
        ready.wait().expect("well");
        assert!(ready.is_ready().expect("known"));
        was_pending
    });
}

#[test]
fn devices_memories_and_clients_outlive_each_other() {
    let client = client(3);
    let device = device(&client, 2);
    let memory = device.default_memory().expect("a memory");
    drop(client);
    assert_eq!(device.client().device_count(), 3);
    let id = device.id();
    drop(device);
    assert!(memory.devices().iter().any(|device| device.id() == id));
    let x = Buffer::from_host(&memory, &[7f32], &[1]).expect("room");
    drop(memory);
    assert_eq!(values(&x), [7.]);
}

#[test]
fn a_read_is_all_that_need_be_left() {
    until_pending(|rounds| {
        let slow = Slow::on(&client(1));
        let output = slow.start(rounds);
        let was_pending = pending(&output);
        let read = output.to_host_async::<f32>().expect("starts");
        drop((output, slow));
        assert_eq!(read.wait().expect("values"), sum(rounds));
        was_pending
    });
}

#[test]
fn clients_come_and_go() {
    for round in 0..30 {
        let client = client(1 + round % 4);
        let counter = compiled(&client, "counter");
        let count = Buffer::scalar(&device(&client, 0), round as f32).expect("a number");
        let count = counter
            .run(count)
            .expect("runs")
            .into_single()
            .expect("one");
        assert_eq!(
            count.to_scalar::<f32>().expect("a number"),
            round as f32 + 1.
        );
    }
}

#[test]
fn clients_come_and_go_on_many_threads() {
    thread::scope(|scope| {
        for start in 0..4 {
            scope.spawn(move || {
                for round in 0..8 {
                    let client = client(1 + round % 3);
                    let counter = compiled(&client, "counter");
                    let device = device(&client, 0);
                    let mut count = Buffer::scalar(&device, start as f32).expect("a number");
                    for _ in 0..50 {
                        count = counter
                            .run(count)
                            .expect("runs")
                            .into_single()
                            .expect("one");
                    }
                    drop((client, device, counter));
                    let counted = count.to_scalar::<f32>().expect("a number");
                    assert_eq!(counted, start as f32 + 50.);
                }
            });
        }
    });
}

#[test]
fn two_clients_don_t_know_each_other() {
    let (one, other) = (client(1), client(1));
    assert_ne!(one, other);
    assert_ne!(device(&one, 0), device(&other, 0));
    assert_eq!(one, one.clone());
    assert_eq!(one, device(&one, 0).client());
}

// Dropped while something is under way.

#[test]
fn arguments_outputs_and_programs_may_be_dropped_while_a_run_goes_on() {
    until_pending(|rounds| {
        let client = client(1);
        let slow = Slow::on(&client);
        let kept = slow.start(rounds);
        drop(slow.start(rounds));
        let was_pending = pending(&kept);
        drop(slow);
        drop(client);
        assert_eq!(values(&kept), sum(rounds));
        was_pending
    });
}

#[test]
fn a_client_may_go_away_while_a_run_goes_on() {
    let test = "a_client_may_go_away_while_a_run_goes_on";
    in_child(test, || {
        until_pending(|rounds| {
            let client = client(1);
            let slow = Slow::on(&client);
            let output = slow.start(rounds);
            let was_pending = pending(&output);
            drop((output, slow, client));
            was_pending
        });
        // The last thing that this process does is to drop a client at work.
        let slow = Slow::on(&client(1));
        slow.start(50_000);
        slow.start(50_000);
    })
    .check_well();
}

#[test]
fn a_pending_read_may_be_the_last_that_is_dropped() {
    let test = "a_pending_read_may_be_the_last_that_is_dropped";
    in_child(test, || {
        until_pending(|rounds| {
            let slow = Slow::on(&client(1));
            let output = slow.start(rounds);
            let was_pending = pending(&output);
            let read = output.to_host_async::<f32>().expect("starts");
            drop((output, slow));
            drop(read);
            was_pending
        });
        for _ in 0..30 {
            // Large, so that the copy is still going on.
            let x = vector(&device(&client(1), 0), &[1.; 1 << 18]);
            let read = x.to_host_async::<f32>().expect("starts");
            drop(x);
            drop(read);
        }
    })
    .check_well();
}

#[test]
fn reads_may_be_dropped_early_over_and_over() {
    let client = client(1);
    let device = device(&client, 0);
    let x = vector(&device, &[1.; 1 << 16]);
    for round in 0..300 {
        let read = x.to_host_async::<f32>().expect("starts");
        if round % 3 == 0 {
            drop(read);
        } else if round % 3 == 1 {
            let mut read = read;
            let _ = poll_once(&mut read, &Waker::from(unpark()));
        } else {
            let _ = read.wait_timeout(Duration::ZERO).expect("no failure");
        }
    }
    assert_eq!(values(&x), [1.; 1 << 16]);
}

#[test]
fn reads_may_be_dropped_early_on_many_threads_at_once() {
    let test = "reads_may_be_dropped_early_on_many_threads_at_once";
    in_child(test, || {
        for _ in 0..10 {
            let x = Arc::new(vector(&device(&client(1), 0), &[1.; 1 << 16]));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let x = Arc::clone(&x);
                    thread::spawn(move || {
                        for _ in 0..10 {
                            drop(x.to_host_async::<f32>().expect("starts"));
                        }
                        // One that outlives the buffer, and is dropped elsewhere.
                        x.to_host_async::<f32>().expect("starts")
                    })
                })
                .collect();
            drop(x);
            for thread in threads {
                drop(thread.join().expect("no panic"));
            }
        }
    })
    .check_well();
}

#[test]
fn a_dropped_read_writes_into_nobody_s_memory() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let output = slow.start(rounds);
        for _ in 0..8 {
            drop(output.to_host_async::<f32>().expect("starts"));
        }
        let was_pending = pending(&output);
        // Would lie where the reads were to go, if that were free.
        let others: Vec<Vec<f32>> = (0..64).map(|_| vec![7.; SLOW_LENGTH]).collect();
        assert_eq!(values(&output), sum(rounds));
        assert!(others.iter().flatten().all(|other| *other == 7.));
        was_pending
    });
}

#[test]
fn a_read_that_is_forgotten_hurts_nobody() {
    let test = "a_read_that_is_forgotten_hurts_nobody";
    in_child(test, || {
        let client = client(1);
        let x = vector(&device(&client, 0), &[1.; 1 << 16]);
        for _ in 0..20 {
            std::mem::forget(x.to_host_async::<f32>().expect("starts"));
        }
        drop(client);
        assert_eq!(values(&x), [1.; 1 << 16]);
    })
    .check_well();
}

// Waiting.

#[test]
fn a_wait_with_a_timeout_tells_pending_from_done() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let output = slow.start(rounds);
        let ready = output.ready().expect("an event");
        let short = Duration::from_micros(200);
        let seen_pending = !ready.wait_timeout(short).expect("no failure");
        assert!(ready.wait_timeout(LONG).expect("no failure"), "it hangs");
        assert!(ready.is_ready().expect("known"));
        // Fired, it says so whatever the timeout.
        assert!(ready.wait_timeout(Duration::ZERO).expect("no failure"));
        assert!(ready.wait_timeout(Duration::MAX).expect("no failure"));
        ready.wait().expect("no failure");
        assert_eq!(values(&output), sum(rounds));
        seen_pending
    });
}

#[test]
fn a_wait_for_longer_than_the_clock_counts_ends_all_the_same() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let ready = slow.start(rounds).ready().expect("an event");
        let was_pending = !ready.is_ready().expect("known");
        assert!(ready.wait_timeout(Duration::MAX).expect("no failure"));
        was_pending
    });
}

#[test]
fn a_read_with_a_timeout_tells_pending_from_done() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let read = slow.start(rounds).to_host_async::<f32>().expect("starts");
        let short = Duration::from_micros(200);
        let seen_pending = !read.wait_timeout(short).expect("no failure");
        assert!(read.wait_timeout(LONG).expect("no failure"), "it hangs");
        assert_eq!(read.wait().expect("values"), sum(rounds));
        seen_pending
    });
}

#[test]
fn many_threads_may_wait_for_one_event() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let ready = slow.start(rounds).ready().expect("an event");
        thread::scope(|scope| {
            for way in 0..6 {
                let ready = &ready;
                scope.spawn(move || match way % 3 {
                    0 => ready.wait().expect("no failure"),
                    1 => assert!(ready.wait_timeout(LONG).expect("no failure")),
                    _ => block_on(ready).expect("no failure"),
                });
            }
            !ready.is_ready().expect("known")
        })
    });
}

#[test]
fn an_event_is_a_future() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let output = slow.start(rounds);
        let mut ready = output.ready().expect("an event");
        let noted = unpark();
        let first = poll_once(&mut ready, &Waker::from(Arc::clone(&noted)));
        let was_pending = first.is_pending();
        if let Poll::Ready(outcome) = first {
            outcome.expect("no failure");
        } else {
            // Wakes after it was polled as pending, once, and is ready then.
            noted.wait();
            assert!(ready.is_ready().expect("known"));
        }
        block_on(&ready).expect("no failure");
        block_on(ready).expect("no failure");
        assert!(noted.count.load(Ordering::SeqCst) <= 1);
        assert_eq!(values(&output), sum(rounds));
        was_pending
    });
}

#[test]
fn every_task_that_polls_an_event_is_woken() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let ready = slow.start(rounds).ready().expect("an event");
        let tasks: Vec<_> = (0..3).map(|_| unpark()).collect();
        let mut was_pending = true;
        for _ in 0..2 {
            for task in &tasks {
                let waker = Waker::from(Arc::clone(task));
                was_pending &= poll_once(&mut &ready, &waker).is_pending();
            }
        }
        ready.wait().expect("no failure");
        if was_pending {
            for task in &tasks {
                task.wait();
            }
        }
        was_pending
    });
}

#[test]
fn a_read_is_a_future() {
    let client = client(1);
    let slow = Slow::on(&client);
    until_pending(|rounds| {
        let output = slow.start(rounds);
        let was_pending = pending(&output);
        let read = output.to_host_async::<f32>().expect("starts");
        assert_eq!(block_on(read).expect("values"), sum(rounds));
        was_pending
    });
}

#[test]
fn a_read_that_was_handed_out_says_so() {
    let client = client(1);
    let x = vector(&device(&client, 0), &[1., 2.]);
    let mut read = x.to_host_async::<f32>().expect("starts");
    assert_eq!(block_on(&mut read).expect("values"), [1., 2.]);
    let error = block_on(&mut read).expect_err("handed out");
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(read
        .wait_timeout(Duration::ZERO)
        .expect("nothing to wait for"));
    let error = read.wait().expect_err("handed out");
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
}

#[test]
fn every_way_of_waiting_reports_a_failure() {
    let client = client(1);
    let output = failing(&client, &device(&client, 0));
    let says = |error: Error| {
        assert!(error.message().contains("Out of memory"), "{error}");
    };
    let event = || output.ready().expect("an event");
    let read = || output.to_host_async::<f32>().expect("starts");
    says(event().wait().expect_err("failed"));
    says(event().wait_timeout(LONG).expect_err("failed"));
    says(block_on(event()).expect_err("failed"));
    says(block_on(&event()).expect_err("failed"));
    says(output.wait().expect_err("failed"));
    says(read().wait_timeout(LONG).expect_err("failed"));
    says(read().wait().expect_err("failed"));
    says(block_on(read()).expect_err("failed"));
    // Dropped without being asked.
    drop((event(), read()));
}

/// Holds the client until it is woken, and whoever drops it last drops the client.
struct Holder {
    held: Mutex<Option<(Client, mpsc::Sender<Thread>)>>,
}

impl Wake for Holder {
    fn wake(self: Arc<Self>) {
        let held = self.held.lock().expect("no panic").take();
        if let Some((client, told)) = held {
            drop(client);
            let _ = told.send(thread::current());
        }
    }
}

#[test]
fn a_waker_may_hold_the_last_of_a_client() {
    // The callback comes from inside the runtime, where destroying the client hangs.
    let test = "a_waker_may_hold_the_last_of_a_client";
    in_child(test, || {
        until_pending(|rounds| {
            let client = client(1);
            let slow = Slow::on(&client);
            let output = slow.start(rounds);
            let mut ready = output.ready().expect("an event");
            drop((output, slow));
            let (told, tells) = mpsc::channel();
            let waker = Waker::from(Arc::new(Holder {
                held: Mutex::new(Some((client, told))),
            }));
            let was_pending = poll_once(&mut ready, &waker).is_pending();
            drop((waker, ready));
            if was_pending {
                let thread = tells
                    .recv_timeout(LONG)
                    .expect("woken, and the client dropped");
                assert_eq!(thread.name(), Some("xla-reaper"));
            }
            was_pending
        });
        // The reaper is about to destroy the client, and 0.106 aborts where the process ends
        // under it.
        until_idle();
    })
    .check_well();
}

#[test]
fn a_waker_that_panics_harms_no_other() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("as a waker might");
        }
    }
    // In a child, to keep the panic's words out of the way.
    let test = "a_waker_that_panics_harms_no_other";
    in_child(test, || {
        let client = client(1);
        let slow = Slow::on(&client);
        until_pending(|rounds| {
            let ready = slow.start(rounds).ready().expect("an event");
            let panics = Waker::from(Arc::new(Panics));
            let task = unpark();
            let mut was_pending = poll_once(&mut &ready, &panics).is_pending();
            was_pending &= poll_once(&mut &ready, &Waker::from(Arc::clone(&task))).is_pending();
            // Another task that waits for the same.
            if was_pending {
                task.wait();
            }
            // And one that waits for something else, later.
            let other = slow.start(rounds).to_host_async::<f32>().expect("starts");
            assert_eq!(block_on(other).expect("values"), sum(rounds));
            block_on(ready).expect("no failure");
            was_pending
        });
    })
    .check_well();
}

#[test]
fn a_process_may_end_when_all_handles_are_dropped() {
    let test = "a_process_may_end_when_all_handles_are_dropped";
    for _ in 0..3 {
        in_child(test, || {
            let client = client(4);
            let slow = Slow::on(&client);
            for _ in 0..20 {
                let output = slow.start(2_000);
                drop(output.to_host_async::<f32>().expect("starts"));
            }
        })
        .check_well();
    }
}

// Threads.

#[test]
fn many_threads_may_run_one_executable() {
    let client = client(1);
    let device = device(&client, 0);
    let step = compiled(&client, "sgd_step");
    let g = vector(&device, &[8., 16., 24., 32.]);
    thread::scope(|scope| {
        for start in 0..8 {
            let (step, device, g) = (&step, &device, &g);
            scope.spawn(move || {
                let start = start as f32 * 10_000.;
                let mut w = vector(device, &[start; 4]);
                for round in 0..200 {
                    if round % 5 == 0 {
                        // Lent in between.
                        step.run((&w, g)).expect("runs");
                    }
                    w = step.run((w, g)).expect("runs").into_single().expect("one");
                }
                let wanted = [start - 200., start - 400., start - 600., start - 800.];
                assert_eq!(values(&w), wanted);
            });
        }
    });
    assert_eq!(values(&g), [8., 16., 24., 32.]);
}

#[test]
fn many_threads_may_read_and_lend_one_buffer() {
    let client = client(1);
    let x = vector(&device(&client, 0), &[1.; 4096]);
    let slow = compiled_text(&client, SLOW);
    let n = Buffer::scalar(&x.device(), 7).expect("a number");
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..40 {
                    assert_eq!(values(&x), [1.; 4096]);
                    let output = slow.run((&x, &n)).expect("runs");
                    assert_eq!(values(&output[0]), [8.; 4096]);
                }
            });
        }
    });
}

#[test]
fn a_buffer_may_be_made_given_and_read_on_three_threads() {
    let client = client(1);
    let counter = compiled(&client, "counter");
    let (made, makes) = mpsc::channel::<Buffer>();
    let (counted, counts) = mpsc::channel::<Buffer>();
    thread::scope(|scope| {
        let device = device(&client, 0);
        scope.spawn(move || {
            for value in 0..200 {
                let buffer = Buffer::scalar(&device, value as f32).expect("a number");
                made.send(buffer).expect("taken");
            }
        });
        scope.spawn(move || {
            for buffer in makes {
                let outputs = counter.run(buffer).expect("runs");
                counted
                    .send(outputs.into_single().expect("one"))
                    .expect("taken");
            }
        });
        for (value, buffer) in counts.into_iter().enumerate() {
            assert_eq!(
                buffer.to_scalar::<f32>().expect("a number"),
                value as f32 + 1.
            );
        }
    });
}

#[test]
fn handles_may_be_dropped_on_other_threads_than_they_were_made_on() {
    for _ in 0..10 {
        let client = client(2);
        let slow = Slow::on(&client);
        let output = slow.start(1000);
        let ready = output.ready().expect("an event");
        let read = output.to_host_async::<f32>().expect("starts");
        let threads = [
            thread::spawn(move || drop(slow)),
            thread::spawn(move || drop(client)),
            thread::spawn(move || drop(output)),
            thread::spawn(move || drop(read)),
            thread::spawn(move || drop(ready)),
        ];
        for thread in threads {
            thread.join().expect("no panic");
        }
    }
}

// What the types promise.

fn is_send_and_sync<T: Send + Sync>() {}

fn is_static<T: 'static>() {}

macro_rules! markers {
    ($($type:ident $(<$of:tt>)?),* $(,)?) => {
        /// Doesn't compile when a type loses a marker.
        fn check_markers() -> Vec<&'static str> {
            $(is_send_and_sync::<xla::$type $(<$of>)?>();)*
            vec![$(stringify!($type)),*]
        }
    };
}

markers! {
    Argument<'static>, ArgumentList<'static>, Block, Buffer, CallError, ChunkedUpload, Client,
    ClientOptions, Code, CompileCache, CompileCacheEntry, CompileCacheStats, CompileOptions,
    CompiledProgram, Complex<f32>, Device, DeviceAccount, DeviceAssignment, Donation,
    DonationAdvice, DonationComparison, DonationPair, DonationReport, Each<Buffer>, ElementType,
    Error, Event, Executable, ExecutableHeader, ExecutableMemoryStats, F4E2M1FN, F8E3M4, F8E4M3,
    F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, FunctionError<Buffer>,
    GivenBack, GivenLeaf, GpuTarget, HostArray<'static>, HostRead<f32>, HostValues<f32>,
    HostVec<f32>, HostVecError<f32>, Input, LabelAccount, Layout, Lost, LostLeaf, Memory,
    MemoryAccount, MemoryStats, One<Buffer>, OptionValue, Output, Outputs, Pairing, Part<Buffer>,
    PerDevice<Buffer>, PinnedVec<f32>, Place, Plugin, PluginExtension, PluginOrigin, PluginSearch,
    Program, ProgramFormat, Progress, RngKey, Same<Buffer>, SearchedPlace, Shape, Sharding,
    Signature, Split<Buffer>, StableHloVersion, Survivor, Topology, TopologyDevice,
    TopologyOptions, UnusedDonor, Value, Which<'static>,
}

#[test]
fn every_public_type_may_go_to_other_threads() {
    let checked = check_markers();
    // Traits and an alias, and a guard that is its thread's; what has two parameters is below.
    let others = [
        "Arguments",
        "Element",
        "LabelScope",
        "ParallelParameter",
        "ParallelParameters",
        "Parameter",
        "Parameters",
        "Plain",
        "Result",
        "Results",
        "Tree",
    ];
    is_send_and_sync::<xla::Function<(xla::Give<Buffer>, xla::Ref<Buffer>), Buffer>>();
    is_send_and_sync::<xla::Give<Buffer>>();
    is_send_and_sync::<xla::HostTree<'static, Buffer>>();
    is_send_and_sync::<xla::HostView<'static, f32>>();
    type Markers = (xla::Give<Buffer>, xla::Split<Buffer>);
    is_send_and_sync::<xla::ParallelFunction<Markers, xla::Each<Buffer>>>();
    is_send_and_sync::<xla::PartOf<'static, Buffer>>();
    // Its items are for one thread to take.
    fn is_send<T: Send>() {}
    is_send::<xla::Prefetch<'static, Buffer>>();
    is_send_and_sync::<xla::Ref<Buffer>>();
    is_send_and_sync::<xla::Scope<'static, 'static>>();
    let twofold = [
        "Function",
        "Give",
        "HostTree",
        "HostView",
        "ParallelFunction",
        "PartOf",
        "Prefetch",
        "Ref",
        "Scope",
    ];
    let root = include_str!("../src/lib.rs");
    let mut seen = 0;
    for statement in root.split("pub use ").skip(1) {
        let end = statement.find(';').expect("a statement ends");
        let names = statement[..end].split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())) {
            assert!(
                checked.contains(&name) || others.contains(&name) || twofold.contains(&name),
                "`{name}` is public, but not checked here"
            );
            seen += 1;
        }
    }
    assert!(seen >= checked.len(), "{seen} of {}", checked.len());
}

#[test]
fn handles_and_errors_carry_no_lifetime() {
    is_static::<Buffer>();
    is_static::<Client>();
    is_static::<Event>();
    is_static::<Executable>();
    is_static::<HostRead<f32>>();
    is_static::<Outputs>();
    is_static::<Error>();
    is_static::<CallError>();
}

/// `?` turns a refused call into the one error type.
fn run_wrong(counter: &Executable, count: Buffer) -> Result<Buffer, Error> {
    counter.run((count, ()))?.into_single()?;
    counter.run(())?.into_single()
}

/// And into a boxed one, with what was given.
fn run_wrong_boxed(
    counter: &Executable,
    count: Buffer,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    counter.run((count, Vec::<Buffer>::new()))?;
    let boxed: Box<dyn std::error::Error + Send + Sync> = match counter.run(()) {
        Err(error) => error.into(),
        Ok(_) => return Ok(()),
    };
    Err(boxed)
}

#[test]
fn a_refused_call_goes_through_the_question_mark() {
    let client = client(1);
    let device = device(&client, 0);
    let counter = compiled(&client, "counter");
    let count = || Buffer::scalar(&device, 1f32).expect("a number");
    let error = run_wrong(&counter, count()).expect_err("refused");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    let boxed = run_wrong_boxed(&counter, count()).expect_err("refused");
    let refused = boxed.downcast_ref::<CallError>().expect("what was boxed");
    assert_eq!(refused.code(), Code::InvalidArgument);
    let source = std::error::Error::source(refused).expect("the failure itself");
    assert!(source.downcast_ref::<Error>().is_some());
}

#[test]
fn a_refused_call_may_be_kept_and_sent_away() {
    let client = client(1);
    let counter = compiled(&client, "counter");
    let wrong = vector(&device(&client, 0), &[1., 2.]);
    let error = counter.run(wrong).expect_err("refused");
    drop((client, counter));
    let given = thread::spawn(move || {
        assert_eq!(error.given().len(), 1);
        let (error, given) = error.into_parts();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        given
    });
    let given = given.join().expect("no panic");
    assert_eq!(values(&given[0].buffer), [1., 2.]);
}
