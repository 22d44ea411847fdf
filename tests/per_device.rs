//! Values on many devices: from the host or one device, and back.

mod cpu;

use std::collections::HashSet;

use cpu::{client, compiled_text, device, values};
use xla::{
    Block, Buffer, Client, Code, Device, Error, HostArray, HostTree, PerDevice, Shape, Sharding,
    Tree,
};

#[derive(Tree)]
struct State {
    w: Buffer,
    steps: Buffer,
}

const W: [f32; 4] = [1., 2., 3., 4.];

fn state() -> HostTree<'static, State> {
    HostTree::new([
        HostArray::new(&W, &[2, 2]).expect("4"),
        HostArray::scalar(7i32).expect("1"),
    ])
    .expect("two")
}

fn check_state(state: &State) {
    assert_eq!(values(&state.w), W);
    assert_eq!(state.w.dims(), [2, 2]);
    assert_eq!(state.steps.to_scalar::<i32>().expect("a number"), 7);
}

#[track_caller]
fn says<T>(result: Result<T, Error>, words: &[&str]) {
    let error = result.err().expect("it is refused");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

fn array(count: usize, dims: &[usize]) -> HostTree<'static, Buffer> {
    let counted: Vec<f32> = (0..count).map(|x| x as f32).collect();
    HostArray::new(&counted, dims).expect("as many").into()
}

fn address(buffer: &Buffer) -> usize {
    let view = buffer.view::<f32>().expect("row-major values");
    view.as_ptr() as usize
}

// Replicating.

#[test]
fn each_replica_has_memory_of_its_own() {
    let client = client(8);
    for count in [1, 2, 4, 8] {
        let devices = &client.devices()[..count];
        let first = state().to_device(&devices[0]).expect("room");
        // From the host, from the first device, from the last.
        let last = state().to_device(&devices[count - 1]).expect("room");
        for replicas in [
            PerDevice::replicate(devices, &state()),
            PerDevice::replicate_tree(devices, &first),
            PerDevice::replicate_tree(devices, &last),
        ] {
            let replicas = replicas.expect("room");
            assert_eq!(replicas.len(), count);
            let mut addresses = HashSet::from([address(&first.w), address(&last.w)]);
            let before = addresses.len();
            for (replica, device) in replicas.iter().zip(devices) {
                check_state(replica);
                assert_eq!(replica.w.device(), *device);
                assert_eq!(replica.steps.device(), *device);
                assert!(addresses.insert(address(&replica.w)), "shared");
            }
            assert_eq!(addresses.len(), before + count);
            let on: Vec<Device> = replicas.devices().into_iter().flatten().collect();
            assert_eq!(on, devices);
        }
        check_state(&first);
        check_state(&last);
    }
}

#[test]
fn giving_one_replica_leaves_the_others_and_what_it_was_made_of() {
    let client = client(4);
    let devices = client.devices();
    let double = r#"
        func.func @main(%x: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2x2xf32> {
          %y = stablehlo.add %x, %x : tensor<2x2xf32>
          return %y : tensor<2x2xf32>
        }"#;
    let tree = state().to_device(&devices[0]).expect("room");
    for replicas in [
        PerDevice::replicate(&devices, &state()),
        PerDevice::replicate_tree(&devices, &tree),
    ] {
        let mut replicas = replicas.expect("room").into_inner();
        let first = replicas.remove(0);
        let at = address(&first.w);
        let double = compiled_text(&client, double);
        let doubled = double.run(first.w).expect("runs");
        // It was donated, and written over.
        assert_eq!(address(&doubled[0]), at);
        assert_eq!(values(&doubled[0]), [2., 4., 6., 8.]);
        replicas.iter().for_each(check_state);
        check_state(&tree);
    }
}

#[test]
fn copies_have_memory_of_their_own_and_stay_on_their_devices() {
    let client = client(3);
    let devices = client.devices();
    let replicas = PerDevice::replicate(&devices, &state()).expect("room");
    let copies = replicas.copy_on_device().expect("room");
    for ((replica, copy), device) in replicas.iter().zip(&copies).zip(&devices) {
        assert_eq!(copy.w.device(), *device);
        assert_ne!(address(&replica.w), address(&copy.w));
    }
    drop(replicas);
    copies.iter().for_each(check_state);
    let one = |buffer| State {
        w: buffer,
        steps: Buffer::scalar(&devices[1], 1i32).expect("room"),
    };
    let parts = [Buffer::scalar(&devices[0], 1f32).expect("room"), {
        cpu::failing(&client, &devices[1])
    }];
    let broken = PerDevice::from_parts(parts.map(one));
    let error = broken.copy_on_device().err().expect("its run fails");
    assert!(error.message().contains("on device 1"), "{error}");
}

// Splitting.

#[test]
fn an_array_is_cut_along_each_axis() {
    let client = client(2);
    let devices = client.devices();
    // 0 .. 16 as f32[2,2,4].
    let cube = array(16, &[2, 2, 4]);
    let halves = |axis| -> [Vec<f32>; 2] {
        let halves: PerDevice<Buffer> = PerDevice::shard(&devices, &cube, axis).expect("even");
        assert_eq!(halves.gather(axis).expect("values"), cube, "axis {axis}");
        let dims = [[1, 2, 4], [2, 1, 4], [2, 2, 2]][axis];
        assert!(halves.iter().all(|half| half.dims() == dims));
        assert_eq!(halves[1].device(), devices[1]);
        [values(&halves[0]), values(&halves[1])]
    };
    assert_eq!(
        halves(0),
        [
            vec![0., 1., 2., 3., 4., 5., 6., 7.],
            vec![8., 9., 10., 11., 12., 13., 14., 15.]
        ]
    );
    assert_eq!(
        halves(1),
        [
            vec![0., 1., 2., 3., 8., 9., 10., 11.],
            vec![4., 5., 6., 7., 12., 13., 14., 15.]
        ]
    );
    assert_eq!(
        halves(2),
        [
            vec![0., 1., 4., 5., 8., 9., 12., 13.],
            vec![2., 3., 6., 7., 10., 11., 14., 15.]
        ]
    );
}

#[test]
fn what_cant_be_cut_is_refused_by_leaf_axis_size_and_remainder() {
    let client = client(4);
    let devices = client.devices();
    let tree = |rows| {
        HostTree::<State>::new([
            HostArray::new(&[1f32; 8], &[4, 2]).expect("8"),
            HostArray::new(&vec![1i32; rows], &[rows]).expect("rows"),
        ])
        .expect("two")
    };
    says(
        PerDevice::shard(&devices, &tree(6), 0),
        &[
            "`steps`",
            "axis 0",
            "s32[6]",
            "size 6",
            "into 4",
            "remainder is 2",
        ],
    );
    says(
        PerDevice::shard(&devices[..3], &tree(6), 0),
        &["`w`", "axis 0", "size 4", "into 3", "remainder is 1"],
    );
    says(
        PerDevice::shard(&devices, &tree(4), 1),
        &["`w`", "size 2", "into 4"],
    );
    says(
        PerDevice::shard(&devices[..2], &tree(4), 1),
        &["`steps`", "s32[4]"],
    );
    // An axis that isn't there is refused on one device too.
    for count in [1, 2] {
        let devices = &devices[..count];
        says(
            PerDevice::shard(devices, &state(), 0),
            &["`steps`", "s32[]"],
        );
        says(
            PerDevice::shard(devices, &array(4, &[4]), 1),
            &["axis", "f32[4]"],
        );
        says(
            PerDevice::shard_padded(devices, &array(4, &[4]), 1),
            &["axis 1", "f32[4]"],
        );
    }
    let good: PerDevice<State> = PerDevice::shard(&devices, &tree(4), 0).expect("even");
    assert!(good
        .iter()
        .all(|part| part.w.dims() == [1, 2] && part.steps.dims() == [1]));
}

#[test]
fn the_rest_is_filled_up_and_a_mask_tells_what_is_real() {
    let client = client(4);
    let devices = client.devices();
    let (rows, real) =
        PerDevice::<Buffer>::shard_padded(&devices, &array(10, &[5, 2]), 0).expect("room");
    let rows: Vec<Vec<f32>> = rows.iter().map(values).collect();
    assert_eq!(
        rows,
        [
            vec![0., 1., 2., 3.],
            vec![4., 5., 6., 7.],
            vec![8., 9., 0., 0.],
            vec![0.; 4]
        ]
    );
    let mask = |mask: PerDevice<Buffer>| -> Vec<Vec<bool>> {
        let parts = mask.iter().map(|part| part.to_host().expect("truth"));
        parts.collect()
    };
    let (yes, no) = (true, false);
    assert_eq!(mask(real), [[yes, yes], [yes, yes], [yes, no], [no, no]]);
    // Another axis, and nothing missing.
    let (columns, real) =
        PerDevice::<Buffer>::shard_padded(&devices[..2], &array(6, &[2, 3]), 1).expect("room");
    assert_eq!(values(&columns[0]), [0., 1., 3., 4.]);
    assert_eq!(values(&columns[1]), [2., 0., 5., 0.]);
    assert_eq!(mask(real), [[yes, yes], [yes, no]]);
    let (_, real) = PerDevice::<Buffer>::shard_padded(&devices, &array(4, &[4]), 0).expect("room");
    assert_eq!(mask(real), [[yes]; 4]);
    let uneven = HostTree::<State>::new([
        HostArray::new(&[1f32; 3], &[3]).expect("3"),
        HostArray::new(&[1i32; 4], &[4]).expect("4"),
    ]);
    says(
        PerDevice::shard_padded(&devices, &uneven.expect("two"), 0),
        &["`w` has 3", "`steps` has 4"],
    );
}

#[test]
fn a_leading_axis_counts_the_devices() {
    let client = client(4);
    let devices = &client.devices()[..3];
    let stacked = array(12, &[3, 2, 2]);
    let each: PerDevice<Buffer> = PerDevice::unstack(devices, &stacked).expect("three");
    assert!(each.iter().all(|part| part.dims() == [2, 2]));
    assert_eq!(values(&each[2]), [8., 9., 10., 11.]);
    assert_eq!(each.stack().expect("values"), stacked);
    assert_eq!(
        each.gather(1).expect("values").leaves()[0]
            .to_vec::<f32>()
            .expect("f32"),
        [0., 1., 4., 5., 8., 9., 2., 3., 6., 7., 10., 11.]
    );
    let numbers: PerDevice<Buffer> = PerDevice::unstack(devices, &array(3, &[3])).expect("three");
    assert!(numbers.iter().all(|part| part.dims().is_empty()));
    assert_eq!(numbers.stack().expect("values"), array(3, &[3]));
    says(numbers.gather(0), &["f32[]", "axis 0", "stack"]);
    for wrong in [array(12, &[2, 6]), array(6, &[6]), array(1, &[])] {
        says(
            PerDevice::<Buffer>::unstack(devices, &wrong),
            &["leading axis", "3 devices", "shard"],
        );
    }
    let tree = HostTree::<State>::new([
        HostArray::new(&[1f32; 3], &[3]).expect("3"),
        HostArray::new(&[1i32; 2], &[2]).expect("2"),
    ]);
    says(
        PerDevice::unstack(devices, &tree.expect("two")),
        &["`steps`", "s32[2]"],
    );
    // Zeros of everything.
    let none: PerDevice<Buffer> = PerDevice::unstack(devices, &array(0, &[3, 0])).expect("three");
    assert_eq!(none.stack().expect("values"), array(0, &[3, 0]));
}

#[test]
fn parts_of_several_lengths_are_joined_and_others_refused() {
    let client = client(3);
    let part = |position: usize, dims: &[usize]| {
        let count: usize = dims.iter().product();
        let values: Vec<f32> = (0..count).map(|x| (10 * position + x) as f32).collect();
        Buffer::from_host(&device(&client, position), &values, dims).expect("room")
    };
    let joined = PerDevice::from_parts([part(0, &[2]), part(1, &[0]), part(2, &[3])]);
    let joined = joined.gather(0).expect("one axis");
    let wanted = [0., 1., 20., 21., 22.];
    assert_eq!(joined.leaves()[0].to_vec::<f32>().expect("f32"), wanted);
    let uneven = PerDevice::from_parts([part(0, &[2, 2]), part(1, &[2, 3])]);
    says(
        uneven.gather(0),
        &["f32[2,3] on device 1", "axis 0", "f32[2,2]"],
    );
    says(uneven.stack(), &["device 1"]);
    assert_eq!(
        uneven.gather(1).expect("two rows").leaves()[0].dims(),
        [2, 5]
    );
    let integers = Buffer::scalar(&device(&client, 1), 1i32).expect("room");
    says(
        PerDevice::from_parts([part(0, &[]), integers]).stack(),
        &["s32", "device 1"],
    );
    // Trees that are built otherwise.
    let lists = PerDevice::from_parts([vec![part(0, &[2])], vec![]]);
    says(lists.gather(0), &["on device 1", "Vec()"]);
    let none = PerDevice::<Buffer>::from_parts([]);
    says(none.gather(0), &["no devices"]);
    says(none.stack(), &["no devices"]);
    says(none.unreplicate(), &["no devices"]);
}

// Devices.

#[test]
fn no_device_and_one_that_is_there_twice_are_refused() {
    let client = client(2);
    let [first, second] = [device(&client, 0), device(&client, 1)];
    let tree = state().to_device(&first).expect("room");
    let (host, cut) = (state(), array(4, &[4]));
    let all = |devices: &[Device]| -> Vec<Option<Error>> {
        vec![
            PerDevice::replicate(devices, &host).err(),
            PerDevice::replicate_tree(devices, &tree).err(),
            PerDevice::<Buffer>::shard(devices, &cut, 0).err(),
            PerDevice::<Buffer>::shard_padded(devices, &cut, 0).err(),
            PerDevice::<Buffer>::unstack(devices, &cut).err(),
            PerDevice::from_fn(devices, |_, device| Buffer::scalar(device, 1f32)).err(),
        ]
    };
    for error in all(&[]) {
        says(error.map_or(Ok(()), Err), &["no devices"]);
    }
    let twice = [first.clone(), second.clone(), first.clone()];
    for error in all(&twice) {
        says(error.map_or(Ok(()), Err), &["twice", "at 0 and at 2"]);
    }
    // In another order each gets its own.
    let turned: PerDevice<Buffer> =
        PerDevice::shard(&[second.clone(), first], &cut, 0).expect("even");
    assert_eq!(
        (turned[0].device(), values(&turned[0])),
        (second, vec![0., 1.])
    );
}

#[test]
fn what_is_made_device_by_device_must_lie_there() {
    let client = client(3);
    let devices = client.devices();
    let made = PerDevice::from_fn(&devices, |position, device| {
        Ok(State {
            w: Buffer::scalar(device, position as f32)?,
            steps: Buffer::scalar(device, 1i32)?,
        })
    })
    .expect("room");
    assert_eq!(values(&made[2].w), [2.]);
    says(
        PerDevice::from_fn(&devices, |_, device| {
            Ok(State {
                w: Buffer::scalar(device, 0f32)?,
                steps: Buffer::scalar(&devices[0], 1i32)?,
            })
        }),
        &["`steps`", "device 1", "wanted it on"],
    );
    let other = cpu::client(3);
    says(
        PerDevice::from_fn(&devices, |_, _| Buffer::scalar(&device(&other, 0), 0f32)),
        &["device 0"],
    );
    says(
        PerDevice::<Buffer>::from_fn(&devices, |position, device| match position {
            2 => Buffer::from_host(device, &[1f32], &[2]),
            _ => Buffer::scalar(device, 0f32),
        }),
        &["on device 2"],
    );
    // Of another client nothing can be copied to these devices.
    let tree = state().to_device(&device(&other, 0)).expect("room");
    let error = PerDevice::replicate_tree(&devices, &tree)
        .err()
        .expect("another client's");
    assert!(error.message().contains("`w`"), "{error}");
    assert!(error.message().contains("on device 0"), "{error}");
    check_state(&tree);
}

#[test]
fn a_failure_to_place_names_leaf_and_device() {
    let client = client(2);
    let devices = client.devices();
    let shape = Shape::of::<bool>(&[2]).expect("small");
    let bad = HostArray::borrowed_bytes(&[1, 3], shape).expect("two bytes");
    let good = HostArray::new(&W, &[4]).expect("4");
    let tree = HostTree::<State>::new([good, bad]).expect("two");
    says(
        PerDevice::replicate(&devices, &tree),
        &["`steps`", "device 0", "pred"],
    );
    // Only the second device gets the bad one.
    says(
        PerDevice::shard(&devices, &tree, 0),
        &["`steps`", "device 1", "pred"],
    );
}

// As a collection.

#[test]
fn taken_apart_and_put_together() {
    let client = client(2);
    let devices = client.devices();
    let numbers = |first: f32| {
        PerDevice::from_fn(&devices, |position, device| {
            Buffer::scalar(device, first + position as f32)
        })
        .expect("room")
    };
    let both = |pair: &PerDevice<Buffer>| [values(&pair[0])[0], values(&pair[1])[0]];
    let zipped = numbers(1.).zip(numbers(10.)).expect("two and two");
    assert_eq!(values(&zipped[1].1), [11.]);
    let (first, second) = zipped.unzip();
    assert_eq!((both(&first), both(&second)), ([1., 2.], [10., 11.]));
    let one = PerDevice::from_parts([Buffer::scalar(&devices[0], 0f32).expect("room")]);
    says(first.zip(one), &["2 devices", "on 1"]);

    let states = second.map(|w| State {
        steps: Buffer::scalar(&w.device(), 3i32).expect("room"),
        w,
    });
    let part = states.part(|state| &state.w);
    assert!(format!("{part:?}").starts_with("PartOf["), "{part:?}");
    drop(part);
    assert_eq!(states.get(1).map(|state| values(&state.w)), Some(vec![11.]));
    assert!(states.get(2).is_none());
    assert!(!states.is_empty() && states.len() == 2);
    let lengths: Vec<usize> = (&states)
        .into_iter()
        .map(|state| state.w.dims().len())
        .collect();
    assert_eq!(lengths, [0, 0]);
    let parts: Vec<State> = states.into_iter().collect();
    assert_eq!(values(&parts[1].w), [11.]);
    let first = PerDevice::from_parts(parts).unreplicate().expect("two");
    assert_eq!(values(&first.w), [10.]);
    let plain = PerDevice::from_parts(["a".to_owned(), "b".to_owned()]);
    assert_eq!(format!("{plain:?}"), r#"PerDevice["a", "b"]"#);
    assert_eq!(plain.into_inner(), ["a", "b"]);
}

#[test]
fn a_state_that_was_saved_on_some_devices_is_restored_on_others() {
    let client = client(8);
    let all = client.devices();
    let mut saved = state();
    for count in [1, 2, 4, 8, 4, 2, 1] {
        let restored = PerDevice::replicate(&all[8 - count..], &saved).expect("room");
        restored.iter().for_each(check_state);
        restored.assert_replicas_equal().expect("the same");
        saved = HostTree::read(&restored[count - 1]).expect("values");
        assert_eq!(saved, state());
        let first = restored.unreplicate().expect("some");
        assert_eq!(first.w.device(), all[8 - count]);
        check_state(&first);
    }
}

#[test]
fn shards_go_where_the_sharding_says() {
    // `shard` is `Sharding::split`, block by block.
    let client = client(4);
    let devices = client.devices();
    let matrix = array(32, &[4, 8]);
    for axis in [0, 1] {
        let parts: PerDevice<Buffer> = PerDevice::shard(&devices, &matrix, axis).expect("even");
        for (position, part) in parts.iter().enumerate() {
            let shape = matrix.leaves()[0].shape();
            let block: Block = Sharding::split(axis, 4)
                .block(shape, position)
                .expect("fits");
            let cut = matrix.leaves()[0].block(&block).expect("inside");
            assert_eq!(values(part), cut.to_vec::<f32>().expect("f32"));
        }
    }
}

#[test]
fn dropped_on_another_thread() {
    fn make(client: &Client) -> PerDevice<State> {
        PerDevice::replicate(&client.devices(), &state()).expect("room")
    }
    let client = client(2);
    for _ in 0..20 {
        let here = make(&client);
        let there = std::thread::scope(|scope| {
            let there = scope.spawn(|| make(&client));
            there.join().expect("no panic")
        });
        std::thread::spawn(move || drop(here))
            .join()
            .expect("no panic");
        there.iter().for_each(check_state);
    }
}
