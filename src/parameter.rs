//! What a typed program takes: each argument by value or by reference.

use std::any::TypeId;
use std::marker::PhantomData;

use crate::argument::ArgumentList;
use crate::tree::{sum, Structure, Tree};

/// A parameter that is passed by value: its leaves are given.
pub struct Give<T>(PhantomData<fn(T)>);

/// A parameter that is passed by reference: its leaves are lent.
pub struct Ref<T>(PhantomData<fn(&T)>);

/// A parameter of a [`Function`](crate::Function): [`Give`] or [`Ref`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say how it is passed",
    label = "neither `Give<..>` nor `Ref<..>`",
    note = "write `Give<{Self}>` to take it by value and donate it, `Ref<{Self}>` to take it by reference"
)]
pub trait Parameter: sealed::Sealed {
    /// The type of the tree.
    type Tree: Tree;
    /// What is passed.
    type Argument<'a>;
    /// What a refused call gives back.
    type Given: 'static;
    /// Whether it is passed by value.
    const GIVEN: bool;

    /// The argument's tree, to look at.
    fn tree<'c>(argument: &'c Self::Argument<'_>) -> &'c Self::Tree;
    /// Passes the leaves.
    fn pass<'a>(argument: Self::Argument<'a>, list: &mut ArgumentList<'a>);
    /// Gives back what was given.
    fn into_given(argument: Self::Argument<'_>) -> Self::Given;
}

impl<T: Tree> Parameter for Give<T> {
    type Tree = T;
    type Argument<'a> = T;
    type Given = T;
    const GIVEN: bool = true;

    #[inline]
    fn tree(argument: &T) -> &T {
        argument
    }

    #[inline]
    fn pass<'a>(argument: T, list: &mut ArgumentList<'a>) {
        argument.give(list);
    }

    fn into_given(argument: T) -> T {
        argument
    }
}

impl<T: Tree> Parameter for Ref<T> {
    type Tree = T;
    type Argument<'a> = &'a T;
    type Given = ();
    const GIVEN: bool = false;

    #[inline]
    fn tree<'c>(argument: &'c &T) -> &'c T {
        argument
    }

    #[inline]
    fn pass<'a>(argument: &'a T, list: &mut ArgumentList<'a>) {
        argument.lend(list);
    }

    fn into_given(_: &T) {}
}

/// The parameters of a [`Function`](crate::Function): a tuple of [`Give`] and [`Ref`], up
/// to 12. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of parameters",
    label = "not a tuple of `Give` and `Ref`",
    note = "a single parameter is a tuple too: `(Give<State>,)`"
)]
pub trait Parameters: sealed::Sealed {
    /// What is passed: a tuple of trees and references to trees.
    type Arguments<'a>;
    /// What a refused call gives back: a tuple of the given trees, with `()` for lent ones.
    type Given: 'static;
    /// How many leaves there are, where the types tell.
    const LEAVES: Option<usize>;
    /// Which parameters are passed by value.
    const GIVEN: &'static [bool];

    #[doc(hidden)]
    fn lend<'c>(arguments: &'c Self::Arguments<'_>, list: &mut ArgumentList<'c>);
    #[doc(hidden)]
    fn pass<'a>(arguments: Self::Arguments<'a>, list: &mut ArgumentList<'a>);
    #[doc(hidden)]
    fn into_given(arguments: Self::Arguments<'_>) -> Self::Given;
    #[doc(hidden)]
    fn structures(arguments: &Self::Arguments<'_>) -> Vec<(TypeId, Structure)>;
    #[doc(hidden)]
    fn constant_structures() -> Vec<(TypeId, Structure)>;
}

mod sealed {
    pub trait Sealed {}
}

impl<T> sealed::Sealed for Give<T> {}
impl<T> sealed::Sealed for Ref<T> {}

macro_rules! tuples {
    ($($name:ident $index:tt)*) => {
        impl<$($name: Parameter),*> sealed::Sealed for ($($name,)*) {}

        #[allow(unused_variables, clippy::unused_unit)] // the empty tuple
        impl<$($name: Parameter),*> Parameters for ($($name,)*) {
            type Arguments<'a> = ($($name::Argument<'a>,)*);
            type Given = ($($name::Given,)*);
            const LEAVES: Option<usize> = sum(&[$(<$name::Tree as Tree>::LEAVES),*]);
            const GIVEN: &'static [bool] = &[$($name::GIVEN),*];

            #[inline]
            fn lend<'c>(arguments: &'c Self::Arguments<'_>, list: &mut ArgumentList<'c>) {
                $($name::tree(&arguments.$index).lend(list);)*
            }

            #[inline]
            fn pass<'a>(arguments: Self::Arguments<'a>, list: &mut ArgumentList<'a>) {
                $($name::pass(arguments.$index, list);)*
            }

            fn into_given(arguments: Self::Arguments<'_>) -> Self::Given {
                ($($name::into_given(arguments.$index),)*)
            }

            fn structures(arguments: &Self::Arguments<'_>) -> Vec<(TypeId, Structure)> {
                vec![$((
                    TypeId::of::<$name::Tree>(),
                    $name::tree(&arguments.$index).structure(),
                )),*]
            }

            fn constant_structures() -> Vec<(TypeId, Structure)> {
                let all: Vec<(TypeId, Option<Structure>)> = vec![$((
                    TypeId::of::<$name::Tree>(),
                    <$name::Tree as Tree>::constant_structure(),
                )),*];
                // A place is kept for a tree of which nothing is known, so that the others
                // keep theirs.
                let unknown = || Structure::node("?", Vec::new());
                let all = all.into_iter();
                all.map(|(of, built)| (of, built.unwrap_or_else(unknown))).collect()
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
