//! Transfers on a real CPU plugin: in chunks, of ranges, as events.
//!
//! What the runtime does: a buffer counts as complete when its last chunk is named, whatever is
//! missing; a chunk or an error behind the last ends the process; host memory is read after the
//! call has returned.

mod cpu;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use cpu::{
    client, compiled, compiled_text, device, failing, in_child, until_pending, values, vector,
    SLOW, SLOW_LENGTH,
};
use xla::{
    bf16, wait_any, wait_any_timeout, Buffer, ChunkedUpload, Client, Code, Complex, Device,
    Element, ElementType, HostArray, HostTree, HostVec, PinnedVec, Plain, Shape, Tree, F4E2M1FN,
    F8E4M3FN,
};

/// Much longer than anything here takes.
const LONG: Duration = Duration::from_secs(100);

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

fn floats(dims: &[usize]) -> Shape {
    Shape::of::<f32>(dims).expect("small")
}

/// Numbers from `first` on, exact as f32.
fn numbers(first: usize, count: usize) -> Vec<f32> {
    (first..first + count).map(|n| n as f32).collect()
}

/// An upload of one vector.
fn chunked(device: &Device, count: usize) -> (ChunkedUpload, Buffer) {
    let (upload, mut buffers) = ChunkedUpload::new(device, &[floats(&[count])]).expect("chunks");
    (upload, buffers.remove(0))
}

/// `x + x`.
fn double(client: &Client, count: usize) -> xla::Executable {
    let text = format!(
        "func.func @main(%x: tensor<{count}xf32>) -> tensor<{count}xf32> {{
           %y = stablehlo.add %x, %x : tensor<{count}xf32>
           return %y : tensor<{count}xf32>
         }}"
    );
    compiled_text(client, &text)
}

// Chunks.

#[test]
fn chunks_in_any_order_make_the_values() {
    let (_client, device) = one_device();
    let count = 100_000;
    // The chunks' order, in tenths.
    for order in [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
        [5, 0, 9, 3, 2, 8, 1, 7, 6, 4],
    ] {
        let (mut upload, buffer) = chunked(&device, count);
        let tenth = count / 10;
        for (sent, part) in order.into_iter().enumerate() {
            assert!(!buffer.is_ready().expect("known"), "{order:?}, {sent}");
            let chunk = numbers(part * tenth, tenth);
            upload.send(0, part * tenth, chunk).expect("fits");
            let progress = upload.progress(0);
            assert_eq!(progress.sent, (sent + 1) * tenth * 4);
            assert_eq!(progress.total, count * 4);
        }
        upload.finish().expect("complete");
        assert_eq!(values(&buffer), numbers(0, count));
    }
}

#[test]
fn every_type_can_be_sent() {
    fn check<T: Element + Plain + PartialEq + std::fmt::Debug>(device: &Device, some: [T; 4]) {
        let shape = Shape::of::<T>(&[2, 2]).expect("small");
        let (mut upload, buffers) =
            ChunkedUpload::new(device, std::slice::from_ref(&shape)).expect("chunks");
        upload.send(0, 3, vec![some[3]]).expect("fits");
        upload.send(0, 0, some[..3].to_vec()).expect("fits");
        upload.finish().expect("complete");
        assert_eq!(buffers[0].shape(), &shape);
        assert_eq!(buffers[0].to_host::<T>().expect("values"), some);
    }
    let (_client, device) = one_device();
    check(&device, [1u8, 2, 3, 255]);
    check(&device, [-1i16, 2, 3, 4]);
    check(&device, [i64::MIN, 2, 3, 4]);
    check(&device, [0.5f64, 2., 3., 4.]);
    check(&device, [1., 2., 3., 4.].map(bf16::from_f32));
    check(&device, [Complex::new(1f32, 2.); 4]);
    check(&device, [0x38, 0x40, 0x41, 0x42].map(F8E4M3FN::from_bits));
    let truths = Shape::of::<bool>(&[3]).expect("small");
    let (mut upload, buffers) = ChunkedUpload::new(&device, &[truths]).expect("chunks");
    let error = upload
        .append_bytes(0, vec![1u8, 2])
        .expect_err("2 is no truth");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    upload.append_bytes(0, vec![1u8, 0, 1]).expect("fits");
    assert_eq!(
        buffers[0].to_host::<bool>().expect("values"),
        [true, false, true]
    );
}

#[test]
fn what_lies_otherwise_on_the_device_is_not_sent_in_chunks() {
    let (_client, device) = one_device();
    for (element_type, code) in [
        (ElementType::S4, Code::Unimplemented),
        (ElementType::U4, Code::Unimplemented),
        (ElementType::Token, Code::InvalidArgument),
    ] {
        let shape = Shape::new(element_type, &[]).expect("small");
        let error = ChunkedUpload::new(&device, &[floats(&[2]), shape]).expect_err("no chunks");
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains("`[1]`"), "{error}");
    }
}

#[test]
fn whole_trees_are_filled() {
    #[derive(Tree)]
    struct Layer {
        weights: Buffer,
        bias: Buffer,
    }
    let (_client, device) = one_device();
    let structure = Layer::constant_structure().expect("two buffers");
    let shapes = [floats(&[2, 3]), floats(&[])];
    let memory = device.default_memory().expect("a memory");
    let (mut upload, layer) =
        ChunkedUpload::of_tree::<Layer>(&memory, &structure, &shapes).expect("chunks");
    upload.send(1, 0, vec![7f32]).expect("fits");
    assert_eq!(layer.bias.to_scalar::<f32>().expect("a number"), 7.);
    upload.send(0, 0, numbers(0, 4)).expect("fits");
    assert_eq!(upload.missing(0), [std::ops::Range { start: 16, end: 24 }]);
    let total = upload.total_progress();
    assert_eq!((total.sent, total.total), (20, 28));
    upload.send(0, 4, numbers(4, 2)).expect("fits");
    assert!(upload.total_progress().is_complete());
    upload.finish().expect("complete");
    assert_eq!(layer.weights.dims(), [2, 3]);
    assert_eq!(values(&layer.weights), numbers(0, 6));
    assert_eq!(layer.weights.device(), device);
    // A missing leaf is told by its path.
    let (mut upload, layer) =
        ChunkedUpload::of_tree::<Layer>(&device, &structure, &shapes).expect("chunks");
    upload.send(1, 0, vec![7f32]).expect("fits");
    let error = upload.finish().expect_err("no weights");
    assert!(
        error
            .message()
            .contains("`weights`: bytes 0..24 of f32[2,3]"),
        "{error}"
    );
    let error = layer.weights.wait().expect_err("no weights");
    assert!(
        error
            .message()
            .contains("`weights`: the upload was given up"),
        "{error}"
    );
}

#[test]
fn runs_and_copies_wait_for_chunks() {
    let client = client(2);
    let (here, there) = (device(&client, 0), device(&client, 1));
    let double = double(&client, 1000);
    let (mut upload, buffer) = chunked(&here, 1000);
    upload.send(0, 0, numbers(0, 500)).expect("fits");
    let output = double
        .run(&buffer)
        .expect("starts")
        .into_single()
        .expect("one");
    let copy = buffer.copy_to_device(&there).expect("starts");
    let whole = buffer.to_host_async::<f32>().expect("starts");
    let range = buffer.to_host_range_async::<f32>(10..20).expect("starts");
    assert!(!output.is_ready().expect("known") && !copy.is_ready().expect("known"));
    assert!(!whole.is_ready().expect("known") && !range.is_ready().expect("known"));
    // The buffer's handle isn't needed any more.
    drop(buffer);
    upload.send(0, 500, numbers(500, 500)).expect("fits");
    let doubled: Vec<f32> = numbers(0, 1000).iter().map(|x| x + x).collect();
    assert_eq!(values(&output), doubled);
    assert_eq!(values(&copy), numbers(0, 1000));
    assert_eq!(whole.wait().expect("values"), numbers(0, 1000));
    assert_eq!(range.wait().expect("values"), numbers(10, 10));
}

#[test]
fn who_waits_for_an_upload_that_is_given_up_gets_an_error() {
    let ended = in_child(
        "who_waits_for_an_upload_that_is_given_up_gets_an_error",
        || {
            let client = client(2);
            let (here, there) = (device(&client, 0), device(&client, 1));
            let double = double(&client, 1000);
            let counter = compiled(&client, "counter");
            for sent in [0, 999] {
                let (mut upload, buffer) = chunked(&here, 1000);
                let (other, number) = ChunkedUpload::new(&here, &[floats(&[])]).expect("chunks");
                if sent > 0 {
                    upload.send(0, 0, numbers(0, sent)).expect("fits");
                }
                let output = double
                    .run(&buffer)
                    .expect("starts")
                    .into_single()
                    .expect("one");
                let copy = buffer.copy_to_device(&there).expect("starts");
                let whole = buffer.to_host_async::<f32>().expect("starts");
                let range = buffer.to_host_range_async::<f32>(0..1).expect("starts");
                let waiting = buffer.ready().expect("an event");
                drop((upload, other));
                let error = waiting.wait().expect_err("given up");
                assert_eq!(error.code(), Code::Cancelled, "{error}");
                let wanted = format!("when {} of 4000 bytes were sent", sent * 4);
                assert!(error.message().contains(&wanted), "{error}");
                assert!(output.wait().is_err() && copy.wait().is_err());
                assert!(whole.wait().is_err() && range.wait().is_err());
                assert!(buffer.to_host_range::<f32>(0..1).is_err() && buffer.to_bytes().is_err());
                assert!(buffer.view::<f32>().is_err());
                // And later: lent, copied, lent where the program donates, given there.
                let late = double
                    .run(&buffer)
                    .expect("starts")
                    .into_single()
                    .expect("one");
                assert!(late.wait().is_err());
                assert!(buffer
                    .copy_to_device(&there)
                    .and_then(|copy| copy.wait())
                    .is_err());
                assert!(buffer.copy_on_device().is_err());
                assert!(counter.run(&number[0]).is_err());
                let failed = |outputs: xla::Outputs| outputs.into_single().expect("one").wait();
                let given = number.into_iter().next().expect("a number");
                let outcome = counter
                    .run(given)
                    .map_err(xla::Error::from)
                    .and_then(failed);
                assert!(outcome.is_err());
            }
        },
    );
    ended.check_well();
}

#[test]
fn a_leaked_upload_harms_nobody() {
    let ended = in_child("a_leaked_upload_harms_nobody", || {
        let (client, device) = one_device();
        let (mut upload, buffer) = chunked(&device, 1000);
        upload.send(0, 0, numbers(0, 10)).expect("fits");
        std::mem::forget(upload);
        let ready = buffer.ready().expect("an event");
        assert!(!ready
            .wait_timeout(Duration::from_millis(50))
            .expect("known"));
        drop((ready, buffer, device, client));
    });
    ended.check_well();
}

#[test]
fn wrong_chunks_never_reach_the_plugin() {
    // Each of them ends the process, or hangs the end of the upload, or is taken as it is.
    let ended = in_child("wrong_chunks_never_reach_the_plugin", || {
        let (_client, device) = one_device();
        let (mut upload, buffer) = chunked(&device, 8);
        upload.send(0, 0, numbers(0, 6)).expect("fits");
        for (first, count, code) in [
            (6, 3, Code::OutOfRange),
            (8, 1, Code::OutOfRange),
            (usize::MAX, 1, Code::OutOfRange),
            (usize::MAX / 4 + 1, 1, Code::OutOfRange),
            (5, 2, Code::AlreadyExists),
            (0, 8, Code::AlreadyExists),
            (6, 0, Code::InvalidArgument),
        ] {
            let error = upload.send(0, first, numbers(0, count)).expect_err("wrong");
            assert_eq!((error.code(), error.function()), (code, None), "{error}");
        }
        assert!(upload.send(0, 6, vec![1i32, 2]).is_err());
        assert!(upload.copy_bytes(0, 32, &[0]).is_err());
        assert!(!buffer.is_ready().expect("known"));
        upload.send(0, 6, numbers(6, 2)).expect("fits");
        assert!(upload.send(0, 6, numbers(6, 2)).is_err(), "behind the last");
        assert_eq!(values(&buffer), numbers(0, 8));
        drop(upload);
        assert_eq!(values(&buffer), numbers(0, 8));
    });
    ended.check_well();
}

#[test]
fn one_piece_of_memory_can_be_filled_again_and_again() {
    let (_client, device) = one_device();
    let (mut upload, buffer) = chunked(&device, 1000);
    let bytes: Vec<u8> = numbers(0, 1000)
        .into_iter()
        .flat_map(f32::to_ne_bytes)
        .collect();
    // 4000 bytes in pieces of 7, which end inside elements.
    let mut piece = [0u8; 7];
    for (index, part) in bytes.chunks(7).enumerate() {
        piece[..part.len()].copy_from_slice(part);
        upload
            .copy_bytes(0, index * 7, &piece[..part.len()])
            .expect("fits");
        piece.fill(0xff);
    }
    assert!(upload.progress(0).is_complete());
    upload.finish().expect("complete");
    assert_eq!(values(&buffer), numbers(0, 1000));
}

#[test]
fn an_upload_may_be_sent_by_another_thread() {
    let (client, device) = one_device();
    let double = double(&client, 1000);
    let (mut upload, buffer) = chunked(&device, 1000);
    let sender = thread::spawn(move || {
        for start in (0..1000).step_by(10) {
            upload.send(0, start, numbers(start, 10)).expect("fits");
            thread::yield_now();
        }
        upload.finish().expect("complete");
    });
    let output = double
        .run(buffer)
        .expect("starts")
        .into_single()
        .expect("one");
    let doubled: Vec<f32> = numbers(0, 1000).iter().map(|x| x + x).collect();
    assert_eq!(values(&output), doubled);
    sender.join().expect("no panic");
}

#[test]
fn buffers_of_nothing_need_no_chunks() {
    let (_client, device) = one_device();
    let shapes = [floats(&[0]), floats(&[3, 0])];
    let (upload, buffers) = ChunkedUpload::new(&device, &shapes).expect("chunks");
    upload.finish().expect("complete");
    for buffer in &buffers {
        assert_eq!(values(buffer), [0f32; 0]);
    }
}

// Ranges.

#[test]
fn a_range_is_what_a_slice_of_all_values_is() {
    let (_client, device) = one_device();
    let all = numbers(0, 24);
    let buffer = Buffer::from_host(&device, &all, &[2, 3, 4]).expect("room");
    for start in 0..=24 {
        for end in start..=24 {
            let range = buffer.to_host_range::<f32>(start..end).expect("values");
            assert_eq!(range, all[start..end]);
            let mut into = vec![-1f32; end - start];
            buffer.read_range_into(&mut into, start).expect("values");
            assert_eq!(into, all[start..end]);
        }
    }
    let halves = [1.5f64, -2.5, 3.5];
    let buffer = Buffer::from_host(&device, &halves, &[3]).expect("room");
    assert_eq!(
        buffer.to_host_range::<f64>(1..3).expect("values"),
        [-2.5, 3.5]
    );
    let truths = [true, false, true, true];
    let buffer = Buffer::from_host(&device, &truths, &[4]).expect("room");
    assert_eq!(
        buffer.to_host_range::<bool>(1..3).expect("values"),
        [false, true]
    );
    let mut two = [false; 2];
    buffer.read_range_into(&mut two, 2).expect("values");
    assert_eq!(two, [true, true]);
}

#[test]
fn ranges_that_there_are_not_are_refused() {
    let (_client, device) = one_device();
    let buffer = vector(&device, &[1., 2., 3.]);
    for range in [2..4, 4..4, 0..usize::MAX, usize::MAX..usize::MAX] {
        let error = buffer
            .to_host_range::<f32>(range.clone())
            .expect_err("not there");
        assert_eq!(error.code(), Code::OutOfRange, "{range:?}: {error}");
        assert_eq!(error.function(), None, "{range:?}: {error}");
    }
    #[allow(clippy::reversed_empty_ranges)]
    let error = buffer
        .to_host_range::<f32>(2..1)
        .expect_err("it ends before it begins");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    let mut two = [7f32; 2];
    assert!(buffer.read_range_into(&mut two, 2).is_err());
    assert!(buffer.read_range_into(&mut two, usize::MAX).is_err());
    assert!(buffer.read_range_into(&mut [0i32; 1], 0).is_err());
    assert!(buffer.to_host_range::<i32>(0..1).is_err());
    assert_eq!(two, [7.; 2]);
}

#[test]
fn ranges_of_other_layouts_and_narrow_types_are_right_too() {
    let (client, device) = one_device();
    // [[0, 1, 2], [3, 4, 5]] with its columns one after another, uploaded and computed.
    let columns = xla::Layout::new(&[0, 1]).expect("an order");
    let matrix = Buffer::from_host_in_layout(&device, &numbers(0, 6), &[2, 3], &columns);
    let matrix = matrix.expect("room");
    assert!(!matrix.layout().is_row_major());
    let transposed = compiled_text(
        &client,
        "module attributes {} {
           func.func @main(%x: tensor<3x2xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {
             %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
             return %y : tensor<2x3xf32>
           }
         }",
    );
    let x = Buffer::from_host(&device, &[0f32, 3., 1., 4., 2., 5.], &[3, 2]).expect("room");
    let computed = transposed
        .run(&x)
        .expect("runs")
        .into_single()
        .expect("one");
    for buffer in [&matrix, &computed] {
        assert_eq!(
            buffer.to_host_range::<f32>(2..5).expect("values"),
            numbers(2, 3)
        );
        let mut row = [0f32; 3];
        buffer.read_range_into(&mut row, 3).expect("values");
        assert_eq!(row[..], numbers(3, 3));
    }
    let narrow: Vec<F4E2M1FN> = (0..16).map(F4E2M1FN::from_bits).collect();
    match Buffer::from_host(&device, &narrow, &[16]) {
        Ok(buffer) => {
            let range = buffer.to_host_range::<F4E2M1FN>(3..6).expect("values");
            let bits: Vec<u8> = range.into_iter().map(F4E2M1FN::to_bits).collect();
            assert_eq!(bits, [3, 4, 5]);
        }
        Err(error) => assert_eq!(error.code(), Code::Unimplemented, "{error}"),
    }
}

#[test]
fn a_range_has_the_values_of_when_it_was_asked_for() {
    let (client, device) = one_device();
    let bump = compiled_text(
        &client,
        "func.func @main(%x: tensor<1000000xf32> {tf.aliasing_output = 0 : i32}) -> tensor<1000000xf32> {
           %one = stablehlo.constant dense<1.0> : tensor<1000000xf32>
           %y = stablehlo.add %x, %one : tensor<1000000xf32>
           return %y : tensor<1000000xf32>
         }",
    );
    for round in 0..50 {
        let buffer = Buffer::from_host(&device, &numbers(0, 1_000_000), &[1_000_000]);
        let buffer = buffer.expect("room");
        let read = buffer
            .to_host_range_async::<f32>(1..999_999)
            .expect("starts");
        if round % 2 == 0 {
            // Its memory is written to at once.
            drop(bump.run(buffer).expect("runs"));
        } else {
            drop(buffer);
        }
        assert_eq!(
            read.wait().expect("values"),
            numbers(1, 999_998),
            "round {round}"
        );
        // One that nobody waits for.
        let buffer = vector(&device, &[1.; 1000]);
        drop(buffer.to_host_range_async::<f32>(0..1000).expect("starts"));
    }
}

#[test]
fn a_range_waits_for_the_run_and_has_its_error() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let x = vector(&device, &[1.; SLOW_LENGTH]);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let sum = slow.run((&x, n)).expect("runs").into_single().expect("one");
        let read = sum.to_host_range_async::<f32>(7..9).expect("starts");
        let pending = !read.is_ready().expect("known");
        let mut one = [0f32; 1];
        sum.read_range_into(&mut one, 4000).expect("values");
        assert_eq!(one, [rounds as f32 + 1.]);
        assert_eq!(read.wait().expect("values"), [rounds as f32 + 1.; 2]);
        pending
    });
    let failed = failing(&client, &device);
    assert!(failed.to_host_range::<f32>(0..1).is_err());
    assert!(failed.read_range_into(&mut [0f32; 1], 0).is_err());
}

// Uploads as events.

#[test]
fn owned_values_are_uploaded_whoever_owns_them() {
    fn check(device: &Device, values: impl Into<xla::HostValues<f32>>) {
        let (buffer, done) = Buffer::from_host_async(device, values, &[2, 2]).expect("room");
        assert_eq!(self::values(&buffer), [1., 2., 3., 4.]);
        assert_eq!(buffer.shape().to_string(), "f32[2,2]");
        assert!(!buffer.is_zero_copy());
        done.wait().expect("read");
        assert!(done.is_ready().expect("known"));
    }
    static FIXED: [f32; 4] = [1., 2., 3., 4.];
    let (_client, device) = one_device();
    check(&device, FIXED.to_vec());
    check(&device, FIXED.to_vec().into_boxed_slice());
    check(&device, HostVec::from_slice(&FIXED));
    check(&device, Arc::<[f32]>::from(FIXED));
    check(&device, &FIXED[..]);
    let array = HostArray::new(&FIXED, &[2, 2]).expect("fits");
    let (buffer, done) = array.to_device_async(&device).expect("room");
    assert_eq!(values(&buffer), FIXED);
    done.wait().expect("read");
    let error = Buffer::from_host_async(&device, vec![1f32], &[2]).expect_err("too few");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
}

#[test]
fn values_are_kept_until_the_device_has_read_them() {
    const COUNT: usize = 1 << 22;
    let (client, device) = one_device();
    let double = double(&client, COUNT);
    for round in 0..10 {
        let first = round as f32;
        let (buffer, done) =
            Buffer::from_host_async(&device, vec![first; COUNT], &[COUNT]).expect("room");
        // Would be taken by the next allocation of this size if it were free.
        let others = vec![-1f32; COUNT];
        if round % 2 == 0 {
            drop(done);
        }
        let output = double
            .run(&buffer)
            .expect("runs")
            .into_single()
            .expect("one");
        drop(buffer);
        assert_eq!(values(&output), vec![first + first; COUNT], "round {round}");
        assert_eq!(others[7], -1.);
    }
}

#[test]
fn values_are_released_when_the_device_has_read_them() {
    let (_client, device) = one_device();
    let values: Arc<[f32]> = numbers(0, 1 << 20).into();
    let kept = Arc::downgrade(&values);
    let (buffer, done) = Buffer::from_host_async(&device, values, &[1 << 20]).expect("room");
    done.wait().expect("read");
    // By another thread perhaps, soon.
    let deadline = std::time::Instant::now() + LONG;
    while kept.strong_count() > 0 {
        assert!(std::time::Instant::now() < deadline, "kept for ever");
        thread::yield_now();
    }
    assert_eq!(self::values(&buffer), numbers(0, 1 << 20));
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn an_upload_can_be_awaited_and_waited_for_with_a_timeout() {
    let (_client, device) = one_device();
    let upload = |first: usize| {
        Buffer::from_host_async(&device, numbers(first, 1 << 20), &[1 << 20]).expect("room")
    };
    let (buffer, done) = upload(1);
    assert!(done.wait_timeout(LONG).expect("read"));
    assert_eq!(buffer.to_host_range::<f32>(0..2).expect("values"), [1., 2.]);
    let (buffer, done) = upload(2);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut done = pin!(done);
    while done.as_mut().poll(&mut context).is_pending() {
        thread::park_timeout(Duration::from_secs(1));
    }
    assert_eq!(buffer.to_host_range::<f32>(0..2).expect("values"), [2., 3.]);
}

#[test]
fn the_first_of_several_events_is_found() {
    let (_client, device) = one_device();
    let (mut slow_upload, slow) = chunked(&device, 4);
    let (mut fast_upload, fast) = chunked(&device, 4);
    let (slow, fast) = (
        slow.ready().expect("an event"),
        fast.ready().expect("an event"),
    );
    let patience = Duration::from_millis(20);
    assert_eq!(
        wait_any_timeout(&[&slow, &fast], patience).expect("known"),
        None
    );
    let sender = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        fast_upload.send(0, 0, numbers(0, 4)).expect("fits");
    });
    assert_eq!(wait_any(&[&slow, &fast]).expect("known"), 1);
    sender.join().expect("no panic");
    assert!(!slow.is_ready().expect("known"));
    slow_upload.send(0, 0, numbers(0, 4)).expect("fits");
    assert_eq!(wait_any(&[&slow, &fast]).expect("known"), 0);
    assert_eq!(
        wait_any(&[]).expect_err("nothing").code(),
        Code::InvalidArgument
    );
    // A failure fires too.
    let (given_up, never) = chunked(&device, 4);
    let never = never.ready().expect("an event");
    drop(given_up);
    assert_eq!(wait_any(&[&never]).expect("known"), 0);
    assert!(never.wait().is_err());
}

// Mapped memory.

#[test]
fn a_cpu_maps_no_memory() {
    let (client, device) = one_device();
    let values = HostVec::from_slice(&[1f32, 2.]);
    let error = PinnedVec::new(&client, values).expect_err("it's a CPU");
    assert_eq!(error.error().code(), Code::Unimplemented, "{error}");
    assert_eq!(
        error.error().function(),
        Some("PJRT_Client_DmaMap"),
        "{error}"
    );
    let values = error.into_values();
    let buffer = Buffer::from_host_vec(&device, values, &[2]).expect("as it was");
    assert_eq!(self::values(&buffer), [1., 2.]);
    let nothing = PinnedVec::<f32>::zeroed(&client, 0).expect("nothing to map");
    assert!(nothing.is_empty());
}

// Trees of many leaves.

#[test]
fn a_tree_of_many_leaves_arrives_whole() {
    let (_client, device) = one_device();
    let leaves: Vec<Vec<f32>> = (0..300).map(|leaf| numbers(leaf, 1 + leaf % 7)).collect();
    let structure = xla::tree::Structure::node(
        "Vec",
        (0..300)
            .map(|index| (xla::tree::Key::Index(index), xla::tree::Structure::leaf()))
            .collect(),
    );
    let arrays = leaves
        .iter()
        .map(|leaf| HostArray::borrowed(leaf, &[leaf.len()]).expect("fits"));
    let tree = HostTree::<Vec<Buffer>>::with_structure(structure, arrays).expect("fits");
    let buffers = tree.to_device(&device).expect("room");
    for (buffer, leaf) in buffers.iter().zip(&leaves) {
        assert_eq!(buffer.dims(), [leaf.len()]);
        assert_eq!(&values(buffer), leaf);
    }
}
