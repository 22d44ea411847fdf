//! The command line `xla`: finds plugins, inspects, compiles and runs programs.
//!
//! It uses the library's public API alone. Every command takes `--json` and then prints exactly
//! one JSON object on stdout. The exit code is 0 where all is right, 1 where something was
//! refused or failed, 2 where the command line is wrong.
#![forbid(unsafe_code)]

mod arguments;
mod bars;
mod cache;
mod compile;
mod describe;
mod doctor;
mod elements;
mod files;
mod inspect;
mod npy;
mod plugin_choice;
mod report;
mod run;
mod spec;
mod target;
mod undonated;
mod values;

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

fn main() -> ExitCode {
    let words = arguments::rewrite(env::args_os());
    let as_json = words.iter().any(|word| word == "--json");
    let outcome = match Cli::try_parse_from(words) {
        Ok(cli) => dispatch(cli.command),
        Err(error) if !error.use_stderr() => {
            // `--help` and `--version`.
            return report::print(&error.to_string(), ExitCode::SUCCESS);
        }
        Err(error) => Err(Failure::usage(error.to_string().trim_end())),
    };
    match outcome {
        Ok(report) => report.show(as_json),
        Err(failure) => failure.show(as_json),
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
