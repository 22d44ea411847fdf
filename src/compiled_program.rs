//! Programs compiled for devices that aren't there.

use std::fmt;
use std::sync::Arc;

use pjrt_sys::PJRT_Executable;

use crate::compile_options::CompileOptions;
use crate::error::{Code, Error, Result};
use crate::executable::{describe, Described, ExecutableMemoryStats};
use crate::executable_header::HeaderProto;
use crate::origin::Origin;
use crate::pjrt::topology::{self, RawTopology};
use crate::pjrt::Owned;
use crate::program::{self, Program};
use crate::program_summary::ProgramSummary;
use crate::serialized;
use crate::signature::Signature;
use crate::topology::Topology;
use crate::value::Value;

/// A program compiled for a [`Topology`], and loaded nowhere: it tells what it takes, gives,
/// donates and costs, and can't run.
///
/// To run it, take its bytes ([`CompiledProgram::serialize`]) to a machine with such devices and
/// load them with [`Client::deserialize`](crate::Client::deserialize), by the very same plugin.
pub struct CompiledProgram {
    raw: Owned<PJRT_Executable, Arc<RawTopology>>,
    signature: Signature,
    /// What is kept of it beside its code.
    summary: ProgramSummary,
    topology: Topology,
    /// Of the devices that run it; where none were named, the first ones.
    device_ids: Vec<i32>,
}

impl CompiledProgram {
    pub(crate) fn compile(
        topology: &Topology,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<CompiledProgram> {
        program.check_version(topology.plugin())?;
        let resolved = options.resolve(program, &topology.present())?;
        let encoded = options.encode(&resolved);
        let raw = topology::compile(
            topology.raw(),
            program.terminated(),
            program.format_name(),
            &encoded,
        )
        .map_err(|error| error.context(format!("compiling {}", program.origin())))?;
        let Described {
            mut signature,
            summary,
        } = describe(&raw, topology.shapes())?;
        signature.name_outputs(program);
        if options.is_strict() {
            signature.check_donors()?;
        }
        let count = resolved.replicas * resolved.partitions;
        let device_ids = match &resolved.assignment {
            Some(assignment) => assignment.ids().to_vec(),
            None => topology.present().ids[..count].to_vec(),
        };
        Ok(CompiledProgram {
            raw,
            signature,
            summary,
            device_ids,
            topology: topology.clone(),
        })
    }

    /// What the program takes, gives and donates.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// What it was compiled for.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The memory that a run takes on each device, as the compiler states it
    /// (`PJRT_Executable_GetCompiledMemoryStats`). Sizes are those on the device: TPUs pad
    /// arrays to tiles, so they can be more than the shapes in the signature have.
    ///
    /// # Errors
    /// The plugin doesn't tell.
    pub fn memory_stats(&self) -> Result<ExecutableMemoryStats> {
        Ok(self.raw.compiled_sizes()?.into())
    }

    /// What the compiler reckons that a run costs, by name, such as `flops` and `bytes
    /// accessed` (`PJRT_Executable_GetCostAnalysis`); `None` where the plugin doesn't reckon,
    /// as the CUDA plugin.
    ///
    /// # Errors
    /// The plugin fails to.
    pub fn cost_analysis(&self) -> Result<Option<Vec<(String, Value)>>> {
        match self.raw.cost_analysis() {
            Err(error) if error.code() == Code::Unimplemented => Ok(None),
            told => told.map(Some),
        }
    }

    /// The program as compiled, an HLO module as protobuf (`HloModuleProto`;
    /// `PJRT_Executable_OptimizedProgram`). It is for tools to read: compiling it again ends
    /// the process, and [`Program`] refuses it.
    ///
    /// # Errors
    /// The plugin doesn't give it.
    pub fn optimized_hlo(&self) -> Result<Vec<u8>> {
        let (code, format) = self.raw.optimized_program()?;
        program::optimized_module(code, &format)
    }

    /// The size of the code in bytes (`PJRT_Executable_SizeOfGeneratedCodeInBytes`); 0 for
    /// GPUs, whose plugin doesn't count it.
    ///
    /// # Errors
    /// The plugin doesn't tell.
    pub fn generated_code_bytes(&self) -> Result<usize> {
        let size = self.raw.generated_code_size()?;
        usize::try_from(size).map_err(|_| {
            Error::new(
                Code::Internal,
                format!("the plugin states {size} bytes of code"),
            )
        })
    }

    /// The executable as bytes that [`Client::deserialize`](crate::Client::deserialize) loads
    /// where such devices are, on the same plugin and version (`PJRT_Executable_Serialize`).
    ///
    /// # Errors
    /// The plugin can't serialise.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let topology = &self.topology;
        let header = HeaderProto {
            origin: Some(Origin::of(
                topology.plugin(),
                topology.platform_name(),
                topology.platform_version(),
            )),
            fingerprint: self.raw.fingerprint(),
            program: Some(self.summary.clone()),
            device_ids: self.device_ids.clone(),
            client_devices: topology.present().ids.len() as u64,
            for_topology: true,
            ..HeaderProto::default()
        };
        self.raw
            .serialize(|payload| serialized::wrap(header, payload))?
    }
}

impl fmt::Debug for CompiledProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledProgram")
            .field("name", &self.signature.name())
            .field("topology", &self.topology)
            .finish()
    }
}
