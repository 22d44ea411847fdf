//! Element types, and the Rust types that stand for them.

use std::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use crate::error::{Error, Result};
use crate::float8::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};
use crate::pjrt::host::{self, Plain};

macro_rules! element_types {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $bits:literal $hlo:literal;)*) => {
        /// The type of a buffer's elements: all that PJRT knows (`PJRT_Buffer_Type`).
        ///
        /// Types of fewer than 8 bits take a byte an element on the host, in the
        /// low bits, whatever they take on the device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ElementType {
            $($(#[doc = $doc])* $variant,)*
        }

        impl ElementType {
            /// Every element type.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant),*];

            /// The name as XLA writes it, such as `f32` or `pred`.
            pub fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// The size of the information in bits; 0 for a token.
            pub fn bits(self) -> usize {
                match self { $(ElementType::$variant => $bits,)* }
            }

            /// The type with this number in HLO's `PrimitiveType`.
            pub(crate) fn from_hlo(number: i32) -> Option<ElementType> {
                match number {
                    $($hlo => Some(ElementType::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

element_types! {
    /// One truth value: a byte, 0 or 1.
    Pred "pred" 8 1;
    /// 1-bit signed integer.
    S1 "s1" 1 30;
    /// 2-bit signed integer.
    S2 "s2" 2 26;
    /// 4-bit signed integer.
    S4 "s4" 4 21;
    /// 8-bit signed integer.
    S8 "s8" 8 2;
    /// 16-bit signed integer.
    S16 "s16" 16 3;
    /// 32-bit signed integer.
    S32 "s32" 32 4;
    /// 64-bit signed integer.
    S64 "s64" 64 5;
    /// 1-bit unsigned integer.
    U1 "u1" 1 31;
    /// 2-bit unsigned integer.
    U2 "u2" 2 27;
    /// 4-bit unsigned integer.
    U4 "u4" 4 22;
    /// 8-bit unsigned integer.
    U8 "u8" 8 6;
    /// 16-bit unsigned integer.
    U16 "u16" 16 7;
    /// 32-bit unsigned integer.
    U32 "u32" 32 8;
    /// 64-bit unsigned integer.
    U64 "u64" 64 9;
    /// 4-bit float, finite only.
    F4E2M1FN "f4e2m1fn" 4 32;
    /// 6-bit float, finite only.
    F6E2M3FN "f6e2m3fn" 6 36;
    /// 6-bit float, finite only.
    F6E3M2FN "f6e3m2fn" 6 35;
    /// 8-bit float, 3 exponent bits.
    F8E3M4 "f8e3m4" 8 29;
    /// 8-bit float, 4 exponent bits, with infinities.
    F8E4M3 "f8e4m3" 8 28;
    /// 8-bit float, 4 exponent bits, finite and NaN.
    F8E4M3FN "f8e4m3fn" 8 20;
    /// 8-bit float, 4 exponent bits, bias 8, no negative zero.
    F8E4M3FNUZ "f8e4m3fnuz" 8 25;
    /// 8-bit float, 4 exponent bits, bias 11, no negative zero.
    F8E4M3B11FNUZ "f8e4m3b11fnuz" 8 23;
    /// 8-bit float, 5 exponent bits, with infinities.
    F8E5M2 "f8e5m2" 8 19;
    /// 8-bit float, 5 exponent bits, bias 16, no negative zero.
    F8E5M2FNUZ "f8e5m2fnuz" 8 24;
    /// 8-bit scale: powers of two, no sign, no zero.
    F8E8M0FNU "f8e8m0fnu" 8 33;
    /// IEEE half precision.
    F16 "f16" 16 10;
    /// Bfloat16.
    Bf16 "bf16" 16 16;
    /// IEEE single precision.
    F32 "f32" 32 11;
    /// IEEE double precision.
    F64 "f64" 64 12;
    /// Complex of two f32.
    C64 "c64" 64 15;
    /// Complex of two f64.
    C128 "c128" 128 18;
    /// No data: orders effects.
    Token "token" 0 17;
}

impl ElementType {
    /// The API minor that brought the type. A plugin that is older dereferences null
    /// when it is told the number.
    pub(crate) fn since(self) -> i32 {
        match self {
            ElementType::F8E4M3
            | ElementType::F8E3M4
            | ElementType::F8E8M0FNU
            | ElementType::F4E2M1FN => 68,
            // 0.90 doesn't list them, 0.106 has them.
            ElementType::S1 | ElementType::U1 => 106,
            ElementType::F6E2M3FN | ElementType::F6E3M2FN => 114,
            _ => 0,
        }
    }

    /// The size of one element in host memory in bytes.
    pub fn host_size(self) -> usize {
        self.bits().div_ceil(8)
    }
}

/// The type with this name, as XLA writes it: `f32`, `bf16`, `pred`.
impl std::str::FromStr for ElementType {
    type Err = Error;

    fn from_str(name: &str) -> Result<ElementType> {
        let mut all = ElementType::ALL.iter();
        let known = all.find(|known| known.name() == name).copied();
        known.ok_or_else(|| {
            let names: Vec<&str> = ElementType::ALL.iter().map(|known| known.name()).collect();
            Error::invalid(format!(
                "`{name}` is no element type; there are {}",
                names.join(", ")
            ))
        })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    use super::{Plain, Result};

    pub trait Sealed: Copy + Send + Sync + 'static {
        /// What the type is in host memory: itself, or for `bool` a byte, since a
        /// plugin may write bytes that are no `bool` (2 and 255 come back).
        type Stored: Plain;
        fn as_bytes(values: &[Self]) -> &[u8];
        fn from_stored(values: Vec<Self::Stored>) -> Result<Vec<Self>>;
        fn read_stored(
            into: &mut [Self],
            read: &mut dyn FnMut(&mut [Self::Stored]) -> Result<()>,
        ) -> Result<()>;
    }
}
pub(crate) use sealed::Sealed;

/// A Rust type that stands for an [`ElementType`].
///
/// Sealed. The types narrower than a byte have none (but for [`F4E2M1FN`]):
/// they go through bytes, [`Buffer::from_bytes`](crate::Buffer::from_bytes) and
/// [`Buffer::to_bytes`](crate::Buffer::to_bytes).
pub trait Element: Sealed {
    /// The element type.
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($rust:ty => $variant:ident),* $(,)?) => {$(
        impl Sealed for $rust {
            type Stored = $rust;
            fn as_bytes(values: &[Self]) -> &[u8] {
                host::bytes(values)
            }
            fn from_stored(values: Vec<Self>) -> Result<Vec<Self>> {
                Ok(values)
            }
            fn read_stored(
                into: &mut [Self],
                read: &mut dyn FnMut(&mut [Self]) -> Result<()>,
            ) -> Result<()> {
                read(into)
            }
        }
        impl Element for $rust {
            const TYPE: ElementType = ElementType::$variant;
        }
    )*};
}

elements! {
    i8 => S8, i16 => S16, i32 => S32, i64 => S64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f16 => F16, bf16 => Bf16, f32 => F32, f64 => F64,
    Complex<f32> => C64, Complex<f64> => C128,
    F4E2M1FN => F4E2M1FN,
    F8E3M4 => F8E3M4, F8E4M3 => F8E4M3, F8E4M3FN => F8E4M3FN, F8E4M3FNUZ => F8E4M3FNUZ,
    F8E4M3B11FNUZ => F8E4M3B11FNUZ, F8E5M2 => F8E5M2, F8E5M2FNUZ => F8E5M2FNUZ,
    F8E8M0FNU => F8E8M0FNU,
}

impl Sealed for bool {
    type Stored = u8;

    fn as_bytes(values: &[Self]) -> &[u8] {
        host::bool_bytes(values)
    }

    fn from_stored(values: Vec<u8>) -> Result<Vec<Self>> {
        let mut truths = vec![false; values.len()];
        into_truths(&values, &mut truths)?;
        Ok(truths)
    }

    fn read_stored(into: &mut [Self], read: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let mut values = vec![0; into.len()];
        read(&mut values)?;
        into_truths(&values, into)
    }
}

impl Element for bool {
    const TYPE: ElementType = ElementType::Pred;
}

fn into_truths(values: &[u8], truths: &mut [bool]) -> Result<()> {
    for (index, (value, truth)) in values.iter().zip(truths).enumerate() {
        *truth = match value {
            0 => false,
            1 => true,
            other => {
                return Err(Error::invalid(format!(
                "element {index} of the pred buffer is the byte {other}, which is neither 0 nor \
                     1; read it with `to_bytes`"
            )))
            }
        };
    }
    Ok(())
}
