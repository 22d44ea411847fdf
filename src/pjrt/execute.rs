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
use crate::spare::{self, with_list};

/// Outputs of all devices together up to which they lie on the stack.
const INLINE: usize = 64;
const INLINE_DEVICES: usize = 8;

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

/// The outputs of a launch, device by device.
pub(crate) type RawOutputs = spare::List<[RawBuffer; INLINE]>;

/// What tells when each device is done.
pub(crate) type Done = SmallVec<[Owned<PJRT_Event>; INLINE_DEVICES]>;

impl Launch<'_> {
    /// Starts the program on all of its devices (`PJRT_LoadedExecutable_Execute`), and
    /// hands what it gives to `output`, device by device. `done`, where it is wanted, gets an
    /// event a device.
    ///
    /// `buffers` gives every device's list, one after another, each as long as
    /// the program has parameters. The caller has checked all that the plugin
    /// doesn't (facts 5, 7), and keeps or drops the arguments after the call as it
    /// likes: the runtime orders device memory itself (fact 10).
    pub(crate) fn start<'b>(
        &self,
        buffers: impl ExactSizeIterator<Item = &'b Owned<PJRT_Buffer>>,
        output: &mut impl FnMut(RawBuffer),
        done: Option<&mut Done>,
    ) -> Result<()> {
        let count = buffers.len();
        assert_eq!(count % self.devices, 0, "uneven argument lists");
        let outputs = self.devices * self.outputs;
        let events = if done.is_some() { self.devices } else { 0 };
        with_list(count, ptr::null_mut(), |arguments| {
            for (place, buffer) in arguments.iter_mut().zip(buffers) {
                *place = buffer.raw();
            }
            with_list(outputs, ptr::null_mut(), |outputs| {
                with_list(events, ptr::null_mut(), |events| {
                    self.execute(arguments, outputs, events, output, done)
                })
            })
        })
    }

    /// Starts, with lists for what is handed out.
    fn execute(
        &self,
        arguments: &[*mut PJRT_Buffer],
        outputs: &mut [*mut PJRT_Buffer],
        events: &mut [*mut PJRT_Event],
        output: &mut impl FnMut(RawBuffer),
        done: Option<&mut Done>,
    ) -> Result<()> {
        let per_device = arguments.len() / self.devices;
        let output_start = outputs.as_mut_ptr();
        with_list(self.devices, ptr::null(), |argument_lists| {
            for (device, list) in argument_lists.iter_mut().enumerate() {
                *list = arguments[device * per_device..].as_ptr();
            }
            with_list(self.devices, ptr::null_mut(), |output_lists| {
                for (device, list) in output_lists.iter_mut().enumerate() {
                    // `wrapping_add` stays inside the list, or one past it without outputs.
                    *list = output_start.wrapping_add(device * self.outputs);
                }
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
                if done.is_some() {
                    args.device_complete_events = events.as_mut_ptr();
                }
                let session = self.executable.session();
                // SAFETY: all lists outlive the call; argument buffers are alive, borrowed
                // by `start`'s caller; output lists have the room that the executable
                // states, zeroed. Whatever was handed out is owned before the status
                // counts (fact 22).
                unsafe {
                    let status = session
                        .raw
                        .api()
                        .call(entry::PJRT_LoadedExecutable_Execute, &mut args);
                    let mut missing = 0;
                    for raw in &*outputs {
                        match Owned::adopt(session, *raw) {
                            Some(made) => output(made),
                            None => missing += 1,
                        }
                    }
                    if let Some(done) = done {
                        for raw in &*events {
                            match Owned::adopt(session, *raw) {
                                Some(made) => done.push(made),
                                None => missing += 1,
                            }
                        }
                    }
                    status?;
                    if missing > 0 {
                        return Err(nothing_from("PJRT_LoadedExecutable_Execute"));
                    }
                }
                Ok(())
            })
        })
    }
}
