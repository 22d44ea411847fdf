//! Whether a process that gives no answer is at work, or waits for something.
//!
//! On a machine with much else to do, or with a plugin yet to be read from its disk, an answer
//! comes late and is right all the same.

use std::time::Duration;

/// Who did nothing for so long waits for what may never come.
pub(crate) const IDLE: Duration = Duration::from_millis(300);

/// What a process has done, to be compared with later.
#[derive(Default, PartialEq)]
pub(crate) struct Done {
    /// Processor time, of all its threads and of its own processes that have ended.
    ticks: u64,
    /// Whether a thread runs, waits for a processor, or for a disk.
    is_busy: bool,
}

impl Done {
    /// Whether it did something since, or is about to.
    pub(crate) fn is_more_than(&self, before: &Done) -> bool {
        self.is_busy || self.ticks > before.ticks
    }

    /// Up to now. Nothing where that can't be seen.
    #[cfg(target_os = "linux")]
    pub(crate) fn by(process: u32) -> Done {
        let mut done = Done::default();
        let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let stat = std::fs::read_to_string(task.path().join("stat"));
            done.add(&stat.unwrap_or_default());
        }
        done
    }

    /// Up to now. Nothing where that can't be seen.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn by(_: u32) -> Done {
        Done::default()
    }

    /// A thread, as the system describes it.
    #[cfg(any(target_os = "linux", test))]
    fn add(&mut self, stat: &str) {
        // Behind its name, in which there may be anything.
        let Some((_, fields)) = stat.rsplit_once(") ") else {
            return;
        };
        let mut fields = fields.split(' ');
        self.is_busy |= matches!(fields.next(), Some("R" | "D"));
        // Its own time in the program and in the system, and that of processes it has waited for.
        let times = fields.skip(10).take(4);
        self.ticks += times.filter_map(|it| it.parse::<u64>().ok()).sum::<u64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field by field as in proc(5).
    #[test]
    fn a_thread_is_read() {
        let stat = |state: &str| {
            format!("12 (a) R (b) {state} 1 12 12 0 -1 4194304 5 6 7 8 100 20 3 4 20 0 1 0 9 10")
        };
        let mut waits = Done::default();
        waits.add(&stat("S"));
        assert_eq!((waits.ticks, waits.is_busy), (127, false));
        for state in ["R", "D"] {
            let mut works = Done::default();
            works.add(&stat(state));
            assert!(works.is_more_than(&waits), "{state}");
        }
        assert!(!waits.is_more_than(&waits));
        assert!(waits.is_more_than(&Done::default()));
        let mut neither = Done::default();
        neither.add("");
        assert!(neither == Done::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_works_is_told_from_who_waits() {
        use std::process::{Command, Stdio};
        use std::thread::sleep;
        for (script, works) in [("while :; do :; done", true), ("read line", false)] {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", script]).stdin(Stdio::piped());
            let mut shell = shell.spawn().expect("a shell");
            // It starts, which is work, and waits then: for as long as it takes.
            let mut before = Done::by(shell.id());
            let mut quiet = 0;
            for _ in 0..if works { 20 } else { 4000 } {
                sleep(Duration::from_millis(10));
                let now = Done::by(shell.id());
                quiet = match now.is_more_than(&before) {
                    true => 0,
                    false => quiet + 1,
                };
                before = now;
                if !works && quiet == 20 {
                    break;
                }
            }
            shell.kill().expect("ended");
            shell.wait().expect("ended");
            assert_eq!(quiet == 20, !works, "{script}: {quiet}");
        }
    }
}
