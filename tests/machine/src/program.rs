//! Random programs: what they compute, and the text that a plugin compiles.

use std::fmt::{self, Write as _};

use crate::form::Form;
use crate::model::Content;

/// A program on one device, or on several as replicas.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Program {
    /// The positions of its devices in the client, in logical order.
    pub devices: Vec<usize>,
    /// At least one.
    pub inputs: Vec<Input>,
    /// In order.
    pub outputs: Vec<Output>,
    /// Whether it takes longer than its call, if the first input has elements.
    pub slow: bool,
    /// Whether it's compiled, turned into bytes and loaded from them.
    pub reloaded: bool,
    /// Whether a real plugin can't run it.
    pub trouble: Trouble,
}

/// An input of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Input {
    /// What it takes.
    pub form: Form,
    /// What it offers.
    pub donor: Donor,
}

/// What an input offers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Donor {
    /// Nothing.
    No,
    /// Its memory for this output, which has as many bytes: `tf.aliasing_output`.
    Into(usize),
    /// Its memory for any output that wants it: `jax.buffer_donor`.
    Any,
}

/// An output of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Output {
    /// What it gives: for all but constants the form of the operands.
    pub form: Form,
    /// What it's made of.
    pub op: Op,
}

/// What an output is made of: indices of inputs of one form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// The input itself.
    Copy(usize),
    /// The sum of two.
    Add(usize, usize),
    /// Their difference.
    Subtract(usize, usize),
    /// A number everywhere.
    Const(i8),
    /// The sum of an input over all devices.
    AllReduce(usize),
}

/// Why a real plugin can't run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// It can.
    No,
    /// There's one more output, of 2^48 bytes: the call fails, or the run if its inputs are pending.
    AtOnce,
    /// The call succeeds and the run fails: there's one more output, and it takes 2^48 bytes to
    /// compute.
    Later,
}

/// What takes 2^48 bytes as f32, more than a process can address.
const HUGE: &str = "tensor<70368744177664xf32>";

impl Program {
    /// Whether its devices speak to each other.
    pub fn is_collective(&self) -> bool {
        let mut outputs = self.outputs.iter();
        outputs.any(|output| matches!(output.op, Op::AllReduce(_)))
    }

    fn is_slow(&self) -> bool {
        self.slow && self.inputs[0].form.count() > 0
    }

    /// How many outputs there are, with the one that only makes trouble.
    pub fn output_count(&self) -> usize {
        self.outputs.len() + usize::from(self.trouble != Trouble::No)
    }

    /// Whether an input that's given is consumed.
    pub fn consumes(&self, input: usize) -> bool {
        matches!(self.inputs[input].donor, Donor::Into(_))
    }

    /// What each device's outputs hold, if all goes well: those of a device whose inputs have failed,
    /// or whose run needs them from the others, have failed too.
    pub fn results(&self, inputs: &[Vec<&Content>]) -> Vec<Vec<Content>> {
        let (collective, devices) = (self.is_collective(), 0..self.devices.len());
        let failed = |device: &Vec<&Content>| device.iter().any(|content| content.has_failed());
        let any_failed = inputs.iter().any(failed);
        devices
            .map(|device| {
                let failed = failed(&inputs[device]) || collective && any_failed;
                let outputs = self.outputs.iter().map(|output| match failed {
                    true => Content::Failed,
                    false => Content::of(output.values(device, inputs)),
                });
                outputs.collect()
            })
            .collect()
    }

    /// In the language of the fake plugin.
    pub fn fake_text(&self) -> String {
        let mut text = format!("program p\nmhlo.num_replicas = {}\n", self.devices.len());
        for input in &self.inputs {
            let donor = match input.donor {
                Donor::No => String::new(),
                Donor::Into(output) => format!(" donated {output}"),
                Donor::Any => " donor".to_owned(),
            };
            let _ = writeln!(text, "input {}{donor}", input.form);
        }
        for output in &self.outputs {
            let op = match output.op {
                Op::Copy(a) => format!("copy {a}"),
                Op::Add(a, b) => format!("add {a} {b}"),
                Op::Subtract(a, b) => format!("subtract {a} {b}"),
                Op::Const(x) => format!("const {x}"),
                Op::AllReduce(a) => format!("all_reduce {a}"),
            };
            let _ = writeln!(text, "output {} = {op}", output.form);
        }
        text
    }

    /// In StableHLO.
    pub fn stablehlo_text(&self) -> String {
        let inputs = self.inputs.iter().enumerate().map(|(index, input)| {
            let donor = match input.donor {
                Donor::No => String::new(),
                Donor::Into(output) => format!(" {{tf.aliasing_output = {output} : i32}}"),
                Donor::Any => " {jax.buffer_donor = true}".to_owned(),
            };
            format!("%a{index}: {}{donor}", input.form.stablehlo())
        });
        let inputs: Vec<String> = inputs.collect();
        let mut body = String::new();
        if self.is_slow() {
            body += &self.detour();
        }
        let mut results = Vec::new();
        for (index, output) in self.outputs.iter().enumerate() {
            results.push((
                self.result(&mut body, index, output),
                output.form.stablehlo(),
            ));
        }
        if self.trouble != Trouble::No {
            body += "    %one = stablehlo.constant dense<1.0> : tensor<f32>\n";
            body += &format!(
                "    %many = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> {HUGE}\n"
            );
        }
        match self.trouble {
            Trouble::No => {}
            Trouble::AtOnce => results.push(("%many".to_owned(), HUGE.to_owned())),
            Trouble::Later => {
                body += &format!(
                    "    %count = stablehlo.iota dim = 0 : {HUGE}\n\
                     \x20   %huge = stablehlo.add %many, %count : {HUGE}\n\
                     \x20   %sorted = \"stablehlo.sort\"(%huge) ({{\n\
                     \x20     ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n\
                     \x20       %less = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n\
                     \x20       stablehlo.return %less : tensor<i1>\n\
                     \x20   }}) {{dimension = 0 : i64}} : ({HUGE}) -> {HUGE}\n\
                     \x20   %few = stablehlo.slice %sorted [0:4] : ({HUGE}) -> tensor<4xf32>\n"
                );
                results.push(("%few".to_owned(), "tensor<4xf32>".to_owned()));
            }
        }
        let (values, types): (Vec<String>, Vec<String>) = results.into_iter().unzip();
        let end = match values.len() {
            0 => "    return\n".to_owned(),
            _ => format!("    return {} : {}\n", values.join(", "), types.join(", ")),
        };
        format!(
            "module @p attributes {{mhlo.num_replicas = {} : i32}} {{\n  \
             func.func @main({}) -> ({}) {{\n{body}{end}  }}\n}}\n",
            self.devices.len(),
            inputs.join(", "),
            types.join(", "),
        )
    }

    /// The first input as `%slow`, with a zero added that takes time: a number turned into a long
    /// vector, negated an even number of times, minus itself. With short vectors a plugin computes
    /// within the call.
    fn detour(&self) -> String {
        let form = self.inputs[0].form;
        let (element, of, rank) = (form.stablehlo_element(), form.stablehlo(), form.dims.len());
        let (scalar, wide) = (
            format!("tensor<{element}>"),
            format!("tensor<4096x{element}>"),
        );
        let ones = format!("tensor<{}{element}>", "1x".repeat(rank));
        let corner = vec!["0:1"; rank].join(", ");
        format!(
            "    %corner = stablehlo.slice %a0 [{corner}] : ({of}) -> {ones}\n\
             \x20   %first = stablehlo.reshape %corner : ({ones}) -> {scalar}\n\
             \x20   %wide = stablehlo.broadcast_in_dim %first, dims = [] : ({scalar}) -> {wide}\n\
             \x20   %from = stablehlo.constant dense<0> : tensor<i32>\n\
             \x20   %rounds:2 = stablehlo.while(%i = %from, %x = %wide) : tensor<i32>, {wide}\n\
             \x20   cond {{\n\
             \x20     %to = stablehlo.constant dense<4000> : tensor<i32>\n\
             \x20     %more = stablehlo.compare LT, %i, %to : (tensor<i32>, tensor<i32>) -> tensor<i1>\n\
             \x20     stablehlo.return %more : tensor<i1>\n\
             \x20   }} do {{\n\
             \x20     %step = stablehlo.constant dense<1> : tensor<i32>\n\
             \x20     %next = stablehlo.add %i, %step : tensor<i32>\n\
             \x20     %turned = stablehlo.negate %x : {wide}\n\
             \x20     stablehlo.return %next, %turned : tensor<i32>, {wide}\n\
             \x20   }}\n\
             \x20   %last = stablehlo.slice %rounds#1 [4095:4096] : ({wide}) -> tensor<1x{element}>\n\
             \x20   %same = stablehlo.reshape %last : (tensor<1x{element}>) -> {scalar}\n\
             \x20   %zero = stablehlo.subtract %same, %first : {scalar}\n\
             \x20   %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : ({scalar}) -> {of}\n\
             \x20   %slow = stablehlo.add %a0, %zeros : {of}\n"
        )
    }

    /// Appends what an output is made of, and gives its name.
    fn result(&self, body: &mut String, index: usize, output: &Output) -> String {
        let value = |input: usize| match (input, self.is_slow()) {
            (0, true) => "%slow".to_owned(),
            _ => format!("%a{input}"),
        };
        let (form, element) = (output.form.stablehlo(), output.form.stablehlo_element());
        let line = match output.op {
            Op::Copy(a) => return value(a),
            Op::Add(a, b) => format!("stablehlo.add {}, {} : {form}", value(a), value(b)),
            Op::Subtract(a, b) => format!("stablehlo.subtract {}, {} : {form}", value(a), value(b)),
            Op::Const(x) => {
                let point = if element.starts_with('f') { ".0" } else { "" };
                format!("stablehlo.constant dense<{x}{point}> : {form}")
            }
            Op::AllReduce(a) => {
                let count = self.devices.len();
                let group: Vec<String> = (0..count).map(|replica| replica.to_string()).collect();
                format!(
                    "\"stablehlo.all_reduce\"({}) ({{\n\
                     \x20     ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):\n\
                     \x20       %xy = stablehlo.add %x, %y : tensor<{element}>\n\
                     \x20       stablehlo.return %xy : tensor<{element}>\n\
                     \x20   }}) {{replica_groups = dense<[[{}]]> : tensor<1x{count}xi64>}} : ({form}) -> {form}",
                    value(a),
                    group.join(", "),
                )
            }
        };
        let _ = writeln!(body, "    %r{index} = {line}");
        format!("%r{index}")
    }
}

impl Output {
    /// What it holds on a device, from all devices' inputs, which are good.
    fn values(&self, device: usize, inputs: &[Vec<&Content>]) -> Vec<i64> {
        let input = |device: usize, index: usize| inputs[device][index].values();
        let own = |index: usize| input(device, index);
        let pairs = |a: usize, b: usize| own(a).iter().zip(own(b));
        match self.op {
            Op::Copy(a) => own(a).to_vec(),
            Op::Add(a, b) => pairs(a, b).map(|(a, b)| a + b).collect(),
            Op::Subtract(a, b) => pairs(a, b).map(|(a, b)| a - b).collect(),
            Op::Const(x) => vec![i64::from(x); self.form.count()],
            Op::AllReduce(a) => (0..self.form.count())
                .map(|element| {
                    let all = 0..inputs.len();
                    all.map(|device| input(device, a)[element]).sum()
                })
                .collect(),
        }
    }
}

/// One line.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "on {:?}:", self.devices)?;
        for (index, input) in self.inputs.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {}", input.form)?;
            match input.donor {
                Donor::No => {}
                Donor::Into(output) => write!(f, " into {output}")?,
                Donor::Any => write!(f, " donor")?,
            }
        }
        write!(f, " ->")?;
        for (index, output) in self.outputs.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match output.op {
                Op::Copy(a) => write!(f, "{comma} {a}")?,
                Op::Add(a, b) => write!(f, "{comma} {a}+{b}")?,
                Op::Subtract(a, b) => write!(f, "{comma} {a}-{b}")?,
                Op::Const(x) => write!(f, "{comma} {}={x}", output.form)?,
                Op::AllReduce(a) => write!(f, "{comma} sum {a}")?,
            }
        }
        if self.slow {
            write!(f, ", slow")?;
        }
        if self.reloaded {
            write!(f, ", reloaded")?;
        }
        match self.trouble {
            Trouble::No => Ok(()),
            Trouble::AtOnce => write!(f, ", fails"),
            Trouble::Later => write!(f, ", fails later"),
        }
    }
}
