//! A tree of arrays in a file.
//!
//! The file is in the safetensors format, which is simple: eight bytes with the length
//! of a header, the header in JSON, and the bytes of all tensors one after another,
//! little-endian. The header says for each name what lies where:
//!
//! ```json
//! {"state.params.dense.b": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]}}
//! ```

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{bail, Context, Result};
use serde_json::{json, Map, Value};
use xla::{ElementType, HostArray, HostTree, Shape, Tree};

/// Where the names begin: `state.params.dense.b`.
const ROOT: &str = "state";

/// Writes a file. Whoever reads it finds the old one or the new one, never half of one.
pub fn write<T: Tree>(path: &Path, state: &HostTree<'_, T>) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    let written = write_to(&unfinished, state).and_then(|()| Ok(fs::rename(&unfinished, path)?));
    written.with_context(|| format!("writing {}", path.display()))
}

fn write_to<T: Tree>(path: &Path, state: &HostTree<'_, T>) -> Result<()> {
    let mut header = Map::new();
    let mut start = 0;
    for (name, leaf) in state.named_leaves(ROOT) {
        // The machine's byte order is taken to be little-endian.
        let end = start + leaf.as_bytes().len();
        let entry = json!({
            "dtype": dtype(leaf.element_type())?,
            "shape": leaf.dims(),
            "data_offsets": [start, end],
        });
        header.insert(name, entry);
        start = end;
    }
    let header = Value::Object(header).to_string();
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    for leaf in state.leaves() {
        file.write_all(leaf.as_bytes())?;
    }
    file.into_inner()?.sync_all()?;
    Ok(())
}

/// Reads a file: each leaf by its name, whatever the order.
pub fn read<T: Tree>(path: &Path) -> Result<HostTree<'static, T>> {
    read_from(path).with_context(|| format!("reading {}", path.display()))
}

fn read_from<T: Tree>(path: &Path) -> Result<HostTree<'static, T>> {
    let file = fs::read(path)?;
    let (length, rest) = file.split_first_chunk().context("it has no header")?;
    let length = usize::try_from(u64::from_le_bytes(*length))?;
    let (header, data) = rest.split_at_checked(length).context("it is cut off")?;
    let header: Map<String, Value> = serde_json::from_slice(header)?;
    let mut leaves = Vec::new();
    for (name, entry) in header {
        let [start, end]: [usize; 2] = serde_json::from_value(entry["data_offsets"].clone())?;
        let dims: Vec<usize> = serde_json::from_value(entry["shape"].clone())?;
        let shape = Shape::new(element_type(&entry["dtype"])?, &dims)?;
        let bytes = data.get(start..end).context("it is cut off")?;
        leaves.push((name, HostArray::borrowed_bytes(bytes, shape)?));
    }
    Ok(HostTree::from_named_leaves(ROOT, leaves)?.into_owned())
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
