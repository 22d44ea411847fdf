//! Programs compiled, described, serialised, loaded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pjrt_sys::{
    PJRT_Client_Compile_Args, PJRT_Device, PJRT_Executable,
    PJRT_Executable_DeserializeAndLoad_Args, PJRT_Executable_Destroy_Args,
    PJRT_Executable_Fingerprint_Args, PJRT_Executable_GetCompiledMemoryStats_Args,
    PJRT_Executable_GetCostAnalysis_Args, PJRT_Executable_Name_Args,
    PJRT_Executable_NumOutputs_Args, PJRT_Executable_NumPartitions_Args,
    PJRT_Executable_NumReplicas_Args, PJRT_Executable_OptimizedProgram_Args,
    PJRT_Executable_Serialize_Args, PJRT_Executable_SizeOfGeneratedCodeInBytes_Args,
    PJRT_LoadedExecutable, PJRT_LoadedExecutable_AddressableDevices_Args,
    PJRT_LoadedExecutable_Delete_Args, PJRT_LoadedExecutable_Destroy_Args,
    PJRT_LoadedExecutable_GetExecutable_Args, PJRT_LoadedExecutable_IsDeleted_Args, PJRT_Program,
    PJRT_SerializedExecutable,
};

use crate::call::Call;
use crate::client::{default_assignment, Client};
use crate::failure::{Answer, Failure};
use crate::hlo::{self, CompileOptions};
use crate::program::Program;
use crate::registry::{Kind, Object};
use crate::slots;
use crate::table;
use crate::text::{list, Attributes, Handles, Text, Value};

/// A compiled program.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    source: String,
    replicas: usize,
    partitions: usize,
    /// Device ids, replica by replica, each with its partitions.
    devices: Vec<i64>,
    name: Text,
    format: Text,
    /// The length of the source: it tells the programs of tests apart.
    fingerprint: Text,
    module: Vec<u8>,
}

/// What a `PJRT_Executable` stands for.
struct Executable {
    client: u64,
    compiled: Arc<Compiled>,
}

impl Object for Executable {
    type Raw = PJRT_Executable;
    const KIND: Kind = Kind::Executable;
}

/// What a `PJRT_LoadedExecutable` stands for.
pub(crate) struct Loaded {
    pub(crate) client: Arc<Client>,
    pub(crate) compiled: Arc<Compiled>,
    /// Indices of the devices that run it, in logical order.
    pub(crate) devices: Vec<usize>,
    handles: Handles<PJRT_Device>,
    pub(crate) deleted: AtomicBool,
}

impl Object for Loaded {
    type Raw = PJRT_LoadedExecutable;
    const KIND: Kind = Kind::LoadedExecutable;
}

/// What a `PJRT_SerializedExecutable` stands for.
struct Serialized {
    /// What `serialized_bytes` leads to.
    _text: Text,
}

impl Object for Serialized {
    type Raw = PJRT_SerializedExecutable;
    const KIND: Kind = Kind::Serialized;
}

impl Compiled {
    fn new(source: &str, options: &CompileOptions, present: usize) -> Result<Compiled, Failure> {
        let program = Program::parse(source)?;
        let CompileOptions {
            replicas,
            partitions,
            ref devices,
        } = *options;
        let default = default_assignment(present, replicas, partitions)?;
        let devices = devices.clone().unwrap_or_else(|| default.clone());
        let known = |id: &i64| usize::try_from(*id).is_ok_and(|id| id < present);
        if devices.len() != default.len() || !devices.iter().all(known) {
            return Err(Failure::invalid(format!(
                "no device assignment: {devices:?}"
            )));
        }
        let (replicas, partitions) = (replicas as usize, partitions as usize);
        let stated = [
            (program.replicas, replicas),
            (program.partitions, partitions),
        ];
        if stated
            .iter()
            .any(|(said, is)| said.is_some_and(|said| said != *is))
        {
            return Err(Failure::invalid(format!(
                "the program isn't for {replicas} replicas of {partitions} partitions"
            )));
        }
        Ok(Compiled {
            name: Text::new(&program.name),
            format: Text::new(program.format),
            fingerprint: Text::new(format!("fake{}", source.len())),
            module: hlo::module(&program),
            source: source.to_owned(),
            program,
            replicas,
            partitions,
            devices,
        })
    }

    /// The first line has the numbers, the rest is the program.
    fn serialize(&self) -> String {
        let ids: Vec<String> = self.devices.iter().map(i64::to_string).collect();
        let Compiled {
            replicas,
            partitions,
            source,
            ..
        } = self;
        format!(
            "{MAGIC} {replicas} {partitions} {}\n{source}",
            ids.join(",")
        )
    }

    fn deserialize(bytes: &[u8], client: &Client) -> Result<Compiled, Failure> {
        let read = || {
            let text = std::str::from_utf8(bytes).ok()?;
            let (head, source) = text.split_once('\n')?;
            let mut words = head.strip_prefix(MAGIC)?.split_whitespace();
            let mut number = || words.next()?.parse().ok();
            let (replicas, partitions) = (number()?, number()?);
            let ids = words.next()?.split(',').map(|id| id.parse().ok());
            let options = CompileOptions {
                replicas,
                partitions,
                devices: Some(ids.collect::<Option<Vec<i64>>>()?),
            };
            Some((options, source))
        };
        let (options, source) =
            read().ok_or_else(|| Failure::invalid("this is no serialised executable"))?;
        Compiled::new(source, &options, client.devices.len())
    }
}

const MAGIC: &str = "pjrt_fake executable";

fn load(client: &Arc<Client>, compiled: Compiled) -> Loaded {
    let own = |id: &&i64| client.devices[**id as usize].is_addressable();
    let devices: Vec<usize> = compiled
        .devices
        .iter()
        .filter(own)
        .map(|id| *id as usize)
        .collect();
    Loaded {
        handles: Handles::new(devices.iter().map(|index| client.device_handles[*index])),
        client: Arc::clone(client),
        compiled: Arc::new(compiled),
        devices,
        deleted: AtomicBool::new(false),
    }
}

pub(crate) fn compile(call: &Call, args: &mut PJRT_Client_Compile_Args) -> Answer {
    let client = call.get::<Client>(args.client)?;
    // SAFETY: the options have their size beside them.
    let options = unsafe { list(args.compile_options.cast::<u8>(), args.compile_options_size) };
    let compiled = compile_for(call, client.devices.len(), args.program, options)?;
    args.executable = call.make(load(&client, compiled), client.id);
    Ok(())
}

/// Compiles for this many devices.
pub(crate) fn compile_for(
    call: &Call,
    devices: usize,
    program: *const PJRT_Program,
    options: &[u8],
) -> Result<Compiled, Failure> {
    // SAFETY: the caller passes a program or null.
    let Some(program) = (unsafe { program.as_ref() }) else {
        return Err(call.breach("the program is null"));
    };
    // SAFETY: code and format have their sizes beside them.
    let (code, format) = unsafe {
        (
            list(program.code.cast_const().cast::<u8>(), program.code_size),
            list(program.format.cast::<u8>(), program.format_size),
        )
    };
    if format != b"mlir" {
        return Err(Failure::invalid("this fake takes text (as `mlir`) only"));
    }
    let source = std::str::from_utf8(code).map_err(|_| Failure::invalid("this is no text"))?;
    let options = CompileOptions::read(options)
        .ok_or_else(|| call.breach("the compile options are no message"))?;
    if options.replicas < 1 || options.partitions < 1 {
        return Err(call.breach(format!("{options:?}: a real plugin ends the process")));
    }
    Compiled::new(source, &options, devices)
}

/// Hands out a program that is loaded nowhere.
pub(crate) fn make(call: &Call, compiled: Compiled, owner: u64) -> *mut PJRT_Executable {
    let compiled = Arc::new(compiled);
    let client = owner;
    call.make(Executable { client, compiled }, owner)
}

/// What a run costs, made up.
pub(crate) fn cost_analysis(
    call: &Call,
    args: &mut PJRT_Executable_GetCostAnalysis_Args,
) -> Answer {
    static COSTS: OnceLock<Attributes> = OnceLock::new();
    call.get::<Executable>(args.executable)?;
    let costs = COSTS.get_or_init(|| Attributes::new([("flops", Value::Float(12.))]));
    (args.properties, args.num_properties) = (costs.start(), costs.count());
    Ok(())
}

pub(crate) fn code_size(
    call: &Call,
    args: &mut PJRT_Executable_SizeOfGeneratedCodeInBytes_Args,
) -> Answer {
    let executable = call.get::<Executable>(args.executable)?;
    args.size_in_bytes = executable.compiled.source.len() as i64;
    Ok(())
}

pub(crate) fn fingerprint(call: &Call, args: &mut PJRT_Executable_Fingerprint_Args) -> Answer {
    let executable = call.get::<Executable>(args.executable)?;
    let fingerprint = &executable.compiled.fingerprint;
    args.executable_fingerprint = fingerprint.start();
    args.executable_fingerprint_size = fingerprint.size();
    Ok(())
}

pub(crate) fn deserialize(
    call: &Call,
    args: &mut PJRT_Executable_DeserializeAndLoad_Args,
) -> Answer {
    let client = call.get::<Client>(args.client)?;
    let start = args.serialized_executable.cast::<u8>();
    // SAFETY: the bytes have their number beside them.
    let bytes = unsafe { list(start, args.serialized_executable_size) };
    let compiled = Compiled::deserialize(bytes, &client)?;
    args.loaded_executable = call.make(load(&client, compiled), client.id);
    Ok(())
}

pub(crate) fn destroy_loaded(call: &Call, args: &mut PJRT_LoadedExecutable_Destroy_Args) -> Answer {
    call.destroy::<Loaded>(args.executable).map(drop)
}

pub(crate) fn delete(call: &Call, args: &mut PJRT_LoadedExecutable_Delete_Args) -> Answer {
    let loaded = call.get::<Loaded>(args.executable)?;
    loaded.deleted.store(true, Ordering::SeqCst);
    Ok(())
}

pub(crate) fn is_deleted(call: &Call, args: &mut PJRT_LoadedExecutable_IsDeleted_Args) -> Answer {
    let loaded = call.get::<Loaded>(args.executable)?;
    args.is_deleted = loaded.deleted.load(Ordering::SeqCst);
    Ok(())
}

pub(crate) fn executable(
    call: &Call,
    args: &mut PJRT_LoadedExecutable_GetExecutable_Args,
) -> Answer {
    let loaded = call.get::<Loaded>(args.loaded_executable)?;
    let client = loaded.client.id;
    let compiled = Arc::clone(&loaded.compiled);
    args.executable = call.make(Executable { client, compiled }, client);
    Ok(())
}

pub(crate) fn addressable_devices(
    call: &Call,
    args: &mut PJRT_LoadedExecutable_AddressableDevices_Args,
) -> Answer {
    let loaded = call.get::<Loaded>(args.executable)?;
    args.addressable_devices = loaded.handles.as_ptr();
    args.num_addressable_devices = loaded.handles.len();
    Ok(())
}

pub(crate) fn destroy(call: &Call, args: &mut PJRT_Executable_Destroy_Args) -> Answer {
    call.destroy::<Executable>(args.executable).map(drop)
}

pub(crate) fn name(call: &Call, args: &mut PJRT_Executable_Name_Args) -> Answer {
    let name = &call.get::<Executable>(args.executable)?.compiled.name;
    (args.executable_name, args.executable_name_size) = (name.start(), name.size());
    Ok(())
}

pub(crate) fn replicas(call: &Call, args: &mut PJRT_Executable_NumReplicas_Args) -> Answer {
    args.num_replicas = call.get::<Executable>(args.executable)?.compiled.replicas;
    Ok(())
}

pub(crate) fn partitions(call: &Call, args: &mut PJRT_Executable_NumPartitions_Args) -> Answer {
    args.num_partitions = call.get::<Executable>(args.executable)?.compiled.partitions;
    Ok(())
}

pub(crate) fn outputs(call: &Call, args: &mut PJRT_Executable_NumOutputs_Args) -> Answer {
    let executable = call.get::<Executable>(args.executable)?;
    args.num_outputs = executable.compiled.program.outputs.len();
    Ok(())
}

pub(crate) fn memory_stats(
    call: &Call,
    args: &mut PJRT_Executable_GetCompiledMemoryStats_Args,
) -> Answer {
    let executable = call.get::<Executable>(args.executable)?;
    let program = &executable.compiled.program;
    let inputs = program.inputs.iter();
    let aliased = inputs.clone().filter(|input| input.target().is_some());
    let sum = |sizes: &mut dyn Iterator<Item = usize>| sizes.sum::<usize>() as i64;
    args.generated_code_size_in_bytes = executable.compiled.source.len() as i64;
    args.argument_size_in_bytes = sum(&mut inputs.map(|input| input.form.size()));
    args.output_size_in_bytes = sum(&mut program.outputs.iter().map(|output| output.form.size()));
    args.alias_size_in_bytes = sum(&mut aliased.map(|input| input.form.size()));
    args.temp_size_in_bytes = 0;
    args.peak_memory_in_bytes =
        args.argument_size_in_bytes + args.output_size_in_bytes - args.alias_size_in_bytes;
    Ok(())
}

pub(crate) fn optimized_program(
    call: &Call,
    args: &mut PJRT_Executable_OptimizedProgram_Args,
) -> Answer {
    let executable = call.get::<Executable>(args.executable)?;
    // SAFETY: the caller passes room for the answer or null.
    let Some(program) = (unsafe { args.program.as_mut() }) else {
        return Err(call.breach("the place for the program is null"));
    };
    let (module, format) = (&executable.compiled.module, &executable.compiled.format);
    (program.format, program.format_size) = (format.start(), format.size());
    if program.code.is_null() {
        program.code_size = module.len();
        return Ok(());
    }
    if program.code_size < module.len() {
        return Err(call.breach(format!(
            "{} bytes of room for {}",
            program.code_size,
            module.len()
        )));
    }
    program.code_size = module.len();
    // SAFETY: the caller has room for as many bytes as it says.
    unsafe {
        let code = program.code.cast::<u8>();
        code.copy_from_nonoverlapping(module.as_ptr(), module.len());
    }
    Ok(())
}

pub(crate) fn serialize(call: &Call, args: &mut PJRT_Executable_Serialize_Args) -> Answer {
    let executable = call.get::<Executable>(args.executable)?;
    let text = Text::new(executable.compiled.serialize());
    args.serialized_bytes = text.start();
    args.serialized_bytes_size = text.size();
    args.serialized_executable = call.make(Serialized { _text: text }, executable.client);
    args.serialized_executable_deleter = Some(table::SERIALIZED_DELETERS[call.state().slot]);
    Ok(())
}

/// What the deleter of a serialised executable does.
pub(crate) fn delete_serialized(slot: usize, serialized: *mut PJRT_SerializedExecutable) {
    let state = slots::state(slot);
    let destroyed = state.registry.lock().destroy::<Serialized>(serialized);
    match destroyed {
        // The bytes that were lent go with it.
        Ok(serialized) => drop(serialized),
        Err(what) => state.violation(format!("the deleter of serialised executables: {what}")),
    }
}
