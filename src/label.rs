//! Names that buffers are counted under.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use parking_lot::Mutex;

/// A label's number; [`NONE`] where there is none.
pub(crate) type Number = u8;

pub(crate) const NONE: Number = 0;

/// Names beyond the most are counted together under this number.
const OTHERS: Number = Number::MAX;

/// What stands for them.
const OTHERS_NAME: &str = "other labels";

/// The process's names: the first has number 1.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

thread_local! {
    static CURRENT: Cell<Number> = const { Cell::new(NONE) };
    /// The thread's live guards, the innermost last, each with a number of its own: they may be
    /// dropped in another order than they were made in, as fields of a struct are.
    static SCOPES: RefCell<Vec<(u64, Number)>> = const { RefCell::new(Vec::new()) };
    static MADE: Cell<u64> = const { Cell::new(0) };
}

/// Counts the buffers that this thread makes under a name, until the guard is dropped: see
/// [`Client::memory_account`](crate::Client::memory_account).
///
/// A label goes with the memory: an output that lives in a donated input's memory is counted
/// under that input's label, whatever the label of the moment. Labels don't nest into paths:
/// the innermost counts. Costs a short look through the names that there are; a process has 254,
/// further ones are counted together as `other labels`.
///
/// ```
/// # fn main() -> xla::Result<()> {
/// let client = xla::Client::cpu()?;
/// let device = client.device(0)?;
/// let weights = {
///     let _params = xla::label("params");
///     xla::Buffer::from_host(&device, &[1f32, 2.], &[2])?
/// };
/// assert_eq!(weights.label(), Some("params"));
/// assert_eq!(client.memory_account().live_bytes_of("params"), 8);
/// # Ok(())
/// # }
/// ```
pub fn label(name: &'static str) -> LabelScope {
    let number = number_of(name);
    let id = MADE.get();
    MADE.set(id + 1);
    // While the thread ends there are no guards to come back to.
    let _ = SCOPES.try_with(|scopes| scopes.borrow_mut().push((id, number)));
    CURRENT.set(number);
    LabelScope {
        id,
        this_thread: PhantomData,
    }
}

/// While it lives, the buffers that its thread makes are counted under a name: see [`label`].
/// Dropped, it leaves the label of the innermost guard that still lives.
#[must_use = "the label ends when this is dropped"]
#[derive(Debug)]
pub struct LabelScope {
    id: u64,
    /// The label is a thread's.
    this_thread: PhantomData<*const ()>,
}

impl Drop for LabelScope {
    fn drop(&mut self) {
        let innermost = SCOPES.try_with(|scopes| {
            let mut scopes = scopes.borrow_mut();
            scopes.retain(|(id, _)| *id != self.id);
            scopes.last().map_or(NONE, |(_, number)| *number)
        });
        CURRENT.set(innermost.unwrap_or(NONE));
    }
}

/// The label of what this thread makes now.
#[inline]
pub(crate) fn current() -> Number {
    CURRENT.get()
}

fn number_of(name: &'static str) -> Number {
    let mut names = NAMES.lock();
    let known = names.iter().position(|known| *known == name);
    let index = known.unwrap_or_else(|| {
        if names.len() < usize::from(OTHERS) - 1 {
            names.push(name);
            names.len() - 1
        } else {
            usize::from(OTHERS) - 1
        }
    });
    // At most `OTHERS`.
    (index + 1) as Number
}

/// The name with this number.
pub(crate) fn name_of(number: Number) -> Option<&'static str> {
    match number {
        NONE => None,
        OTHERS => Some(OTHERS_NAME),
        number => NAMES.lock().get(usize::from(number) - 1).copied(),
    }
}
