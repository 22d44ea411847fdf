//! Options for the compiler, typed: what ends the process can't be written.

use std::collections::{BTreeMap, HashSet};

use prost::Message;

use crate::client::Client;
use crate::device::Device;
use crate::error::{Code, Error, Result};
use crate::program::Program;
use crate::proto::{
    CompileOptionsProto, ComputationDevice, DeviceAssignmentProto, ExecutableBuildOptionsProto,
    OptionOverride, OptionOverrideProto,
};

/// How a program is to be compiled. The default suits a program for one device, and
/// a program that states its replicas and partitions itself, as JAX's do.
///
/// ```
/// let options = xla::CompileOptions::new()
///     .replicas(4)
///     .option("xla_cpu_enable_fast_math", false);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    replicas: Option<usize>,
    partitions: Option<usize>,
    shardy: Option<bool>,
    assignment: Option<DeviceAssignment>,
    strict_donation: bool,
    overrides: BTreeMap<String, OptionValue>,
}

/// The value of a compiler option.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionValue {
    /// Text.
    Str(String),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

impl From<&str> for OptionValue {
    fn from(text: &str) -> Self {
        OptionValue::Str(text.to_owned())
    }
}

impl From<String> for OptionValue {
    fn from(text: String) -> Self {
        OptionValue::Str(text)
    }
}

impl From<bool> for OptionValue {
    fn from(truth: bool) -> Self {
        OptionValue::Bool(truth)
    }
}

impl From<i64> for OptionValue {
    fn from(number: i64) -> Self {
        OptionValue::Int(number)
    }
}

impl From<i32> for OptionValue {
    fn from(number: i32) -> Self {
        OptionValue::Int(number.into())
    }
}

impl From<f64> for OptionValue {
    fn from(number: f64) -> Self {
        OptionValue::Float(number)
    }
}

impl CompileOptions {
    /// The defaults.
    pub fn new() -> CompileOptions {
        CompileOptions::default()
    }

    /// How many copies of the program run, each on its own data, speaking to each
    /// other by collectives over replica groups. Unset, it is what the program states
    /// (`mhlo.num_replicas`), else what the device assignment has, else 1.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> CompileOptions {
        self.replicas = Some(replicas);
        self
    }

    /// Over how many devices each copy is partitioned (SPMD). Unset, it is what the
    /// program states (`mhlo.num_partitions`), else what the device assignment has,
    /// else 1.
    #[must_use]
    pub fn partitions(mut self, partitions: usize) -> CompileOptions {
        self.partitions = Some(partitions);
        self
    }

    /// Whether the Shardy partitioner is used rather than GSPMD. Unset, it follows
    /// the program: a program with `sdy` attributes compiled without it gets other
    /// shardings than it states.
    #[must_use]
    pub fn shardy(mut self, shardy: bool) -> CompileOptions {
        self.shardy = Some(shardy);
        self
    }

    /// The devices to run on. Unset, the plugin chooses.
    #[must_use]
    pub fn device_assignment(mut self, assignment: DeviceAssignment) -> CompileOptions {
        self.assignment = Some(assignment);
        self
    }

    /// Runs the program on one device.
    #[must_use]
    pub fn device(self, device: &Device) -> CompileOptions {
        self.device_assignment(DeviceAssignment {
            replicas: 1,
            partitions: 1,
            ids: vec![device.id()],
        })
    }

    /// Whether an input that the program offers for donation, and that the compiler finds no
    /// output for, is an error when compiling. Otherwise the signature tells
    /// ([`Donation::Unused`](crate::Donation::Unused)).
    #[must_use]
    pub fn strict_donation(mut self, strict: bool) -> CompileOptions {
        self.strict_donation = strict;
        self
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.strict_donation
    }

    /// Sets a compiler option by name: XLA's debug options such as `xla_dump_to`, and
    /// the options of a platform. The plugin refuses names and types it doesn't know. Values
    /// go to the compiler as they are, and an absurd one (a negative count) can end the
    /// process.
    #[must_use]
    pub fn option(
        mut self,
        name: impl Into<String>,
        value: impl Into<OptionValue>,
    ) -> CompileOptions {
        self.overrides.insert(name.into(), value.into());
        self
    }

    /// Settles what was left open and refuses what doesn't fit the program and the devices.
    pub(crate) fn resolve(&self, program: &Program, there: &Present) -> Result<Resolved> {
        let declared = program.declared();
        let assigned = self.assignment.as_ref();
        let replicas = settle(
            "replicas",
            self.replicas,
            declared.replicas,
            assigned.map(|assignment| assignment.replicas),
            program,
        )?;
        let partitions = settle(
            "partitions",
            self.partitions,
            declared.partitions,
            assigned.map(|assignment| assignment.partitions),
            program,
        )?;
        let needed = replicas.saturating_mul(partitions);
        let present = there.ids.len();
        if needed > present {
            let Present { whose, remedy, .. } = there;
            return Err(Error::invalid(format!(
                "{} is to run on {needed} devices ({replicas} replicas x {partitions} partitions), \
                 but {whose} has {present}; {remedy} or ask for fewer",
                program.origin()
            )));
        }
        if let Some((spoken_to, what)) = declared.reach.beyond(replicas, partitions) {
            return Err(Error::invalid(format!(
                "the collectives of {} speak to {spoken_to} devices, but it is to run on {needed} \
                 ({replicas} replicas x {partitions} partitions); ask for more {what}",
                program.origin()
            )));
        }
        if there.checks_nothing && declared.unread_collectives && needed == 1 {
            return Err(Error::invalid(format!(
                "{} is bytecode with collectives, and would be compiled for a single device: ask \
                 for as many replicas or partitions as it was written for (fewer end the process)",
                program.origin()
            )));
        }
        if let Some(assignment) = assigned {
            assignment.check(there)?;
        }
        Ok(Resolved {
            replicas,
            partitions,
            shardy: self.shardy.unwrap_or(declared.shardy),
        })
    }

    /// The message that the plugin takes.
    pub(crate) fn encode(&self, resolved: &Resolved) -> Vec<u8> {
        let build = ExecutableBuildOptionsProto {
            device_ordinal: -1,
            // Always written: 0 or none is a failed check that ends the process.
            num_replicas: resolved.replicas as i64,
            num_partitions: resolved.partitions as i64,
            // Shardy runs in the partitioner's place, for one partition too.
            use_spmd_partitioning: resolved.partitions > 1 || resolved.shardy,
            device_assignment: self.assignment.as_ref().map(DeviceAssignment::to_proto),
            use_shardy_partitioner: resolved.shardy,
        };
        let overrides = self.overrides.iter().map(|(name, value)| {
            let value = match value.clone() {
                OptionValue::Str(text) => OptionOverride::String(text),
                OptionValue::Bool(truth) => OptionOverride::Bool(truth),
                OptionValue::Int(number) => OptionOverride::Int(number),
                OptionValue::Float(number) => OptionOverride::Double(number),
            };
            (name.clone(), OptionOverrideProto { value: Some(value) })
        });
        CompileOptionsProto {
            executable_build_options: Some(build),
            env_option_overrides: overrides.collect(),
        }
        .encode_to_vec()
    }
}

/// The devices that a program can be compiled for: a client's, or a topology's.
pub(crate) struct Present {
    /// Whose they are, for messages.
    pub(crate) whose: &'static str,
    pub(crate) ids: Vec<i32>,
    /// What to do where they are too few.
    pub(crate) remedy: &'static str,
    /// Whether the compiler ends the process over a collective that speaks to more.
    pub(crate) checks_nothing: bool,
}

/// Options in which nothing is open any more.
pub(crate) struct Resolved {
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
    shardy: bool,
}

/// One of two counts: what is asked for must agree with what the program and the
/// device assignment say, and is taken from them when nothing is asked for.
fn settle(
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
            "compile options: {count} {what} asked for, but {} states {declared}; leave it open or \
             ask for {declared}",
            program.origin()
        )));
    }
    if let Some(assigned) = assigned.filter(|assigned| *assigned != count) {
        return Err(Error::invalid(format!(
            "compile options: the device assignment has {assigned} {what}, but the program is to \
             have {count}"
        )));
    }
    Ok(count)
}

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
                "a device assignment of {replicas} replicas x {partitions} partitions can't have {} \
                 device ids",
                ids.len()
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
                "{replicas} replicas x {partitions} partitions need {needed} devices, but the client \
                 has {present}; ask for 1 to {present}"
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

    fn check(&self, there: &Present) -> Result<()> {
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

    fn to_proto(&self) -> DeviceAssignmentProto {
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
