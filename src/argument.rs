//! Arguments: given by value, lent by reference.

use std::fmt;
use std::slice;

use smallvec::SmallVec;

use crate::buffer::Buffer;
use crate::executable::Executable;
use crate::plan::{PlannedInput, Site};
use crate::spare;

/// One argument of a run.
#[derive(Debug)]
pub enum Argument<'a> {
    /// Given: the buffer is gone; a program that donates it reuses its memory.
    Given(Buffer),
    /// Lent: the buffer stays the caller's, whatever the program says.
    Lent(&'a Buffer),
}

impl Argument<'_> {
    #[inline]
    pub(crate) fn buffer(&self) -> &Buffer {
        match self {
            Argument::Given(buffer) => buffer,
            Argument::Lent(buffer) => buffer,
        }
    }

    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        matches!(self, Argument::Lent(_))
    }
}

impl From<Buffer> for Argument<'_> {
    fn from(buffer: Buffer) -> Self {
        Argument::Given(buffer)
    }
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Argument::Lent(buffer)
    }
}

/// How many arguments a list holds without memory of its own.
const ARGUMENTS: usize = 64;

/// The flat list of a device's arguments, in the program's order.
#[derive(Default)]
pub struct ArgumentList<'a> {
    /// A run with no more allocates nothing for its arguments. `None` is in the place of one
    /// that an output has taken.
    slots: SmallVec<[Option<Argument<'a>>; ARGUMENTS]>,
    /// Where it is set, arguments are compared with a program's inputs and not kept.
    comparison: Option<Comparison<'a>>,
}

/// Arguments held against the inputs of a program on one of its devices.
struct Comparison<'a> {
    site: Site<'a>,
    left: slice::Iter<'a, PlannedInput>,
    seen: usize,
    fit: bool,
}

impl<'a> ArgumentList<'a> {
    /// An empty list.
    #[inline]
    pub fn new() -> Self {
        ArgumentList {
            slots: SmallVec::new(),
            comparison: None,
        }
    }

    /// Appends one argument.
    #[inline]
    pub fn push(&mut self, argument: impl Into<Argument<'a>>) {
        let argument = argument.into();
        match &mut self.comparison {
            None => self.slots.push(Some(argument)),
            Some(comparison) => comparison.see(&argument),
        }
    }

    /// Makes room for as many arguments in an empty list, in the memory of an earlier one.
    #[inline]
    pub(crate) fn make_room(&mut self, room: usize) {
        if room > ARGUMENTS {
            self.slots = SmallVec::from_vec(spare::take::<Option<Argument<'static>>>(room));
        }
    }

    /// Has an empty list keep nothing and only see whether what is appended are the arguments
    /// of the program's device at `position`: cheaper than keeping them.
    #[inline]
    pub(crate) fn only_compare(&mut self, executable: &'a Executable, position: usize) {
        self.comparison = Some(Comparison {
            site: executable.site(position),
            left: executable.plan.inputs.iter(),
            seen: 0,
            fit: true,
        });
    }

    /// Whether what a comparing list has seen are all of the program's arguments.
    #[inline]
    pub(crate) fn all_fit(&self) -> bool {
        let comparison = self.comparison.as_ref();
        comparison.is_some_and(|comparison| comparison.fit && comparison.left.len() == 0)
    }

    /// How many arguments there are.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.comparison {
            None => self.slots.len(),
            Some(comparison) => comparison.seen,
        }
    }

    /// The arguments, of a list of which none was taken. A list that only compares has none.
    #[inline]
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Argument<'a>> {
        self.slots.iter().map(Self::there)
    }

    /// Whether the argument in a place is lent.
    #[inline]
    pub(crate) fn is_lent(&self, place: usize) -> bool {
        matches!(self.slots.get(place), Some(Some(Argument::Lent(_))))
    }

    /// `count` of the arguments, from the place `start` on; fewer where the list ends.
    #[inline]
    pub(crate) fn part(
        &self,
        start: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = &Argument<'a>> {
        let from_start = self.slots.get(start..).unwrap_or_default();
        let part = &from_start[..count.min(from_start.len())];
        part.iter().map(Self::there)
    }

    #[inline]
    fn there<'l>(slot: &'l Option<Argument<'a>>) -> &'l Argument<'a> {
        match slot {
            Some(argument) => argument,
            None => unreachable!("an argument was taken before the launch"),
        }
    }

    /// Changes an argument that was given, and takes it where that went well. It is changed where
    /// it lies: each move of a buffer costs as much as the rest.
    #[inline]
    pub(crate) fn change_and_take(
        &mut self,
        place: usize,
        change: impl FnOnce(&mut Buffer) -> bool,
    ) -> Option<Buffer> {
        let slot = self.slots.get_mut(place)?;
        let Some(Argument::Given(buffer)) = slot else {
            return None;
        };
        if !change(buffer) {
            return None;
        }
        match slot.take() {
            Some(Argument::Given(buffer)) => Some(buffer),
            _ => unreachable!("it was looked at"),
        }
    }

    /// What is left of the arguments, with their places.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (usize, Argument<'a>)> + '_ {
        let slots = self.slots.drain(..).enumerate();
        slots.filter_map(|(place, slot)| Some((place, slot?)))
    }

    /// The lent arguments, in order.
    pub(crate) fn lent(mut self) -> impl Iterator<Item = &'a Buffer> {
        std::mem::take(&mut self.slots)
            .into_iter()
            .filter_map(|slot| match slot? {
                Argument::Lent(buffer) => Some(buffer),
                Argument::Given(_) => None,
            })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The memory of a list that has any of its own is kept for the next.
impl Drop for ArgumentList<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.slots.spilled() {
            self.keep_memory();
        }
    }
}

impl ArgumentList<'_> {
    #[cold]
    fn keep_memory(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.clear();
        // There are none: only the type changes, and the memory is kept.
        let emptied = slots.into_iter();
        let forever = emptied.map(|_| unreachable!("the list was emptied"));
        spare::put::<Option<Argument<'static>>>(forever.collect());
    }
}

impl Comparison<'_> {
    #[inline]
    fn see(&mut self, argument: &Argument<'_>) {
        let buffer = argument.buffer();
        let input = self.left.next();
        self.seen += 1;
        self.fit &= input.is_some_and(|input| self.site.has(buffer, input));
    }
}

impl fmt::Debug for ArgumentList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.slots.iter().flatten()).finish()
    }
}

/// What a program can be run with: a [`Buffer`] by value is given, by reference it is
/// lent; tuples, arrays, `Vec`s and slices of those are their elements in order.
///
/// ```no_run
/// # fn f(step: &xla::Executable, state: Vec<xla::Buffer>, x: &xla::Buffer, y: &xla::Buffer)
/// #     -> Result<(), xla::CallError> {
/// // The whole state is given, both parts of the batch are lent.
/// let outputs = step.run((state, x, y))?;
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be passed to a program",
    label = "neither a `Buffer` (given) nor a `&Buffer` (lent), nor a list of those",
    note = "a tree is taken by a typed program (`Executable::typed`); by an untyped one through `Tree::give` or `Tree::lend` into an `ArgumentList`"
)]
pub trait Arguments<'a> {
    /// Appends the arguments to a list.
    fn append_to(self, list: &mut ArgumentList<'a>);
}

impl<'a> Arguments<'a> for Argument<'a> {
    #[inline]
    fn append_to(self, list: &mut ArgumentList<'a>) {
        list.push(self);
    }
}

impl<'a> Arguments<'a> for Buffer {
    #[inline]
    fn append_to(self, list: &mut ArgumentList<'a>) {
        list.push(self);
    }
}

impl<'a> Arguments<'a> for &'a Buffer {
    #[inline]
    fn append_to(self, list: &mut ArgumentList<'a>) {
        list.push(self);
    }
}

impl<'a> Arguments<'a> for ArgumentList<'a> {
    fn append_to(mut self, list: &mut ArgumentList<'a>) {
        match &mut list.comparison {
            None => list.slots.append(&mut self.slots),
            Some(comparison) => self.iter().for_each(|argument| comparison.see(argument)),
        }
    }
}

impl<'a, A: Arguments<'a>> Arguments<'a> for Vec<A> {
    fn append_to(self, list: &mut ArgumentList<'a>) {
        self.into_iter().for_each(|each| each.append_to(list));
    }
}

impl<'a, A: Arguments<'a>, const N: usize> Arguments<'a> for [A; N] {
    fn append_to(self, list: &mut ArgumentList<'a>) {
        self.into_iter().for_each(|each| each.append_to(list));
    }
}

impl<'a, A> Arguments<'a> for &'a [A]
where
    &'a A: Arguments<'a>,
{
    fn append_to(self, list: &mut ArgumentList<'a>) {
        self.iter().for_each(|each| each.append_to(list));
    }
}

impl<'a, A> Arguments<'a> for &'a Vec<A>
where
    &'a A: Arguments<'a>,
{
    fn append_to(self, list: &mut ArgumentList<'a>) {
        self.as_slice().append_to(list);
    }
}

impl<'a, A, const N: usize> Arguments<'a> for &'a [A; N]
where
    &'a A: Arguments<'a>,
{
    fn append_to(self, list: &mut ArgumentList<'a>) {
        self.as_slice().append_to(list);
    }
}

impl<'a> Arguments<'a> for () {
    fn append_to(self, _: &mut ArgumentList<'a>) {}
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<'a, $($name: Arguments<'a>),+> Arguments<'a> for ($($name,)+) {
            #[allow(non_snake_case)]
            fn append_to(self, list: &mut ArgumentList<'a>) {
                let ($($name,)+) = self;
                $($name.append_to(list);)+
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
