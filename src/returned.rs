//! Which results of a compiled program are its parameters, as they are.

use std::collections::HashMap;

use crate::hlo::{Few, Instruction, Module};

/// How many instructions are followed from a result at most: a parameter that is returned
/// is behind a few copies.
const LONGEST: usize = 64;

/// What gives its operand's values on, in another place or shape at most.
const PASSING: [&str; 6] = [
    "bitcast",
    "copy",
    "copy-done",
    "copy-start",
    "opt-barrier",
    "reshape",
];

/// Whether an instruction can stand between a parameter and the result that it is.
pub(crate) fn passes(opcode: &str) -> bool {
    const LEADING: [&str; 5] = ["call", "fusion", "get-tuple-element", "parameter", "tuple"];
    LEADING.contains(&opcode) || PASSING.contains(&opcode)
}

/// How many bytes of a large module there are to an entry of the index at least: instructions
/// have a hundred. One of so many short ones isn't worth its memory.
const BYTES_AN_ENTRY: usize = 32;

/// How many entries the index of a small module may have.
const FEW_ENTRIES: usize = 1 << 12;

/// Where the instructions of a module stand that a value can pass through, and what the
/// computations give, both by their ids.
struct Index<'m, 'a> {
    module: &'m Module<'a>,
    instructions: Vec<(i64, (u32, u32))>,
    /// The ids of their roots.
    computations: Vec<(i64, i64)>,
    /// The operands of the tuples that were looked at, by their ids: mostly all results are
    /// parts of one, which may have thousands. Empty where they are too many.
    tuples: HashMap<i64, Vec<i64>>,
    /// How many more of them there is room for.
    room: usize,
    /// How many bytes of instructions may yet be looked at. More is spent where each result
    /// leads through the same huge instruction, which no program has.
    left: usize,
}

/// How often a module's bytes may be looked at, and how many of a small one in any case.
const ROUNDS: usize = 16;
const FEW_BYTES: usize = 1 << 20;

/// How many operands of tuples are kept: a few for each result that there may be.
const MOST_OPERANDS: usize = 1 << 20;

/// For each result, given by its place in the result's tuple, the number of the parameter
/// that it is.
pub(crate) fn parameters(module: &Module<'_>, results: &[Few]) -> Vec<Option<i64>> {
    let nothing = || vec![None; results.len()];
    let Some(mut index) = Index::of(module) else {
        return nothing();
    };
    let Some(root) = find(&index.computations, module.entry) else {
        return nothing();
    };
    results
        .iter()
        .map(|place| index.parameter(root, place))
        .collect()
}

/// What is listed for an id.
fn find<T: Copy>(sorted: &[(i64, T)], id: i64) -> Option<T> {
    let at = sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    Some(sorted[at].1)
}

impl<'m, 'a> Index<'m, 'a> {
    fn of(module: &'m Module<'a>) -> Option<Index<'m, 'a>> {
        let most = (module.size() / BYTES_AN_ENTRY).max(FEW_ENTRIES);
        if module.passing > most || module.computations > most {
            return None;
        }
        let mut instructions = Vec::with_capacity(module.passing);
        let mut computations = Vec::with_capacity(module.computations);
        for computation in module.computations() {
            let computation = computation.ok()?;
            computations.push((computation.id, computation.root));
            for instruction in computation.instructions() {
                let instruction = instruction.ok()?;
                if passes(instruction.opcode) {
                    // A module has less than 32 bits count.
                    let (at, length) = instruction.place();
                    instructions.push((instruction.id, (at as u32, length as u32)));
                }
            }
        }
        instructions.sort_unstable();
        computations.sort_unstable();
        Some(Index {
            module,
            instructions,
            computations,
            tuples: HashMap::new(),
            room: MOST_OPERANDS,
            left: module.size().saturating_mul(ROUNDS).max(FEW_BYTES),
        })
    }

    fn instruction(&mut self, id: i64) -> Option<Instruction<'a>> {
        let (at, length) = find(&self.instructions, id)?;
        self.left = self.left.checked_sub(length as usize)?;
        self.module.instruction_at((at as usize, length as usize))
    }

    /// The instruction that gives a part of the tuple that this one makes.
    fn part(&mut self, tuple: &Instruction<'a>, part: i64) -> Option<i64> {
        let mut operands = tuple.operands().unwrap_or_default();
        if operands.len() > self.room {
            operands = Vec::new();
        }
        self.room -= operands.len();
        let operand = operands.get(usize::try_from(part).ok()?).copied();
        self.tuples.insert(tuple.id, operands);
        operand
    }

    /// The parameter of the entry that the instruction gives at a place of its tuple.
    fn parameter(&mut self, instruction: i64, place: &[i64]) -> Option<i64> {
        // The way into the tuple that is looked at, the next step last.
        let mut way: Few = place.iter().rev().copied().collect();
        // The calls that were gone into.
        let mut calls: Vec<Instruction<'a>> = Vec::new();
        let mut at = instruction;
        for _ in 0..LONGEST {
            if let Some(operands) = self.tuples.get(&at) {
                at = *operands.get(usize::try_from(way.pop()?).ok()?)?;
                continue;
            }
            let instruction = self.instruction(at)?;
            at = match instruction.opcode {
                "parameter" => match calls.pop() {
                    None => return way.is_empty().then_some(instruction.parameter_number),
                    Some(call) => {
                        let number = usize::try_from(instruction.parameter_number).ok()?;
                        call.operand(number)?
                    }
                },
                "tuple" => self.part(&instruction, way.pop()?)?,
                "get-tuple-element" => {
                    way.push(instruction.tuple_index);
                    instruction.operand(0)?
                }
                "call" | "fusion" => {
                    let called = find(&self.computations, instruction.called?)?;
                    calls.push(instruction);
                    called
                }
                passing if PASSING.contains(&passing) => instruction.operand(0)?,
                _ => return None,
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::tests::{computation, instruction, module_of_computations};

    fn parameter(id: i64, number: i64) -> Vec<u8> {
        instruction(id, "parameter", &[], &[(9, number)])
    }

    fn parameters_of(
        entry: &[Vec<u8>],
        called: &[Vec<u8>],
        roots: [i64; 2],
        places: &[&[i64]],
    ) -> Vec<Option<i64>> {
        let both = [
            computation(1, roots[0], entry),
            computation(2, roots[1], called),
        ];
        let bytes = module_of_computations(1, &both);
        let module = Module::read(&bytes).expect("whole");
        let places: Vec<Few> = places.iter().map(|place| Few::from_slice(place)).collect();
        parameters(&module, &places)
    }

    #[test]
    fn parameters_are_found_behind_copies_and_calls() {
        let entry = [
            parameter(10, 0),
            parameter(11, 1),
            instruction(12, "copy", &[11], &[]),
            instruction(13, "fusion", &[11, 10], &[(38, 2)]),
            instruction(14, "tuple", &[10, 12], &[]),
            instruction(15, "get-tuple-element", &[14], &[(13, 1)]),
            instruction(16, "add", &[10, 11], &[]),
            instruction(17, "tuple", &[12, 13, 15, 16, 10], &[]),
        ];
        let called = [
            parameter(20, 0),
            parameter(21, 1),
            instruction(22, "copy", &[21], &[]),
        ];
        let places: [&[i64]; 6] = [&[0], &[1], &[2], &[3], &[4], &[5]];
        assert_eq!(
            parameters_of(&entry, &called, [17, 22], &places),
            [Some(1), Some(0), Some(1), None, Some(0), None]
        );
    }

    #[test]
    fn tuples_in_tuples() {
        let entry = [
            parameter(1, 0),
            parameter(2, 1),
            instruction(3, "tuple", &[2, 1], &[]),
            instruction(4, "tuple", &[1, 3], &[]),
        ];
        let places: [&[i64]; 4] = [&[0], &[1, 0], &[1, 1], &[1]];
        assert_eq!(
            parameters_of(&entry, &[], [4, 0], &places),
            [Some(0), Some(1), Some(0), None]
        );
    }

    /// A module that leads each result through a huge instruction isn't followed for ever.
    #[test]
    fn what_takes_too_long_is_left() {
        let huge = instruction(2, "copy", &[1], &[]);
        let mut long = vec![0x82, 1, 0x80, 0x80, 0x40];
        long.resize(long.len() + (1 << 20), 0);
        let huge = [long, huge].concat();
        let results = [2; 100];
        let entry = [
            parameter(1, 0),
            huge,
            instruction(3, "tuple", &results, &[]),
        ];
        let places: Vec<Vec<i64>> = (0..100).map(|place| vec![place]).collect();
        let places: Vec<&[i64]> = places.iter().map(Vec::as_slice).collect();
        let told = parameters_of(&entry, &[], [3, 0], &places);
        assert_eq!(told[0], Some(0));
        assert_eq!(told[99], None);
    }

    #[test]
    fn a_single_result_and_damaged_modules() {
        let of = |entry: &[Vec<u8>], root, place: &[i64]| {
            parameters_of(entry, &[], [root, 0], &[place])[0]
        };
        let single = [parameter(1, 3)];
        assert_eq!(of(&single, 1, &[]), Some(3));
        assert_eq!(of(&single, 1, &[0]), None);
        assert_eq!(of(&[instruction(1, "copy", &[1], &[])], 1, &[]), None);
        assert_eq!(of(&[instruction(1, "copy", &[7], &[])], 1, &[]), None);
        assert_eq!(of(&[instruction(1, "copy", &[], &[])], 1, &[]), None);
        let empty = Module::read(&[]).expect("no fields");
        assert_eq!(parameters(&empty, &[Few::new()]), [None]);
    }
}
