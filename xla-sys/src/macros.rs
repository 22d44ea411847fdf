//! The macros that every other file is written with. Each item that they declare also lands in
//! [`layout`](crate::layout), so that a layout can be proved, compared and printed.

/// The line of documentation that says which API minor brought something.
macro_rules! since {
    (54) => {
        ""
    };
    ($minor:literal) => {
        concat!("\n\nSince API 0.", stringify!($minor), " at the latest.")
    };
}

/// Declares C structs. The word before a name says how the struct begins:
///
/// * `args`: with `struct_size` and `extension_start`;
/// * `sized`: with `struct_size`;
/// * `extension`: with `base`, a `PJRT_Extension_Base`; the kind of the extension follows the minor;
/// * `plain`: with its own fields.
///
/// The number behind a name is the API minor that has the struct at the latest; fields that came
/// later carry theirs as `#[since = 68]`. `ends FIELD` is for the few structs whose official size
/// stops short of their last field.
macro_rules! structs {
    ($header:literal; $(
        $(#[doc = $doc:expr])*
        $kind:ident $name:ident ($since:tt $(, $($more:ident)+)?) { $($body:tt)* }
    )*) => {
        $(structs!(@$kind [$header $name $since $($($more)+)?] [$($doc),*] { $($body)* });)*
        pub(crate) const STRUCTS: &[crate::layout::Struct] = &[$($name::LAYOUT),*];
    };
    (@args $head:tt $doc:tt { $($body:tt)* }) => {
        structs!(@sized $head $doc {
            extension_start: *mut crate::PJRT_Extension_Base,
            $($body)*
        });
    };
    (@sized [$header:literal $name:ident $since:tt $($ends:ident)*] $doc:tt { $($body:tt)* }) => {
        structs!(@plain [$header $name $since $($ends)*] $doc { struct_size: usize, $($body)* });
        // SAFETY: the struct starts with `struct_size: usize`, and numbers, raw pointers, nullable
        // functions, `bool` and the open enums of this crate all take zero bytes.
        unsafe impl crate::Args for $name {
            const NAME: &'static str = stringify!($name);
            const STRUCT_SIZE: usize = $name::LAYOUT.struct_size;
        }
    };
    (@extension [$header:literal $name:ident $since:tt $extension:ident] $doc:tt { $($body:tt)* }) => {
        structs!(@plain [$header $name $since] $doc {
            base: crate::PJRT_Extension_Base,
            $($body)*
        });
        // SAFETY: the struct starts with its `base`.
        unsafe impl crate::Extension for $name {
            const NAME: &'static str = stringify!($name);
            const TYPE: crate::PJRT_Extension_Type = crate::PJRT_Extension_Type::$extension;
            const STRUCT_SIZE: usize = $name::LAYOUT.struct_size;
        }
    };
    (@plain [$header:literal $name:ident $since:tt $(ends $ends:ident)?] [$($doc:expr),*] { $(
        $(#[doc = $field_doc:expr])*
        $(#[since = $field_since:tt])?
        $(#[anonymous($union:ident)])?
        $field:ident: $type:ty
    ),* $(,)? }) => {
        $(#[doc = $doc])*
        #[doc = since!($since)]
        #[repr(C)]
        #[derive(Clone, Copy)]
        #[allow(missing_docs)]
        pub struct $name { $(
            $(#[doc = $field_doc])*
            $(#[doc = since!($field_since)])?
            pub $field: $type,
        )* }

        impl $name {
            pub(crate) const LAYOUT: crate::layout::Struct =
                structs!(@layout [$header $name $since $(ends $ends)?] { $(
                    $(#[since = $field_since])? $(#[anonymous($union)])? $field: $type,
                )* });
        }
    };
    (@layout [$header:literal $name:ident $since:tt $(ends $ends:ident)?] { $(
        $(#[since = $field_since:tt])?
        $(#[anonymous($union:ident)])?
        $field:ident: $type:ty,
    )* }) => {{
        const FIELDS: &[crate::layout::Field] = &[$(crate::layout::Field {
            name: crate::layout::c_name(stringify!($field)),
            offset: core::mem::offset_of!($name, $field),
            size: size_of::<$type>(),
            since: crate::layout::latest(&[$since $(, $field_since)?]),
            members: structs!(@members $($union)?),
        }),*];
        crate::layout::Struct {
            name: stringify!($name),
            header: $header,
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            struct_size: crate::layout::end(FIELDS, &[$(core::mem::offset_of!($name, $ends))?]),
            since: $since,
            fields: FIELDS,
        }
    }};
    (@members) => { &[] };
    (@members $union:ident) => { $union::MEMBERS };
}

/// Declares the unions that C leaves without a name.
macro_rules! unions {
    ($($(#[doc = $doc:expr])* $name:ident { $($member:ident: $type:ty),* $(,)? })*) => {$(
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        #[allow(missing_docs)]
        pub union $name { $(pub $member: $type,)* }

        impl $name {
            pub(crate) const MEMBERS: &'static [crate::layout::Field] = &[$(crate::layout::Field {
                name: stringify!($member),
                offset: core::mem::offset_of!($name, $member),
                size: size_of::<$type>(),
                since: 54,
                members: &[],
            }),*];
        }
    )*};
}

/// Declares C enums: open ones, since a plugin may know more values than this crate does. The
/// text behind a name is what the C constants start with.
macro_rules! enums {
    ($header:literal; $(
        $(#[doc = $doc:expr])*
        $name:ident $prefix:literal ($since:tt) { $(
            $(#[doc = $constant_doc:expr])*
            $(#[since = $constant_since:tt])?
            $constant:ident = $value:literal
        ),* $(,)? }
    )*) => {
        $(
            $(#[doc = $doc])*
            #[doc = since!($since)]
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub core::ffi::c_uint);

            #[allow(missing_docs)]
            impl $name {
                $(
                    $(#[doc = $constant_doc])*
                    $(#[doc = since!($constant_since)])?
                    pub const $constant: $name = $name($value);
                )*

                pub(crate) const LAYOUT: crate::layout::Enum = crate::layout::Enum {
                    name: stringify!($name),
                    header: $header,
                    since: $since,
                    constants: &[$(crate::layout::Constant {
                        name: concat!($prefix, stringify!($constant)),
                        value: $value,
                        since: crate::layout::latest(&[$since $(, $constant_since)?]),
                    }),*],
                };

                /// The name of the value, or nothing if this crate doesn't know it.
                pub const fn name(self) -> Option<&'static str> {
                    match self.0 {
                        $($value => Some(stringify!($constant)),)*
                        _ => None,
                    }
                }
            }

            impl core::fmt::Debug for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    match self.name() {
                        Some(name) => write!(f, "{}::{name}", stringify!($name)),
                        None => write!(f, "{}({})", stringify!($name), self.0),
                    }
                }
            }
        )*
        pub(crate) const ENUMS: &[crate::layout::Enum] = &[$($name::LAYOUT),*];
    };
}

/// Declares types that are only ever seen behind a pointer.
macro_rules! opaque {
    ($($(#[doc = $doc:expr])* $name:ident;)*) => {
        $(
            $(#[doc = $doc])*
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
                _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
            }
        )*
        pub(crate) const OPAQUE: &[&str] = &[$(stringify!($name)),*];
    };
}

/// Declares the table of the API: for each slot its function type, its field, its entry.
macro_rules! table {
    ($(
        $(#[doc = $doc:expr])*
        $kind:ident $name:ident($args:ident) $since:tt;
    )*) => {
        $(
            $(#[doc = $doc])*
            #[doc = since!($since)]
            pub type $name = table!(@type $kind $args);
        )*

        /// The table of functions that a plugin hands out. Read `struct_size` before any slot: an
        /// older plugin's table ends earlier. A slot inside it may still be null. Don't copy it by
        /// value, for the same reason.
        #[repr(C)]
        #[allow(missing_docs)]
        pub struct PJRT_Api {
            pub struct_size: usize,
            pub extension_start: *mut crate::PJRT_Extension_Base,
            pub pjrt_api_version: crate::PJRT_Api_Version,
            $($(#[doc = $doc])* #[doc = since!($since)] pub $name: Option<$name>,)*
        }

        impl PJRT_Api {
            pub(crate) const LAYOUT: crate::layout::Struct =
                structs!(@layout ["pjrt_c_api.h" PJRT_Api 54] {
                    struct_size: usize,
                    extension_start: *mut crate::PJRT_Extension_Base,
                    pjrt_api_version: crate::PJRT_Api_Version,
                    $(#[since = $since] $name: Option<$name>,)*
                });
        }

        /// Every slot of the table, in order: name, offset, and the minor that has it at the latest.
        pub const ENTRIES: &[(&str, usize, u32)] = &[
            $((stringify!($name), core::mem::offset_of!(PJRT_Api, $name), $since)),*
        ];

        pub(crate) const FUNCTIONS: &[crate::layout::Function] = &[
            $(crate::layout::Function {
                name: stringify!($name),
                args: <crate::$args as crate::Args>::NAME,
                fallible: table!(@fallible $kind),
                since: $since,
                doc: concat!($($doc),*),
            }),*
        ];

        /// One constant per slot of the table: what a generic call needs to know about it.
        pub mod entry {
            use super::{Entry, PJRT_Api, VoidEntry};
            $(
                $(#[doc = $doc])*
                #[doc = since!($since)]
                pub const $name: table!(@entry $kind crate::$args) =
                    <table!(@entry $kind crate::$args)>::new(stringify!($name), core::mem::offset_of!(PJRT_Api, $name), $since);
            )*
        }
    };
    (@type fallible $args:ident) => { unsafe extern "C" fn(*mut crate::$args) -> *mut crate::PJRT_Error };
    (@type void $args:ident) => { unsafe extern "C" fn(*mut crate::$args) };
    (@fallible fallible) => { true };
    (@fallible void) => { false };
    (@entry fallible $args:ty) => { Entry<$args> };
    (@entry void $args:ty) => { VoidEntry<$args> };
}
