//! What a program says of itself, before it is compiled.

use super::{module_name, Program, ProgramFormat};
use crate::device_shape::ShapeTable;
use crate::element::ElementType;
use crate::error::{Code, Error, Result};
use crate::hlo;
use crate::shape::Shape;
use crate::signature::{Donation, Signature};

/// How StableHLO writes what speaks to other devices.
const COLLECTIVES: [&str; 7] = [
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.collective_",
    "stablehlo.recv",
    "stablehlo.reduce_scatter",
    "stablehlo.send",
];

impl Program {
    /// What the program says that it takes, gives and donates, read from it alone: nothing is
    /// compiled, and no plugin is asked. Of an HLO module nothing else is decoded, so that one of
    /// 200,000 instructions, or with a constant of 100 MB, is read in a moment and without copies.
    ///
    /// It knows less than [`Executable::signature`](crate::Executable::signature), whose program a
    /// compiler has seen:
    /// - Replicas and partitions are those that the program states, or one of each.
    /// - Of a program with several partitions, shapes are those over all of them, and shardings
    ///   aren't known.
    /// - Inputs that are offered to whichever output fits are [`Donation::Offered`].
    /// - Sizes in memory are those of shapes, without what a device pads.
    /// - StableHLO text: arrays are taken to be row-major, and an output is told to be an input
    ///   where `@main` returns it by its name.
    /// - HLO: outputs have no names.
    ///
    /// ```
    /// use xla::{Donation, Program};
    ///
    /// let program = Program::from_text(
    ///     "func.func @main(%w: tensor<2xf32> {jax.buffer_donor = true}) -> tensor<2xf32> {
    ///        return %w : tensor<2xf32>
    ///      }",
    /// )?;
    /// let signature = program.signature()?;
    /// assert!(!signature.is_compiled());
    /// assert_eq!(signature.inputs()[0].donation(), Donation::Offered);
    /// # Ok::<(), xla::Error>(())
    /// ```
    ///
    /// # Errors
    /// The program is MLIR bytecode, which only compilers read; the head of a text can't be read; an
    /// input or output has no fixed shape, or is a tuple that the program takes.
    pub fn signature(&self) -> Result<Signature> {
        let stated = match self.format {
            ProgramFormat::StableHloText => self.of_text(),
            ProgramFormat::Hlo => self.of_module(),
            ProgramFormat::StableHloBytecode => Err(Error::new(
                Code::Unimplemented,
                "this is MLIR bytecode, whose signature is only read by compiling it; compile it, or \
                 export it as text (in JAX `lowered.as_text()`)",
            )),
        };
        stated.map_err(|error| error.context(&self.origin))
    }

    /// Refuses a text whose `@main` takes arrays of any size, of which no compiler here makes code.
    /// Those with upper bounds, and texts that can't be read, are left to the compiler.
    pub(crate) fn check_dimensions(&self) -> Result<()> {
        let text = self.format == ProgramFormat::StableHloText;
        if !text || memchr::memchr(b'?', self.as_bytes()).is_none() {
            return Ok(());
        }
        let Ok(main) = xla_mlir::parse(self.as_bytes()) else {
            return Ok(());
        };
        let mut inputs = main.inputs.iter().enumerate();
        let Some((index, input)) = inputs.find(|(_, input)| input.tensor.is_unbounded()) else {
            return Ok(());
        };
        let value = || input.value.as_ref().map(|value| format!(" (`%{value}`)"));
        let name = input.name.as_ref().map(|name| format!(" (`{name}`)"));
        Err(Error::new(
            Code::Unimplemented,
            format!(
                "argument {index}{} of {} is {}, with a dynamic dimension, which is not supported; \
                 export the program with fixed shapes",
                name.or_else(value).unwrap_or_default(),
                self.origin,
                input.tensor
            ),
        ))
    }

    fn of_module(&self) -> Result<Signature> {
        let module = hlo::Module::read(self.as_bytes())
            .map_err(|damage| Error::invalid(format!("the HLO module has {damage}")))?;
        let shapes = ShapeTable::default();
        Signature::of_hlo(&module, self.stated_counts(), &shapes, Donation::Offered)
    }

    fn of_text(&self) -> Result<Signature> {
        let main =
            xla_mlir::parse(self.as_bytes()).map_err(|error| Error::invalid(error.to_string()))?;
        let shape = |tensor: &xla_mlir::Tensor, what: &str, index: usize| {
            shape(tensor).map_err(|error| error.context(format!("{what} {index}")))
        };
        let inputs = main.inputs.into_iter().enumerate().map(|(index, input)| {
            let donation = match input.aliasing_output {
                Some(output) => Donation::Into {
                    output,
                    required: false,
                },
                None if input.buffer_donor => Donation::Offered,
                None => Donation::None,
            };
            Ok((input.name, shape(&input.tensor, "input", index)?, donation))
        });
        let outputs = main.outputs.into_iter().enumerate();
        let outputs = outputs.map(|(index, output)| {
            let shape = shape(&output.tensor, "output", index)?;
            Ok((output.name, shape, output.returned))
        });
        let text = std::str::from_utf8(self.as_bytes()).unwrap_or_default();
        Ok(Signature::as_stated(
            module_name(text).unwrap_or("main").to_owned(),
            self.stated_counts(),
            inputs.collect::<Result<_>>()?,
            outputs.collect::<Result<_>>()?,
            COLLECTIVES.iter().any(|name| text.contains(name)),
        ))
    }

    /// How many replicas and partitions it has where nothing else is asked for.
    fn stated_counts(&self) -> (usize, usize) {
        let count = |stated: Option<usize>| stated.unwrap_or(1).max(1);
        (
            count(self.declared.replicas),
            count(self.declared.partitions),
        )
    }
}

fn shape(tensor: &xla_mlir::Tensor) -> Result<Shape> {
    let element_type = element_type(&tensor.element)?;
    let dims = tensor.dims.iter().flatten().map(|dim| match dim {
        xla_mlir::Dim::Static(size) => i64::try_from(*size).unwrap_or(i64::MAX),
        xla_mlir::Dim::Dynamic => -1,
    });
    if tensor.dims.is_none() {
        return Err(Error::invalid(format!(
            "{tensor} has any number of dimensions, which is not supported; give it a static shape"
        )));
    }
    Shape::from_raw_dims(element_type, &dims.collect::<Vec<_>>())
}

/// The element type that StableHLO writes so.
fn element_type(name: &str) -> Result<ElementType> {
    let digits = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        rest.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(rest)
    };
    match (name, digits("ui"), digits("i")) {
        ("i1", ..) => Ok(ElementType::Pred),
        ("complex<f32>", ..) => Ok(ElementType::C64),
        ("complex<f64>", ..) => Ok(ElementType::C128),
        (_, Some(bits), _) => format!("u{bits}").parse(),
        (_, _, Some(bits)) => format!("s{bits}").parse(),
        _ => name.to_ascii_lowercase().parse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_of_text() {
        for (text, wanted) in [
            ("i1", ElementType::Pred),
            ("i4", ElementType::S4),
            ("i32", ElementType::S32),
            ("ui8", ElementType::U8),
            ("bf16", ElementType::Bf16),
            ("f64", ElementType::F64),
            ("f8E4M3FN", ElementType::F8E4M3FN),
            ("f8E4M3B11FNUZ", ElementType::F8E4M3B11FNUZ),
            ("f4E2M1FN", ElementType::F4E2M1FN),
            ("complex<f32>", ElementType::C64),
            ("complex<f64>", ElementType::C128),
            ("token", ElementType::Token),
        ] {
            assert_eq!(element_type(text).ok(), Some(wanted), "{text}");
        }
        assert!(element_type("i3").is_err());
        assert!(element_type("quaternion").is_err());
    }
}
