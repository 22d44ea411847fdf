//! The attribute `program`.

mod checks;
mod declaration;
mod expansion;
mod loaders;
mod names;
mod passing;
mod table;

use std::path::Path;

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Token};

use crate::root;
use checks::Checks;
use declaration::Declaration;
use xla_mlir::Main;

/// What `#[program(...)]` says.
pub(crate) struct Options {
    path: LitStr,
    alias: Option<Ident>,
    parallel_alias: Option<Ident>,
    root: syn::Path,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Options> {
        if !input.peek(LitStr) {
            return Err(Error::new(
                input.span(),
                "a program is a file: `#[program(\"programs/step.mlir\")]`, relative to the folder \
                 of Cargo.toml",
            ));
        }
        let mut options = Options {
            path: input.parse()?,
            alias: None,
            parallel_alias: None,
            root: root::default(),
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                options.root = root::parse(input)?;
                continue;
            }
            let option: Ident = input.parse()?;
            let name = match option.to_string().as_str() {
                "alias" => &mut options.alias,
                "parallel_alias" => &mut options.parallel_alias,
                _ => {
                    return Err(Error::new(
                        option.span(),
                        "behind the path stands `alias = Name`, which names the type of what \
                         `load` gives, `parallel_alias = Name`, of what `load_parallel` gives, or \
                         `crate = \"...\"`",
                    ))
                }
            };
            input.parse::<Token![=]>()?;
            *name = Some(input.parse()?);
        }
        Ok(options)
    }
}

/// What a function without a body becomes.
pub(crate) fn expand(options: &Options, item: TokenStream) -> syn::Result<TokenStream> {
    let declaration: Declaration = syn::parse2(item)?;
    let main = match read(&options.path) {
        Ok(main) => main,
        Err(error) => {
            // The items are there all the same, so that this is the only message.
            let items = expansion::without_file(options, &declaration);
            let error = error.into_compile_error();
            return Ok(quote::quote!(#error #items));
        }
    };
    let reason = loaders::not_for_one(&declaration, &options.path.value(), Some(&main));
    let alias = options.alias.as_ref().zip(reason).map(|(alias, reason)| {
        Error::new(
            alias.span(),
            format!(
                "`alias` names the type of what `load` gives, but `{}` can't be loaded for one \
                 device: {}; write `parallel_alias = {alias}`",
                declaration.name, reason.why
            ),
        )
        .into_compile_error()
    });
    let checks = Checks::new(options, &declaration, &main);
    let items = expansion::with_file(options, &declaration, &main, &checks);
    Ok(quote::quote!(#alias #items))
}

/// Reads the file at a path, relative to the folder of Cargo.toml.
fn read(path: &LitStr) -> syn::Result<Main> {
    let shown = path.value();
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR") else {
        return Err(Error::new(
            path.span(),
            "Cargo has to be the one who compiles this: CARGO_MANIFEST_DIR isn't set, and the path \
             is relative to that",
        ));
    };
    let code = std::fs::read(Path::new(&folder).join(&shown)).map_err(|error| {
        Error::new(
            path.span(),
            format!(
                "can't read `{shown}`: {error}; the path is relative to the folder of Cargo.toml"
            ),
        )
    })?;
    xla_mlir::parse(&code).map_err(|error| {
        let colon = if error.place.is_some() { ":" } else { ": " };
        Error::new(path.span(), format!("{shown}{colon}{error}"))
    })
}
