//! Uploads in pieces, with progress.

mod covered;
mod make;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use covered::Covered;
use make::make;

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Code, Error, Result};
use crate::event::Event;
use crate::memory::Place;
use crate::pjrt::host::Plain;
use crate::pjrt::host_values::HostValues;
use crate::pjrt::transfer::{At, Refused, Transfer};
use crate::shape::Shape;
use crate::signature::plural;
use crate::tree::{Source, Structure, Tree};
use crate::upload;

/// Buffers that are made first and filled with chunks as those come, from a file or a network
/// (`PJRT_Client_CreateBuffersForAsyncHostToDevice`): nothing needs a copy of the whole in host
/// memory, and the progress is known.
///
/// The buffers are there from the beginning, pending: they can go to programs, which wait for
/// them. What waits for one before the upload has sent everything waits for the upload, so
/// don't on the thread that is to send. When the upload is dropped before that, or an error
/// ends it, the buffers fail: whoever waits gets [`Code::Cancelled`]. (One that is leaked with
/// [`std::mem::forget`] leaves them pending for ever.)
///
/// Where the plugin can't do that, making one says [`Code::Unimplemented`], and so it does for
/// types narrower than a byte and for devices that pad their memory, where chunks would have
/// to lie as the device wants them. Then put the values together on the host and use
/// [`Buffer::from_bytes`] or [`HostTree::to_device`](crate::HostTree::to_device).
///
/// ```
/// use xla::{ChunkedUpload, Client, Shape};
///
/// # fn main() -> xla::Result<()> {
/// let client = Client::cpu()?;
/// let device = client.device(0)?;
/// let shapes = [Shape::of::<f32>(&[4])?, Shape::of::<i32>(&[2])?];
/// let (mut upload, buffers) = ChunkedUpload::new(&device, &shapes)?;
/// upload.send(0, 2, vec![3f32, 4.])?; // by position, in any order
/// upload.send(0, 0, vec![1f32, 2.])?;
/// assert_eq!(upload.progress(0).sent, 16);
/// assert_eq!(upload.total_progress().total, 24);
/// upload.append_bytes(1, 7i32.to_ne_bytes().to_vec())?; // or one after another
/// upload.append_bytes(1, 8i32.to_ne_bytes().to_vec())?;
/// upload.finish()?;
/// assert_eq!(buffers[0].to_host::<f32>()?, [1., 2., 3., 4.]);
/// assert_eq!(buffers[1].to_host::<i32>()?, [7, 8]);
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping the upload fails its buffers"]
pub struct ChunkedUpload {
    transfer: Transfer,
    leaves: Vec<Leaf>,
    structure: Structure,
}

/// How far the upload of a buffer is, or of several, in bytes of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What was handed to the plugin.
    pub sent: usize,
    /// What has arrived: its chunks are no longer in host memory.
    pub done: usize,
    /// What there is to be sent.
    pub total: usize,
}

impl Progress {
    /// Whether everything has arrived.
    pub fn is_complete(&self) -> bool {
        self.done == self.total
    }
}

struct Leaf {
    shape: Shape,
    sent: Covered,
    done: Arc<AtomicUsize>,
    /// The plugin refused a chunk of it.
    broken: Option<Error>,
    /// That chunk may have been taken, as the last, behind which an error ends the process
    /// (fact 52).
    lost: bool,
}

impl ChunkedUpload {
    /// Makes buffers of these shapes at `place`, a `&Device` or a `&Memory`, and the upload that
    /// fills them.
    ///
    /// # Errors
    /// The plugin can't ([`Code::Unimplemented`], see above); a shape is a token's; the memory is
    /// used up; the device is another process's.
    pub fn new(place: impl Into<Place>, shapes: &[Shape]) -> Result<(ChunkedUpload, Vec<Buffer>)> {
        let leaf = |index| (crate::tree::Key::Index(index), Structure::leaf());
        let structure = Structure::node("Vec", (0..shapes.len()).map(leaf).collect());
        make(&place.into(), shapes, structure)
    }

    /// Makes a tree of buffers, whose leaves have these shapes, in order, and the upload that
    /// fills them.
    ///
    /// # Errors
    /// There are more or fewer shapes than the structure has leaves; the structure is another
    /// type's; as [`ChunkedUpload::new`].
    pub fn of_tree<T: Tree>(
        place: impl Into<Place>,
        structure: &Structure,
        shapes: &[Shape],
    ) -> Result<(ChunkedUpload, T)> {
        if shapes.len() != structure.leaf_count() {
            return Err(Error::invalid(format!(
                "{} given for a tree of {}: {structure:?}",
                plural(shapes.len(), "shape"),
                structure.leaf_count()
            )));
        }
        let (upload, buffers) = make(&place.into(), shapes, structure.clone())?;
        let tree = Source::new(&mut buffers.into_iter(), structure).finish()?;
        Ok((upload, tree))
    }

    /// Sends elements to where they belong in the leaf with this number: from its element
    /// `first` on, in row-major order. Gives the event that fires when the chunk has arrived
    /// (`PJRT_AsyncHostToDeviceTransferManager_TransferData`). The chunk is kept until then and
    /// dropped; the event may be.
    ///
    /// # Errors
    /// `T` is not the leaf's type; the chunk reaches out of the leaf, or overlaps with what was
    /// sent; the plugin refuses: then the leaf can't be completed any more.
    pub fn send<T: Element + Plain>(
        &mut self,
        leaf: usize,
        first: usize,
        chunk: impl Into<HostValues<T>>,
    ) -> Result<Event> {
        let shape = &self.leaf(leaf)?.shape;
        let outcome = shape.check_elements(T::TYPE, shape.element_count());
        outcome.map_err(|error| self.at(leaf, error))?;
        let offset = first.saturating_mul(size_of::<T>());
        self.send_owned(leaf, offset, chunk.into())
    }

    /// As [`ChunkedUpload::send`], of bytes as [`Buffer::from_bytes`] takes them, `offset` bytes
    /// behind the start of the leaf. Chunks may end inside an element.
    ///
    /// # Errors
    /// As [`ChunkedUpload::send`]; a byte of a `pred` is neither 0 nor 1.
    pub fn send_bytes(
        &mut self,
        leaf: usize,
        offset: usize,
        chunk: impl Into<HostValues<u8>>,
    ) -> Result<Event> {
        self.send_owned(leaf, offset, chunk.into())
    }

    /// As [`ChunkedUpload::send_bytes`], behind what was sent: at the first byte that is missing.
    ///
    /// # Errors
    /// As [`ChunkedUpload::send_bytes`].
    pub fn append_bytes(&mut self, leaf: usize, chunk: impl Into<HostValues<u8>>) -> Result<Event> {
        let offset = self.leaf(leaf)?.sent.first_gap();
        self.send_owned(leaf, offset, chunk.into())
    }

    /// As [`ChunkedUpload::send_bytes`], of borrowed bytes: waits until they have arrived. For
    /// a reader with one piece of memory that it fills again and again.
    ///
    /// # Errors
    /// As [`ChunkedUpload::send_bytes`]; the transfer failed.
    pub fn copy_bytes(&mut self, leaf: usize, offset: usize, chunk: &[u8]) -> Result<()> {
        let at = self.check(leaf, offset, chunk)?;
        let sent = self.transfer.send_borrowed(at, chunk);
        let arrived = self.note(leaf, at, chunk.len(), sent)?;
        arrived.map_err(|error| self.at(leaf, error))?;
        let done = &self.leaves[leaf].done;
        done.fetch_add(chunk.len(), Ordering::Relaxed);
        Ok(())
    }

    fn send_owned<T: Plain>(
        &mut self,
        leaf: usize,
        offset: usize,
        chunk: HostValues<T>,
    ) -> Result<Event> {
        let bytes = crate::pjrt::host::bytes(&chunk);
        let size = bytes.len();
        let at = self.check(leaf, offset, bytes)?;
        let done = Arc::clone(&self.leaves[leaf].done);
        let sent = self.transfer.send(at, chunk, move || {
            done.fetch_add(size, Ordering::Relaxed);
        });
        let done = self.note(leaf, at, size, sent)?;
        Ok(Event::new(done))
    }

    /// Where a chunk goes, if it may.
    fn check(&self, leaf: usize, offset: usize, chunk: &[u8]) -> Result<At> {
        let wanted = self.leaf(leaf)?;
        let outcome = wanted.check(offset, chunk);
        outcome.map_err(|error| self.at(leaf, error))?;
        Ok(At {
            buffer: leaf,
            offset,
            last: wanted.sent.missing() == chunk.len(),
        })
    }

    /// Notes what became of a chunk that was allowed.
    fn note<V>(&mut self, leaf: usize, at: At, size: usize, sent: Result<V, Refused>) -> Result<V> {
        match sent {
            Ok(sent) => {
                self.leaves[leaf].sent.add(at.offset..at.offset + size);
                Ok(sent)
            }
            Err(Refused { error, taken }) => {
                self.leaves[leaf].lost = taken;
                let error = self.at(leaf, error);
                self.leaves[leaf].broken = Some(error.clone());
                Err(error)
            }
        }
    }

    fn leaf(&self, leaf: usize) -> Result<&Leaf> {
        self.leaves.get(leaf).ok_or_else(|| {
            Error::new(
                Code::OutOfRange,
                format!(
                    "leaf {leaf} was asked for, but the upload has {}",
                    self.leaves.len()
                ),
            )
        })
    }

    /// A failure at a leaf, with its path.
    fn at(&self, leaf: usize, error: Error) -> Error {
        error.context(self.structure.describe_leaf(leaf))
    }

    /// How many buffers there are to be filled.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// How far a leaf is.
    ///
    /// # Panics
    /// There is no such leaf.
    pub fn progress(&self, leaf: usize) -> Progress {
        self.leaves[leaf].progress()
    }

    /// How far all leaves together are.
    pub fn total_progress(&self) -> Progress {
        let all = self.leaves.iter().map(Leaf::progress);
        all.fold(Progress::default(), |sum, leaf| Progress {
            sent: sum.sent + leaf.sent,
            done: sum.done + leaf.done,
            total: sum.total + leaf.total,
        })
    }

    /// The bytes of a leaf that were not sent yet.
    ///
    /// # Panics
    /// There is no such leaf.
    pub fn missing(&self, leaf: usize) -> Vec<Range<usize>> {
        self.leaves[leaf].sent.gaps()
    }

    /// Ends the upload. The last chunks may still be under way.
    ///
    /// # Errors
    /// Something was not sent: names the first leaf and its gaps. All buffers that aren't
    /// complete fail then.
    pub fn finish(self) -> Result<()> {
        for (index, leaf) in self.leaves.iter().enumerate() {
            if let Some(error) = leaf.failure() {
                return Err(self.at(index, error));
            }
        }
        Ok(())
    }
}

impl Leaf {
    fn progress(&self) -> Progress {
        let total = self.shape.byte_size();
        Progress {
            sent: total - self.sent.missing(),
            done: self.done.load(Ordering::Relaxed),
            total,
        }
    }

    /// Whether a chunk may be sent to an offset.
    fn check(&self, offset: usize, chunk: &[u8]) -> Result<()> {
        if let Some(error) = &self.broken {
            return Err(error.clone().context("an earlier chunk was refused"));
        }
        let total = self.shape.byte_size();
        let end = match offset.checked_add(chunk.len()) {
            Some(end) if end <= total => end,
            _ => {
                return Err(Error::new(
                    Code::OutOfRange,
                    format!(
                        "a chunk of {} at offset {offset} reaches out of {}, which takes {total}",
                        plural(chunk.len(), "byte"),
                        self.shape
                    ),
                ))
            }
        };
        if chunk.is_empty() {
            return Err(Error::invalid("an empty chunk was sent"));
        }
        if let Some(known) = self.sent.overlap(offset..end) {
            return Err(Error::new(
                Code::AlreadyExists,
                format!("bytes {offset}..{end} overlap with {known:?}, which were sent before"),
            ));
        }
        upload::check_pred(self.shape.element_type(), chunk)
    }

    /// Why the leaf isn't complete.
    fn failure(&self) -> Option<Error> {
        if let Some(error) = &self.broken {
            return Some(error.clone());
        }
        let gaps = self.sent.gaps();
        let first = gaps.first()?;
        let more = match gaps.len() {
            1 => String::new(),
            count => format!(" and {} more", plural(count - 1, "gap")),
        };
        Some(Error::new(
            Code::FailedPrecondition,
            format!(
                "bytes {first:?}{more} of {} ({} bytes) were never sent",
                self.shape,
                self.shape.byte_size()
            ),
        ))
    }
}

impl Drop for ChunkedUpload {
    fn drop(&mut self) {
        let mut paths = Vec::new();
        for (index, leaf) in self.leaves.iter().enumerate() {
            if leaf.sent.missing() > 0 && !leaf.lost {
                if paths.is_empty() {
                    paths = self.structure.paths("");
                }
                let Progress { sent, total, .. } = leaf.progress();
                let path = paths.get(index).map_or("", String::as_str);
                let message = format!(
                    "`{path}`: the upload was given up when {sent} of {total} bytes were sent"
                );
                // Where the plugin can't even do that, the end of the manager fails it.
                let _ = self.transfer.fail(index, &message);
            }
        }
    }
}

impl fmt::Debug for ChunkedUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { sent, done, total } = self.total_progress();
        write!(
            f,
            "ChunkedUpload({}: {done} bytes done, {sent} sent, {total} in all)",
            plural(self.leaves.len(), "buffer")
        )
    }
}
