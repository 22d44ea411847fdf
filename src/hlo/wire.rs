//! The wire format of protobuf, read in place: a message is a slice of the file, and its
//! fields are looked at one after the other. Nothing is copied or allocated, whatever lengths
//! the bytes state.

use std::fmt;

/// What is wrong with some bytes, and where in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Damage>;

/// How deep groups may stand in each other. XLA's messages have none; old ones of others may.
const DEEPEST_GROUP: usize = 32;

/// A message, or other bytes, and where in the file they begin.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Message<'a> {
    /// A file.
    pub(crate) fn whole(bytes: &'a [u8]) -> Message<'a> {
        Message { bytes, at: 0 }
    }

    /// The fields in the order in which they stand. Behind damage there are none.
    pub(crate) fn fields(self) -> Fields<'a> {
        Fields { rest: self }
    }
}

/// A field of a message.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) id: u32,
    value: Value<'a>,
    /// Where its key stands.
    at: usize,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Varint(u64),
    Bytes(Message<'a>),
    /// A float, or a group: nothing of them is read.
    Other,
}

impl<'a> Field<'a> {
    fn damage(&self, what: &'static str) -> Damage {
        Damage { what, at: self.at }
    }

    /// A number, a truth value, or one of an enum.
    pub(crate) fn number(&self) -> Result<i64> {
        match self.value {
            Value::Varint(number) => Ok(number as i64),
            _ => Err(self.damage("no number where one belongs")),
        }
    }

    /// A message, or bytes.
    pub(crate) fn message(&self) -> Result<Message<'a>> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(self.damage("no message where one belongs")),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str> {
        let bytes = self.message()?.bytes;
        std::str::from_utf8(bytes).map_err(|_| self.damage("a text that is no UTF-8"))
    }

    /// One number of a list, or several that are packed.
    pub(crate) fn numbers(&self) -> Result<Numbers<'a>> {
        match self.value {
            Value::Varint(number) => Ok(Numbers {
                first: Some(number as i64),
                packed: Message { bytes: &[], at: 0 },
            }),
            Value::Bytes(packed) => Ok(Numbers {
                first: None,
                packed,
            }),
            Value::Other => Err(self.damage("no numbers where some belong")),
        }
    }
}

/// The fields of a message.
#[derive(Clone)]
pub(crate) struct Fields<'a> {
    rest: Message<'a>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Result<Field<'a>>> {
        if self.rest.bytes.is_empty() {
            return None;
        }
        let field = self.rest.field();
        if field.is_err() {
            self.rest.bytes = &[];
        }
        Some(field)
    }
}

/// Numbers of a list.
pub(crate) struct Numbers<'a> {
    first: Option<i64>,
    packed: Message<'a>,
}

impl Iterator for Numbers<'_> {
    type Item = Result<i64>;

    fn next(&mut self) -> Option<Result<i64>> {
        if let Some(number) = self.first.take() {
            return Some(Ok(number));
        }
        if self.packed.bytes.is_empty() {
            return None;
        }
        let number = self.packed.varint();
        if number.is_err() {
            self.packed.bytes = &[];
        }
        Some(number.map(|number| number as i64))
    }
}

/// Reading from the front.
impl<'a> Message<'a> {
    fn damage(&self, what: &'static str) -> Damage {
        Damage { what, at: self.at }
    }

    fn take(&mut self, length: usize) -> Option<Message<'a>> {
        let (bytes, rest) = self.bytes.split_at_checked(length)?;
        let taken = Message { bytes, at: self.at };
        self.bytes = rest;
        self.at += length;
        Some(taken)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for (index, byte) in self.bytes.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit.
            if index == 9 && bits > 1 {
                break;
            }
            number |= bits << (7 * index);
            if byte & 0x80 == 0 {
                self.take(index + 1);
                return Ok(number);
            }
        }
        Err(self.damage(if self.bytes.len() < 10 {
            "a number that isn't all there"
        } else {
            "a number of more than 64 bits"
        }))
    }

    fn field(&mut self) -> Result<Field<'a>> {
        let at = self.at;
        let (id, wire_type) = self.key()?;
        let value = match wire_type {
            START_GROUP => {
                self.skip_group(id, at)?;
                Value::Other
            }
            END_GROUP => {
                return Err(Damage {
                    what: "the end of a group that doesn't begin",
                    at,
                })
            }
            _ => self.value(wire_type, at)?,
        };
        Ok(Field { id, value, at })
    }

    fn key(&mut self) -> Result<(u32, u8)> {
        let at = self.at;
        let key = self.varint()?;
        let id = u32::try_from(key).map_or(0, |key| key >> 3);
        if id == 0 {
            return Err(Damage {
                what: "a field with a number that fields don't have",
                at,
            });
        }
        Ok((id, (key & 7) as u8))
    }

    /// What isn't a group.
    fn value(&mut self, wire_type: u8, at: usize) -> Result<Value<'a>> {
        let short = Damage {
            what: "a field that isn't all there",
            at,
        };
        Ok(match wire_type {
            VARINT => Value::Varint(self.varint()?),
            FIXED_64 => self.take(8).map(|_| Value::Other).ok_or(short)?,
            FIXED_32 => self.take(4).map(|_| Value::Other).ok_or(short)?,
            LENGTH => {
                let length = usize::try_from(self.varint()?).map_err(|_| short)?;
                Value::Bytes(self.take(length).ok_or(Damage {
                    what: "a field that is longer than what is there",
                    at,
                })?)
            }
            _ => {
                return Err(Damage {
                    what: "a field of a kind that there isn't",
                    at,
                })
            }
        })
    }

    /// Passes over a group whose key was read.
    fn skip_group(&mut self, id: u32, at: usize) -> Result<()> {
        let mut open = [0; DEEPEST_GROUP];
        open[0] = id;
        let mut depth = 1;
        while depth > 0 {
            if self.bytes.is_empty() {
                return Err(Damage {
                    what: "a group without an end",
                    at,
                });
            }
            let at = self.at;
            match self.key()? {
                (id, START_GROUP) => {
                    let Some(place) = open.get_mut(depth) else {
                        return Err(Damage {
                            what: "groups that stand too deep in each other",
                            at,
                        });
                    };
                    *place = id;
                    depth += 1;
                }
                (id, END_GROUP) => {
                    depth -= 1;
                    if open[depth] != id {
                        return Err(Damage {
                            what: "the end of another group than the one that is open",
                            at,
                        });
                    }
                }
                (_, wire_type) => {
                    self.value(wire_type, at)?;
                }
            }
        }
        Ok(())
    }
}

const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
const LENGTH: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED_32: u8 = 5;

/// Writing, for what is kept of a module.
pub(crate) mod write {
    use super::{LENGTH, VARINT};

    fn varint(out: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    /// A number; 0 is what isn't there.
    pub(crate) fn number(out: &mut Vec<u8>, id: u32, number: i64) {
        if number != 0 {
            varint(out, u64::from(id << 3 | u32::from(VARINT)));
            varint(out, number as u64);
        }
    }

    /// A message, also an empty one.
    pub(crate) fn bytes(out: &mut Vec<u8>, id: u32, bytes: &[u8]) {
        varint(out, u64::from(id << 3 | u32::from(LENGTH)));
        varint(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }

    /// Text; what is empty isn't there.
    pub(crate) fn text(out: &mut Vec<u8>, id: u32, text: &str) {
        if !text.is_empty() {
            bytes(out, id, text.as_bytes());
        }
    }

    /// A list of numbers, packed; an empty one isn't there.
    pub(crate) fn numbers(out: &mut Vec<u8>, id: u32, numbers: &[i64]) {
        if numbers.is_empty() {
            return;
        }
        let mut packed = Vec::new();
        for number in numbers {
            varint(&mut packed, *number as u64);
        }
        bytes(out, id, &packed);
    }
}
