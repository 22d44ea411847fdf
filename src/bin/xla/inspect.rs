//! `xla inspect`.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{json, Value};
use xla::{ExecutableHeader, Program, ProgramFormat, Signature};

use crate::describe;
use crate::plugin_choice::{begins_as_kept, read_kept, read_program, Placement};
use crate::report::{table, Failure, Report};

/// Options of `xla inspect`.
#[derive(clap::Args)]
pub(crate) struct Inspect {
    /// StableHLO (text, bytecode or portable artifact), an HLO protobuf, or a compiled program
    /// that was kept, which needs no plugin
    program: PathBuf,
    #[command(flatten)]
    placement: Placement,
    /// Compile the program, which tells its memory, also one of more than 32 MiB
    #[arg(long)]
    compile: bool,
    /// Tell what the program says of itself, which needs no plugin and hardly more memory than the
    /// file's size
    #[arg(
        long,
        conflicts_with_all = ["compile", "plugin", "devices", "replicas", "partitions"]
    )]
    no_compile: bool,
    /// Print a picture of what is donated into what, instead
    #[arg(long, value_name = "LANGUAGE")]
    diagram: Option<Diagram>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Diagram {
    Mermaid,
    Dot,
}

impl Diagram {
    fn of(self, signature: &Signature) -> String {
        match self {
            Diagram::Mermaid => signature.to_mermaid(),
            Diagram::Dot => signature.to_dot(),
        }
    }
}

/// What is larger isn't compiled unasked: that takes minutes, and many times its size in memory.
const LARGE: usize = 32 << 20;

impl Inspect {
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        if begins_as_kept(&self.program) {
            return Ok(self.kept(&read_kept(&self.program)?));
        }
        let program = read_program(&self.program)?;
        if self.no_compile {
            return self.stated(&program, "`--no-compile` asks for");
        }
        let size = program.as_bytes().len();
        // Of bytecode nothing is known without.
        let is_read = program.format() != ProgramFormat::StableHloBytecode;
        if size > LARGE && is_read && !self.compile && !self.placement.is_chosen() {
            let why = format!("it has {size} bytes, and compiling so much can take minutes");
            return self.stated(&program, &why);
        }
        self.compiled(&program)
    }

    /// What the program says of itself, and what is left out.
    fn stated(&self, program: &Program, why: &str) -> Result<Report, Failure> {
        let signature = program.signature()?;
        let mut report = self.of_signature(&signature);
        let mut add = |name: &str, value| report.json.insert(name.to_owned(), value);
        // Sizes are those over all partitions: which fit isn't known.
        let fits_are_known = signature.partitions() == 1;
        let left_out = match fits_are_known {
            true => "memory isn't told",
            false => "memory, shapes on each device and advice aren't told",
        };
        let left_out = format!("not compiled, as {why}: {left_out}; `--compile` tells");
        add("left_out", left_out.as_str().into());
        if fits_are_known {
            let advice = signature.donation_advice();
            add("advice", describe::advice(&advice));
            if self.diagram.is_none() {
                report.text += &format!("advice for {advice}");
            }
        }
        if self.diagram.is_none() {
            report.text += &format!("{left_out}\n");
        }
        Ok(report)
    }

    fn compiled(&self, program: &Program) -> Result<Report, Failure> {
        let client = self.placement.client()?;
        let executable = client.compile(program, &self.placement.options(&client)?)?;
        let mut report = self.of_signature(executable.signature());
        let (memory, text) = match executable.memory_stats() {
            Ok(stats) => {
                let rows = describe::memory_rows(&stats).map(|(name, bytes)| {
                    let bytes = bytes.map_or("not told".to_owned(), |bytes| bytes.to_string());
                    vec![name.to_owned(), bytes]
                });
                (describe::memory(&stats), table(&rows))
            }
            Err(error) => {
                let told = format!("  not told: {}\n", error.message());
                (json!({ "error": describe::error(&error) }), told)
            }
        };
        let mut add = |name: &str, value| report.json.insert(name.to_owned(), value);
        add("platform", client.platform_name().into());
        add("memory", memory);
        add("advice", describe::advice(&executable.donation_advice()));
        if self.diagram.is_none() {
            report.text += &format!("memory on each device, in bytes\n{text}");
            report.text += &format!("advice for {}", executable.donation_advice());
        }
        Ok(report)
    }

    fn of_signature(&self, signature: &Signature) -> Report {
        let diagram = self.diagram.map(|diagram| diagram.of(signature));
        let mut json = describe::signature(signature);
        if let (Some(diagram), Value::Object(fields)) = (&diagram, &mut json) {
            fields.insert("diagram".to_owned(), diagram.as_str().into());
        }
        Report::new(diagram.unwrap_or_else(|| signature.to_string()), json)
    }

    /// A compiled program: its header says all of it.
    fn kept(&self, header: &ExecutableHeader) -> Report {
        let mut report = self.of_signature(header.signature());
        let (major, minor) = header.api_version();
        let kept = json!({
            "platform": header.platform_name(),
            "platform_version": header.platform_version(),
            "api": format!("{major}.{minor}"),
            "device_ids": header.device_ids(),
            "bytes": header.payload_bytes(),
        });
        report.json.insert("kept".to_owned(), kept);
        if self.diagram.is_none() {
            report.text += &format!(
                "compiled for {} by a plugin of API {major}.{minor}; {} bytes\n",
                header.platform_name(),
                header.payload_bytes()
            );
        }
        report
    }
}
