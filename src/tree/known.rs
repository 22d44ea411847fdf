//! What the arguments of a call tell of its results.

use std::any::TypeId;

use super::{Structure, Tree};
use crate::error::{Code, Error, Result};

/// The structures of a call's arguments, by type: a result of an argument's type is built
/// like it.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    arguments: &'k [(TypeId, Structure)],
}

impl<'k> Known<'k> {
    pub(crate) fn new(arguments: &'k [(TypeId, Structure)]) -> Known<'k> {
        Known { arguments }
    }

    /// The structure of the arguments of type `T`; `None` when there are none.
    ///
    /// # Errors
    /// There are several, and they differ.
    pub fn find<T: Tree>(&self) -> Result<Option<Structure>> {
        let mut same = self
            .arguments
            .iter()
            .filter(|(of, _)| *of == TypeId::of::<T>());
        match same.next() {
            None => Ok(None),
            Some((_, first)) if same.all(|(_, other)| other == first) => Ok(Some(first.clone())),
            Some(_) => Err(unknown::<T>(
                "the arguments of that type are built differently",
            )),
        }
    }

    /// The structure of the arguments of type `T`.
    ///
    /// # Errors
    /// There are none, or several that differ.
    pub fn of<T: Tree>(&self) -> Result<Structure> {
        let found = self.find::<T>()?;
        found.ok_or_else(|| unknown::<T>("no argument has that type"))
    }
}

/// A type's name without the modules that lead to it, which are nobody's business.
pub(crate) fn type_name<T>() -> String {
    let whole = std::any::type_name::<T>();
    let mut short = String::with_capacity(whole.len());
    for part in whole.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        let end = part.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
        let last = end.rsplit("::").next().unwrap_or(end);
        short.push_str(last);
        short.push_str(&part[end.len()..]);
    }
    short
}

fn unknown<T>(why: &str) -> Error {
    Error::new(
        Code::FailedPrecondition,
        format!(
            "how a result of type `{}` is built is known at run time only, and {why}; give it with \
             `results_like`",
            type_name::<T>()
        ),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_without_modules() {
        let name = super::type_name::<(Vec<crate::Buffer>, [Option<crate::Buffer>; 2])>();
        assert_eq!(name, "(Vec<Buffer>, [Option<Buffer>; 2])");
        assert_eq!(super::type_name::<u8>(), "u8");
    }
}
