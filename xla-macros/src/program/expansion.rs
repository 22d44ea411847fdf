//! What a declaration becomes.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Type};

use super::checks::Checks;
use super::declaration::{Argument, Declaration};
use super::{table, Options};
use crate::mlir::Main;

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
    let items = items(options, declaration, &documentation, &code);
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
    items(options, declaration, "A program.", &quote!(&[]))
}

fn items(
    options: &Options,
    declaration: &Declaration,
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
    let function = function(root, declaration);
    let names = declaration.arguments.iter().map(Argument::shown);
    // A paragraph of its own, behind what the user wrote.
    let documentation = if attributes.iter().any(|a| a.path().is_ident("doc")) {
        format!("\n\n{documentation}")
    } else {
        documentation.to_owned()
    };
    let alias = options.alias.as_ref().map(|alias| {
        let about = format!("What [`{name}::load`] gives.");
        quote! {
            #(#cfgs)*
            #[doc = #about]
            #visibility type #alias = #function;
        }
    });
    // An enum: a unit struct would be a value, and `let step = step::load(..)` a pattern.
    quote! {
        #(#attributes)*
        #[doc = #documentation]
        #[allow(non_camel_case_types)]
        #[derive(::core::fmt::Debug)]
        #visibility enum #name {}

        #alias

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

            /// Compiles the program for the client's devices.
            ///
            /// # Errors
            /// The compiler refuses the program, or the program as compiled doesn't have
            /// the types of this function.
            #visibility fn load(client: &#root::Client) -> #root::Result<#function> {
                Self::load_with(client, &#root::CompileOptions::new())
            }

            /// Compiles the program with options.
            ///
            /// # Errors
            /// As `load`; the options don't fit the program or the client.
            #visibility fn load_with(
                client: &#root::Client,
                options: &#root::CompileOptions,
            ) -> #root::Result<#function> {
                let executable = client.compile(&Self::program()?, options)?;
                ::core::result::Result::Ok(executable.typed()?.with_names(&[#(#names),*]))
            }
        }
    }
}

/// `Function<(Give<State>, Ref<Batch>), (State, Metrics)>`.
fn function(root: &syn::Path, declaration: &Declaration) -> TokenStream {
    let parameters = declaration.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        if argument.by_value {
            quote!(#root::Give<#ty>)
        } else {
            quote!(#root::Ref<#ty>)
        }
    });
    let unit: Type = syn::parse_quote!(());
    let result = declaration.result.as_ref().unwrap_or(&unit);
    quote!(#root::Function<(#(#parameters,)*), #result>)
}

/// The conditions under which all of this is compiled.
fn cfgs(declaration: &Declaration) -> Vec<&Attribute> {
    let attributes = declaration.attributes.iter();
    attributes
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect()
}
