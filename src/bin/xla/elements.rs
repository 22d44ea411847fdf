//! The values of arrays, to be printed.

use serde_json::{json, Number, Value};
use xla::{
    bf16, f16, Complex, Element, ElementType, HostArray, F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ,
    F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
};

/// How many elements are printed unless all are asked for: fewer than this.
pub(crate) const MANY: usize = 1000;

/// One element as JSON, which has no number for what isn't finite: text stands there.
trait Printed: Element {
    fn json(self) -> Value;
    /// For statistics; the size of a complex number.
    fn real(self) -> f64;
}

macro_rules! printed {
    ($($type:ty: $json:expr, $real:expr;)*) => {$(
        impl Printed for $type {
            fn json(self) -> Value {
                ($json)(self)
            }
            fn real(self) -> f64 {
                ($real)(self)
            }
        }
    )*};
}

printed! {
    bool: Value::from, |it: bool| f64::from(u8::from(it));
    i8: Value::from, f64::from;
    i16: Value::from, f64::from;
    i32: Value::from, f64::from;
    i64: Value::from, |it| it as f64;
    u8: Value::from, f64::from;
    u16: Value::from, f64::from;
    u32: Value::from, f64::from;
    u64: Value::from, |it| it as f64;
    f16: |it: f16| single(it.to_f32()), |it: f16| it.to_f64();
    bf16: |it: bf16| single(it.to_f32()), |it: bf16| it.to_f64();
    f32: single, f64::from;
    f64: double, |it| it;
    Complex<f32>: |it: Complex<f32>| json!([single(it.re), single(it.im)]),
        |it: Complex<f32>| f64::from(it.re).hypot(it.im.into());
    Complex<f64>: |it: Complex<f64>| json!([double(it.re), double(it.im)]),
        |it: Complex<f64>| it.re.hypot(it.im);
    F4E2M1FN: |it: F4E2M1FN| single(it.to_f32()), |it: F4E2M1FN| it.to_f32().into();
    F8E3M4: |it: F8E3M4| single(it.to_f32()), |it: F8E3M4| it.to_f32().into();
    F8E4M3: |it: F8E4M3| single(it.to_f32()), |it: F8E4M3| it.to_f32().into();
    F8E4M3FN: |it: F8E4M3FN| single(it.to_f32()), |it: F8E4M3FN| it.to_f32().into();
    F8E4M3FNUZ: |it: F8E4M3FNUZ| single(it.to_f32()), |it: F8E4M3FNUZ| it.to_f32().into();
    F8E4M3B11FNUZ: |it: F8E4M3B11FNUZ| single(it.to_f32()), |it: F8E4M3B11FNUZ| it.to_f32().into();
    F8E5M2: |it: F8E5M2| single(it.to_f32()), |it: F8E5M2| it.to_f32().into();
    F8E5M2FNUZ: |it: F8E5M2FNUZ| single(it.to_f32()), |it: F8E5M2FNUZ| it.to_f32().into();
    F8E8M0FNU: |it: F8E8M0FNU| single(it.to_f32()), |it: F8E8M0FNU| it.to_f32().into();
}

/// In as few digits as it takes to read the same f32 again.
fn single(value: f32) -> Value {
    double(value.to_string().parse().unwrap_or(f64::NAN))
}

fn double(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0. => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// Calls `$name::<T>` with the Rust type of an array's elements; `$other` where there is none.
macro_rules! by_type {
    ($element_type:expr, $name:ident($($argument:expr),*), $other:expr) => {
        match $element_type {
            xla::ElementType::Pred => $name::<bool>($($argument),*),
            xla::ElementType::S8 => $name::<i8>($($argument),*),
            xla::ElementType::S16 => $name::<i16>($($argument),*),
            xla::ElementType::S32 => $name::<i32>($($argument),*),
            xla::ElementType::S64 => $name::<i64>($($argument),*),
            xla::ElementType::U8 => $name::<u8>($($argument),*),
            xla::ElementType::U16 => $name::<u16>($($argument),*),
            xla::ElementType::U32 => $name::<u32>($($argument),*),
            xla::ElementType::U64 => $name::<u64>($($argument),*),
            xla::ElementType::F16 => $name::<xla::f16>($($argument),*),
            xla::ElementType::Bf16 => $name::<xla::bf16>($($argument),*),
            xla::ElementType::F32 => $name::<f32>($($argument),*),
            xla::ElementType::F64 => $name::<f64>($($argument),*),
            xla::ElementType::C64 => $name::<xla::Complex<f32>>($($argument),*),
            xla::ElementType::C128 => $name::<xla::Complex<f64>>($($argument),*),
            xla::ElementType::F4E2M1FN => $name::<xla::F4E2M1FN>($($argument),*),
            xla::ElementType::F8E3M4 => $name::<xla::F8E3M4>($($argument),*),
            xla::ElementType::F8E4M3 => $name::<xla::F8E4M3>($($argument),*),
            xla::ElementType::F8E4M3FN => $name::<xla::F8E4M3FN>($($argument),*),
            xla::ElementType::F8E4M3FNUZ => $name::<xla::F8E4M3FNUZ>($($argument),*),
            xla::ElementType::F8E4M3B11FNUZ => $name::<xla::F8E4M3B11FNUZ>($($argument),*),
            xla::ElementType::F8E5M2 => $name::<xla::F8E5M2>($($argument),*),
            xla::ElementType::F8E5M2FNUZ => $name::<xla::F8E5M2FNUZ>($($argument),*),
            xla::ElementType::F8E8M0FNU => $name::<xla::F8E8M0FNU>($($argument),*),
            _ => $other,
        }
    };
}
pub(crate) use by_type;

/// All elements, row-major: numbers, truth values, pairs for complex numbers. Integers of
/// fewer than 8 bits are numbers too; of types without arithmetic here, the bits.
pub(crate) fn all(array: &HostArray<'_>) -> Result<Vec<Value>, xla::Error> {
    fn all_of<T: Printed>(array: &HostArray<'_>) -> Result<Vec<Value>, xla::Error> {
        Ok(array.to_vec::<T>()?.into_iter().map(T::json).collect())
    }
    let narrow = || {
        let bytes = array.as_bytes().iter();
        Ok(bytes
            .map(|byte| narrow(array.element_type(), *byte).into())
            .collect())
    };
    by_type!(array.element_type(), all_of(array), narrow())
}

/// An element in the low bits of a byte.
fn narrow(element_type: ElementType, byte: u8) -> i8 {
    let unused = 8 - element_type.bits().clamp(1, 8);
    match element_type.name().starts_with('s') {
        true => ((byte << unused) as i8) >> unused,
        false => ((byte << unused) >> unused) as i8,
    }
}

/// Smallest, largest and mean of the elements that are numbers, and how many are none.
pub(crate) struct Statistics {
    /// Smallest, largest, mean; `None` where no element is a number.
    of_numbers: Option<[f64; 3]>,
    nan_count: usize,
}

/// Of complex numbers, their sizes are taken.
pub(crate) fn statistics(array: &HostArray<'_>) -> Result<Statistics, xla::Error> {
    fn reals<T: Printed>(array: &HostArray<'_>) -> Result<Vec<f64>, xla::Error> {
        Ok(array.to_vec::<T>()?.into_iter().map(T::real).collect())
    }
    let narrow = || {
        let bytes = array.as_bytes().iter();
        Ok(bytes
            .map(|byte| narrow(array.element_type(), *byte).into())
            .collect())
    };
    let reals: Vec<f64> = by_type!(array.element_type(), reals(array), narrow())?;
    let (mut least, mut largest, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0., 0);
    for real in reals.iter().filter(|real| !real.is_nan()) {
        least = real.min(least);
        largest = real.max(largest);
        sum += real;
        count += 1;
    }
    Ok(Statistics {
        of_numbers: (count > 0).then(|| [least, largest, sum / count as f64]),
        nan_count: reals.len() - count,
    })
}

impl Statistics {
    pub(crate) fn json(&self) -> Value {
        let [min, max, mean] = match self.of_numbers {
            Some(numbers) => numbers.map(double),
            None => [Value::Null, Value::Null, Value::Null],
        };
        json!({"min": min, "max": max, "mean": mean, "nan_count": self.nan_count})
    }

    pub(crate) fn text(&self) -> String {
        let nans = match self.nan_count {
            0 => "no NaN".to_owned(),
            count => format!("{count} NaN"),
        };
        match self.of_numbers {
            Some([min, max, mean]) => format!("min {min}, max {max}, mean {mean}, {nans}"),
            None => nans,
        }
    }
}

/// Values in brackets, as many deep as there are dimensions.
pub(crate) fn nested(values: &[Value], dims: &[usize]) -> String {
    match dims {
        [] => values.first().map(text).unwrap_or_default(),
        [_] => {
            let texts: Vec<String> = values.iter().map(text).collect();
            format!("[{}]", texts.join(", "))
        }
        [count, rest @ ..] => {
            let size: usize = rest.iter().product();
            let rows = (0..*count).map(|row| nested(&values[row * size..][..size], rest));
            format!("[{}]", rows.collect::<Vec<_>>().join(", "))
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let im = text(&parts[1]);
            let sign = if im.starts_with('-') { "" } else { "+" };
            format!("{}{sign}{im}i", text(&parts[0]))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xla::Shape;

    fn json<T: Element>(values: &[T]) -> Value {
        let array = HostArray::new(values, &[values.len()]).expect("fits");
        Value::Array(all(&array).expect("readable"))
    }

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!(json(&[0.1f32, 1.5]).to_string(), "[0.1,1.5]");
        assert_eq!(json(&[u64::MAX]).to_string(), "[18446744073709551615]");
        assert_eq!(json(&[true, false]), json!([true, false]));
        assert_eq!(json(&[Complex::new(1f32, -2.)]), json!([[1.0, -2.0]]));
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        assert_eq!(json(&odd), json!(["NaN", "Infinity", "-Infinity"]));
        assert_eq!(json(&[bf16::from_f32(3.)]), json!([3.0]));
    }

    #[test]
    fn narrow_integers_have_signs() {
        let shape = Shape::new(ElementType::S4, &[3]).expect("small");
        let array = HostArray::borrowed_bytes(&[0xf, 0x8, 0x7], shape).expect("fits");
        assert_eq!(Value::Array(all(&array).expect("read")), json!([-1, -8, 7]));
        let shape = Shape::new(ElementType::U4, &[1]).expect("small");
        let array = HostArray::borrowed_bytes(&[0xf], shape).expect("fits");
        assert_eq!(Value::Array(all(&array).expect("read")), json!([15]));
    }

    #[test]
    fn statistics_leave_nan_out() {
        let array = HostArray::new(&[1f32, f32::NAN, -3., 5.], &[4]).expect("fits");
        let told = statistics(&array).expect("read");
        let wanted = json!({"min": -3.0, "max": 5.0, "mean": 1.0, "nan_count": 1});
        assert_eq!(told.json(), wanted);
        let none = HostArray::new(&[f32::NAN], &[1]).expect("fits");
        let told = statistics(&none).expect("read").json();
        assert_eq!(told["min"], Value::Null);
    }

    #[test]
    fn brackets_follow_the_dimensions() {
        let values = [1, 2, 3, 4, 5, 6].map(Value::from);
        assert_eq!(nested(&values, &[2, 3]), "[[1, 2, 3], [4, 5, 6]]");
        assert_eq!(nested(&values[..1], &[]), "1");
        assert_eq!(nested(&[], &[0, 2]), "[]");
        assert_eq!(nested(&[], &[2, 0]), "[[], []]");
        assert_eq!(nested(&[json!([1.0, -2.0])], &[1]), "[1.0-2.0i]");
    }
}
