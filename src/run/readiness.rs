//! Whether arguments have values: what some launches must not start without.

use crate::argument::ArgumentList;
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::launch;

impl Executable {
    pub(super) fn make_sure_of(&self, list: &ArgumentList<'_>) -> Result<()> {
        self.make_sure_where(list, self.paced, |_| true)
            .map_err(|(place, error)| self.name_place(place, error))
    }

    /// Whether all arguments of a collective launch have values, before its turn: what
    /// `launch` asks again is then known, and a refusal leaves the arguments where they are.
    /// The place of the first that has none, with the reason.
    pub(crate) fn await_arguments(
        &self,
        list: &ArgumentList<'_>,
    ) -> std::result::Result<(), (usize, Error)> {
        if !self.signature.has_collectives() {
            return Ok(());
        }
        if self.paced {
            // The outcome of the launch before it tells of most arguments at once.
            self.session().turn().settle();
        }
        self.make_sure_where(list, self.paced, |_| true)
    }

    fn name_place(&self, place: usize, error: Error) -> Error {
        let inputs = self.signature.inputs().len();
        error.context(self.name_of(place / inputs, place % inputs))
    }

    /// What is lent where the program donates is copied by XLA, and on CPU the copy of a
    /// buffer without values ends the process (fact 28).
    pub(super) fn make_sure_of_copied(&self, list: &ArgumentList<'_>) -> Result<()> {
        let inputs = &self.plan.inputs;
        let donates = |place: usize| inputs[place % inputs.len()].is_donated;
        self.make_sure_where(list, true, donates)
            .map_err(|(place, error)| self.name_place(place, error))
    }

    fn make_sure_where(
        &self,
        list: &ArgumentList<'_>,
        wait: bool,
        chosen: impl Fn(usize) -> bool,
    ) -> std::result::Result<(), (usize, Error)> {
        let arguments = list.iter().enumerate();
        for (place, argument) in arguments.filter(|(place, _)| chosen(*place)) {
            launch::make_sure(argument.buffer(), wait).map_err(|error| (place, error))?;
        }
        Ok(())
    }
}
