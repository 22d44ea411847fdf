//! The machine: buffers in slots, what each holds, and the operations on them.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use xla::{Buffer, Client, Device, Error};

use crate::compiled::Compiled;
use crate::diary::Diary;
use crate::form::{Form, Read, Way};
use crate::model::{Content, Few};
use crate::program::Program;
use crate::step::{Case, Operation, Pick, Step};
use crate::world::World;

/// Whether all was as the model says, or else what wasn't.
pub type Verdict<T = ()> = Result<T, String>;

/// A buffer, or where one was.
pub(crate) struct Slot {
    /// Nothing once it's given or dropped.
    pub(crate) buffer: Option<Buffer>,
    pub(crate) form: Form,
    pub(crate) device: usize,
    pub(crate) content: Content,
}

/// A read that was started.
struct Started {
    slot: usize,
    wait: Read,
    content: Content,
}

/// Buffers on a client, and what a model says that they hold.
pub struct Machine<'w> {
    pub(crate) world: &'w dyn World,
    pub(crate) diary: &'w Diary,
    pub(crate) client: Client,
    pub(crate) devices: Vec<Device>,
    pub(crate) programs: Vec<Program>,
    pub(crate) compiled: Vec<Option<Arc<Compiled>>>,
    pub(crate) slots: Vec<Slot>,
    /// The forms that the programs take, and those of outputs that no input has.
    forms: Vec<Form>,
    reads: Vec<Started>,
}

/// So many buffers are kept; older ones are dropped.
const KEPT: usize = 96;
const READS_KEPT: usize = 8;

impl<'w> Machine<'w> {
    /// A machine without buffers.
    pub fn new(
        world: &'w dyn World,
        client: &Client,
        diary: &'w Diary,
        programs: &[Program],
    ) -> Machine<'w> {
        let inputs = programs.iter().flat_map(|program| &program.inputs);
        let mut forms = Vec::new();
        for form in inputs.map(|input| input.form) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        Machine {
            world,
            diary,
            client: client.clone(),
            devices: client.devices(),
            compiled: programs.iter().map(|_| None).collect(),
            programs: programs.to_vec(),
            slots: Vec::new(),
            forms,
            reads: Vec::new(),
        }
    }

    /// Does the steps of a case. A panic is a failure.
    ///
    /// # Errors
    /// Something isn't as the model says. The machine is of no use then.
    pub fn run(&mut self, case: &Case) -> Verdict {
        for (index, program) in case.programs.iter().enumerate() {
            self.diary.note(format!("p{index} {program:?}"));
        }
        for step in &case.steps {
            let done = panic::catch_unwind(AssertUnwindSafe(|| self.step(step)));
            done.unwrap_or_else(|panic| Err(said(&*panic)))?;
        }
        Ok(())
    }

    /// Reads all buffers, and drops all in some order: the client first or last.
    ///
    /// # Errors
    /// Something isn't as the model says.
    pub fn finish(mut self, client_first: bool) -> Verdict {
        self.diary.note("the end".to_owned());
        for slot in self.live() {
            self.read(slot, Way::ToHost)?;
        }
        if client_first {
            let Machine {
                client,
                devices,
                compiled,
                slots,
                ..
            } = self;
            drop((client, devices, compiled));
            drop(slots);
        } else {
            self.slots.clear();
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Verdict {
        self.operate(&step.operation)?;
        for slot in self.live().into_iter().rev().skip(KEPT) {
            self.slots[slot].buffer = None;
            self.diary.note(format!("drop b{slot}, one of too many"));
        }
        if self.reads.len() > READS_KEPT {
            self.reads.remove(0);
        }
        match step.look.and_then(|look| self.pick(look)) {
            Some(slot) => self.read(slot, Way::ToHost),
            None => Ok(()),
        }
    }

    fn operate(&mut self, operation: &Operation) -> Verdict {
        match operation {
            Operation::Upload {
                form,
                device,
                start,
                by,
                shared,
            } => {
                let form = self.forms[form.of(self.forms.len()).unwrap_or(0)];
                let device = device.of(self.devices.len()).unwrap_or(0);
                self.upload(form, device, (*start, *by), *shared).map(drop)
            }
            Operation::Call(call) => self.call(call),
            Operation::Together(one, other) => self.call_together(one, other),
            Operation::Misfit(call, misfit) => self.call_wrongly(call, *misfit),
            Operation::CopyHere(buffer) => self.copy(*buffer, None),
            Operation::CopyTo(buffer, device) => self.copy(*buffer, device.of(self.devices.len())),
            Operation::Read(buffer, way) => match self.pick(*buffer) {
                Some(slot) => {
                    self.diary.note(format!("read b{slot} {way:?}"));
                    self.read(slot, *way)
                }
                None => Ok(()),
            },
            Operation::Wait(buffer) => self.wait(*buffer),
            Operation::StartRead(buffer) => self.start_read(*buffer),
            Operation::FinishRead(read) => self.finish_read(*read),
            Operation::DropRead(read) => {
                if let Some(index) = read.of(self.reads.len()) {
                    let read = self.reads.remove(index);
                    self.diary.note(format!("drop the read of b{}", read.slot));
                    self.diary.count("reads dropped");
                }
                Ok(())
            }
            Operation::Drop(buffer, elsewhere) => {
                self.drop(*buffer, *elsewhere);
                Ok(())
            }
            Operation::Arm(fault) => {
                if self.world.fails_on_demand() {
                    let line = self.world.arm(fault);
                    self.diary.note(line);
                }
                Ok(())
            }
        }
    }

    /// The buffers that there are.
    pub(crate) fn live(&self) -> Vec<usize> {
        let slots = 0..self.slots.len();
        slots
            .filter(|slot| self.slots[*slot].buffer.is_some())
            .collect()
    }

    fn pick(&self, pick: Pick) -> Option<usize> {
        let live = self.live();
        Some(live[pick.of(live.len())?])
    }

    fn picked(&self, pick: Pick) -> Option<(usize, &Buffer)> {
        let slot = self.pick(pick)?;
        Some((slot, self.slots[slot].buffer.as_ref()?))
    }

    pub(crate) fn keep(
        &mut self,
        buffer: Buffer,
        form: Form,
        device: usize,
        content: Content,
    ) -> usize {
        self.slots.push(Slot {
            buffer: Some(buffer),
            form,
            device,
            content,
        });
        self.slots.len() - 1
    }

    /// Makes a buffer; `None` if that failed as it was told to.
    pub(crate) fn upload(
        &mut self,
        form: Form,
        device: usize,
        (start, by): (i8, i8),
        shared: bool,
    ) -> Verdict<Option<usize>> {
        let elements = 0..form.count() as i64;
        let values = elements.map(|index| i64::from(start) + i64::from(by) * (index % 16));
        let content = Content::of(values.collect());
        let shown = if shared { "shared " } else { "" };
        self.diary.note(format!(
            "b{} = {shown}{form} on {device}, {content:?}",
            self.slots.len()
        ));
        self.diary
            .count(if shared { "shared uploads" } else { "uploads" });
        match form.upload(&self.devices[device], content.values(), shared) {
            Ok(buffer) => Ok(Some(self.keep(buffer, form, device, content))),
            Err(error) => self.excuse(&error).map(|()| None),
        }
    }

    fn copy(&mut self, buffer: Pick, to: Option<usize>) -> Verdict {
        let Some((slot, buffer)) = self.picked(buffer) else {
            return Ok(());
        };
        let (form, content) = (self.slots[slot].form, self.slots[slot].content.clone());
        let device = to.unwrap_or(self.slots[slot].device);
        self.diary.note(format!(
            "b{} = copy of b{slot} to {device}",
            self.slots.len()
        ));
        self.diary.count("copies");
        let copy = match to {
            Some(device) => buffer.copy_to_device(&self.devices[device]),
            None => buffer.copy_on_device(),
        };
        match copy {
            Ok(copy) => {
                self.keep(copy, form, device, content);
                Ok(())
            }
            Err(error) if content.has_failed() => speaks_of_donation(&error),
            Err(error) => self.excuse(&error),
        }
    }

    /// Reads a buffer and compares.
    pub(crate) fn read(&self, slot: usize, way: Way) -> Verdict {
        let Slot {
            buffer: Some(buffer),
            form,
            content,
            ..
        } = &self.slots[slot]
        else {
            return Ok(());
        };
        let way = match way {
            // Waiting may be made to fail, which ends the process here.
            Way::Into if self.world.fails_on_demand() => Way::ToHost,
            Way::View if self.client.platform_name() != "cpu" => Way::ToHost,
            way => way,
        };
        self.diary.count("reads");
        let read = form.read(buffer, way);
        self.compare(&format!("b{slot}"), content, read)
    }

    fn compare(&self, what: &str, content: &Content, read: xla::Result<Vec<f64>>) -> Verdict {
        match read {
            Ok(_) if content.has_failed() => Err(format!("{what} reads well, but its run failed")),
            Ok(read) if content.is(&read) => Ok(()),
            Ok(read) => Err(format!("{what} is {}, not {content:?}", Few(&read))),
            Err(error) if content.has_failed() => speaks_of_donation(&error),
            Err(error) => self
                .excuse(&error)
                .map_err(|error| format!("reading {what}: {error}")),
        }
    }

    fn wait(&self, buffer: Pick) -> Verdict {
        let Some((slot, buffer)) = self.picked(buffer) else {
            return Ok(());
        };
        let content = &self.slots[slot].content;
        self.diary.note(format!("wait for b{slot}"));
        match buffer.wait() {
            Ok(()) if content.has_failed() => {
                Err(format!("b{slot} is said to be there, but its run failed"))
            }
            Ok(()) => Ok(()),
            Err(error) if content.has_failed() => speaks_of_donation(&error),
            Err(error) => self.excuse(&error),
        }
    }

    fn start_read(&mut self, buffer: Pick) -> Verdict {
        let Some((slot, buffer)) = self.picked(buffer) else {
            return Ok(());
        };
        let Slot { form, content, .. } = &self.slots[slot];
        self.diary.note(format!("start to read b{slot}"));
        let content = content.clone();
        match form.start_read(buffer) {
            Ok(wait) => {
                self.reads.push(Started {
                    slot,
                    wait,
                    content,
                });
                Ok(())
            }
            Err(error) if content.has_failed() => speaks_of_donation(&error),
            Err(error) => self.excuse(&error),
        }
    }

    fn finish_read(&mut self, read: Pick) -> Verdict {
        let Some(index) = read.of(self.reads.len()) else {
            return Ok(());
        };
        let read = self.reads.remove(index);
        self.diary
            .note(format!("wait for the read of b{}", read.slot));
        self.diary.count(match self.slots[read.slot].buffer {
            Some(_) => "reads awaited",
            None => "reads awaited after the buffer was gone",
        });
        let what = format!("the read of b{}", read.slot);
        self.compare(&what, &read.content, (read.wait)())
    }

    fn drop(&mut self, buffer: Pick, elsewhere: bool) {
        let Some(slot) = self.pick(buffer) else {
            return;
        };
        self.diary.note(format!("drop b{slot}"));
        let buffer = self.slots[slot].buffer.take();
        if elsewhere {
            std::thread::scope(|scope| {
                scope.spawn(move || drop(buffer));
            });
        }
    }

    /// Whether an error is no fault of the layer's.
    pub(crate) fn excuse(&self, error: &Error) -> Verdict {
        speaks_of_donation(error)?;
        if self.world.asked_for(error) {
            self.diary.count("failures on demand");
            return Ok(());
        }
        Err(format!("unexpected: {error}"))
    }
}

/// What a program for which donation is a move never says.
pub(crate) fn speaks_of_donation(error: &Error) -> Verdict {
    let message = error.message().to_lowercase();
    for word in ["donat", "deleted"] {
        if message.contains(word) {
            return Err(format!("an error of donation: {error}"));
        }
    }
    Ok(())
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a panic: {}", text.unwrap_or("without a message"))
}
