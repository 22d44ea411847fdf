//! Modules of any size: with a long constant, or with many instructions. Both are valid; those
//! of the sizes in question just take a compiler long.

use super::{array, bytes, instruction, number, tuple, F32};

/// How many arrays the modules give on as they are, each donated into its output.
pub const STATE: usize = 1000;

/// The id of the first instruction that isn't a parameter, the sum or the tuple. Compilers make
/// tables as long as the largest id.
const FIRST: u64 = 4 + STATE as u64;

/// The elements of each of them.
const WIDTH: u64 = 4;

/// `c + x`, where `c` is a constant of so many elements, 0, 1, 2, ...; and the state.
pub fn with_constant(elements: u64) -> Vec<u8> {
    let shape = array(F32, &[elements]);
    module(&shape, &[ramp(FIRST, elements)], FIRST)
}

/// `x` plus 1, and the state. Beside it stands a constant of so many elements that isn't used.
pub fn with_unused_constant(elements: u64) -> Vec<u8> {
    let scalar = array(F32, &[]);
    module(&scalar, &[one(FIRST), ramp(FIRST + 1, elements)], FIRST)
}

/// The constant 0, 1, 2, ...
fn ramp(id: u64, elements: u64) -> Vec<u8> {
    let shape = array(F32, &[elements]);
    let values: Vec<u8> = (0..elements)
        .flat_map(|element| (element as f32).to_le_bytes())
        .collect();
    // `LiteralProto`: shape, f32s.
    let literal = [bytes(1, &shape), bytes(8, &values)].concat();
    instruction(id, "constant", &shape, &[], bytes(8, &literal))
}

/// The constant 1.
fn one(id: u64) -> Vec<u8> {
    let scalar = array(F32, &[]);
    let literal = [bytes(1, &scalar), bytes(8, &1f32.to_le_bytes())].concat();
    instruction(id, "constant", &scalar, &[], bytes(8, &literal))
}

/// `x` plus 1, with as many times 1 added as there are instructions, each of some 500 bytes; and
/// the state.
pub fn with_instructions(count: u64) -> Vec<u8> {
    let scalar = array(F32, &[]);
    let mut body = vec![one(FIRST)];
    let name = "jit(step)/transpose(jvp(layer))/dense_general/".repeat(10);
    for index in 0..count {
        let names = [
            bytes(1, b"add"),
            bytes(2, format!("{name}{index}").as_bytes()),
            bytes(3, b"train.py"),
            number(4, index),
        ];
        let metadata = bytes(7, &names.concat());
        // One more than the one before.
        let operands = [FIRST + index, FIRST];
        body.push(instruction(
            FIRST + 1 + index,
            "add",
            &scalar,
            &operands,
            metadata,
        ));
    }
    module(&scalar, &body, FIRST + count)
}

/// The module that adds what instruction `added` gives to `x`, and gives its state on.
fn module(shape: &[u8], body: &[Vec<u8>], added: u64) -> Vec<u8> {
    let row = array(F32, &[WIDTH]);
    let named = |index: usize| match index {
        0 => "x".to_owned(),
        _ => format!("state['layer_{}']['kernel']", index - 1),
    };
    let shape_of = |index: usize| if index == 0 { shape } else { &row[..] };
    let id_of = |index: usize| 3 + index as u64;
    let metadata = |index: usize| bytes(7, &bytes(2, named(index).as_bytes()));
    let parameters = (0..=STATE).map(|index| {
        let more = [number(9, index as u64), metadata(index)].concat();
        instruction(id_of(index), "parameter", shape_of(index), &[], more)
    });
    let sum = instruction(1, "add", shape, &[id_of(0), added], Vec::new());
    let shapes: Vec<Vec<u8>> = (0..=STATE).map(|index| shape_of(index).to_vec()).collect();
    let results: Vec<u64> = std::iter::once(1).chain((1..=STATE).map(id_of)).collect();
    let root = instruction(2, "tuple", &tuple(&shapes), &results, Vec::new());

    let mut program_shape: Vec<u8> = shapes.iter().flat_map(|each| bytes(1, each)).collect();
    program_shape.extend(bytes(2, &tuple(&shapes)));
    for index in 0..=STATE {
        program_shape.extend(bytes(3, format!("p{index}").as_bytes()));
    }
    let mut computation = bytes(1, b"main");
    for each in parameters.chain(body.iter().cloned()).chain([sum, root]) {
        computation.extend(bytes(2, &each));
    }
    computation.extend(bytes(4, &program_shape));
    computation.extend([number(5, 1), number(6, 2)].concat());
    let aliases: Vec<u8> = (1..=STATE as u64)
        .flat_map(|index| {
            // Output {index} may take all of parameter `index`.
            bytes(
                1,
                &[number(1, index), number(2, index), number(4, 1)].concat(),
            )
        })
        .collect();
    [
        bytes(1, b"large"),
        bytes(2, b"main"),
        bytes(3, &computation),
        bytes(4, &program_shape),
        number(5, 1),
        number(6, 1),
        bytes(8, &aliases),
    ]
    .concat()
}
