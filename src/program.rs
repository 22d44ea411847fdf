//! Programs as the compiler takes them.

mod bytecode;
mod declared;
mod file;
mod optimized;
mod stated;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;

use crate::error::{Code, Error, Result};
use crate::hlo;
use crate::plugin::{Plugin, StableHloVersion};
use crate::signature::plural;

pub(crate) use self::declared::Declared;
pub(crate) use self::optimized::{optimized_module, read_optimized};

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
    /// With a NUL behind it, which is not counted: see `terminated`. Shared by copies of the
    /// program.
    code: Arc<Vec<u8>>,
    /// Where it came from, for messages.
    origin: String,
    declared: Declared,
}

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
    /// How many replicas and partitions it was written for is read from it where it is bytecode of
    /// the versions 1 to 6. Of others say so in the [`CompileOptions`](crate::CompileOptions): what
    /// speaks of shardings is refused otherwise.
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
    /// The bytes are no such message; the module has no entry computation, or numbers its
    /// instructions or computations absurdly high (compilers take all memory over that); it is a compiled one, with
    /// a schedule (compiling it again ends the process).
    pub fn from_hlo(code: impl Into<Vec<u8>>) -> Result<Program> {
        Program::hlo(code.into(), "the HLO program".to_owned())
    }

    /// Reads a program from a file, in any of the three forms.
    ///
    /// # Errors
    /// The file can't be read; as [`Program::from_bytes`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Program> {
        let path = path.as_ref();
        let code = file::read(path)?;
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
        let module = hlo::Module::read(&code).map_err(|damage| {
            let hint = if looks_exported(&code) {
                "; this may be `jax.export`'s own container, as `exported.serialize()` gives it: \
                 write `exported.mlir_module()` instead"
            } else {
                ""
            };
            Error::invalid(format!(
                "{origin} is neither StableHLO text, nor MLIR bytecode, nor an HLO protobuf: as the \
                 latter it has {damage}{hint}"
            ))
        })?;
        check_hlo(&module, &origin)?;
        let declared = Declared::of_hlo(&module, &code);
        Ok(Program {
            format: ProgramFormat::Hlo,
            code: terminated(code),
            origin,
            declared,
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

fn terminated(mut code: Vec<u8>) -> Arc<Vec<u8>> {
    // For one byte, and not for as many again.
    code.reserve_exact(1);
    code.push(0);
    Arc::new(code)
}

/// Whether a UTF-8 file is text: control characters don't occur in StableHLO, and
/// do in a protobuf.
fn looks_like_text(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// Whether this is a FlatBuffer with MLIR bytecode in it, which is what `jax.export` writes. One
/// begins with the place of its first table, which begins with the way back to its fields' list.
fn looks_exported(code: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes = code.get(at..at.checked_add(4)?)?;
        let word = u32::from_le_bytes(bytes.try_into().ok()?);
        usize::try_from(word).ok()
    };
    let list = word(0).and_then(|table| table.checked_sub(word(table)?));
    list.is_some_and(|list| list >= 4) && memmem::find(code, BYTECODE_MAGIC).is_some()
}

/// An id below which a compiler's table is small: it takes 40 bytes for each, and 0.6 us.
const SPARSE_ID: u64 = 1 << 24;

/// How many ids there may be to an instruction, or computation: those of what passes removed are left out.
const SPARSE: u64 = 256;

fn check_hlo(module: &hlo::Module<'_>, origin: &str) -> Result<()> {
    if module.computations == 0 {
        return Err(Error::invalid(format!(
            "{origin} is no HLO module: it has no computations"
        )));
    }
    if !module.has_entry {
        return Err(Error::invalid(format!(
            "{origin} is a damaged HLO module: its entry computation {} is not in it",
            module.entry
        )));
    }
    for (noun, id, count) in [
        ("instruction", module.largest_id.into(), module.instructions),
        (
            "computation",
            module.largest_computation_id,
            module.computations,
        ),
    ] {
        if id >= SPARSE_ID && id / SPARSE > count as u64 {
            return Err(Error::invalid(format!(
                "{origin} is a damaged HLO module: it has {}, but one has the id {id}. Compilers \
                 make tables as long as the largest id, which would take all memory",
                plural(count, noun)
            )));
        }
    }
    if module.has_schedule {
        return Err(Error::invalid(format!(
            "{origin} is a compiled HLO module (it has a schedule); compiling it again would end \
             the process. Give the module as it was before compilation"
        )));
    }
    Ok(())
}

/// The name in `module @name`, for messages.
fn module_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("module @")?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "_.$-".contains(c)));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_container_of_jax_is_told_as_such() {
        // As `exported.serialize()` of JAX 0.10.2 begins, and the bytecode in it.
        let mut code = b"<\0\0\08\0`\0^\0X\0T\0P\0L\0H\0\0\0@\0<\x008\x004\x000\0,\0(\0&\0 \0\0\0\0\0D\0\x1c\0\x18\0\x14\0\x10\0\x0c\0\x08\0\x04\08\0\0\0".to_vec();
        let hint = "write `exported.mlir_module()`";
        let refused = |code: &[u8]| {
            let error = Program::from_bytes(code).expect_err("no program");
            error.message().to_owned()
        };
        assert!(!refused(&code).contains(hint));
        code.extend_from_slice(b"ML\xefR\rStableHLO_v1.15.0\0rest");
        assert!(refused(&code).contains(hint));
        // Bytecode behind anything else isn't.
        assert!(!refused(&code[1..]).contains(hint));
        assert!(!refused(b"\0\0").contains(hint));
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
