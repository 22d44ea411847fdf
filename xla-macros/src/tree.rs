//! The derive of `Tree`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned, ToTokens};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, LitStr, Member, Path, Type, WherePredicate,
};

use crate::root;

/// What `#[tree(...)]` says of a struct.
struct StructOptions {
    root: Path,
    sorted: Option<Span>,
}

/// What `#[tree(...)]` says of a field.
#[derive(Default)]
struct FieldOptions {
    skip: bool,
    name: Option<LitStr>,
}

/// A field.
struct Part<'a> {
    member: Member,
    ty: &'a Type,
    skip: bool,
    key: Key,
    span: Span,
}

/// What a field is called in paths.
enum Key {
    Field(String),
    Index(usize),
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields_of(input)?;
    let options = StructOptions::read(&input.attrs)?;
    let mut parts = parts_of(fields)?;
    if let Some(span) = options.sorted {
        if !matches!(fields, Fields::Named(_)) {
            return Err(Error::new(
                span,
                "only fields that have names can be sorted by name",
            ));
        }
        parts.sort_by(|a, b| a.key.name().cmp(&b.key.name()));
    }
    Ok(implementation(input, &options.root, &parts))
}

/// The fields of a struct that can be a tree.
fn fields_of(input: &DeriveInput) -> syn::Result<&Fields> {
    let data =
        match &input.data {
            Data::Struct(data) => data,
            Data::Enum(data) => return Err(Error::new(
                data.enum_token.span,
                "an enum can't be a tree: which buffers it has differs from value to value, and a \
                 program's arguments are fixed; derive `Tree` for a struct, with an `Option` \
                 where something may be missing",
            )),
            Data::Union(data) => return Err(Error::new(
                data.union_token.span,
                "a union can't be a tree: it doesn't know which of its fields it holds; derive \
                 `Tree` for a struct",
            )),
        };
    let mut errors = input.generics.lifetimes().map(|parameter| {
        Error::new(
            parameter.lifetime.span(),
            format!(
                "a tree owns its buffers, so it has no lifetimes; hold them by value, and lend the \
                 whole tree as `&{}`",
                input.ident
            ),
        )
    });
    match errors.next() {
        Some(error) => Err(error),
        None => Ok(&data.fields),
    }
}

fn parts_of(fields: &Fields) -> syn::Result<Vec<Part<'_>>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (index, (field, member)) in fields.iter().zip(fields.members()).enumerate() {
        let options = FieldOptions::read(field)?;
        let (key, span) = match (&field.ident, options.name) {
            (Some(_), Some(name)) => (Key::Field(name.value()), name.span()),
            (Some(ident), None) => (Key::Field(ident.unraw().to_string()), ident.span()),
            (None, Some(name)) => {
                return Err(Error::new(
                    name.span(),
                    "this field has a number; only a field with a name can get another one",
                ))
            }
            (None, None) => (Key::Index(index), field.ty.span()),
        };
        let twin = parts.iter().find(|part| {
            !part.skip && !options.skip && key.name().is_some() && part.key.name() == key.name()
        });
        if let Some(twin) = twin {
            let mut error = Error::new(span, "two fields can't have one name");
            error.combine(Error::new(twin.span, "the other field"));
            return Err(error);
        }
        parts.push(Part {
            member,
            ty: &field.ty,
            skip: options.skip,
            key,
            span,
        });
    }
    Ok(parts)
}

fn implementation(input: &DeriveInput, root: &Path, parts: &[Part<'_>]) -> TokenStream {
    let name = &input.ident;
    let shown_name = name.unraw().to_string();
    let leaves: Vec<&Part<'_>> = parts.iter().filter(|part| !part.skip).collect();
    let mut generics = input.generics.clone();
    let mut bounds = generics.where_clause.take();
    for parameter in generics.type_params().map(|parameter| &parameter.ident) {
        let in_leaf = leaves
            .iter()
            .any(|part| mentions(part.ty.to_token_stream(), parameter));
        let span = root::at(parameter.span());
        // A tree is `'static`; a parameter that no leaf has needs no more than that.
        let bound: WherePredicate = if in_leaf {
            syn::parse_quote_spanned!(span=> #parameter: #root::Tree)
        } else {
            syn::parse_quote_spanned!(span=> #parameter: 'static)
        };
        bounds
            .get_or_insert_with(|| syn::parse_quote!(where))
            .predicates
            .push(bound);
    }
    generics.where_clause = bounds;
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();

    // For each leaf: its type as a tree, its member, its key, and its place in the order.
    let tree: Vec<TokenStream> = leaves
        .iter()
        .map(|part| {
            let ty = part.ty;
            quote_spanned!(root::at(ty.span())=> <#ty as #root::Tree>)
        })
        .collect();
    let member: Vec<&Member> = leaves.iter().map(|part| &part.member).collect();
    let key: Vec<TokenStream> = leaves.iter().map(|part| part.key.tokens(root)).collect();
    let index = 0..leaves.len();
    let skipped = parts.iter().filter(|part| part.skip).map(|part| {
        let (member, ty) = (&part.member, part.ty);
        quote_spanned!(root::at(ty.span())=> #member: <#ty as ::core::default::Default>::default())
    });
    // A struct without leaves has no use for them. The names are such that no constant of
    // the user's has them: a parameter called like a constant is a pattern.
    let taken = |name: &str| {
        if leaves.is_empty() {
            quote!(_)
        } else {
            Ident::new(name, Span::mixed_site()).into_token_stream()
        }
    };
    let (leaves_name, source) = (taken("__leaves"), taken("__source"));

    // In `rebuild` a closure, not a path to the function: a type that is no tree would be
    // reported a second time, at the derive.
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #root::Tree for #name #ty_generics #where_clause {
            const LEAVES: ::core::option::Option<::core::primitive::usize> =
                #root::tree::sum(&[#(#tree::LEAVES),*]);

            fn structure(&self) -> #root::tree::Structure {
                #root::tree::Structure::node(
                    #shown_name,
                    ::std::vec![#((#key, #tree::structure(&self.#member))),*],
                )
            }

            fn constant_structure() -> ::core::option::Option<#root::tree::Structure> {
                ::core::option::Option::Some(#root::tree::Structure::node(
                    #shown_name,
                    ::std::vec![#((#key, #tree::constant_structure()?)),*],
                ))
            }

            fn expected(__known: &#root::tree::Known<'_>) -> #root::Result<#root::tree::Structure> {
                // Like an argument of this type; else part by part.
                if let ::core::option::Option::Some(structure) = __known.find::<Self>()? {
                    return ::core::result::Result::Ok(structure);
                }
                ::core::result::Result::Ok(#root::tree::Structure::node(
                    #shown_name,
                    ::std::vec![#((#key, #tree::expected(__known)?)),*],
                ))
            }

            fn give(self, #leaves_name: &mut #root::ArgumentList<'_>) {
                #(#tree::give(self.#member, #leaves_name);)*
            }

            fn lend<'leaves>(&'leaves self, #leaves_name: &mut #root::ArgumentList<'leaves>) {
                #(#tree::lend(&self.#member, #leaves_name);)*
            }

            fn rebuild(#source: &mut #root::tree::Source<'_>) -> #root::Result<Self> {
                ::core::result::Result::Ok(Self {
                    #(#member: #source.enter(#index, |#source| #tree::rebuild(#source))?,)*
                    #(#skipped,)*
                })
            }
        }
    }
}

/// Whether a type names a type parameter.
fn mentions(tokens: TokenStream, parameter: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *parameter,
        TokenTree::Group(group) => mentions(group.stream(), parameter),
        _ => false,
    })
}

impl Key {
    fn name(&self) -> Option<&str> {
        match self {
            Key::Field(name) => Some(name),
            Key::Index(_) => None,
        }
    }

    fn tokens(&self, root: &Path) -> TokenStream {
        match self {
            Key::Field(name) => quote!(#root::tree::Key::Field(#name)),
            Key::Index(index) => quote!(#root::tree::Key::Index(#index)),
        }
    }
}

impl StructOptions {
    fn read(attributes: &[Attribute]) -> syn::Result<StructOptions> {
        let mut options = StructOptions {
            root: root::default(),
            sorted: None,
        };
        for attribute in tree_attributes(attributes) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("sorted") {
                    options.sorted = Some(meta.path.span());
                } else if meta.path.is_ident("crate") {
                    options.root = root::parse(meta.input)?;
                } else {
                    return Err(meta.error(
                        "a struct knows the options `sorted` and `crate = \"...\"`; `skip` and \
                         `name = \"...\"` belong to a field",
                    ));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }
}

impl FieldOptions {
    fn read(field: &Field) -> syn::Result<FieldOptions> {
        let mut options = FieldOptions::default();
        for attribute in tree_attributes(&field.attrs) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    options.skip = true;
                } else if meta.path.is_ident("name") {
                    options.name = Some(meta.value()?.parse()?);
                } else {
                    return Err(meta.error(
                        "a field knows the options `skip` and `name = \"...\"`; `sorted` and \
                         `crate = \"...\"` belong to the struct",
                    ));
                }
                Ok(())
            })?;
        }
        match (&options.name, options.skip) {
            (Some(name), true) => Err(Error::new(
                name.span(),
                "a field that is skipped has no place in the tree, so its name has no use",
            )),
            _ => Ok(options),
        }
    }
}

fn tree_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("tree"))
}
