//! Memories, and the places that buffers go to.

use std::fmt;
use std::sync::Arc;

use crate::client::Session;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::pjrt::buffer;
use crate::pjrt::client::MemoryFacts;

/// A memory of a client, such as a device's own or pinned host memory. Cheap to
/// clone; holds the client.
#[derive(Clone)]
pub struct Memory {
    session: Arc<Session>,
    index: usize,
}

impl Memory {
    pub(crate) fn new(session: &Arc<Session>, index: usize) -> Memory {
        Memory {
            session: Arc::clone(session),
            index,
        }
    }

    fn facts(&self) -> &MemoryFacts {
        &self.session.memories[self.index]
    }

    /// The id, unique among the client's memories (`PJRT_Memory_Id`).
    pub fn id(&self) -> i32 {
        self.facts().id
    }

    /// What kind of memory it is, such as `device`, `pinned_host` or
    /// `unpinned_host` (`PJRT_Memory_Kind`).
    pub fn kind(&self) -> &str {
        &self.facts().kind
    }

    /// The devices that can address it (`PJRT_Memory_AddressableByDevices`).
    pub fn devices(&self) -> Vec<Device> {
        let indices = self.facts().devices.iter();
        indices
            .map(|index| Device::new(&self.session, *index))
            .collect()
    }
}

/// Equal when they are one memory of one client.
impl PartialEq for Memory {
    fn eq(&self, other: &Memory) -> bool {
        self.index == other.index && Arc::ptr_eq(&self.session, &other.session)
    }
}

impl Eq for Memory {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.facts().description)
    }
}

/// Where a buffer goes: a device's default memory, or a named memory. Made from
/// `&Device` or `&Memory`.
#[derive(Clone, Debug)]
pub struct Place(At);

#[derive(Clone, Debug)]
enum At {
    Device(Device),
    Memory(Memory),
}

impl From<&Device> for Place {
    fn from(device: &Device) -> Place {
        Place(At::Device(device.clone()))
    }
}

impl From<&Memory> for Place {
    fn from(memory: &Memory) -> Place {
        Place(At::Memory(memory.clone()))
    }
}

impl Place {
    pub(crate) fn session(&self) -> &Arc<Session> {
        match &self.0 {
            At::Device(device) => device.session(),
            At::Memory(memory) => &memory.session,
        }
    }

    /// What [`Place::resolve`] gave.
    pub(crate) fn of(session: &Arc<Session>, at: buffer::Place) -> Place {
        Place(match at {
            buffer::Place::Device(index) => At::Device(Device::new(session, index)),
            buffer::Place::Memory(index) => At::Memory(Memory::new(session, index)),
        })
    }

    pub(crate) fn into_session(self) -> Arc<Session> {
        match self.0 {
            At::Device(device) => device.into_session(),
            At::Memory(memory) => memory.session,
        }
    }

    /// The place as the fence takes it, and the index of its device.
    #[inline]
    pub(crate) fn resolve(&self) -> Result<(buffer::Place, usize)> {
        match &self.0 {
            At::Device(device) if !device.is_addressable() => Err(Error::invalid(format!(
                "{device:?} belongs to process {}; a buffer can only be made on a device of this \
                 process",
                device.process_index()
            ))),
            At::Device(device) => Ok((buffer::Place::Device(device.index()), device.index())),
            At::Memory(memory) => {
                let device = memory.facts().devices.first().ok_or_else(|| {
                    Error::invalid(format!("no device of this process can address {memory:?}"))
                })?;
                Ok((buffer::Place::Memory(memory.index), *device))
            }
        }
    }
}
