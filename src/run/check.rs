//! What is compared before a launch, and what a refusal says.

use std::sync::Arc;

use crate::argument::{Argument, ArgumentList};
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::plan::Site;
use crate::signature::plural;

impl Executable {
    /// Everything that the plugin doesn't check, or checks too late.
    pub(super) fn check(&self, list: &ArgumentList<'_>, ends: &[usize]) -> Result<()> {
        if ends.len() != self.devices.len() {
            return Err(self.wrong_device_count(ends.len()));
        }
        let inputs = self.plan.inputs.len();
        // Not `len`: in the place of the list there may be one that only compares, and has none.
        let there = list.iter().len();
        let mut start = 0;
        for (position, end) in ends.iter().enumerate() {
            let Some(count) = end.checked_sub(start).filter(|_| *end <= there) else {
                return Err(Error::invalid(
                    "an implementation of `Arguments` took arguments from the list",
                ));
            };
            if count != inputs {
                return Err(self.wrong_argument_count(position, count));
            }
            start = *end;
        }
        let mut copied = false;
        for position in 0..self.devices.len() {
            let site = self.site(position);
            let own = list.part(position * inputs, inputs);
            let mut pairs = own.zip(&self.plan.inputs).enumerate();
            let misfit = pairs.find(|(_, (argument, input))| match argument {
                Argument::Given(buffer) => !site.has(buffer, input),
                Argument::Lent(buffer) => {
                    copied |= input.is_donated;
                    !site.has(buffer, input) || input.must_be_given
                }
            });
            if let Some((index, (argument, _))) = misfit {
                return Err(self.misfit_in_list(position, index, argument));
            }
        }
        if ends.len() > 1 {
            self.check_alike(list)?;
        }
        if copied && self.copies_lent {
            self.make_sure_of_copied(list)?;
        }
        Ok(())
    }

    /// Refuses what is given on one device and lent on another.
    fn check_alike(&self, list: &ArgumentList<'_>) -> Result<()> {
        let inputs = self.plan.inputs.len();
        for position in 1..self.devices.len() {
            let others = list.part(position * inputs, inputs);
            let mut pairs = others.zip(list.part(0, inputs));
            let unlike = pairs.position(|(other, first)| other.is_lent() != first.is_lent());
            if let Some(index) = unlike {
                return Err(self.given_and_lent(list, index, position));
            }
        }
        Ok(())
    }

    /// The first of a device's arguments with another shape, layout, device or client than
    /// the program's.
    pub(crate) fn first_wrong_shape<'l, 'a>(
        &self,
        position: usize,
        list: &'l ArgumentList<'a>,
    ) -> Option<(usize, &'l Argument<'a>)> {
        let site = self.site(position);
        let mut pairs = list.iter().zip(&self.plan.inputs).enumerate();
        let wrong = pairs.find(|(_, (argument, input))| !site.has(argument.buffer(), input));
        wrong.map(|(index, (argument, _))| (index, argument))
    }

    /// Where the arguments of the device at `position` must be.
    #[inline]
    pub(crate) fn site(&self, position: usize) -> Site<'_> {
        Site {
            session: self.session(),
            device: self.plan.devices[position],
        }
    }

    #[cold]
    fn wrong_argument_count(&self, position: usize, count: usize) -> Error {
        Error::invalid(format!(
            "`{}` takes {}, but {} given{}",
            self.signature.name(),
            plural(self.signature.inputs().len(), "argument"),
            match count {
                1 => "1 was".to_owned(),
                other => format!("{other} were"),
            },
            self.on_device(position)
        ))
    }

    #[cold]
    fn misfit_in_list(&self, position: usize, index: usize, argument: &Argument<'_>) -> Error {
        let name = self.signature.describe_input(index);
        self.misfit(position, index, argument, &name)
    }

    #[cold]
    fn wrong_device_count(&self, lists: usize) -> Error {
        let hint = if lists == 1 {
            "; pass a list for each with `run_per_device`, or trees with `parallel`"
        } else {
            ""
        };
        Error::invalid(format!(
            "`{}` runs on {}, but arguments for {lists} were given{hint}",
            self.signature.name(),
            plural(self.devices.len(), "device"),
        ))
    }

    #[cold]
    fn given_and_lent(&self, list: &ArgumentList<'_>, index: usize, position: usize) -> Error {
        let (first, other) = if list.iter().nth(index).is_some_and(Argument::is_lent) {
            ("lent", "given")
        } else {
            ("given", "lent")
        };
        Error::invalid(format!(
            "{} of `{}` is {first} on device 0 and {other} on device {position}; give or lend it on \
             all devices",
            self.signature.describe_input(index),
            self.signature.name(),
        ))
    }

    /// Says what is wrong with an argument, which is called `name`.
    #[cold]
    pub(crate) fn misfit(
        &self,
        position: usize,
        index: usize,
        argument: &Argument<'_>,
        name: &str,
    ) -> Error {
        let input = &self.signature.inputs()[index];
        let buffer = argument.buffer();
        let of = format!(
            "{name} of `{}`{}",
            self.signature.name(),
            self.on_device(position)
        );
        if !Arc::ptr_eq(buffer.session(), self.session()) {
            return Error::invalid(format!(
                "{of} belongs to another client than the program; make it on the program's client"
            ));
        }
        if *buffer.shape() != *input.shape() {
            return Error::invalid(format!(
                "{of}: wanted {}, got {}",
                input.shape(),
                buffer.shape()
            ));
        }
        if **buffer.form() != **input.form() {
            return Error::invalid(format!(
                "{of}: wanted {} with the layout {}, got the layout {}; make it with \
                 `Buffer::from_host_in_layout`",
                input.shape(),
                input.layout(),
                buffer.layout()
            ));
        }
        let device = &self.devices[position];
        if buffer.device() != *device {
            return Error::invalid(format!(
                "{of}: wanted it on {device:?}, but it is on {:?}; copy it with `copy_to_device`",
                buffer.device()
            ));
        }
        Error::invalid(format!(
            "{of} is lent, but the program must consume it (a must-alias of HLO); pass it by value"
        ))
    }

    pub(super) fn name_of(&self, position: usize, index: usize) -> String {
        format!(
            "{} of `{}`{}",
            self.signature.describe_input(index),
            self.signature.name(),
            self.on_device(position)
        )
    }

    pub(super) fn on_device(&self, position: usize) -> String {
        if self.devices.len() == 1 {
            String::new()
        } else {
            format!(" on device {position}")
        }
    }
}
