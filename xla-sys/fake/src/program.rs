//! The programs that the fake takes: a few lines of text.

use crate::failure::Failure;
use crate::form::Form;
use crate::values::{self, Op};

/// A program, read.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    /// Whether its devices speak to each other.
    pub(crate) collective: bool,
    /// Whether the compiled module has one parameter, a tuple.
    pub(crate) tupled: bool,
    /// What `PJRT_Executable_OptimizedProgram` gives.
    pub(crate) format: &'static str,
    pub(crate) replicas: Option<usize>,
    pub(crate) partitions: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) form: Form,
    pub(crate) donation: Donation,
    pub(crate) name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Donation {
    No,
    /// It's offered, and no output takes it.
    Donor,
    /// Into this output.
    May(usize),
    /// Into this output, or the program can't run.
    Must(usize),
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) form: Form,
    pub(crate) op: Op,
}

impl Input {
    /// The output that takes its memory over.
    pub(crate) fn target(&self) -> Option<usize> {
        match self.donation {
            Donation::May(output) | Donation::Must(output) => Some(output),
            Donation::No | Donation::Donor => None,
        }
    }
}

impl Program {
    /// Reads a program.
    pub(crate) fn parse(text: &str) -> Result<Program, Failure> {
        let mut program = Program {
            name: "main".to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            collective: false,
            tupled: false,
            format: "hlo_with_config",
            replicas: None,
            partitions: None,
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                program.line(line).map_err(|why| {
                    Failure::invalid(format!("line {}, `{line}`: {why}", number + 1))
                })?;
            }
        }
        program.check().map_err(Failure::invalid)?;
        Ok(program)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "program" => rest.clone_into(&mut self.name),
            "mhlo.num_replicas" => self.replicas = Some(count(rest)?),
            "mhlo.num_partitions" => self.partitions = Some(count(rest)?),
            "collective" => self.collective = true,
            "tupled" => self.tupled = true,
            "format" => {
                self.format = match rest {
                    "hlo" => "hlo",
                    "hlo_with_config" => "hlo_with_config",
                    _ => return Err("the formats are hlo and hlo_with_config".to_owned()),
                }
            }
            "input" => self.inputs.push(input(rest)?),
            "output" => {
                let output = output(rest)?;
                self.collective |= matches!(output.op, Op::AllReduce(_));
                self.outputs.push(output);
            }
            _ => return Err(format!("there is no statement `{word}`")),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let mut taken = vec![false; self.outputs.len()];
        for (index, input) in self.inputs.iter().enumerate() {
            let Some(into) = input.target() else { continue };
            match self.outputs.get(into) {
                Some(output) if output.form.size() == input.form.size() && !taken[into] => {
                    taken[into] = true;
                }
                _ => return Err(format!("input {index} can't be donated into output {into}")),
            }
        }
        for (index, output) in self.outputs.iter().enumerate() {
            let forms: Vec<&Form> = self.inputs.iter().map(|input| &input.form).collect();
            values::check(output.op, &output.form, &forms)
                .map_err(|why| format!("output {index}: {why}"))?;
        }
        Ok(())
    }
}

/// `f32[2] donated 0 named state['w']`
fn input(text: &str) -> Result<Input, String> {
    let (text, name) = match text.split_once(" named ") {
        Some((text, name)) => (text, Some(name.trim().to_owned())),
        None => (text, None),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (form, donation) = match words[..] {
        [form] => (form, Donation::No),
        [form, "donor"] => (form, Donation::Donor),
        [form, "donated", output] => (form, Donation::May(index(output)?)),
        [form, "must", output] => (form, Donation::Must(index(output)?)),
        _ => {
            return Err("wanted `input FORM [donated N | must N | donor] [named NAME]`".to_owned())
        }
    };
    Ok(Input {
        form: Form::parse(form).ok_or_else(|| format!("`{form}` is no form"))?,
        donation,
        name,
    })
}

/// `f32[2] = add 0 1`
fn output(text: &str) -> Result<Output, String> {
    let (form, op) = text
        .split_once('=')
        .ok_or("wanted `output FORM = OPERATION OPERANDS`")?;
    let form = form.trim();
    let words: Vec<&str> = op.split_whitespace().collect();
    let op = match words[..] {
        ["copy", a] => Op::Copy(index(a)?),
        ["add", a, b] => Op::Add(index(a)?, index(b)?),
        ["subtract", a, b] => Op::Subtract(index(a)?, index(b)?),
        ["multiply", a, b] => Op::Multiply(index(a)?, index(b)?),
        ["all_reduce", a] => Op::AllReduce(index(a)?),
        ["const", value] => Op::Const(value.parse().map_err(|_| "the constant is no number")?),
        _ => return Err("there is no such operation with so many operands".to_owned()),
    };
    Ok(Output {
        form: Form::parse(form).ok_or_else(|| format!("`{form}` is no form"))?,
        op,
    })
}

fn index(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no index"))
}

/// `= 4` or `= 4 : i32`
fn count(text: &str) -> Result<usize, String> {
    let text = text.trim_start_matches('=').split(':').next().unwrap_or("");
    index(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read() {
        let program = Program::parse(
            "program step # a comment\nmhlo.num_replicas = 2 : i32\n\
             input f32[2] donated 1 named state['w']\ninput f32[2]\n\
             output f32[] = const 1.5\noutput f32[2] = add 0 1\n",
        )
        .expect("it's right");
        assert_eq!(program.name, "step");
        assert_eq!(program.replicas, Some(2));
        assert_eq!(program.inputs[0].donation, Donation::May(1));
        assert_eq!(program.inputs[0].name.as_deref(), Some("state['w']"));
        assert_eq!(program.outputs[0].op, Op::Const(1.5));
        assert!(!program.collective);
    }

    #[test]
    fn wrong_programs_are_refused_by_line() {
        for wrong in [
            "input f32[2] donated 0",
            "input f32[2]\noutput f32[3] = copy 0",
            "input f32[2]\noutput f32[2] = add 0 1",
            "input bf16[2]\noutput bf16[2] = add 0 0",
            "output f32[2] = frobnicate 1",
            "frobnicate",
        ] {
            assert!(Program::parse(wrong).is_err(), "{wrong}");
        }
        let failure = Program::parse("program x\ninput f33[2]").expect_err("no such type");
        assert_eq!(
            failure.message,
            "line 2, `input f33[2]`: `f33[2]` is no form"
        );
    }
}
