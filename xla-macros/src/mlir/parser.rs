//! The parser's state and the small steps that all of its parts use.

use std::collections::HashMap;

use super::attribute::Attribute;
use super::lexer::{Lexer, Token};
use super::location::Location;
use super::tensor::Tensor;
use super::Error;

/// How deep attributes and locations may stand in each other.
const DEEPEST: usize = 128;

/// A parser, with the token that it looks at. The lexer stands right behind that token.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) token: Token<'a>,
    /// Where the token begins.
    pub(super) start: usize,
    depth: usize,
    /// `#name = ...`
    pub(super) attributes: HashMap<&'a str, Attribute>,
    /// `#name = loc(...)`
    pub(super) locations: HashMap<&'a str, Location>,
    /// `!name = ...`; `None` for what is no tensor.
    pub(super) types: HashMap<&'a str, Option<Tensor>>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Result<Parser<'a>, Error> {
        let mut lexer = Lexer { text, at: 0 };
        let (token, start) = lexer.next()?;
        Ok(Parser {
            lexer,
            token,
            start,
            depth: 0,
            attributes: HashMap::new(),
            locations: HashMap::new(),
            types: HashMap::new(),
        })
    }

    /// Goes to the next token.
    pub(super) fn advance(&mut self) -> Result<(), Error> {
        (self.token, self.start) = self.lexer.next()?;
        Ok(())
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.lexer.error(self.start, message)
    }

    pub(super) fn expected(&self, what: &str) -> Error {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    /// How the token is called in messages.
    fn found(&self) -> String {
        const LONGEST: usize = 40;
        if self.token == Token::End {
            return "the end of the file".to_owned();
        }
        let token = &self.lexer.text[self.start..self.lexer.at];
        let shown: String = token.chars().take(LONGEST).collect();
        let more = if shown.len() < token.len() { "..." } else { "" };
        format!("`{shown}{more}`")
    }

    /// Whether the token is this sign.
    pub(super) fn sees(&self, sign: char) -> bool {
        self.token == Token::Sign(sign)
    }

    /// Whether the token is this word.
    pub(super) fn sees_word(&self, word: &str) -> bool {
        self.token == Token::Word(word)
    }

    /// Takes a sign if it is there.
    pub(super) fn take(&mut self, sign: char) -> Result<bool, Error> {
        let sees = self.sees(sign);
        if sees {
            self.advance()?;
        }
        Ok(sees)
    }

    /// Takes a word if it is there.
    pub(super) fn take_word(&mut self, word: &str) -> Result<bool, Error> {
        let sees = self.sees_word(word);
        if sees {
            self.advance()?;
        }
        Ok(sees)
    }

    pub(super) fn expect(&mut self, sign: char) -> Result<(), Error> {
        if self.take(sign)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{sign}`")))
    }

    /// Whether the token stands right behind the one that ended at `end`.
    pub(super) fn follows(&self, end: usize) -> bool {
        self.start == end
    }

    /// Passes over what is in brackets; the token is the opening one.
    pub(super) fn skip_brackets(&mut self, angles: bool) -> Result<(), Error> {
        self.lexer.at = self.start;
        self.lexer.skip_brackets(angles)?;
        self.advance()
    }

    /// A list up to `close`, of which the opening bracket was taken: `item` reads one.
    pub(super) fn list(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.take(close)? {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.take(close)? {
                return Ok(());
            }
            if !self.take(',')? {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Reads something that may stand in itself.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == DEEPEST {
            return Err(self.error(format!("this is nested more than {DEEPEST} deep")));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
