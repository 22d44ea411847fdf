//! `xla run`.

mod fit;
mod rounds;

use std::path::{Path, PathBuf};

use serde_json::{json, Map, Value};
use xla::{Donation, Executable, HostArray, Signature};

use crate::elements::{self, MANY};
use crate::files;
use crate::npy;
use crate::plugin_choice::{read_program, Placement};
use crate::report::{Failure, Report};
use crate::spec::Spec;
use crate::worker;

use rounds::{Rounds, Timings};

/// Options of `xla run`.
#[derive(clap::Args)]
pub(crate) struct Run {
    /// StableHLO (text, bytecode or portable artifact) or an HLO protobuf
    program: PathBuf,
    /// An argument, in the program's order: `f32[2,3]=1,2,3,4,5,6`, `f32[4]=zeros`, `=ones`,
    /// `=iota`, `=rand:SEED` or `=@file.npy`
    ///
    /// The type may be left out, as in the last four. Of an array that the program splits over its devices,
    /// write all of it. `lend:` or `give:` before it says whether the program may consume it;
    /// else what the program donates is given, and the rest is lent. `--arg@D SPEC`, or
    /// `--arg-on D=SPEC`, is for the device at position D alone.
    #[arg(long = "arg", value_name = "SPEC")]
    arguments: Vec<Spec>,
    #[command(flatten)]
    placement: Placement,
    /// Run so many times; outputs in donated memory are the arguments of the next time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Write the outputs as .npy files into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write bf16 as 16-bit unsigned integers: NumPy has no bf16
    #[arg(long, requires = "out")]
    bf16_as_u16: bool,
    /// Print all values, however many there are
    #[arg(long)]
    values: bool,
}

impl Run {
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let program = read_program(&self.program)?;
        let client = self.placement.client()?;
        let executable = client.compile(&program, &self.placement.options(&client)?)?;
        let signature = executable.signature();
        if self.out.is_some() {
            self.check_can_be_written(signature)?;
        }
        let arguments = fit::arguments(&self.arguments, &executable)?;
        worker::doing_program("putting onto devices the arguments of");
        let mut rounds = Rounds::start(&executable, arguments)?;
        worker::doing_program("running");
        let timings = rounds.run(self.repeat)?;
        worker::doing_program("reading the outputs of");
        let outputs = read(&rounds)?;
        let written = match &self.out {
            Some(dir) => self.write(dir, &outputs)?,
            None => Vec::new(),
        };
        let donation = donation(signature, &rounds);
        let mut report = Report::new(
            self.text(&executable, &outputs, &rounds, &timings)?,
            json!({
                "program": signature.name(),
                "platform": client.platform_name(),
                "devices": executable.devices().iter().map(|it| it.id()).collect::<Vec<_>>(),
                "replicas": signature.replicas(),
                "partitions": signature.partitions(),
                "outputs": self.outputs_json(signature, &outputs)?,
                "donation": donation,
            }),
        );
        if self.repeat > 1 {
            let mut json = timings.json();
            json["fed_back"] = json!(rounds.fed_back());
            report.json.insert("timings".to_owned(), json);
        }
        if self.out.is_some() {
            for path in &written {
                report.text += &format!("wrote {path}\n");
            }
            report.json.insert("files".to_owned(), json!(written));
        }
        Ok(report)
    }

    /// Refuses before anything runs.
    fn check_can_be_written(&self, signature: &Signature) -> Result<(), Failure> {
        for (index, output) in signature.outputs().iter().enumerate() {
            let element_type = output.shape().element_type();
            if !npy::can_hold(element_type, self.bf16_as_u16) {
                let way_out = match element_type {
                    xla::ElementType::Bf16 => "; `--bf16-as-u16` writes its bits",
                    _ => "",
                };
                return Err(Failure::refused(format!(
                    "output {index} is {}: NumPy has no {element_type}{way_out}",
                    output.shape()
                )));
            }
        }
        Ok(())
    }

    /// `output_0.npy`, or `output_0_device_1.npy` where several devices run it.
    fn write(&self, dir: &Path, outputs: &[Vec<HostArray<'_>>]) -> Result<Vec<String>, Failure> {
        let mut all = Vec::new();
        for (index, output) in outputs.iter().enumerate() {
            for (position, array) in output.iter().enumerate() {
                let name = match output.len() {
                    1 => format!("output_{index}.npy"),
                    _ => format!("output_{index}_device_{position}.npy"),
                };
                let file = npy::write(array, self.bf16_as_u16);
                let file = file.ok_or_else(|| {
                    Failure::refused(format!("NumPy has no {}", array.element_type()))
                })?;
                all.push((name, file));
            }
        }
        let paths = files::write_into(dir, all)?.into_iter();
        Ok(paths.map(|path| path.display().to_string()).collect())
    }

    fn shows_all(&self, array: &HostArray<'_>) -> bool {
        self.values || array.shape().element_count() < MANY
    }

    fn outputs_json(
        &self,
        signature: &Signature,
        outputs: &[Vec<HostArray<'_>>],
    ) -> Result<Vec<Value>, Failure> {
        let stated = signature.outputs().iter();
        let rows = stated
            .zip(outputs)
            .enumerate()
            .map(|(index, (stated, arrays))| {
                let mut json = Map::new();
                json.insert("index".to_owned(), index.into());
                json.insert("name".to_owned(), stated.name().into());
                json.insert("type".to_owned(), stated.shape().to_string().into());
                let shows_all = arrays.iter().all(|array| self.shows_all(array));
                let mut each = arrays.iter().map(|array| match shows_all {
                    true => Ok(Value::Array(elements::all(array)?)),
                    false => Ok(elements::statistics(array)?.json()),
                });
                let told = match (arrays.len(), each.next()) {
                    (1, Some(only)) => only?,
                    (_, first) => {
                        let all = first.into_iter().chain(each);
                        Value::Array(all.collect::<Result<_, Failure>>()?)
                    }
                };
                let name = if shows_all { "values" } else { "statistics" };
                json.insert(name.to_owned(), told);
                Ok(Value::Object(json))
            });
        rows.collect()
    }

    fn text(
        &self,
        executable: &Executable,
        outputs: &[Vec<HostArray<'_>>],
        rounds: &Rounds<'_>,
        timings: &Timings,
    ) -> Result<String, Failure> {
        let signature = executable.signature();
        let mut text = String::new();
        for (index, arrays) in outputs.iter().enumerate() {
            let stated = &signature.outputs()[index];
            text += &format!("output {index}  {}", stated.shape());
            if let Some(name) = stated.name() {
                text += &format!("  {name}");
            }
            text.push('\n');
            for (position, array) in arrays.iter().enumerate() {
                let told = match self.shows_all(array) {
                    true => elements::nested(&elements::all(array)?, array.dims()),
                    false => elements::statistics(array)?.text(),
                };
                text += &match arrays.len() {
                    1 => format!("  {told}\n"),
                    _ => format!("  device {}: {told}\n", executable.devices()[position].id()),
                };
            }
        }
        text += &format!("donation: {}\n", rounds.report());
        for given in rounds.report().leaves() {
            let what = match (
                given.consumed,
                signature.inputs()[given.argument].donation(),
            ) {
                (true, Donation::Into { output, .. }) => format!("consumed, into output {output}"),
                (true, _) => "consumed".to_owned(),
                (false, Donation::Into { .. }) => "not consumed after all".to_owned(),
                (false, _) => "not consumed, the program donates nothing of it".to_owned(),
            };
            text += &format!("  {}: {what}", given.name);
            if signature.replicas() * signature.partitions() > 1 {
                text += &format!(", on device {}", executable.devices()[given.device].id());
            }
            text.push('\n');
        }
        if self.repeat > 1 {
            text += &timings.text();
            text += &format!("arguments fed back: {:?}\n", rounds.fed_back());
        }
        Ok(text)
    }
}

/// The outputs by number, each on every device.
fn read(rounds: &Rounds<'_>) -> Result<Vec<Vec<HostArray<'static>>>, Failure> {
    let mut outputs: Vec<Vec<HostArray<'static>>> = Vec::new();
    for on_device in rounds.outputs() {
        outputs.resize_with(on_device.len(), Vec::new);
        for (index, buffer) in on_device.iter().enumerate() {
            outputs[index].push(HostArray::read(buffer)?);
        }
    }
    Ok(outputs)
}

/// What became of what was given.
fn donation(signature: &Signature, rounds: &Rounds<'_>) -> Vec<Value> {
    let given = rounds.report().leaves().iter();
    given
        .map(|leaf| {
            let input = &signature.inputs()[leaf.argument];
            let output = match input.donation() {
                Donation::Into { output, .. } => Some(output),
                _ => None,
            };
            json!({
                "index": leaf.argument,
                "name": input.name(),
                "device": leaf.device,
                "consumed": leaf.consumed,
                "output": output,
            })
        })
        .collect()
}
