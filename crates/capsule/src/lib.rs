//! A capsule: the GPU work of one application run, recorded as plain data.
//!
//! It holds everything that is needed to repeat the work without the application — modules, the ordered [`Event`]s
//! (allocations, copies with their bytes, launches with their arguments), which copies to the host are outputs, the source
//! files that line tables name — and where it came from. Nothing here executes anything.
//!
//! # Contract
//!
//! - A capsule that was read has been validated ([`Capsule::validate`] says what that means), so users need not check it again;
//!   one built in memory is validated when it is written.
//! - Bytes are untrusted: no file can cause a panic, an allocation out of proportion to what the file really holds, or
//!   content different from what was written. [`mod@format`] states the bounds.
//! - Large contents are [`Blobs`]: stored once however often they occur, read and checked when first asked for.
//! - Writing is deterministic and atomic: the same capsule gives the same file, and a write that fails leaves no trace.
//!
//! # Example
//!
//! ```
//! use capsule::{AllocKind, Capsule, Event, Region};
//!
//! let mut recorded = Capsule::new("example");
//! let input = recorded.blobs.add([1, 2, 3, 4]);
//! recorded.events.push(Event::Alloc { address: 0x7f00_0000_0000, bytes: 4, kind: AllocKind::Device });
//! recorded.events.push(Event::CopyIn { to: Region::linear(0x7f00_0000_0000, 4), data: input });
//!
//! let read = Capsule::from_bytes(recorded.to_bytes()?)?;
//! assert_eq!(read.digest(), recorded.digest());
//! assert_eq!(read.blobs.get(input)?[..], [1, 2, 3, 4]);
//! # Ok::<(), capsule::Error>(())
//! ```
//!
//! # Reading order
//!
//! [`Capsule`] and its neighbours in `model.rs` and `event.rs`, then `format.rs`, then `read.rs` and `write.rs`.

mod blobs;
mod bounds;
mod container;
mod digest;
mod element;
mod error;
mod event;
mod foreign;
pub mod format;
mod hardening;
pub mod hex;
mod id;
mod memory;
mod metric;
mod model;
mod pack;
mod query;
mod read;
mod region;
mod relocate;
mod replay;
mod validate;
mod write;

pub use blobs::Blobs;
pub use container::CapsuleBytes;
pub use digest::{Digest, Digester, UnreadableDigest};
pub use element::{ElementType, UnknownElementType};
pub use error::{Action, Error, FileSection, Origin, Problem};
pub use event::{AllocKind, Event, EventKind, Launch};
pub use foreign::Foreign;
pub use hardening::{HardenedFunction, Hardening, InstructionOrigin};
pub use id::{BlobId, ModuleId, Part};
pub use metric::{Metric, UnknownMetric};
pub use model::{
    Binary, BinaryKind, Capsule, CopyLine, Output, PlacedSymbol, Provenance, RecordedApplication, RecordedModule,
    SourceFile,
};
pub use query::{CapsuleSummary, CopiedOut, KernelUse, LaunchIndex};
pub use region::{Region, Rows};
pub use relocate::{AddressMap, MovedRange};
pub use replay::{Content, Position, Replayer, replay};
