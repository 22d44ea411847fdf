//! Running a program: what is checked before, the launch, and what it gives.

mod check;
mod made;
mod readiness;

pub(crate) use made::Made;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::argument::{Argument, ArgumentList, Arguments};
use crate::call_error::{CallError, GivenBack, Lost};
use crate::donation_report::{DonationReport, GivenLeaf};
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::launch::{self, Launch};
use crate::outputs::Outputs;
use crate::pjrt::execute::{self, Done};
use crate::pjrt::handed::Handed;

impl Executable {
    /// Runs the program on its only device (`PJRT_LoadedExecutable_Execute`).
    ///
    /// A buffer passed by value is given: it is gone, and its memory is reused where
    /// the program donates it. A buffer passed by reference is lent and stays as it
    /// is. The call returns when the run is enqueued; a run that fails later says so
    /// when an output is read.
    ///
    /// # Errors
    /// The program is for several devices; the number of arguments, or an argument's
    /// element type, dimensions, layout, device or client, is not the program's; an
    /// argument is lent that the program must consume; the plugin fails. Given buffers
    /// come back in the error.
    pub fn run<'a>(&self, arguments: impl Arguments<'a>) -> Result<Outputs, CallError> {
        let mut list = ArgumentList::new();
        arguments.append_to(&mut list);
        let mut outputs = Outputs::default();
        self.run_list(&mut list, &mut outputs, None)?;
        Ok(outputs)
    }

    /// As [`Executable::run`], and tells what the run did with each given buffer. Asks the
    /// plugin once for each.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_reported<'a>(
        &self,
        arguments: impl Arguments<'a>,
    ) -> Result<(Outputs, DonationReport), CallError> {
        let mut list = ArgumentList::new();
        arguments.append_to(&mut list);
        let mut outputs = Outputs::default();
        let mut report = DonationReport::default();
        self.run_list(&mut list, &mut outputs, Some(&mut report))?;
        Ok((outputs, report))
    }

    /// Runs with the arguments of a list. The outputs go where they are to be: moving the whole
    /// of them costs more than to make them.
    fn run_list(
        &self,
        list: &mut ArgumentList<'_>,
        outputs: &mut Outputs,
        report: Option<&mut DonationReport>,
    ) -> Result<(), CallError> {
        let ends = [list.len()];
        let mut handed = self.handed();
        let launched = self.launch(list, &ends, &mut handed, report)?;
        let mut made = self.made(list, &mut handed, launched);
        made.next_device().append_to(outputs);
        Ok(())
    }

    /// Runs the program on all of its devices at once: one list of arguments for each
    /// of [`Executable::devices`], in their order, each as for [`Executable::run`].
    /// Gives each device's outputs.
    ///
    /// All devices must give and lend alike. Everything about every device is checked
    /// before the launch. Launches on several devices take turns; on CPU, one whose
    /// devices speak to each other waits until the client's earlier runs are done, and later
    /// ones wait until it is, those on one device too.
    ///
    /// # Errors
    /// As [`Executable::run`], naming the device; the number of lists is not that of
    /// the devices; a given argument of one device is lent on another; an argument's
    /// own run has failed.
    pub fn run_per_device<'a, A: Arguments<'a>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<Outputs>, CallError> {
        self.run_lists(arguments, None)
    }

    /// As [`Executable::run_per_device`], and tells what the run did with each given buffer,
    /// device by device. Asks the plugin once for each.
    ///
    /// # Errors
    /// As [`Executable::run_per_device`].
    pub fn run_per_device_reported<'a, A: Arguments<'a>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<(Vec<Outputs>, DonationReport), CallError> {
        let mut report = DonationReport::default();
        let outputs = self.run_lists(arguments, Some(&mut report))?;
        Ok((outputs, report))
    }

    fn run_lists<'a, A: Arguments<'a>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        report: Option<&mut DonationReport>,
    ) -> Result<Vec<Outputs>, CallError> {
        let mut list = ArgumentList::new();
        let mut ends: SmallVec<[usize; 8]> = SmallVec::new();
        for each in arguments {
            each.append_to(&mut list);
            ends.push(list.len());
        }
        let mut handed = self.handed();
        let launched = self.launch(&mut list, &ends, &mut handed, report)?;
        let mut made = self.made(&mut list, &mut handed, launched);
        let devices = self.devices.iter();
        Ok(devices
            .map(|_| {
                let mut outputs = Outputs::default();
                made.next_device().append_to(&mut outputs);
                outputs
            })
            .collect())
    }

    /// Room for what a launch gives on all devices.
    #[inline]
    pub(crate) fn handed(&self) -> Handed<'_> {
        let count = self.devices.len() * self.plan.outputs.len();
        Handed::new(self.session(), count)
    }

    /// Checks and starts. `ends` says where in the list each device's arguments end, and
    /// `handed` is as [`Executable::handed`] gives it. Gives what [`Executable::made`] takes; the
    /// arguments stay in the list for it. On failure the list is empty.
    #[inline]
    pub(crate) fn launch(
        &self,
        list: &mut ArgumentList<'_>,
        ends: &[usize],
        handed: &mut Handed<'_>,
        report: Option<&mut DonationReport>,
    ) -> Result<Option<Arc<Launch>>, CallError> {
        let outcome = self.check(list, ends).and_then(|()| {
            if self.devices.len() == 1 {
                Ok(self.start(list, handed).map(|()| None))
            } else {
                self.start_in_turn(list, handed)
            }
        });
        match outcome {
            Ok(Ok(record)) => {
                if let Some(report) = report {
                    report.leaves = self.report(list);
                }
                Ok(record)
            }
            Ok(Err(error)) => Err(self.failed(error, take_given(list, ends))),
            Err(refusal) => Err(CallError::new(refusal, take_given(list, ends), Vec::new())),
        }
    }

    /// What became of the given arguments of a run that was started.
    fn report(&self, list: &ArgumentList<'_>) -> Vec<GivenLeaf> {
        let inputs = self.signature.inputs().len();
        let arguments = list.iter().enumerate();
        let given = arguments.filter(|(_, argument)| !argument.is_lent());
        given
            .map(|(place, argument)| GivenLeaf {
                name: self.signature.describe_input(place % inputs),
                argument: place % inputs,
                device: place / inputs,
                consumed: matches!(argument.buffer().raw().is_deleted(), Ok(true)),
            })
            .collect()
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
        let launch = execute::Launch {
            executable: &self.raw,
            devices: self.devices.len(),
            outputs: self.plan.outputs.len(),
            inputs: self.plan.inputs.len(),
            id: if self.paced {
                launch::unique_launch_id()
            } else {
                0
            },
        };
        let arguments = list.iter();
        let arguments = arguments.map(|argument| (argument.buffer().raw(), argument.is_lent()));
        launch.start(arguments, handed, done)
    }

    /// Starts on several devices, when it is this launch's turn. The outer error is a
    /// refusal before the plugin was asked, the inner one the plugin's.
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

    /// The plugin failed: what was given is asked one by one whether it is there still
    /// (fact 6).
    #[cold]
    fn failed(&self, error: Error, mut given: Vec<GivenBack>) -> CallError {
        let mut lost = Vec::new();
        given.retain(|given| {
            let intact = matches!(given.buffer.raw().is_deleted(), Ok(false));
            if !intact {
                lost.push(Lost {
                    argument: given.argument,
                    device: given.device,
                    name: self.signature.describe_input(given.argument),
                });
            }
            intact
        });
        let doing = format!("running `{}`", self.signature.name());
        let failed = CallError::new(error.context(doing), given, lost);
        match self.devices.len() {
            1 => failed,
            _ => failed.out_of_step(),
        }
    }
}

/// What was given, with its device and its place in that device's list.
fn take_given(list: &mut ArgumentList<'_>, ends: &[usize]) -> Vec<GivenBack> {
    let mut given = Vec::new();
    let (mut device, mut start) = (0, 0);
    for (place, argument) in list.drain() {
        while ends.get(device).is_some_and(|end| *end <= place) {
            start = ends[device];
            device += 1;
        }
        if let Argument::Given(buffer) = argument {
            given.push(GivenBack {
                argument: place - start,
                device,
                buffer,
            });
        }
    }
    given
}
