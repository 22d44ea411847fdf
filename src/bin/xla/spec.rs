//! How the command line says what an argument is.

use std::path::PathBuf;
use std::str::FromStr;

use xla::{ElementType, Shape};

/// One `--arg`.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// As it was written, with its option.
    pub(crate) text: String,
    /// The position of the only device that gets it.
    pub(crate) device: Option<usize>,
    /// Unset, what the program donates is given.
    pub(crate) passing: Option<Passing>,
    /// Unset, it is what the program takes.
    pub(crate) shape: Option<Shape>,
    pub(crate) values: Values,
}

/// Whether a program may consume an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    Give,
    Lend,
}

/// The values of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    Listed(Vec<String>),
    Zeros,
    Ones,
    Iota,
    Random(u64),
    File(PathBuf),
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (device, rest) = match text.strip_prefix('@') {
            None => (None, text),
            Some(rest) => {
                let (device, rest) = rest.split_once('=').ok_or_else(|| {
                    format!(
                        "`{text}` has no `=`: the values of a file are `=@file.npy`, and those for \
                         one device `--arg@D SPEC`"
                    )
                })?;
                let device = device.parse().map_err(|_| {
                    format!("`{device}` is no device: wanted its position, such as 0 in `--arg@0`")
                })?;
                (Some(device), rest)
            }
        };
        let spec = rest;
        let (passing, rest) = match (rest.strip_prefix("give:"), rest.strip_prefix("lend:")) {
            (Some(rest), _) => (Some(Passing::Give), rest),
            (_, Some(rest)) => (Some(Passing::Lend), rest),
            _ => (None, rest),
        };
        let (shape, values) = rest.split_once('=').ok_or_else(|| {
            format!(
                "`{rest}` has no `=`: wanted TYPE=VALUES, such as `f32[2]=1,2`, `f32[2]=zeros`, \
                 `=ones` or `=@file.npy`"
            )
        })?;
        let (shape, values) = (shape.trim(), values.trim());
        let shape = match shape {
            "" => None,
            shape => Some(parse_shape(shape)?),
        };
        let values = match values {
            "zeros" => Values::Zeros,
            "ones" => Values::Ones,
            "iota" => Values::Iota,
            values => match (values.strip_prefix('@'), values.strip_prefix("rand:")) {
                (Some(""), _) => return Err("wanted a file after `@`".to_owned()),
                (Some(path), _) => Values::File(PathBuf::from(path)),
                (_, Some(seed)) => Values::Random(seed.parse().map_err(|_| {
                    format!("`{seed}` is no seed: wanted a whole number, such as `rand:0`")
                })?),
                _ => Values::Listed(listed(values)),
            },
        };
        Ok(Spec {
            text: match device {
                Some(device) => format!("--arg@{device} {spec}"),
                None => format!("--arg {spec}"),
            },
            device,
            passing,
            shape,
            values,
        })
    }
}

/// Values between commas. Brackets around rows are allowed, and count nothing.
fn listed(values: &str) -> Vec<String> {
    let values: String = values.chars().filter(|c| !"[]".contains(*c)).collect();
    if values.trim().is_empty() {
        return Vec::new();
    }
    let values = values.split(',').map(|value| value.trim().to_owned());
    values.collect()
}

/// Reads a shape such as `f32[2,3]`; `f32` has no dimensions.
pub(crate) fn parse_shape(text: &str) -> Result<Shape, String> {
    let (name, dims) = match text.split_once('[') {
        None => (text, ""),
        Some((name, dims)) => {
            let dims = dims.strip_suffix(']');
            (
                name,
                dims.ok_or_else(|| format!("`{text}` has no `]` at its end"))?,
            )
        }
    };
    let element_type = parse_type(name)?;
    let dims = dims.split(',').filter(|_| !dims.trim().is_empty());
    let dims = dims.map(|dim| {
        let size = dim.trim().parse();
        size.map_err(|_| format!("`{dim}` in `{text}` is no size: wanted a whole number"))
    });
    let dims = dims.collect::<Result<Vec<usize>, String>>()?;
    Shape::new(element_type, &dims).map_err(|error| error.message().to_owned())
}

/// By XLA's name, or StableHLO's.
fn parse_type(name: &str) -> Result<ElementType, String> {
    let xla_name = match name {
        "i1" | "bool" => "pred".to_owned(),
        _ => match (name.strip_prefix("ui"), name.strip_prefix('i')) {
            (Some(bits), _) => format!("u{bits}"),
            (_, Some(bits)) => format!("s{bits}"),
            _ => name.to_owned(),
        },
    };
    let mut all = ElementType::ALL
        .iter()
        .filter(|it| **it != ElementType::Token);
    match all.clone().find(|it| it.name() == xla_name) {
        Some(found) => Ok(*found),
        None => {
            let known: Vec<&str> = all.by_ref().map(|it| it.name()).collect();
            Err(format!(
                "`{name}` is no element type: wanted a type such as `f32[2,3]`, of {}",
                known.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Spec {
        text.parse().expect(text)
    }

    #[test]
    fn specs_are_read() {
        let full = spec("@2=lend:f32[2,3]=1,2,3,4,5,6");
        assert_eq!(full.device, Some(2));
        assert_eq!(full.passing, Some(Passing::Lend));
        assert_eq!(full.shape.expect("stated").to_string(), "f32[2,3]");
        let six = ["1", "2", "3", "4", "5", "6"].map(str::to_owned).to_vec();
        assert_eq!(full.values, Values::Listed(six.clone()));
        assert_eq!(spec("=[[1, 2, 3], [4, 5, 6]]").values, Values::Listed(six));

        let short = spec("=rand:7");
        assert_eq!((short.device, short.passing), (None, None));
        assert!(short.shape.is_none());
        assert_eq!(short.values, Values::Random(7));
        assert_eq!(spec("give:ui8[0]=").values, Values::Listed(Vec::new()));
        // What stands apart is not one number.
        let apart = Values::Listed(vec!["1 2".to_owned(), "3".to_owned()]);
        assert_eq!(spec(" f32[2] = 1 2, 3 ").values, apart);
        assert_eq!(spec("=@a=b.npy").values, Values::File("a=b.npy".into()));
        for (written, shape) in [("i32", "s32[]"), ("i1[4]", "pred[4]"), ("bf16[]", "bf16[]")] {
            let stated = parse_shape(written).expect(written);
            assert_eq!(stated.to_string(), shape);
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, word) in [
            ("zeros", "no `=`"),
            ("f32[2=zeros", "no `]`"),
            ("f33[2]=zeros", "f32"),
            ("f32[a]=zeros", "`a`"),
            ("f32[-1]=zeros", "`-1`"),
            ("f32[4294967296,4294967296,4]=zeros", "f32"),
            ("=rand:x", "`x`"),
            ("=@", "file"),
            ("@x==zeros", "`x`"),
            ("token[]=zeros", "token"),
        ] {
            let error = text.parse::<Spec>().expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
