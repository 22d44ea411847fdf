//! Which devices a program runs on.

use std::collections::HashSet;

use crate::client::Client;
use crate::compile_options::{counted, Present};
use crate::device::Device;
use crate::error::{Code, Error, Result};
use crate::proto::{ComputationDevice, DeviceAssignmentProto};
use crate::signature::plural;

/// Which device runs which replica and partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAssignment {
    replicas: usize,
    partitions: usize,
    /// Replica by replica, each with its partitions in order.
    ids: Vec<i32>,
}

impl DeviceAssignment {
    /// An assignment of device ids, replica by replica, each with its partitions in
    /// order. That the devices exist is checked when it is used.
    ///
    /// # Errors
    /// A count is 0; there are not `replicas * partitions` ids; an id is there twice.
    pub fn new(replicas: usize, partitions: usize, ids: &[i32]) -> Result<DeviceAssignment> {
        let needed = replicas.checked_mul(partitions);
        if replicas == 0 || partitions == 0 || needed != Some(ids.len()) {
            return Err(Error::invalid(format!(
                "a device assignment of {} can't have {}",
                counted(replicas, partitions),
                plural(ids.len(), "device id")
            )));
        }
        let mut seen = HashSet::new();
        if let Some(id) = ids.iter().find(|id| !seen.insert(**id)) {
            return Err(Error::invalid(format!(
                "the device assignment names the device id {id} twice; each device runs one replica \
                 of one partition"
            )));
        }
        Ok(DeviceAssignment {
            replicas,
            partitions,
            ids: ids.to_vec(),
        })
    }

    /// An assignment of devices, replica by replica, each with its partitions in order.
    ///
    /// ```
    /// use xla::{Client, DeviceAssignment};
    ///
    /// let client = Client::cpu()?;
    /// let mut devices = client.devices();
    /// devices.reverse();
    /// let assignment = DeviceAssignment::from_devices(devices.len(), 1, &devices)?;
    /// assert_eq!(assignment.ids()[0], devices[0].id());
    /// # Ok::<(), xla::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are none, or not `replicas * partitions`; one is there twice; they are not all of
    /// one client; none of them is of this process.
    pub fn from_devices(
        replicas: usize,
        partitions: usize,
        devices: &[Device],
    ) -> Result<DeviceAssignment> {
        if let Some(first) = devices.first() {
            check_devices(devices, &first.client())?;
        }
        let ids: Vec<i32> = devices.iter().map(Device::id).collect();
        DeviceAssignment::new(replicas, partitions, &ids)
    }

    /// What the plugin would choose (`PJRT_Client_DefaultDeviceAssignment`).
    ///
    /// # Errors
    /// There are not enough devices; a count is 0.
    pub fn default_for(
        client: &Client,
        replicas: usize,
        partitions: usize,
    ) -> Result<DeviceAssignment> {
        let needed = replicas.saturating_mul(partitions);
        let present = client.all_devices().len();
        if needed == 0 || needed > present {
            return Err(Error::invalid(format!(
                "{} need {needed} devices, but the client \
                 has {present}; ask for 1 to {present}",
                counted(replicas, partitions)
            )));
        }
        let as_i32 = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let raw = &client.session().raw;
        let ids = raw.default_assignment(as_i32(replicas), as_i32(partitions))?;
        DeviceAssignment::new(replicas, partitions, &ids)
    }

    /// How many replicas it has.
    pub fn replicas(&self) -> usize {
        self.replicas
    }

    /// How many partitions each replica has.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// The device ids, replica by replica, each with its partitions in order.
    pub fn ids(&self) -> &[i32] {
        &self.ids
    }

    pub(crate) fn check(&self, there: &Present) -> Result<()> {
        let Present {
            whose, ids: known, ..
        } = there;
        match self.ids.iter().find(|id| !known.contains(id)) {
            None => Ok(()),
            Some(id) => Err(Error::new(
                Code::NotFound,
                format!(
                    "the device assignment names the device id {id}, but {whose} has the ids \
                     {known:?}"
                ),
            )),
        }
    }

    pub(crate) fn to_proto(&self) -> DeviceAssignmentProto {
        let partition = |partition: usize| ComputationDevice {
            replica_device_ids: (0..self.replicas)
                .map(|replica| self.ids[replica * self.partitions + partition].into())
                .collect(),
        };
        DeviceAssignmentProto {
            replica_count: self.replicas as i32,
            computation_count: self.partitions as i32,
            computation_devices: (0..self.partitions).map(partition).collect(),
        }
    }
}

/// Refuses lists of devices that can't be those of one program of this client.
pub(crate) fn check_devices(devices: &[Device], client: &Client) -> Result<()> {
    for (index, device) in devices.iter().enumerate() {
        if device.client() != *client {
            return Err(Error::invalid(format!(
                "device {index} of those listed, {device:?}, is of another client; take devices of the \
                 client that compiles"
            )));
        }
        let before = &devices[..index];
        if let Some(first) = before.iter().position(|other| other == device) {
            return Err(Error::invalid(format!(
                "devices {first} and {index} of those listed are both {device:?}; each device runs one \
                 replica of one partition"
            )));
        }
    }
    if devices.iter().any(Device::is_addressable) {
        return Ok(());
    }
    Err(Error::invalid(if devices.is_empty() {
        "no devices are listed; a program runs on 1 or more".to_owned()
    } else {
        format!(
            "none of the devices {devices:?} is of this process ({}), so it can't run anything on \
             them",
            client.process_index()
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_checked() {
        assert!(DeviceAssignment::new(2, 1, &[0, 1]).is_ok());
        for (replicas, partitions, ids) in [(0, 1, &[][..]), (2, 1, &[0]), (2, 1, &[3, 3])] {
            assert!(DeviceAssignment::new(replicas, partitions, ids).is_err());
        }
    }

    #[test]
    fn assignments_are_written_partition_by_partition() {
        // Replica 0 on devices 10, 11, 12; replica 1 on 20, 21, 22.
        let assignment = DeviceAssignment::new(2, 3, &[10, 11, 12, 20, 21, 22]).expect("fits");
        let proto = assignment.to_proto();
        assert_eq!((proto.replica_count, proto.computation_count), (2, 3));
        let ids: Vec<_> = proto
            .computation_devices
            .iter()
            .map(|d| d.replica_device_ids.clone())
            .collect();
        assert_eq!(ids, [[10, 20], [11, 21], [12, 22]]);
    }
}
