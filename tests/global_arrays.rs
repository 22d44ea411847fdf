//! Arrays of global shape, cut and joined by the shardings of programs that JAX exported.
//!
//! Which box of an array each device holds, and what a program computes of it, is the oracle's.
// The types of programs are what is tested here.
#![allow(clippy::type_complexity)]

mod cpu;

use cpu::{client, compiled, compiled_text, lesson, values};
use serde_json::Value;
use xla::tree::{Key, Structure};
use xla::{
    Buffer, Client, Code, Each, Error, Executable, Give, HostArray, HostTree, One,
    ParallelFunction, PerDevice, Ref, Same, Split,
};

const LESSONS: &str = include_str!("../examples/programs/oracle/lessons.json");
const SHARDINGS: &str = include_str!("../examples/programs/oracle/shardings.json");

#[track_caller]
fn says<T>(result: Result<T, impl Into<Error>>, words: &[&str]) {
    let error: Error = result.err().expect("it is refused").into();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

fn numbers(list: &Value) -> Vec<usize> {
    let list = list.as_array().expect("a list").iter();
    list.map(|x| x.as_u64().expect("a number") as usize)
        .collect()
}

/// An array of the oracle before it is cut.
fn global(described: &Value) -> HostTree<'static, Buffer> {
    let data = described["data"].as_array().expect("numbers").iter();
    let data: Vec<f32> = data.map(|x| x.as_f64().expect("a number") as f32).collect();
    let array = HostArray::new(&data, &numbers(&described["dims"]));
    array.expect("as many").into()
}

/// A list of arrays.
fn list(arrays: Vec<HostArray<'static>>) -> HostTree<'static, Vec<Buffer>> {
    let leaves = (0..arrays.len()).map(|index| (Key::Index(index), Structure::leaf()));
    let structure = Structure::node("Vec", leaves.collect());
    HostTree::with_structure(structure, arrays).expect("as many")
}

/// A mesh program of the oracle: its arrays, each with values of its own, their boxes, and which
/// of them each result is split as.
struct Mesh {
    partitions: usize,
    arrays: Vec<HostArray<'static>>,
    boxes: Vec<Vec<Vec<[usize; 2]>>>,
    results: Vec<usize>,
}

impl Mesh {
    fn new(name: &str) -> Mesh {
        let oracle: Value = serde_json::from_str(SHARDINGS).expect("JSON");
        let program = &oracle[name];
        let described = program["arrays"].as_array().expect("arrays");
        let arrays = described.iter().enumerate().map(|(index, array)| {
            let dims = numbers(&array["dims"]);
            let count: usize = dims.iter().product();
            let values: Vec<f32> = (0..count).map(|x| (1000 * index + x) as f32).collect();
            HostArray::new(&values, &dims).expect("as many")
        });
        let boxes = described.iter().map(|array| {
            let devices = array["boxes"].as_array().expect("boxes").iter();
            let axes = |axes: &Value| {
                let axes = axes.as_array().expect("axes").iter();
                axes.map(|axis| numbers(axis).try_into().expect("two"))
                    .collect()
            };
            devices.map(axes).collect()
        });
        Mesh {
            partitions: program["partitions"].as_u64().expect("a number") as usize,
            arrays: arrays.collect(),
            boxes: boxes.collect(),
            results: numbers(&program["results"]),
        }
    }

    /// What a device holds of values that are cut as an array.
    fn part(&self, of: &HostArray<'_>, array: usize, device: usize) -> Vec<f32> {
        let mut places = vec![0];
        for ([begin, end], size) in self.boxes[array][device].iter().zip(of.dims()) {
            let rows = places.iter();
            places = rows
                .flat_map(|offset| (*begin..*end).map(move |at| offset * size + at))
                .collect();
        }
        let values = of.to_vec::<f32>().expect("f32");
        places.into_iter().map(|place| values[place]).collect()
    }

    fn doubled(&self) -> Vec<HostArray<'static>> {
        let arrays = self.arrays.iter().map(|array| {
            let values = array.to_vec::<f32>().expect("f32");
            let doubled: Vec<f32> = values.iter().map(|x| 2. * x).collect();
            HostArray::new(&doubled, array.dims()).expect("as many")
        });
        arrays.collect()
    }
}

type Lists<P> = ParallelFunction<(P,), Each<Vec<Buffer>>>;

fn lists<P>(executable: Executable, count: usize) -> Lists<P>
where
    (P,): xla::ParallelParameters,
{
    let leaves = (0..count).map(|index| (Key::Index(index), Structure::leaf()));
    let structure = Structure::node("Vec", leaves.collect());
    let function: Lists<P> = executable.parallel().expect("it fits");
    function.results_like(structure).expect("as many")
}

#[test]
fn arrays_are_cut_and_joined_as_jax_does_it() {
    let client = client(8);
    for name in ["shardings_4", "shardings_2x4", "shardings_2x2x2"] {
        let mesh = Mesh::new(name);
        let whole = list(mesh.arrays.clone());
        let doubled = list(mesh.doubled());
        for ending in ["", "_gspmd"] {
            let name = format!("{name}{ending}");
            let double: Lists<Ref<Vec<Buffer>>> =
                lists(compiled(&client, &name), mesh.arrays.len());
            let executable = double.executable();
            assert_eq!(executable.devices().len(), mesh.partitions);
            let placed = executable.place(0, &whole).expect("room");
            for (device, parts) in placed.iter().enumerate() {
                for (index, part) in parts.iter().enumerate() {
                    let wanted = mesh.part(&mesh.arrays[index], index, device);
                    assert_eq!(values(part), wanted, "{name}: {index} on {device}");
                    assert_eq!(part.device(), executable.devices()[device]);
                }
            }
            let results = double.call((&placed,)).expect("runs");
            for (device, results) in results.iter().enumerate() {
                for (index, result) in results.iter().enumerate() {
                    let whole = &doubled.leaves()[index];
                    let wanted = mesh.part(whole, mesh.results[index], device);
                    assert_eq!(values(result), wanted, "{name}: {index} on {device}");
                }
            }
            assert!(
                executable.gather(0, &results).expect("values") == doubled,
                "{name}"
            );
            assert!(
                double.gather(0, &results).expect("values") == doubled,
                "{name}"
            );
            // Partitions are no replicas: there is nothing to be split over.
            let split = executable.place_split(0, &whole).expect("room");
            for (one, other) in split.iter().zip(&placed) {
                for (one, other) in one.iter().zip(other) {
                    assert_eq!(values(one), values(other), "{name}");
                }
            }
            // In one call, from the host.
            let hosted: Lists<Same<Vec<Buffer>>> =
                lists(compiled(&client, &name), mesh.arrays.len());
            let results = hosted.call((&whole,)).expect("runs");
            assert!(
                hosted.gather(0, &results).expect("values") == doubled,
                "{name}"
            );
        }
    }
}

#[test]
fn programs_of_the_oracle_on_global_arrays() {
    let client = client(4);
    let oracle: Value = serde_json::from_str(LESSONS).expect("JSON");
    let argument = |name: &str, index: usize| global(&oracle[name]["arguments"][index]);
    let result = |name: &str| global(&oracle[name]["results"][0]);

    // A split and a replicated argument, one of them donated.
    let name = "sgd_partitions_4";
    let step: ParallelFunction<(Give<Buffer>, Split<Buffer>), Each<Buffer>> =
        compiled(&client, name).parallel().expect("it fits");
    let w = step.place(0, &argument(name, 0)).expect("room");
    let next = step.call((w, &argument(name, 1))).expect("runs");
    assert!(step.gather(0, &next).expect("values") == result(name));
    next.assert_replicas_equal().expect("the same");

    let name = "named_sharding_4";
    let matmul: ParallelFunction<(Same<Buffer>, Same<Buffer>), Each<Buffer>> =
        compiled(&client, name).parallel().expect("it fits");
    let y = matmul
        .call((&argument(name, 0), &argument(name, 1)))
        .expect("runs");
    let joined = matmul.gather(0, &y).expect("values");
    assert_eq!(joined.leaves()[0].dims(), result(name).leaves()[0].dims());
    let wanted = result(name).leaves()[0].to_vec::<f32>().expect("f32");
    assert_eq!(joined.leaves()[0].to_vec::<f32>().expect("f32"), wanted);
    for (position, part) in y.iter().enumerate() {
        assert_eq!(values(part), lesson(name).results[0].f32(position));
    }

    for name in ["pmap_4", "two_devices", "two_devices_inferred"] {
        let sum: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
            compiled(&client, name).parallel().expect("it fits");
        let sums = sum.call((&argument(name, 0),)).expect("runs");
        assert!(
            sum.gather(0, &sums).expect("values") == result(name),
            "{name}"
        );
    }
}

#[test]
fn arrays_of_another_shape_are_refused_by_leaf() {
    let client = client(8);
    let mesh = Mesh::new("shardings_2x4");
    let double: Lists<Same<Vec<Buffer>>> =
        lists(compiled(&client, "shardings_2x4"), mesh.arrays.len());
    for index in 0..mesh.arrays.len() {
        let path = format!("[{index}]");
        // What one device has, instead of the whole.
        let mut arrays = mesh.arrays.clone();
        let inputs = double.signature().inputs();
        let local = inputs[index].shape().clone();
        let whole = arrays[index].shape().clone();
        arrays[index] = HostArray::zeros(local.clone());
        if local != whole {
            let words = [
                &path[..],
                &format!("wanted {whole} ({local} on each of 8 devices)"),
                &format!("got {local}"),
            ];
            says(double.executable().place(0, &list(arrays.clone())), &words);
            says(double.call((&list(arrays),)), &words);
        }
        let mut arrays = mesh.arrays.clone();
        let integers = vec![0i32; arrays[index].shape().element_count()];
        arrays[index] = HostArray::new(&integers, whole.dims()).expect("as many");
        says(
            double.call((&list(arrays),)),
            &[&path, &format!("got s32{}", &whole.to_string()[3..])],
        );
    }
    let mut few = mesh.arrays.clone();
    few.pop();
    says(
        double.call((&list(few),)),
        &["14 arguments", "13 leaves", "device 0"],
    );
    let mut many = mesh.arrays.clone();
    many.push(many[0].clone());
    says(double.call((&list(many),)), &["15 arrays", "14 inputs"]);
}

#[test]
fn what_is_no_result_of_the_program_is_not_joined() {
    let client = client(8);
    let mesh = Mesh::new("shardings_4");
    let count = mesh.arrays.len();
    let double: Lists<Same<Vec<Buffer>>> = lists(compiled(&client, "shardings_4"), count);
    let results = double.call((&list(mesh.arrays.clone()),)).expect("runs");
    let executable = double.executable();
    says(executable.gather(7, &results), &["no output 7"]);
    let mut parts = results.into_inner();
    // In another order they would be joined wrongly.
    parts.swap(1, 2);
    let swapped = PerDevice::from_parts(parts);
    says(executable.gather(0, &swapped), &["`[0]`", "device 1"]);
    let mut parts = swapped.into_inner();
    parts.swap(1, 2);
    let last = parts.pop().expect("four");
    says(
        executable.gather(0, &PerDevice::from_parts(parts)),
        &["4 devices", "values are on 3"],
    );
    let first_two = PerDevice::from_fn(executable.devices(), |_, device| {
        Buffer::from_host(device, &[0f32; 4], &[2, 2])
    });
    says(
        executable.gather(0, &first_two.expect("room")),
        &["wanted f32[8,4]", "device 0 has f32[2,2]"],
    );
    says(
        double.gather(1, &PerDevice::from_parts([last])),
        &["result 1"],
    );
    says(
        double.gather(0, &PerDevice::<Buffer>::from_parts([])),
        &["result 0", "Buffer"],
    );
    says(
        executable.gather(0, &PerDevice::<Buffer>::from_parts([])),
        &["values are on 0"],
    );
}

#[test]
fn replicas_have_values_of_their_own() {
    let client = client(4);
    let sum: ParallelFunction<(Split<Buffer>,), (Each<Buffer>, Each<Buffer>)> =
        compiled(&client, "all_reduce_replicas_4")
            .parallel()
            .expect("it fits");
    let rows = HostArray::new(&[1f32; 16], &[4, 4]).expect("16").into();
    let (sums, ids) = sum.call((&rows,)).expect("runs");
    says(sum.gather(0, &sums), &["4 replicas", "PerDevice::gather"]);
    let stacked = ids.stack().expect("values");
    assert_eq!(
        stacked.leaves()[0].to_vec::<u32>().expect("u32"),
        [0, 1, 2, 3]
    );
}

#[test]
fn replicas_of_partitions_get_their_share_of_their_share() {
    // Two replicas of two partitions: rows go to replicas, columns to partitions.
    let text = r#"
module @both attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<2x4xf32> {mhlo.sharding = "{devices=[1,2]<=[2]}"})
      -> (tensor<2x4xf32> {mhlo.sharding = "{devices=[1,2]<=[2]}"}) {
    %y = stablehlo.add %x, %x : tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  }
}"#;
    let client: Client = client(4);
    let both: ParallelFunction<(Split<Buffer>,), Each<Buffer>> =
        compiled_text(&client, text).parallel().expect("it fits");
    let signature = both.signature();
    assert_eq!((signature.replicas(), signature.partitions()), (2, 2));
    let counted: Vec<f32> = (0..16).map(|x| x as f32).collect();
    let wanted = [
        [0., 2., 8., 10.],
        [4., 6., 12., 14.],
        [16., 18., 24., 26.],
        [20., 22., 28., 30.],
    ];
    for dims in [&[4, 4][..], &[2, 2, 4]] {
        let rows = HostArray::new(&counted, dims).expect("16").into();
        let doubled = both.call((&rows,)).expect("runs");
        let doubled: Vec<Vec<f32>> = doubled.iter().map(values).collect();
        assert_eq!(doubled, wanted, "{dims:?}");
    }
    let same: ParallelFunction<(Same<Buffer>,), Each<Buffer>> =
        compiled_text(&client, text).parallel().expect("it fits");
    let rows = HostArray::new(&counted[..8], &[2, 4]).expect("8").into();
    let doubled = same.call((&rows,)).expect("runs");
    let doubled: Vec<Vec<f32>> = doubled.iter().map(values).collect();
    assert_eq!(doubled, [wanted[0], wanted[1], wanted[0], wanted[1]]);
    let other = HostArray::new(&counted[..12], &[3, 4]).expect("12").into();
    says(
        both.call((&other,)),
        &["wanted f32[4,4]", "axis 0 has 3", "remainder of 1"],
    );
}

#[test]
fn each_of_several_results_is_joined_by_its_own_sharding() {
    // The sums of columns on both partitions, rows, columns, and a number.
    let text = r#"
module @several attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"})
      -> (tensor<2xf32> {mhlo.sharding = "{replicated}"},
          tensor<4x2xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"},
          tensor<4x2xf32> {mhlo.sharding = "{devices=[1,2]<=[2]}"},
          tensor<f32> {mhlo.sharding = "{replicated}"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    %twice = stablehlo.add %x, %x : tensor<4x2xf32>
    %square = stablehlo.multiply %x, %x : tensor<4x2xf32>
    %all = stablehlo.reduce(%sums init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %sums, %twice, %square, %all
        : tensor<2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>
  }
}"#;
    let client = client(2);
    type Several =
        ParallelFunction<(Same<Buffer>,), (Each<Buffer>, Each<(Buffer, Buffer)>, One<Buffer>)>;
    let several: Several = compiled_text(&client, text).parallel().expect("it fits");
    let counted = [0f32, 1., 2., 3., 4., 5., 6., 7.];
    let x = HostArray::new(&counted, &[4, 2]).expect("8").into();
    let (sums, pairs, all) = several.call((&x,)).expect("runs");
    assert_eq!(values(&all), [28.]);
    let joined = several.gather(0, &sums).expect("values");
    assert_eq!(joined.leaves()[0].to_vec::<f32>().expect("f32"), [12., 16.]);
    let joined = several.gather(1, &pairs).expect("values");
    let [twice, square] = joined.leaves() else {
        panic!("two")
    };
    assert_eq!(twice.to_vec::<f32>().expect("f32"), counted.map(|x| 2. * x));
    assert_eq!(square.to_vec::<f32>().expect("f32"), counted.map(|x| x * x));
    // By partition: rows of the one, columns of the other.
    assert_eq!(values(&pairs[1].0), [8., 10., 12., 14.]);
    assert_eq!(values(&pairs[1].1), [1., 9., 25., 49.]);
    says(several.gather(1, &sums), &["result 1", "Buffer"]);
    says(several.gather(3, &sums), &["result 3"]);
}
