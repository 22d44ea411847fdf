//! A module without its code: what a kept executable says of itself.

use super::field::{alias, computation, donor, instruction, metadata, module, table};
use super::wire::write;
use super::{Alias, Donor, Module};

impl Module<'_> {
    /// What the module takes, gives and donates, its shardings and the names of its parameters,
    /// as a module of one computation that has nothing but parameters. Of that it is the same
    /// again, whoever wrote it.
    pub(crate) fn summary(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::text(&mut out, module::NAME, self.name);
        let mut entry = Vec::new();
        for (number, name) in &self.parameters {
            write::bytes(
                &mut entry,
                computation::INSTRUCTIONS,
                &parameter(*number, name),
            );
        }
        write::number(&mut entry, computation::ID, self.entry);
        // What gives the results isn't kept: no instruction has this number.
        write::number(&mut entry, computation::ROOT_ID, -1);
        write::bytes(&mut out, module::COMPUTATIONS, &entry);
        if let Some(shape) = &self.shape {
            write::bytes(&mut out, module::HOST_PROGRAM_SHAPE, &shape.write());
        }
        write::number(&mut out, module::ENTRY_COMPUTATION_ID, self.entry);
        entries(
            &mut out,
            module::INPUT_OUTPUT_ALIAS,
            self.aliases.iter().map(Alias::write),
        );
        if let Some(sharding) = self.output_sharding {
            write::bytes(&mut out, module::SPMD_OUTPUT_SHARDING, sharding);
        }
        for sharding in self.parameter_shardings() {
            write::bytes(&mut out, module::SPMD_PARAMETERS_SHARDINGS, sharding);
        }
        entries(
            &mut out,
            module::BUFFER_DONOR,
            self.donors.iter().map(Donor::write),
        );
        out
    }
}

fn parameter(number: i64, name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write::text(&mut out, instruction::OPCODE, "parameter");
    let mut named = Vec::new();
    write::text(&mut named, metadata::OP_NAME, name);
    write::bytes(&mut out, instruction::METADATA, &named);
    write::number(&mut out, instruction::PARAMETER_NUMBER, number);
    out
}

fn entries(out: &mut Vec<u8>, id: u32, entries: impl Iterator<Item = Vec<u8>>) {
    let mut table = Vec::new();
    for entry in entries {
        write::bytes(&mut table, table::ENTRIES, &entry);
    }
    if !table.is_empty() {
        write::bytes(out, id, &table);
    }
}

impl Alias {
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::numbers(&mut out, alias::OUTPUT_SHAPE_INDEX, &self.output_index);
        write::number(&mut out, alias::PARAMETER_NUMBER, self.parameter);
        write::numbers(
            &mut out,
            alias::PARAMETER_SHAPE_INDEX,
            &self.parameter_index,
        );
        write::number(&mut out, alias::KIND, self.kind);
        out
    }
}

impl Donor {
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::number(&mut out, donor::PARAMETER_NUMBER, self.parameter);
        write::numbers(
            &mut out,
            donor::PARAMETER_SHAPE_INDEX,
            &self.parameter_index,
        );
        out
    }
}
