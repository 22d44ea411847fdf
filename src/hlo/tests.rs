//! Modules as XLA writes them, and as nobody should.

use super::wire::write;
use super::*;

/// A module with these fields, each a message.
pub(crate) fn module_with(fields: &[(u32, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, message) in fields {
        write::bytes(&mut out, *id, message);
    }
    out
}

/// An instruction with these operands, packed, and further fields that are numbers.
pub(crate) fn instruction(id: i64, opcode: &str, operands: &[i64], more: &[(u32, i64)]) -> Vec<u8> {
    let mut out = Vec::new();
    write::text(&mut out, 1, "its name");
    write::text(&mut out, 2, opcode);
    for (field, value) in more {
        write::number(&mut out, *field, *value);
    }
    write::number(&mut out, 35, id);
    write::numbers(&mut out, 36, operands);
    out
}

pub(crate) fn computation(id: i64, root: i64, instructions: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for instruction in instructions {
        write::bytes(&mut out, 2, instruction);
    }
    write::number(&mut out, 5, id);
    write::number(&mut out, 6, root);
    out
}

pub(crate) fn module_of_computations(entry: i64, computations: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for computation in computations {
        write::bytes(&mut out, 3, computation);
    }
    write::number(&mut out, 6, entry);
    out
}

/// A module of one instruction with these fields: numbers, and messages.
pub(crate) fn module_of(
    opcode: &str,
    numbers: &[(u32, i64)],
    messages: &[(u32, &[u8])],
) -> Vec<u8> {
    let mut only = instruction(1, opcode, &[], numbers);
    for (id, message) in messages {
        write::bytes(&mut only, *id, message);
    }
    module_of_computations(1, &[computation(1, 1, &[only])])
}

#[track_caller]
fn damage(bytes: &[u8]) -> &'static str {
    match Module::read(bytes) {
        Err(damage) => damage.what,
        Ok(_) => panic!("{bytes:?} was read"),
    }
}

fn few(numbers: &[i64]) -> Few {
    Few::from_slice(numbers)
}

/// The shape of an `f32` array with a layout, as XLA writes it.
fn array(dims: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    write::number(&mut out, 2, 11);
    write::numbers(&mut out, 3, dims);
    let mut layout = Vec::new();
    let order: Vec<i64> = (0..dims.len() as i64).rev().collect();
    write::numbers(&mut layout, 1, &order);
    write::bytes(&mut out, 5, &layout);
    out
}

fn tuple(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    write::number(&mut out, 2, 13);
    for part in parts {
        write::bytes(&mut out, 4, part);
    }
    out
}

#[test]
fn a_module_is_read() {
    let mut named = Vec::new();
    write::text(&mut named, 1, "the op");
    write::text(&mut named, 2, "state['w']");
    let mut parameter = instruction(7, "parameter", &[], &[(9, 1)]);
    write::bytes(&mut parameter, 7, &named);
    let other = instruction(8, "parameter", &[], &[(9, 5)]);
    let reduce = instruction(9, "all-reduce", &[7], &[]);
    let mut send = instruction(10, "custom-call", &[7], &[(47, 1)]);
    write::bytes(&mut send, 52, &[8, 2, 16, 6]);
    let mut bytes = Vec::new();
    write::text(&mut bytes, 1, "jit_f");
    write::bytes(&mut bytes, 3, &computation(3, 8, &[other]));
    write::bytes(
        &mut bytes,
        3,
        &computation(4, 9, &[parameter, reduce, send]),
    );
    let shape = tuple(&[array(&[2, 3]), tuple(&[array(&[])])]);
    let mut program_shape = Vec::new();
    write::bytes(&mut program_shape, 1, &array(&[8]));
    write::bytes(&mut program_shape, 2, &shape);
    write::text(&mut program_shape, 3, "its name");
    write::bytes(&mut bytes, 4, &program_shape);
    write::number(&mut bytes, 6, 4);
    // {1, 0} takes parameter 2 at {}, and must; parameter 3 at {4} is offered.
    write::bytes(&mut bytes, 8, &[0x0a, 8, 0x0a, 2, 1, 0, 16, 2, 32, 2]);
    write::bytes(&mut bytes, 18, &[0x0a, 4, 8, 3, 16, 4]);
    // Passed over: a float, a double, a group in a group, a field of a high number.
    bytes.extend([99 << 3 & 0x7f | 0x80 | 5, 6, 1, 2, 3, 4]);
    bytes.extend([15 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8]);
    bytes.extend([15 << 3 | 3, 1 << 3 | 3, 2 << 3, 5, 1 << 3 | 4, 15 << 3 | 4]);

    let read = Module::read(&bytes).expect("whole");
    assert_eq!((read.name, read.entry, read.has_entry), ("jit_f", 4, true));
    assert_eq!((read.computations, read.has_schedule), (2, false));
    assert_eq!(read.parameters, [(1, "state['w']")]);
    assert_eq!(read.passing, 2);
    assert!(read.has_collectives);
    assert_eq!(read.waits_for_host, Some("custom-call"));
    let mut reach = Reach::default();
    let first = read.computations().nth(1).expect("two").expect("whole");
    let speaks = first.instructions().nth(2).expect("three").expect("whole");
    assert_eq!(speaks.reach, 7);
    reach.add_instruction(&speaks);
    assert_eq!(read.reach, reach);
    let shape = read.shape.as_ref().expect("stated");
    let leaves = shape.result.as_ref().expect("stated").leaves();
    let leaves: Vec<_> = leaves
        .iter()
        .map(|leaf| (leaf.index.as_slice(), leaf.array.dimensions.as_slice()))
        .collect();
    assert_eq!(leaves, [(&[0][..], &[2, 3][..]), (&[1, 0], &[])]);
    assert_eq!(shape.parameters.len(), 1);
    let alias = Alias {
        output_index: few(&[1, 0]),
        parameter: 2,
        parameter_index: few(&[]),
        kind: 2,
    };
    assert_eq!(read.aliases, [alias]);
    let donor = Donor {
        parameter: 3,
        parameter_index: few(&[4]),
    };
    assert_eq!(read.donors, [donor]);

    // The summary says the same, and is its own summary.
    let summary = read.summary();
    let again = Module::read(&summary).expect("whole");
    assert_eq!(again.shape, read.shape);
    assert_eq!(again.aliases, read.aliases);
    assert_eq!(again.donors, read.donors);
    assert_eq!((again.name, again.entry), (read.name, read.entry));
    assert_eq!(again.parameters, read.parameters);
    assert!(summary.len() < bytes.len());
    assert_eq!(again.summary(), summary);

    // With its configuration around it.
    let mut with_config = Vec::new();
    write::bytes(&mut with_config, 1, &bytes);
    write::bytes(&mut with_config, 2, b"anything");
    assert_eq!(in_config(&with_config), Ok(Some(&bytes[..])));
    assert_eq!(in_config(&[]), Ok(None));
}

#[test]
fn what_is_no_message_is_told() {
    for (bytes, what) in [
        (&[0x80][..], "isn't all there"),
        (&[0xff; 9], "isn't all there"),
        (&[0xff; 10], "more than 64 bits"),
        (
            &[8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
            "more than 64 bits",
        ),
        (&[0, 1], "a number that fields don't have"),
        (
            &[0x80, 0x80, 0x80, 0x80, 0x10, 1],
            "a number that fields don't have",
        ),
        (&[0x0a, 5, b'a'], "longer than what is there"),
        // A length of 2^63.
        (
            &[
                0x1a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
            ],
            "longer than",
        ),
        (&[15 << 3 | 1, 1, 2], "isn't all there"),
        (&[15 << 3 | 5, 1, 2, 3], "isn't all there"),
        (&[15 << 3 | 6, 1], "a kind that there isn't"),
        (&[15 << 3 | 4], "a group that doesn't begin"),
        (&[15 << 3 | 3, 8, 1], "without an end"),
        (&[15 << 3 | 3, 14 << 3 | 4], "another group"),
        (&[15 << 3 | 3; 40], "too deep"),
        (&[0x0a, 1, 0xff], "no UTF-8"),
        (&[8, 1], "no message"),
        (&[6 << 3 | 2, 0], "no number"),
        (&[0x1a, 3, 0x12, 5, 1], "longer than what is there"),
        (&[0x1a, 4, 0x12, 2, 0x12, 9], "longer than what is there"),
        (&[0x22, 0, 0x22, 0], "second time"),
        (&[0x42, 0, 0x42, 0], "second time"),
    ] {
        let told = damage(bytes);
        assert!(told.contains(what), "{bytes:?}: {told}");
    }
    let told = Module::read(&[8, 1]).map(|_| ()).expect_err("damaged");
    assert_eq!(told.to_string(), "no message where one belongs at byte 0");
}

/// Every beginning of a module is read or told of, and every bit can be turned.
#[test]
fn no_bytes_are_too_damaged() {
    let whole = include_bytes!("../../examples/programs/scheduled.hlo.pb");
    assert!(Module::read(whole).expect("whole").has_schedule);
    for length in 0..whole.len() {
        let _ = Module::read(&whole[..length]);
    }
    let mut damaged = whole.to_vec();
    let mut told = 0;
    for bit in 0..whole.len() * 8 {
        damaged[bit / 8] ^= 1 << (bit % 8);
        match Module::read(&damaged) {
            Err(_) => told += 1,
            Ok(module) => drop((
                returned::parameters(&module, &[few(&[0])]),
                module.summary(),
            )),
        }
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(told > whole.len(), "{told}");
}

/// What says a lot in few bytes is refused before it is believed.
#[test]
fn what_would_cost_too_much_is_refused() {
    let mut deep = array(&[]);
    for _ in 0..200 {
        deep = tuple(&[deep]);
    }
    let result = |shape: &[u8]| {
        let mut out = Vec::new();
        write::bytes(&mut out, 2, shape);
        module_with(&[(4, &out)])
    };
    assert!(damage(&result(&deep)).contains("too deep"));
    let empty = vec![Vec::new(); shape::MOST_SHAPES];
    assert!(damage(&result(&tuple(&empty))).contains("more arrays"));
    let mut long = Vec::new();
    write::bytes(&mut long, 3, &vec![1; 5 << 20]);
    assert!(damage(&result(&long)).contains("more dimensions"));
    let tiles = [0x32, 0].repeat(1 << 20);
    let mut tiled = Vec::new();
    write::bytes(&mut tiled, 5, &tiles);
    assert!(damage(&result(&tiled)).contains("more dimensions"));
    let many = [0x0a, 0].repeat(shape::MOST_SHAPES + 1);
    assert!(damage(&module_with(&[(8, &many)])).contains("more donations"));
    assert!(damage(&module_with(&[(18, &many)])).contains("more donations"));
    let mut place = Vec::new();
    write::bytes(&mut place, 1, &[0; 200]);
    let mut table = Vec::new();
    write::bytes(&mut table, 1, &place);
    assert!(damage(&module_with(&[(8, &table)])).contains("too deep in a tuple"));
    let parameter = instruction(0, "parameter", &[], &[]);
    let all = vec![parameter; shape::MOST_SHAPES + 1];
    let module = module_of_computations(0, &[computation(0, 0, &all)]);
    assert!(damage(&module).contains("more parameters"));
}
