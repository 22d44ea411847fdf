//! What a compiled program is said to take, against arithmetic by hand.

mod cpu;

use cpu::{client, compiled_text, device};
use xla::{Client, Code, ExecutableMemoryStats};

fn figures(client: &Client, text: &str) -> ExecutableMemoryStats {
    let executable = compiled_text(client, text);
    executable
        .memory_stats()
        .expect("the CPU compilers state sizes")
}

/// `a + b` of 1,000 numbers, with an attribute on `a`.
fn sum(attribute: &str) -> String {
    format!(
        "func.func @main(%a: tensor<1000xf32>{attribute}, %b: tensor<1000xf32>) -> tensor<1000xf32> {{
           %c = stablehlo.add %a, %b : tensor<1000xf32>
           return %c : tensor<1000xf32>
         }}"
    )
}

#[test]
fn inputs_outputs_and_what_they_share() {
    let client = client(1);
    // Three arrays of 4,000 bytes.
    let stats = figures(&client, &sum(""));
    let sizes = (stats.argument_bytes, stats.output_bytes, stats.alias_bytes);
    assert_eq!(sizes, (8000, 4000, 0));
    assert_eq!((stats.temp_bytes, stats.run_bytes()), (0, 12_000));
    assert_eq!(stats.peak_bytes, Some(12_000));

    // The output lies in `a`: two.
    let stats = figures(&client, &sum(" {tf.aliasing_output = 0 : i32}"));
    let sizes = (stats.argument_bytes, stats.output_bytes, stats.alias_bytes);
    assert_eq!(sizes, (8000, 4000, 4000));
    assert_eq!((stats.temp_bytes, stats.run_bytes()), (0, 8000));
    assert_eq!(stats.peak_bytes, Some(8000));
}

#[test]
fn several_outputs_of_several_types() {
    let stats = figures(
        &client(1),
        "func.func @main(%a: tensor<1000xf32>, %b: tensor<10xf64>)
             -> (tensor<1000xf32>, tensor<10xf64>, tensor<1000xi8>) {
           %c = stablehlo.negate %a : tensor<1000xf32>
           %d = stablehlo.negate %b : tensor<10xf64>
           %e = stablehlo.convert %a : (tensor<1000xf32>) -> tensor<1000xi8>
           return %c, %d, %e : tensor<1000xf32>, tensor<10xf64>, tensor<1000xi8>
         }",
    );
    assert_eq!(stats.argument_bytes, 4000 + 80);
    // XLA's CPU compilers count the table of pointers to several outputs.
    assert_eq!(stats.output_bytes, 4000 + 80 + 1000 + 3 * 8);
    assert_eq!(stats.run_bytes(), 4080 + 5104);
}

#[test]
fn scratch_memory() {
    // The first product is needed for the second and is no output: 64 x 64 x 4 bytes.
    let matrix = "tensor<64x64xf32>";
    let dot = |of: &str, by: &str| {
        format!(
            "stablehlo.dot_general {of}, {by}, contracting_dims = [1] x [0] : ({matrix}, {matrix}) \
             -> {matrix}"
        )
    };
    let stats = figures(
        &client(1),
        &format!(
            "func.func @main(%a: {matrix}, %b: {matrix}) -> {matrix} {{
               %c = {}
               %d = {}
               return %d : {matrix}
             }}",
            dot("%a", "%b"),
            dot("%c", "%b")
        ),
    );
    assert_eq!((stats.argument_bytes, stats.output_bytes), (32_768, 16_384));
    assert_eq!(stats.temp_bytes, 16_384);
    assert_eq!(stats.run_bytes(), 4 * 16_384);
}

#[test]
fn what_a_plugin_does_not_know_is_none_and_never_0() {
    let client = client(2);
    let stats = figures(&client, &sum(""));
    // The CPU compilers don't count the code, and say 0.
    assert_eq!(stats.generated_code_bytes, None);
    // In host memory beside the device's there is nothing: that is known, and 0.
    let host = [
        stats.host_generated_code_bytes,
        stats.host_argument_bytes,
        stats.host_output_bytes,
        stats.host_alias_bytes,
        stats.host_temp_bytes,
    ];
    assert_eq!(host, [0; 5]);
    // The CPU plugins keep no figures of a device's allocator.
    for index in 0..2 {
        let error = device(&client, index).memory_stats().expect_err("none");
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        assert_eq!(error.function(), Some("PJRT_Device_MemoryStats"), "{error}");
    }
}
