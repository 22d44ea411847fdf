//! What a compiled program says of how its arrays are spread, on a real CPU plugin.
//!
//! The boxes that the devices hold are those that JAX states for the same array. Each
//! program is there for both partitioners.

mod cpu;

use std::sync::OnceLock;

use cpu::{api_minor, client, compiled, lesson, values};
use serde_json::Value;
use xla::{Buffer, Client, CompileOptions, Executable, Program, Shape, Sharding};

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

/// A program for four partitions that doubles an array of `dims`, whose sharding and that of
/// its result are stated in the older way.
#[track_caller]
fn doubling(client: &Client, dims: &str, takes: &str, gives: &str) -> Executable {
    let text = doubling_text(dims, takes, gives);
    let program = Program::from_text(text).expect("text");
    let options = CompileOptions::new().partitions(4);
    client.compile(&program, &options).expect("compiles")
}

fn doubling_text(dims: &str, takes: &str, gives: &str) -> String {
    let stated = |sharding: &str| match sharding {
        "" => String::new(),
        stated => format!("{{mhlo.sharding = \"{stated}\"}}"),
    };
    let (takes, gives) = (stated(takes), stated(gives));
    format!(
        "func.func @main(%x: tensor<{dims}xf32> {takes}) -> (tensor<{dims}xf32> {gives}) {{
           %y = stablehlo.add %x, %x : tensor<{dims}xf32>
           return %y : tensor<{dims}xf32>
         }}"
    )
}

/// The shardings of the only input and output, as XLA writes them.
fn of_both(executable: &Executable) -> [Option<String>; 2] {
    let signature = executable.signature();
    let input = signature.inputs()[0].sharding();
    let output = signature.outputs()[0].sharding();
    [input, output].map(|sharding| sharding.map(Sharding::to_string))
}

#[test]
fn a_program_that_states_no_sharding_is_replicated() {
    let executable = doubling(&client(4), "6", "", "");
    let whole = Some("{replicated}".to_owned());
    assert_eq!(of_both(&executable), [whole.clone(), whole]);
}

#[test]
fn partially_replicated_in_every_spelling() {
    let client = client(4);
    for stated in [
        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
        "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
        "{devices=[2,1,2]<=[4] last_tile_dims={replicated}}",
    ] {
        let executable = doubling(&client, "6x2", stated, stated);
        let wanted = Some("{devices=[2,1,2]<=[4] last_tile_dim_replicate}".to_owned());
        assert_eq!(of_both(&executable), [wanted.clone(), wanted], "{stated}");
        assert_eq!(executable.signature().inputs()[0].shape().dims(), [3, 2]);
    }
    let stated = "{devices=[2,2]3,1,0,2}";
    let executable = doubling(&client, "6x2", stated, stated);
    assert_eq!(
        of_both(&executable),
        [Some(stated.to_owned()), Some(stated.to_owned())]
    );
}

/// The values of the partition that is named go to all of them, whatever the others have.
#[test]
fn one_partition_has_the_values() {
    let client = client(4);
    let executable = doubling(&client, "2", "{maximal device=1}", "{maximal device=2}");
    let [input, output] = of_both(&executable);
    assert_eq!(input.as_deref(), Some("{maximal device=1}"));
    assert_eq!(output.as_deref(), Some("{maximal device=2}"));
    let rows = executable.devices().iter().enumerate();
    let rows = rows.map(|(i, device)| cpu::vector(device, &[i as f32, 10.]));
    let outputs = executable.run_per_device(rows).expect("runs");
    let input = executable.signature().inputs()[0].clone();
    let sharding = input.sharding().expect("known");
    let shape = input.global_shape().expect("known");
    assert_eq!(shape.dims(), [2]);
    let firsts = sharding.distinct(&shape, 4).expect("fits");
    assert_eq!((firsts.len(), firsts[0].1), (1, 1));
    assert_eq!(values(&outputs[2][0]), [2., 20.]);
}

#[test]
fn partitioned_by_hand_is_not_known() {
    let executable = doubling(&client(4), "6", "{manual}", "{manual}");
    assert_eq!(of_both(&executable), [None, None]);
    let signature = executable.signature();
    assert_eq!(signature.inputs()[0].global_shape(), None);
    assert!(signature
        .to_string()
        .contains("f32[6]{0}  {sharding not known}"));
}

/// The compilers pad what can't be cut into equal parts. The text says how much of it is real, and
/// nothing is placed that would lie in the padding.
#[test]
fn padding_is_told_from_what_the_text_states() {
    let stated = "{devices=[4]<=[4]}";
    let client = client(4);
    let executable = doubling(&client, "10", stated, stated);
    let input = &executable.signature().inputs()[0];
    assert_eq!(input.shape().dims(), [3]);
    assert_eq!(input.global_shape().expect("known").dims(), [10]);
    for (length, words) in [
        (10, ["size 10", "4 equal parts", "remainder is 2"]),
        (12, ["wanted", "[10]", "[12]"]),
    ] {
        let host = xla::HostArray::new(&vec![1f32; length], &[length]).expect("an array");
        let placed = executable.place::<xla::Buffer>(0, &host.into());
        let message = placed.expect_err("refused").to_string();
        for word in words {
            assert!(message.contains(word), "no {word} in: {message}");
        }
    }
    // Loaded without its text, it has the padded shape only.
    let loaded = client.deserialize(&executable.serialize().expect("bytes"));
    let loaded = loaded.expect("loads");
    let whole = loaded.signature().inputs()[0].global_shape();
    assert_eq!(whole.expect("known").dims(), [12]);
}

/// The form by the axes of a mesh, which 0.115 gives back as it is. 0.81 doesn't know it, and
/// compiles the program as one that states nothing: the signature tells.
#[test]
fn shardings_by_the_axes_of_a_mesh() {
    let client = client(8);
    if api_minor(&client) < 106 {
        let executable = doubling(&client, "4", "{mesh['x'=4], [{'x'}]}", "");
        let whole = Some("{replicated}".to_owned());
        assert_eq!(of_both(&executable), [whole.clone(), whole]);
        assert_eq!(executable.signature().inputs()[0].shape().dims(), [4]);
        return;
    }
    for (name, program) in oracle().as_object().expect("programs") {
        let mesh = program["mesh"].as_object().expect("axes").iter();
        let mesh: Vec<String> = mesh
            .map(|(axis, size)| format!("'{axis}'={size}"))
            .collect();
        let partitions = program["partitions"].as_u64().expect("a number") as usize;
        for array in program["arrays"].as_array().expect("arrays") {
            let cuts = array["axes"].as_array().expect("axes").iter();
            let cuts: Vec<String> = cuts
                .map(|axes| {
                    let axes = axes.as_array().expect("names").iter();
                    let axes = axes.map(|axis| format!("'{}'", axis.as_str().expect("text")));
                    format!("{{{}}}", axes.collect::<Vec<_>>().join(", "))
                })
                .collect();
            let stated = format!("{{mesh[{}], [{}]}}", mesh.join(","), cuts.join(", "));
            let wanted = Spread::of(array);
            let dims: Vec<String> = wanted.dims.iter().map(usize::to_string).collect();
            let text = doubling_text(&dims.join("x"), &stated, &stated);
            let program = Program::from_text(text).expect("text");
            let options = CompileOptions::new().partitions(partitions);
            let executable = client.compile(&program, &options).expect("compiles");
            let at = format!("{name}: {stated}");
            let input = &executable.signature().inputs()[0];
            check(&at, &wanted, input.shape(), input.sharding());
            let output = &executable.signature().outputs()[0];
            check(&at, &wanted, output.shape(), output.sharding());
        }
    }
}

/// A step that donates, as exported for the older partitioner.
#[test]
fn a_step_for_the_older_partitioner() {
    let client = client(4);
    let executable = compiled(&client, "sgd_gspmd_4");
    let lesson = lesson("sgd_gspmd_4");
    let signature = executable.signature();
    let [w, g] = signature.inputs() else {
        panic!("two inputs: {signature}")
    };
    assert_eq!(w.sharding(), Some(&Sharding::replicated()));
    assert_eq!(g.sharding(), Some(&Sharding::split(0, 4)));
    assert_eq!(
        signature.outputs()[0].sharding(),
        Some(&Sharding::replicated())
    );
    assert_eq!(signature.donated_bytes(), 16);
    assert!(signature.has_collectives());
    let arguments = executable.devices().iter().enumerate();
    let arguments = arguments.map(|(position, device)| {
        let arguments = lesson.arguments.iter();
        arguments
            .map(|argument| argument.buffer(position, device))
            .collect::<Vec<_>>()
    });
    let outputs = executable.run_per_device(arguments).expect("runs");
    for (position, outputs) in outputs.iter().enumerate() {
        assert_eq!(values(&outputs[0]), lesson.results[0].f32(position));
    }
}

/// Shardings over another number of partitions than the program is compiled for: an error of
/// the plugin, but for one partition, which has everything.
#[test]
fn a_sharding_over_others_is_an_error() {
    let client = client(4);
    let older = doubling_text("8", "{devices=[4]<=[4]}", "{devices=[4]<=[4]}");
    let mesh = r#"module @mesh {
      sdy.mesh @mesh = <["x"=4]>
      func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
          -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
        %y = stablehlo.add %x, %x : tensor<8xf32>
        return %y : tensor<8xf32>
      }
    }"#;
    for text in [older.as_str(), mesh] {
        let program = Program::from_text(text).expect("text");
        let compile = |partitions| {
            let options = CompileOptions::new().partitions(partitions);
            client.compile(&program, &options)
        };
        let error = compile(2).expect_err("of four");
        assert_eq!(error.function(), Some("PJRT_Client_Compile"), "{error}");
        let one = compile(1).expect("whole");
        assert_eq!(one.signature().inputs()[0].shape().dims(), [8]);
        let four = compile(4).expect("fits");
        assert_eq!(of_both(&four)[0].as_deref(), Some("{devices=[4]<=[4]}"));
        assert_eq!(four.signature().inputs()[0].shape().dims(), [2]);
    }
}
