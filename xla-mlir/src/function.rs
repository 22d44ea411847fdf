//! The head of `@main`.

use std::collections::HashMap;

use crate::attribute::{Attribute, Entry};
use crate::donate::{Missing, Site, Sites};
use crate::lexer::Token;
use crate::location::Location;
use crate::parser::Parser;
use crate::returned;
use crate::tensor::Tensor;
use crate::{Error, Input, Output};

/// The head of a function as it is read; aliases that it uses may be defined below.
pub(crate) struct Head {
    pub(crate) arguments: Vec<Argument>,
    pub(crate) results: Vec<(Tensor, Vec<Entry>)>,
    /// The names of the values that it returns, as far as they are read.
    pub(crate) returned: Vec<String>,
    /// Where the list of the arguments' attributes belongs, in a function that has a list of
    /// its own for them and leaves it out.
    pub(crate) missing: Option<Missing>,
}

pub(crate) struct Argument {
    pub(crate) value: Option<String>,
    pub(crate) tensor: Tensor,
    pub(crate) attributes: Vec<Entry>,
    pub(crate) location: Option<Location>,
    /// `None` where the arguments' attributes have no place yet.
    pub(crate) site: Option<Site>,
}

impl Parser<'_> {
    /// What stands behind a function's name.
    pub(crate) fn head(&mut self) -> Result<Head, Error> {
        let mut arguments = Vec::new();
        self.expect('(')?;
        self.list(')', |parser| {
            let argument = parser.argument(arguments.len())?;
            arguments.push(argument);
            Ok(())
        })?;
        let results = match self.token {
            Token::Arrow => self.results()?,
            _ => Vec::new(),
        };
        if self.take_word("attributes")? {
            self.dictionary()?;
        }
        if !self.sees('{') {
            return Err(self.expected("the body of `@main`, in `{` and `}`"));
        }
        let opened = self.start;
        self.skip_brackets(false)?;
        let returned = returned::values(&self.lexer.text[opened..self.end]);
        self.optional_location()?;
        Ok(Head {
            arguments,
            results,
            returned: returned.into_iter().map(str::to_owned).collect(),
            missing: None,
        })
    }

    /// `-> type` or `-> (type {...}, type)`; the token is the arrow.
    pub(crate) fn results(&mut self) -> Result<Vec<(Tensor, Vec<Entry>)>, Error> {
        let mut results = Vec::new();
        self.advance()?;
        if self.take('(')? {
            self.list(')', |parser| {
                let tensor = parser.tensor(&format!("output {}", results.len()))?;
                results.push((tensor, parser.optional_dictionary()?));
                Ok(())
            })?;
        } else {
            results.push((self.tensor("output 0")?, Vec::new()));
        }
        Ok(results)
    }

    /// `%name: type {...} loc(...)`.
    fn argument(&mut self, index: usize) -> Result<Argument, Error> {
        let value = match self.token {
            Token::Value(name) => {
                let name = name.to_owned();
                self.advance()?;
                self.expect(':')?;
                Some(name)
            }
            Token::Ellipsis => {
                return Err(self.error("`@main` takes a fixed number of inputs, so no `...`"))
            }
            _ => None,
        };
        let tensor = self.tensor(&format!("input {index}"))?;
        let (attributes, site) = if self.sees('{') {
            self.dictionary_and_site()?
        } else {
            (Vec::new(), Site::Behind(self.end))
        };
        Ok(Argument {
            value,
            tensor,
            attributes,
            location: self.optional_location()?,
            site: Some(site),
        })
    }

    /// A dictionary, and how to write into it.
    pub(crate) fn dictionary_and_site(&mut self) -> Result<(Vec<Entry>, Site), Error> {
        let at = self.start + 1;
        let entries = self.dictionary()?;
        let empty = entries.is_empty();
        Ok((entries, Site::Inside { at, empty }))
    }
}

impl Head {
    /// Inputs and outputs, now that the whole file is read.
    pub(crate) fn finish(
        self,
        parser: &Parser<'_>,
    ) -> Result<(Vec<Input>, Vec<Output>, Sites), Error> {
        let values: HashMap<&str, usize> = self
            .arguments
            .iter()
            .enumerate()
            .filter_map(|(index, argument)| Some((argument.value.as_deref()?, index)))
            .collect();
        let are_known = self.returned.len() == self.results.len();
        let returned = |output: usize| {
            let value = self.returned.get(output).filter(|_| are_known)?;
            values.get(value.as_str()).copied()
        };
        let outputs: Vec<Output> = self
            .results
            .into_iter()
            .enumerate()
            .map(|(index, (tensor, attributes))| Output {
                name: text(parser, &attributes, "jax.result_info"),
                tensor,
                returned: returned(index),
            })
            .collect();
        let mut sites = Sites {
            inputs: Vec::with_capacity(self.arguments.len()),
            missing: self.missing,
        };
        // Which input took an output.
        let mut taken: Vec<Option<usize>> = vec![None; outputs.len()];
        let mut inputs = Vec::with_capacity(self.arguments.len());
        for (index, argument) in self.arguments.into_iter().enumerate() {
            let mut input = Input {
                name: argument
                    .location
                    .and_then(|location| location.name(&parser.locations)),
                value: argument.value,
                tensor: argument.tensor,
                aliasing_output: None,
                buffer_donor: false,
            };
            for entry in &argument.attributes {
                match entry.name.as_str() {
                    "tf.aliasing_output" => {
                        input.aliasing_output = Some(output(parser, entry, index, &mut taken)?);
                    }
                    "jax.buffer_donor" => input.buffer_donor = donor(parser, entry)?,
                    _ => {}
                }
            }
            inputs.push(input);
            sites.inputs.push(argument.site);
        }
        Ok((inputs, outputs, sites))
    }
}

/// The value of `tf.aliasing_output`, which no other input may have.
fn output(
    parser: &Parser<'_>,
    entry: &Entry,
    input: usize,
    taken: &mut [Option<usize>],
) -> Result<usize, Error> {
    let error = |message: String| Err(parser.lexer.error(entry.at, message));
    let Attribute::Integer(number) = parser.resolved(&entry.value) else {
        return error(
            "`tf.aliasing_output` is the number of an output, as in `tf.aliasing_output = 0 : i32`"
                .to_owned(),
        );
    };
    let count = taken.len();
    let index = number.and_then(|number| usize::try_from(number).ok());
    match index.and_then(|index| taken.get_mut(index).map(|taken| (index, taken))) {
        None => error(format!(
            "input {input} is donated into an output that the program doesn't have: it has {count}, \
             counted from 0"
        )),
        Some((index, Some(other))) => error(format!(
            "input {input} is donated into output {index}, which input {other} is donated into \
             already"
        )),
        Some((index, free)) => {
            *free = Some(input);
            Ok(index)
        }
    }
}

/// Whether `jax.buffer_donor` offers the input. It does with either value: compilers look only
/// at whether it is there.
fn donor(parser: &Parser<'_>, entry: &Entry) -> Result<bool, Error> {
    match parser.resolved(&entry.value) {
        Attribute::Bool(_) => Ok(true),
        _ => Err(parser.lexer.error(
            entry.at,
            "`jax.buffer_donor` is true or false, as in `jax.buffer_donor = true`",
        )),
    }
}

/// The value of an attribute that is a text.
fn text(parser: &Parser<'_>, attributes: &[Entry], name: &str) -> Option<String> {
    let entry = attributes.iter().find(|entry| entry.name == name)?;
    match parser.resolved(&entry.value) {
        Attribute::Text(text) => Some(text.clone()),
        _ => None,
    }
}
