//! The process in which a plugin is loaded: it tells the one that started it what it does, and
//! at the end what the command prints.

use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use crate::frames::{self, Kind};

/// Where a worker finds the mark of its frames.
pub(crate) const VARIABLE: &str = "XLA_PJRT_COMMAND_WORKER";

/// What a worker sends through.
struct Channel {
    mark: String,
    out: File,
    /// The file of the program that the command is about.
    program: String,
    /// The plugin in use, as it is put behind what is done.
    plugin: String,
}

/// Only a worker has one.
static CHANNEL: Mutex<Option<Channel>> = Mutex::new(None);

/// Makes this process a worker where it was started as one.
pub(crate) fn begin() -> io::Result<bool> {
    let Ok(mark) = env::var(VARIABLE) else {
        return Ok(false);
    };
    // What a plugin starts is no worker. No other thread runs yet.
    env::remove_var(VARIABLE);
    // Neither is what finds the variable in its environment by chance.
    if !is_of_parent(&mark) {
        return Ok(false);
    }
    let channel = Channel {
        mark,
        out: own_stdout()?,
        program: String::new(),
        plugin: String::new(),
    };
    leave_with_parent(&channel.mark);
    *lock() = Some(channel);
    Ok(true)
}

/// A mark names the process that made it.
fn is_of_parent(mark: &str) -> bool {
    #[cfg(unix)]
    {
        let parent = std::os::unix::process::parent_id().to_string();
        mark.split(' ').nth(1) == Some(parent.as_str())
    }
    #[cfg(not(unix))]
    {
        !mark.is_empty()
    }
}

/// Past the buffer, which would take frames apart.
fn own_stdout() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
    }
}

/// A worker ends when the process that started it, which made its mark, was ended: that can't
/// pass signals on. It may have been ended by now.
fn leave_with_parent(mark: &str) {
    #[cfg(unix)]
    {
        use std::{process, thread, time::Duration};
        let mark = mark.to_owned();
        thread::spawn(move || {
            while is_of_parent(&mark) {
                thread::sleep(Duration::from_millis(200));
            }
            process::exit(1);
        });
    }
    #[cfg(not(unix))]
    let _ = mark;
}

fn lock() -> std::sync::MutexGuard<'static, Option<Channel>> {
    // One whose thread panicked has nothing half done.
    CHANNEL.lock().unwrap_or_else(|error| error.into_inner())
}

/// Says what is done from now on, to follow the word "while": should the process die, this is
/// what it died of.
pub(crate) fn doing(what: impl fmt::Display) {
    if let Some(channel) = &mut *lock() {
        let text = format!("{what}{}", channel.plugin);
        // Without a reader there is nobody to tell.
        let _ = channel.send(Kind::Doing, text.as_bytes());
    }
}

/// As [`doing`], of something that is done with the program: `compiling`.
pub(crate) fn doing_program(what: &str) {
    let program = lock().as_ref().map(|channel| channel.program.clone());
    doing(format_args!("{what} {}", program.unwrap_or_default()));
}

/// Names the program that the command is about.
pub(crate) fn with_program(path: &Path) {
    if let Some(channel) = &mut *lock() {
        channel.program = path.display().to_string();
    }
}

/// Names the plugin in all that is done from now on.
pub(crate) fn with_plugin(plugin: &xla::Plugin) {
    if let (Some(channel), Some(path)) = (&mut *lock(), plugin.path()) {
        let (major, minor) = plugin.api_version();
        channel.plugin = format!(", with the plugin {} (API {major}.{minor})", path.display());
    }
}

/// Sends what the command prints, and that this is all. `None` in a process that is no worker.
pub(crate) fn end(text: &str, code: u8) -> Option<ExitCode> {
    let mut channel = lock();
    let channel = channel.as_mut()?;
    let sent = channel
        .send(Kind::Output, text.as_bytes())
        .and_then(|()| channel.send(Kind::End, &[code]));
    Some(match sent {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    })
}

impl Channel {
    fn send(&mut self, kind: Kind, content: &[u8]) -> io::Result<()> {
        let mut frames = frames::encode(&self.mark, kind, content);
        frames.try_for_each(|frame| self.out.write_all(&frame))
    }
}
