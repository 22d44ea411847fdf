//! The account of what a client's buffers hold.

mod cpu;

use std::thread;

use cpu::{api_minor, client, compiled_text, device, failing, in_child, refused, resident, vector};
use xla::{
    label, Buffer, ChunkedUpload, Client, Device, DeviceAccount, ElementType, HostArray, HostTree,
    HostVec, PerDevice, Shape, Tree,
};

/// `w - g` for two vectors of 1024 f32, 4096 bytes each, and the sum of `g`.
fn step(donated: bool) -> String {
    let attributes = if donated {
        " {tf.aliasing_output = 0 : i32}"
    } else {
        ""
    };
    format!(
        "func.func @main(%w: tensor<1024xf32>{attributes}, %g: tensor<1024xf32>)
             -> (tensor<1024xf32>, tensor<f32>) {{
           %zero = stablehlo.constant dense<0.0> : tensor<f32>
           %new = stablehlo.subtract %w, %g : tensor<1024xf32>
           %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
             : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
           return %new, %sum : tensor<1024xf32>, tensor<f32>
         }}"
    )
}

/// Checks live bytes, their peak and live buffers of the client's first device.
#[track_caller]
fn check(client: &Client, live_bytes: usize, peak_bytes: usize, live_buffers: usize) {
    check_device(client, 0, live_bytes, peak_bytes, live_buffers);
}

#[track_caller]
fn check_device(client: &Client, index: usize, bytes: usize, peak: usize, buffers: usize) {
    let account = client.memory_account();
    let found = &account.devices()[index];
    assert_eq!(
        (found.live_bytes, found.peak_bytes, found.live_buffers),
        (bytes, peak, buffers),
        "live bytes, peak bytes, live buffers; the account is\n{account}"
    );
}

fn first(client: &Client) -> DeviceAccount {
    client.memory_account().devices()[0].clone()
}

/// Live bytes, their peak and live buffers under a label on the first device.
#[track_caller]
fn under(client: &Client, name: &str) -> (usize, usize, usize) {
    let first = first(client);
    let account = first.label(name).unwrap_or_else(|| panic!("no `{name}`"));
    (account.live_bytes, account.peak_bytes, account.live_buffers)
}

fn kilobytes(device: &Device) -> Buffer {
    vector(device, &[1.0; 1024])
}

#[test]
fn uploads_copies_and_drops() {
    let client = client(2);
    let [here, there] = [device(&client, 0), device(&client, 1)];
    check(&client, 0, 0, 0);
    let w = kilobytes(&here);
    check(&client, 4096, 4096, 1);
    let scalar = Buffer::scalar(&here, 1u8).expect("room");
    let empty = Buffer::from_host::<f32>(&here, &[], &[0, 3]).expect("room");
    check(&client, 4097, 4097, 3);
    let copy = w.copy_on_device().expect("room");
    check(&client, 8193, 8193, 4);
    let far = w.copy_to_device(&there).expect("room");
    check(&client, 8193, 8193, 4);
    check_device(&client, 1, 4096, 4096, 1);
    drop((w, scalar));
    check(&client, 4096, 8193, 2);
    client.forget_memory_peaks();
    check(&client, 4096, 4096, 2);
    drop((copy, empty, far));
    check(&client, 0, 4096, 0);
    check_device(&client, 1, 0, 4096, 0);
    assert_eq!(client.memory_account().live_bytes(), 0);
    assert_eq!(client.memory_account().live_buffers(), 0);
}

#[test]
fn refused_uploads_are_not_counted() {
    let client = client(1);
    let here = device(&client, 0);
    assert!(Buffer::from_host(&here, &[1f32], &[2]).is_err());
    assert!(Buffer::from_host_vec(&here, HostVec::from_slice(&[1f32]), &[2]).is_err());
    check(&client, 0, 0, 0);
}

#[test]
fn every_type_takes_what_the_plugin_says() {
    let client = client(1);
    let here = device(&client, 0);
    let types = [
        ElementType::Pred,
        ElementType::S1,
        ElementType::S2,
        ElementType::U2,
        ElementType::S4,
        ElementType::U4,
        ElementType::F4E2M1FN,
        ElementType::U8,
        ElementType::F8E5M2,
        ElementType::Bf16,
        ElementType::F32,
        ElementType::C64,
        ElementType::C128,
    ];
    let mut seen = 0;
    for element_type in types {
        for count in [1, 7, 64] {
            let shape = Shape::new(element_type, &[count]).expect("small");
            let bytes = vec![0; shape.byte_size()];
            let Ok(buffer) = Buffer::from_bytes(&here, &bytes, &shape) else {
                assert!(element_type == ElementType::S1 && api_minor(&client) < 106);
                continue;
            };
            let wanted = buffer.on_device_size().expect("a size");
            assert_eq!(client.memory_account().live_bytes(), wanted, "{shape}");
            seen += 1;
        }
    }
    assert!(seen >= 36);
    check(&client, 0, 1024, 0);
}

#[test]
fn clients_have_accounts_of_their_own() {
    let [one, other] = [client(1), client(1)];
    let _w = kilobytes(&device(&one, 0));
    check(&one, 4096, 4096, 1);
    check(&other, 0, 0, 0);
}

#[test]
fn a_donated_chain_has_no_peak() {
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let (mut w, g) = (kilobytes(&here), kilobytes(&here));
    check(&client, 8192, 8192, 2);
    for _ in 0..10 {
        let [new, sum] = program
            .run((w, &g))
            .expect("it runs")
            .into_array()
            .expect("2");
        check(&client, 8196, 8196, 3);
        drop(sum);
        w = new;
        check(&client, 8192, 8196, 2);
    }
    assert_eq!(w.to_host::<f32>().expect("values")[0], -9.0);
    drop((w, g));
    check(&client, 0, 8196, 0);
}

#[test]
fn without_donation_both_count() {
    let client = client(1);
    let here = device(&client, 0);
    let donating = compiled_text(&client, &step(true));
    let keeping = compiled_text(&client, &step(false));
    let (mut w, g) = (kilobytes(&here), kilobytes(&here));
    for _ in 0..10 {
        // Given, but not donated: the outputs have memory of their own.
        let [new, _] = keeping
            .run((w, &g))
            .expect("it runs")
            .into_array()
            .expect("2");
        w = new;
    }
    check(&client, 8192, 12_292, 2);
    client.forget_memory_peaks();
    // Lent where it would be donated: XLA copies.
    let [copied, sum] = donating
        .run((&w, &g))
        .expect("it runs")
        .into_array()
        .expect("2");
    check(&client, 12_292, 12_292, 4);
    drop((w, g, copied, sum));
    check(&client, 0, 12_292, 0);
}

#[test]
fn refused_and_failed_calls() {
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let (w, wrong) = (kilobytes(&here), vector(&here, &[1.0; 4]));
    check(&client, 4112, 4112, 2);
    let given = refused(program.run((w, wrong)), &["wanted"]);
    check(&client, 4112, 4112, 2);
    drop(given);
    check(&client, 0, 4112, 0);
    // One whose run fails after the call: its handle counts until it is dropped.
    let broken = failing(&client, &here);
    check(&client, 16, 4112, 1);
    assert!(broken.wait().is_err());
    check(&client, 16, 4112, 1);
    drop(broken);
    check(&client, 0, 4112, 0);
}

#[test]
fn shared_host_memory_counts_as_any_other() {
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let values = HostVec::from_slice(&[1f32; 1024]);
    let w = Buffer::from_host_vec(&here, HostVec::from_slice(&[1f32; 1024]), &[1024]);
    let w = w.expect("room");
    assert!(w.is_zero_copy());
    check(&client, 4096, 4096, 1);
    let w = client.scope(|scope| {
        let g = scope.borrow(&here, &values, &[1024]).expect("room");
        check(&client, 8192, 8192, 2);
        let [new, _] = program
            .run((w, g))
            .expect("it runs")
            .into_array()
            .expect("2");
        check(&client, 8192, 8196, 2);
        new
    });
    check(&client, 4096, 8196, 1);
    drop(w);
    check(&client, 0, 8196, 0);
}

#[test]
fn uploads_that_come_later_count_from_the_start() {
    let client = client(1);
    let here = device(&client, 0);
    let (w, sent) = Buffer::from_host_async(&here, vec![1f32; 1024], &[1024]).expect("room");
    check(&client, 4096, 4096, 1);
    sent.wait().expect("it is sent");
    check(&client, 4096, 4096, 1);
    drop(w);
    let shapes = [
        Shape::of::<f32>(&[4]).expect("small"),
        Shape::of::<u8>(&[3]).expect("small"),
    ];
    let (upload, buffers) = ChunkedUpload::new(&here, &shapes).expect("room");
    check(&client, 19, 4096, 2);
    // Nothing comes, and they fail; they are there all the same.
    drop(upload);
    check(&client, 19, 4096, 2);
    assert!(buffers[0].wait().is_err());
    drop(buffers);
    check(&client, 0, 4096, 0);
}

// Labels.

#[test]
fn labels_nest_and_end() {
    let client = client(1);
    let here = device(&client, 0);
    let plain = kilobytes(&here);
    assert_eq!(plain.label(), None);
    let outer = label("labels_nest: outer");
    let one = kilobytes(&here);
    {
        let _inner = label("labels_nest: inner");
        let two = kilobytes(&here);
        assert_eq!(two.label(), Some("labels_nest: inner"));
        assert_eq!(under(&client, "labels_nest: inner"), (4096, 4096, 1));
        let elsewhere = thread::scope(|scope| {
            let made = scope.spawn(|| kilobytes(&here));
            made.join().expect("no panic")
        });
        assert_eq!(elsewhere.label(), None, "a label is its thread's");
    }
    let three = kilobytes(&here);
    assert_eq!(three.label(), Some("labels_nest: outer"));
    drop(outer);
    assert_eq!(kilobytes(&here).label(), None);
    assert_eq!(under(&client, "labels_nest: outer"), (8192, 8192, 2));
    assert_eq!(under(&client, "labels_nest: inner"), (0, 4096, 0));
    assert_eq!(first(&client).unlabelled_bytes(), 4096);
    assert_eq!(first(&client).unlabelled_buffers(), 1);
    drop((plain, one, three));
    assert_eq!(under(&client, "labels_nest: outer"), (0, 8192, 0));
    assert_eq!(first(&client).unlabelled_bytes(), 0);
}

#[test]
fn a_label_goes_with_donated_memory() {
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let mut w = {
        let _params = label("donated: params");
        kilobytes(&here)
    };
    let g = {
        let _batch = label("donated: batch");
        kilobytes(&here)
    };
    for _ in 0..3 {
        let _step = label("donated: step");
        let [new, sum] = program
            .run((w, &g))
            .expect("it runs")
            .into_array()
            .expect("2");
        assert_eq!(new.label(), Some("donated: params"));
        assert_eq!(sum.label(), Some("donated: step"));
        w = new;
    }
    assert_eq!(under(&client, "donated: params"), (4096, 4096, 1));
    assert_eq!(under(&client, "donated: batch"), (4096, 4096, 1));
    assert_eq!(under(&client, "donated: step"), (0, 4, 0));
    // Lent, it is copied: the copy is the step's.
    let _step = label("donated: step");
    let [copied, _] = program
        .run((&w, &g))
        .expect("it runs")
        .into_array()
        .expect("2");
    assert_eq!(copied.label(), Some("donated: step"));
    assert_eq!(under(&client, "donated: step"), (4096, 4100, 1));
    drop((w, g, copied));
    assert_eq!(client.memory_account().live_bytes_of("donated: params"), 0);
    check(&client, 0, 12_292, 0);
}

#[test]
fn more_labels_than_there_are_numbers() {
    let ended = in_child("more_labels_than_there_are_numbers", || {
        let client = client(1);
        let here = device(&client, 0);
        let names: Vec<&'static str> = (0..300)
            .map(|number| &*Box::leak(format!("label {number}").into_boxed_str()))
            .collect();
        let made = names.iter().map(|name| {
            let _label = label(name);
            Buffer::scalar(&here, 1f32).expect("room")
        });
        let made: Vec<Buffer> = made.collect();
        assert_eq!(made[253].label(), Some("label 253"));
        assert_eq!(made[254].label(), Some("other labels"));
        assert_eq!(under(&client, "other labels"), (46 * 4, 46 * 4, 46));
        assert_eq!(first(&client).labels.len(), 255);
        assert_eq!(first(&client).unlabelled_buffers(), 0);
        let _known = label("label 7");
        assert_eq!(kilobytes(&here).label(), Some("label 7"));
    });
    ended.check_well();
}

#[test]
fn the_table() {
    let client = client(2);
    let here = device(&client, 0);
    assert_eq!(
        client.memory_account().explain(),
        "memory        live        peak   buffers"
    );
    let params = {
        let _params = label("the table's params");
        kilobytes(&here)
    };
    let batch = Buffer::from_host(&here, &[0u8; 100], &[100]).expect("room");
    drop(kilobytes(&here));
    let name = format!("{here:?}");
    let wanted = [
        "memory                      live        peak   buffers".to_owned(),
        format!("{name:20}     4.1 KiB     8.1 KiB         2"),
        "  the table's params     4.0 KiB     4.0 KiB         1".to_owned(),
        "  no label                 100 B                     1".to_owned(),
    ];
    let account = client.memory_account();
    assert_eq!(account.explain(), wanted.join("\n"));
    assert_eq!(account.to_string(), account.explain());
    drop((params, batch));
}

// Several devices and threads.

#[derive(Tree)]
struct State {
    w: Buffer,
    scale: Buffer,
}

#[test]
fn each_device_for_itself() {
    let client = client(4);
    let devices = client.devices();
    let text = step(true).replace(
        "func.func",
        "module @m attributes {mhlo.num_replicas = 4 : i32} { func.func",
    ) + "}";
    let program = compiled_text(&client, &text);
    let host: HostTree<'_, State> = HostTree::new([
        HostArray::new(&[1f32; 1024], &[1024]).expect("1024"),
        HostArray::scalar(2f32).expect("1"),
    ])
    .expect("two");
    let state = {
        let _state = label("each device: state");
        PerDevice::<State>::replicate(&devices, &host).expect("room")
    };
    (0..4).for_each(|index| check_device(&client, index, 4100, 4100, 2));
    let g: Vec<Buffer> = devices.iter().map(kilobytes).collect();
    let (mut w, scales) = state.map(|state| (state.w, state.scale)).unzip();
    client.forget_memory_peaks();
    for _ in 0..3 {
        let outputs = program.run_per_device(w.into_inner().into_iter().zip(&g));
        let outputs = outputs.expect("it runs").into_iter();
        w = PerDevice::from_parts(outputs.map(|each| {
            let [new, sum] = each.into_array().expect("2");
            assert_eq!(sum.to_scalar::<f32>().expect("a number"), 1024.0);
            new
        }));
    }
    (0..4).for_each(|index| check_device(&client, index, 8196, 8200, 3));
    let account = client.memory_account();
    assert_eq!(account.live_bytes_of("each device: state"), 4 * 4100);
    drop(w.into_inner().remove(2));
    drop((scales, g));
    (0..4).for_each(|index| check_device(&client, index, 0, 8200, 0));
}

#[test]
fn threads_count_together() {
    const ROUNDS: usize = 500;
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let g = kilobytes(&here);
    let kept: Vec<Buffer> = thread::scope(|scope| {
        let workers = (0..4).map(|worker| {
            let (program, here, g) = (&program, &here, &g);
            scope.spawn(move || {
                let _even = (worker % 2 == 0).then(|| label("threads: even"));
                let mut w = kilobytes(here);
                for _ in 0..ROUNDS {
                    let other = Buffer::scalar(here, 1f64).expect("room");
                    let [new, _] = program
                        .run((w, g))
                        .expect("it runs")
                        .into_array()
                        .expect("2");
                    w = new;
                    drop(other);
                }
                w
            })
        });
        let workers: Vec<_> = workers.collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|kept| kept.expect("no panic")).collect()
    });
    let found = first(&client);
    assert_eq!((found.live_bytes, found.live_buffers), (5 * 4096, 5));
    // Every thread had at most its state, a sum and a number beside `g`.
    let most = 4096 + 4 * (4096 + 4 + 8);
    assert!(
        (5 * 4096 + 12..=most).contains(&found.peak_bytes),
        "{found:?}"
    );
    assert_eq!(under(&client, "threads: even").0, 8192);
    drop((kept, g));
    let found = first(&client);
    assert_eq!((found.live_bytes, found.live_buffers), (0, 0));
    assert_eq!(under(&client, "threads: even").2, 0);
}

// Long runs.

#[test]
fn many_donated_steps_leave_nothing_behind() {
    let ended = in_child("many_donated_steps_leave_nothing_behind", || {
        let client = client(1);
        let here = device(&client, 0);
        let program = compiled_text(
            &client,
            "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32> {
               %half = stablehlo.constant dense<0.5> : tensor<f32>
               %new = stablehlo.add %x, %half : tensor<f32>
               return %new : tensor<f32>
             }",
        );
        let mut x = Some(Buffer::scalar(&here, 0f32).expect("room"));
        let mut steps = |count: usize| {
            for number in 0..count {
                let outputs = program.run(x.take().expect("the state")).expect("it runs");
                let new = outputs.into_single().expect("one");
                // No queue of runs, which would take memory of its own.
                if number % 16 == 0 {
                    new.wait().expect("a value");
                }
                x = Some(new);
            }
            check(&client, 4, 4, 1);
        };
        // What the plugin and the allocator keep for good.
        steps(50_000);
        let before = resident();
        steps(200_000);
        let grown = resident().saturating_sub(before);
        assert!(grown <= 1 << 20, "the process has {grown} bytes more");
        let x = x.expect("the state").to_scalar::<f32>().expect("a number");
        assert_eq!(x, 125_000.0);
        check(&client, 0, 4, 0);
    });
    ended.check_well();
}
