//! The start of a launch, when its turn has come and its arguments are known to fit.
//!
//! Most launches are plain: nothing is to be waited for, and all arguments fit. Theirs are compared
//! as they are listed for the plugin, since one walk over many costs less than two. The others
//! are checked first, and that tells what is wrong.

use std::sync::Arc;

use crate::argument::ArgumentList;
use crate::error::Result;
use crate::executable::Executable;
use crate::launch::{self, Launch};
use crate::pjrt::execute::{self, Done};
use crate::pjrt::handed::Handed;
use crate::plan::Site;

impl Executable {
    /// Starts a plain launch on one device. Of another, and where an argument doesn't fit, this
    /// gives false and starts nothing: [`Executable::start_others`] does, or says why not.
    #[inline(always)]
    pub(super) fn start_alone(
        &self,
        list: &ArgumentList<'_>,
        ends: &[usize],
        handed: &mut Handed<'_>,
    ) -> Result<bool> {
        let inputs = &self.plan.inputs;
        let arguments = list.iter();
        let is_whole = ends.len() == 1 && arguments.len() == inputs.len();
        if !is_whole || self.plan.devices.len() != 1 || self.session().has_paced() {
            return Ok(false);
        }
        let site = Site {
            session: self.session(),
            device: self.plan.first_device,
        };
        let fitting = arguments.zip(inputs).map(|(argument, input)| {
            let (buffer, is_lent) = (argument.buffer(), argument.is_lent());
            let fits = site.has(buffer, input) && !(is_lent && input.is_donated);
            fits.then(|| (buffer.raw(), is_lent))
        });
        self.to_launch().start(fitting, handed, None)
    }

    /// Starts a plain launch on several devices that don't speak to each other; false as above.
    fn start_side_by_side(
        &self,
        list: &ArgumentList<'_>,
        ends: &[usize],
        handed: &mut Handed<'_>,
    ) -> Result<bool> {
        let (inputs, devices) = (&self.plan.inputs, self.plan.devices.len());
        let arguments = list.iter();
        let evenly = (1..=devices).map(|count| count * inputs.len());
        let is_whole = arguments.len() == devices * inputs.len() && ends.iter().copied().eq(evenly);
        if !is_whole || self.signature.has_collectives() || self.session().has_paced() {
            // Before the turn, which a paced launch may have for long: a refusal waits for none.
            return Ok(false);
        }
        let _turn = self.session().turn();
        // There may be such a program by now: with the turn, none is launched until this is.
        if self.session().has_paced() {
            return Ok(false);
        }
        let (mut position, mut index) = (0, 0);
        let mut site = self.site(position);
        let fitting = arguments.map(|argument| {
            if index == inputs.len() {
                index = 0;
                position += 1;
                site = self.site(position);
            }
            let (buffer, is_lent) = (argument.buffer(), argument.is_lent());
            let fits = site.has(buffer, &inputs[index])
                && !(is_lent && inputs[index].is_donated)
                && list.is_lent(index) == is_lent;
            index += 1;
            fits.then(|| (buffer.raw(), is_lent))
        });
        self.to_launch().start(fitting, handed, None)
    }

    /// Starts what isn't a plain launch on one device, or refuses it. The outer error is a refusal before the plugin was
    /// asked, the inner one the plugin's.
    #[inline(never)]
    pub(super) fn start_others(
        &self,
        list: &ArgumentList<'_>,
        ends: &[usize],
        handed: &mut Handed<'_>,
    ) -> Result<Result<Option<Arc<Launch>>>> {
        if self.devices.len() > 1 {
            match self.start_side_by_side(list, ends, handed) {
                Ok(true) => return Ok(Ok(None)),
                Ok(false) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        self.check(list, ends)?;
        match self.devices.len() {
            1 => Ok(self.start(list, handed).map(|()| None)),
            _ => self.start_in_turn(list, handed),
        }
    }

    /// Starts a launch that isn't paced, or runs on one device.
    fn start(&self, list: &ArgumentList<'_>, handed: &mut Handed<'_>) -> Result<()> {
        match self.session().pass() {
            None => self.execute(list, handed, None),
            Some(pass) => {
                let mut done = Done::new();
                let started = self.execute(list, handed, Some(&mut done));
                pass.keep(done);
                started
            }
        }
    }

    fn execute(
        &self,
        list: &ArgumentList<'_>,
        handed: &mut Handed<'_>,
        done: Option<&mut Done>,
    ) -> Result<()> {
        let arguments = list.iter();
        let arguments =
            arguments.map(|argument| Some((argument.buffer().raw(), argument.is_lent())));
        self.to_launch().start(arguments, handed, done).map(drop)
    }

    #[inline]
    fn to_launch(&self) -> execute::Launch<'_> {
        execute::Launch {
            executable: &self.raw,
            devices: self.plan.devices.len(),
            outputs: self.plan.outputs.len(),
            inputs: self.plan.inputs.len(),
            id: if self.paced {
                launch::unique_launch_id()
            } else {
                0
            },
        }
    }

    /// Starts on several devices, when it is this launch's turn.
    fn start_in_turn(
        &self,
        list: &ArgumentList<'_>,
        handed: &mut Handed<'_>,
    ) -> Result<Result<Option<Arc<Launch>>>> {
        let turn = self.session().turn();
        if self.paced {
            turn.settle();
        }
        if self.signature.has_collectives() {
            self.make_sure_of(list)?;
        }
        if !self.paced {
            return Ok(self.start(list, handed).map(|()| None));
        }
        let alone = turn.close();
        let mut done = Done::new();
        let started = self.execute(list, handed, Some(&mut done));
        Ok(started.map(|()| Some(alone.follow(done))))
    }
}
