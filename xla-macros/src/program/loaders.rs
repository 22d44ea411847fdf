//! The functions that compile a program: for one device, for many.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Type;

use super::declaration::{shown, Argument, Declaration};
use super::passing::Passing;
use super::table;
use xla_mlir::Main;

/// Why a program can't be loaded for one device.
pub(super) struct NotForOne {
    /// As the end of a sentence.
    pub(super) why: String,
    /// Whether the file says so, not the declaration.
    by_file: bool,
}

/// Why a program can't be loaded for one device; `None` if it can.
pub(super) fn not_for_one(
    declaration: &Declaration,
    file: &str,
    main: Option<&Main>,
) -> Option<NotForOne> {
    let main = main.filter(|main| devices(main) > 1);
    if let Some(main) = main {
        return Some(NotForOne {
            why: format!("`{file}` states {}", stated(main)),
            by_file: true,
        });
    }
    let word = declaration.parallel_word()?;
    let word = shown(word);
    Some(NotForOne {
        why: format!("its declaration says `{word}`, which is for many devices"),
        by_file: false,
    })
}

/// How many devices a file states; one where it states nothing.
fn devices(main: &Main) -> usize {
    let (replicas, partitions) = (main.replicas.unwrap_or(1), main.partitions.unwrap_or(1));
    replicas.saturating_mul(partitions)
}

/// `4 replicas`, `2 replicas and 2 partitions`.
fn stated(main: &Main) -> String {
    let many = |count: Option<usize>, noun| {
        let count = count.filter(|count| *count > 1);
        count.map(|count| table::number(count, noun))
    };
    let all = [
        many(main.replicas, "replica"),
        many(main.partitions, "partition"),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    all.join(" and ")
}

/// `Function<(Give<State>, Ref<Batch>), (State, Metrics)>`.
pub(super) fn function(root: &syn::Path, declaration: &Declaration) -> TokenStream {
    let parameters = declaration.arguments.iter().map(|argument| {
        let ty = &argument.ty;
        match argument.passing {
            Passing::Given => quote!(#root::Give<#ty>),
            _ => quote!(#root::Ref<#ty>),
        }
    });
    let unit: Type = syn::parse_quote!(());
    let result = declaration.result.as_ref().unwrap_or(&unit);
    quote!(#root::Function<(#(#parameters,)*), #result>)
}

/// `ParallelFunction<(Give<State>, Ref<Batch>), (Each<State>, One<Metrics>)>`.
pub(super) fn parallel_function(root: &syn::Path, declaration: &Declaration) -> TokenStream {
    let parameters = declaration.arguments.iter().map(|argument| {
        let (ty, written) = (&argument.ty, &argument.written);
        match argument.passing {
            Passing::Given => quote!(#root::Give<#ty>),
            Passing::Lent => quote!(#root::Ref<#ty>),
            Passing::Part | Passing::Host => quote!(#written),
        }
    });
    let outcomes = declaration.outcomes.iter().map(|each| each.parallel(root));
    let results = if declaration.gives_tuple() {
        quote!((#(#outcomes,)*))
    } else {
        quote!(#(#outcomes)*)
    };
    quote!(#root::ParallelFunction<(#(#parameters,)*), #results>)
}

/// `load` and `load_with`.
pub(super) fn for_one(root: &syn::Path, declaration: &Declaration) -> TokenStream {
    let visibility = &declaration.visibility;
    let function = function(root, declaration);
    let names = declaration.arguments.iter().map(Argument::shown);
    quote! {
        /// Compiles the program for one of the client's devices.
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
        /// As `load`; the options don't fit the program or the client, or are for several
        /// devices.
        #visibility fn load_with(
            client: &#root::Client,
            options: &#root::CompileOptions,
        ) -> #root::Result<#function> {
            let executable = client.compile(&Self::program()?, options)?;
            ::core::result::Result::Ok(executable.typed()?.with_names(&[#(#names),*]))
        }
    }
}

/// `load_parallel` and `load_parallel_with`.
pub(super) fn for_many(root: &syn::Path, declaration: &Declaration) -> TokenStream {
    let visibility = &declaration.visibility;
    let function = parallel_function(root, declaration);
    let names = declaration.arguments.iter().map(Argument::shown);
    quote! {
        /// Compiles the program for as many of the client's devices as it states, one where
        /// it states nothing, to be run on all of them in one launch.
        ///
        /// # Errors
        /// The compiler refuses the program, the client has fewer devices, or the program as
        /// compiled doesn't have the types of this function.
        #visibility fn load_parallel(client: &#root::Client) -> #root::Result<#function> {
            Self::load_parallel_with(client, &#root::CompileOptions::new())
        }

        /// Compiles the program with options, which say the number of replicas of a program
        /// that states none.
        ///
        /// # Errors
        /// As `load_parallel`; the options don't fit the program or the client.
        #visibility fn load_parallel_with(
            client: &#root::Client,
            options: &#root::CompileOptions,
        ) -> #root::Result<#function> {
            let executable = client.compile(&Self::program()?, options)?;
            ::core::result::Result::Ok(executable.parallel()?.with_names(&[#(#names),*]))
        }
    }
}

/// A `load` and a `load_with` that nothing can be passed to, and that say why.
///
/// An error at the declaration would refuse a program that is only used on many devices;
/// without the functions, the compiler could only say that there are none.
pub(super) fn refusing(
    root: &syn::Path,
    declaration: &Declaration,
    reason: &NotForOne,
) -> TokenStream {
    let (name, visibility) = (&declaration.name, &declaration.visibility);
    let function = parallel_function(root, declaration);
    let place = crate::root::at(name.span());
    let message = format!("`{name}` can't be loaded for one device: {}", reason.why);
    let also = match reason.by_file {
        true => "",
        false => ", which takes one device too",
    };
    let mut items = TokenStream::new();
    for other in ["load", "load_with"] {
        let here = format_ident!("{other}", span = place);
        let label = format!(
            "use `{name}::{}`{also}",
            other.replace("load", "load_parallel")
        );
        let options = (other == "load_with").then(|| quote!(, _: &#root::CompileOptions));
        items.extend(quote_spanned! {place=>
            const _: () = {
                #[diagnostic::on_unimplemented(message = #message, label = #label)]
                #[allow(dead_code, unreachable_pub)]
                pub trait OneDevice {}

                #[allow(dead_code)]
                impl #name {
                    #[doc(hidden)]
                    #visibility fn #here(_: impl OneDevice #options) -> #root::Result<#function> {
                        ::core::unreachable!("nothing is a `OneDevice`")
                    }
                }
            };
        });
    }
    items
}
