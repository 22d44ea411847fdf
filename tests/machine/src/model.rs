//! What the model knows of a buffer.

use std::fmt;
use std::sync::Arc;

/// What a buffer holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// These integers, as elements of its type.
    Values(Arc<[i64]>),
    /// Nothing: the run that was to fill it failed.
    Failed,
}

/// Up to here integers are exact in every element type, also after a program has added some up.
const LARGEST: i64 = 1 << 20;

impl Content {
    /// These values.
    pub fn of(values: Vec<i64>) -> Content {
        Content::Values(values.into())
    }

    /// Whether the run that was to fill it failed.
    pub fn has_failed(&self) -> bool {
        *self == Content::Failed
    }

    /// The values; none if it has failed.
    pub fn values(&self) -> &[i64] {
        match self {
            Content::Values(values) => values,
            Content::Failed => &[],
        }
    }

    /// Whether a program may compute with it.
    pub fn is_small(&self) -> bool {
        self.values().iter().all(|value| value.abs() <= LARGEST)
    }

    /// Whether these are the values.
    pub fn is(&self, read: &[f64]) -> bool {
        let values = self.values();
        let pairs = || values.iter().zip(read);
        // Zero may come back as -0.
        values.len() == read.len() && pairs().all(|(value, read)| *value as f64 == *read)
    }
}

/// The first few.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Values(values) => short(f, values),
            Content::Failed => f.write_str("failed"),
        }
    }
}

/// Values that were read, the first few.
pub(crate) struct Few<'a>(pub(crate) &'a [f64]);

impl fmt::Display for Few<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        short(f, self.0)
    }
}

fn short<T: fmt::Debug>(f: &mut fmt::Formatter<'_>, values: &[T]) -> fmt::Result {
    match values.get(..8) {
        Some(first) if values.len() > 8 => write!(f, "{first:?}, {} in all", values.len()),
        _ => write!(f, "{values:?}"),
    }
}
