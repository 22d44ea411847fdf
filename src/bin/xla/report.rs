//! What a command has to say, as text or as JSON.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{json, Map, Value};
use xla::{CallError, Error};

use crate::worker;

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
        let code = u8::from(!self.right);
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
    death: Option<Death>,
    /// The status code of PJRT, where the library or a plugin gave one.
    code: Option<&'static str>,
    message: String,
}

impl Failure {
    /// The command line is wrong, whatever program and plugin there are.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure {
            is_usage: true,
            death: None,
            code: None,
            message: message.into(),
        }
    }

    /// What was asked for can't be done.
    pub(crate) fn refused(message: impl Into<String>) -> Failure {
        Failure {
            is_usage: false,
            death: None,
            code: None,
            message: message.into(),
        }
    }

    /// The process that a plugin was loaded in is gone.
    pub(crate) fn died(death: Death) -> Failure {
        let message = format!("{death}; what the plugin said of it stands on stderr");
        Failure {
            death: Some(death),
            ..Failure::refused(message)
        }
    }

    /// The same failure with what it is about put before it.
    pub(crate) fn about(mut self, what: impl fmt::Display) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The same failure with what helps put behind it.
    pub(crate) fn with_way_out(mut self, way_out: &str) -> Failure {
        self.message += &format!("\n{way_out}");
        self
    }

    pub(crate) fn show(&self, as_json: bool) -> ExitCode {
        let code = if self.is_usage { 2 } else { 1 };
        // Those of the parser begin with the word.
        let message = self.message.trim_start_matches("error: ");
        eprintln!("error: {message}");
        if !as_json {
            return print("", code);
        }
        let kind = match (self.is_usage, &self.death) {
            (true, _) => "usage",
            (_, None) => "refused",
            (_, Some(_)) => "died",
        };
        let mut json = json!({"kind": kind, "code": self.code, "message": message});
        if let Some(death) = &self.death {
            json["signal"] = death.signal.into();
            json["exit_code"] = death.exit_code.into();
            json["doing"] = death.doing.as_str().into();
        }
        print(&format!("{}\n", json!({ "error": json })), code)
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
            death: None,
            code: Some(error.code().name()),
            message: match error.function() {
                Some(function) => format!("{} [{function}]", error.message().trim_end()),
                None => error.message().to_owned(),
            },
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Failure {
        Failure {
            is_usage: false,
            death: None,
            code: Some(error.code().name()),
            message: error.to_string(),
        }
    }
}

/// How the process that a plugin was loaded in ended without an answer.
#[derive(Clone, Debug)]
pub(crate) struct Death {
    pub(crate) signal: Option<i32>,
    pub(crate) exit_code: Option<i32>,
    /// What it did, to follow the word "while"; empty where it didn't say.
    pub(crate) doing: String,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process that loads the plugin ")?;
        match (self.signal, self.exit_code) {
            (Some(signal), _) => match signal_name(signal) {
                Some(name) => write!(f, "was ended by {name} (signal {signal})")?,
                None => write!(f, "was ended by signal {signal}")?,
            },
            (None, Some(code)) => write!(f, "left with exit code {code}")?,
            (None, None) => f.write_str("is gone")?,
        }
        match self.doing.as_str() {
            "" => f.write_str(" before it did anything"),
            doing => write!(f, " while {doing}"),
        }
    }
}

/// What a signal is called, and what it mostly means.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        2 => "SIGINT",
        4 => "SIGILL, an instruction that this processor lacks",
        5 => "SIGTRAP",
        6 => "SIGABRT, a check that failed",
        8 => "SIGFPE, such as a division by zero",
        9 => "SIGKILL, as where memory runs out",
        11 => "SIGSEGV, a fault of memory",
        15 => "SIGTERM",
        7 if cfg!(target_os = "linux") => "SIGBUS, a fault of memory",
        10 if cfg!(target_vendor = "apple") => "SIGBUS, a fault of memory",
        _ => return None,
    })
}

/// Writes to stdout, or to the process that watches over this one.
pub(crate) fn print(text: &str, code: u8) -> ExitCode {
    worker::end(text, code).unwrap_or_else(|| print_bytes(text.as_bytes(), ExitCode::from(code)))
}

/// Writes to stdout. A reader that went away, such as `head`, is no failure.
pub(crate) fn print_bytes(text: &[u8], code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
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
