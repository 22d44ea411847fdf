//! What a typed program on many devices takes: values that are on the devices already, by
//! value, by reference or in part; or host values, split or the same on all.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::argument::ArgumentList;
use crate::error::Result;
use crate::executable::Executable;
use crate::host_tree::HostTree;
use crate::parameter::{Give, Ref};
use crate::per_device::{PartOf, PerDevice};
use crate::place::Replicas;
use crate::tree::{sum, Structure, Tree};

/// A parameter of which a part of larger trees is lent: what [`PerDevice::part`] gives.
pub struct Part<T>(PhantomData<fn(&T)>);

/// A parameter that is passed as host arrays, of which each replica gets its share of the
/// leading axis ([`Executable::place_split`]): `in_axes=0` of `jax.pmap`. Uploaded at each call,
/// and given to it.
///
/// Of a partitioned program, as JAX exports them all today, there is one replica: its sharding
/// says which device gets what, here as with [`Same`].
pub struct Split<T>(PhantomData<fn(&T)>);

/// A parameter that is passed as host arrays, which every replica gets whole
/// ([`Executable::place`]): `in_axes=None` of `jax.pmap`. Uploaded at each call, and given
/// to it. What the program's own sharding splits over the partitions of a replica is split here
/// too.
pub struct Same<T>(PhantomData<fn(&T)>);

/// A parameter of a [`ParallelFunction`](crate::ParallelFunction): [`Give`], [`Ref`], [`Part`],
/// [`Split`] or [`Same`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say how it is passed to many devices",
    label = "none of `Give`, `Ref`, `Part`, `Split`, `Same`",
    note = "write `Give<{Self}>` to take a `PerDevice` by value and donate it, `Ref<{Self}>` to take \
            it by reference, `Split<{Self}>` or `Same<{Self}>` for host arrays"
)]
pub trait ParallelParameter: sealed::Sealed {
    /// The type of a device's tree.
    type Tree: Tree;
    /// What is passed.
    type Argument<'a>;
    /// What a refused call gives back.
    type Given: 'static;
    /// Whether it is passed by value.
    const GIVEN: bool;

    /// What is passed, on the devices.
    #[doc(hidden)]
    type Ready<'a>;
    /// Brings what is on the host to the devices, for the inputs from `first_input` on.
    #[doc(hidden)]
    fn ready<'a>(
        argument: Self::Argument<'a>,
        executable: &Executable,
        first_input: usize,
    ) -> Self::Ready<'a>;
    /// How many devices it is for; the reason why it could not be brought to them.
    #[doc(hidden)]
    fn devices(ready: &Self::Ready<'_>) -> Result<usize>;
    #[doc(hidden)]
    fn tree<'c>(ready: &'c Self::Ready<'_>, position: usize) -> Option<&'c Self::Tree>;
    /// Passes the leaves of the next device, which is at `position`.
    #[doc(hidden)]
    fn pass<'a>(ready: &mut Self::Ready<'a>, position: usize, list: &mut ArgumentList<'a>);
    /// What comes before the first device's leaves are passed.
    #[doc(hidden)]
    fn begin(ready: &mut Self::Ready<'_>);
    #[doc(hidden)]
    fn into_given(ready: Self::Ready<'_>) -> Self::Given;
}

impl<T: Tree> ParallelParameter for Give<T> {
    type Tree = T;
    type Argument<'a> = PerDevice<T>;
    type Given = PerDevice<T>;
    const GIVEN: bool = true;

    type Ready<'a> = PerDevice<T>;

    fn ready<'a>(argument: Self::Argument<'a>, _: &Executable, _: usize) -> Self::Ready<'a> {
        argument
    }

    fn devices(ready: &PerDevice<T>) -> Result<usize> {
        Ok(ready.len())
    }

    fn tree(ready: &PerDevice<T>, position: usize) -> Option<&T> {
        ready.get(position)
    }

    fn begin(ready: &mut PerDevice<T>) {
        // Taken from the end, which leaves the list's memory for the next.
        ready.parts.reverse();
    }

    fn pass<'a>(ready: &mut PerDevice<T>, _: usize, list: &mut ArgumentList<'a>) {
        if let Some(tree) = ready.parts.pop() {
            tree.give(list);
        }
    }

    fn into_given(ready: PerDevice<T>) -> PerDevice<T> {
        ready
    }
}

impl<T: Tree> ParallelParameter for Ref<T> {
    type Tree = T;
    type Argument<'a> = &'a PerDevice<T>;
    type Given = ();
    const GIVEN: bool = false;

    type Ready<'a> = &'a PerDevice<T>;

    fn ready<'a>(argument: Self::Argument<'a>, _: &Executable, _: usize) -> Self::Ready<'a> {
        argument
    }

    fn devices(ready: &&PerDevice<T>) -> Result<usize> {
        Ok(ready.len())
    }

    fn tree<'c>(ready: &'c &PerDevice<T>, position: usize) -> Option<&'c T> {
        ready.get(position)
    }

    fn begin(_: &mut &PerDevice<T>) {}

    fn pass<'a>(ready: &mut &'a PerDevice<T>, position: usize, list: &mut ArgumentList<'a>) {
        let ready: &'a PerDevice<T> = ready;
        if let Some(tree) = ready.get(position) {
            tree.lend(list);
        }
    }

    fn into_given(_: &PerDevice<T>) {}
}

impl<T: Tree> ParallelParameter for Part<T> {
    type Tree = T;
    type Argument<'a> = PartOf<'a, T>;
    type Given = ();
    const GIVEN: bool = false;

    type Ready<'a> = PartOf<'a, T>;

    fn ready<'a>(argument: Self::Argument<'a>, _: &Executable, _: usize) -> Self::Ready<'a> {
        argument
    }

    fn devices(ready: &PartOf<'_, T>) -> Result<usize> {
        Ok(ready.parts.len())
    }

    fn tree<'c>(ready: &'c PartOf<'_, T>, position: usize) -> Option<&'c T> {
        ready.parts.get(position).copied()
    }

    fn begin(_: &mut PartOf<'_, T>) {}

    fn pass<'a>(ready: &mut PartOf<'a, T>, position: usize, list: &mut ArgumentList<'a>) {
        if let Some(tree) = ready.parts.get(position) {
            tree.lend(list);
        }
    }

    fn into_given(_: PartOf<'_, T>) {}
}

/// The two that are passed as host arrays.
macro_rules! hosted {
    ($name:ident) => {
        impl<T: Tree> ParallelParameter for $name<T> {
            type Tree = T;
            type Argument<'a> = &'a HostTree<'a, T>;
            type Given = ();
            const GIVEN: bool = true;

            type Ready<'a> = Result<PerDevice<T>>;

            fn ready<'a>(
                argument: Self::Argument<'a>,
                executable: &Executable,
                first_input: usize,
            ) -> Self::Ready<'a> {
                executable.place_over(first_input, argument, Replicas::$name)
            }

            fn devices(ready: &Result<PerDevice<T>>) -> Result<usize> {
                match ready {
                    Ok(placed) => Ok(placed.len()),
                    Err(error) => Err(error.clone()),
                }
            }

            fn tree(ready: &Result<PerDevice<T>>, position: usize) -> Option<&T> {
                ready.as_ref().ok()?.get(position)
            }

            fn begin(ready: &mut Result<PerDevice<T>>) {
                if let Ok(placed) = ready {
                    Give::<T>::begin(placed);
                }
            }

            fn pass<'a>(
                ready: &mut Result<PerDevice<T>>,
                position: usize,
                list: &mut ArgumentList<'a>,
            ) {
                if let Ok(placed) = ready {
                    Give::<T>::pass(placed, position, list);
                }
            }

            fn into_given(_: Result<PerDevice<T>>) {}
        }
    };
}

hosted!(Split);
hosted!(Same);

/// The parameters of a [`ParallelFunction`](crate::ParallelFunction): a tuple of
/// [`ParallelParameter`]s, up to 12. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of parameters for many devices",
    label = "not a tuple of `Give`, `Ref`, `Part`, `Split`, `Same`",
    note = "a single parameter is a tuple too: `(Give<State>,)`"
)]
pub trait ParallelParameters: sealed::Sealed {
    /// What is passed.
    type Arguments<'a>;
    /// What a refused call gives back: a tuple of what was given, with `()` for the rest.
    type Given: 'static;
    /// How many leaves there are on a device, where the types tell.
    const LEAVES: Option<usize>;
    /// Which parameters are passed by value.
    const GIVEN: &'static [bool];

    #[doc(hidden)]
    type Ready<'a>;
    #[doc(hidden)]
    fn ready<'a>(arguments: Self::Arguments<'a>, executable: &Executable) -> Self::Ready<'a>;
    /// The first parameter that is not for so many devices, and the number that it is for; or
    /// why it is not on them.
    #[doc(hidden)]
    fn not_for(devices: usize, ready: &Self::Ready<'_>) -> Option<(usize, Result<usize>)>;
    #[doc(hidden)]
    fn lend<'c>(ready: &'c Self::Ready<'_>, position: usize, list: &mut ArgumentList<'c>);
    #[doc(hidden)]
    fn begin(ready: &mut Self::Ready<'_>);
    #[doc(hidden)]
    fn pass<'a>(ready: &mut Self::Ready<'a>, position: usize, list: &mut ArgumentList<'a>);
    #[doc(hidden)]
    fn into_given(ready: Self::Ready<'_>) -> Self::Given;
    #[doc(hidden)]
    fn structures(ready: &Self::Ready<'_>, position: usize) -> Vec<(TypeId, Structure)>;
    #[doc(hidden)]
    fn constant_structures() -> Vec<(TypeId, Structure)>;
    /// How many leaves come before a parameter, where the types tell.
    #[doc(hidden)]
    fn first_input(parameter: usize) -> Option<usize>;
}

mod sealed {
    pub trait Sealed {}
}

impl<T> sealed::Sealed for Give<T> {}
impl<T> sealed::Sealed for Ref<T> {}
impl<T> sealed::Sealed for Part<T> {}
impl<T> sealed::Sealed for Split<T> {}
impl<T> sealed::Sealed for Same<T> {}

/// A place is kept for a tree of which nothing is known, so that the others keep theirs.
fn unknown() -> Structure {
    Structure::node("?", Vec::new())
}

macro_rules! tuples {
    ($($name:ident $index:tt)*) => {
        impl<$($name: ParallelParameter),*> sealed::Sealed for ($($name,)*) {}

        #[allow(unused_variables, unused_mut, unused_assignments, clippy::unused_unit)] // the empty tuple
        impl<$($name: ParallelParameter),*> ParallelParameters for ($($name,)*) {
            type Arguments<'a> = ($($name::Argument<'a>,)*);
            type Given = ($($name::Given,)*);
            const LEAVES: Option<usize> = sum(&[$(<$name::Tree as Tree>::LEAVES),*]);
            const GIVEN: &'static [bool] = &[$($name::GIVEN),*];

            type Ready<'a> = ($($name::Ready<'a>,)*);

            fn ready<'a>(arguments: Self::Arguments<'a>, executable: &Executable) -> Self::Ready<'a> {
                let mut first_input = 0;
                ($({
                    let ready = $name::ready(arguments.$index, executable, first_input);
                    first_input += match <$name::Tree as Tree>::LEAVES {
                        Some(leaves) => leaves,
                        None => $name::tree(&ready, 0).map_or(0, |tree| tree.structure().leaf_count()),
                    };
                    ready
                },)*)
            }

            fn not_for(devices: usize, ready: &Self::Ready<'_>) -> Option<(usize, Result<usize>)> {
                $(match $name::devices(&ready.$index) {
                    Ok(count) if count == devices => {}
                    other => return Some(($index, other)),
                })*
                None
            }

            fn lend<'c>(ready: &'c Self::Ready<'_>, position: usize, list: &mut ArgumentList<'c>) {
                $(if let Some(tree) = $name::tree(&ready.$index, position) {
                    tree.lend(list);
                })*
            }

            fn begin(ready: &mut Self::Ready<'_>) {
                $($name::begin(&mut ready.$index);)*
            }

            fn pass<'a>(ready: &mut Self::Ready<'a>, position: usize, list: &mut ArgumentList<'a>) {
                $($name::pass(&mut ready.$index, position, list);)*
            }

            fn into_given(ready: Self::Ready<'_>) -> Self::Given {
                ($($name::into_given(ready.$index),)*)
            }

            fn structures(ready: &Self::Ready<'_>, position: usize) -> Vec<(TypeId, Structure)> {
                vec![$((
                    TypeId::of::<$name::Tree>(),
                    $name::tree(&ready.$index, position).map_or_else(unknown, Tree::structure),
                )),*]
            }

            fn first_input(parameter: usize) -> Option<usize> {
                let leaves: &[Option<usize>] = &[$(<$name::Tree as Tree>::LEAVES),*];
                sum(leaves.get(..parameter)?)
            }

            fn constant_structures() -> Vec<(TypeId, Structure)> {
                vec![$((
                    TypeId::of::<$name::Tree>(),
                    <$name::Tree as Tree>::constant_structure().unwrap_or_else(unknown),
                )),*]
            }
        }
    };
}

tuples!();
tuples!(A 0);
tuples!(A 0 B 1);
tuples!(A 0 B 1 C 2);
tuples!(A 0 B 1 C 2 D 3);
tuples!(A 0 B 1 C 2 D 3 E 4);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
