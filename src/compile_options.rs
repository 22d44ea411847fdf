//! Options for the compiler, typed: what ends the process can't be written.

mod counts;
mod value;

use std::collections::BTreeMap;

use prost::Message;

use self::counts::{settle, Counts};
use crate::client::Client;
use crate::device::Device;
use crate::device_assignment::{check_devices, DeviceAssignment};
use crate::error::{Error, Result};
use crate::program::{Declared, Program};
use crate::proto::{
    CompileOptionsProto, ExecutableBuildOptionsProto, OptionOverride, OptionOverrideProto,
};

pub(crate) use counts::counted;
pub use value::OptionValue;

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
    devices: Option<Listed>,
    strict_donation: bool,
    overrides: BTreeMap<String, OptionValue>,
}

/// The devices to run on, before it is known how many replicas and partitions there are.
#[derive(Clone, Debug)]
enum Listed {
    These(Vec<Device>),
    All,
}

impl CompileOptions {
    /// The defaults.
    pub fn new() -> CompileOptions {
        CompileOptions::default()
    }

    /// How many copies of the program run, each on its own data, speaking to each
    /// other by collectives over replica groups. Unset, it is what the program states
    /// (`mhlo.num_replicas`), else what the device assignment has, else 1. A program text that
    /// states one replica and one partition and has no collectives, as JAX exports it for one
    /// device, can be run by any number.
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

    /// Runs the program on one device: [`CompileOptions::devices`] with that one.
    #[must_use]
    pub fn device(self, device: &Device) -> CompileOptions {
        self.devices(std::slice::from_ref(device))
    }

    /// Runs the program on these devices: replica by replica, each with its partitions in order.
    /// There must be as many as the program has replicas times partitions; one that
    /// leaves its replicas open gets as many as there are devices for. The options hold the
    /// devices' client.
    ///
    /// Instead of [`CompileOptions::device_assignment`]: with both, compiling is refused.
    ///
    /// ```
    /// use xla::{Client, CompileOptions, Program};
    ///
    /// let client = Client::cpu()?;
    /// let program = Program::from_text(
    ///     "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }",
    /// )?;
    /// let last_two = &client.devices()[client.device_count() - 2..];
    /// let same = client.compile(&program, &CompileOptions::new().devices(last_two))?;
    /// assert_eq!(same.devices(), last_two);
    /// assert_eq!(same.signature().replicas(), 2);
    /// # Ok::<(), xla::Error>(())
    /// ```
    #[must_use]
    pub fn devices(mut self, devices: &[Device]) -> CompileOptions {
        self.devices = Some(Listed::These(devices.to_vec()));
        self
    }

    /// Runs the program on all devices of the client, [`Client::all_devices`]; otherwise as
    /// [`CompileOptions::devices`].
    #[must_use]
    pub fn all_devices(mut self) -> CompileOptions {
        self.devices = Some(Listed::All);
        self
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
        program.check_dimensions()?;
        let mut declared = program.declared();
        let assigned = self.assignment.as_ref();
        let devices = self.listed(there)?;
        if declared.replicable {
            // Many may run it as well as one.
            declared.replicas = None;
        }
        let mut wanted = self.replicas;
        if let (None, None, Some(devices)) = (self.replicas, declared.replicas, &devices) {
            // What doesn't divide is refused below.
            let partitions = self.partitions.or(declared.partitions).unwrap_or(1);
            wanted = Some((devices.len() / partitions.max(1)).max(1));
        }
        let replicas = settle(
            "replicas",
            wanted,
            declared.replicas,
            assigned.map(|assignment| assignment.replicas()),
            program,
        )?;
        let partitions = settle(
            "partitions",
            self.partitions,
            declared.partitions,
            assigned.map(|assignment| assignment.partitions()),
            program,
        )?;
        let counts = Counts {
            replicas,
            partitions,
        };
        self.check_counts(counts, &declared, program, there)?;
        let assignment = match (devices, assigned) {
            (Some(devices), _) => Some(counts.assign(&devices, program)?),
            (None, Some(assignment)) => {
                assignment.check(there)?;
                Some(assignment.clone())
            }
            (None, None) => None,
        };
        Ok(Resolved {
            replicas,
            partitions,
            stated: declared.partitions.is_some(),
            shardy: self.shardy.unwrap_or(declared.shardy),
            assignment,
        })
    }

    /// Refuses numbers of replicas and partitions for which there are no devices, or which the
    /// program wasn't written for.
    fn check_counts(
        &self,
        counts: Counts,
        declared: &Declared,
        program: &Program,
        there: &Present,
    ) -> Result<()> {
        let origin = program.origin();
        let needed = counts.devices();
        let present = there.ids.len();
        if needed > present {
            let Present { whose, remedy, .. } = there;
            return Err(Error::invalid(format!(
                "{origin} is to run on {needed} devices ({counts}), \
                 but {whose} has {present}; {remedy} or ask for fewer"
            )));
        }
        declared.reach.check_groups(origin)?;
        let Counts {
            replicas,
            partitions,
        } = counts;
        declared.reach.check(origin, replicas, partitions)?;
        if there.checks_nothing && declared.unread_collectives && needed == 1 {
            return Err(Error::invalid(format!(
                "{origin} is bytecode with collectives, and would be compiled for a single device: \
                 ask for as many replicas or partitions as it was written for (fewer end the process)"
            )));
        }
        let asked = self.partitions.is_some() || self.assignment.is_some();
        if declared.unread_shardings && !asked {
            return Err(Error::invalid(format!(
                "{origin} is bytecode of a program that is partitioned over devices, and how many \
                 there are can't be read from it; say `partitions`, or export the program as text"
            )));
        }
        Ok(())
    }

    /// The ids of the devices that were listed, which can all run one program.
    fn listed(&self, there: &Present) -> Result<Option<Vec<i32>>> {
        let Some(listed) = &self.devices else {
            return Ok(None);
        };
        if self.assignment.is_some() {
            return Err(Error::invalid(
                "compile options: both `devices` and `device_assignment` say where to run; set one",
            ));
        }
        match (listed, &there.client) {
            (Listed::All, Some(client)) => {
                check_devices(&client.all_devices(), client)
                    .map_err(|error| error.context("compile options"))?;
                Ok(Some(there.ids.clone()))
            }
            (Listed::All, None) => Ok(Some(there.ids.clone())),
            (Listed::These(devices), Some(client)) => {
                check_devices(devices, client).map_err(|error| error.context("compile options"))?;
                Ok(Some(devices.iter().map(Device::id).collect()))
            }
            (Listed::These(_), None) => Err(Error::invalid(format!(
                "compile options: `devices` lists a client's devices, but the program is compiled for \
                 {}; say `all_devices`, or name ids by `device_assignment`",
                there.whose
            ))),
        }
    }

    /// The message that the plugin takes.
    pub(crate) fn encode(&self, resolved: &Resolved) -> Vec<u8> {
        let build = ExecutableBuildOptionsProto {
            device_ordinal: -1,
            // Always written: 0 or none is a failed check that ends the process.
            num_replicas: resolved.replicas as i64,
            num_partitions: resolved.partitions as i64,
            // Shardy runs in the partitioner's place, for one partition too. And what JAX's
            // `shard_map` exports over one device compiles with the partitioner only.
            use_spmd_partitioning: resolved.partitions > 1 || resolved.shardy || resolved.stated,
            device_assignment: resolved.assignment.as_ref().map(DeviceAssignment::to_proto),
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
    /// `None` of a topology.
    pub(crate) client: Option<Client>,
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
    /// Whether the program states its partitions.
    stated: bool,
    pub(crate) assignment: Option<DeviceAssignment>,
}
