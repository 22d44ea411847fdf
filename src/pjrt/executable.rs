//! Executables: compiled or loaded, described, serialised.

use std::ffi::c_char;
use std::sync::Arc;

use pjrt_sys::{
    entry, Args, PJRT_Client_Compile_Args, PJRT_Executable,
    PJRT_Executable_DeserializeAndLoad_Args, PJRT_Executable_Fingerprint_Args,
    PJRT_Executable_GetCompiledMemoryStats_Args, PJRT_Executable_GetCostAnalysis_Args,
    PJRT_Executable_NumOutputs_Args, PJRT_Executable_NumPartitions_Args,
    PJRT_Executable_NumReplicas_Args, PJRT_Executable_OptimizedProgram_Args,
    PJRT_Executable_Serialize_Args, PJRT_Executable_SizeOfGeneratedCodeInBytes_Args,
    PJRT_LoadedExecutable, PJRT_LoadedExecutable_AddressableDevices_Args,
    PJRT_LoadedExecutable_GetExecutable_Args, PJRT_Program,
};

use super::client::{chars, nothing_from};
use super::owned::{Maker, Owned};
use super::{named_value, parts};
use crate::client::Session;
use crate::error::{Code, Error, Result};
use crate::value::Value;

/// Sizes that the compiler states for a program, in bytes a device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompiledSizes {
    pub(crate) generated_code: i64,
    pub(crate) argument: i64,
    pub(crate) output: i64,
    pub(crate) alias: i64,
    pub(crate) temp: i64,
    pub(crate) host_generated_code: i64,
    pub(crate) host_argument: i64,
    pub(crate) host_output: i64,
    pub(crate) host_alias: i64,
    pub(crate) host_temp: i64,
    pub(crate) peak: i64,
}

/// Compiles `code` of the given format (`mlir`, `hlo`, ...) with serialised
/// compile options, and loads it (`PJRT_Client_Compile`).
///
/// `code` ends with a NUL that isn't part of it: the parser of 0.115 reads text in place
/// and goes on until it meets one, past the stated size.
pub(crate) fn compile(
    session: &Arc<Session>,
    code: &[u8],
    format: &str,
    options: &[u8],
) -> Result<Owned<PJRT_LoadedExecutable>> {
    let program = program(code, format)?;
    let mut args = PJRT_Client_Compile_Args::zeroed();
    args.client = session.raw.raw();
    args.program = &program;
    args.compile_options = chars(options);
    args.compile_options_size = options.len();
    // SAFETY: program, with its NUL, and options outlive the call, which only reads
    // them; what it
    // hands out is owned before the status counts.
    let (status, executable) = unsafe {
        let status = session
            .raw
            .api()
            .call(entry::PJRT_Client_Compile, &mut args);
        (status, Owned::adopt(session, args.executable))
    };
    status?;
    executable.ok_or_else(|| nothing_from("PJRT_Client_Compile"))
}

/// A program as the compilers take it, good as long as `code` and `format` are; `code` as
/// [`compile`] wants it.
pub(super) fn program(code: &[u8], format: &str) -> Result<PJRT_Program> {
    let Some((0, counted)) = code.split_last() else {
        return Err(Error::new(
            Code::Internal,
            "program code without a NUL behind it",
        ));
    };
    let mut program = PJRT_Program::zeroed();
    program.code = code.as_ptr().cast::<c_char>().cast_mut();
    program.code_size = counted.len();
    program.format = chars(format.as_bytes());
    program.format_size = format.len();
    Ok(program)
}

/// Loads what `serialize` gave (`PJRT_Executable_DeserializeAndLoad`). The bytes
/// hold machine code: the caller has checked where they come from.
pub(crate) fn deserialize(
    session: &Arc<Session>,
    serialized: &[u8],
) -> Result<Owned<PJRT_LoadedExecutable>> {
    let mut args = PJRT_Executable_DeserializeAndLoad_Args::zeroed();
    args.client = session.raw.raw();
    args.serialized_executable = chars(serialized);
    args.serialized_executable_size = serialized.len();
    // SAFETY: the bytes outlive the call; what it hands out is owned before the
    // status counts.
    let (status, executable) = unsafe {
        let status = session
            .raw
            .api()
            .call(entry::PJRT_Executable_DeserializeAndLoad, &mut args);
        (status, Owned::adopt(session, args.loaded_executable))
    };
    status?;
    executable.ok_or_else(|| nothing_from("PJRT_Executable_DeserializeAndLoad"))
}

impl Owned<PJRT_LoadedExecutable> {
    /// The description of what was loaded.
    pub(crate) fn executable(&self) -> Result<Owned<PJRT_Executable>> {
        let mut args = PJRT_LoadedExecutable_GetExecutable_Args::zeroed();
        args.loaded_executable = self.raw();
        // SAFETY: the executable is alive; what is handed out is owned at once.
        let (status, executable) = unsafe {
            let status = self
                .api()
                .call(entry::PJRT_LoadedExecutable_GetExecutable, &mut args);
            (status, Owned::adopt(self.session(), args.executable))
        };
        status?;
        executable.ok_or_else(|| nothing_from("PJRT_LoadedExecutable_GetExecutable"))
    }

    /// The indices of the devices it runs on, in logical order: argument list `i`
    /// of a launch belongs to the `i`-th.
    pub(crate) fn devices(&self) -> Result<Vec<usize>> {
        let mut args = PJRT_LoadedExecutable_AddressableDevices_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive; its list lives as long.
        let devices = unsafe {
            self.api()
                .call(entry::PJRT_LoadedExecutable_AddressableDevices, &mut args)?;
            parts::slice(args.addressable_devices, args.num_addressable_devices)
        };
        devices
            .iter()
            .map(|raw| {
                self.session()
                    .raw
                    .device_index(*raw)
                    .ok_or_else(|| nothing_from("PJRT_LoadedExecutable_AddressableDevices"))
            })
            .collect()
    }
}

impl<M: Maker> Owned<PJRT_Executable, M> {
    /// Replicas and partitions.
    pub(crate) fn replicas_and_partitions(&self) -> Result<(usize, usize)> {
        let mut replicas = PJRT_Executable_NumReplicas_Args::zeroed();
        replicas.executable = self.raw();
        let mut partitions = PJRT_Executable_NumPartitions_Args::zeroed();
        partitions.executable = self.raw();
        // SAFETY: the executable is alive.
        unsafe {
            self.api()
                .call(entry::PJRT_Executable_NumReplicas, &mut replicas)?;
            self.api()
                .call(entry::PJRT_Executable_NumPartitions, &mut partitions)?;
        }
        Ok((replicas.num_replicas, partitions.num_partitions))
    }

    /// How many outputs a run gives on each device.
    pub(crate) fn output_count(&self) -> Result<usize> {
        let mut args = PJRT_Executable_NumOutputs_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive.
        unsafe {
            self.api()
                .call(entry::PJRT_Executable_NumOutputs, &mut args)?
        };
        Ok(args.num_outputs)
    }

    /// The sizes that the compiler states.
    pub(crate) fn compiled_sizes(&self) -> Result<CompiledSizes> {
        let mut args = PJRT_Executable_GetCompiledMemoryStats_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive; a shorter struct of an older plugin
        // leaves the newer fields zero.
        unsafe {
            self.api()
                .call(entry::PJRT_Executable_GetCompiledMemoryStats, &mut args)?;
        }
        Ok(CompiledSizes {
            generated_code: args.generated_code_size_in_bytes,
            argument: args.argument_size_in_bytes,
            output: args.output_size_in_bytes,
            alias: args.alias_size_in_bytes,
            temp: args.temp_size_in_bytes,
            host_generated_code: args.host_generated_code_size_in_bytes,
            host_argument: args.host_argument_size_in_bytes,
            host_output: args.host_output_size_in_bytes,
            host_alias: args.host_alias_size_in_bytes,
            host_temp: args.host_temp_size_in_bytes,
            peak: args.peak_memory_in_bytes,
        })
    }

    /// The program as compiled: its bytes and their format (`hlo`,
    /// `hlo_with_config`, `mlir`).
    pub(crate) fn optimized_program(&self) -> Result<(Vec<u8>, String)> {
        let mut program = PJRT_Program::zeroed();
        let mut args = PJRT_Executable_OptimizedProgram_Args::zeroed();
        args.executable = self.raw();
        args.program = &mut program;
        // SAFETY: without room for the code the call states its size; the second
        // call fills exactly that room, which outlives it. The format is a
        // constant of the plugin.
        unsafe {
            self.api()
                .call(entry::PJRT_Executable_OptimizedProgram, &mut args)?;
            let mut code = vec![0u8; program.code_size];
            program.code = code.as_mut_ptr().cast();
            // Anew: the write to `program` has ended what was borrowed of it.
            args.program = &mut program;
            self.api()
                .call(entry::PJRT_Executable_OptimizedProgram, &mut args)?;
            code.truncate(program.code_size);
            Ok((code, parts::text(program.format, program.format_size)))
        }
    }

    /// The size of the code in bytes.
    pub(crate) fn generated_code_size(&self) -> Result<i64> {
        let mut args = PJRT_Executable_SizeOfGeneratedCodeInBytes_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive.
        unsafe {
            let entry = entry::PJRT_Executable_SizeOfGeneratedCodeInBytes;
            self.api().call(entry, &mut args)?;
        }
        Ok(args.size_in_bytes)
    }

    /// What the compiler reckons that a run costs.
    pub(crate) fn cost_analysis(&self) -> Result<Vec<(String, Value)>> {
        let mut args = PJRT_Executable_GetCostAnalysis_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive; the properties live as long, and are copied.
        unsafe {
            self.api()
                .call(entry::PJRT_Executable_GetCostAnalysis, &mut args)?;
            Ok(named_value::read(args.properties, args.num_properties))
        }
    }

    /// XLA's fingerprint of the compiled program; `None` where the plugin has none, which
    /// it may also say by a failure.
    pub(crate) fn fingerprint(&self) -> Option<Vec<u8>> {
        let mut args = PJRT_Executable_Fingerprint_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive; the fingerprint lives as long, and is copied.
        unsafe {
            let status = self
                .api()
                .call(entry::PJRT_Executable_Fingerprint, &mut args);
            let bytes = parts::slice(
                args.executable_fingerprint.cast::<u8>(),
                args.executable_fingerprint_size,
            );
            (status.is_ok() && !bytes.is_empty()).then(|| bytes.to_vec())
        }
    }

    /// What `take` makes of the executable as bytes that the same plugin can load again.
    pub(crate) fn serialize<R>(&self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let mut args = PJRT_Executable_Serialize_Args::zeroed();
        args.executable = self.raw();
        // SAFETY: the executable is alive; the bytes belong to the holder that
        // comes with its deleter, are looked at before, and the holder is deleted once.
        unsafe {
            let status = self.api().call(entry::PJRT_Executable_Serialize, &mut args);
            let taken = status.map(|()| {
                take(parts::slice(
                    args.serialized_bytes.cast::<u8>(),
                    args.serialized_bytes_size,
                ))
            });
            if let Some(delete) = args.serialized_executable_deleter {
                if !args.serialized_executable.is_null() {
                    delete(args.serialized_executable);
                }
            }
            taken
        }
    }
}
