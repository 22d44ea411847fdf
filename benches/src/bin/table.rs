//! Runs all benchmarks and writes what they give into `README.md`, between its markers.
//!
//!     XLA_BENCH_PYTHON=venv/bin/python cargo run --release -p xla-pjrt-benches --features fetch-cpu --bin table
//!
//! With `XLA_BENCH_SHORT` or `XLA_BENCH_ONLY`, or without a Python, not all lines are measured:
//! then the table is printed, and the file stays as it is.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use benches::table::{FILE, HEAD};

/// Where the table stands in the README.
const BEGIN: &str = "<!-- What follows is written by `--bin table`. -->";
const END: &str = "<!-- What `--bin table` writes ends here. -->";

/// The sections in the order of the table. Further ones follow.
const ORDER: [&str; 4] = [
    "A scalar step",
    "Arguments",
    "Launches on several devices",
    "Beside JAX and pypjrt",
];

const PYTHON: &str = "XLA_BENCH_PYTHON";

fn main() -> ExitCode {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rows = env::temp_dir().join(format!("xla-bench-table-{}", std::process::id()));
    let before = load();
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "bench",
            "--locked",
            "--no-fail-fast",
            "-p",
            env!("CARGO_PKG_NAME"),
        ])
        .args(["--features", "fetch-cpu"])
        .current_dir(package)
        .env(FILE, &rows)
        .status()
        .expect("cargo runs");
    let text = fs::read_to_string(&rows).unwrap_or_default();
    let _ = fs::remove_file(&rows);
    let table = format!("{}\n{}", facts(&before), sections(&text));
    if !status.success() {
        println!("{table}");
        eprintln!("a benchmark has failed: README.md stays as it is");
        return ExitCode::FAILURE;
    }
    let is_set = |name| env::var_os(name).is_some();
    if is_set("XLA_BENCH_SHORT") || is_set("XLA_BENCH_ONLY") || !is_set(PYTHON) {
        println!("{table}");
        println!("not all lines were measured: README.md stays as it is");
        return ExitCode::SUCCESS;
    }
    write(&package.join("README.md"), &table);
    ExitCode::SUCCESS
}

/// Puts the table between the markers.
fn write(file: &PathBuf, table: &str) {
    let text = fs::read_to_string(file).expect("README.md");
    let (head, rest) = text.split_once(BEGIN).expect("the first marker");
    let (_, tail) = rest.split_once(END).expect("the second marker");
    fs::write(file, format!("{head}{BEGIN}\n\n{table}\n{END}{tail}")).expect("README.md");
}

/// The rows in tables, one a section.
fn sections(text: &str) -> String {
    let rows: Vec<(&str, &str)> = text.lines().filter_map(|l| l.split_once('\t')).collect();
    let mut names = ORDER.to_vec();
    for (name, _) in &rows {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let tables = names.into_iter().filter_map(|name| {
        let rows = rows.iter().filter(|(section, _)| *section == name);
        let rows: Vec<&str> = rows.map(|(_, row)| *row).collect();
        let table = format!("### {name}\n\n{HEAD}\n{}\n", rows.join("\n"));
        (!rows.is_empty()).then_some(table)
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// What the numbers depend on.
fn facts(load_before: &str) -> String {
    let (major, minor) = benches::plugin().api_version();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{}. {}, {cores} of its cores, {} GiB of memory. Load {load_before} before and {} after. \
         Plugin of API {major}.{minor}. {}. {}.\n",
        output(Command::new("date").args(["-u", "+%F"])),
        field("/proc/cpuinfo", "model name").unwrap_or("a processor".to_owned()),
        memory(),
        load(),
        python_versions(),
        output(Command::new("rustc").arg("--version")),
    )
}

/// The machine's load over the last minute, where the system tells.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

fn memory() -> u64 {
    let kibibytes = field("/proc/meminfo", "MemTotal");
    let kibibytes = kibibytes.and_then(|text| text.trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or(0).div_ceil(1 << 20)
}

/// What stands behind a name and a colon.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn python_versions() -> String {
    let Some(python) = env::var_os(PYTHON) else {
        return "No JAX".to_owned();
    };
    let program = "from importlib.metadata import version as v; import platform as p; \
                   print('Python', p.python_version() + ', JAX', v('jax') + ', pypjrt', v('pypjrt'))";
    output(Command::new(python).args(["-c", program]))
}

fn output(command: &mut Command) -> String {
    let output = command.output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
