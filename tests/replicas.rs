//! Whether values on many devices are there, and whether they are the same.

mod cpu;

use std::time::{Duration, Instant};

use cpu::{client, device, failing, until_pending, vector, SLOW, SLOW_LENGTH};
use xla::{
    bf16, Buffer, Client, Code, CompileOptions, Complex, Element, ElementType, Error, HostArray,
    PerDevice, Program, Shape, Tree,
};

#[derive(Tree)]
struct State {
    w: Buffer,
    layers: Vec<Buffer>,
}

/// Leaves of f32, on each device the same but for what `change` does to leaf, values and device.
fn states(
    client: &Client,
    lengths: &[usize],
    change: impl Fn(usize, usize, &mut Vec<f32>),
) -> PerDevice<State> {
    PerDevice::from_fn(&client.devices(), |position, device| {
        let mut leaves = lengths.iter().enumerate().map(|(leaf, length)| {
            let mut values: Vec<f32> = (0..*length).map(|x| x as f32 + 0.5).collect();
            change(position, leaf, &mut values);
            vector(device, &values)
        });
        Ok(State {
            w: leaves.next().expect("one at least"),
            layers: leaves.collect(),
        })
    })
    .expect("room")
}

#[track_caller]
fn drifted(result: Result<(), Error>, words: &[&str]) {
    let error = result.expect_err("they are not the same");
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    for word in words {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
}

#[test]
fn one_bit_of_one_element_of_one_leaf_on_one_device_is_seen() {
    let client = client(4);
    let lengths = [3, 1, 1000, 7];
    let names = ["`w`", "`layers[0]`", "`layers[1]`", "`layers[2]`"];
    states(&client, &lengths, |_, _, _| ())
        .assert_replicas_equal()
        .expect("the same");
    for (leaf, (length, name)) in lengths.iter().zip(names).enumerate() {
        for at in [0, length / 2, length - 1] {
            for device in 0..4 {
                let changed = states(&client, &lengths, |position, number, values| {
                    if (position, number) == (device, leaf) {
                        values[at] = f32::from_bits(values[at].to_bits() ^ 1);
                    }
                });
                // Held against the first device: where that drifted, the second differs.
                let (on, was) = (device.max(1), at as f32 + 0.5);
                let other = f32::from_bits(was.to_bits() ^ 1);
                let (first, second) = match device {
                    0 => (other, was),
                    _ => (was, other),
                };
                drifted(
                    changed.assert_replicas_equal(),
                    &[
                        name,
                        &format!("it is {first} on device 0, but {second} on device {on}"),
                        &format!("at [{at}] of f32[{length}]"),
                    ],
                );
                changed.assert_replicas_close(1e-6, 0.).expect("one bit");
                changed.assert_replicas_close(0., 1e-3).expect("one bit");
                drifted(changed.assert_replicas_close(0., 0.), &[name]);
            }
        }
    }
}

#[test]
fn tolerances_are_measured_against_the_first_device() {
    let client = client(3);
    let of = |values: [f32; 3]| {
        PerDevice::from_fn(&client.devices(), |position, device| {
            Buffer::from_host(device, &[0., values[position]], &[2])
        })
        .expect("room")
    };
    // |a - b| <= absolute + relative * |on device 0|
    let pair = of([100., 110., 90.]);
    pair.assert_replicas_close(0.1, 0.).expect("10 of 100");
    drifted(
        pair.assert_replicas_close(0.09, 0.),
        &["100", "110", "device 1"],
    );
    let pair = of([100., 100., 111.2]);
    drifted(
        pair.assert_replicas_close(0.1, 1.),
        &["111.2", "device 2", "[1]"],
    );
    pair.assert_replicas_close(0.1, 1.25).expect("11.25");
    // 11.2 is more than a tenth of 100, though not of 111.2.
    drifted(pair.assert_replicas_close(0.1005, 1.), &["device 2"]);
    drifted(
        of([0., 0., 1e-9]).assert_replicas_close(1., 0.),
        &["device 2"],
    );
    of([0., 0., 1e-9])
        .assert_replicas_close(0., 1e-8)
        .expect("near");
    of([f32::INFINITY; 3])
        .assert_replicas_close(0., 0.)
        .expect("alike");
    let signs = of([f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY]);
    drifted(signs.assert_replicas_close(0., 1.), &["inf", "-inf"]);
    // A number that is no bound binds nothing.
    drifted(
        of([1., 1., 2.]).assert_replicas_close(f64::NAN, 0.),
        &["device 2"],
    );
}

#[test]
fn no_numbers_and_the_two_zeros() {
    let client = client(2);
    let of = |bits: [u32; 2]| {
        PerDevice::from_fn(&client.devices(), |position, device| {
            Buffer::scalar(device, f32::from_bits(bits[position]))
        })
        .expect("room")
    };
    let (nan, other) = (0x7fc0_0000, 0x7fc0_0001);
    of([nan, nan]).assert_replicas_equal().expect("bit for bit");
    of([nan, other])
        .assert_replicas_close(0., 0.)
        .expect("NaNs are alike");
    // Two values that are written alike can be told apart all the same.
    drifted(
        of([nan, other]).assert_replicas_equal(),
        &["NaN", "0x7fc00000", "0x7fc00001", "device 1"],
    );
    drifted(of([nan, 0]).assert_replicas_close(9., 9.), &["NaN", "0"]);
    let zeros = of([0, 0x8000_0000]);
    drifted(
        zeros.assert_replicas_equal(),
        &["0 on device 0", "-0 on device 1"],
    );
    zeros
        .assert_replicas_close(0., 0.)
        .expect("equal as numbers");
}

#[test]
fn other_types_of_elements() {
    fn of<T: Element>(client: &Client, values: [T; 2]) -> PerDevice<Buffer> {
        PerDevice::from_fn(&client.devices(), |position, device| {
            Buffer::from_host(device, &[values[position], values[0]], &[1, 2])
        })
        .expect("room")
    }
    fn check<T: Element>(client: &Client, values: [T; 2], words: [&str; 2], near: f64) {
        of(client, [values[0]; 2])
            .assert_replicas_equal()
            .expect("the same");
        let (differ, words) = (
            of(client, values),
            [
                &format!("{} on device 0", words[0])[..],
                &format!("{} on device 1", words[1]),
                "[0, 0]",
            ],
        );
        drifted(differ.assert_replicas_equal(), &words);
        drifted(differ.assert_replicas_close(0., near / 2.), &words);
        differ.assert_replicas_close(0., near).expect("near");
    }
    let client = client(2);
    check(&client, [1.5f64, 1.75], ["1.5", "1.75"], 0.25);
    check(
        &client,
        [bf16::from_f32(2.), bf16::from_f32(3.)],
        ["2", "3"],
        1.,
    );
    check(
        &client,
        [xla::f16::from_f32(2.), xla::f16::from_f32(-1.)],
        ["2", "-1"],
        3.,
    );
    check(&client, [-3i8, 4], ["-3", "4"], 7.);
    check(
        &client,
        [u64::MAX, u64::MAX - 1],
        ["18446744073709551615", "18446744073709551614"],
        1.,
    );
    check(
        &client,
        [i64::MIN, i64::MIN + 2],
        ["-9223372036854775808", "-9223372036854775806"],
        2.,
    );
    check(
        &client,
        [Complex::new(1f32, -2.), Complex::new(4., 2.)],
        ["1-2i", "4+2i"],
        5.,
    );
    check(
        &client,
        [Complex::new(1f64, 0.), Complex::new(1., 1.)],
        ["1+0i", "1+1i"],
        1.,
    );
    let truth = of(&client, [true, false]);
    drifted(
        truth.assert_replicas_equal(),
        &["true on device 0", "false on device 1"],
    );
    // Truth values are the same or not.
    drifted(truth.assert_replicas_close(9., 9.), &["true"]);
    let narrow = |bytes: [u8; 2]| {
        let shape = Shape::new(ElementType::S4, &[]).expect("small");
        PerDevice::from_fn(&client.devices(), |position, device| {
            Buffer::from_bytes(device, &bytes[position..=position], &shape)
        })
        .expect("room")
    };
    drifted(
        narrow([0xf, 0x7]).assert_replicas_equal(),
        &["-1 on device 0", "7 on device 1"],
    );
    narrow([0xf, 0xf])
        .assert_replicas_equal()
        .expect("the same");
}

#[test]
fn what_cant_be_compared_is_refused() {
    let client = client(2);
    let on = |position, values: &[f32]| vector(&device(&client, position), values);
    let shapes = PerDevice::from_parts([on(0, &[1., 2.]), on(1, &[1.])]);
    drifted(
        shapes.assert_replicas_equal(),
        &["f32[2] on device 0", "f32[1] on device 1"],
    );
    drifted(shapes.assert_replicas_close(9., 9.), &["f32[1]"]);
    let integers = Buffer::from_host(&device(&client, 1), &[0i32], &[1]).expect("room");
    let types = PerDevice::from_parts([on(0, &[0.]), integers]);
    drifted(
        types.assert_replicas_equal(),
        &["f32[1] on device 0", "s32[1] on device 1"],
    );
    let lists = PerDevice::from_parts([vec![on(0, &[1.])], vec![]]);
    let error = lists.assert_replicas_equal().expect_err("one of none");
    assert!(error.message().contains("on device 1 is Vec()"), "{error}");
    let none = PerDevice::<Buffer>::from_parts([]);
    assert!(none.assert_replicas_equal().is_err());
    // One is the same as itself, and nothing as nothing.
    let one = PerDevice::from_parts([on(0, &[f32::NAN])]);
    one.assert_replicas_equal().expect("one");
    let empty = PerDevice::from_parts([on(0, &[]), on(1, &[])]);
    empty.assert_replicas_equal().expect("empty");
    PerDevice::from_parts([(), ()])
        .assert_replicas_equal()
        .expect("without leaves");
    // A scalar has an empty index.
    let scalar = |position, value: f32| Buffer::scalar(&device(&client, position), value);
    let scalars = [scalar(0, 1.), scalar(1, 2.)].map(|scalar| scalar.expect("room"));
    drifted(
        PerDevice::from_parts(scalars).assert_replicas_equal(),
        &["at [] of f32[]"],
    );
}

// Waiting.

/// `x` and a run of [`SLOW`], on the device at `position`.
fn slow(client: &Client, position: usize, rounds: i32) -> (Buffer, Buffer) {
    let device = device(client, position);
    let program = Program::from_text(SLOW).expect("text");
    let options = CompileOptions::new().device(&device);
    let slow = client.compile(&program, &options).expect("compiles");
    let x = vector(&device, &[1.; SLOW_LENGTH]);
    let n = Buffer::scalar(&device, rounds).expect("room");
    let output = slow
        .run((&x, &n))
        .expect("runs")
        .into_single()
        .expect("one");
    (x, output)
}

#[test]
fn the_devices_that_are_not_ready_are_told() {
    let client = client(3);
    until_pending(|rounds| {
        let ready = |position| {
            let leaf = || vector(&device(&client, position), &[1.]);
            (leaf(), leaf())
        };
        let pair = PerDevice::from_parts([ready(0), slow(&client, 1, rounds), ready(2)]);
        let at_once = pair.pending().expect("no failure");
        let begun = Instant::now();
        let after = pair
            .wait_timeout(Duration::from_millis(1))
            .expect("no failure");
        let seen = after == [1];
        if seen {
            assert_eq!(at_once, [1]);
            assert!(begun.elapsed() >= Duration::from_millis(1));
        }
        assert!(after.is_empty() || seen, "{after:?}");
        // As long as it takes, whatever the clock counts.
        assert!(pair
            .wait_timeout(Duration::MAX)
            .expect("no failure")
            .is_empty());
        assert!(pair.pending().expect("no failure").is_empty());
        pair.wait().expect("no failure");
        assert_eq!(
            pair[1].1.to_host::<f32>().expect("values")[0],
            (rounds + 1) as f32
        );
        seen
    });
}

#[test]
fn all_devices_that_are_not_ready_are_told_and_wait_waits_for_them() {
    let client = client(3);
    until_pending(|rounds| {
        let parts = [2, 0, 1].map(|position| slow(&client, position, rounds));
        let all = PerDevice::from_parts(parts);
        let pending = all.pending().expect("no failure");
        all.wait().expect("no failure");
        assert!(all
            .iter()
            .all(|(_, output)| output.is_ready().expect("known")));
        assert!(all.pending().expect("no failure").is_empty());
        pending == [0, 1, 2]
    });
}

#[test]
fn a_run_that_fails_later_is_told_by_device_and_leaf() {
    let client = client(3);
    let make = |broken: usize| {
        PerDevice::from_fn(&client.devices(), |position, device| {
            let last = match position == broken {
                true => failing(&client, device),
                false => vector(device, &[1.; 4]),
            };
            Ok(State {
                w: vector(device, &[1.; 4]),
                layers: vec![vector(device, &[2.; 4]), last],
            })
        })
        .expect("room")
    };
    for broken in 0..3 {
        let states = make(broken);
        let at = format!("on device {broken}");
        let says = |what: &str, error: Option<Error>| {
            let error = error.unwrap_or_else(|| panic!("{what}: no error"));
            for word in [&at[..], "`layers[1]`", "Out of memory"] {
                let message = error.message();
                assert!(message.contains(word), "{what}: no `{word}` in: {message}");
            }
        };
        says("wait", states.wait().err());
        says(
            "timeout",
            states.wait_timeout(Duration::from_secs(60)).err(),
        );
        says("pending", states.pending().err());
        says("gather", states.gather(0).err());
        says("stack", states.stack().err());
        says("equal", states.assert_replicas_equal().err());
        says("close", states.assert_replicas_close(1., 1.).err());
        if broken == 0 {
            let error = PerDevice::replicate_tree(&client.devices(), &states[0]).err();
            let error = error.expect("nothing to copy");
            assert!(error.message().contains("`layers[1]`"), "{error}");
        }
        // The other devices' values are there.
        for (position, state) in states.iter().enumerate().filter(|(p, _)| *p != broken) {
            let last = HostArray::read(&state.layers[1]).expect("values");
            assert_eq!(last.to_vec::<f32>().expect("f32"), [1.; 4], "{position}");
        }
    }
}
