//! What a machine has done, told when something goes wrong.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Lines of what was done in a case, and numbers of what was done in all of them.
///
/// With the variable `XLA_PJRT_MACHINE_TRACE` every line goes to standard error before what it says is
/// done, for what ends the process. What hangs is ended, with the lines.
pub struct Diary {
    book: Arc<Mutex<Book>>,
    trace: bool,
    // Dropped, it ends the watch.
    _watch: Sender<()>,
}

#[derive(Default)]
struct Book {
    lines: Vec<String>,
    /// Lines that there were in all.
    progress: usize,
    tally: BTreeMap<&'static str, usize>,
}

/// Much more than any step takes.
const PATIENCE: Duration = Duration::from_secs(120);

impl Default for Diary {
    fn default() -> Diary {
        Diary::new()
    }
}

impl Diary {
    /// An empty one.
    pub fn new() -> Diary {
        let book = Arc::new(Mutex::new(Book::default()));
        let (watch, end) = mpsc::channel();
        let watched = Arc::clone(&book);
        thread::spawn(move || {
            let mut seen = 0;
            while end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let book = lock(&watched);
                if book.progress == seen {
                    let lines = book.lines.join("\n");
                    let _ = writeln!(std::io::stderr(), "a step hangs, the last of\n{lines}");
                    std::process::abort();
                }
                seen = book.progress;
            }
        });
        Diary {
            book,
            trace: std::env::var_os("XLA_PJRT_MACHINE_TRACE").is_some(),
            _watch: watch,
        }
    }

    /// Begins a new case.
    pub fn begin(&self) {
        lock(&self.book).lines.clear();
        self.note("-- a case".to_owned());
    }

    /// Notes what is about to be done, or what came of it.
    pub fn note(&self, line: String) {
        if self.trace {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        let mut book = lock(&self.book);
        book.progress += 1;
        book.lines.push(line);
    }

    /// Counts something.
    pub fn count(&self, what: &'static str) {
        *lock(&self.book).tally.entry(what).or_insert(0) += 1;
    }

    /// The numbers of all that was counted, in all cases.
    pub fn tally(&self) -> BTreeMap<&'static str, usize> {
        lock(&self.book).tally.clone()
    }

    /// The lines of this case.
    pub fn lines(&self) -> String {
        lock(&self.book).lines.join("\n")
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    // Whoever panicked has left whole lines.
    book.lock().unwrap_or_else(PoisonError::into_inner)
}
