//! Reading a buffer while other work goes on.

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::device_shape::DeviceShape;
use crate::element::Element;
use crate::error::{Code, Error, Result};
use crate::event::{Tasks, Waiter};
use crate::pjrt::read::Read;

/// A copy of a buffer to the host, under way: `.await` it or [`wait`](HostRead::wait).
///
/// It delivers the values from when it was started, whatever becomes of the buffer,
/// and owns what it needs: it may be dropped at any time.
pub struct HostRead<T: Element> {
    /// `None` once the values have been handed out.
    read: Option<Read<T::Stored>>,
    waiter: Waiter,
    form: Arc<DeviceShape>,
    /// Which of the elements that are read are wanted; all if that isn't said.
    range: Option<Range<usize>>,
}

// Nothing in it is pinned: the destination lies on the heap.
impl<T: Element> Unpin for HostRead<T> {}

impl<T: Element> HostRead<T> {
    pub(crate) fn new(read: Read<T::Stored>, form: Arc<DeviceShape>) -> HostRead<T> {
        HostRead {
            read: Some(read),
            waiter: Waiter::default(),
            form,
            range: None,
        }
    }

    /// The read of some of the elements, by a copy of all.
    pub(crate) fn of_range(self, range: Range<usize>) -> HostRead<T> {
        HostRead {
            range: Some(range),
            ..self
        }
    }

    /// Whether the values are there, or have failed to come.
    ///
    /// # Errors
    /// The plugin can't tell.
    pub fn is_ready(&self) -> Result<bool> {
        match self.read.as_ref().and_then(Read::event) {
            Some(event) => event.is_ready(),
            None => Ok(true),
        }
    }

    /// Blocks until the values are there and gives them, row-major.
    ///
    /// # Errors
    /// The run that was to compute them failed; a byte of a `pred` is neither 0 nor 1;
    /// they were handed out before, by polling.
    pub fn wait(mut self) -> Result<Vec<T>> {
        self.take()
    }

    /// Blocks until the values are there, or for `timeout`: whether they are.
    ///
    /// # Errors
    /// The run that was to compute them failed.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<bool> {
        match self.read.as_ref().and_then(Read::event) {
            Some(event) => self.waiter.wait_timeout(event, timeout),
            None => Ok(true),
        }
    }

    fn take(&mut self) -> Result<Vec<T>> {
        let read = self.read.take().ok_or_else(|| {
            Error::new(
                Code::FailedPrecondition,
                "the values of this read were handed out before",
            )
        })?;
        let mut values = self.form.to_row_major(read.finish()?);
        if let Some(range) = self.range.take() {
            values.truncate(range.end);
            values.drain(..range.start);
        }
        T::from_stored(values)
    }
}

impl<T: Element> Future for HostRead<T> {
    type Output = Result<Vec<T>>;

    /// # Panics
    /// Never; polled again after it was ready, it gives an error.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(event) = this.read.as_ref().and_then(Read::event) {
            if this.waiter.poll(event, context, Tasks::One).is_pending() {
                return Poll::Pending;
            }
        }
        // Over, well or not: `take` gives the values or the error.
        Poll::Ready(this.take())
    }
}

impl<T: Element> fmt::Debug for HostRead<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostRead({})", self.form)
    }
}
