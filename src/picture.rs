//! Pictures of a signature, as text that other programs draw.

use std::fmt::Write;

use crate::signature::{Donation, Signature};

/// An input's or output's text, a line each: which one, its name, its shape.
fn lines(which: &str, index: usize, name: Option<&str>, shape: String) -> Vec<String> {
    let mut lines = vec![format!("{which} {index}")];
    lines.extend(name.map(str::to_owned));
    lines.push(shape);
    lines
}

impl Signature {
    /// The inputs, the outputs and which memory goes where, as a Mermaid flowchart. The same
    /// signature gives the same text.
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        let mut node = |id: String, lines: Vec<String>| {
            let lines: Vec<String> = lines.iter().map(|line| mermaid(line)).collect();
            text.push_str(&format!("  {id}[\"{}\"]\n", lines.join("<br/>")));
        };
        for (index, input) in self.inputs().iter().enumerate() {
            let shape = input.shape().to_string();
            node(
                format!("in{index}"),
                lines("input", index, input.name(), shape),
            );
        }
        for (index, output) in self.outputs().iter().enumerate() {
            let shape = output.shape().to_string();
            node(
                format!("out{index}"),
                lines("output", index, output.name(), shape),
            );
        }
        for (input, output, label) in self.edges() {
            // Writing to a String doesn't fail.
            let _ = match output {
                Some(output) => writeln!(text, "  in{input} -->|{label}| out{output}"),
                None => writeln!(text, "  in{input} -.->|{label}| none((\" \"))"),
            };
        }
        text
    }

    /// The inputs, the outputs and which memory goes where, in Graphviz's language. The same
    /// signature gives the same text.
    pub fn to_dot(&self) -> String {
        let mut text = format!(
            "digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n",
            dot(self.name())
        );
        let mut node = |id: String, lines: Vec<String>| {
            text.push_str(&format!("  {id} [label={}];\n", dot(&lines.join("\n"))));
        };
        for (index, input) in self.inputs().iter().enumerate() {
            let shape = input.shape().to_string();
            node(
                format!("in{index}"),
                lines("input", index, input.name(), shape),
            );
        }
        for (index, output) in self.outputs().iter().enumerate() {
            let shape = output.shape().to_string();
            node(
                format!("out{index}"),
                lines("output", index, output.name(), shape),
            );
        }
        if self.edges().iter().any(|(_, output, _)| output.is_none()) {
            text.push_str("  none [shape=point];\n");
        }
        for (input, output, label) in self.edges() {
            let _ = match output {
                Some(output) => writeln!(text, "  in{input} -> out{output} [label=\"{label}\"];"),
                None => writeln!(
                    text,
                    "  in{input} -> none [label=\"{label}\", style=dashed];"
                ),
            };
        }
        text.push_str("}\n");
        text
    }

    /// From which input to which output, and what is written there.
    fn edges(&self) -> Vec<(usize, Option<usize>, &'static str)> {
        let inputs = self.inputs().iter().enumerate();
        inputs
            .filter_map(|(index, input)| match input.donation() {
                Donation::Into {
                    output,
                    required: false,
                } => Some((index, Some(output), "donated")),
                Donation::Into {
                    output,
                    required: true,
                } => Some((index, Some(output), "must be donated")),
                Donation::Unused => Some((index, None, "offered in vain")),
                Donation::Offered => Some((index, None, "offered")),
                Donation::None => None,
            })
            .collect()
    }
}

/// A line of a quoted label. Whatever Mermaid, its Markdown or HTML could take for something
/// else is written by its number.
fn mermaid(line: &str) -> String {
    let mut label = String::with_capacity(line.len());
    for character in line.chars() {
        let plain = character.is_alphanumeric() || " _.,:[]()'-/+=".contains(character);
        if plain {
            label.push(character);
        } else {
            label.push_str(&format!("#{};", u32::from(character)));
        }
    }
    label
}

/// A quoted identifier or label. Graphviz reads HTML's entities in both, and sequences with
/// backslashes.
fn dot(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '&' => quoted.push_str("&amp;"),
            // Graphviz stops at a NUL, and the others can't be seen.
            control if control.is_control() => quoted.push('\u{fffd}'),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{dot, mermaid};

    #[test]
    fn names_are_escaped() {
        assert_eq!(mermaid("state['w'][0].b"), "state['w'][0].b");
        assert_eq!(
            mermaid("a\"<b>&#`\n\\{é}"),
            "a#34;#60;b#62;#38;#35;#96;#10;#92;#123;é#125;"
        );
        assert_eq!(dot("state['w']"), "\"state['w']\"");
        assert_eq!(
            dot("a\"b\\N\n&lt;\0é"),
            "\"a\\\"b\\\\N\\n&amp;lt;\u{fffd}é\""
        );
    }
}
