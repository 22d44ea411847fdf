//! What is compared before a typed program runs on many devices.

use crate::argument::ArgumentList;
use crate::error::{Error, Result};
use crate::roots::{check_order, lent_donor, Structures};
use crate::signature::plural;

use super::{ParallelFunction, ParallelParameters, Results};

impl<P: ParallelParameters, R: Results> ParallelFunction<P, R> {
    /// What can be compared once.
    pub(super) fn check(&self) -> Result<()> {
        let inputs = self.signature().inputs().len();
        if let Some(leaves) = P::LEAVES.filter(|leaves| *leaves != inputs) {
            return Err(Error::invalid(format!(
                "{} takes {inputs} arguments on each device, but the types of the parameters have \
                 {leaves} leaves{}",
                self.program(),
                self.roots.leaf_table(&P::constant_structures())
            )));
        }
        if let Some(results) = &self.results {
            self.outputs().check(results)?;
        }
        if P::LEAVES.is_some() {
            let structures = P::constant_structures();
            self.check_donation(&structures)?;
            check_order(
                self.roots,
                self.signature(),
                &structures,
                self.results.as_ref(),
            )?;
        }
        Ok(())
    }

    /// Refuses a `Ref` or `Part` where the program donates.
    fn check_donation(&self, structures: &Structures) -> Result<()> {
        match lent_donor(self.signature(), structures, P::GIVEN) {
            None => Ok(()),
            Some(index) => Err(Error::invalid(format!(
                "`{}` is taken by reference, but {} donates it; take it by value (`Give`)",
                self.roots.leaf_name(self.signature(), structures, index),
                self.program()
            ))),
        }
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
        let awaited = self.executable.await_arguments(&list);
        list.put_away();
        awaited.map_err(|(place, error)| {
            let inputs = self.signature().inputs().len();
            let (position, index) = (place / inputs, place % inputs);
            let structures = P::structures(ready, position);
            let path = self.roots.leaf_name(self.signature(), &structures, index);
            error.context(format!(
                "`{path}` (argument {index}) of {} on device {position}",
                self.program()
            ))
        })
    }

    /// Whether a device's arguments are what the program takes; trees whose structure is
    /// known at run time only are looked at closely.
    fn fits(&self, ready: &P::Ready<'_>, position: usize) -> bool {
        P::LEAVES.is_some() && {
            let mut leaves = ArgumentList::comparing(&self.executable, position);
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
                 device {position}{}",
                self.program(),
                leaves.len(),
                self.roots.leaf_table(&structures)
            )));
        }
        if P::LEAVES.is_none() {
            self.check_donation(&structures)?;
            self.check_alike(ready, position, &structures)?;
        }
        match self.executable.first_wrong_shape(position, &leaves) {
            None => Ok(()),
            Some((index, leaf)) => {
                let path = self.roots.leaf_name(self.signature(), &structures, index);
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
                    "`{}` of {} is {own:?} on device {position}, but {first:?} on device 0; build it \
                     alike on all devices",
                    self.roots.name(parameter),
                    self.program()
                )));
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn not_for(&self, parameter: usize, devices: Result<usize>) -> Error {
        let name = self.roots.name(parameter);
        match devices {
            Err(error) => error.context(format!("`{name}` of {}", self.program())),
            Ok(devices) => Error::invalid(format!(
                "`{name}` of {}: wanted values on {}, got values on {devices}; make them for \
                 the program's `devices`",
                self.program(),
                plural(self.executable.devices.len(), "device"),
            )),
        }
    }
}
