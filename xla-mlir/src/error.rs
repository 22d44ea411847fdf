//! What is wrong with a text, and where.

use std::fmt;

/// Why a program can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line and column, from 1; `None` where the file as a whole is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and mostly what to do.
    pub message: String,
}

impl Error {
    /// About a place, given as a byte's index.
    pub(crate) fn at(text: &str, byte: usize, message: impl Into<String>) -> Error {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Error {
            place: Some((line, column)),
            message: message.into(),
        }
    }

    /// About the whole file.
    pub(crate) fn whole(message: impl Into<String>) -> Error {
        Error {
            place: None,
            message: message.into(),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&self.message)
    }
}
