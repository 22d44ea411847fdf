//! Programs of any number of leaves and replicas.

use std::path::Path;

use xla::{Client, CompileOptions, Executable, Program};

/// A row of four floats, which every array of these programs is.
pub const ROW: [f32; 4] = [1., 2., 3., 4.];

/// Takes `leaves` donated rows and a gradient; gives each row less an eighth of the
/// gradient, or of its sum over all replicas.
pub fn descent(leaves: usize, replicas: usize, summed: bool) -> String {
    let row = "tensor<4xf32>";
    let inputs: String = (0..leaves)
        .map(|leaf| format!("%w{leaf}: {row} {{tf.aliasing_output = {leaf} : i32}}, "))
        .collect();
    let group: Vec<String> = (0..replicas).map(|replica| replica.to_string()).collect();
    let (sum, of) = if summed {
        let sum = format!(
            r#"%sum = "stablehlo.all_reduce"(%g) ({{
              ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                %ab = stablehlo.add %a, %b : tensor<f32>
                stablehlo.return %ab : tensor<f32>
              }}) {{replica_groups = dense<[[{}]]> : tensor<1x{replicas}xi64>}} : ({row}) -> {row}"#,
            group.join(", ")
        );
        (sum, "%sum")
    } else {
        (String::new(), "%g")
    };
    let steps: String = (0..leaves)
        .map(|leaf| format!("%n{leaf} = stablehlo.subtract %w{leaf}, %change : {row}\n"))
        .collect();
    let outputs: Vec<String> = (0..leaves).map(|leaf| format!("%n{leaf}")).collect();
    let types = vec![row; leaves].join(", ");
    format!(
        "module @descent attributes {{mhlo.num_replicas = {replicas} : i32}} {{
           func.func public @main({inputs}%g: {row}) -> ({types}) {{
             {sum}
             %rate = stablehlo.constant dense<1.250000e-01> : {row}
             %change = stablehlo.multiply %rate, {of} : {row}
             {steps}
             return {} : {types}
           }}
         }}",
        outputs.join(", "),
    )
}

/// Takes `count` scalars and gives each plus one, into the same memory if they are donated.
pub fn counters(count: usize, donated: bool) -> String {
    let alias = |index| match donated {
        true => format!(" {{tf.aliasing_output = {index} : i32}}"),
        false => String::new(),
    };
    let inputs = (0..count).map(|n| format!("%a{n}: tensor<f32>{}", alias(n)));
    let body = (0..count).map(|n| format!("%b{n} = stablehlo.add %a{n}, %one : tensor<f32>\n"));
    let one = "%one = stablehlo.constant dense<1.0> : tensor<f32>\n";
    function(inputs, count, one.to_owned() + &body.collect::<String>())
}

/// Takes `count` scalars and gives one, their sum negated. Nothing is donated.
pub fn sum(count: usize) -> String {
    let inputs = (0..count).map(|n| format!("%a{n}: tensor<f32>"));
    let mut terms: Vec<String> = (0..count).map(|n| format!("%a{n}")).collect();
    let mut body = String::new();
    // By pairs: a chain of a thousand is slow to compile.
    while terms.len() > 1 {
        let pairs = terms.chunks(2).map(|pair| match pair {
            [left, right] => {
                let name = format!("%s{}", body.len());
                body += &format!("{name} = stablehlo.add {left}, {right} : tensor<f32>\n");
                name
            }
            _ => pair[0].clone(),
        });
        terms = pairs.collect();
    }
    body += &format!("%b0 = stablehlo.negate {} : tensor<f32>\n", terms[0]);
    function(inputs, 1, body)
}

/// Takes `count` donated scalars and as many lent ones; gives their sums, one by one.
pub fn additions(count: usize) -> String {
    let donated =
        (0..count).map(|n| format!("%a{n}: tensor<f32> {{tf.aliasing_output = {n} : i32}}"));
    let lent = (0..count).map(|n| format!("%g{n}: tensor<f32>"));
    let body = (0..count).map(|n| format!("%b{n} = stablehlo.add %a{n}, %g{n} : tensor<f32>\n"));
    function(donated.chain(lent), count, body.collect())
}

/// Of scalars; `body` gives `%b0`, `%b1` and so on.
fn function(inputs: impl Iterator<Item = String>, outputs: usize, body: String) -> String {
    let inputs: Vec<String> = inputs.collect();
    let names: Vec<String> = (0..outputs).map(|n| format!("%b{n}")).collect();
    let types = vec!["tensor<f32>"; outputs].join(", ");
    format!(
        "func.func @main({}) -> ({types}) {{\n{body}return {} : {types}\n}}",
        inputs.join(", "),
        names.join(", "),
    )
}

/// The text of one of the examples' programs.
///
/// # Panics
/// There is none of this name.
pub fn example(name: &str) -> String {
    let file = format!("../examples/programs/{name}.mlir");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).expect("a program of the examples")
}

/// Compiles text with the safe layer.
///
/// # Panics
/// It isn't a program that the plugin compiles.
pub fn compiled(client: &Client, text: impl Into<String>) -> Executable {
    let program = Program::from_text(text).expect("a program");
    let compiled = client.compile(&program, &CompileOptions::new());
    compiled.expect("it compiles")
}
