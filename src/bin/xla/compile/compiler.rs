//! Compiling for devices that are there, and for those that aren't.

use xla::{
    Client, ClientOptions, CompileOptions, Executable, ExecutableMemoryStats, Plugin, Program,
    Signature,
};

use crate::report::Failure;
use crate::target::Target;

/// What compiles for a target.
pub(crate) enum Compiler {
    Client(Client),
}

/// A compiled program.
pub(crate) enum Compiled {
    Loaded(Executable),
}

/// CPU devices where none are counted: a program takes as many as it states.
const CPU_DEVICES: usize = 8;

impl Compiler {
    /// `counted` is how many devices the command line speaks of elsewhere.
    pub(crate) fn for_target(target: &Target, counted: usize) -> Result<Compiler, Failure> {
        match target {
            Target::Cpu(count) => {
                let count = count.unwrap_or_else(|| counted.clamp(CPU_DEVICES, 4096));
                let options = ClientOptions::new().cpu_device_count(count);
                Ok(Compiler::Client(Plugin::cpu()?.client_with(&options)?))
            }
            _ => Err(Failure::refused("not yet")),
        }
    }

    pub(crate) fn platform_name(&self) -> &str {
        match self {
            Compiler::Client(client) => client.platform_name(),
        }
    }

    pub(crate) fn compile(
        &self,
        program: &Program,
        options: &CompileOptions,
    ) -> Result<Compiled, Failure> {
        Ok(match self {
            Compiler::Client(client) => Compiled::Loaded(client.compile(program, options)?),
        })
    }
}

impl Compiled {
    pub(crate) fn signature(&self) -> &Signature {
        match self {
            Compiled::Loaded(executable) => executable.signature(),
        }
    }

    pub(crate) fn memory_stats(&self) -> Result<ExecutableMemoryStats, Failure> {
        Ok(match self {
            Compiled::Loaded(executable) => executable.memory_stats()?,
        })
    }

    pub(crate) fn serialize(&self) -> Result<Vec<u8>, Failure> {
        Ok(match self {
            Compiled::Loaded(executable) => executable.serialize()?,
        })
    }
}
