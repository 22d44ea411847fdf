//! The parser's state and the small steps that all of its parts use.

use std::collections::HashMap;

use crate::attribute::Attribute;
use crate::lexer::{Lexer, Token};
use crate::location::Location;
use crate::tensor::Tensor;
use crate::Error;

/// How deep attributes and locations may stand in each other.
const DEEPEST: usize = 128;

/// A parser, with the token that it looks at. The lexer stands right behind that token.
pub(crate) struct Parser<'a> {
    pub(crate) lexer: Lexer<'a>,
    pub(crate) token: Token<'a>,
    /// Where the token begins.
    pub(crate) start: usize,
    /// Where the token before it ended.
    pub(crate) end: usize,
    depth: usize,
    /// `#name = ...`
    pub(crate) attributes: HashMap<&'a str, Attribute>,
    /// `#name = loc(...)`
    pub(crate) locations: HashMap<&'a str, Location>,
    /// `!name = ...`; `None` for what is no tensor.
    pub(crate) types: HashMap<&'a str, Option<Tensor>>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Parser<'a>, Error> {
        let mut lexer = Lexer { text, at: 0 };
        let (token, start) = lexer.next()?;
        Ok(Parser {
            lexer,
            token,
            start,
            end: 0,
            depth: 0,
            attributes: HashMap::new(),
            locations: HashMap::new(),
            types: HashMap::new(),
        })
    }

    /// Goes to the next token.
    pub(crate) fn advance(&mut self) -> Result<(), Error> {
        self.end = self.lexer.at;
        (self.token, self.start) = self.lexer.next()?;
        Ok(())
    }

    /// Goes to the token at a byte, forth or back.
    pub(crate) fn seek(&mut self, byte: usize) -> Result<(), Error> {
        self.lexer.at = byte;
        self.advance()
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        self.lexer.error(self.start, message)
    }

    pub(crate) fn expected(&self, what: &str) -> Error {
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
    pub(crate) fn sees(&self, sign: char) -> bool {
        self.token == Token::Sign(sign)
    }

    /// Whether the token is this word.
    pub(crate) fn sees_word(&self, word: &str) -> bool {
        self.token == Token::Word(word)
    }

    /// Takes a sign if it is there.
    pub(crate) fn take(&mut self, sign: char) -> Result<bool, Error> {
        let sees = self.sees(sign);
        if sees {
            self.advance()?;
        }
        Ok(sees)
    }

    /// Takes a word if it is there.
    pub(crate) fn take_word(&mut self, word: &str) -> Result<bool, Error> {
        let sees = self.sees_word(word);
        if sees {
            self.advance()?;
        }
        Ok(sees)
    }

    pub(crate) fn expect(&mut self, sign: char) -> Result<(), Error> {
        if self.take(sign)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{sign}`")))
    }

    /// Whether the token stands right behind the one that ended at `end`.
    pub(crate) fn follows(&self, end: usize) -> bool {
        self.start == end
    }

    /// Passes over what is in brackets; the token is the opening one.
    pub(crate) fn skip_brackets(&mut self, angles: bool) -> Result<(), Error> {
        self.lexer.at = self.start;
        self.lexer.skip_brackets(angles)?;
        self.advance()
    }

    /// A list up to `close`, of which the opening bracket was taken: `item` reads one.
    pub(crate) fn list(
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
    pub(crate) fn nested<T>(
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
