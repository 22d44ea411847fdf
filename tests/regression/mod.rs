//! A small training that donates: linear regression with momentum, its metrics, and the same in
//! plain Rust.
// Each test file uses its own part of this.
#![allow(dead_code)]

use std::cell::Cell;

use xla::{Buffer, Device, HostRead, Tree};

use crate::cpu::values;

/// Examples in a batch, of two features each.
pub const EXAMPLES: usize = 4;

/// Linear regression by gradient descent with momentum, on one device or on replicas that
/// average their gradients. The model and the metrics are donated.
pub fn train_step(replicas: usize) -> String {
    let group = (0..replicas).map(|replica| replica.to_string());
    let group = group.collect::<Vec<_>>().join(", ");
    // The mean over all examples of all replicas.
    let mean = |name: &str, dims: &str| {
        let scale = 1. / (EXAMPLES * replicas) as f64;
        format!(
            r#"
    %{name}_all = "stablehlo.all_reduce"(%{name}) ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %pq = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %pq : tensor<f32>
    }}) {{replica_groups = dense<[[{group}]]> : tensor<1x{replicas}xi64>}} : (tensor<{dims}f32>) -> tensor<{dims}f32>
    %{name}_scale = stablehlo.constant dense<{scale}> : tensor<{dims}f32>
    %{name}_mean = stablehlo.multiply %{name}_all, %{name}_scale : tensor<{dims}f32>"#
        )
    };
    // m = 0.5 * m + 2 * gradient; p = p - rate * m
    let descend = |p: &str, m: &str, gradient: &str, rate: &str, dims: &str| {
        format!(
            r#"
    %{m}_half = stablehlo.constant dense<0.5> : tensor<{dims}f32>
    %{m}_kept = stablehlo.multiply %{m}, %{m}_half : tensor<{dims}f32>
    %{m}_two = stablehlo.constant dense<2.0> : tensor<{dims}f32>
    %{m}_more = stablehlo.multiply %{gradient}_mean, %{m}_two : tensor<{dims}f32>
    %{m}_next = stablehlo.add %{m}_kept, %{m}_more : tensor<{dims}f32>
    %{p}_change = stablehlo.multiply %{m}_next, %{rate} : tensor<{dims}f32>
    %{p}_next = stablehlo.subtract %{p}, %{p}_change : tensor<{dims}f32>"#
        )
    };
    let [gw, gb, loss] = [mean("gw", "2x"), mean("gb", ""), mean("loss", "")];
    let weights = descend("w", "mw", "gw", "rates", "2x");
    let bias = descend("b", "mb", "gb", "rate", "");
    format!(
        r#"
module @train_step attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {replicas} : i32}} {{
  func.func @main(%w: tensor<2xf32> {{tf.aliasing_output = 0 : i32}},
                  %b: tensor<f32> {{tf.aliasing_output = 1 : i32}},
                  %mw: tensor<2xf32> {{tf.aliasing_output = 2 : i32}},
                  %mb: tensor<f32> {{tf.aliasing_output = 3 : i32}},
                  %sum: tensor<f32> {{tf.aliasing_output = 4 : i32}},
                  %count: tensor<f32> {{tf.aliasing_output = 5 : i32}},
                  %x: tensor<{EXAMPLES}x2xf32>, %y: tensor<{EXAMPLES}xf32>, %rate: tensor<f32>)
      -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {{
    %bs = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<{EXAMPLES}xf32>
    %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %xw = stablehlo.dot %x, %w : (tensor<{EXAMPLES}x2xf32>, tensor<2xf32>) -> tensor<{EXAMPLES}xf32>
    %guess = stablehlo.add %xw, %bs : tensor<{EXAMPLES}xf32>
    %error = stablehlo.subtract %guess, %y : tensor<{EXAMPLES}xf32>
    %gw = stablehlo.dot %error, %x : (tensor<{EXAMPLES}xf32>, tensor<{EXAMPLES}x2xf32>) -> tensor<2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %gb = stablehlo.reduce(%error init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{EXAMPLES}xf32>, tensor<f32>) -> tensor<f32>
    %loss = stablehlo.dot %error, %error : (tensor<{EXAMPLES}xf32>, tensor<{EXAMPLES}xf32>) -> tensor<f32>
    {gw}{gb}{loss}{weights}{bias}
    %sum_next = stablehlo.add %sum, %loss_mean : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %count_next = stablehlo.add %count, %one : tensor<f32>
    return %w_next, %b_next, %mw_next, %mb_next, %sum_next, %count_next
        : tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  }}
}}"#
    )
}

/// The mean of the squared errors. It donates nothing.
pub const VALIDATE: &str = r#"
module @validate {
  func.func @main(%w: tensor<2xf32>, %b: tensor<f32>, %x: tensor<4x2xf32>, %y: tensor<4xf32>) -> tensor<f32> {
    %bs = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %xw = stablehlo.dot %x, %w : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %guess = stablehlo.add %xw, %bs : tensor<4xf32>
    %error = stablehlo.subtract %guess, %y : tensor<4xf32>
    %sum = stablehlo.dot %error, %error : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %quarter = stablehlo.constant dense<0.25> : tensor<f32>
    %mean = stablehlo.multiply %sum, %quarter : tensor<f32>
    return %mean : tensor<f32>
  }
}"#;

#[derive(Tree)]
pub struct Parameters {
    pub w: Buffer,
    pub b: Buffer,
}

#[derive(Tree)]
pub struct Model {
    pub parameters: Parameters,
    pub momentum: Parameters,
}

#[derive(Tree)]
pub struct Metrics {
    pub loss_sum: Buffer,
    pub steps: Buffer,
}

#[derive(Tree)]
pub struct Batch {
    pub x: Buffer,
    pub y: Buffer,
}

/// What a step goes on from.
pub type Replica = (Model, Metrics);

/// A batch on the host.
#[derive(Clone, Copy)]
pub struct Examples {
    pub x: [[f32; 2]; EXAMPLES],
    pub y: [f32; EXAMPLES],
}

impl Examples {
    /// Some features, and 2 * first - second + 0.5.
    pub fn some(seed: usize) -> Examples {
        let number = |index: usize| ((seed * 37 + index * 23) % 17) as f32 / 8. - 1.;
        let x = [0, 1, 2, 3].map(|row| [number(row), number(row + 7)]);
        Examples {
            x,
            y: x.map(|[first, second]| 2. * first - second + 0.5),
        }
    }

    pub fn on(&self, device: &Device) -> Batch {
        Batch {
            x: Buffer::from_host(device, self.x.as_flattened(), &[EXAMPLES, 2]).expect("room"),
            y: Buffer::from_host(device, &self.y, &[EXAMPLES]).expect("room"),
        }
    }
}

/// The same in plain Rust.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    pub w: [f32; 2],
    pub b: f32,
    pub momentum_w: [f32; 2],
    pub momentum_b: f32,
    pub loss_sum: f32,
    pub steps: f32,
}

impl Plain {
    pub fn errors<'p>(
        &'p self,
        examples: &'p Examples,
    ) -> impl Iterator<Item = (f32, [f32; 2])> + 'p {
        let rows = examples.x.iter().zip(&examples.y);
        rows.map(|(x, y)| (self.w[0] * x[0] + self.w[1] * x[1] + self.b - y, *x))
    }

    /// One step over the examples of all replicas.
    pub fn step(&mut self, replicas: &[Examples], rate: f32) {
        let count = (replicas.len() * EXAMPLES) as f32;
        let (mut gw, mut gb, mut loss) = ([0.; 2], 0., 0.);
        for (error, x) in replicas.iter().flat_map(|examples| self.errors(examples)) {
            gw = [gw[0] + error * x[0], gw[1] + error * x[1]];
            gb += error;
            loss += error * error;
        }
        for index in [0, 1] {
            self.momentum_w[index] = 0.5 * self.momentum_w[index] + 2. * gw[index] / count;
            self.w[index] -= rate * self.momentum_w[index];
        }
        self.momentum_b = 0.5 * self.momentum_b + 2. * gb / count;
        self.b -= rate * self.momentum_b;
        self.loss_sum += loss / count;
        self.steps += 1.;
    }

    pub fn validate(&self, examples: &Examples) -> f32 {
        self.errors(examples)
            .map(|(error, _)| error * error)
            .sum::<f32>()
            / EXAMPLES as f32
    }

    pub fn reset_metrics(&mut self) {
        (self.loss_sum, self.steps) = (0., 0.);
    }

    #[track_caller]
    pub fn check(&self, model: &Model, metrics: &Metrics) {
        let Model {
            parameters,
            momentum,
        } = model;
        near(&values(&parameters.w), &self.w);
        near(&values(&parameters.b), &[self.b]);
        near(&values(&momentum.w), &self.momentum_w);
        near(&values(&momentum.b), &[self.momentum_b]);
        near(&values(&metrics.loss_sum), &[self.loss_sum]);
        assert_eq!(values(&metrics.steps), [self.steps]);
    }
}

#[track_caller]
pub fn near(got: &[f32], wanted: &[f32]) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        let close = (got - wanted).abs() <= 1e-5 * wanted.abs().max(1.);
        assert!(close, "{got} is not {wanted}");
    }
}

impl Model {
    /// Zeros.
    pub fn new(device: &Device) -> Model {
        let zeros = || Parameters {
            w: Buffer::from_host(device, &[0f32; 2], &[2]).expect("room"),
            b: Buffer::scalar(device, 0f32).expect("room"),
        };
        Model {
            parameters: zeros(),
            momentum: zeros(),
        }
    }
}

impl Metrics {
    /// From the host.
    pub fn new(device: &Device) -> Metrics {
        let zero = || Buffer::scalar(device, 0f32).expect("room");
        Metrics {
            loss_sum: zero(),
            steps: zero(),
        }
    }
}

/// The best parameters so far, on their way to the host.
pub struct Best {
    pub loss: f32,
    pub w: HostRead<f32>,
    pub b: HostRead<f32>,
}

impl Best {
    pub fn of(loss: f32, parameters: &Parameters) -> Best {
        Best {
            loss,
            w: parameters.w.to_host_async().expect("starts"),
            b: parameters.b.to_host_async().expect("starts"),
        }
    }
}

/// The rates of the two epochs. The second is so large that the model gets worse: the best
/// parameters are the first's.
pub const RATES: [f32; 2] = [0.25, 1.5];
pub const BATCHES: usize = 6;

pub fn batches() -> Vec<Examples> {
    (0..BATCHES).map(Examples::some).collect()
}

pub fn interrupt(now: bool, count: &Cell<usize>) {
    if now {
        count.set(count.get() + 1);
        panic!("interrupted on purpose");
    }
}
