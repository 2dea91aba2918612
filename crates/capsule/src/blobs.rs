//! The large contents of a capsule: stored once however often they occur, read and checked when first asked for.
//!
//! Memory: contents that were added are held; contents of a file are kept after their first use while all that are kept come to
//! at most [`KEPT_BYTES`], and read again each time beyond that. A caller that needs a large one often keeps the `Arc`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::container::Container;
use crate::format::Placed;
use crate::{Action, BlobId, Digest, Error, Origin, Problem, pack};

/// How much of a file's contents is kept in memory once it was read.
const KEPT_BYTES: u64 = 512 << 20;

/// A store of contents, addressed by [`BlobId`]. Cloning it shares the contents.
#[derive(Clone, Default)]
pub struct Blobs {
    blobs: Vec<Blob>,
    /// The first blob of each content.
    by_digest: BTreeMap<Digest, BlobId>,
}

#[derive(Clone)]
struct Blob {
    bytes: u64,
    digest: Digest,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Held(Arc<[u8]>),
    Stored(Arc<Stored>),
}

/// A blob in a file.
struct Stored {
    file: Arc<OpenFile>,
    placed: Placed,
    kept: OnceLock<Arc<[u8]>>,
}

/// The file that the blobs of one capsule are in.
struct OpenFile {
    container: Container,
    /// How many bytes may still be kept.
    room: AtomicU64,
}

impl Blobs {
    /// Adds a content, or finds it again if it is there already.
    ///
    /// # Panics
    ///
    /// At the four-billionth different content, which no memory holds.
    pub fn add(&mut self, bytes: impl AsRef<[u8]>) -> BlobId {
        let bytes = bytes.as_ref();
        let digest = Digest::of(bytes);
        if let Some(&known) = self.by_digest.get(&digest) {
            return known;
        }
        self.push(Blob { bytes: bytes.len() as u64, digest, content: Content::Held(bytes.into()) })
    }

    /// The content of a blob. What comes from a file is checked against its digest when it is read.
    ///
    /// # Errors
    ///
    /// There is no such blob; or its part of the file cannot be read or is damaged.
    pub fn get(&self, id: BlobId) -> Result<Arc<[u8]>, Error> {
        let Some(blob) = self.blob(id) else {
            let (expected, found) = (format!("one of {} blobs", self.len()), id.to_string());
            let problem = Problem::Invalid { place: "blobs".to_owned(), expected, found };
            return Err(Error::new(Action::Read, &Origin::Memory, problem));
        };
        match &blob.content {
            Content::Held(bytes) => Ok(Arc::clone(bytes)),
            Content::Stored(stored) => stored.get(),
        }
    }

    /// The size of a blob in bytes, without reading it.
    pub fn bytes(&self, id: BlobId) -> Option<u64> {
        self.blob(id).map(|blob| blob.bytes)
    }

    /// The digest of a blob's content, without reading it.
    pub fn digest(&self, id: BlobId) -> Option<Digest> {
        self.blob(id).map(|blob| blob.digest)
    }

    /// How many blobs there are.
    pub fn len(&self) -> usize {
        self.blobs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.blobs.is_empty()
    }

    /// All of them, in order.
    pub fn ids(&self) -> impl Iterator<Item = BlobId> + use<> {
        (0..self.blobs.len() as u32).map(BlobId)
    }

    /// Size and digest of each, in order.
    pub(crate) fn identities(&self) -> impl Iterator<Item = (u64, Digest)> + '_ {
        self.blobs.iter().map(|blob| (blob.bytes, blob.digest))
    }

    /// The blobs at these places of a file.
    pub(crate) fn stored(container: Container, parts: &[Placed]) -> Self {
        Self::stored_keeping(KEPT_BYTES, container, parts)
    }

    fn stored_keeping(kept_bytes: u64, container: Container, parts: &[Placed]) -> Self {
        let room = AtomicU64::new(kept_bytes);
        let file = Arc::new(OpenFile { container, room });
        let mut blobs = Self::default();
        for &placed in parts {
            let stored = Stored { file: Arc::clone(&file), placed, kept: OnceLock::new() };
            let content = Content::Stored(Arc::new(stored));
            blobs.push(Blob { bytes: placed.entry.raw_bytes, digest: placed.entry.raw, content });
        }
        blobs
    }

    fn push(&mut self, blob: Blob) -> BlobId {
        let id = BlobId(u32::try_from(self.blobs.len()).expect("a table of 2^32 blobs fits no memory"));
        self.by_digest.entry(blob.digest).or_insert(id);
        self.blobs.push(blob);
        id
    }

    fn blob(&self, id: BlobId) -> Option<&Blob> {
        self.blobs.get(usize::try_from(id.0).ok()?)
    }
}

impl Stored {
    fn get(&self) -> Result<Arc<[u8]>, Error> {
        if let Some(kept) = self.kept.get() {
            return Ok(Arc::clone(kept));
        }
        let container = &self.file.container;
        let raw = pack::read(container, &self.placed);
        let bytes: Arc<[u8]> = raw.map_err(|problem| Error::new(Action::Read, container.origin(), problem))?.into();
        if self.file.take_room(self.placed.entry.raw_bytes) && self.kept.set(Arc::clone(&bytes)).is_err() {
            // Another thread read it at the same time and keeps it.
            self.file.room.fetch_add(self.placed.entry.raw_bytes, Ordering::Relaxed);
        }
        Ok(bytes)
    }
}

impl OpenFile {
    /// Takes room for `bytes` bytes, if there is any.
    fn take_room(&self, bytes: u64) -> bool {
        let less = |room: u64| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

impl PartialEq for Blobs {
    fn eq(&self, other: &Self) -> bool {
        self.identities().eq(other.identities())
    }
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.identities()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;

    #[test]
    fn contents_are_kept_while_there_is_room() {
        let contents: [&[u8]; 3] = [b"hello", b"larger than the room", b"you"];
        let (mut placed, mut file) = (Vec::new(), Vec::new());
        for (part, raw) in (0..).map(Part).zip(contents) {
            let (entry, packed) = pack::pack(raw, Digest::of(raw)).unwrap();
            placed.push(Placed { part, offset: file.len() as u64, entry });
            file.extend(packed);
        }
        let blobs = Blobs::stored_keeping(8, Container::memory(file.into()), &placed);
        let is_kept = |id| Arc::ptr_eq(&blobs.get(id).unwrap(), &blobs.get(id).unwrap());
        let kept: Vec<bool> = blobs.ids().map(is_kept).collect();
        assert_eq!(kept, [true, false, true]);
        let read: Vec<_> = blobs.ids().map(|id| blobs.get(id).unwrap()).collect();
        assert_eq!(read.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>(), contents);
    }
}
