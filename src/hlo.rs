//! HLO modules (`HloModuleProto`), read where they lie: the one place that knows how.
//!
//! A module can be hundreds of megabytes of constants and instructions, of which hardly
//! anything is asked. So nothing is decoded but what it takes, gives and donates; the
//! instructions are looked at one at a time and forgotten, and all text is a slice of the file.
//! What is kept grows with the inputs and outputs, and is bounded where bytes lie about them.

mod field;
mod instruction;
mod shape;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
mod wire;

use crate::collectives::{self, Reach};
use crate::returned;

use self::field::{alias, computation, donor, module, op_sharding, table, with_config};
use self::wire::{Fields, Message};

pub(crate) use self::instruction::Instruction;
pub(crate) use self::shape::{Few, HloLayout, HloShape, Leaf, ProgramShape};
pub(crate) use self::wire::{Damage, Result};

/// What is asked of a module.
pub(crate) struct Module<'a> {
    whole: Message<'a>,
    pub(crate) name: &'a str,
    /// The id of the entry computation.
    pub(crate) entry: i64,
    /// Whether it has a schedule, as compiled ones do.
    pub(crate) has_schedule: bool,
    pub(crate) shape: Option<ProgramShape>,
    /// Which inputs go into which outputs.
    pub(crate) aliases: Vec<Alias>,
    /// Which inputs are offered to whichever output fits, or have found none.
    pub(crate) donors: Vec<Donor>,
    /// An `OpShardingProto`.
    pub(crate) output_sharding: Option<&'a [u8]>,
    pub(crate) computations: usize,
    pub(crate) has_entry: bool,
    /// The number and the name of each parameter of the entry computation.
    pub(crate) parameters: Vec<(i64, &'a str)>,
    /// To whom its collectives speak.
    pub(crate) reach: Reach,
    /// Whether it has any.
    pub(crate) has_collectives: bool,
    /// The opcode of the first instruction that waits for a host.
    pub(crate) waits_for_host: Option<&'a str>,
    pub(crate) instructions: usize,
    /// The largest number that an instruction has within its computation: the lower half of its
    /// id.
    pub(crate) largest_id: u32,
    /// The largest id of a computation, whatever its sign.
    pub(crate) largest_computation_id: u64,
    /// How many instructions do no more than pass values on.
    pub(crate) passing: usize,
}

/// An entry of the alias table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Alias {
    pub(crate) output_index: Few,
    pub(crate) parameter: i64,
    pub(crate) parameter_index: Few,
    /// 1: may alias, 2: must alias.
    pub(crate) kind: i64,
}

/// An entry of the list of donors.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Donor {
    pub(crate) parameter: i64,
    pub(crate) parameter_index: Few,
}

/// A computation, whose instructions aren't looked at so far.
#[derive(Clone, Copy)]
pub(crate) struct Computation<'a> {
    message: Message<'a>,
    pub(crate) id: i64,
    pub(crate) root: i64,
}

/// More than a protobuf can have: its readers count in 31 bits.
const MOST_BYTES: usize = 1 << 31;

impl<'a> Module<'a> {
    /// Looks through a whole module, once.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Module<'a>> {
        if bytes.len() >= MOST_BYTES {
            return Err(Damage {
                what: "more bytes than a protobuf can have",
                at: MOST_BYTES,
            });
        }
        let mut read = Module {
            whole: Message::whole(bytes),
            name: "",
            entry: 0,
            has_schedule: false,
            shape: None,
            aliases: Vec::new(),
            donors: Vec::new(),
            output_sharding: None,
            computations: 0,
            has_entry: false,
            parameters: Vec::new(),
            reach: Reach::default(),
            has_collectives: false,
            waits_for_host: None,
            instructions: 0,
            largest_id: 0,
            largest_computation_id: 0,
            passing: 0,
        };
        read.head()?;
        // Which of them is the entry stands behind them.
        for computation in read.computations() {
            read.look_through(computation?)?;
        }
        Ok(read)
    }

    /// The fields of the module itself.
    fn head(&mut self) -> Result<()> {
        let mut seen = [false; 3];
        let mut once = |index: usize, message: Message<'_>| {
            match std::mem::replace(&mut seen[index], true) {
                // A second one would go on with the first; nobody writes it so.
                true => Err(Damage {
                    what: "a field for the second time",
                    at: message.at,
                }),
                false => Ok(()),
            }
        };
        for field in self.whole.fields() {
            let field = field?;
            match field.id {
                module::NAME => self.name = field.text()?,
                module::HOST_PROGRAM_SHAPE => {
                    let message = field.message()?;
                    once(0, message)?;
                    self.shape = Some(ProgramShape::read(message)?);
                }
                module::ENTRY_COMPUTATION_ID => self.entry = field.number()?,
                module::SCHEDULE => {
                    field.message()?;
                    self.has_schedule = true;
                }
                module::INPUT_OUTPUT_ALIAS => {
                    let message = field.message()?;
                    once(1, message)?;
                    self.aliases = entries(message, Alias::read)?;
                }
                module::BUFFER_DONOR => {
                    let message = field.message()?;
                    once(2, message)?;
                    self.donors = entries(message, Donor::read)?;
                }
                module::SPMD_OUTPUT_SHARDING => self.output_sharding = Some(field.message()?.bytes),
                module::SPMD_PARAMETERS_SHARDINGS => {
                    field.message()?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn look_through(&mut self, computation: Computation<'a>) -> Result<()> {
        self.computations += 1;
        let id = computation.id as u64;
        self.largest_computation_id = id.max(self.largest_computation_id);
        let is_entry = computation.id == self.entry;
        self.has_entry |= is_entry;
        for instruction in computation.instructions() {
            let instruction = instruction?;
            let opcode = instruction.opcode;
            self.instructions += 1;
            self.largest_id = self.largest_id.max(instruction.id as u32);
            self.has_collectives |= collectives::is_one(opcode);
            self.reach.add_instruction(&instruction);
            if self.waits_for_host.is_none() && collectives::waits_for_host(&instruction) {
                self.waits_for_host = Some(opcode);
            }
            self.passing += usize::from(returned::passes(opcode));
            if is_entry && opcode == "parameter" {
                if self.parameters.len() == shape::MOST_SHAPES {
                    let (at, _) = instruction.place();
                    let what = "more parameters than any program has";
                    return Err(Damage { what, at });
                }
                let named = (instruction.parameter_number, instruction.op_name()?);
                self.parameters.push(named);
            }
        }
        Ok(())
    }

    /// The computations, in the order in which they stand.
    pub(crate) fn computations(&self) -> impl Iterator<Item = Result<Computation<'a>>> {
        messages(self.whole, module::COMPUTATIONS).map(|message| Computation::read(message?))
    }

    /// For each parameter an `OpShardingProto`; none where the module states none.
    pub(crate) fn parameter_shardings(&self) -> impl Iterator<Item = &'a [u8]> + Clone {
        // They were read before: there is no damage.
        let whole = self.whole;
        messages(whole, module::SPMD_PARAMETERS_SHARDINGS)
            .filter_map(|message| message.ok().map(|message| message.bytes))
    }

    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        self.whole.bytes.len()
    }

    /// The instruction that stands at a place which one said of itself.
    pub(crate) fn instruction_at(&self, (at, length): (usize, usize)) -> Option<Instruction<'a>> {
        let bytes = self.whole.bytes.get(at..)?.get(..length)?;
        Instruction::read(Message { bytes, at }).ok()
    }
}

/// The bytes of the module in a `HloModuleProtoWithConfig`.
pub(crate) fn in_config(bytes: &[u8]) -> Result<Option<&[u8]>> {
    let mut module = None;
    for field in Message::whole(bytes).fields() {
        let field = field?;
        if field.id == with_config::HLO_MODULE {
            module = Some(field.message()?.bytes);
        }
    }
    Ok(module)
}

/// The shardings in one that is a tuple's (`OpSharding.Type`); `None` for another one, and for
/// one with fields that aren't known.
pub(crate) fn tuple_sharding(sharding: &[u8]) -> Option<impl Iterator<Item = &[u8]> + Clone> {
    const TUPLE: i64 = 2;
    let mut kind = 0;
    for field in Message::whole(sharding).fields() {
        let field = field.ok()?;
        match field.id {
            op_sharding::TYPE => kind = field.number().ok()?,
            op_sharding::TUPLE_SHARDINGS => {
                field.message().ok()?;
            }
            id if id > op_sharding::LAST => return None,
            _ => {}
        }
    }
    let parts = messages(Message::whole(sharding), op_sharding::TUPLE_SHARDINGS);
    let parts = parts.filter_map(|part| part.ok().map(|part| part.bytes));
    (kind == TUPLE).then_some(parts)
}

impl<'a> Computation<'a> {
    fn read(message: Message<'a>) -> Result<Computation<'a>> {
        let mut read = Computation {
            message,
            id: 0,
            root: 0,
        };
        for field in message.fields() {
            let field = field?;
            match field.id {
                computation::ID => read.id = field.number()?,
                computation::ROOT_ID => read.root = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }

    /// The instructions, in the order in which they stand.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Result<Instruction<'a>>> {
        messages(self.message, computation::INSTRUCTIONS).map(|message| Instruction::read(message?))
    }
}

/// The fields of a message that have this number, each a message.
fn messages(message: Message<'_>, id: u32) -> Messages<'_> {
    Messages {
        fields: message.fields(),
        id,
    }
}

/// An iterator of its own, so that it can be copied.
#[derive(Clone)]
struct Messages<'a> {
    fields: Fields<'a>,
    id: u32,
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>>;

    fn next(&mut self) -> Option<Result<Message<'a>>> {
        loop {
            match self.fields.next()? {
                Ok(field) if field.id == self.id => return Some(field.message()),
                Ok(_) => {}
                Err(damage) => return Some(Err(damage)),
            }
        }
    }
}

/// The entries of a table.
fn entries<T>(message: Message<'_>, read: impl Fn(Message<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut entries = Vec::new();
    for entry in messages(message, table::ENTRIES) {
        let entry = entry?;
        if entries.len() == shape::MOST_SHAPES {
            return Err(Damage {
                what: "more donations than any program has",
                at: entry.at,
            });
        }
        entries.push(read(entry)?);
    }
    Ok(entries)
}

impl Alias {
    fn read(message: Message<'_>) -> Result<Alias> {
        let mut read = Alias::default();
        for field in message.fields() {
            let field = field?;
            match field.id {
                alias::OUTPUT_SHAPE_INDEX => place(&mut read.output_index, field, message.at)?,
                alias::PARAMETER_NUMBER => read.parameter = field.number()?,
                alias::PARAMETER_SHAPE_INDEX => {
                    place(&mut read.parameter_index, field, message.at)?
                }
                alias::KIND => read.kind = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }
}

impl Donor {
    fn read(message: Message<'_>) -> Result<Donor> {
        let mut read = Donor::default();
        for field in message.fields() {
            let field = field?;
            match field.id {
                donor::PARAMETER_NUMBER => read.parameter = field.number()?,
                donor::PARAMETER_SHAPE_INDEX => {
                    place(&mut read.parameter_index, field, message.at)?
                }
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Reads on at a place in a tuple.
fn place(index: &mut Few, field: wire::Field<'_>, at: usize) -> Result<()> {
    for number in field.numbers()? {
        if index.len() > shape::DEEPEST_TUPLE {
            let what = "a place too deep in a tuple";
            return Err(Damage { what, at });
        }
        index.push(number?);
    }
    Ok(())
}
