//! The C API without a layer over it.

use std::ptr;

use pjrt_fake::Fake;
use pjrt_sys::*;

/// A fake, seen as C sees it.
pub struct Raw {
    pub fake: Fake,
    table: *const PJRT_Api,
    client: *mut PJRT_Client,
}

/// Memory that is aligned enough to be used in place.
#[repr(align(64))]
pub struct Lines(pub [f32; 16]);

impl Raw {
    pub fn new() -> Raw {
        let fake = Fake::new();
        let table = fake.table();
        let mut raw = Raw {
            fake,
            table,
            client: ptr::null_mut(),
        };
        let mut args = PJRT_Client_Create_Args::zeroed();
        raw.call(entry::PJRT_Client_Create, &mut args);
        raw.client = args.client;
        raw
    }

    pub fn call_for_error<A: Args>(&self, entry: Entry<A>, args: &mut A) -> Option<String> {
        // SAFETY: a fake's table; its functions follow no handle.
        let error = unsafe { entry.of(self.table).expect("it's there")(args) };
        if error.is_null() {
            return None;
        }
        let mut text = PJRT_Error_Message_Args::zeroed();
        text.error = error;
        let mut destroy = PJRT_Error_Destroy_Args::zeroed();
        destroy.error = error;
        // SAFETY: the error is alive, and so is its text until it's destroyed.
        unsafe {
            entry::PJRT_Error_Message
                .of(self.table)
                .expect("it's there")(&mut text);
            let bytes = std::slice::from_raw_parts(text.message.cast(), text.message_size);
            let message = String::from_utf8_lossy(bytes).into_owned();
            entry::PJRT_Error_Destroy
                .of(self.table)
                .expect("it's there")(&mut destroy);
            Some(message)
        }
    }

    #[track_caller]
    pub fn call<A: Args>(&self, entry: Entry<A>, args: &mut A) {
        if let Some(error) = self.call_for_error(entry, args) {
            panic!("{}: {error}", entry.name);
        }
    }

    pub fn device(&self) -> *mut PJRT_Device {
        let mut args = PJRT_Client_Devices_Args::zeroed();
        args.client = self.client;
        self.call(entry::PJRT_Client_Devices, &mut args);
        // SAFETY: the list has a device at least.
        unsafe { args.devices.read() }
    }

    /// A buffer of 16 floats, and the event for the end of the host memory's use.
    pub fn upload(
        &self,
        data: *mut f32,
        semantics: PJRT_HostBufferSemantics,
    ) -> (*mut PJRT_Buffer, *mut PJRT_Event) {
        let mut args = PJRT_Client_BufferFromHostBuffer_Args::zeroed();
        args.client = self.client;
        args.data = data.cast();
        args.type_ = PJRT_Buffer_Type::F32;
        (args.dims, args.num_dims) = ([16i64].as_ptr(), 1);
        args.host_buffer_semantics = semantics;
        args.device = self.device();
        self.call(entry::PJRT_Client_BufferFromHostBuffer, &mut args);
        (args.buffer, args.done_with_host_buffer)
    }

    pub fn compile(&self, text: &str) -> *mut PJRT_LoadedExecutable {
        let mut program = PJRT_Program::zeroed();
        program.code = text.as_ptr().cast_mut().cast();
        program.code_size = text.len();
        (program.format, program.format_size) = (c"mlir".as_ptr(), 4);
        // Build options: one replica, one partition.
        let options = [0x1a, 4, 0x20, 1, 0x28, 1u8];
        let mut args = PJRT_Client_Compile_Args::zeroed();
        args.client = self.client;
        args.program = &program;
        args.compile_options = options.as_ptr().cast();
        args.compile_options_size = options.len();
        self.call(entry::PJRT_Client_Compile, &mut args);
        args.executable
    }

    pub fn execute(
        &self,
        executable: *mut PJRT_LoadedExecutable,
        arguments: &[*mut PJRT_Buffer],
        lent: &[i64],
    ) -> Result<*mut PJRT_Buffer, String> {
        let mut options = PJRT_ExecuteOptions::zeroed();
        options.non_donatable_input_indices = lent.as_ptr();
        options.num_non_donatable_input_indices = lent.len();
        let (mut output, list) = (ptr::null_mut(), arguments.as_ptr());
        let outputs: *mut *mut PJRT_Buffer = &mut output;
        let mut args = PJRT_LoadedExecutable_Execute_Args::zeroed();
        args.executable = executable;
        args.options = &mut options;
        args.argument_lists = &list;
        (args.num_devices, args.num_args) = (1, arguments.len());
        args.output_lists = &outputs;
        match self.call_for_error(entry::PJRT_LoadedExecutable_Execute, &mut args) {
            None => Ok(output),
            Some(error) => Err(error),
        }
    }

    pub fn values(&self, buffer: *mut PJRT_Buffer) -> Result<[f32; 16], String> {
        let mut values = [0f32; 16];
        let mut args = PJRT_Buffer_ToHostBuffer_Args::zeroed();
        args.src = buffer;
        args.dst = values.as_mut_ptr().cast();
        args.dst_size = 64;
        self.call(entry::PJRT_Buffer_ToHostBuffer, &mut args);
        let mut outcome = PJRT_Event_Error_Args::zeroed();
        outcome.event = args.event;
        let error = self.call_for_error(entry::PJRT_Event_Error, &mut outcome);
        self.destroy_event(args.event);
        error.map_or(Ok(values), Err)
    }

    pub fn is_ready(&self, event: *mut PJRT_Event) -> bool {
        let mut args = PJRT_Event_IsReady_Args::zeroed();
        args.event = event;
        self.call(entry::PJRT_Event_IsReady, &mut args);
        args.is_ready
    }

    pub fn is_deleted(&self, buffer: *mut PJRT_Buffer) -> bool {
        let mut args = PJRT_Buffer_IsDeleted_Args::zeroed();
        args.buffer = buffer;
        self.call(entry::PJRT_Buffer_IsDeleted, &mut args);
        args.is_deleted
    }

    pub fn destroy_event(&self, event: *mut PJRT_Event) {
        let mut args = PJRT_Event_Destroy_Args::zeroed();
        args.event = event;
        self.call(entry::PJRT_Event_Destroy, &mut args);
    }

    pub fn destroy_buffer(&self, buffer: *mut PJRT_Buffer) -> Option<String> {
        let mut args = PJRT_Buffer_Destroy_Args::zeroed();
        args.buffer = buffer;
        self.call_for_error(entry::PJRT_Buffer_Destroy, &mut args)
    }

    pub fn destroy_executable(&self, executable: *mut PJRT_LoadedExecutable) {
        let mut args = PJRT_LoadedExecutable_Destroy_Args::zeroed();
        args.executable = executable;
        self.call(entry::PJRT_LoadedExecutable_Destroy, &mut args);
    }

    pub fn destroy_client(&self) {
        let mut args = PJRT_Client_Destroy_Args::zeroed();
        args.client = self.client;
        self.call(entry::PJRT_Client_Destroy, &mut args);
    }
}
