//! The one call into a plugin.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

use pjrt_sys::{
    entry, Args, Entry, PJRT_Api, PJRT_Error, PJRT_Error_Code, PJRT_Error_Destroy_Args,
    PJRT_Error_ForEachPayload_Args, PJRT_Error_GetCode_Args, PJRT_Error_Message_Args,
    PJRT_Extension_Type, VoidEntry,
};

use super::parts;
use crate::error::{Code, Error, Result};

/// A loaded plugin's function table. A word, free to copy: the table is part of
/// a library that is never unloaded. It is never copied by value: its true length is
/// known to the plugin alone.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    table: NonNull<PJRT_Api>,
}

// SAFETY: the table is read-only data of a library that stays loaded, and the
// PJRT header asks every entry to be callable from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// The part of the table that every supported plugin has in the same place:
/// its size, the extension list and the version.
const PROLOGUE: usize = std::mem::offset_of!(PJRT_Api, PJRT_Error_Destroy);

impl Api {
    /// Takes a table as a plugin handed it out.
    ///
    /// # Safety
    /// `table` is null or points to a `PJRT_Api` that stays valid and unchanged
    /// for the life of the process.
    pub(crate) unsafe fn from_table(table: *const PJRT_Api) -> Result<Api, TableFault> {
        let table = NonNull::new(table.cast_mut()).ok_or(TableFault::Null)?;
        // SAFETY: every version of the header begins with `struct_size`.
        let size = unsafe { (&raw const (*table.as_ptr()).struct_size).read() };
        if size < PROLOGUE {
            return Err(TableFault::Short { size });
        }
        Ok(Api { table })
    }

    /// The version of the C API that the plugin implements, as (major, minor).
    pub(crate) fn version(self) -> (i32, i32) {
        // SAFETY: `from_table` has seen that the table reaches beyond the version.
        let version = unsafe { (&raw const (*self.table.as_ptr()).pjrt_api_version).read() };
        (version.major_version, version.minor_version)
    }

    /// The kinds of the extensions that hang off the table, in order.
    pub(crate) fn extensions(self) -> Vec<PJRT_Extension_Type> {
        let mut kinds = Vec::new();
        let mut seen = Vec::new();
        // SAFETY: `from_table` has seen that the table reaches beyond this field.
        let mut next = unsafe { (&raw const (*self.table.as_ptr()).extension_start).read() };
        // A list that runs in a circle has an end here.
        while !next.is_null() && !seen.contains(&next) {
            seen.push(next);
            // SAFETY: the plugin links structs that begin with this head, and they live as long
            // as the table does.
            unsafe {
                kinds.push((&raw const (*next).type_).read());
                next = (&raw const (*next).next).read();
            }
        }
        kinds
    }

    /// Whether the plugin has an entry.
    pub(super) fn has<A: Args>(self, entry: Entry<A>) -> bool {
        // SAFETY: the table is alive, and as long as it says.
        unsafe { entry.of(self.table.as_ptr()) }.is_some()
    }

    /// Calls a table entry. Sets `struct_size` by the header's rule, and turns
    /// the plugin's error into ours; the plugin's is destroyed here.
    ///
    /// A call can fail and yet have handed out a handle: the caller owns every
    /// non-null handle in `args` before it looks at the result.
    ///
    /// # Safety
    /// Every pointer in `args` is null where the entry allows it or valid for
    /// what the entry does with it, and the objects behind them are alive.
    #[inline]
    pub(crate) unsafe fn call<A: Args>(self, entry: Entry<A>, args: &mut A) -> Result<()> {
        // SAFETY: the table is alive, and as long as it says.
        let Some(function) = (unsafe { entry.of(self.table.as_ptr()) }) else {
            return Err(self.missing(entry.name, entry.since));
        };
        // SAFETY: the caller answers for `args`; its size is the header's.
        let error = unsafe { function(args) };
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: the plugin just handed this error out, and it is taken once.
        Err(unsafe { self.take_error(entry.name, error) })
    }

    /// Calls an entry that reports nothing: the two that serve errors.
    unsafe fn call_void<A: Args>(self, entry: VoidEntry<A>, args: &mut A) {
        // SAFETY: the table is alive, and as long as it says.
        if let Some(function) = unsafe { entry.of(self.table.as_ptr()) } {
            // SAFETY: the caller answers for `args`.
            unsafe { function(args) };
        }
    }

    #[cold]
    fn missing(self, name: &'static str, since: u32) -> Error {
        let (major, minor) = self.version();
        let needs = if since <= 54 {
            "every plugin should have it".to_owned()
        } else {
            format!("it is in the API since 0.{since} at the latest")
        };
        Error::from_plugin(
            name,
            Code::Unimplemented,
            format!("this plugin (PJRT API {major}.{minor}) has no {name}; {needs}"),
            Vec::new(),
        )
    }

    /// Turns the plugin's error into ours and destroys it.
    ///
    /// # Safety
    /// `error` was handed out by this plugin and nobody else will use it again.
    #[cold]
    pub(crate) unsafe fn take_error(self, function: &'static str, error: *mut PJRT_Error) -> Error {
        let mut code = PJRT_Error_GetCode_Args::zeroed();
        code.error = error;
        // SAFETY: the error is alive until the end of this function.
        unsafe { self.ask_error(entry::PJRT_Error_GetCode, &mut code) };
        let mut text = PJRT_Error_Message_Args::zeroed();
        text.error = error;
        // SAFETY: the error is alive; its message lives as long as it does and is
        // copied before it goes. It has a size, not a terminator.
        let message = unsafe {
            self.call_void(entry::PJRT_Error_Message, &mut text);
            parts::text(text.message, text.message_size)
        };
        // SAFETY: the error is alive.
        let payloads = unsafe { self.payloads(error) };
        // SAFETY: this is its last use.
        unsafe { self.destroy_error(error) };
        Error::from_plugin(function, code_of(code.code), message, payloads)
    }

    unsafe fn payloads(self, error: *mut PJRT_Error) -> Vec<(String, Vec<u8>)> {
        unsafe extern "C" fn visit(
            key: *const std::ffi::c_char,
            key_size: usize,
            value: *const std::ffi::c_char,
            value_size: usize,
            list: *mut c_void,
        ) {
            // SAFETY: `list` is the vector below, which nobody else touches during
            // the call; key and value are valid for the call.
            unsafe {
                let list = &mut *list.cast::<Vec<(String, Vec<u8>)>>();
                let value = parts::slice(value.cast::<u8>(), value_size).to_vec();
                list.push((parts::text(key, key_size), value));
            }
        }
        let mut list: Vec<(String, Vec<u8>)> = Vec::new();
        let mut args = PJRT_Error_ForEachPayload_Args::zeroed();
        args.error = error;
        args.visitor = Some(visit);
        args.user_arg = (&raw mut list).cast();
        // SAFETY: the error is alive; `visit` runs only inside this call.
        unsafe { self.ask_error(entry::PJRT_Error_ForEachPayload, &mut args) };
        list
    }

    /// Asks something of an error. That the plugin can't answer, or fails to, is no reason
    /// for a second error: the answer stays empty.
    ///
    /// # Safety
    /// As [`Api::call`].
    unsafe fn ask_error<A: Args>(self, entry: Entry<A>, args: &mut A) {
        // SAFETY: the caller's promise; a nested error is a fresh one of this plugin.
        unsafe {
            if let Some(function) = entry.of(self.table.as_ptr()) {
                self.destroy_error(function(args));
            }
        }
    }

    unsafe fn destroy_error(self, error: *mut PJRT_Error) {
        if error.is_null() {
            return;
        }
        let mut args = PJRT_Error_Destroy_Args::zeroed();
        args.error = error;
        // SAFETY: the callers pass an error that is alive and never used again.
        unsafe { self.call_void(entry::PJRT_Error_Destroy, &mut args) };
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version();
        write!(f, "Api({major}.{minor})")
    }
}

/// Why a table can't be used.
#[derive(Debug)]
pub(crate) enum TableFault {
    Null,
    Short { size: usize },
}

fn code_of(code: PJRT_Error_Code) -> Code {
    match code {
        PJRT_Error_Code::CANCELLED => Code::Cancelled,
        PJRT_Error_Code::INVALID_ARGUMENT => Code::InvalidArgument,
        PJRT_Error_Code::DEADLINE_EXCEEDED => Code::DeadlineExceeded,
        PJRT_Error_Code::NOT_FOUND => Code::NotFound,
        PJRT_Error_Code::ALREADY_EXISTS => Code::AlreadyExists,
        PJRT_Error_Code::PERMISSION_DENIED => Code::PermissionDenied,
        PJRT_Error_Code::RESOURCE_EXHAUSTED => Code::ResourceExhausted,
        PJRT_Error_Code::FAILED_PRECONDITION => Code::FailedPrecondition,
        PJRT_Error_Code::ABORTED => Code::Aborted,
        PJRT_Error_Code::OUT_OF_RANGE => Code::OutOfRange,
        PJRT_Error_Code::UNIMPLEMENTED => Code::Unimplemented,
        PJRT_Error_Code::INTERNAL => Code::Internal,
        PJRT_Error_Code::UNAVAILABLE => Code::Unavailable,
        PJRT_Error_Code::DATA_LOSS => Code::DataLoss,
        PJRT_Error_Code::UNAUTHENTICATED => Code::Unauthenticated,
        _ => Code::Unknown,
    }
}
