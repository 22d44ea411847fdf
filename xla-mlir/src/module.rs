//! The file as a whole: its module, its aliases, and all operations but `@main`.

use crate::attribute::{Attribute, Entry};
use crate::donate::Sites;
use crate::function::Head;
use crate::lexer::{unescape, Token};
use crate::parser::Parser;
use crate::{Error, Main};

/// What was found on the way through a file.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) main: Option<Head>,
    pub(crate) attributes: Vec<Entry>,
    /// The names of some other functions.
    others: Vec<String>,
    nested_module: bool,
}

/// What a text says, and where more can be written into it.
pub(crate) fn read(text: &str) -> Result<(Main, Sites), Error> {
    let mut parser = Parser::new(text)?;
    let mut found = Found::default();
    while parser.token != Token::End {
        parser.top_level(&mut found)?;
    }
    let Some(main) = found.main.take() else {
        return Err(found.without_main());
    };
    let replicas = parser.devices(&found.attributes, "mhlo.num_replicas")?;
    let partitions = parser.devices(&found.attributes, "mhlo.num_partitions")?;
    let (inputs, outputs, sites) = main.finish(&parser)?;
    let main = Main {
        inputs,
        outputs,
        replicas,
        partitions,
    };
    Ok((main, sites))
}

/// What is said of a second `@main`.
pub(crate) const TWICE: &str = "the program has two functions `@main`";

impl Found {
    /// Keeps the name of a function that isn't looked into, for messages.
    pub(crate) fn pass(&mut self, name: String) {
        const SHOWN: usize = 4;
        if self.others.len() < SHOWN {
            self.others.push(name);
        }
    }

    fn without_main(&self) -> Error {
        let message = "the program has no function `@main`, which is where it begins";
        if self.nested_module {
            return Error::whole(format!(
                "{message}: at least not in its outermost module, and the modules inside don't count"
            ));
        }
        if self.others.is_empty() {
            return Error::whole(message);
        }
        Error::whole(format!(
            "{message}; it has `@{}`",
            self.others.join("`, `@")
        ))
    }
}

impl<'a> Parser<'a> {
    /// An operation or alias that is in nothing.
    fn top_level(&mut self, found: &mut Found) -> Result<(), Error> {
        match self.token {
            Token::Attribute(name) => self.attribute_alias(name),
            Token::Type(name) => self.type_alias(name),
            Token::Sign('{') if self.lexer.text[self.start..].starts_with("{-#") => {
                self.skip_metadata()
            }
            Token::Word("module" | "builtin.module") => self.module(found),
            Token::Text("builtin.module") => self.generic_module(found),
            _ => self.operation(found),
        }
    }

    /// `module @name attributes {...} { ... } loc(...)`.
    fn module(&mut self, found: &mut Found) -> Result<(), Error> {
        self.advance()?;
        if let Token::Symbol(_) = self.token {
            self.advance()?;
        }
        if self.take_word("attributes")? {
            let attributes = self.dictionary()?;
            found.attributes.extend(attributes);
        }
        let opened = self.start;
        self.expect('{')?;
        self.members(opened, found)?;
        self.optional_location()?;
        Ok(())
    }

    /// The operations in a module, and the `}` behind them.
    pub(crate) fn members(&mut self, opened: usize, found: &mut Found) -> Result<(), Error> {
        while !self.sees('}') {
            match self.token {
                Token::End => {
                    return Err(self
                        .lexer
                        .error(opened, "the module that begins here has no `}`"))
                }
                Token::Word("module" | "builtin.module") | Token::Text("builtin.module") => {
                    found.nested_module = true;
                    self.skip_operation()?;
                }
                _ => self.operation(found)?,
            }
        }
        self.advance()
    }

    /// An operation that is no module.
    fn operation(&mut self, found: &mut Found) -> Result<(), Error> {
        match self.token {
            Token::Word("func.func") => self.function(found),
            Token::Text("func.func") => self.generic_function(found),
            Token::Word(_) | Token::Text(_) | Token::Value(_) => self.skip_operation(),
            _ => Err(self.expected("an operation, such as `module` or `func.func`")),
        }
    }

    /// `func.func`, of which only `@main` is looked into.
    fn function(&mut self, found: &mut Found) -> Result<(), Error> {
        self.advance()?;
        if let Token::Word("public" | "private" | "nested") = self.token {
            self.advance()?;
        }
        let Token::Symbol(name) = self.token else {
            return Err(self.expected("the function's name, such as `@main`"));
        };
        let name = unescape(name);
        if name != "main" {
            found.pass(name);
            return self.skip_operation();
        }
        if found.main.is_some() {
            return Err(self.error(TWICE));
        }
        self.advance()?;
        found.main = Some(self.head()?);
        Ok(())
    }

    /// Passes over an operation, of which one token at least is left. Its end isn't
    /// marked: it is where the next one begins, or the module ends.
    fn skip_operation(&mut self) -> Result<(), Error> {
        let mut first = true;
        loop {
            match self.token {
                Token::End | Token::Sign('}') => return Ok(()),
                Token::Word(word) if !first && (word.contains('.') || word == "module") => {
                    return Ok(())
                }
                Token::Text(_) if !first && self.opens_parenthesis() => return Ok(()),
                Token::Attribute(_) | Token::Type(_) if !first && self.is_alias() => return Ok(()),
                Token::Sign('{') if self.lexer.text[self.start..].starts_with("{-#") => {
                    return Ok(())
                }
                Token::Sign('(' | '[' | '<') => self.skip_brackets(true)?,
                // Code, where `<` and `>` may be anything.
                Token::Sign('{') => self.skip_brackets(false)?,
                Token::Sign(sign @ (')' | ']' | '>')) => {
                    return Err(self.error(format!("this `{sign}` closes nothing")))
                }
                _ => self.advance()?,
            }
            first = false;
        }
    }

    /// Whether `(` comes next, as behind the name of an operation in generic form.
    fn opens_parenthesis(&self) -> bool {
        self.lexer.text[self.lexer.at..]
            .trim_start()
            .starts_with('(')
    }

    /// Whether `=` comes next, as where an alias is defined.
    fn is_alias(&self) -> bool {
        self.lexer.text[self.lexer.at..]
            .trim_start()
            .starts_with('=')
    }

    /// `#name = value`; the token is the name.
    fn attribute_alias(&mut self, name: &'a str) -> Result<(), Error> {
        self.advance()?;
        self.expect('=')?;
        if self.sees_word("loc") {
            let location = self.location()?;
            self.locations.insert(name, location);
        } else {
            let value = self.attribute()?;
            self.attributes.insert(name, value);
        }
        Ok(())
    }

    /// `{-# ... #-}`, the resources at the end of a file.
    fn skip_metadata(&mut self) -> Result<(), Error> {
        let opened = self.start;
        self.lexer.at = opened + "{-#".len();
        while !self.lexer.text[self.lexer.at..].starts_with("#-}") {
            match self.lexer.byte(0) {
                Some(b'"') => {
                    self.lexer.quoted()?;
                }
                Some(_) => {
                    let rest = &self.lexer.text.as_bytes()[self.lexer.at + 1..];
                    let next = rest.iter().position(|byte| matches!(byte, b'"' | b'#'));
                    self.lexer.at += 1 + next.unwrap_or(rest.len());
                }
                None => return Err(self.lexer.error(opened, "this `{-#` has no `#-}`")),
            }
        }
        self.lexer.at += "#-}".len();
        self.advance()
    }

    /// A number of devices among the module's attributes.
    fn devices(&self, attributes: &[Entry], name: &str) -> Result<Option<usize>, Error> {
        let Some(entry) = attributes.iter().find(|entry| entry.name == name) else {
            return Ok(None);
        };
        if let Attribute::Integer(Some(number)) = self.resolved(&entry.value) {
            if let Some(number) = usize::try_from(*number).ok().filter(|number| *number > 0) {
                return Ok(Some(number));
            }
        }
        let message = format!("`{name}` is a positive number, as in `{name} = 4 : i32`");
        Err(self.lexer.error(entry.at, message))
    }
}
