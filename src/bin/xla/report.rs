//! What a command has to say, as text or as JSON.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{json, Map, Value};
use xla::{CallError, Error};

/// What a command found.
pub(crate) struct Report {
    /// For people; ends with a line break.
    pub(crate) text: String,
    /// For programs.
    pub(crate) json: Map<String, Value>,
    /// Whether all is right: the exit code is 0 then, else 1.
    pub(crate) right: bool,
}

impl Report {
    /// A report of which all is right. `json` is an object.
    pub(crate) fn new(text: String, json: Value) -> Report {
        let json = match json {
            Value::Object(fields) => fields,
            other => Map::from_iter([("result".to_owned(), other)]),
        };
        Report {
            text,
            json,
            right: true,
        }
    }

    pub(crate) fn show(self, as_json: bool) -> ExitCode {
        let code = ExitCode::from(u8::from(!self.right));
        match as_json {
            true => print(&format!("{}\n", Value::Object(self.json)), code),
            false => print(&self.text, code),
        }
    }
}

/// Why a command did nothing, or not all of it.
#[derive(Debug)]
pub(crate) struct Failure {
    is_usage: bool,
    /// The status code of PJRT, where the library or a plugin gave one.
    code: Option<&'static str>,
    message: String,
}

impl Failure {
    /// The command line is wrong, whatever program and plugin there are.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure {
            is_usage: true,
            code: None,
            message: message.into(),
        }
    }

    /// What was asked for can't be done.
    pub(crate) fn refused(message: impl Into<String>) -> Failure {
        Failure {
            is_usage: false,
            code: None,
            message: message.into(),
        }
    }

    /// The same failure with what it is about put before it.
    pub(crate) fn about(mut self, what: impl fmt::Display) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self
    }

    pub(crate) fn show(&self, as_json: bool) -> ExitCode {
        let code = ExitCode::from(if self.is_usage { 2 } else { 1 });
        // Those of the parser begin with the word.
        let message = self.message.trim_start_matches("error: ");
        eprintln!("error: {message}");
        if !as_json {
            return code;
        }
        let kind = if self.is_usage { "usage" } else { "refused" };
        let json = json!({"error": {"kind": kind, "code": self.code, "message": message}});
        print(&format!("{json}\n"), code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure {
            is_usage: false,
            code: Some(error.code().name()),
            message: match error.function() {
                Some(function) => format!("{} [{function}]", error.message()),
                None => error.message().to_owned(),
            },
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        Failure {
            is_usage: false,
            code: Some(error.code().name()),
            message: error.to_string(),
        }
    }
}

/// Writes to stdout. A reader that went away, such as `head`, is no failure.
pub(crate) fn print(text: &str, code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            eprintln!("error: writing to stdout: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A table whose columns are as wide as their widest cell; the first is set to the left, the
/// others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let length = cell.chars().count();
            match widths.get_mut(column) {
                Some(width) => *width = length.max(*width),
                None => widths.push(length),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => line += &format!("{cell:<width$}"),
                _ => line += &format!("  {cell:>width$}"),
            }
        }
        text += &format!("  {}\n", line.trim_end());
    }
    text
}
