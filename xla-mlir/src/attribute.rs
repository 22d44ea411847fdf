//! Attributes: the values of `{name = value}`.

use crate::lexer::{unescape, Token};
use crate::parser::Parser;
use crate::Error;

/// An attribute, as far as its value is of use here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    /// A name without a value.
    Unit,
    Bool(bool),
    /// `None` for a number that is too large.
    Integer(Option<i64>),
    Text(String),
    /// `#name`, defined elsewhere.
    Alias(String),
    /// Anything else.
    Other,
}

/// `name = value` in a dictionary.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) value: Attribute,
    /// Where the value begins (the name of one without).
    pub(crate) at: usize,
}

/// Builtin attributes whose body is in angle brackets.
const BODIED: [&str; 9] = [
    "affine_map",
    "affine_set",
    "array",
    "dense",
    "dense_resource",
    "distinct",
    "opaque",
    "sparse",
    "strided",
];

impl Parser<'_> {
    /// A dictionary, if one begins here.
    pub(crate) fn optional_dictionary(&mut self) -> Result<Vec<Entry>, Error> {
        if self.sees('{') {
            return self.dictionary();
        }
        Ok(Vec::new())
    }

    /// `{name = value, name}`.
    pub(crate) fn dictionary(&mut self) -> Result<Vec<Entry>, Error> {
        self.expect('{')?;
        let mut entries: Vec<Entry> = Vec::new();
        self.list('}', |parser| {
            let (name, mut at) = match parser.token {
                Token::Word(word) => (word.to_owned(), parser.start),
                Token::Text(text) => (unescape(text), parser.start),
                _ => return Err(parser.expected("the name of an attribute")),
            };
            if entries.iter().any(|entry| entry.name == name) {
                return Err(parser.error(format!("the attribute `{name}` stands here twice")));
            }
            parser.advance()?;
            let mut value = Attribute::Unit;
            if parser.take('=')? {
                at = parser.start;
                value = parser.nested(Parser::attribute)?;
            }
            entries.push(Entry { name, value, at });
            Ok(())
        })?;
        Ok(entries)
    }

    /// Any attribute.
    pub(crate) fn attribute(&mut self) -> Result<Attribute, Error> {
        match self.token {
            Token::Text(text) => {
                self.advance()?;
                self.typed(Attribute::Text(unescape(text)))
            }
            Token::Integer(digits) => self.integer(digits, false),
            Token::Float => self.float(),
            Token::Sign('-') => {
                self.advance()?;
                match self.token {
                    Token::Integer(digits) => self.integer(digits, true),
                    Token::Float => self.float(),
                    _ => Err(self.expected("a number behind `-`")),
                }
            }
            Token::Sign('[') => {
                self.advance()?;
                self.list(']', |parser| parser.nested(Parser::attribute).map(drop))?;
                Ok(Attribute::Other)
            }
            Token::Sign('{') => {
                self.nested(Parser::dictionary)?;
                Ok(Attribute::Other)
            }
            Token::Symbol(_) => {
                self.symbol()?;
                Ok(Attribute::Other)
            }
            Token::Attribute(name) => self.named_attribute(name),
            Token::Word(word) => self.word_attribute(word),
            Token::Type(_) | Token::Sign('(') => {
                self.nested(Parser::skip_type)?;
                Ok(Attribute::Other)
            }
            _ => Err(self.expected("an attribute")),
        }
    }

    fn word_attribute(&mut self, word: &str) -> Result<Attribute, Error> {
        match word {
            "true" | "false" => {
                self.advance()?;
                Ok(Attribute::Bool(word == "true"))
            }
            "unit" => {
                self.advance()?;
                Ok(Attribute::Unit)
            }
            "loc" => {
                self.location()?;
                Ok(Attribute::Other)
            }
            _ if BODIED.contains(&word) => {
                self.advance()?;
                // `distinct[0]<...>`
                if self.sees('[') {
                    self.skip_brackets(true)?;
                }
                if !self.sees('<') {
                    return Err(self.expected(&format!("`<` behind `{word}`")));
                }
                self.skip_brackets(true)?;
                self.typed(Attribute::Other)
            }
            _ => {
                self.nested(Parser::skip_type)?;
                Ok(Attribute::Other)
            }
        }
    }

    /// `#alias`, `#dialect.attribute`, `#dialect.attribute<...>` or `#dialect<...>`.
    fn named_attribute(&mut self, name: &str) -> Result<Attribute, Error> {
        let end = self.lexer.at;
        self.advance()?;
        if self.sees('<') && self.follows(end) {
            self.skip_brackets(true)?;
            return Ok(Attribute::Other);
        }
        if name.contains('.') {
            return Ok(Attribute::Other);
        }
        Ok(Attribute::Alias(name.to_owned()))
    }

    fn integer(&mut self, digits: &str, negative: bool) -> Result<Attribute, Error> {
        let value = match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => digits.parse::<i64>(),
        };
        let value = value
            .ok()
            .map(|value| if negative { -value } else { value });
        self.advance()?;
        self.typed(Attribute::Integer(value))
    }

    fn float(&mut self) -> Result<Attribute, Error> {
        self.advance()?;
        self.typed(Attribute::Other)
    }

    /// Passes over the type that may stand behind a value.
    fn typed(&mut self, value: Attribute) -> Result<Attribute, Error> {
        if self.take(':')? {
            self.nested(Parser::skip_type)?;
        }
        Ok(value)
    }

    /// `@a` or `@a::@b`.
    fn symbol(&mut self) -> Result<(), Error> {
        loop {
            let Token::Symbol(_) = self.token else {
                return Err(self.expected("a symbol"));
            };
            self.advance()?;
            if !self.sees(':') || self.lexer.byte(0) != Some(b':') {
                return Ok(());
            }
            self.advance()?;
            self.advance()?;
        }
    }

    /// Any type: a word or `!name`, with what it has in angle brackets, or a function's.
    pub(crate) fn skip_type(&mut self) -> Result<(), Error> {
        match self.token {
            Token::Word(_) | Token::Type(_) => {
                let end = self.lexer.at;
                self.advance()?;
                if self.sees('<') && self.follows(end) {
                    self.skip_brackets(true)?;
                }
                Ok(())
            }
            Token::Sign('(') => {
                self.skip_brackets(true)?;
                if self.token != Token::Arrow {
                    return Err(self.expected("`->` of a function's type"));
                }
                self.advance()?;
                if self.sees('(') {
                    self.skip_brackets(true)
                } else {
                    self.nested(Parser::skip_type)
                }
            }
            _ => Err(self.expected("a type")),
        }
    }

    /// What an attribute is, with aliases looked up.
    pub(crate) fn resolved<'b>(&'b self, mut value: &'b Attribute) -> &'b Attribute {
        // An alias of an alias of an alias is nothing that anyone writes.
        for _ in 0..8 {
            let Attribute::Alias(name) = value else {
                break;
            };
            match self.attributes.get(name.as_str()) {
                Some(defined) => value = defined,
                None => break,
            }
        }
        value
    }
}
