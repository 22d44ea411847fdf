//! Reads the Rust that `bindgen` writes: structs, unions, enums and constants, nothing else.

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};
use syn::{Expr, Fields, Item, ItemStruct, Lit, Type};

use crate::abi::{Abi, Place, Struct};

/// What a file of bindings declares.
pub fn read(text: &str) -> Result<Abi> {
    let file = syn::parse_file(text).context("bindgen's output is no Rust")?;
    let mut bindings = Bindings::default();
    for item in &file.items {
        bindings.add(item);
    }
    let abi = bindings.abi()?;
    for (name, size) in stated_sizes(text) {
        let ours = abi.structs.get(name).map_or(size, |s| s.size);
        ensure!(
            ours == size,
            "{name} has {size} bytes for clang, {ours} by our count"
        );
    }
    Ok(abi)
}

/// The sizes that clang has found; bindgen asserts them next to each struct.
fn stated_sizes(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.split("\"Size of ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once('"')?;
        let (_, rest) = rest.split_once("- ")?;
        let (size, _) = rest.split_once("usize")?;
        Some((name, size.parse().ok()?))
    })
}

#[derive(Default)]
struct Bindings<'a> {
    structs: BTreeMap<String, &'a ItemStruct>,
    unions: BTreeMap<String, &'a syn::ItemUnion>,
    aliases: BTreeMap<String, &'a Type>,
    /// Name, type and value.
    constants: Vec<(String, String, u64)>,
}

impl<'a> Bindings<'a> {
    fn add(&mut self, item: &'a Item) {
        match item {
            Item::Struct(s) => drop(self.structs.insert(s.ident.to_string(), s)),
            Item::Union(u) => drop(self.unions.insert(u.ident.to_string(), u)),
            Item::Type(t) => drop(self.aliases.insert(t.ident.to_string(), &t.ty)),
            Item::Const(c) => {
                if let (Some(of), Some(value)) = (last_segment(&c.ty), number(&c.expr)) {
                    self.constants.push((c.ident.to_string(), of, value));
                }
            }
            _ => {}
        }
    }

    fn abi(&self) -> Result<Abi> {
        let mut abi = Abi::default();
        for (name, of, value) in &self.constants {
            if name == "PJRT_API_MINOR" {
                abi.minor = Some(u32::try_from(*value)?);
            }
            if self.aliases.contains_key(of) && is_ours(of) {
                let values = abi.enums.entry(of.clone()).or_default();
                values.insert(name.clone(), *value);
            }
        }
        for (name, item) in self.structs.iter().filter(|(name, _)| is_ours(name)) {
            if is_opaque(item) {
                abi.handles.insert(name.clone());
                continue;
            }
            let read = self.of_struct(item);
            let mut read = read.with_context(|| format!("reading the struct {name}"))?;
            let constant = format!("{name}_STRUCT_SIZE");
            let stated = self.constants.iter().find(|(name, ..)| *name == constant);
            read.struct_size = stated.map(|(.., size)| *size as usize);
            abi.structs.insert(name.clone(), read);
        }
        Ok(abi)
    }

    /// Lays a struct out as C does: every field at the next multiple of its alignment.
    fn of_struct(&self, item: &ItemStruct) -> Result<Struct> {
        let Fields::Named(fields) = &item.fields else {
            bail!("fields without names");
        };
        let mut places: BTreeMap<String, Place> = BTreeMap::new();
        let (mut end, mut align) = (0_usize, 1_usize);
        for field in &fields.named {
            let name = field
                .ident
                .as_ref()
                .context("a field without a name")?
                .to_string();
            let (size, field_align) = self.measure(&field.ty)?;
            let offset = end.next_multiple_of(field_align);
            match self.nameless_union(&field.ty) {
                Some(union) => {
                    for member in &union.fields.named {
                        let name = member.ident.as_ref().context("a member without a name")?;
                        let (size, _) = self.measure(&member.ty)?;
                        places.insert(c_name(&name.to_string()), (offset, size));
                    }
                }
                None => drop(places.insert(c_name(&name), (offset, size))),
            }
            end = offset + size;
            align = align.max(field_align);
        }
        Ok(Struct {
            size: end.next_multiple_of(align),
            struct_size: None,
            fields: places,
        })
    }

    /// A union that C gives no name has one made up by bindgen.
    fn nameless_union(&self, ty: &Type) -> Option<&'a syn::ItemUnion> {
        let name = last_segment(ty)?;
        let made_up = name.contains("__bindgen_ty_");
        made_up.then(|| self.unions.get(&name).copied()).flatten()
    }

    /// Size and alignment of a type, on a machine with pointers as wide as this one's.
    fn measure(&self, ty: &Type) -> Result<(usize, usize)> {
        const POINTER: usize = size_of::<usize>();
        if let Type::Ptr(_) = ty {
            return Ok((POINTER, POINTER));
        }
        if let Type::Array(array) = ty {
            let (size, align) = self.measure(&array.elem)?;
            let count = number(&array.len).context("an array of unknown length")?;
            return Ok((size * count as usize, align));
        }
        let name = last_segment(ty).context("a type without a name")?;
        let size = match name.as_str() {
            "bool" | "u8" | "i8" | "c_char" | "c_uchar" | "c_schar" => 1,
            "u16" | "i16" | "c_short" | "c_ushort" => 2,
            "u32" | "i32" | "f32" | "c_int" | "c_uint" | "c_float" => 4,
            "u64" | "i64" | "f64" | "c_longlong" | "c_ulonglong" | "c_double" => 8,
            "usize" | "isize" | "Option" => POINTER,
            "c_long" | "c_ulong" => size_of::<std::ffi::c_long>(),
            _ => return self.measure_named(&name),
        };
        Ok((size, size))
    }

    fn measure_named(&self, name: &str) -> Result<(usize, usize)> {
        if let Some(alias) = self.aliases.get(name) {
            return self.measure(alias);
        }
        if let Some(item) = self.structs.get(name) {
            let fields = item.fields.iter().map(|field| &field.ty);
            let align = self.largest_align(fields)?;
            return Ok((self.of_struct(item)?.size, align));
        }
        if let Some(item) = self.unions.get(name) {
            let mut size = 0;
            for field in &item.fields.named {
                size = size.max(self.measure(&field.ty)?.0);
            }
            let align = self.largest_align(item.fields.named.iter().map(|field| &field.ty))?;
            return Ok((size.next_multiple_of(align), align));
        }
        bail!("the type {name} is unknown");
    }

    fn largest_align<'t>(&self, types: impl Iterator<Item = &'t Type>) -> Result<usize> {
        let aligns: Result<Vec<usize>> = types.map(|ty| Ok(self.measure(ty)?.1)).collect();
        let largest = aligns?.into_iter().max();
        ensure!(largest.is_some(), "a struct or union without fields");
        Ok(largest.unwrap_or(1))
    }
}

/// Whether a name is one of the API's, not one that bindgen made up or that the C library has.
fn is_ours(name: &str) -> bool {
    let prefixes = ["PJRT_", "XLA_FFI_", "PLUGIN_", "JAX_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) && !name.contains("__bindgen_ty_")
}

/// Bindgen's form of a struct that C only declares.
fn is_opaque(item: &ItemStruct) -> bool {
    let mut names = item.fields.iter().filter_map(|field| field.ident.as_ref());
    names.any(|name| name == "_unused" || name == "_address")
}

/// Bindgen adds an underscore to Rust's keywords.
fn c_name(field: &str) -> String {
    field.strip_suffix('_').unwrap_or(field).to_owned()
}

fn last_segment(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

fn number(expression: &Expr) -> Option<u64> {
    let Expr::Lit(literal) = expression else {
        return None;
    };
    let Lit::Int(int) = &literal.lit else {
        return None;
    };
    int.base10_parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        pub const PJRT_API_MINOR: u32 = 7;
        pub const PJRT_Color_RED: PJRT_Color = 0;
        pub const PJRT_Color_BLUE: PJRT_Color = 3;
        pub type PJRT_Color = ::std::os::raw::c_uint;
        #[repr(C)]
        pub struct PJRT_Client { _unused: [u8; 0] }
        pub const PJRT_Paint_Args_STRUCT_SIZE: _bindgen_ty_1 = 49;
        pub type _bindgen_ty_1 = ::std::os::raw::c_uint;
        #[repr(C)]
        pub struct PJRT_Paint_Args {
            pub struct_size: usize,
            pub client: *mut PJRT_Client,
            pub type_: PJRT_Color,
            pub __bindgen_anon_1: PJRT_Paint_Args__bindgen_ty_1,
            pub done: PJRT_Done,
            pub dry: bool,
        }
        #[repr(C)]
        pub union PJRT_Paint_Args__bindgen_ty_1 { pub name: *const u8, pub number: f32 }
        pub type PJRT_Done = ::std::option::Option<unsafe extern "C" fn()>;
        pub struct __fsid_t { pub __val: [::std::os::raw::c_int; 2usize] }
    "#;

    #[test]
    fn structs_are_laid_out_as_in_c() {
        let abi = read(TEXT).expect("readable");
        let paint = &abi.structs["PJRT_Paint_Args"];
        let places: Vec<_> = paint
            .fields
            .iter()
            .map(|(name, at)| (name.as_str(), *at))
            .collect();
        let expected = [
            ("client", (8, 8)),
            ("done", (32, 8)),
            ("dry", (40, 1)),
            ("name", (24, 8)),
            ("number", (24, 4)),
            ("struct_size", (0, 8)),
            ("type", (16, 4)),
        ];
        assert_eq!(places, expected);
        assert_eq!((paint.size, paint.struct_size), (48, Some(49)));
        assert_eq!(abi.structs.len(), 1);
    }

    #[test]
    fn enums_handles_and_the_minor_are_found() {
        let abi = read(TEXT).expect("readable");
        assert_eq!(abi.minor, Some(7));
        assert_eq!(abi.enums["PJRT_Color"]["PJRT_Color_BLUE"], 3);
        assert_eq!(abi.enums.len(), 1);
        assert!(abi.handles.contains("PJRT_Client"));
    }

    #[test]
    fn a_size_that_is_not_clangs_is_an_error() {
        let size = |bytes: u32| {
            let check = "::std::mem::size_of::<PJRT_Paint_Args>()";
            format!("{TEXT} const _: () = {{ [\"Size of PJRT_Paint_Args\"][{check} - {bytes}usize]; }};")
        };
        assert!(read(&size(48)).is_ok());
        let error = read(&size(56)).expect_err("8 bytes more");
        assert!(
            error.to_string().contains("56 bytes for clang, 48"),
            "{error}"
        );
    }

    #[test]
    fn a_type_that_is_not_there_is_an_error() {
        let error = read("pub struct PJRT_A { pub b: PJRT_B }").expect_err("no PJRT_B");
        assert!(format!("{error:#}").contains("PJRT_B"), "{error:#}");
    }
}
