//! Loading: every way in which a file can fail to be a usable plugin is an error of
//! its own, and the process goes on.
//!
//! `plugins/fake.rs` is compiled here, once for each way of being wrong.

mod cpu;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use cpu::in_child;
use xla::{
    Buffer, ClientOptions, Code, CompileOptions, Error, Plugin, PluginOrigin, PluginSearch,
    StableHloVersion, Value,
};

/// A folder of this process's own, for the test of this name. It goes away with the
/// value.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("loading-{}-{test}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // An earlier process may have had this number, and ended without clearing up.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file with this content.
    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, content).expect("a file");
        path
    }

    /// `plugins/fake.rs`, compiled with these words of its `--cfg`.
    fn fake(&self, name: &str, ways: &[&str]) -> PathBuf {
        let library = self.join(&format!("lib{name}.so"));
        let mut rustc = rustc("fake.rs", &library);
        for way in ways {
            rustc.args(["--cfg", way]);
        }
        run(rustc);
        library
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn rustc(source: &str, library: &Path) -> Command {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let source: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "plugins", source]
        .iter()
        .collect();
    let mut command = Command::new(rustc);
    command
        .args([
            "--edition",
            "2021",
            "--crate-type",
            "cdylib",
            "-O",
            "-C",
            "strip=symbols",
        ])
        .arg(source)
        .arg("-o")
        .arg(library);
    command
}

fn run(mut command: Command) {
    let output = command.output().expect("a program to run");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
}

#[track_caller]
fn refused(path: impl AsRef<Path>) -> Error {
    match Plugin::load(path.as_ref()) {
        Err(error) => error,
        Ok(plugin) => panic!("{plugin:?} was loaded"),
    }
}

#[track_caller]
fn contains(error: &Error, parts: &[&str]) {
    for part in parts {
        assert!(error.message().contains(part), "no `{part}` in: {error}");
    }
}

/// The plugin under test as a file.
fn real_path() -> PathBuf {
    let plugin = Plugin::cpu().expect("a CPU plugin");
    plugin.path().expect("its file").to_owned()
}

fn attribute<'a>(plugin: &'a Plugin, name: &str) -> &'a Value {
    let mut named = plugin.attributes().iter().filter(|(key, _)| key == name);
    let (_, value) = named.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(named.next().is_none(), "two values for {name}");
    value
}

#[test]
fn four_ways_of_being_no_plugin_are_told_apart() {
    let folder = Folder::new("four");
    let absent = folder.join("absent.so");
    let text = folder.file("text.so", b"not a library, but a text about one\n");
    let no_entry = folder.fake("no_entry", &["no_entry"]);
    let null = folder.fake("null_table", &["null_table"]);

    let no_file = refused(&absent);
    assert_eq!(no_file.code(), Code::NotFound);
    contains(&no_file, &["absent.so", "no such file"]);

    let no_library = refused(&text);
    assert_eq!(no_library.code(), Code::InvalidArgument);
    contains(&no_library, &["text.so", "not a shared library"]);

    let no_plugin = refused(&no_entry);
    assert_eq!(no_plugin.code(), Code::Unimplemented);
    contains(
        &no_plugin,
        &["libno_entry.so", "not a PJRT plugin", "GetPjrtApi"],
    );

    let no_table = refused(&null);
    assert_eq!(no_table.code(), Code::FailedPrecondition);
    contains(&no_table, &["libnull_table.so", "GetPjrtApi", "null"]);

    for error in [no_file, no_library, no_plugin, no_table] {
        // None of them has got as far as a PJRT function.
        assert_eq!(error.function(), None, "{error}");
    }
}

#[test]
fn what_is_no_library_is_named() {
    let folder = Folder::new("no_library");
    contains(
        &refused(folder.file("empty.so", b"")),
        &["empty.so", "the file is empty"],
    );
    contains(&refused(&folder.0), &["not a file"]);
    contains(&refused(""), &["no such file"]);
    contains(
        &refused(folder.file("page.so", b"<html>404</html>")),
        &["does not begin as an ELF file does"],
    );

    // A program is laid out as a library is, but the loader wants none.
    let program = std::env::current_exe().expect("this program");
    let error = refused(&program);
    assert_eq!(error.code(), Code::InvalidArgument);
    contains(
        &error,
        &[program.file_name().expect("a name").to_str().expect("text")],
    );

    let mut object = rustc("fake.rs", &folder.join("fake.o"));
    object.args(["--emit", "obj"]);
    run(object);
    contains(
        &refused(folder.join("fake.o")),
        &["an object file that has not been linked"],
    );
}

#[test]
#[cfg(unix)]
fn paths_that_lead_nowhere_are_no_file() {
    let folder = Folder::new("nowhere");
    let link = folder.join("link.so");
    std::os::unix::fs::symlink(folder.join("gone.so"), &link).expect("a link");
    let error = refused(&link);
    assert_eq!(error.code(), Code::NotFound);
    contains(&error, &["link.so", "no such file"]);

    // Not waited for, though it has no end and no writer.
    contains(&refused("/dev/null"), &["not a file"]);
    let pipe = folder.join("pipe.so");
    let mut mkfifo = Command::new("mkfifo");
    mkfifo.arg(&pipe);
    run(mkfifo);
    contains(&refused(&pipe), &["not a file"]);

    let file = folder.file("file", b"x");
    assert!(Plugin::load(file.join("plugin.so")).is_err());
}

/// The start of the real plugin, put into files of another size: holes take no room.
#[test]
#[cfg(target_os = "linux")]
fn real_plugin_cut_anywhere_is_refused() {
    let folder = Folder::new("cut");
    let real = real_path();
    let whole = fs::metadata(&real).expect("its size").len();
    let mut start = Vec::new();
    let file = File::open(&real).expect("the plugin");
    file.take(1 << 20)
        .read_to_end(&mut start)
        .expect("its start");

    let lengths = [
        1,
        3,
        4,
        5,
        16,
        63,
        64,
        65,
        1000,
        4096,
        1 << 20,
        whole / 4,
        whole / 2,
        whole - 4096,
        whole - 1,
    ];
    let path = folder.join("cut.so");
    for length in lengths {
        let mut file = File::create(&path).expect("a file");
        let kept = start.len().min(length as usize);
        file.write_all(&start[..kept]).expect("room");
        file.set_len(length).expect("a hole");
        drop(file);
        let error = refused(&path);
        assert_eq!(error.code(), Code::InvalidArgument, "{length}: {error}");
        contains(&error, &["cut.so"]);
        if length >= 4 {
            contains(&error, &["cut short", &format!("{length} bytes")]);
        }
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn libraries_for_other_machines_are_named() {
    let folder = Folder::new("machines");
    let ours = fs::read(folder.fake("ours", &[])).expect("a library");
    let changes: [(usize, u8, &str); 4] = [
        (18, 183, "aarch64"),
        (18, 243, "riscv64"),
        (4, 1, "a 32-bit machine"),
        (5, 2, "a machine with the high byte first"),
    ];
    for (index, (at, byte, name)) in changes.into_iter().enumerate() {
        let mut library = ours.clone();
        library[at] = byte;
        let error = refused(folder.file(&format!("foreign{index}.so"), &library));
        assert_eq!(error.code(), Code::InvalidArgument);
        contains(&error, &["built for", name, "this machine is x86_64"]);
    }
}

#[test]
fn versions_that_are_not_spoken_are_refused() {
    let folder = Folder::new("versions");
    let short = refused(folder.fake("short", &["short"]));
    assert_eq!(short.code(), Code::FailedPrecondition);
    contains(&short, &["libshort.so", "39 bytes", "too short"]);

    let major = refused(folder.fake("major", &["major_1"]));
    assert_eq!(major.code(), Code::FailedPrecondition);
    contains(&major, &["libmajor.so", "1.100", "major version 0"]);

    let old = refused(folder.fake("old", &["minor_56"]));
    assert_eq!(old.code(), Code::FailedPrecondition);
    contains(&old, &["libold.so", "0.56", "0.57", "newer plugin"]);
    // It was not even initialised: the version is looked at before.
    let uncalled = refused(folder.fake("uncalled", &["minor_56", "initialize_fails"]));
    contains(&uncalled, &["0.56"]);
}

#[test]
fn old_and_future_versions_are_loaded() {
    let folder = Folder::new("minors");
    for (minor, way) in [(57, "minor_57"), (200, "minor_200")] {
        let plugin = Plugin::load(folder.fake(way, &[way])).expect("a supported version");
        assert_eq!(plugin.api_version(), (0, minor));
        assert!(
            format!("{plugin:?}").contains(&format!("0.{minor}")),
            "{plugin:?}"
        );

        // The first thing that such a table lacks is what makes a client.
        let error = plugin.client().expect_err("no client");
        assert_eq!(error.code(), Code::Unimplemented);
        assert_eq!(error.function(), Some("PJRT_Client_Create"));
        contains(
            &error,
            &[
                &format!("PJRT API 0.{minor}"),
                "has no PJRT_Client_Create",
                "every plugin should have it",
            ],
        );
    }
}

#[test]
fn table_that_ends_early_lacks_what_lies_behind() {
    let folder = Folder::new("bare");
    for (name, ways) in [
        ("bare", &["bare"][..]),
        ("no_initialize", &["initialize_absent"]),
    ] {
        let error = refused(folder.fake(name, ways));
        assert_eq!(error.code(), Code::Unimplemented);
        assert_eq!(error.function(), Some("PJRT_Plugin_Initialize"));
        contains(&error, &["0.100", "has no PJRT_Plugin_Initialize"]);
    }
}

#[test]
fn initialize_is_called_once_whatever_leads_to_the_library() {
    let folder = Folder::new("once");
    let library = folder.fake("once", &[]);
    let mut paths = vec![
        library.clone(),
        folder.join("./libonce.so"),
        folder.join("x/../libonce.so"),
    ];
    fs::create_dir(folder.join("x")).expect("a folder");
    #[cfg(unix)]
    {
        let link = folder.join("link.so");
        std::os::unix::fs::symlink(&library, &link).expect("a link");
        let second = folder.join("x/second.so");
        std::os::unix::fs::symlink(&link, &second).expect("a link");
        paths.extend([link, second]);
    }
    thread::scope(|scope| {
        for path in paths.iter().cycle().take(16) {
            scope.spawn(move || {
                let plugin = Plugin::load(path).expect("the fake");
                assert_eq!(*attribute(&plugin, "initialize_calls"), Value::Int(1));
            });
        }
    });
    // By its real path, whichever was asked for.
    let plugin = Plugin::load(&paths[paths.len() - 1]).expect("the fake");
    assert_eq!(plugin.path(), Some(&*library.canonicalize().expect("it")));
    assert_eq!(*attribute(&plugin, "initialize_calls"), Value::Int(1));
}

#[test]
fn another_library_is_initialised_of_its_own() {
    let folder = Folder::new("two");
    let first = folder.fake("first", &[]);
    let second = folder.join("libsecond.so");
    fs::copy(&first, &second).expect("a copy");
    for path in [&first, &second] {
        let plugin = Plugin::load(path).expect("the fake");
        assert_eq!(*attribute(&plugin, "initialize_calls"), Value::Int(1));
    }
}

#[test]
fn failure_to_initialise_is_the_plugins_own_error() {
    let folder = Folder::new("initialize");
    let path = folder.fake("failing", &["initialize_fails"]);
    for _ in 0..2 {
        let error = refused(&path);
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert_eq!(error.function(), Some("PJRT_Plugin_Initialize"));
        // Its length is what the plugin says; more text stands behind it there.
        assert_eq!(error.message(), "no cheese left, try the crackers");
        assert_eq!(
            error.to_string(),
            "RESOURCE_EXHAUSTED: no cheese left, try the crackers [PJRT_Plugin_Initialize]"
        );
        assert!(error.payloads().is_empty());
    }
}

#[test]
fn failed_loading_may_be_tried_again_and_leaks_no_error() {
    let folder = Folder::new("again");
    let path = folder.fake("again", &["initialize_fails_once"]);
    contains(&refused(&path), &["no cheese left"]);
    let plugin = Plugin::load(&path).expect("the second time");
    assert_eq!(*attribute(&plugin, "initialize_calls"), Value::Int(2));
    assert_eq!(*attribute(&plugin, "errors_alive"), Value::Int(0));
    let plugin = Plugin::load(&path).expect("the third time");
    assert_eq!(*attribute(&plugin, "initialize_calls"), Value::Int(2));
}

#[test]
fn errors_that_cannot_be_asked_are_errors_still() {
    let folder = Folder::new("mute");
    let error = refused(folder.fake("mute", &["initialize_fails", "errors_absent"]));
    assert_eq!(error.code(), Code::Unknown);
    assert_eq!(error.function(), Some("PJRT_Plugin_Initialize"));
}

#[test]
fn attributes_have_all_five_types() {
    let folder = Folder::new("attributes");
    for (name, ways) in [("today", &[][..]), ("wide", &["wide_values"])] {
        let plugin = Plugin::load(folder.fake(name, ways)).expect("the fake");
        let expected = [
            ("initialize_calls", Value::Int(1)),
            ("errors_alive", Value::Int(0)),
            ("text", Value::from("text, and no NUL")),
            // `of a kind to come` is left out.
            ("ints", Value::Ints(vec![1, -2, i64::MAX])),
            ("no ints", Value::Ints(vec![])),
            ("float", Value::Float(-0.5)),
            ("truth", Value::Bool(true)),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(plugin.attributes(), expected, "{name}");
        assert_eq!(plugin.stablehlo_versions(), None);
    }
}

#[test]
fn attributes_may_be_missing_but_not_fail() {
    let folder = Folder::new("no_attributes");
    let plugin = Plugin::load(folder.fake("absent", &["attributes_absent"])).expect("the fake");
    assert!(plugin.attributes().is_empty());
    assert_eq!(plugin.stablehlo_versions(), None);

    let error = refused(folder.fake("failing", &["attributes_fail"]));
    assert_eq!(error.code(), Code::DataLoss);
    assert_eq!(error.function(), Some("PJRT_Plugin_Attributes"));
    assert_eq!(error.message(), "no cheese left, try the crackers");
}

#[test]
fn real_plugins_state_their_versions() {
    let plugin = Plugin::cpu().expect("a CPU plugin");
    let (major, minor) = plugin.api_version();
    assert_eq!(major, 0);
    let version = |major, minor, patch| StableHloVersion {
        major,
        minor,
        patch,
    };
    let current = match minor {
        81 => version(1, 13, 3),
        106 => version(1, 16, 1),
        115 => version(1, 20, 0),
        other => panic!("no plugin of API 0.{other} is pinned: say here what it reads"),
    };
    assert_eq!(
        plugin.stablehlo_versions(),
        Some((version(0, 9, 0), current))
    );
    assert_eq!(*attribute(&plugin, "xla_version"), Value::Int(2));
    assert_eq!(plugin.attributes().len(), 3, "{:?}", plugin.attributes());
    assert_eq!(current.to_string().split('.').count(), 3);
}

/// The kinds are those that a look at the plugins' memory from outside finds.
#[test]
fn extensions_are_listed_and_unknown_ones_are_numbers() {
    let plugin = Plugin::cpu().expect("a CPU plugin");
    let names: Vec<String> = plugin
        .extensions()
        .iter()
        .map(|it| it.to_string())
        .collect();
    let all = [
        "XlaTransform",
        "Shardings",
        "PhaseCompile",
        "FFI",
        "MemoryDescriptions",
        "Layouts",
    ];
    let wanted = match plugin.api_version().1 {
        81 => &all[2..],
        106 => &all[1..],
        _ => &all[..],
    };
    assert_eq!(names, wanted);

    let folder = Folder::new("extensions");
    let load = |way: &[&str], name| {
        let plugin = Plugin::load(folder.fake(name, way)).expect("a plugin");
        plugin.extensions()
    };
    assert_eq!(load(&[], "none"), []);
    let told = load(&["extended"], "extended");
    let numbers: Vec<u32> = told.iter().map(|it| it.number()).collect();
    assert_eq!(numbers, [4, 7777, 0]);
    let names: Vec<_> = told.iter().map(|it| it.name()).collect();
    assert_eq!(names, [Some("Layouts"), None, Some("Gpu_Custom_Call")]);
    assert_eq!(told[1].to_string(), "7777");
    // A list that runs in a circle is a fault of the plugin's, not a way to hang.
    assert_eq!(load(&["extended", "circular"], "circular"), told);
}

#[test]
fn real_plugin_is_one_by_every_path() {
    let first = Plugin::cpu().expect("a CPU plugin");
    let again = Plugin::load(real_path()).expect("the same");
    assert_eq!(first.path(), again.path());
    assert_eq!(first.api_version(), again.api_version());
}

/// Every function that the crate calls, missing from an otherwise real plugin: what
/// needs it says so, and nothing else suffers.
#[test]
fn any_function_may_be_missing() {
    let real = real_path();
    in_child("any_function_may_be_missing", || {
        let folder = Folder::new("masked");
        let masked = Masked::compile(&folder, &real);
        for (name, offset, effect) in functions() {
            eprintln!("{name}");
            let path = masked.copy(&folder, name, offset, false);
            match (effect, everything(&path)) {
                (Effect::None, Ok(())) => {}
                (Effect::Refused, Err(error)) => {
                    assert_eq!(error.code(), Code::Unimplemented, "{name}: {error}");
                    assert_eq!(error.function(), Some(name), "{error}");
                    contains(&error, &["PJRT API 0.", &format!("has no {name};")]);
                }
                (_, outcome) => panic!("without {name}: {outcome:?}"),
            }
        }
    })
    .check_well();
}

/// A table that is shorter than ours lacks all that lies behind its end.
#[test]
fn tables_may_be_shorter() {
    let real = real_path();
    in_child("tables_may_be_shorter", || {
        let folder = Folder::new("shorter");
        let masked = Masked::compile(&folder, &real);
        for (name, offset, effect) in functions() {
            if effect == Effect::None {
                continue;
            }
            let path = masked.copy(&folder, name, offset, true);
            let error = everything(&path).expect_err(name);
            assert_eq!(error.code(), Code::Unimplemented, "{name}: {error}");
            // It, or one behind it that is needed earlier.
            let missing = error.function().expect("a function");
            let missing = functions().find(|(other, ..)| *other == missing);
            assert!(missing.is_some_and(|(_, at, _)| at >= offset), "{error}");
        }
    })
    .check_well();
}

/// What becomes of a program that meets no such function.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// Nothing: it does without.
    None,
    /// An error that names it.
    Refused,
}

/// The functions that [`everything`] needs or would use, each with its place in the
/// table. Those that destroy are left out: without them nothing could be given back.
fn functions() -> impl Iterator<Item = (&'static str, usize, Effect)> {
    macro_rules! functions {
        ($($effect:ident: $($name:ident)*;)*) => {
            [$($((stringify!($name), pjrt_sys::entry::$name.offset, Effect::$effect),)*)*]
        };
    }
    functions! {
        None:
            PJRT_Plugin_Attributes
            PJRT_Client_AddressableMemories
            PJRT_DeviceDescription_Attributes
            PJRT_Device_LocalHardwareId
            PJRT_Device_AddressableMemories
            PJRT_Device_DefaultMemory
            PJRT_Buffer_IsOnCpu
            PJRT_Buffer_UnsafePointer
            PJRT_Error_ForEachPayload;
        Refused:
            PJRT_Plugin_Initialize
            PJRT_Event_IsReady
            PJRT_Event_Await
            PJRT_Client_Create
            PJRT_Client_PlatformName
            PJRT_Client_ProcessIndex
            PJRT_Client_PlatformVersion
            PJRT_Client_Devices
            PJRT_Client_AddressableDevices
            PJRT_Client_Compile
            PJRT_Client_DefaultDeviceAssignment
            PJRT_Client_BufferFromHostBuffer
            PJRT_DeviceDescription_Id
            PJRT_DeviceDescription_ProcessIndex
            PJRT_DeviceDescription_Kind
            PJRT_DeviceDescription_DebugString
            PJRT_Device_GetDescription
            PJRT_Device_IsAddressable
            PJRT_Memory_Id
            PJRT_Memory_Kind
            PJRT_Memory_DebugString
            PJRT_Memory_AddressableByDevices
            PJRT_Executable_NumReplicas
            PJRT_Executable_NumPartitions
            PJRT_Executable_NumOutputs
            PJRT_Executable_OptimizedProgram
            PJRT_Executable_Serialize
            PJRT_Executable_GetCompiledMemoryStats
            PJRT_Executable_DeserializeAndLoad
            PJRT_LoadedExecutable_GetExecutable
            PJRT_LoadedExecutable_AddressableDevices
            PJRT_LoadedExecutable_Execute
            PJRT_Buffer_GetMemoryLayout
            PJRT_Buffer_OnDeviceSizeInBytes
            PJRT_Buffer_Memory
            PJRT_Buffer_CopyToDevice
            PJRT_Buffer_CopyToMemory
            PJRT_Buffer_ToHostBuffer
            PJRT_Buffer_ReadyEvent;
    }
    .into_iter()
}

/// A bit of all that the crate can do.
fn everything(path: &Path) -> Result<(), Error> {
    let plugin = Plugin::load(path)?;
    let client = plugin.client_with(&ClientOptions::new().cpu_device_count(2))?;
    let [device, other] = [client.device(0)?, client.device(1)?];
    let x = Buffer::from_host(&device, &[1f32, 2., 3., 4.], &[4])?;
    let sum = client.compile(&cpu::program("add"), &CompileOptions::new())?;
    let y = sum.run((&x, &x))?.into_single()?;
    y.wait()?;
    y.is_ready()?;
    assert_eq!(y.to_host::<f32>()?, [2., 4., 6., 8.]);
    assert_eq!(y.on_device_size()?, 16);
    // Of so many the plugin makes the copy.
    let many = Buffer::from_host(&device, &vec![1f32; 1 << 15], &[1 << 15])?;
    assert_eq!(many.to_host_async::<f32>()?.wait()?, vec![1f32; 1 << 15]);
    let matrix = Buffer::from_host(&device, &[1i32, 2, 3, 4], &[2, 2])?;
    assert!(matrix.layout().is_row_major());
    let there = y.copy_to_device(&other)?;
    assert_eq!(there.to_host::<f32>()?, [2., 4., 6., 8.]);
    if let Some(memory) = device.memories().last() {
        assert_eq!(
            y.copy_to_memory(memory)?.to_host::<f32>()?,
            [2., 4., 6., 8.]
        );
    }
    sum.memory_stats()?;
    let again = client.deserialize(&sum.serialize()?)?;
    assert_eq!(
        again.run((x, &y))?.into_single()?.to_host::<f32>()?,
        [3., 6., 9., 12.]
    );
    xla::DeviceAssignment::default_for(&client, 2, 1)?;
    Ok(())
}

/// `plugins/masked.rs`, compiled.
struct Masked(Vec<u8>);

impl Masked {
    const MASK: &'static [u8] = b"masked plugin: offset=000000, cut=n.";

    fn compile(folder: &Folder, real: &Path) -> Masked {
        let library = folder.join("libmasked.so");
        let mut rustc = rustc("masked.rs", &library);
        rustc.env("REAL_PLUGIN", real);
        run(rustc);
        Masked(fs::read(library).expect("a library"))
    }

    /// A copy that lacks what lies at `offset`, or has its end there.
    fn copy(&self, folder: &Folder, name: &str, offset: usize, cut: bool) -> PathBuf {
        let mut windows = self.0.windows(Self::MASK.len());
        let at = windows.position(|window| window == Self::MASK);
        let at = at.expect("its mask");
        let cut = if cut { 'y' } else { 'n' };
        let mask = format!("masked plugin: offset={offset:06}, cut={cut}.");
        let mut copy = self.0.clone();
        copy[at..at + mask.len()].copy_from_slice(mask.as_bytes());
        folder.file(&format!("lib{name}.so"), &copy)
    }
}

/// Makes this process one that knows of no plugin but the build's.
fn forget_surroundings(home: &Path) {
    let names: Vec<OsString> = std::env::vars_os().map(|(name, _)| name).collect();
    for name in names {
        std::env::remove_var(name);
    }
    std::env::set_var("HOME", home);
    std::env::set_var("PATH", home);
}

#[test]
fn variable_that_names_nothing_is_an_error_at_once() {
    in_child("variable_that_names_nothing_is_an_error_at_once", || {
        let folder = Folder::new("bad_variable");
        forget_surroundings(&folder.0);
        // The build's plugin is there, but it isn't what was asked for.
        for variable in ["XLA_PJRT_CPU_PLUGIN", "PJRT_NAMES_AND_LIBRARY_PATHS"] {
            let nowhere = folder.join("nowhere.so");
            let nowhere = nowhere.to_str().expect("text");
            let value = if variable.starts_with("PJRT") {
                format!("cpu:{nowhere}")
            } else {
                nowhere.to_owned()
            };
            std::env::set_var(variable, value);
            let error = Plugin::cpu().expect_err("no plugin");
            assert_eq!(error.code(), Code::NotFound);
            contains(&error, &[variable, nowhere, "is not a file"]);
            std::env::remove_var(variable);
        }
        // What isn't set to anything is not set.
        std::env::set_var("XLA_PJRT_CPU_PLUGIN", "");
        Plugin::cpu().expect("the build's plugin");
        // A folder is no plugin either, and a broken one is named with what led to it.
        std::env::set_var("XLA_PJRT_CPU_PLUGIN", &folder.0);
        assert!(Plugin::cpu().is_err());
        std::env::set_var("XLA_PJRT_CPU_PLUGIN", folder.file("broken.so", b""));
        let error = Plugin::cpu().expect_err("no library");
        assert_eq!(error.code(), Code::InvalidArgument);
        contains(&error, &["plugin from XLA_PJRT_CPU_PLUGIN", "broken.so"]);
    })
    .check_well();
}

#[test]
fn variables_lead_to_plugins() {
    let folder = Folder::new("variables");
    // Compiled before the child forgets where the compiler is.
    let (own, listed) = (folder.fake("own", &[]), folder.fake("listed", &[]));
    in_child("variables_lead_to_plugins", move || {
        forget_surroundings(&folder.0);
        let build = Plugin::cpu().expect("the build's plugin");
        assert_ne!(build.api_version(), (0, 100));
        let name = |plugin: Result<Plugin, Error>| {
            let plugin = plugin.expect("a plugin");
            let path = plugin.path().expect("a file");
            path.file_name().expect("a name").to_owned()
        };
        let listed = listed.to_str().expect("text");
        let all = "PJRT_NAMES_AND_LIBRARY_PATHS";
        std::env::set_var(all, format!("other:/nowhere, cpu:{listed},tpu:{listed}"));
        assert_eq!(name(Plugin::cpu()), "liblisted.so");
        assert_eq!(name(Plugin::tpu()), "liblisted.so");
        // Each one's own variable comes before the list, and JAX's for TPUs too.
        std::env::set_var("TPU_LIBRARY_PATH", &own);
        std::env::set_var("XLA_PJRT_CPU_PLUGIN", &own);
        assert_eq!(name(Plugin::cpu()), "libown.so");
        assert_eq!(name(Plugin::tpu()), "libown.so");
        let origin = |plugin: Plugin| plugin.origin().cloned();
        let by = |variable| Some(PluginOrigin::Variable(variable));
        assert_eq!(
            origin(Plugin::cpu().expect("own")),
            by("XLA_PJRT_CPU_PLUGIN")
        );
        assert_eq!(origin(Plugin::tpu().expect("own")), by("TPU_LIBRARY_PATH"));
        assert_eq!(origin(Plugin::load(&own).expect("own")), None);
        std::env::remove_var("XLA_PJRT_CPU_PLUGIN");
        // A list without an entry for it is no wish.
        std::env::set_var(all, format!("tpu:{listed}"));
        assert_eq!(
            name(Plugin::cpu()),
            build.path().unwrap().file_name().unwrap()
        );
        for (variable, load) in [
            ("XLA_PJRT_CUDA_PLUGIN", Plugin::cuda as fn() -> _),
            ("XLA_PJRT_ROCM_PLUGIN", Plugin::rocm),
            ("XLA_PJRT_TPU_PLUGIN", Plugin::tpu),
        ] {
            std::env::set_var(variable, &own);
            assert_eq!(name(load()), "libown.so", "{variable}");
        }
    })
    .check_well();
}

#[test]
fn packages_of_the_environment_are_searched() {
    let folder = Folder::new("environment");
    let fake = fs::read(folder.fake("fake", &[])).expect("a library");
    in_child("packages_of_the_environment_are_searched", move || {
        forget_surroundings(&folder.0);
        // Of the kind that no feature fetches.
        let library = "jax_plugins/xla_rocm7/xla_rocm_plugin.so";
        folder.file(&format!("lib/python3.11/site-packages/{library}"), &fake);
        std::env::set_var("VIRTUAL_ENV", &folder.0);
        let plugin = Plugin::rocm().expect("the package's plugin");
        assert_eq!(plugin.api_version(), (0, 100));
        assert!(plugin.path().expect("a file").ends_with(library));
        let site = folder.join("lib/python3.11/site-packages");
        let origin = PluginOrigin::Environment {
            variable: "VIRTUAL_ENV",
            folder: site.clone(),
        };
        assert_eq!(plugin.origin(), Some(&origin));
        let search = PluginSearch::rocm();
        assert_eq!(
            search.found(),
            Some((site.join(library).as_path(), &origin))
        );
        // What came before is told, in order.
        let places: Vec<&str> = search.places().iter().map(|it| it.place.as_str()).collect();
        assert_eq!(
            places,
            ["XLA_PJRT_ROCM_PLUGIN", "PJRT_NAMES_AND_LIBRARY_PATHS"]
        );
        std::env::remove_var("VIRTUAL_ENV");
        let search = PluginSearch::rocm();
        assert!(search.found().is_none());
        assert_eq!(
            search.load().expect_err("none").message(),
            search.to_string()
        );
        assert_eq!(search.command(), "python3 -m pip install jax-rocm7-pjrt");
        assert!(search.remedy().ends_with(search.command()));
    })
    .check_well();
}

#[test]
fn where_nothing_is_found_every_place_is_listed_with_the_way_out() {
    let test = "where_nothing_is_found_every_place_is_listed_with_the_way_out";
    in_child(test, || {
        let folder = Folder::new("not_found");
        forget_surroundings(&folder.0);
        for (load, variable, remedy, fetched) in [
            (
                Plugin::cuda as fn() -> _,
                "XLA_PJRT_CUDA_PLUGIN",
                "pip install \"jax-cuda13-plugin[with-cuda]\"",
                cfg!(feature = "fetch-cuda"),
            ),
            (
                Plugin::tpu,
                "XLA_PJRT_TPU_PLUGIN",
                "pip install libtpu",
                cfg!(feature = "fetch-tpu"),
            ),
            (
                Plugin::rocm,
                "XLA_PJRT_ROCM_PLUGIN",
                "pip install jax-rocm7-pjrt",
                false,
            ),
        ] {
            if fetched {
                load().expect("the build has fetched it");
                continue;
            }
            let error = load().expect_err("no such plugin here");
            assert_eq!(error.code(), Code::NotFound);
            contains(
                &error,
                &[
                    "tried, in this order",
                    &format!("{variable}: not set"),
                    "PJRT_NAMES_AND_LIBRARY_PATHS: not set",
                    "VIRTUAL_ENV: not set",
                    "CONDA_PREFIX: not set",
                    "neither python3 nor python is on the path",
                    remedy,
                ],
            );
            // Each place once.
            let places: Vec<&str> = error
                .message()
                .lines()
                .filter(|line| line.starts_with("  - "))
                .collect();
            let distinct: HashSet<&&str> = places.iter().collect();
            assert_eq!(distinct.len(), places.len(), "{error}");
        }
    })
    .check_well();
}
