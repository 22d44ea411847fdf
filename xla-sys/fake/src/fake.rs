//! The fake: made, told what to do, asked what happened.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pjrt_sys::PJRT_Api;

use crate::failure::Failure;
use crate::record::{Call, Execution, Live};
use crate::slots;
use crate::state::{Callbacks, EventKind, Readiness, Setup, State};
use crate::table::{slot_of, Table};

/// A plugin made of Rust. See the [crate](crate)'s documentation.
///
/// It may be told and asked from any thread. Its tables stay when it's dropped, but must not be used
/// any more once all that was made with them is destroyed too.
pub struct Fake {
    state: Arc<State>,
}

/// What a [`Fake`] is made with.
pub struct Builder(Setup);

impl Builder {
    /// How many devices its clients have: 2 unless it's said here, or by the create option
    /// `cpu_device_count`. Each has a memory of its own, and all share the host's.
    #[must_use]
    pub fn devices(mut self, devices: usize) -> Builder {
        self.0.devices = devices;
        self
    }

    /// How many devices of another process its clients know, after their own: none by default.
    #[must_use]
    pub fn remote_devices(mut self, devices: usize) -> Builder {
        self.0.remote_devices = devices;
        self
    }

    /// The platform's name, `fake` by default. Callers may treat `cpu` in a way of its own.
    #[must_use]
    pub fn platform(mut self, name: &str) -> Builder {
        name.clone_into(&mut self.0.platform);
        self
    }

    /// Makes the fake.
    ///
    /// # Panics
    /// The process has as many as it can have (64), and none goes away.
    pub fn build(self) -> Fake {
        Fake {
            state: slots::take(&self.0),
        }
    }
}

impl Default for Fake {
    fn default() -> Fake {
        Fake::new()
    }
}

impl Fake {
    /// A fake with two devices.
    ///
    /// # Panics
    /// As [`Builder::build`].
    pub fn new() -> Fake {
        Fake::builder().build()
    }

    /// A fake to be described.
    pub fn builder() -> Builder {
        Builder(Setup {
            devices: 2,
            remote_devices: 0,
            platform: "fake".to_owned(),
            platform_version: "fake 1".to_owned(),
        })
    }

    /// Its whole table.
    pub fn table(&self) -> *const PJRT_Api {
        self.table_of(&Table::new())
    }

    /// Its table in another form: older, shorter, with holes.
    pub fn table_of(&self, table: &Table) -> *const PJRT_Api {
        table.leak(self.state.slot)
    }

    /// Has calls of an entry fail. Of several failures that are set for one call the first counts.
    ///
    /// A failing destroy has destroyed all the same; the callback of a failing `PJRT_Event_OnReady`
    /// doesn't run. The two entries that return nothing, `PJRT_Error_Destroy` and
    /// `PJRT_Error_Message`, can't fail.
    ///
    /// # Panics
    /// There is no such entry.
    pub fn fail(&self, entry: &str, failure: Failure) {
        self.state.add_fault(slot_of(entry).0, failure);
    }

    /// Has calls of an entry report success and do nothing, hand out nothing.
    ///
    /// # Panics
    /// There is no such entry.
    pub fn silence(&self, entry: &str) {
        self.state.silence(slot_of(entry).0);
    }

    /// Takes back all that [`Fake::fail`] and [`Fake::silence`] have set.
    pub fn heal(&self) {
        self.state.clear_faults();
    }

    /// Says when events of a kind fire, and how, of all work that is asked for from now on.
    pub fn events(&self, kind: EventKind, readiness: Readiness) {
        self.state.set_readiness(kind, readiness);
    }

    /// Has all outputs of runs carry an error from now on: `PJRT_LoadedExecutable_Execute` reports
    /// success, and consumes what is donated.
    pub fn fail_outputs(&self, failure: Failure) {
        self.events(EventKind::Completion, Readiness::Failing(failure.clone()));
        self.events(EventKind::Output, Readiness::Failing(failure));
    }

    /// Lets all held events fire, those too that are held when others have fired.
    pub fn release_events(&self) {
        self.state.release(None);
    }

    /// Lets the held events of a kind fire.
    pub fn release(&self, kind: EventKind) {
        self.state.release(Some(kind));
    }

    /// How many events are held.
    pub fn held(&self) -> usize {
        self.state.held()
    }

    /// Says where the callbacks of `PJRT_Event_OnReady` run from now on.
    pub fn callbacks(&self, callbacks: Callbacks) {
        self.state.set_callbacks(callbacks);
    }

    /// How many objects are alive.
    pub fn live(&self) -> Live {
        self.state.live()
    }

    /// What callers did that the C API forbids, or that ends a real plugin's process: in the order
    /// in which it happened.
    pub fn violations(&self) -> Vec<String> {
        self.state.book.lock().violations.clone()
    }

    /// All calls, in the order in which they began.
    pub fn calls(&self) -> Vec<Call> {
        self.state.book.lock().calls.clone()
    }

    /// How often an entry was called.
    pub fn count(&self, entry: &str) -> usize {
        let book = self.state.book.lock();
        book.calls.iter().filter(|call| call.entry == entry).count()
    }

    /// What `PJRT_LoadedExecutable_Execute` was passed, call by call.
    pub fn executions(&self) -> Vec<Execution> {
        let book = self.state.book.lock();
        let executions = book.calls.iter().filter_map(|call| call.execution.clone());
        executions.collect()
    }

    /// Waits until nothing is alive, and panics if that takes a minute, or if there were violations.
    ///
    /// It waits because callers may destroy on threads of their own what a callback has set free.
    ///
    /// # Panics
    /// Something is alive, or there were violations: the message lists both.
    #[track_caller]
    pub fn assert_clean(&self) {
        let clean = self.wait_for(Duration::from_secs(60), |live| live == Live::default());
        let violations = self.violations();
        assert!(
            clean && violations.is_empty(),
            "the plugin isn't left clean: {:?}, violations: {violations:#?}",
            self.live()
        );
    }

    /// Waits until the numbers of live objects are as wanted: whether they are.
    pub fn wait_for(&self, patience: Duration, wanted: impl Fn(Live) -> bool) -> bool {
        for thread in std::mem::take(&mut *self.state.threads.lock()) {
            // One that has panicked has said so.
            let _ = thread.join();
        }
        let start = Instant::now();
        loop {
            if wanted(self.live()) {
                return true;
            }
            if start.elapsed() > patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        slots::leave(&self.state);
    }
}
