//! What a program takes and gives, in words: for documentation and messages.

use std::fmt::Write;
use std::ops::Range;

use xla_mlir::{Input, Main, Output};

/// How an input is called.
pub(super) fn input(index: usize, input: &Input) -> String {
    name(input).unwrap_or_else(|| format!("input {index}"))
}

/// The name of an input, if it has one.
fn name(input: &Input) -> Option<String> {
    // `%arg0` and `%0` say no more than the number.
    let tells = |value: &&String| {
        let number = value.trim_start_matches("arg");
        !number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let value = || input.value.as_ref().filter(tells);
    match &input.name {
        Some(name) => Some(format!("`{name}`")),
        None => value().map(|value| format!("`%{value}`")),
    }
}

/// How an output is called.
fn output(index: usize, output: &Output) -> String {
    match &output.name {
        Some(name) => format!("`{name}`"),
        None => format!("output {index}"),
    }
}

/// `3 inputs`, `1 input`.
pub(super) fn number(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    match count {
        0 => format!("no {noun}s"),
        _ => format!("{count} {noun}{plural}"),
    }
}

/// Some inputs by name, or by type: `: a, b` or `: a, b, ...`.
pub(super) fn inputs(main: &Main, range: Range<usize>) -> String {
    let inputs = main.inputs[range].iter();
    listed(inputs.map(|input| name(input).unwrap_or_else(|| input.tensor.to_string())))
}

/// Some outputs by name, or by type.
pub(super) fn outputs(main: &Main, range: Range<usize>) -> String {
    let outputs = main.outputs[range].iter();
    listed(outputs.map(|output| match &output.name {
        Some(name) => format!("`{name}`"),
        None => output.tensor.to_string(),
    }))
}

/// What stands behind a number of things.
pub(super) fn listed(names: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> = names.take(SHOWN + 1).collect();
    if names.len() > SHOWN {
        "...".clone_into(&mut names[SHOWN]);
    }
    if names.is_empty() {
        return String::new();
    }
    format!(": {}", names.join(", "))
}

/// The program for its documentation.
pub(super) fn documentation(file: &str, main: &Main) -> String {
    const SHOWN: usize = 64;
    let devices = |count: Option<usize>, noun| {
        let count = count.filter(|count| *count > 1);
        count.map_or(String::new(), |count| format!(", {}", number(count, noun)))
    };
    let mut text = format!(
        "The program `{file}`: {}, {}{}{}.\n",
        number(main.inputs.len(), "input"),
        number(main.outputs.len(), "output"),
        devices(main.replicas, "replica"),
        devices(main.partitions, "partition"),
    );
    if main.partitions.is_some_and(|partitions| partitions > 1) {
        text.push_str("Shapes are those over all partitions.\n");
    }
    if main.inputs.len() + main.outputs.len() > SHOWN {
        return text;
    }
    // Writing to a string doesn't fail.
    for (index, each) in main.inputs.iter().enumerate() {
        let _ = write!(text, "\n- {} `{}`", input(index, each), each.tensor);
        match each.aliasing_output {
            Some(into) => {
                let into = output(into, &main.outputs[into]);
                let _ = write!(text, ", donated into {into}");
            }
            None if each.buffer_donor => text.push_str(", donated"),
            None => {}
        }
    }
    for (index, each) in main.outputs.iter().enumerate() {
        let _ = write!(text, "\n- → {} `{}`", output(index, each), each.tensor);
    }
    text
}
