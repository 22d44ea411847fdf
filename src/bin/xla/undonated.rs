//! A program without its donations.

use xla::{Program, ProgramFormat};

use crate::report::Failure;

/// The attributes that offer an input for donation, as they begin.
const ATTRIBUTES: [&str; 2] = ["tf.aliasing_output = ", "jax.buffer_donor = "];

/// The same program, donating nothing.
pub(crate) fn program(program: &Program) -> Result<Program, Failure> {
    if program.format() != ProgramFormat::StableHloText {
        return Err(Failure::refused(
            "donations are compared for StableHLO text alone: export the program as text",
        ));
    }
    let text = std::str::from_utf8(program.as_bytes())
        .map_err(|error| Failure::refused(format!("the program is no text: {error}")))?;
    Ok(Program::from_text(text_of(text))?)
}

/// Takes the attributes out, and the comma that parts them from others. Text in quotes stays
/// as it is.
fn text_of(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', 't', 'j']) {
        let (before, here) = rest.split_at(at);
        kept.push_str(before);
        if here.starts_with('"') {
            let end = end_of_quoted(here);
            kept.push_str(&here[..end]);
            rest = &here[end..];
            continue;
        }
        let attribute = ATTRIBUTES.iter().find(|name| here.starts_with(**name));
        let starts_a_word = !kept.ends_with(|c: char| c.is_alphanumeric() || "_.$-".contains(c));
        match attribute.filter(|_| starts_a_word) {
            None => {
                kept.push_str(&here[..1]);
                rest = &here[1..];
            }
            Some(_) => {
                let end = here.find([',', '}']).unwrap_or(here.len());
                rest = &here[end..];
                match rest.strip_prefix(',') {
                    Some(after) => rest = after.trim_start(),
                    None => {
                        let others = kept.trim_end().trim_end_matches(',').len();
                        kept.truncate(others);
                    }
                }
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// Where the text in quotes that this begins with ends.
fn end_of_quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_go_and_the_rest_stays() {
        for (with, without) in [
            (
                "%a: tensor<f32> {tf.aliasing_output = 0 : i32})",
                "%a: tensor<f32> {})",
            ),
            ("{tf.aliasing_output = 0 : i32, x = 1}", "{x = 1}"),
            ("{x = 1, tf.aliasing_output = 10 : i32}", "{x = 1}"),
            ("{a = 1, jax.buffer_donor = true, x = 1}", "{a = 1, x = 1}"),
            (
                "\"tf.aliasing_output = 0 : i32\"",
                "\"tf.aliasing_output = 0 : i32\"",
            ),
            (
                "\"\\\" tf.aliasing_output = 0\"",
                "\"\\\" tf.aliasing_output = 0\"",
            ),
            (
                "{ytf.aliasing_output = 0 : i32}",
                "{ytf.aliasing_output = 0 : i32}",
            ),
            ("%j: tensor<4xf32>", "%j: tensor<4xf32>"),
        ] {
            assert_eq!(text_of(with), without);
        }
    }

    /// JAX wrote both.
    #[test]
    fn what_is_left_is_what_jax_writes() {
        let donated = include_str!("../../../examples/programs/train_step_1.mlir");
        let undonated = include_str!("../../../examples/programs/train_step_1_undonated.mlir");
        assert!(text_of(donated) == undonated);
        let donated = include_str!("../../../examples/programs/train_step_4.mlir");
        let undonated = include_str!("../../../examples/programs/train_step_4_undonated.mlir");
        assert!(text_of(donated) == undonated);
    }
}
