//! Devices.

use std::fmt;
use std::sync::Arc;

use crate::client::{Client, Session};
use crate::error::Result;
use crate::memory::Memory;
use crate::pjrt::client::DeviceFacts;
use crate::value::Value;

/// A device of a client. Cheap to clone; holds the client.
#[derive(Clone)]
pub struct Device {
    session: Arc<Session>,
    index: usize,
}

impl Device {
    pub(crate) fn new(session: &Arc<Session>, index: usize) -> Device {
        Device {
            session: Arc::clone(session),
            index,
        }
    }

    fn facts(&self) -> &DeviceFacts {
        &self.session.devices[self.index]
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn into_session(self) -> Arc<Session> {
        self.session
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The client it belongs to.
    pub fn client(&self) -> Client {
        Client::from_session(&self.session)
    }

    /// The id, unique among all processes' devices (`PJRT_DeviceDescription_Id`).
    pub fn id(&self) -> i32 {
        self.facts().id
    }

    /// What kind of device it is, in the vendor's words
    /// (`PJRT_DeviceDescription_Kind`).
    pub fn kind(&self) -> &str {
        &self.facts().kind
    }

    /// Whether this process can use it (`PJRT_Device_IsAddressable`).
    pub fn is_addressable(&self) -> bool {
        self.facts().addressable
    }

    /// The process that can use it (`PJRT_DeviceDescription_ProcessIndex`).
    pub fn process_index(&self) -> i32 {
        self.facts().process_index
    }

    /// The hardware's own number, such as a CUDA ordinal
    /// (`PJRT_Device_LocalHardwareId`); `None` where it has none.
    pub fn local_hardware_id(&self) -> Option<i32> {
        self.facts().local_hardware_id
    }

    /// What the plugin says of it, such as `coords` of a TPU or
    /// `compute_capability` of a GPU (`PJRT_DeviceDescription_Attributes`).
    pub fn attributes(&self) -> &[(String, Value)] {
        &self.facts().attributes
    }

    /// One attribute by name.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.attributes().iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// The memories it can address (`PJRT_Device_AddressableMemories`).
    pub fn memories(&self) -> Vec<Memory> {
        let indices = self.facts().memories.iter();
        indices
            .map(|index| Memory::new(&self.session, *index))
            .collect()
    }

    /// The memory that buffers go to when none is named
    /// (`PJRT_Device_DefaultMemory`).
    pub fn default_memory(&self) -> Option<Memory> {
        let index = self.facts().default_memory?;
        Some(Memory::new(&self.session, index))
    }

    /// The allocator's figures (`PJRT_Device_MemoryStats`).
    ///
    /// # Errors
    /// The plugin keeps none, as the CPU plugins.
    pub fn memory_stats(&self) -> Result<MemoryStats> {
        let figures = self.session.raw.allocator_figures(self.index)?;
        Ok(MemoryStats {
            bytes_in_use: figures.bytes_in_use,
            peak_bytes_in_use: figures.peak_bytes_in_use,
            allocation_count: figures.num_allocs,
            largest_allocation: figures.largest_alloc_size,
            bytes_limit: figures.bytes_limit,
            bytes_reserved: figures.bytes_reserved,
            peak_bytes_reserved: figures.peak_bytes_reserved,
            bytes_reservable_limit: figures.bytes_reservable_limit,
            largest_free_block: figures.largest_free_block_bytes,
            pool_bytes: figures.pool_bytes,
            peak_pool_bytes: figures.peak_pool_bytes,
        })
    }
}

/// Figures of a device's allocator, in bytes unless they count; `None` where the
/// plugin doesn't keep them (`PJRT_Device_MemoryStats`).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemoryStats {
    /// In use now.
    pub bytes_in_use: i64,
    /// In use at most so far.
    pub peak_bytes_in_use: Option<i64>,
    /// How many allocations were made.
    pub allocation_count: Option<i64>,
    /// The largest single allocation so far.
    pub largest_allocation: Option<i64>,
    /// What the allocator may use at most.
    pub bytes_limit: Option<i64>,
    /// Reserved now.
    pub bytes_reserved: Option<i64>,
    /// Reserved at most so far.
    pub peak_bytes_reserved: Option<i64>,
    /// What may be reserved at most.
    pub bytes_reservable_limit: Option<i64>,
    /// The largest free block.
    pub largest_free_block: Option<i64>,
    /// Held in the allocator's pool.
    pub pool_bytes: Option<i64>,
    /// Held in the pool at most so far.
    pub peak_pool_bytes: Option<i64>,
}

/// Equal when they are one device of one client.
impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.index == other.index && Arc::ptr_eq(&self.session, &other.session)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.facts().description)
    }
}
