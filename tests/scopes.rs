//! Borrowed host memory: a scope ends when XLA has finished with it, and not before, so
//! that the caller may write to it at once.
//!
//! The runtime does not order host memory. Here the memory is overwritten in the line after
//! each scope, while the runs that read it were still going when the closure returned.

mod cpu;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

use cpu::{
    client, compiled, compiled_text, device, in_child, until_idle, until_pending, values, vector,
    FAILS_LATER, SLOW, SLOW_LENGTH,
};
use xla::{
    bf16, Argument, ArgumentList, Buffer, Client, Code, CompileOptions, Complex, Device, Element,
    Executable, HostVec, Plain, Scope, F4E2M1FN,
};

fn one_device() -> (Client, Device) {
    let client = client(1);
    let device = device(&client, 0);
    (client, device)
}

/// `x + 1` for so many numbers; the input is aliased to the output.
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

fn filled(value: f32, count: usize) -> HostVec<f32> {
    let mut numbers = HostVec::zeroed(count);
    numbers.fill(value);
    numbers
}

// Borrowing.

#[test]
fn aligned_memory_is_shared_and_other_memory_copied() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    let numbers = filled(1., 1032);
    client.scope(|scope| {
        // In steps of 4 bytes: every sixteenth is aligned.
        for start in 0..33 {
            let slice = &numbers[start..][..1000];
            let buffer = scope.borrow(&device, slice, &[1000]).expect("room");
            assert_eq!(buffer.is_zero_copy(), start % 16 == 0, "{start}");
            let view = buffer.view::<f32>().expect("a view");
            assert_eq!(view.as_ptr() == slice.as_ptr(), start % 16 == 0, "{start}");
            assert_eq!(view[..], [1.; 1000]);
            let output = bump.run(buffer).expect("runs").into_single().expect("one");
            assert_eq!(values(&output), [2.; 1000]);
        }
    });
    assert!(numbers.iter().all(|number| *number == 1.));
}

#[test]
fn every_shape_and_type_can_be_borrowed() {
    fn check<T: Element + Plain + PartialEq + std::fmt::Debug>(device: &Device, some: &[T]) {
        let values: HostVec<T> = some
            .iter()
            .copied()
            .cycle()
            .take(130)
            .collect::<Vec<_>>()
            .into();
        device.client().scope(|scope| {
            let buffer = scope.borrow(device, &values, &[130]).expect("room");
            assert_eq!(buffer.to_host::<T>().expect("values"), values[..]);
            let matrix = scope.borrow(device, &values, &[13, 10]).expect("room");
            assert_eq!(matrix.dims(), [13, 10]);
            let first = scope.borrow(device, &values[..1], &[]).expect("room");
            assert_eq!(first.to_scalar::<T>().expect("one"), values[0]);
            let none = scope
                .borrow(device, &values[..0], &[2, 0])
                .expect("no room");
            assert!(none.to_host::<T>().expect("values").is_empty());
        });
    }
    let (_client, device) = one_device();
    check(&device, &[1u8, 255]);
    check(&device, &[-1i16, 7]);
    check(&device, &[1.5f32, -2.]);
    check(&device, &[i64::MIN, 3]);
    check(&device, &[bf16::from_f32(1.5)]);
    check(&device, &[Complex::new(1f64, -2.), Complex::new(0., 3.)]);
    let four_bits: Vec<F4E2M1FN> = (0..16).map(F4E2M1FN::from_bits).collect();
    let read = device.client().scope(|scope| {
        let buffer = scope.borrow(&device, &four_bits, &[16]).expect("room");
        buffer.to_host::<F4E2M1FN>().expect("values")
    });
    let bits: Vec<u8> = read.iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits, (0..16).collect::<Vec<_>>());
}

#[test]
fn what_does_not_fit_is_refused() {
    let (client, device) = one_device();
    let (other, elsewhere) = one_device();
    let numbers = filled(1., 6);
    client.scope(|scope| {
        for dims in [&[5][..], &[7], &[], &[2, 2], &[usize::MAX, 2]] {
            let error = scope
                .borrow(&device, &numbers, dims)
                .expect_err("6 numbers");
            assert_eq!(error.code(), Code::InvalidArgument, "{error}");
            assert_eq!(error.function(), None, "{error}");
        }
        let error = scope
            .borrow(&elsewhere, &numbers, &[6])
            .expect_err("elsewhere");
        assert!(error.message().contains("another client"), "{error}");
        // Still good.
        let buffer = scope.borrow(&device, &numbers, &[6]).expect("they fit");
        assert_eq!(values(buffer), [1.; 6]);
    });
    drop(other);
}

#[test]
fn a_scope_gives_what_its_work_gives() {
    let (client, device) = one_device();
    assert_eq!(client.scope(|_| 7), 7);
    let numbers = filled(1., 3);
    let sum = client.scope(|scope| -> xla::Result<f32> {
        let buffer = scope.borrow(&device, &numbers, &[3])?;
        let wrong = scope.borrow(&device, &numbers, &[4]);
        assert!(wrong.is_err());
        Ok(buffer.view::<f32>()?.iter().sum())
    });
    assert_eq!(sum.expect("no error"), 3.);
    let error = client.scope(|scope| -> xla::Result<()> {
        scope.borrow(&device, &numbers, &[4])?;
        Ok(())
    });
    assert!(error.is_err());
}

#[test]
fn borrowed_memory_is_never_written_to() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    let numbers = filled(1., 1000);
    client.scope(|scope| {
        let buffer = scope.borrow(&device, &numbers, &[1000]).expect("room");
        assert!(buffer.is_zero_copy());
        for _ in 0..200 {
            // Aliased, but lent: XLA copies.
            let mut output = bump.run(buffer).expect("runs").into_single().expect("one");
            for _ in 0..3 {
                output = bump.run(output).expect("runs").into_single().expect("one");
            }
            assert_eq!(values(&output), [5.; 1000]);
            // Read while XLA reads.
            assert!(numbers.iter().all(|number| *number == 1.));
        }
    });
}

// The end of a scope.

#[test]
fn a_scope_ends_when_the_runs_in_it_have_ended() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let mut numbers = filled(1., SLOW_LENGTH);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        numbers.fill(1.);
        let (sum, pending) = client.scope(|scope| {
            let x = scope
                .borrow(&device, &numbers, &[SLOW_LENGTH])
                .expect("room");
            assert!(x.is_zero_copy());
            let sum = slow.run((x, &n)).expect("runs").into_single().expect("one");
            let pending = !sum.is_ready().expect("known");
            (sum, pending)
        });
        numbers.fill(-7.);
        assert!(sum.is_ready().expect("known"), "the scope ended too early");
        assert_eq!(values(&sum), [rounds as f32 + 1.; SLOW_LENGTH]);
        pending
    });
}

#[test]
fn a_scope_waits_although_nobody_holds_what_comes_out() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let mut numbers = filled(1., SLOW_LENGTH);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        numbers.fill(1.);
        // The middle one of three runs is kept to see what it read.
        let (kept, pending) = client.scope(|scope| {
            let x = scope
                .borrow(&device, &numbers, &[SLOW_LENGTH])
                .expect("room");
            let run = || slow.run((x, &n)).expect("runs").into_single().expect("one");
            drop(run());
            let kept = run();
            let last = run();
            let pending = !kept.is_ready().expect("known") && !last.is_ready().expect("known");
            drop(last);
            (kept, pending)
        });
        numbers.fill(-7.);
        assert_eq!(values(&kept), [rounds as f32 + 1.; SLOW_LENGTH]);
        pending
    });
}

#[test]
fn memory_is_free_in_the_line_after_the_scope() {
    // A ring of one: lent, overwritten at once, lent again. Both a program that only reads
    // and one that would take the memory over.
    const N: usize = 200_000;
    let (client, device) = one_device();
    let bump = bump(&client, N);
    let add = compiled_text(
        &client,
        &format!(
            "func.func @main(%x: tensor<{N}xf32>, %y: tensor<{N}xf32>) -> tensor<{N}xf32> {{
               %z = stablehlo.add %x, %y : tensor<{N}xf32>
               return %z : tensor<{N}xf32>
             }}"
        ),
    );
    let mut batch = HostVec::<f32>::zeroed(N);
    for round in 0..300 {
        let number = round as f32;
        batch.fill(number);
        let outputs = client.scope(|scope| {
            let x = scope.borrow(&device, &batch, &[N]).expect("room");
            let sum = add.run((x, x)).expect("runs").into_single().expect("one");
            let bumped = bump.run(x).expect("runs").into_single().expect("one");
            // On top of what only comes now.
            let more = add
                .run((&sum, x))
                .expect("runs")
                .into_single()
                .expect("one");
            [sum, bumped, more]
        });
        batch.fill(-1.);
        for (output, wanted) in outputs.iter().zip([2. * number, number + 1., 3. * number]) {
            let view = output.view::<f32>().expect("a view");
            assert!(view.iter().all(|value| *value == wanted), "round {round}");
        }
    }
}

#[test]
fn copies_and_reads_under_way_are_waited_for_too() {
    const N: usize = 200_000;
    let client = client(2);
    let (here, there) = (device(&client, 0), device(&client, 1));
    let mut numbers = HostVec::<f32>::zeroed(N);
    for round in 0..200 {
        numbers.fill(round as f32);
        let (copy, read, bytes) = client.scope(|scope| {
            let x = scope.borrow(&here, &numbers, &[N]).expect("room");
            assert!(x.is_zero_copy());
            let copy = x.copy_to_device(&there).expect("copies");
            let read = x.to_host_async::<f32>().expect("starts");
            drop(x.to_host_async::<f32>().expect("starts"));
            (copy, read, x.copy_on_device().expect("copies"))
        });
        numbers.fill(-1.);
        let wanted = vec![round as f32; N];
        assert_eq!(values(&copy), wanted, "copy, round {round}");
        assert_eq!(read.wait().expect("values"), wanted, "read, round {round}");
        assert_eq!(values(&bytes), wanted, "copy here, round {round}");
    }
}

#[test]
fn an_output_that_is_the_input_is_a_copy() {
    const N: usize = 50_000;
    let (client, device) = one_device();
    for attribute in [
        "",
        "tf.aliasing_output = 0 : i32",
        "jax.buffer_donor = true",
    ] {
        let same = compiled_text(
            &client,
            &format!(
                "func.func @main(%x: tensor<{N}xf32> {{{attribute}}}) -> tensor<{N}xf32> {{
                   return %x : tensor<{N}xf32>
                 }}"
            ),
        );
        let mut numbers = filled(0., N);
        for round in 0..50 {
            numbers.fill(round as f32);
            let output = client.scope(|scope| {
                let x = scope.borrow(&device, &numbers, &[N]).expect("room");
                same.run(x).expect("runs").into_single().expect("one")
            });
            numbers.fill(-1.);
            let view = output.view::<f32>().expect("a view");
            assert_ne!(view.as_ptr(), numbers.as_ptr());
            assert!(
                view.iter().all(|value| *value == round as f32),
                "{attribute}"
            );
        }
    }
}

#[test]
fn a_scope_waits_on_panic_too() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let mut numbers = filled(1., SLOW_LENGTH);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        numbers.fill(1.);
        let smuggled = Mutex::new(None);
        let pending = AtomicBool::new(false);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            client.scope(|scope| {
                let x = scope
                    .borrow(&device, &numbers, &[SLOW_LENGTH])
                    .expect("room");
                let sum = slow.run((x, &n)).expect("runs").into_single().expect("one");
                pending.store(!sum.is_ready().expect("known"), Ordering::Relaxed);
                *smuggled.lock().expect("no panic yet") = Some(sum);
                panic!("on purpose");
            });
        }));
        numbers.fill(-7.);
        let message = panic.expect_err("the panic goes on");
        assert_eq!(message.downcast_ref(), Some(&"on purpose"));
        let sum = smuggled.into_inner().expect("no panic under the lock");
        let sum = sum.expect("it ran");
        assert!(sum.is_ready().expect("known"), "the scope ended too early");
        assert_eq!(values(&sum), [rounds as f32 + 1.; SLOW_LENGTH]);
        pending.into_inner()
    });
}

#[test]
fn a_scope_waits_when_it_is_left_early() {
    let (client, device) = one_device();
    let slow = compiled_text(&client, SLOW);
    let mut numbers = filled(1., SLOW_LENGTH);
    until_pending(|rounds| {
        let n = Buffer::scalar(&device, rounds).expect("a number");
        numbers.fill(1.);
        let mut smuggled = None;
        let left = client.scope(|scope| -> xla::Result<()> {
            let x = scope.borrow(&device, &numbers, &[SLOW_LENGTH])?;
            smuggled = Some(slow.run((x, &n))?.into_single()?);
            scope.borrow(&device, &numbers, &[1])?;
            unreachable!("{SLOW_LENGTH} numbers are not one");
        });
        numbers.fill(-7.);
        assert!(left.is_err());
        let sum = smuggled.expect("it ran");
        assert!(sum.is_ready().expect("known"), "the scope ended too early");
        assert_eq!(values(&sum), [rounds as f32 + 1.; SLOW_LENGTH]);
        // Seen pending or not, the scope has waited.
        rounds >= 500_000
    });
}

#[test]
fn nothing_that_can_be_forgotten_ends_a_scope_early_or_never() {
    let ended = in_child(
        "nothing_that_can_be_forgotten_ends_a_scope_early_or_never",
        || {
            let (client, device) = one_device();
            let slow = compiled_text(&client, SLOW);
            let n = Buffer::scalar(&device, 2000).expect("a number");
            let mut numbers = filled(1., SLOW_LENGTH);
            for round in 0..40 {
                numbers.fill(1.);
                let sum = client.scope(|scope| {
                    let x = scope
                        .borrow(&device, &numbers, &[SLOW_LENGTH])
                        .expect("room");
                    let run = || slow.run((x, &n)).expect("runs");
                    std::mem::forget(run());
                    std::mem::forget(x.to_host_async::<f32>().expect("starts"));
                    std::mem::forget(run()[0].to_host_async::<f32>().expect("starts"));
                    std::mem::forget(x.ready().expect("an event"));
                    Box::leak(Box::new(x.view::<f32>().expect("a view")));
                    std::mem::forget(x.copy_on_device().expect("copies"));
                    let mut list = ArgumentList::new();
                    list.push(x);
                    std::mem::forget(list);
                    std::mem::forget(Argument::from(x));
                    std::mem::forget(x.client());
                    let refused = slow.run((x, x)).expect_err("an f32[4096] is no number");
                    std::mem::forget(refused);
                    run().into_single().expect("one")
                });
                numbers.fill(-7.);
                assert!(sum.is_ready().expect("known"), "round {round}");
                assert_eq!(values(&sum), [2001.; SLOW_LENGTH], "round {round}");
            }
            // The client is never destroyed: that is what was asked for. Its threads may be about
            // to end what was forgotten, and 0.106 aborts where the process ends under them.
            std::mem::forget(client);
            until_idle();
        },
    );
    ended.check_well();
}

#[test]
fn runs_that_fail_end_a_scope_all_the_same() {
    let (client, device) = one_device();
    let later = compiled_text(&client, FAILS_LATER);
    let at_once = compiled_text(
        &client,
        "func.func @main(%x: tensor<f32>) -> tensor<70368744177664xf32> {
           %huge = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<70368744177664xf32>
           return %huge : tensor<70368744177664xf32>
         }",
    );
    let mut four = filled(1., 4);
    let mut one = filled(1., 1);
    for _ in 0..20 {
        let failed = client.scope(|scope| {
            let w = scope.borrow(&device, &four, &[4]).expect("room");
            let x = scope.borrow(&device, &one, &[]).expect("room");
            let error = at_once.run(x).expect_err("not so much memory");
            assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
            later.run((w, x)).expect("it fails later")
        });
        four.fill(2.);
        one.fill(2.);
        let error = failed[0].to_host::<f32>().expect_err("not so much memory");
        assert!(error.message().contains("Out of memory"), "{error}");
    }
}

// Many.

#[test]
fn a_scope_lends_many_buffers() {
    let (client, device) = one_device();
    let add = compiled_text(
        &client,
        "func.func @main(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
           %z = stablehlo.add %x, %y : tensor<16xf32>
           return %z : tensor<16xf32>
         }",
    );
    // Each of its own line of 64 bytes.
    const MANY: usize = 3000;
    let mut numbers = HostVec::<f32>::zeroed(MANY * 16);
    for (line, numbers) in numbers.chunks_mut(16).enumerate() {
        numbers.fill(line as f32);
    }
    let sum = client.scope(|scope| {
        let mut lent = Vec::new();
        for line in numbers.chunks(16) {
            let buffer = scope.borrow(&device, line, &[16]).expect("room");
            assert!(buffer.is_zero_copy());
            lent.push(buffer);
        }
        let mut sum = vector(&device, &[0.; 16]);
        for buffer in &lent {
            sum = add
                .run((&sum, *buffer))
                .expect("runs")
                .into_single()
                .expect("one");
        }
        assert_eq!(values(lent[7]), [7.; 16]);
        sum
    });
    numbers.fill(-1.);
    assert_eq!(values(&sum), [(MANY * (MANY - 1) / 2) as f32; 16]);
}

#[test]
fn the_same_memory_can_be_lent_twice() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    let mut numbers = filled(3., 1000);
    for _ in 0..50 {
        numbers.fill(3.);
        let outputs = client.scope(|scope| {
            [0, 1, 2].map(|_| {
                let x = scope.borrow(&device, &numbers, &[1000]).expect("room");
                assert!(x.is_zero_copy());
                bump.run(x).expect("runs").into_single().expect("one")
            })
        });
        numbers.fill(-1.);
        outputs
            .iter()
            .for_each(|output| assert_eq!(values(output), [4.; 1000]));
    }
}

#[test]
fn scopes_can_be_nested() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    let outer_numbers = filled(1., 1000);
    let mut inner_numbers = filled(0., 1000);
    client.scope(|outer| {
        let first = outer
            .borrow(&device, &outer_numbers, &[1000])
            .expect("room");
        for round in 0..50 {
            inner_numbers.fill(round as f32);
            let outputs = client.scope(|inner| {
                let x = inner
                    .borrow(&device, &inner_numbers, &[1000])
                    .expect("room");
                let late = outer
                    .borrow(&device, &outer_numbers, &[1000])
                    .expect("room");
                [x, late, first].map(|x| bump.run(x).expect("runs").into_single().expect("one"))
            });
            inner_numbers.fill(-1.);
            let outputs = outputs.each_ref().map(values);
            assert_eq!(outputs[0], [round as f32 + 1.; 1000]);
            assert_eq!(outputs[1], [2.; 1000]);
            assert_eq!(outputs[2], [2.; 1000]);
        }
    });
}

#[test]
fn threads_can_borrow_in_one_scope() {
    let (client, device) = one_device();
    let bump = bump(&client, 1000);
    let mut numbers = HostVec::<f32>::zeroed(8 * 1024);
    for round in 0..20 {
        for (part, numbers) in numbers.chunks_mut(1024).enumerate() {
            numbers.fill(part as f32 + round as f32);
        }
        let done = AtomicUsize::new(0);
        let outputs = client.scope(|scope: &Scope<'_, '_>| {
            std::thread::scope(|threads| {
                let parts = numbers.chunks(1024);
                let running: Vec<_> = parts
                    .map(|part| {
                        let (bump, device, done) = (&bump, &device, &done);
                        threads.spawn(move || {
                            let mut outputs = Vec::new();
                            for _ in 0..10 {
                                let x = scope.borrow(device, &part[..1000], &[1000]);
                                let x = x.expect("room");
                                assert!(x.is_zero_copy());
                                outputs.extend(bump.run(x).expect("runs"));
                                done.fetch_add(1, Ordering::Relaxed);
                            }
                            outputs
                        })
                    })
                    .collect();
                let joined = running.into_iter();
                joined
                    .map(|running| running.join().expect("no panic"))
                    .collect::<Vec<_>>()
            })
        });
        numbers.fill(-1.);
        assert_eq!(done.into_inner(), 80);
        for (part, outputs) in outputs.iter().enumerate() {
            for output in outputs {
                assert_eq!(values(output), [(part + round) as f32 + 1.; 1000]);
            }
        }
    }
}

#[test]
fn many_scopes_at_once() {
    let (client, device) = one_device();
    let bump = bump(&client, 10_000);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (client, device, bump) = (&client, &device, &bump);
            threads.spawn(move || {
                let mut numbers = filled(0., 10_000);
                for round in 0..100 {
                    let number = (thread * 1000 + round) as f32;
                    numbers.fill(number);
                    let output = client.scope(|scope| {
                        let x = scope.borrow(device, &numbers, &[10_000]).expect("room");
                        bump.run(x).expect("runs").into_single().expect("one")
                    });
                    numbers.fill(-1.);
                    assert_eq!(values(&output), [number + 1.; 10_000]);
                }
            });
        }
    });
}

#[test]
fn replicas_borrow_each_their_own() {
    let client = client(2);
    let sum = client
        .compile(
            &cpu::program("all_reduce_replicas_2"),
            &CompileOptions::new(),
        )
        .expect("compiles");
    let mut numbers = HostVec::<f32>::zeroed(32);
    for round in 0..100 {
        for (index, number) in numbers.iter_mut().enumerate() {
            *number = (round + index / 16) as f32;
        }
        let outputs = client.scope(|scope| {
            let rows = numbers.chunks(16).zip(sum.devices());
            let rows: Vec<&Buffer> = rows
                .map(|(row, device)| scope.borrow(device, &row[..4], &[4]).expect("room"))
                .collect();
            assert!(rows.iter().all(|row| row.is_zero_copy()));
            sum.run_per_device(rows.iter().copied()).expect("runs")
        });
        numbers.fill(-1.);
        // Each adds its own number to its row before they are summed.
        for outputs in &outputs {
            assert_eq!(values(&outputs[0]), [2. * round as f32 + 2.; 4]);
        }
    }
}

#[test]
fn a_typed_step_takes_a_borrowed_batch() {
    let (client, device) = one_device();
    let step: xla::Function<(xla::Give<Buffer>, xla::Ref<Buffer>), Buffer> =
        compiled(&client, "sgd_step").typed().expect("fits");
    let mut w = vector(&device, &[0.; 4]);
    let mut batch = filled(0., 4);
    for round in 1..=200 {
        batch.fill(-8. * round as f32);
        w = client.scope(|scope| {
            let g = scope.borrow(&device, &batch, &[4]).expect("room");
            step.call((w, g)).expect("runs")
        });
        batch.fill(1000.);
    }
    // 1 + 2 + ... + 200
    assert_eq!(values(&w), [20_100.; 4]);
}
