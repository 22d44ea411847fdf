//! Host memory that a device's DMA engines reach.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use pjrt_sys::{entry, Args, PJRT_Client_DmaMap_Args, PJRT_Client_DmaUnmap_Args};

use super::aligned::HostVec;
use super::host::Plain;
use crate::client::{Client, Session};
use crate::error::{Error, Result};
use crate::host_vec_error::HostVecError;

/// A [`HostVec`] that is mapped for direct memory access by the devices of a client
/// (`PJRT_Client_DmaMap`): transfers from it need no copy to a staging buffer. Derefs to a
/// slice. Mapping takes long, so such memory is best kept and filled again.
///
/// It is for GPUs and TPUs: CPU plugins don't have it and say
/// [`Code::Unimplemented`](crate::Code::Unimplemented). Hand it to
/// [`Buffer::from_host`](crate::Buffer::from_host) as a slice, or to
/// [`Buffer::from_host_async`](crate::Buffer::from_host_async) and
/// [`ChunkedUpload`](crate::ChunkedUpload) by value: then it is unmapped when the device has
/// read it.
///
/// Holds the client. Dropping it unmaps the memory and releases it.
pub struct PinnedVec<T: Plain> {
    values: ManuallyDrop<HostVec<T>>,
    /// `None` where there is nothing to map.
    mapped: Option<Arc<Session>>,
}

impl<T: Plain> PinnedVec<T> {
    /// Maps memory.
    ///
    /// # Errors
    /// The plugin doesn't have it, or can't: the values come back.
    pub fn new(
        client: &Client,
        mut values: HostVec<T>,
    ) -> std::result::Result<PinnedVec<T>, HostVecError<T>> {
        match map(client.session(), &mut values) {
            Ok(mapped) => Ok(PinnedVec {
                values: ManuallyDrop::new(values),
                mapped,
            }),
            Err(error) => {
                let error = error.context(format!(
                    "mapping {} bytes of host memory",
                    size_of_val(&values[..])
                ));
                Err(HostVecError { error, values })
            }
        }
    }

    /// `len` zeros, mapped.
    ///
    /// # Errors
    /// As [`PinnedVec::new`].
    ///
    /// # Panics
    /// As [`HostVec::zeroed`].
    pub fn zeroed(client: &Client, len: usize) -> Result<PinnedVec<T>> {
        PinnedVec::new(client, HostVec::zeroed(len)).map_err(Error::from)
    }

    /// The memory, no longer mapped.
    ///
    /// # Errors
    /// The plugin can't unmap it: it is lost.
    pub fn into_host_vec(self) -> Result<HostVec<T>> {
        // Not to be dropped: on failure the memory is leaked on purpose.
        let mut this = ManuallyDrop::new(self);
        this.unmap()?;
        // SAFETY: `this` is never touched again, so the values have one owner.
        Ok(unsafe { ManuallyDrop::take(&mut this.values) })
    }

    /// Ends the mapping, once; a failure is final.
    fn unmap(&mut self) -> Result<()> {
        let Some(session) = self.mapped.take() else {
            return Ok(());
        };
        let mut args = PJRT_Client_DmaUnmap_Args::zeroed();
        args.client = session.raw.raw();
        args.data = self.values.as_mut_ptr().cast();
        // SAFETY: mapped by this client in `new`, not unmapped yet. Transfers that read it own it
        // or have ended.
        unsafe {
            session
                .raw
                .api()
                .call(entry::PJRT_Client_DmaUnmap, &mut args)
        }
    }
}

/// Maps memory that its owner keeps in one place until it's unmapped; `None` where there is
/// nothing to map.
fn map<T: Plain>(session: &Arc<Session>, values: &mut [T]) -> Result<Option<Arc<Session>>> {
    if values.is_empty() || size_of::<T>() == 0 {
        return Ok(None);
    }
    let mut args = PJRT_Client_DmaMap_Args::zeroed();
    args.client = session.raw.raw();
    args.size = size_of_val(values);
    args.data = values.as_mut_ptr().cast();
    // SAFETY: the client is alive; the caller puts the memory into a `PinnedVec`, which leaks it
    // unless it could be unmapped.
    unsafe {
        session
            .raw
            .api()
            .call(entry::PJRT_Client_DmaMap, &mut args)?
    };
    Ok(Some(Arc::clone(session)))
}

impl<T: Plain> Drop for PinnedVec<T> {
    fn drop(&mut self) {
        // Memory that a device may still reach is leaked on purpose.
        if self.unmap().is_ok() {
            // SAFETY: the last use of the field.
            unsafe { ManuallyDrop::drop(&mut self.values) };
        }
    }
}

impl<T: Plain> Deref for PinnedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T: Plain> DerefMut for PinnedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<T: Plain> std::fmt::Debug for PinnedVec<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PinnedVec({} elements)", self.len())
    }
}
