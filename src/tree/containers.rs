//! Trees that the standard library makes: tuples, arrays, `Vec`, `Option`, `Box`, maps.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::{sum, Key, Known, Source, Structure, Tree};
use crate::argument::ArgumentList;
use crate::error::{Code, Error, Result};

impl Tree for () {
    const LEAVES: Option<usize> = Some(0);

    fn structure(&self) -> Structure {
        Structure::node("()", Vec::new())
    }

    fn constant_structure() -> Option<Structure> {
        Some(().structure())
    }

    fn give(self, _: &mut ArgumentList<'_>) {}

    fn lend<'a>(&'a self, _: &mut ArgumentList<'a>) {}

    fn rebuild(_: &mut Source<'_>) -> Result<Self> {
        Ok(())
    }
}

impl<T: Tree> Tree for Box<T> {
    const LEAVES: Option<usize> = T::LEAVES;

    fn structure(&self) -> Structure {
        (**self).structure()
    }

    fn constant_structure() -> Option<Structure> {
        T::constant_structure()
    }

    fn expected(known: &Known<'_>) -> Result<Structure> {
        match known.find::<Self>()? {
            Some(structure) => Ok(structure),
            None => T::expected(known),
        }
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        (*self).give(leaves);
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        (**self).lend(leaves);
    }

    fn rebuild(source: &mut Source<'_>) -> Result<Self> {
        T::rebuild(source).map(Box::new)
    }
}

/// The structure of a list of trees.
fn list<'a, T: Tree>(name: &'static str, items: impl Iterator<Item = &'a T>) -> Structure {
    let children = items.enumerate();
    Structure::node(
        name,
        children
            .map(|(index, item)| (Key::Index(index), item.structure()))
            .collect(),
    )
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    const LEAVES: Option<usize> = match T::LEAVES {
        Some(leaves) => Some(leaves * N),
        None => None,
    };

    fn structure(&self) -> Structure {
        list("array", self.iter())
    }

    fn constant_structure() -> Option<Structure> {
        let item = T::constant_structure()?;
        let children = (0..N).map(|index| (Key::Index(index), item.clone()));
        Some(Structure::node("array", children.collect()))
    }

    fn expected(known: &Known<'_>) -> Result<Structure> {
        if let Some(structure) = known.find::<Self>()? {
            return Ok(structure);
        }
        let item = T::expected(known)?;
        let children = (0..N).map(|index| (Key::Index(index), item.clone()));
        Ok(Structure::node("array", children.collect()))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.into_iter().for_each(|item| item.give(leaves));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.iter().for_each(|item| item.lend(leaves));
    }

    fn rebuild(source: &mut Source<'_>) -> Result<Self> {
        // Filled in place, and moved once as a whole.
        let mut items = SmallVec::<[T; N]>::new();
        for index in 0..N {
            items.push(source.enter(index, |source| T::rebuild(source))?);
        }
        match items.into_inner() {
            Ok(items) => Ok(items),
            Err(_) => unreachable!("as many items as the array has were made"),
        }
    }
}

impl<T: Tree> Tree for Vec<T> {
    const LEAVES: Option<usize> = None;

    fn structure(&self) -> Structure {
        list("Vec", self.iter())
    }

    fn constant_structure() -> Option<Structure> {
        None
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.into_iter().for_each(|item| item.give(leaves));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.iter().for_each(|item| item.lend(leaves));
    }

    fn rebuild(source: &mut Source<'_>) -> Result<Self> {
        let length = source.children_of("Vec")?.len();
        let items = 0..length;
        items
            .map(|index| source.enter(index, |source| T::rebuild(source)))
            .collect()
    }
}

/// The name of the node that stands for `None`.
/// No type can be called that.
const NONE: &str = "Option::None";

impl<T: Tree> Tree for Option<T> {
    const LEAVES: Option<usize> = None;

    /// `Some` is its content and `None` a node without parts, as in JAX; so `Some(None)` is
    /// rebuilt as `None`.
    fn structure(&self) -> Structure {
        match self {
            Some(item) => item.structure(),
            None => Structure::node(NONE, Vec::new()),
        }
    }

    fn constant_structure() -> Option<Structure> {
        None
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        if let Some(item) = self {
            item.give(leaves);
        }
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        if let Some(item) = self {
            item.lend(leaves);
        }
    }

    fn rebuild(source: &mut Source<'_>) -> Result<Self> {
        match source.structure().name() {
            Some(NONE) => Ok(None),
            _ => T::rebuild(source).map(Some),
        }
    }
}

impl<T: Tree> Tree for BTreeMap<String, T> {
    const LEAVES: Option<usize> = None;

    fn structure(&self) -> Structure {
        let entries = self.iter();
        let children = entries.map(|(key, item)| (Key::Entry(key.clone()), item.structure()));
        Structure::node("map", children.collect())
    }

    fn constant_structure() -> Option<Structure> {
        None
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.into_values().for_each(|item| item.give(leaves));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.values().for_each(|item| item.lend(leaves));
    }

    fn rebuild(source: &mut Source<'_>) -> Result<Self> {
        let keys = source.children_of("map")?.iter().enumerate();
        keys.map(|(index, (key, _))| {
            let item = source.enter(index, |source| T::rebuild(source))?;
            match key {
                Key::Entry(key) => Ok((key.clone(), item)),
                other => Err(Error::new(
                    Code::FailedPrecondition,
                    format!("the structure of a map has the part {other}, which is no key"),
                )),
            }
        })
        .collect()
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt)+) => {
        impl<$($name: Tree),+> Tree for ($($name,)+) {
            const LEAVES: Option<usize> = sum(&[$($name::LEAVES),+]);

            fn structure(&self) -> Structure {
                Structure::node("tuple", vec![$((Key::Index($index), self.$index.structure())),+])
            }

            fn constant_structure() -> Option<Structure> {
                Some(Structure::node(
                    "tuple",
                    vec![$((Key::Index($index), $name::constant_structure()?)),+],
                ))
            }

            fn expected(known: &Known<'_>) -> Result<Structure> {
                if let Some(structure) = known.find::<Self>()? {
                    return Ok(structure);
                }
                Ok(Structure::node(
                    "tuple",
                    vec![$((Key::Index($index), $name::expected(known)?)),+],
                ))
            }

            fn give(self, leaves: &mut ArgumentList<'_>) {
                $(self.$index.give(leaves);)+
            }

            fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
                $(self.$index.lend(leaves);)+
            }

            fn rebuild(source: &mut Source<'_>) -> Result<Self> {
                Ok(($(source.enter($index, |source| $name::rebuild(source))?,)+))
            }
        }
    };
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
