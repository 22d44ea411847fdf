//! What can be said on the command line.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::Parser;

/// Trains a convolutional network on handwritten digits, on several devices at once.
#[derive(Parser)]
pub struct Options {
    /// How many devices share each batch, from 1 to 8.
    #[arg(long, default_value_t = 4, value_parser = RangedU64ValueParser::<usize>::new().range(1..=8))]
    pub devices: usize,
    /// How often to go through the training images.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub epochs: u32,
    /// What the first weights and the order of the images come from.
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// The CPU plugin to run on; without it, the one that is found.
    #[arg(long, value_name = "PATH")]
    pub plugin: Option<PathBuf>,
    /// Where to keep the best network; without it, a file in the folder for temporary ones.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Draws the course of loss and accuracy.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Writes the results for other programs to read.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
