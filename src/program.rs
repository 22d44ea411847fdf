//! Programs as the compiler takes them.

use std::fmt;
use std::path::Path;

use memchr::memmem;
use prost::Message;

use crate::collectives::Reach;
use crate::error::{Code, Error, Result};
use crate::plugin::{Plugin, StableHloVersion};
use crate::proto::{HloModuleProto, HloModuleProtoWithConfig};

/// The form in which a program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProgramFormat {
    /// StableHLO as text, as `jax.jit(f).lower(..).as_text()` gives it.
    StableHloText,
    /// StableHLO as MLIR bytecode, or as a portable artifact (bytecode of a stated
    /// StableHLO version, which later versions read).
    StableHloBytecode,
    /// An HLO module as protobuf (`HloModuleProto`).
    Hlo,
}

/// A program to be compiled: StableHLO as text or bytecode, or HLO as protobuf.
///
/// Checked as far as a look at it goes; the plugin's compiler does the rest.
///
/// ```
/// let program = xla::Program::from_text(
///     "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }",
/// )?;
/// assert_eq!(program.format(), xla::ProgramFormat::StableHloText);
/// # Ok::<(), xla::Error>(())
/// ```
#[derive(Clone)]
pub struct Program {
    format: ProgramFormat,
    /// With a NUL behind it, which is not counted: see `terminated`.
    code: Vec<u8>,
    /// Where it came from, for messages.
    origin: String,
    declared: Declared,
}

/// What a program says of the devices it was written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) replicas: Option<usize>,
    pub(crate) partitions: Option<usize>,
    /// Whether it states one replica and one partition, as JAX does of every program for one
    /// device, and nothing in it depends on how many there are.
    pub(crate) replicable: bool,
    pub(crate) shardy: bool,
    pub(crate) artifact: Option<StableHloVersion>,
    /// To whom its collectives speak.
    pub(crate) reach: Reach,
    /// Whether it has collectives that `reach` doesn't know of: bytecode isn't read so far.
    pub(crate) unread_collectives: bool,
    /// Whether it is partitioned, over a number of devices that isn't read.
    pub(crate) unread_shardings: bool,
}

/// What is in the name of every operation that knows of other devices.
const DEVICE_WORDS: [&str; 8] = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_",
    "cross-replica",
    "partition_id",
    "reduce_scatter",
    "replica_id",
];

/// What bytecode of a program over several devices speaks of, in either partitioner's words.
const SHARDINGS: [&[u8]; 4] = [
    b"sdy",
    b"mhlo.sharding",
    b"SPMDFullToShardShape",
    b"xla.sdy.",
];

/// How the names of collectives stand in bytecode, in StableHLO and in portable artifacts.
const COLLECTIVES: [&[u8]; 6] = [
    b"all_gather",
    b"all_reduce",
    b"all_to_all",
    b"collective_broadcast",
    b"collective_permute",
    b"reduce_scatter",
];

/// MLIR bytecode begins with these bytes.
const BYTECODE_MAGIC: &[u8] = b"ML\xefR";

impl Program {
    /// A StableHLO program as text.
    ///
    /// # Errors
    /// The text is empty or holds a NUL.
    pub fn from_text(text: impl Into<String>) -> Result<Program> {
        let text = text.into();
        let origin = match module_name(&text) {
            Some(name) => format!("the program `{name}`"),
            None => "the program text".to_owned(),
        };
        Program::text(text, origin)
    }

    /// A program in any of the three forms, told apart by how it begins.
    ///
    /// # Errors
    /// It is none of them; as the constructor of its form.
    pub fn from_bytes(code: impl Into<Vec<u8>>) -> Result<Program> {
        Program::detect(code.into(), "the program".to_owned())
    }

    /// A StableHLO program as MLIR bytecode or portable artifact.
    ///
    /// How many replicas and partitions it was written for isn't read from it: say so in the
    /// [`CompileOptions`](crate::CompileOptions). What speaks of shardings is refused otherwise.
    ///
    /// The compilers' reader of bytecode believes what it reads: damaged bytes can end the
    /// process. Take it from where you would take a plugin.
    ///
    /// # Errors
    /// The bytes don't begin as bytecode does, or end before its header does.
    pub fn from_bytecode(code: impl Into<Vec<u8>>) -> Result<Program> {
        Program::bytecode(code.into(), "the program".to_owned())
    }

    /// An HLO module as protobuf (`HloModuleProto`).
    ///
    /// # Errors
    /// The bytes are no such message; the module has no entry computation; it is a
    /// compiled one, with a schedule (compiling it again ends the process).
    pub fn from_hlo(code: impl Into<Vec<u8>>) -> Result<Program> {
        Program::hlo(code.into(), "the HLO program".to_owned())
    }

    /// Reads a program from a file, in any of the three forms.
    ///
    /// # Errors
    /// The file can't be read; as [`Program::from_bytes`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Program> {
        let path = path.as_ref();
        let code = std::fs::read(path).map_err(|error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => Code::NotFound,
                std::io::ErrorKind::PermissionDenied => Code::PermissionDenied,
                _ => Code::Unavailable,
            };
            Error::new(
                code,
                format!("can't read the program {}: {error}", path.display()),
            )
        })?;
        Program::detect(code, path.display().to_string())
    }

    fn detect(code: Vec<u8>, origin: String) -> Result<Program> {
        if code.starts_with(BYTECODE_MAGIC) {
            return Program::bytecode(code, origin);
        }
        match String::from_utf8(code) {
            // An HLO protobuf begins with its name, a field that is no text.
            Ok(text) if looks_like_text(&text) => Program::text(text, origin),
            Ok(text) => Program::hlo(text.into_bytes(), origin),
            Err(error) => Program::hlo(error.into_bytes(), origin),
        }
    }

    pub(crate) fn text(text: String, origin: String) -> Result<Program> {
        if text.trim().is_empty() {
            return Err(Error::invalid(format!("{origin} is empty")));
        }
        if let Some(at) = text.find('\0') {
            return Err(Error::invalid(format!(
                "{origin} holds a NUL at byte {at}: it is no StableHLO text"
            )));
        }
        let declared = Declared::of_text(&text);
        Ok(Program {
            format: ProgramFormat::StableHloText,
            code: terminated(text.into_bytes()),
            origin,
            declared,
        })
    }

    fn bytecode(code: Vec<u8>, origin: String) -> Result<Program> {
        if !code.starts_with(BYTECODE_MAGIC) {
            return Err(Error::invalid(format!(
                "{origin} is no MLIR bytecode: it begins with {:02x?}, not with {BYTECODE_MAGIC:02x?}",
                &code[..code.len().min(4)]
            )));
        }
        let declared = Declared::of_bytecode(&code);
        Ok(Program {
            format: ProgramFormat::StableHloBytecode,
            code: terminated(code),
            origin,
            declared,
        })
    }

    fn hlo(code: Vec<u8>, origin: String) -> Result<Program> {
        let module = HloModuleProto::decode(code.as_slice()).map_err(|error| {
            Error::invalid(format!(
                "{origin} is neither StableHLO text, nor MLIR bytecode, nor an HLO protobuf: {error}"
            ))
        })?;
        check_hlo(&module, &origin)?;
        Ok(Program {
            format: ProgramFormat::Hlo,
            code: terminated(code),
            origin,
            declared: Declared::of_hlo(&module),
        })
    }

    /// The same program, called `name` in messages.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Program {
        Program {
            origin: name.into(),
            ..self
        }
    }

    /// The form it is written in.
    pub fn format(&self) -> ProgramFormat {
        self.format
    }

    /// The program as the compiler gets it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.code[..self.code.len() - 1]
    }

    /// The program with a NUL behind it, as the fence takes it.
    pub(crate) fn terminated(&self) -> &[u8] {
        &self.code
    }

    /// The version of a portable artifact; `None` for other programs.
    pub fn artifact_version(&self) -> Option<StableHloVersion> {
        self.declared.artifact
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn declared(&self) -> Declared {
        self.declared
    }

    /// PJRT's name for the format.
    pub(crate) fn format_name(&self) -> &'static str {
        match self.format {
            ProgramFormat::StableHloText | ProgramFormat::StableHloBytecode => "mlir",
            ProgramFormat::Hlo => "hlo",
        }
    }

    /// Refuses an artifact of a version that the plugin doesn't read.
    pub(crate) fn check_version(&self, plugin: &Plugin) -> Result<()> {
        let (Some(version), Some((oldest, current))) =
            (self.declared.artifact, plugin.stablehlo_versions())
        else {
            return Ok(());
        };
        if (oldest..=current).contains(&version) {
            return Ok(());
        }
        Err(Error::new(
            Code::FailedPrecondition,
            format!(
                "{} is a portable artifact of StableHLO {version}, but this plugin reads {oldest} to \
                 {current}; export it for a version in that range, or take another plugin",
                self.origin
            ),
        ))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Program({:?}, {} bytes, {})",
            self.format,
            self.as_bytes().len(),
            self.origin
        )
    }
}

fn terminated(mut code: Vec<u8>) -> Vec<u8> {
    code.push(0);
    code
}

/// Whether a UTF-8 file is text: control characters don't occur in StableHLO, and
/// do in a protobuf.
fn looks_like_text(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

fn check_hlo(module: &HloModuleProto, origin: &str) -> Result<()> {
    if module.computations.is_empty() {
        return Err(Error::invalid(format!(
            "{origin} is no HLO module: it has no computations"
        )));
    }
    let entry = module.entry_computation_id;
    if !module
        .computations
        .iter()
        .any(|computation| computation.id == entry)
    {
        return Err(Error::invalid(format!(
            "{origin} is a damaged HLO module: its entry computation {entry} is not in it"
        )));
    }
    if module.schedule.is_some() {
        return Err(Error::invalid(format!(
            "{origin} is a compiled HLO module (it has a schedule); compiling it again would end \
             the process. Give the module as it was before compilation"
        )));
    }
    Ok(())
}

impl Declared {
    /// Reads the attributes that stand before the first function. What can't be
    /// read there is left open: the compiler has the last word.
    fn of_text(text: &str) -> Declared {
        let header = text.split("func.func").next().unwrap_or("");
        // The generic form has the attributes at the end, behind the module's region.
        let tail = text.rsplit("})").next().unwrap_or("");
        let header: String = [header, tail]
            .join("\n")
            .lines()
            .map(|line| line.split("//").next().unwrap_or(""))
            .collect::<Vec<_>>()
            .join("\n");
        let replicas = number_after(&header, "mhlo.num_replicas");
        let partitions = number_after(&header, "mhlo.num_partitions");
        let for_one = (replicas, partitions.unwrap_or(1)) == (Some(1), 1);
        Declared {
            replicas,
            partitions,
            replicable: for_one && !DEVICE_WORDS.iter().any(|word| text.contains(word)),
            shardy: text.contains("sdy."),
            artifact: None,
            reach: Reach::of_text(text),
            unread_collectives: false,
            unread_shardings: false,
        }
    }

    /// Bytecode begins with the magic, a version number and its producer as
    /// NUL-terminated text; a portable artifact's producer is `StableHLO_v1.2.3`.
    fn of_bytecode(code: &[u8]) -> Declared {
        let header = &code[..code.len().min(128)];
        let text = String::from_utf8_lossy(header);
        let artifact = text.split_once("StableHLO_v").and_then(|(_, rest)| {
            let version = rest.split('\0').next()?;
            let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
            Some(StableHloVersion {
                major: numbers.next()??,
                minor: numbers.next()??,
                patch: numbers.next()??,
            })
        });
        Declared {
            replicas: None,
            partitions: None,
            replicable: false,
            // Dialects are named in the string section.
            shardy: code
                .windows(4)
                .any(|window| window == b"sdy\0" || window == b"sdy."),
            artifact,
            reach: Reach::default(),
            unread_collectives: COLLECTIVES
                .iter()
                .any(|name| memmem::find(code, name).is_some()),
            unread_shardings: memmem::find(code, b"num_partitions").is_some()
                && SHARDINGS
                    .iter()
                    .any(|name| memmem::find(code, name).is_some()),
        }
    }

    fn of_hlo(module: &HloModuleProto) -> Declared {
        Declared {
            reach: Reach::of_module(module),
            ..Declared::default()
        }
    }
}

/// The name in `module @name`, for messages.
fn module_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("module @")?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "_.$-".contains(c)));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

/// The number in `key = 4 : i32`.
fn number_after(text: &str, key: &str) -> Option<usize> {
    let (_, rest) = text.split_once(key)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Reads a program as the compiler gave it back.
pub(crate) fn decode_optimized(code: &[u8], format: &str) -> Result<HloModuleProto> {
    let damaged = |error: prost::DecodeError| {
        Error::new(
            Code::Internal,
            format!("the compiled program can't be read: {error}"),
        )
    };
    match format {
        "hlo" => HloModuleProto::decode(code).map_err(damaged),
        "hlo_with_config" => HloModuleProtoWithConfig::decode(code)
            .map_err(damaged)?
            .hlo_module
            .ok_or_else(|| Error::new(Code::Internal, "the compiled program has no module")),
        other => Err(Error::new(
            Code::Unimplemented,
            format!("the plugin gives compiled programs as `{other}`, which this crate can't read"),
        )),
    }
}

/// The bytes of the module alone.
pub(crate) fn optimized_module(code: Vec<u8>, format: &str) -> Result<Vec<u8>> {
    /// Field by field the same in the protobuf's encoding, with the module left as it is.
    #[derive(Clone, PartialEq, Message)]
    struct Undecoded {
        #[prost(bytes = "vec", tag = "1")]
        hlo_module: Vec<u8>,
    }
    decode_optimized(&code, format)?;
    if format == "hlo" {
        return Ok(code);
    }
    let whole = Undecoded::decode(code.as_slice());
    whole
        .map(|whole| whole.hlo_module)
        .map_err(|error| Error::new(Code::Internal, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_devices_are_read_from_the_header_only() {
        let text = "// mhlo.num_partitions = 9\nmodule @jit_f attributes {mhlo.num_partitions = 4 \
                    : i32, mhlo.num_replicas = 2 : i32} { sdy.mesh @m = <[\"x\"=4]> func.func \
                    @main() attributes {mhlo.num_replicas = 7 : i32} }";
        let declared = Declared::of_text(text);
        assert_eq!(declared.replicas, Some(2));
        assert_eq!(declared.partitions, Some(4));
        assert!(declared.shardy);
        assert_eq!(
            Declared::of_text("func.func @main() {}"),
            Declared::default()
        );
    }

    #[test]
    fn forms_are_told_apart() {
        assert!(Program::from_bytes(*b"").is_err());
        assert!(Program::from_bytes(*b"\x00\x01\x02").is_err());
        assert!(Program::from_text(" \n").is_err());
        assert!(Program::from_bytecode(*b"func.func").is_err());
        let text = Program::from_bytes(*b"module {}").expect("text");
        assert_eq!(text.format(), ProgramFormat::StableHloText);
    }

    #[test]
    fn artifact_versions_are_read() {
        let mut code = BYTECODE_MAGIC.to_vec();
        code.extend_from_slice(b"\x0dStableHLO_v1.13.3\0rest");
        let program = Program::from_bytecode(code).expect("bytecode");
        let version = program.artifact_version().expect("an artifact");
        assert_eq!((version.major, version.minor, version.patch), (1, 13, 3));
    }
}
