//! What micro-operations with more operands than rows need to know.

use ::lanes::registers::Slot;
use isa::op::matrix::{Fragment, Multiply, Tiles};
use isa::op::{AtomOp, Fetch, MbarrierOp, Reduction, Surface};
use isa::{Space, Type};

/// How a load or store moves data.
#[derive(Clone, Debug)]
pub struct AccessPlan {
    /// The state space.
    pub space: Space,
    /// Bytes of one element.
    pub bytes: u8,
    /// Whether a narrow element is extended with its sign.
    pub signed: bool,
    /// Row of the base address, of 32 or 64 bits; `None` for an absolute address.
    pub base: Option<Slot>,
    /// Whether the address is an offset into the frame of the function, in local memory.
    pub frame: bool,
    /// Added to the base.
    pub offset: i64,
    /// The registers written or read, in order; `None` drops the element.
    pub values: Vec<Option<Slot>>,
}

/// How an atomic access works.
#[derive(Clone, Debug)]
pub struct AtomicPlan {
    /// What is done.
    pub op: AtomOp,
    /// The type.
    pub ty: Type,
    /// Address and destinations as for a load.
    pub access: AccessPlan,
    /// Row of the operand of each element.
    pub operands: Vec<Slot>,
    /// Row of the second operand of `cas`.
    pub swap: Option<Slot>,
}

/// How a copy from global to shared memory works that may read less than it writes.
#[derive(Clone, Debug)]
pub struct CopyPlan {
    /// Where it reads.
    pub from: AccessPlan,
    /// Where it writes.
    pub to: AccessPlan,
    /// What it reads.
    pub fill: CopyFill,
}

/// How much a copy reads; zeros stand for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFill {
    /// As many bytes as this row of 32 bits says.
    Size(u16),
    /// Nothing where this predicate holds.
    Ignore(u16),
}

/// How an access to a barrier object works.
#[derive(Clone, Debug)]
pub struct MbarrierPlan {
    /// What is done.
    pub op: MbarrierOp,
    /// Address and destination.
    pub access: AccessPlan,
    /// A count, state or parity; a count of one where there is none.
    pub operand: Option<Slot>,
}

/// How an instruction on matrices works. Destinations that are `None` are dropped.
#[derive(Clone, Debug)]
pub enum MatrixPlan {
    /// `ldmatrix`
    LoadTiles {
        /// How many, and whether they are transposed.
        tiles: Tiles,
        /// Addresses of rows, and destinations.
        access: AccessPlan,
    },
    /// `stmatrix`
    StoreTiles {
        /// How many, and whether they are transposed.
        tiles: Tiles,
        /// Addresses of rows, and sources.
        access: AccessPlan,
    },
    /// `movmatrix`
    Transpose {
        /// Row of the source.
        from: u16,
        /// The destination.
        to: Slot,
    },
    /// `mma`
    Multiply {
        /// Extents and elements.
        it: Multiply,
        /// Destinations.
        d: Vec<Option<Slot>>,
        /// Rows of the left factor.
        a: Vec<Slot>,
        /// Rows of the right factor.
        b: Vec<Slot>,
        /// Rows of what is added.
        c: Vec<Slot>,
    },
    /// `wmma.load`
    LoadFragment {
        /// Which matrix, and how it lies in memory.
        it: Fragment,
        /// Address and destinations.
        access: AccessPlan,
        /// Row of the number of elements from one row or column to the next; without one they are dense.
        stride: Option<u16>,
    },
    /// `wmma.store`
    StoreFragment {
        /// Which matrix, and how it lies in memory.
        it: Fragment,
        /// Address and sources.
        access: AccessPlan,
        /// As for a load.
        stride: Option<u16>,
    },
}

/// What is done with a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureOp {
    /// `tex` and `tld4`
    Fetch(Fetch),
    /// `suld` and `sust`
    Surface(Surface),
}

/// How an access to a texture or surface works.
#[derive(Clone, Debug)]
pub struct TexturePlan {
    /// What is done.
    pub op: TextureOp,
    /// Row of the object, of 64 bits.
    pub object: u16,
    /// Rows of the coordinates as they are written, of 32 bits.
    pub coordinates: Vec<u16>,
    /// The registers written or read, in order; `None` drops the value.
    pub values: Vec<Option<Slot>>,
}

/// How a barrier works.
#[derive(Clone, Copy, Debug)]
pub struct BarrierPlan {
    /// Row with the barrier's number.
    pub number: u16,
    /// Row with the count of threads, if one is given.
    pub count: Option<u16>,
    /// Whether threads wait.
    pub wait: bool,
    /// The reduction and the row of its predicate.
    pub reduce: Option<(Reduction, u16)>,
}

/// How a call works: bytes move between the caller's call parameters and the callee's formal ones, by position.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// The callee, or the row with its address.
    pub target: CallTo,
    /// Where the arguments are in the caller's frame.
    pub arguments: Vec<FrameRange>,
    /// Where the results go in the caller's frame.
    pub results: Vec<FrameRange>,
}

/// Whom a call calls.
#[derive(Clone, Copy, Debug)]
pub enum CallTo {
    /// A function of this program, by its index in [`Program::functions`](crate::Program::functions).
    Function(u32),
    /// The function whose address is in this row.
    Row(u16),
    /// The machine itself.
    System(SystemCall),
}

/// What the machine does for functions that have no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemCall {
    /// `vprintf`
    Print,
    /// `__assertfail`, which ends the launch.
    Assert,
    /// `malloc`
    Allocate {
        /// Where the heap lies.
        heap: HeapPlace,
    },
    /// `free`
    Free {
        /// Where the heap lies.
        heap: HeapPlace,
    },
}

/// Where a heap lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapPlace {
    /// Where it starts.
    pub base: u64,
    /// How large it is; nothing if the module has none.
    pub bytes: u64,
}

/// A range of bytes in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// Where it starts.
    pub offset: u32,
    /// Its bytes.
    pub bytes: u32,
}
