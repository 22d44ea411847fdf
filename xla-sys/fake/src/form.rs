//! Element types, and arrays of them.

use pjrt_sys::PJRT_Buffer_Type;

/// An element type: its name, its numbers, its bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: &'static str,
    pub(crate) raw: PJRT_Buffer_Type,
    /// The number in an HLO module.
    pub(crate) hlo: i64,
    pub(crate) size: usize,
}

macro_rules! elements {
    ($($raw:ident $name:literal $hlo:literal $size:literal;)*) => {
        const ELEMENTS: &[Element] = &[$(Element {
            name: $name,
            raw: PJRT_Buffer_Type::$raw,
            hlo: $hlo,
            size: $size,
        }),*];
    };
}

// Those narrower than a byte take one each, on the device too.
elements! {
    PRED "pred" 1 1;
    S1 "s1" 30 1;
    S2 "s2" 26 1;
    S4 "s4" 21 1;
    S8 "s8" 2 1;
    S16 "s16" 3 2;
    S32 "s32" 4 4;
    S64 "s64" 5 8;
    U1 "u1" 31 1;
    U2 "u2" 27 1;
    U4 "u4" 22 1;
    U8 "u8" 6 1;
    U16 "u16" 7 2;
    U32 "u32" 8 4;
    U64 "u64" 9 8;
    F4E2M1FN "f4e2m1fn" 32 1;
    F6E2M3FN "f6e2m3fn" 36 1;
    F6E3M2FN "f6e3m2fn" 35 1;
    F8E3M4 "f8e3m4" 29 1;
    F8E4M3 "f8e4m3" 28 1;
    F8E4M3FN "f8e4m3fn" 20 1;
    F8E4M3FNUZ "f8e4m3fnuz" 25 1;
    F8E4M3B11FNUZ "f8e4m3b11fnuz" 23 1;
    F8E5M2 "f8e5m2" 19 1;
    F8E5M2FNUZ "f8e5m2fnuz" 24 1;
    F8E8M0FNU "f8e8m0fnu" 33 1;
    F16 "f16" 10 2;
    BF16 "bf16" 16 2;
    F32 "f32" 11 4;
    F64 "f64" 12 8;
    C64 "c64" 15 8;
    C128 "c128" 18 16;
}

impl Element {
    pub(crate) fn named(name: &str) -> Option<Element> {
        ELEMENTS.iter().copied().find(|known| known.name == name)
    }

    pub(crate) fn of(raw: PJRT_Buffer_Type) -> Option<Element> {
        ELEMENTS.iter().copied().find(|known| known.raw == raw)
    }
}

/// An element type, dimensions, and the order in which these lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) element: Element,
    pub(crate) dims: Vec<i64>,
    pub(crate) minor_to_major: Vec<i64>,
}

impl Form {
    /// Row-major, unless another order is given. Nothing if the numbers make no array.
    pub(crate) fn new(element: Element, dims: &[i64], order: Option<&[i64]>) -> Option<Form> {
        let rank = dims.len() as i64;
        let minor_to_major = match order {
            None => (0..rank).rev().collect(),
            Some(order) => order.to_vec(),
        };
        let mut sorted = minor_to_major.clone();
        sorted.sort_unstable();
        let is_order = sorted.iter().copied().eq(0..rank);
        let mut size = element.size as i64;
        for dim in dims {
            size = size.checked_mul(*dim).filter(|size| *size >= 0)?;
        }
        (is_order && dims.iter().all(|dim| *dim >= 0)).then(|| Form {
            element,
            dims: dims.to_vec(),
            minor_to_major,
        })
    }

    /// Reads `f32[2,3]`, or `f32[2,3]{0,1}` with the order, the fastest varying first.
    pub(crate) fn parse(text: &str) -> Option<Form> {
        let (name, rest) = text.split_once('[')?;
        let (dims, rest) = rest.split_once(']')?;
        let order = match rest {
            "" => None,
            rest => Some(numbers(rest.strip_prefix('{')?.strip_suffix('}')?)?),
        };
        Form::new(Element::named(name)?, &numbers(dims)?, order.as_deref())
    }

    pub(crate) fn count(&self) -> usize {
        self.dims.iter().product::<i64>() as usize
    }

    pub(crate) fn size(&self) -> usize {
        self.count() * self.element.size
    }

    /// Gathers an array from where its elements lie, by byte strides, into this order.
    pub(crate) fn gather(&self, source: &[u8], strides: &[i64]) -> Option<Vec<u8>> {
        let mut gathered = Vec::with_capacity(self.size());
        let mut position = vec![0i64; self.dims.len()];
        for _ in 0..self.count() {
            let start: i64 = position.iter().zip(strides).map(|(at, by)| at * by).sum();
            let start = usize::try_from(start).ok()?;
            gathered.extend_from_slice(source.get(start..start + self.element.size)?);
            for dim in &self.minor_to_major {
                let dim = *dim as usize;
                position[dim] += 1;
                if position[dim] < self.dims[dim] {
                    break;
                }
                position[dim] = 0;
            }
        }
        Some(gathered)
    }

    /// The byte strides of a dense row-major array of these dimensions.
    pub(crate) fn row_major_strides(&self) -> Vec<i64> {
        let mut strides = vec![0; self.dims.len()];
        let mut stride = self.element.size as i64;
        for (dim, by) in self.dims.iter().zip(&mut strides).rev() {
            *by = stride;
            stride *= dim;
        }
        strides
    }

    pub(crate) fn is_row_major(&self) -> bool {
        (0..self.dims.len() as i64)
            .rev()
            .eq(self.minor_to_major.iter().copied())
    }
}

fn numbers(text: &str) -> Option<Vec<i64>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    text.split(',')
        .map(|each| each.trim().parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let form = Form::parse("f32[2,3]{0,1}").expect("a form");
        assert_eq!((form.size(), form.is_row_major()), (24, false));
        assert_eq!(form.row_major_strides(), [12, 4]);
        assert_eq!(Form::parse("s64[]").expect("a scalar").size(), 8);
        for wrong in [
            "f32",
            "f32[2",
            "f33[2]",
            "f32[-1]",
            "f32[2]{1}",
            "f32[2]x",
            "f32[9999999999,9999999999]",
        ] {
            assert_eq!(Form::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn columns_are_gathered() {
        let form = Form::parse("u8[2,3]{0,1}").expect("a form");
        let gathered = form.gather(&[0, 1, 2, 3, 4, 5], &form.row_major_strides());
        assert_eq!(gathered.expect("inside"), [0, 3, 1, 4, 2, 5]);
        assert_eq!(form.gather(&[0, 1], &form.row_major_strides()), None);
    }
}
