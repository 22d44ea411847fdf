//! Waiting for the first of several events.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::{Error, Result};
use crate::event::Event;

/// Blocks until one of the events has fired, well or not, and gives its position; the first
/// position where several have. How it went is for the event to say: [`Event::wait`] returns
/// at once then.
///
/// ```
/// # fn main() -> xla::Result<()> {
/// use xla::Buffer;
///
/// let client = xla::Client::cpu()?;
/// let device = client.device(0)?;
/// let (first, first_read) = Buffer::from_host_async(&device, vec![1f32; 1000], &[1000])?;
/// let (second, second_read) = Buffer::from_host_async(&device, vec![2f32; 10], &[10])?;
/// // Whichever memory is free first could be filled again.
/// let position = xla::wait_any(&[&first_read, &second_read])?;
/// assert!([&first_read, &second_read][position].is_ready()?);
/// # assert_eq!(first.to_scalar::<f32>().is_err(), second.to_scalar::<f32>().is_err());
/// # Ok(())
/// # }
/// ```
///
/// Futures need none of this: an [`Event`] is one, so any `select` takes it.
///
/// # Errors
/// There are no events; the plugin can't tell whether one has fired.
pub fn wait_any(events: &[&Event]) -> Result<usize> {
    match wait(events, None)? {
        Some(position) => Ok(position),
        None => unreachable!("without a deadline there is no end but an event"),
    }
}

/// As [`wait_any`], for `timeout` at the most: `None` when no event has fired until then.
///
/// # Errors
/// As [`wait_any`].
pub fn wait_any_timeout(events: &[&Event], timeout: Duration) -> Result<Option<usize>> {
    // A deadline further away than the clock counts is none.
    match Instant::now().checked_add(timeout) {
        Some(deadline) => wait(events, Some(deadline)),
        None => wait(events, None),
    }
}

fn wait(events: &[&Event], deadline: Option<Instant>) -> Result<Option<usize>> {
    if events.is_empty() {
        return Err(Error::invalid("there is no event to be waited for"));
    }
    for (position, event) in events.iter().enumerate() {
        if event.is_ready()? {
            return Ok(Some(position));
        }
    }
    // While the thread ends it may be gone.
    let bell = BELL.try_with(Arc::clone).unwrap_or_default();
    let waker = Waker::from(Arc::clone(&bell));
    loop {
        bell.hush();
        for (position, event) in events.iter().enumerate() {
            if event.poll_fired(&mut Context::from_waker(&waker))? {
                return Ok(Some(position));
            }
        }
        if !bell.wait(deadline) {
            return Ok(None);
        }
    }
}

thread_local! {
    // One a thread, so that events that are waited for again and again know it already.
    static BELL: Arc<Bell> = Arc::new(Bell::default());
}

/// Rings when an event has fired. It may ring for one that an earlier wait was about.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn hush(&self) {
        *self.rung.lock() = false;
    }

    /// Whether it rang before the deadline.
    fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut rung = self.rung.lock();
        while !*rung {
            match deadline {
                None => self.changed.wait(&mut rung),
                Some(deadline) => {
                    if self.changed.wait_until(&mut rung, deadline).timed_out() {
                        return *rung;
                    }
                }
            }
        }
        true
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rung.lock() = true;
        self.changed.notify_one();
    }
}
