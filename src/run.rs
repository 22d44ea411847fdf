//! Running a program: the launch, and what becomes of the arguments.

mod check;
mod readiness;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::account::{Held, HeldOutputs};
use crate::argument::{Argument, ArgumentList, Arguments};
use crate::buffer::Buffer;
use crate::call_error::{CallError, GivenBack, Lost};
use crate::donation_report::{DonationReport, GivenLeaf};
use crate::error::{Error, Result};
use crate::executable::Executable;
use crate::launch::{self, Launch};
use crate::outputs::Outputs;
use crate::pjrt::execute::{self, Done, RawBuffer};
use crate::spare::Room;

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
        self.run_list(&mut list, None)
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
        let mut report = DonationReport::default();
        let outputs = self.run_list(&mut list, Some(&mut report))?;
        Ok((outputs, report))
    }

    /// Runs with the arguments of a list, which is empty afterwards.
    fn run_list(
        &self,
        list: &mut ArgumentList<'_>,
        report: Option<&mut DonationReport>,
    ) -> Result<Outputs, CallError> {
        let ends = [list.len()];
        let mut outputs = Outputs::default();
        let mut stated = self.signature.outputs().iter();
        let mut output = |held| {
            // As many are given as are stated.
            if let Some(stated) = stated.next() {
                let form = Arc::clone(stated.form());
                outputs.buffers.push(Buffer::from_held(held, form, None));
            }
        };
        self.launch(list, &ends, &mut output, report)?;
        Ok(outputs)
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
        let mut raw = self.raw_outputs();
        let record = self.launch(&mut list, &ends, &mut |output| raw.push(output), report)?;
        let mut outputs = raw.drain(..);
        let devices = self.devices.iter();
        Ok(devices
            .map(|_| self.outputs_of(&mut outputs, &record))
            .collect())
    }

    /// Room for what a launch gives on all devices.
    #[inline]
    pub(crate) fn raw_outputs(&self) -> HeldOutputs {
        let mut raw = HeldOutputs::default();
        raw.make_room(self.devices.len() * self.signature.outputs().len());
        raw
    }

    /// Checks and starts. `ends` says where in the list each device's arguments end.
    /// Empties the list, and hands each output to `output`, device by device; gives the record
    /// that the outputs of a paced launch share.
    pub(crate) fn launch(
        &self,
        list: &mut ArgumentList<'_>,
        ends: &[usize],
        output: &mut impl FnMut(Held),
        report: Option<&mut DonationReport>,
    ) -> Result<Option<Arc<Launch>>, CallError> {
        let checked = self.check(list, ends).and_then(|()| {
            if self.copies_lent {
                self.make_sure_of_copied(list)
            } else {
                Ok(())
            }
        });
        if let Err(error) = checked {
            return Err(CallError::new(error, take_given(list, ends), Vec::new()));
        }
        let mut hold = |position, index, raw| output(self.hold(list, position, index, raw));
        let outcome = if self.devices.len() == 1 {
            self.start(list, &mut hold).map(|()| None)
        } else {
            match self.start_in_turn(list, &mut hold) {
                Ok(outcome) => outcome,
                Err(refusal) => {
                    return Err(CallError::new(refusal, take_given(list, ends), Vec::new()))
                }
            }
        };
        match outcome {
            Ok(record) => {
                if let Some(report) = report {
                    report.leaves = self.report(list);
                }
                // The runtime keeps what the run needs; what was given is dropped.
                list.arguments.clear();
                Ok(record)
            }
            Err(error) => Err(self.failed(error, take_given(list, ends))),
        }
    }

    /// Counts an output, in the place of the donated input whose memory it has.
    #[inline]
    fn hold(&self, list: &ArgumentList<'_>, position: usize, index: usize, raw: RawBuffer) -> Held {
        let output = &self.signature.outputs()[index];
        if let Some(donor) = output.donor() {
            let place = position * self.signature.inputs().len() + donor;
            if let Some(Argument::Given(given)) = list.arguments.get(place) {
                return given.held().hand_over(raw);
            }
        }
        Held::new(raw, self.devices[position].index(), output.form().bytes())
    }

    /// What became of the given arguments of a run that was started.
    fn report(&self, list: &ArgumentList<'_>) -> Vec<GivenLeaf> {
        let inputs = self.signature.inputs().len();
        let arguments = list.arguments.iter().enumerate();
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
    fn start(
        &self,
        list: &ArgumentList<'_>,
        output: &mut impl FnMut(usize, usize, RawBuffer),
    ) -> Result<()> {
        match self.session().pass() {
            None => self.execute(list, output, None),
            Some(pass) => {
                let mut done = Done::new();
                let started = self.execute(list, output, Some(&mut done));
                pass.keep(done);
                started
            }
        }
    }

    fn execute(
        &self,
        list: &ArgumentList<'_>,
        output: &mut impl FnMut(usize, usize, RawBuffer),
        done: Option<&mut Done>,
    ) -> Result<()> {
        let inputs = self.signature.inputs().len();
        let mut room = Room::<i64, 16>::new(0);
        let launch = execute::Launch {
            executable: &self.raw,
            devices: self.devices.len(),
            outputs: self.signature.outputs().len(),
            lent: lent_indices(&list.arguments[..inputs], room.list(inputs, 0)),
            id: if self.paced {
                launch::unique_launch_id()
            } else {
                0
            },
        };
        let arguments = list.arguments.iter();
        let buffers = arguments.map(|argument| argument.buffer().raw());
        launch.start(buffers, output, done)
    }

    /// Starts on several devices, when it is this launch's turn. The outer error is a
    /// refusal before the plugin was asked, the inner one the plugin's.
    fn start_in_turn(
        &self,
        list: &ArgumentList<'_>,
        output: &mut impl FnMut(usize, usize, RawBuffer),
    ) -> Result<Result<Option<Arc<Launch>>>> {
        let turn = self.session().turn();
        if self.paced {
            turn.settle();
        }
        if self.signature.has_collectives() {
            self.make_sure_of(list)?;
        }
        if !self.paced {
            return Ok(self.start(list, output).map(|()| None));
        }
        let alone = turn.close();
        let mut done = Done::new();
        let started = self.execute(list, output, Some(&mut done));
        Ok(started.map(|()| Some(alone.follow(done))))
    }

    fn outputs_of(
        &self,
        raw: &mut impl Iterator<Item = Held>,
        record: &Option<Arc<Launch>>,
    ) -> Outputs {
        Outputs {
            buffers: self.buffers(raw, record).collect(),
        }
    }

    /// A device's outputs, from the launch's: they follow one another device by device.
    pub(crate) fn buffers<'x>(
        &'x self,
        raw: &'x mut impl Iterator<Item = Held>,
        record: &'x Option<Arc<Launch>>,
    ) -> impl ExactSizeIterator<Item = Buffer> + 'x {
        let outputs = self.signature.outputs().iter();
        outputs.map(move |output| {
            let Some(held) = raw.next() else {
                unreachable!("a launch gives as many outputs as the executable states")
            };
            let form = Arc::clone(output.form());
            Buffer::from_held(held, form, record.clone())
        })
    }

    /// The plugin failed: what was given is asked one by one whether it is there still
    /// (fact 6).
    #[cold]
    fn failed(&self, error: Error, mut given: Vec<GivenBack>) -> CallError {
        let mut lost = Vec::new();
        given.retain(|given| {
            let intact = matches!(given.buffer.raw().is_deleted(), Ok(false));
            if intact {
                given.buffer.held().count_again();
            } else {
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

/// The arguments that XLA may not consume; the same on every device. Written into `indices`,
/// which has room for all.
fn lent_indices<'i>(arguments: &[Argument<'_>], indices: &'i mut [i64]) -> &'i [i64] {
    let mut count = 0;
    for (index, argument) in arguments.iter().enumerate() {
        if argument.is_lent() {
            indices[count] = index as i64;
            count += 1;
        }
    }
    &indices[..count]
}

/// What was given, with its device and its place in that device's list.
fn take_given(list: &mut ArgumentList<'_>, ends: &[usize]) -> Vec<GivenBack> {
    let mut given = Vec::new();
    let (mut device, mut start) = (0, 0);
    for (place, argument) in list.arguments.drain(..).enumerate() {
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
