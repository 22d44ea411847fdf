//! What this crate believes the C ABI to be, as data: the proof compiles it against the official
//! header, and the maintainers' tool compares it with newer ones.

use crate::{
    buffer, client, device, enums, error, event, executable, extensions as ext, memory, plugin,
    table, topology, transfer,
};

/// A struct of the C API.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// Its C name.
    pub name: &'static str,
    /// The header that declares it.
    pub header: &'static str,
    /// `sizeof`, with the padding at the end.
    pub size: usize,
    /// `_Alignof`.
    pub align: usize,
    /// The official `NAME_STRUCT_SIZE`: where the last field ends, without padding.
    pub struct_size: usize,
    /// The API minor that has it at the latest.
    pub since: u32,
    /// Its fields, in order.
    pub fields: &'static [Field],
}

impl Struct {
    /// The fields that an API of the given minor has for sure.
    pub fn fields_at(&self, minor: u32) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(move |field| field.since <= minor)
    }

    /// What `struct_size` is for an API of the given minor, if all newer fields are really newer.
    pub fn struct_size_at(&self, minor: u32) -> usize {
        let kept = self
            .fields_at(minor)
            .map(|field| field.offset + field.size)
            .last();
        kept.map_or(0, |end| end.min(self.struct_size))
    }

    /// What `size` is for an API of the given minor, if all newer fields are really newer.
    pub fn size_at(&self, minor: u32) -> usize {
        let kept = self
            .fields_at(minor)
            .map(|field| field.offset + field.size)
            .last();
        kept.map_or(0, |end| end.next_multiple_of(self.align))
    }
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its C name. C has none for a union that Rust has to name: see `members`.
    pub name: &'static str,
    /// `offsetof`.
    pub offset: usize,
    /// `sizeof`.
    pub size: usize,
    /// The API minor that has it at the latest.
    pub since: u32,
    /// If the field is a union without a name in C: what it holds, with offsets inside it.
    pub members: &'static [Field],
}

/// An enum of the C API.
#[derive(Clone, Copy, Debug)]
pub struct Enum {
    /// Its C name.
    pub name: &'static str,
    /// The header that declares it.
    pub header: &'static str,
    /// The API minor that has it at the latest.
    pub since: u32,
    /// Its values.
    pub constants: &'static [Constant],
}

/// A value of an enum.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The C name, in full.
    pub name: &'static str,
    /// The number.
    pub value: u32,
    /// The API minor that has it at the latest.
    pub since: u32,
}

/// A function of the table.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its C name, which is also that of its slot.
    pub name: &'static str,
    /// The C name of the struct that it takes.
    pub args: &'static str,
    /// Whether it returns an error or null; if not, it returns nothing.
    pub fallible: bool,
    /// The API minor that has it at the latest.
    pub since: u32,
    /// What it does, in a line.
    pub doc: &'static str,
}

/// Every struct, the table included.
pub fn structs() -> impl Iterator<Item = Struct> {
    let core: [&[Struct]; 11] = [
        plugin::STRUCTS,
        error::STRUCTS,
        event::STRUCTS,
        client::STRUCTS,
        device::STRUCTS,
        memory::STRUCTS,
        buffer::STRUCTS,
        transfer::STRUCTS,
        executable::STRUCTS,
        topology::STRUCTS,
        table::STRUCTS,
    ];
    core.into_iter()
        .chain(ext::STRUCTS.iter().copied())
        .flatten()
        .copied()
}

/// Every enum.
pub fn enums() -> impl Iterator<Item = Enum> {
    [enums::ENUMS]
        .into_iter()
        .chain(ext::ENUMS.iter().copied())
        .flatten()
        .copied()
}

/// Every function of the table, in order.
pub fn functions() -> impl Iterator<Item = Function> {
    table::FUNCTIONS.iter().copied()
}

/// Every type that is only seen behind a pointer.
pub fn opaque() -> impl Iterator<Item = &'static str> {
    crate::opaque::OPAQUE.iter().copied()
}

/// The C name of a field: without the underscore that keeps Rust's keywords away.
pub(crate) const fn c_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [head @ .., b'_'] => match core::str::from_utf8(head) {
            Ok(head) => head,
            Err(_) => name,
        },
        _ => name,
    }
}

/// The latest of some minors.
pub(crate) const fn latest(minors: &[u32]) -> u32 {
    minors[minors.len() - 1]
}

/// Where the last field ends, or the one at the given offset.
pub(crate) const fn end(fields: &[Field], at: &[usize]) -> usize {
    let mut end = 0;
    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        if at.is_empty() || field.offset <= at[0] {
            end = field.offset + field.size;
        }
        i += 1;
    }
    end
}
