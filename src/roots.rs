//! What the leaves of a typed program's arguments are called in messages.

use std::any::TypeId;

use crate::error::Result;
use crate::leaf_order;
use crate::signature::{Donation, Input, Output, Signature};
use crate::tree::Structure;

/// The names of the parameters; those that have none are `#0`, `#1` and so on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Roots(pub(crate) &'static [&'static str]);

/// Arguments: the type of each tree, and how it is built.
pub(crate) type Structures = [(TypeId, Structure)];

impl Roots {
    /// The name of a parameter.
    pub(crate) fn name(self, parameter: usize) -> String {
        match self.0.get(parameter) {
            Some(name) => (*name).to_owned(),
            None => format!("#{parameter}"),
        }
    }

    /// The path of each leaf, as `state.weights`.
    pub(crate) fn paths(self, structures: &Structures) -> Vec<String> {
        let arguments = structures.iter().enumerate();
        arguments
            .flat_map(|(index, (_, built))| built.paths(&self.name(index)))
            .collect()
    }

    /// What a leaf is called. A tree written by hand may tell of fewer than it has.
    pub(crate) fn leaf_name(
        self,
        signature: &Signature,
        structures: &Structures,
        index: usize,
    ) -> String {
        let path = self.paths(structures).into_iter().nth(index);
        path.unwrap_or_else(|| signature.describe_input(index))
    }

    /// How many leaves each argument has, for a message.
    pub(crate) fn leaf_table(self, structures: &Structures) -> String {
        let arguments = structures.iter().enumerate();
        let counts = arguments
            .map(|(index, (_, built))| format!("{}: {}", self.name(index), built.leaf_count()));
        match counts.collect::<Vec<_>>() {
            counts if counts.is_empty() => String::new(),
            counts => format!(" ({})", counts.join(", ")),
        }
    }
}

impl Roots {
    /// What a program may lack of trees that have more leaves than it takes, for a message.
    pub(crate) fn left_out(self, signature: &Signature, structures: &Structures) -> String {
        let leaves = structures.iter().map(|(_, built)| built.leaf_count());
        let inputs = signature.inputs();
        if leaves.sum::<usize>() <= inputs.len() {
            return String::new();
        }
        let names: Vec<Option<&str>> = inputs.iter().map(Input::name).collect();
        let arguments = structures.iter().enumerate();
        let arguments: Vec<Vec<String>> = arguments
            .map(|(index, (_, built))| built.paths(&self.name(index)))
            .collect();
        let missing = match leaf_order::missing(&names, &arguments) {
            missing if missing.is_empty() => String::new(),
            missing => format!("; it has no `{}`", missing.join("`, `")),
        };
        format!(
            "{missing}; JAX leaves out what a function doesn't use, unless told `keep_unused=True`"
        )
    }
}

/// Refuses trees whose leaves stand in another order than the program's of the same names.
pub(crate) fn check_order(
    roots: Roots,
    signature: &Signature,
    structures: &Structures,
    results: Option<&Structure>,
) -> Result<()> {
    let names: Vec<Option<&str>> = signature.inputs().iter().map(Input::name).collect();
    let mut first = 0;
    for (parameter, (_, built)) in structures.iter().enumerate() {
        let end = first + built.leaf_count();
        let own = names.get(first..end).unwrap_or(&[]);
        let what = format!("`{}` of `{}`", roots.name(parameter), signature.name());
        leaf_order::check(&what, own, &built.paths(""))?;
        first = end;
    }
    let names: Vec<Option<&str>> = signature.outputs().iter().map(Output::name).collect();
    match results {
        None => Ok(()),
        Some(results) => {
            let what = format!("the results of `{}`", signature.name());
            leaf_order::check(&what, &names, &results.paths(""))
        }
    }
}

/// Of each leaf whether it is passed by value; `given` tells it of the parameters.
pub(crate) fn given_leaves<'s>(
    structures: &'s Structures,
    given: &'s [bool],
) -> impl Iterator<Item = bool> + 's {
    let parameters = structures.iter().zip(given);
    parameters.flat_map(|((_, built), given)| (0..built.leaf_count()).map(|_| *given))
}

/// The first leaf that is passed by reference where the program donates.
pub(crate) fn lent_donor(
    signature: &Signature,
    structures: &Structures,
    given: &[bool],
) -> Option<usize> {
    let inputs = signature.inputs().iter();
    let donated = inputs.map(|input| matches!(input.donation(), Donation::Into { .. }));
    donated
        .zip(given_leaves(structures, given))
        .position(|(donated, given)| donated && !given)
}
