//! The account of what a client's buffers hold.

#[path = "../cpu/mod.rs"]
mod cpu;
mod labels;
mod together;

use cpu::{api_minor, client, compiled_text, device, failing, refused, vector};
use xla::{Buffer, ChunkedUpload, Client, Device, DeviceAccount, ElementType, HostVec, Shape};

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
