//! Host memory that a device shares: owned memory given to it, and a look at what it
//! holds. Borrowed memory is in `scopes.rs`.
//!
//! What the runtime does: memory that is aligned to 64 bytes becomes the buffer's own
//! storage; a donated buffer's output lives in it then; and only an event says when it is
//! no longer used.

mod cpu;

use std::time::Duration;

use cpu::{
    check_resident, client, compiled, compiled_text, device, in_child, resident, until_pending,
    values, SLOW, SLOW_LENGTH,
};
use xla::{
    bf16, f16, Buffer, Client, Code, Complex, Device, Element, Executable, HostVec, HostVecError,
    HostView, Plain, F4E2M1FN, F8E4M3FN, F8E5M2,
};

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

/// `x + 1` in place, for so many numbers.
fn bump(client: &Client, count: usize) -> Executable {
    compiled_text(
        client,
        &format!(
            "func.func @main(%x: tensor<{count}xf32> {{tf.aliasing_output = 0 : i32}}) -> tensor<{count}xf32> {{
               %one = stablehlo.constant dense<1.0> : tensor<{count}xf32>
               %y = stablehlo.add %x, %one : tensor<{count}xf32>
               return %y : tensor<{count}xf32>
             }}"
        ),
    )
}

fn single(executable: &Executable, argument: Buffer) -> Buffer {
    let outputs = executable.run(argument).expect("runs");
    outputs.into_single().expect("one")
}

/// A buffer that shares so many equal numbers, and where they are.
fn shared(device: &Device, value: f32, count: usize) -> (Buffer, usize) {
    let mut numbers = HostVec::zeroed(count);
    numbers.fill(value);
    let start = numbers.as_ptr() as usize;
    let buffer = Buffer::from_host_vec(device, numbers, &[count]).expect("room");
    (buffer, start)
}

/// Where a buffer's values are.
#[track_caller]
fn place(buffer: &Buffer) -> usize {
    buffer.view::<f32>().expect("a view").as_ptr() as usize
}

// The memory.

#[test]
fn a_host_vec_is_aligned_whatever_its_length_and_type() {
    fn check<T: Plain + PartialEq>() {
        for len in (0..130).chain([1000, 4096, 100_003]) {
            let zeros = HostVec::<T>::zeroed(len);
            assert_eq!(zeros.len(), len);
            assert!(zeros.iter().all(|zero| *zero == T::default()));
            assert!(len == 0 || zeros.as_ptr() as usize % 64 == 0, "{len}");
        }
    }
    check::<u8>();
    check::<i16>();
    check::<f32>();
    check::<u64>();
    check::<f16>();
    check::<bf16>();
    check::<Complex<f32>>();
    check::<Complex<f64>>();
    check::<F8E5M2>();
}

#[test]
fn zeros_take_no_memory_until_they_are_touched() {
    let ended = in_child("zeros_take_no_memory_until_they_are_touched", || {
        let before = resident();
        let mut zeros = HostVec::<f32>::zeroed(1 << 28);
        let bytes = xla::Shape::new(xla::ElementType::U8, &[1 << 30]).expect("a shape");
        let array = xla::HostArray::zeros(bytes);
        check_resident(before);
        assert_eq!((zeros[(1 << 28) - 1], array.as_bytes()[1 << 29]), (0., 0));
        zeros[1 << 27] = 1.;
        assert_eq!(zeros[1 << 27], 1.);
        check_resident(before);
        // Memory that held something before is cleared.
        for len in [1, 100, 5000, 100_000, 1 << 20] {
            for _ in 0..4 {
                let mut list = HostVec::<u8>::zeroed(len);
                assert!(list.iter().all(|byte| *byte == 0), "{len}");
                list.fill(0xff);
            }
        }
    });
    ended.check_well();
}

#[test]
fn given_memory_may_be_the_last_of_a_client_that_a_run_uses() {
    let ended = in_child(
        "given_memory_may_be_the_last_of_a_client_that_a_run_uses",
        || {
            for round in 0..40 {
                let (client, device) = one_device();
                let slow = compiled_text(&client, SLOW);
                let (buffer, _) = shared(&device, 1., SLOW_LENGTH);
                let n = Buffer::scalar(&device, 20_000i32).expect("a number");
                // Under way when the last handles go, or read and dropped at once.
                let output = slow.run((&buffer, n)).expect("runs");
                let other = std::thread::spawn(move || drop(buffer));
                if round % 2 == 0 {
                    let sum = output.into_single().expect("one");
                    drop(sum.to_host_async::<f32>().expect("starts"));
                } else {
                    drop(output);
                }
                drop((client, device, slow));
                other.join().expect("drops");
            }
        },
    );
    ended.check_well();
}

/// A page, and from how many bytes on the host copies an upload itself.
const TURNS: [usize; 2] = [4096, 96 << 20];

#[test]
fn a_copy_is_aligned_wherever_its_source_lies() {
    for size in TURNS {
        let bytes: Vec<u8> = (0..size + 5000).map(|n| (n % 251) as u8).collect();
        for from in [0, 1, 16, 48, 63, 64, 2048, 4095, 4096] {
            let source = &bytes[from..][..size + from % 3];
            let copy = HostVec::from_slice(source);
            assert_eq!(copy.as_ptr() as usize % 64, 0, "{size} from {from}");
            assert!(copy[..] == *source, "{size} from {from}");
            if size > 1 << 20 && from > 1 {
                break;
            }
        }
    }
}

#[test]
fn an_upload_of_any_size_is_a_copy() {
    let (client, device) = one_device();
    let held = || {
        let account = client.memory_account();
        let device = &account.devices()[0];
        (device.live_bytes as u64, device.live_buffers as u64)
    };
    for size in TURNS {
        // On both sides, and of odd length.
        for count in [size / 4 - 1, size / 4 + 3] {
            let bump = bump(&client, count);
            let mut numbers: Vec<f32> = (0..count).map(|n| (n % 1000) as f32).collect();
            let wanted = numbers.clone();
            let before = held();
            let buffer = Buffer::from_host(&device, &numbers, &[count]).expect("room");
            // The values are read during the call only.
            numbers.fill(-1.);
            drop(numbers);
            assert!(!buffer.is_zero_copy(), "{count}");
            assert_eq!(held(), (before.0 + 4 * count as u64, before.1 + 1));
            assert!(buffer.view::<f32>().expect("a view")[..] == wanted);
            let start = place(&buffer);
            let lent = bump.run(&buffer).expect("runs").into_single().expect("one");
            assert!(values(&buffer) == wanted, "what is lent stays");
            let bumped: Vec<f32> = wanted.iter().map(|value| value + 1.).collect();
            assert!(values(&lent) == bumped);
            drop(lent);
            let output = single(&bump, buffer);
            assert_eq!(place(&output), start, "{count} are not donated");
            assert!(values(&output) == bumped);
            assert_eq!(held(), (before.0 + 4 * count as u64, before.1 + 1));
            drop(output);
            assert_eq!(held(), before);
        }
    }
}

#[test]
fn a_host_vec_is_a_list_of_its_own() {
    fn free<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let mut first = HostVec::from_slice(&[1f32, 2., 3.]);
    let second = first.clone();
    first[0] = 7.;
    assert_eq!(first[..], [7., 2., 3.]);
    assert_eq!(second[..], [1., 2., 3.]);
    assert_ne!(first.as_ptr(), second.as_ptr());
    assert_eq!(HostVec::from(vec![1u8, 2])[..], [1, 2]);
    assert_eq!(HostVec::from(&[1u8, 2][..])[..], [1, 2]);
    assert_eq!(format!("{second:?}"), "[1.0, 2.0, 3.0]");
    let empty = HostVec::<f64>::zeroed(0);
    assert!(empty.is_empty() && empty.clone().is_empty());
    let sent = std::thread::spawn(move || free(second).iter().sum::<f32>());
    assert_eq!(sent.join().expect("no panic"), 6.);
}

#[test]
fn a_host_vec_larger_than_memory_can_be_is_a_panic_and_no_wrap_around() {
    for len in [usize::MAX, usize::MAX / 8 + 1, isize::MAX as usize / 8 + 1] {
        let made = std::panic::catch_unwind(|| HostVec::<u64>::zeroed(len).len());
        assert!(made.is_err(), "{len}");
    }
}

// Owned memory that a device shares.

#[test]
fn owned_memory_is_shared_and_not_copied() {
    let (client, device) = one_device();
    for count in [1, 2, 15, 16, 17, 1000, 1 << 20] {
        let (buffer, start) = shared(&device, 2.5, count);
        assert!(buffer.is_zero_copy(), "{count}");
        assert_eq!(buffer.dims(), [count]);
        assert_eq!(place(&buffer), start, "{count}");
        assert_eq!(values(&buffer), vec![2.5; count]);
    }
    // As a matrix, as a number, and at a memory instead of a device.
    let numbers = HostVec::from_slice(&[1f32, 2., 3., 4., 5., 6.]);
    let matrix = Buffer::from_host_vec(&device, numbers, &[2, 3]).expect("room");
    assert!(matrix.is_zero_copy());
    assert_eq!(matrix.shape().to_string(), "f32[2,3]");
    let number = Buffer::from_host_vec(&device, HostVec::from_slice(&[7i64]), &[]).expect("room");
    assert_eq!(number.to_scalar::<i64>().expect("a number"), 7);
    let memory = device.default_memory().expect("a memory");
    let there = Buffer::from_host_vec(&memory, HostVec::from_slice(&[1u8; 64]), &[64]);
    let there = there.expect("room");
    assert!(there.is_zero_copy());
    assert_eq!(there.device(), device);
    // What is copied says so.
    let copied = Buffer::from_host(&device, &[1f32; 64], &[64]).expect("room");
    assert!(!copied.is_zero_copy());
    let output = single(&bump(&client, 64), copied);
    assert!(!output.is_zero_copy());
}

#[test]
fn nothing_can_be_shared_too() {
    let (client, device) = one_device();
    for dims in [&[0][..], &[3, 0], &[0, 2, 5]] {
        let empty = HostVec::<f32>::zeroed(0);
        let buffer = Buffer::from_host_vec(&device, empty, dims).expect("no room is needed");
        assert_eq!(buffer.dims(), dims);
        assert_eq!(values(&buffer), [0f32; 0]);
        assert!(buffer.view::<f32>().expect("a view").is_empty());
    }
    let empty = Buffer::from_host_vec(&device, HostVec::<f32>::zeroed(0), &[0]).expect("room");
    let output = single(&bump(&client, 0), empty);
    assert_eq!(values(&output), [0f32; 0]);
}

#[test]
fn every_type_goes_in_and_comes_out() {
    fn check<T: Element + Plain + PartialEq + std::fmt::Debug>(device: &Device, some: &[T]) {
        let values: Vec<T> = some.iter().copied().cycle().take(130).collect();
        let buffer = Buffer::from_host_vec(device, HostVec::from_slice(&values), &[130]);
        let buffer = buffer.expect("room");
        assert_eq!(buffer.to_host::<T>().expect("values"), values);
        let copy = buffer.copy_on_device().expect("copies");
        drop(buffer);
        assert_eq!(copy.to_host::<T>().expect("values"), values);
    }
    let (_client, device) = one_device();
    check(&device, &[1u8, 255]);
    check(&device, &[-1i8, 127]);
    check(&device, &[1u16, 65535]);
    check(&device, &[-1i16]);
    check(&device, &[u32::MAX, 1]);
    check(&device, &[i32::MIN, -1]);
    check(&device, &[u64::MAX, 3]);
    check(&device, &[i64::MIN, 3]);
    check(&device, &[1.5f32, -0.25]);
    check(&device, &[1.5f64, -0.25]);
    check(&device, &[f16::from_f32(1.5), f16::from_f32(-2.)]);
    check(&device, &[bf16::from_f32(1.5), bf16::from_f32(-2.)]);
    check(&device, &[Complex::new(1f32, 2.)]);
    check(&device, &[Complex::new(1f64, -2.)]);
    check(
        &device,
        &[F8E4M3FN::from_bits(0x38), F8E4M3FN::from_bits(0xb8)],
    );
    check(&device, &[F8E5M2::from_bits(0x3c)]);
}

#[test]
fn values_narrower_than_a_byte_are_copied() {
    let (_client, device) = one_device();
    let values: Vec<F4E2M1FN> = (0..16).map(F4E2M1FN::from_bits).collect();
    let buffer = Buffer::from_host_vec(&device, HostVec::from_slice(&values), &[16]);
    let buffer = buffer.expect("room");
    let bits = |values: Vec<F4E2M1FN>| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let read = buffer.to_host::<F4E2M1FN>().expect("values");
    assert_eq!(bits(read), (0..16).collect::<Vec<u8>>());
    // A device may hold two in a byte, so there is nothing to look at.
    let error = buffer.view::<F4E2M1FN>().expect_err("no view");
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.message().contains("`to_host`"), "{error}");
}

#[test]
fn shared_memory_that_is_lent_stays_as_it_is() {
    let (client, device) = one_device();
    const N: usize = 1000;
    let bump = bump(&client, N);
    let (buffer, start) = shared(&device, 1., N);
    for _ in 0..100 {
        // The program would take the memory over.
        let output = bump.run(&buffer).expect("runs").into_single().expect("one");
        assert_eq!(values(&output), [2.; N]);
        assert_ne!(place(&output), start);
        assert_eq!(values(&buffer), [1.; N]);
    }
    assert_eq!(place(&buffer), start);
}

#[test]
fn the_output_of_given_shared_memory_lives_in_it() {
    let (client, device) = one_device();
    const N: usize = 1000;
    let bump = bump(&client, N);
    let (mut buffer, start) = shared(&device, 0., N);
    for round in 1..=1000 {
        let (next, report) = bump.run_reported(buffer).expect("runs");
        assert!(report.all_consumed(), "{report}");
        buffer = next.into_single().expect("one");
        if round % 100 == 0 {
            assert_eq!(values(&buffer), [round as f32; N]);
            assert_eq!(place(&buffer), start);
        }
    }
    // And on, when everything else is gone.
    drop((bump, device, client));
    assert_eq!(values(&buffer), [1000.; N]);
    assert_eq!(place(&buffer), start);
    let client = buffer.client();
    let more = compiled(&client, "counter");
    assert_eq!(more.signature().inputs().len(), 1);
    drop((client, more));
    let view = buffer.view::<f32>().expect("a view");
    assert_eq!(view[..], [1000.; N]);
}

#[test]
fn shared_memory_may_be_dropped_or_given_while_a_run_reads_it() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let bump = bump(&client, SLOW_LENGTH);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let wanted = [rounds as f32 + 1.; SLOW_LENGTH];
        // Dropped.
        let (x, _) = shared(&device, 1., SLOW_LENGTH);
        let sum = slow
            .run((&x, &n))
            .expect("runs")
            .into_single()
            .expect("one");
        drop(x);
        // Would take the memory if it were free.
        let others: Vec<_> = (0..20).map(|_| shared(&device, 7., SLOW_LENGTH)).collect();
        let mut pending = !sum.is_ready().expect("known");
        assert_eq!(values(&sum), wanted);
        drop(others);
        // Given to a run that writes to it.
        let (x, _) = shared(&device, 1., SLOW_LENGTH);
        let sum = slow
            .run((&x, &n))
            .expect("runs")
            .into_single()
            .expect("one");
        pending &= !sum.is_ready().expect("known");
        let bumped = single(&bump, x);
        assert_eq!(values(&sum), wanted);
        assert_eq!(values(&bumped), [2.; SLOW_LENGTH]);
        // Given to the slow run itself, which doesn't donate.
        let (x, _) = shared(&device, 1., SLOW_LENGTH);
        let sum = slow.run((x, n)).expect("runs").into_single().expect("one");
        let others: Vec<_> = (0..20).map(|_| shared(&device, 7., SLOW_LENGTH)).collect();
        pending &= !sum.is_ready().expect("known");
        assert_eq!(values(&sum), wanted);
        drop(others);
        pending
    });
}

#[test]
fn shared_memory_can_be_copied_to_another_device_and_dropped() {
    let client = client(2);
    let (here, there) = (device(&client, 0), device(&client, 1));
    for round in 0..100 {
        let (buffer, _) = shared(&here, round as f32, 50_000);
        let copy = buffer.copy_to_device(&there).expect("copies");
        drop(buffer);
        let (other, _) = shared(&here, -1., 50_000);
        assert_eq!(values(&copy), vec![round as f32; 50_000], "round {round}");
        assert_eq!(copy.device(), there);
        drop(other);
    }
}

#[test]
fn shared_memory_is_released_when_the_output_in_it_is_gone() {
    let ended = in_child(
        "shared_memory_is_released_when_the_output_in_it_is_gone",
        || {
            // 4 MiB each.
            const N: usize = 1 << 20;
            let (client, device) = one_device();
            let bump = bump(&client, N);
            let round = |round: usize| {
                let (buffer, start) = shared(&device, 1., N);
                match round % 4 {
                    0 => drop(buffer),
                    1 => drop(single(&bump, buffer)),
                    2 => {
                        let lent = bump.run(&buffer).expect("runs");
                        drop(buffer);
                        drop(lent);
                    }
                    _ => {
                        let output = single(&bump, buffer);
                        assert_eq!(place(&output), start);
                        let output = single(&bump, output);
                        assert_eq!(output.view::<f32>().expect("a view")[N - 1], 3.);
                    }
                }
            };
            (0..100).for_each(round);
            let before = resident();
            (0..2000).for_each(round);
            check_resident(before);
        },
    );
    ended.check_well();
}

#[test]
fn a_process_may_end_when_everything_is_dropped() {
    // What is released behind our back holds the client too: it must not be destroyed while
    // the process ends. One in two died of that on 0.106.
    const N: usize = 1 << 20;
    for _ in 0..8 {
        let ended = in_child("a_process_may_end_when_everything_is_dropped", || {
            let (client, device) = one_device();
            let bump = bump(&client, N);
            for round in 0..20 {
                // Not filled: the first to touch it is the run, which takes longer then.
                let zeros = HostVec::<f32>::zeroed(N);
                let buffer = Buffer::from_host_vec(&device, zeros, &[N]).expect("room");
                if round % 2 == 0 {
                    drop(bump.run(buffer).expect("runs"));
                } else {
                    let output = bump.run(&buffer).expect("runs");
                    drop(buffer);
                    drop(output);
                }
            }
        });
        ended.check_well();
    }
}

#[test]
fn what_cannot_be_shared_comes_back() {
    fn is_free<E: std::error::Error + Send + Sync + 'static>(error: E) -> E {
        error
    }
    let (_client, device) = one_device();
    let (other, _elsewhere) = one_device();
    drop(other);
    for dims in [
        &[4][..],
        &[2],
        &[],
        &[3, 0],
        &[usize::MAX],
        &[usize::MAX, 2],
    ] {
        let numbers = HostVec::from_slice(&[1f32, 2., 3.]);
        let start = numbers.as_ptr();
        let error = Buffer::from_host_vec(&device, numbers, dims);
        let error = is_free(error.expect_err("3 numbers don't fit"));
        assert_eq!(error.error().code(), Code::InvalidArgument, "{error}");
        assert_eq!(error.error().function(), None, "{error}");
        assert!(!error.to_string().is_empty() && !format!("{error:?}").is_empty());
        let numbers = error.into_values();
        assert_eq!(numbers[..], [1., 2., 3.]);
        assert_eq!(numbers.as_ptr(), start, "the same memory");
        let buffer = Buffer::from_host_vec(&device, numbers, &[3]).expect("they fit");
        assert_eq!(place(&buffer), start as usize);
    }
    fn plain(device: &Device) -> xla::Result<Buffer> {
        Ok(Buffer::from_host_vec(
            device,
            HostVec::<u8>::zeroed(2),
            &[3],
        )?)
    }
    fn any(device: &Device) -> anyhow::Result<Buffer> {
        Ok(Buffer::from_host_vec(
            device,
            HostVec::<u8>::zeroed(2),
            &[3],
        )?)
    }
    assert_eq!(
        plain(&device).expect_err("2 of 3").code(),
        Code::InvalidArgument
    );
    let error = any(&device).expect_err("2 of 3");
    let error: HostVecError<u8> = error.downcast().expect("it is still what it was");
    assert_eq!(error.into_values().len(), 2);
}

#[test]
fn a_forgotten_buffer_of_shared_memory_does_no_harm() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    for _ in 0..20 {
        let (buffer, _) = shared(&device, 1., 1000);
        std::mem::forget(bump.run(&buffer).expect("runs"));
        std::mem::forget(buffer);
        let (buffer, _) = shared(&device, 1., 1000);
        let output = single(&bump, buffer);
        assert_eq!(values(&output), [2.; 1000]);
        std::mem::forget(output);
    }
}

// Views.

#[test]
fn a_view_shows_the_values() {
    let (_client, device) = one_device();
    let numbers = [1f32, -2., 3.5, 0., 5., 6.];
    let buffer = Buffer::from_host(&device, &numbers, &[2, 3]).expect("room");
    let view = buffer.view::<f32>().expect("a view");
    assert_eq!(view[..], numbers);
    assert_eq!(view.len(), 6);
    assert!(std::ptr::eq(view.buffer(), &buffer));
    assert!(format!("{view:?}").contains("f32[2,3]"));
    let again = buffer.view::<f32>().expect("another view");
    assert_eq!(again.as_ptr(), view.as_ptr());
    let number = Buffer::scalar(&device, 7u16).expect("a number");
    assert_eq!(number.view::<u16>().expect("a view")[..], [7]);
    let complex = [Complex::new(1f64, 2.), Complex::new(3., 4.)];
    let buffer = Buffer::from_host(&device, &complex, &[2]).expect("room");
    assert_eq!(buffer.view::<Complex<f64>>().expect("a view")[..], complex);
}

#[test]
fn a_view_waits_for_the_values() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let x = cpu::vector(&device, &[1.; SLOW_LENGTH]);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        let sum = slow
            .run((&x, &n))
            .expect("runs")
            .into_single()
            .expect("one");
        let pending = !sum.is_ready().expect("known");
        let view = sum.view::<f32>().expect("a view");
        assert_eq!(view[..], [rounds as f32 + 1.; SLOW_LENGTH]);
        pending
    });
}

#[test]
fn a_view_of_another_type_is_refused() {
    let (client, device) = one_device();
    let buffer = Buffer::from_host(&device, &[1f32, 2.], &[2]).expect("room");
    assert!(buffer.view::<i32>().is_err() && buffer.view::<u32>().is_err());
    assert!(buffer.view::<f64>().is_err() && buffer.view::<u8>().is_err());
    let error = buffer.view::<bf16>().expect_err("another type");
    assert_eq!(error.code(), Code::InvalidArgument);
    for word in ["f32", "bf16"] {
        assert!(error.message().contains(word), "no `{word}` in: {error}");
    }
    // A truth value is no number.
    let truths = Buffer::from_host(&device, &[true, false], &[2]).expect("room");
    assert!(truths.view::<u8>().is_err());
    drop(client);
}

#[test]
fn a_view_of_columns_is_refused() {
    let (client, device) = one_device();
    let transposed = compiled(&client, "column_major");
    let lesson = cpu::lesson("column_major");
    let arguments = lesson.arguments.iter();
    let arguments: Vec<Buffer> = arguments.map(|each| each.buffer(0, &device)).collect();
    let outputs = transposed.run(&arguments).expect("runs");
    let columns = outputs
        .iter()
        .find(|output| !output.layout().is_row_major());
    let columns = columns.expect("an output that lies column by column");
    let error = columns.view::<f32>().expect_err("no slice");
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("`to_host`"), "{error}");
    assert_eq!(
        columns.to_host::<f32>().expect("values"),
        lesson.results[0].f32(0)
    );
}

#[test]
fn what_is_viewed_can_be_lent() {
    let (client, device) = one_device();
    const N: usize = 1000;
    let bump = bump(&client, N);
    let buffer = cpu::vector(&device, &[1.; N]);
    let view: HostView<'_, f32> = buffer.view().expect("a view");
    for _ in 0..100 {
        // The program would write to it.
        let output = bump
            .run(view.buffer())
            .expect("runs")
            .into_single()
            .expect("one");
        assert_eq!(view[..], [1.; N]);
        let there = output.view::<f32>().expect("a view");
        assert_eq!(there[..], [2.; N]);
        assert_ne!(there.as_ptr(), view.as_ptr());
    }
    // From other threads as well.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (view, bump) = (&view, &bump);
            scope.spawn(move || {
                for _ in 0..50 {
                    let output = bump.run(view.buffer()).expect("runs");
                    assert_eq!(view[..], [1.; N]);
                    assert_eq!(values(&output[0]), [2.; N]);
                }
            });
        }
    });
    // When nobody looks any more it can be given.
    let start = view.as_ptr() as usize;
    let output = single(&bump, buffer);
    assert_eq!(place(&output), start);
}

#[test]
fn a_view_outlives_every_other_handle() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    let buffer = single(&bump, cpu::vector(&device, &[1.; 1000]));
    let view = buffer.view::<f32>().expect("a view");
    drop((bump, device, client));
    assert_eq!(view[..], [2.; 1000]);
}

// Snapshots.

/// What becomes of a snapshot.
const FATES: usize = 8;

#[test]
fn a_snapshot_before_a_step_has_the_old_values_whatever_becomes_of_it() {
    let (client, device) = one_device();
    const N: usize = 50_000;
    let bump = bump(&client, N);
    let (mut state, _) = shared(&device, 0., N);
    let mut waiting = Vec::new();
    for round in 0..1000 {
        let snapshot = state.to_host_async::<f32>().expect("starts");
        let old = round as f32;
        let check = |values: Vec<f32>| {
            assert!(values.iter().all(|value| *value == old), "round {round}");
        };
        match round % FATES {
            // Dropped before the step, after it, and when it is done.
            0 => {
                drop(snapshot);
                state = single(&bump, state);
            }
            1 => {
                state = single(&bump, state);
                drop(snapshot);
            }
            2 => {
                state = single(&bump, state);
                state.wait().expect("runs");
                drop(snapshot);
            }
            3 => {
                state = single(&bump, state);
                // Whether it is there by now or not.
                let _ = snapshot.wait_timeout(Duration::from_micros(1));
                drop(snapshot);
            }
            // Taken before the step, at once, and later.
            4 => {
                check(snapshot.wait().expect("values"));
                state = single(&bump, state);
            }
            5 => {
                state = single(&bump, state);
                check(snapshot.wait().expect("values"));
            }
            6 => {
                state = single(&bump, state);
                waiting.push((old, snapshot));
            }
            // In another thread, while the training goes on.
            _ => {
                state = single(&bump, state);
                std::thread::scope(|scope| {
                    scope.spawn(|| check(snapshot.wait().expect("values")));
                });
            }
        }
    }
    assert_eq!(values(&state), [1000.; N]);
    for (old, snapshot) in waiting {
        let values = snapshot.wait().expect("values");
        assert!(values.iter().all(|value| *value == old));
    }
}

#[test]
fn snapshots_outlive_the_training() {
    let (client, device) = one_device();
    const N: usize = 50_000;
    let bump = bump(&client, N);
    for round in 0..50 {
        let (state, _) = shared(&device, round as f32, N);
        let snapshot = state.to_host_async::<f32>().expect("starts");
        let next = single(&bump, state);
        drop(next);
        assert_eq!(snapshot.wait().expect("values"), [round as f32; N]);
    }
    let (state, _) = shared(&device, 5., N);
    let snapshot = state.to_host_async::<f32>().expect("starts");
    let step = single(&bump, state);
    drop((step, bump, device, client));
    assert_eq!(snapshot.wait().expect("values"), [5.; N]);
}

#[test]
fn dropped_snapshots_are_released() {
    let ended = in_child("dropped_snapshots_are_released", || {
        const N: usize = 1 << 20;
        let (client, device) = one_device();
        let bump = bump(&client, N);
        let mut state = cpu::vector(&device, &vec![0.; N]);
        let mut round = |_| {
            let snapshot = state.to_host_async::<f32>().expect("starts");
            let old = std::mem::replace(&mut state, Buffer::scalar(&device, 0f32).expect("room"));
            state = single(&bump, old);
            drop(snapshot);
        };
        (0..50).for_each(&mut round);
        let before = resident();
        (0..500).for_each(&mut round);
        check_resident(before);
        assert_eq!(state.view::<f32>().expect("a view")[7], 550.);
    });
    ended.check_well();
}
