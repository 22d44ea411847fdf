//! What buffers look like, and how the model's integers become their elements.

use std::fmt;

use xla::{Buffer, Device, Element, ElementType, HostVec, Plain, Result, Scope};

/// An element type and dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Form {
    /// One of those that `with_type` knows.
    pub element: ElementType,
    /// The slowest varying first.
    pub dims: &'static [usize],
}

/// The forms that programs and buffers have, plain ones first. Four of them have 16 bytes: XLA
/// pairs donors and outputs by size.
pub const FORMS: [Form; 9] = [
    form(ElementType::F32, &[4]),
    form(ElementType::S32, &[2, 2]),
    form(ElementType::F32, &[]),
    form(ElementType::S32, &[8]),
    form(ElementType::S32, &[4]),
    form(ElementType::F64, &[2]),
    form(ElementType::S64, &[]),
    form(ElementType::F32, &[0, 3]),
    form(ElementType::F32, &[64, 64]),
];

const fn form(element: ElementType, dims: &'static [usize]) -> Form {
    Form { element, dims }
}

/// Does `$body` with `$T` standing for the Rust type of a form's elements.
macro_rules! with_type {
    ($form:expr, $T:ident => $body:expr) => {
        match $form.element {
            ElementType::F32 => {
                type $T = f32;
                $body
            }
            ElementType::F64 => {
                type $T = f64;
                $body
            }
            ElementType::S32 => {
                type $T = i32;
                $body
            }
            ElementType::S64 => {
                type $T = i64;
                $body
            }
            other => unreachable!("no form has {other}"),
        }
    };
}

/// An element that small integers become and that becomes an f64, both exactly.
trait Exact: Element + Plain {
    fn of(value: i64) -> Self;
    fn to_f64(self) -> f64;
}

macro_rules! exact {
    ($($T:ty)*) => {
        $(impl Exact for $T {
            fn of(value: i64) -> Self {
                value as $T
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        })*
    };
}

exact!(f32 f64 i32 i64);

/// A read under way: called, it waits for the values.
pub type Read = Box<dyn FnOnce() -> Result<Vec<f64>>>;

/// Host memory that can be borrowed as a buffer.
pub(crate) trait Memory {
    /// As [`Scope::borrow`].
    fn borrow<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        device: &Device,
        dims: &[usize],
    ) -> Result<&'scope Buffer>;
}

impl<T: Element + Plain> Memory for HostVec<T> {
    fn borrow<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        device: &Device,
        dims: &[usize],
    ) -> Result<&'scope Buffer> {
        scope.borrow(device, self, dims)
    }
}

/// A way of reading a buffer and waiting for its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// [`Buffer::to_host`]
    ToHost,
    /// [`Buffer::read_into`]
    Into,
    /// [`Buffer::to_bytes`]
    Bytes,
    /// [`Buffer::view`]
    View,
}

impl Form {
    /// How many elements there are.
    pub fn count(self) -> usize {
        self.dims.iter().product()
    }

    /// The size in bytes.
    pub fn size(self) -> usize {
        self.count() * self.element.host_size()
    }

    /// The element type as StableHLO spells it.
    pub fn stablehlo_element(self) -> &'static str {
        match self.element {
            ElementType::S32 => "i32",
            ElementType::S64 => "i64",
            other => other.name(),
        }
    }

    /// The type as StableHLO spells it.
    pub fn stablehlo(self) -> String {
        let dims: String = self.dims.iter().map(|dim| format!("{dim}x")).collect();
        format!("tensor<{dims}{}>", self.stablehlo_element())
    }

    /// A new buffer with these values; `shared` with the host memory that they're in, if the device
    /// can do that.
    ///
    /// # Errors
    /// As [`Buffer::from_host`].
    pub fn upload(self, device: &Device, values: &[i64], shared: bool) -> Result<Buffer> {
        with_type!(self, T => {
            let values: Vec<T> = values.iter().map(|value| T::of(*value)).collect();
            if shared {
                let owned = HostVec::from_slice(&values);
                return Buffer::from_host_vec(device, owned, self.dims).map_err(|failed| failed.error().clone());
            }
            Buffer::from_host(device, &values, self.dims)
        })
    }

    /// Host memory with these values.
    pub(crate) fn memory(self, values: &[i64]) -> Box<dyn Memory> {
        with_type!(self, T => {
            let values: Vec<T> = values.iter().map(|value| T::of(*value)).collect();
            Box::new(HostVec::from_slice(&values))
        })
    }

    /// The values of a buffer of this form.
    ///
    /// # Errors
    /// As [`Buffer::to_host`].
    pub fn read(self, buffer: &Buffer, way: Way) -> Result<Vec<f64>> {
        with_type!(self, T => {
            let values: Vec<T> = match way {
                Way::ToHost => buffer.to_host()?,
                Way::Into => {
                    let mut values = vec![T::of(-1); self.count()];
                    buffer.read_into(&mut values)?;
                    values
                }
                Way::Bytes => {
                    let bytes = buffer.to_bytes()?;
                    let bytes = bytes.chunks_exact(size_of::<T>());
                    bytes.map(|each| T::from_ne_bytes(each.try_into().expect("as long as a T"))).collect()
                }
                Way::View => buffer.view::<T>()?.to_vec(),
            };
            Ok(values.into_iter().map(T::to_f64).collect())
        })
    }

    /// Starts a read of a buffer of this form.
    ///
    /// # Errors
    /// As [`Buffer::to_host_async`].
    pub fn start_read(self, buffer: &Buffer) -> Result<Read> {
        with_type!(self, T => {
            let read = buffer.to_host_async::<T>()?;
            Ok(Box::new(move || Ok(read.wait()?.into_iter().map(T::to_f64).collect())))
        })
    }
}

/// As XLA writes it, `f32[2,2]`.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(usize::to_string).collect();
        write!(f, "{}[{}]", self.element, dims.join(","))
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
