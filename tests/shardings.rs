//! What a compiled program says of how its arrays are spread, on a real CPU plugin.
//!
//! The boxes that the devices hold are those that JAX states for the same array. Each
//! program is there for both partitioners.

mod cpu;

use std::sync::OnceLock;

use cpu::{client, compiled, values};
use serde_json::Value;
use xla::{Buffer, Executable, Shape, Sharding};

/// An array as JAX spreads it.
struct Spread {
    spec: String,
    dims: Vec<usize>,
    local_dims: Vec<usize>,
    /// For each partition where its box begins and ends, axis by axis.
    boxes: Vec<Vec<[usize; 2]>>,
}

/// The arrays that a program takes and gives.
struct Case {
    name: String,
    partitions: usize,
    inputs: Vec<Spread>,
    outputs: Vec<Spread>,
}

fn oracle() -> &'static Value {
    static ORACLE: OnceLock<Value> = OnceLock::new();
    ORACLE.get_or_init(|| {
        let text = include_str!("../examples/programs/oracle/shardings.json");
        serde_json::from_str(text).expect("JSON")
    })
}

fn numbers(list: &Value) -> Vec<usize> {
    let list = list.as_array().expect("a list").iter();
    list.map(|x| x.as_u64().expect("a number") as usize)
        .collect()
}

impl Spread {
    fn of(described: &Value) -> Spread {
        let boxes = described["boxes"].as_array().expect("boxes").iter();
        let axes = |each: &Value| {
            let axes = each.as_array().expect("axes").iter();
            axes.map(|axis| numbers(axis).try_into().expect("begin and end"))
                .collect()
        };
        Spread {
            spec: described["spec"].as_str().expect("text").to_owned(),
            dims: numbers(&described["dims"]),
            local_dims: numbers(&described["local_dims"]),
            boxes: boxes.map(axes).collect(),
        }
    }

    fn shape(&self) -> Shape {
        Shape::of::<f32>(&self.dims).expect("small")
    }

    /// The values of one partition, of an array whose elements are counted up.
    fn counted(&self, partition: usize) -> Vec<f32> {
        let mut part = vec![0];
        for ([begin, end], size) in self.boxes[partition].iter().zip(&self.dims) {
            let rows = part.iter();
            part = rows
                .flat_map(|offset| (*begin..*end).map(move |at| offset * size + at))
                .collect();
        }
        part.into_iter().map(|offset| offset as f32).collect()
    }
}

/// All programs, for both partitioners.
fn cases() -> Vec<Case> {
    let programs = oracle().as_object().expect("programs").iter();
    let both = programs.flat_map(|(name, program)| {
        let arrays = program["arrays"].as_array().expect("arrays");
        let all = |indices: Vec<usize>| -> Vec<Spread> {
            let indices = indices.into_iter();
            indices.map(|index| Spread::of(&arrays[index])).collect()
        };
        ["", "_gspmd"].map(|ending| Case {
            name: format!("{name}{ending}"),
            partitions: program["partitions"].as_u64().expect("a number") as usize,
            inputs: all((0..arrays.len()).collect()),
            outputs: all(numbers(&program["results"])),
        })
    });
    both.collect()
}

#[track_caller]
fn check(at: &str, wanted: &Spread, shape: &Shape, sharding: Option<&Sharding>) {
    let at = format!("{at}, {}", wanted.spec);
    let sharding = sharding.unwrap_or_else(|| panic!("{at}: no sharding"));
    assert_eq!(shape.dims(), wanted.local_dims, "{at}");
    let global = wanted.shape();
    assert_eq!(sharding.local_shape(&global).expect("fits"), *shape, "{at}");
    assert_eq!(sharding.global_shape(shape).expect("fits"), global, "{at}");
    for (partition, axes) in wanted.boxes.iter().enumerate() {
        let block = sharding.block(&global, partition).expect("fits");
        let got: Vec<[usize; 2]> = (block.start.iter().zip(&block.dims))
            .map(|(start, size)| [*start, start + size])
            .collect();
        assert_eq!(got, *axes, "{at}: {sharding}, partition {partition}");
    }
    // Each different box once, with the first partition that has it.
    let mut firsts = Vec::new();
    for (partition, axes) in wanted.boxes.iter().enumerate() {
        if !wanted.boxes[..partition].contains(axes) {
            firsts.push((axes.iter().map(|axis| axis[0]).collect(), partition));
        }
    }
    firsts.sort();
    let distinct = sharding
        .distinct(&global, wanted.boxes.len())
        .expect("fits");
    let distinct: Vec<(Vec<usize>, usize)> = distinct
        .into_iter()
        .map(|(block, partition)| (block.start, partition))
        .collect();
    assert_eq!(distinct, firsts, "{at}: {sharding}");
}

fn check_signature(case: &Case, executable: &Executable) {
    let signature = executable.signature();
    assert_eq!(signature.partitions(), case.partitions, "{}", case.name);
    assert_eq!(signature.inputs().len(), case.inputs.len(), "{}", case.name);
    for (index, (input, wanted)) in signature.inputs().iter().zip(&case.inputs).enumerate() {
        let at = format!("{}: input {index}", case.name);
        check(&at, wanted, input.shape(), input.sharding());
        assert_eq!(input.global_shape(), Some(wanted.shape()), "{at}");
    }
    assert_eq!(
        signature.outputs().len(),
        case.outputs.len(),
        "{}",
        case.name
    );
    for (index, (output, wanted)) in signature.outputs().iter().zip(&case.outputs).enumerate() {
        let at = format!("{}: output {index}", case.name);
        check(&at, wanted, output.shape(), output.sharding());
        assert_eq!(output.global_shape(), Some(wanted.shape()), "{at}");
    }
}

#[test]
fn shardings_are_those_that_jax_states() {
    let client = client(8);
    let cases = cases();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let executable = compiled(&client, &case.name);
        check_signature(&case, &executable);
        // So does one that was loaded again.
        let bytes = executable.serialize().expect("bytes");
        check_signature(&case, &client.deserialize(&bytes).expect("loads"));
    }
}

#[test]
fn each_device_gets_its_box_and_gives_its_own() {
    let client = client(8);
    for case in cases() {
        let executable = compiled(&client, &case.name);
        let devices = executable.devices().iter().enumerate();
        let arguments: Vec<Vec<Buffer>> = devices
            .map(|(partition, device)| {
                let inputs = case.inputs.iter();
                inputs
                    .map(|input| {
                        let part = input.counted(partition);
                        Buffer::from_host(device, &part, &input.local_dims).expect("room")
                    })
                    .collect()
            })
            .collect();
        let outputs = executable.run_per_device(arguments).expect("runs");
        for (partition, outputs) in outputs.iter().enumerate() {
            for (index, (output, wanted)) in outputs.iter().zip(&case.outputs).enumerate() {
                let twice: Vec<f32> = wanted.counted(partition).iter().map(|x| x * 2.).collect();
                assert_eq!(
                    values(output),
                    twice,
                    "{}: output {index}, {}, partition {partition}",
                    case.name,
                    wanted.spec
                );
            }
        }
    }
}

#[test]
fn the_table_shows_shardings_of_several_partitions_only() {
    let client = client(8);
    let table = compiled(&client, "shardings_2x4").signature().to_string();
    for line in [
        "  input    0  f32[4,4]{1,0}  {devices=[2,4]<=[8]}  arrays[0]\n",
        "  input    1  f32[2,8]{1,0}  {devices=[4,2]<=[2,4]T(1,0)}  arrays[1]\n",
        "  input    5  f32[4,16]{1,0}  {devices=[2,1,4]<=[8] last_tile_dim_replicate}  arrays[5]\n",
        "  input    9  f32[8,16]{1,0}  {replicated}  arrays[9]\n",
        "  output   8  f32[8,16]{1,0}  {replicated}\n",
    ] {
        assert!(table.contains(line), "no `{line}` in:\n{table}");
    }
    let table = compiled(&client, "add").signature().to_string();
    assert!(!table.contains("replicated"), "{table}");
}

#[test]
fn a_program_for_one_partition_is_whole() {
    let client = client(2);
    for name in ["add", "all_reduce_replicas_2"] {
        let executable = compiled(&client, name);
        let input = &executable.signature().inputs()[0];
        assert_eq!(input.sharding(), Some(&Sharding::replicated()), "{name}");
        assert_eq!(input.global_shape().as_ref(), Some(input.shape()), "{name}");
        let output = &executable.signature().outputs()[0];
        assert_eq!(output.sharding(), Some(&Sharding::replicated()), "{name}");
    }
}
