//! Locations: where something comes from, and what it is called there.

use std::collections::{HashMap, HashSet};

use crate::lexer::{unescape, Token};
use crate::parser::Parser;
use crate::Error;

/// A location, as far as names are concerned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Location {
    Name(String),
    /// `#loc1`, defined elsewhere, mostly below.
    Alias(String),
    /// Several, the most telling first.
    Several(Vec<Location>),
    /// A place in a file, or nothing at all.
    Nameless,
}

impl Parser<'_> {
    /// A location, if one stands here.
    pub(crate) fn optional_location(&mut self) -> Result<Option<Location>, Error> {
        if self.sees_word("loc") {
            return self.location().map(Some);
        }
        Ok(None)
    }

    /// `loc(...)`.
    pub(crate) fn location(&mut self) -> Result<Location, Error> {
        if !self.take_word("loc")? {
            return Err(self.expected("`loc`"));
        }
        self.parenthesised()
    }

    /// `(...)` around a location.
    fn parenthesised(&mut self) -> Result<Location, Error> {
        self.expect('(')?;
        let location = self.nested(Parser::location_inside)?;
        self.expect(')')?;
        Ok(location)
    }

    fn location_inside(&mut self) -> Result<Location, Error> {
        match self.token {
            Token::Text(text) => {
                self.advance()?;
                self.name_or_file(text)
            }
            Token::Attribute(name) => {
                let end = self.lexer.at;
                self.advance()?;
                if self.sees('<') && self.follows(end) {
                    self.skip_brackets(true)?;
                    return Ok(Location::Nameless);
                }
                if name.contains('.') {
                    return Ok(Location::Nameless);
                }
                Ok(Location::Alias(name.to_owned()))
            }
            Token::Word("unknown") => {
                self.advance()?;
                Ok(Location::Nameless)
            }
            Token::Word("fused") => self.fused(),
            Token::Word("callsite") => self.callsite(),
            Token::Word("loc") => self.location(),
            _ => {
                Err(self.expected("a location: a name, a place, `fused`, `callsite` or `unknown`"))
            }
        }
    }

    /// `"name"`, `"name"(location)`, `"file":1:2` or `"file":1:2 to 3:4`.
    fn name_or_file(&mut self, text: &str) -> Result<Location, Error> {
        if self.sees('(') {
            self.parenthesised()?;
            return Ok(Location::Name(unescape(text)));
        }
        if !self.sees(':') {
            return Ok(Location::Name(unescape(text)));
        }
        for _ in 0..2 {
            self.expect(':')?;
            self.number()?;
        }
        if self.take_word("to")? {
            if let Token::Integer(_) = self.token {
                self.advance()?;
            }
            self.expect(':')?;
            self.number()?;
        }
        Ok(Location::Nameless)
    }

    fn number(&mut self) -> Result<(), Error> {
        match self.token {
            Token::Integer(_) => self.advance(),
            _ => Err(self.expected("a line or column")),
        }
    }

    /// `fused[location, ...]` or `fused<attribute>[location, ...]`.
    fn fused(&mut self) -> Result<Location, Error> {
        self.advance()?;
        if self.sees('<') {
            self.skip_brackets(true)?;
        }
        self.expect('[')?;
        let mut all = Vec::new();
        self.list(']', |parser| {
            all.push(parser.nested(Parser::location_inside)?);
            Ok(())
        })?;
        Ok(Location::Several(all))
    }

    /// `callsite(callee at caller)`.
    fn callsite(&mut self) -> Result<Location, Error> {
        self.advance()?;
        self.expect('(')?;
        let inner = self.nested(Parser::location_inside)?;
        if !self.take_word("at")? {
            return Err(self.expected("`at`"));
        }
        let outer = self.nested(Parser::location_inside)?;
        self.expect(')')?;
        Ok(Location::Several(vec![inner, outer]))
    }
}

impl Location {
    /// The name that it gives, with aliases looked up.
    pub(crate) fn name(&self, aliases: &HashMap<&str, Location>) -> Option<String> {
        // What was looked at has no name, else the search would be over.
        let mut seen = HashSet::new();
        let mut waiting = vec![self];
        while let Some(location) = waiting.pop() {
            match location {
                Location::Name(name) => return Some(name.clone()),
                Location::Alias(alias) => {
                    if seen.insert(alias.as_str()) {
                        waiting.extend(aliases.get(alias.as_str()));
                    }
                }
                Location::Several(all) => waiting.extend(all.iter().rev()),
                Location::Nameless => {}
            }
        }
        None
    }
}
