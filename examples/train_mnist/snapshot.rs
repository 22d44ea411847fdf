//! A model in host memory and in a file.
//!
//! The file is in the safetensors format, which is simple: eight bytes with the length
//! of a header, the header in JSON, and the bytes of all tensors one after another,
//! little-endian. The header says for each name what lies where:
//!
//! ```json
//! {"params.dense.b": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]}}
//! ```

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use serde_json::{json, Map, Value};
use xla::{ElementType, Shape};

/// Tensors with their names, in the order in which programs take them.
pub struct Snapshot(pub Vec<Tensor>);

/// A tensor in host memory.
pub struct Tensor {
    pub name: String,
    pub shape: Shape,
    /// Row-major, in the machine's byte order, which is taken to be little-endian.
    pub bytes: Vec<u8>,
}

impl Snapshot {
    /// Writes the file. Whoever reads it finds the old one or the new one, never half of one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let unfinished = path.with_extension("unfinished");
        let written = self
            .write_to(&unfinished)
            .and_then(|()| Ok(fs::rename(&unfinished, path)?));
        written.with_context(|| format!("writing {}", path.display()))
    }

    fn write_to(&self, path: &Path) -> Result<()> {
        let mut header = Map::new();
        let mut start = 0;
        for tensor in &self.0 {
            let end = start + tensor.bytes.len();
            let entry = json!({
                "dtype": dtype(tensor.shape.element_type())?,
                "shape": tensor.shape.dims(),
                "data_offsets": [start, end],
            });
            header.insert(tensor.name.clone(), entry);
            start = end;
        }
        let header = Value::Object(header).to_string();
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        for tensor in &self.0 {
            file.write_all(&tensor.bytes)?;
        }
        file.into_inner()?.sync_all()?;
        Ok(())
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Snapshot> {
        Snapshot::read_from(path).with_context(|| format!("reading {}", path.display()))
    }

    fn read_from(path: &Path) -> Result<Snapshot> {
        let file = fs::read(path)?;
        let (length, rest) = file.split_first_chunk().context("it has no header")?;
        let length = usize::try_from(u64::from_le_bytes(*length))?;
        let (header, data) = rest.split_at_checked(length).context("it is cut off")?;
        let header: Map<String, Value> = serde_json::from_slice(header)?;
        let mut placed = Vec::new();
        for (name, entry) in header {
            let [start, end]: [usize; 2] = serde_json::from_value(entry["data_offsets"].clone())?;
            let dims: Vec<usize> = serde_json::from_value(entry["shape"].clone())?;
            let shape = Shape::new(element_type(&entry["dtype"])?, &dims)?;
            let bytes = data.get(start..end).context("it is cut off")?.to_vec();
            ensure!(bytes.len() == shape.byte_size(), "{name} isn't {shape}");
            placed.push((start, Tensor { name, shape, bytes }));
        }
        // JSON knows no order, the places have one.
        placed.sort_by_key(|(start, _)| *start);
        Ok(Snapshot(
            placed.into_iter().map(|(_, tensor)| tensor).collect(),
        ))
    }
}

/// The element types that the model has, with their names in the format.
const DTYPES: [(ElementType, &str); 2] = [(ElementType::F32, "F32"), (ElementType::S32, "I32")];

fn dtype(element_type: ElementType) -> Result<&'static str> {
    match DTYPES.iter().find(|(known, _)| *known == element_type) {
        Some((_, name)) => Ok(name),
        None => bail!("no tensor was {element_type} before: add it here"),
    }
}

fn element_type(dtype: &Value) -> Result<ElementType> {
    match DTYPES.iter().find(|(_, name)| dtype == name) {
        Some((element_type, _)) => Ok(*element_type),
        None => bail!("it has a tensor of {dtype}"),
    }
}
