//! Making the buffers of an upload in chunks.

use std::sync::Arc;

use super::covered::Covered;
use super::{ChunkedUpload, Leaf};
use crate::buffer::Buffer;
use crate::client::Session;
use crate::element::ElementType;
use crate::error::{Code, Error, Result};
use crate::memory::Place;
use crate::pjrt::buffer;
use crate::pjrt::transfer::{At, Transfer};
use crate::shape::Shape;
use crate::tree::Structure;
use crate::upload;

/// Makes the buffers and the upload that fills them.
pub(super) fn make(
    place: &Place,
    shapes: &[Shape],
    structure: Structure,
) -> Result<(ChunkedUpload, Vec<Buffer>)> {
    let session = place.session();
    let (at, device) = place.resolve()?;
    let memory = memory_of(session, at)?;
    for (index, shape) in shapes.iter().enumerate() {
        let outcome = check_shape(session, shape);
        outcome.map_err(|error| error.context(structure.describe_leaf(index)))?;
    }
    let raw_shapes: Vec<_> = shapes
        .iter()
        .map(|shape| (shape.element_type(), shape.raw_dims()))
        .collect();
    let leaves = shapes.iter().map(|shape| Leaf {
        shape: shape.clone(),
        sent: Covered::new(shape.byte_size()),
        done: Arc::default(),
        broken: None,
        lost: false,
    });
    let upload = ChunkedUpload {
        transfer: Transfer::create(session, &raw_shapes, memory)
            .map_err(|error| error.context(format!("making buffers at {place:?}")))?,
        leaves: leaves.collect(),
        structure,
    };
    let mut buffers = Vec::with_capacity(shapes.len());
    for (index, shape) in shapes.iter().enumerate() {
        let buffer = start(&upload.transfer, index, shape, device);
        buffers.push(buffer.map_err(|error| upload.at(index, error))?);
    }
    Ok((upload, buffers))
}

/// Takes a buffer out of a transfer, if chunks can be put into it.
fn start(transfer: &Transfer, index: usize, shape: &Shape, device: usize) -> Result<Buffer> {
    let raw = transfer.retrieve(index)?;
    let form = upload::device_shape_of(&raw, shape)?;
    let size = transfer.buffer_size(index)?;
    // Chunks are copied as they are, into where they lie on the device (fact 53).
    if size != shape.byte_size() || !form.layout().is_row_major() {
        return Err(Error::new(
            Code::Unimplemented,
            format!(
                "the device keeps {form} in {size} bytes, so it can't be filled with row-major \
                 chunks of its {}; upload it whole",
                shape.byte_size()
            ),
        ));
    }
    if size == 0 {
        // Nothing will be sent, and only a last chunk makes it ready.
        let at = At {
            buffer: index,
            offset: 0,
            last: true,
        };
        let sent = transfer.send_borrowed(at, &[]);
        sent.map_err(|refused| refused.error)??;
    }
    Ok(Buffer::from_raw(raw, form, device))
}

fn check_shape(session: &Arc<Session>, shape: &Shape) -> Result<()> {
    let element_type = shape.element_type();
    upload::check_known(session, element_type)?;
    match element_type {
        ElementType::Token => Err(Error::invalid("a token can't be made from host memory")),
        narrow if narrow.bits() < 8 => Err(Error::new(
            Code::Unimplemented,
            format!("{shape} may take less than a byte an element on the device; upload it whole"),
        )),
        _ => Ok(()),
    }
}

/// The memory of a place, which this function of the API wants by name.
fn memory_of(session: &Session, at: buffer::Place) -> Result<usize> {
    match at {
        buffer::Place::Memory(memory) => Ok(memory),
        buffer::Place::Device(device) => session.devices[device].default_memory.ok_or_else(|| {
            Error::new(
                Code::Unimplemented,
                "the plugin doesn't say which memory of the device is the usual one; name one",
            )
        }),
    }
}
