//! The launch.

use std::ptr;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Event, PJRT_ExecuteOptions, PJRT_LoadedExecutable,
    PJRT_LoadedExecutable_Execute_Args,
};
use smallvec::{smallvec, SmallVec};

use super::client::nothing_from;
use super::owned::Owned;
use crate::error::Result;

/// Arguments, or outputs, of all devices together, up to which the small lists of a launch
/// allocate nothing. The large ones allocate nothing up to 512: more to set up, and too
/// much for the many launches on one device that need little.
pub(crate) const INLINE: usize = 64;
const INLINE_DEVICES: usize = 8;

type Small = [*mut PJRT_Buffer; INLINE];
type Large = [*mut PJRT_Buffer; INLINE * INLINE_DEVICES];

/// What to launch. Lists are device by device, in the executable's logical order.
pub(crate) struct Launch<'a> {
    pub(crate) executable: &'a Owned<PJRT_LoadedExecutable>,
    pub(crate) devices: usize,
    /// Outputs on each device, as the executable states.
    pub(crate) outputs: usize,
    /// The arguments that XLA may not consume, by their index in a device's list.
    pub(crate) lent: &'a [i64],
    /// Whether an event is wanted that tells when each device is done.
    pub(crate) completion: bool,
    /// What tells this launch from others, where that is needed.
    pub(crate) id: i32,
}

/// An output, still without a shape.
pub(crate) type RawBuffer = Owned<PJRT_Buffer>;

/// Room for the outputs of a launch.
pub(crate) trait Room: smallvec::Array<Item = RawBuffer> {}

impl<A: smallvec::Array<Item = RawBuffer>> Room for A {}

/// What a launch gave: `outputs` buffers a device, one device after another.
pub(crate) struct Launched<O: Room = [RawBuffer; INLINE]> {
    pub(crate) outputs: SmallVec<O>,
    pub(crate) done: SmallVec<[Owned<PJRT_Event>; INLINE_DEVICES]>,
}

impl Default for Launched {
    /// With room for what most programs on one device give.
    fn default() -> Launched {
        Launched {
            outputs: SmallVec::new(),
            done: SmallVec::new(),
        }
    }
}

impl Launched<[RawBuffer; INLINE * INLINE_DEVICES]> {
    /// With room for as much from each of several devices.
    pub(crate) fn large() -> Self {
        Launched {
            outputs: SmallVec::new(),
            done: SmallVec::new(),
        }
    }
}

impl Launch<'_> {
    /// Starts the program on all of its devices (`PJRT_LoadedExecutable_Execute`), and
    /// puts what it gives into `launched`, which is empty before.
    ///
    /// `arguments` gives every device's list, one after another, each as long as
    /// the program has parameters. The caller has checked all that the plugin
    /// doesn't (facts 5, 7), and keeps or drops the arguments after the call as it
    /// likes: the runtime orders device memory itself (fact 10).
    pub(crate) fn start<'b, O: Room>(
        &self,
        arguments: impl ExactSizeIterator<Item = &'b Owned<PJRT_Buffer>>,
        launched: &mut Launched<O>,
    ) -> Result<()> {
        let most = arguments.len().max(self.devices * self.outputs);
        if most > INLINE {
            self.start_with::<Large, O>(arguments, launched)
        } else {
            self.start_with::<Small, O>(arguments, launched)
        }
    }

    /// As [`Launch::start`], with pointer lists of the size `L`.
    fn start_with<'b, L: smallvec::Array<Item = *mut PJRT_Buffer>, O: Room>(
        &self,
        arguments: impl Iterator<Item = &'b Owned<PJRT_Buffer>>,
        launched: &mut Launched<O>,
    ) -> Result<()> {
        let session = self.executable.session();
        let arguments: SmallVec<L> = arguments.map(Owned::raw).collect();
        let per_device = arguments.len() / self.devices;
        assert_eq!(
            per_device * self.devices,
            arguments.len(),
            "uneven argument lists"
        );
        let argument_lists: SmallVec<[*const *mut PJRT_Buffer; INLINE_DEVICES]> = (0..self.devices)
            .map(|device| arguments[device * per_device..].as_ptr())
            .collect();
        let mut outputs: SmallVec<L> = smallvec![ptr::null_mut(); self.devices * self.outputs];
        let output_start = outputs.as_mut_ptr();
        let output_lists: SmallVec<[*mut *mut PJRT_Buffer; INLINE_DEVICES]> = (0..self.devices)
            // `wrapping_add` stays inside the list, or one past it without outputs.
            .map(|device| output_start.wrapping_add(device * self.outputs))
            .collect();
        let mut events: SmallVec<[*mut PJRT_Event; INLINE_DEVICES]> =
            smallvec![ptr::null_mut(); if self.completion { self.devices } else { 0 }];

        let mut options = PJRT_ExecuteOptions::zeroed();
        options.launch_id = self.id;
        options.non_donatable_input_indices = self.lent.as_ptr();
        options.num_non_donatable_input_indices = self.lent.len();
        let mut args = PJRT_LoadedExecutable_Execute_Args::zeroed();
        args.executable = self.executable.raw();
        args.options = &mut options;
        args.argument_lists = argument_lists.as_ptr();
        args.num_devices = self.devices;
        args.num_args = per_device;
        args.output_lists = output_lists.as_ptr();
        if self.completion {
            args.device_complete_events = events.as_mut_ptr();
        }
        // SAFETY: all lists outlive the call; argument buffers are alive, borrowed
        // by the iterator's caller; output lists have the room that the executable
        // states, zeroed. Whatever was handed out is owned before the status
        // counts (fact 22).
        unsafe {
            let status = session
                .raw
                .api()
                .call(entry::PJRT_LoadedExecutable_Execute, &mut args);
            let made = outputs.iter().filter_map(|raw| Owned::adopt(session, *raw));
            launched.outputs.extend(made);
            let made = events.iter().filter_map(|raw| Owned::adopt(session, *raw));
            launched.done.extend(made);
            status?;
            if launched.outputs.len() != outputs.len() || launched.done.len() != events.len() {
                return Err(nothing_from("PJRT_LoadedExecutable_Execute"));
            }
            Ok(())
        }
    }
}
