//! What a typed program on many devices gives: a tree a device, or one for all.

use std::marker::PhantomData;

use crate::error::Result;
use crate::per_device::PerDevice;
use crate::spare;
use crate::tree::{Key, Known, Source, Structure, Tree};

/// A result of which every device's tree is given, as a [`PerDevice`]: a state that stays on
/// its devices.
pub struct Each<T>(PhantomData<fn() -> T>);

/// A result that is the same on all devices: the first device's tree is given, the others
/// are dropped. A metric that was summed over all devices, say.
pub struct One<T>(PhantomData<fn() -> T>);

/// The results of a [`ParallelFunction`](crate::ParallelFunction): [`Each`] or [`One`], or a
/// tuple of those, up to 12; `()` of a program that gives nothing. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which devices' results are given",
    label = "neither `Each<..>` nor `One<..>`, nor a tuple of those",
    note = "write `Each<{Self}>` for a tree on every device, `One<{Self}>` for the first device's"
)]
pub trait Results: sealed::Sealed {
    /// What a call gives.
    type Values;
    /// Results of which some devices' are there.
    #[doc(hidden)]
    type Building;

    /// How a device's results are built, where the types tell.
    #[doc(hidden)]
    fn constant_structure() -> Option<Structure>;
    #[doc(hidden)]
    fn expected(known: &Known<'_>) -> Result<Structure>;
    /// The type of each result's tree, with the place of its leaves among all.
    #[doc(hidden)]
    fn place_of(result: usize, structure: &Structure) -> Option<(std::any::TypeId, usize)>;
    #[doc(hidden)]
    fn begin(devices: usize) -> Self::Building;
    /// Takes the next device's outputs.
    #[doc(hidden)]
    fn build(building: &mut Self::Building, source: &mut Source<'_>) -> Result<()>;
    #[doc(hidden)]
    fn finish(building: Self::Building) -> Self::Values;
}

mod sealed {
    pub trait Sealed {}
}

impl<T> sealed::Sealed for Each<T> {}
impl<T> sealed::Sealed for One<T> {}

fn only<T: 'static>(result: usize) -> Option<(std::any::TypeId, usize)> {
    (result == 0).then(|| (std::any::TypeId::of::<T>(), 0))
}

impl<T: Tree> Results for Each<T> {
    type Values = PerDevice<T>;
    type Building = Vec<T>;

    fn constant_structure() -> Option<Structure> {
        T::constant_structure()
    }

    fn expected(known: &Known<'_>) -> Result<Structure> {
        T::expected(known)
    }

    fn place_of(result: usize, _: &Structure) -> Option<(std::any::TypeId, usize)> {
        only::<T>(result)
    }

    fn begin(devices: usize) -> Vec<T> {
        spare::take(devices)
    }

    fn build(building: &mut Vec<T>, source: &mut Source<'_>) -> Result<()> {
        building.push(T::rebuild(source)?);
        Ok(())
    }

    fn finish(building: Vec<T>) -> PerDevice<T> {
        PerDevice { parts: building }
    }
}

impl<T: Tree> Results for One<T> {
    type Values = T;
    type Building = Option<T>;

    fn constant_structure() -> Option<Structure> {
        T::constant_structure()
    }

    fn expected(known: &Known<'_>) -> Result<Structure> {
        T::expected(known)
    }

    fn place_of(result: usize, _: &Structure) -> Option<(std::any::TypeId, usize)> {
        only::<T>(result)
    }

    fn begin(_: usize) -> Option<T> {
        None
    }

    fn build(building: &mut Option<T>, source: &mut Source<'_>) -> Result<()> {
        let built = T::rebuild(source)?;
        building.get_or_insert(built);
        Ok(())
    }

    fn finish(building: Option<T>) -> T {
        match building {
            Some(first) => first,
            None => unreachable!("a program runs on one device at least"),
        }
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt)+) => {
        impl<$($name: Results),+> sealed::Sealed for ($($name,)+) {}

        impl<$($name: Results),+> Results for ($($name,)+) {
            type Values = ($($name::Values,)+);
            type Building = ($($name::Building,)+);

            fn constant_structure() -> Option<Structure> {
                Some(Structure::node(
                    "tuple",
                    vec![$((Key::Index($index), $name::constant_structure()?)),+],
                ))
            }

            fn expected(known: &Known<'_>) -> Result<Structure> {
                Ok(Structure::node(
                    "tuple",
                    vec![$((Key::Index($index), $name::expected(known)?)),+],
                ))
            }

            fn place_of(result: usize, structure: &Structure) -> Option<(std::any::TypeId, usize)> {
                let children = structure.children();
                let before = children.get(..result)?.iter().map(|(_, built)| built.leaf_count());
                let (_, own) = children.get(result)?;
                let of = match result {
                    $($index => $name::place_of(0, own)?.0,)+
                    _ => return None,
                };
                Some((of, before.sum()))
            }

            fn begin(devices: usize) -> Self::Building {
                ($($name::begin(devices),)+)
            }

            fn build(building: &mut Self::Building, source: &mut Source<'_>) -> Result<()> {
                $(source.enter($index, |source| $name::build(&mut building.$index, source))?;)+
                Ok(())
            }

            fn finish(building: Self::Building) -> Self::Values {
                ($($name::finish(building.$index),)+)
            }
        }
    };
}

/// A program that gives nothing.
impl sealed::Sealed for () {}

impl Results for () {
    type Values = ();
    type Building = ();

    fn constant_structure() -> Option<Structure> {
        <() as Tree>::constant_structure()
    }

    fn expected(_: &Known<'_>) -> Result<Structure> {
        Ok(().structure())
    }

    fn place_of(_: usize, _: &Structure) -> Option<(std::any::TypeId, usize)> {
        None
    }

    fn begin(_: usize) {}

    fn build((): &mut (), _: &mut Source<'_>) -> Result<()> {
        Ok(())
    }

    fn finish((): ()) {}
}

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
