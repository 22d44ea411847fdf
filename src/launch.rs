//! Launches of programs on several devices: one at a time, and those whose devices
//! speak to each other one after another.
//!
//! Two threads that launch such programs at once could enqueue them in different
//! orders on different devices, which then wait for each other for ever. And on CPU a
//! loop of un-awaited collective launches exhausts the threads that they wait on: it
//! hangs and then ends the process (seen on 0.106 and 0.115, 4 to 8 devices). So a
//! collective launch waits there until the one before it is done on all its devices.

use std::sync::{Arc, OnceLock, Weak};

use parking_lot::{Mutex, MutexGuard};

use crate::buffer::Buffer;
use crate::client::Session;
use crate::error::{Code, Error, Result};
use crate::pjrt::event::DoneEvent;
use crate::pjrt::Api;

/// The outcome of one collective launch, shared by its outputs.
#[derive(Default)]
pub(crate) struct Launch {
    outcome: OnceLock<Result<()>>,
}

impl Launch {
    /// The outcome, where it is known.
    pub(crate) fn outcome(&self) -> Option<&Result<()>> {
        self.outcome.get()
    }
}

/// The order of launches on one plugin. It is the plugin's and not the client's: on 0.81
/// the collectives of two clients meet each other, and the process is ended.
#[derive(Default)]
pub(crate) struct LaunchOrder {
    /// The latest collective launch, with the client that keeps its events.
    latest: Mutex<Option<Latest>>,
}

struct Latest {
    launch: Arc<Launch>,
    // A client that is gone has waited for its runs.
    session: Weak<Session>,
}

/// The orders of all plugins. Plugins are never unloaded, so these stay.
static ORDERS: Mutex<Vec<(Api, Arc<LaunchOrder>)>> = Mutex::new(Vec::new());

/// The right to launch on several devices.
pub(crate) struct Turn<'a> {
    latest: MutexGuard<'a, Option<Latest>>,
}

impl LaunchOrder {
    /// The order of a plugin's launches.
    pub(crate) fn of_plugin(api: Api) -> Arc<LaunchOrder> {
        let mut orders = ORDERS.lock();
        if let Some((_, order)) = orders.iter().find(|(known, _)| *known == api) {
            return Arc::clone(order);
        }
        let order = Arc::new(LaunchOrder::default());
        orders.push((api, Arc::clone(&order)));
        order
    }

    /// Waits for the turn to launch on several devices.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn {
            latest: self.latest.lock(),
        }
    }
}

impl Turn<'_> {
    /// Waits until the latest collective launch is done, and notes its outcome for
    /// all who hold its outputs. Its failure is reported by them.
    pub(crate) fn settle(&mut self) {
        let Some(Latest { launch, session }) = self.latest.take() else {
            return;
        };
        let finished = session
            .upgrade()
            .and_then(|session| session.raw.finish_collective());
        if let Some(outcome) = finished {
            // Set once: a launch is the latest once.
            let _ = launch.outcome.set(outcome);
        }
    }

    /// Makes a collective launch of `session` the latest.
    pub(crate) fn follow(
        &mut self,
        session: &Arc<Session>,
        launch: Arc<Launch>,
        done: impl IntoIterator<Item = DoneEvent>,
    ) {
        session.raw.keep_collective(done);
        *self.latest = Some(Latest {
            launch,
            session: Arc::downgrade(session),
        });
    }
}

/// Refuses a buffer that holds no values: a collective that starts with one is never
/// finished by the other devices, and the process is ended.
///
/// Waits for pending values where `wait` is set; else they are trusted.
pub(crate) fn make_sure(buffer: &Buffer, wait: bool) -> Result<()> {
    if buffer.is_known_good() {
        return Ok(());
    }
    let outcome = match buffer.launch().and_then(|launch| launch.outcome()) {
        Some(outcome) => outcome.clone(),
        None => {
            let ready = buffer.raw().ready_event()?;
            if !wait && !ready.is_ready()? {
                return Ok(());
            }
            ready.await_blocking()
        }
    };
    outcome.map_err(|cause| {
        Error::new(
            Code::FailedPrecondition,
            format!("its values failed to come: {cause}"),
        )
    })?;
    buffer.note_good();
    Ok(())
}
