//! Memory: a device's, or the caller's used in place.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::event::Promise;
use crate::state::{EventKind, State};

/// Where the values of a buffer lie. Dropping it ends the use of the caller's memory.
pub(crate) struct Storage {
    state: Weak<State>,
    place: Place,
}

enum Place {
    Device(Mutex<Aligned>),
    Host {
        memory: HostMemory,
        mutable: bool,
        done: Arc<Promise>,
    },
}

/// Bytes whose address is a multiple of 64, as a device's usually is.
struct Aligned {
    lines: Box<[Line]>,
    size: usize,
}

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

impl Aligned {
    fn new(bytes: &[u8]) -> Aligned {
        let line = |chunk: &[u8]| {
            let mut line = Line([0; 64]);
            line.0[..chunk.len()].copy_from_slice(chunk);
            line
        };
        let lines: Vec<Line> = bytes.chunks(64).map(line).collect();
        Aligned {
            // Memory without elements has an address too.
            lines: if lines.is_empty() {
                [Line([0; 64])].into()
            } else {
                lines.into()
            },
            size: bytes.len(),
        }
    }

    fn read(&self) -> Vec<u8> {
        let mut bytes = self
            .lines
            .iter()
            .flat_map(|line| line.0)
            .collect::<Vec<u8>>();
        bytes.truncate(self.size);
        bytes
    }

    fn write(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size, "the size was checked");
        for (line, chunk) in self.lines.iter_mut().zip(bytes.chunks(64)) {
            line.0[..chunk.len()].copy_from_slice(chunk);
        }
    }
}

/// Memory that a caller has passed, and keeps as it is until it's told.
#[derive(Clone, Copy)]
pub(crate) struct HostMemory {
    start: *mut u8,
    size: usize,
}

// SAFETY: the caller has promised that it may be read, or written, from any thread until the event
// for it has fired.
unsafe impl Send for HostMemory {}
// SAFETY: as above; the runtime orders its own accesses.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// # Safety
    /// From now until the event that goes with it has fired, `size` bytes at `start` may be read,
    /// and written if they're meant to be.
    pub(crate) unsafe fn new(start: *mut u8, size: usize) -> HostMemory {
        HostMemory { start, size }
    }

    pub(crate) fn read(self) -> Vec<u8> {
        // SAFETY: the promise of `new`. `text::list` lets null be empty.
        unsafe { crate::text::list(self.start.cast_const(), self.size) }.to_vec()
    }

    pub(crate) fn write(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size, "the size was checked");
        if self.size > 0 {
            // SAFETY: the promise of `new`, and the length.
            unsafe {
                self.start
                    .copy_from_nonoverlapping(bytes.as_ptr(), self.size)
            };
        }
    }
}

impl Storage {
    fn new(state: &Arc<State>, place: Place) -> Arc<Storage> {
        state.storages.fetch_add(1, Ordering::SeqCst);
        Arc::new(Storage {
            state: Arc::downgrade(state),
            place,
        })
    }

    /// Memory of a device.
    pub(crate) fn device(state: &Arc<State>, bytes: &[u8]) -> Arc<Storage> {
        Storage::new(state, Place::Device(Mutex::new(Aligned::new(bytes))))
    }

    /// Memory of the caller, in use until this is dropped; `done` tells.
    pub(crate) fn host(
        state: &Arc<State>,
        memory: HostMemory,
        mutable: bool,
        done: Arc<Promise>,
    ) -> Arc<Storage> {
        Storage::new(
            state,
            Place::Host {
                memory,
                mutable,
                done,
            },
        )
    }

    pub(crate) fn read(&self) -> Vec<u8> {
        match &self.place {
            Place::Device(bytes) => bytes.lock().read(),
            Place::Host { memory, .. } => memory.read(),
        }
    }

    /// Puts values in the place of those that are there.
    pub(crate) fn write(&self, bytes: &[u8]) {
        match &self.place {
            Place::Device(old) => old.lock().write(bytes),
            Place::Host {
                memory, mutable, ..
            } => {
                assert!(
                    mutable,
                    "host memory that may only be read is never written"
                );
                memory.write(bytes);
            }
        }
    }

    /// Puts some values in the place of those that are there.
    pub(crate) fn write_at(&self, offset: usize, bytes: &[u8]) {
        let mut all = self.read();
        all[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.write(&all);
    }

    pub(crate) fn address(&self) -> usize {
        match &self.place {
            Place::Device(bytes) => bytes.lock().lines.as_ptr() as usize,
            Place::Host { memory, .. } => memory.start as usize,
        }
    }

    /// Whether an output may take it over.
    pub(crate) fn is_writable(&self) -> bool {
        !matches!(self.place, Place::Host { mutable: false, .. })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let Some(state) = self.state.upgrade() else {
            return;
        };
        state.storages.fetch_sub(1, Ordering::SeqCst);
        if let Place::Host { done, .. } = &self.place {
            let done = Arc::clone(done);
            state.schedule(EventKind::HostDone, move |outcome| done.resolve(outcome));
        }
    }
}
