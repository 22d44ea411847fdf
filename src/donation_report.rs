//! What a run really did with what was given.

use std::fmt;

use crate::signature::plural;

/// What a run did with each given buffer: whether it consumed it. A buffer that the program
/// donates is consumed, unless something else holds its memory; others are not, and their
/// memory is released when the run is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DonationReport {
    pub(crate) leaves: Vec<GivenLeaf>,
}

/// A given buffer in a [`DonationReport`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenLeaf {
    /// What the argument is called: its path where the call was typed.
    pub name: String,
    /// Its place in the flat list of a device's arguments.
    pub argument: usize,
    /// The position of its device in [`Executable::devices`](crate::Executable::devices).
    pub device: usize,
    /// Whether the run took its memory over (`PJRT_Buffer_IsDeleted` after the launch).
    pub consumed: bool,
}

impl DonationReport {
    /// Every given buffer, in argument order.
    pub fn leaves(&self) -> &[GivenLeaf] {
        &self.leaves
    }

    /// Whether every given buffer was consumed.
    pub fn all_consumed(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.consumed)
    }
}

impl fmt::Display for DonationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unused: Vec<&str> = self
            .leaves
            .iter()
            .filter(|leaf| !leaf.consumed)
            .map(|leaf| leaf.name.as_str())
            .collect();
        let consumed = self.leaves.len() - unused.len();
        write!(
            f,
            "{consumed} of {} consumed",
            plural(self.leaves.len(), "given buffer")
        )?;
        match unused.is_empty() {
            true => Ok(()),
            false => write!(f, "; not consumed: {}", unused.join(", ")),
        }
    }
}
