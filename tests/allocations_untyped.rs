//! What a run allocates on the Rust side once it has been done a few times: nothing, or what is
//! said here. The plugin has an allocator of its own, which isn't counted.

mod cpu;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cpu::{client, compiled, compiled_text, device, lesson, vector};
use xla::{Buffer, Executable};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what a thread asks for.
struct Counting;

// SAFETY: all is left to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn count() {
    // A thread that ends may allocate after its counter is gone.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What each of many rounds of `work` allocates on this thread, after a few that don't count.
fn allocations(mut work: impl FnMut()) -> Vec<usize> {
    for _ in 0..300 {
        work();
    }
    let mut each = Vec::with_capacity(300);
    for _ in 0..300 {
        let before = ALLOCATIONS.get();
        work();
        each.push(ALLOCATIONS.get() - before);
    }
    each
}

/// Checks that each round allocates so often.
#[track_caller]
fn check(wanted: usize, work: impl FnMut()) {
    let each = allocations(work);
    let (least, worst) = (each.iter().min(), each.iter().max());
    assert_eq!((least, worst), (Some(&wanted), Some(&wanted)), "a round");
}

#[test]
fn the_counter_counts() {
    check(2, || {
        let mut list = std::hint::black_box(Vec::with_capacity(1));
        list.push(1u8);
        list.push(2);
        std::hint::black_box(list);
    });
}

/// A step of a counter: given, and taken back.
fn counter() -> (Executable, Buffer) {
    let client = client(4);
    let counter = compiled(&client, "counter");
    let count = Buffer::scalar(&device(&client, 0), 0f32).expect("a number");
    (counter, count)
}

#[test]
fn a_run_on_one_device_allocates_nothing() {
    let (counter, start) = counter();
    let mut count = Some(start);
    check(0, || {
        let outputs = counter.run(count.take().expect("the count")).expect("runs");
        count = Some(outputs.into_single().expect("one"));
    });
    let count = count.expect("the count");
    assert_eq!(count.to_scalar::<f32>().expect("a number"), 600.);
}

#[test]
fn nor_does_it_beside_a_program_with_collectives() {
    let (counter, start) = counter();
    let _loaded = compiled(&counter.client(), "sgd_replicas_4");
    let mut count = Some(start);
    check(0, || {
        let outputs = counter.run(count.take().expect("the count")).expect("runs");
        count = Some(outputs.into_single().expect("one"));
    });
}

#[test]
fn nor_does_what_a_collective_waits_for() {
    let (counter, start) = counter();
    let client = counter.client();
    let sum = compiled(&client, "all_reduce_replicas_4");
    let lesson = lesson("all_reduce_replicas_4");
    let devices = sum.devices().iter().enumerate();
    let rows: Vec<Buffer> = devices
        .map(|(position, device)| lesson.arguments[0].buffer(position, device))
        .collect();
    let mut count = Some(start);
    // The list of what the devices give.
    check(1, || {
        for _ in 0..20 {
            let outputs = counter.run(count.take().expect("the count")).expect("runs");
            count = Some(outputs.into_single().expect("one"));
        }
        sum.run_per_device(&rows).expect("runs");
    });
}

/// 64 inputs, donated into as many outputs, on 8 devices; with a collective, or without.
fn wide(collective: bool) -> String {
    let all = |each: &dyn Fn(usize) -> String| (0..64).map(each).collect::<Vec<_>>().join(", ");
    let inputs = all(&|i| format!("%x{i}: tensor<2xf32> {{tf.aliasing_output = {i} : i32}}"));
    let outputs = all(&|i| {
        if i == 0 {
            "%y".to_owned()
        } else {
            format!("%x{i}")
        }
    });
    let types = all(&|_| "tensor<2xf32>".to_owned());
    let first = if collective {
        r#""stablehlo.all_reduce"(%x0) ({
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %ab = stablehlo.add %a, %b : tensor<f32>
             stablehlo.return %ab : tensor<f32>
           }) {replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}
           : (tensor<2xf32>) -> tensor<2xf32>"#
    } else {
        "stablehlo.add %x0, %x0 : tensor<2xf32>"
    };
    format!(
        "module @wide attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 8 : i32}} {{
           func.func @main({inputs}) -> ({types}) {{
             %y = {first}
             return {outputs} : {types}
           }}
         }}"
    )
}

/// The launch itself allocates nothing. `run_per_device` does: the list of what all devices
/// give, and a list for what each of the 8 gives.
#[test]
fn a_launch_on_many_devices_allocates_only_its_lists() {
    for collective in [false, true] {
        let client = client(8);
        let wide = compiled_text(&client, &wide(collective));
        assert_eq!(wide.signature().has_collectives(), collective);
        let devices = client.devices();
        let mut state: Vec<Vec<Buffer>> = devices
            .iter()
            .map(|device| (0..64).map(|_| vector(device, &[0.; 2])).collect())
            .collect();
        check(1 + 8, || {
            let outputs = wide.run_per_device(state.drain(..)).expect("runs");
            state.extend(outputs.into_iter().map(|each| each.into_vec()));
        });
    }
}

#[test]
fn a_small_launch_on_many_devices_allocates_only_its_outputs() {
    let client = client(4);
    for name in ["sgd_replicas_4", "sgd_partitions_4"] {
        let step = compiled(&client, name);
        let lesson = lesson(name);
        let on_all = |argument: usize| -> Vec<Buffer> {
            let devices = step.devices().iter().enumerate();
            devices
                .map(|(position, device)| lesson.arguments[argument].buffer(position, device))
                .collect()
        };
        let (mut w, g) = (on_all(0), on_all(1));
        // The list of what the devices give.
        check(1, || {
            let outputs = step.run_per_device(w.drain(..).zip(&g)).expect("runs");
            w.extend(
                outputs
                    .into_iter()
                    .map(|each| each.into_single().expect("one")),
            );
        });
    }
}
