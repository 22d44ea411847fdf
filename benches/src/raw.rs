//! The C API as one would call it by hand: no checks but for errors, nothing owned.
//!
//! What a benchmark measures against, so each function does what has to be done and
//! nothing else. Objects live as long as the process.

use pjrt_sys::{
    Args, GetPjrtApi, PJRT_Api, PJRT_Buffer, PJRT_Buffer_Destroy_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_ToHostBuffer_Args, PJRT_Buffer_Type, PJRT_Client,
    PJRT_Client_AddressableDevices_Args, PJRT_Client_BufferFromHostBuffer_Args,
    PJRT_Client_Compile_Args, PJRT_Client_Create_Args, PJRT_Device, PJRT_Error,
    PJRT_Error_Message_Args, PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Destroy_Args,
    PJRT_ExecuteOptions, PJRT_HostBufferSemantics, PJRT_LoadedExecutable,
    PJRT_LoadedExecutable_Execute_Args, PJRT_NamedValue, PJRT_NamedValue_Type, PJRT_Program,
};

/// A buffer's handle; whoever has it destroys it.
pub type Buffer = *mut PJRT_Buffer;
/// An event's handle; whoever has it destroys it.
pub type Event = *mut PJRT_Event;
/// A compiled program's handle.
pub type Executable = *mut PJRT_LoadedExecutable;

/// A client with its plugin's table.
#[derive(Clone, Copy)]
pub struct Client {
    api: &'static PJRT_Api,
    client: *mut PJRT_Client,
    devices: &'static [*mut PJRT_Device],
}

/// Calls a slot of the table and panics if it fails.
macro_rules! call {
    ($api:expr, $slot:ident, $args:expr) => {{
        let function = $api.$slot.expect(stringify!($slot));
        // SAFETY: the callers below pass live handles and lists that outlive the call.
        let error = unsafe { function(&mut $args) };
        if !error.is_null() {
            fail($api, stringify!($slot), error);
        }
    }};
}

#[cold]
fn fail(api: &PJRT_Api, slot: &str, error: *mut PJRT_Error) -> ! {
    let mut args = PJRT_Error_Message_Args::zeroed();
    args.error = error;
    // SAFETY: the error is alive, and its message is as long as it says.
    let message = unsafe {
        api.PJRT_Error_Message.expect("PJRT_Error_Message")(&mut args);
        std::slice::from_raw_parts(args.message.cast::<u8>(), args.message_size)
    };
    panic!("{slot}: {}", String::from_utf8_lossy(message));
}

impl Client {
    /// A second client of a plugin that is loaded already.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn create(plugin: &xla::Plugin, devices: usize) -> Client {
        let path = plugin.path().expect("a plugin from a file");
        // SAFETY: it is loaded already, so nothing runs. The table is of the version that the safe
        // layer has checked, and every slot used here is older than that; it is not copied.
        let api = unsafe {
            let library = libloading::Library::new(path).expect("a loaded library");
            let table = library
                .get::<GetPjrtApi>(b"GetPjrtApi\0")
                .expect("a plugin")();
            std::mem::forget(library);
            &*table
        };
        let mut option = PJRT_NamedValue::zeroed();
        let name = "cpu_device_count";
        option.name = name.as_ptr().cast();
        option.name_size = name.len();
        option.type_ = PJRT_NamedValue_Type::Int64;
        option.value.int64_value = devices as i64;
        option.value_size = 1;
        let mut args = PJRT_Client_Create_Args::zeroed();
        args.create_options = &option;
        args.num_options = 1;
        call!(api, PJRT_Client_Create, args);
        let client = args.client;
        let mut args = PJRT_Client_AddressableDevices_Args::zeroed();
        args.client = client;
        call!(api, PJRT_Client_AddressableDevices, args);
        // SAFETY: the list lives as long as the client, which is never destroyed.
        let devices = unsafe {
            std::slice::from_raw_parts(args.addressable_devices, args.num_addressable_devices)
        };
        Client {
            api,
            client,
            devices,
        }
    }

    /// Compiles StableHLO text for a number of replicas.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn compile(&self, text: &str, replicas: u8) -> Executable {
        assert!(replicas < 128, "one byte of a varint");
        // CompileOptionsProto: field 3 is a message with fields 1 (device_ordinal, -1), 4
        // (num_replicas) and 5 (num_partitions).
        let mut build = vec![0x08];
        build.extend([0xff; 9]);
        build.extend([0x01, 0x20, replicas, 0x28, 1]);
        let mut options = vec![0x1a, build.len() as u8];
        options.extend(build);

        let mut program = PJRT_Program::zeroed();
        program.code = text.as_ptr().cast_mut().cast();
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

    /// Copies floats to a device.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn from_host(&self, device: usize, values: &[f32], dims: &[i64]) -> Buffer {
        let mut args = PJRT_Client_BufferFromHostBuffer_Args::zeroed();
        args.client = self.client;
        args.data = values.as_ptr().cast();
        args.type_ = PJRT_Buffer_Type::F32;
        args.dims = dims.as_ptr();
        args.num_dims = dims.len();
        args.host_buffer_semantics = PJRT_HostBufferSemantics::ImmutableOnlyDuringCall;
        args.device = self.devices[device];
        call!(self.api, PJRT_Client_BufferFromHostBuffer, args);
        self.destroy_event(args.done_with_host_buffer);
        args.buffer
    }

    /// Copies `count` floats from a device and waits for them.
    ///
    /// # Safety
    /// The buffer is alive and has `count` floats.
    ///
    /// # Panics
    /// The plugin refuses, or the values failed to come.
    pub unsafe fn to_host(&self, buffer: Buffer, count: usize) -> Vec<f32> {
        let mut values = Vec::<f32>::with_capacity(count);
        let mut args = PJRT_Buffer_ToHostBuffer_Args::zeroed();
        args.src = buffer;
        args.dst = values.as_mut_ptr().cast();
        args.dst_size = count * size_of::<f32>();
        call!(self.api, PJRT_Buffer_ToHostBuffer, args);
        // SAFETY: the event was just handed out.
        unsafe { self.wait(args.event) };
        // SAFETY: all have been written.
        unsafe { values.set_len(count) };
        values
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

    /// Waits until a buffer has its values.
    ///
    /// # Safety
    /// The buffer is alive.
    ///
    /// # Panics
    /// They failed to come.
    pub unsafe fn wait_for(&self, buffer: Buffer) {
        let mut args = PJRT_Buffer_ReadyEvent_Args::zeroed();
        args.buffer = buffer;
        call!(self.api, PJRT_Buffer_ReadyEvent, args);
        // SAFETY: the event was just handed out.
        unsafe { self.wait(args.event) };
    }

    /// Waits for an event and destroys it.
    ///
    /// # Safety
    /// The event is alive and nobody else has it.
    ///
    /// # Panics
    /// It carries an error.
    pub unsafe fn wait(&self, event: Event) {
        let mut args = PJRT_Event_Await_Args::zeroed();
        args.event = event;
        call!(self.api, PJRT_Event_Await, args);
        self.destroy_event(event);
    }

    fn destroy_event(&self, event: Event) {
        let mut args = PJRT_Event_Destroy_Args::zeroed();
        args.event = event;
        call!(self.api, PJRT_Event_Destroy, args);
    }

    /// Destroys a buffer.
    ///
    /// # Safety
    /// The buffer is alive and nobody else has it.
    ///
    /// # Panics
    /// The plugin refuses.
    #[inline]
    pub unsafe fn destroy(&self, buffer: Buffer) {
        let mut args = PJRT_Buffer_Destroy_Args::zeroed();
        args.buffer = buffer;
        call!(self.api, PJRT_Buffer_Destroy, args);
    }
}
