//! The types that inputs and outputs have.

use std::fmt;

use crate::lexer::Token;
use crate::parser::Parser;
use crate::Error;

/// The type of an input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The element type as the text names it, such as `f32`, `complex<f64>` or `token`.
    pub element: String,
    /// The dimensions; `None` for a tensor of any rank.
    pub dims: Option<Vec<Dim>>,
    /// Whether an encoding follows them, which may bound the dynamic ones.
    pub encoded: bool,
}

impl Tensor {
    /// Whether it has dimensions that are neither fixed nor bounded.
    pub fn is_unbounded(&self) -> bool {
        let dims = self.dims.as_deref();
        !self.encoded && dims.is_some_and(|dims| dims.contains(&Dim::Dynamic))
    }
}

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A fixed size.
    Static(u64),
    /// `?`
    Dynamic,
}

/// The element types that `StableHLO` has and a buffer can hold.
const ELEMENTS: [&str; 26] = [
    "i1",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "ui2",
    "ui4",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "f4E2M1FN",
    "f8E3M4",
    "f8E4M3",
    "f8E4M3B11FNUZ",
    "f8E4M3FN",
    "f8E4M3FNUZ",
    "f8E5M2",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "bf16",
    "f16",
    "f32",
    "f64",
];

impl<'a> Parser<'a> {
    /// The type of an input or output, which `what` names for messages.
    pub(crate) fn tensor(&mut self, what: &str) -> Result<Tensor, Error> {
        match self.token {
            Token::Word("tensor") => self.ranked(what),
            Token::Word("tuple") => Err(self.error(format!(
                "{what} is a tuple, but a program for PJRT takes and gives its tensors one by one; \
                 write them as separate inputs and outputs"
            ))),
            Token::Type("stablehlo.token" | "mhlo.token") => {
                self.advance()?;
                Ok(Tensor {
                    element: "token".to_owned(),
                    dims: Some(Vec::new()),
                    encoded: false,
                })
            }
            Token::Type(name) => match self.types.get(name).cloned() {
                Some(Some(tensor)) => {
                    self.advance()?;
                    Ok(tensor)
                }
                _ => Err(self.no_tensor(what)),
            },
            Token::Word(_) => Err(self.no_tensor(what)),
            _ => Err(self.expected("a type")),
        }
    }

    fn no_tensor(&self, what: &str) -> Error {
        self.expected(&format!("`tensor<...>` as the type of {what}"))
    }

    /// `!name = type`; the token is the name.
    pub(crate) fn type_alias(&mut self, name: &'a str) -> Result<(), Error> {
        self.advance()?;
        self.expect('=')?;
        let tensor = if self.sees_word("tensor") {
            Some(self.ranked("this")?)
        } else {
            self.skip_type()?;
            None
        };
        self.types.insert(name, tensor);
        Ok(())
    }

    /// `tensor<2x?xf32>`, `tensor<*xf32>`, `tensor<f32, #encoding>`.
    fn ranked(&mut self, what: &str) -> Result<Tensor, Error> {
        self.advance()?;
        if !self.sees('<') {
            return Err(self.expected("`<` behind `tensor`"));
        }
        let dims = self.dims()?;
        let element = self.element(what)?;
        let encoded = self.take(',')?;
        if encoded {
            self.nested(Parser::attribute)?;
        }
        self.expect('>')?;
        Ok(Tensor {
            element,
            dims,
            encoded,
        })
    }

    /// What stands before the element type. Read byte by byte, since `x4xf32` would be one
    /// word, and `0x4` a number; then goes to the token behind.
    fn dims(&mut self) -> Result<Option<Vec<Dim>>, Error> {
        let lexer = &mut self.lexer;
        let mut dims = Some(Vec::new());
        loop {
            lexer.skip_space();
            let start = lexer.at;
            let rest = &lexer.text[start..];
            match rest.as_bytes().first() {
                Some(b'*') => {
                    lexer.at += 1;
                    dims = None;
                }
                Some(b'?') => {
                    lexer.at += 1;
                    dims.get_or_insert_with(Vec::new).push(Dim::Dynamic);
                }
                Some(b'0'..=b'9') => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    lexer.at += digits;
                    let Ok(size) = rest[..digits].parse() else {
                        return Err(lexer.error(start, "this dimension is too large"));
                    };
                    dims.get_or_insert_with(Vec::new).push(Dim::Static(size));
                }
                _ => break,
            }
            lexer.skip_space();
            if lexer.byte(0) != Some(b'x') {
                let message = "behind a dimension belongs `x` and what follows, as in \
                               `tensor<2x3xf32>`";
                return Err(lexer.error(lexer.at, message));
            }
            lexer.at += 1;
        }
        self.advance()?;
        Ok(dims)
    }

    fn element(&mut self, what: &str) -> Result<String, Error> {
        match self.token {
            Token::Word("complex") => {
                self.advance()?;
                self.expect('<')?;
                let Token::Word(part @ ("f32" | "f64")) = self.token else {
                    return Err(self.expected("`f32` or `f64` inside `complex<...>`"));
                };
                self.advance()?;
                self.expect('>')?;
                Ok(format!("complex<{part}>"))
            }
            Token::Word(word) if ELEMENTS.contains(&word) => {
                self.advance()?;
                Ok(word.to_owned())
            }
            Token::Type(name) if name.starts_with("quant.") => Err(self.error(format!(
                "{what} is quantised, which no buffer can hold; pass its integers, and quantise \
                 inside the program"
            ))),
            Token::Word(word) => Err(self.error(format!(
                "`{word}` is no element type that buffers have, such as `f32`, `bf16`, `i32`, \
                 `ui8` or `i1`"
            ))),
            _ => Err(self.expected("an element type, such as `f32`")),
        }
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        match &self.dims {
            None => f.write_str("*")?,
            Some(dims) => {
                for (index, dim) in dims.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    match dim {
                        Dim::Static(size) => write!(f, "{comma}{size}")?,
                        Dim::Dynamic => write!(f, "{comma}?")?,
                    }
                }
            }
        }
        f.write_str("]")
    }
}
