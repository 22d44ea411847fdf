//! Launches of programs on several devices: one at a time, and those whose devices
//! speak to each other one after another.
//!
//! Two threads that launch such programs at once could enqueue them in different
//! orders on different devices, which then wait for each other for ever. And on CPU a
//! loop of un-awaited collective launches exhausts the threads that they wait on: it
//! hangs and then ends the process (seen on 0.106 and 0.115, 4 to 8 devices). So a
//! collective launch waits there until the one before it is done on all its devices.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};

use crate::buffer::Buffer;
use crate::client::Session;
use crate::error::{Code, Error, Result};
use crate::pjrt::event::DoneEvent;

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

/// A client's order of launches.
#[derive(Default)]
pub(crate) struct LaunchOrder {
    /// The latest collective launch, whose events the fence keeps.
    latest: Mutex<Option<Arc<Launch>>>,
}

/// The right to launch on several devices.
pub(crate) struct Turn<'a> {
    latest: MutexGuard<'a, Option<Arc<Launch>>>,
    session: &'a Session,
}

impl Session {
    /// Waits for the turn to launch on several devices.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn {
            latest: self.order.latest.lock(),
            session: self,
        }
    }
}

impl Turn<'_> {
    /// Waits until the latest collective launch is done, and notes its outcome for
    /// all who hold its outputs. Its failure is reported by them.
    pub(crate) fn settle(&mut self) {
        if let Some(outcome) = self.session.raw.finish_collective() {
            if let Some(launch) = self.latest.take() {
                // Set once: a launch is the latest once.
                let _ = launch.outcome.set(outcome);
            }
        }
    }

    /// Makes a collective launch the latest.
    pub(crate) fn follow(
        &mut self,
        launch: Arc<Launch>,
        done: impl IntoIterator<Item = DoneEvent>,
    ) {
        self.session.raw.keep_collective(done);
        *self.latest = Some(launch);
    }
}

/// A number for a collective launch on CPU that no other of the process has. Without one,
/// 0.81 takes the launches of two clients for one: their collectives meet, and the process is
/// ended. Elsewhere the processes of a job would have to agree on it, so it stays 0 there.
pub(crate) fn unique_launch_id() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Refuses a buffer that holds no values: a collective that starts with one is never
/// finished by the other devices, and the process is ended; so is it by some copies of one.
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
