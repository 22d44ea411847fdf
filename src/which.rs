//! Which input of a program is meant.

use crate::brief::brief;
use crate::error::{Error, Result};
use crate::leaf_order::keys;
use crate::signature::{plural, Signature};

/// An input of a program, by its number or by its name: what [`Executable::place`] takes.
///
/// A name is the path of a leaf as messages have it (`params.w1`, `state.opt.mu["w"]`), or of
/// what leaves are in (`params`), which stands for all of them. How keys are written doesn't
/// matter: JAX's `state['opt'].mu` is `state.opt.mu`. Programs that name their inputs have names
/// ([`Input::name`](crate::Input::name)), as those that JAX exports with their locations.
///
/// [`Executable::place`]: crate::Executable::place
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Which<'n> {
    /// Counted from 0.
    Number(usize),
    /// The name of an input, or the beginning of several.
    Name(&'n str),
}

impl From<usize> for Which<'static> {
    fn from(number: usize) -> Which<'static> {
        Which::Number(number)
    }
}

impl<'n> From<&'n str> for Which<'n> {
    fn from(name: &'n str) -> Which<'n> {
        Which::Name(name)
    }
}

impl<'n> From<&'n String> for Which<'n> {
    fn from(name: &'n String) -> Which<'n> {
        Which::Name(name)
    }
}

/// How many names a message lists.
const LISTED: usize = 16;

impl Which<'_> {
    /// The number of the first input that is meant, by a tree of so many leaves.
    pub(crate) fn first_input(self, signature: &Signature, leaves: usize) -> Result<usize> {
        let name = match self {
            Which::Number(number) => return Ok(number),
            Which::Name(name) => name,
        };
        let wanted = keys(name);
        let inputs = signature.inputs().iter().map(|input| input.name());
        let meant =
            |input: Option<&str>| input.is_some_and(|input| keys(input).starts_with(&wanted));
        let numbers = inputs.enumerate().filter(|(_, input)| meant(*input));
        let numbers: Vec<usize> = numbers.map(|(number, _)| number).collect();
        let Some(first) = numbers.first().filter(|_| !wanted.is_empty()) else {
            return Err(unknown(signature, name));
        };
        let together = numbers.iter().copied().eq(*first..*first + numbers.len());
        if leaves != numbers.len() || !together {
            let known = numbers
                .iter()
                .filter_map(|at| signature.inputs()[*at].name());
            return Err(Error::invalid(format!(
                "{} for `{name}` of `{}`, but that is {}: {}; say the number of the first input to go \
                 by",
                plural(leaves, "array"),
                signature.name(),
                plural(numbers.len(), "input"),
                listed(known)
            )));
        }
        Ok(*first)
    }
}

fn unknown(signature: &Signature, name: &str) -> Error {
    let names = signature.inputs().iter().filter_map(|input| input.name());
    let known = match listed(names) {
        none if none.is_empty() => "names none of its inputs; say the number".to_owned(),
        known => format!("has no input `{}`; it has {known}", brief(name)),
    };
    Error::invalid(format!("`{}` {known}", signature.name()))
}

/// Names with commas between them, as many as can be taken in.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(LISTED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", names[..LISTED].join(", ")),
        None => names.join(", "),
    }
}
