//! The numbers of replicas and partitions in MLIR bytecode.
//!
//! They are attributes of the module, which is the first operation. On the way there: a string
//! section, the names of dialects and operations, attributes and types by their sizes, and the
//! operations themselves. Nothing else is read, nothing is kept, and whatever isn't as expected
//! leaves the numbers open: the compiler has the last word.

use super::BYTECODE_MAGIC;

/// The versions of the format whose rules are known here.
const VERSIONS: std::ops::RangeInclusive<u64> = 1..=6;

/// How many attributes of the module are looked at, and how many dialects. Each costs a look
/// through a section.
const MOST_ATTRIBUTES: u64 = 16;
const MOST_DIALECTS: u64 = 256;

/// How long the sections are that are looked through so often: more isn't worth the time.
const MOST_BYTES: usize = 16 << 20;

/// What the module states; `None` for what it doesn't, or isn't read.
pub(super) fn replicas_and_partitions(code: &[u8]) -> (Option<usize>, Option<usize>) {
    let numbers = Bytecode::read(code).and_then(|bytecode| bytecode.numbers());
    numbers.unwrap_or_default()
}

/// What is left to be read.
#[derive(Clone, Copy)]
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    /// The zeros at the low end of the first byte say how many bytes follow it.
    fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros() as usize;
        let mut bytes = [0; 16];
        bytes[0] = first;
        bytes[1..=more].copy_from_slice(self.take(more)?);
        let bits = u128::from_le_bytes(bytes) >> (more + 1);
        // Eight zeros, and no bit that ends them.
        let bits = if more == 8 {
            u128::from_le_bytes(bytes) >> 8
        } else {
            bits
        };
        u64::try_from(bits).ok()
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// A section's id, and what is in it. `whole` is all of the file, by whose beginning
    /// sections are aligned.
    fn section(&mut self, whole: &[u8]) -> Option<(u8, &'a [u8])> {
        let id = self.byte()?;
        let length = self.size()?;
        if id & 0x80 != 0 {
            let alignment = self.size().filter(|alignment| *alignment > 0)?;
            let at = whole.len() - self.0.len();
            self.take(at.checked_next_multiple_of(alignment)? - at)?;
        }
        Some((id & 0x7f, self.take(length)?))
    }
}

/// The sections that are needed.
struct Bytecode<'a> {
    whole: &'a [u8],
    version: u64,
    strings: &'a [u8],
    dialects: &'a [u8],
    /// Attributes, then types.
    values: &'a [u8],
    /// How long each of them is.
    sizes: &'a [u8],
    operations: &'a [u8],
}

impl<'a> Bytecode<'a> {
    fn read(whole: &'a [u8]) -> Option<Bytecode<'a>> {
        let mut rest = Rest(whole.strip_prefix(BYTECODE_MAGIC)?);
        let version = rest.number().filter(|version| VERSIONS.contains(version))?;
        let producer = rest.0.iter().position(|byte| *byte == 0)?;
        rest.take(producer + 1)?;
        let mut sections = [None; 5];
        while !rest.0.is_empty() {
            let (id, content) = rest.section(whole)?;
            if let Some(section) = sections.get_mut(usize::from(id)) {
                *section = Some(content);
            }
        }
        let [strings, dialects, values, sizes, operations] = sections;
        let short = |section: Option<&'a [u8]>| section.filter(|it| it.len() <= MOST_BYTES);
        Some(Bytecode {
            whole,
            version,
            strings: short(strings)?,
            dialects: short(dialects)?,
            values: values?,
            sizes: short(sizes)?,
            operations: operations?,
        })
    }

    fn numbers(&self) -> Option<(Option<usize>, Option<usize>)> {
        let mut rest = Rest(self.operations);
        // A block of one operation, without arguments.
        if rest.number()? != 1 << 1 {
            return None;
        }
        if !self.is_module(rest.number()?)? {
            return None;
        }
        const HAS_ATTRIBUTES: u8 = 1;
        if rest.byte()? & HAS_ATTRIBUTES == 0 {
            return Some((None, None));
        }
        let _location = rest.number()?;
        self.attributes(rest.number()?)
    }

    /// Whether this is the number of `builtin.module`.
    fn is_module(&self, wanted: u64) -> Option<bool> {
        let mut rest = Rest(self.dialects);
        let count = rest.number().filter(|count| *count <= MOST_DIALECTS)?;
        let mut builtin = None;
        for dialect in 0..count {
            let name = rest.number()?;
            if name & 1 != 0 {
                // Its version.
                rest.section(self.whole)?;
            }
            if self.string(name >> 1)? == b"builtin" {
                builtin = Some(dialect);
            }
        }
        if self.version >= 4 {
            let _operations = rest.number()?;
        }
        let mut passed = 0;
        loop {
            let dialect = rest.number()?;
            for _ in 0..rest.number()? {
                let name = rest.number()?;
                let name = if self.version >= 5 { name >> 1 } else { name };
                if passed == wanted {
                    return Some(Some(dialect) == builtin && self.string(name)? == b"module");
                }
                passed += 1;
            }
        }
    }

    /// The two numbers in a dictionary.
    fn attributes(&self, dictionary: u64) -> Option<(Option<usize>, Option<usize>)> {
        const DICTIONARY: u64 = 1;
        let mut rest = self.value(dictionary, Kind::Attribute)?;
        if rest.number()? != DICTIONARY {
            return None;
        }
        let mut found = (None, None);
        for _ in 0..rest.number().filter(|count| *count <= MOST_ATTRIBUTES)? {
            let (name, value) = (rest.number()?, rest.number()?);
            match self.text(name)? {
                b"mhlo.num_replicas" => found.0 = self.integer(value),
                b"mhlo.num_partitions" => found.1 = self.integer(value),
                _ => {}
            }
        }
        Some(found)
    }

    /// What a text attribute says.
    fn text(&self, attribute: u64) -> Option<&'a [u8]> {
        const TEXT: u64 = 2;
        let mut rest = self.value(attribute, Kind::Attribute)?;
        if rest.number()? != TEXT {
            return None;
        }
        self.string(rest.number()?)
    }

    /// The number in an attribute that is a positive integer.
    fn integer(&self, attribute: u64) -> Option<usize> {
        const INTEGER: u64 = 8;
        let mut rest = self.value(attribute, Kind::Attribute)?;
        if rest.number()? != INTEGER {
            return None;
        }
        let width = self.width(rest.number()?)?;
        let number = match width {
            0..=8 => rest.byte()?.into(),
            // The sign is the lowest bit.
            9..=64 => rest.number().filter(|number| number & 1 == 0)? >> 1,
            _ => return None,
        };
        usize::try_from(number).ok().filter(|number| *number > 0)
    }

    /// The bits of an integer type.
    fn width(&self, of: u64) -> Option<u64> {
        const INTEGER: u64 = 0;
        let mut rest = self.value(of, Kind::Type)?;
        if rest.number()? != INTEGER {
            return None;
        }
        Some(rest.number()? >> 2)
    }

    /// An attribute or type by its number, in the encoding of the builtin dialect. (One of
    /// another dialect has other codes; none is asked for by a module's own attributes.)
    fn value(&self, wanted: u64, kind: Kind) -> Option<Rest<'a>> {
        let mut sizes = Rest(self.sizes);
        let (attributes, types) = (sizes.number()?, sizes.number()?);
        let (wanted, most) = match kind {
            Kind::Attribute => (wanted, attributes),
            Kind::Type => (
                wanted.checked_add(attributes)?,
                attributes.checked_add(types)?,
            ),
        };
        if wanted >= most {
            return None;
        }
        let (mut passed, mut at) = (0, 0usize);
        loop {
            let _dialect = sizes.number()?;
            for _ in 0..sizes.number()? {
                let size = sizes.size()?;
                let (size, is_custom) = (size >> 1, size & 1 != 0);
                if passed == wanted {
                    let value = self.values.get(at..)?.get(..size)?;
                    return is_custom.then_some(Rest(value));
                }
                at = at.checked_add(size)?;
                passed += 1;
            }
        }
    }

    /// A string by its number, without its NUL. Their lengths stand last to first.
    fn string(&self, wanted: u64) -> Option<&'a [u8]> {
        let mut rest = Rest(self.strings);
        let count = rest.number()?;
        let behind = count.checked_sub(wanted)?.checked_sub(1)?;
        let mut from_end = 0usize;
        let mut place = None;
        for passed in 0..count {
            let length = rest.size()?;
            from_end = from_end.checked_add(length)?;
            if passed == behind {
                place = Some((from_end, length));
            }
        }
        let (from_end, length) = place?;
        let start = rest.0.len().checked_sub(from_end)?;
        rest.0.get(start..)?.get(..length.checked_sub(1)?)
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Attribute,
    Type,
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[u8] = include_bytes!("../../examples/programs/modules/sgd_gspmd_4.stablehlo");

    #[test]
    fn numbers_are_read() {
        for (code, wanted) in [
            (
                &include_bytes!("../../examples/programs/add.bc")[..],
                (Some(1), Some(1)),
            ),
            (
                include_bytes!("../../examples/programs/add.stablehlo"),
                (Some(1), Some(1)),
            ),
            (OLD, (Some(1), Some(4))),
            (
                include_bytes!("../../examples/programs/modules/two_devices.bc"),
                (Some(1), Some(2)),
            ),
            (
                include_bytes!("../../examples/programs/modules/all_reduce_replicas_4.bc"),
                (Some(4), Some(1)),
            ),
            (
                include_bytes!("../../examples/programs/modules/unstated.bc"),
                (None, None),
            ),
            (b"ML\xefR\x0dStableHLO_v1.13.3\0rest", (None, None)),
            (b"ML\xefR", (None, None)),
            (b"", (None, None)),
        ] {
            assert_eq!(replicas_and_partitions(code), wanted);
        }
    }

    #[test]
    fn numbers_of_any_length() {
        for (bytes, wanted) in [
            (&[1][..], Some(0)),
            (&[0xff], Some(127)),
            (&[2, 2], Some(128)),
            (&[0xfe, 0xff], Some((1 << 14) - 1)),
            (&[4, 0, 1], Some(1 << 13)),
            (&[0x80, 0, 0, 0, 0, 0, 0, 1], Some(1 << 48)),
            (&[0, 1, 0, 0, 0, 0, 0, 0, 0x80], Some(1 << 63 | 1)),
            (&[0, 1, 0, 0, 0, 0, 0, 0], None),
            (&[2], None),
            (&[], None),
        ] {
            assert_eq!(Rest(bytes).number(), wanted, "{bytes:?}");
        }
    }

    /// Cut anywhere, and with any bit turned, it is read or left open, in no time.
    #[test]
    fn no_bytes_are_too_damaged() {
        let mut open = 0;
        for length in 0..OLD.len() {
            let cut = replicas_and_partitions(&OLD[..length]);
            open += usize::from(cut == (None, None));
        }
        assert!(open > OLD.len() / 2, "{open}");
        let mut damaged = OLD.to_vec();
        for bit in 0..OLD.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = replicas_and_partitions(&damaged);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
