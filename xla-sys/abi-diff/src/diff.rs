//! What two ABIs don't agree on.

use std::collections::BTreeMap;
use std::fmt;

use crate::abi::{Abi, Place, Struct};

/// Something that a header has and `pjrt_sys` lacks, or the other way round, or both differently.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A slot of the table that we lack: its name and offset.
    NewEntry(String, usize),
    /// A struct that we lack: its name and size.
    NewStruct(String, usize),
    /// A field that we lack: its struct, its name and where it lies.
    NewField(String, String, Place),
    /// An enum that we lack.
    NewEnum(String),
    /// A value of an enum that we lack.
    NewValue(String, u64),
    /// A number that differs: what is measured, ours, theirs.
    Changed(String, u64, u64),
    /// Something of ours that the header lacks.
    Gone(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewEntry(name, offset) => write!(f, "new entry   {name}, at {offset}"),
            Self::NewStruct(name, size) => write!(f, "new struct  {name}, {size} bytes"),
            Self::NewField(owner, name, (offset, size)) => {
                write!(f, "new field   {owner}.{name}, at {offset}, {size} bytes")
            }
            Self::NewEnum(name) => write!(f, "new enum    {name}"),
            Self::NewValue(name, value) => write!(f, "new value   {name} = {value}"),
            Self::Changed(what, ours, theirs) => {
                write!(f, "changed     {what}: {theirs} in the header, {ours} here")
            }
            Self::Gone(what) => write!(f, "gone        {what}"),
        }
    }
}

/// What headers don't agree on with us. `must` is what they have to have, `may` all that we know.
pub fn differences(must: &Abi, may: &Abi, headers: &Abi) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, theirs) in &headers.structs {
        match (may.structs.get(name), must.structs.get(name)) {
            // The header shows the first word of what we treat as a handle.
            (None, _) if may.handles.contains(name) => {}
            (None, _) => found.push(Difference::NewStruct(name.clone(), theirs.size)),
            (Some(may), must) => in_struct(name, must, may, theirs, &mut found),
        }
    }
    for (name, theirs) in &headers.enums {
        match may.enums.get(name) {
            None => found.push(Difference::NewEnum(name.clone())),
            Some(ours) => in_enum(must.enums.get(name), ours, theirs, &mut found),
        }
    }
    let structs = must
        .structs
        .keys()
        .filter(|name| !headers.structs.contains_key(*name));
    let enums = must
        .enums
        .keys()
        .filter(|name| !headers.enums.contains_key(*name));
    found.extend(
        structs
            .chain(enums)
            .map(|name| Difference::Gone(name.clone())),
    );
    found.sort();
    found
}

fn in_struct(
    name: &str,
    must: Option<&Struct>,
    may: &Struct,
    theirs: &Struct,
    found: &mut Vec<Difference>,
) {
    for (field, &place) in &theirs.fields {
        match may.fields.get(field) {
            None if name == "PJRT_Api" => {
                found.push(Difference::NewEntry(field.clone(), place.0));
            }
            None => found.push(Difference::NewField(name.to_owned(), field.clone(), place)),
            Some(&ours) => {
                changed(format!("offset of {name}.{field}"), ours.0, place.0, found);
                changed(format!("size of {name}.{field}"), ours.1, place.1, found);
            }
        }
    }
    let gone = must.into_iter().flat_map(|must| must.fields.keys());
    let gone = gone.filter(|field| !theirs.fields.contains_key(*field));
    found.extend(gone.map(|field| Difference::Gone(format!("{name}.{field}"))));
    // With the same fields, the sizes have to be the same as well.
    for ours in [must, Some(may)].into_iter().flatten() {
        if ours.fields.keys().eq(theirs.fields.keys()) {
            changed(format!("size of {name}"), ours.size, theirs.size, found);
            if let (Some(ours), Some(theirs)) = (ours.struct_size, theirs.struct_size) {
                changed(format!("{name}_STRUCT_SIZE"), ours, theirs, found);
            }
            break;
        }
    }
}

type Values = BTreeMap<String, u64>;

fn in_enum(must: Option<&Values>, may: &Values, theirs: &Values, found: &mut Vec<Difference>) {
    for (name, &value) in theirs {
        match may.get(name) {
            None => found.push(Difference::NewValue(name.clone(), value)),
            Some(&ours) if ours != value => {
                found.push(Difference::Changed(name.clone(), ours, value));
            }
            Some(_) => {}
        }
    }
    let gone = must.into_iter().flat_map(|must| must.keys());
    let gone = gone.filter(|name| !theirs.contains_key(*name));
    found.extend(gone.map(|name| Difference::Gone(name.clone())));
}

fn changed(what: String, ours: usize, theirs: usize, found: &mut Vec<Difference>) {
    if ours != theirs {
        found.push(Difference::Changed(what, ours as u64, theirs as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abi() -> Abi {
        let paint = Struct {
            size: 24,
            struct_size: Some(20),
            fields: [
                ("struct_size", (0, 8)),
                ("client", (8, 8)),
                ("coats", (16, 4)),
            ]
            .map(|(name, place)| (name.to_owned(), place))
            .into(),
        };
        let table = Struct {
            size: 8,
            struct_size: Some(8),
            fields: [("PJRT_Paint".to_owned(), (0, 8))].into(),
        };
        let color = [("PJRT_Color_RED".to_owned(), 0)].into();
        Abi {
            minor: Some(7),
            structs: [
                ("PJRT_Paint_Args".to_owned(), paint),
                ("PJRT_Api".to_owned(), table),
            ]
            .into(),
            enums: [("PJRT_Color".to_owned(), color)].into(),
            handles: ["PJRT_Client".to_owned()].into(),
        }
    }

    /// What is printed if the header is ours with a change.
    fn printed(change: impl FnOnce(&mut Abi)) -> Vec<String> {
        let mut headers = abi();
        change(&mut headers);
        let found = differences(&abi(), &abi(), &headers);
        found.iter().map(Difference::to_string).collect()
    }

    fn paint(abi: &mut Abi) -> &mut Struct {
        abi.structs.get_mut("PJRT_Paint_Args").expect("it's there")
    }

    #[test]
    fn the_same_differs_in_nothing() {
        assert!(printed(|_| {}).is_empty());
    }

    #[test]
    fn what_is_new_is_named() {
        let found = printed(|abi| {
            let table = abi.structs.get_mut("PJRT_Api").expect("it's there");
            table.fields.insert("PJRT_Dry".to_owned(), (8, 8));
            table.size = 16;
            paint(abi).fields.insert("gloss".to_owned(), (24, 8));
            let dry = Struct {
                size: 16,
                ..Struct::default()
            };
            abi.structs.insert("PJRT_Dry_Args".to_owned(), dry);
            let color = abi.enums.get_mut("PJRT_Color").expect("it's there");
            color.insert("PJRT_Color_BLUE".to_owned(), 3);
            abi.enums.insert("PJRT_Brush".to_owned(), Values::new());
        });
        let expected = [
            "new entry   PJRT_Dry, at 8",
            "new struct  PJRT_Dry_Args, 16 bytes",
            "new field   PJRT_Paint_Args.gloss, at 24, 8 bytes",
            "new enum    PJRT_Brush",
            "new value   PJRT_Color_BLUE = 3",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_has_moved_or_changed_is_measured() {
        let found = printed(|abi| {
            paint(abi).fields.insert("coats".to_owned(), (12, 8));
            paint(abi).size = 32;
            paint(abi).struct_size = Some(24);
            let color = abi.enums.get_mut("PJRT_Color").expect("it's there");
            color.insert("PJRT_Color_RED".to_owned(), 1);
        });
        let expected = [
            "changed     PJRT_Color_RED: 1 in the header, 0 here",
            "changed     PJRT_Paint_Args_STRUCT_SIZE: 24 in the header, 20 here",
            "changed     offset of PJRT_Paint_Args.coats: 12 in the header, 16 here",
            "changed     size of PJRT_Paint_Args: 32 in the header, 24 here",
            "changed     size of PJRT_Paint_Args.coats: 8 in the header, 4 here",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_gone_is_named_unless_it_came_later() {
        let found = printed(|abi| {
            paint(abi).fields.remove("coats");
            abi.enums.clear();
        });
        assert_eq!(
            found,
            [
                "gone        PJRT_Color",
                "gone        PJRT_Paint_Args.coats"
            ]
        );
        let mut older = abi();
        older.structs.remove("PJRT_Paint_Args");
        assert!(differences(&older, &abi(), &older).is_empty());
    }

    #[test]
    fn a_handle_whose_first_word_is_shown_is_still_a_handle() {
        let shown = |abi: &mut Abi| {
            let word = Struct {
                size: 8,
                ..Struct::default()
            };
            abi.handles.remove("PJRT_Client");
            abi.structs.insert("PJRT_Client".to_owned(), word);
        };
        assert!(printed(shown).is_empty());
    }
}
