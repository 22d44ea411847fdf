//! The images: 5,000 of MNIST, 28 by 28 pixels each, with the digit that each one shows.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{ensure, Context, Result};
use flate2::read::GzDecoder;

/// Pixels of an image.
pub const PIXELS: usize = 28 * 28;

/// The label of a row that is there to fill a batch; the programs leave it out.
const PADDING: i32 = -1;

/// Images and their digits.
#[derive(Clone, Default)]
pub struct Images {
    /// One image after another, row by row, from 0 (paper) to 255 (ink).
    pub pixels: Vec<u8>,
    /// The digits.
    pub labels: Vec<i32>,
}

/// The images to train on, and others to see what was learnt.
pub struct Data {
    pub training: Images,
    pub held_out: Images,
}

impl Images {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    fn push(&mut self, pixels: &[u8], label: i32) {
        self.pixels.extend_from_slice(pixels);
        self.labels.push(label);
    }

    /// The images with these numbers, in this order.
    pub fn choose(&self, numbers: &[i32]) -> Images {
        let mut chosen = Images::default();
        for number in numbers {
            let number = *number as usize;
            let pixels = &self.pixels[number * PIXELS..][..PIXELS];
            chosen.push(pixels, self.labels[number]);
        }
        chosen
    }

    /// The same, with empty rows at the end until there are `len`.
    pub fn padded(mut self, len: usize) -> Images {
        self.pixels.resize(len * PIXELS, 0);
        self.labels.resize(len, PADDING);
        self
    }
}

/// Reads the images. They are sorted by digit, 500 of each, so every tenth one is a fair
/// sample to hold out.
pub fn read() -> Result<Data> {
    let path = path()?;
    let text = unpack(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut data = Data {
        training: Images::default(),
        held_out: Images::default(),
    };
    for (number, line) in text.lines().enumerate() {
        let row = || format!("line {} of {}", number + 1, path.display());
        let numbers: Vec<u8> = line
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .with_context(row)?;
        ensure!(numbers.len() == PIXELS + 1, "{} is no image", row());
        let (pixels, label) = numbers.split_at(PIXELS);
        let part = if number % 10 == 9 {
            &mut data.held_out
        } else {
            &mut data.training
        };
        part.push(pixels, i32::from(label[0]));
    }
    Ok(data)
}

/// Where the images are: where the variable says, else where the build has put them.
fn path() -> Result<PathBuf> {
    env::var_os("XLA_PJRT_MNIST")
        .or_else(|| option_env!("XLA_PJRT_BAKED_MNIST").map(Into::into))
        .map(PathBuf::from)
        .context(
            "no images: build with `--features fetch-cpu`, which fetches them, or name a file in \
             XLA_PJRT_MNIST (gzip of a line for each image: 784 pixels and the digit, by commas)",
        )
}

fn unpack(path: &PathBuf) -> Result<String> {
    let mut text = String::new();
    GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}
