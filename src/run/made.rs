//! What a launch gives: its outputs as buffers, some of them in the place of arguments.

use std::slice;
use std::sync::Arc;

use crate::argument::ArgumentList;
use crate::buffer::Buffer;
use crate::executable::Executable;
use crate::launch::Launch;
use crate::outputs::Outputs;
use crate::pjrt::handed::Handed;
use crate::plan::PlannedOutput;

/// The outputs of a launch that was started, device by device. The arguments are there still: a
/// donated one becomes the output that took its memory over. The rest is the caller's to drop,
/// when it likes: the runtime keeps what the run needs.
pub(crate) struct Made<'m, 's, 'a> {
    executable: &'s Executable,
    arguments: &'m mut ArgumentList<'a>,
    handed: &'m mut Handed<'s>,
    record: Option<Arc<Launch>>,
    /// The next device.
    position: usize,
}

impl Executable {
    /// What a launch has given, with the list that it was started with.
    #[inline]
    pub(crate) fn made<'m, 's, 'a>(
        &'s self,
        arguments: &'m mut ArgumentList<'a>,
        handed: &'m mut Handed<'s>,
        record: Option<Arc<Launch>>,
    ) -> Made<'m, 's, 'a> {
        Made {
            executable: self,
            arguments,
            handed,
            record,
            position: 0,
        }
    }
}

impl<'m, 's, 'a> Made<'m, 's, 'a> {
    /// The outputs of the next device, all of which are to be taken before those of another.
    #[inline]
    pub(crate) fn next_device(&mut self) -> DeviceOutputs<'_, 'm, 's, 'a> {
        let position = self.position;
        self.position += 1;
        DeviceOutputs {
            stated: self.executable.plan.outputs.iter(),
            position,
            made: self,
        }
    }

    #[inline]
    fn take(&mut self, position: usize, output: &PlannedOutput) -> Option<Buffer> {
        let form = &output.form;
        if let Some(donor) = output.donor {
            let place = position * self.executable.plan.inputs.len() + donor as usize;
            let (handed, record) = (&mut *self.handed, &self.record);
            let become_output = |given: &mut Buffer| given.become_output(handed, form, record);
            if let Some(given) = self.arguments.change_and_take(place, become_output) {
                return Some(given);
            }
        }
        let device = self.executable.plan.devices[position] as usize;
        Buffer::output(self.handed, form, device, &self.record)
    }
}

/// The outputs of one device.
pub(crate) struct DeviceOutputs<'d, 'm, 's, 'a> {
    made: &'d mut Made<'m, 's, 'a>,
    position: usize,
    stated: slice::Iter<'s, PlannedOutput>,
}

impl DeviceOutputs<'_, '_, '_, '_> {
    /// Appends them one by one, each moved once.
    #[inline]
    pub(super) fn append_to(self, outputs: &mut Outputs) {
        outputs.buffers.reserve(self.len());
        for buffer in self {
            outputs.buffers.push(buffer);
        }
    }
}

impl Iterator for DeviceOutputs<'_, '_, '_, '_> {
    type Item = Buffer;

    #[inline]
    fn next(&mut self) -> Option<Buffer> {
        let output = self.stated.next()?;
        match self.made.take(self.position, output) {
            Some(buffer) => Some(buffer),
            None => unreachable!("a launch gives as many outputs as the executable states"),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stated.size_hint()
    }
}

impl ExactSizeIterator for DeviceOutputs<'_, '_, '_, '_> {}
