//! The launch.

use std::ptr;

use pjrt_sys::{
    entry, Args, PJRT_Buffer, PJRT_Event, PJRT_ExecuteOptions, PJRT_LoadedExecutable,
    PJRT_LoadedExecutable_Execute_Args,
};
use smallvec::SmallVec;

use super::client::nothing_from;
use super::owned::Owned;
use crate::error::Result;
use crate::spare::Room;

const INLINE_DEVICES: usize = 8;
/// Arguments, or outputs, of all devices together up to which the lists of pointers to them do:
/// what isn't used of them has to be filled all the same.
const FEW: usize = 16;

/// What to launch. Lists are device by device, in the executable's logical order.
pub(crate) struct Launch<'a> {
    pub(crate) executable: &'a Owned<PJRT_LoadedExecutable>,
    pub(crate) devices: usize,
    /// Outputs on each device, as the executable states.
    pub(crate) outputs: usize,
    /// The arguments that XLA may not consume, by their index in a device's list.
    pub(crate) lent: &'a [i64],
    /// What tells this launch from others, where that is needed.
    pub(crate) id: i32,
}

/// An output, still without a shape.
pub(crate) type RawBuffer = Owned<PJRT_Buffer>;

/// What tells when each device is done.
pub(crate) type Done = SmallVec<[Owned<PJRT_Event>; INLINE_DEVICES]>;

impl Launch<'_> {
    /// Starts the program on all of its devices (`PJRT_LoadedExecutable_Execute`), and
    /// hands what it gives to `output`, device by device, with the positions of the device and
    /// of the output. `done`, where it is wanted, gets an event a device.
    ///
    /// `buffers` gives every device's list, one after another, each as long as
    /// the program has parameters. The caller has checked all that the plugin
    /// doesn't (facts 5, 7), and keeps or drops the arguments after the call as it
    /// likes: the runtime orders device memory itself (fact 10).
    #[inline]
    pub(crate) fn start<'b>(
        &self,
        buffers: impl ExactSizeIterator<Item = &'b Owned<PJRT_Buffer>>,
        output: &mut impl FnMut(usize, usize, RawBuffer),
        done: Option<&mut Done>,
    ) -> Result<()> {
        let count = buffers.len();
        assert_eq!(count % self.devices, 0, "uneven argument lists");
        let mut room = Room::<_, FEW>::new(ptr::null_mut());
        let arguments = room.list(count, ptr::null_mut());
        for (place, buffer) in arguments.iter_mut().zip(buffers) {
            *place = buffer.raw();
        }
        let mut room = Room::<_, FEW>::new(ptr::null_mut());
        // By pointer alone from here on: the plugin writes to it.
        let output_start = room
            .list(self.devices * self.outputs, ptr::null_mut())
            .as_mut_ptr();
        if self.devices == 1 {
            let lists = (&[arguments.as_ptr()][..], &[output_start][..]);
            return self.execute(arguments, lists, output, done);
        }
        let per_device = count / self.devices;
        let mut room = Room::<_, INLINE_DEVICES>::new(ptr::null());
        let argument_lists = room.list(self.devices, ptr::null());
        for (device, list) in argument_lists.iter_mut().enumerate() {
            *list = arguments[device * per_device..].as_ptr();
        }
        let mut room = Room::<_, INLINE_DEVICES>::new(ptr::null_mut());
        let output_lists = room.list(self.devices, ptr::null_mut());
        for (device, list) in output_lists.iter_mut().enumerate() {
            // `wrapping_add` stays inside the list, or one past it without outputs.
            *list = output_start.wrapping_add(device * self.outputs);
        }
        self.execute(arguments, (argument_lists, output_lists), output, done)
    }

    /// Starts, with the lists of each device: those of outputs follow one another.
    #[inline]
    fn execute(
        &self,
        arguments: &[*mut PJRT_Buffer],
        lists: (&[*const *mut PJRT_Buffer], &[*mut *mut PJRT_Buffer]),
        output: &mut impl FnMut(usize, usize, RawBuffer),
        done: Option<&mut Done>,
    ) -> Result<()> {
        let mut room = Room::<_, INLINE_DEVICES>::new(ptr::null_mut());
        let events = if done.is_some() { self.devices } else { 0 };
        let events = room.list(events, ptr::null_mut());
        let mut options = PJRT_ExecuteOptions::zeroed();
        options.launch_id = self.id;
        options.non_donatable_input_indices = self.lent.as_ptr();
        options.num_non_donatable_input_indices = self.lent.len();
        let mut args = PJRT_LoadedExecutable_Execute_Args::zeroed();
        args.executable = self.executable.raw();
        args.options = &mut options;
        args.argument_lists = lists.0.as_ptr();
        args.num_devices = self.devices;
        args.num_args = arguments.len() / self.devices;
        args.output_lists = lists.1.as_ptr();
        if done.is_some() {
            args.device_complete_events = events.as_mut_ptr();
        }
        let session = self.executable.session();
        let mut missing = 0;
        // SAFETY: all lists outlive the call; argument buffers are alive, borrowed by
        // `start`'s caller; output lists have the room that the executable states, zeroed.
        let status = unsafe {
            session
                .raw
                .api()
                .call(entry::PJRT_LoadedExecutable_Execute, &mut args)
        };
        // Whatever was handed out is owned before the status counts (fact 22).
        for (device, list) in lists.1.iter().enumerate() {
            for index in 0..self.outputs {
                // SAFETY: inside the list; just handed out by the session's client, to nobody
                // else.
                let made = unsafe { Owned::adopt(session, list.add(index).read()) };
                match made {
                    Some(made) => output(device, index, made),
                    None => missing += 1,
                }
            }
        }
        if let Some(done) = done {
            for raw in &*events {
                // SAFETY: as above.
                match unsafe { Owned::adopt(session, *raw) } {
                    Some(made) => done.push(made),
                    None => missing += 1,
                }
            }
        }
        status?;
        match missing {
            0 => Ok(()),
            _ => Err(nothing_from("PJRT_LoadedExecutable_Execute")),
        }
    }
}
