//! The shape of what is uploaded.

use std::sync::Arc;

use pjrt_sys::PJRT_Buffer;

use crate::client::Session;
use crate::device_shape::DeviceShape;
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::pjrt::buffer::Place;
use crate::pjrt::Owned;
use crate::shape::{Layout, Shape};
use crate::upload::{check_known, usual_shape_of};

/// The shape of what is to be uploaded in the plugin's usual layout, which is known where one like
/// it was uploaded before: nothing need be counted or checked again then.
pub(crate) enum UploadShape {
    Known(Arc<DeviceShape>),
    New(Shape),
}

impl UploadShape {
    /// Of values of a Rust type, as many as `len`.
    #[inline]
    pub(crate) fn of<T: Element>(
        dims: &[usize],
        len: usize,
        session: &Session,
        at: Place,
    ) -> Result<UploadShape> {
        let shape = match session.shapes.remembered(T::TYPE, dims, at) {
            Some(form) => UploadShape::Known(form),
            None => UploadShape::new(T::TYPE, dims, session)?,
        };
        shape.shape().check_elements(T::TYPE, len)?;
        Ok(shape)
    }

    /// Of a shape that there is.
    pub(crate) fn like(shape: &Shape, session: &Session, at: Place) -> Result<UploadShape> {
        let (element_type, dims) = (shape.element_type(), shape.dims());
        match session.shapes.remembered(element_type, dims, at) {
            Some(form) => Ok(UploadShape::Known(form)),
            None => UploadShape::new(element_type, dims, session),
        }
    }

    #[cold]
    fn new(element_type: ElementType, dims: &[usize], session: &Session) -> Result<UploadShape> {
        let shape = Shape::new(element_type, dims)?;
        check_known(session, element_type)?;
        Ok(UploadShape::New(shape))
    }

    pub(crate) fn shape(&self) -> &Shape {
        match self {
            UploadShape::Known(form) => &form.shape,
            UploadShape::New(shape) => shape,
        }
    }

    /// With the order that a buffer of it has at the place.
    #[inline]
    pub(crate) fn form(self, raw: &Owned<PJRT_Buffer>, at: Place) -> Result<Arc<DeviceShape>> {
        match self {
            UploadShape::Known(form) => Ok(form),
            UploadShape::New(shape) => usual_shape_of(raw, &shape, at),
        }
    }

    /// As [`form`](Self::form), of a buffer that exists whatever the plugin says of it: row-major
    /// as the memory that it was made of, if nothing is said.
    #[inline]
    pub(crate) fn form_as_shared(self, raw: &Owned<PJRT_Buffer>, at: Place) -> Arc<DeviceShape> {
        match self {
            UploadShape::Known(form) => form,
            UploadShape::New(shape) => usual_shape_of(raw, &shape, at).unwrap_or_else(|_| {
                let layout = Layout::row_major(shape.rank());
                let table = &raw.session().shapes;
                table.intern(DeviceShape::new(shape, &layout))
            }),
        }
    }
}
