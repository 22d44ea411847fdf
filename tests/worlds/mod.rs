//! One training step for any number of devices in both worlds, replicas and partitions, with
//! numbers that are exact, so that they can be held against arithmetic by hand.
// Each test file uses its own part of this.
#![allow(dead_code)]

use xla::{
    Buffer, Client, CompileOptions, Executable, HostArray, HostTree, PerDevice, Program, Tree,
};

/// How a program is spread over devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// A copy of the program on each device.
    Replicas,
    /// One program, of which each device has a part.
    Partitions,
}

pub const WORLDS: [World; 2] = [World::Replicas, World::Partitions];

/// Rows of a batch on each device.
pub const ROWS: usize = 2;

/// What a step goes on from; all of it is donated.
#[derive(Tree)]
pub struct State {
    /// f32\[2\]
    pub w: Buffer,
    /// s32\[\]
    pub steps: Buffer,
}

/// The rows of a device.
#[derive(Tree)]
pub struct Batch {
    /// f32\[2,2\]
    pub x: Buffer,
    /// f32\[2\]
    pub y: Buffer,
}

/// `w - rate * mean of x over all rows of all devices`, one step more, and the mean of `y`.
/// Inputs: w, steps, x, y, rate.
pub fn step_text(world: World, devices: usize) -> String {
    match world {
        World::Replicas => replicated(devices),
        World::Partitions => partitioned(devices),
    }
}

fn replicated(devices: usize) -> String {
    let group = (0..devices).map(|device| device.to_string());
    let group = group.collect::<Vec<_>>().join(", ");
    let sum = |of: &str, dims: &str| {
        format!(
            r#"
    %{of}_all = "stablehlo.all_reduce"(%{of}_sum) ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %pq = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %pq : tensor<f32>
    }}) {{replica_groups = dense<[[{group}]]> : tensor<1x{devices}xi64>}} : (tensor<{dims}f32>) -> tensor<{dims}f32>"#
        )
    };
    let body = body(ROWS, devices * ROWS, &sum("x", "2x"), &sum("y", ""));
    format!(
        r#"
module @step attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {devices} : i32}} {{
  func.func @main(%w: tensor<2xf32> {{tf.aliasing_output = 0 : i32}},
                  %n: tensor<i32> {{tf.aliasing_output = 1 : i32}},
                  %x: tensor<{ROWS}x2xf32>, %y: tensor<{ROWS}xf32>, %rate: tensor<f32>)
      -> (tensor<2xf32>, tensor<i32>, tensor<f32>) {{{body}
  }}
}}"#
    )
}

fn partitioned(devices: usize) -> String {
    let rows = devices * ROWS;
    let body = body(
        rows,
        rows,
        "\n    %x_all = stablehlo.add %x_sum, %zeros : tensor<2xf32>",
        "\n    %y_all = stablehlo.add %y_sum, %zero : tensor<f32>",
    );
    let whole = r#"mhlo.sharding = "{replicated}""#;
    let split = |tiles: &str| match devices {
        1 => whole.to_owned(),
        _ => format!(r#"mhlo.sharding = "{{devices=[{tiles}]<=[{devices}]}}""#),
    };
    let (matrix, vector) = (split(&format!("{devices},1")), split(&devices.to_string()));
    format!(
        r#"
module @step attributes {{mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32}} {{
  func.func @main(%w: tensor<2xf32> {{tf.aliasing_output = 0 : i32, {whole}}},
                  %n: tensor<i32> {{tf.aliasing_output = 1 : i32, {whole}}},
                  %x: tensor<{rows}x2xf32> {{{matrix}}}, %y: tensor<{rows}xf32> {{{vector}}},
                  %rate: tensor<f32> {{{whole}}})
      -> (tensor<2xf32> {{{whole}}}, tensor<i32> {{{whole}}}, tensor<f32> {{{whole}}}) {{{body}
  }}
}}"#
    )
}

/// The step over so many rows of `all`.
fn body(rows: usize, all: usize, sum_x: &str, sum_y: &str) -> String {
    let scale = 1. / all as f64;
    format!(
        r#"
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<2xf32>
    %x_sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{rows}x2xf32>, tensor<f32>) -> tensor<2xf32>
    %y_sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<{rows}xf32>, tensor<f32>) -> tensor<f32>{sum_x}{sum_y}
    %x_scale = stablehlo.constant dense<{scale}> : tensor<2xf32>
    %y_scale = stablehlo.constant dense<{scale}> : tensor<f32>
    %x_mean = stablehlo.multiply %x_all, %x_scale : tensor<2xf32>
    %y_mean = stablehlo.multiply %y_all, %y_scale : tensor<f32>
    %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %change = stablehlo.multiply %x_mean, %rates : tensor<2xf32>
    %w1 = stablehlo.subtract %w, %change : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n1 = stablehlo.add %n, %one : tensor<i32>
    return %w1, %n1, %y_mean : tensor<2xf32>, tensor<i32>, tensor<f32>"#
    )
}

/// The step, compiled for the first devices of a client.
pub fn step(client: &Client, world: World, devices: usize) -> Executable {
    let program = Program::from_text(step_text(world, devices)).expect("text");
    let step = client.compile(&program, &CompileOptions::new());
    let step = step.expect("the step compiles");
    assert_eq!(step.devices().len(), devices);
    assert_eq!(step.signature().donated_bytes(), 12);
    step
}

/// The same on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    pub w: [f32; 2],
    pub steps: i32,
}

impl Plain {
    /// Before the first step.
    pub fn new() -> Plain {
        Plain {
            w: [64., -32.],
            steps: 0,
        }
    }

    /// One step; gives the mean of `y`.
    pub fn step(&mut self, rows: &Rows, rate: f32) -> f32 {
        let count = rows.y.len() as f32;
        for (index, w) in self.w.iter_mut().enumerate() {
            let column = rows.x.iter().skip(index).step_by(2);
            *w -= rate * column.sum::<f32>() / count;
        }
        self.steps += 1;
        rows.y.iter().sum::<f32>() / count
    }

    /// As a tree for devices.
    pub fn host(&self) -> HostTree<'static, State> {
        HostTree::new([
            HostArray::new(&self.w, &[2]).expect("two"),
            HostArray::scalar(self.steps).expect("one"),
        ])
        .expect("two leaves")
    }

    #[track_caller]
    pub fn check(&self, state: &State) {
        assert_eq!(state.w.to_host::<f32>().expect("values"), self.w);
        assert_eq!(
            state.steps.to_scalar::<i32>().expect("a number"),
            self.steps
        );
    }

    /// Checks all devices.
    #[track_caller]
    pub fn check_all(&self, states: &PerDevice<State>) {
        states.iter().for_each(|state| self.check(state));
        states.assert_replicas_equal().expect("the same everywhere");
    }
}

/// The batch of all devices.
#[derive(Clone, Debug)]
pub struct Rows {
    pub x: Vec<f32>,
    pub y: Vec<f32>,
}

impl Rows {
    /// Some small multiples of an eighth, other ones on each device.
    pub fn some(devices: usize, seed: usize) -> Rows {
        let number = |index: usize| ((seed * 37 + index * 23) % 17) as f32 / 8. - 1.;
        let rows = devices * ROWS;
        Rows {
            x: (0..2 * rows).map(number).collect(),
            y: (0..rows).map(|row| number(row + 5)).collect(),
        }
    }

    /// As a tree for devices, borrowed.
    pub fn host(&self) -> HostTree<'_, Batch> {
        let rows = self.y.len();
        HostTree::new([
            HostArray::borrowed(&self.x, &[rows, 2]).expect("rows of two"),
            HostArray::borrowed(&self.y, &[rows]).expect("rows"),
        ])
        .expect("two leaves")
    }
}

pub fn rate(rate: f32) -> HostTree<'static, Buffer> {
    HostArray::scalar(rate).expect("one").into()
}
