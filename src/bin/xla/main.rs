//! The command line `xla`: finds plugins, inspects, compiles and runs programs.
//!
//! It uses the library's public API alone. Every command takes `--json` and then prints exactly
//! one JSON object on stdout, also where a plugin prints there, or ends its process. The exit code is 0 where all is right, 1 where something was
//! refused or failed, 2 where the command line is wrong.
#![forbid(unsafe_code)]

mod arguments;
mod at_work;
mod bars;
mod cache;
mod compile;
mod describe;
mod doctor;
mod elements;
mod files;
mod frames;
mod guard;
mod inspect;
mod kept;
mod npy;
mod plugin_choice;
mod report;
mod run;
mod spec;
mod target;
mod undonated;
mod values;
mod worker;

use std::env;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::report::{Failure, Report};

/// XLA programs on any PJRT plugin: what they take, give and donate, what memory they need,
/// and what they compute.
#[derive(Parser)]
#[command(name = "xla", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object on stdout
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Which plugins there are, what they say of themselves, and how to get those that are missing
    Doctor(doctor::Doctor),
    /// What a program takes, gives and donates, and what it could donate
    Inspect(inspect::Inspect),
    /// Run a program on given values
    Run(run::Run),
    /// Compile a program and tell what memory it needs, also for devices that aren't there
    Compile(compile::Compile),
    /// List, check or remove the compiled programs that are kept on disk
    Cache(cache::Cache),
}

/// What plugins log to stderr: their informations are left out, unless someone asks for them.
const LOG_LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

fn main() -> ExitCode {
    if env::var_os(LOG_LEVEL).is_none() {
        // No other thread runs yet.
        env::set_var(LOG_LEVEL, "1");
    }
    let is_worker = match worker::begin() {
        Ok(is_worker) => is_worker,
        Err(error) => {
            eprintln!("error: this worker has no stdout: {error}");
            return ExitCode::FAILURE;
        }
    };
    let words = arguments::rewrite(env::args_os());
    let as_json = words.iter().any(|word| word == "--json");
    let outcome = match Cli::try_parse_from(words) {
        Ok(cli) if cli.command.loads_plugins() && !is_worker => {
            let words: Vec<_> = env::args_os().skip(1).collect();
            return guard::run(&words, as_json);
        }
        Ok(cli) => {
            let outcome = dispatch(cli.command);
            kept::tell();
            outcome
        }
        Err(error) if !error.use_stderr() => {
            // `--help` and `--version`.
            return report::print(&error.to_string(), 0);
        }
        Err(error) => Err(Failure::usage(error.to_string().trim_end())),
    };
    match outcome {
        Ok(report) => report.show(as_json),
        Err(failure) => failure.show(as_json),
    }
}

impl Command {
    /// Whether plugins are loaded in the command's own process.
    fn loads_plugins(&self) -> bool {
        match self {
            Command::Doctor(doctor) => doctor.looks_here(),
            Command::Inspect(_) | Command::Run(_) | Command::Compile(_) => true,
            Command::Cache(_) => false,
        }
    }
}

fn dispatch(command: Command) -> Result<Report, Failure> {
    match command {
        Command::Doctor(doctor) => doctor.report(),
        Command::Inspect(inspect) => inspect.report(),
        Command::Run(run) => run.report(),
        Command::Compile(compile) => compile.report(),
        Command::Cache(cache) => cache.report(),
    }
}
