//! What the buffers of a client hold: kept up to date as they are made and dropped.
//!
//! A buffer costs one atomic addition, and one subtraction when it goes; with a label, twice
//! that. There is no lock, and nothing is allocated but a label's row of numbers when a client
//! sees it first. An output that takes a donated input's memory takes its entry over, and
//! nothing is added or subtracted: it never counts twice, nor shows as a peak.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::OnceLock;

use pjrt_sys::PJRT_Buffer;

use crate::label;
use crate::pjrt::Owned;
use crate::spare;

/// The outputs of a launch, device by device: up to so many of all devices together lie on
/// the stack.
pub(crate) type HeldOutputs = spare::List<[Held; 64]>;

/// A handle to a buffer's memory, which is on the account of its client.
pub(crate) struct Held {
    raw: Owned<PJRT_Buffer>,
    bytes: u64,
    device: u32,
    label: label::Number,
    /// Cleared once an output has taken the entry over.
    counted: AtomicBool,
}

impl Held {
    /// Counts a new buffer under the thread's label.
    #[inline]
    pub(crate) fn new(raw: Owned<PJRT_Buffer>, device: usize, bytes: usize) -> Held {
        let held = Held {
            raw,
            // A client with 2^32 devices is not a case; nor is one with so much memory, but a
            // program whose run can only fail may state any size.
            bytes: (bytes as u64).min(BYTES),
            device: device as u32,
            label: label::current(),
            counted: AtomicBool::new(true),
        };
        let account = &held.raw.session().account;
        account.each(&held, |tally| tally.add(held.bytes));
        held
    }

    /// An output that lives in this input's memory, and is counted in its place.
    #[inline]
    pub(crate) fn hand_over(&self, raw: Owned<PJRT_Buffer>) -> Held {
        let counted = self.counted.load(Ordering::Relaxed);
        // The input was given: nobody else has it.
        self.counted.store(false, Ordering::Relaxed);
        Held {
            raw,
            bytes: self.bytes,
            device: self.device,
            label: self.label,
            counted: AtomicBool::new(counted),
        }
    }

    /// Counts an input again that outlived a call that failed. What that call handed out is
    /// about to be dropped, so this is no peak.
    pub(crate) fn count_again(&self) {
        if !self.counted.load(Ordering::Relaxed) {
            self.counted.store(true, Ordering::Relaxed);
            let account = &self.raw.session().account;
            account.each(self, |tally| {
                tally.add_quietly(self.bytes);
            });
        }
    }

    pub(crate) fn raw(&self) -> &Owned<PJRT_Buffer> {
        &self.raw
    }

    pub(crate) fn device(&self) -> usize {
        self.device as usize
    }

    pub(crate) fn label(&self) -> label::Number {
        self.label
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if *self.counted.get_mut() {
            let account = &self.raw.session().account;
            account.each(self, |tally| tally.remove(self.bytes));
        }
    }
}

/// A client's account.
pub(crate) struct Account {
    devices: Box<[Tally]>,
    /// By label, then by device; a row when the label is first seen.
    labels: Box<[OnceLock<Box<[Tally]>>]>,
}

impl Account {
    pub(crate) fn new(devices: usize) -> Account {
        Account {
            devices: row(devices),
            labels: (0..label::Number::MAX).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Does something to each tally that a buffer is counted in.
    #[inline]
    fn each(&self, held: &Held, change: impl Fn(&Tally)) {
        let device = held.device();
        change(&self.devices[device]);
        if held.label != label::NONE {
            let row = &self.labels[usize::from(held.label) - 1];
            change(&row.get_or_init(|| row_of(self))[device]);
        }
    }

    /// A device's tally.
    pub(crate) fn device(&self, device: usize) -> &Tally {
        &self.devices[device]
    }

    /// The labels that were seen on the client, with their tallies on a device.
    pub(crate) fn labels(&self, device: usize) -> impl Iterator<Item = (label::Number, &Tally)> {
        let rows = (1..=label::Number::MAX).zip(&*self.labels);
        rows.filter_map(move |(number, row)| Some((number, &row.get()?[device])))
    }

    /// Sets all peaks to what is held now.
    pub(crate) fn forget_peaks(&self) {
        let rows = self.labels.iter().filter_map(OnceLock::get);
        let tallies = rows.flat_map(|row| row.iter()).chain(&*self.devices);
        tallies.for_each(Tally::forget_peak);
    }
}

#[cold]
fn row_of(account: &Account) -> Box<[Tally]> {
    row(account.devices.len())
}

fn row(devices: usize) -> Box<[Tally]> {
    (0..devices).map(|_| Tally::default()).collect()
}

/// Live bytes, their peak, and live buffers. On a cache line of its own: devices are used by
/// different threads.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Tally {
    /// Bytes in the lower bits, buffers above them, so that one addition does for both.
    packed: AtomicU64,
    /// How often more buffers were counted than there is room for: their upper bits.
    carried: AtomicI64,
    peak: AtomicU64,
}

/// 64 TiB.
const BYTES_BITS: u32 = 46;
const BYTES: u64 = (1 << BYTES_BITS) - 1;
const BUFFER: u64 = 1 << BYTES_BITS;

/// What a tally says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) live_bytes: u64,
    pub(crate) peak_bytes: u64,
    pub(crate) live_buffers: u64,
}

impl Tally {
    #[inline]
    fn add(&self, bytes: u64) {
        let live = self.add_quietly(bytes);
        if live > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(live, Ordering::Relaxed);
        }
    }

    /// Adds a buffer without a look at the peak; the live bytes.
    #[inline]
    fn add_quietly(&self, bytes: u64) -> u64 {
        let before = self.packed.fetch_add(BUFFER + bytes, Ordering::Relaxed);
        let (after, carry) = before.overflowing_add(BUFFER + bytes);
        if carry {
            self.carried.fetch_add(1, Ordering::Relaxed);
        }
        after & BYTES
    }

    #[inline]
    fn remove(&self, bytes: u64) {
        let before = self.packed.fetch_sub(BUFFER + bytes, Ordering::Relaxed);
        if before < BUFFER + bytes {
            self.carried.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// While other threads make and drop buffers, of a moment each.
    pub(crate) fn figures(&self) -> Figures {
        let packed = self.packed.load(Ordering::Relaxed);
        let carried = self.carried.load(Ordering::Relaxed).max(0) as u64;
        Figures {
            live_bytes: packed & BYTES,
            peak_bytes: self.peak.load(Ordering::Relaxed),
            live_buffers: (packed >> BYTES_BITS) + (carried << (64 - BYTES_BITS)),
        }
    }

    fn forget_peak(&self) {
        let live = self.packed.load(Ordering::Relaxed) & BYTES;
        self.peak.store(live, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(live_bytes: u64, peak_bytes: u64, live_buffers: u64) -> Figures {
        Figures {
            live_bytes,
            peak_bytes,
            live_buffers,
        }
    }

    #[test]
    fn more_buffers_than_the_packed_bits_hold() {
        let tally = Tally::default();
        // 2^18 fit; the bytes stay apart from them.
        let many = (1 << 20) + 3;
        (0..many).for_each(|_| tally.add(5));
        assert_eq!(tally.figures(), figures(5 * many, 5 * many, many));
        (0..many - 1).for_each(|_| tally.remove(5));
        assert_eq!(tally.figures(), figures(5, 5 * many, 1));
        tally.forget_peak();
        assert_eq!(tally.figures(), figures(5, 5, 1));
        tally.remove(5);
        assert_eq!(tally.figures(), figures(0, 5, 0));
    }

    #[test]
    fn the_largest_sizes_come_back_to_nothing() {
        let tally = Tally::default();
        (0..1000).for_each(|_| tally.add(BYTES));
        (0..1000).for_each(|_| tally.remove(BYTES));
        let now = tally.figures();
        assert_eq!((now.live_bytes, now.live_buffers), (0, 0));
    }

    #[test]
    fn added_again_is_no_peak() {
        let tally = Tally::default();
        tally.add(8);
        tally.add_quietly(8);
        assert_eq!(tally.figures(), figures(16, 8, 2));
    }
}
