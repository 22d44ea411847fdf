//! What was written for a program's arguments, held against what it takes.

use std::collections::HashMap;

use xla::{Donation, Executable, HostArray, Input, Shape, Signature};

use crate::files;
use crate::npy::{self, Header};
use crate::report::Failure;
use crate::spec::{Passing, Spec, Values};
use crate::values;

/// An argument on one device.
pub(crate) struct Fitted {
    pub(crate) array: HostArray<'static>,
    pub(crate) passing: Passing,
}

/// The arguments of every device, in the order of [`Executable::devices`].
pub(crate) fn arguments(
    specs: &[Spec],
    executable: &Executable,
) -> Result<Vec<Vec<Fitted>>, Failure> {
    let signature = executable.signature();
    let devices = executable.devices().len();
    let beyond = specs.iter().find(|spec| spec.device >= Some(devices));
    if let Some(Spec {
        text,
        device: Some(device),
        ..
    }) = beyond
    {
        return Err(Failure::refused(format!(
            "`{text}` is for the device at position {device}, but {} is run by {devices}",
            signature.name()
        )));
    }
    let mut made = HashMap::new();
    let on_device = |device| {
        let own = specs.iter().enumerate();
        let own: Vec<(usize, &Spec)> = own
            .filter(|(_, spec)| spec.device.is_none_or(|only| only == device))
            .collect();
        check_count(signature, devices, device, own.len())?;
        let fitted = own.iter().enumerate().map(|(input, (place, spec))| {
            let whole = match made.get(&(*place, input)) {
                Some(whole) => whole,
                None => {
                    let whole = whole(spec, signature, input);
                    let whole = whole.map_err(|error| about(error, spec, signature, input))?;
                    made.entry((*place, input)).or_insert(whole)
                }
            };
            let fitted = Fitted {
                array: part(whole, signature, input, device)?,
                passing: passing(spec, &signature.inputs()[input]),
            };
            Ok(fitted)
        });
        fitted.collect()
    };
    (0..devices).map(on_device).collect()
}

fn passing(spec: &Spec, input: &Input) -> Passing {
    match (spec.passing, input.donation()) {
        (Some(passing), _) => passing,
        (None, Donation::None) => Passing::Lend,
        (None, _) => Passing::Give,
    }
}

fn check_count(
    signature: &Signature,
    devices: usize,
    device: usize,
    count: usize,
) -> Result<(), Failure> {
    let inputs = signature.inputs();
    if count == inputs.len() {
        return Ok(());
    }
    let place = match devices {
        1 => String::new(),
        _ => format!("for the device at position {device}, "),
    };
    let mut message = format!(
        "{place}{} takes {} {}, but got {count}",
        signature.name(),
        inputs.len(),
        if inputs.len() == 1 {
            "argument"
        } else {
            "arguments"
        }
    );
    for (index, input) in inputs.iter().enumerate().skip(count) {
        message += &format!(
            "\n  missing: {}, {}",
            called(signature, index),
            types(input)
        );
    }
    if count < inputs.len() {
        message += "\neach takes an `--arg`, such as `--arg =zeros`";
    }
    Err(Failure::refused(message))
}

/// How messages call an argument.
fn called(signature: &Signature, index: usize) -> String {
    match signature.inputs().get(index).and_then(Input::name) {
        Some(name) => format!("argument {index} (`{name}`)"),
        None => format!("argument {index}"),
    }
}

/// The shapes that an argument may have.
fn types(input: &Input) -> String {
    match global(input) {
        Some(global) => format!("{global} over all devices, {} on each", input.shape()),
        None => input.shape().to_string(),
    }
}

/// The shape over all devices, where it is another.
fn global(input: &Input) -> Option<Shape> {
    input
        .global_shape()
        .filter(|global| global != input.shape())
}

fn about(error: String, spec: &Spec, signature: &Signature, index: usize) -> Failure {
    Failure::refused(format!(
        "{}, wanted {}, `{}`: {error}",
        called(signature, index),
        types(&signature.inputs()[index]),
        spec.text
    ))
}

/// The array that was written: what each device gets, or what is split over them.
fn whole(spec: &Spec, signature: &Signature, index: usize) -> Result<HostArray<'static>, String> {
    let input = &signature.inputs()[index];
    // What is for one device is not split.
    let global = global(input).filter(|_| spec.device.is_none());
    let local = input.shape();
    let fits = |shape: &Shape| shape == local || Some(shape) == global.as_ref();
    if let Some(stated) = spec.shape.as_ref().filter(|stated| !fits(stated)) {
        return Err(format!("got {stated}"));
    }
    if let Values::File(path) = &spec.values {
        let in_file = |error: String| format!("{}: {error}", path.display());
        let file = files::read_if(path, npy::begins).map_err(|error| error.to_string())?;
        let header = Header::read(&file).map_err(in_file)?;
        let as_bits = spec.shape.is_some();
        let array = header.array(&file, local.element_type(), as_bits);
        let array = array.map_err(in_file)?;
        let stated = spec.shape.as_ref();
        if !fits(array.shape()) || stated.is_some_and(|stated| stated != array.shape()) {
            return Err(in_file(format!(
                "it has the dimensions {:?}",
                header.dims()
            )));
        }
        return Ok(array);
    }
    let shape = match (&spec.shape, global) {
        (Some(stated), _) => stated.clone(),
        (None, None) => local.clone(),
        (None, Some(global)) => match &spec.values {
            // As many as a device takes are the same on all.
            Values::Listed(values) if values.len() == local.element_count() => local.clone(),
            _ => global,
        },
    };
    values::array(&shape, &spec.values)
}

/// What a device gets of it.
fn part(
    whole: &HostArray<'static>,
    signature: &Signature,
    index: usize,
    device: usize,
) -> Result<HostArray<'static>, Failure> {
    let input = &signature.inputs()[index];
    let sharding = match input.sharding() {
        Some(sharding) if whole.shape() != input.shape() => sharding,
        _ => return Ok(whole.clone()),
    };
    // Devices are counted replica by replica, each with its partitions.
    let block = sharding.block(whole.shape(), device % signature.partitions())?;
    Ok(whole.block(&block)?.into_owned())
}
