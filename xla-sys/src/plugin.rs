//! The plugin itself: version, attributes, named values, the head of every extension.

use crate::*;
use core::ffi::{c_char, c_int};

unions! {
    /// The value itself; which member holds is said by `type_`.
    PJRT_NamedValue_Value {
        string_value: *const c_char,
        int64_value: i64,
        int64_array_value: *const i64,
        float_value: f32,
        bool_value: bool,
    }
}

structs! { "pjrt_c_api.h";
    /// Head of every extension: a linked list that starts at the table's `extension_start`.
    sized PJRT_Extension_Base (54) {
        type_: PJRT_Extension_Type,
        next: *mut PJRT_Extension_Base,
    }

    /// The version of the API that a plugin speaks.
    args PJRT_Api_Version (54) {
        major_version: c_int,
        minor_version: c_int,
    }

    /// A name with a value of one of five types.
    args PJRT_NamedValue (54) {
        name: *const c_char,
        name_size: usize,
        type_: PJRT_NamedValue_Type,
        #[anonymous(PJRT_NamedValue_Value)]
        value: PJRT_NamedValue_Value,
        /// Bytes of a text, elements of a list, 1 for the rest.
        value_size: usize,
    }

    /// Arguments of [`PJRT_Plugin_Initialize`].
    args PJRT_Plugin_Initialize_Args (54) {}

    /// Arguments of [`PJRT_Plugin_Attributes`]; sets `attributes` and `num_attributes`.
    args PJRT_Plugin_Attributes_Args (54) {
        attributes: *const PJRT_NamedValue,
        num_attributes: usize,
    }
}
