//! What the tests on a real CPU plugin share: clients, programs, the oracle's
//! numbers, and a child process for what may end one.
//!
//! The plugin is the one that [`xla::Plugin::cpu`] finds, so `XLA_PJRT_CPU_PLUGIN`
//! runs all of it on another plugin.
// Each test file uses its own part of this.
#![allow(dead_code)]

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use xla::{
    bf16, Buffer, CallError, Client, ClientOptions, Code, CompileOptions, Device, Executable,
    GivenBack, Program,
};

/// A new client with this many devices.
pub fn client(devices: usize) -> Client {
    let plugin = xla::Plugin::cpu().expect("a CPU plugin");
    plugin
        .client_with(&ClientOptions::new().cpu_device_count(devices))
        .expect("a client")
}

/// The minor version of the API of the plugin under test: 81, 106 or 115, which
/// differ here and there. The tests say where, and what each does.
pub fn api_minor(client: &Client) -> i32 {
    let (major, minor) = client.plugin().api_version();
    assert_eq!(major, 0, "the major version of the API");
    minor
}

/// The path of a file in `examples/programs`.
pub fn program_path(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "examples", "programs", file]
        .iter()
        .collect()
}

/// A program of `examples/programs` by its name, `.mlir` unless the name has an
/// ending.
pub fn program(name: &str) -> Program {
    let file = if name.contains('.') {
        name.to_owned()
    } else {
        format!("{name}.mlir")
    };
    Program::from_file(program_path(&file)).expect("a program of the examples")
}

/// A program of `examples/programs`, compiled as it states.
pub fn compiled(client: &Client, name: &str) -> Executable {
    client
        .compile(&program(name), &CompileOptions::new())
        .expect("a program of the examples compiles")
}

/// StableHLO text, compiled as it states.
#[track_caller]
pub fn compiled_text(client: &Client, text: &str) -> Executable {
    let program = Program::from_text(text).expect("text");
    client
        .compile(&program, &CompileOptions::new())
        .expect("the test's program compiles")
}

/// The `index`-th device.
pub fn device(client: &Client, index: usize) -> Device {
    client.device(index).expect("as many devices as asked for")
}

/// A vector of f32 on a device.
pub fn vector(device: &Device, values: &[f32]) -> Buffer {
    Buffer::from_host(device, values, &[values.len()]).expect("room for a vector")
}

/// The values of a buffer of f32.
#[track_caller]
pub fn values(buffer: &Buffer) -> Vec<f32> {
    buffer.to_host().expect("readable values")
}

/// What the process has in memory, in bytes. Counted page by page: the figures of `statm` and
/// `status` are kept in portions for each processor, and may be megabytes behind.
pub fn resident() -> usize {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").expect("Linux 4.14");
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:"));
    let figure = line.expect("a sum").trim().trim_end_matches(" kB");
    figure.parse::<usize>().expect("a number") * 1024
}

/// Checks that the process has no more than 100 MiB above `before`. Memory is released
/// behind our back, so it gets a while. For a child process, where no other test runs.
#[track_caller]
pub fn check_resident(before: usize) {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let grown = resident().saturating_sub(before);
        if grown < 100 << 20 {
            return;
        }
        assert!(
            Instant::now() < end,
            "the process has {grown} bytes more than before"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until no other thread of this process has had anything to do for a while: until what
/// goes on behind our back is over, however slow the machine is. For a child process.
#[track_caller]
pub fn until_idle() {
    let is_busy = |task: &PathBuf| {
        let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
        let state = stat.rsplit(") ").next().unwrap_or_default();
        state.starts_with(['R', 'D'])
    };
    let end = Instant::now() + Duration::from_secs(60);
    let mut quiet = 0;
    while quiet < 40 {
        assert!(Instant::now() < end, "the process is never idle");
        thread::sleep(Duration::from_millis(5));
        let tasks = fs::read_dir("/proc/self/task").expect("Linux").flatten();
        // This thread runs, to look.
        let busy = tasks.map(|task| task.path()).filter(is_busy).count();
        quiet = if busy > 1 { 0 } else { quiet + 1 };
    }
}

/// A program that takes long: `x` (f32[4096]) added to itself `n` times, so that every
/// element is `x * (n + 1)`. It reads `x` until its end, and runs while its call has
/// returned.
pub const SLOW: &str = r#"
module @slow {
  func.func @main(%x: tensor<4096xf32> loc("x"), %n: tensor<i32> loc("n")) -> tensor<4096xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %done:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<4096xf32>
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %more_sum = stablehlo.add %sum, %x : tensor<4096xf32>
      stablehlo.return %next, %more_sum : tensor<i32>, tensor<4096xf32>
    }
    return %done#1 : tensor<4096xf32>
  }
}"#;

/// The length of [`SLOW`]'s vector.
pub const SLOW_LENGTH: usize = 4096;

/// Hands longer and longer loop counts for [`SLOW`] to `watch` until it saw a run
/// pending. On a slow or busy machine a short run is over before one can look. Sums up to the
/// longest are exact as f32.
#[track_caller]
pub fn until_pending(mut watch: impl FnMut(i32) -> bool) {
    let counts = [50_000, 500_000, 5_000_000, 16_000_000];
    assert!(
        counts.into_iter().any(&mut watch),
        "no run of up to {counts:?} rounds was seen pending"
    );
}

/// A program whose run fails after its call returned Ok: it needs 2^48 bytes of
/// scratch memory, more than a process can address. `w` is donated.
pub const FAILS_LATER: &str = r#"
module @fails_later {
  func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("w"), %x: tensor<f32> loc("x")) -> tensor<4xf32> {
    %many = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
    %count = stablehlo.iota dim = 0 : tensor<70368744177664xf32>
    %huge = stablehlo.multiply %many, %count : tensor<70368744177664xf32>
    %sorted = "stablehlo.sort"(%huge) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<70368744177664xf32>) -> tensor<70368744177664xf32>
    %few = stablehlo.slice %sorted [0:4] : (tensor<70368744177664xf32>) -> tensor<4xf32>
    %next = stablehlo.add %w, %few : tensor<4xf32>
    return %next : tensor<4xf32>
  }
}"#;

/// A buffer of f32[4] on `device` whose run failed, or will.
pub fn failing(client: &Client, device: &Device) -> Buffer {
    let program = Program::from_text(FAILS_LATER).expect("text");
    let options = CompileOptions::new().device(device);
    let fails = client.compile(&program, &options).expect("compiles");
    let w = vector(device, &[1., 2., 3., 4.]);
    let x = Buffer::scalar(device, 1f32).expect("room for a number");
    let outputs = fails.run((w, &x)).expect("the failure comes later");
    outputs.into_single().expect("one output")
}

/// Checks that a call was refused before the plugin was asked, by a message with all
/// these words, and gives the given buffers.
#[track_caller]
pub fn refused<T>(result: Result<T, CallError>, words: &[&str]) -> Vec<GivenBack> {
    let Err(error) = result else {
        panic!("the call was not refused; wanted a message with {words:?}")
    };
    let message = error.to_string();
    assert_eq!(
        error.error().function(),
        None,
        "the plugin was asked: {message}"
    );
    assert!(
        matches!(
            error.code(),
            Code::InvalidArgument | Code::FailedPrecondition
        ),
        "{message}"
    );
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
    assert!(error.lost().is_empty(), "{message}");
    error.into_given()
}

/// All lessons of the oracle, as the file has them.
pub fn oracle() -> &'static Value {
    static ORACLE: OnceLock<Value> = OnceLock::new();
    ORACLE.get_or_init(|| {
        let text = include_str!("../../examples/programs/oracle/lessons.json");
        serde_json::from_str(text).expect("JSON")
    })
}

/// One program's arguments and what must come out.
#[derive(Debug)]
pub struct Lesson {
    /// In the program's order.
    pub arguments: Vec<Values>,
    /// In the program's order.
    pub results: Vec<Values>,
}

/// An argument or result, on each device that the program runs on.
#[derive(Debug)]
pub struct Values {
    /// An argument's name in the program it was exported from.
    pub name: Option<String>,
    /// Whether JAX was told to donate it.
    pub donated: bool,
    /// As StableHLO spells it.
    pub dtype: String,
    /// On one device.
    pub dims: Vec<usize>,
    /// Row-major, device by device.
    pub per_device: Vec<Vec<f64>>,
}

/// A lesson of the oracle by its program's name.
pub fn lesson(name: &str) -> Lesson {
    let lesson = &oracle()[name];
    let list = |key: &str| {
        let list = lesson[key].as_array();
        let list = list.unwrap_or_else(|| panic!("the oracle has no {key} for `{name}`"));
        list.iter().map(Values::of).collect()
    };
    Lesson {
        arguments: list("arguments"),
        results: list("results"),
    }
}

impl Values {
    fn of(described: &Value) -> Values {
        let numbers = |list: &Value| -> Vec<f64> {
            let list = list.as_array().expect("a list of numbers");
            list.iter().map(|x| x.as_f64().expect("number")).collect()
        };
        let dims = described.get("local_dims").unwrap_or(&described["dims"]);
        Values {
            name: described["name"].as_str().map(str::to_owned),
            donated: described["donated"].as_bool().unwrap_or(false),
            dtype: described["dtype"].as_str().expect("a dtype").to_owned(),
            dims: numbers(dims).into_iter().map(|dim| dim as usize).collect(),
            per_device: match described["per_device"].as_array() {
                Some(devices) => devices.iter().map(numbers).collect(),
                None => vec![numbers(&described["data"])],
            },
        }
    }

    /// The values on one device as f32.
    pub fn f32(&self, position: usize) -> Vec<f32> {
        let values = self.per_device[position].iter();
        values.map(|value| *value as f32).collect()
    }

    /// A buffer with the values that belong on the `position`-th device.
    pub fn buffer(&self, position: usize, device: &Device) -> Buffer {
        let values = &self.per_device[position];
        let dims = &self.dims;
        match self.dtype.as_str() {
            "f32" => Buffer::from_host(device, &self.f32(position), dims),
            "bf16" => {
                let values: Vec<_> = values.iter().map(|x| bf16::from_f64(*x)).collect();
                Buffer::from_host(device, &values, dims)
            }
            "ui32" => {
                let values: Vec<_> = values.iter().map(|x| *x as u32).collect();
                Buffer::from_host(device, &values, dims)
            }
            other => panic!("no lesson had {other} before: add it here"),
        }
        .expect("room for a lesson")
    }
}

/// How a child process ended.
#[derive(Debug)]
pub struct Ended {
    /// As the system reports it.
    pub status: ExitStatus,
    /// Whether the time limit passed and it was killed.
    pub timed_out: bool,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ended {
    /// Fails the test unless the child came to its end.
    #[track_caller]
    pub fn check_well(&self) {
        assert!(!self.timed_out, "the child hung; it wrote: {}", self.stderr);
        assert!(
            self.status.success(),
            "the child ended with {}; it wrote: {}",
            self.status,
            self.stderr
        );
    }
}

/// The time limit of [`in_child`]: much more than anything here takes, on a slow machine too.
pub const CHILD_LIMIT: Duration = Duration::from_secs(600);

const CHILD: &str = "XLA_PJRT_TEST_CHILD";

/// Runs `work` in a process of its own, where the plugin may hang or end it, and
/// tells how that went. `test` is the name of the test that calls this: the child is
/// this program again, with that test alone.
pub fn in_child(test: &str, work: impl FnOnce()) -> Ended {
    in_child_within(CHILD_LIMIT, test, work)
}

/// As [`in_child`], with a time limit.
pub fn in_child_within(limit: Duration, test: &str, work: impl FnOnce()) -> Ended {
    let entered = format!("in the child: {test}");
    if std::env::var(CHILD).as_deref() == Ok(test) {
        eprintln!("{entered}");
        work();
        // Not back into the test: what follows there is the parent's.
        std::process::exit(0);
    }
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, test)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child process");
    let mut pipe = child.stderr.take().expect("its standard error");
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let deadline = Instant::now() + limit;
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait().expect("the child's status") {
            break status;
        }
        if Instant::now() >= deadline {
            timed_out = true;
            child.kill().expect("to end the child");
            break child.wait().expect("the child's status");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let stderr = reader.join().expect("the reader of standard error");
    assert!(
        stderr.contains(&entered),
        "the child did not run the test `{test}`: {status}; it wrote: {stderr}"
    );
    Ended {
        status,
        timed_out,
        stderr,
    }
}
