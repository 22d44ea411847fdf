//! From text to tokens.

use crate::Error;

/// A token, with its text as it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// `func.func`, `tensor`, `true`.
    Word(&'a str),
    /// `"..."`, what is between the quotes.
    Text(&'a str),
    /// `42`, `0xff`.
    Integer(&'a str),
    /// `1.0e-3`.
    Float,
    /// `@main` or `@"main"`, without the sign and the quotes.
    Symbol(&'a str),
    /// `%arg0`, without the sign.
    Value(&'a str),
    /// `^bb0`.
    Block,
    /// `#loc1` or `#sdy.sharding`, without the sign.
    Attribute(&'a str),
    /// `!alias` or `!stablehlo.token`, without the sign.
    Type(&'a str),
    /// `->`.
    Arrow,
    /// `...`.
    Ellipsis,
    /// Any other sign, such as `(`.
    Sign(char),
    End,
}

/// Reads one token after the other.
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    /// The byte that is read next.
    pub(crate) at: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn error(&self, byte: usize, message: impl Into<String>) -> Error {
        Error::at(self.text, byte, message)
    }

    /// The byte `ahead` of the next one.
    pub(crate) fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Passes over white space and comments.
    pub(crate) fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => self.skip_line(),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
    }

    /// Takes bytes as long as they are such, and gives the text from `start` on.
    fn take(&mut self, start: usize, such: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .position(|byte| !such(*byte))
            .unwrap_or(rest.len());
        // Only ASCII was taken, so this is a boundary of characters.
        &self.text[start..self.at]
    }

    /// The next token, and where it begins.
    pub(crate) fn next(&mut self) -> Result<(Token<'a>, usize), Error> {
        self.skip_space();
        let start = self.at;
        let Some(first) = self.byte(0) else {
            return Ok((Token::End, start));
        };
        let token = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Token::Word(self.take(start, in_word)),
            b'0'..=b'9' => self.number(start),
            b'"' => Token::Text(self.quoted()?),
            b'@' => self.symbol(start)?,
            b'%' => Token::Value(self.suffix(start, "a value")?),
            b'#' => Token::Attribute(self.suffix(start, "an attribute")?),
            b'!' => Token::Type(self.suffix(start, "a type")?),
            b'^' => {
                self.suffix(start, "a block")?;
                Token::Block
            }
            b'-' if self.byte(1) == Some(b'>') => {
                self.at += 2;
                Token::Arrow
            }
            b'.' if self.text[start..].starts_with("...") => {
                self.at += 3;
                Token::Ellipsis
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b':' | b'=' | b'-'
            | b'+' | b'*' | b'?' | b'|' | b'/' | b'&' => {
                self.at += 1;
                Token::Sign(char::from(first))
            }
            _ => {
                let character = self.text[start..].chars().next().unwrap_or('\0');
                return Err(self.error(
                    start,
                    format!("{character:?} has no meaning here in StableHLO text"),
                ));
            }
        };
        Ok((token, start))
    }

    fn number(&mut self, start: usize) -> Token<'a> {
        if self.text[start..].starts_with("0x")
            && self.byte(2).is_some_and(|byte| byte.is_ascii_hexdigit())
        {
            self.at += 2;
            return Token::Integer(self.take(start, |byte| byte.is_ascii_hexdigit()));
        }
        let integer = self.take(start, |byte| byte.is_ascii_digit());
        if self.byte(0) != Some(b'.') {
            return Token::Integer(integer);
        }
        self.at += 1;
        self.take(start, |byte| byte.is_ascii_digit());
        if matches!(self.byte(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(1), Some(b'+' | b'-')));
            if self
                .byte(1 + sign)
                .is_some_and(|byte| byte.is_ascii_digit())
            {
                self.at += 1 + sign;
                self.take(start, |byte| byte.is_ascii_digit());
            }
        }
        Token::Float
    }

    /// A string; the next byte is its first quote.
    pub(crate) fn quoted(&mut self) -> Result<&'a str, Error> {
        let bytes = self.text.as_bytes();
        let quote = self.at;
        let mut at = quote + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                // What is escaped is no end, whatever it is.
                Some(b'\\') => at += 2,
                None | Some(b'\n') => {
                    return Err(self.error(quote, "this string has no end on its line"))
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        // Both are quotes, so these are boundaries of characters.
        Ok(&self.text[quote + 1..at])
    }

    fn symbol(&mut self, start: usize) -> Result<Token<'a>, Error> {
        if self.byte(1) != Some(b'"') {
            return self.suffix(start, "a symbol").map(Token::Symbol);
        }
        self.at += 1;
        self.quoted().map(Token::Symbol)
    }

    /// The identifier behind a sign.
    fn suffix(&mut self, start: usize, what: &str) -> Result<&'a str, Error> {
        self.at += 1;
        let name = self.take(start + 1, |byte| in_word(byte) || byte == b'-');
        if name.is_empty() {
            return Err(self.error(
                start,
                format!("the name of {what} belongs behind this sign"),
            ));
        }
        // `#a->` is an identifier and an arrow.
        if name.ends_with('-') && self.byte(0) == Some(b'>') {
            self.at -= 1;
            return Ok(&name[..name.len() - 1]);
        }
        Ok(name)
    }

    /// Passes over what is in brackets; the next byte is the opening one. `<` and `>` are
    /// brackets only where `angles` says so: in attributes and types, not in code.
    pub(crate) fn skip_brackets(&mut self, angles: bool) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<(u8, usize)> = Vec::new();
        loop {
            let Some(byte) = bytes.get(self.at).copied() else {
                let (bracket, from) = open.last().copied().unwrap_or((b'(', self.at));
                let bracket = char::from(bracket);
                return Err(self.error(from, format!("this `{bracket}` is never closed")));
            };
            let here = self.at;
            match byte {
                b'"' => {
                    self.quoted()?;
                    continue;
                }
                b'/' if self.byte(1) == Some(b'/') => {
                    self.skip_line();
                    continue;
                }
                b'-' if self.byte(1) == Some(b'>') => self.at += 1,
                b'(' | b'[' | b'{' => open.push((byte, here)),
                // `<=` compares, in integer sets.
                b'<' if angles && self.byte(1) != Some(b'=') => open.push((byte, here)),
                b'>' if angles && open.last().is_some_and(|(bracket, _)| *bracket == b'<') => {
                    open.pop();
                }
                b')' | b']' | b'}' => {
                    let expected = open.pop();
                    if expected.map(|(bracket, _)| closing(bracket)) != Some(byte) {
                        return Err(self.unmatched(byte, expected));
                    }
                }
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn unmatched(&self, byte: u8, open: Option<(u8, usize)>) -> Error {
        let byte = char::from(byte);
        let message = match open {
            None => format!("this `{byte}` closes nothing"),
            Some((bracket, from)) => {
                let place = Error::at(self.text, from, "").place.unwrap_or_default();
                let (line, column) = place;
                format!(
                    "this `{byte}` doesn't close the `{}` of {line}:{column}",
                    char::from(bracket)
                )
            }
        };
        self.error(self.at, message)
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn closing(bracket: u8) -> u8 {
    match bracket {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => b'>',
    }
}

/// What a string means: `\n`, `\t`, `\"`, `\\`, or a byte as two hex digits.
pub(crate) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        match rest {
            [b'n', tail @ ..] => {
                bytes.push(b'\n');
                rest = tail;
            }
            [b't', tail @ ..] => {
                bytes.push(b'\t');
                rest = tail;
            }
            [high, low, tail @ ..] if hex(high).is_some() && hex(low).is_some() => {
                let digits = hex(high).unwrap_or(0) * 16 + hex(low).unwrap_or(0);
                bytes.extend(u8::try_from(digits));
                rest = tail;
            }
            [other, tail @ ..] => {
                bytes.push(*other);
                rest = tail;
            }
            [] => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
