//! One element of any type: to be compared and printed.

use std::fmt;

use half::{bf16, f16};

use crate::element::ElementType;
use crate::float8::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};

/// An element's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ElementValue {
    Float(f64),
    /// Apart from the above, so that it is printed in as few digits as it takes.
    Single(f32),
    Complex(f64, f64),
    Int(i128),
    Truth(u8),
    /// A type for which there is no arithmetic here.
    Bits(u8),
}

macro_rules! read {
    ($bytes:expr, $type:ty) => {{
        let mut own = [0; size_of::<$type>()];
        own.copy_from_slice($bytes);
        <$type>::from_ne_bytes(own)
    }};
}

impl ElementValue {
    /// Reads the bytes of one element, as many as its type takes on the host.
    pub(crate) fn read(element_type: ElementType, bytes: &[u8]) -> ElementValue {
        use ElementType as E;
        use ElementValue::{Bits, Complex, Float, Int, Single, Truth};
        let byte = bytes.first().copied().unwrap_or(0);
        match element_type {
            E::Pred => Truth(byte),
            E::S8 => Int(read!(bytes, i8).into()),
            E::S16 => Int(read!(bytes, i16).into()),
            E::S32 => Int(read!(bytes, i32).into()),
            E::S64 => Int(read!(bytes, i64).into()),
            E::U8 => Int(byte.into()),
            E::U16 => Int(read!(bytes, u16).into()),
            E::U32 => Int(read!(bytes, u32).into()),
            E::U64 => Int(read!(bytes, u64).into()),
            // In the low bits of a byte; what stands above them doesn't count.
            E::U1 => Int((byte & 0x1).into()),
            E::U2 => Int((byte & 0x3).into()),
            E::U4 => Int((byte & 0xf).into()),
            E::S1 => Int(((byte << 7) as i8 >> 7).into()),
            E::S2 => Int(((byte << 6) as i8 >> 6).into()),
            E::S4 => Int(((byte << 4) as i8 >> 4).into()),
            E::F16 => Float(read!(bytes, f16).to_f64()),
            E::Bf16 => Float(read!(bytes, bf16).to_f64()),
            E::F32 => Single(read!(bytes, f32)),
            E::F64 => Float(read!(bytes, f64)),
            E::C64 => Complex(
                read!(&bytes[..4], f32).into(),
                read!(&bytes[4..], f32).into(),
            ),
            E::C128 => Complex(read!(&bytes[..8], f64), read!(&bytes[8..], f64)),
            E::F4E2M1FN => Single(F4E2M1FN::from_bits(byte & 0xf).to_f32()),
            E::F8E3M4 => Single(F8E3M4::from_bits(byte).to_f32()),
            E::F8E4M3 => Single(F8E4M3::from_bits(byte).to_f32()),
            E::F8E4M3FN => Single(F8E4M3FN::from_bits(byte).to_f32()),
            E::F8E4M3FNUZ => Single(F8E4M3FNUZ::from_bits(byte).to_f32()),
            E::F8E4M3B11FNUZ => Single(F8E4M3B11FNUZ::from_bits(byte).to_f32()),
            E::F8E5M2 => Single(F8E5M2::from_bits(byte).to_f32()),
            E::F8E5M2FNUZ => Single(F8E5M2FNUZ::from_bits(byte).to_f32()),
            E::F8E8M0FNU => Single(F8E8M0FNU::from_bits(byte).to_f32()),
            E::F6E2M3FN | E::F6E3M2FN | E::Token => Bits(byte),
        }
    }

    /// Whether two differ by no more than `absolute + relative * |other|`, as NumPy's
    /// `allclose` has it. NaNs are alike.
    pub(crate) fn is_close(self, other: ElementValue, relative: f64, absolute: f64) -> bool {
        let close = |a: f64, b: f64| {
            // An infinity is near to nothing but itself, whatever share of it is allowed.
            let finite = a.is_finite() && b.is_finite();
            let near = finite && (a - b).abs() <= absolute + relative * b.abs();
            near || a == b || (a.is_nan() && b.is_nan())
        };
        match (self, other) {
            (ElementValue::Float(a), ElementValue::Float(b)) => close(a, b),
            (ElementValue::Single(a), ElementValue::Single(b)) => close(a.into(), b.into()),
            (ElementValue::Complex(a, b), ElementValue::Complex(c, d)) => {
                // The distance in the plane, but for what has none.
                let finite = [a, b, c, d].iter().all(|part| part.is_finite());
                match finite {
                    true => (a - c).hypot(b - d) <= absolute + relative * c.hypot(d),
                    false => close(a, c) && close(b, d),
                }
            }
            (ElementValue::Int(a), ElementValue::Int(b)) => {
                a == b || (a.abs_diff(b) as f64) <= absolute + relative * (b.unsigned_abs() as f64)
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for ElementValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementValue::Float(value) => write!(f, "{value}"),
            ElementValue::Single(value) => write!(f, "{value}"),
            ElementValue::Complex(re, im) => write!(f, "{re}{im:+}i"),
            ElementValue::Int(value) => write!(f, "{value}"),
            ElementValue::Truth(0) => f.write_str("false"),
            ElementValue::Truth(1) => f.write_str("true"),
            ElementValue::Truth(bits) | ElementValue::Bits(bits) => write!(f, "{bits:#04x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read() {
        let read = |element_type, bytes: &[u8]| ElementValue::read(element_type, bytes).to_string();
        assert_eq!(read(ElementType::Pred, &[1]), "true");
        assert_eq!(read(ElementType::Pred, &[7]), "0x07");
        assert_eq!(read(ElementType::S4, &[0xf]), "-1");
        assert_eq!(read(ElementType::S2, &[0x2]), "-2");
        assert_eq!(read(ElementType::U4, &[0xf]), "15");
        assert_eq!(
            read(ElementType::U64, &u64::MAX.to_ne_bytes()),
            "18446744073709551615"
        );
        assert_eq!(read(ElementType::F32, &0.1f32.to_ne_bytes()), "0.1");
        assert_eq!(read(ElementType::Bf16, &0x3f80u16.to_ne_bytes()), "1");
        let complex = [1f32.to_ne_bytes(), (-2f32).to_ne_bytes()].concat();
        assert_eq!(read(ElementType::C64, &complex), "1-2i");
        for element_type in ElementType::ALL {
            let bytes = vec![0; element_type.host_size()];
            assert!(!read(*element_type, &bytes).is_empty());
        }
    }

    #[test]
    fn tolerances_are_those_of_numpy() {
        let close = |a, b, relative, absolute| {
            ElementValue::Float(a).is_close(ElementValue::Float(b), relative, absolute)
        };
        assert!(close(1.0, 1.0, 0.0, 0.0));
        assert!(close(1.1, 1.0, 0.0, 0.2) && !close(1.1, 1.0, 0.0, 0.05));
        assert!(close(101.0, 100.0, 0.01, 0.0) && !close(102.0, 100.0, 0.01, 0.0));
        assert!(close(f64::NAN, f64::NAN, 0.0, 0.0) && !close(f64::NAN, 0.0, 1.0, 1.0));
        assert!(close(f64::INFINITY, f64::INFINITY, 0.0, 0.0));
        assert!(!close(f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0));
        // NumPy: allclose(5., inf) is False, either way round.
        assert!(!close(5.0, f64::INFINITY, 0.1, 0.0) && !close(f64::INFINITY, 5.0, 0.1, 0.0));
        assert!(!close(f64::NEG_INFINITY, f64::INFINITY, 0.1, 1.0));
        let complex = |re, im| ElementValue::Complex(re, im);
        assert!(!complex(5.0, 1.0).is_close(complex(f64::INFINITY, 1.0), 0.1, 0.0));
        let int =
            |a, b, absolute| ElementValue::Int(a).is_close(ElementValue::Int(b), 0.0, absolute);
        assert!(int(3, 5, 2.0) && !int(3, 5, 1.0));
    }
}
