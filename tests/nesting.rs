//! What comes from outside may be nested as deep as it likes: it is refused, and takes no stack.

use xla::{Code, Program};

/// A field with the bytes of a message in it.
fn message(field: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![field << 3 | 2];
    let mut length = content.len();
    while length > 0x7f {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(content);
    bytes
}

/// An HLO module whose entry takes a tuple of a tuple of a tuple ...
fn module(depth: usize) -> Vec<u8> {
    const TUPLE: [u8; 2] = [2 << 3, 13];
    let mut shape = TUPLE.to_vec();
    for _ in 0..depth {
        // `tuple_shapes` of a `ShapeProto`.
        shape = [TUPLE.to_vec(), message(4, &shape)].concat();
    }
    // `host_program_shape` of the module, and `parameters` of that.
    [
        message(1, b"deep"),
        message(2, b"main"),
        message(4, &message(1, &shape)),
    ]
    .concat()
}

#[test]
fn tuples_of_tuples_are_refused() {
    // What recursed that deep would end the process.
    for depth in [20, 200, 20_000] {
        let error = Program::from_hlo(module(depth)).expect_err("it has no computation");
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
}
