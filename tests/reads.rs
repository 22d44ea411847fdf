//! Reading buffers of a CPU device, whose memory the host copies itself where the values lie
//! as a slice does: every way of reading gives the same values, those of when it was asked, and
//! the failure of a run that was to compute them.

mod cpu;

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use cpu::{client, compiled_text, device, failing, until_pending, vector, SLOW, SLOW_LENGTH};
use xla::{
    bf16, f16, Buffer, Client, Complex, Device, Element, ElementType, Error, HostVec, Layout,
    Shape, F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ,
    F8E8M0FNU,
};

/// Nothing, one, odd numbers, and on both sides of 64 KiB for elements of 1, 2, 4, 8 and 16 bytes.
const COUNTS: [usize; 12] = [
    0, 1, 3, 7, 1001, 4096, 4097, 8193, 16384, 16385, 65536, 65537,
];

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

/// Who polls again by itself.
struct Asleep;

impl Wake for Asleep {
    fn wake(self: Arc<Self>) {}
}

/// Reads all of a buffer in every way there is, and gives what each gave.
fn read_all<T: Element>(buffer: &Buffer, filler: T) -> Vec<Result<Vec<T>, Error>> {
    let count = buffer.shape().element_count();
    let filled = |read: &dyn Fn(&mut [T]) -> xla::Result<()>| {
        let mut values = vec![filler; count];
        read(&mut values).map(|()| values)
    };
    let polled = |read: xla::Result<xla::HostRead<T>>| {
        let mut read = pin!(read?);
        let waker = Waker::from(Arc::new(Asleep));
        loop {
            let mut context = Context::from_waker(&waker);
            match read.as_mut().poll(&mut context) {
                Poll::Ready(values) => return values,
                Poll::Pending => std::thread::yield_now(),
            }
        }
    };
    vec![
        buffer.to_host::<T>(),
        buffer.to_host_async::<T>().and_then(|read| read.wait()),
        polled(buffer.to_host_async::<T>()),
        filled(&|values| buffer.read_into(values)),
        buffer.to_host_range::<T>(0..count),
        buffer
            .to_host_range_async::<T>(0..count)
            .and_then(|read| read.wait()),
        filled(&|values| buffer.read_range_into(values, 0)),
    ]
}

#[track_caller]
fn check<T: Element + PartialEq + Debug>(buffer: &Buffer, wanted: &[T], filler: T) {
    for (way, values) in read_all(buffer, filler).into_iter().enumerate() {
        let values = values.expect("values");
        // Too many to be printed.
        assert!(values == wanted, "way {way} of {buffer:?}");
    }
    if wanted.len() == 1 {
        assert_eq!(buffer.to_scalar::<T>().expect("one"), wanted[0]);
    }
    for range in [0..0, 0..wanted.len() / 2, wanted.len() / 3..wanted.len()] {
        let values = buffer.to_host_range::<T>(range.clone()).expect("inside");
        assert!(values == wanted[range.clone()], "{range:?} of {buffer:?}");
        let started = buffer.to_host_range_async::<T>(range.clone());
        let values = started.expect("inside").wait().expect("values");
        assert!(values == wanted[range.clone()], "{range:?} of {buffer:?}");
        let mut values = vec![filler; range.len()];
        let read = buffer.read_range_into(&mut values, range.start);
        read.expect("inside");
        assert!(values == wanted[range.clone()], "{range:?} of {buffer:?}");
    }
}

#[test]
fn every_type_and_length_comes_back_in_every_way() {
    fn each<T: Element + PartialEq + Debug>(device: &Device, some: [T; 3]) {
        for count in COUNTS {
            let values: Vec<T> = some.into_iter().cycle().take(count).collect();
            let buffer = Buffer::from_host(device, &values, &[count]).expect("room");
            check(&buffer, &values, some[1]);
        }
    }
    fn bits<T: Element + PartialEq + Debug>(device: &Device, make: impl Fn(u8) -> T) {
        each(device, [make(1), make(2), make(5)]);
    }
    let (_client, device) = one_device();
    each(&device, [1u8, 2, 255]);
    each(&device, [1u16, 2, 65535]);
    each(&device, [1u32, 2, u32::MAX]);
    each(&device, [1u64, 2, u64::MAX]);
    each(&device, [-1i8, 2, 127]);
    each(&device, [-1i16, 2, 32767]);
    each(&device, [-1i32, 2, i32::MIN]);
    each(&device, [-1i64, 2, i64::MIN]);
    each(&device, [1f32, -2.5, 1e30]);
    each(&device, [1f64, -2.5, 1e300]);
    each(&device, [1f32, -2.5, 4.].map(f16::from_f32));
    each(&device, [1f32, -2.5, 4.].map(bf16::from_f32));
    each(
        &device,
        [1f32, -2.5, 4.].map(|re| Complex::new(re, 3. - re)),
    );
    each(
        &device,
        [1f64, -2.5, 4.].map(|re| Complex::new(re, 3. - re)),
    );
    each(&device, [true, false, false]);
    bits(&device, F8E4M3FN::from_bits);
    bits(&device, F8E4M3FNUZ::from_bits);
    bits(&device, F8E4M3B11FNUZ::from_bits);
    bits(&device, F8E5M2::from_bits);
    bits(&device, F8E5M2FNUZ::from_bits);
    if cpu::api_minor(&device.client()) >= 68 {
        bits(&device, F8E3M4::from_bits);
        bits(&device, F8E4M3::from_bits);
        bits(&device, F8E8M0FNU::from_bits);
        // Packed on the device.
        bits(&device, F4E2M1FN::from_bits);
    }
}

#[test]
fn bytes_are_those_of_the_host_whatever_lies_on_the_device() {
    let (_client, device) = one_device();
    for (element_type, bytes) in [
        // Two to a byte on the device.
        (ElementType::S4, vec![1, 15, 7, 0, 8, 1]),
        (ElementType::U4, vec![1, 15, 7, 0, 8, 1]),
        (ElementType::U8, vec![1, 15, 7, 0, 255, 1]),
        (ElementType::Pred, vec![1, 0, 0, 1, 1, 1]),
        (ElementType::F32, (0..24).collect()),
        (ElementType::C128, (0..96).collect()),
    ] {
        let shape = Shape::new(element_type, &[2, 3]).expect("small");
        let buffer = Buffer::from_bytes(&device, &bytes, &shape).expect("room");
        let mut read = buffer.to_bytes().expect("bytes");
        if element_type == ElementType::S4 {
            // The sign is spread over the byte, or isn't.
            read.iter_mut().for_each(|byte| *byte &= 0xf);
        }
        assert_eq!(read, bytes, "{element_type}");
    }
}

#[test]
fn other_orders_are_put_right_in_every_way() {
    let (_client, device) = one_device();
    // Below and above 64 KiB.
    for (rows, columns) in [(1, 1), (2, 3), (3, 0), (7, 11), (128, 257)] {
        let values: Vec<f32> = (0..rows * columns).map(|n| n as f32).collect();
        let order = Layout::new(&[0, 1]).expect("an order");
        let dims = [rows, columns];
        let buffer = Buffer::from_host_in_layout(&device, &values, &dims, &order).expect("room");
        check(&buffer, &values, -1.);
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_ne_bytes())
            .collect();
        assert_eq!(buffer.to_bytes().expect("bytes"), bytes);
    }
}

#[test]
fn what_is_pending_is_waited_for_in_every_way() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let x = vector(&device, &[1.; SLOW_LENGTH]);
    type Read = fn(&Buffer) -> Vec<f32>;
    let ways: [Read; 6] = [
        |sum| sum.to_host().expect("values"),
        |sum| {
            let mut values = vec![-1.; SLOW_LENGTH];
            sum.read_into(&mut values).expect("values");
            values
        },
        |sum| {
            let bytes = sum.to_bytes().expect("values");
            let floats = bytes.chunks_exact(4);
            let float = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().expect("four"));
            floats.map(float).collect()
        },
        |sum| sum.to_host_range(0..SLOW_LENGTH).expect("values"),
        |sum| {
            let mut values = vec![-1.; SLOW_LENGTH];
            sum.read_range_into(&mut values, 0).expect("values");
            values
        },
        |sum| sum.view::<f32>().expect("values").to_vec(),
    ];
    for way in ways {
        until_pending(|rounds| {
            let n = Buffer::scalar(&device, rounds).expect("a number");
            let sum = slow.run((&x, n)).expect("runs").into_single().expect("one");
            let read = sum.to_host_async::<f32>().expect("starts");
            let part = sum.to_host_range_async::<f32>(1..3).expect("starts");
            // Small, but not there: the calls don't wait.
            let pending = !sum.is_ready().expect("known");
            let wanted = vec![rounds as f32 + 1.; SLOW_LENGTH];
            assert!(way(&sum) == wanted, "of {rounds} rounds");
            drop(sum);
            assert!(read.wait().expect("values") == wanted);
            assert_eq!(part.wait().expect("values"), wanted[1..3]);
            pending
        });
    }
}

#[test]
fn a_read_of_what_is_there_is_over_when_it_is_returned() {
    let (_client, device) = one_device();
    let buffer = vector(&device, &[1., 2., 3.]);
    buffer.wait().expect("values");
    let read = buffer.to_host_async::<f32>().expect("starts");
    let part = buffer.to_host_range_async::<f32>(1..3).expect("starts");
    for read in [&read, &part] {
        assert!(read.is_ready().expect("known"));
        let soon = std::time::Duration::ZERO;
        assert!(read.wait_timeout(soon).expect("values"));
    }
    let mut read = pin!(read);
    let waker = Waker::from(Arc::new(Asleep));
    let mut context = Context::from_waker(&waker);
    let Poll::Ready(values) = read.as_mut().poll(&mut context) else {
        panic!("it is over");
    };
    assert_eq!(values.expect("values"), [1., 2., 3.]);
    // They were handed out.
    let Poll::Ready(again) = read.as_mut().poll(&mut context) else {
        panic!("it is over");
    };
    assert!(again.is_err());
    assert_eq!(part.wait().expect("values"), [2., 3.]);
}

#[test]
fn values_are_those_of_when_the_read_was_started() {
    let (client, device) = one_device();
    for count in [4, 16384, 16385, 1_000_000] {
        let bump = compiled_text(
            &client,
            &format!(
                "func.func @main(%x: tensor<{count}xf32> {{tf.aliasing_output = 0 : i32}}) -> tensor<{count}xf32> {{
                   %one = stablehlo.constant dense<1.0> : tensor<{count}xf32>
                   %y = stablehlo.add %x, %one : tensor<{count}xf32>
                   return %y : tensor<{count}xf32>
                 }}"
            ),
        );
        let mut numbers = HostVec::<f32>::zeroed(count);
        numbers.fill(1.);
        let mut given = Buffer::from_host_vec(&device, numbers, &[count]).expect("room");
        let mut made = vector(&device, &vec![1.; count]);
        for round in 1..20 {
            for state in [&mut given, &mut made] {
                let before = state.to_host_async::<f32>().expect("starts");
                let part = state.to_host_range_async::<f32>(count / 2..count);
                let held = std::mem::replace(state, vector(&device, &[0.]));
                // In place.
                let next = bump.run(held).expect("runs").into_single().expect("one");
                *state = next;
                let wanted = vec![round as f32; count];
                assert!(before.wait().expect("values") == wanted, "{round}");
                let part = part.expect("starts").wait().expect("values");
                assert!(part == wanted[count / 2..], "{round}");
                let wanted = vec![round as f32 + 1.; count];
                assert!(state.to_host::<f32>().expect("values") == wanted);
            }
        }
        // The values outlive the buffer.
        let read = made.to_host_async::<f32>().expect("starts");
        drop(made);
        assert!(read.wait().expect("values") == vec![20.; count]);
    }
}

#[test]
fn a_failed_run_is_reported_in_every_way() {
    let (client, device) = one_device();
    for awaited in [false, true] {
        let failed = failing(&client, &device);
        if awaited {
            failed.wait().expect_err("it failed");
        }
        for (way, read) in read_all::<f32>(&failed, 0.).into_iter().enumerate() {
            let error = read.expect_err("it failed");
            assert!(!error.message().is_empty(), "way {way}, awaited: {awaited}");
        }
        failed.to_bytes().expect_err("it failed");
        failed.view::<f32>().expect_err("it failed");
        failed.copy_on_device().expect_err("it failed");
        failed.to_host_range::<f32>(0..0).expect_err("it failed");
        // Asking didn't make it good.
        failed.to_host::<f32>().expect_err("it failed");
        failed.wait().expect_err("it failed");
    }
}
