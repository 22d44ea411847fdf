//! One instruction of a module.

use super::field::{
    device_list, instruction, iota, mesh, mesh_axis, mesh_groups, metadata, replica_group,
    source_target,
};
use super::shape::MOST_SHAPES;
use super::wire::{Message, Result};

/// An instruction, with what is asked of every one. Its literal, its shape and the like aren't
/// looked at.
pub(crate) struct Instruction<'a> {
    message: Message<'a>,
    pub(crate) opcode: &'a str,
    pub(crate) id: i64,
    pub(crate) parameter_number: i64,
    /// Which of a tuple's parts a `get-tuple-element` takes.
    pub(crate) tuple_index: i64,
    /// The first computation that it runs.
    pub(crate) called: Option<i64>,
    /// 0 for none.
    pub(crate) channel_id: i64,
    pub(crate) is_host_transfer: bool,
    pub(crate) use_global_device_ids: bool,
    /// How many devices it speaks to, by the largest of its numbers.
    pub(crate) reach: usize,
    metadata: Option<Message<'a>>,
}

impl<'a> Instruction<'a> {
    pub(super) fn read(message: Message<'a>) -> Result<Instruction<'a>> {
        let mut read = Instruction {
            message,
            opcode: "",
            id: 0,
            parameter_number: 0,
            tuple_index: 0,
            called: None,
            channel_id: 0,
            is_host_transfer: false,
            use_global_device_ids: false,
            reach: 0,
            metadata: None,
        };
        for field in message.fields() {
            let field = field?;
            match field.id {
                instruction::OPCODE => read.opcode = field.text()?,
                instruction::METADATA => read.metadata = Some(field.message()?),
                instruction::PARAMETER_NUMBER => read.parameter_number = field.number()?,
                instruction::TUPLE_INDEX => read.tuple_index = field.number()?,
                instruction::CHANNEL_ID => read.channel_id = field.number()?,
                instruction::ID => read.id = field.number()?,
                instruction::CALLED_COMPUTATION_IDS if read.called.is_none() => {
                    read.called = field.numbers()?.next().transpose()?;
                }
                instruction::IS_HOST_TRANSFER => read.is_host_transfer = field.number()? != 0,
                instruction::USE_GLOBAL_DEVICE_IDS => {
                    read.use_global_device_ids = field.number()? != 0;
                }
                instruction::REPLICA_GROUPS => read.reaches(group(field.message()?)?),
                instruction::SOURCE_TARGET_PAIRS => read.reaches(pair(field.message()?)?),
                instruction::COLLECTIVE_DEVICE_LIST => read.reaches(listed(field.message()?)?),
                instruction::IOTA_GROUPS => read.reaches(counted(field.message()?)?),
                instruction::MESH_GROUPS => read.reaches(meshed(field.message()?)?),
                _ => {}
            }
        }
        Ok(read)
    }

    /// How many bytes lie before it in the file, and how many it has.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.message.at, self.message.bytes.len())
    }

    /// The instruction that gives its operand of this index.
    pub(crate) fn operand(&self, index: usize) -> Option<i64> {
        let mut passed = 0;
        for field in self.message.fields() {
            let field = field.ok()?;
            if field.id == instruction::OPERAND_IDS {
                for operand in field.numbers().ok()? {
                    if passed == index {
                        return operand.ok();
                    }
                    passed += 1;
                }
            }
        }
        None
    }

    /// The instructions that give its operands; `None` where they are more than any program
    /// has results.
    pub(crate) fn operands(&self) -> Option<Vec<i64>> {
        let mut operands = Vec::new();
        for field in self.message.fields() {
            let field = field.ok()?;
            if field.id == instruction::OPERAND_IDS {
                for operand in field.numbers().ok()? {
                    if operands.len() == MOST_SHAPES {
                        return None;
                    }
                    operands.push(operand.ok()?);
                }
            }
        }
        Some(operands)
    }

    /// The name in its metadata; empty for none. JAX names a parameter by its path in the
    /// Python tree.
    pub(super) fn op_name(&self) -> Result<&'a str> {
        let mut name = "";
        for field in self.metadata.into_iter().flat_map(Message::fields) {
            let field = field?;
            if field.id == metadata::OP_NAME {
                name = field.text()?;
            }
        }
        Ok(name)
    }

    fn reaches(&mut self, count: usize) {
        self.reach = count.max(self.reach);
    }
}

/// How many there are when `id` is the last.
fn up_to(id: i64) -> usize {
    usize::try_from(id).map_or(0, |id| id.saturating_add(1))
}

fn group(message: Message<'_>) -> Result<usize> {
    let mut most = 0;
    for field in message.fields() {
        let field = field?;
        if field.id == replica_group::REPLICA_IDS {
            for id in field.numbers()? {
                most = up_to(id?).max(most);
            }
        }
    }
    Ok(most)
}

fn pair(message: Message<'_>) -> Result<usize> {
    // A number that isn't there is 0.
    let mut most = 1;
    for field in message.fields() {
        let field = field?;
        if matches!(field.id, source_target::SOURCE | source_target::TARGET) {
            most = up_to(field.number()?).max(most);
        }
    }
    Ok(most)
}

fn listed(message: Message<'_>) -> Result<usize> {
    let mut most = 0;
    for field in message.fields() {
        let field = field?;
        let count = match field.id {
            device_list::REPLICA_GROUPS => group(field.message()?)?,
            device_list::IOTA => counted(field.message()?)?,
            _ => 0,
        };
        most = count.max(most);
    }
    Ok(most)
}

fn counted(message: Message<'_>) -> Result<usize> {
    let (mut groups, mut devices) = (0i64, 0i64);
    for field in message.fields() {
        let field = field?;
        match field.id {
            iota::GROUPS => groups = field.number()?,
            iota::DEVICES_IN_A_GROUP => devices = field.number()?,
            _ => {}
        }
    }
    Ok(usize::try_from(groups.saturating_mul(devices)).unwrap_or(0))
}

fn meshed(message: Message<'_>) -> Result<usize> {
    let mut most = 0;
    for field in message.fields() {
        let field = field?;
        if field.id == mesh_groups::MESH {
            most = devices_of(field.message()?)?.max(most);
        }
    }
    Ok(most)
}

fn devices_of(message: Message<'_>) -> Result<usize> {
    let mut product = 1i64;
    for field in message.fields() {
        let field = field?;
        if field.id == mesh::AXES {
            let mut size = 0;
            for field in field.message()?.fields() {
                let field = field?;
                if field.id == mesh_axis::SIZE {
                    size = field.number()?;
                }
            }
            product = product.saturating_mul(size);
        }
    }
    Ok(usize::try_from(product).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::wire::write;
    use super::*;

    fn reach(id: u32, message: &[u8]) -> usize {
        let mut bytes = Vec::new();
        write::bytes(&mut bytes, id, message);
        let read = Instruction::read(Message::whole(&bytes));
        read.expect("whole").reach
    }

    fn message(fields: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (id, content) in fields {
            write::bytes(&mut out, *id, content);
        }
        out
    }

    fn numbers(fields: &[(u32, i64)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (id, value) in fields {
            write::number(&mut out, *id, *value);
        }
        out
    }

    #[test]
    fn every_way_to_list_groups() {
        let two_of_three = numbers(&[(1, 2), (2, 3)]);
        // Replica 3 is the last of a group, packed or not.
        assert_eq!(reach(49, &[0x0a, 2, 0, 3]), 4);
        assert_eq!(reach(49, &numbers(&[(1, 5), (1, 3)])), 6);
        assert_eq!(reach(52, &numbers(&[(1, 3), (2, 1)])), 4);
        assert_eq!(reach(52, &[]), 1);
        assert_eq!(reach(87, &message(&[(1, &[0x0a, 2, 0, 3])])), 4);
        assert_eq!(reach(87, &message(&[(2, &two_of_three)])), 6);
        assert_eq!(reach(92, &two_of_three), 6);
        let axes = [2, 4].map(|size| numbers(&[(2, size)]));
        let mesh = message(&[(1, &axes[0]), (1, &axes[1])]);
        assert_eq!(reach(93, &message(&[(1, &mesh)])), 8);
        // Numbers that no list has.
        assert_eq!(reach(92, &numbers(&[(1, -2), (2, 3)])), 0);
        assert_eq!(
            reach(92, &numbers(&[(1, i64::MAX), (2, 3)])),
            i64::MAX as usize
        );
        assert_eq!(reach(49, &numbers(&[(1, -1)])), 0);
    }

    #[test]
    fn operands_are_found_by_their_index() {
        // Packed two and two.
        let fields = message(&[(36, &[7, 8]), (2, b"add"), (36, &[9, 0x80, 1])]);
        let read = Instruction::read(Message::whole(&fields)).expect("whole");
        let operands: Vec<_> = (0..5).map(|index| read.operand(index)).collect();
        assert_eq!(operands, [Some(7), Some(8), Some(9), Some(128), None]);
        assert_eq!(read.opcode, "add");
    }
}
