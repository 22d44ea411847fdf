//! Failures: what an entry or an event answers on demand.

use pjrt_sys::PJRT_Error_Code;

/// A failure: what the plugin's error says and, for [`Fake::fail`](crate::Fake::fail), which call
/// it is for and how far that call gets first.
///
/// ```
/// use pjrt_fake::{Code, Failure};
///
/// let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room")
///     .payload("type.example/Room", *b"\x00\x01")
///     .on_call(2)
///     .with_handles();
/// # let _ = failure;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub(crate) code: PJRT_Error_Code,
    pub(crate) message: String,
    pub(crate) payloads: Vec<(String, Vec<u8>)>,
    pub(crate) when: When,
    pub(crate) with_handles: bool,
    /// The argument, and the device unless it is all of them.
    pub(crate) consumed: Vec<(usize, Option<usize>)>,
}

/// Which calls fail, counted from when the failure is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Nth(usize),
    Always,
}

/// What the body of an entry gives.
pub(crate) type Answer = Result<(), Failure>;

impl Failure {
    /// A failure of the next call, which does nothing else.
    pub fn new(code: PJRT_Error_Code, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            payloads: Vec::new(),
            when: When::Nth(1),
            with_handles: false,
            consumed: Vec::new(),
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(PJRT_Error_Code::INVALID_ARGUMENT, message)
    }

    /// Attaches a payload, which `PJRT_Error_ForEachPayload` shows.
    #[must_use]
    pub fn payload(mut self, key: impl Into<String>, value: impl Into<Vec<u8>>) -> Failure {
        self.payloads.push((key.into(), value.into()));
        self
    }

    /// The `n`-th call from now fails, once; 1 is the next. Others do as they would.
    #[must_use]
    pub fn on_call(mut self, n: usize) -> Failure {
        self.when = When::Nth(n);
        self
    }

    /// Every call fails from now on.
    #[must_use]
    pub fn always(mut self) -> Failure {
        self.when = When::Always;
        self
    }

    /// The failing call does its work first: it has handed out its buffers, events or executables,
    /// which are the caller's to destroy all the same.
    #[must_use]
    pub fn with_handles(mut self) -> Failure {
        self.with_handles = true;
        self
    }

    /// The failing `PJRT_LoadedExecutable_Execute` has consumed the arguments with these indices,
    /// on every device.
    #[must_use]
    pub fn consuming(mut self, arguments: &[usize]) -> Failure {
        let all = arguments.iter().map(|argument| (*argument, None));
        self.consumed.extend(all);
        self
    }

    /// As [`Failure::consuming`], on one device alone: the others have not come so far.
    #[must_use]
    pub fn consuming_on(mut self, device: usize, arguments: &[usize]) -> Failure {
        let own = arguments.iter().map(|argument| (*argument, Some(device)));
        self.consumed.extend(own);
        self
    }
}
