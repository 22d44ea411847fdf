//! The function without a body that `program` stands before.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, Token, Type, Visibility};

use super::passing::{self, Outcome, Passing};

/// `fn step(state: State, batch: &Batch) -> (State, Metrics);`
pub(super) struct Declaration {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    /// The list of arguments with its parentheses, as a place for messages.
    pub(super) list: Group,
    pub(super) arguments: Vec<Argument>,
    /// `None` where no `->` stands.
    pub(super) result: Option<Type>,
    /// Of a tuple the elements, else one; none where nothing is given.
    pub(super) outcomes: Vec<Outcome>,
}

/// An argument.
pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) passing: Passing,
    /// What each device takes: without `&`, `Split<>` and so on.
    pub(super) ty: Type,
    /// With them.
    pub(super) written: Type,
}

/// As many as a call takes.
const MOST_ARGUMENTS: usize = 12;

const USAGE: &str = "`program` stands before a function without a body, whose types say what the \
                     program takes and gives: `fn step(state: State, batch: &Batch) -> State;`";

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Declaration> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if let Some(word) = modifier(input) {
            return Err(input.error(format!(
                "a program is no `{word}` function; only its types count, so drop the word"
            )));
        }
        if !input.peek(Token![fn]) {
            return Err(input.error(USAGE));
        }
        input.parse::<Token![fn]>()?;
        let name: Ident = input.parse()?;
        if input.peek(Token![<]) {
            return Err(input.error(
                "a program has the types that its file has: no type parameters, lifetimes or \
                 constants",
            ));
        }
        let list: Group = input.parse()?;
        let arguments = syn::parse::Parser::parse2(arguments, list.stream())?;
        let result = result(input)?;
        if input.peek(Token![where]) {
            return Err(input.error("a program has no type parameters, so no `where` either"));
        }
        if input.peek(syn::token::Brace) {
            return Err(input.error(
                "the file is the body: end this with `;`, and call the program by `load` and \
                 `call`",
            ));
        }
        if !input.peek(Token![;]) {
            return Err(input.error("a program's declaration ends with `;`"));
        }
        input.parse::<Token![;]>()?;
        Ok(Declaration {
            attributes,
            visibility,
            name,
            list,
            arguments,
            outcomes: match &result {
                Some(result) => passing::results(result)?,
                None => Vec::new(),
            },
            result,
        })
    }
}

/// A word that functions may have and programs have not.
fn modifier(input: ParseStream<'_>) -> Option<&'static str> {
    if input.peek(Token![const]) {
        return Some("const");
    }
    if input.peek(Token![async]) {
        return Some("async");
    }
    if input.peek(Token![unsafe]) {
        return Some("unsafe");
    }
    input.peek(Token![extern]).then_some("extern")
}

fn arguments(input: ParseStream<'_>) -> syn::Result<Vec<Argument>> {
    let mut arguments: Vec<Argument> = Vec::new();
    while !input.is_empty() {
        if arguments.len() == MOST_ARGUMENTS {
            return Err(input.error(format!(
                "a program takes up to {MOST_ARGUMENTS} arguments; put some into a struct that \
                 derives `Tree`"
            )));
        }
        let argument: Argument = input.parse()?;
        let twin = arguments.iter().find(|other| other.name == argument.name);
        if twin.is_some() {
            return Err(Error::new(
                argument.name.span(),
                format!("two arguments can't both be called `{}`", argument.name),
            ));
        }
        arguments.push(argument);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Argument> {
        if input.peek(Token![#]) {
            return Err(input.error("arguments of a program have no attributes"));
        }
        if is_self(input) {
            return Err(input.error(
                "a program isn't a method: name the argument and its type, as in `state: State`",
            ));
        }
        let plain = "an argument of a program is a name and a type, as in `state: State`";
        if !input.peek(Ident) || input.peek(Token![mut]) || input.peek(Token![ref]) {
            return Err(input.error(plain));
        }
        let name: Ident = input.parse()?;
        if !input.peek(Token![:]) || input.peek(Token![::]) {
            return Err(input.error(plain));
        }
        input.parse::<Token![:]>()?;
        let written: Type = input.parse()?;
        let (passing, ty) = passing::argument(&written)?;
        Ok(Argument {
            name,
            passing,
            ty,
            written,
        })
    }
}

impl Argument {
    /// What it is called in messages.
    pub(super) fn shown(&self) -> String {
        self.name.unraw().to_string()
    }

    /// Whether the program may take over its memory; `None` where either is right.
    pub(super) fn by_value(&self) -> Option<bool> {
        match self.passing {
            Passing::Given => Some(true),
            Passing::Lent | Passing::Part => Some(false),
            Passing::Host => None,
        }
    }
}

impl Declaration {
    /// Whether the results are a tuple.
    pub(super) fn gives_tuple(&self) -> bool {
        let result = self.result.as_ref().map(unwrapped);
        result.is_none_or(|result| matches!(result, Type::Tuple(_)))
    }

    /// What is said of many devices only, such as `One<Metrics>`.
    pub(super) fn parallel_word(&self) -> Option<&Type> {
        let mut arguments = self.arguments.iter();
        let argument = arguments
            .find(|argument| matches!(argument.passing, Passing::Part | Passing::Host))
            .map(|argument| &argument.written);
        let outcome = || self.outcomes.iter().find(|outcome| outcome.worded);
        argument.or_else(|| outcome().map(|outcome| &outcome.written))
    }
}

fn is_self(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let _ = ahead.parse::<Option<Token![&]>>();
    let _ = ahead.parse::<Option<syn::Lifetime>>();
    let _ = ahead.parse::<Option<Token![mut]>>();
    ahead.peek(Token![self])
}

fn result(input: ParseStream<'_>) -> syn::Result<Option<Type>> {
    if !input.peek(Token![->]) {
        return Ok(None);
    }
    input.parse::<Token![->]>()?;
    let result: Type = input.parse()?;
    if let Some((span, what)) = borrowed(result.to_token_stream()) {
        return Err(Error::new(
            span,
            format!("the results of a program are new buffers, so their type has no {what}"),
        ));
    }
    if let Type::Path(path) = unwrapped(&result) {
        let last = path.path.segments.last();
        if let Some(last) = last.filter(|last| last.ident == "Result") {
            return Err(Error::new(
                last.ident.span(),
                "calls return a `Result` by themselves; name what the program gives",
            ));
        }
    }
    Ok(Some(result))
}

/// A type without the parentheses around it.
pub(super) fn unwrapped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Paren(inner) => &inner.elem,
            Type::Group(inner) => &inner.elem,
            other => return other,
        };
    }
}

/// A reference or another thing that a type can't have inside, and what it is.
pub(super) fn borrowed(tokens: TokenStream) -> Option<(Span, &'static str)> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => borrowed(group.stream()),
        TokenTree::Punct(sign) if sign.as_char() == '&' => Some((sign.span(), "reference")),
        TokenTree::Punct(sign) if sign.as_char() == '\'' => Some((sign.span(), "lifetime")),
        TokenTree::Ident(word) if word == "impl" => Some((word.span(), "`impl`")),
        TokenTree::Ident(word) if word == "dyn" => Some((word.span(), "`dyn`")),
        _ => None,
    })
}

/// A type as it is written, without the spaces that tokens come with.
pub(super) fn shown(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string().replace(' ', "");
    text.replace(',', ", ").replace(';', "; ")
}
