//! Which results of a compiled program are its parameters, as they are.

use std::collections::HashMap;

use crate::proto::{HloComputationProto, HloInstructionProto, HloModuleProto};

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

/// The instructions of a module by their ids, and its computations by theirs.
struct Index<'a> {
    instructions: HashMap<i64, &'a HloInstructionProto>,
    computations: HashMap<i64, &'a HloComputationProto>,
}

/// For each result, given by its place in the result's tuple, the number of the parameter
/// that it is.
pub(crate) fn parameters(module: &HloModuleProto, results: &[&[i64]]) -> Vec<Option<i64>> {
    let instructions = module
        .computations
        .iter()
        .flat_map(|computation| &computation.instructions);
    let index = Index {
        instructions: instructions.map(|each| (each.id, each)).collect(),
        computations: module
            .computations
            .iter()
            .map(|each| (each.id, each))
            .collect(),
    };
    let entry = index.computations.get(&module.entry_computation_id);
    results
        .iter()
        .map(|place| index.parameter(entry?.root_id, place))
        .collect()
}

impl Index<'_> {
    /// The parameter of the entry that the instruction gives at a place of its tuple.
    fn parameter(&self, instruction: i64, place: &[i64]) -> Option<i64> {
        // The way into the tuple that is looked at, the next step last.
        let mut way: Vec<i64> = place.iter().rev().copied().collect();
        // The calls that were gone into.
        let mut calls: Vec<&HloInstructionProto> = Vec::new();
        let mut at = instruction;
        for _ in 0..LONGEST {
            let instruction = *self.instructions.get(&at)?;
            let operand = instruction.operand_ids.first().copied();
            at = match instruction.opcode.as_str() {
                "parameter" => match calls.pop() {
                    None => return way.is_empty().then_some(instruction.parameter_number),
                    Some(call) => {
                        let number = usize::try_from(instruction.parameter_number).ok()?;
                        *call.operand_ids.get(number)?
                    }
                },
                "tuple" => {
                    let part = usize::try_from(way.pop()?).ok()?;
                    *instruction.operand_ids.get(part)?
                }
                "get-tuple-element" => {
                    way.push(instruction.tuple_index);
                    operand?
                }
                "call" | "fusion" => {
                    let called = instruction.called_computation_ids.first()?;
                    calls.push(instruction);
                    self.computations.get(called)?.root_id
                }
                passing if PASSING.contains(&passing) => operand?,
                _ => return None,
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(id: i64, opcode: &str, operands: &[i64]) -> HloInstructionProto {
        HloInstructionProto {
            id,
            opcode: opcode.to_owned(),
            operand_ids: operands.to_vec(),
            ..HloInstructionProto::default()
        }
    }

    fn parameter(id: i64, number: i64) -> HloInstructionProto {
        HloInstructionProto {
            parameter_number: number,
            ..instruction(id, "parameter", &[])
        }
    }

    fn module(entry: Vec<HloInstructionProto>, called: Vec<HloInstructionProto>) -> HloModuleProto {
        let computation = |id, instructions: Vec<HloInstructionProto>| HloComputationProto {
            id,
            root_id: instructions.last().map_or(0, |last| last.id),
            instructions,
        };
        HloModuleProto {
            computations: vec![computation(1, entry), computation(2, called)],
            entry_computation_id: 1,
            ..HloModuleProto::default()
        }
    }

    #[test]
    fn parameters_are_found_behind_copies_and_calls() {
        let mut fusion = instruction(13, "fusion", &[11, 10]);
        fusion.called_computation_ids = vec![2];
        let mut element = instruction(15, "get-tuple-element", &[14]);
        element.tuple_index = 1;
        let entry = vec![
            parameter(10, 0),
            parameter(11, 1),
            instruction(12, "copy", &[11]),
            fusion,
            instruction(14, "tuple", &[10, 12]),
            element,
            instruction(16, "add", &[10, 11]),
            instruction(17, "tuple", &[12, 13, 15, 16, 10]),
        ];
        let called = vec![
            parameter(20, 0),
            parameter(21, 1),
            instruction(22, "copy", &[21]),
        ];
        let module = module(entry, called);
        let places: [&[i64]; 6] = [&[0], &[1], &[2], &[3], &[4], &[5]];
        assert_eq!(
            parameters(&module, &places),
            [Some(1), Some(0), Some(1), None, Some(0), None]
        );
    }

    #[test]
    fn a_single_result_and_damaged_modules() {
        let single = module(vec![parameter(1, 3)], Vec::new());
        assert_eq!(parameters(&single, &[&[]]), [Some(3)]);
        assert_eq!(parameters(&single, &[&[0]]), [None]);
        let circle = module(vec![instruction(1, "copy", &[1])], Vec::new());
        assert_eq!(parameters(&circle, &[&[]]), [None]);
        let missing = module(vec![instruction(1, "copy", &[7])], Vec::new());
        assert_eq!(parameters(&missing, &[&[]]), [None]);
        assert_eq!(parameters(&HloModuleProto::default(), &[&[]]), [None]);
    }
}
