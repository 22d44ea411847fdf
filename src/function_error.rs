//! A typed call that was refused or failed.

use std::fmt;

use crate::buffer::Buffer;
use crate::call_error::{CallError, OUT_OF_STEP};
use crate::error::{Code, Error};
use crate::signature::plural;

/// Why a [`Function`](crate::Function)'s call gave no result, and what became of what was
/// given.
///
/// - A refused call gives everything back as it was: [`into_given`](Self::into_given).
/// - A call that failed inside the plugin gives back what it left intact, by path, and names
///   the rest: [`survivors`](Self::survivors), [`lost`](Self::lost).
///
/// Lent trees stayed with their owner all along. Converts into [`Error`] for `?`.
pub struct FunctionError<G>(Box<Repr<G>>);

struct Repr<G> {
    error: Error,
    given: Option<G>,
    survivors: Vec<Survivor>,
    lost: Vec<LostLeaf>,
    out_of_step: bool,
}

/// A buffer that is left of a failed call.
#[derive(Debug)]
pub struct Survivor {
    /// The path of the argument, such as `state.weights`; an output's number where the results
    /// could not be built.
    pub path: String,
    /// The position of its device in [`Executable::devices`](crate::Executable::devices).
    pub device: usize,
    /// The buffer, as it was.
    pub buffer: Buffer,
}

/// A given buffer that a failed call consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLeaf {
    /// The path of the argument, such as `state.weights`.
    pub path: String,
    /// The position of its device in [`Executable::devices`](crate::Executable::devices).
    pub device: usize,
}

impl<G> FunctionError<G> {
    pub(crate) fn refused(error: Error, given: G) -> Self {
        FunctionError(Box::new(Repr {
            error,
            given: Some(given),
            survivors: Vec::new(),
            lost: Vec::new(),
            out_of_step: false,
        }))
    }

    /// The untyped call failed; `paths` names its arguments.
    pub(crate) fn failed(error: CallError, paths: &[String]) -> Self {
        let path = |argument: usize| match paths.get(argument) {
            Some(path) => path.clone(),
            None => format!("argument {argument}"),
        };
        let lost = error.lost().iter().map(|lost| LostLeaf {
            path: path(lost.argument),
            device: lost.device,
        });
        let lost = lost.collect();
        let out_of_step = error.may_be_out_of_step();
        let (error, given) = error.into_parts();
        let survivors = given.into_iter();
        FunctionError(Box::new(Repr {
            error,
            given: None,
            survivors: survivors
                .map(|given| Survivor {
                    path: path(given.argument),
                    device: given.device,
                    buffer: given.buffer,
                })
                .collect(),
            lost,
            out_of_step,
        }))
    }

    /// The run was started, but its outputs don't make the results. What is left of them, and
    /// the paths of what was given.
    pub(crate) fn unbuilt(error: Error, left: Vec<Survivor>, lost: Vec<LostLeaf>) -> Self {
        FunctionError(Box::new(Repr {
            error,
            given: None,
            survivors: left,
            lost,
            out_of_step: false,
        }))
    }

    /// What went wrong.
    pub fn error(&self) -> &Error {
        &self.0.error
    }

    /// What kind of failure it is.
    pub fn code(&self) -> Code {
        self.0.error.code()
    }

    /// Whether the call was refused before the trees were taken apart, so that they came
    /// back as they were.
    pub fn is_refusal(&self) -> bool {
        self.0.given.is_some()
    }

    /// The given trees, as they were, when the call was refused: a tuple with a place for each
    /// parameter, which is `()` for what was lent.
    pub fn into_given(self) -> Option<G> {
        self.0.given
    }

    /// The failure, and the given trees when the call was refused: to put them back and pass
    /// the failure on.
    pub fn into_parts(self) -> (Error, Option<G>) {
        (self.0.error, self.0.given)
    }

    /// Whether the plugin failed at a launch on several devices: see
    /// [`CallError::may_be_out_of_step`].
    pub fn may_be_out_of_step(&self) -> bool {
        self.0.out_of_step
    }

    /// The given buffers that a failed call left intact, device by device.
    pub fn survivors(&self) -> &[Survivor] {
        &self.0.survivors
    }

    /// The same by value.
    pub fn into_survivors(self) -> Vec<Survivor> {
        self.0.survivors
    }

    /// The given buffers that a failed call consumed, device by device.
    pub fn lost(&self) -> &[LostLeaf] {
        &self.0.lost
    }
}

impl<G> From<FunctionError<G>> for Error {
    fn from(error: FunctionError<G>) -> Error {
        error.0.error
    }
}

impl<G> fmt::Display for FunctionError<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr {
            error,
            survivors,
            lost,
            given,
            out_of_step,
        } = &*self.0;
        write!(f, "{error}")?;
        if given.is_some() {
            f.write_str("; what was given comes back with this error")?;
        }
        if !survivors.is_empty() {
            let verb = if survivors.len() == 1 {
                "survives"
            } else {
                "survive"
            };
            write!(f, "; {} {verb}", plural(survivors.len(), "buffer"))?;
        }
        if !lost.is_empty() {
            f.write_str("; consumed all the same:")?;
            let several = *out_of_step || lost.iter().any(|lost| lost.device > 0);
            for (index, LostLeaf { path, device }) in lost.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(f, "{comma} {path}")?;
                if several {
                    write!(f, " on device {device}")?;
                }
            }
        }
        if *out_of_step {
            f.write_str(OUT_OF_STEP)?;
        }
        Ok(())
    }
}

impl<G> fmt::Debug for FunctionError<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<G> std::error::Error for FunctionError<G> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0.error)
    }
}
