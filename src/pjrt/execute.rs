//! The launch.

use std::ptr;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Event, PJRT_ExecuteOptions, PJRT_LoadedExecutable,
    PJRT_LoadedExecutable_Execute_Args,
};
use smallvec::SmallVec;

use super::client::nothing_from;
use super::handed::Handed;
use super::owned::Owned;
use crate::error::Result;
use crate::spare::Room;

const INLINE_DEVICES: usize = 8;
/// Arguments of all devices together up to which a list of pointers to them is on the stack: what
/// isn't used of it has to be filled all the same.
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
    /// Starts the program on all of its devices (`PJRT_LoadedExecutable_Execute`). `outputs`
    /// has as many places as it gives outputs, and holds them afterwards; on failure none.
    /// `done`, where it is wanted, gets an event a device.
    ///
    /// `buffers` gives every device's list, one after another, and of each buffer whether it is
    /// lent, so that XLA may not consume it; alike on all devices. The caller has checked all
    /// that the plugin doesn't (facts 5, 7), and keeps or drops the arguments after the call as it
    /// likes: the runtime orders device memory itself (fact 10).
    #[inline]
    pub(crate) fn start<'b>(
        &self,
        buffers: impl ExactSizeIterator<Item = (&'b Owned<PJRT_Buffer>, bool)>,
        outputs: &mut Handed<'_>,
        done: Option<&mut Done>,
    ) -> Result<()> {
        let count = buffers.len();
        assert_eq!(count, self.devices * self.inputs, "uneven argument lists");
        let mut room = Room::<_, FEW>::new(ptr::null_mut());
        let arguments = room.list(count, ptr::null_mut());
        let mut room = Room::<_, FEW>::new(0);
        let lent = room.list(self.inputs, 0);
        let mut lent_count = 0;
        for (index, (place, (buffer, is_lent))) in arguments.iter_mut().zip(buffers).enumerate() {
            *place = buffer.raw();
            if is_lent && index < self.inputs {
                lent[lent_count] = index as i64;
                lent_count += 1;
            }
        }
        let lent = &lent[..lent_count];
        let session = self.executable.session();
        assert!(outputs.is_for(session), "another launch's outputs");
        let places = outputs.places();
        assert_eq!(places.len(), self.devices * self.outputs, "uneven outputs");
        // By pointer alone from here on: the plugin writes to it.
        let output_start = places.as_mut_ptr();
        let started = if self.devices == 1 {
            self.execute(lent, &[arguments.as_ptr()], &[output_start], done)
        } else {
            let mut room = Room::<_, INLINE_DEVICES>::new(ptr::null());
            let argument_lists = room.list(self.devices, ptr::null());
            for (device, list) in argument_lists.iter_mut().enumerate() {
                *list = arguments[device * self.inputs..].as_ptr();
            }
            let mut room = Room::<_, INLINE_DEVICES>::new(ptr::null_mut());
            let output_lists = room.list(self.devices, ptr::null_mut());
            for (device, list) in output_lists.iter_mut().enumerate() {
                // `wrapping_add` stays inside the list, or one past it without outputs.
                *list = output_start.wrapping_add(device * self.outputs);
            }
            self.execute(lent, argument_lists, output_lists, done)
        };
        if started.is_ok() && outputs.is_complete() {
            return Ok(());
        }
        // What was handed out all the same goes (fact 22).
        outputs.discard();
        started.and(Err(nothing_from("PJRT_LoadedExecutable_Execute")))
    }

    /// Starts, with the lists of each device.
    #[inline]
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
        let mut room = Room::<_, INLINE_DEVICES>::new(ptr::null_mut());
        let events = room.list(self.devices, ptr::null_mut());
        args.device_complete_events = events.as_mut_ptr();
        // SAFETY: as in `execute`; there is room for an event a device.
        let status = unsafe { self.call(args) };
        // Whatever was handed out is owned before the status counts (fact 22).
        for raw in &*events {
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
        let api = self.executable.session().raw.api();
        // SAFETY: the caller's promise; the executable is alive.
        unsafe { api.call(entry::PJRT_LoadedExecutable_Execute, args) }
    }
}
