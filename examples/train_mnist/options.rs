//! What can be said on the command line.

use std::path::PathBuf;

use clap::Parser;

/// Trains a convolutional network on handwritten digits, on several devices at once.
#[derive(Parser)]
pub struct Options {
    /// How many devices share each batch: 1, 2, 4 or 8.
    #[arg(long, default_value = "4", value_parser = devices)]
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

/// The numbers of devices for which there is an exported program.
pub const DEVICES: [usize; 4] = [1, 2, 4, 8];

fn devices(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if DEVICES.contains(&count) => Ok(count),
        _ => Err("there are programs for 1, 2, 4 and 8 devices".to_owned()),
    }
}
