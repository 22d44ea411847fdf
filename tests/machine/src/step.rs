//! What a machine is told to do. Choices are numbers that mean something whatever there is to
//! choose from, so a sequence stays one when steps are taken out of it.

use std::fmt;

use crate::form::Way;
use crate::program::Program;

/// A choice: what it leads to is settled when the step is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pick(pub u16);

impl Pick {
    /// The index that is meant, of `count`; `None` if there's nothing to choose from.
    pub fn of(self, count: usize) -> Option<usize> {
        (count > 0).then(|| usize::from(self.0) % count)
    }
}

/// A case: programs, and what's done with them.
#[derive(Clone)]
pub struct Case {
    /// At least one.
    pub programs: Vec<Program>,
    /// In order.
    pub steps: Vec<Step>,
}

/// An operation, and perhaps a buffer that's read after it.
#[derive(Clone, Debug)]
pub struct Step {
    /// What's done.
    pub operation: Operation,
    /// What's looked at.
    pub look: Option<Pick>,
}

/// An operation.
#[derive(Clone)]
pub enum Operation {
    /// Makes a buffer of `start`, `start + by`, `start + 2 by`...
    Upload {
        /// One of the forms that the programs take.
        form: Pick,
        /// One of all.
        device: Pick,
        /// The first value.
        start: i8,
        /// What the next has more.
        by: i8,
        /// Whether the buffer is to live in the host memory that it's made of.
        shared: bool,
    },
    /// Runs a program.
    Call(Call),
    /// Runs two programs at once, from two threads, which may lend the same buffers.
    Together(Call, Call),
    /// Runs a program with something wrong: it must be refused.
    Misfit(Call, Misfit),
    /// A second buffer with the same values on the same device.
    CopyHere(Pick),
    /// One on any device.
    CopyTo(Pick, Pick),
    /// Reads a buffer.
    Read(Pick, Way),
    /// Waits for a buffer.
    Wait(Pick),
    /// Starts to read a buffer.
    StartRead(Pick),
    /// Waits for a read that was started.
    FinishRead(Pick),
    /// Drops a read that was started.
    DropRead(Pick),
    /// Drops a buffer, from another thread if so said.
    Drop(Pick, bool),
    /// Has some later call into the plugin fail, where that can be asked for.
    Arm(Fault),
}

/// A run of a program.
#[derive(Clone)]
pub struct Call {
    /// One of the case's.
    pub program: Pick,
    /// What's passed, input by input. An input beyond the last takes from the start again.
    pub arguments: Vec<Argument>,
    /// How it's called.
    pub how: How,
    /// Whether it's called from another thread, while this one reads a buffer.
    pub elsewhere: bool,
    /// Whether some of what's lent is host memory that's borrowed for the call, with the same values.
    pub borrow: bool,
    /// Whether buffers of failed runs may be among the arguments.
    pub failed: bool,
    /// Whether what was lent is read right afterwards.
    pub look: bool,
    /// What happens inside the plugin, where that can be asked for.
    pub mishap: Option<Mishap>,
}

/// What's passed for an input, on every device.
#[derive(Clone, Copy)]
pub struct Argument {
    /// Given, or else lent.
    pub give: bool,
    /// Which buffer it is.
    pub from: Origin,
}

/// Which buffer is passed.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// One that's made for it.
    New,
    /// The latest that fits, if there's one: it may be pending.
    Latest,
    /// One of those that fit, if there's one; on other devices than the first it's the next ones.
    Any(Pick),
}

/// A way of calling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// `run`, `run_per_device`
    Run,
    /// `run_reported`, on one device
    Reported,
    /// `Function::call`, on one device with all given
    Typed,
}

/// What's wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// An argument of another element type or with other dimensions.
    Form(Pick),
    /// An argument on another device.
    Device(Pick),
    /// The last argument is missing.
    TooFew,
    /// There's one argument more.
    TooMany,
    /// The last device's arguments are missing.
    NoDevice,
    /// An argument is given on one device and lent on the others.
    GivenAndLent(Pick),
}

/// What a run is made to do, by a plugin that does so on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The call fails.
    Fails {
        /// The given inputs that it has consumed, a bit each.
        consumed: u8,
        /// Whether it has done its work and handed all out.
        handles: bool,
    },
    /// The call succeeds, and the outputs carry an error.
    FailsLater,
}

/// A failure of a call into the plugin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// One of the plugin's entries.
    pub entry: Pick,
    /// How many calls of that entry until it strikes.
    pub after: u8,
    /// Whether the call has done its work and handed all out.
    pub handles: bool,
}

impl fmt::Debug for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Upload {
                form,
                device,
                start,
                by,
                shared,
            } => {
                let shared = if *shared { " shared" } else { "" };
                write!(f, "upload {form:?} on {device:?}: {start} by {by}{shared}")
            }
            Operation::Call(call) => write!(f, "{call:?}"),
            Operation::Together(one, other) => write!(f, "{one:?} together with {other:?}"),
            Operation::Misfit(call, misfit) => write!(f, "{call:?} wrong: {misfit:?}"),
            Operation::CopyHere(buffer) => write!(f, "copy {buffer:?}"),
            Operation::CopyTo(buffer, device) => write!(f, "copy {buffer:?} to {device:?}"),
            Operation::Read(buffer, way) => write!(f, "read {buffer:?} {way:?}"),
            Operation::Wait(buffer) => write!(f, "wait {buffer:?}"),
            Operation::StartRead(buffer) => write!(f, "start read {buffer:?}"),
            Operation::FinishRead(read) => write!(f, "finish read {read:?}"),
            Operation::DropRead(read) => write!(f, "drop read {read:?}"),
            Operation::Drop(buffer, elsewhere) => {
                let elsewhere = if *elsewhere { " elsewhere" } else { "" };
                write!(f, "drop {buffer:?}{elsewhere}")
            }
            Operation::Arm(fault) => write!(f, "{fault:?}"),
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {:?} (", self.program)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{argument:?}")?;
        }
        write!(f, ")")?;
        if self.how != How::Run {
            write!(f, " {:?}", self.how)?;
        }
        let flags = [
            (self.elsewhere, " elsewhere"),
            (self.borrow, " borrowed"),
            (self.failed, " failed too"),
            (self.look, " look"),
        ];
        for (_, flag) in flags.iter().filter(|(set, _)| *set) {
            f.write_str(flag)?;
        }
        match self.mishap {
            None => Ok(()),
            Some(Mishap::Fails { consumed, handles }) => {
                let handles = if handles { " with handles" } else { "" };
                write!(f, " failing, {consumed:#b} consumed{handles}")
            }
            Some(Mishap::FailsLater) => write!(f, " failing later"),
        }
    }
}

impl fmt::Debug for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.give { "give" } else { "lend" };
        match self.from {
            Origin::New => write!(f, "{verb} new"),
            Origin::Latest => write!(f, "{verb} latest"),
            Origin::Any(pick) => write!(f, "{verb} {pick:?}"),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handles = if self.handles { " with handles" } else { "" };
        write!(
            f,
            "entry {:?} fails after {}{handles}",
            self.entry, self.after
        )
    }
}

/// A line for each program and each step.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, program) in self.programs.iter().enumerate() {
            write!(f, "\n  program {index} {program:?}")?;
        }
        for step in &self.steps {
            write!(f, "\n  {:?}", step.operation)?;
            if let Some(pick) = step.look {
                write!(f, "; look {pick:?}")?;
            }
        }
        Ok(())
    }
}
