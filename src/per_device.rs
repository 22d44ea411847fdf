//! Values on many devices: a tree for each.

use std::fmt;
use std::ops::Index;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::argument::ArgumentList;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::spare;
use crate::tree::Tree;

/// A tree on each of a program's devices, in the order of
/// [`Executable::devices`](crate::Executable::devices): what `jax.pmap` takes and gives, but
/// without a leading axis. Each tree has buffers of its own.
///
/// Made by [replicating](PerDevice::replicate), by [splitting](PerDevice::shard) host arrays,
/// [device by device](PerDevice::from_fn), or by a run of a
/// [`ParallelFunction`](crate::ParallelFunction).
///
/// ```
/// use xla::{Buffer, ClientOptions, HostArray, PerDevice, Plugin};
///
/// # fn main() -> xla::Result<()> {
/// let client = Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(2))?;
/// let devices = client.devices();
/// let rows = HostArray::new(&[1f32, 2., 3., 4.], &[2, 2])?.into();
/// let halves: PerDevice<Buffer> = PerDevice::shard(&devices, &rows, 0)?;
/// assert_eq!(halves[1].to_host::<f32>()?, [3., 4.]);
/// assert_eq!(halves.gather(0)?, rows);
/// # Ok(())
/// # }
/// ```
pub struct PerDevice<T: 'static> {
    pub(crate) parts: Vec<T>,
}

/// A part of the tree of each device, lent: see [`PerDevice::part`].
pub struct PartOf<'a, T> {
    pub(crate) parts: SmallVec<[&'a T; 8]>,
}

impl<T: 'static> PerDevice<T> {
    /// One value for each device, in order. That they lie on the devices of a program is
    /// checked when it is called.
    pub fn from_parts(parts: impl IntoIterator<Item = T>) -> PerDevice<T> {
        PerDevice {
            parts: parts.into_iter().collect(),
        }
    }

    /// How many devices there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The value of the `position`-th device.
    pub fn get(&self, position: usize) -> Option<&T> {
        self.parts.get(position)
    }

    /// The values, device by device.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.parts.iter()
    }

    /// The values by themselves, device by device.
    pub fn into_inner(mut self) -> Vec<T> {
        std::mem::take(&mut self.parts)
    }

    /// The first device's value, of values that are the same on all devices: to read a
    /// metric, save a state, or go on with one device. The others are dropped.
    ///
    /// # Errors
    /// There are no devices.
    pub fn unreplicate(mut self) -> Result<T> {
        if self.parts.is_empty() {
            return Err(no_devices());
        }
        Ok(self.parts.swap_remove(0))
    }

    /// What `map` makes of each device's value.
    pub fn map<U>(mut self, map: impl FnMut(T) -> U) -> PerDevice<U> {
        let mut parts = spare::take(self.parts.len());
        parts.extend(self.parts.drain(..).map(map));
        PerDevice { parts }
    }

    /// Lends a part of each device's tree, as [`Part`](crate::Part) parameters take it: the
    /// weights of a state, say, to a program that evaluates them.
    ///
    /// ```
    /// # use xla::{Buffer, PerDevice};
    /// # struct State { weights: Buffer, steps: Buffer }
    /// # fn f(state: &PerDevice<State>) {
    /// let weights = state.part(|state| &state.weights);
    /// # }
    /// ```
    pub fn part<U>(&self, part: impl Fn(&T) -> &U) -> PartOf<'_, U> {
        PartOf {
            parts: self.parts.iter().map(part).collect(),
        }
    }

    /// Pairs up the values of each device.
    ///
    /// # Errors
    /// The numbers of devices differ.
    pub fn zip<U>(mut self, mut other: PerDevice<U>) -> Result<PerDevice<(T, U)>> {
        if self.len() != other.len() {
            return Err(Error::invalid(format!(
                "values on {} devices can't be paired with values on {}",
                self.len(),
                other.len()
            )));
        }
        let mut parts = spare::take(self.len());
        parts.extend(self.parts.drain(..).zip(other.parts.drain(..)));
        Ok(PerDevice { parts })
    }
}

impl<T: 'static, U: 'static> PerDevice<(T, U)> {
    /// Takes pairs apart.
    pub fn unzip(mut self) -> (PerDevice<T>, PerDevice<U>) {
        let (mut first, mut second) = (spare::take(self.len()), spare::take(self.len()));
        for (one, other) in self.parts.drain(..) {
            first.push(one);
            second.push(other);
        }
        (PerDevice { parts: first }, PerDevice { parts: second })
    }
}

impl<T: Tree> PerDevice<T> {
    /// The devices that the trees lie on, by their first leaves; `None` for a tree without.
    pub fn devices(&self) -> Vec<Option<Device>> {
        let parts = self.parts.iter();
        parts
            .map(|part| {
                let mut leaves = ArgumentList::new();
                part.lend(&mut leaves);
                let first = leaves.lent().next().map(Buffer::device);
                first
            })
            .collect()
    }

    /// Second trees with the same values on the same devices, by
    /// [`Tree::copy_on_device`]: what is to be kept over a call that is given the first.
    /// Waits for the values.
    ///
    /// # Errors
    /// As [`Tree::copy_on_device`], naming the device.
    #[doc(alias = "clone")]
    pub fn copy_on_device(&self) -> Result<PerDevice<T>> {
        let parts = self.parts.iter().enumerate();
        let copies = parts.map(|(position, part)| part.copy_on_device().map_err(on(position)));
        Ok(PerDevice {
            parts: copies.collect::<Result<_>>()?,
        })
    }

    /// Blocks until all values on all devices are there.
    ///
    /// # Errors
    /// The run or transfer that was to fill one failed: names the first, by device and leaf.
    pub fn wait(&self) -> Result<()> {
        self.wait_until(None).map(|_| ())
    }

    /// Blocks until all values on all devices are there, or for `timeout`. Gives the
    /// positions of the devices that are not ready then: none when all is there.
    ///
    /// # Errors
    /// As [`PerDevice::wait`].
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Vec<usize>> {
        // What is further away than the clock counts is never.
        self.wait_until(Instant::now().checked_add(timeout))
    }

    /// The positions of the devices that are not ready yet, without waiting.
    ///
    /// # Errors
    /// As [`PerDevice::wait`].
    pub fn pending(&self) -> Result<Vec<usize>> {
        self.wait_until(Some(Instant::now()))
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Result<Vec<usize>> {
        let mut pending = Vec::new();
        for (position, part) in self.parts.iter().enumerate() {
            let mut leaves = ArgumentList::new();
            part.lend(&mut leaves);
            for (index, leaf) in leaves.lent().enumerate() {
                let ready = leaf.ready().and_then(|event| match deadline {
                    None => event.wait().map(|()| true),
                    Some(deadline) => {
                        event.wait_timeout(deadline.saturating_duration_since(Instant::now()))
                    }
                });
                let ready = ready.map_err(|error| {
                    let leaf = part.structure().describe_leaf(index);
                    error.context(format!("{leaf} on device {position}"))
                })?;
                if !ready {
                    pending.push(position);
                    break;
                }
            }
        }
        Ok(pending)
    }
}

/// Notes the device of a failure.
pub(crate) fn on(position: usize) -> impl Fn(Error) -> Error {
    move |error| error.context(format!("on device {position}"))
}

pub(crate) fn no_devices() -> Error {
    Error::invalid("no devices were given; pass those of the program, its `devices`")
}

/// The memory of the list itself goes to the next one; see `spare`.
impl<T: 'static> Drop for PerDevice<T> {
    fn drop(&mut self) {
        spare::put(std::mem::take(&mut self.parts));
    }
}

impl<T: 'static> Index<usize> for PerDevice<T> {
    type Output = T;

    /// # Panics
    /// There are not that many devices.
    fn index(&self, position: usize) -> &T {
        &self.parts[position]
    }
}

impl<'a, T: 'static> IntoIterator for &'a PerDevice<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.iter()
    }
}

impl<T: 'static> IntoIterator for PerDevice<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_inner().into_iter()
    }
}

impl<T: fmt::Debug + 'static> fmt::Debug for PerDevice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PerDevice")?;
        f.debug_list().entries(&self.parts).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for PartOf<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PartOf")?;
        f.debug_list().entries(&self.parts).finish()
    }
}
