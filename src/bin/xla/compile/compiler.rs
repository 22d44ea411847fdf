//! Compiling for devices that are there, and for those that aren't.

use xla::{
    Client, ClientOptions, CompileOptions, CompiledProgram, DonationAdvice, Executable,
    ExecutableMemoryStats, GpuTarget, Program, Signature, Topology, TopologyOptions,
};

use crate::kept;
use crate::plugin_choice::{PluginChoice, CPU_DEVICES, MOST_CPU_DEVICES};
use crate::report::Failure;
use crate::target::{Gpu, Target};
use crate::worker;

/// What compiles for a target.
pub(crate) enum Compiler {
    Client(Client),
    Topology(Topology),
}

/// A compiled program.
pub(crate) enum Compiled {
    Loaded(Executable),
    /// For devices that aren't there.
    Described(CompiledProgram),
}

impl Compiler {
    /// `counted` is how many devices the command line speaks of elsewhere.
    pub(crate) fn for_target(target: &Target, counted: usize) -> Result<Compiler, Failure> {
        let choice = match target {
            Target::Cpu(_) => PluginChoice::Cpu,
            Target::Tpu(_) => PluginChoice::Tpu,
            Target::Cuda(..) => PluginChoice::Cuda,
        };
        let plugin = choice.load()?;
        worker::doing(format_args!("describing the devices of {target}"));
        Ok(match target {
            Target::Cpu(count) => {
                let count = count.unwrap_or_else(|| counted.clamp(CPU_DEVICES, MOST_CPU_DEVICES));
                let options = kept::with_cache(ClientOptions::new()).cpu_device_count(count);
                Compiler::Client(plugin.client_with(&options)?)
            }
            Target::Tpu(name) => Compiler::Topology(plugin.topology(&TopologyOptions::new(name))?),
            Target::Cuda(kind, shape) => {
                let gpu = match kind {
                    Gpu::A100 => GpuTarget::a100(),
                    Gpu::H100 => GpuTarget::h100(),
                };
                Compiler::Topology(plugin.topology(&TopologyOptions::gpu(&gpu, *shape))?)
            }
        })
    }

    pub(crate) fn platform_name(&self) -> &str {
        match self {
            Compiler::Client(client) => client.platform_name(),
            Compiler::Topology(topology) => topology.platform_name(),
        }
    }

    /// The kind of the devices, in the vendor's words, and how many there are.
    pub(crate) fn devices(&self) -> (String, usize) {
        match self {
            Compiler::Client(client) => {
                let devices = client.devices();
                let kind = devices.first().map_or("", |device| device.kind());
                (kind.to_owned(), devices.len())
            }
            Compiler::Topology(topology) => {
                let devices = topology.devices();
                let kind = devices.first().map_or("", |device| device.kind());
                (kind.to_owned(), devices.len())
            }
        }
    }

    pub(crate) fn compile(
        &self,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<Compiled, Failure> {
        worker::doing_program("compiling");
        Ok(match self {
            Compiler::Client(client) => Compiled::Loaded(client.compile(program, options)?),
            Compiler::Topology(topology) => {
                Compiled::Described(topology.compile(program, options)?)
            }
        })
    }
}

/// What the donations come to that an adviser found.
pub(crate) struct Verified {
    pub(crate) memory: ExecutableMemoryStats,
    /// The inputs that the compiler found no output for.
    pub(crate) refused: Vec<usize>,
}

impl Compiler {
    /// Compiles the program with all that it could donate; `compiled` is what it is without.
    pub(crate) fn verify(
        &self,
        advice: &DonationAdvice,
        program: &Program,
        compiled: &Compiled,
        options: &CompileOptions,
    ) -> Result<Verified, Failure> {
        worker::doing_program("compiling with more inputs donated");
        let (memory, refused) = match (self, compiled) {
            (Compiler::Client(client), _) => {
                let compared = advice.verify(client, program, options)?;
                (compared.after, compared.refused)
            }
            (Compiler::Topology(_), Compiled::Described(compiled)) => {
                let compared = advice.verify_compiled(compiled, program, options)?;
                (compared.after, compared.refused)
            }
            (Compiler::Topology(topology), Compiled::Loaded(_)) => {
                let compared = advice.verify_for(topology, program, options)?;
                (compared.after, compared.refused)
            }
        };
        Ok(Verified { memory, refused })
    }
}

impl Compiled {
    pub(crate) fn signature(&self) -> &Signature {
        match self {
            Compiled::Loaded(executable) => executable.signature(),
            Compiled::Described(program) => program.signature(),
        }
    }

    pub(crate) fn memory_stats(&self) -> Result<ExecutableMemoryStats, Failure> {
        Ok(match self {
            Compiled::Loaded(executable) => executable.memory_stats()?,
            Compiled::Described(program) => program.memory_stats()?,
        })
    }

    /// As bytes that `xla inspect` and a client with such devices read.
    pub(crate) fn serialize(&self) -> Result<Vec<u8>, Failure> {
        Ok(match self {
            Compiled::Loaded(executable) => executable.serialize()?,
            Compiled::Described(program) => program.serialize()?,
        })
    }
}
