//! One call of an entry: looked up, counted, failed on demand, and answered.

use std::ptr;
use std::sync::Arc;

use pjrt_sys::{Args, PJRT_Error};

use crate::failure::{Answer, Failure};
use crate::record;
use crate::registry::Object;
use crate::slots;
use crate::state::State;

/// A call under way.
pub(crate) struct Call {
    state: Arc<State>,
    entry: &'static str,
    /// Its place in the list of calls.
    number: usize,
    /// The failure that is set for it.
    pub(crate) fault: Option<Failure>,
}

impl Call {
    fn begin(slot: usize, entry: &'static str) -> Call {
        let state = slots::state(slot);
        let number = {
            let mut book = state.book.lock();
            book.calls.push(record::Call {
                entry,
                made: Vec::new(),
                failed: false,
                execution: None,
            });
            book.calls.len() - 1
        };
        let fault = state.take_fault(entry);
        Call {
            state,
            entry,
            number,
            fault,
        }
    }

    pub(crate) fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// Adds to what is remembered of this call.
    pub(crate) fn note(&self, note: impl FnOnce(&mut record::Call)) {
        // The list may have been cleared meanwhile.
        if let Some(call) = self.state.book.lock().calls.get_mut(self.number) {
            note(call);
        }
    }

    /// Notes that the caller broke the contract, and gives the error for it.
    pub(crate) fn breach(&self, what: impl Into<String>) -> Failure {
        let what = what.into();
        self.state.violation(format!("{}: {what}", self.entry));
        Failure::invalid(what)
    }

    pub(crate) fn get<T: Object>(&self, handle: *const T::Raw) -> Result<Arc<T>, Failure> {
        Ok(self.get_numbered(handle)?.0)
    }

    pub(crate) fn get_numbered<T: Object>(
        &self,
        handle: *const T::Raw,
    ) -> Result<(Arc<T>, u64), Failure> {
        let found = self.state.registry.lock().get::<T>(handle);
        found.map_err(|what| self.breach(what))
    }

    /// Hands out a new handle of a client.
    pub(crate) fn make<T: Object>(&self, object: T, client: u64) -> *mut T::Raw {
        self.make_numbered(object, client).0
    }

    pub(crate) fn make_numbered<T: Object>(&self, object: T, client: u64) -> (*mut T::Raw, u64) {
        let (handle, id) = self.state.make(object, Some(client));
        self.note(|call| call.made.push(id));
        (handle, id)
    }

    pub(crate) fn destroy<T: Object>(&self, handle: *const T::Raw) -> Result<Arc<T>, Failure> {
        let destroyed = self.state.registry.lock().destroy::<T>(handle);
        destroyed.map_err(|what| self.breach(what))
    }

    /// The arguments, if they're whole.
    ///
    /// # Safety
    /// `args` is null or points to what `answer` asks for.
    unsafe fn check<'a, A: Args>(&self, args: *mut A) -> Result<&'a mut A, Failure> {
        if args.is_null() {
            return Err(self.breach("the arguments are null"));
        }
        // SAFETY: every such struct begins with its size.
        let size = unsafe { args.cast::<usize>().read() };
        if size < A::STRUCT_SIZE {
            return Err(self.breach(format!(
                "the arguments state {size} bytes, {} has {}",
                A::NAME,
                A::STRUCT_SIZE
            )));
        }
        // SAFETY: it is as long as it says, and the caller's alone for the call.
        Ok(unsafe { &mut *args })
    }

    fn run<A: Args>(&self, args: &mut A, body: fn(&Call, &mut A) -> Answer) -> Answer {
        if self.state.is_silent(self.entry) {
            return Ok(());
        }
        match &self.fault {
            None => body(self, args),
            // A handle that can't be destroyed is of no use to anyone: it goes all the same.
            Some(fault) if self.entry.ends_with("_Destroy") => {
                body(self, args)?;
                Err(fault.clone())
            }
            // The callback of a call that fails doesn't run.
            Some(fault) if self.entry == "PJRT_Event_OnReady" => Err(fault.clone()),
            Some(fault) if fault.with_handles || !fault.consumed.is_empty() => {
                body(self, args)?;
                Err(fault.clone())
            }
            Some(fault) => Err(fault.clone()),
        }
    }
}

/// Answers a call of an entry that can fail.
///
/// # Safety
/// `args` is null or points to the arguments, as long as they say, which nobody else uses meanwhile;
/// what they point to is as the header asks.
pub(crate) unsafe fn answer<A: Args>(
    slot: usize,
    entry: &'static str,
    args: *mut A,
    body: fn(&Call, &mut A) -> Answer,
) -> *mut PJRT_Error {
    let call = Call::begin(slot, entry);
    // SAFETY: the caller's promise.
    let args = unsafe { call.check(args) };
    let outcome = args.and_then(|args| call.run(args, body));
    match outcome {
        Ok(()) => ptr::null_mut(),
        Err(failure) => {
            call.note(|call| call.failed = true);
            call.state.make_error(&failure)
        }
    }
}

/// Answers a call of an entry that returns nothing.
///
/// # Safety
/// As [`answer`].
pub(crate) unsafe fn answer_void<A: Args>(
    slot: usize,
    entry: &'static str,
    args: *mut A,
    body: fn(&Call, &mut A) -> Answer,
) {
    let call = Call::begin(slot, entry);
    // SAFETY: the caller's promise.
    let args = unsafe { call.check(args) };
    // Nobody can be told; what matters was noted.
    let _ = args.and_then(|args| body(&call, args));
}
