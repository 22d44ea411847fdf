//! A call in a steady loop allocates nothing on the Rust side: what the layer needs for one,
//! it has from the call before.

mod cpu;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use xla::{
    Buffer, Client, CompileOptions, Each, Executable, Function, Give, HostArray, HostTree, HostVec,
    One, ParallelFunction, PerDevice, Program, Ref, Results, Tree,
};

/// Counts what Rust code asks for, on all threads. A plugin has an allocator of its own.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator, with a number counted up beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// One test at a time: the count is the process's. It begins when the harness has told of the
/// test before, for which it allocates.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let before = COUNT.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        if COUNT.load(Ordering::Relaxed) == before {
            return turn;
        }
    }
}

/// Calls before the count: the first ones find out how much room they need.
const WARM_UP: usize = 20;
const CALLS: usize = 50;

/// The fewest allocations that so many calls made in one of a few rounds: the test harness
/// may allocate during one, on a thread of its own.
fn allocations(mut call: impl FnMut()) -> usize {
    (0..WARM_UP).for_each(|_| call());
    let rounds = (0..3).map(|_| {
        let before = COUNT.load(Ordering::Relaxed);
        (0..CALLS).for_each(|_| call());
        COUNT.load(Ordering::Relaxed) - before
    });
    rounds.min().expect("three rounds")
}

/// How many calls [`allocations`] makes.
const ALL: usize = WARM_UP + 3 * CALLS;

#[test]
fn allocations_are_counted() {
    let _turn = turn();
    let made = allocations(|| drop(std::hint::black_box(Box::new(1u8))));
    assert_eq!(made, CALLS);
}

const ROW: [f32; 4] = [1., 2., 3., 4.];

/// Takes so many donated rows and a batch of one row; adds to each row the batch, or what
/// all replicas' batches sum up to, and gives that at the end too. With `lent`, the rows are
/// followed by as many more which it adds as well.
fn program(leaves: usize, lent: bool, summed_over: Option<usize>) -> Program {
    const ROW: &str = "tensor<4xf32>";
    let mut inputs: Vec<String> = (0..leaves)
        .map(|leaf| format!("%a{leaf}: {ROW} {{tf.aliasing_output = {leaf} : i32}}"))
        .collect();
    if lent {
        inputs.extend((0..leaves).map(|leaf| format!("%l{leaf}: {ROW}")));
    }
    inputs.push(format!("%x: {ROW}"));
    let mut body = match summed_over {
        None => format!("%sum = stablehlo.add %x, %zero : {ROW}\n"),
        Some(devices) => {
            let group: Vec<String> = (0..devices).map(|device| device.to_string()).collect();
            format!(
                r#"%sum = "stablehlo.all_reduce"(%x) ({{
                   ^bb0(%p: tensor<f32>, %q: tensor<f32>):
                     %r = stablehlo.add %p, %q : tensor<f32>
                     stablehlo.return %r : tensor<f32>
                   }}) {{replica_groups = dense<[[{}]]> : tensor<1x{devices}xi64>}} : ({ROW}) -> {ROW}
                "#,
                group.join(", ")
            )
        }
    };
    for leaf in 0..leaves {
        let from = if lent {
            body += &format!("%m{leaf} = stablehlo.add %a{leaf}, %l{leaf} : {ROW}\n");
            "m"
        } else {
            "a"
        };
        body += &format!("%b{leaf} = stablehlo.add %{from}{leaf}, %sum : {ROW}\n");
    }
    let outputs: Vec<String> = (0..leaves).map(|leaf| format!("%b{leaf}")).collect();
    let types = vec![ROW; leaves + 1].join(", ");
    Program::from_text(format!(
        "func.func @main({}) -> ({types}) {{
           %zero = stablehlo.constant dense<0.0> : {ROW}
           {body} return {}, %sum : {types}
         }}",
        inputs.join(", "),
        outputs.join(", "),
    ))
    .expect("a program")
}

fn compiled(client: &Client, program: &Program, replicas: usize) -> Executable {
    let options = CompileOptions::new().replicas(replicas);
    client.compile(program, &options).expect("it compiles")
}

const LEAVES: usize = 64;
type State = [Buffer; LEAVES];
type Step<R> = ParallelFunction<(Give<State>, Ref<Buffer>), R>;

/// Loops over a typed step on 1 to 8 devices and checks count and values. `sums` gives the
/// buffers of the second result.
fn loops<S, R: Results<Values = (PerDevice<State>, S)>>(
    collective: bool,
    sums: impl Fn(S) -> Vec<Buffer>,
) {
    let _turn = turn();
    for devices in [1, 2, 4, 8] {
        let client = cpu::client(devices);
        let program = program(LEAVES, false, collective.then_some(devices));
        let step: Step<R> = compiled(&client, &program, devices)
            .parallel()
            .expect("it fits");
        assert_eq!(step.signature().donated_bytes(), LEAVES * 16);
        let rows = (0..LEAVES).map(|_| HostArray::new(&ROW, &[4]).expect("a row"));
        let rows = HostTree::new(rows).expect("as many");
        let devices_of = step.executable().devices().to_vec();
        let mut state = Some(PerDevice::replicate(&devices_of, &rows).expect("room"));
        let batch = HostArray::new(&ROW, &[4]).expect("a row").into();
        let batch: PerDevice<Buffer> = PerDevice::replicate(&devices_of, &batch).expect("room");
        let mut sum = None;
        let made = allocations(|| {
            let before = state.take().expect("the state");
            let (after, last) = step.call((before, &batch)).expect("a call");
            state = Some(after);
            sum = Some(last);
        });
        assert_eq!(made, 0, "allocations in {CALLS} calls on {devices} devices");
        let factor = if collective { devices as f32 } else { 1. };
        for sum in sums(sum.expect("a sum")) {
            assert_eq!(cpu::values(&sum), ROW.map(|x| x * factor));
        }
        for part in &state.expect("the state") {
            let wanted = ROW.map(|x| x * (1. + factor * ALL as f32));
            assert_eq!(cpu::values(&part[LEAVES - 1]), wanted);
        }
    }
}

#[test]
fn parallel_each() {
    loops::<_, (Each<State>, Each<Buffer>)>(false, PerDevice::into_inner);
}

#[test]
fn parallel_each_with_a_collective() {
    loops::<_, (Each<State>, Each<Buffer>)>(true, PerDevice::into_inner);
}

#[test]
fn parallel_one() {
    loops::<_, (Each<State>, One<Buffer>)>(false, |sum| vec![sum]);
}

#[test]
fn parallel_one_with_a_collective() {
    loops::<_, (Each<State>, One<Buffer>)>(true, |sum| vec![sum]);
}

#[derive(Tree)]
struct Large {
    rows: [Buffer; 100],
}

#[test]
fn typed_on_one_device() {
    let _turn = turn();
    let client = cpu::client(1);
    let device = cpu::device(&client, 0);
    let program = program(100, true, None);
    type Parameters = (Give<Large>, Ref<[Buffer; 100]>, Ref<Buffer>);
    let step: Function<Parameters, (Large, Buffer)> =
        compiled(&client, &program, 1).typed().expect("it fits");
    let rows = || std::array::from_fn(|_| cpu::vector(&device, &ROW));
    let (lent, batch) = (rows(), cpu::vector(&device, &ROW));
    let mut state = Some(Large { rows: rows() });
    let made = allocations(|| {
        let before = state.take().expect("the state");
        let (after, _) = step.call((before, &lent, &batch)).expect("a call");
        state = Some(after);
    });
    assert_eq!(made, 0, "allocations in {CALLS} calls");
    let wanted = ROW.map(|x| x * (1 + 2 * ALL) as f32);
    assert_eq!(cpu::values(&state.expect("the state").rows[99]), wanted);
}

fn scalar_loop(client: &Client) {
    let counter = cpu::compiled(client, "counter");
    let start = Buffer::scalar(&cpu::device(client, 0), 0f32).expect("room");
    let mut count = Some(start);
    let made = allocations(|| {
        let before = count.take().expect("the count");
        let outputs = counter.run(before).expect("a run");
        count = Some(outputs.into_single().expect("an output"));
    });
    assert_eq!(made, 0, "allocations in {CALLS} calls");
    let count = count.expect("the count").to_scalar::<f32>();
    assert_eq!(count.expect("a number"), ALL as f32);
}

#[test]
fn untyped_on_one_device() {
    let _turn = turn();
    scalar_loop(&cpu::client(1));
}

/// There every launch is noted for the next collective one.
#[test]
fn untyped_beside_a_program_with_collectives() {
    let _turn = turn();
    let client = cpu::client(4);
    let _summed = compiled(&client, &program(1, false, Some(4)), 4);
    scalar_loop(&client);
}

/// A scope has room for a few buffers, and for more it makes some.
#[test]
fn lent_to_a_scope() {
    let _turn = turn();
    let client = cpu::client(1);
    let device = cpu::device(&client, 0);
    let values = HostVec::from_slice(&ROW);
    let lend = |count: usize| {
        allocations(|| {
            client.scope(|scope| {
                for _ in 0..count {
                    let lent = scope.borrow(&device, &values, &[ROW.len()]).expect("room");
                    assert!(lent.is_zero_copy());
                }
            });
        })
    };
    assert_eq!(lend(4), 0, "allocations in {CALLS} scopes");
    assert!(lend(5) > 0, "what is counted here?");
}

/// A box for the callback that frees it, and the list itself.
#[test]
fn given_and_released() {
    let _turn = turn();
    let client = cpu::client(1);
    let device = cpu::device(&client, 0);
    let made = allocations(|| {
        let values = HostVec::from_slice(&ROW);
        let given = Buffer::from_host_vec(&device, values, &[ROW.len()]);
        assert!(given.expect("room").is_zero_copy());
    });
    assert_eq!(made, 2 * CALLS, "allocations in {CALLS} calls");
}

/// The list of the buffers is made once, with room for all.
#[test]
fn a_tree_to_a_device() {
    let _turn = turn();
    let client = cpu::client(1);
    let device = cpu::device(&client, 0);
    let leaves = (0..100).map(|_| HostArray::borrowed(&ROW, &[ROW.len()]).expect("an array"));
    let host: HostTree<'_, [Buffer; 100]> = HostTree::new(leaves).expect("a tree");
    let made = allocations(|| drop(host.to_device(&device).expect("room")));
    assert_eq!(made, CALLS, "allocations in {CALLS} calls");
}

#[test]
fn copied_and_viewed() {
    let _turn = turn();
    let client = cpu::client(1);
    let device = cpu::device(&client, 0);
    let made = allocations(|| {
        let copied = Buffer::from_host(&device, &ROW, &[ROW.len()]).expect("room");
        assert_eq!(copied.view::<f32>().expect("a view")[..], ROW);
    });
    assert_eq!(made, 0, "allocations in {CALLS} calls");
}
