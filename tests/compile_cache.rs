//! Compiled programs kept in a folder, on a real CPU plugin: what is found and what isn't,
//! what is damaged, full, foreign or gone, and many processes at once.

mod cpu;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use cpu::{device, program, values, vector};
use xla::{
    Buffer, Client, ClientOptions, Code, CompileCache, CompileOptions, Executable, Plugin, Program,
};

/// A folder of a test's own, which is gone behind it.
struct Folder(PathBuf);

impl Folder {
    /// A path at which nothing is yet.
    fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("compile-cache-{}-{count}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // An earlier process may have had this number, and ended without clearing up.
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn cache(&self) -> CompileCache {
        CompileCache::at(self.0.join("cache"))
    }

    fn files(&self) -> Vec<String> {
        let list = fs::read_dir(self.0.join("cache")).expect("a folder");
        let name = |it: std::io::Result<fs::DirEntry>| it.expect("a file").file_name();
        let mut names: Vec<String> = list.map(|it| name(it).to_string_lossy().into()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn client_of(devices: usize, cache: &CompileCache) -> Client {
    let options = ClientOptions::new().cpu_device_count(devices);
    let plugin = Plugin::cpu().expect("a CPU plugin");
    plugin
        .client_with(&options.compile_cache(cache))
        .expect("a client")
}

/// `x + n`, with the memory of `x`.
fn plus(n: usize) -> Program {
    let text = format!(
        "module @plus_{n} {{ func.func @main(%x: tensor<4xf32> {{tf.aliasing_output = 0 : i32}}) -> tensor<4xf32> {{
           %n = stablehlo.constant dense<{n}.0> : tensor<4xf32>
           %y = stablehlo.add %x, %n : tensor<4xf32>
           return %y : tensor<4xf32> }} }}"
    );
    Program::from_text(text).expect("text")
}

fn compile(client: &Client, program: &Program) -> Executable {
    client
        .compile(program, &CompileOptions::new())
        .expect("compiles")
}

/// Checks that `plus(n)` adds `n`, with the memory that it is given.
#[track_caller]
fn adds(executable: &Executable, n: usize) {
    let x = vector(&executable.devices()[0], &[1., 2., 3., 4.]);
    assert_eq!(executable.signature().donated_bytes(), 16);
    // As it is loaded, not as its header says.
    let stats = executable.memory_stats().expect("sizes");
    assert_eq!(stats.alias_bytes, 16, "it isn't donated");
    let y = executable.run(x).expect("runs").into_single().expect("one");
    assert_eq!(values(&y), [1., 2., 3., 4.].map(|x| x + n as f32));
}

/// Checks hits, misses, stored, evicted and errors.
#[track_caller]
fn counted(cache: &CompileCache, wanted: [u64; 5]) {
    let stats = cache.stats();
    let got = [
        stats.hits,
        stats.misses,
        stats.stored,
        stats.evicted,
        stats.errors,
    ];
    assert_eq!(
        got,
        wanted,
        "hits, misses, stored, evicted, errors; {:?}",
        cache.last_error()
    );
}

#[track_caller]
fn told(cache: &CompileCache, code: Code, words: &[&str]) {
    let error = cache.last_error().expect("an error");
    assert_eq!(error.code(), code, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

// What is found.

#[test]
fn a_second_client_loads_what_the_first_compiled() {
    let folder = Folder::new();
    let cache = folder.cache();
    let first = client_of(1, &cache);
    assert!(!cache.dir().exists(), "made before it is needed");
    let compiled = compile(&first, &plus(1));
    counted(&cache, [0, 1, 1, 0, 0]);
    adds(&compiled, 1);
    let second = client_of(1, &cache);
    let loaded = compile(&second, &plus(1));
    counted(&cache, [1, 1, 1, 0, 0]);
    adds(&loaded, 1);
    assert_eq!(
        loaded.signature().to_string(),
        compiled.signature().to_string()
    );
    // Another handle of the folder has counts of its own.
    let other = folder.cache();
    adds(&compile(&client_of(1, &other), &plus(1)), 1);
    counted(&other, [1, 0, 0, 0, 0]);
    counted(&cache, [1, 1, 1, 0, 0]);
    assert_eq!(folder.files().len(), 1);
    assert!(cache.last_error().is_none());
}

#[test]
fn without_one_nothing_is_kept() {
    let folder = Folder::new();
    if let Some((_, dir)) = role() {
        let client = cpu::client(1);
        assert!(client.compile_cache().is_none());
        let cached = client_of(1, &CompileCache::at(&dir));
        assert_eq!(cached.compile_cache().expect("a cache").dir(), dir);
        played()
    }
    // Whatever whoever runs the tests has set.
    let mut bare = child("without_one_nothing_is_kept", "bare", folder.cache().dir());
    let bare = bare.env_remove("XLA_PJRT_COMPILE_CACHE").spawn();
    check_well(bare.expect("a child"));
}

#[test]
fn programs_options_and_devices_are_told_apart() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(2, &cache);
    let fast = |fast: bool| CompileOptions::new().option("xla_cpu_enable_fast_math", fast);
    let on = |index| CompileOptions::new().device(&device(&client, index));
    let many = |client: &Client| {
        let options = CompileOptions::new().replicas(2);
        client.compile(&plus(1), &options).expect("compiles")
    };
    compile(&client, &plus(1));
    compile(&client, &plus(2));
    client.compile(&plus(1), &fast(true)).expect("compiles");
    client.compile(&plus(1), &fast(false)).expect("compiles");
    let last = client.compile(&plus(1), &on(1)).expect("compiles");
    adds(&last, 1);
    many(&client);
    // With three devices the plugin may choose otherwise.
    let three = client_of(3, &cache);
    compile(&three, &plus(1));
    counted(&cache, [0, 7, 7, 0, 0]);

    let again = client_of(2, &cache);
    adds(&compile(&again, &plus(1)), 1);
    adds(&compile(&again, &plus(2)), 2);
    let on_last = CompileOptions::new().device(&device(&again, 1));
    let last = again.compile(&plus(1), &on_last).expect("loads");
    assert_eq!(last.devices(), [device(&again, 1)]);
    adds(&last, 1);
    let both = many(&again);
    assert_eq!(both.devices(), again.devices());
    assert_eq!(both.signature().replicas(), 2);
    counted(&cache, [4, 7, 7, 0, 0]);
}

#[test]
fn equal_options_are_equal_in_any_order() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    let names = [
        "xla_cpu_enable_fast_math",
        "xla_cpu_fast_math_honor_nans",
        "xla_cpu_fast_math_honor_infs",
        "xla_cpu_fast_math_honor_division",
        "xla_cpu_fast_math_honor_functions",
    ];
    for turn in 0..20 {
        let mut options = CompileOptions::new();
        for index in 0..names.len() {
            options = options.option(names[(index + turn) % names.len()], true);
        }
        client.compile(&plus(1), &options).expect("compiles");
    }
    counted(&cache, [19, 1, 1, 0, 0]);
}

#[test]
fn strict_donation_holds_for_what_is_found() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    let text = "func.func @main(%x: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<f32> {
        %y = stablehlo.constant dense<1.0> : tensor<f32>
        return %y : tensor<f32> }";
    let useless = Program::from_text(text).expect("text");
    compile(&client, &useless);
    let strict = CompileOptions::new().strict_donation(true);
    for _ in 0..2 {
        let error = client
            .compile(&useless, &strict)
            .expect_err("a donor of no use");
        assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
        assert!(error.message().contains("donation"), "{error}");
    }
    client.compile(&plus(1), &strict).expect("a donor of use");
    client.compile(&plus(1), &strict).expect("a donor of use");
    counted(&cache, [3, 2, 2, 0, 0]);
}

#[test]
fn what_fails_to_compile_fails_as_without() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    let wrong = Program::from_text("func.func @main() { nonsense }").expect("text");
    let options = CompileOptions::new();
    let error = client.compile(&wrong, &options).expect_err("no program");
    let without = cpu::client(1)
        .compile(&wrong, &options)
        .expect_err("no program");
    assert_eq!(
        (error.code(), error.function()),
        (without.code(), without.function())
    );
    counted(&cache, [0, 1, 0, 0, 0]);
}

/// The collectives of a loaded program are paced as those of a compiled one.
#[test]
fn a_program_on_many_devices_runs_as_compiled() {
    let folder = Folder::new();
    let cache = folder.cache();
    let lesson = cpu::lesson("two_devices");
    for turn in 0..2 {
        let client = client_of(4, &cache);
        let sum = compile(&client, &program("two_devices"));
        counted(&cache, [turn, 1, 1, 0, 0]);
        for _ in 0..20 {
            let devices = sum.devices().iter().enumerate();
            let rows: Vec<Buffer> = devices
                .map(|(i, at)| lesson.arguments[0].buffer(i, at))
                .collect();
            let outputs = sum.run_per_device(rows).expect("a run");
            for (position, output) in outputs.iter().enumerate() {
                assert_eq!(values(&output[0]), lesson.results[0].f32(position));
            }
        }
    }
}

#[test]
fn threads_share_a_client_with_a_cache() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for n in 1..=4 {
                    adds(&compile(&client, &plus(n)), n);
                }
            });
        }
    });
    let stats = cache.stats();
    assert_eq!(
        (stats.hits + stats.misses, stats.errors),
        (24, 0),
        "{stats:?}"
    );
    assert_eq!(stats.stored, stats.misses);
    assert_eq!(folder.files().len(), 4);
}

// What is damaged.

#[test]
fn a_damaged_entry_is_compiled_anew_and_replaced() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    compile(&client, &plus(1));
    let path = cache.dir().join(&folder.files()[0]);
    let whole = fs::read(&path).expect("an entry");
    let header = 20 + u32::from_le_bytes(whole[8..12].try_into().expect("four")) as usize;
    let size = whole.len();
    let mut damages: Vec<(String, Vec<u8>)> = Vec::new();
    for cut in [
        0,
        5,
        7,
        8,
        10,
        15,
        20,
        100,
        header - 1,
        header,
        header + 1,
        size / 2,
        size - 1,
    ] {
        damages.push((format!("cut at {cut}"), whole[..cut].to_vec()));
    }
    for place in [
        0,
        7,
        8,
        11,
        12,
        19,
        20,
        60,
        header - 1,
        header,
        size / 2,
        size - 1,
    ] {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        damages.push((format!("byte {place}"), damaged));
    }
    damages.push(("a byte more".to_owned(), [&whole[..], &[0]].concat()));
    damages.push(("foreign".to_owned(), vec![7; 5000]));
    damages.push(("zeros".to_owned(), vec![0; size]));
    for (count, (what, bytes)) in (1u64..).zip(damages) {
        fs::write(&path, bytes).expect("written");
        let verified = cache.verify().expect("a list");
        assert!(verified.len() == 1 && verified[0].header.is_err(), "{what}");
        adds(&compile(&client, &plus(1)), 1);
        let stats = cache.stats();
        assert_eq!((stats.hits, stats.errors), (count - 1, count), "{what}");
        let error = cache.last_error().expect("told").to_string();
        assert!(
            error.contains("the entry") && error.contains(".xla"),
            "{what}: {error}"
        );
        let entry = &cache.verify().expect("a list")[0];
        assert!(entry.header.is_ok(), "{what} was not replaced: {entry:?}");
        adds(&compile(&client, &plus(1)), 1);
        assert_eq!(cache.stats().hits, count, "{what}");
    }
}

#[test]
fn an_entry_under_another_name_is_not_taken() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    compile(&client, &plus(1));
    let first = folder.files()[0].clone();
    compile(&client, &plus(2));
    let second = folder.files().into_iter().find(|name| *name != first);
    let second = cache.dir().join(second.expect("two"));
    fs::copy(cache.dir().join(&first), &second).expect("copied");
    assert_eq!(
        cache
            .verify()
            .expect("a list")
            .iter()
            .filter(|it| it.header.is_err())
            .count(),
        1
    );
    adds(&compile(&client, &plus(2)), 2);
    told(&cache, Code::DataLoss, &["another", "key"]);
    // So is one without a key, which `Executable::serialize` writes.
    let plain = compile(&client, &plus(1)).serialize().expect("bytes");
    fs::write(&second, plain).expect("written");
    adds(&compile(&client, &plus(2)), 2);
    counted(&cache, [1, 4, 4, 0, 2]);
}

// The folder.

#[test]
fn foreign_files_are_left_alone() {
    let folder = Folder::new();
    let cache = folder.cache().max_bytes(1 << 20);
    let dir = cache.dir().to_owned();
    let key = "0123456789abcdef".repeat(4);
    fs::create_dir_all(dir.join(format!("{}.xla", key.replace('0', "f")))).expect("a folder");
    fs::write(dir.join("notes.txt"), vec![0; 3 << 20]).expect("written");
    fs::write(dir.join("short.xla"), b"x").expect("written");
    fs::write(dir.join(format!("{}.xla", key.to_uppercase())), b"x").expect("written");
    #[cfg(unix)]
    {
        let target = folder.0.join("target");
        fs::write(&target, vec![0; 3 << 20]).expect("written");
        std::os::unix::fs::symlink(&target, dir.join(format!("{key}.xla"))).expect("a link");
        std::os::unix::fs::symlink("nowhere", dir.join("dangling.xla")).expect("a link");
    }
    let before = folder.files();
    let client = client_of(1, &cache);
    adds(&compile(&client, &plus(1)), 1);
    adds(&compile(&client, &plus(1)), 1);
    counted(&cache, [1, 1, 1, 0, 0]);
    assert_eq!(cache.entries().expect("a list").len(), 1);
    assert_eq!(cache.verify().expect("a list").len(), 1);
    assert_eq!(cache.clear().expect("cleared"), 1);
    assert_eq!(folder.files(), before);
}

#[cfg(unix)]
#[test]
fn a_link_in_an_entrys_place_is_not_followed() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    compile(&client, &plus(1));
    let entry = cache.dir().join(&folder.files()[0]);
    let elsewhere = folder.0.join("elsewhere");
    fs::rename(&entry, &elsewhere).expect("moved");
    let kept = fs::read(&elsewhere).expect("an entry");
    std::os::unix::fs::symlink(&elsewhere, &entry).expect("a link");
    adds(&compile(&client, &plus(1)), 1);
    told(&cache, Code::Unavailable, &["not followed"]);
    // Replaced by a file; what it led to is as it was.
    assert!(fs::symlink_metadata(&entry).expect("there").is_file());
    assert_eq!(fs::read(&elsewhere).expect("there"), kept);
    compile(&client, &plus(1));
    counted(&cache, [1, 2, 2, 0, 1]);

    // A folder in its place can't be replaced: compiled each time.
    fs::remove_file(&entry).expect("removed");
    fs::create_dir(&entry).expect("a folder");
    for _ in 0..2 {
        adds(&compile(&client, &plus(1)), 1);
    }
    counted(&cache, [1, 4, 2, 0, 5]);
    assert_eq!(folder.files().len(), 1, "half-written files stay");

    // The folder itself may be a link.
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(cache.dir(), &link).expect("a link");
    fs::remove_dir(&entry).expect("removed");
    let cache = CompileCache::at(&link);
    compile(&client_of(1, &cache), &plus(1));
    compile(&client_of(1, &cache), &plus(1));
    counted(&cache, [1, 1, 1, 0, 0]);
}

#[test]
fn a_folder_that_cant_be_made_costs_the_compilation() {
    let folder = Folder::new();
    fs::create_dir_all(&folder.0).expect("a folder");
    let file = folder.0.join("file");
    fs::write(&file, b"").expect("a file");
    for dir in [file.clone(), file.join("below")] {
        let cache = CompileCache::at(dir);
        let client = client_of(1, &cache);
        adds(&compile(&client, &plus(1)), 1);
        adds(&compile(&client, &plus(1)), 1);
        let stats = cache.stats();
        assert_eq!((stats.hits, stats.misses, stats.stored), (0, 2, 0));
        assert!(stats.errors >= 2, "{stats:?}");
        told(&cache, Code::Unavailable, &["compile cache", "file"]);
    }
    assert!(fs::metadata(&file).expect("still there").is_file());
}

/// An entry that another process removes between the listing and the look at it is none.
#[test]
fn entries_that_vanish_meanwhile_are_not_listed() {
    let folder = Folder::new();
    let cache = folder.cache();
    compile(&client_of(1, &cache), &plus(1));
    let path = cache.dir().join(&folder.files()[0]);
    let aside = cache.dir().join("aside");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&path, &aside).expect("there");
                fs::rename(&aside, &path).expect("there");
            }
        });
        let verified = (0..5000).flat_map(|_| cache.verify().expect("a list"));
        let damaged = verified.filter_map(|entry| entry.header.err()).next();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(damaged.is_none(), "{damaged:?}");
    });
}

#[test]
fn a_folder_that_vanishes_is_made_again() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    compile(&client, &plus(1));
    fs::remove_dir_all(&folder.0).expect("removed");
    assert_eq!(cache.entries().expect("no folder, no entries").len(), 0);
    adds(&compile(&client, &plus(1)), 1);
    adds(&compile(&client, &plus(1)), 1);
    counted(&cache, [1, 2, 2, 0, 0]);
}

#[cfg(unix)]
#[test]
fn a_folder_of_everybody_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    compile(&client, &plus(1));
    assert_eq!(mode(cache.dir()), 0o700, "it is made for its owner alone");
    let everybodys = fs::Permissions::from_mode(0o777);
    fs::set_permissions(cache.dir(), everybodys).expect("set");
    adds(&compile(&client, &plus(1)), 1);
    counted(&cache, [0, 2, 1, 0, 1]);
    told(&cache, Code::PermissionDenied, &["everybody"]);
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let folder = Folder::new();
    let all = folder.cache();
    let client = client_of(1, &all);
    for n in 1..=3 {
        compile(&client, &plus(n));
    }
    let names = |cache: &CompileCache| -> Vec<String> {
        let entries = cache.entries().expect("a list");
        entries
            .iter()
            .map(|it| it.name().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&all), ["plus_1", "plus_2", "plus_3"]);
    compile(&client, &plus(1)); // a use
    assert_eq!(names(&all), ["plus_2", "plus_3", "plus_1"]);
    let bytes: u64 = all
        .entries()
        .expect("a list")
        .iter()
        .map(|it| it.bytes)
        .sum();

    // Room for three of them.
    let cache = folder.cache().max_bytes(bytes + bytes / 6);
    let client = client_of(1, &cache);
    compile(&client, &plus(4));
    assert_eq!(names(&cache), ["plus_3", "plus_1", "plus_4"]);
    compile(&client, &plus(3));
    compile(&client, &plus(5));
    assert_eq!(names(&cache), ["plus_4", "plus_3", "plus_5"]);
    counted(&cache, [1, 2, 2, 2, 0]);
    // By a clock that the file system was told: one is used long ago.
    let entry = cache.entries().expect("a list")[2].clone();
    let file = fs::File::options()
        .write(true)
        .open(cache.dir().join(format!("{}.xla", entry.key)));
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    file.expect("a file").set_modified(long_ago).expect("set");
    let oldest = &cache.entries().expect("a list")[0];
    assert!(oldest.key == entry.key && oldest.age() >= Duration::from_secs(1000));
    compile(&client, &plus(6));
    assert_eq!(names(&cache), ["plus_4", "plus_3", "plus_6"]);
}

#[test]
fn what_is_too_large_alone_is_not_kept() {
    let folder = Folder::new();
    let cache = folder.cache().max_bytes(100);
    let client = client_of(1, &cache);
    adds(&compile(&client, &plus(1)), 1);
    counted(&cache, [0, 1, 0, 0, 1]);
    told(&cache, Code::ResourceExhausted, &["plus_1", "100"]);
    assert_eq!(cache.entries().expect("a list").len(), 0);
}

#[test]
fn entries_are_listed_verified_and_removed() {
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(2, &cache);
    compile(&client, &plus(1));
    compile(&client, &program("two_devices"));
    let entries = cache.entries().expect("a list");
    assert_eq!(entries.len(), 2);
    for entry in &entries {
        let file = cache.dir().join(format!("{}.xla", entry.key));
        assert_eq!(entry.bytes, fs::metadata(file).expect("there").len());
        assert!(entry.age() < Duration::from_secs(600));
        let header = entry.header.as_ref().expect("a header");
        assert_eq!(header.api_version(), client.plugin().api_version());
        assert!(header.payload_bytes() < entry.bytes);
    }
    assert_eq!(entries[0].name(), Some("plus_1"));
    let header = entries[1].header.as_ref().expect("a header");
    assert_eq!(
        (header.signature().partitions(), header.device_ids()),
        (2, &[0, 1][..])
    );

    // The end is damaged: the header doesn't show it.
    let key = &entries[0].key;
    let path = cache.dir().join(format!("{key}.xla"));
    let mut bytes = fs::read(&path).expect("an entry");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&path, bytes).expect("written");
    assert!(cache
        .entries()
        .expect("a list")
        .iter()
        .all(|it| it.header.is_ok()));
    let verified = cache.verify().expect("a list");
    let broken: Vec<&str> = verified
        .iter()
        .filter(|it| it.header.is_err())
        .map(|it| &*it.key)
        .collect();
    assert_eq!(broken, [key]);

    assert!(cache.remove(key).expect("removed"));
    assert!(!cache.remove(key).expect("not there"));
    for wrong in [
        "",
        "../other",
        "0123",
        &key.to_uppercase().replace(char::is_numeric, "A"),
    ] {
        let error = cache.remove(wrong).expect_err("no key");
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
    assert_eq!(cache.clear().expect("cleared"), 1);
    assert_eq!(cache.clear().expect("cleared"), 0);
    assert!(folder.files().is_empty());
}

// Other processes.

const ROLE: &str = "XLA_PJRT_TEST_ROLE";
const DIR: &str = "XLA_PJRT_TEST_DIR";

/// In a child of the test, what it is to do, and where.
fn role() -> Option<(String, PathBuf)> {
    let role = std::env::var(ROLE).ok()?;
    Some((role, std::env::var_os(DIR).expect("a folder").into()))
}

/// This test again, in a process of its own with a role.
fn child(test: &str, role: &str, dir: &Path) -> Command {
    child_by(
        Command::new(std::env::current_exe().expect("this program")),
        test,
        role,
        dir,
    )
}

fn child_by(mut command: Command, test: &str, role: &str, dir: &Path) -> Command {
    command
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, role)
        .env(DIR, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

#[track_caller]
fn check_well(child: Child) {
    let ended = child.wait_with_output().expect("ended");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}: {stderr}", ended.status);
    assert!(stderr.contains("the role was played"), "{stderr}");
}

fn played() -> ! {
    eprintln!("the role was played");
    std::process::exit(0)
}

/// How many programs the processes share.
const SHARED: usize = 6;

#[test]
fn another_process_finds_what_this_one_compiled() {
    if let Some((_, dir)) = role() {
        let cache = CompileCache::at(dir);
        let client = client_of(1, &cache);
        for n in 1..=SHARED {
            let options = CompileOptions::new()
                .option("xla_cpu_enable_fast_math", false)
                .option("xla_cpu_fast_math_honor_nans", true);
            adds(&client.compile(&plus(n), &options).expect("compiles"), n);
        }
        let hits = if cache.stats().hits > 0 {
            SHARED as u64
        } else {
            0
        };
        counted(
            &cache,
            [hits, SHARED as u64 - hits, SHARED as u64 - hits, 0, 0],
        );
        eprintln!("hits: {hits}");
        played()
    }
    let test = "another_process_finds_what_this_one_compiled";
    let folder = Folder::new();
    for hits in [0, SHARED, SHARED] {
        let child = child(test, "compile", folder.cache().dir())
            .spawn()
            .expect("a child");
        let ended = child.wait_with_output().expect("ended");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.success() && stderr.contains(&format!("hits: {hits}\n")),
            "{stderr}"
        );
    }
    // Another flag of XLA's makes other programs, though it isn't an option of theirs.
    let mut child = child(test, "compile", folder.cache().dir());
    let child = child.env("XLA_FLAGS", "--xla_cpu_enable_fast_min_max=true");
    let ended = child.output().expect("ended");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success() && stderr.contains("hits: 0\n"),
        "{stderr}"
    );
}

#[test]
fn the_environment_turns_it_on() {
    let variable = "XLA_PJRT_COMPILE_CACHE";
    if let Some((role, dir)) = role() {
        let client = cpu::client(1);
        let cache = client.compile_cache().cloned();
        assert_eq!(
            cache.as_ref().map(|cache| cache.dir().to_owned()).is_some(),
            role == "on"
        );
        adds(&compile(&client, &plus(1)), 1);
        if let Some(cache) = cache {
            assert_eq!(cache.dir(), dir);
            assert_eq!(cache.stats().stored, 1);
        }
        played()
    }
    let test = "the_environment_turns_it_on";
    let folder = Folder::new();
    let dir = folder.cache().dir().to_owned();
    check_well(
        child(test, "on", &dir)
            .env(variable, &dir)
            .spawn()
            .expect("a child"),
    );
    assert_eq!(folder.files().len(), 1);
    for off in ["", "0"] {
        check_well(
            child(test, "off", &dir)
                .env(variable, off)
                .spawn()
                .expect("a child"),
        );
    }
    // The usual place is that of all that is fetched.
    let usual = folder.0.join("usual");
    let mut child = child(test, "on", &usual.join("executables"));
    let plugin = Plugin::cpu().expect("a plugin");
    child.env(variable, "1").env("XLA_PJRT_CACHE", &usual);
    child.env("XLA_PJRT_CPU_PLUGIN", plugin.path().expect("a file"));
    check_well(child.spawn().expect("a child"));
    assert!(usual.join("executables").is_dir());
}

/// Several compile the same, one makes room all the time, one removes all.
#[test]
fn many_processes_share_a_folder() {
    if let Some((role, dir)) = role() {
        let cache = CompileCache::at(dir);
        match role.as_str() {
            "compile" => {}
            // Room for about two.
            "evict" => return evict(cache.max_bytes(entry_bytes() * 5 / 2)),
            _ => {
                for _ in 0..60 {
                    cache.clear().expect("cleared");
                    std::thread::sleep(Duration::from_millis(20));
                }
                played()
            }
        }
        let client = client_of(1, &cache);
        for _ in 0..8 {
            for n in 1..=SHARED {
                adds(&compile(&client, &plus(n)), n);
            }
        }
        // What the one that removes takes away while it is written can't be renamed.
        let stats = cache.stats();
        assert_eq!(stats.hits + stats.misses, 8 * SHARED as u64, "{stats:?}");
        if stats.errors > 0 {
            told(&cache, Code::NotFound, &["writing an entry"]);
        }
        played()
    }
    let test = "many_processes_share_a_folder";
    let folder = Folder::new();
    let dir = folder.cache().dir().to_owned();
    let roles = ["compile", "compile", "compile", "evict", "clear"];
    let children: Vec<Child> = roles
        .iter()
        .map(|role| child(test, role, &dir).spawn().expect("a child"))
        .collect();
    children.into_iter().for_each(check_well);
    let verified = folder.cache().verify().expect("a list");
    assert!(
        verified.iter().all(|entry| entry.header.is_ok()),
        "{verified:?}"
    );
    assert!(
        folder.files().iter().all(|name| name.ends_with(".xla")),
        "{:?}",
        folder.files()
    );
}

/// Until something was evicted: while another process removes all, there may be nothing.
fn evict(cache: CompileCache) {
    let client = client_of(1, &cache);
    let start = Instant::now();
    // A program that no other process has: storing it is what makes room.
    for own in 100.. {
        for n in (1..=SHARED).chain([own]) {
            adds(&compile(&client, &plus(n)), n);
        }
        if cache.stats().evicted > 0 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{cache:?}");
    }
    played()
}

/// The size of an entry.
fn entry_bytes() -> u64 {
    let folder = Folder::new();
    let cache = folder.cache();
    compile(&client_of(1, &cache), &plus(1));
    cache.entries().expect("a list")[0].bytes
}

/// A process is killed while it writes: what it leaves is no entry, and goes in time.
#[cfg(unix)]
#[test]
fn what_a_killed_process_leaves_is_no_entry() {
    if let Some((_, dir)) = role() {
        let cache = CompileCache::at(dir);
        let client = client_of(1, &cache);
        loop {
            compile(&client, &plus(1));
            cache.clear().expect("cleared");
        }
    }
    let test = "what_a_killed_process_leaves_is_no_entry";
    let folder = Folder::new();
    let cache = folder.cache();
    let client = client_of(1, &cache);
    compile(&client, &plus(2));
    let kept = folder.files();
    let entry = fs::read(cache.dir().join(&kept[0])).expect("an entry");
    let writing = || {
        let list = fs::read_dir(cache.dir()).expect("a folder").flatten();
        list.map(|it| it.path()).find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(".writing-"))
        })
    };
    let end = Instant::now() + Duration::from_secs(100);
    let left = loop {
        assert!(Instant::now() < end, "no process was seen to write");
        let mut child = child(test, "write", cache.dir())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        while writing().is_none() && Instant::now() < end {}
        child.kill().expect("killed");
        child.wait().expect("ended");
        if let Some(left) = writing() {
            break left;
        }
    };
    // It removed the other one meanwhile.
    fs::write(cache.dir().join(&kept[0]), entry).expect("written");
    let names: Vec<_> = cache
        .verify()
        .expect("a list")
        .iter()
        .map(|it| it.header.is_ok())
        .collect();
    assert!(names.iter().all(|whole| *whole), "{names:?}");
    let before = cache.stats();
    adds(&compile(&client, &plus(2)), 2);
    adds(&compile(&client, &plus(3)), 3);
    assert_eq!(cache.stats().errors, before.errors);
    assert!(left.exists(), "another process may still be at it");
    let hours_ago = SystemTime::now() - Duration::from_secs(2 * 3600);
    let file = fs::File::options().write(true).open(&left).expect("a file");
    file.set_modified(hours_ago).expect("set");
    adds(&compile(&client, &plus(4)), 4);
    assert!(!left.exists(), "it is two hours old");
    fs::write(&left, b"half").expect("written");
    cache.clear().expect("cleared");
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

/// A disk without room, as a limit of what a process may write to a file.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_compilation() {
    if let Some((_, dir)) = role() {
        let cache = CompileCache::at(dir);
        let client = client_of(1, &cache);
        for _ in 0..2 {
            adds(&compile(&client, &plus(1)), 1);
        }
        counted(&cache, [0, 2, 0, 0, 2]);
        let error = cache.last_error().expect("told");
        assert!(error.message().contains("writing an entry"), "{error}");
        played()
    }
    let test = "a_full_disk_costs_the_compilation";
    let folder = Folder::new();
    let mut shell = Command::new("sh");
    // One block, which is less than an entry; the signal that comes with it is ignored.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    shell
        .args(["-c", script])
        .arg(std::env::current_exe().expect("this program"));
    let child = child_by(shell, test, "compile", folder.cache().dir());
    check_well({ child }.spawn().expect("a shell"));
    assert!(
        folder.files().is_empty(),
        "half-written files stay: {:?}",
        folder.files()
    );
}
