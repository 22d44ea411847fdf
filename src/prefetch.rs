//! Making the next batches while the devices are at work.

use std::any::Any;
use std::fmt;
use std::iter::FusedIterator;
use std::panic::resume_unwind;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::error::{Code, Error, Result};

/// An iterator that is run ahead on a thread of its own: the next batches are read, cut and
/// uploaded while the devices have a step to do. Bounded: it never makes more than it was
/// told ahead of what has been taken.
///
/// Items come in their order, failures among them. A panic of the iterator goes on where
/// the next item is asked for. Dropping it ends the thread, after the item that is being made.
///
/// ```
/// use xla::{Buffer, ClientOptions, HostArray, PerDevice, Plugin, Prefetch};
///
/// # fn main() -> xla::Result<()> {
/// let client = Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(2))?;
/// let devices = client.devices();
/// let batches = (0..4).map(move |number| {
///     let rows = HostArray::new(&[number, number + 1], &[2])?;
///     PerDevice::<Buffer>::shard(&devices, &rows.into(), 0)
/// });
/// // At most two batches are on the devices before they are asked for.
/// for (number, batch) in Prefetch::new(2, batches)?.enumerate() {
///     assert_eq!(batch?[1].to_host::<i32>()?, [number as i32 + 1]);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Prefetch<'scope, T> {
    /// `None` once the items are at their end.
    items: Option<Receiver<T>>,
    worker: Option<Worker<'scope>>,
}

enum Worker<'scope> {
    Free(JoinHandle<()>),
    Scoped(ScopedJoinHandle<'scope, ()>),
}

impl<T: Send + 'static> Prefetch<'static, T> {
    /// Runs an iterator at most `ahead` items ahead, but at least one and no more than 4,096.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new<I>(ahead: usize, items: I) -> Result<Prefetch<'static, T>>
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        let (sender, receiver) = channel(ahead);
        let items = items.into_iter();
        let worker = named().spawn(move || send_all(items, &sender));
        Prefetch::of(receiver, worker.map(Worker::Free))
    }
}

impl<'scope, T: Send + 'scope> Prefetch<'scope, T> {
    /// As [`Prefetch::new`], for an iterator that borrows: images in host memory, a program
    /// that knows how its input is split. What the loop gives away and gets back, as a state, is
    /// moved into the scope and is its result:
    ///
    /// ```
    /// use xla::{Buffer, Client, CompileOptions, Function, Give, Prefetch, Program};
    ///
    /// # fn main() -> xla::Result<()> {
    /// # let client = Client::cpu()?;
    /// # let device = client.device(0)?;
    /// # let program = Program::from_text(
    /// #     "func.func @main(%s: tensor<f32> {tf.aliasing_output = 0 : i32}, %x: tensor<f32>) -> tensor<f32> {
    /// #        %y = stablehlo.add %s, %x : tensor<f32>
    /// #        return %y : tensor<f32>
    /// #      }",
    /// # )?;
    /// # let step: Function<(Give<Buffer>, Give<Buffer>), Buffer> =
    /// #     client.compile(&program, &CompileOptions::new())?.typed()?;
    /// # let state = Buffer::scalar(&device, 0f32)?;
    /// let rows = [1f32, 2., 3.];
    /// let state = std::thread::scope(|scope| {
    ///     let mut state = state;
    ///     let batches = rows.iter().map(|row| Buffer::scalar(&device, *row));
    ///     for batch in Prefetch::scoped(scope, 2, batches)? {
    ///         state = step.call((state, batch?))?;
    ///     }
    ///     Ok::<_, xla::Error>(state)
    /// })?;
    /// assert_eq!(state.to_scalar::<f32>()?, 6.);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn scoped<'env, I>(
        scope: &'scope Scope<'scope, 'env>,
        ahead: usize,
        items: I,
    ) -> Result<Prefetch<'scope, T>>
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'scope,
    {
        let (sender, receiver) = channel(ahead);
        let items = items.into_iter();
        let worker = named().spawn_scoped(scope, move || send_all(items, &sender));
        Prefetch::of(receiver, worker.map(Worker::Scoped))
    }
}

impl<'scope, T> Prefetch<'scope, T> {
    fn of(
        receiver: Receiver<T>,
        worker: std::io::Result<Worker<'scope>>,
    ) -> Result<Prefetch<'scope, T>> {
        let worker = worker.map_err(|error| {
            Error::new(
                Code::ResourceExhausted,
                format!("no thread could be had to prefetch on: {error}"),
            )
        })?;
        Ok(Prefetch {
            items: Some(receiver),
            worker: Some(worker),
        })
    }

    /// Waits for the thread, which has nobody to send to any more; its panic.
    fn end(&mut self) -> std::result::Result<(), Box<dyn Any + Send>> {
        self.items = None;
        match self.worker.take() {
            Some(Worker::Free(thread)) => thread.join(),
            Some(Worker::Scoped(thread)) => thread.join(),
            None => Ok(()),
        }
    }
}

/// The most that is made ahead: room for all of it is taken at the start.
const MOST: usize = 4096;

/// One item is in the thread's hands when the channel is full.
fn channel<T>(ahead: usize) -> (SyncSender<T>, Receiver<T>) {
    sync_channel(ahead.clamp(1, MOST) - 1)
}

fn named() -> Builder {
    Builder::new().name("xla-prefetch".to_owned())
}

fn send_all<T>(items: impl Iterator<Item = T>, sender: &SyncSender<T>) {
    for item in items {
        if sender.send(item).is_err() {
            return;
        }
    }
}

impl<T> Iterator for Prefetch<'_, T> {
    type Item = T;

    /// # Panics
    /// The iterator panicked on its thread.
    fn next(&mut self) -> Option<T> {
        if let Ok(item) = self.items.as_ref()?.recv() {
            return Some(item);
        }
        if let Err(panic) = self.end() {
            resume_unwind(panic);
        }
        None
    }
}

impl<T> FusedIterator for Prefetch<'_, T> {}

impl<T> Drop for Prefetch<'_, T> {
    fn drop(&mut self) {
        // A panic of items that nobody asked for is nobody's.
        let _ = self.end();
    }
}

impl<T> fmt::Debug for Prefetch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.items.is_some() {
            "open"
        } else {
            "at its end"
        };
        write!(f, "Prefetch({state})")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_stays_within_its_bound() {
        for ahead in [0, 1, 2, 5] {
            let made = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&made);
            let items = (0..20).inspect(move |_| {
                counter.fetch_add(1, Ordering::SeqCst);
            });
            let mut taken = 0;
            for item in Prefetch::new(ahead, items).expect("a thread") {
                assert_eq!(item, taken);
                taken += 1;
                // It has the time to make too many.
                sleep(Duration::from_millis(3));
                let most = taken + ahead.max(1);
                assert!(made.load(Ordering::SeqCst) <= most, "{taken} of {ahead}");
            }
            assert_eq!(taken, 20);
        }
    }

    #[test]
    fn no_bound_is_a_bound() {
        let items = Prefetch::new(usize::MAX, 0..3).expect("a thread");
        assert_eq!(items.collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn it_runs_ahead() {
        let made = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&made);
        let items = (0..20).inspect(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let mut prefetch = Prefetch::new(3, items).expect("a thread");
        assert_eq!(prefetch.next(), Some(0));
        while made.load(Ordering::SeqCst) < 4 {
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn dropping_ends_the_thread() {
        let items = Arc::new(());
        let held = Arc::clone(&items);
        let mut endless =
            Prefetch::new(2, (0..).map(move |n| (n, Arc::clone(&held)))).expect("one");
        assert_eq!(endless.next().map(|(n, _)| n), Some(0));
        drop(endless);
        assert_eq!(Arc::strong_count(&items), 1);
    }

    #[test]
    fn a_panic_goes_on_where_items_are_asked_for() {
        let items = (0..3).map(|n| if n == 2 { panic!("no third") } else { n });
        let mut prefetch = Prefetch::new(8, items).expect("a thread");
        assert_eq!((prefetch.next(), prefetch.next()), (Some(0), Some(1)));
        let next = std::panic::AssertUnwindSafe(|| prefetch.next());
        let panic = std::panic::catch_unwind(next).expect_err("it panicked");
        assert_eq!(panic.downcast_ref(), Some(&"no third"));
        assert_eq!(prefetch.next(), None);
    }
}
