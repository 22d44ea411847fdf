//! Where a table's functions find their fake.
//!
//! The C API passes no table to its functions, and `PJRT_Client_Create` gets no handle at all. So each
//! fake has functions of its own: they are compiled once for each of so many slots, and know theirs.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::record::Live;
use crate::state::{Setup, State};
use crate::table::SLOTS;

static STATES: [Mutex<Option<Arc<State>>>; SLOTS] = [const { Mutex::new(None) }; SLOTS];

/// How long a new fake waits for others to go.
const PATIENCE: Duration = Duration::from_secs(60);

/// Puts a new fake into a slot that is free: never used, or left by a fake that is gone, with
/// all its objects.
pub(crate) fn take(setup: &Setup) -> Arc<State> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        for (slot, held) in STATES.iter().enumerate() {
            let mut held = held.lock();
            let free = held.as_ref().is_none_or(|state| {
                state.abandoned.load(Ordering::SeqCst) && state.live() == Live::default()
            });
            if free {
                let state = Arc::new(State::new(slot, setup.clone()));
                *held = Some(Arc::clone(&state));
                return state;
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("all {SLOTS} fakes that a process can have at once are in use");
}

/// The fake in a slot.
pub(crate) fn state(slot: usize) -> Arc<State> {
    match &*STATES[slot].lock() {
        Some(state) => Arc::clone(state),
        None => panic!("the table of slot {slot} is called, and there is no fake in it"),
    }
}

/// Leaves the slot. It's used again once nothing of the fake is alive.
pub(crate) fn leave(state: &Arc<State>) {
    state.abandoned.store(true, Ordering::SeqCst);
}
