//! What programs compute. Elements are taken in the order in which they lie, as f64.

use crate::form::{Element, Form};

/// What an output is made of: indices of inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Copy(usize),
    Add(usize, usize),
    Subtract(usize, usize),
    Multiply(usize, usize),
    Const(f64),
    /// The sum over all devices.
    AllReduce(usize),
}

impl Op {
    fn operands(self) -> Vec<usize> {
        match self {
            Op::Copy(a) | Op::AllReduce(a) => vec![a],
            Op::Add(a, b) | Op::Subtract(a, b) | Op::Multiply(a, b) => vec![a, b],
            Op::Const(_) => Vec::new(),
        }
    }
}

/// Refuses an operation that doesn't fit.
pub(crate) fn check(op: Op, output: &Form, inputs: &[&Form]) -> Result<(), String> {
    for operand in op.operands() {
        let input = inputs
            .get(operand)
            .ok_or_else(|| format!("there is no input {operand}"))?;
        let fits = match op {
            Op::Copy(_) => input.size() == output.size(),
            _ => input.element == output.element && input.count() == output.count(),
        };
        if !fits {
            return Err(format!("input {operand} doesn't fit it"));
        }
    }
    match op {
        Op::Copy(_) => Ok(()),
        _ if store(output.element, 0.0).is_some() => Ok(()),
        _ => Err(format!("{} can only be copied", output.element.name)),
    }
}

/// The bytes of an output of device `device`. `inputs` are those of every device. The operation
/// was checked, and the sizes are those of the forms.
pub(crate) fn compute(op: Op, output: &Form, device: usize, inputs: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let element = output.element;
    let own = |operand: usize| inputs[device][operand].as_slice();
    match op {
        Op::Copy(a) => own(a).to_vec(),
        Op::Add(a, b) => combine(element, own(a), own(b), |a, b| a + b),
        Op::Subtract(a, b) => combine(element, own(a), own(b), |a, b| a - b),
        Op::Multiply(a, b) => combine(element, own(a), own(b), |a, b| a * b),
        Op::Const(value) => store(element, value)
            .unwrap_or_default()
            .repeat(output.count()),
        Op::AllReduce(a) => {
            let mut all = inputs.iter().map(|device| device[a].clone());
            let first = all.next().unwrap_or_default();
            all.fold(first, |sum, next| {
                combine(element, &sum, &next, |a, b| a + b)
            })
        }
    }
}

fn combine(element: Element, a: &[u8], b: &[u8], by: fn(f64, f64) -> f64) -> Vec<u8> {
    let pairs = a
        .chunks_exact(element.size)
        .zip(b.chunks_exact(element.size));
    pairs
        .filter_map(|(a, b)| store(element, by(load(element, a)?, load(element, b)?)))
        .flatten()
        .collect()
}

macro_rules! numbers {
    ($($name:literal $type:ty;)*) => {
        fn load(element: Element, bytes: &[u8]) -> Option<f64> {
            match element.name {
                $($name => Some(<$type>::from_ne_bytes(bytes.try_into().ok()?) as f64),)*
                _ => None,
            }
        }

        fn store(element: Element, value: f64) -> Option<Vec<u8>> {
            match element.name {
                $($name => Some((value as $type).to_ne_bytes().to_vec()),)*
                _ => None,
            }
        }
    };
}

numbers! {
    "s8" i8;
    "s16" i16;
    "s32" i32;
    "s64" i64;
    "u8" u8;
    "u16" u16;
    "u32" u32;
    "u64" u64;
    "f32" f32;
    "f64" f64;
}
