//! The thread on which everything runs that a plugin's callback sets off.
//!
//! Plugins call back inline or on threads of their own, with locks held: waking a
//! task or dropping the last holder of a client there can deadlock. So callbacks
//! only queue work here. The thread is the process's, starts with the first
//! piece of work and never ends.

use std::collections::VecDeque;

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
    }
}
