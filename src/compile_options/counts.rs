//! How many replicas and partitions: as asked for, as the program says, as devices are assigned.

use std::fmt;

use crate::device_assignment::DeviceAssignment;
use crate::error::{Error, Result};
use crate::program::Program;
use crate::signature::plural;

/// How many devices a program is to run on.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) replicas: usize,
    pub(super) partitions: usize,
}

impl Counts {
    pub(super) fn devices(self) -> usize {
        self.replicas.saturating_mul(self.partitions)
    }

    /// As many devices as are needed, in their order.
    pub(super) fn assign(self, devices: &[i32], program: &Program) -> Result<DeviceAssignment> {
        let needed = self.devices();
        if devices.len() != needed {
            return Err(Error::invalid(format!(
                "compile options: {} listed, but {} is to run on {needed} ({self}); list {needed}, \
                 or compile it for as many",
                plural(devices.len(), "device"),
                program.origin()
            )));
        }
        DeviceAssignment::new(self.replicas, self.partitions, devices)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.replicas, self.partitions))
    }
}

/// `4 replicas x 1 partition`.
pub(crate) fn counted(replicas: usize, partitions: usize) -> String {
    format!(
        "{} x {}",
        plural(replicas, "replica"),
        plural(partitions, "partition")
    )
}

/// One of two counts: what is asked for must agree with what the program and the
/// device assignment say, and is taken from them when nothing is asked for.
pub(super) fn settle(
    what: &str,
    asked: Option<usize>,
    declared: Option<usize>,
    assigned: Option<usize>,
    program: &Program,
) -> Result<usize> {
    let count = asked.or(declared).or(assigned).unwrap_or(1);
    if count == 0 {
        return Err(Error::invalid(format!(
            "compile options: {what} is 0; it must be 1 or more"
        )));
    }
    if i32::try_from(count).is_err() {
        return Err(Error::invalid(format!(
            "compile options: {count} {what} is out of range"
        )));
    }
    if let Some(declared) = declared.filter(|declared| *declared != count) {
        return Err(Error::invalid(format!(
            "compile options: {} asked for, but {} states {declared}; leave it open or \
             ask for {declared}",
            plural(count, what.trim_end_matches('s')),
            program.origin()
        )));
    }
    if let Some(assigned) = assigned.filter(|assigned| *assigned != count) {
        return Err(Error::invalid(format!(
            "compile options: the device assignment has {}, but the program is to have {count}",
            plural(assigned, what.trim_end_matches('s'))
        )));
    }
    Ok(count)
}
