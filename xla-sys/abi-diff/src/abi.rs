//! An ABI as plain facts, whoever states them.

use std::collections::{BTreeMap, BTreeSet};

use pjrt_sys::layout::{self, Field};

/// Where a field lies: its offset and its size.
pub type Place = (usize, usize);

/// A struct: its size, and where its fields lie. Members of a union without a name count as the
/// struct's own, as in C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Struct {
    /// `sizeof`.
    pub size: usize,
    /// The official `NAME_STRUCT_SIZE`, if there is one.
    pub struct_size: Option<usize>,
    /// The fields by name.
    pub fields: BTreeMap<String, Place>,
}

/// What some headers declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abi {
    /// The API minor, if the core header is among them.
    pub minor: Option<u32>,
    /// The structs by name.
    pub structs: BTreeMap<String, Struct>,
    /// The enums by name, each with its values by name.
    pub enums: BTreeMap<String, BTreeMap<String, u64>>,
    /// The types that are only seen behind pointers.
    pub handles: BTreeSet<String>,
}

impl Abi {
    /// What `pjrt_sys` believes about headers of these file names, at an API minor. Returned in two
    /// parts: what must be there, and all that may be, since it might have come a little earlier.
    pub fn ours<'a>(headers: impl IntoIterator<Item = &'a str>, minor: u32) -> (Abi, Abi) {
        let headers: BTreeSet<&str> = headers.into_iter().collect();
        (ours(&headers, minor), ours(&headers, u32::MAX))
    }
}

fn ours(headers: &BTreeSet<&str>, minor: u32) -> Abi {
    let structs = layout::structs().filter(|s| headers.contains(s.header) && s.since <= minor);
    let enums = layout::enums().filter(|e| headers.contains(e.header) && e.since <= minor);
    Abi {
        minor: Some(minor),
        structs: structs
            .map(|s| (s.name.to_owned(), of_struct(&s, minor)))
            .collect(),
        enums: enums
            .map(|e| {
                let known = e.constants.iter().filter(|c| c.since <= minor);
                let values = known.map(|c| (c.name.to_owned(), u64::from(c.value)));
                (e.name.to_owned(), values.collect())
            })
            .collect(),
        handles: layout::opaque().map(str::to_owned).collect(),
    }
}

fn of_struct(s: &layout::Struct, minor: u32) -> Struct {
    let flat = s.fields_at(minor).flat_map(|field| match field.members {
        [] => vec![place(field, 0)],
        members => members
            .iter()
            .map(|member| place(member, field.offset))
            .collect(),
    });
    Struct {
        size: s.size_at(minor),
        struct_size: Some(s.struct_size_at(minor)),
        fields: flat.collect(),
    }
}

fn place(field: &Field, base: usize) -> (String, Place) {
    (field.name.to_owned(), (base + field.offset, field.size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_minor_has_all_of_an_earlier_one() {
        let (must, may) = Abi::ours(["pjrt_c_api.h"], 54);
        assert!(must.structs.len() < may.structs.len());
        let options = |abi: &Abi| abi.structs["PJRT_ExecuteOptions"].clone();
        assert_eq!(options(&must).struct_size, Some(72));
        assert_eq!(options(&may).struct_size, Some(144));
    }

    #[test]
    fn members_of_a_nameless_union_are_fields() {
        let (must, _) = Abi::ours(["pjrt_c_api.h"], 54);
        let fields = &must.structs["PJRT_NamedValue"].fields;
        assert_eq!(fields["float_value"], (40, 4));
        assert_eq!(fields["value_size"], (48, 8));
        assert!(!fields.contains_key("value"));
    }
}
