//! The plugin that a machine works on, and what can be asked of it.

use std::sync::Arc;

use xla::{Client, Error, Result};

use crate::compiled::Compiled;
use crate::program::Program;
use crate::step::{Fault, Mishap};

/// A plugin under test.
pub trait World {
    /// Compiles a program.
    ///
    /// # Errors
    /// As [`Compiled::new`].
    fn compile(&self, client: &Client, program: &Program) -> Result<Arc<Compiled>>;

    /// Whether programs with [`Trouble`](crate::Trouble) fail on it.
    fn minds_trouble(&self) -> bool;

    /// Whether it does a [`Mishap`] and a [`Fault`].
    fn fails_on_demand(&self) -> bool;

    /// Has a later call fail; says which.
    fn arm(&self, fault: &Fault) -> String;

    /// Takes back all failures that were set and haven't struck.
    fn heal(&self);

    /// Does `run`, which runs a program once, with a mishap. `consumed` are the inputs that are to be
    /// consumed by a failing call.
    fn with_mishap(&self, mishap: Mishap, consumed: &[usize], run: &mut dyn FnMut());

    /// Whether an error is one that it was told to have.
    fn asked_for(&self, error: &Error) -> bool;
}
