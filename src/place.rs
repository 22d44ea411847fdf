//! Host arrays of global shape to the devices of a program, and back: each device gets the
//! part that the program's own sharding names.

use crate::buffer::Buffer;
use crate::error::{Code, Error, Result};
use crate::executable::Executable;
use crate::host_array::HostArray;
use crate::host_tree::HostTree;
use crate::leaf_order;
use crate::per_device::{on, PerDevice};
use crate::shape::Shape;
use crate::sharding::{Block, Sharding};
use crate::signature::{plural, Input};
use crate::spread::spread;
use crate::tree::{Structure, Tree};
use crate::which::Which;

/// How a host array goes to the replicas of a program; the partitions of a replica are given
/// by the program's sharding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replicas {
    /// Every replica gets all of it.
    Same,
    /// Every replica gets its share of the leading axis.
    Split,
}

impl Executable {
    /// Uploads host arrays, which are the same for all replicas, for the inputs from
    /// `first_input` on, which is a number or a name ([`Which`]): `place(0, &state)` or
    /// `place("state", &state)`. Arrays have the shape that the program states before it is
    /// partitioned ([`Input::global_shape`]); each partition gets its part. Axes that are not cut
    /// into equal parts are refused.
    ///
    /// # Errors
    /// There are fewer inputs than leaves; no input has the name, or another number of them than
    /// there are leaves, or its leaves stand in another order; an array has another element type or
    /// shape than the input; the program states no sharding; as [`PerDevice::replicate`]. Names the
    /// leaf.
    pub fn place<'n, T: Tree>(
        &self,
        first_input: impl Into<Which<'n>>,
        host: &HostTree<'_, T>,
    ) -> Result<PerDevice<T>> {
        let first = self.first_input(first_input.into(), host)?;
        self.place_over(first, host, Replicas::Same)
    }

    /// As [`Executable::place`], but each replica gets its share of the leading axis:
    /// a part of it, or, where the axis counts the replicas and the input has none for it,
    /// its place without the axis, as in `jax.pmap`.
    ///
    /// # Errors
    /// As [`Executable::place`]; the leading axis isn't divisible by the replicas: names
    /// its size, the number and the remainder.
    pub fn place_split<'n, T: Tree>(
        &self,
        first_input: impl Into<Which<'n>>,
        host: &HostTree<'_, T>,
    ) -> Result<PerDevice<T>> {
        let first = self.first_input(first_input.into(), host)?;
        self.place_over(first, host, Replicas::Split)
    }

    fn first_input<T: Tree>(&self, which: Which<'_>, host: &HostTree<'_, T>) -> Result<usize> {
        let leaves = host.leaves().len();
        let first = which.first_input(&self.signature, leaves)?;
        if let Which::Name(name) = which {
            let inputs = self.signature.inputs().iter().skip(first).take(leaves);
            let names: Vec<Option<&str>> = inputs.map(Input::name).collect();
            leaf_order::check(&format!("`{name}`"), &names, &host.structure().paths(""))?;
        }
        Ok(first)
    }

    pub(crate) fn place_over<T: Tree>(
        &self,
        first_input: usize,
        host: &HostTree<'_, T>,
        replicas: Replicas,
    ) -> Result<PerDevice<T>> {
        self.check_all_devices()?;
        let inputs = self.signature.inputs().get(first_input..).unwrap_or(&[]);
        let leaves = host.leaves().len();
        if leaves > inputs.len() {
            return Err(Error::invalid(format!(
                "{} from input {first_input} on, but `{}` has {}",
                plural(leaves, "array"),
                self.signature.name(),
                plural(self.signature.inputs().len(), "input"),
            )));
        }
        let wanted: Vec<Wanted<'_>> = host
            .leaves()
            .iter()
            .zip(inputs)
            .enumerate()
            .map(|(index, (leaf, input))| {
                self.wanted(leaf, input, replicas).map_err(|error| {
                    error.context(self.describe_placed(host.structure(), first_input, index))
                })
            })
            .collect::<Result<_>>()?;
        spread(&self.devices, host, |index, leaf, position, device| {
            wanted[index].part(self, leaf, position, device)
        })
    }

    /// What a leaf is called: by its path, or, of a tree that is a leaf, as the program calls it.
    fn describe_placed(&self, structure: &Structure, first_input: usize, leaf: usize) -> String {
        match structure.name() {
            Some(_) => structure.describe_leaf(leaf),
            None => self.signature.describe_input(first_input + leaf),
        }
    }

    /// Sees what of an array each device is to get.
    fn wanted<'w>(
        &self,
        array: &HostArray<'_>,
        input: &'w Input,
        replicas: Replicas,
    ) -> Result<Wanted<'w>> {
        let (sharding, global) = self.sharding_of(input.sharding(), input.global_shape())?;
        let count = self.signature.replicas();
        let mut axis = Leading::Whole;
        let mut whole = global.dims().to_vec();
        if replicas == Replicas::Split && count > 1 {
            if array.dims().len() > whole.len() {
                axis = Leading::Counts;
                whole.insert(0, count);
            } else if let Some(first) = whole.first_mut() {
                axis = Leading::Cut;
                *first *= count;
            } else {
                return Err(Error::invalid(format!(
                    "{} has no leading axis to be split over {}; give it an axis that counts them, or \
                     the same value to all (`Same`)",
                    array.shape(),
                    plural(count, "replica")
                )));
            }
        }
        if array.element_type() != global.element_type() || array.dims() != &whole[..] {
            let wanted = Shape::new(global.element_type(), &whole)?;
            let rest = match (array.dims().first(), axis) {
                (Some(size), Leading::Cut) if size % count != 0 => format!(
                    "; axis 0 has {size}, which leaves a remainder of {} over {}",
                    size % count,
                    plural(count, "replica")
                ),
                _ => String::new(),
            };
            return Err(Error::invalid(format!(
                "wanted {wanted} ({} on each of {}), got {}{rest}",
                input.shape(),
                plural(self.devices.len(), "device"),
                array.shape()
            )));
        }
        Ok(Wanted {
            input,
            sharding,
            global,
            axis,
        })
    }

    /// Joins a result of all partitions on the host: the other way round of
    /// [`Executable::place`], by the sharding of the outputs from `first_output` on.
    /// Parts that several partitions have are read from the first. Waits for the values.
    ///
    /// # Errors
    /// The program has several replicas, each with values of its own (`get` and `gather` take
    /// those); the values are not those outputs; the program states no sharding; the run that
    /// was to fill one failed. Names leaf and device.
    pub fn gather<T: Tree>(
        &self,
        first_output: usize,
        values: &PerDevice<T>,
    ) -> Result<HostTree<'static, T>> {
        self.check_all_devices()?;
        let replicas = self.signature.replicas();
        if replicas > 1 {
            return Err(Error::invalid(format!(
                "each of the {replicas} replicas of `{}` has values of its own; take them by device or \
                 join them along an axis with `PerDevice::gather`",
                self.signature.name()
            )));
        }
        if values.len() != self.devices.len() {
            return Err(Error::invalid(format!(
                "`{}` runs on {}, but the values are on {}",
                self.signature.name(),
                plural(self.devices.len(), "device"),
                values.len()
            )));
        }
        let outputs = self.signature.outputs().get(first_output..).unwrap_or(&[]);
        values.joined(|index, parts: &[&Buffer]| {
            let output = outputs.get(index).ok_or_else(|| {
                Error::invalid(format!(
                    "`{}` has no output {}",
                    self.signature.name(),
                    first_output + index
                ))
            })?;
            if let Some(position) = parts.iter().position(|part| part.shape() != output.shape()) {
                return Err(Error::invalid(format!(
                    "wanted {} on each device, but device {position} has {}",
                    output.shape(),
                    parts[position].shape()
                )));
            }
            let mut pairs = parts.iter().zip(&self.devices);
            if let Some(position) = pairs.position(|(part, device)| part.device() != *device) {
                return Err(Error::invalid(format!(
                    "wanted the part of device {position} on {:?}, but it is on {:?}; pass the parts in the \
                     order of `Executable::devices`",
                    self.devices[position],
                    parts[position].device()
                )));
            }
            let (sharding, global) = self.sharding_of(output.sharding(), output.global_shape())?;
            let mut whole = HostArray::try_zeros(global)?;
            for (block, partition) in sharding.distinct(whole.shape(), parts.len())? {
                let part = HostArray::read(parts[partition]).map_err(on(partition))?;
                whole.put(&block, &part);
            }
            Ok(whole)
        })
    }

    fn sharding_of<'s>(
        &self,
        sharding: Option<&'s Sharding>,
        global: Option<Shape>,
    ) -> Result<(&'s Sharding, Shape)> {
        match (sharding, global) {
            (Some(sharding), Some(global)) => Ok((sharding, global)),
            _ => Err(Error::new(
                Code::Unimplemented,
                format!(
                    "`{}` doesn't state how this is spread over its {}; make the part of each device with \
                     `PerDevice::from_fn`",
                    self.signature.name(),
                    plural(self.signature.partitions(), "partition")
                ),
            )),
        }
    }

    /// Refuses programs that run on devices of other processes too.
    fn check_all_devices(&self) -> Result<()> {
        let all = self.signature.replicas() * self.signature.partitions();
        if all == self.devices.len() {
            return Ok(());
        }
        Err(Error::new(
            Code::Unimplemented,
            format!(
                "`{}` runs on {all} devices, of which this process has {}; make the part of each of \
                 those with `PerDevice::from_fn`",
                self.signature.name(),
                self.devices.len()
            ),
        ))
    }
}

/// What becomes of the leading axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leading {
    /// Every replica has all of it.
    Whole,
    /// It is cut into a part for each replica.
    Cut,
    /// It counts the replicas; an input has none for it.
    Counts,
}

struct Wanted<'w> {
    input: &'w Input,
    sharding: &'w Sharding,
    /// A replica's shape over all partitions.
    global: Shape,
    axis: Leading,
}

impl Wanted<'_> {
    /// Uploads what the device at `position` gets of an array.
    fn part(
        &self,
        executable: &Executable,
        array: &HostArray<'_>,
        position: usize,
        device: &crate::Device,
    ) -> Result<Buffer> {
        let partitions = executable.signature.partitions();
        let (replica, partition) = (position / partitions, position % partitions);
        let mut block = self.sharding.block(&self.global, partition)?;
        match self.axis {
            Leading::Whole => {}
            Leading::Cut => block.start[0] += replica * self.global.dims()[0],
            Leading::Counts => {
                block = Block {
                    start: std::iter::once(replica).chain(block.start).collect(),
                    dims: std::iter::once(1).chain(block.dims).collect(),
                }
            }
        }
        let part = array.block(&block)?;
        let layout = self.input.layout();
        Buffer::upload_bytes(device, part.as_bytes(), self.input.shape(), layout)
    }
}
