//! Where the expansions find the crate that they are written for.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{LitStr, Path, Token};

/// `::xla`, where nothing else is said.
pub(crate) fn default() -> Path {
    syn::parse_quote!(::xla)
}

/// Reads `= "path"` after `crate`.
pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![=]>()?;
    if input.peek(LitStr) {
        return input.parse::<LitStr>()?.parse_with(Path::parse_mod_style);
    }
    input.call(Path::parse_mod_style)
}

/// A span for generated code that is shown at a place of the user's, but sees none of the
/// user's local names and is no code of the user's for lints.
pub(crate) fn at(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}
