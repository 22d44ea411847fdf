//! Running a program once or many times.

use std::time::{Duration, Instant};

use serde_json::{json, Value};
use xla::{
    ArgumentList, Buffer, Device, Donation, DonationReport, Element, Executable, HostArray, Input,
    Layout,
};

use super::fit::Fitted;
use crate::elements::by_type;
use crate::report::Failure;
use crate::spec::Passing;

/// The arguments and results of runs, one after the other.
pub(crate) struct Rounds<'e> {
    executable: &'e Executable,
    arguments: Vec<Vec<Fitted>>,
    /// By device and input; those that are given are gone after a run.
    held: Vec<Vec<Option<Buffer>>>,
    outputs: Vec<Vec<Buffer>>,
    report: DonationReport,
    fed_back: Vec<usize>,
}

/// How long runs took, from the call until all outputs were there.
pub(crate) struct Timings {
    runs: Vec<Duration>,
}

impl<'e> Rounds<'e> {
    /// Puts the arguments on their devices.
    pub(crate) fn start(
        executable: &'e Executable,
        arguments: Vec<Vec<Fitted>>,
    ) -> Result<Rounds<'e>, Failure> {
        let mut rounds = Rounds {
            executable,
            held: arguments
                .iter()
                .map(|all| all.iter().map(|_| None).collect())
                .collect(),
            arguments,
            outputs: Vec::new(),
            report: DonationReport::default(),
            fed_back: Vec::new(),
        };
        rounds.upload_missing()?;
        Ok(rounds)
    }

    /// Runs so many times. Between two runs, an output in donated memory becomes the argument
    /// that donated it, where both have the same form; what else was given is uploaded again.
    pub(crate) fn run(&mut self, count: u32) -> Result<Timings, Failure> {
        let mut runs = Vec::new();
        for round in 0..count {
            if round > 0 {
                self.feed_back();
                self.upload_missing()?;
            }
            runs.push(self.run_once()?);
        }
        Ok(Timings { runs })
    }

    fn run_once(&mut self) -> Result<Duration, Failure> {
        self.outputs.clear();
        let mut lists = Vec::new();
        for (held, arguments) in self.held.iter_mut().zip(&self.arguments) {
            let mut list = ArgumentList::new();
            for (slot, fitted) in held.iter_mut().zip(arguments) {
                match fitted.passing {
                    Passing::Give => slot.take().into_iter().for_each(|it| list.push(it)),
                    Passing::Lend => slot.iter().for_each(|it| list.push(it)),
                }
            }
            lists.push(list);
        }
        let start = Instant::now();
        let (outputs, report) = self.executable.run_per_device_reported(lists)?;
        for buffer in outputs.iter().flat_map(|outputs| outputs.iter()) {
            buffer.wait()?;
        }
        let took = start.elapsed();
        self.outputs = outputs
            .into_iter()
            .map(|outputs| outputs.into_vec())
            .collect();
        self.report = report;
        Ok(took)
    }

    /// Moves outputs to the inputs that donated their memory, on all devices alike.
    fn feed_back(&mut self) {
        let signature = self.executable.signature();
        let mut pairs = Vec::new();
        for (index, input) in signature.inputs().iter().enumerate() {
            let Donation::Into { output, .. } = input.donation() else {
                continue;
            };
            let source = &signature.outputs()[output];
            let fits = source.shape() == input.shape() && source.layout() == input.layout();
            let gone = self.held.iter().all(|held| held[index].is_none());
            if fits && gone {
                pairs.push((output, index));
            }
        }
        self.fed_back = pairs.iter().map(|(_, input)| *input).collect();
        for (held, outputs) in self.held.iter_mut().zip(&mut self.outputs) {
            for (output, buffer) in outputs.drain(..).enumerate() {
                if let Some((_, input)) = pairs.iter().find(|(source, _)| *source == output) {
                    held[*input] = Some(buffer);
                }
            }
        }
    }

    fn upload_missing(&mut self) -> Result<(), Failure> {
        let inputs = self.executable.signature().inputs();
        let devices = self.executable.devices().iter();
        for ((held, arguments), device) in self.held.iter_mut().zip(&self.arguments).zip(devices) {
            for ((slot, fitted), input) in held.iter_mut().zip(arguments).zip(inputs) {
                if slot.is_none() {
                    *slot = Some(upload(device, &fitted.array, input)?);
                }
            }
        }
        Ok(())
    }

    /// The outputs of the last run, by device.
    pub(crate) fn outputs(&self) -> &[Vec<Buffer>] {
        &self.outputs
    }

    /// What the last run did with what it was given.
    pub(crate) fn report(&self) -> &DonationReport {
        &self.report
    }

    /// The inputs that were the outputs of the run before.
    pub(crate) fn fed_back(&self) -> &[usize] {
        &self.fed_back
    }
}

/// Copies an array to a device, in the layout that the program wants.
fn upload(device: &Device, array: &HostArray<'_>, input: &Input) -> Result<Buffer, Failure> {
    fn in_layout<T: Element>(
        device: &Device,
        array: &HostArray<'_>,
        layout: &Layout,
    ) -> Result<Buffer, xla::Error> {
        Buffer::from_host_in_layout(device, &array.to_vec::<T>()?, array.dims(), layout)
    }
    let usual = || array.to_device(device);
    if input.layout().is_row_major() {
        return Ok(usual()?);
    }
    // Where there is no Rust type, the program refuses the usual layout.
    let buffer = by_type!(
        array.element_type(),
        in_layout(device, array, input.layout()),
        usual()
    );
    Ok(buffer?)
}

impl Timings {
    /// The first, the smallest, the one in the middle and the mean, in milliseconds. The first
    /// run of a program takes longer.
    fn numbers(&self) -> [(&'static str, f64); 4] {
        let mut sorted: Vec<f64> = self.runs.iter().map(|it| it.as_secs_f64() * 1e3).collect();
        let first = sorted.first().copied().unwrap_or_default();
        let mean = sorted.iter().sum::<f64>() / sorted.len().max(1) as f64;
        sorted.sort_by(f64::total_cmp);
        let least = sorted.first().copied().unwrap_or_default();
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        [
            ("first", first),
            ("min", least),
            ("median", median),
            ("mean", mean),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        let mut json = json!({ "runs": self.runs.len() });
        for (name, milliseconds) in self.numbers() {
            json[format!("{name}_ms")] = milliseconds.into();
        }
        json
    }

    pub(crate) fn text(&self) -> String {
        let numbers = self.numbers();
        let numbers = numbers.map(|(name, milliseconds)| format!("{name} {milliseconds:.3} ms"));
        format!("{} runs: {}\n", self.runs.len(), numbers.join(", "))
    }
}
