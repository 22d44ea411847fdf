//! The float types of eight bits, and the one of four.
//!
//! They are for storing: a number goes in and out through `f32`, which holds every value of each of them exactly. The rules are those
//! of `ml_dtypes`, the package that JAX takes these types from, so that the same `f32` becomes the same bits here and there.

use std::cmp::Ordering;
use std::fmt;

/// Which bit patterns of a format are not finite numbers, and with that what becomes of a number too large for it.
#[derive(Clone, Copy)]
enum Specials {
    /// As in IEEE 754: the largest exponent is for infinities and NaNs. Too large a number becomes infinite.
    InfinityAndNan,
    /// No infinity; NaN is the pattern with all bits set, of either sign. Too large a number becomes NaN.
    NanOnly,
    /// No infinity and no negative zero, whose pattern is the only NaN. Too large a number becomes NaN.
    NanForNegativeZero,
    /// Finite numbers only. Too large a number becomes the largest.
    None,
}

/// A format with a sign bit, then the exponent, then the mantissa.
#[derive(Clone, Copy)]
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    /// What the stored exponent is larger by than the one that it stands for.
    bias: i32,
    specials: Specials,
}

impl Format {
    const fn new(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Self {
        Self {
            exponent_bits,
            mantissa_bits,
            bias,
            specials,
        }
    }

    fn sign(self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The smallest exponent of a normal number, which numbers below the normal ones share.
    fn least_exponent(self) -> i32 {
        1 - self.bias
    }

    /// The pattern of positive infinity, in a format that has it.
    fn infinity(self) -> u32 {
        self.sign() - (1 << self.mantissa_bits)
    }

    /// The pattern of the largest finite number.
    fn largest(self) -> u32 {
        match self.specials {
            Specials::InfinityAndNan => self.infinity() - 1,
            Specials::NanOnly => self.sign() - 2,
            Specials::NanForNegativeZero | Specials::None => self.sign() - 1,
        }
    }

    fn decode(self, bits: u8) -> f32 {
        let bits = u32::from(bits) & (2 * self.sign() - 1);
        let magnitude = bits & (self.sign() - 1);
        let negative = bits != magnitude;
        let value = match self.specials {
            Specials::NanForNegativeZero if bits == self.sign() => f32::NAN,
            Specials::InfinityAndNan if magnitude == self.infinity() => f32::INFINITY,
            _ if magnitude > self.largest() => f32::NAN,
            _ => self.decode_finite(magnitude),
        };
        if negative {
            -value
        } else {
            value
        }
    }

    fn decode_finite(self, magnitude: u32) -> f32 {
        let one = 1 << self.mantissa_bits;
        let exponent = (magnitude / one) as i32;
        let mantissa = magnitude % one;
        let units = if exponent == 0 {
            mantissa
        } else {
            one + mantissa
        };
        let exponent = exponent.max(1) - self.bias;
        units as f32 * self.unit(exponent)
    }

    fn encode(self, value: f32) -> u8 {
        let sign = if value.is_sign_negative() {
            self.sign()
        } else {
            0
        };
        let bits = if value.is_nan() {
            self.encode_nan(sign)
        } else {
            match (self.encode_magnitude(value.abs()), self.specials) {
                // A zero without a sign, since its negative would be NaN.
                (0, Specials::NanForNegativeZero) => 0,
                (magnitude, _) if magnitude <= self.largest() => sign | magnitude,
                _ => self.encode_too_large(sign),
            }
        };
        bits as u8
    }

    fn encode_nan(self, sign: u32) -> u32 {
        match self.specials {
            Specials::InfinityAndNan => sign | self.infinity() | 1 << (self.mantissa_bits - 1),
            Specials::NanOnly => sign | (self.sign() - 1),
            Specials::NanForNegativeZero => self.sign(),
            // Nothing here can stand for it. ml_dtypes takes the zero of the other sign.
            Specials::None => sign ^ self.sign(),
        }
    }

    fn encode_too_large(self, sign: u32) -> u32 {
        match self.specials {
            Specials::InfinityAndNan => sign | self.infinity(),
            Specials::None => sign | self.largest(),
            Specials::NanOnly | Specials::NanForNegativeZero => self.encode_nan(sign),
        }
    }

    /// The pattern of a number that is not negative, or something past [`Format::largest`] if it rounds to what is too large.
    fn encode_magnitude(self, value: f32) -> u32 {
        // Infinity counts as the largest of the numbers that are too large, so that the rest is arithmetic.
        let value = value.min(f32::MAX);
        let exponent = exponent_of(value).max(self.least_exponent());
        // A division by a power of two whose result is a normal number is exact, and every result below those rounds to zero.
        let units = (value / self.unit(exponent)).round_ties_even() as u32;
        let steps = (exponent - self.least_exponent()) as u32;
        // A normal number's units have their highest bit where the exponent's lowest is. So adding sets the exponent, and a number
        // that was rounded up to the next power of two carries into it.
        (steps << self.mantissa_bits) + units
    }

    /// The value of the mantissa's lowest bit in a number with this exponent.
    fn unit(self, exponent: i32) -> f32 {
        power_of_two(exponent - self.mantissa_bits as i32)
    }
}

const F32_MANTISSA_BITS: u32 = f32::MANTISSA_DIGITS - 1;
const F32_BIAS: i32 = f32::MAX_EXP - 1;

/// The exponent of a finite number that is not negative, or -127 below the normal numbers.
fn exponent_of(value: f32) -> i32 {
    (value.to_bits() >> F32_MANTISSA_BITS) as i32 - F32_BIAS
}

/// Two to the power `exponent`, which must be in the range of normal numbers.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + F32_BIAS) as u32) << F32_MANTISSA_BITS)
}

/// The format of [`F8E8M0FNU`], which is nothing but the stored exponent of an `f32`.
struct Scale;

impl Scale {
    const NAN: u8 = 0xff;

    fn decode(self, bits: u8) -> f32 {
        /// 2 to the power -127, which is below the normal numbers of `f32`.
        const SMALLEST: u32 = 1 << (F32_MANTISSA_BITS - 1);
        match bits {
            Self::NAN => f32::NAN,
            0 => f32::from_bits(SMALLEST),
            exponent => f32::from_bits(u32::from(exponent) << F32_MANTISSA_BITS),
        }
    }

    fn encode(self, value: f32) -> u8 {
        const HALF: u32 = 1 << (F32_MANTISSA_BITS - 1);
        let bits = value.to_bits();
        // Neither zero nor a negative number is near a power of two.
        if value.is_nan() || value.is_sign_negative() || bits == 0 {
            return Self::NAN;
        }
        let exponent = bits >> F32_MANTISSA_BITS;
        let mantissa = bits & ((1 << F32_MANTISSA_BITS) - 1);
        // Half way between two powers goes up, as it does wherever the last bit of the lower number is a one: here it is the implied
        // one. Below the normal numbers ml_dtypes rounds up all that is more than the smallest power. Rounding up from the largest
        // power ends at the pattern of NaN, and so does infinity.
        let up = match exponent {
            0 => mantissa > HALF,
            255 => false,
            _ => mantissa >= HALF,
        };
        (exponent + u32::from(up)) as u8
    }
}

/// Makes a type of each line: its name, its format, and what is special about it.
macro_rules! small_floats {
    ($($(#[$doc:meta])* $name:ident = $format:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// Comparisons, `Debug` and `Display` are those of the `f32` of the same value: NaN differs from itself, and the two zeros
        /// of a format that has them are equal. Compare [`to_bits`](Self::to_bits) to tell patterns apart. The default is the pattern
        /// of zero bits.
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The number with this bit pattern.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The bit pattern.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest number, or of two that are as near the one whose last bit is zero.
            pub fn from_f32(value: f32) -> Self {
                Self($format.encode(value))
            }

            /// The same number as an `f32`, which is always exact.
            pub fn to_f32(self) -> f32 {
                $format.decode(self.0)
            }

            /// Whether this is not a number.
            pub fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> Self {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> Self {
                value.to_f32().into()
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    )*};
}

small_floats! {
    /// A float of 5 exponent and 2 mantissa bits, with infinities and NaNs. Its largest number is 57344.
    ///
    /// A number too large for it becomes infinite.
    F8E5M2 = Format::new(5, 2, 15, Specials::InfinityAndNan);

    /// A float of 4 exponent and 3 mantissa bits, with NaN and without infinities. Its largest number is 448.
    ///
    /// A number too large for it becomes NaN.
    F8E4M3FN = Format::new(4, 3, 7, Specials::NanOnly);

    /// A float of 4 exponent and 3 mantissa bits with a bias of 11, with one NaN, without infinities and a negative zero. Its largest
    /// number is 30.
    ///
    /// A number too large for it becomes NaN.
    F8E4M3B11FNUZ = Format::new(4, 3, 11, Specials::NanForNegativeZero);

    /// A float of 5 exponent and 2 mantissa bits with a bias of 16, with one NaN, without infinities and a negative zero. Its largest
    /// number is 57344.
    ///
    /// A number too large for it becomes NaN.
    F8E5M2FNUZ = Format::new(5, 2, 16, Specials::NanForNegativeZero);

    /// A float of 4 exponent and 3 mantissa bits with a bias of 8, with one NaN, without infinities and a negative zero. Its largest
    /// number is 240.
    ///
    /// A number too large for it becomes NaN.
    F8E4M3FNUZ = Format::new(4, 3, 8, Specials::NanForNegativeZero);

    /// A float of 4 exponent and 3 mantissa bits, with infinities and NaNs. Its largest number is 240.
    ///
    /// A number too large for it becomes infinite.
    F8E4M3 = Format::new(4, 3, 7, Specials::InfinityAndNan);

    /// A float of 3 exponent and 4 mantissa bits, with infinities and NaNs. Its largest number is 15.5.
    ///
    /// A number too large for it becomes infinite.
    F8E3M4 = Format::new(3, 4, 3, Specials::InfinityAndNan);

    /// A power of two from -127 to 127, or NaN: the scale of a block of smaller floats.
    ///
    /// It has no sign and no zero, so zero and all that is negative become NaN, as does what is too large. Its default is not zero, but
    /// its smallest number.
    F8E8M0FNU = Scale;

    /// A float of four bits, 2 of exponent and 1 of mantissa, without infinities and NaN. Its numbers are 0, 0.5, 1, 1.5, 2, 3, 4, 6
    /// and their negatives.
    ///
    /// It takes a byte, of which the upper four bits mean nothing; `from_f32` leaves them zero. A number too large for it becomes 6 or
    /// -6, and NaN becomes a zero.
    F4E2M1FN = Format::new(2, 1, 1, Specials::None);
}
