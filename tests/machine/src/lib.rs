//! Random programs, random sequences of calls: a machine that does them, and a model of plain
//! integers that it's held against.
//!
//! A [`Case`] is a few [`Program`]s and a sequence of [`Step`]s. A [`Machine`] does the steps on a
//! client and knows of every buffer what it holds. After each step one buffer is read, in the end all
//! are. What was lent must never be consumed, what was given is gone by its type, and comes back,
//! intact, when a call fails; no error may ever speak of a buffer that was donated or deleted.

mod call;
mod compiled;
mod diary;
mod form;
mod machine;
mod model;
mod plan;
mod program;
mod settle;
mod step;
mod world;

pub use compiled::Compiled;
pub use diary::Diary;
pub use form::{Form, Read, Way, FORMS};
pub use machine::{Machine, Verdict};
pub use model::Content;
pub use program::{Donor, Input, Op, Output, Program, Trouble};
pub use step::{Argument, Call, Case, Fault, How, Misfit, Mishap, Operation, Origin, Pick, Step};
pub use world::World;
