//! What a declaration becomes.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Ident};

use super::checks::Checks;
use super::declaration::Declaration;
use super::{loaders, table, Options};
use xla_mlir::Main;

/// With everything.
pub(super) fn with_file(
    options: &Options,
    declaration: &Declaration,
    main: &Main,
    checks: &Checks<'_>,
) -> TokenStream {
    let path = options.path.value();
    let documentation = table::documentation(&path, main);
    // The file becomes part of what is compiled, so that a change of it is seen.
    let code = if Path::new(&path).is_absolute() {
        quote!(::core::include_bytes!(#path))
    } else {
        quote!(::core::include_bytes!(::core::concat!(
            ::core::env!("CARGO_MANIFEST_DIR"),
            "/",
            #path
        )))
    };
    let items = items(options, declaration, Some(main), &documentation, &code);
    let cfgs = cfgs(declaration);
    let checks = checks.tokens();
    quote! {
        #items
        #(#cfgs)*
        const _: () = { #checks };
    }
}

/// For a file that can't be read: the names only, for the rest of the crate.
pub(super) fn without_file(options: &Options, declaration: &Declaration) -> TokenStream {
    items(options, declaration, None, "A program.", &quote!(&[]))
}

fn items(
    options: &Options,
    declaration: &Declaration,
    main: Option<&Main>,
    documentation: &str,
    code: &TokenStream,
) -> TokenStream {
    let root = &options.root;
    let path = options.path.value();
    let Declaration {
        attributes,
        visibility,
        name,
        ..
    } = declaration;
    let cfgs = cfgs(declaration);
    let not_for_one = loaders::not_for_one(declaration, &path, main);
    let for_one = match not_for_one {
        None => Some(loaders::for_one(root, declaration)),
        Some(_) => None,
    };
    let for_many = loaders::for_many(root, declaration);
    let refusing = not_for_one.map(|reason| {
        let items = loaders::refusing(root, declaration, &reason);
        quote!(#(#cfgs)* const _: () = { #items };)
    });
    // A paragraph of its own, behind what the user wrote.
    let documentation = if attributes.iter().any(|a| a.path().is_ident("doc")) {
        format!("\n\n{documentation}")
    } else {
        documentation.to_owned()
    };
    let aliases = aliases(options, declaration, &cfgs);
    // An enum: a unit struct would be a value, and `let step = step::load(..)` a pattern.
    quote! {
        #(#attributes)*
        #[doc = #documentation]
        #[allow(non_camel_case_types)]
        #[derive(::core::fmt::Debug)]
        #visibility enum #name {}

        #aliases

        #(#cfgs)*
        #[allow(dead_code)]
        impl #name {
            // Apart from `TEXT`, else the documentation would show the whole file.
            #[doc(hidden)]
            const __FILE: &'static [::core::primitive::u8] = #code;

            /// The program's file, as it was when this was compiled.
            #visibility const TEXT: &'static [::core::primitive::u8] = Self::__FILE;

            /// The program, without types.
            ///
            /// # Errors
            /// The file is no program.
            #visibility fn program() -> #root::Result<#root::Program> {
                ::core::result::Result::Ok(#root::Program::from_bytes(Self::TEXT)?.named(#path))
            }

            #for_one

            #for_many
        }

        #refusing
    }
}

/// The names of the types of what is loaded.
fn aliases(options: &Options, declaration: &Declaration, cfgs: &[&Attribute]) -> TokenStream {
    let (root, name, visibility) = (&options.root, &declaration.name, &declaration.visibility);
    let alias = |alias: &Option<Ident>, loader: &str, function: TokenStream| {
        let alias = alias.as_ref()?;
        let about = format!("What [`{name}::{loader}`] gives.");
        Some(quote! {
            #(#cfgs)*
            #[doc = #about]
            #visibility type #alias = #function;
        })
    };
    let one = alias(&options.alias, "load", loaders::function(root, declaration));
    let many = alias(
        &options.parallel_alias,
        "load_parallel",
        loaders::parallel_function(root, declaration),
    );
    quote!(#one #many)
}

/// The conditions under which all of this is compiled.
fn cfgs(declaration: &Declaration) -> Vec<&Attribute> {
    let attributes = declaration.attributes.iter();
    attributes
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect()
}
