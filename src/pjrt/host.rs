//! Host memory that plugins read from and write to.

use half::{bf16, f16};
use num_complex::Complex;

use crate::float8::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};

/// Numbers without padding of which every bit pattern is a value, so that they
/// can be seen as bytes and filled from bytes.
///
/// # Safety
/// The type has no padding, no invalid bit pattern and no pointer.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty),* $(,)?) => {
        // SAFETY: primitive numbers, or transparent or two-field structs of them.
        $(unsafe impl Plain for $type {})*
    };
}

plain!(
    u8,
    u16,
    u32,
    u64,
    i8,
    i16,
    i32,
    i64,
    f32,
    f64,
    f16,
    bf16,
    Complex<f32>,
    Complex<f64>
);
// Transparent over a byte, of which every pattern is a value.
plain!(
    F4E2M1FN,
    F8E3M4,
    F8E4M3,
    F8E4M3B11FNUZ,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU
);

/// The bytes of a list of numbers.
pub(crate) fn bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` has no padding, so every byte is initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of a list of numbers, writable: every byte pattern is a value.
pub(crate) fn bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    let size = size_of_val(values);
    // SAFETY: `Plain` has neither padding nor invalid bit patterns.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size) }
}

/// The bytes of truth values: 0 and 1.
pub(crate) fn bool_bytes(values: &[bool]) -> &[u8] {
    // SAFETY: a `bool` is one initialised byte.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// Bytes seen as numbers; `None` when they lie or end where such numbers can't.
pub(crate) fn numbers<T: Plain>(bytes: &[u8]) -> Option<&[T]> {
    let start = bytes.as_ptr().cast::<T>();
    if !start.is_aligned() || bytes.len() % size_of::<T>() != 0 {
        return None;
    }
    // SAFETY: aligned, as long as it says, and every byte pattern is a value of a `Plain`.
    Some(unsafe { std::slice::from_raw_parts(start, bytes.len() / size_of::<T>()) })
}
