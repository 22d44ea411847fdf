//! The protobuf messages that go in and out: a compiled module is written, compile options are read.

use crate::form::Form;
use crate::program::{Donation, Program};

/// A message being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, field: u64, value: i64) -> Message {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value as u64);
        }
        self
    }

    fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    fn message(self, field: u64, message: Message) -> Message {
        self.bytes(field, message.0)
    }

    fn messages(self, field: u64, messages: impl IntoIterator<Item = Message>) -> Message {
        messages
            .into_iter()
            .fold(self, |whole, each| whole.message(field, each))
    }

    /// A packed list.
    fn ints(self, field: u64, values: &[i64]) -> Message {
        if values.is_empty() {
            return self;
        }
        let mut list = Message::default();
        values.iter().for_each(|value| list.varint(*value as u64));
        self.message(field, list)
    }
}

const TUPLE: i64 = 13;
const ENTRY: i64 = 7;

fn shape(form: &Form) -> Message {
    let layout = Message::default().ints(1, &form.minor_to_major);
    Message::default()
        .int(2, form.element.hlo)
        .ints(3, &form.dims)
        .message(5, layout)
}

fn tuple<'a>(forms: impl IntoIterator<Item = &'a Form>) -> Message {
    Message::default()
        .int(2, TUPLE)
        .messages(4, forms.into_iter().map(shape))
}

/// The program as a compiled module, in the program's format.
pub(crate) fn module(program: &Program) -> Vec<u8> {
    let inputs = || program.inputs.iter().map(|input| &input.form);
    let parameters = if program.tupled {
        vec![tuple(inputs())]
    } else {
        inputs().map(shape).collect()
    };
    let result = match &program.outputs[..] {
        [only] => shape(&only.form),
        several => tuple(several.iter().map(|output| &output.form)),
    };
    // Where an input or output is found among the parameters and in the result.
    let parameter = |index: usize| match program.tupled {
        true => (0, vec![index as i64]),
        false => (index as i64, Vec::new()),
    };
    let output = |index: usize| match program.outputs.len() {
        1 => Vec::new(),
        _ => vec![index as i64],
    };
    let (mut aliases, mut donors) = (Message::default(), Message::default());
    for (index, input) in program.inputs.iter().enumerate() {
        let (number, inside) = parameter(index);
        let (into, kind) = match input.donation {
            Donation::No => continue,
            Donation::Donor => {
                let donor = Message::default().int(1, number).ints(2, &inside);
                donors = donors.message(1, donor);
                continue;
            }
            Donation::May(into) => (into, 1),
            Donation::Must(into) => (into, 2),
        };
        let alias = Message::default()
            .ints(1, &output(into))
            .int(2, number)
            .ints(3, &inside)
            .int(4, kind);
        aliases = aliases.message(1, alias);
    }
    let entry = Message::default()
        .bytes(1, "entry")
        .messages(2, instructions(program))
        .int(5, ENTRY);
    let module = Message::default()
        .bytes(1, &program.name)
        .bytes(2, "entry")
        .message(3, entry)
        .message(
            4,
            Message::default()
                .messages(1, parameters)
                .message(2, result),
        )
        .int(6, ENTRY)
        .message(8, aliases)
        .message(18, donors);
    match program.format {
        "hlo" => module.0,
        _ => Message::default().message(1, module).0,
    }
}

fn instructions(program: &Program) -> Vec<Message> {
    let mut instructions = Vec::new();
    let parameters = if program.tupled {
        &[]
    } else {
        &program.inputs[..]
    };
    for (number, input) in parameters.iter().enumerate() {
        let metadata = Message::default().bytes(2, input.name.as_deref().unwrap_or(""));
        instructions.push(
            Message::default()
                .bytes(1, format!("parameter.{number}"))
                .bytes(2, "parameter")
                .message(3, shape(&input.form))
                .message(7, metadata)
                .int(9, number as i64)
                .int(35, number as i64 + 1),
        );
    }
    if program.collective {
        instructions.push(
            Message::default()
                .bytes(1, "sum")
                .bytes(2, "all-reduce")
                .int(35, 1000),
        );
    }
    instructions
}

/// A field of a message that was read.
enum Field<'a> {
    Int(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message. Nothing if it's none.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Field<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let field = match key & 7 {
            0 => Field::Int(varint(&mut bytes)?),
            1 => Field::Bytes(take(&mut bytes, 8)?),
            2 => {
                let size = usize::try_from(varint(&mut bytes)?).ok()?;
                Field::Bytes(take(&mut bytes, size)?)
            }
            5 => Field::Bytes(take(&mut bytes, 4)?),
            _ => return None,
        };
        fields.push((key >> 3, field));
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// What the compile options say of devices.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileOptions {
    pub(crate) replicas: i64,
    pub(crate) partitions: i64,
    /// Device ids, replica by replica, each with its partitions; none if it's left open.
    pub(crate) devices: Option<Vec<i64>>,
}

impl CompileOptions {
    pub(crate) fn read(bytes: &[u8]) -> Option<CompileOptions> {
        let mut options = CompileOptions::default();
        for field in fields(bytes)? {
            let (3, Field::Bytes(build)) = field else {
                continue;
            };
            for field in fields(build)? {
                match field {
                    (4, Field::Int(replicas)) => options.replicas = replicas as i64,
                    (5, Field::Int(partitions)) => options.partitions = partitions as i64,
                    (9, Field::Bytes(assignment)) => {
                        options.devices = Some(device_assignment(assignment)?);
                    }
                    _ => {}
                }
            }
        }
        Some(options)
    }
}

fn device_assignment(bytes: &[u8]) -> Option<Vec<i64>> {
    // A list for each partition, with an id for each replica.
    let mut partitions: Vec<Vec<i64>> = Vec::new();
    for field in fields(bytes)? {
        let (3, Field::Bytes(partition)) = field else {
            continue;
        };
        let mut replicas = Vec::new();
        for field in fields(partition)? {
            match field {
                (1, Field::Int(id)) => replicas.push(id as i64),
                (1, Field::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        replicas.push(varint(&mut packed)? as i64);
                    }
                }
                _ => {}
            }
        }
        partitions.push(replicas);
    }
    let replicas = partitions.first().map_or(0, Vec::len);
    let ids = (0..replicas).flat_map(|replica| {
        partitions
            .iter()
            .map(move |partition| partition.get(replica).copied())
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_they_are_written() {
        let assignment = Message::default()
            .int(1, 2)
            .int(2, 1)
            .message(3, Message::default().ints(1, &[300, 0]));
        let build = Message::default()
            .int(1, -1)
            .int(4, 2)
            .int(5, 1)
            .message(9, assignment);
        let whole = Message::default().int(2, 1).message(3, build);
        let options = CompileOptions::read(&whole.0).expect("a message");
        assert_eq!((options.replicas, options.partitions), (2, 1));
        assert_eq!(options.devices, Some(vec![300, 0]));
        assert_eq!(CompileOptions::read(&whole.0[..whole.0.len() - 1]), None);
    }
}
