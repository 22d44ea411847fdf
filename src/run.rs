//! Running a program: what is checked before, the launch, and what it gives.

mod check;
mod made;
mod readiness;
mod start;

pub(crate) use made::{DeviceOutputs, Made};

use std::sync::Arc;

use smallvec::SmallVec;

use crate::argument::{Argument, ArgumentList, Arguments};
use crate::call_error::{CallError, GivenBack, Lost};
use crate::donation_report::{DonationReport, GivenLeaf};
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::launch::Launch;
use crate::outputs::Outputs;
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
    // In line down to the plugin's call, as `Executable::launch` says why.
    #[inline(always)]
    pub fn run<'a>(&self, arguments: impl Arguments<'a>) -> Result<Outputs, CallError> {
        let mut list = ArgumentList::new();
        list.make_room(self.plan.inputs.len());
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
        list.make_room(self.plan.inputs.len());
        arguments.append_to(&mut list);
        let mut outputs = Outputs::default();
        let mut report = DonationReport::default();
        self.run_list(&mut list, &mut outputs, Some(&mut report))?;
        Ok((outputs, report))
    }

    /// Runs with the arguments of a list. The outputs go where they are to be: moving the whole
    /// of them costs more than to make them.
    #[inline(always)]
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
        list.make_room(self.devices.len() * self.plan.inputs.len());
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
        Handed::new(self.session())
    }

    /// Checks and starts. `ends` says where in the list each device's arguments end, and
    /// `handed` is as [`Executable::handed`] gives it. Gives what [`Executable::made`] takes; the
    /// arguments stay in the list for it. On failure the list is empty.
    ///
    /// What one device needs is in line, down to the plugin's call: the plugin calls so deep that
    /// the processor has forgotten the way back, and each return costs as much as many checks.
    #[inline(always)]
    pub(crate) fn launch(
        &self,
        list: &mut ArgumentList<'_>,
        ends: &[usize],
        handed: &mut Handed<'_>,
        report: Option<&mut DonationReport>,
    ) -> Result<Option<Arc<Launch>>, CallError> {
        let outcome = match self.start_alone(list, ends, handed) {
            Ok(true) => Ok(Ok(None)),
            Ok(false) => self.start_others(list, ends, handed),
            Err(error) => Ok(Err(error)),
        };
        match (outcome, report) {
            (Ok(Ok(record)), None) => Ok(record),
            (Ok(Ok(record)), Some(report)) => {
                report.leaves = self.report(list);
                Ok(record)
            }
            (Ok(Err(error)), _) => Err(self.failed(error, list, ends)),
            (Err(refusal), _) => Err(refused(refusal, list, ends)),
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

    /// The plugin failed: what was given is asked one by one whether it is there still
    /// (fact 6).
    #[cold]
    fn failed(&self, error: Error, list: &mut ArgumentList<'_>, ends: &[usize]) -> CallError {
        let mut given = take_given(list, ends);
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

#[cold]
fn refused(refusal: Error, list: &mut ArgumentList<'_>, ends: &[usize]) -> CallError {
    CallError::new(refusal, take_given(list, ends), Vec::new())
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
