//! Where a part of an array lies in its bytes.

use std::ops::Range;

use smallvec::SmallVec;

use crate::shape::Shape;
use crate::sharding::Block;

/// The stretches of bytes that make a block of an array, in order.
pub(super) struct Runs<'b> {
    block: &'b Block,
    /// How far apart neighbours along each axis lie, in bytes.
    strides: SmallVec<[usize; 4]>,
    /// The axes before this one are walked, those from it on are one stretch.
    walked: usize,
    length: usize,
}

impl<'b> Runs<'b> {
    pub(super) fn new(shape: &Shape, block: &'b Block) -> Runs<'b> {
        let dims = shape.dims();
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
        let mut stride = shape.element_type().host_size();
        for axis in (0..dims.len()).rev() {
            strides[axis] = stride;
            // An array without elements may have dims of any size; it isn't walked.
            stride = stride.saturating_mul(dims[axis]);
        }
        // Axes that are taken whole are one stretch, together with the one before them.
        let mut walked = dims.len();
        while walked > 0 && block.dims[walked - 1] == dims[walked - 1] {
            walked -= 1;
        }
        let walked = walked.saturating_sub(1);
        let size = shape.element_type().host_size();
        let length = size * block.dims[walked..].iter().product::<usize>();
        // Axes of which one is taken are not walked either.
        Runs {
            block,
            strides,
            walked,
            length,
        }
    }

    fn first(&self) -> usize {
        let starts = self.block.start.iter().zip(&self.strides);
        starts.map(|(start, stride)| start * stride).sum()
    }

    /// The only stretch, where there is one.
    pub(super) fn only(&self) -> Option<Range<usize>> {
        let walked = &self.block.dims[..self.walked];
        let one = walked.iter().all(|dim| *dim == 1);
        let empty = self.block.dims.contains(&0);
        if empty {
            return Some(0..0);
        }
        one.then(|| self.first()..self.first() + self.length)
    }

    pub(super) fn visit(&self, mut each: impl FnMut(Range<usize>)) {
        if self.block.dims.contains(&0) {
            return;
        }
        let dims = &self.block.dims[..self.walked];
        let mut position: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
        let mut offset = self.first();
        for _ in 0..dims.iter().product::<usize>() {
            each(offset..offset + self.length);
            // Count up the last walked axis, carrying into those before it.
            for axis in (0..dims.len()).rev() {
                position[axis] += 1;
                offset += self.strides[axis];
                if position[axis] < dims[axis] {
                    break;
                }
                offset -= self.strides[axis] * dims[axis];
                position[axis] = 0;
            }
        }
    }
}
