//! Memories: global memory in pages that are shared until written, and the windows of the generic address space.

pub mod access;
pub mod allocations;
pub mod bytes;
pub mod deferred;
pub mod far;
pub mod global;
pub mod held;
pub mod history;
pub mod host;
pub mod owners;
pub mod page;
pub mod profile;
mod shortage;
mod slot;
pub mod strewn;
pub mod trace;
pub mod window;

pub use access::AccessError;
pub use allocations::{Allocations, PlaceError};
pub use bytes::{ByteSet, each_line};
pub use global::GlobalMemory;
pub use held::Held;
pub use history::History;
pub use host::HostMemoryError;
pub use owners::Owners;
pub use page::{Page, Pages, Version, address_of, page_of};
pub(crate) use profile::LOCAL_TOP;
pub use profile::{AddressProfile, Stretch};
pub use strewn::Strewn;
pub use trace::{AccessTrace, ByteRun, Touch};
pub use window::PAGE;
