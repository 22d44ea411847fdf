//! Modules and functions in MLIR's generic form: `"name"() <{...}> ({ ... }) {...} : type`.

use crate::attribute::{Attribute, Entry};
use crate::donate::{Missing, Site};
use crate::function::{Argument, Head};
use crate::lexer::Token;
use crate::location::Location;
use crate::module::{Found, TWICE};
use crate::parser::Parser;
use crate::tensor::Tensor;
use crate::Error;

/// A dictionary of an operation, with the place behind its `{`.
struct Properties {
    inside: usize,
    entries: Vec<Entry>,
}

/// A function before it is known which one it is.
#[derive(Default)]
struct Function {
    /// Before its body and behind.
    dictionaries: Vec<Properties>,
    /// Where the `(` around its body stands.
    body: usize,
}

/// The attributes of an argument or result, and where more are written.
type Attributes = (Vec<Entry>, Site);

/// What a block says of its arguments.
type BlockArgument = (String, Option<Location>);

impl Function {
    /// An entry, and where the dictionary begins that it stands in.
    fn entry(&self, name: &str) -> Option<(&Entry, usize)> {
        self.dictionaries.iter().find_map(|properties| {
            let mut entries = properties.entries.iter();
            let entry = entries.find(|entry| entry.name == name)?;
            Some((entry, properties.inside))
        })
    }
}

impl Parser<'_> {
    /// `"builtin.module"() <{...}> ({ ... }) {...} : () -> () loc(...)`; the token is the name.
    pub(crate) fn generic_module(&mut self, found: &mut Found) -> Result<(), Error> {
        self.advance()?;
        self.expect('(')?;
        self.expect(')')?;
        if let Some(properties) = self.properties()? {
            found.attributes.extend(properties.entries);
        }
        self.expect('(')?;
        let opened = self.start;
        self.expect('{')?;
        if self.token == Token::Block {
            self.advance()?;
            self.expect(':')?;
        }
        self.members(opened, found)?;
        self.expect(')')?;
        let attributes = self.optional_dictionary()?;
        found.attributes.extend(attributes);
        self.operation_type()
    }

    /// `"func.func"() <{...}> ({ ... }) {...} : () -> () loc(...)`, of which only `@main` is
    /// looked into; the token is the name.
    pub(crate) fn generic_function(&mut self, found: &mut Found) -> Result<(), Error> {
        let start = self.start;
        self.advance()?;
        self.expect('(')?;
        self.expect(')')?;
        let mut function = Function::default();
        function.dictionaries.extend(self.properties()?);
        function.body = self.start;
        if !self.sees('(') {
            return Err(self.expected("the function's body, in `({` and `})`"));
        }
        self.skip_brackets(false)?;
        if self.sees('{') {
            let inside = self.start + 1;
            let entries = self.dictionary()?;
            function.dictionaries.push(Properties { inside, entries });
        }
        self.operation_type()?;
        match function.entry("sym_name").map(|(entry, _)| &entry.value) {
            Some(Attribute::Text(name)) if name == "main" => {
                if found.main.is_some() {
                    return Err(self.lexer.error(start, TWICE));
                }
                let behind = self.start;
                found.main = Some(self.generic_head(&function, start)?);
                self.seek(behind)
            }
            Some(Attribute::Text(name)) => {
                found.pass(name.clone());
                Ok(())
            }
            _ => Err(self.lexer.error(start, "this function has no `sym_name`")),
        }
    }

    /// `<{...}>`, if it stands here.
    fn properties(&mut self) -> Result<Option<Properties>, Error> {
        if !self.take('<')? {
            return Ok(None);
        }
        let inside = self.start + 1;
        let entries = self.dictionary()?;
        self.expect('>')?;
        Ok(Some(Properties { inside, entries }))
    }

    /// `: type loc(...)`, at the end of an operation.
    fn operation_type(&mut self) -> Result<(), Error> {
        self.expect(':')?;
        self.skip_type()?;
        self.optional_location()?;
        Ok(())
    }

    /// The head of `@main`, whose pieces stand here and there.
    fn generic_head(&mut self, function: &Function, start: usize) -> Result<Head, Error> {
        let Some((entry, inside)) = function.entry("function_type") else {
            return Err(self.lexer.error(start, "`@main` has no `function_type`"));
        };
        let at = entry.at;
        self.seek(at)?;
        let mut tensors = Vec::new();
        self.expect('(')?;
        self.list(')', |parser| {
            tensors.push(parser.tensor(&format!("input {}", tensors.len()))?);
            Ok(())
        })?;
        if self.token != Token::Arrow {
            return Err(self.expected("`->` of `@main`'s type"));
        }
        let mut results = self.results()?;
        let result_attributes = self.attribute_list(function, "res_attrs", results.len())?;
        if let Some(all) = result_attributes {
            for (result, (attributes, _)) in results.iter_mut().zip(all) {
                result.1 = attributes;
            }
        }
        let attributes = self.attribute_list(function, "arg_attrs", tensors.len())?;
        let missing = attributes.is_none().then_some(Missing { inside });
        let attributes = attributes.unwrap_or_default().into_iter().map(Some);
        let attributes = attributes.chain(std::iter::repeat_with(|| None));
        let block = self.block_arguments(function.body, &tensors)?;
        let arguments = tensors.into_iter().zip(attributes).zip(block);
        let arguments = arguments.map(|((tensor, attributes), (value, location))| {
            let (attributes, site) = attributes.unzip();
            Argument {
                value: Some(value),
                tensor,
                attributes: attributes.unwrap_or_default(),
                location,
                site,
            }
        });
        Ok(Head {
            arguments: arguments.collect(),
            results,
            returned: Vec::new(),
            missing,
        })
    }

    /// `name = [{...}, {}]`, a dictionary for each argument or result.
    fn attribute_list(
        &mut self,
        function: &Function,
        name: &str,
        count: usize,
    ) -> Result<Option<Vec<Attributes>>, Error> {
        let Some((entry, _)) = function.entry(name) else {
            return Ok(None);
        };
        let at = entry.at;
        self.seek(at)?;
        self.expect('[')?;
        let mut all = Vec::new();
        self.list(']', |parser| {
            all.push(parser.dictionary_and_site()?);
            Ok(())
        })?;
        if all.len() != count {
            let message = format!(
                "`{name}` of `@main` has {} dictionaries, but there are {count} to be told of",
                all.len()
            );
            return Err(self.lexer.error(at, message));
        }
        Ok(Some(all))
    }

    /// `({^bb0(%name: type loc(...), ...): ...`; `at` is the parenthesis.
    fn block_arguments(
        &mut self,
        at: usize,
        tensors: &[Tensor],
    ) -> Result<Vec<BlockArgument>, Error> {
        self.seek(at)?;
        self.expect('(')?;
        self.expect('{')?;
        let mut arguments = Vec::new();
        if self.token == Token::Block {
            self.advance()?;
            if self.take('(')? {
                self.list(')', |parser| {
                    let Token::Value(name) = parser.token else {
                        return Err(parser.expected("a value such as `%arg0`"));
                    };
                    let name = name.to_owned();
                    parser.advance()?;
                    parser.expect(':')?;
                    let at = parser.start;
                    let index = arguments.len();
                    let tensor = parser.tensor(&format!("input {index}"))?;
                    if tensors.get(index).is_some_and(|other| *other != tensor) {
                        let message = format!("input {index} has another type in `@main`'s type");
                        return Err(parser.lexer.error(at, message));
                    }
                    arguments.push((name, parser.optional_location()?));
                    Ok(())
                })?;
            }
        }
        let count = tensors.len();
        if arguments.len() != count {
            let message = format!(
                "the body of `@main` takes {} arguments, but its type has {count}",
                arguments.len()
            );
            return Err(self.lexer.error(at, message));
        }
        Ok(arguments)
    }
}
