//! Host arrays to the parameters of a typed program, and its results back to the host.

use std::any::TypeId;

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::host_array::HostArray;
use crate::host_tree::HostTree;
use crate::per_device::PerDevice;
use crate::place::Replicas;
use crate::signature::plural;
use crate::spread::spread;
use crate::tree::{type_name, Tree};

use super::{ParallelFunction, ParallelParameters, Results};

impl<P: ParallelParameters, R: Results> ParallelFunction<P, R> {
    /// Uploads host arrays for a parameter, the same for all replicas, as
    /// [`Same`](crate::Same) does at a call: to have them on the devices before, or to keep them.
    ///
    /// # Errors
    /// There is no such parameter, or it is of another type; the leaf counts of those before it
    /// are known at run time only; as [`Executable::place`](crate::Executable::place).
    pub fn place<T: Tree>(&self, parameter: usize, host: &HostTree<'_, T>) -> Result<PerDevice<T>> {
        self.place_over(parameter, host, Replicas::Same)
    }

    /// Uploads host arrays for a parameter, split over the replicas, as
    /// [`Split`](crate::Split) does at a call: the next batch while a step runs, say.
    ///
    /// # Errors
    /// As [`ParallelFunction::place`] and [`Executable::place_split`](crate::Executable::place_split).
    pub fn place_split<T: Tree>(
        &self,
        parameter: usize,
        host: &HostTree<'_, T>,
    ) -> Result<PerDevice<T>> {
        self.place_over(parameter, host, Replicas::Split)
    }

    /// Zeros (`false` for `pred`) for a parameter, on every device in the shapes that it takes:
    /// metrics, gradients to be summed up, an optimizer's moments.
    ///
    /// # Errors
    /// How `T` is built is known at run time only; as [`ParallelFunction::place`] of the
    /// parameter, and [`Buffer::from_bytes`].
    pub fn zeros<T: Tree>(&self, parameter: usize) -> Result<PerDevice<T>> {
        let first_input = self.first_input::<T>(parameter)?;
        let inputs = self.signature().inputs().get(first_input..).unwrap_or(&[]);
        // What the types say of leaves was compared with the inputs before.
        let leaves = inputs.iter().take(T::LEAVES.unwrap_or_default());
        let host = HostTree::new(leaves.map(|input| HostArray::zeros(input.shape().clone())))
            .map_err(|error| self.not_for(parameter, Err(error)))?;
        spread(&self.executable.devices, &host, |leaf, zeros, _, device| {
            let input = &inputs[leaf];
            Buffer::upload_bytes(device, zeros.as_bytes(), input.shape(), input.layout())
        })
        .map_err(|error| self.not_for(parameter, Err(error)))
    }

    fn place_over<T: Tree>(
        &self,
        parameter: usize,
        host: &HostTree<'_, T>,
        replicas: Replicas,
    ) -> Result<PerDevice<T>> {
        let first_input = self.first_input::<T>(parameter)?;
        self.executable
            .place_over(first_input, host, replicas)
            .map_err(|error| self.not_for(parameter, Err(error)))
    }

    fn first_input<T: Tree>(&self, parameter: usize) -> Result<usize> {
        let structures = P::constant_structures();
        let Some((of, _)) = structures.get(parameter) else {
            return Err(Error::invalid(format!(
                "{} has {}, so none of the number {parameter}",
                self.typed(),
                plural(structures.len(), "parameter")
            )));
        };
        if *of != TypeId::of::<T>() {
            return Err(Error::invalid(format!(
                "`{}` of {} is not a `{}`",
                self.roots.name(parameter),
                self.typed(),
                type_name::<T>()
            )));
        }
        P::first_input(parameter).ok_or_else(|| {
            Error::invalid(format!(
                "how many leaves come before `{}` of {} is known at run time only; say it with \
                 `Executable::place` or `place_split`",
                self.roots.name(parameter),
                self.typed()
            ))
        })
    }

    /// Joins a result of all partitions on the host, by the program's own sharding: as
    /// [`Executable::gather`](crate::Executable::gather), for the `result`-th of `R`.
    ///
    /// # Errors
    /// There is no such result, or it is of another type; as [`Executable::gather`](crate::Executable::gather).
    pub fn gather<T: Tree>(
        &self,
        result: usize,
        values: &PerDevice<T>,
    ) -> Result<HostTree<'static, T>> {
        let unknown = || {
            Error::invalid(format!(
                "how many leaves the results of {} have is known at run time only; say it with \
                 `results_like`, or the output with `Executable::gather`",
                self.typed()
            ))
        };
        let structure = self.results.as_ref().ok_or_else(unknown)?;
        match R::place_of(result, structure) {
            Some((of, first_output)) if of == TypeId::of::<T>() => {
                self.executable.gather(first_output, values)
            }
            _ => Err(Error::invalid(format!(
                "result {result} of {} is not a `{}`",
                self.typed(),
                type_name::<T>()
            ))),
        }
    }
}
