//! The results: a table while training goes on, and a file for other programs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{json, Value};
use xla::ExecutableMemoryStats;

use super::programs::Score;

/// An epoch's results.
pub struct Epoch {
    pub training: Score,
    pub held_out: Score,
    pub images_per_second: f64,
}

/// The results of a whole training.
pub struct Report {
    /// One for each step.
    pub losses: Vec<f32>,
    pub epochs: Vec<Epoch>,
    /// Of the network that was kept.
    pub held_out_accuracy: f64,
    /// What the steps took, without evaluation.
    pub training_time: Duration,
    pub images: usize,
    pub donated_bytes: usize,
    pub memory: Memory,
}

/// What a step takes on each device, as the compiler states it.
pub struct Memory {
    pub donated: ExecutableMemoryStats,
    pub undonated: ExecutableMemoryStats,
}

/// The head of the table.
pub const HEAD: &str = concat!(
    "         training            held out\n",
    "epoch    loss  accuracy     loss  accuracy   images/s",
);

impl Epoch {
    /// A row of the table.
    pub fn row(&self, number: u32) -> String {
        format!(
            "{number:>5} {:>7.3} {:>8.2}% {:>8.3} {:>8.2}% {:>10.0}",
            self.training.loss(),
            self.training.accuracy() * 100.0,
            self.held_out.loss(),
            self.held_out.accuracy() * 100.0,
            self.images_per_second
        )
    }
}

impl Memory {
    /// The two side by side, in kilobytes.
    pub fn table(&self) -> String {
        type Bytes = fn(&ExecutableMemoryStats) -> i64;
        let rows: [(&str, Bytes); 5] = [
            ("inputs", |stats| stats.argument_bytes),
            ("outputs", |stats| stats.output_bytes),
            ("  in memory of inputs", |stats| stats.alias_bytes),
            ("inputs and outputs", |stats| {
                stats.argument_bytes + stats.output_bytes - stats.alias_bytes
            }),
            ("scratch", |stats| stats.temp_bytes),
        ];
        let mut table = format!("{:22} {:>9} {:>9}", "KB on each device", "donated", "not");
        for (name, bytes) in rows {
            let kilobytes = |stats| bytes(stats) as f64 / 1000.0;
            let (donated, undonated) = (kilobytes(&self.donated), kilobytes(&self.undonated));
            table += &format!("\n{name:22} {donated:>9.1} {undonated:>9.1}");
        }
        table
    }
}

impl Report {
    pub fn images_per_second(&self) -> f64 {
        self.images as f64 / self.training_time.as_secs_f64()
    }

    /// Writes the results as JSON.
    pub fn write(&self, path: &Path) -> Result<()> {
        let memory = |stats: &ExecutableMemoryStats| {
            json!({
                "argument_bytes": stats.argument_bytes,
                "output_bytes": stats.output_bytes,
                "alias_bytes": stats.alias_bytes,
                "temp_bytes": stats.temp_bytes,
                "peak_bytes": stats.peak_bytes,
            })
        };
        let report: Value = json!({
            "held_out_accuracy": self.held_out_accuracy,
            "losses": self.losses,
            "images_per_second": self.images_per_second(),
            "donated_bytes": self.donated_bytes,
            "memory": {
                "donated": memory(&self.memory.donated),
                "undonated": memory(&self.memory.undonated),
            },
        });
        fs::write(path, format!("{report:#}\n"))
            .with_context(|| format!("writing {}", path.display()))
    }
}
