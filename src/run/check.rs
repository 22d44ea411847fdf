//! What is compared before a launch, and what a refusal says.

use std::sync::Arc;

use crate::argument::{Argument, ArgumentList};
use crate::buffer::Buffer;
use crate::device_shape;
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::signature::{plural, Donation, Input};

impl Executable {
    /// Everything that the plugin doesn't check, or checks too late.
    pub(super) fn check(&self, list: &ArgumentList<'_>, ends: &[usize]) -> Result<()> {
        if ends.len() != self.devices.len() {
            return Err(self.wrong_device_count(ends.len()));
        }
        let mut start = 0;
        for (position, end) in ends.iter().enumerate() {
            let own = list.arguments.get(start..*end).ok_or_else(|| {
                Error::invalid("an implementation of `Arguments` took arguments from the list")
            })?;
            self.check_device(position, own)?;
            start = *end;
        }
        if ends.len() == 1 {
            return Ok(());
        }
        let inputs = self.signature.inputs().len();
        for index in inputs..list.len() {
            // The lists of all devices are equally long: each was checked.
            if list.arguments[index].is_lent() != list.arguments[index % inputs].is_lent() {
                return Err(self.given_and_lent(list, index % inputs, index / inputs));
            }
        }
        Ok(())
    }

    fn check_device(&self, position: usize, arguments: &[Argument<'_>]) -> Result<()> {
        let inputs = self.signature.inputs();
        if arguments.len() != inputs.len() {
            return Err(Error::invalid(format!(
                "`{}` takes {}, but {} given{}",
                self.signature.name(),
                plural(inputs.len(), "argument"),
                match arguments.len() {
                    1 => "1 was".to_owned(),
                    other => format!("{other} were"),
                },
                self.on_device(position)
            )));
        }
        match self.first_misfit(position, arguments) {
            None => Ok(()),
            Some(index) => {
                let name = self.signature.describe_input(index);
                Err(self.misfit(position, index, &arguments[index], &name))
            }
        }
    }

    /// The first of a device's arguments that is not what the program takes.
    fn first_misfit(&self, position: usize, arguments: &[Argument<'_>]) -> Option<usize> {
        let inputs = self.signature.inputs();
        arguments.iter().zip(inputs).position(|(argument, input)| {
            !self.fits(position, input, argument.buffer())
                || (argument.is_lent() && must_be_given(input.donation()))
        })
    }

    /// The first of a device's arguments with another shape, layout, device or client than
    /// the program's.
    pub(crate) fn first_wrong_shape(
        &self,
        position: usize,
        arguments: &[Argument<'_>],
    ) -> Option<usize> {
        let mut pairs = arguments.iter().zip(self.signature.inputs());
        pairs.position(|(argument, input)| !self.fits(position, input, argument.buffer()))
    }

    /// Whether a buffer has an input's shape and layout, and lies on the device.
    pub(crate) fn fits(&self, position: usize, input: &Input, buffer: &Buffer) -> bool {
        device_shape::same(buffer.form(), input.form())
            && buffer.device_index() == self.devices[position].index()
            && Arc::ptr_eq(buffer.session(), self.session())
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
        let (first, other) = if list.arguments[index].is_lent() {
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

fn must_be_given(donation: Donation) -> bool {
    matches!(donation, Donation::Into { required: true, .. })
}
