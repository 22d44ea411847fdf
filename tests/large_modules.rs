//! Large HLO modules take their size in memory, and hardly more: they are read once, and
//! nothing of them is copied or decoded that nobody asked for.

mod cpu;
mod hlo;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hlo::large::{self, STATE};
use xla::{Buffer, CompileOptions, Donation, Program, ProgramFormat, Signature};

/// Knows how much Rust code has, and the most that it had. A plugin has an allocator of its own.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(held, Ordering::Relaxed);
}

fn less(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator, with numbers kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    // A move takes both for a moment.
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        // SAFETY: as the caller promises.
        let moved = unsafe { System.realloc(memory, layout, size) };
        less(layout.size());
        moved
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        less(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// One test at a time: the count is the process's.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a call gave, and the most memory that it had beyond what was there before.
fn peak<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let given = call();
    (given, MOST.load(Ordering::Relaxed) - before)
}

/// A file that goes with the test, and its size.
struct File(PathBuf, usize);

impl File {
    fn new(name: &str, content: Vec<u8>) -> File {
        let path = std::env::temp_dir().join(format!("xla-{}-{name}", std::process::id()));
        fs::write(&path, &content).expect("room");
        File(path, content.len())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn memory_is_counted() {
    let _turn = turn();
    let (kept, most) = peak(|| {
        drop(std::hint::black_box(vec![1u8; 3 << 20]));
        vec![1u8; 1 << 20]
    });
    // The harness has threads of its own.
    assert!(most.abs_diff(3 << 20) < 100_000, "{most}");
    assert_eq!(kept.len(), 1 << 20);
}

/// What both modules say of themselves; `x` has this type.
#[track_caller]
fn check(signature: &Signature, x: &str) {
    assert_eq!(signature.name(), "large");
    let (inputs, outputs) = (signature.inputs(), signature.outputs());
    assert_eq!((inputs.len(), outputs.len()), (STATE + 1, STATE + 1));
    assert_eq!(inputs[0].name(), Some("x"));
    assert_eq!(inputs[0].shape().to_string(), x);
    assert_eq!(inputs[0].donation(), Donation::None);
    assert_eq!(outputs[0].shape().to_string(), x);
    assert_eq!(outputs[0].returned_input(), None);
    let last = Donation::Into {
        output: STATE,
        required: false,
    };
    assert_eq!(inputs[STATE].donation(), last);
    assert_eq!(inputs[STATE].name(), Some("state['layer_999']['kernel']"));
    assert_eq!(outputs[STATE].returned_input(), Some(STATE));
    assert_eq!(signature.donated_bytes(), STATE * 16);
    // `x` could be donated as well.
    let advice = signature.donation_advice();
    let candidates: Vec<_> = advice.candidates().iter().map(|it| it.input).collect();
    assert_eq!(candidates, [0]);
}

/// Inspects a module of at least 100 MB from its file.
#[track_caller]
fn inspected(name: &str, module: Vec<u8>, x: &str) {
    let file = File::new(name, module);
    assert!(file.1 > 100_000_000, "{} bytes", file.1);
    let (program, most) = peak(|| {
        let program = Program::from_file(&file.0).expect("a module");
        let signature = program.signature().expect("it is read");
        check(&signature, x);
        assert!(!signature.is_compiled());
        // A copy of the program is the same memory.
        program.clone()
    });
    assert_eq!(program.format(), ProgramFormat::Hlo);
    assert_eq!(program.as_bytes().len(), file.1);
    // A quarter more, where two times as much would do.
    assert!(most < file.1 / 4 * 5, "{most} bytes for {}", file.1);
}

#[test]
fn a_constant_of_100_megabytes_is_held_once() {
    let _turn = turn();
    let elements = 25_000_000;
    let x = format!("f32[{elements}]");
    inspected("constant", large::with_constant(elements), &x);
}

#[test]
fn two_hundred_thousand_instructions_are_held_as_they_lie() {
    let _turn = turn();
    inspected("instructions", large::with_instructions(200_000), "f32[]");
}

/// Smaller ones, of which compilers say the same.
#[test]
fn such_modules_compile_and_run() {
    let _turn = turn();
    let client = cpu::client(1);
    let device = cpu::device(&client, 0);
    let (count, elements) = (300, 5);
    let ramp: Vec<f32> = (0..elements).map(|element| element as f32 + 2.).collect();
    for (module, x, dims, wanted) in [
        (large::with_constant(elements), "f32[5]", &[5][..], ramp),
        (
            large::with_instructions(count),
            "f32[]",
            &[],
            vec![count as f32 + 3.],
        ),
    ] {
        let program = Program::from_bytes(module).expect("a module");
        check(&program.signature().expect("it is read"), x);
        let compiled = client.compile(&program, &CompileOptions::new());
        let compiled = compiled.expect("it compiles");
        check(compiled.signature(), x);
        let x = vec![2f32; wanted.len()];
        let mut arguments = vec![Buffer::from_host(&device, &x, dims).expect("room")];
        let rows = (0..STATE).map(|index| cpu::vector(&device, &[index as f32; 4]));
        arguments.extend(rows);
        let outputs = compiled.run(arguments).expect("a run");
        assert_eq!(cpu::values(&outputs[0]), wanted);
        assert_eq!(cpu::values(&outputs[STATE]), [999.; 4]);
    }
}

/// On the way to the plugin there is one copy, and one of what it gives back: all of a constant, or
/// nothing of one that isn't used.
#[test]
fn compiling_takes_no_copies() {
    let _turn = turn();
    let client = cpu::client(1);
    for (module, x, quarters) in [
        (large::with_constant(4_000_000), "f32[4000000]", 9),
        (large::with_unused_constant(4_000_000), "f32[]", 5),
    ] {
        let file = File::new("compiled", module);
        let (compiled, most) = peak(|| {
            let program = Program::from_file(&file.0).expect("a module");
            let compiled = client.compile(&program, &CompileOptions::new());
            compiled.expect("it compiles")
        });
        check(compiled.signature(), x);
        assert!(most < file.1 / 4 * quarters, "{most} bytes for {}", file.1);
    }
}
