//! Named values to and from the plugin.

use std::ffi::c_char;

use pjrt_sys::{Args, PJRT_NamedValue, PJRT_NamedValue_Type};

use super::parts;
use crate::value::Value;

/// Copies `count` named values out of the plugin's memory. A value of a type
/// that this crate does not know is left out.
///
/// # Safety
/// `start` is null or points to `count` named values that are alive.
pub(super) unsafe fn read(start: *const PJRT_NamedValue, count: usize) -> Vec<(String, Value)> {
    let mut values = Vec::with_capacity(count);
    if start.is_null() || count == 0 {
        return values;
    }
    // SAFETY: the caller's promise. The plugin's array has the plugin's element
    // size, which each element states; a newer, longer struct must not be read
    // with our stride.
    let stride = unsafe { (*start).struct_size }.max(size_of::<PJRT_NamedValue>());
    let stride = stride.next_multiple_of(align_of::<PJRT_NamedValue>());
    for index in 0..count {
        // SAFETY: element `index` of the caller's array; the union is read by the
        // type that the element states, and text and lists have their size beside.
        unsafe {
            let item = &*start
                .cast::<u8>()
                .add(index * stride)
                .cast::<PJRT_NamedValue>();
            let value = match item.type_ {
                PJRT_NamedValue_Type::String => {
                    Value::Str(parts::text(item.value.string_value, item.value_size))
                }
                PJRT_NamedValue_Type::Int64 => Value::Int(item.value.int64_value),
                PJRT_NamedValue_Type::Int64List => Value::Ints(
                    parts::slice(item.value.int64_array_value, item.value_size).to_vec(),
                ),
                PJRT_NamedValue_Type::Float => Value::Float(item.value.float_value),
                PJRT_NamedValue_Type::Bool => Value::Bool(item.value.bool_value),
                _ => continue,
            };
            values.push((parts::text(item.name, item.name_size), value));
        }
    }
    values
}

/// The C form of named values; its pointers are good as long as `values` is.
pub(super) fn write(values: &[(String, Value)]) -> Vec<PJRT_NamedValue> {
    values
        .iter()
        .map(|(name, value)| {
            let mut item = PJRT_NamedValue::zeroed();
            item.name = name.as_ptr().cast::<c_char>();
            item.name_size = name.len();
            item.value_size = 1;
            match value {
                Value::Str(text) => {
                    item.type_ = PJRT_NamedValue_Type::String;
                    item.value.string_value = text.as_ptr().cast::<c_char>();
                    item.value_size = text.len();
                }
                Value::Int(number) => {
                    item.type_ = PJRT_NamedValue_Type::Int64;
                    item.value.int64_value = *number;
                }
                Value::Ints(numbers) => {
                    item.type_ = PJRT_NamedValue_Type::Int64List;
                    item.value.int64_array_value = numbers.as_ptr();
                    item.value_size = numbers.len();
                }
                Value::Float(number) => {
                    item.type_ = PJRT_NamedValue_Type::Float;
                    item.value.float_value = *number;
                }
                Value::Bool(truth) => {
                    item.type_ = PJRT_NamedValue_Type::Bool;
                    item.value.bool_value = *truth;
                }
            }
            item
        })
        .collect()
}
