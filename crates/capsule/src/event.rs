//! What an application asks of a GPU: the events of a capsule.
//!
//! Events stand in the order in which their effects are visible; streams have been put in order by the recorder. A new kind
//! of event changes the major version of the format, because a reader that skipped it would repeat different work.

use serde::{Deserialize, Serialize};

use crate::{BlobId, Digest, ModuleId, Region};

/// One step of the recorded work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A module becomes resident; its variables get their initial values at the addresses in
    /// [`crate::RecordedModule::globals`].
    Load {
        /// Which one.
        module: ModuleId,
    },
    /// Memory is set aside.
    Alloc {
        /// Its first byte.
        address: u64,
        /// Its size.
        bytes: u64,
        /// By which allocator.
        kind: AllocKind,
    },
    /// Memory is given back.
    Free {
        /// The address that [`Event::Alloc`] named.
        address: u64,
    },
    /// Bytes of the host arrive on the device.
    CopyIn {
        /// Where they go.
        to: Region,
        /// The bytes, packed row after row; exactly as many as `to` has.
        data: BlobId,
    },
    /// Bytes of the device reach the host.
    CopyOut {
        /// Where they are read.
        from: Region,
        /// The digest of the bytes as recorded, packed row after row.
        digest: Digest,
        /// The bytes themselves, where the recorder kept them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<BlobId>,
    },
    /// Bytes move on the device: the packed rows of `from`, all read first, become the packed rows of `to`.
    CopyWithin {
        /// Where they go.
        to: Region,
        /// Where they are read; as many bytes as `to`.
        from: Region,
    },
    /// Memory is set to a repeated value.
    Fill {
        /// What is set; each row is a whole number of values.
        to: Region,
        /// The value, in the low `width` bytes, little-endian; the rest is zero.
        value: u32,
        /// Bytes per value: 1, 2 or 4.
        width: u8,
    },
    /// A kernel runs.
    Launch(Launch),
    /// The host waits until everything before has happened.
    Synchronize,
}

/// The kinds of events, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// [`Event::Load`]
    Load,
    /// [`Event::Alloc`]
    Alloc,
    /// [`Event::Free`]
    Free,
    /// [`Event::CopyIn`]
    CopyIn,
    /// [`Event::CopyOut`]
    CopyOut,
    /// [`Event::CopyWithin`]
    CopyWithin,
    /// [`Event::Fill`]
    Fill,
    /// [`Event::Launch`]
    Launch,
    /// [`Event::Synchronize`]
    Synchronize,
}

impl EventKind {
    /// Every kind; the place of each is its number.
    pub const ALL: [Self; 9] = [
        Self::Load,
        Self::Alloc,
        Self::Free,
        Self::CopyIn,
        Self::CopyOut,
        Self::CopyWithin,
        Self::Fill,
        Self::Launch,
        Self::Synchronize,
    ];

    /// What people call it; "a" may stand before it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "module load",
            Self::Alloc => "memory allocation",
            Self::Free => "memory release",
            Self::CopyIn => "copy to the device",
            Self::CopyOut => "copy to the host",
            Self::CopyWithin => "copy within the device",
            Self::Fill => "fill",
            Self::Launch => "kernel launch",
            Self::Synchronize => "synchronisation",
        }
    }
}

impl Event {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Load { .. } => EventKind::Load,
            Self::Alloc { .. } => EventKind::Alloc,
            Self::Free { .. } => EventKind::Free,
            Self::CopyIn { .. } => EventKind::CopyIn,
            Self::CopyOut { .. } => EventKind::CopyOut,
            Self::CopyWithin { .. } => EventKind::CopyWithin,
            Self::Fill { .. } => EventKind::Fill,
            Self::Launch(_) => EventKind::Launch,
            Self::Synchronize => EventKind::Synchronize,
        }
    }

    /// The device memory that it reads for the host or to move it. What a kernel reads is for its execution to tell.
    #[must_use]
    pub fn reads(&self) -> Option<&Region> {
        match self {
            Self::CopyOut { from, .. } | Self::CopyWithin { from, .. } => Some(from),
            Self::Load { .. }
            | Self::Alloc { .. }
            | Self::Free { .. }
            | Self::CopyIn { .. }
            | Self::Fill { .. }
            | Self::Launch(_)
            | Self::Synchronize => None,
        }
    }

    /// The device memory that it writes, after it has read. What a kernel writes is for its execution to tell, and a
    /// module's variables, which a load writes, stand with the module.
    #[must_use]
    pub fn writes(&self) -> Option<&Region> {
        match self {
            Self::CopyIn { to, .. } | Self::CopyWithin { to, .. } | Self::Fill { to, .. } => Some(to),
            Self::Load { .. }
            | Self::Alloc { .. }
            | Self::Free { .. }
            | Self::CopyOut { .. }
            | Self::Launch(_)
            | Self::Synchronize => None,
        }
    }
}

/// Which allocator an allocation came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllocKind {
    /// Device memory (`cudaMalloc` and its pitched kin).
    Device,
    /// Managed memory, visible to host and device (`cudaMallocManaged`).
    Managed,
    /// Pinned host memory that kernels can reach (`cudaMallocHost`, `cudaHostRegister`).
    Pinned,
    /// Stream-ordered memory from a pool (`cudaMallocAsync`).
    Pool,
}

/// One launch of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The module that defines the kernel; loaded by an earlier event.
    pub module: ModuleId,
    /// The entry's name in the PTX (mangled, as it stands there).
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The arguments, packed as the kernel's `.param` layout has them.
    #[serde(with = "crate::hex")]
    pub params: Vec<u8>,
    /// Whether all blocks must be resident at once, for grid-wide barriers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
}

impl Launch {
    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        product(self.grid)
    }

    /// Threads of one block.
    pub fn threads_per_block(&self) -> u64 {
        product(self.block)
    }

    /// Threads of the whole grid, or `u64::MAX` if there are more than that.
    pub fn threads(&self) -> u64 {
        self.blocks().saturating_mul(self.threads_per_block())
    }
}

/// The product of three extents, saturating: a launch that was not validated may hold anything.
fn product(extents: [u32; 3]) -> u64 {
    extents.into_iter().fold(1, |product: u64, extent| product.saturating_mul(u64::from(extent)))
}
