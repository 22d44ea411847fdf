//! Events, and what they wait for.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use pjrt_sys::{
    PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Destroy_Args, PJRT_Event_Error_Args,
    PJRT_Event_IsReady_Args, PJRT_Event_OnReady_Args,
};

use crate::call::Call;
use crate::failure::{Answer, Failure};
use crate::registry::{Kind, Object};
use crate::state::{Callbacks, State};

/// How something ended.
pub(crate) type Outcome = Result<(), Failure>;

type Continuation = Box<dyn FnOnce(Outcome) + Send>;

/// Something that will end, well or not. What is to follow is done in the order in which it was
/// asked for, with no lock held.
#[derive(Default)]
pub(crate) struct Promise {
    state: Mutex<Progress>,
    ended: Condvar,
}

#[derive(Default)]
struct Progress {
    outcome: Option<Outcome>,
    waiting: Vec<Continuation>,
}

impl Promise {
    pub(crate) fn ended(outcome: Outcome) -> Arc<Promise> {
        let promise = Promise::default();
        promise.resolve(outcome);
        Arc::new(promise)
    }

    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.state.lock().outcome.clone()
    }

    pub(crate) fn wait(&self) -> Outcome {
        let mut state = self.state.lock();
        loop {
            match &state.outcome {
                Some(outcome) => return outcome.clone(),
                None => self.ended.wait(&mut state),
            }
        }
    }

    pub(crate) fn resolve(&self, outcome: Outcome) {
        let waiting = {
            let mut state = self.state.lock();
            if state.outcome.is_some() {
                return;
            }
            state.outcome = Some(outcome.clone());
            self.ended.notify_all();
            std::mem::take(&mut state.waiting)
        };
        for next in waiting {
            next(outcome.clone());
        }
    }

    pub(crate) fn then(&self, next: impl FnOnce(Outcome) + Send + 'static) {
        let mut state = self.state.lock();
        match state.outcome.clone() {
            Some(outcome) => {
                drop(state);
                next(outcome);
            }
            None => state.waiting.push(Box::new(next)),
        }
    }
}

/// Does `next` when all have ended, with how each did.
pub(crate) fn all(promises: &[Arc<Promise>], next: impl FnOnce(Vec<Outcome>) + Send + 'static) {
    struct Gathered<F> {
        outcomes: Vec<Option<Outcome>>,
        next: Option<F>,
    }
    if promises.is_empty() {
        return next(Vec::new());
    }
    let gathered = Arc::new(Mutex::new(Gathered {
        outcomes: vec![None; promises.len()],
        next: Some(next),
    }));
    for (index, promise) in promises.iter().enumerate() {
        let gathered = Arc::clone(&gathered);
        promise.then(move |outcome| {
            let mut now = gathered.lock();
            now.outcomes[index] = Some(outcome);
            if now.outcomes.iter().any(Option::is_none) {
                return;
            }
            let (next, outcomes) = (now.next.take(), std::mem::take(&mut now.outcomes));
            drop(now);
            if let Some(next) = next {
                next(outcomes.into_iter().flatten().collect());
            }
        });
    }
}

/// What a `PJRT_Event` stands for.
pub(crate) struct Event(pub(crate) Arc<Promise>);

impl Object for Event {
    type Raw = PJRT_Event;
    const KIND: Kind = Kind::Event;
}

thread_local! {
    /// How many callbacks are running on this thread.
    static CALLBACKS: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread runs a callback of `PJRT_Event_OnReady`.
pub(crate) fn in_callback() -> bool {
    CALLBACKS.get() > 0
}

pub(crate) fn destroy(call: &Call, args: &mut PJRT_Event_Destroy_Args) -> Answer {
    call.destroy::<Event>(args.event).map(drop)
}

pub(crate) fn is_ready(call: &Call, args: &mut PJRT_Event_IsReady_Args) -> Answer {
    args.is_ready = call.get::<Event>(args.event)?.0.outcome().is_some();
    Ok(())
}

pub(crate) fn error(call: &Call, args: &mut PJRT_Event_Error_Args) -> Answer {
    match call.get::<Event>(args.event)?.0.outcome() {
        Some(outcome) => outcome,
        None => Err(call.breach("the event was asked for its error before it was ready")),
    }
}

pub(crate) fn wait(call: &Call, args: &mut PJRT_Event_Await_Args) -> Answer {
    let event = call.get::<Event>(args.event)?;
    if in_callback() && event.0.outcome().is_none() {
        call.breach("a callback waits for an event: a real plugin may never get to it");
    }
    event.0.wait()
}

pub(crate) fn on_ready(call: &Call, args: &mut PJRT_Event_OnReady_Args) -> Answer {
    let event = call.get::<Event>(args.event)?;
    let Some(callback) = args.callback else {
        return Err(call.breach("the callback is null"));
    };
    let callback = Callback {
        function: callback,
        argument: args.user_arg,
    };
    let state = Arc::clone(call.state());
    event.0.then(move |outcome| callback.run(&state, outcome));
    Ok(())
}

struct Callback {
    function: unsafe extern "C" fn(*mut pjrt_sys::PJRT_Error, *mut c_void),
    argument: *mut c_void,
}

// SAFETY: the header lets a plugin call back on any thread.
unsafe impl Send for Callback {}

impl Callback {
    fn run(self, state: &Arc<State>, outcome: Outcome) {
        if state.callbacks() == Callbacks::Inline {
            return self.run_here(state, outcome);
        }
        let on = Arc::clone(state);
        let thread = std::thread::spawn(move || self.run_here(&on, outcome));
        state.threads.lock().push(thread);
    }

    fn run_here(self, state: &State, outcome: Outcome) {
        let error = match &outcome {
            Ok(()) => ptr::null_mut(),
            Err(failure) => state.make_error(failure),
        };
        CALLBACKS.set(CALLBACKS.get() + 1);
        // SAFETY: the caller's callback with its own argument, called once; the error is the
        // callback's to destroy.
        unsafe { (self.function)(error, self.argument) };
        CALLBACKS.set(CALLBACKS.get() - 1);
    }
}
