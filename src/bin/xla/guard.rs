//! Plugins run in a process of their own: one that dies takes no answer with it, and one that
//! prints spoils none.
//!
//! The process is this program again, with the same words. It inherits stdin, stderr and the
//! terminal's signals. What the command prints is kept here until the process has said that it
//! is all, so stdout has all of it or nothing. It costs two milliseconds, and the memory of the
//! text.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::at_work::{Done, IDLE};
use crate::frames::{Decoder, Kind, Piece};
use crate::report::{self, Death, Failure};
use crate::worker;

/// After a worker has ended, its pipe can stay open where something that it started lives on.
/// What the worker itself has said comes at once, but on a busy machine.
const LINGER: Duration = Duration::from_secs(10);

/// So many pieces of what plugins print wait for a reader of stderr before they are held up.
const QUEUE: usize = 256;

/// So much longer than its deadline a worker may take that is at work.
const LONGEST: Duration = Duration::from_secs(60);

/// A worker that was started.
pub(crate) struct Guarded {
    child: Child,
    said: mpsc::Receiver<Said>,
}

/// What a worker said up to its end.
#[derive(Default)]
struct Said {
    doing: String,
    text: Vec<u8>,
    code: Option<u8>,
}

/// How a worker ended.
pub(crate) enum Ended {
    /// It said all, and with which exit code.
    Well(Vec<u8>, u8),
    Died(Death),
    /// It was ended here, since it took too long.
    Late,
}

/// Runs this command in a worker, and prints what it printed.
pub(crate) fn run(words: &[OsString], as_json: bool) -> ExitCode {
    let guarded = match Guarded::start(words, Stdio::inherit(), Stdio::inherit(), true) {
        Ok(guarded) => guarded,
        Err(failure) => return failure.show(as_json),
    };
    match guarded.end(None) {
        Ok(Ended::Well(text, code)) => report::print_bytes(&text, ExitCode::from(code)),
        Ok(Ended::Died(death)) => Failure::died(death).show(as_json),
        Ok(Ended::Late) => Failure::refused("the command took too long").show(as_json),
        Err(failure) => failure.show(as_json),
    }
}

impl Guarded {
    /// Starts a worker with these words. With `passes_on`, what plugins print to stdout goes to
    /// stderr; else it goes nowhere.
    pub(crate) fn start(
        words: &[OsString],
        stdin: Stdio,
        stderr: Stdio,
        passes_on: bool,
    ) -> Result<Guarded, Failure> {
        let own = env::current_exe().map_err(|error| {
            Failure::refused(format!("finding this program's own file: {error}"))
        })?;
        let mark = mark();
        let child = Command::new(&own)
            .args(words)
            .env(worker::VARIABLE, &mark)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn();
        let mut child = child
            .map_err(|error| Failure::refused(format!("starting {}: {error}", own.display())))?;
        let (sender, said) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            thread::spawn(move || listen(out, &mark, passes_on, &sender));
        }
        Ok(Guarded { child, said })
    }

    /// Waits until the worker has ended, or ends it at the deadline: then or later, once it isn't
    /// at work any more.
    pub(crate) fn end(mut self, deadline: Option<Instant>) -> Result<Ended, Failure> {
        let status = match deadline {
            None => self.child.wait(),
            Some(deadline) => match wait_until(&mut self.child, deadline) {
                Ok(None) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Ok(Ended::Late);
                }
                Ok(Some(status)) => Ok(status),
                Err(error) => Err(error),
            },
        };
        let status =
            status.map_err(|error| Failure::refused(format!("waiting for the worker: {error}")))?;
        let mut all = Said::default();
        let until = Instant::now() + LINGER;
        let left = || until.saturating_duration_since(Instant::now());
        while let Ok(said) = self.said.recv_timeout(left()) {
            all.add(said);
        }
        Ok(match all.code {
            Some(code) => Ended::Well(all.text, code),
            None => Ended::Died(death(status, all.doing)),
        })
    }
}

impl Said {
    fn add(&mut self, said: Said) {
        if !said.doing.is_empty() {
            self.doing = said.doing;
        }
        self.text.extend(said.text);
        self.code = said.code.or(self.code);
    }
}

/// Nobody else writes it: it differs from worker to worker, and names this process.
fn mark() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_nanos();
    format!("\u{1}xla {} {now:x}\u{2}", std::process::id())
}

fn listen(mut out: ChildStdout, mark: &str, passes_on: bool, sender: &mpsc::Sender<Said>) {
    let mut decoder = Decoder::new(mark);
    let noise = passes_on.then(|| pass_on(sender.clone()));
    let pass_on = |bytes| {
        if let Some(noise) = &noise {
            // Where stderr is closed, nobody wants it.
            let _ = noise.send(bytes);
        }
    };
    let mut bytes = vec![0; 1 << 16];
    loop {
        let pieces = match out.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
            Ok(count) => decoder.push(&bytes[..count]),
        };
        let mut said = Said::default();
        for piece in pieces {
            match piece {
                Piece::Foreign(bytes) => pass_on(bytes),
                Piece::Frame(Kind::Output, bytes) => said.text.extend(bytes),
                Piece::Frame(Kind::Doing, bytes) => {
                    said.doing = String::from_utf8_lossy(&bytes).into_owned();
                }
                Piece::Frame(Kind::End, bytes) => said.code = bytes.first().copied(),
            }
        }
        if sender.send(said).is_err() {
            return;
        }
    }
    pass_on(decoder.rest());
}

/// Passes on to stderr what it is sent, on a thread of its own: where nobody reads there, the
/// answer is heard all the same. Keeps `until_all_is` so long.
fn pass_on(until_all_is: mpsc::Sender<Said>) -> mpsc::SyncSender<Vec<u8>> {
    let (sender, noise) = mpsc::sync_channel::<Vec<u8>>(QUEUE);
    thread::spawn(move || {
        let mut noise = noise.iter();
        while noise
            .next()
            .is_some_and(|bytes| io::stderr().write_all(&bytes).is_ok())
        {}
        drop(until_all_is);
    });
    sender
}

fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let mut before = Done::default();
    let mut at_work = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let done = Done::by(child.id());
        let now = Instant::now();
        if done.is_more_than(&before) {
            at_work = now;
        }
        before = done;
        if now >= deadline && (now >= at_work + IDLE || now >= deadline + LONGEST) {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn death(status: ExitStatus, doing: String) -> Death {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    Death {
        signal,
        exit_code: status.code(),
        doing,
    }
}
