//! What a launch looks at of each input and output.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::client::Session;
use crate::device::Device;
use crate::device_shape::{self, DeviceShape};
use crate::signature::{Donation, Signature};

/// A signature's part that each launch looks at, close together: of many leaves the whole takes
/// more than the nearest cache has.
pub(crate) struct Plan {
    pub(crate) inputs: Box<[PlannedInput]>,
    pub(crate) outputs: Box<[PlannedOutput]>,
    /// The indices of the devices, in logical order.
    pub(crate) devices: Box<[u32]>,
    /// The first of them, at hand.
    pub(crate) first_device: u32,
}

pub(crate) struct PlannedInput {
    pub(crate) form: Arc<DeviceShape>,
    /// Whether an output takes its memory over when it is given.
    pub(crate) is_donated: bool,
    /// Whether it can't be lent.
    pub(crate) must_be_given: bool,
}

pub(crate) struct PlannedOutput {
    pub(crate) form: Arc<DeviceShape>,
    /// The input whose memory it takes over when that is given.
    pub(crate) donor: Option<u32>,
}

/// Where the arguments of one of a program's devices must be.
pub(crate) struct Site<'e> {
    pub(crate) session: &'e Arc<Session>,
    pub(crate) device: u32,
}

impl Site<'_> {
    /// Whether a buffer is here, in an input's shape and layout.
    #[inline]
    pub(crate) fn has(&self, buffer: &Buffer, input: &PlannedInput) -> bool {
        device_shape::same(buffer.form(), &input.form)
            && buffer.device_index() == self.device as usize
            && Arc::ptr_eq(buffer.session(), self.session)
    }
}

impl Plan {
    pub(crate) fn of(signature: &Signature, devices: &[Device]) -> Plan {
        let inputs = signature.inputs().iter().map(|input| PlannedInput {
            form: Arc::clone(input.form()),
            is_donated: matches!(input.donation(), Donation::Into { .. }),
            must_be_given: matches!(input.donation(), Donation::Into { required: true, .. }),
        });
        let outputs = signature.outputs().iter().map(|output| PlannedOutput {
            form: Arc::clone(output.form()),
            // An index beyond 2^32 is none of a program that was compiled.
            donor: output.donor().and_then(|donor| u32::try_from(donor).ok()),
        });
        // A client with 2^32 devices is not a case.
        let devices = devices.iter().map(|device| device.index() as u32);
        let devices: Box<[u32]> = devices.collect();
        Plan {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            first_device: devices.first().copied().unwrap_or_default(),
            devices,
        }
    }
}
