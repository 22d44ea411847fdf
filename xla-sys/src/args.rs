use crate::{PJRT_Api, PJRT_Error, PJRT_Extension_Base, PJRT_Extension_Type};
use core::marker::PhantomData;

/// The API's major version that this crate is written for.
pub const API_MAJOR: i32 = 0;
/// The API's newest minor version that this crate knows.
pub const API_MINOR: i32 = 114;

/// The one function that a plugin exports, under the name `GetPjrtApi`.
pub type GetPjrtApi = unsafe extern "C" fn() -> *const PJRT_Api;

/// A struct that tells its own size first.
///
/// # Safety
/// The struct is `repr(C)`, starts with a `usize` named `struct_size`, and all-zero bytes are a
/// valid value of it.
pub unsafe trait Args: Copy {
    /// The C name.
    const NAME: &'static str;
    /// The size to announce: where the last field ends, without the padding behind it.
    const STRUCT_SIZE: usize;

    /// A value with every byte zero but `struct_size`, which is set.
    #[inline]
    fn zeroed() -> Self {
        // SAFETY: all-zero bytes are a valid value, by the contract of the trait.
        let mut args: Self = unsafe { core::mem::zeroed() };
        // SAFETY: the struct starts with a usize, by the contract of the trait.
        unsafe { (&raw mut args).cast::<usize>().write(Self::STRUCT_SIZE) };
        args
    }
}

/// A struct of the list of extensions that hangs off the table.
///
/// # Safety
/// The struct is `repr(C)` and starts with a `PJRT_Extension_Base`.
pub unsafe trait Extension: Copy {
    /// The C name.
    const NAME: &'static str;
    /// The kind that marks it in the list.
    const TYPE: PJRT_Extension_Type;
    /// The size that it has here: where the last field ends. A plugin's may be smaller or larger.
    const STRUCT_SIZE: usize;
    /// The head to look at before anything else.
    fn base(&self) -> &PJRT_Extension_Base {
        // SAFETY: the struct starts with its base, by the contract of the trait.
        unsafe { &*(&raw const *self).cast() }
    }
}

/// A slot of the table, for a function that takes `A` and returns an error or null.
pub struct Entry<A> {
    /// The C name.
    pub name: &'static str,
    /// Where in [`PJRT_Api`] it lies.
    pub offset: usize,
    /// The API minor that has it at the latest; 54 means "0.54 or older".
    pub since: u32,
    _args: PhantomData<fn(*mut A)>,
}

/// A slot of the table, for a function that takes `A` and returns nothing.
pub struct VoidEntry<A> {
    /// The C name.
    pub name: &'static str,
    /// Where in [`PJRT_Api`] it lies.
    pub offset: usize,
    /// The API minor that has it at the latest; 54 means "0.54 or older".
    pub since: u32,
    _args: PhantomData<fn(*mut A)>,
}

macro_rules! slot {
    ($entry:ident, $function:ty) => {
        impl<A> Clone for $entry<A> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<A> Copy for $entry<A> {}

        impl<A> $entry<A> {
            pub(crate) const fn new(name: &'static str, offset: usize, since: u32) -> Self {
                Self {
                    name,
                    offset,
                    since,
                    _args: PhantomData,
                }
            }

            /// The function in a plugin's table; nothing if the table ends before the slot, or if
            /// the slot is null.
            ///
            /// # Safety
            /// `api` points to the table of a plugin, as long as its `struct_size` says.
            #[inline]
            pub unsafe fn of(self, api: *const PJRT_Api) -> Option<$function> {
                // SAFETY: every table begins with its size.
                let size = unsafe { (&raw const (*api).struct_size).read() };
                if size < self.offset + size_of::<$function>() {
                    return None;
                }
                // SAFETY: the slot lies inside the table, and holds a function of this type or null.
                unsafe { api.byte_add(self.offset).cast::<Option<$function>>().read() }
            }
        }
    };
}
slot!(Entry, unsafe extern "C" fn(*mut A) -> *mut PJRT_Error);
slot!(VoidEntry, unsafe extern "C" fn(*mut A));
