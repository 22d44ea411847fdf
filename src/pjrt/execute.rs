//! The launch.

use std::mem::MaybeUninit;
use std::ptr;
use std::slice;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Event, PJRT_ExecuteOptions, PJRT_LoadedExecutable,
    PJRT_LoadedExecutable_Execute_Args,
};
use smallvec::SmallVec;

use super::client::nothing_from;
use super::handed::Handed;
use super::owned::Owned;
use crate::error::{Error, Result};
use crate::spare::Room;

const INLINE_DEVICES: usize = 8;
/// Arguments of all devices together up to which a list of pointers to them is on the stack.
const FEW: usize = 16;

/// What to launch. Lists are device by device, in the executable's logical order.
pub(crate) struct Launch<'a> {
    pub(crate) executable: &'a Owned<PJRT_LoadedExecutable>,
    pub(crate) devices: usize,
    /// Inputs and outputs on each device, as the executable states.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// What tells this launch from others, where that is needed.
    pub(crate) id: i32,
}

/// What tells when each device is done.
pub(crate) type Done = SmallVec<[Owned<PJRT_Event>; INLINE_DEVICES]>;

impl Launch<'_> {
    /// Starts the program on all of its devices (`PJRT_LoadedExecutable_Execute`). `outputs` is
    /// new, and holds what it gives afterwards; on failure nothing.
    /// `done`, where it is wanted, gets an event a device.
    ///
    /// `buffers` gives every device's list, one after another, and of each buffer whether it is
    /// lent, so that XLA may not consume it; alike on all devices. Where one is `None`, nothing is
    /// started, and this gives false. The caller has checked all that the plugin doesn't (facts
    /// 5, 7), and keeps or drops the arguments after the call as it likes: the runtime orders
    /// device memory itself (fact 10).
    #[inline(always)]
    pub(crate) fn start<'b>(
        &self,
        buffers: impl ExactSizeIterator<Item = Option<(&'b Owned<PJRT_Buffer>, bool)>>,
        outputs: &mut Handed<'_>,
        done: Option<&mut Done>,
    ) -> Result<bool> {
        assert_eq!(
            buffers.len(),
            self.devices * self.inputs,
            "uneven argument lists"
        );
        let mut argument_room = Room::<_, FEW>::new();
        let arguments = argument_room.places(buffers.len());
        let mut lent_room = Room::<_, FEW>::new();
        let lent = lent_room.places(self.inputs);
        let (mut count, mut lent_count) = (0, 0);
        for (place, buffer) in arguments.iter_mut().zip(buffers) {
            let Some((buffer, is_lent)) = buffer else {
                return Ok(false);
            };
            place.write(buffer.raw());
            if is_lent && count < self.inputs {
                lent[lent_count].write(count as i64);
                lent_count += 1;
            }
            count += 1;
        }
        assert_eq!(
            count,
            arguments.len(),
            "an iterator that is shorter than it says"
        );
        // SAFETY: so many have just been written, in order.
        let (arguments, lent) = unsafe { (written(arguments, count), written(lent, lent_count)) };
        // By pointer alone from here on: the plugin writes to it.
        let session = self.executable.session();
        let places = outputs.places(session, self.devices * self.outputs);
        let started = if self.devices == 1 {
            self.execute(lent, &[arguments.as_ptr()], &[places], done)
        } else {
            self.execute_on_many(lent, arguments, places, done)
        };
        if started.is_ok() && outputs.is_complete() {
            return Ok(true);
        }
        Err(self.nothing(started, outputs))
    }

    /// Why there are no outputs, or not all. Those that were handed out all the same go (fact 22).
    #[cold]
    fn nothing(&self, started: Result<()>, outputs: &mut Handed<'_>) -> Error {
        outputs.discard();
        match started {
            Ok(()) => nothing_from("PJRT_LoadedExecutable_Execute"),
            Err(error) => error,
        }
    }

    /// Starts, with the lists of all devices one after another.
    #[inline(never)]
    fn execute_on_many(
        &self,
        lent: &[i64],
        arguments: &[*mut PJRT_Buffer],
        places: *mut *mut PJRT_Buffer,
        done: Option<&mut Done>,
    ) -> Result<()> {
        let mut argument_room = Room::<_, INLINE_DEVICES>::new();
        let argument_lists = argument_room.places(self.devices);
        let mut output_room = Room::<_, INLINE_DEVICES>::new();
        let output_lists = output_room.places(self.devices);
        for device in 0..self.devices {
            argument_lists[device].write(arguments[device * self.inputs..].as_ptr());
            // `wrapping_add` stays inside the list, or one past it without outputs.
            output_lists[device].write(places.wrapping_add(device * self.outputs));
        }
        // SAFETY: so many have just been written, in order.
        let (argument_lists, output_lists) = unsafe {
            (
                written(argument_lists, self.devices),
                written(output_lists, self.devices),
            )
        };
        self.execute(lent, argument_lists, output_lists, done)
    }

    /// Starts, with the lists of each device.
    #[inline(always)]
    fn execute(
        &self,
        lent: &[i64],
        argument_lists: &[*const *mut PJRT_Buffer],
        output_lists: &[*mut *mut PJRT_Buffer],
        done: Option<&mut Done>,
    ) -> Result<()> {
        let mut options = PJRT_ExecuteOptions::zeroed();
        options.launch_id = self.id;
        options.non_donatable_input_indices = lent.as_ptr();
        options.num_non_donatable_input_indices = lent.len();
        let mut args = PJRT_LoadedExecutable_Execute_Args::zeroed();
        args.executable = self.executable.raw();
        args.options = &mut options;
        args.argument_lists = argument_lists.as_ptr();
        args.num_devices = self.devices;
        args.num_args = self.inputs;
        args.output_lists = output_lists.as_ptr();
        match done {
            // SAFETY: all lists outlive the call; argument buffers are alive, borrowed by
            // `start`'s caller; output lists have the room that the executable states, zeroed.
            None => unsafe { self.call(&mut args) },
            Some(done) => self.execute_and_tell(&mut args, done),
        }
    }

    /// Asks for an event a device too. The rest of `args` is complete.
    fn execute_and_tell(
        &self,
        args: &mut PJRT_LoadedExecutable_Execute_Args,
        done: &mut Done,
    ) -> Result<()> {
        let mut room = Room::<_, INLINE_DEVICES>::new();
        let events = room.filled(self.devices, ptr::null_mut());
        args.device_complete_events = events.as_mut_ptr().cast();
        // SAFETY: as in `execute`; there is room for an event a device.
        let status = unsafe { self.call(args) };
        // Whatever was handed out is owned before the status counts (fact 22).
        // SAFETY: all were written, by the plugin or before.
        for raw in unsafe { written(events, self.devices) } {
            // SAFETY: just handed out by the session's client, to nobody else.
            done.extend(unsafe { Owned::adopt(self.executable.session(), *raw) });
        }
        status?;
        match done.len() == self.devices {
            true => Ok(()),
            false => Err(nothing_from("PJRT_LoadedExecutable_Execute")),
        }
    }

    /// # Safety
    /// All lists in `args` are alive, of the lengths that the executable states, and hold
    /// buffers of its client that are alive; those for what is handed out are zeroed.
    #[inline]
    unsafe fn call(&self, args: &mut PJRT_LoadedExecutable_Execute_Args) -> Result<()> {
        let api = self.executable.session().api;
        // SAFETY: the caller's promise; the executable is alive.
        unsafe { api.call(entry::PJRT_LoadedExecutable_Execute, args) }
    }
}

/// The first so many of a list.
///
/// # Safety
/// They have been written.
#[inline]
unsafe fn written<T>(list: &[MaybeUninit<T>], count: usize) -> &[T] {
    let written = &list[..count];
    // SAFETY: the caller's promise; the two slices have one layout.
    unsafe { slice::from_raw_parts(written.as_ptr().cast(), count) }
}
