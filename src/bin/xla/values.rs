//! Values of any element type from text, from a pattern or from a seed.

use xla::{
    bf16, f16, Complex, ElementType, HostArray, Shape, F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ,
    F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};

use crate::spec::Values;

/// Makes an array of a shape. Files are not made here.
pub(crate) fn array(shape: &Shape, values: &Values) -> Result<HostArray<'static>, String> {
    let count = shape.element_count();
    let element_type = shape.element_type();
    let mut bytes = Vec::with_capacity(shape.byte_size());
    match values {
        // A type without a zero says so.
        Values::Zeros if element_type == ElementType::F8E8M0FNU => {
            (0..count).try_for_each(|_| put(element_type, 0, &mut bytes))?;
        }
        Values::Zeros => return Ok(HostArray::zeros(shape.clone())),
        Values::Listed(texts) => {
            // First, so that a word that was meant otherwise is told as that.
            for text in texts {
                parse(element_type, text, &mut bytes)?;
            }
            if texts.len() != count {
                let elements = if count == 1 { "element" } else { "elements" };
                let values = match texts.len() {
                    1 => "1 value stands".to_owned(),
                    count => format!("{count} values stand"),
                };
                return Err(format!(
                    "{shape} has {count} {elements}, but {values} there"
                ));
            }
        }
        Values::Ones => (0..count).try_for_each(|_| put(element_type, 1, &mut bytes))?,
        Values::Iota => (0..count).try_for_each(|index| put(element_type, index, &mut bytes))?,
        Values::Random(seed) => {
            let mut numbers = SplitMix64 { state: *seed };
            (0..count).try_for_each(|_| draw(element_type, &mut numbers, &mut bytes))?;
        }
        Values::File(path) => return Err(format!("{} is a file", path.display())),
    }
    let array = HostArray::borrowed_bytes(&bytes, shape.clone());
    let array = array.map_err(|error| error.message().to_owned())?;
    Ok(array.into_owned())
}

/// The numbers of `=rand:SEED`: splitmix64, whose state starts at the seed, grows by
/// 0x9e3779b97f4a7c15 with each number, and is mixed by two multiplications. The same seed
/// gives the same numbers everywhere, for ever.
///
/// An element of a float type is what stands in the highest bits, as many as the type holds
/// exactly (53, 24, 11 or 8; of 8 bits 5, 4 or 3; of 4 bits 1), as a fraction from 0 up to 1; a complex one is two of those, the
/// real part first. An integer is the lowest bits, a truth value the highest bit.
struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A multiple of 2^-bits from 0 up to 1.
    fn fraction(&mut self, bits: u32) -> f64 {
        (self.next() >> (64 - bits)) as f64 / (1u64 << bits) as f64
    }
}

fn draw(
    element_type: ElementType,
    numbers: &mut SplitMix64,
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    use ElementType as E;
    match element_type {
        E::F16 => bytes.extend(f16::from_f64(numbers.fraction(11)).to_ne_bytes()),
        E::Bf16 => bytes.extend(bf16::from_f64(numbers.fraction(8)).to_ne_bytes()),
        E::F32 => bytes.extend((numbers.fraction(24) as f32).to_ne_bytes()),
        E::F64 => bytes.extend(numbers.fraction(53).to_ne_bytes()),
        E::C64 => {
            for _ in 0..2 {
                bytes.extend((numbers.fraction(24) as f32).to_ne_bytes());
            }
        }
        E::C128 => {
            for _ in 0..2 {
                bytes.extend(numbers.fraction(53).to_ne_bytes());
            }
        }
        E::F8E3M4 => put_float(element_type, numbers.fraction(5), 0., bytes)?,
        E::F8E4M3 | E::F8E4M3FN | E::F8E4M3FNUZ | E::F8E4M3B11FNUZ => {
            put_float(element_type, numbers.fraction(4), 0., bytes)?;
        }
        E::F8E5M2 | E::F8E5M2FNUZ => put_float(element_type, numbers.fraction(3), 0., bytes)?,
        E::F4E2M1FN => put_float(element_type, numbers.fraction(1), 0., bytes)?,
        E::Pred => bytes.push((numbers.next() >> 63) as u8),
        _ if is_integer(element_type) => put(element_type, numbers.next(), bytes)?,
        _ => {
            return Err(format!(
                "random numbers of type {element_type} are not made; list the values"
            ))
        }
    }
    Ok(())
}

fn is_integer(element_type: ElementType) -> bool {
    element_type.name().starts_with(['s', 'u'])
}

/// A whole number as an element: the lowest bits of it for integers.
fn put(
    element_type: ElementType,
    number: impl TryInto<u64>,
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    let number = number.try_into().unwrap_or(u64::MAX);
    match element_type {
        ElementType::Pred => bytes.push((number & 1) as u8),
        _ if is_integer(element_type) => put_bits(element_type, number, bytes),
        _ => put_float(element_type, number as f64, 0., bytes)?,
    }
    Ok(())
}

/// The lowest bits of a number, as many as an integer type has.
fn put_bits(element_type: ElementType, number: u64, bytes: &mut Vec<u8>) {
    match element_type.bits() {
        64 => bytes.extend(number.to_ne_bytes()),
        32 => bytes.extend((number as u32).to_ne_bytes()),
        16 => bytes.extend((number as u16).to_ne_bytes()),
        bits => bytes.push(number as u8 & (0xffu16 >> (8 - bits)) as u8),
    }
}

/// A number as an element of a float or complex type.
fn put_float(
    element_type: ElementType,
    re: f64,
    im: f64,
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    use ElementType as E;
    let single = re as f32;
    // What is too large for some becomes infinite or NaN, and so does what others have no form
    // for.
    let check =
        |back: f64| match (re.is_finite() && !back.is_finite()) || re.is_nan() != back.is_nan() {
            true => Err(format!("`{re}` is no value of type {element_type}")),
            false => Ok(()),
        };
    macro_rules! small {
        ($type:ident) => {{
            let element = $type::from_f32(single);
            check(element.to_f32().into())?;
            bytes.push(element.to_bits());
        }};
    }
    match element_type {
        E::F16 => {
            let element = f16::from_f64(re);
            check(element.to_f64())?;
            bytes.extend(element.to_ne_bytes());
        }
        E::Bf16 => {
            let element = bf16::from_f64(re);
            check(element.to_f64())?;
            bytes.extend(element.to_ne_bytes());
        }
        E::F32 => {
            check(single.into())?;
            bytes.extend(single.to_ne_bytes());
        }
        E::F64 => bytes.extend(re.to_ne_bytes()),
        E::C64 => {
            check(single.into())?;
            bytes.extend(single.to_ne_bytes());
            bytes.extend((im as f32).to_ne_bytes());
        }
        E::C128 => {
            bytes.extend(re.to_ne_bytes());
            bytes.extend(im.to_ne_bytes());
        }
        E::F4E2M1FN => small!(F4E2M1FN),
        E::F8E3M4 => small!(F8E3M4),
        E::F8E4M3 => small!(F8E4M3),
        E::F8E4M3FN => small!(F8E4M3FN),
        E::F8E4M3FNUZ => small!(F8E4M3FNUZ),
        E::F8E4M3B11FNUZ => small!(F8E4M3B11FNUZ),
        E::F8E5M2 => small!(F8E5M2),
        E::F8E5M2FNUZ => small!(F8E5M2FNUZ),
        E::F8E8M0FNU => small!(F8E8M0FNU),
        _ => {
            return Err(format!(
                "values of type {element_type} can't be written here"
            ))
        }
    }
    Ok(())
}

/// Reads one value.
fn parse(element_type: ElementType, text: &str, bytes: &mut Vec<u8>) -> Result<(), String> {
    let none = || {
        let words = match text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => " (the words are zeros, ones, iota, rand:SEED and @FILE.npy)",
            false => "",
        };
        format!("`{text}` is no value of type {element_type}{words}")
    };
    match element_type {
        ElementType::Pred => match text {
            "true" | "1" => bytes.push(1),
            "false" | "0" => bytes.push(0),
            _ => return Err(format!("{}: wanted true or false", none())),
        },
        // By way of f64 it could be rounded twice.
        ElementType::F32 => {
            let number = text.parse::<f32>().map_err(|_| none())?;
            if number.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) {
                return Err(none());
            }
            bytes.extend(number.to_ne_bytes());
        }
        ElementType::C64 | ElementType::C128 => {
            let Complex { re, im } = text.parse::<Complex<f64>>().map_err(|_| none())?;
            put_float(element_type, re, im, bytes)?;
        }
        _ if is_integer(element_type) => {
            let number: i128 = text.parse().map_err(|_| none())?;
            let bits = element_type.bits();
            let (low, high) = match element_type.name().starts_with('s') {
                true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                false => (0, (1i128 << bits) - 1),
            };
            if !(low..=high).contains(&number) {
                return Err(format!("{}: it holds {low} to {high}", none()));
            }
            put_bits(element_type, number as u64, bytes);
        }
        _ => put_float(element_type, text.parse().map_err(|_| none())?, 0., bytes)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made<T: xla::Element>(shape: &str, values: Values) -> Vec<T> {
        let shape = crate::spec::parse_shape(shape).expect(shape);
        let array = array(&shape, &values).expect("fits");
        array.to_vec().expect("the type that was asked for")
    }

    fn listed(texts: &[&str]) -> Values {
        Values::Listed(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    /// The first numbers that the author's own program gives for the seed 1234567.
    #[test]
    fn random_numbers_are_those_of_splitmix64() {
        let wanted: [u64; 3] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        let seed = Values::Random(1_234_567);
        assert_eq!(made::<u64>("u64[3]", seed.clone()), wanted);
        let low = wanted.map(|number| number as i16);
        assert_eq!(made::<i16>("s16[3]", seed.clone()), low);
        let fractions = wanted.map(|number| (number >> 40) as f32 / 16_777_216.);
        assert_eq!(made::<f32>("f32[3]", seed.clone()), fractions);
        assert!(fractions.iter().all(|it| (0. ..1.).contains(it)));
        assert_eq!(made::<bool>("pred[3]", seed.clone()), [false, false, true]);
        let sixteenths = wanted.map(|number| (number >> 60) as f32 / 16.);
        let small = made::<F8E4M3FN>("f8e4m3fn[3]", seed);
        assert_eq!(small.map_f32(), sixteenths);
    }

    #[test]
    fn patterns_count_up() {
        assert_eq!(made::<f32>("f32[2,2]", Values::Iota), [0., 1., 2., 3.]);
        assert_eq!(made::<u8>("u8[3]", Values::Ones), [1, 1, 1]);
        assert_eq!(made::<i8>("s8[130]", Values::Iota)[128..], [-128, -127]);
        assert_eq!(made::<bool>("pred[3]", Values::Iota), [false, true, false]);
        let c = Complex::new(1f32, 0.);
        assert_eq!(made::<Complex<f32>>("c64[1]", Values::Ones), [c]);
    }

    #[test]
    fn values_are_read_by_type() {
        assert_eq!(
            made::<f32>("f32[3]", listed(&["0.1", "-1e3", "inf"])),
            [0.1, -1e3, f32::INFINITY]
        );
        assert_eq!(
            made::<i64>("s64[1]", listed(&["-9223372036854775808"])),
            [i64::MIN]
        );
        assert_eq!(
            made::<u64>("u64[1]", listed(&["18446744073709551615"])),
            [u64::MAX]
        );
        assert_eq!(
            made::<bool>("pred[2]", listed(&["true", "0"])),
            [true, false]
        );
        let c = Complex::new(1., -2.5);
        assert_eq!(made::<Complex<f64>>("c128[1]", listed(&["1-2.5i"])), [c]);
        let halves = made::<F8E4M3FN>("f8e4m3fn[2]", listed(&["0.5", "-2"]));
        assert_eq!(halves.map_f32(), [0.5, -2.]);
    }

    trait MapF32 {
        fn map_f32(&self) -> Vec<f32>;
    }

    impl MapF32 for Vec<F8E4M3FN> {
        fn map_f32(&self) -> Vec<f32> {
            self.iter().map(|it| it.to_f32()).collect()
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for (shape, texts, word) in [
            ("s8[1]", &["128"][..], "-128 to 127"),
            ("u4[1]", &["16"], "0 to 15"),
            ("s32[1]", &["1.5"], "`1.5`"),
            ("pred[1]", &["2"], "true or false"),
            ("f32[2]", &["1"], "2 elements, but 1 value stands"),
            ("f32[1]", &["1", "2"], "1 element, but 2 values stand"),
            ("f32[1]", &["1 2"], "`1 2`"),
            ("f32[4]", &["Zeros"], "zeros, ones, iota"),
            ("f32[1]", &["1e400"], "`1e400`"),
            ("f16[1]", &["70000"], "`70000`"),
            ("f32[1]", &["x"], "`x`"),
            ("f6e2m3fn[1]", &["1"], "f6e2m3fn"),
            ("f8e4m3fn[1]", &["500"], "`500`"),
            ("f8e8m0fnu[1]", &["0"], "`0`"),
        ] {
            let shape = crate::spec::parse_shape(shape).expect(shape);
            let error = array(&shape, &listed(texts)).expect_err(word);
            assert!(error.contains(word), "{error}");
        }
        // Nor does what a pattern comes to.
        for (shape, values) in [
            ("f8e8m0fnu[2]", Values::Zeros),
            ("f8e4m3fn[600]", Values::Iota),
        ] {
            let shape = crate::spec::parse_shape(shape).expect(shape);
            let error = array(&shape, &values).expect_err("no such number");
            assert!(error.contains("is no value of type"), "{error}");
        }
    }
}
