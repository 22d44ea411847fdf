//! Programs of any number of leaves and replicas.

use xla::Program;

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

/// As [`descent`], for the safe layer.
///
/// # Panics
/// Never: the text is one.
pub fn descent_program(leaves: usize, replicas: usize, summed: bool) -> Program {
    Program::from_text(descent(leaves, replicas, summed)).expect("a program")
}
