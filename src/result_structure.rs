//! How the results of a typed program are built: as their types say, as the user says, or like an
//! argument of the same type. It is the same on one device and on many.

use crate::error::{Error, Result};
use crate::signature::{plural, Signature};
use crate::tree::Structure;

/// A program's outputs, which results are held against.
#[derive(Clone, Copy)]
pub(crate) struct OutputsOf<'s> {
    pub(crate) signature: &'s Signature,
    /// Whether it runs on many devices, for messages.
    pub(crate) each_device: bool,
}

impl OutputsOf<'_> {
    /// Refuses a structure with another number of leaves than there are outputs.
    pub(crate) fn check(self, structure: &Structure) -> Result<()> {
        let (leaves, outputs) = (structure.leaf_count(), self.signature.outputs().len());
        if leaves == outputs {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "`{}` gives {}{}, but the results have {}",
            self.signature.name(),
            plural(outputs, "output"),
            if self.each_device {
                " on each device"
            } else {
                ""
            },
            match leaves {
                1 => "1 leaf".to_owned(),
                leaves => format!("{leaves} leaves"),
            }
        )))
    }

    /// Takes the structure that a user states, if it is that of the types, where they tell.
    pub(crate) fn stated(
        self,
        structure: Structure,
        constant: Option<Structure>,
    ) -> Result<Structure> {
        if let Some(constant) = constant.filter(|constant| *constant != structure) {
            return Err(Error::invalid(format!(
                "the results of `{}` are {constant:?}, which {structure:?} is not",
                self.signature.name()
            )));
        }
        self.check(&structure)?;
        Ok(structure)
    }

    /// Takes the structure that a call's arguments tell.
    pub(crate) fn expected(self, structure: Result<Structure>) -> Result<Structure> {
        let structure = structure.map_err(|error| {
            error.context(format!("the results of `{}`", self.signature.name()))
        })?;
        self.check(&structure)?;
        Ok(structure)
    }
}
