//! The one call into a plugin.

use std::ffi::c_void;
use std::fmt;

use pjrt_sys::{
    entry, Args, Entry, PJRT_Api, PJRT_Error, PJRT_Error_Code, PJRT_Error_Destroy_Args,
    PJRT_Error_ForEachPayload_Args, PJRT_Error_GetCode_Args, PJRT_Error_Message_Args, VoidEntry,
};

use super::parts;
use crate::error::{Code, Error, Result};

/// A loaded plugin's function table. A word, free to copy: the table is part of
/// a library that is never unloaded.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    table: &'static Table,
}

/// What is known of a table before any slot is read.
pub(crate) struct Table {
    start: *const PJRT_Api,
    size: usize,
    major: i32,
    minor: i32,
}

// SAFETY: the table is read-only data of a library that stays loaded, and the
// PJRT header asks every entry to be callable from any thread.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// The part of the table that every supported plugin has in the same place:
/// its size, the extension list and the version.
const PROLOGUE: usize = std::mem::offset_of!(PJRT_Api, PJRT_Error_Destroy);

impl Api {
    /// Takes a table as a plugin handed it out. The table is never copied: its
    /// true length is known to the plugin alone.
    ///
    /// # Safety
    /// `start` is null or points to a `PJRT_Api` that stays valid and unchanged
    /// for the life of the process.
    pub(crate) unsafe fn from_table(start: *const PJRT_Api) -> Result<Api, TableFault> {
        if start.is_null() {
            return Err(TableFault::Null);
        }
        // SAFETY: every version of the header begins with `struct_size`.
        let size = unsafe { std::ptr::addr_of!((*start).struct_size).read() };
        if size < PROLOGUE {
            return Err(TableFault::Short { size });
        }
        // SAFETY: the version lies before `PROLOGUE`, which `size` covers.
        let version = unsafe { std::ptr::addr_of!((*start).pjrt_api_version).read() };
        let table = Table {
            start,
            size,
            major: version.major_version,
            minor: version.minor_version,
        };
        Ok(Api {
            table: Box::leak(Box::new(table)),
        })
    }

    /// The version of the C API that the plugin implements, as (major, minor).
    pub(crate) fn version(self) -> (i32, i32) {
        (self.table.major, self.table.minor)
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
    pub(crate) unsafe fn call<A: Args>(self, entry: Entry<A>, args: &mut A) -> Result<()> {
        let Some(slot) = self.slot(entry.offset) else {
            return Err(self.missing(entry.name, entry.since));
        };
        // SAFETY: a non-null slot at this entry's offset holds a function of this
        // signature (pjrt_sys ties `A` to the entry; the layout is proved there).
        let function: unsafe extern "C" fn(*mut A) -> *mut PJRT_Error =
            unsafe { std::mem::transmute(slot) };
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
        if let Some(slot) = self.slot(entry.offset) {
            // SAFETY: as in `call`, with the void signature of these entries.
            let function: unsafe extern "C" fn(*mut A) = unsafe { std::mem::transmute(slot) };
            // SAFETY: the caller answers for `args`.
            unsafe { function(args) };
        }
    }

    /// The function at an offset, where the plugin's table reaches that far and
    /// holds one.
    fn slot(self, offset: usize) -> Option<*const c_void> {
        if offset + size_of::<*const c_void>() > self.table.size {
            return None;
        }
        // SAFETY: the slot lies inside the size that the plugin states, and a slot
        // is a nullable pointer.
        let slot = unsafe {
            self.table
                .start
                .cast::<u8>()
                .add(offset)
                .cast::<*const c_void>()
                .read()
        };
        (!slot.is_null()).then_some(slot)
    }

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
    pub(crate) unsafe fn take_error(self, function: &'static str, error: *mut PJRT_Error) -> Error {
        let mut code = PJRT_Error_GetCode_Args::zeroed();
        code.error = error;
        // The code is asked through the slot alone: a failure of this call is no
        // reason for a second error.
        if let Some(slot) = self.slot(entry::PJRT_Error_GetCode.offset) {
            // SAFETY: as in `call`.
            let ask: unsafe extern "C" fn(*mut PJRT_Error_GetCode_Args) -> *mut PJRT_Error =
                unsafe { std::mem::transmute(slot) };
            // SAFETY: the error is alive until the end of this function.
            let nested = unsafe { ask(&mut code) };
            // SAFETY: a nested error is a fresh one of this plugin.
            unsafe { self.destroy_error(nested) };
        }
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
        let mut list = Vec::new();
        let Some(slot) = self.slot(entry::PJRT_Error_ForEachPayload.offset) else {
            return list;
        };
        let mut args = PJRT_Error_ForEachPayload_Args::zeroed();
        args.error = error;
        args.visitor = Some(visit);
        args.user_arg = (&raw mut list).cast();
        // SAFETY: as in `call`; `visit` runs only inside this call.
        unsafe {
            let each: unsafe extern "C" fn(*mut PJRT_Error_ForEachPayload_Args) -> *mut PJRT_Error =
                std::mem::transmute(slot);
            let nested = each(&mut args);
            self.destroy_error(nested);
        }
        list
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
