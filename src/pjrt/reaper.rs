//! The thread on which everything runs that a plugin's callback sets off.
//!
//! Plugins call back inline or on threads of their own, with locks held: waking a
//! task or dropping the last holder of a client there can deadlock. So callbacks
//! only queue work here. The thread is the process's, starts with the first
//! piece of work and never ends.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

type Work = Box<dyn FnOnce() + Send>;

struct Queue {
    work: VecDeque<Work>,
    started: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    work: VecDeque::new(),
    started: false,
});
static ARRIVED: Condvar = Condvar::new();
static DONE: Condvar = Condvar::new();
/// How many wait for something to be settled.
static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_REAPER: Cell<bool> = const { Cell::new(false) };
}

/// Blocks until `settled`, which some work brings about or [`tell_waiting`] tells of, or for
/// `patience`. Returns at once
/// on the reaper's own thread.
pub(super) fn wait_until(patience: Duration, settled: impl Fn() -> bool) {
    if IS_REAPER.get() {
        return;
    }
    let deadline = Instant::now() + patience;
    let mut queue = QUEUE.lock();
    // Before the first look: what is settled after it is told.
    WAITING.fetch_add(1, Ordering::SeqCst);
    while !settled() {
        if DONE.wait_until(&mut queue, deadline).timed_out() {
            break;
        }
    }
    WAITING.fetch_sub(1, Ordering::SeqCst);
}

/// Has those that wait look again at something that changed before, by a sequentially
/// consistent store. May be called inside the plugin; wakes nobody when nobody waits.
pub(super) fn tell_waiting() {
    if WAITING.load(Ordering::SeqCst) > 0 {
        // Under the lock, so that nobody looks just before and waits just after.
        let _queue = QUEUE.lock();
        DONE.notify_all();
    }
}

/// Queues `work`. A panic inside it is caught: it must not end the thread.
pub(super) fn run(work: Work) {
    let mut queue = QUEUE.lock();
    if !queue.started {
        queue.started = std::thread::Builder::new()
            .name("xla-reaper".to_owned())
            .spawn(serve)
            .is_ok();
    }
    // Where no thread could be had the work stays queued until one can: late is
    // better than run here, inside the plugin.
    queue.work.push_back(work);
    ARRIVED.notify_one();
}

fn serve() {
    IS_REAPER.set(true);
    loop {
        let work = {
            let mut queue = QUEUE.lock();
            loop {
                match queue.work.pop_front() {
                    Some(work) => break work,
                    None => ARRIVED.wait(&mut queue),
                }
            }
        };
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // Under the lock, so that nobody looks just before and waits just after.
        let _queue = QUEUE.lock();
        DONE.notify_all();
    }
}
