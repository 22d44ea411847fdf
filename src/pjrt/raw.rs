//! The unsafe doors for frameworks: handles from and to the raw C API.

use pjrt_sys::PJRT_Api;

use super::library;
use crate::error::Result;
use crate::plugin::Plugin;

impl Plugin {
    /// A plugin from its function table, for one that is linked into the program or
    /// made by a test. It is initialised here (`PJRT_Plugin_Initialize`).
    ///
    /// # Errors
    /// The table is null or too short, its API is not 0.57 or later, or it refuses to be
    /// initialised.
    ///
    /// # Safety
    /// `table` is null or points to a table that stays valid and unchanged for the life of
    /// the process. Every slot within its `struct_size` is null or holds a function that
    /// keeps the C API's contract.
    pub unsafe fn from_table(table: *const PJRT_Api) -> Result<Plugin> {
        // SAFETY: the caller's promise is the one asked for.
        let api = unsafe { library::adopt(table) }?;
        Plugin::from_api(api, None, None, false)
    }
}
