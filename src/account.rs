//! What the buffers of a client hold: kept up to date as they are made and dropped.
//!
//! A buffer costs one atomic addition, and one subtraction when it goes; with a label, twice
//! that. There is no lock, and nothing is allocated but a label's row of numbers when a client
//! sees it first. An output that takes a donated input's memory takes its entry over, and
//! nothing is added or subtracted: it never counts twice, nor shows as a peak.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use pjrt_sys::PJRT_Buffer;

use crate::device_shape::DeviceShape;
use crate::label;
use crate::pjrt::handed::Handed;
use crate::pjrt::Owned;

/// A handle to a buffer's memory, which is on the account of its client, with what is known of
/// it.
pub(crate) struct Held {
    raw: Owned<PJRT_Buffer>,
    form: Arc<DeviceShape>,
    device: u32,
    label: label::Number,
    /// Set once the values are known to be there.
    good: AtomicBool,
    /// Whether it shares the host memory that it was made of.
    shared: bool,
}

impl Held {
    /// Counts a new buffer under the thread's label.
    #[inline]
    pub(crate) fn new(raw: Owned<PJRT_Buffer>, form: Arc<DeviceShape>, device: usize) -> Held {
        let held = Held {
            raw,
            form,
            // A client with 2^32 devices is not a case.
            device: device as u32,
            label: label::current(),
            good: AtomicBool::new(false),
            shared: false,
        };
        held.change(|tally| tally.add(held.bytes()));
        held
    }

    /// Becomes the next output of a launch, which lives in this memory: it is counted in its
    /// place. False where there is none.
    #[inline]
    pub(crate) fn take_in_place(
        &mut self,
        handed: &mut Handed<'_>,
        form: &Arc<DeviceShape>,
    ) -> bool {
        if !Arc::ptr_eq(&self.form, form) {
            self.change_form(form);
        }
        self.good = AtomicBool::new(false);
        self.shared = false;
        handed.take_in_place(&mut self.raw)
    }

    /// Of the same size with padding; without, it may be another.
    #[cold]
    fn change_form(&mut self, form: &Arc<DeviceShape>) {
        let before = self.bytes();
        self.form = Arc::clone(form);
        let now = self.bytes();
        if before != now {
            self.change(|tally| tally.remove(before));
            self.change(|tally| tally.add(now));
        }
    }

    /// Does something to each tally that it is counted in.
    #[inline]
    fn change(&self, change: impl Fn(&Tally)) {
        self.raw.session().account.each(self, change);
    }

    /// What it is counted as. Nothing has as much memory, but a program whose run can only fail
    /// may state any size.
    #[inline]
    fn bytes(&self) -> u64 {
        (self.form.bytes() as u64).min(BYTES)
    }

    #[inline]
    pub(crate) fn raw(&self) -> &Owned<PJRT_Buffer> {
        &self.raw
    }

    #[inline]
    pub(crate) fn form(&self) -> &Arc<DeviceShape> {
        &self.form
    }

    #[inline]
    pub(crate) fn device(&self) -> usize {
        self.device as usize
    }

    pub(crate) fn label(&self) -> label::Number {
        self.label
    }

    pub(crate) fn is_known_good(&self) -> bool {
        // The host may look at the values then: what wrote them happened before.
        self.good.load(Ordering::Acquire)
    }

    pub(crate) fn note_good(&self) {
        self.good.store(true, Ordering::Release);
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    pub(crate) fn note_shared(&mut self, shared: bool) {
        self.shared = shared;
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        self.change(|tally| tally.remove(self.bytes()));
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
        let before = self.packed.fetch_add(BUFFER + bytes, Ordering::Relaxed);
        let (after, carry) = before.overflowing_add(BUFFER + bytes);
        if carry {
            self.carried.fetch_add(1, Ordering::Relaxed);
        }
        let live = after & BYTES;
        if live > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(live, Ordering::Relaxed);
        }
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
}
