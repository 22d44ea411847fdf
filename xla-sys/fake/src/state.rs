//! What all objects of one fake share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use pjrt_sys::PJRT_Error;

use crate::error::ErrorObject;
use crate::event::Outcome;
use crate::failure::{Failure, When};
use crate::record::{Book, Live};
use crate::registry::{Object, Registry};

/// What a fake is made with.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) devices: usize,
    pub(crate) remote_devices: usize,
    pub(crate) platform: String,
    pub(crate) platform_version: String,
}

/// What an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// Host memory is no longer used (`done_with_host_buffer`). With
    /// `kImmutableUntilTransferCompletes` the memory is read when this fires.
    HostDone,
    /// A buffer that was made from host memory, or from nothing, is ready.
    Upload,
    /// A buffer that is a copy of another is ready.
    Copy,
    /// A buffer that a run gives is ready.
    Output,
    /// A device is done with a run (`device_complete_events`).
    Completion,
    /// A copy to the host is done. The destination is written when this fires.
    Read,
    /// A chunk has arrived (`done_with_h2d_transfer`). It's read when this fires.
    Chunk,
}

/// When events of a kind fire, and how.
#[derive(Clone, Debug, Default)]
pub enum Readiness {
    /// As soon as what they wait for is there: within the call, as a rule.
    #[default]
    Immediate,
    /// When [`Fake::release_events`](crate::Fake::release_events) is called.
    Held,
    /// Never.
    Never,
    /// At once, with an error.
    Failing(Failure),
}

/// Where the callbacks of `PJRT_Event_OnReady` run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Callbacks {
    /// On the thread that makes the event fire: inside `PJRT_Event_OnReady` if it has fired.
    #[default]
    Inline,
    /// On a thread of the fake's own.
    OnThread,
}

type Work = Box<dyn FnOnce(Outcome) + Send>;

struct Fault {
    entry: &'static str,
    /// Calls until it strikes.
    countdown: usize,
    failure: Failure,
}

#[derive(Default)]
struct Control {
    faults: Vec<Fault>,
    silent: Vec<&'static str>,
    readiness: HashMap<EventKind, Readiness>,
    held: Vec<(EventKind, Work)>,
    never: Vec<Work>,
    callbacks: Callbacks,
}

pub(crate) struct State {
    pub(crate) slot: usize,
    pub(crate) setup: Setup,
    pub(crate) registry: Mutex<Registry>,
    pub(crate) book: Mutex<Book>,
    pub(crate) storages: AtomicUsize,
    /// Host memory that is mapped: where it starts, its size, for which client.
    mappings: Mutex<Vec<(usize, usize, u64)>>,
    /// Whether the `Fake` is gone.
    pub(crate) abandoned: AtomicBool,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    control: Mutex<Control>,
}

impl State {
    pub(crate) fn new(slot: usize, setup: Setup) -> State {
        State {
            slot,
            setup,
            registry: Mutex::default(),
            book: Mutex::default(),
            storages: AtomicUsize::new(0),
            mappings: Mutex::default(),
            abandoned: AtomicBool::new(false),
            threads: Mutex::default(),
            control: Mutex::default(),
        }
    }

    pub(crate) fn live(&self) -> Live {
        Live {
            storages: self.storages.load(Ordering::SeqCst),
            mappings: self.mappings.lock().len(),
            ..self.registry.lock().live()
        }
    }

    /// Notes mapped memory; not if it overlaps with some that is mapped.
    pub(crate) fn map(&self, client: u64, start: usize, size: usize) -> bool {
        let mut mappings = self.mappings.lock();
        let apart = |(known, length, of): &(usize, usize, u64)| {
            *of != client || start + size <= *known || known + length <= start
        };
        let new = mappings.iter().all(apart);
        if new {
            mappings.push((start, size, client));
        }
        new
    }

    /// Ends a mapping, if there is one that starts here.
    pub(crate) fn unmap(&self, client: u64, start: usize) -> bool {
        let mut mappings = self.mappings.lock();
        let its = |(known, _, of): &(usize, usize, u64)| *known == start && *of == client;
        match mappings.iter().position(its) {
            Some(position) => {
                mappings.swap_remove(position);
                true
            }
            None => false,
        }
    }

    /// Whether a client has mappings.
    pub(crate) fn has_mappings(&self, client: u64) -> bool {
        self.mappings.lock().iter().any(|(_, _, of)| *of == client)
    }

    /// Notes that a caller broke the contract.
    pub(crate) fn violation(&self, what: impl Into<String>) {
        self.book.lock().violations.push(what.into());
    }

    pub(crate) fn make<T: Object>(&self, object: T, client: Option<u64>) -> (*mut T::Raw, u64) {
        self.registry.lock().make(Arc::new(object), client)
    }

    pub(crate) fn make_error(&self, failure: &Failure) -> *mut PJRT_Error {
        self.make(ErrorObject::new(failure), None).0
    }

    // What fails.

    pub(crate) fn add_fault(&self, entry: &'static str, failure: Failure) {
        let countdown = match failure.when {
            When::Nth(n) => n.max(1),
            When::Always => 1,
        };
        self.control.lock().faults.push(Fault {
            entry,
            countdown,
            failure,
        });
    }

    pub(crate) fn silence(&self, entry: &'static str) {
        self.control.lock().silent.push(entry);
    }

    pub(crate) fn clear_faults(&self) {
        let mut control = self.control.lock();
        control.faults.clear();
        control.silent.clear();
    }

    pub(crate) fn is_silent(&self, entry: &str) -> bool {
        self.control.lock().silent.contains(&entry)
    }

    /// Counts a call, and gives the failure that is set for it.
    pub(crate) fn take_fault(&self, entry: &str) -> Option<Failure> {
        let mut control = self.control.lock();
        let mut struck = None;
        control.faults.retain_mut(|fault| {
            if fault.entry != entry {
                return true;
            }
            fault.countdown = fault.countdown.saturating_sub(1);
            if fault.countdown > 0 {
                return true;
            }
            if struck.is_none() {
                struck = Some(fault.failure.clone());
            }
            fault.failure.when == When::Always
        });
        struck
    }

    // When events fire.

    pub(crate) fn set_readiness(&self, kind: EventKind, readiness: Readiness) {
        self.control.lock().readiness.insert(kind, readiness);
    }

    /// Does `work`, which makes an event of this kind fire, when such events fire. Never to be
    /// called under a lock: callbacks may run.
    pub(crate) fn schedule(&self, kind: EventKind, work: impl FnOnce(Outcome) + Send + 'static) {
        let mut control = self.control.lock();
        let readiness = control.readiness.get(&kind).cloned().unwrap_or_default();
        let outcome = match readiness {
            Readiness::Immediate => Ok(()),
            Readiness::Failing(failure) => Err(failure),
            Readiness::Held => {
                control.held.push((kind, Box::new(work)));
                return;
            }
            Readiness::Never => {
                control.never.push(Box::new(work));
                return;
            }
        };
        drop(control);
        work(outcome);
    }

    /// Lets held events fire, of one kind or of all, and those too that are held on the way.
    pub(crate) fn release(&self, kind: Option<EventKind>) {
        loop {
            let next = {
                let mut control = self.control.lock();
                let wanted = |held: &EventKind| kind.is_none_or(|kind| kind == *held);
                let position = control.held.iter().position(|(held, _)| wanted(held));
                position.map(|position| control.held.remove(position))
            };
            match next {
                Some((_, work)) => work(Ok(())),
                None => return,
            }
        }
    }

    pub(crate) fn held(&self) -> usize {
        self.control.lock().held.len()
    }

    pub(crate) fn set_callbacks(&self, callbacks: Callbacks) {
        self.control.lock().callbacks = callbacks;
    }

    pub(crate) fn callbacks(&self) -> Callbacks {
        self.control.lock().callbacks
    }
}
