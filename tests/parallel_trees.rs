//! Trees of typed programs on many devices: such as are known at run time only, and such as
//! don't keep their word.
//!
//! `Tree` is safe to implement: whatever a tree says, on whichever device, a call ends in an
//! error that gives back what is left, or in a right result.

mod cpu;

use std::collections::BTreeMap;

use cpu::{client, compiled_text, values, vector};
use xla::tree::{Key, Source, Structure};
use xla::{
    ArgumentList, Buffer, Client, Code, Each, Error, Executable, Give, HostArray, HostTree, One,
    ParallelFunction, PerDevice, Ref, Same, Split, Tree,
};

const A: [f32; 4] = [1., 2., 3., 4.];
const B: [f32; 4] = [10., 20., 30., 40.];
const C: [f32; 4] = [100., 200., 300., 400.];
const A_C: [f32; 4] = [101., 202., 303., 404.];
const B_C: [f32; 4] = [110., 220., 330., 440.];
/// More than enough for each of the two worlds.
const DEVICES: usize = 3;

/// `a + c`, `b + c` of f32\[4\] on three replicas, with a collective that changes nothing: the
/// mean of all replicas' `c`. `a` and `b` are donated.
fn add_to_both(client: &Client) -> Executable {
    let text = r#"
module @add_to_both attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 3 : i32} {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                  %b: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                  %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %most = "stablehlo.all_reduce"(%c) ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %pq = stablehlo.maximum %p, %q : tensor<f32>
        stablehlo.return %pq : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %first = stablehlo.add %a, %most : tensor<4xf32>
    %second = stablehlo.add %b, %most : tensor<4xf32>
    return %first, %second : tensor<4xf32>, tensor<4xf32>
  }
}"#;
    let executable = compiled_text(client, text);
    assert_eq!(executable.devices().len(), DEVICES);
    executable
}

struct Lab {
    client: Client,
    c: PerDevice<Buffer>,
}

impl Lab {
    fn new() -> Lab {
        let client = client(DEVICES);
        let c = HostArray::new(&C, &[4]).expect("4").into();
        Lab {
            c: PerDevice::replicate(&client.devices(), &c).expect("room"),
            client,
        }
    }

    fn v(&self, device: usize, values: &[f32]) -> Buffer {
        vector(&cpu::device(&self.client, device), values)
    }

    fn each<T: 'static>(&self, make: impl Fn(usize) -> T) -> PerDevice<T> {
        PerDevice::from_parts((0..DEVICES).map(make))
    }

    fn check_c(&self) {
        assert!(self.c.iter().all(|c| values(c) == C));
    }
}

#[track_caller]
fn has(error: &impl std::fmt::Display, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

// Known at run time only.

#[test]
fn lists_and_maps_are_given_and_come_back_built_alike() {
    let lab = Lab::new();
    type Listed = ParallelFunction<(Give<Vec<Buffer>>, Ref<Buffer>), Each<Vec<Buffer>>>;
    let add: Listed = add_to_both(&lab.client).parallel().expect("it fits");
    let mut state = lab.each(|device| vec![lab.v(device, &A), lab.v(device, &B)]);
    for round in 1..=3 {
        state = add.call((state, &lab.c)).expect("runs");
        for part in &state {
            let wanted: Vec<f32> = A.iter().zip(C).map(|(a, c)| a + round as f32 * c).collect();
            assert_eq!((part.len(), values(&part[0])), (2, wanted));
        }
    }
    type Map = BTreeMap<String, Buffer>;
    type Mapped = ParallelFunction<(Give<Map>, Ref<Buffer>), One<Map>>;
    let add: Mapped = add_to_both(&lab.client).parallel().expect("it fits");
    let state = lab.each(|device| {
        let leaves = [("b", lab.v(device, &B)), ("a", lab.v(device, &A))];
        leaves.map(|(key, leaf)| (key.to_owned(), leaf)).into()
    });
    let sums = add.call((state, &lab.c)).expect("runs");
    assert_eq!(
        (values(&sums["a"]), values(&sums["b"])),
        (A_C.into(), B_C.into())
    );
    type Maybe = (Buffer, Option<Buffer>, Option<Buffer>);
    type Optional = ParallelFunction<(Give<Maybe>, Ref<Buffer>), Each<Maybe>>;
    let add: Optional = add_to_both(&lab.client).parallel().expect("it fits");
    let state = lab.each(|device| (lab.v(device, &A), None, Some(lab.v(device, &B))));
    let sums = add.call((state, &lab.c)).expect("runs");
    for (first, second, third) in &sums {
        let third = third.as_ref().expect("it was there");
        assert_eq!((values(first), values(third)), (A_C.into(), B_C.into()));
        assert!(second.is_none());
    }
    lab.check_c();
}

#[test]
fn host_lists_go_to_the_inputs_behind_those_before_them() {
    let lab = Lab::new();
    type Hosted =
        ParallelFunction<(Split<Vec<Buffer>>, Same<Buffer>), (Each<Buffer>, Each<Buffer>)>;
    let add: Hosted = add_to_both(&lab.client).parallel().expect("it fits");
    let list = |arrays: Vec<HostArray<'static>>| {
        let leaves = (0..arrays.len()).map(|index| (Key::Index(index), Structure::leaf()));
        let structure = Structure::node("Vec", leaves.collect());
        HostTree::<Vec<Buffer>>::with_structure(structure, arrays).expect("as many")
    };
    let rows = |values: &[f32; 4]| HostArray::new(&values.repeat(3), &[12]).expect("12");
    let c = HostArray::new(&C, &[4]).expect("4").into();
    let two = list(vec![rows(&A), rows(&B)]);
    for _ in 0..3 {
        let (first, second) = add.call((&two, &c)).expect("runs");
        assert!(first.iter().all(|first| values(first) == A_C));
        assert!(second.iter().all(|second| values(second) == B_C));
    }
    let error = add
        .call((&list(vec![rows(&A)]), &c))
        .expect_err("one is missing");
    has(
        &error,
        &["3 arguments", "2 leaves", "on device 0", "#0: 1, #1: 1"],
    );
    let three = list(vec![rows(&A), rows(&B), rows(&C)]);
    let error = add.call((&three, &c)).expect_err("one too many");
    has(&error, &["`#1`", "1 array from input 3 on", "3 inputs"]);
    // What comes before isn't known from the types.
    let error = add.place(1, &c).expect_err("not known");
    has(&error, &["`#1`", "run time only"]);
}

#[test]
fn a_tree_that_is_built_otherwise_on_one_device_is_refused_there() {
    let lab = Lab::new();
    type Listed =
        ParallelFunction<(Give<Vec<Vec<Buffer>>>, Ref<Buffer>), (Each<Buffer>, Each<Buffer>)>;
    let add: Listed = add_to_both(&lab.client).parallel().expect("it fits");
    for odd in 0..DEVICES {
        // As many leaves, in other places.
        let state = lab.each(|device| {
            let (a, b) = (lab.v(device, &A), lab.v(device, &B));
            match device == odd {
                true => vec![vec![a], vec![b]],
                false => vec![vec![a, b]],
            }
        });
        let error = add.call((state, &lab.c)).expect_err("built otherwise");
        let on = format!("on device {}", odd.max(1));
        has(
            &error,
            &["`#0` of `add_to_both`", &on, "on device 0", "alike"],
        );
        let (state, ()) = error.into_given().expect("refused");
        for part in &state {
            let leaves: Vec<Vec<f32>> = part.iter().flatten().map(values).collect();
            assert_eq!(leaves, [A, B]);
        }
        // Another number of them.
        let state = lab.each(|device| {
            let count = if device == odd { 1 } else { 2 };
            vec![(0..count).map(|_| lab.v(device, &A)).collect()]
        });
        let error = add.call((state, &lab.c)).expect_err("one is missing");
        has(
            &error,
            &[
                "3 arguments",
                "2 leaves",
                &format!("on device {odd} (#0: 1, #1: 1)"),
            ],
        );
        let (state, ()) = error.into_given().expect("refused");
        assert!(state
            .iter()
            .flatten()
            .flatten()
            .all(|leaf| values(leaf) == A));
    }
    let state = lab.each(|device| vec![vec![lab.v(device, &A)], vec![lab.v(device, &B)]]);
    let (first, _) = add.call((state, &lab.c)).expect("built alike");
    assert!(first.iter().all(|first| values(first) == A_C));
}

#[test]
fn how_results_are_built_is_told_by_arguments_or_by_hand() {
    let lab = Lab::new();
    type Pair = (Buffer, Buffer);
    type Lists = ParallelFunction<(Give<Pair>, Ref<Buffer>), Each<Vec<Buffer>>>;
    let add = || -> Lists { add_to_both(&lab.client).parallel().expect("it fits") };
    let pairs = || lab.each(|device| (lab.v(device, &A), lab.v(device, &B)));
    let error = add()
        .call((pairs(), &lab.c))
        .expect_err("no argument tells");
    has(&error, &["the results of `add_to_both`", "results_like"]);
    let (state, ()) = error.into_given().expect("refused");
    assert!(state.iter().all(|(a, b)| values(a) == A && values(b) == B));
    let list = |count: usize| {
        let leaves = (0..count).map(|index| (Key::Index(index), Structure::leaf()));
        Structure::node("Vec", leaves.collect())
    };
    let error = add()
        .gather(0, &lab.each(|_| Vec::<Buffer>::new()))
        .expect_err("not known");
    has(&error, &["results_like"]);
    let error = add().results_like(list(3)).expect_err("three of two");
    has(&error, &["2 outputs", "3 leaves"]);
    let told = add().results_like(list(2)).expect("two");
    let sums = told.call((state, &lab.c)).expect("runs");
    assert!(sums.iter().all(|sums| values(&sums[1]) == B_C));
    // Of several results it is a tuple's.
    type Several =
        ParallelFunction<(Give<Pair>, Ref<Buffer>), (Each<Vec<Buffer>>, One<Vec<Buffer>>)>;
    let tuple = |first: usize, second: usize| {
        let children = [first, second].into_iter().enumerate();
        let children = children.map(|(index, count)| (Key::Index(index), list(count)));
        Structure::node("tuple", children.collect())
    };
    for (first, second) in [(2, 0), (1, 1), (0, 2)] {
        let add: Several = add_to_both(&lab.client).parallel().expect("it fits");
        let add = add.results_like(tuple(first, second)).expect("two");
        let (each, one) = add.call((pairs(), &lab.c)).expect("runs");
        assert!(each.iter().all(|each| each.len() == first));
        assert_eq!(one.len(), second);
        let all = [A_C, B_C].map(Vec::from);
        assert_eq!(each[2].iter().map(values).collect::<Vec<_>>(), all[..first]);
        assert_eq!(one.iter().map(values).collect::<Vec<_>>(), all[first..]);
    }
    // What the type tells can't be contradicted.
    type Fixed = ParallelFunction<(Give<Pair>, Ref<Buffer>), Each<Pair>>;
    let fixed: Fixed = add_to_both(&lab.client).parallel().expect("it fits");
    has(
        &fixed.results_like(list(2)).expect_err("no list"),
        &["Vec", "tuple"],
    );
    lab.check_c();
}

#[test]
fn results_of_another_type_than_was_told_are_not_lost_on_any_device() {
    let lab = Lab::new();
    type Pair = (Buffer, Buffer);
    type Lists = ParallelFunction<(Give<Pair>, Ref<Buffer>), Each<Vec<Buffer>>>;
    let add: Lists = add_to_both(&lab.client).parallel().expect("it fits");
    let map = Structure::node(
        "BTreeMap",
        vec![
            (Key::Entry("a".to_owned()), Structure::leaf()),
            (Key::Entry("b".to_owned()), Structure::leaf()),
        ],
    );
    let add = add.results_like(map).expect("as many leaves");
    let state = lab.each(|device| (lab.v(device, &A), lab.v(device, &B)));
    let error = add.call((state, &lab.c)).expect_err("a map is no list");
    has(
        &error,
        &["building the results of `add_to_both` on device 0"],
    );
    assert!(!error.is_refusal() && !error.may_be_out_of_step());
    let lost: Vec<_> = error
        .lost()
        .iter()
        .map(|lost| (&lost.path[..], lost.device))
        .collect();
    let wanted = (0..DEVICES).flat_map(|device| [("#0[0]", device), ("#0[1]", device)]);
    assert_eq!(lost, wanted.collect::<Vec<_>>());
    has(&error, &["#0[0] on device 0", "#0[1] on device 2"]);
    let left = error.into_survivors();
    assert_eq!(left.len(), 2 * DEVICES);
    for (index, left) in left.iter().enumerate() {
        let (device, output) = (index / 2, index % 2);
        assert_eq!(
            (left.device, &left.path),
            (device, &format!("output {output}"))
        );
        assert_eq!(values(&left.buffer), [A_C, B_C][output]);
    }
}

/// As a result it claims two leaves, and takes `TAKES`.
struct Taker<const TAKES: usize>(Vec<Buffer>);

impl<const TAKES: usize> Tree for Taker<TAKES> {
    const LEAVES: Option<usize> = Some(2);

    fn structure(&self) -> Structure {
        list_of(2)
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(2))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.0.into_iter().for_each(|leaf| leaves.push(leaf));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.0.iter().for_each(|leaf| leaves.push(leaf));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let leaves = (0..TAKES).map(|_| source.leaf());
        leaves.collect::<xla::Result<_>>().map(Taker)
    }
}

#[test]
fn results_that_take_another_number_than_they_claim() {
    fn left<const TAKES: usize>(lab: &Lab) -> (String, Vec<(usize, String, Vec<f32>)>) {
        type Takes<const N: usize> =
            ParallelFunction<(Give<(Buffer, Buffer)>, Ref<Buffer>), One<Taker<N>>>;
        let add: Takes<TAKES> = add_to_both(&lab.client).parallel().expect("the claim fits");
        let state = lab.each(|device| (lab.v(device, &A), lab.v(device, &B)));
        let error = add.call((state, &lab.c)).err().expect("it lies");
        assert!(
            !error.is_refusal() && !error.may_be_out_of_step(),
            "{error}"
        );
        assert_eq!(error.lost().len(), 2 * DEVICES);
        let text = error.to_string();
        let left = error.into_survivors().into_iter();
        let left = left.map(|left| (left.device, left.path, values(&left.buffer)));
        (text, left.collect())
    }
    let lab = Lab::new();
    let others: Vec<(usize, String, Vec<f32>)> = (1..DEVICES)
        .flat_map(|device| {
            let outputs = [("output 0", A_C), ("output 1", B_C)];
            outputs.map(|(path, values)| (device, path.to_owned(), values.to_vec()))
        })
        .collect();
    let (text, none) = left::<0>(&lab);
    has(&text, &["on device 0", "took 0 leaves"]);
    assert_eq!(none[0], (0, "output 0".to_owned(), A_C.to_vec()));
    assert_eq!(none[2..], others);
    let (text, one) = left::<1>(&lab);
    has(&text, &["on device 0", "took 1 leaves"]);
    assert_eq!(one[0], (0, "output 1".to_owned(), B_C.to_vec()));
    assert_eq!(one[1..], others);
    let (text, three) = left::<3>(&lab);
    has(&text, &["on device 0", "more than the 2 leaves"]);
    assert_eq!(three, others);
    lab.check_c();
}

// Liars.

/// Claims `CLAIMS` leaves, lends and gives what its fields say.
struct Liar<const CLAIMS: usize> {
    lent: Vec<Buffer>,
    given: Vec<Buffer>,
}

fn list_of(leaves: usize) -> Structure {
    let children = (0..leaves).map(|index| (Key::Index(index), Structure::leaf()));
    Structure::node("Liar", children.collect())
}

impl<const CLAIMS: usize> Tree for Liar<CLAIMS> {
    const LEAVES: Option<usize> = Some(CLAIMS);

    fn structure(&self) -> Structure {
        list_of(CLAIMS)
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(CLAIMS))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.given.into_iter().for_each(|leaf| leaves.push(leaf));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.lent.iter().for_each(|leaf| leaves.push(leaf));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        Ok(Liar {
            lent: vec![],
            given: vec![source.leaf()?],
        })
    }
}

type Lies<const N: usize> =
    ParallelFunction<(Give<Liar<N>>, Ref<Buffer>), (Each<Buffer>, Each<Buffer>)>;

#[test]
fn a_tree_that_lies_on_one_device_is_refused_there() {
    let lab = Lab::new();
    let add: Lies<2> = add_to_both(&lab.client).parallel().expect("the claim fits");
    for odd in 0..DEVICES {
        // It lends another number than it claims: seen at once.
        for count in [0, 1, 3, 70] {
            let state = lab.each(|device| {
                let count = if device == odd { count } else { 2 };
                let leaves = || (0..count).map(|_| lab.v(device, &A)).collect();
                Liar {
                    lent: leaves(),
                    given: leaves(),
                }
            });
            let error = add.call((state, &lab.c)).expect_err("another number");
            assert!(error.is_refusal() && !error.may_be_out_of_step(), "{error}");
            has(&error, &[&format!("{} leaves on device {odd}", count + 1)]);
            let (state, ()) = error.into_given().expect("refused");
            assert_eq!(state[odd].given.len(), count);
            let all = state.iter().flat_map(|liar| &liar.given);
            assert!(all.into_iter().all(|leaf| values(leaf) == A));
        }
        // It gives another number than it lends: seen when it's taken apart.
        for count in [0, 1, 3] {
            let state = lab.each(|device| {
                let given = if device == odd { count } else { 2 };
                Liar {
                    lent: vec![lab.v(device, &A), lab.v(device, &B)],
                    given: (0..given).map(|_| lab.v(device, &B)).collect(),
                }
            });
            let error = add.call((state, &lab.c)).expect_err("another number");
            assert_eq!(
                error.error().function(),
                None,
                "the plugin was asked: {error}"
            );
            assert!(
                error.lost().is_empty() && !error.may_be_out_of_step(),
                "{error}"
            );
            has(&error, &[&format!("on device {odd}")]);
            let left = error.into_survivors();
            assert_eq!(left.len(), 2 * (DEVICES - 1) + count);
            for left in left {
                assert_eq!(values(&left.buffer), B);
                let on = left.buffer.device();
                assert_eq!(on, cpu::device(&lab.client, left.device));
            }
        }
        // It gives leaves of another device than it lends.
        let state = lab.each(|device| {
            let of = if device == odd {
                (odd + 1) % DEVICES
            } else {
                device
            };
            Liar {
                lent: vec![lab.v(device, &A), lab.v(device, &B)],
                given: vec![lab.v(device, &A), lab.v(of, &B)],
            }
        });
        let error = add.call((state, &lab.c)).expect_err("on another device");
        assert_eq!(
            error.error().function(),
            None,
            "the plugin was asked: {error}"
        );
        has(&error, &[&format!("on device {odd}"), "wanted it on"]);
        assert_eq!(error.survivors().len(), 2 * DEVICES);
        lab.check_c();
    }
    // As good as those that were looked at.
    let state = lab.each(|device| Liar {
        lent: vec![lab.v(device, &B), lab.v(device, &B)],
        given: vec![lab.v(device, &A), lab.v(device, &B)],
    });
    let (first, second) = add.call((state, &lab.c)).expect("it fits");
    assert!(first.iter().all(|leaf| values(leaf) == A_C));
    assert!(second.iter().all(|leaf| values(leaf) == B_C));
}

/// Gives its leaf, or only lends it although it is given: the buffer is leaked.
struct MaybeImmortal(Result<Buffer, &'static Buffer>);

impl Tree for MaybeImmortal {
    const LEAVES: Option<usize> = Some(1);

    fn structure(&self) -> Structure {
        Structure::leaf()
    }

    fn constant_structure() -> Option<Structure> {
        Some(Structure::leaf())
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        match self.0 {
            Ok(buffer) => leaves.push(buffer),
            Err(buffer) => leaves.push(buffer),
        }
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        match &self.0 {
            Ok(buffer) => leaves.push(buffer),
            Err(buffer) => leaves.push(*buffer),
        }
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        source.leaf().map(Ok).map(MaybeImmortal)
    }
}

#[test]
fn what_is_only_lent_on_one_device_is_consumed_on_none() {
    let lab = Lab::new();
    type Mixed =
        ParallelFunction<(Give<MaybeImmortal>, Give<Buffer>, Ref<Buffer>), Each<(Buffer, Buffer)>>;
    let add: Mixed = add_to_both(&lab.client).parallel().expect("it fits");
    for odd in 0..DEVICES {
        let lent: &'static Buffer = Box::leak(Box::new(lab.v(odd, &A)));
        let a = lab.each(|device| {
            MaybeImmortal(match device == odd {
                true => Err(lent),
                false => Ok(lab.v(device, &A)),
            })
        });
        let error = add.call((a, lab.each(|device| lab.v(device, &B)), &lab.c));
        let error = error.expect_err("lent on one device");
        assert_eq!(
            error.error().function(),
            None,
            "the plugin was asked: {error}"
        );
        has(
            &error,
            &[
                "give or lend it on all devices",
                &format!("on device {}", odd.max(1)),
            ],
        );
        // All but the one that wasn't given.
        assert_eq!(error.survivors().len(), 2 * DEVICES - 1);
        assert!(error.lost().is_empty());
        assert_eq!(values(lent), A);
    }
    // On all devices: copied by XLA.
    let all: Vec<&'static Buffer> = (0..DEVICES)
        .map(|device| &*Box::leak(Box::new(lab.v(device, &A))))
        .collect();
    for _ in 0..20 {
        let a = lab.each(|device| MaybeImmortal(Err(all[device])));
        let sums = add
            .call((a, lab.each(|device| lab.v(device, &B)), &lab.c))
            .expect("runs");
        assert!(sums
            .iter()
            .all(|(a, b)| values(a) == A_C && values(b) == B_C));
        assert!(all.iter().all(|leaf| values(leaf) == A));
    }
}

/// Panics where its number says.
struct Panics(Vec<Buffer>, usize);

impl Tree for Panics {
    const LEAVES: Option<usize> = Some(2);

    fn structure(&self) -> Structure {
        list_of(2)
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(2))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        for (index, leaf) in self.0.into_iter().enumerate() {
            assert_ne!(self.1, index + 1, "on purpose");
            leaves.push(leaf);
        }
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        assert_ne!(self.1, 3, "on purpose");
        self.0.iter().for_each(|leaf| leaves.push(leaf));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let leaf = source.leaf()?;
        panic!("on purpose, with {leaf:?}")
    }
}

#[test]
fn a_tree_that_panics_on_one_device_leaves_the_rest_in_order() {
    let lab = Lab::new();
    type Panicking = ParallelFunction<(Give<Panics>, Ref<Buffer>), Each<Panics>>;
    let add: Panicking = add_to_both(&lab.client).parallel().expect("the claim fits");
    let rounds = (0..4).flat_map(|place| (0..DEVICES).map(move |device| (place, device)));
    for (place, odd) in rounds {
        let state = lab.each(|device| {
            let place = if device == odd { place } else { 0 };
            Panics(vec![lab.v(device, &A), lab.v(device, &B)], place)
        });
        let call = || drop(add.call_reported((state, &lab.c)));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        assert!(panic.is_err(), "place {place} on {odd}");
        lab.check_c();
    }
    // The program is as good as before.
    type Good = ParallelFunction<(Give<(Buffer, Buffer)>, Ref<Buffer>), Each<(Buffer, Buffer)>>;
    let add: Good = add_to_both(&lab.client).parallel().expect("it fits");
    let state = lab.each(|device| (lab.v(device, &A), lab.v(device, &B)));
    let sums = add.call((state, &lab.c)).expect("runs");
    assert!(sums
        .iter()
        .all(|(a, b)| values(a) == A_C && values(b) == B_C));
    let error: Error = PerDevice::<Buffer>::from_parts([])
        .unreplicate()
        .expect_err("none");
    assert_eq!(error.code(), Code::InvalidArgument);
}
