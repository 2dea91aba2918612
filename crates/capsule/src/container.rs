//! Where the bytes of a capsule file are: in a file kept open, or in memory. Read at any offset, from any thread.

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Origin, Problem};

/// The bytes of a whole capsule file: bundled with `include_bytes!`, or shared.
#[derive(Debug, Clone)]
pub enum CapsuleBytes {
    /// Bytes of the program itself.
    Static(&'static [u8]),
    /// Bytes on the heap.
    Shared(Arc<[u8]>),
}

/// The bytes of a capsule file, wherever they are.
pub(crate) struct Container {
    origin: Origin,
    bytes: u64,
    storage: Storage,
}

enum Storage {
    /// The lock covers moving to an offset and reading there.
    File(Mutex<File>),
    Memory(CapsuleBytes),
}

impl Container {
    /// Opens a file, and nothing but a file: a pipe would hang and a device never end.
    pub(crate) fn open(path: &Path) -> Result<Self, Problem> {
        let io = |doing| move |error| Problem::Io { doing, error };
        let metadata = fs::metadata(path).map_err(io("looking for the file"))?;
        if metadata.is_dir() {
            return Err(Problem::NotAFile { found: "a directory" });
        }
        if !metadata.is_file() {
            return Err(Problem::NotAFile { found: "a device, pipe or socket" });
        }
        let file = File::open(path).map_err(io("opening the file"))?;
        let bytes = file.metadata().map_err(io("measuring the file"))?.len();
        Ok(Self { origin: Origin::File(path.to_owned()), bytes, storage: Storage::File(Mutex::new(file)) })
    }

    pub(crate) fn memory(content: CapsuleBytes) -> Self {
        let bytes = content.as_slice().len() as u64;
        Self { origin: Origin::Memory, bytes, storage: Storage::Memory(content) }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// How many bytes there were when it was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` bytes from `offset`. The caller has checked the range against [`Container::bytes`].
    pub(crate) fn read(&self, offset: u64, bytes: u64) -> Result<Cow<'_, [u8]>, Problem> {
        let result = match &self.storage {
            Storage::File(file) => read_file(file, offset, bytes).map(Cow::Owned),
            Storage::Memory(content) => Ok(Cow::Borrowed(slice(content.as_slice(), offset, bytes).unwrap_or_default())),
        };
        let content = result.map_err(|error| Problem::Io { doing: "reading the file", error })?;
        if content.len() as u64 == bytes {
            return Ok(content);
        }
        let error = std::io::ErrorKind::UnexpectedEof.into();
        Err(Problem::Io { doing: "reading the file, which became shorter since it was opened", error })
    }
}

/// Up to `bytes` bytes; memory grows with what is there.
fn read_file(file: &Mutex<File>, offset: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    let mut content = Vec::new();
    file.by_ref().take(bytes).read_to_end(&mut content)?;
    Ok(content)
}

fn slice(content: &[u8], offset: u64, bytes: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(bytes)?).ok()?;
    content.get(start..end)
}

impl CapsuleBytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Container({}, {} bytes)", self.origin, self.bytes)
    }
}

impl From<&'static [u8]> for CapsuleBytes {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Static(bytes)
    }
}

impl<const N: usize> From<&'static [u8; N]> for CapsuleBytes {
    fn from(bytes: &'static [u8; N]) -> Self {
        Self::Static(bytes)
    }
}

impl From<Arc<[u8]>> for CapsuleBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Shared(bytes)
    }
}

impl From<Vec<u8>> for CapsuleBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}
