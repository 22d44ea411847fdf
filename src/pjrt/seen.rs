//! What is asked once for all buffers of a shape.
//!
//! On a CPU client all memory is the host's, and a buffer's size follows from its shape and order;
//! whether the memory of a new buffer is shared follows from these and from the memory's address
//! (fact 78). A question takes as long as the rest of a view, and a fifth of a call that shares
//! memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pjrt_sys::PJRT_Buffer;

use super::aligned::ALIGNMENT;
use super::buffer::Place;
use super::owned::Owned;
use crate::error::Result;

/// What was seen of a shape's buffers on a CPU client. It stays empty on others, whose memories
/// differ.
#[derive(Default)]
pub(crate) struct Seen {
    /// How many bytes each takes, in memory that the host can look at: 0 while that isn't known.
    host_bytes: AtomicUsize,
    /// Whether a device shares aligned memory that it is lent.
    shares_lent: AtomicBool,
    /// Whether a device shares aligned memory that it is given.
    shares_given: AtomicBool,
}

/// How host memory comes to a device that may share it.
#[derive(Clone, Copy)]
pub(crate) enum Sharing {
    /// `kImmutableZeroCopy`.
    Lent,
    /// `kMutableZeroCopy`.
    Given,
}

impl Seen {
    /// Whether `raw`, which has the shape and order that this is of, lies in memory that the host
    /// can look at and takes so many bytes there, which are not none.
    pub(super) fn is_on_host(&self, raw: &Owned<PJRT_Buffer>, bytes: usize) -> Result<bool> {
        if self.host_bytes.load(Ordering::Relaxed) == bytes {
            return Ok(true);
        }
        let fits = raw.is_on_cpu()? && raw.on_device_size()? == bytes;
        if fits && is_cpu(raw) {
            self.host_bytes.store(bytes, Ordering::Relaxed);
        }
        Ok(fits)
    }

    /// Whether `raw`, which was made of the memory at `address` in the shape and order that this is
    /// of, shares that memory.
    #[inline]
    pub(crate) fn is_shared(
        &self,
        raw: &Owned<PJRT_Buffer>,
        address: usize,
        at: Place,
        sharing: Sharing,
    ) -> bool {
        let known = match sharing {
            Sharing::Lent => &self.shares_lent,
            Sharing::Given => &self.shares_given,
        };
        // Others are copied, or there is nothing to share.
        let usual = address % ALIGNMENT == 0 && matches!(at, Place::Device(_));
        if usual && known.load(Ordering::Relaxed) {
            return true;
        }
        let shared = raw.address().is_ok_and(|given| given == address);
        if shared && usual && is_cpu(raw) {
            known.store(true, Ordering::Relaxed);
        }
        shared
    }
}

fn is_cpu(raw: &Owned<PJRT_Buffer>) -> bool {
    raw.session().platform_name() == "cpu"
}
