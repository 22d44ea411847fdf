//! What is compared before a typed program runs on many devices.

use crate::argument::ArgumentList;
use crate::brief::brief_debug;
use crate::error::{Error, Result};
use crate::roots::Structures;
use crate::signature::plural;

use super::{ParallelFunction, ParallelParameters, Results};

impl<P: ParallelParameters, R: Results> ParallelFunction<P, R> {
    /// What can be compared once.
    pub(super) fn check(&self) -> Result<()> {
        self.typed().check_types(
            P::LEAVES,
            &P::constant_structures(),
            P::GIVEN,
            self.results.as_ref(),
        )
    }

    /// Compares what is about to be passed, by reference: a refusal leaves it whole.
    pub(super) fn check_arguments(&self, ready: &P::Ready<'_>) -> Result<()> {
        let devices = self.executable.devices.len();
        if let Some((parameter, count)) = P::not_for(devices, ready) {
            return Err(self.not_for(parameter, count));
        }
        for position in 0..devices {
            if !self.fits(ready, position) {
                self.check_device(ready, position)?;
            }
        }
        // One device has no other to keep waiting.
        if devices == 1 || !self.signature().has_collectives() {
            return Ok(());
        }
        let mut list = ArgumentList::new();
        self.make_room(&mut list);
        (0..devices).for_each(|position| P::lend(ready, position, &mut list));
        let inputs = self.signature().inputs().len();
        if list.len() != devices * inputs {
            return Err(Error::invalid(format!(
                "{} takes {inputs} arguments on each device, but the given trees have {} leaves on all \
                 {devices} together, and had others when they were looked at before",
                self.typed(),
                list.len()
            )));
        }
        let awaited = self.executable.await_arguments(&list);
        awaited.map_err(|(place, error)| {
            let (position, index) = (place / inputs, place % inputs);
            let structures = P::structures(ready, position);
            let path = self.typed().leaf_name(&structures, index);
            error.context(format!(
                "`{path}` (argument {index}) of {} on device {position}",
                self.typed()
            ))
        })
    }

    /// Whether a device's arguments are what the program takes; trees whose structure is
    /// known at run time only are looked at closely.
    fn fits(&self, ready: &P::Ready<'_>, position: usize) -> bool {
        P::LEAVES.is_some() && {
            let mut leaves = ArgumentList::new();
            leaves.only_compare(&self.executable, position);
            P::lend(ready, position, &mut leaves);
            leaves.all_fit()
        }
    }

    /// Says what of a device's arguments doesn't fit.
    fn check_device(&self, ready: &P::Ready<'_>, position: usize) -> Result<()> {
        let mut leaves = ArgumentList::new();
        P::lend(ready, position, &mut leaves);
        let inputs = self.signature().inputs().len();
        let structures = P::structures(ready, position);
        if leaves.len() != inputs {
            return Err(Error::invalid(format!(
                "{} takes {inputs} arguments on each device, but the given trees have {} leaves on \
                 device {position}{}{}",
                self.typed(),
                leaves.len(),
                self.roots.leaf_table(&structures),
                self.roots.left_out(self.signature(), &structures)
            )));
        }
        if P::LEAVES.is_none() {
            self.typed().check_donation(&structures, P::GIVEN)?;
            self.check_alike(ready, position, &structures)?;
        }
        match self.executable.first_wrong_shape(position, &leaves) {
            None => Ok(()),
            Some((index, leaf)) => {
                let path = self.typed().leaf_name(&structures, index);
                let name = format!("`{path}` (argument {index})");
                Err(self.executable.misfit(position, index, leaf, &name))
            }
        }
    }

    /// Refuses trees that are built otherwise than on the first device: their leaves would
    /// stand for other things.
    fn check_alike(
        &self,
        ready: &P::Ready<'_>,
        position: usize,
        structures: &Structures,
    ) -> Result<()> {
        let first = P::structures(ready, 0);
        let pairs = structures.iter().zip(&first).enumerate();
        for (parameter, ((_, own), (_, first))) in pairs {
            if own != first {
                return Err(Error::invalid(format!(
                    "`{}` of {} is {} on device {position}, but {} on device 0; build it alike on all \
                     devices",
                    self.roots.name(parameter),
                    self.typed(),
                    brief_debug(own),
                    brief_debug(first)
                )));
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn not_for(&self, parameter: usize, devices: Result<usize>) -> Error {
        let name = self.roots.name(parameter);
        match devices {
            Err(error) => error.context(format!("`{name}` of {}", self.typed())),
            Ok(devices) => Error::invalid(format!(
                "`{name}` of {}: wanted values on {}, got values on {devices}; make them for \
                 the program's `devices`",
                self.typed(),
                plural(self.executable.devices.len(), "device"),
            )),
        }
    }
}
