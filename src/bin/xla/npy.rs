//! NumPy's `.npy` files: formats 1.0 to 3.0, C order, little-endian.

use std::fmt::Write;

use xla::{ElementType, HostArray, Shape};

/// What begins every file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Why a file can't be read, in a sentence.
type Refusal = String;

/// The element types that NumPy has, by its names.
const TYPES: [(&str, ElementType); 14] = [
    ("b1", ElementType::Pred),
    ("i1", ElementType::S8),
    ("i2", ElementType::S16),
    ("i4", ElementType::S32),
    ("i8", ElementType::S64),
    ("u1", ElementType::U8),
    ("u2", ElementType::U16),
    ("u4", ElementType::U32),
    ("u8", ElementType::U64),
    ("f2", ElementType::F16),
    ("f4", ElementType::F32),
    ("f8", ElementType::F64),
    ("c8", ElementType::C64),
    ("c16", ElementType::C128),
];

/// A file's head, and where its elements begin.
#[derive(Debug)]
pub(crate) struct Header {
    /// NumPy's name of the type without the byte order, such as `f4`.
    kind: String,
    dims: Vec<usize>,
    start: usize,
}

/// Whether a file begins as one of these does.
pub(crate) fn begins(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

impl Header {
    /// Reads the head of a file.
    pub(crate) fn read(file: &[u8]) -> Result<Header, Refusal> {
        let rest = file
            .strip_prefix(MAGIC)
            .ok_or("it is no .npy file: it doesn't begin with `\\x93NUMPY`")?;
        let cut = || "the file ends within its header".to_owned();
        let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let (length, start) = match major {
            1 => {
                let (length, _) = rest.split_first_chunk().ok_or_else(cut)?;
                (usize::from(u16::from_le_bytes(*length)), MAGIC.len() + 4)
            }
            2 | 3 => {
                let (length, _) = rest.split_first_chunk().ok_or_else(cut)?;
                (u32::from_le_bytes(*length) as usize, MAGIC.len() + 6)
            }
            _ => {
                return Err(format!(
                    "it is in format {major}.{minor}, and 1.0 to 3.0 are known"
                ))
            }
        };
        let end = start.checked_add(length).ok_or_else(cut)?;
        let head = file.get(start..end).ok_or_else(cut)?;
        let head = std::str::from_utf8(head).map_err(|_| "its header is no text")?;
        let (kind, dims) = Literal::new(head).header()?;
        Ok(Header {
            kind,
            dims,
            start: end,
        })
    }

    /// The dimensions.
    pub(crate) fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The elements as an array of `wanted`. With `as_bits`, 16-bit unsigned integers are
    /// taken for the bits of `bf16`, which NumPy doesn't have.
    pub(crate) fn array(
        &self,
        file: &[u8],
        wanted: ElementType,
        as_bits: bool,
    ) -> Result<HostArray<'static>, Refusal> {
        let kind = self.kind.as_str();
        let known = TYPES.iter().find(|(name, _)| *name == kind);
        let known = known.map(|(_, element_type)| *element_type);
        let bits_of_bf16 = wanted == ElementType::Bf16 && matches!(kind, "u2" | "V2");
        if bits_of_bf16 && !as_bits {
            return Err(format!(
                "it holds `{kind}`, and bf16 is wanted; if those are the bits of bf16, state the \
                 type, as in `bf16[...]=@FILE`"
            ));
        }
        if known != Some(wanted) && !bits_of_bf16 {
            let found = known.map_or("another type", ElementType::name);
            return Err(format!(
                "it holds `{kind}` ({found}), and {wanted} is wanted"
            ));
        }
        let shape = Shape::new(wanted, &self.dims).map_err(|error| error.message().to_owned())?;
        let data = file.get(self.start..).unwrap_or_default();
        if data.len() != shape.byte_size() {
            let what = match data.len() < shape.byte_size() {
                true => "it is cut off",
                false => "it goes on after its end",
            };
            return Err(format!(
                "{what}: {shape} takes {} bytes, and {} follow the header",
                shape.byte_size(),
                data.len()
            ));
        }
        let data = in_native_order(data, wanted);
        let array = HostArray::borrowed_bytes(&data, shape);
        let array = array.map_err(|error| error.message().to_owned())?;
        Ok(array.into_owned())
    }
}

/// Whether arrays of a type can be written, `bf16` as 16-bit integers where asked for.
pub(crate) fn can_hold(element_type: ElementType, bf16_as_bits: bool) -> bool {
    kind_of(element_type, bf16_as_bits).is_some()
}

fn kind_of(element_type: ElementType, bf16_as_bits: bool) -> Option<&'static str> {
    if element_type == ElementType::Bf16 && bf16_as_bits {
        return Some("u2");
    }
    let known = TYPES.iter().find(|(_, known)| *known == element_type);
    known.map(|(name, _)| *name)
}

/// A file of format 1.0, or 2.0 where the header is long. `None` where NumPy lacks the type.
pub(crate) fn write(array: &HostArray<'_>, bf16_as_bits: bool) -> Option<Vec<u8>> {
    let element_type = array.element_type();
    let kind = kind_of(element_type, bf16_as_bits)?;
    let order = if element_type.host_size() == 1 {
        '|'
    } else {
        '<'
    };
    let mut dims = String::new();
    for dim in array.dims() {
        // Writing to a String doesn't fail. A tuple of one has a comma too.
        let _ = write!(dims, "{dim}, ");
    }
    let dims = match array.dims() {
        [_] => dims.trim_end(),
        _ => dims.trim_end_matches(", "),
    };
    let mut head =
        format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({dims}), }}");
    // The elements begin at a multiple of 64.
    let fixed = if head.len() + 74 > 0xffff { 12 } else { 10 };
    while (fixed + head.len() + 1) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut file = MAGIC.to_vec();
    match fixed {
        10 => {
            file.extend([1, 0]);
            file.extend((head.len() as u16).to_le_bytes());
        }
        _ => {
            file.extend([2, 0]);
            file.extend((head.len() as u32).to_le_bytes());
        }
    }
    file.extend(head.as_bytes());
    file.extend(in_native_order(array.as_bytes(), element_type));
    Some(file)
}

/// Little-endian bytes in the machine's order, or the other way round.
fn in_native_order(data: &[u8], element_type: ElementType) -> Vec<u8> {
    let mut data = data.to_vec();
    if cfg!(target_endian = "big") {
        let parts = match element_type {
            ElementType::C64 | ElementType::C128 => 2,
            _ => 1,
        };
        let size = (element_type.host_size() / parts).max(1);
        data.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    data
}

/// The Python literal of a header, as it is read.
struct Literal<'a> {
    rest: &'a str,
}

impl<'a> Literal<'a> {
    fn new(rest: &'a str) -> Self {
        Literal { rest }
    }

    /// The type without its byte order, and the dimensions.
    fn header(mut self) -> Result<(String, Vec<usize>), Refusal> {
        let (mut kind, mut dims, mut in_rows) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let key = self.text()?;
            self.expect(':')?;
            match key {
                "descr" => kind = Some(self.kind()?),
                "fortran_order" => in_rows = Some(self.in_rows()?),
                "shape" => dims = Some(self.dims()?),
                _ => return Err(format!("its header has `{key}`, which is not known")),
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        match (kind, dims, in_rows) {
            (Some(kind), Some(dims), Some(())) => Ok((kind, dims)),
            _ => Err("its header lacks one of `descr`, `fortran_order` and `shape`".to_owned()),
        }
    }

    fn kind(&mut self) -> Result<String, Refusal> {
        if !self.rest.trim_start().starts_with(['\'', '"']) {
            return Err("its elements are records; save one plain array".to_owned());
        }
        let descr = self.text()?;
        let kind = descr.trim_start_matches(['<', '|', '=', '>']);
        let is_swapped = descr.starts_with('>') && !kind.ends_with('1');
        if is_swapped {
            return Err(format!(
                "it is big-endian (`{descr}`); save it with `array.astype('<{kind}')`"
            ));
        }
        if cfg!(target_endian = "big") && descr.starts_with('=') {
            return Err(format!("it is in the order of some machine (`{descr}`)"));
        }
        Ok(kind.to_owned())
    }

    fn in_rows(&mut self) -> Result<(), Refusal> {
        let rest = self.rest.trim_start();
        if let Some(rest) = rest.strip_prefix("False") {
            self.rest = rest;
            return Ok(());
        }
        if rest.starts_with("True") {
            return Err(
                "it is in Fortran order; save it with `numpy.ascontiguousarray(array)`".to_owned(),
            );
        }
        Err("its header says neither True nor False of `fortran_order`".to_owned())
    }

    fn dims(&mut self) -> Result<Vec<usize>, Refusal> {
        self.expect('(')?;
        let mut dims = Vec::new();
        while !self.take(')') {
            let rest = self.rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit());
            let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
            let dim = digits.parse();
            dims.push(dim.map_err(|_| "the shape in its header is no tuple of sizes".to_owned())?);
            // Python 2 wrote long integers so.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(dims)
    }

    fn text(&mut self) -> Result<&'a str, Refusal> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let text = quote.and_then(|quote| rest[1..].split_once(quote));
        let (text, rest) = text.ok_or("its header is no Python dictionary")?;
        self.rest = rest;
        Ok(text)
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(wanted);
        if let Some(rest) = rest {
            self.rest = rest;
        }
        rest.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), Refusal> {
        match self.take(wanted) {
            true => Ok(()),
            false => Err(format!(
                "its header is no Python dictionary: no `{wanted}` at `{}`",
                self.rest.trim_end()
            )),
        }
    }
}
