//! From host memory to a device.

use std::sync::Arc;

use pjrt_sys::PJRT_Buffer;

use crate::buffer::Buffer;
use crate::client::Session;
use crate::device_shape::DeviceShape;
use crate::element::ElementType;
use crate::error::{Code, Error, Result};
use crate::memory::Place;
use crate::pjrt::aligned::{HostVec, LARGE_COPY};
use crate::pjrt::{buffer, shared, Owned};
use crate::shape::{Layout, Shape};
use crate::upload_shape::UploadShape;

/// What a plugin makes of host bytes when it is told a layout that is not row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutHabit {
    /// It takes them as row-major and puts them in order (0.115).
    Orders,
    /// It takes them as being in that order already (0.81, 0.106).
    Copies,
}

/// A buffer with the given row-major bytes, as many as `shape` takes, in the plugin's usual layout.
pub(crate) fn upload(
    session: Arc<Session>,
    (at, device): (buffer::Place, usize),
    bytes: &[u8],
    shape: UploadShape,
) -> Result<Buffer> {
    // On CPU a large copy is shared.
    let raw = match shared_copy(&session, bytes, shape.shape(), at) {
        Some(raw) => raw,
        None => raw_upload(session, bytes, shape.shape(), None, at)?,
    };
    let form = shape.form(&raw, at)?;
    Ok(Buffer::from_raw(raw, form, device))
}

/// As [`upload`], in this layout.
pub(crate) fn upload_in_layout(
    place: Place,
    bytes: &[u8],
    shape: &Shape,
    layout: &Layout,
) -> Result<Buffer> {
    let (at, device) = place.resolve()?;
    let session = place.into_session();
    check_known(&session, shape.element_type())?;
    let raw = if layout.orders_as_row_major(shape) {
        // What orders the elements as row-major is not worth the question below. On CPU it is the
        // usual layout, which need not be named: of types narrower than a byte those plugins take
        // none.
        match shared_copy(&session, bytes, shape, at) {
            Some(raw) => raw,
            None => {
                let on_cpu = session.platform_name() == "cpu";
                let named = Some(layout).filter(|_| !on_cpu);
                raw_upload(session, bytes, shape, named, at)?
            }
        }
    } else {
        let habit = session.layout_habit(at);
        let habit = habit.map_err(|error| while_copying(error, shape, &session, at))?;
        let ordered;
        let bytes = match habit {
            LayoutHabit::Orders => bytes,
            LayoutHabit::Copies => {
                ordered = layout.bytes_from_row_major(shape, bytes);
                &ordered
            }
        };
        raw_upload(session, bytes, shape, Some(layout), at)?
    };
    let form = device_shape_of(&raw, shape)?;
    Ok(Buffer::from_raw(raw, form, device))
}

#[cold]
pub(crate) fn while_copying(
    error: Error,
    shape: &Shape,
    session: &Arc<Session>,
    at: buffer::Place,
) -> Error {
    error.context(format!("copying {shape} to {:?}", Place::of(session, at)))
}

/// Refuses a type that is newer than the plugin's API.
pub(crate) fn check_known(session: &Session, element_type: ElementType) -> Result<()> {
    let (major, minor) = session.api.version();
    if minor >= element_type.since() {
        return Ok(());
    }
    Err(Error::new(
        Code::Unimplemented,
        format!(
            "this plugin (PJRT API {major}.{minor}) doesn't know the element type {element_type}; it \
             is in the API since 0.{} at the latest",
            element_type.since()
        ),
    ))
}

/// Refuses bytes that are not the elements of a shape.
pub(crate) fn check_bytes(bytes: &[u8], shape: &Shape) -> Result<()> {
    if bytes.len() != shape.byte_size() {
        return Err(Error::invalid(format!(
            "{shape} takes {} bytes, but {} were given",
            shape.byte_size(),
            bytes.len()
        )));
    }
    match shape.element_type() {
        ElementType::Token => Err(Error::invalid("a token can't be made from host memory")),
        element_type => check_pred(element_type, bytes),
    }
}

/// Refuses bytes of a `pred` that are no truth values.
pub(crate) fn check_pred(element_type: ElementType, bytes: &[u8]) -> Result<()> {
    if element_type != ElementType::Pred {
        return Ok(());
    }
    match bytes.iter().position(|byte| *byte > 1) {
        None => Ok(()),
        Some(index) => Err(Error::invalid(format!(
            "byte {index} of the pred buffer is {}, which is neither 0 nor 1",
            bytes[index]
        ))),
    }
}

/// A buffer in host memory of ours, to which the bytes are copied here. `None` where that is not
/// quicker, or not to be had. Plugins copy in the same way, to memory that isn't laid out for it
/// (fact 73).
fn shared_copy(
    session: &Arc<Session>,
    bytes: &[u8],
    shape: &Shape,
    at: buffer::Place,
) -> Option<Owned<PJRT_Buffer>> {
    let element_type = shape.element_type();
    // Narrower ones are packed by the plugin; in other memories than the usual it knows best.
    if bytes.len() < LARGE_COPY
        || session.platform_name() != "cpu"
        || element_type.bits() < 8
        || !matches!(at, buffer::Place::Device(_))
    {
        return None;
    }
    let copy = HostVec::try_from_slice(bytes)?;
    shared::from_owned(Arc::clone(session), copy, element_type, shape.dims(), at).ok()
}

fn raw_upload(
    session: Arc<Session>,
    bytes: &[u8],
    shape: &Shape,
    layout: Option<&Layout>,
    at: buffer::Place,
) -> Result<Owned<PJRT_Buffer>> {
    let order = layout.map(Layout::raw_minor_to_major);
    buffer::from_host(
        session,
        bytes,
        shape.element_type(),
        shape.dims(),
        order.as_deref(),
        at,
    )
    .map_err(|(error, session)| while_copying(error, shape, &session, at))
}

/// Sees what the plugin makes of a matrix whose columns are to lie one after another:
/// versions differ and none says.
pub(crate) fn probe_layout_habit(session: &Arc<Session>, at: buffer::Place) -> Result<LayoutHabit> {
    let shape = Shape::new(ElementType::U8, &[2, 2])?;
    let columns = Layout::new(&[0, 1])?;
    let matrix = raw_upload(
        Arc::clone(session),
        &[0, 1, 2, 3],
        &shape,
        Some(&columns),
        at,
    )?;
    let on_device = matrix.read::<u8>(4)?.finish()?;
    match *on_device {
        [0, 2, 1, 3] => Ok(LayoutHabit::Orders),
        [0, 1, 2, 3] => Ok(LayoutHabit::Copies),
        _ => Err(Error::new(
            Code::Unimplemented,
            format!(
                "the plugin can't upload in the layout {columns}: of the bytes 0, 1, 2, 3 it made \
                 {on_device:?}"
            ),
        )),
    }
}

/// The client's copy of a shape with the layout that a buffer has.
pub(crate) fn device_shape_of(raw: &Owned<PJRT_Buffer>, shape: &Shape) -> Result<Arc<DeviceShape>> {
    let layout = layout_of(raw, shape)?;
    let table = &raw.session().shapes;
    Ok(table.intern(DeviceShape::new(shape.clone(), &layout)))
}

/// As [`device_shape_of`], of a buffer for which the plugin was free to choose.
pub(crate) fn usual_shape_of(
    raw: &Owned<PJRT_Buffer>,
    shape: &Shape,
    at: buffer::Place,
) -> Result<Arc<DeviceShape>> {
    let table = &raw.session().shapes;
    table.usual(shape, at, || layout_of(raw, shape))
}

/// The layout as the plugin states it (`PJRT_Buffer_GetMemoryLayout`).
fn layout_of(raw: &Owned<PJRT_Buffer>, shape: &Shape) -> Result<Layout> {
    let rank = shape.rank();
    if rank < 2 {
        // There is but one order.
        return Ok(Layout::row_major(rank));
    }
    let layout = match raw.layout()? {
        buffer::RawLayout::MinorToMajor(order) => Layout::from_minor_to_major(&order, rank),
        buffer::RawLayout::Strides(strides) => {
            let mut order: Vec<i64> = (0..strides.len() as i64).collect();
            // Larger strides are more major; of equal ones (sizes of 1) the later
            // dimension is the more minor, as in row-major order.
            order.sort_by_key(|dim| (strides[*dim as usize], -*dim));
            Layout::from_minor_to_major(&order, rank)
        }
    };
    layout.ok_or_else(|| {
        Error::new(
            Code::Internal,
            format!("the plugin gives a layout that does not order the dimensions of {shape}"),
        )
    })
}
