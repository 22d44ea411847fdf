//! Signatures from modules, and from what a text states.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::{Donation, Input, Output, Signature};
use crate::device_shape::{DeviceShape, ShapeTable};
use crate::element::ElementType;
use crate::error::{Code, Error, Result};
use crate::footprint::Footprint;
use crate::hlo::{self, Few, HloShape, Leaf};
use crate::returned;
use crate::shape::{Layout, Shape};
use crate::sharding::{self, Sharding};

impl Signature {
    /// Reads a compiled module.
    pub(crate) fn of_module(
        module: &hlo::Module<'_>,
        replicas: usize,
        partitions: usize,
        shapes: &ShapeTable,
    ) -> Result<Signature> {
        Signature::of_hlo(module, (replicas, partitions), shapes, Donation::Unused)
    }

    /// Reads a module, whose donors without an output are what `donor` says.
    pub(crate) fn of_hlo(
        module: &hlo::Module<'_>,
        (replicas, partitions): (usize, usize),
        shapes: &ShapeTable,
        donor: Donation,
    ) -> Result<Signature> {
        let program_shape = module
            .shape
            .as_ref()
            .ok_or_else(|| unreadable("it states no program shape"))?;
        if program_shape
            .parameters
            .iter()
            .any(|shape| matches!(shape, HloShape::Tuple(_)))
        {
            return Err(Error::new(
                Code::Unimplemented,
                "the program takes a tuple, which is not supported; export it with flat arguments, \
                 each a parameter of its own",
            ));
        }
        // None is a tuple: each has one.
        let parameters = program_shape.parameters.iter().flat_map(HloShape::leaves);
        let parameters: Vec<Leaf> = parameters.collect();
        let results = match &program_shape.result {
            Some(result) => result.leaves(),
            None => Vec::new(),
        };
        let is_compiled = donor == Donation::Unused;
        let parameters = parameters.iter();
        let parameters = parameters.map(|leaf| Array::of_leaf(leaf, shapes, is_compiled));
        let mut inputs: Vec<Input> = parameters
            .map(|array| Ok(array?.into_input()))
            .collect::<Result<_>>()?;
        let arrays = results.iter();
        let arrays = arrays.map(|leaf| Array::of_leaf(leaf, shapes, is_compiled));
        let mut outputs: Vec<Output> = arrays
            .map(|array| Ok(array?.into_output()))
            .collect::<Result<_>>()?;
        read_shardings(module, partitions, &mut inputs, &mut outputs);
        read_names(module, &mut inputs);
        read_returned(module, &results, inputs.len(), &mut outputs);
        read_donations(module, &results, donor, &mut inputs)?;
        note_donors(&inputs, &mut outputs);
        Ok(Signature {
            name: module.name.to_owned(),
            inputs,
            outputs,
            replicas,
            partitions,
            has_collectives: module.has_collectives,
            is_compiled,
        })
    }

    /// That of a program as its text states it, which isn't compiled. Arrays are row-major.
    pub(crate) fn as_stated(
        name: String,
        (replicas, partitions): (usize, usize),
        inputs: Vec<(Option<String>, Shape, Donation)>,
        outputs: Vec<(Option<String>, Shape, Option<usize>)>,
        has_collectives: bool,
    ) -> Signature {
        let shapes = ShapeTable::default();
        let sharding = (partitions == 1).then(Sharding::replicated);
        let inputs = inputs.into_iter().map(|(name, shape, donation)| Input {
            name,
            donation,
            sharding: sharding.clone(),
            ..Array::row_major(shape, &shapes).into_input()
        });
        let inputs: Vec<Input> = inputs.collect();
        let outputs = outputs.into_iter().map(|(name, shape, returned)| Output {
            name,
            returned,
            sharding: sharding.clone(),
            ..Array::row_major(shape, &shapes).into_output()
        });
        let mut outputs: Vec<Output> = outputs.collect();
        note_donors(&inputs, &mut outputs);
        Signature {
            name,
            inputs,
            outputs,
            replicas,
            partitions,
            has_collectives,
            is_compiled: false,
        }
    }
}

/// What is known of an input or output by itself.
struct Array {
    form: Arc<DeviceShape>,
    layout: Layout,
    footprint: Footprint,
}

impl Array {
    fn of_leaf(leaf: &Leaf<'_>, shapes: &ShapeTable, is_compiled: bool) -> Result<Array> {
        let (shape, layout) = leaf.read()?;
        let stated = leaf.array.layout.as_ref();
        let footprint = Footprint::of(&shape, &layout, stated);
        let form = shapes.intern(DeviceShape::new(shape, &layout));
        Ok(Array {
            // What is narrower than a byte is packed while compiling.
            footprint: match is_compiled {
                true => footprint,
                false => Footprint {
                    memory: footprint.memory,
                    ..Footprint::packed(&form)
                },
            },
            form,
            layout,
        })
    }

    fn row_major(shape: Shape, shapes: &ShapeTable) -> Array {
        let layout = Layout::row_major(shape.rank());
        let form = shapes.intern(DeviceShape::new(shape, &layout));
        Array {
            footprint: Footprint::packed(&form),
            form,
            layout,
        }
    }

    fn into_input(self) -> Input {
        Input {
            name: None,
            form: self.form,
            layout: self.layout,
            footprint: self.footprint,
            donation: Donation::None,
            sharding: None,
            stated: None,
        }
    }

    fn into_output(self) -> Output {
        Output {
            name: None,
            form: self.form,
            layout: self.layout,
            footprint: self.footprint,
            returned: None,
            sharding: None,
            stated: None,
            donor: None,
        }
    }
}

impl Leaf<'_> {
    fn read(&self) -> Result<(Shape, Layout)> {
        let element_type = ElementType::from_hlo(self.array.element_type).ok_or_else(|| {
            unreadable(format!(
                "it uses the element type {} of HLO",
                self.array.element_type
            ))
        })?;
        if self.array.is_dynamic {
            return Err(Error::new(
                Code::Unimplemented,
                format!(
                    "the program has an input or output with a dynamic dimension ({element_type}{:?}, \
                     some of them upper bounds), which is not supported; give it static shapes",
                    self.array.dimensions
                ),
            ));
        }
        let shape = Shape::from_raw_dims(element_type, &self.array.dimensions)?;
        let layout = match &self.array.layout {
            Some(layout) => Layout::from_minor_to_major(&layout.minor_to_major, shape.rank())
                .ok_or_else(|| unreadable(format!("{shape} has a layout that isn't one")))?,
            None => Layout::row_major(shape.rank()),
        };
        Ok((shape, layout))
    }
}

fn read_shardings(
    module: &hlo::Module<'_>,
    partitions: usize,
    inputs: &mut [Input],
    outputs: &mut [Output],
) {
    let ranks: Vec<usize> = inputs.iter().map(|input| input.shape().rank()).collect();
    let stated = sharding::of_inputs(module, partitions, &ranks);
    for (input, stated) in inputs.iter_mut().zip(stated) {
        input.sharding = stated;
    }
    let ranks: Vec<usize> = outputs.iter().map(|output| output.shape().rank()).collect();
    let stated = sharding::of_outputs(module, partitions, &ranks);
    for (output, stated) in outputs.iter_mut().zip(stated) {
        output.sharding = stated;
    }
}

/// JAX names each parameter by its path in the Python tree, in the instruction's metadata.
fn read_names(module: &hlo::Module<'_>, inputs: &mut [Input]) {
    for (number, name) in &module.parameters {
        if let Some(input) = input_of(*number, &[], inputs.len()) {
            if !name.is_empty() {
                inputs[input].name = Some((*name).to_owned());
            }
        }
    }
}

/// The input that a parameter is: none is a tuple.
fn input_of(parameter: i64, index: &[i64], inputs: usize) -> Option<usize> {
    let input = usize::try_from(parameter).ok()?;
    (index.is_empty() && input < inputs).then_some(input)
}

/// Which outputs are inputs, as they are.
fn read_returned(
    module: &hlo::Module<'_>,
    results: &[Leaf<'_>],
    inputs: usize,
    outputs: &mut [Output],
) {
    let results: Vec<Few> = results.iter().map(|leaf| leaf.index.clone()).collect();
    let returned = returned::parameters(module, &results);
    for (output, parameter) in outputs.iter_mut().zip(returned) {
        output.returned = input_of(parameter.unwrap_or(-1), &[], inputs);
    }
}

fn read_donations(
    module: &hlo::Module<'_>,
    results: &[Leaf<'_>],
    donor: Donation,
    inputs: &mut [Input],
) -> Result<()> {
    let count = inputs.len();
    let input_of = |parameter: i64, index: &[i64]| {
        input_of(parameter, index, count)
            .ok_or_else(|| unreadable("its alias table names an input that it doesn't have"))
    };
    for entry in &module.donors {
        let input = input_of(entry.parameter, &entry.parameter_index)?;
        inputs[input].donation = donor;
    }
    let results = results.iter().enumerate();
    let results: HashMap<&[i64], usize> = results
        .map(|(output, leaf)| (leaf.index.as_slice(), output))
        .collect();
    for alias in &module.aliases {
        let input = input_of(alias.parameter, &alias.parameter_index)?;
        let output = results
            .get(alias.output_index.as_slice())
            .ok_or_else(|| unreadable("its alias table names an output that it doesn't have"))?;
        inputs[input].donation = Donation::Into {
            output: *output,
            required: alias.kind == 2,
        };
    }
    Ok(())
}

/// Says for each output whose memory it has.
fn note_donors(inputs: &[Input], outputs: &mut [Output]) {
    for (index, input) in inputs.iter().enumerate() {
        let Donation::Into { output, .. } = input.donation else {
            continue;
        };
        let output = &mut outputs[output];
        if output.form.bytes() == input.form.bytes() {
            output.donor = Some(index);
        }
    }
}

fn unreadable(why: impl fmt::Display) -> Error {
    Error::new(
        Code::Unimplemented,
        format!("the program's signature can't be read: {why}"),
    )
}
