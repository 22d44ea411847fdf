//! Events, uploads and reads as futures, driven by executors that are written here: what any
//! runtime does to them.
//!
//! Chunked uploads make buffers that are pending until a test lets them go on.

mod cpu;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use cpu::{client, compiled_text, device, values, SLOW, SLOW_LENGTH};
use xla::{
    wait_any, wait_any_timeout, Buffer, ChunkedUpload, Client, Code, Device, Event, HostArray,
    HostRead, HostTree, Shape,
};

/// Much longer than anything here takes.
const LONG: Duration = Duration::from_secs(100);

/// Long enough for what must not happen to happen.
const MOMENT: Duration = Duration::from_millis(30);

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

/// A vector that is pending until it gets its values.
fn pending(device: &Device) -> (ChunkedUpload, Buffer) {
    let shape = Shape::of::<f32>(&[4]).expect("small");
    let (upload, mut buffers) = ChunkedUpload::new(device, &[shape]).expect("the plugin can");
    (upload, buffers.pop().expect("one"))
}

const FOUR: [f32; 4] = [1., 2., 3., 4.];

fn send(upload: &mut ChunkedUpload) {
    upload.send(0, 0, FOUR.to_vec()).expect("fits");
}

// Tasks.

/// Counts how often it is woken.
#[derive(Default)]
struct Count {
    woken: Mutex<usize>,
    changed: Condvar,
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().expect("no panic") += 1;
        self.changed.notify_all();
    }
}

impl Count {
    fn new() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (Arc::clone(&count), Waker::from(count))
    }

    fn woken(&self) -> usize {
        *self.woken.lock().expect("no panic")
    }

    /// Waits until it was woken more than `before` times.
    #[track_caller]
    fn wait(&self, before: usize) {
        let woken = self.woken.lock().expect("no panic");
        let waited = self
            .changed
            .wait_timeout_while(woken, LONG, |woken| *woken <= before);
        assert!(!waited.expect("no panic").1.timed_out(), "never woken");
    }
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Polls again only when it was woken.
#[track_caller]
fn block_on<F: Future>(future: F) -> F::Output {
    let (count, waker) = Count::new();
    let mut future = pin!(future);
    loop {
        let before = count.woken();
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => count.wait(before),
        }
    }
}

/// Whichever of two is first: gives its output and drops the other.
enum Either<A, B> {
    Left(A),
    Right(B),
}

async fn select<A: Future + Unpin, B: Future + Unpin>(
    mut a: A,
    mut b: B,
) -> Either<A::Output, B::Output> {
    std::future::poll_fn(move |context| {
        if let Poll::Ready(output) = Pin::new(&mut a).poll(context) {
            return Poll::Ready(Either::Left(output));
        }
        Pin::new(&mut b).poll(context).map(Either::Right)
    })
    .await
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Many tasks on some threads: whatever thread is free polls a task that was woken.
#[derive(Default)]
struct Executor {
    ready: Mutex<VecDeque<Arc<Task>>>,
    changed: Condvar,
    unfinished: AtomicUsize,
}

struct Task {
    future: Mutex<Option<Boxed>>,
    executor: Arc<Executor>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let executor = Arc::clone(&self.executor);
        executor.ready.lock().expect("no panic").push_back(self);
        executor.changed.notify_one();
    }
}

impl Executor {
    fn spawn(self: &Arc<Self>, future: impl Future<Output = ()> + Send + 'static) {
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        let task = Task {
            future: Mutex::new(Some(Box::pin(future))),
            executor: Arc::clone(self),
        };
        Arc::new(task).wake();
    }

    fn run(&self) {
        while self.unfinished.load(Ordering::SeqCst) > 0 {
            let ready = self.ready.lock().expect("no panic");
            let idle = |ready: &mut VecDeque<_>| {
                ready.is_empty() && self.unfinished.load(Ordering::SeqCst) > 0
            };
            let waited = self.changed.wait_timeout_while(ready, LONG, idle);
            let (mut ready, timeout) = waited.expect("no panic");
            assert!(!timeout.timed_out(), "no task was woken");
            let Some(task) = ready.pop_front() else { break };
            drop(ready);
            let mut future = task.future.lock().expect("no panic");
            let Some(running) = future.as_mut() else {
                continue;
            };
            let waker = Waker::from(Arc::clone(&task));
            if running
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
            {
                *future = None;
                // Under the lock: nobody is between looking and waiting.
                let _ready = self.ready.lock().expect("no panic");
                self.unfinished.fetch_sub(1, Ordering::SeqCst);
                self.changed.notify_all();
            }
        }
    }
}

#[test]
fn an_executor_drives_many_tasks_on_two_threads() {
    let (client, device) = one_device();
    let slow = Arc::new(compiled_text(&client, SLOW));
    let executor = Arc::new(Executor::default());
    let done = Arc::new(AtomicUsize::new(0));
    for number in 0..24 {
        let (slow, device, done) = (Arc::clone(&slow), device.clone(), Arc::clone(&done));
        executor.spawn(async move {
            let start = vec![number as f32; SLOW_LENGTH];
            let uploaded = Buffer::from_host_async(&device, start, &[SLOW_LENGTH]);
            let (x, read) = uploaded.expect("room");
            read.await.expect("uploaded");
            let rounds = Buffer::scalar(&device, 200 * number).expect("room");
            let outputs = slow.run((&x, &rounds)).expect("runs");
            let sum = outputs.into_single().expect("one");
            sum.ready().expect("an event").await.expect("no failure");
            let wanted = number as f32 * (200 * number + 1) as f32;
            let part = sum.to_host_range_async::<f32>(7..9).expect("starts");
            assert_eq!(part.await.expect("values"), [wanted; 2]);
            let whole = sum.to_host_async::<f32>().expect("starts");
            assert_eq!(whole.await.expect("values"), [wanted; SLOW_LENGTH]);
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    thread::scope(|scope| {
        scope.spawn(|| executor.run());
        executor.run();
    });
    assert_eq!(done.load(Ordering::SeqCst), 24);
}

// One of several.

#[test]
fn a_select_gives_the_first_and_drops_the_other() {
    let (_client, device) = one_device();
    let (mut late, late_buffer) = pending(&device);
    let (mut soon, soon_buffer) = pending(&device);
    let sender = thread::spawn(move || {
        thread::sleep(MOMENT);
        send(&mut soon);
    });
    // Events by value: the one that lost is gone.
    let event = |buffer: &Buffer| buffer.ready().expect("an event");
    match block_on(select(event(&late_buffer), event(&soon_buffer))) {
        Either::Right(outcome) => outcome.expect("no failure"),
        Either::Left(_) => panic!("it has no values yet"),
    }
    sender.join().expect("no panic");

    // By reference: it may be waited for again.
    let (late_event, soon_event) = (event(&late_buffer), event(&soon_buffer));
    let Either::Right(_) = block_on(select(&late_event, &soon_event)) else {
        panic!("it has no values yet")
    };
    assert!(!late_event.is_ready().expect("known"));

    // Reads: the one that lost is dropped while it is under way.
    let read = |buffer: &Buffer| buffer.to_host_async::<f32>().expect("starts");
    match block_on(select(read(&late_buffer), read(&soon_buffer))) {
        Either::Right(read) => assert_eq!(read.expect("values"), FOUR),
        Either::Left(_) => panic!("it has no values yet"),
    }
    send(&mut late);
    let Either::Left(outcome) = block_on(select(&late_event, std::future::pending::<()>())) else {
        panic!("what is pending for ever is not ready")
    };
    outcome.expect("no failure");
    assert_eq!(values(&late_buffer), FOUR);
}

#[test]
fn tasks_and_threads_may_wait_for_one_event() {
    let (_client, device) = one_device();
    let (mut upload, buffer) = pending(&device);
    let (_never, other) = pending(&device);
    let (event, other) = (
        buffer.ready().expect("an event"),
        other.ready().expect("an event"),
    );
    let patience = wait_any_timeout(&[&event, &other], MOMENT);
    assert_eq!(patience.expect("known"), None);
    assert!(!event.wait_timeout(MOMENT).expect("pending"));
    assert!(!event.wait_timeout(Duration::ZERO).expect("pending"));
    assert!(!event.is_ready().expect("known"));
    thread::scope(|scope| {
        let task = scope.spawn(|| block_on(&event));
        let first = scope.spawn(|| wait_any(&[&other, &event]));
        let timed = scope.spawn(|| event.wait_timeout(LONG));
        let (count, waker) = Count::new();
        assert!(poll(&mut &event, &waker).is_pending());
        send(&mut upload);
        count.wait(0);
        assert!(event.is_ready().expect("known"));
        task.join().expect("no panic").expect("no failure");
        assert_eq!(first.join().expect("no panic").expect("known"), 1);
        assert!(timed.join().expect("no panic").expect("no failure"));
        assert!(event.wait_timeout(Duration::ZERO).expect("no failure"));
    });
}

// Wakers.

#[test]
fn the_waker_that_polled_last_is_woken() {
    let (_client, device) = one_device();
    let (mut upload, buffer) = pending(&device);
    let mut read = buffer.to_host_async::<f32>().expect("starts");
    let mut event = buffer.ready().expect("an event");
    let (first, first_waker) = Count::new();
    let (last, last_waker) = Count::new();
    for waker in [&first_waker, &last_waker] {
        assert!(poll(&mut read, waker).is_pending());
        assert!(poll(&mut event, waker).is_pending());
    }
    drop(first_waker);
    // One task's at a time: who polled before is forgotten.
    assert_eq!(Arc::strong_count(&first), 1, "kept");
    assert!(!read.is_ready().expect("known"));
    send(&mut upload);
    // One wake is the event's, one the read's.
    last.wait(1);
    assert_eq!(first.woken(), 0);
    let Poll::Ready(outcome) = poll(&mut read, &last_waker) else {
        panic!("woken before it was ready")
    };
    assert_eq!(outcome.expect("values"), FOUR);
    assert!(poll(&mut event, &last_waker).is_ready());
}

#[test]
fn all_tasks_that_polled_a_reference_are_woken_once() {
    let (_client, device) = one_device();
    let (mut upload, buffer) = pending(&device);
    let event = buffer.ready().expect("an event");
    let (one, one_waker) = Count::new();
    let (other, other_waker) = Count::new();
    for waker in [&one_waker, &other_waker, &one_waker] {
        assert!(poll(&mut &event, waker).is_pending());
    }
    send(&mut upload);
    one.wait(0);
    other.wait(0);
    assert!(poll(&mut &event, &one_waker).is_ready());
    assert_eq!((one.woken(), other.woken()), (1, 1));
}

#[test]
fn a_future_may_go_on_on_another_thread() {
    fn elsewhere<F>(mut future: F, upload: &mut ChunkedUpload) -> F::Output
    where
        F: Future + Send + Unpin + 'static,
        F::Output: Send,
    {
        let (here, waker) = Count::new();
        assert!(poll(&mut future, &waker).is_pending());
        let (told, tells) = mpsc::channel();
        let thread = thread::spawn(move || {
            let (there, waker) = Count::new();
            let polled = poll(&mut future, &waker);
            told.send(polled.is_pending()).expect("listened to");
            match polled {
                Poll::Ready(output) => output,
                Poll::Pending => {
                    there.wait(0);
                    block_on(future)
                }
            }
        });
        assert!(tells.recv().expect("told"), "nothing was sent");
        send(upload);
        let output = thread.join().expect("no panic");
        drop(here);
        output
    }
    let (_client, device) = one_device();
    let (mut upload, buffer) = pending(&device);
    let read: HostRead<f32> = buffer.to_host_async().expect("starts");
    assert_eq!(elsewhere(read, &mut upload).expect("values"), FOUR);
    let (mut upload, buffer) = pending(&device);
    let event: Event = buffer.ready().expect("an event");
    elsewhere(event, &mut upload).expect("no failure");
    assert_eq!(values(&buffer), FOUR);
}

#[test]
fn a_future_that_is_dropped_leaves_nothing_behind() {
    let (client, device) = one_device();
    let (mut upload, buffer) = pending(&device);
    let (count, waker) = Count::new();
    let mut read = buffer.to_host_async::<f32>().expect("starts");
    let mut event = buffer.ready().expect("an event");
    assert!(poll(&mut read, &waker).is_pending());
    assert!(poll(&mut event, &waker).is_pending());
    // Never polled at all.
    drop((buffer.to_host_async::<f32>(), buffer.ready()));
    drop((read, event));
    send(&mut upload);
    assert_eq!(values(&buffer), FOUR);
    drop((waker, upload, buffer));
    // The task may be woken once more, and is let go of.
    let deadline = Instant::now() + LONG;
    while Arc::strong_count(&count) > 1 {
        assert!(Instant::now() < deadline, "kept for ever");
        thread::yield_now();
    }
    // Nobody holds any of it: the client's account is empty.
    while client.memory_account().live_buffers() > 0 {
        assert!(Instant::now() < deadline, "kept for ever");
        thread::yield_now();
    }
}

#[test]
fn the_failure_of_an_upload_comes_to_who_awaits() {
    let (_client, device) = one_device();
    let (upload, buffer) = pending(&device);
    let event = buffer.ready().expect("an event");
    let read = buffer.to_host_async::<f32>().expect("starts");
    let (count, waker) = Count::new();
    assert!(poll(&mut &event, &waker).is_pending());
    drop(upload);
    count.wait(0);
    assert!(event.is_ready().expect("known"));
    for error in [
        block_on(&event).expect_err("given up"),
        event.wait_timeout(LONG).expect_err("given up"),
        block_on(read).map(drop).expect_err("given up"),
    ] {
        assert!(error.message().contains("given up"), "{error}");
    }
    assert_eq!(
        block_on(event).expect_err("given up").code(),
        Code::Cancelled
    );
}

// Uploads.

#[test]
fn a_tree_is_uploaded_while_the_program_goes_on() {
    let (_client, device) = one_device();
    let large: Vec<f32> = (0..1 << 20).map(|n| n as f32).collect();
    let arrays = [
        HostArray::new(&large, &[1 << 10, 1 << 10]).expect("as many"),
        HostArray::new(&[true, false], &[2]).expect("as many"),
        HostArray::scalar(7i32).expect("a number"),
    ];
    let tree = HostTree::<(Buffer, [Buffer; 2])>::new(arrays).expect("three");
    let ((matrix, [truths, number]), events) = tree.to_device_async(&device).expect("room");
    assert_eq!(events.len(), 3);
    block_on(async {
        for event in events {
            event.await.expect("uploaded");
        }
    });
    assert_eq!(matrix.dims(), [1 << 10, 1 << 10]);
    assert_eq!(values(&matrix), large);
    assert_eq!(truths.to_host::<bool>().expect("values"), [true, false]);
    assert_eq!(number.to_scalar::<i32>().expect("a value"), 7);

    // A leaf that is refused is named.
    let two = Shape::of::<bool>(&[2]).expect("small");
    let neither = HostArray::from_bytes(&[0, 2], two).expect("as many");
    let good = HostArray::scalar(1f32).expect("a number");
    let tree = HostTree::<(Buffer, [Buffer; 2])>::new([good.clone(), good, neither]);
    let outcome = tree.expect("three").to_device_async(&device);
    let error = outcome.map(drop).expect_err("no truth value");
    assert!(error.message().contains("`[1][1]`"), "{error}");
}

#[test]
fn events_are_waited_for_while_a_thread_ends() {
    /// Waits when it is dropped, and says what came of it.
    struct Late(Event, mpsc::Sender<usize>);

    impl Drop for Late {
        fn drop(&mut self) {
            let first = wait_any(&[&self.0]).expect("it fires");
            self.1.send(first).expect("somebody listens");
        }
    }

    thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }

    let (_client, device) = one_device();
    let (mut upload, buffer) = pending(&device);
    let event = buffer.ready().expect("an event");
    let (mut another, other) = pending(&device);
    let (said, heard) = mpsc::channel();
    let ending = thread::spawn(move || {
        // It goes last: what the library keeps for the thread was made after it.
        LATE.with(|late| *late.borrow_mut() = Some(Late(event, said)));
        let other = other.ready().expect("an event");
        assert_eq!(wait_any_timeout(&[&other], MOMENT).expect("waits"), None);
    });
    // It is in its destructor by then, or is about to be: both must do.
    thread::sleep(MOMENT * 3);
    send(&mut upload);
    assert_eq!(heard.recv_timeout(LONG).expect("it has waited"), 0);
    ending.join().expect("no panic");
    send(&mut another);
}
