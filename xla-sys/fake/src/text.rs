//! What the plugin lends by pointer: text that ends without a NUL, lists, named values.

use std::ffi::c_char;

use pjrt_sys::{Args, PJRT_NamedValue, PJRT_NamedValue_Type};

/// Text with more bytes right behind it: whoever reads past its size sees them.
pub(crate) struct Text {
    bytes: Box<[u8]>,
    size: usize,
}

const BEHIND: &str = "~read past the end of a text~";

impl Text {
    pub(crate) fn new(text: impl AsRef<[u8]>) -> Text {
        let text = text.as_ref();
        Text {
            bytes: [text, BEHIND.as_bytes()].concat().into(),
            size: text.len(),
        }
    }

    pub(crate) fn start(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

/// Handles that are lent as a list.
pub(crate) struct Handles<T>(Box<[*mut T]>);

// SAFETY: the pointers are names of handles; they're never followed.
unsafe impl<T> Send for Handles<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handles<T> {}

impl<T> Handles<T> {
    pub(crate) fn new(handles: impl IntoIterator<Item = *mut T>) -> Handles<T> {
        Handles(handles.into_iter().collect())
    }
}

impl<T> std::ops::Deref for Handles<T> {
    type Target = [*mut T];

    fn deref(&self) -> &[*mut T] {
        &self.0
    }
}

/// The value of an attribute.
pub(crate) enum Value {
    Text(&'static str),
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Bool(bool),
}

/// Attributes in the form in which they're lent.
pub(crate) struct Attributes {
    named: Vec<PJRT_NamedValue>,
    // What `named` points into.
    _texts: Vec<Text>,
    _lists: Vec<Vec<i64>>,
}

// SAFETY: the pointers lead into the value itself, which is never changed.
unsafe impl Send for Attributes {}
// SAFETY: as above.
unsafe impl Sync for Attributes {}

impl Attributes {
    pub(crate) fn new(values: impl IntoIterator<Item = (&'static str, Value)>) -> Attributes {
        let (mut named, mut texts, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in values {
            let mut item = PJRT_NamedValue::zeroed();
            let name = Text::new(name);
            (item.name, item.name_size, item.value_size) = (name.start(), name.size(), 1);
            texts.push(name);
            match value {
                Value::Text(text) => {
                    let text = Text::new(text);
                    item.type_ = PJRT_NamedValue_Type::String;
                    item.value.string_value = text.start();
                    item.value_size = text.size();
                    texts.push(text);
                }
                Value::Int(number) => {
                    item.type_ = PJRT_NamedValue_Type::Int64;
                    item.value.int64_value = number;
                }
                Value::Ints(list) => {
                    item.type_ = PJRT_NamedValue_Type::Int64List;
                    item.value.int64_array_value = list.as_ptr();
                    item.value_size = list.len();
                    lists.push(list);
                }
                Value::Float(number) => {
                    item.type_ = PJRT_NamedValue_Type::Float;
                    item.value.float_value = number;
                }
                Value::Bool(truth) => {
                    item.type_ = PJRT_NamedValue_Type::Bool;
                    item.value.bool_value = truth;
                }
            }
            named.push(item);
        }
        Attributes {
            named,
            _texts: texts,
            _lists: lists,
        }
    }

    pub(crate) fn start(&self) -> *const PJRT_NamedValue {
        self.named.as_ptr()
    }

    pub(crate) fn count(&self) -> usize {
        self.named.len()
    }
}

/// The list of `count` values at `start`; empty when `start` is null.
///
/// # Safety
/// A non-null `start` points to `count` values that live and stay unchanged for `'a`.
pub(crate) unsafe fn list<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if start.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, count) }
}
