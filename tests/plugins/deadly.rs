//! A real plugin one of whose functions does what it should not.
//!
//! `tests/cli` compiles it. `DEADLY_PLUGIN` names the real one, `DEADLY_OFFSET` the function by
//! its place in the table, and `DEADLY_WAY` what it does: die in one of several ways, print, hang or take its time.

use std::ffi::{c_char, c_int, c_void, CString};
use std::io::Write;
use std::sync::{mpsc, OnceLock};
use std::time::{Duration, Instant};
use std::{env, thread};

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn raise(signal: c_int) -> c_int;
    fn atexit(function: extern "C" fn()) -> c_int;
}

const NOW: c_int = 2;
type Function = extern "C" fn(*mut c_void) -> *mut c_void;

/// The function that is replaced.
static REAL: OnceLock<Function> = OnceLock::new();

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

extern "C" fn last_words() {
    say("{\"noise\": \"at exit\"}\n");
}

extern "C" fn replaced(args: *mut c_void) -> *mut c_void {
    let way = env::var("DEADLY_WAY").expect("a way");
    match way.as_str() {
        "exit" => std::process::exit(3),
        "hang" => {
            say(&format!("hanging {}\n", std::process::id()));
            loop {
                thread::sleep(Duration::from_secs(1));
            }
        }
        "print" => {
            say("{\"noise\": \"before\"}\n");
            let (said, heard) = mpsc::channel();
            thread::spawn(move || loop {
                say("noise ");
                let _ = said.send(());
            });
            // However long the thread takes to begin.
            (0..2).for_each(|_| heard.recv().expect("it goes on"));
            drop(heard);
            unsafe { atexit(last_words) };
            REAL.get().expect("the real function")(args)
        }
        "chatter" => {
            // More than two pipes hold, and less than three.
            say(&"noise ".repeat(23_000));
            REAL.get().expect("the real function")(args)
        }
        "work" => {
            let (start, mut rounds) = (Instant::now(), 0u64);
            while start.elapsed() < Duration::from_secs(3) {
                rounds = std::hint::black_box(rounds + 1);
            }
            REAL.get().expect("the real function")(args)
        }
        // Rust takes a signal that no fault has raised for one to go on from.
        "11" => unsafe {
            (8 as *mut u8).write_volatile(1);
            panic!("nothing lies there");
        },
        signal => {
            unsafe { raise(signal.parse().expect("a signal")) };
            panic!("the signal ends the process");
        }
    }
}

/// # Panics
/// The real plugin can't be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const usize {
    let variable = |name| env::var(name).expect(name);
    let path = CString::new(variable("DEADLY_PLUGIN")).expect("a path");
    let place: usize = variable("DEADLY_OFFSET").parse().expect("an offset");
    // SAFETY: the library is a plugin, so it exports this function, and its table
    // begins with its size in bytes.
    let mut table = unsafe {
        let library = dlopen(path.as_ptr(), NOW);
        assert!(!library.is_null(), "the real plugin");
        let entry = dlsym(library, c"GetPjrtApi".as_ptr());
        assert!(!entry.is_null(), "its entry");
        let entry: extern "C" fn() -> *const usize = std::mem::transmute(entry);
        let real = entry();
        std::slice::from_raw_parts(real, *real / size_of::<usize>()).to_vec()
    };
    let slot = &mut table[place / size_of::<usize>()];
    // SAFETY: every slot is a function of this form.
    REAL.get_or_init(|| unsafe { std::mem::transmute::<usize, Function>(*slot) });
    *slot = replaced as usize;
    table.leak().as_ptr()
}
