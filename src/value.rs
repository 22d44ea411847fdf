//! Named values: what options take and attributes give.

/// A value with one of the five types that PJRT options and attributes have
/// (`PJRT_NamedValue`).
///
/// ```
/// let options = xla::ClientOptions::new().option("cpu_device_count", 4);
/// assert_eq!(xla::Value::from(4), xla::Value::Int(4));
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Text.
    Str(String),
    /// A 64-bit integer.
    Int(i64),
    /// A list of 64-bit integers.
    Ints(Vec<i64>),
    /// A 32-bit float.
    Float(f32),
    /// A truth value.
    Bool(bool),
}

impl Value {
    /// The text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, where it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The integers, where it is a list of them.
    pub fn as_ints(&self) -> Option<&[i64]> {
        match self {
            Value::Ints(numbers) => Some(numbers),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Str(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Int(number.into())
    }
}

impl From<Vec<i64>> for Value {
    fn from(numbers: Vec<i64>) -> Self {
        Value::Ints(numbers)
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Value::Float(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}
