//! The order of launches on several devices.
//!
//! Two threads that launch programs on several devices at once could enqueue them in
//! different orders on different devices, which then wait for each other for ever. So
//! such launches take turns.
//!
//! On CPU all runs of a client share its threads, of which there are as few as devices.
//! A collective holds a thread for each of its devices until all have come; what finds
//! none is waited for, and after a minute the process is ended. Whatever runs beside a
//! collective can bring that about, whether it was launched before or after: a queue of
//! later runs is taken up before the collective's last device (facts 25, 31). So on CPU
//! a collective launch, called *paced* here, is alone. It waits until the launches before
//! it are done, and later ones wait until it is. What runs when the client's first
//! program with collectives is compiled is not known, and not waited for.
//!
//! All that is waited for has been launched, and no lock is held meanwhile that a launch
//! on one device takes. A client without such programs has none of this.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::buffer::Buffer;
use crate::client::Session;
use crate::error::{Code, Error, Result};
use crate::pjrt::event::DoneEvent;

/// The outcome of one paced launch, shared by its outputs.
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
    /// Programs that are being compiled and may be paced, one more once there was one that is,
    /// and the paced launch in flight. While there are none, launches on one device only look
    /// here.
    paced: AtomicUsize,
    /// Whether there ever was such a program, which is counted for good.
    lasting: AtomicBool,
    /// Held from a launch's turn to its start.
    turn: Mutex<()>,
    gate: Mutex<Gate>,
    /// Notified when the gate's state or a count has changed.
    changed: Condvar,
}

/// Who may start now.
#[derive(Default)]
struct Gate {
    state: State,
    /// The other launches that are inside the plugin's call.
    starting: usize,
    /// The other launches that wait until they may start.
    waiting: usize,
    /// Those of them that come before the next paced launch.
    first: usize,
    /// The paced launch in flight, whose events the session's client keeps.
    latest: Option<Arc<Launch>>,
    records: Records,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// No paced launch is near.
    #[default]
    Open,
    /// One waits for those before it, or is inside the plugin's call.
    Closed,
    /// One is in flight.
    InFlight,
    /// One is in flight, and a thread waits for it.
    Awaited,
}

/// Records that are used again once nobody holds them.
#[derive(Default)]
struct Records {
    known: [Option<Arc<Launch>>; RECORDS],
    oldest: usize,
}

/// The latest launch, the one whose outputs are being passed on, and two whose outputs are
/// kept a little longer.
const RECORDS: usize = 4;

impl Records {
    /// A record without an outcome.
    fn take(&mut self) -> Arc<Launch> {
        for known in self.known.iter_mut().flatten() {
            if let Some(free) = Arc::get_mut(known) {
                *free = Launch::default();
                return Arc::clone(known);
            }
        }
        // Someone may hold on to old ones for long: the new one takes the place of one.
        let new = Arc::new(Launch::default());
        self.known[self.oldest] = Some(Arc::clone(&new));
        self.oldest = (self.oldest + 1) % RECORDS;
        new
    }
}

/// Counts a program whose launches may turn out to be paced, while that isn't known.
pub(crate) struct Paced {
    session: Arc<Session>,
}

impl Paced {
    /// From now on other launches on the client are known to the paced ones.
    pub(crate) fn count(session: &Arc<Session>) -> Paced {
        session.order.paced.fetch_add(1, Ordering::Relaxed);
        Paced {
            session: Arc::clone(session),
        }
    }

    /// It is paced. The client's runs are known to it from now on, also when the program is
    /// gone and another one comes later: long ones may be under way then.
    pub(crate) fn stays(self) {
        if self.session.order.lasting.swap(true, Ordering::Relaxed) {
            return;
        }
        self.session.order.paced.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        self.session.order.paced.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A launch that isn't paced, on a client with programs whose launches are: for the time
/// of the plugin's call.
pub(crate) struct Pass<'a> {
    session: &'a Session,
}

impl Session {
    /// To be had before the start of a launch that isn't paced. `None` where nobody has to
    /// know of it.
    pub(crate) fn pass(&self) -> Option<Pass<'_>> {
        self.has_paced().then(|| self.enter())
    }

    /// Whether others than paced launches have to take care: that they are known to those.
    #[inline]
    pub(crate) fn has_paced(&self) -> bool {
        self.order.paced.load(Ordering::Relaxed) > 0
    }

    /// Waits until no paced launch is near.
    #[cold]
    fn enter(&self) -> Pass<'_> {
        let mut gate = self.order.gate.lock();
        loop {
            match gate.state {
                State::Open => break,
                State::InFlight => self.finish_latest(&mut gate),
                State::Closed | State::Awaited => {
                    gate.waiting += 1;
                    self.order.changed.wait(&mut gate);
                    gate.waiting -= 1;
                    if gate.first > 0 {
                        gate.first -= 1;
                        self.order.changed.notify_all();
                    }
                }
            }
        }
        gate.starting += 1;
        Pass { session: self }
    }

    /// Waits until the paced launch in flight is done, and notes its outcome for all who
    /// hold its outputs. Its failure is reported by them.
    fn finish_latest(&self, gate: &mut MutexGuard<'_, Gate>) {
        gate.state = State::Awaited;
        let outcome = MutexGuard::unlocked(gate, || self.raw.finish_collective());
        if let Some(launch) = gate.latest.take() {
            // Set once: a launch is the latest once.
            let _ = launch.outcome.set(outcome.unwrap_or(Ok(())));
        }
        gate.state = State::Open;
        gate.first = gate.waiting;
        self.order.paced.fetch_sub(1, Ordering::Relaxed);
        self.order.changed.notify_all();
    }

    /// Waits for the turn to launch on several devices.
    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn {
            _turn: self.order.turn.lock(),
            session: self,
        }
    }
}

impl Pass<'_> {
    /// Keeps what tells when the launch is done.
    pub(crate) fn keep(&self, done: impl IntoIterator<Item = DoneEvent>) {
        self.session.raw.keep_others(done);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let order = &self.session.order;
        let mut gate = order.gate.lock();
        gate.starting -= 1;
        if gate.starting == 0 && gate.state == State::Closed {
            order.changed.notify_all();
        }
    }
}

/// The right to launch on several devices.
pub(crate) struct Turn<'a> {
    session: &'a Session,
    _turn: MutexGuard<'a, ()>,
}

impl<'a> Turn<'a> {
    /// Waits until the latest paced launch is done.
    pub(crate) fn settle(&self) {
        let order = &self.session.order;
        let mut gate = order.gate.lock();
        loop {
            match gate.state {
                State::InFlight => self.session.finish_latest(&mut gate),
                State::Awaited => order.changed.wait(&mut gate),
                // Only who has the turn closes it.
                State::Open | State::Closed => break,
            }
        }
    }

    /// Keeps other launches from starting, and waits until those that have started are
    /// done. To be had after [`Turn::settle`], for a paced launch.
    pub(crate) fn close(&self) -> Alone<'_> {
        let session = self.session;
        let mut gate = session.order.gate.lock();
        while gate.first > 0 {
            session.order.changed.wait(&mut gate);
        }
        gate.state = State::Closed;
        let alone = Alone { session };
        while gate.starting > 0 {
            session.order.changed.wait(&mut gate);
        }
        drop(gate);
        session.raw.finish_others();
        alone
    }
}

/// Nothing else runs on the client, or starts.
pub(crate) struct Alone<'a> {
    session: &'a Session,
}

impl Alone<'_> {
    /// Makes a paced launch, which has started, the latest. Its record.
    pub(crate) fn follow(self, done: impl IntoIterator<Item = DoneEvent>) -> Arc<Launch> {
        let order = &self.session.order;
        self.session.raw.keep_collective(done);
        order.paced.fetch_add(1, Ordering::Relaxed);
        let mut gate = order.gate.lock();
        let record = gate.records.take();
        gate.latest = Some(Arc::clone(&record));
        gate.state = State::InFlight;
        drop(gate);
        record
    }
}

impl Drop for Alone<'_> {
    /// Lets the others go on: to wait for the launch, or to start where it came to nothing.
    fn drop(&mut self) {
        let order = &self.session.order;
        let mut gate = order.gate.lock();
        if gate.state == State::Closed {
            gate.state = State::Open;
            gate.first = gate.waiting;
        }
        order.changed.notify_all();
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
