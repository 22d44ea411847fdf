//! The small float types against `ml_dtypes`, whose values and conversions lie in `examples/programs/oracle/float8.json`.

use serde_json::Value;
use xla::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};

/// What the tests need of a type.
struct Format {
    name: &'static str,
    patterns: u16,
    decode: fn(u8) -> f32,
    encode: fn(f32) -> u8,
}

macro_rules! formats {
    ($($type:ident, $name:literal, $patterns:literal;)*) => {
        const FORMATS: &[Format] = &[$(Format {
            name: $name,
            patterns: $patterns,
            decode: |bits| $type::from_bits(bits).to_f32(),
            encode: |value| $type::from_f32(value).to_bits(),
        }),*];
    };
}

formats! {
    F8E5M2, "float8_e5m2", 256;
    F8E4M3FN, "float8_e4m3fn", 256;
    F8E4M3B11FNUZ, "float8_e4m3b11fnuz", 256;
    F8E5M2FNUZ, "float8_e5m2fnuz", 256;
    F8E4M3FNUZ, "float8_e4m3fnuz", 256;
    F8E4M3, "float8_e4m3", 256;
    F8E3M4, "float8_e3m4", 256;
    F8E8M0FNU, "float8_e8m0fnu", 256;
    F4E2M1FN, "float4_e2m1fn", 16;
}

impl Format {
    fn bit_patterns(&self) -> impl Iterator<Item = u8> {
        (0..self.patterns).map(|bits| bits as u8)
    }

    /// The finite values that are not negative, in ascending order.
    fn values(&self) -> Vec<f32> {
        let mut values: Vec<f32> = self.bit_patterns().map(self.decode).collect();
        values.retain(|value| value.is_finite() && !value.is_sign_negative());
        values.sort_by(f32::total_cmp);
        values
    }
}

fn oracle(format: &Format, list: &str) -> Vec<Value> {
    let text = include_str!("../examples/programs/oracle/float8.json");
    let mut oracle: Value = serde_json::from_str(text).expect("JSON");
    match oracle[format.name][list].take() {
        Value::Array(values) => values,
        other => panic!("{} has no list {list}, but {other}", format.name),
    }
}

/// Numbers stand for themselves; what JSON has no number for is a word.
fn float(value: &Value) -> f32 {
    match value {
        Value::String(word) => word.parse().expect("inf, -inf or nan"),
        number => number.as_f64().expect("a number") as f32,
    }
}

fn bits(value: &Value) -> u32 {
    let bits = value.as_u64().expect("bits");
    u32::try_from(bits).expect("32 bits")
}

#[test]
fn every_bit_pattern_has_the_oracles_value() {
    for format in FORMATS {
        let expected = oracle(format, "values");
        assert_eq!(expected.len(), usize::from(format.patterns));
        for (bits, expected) in format.bit_patterns().zip(&expected) {
            let (value, expected) = ((format.decode)(bits), float(expected));
            let same = value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan();
            assert!(
                same,
                "{} {bits:#04x}: {value} is not {expected}",
                format.name
            );
        }
    }
}

#[test]
fn conversions_give_the_oracles_bits() {
    for format in FORMATS {
        let (from, to) = (oracle(format, "f32_bits"), oracle(format, "bits"));
        assert_eq!(from.len(), to.len());
        assert!(from.len() > 50);
        for (from, to) in from.iter().zip(&to) {
            let value = f32::from_bits(bits(from));
            let (got, wanted) = (u32::from((format.encode)(value)), bits(to));
            assert_eq!(got, wanted, "{} of {value:e} ({from})", format.name);
        }
    }
}

#[test]
fn every_number_survives_the_way_through_f32() {
    for format in FORMATS {
        for bits in format.bit_patterns() {
            let value = (format.decode)(bits);
            let again = (format.encode)(value);
            let kept = if value.is_nan() {
                (format.decode)(again).is_nan()
            } else {
                again == bits
            };
            assert!(kept, "{} {bits:#04x}: {again:#04x}", format.name);
        }
    }
}

#[test]
fn rounding_takes_the_nearer_neighbour() {
    for format in FORMATS {
        for pair in format.values().windows(2) {
            let (low, high) = (pair[0], pair[1]);
            // Below the normal numbers of f32 the oracle rounds the one power of two that lies there otherwise.
            if low < f32::MIN_POSITIVE && format.name == "float8_e8m0fnu" {
                continue;
            }
            let middle = low + (high - low) / 2.0;
            let round = |value: f32| (format.decode)((format.encode)(value));
            assert_eq!(round(below(middle)), low, "{} {low}..{high}", format.name);
            assert_eq!(round(above(middle)), high, "{} {low}..{high}", format.name);
            assert!([low, high].contains(&round(middle)));
        }
    }
}

/// The next larger number after a positive one. (`f32::next_up` is newer than the oldest Rust that this package supports.)
fn above(value: f32) -> f32 {
    f32::from_bits(value.to_bits() + 1)
}

/// The next smaller number before a positive one.
fn below(value: f32) -> f32 {
    f32::from_bits(value.to_bits() - 1)
}

#[test]
fn comparison_and_text_are_those_of_the_number() {
    let (zero, negative_zero) = (F8E5M2::from_bits(0), F8E5M2::from_bits(0x80));
    assert_eq!(zero, negative_zero);
    assert_ne!(zero.to_bits(), negative_zero.to_bits());
    let nan = F8E4M3FN::from_f32(f32::NAN);
    assert!(nan.is_nan());
    assert_ne!(nan, nan);
    assert!(F8E3M4::from_f32(1.5) < F8E3M4::from_f32(2.0));
    assert_eq!(
        format!("{} {:?}", F8E4M3::from_f32(0.5), F8E4M3::from_f32(2.0)),
        "0.5 2.0"
    );
    assert_eq!(format!("{:.2}", F8E4M3::from_f32(0.5)), "0.50");
    assert_eq!(f64::from(F8E8M0FNU::from_f32(4.0)), 4.0);
    assert_eq!(F8E4M3FNUZ::default().to_f32(), 0.0);
}

#[test]
fn upper_bits_of_a_four_bit_float_mean_nothing() {
    for bits in 0..=255 {
        let whole = F4E2M1FN::from_bits(bits);
        let lower = F4E2M1FN::from_bits(bits & 0x0f);
        assert_eq!(whole.to_f32().to_bits(), lower.to_f32().to_bits());
    }
}
