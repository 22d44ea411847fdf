//! What types and trees are held against: a program with the names of its parameters. It is the
//! same for one device and for many.

use crate::brief::brief_debug;
use crate::error::{Error, Result};
use crate::roots::{check_order, lent_donor, Roots, Structures};
use crate::signature::{plural, Signature};
use crate::tree::Structure;

/// A program that is given types.
#[derive(Clone, Copy)]
pub(crate) struct TypedProgram<'s> {
    pub(crate) signature: &'s Signature,
    pub(crate) roots: Roots,
    /// Whether it runs on many devices, for messages.
    pub(crate) each_device: bool,
}

impl TypedProgram<'_> {
    /// What can be compared once: the number of leaves, where the types of the parameters tell it,
    /// what is donated, and in which order leaves stand that have names.
    pub(crate) fn check_types(
        self,
        leaves: Option<usize>,
        constant: &Structures,
        given: &[bool],
        results: Option<&Structure>,
    ) -> Result<()> {
        let inputs = self.signature.inputs().len();
        if let Some(leaves) = leaves.filter(|leaves| *leaves != inputs) {
            return Err(Error::invalid(format!(
                "{self} takes {inputs} arguments{}, but the types of the parameters have {leaves} \
                 leaves{}{}",
                self.where_they_are(),
                self.roots.leaf_table(constant),
                self.roots.left_out(self.signature, constant)
            )));
        }
        if let Some(results) = results {
            self.check_results(results)?;
        }
        if leaves.is_none() {
            return Ok(());
        }
        self.check_donation(constant, given)?;
        check_order(self.roots, self.signature, constant, results)
    }

    /// Refuses what is passed by reference where the program donates.
    pub(crate) fn check_donation(self, structures: &Structures, given: &[bool]) -> Result<()> {
        match lent_donor(self.signature, structures, given) {
            None => Ok(()),
            Some(index) => Err(Error::invalid(format!(
                "`{}` is taken by reference, but {self} donates it; take it by value (`Give`)",
                self.leaf_name(structures, index),
            ))),
        }
    }

    /// Refuses results with another number of leaves than there are outputs.
    pub(crate) fn check_results(self, structure: &Structure) -> Result<()> {
        let (leaves, outputs) = (structure.leaf_count(), self.signature.outputs().len());
        if leaves == outputs {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{self} gives {}{}, but the results have {}",
            plural(outputs, "output"),
            self.where_they_are(),
            match leaves {
                1 => "1 leaf".to_owned(),
                leaves => format!("{leaves} leaves"),
            }
        )))
    }

    /// Takes the structure of results that a user states, if it is that of the types, where they
    /// tell.
    pub(crate) fn stated_results(
        self,
        structure: Structure,
        constant: Option<Structure>,
    ) -> Result<Structure> {
        if let Some(constant) = constant.filter(|constant| *constant != structure) {
            return Err(Error::invalid(format!(
                "the results of {self} are {}, which {} is not",
                brief_debug(&constant),
                brief_debug(&structure)
            )));
        }
        self.check_results(&structure)?;
        Ok(structure)
    }

    /// Takes the structure of results that a call's arguments tell.
    pub(crate) fn expected_results(self, structure: Result<Structure>) -> Result<Structure> {
        let structure =
            structure.map_err(|error| error.context(format!("the results of {self}")))?;
        self.check_results(&structure)?;
        Ok(structure)
    }

    /// What a leaf of the arguments is called.
    pub(crate) fn leaf_name(self, structures: &Structures, index: usize) -> String {
        self.roots.leaf_name(self.signature, structures, index)
    }

    fn where_they_are(self) -> &'static str {
        if self.each_device {
            " on each device"
        } else {
            ""
        }
    }
}

/// The program's name, in a sentence.
impl std::fmt::Display for TypedProgram<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.signature.name())
    }
}
