//! The function without a body that `program` stands before.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, Token, Type, Visibility};

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
}

/// An argument.
pub(super) struct Argument {
    pub(super) name: Ident,
    /// Whether it is given, not lent.
    pub(super) by_value: bool,
    /// Without the `&` of one that is lent.
    pub(super) ty: Type,
    /// With it, as a place for messages.
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
        let (by_value, ty) = match unwrapped(&written) {
            Type::Reference(reference) => {
                if let Some(lifetime) = &reference.lifetime {
                    return Err(Error::new(
                        lifetime.span(),
                        "what is lent is lent for the call: a plain `&`, without a lifetime",
                    ));
                }
                if let Some(token) = &reference.mutability {
                    return Err(Error::new(
                        token.span,
                        format!(
                            "a program doesn't change its arguments: lend by `&{ty}`, or give by \
                             value (`{ty}`) what it donates",
                            ty = shown(&reference.elem)
                        ),
                    ));
                }
                (false, (*reference.elem).clone())
            }
            other => (true, other.clone()),
        };
        if let Some((span, what)) = borrowed(ty.to_token_stream()) {
            return Err(Error::new(
                span,
                format!(
                    "an argument is lent or given as a whole, so its type has no {what} inside; \
                     take several arguments instead"
                ),
            ));
        }
        Ok(Argument {
            name,
            by_value,
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
fn unwrapped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Paren(inner) => &inner.elem,
            Type::Group(inner) => &inner.elem,
            other => return other,
        };
    }
}

/// A reference or another thing that a type can't have inside, and what it is.
fn borrowed(tokens: TokenStream) -> Option<(Span, &'static str)> {
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
