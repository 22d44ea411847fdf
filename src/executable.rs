//! Compiled programs. Running them is in `run`.

use std::fmt;
use std::sync::Arc;

use pjrt_sys::{PJRT_Executable, PJRT_LoadedExecutable};

use crate::client::{Client, Session};
use crate::collectives;
use crate::compile_cache::Key;
use crate::compile_options::{CompileOptions, Resolved};
use crate::device::Device;
use crate::device_shape::ShapeTable;
use crate::error::{Code, Error, Result};
use crate::executable_header::{ExecutableHeader, HeaderProto};
use crate::launch::Paced;
use crate::origin::Origin;
use crate::pjrt::executable::{self, CompiledSizes};
use crate::pjrt::owned::{Maker, Owned};
use crate::plan::Plan;
use crate::program::{self, Program};
use crate::program_summary::ProgramSummary;
use crate::serialized;
use crate::signature::Signature;

/// A compiled program, loaded on its devices.
///
/// Running takes `&self` and may be done from many threads at once.
pub struct Executable {
    pub(crate) raw: Owned<PJRT_LoadedExecutable>,
    pub(crate) signature: Signature,
    /// What is kept of it beside its code.
    summary: ProgramSummary,
    pub(crate) plan: Plan,
    /// In logical order.
    pub(crate) devices: Vec<Device>,
    /// Whether a launch waits for pending arguments and for the launch before it.
    pub(crate) paced: bool,
    /// What it was loaded from, if it was: of a loaded one, the CPU plugins serialise no code.
    payload: Option<Box<[u8]>>,
    /// Whether a launch waits for what is lent where the program donates.
    pub(crate) copies_lent: bool,
}

impl Executable {
    pub(crate) fn compile(
        client: &Client,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<Executable> {
        program.check_version(client.plugin())?;
        let resolved = options.resolve(program, &client.present())?;
        let encoded = options.encode(&resolved);
        let compile = || Executable::compile_now(client, program, &resolved, &encoded);
        let mut executable = match client.compile_cache() {
            Some(cache) => {
                let key = Key::new(client, program, &encoded);
                cache.get_or_compile(client, key, compile)?
            }
            None => compile()?,
        };
        executable.signature.name_outputs(program);
        // Of a kept one as of a new one: it isn't part of the key.
        if options.is_strict() {
            executable.signature.check_donors()?;
        }
        Ok(executable)
    }

    fn compile_now(
        client: &Client,
        program: &Program,
        resolved: &Resolved,
        encoded: &[u8],
    ) -> Result<Executable> {
        let counted = count(
            client,
            resolved.replicas.saturating_mul(resolved.partitions),
        );
        let raw = executable::compile(
            client.session(),
            program.terminated(),
            program.format_name(),
            encoded,
        )
        .map_err(|error| error.context(format!("compiling {}", program.origin())))?;
        let described = describe(&raw.executable()?, &client.session().shapes)?;
        Executable::load(client, raw, described, counted)
    }

    pub(crate) fn deserialize(client: &Client, bytes: &[u8]) -> Result<Executable> {
        Executable::deserialize_if(client, bytes, |_| Ok(()))
    }

    /// As [`Client::deserialize`], if `check` lets the header pass.
    pub(crate) fn deserialize_if(
        client: &Client,
        bytes: &[u8],
        check: impl FnOnce(&ExecutableHeader) -> Result<()>,
    ) -> Result<Executable> {
        let (header, payload) = serialized::unwrap(bytes, client, check)?;
        let counted = count(client, header.device_ids().len());
        let raw = executable::deserialize(client.session(), payload)
            .map_err(|error| error.context("loading a kept executable"))?;
        let compiled = raw.executable()?;
        let described = if header.is_bound() {
            // What a launch makes room for is asked all the same.
            header.check_counts(
                compiled.replicas_and_partitions()?,
                compiled.output_count()?,
            )?;
            let (summary, signature) = header.into_program();
            Described { summary, signature }
        } else {
            let described = describe(&compiled, &client.session().shapes)?;
            header.check_program(&described.summary)?;
            described
        };
        let loaded = Executable::load(client, raw, described, counted)?;
        Ok(Executable {
            payload: Some(payload.into()),
            ..loaded
        })
    }

    fn load(
        client: &Client,
        raw: Owned<PJRT_LoadedExecutable>,
        Described { signature, summary }: Described,
        counted: Option<Paced>,
    ) -> Result<Executable> {
        let indices = raw.devices()?.into_iter();
        let devices: Vec<Device> = indices
            .map(|index| Device::new(client.session(), index))
            .collect();
        if devices.is_empty() {
            return Err(Error::invalid("no device of this process runs the program"));
        }
        let on_cpu = client.platform_name() == "cpu";
        let paced = signature.has_collectives() && on_cpu;
        if let Some(counted) = counted.filter(|_| paced && devices.len() > 1) {
            counted.stays();
        }
        Ok(Executable {
            paced,
            copies_lent: signature.donates() && on_cpu,
            raw,
            payload: None,
            plan: Plan::of(&signature, &devices),
            signature,
            summary,
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

    #[inline]
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.raw.session()
    }

    /// The devices of this process that run it, in logical order: replica by replica,
    /// each with its partitions (`PJRT_LoadedExecutable_AddressableDevices`).
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The memory that a run takes on each device, as the compiler states it
    /// (`PJRT_Executable_GetCompiledMemoryStats`).
    ///
    /// # Errors
    /// The plugin doesn't tell.
    pub fn memory_stats(&self) -> Result<ExecutableMemoryStats> {
        Ok(self.raw.executable()?.compiled_sizes()?.into())
    }

    /// The executable as bytes that [`Client::deserialize`] loads again, on the same
    /// plugin and version (`PJRT_Executable_Serialize`). Before them stands what
    /// [`ExecutableHeader`](crate::ExecutableHeader) reads.
    ///
    /// One that was loaded so, or came from a compile cache, keeps what it was loaded from in
    /// memory, and that is given again.
    ///
    /// # Errors
    /// The plugin can't serialise.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.serialize_for(None)
    }

    /// As [`Executable::serialize`], with the key of a compile cache.
    pub(crate) fn serialize_for(&self, cache_key: Option<&[u8]>) -> Result<Vec<u8>> {
        let compiled = self.raw.executable()?;
        let client = self.client();
        let header = HeaderProto {
            origin: Some(Origin::here(&client)),
            fingerprint: compiled.fingerprint(),
            program: Some(self.summary.clone()),
            device_ids: self.devices.iter().map(Device::id).collect(),
            client_devices: client.all_devices().len() as u64,
            cache_key: cache_key.map(<[u8]>::to_vec),
            ..HeaderProto::default()
        };
        match &self.payload {
            Some(payload) => serialized::wrap(header, payload),
            None => compiled.serialize(|payload| serialized::wrap(header, payload))?,
        }
    }
}

/// What was read of a compiled program.
pub(crate) struct Described {
    pub(crate) signature: Signature,
    pub(crate) summary: ProgramSummary,
}

/// Counts a program that may turn out to have collectives, from before it is compiled:
/// the launches meanwhile are to be known.
fn count(client: &Client, devices: usize) -> Option<Paced> {
    let may_be_paced = devices > 1 && client.platform_name() == "cpu";
    may_be_paced.then(|| Paced::count(client.session()))
}

/// Reads what a compiled program takes, gives and donates.
pub(crate) fn describe<M: Maker>(
    compiled: &Owned<PJRT_Executable, M>,
    shapes: &ShapeTable,
) -> Result<Described> {
    let (replicas, partitions) = compiled.replicas_and_partitions()?;
    let (code, format) = compiled.optimized_program()?;
    let module = program::read_optimized(&code, &format)?;
    collectives::check(&module, replicas, partitions)?;
    let signature = Signature::of_module(&module, replicas, partitions, shapes)?;
    let stated = compiled.output_count()?;
    if stated != signature.outputs().len() {
        return Err(Error::new(
            Code::Internal,
            format!(
                "the plugin states {stated} outputs, but the compiled program has {}",
                signature.outputs().len()
            ),
        ));
    }
    let summary = ProgramSummary::new(&module, &signature);
    Ok(Described { signature, summary })
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
/// (`PJRT_Executable_GetCompiledMemoryStats`). What the plugin doesn't know is `None`, never 0.
///
/// All supported plugins have these fields but the peak, which is in the API since 0.72.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutableMemoryStats {
    /// The program's code. `None` where the plugin doesn't count it, as the CPU plugins: they
    /// state 0.
    pub generated_code_bytes: Option<i64>,
    /// All inputs.
    pub argument_bytes: i64,
    /// All outputs, those in donated memory included.
    pub output_bytes: i64,
    /// The part of the outputs that lies in donated inputs.
    pub alias_bytes: i64,
    /// Scratch memory.
    pub temp_bytes: i64,
    /// The most in use at once. `None` below API 0.72, and where the compiler doesn't reckon it
    /// and states 0.
    ///
    /// Compilers differ in what they count: compare it only between programs of one plugin. For
    /// what inputs, outputs and scratch take together there is
    /// [`run_bytes`](ExecutableMemoryStats::run_bytes).
    pub peak_bytes: Option<i64>,
    /// As above, in host memory; 0 for a program that uses none beside its device's.
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

impl ExecutableMemoryStats {
    /// What inputs, outputs and scratch take together on a device, when all is given that the
    /// program donates: each byte of donated memory once.
    pub fn run_bytes(&self) -> i64 {
        self.argument_bytes + self.output_bytes - self.alias_bytes + self.temp_bytes
    }
}

impl From<CompiledSizes> for ExecutableMemoryStats {
    fn from(sizes: CompiledSizes) -> ExecutableMemoryStats {
        ExecutableMemoryStats {
            // No code takes no bytes.
            generated_code_bytes: Some(sizes.generated_code).filter(|size| *size != 0),
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
        }
    }
}
