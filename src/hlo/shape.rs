//! What a module takes and gives.

use smallvec::SmallVec;

use super::field::{layout, program_shape, shape, tile};
use super::wire::{write, Damage, Message, Result};

/// A few numbers, such as dimensions.
pub(crate) type Few = SmallVec<[i64; 4]>;

/// `PrimitiveType` of a tuple.
pub(crate) const TUPLE: i32 = 13;

/// How many arrays and tuples a module may take and give. More is damage, of which each
/// further pair of bytes could be made to cost hundreds.
pub(super) const MOST_SHAPES: usize = 1 << 18;

/// How many numbers all of them may state.
const MOST_NUMBERS: usize = 1 << 22;

/// How deep tuples may stand in each other.
pub(super) const DEEPEST_TUPLE: usize = 64;

/// The shape of a parameter or result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HloShape {
    Array(HloArray),
    Tuple(Vec<HloShape>),
}

/// The shape of an array as it is stated, sense or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HloArray {
    /// Its `PrimitiveType`.
    pub(crate) element_type: i32,
    pub(crate) dimensions: Few,
    /// Whether a dimension is an upper bound only.
    pub(crate) is_dynamic: bool,
    pub(crate) layout: Option<HloLayout>,
}

/// How an array lies in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HloLayout {
    pub(crate) minor_to_major: Few,
    /// How the dimensions are cut into tiles, the outermost first; none on most devices.
    pub(crate) tiles: SmallVec<[Few; 1]>,
    /// 0 where elements are whole bytes, or unpacked.
    pub(crate) element_size_in_bits: i64,
    /// 0 is the device's own memory.
    pub(crate) memory_space: i64,
}

/// What the entry computation takes and gives (`ProgramShapeProto`).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProgramShape {
    pub(crate) parameters: Vec<HloShape>,
    pub(crate) result: Option<HloShape>,
}

impl ProgramShape {
    pub(super) fn read(message: Message<'_>) -> Result<ProgramShape> {
        let mut left = Left {
            shapes: MOST_SHAPES,
            numbers: MOST_NUMBERS,
        };
        let mut read = ProgramShape::default();
        for field in message.fields() {
            let field = field?;
            match field.id {
                program_shape::PARAMETERS => {
                    let shape = left.shape(field.message()?, 0)?;
                    read.parameters.push(shape);
                }
                program_shape::RESULT => read.result = Some(left.shape(field.message()?, 0)?),
                _ => {}
            }
        }
        Ok(read)
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for parameter in &self.parameters {
            write::bytes(&mut out, program_shape::PARAMETERS, &parameter.write());
        }
        if let Some(result) = &self.result {
            write::bytes(&mut out, program_shape::RESULT, &result.write());
        }
        out
    }
}

/// How much more may come.
struct Left {
    shapes: usize,
    numbers: usize,
}

impl Left {
    fn shape(&mut self, message: Message<'_>, depth: usize) -> Result<HloShape> {
        let damage = |what| Damage {
            what,
            at: message.at,
        };
        if depth > DEEPEST_TUPLE {
            return Err(damage("tuples that stand too deep in each other"));
        }
        let too_many = damage("more arrays than any program takes and gives");
        self.shapes = self.shapes.checked_sub(1).ok_or(too_many)?;
        let mut array = HloArray::default();
        let mut parts = Vec::new();
        for field in message.fields() {
            let field = field?;
            match field.id {
                shape::ELEMENT_TYPE => array.element_type = field.number()? as i32,
                shape::DIMENSIONS => {
                    self.numbers(field.numbers()?, message, &mut array.dimensions)?
                }
                shape::TUPLE_SHAPES => parts.push(self.shape(field.message()?, depth + 1)?),
                shape::LAYOUT => array.layout = Some(self.layout(field.message()?)?),
                shape::IS_DYNAMIC_DIMENSION => {
                    for dynamic in field.numbers()? {
                        array.is_dynamic |= dynamic? != 0;
                    }
                }
                _ => {}
            }
        }
        Ok(match array.element_type {
            TUPLE => HloShape::Tuple(parts),
            _ => HloShape::Array(array),
        })
    }

    fn layout(&mut self, message: Message<'_>) -> Result<HloLayout> {
        let mut read = HloLayout::default();
        for field in message.fields() {
            let field = field?;
            match field.id {
                layout::MINOR_TO_MAJOR => {
                    self.numbers(field.numbers()?, message, &mut read.minor_to_major)?;
                }
                layout::TILES => {
                    let message = field.message()?;
                    let mut dimensions = Few::new();
                    // A tile costs as much as some numbers.
                    self.numbers(std::iter::repeat_n(Ok(0), 8), message, &mut Few::new())?;
                    for field in message.fields() {
                        let field = field?;
                        if field.id == tile::DIMENSIONS {
                            self.numbers(field.numbers()?, message, &mut dimensions)?;
                        }
                    }
                    read.tiles.push(dimensions);
                }
                layout::ELEMENT_SIZE_IN_BITS => read.element_size_in_bits = field.number()?,
                layout::MEMORY_SPACE => read.memory_space = field.number()?,
                _ => {}
            }
        }
        Ok(read)
    }

    fn numbers(
        &mut self,
        numbers: impl Iterator<Item = Result<i64>>,
        of: Message<'_>,
        list: &mut Few,
    ) -> Result<()> {
        for number in numbers {
            self.numbers = self.numbers.checked_sub(1).ok_or(Damage {
                what: "more dimensions than any program's arrays have",
                at: of.at,
            })?;
            list.push(number?);
        }
        Ok(())
    }
}

impl HloShape {
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            HloShape::Tuple(parts) => {
                write::number(&mut out, shape::ELEMENT_TYPE, TUPLE.into());
                for part in parts {
                    write::bytes(&mut out, shape::TUPLE_SHAPES, &part.write());
                }
            }
            HloShape::Array(array) => {
                write::number(&mut out, shape::ELEMENT_TYPE, array.element_type.into());
                write::numbers(&mut out, shape::DIMENSIONS, &array.dimensions);
                if let Some(layout) = &array.layout {
                    write::bytes(&mut out, shape::LAYOUT, &layout.write());
                }
                write::number(
                    &mut out,
                    shape::IS_DYNAMIC_DIMENSION,
                    array.is_dynamic.into(),
                );
            }
        }
        out
    }
}

impl HloLayout {
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write::numbers(&mut out, layout::MINOR_TO_MAJOR, &self.minor_to_major);
        for dimensions in &self.tiles {
            let mut cut = Vec::new();
            write::numbers(&mut cut, tile::DIMENSIONS, dimensions);
            write::bytes(&mut out, layout::TILES, &cut);
        }
        write::number(
            &mut out,
            layout::ELEMENT_SIZE_IN_BITS,
            self.element_size_in_bits,
        );
        write::number(&mut out, layout::MEMORY_SPACE, self.memory_space);
        out
    }
}

/// An array of a result: PJRT gives arrays, HLO has tuples.
pub(crate) struct Leaf<'a> {
    /// Its place in the tuple.
    pub(crate) index: Few,
    pub(crate) array: &'a HloArray,
}

impl HloShape {
    /// The arrays in it, in order.
    pub(crate) fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut all = Vec::new();
        self.walk(&mut Few::new(), &mut all);
        all
    }

    fn walk<'a>(&'a self, index: &mut Few, all: &mut Vec<Leaf<'a>>) {
        match self {
            HloShape::Array(array) => all.push(Leaf {
                index: index.clone(),
                array,
            }),
            HloShape::Tuple(parts) => {
                for (position, part) in parts.iter().enumerate() {
                    index.push(position as i64);
                    part.walk(index, all);
                    index.pop();
                }
            }
        }
    }
}
