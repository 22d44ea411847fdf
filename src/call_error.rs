//! A call that was refused or failed, with what was given to it.

use std::fmt;

use crate::buffer::Buffer;
use crate::error::{Code, Error};
use crate::signature::plural;

/// Why a run did not start, and the buffers that were given to it.
///
/// A call refused by this crate gives back every given buffer. A call that failed
/// inside the plugin gives back those that it left intact and names the others. Lent
/// buffers stayed with their owner all along.
///
/// Converts into [`Error`] for `?`; the buffers are dropped then.
pub struct CallError(Box<Repr>);

struct Repr {
    error: Error,
    given: Vec<GivenBack>,
    lost: Vec<Lost>,
    out_of_step: bool,
}

/// A buffer that was given to a call and came back.
#[derive(Debug)]
pub struct GivenBack {
    /// Its place in the argument list.
    pub argument: usize,
    /// The position of its device in [`Executable::devices`](crate::Executable::devices).
    pub device: usize,
    /// The buffer, as it was.
    pub buffer: Buffer,
}

/// A buffer that was given to a call and consumed, although the call failed.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Its place in the argument list.
    pub argument: usize,
    /// The position of its device in [`Executable::devices`](crate::Executable::devices).
    pub device: usize,
    /// What the argument is called.
    pub name: String,
}

impl CallError {
    pub(crate) fn new(error: Error, given: Vec<GivenBack>, lost: Vec<Lost>) -> CallError {
        CallError(Box::new(Repr {
            error,
            given,
            lost,
            out_of_step: false,
        }))
    }

    /// The plugin failed at a launch on several devices.
    pub(crate) fn out_of_step(mut self) -> CallError {
        self.0.out_of_step = true;
        self
    }

    /// What went wrong.
    pub fn error(&self) -> &Error {
        &self.0.error
    }

    /// What kind of failure it is.
    pub fn code(&self) -> Code {
        self.0.error.code()
    }

    /// Whether the plugin failed at a launch on several devices, so that some of them may
    /// have run the program and others not: replicas may have become different. Restore
    /// them from one state. Of a refused call this is `false`: no device has run it.
    pub fn may_be_out_of_step(&self) -> bool {
        self.0.out_of_step
    }

    /// The given buffers that are intact, device by device, in argument order.
    pub fn given(&self) -> &[GivenBack] {
        &self.0.given
    }

    /// The given buffers that the failed call consumed all the same.
    pub fn lost(&self) -> &[Lost] {
        &self.0.lost
    }

    /// The given buffers that are intact, by value.
    pub fn into_given(self) -> Vec<GivenBack> {
        self.0.given
    }

    /// The failure and the given buffers, by value.
    pub fn into_parts(self) -> (Error, Vec<GivenBack>) {
        (self.0.error, self.0.given)
    }
}

/// What the message of a launch that failed on several devices ends with.
pub(crate) const OUT_OF_STEP: &str =
    "; some devices may have run it and others not: restore them from one state";

impl From<CallError> for Error {
    fn from(error: CallError) -> Error {
        error.0.error
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr {
            error,
            given,
            lost,
            out_of_step,
        } = &*self.0;
        write!(f, "{error}")?;
        if !given.is_empty() {
            let verb = if given.len() == 1 { "comes" } else { "come" };
            let buffers = plural(given.len(), "given buffer");
            write!(f, "; {buffers} {verb} back with this error")?;
        }
        if !lost.is_empty() {
            write!(f, "; consumed all the same:")?;
            for (index, lost) in lost.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(f, "{comma} {} on device {}", lost.name, lost.device)?;
            }
        }
        if *out_of_step {
            f.write_str(OUT_OF_STEP)?;
        }
        Ok(())
    }
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.error)
    }
}
