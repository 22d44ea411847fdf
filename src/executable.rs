//! Compiled programs, and running them.

use std::fmt;
use std::sync::Arc;

use pjrt_sys::PJRT_LoadedExecutable;
use smallvec::SmallVec;

use crate::argument::{Argument, ArgumentList, Arguments};
use crate::buffer::Buffer;
use crate::call_error::{CallError, GivenBack, Lost};
use crate::client::{Client, Session};
use crate::compile_options::CompileOptions;
use crate::device::Device;
use crate::device_shape;
use crate::error::{Code, Error, Result};
use crate::launch::{self, Launch};
use crate::outputs::Outputs;
use crate::pjrt::execute::Launched;
use crate::pjrt::{executable, execute, Owned};
use crate::program::{self, Program};
use crate::serialized;
use crate::signature::{Donation, Signature};

/// A compiled program, loaded on its devices.
///
/// Running takes `&self` and may be done from many threads at once.
pub struct Executable {
    raw: Owned<PJRT_LoadedExecutable>,
    signature: Signature,
    /// The devices' indices in the client, in logical order.
    devices: Vec<usize>,
    /// Whether a launch waits for pending arguments and for the launch before it.
    paced: bool,
}

impl Executable {
    pub(crate) fn compile(
        client: &Client,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<Executable> {
        program.check_version(client.plugin())?;
        let resolved = options.resolve(program, client)?;
        let encoded = options.encode(&resolved);
        let raw = executable::compile(
            client.session(),
            program.terminated(),
            program.format_name(),
            &encoded,
        )
        .map_err(|error| error.context(format!("compiling {}", program.origin())))?;
        Executable::load(client, raw)
    }

    pub(crate) fn deserialize(client: &Client, bytes: &[u8]) -> Result<Executable> {
        let payload = serialized::unwrap(bytes, client)?;
        let raw = executable::deserialize(client.session(), payload)
            .map_err(|error| error.context("loading a serialised executable"))?;
        Executable::load(client, raw)
    }

    fn load(client: &Client, raw: Owned<PJRT_LoadedExecutable>) -> Result<Executable> {
        let described = raw.executable()?;
        let (replicas, partitions) = described.replicas_and_partitions()?;
        let (code, format) = described.optimized_program()?;
        let module = program::decode_optimized(&code, &format)?;
        let shapes = &client.session().shapes;
        let signature = Signature::of_module(&module, replicas, partitions, shapes)?;
        let stated = described.output_count()?;
        if stated != signature.outputs().len() {
            return Err(Error::new(
                Code::Internal,
                format!(
                    "the plugin states {stated} outputs, but the compiled program has {}",
                    signature.outputs().len()
                ),
            ));
        }
        let devices = raw.devices()?;
        if devices.is_empty() {
            return Err(Error::invalid("no device of this process runs the program"));
        }
        Ok(Executable {
            paced: signature.has_collectives() && client.platform_name() == "cpu",
            raw,
            signature,
            devices,
        })
    }

    /// What the program takes, gives and donates.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The client that it is loaded on.
    pub fn client(&self) -> Client {
        Client::from_session(self.session())
    }

    fn session(&self) -> &Arc<Session> {
        self.raw.session()
    }

    /// The devices of this process that run it, in logical order: replica by replica,
    /// each with its partitions (`PJRT_LoadedExecutable_AddressableDevices`).
    pub fn devices(&self) -> Vec<Device> {
        let indices = self.devices.iter();
        indices
            .map(|index| Device::new(self.session(), *index))
            .collect()
    }

    /// The memory that a run takes on each device, as the compiler states it
    /// (`PJRT_Executable_GetCompiledMemoryStats`).
    ///
    /// # Errors
    /// The plugin doesn't tell.
    pub fn memory_stats(&self) -> Result<ExecutableMemoryStats> {
        let sizes = self.raw.executable()?.compiled_sizes()?;
        Ok(ExecutableMemoryStats {
            generated_code_bytes: sizes.generated_code,
            argument_bytes: sizes.argument,
            output_bytes: sizes.output,
            alias_bytes: sizes.alias,
            temp_bytes: sizes.temp,
            peak_bytes: Some(sizes.peak).filter(|peak| *peak != 0),
            host_generated_code_bytes: sizes.host_generated_code,
            host_argument_bytes: sizes.host_argument,
            host_output_bytes: sizes.host_output,
            host_alias_bytes: sizes.host_alias,
            host_temp_bytes: sizes.host_temp,
        })
    }

    /// The executable as bytes that [`Client::deserialize`] loads again, on the same
    /// plugin and version (`PJRT_Executable_Serialize`).
    ///
    /// # Errors
    /// The plugin can't serialise.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let payload = self.raw.executable()?.serialize()?;
        Ok(serialized::wrap(&payload, &self.client()))
    }

    /// Runs the program on its only device (`PJRT_LoadedExecutable_Execute`).
    ///
    /// A buffer passed by value is given: it is gone, and its memory is reused where
    /// the program donates it. A buffer passed by reference is lent and stays as it
    /// is. The call returns when the run is enqueued; a run that fails later says so
    /// when an output is read.
    ///
    /// # Errors
    /// The program is for several devices; the number of arguments, or an argument's
    /// element type, dimensions, device or client, is not the program's; an argument is
    /// lent that the program must consume; the plugin fails. Given buffers come back in
    /// the error.
    pub fn run<'a>(&self, arguments: impl Arguments<'a>) -> Result<Outputs, CallError> {
        let mut list = ArgumentList::new();
        arguments.append_to(&mut list);
        let mut lists: SmallVec<[ArgumentList<'a>; 1]> = SmallVec::new();
        lists.push(list);
        let mut outputs = self.launch(&mut lists)?;
        match outputs.pop() {
            Some(only) => Ok(only),
            None => Err(CallError::new(
                Error::new(Code::Internal, "a run gave no list of outputs"),
                Vec::new(),
                Vec::new(),
            )),
        }
    }

    /// Runs the program on all of its devices at once: one list of arguments for each
    /// of [`Executable::devices`], in their order, each as for [`Executable::run`].
    /// Gives each device's outputs.
    ///
    /// All devices must give and lend alike. Everything about every device is checked
    /// before the launch. Launches on several devices take turns; on CPU, one whose
    /// devices speak to each other waits for the one before it.
    ///
    /// # Errors
    /// As [`Executable::run`], naming the device; the number of lists is not that of
    /// the devices; a given argument of one device is lent on another; an argument's
    /// own run has failed.
    pub fn run_per_device<'a, A: Arguments<'a>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<Outputs>, CallError> {
        let mut lists: SmallVec<[ArgumentList<'a>; 8]> = arguments
            .into_iter()
            .map(|each| {
                let mut list = ArgumentList::new();
                each.append_to(&mut list);
                list
            })
            .collect();
        Ok(self.launch(&mut lists)?.into_vec())
    }

    fn launch(&self, lists: &mut [ArgumentList<'_>]) -> Result<SmallVec<[Outputs; 1]>, CallError> {
        let refuse = |error: Error, lists: &mut [ArgumentList<'_>]| {
            CallError::new(error, take_given(lists), Vec::new())
        };
        if let Err(error) = self.check(lists) {
            return Err(refuse(error, lists));
        }
        let lent = lent_indices(&lists[0]);
        let launch = execute::Launch {
            executable: &self.raw,
            devices: self.devices.len(),
            outputs: self.signature.outputs().len(),
            lent: &lent,
            completion: self.paced,
        };
        let start = |lists: &[ArgumentList<'_>]| {
            let arguments = lists.iter().flat_map(|list| &list.arguments);
            launch.start(arguments.map(|argument| argument.buffer().raw()))
        };
        let session = self.session();
        let (outcome, record) = if self.devices.len() == 1 {
            (start(lists), None)
        } else {
            let mut turn = session.order.turn(session);
            if self.paced {
                turn.settle();
            }
            if self.signature.has_collectives() {
                if let Err(error) = self.make_sure_of(lists) {
                    drop(turn);
                    return Err(refuse(error, lists));
                }
            }
            match start(lists) {
                Ok(mut launched) if self.paced => {
                    let record = Arc::new(Launch::default());
                    turn.follow(Arc::clone(&record), launched.done.drain(..));
                    (Ok(launched), Some(record))
                }
                other => (other, None),
            }
        };
        match outcome {
            Ok(launched) => Ok(self.collect(launched, record)),
            Err(error) => Err(self.failed(error, lists)),
        }
    }

    /// Everything that the plugin doesn't check, or checks too late.
    fn check(&self, lists: &[ArgumentList<'_>]) -> Result<()> {
        if lists.len() != self.devices.len() {
            return Err(Error::invalid(format!(
                "`{}` runs on {} devices, but {} lists of arguments were given; {}",
                self.signature.name(),
                self.devices.len(),
                lists.len(),
                "pass one for each with `run_per_device`"
            )));
        }
        for (position, list) in lists.iter().enumerate() {
            self.check_list(position, list)?;
        }
        let Some((first, others)) = lists.split_first() else {
            return Ok(());
        };
        for (position, list) in others.iter().enumerate() {
            let pairs = first.arguments.iter().zip(&list.arguments);
            for (index, (ours, theirs)) in pairs.enumerate() {
                if ours.is_lent() != theirs.is_lent() {
                    return Err(Error::invalid(format!(
                        "{} is {} on device 0 and {} on device {}; give or lend it on all devices",
                        self.signature.describe_input(index),
                        given_or_lent(ours),
                        given_or_lent(theirs),
                        position + 1
                    )));
                }
            }
        }
        Ok(())
    }

    fn check_list(&self, position: usize, list: &ArgumentList<'_>) -> Result<()> {
        let inputs = self.signature.inputs();
        if list.len() != inputs.len() {
            return Err(Error::invalid(format!(
                "`{}` takes {} arguments, but {} were given{}",
                self.signature.name(),
                inputs.len(),
                list.len(),
                self.on_device(position)
            )));
        }
        let device = self.devices[position];
        for (index, (argument, input)) in list.arguments.iter().zip(inputs).enumerate() {
            let buffer = argument.buffer();
            let fits = device_shape::same(buffer.form(), input.form())
                && buffer.device_index() == device
                && Arc::ptr_eq(buffer.session(), self.session());
            let must_be_given = argument.is_lent()
                && matches!(input.donation(), Donation::Into { required: true, .. });
            if !fits || must_be_given {
                return Err(self.misfit(position, index, argument));
            }
        }
        Ok(())
    }

    /// Says what is wrong with an argument.
    #[cold]
    fn misfit(&self, position: usize, index: usize, argument: &Argument<'_>) -> Error {
        let input = &self.signature.inputs()[index];
        let buffer = argument.buffer();
        let name = self.signature.describe_input(index);
        let of = format!(
            "{name} of `{}`{}",
            self.signature.name(),
            self.on_device(position)
        );
        if !Arc::ptr_eq(buffer.session(), self.session()) {
            return Error::invalid(format!(
                "{of} belongs to another client than the program; make it on the program's client"
            ));
        }
        if *buffer.shape() != *input.shape() {
            return Error::invalid(format!(
                "{of}: wanted {}, got {}",
                input.shape(),
                buffer.shape()
            ));
        }
        if **buffer.form() != **input.form() {
            return Error::invalid(format!(
                "{of}: wanted {} with the layout {}, got the layout {}; make it with \
                 `Buffer::from_host_in_layout`",
                input.shape(),
                input.layout(),
                buffer.layout()
            ));
        }
        let device = Device::new(self.session(), self.devices[position]);
        if buffer.device() != device {
            return Error::invalid(format!(
                "{of}: wanted it on {device:?}, but it is on {:?}; copy it with `copy_to_device`",
                buffer.device()
            ));
        }
        Error::invalid(format!(
            "{of} is lent, but the program must consume it (a must-alias of HLO); pass it by value"
        ))
    }

    fn on_device(&self, position: usize) -> String {
        if self.devices.len() == 1 {
            String::new()
        } else {
            format!(" on device {position}")
        }
    }

    fn make_sure_of(&self, lists: &[ArgumentList<'_>]) -> Result<()> {
        for (position, list) in lists.iter().enumerate() {
            for (index, argument) in list.arguments.iter().enumerate() {
                launch::make_sure(argument.buffer(), self.paced).map_err(|error| {
                    error.context(format!(
                        "{} of `{}`{}",
                        self.signature.describe_input(index),
                        self.signature.name(),
                        self.on_device(position)
                    ))
                })?;
            }
        }
        Ok(())
    }

    fn collect(&self, launched: Launched, record: Option<Arc<Launch>>) -> SmallVec<[Outputs; 1]> {
        let mut raw = launched.outputs.into_iter();
        self.devices
            .iter()
            .map(|device| Outputs {
                // The outputs lead: a `zip` that `raw` led would take one too many.
                buffers: self
                    .signature
                    .outputs()
                    .iter()
                    .zip(raw.by_ref())
                    .map(|(output, raw)| {
                        let shape = Arc::clone(output.form());
                        Buffer::from_raw(raw, shape, *device, record.clone())
                    })
                    .collect(),
            })
            .collect()
    }

    /// The plugin failed: what was given is asked one by one whether it is there still
    /// (FACTS 6).
    #[cold]
    fn failed(&self, error: Error, lists: &mut [ArgumentList<'_>]) -> CallError {
        let mut lost = Vec::new();
        let mut kept = take_given(lists);
        kept.retain(|given| {
            let intact = matches!(given.buffer.raw().is_deleted(), Ok(false));
            if !intact {
                lost.push(Lost {
                    argument: given.argument,
                    device: given.device,
                    name: self.signature.describe_input(given.argument),
                });
            }
            intact
        });
        CallError::new(
            error.context(format!("running `{}`", self.signature.name())),
            kept,
            lost,
        )
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable")
            .field("name", &self.signature.name())
            .field("devices", &self.devices())
            .finish()
    }
}

/// What a run takes on each device in bytes, as the compiler states it
/// (`PJRT_Executable_GetCompiledMemoryStats`).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExecutableMemoryStats {
    /// The program's code.
    pub generated_code_bytes: i64,
    /// All inputs.
    pub argument_bytes: i64,
    /// All outputs, those in donated memory included.
    pub output_bytes: i64,
    /// The part of the outputs that lies in donated inputs.
    pub alias_bytes: i64,
    /// Scratch memory.
    pub temp_bytes: i64,
    /// The most in use at once; `None` below API 0.81.
    pub peak_bytes: Option<i64>,
    /// As above, in host memory.
    pub host_generated_code_bytes: i64,
    /// As above, in host memory.
    pub host_argument_bytes: i64,
    /// As above, in host memory.
    pub host_output_bytes: i64,
    /// As above, in host memory.
    pub host_alias_bytes: i64,
    /// As above, in host memory.
    pub host_temp_bytes: i64,
}

fn given_or_lent(argument: &Argument<'_>) -> &'static str {
    if argument.is_lent() {
        "lent"
    } else {
        "given"
    }
}

/// The arguments that XLA may not consume; the same on every device.
fn lent_indices(list: &ArgumentList<'_>) -> SmallVec<[i64; 16]> {
    let arguments = list.arguments.iter().enumerate();
    arguments
        .filter(|(_, argument)| argument.is_lent())
        .map(|(index, _)| index as i64)
        .collect()
}

fn take_given(lists: &mut [ArgumentList<'_>]) -> Vec<GivenBack> {
    let mut given = Vec::new();
    for (device, list) in lists.iter_mut().enumerate() {
        for (index, argument) in list.arguments.drain(..).enumerate() {
            if let Argument::Given(buffer) = argument {
                given.push(GivenBack {
                    argument: index,
                    device,
                    buffer,
                });
            }
        }
    }
    given
}
