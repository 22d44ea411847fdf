//! From the host or one device to many, and back.

use crate::argument::ArgumentList;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host_array::HostArray;
use crate::host_tree::HostTree;
use crate::per_device::{no_devices, on, PerDevice};
use crate::shape::Shape;
use crate::sharding::Block;
use crate::tree::{Source, Structure, Tree};

impl<T: Tree> PerDevice<T> {
    /// What `make` gives for each device and its position: per-device keys, or trees that
    /// are put together by hand.
    ///
    /// # Errors
    /// `make` fails; a leaf that it gives lies on another device; a device is there twice or
    /// there are none.
    pub fn from_fn(
        devices: &[Device],
        mut make: impl FnMut(usize, &Device) -> Result<T>,
    ) -> Result<PerDevice<T>> {
        check_devices(devices)?;
        let mut parts = Vec::with_capacity(devices.len());
        for (position, device) in devices.iter().enumerate() {
            let part = make(position, device).map_err(on(position))?;
            check_place(&part, position, device)?;
            parts.push(part);
        }
        Ok(PerDevice { parts })
    }

    /// The same values on every device, each with memory of its own: uploaded from `host`
    /// to each, one leaf after another.
    ///
    /// # Errors
    /// As [`Buffer::from_bytes`], naming leaf and device; a device is there twice or there
    /// are none.
    pub fn replicate(devices: &[Device], host: &HostTree<'_, T>) -> Result<PerDevice<T>> {
        spread(devices, host, |_, leaf, _, device| leaf.to_device(device))
    }

    /// The values of a tree on every device, each with memory of its own: copied from
    /// device to device. The tree stays as it is.
    ///
    /// # Errors
    /// As [`Buffer::copy_to_device`], naming leaf and device; a device is there twice or
    /// there are none.
    pub fn replicate_tree(devices: &[Device], tree: &T) -> Result<PerDevice<T>> {
        check_devices(devices)?;
        let structure = tree.structure();
        let mut list = ArgumentList::new();
        tree.lend(&mut list);
        let leaves: Vec<&Buffer> = list.lent().collect();
        // The copy on the own device goes through the host: the memory for that is free
        // again before the others are made.
        let own = leaves.first().map(|leaf| leaf.device());
        let mut order: Vec<usize> = (0..devices.len()).collect();
        order.sort_by_key(|position| Some(&devices[*position]) != own.as_ref());
        let mut copies: Vec<Vec<Buffer>> = Vec::new();
        copies.resize_with(devices.len(), Vec::new);
        for position in order {
            for (index, leaf) in leaves.iter().enumerate() {
                let copy = leaf.copy_to_device(&devices[position]);
                copies[position].push(copy.map_err(|error| {
                    on(position)(error.context(structure.describe_leaf(index)))
                })?);
            }
        }
        rebuilt(copies, &structure)
    }

    /// Host arrays cut into equal parts along an axis, one for each device. Along axis 0
    /// nothing is copied on the host.
    ///
    /// # Errors
    /// A leaf doesn't have the axis, or its size isn't divisible by the number of devices:
    /// names the leaf, the axis, its size, the number and the remainder
    /// ([`PerDevice::shard_padded`] fills up); as [`PerDevice::replicate`].
    pub fn shard(devices: &[Device], host: &HostTree<'_, T>, axis: usize) -> Result<PerDevice<T>> {
        check_devices(devices)?;
        let count = devices.len();
        spread(devices, host, |_, leaf, position, device| {
            leaf.part_along(axis, count, position)?.to_device(device)
        })
    }

    /// As [`PerDevice::shard`], with zeros at the end of the axis where its size isn't
    /// divisible. Gives a mask beside it, a `pred` vector on each device: which of its
    /// places along the axis are real.
    ///
    /// # Errors
    /// The leaves have different sizes along the axis; as [`PerDevice::shard`].
    pub fn shard_padded(
        devices: &[Device],
        host: &HostTree<'_, T>,
        axis: usize,
    ) -> Result<(PerDevice<T>, PerDevice<Buffer>)> {
        check_devices(devices)?;
        let (padded, mask) = host.pad(axis, devices.len())?;
        let values = PerDevice::shard(devices, &padded, axis)?;
        let mask = PerDevice::shard(devices, &mask.into(), 0)?;
        Ok((values, mask))
    }

    /// Host arrays whose leading axis counts the devices, as `jax.pmap` takes them: each
    /// device gets its place without that axis.
    ///
    /// # Errors
    /// The leading axis of a leaf has another size than there are devices: names the leaf; as
    /// [`PerDevice::replicate`].
    pub fn unstack(devices: &[Device], host: &HostTree<'_, T>) -> Result<PerDevice<T>> {
        check_devices(devices)?;
        let count = devices.len();
        spread(devices, host, |_, leaf, position, device| {
            let Some((_, rest)) = leaf
                .dims()
                .split_first()
                .filter(|(first, _)| **first == count)
            else {
                return Err(Error::invalid(format!(
                    "the leading axis of {} must count the {count} devices; to cut an axis into \
                     parts there is `shard`",
                    leaf.shape()
                )));
            };
            let row = leaf.part_along(0, count, position)?;
            let shape = Shape::new(leaf.element_type(), rest)?;
            HostArray::borrowed_bytes(row.as_bytes(), shape)?.to_device(device)
        })
    }

    /// The parts of all devices, one after another along an axis, on the host: the other way
    /// round of [`PerDevice::shard`]. Waits for them.
    ///
    /// # Errors
    /// A leaf doesn't have the axis, or its other sizes differ between devices; the run that
    /// was to fill one failed. Names leaf and device.
    pub fn gather(&self, axis: usize) -> Result<HostTree<'static, T>> {
        self.joined(|_, parts| concat(&read(parts)?, axis))
    }

    /// The values of all devices on the host, with a new leading axis that counts the
    /// devices, as `jax.pmap` gives them: the other way round of [`PerDevice::unstack`].
    /// Waits for them.
    ///
    /// # Errors
    /// The shapes of a leaf differ between devices; as [`PerDevice::gather`].
    pub fn stack(&self) -> Result<HostTree<'static, T>> {
        self.joined(|_, parts| {
            let parts = read(parts)?;
            let rows = parts.iter().map(|part| {
                let mut dims = vec![1];
                dims.extend(part.dims());
                HostArray::borrowed_bytes(part.as_bytes(), Shape::new(part.element_type(), &dims)?)
            });
            concat(&rows.collect::<Result<Vec<_>>>()?, 0)
        })
    }

    /// Joins what all devices have of each leaf; `join` gets its number and its buffers.
    pub(crate) fn joined(
        &self,
        join: impl Fn(usize, &[&Buffer]) -> Result<HostArray<'static>>,
    ) -> Result<HostTree<'static, T>> {
        let structure = self.common_structure()?;
        let leaves: Vec<Vec<&Buffer>> = self.parts.iter().map(leaves_of).collect();
        let joined = (0..structure.leaf_count()).map(|index| {
            let parts = leaves.iter().map(|leaves| leaves.get(index).copied());
            let parts = parts.collect::<Option<Vec<_>>>();
            parts
                .ok_or_else(|| Error::invalid("the tree is built with it, but doesn't lend it"))
                .and_then(|parts| join(index, &parts))
                .map_err(|error| error.context(structure.describe_leaf(index)))
        });
        let joined = joined.collect::<Result<Vec<_>>>()?;
        HostTree::with_structure(structure, joined)
    }

    /// How the trees are built, when that is the same on all devices.
    pub(crate) fn common_structure(&self) -> Result<Structure> {
        let first = self.parts.first().ok_or_else(no_devices)?.structure();
        for (position, part) in self.parts.iter().enumerate().skip(1) {
            let other = part.structure();
            if other != first {
                return Err(Error::invalid(format!(
                    "the tree on device {position} is {other:?}, but on device 0 it is {first:?}"
                )));
            }
        }
        Ok(first)
    }
}

/// Makes the buffers of each leaf on each device, a leaf at a time.
pub(crate) fn spread<T: Tree>(
    devices: &[Device],
    host: &HostTree<'_, T>,
    make: impl Fn(usize, &HostArray<'_>, usize, &Device) -> Result<Buffer>,
) -> Result<PerDevice<T>> {
    check_devices(devices)?;
    let mut buffers: Vec<Vec<Buffer>> = Vec::new();
    buffers.resize_with(devices.len(), || Vec::with_capacity(host.leaves().len()));
    for (index, leaf) in host.leaves().iter().enumerate() {
        for (position, device) in devices.iter().enumerate() {
            let buffer = make(index, leaf, position, device).map_err(|error| {
                let leaf = host.structure().describe_leaf(index);
                error.context(format!("{leaf} for device {position}"))
            })?;
            buffers[position].push(buffer);
        }
    }
    rebuilt(buffers, host.structure())
}

fn rebuilt<T: Tree>(buffers: Vec<Vec<Buffer>>, structure: &Structure) -> Result<PerDevice<T>> {
    let parts = buffers.into_iter().enumerate().map(|(position, buffers)| {
        let source = &mut buffers.into_iter();
        Source::new(source, structure)
            .finish()
            .map_err(on(position))
    });
    Ok(PerDevice {
        parts: parts.collect::<Result<_>>()?,
    })
}

pub(crate) fn leaves_of<T: Tree>(tree: &T) -> Vec<&Buffer> {
    let mut list = ArgumentList::new();
    tree.lend(&mut list);
    list.lent().collect()
}

fn read(parts: &[&Buffer]) -> Result<Vec<HostArray<'static>>> {
    let parts = parts.iter().enumerate();
    let parts = parts.map(|(position, part)| HostArray::read(part).map_err(on(position)));
    parts.collect()
}

/// One after another along an axis.
fn concat(parts: &[HostArray<'_>], axis: usize) -> Result<HostArray<'static>> {
    let first = parts.first().ok_or_else(no_devices)?;
    let mut dims = first.dims().to_vec();
    if axis >= dims.len() {
        return Err(Error::invalid(format!(
            "{} has no axis {axis} to be joined along; `stack` makes one",
            first.shape()
        )));
    }
    dims[axis] = 0;
    for (position, part) in parts.iter().enumerate() {
        let fits = part.element_type() == first.element_type()
            && part.dims().len() == dims.len()
            && (0..dims.len()).all(|other| other == axis || part.dims()[other] == dims[other]);
        if !fits {
            return Err(Error::invalid(format!(
                "{} on device {position} can't be joined along axis {axis} with {} on device 0",
                part.shape(),
                first.shape()
            )));
        }
        dims[axis] += part.dims()[axis];
    }
    let mut whole = HostArray::try_zeros(Shape::new(first.element_type(), &dims)?)?;
    let mut start = 0;
    for part in parts {
        let mut block = Block::whole(part.shape());
        block.start[axis] = start;
        start += part.dims()[axis];
        whole.put(&block, part);
    }
    Ok(whole)
}

/// Refuses no devices, and one that is there twice.
fn check_devices(devices: &[Device]) -> Result<()> {
    if devices.is_empty() {
        return Err(no_devices());
    }
    for (position, device) in devices.iter().enumerate() {
        if let Some(first) = devices[..position].iter().position(|other| other == device) {
            return Err(Error::invalid(format!(
                "{device:?} is there twice, at {first} and at {position}; name each device once"
            )));
        }
    }
    Ok(())
}

fn check_place<T: Tree>(part: &T, position: usize, device: &Device) -> Result<()> {
    let leaves = leaves_of(part);
    match leaves.iter().position(|leaf| leaf.device() != *device) {
        None => Ok(()),
        Some(index) => Err(Error::invalid(format!(
            "{} for device {position}: wanted it on {device:?}, but it is on {:?}",
            part.structure().describe_leaf(index),
            leaves[index].device()
        ))),
    }
}
