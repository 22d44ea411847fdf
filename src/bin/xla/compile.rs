//! `xla compile`.

mod compiler;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use xla::{CompileOptions, DonationAdvice, ExecutableMemoryStats, Program};

use crate::bars::Bars;
use crate::describe;
use crate::files;
use crate::plugin_choice::read_program;
use crate::report::{table, Failure, Report};
use crate::target::Target;
use crate::undonated;
use crate::worker;

use compiler::{Compiled, Compiler};

/// Options of `xla compile`.
#[derive(clap::Args)]
pub(crate) struct Compile {
    /// StableHLO (text, bytecode or portable artifact) or an HLO protobuf
    program: PathBuf,
    /// cpu, cpu:N, tpu:v5e:2x2, cuda:h100:1x1x4: none of these has to be there
    #[arg(long, value_name = "TARGET", default_value = "cpu")]
    target: Target,
    /// Copies of the program, each on its own data
    #[arg(long, value_name = "N")]
    replicas: Option<usize>,
    /// Devices over which each copy is partitioned
    #[arg(long, value_name = "N")]
    partitions: Option<usize>,
    /// Compile it without its donations too, and with all that it could donate
    #[arg(long)]
    compare_donation: bool,
    /// Write the compiled program to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the memory as bars, in SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// A version of the program, and its memory.
struct Version {
    name: &'static str,
    title: &'static str,
    memory: ExecutableMemoryStats,
}

impl Compile {
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let program = read_program(&self.program)?;
        // Before any time is spent.
        let paths: Vec<&Path> = [&self.out, &self.plot]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        files::check(&paths)?;
        let without = match self.compare_donation {
            true => Some(undonated::program(&program)?),
            false => None,
        };
        let compiler = Compiler::for_target(&self.target, self.counted())?;
        let options = self.options();
        let compiled = compiler.compile(&program, &options)?;
        let mut versions = vec![Version {
            name: "as_written",
            title: "as written",
            memory: compiled.memory_stats()?,
        }];
        let signature = compiled.signature();
        let mut json = describe::signature(signature);
        json["target"] = self.target.to_string().into();
        json["platform"] = compiler.platform_name().into();
        let (kind, count) = compiler.devices();
        json["device_kind"] = kind.into();
        json["device_count"] = count.into();
        let mut text = signature.to_string();
        if let Some(without) = &without {
            let advice = signature.donation_advice();
            let refused = Comparison {
                program: &program,
                without,
                advice: &advice,
                compiler: &compiler,
                compiled: &compiled,
                options: &options,
            }
            .compile(&mut versions)?;
            json["advice"] = describe::advice(&advice);
            json["advice"]["refused"] = refused.as_slice().into();
            text += &format!("advice for {advice}");
            if !refused.is_empty() {
                text += &format!("the compiler finds no output for inputs {refused:?}\n");
            }
        }
        let memory = versions.iter().map(|version| {
            let memory = describe::memory(&version.memory);
            (version.name.to_owned(), memory)
        });
        json["memory"] = Value::Object(memory.collect::<Map<_, _>>());
        text += &format!(
            "memory on each device of {}, in bytes\n{}",
            self.target,
            table(&memory_table(&versions))
        );
        let mut files = Vec::new();
        if let Some(path) = &self.out {
            worker::doing_program("serialising");
            files.push((path.clone(), compiled.serialize()?));
        }
        if let Some(path) = &self.plot {
            let title = format!("{} on {}", signature.name(), self.target);
            files.push((path.clone(), plot(&title, &versions).into_bytes()));
        }
        files::write(&files)?;
        for (path, bytes) in &files {
            text += &format!("wrote {}, {} bytes\n", path.display(), bytes.len());
        }
        let paths = files.iter().map(|(path, _)| path.display().to_string());
        json["files"] = paths.collect::<Vec<_>>().into();
        Ok(Report::new(text, json))
    }

    /// How many devices were asked for.
    fn counted(&self) -> usize {
        let (replicas, partitions) = (self.replicas.unwrap_or(1), self.partitions.unwrap_or(1));
        replicas.saturating_mul(partitions)
    }

    fn options(&self) -> CompileOptions {
        let mut options = CompileOptions::new();
        if let Some(replicas) = self.replicas {
            options = options.replicas(replicas);
        }
        if let Some(partitions) = self.partitions {
            options = options.partitions(partitions);
        }
        options
    }
}

/// What donation is compared for.
struct Comparison<'a> {
    program: &'a Program,
    /// The same program, donating nothing.
    without: &'a Program,
    advice: &'a DonationAdvice,
    compiler: &'a Compiler,
    compiled: &'a Compiled,
    options: &'a CompileOptions,
}

impl Comparison<'_> {
    /// Puts the version that donates nothing first, and the one that donates all it can last,
    /// where they are others. Gives the inputs that the compiler doesn't let donate after all.
    fn compile(&self, versions: &mut Vec<Version>) -> Result<Vec<usize>, Failure> {
        if self.without.as_bytes() != self.program.as_bytes() {
            let compiled = self.compiler.compile(self.without, self.options);
            let compiled = compiled.map_err(|error| error.about("without its donations"))?;
            let version = Version {
                name: "without",
                title: "without donation",
                memory: compiled.memory_stats()?,
            };
            versions.insert(0, version);
        }
        if self.advice.candidates().is_empty() {
            return Ok(Vec::new());
        }
        let (advice, program) = (self.advice, self.program);
        let verified = self
            .compiler
            .verify(advice, program, self.compiled, self.options)?;
        versions.push(Version {
            name: "all_candidates",
            title: "all that could be",
            memory: verified.memory,
        });
        Ok(verified.refused)
    }
}

fn memory_table(versions: &[Version]) -> Vec<Vec<String>> {
    let titles = versions.iter().map(|version| version.title.to_owned());
    let mut table = vec![std::iter::once(String::new()).chain(titles).collect()];
    let columns: Vec<_> = versions
        .iter()
        .map(|version| describe::memory_rows(&version.memory))
        .collect();
    for row in 0..columns[0].len() {
        let cells = columns.iter().map(|column| match column[row].1 {
            Some(bytes) => bytes.to_string(),
            None => "not told".to_owned(),
        });
        table.push(
            std::iter::once(columns[0][row].0.to_owned())
                .chain(cells)
                .collect(),
        );
    }
    table
}

fn plot(title: &str, versions: &[Version]) -> String {
    let series: Vec<&str> = versions.iter().map(|version| version.title).collect();
    let columns: Vec<_> = versions
        .iter()
        .map(|version| describe::memory_rows(&version.memory))
        .collect();
    let groups = (0..columns[0].len()).map(|row| {
        let bars = columns.iter().map(|column| column[row].1).collect();
        (columns[0][row].0, bars)
    });
    let groups: Vec<_> = groups.filter(|(name, _)| *name != "code").collect();
    let title = format!("{title}: bytes on each device");
    Bars {
        title: &title,
        series: &series,
        groups: &groups,
    }
    .to_svg()
}
