//! Values of compiler options.

/// The value of a compiler option.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionValue {
    /// Text.
    Str(String),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

impl From<&str> for OptionValue {
    fn from(text: &str) -> Self {
        OptionValue::Str(text.to_owned())
    }
}

impl From<String> for OptionValue {
    fn from(text: String) -> Self {
        OptionValue::Str(text)
    }
}

impl From<bool> for OptionValue {
    fn from(truth: bool) -> Self {
        OptionValue::Bool(truth)
    }
}

impl From<i64> for OptionValue {
    fn from(number: i64) -> Self {
        OptionValue::Int(number)
    }
}

impl From<i32> for OptionValue {
    fn from(number: i32) -> Self {
        OptionValue::Int(number.into())
    }
}

impl From<f64> for OptionValue {
    fn from(number: f64) -> Self {
        OptionValue::Float(number)
    }
}
