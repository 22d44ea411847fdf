//! HLO modules as protobuf, written by hand: for what StableHLO has no words for.
#![allow(dead_code)]

pub mod large;

/// Numbers of HLO's `PrimitiveType`.
pub const PRED: u64 = 1;
pub const U8: u64 = 6;
pub const F32: u64 = 11;
const TUPLE: u64 = 13;

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field that is a number.
pub fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field that is text or a message.
pub fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let length = varint(content.len() as u64);
    [varint(field << 3 | 2), length, content.to_vec()].concat()
}

/// The shape of an array, row-major.
pub fn array(element: u64, dims: &[u64]) -> Vec<u8> {
    let mut shape = number(2, element);
    shape.extend(dims.iter().flat_map(|dim| number(3, *dim)));
    let order = (0..dims.len() as u64).rev();
    let layout: Vec<u8> = order.flat_map(|dim| number(1, dim)).collect();
    shape.extend(bytes(5, &layout));
    shape
}

/// The shape of a tuple.
pub fn tuple(shapes: &[Vec<u8>]) -> Vec<u8> {
    let mut shape = number(2, TUPLE);
    shape.extend(shapes.iter().flat_map(|each| bytes(4, each)));
    shape
}

/// An instruction, whose id operands name it by. `more` are further fields.
pub fn instruction(
    id: u64,
    opcode: &str,
    shape: &[u8],
    operands: &[u64],
    more: Vec<u8>,
) -> Vec<u8> {
    let mut out = bytes(1, format!("i{id}").as_bytes());
    out.extend(bytes(2, opcode.as_bytes()));
    out.extend(bytes(3, shape));
    out.extend(more);
    out.extend(number(35, id));
    out.extend(operands.iter().flat_map(|operand| number(36, *operand)));
    out
}

/// The instruction that is parameter `index`.
pub fn parameter(id: u64, index: u64, shape: &[u8]) -> Vec<u8> {
    instruction(id, "parameter", shape, &[], number(9, index))
}

/// A module of one computation, which gives what the instruction with the id `root` does.
pub fn module(
    name: &str,
    parameters: &[Vec<u8>],
    result: &[u8],
    instructions: &[Vec<u8>],
    root: u64,
) -> Vec<u8> {
    let mut shape: Vec<u8> = parameters.iter().flat_map(|each| bytes(1, each)).collect();
    shape.extend(bytes(2, result));
    for index in 0..parameters.len() {
        shape.extend(bytes(3, format!("p{index}").as_bytes()));
    }
    let mut computation = bytes(1, b"main");
    computation.extend(instructions.iter().flat_map(|each| bytes(2, each)));
    computation.extend(bytes(4, &shape));
    computation.extend(number(5, 1));
    computation.extend(number(6, root));
    [
        bytes(1, name.as_bytes()),
        bytes(2, b"main"),
        bytes(3, &computation),
        bytes(4, &shape),
        number(5, 1),
        number(6, 1),
    ]
    .concat()
}
