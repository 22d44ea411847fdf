//! The words of a declaration that say how many devices pass an argument, or give a result:
//! `Split<Batch>`, `One<Metrics>`.
//!
//! They are known by their last name alone: what it stands for is seen by the compiler only,
//! which the expansion leaves them to as they are written.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, ToTokens};
use syn::{Error, GenericArgument, PathArguments, Type};

use super::declaration::{borrowed, shown, unwrapped};

/// How an argument is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// By value: `State`.
    Given,
    /// By reference: `&Batch`.
    Lent,
    /// `Part<Params>`: by reference, out of larger trees.
    Part,
    /// `Split<Batch>` or `Same<Rate>`: as host arrays. Nothing of the caller's is donated.
    Host,
}

/// A result, or an element of a tuple of results.
pub(super) struct Outcome {
    /// What a device gives.
    pub(super) ty: Type,
    pub(super) written: Type,
    /// Whether `One` or `Each` is written.
    pub(super) worded: bool,
}

/// A type of the form `Word<T>`.
struct Word<'t> {
    name: &'t Ident,
    inner: &'t Type,
}

/// The words about arguments and about results.
const ARGUMENTS: [&str; 3] = ["Part", "Split", "Same"];
const RESULTS: [&str; 2] = ["Each", "One"];

impl<'t> Word<'t> {
    fn of(ty: &'t Type) -> Option<Word<'t>> {
        let Type::Path(path) = unwrapped(ty) else {
            return None;
        };
        let last = path.path.segments.last()?;
        let PathArguments::AngleBracketed(list) = &last.arguments else {
            return None;
        };
        let mut types = list.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        let inner = types.next()?;
        types.next().is_none().then_some(Word {
            name: &last.ident,
            inner,
        })
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name == name)
    }
}

/// An argument's type: how it is passed, and what each device takes.
pub(super) fn argument(written: &Type) -> syn::Result<(Passing, Type)> {
    let (lent, ty) = match unwrapped(written) {
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
                        "a program doesn't change its arguments: lend by `&{ty}`, or give by value \
                         (`{ty}`) what it donates",
                        ty = shown(&reference.elem)
                    ),
                ));
            }
            (true, &*reference.elem)
        }
        other => (false, other),
    };
    let mut passing = if lent { Passing::Lent } else { Passing::Given };
    let mut tree = ty;
    if let Some(word) = Word::of(ty) {
        if let Some(message) = wrong_argument(&word, lent) {
            return Err(Error::new_spanned(written, message));
        }
        if word.is(&ARGUMENTS) {
            passing = match word.name == "Part" {
                true => Passing::Part,
                false => Passing::Host,
            };
            tree = word.inner;
        }
    }
    if let Some((span, what)) = borrowed(tree.to_token_stream()) {
        return Err(Error::new(
            span,
            format!(
                "an argument is lent or given as a whole, so its type has no {what} inside; take \
                 several arguments instead"
            ),
        ));
    }
    no_words_inside(tree, "argument")?;
    Ok((passing, tree.clone()))
}

/// Why a word can't stand around an argument.
fn wrong_argument(word: &Word<'_>, lent: bool) -> Option<String> {
    let (name, inner) = (word.name, shown(word.inner));
    let sign = if lent { "&" } else { "" };
    Some(match name.to_string().as_str() {
        "Each" | "One" => format!(
            "`{name}` says which devices' results are given; an argument is `{inner}`, `&{inner}`, \
             `Part<{inner}>`, `Split<{inner}>` or `Same<{inner}>`"
        ),
        "Part" | "Split" | "Same" if lent => format!(
            "`{name}` says by itself how the argument is passed: write `{name}<{inner}>`, without \
             the `&`"
        ),
        "PerDevice" => format!(
            "a declaration has the types of one device, and `load_parallel` makes a `PerDevice` of \
             each: write `{sign}{inner}`"
        ),
        "PartOf" => format!("parts of larger trees are declared as `Part<{inner}>`"),
        "HostTree" => format!(
            "host arrays are split over the devices or the same on all: write `Split<{inner}>` or \
             `Same<{inner}>`"
        ),
        "Give" => format!("what is given is declared by value: write `{inner}`"),
        "Ref" => format!("what is lent is declared by reference: write `&{inner}`"),
        _ => return None,
    })
}

/// A result's type, element by element where it is a tuple.
pub(super) fn results(written: &Type) -> syn::Result<Vec<Outcome>> {
    let elements: Vec<&Type> = match unwrapped(written) {
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        other => vec![other],
    };
    elements.into_iter().map(outcome).collect()
}

fn outcome(written: &Type) -> syn::Result<Outcome> {
    let (mut ty, mut worded) = (written, false);
    if let Some(word) = Word::of(written) {
        let (name, inner) = (word.name, shown(word.inner));
        let message = match name.to_string().as_str() {
            "Part" | "Split" | "Same" | "Give" | "Ref" => Some(format!(
                "`{name}` says how an argument is passed; a result is `{inner}` or `Each<{inner}>`, \
                 of every device, or `One<{inner}>`, of the first"
            )),
            "PerDevice" => Some(format!(
                "a declaration has the types of one device, and `load_parallel` makes a `PerDevice` \
                 of each: write `{inner}`"
            )),
            _ => None,
        };
        if let Some(message) = message {
            return Err(Error::new_spanned(written, message));
        }
        if word.is(&RESULTS) {
            (ty, worded) = (word.inner, true);
        }
    }
    no_words_inside(ty, "result")?;
    Ok(Outcome {
        ty: ty.clone(),
        written: written.clone(),
        worded,
    })
}

impl Outcome {
    /// `Each<State>`, or the word that is written.
    pub(super) fn parallel(&self, root: &syn::Path) -> TokenStream {
        let written = &self.written;
        match self.worded {
            true => quote!(#written),
            false => quote!(#root::Each<#written>),
        }
    }
}

/// Refuses a word somewhere in a tree.
fn no_words_inside(ty: &Type, what: &str) -> syn::Result<()> {
    let mut before: Option<Ident> = None;
    let mut stack = vec![ty.to_token_stream().into_iter()];
    while let Some(tokens) = stack.last_mut() {
        let Some(token) = tokens.next() else {
            stack.pop();
            continue;
        };
        let word = before.take();
        match token {
            proc_macro2::TokenTree::Ident(ident) => before = Some(ident),
            proc_macro2::TokenTree::Group(group) => stack.push(group.stream().into_iter()),
            proc_macro2::TokenTree::Punct(sign) if sign.as_char() == '<' => {
                let word = word.filter(|word| {
                    let names = ARGUMENTS.iter().chain(&RESULTS);
                    let mut names = names.chain(&["PerDevice"]);
                    names.any(|name| word == name)
                });
                if let Some(word) = word {
                    return Err(Error::new(
                        word.span(),
                        format!(
                            "`{word}` is said of a whole {what}, not of a part of one; {}",
                            match what {
                                "result" => "a tuple's elements are results of their own",
                                _ => "take several arguments instead",
                            }
                        ),
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
