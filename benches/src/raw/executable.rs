//! Compiling, keeping and running programs through the C API.

use pjrt_sys::{
    Args, PJRT_Client_Compile_Args, PJRT_Executable_DeserializeAndLoad_Args,
    PJRT_Executable_Destroy_Args, PJRT_Executable_Serialize_Args, PJRT_ExecuteOptions,
    PJRT_LoadedExecutable, PJRT_LoadedExecutable_Destroy_Args, PJRT_LoadedExecutable_Execute_Args,
    PJRT_LoadedExecutable_GetExecutable_Args, PJRT_Program,
};

use super::{call, Buffer, Client, Event};

/// A compiled program's handle.
pub type Executable = *mut PJRT_LoadedExecutable;

/// On how many devices a program runs.
#[derive(Clone, Copy)]
pub enum Parallel {
    /// Copies of it, each with data of its own.
    Replicas(usize),
    /// One that is cut over devices, with shardings as JAX writes them.
    Partitions(usize),
}

impl Parallel {
    /// `CompileOptionsProto`: field 3 is a message with fields 1 (device_ordinal, -1), 4
    /// (num_replicas), 5 (num_partitions), and for partitions 6 (use_spmd_partitioning) and 19
    /// (use_shardy_partitioner).
    fn options(self) -> Vec<u8> {
        let (replicas, partitions) = match self {
            Parallel::Replicas(count) => (count, 1),
            Parallel::Partitions(count) => (1, count),
        };
        assert!(replicas.max(partitions) < 128, "one byte of a varint");
        let mut build = vec![0x08];
        build.extend([0xff; 9]);
        build.extend([0x01, 0x20, replicas as u8, 0x28, partitions as u8]);
        if matches!(self, Parallel::Partitions(_)) {
            build.extend([0x30, 1, 0x98, 0x01, 1]);
        }
        let mut options = vec![0x1a, build.len() as u8];
        options.extend(build);
        options
    }
}

impl Client {
    /// Compiles StableHLO text.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn compile(&self, text: &str, parallel: Parallel) -> Executable {
        let options = parallel.options();
        // Some plugins read on until a zero.
        let terminated = format!("{text}\0");
        let mut program = PJRT_Program::zeroed();
        program.code = terminated.as_ptr().cast_mut().cast();
        program.code_size = text.len();
        program.format = "mlir".as_ptr().cast();
        program.format_size = 4;
        let mut args = PJRT_Client_Compile_Args::zeroed();
        args.client = self.client;
        args.program = &program;
        args.compile_options = options.as_ptr().cast();
        args.compile_options_size = options.len();
        call!(self.api, PJRT_Client_Compile, args);
        args.executable
    }

    /// The bytes of a compiled program.
    ///
    /// # Safety
    /// The program is alive.
    ///
    /// # Panics
    /// The plugin refuses.
    pub unsafe fn serialize(&self, executable: Executable) -> Vec<u8> {
        let mut of = PJRT_LoadedExecutable_GetExecutable_Args::zeroed();
        of.loaded_executable = executable;
        call!(self.api, PJRT_LoadedExecutable_GetExecutable, of);
        let mut args = PJRT_Executable_Serialize_Args::zeroed();
        args.executable = of.executable;
        call!(self.api, PJRT_Executable_Serialize, args);
        let delete = args.serialized_executable_deleter.expect("a deleter");
        // SAFETY: as many bytes as it says, until they are deleted.
        let bytes = unsafe {
            let start = args.serialized_bytes.cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, args.serialized_bytes_size).to_vec();
            delete(args.serialized_executable);
            bytes
        };
        let mut args = PJRT_Executable_Destroy_Args::zeroed();
        args.executable = of.executable;
        call!(self.api, PJRT_Executable_Destroy, args);
        bytes
    }

    /// Loads what [`serialize`](Client::serialize) gave.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn deserialize(&self, bytes: &[u8]) -> Executable {
        let mut args = PJRT_Executable_DeserializeAndLoad_Args::zeroed();
        args.client = self.client;
        args.serialized_executable = bytes.as_ptr().cast();
        args.serialized_executable_size = bytes.len();
        call!(self.api, PJRT_Executable_DeserializeAndLoad, args);
        args.loaded_executable
    }

    /// Destroys a compiled program.
    ///
    /// # Safety
    /// It is alive and nobody else has it.
    ///
    /// # Panics
    /// The plugin refuses.
    pub unsafe fn destroy_executable(&self, executable: Executable) {
        let mut args = PJRT_LoadedExecutable_Destroy_Args::zeroed();
        args.executable = executable;
        call!(self.api, PJRT_LoadedExecutable_Destroy, args);
    }

    /// Runs a program on its devices: for each a list of `count` arguments and one for the
    /// outputs. `events`, unless empty, gets an event a device that tells when it is done.
    ///
    /// # Safety
    /// Everything is alive, and there are as many lists, arguments, outputs and events as the
    /// program has.
    ///
    /// # Panics
    /// The plugin refuses.
    #[inline]
    pub unsafe fn execute(
        &self,
        executable: Executable,
        arguments: &[*const Buffer],
        count: usize,
        lent: &[i64],
        outputs: &[*mut Buffer],
        events: &mut [Event],
    ) {
        let mut options = PJRT_ExecuteOptions::zeroed();
        options.non_donatable_input_indices = lent.as_ptr();
        options.num_non_donatable_input_indices = lent.len();
        let mut args = PJRT_LoadedExecutable_Execute_Args::zeroed();
        args.executable = executable;
        args.options = &mut options;
        args.argument_lists = arguments.as_ptr();
        args.num_devices = arguments.len();
        args.num_args = count;
        args.output_lists = outputs.as_ptr();
        if !events.is_empty() {
            args.device_complete_events = events.as_mut_ptr();
        }
        call!(self.api, PJRT_LoadedExecutable_Execute, args);
    }
}
