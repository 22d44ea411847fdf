//! Events: something that will have happened on a device.

use std::fmt;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use pjrt_sys::PJRT_Event;

use crate::error::Result;
use crate::pjrt::Owned;

/// Something that a device will have done: wait for it, with a timeout or without,
/// or `.await` it.
///
/// An event that has fired may carry the error that kept the work from being done;
/// every way of waiting gives it. Dropping an event cancels nothing.
///
/// Tasks are woken one after another on a thread of this crate: a waker must not block, and
/// should not be the last that holds a client's handles when the process ends (0.106 aborts then). For the
/// first of several there is [`wait_any`](crate::wait_any).
pub struct Event {
    raw: Owned<PJRT_Event>,
    waiter: Waiter,
}

/// The ways of waiting that need the plugin to call back, for one event.
#[derive(Default)]
pub(crate) struct Waiter {
    // Made when somebody first waits with a timeout or as a future.
    watch: OnceLock<Arc<Watch>>,
}

/// How many tasks may poll a future at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tasks {
    One,
    Many,
}

/// Where the plugin's callback leaves the outcome.
#[derive(Default)]
struct Watch {
    state: Mutex<State>,
    fired: Condvar,
}

#[derive(Default)]
struct State {
    outcome: Option<Result<()>>,
    wakers: Vec<Waker>,
}

impl Event {
    pub(crate) fn new(raw: Owned<PJRT_Event>) -> Event {
        Event {
            raw,
            waiter: Waiter::default(),
        }
    }

    /// Whether it has fired, well or not (`PJRT_Event_IsReady`).
    ///
    /// # Errors
    /// The plugin can't tell.
    pub fn is_ready(&self) -> Result<bool> {
        self.raw.is_ready()
    }

    /// Blocks until it has fired (`PJRT_Event_Await`).
    ///
    /// # Errors
    /// The work failed.
    pub fn wait(&self) -> Result<()> {
        self.raw.await_blocking()
    }

    /// Blocks until it has fired, or for `timeout`: `Ok(true)` when it has fired,
    /// `Ok(false)` when it is pending still.
    ///
    /// # Errors
    /// The work failed.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<bool> {
        self.waiter.wait_timeout(&self.raw, timeout)
    }

    /// Whether it has fired, well or not; if not, the task is woken then.
    pub(crate) fn poll_fired(&self, context: &mut Context<'_>) -> Result<bool> {
        if self.is_ready()? {
            return Ok(true);
        }
        match self.waiter.poll(&self.raw, context, Tasks::Many) {
            Poll::Pending => Ok(false),
            // Not fired, and nobody will call when it has: the outcome is that refusal.
            Poll::Ready(outcome) if !self.is_ready()? => outcome.map(|()| true),
            Poll::Ready(_) => Ok(true),
        }
    }
}

impl Waiter {
    /// Blocks until `event` has fired or `timeout` is over.
    pub(crate) fn wait_timeout(
        &self,
        event: &Owned<PJRT_Event>,
        timeout: Duration,
    ) -> Result<bool> {
        if event.is_ready()? {
            return event.outcome().map(|()| true);
        }
        let watch = self.watch(event);
        let deadline = Instant::now().checked_add(timeout);
        let mut state = watch.state.lock();
        while state.outcome.is_none() {
            match deadline {
                Some(deadline) => {
                    if watch.fired.wait_until(&mut state, deadline).timed_out() {
                        break;
                    }
                }
                // Further away than the clock counts.
                None => watch.fired.wait(&mut state),
            }
        }
        match &state.outcome {
            Some(outcome) => outcome.clone().map(|()| true),
            None => Ok(false),
        }
    }

    /// The outcome of `event` when it has fired; else has the task woken then.
    ///
    /// Where one task at a time can poll, only the latest to do so is woken.
    pub(crate) fn poll(
        &self,
        event: &Owned<PJRT_Event>,
        context: &mut Context<'_>,
        tasks: Tasks,
    ) -> Poll<Result<()>> {
        match event.is_ready() {
            Ok(true) => return Poll::Ready(event.outcome()),
            Ok(false) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        let mut state = self.watch(event).state.lock();
        if let Some(outcome) = &state.outcome {
            return Poll::Ready(outcome.clone());
        }
        let waker = context.waker();
        let mut forgotten = Vec::new();
        if !state.wakers.iter().any(|known| known.will_wake(waker)) {
            if tasks == Tasks::One {
                forgotten = std::mem::take(&mut state.wakers);
            }
            state.wakers.push(waker.clone());
        }
        // A waker is the user's code: dropped outside the lock.
        drop(state);
        drop(forgotten);
        Poll::Pending
    }

    fn watch(&self, event: &Owned<PJRT_Event>) -> &Arc<Watch> {
        self.watch.get_or_init(|| {
            let watch = Arc::new(Watch::default());
            let (noting, waking) = (Arc::clone(&watch), Arc::clone(&watch));
            // The outcome is noted at once, so that no wait depends on others' wakers.
            event.on_ready(
                move |notice| noting.note(notice.outcome()),
                move |_| waking.wake(),
            );
            watch
        })
    }
}

impl Watch {
    fn note(&self, outcome: Result<()>) {
        self.state.lock().outcome = Some(outcome);
        self.fired.notify_all();
    }

    fn wake(&self) {
        // Once the outcome is noted nobody adds to them.
        let wakers = std::mem::take(&mut self.state.lock().wakers);
        // Outside the lock: a waker is the user's code.
        for waker in wakers {
            // A panic in it must not keep the others waiting.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

/// By value for one task; a reference is a future too, for any number of them.
impl Future for Event {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Nobody else can hold a reference that was polled: those wakers are forgotten.
        self.waiter.poll(&self.raw, context, Tasks::One)
    }
}

impl Future for &Event {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.waiter.poll(&self.raw, context, Tasks::Many)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.is_ready() {
            Ok(true) => "fired",
            Ok(false) => "pending",
            Err(_) => "unknown",
        };
        write!(f, "Event({state})")
    }
}
