//! What a declaration promises, against what the file says.
//!
//! The macro knows the file, and the compiler knows how many leaves a type has. What the
//! file alone tells becomes an error here; the rest becomes constants whose evaluation
//! fails with the message.

use std::ops::Range;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned, ToTokens};
use syn::{Error, Type};

use super::declaration::{shown, Argument, Declaration};
use super::names::{self, Group};
use super::passing::Passing;
use super::{table, Options};
use xla_mlir::{Input, Main};

/// What a file may lack of a function's arguments.
const LEFT_OUT: &str = "JAX leaves out what a function doesn't use, unless told `keep_unused=True`";

/// What is known of a declaration and its file.
pub(super) struct Checks<'a> {
    root: &'a syn::Path,
    declaration: &'a Declaration,
    main: &'a Main,
    /// The file as messages call it.
    file: String,
    groups: Vec<Group>,
    /// Where each argument's inputs are, as far as their names tell.
    places: Vec<Option<Range<usize>>>,
}

impl<'a> Checks<'a> {
    pub(super) fn new(
        options: &'a Options,
        declaration: &'a Declaration,
        main: &'a Main,
    ) -> Checks<'a> {
        let arguments: Vec<String> = declaration.arguments.iter().map(Argument::shown).collect();
        let groups = names::groups(&main.inputs);
        let places = names::places(&arguments, &groups);
        Checks {
            root: &options.root,
            declaration,
            main,
            file: format!("`{}`", options.path.value()),
            groups,
            places,
        }
    }

    /// Errors, and constants that can't be evaluated where something doesn't fit.
    pub(super) fn tokens(&self) -> TokenStream {
        let mut errors = self.order();
        if errors.is_empty() {
            errors = self.donations_by_name();
        }
        let errors = errors.iter().map(Error::to_compile_error);
        let arguments = self.arguments();
        let results = self.results();
        quote!(#(#errors)* #arguments #results)
    }

    /// Arguments that stand in another order than their inputs: leaves are passed in order.
    fn order(&self) -> Vec<Error> {
        let mut errors = Vec::new();
        let mut last: Option<(usize, &Argument)> = None;
        for (argument, place) in self.declaration.arguments.iter().zip(&self.places) {
            let Some(place) = place.as_ref().filter(|place| !place.is_empty()) else {
                continue;
            };
            match last {
                Some((start, before)) if place.start < start => errors.push(Error::new(
                    argument.name.span(),
                    format!(
                        "argument `{}` comes behind `{}` here, but before it in {}, and leaves are \
                         passed in order: exchange them",
                        argument.shown(),
                        before.shown(),
                        self.file
                    ),
                )),
                _ => last = Some((place.start, argument)),
            }
        }
        errors
    }

    /// How arguments are taken, where names tell which inputs are theirs.
    fn donations_by_name(&self) -> Vec<Error> {
        let arguments = self.declaration.arguments.iter().zip(&self.places);
        arguments
            .filter_map(|(argument, place)| {
                let place = place.clone()?;
                let inputs = &self.main.inputs[place.clone()];
                let donated = inputs.iter().position(Input::donated);
                let (name, file, way) = (argument.shown(), &self.file, way(argument));
                let message = match (donated, argument.by_value()?) {
                    (Some(index), false) => format!(
                        "argument `{name}` is taken by reference, but {file} donates {}: {way}",
                        table::input(place.start + index, &inputs[index])
                    ),
                    (None, true) if !inputs.is_empty() => format!(
                        "argument `{name}` is taken by value, but {file} donates nothing of it{}: \
                         {way}",
                        table::inputs(self.main, place).replacen(": ", " (", 1) + ")"
                    ),
                    _ => return None,
                };
                Some(Error::new_spanned(&argument.written, message))
            })
            .collect()
    }

    /// The constants about arguments.
    fn arguments(&self) -> TokenStream {
        let (root, arguments) = (self.root, &self.declaration.arguments);
        let inputs = self.main.inputs.len();
        let types: Vec<&Type> = arguments.iter().map(|argument| &argument.ty).collect();
        let leaves = self.leaves(&types);
        let places = pairs(&self.places);
        let names: Vec<String> = arguments.iter().map(Argument::shown).collect();
        let counts = self.places.iter().enumerate().filter_map(|(index, place)| {
            let place = place.as_ref()?;
            let (subject, file) = (
                format!("argument `{}`", names[index]),
                self.inputs_of(place),
            );
            let (wanted, fewer) = (place.len(), self.left_out(index, place));
            let check =
                quote!(#root::fit::count(__LEAVES[#index], #wanted, #subject, #file, #fewer));
            Some(constant(&arguments[index].written, &check))
        });
        let file = &self.file;
        let donations = arguments
            .iter()
            .enumerate()
            .filter_map(|(index, argument)| {
                // What names tell was looked at already.
                if self.places[index].is_some() {
                    return None;
                }
                let by_value = argument.by_value()?;
                let (name, way) = (&names[index], way(argument));
                let check = quote! {
                    #root::fit::donation(
                    __LEAVES, __PLACES, __INPUTS, #index, #by_value, #name, #file, #way
                )
                };
                Some(constant(&argument.written, &check))
            });
        let inputs_known = self.main.inputs.iter().enumerate().map(|(index, input)| {
            let (name, donated) = (table::input(index, input), input.donated());
            quote!((#name, #donated))
        });
        let (subject, file) = (
            format!("`{}`", self.declaration.name),
            self.all_inputs(inputs),
        );
        let fewer = format!("; {LEFT_OUT}");
        let check = quote! {
            #root::fit::total(__LEAVES, __PLACES, #inputs, #subject, __NAMES, #file, #fewer)
        };
        let total = match &arguments[..] {
            [only] => constant(&only.written, &check),
            _ => constant(&self.declaration.list, &check),
        };
        quote! {
            const _: () = {
                const __LEAVES: &[::core::option::Option<::core::primitive::usize>] = &#leaves;
                #[allow(dead_code)]
                const __PLACES: &[::core::option::Option<(
                    ::core::primitive::usize,
                    ::core::primitive::usize,
                )>] = &#places;
                #[allow(dead_code)]
                const __NAMES: &[&::core::primitive::str] = &[#(#names),*];
                #[allow(dead_code)]
                const __INPUTS: &[(&::core::primitive::str, ::core::primitive::bool)] =
                    &[#(#inputs_known),*];
                #(#counts)*
                #total
                #(#donations)*
            };
        }
    }

    /// The constants about results.
    fn results(&self) -> TokenStream {
        let (root, outputs) = (self.root, self.main.outputs.len());
        let unit: Type = syn::parse_quote!(());
        let outcomes = &self.declaration.outcomes;
        let mut elements: Vec<&Type> = outcomes.iter().map(|outcome| &outcome.ty).collect();
        if elements.is_empty() {
            elements.push(&unit);
        }
        let places = self.result_places(elements.len());
        let leaves = self.leaves(&elements);
        let pairs = pairs(&places);
        let names: Vec<String> = elements.iter().map(|ty| shown(ty)).collect();
        let counts = places.iter().enumerate().filter_map(|(index, place)| {
            let place = place.as_ref()?;
            let (subject, wanted) = (format!("result {index}, `{}`,", names[index]), place.len());
            let file = format!(
                "{} has {} there{}",
                self.file,
                table::number(wanted, "output"),
                table::outputs(self.main, place.clone())
            );
            let check = quote!(#root::fit::count(__LEAVES[#index], #wanted, #subject, #file, ""));
            Some(constant(elements[index], &check))
        });
        let file = format!(
            "{} has {}{}",
            self.file,
            table::number(outputs, "output"),
            table::outputs(self.main, 0..outputs)
        );
        let check = quote! {
            #root::fit::total(__LEAVES, __PLACES, #outputs, "the result", __NAMES, #file, "")
        };
        let total = match &self.declaration.result {
            Some(result) => constant(result, &check),
            None => constant(&self.declaration.name, &check),
        };
        quote! {
            const _: () = {
                const __LEAVES: &[::core::option::Option<::core::primitive::usize>] = &#leaves;
                const __PLACES: &[::core::option::Option<(
                    ::core::primitive::usize,
                    ::core::primitive::usize,
                )>] = &#pairs;
                const __NAMES: &[&::core::primitive::str] = &[#(#names),*];
                #(#counts)*
                #total
            };
        }
    }

    /// The leaf counts of types, as an array.
    fn leaves(&self, types: &[&Type]) -> TokenStream {
        let root = self.root;
        let leaves = types.iter().map(|ty| {
            let (first, _) = ends(ty);
            quote_spanned!(crate::root::at(first)=> <#ty as #root::Tree>::LEAVES)
        });
        quote!([#(#leaves),*])
    }

    /// What the file has for an argument, as the end of a sentence.
    fn inputs_of(&self, place: &Range<usize>) -> String {
        if place.is_empty() {
            return format!("{} has no input of that name: {LEFT_OUT}", self.file);
        }
        format!(
            "{} has {} of it{}",
            self.file,
            table::number(place.len(), "input"),
            table::inputs(self.main, place.clone())
        )
    }

    /// Which leaves of an argument the file may lack, behind what it has of it. Their names are
    /// those of a result of the same type.
    fn left_out(&self, index: usize, place: &Range<usize>) -> String {
        if place.is_empty() {
            return String::new(); // which was said already
        }
        let outcomes = &self.declaration.outcomes;
        let ty = shown(&self.declaration.arguments[index].ty);
        let same = outcomes.iter().position(|outcome| shown(&outcome.ty) == ty);
        let group = self.groups.iter().find(|group| group.inputs == *place);
        let root = group.and_then(|group| group.root.as_deref());
        let (Some(same), Some(root)) = (same, root) else {
            return format!("; {LEFT_OUT}");
        };
        let (result, range) = match self.result_places(outcomes.len()).swap_remove(same) {
            Some(range) => (format!("result[{same}]"), range),
            None if outcomes.len() == 1 => ("result".to_owned(), 0..self.main.outputs.len()),
            None => (String::new(), 0..0),
        };
        let inputs = &self.main.inputs[place.clone()];
        let outputs = &self.main.outputs[range];
        let missing = names::left_out((root, inputs), (&result, outputs));
        if missing.is_empty() {
            return format!("; {LEFT_OUT}");
        }
        let missing = missing.iter().map(|name| format!("`{name}`"));
        format!("; it lacks{}: {LEFT_OUT}", &table::listed(missing)[1..])
    }

    /// Where the elements of a tuple of results are, as far as names tell.
    fn result_places(&self, elements: usize) -> Vec<Option<Range<usize>>> {
        if self.declaration.gives_tuple() {
            names::result_places(elements, &self.main.outputs)
        } else {
            vec![None]
        }
    }

    /// All that the file has, as the end of a sentence.
    fn all_inputs(&self, inputs: usize) -> String {
        let number = table::number(inputs, "input");
        let grouped = self.groups.len() < inputs && self.groups.iter().all(|g| g.root.is_some());
        let list = if grouped {
            table::listed(self.groups.iter().map(|group| {
                let root = group.root.as_deref().unwrap_or_default();
                format!("{} in `{root}`", group.inputs.len())
            }))
        } else {
            table::inputs(self.main, 0..inputs)
        };
        format!("{} has {number}{list}", self.file)
    }
}

/// How an argument that is taken in the wrong way is taken in the right one.
fn way(argument: &Argument) -> String {
    let ty = shown(&argument.ty);
    if argument.passing == Passing::Given {
        format!(
            "take it by reference, `&{ty}`, or let the program donate it: `donate_argnums` in JAX, \
             or `Program::with_donations`"
        )
    } else {
        format!("take it by value, `{ty}`")
    }
}

/// Places as an array.
fn pairs(places: &[Option<Range<usize>>]) -> TokenStream {
    let places = places.iter().map(|place| {
        if let Some(Range { start, end }) = place {
            quote!(::core::option::Option::Some((#start, #end)))
        } else {
            quote!(::core::option::Option::None)
        }
    });
    quote!([#(#places),*])
}

/// A constant that can't be evaluated if a check gives a message. The compiler shows the
/// message at `place`.
fn constant(place: &impl ToTokens, check: &TokenStream) -> TokenStream {
    let (first, last) = ends(place);
    // From the first token of the macro call to the last one is what the compiler shows.
    let path = quote_spanned!(first=> ::core::panic!);
    let arguments = quote_spanned!(last=> ("{}", __message.as_str()));
    quote! {
        const _: () = if let ::core::option::Option::Some(__message) = #check {
            #path #arguments
        };
    }
}

/// The spans of the first and last token.
fn ends(place: &impl ToTokens) -> (Span, Span) {
    let mut tokens = place.to_token_stream().into_iter();
    let first = tokens
        .next()
        .map_or_else(Span::call_site, |token| match token {
            proc_macro2::TokenTree::Group(group) => group.span_open(),
            other => other.span(),
        });
    let whole = place.to_token_stream().into_iter();
    let last = whole.last().map_or(first, |token| match token {
        proc_macro2::TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    });
    (first, last)
}
