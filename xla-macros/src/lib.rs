//! The macros of `xla-pjrt`, which re-exports them: `#[derive(xla::Tree)]` and
//! `#[xla::program("...")]`.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

#[allow(dead_code, unused_imports)]
mod mlir;
mod root;
mod tree;

/// Makes a struct of buffers a tree, which is one argument or result of a program.
///
/// Every field is a tree itself: a buffer, another struct, a tuple, array, `Vec`, `Option`
/// or map of trees. Leaves come in the order in which the fields are declared, as JAX has
/// them for named tuples and registered dataclasses.
///
/// Type parameters of fields are bounded by `Tree`. Structs with lifetimes, enums and
/// unions are refused: a tree owns its buffers, and has them all at any time.
///
/// # Options
///
/// On the struct:
///
/// - `#[tree(sorted)]`: leaves come in the order of the fields' names, as JAX has them for
///   dicts.
/// - `#[tree(crate = "path")]`: where the crate `xla` is, if not at `::xla`.
///
/// On a field:
///
/// - `#[tree(name = "...")]`: what it is called in paths and in the order of names, where
///   the program calls it otherwise than Rust can.
/// - `#[tree(skip)]`: it holds no buffers; a result of a program has `Default::default()`
///   there.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    tree::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
