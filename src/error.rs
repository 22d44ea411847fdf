//! The one error type.

use std::fmt;
use std::sync::Arc;

/// What kind of failure an [`Error`] is: the status codes of PJRT
/// (`PJRT_Error_Code`), which refusals of this crate use too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The work was cancelled, usually because something it needed failed.
    Cancelled,
    /// The plugin gave no kind.
    Unknown,
    /// An argument is wrong, whatever the state of the system.
    InvalidArgument,
    /// Time ran out before the work was done.
    DeadlineExceeded,
    /// A named thing (file, device, plugin) does not exist.
    NotFound,
    /// The thing to be made is there already.
    AlreadyExists,
    /// The caller may not do this.
    PermissionDenied,
    /// Memory or another resource is used up.
    ResourceExhausted,
    /// The system is not in a state in which this can be done.
    FailedPrecondition,
    /// The work was stopped by a conflict.
    Aborted,
    /// An index or a value lies outside its range.
    OutOfRange,
    /// The plugin has no such function, or refuses this use of it.
    Unimplemented,
    /// Something that must hold inside the plugin or this crate does not.
    Internal,
    /// The service or the device can't be reached now.
    Unavailable,
    /// Data is damaged.
    DataLoss,
    /// The caller is not known.
    Unauthenticated,
}

impl Code {
    /// The code's name as PJRT spells it, such as `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        match self {
            Code::Cancelled => "CANCELLED",
            Code::Unknown => "UNKNOWN",
            Code::InvalidArgument => "INVALID_ARGUMENT",
            Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Code::NotFound => "NOT_FOUND",
            Code::AlreadyExists => "ALREADY_EXISTS",
            Code::PermissionDenied => "PERMISSION_DENIED",
            Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Code::FailedPrecondition => "FAILED_PRECONDITION",
            Code::Aborted => "ABORTED",
            Code::OutOfRange => "OUT_OF_RANGE",
            Code::Unimplemented => "UNIMPLEMENTED",
            Code::Internal => "INTERNAL",
            Code::Unavailable => "UNAVAILABLE",
            Code::DataLoss => "DATA_LOSS",
            Code::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure: a refusal of this crate before the plugin was asked, or what the
/// plugin answered.
///
/// One word wide, cheap to clone, `Send + Sync + 'static`.
#[derive(Clone)]
pub struct Error(Arc<Repr>);

#[derive(Clone)]
struct Repr {
    code: Code,
    message: String,
    function: Option<&'static str>,
    payloads: Vec<(String, Vec<u8>)>,
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A refusal of this crate.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Arc::new(Repr {
            code,
            message: message.into(),
            function: None,
            payloads: Vec::new(),
        }))
    }

    /// A failure that the plugin reported from `function`.
    pub(crate) fn from_plugin(
        function: &'static str,
        code: Code,
        message: String,
        payloads: Vec<(String, Vec<u8>)>,
    ) -> Self {
        Error(Arc::new(Repr {
            code,
            message,
            function: Some(function),
            payloads,
        }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Error::new(Code::InvalidArgument, message)
    }

    /// The same failure with what was being done put before the message.
    pub(crate) fn context(mut self, doing: impl fmt::Display) -> Self {
        let repr = Arc::make_mut(&mut self.0);
        repr.message = format!("{doing}: {}", repr.message);
        self
    }

    /// What kind of failure it is.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What went wrong, in a sentence or more.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The PJRT function that reported the failure; `None` where this crate
    /// refused before the plugin was asked.
    pub fn function(&self) -> Option<&'static str> {
        self.0.function
    }

    /// What the plugin attached to the failure: pairs of a type URL and bytes
    /// (`PJRT_Error_ForEachPayload`; empty below API 0.114).
    pub fn payloads(&self) -> &[(String, Vec<u8>)] {
        &self.0.payloads
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)?;
        match self.0.function {
            Some(function) => write!(f, " [{function}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `fn main() -> Result<(), xla::Error>` prints this: a sentence, not a struct.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
