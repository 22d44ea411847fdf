//! The C API as one would call it by hand: no checks but for errors, nothing owned.
//!
//! What a benchmark measures against, so each function does what has to be done and
//! nothing else. What isn't destroyed lives as long as the process.

mod executable;
mod launches;
mod transfers;

pub use executable::{Executable, Parallel};
pub use launches::Launches;
pub use transfers::{Buffer, Kept};

use pjrt_sys::{
    Args, GetPjrtApi, PJRT_Api, PJRT_Client, PJRT_Client_AddressableDevices_Args,
    PJRT_Client_Create_Args, PJRT_Device, PJRT_Error, PJRT_Error_Message_Args, PJRT_Event,
    PJRT_Event_Await_Args, PJRT_Event_Destroy_Args, PJRT_NamedValue, PJRT_NamedValue_Type,
};

/// An event's handle; whoever has it destroys it.
pub type Event = *mut PJRT_Event;

/// A client with its plugin's table.
#[derive(Clone, Copy)]
pub struct Client {
    api: &'static PJRT_Api,
    client: *mut PJRT_Client,
    devices: &'static [*mut PJRT_Device],
}

// SAFETY: the C API's clients may be used from any thread.
unsafe impl Send for Client {}

/// Calls a slot of the table and panics if it fails.
macro_rules! call {
    ($api:expr, $slot:ident, $args:expr) => {{
        let function = $api.$slot.expect(stringify!($slot));
        // SAFETY: the callers below pass live handles and lists that outlive the call.
        let error = unsafe { function(&mut $args) };
        if !error.is_null() {
            $crate::raw::fail($api, stringify!($slot), error);
        }
    }};
}
use call;

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
    /// A client of a plugin that the safe layer has loaded and initialised.
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
}
