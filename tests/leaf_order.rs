//! Leaves that stand in another order than the program's of the same names, and exports that
//! say less than they seem to.

mod cpu;

use std::collections::BTreeMap;

use cpu::{client, compiled_text, device, values, vector};
use xla::{Buffer, CompileOptions, Each, Error, Executable, Give, Program, Ref, Tree};

/// As JAX exports a step over a dict, which it orders by its keys.
const STEP: &str = r#"
module @step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(
      %m: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc("s['mom']"),
      %w: tensor<2xf32> {tf.aliasing_output = 1 : i32} loc("s['w']"),
      %x: tensor<2xf32> loc("x"))
      -> (tensor<2xf32> {jax.result_info = "result['mom']"}, tensor<2xf32> {jax.result_info = "result['w']"}) {
    %new = stablehlo.add %w, %x : tensor<2xf32>
    return %m, %new : tensor<2xf32>, tensor<2xf32>
  }
}"#;

#[derive(Tree)]
struct ByDeclaration {
    w: Buffer,
    mom: Buffer,
}

#[derive(Tree)]
#[tree(sorted)]
struct ByName {
    w: Buffer,
    mom: Buffer,
}

#[derive(Tree)]
struct Renamed {
    velocity: Buffer,
    weights: Buffer,
}

fn step() -> Executable {
    compiled_text(&client(1), STEP)
}

#[track_caller]
fn refused<T>(outcome: Result<T, Error>, words: &[&str]) {
    let message = match outcome {
        Ok(_) => panic!("not refused"),
        Err(error) => error.to_string(),
    };
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
}

#[test]
fn a_leaf_that_the_program_lacks_is_named() {
    type Named = BTreeMap<String, Buffer>;
    let step = step();
    let device = device(&step.client(), 0);
    let step = step
        .typed::<(Give<Named>, Ref<Buffer>), ByName>()
        .expect("known at the call only");
    let x = vector(&device, &[1., 2.]);
    let named = |names: &[&str]| -> Named {
        let named = names.iter().map(|name| {
            let value = vector(&device, &[3., 4.]);
            ((*name).to_owned(), value)
        });
        named.collect()
    };
    let call = |names: &[&str]| step.call((named(names), &x)).map_err(Error::from);
    refused(
        call(&["mom", "rng", "w"]),
        &["4 leaves", "has no `#0[\"rng\"]`;", "`keep_unused=True`"],
    );
    // Too few is another matter.
    let error = call(&["mom"]).err().expect("refused");
    assert!(!error.message().contains("keep_unused"), "{error}");
    let state = call(&["mom", "w"]).expect("as many");
    assert_eq!(values(&state.w), [4., 6.]);
}

#[derive(Tree)]
#[tree(sorted)]
struct WithSeen {
    mom: Buffer,
    seen: Buffer,
    w: Buffer,
}

#[test]
fn a_leaf_that_the_program_lacks_is_named_from_the_types() {
    refused(
        step().typed::<(Give<WithSeen>, Ref<Buffer>), ByName>(),
        &["4 leaves", "has no `#0.seen`", "`keep_unused=True`"],
    );
}

#[test]
fn fields_in_another_order_are_refused_and_sorted_ones_are_not() {
    let words = ["`#0` of `step`", "`w`", "`s['mom']`", "#[tree(sorted)]"];
    refused(
        step().typed::<(Give<ByDeclaration>, Ref<Buffer>), ByDeclaration>(),
        &words,
    );
    refused(
        step().parallel::<(Give<ByDeclaration>, Ref<Buffer>), Each<ByDeclaration>>(),
        &words,
    );
    // Of the results alone, too.
    refused(
        step().typed::<(Give<ByName>, Ref<Buffer>), ByDeclaration>(),
        &["the results of `step`", "`w`", "`result['mom']`"],
    );
    let sorted = step()
        .typed::<(Give<ByName>, Ref<Buffer>), ByName>()
        .expect("sorted");
    let device = sorted.executable().devices()[0].clone();
    let state = ByName {
        w: vector(&device, &[1., 2.]),
        mom: vector(&device, &[7., 7.]),
    };
    let x = vector(&device, &[0.5, 0.5]);
    let state = sorted.call((state, &x)).expect("runs");
    assert_eq!(values(&state.w), [1.5, 2.5]);
    assert_eq!(values(&state.mom), [7., 7.]);
    // Other names are the caller's to choose.
    step()
        .typed::<(Give<Renamed>, Ref<Buffer>), Renamed>()
        .expect("renamed");
}

/// What `shard_map` exports over one device: sums over one, of different shapes on one channel.
/// They compile with the partitioner only, as JAX compiles them.
#[test]
fn sums_over_one_partition_compile() {
    let sum = |name: &str, of: &str, shape: &str| {
        format!(
            r#"{name} = "stablehlo.all_reduce"({of}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
                 replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}}> ({{
               ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                 %c = stablehlo.add %a, %b : tensor<f32>
                 stablehlo.return %c : tensor<f32>
               }}) : ({shape}) -> {shape}"#
        )
    };
    let text = format!(
        "module @alone attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{
           func.func public @main(%x: tensor<2xf32>, %y: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {{
             {}
             {}
             return %p, %q : tensor<2xf32>, tensor<f32>
           }}
         }}",
        sum("%p", "%x", "tensor<2xf32>"),
        sum("%q", "%y", "tensor<f32>"),
    );
    let client = client(1);
    let device = device(&client, 0);
    let sums = compiled_text(&client, &text);
    let x = vector(&device, &[1., 2.]);
    let y = Buffer::scalar(&device, 3f32).expect("a number");
    let [x, y] = sums.run((&x, &y)).expect("runs").into_array().expect("two");
    assert_eq!(values(&x), [1., 2.]);
    assert_eq!(y.to_scalar::<f32>().expect("a number"), 3.);
}

/// Where it isn't read from bytecode how many partitions there are: compiled for one, such a
/// program would run on one device without a word.
#[test]
fn bytecode_of_a_partitioned_program_wants_its_partitions_said() {
    let mut code = b"ML\xefR\x0dStableHLO_v1.13.0\0".to_vec();
    code.extend_from_slice(b"mhlo.num_partitions\0sdy.mesh\0");
    let program = Program::from_bytecode(code).expect("bytecode, as far as one looks");
    let outcome = client(2).compile(&program, &CompileOptions::new());
    refused(outcome, &["bytecode", "say `partitions`", "as text"]);
}
