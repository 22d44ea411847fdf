//! Loading a plugin's library: once a path, initialised once, never unloaded.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use pjrt_sys::{entry, Args, GetPjrtApi, PJRT_Plugin_Attributes_Args, PJRT_Plugin_Initialize_Args};

use super::api::{Api, TableFault};
use super::{environment, named_value};
use crate::error::{Code, Error, Result};
use crate::library_file::{self, Build};
use crate::tpu;
use crate::value::Value;

/// The oldest minor version that is supported. The table was rearranged between
/// 0.54 and 0.57, so below it the slots aren't where they are expected.
const OLDEST_MINOR: i32 = 57;

/// A loaded library.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) api: Api,
    /// The canonical path of the file.
    pub(crate) path: PathBuf,
    /// What tells the file from other builds, as it was when it was loaded.
    pub(crate) build: Option<Build>,
    /// Whether it is libtpu, which has ways of its own.
    pub(crate) is_libtpu: bool,
}

/// The plugins of this process, one for each path. Loading holds the lock, so two
/// threads that ask for one path initialise it once.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// Loads the plugin at `path`, or gives the one that is loaded already.
pub(crate) fn load(path: &Path) -> Result<Loaded> {
    library_file::check(path).map_err(|fault| {
        let code = match fault {
            library_file::LibraryFileError::NoFile => Code::NotFound,
            _ => Code::InvalidArgument,
        };
        Error::new(
            code,
            format!("can't load the plugin {}: {fault}", path.display()),
        )
    })?;
    let path = path.canonicalize().map_err(|error| {
        Error::new(
            Code::NotFound,
            format!("can't load the plugin: {}: {error}", path.display()),
        )
    })?;
    let mut loaded = LOADED.lock();
    if let Some(known) = loaded.iter().find(|known| known.path == path) {
        return Ok(known.clone());
    }
    let (api, is_libtpu) = open(&path)?;
    let library = Loaded {
        build: Build::of(&path).ok(),
        api,
        path,
        is_libtpu,
    };
    loaded.push(library.clone());
    Ok(library)
}

fn open(path: &Path) -> Result<(Api, bool)> {
    let name = path.display();
    // SAFETY: loading runs the library's initialisers. That the file is a plugin
    // is the trust that naming it expresses; `library_file::check` has made sure
    // that it is a whole library for this machine.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| {
        Error::invalid(format!(
            "can't load the plugin: {name} is not a library that can be loaded here: {error}"
        ))
    })?;
    let is_libtpu = is_libtpu(&library);
    if is_libtpu {
        // Before anything of it runs but its initialisers, which don't look at them.
        environment::add(&tpu::variables());
    }
    let table = {
        // SAFETY: a library that exports this name exports the function of the C API.
        let function = unsafe { library.get::<GetPjrtApi>(b"GetPjrtApi\0") }.map_err(|_| {
            Error::new(
                Code::Unimplemented,
                format!(
                    "can't load the plugin: {name} is a library but not a PJRT plugin: it \
                     exports no `GetPjrtApi`"
                ),
            )
        })?;
        // SAFETY: it takes nothing and returns the table or null.
        unsafe { function() }
    };
    // A plugin starts threads and registers destructors; unloading it is undefined.
    std::mem::forget(library);
    // SAFETY: the library stays loaded, so its table stays where it is.
    let api = unsafe { Api::from_table(table) }.map_err(|fault| match fault {
        TableFault::Null => Error::new(
            Code::FailedPrecondition,
            format!("can't load the plugin: `GetPjrtApi` of {name} returned no table (null)"),
        ),
        TableFault::Short { size } => Error::new(
            Code::FailedPrecondition,
            format!(
                "can't load the plugin: the table of {name} is {size} bytes long, too short to \
                 hold a version"
            ),
        ),
    })?;
    check_version(api, path)?;
    initialize(api)?;
    Ok((api, is_libtpu))
}

/// Files can be renamed: it is told by what it exports besides the C API.
fn is_libtpu(library: &libloading::Library) -> bool {
    // SAFETY: the symbol is looked up, never used.
    unsafe { library.get::<*const ()>(b"GetLibtpuSdkApi\0") }.is_ok()
}

/// Takes a table that did not come from a file (a plugin linked in, a test's).
///
/// # Safety
/// As [`Api::from_table`], and every non-null slot holds a function that keeps
/// the C API's contract for it.
pub(crate) unsafe fn adopt(table: *const pjrt_sys::PJRT_Api) -> Result<Api> {
    // SAFETY: the caller's promise.
    let api = unsafe { Api::from_table(table) }.map_err(|fault| {
        Error::new(
            Code::FailedPrecondition,
            match fault {
                TableFault::Null => "can't use the plugin: its table is null".to_owned(),
                TableFault::Short { size } => format!(
                    "can't use the plugin: its table is {size} bytes long, too short to hold a \
                     version"
                ),
            },
        )
    })?;
    check_version(api, Path::new("the given table"))?;
    initialize(api)?;
    Ok(api)
}

fn check_version(api: Api, path: &Path) -> Result<()> {
    let (major, minor) = api.version();
    let fault = if major != pjrt_sys::API_MAJOR {
        format!("this crate speaks major version {}", pjrt_sys::API_MAJOR)
    } else if minor < OLDEST_MINOR {
        format!("the oldest that this crate supports is 0.{OLDEST_MINOR}; take a newer plugin")
    } else {
        return Ok(());
    };
    Err(Error::new(
        Code::FailedPrecondition,
        format!(
            "can't use the plugin: {} implements PJRT API {major}.{minor}, but {fault}",
            path.display()
        ),
    ))
}

fn initialize(api: Api) -> Result<()> {
    let mut args = PJRT_Plugin_Initialize_Args::zeroed();
    // SAFETY: no pointers; called once a library (libtpu refuses to work without).
    unsafe { api.call(entry::PJRT_Plugin_Initialize, &mut args) }
}

/// What the plugin says of itself, such as its StableHLO version.
pub(crate) fn attributes(api: Api) -> Result<Vec<(String, Value)>> {
    let mut args = PJRT_Plugin_Attributes_Args::zeroed();
    // SAFETY: no pointers in; the attributes live as long as the plugin.
    unsafe {
        api.call(entry::PJRT_Plugin_Attributes, &mut args)?;
        Ok(named_value::read(args.attributes, args.num_attributes))
    }
}
