//! Handles: every object that the plugin has made, alive or destroyed.
//!
//! A handle is the address of a small box that stays as long as the fake, so no address ever names
//! two objects, and one that was destroyed is told from one that never was. What a handle stands for
//! is looked up by its address; nothing that a caller passes is followed.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use crate::record::Live;

/// What a handle can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Client,
    Device,
    Description,
    Memory,
    Buffer,
    Event,
    Transfer,
    Executable,
    LoadedExecutable,
    Serialized,
    Topology,
    SerializedTopology,
    Error,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Client => "client",
            Kind::Device => "device",
            Kind::Description => "device description",
            Kind::Memory => "memory",
            Kind::Buffer => "buffer",
            Kind::Event => "event",
            Kind::Transfer => "transfer manager",
            Kind::Executable => "executable",
            Kind::LoadedExecutable => "loaded executable",
            Kind::Serialized => "serialised executable",
            Kind::Topology => "topology",
            Kind::SerializedTopology => "serialised topology",
            Kind::Error => "error",
        }
    }

    /// Whether it goes with its client, and isn't the caller's to destroy.
    fn is_lent(self) -> bool {
        matches!(self, Kind::Device | Kind::Description | Kind::Memory)
    }
}

/// What a kind of handle stands for.
pub(crate) trait Object: Any + Send + Sync {
    /// The C type that the handle points to.
    type Raw;
    const KIND: Kind;
}

struct Known {
    kind: Kind,
    id: u64,
    /// The client that it belongs to.
    client: Option<u64>,
    /// Nothing before it's filled and after it was destroyed.
    object: Option<Arc<dyn Any + Send + Sync>>,
    destroyed: bool,
    /// It goes with its client, though others of its kind don't.
    lent: bool,
    /// Keeps the address taken.
    _place: Box<u64>,
}

#[derive(Default)]
pub(crate) struct Registry {
    known: HashMap<usize, Known>,
    last_id: u64,
}

impl Registry {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// A handle whose object follows with [`Registry::fill`].
    pub(crate) fn reserve<T: Object>(&mut self, client: Option<u64>) -> (*mut T::Raw, u64) {
        let id = self.next_id();
        let mut place = Box::new(id);
        let handle: *mut u64 = &mut *place;
        let known = Known {
            kind: T::KIND,
            id,
            client,
            object: None,
            destroyed: false,
            lent: false,
            _place: place,
        };
        self.known.insert(handle as usize, known);
        (handle.cast(), id)
    }

    pub(crate) fn fill<T: Object>(&mut self, handle: *mut T::Raw, object: Arc<T>) {
        if let Some(known) = self.known.get_mut(&(handle as usize)) {
            known.object = Some(object);
        }
    }

    /// Says that a handle goes with its client.
    pub(crate) fn lend<T>(&mut self, handle: *mut T) {
        if let Some(known) = self.known.get_mut(&(handle as usize)) {
            known.lent = true;
        }
    }

    pub(crate) fn make<T: Object>(
        &mut self,
        object: Arc<T>,
        client: Option<u64>,
    ) -> (*mut T::Raw, u64) {
        let (handle, id) = self.reserve::<T>(client);
        self.fill(handle, object);
        (handle, id)
    }

    /// What a handle stands for, with its number.
    pub(crate) fn get<T: Object>(&self, handle: *const T::Raw) -> Result<(Arc<T>, u64), String> {
        let kind = T::KIND.name();
        if handle.is_null() {
            return Err(format!("a null {kind} was passed"));
        }
        let Some(known) = self.known.get(&(handle as usize)) else {
            return Err(format!(
                "a {kind} was passed that this plugin never handed out"
            ));
        };
        if known.kind != T::KIND {
            return Err(format!(
                "number {}, a {}, was passed as a {kind}",
                known.id,
                known.kind.name()
            ));
        }
        let object = known.object.clone().and_then(|any| any.downcast().ok());
        match object {
            Some(object) => Ok((object, known.id)),
            None => Err(format!(
                "the {kind} with number {} was used after it was destroyed",
                known.id
            )),
        }
    }

    /// The number of a live handle; 0 if it's none.
    pub(crate) fn id_of<T: Object>(&self, handle: *const T::Raw) -> u64 {
        let known = self.known.get(&(handle as usize));
        known
            .filter(|known| known.kind == T::KIND && known.object.is_some())
            .map_or(0, |known| known.id)
    }

    /// Ends a handle, and gives what it stood for: to be dropped without the lock.
    pub(crate) fn destroy<T: Object>(&mut self, handle: *const T::Raw) -> Result<Arc<T>, String> {
        match self.get::<T>(handle) {
            Ok((object, _)) => {
                if let Some(known) = self.known.get_mut(&(handle as usize)) {
                    known.object = None;
                    known.destroyed = true;
                }
                Ok(object)
            }
            Err(what) => match self.known.get(&(handle as usize)) {
                Some(known) if known.destroyed && known.kind == T::KIND => Err(format!(
                    "the {} with number {} was destroyed twice",
                    known.kind.name(),
                    known.id
                )),
                _ => Err(what),
            },
        }
    }

    /// Ends what is lent from a client, and tells what else of it is alive still.
    pub(crate) fn end_client(&mut self, client: u64) -> Vec<String> {
        let mut alive = Vec::new();
        let its = |known: &&mut Known| known.client == Some(client) && known.object.is_some();
        for known in self.known.values_mut().filter(its) {
            if known.lent || known.kind.is_lent() {
                known.object = None;
                known.destroyed = true;
            } else {
                alive.push(format!("{} {}", known.kind.name(), known.id));
            }
        }
        alive.sort();
        alive
    }

    /// How many of each kind are alive.
    pub(crate) fn live(&self) -> Live {
        let mut live = Live::default();
        let counted = |known: &&Known| known.object.is_some() && !known.lent;
        for known in self.known.values().filter(counted) {
            let count = match known.kind {
                Kind::Client => &mut live.clients,
                Kind::Buffer => &mut live.buffers,
                Kind::Event => &mut live.events,
                Kind::Transfer => &mut live.transfers,
                Kind::Executable => &mut live.executables,
                Kind::LoadedExecutable => &mut live.loaded_executables,
                Kind::Serialized => &mut live.serialized,
                Kind::Topology => &mut live.topologies,
                Kind::SerializedTopology => &mut live.serialized_topologies,
                Kind::Error => &mut live.errors,
                Kind::Device | Kind::Description | Kind::Memory => continue,
            };
            *count += 1;
        }
        live
    }
}
