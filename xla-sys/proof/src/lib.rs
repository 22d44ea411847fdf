//! Turns what `pjrt_sys` believes about a C header into C that only compiles if the header agrees.

use pjrt_sys::layout::{self, Enum, Field, Function, Struct};

/// A claim about a header: a constant expression in C, and the same in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Must not be zero.
    pub expression: String,
    /// What the compiler prints if it is.
    pub meaning: String,
}

impl Claim {
    fn new(left: impl Into<String>, right: impl ToString) -> Self {
        let (left, right) = (left.into(), right.to_string());
        Claim {
            expression: format!("{left} == {right}"),
            meaning: format!("{left} should be {right}"),
        }
    }
}

/// Everything that `pjrt_sys` says about a header of the given API minor, which has to be one of
/// those that the crate tells apart. What came later is left out.
pub fn claims(header: &str, minor: u32) -> Vec<Claim> {
    let structs = layout::structs().filter(|s| s.header == header && s.since <= minor);
    let enums = layout::enums().filter(|e| e.header == header && e.since <= minor);
    let functions = layout::functions().filter(|f| f.since <= minor);
    let mut claims: Vec<Claim> = structs.flat_map(|s| of_struct(&s, minor)).collect();
    claims.extend(enums.flat_map(|e| of_enum(&e, minor)));
    if header == "pjrt_c_api.h" {
        claims.extend(functions.map(|f| of_function(&f)));
    }
    claims
}

/// A C file that includes a header and asserts claims about it.
pub fn source(header: &str, claims: &[Claim]) -> String {
    let mut text = format!("#include <stddef.h>\n#include \"{header}\"\n");
    for Claim {
        expression,
        meaning,
    } in claims
    {
        text += &format!("_Static_assert({expression}, \"{meaning}\");\n");
    }
    text
}

fn of_struct(s: &Struct, minor: u32) -> Vec<Claim> {
    let name = s.name;
    let mut claims = vec![
        Claim::new(format!("sizeof({name})"), s.size_at(minor)),
        Claim::new(format!("_Alignof({name})"), s.align),
    ];
    if s.fields[0].name == "struct_size" {
        let size = s.struct_size_at(minor);
        claims.push(Claim::new(format!("{name}_STRUCT_SIZE"), size));
    }
    for field in s.fields_at(minor) {
        // C reaches into a union without a name as if its members were the struct's own.
        match field.members {
            [] => claims.extend(of_field(name, field, 0)),
            members => claims.extend(members.iter().flat_map(|m| of_field(name, m, field.offset))),
        }
    }
    claims
}

fn of_field(owner: &str, field: &Field, base: usize) -> [Claim; 2] {
    let Field {
        name, offset, size, ..
    } = field;
    [
        Claim::new(format!("offsetof({owner}, {name})"), base + offset),
        Claim::new(format!("sizeof((({owner}*)0)->{name})"), size),
    ]
}

fn of_enum(e: &Enum, minor: u32) -> Vec<Claim> {
    let mut claims = vec![Claim::new(format!("sizeof({})", e.name), size_of::<u32>())];
    let known = e.constants.iter().filter(|c| c.since <= minor);
    claims.extend(known.map(|c| Claim::new(c.name, c.value)));
    claims
}

/// The type of a slot: what the function takes, and whether it returns an error.
fn of_function(function: &Function) -> Claim {
    let Function {
        name,
        args,
        fallible,
        ..
    } = function;
    let returns = if *fallible { "PJRT_Error*" } else { "void" };
    Claim {
        expression: format!(
            "_Generic(((PJRT_Api*)0)->{name}, {returns} (*)({args}*): 1, default: 0)"
        ),
        meaning: format!("{name} should be {returns} ({args}*)"),
    }
}
