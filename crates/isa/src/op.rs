//! What an instruction does: a line of the table of pure instructions, or one of the machine's own families
//! (memory, control flow, communication between threads).
//!
//! An [`Op`] carries the modifiers; the operands stand in [`Instruction`](crate::module::Instruction), and
//! [`Op::signature`] says which it takes. How an `Op` is spelled is in [`spelling`].

mod atom;
pub mod comparison;
mod copy;
pub mod extended;
pub mod families;
pub mod matrix;
mod mbarrier;
mod modifiers;
mod operand;
mod print;
mod signature;
pub mod spelling;
mod texture;

pub use atom::{Atom, AtomOp};
pub use comparison::{Combine, Comparison};
pub use copy::{CopyAsync, Fill};
pub use extended::{CarryOp, Extended};
pub use facts::{MemoryOrder, MemoryScope};
pub use matrix::Matrix;
pub use mbarrier::{Mbarrier, MbarrierOp};
pub use operand::{OperandKind, Signature, SourceOperand, SourceRole};
pub use texture::{Fetch, Geometry, Outside, Surface};

use crate::alu::{Alu, AluForm};
use crate::class::AluClass;
use crate::types::{Space, Type, words};
use facts::{FunctionId, Group, Pc};

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A pure instruction of the table.
    Alu(AluForm),
    /// `setp`: compare and write predicates: the result and its complement, or of a pair the result of each half.
    Setp(Comparison),
    /// `set`: compare and write all ones, of a floating-point type 1.0, or zero.
    Set(Comparison, Type),
    /// `lop3.and` and `lop3.or`: a logic function of three words, and whether the result is not zero, combined with a
    /// predicate.
    Lop3(Combine),
    /// `add.cc`, `addc`, `madc.hi.cc` and the like: arithmetic with the carry flag.
    Extended(Extended),
    /// `mov` of several registers into one, or of one into several.
    MovVector(Type),
    /// `ld`: load.
    Ld(LoadStore),
    /// `st`: store.
    St(LoadStore),
    /// `atom`: read, modify and write as one; the old value is the destination.
    Atom(Atom),
    /// `red`: as `atom`, without a destination.
    Red(Atom),
    /// `prefetch` and the like: no effect on results. The spelling as written.
    Prefetch(String),
    /// `createpolicy`: a cache policy, whose value changes no result. The spelling as written.
    CreatePolicy(String),
    /// `cp.async` and what waits for it.
    CopyAsync(CopyAsync),
    /// `mbarrier`: a barrier object in shared memory.
    Mbarrier(Mbarrier),
    /// `tex` and `tld4`: read a texture.
    Fetch(Fetch),
    /// `suld` and `sust`: read or write a surface.
    Surface(Surface),
    /// Matrices that the lanes of a warp hold together.
    Matrix(Matrix),
    /// `alloca`: local memory of a size that the thread chooses. The type is that of the address.
    Alloca(Type),
    /// `stacksave`: what `stackrestore` goes back to.
    StackSave(Type),
    /// `stackrestore`: gives back what `alloca` took since.
    StackRestore(Type),
    /// `mapa`: an address in the shared memory of a block of the cluster.
    Mapa(Cluster),
    /// `getctarank`: the block of the cluster whose shared memory holds an address.
    Getctarank(Cluster),
    /// `cvta`: between an address in a space and a generic one.
    Cvta {
        /// Whether the result is the address within the space.
        to: bool,
        /// The space.
        space: Space,
        /// The type of the address.
        ty: Type,
    },
    /// `isspacep`: whether a generic address lies in a space.
    Isspacep(Space),
    /// `shfl.sync`: read a register of another lane.
    Shfl(Shuffle),
    /// `vote.sync`
    Vote(Vote),
    /// `match.sync`
    Match {
        /// Whether all lanes must agree (`.all`), else each asks who agrees with it.
        all: bool,
        /// Type of the value compared.
        ty: Type,
    },
    /// `redux.sync`: a reduction over lanes.
    Redux(Reduction, Type),
    /// `activemask`
    Activemask,
    /// `elect.sync`: one lane of those that come.
    Elect,
    /// `bar` and `barrier`: all threads of the block, or a number of them.
    Barrier(Barrier),
    /// `bar.warp.sync`
    WarpSync,
    /// `membar`, `fence` and `griddepcontrol`: no effect, because memory operations take effect in order, and a
    /// launch ends before the next begins. The spelling as written.
    Fence(String),
    /// `bra`
    Bra {
        /// Where to.
        target: Pc,
        /// `.uni`: the writer promises that no warp diverges.
        uni: bool,
    },
    /// `brx.idx`: to an entry of a list.
    BrxIdx {
        /// The list.
        targets: Vec<Pc>,
        /// `.uni`
        uni: bool,
    },
    /// `call`
    Call(Call),
    /// `ret`
    Ret {
        /// `.uni`
        uni: bool,
    },
    /// `exit`
    Exit,
    /// `trap`
    Trap,
    /// `brkpt`: does nothing where no debugger listens.
    Brkpt,
    /// `nanosleep`: does nothing.
    Nanosleep,
    /// `pmevent` and the like: does nothing. The spelling as written.
    Event(String),
}

/// The modifiers of a load or store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadStore {
    /// `ldu`: the writer promises that the address is the same in all lanes.
    pub uniform: bool,
    /// The state space.
    pub space: Space,
    /// Type of one element.
    pub ty: Type,
    /// Number of elements: 1, 2, 4 or 8.
    pub vector: u8,
    /// Promise about order. `None`: not written, weak.
    pub order: Option<MemoryOrder>,
    /// Scope of a strong access.
    pub scope: Option<MemoryScope>,
    /// `.mmio`
    pub mmio: bool,
    /// Cache operators and eviction hints as written, in order, each with its dot: no effect on results.
    pub cache: String,
}

words! {
    /// Which lane `shfl` reads.
    Shuffle { Up = "up", Down = "down", Bfly = "bfly", Idx = "idx" }
}

words! {
    /// What `vote` asks.
    Vote { All = "all", Any = "any", Uni = "uni", Ballot = "ballot" }
}

words! {
    /// What `redux` and barrier reductions compute.
    Reduction {
        Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor", Popc = "popc",
    }
}

/// The modifiers of an instruction on addresses of a cluster's shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Whether the address is one of shared memory (`.shared::cluster`), and not a generic one.
    pub shared: bool,
    /// Type of the address.
    pub ty: Type,
}

/// The modifiers of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// What happens at it.
    pub mode: BarrierMode,
    /// Whether it is spelled `bar`, which is `barrier.aligned`.
    pub legacy: bool,
    /// `.cta` was written.
    pub cta: bool,
    /// `.aligned` was written (or is meant, by `bar`).
    pub aligned: bool,
}

/// What happens at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierMode {
    /// Wait for the others.
    Sync,
    /// Be counted, do not wait.
    Arrive,
    /// Wait, and combine a predicate of all threads.
    Reduce(Reduction),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Whom.
    pub target: CallTarget,
    /// `.uni`
    pub uni: bool,
    /// How many of the instruction's sources name return parameters; the arguments follow them, and for an
    /// indirect call the register with the address comes first of all.
    pub returns: u8,
}

/// Whom a call calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A function by name.
    Direct(FunctionId),
    /// The function whose address the first source holds; it has this prototype.
    Indirect {
        /// The label of the prototype or list of targets.
        prototype: String,
    },
}

impl Op {
    /// The group that faults in this instruction are counted by.
    #[must_use]
    pub fn group(&self) -> Group {
        match self {
            Self::Alu(form) => form.alu.class().group(),
            Self::Setp(_) | Self::Set(..) => Group::Compare,
            Self::Lop3(_) => Group::LogicShift,
            Self::Extended(extended) => extended.class().group(),
            Self::MovVector(_) => Group::Move,
            Self::Ld(access) => match access.space {
                Space::Generic => Group::LoadGeneric,
                Space::Global => Group::LoadGlobal,
                Space::Shared => Group::LoadShared,
                Space::Local => Group::LoadLocal,
                Space::Const => Group::LoadConst,
                Space::Param => Group::LoadParam,
            },
            Self::St(_) => Group::Store,
            Self::Atom(_) | Self::Red(_) | Self::Mbarrier(_) => Group::Atomic,
            Self::CopyAsync(_) => Group::Store,
            Self::Fetch(_) => Group::LoadGlobal,
            Self::Surface(surface) => {
                if surface.store {
                    Group::Store
                } else {
                    Group::LoadGlobal
                }
            }
            Self::Matrix(matrix) => matrix.group(),
            Self::CreatePolicy(_) => Group::Move,
            Self::Cvta { .. } | Self::Mapa(_) | Self::Getctarank(_) => Group::Convert,
            Self::Isspacep(_) => Group::Compare,
            Self::Bra { .. } | Self::BrxIdx { .. } | Self::Call(_) | Self::Ret { .. } | Self::Exit => Group::Branch,
            Self::Prefetch(_)
            | Self::Alloca(_)
            | Self::StackSave(_)
            | Self::StackRestore(_)
            | Self::Elect
            | Self::Shfl(_)
            | Self::Vote(_)
            | Self::Match { .. }
            | Self::Redux(..)
            | Self::Activemask
            | Self::Barrier(_)
            | Self::WarpSync
            | Self::Fence(_)
            | Self::Trap
            | Self::Brkpt
            | Self::Nanosleep
            | Self::Event(_) => Group::Other,
        }
    }

    /// The class of its line of the table, or of the line that it is told apart by; none for the machine's own families.
    #[must_use]
    pub fn class(&self) -> Option<AluClass> {
        match self {
            Self::Alu(form) => Some(form.alu.class()),
            Self::Setp(_) => Some(AluClass::Setp),
            Self::Extended(extended) => Some(extended.class()),
            _ => None,
        }
    }
}

impl AluForm {
    /// The types of the sources as the spelling names them: sign and float where it says so.
    #[must_use]
    pub fn sources(self) -> &'static [Type] {
        self.alu.sources()
    }

    /// The type of the destination.
    #[must_use]
    pub fn destination(self) -> Type {
        self.alu.destination()
    }

    /// Whether this is a comparison that `setp` and `set` may use.
    #[must_use]
    pub fn is_compare(self) -> bool {
        self.alu.class() == AluClass::Setp
    }

    /// Whether this is a line of [`Extended`] arithmetic, which has the carry flag among its sources.
    #[must_use]
    pub fn is_extended(self) -> bool {
        self.alu.class() == AluClass::Carry
    }
}

/// Whether a line of the table is the plain copy of a register.
#[must_use]
pub fn is_move(alu: Alu) -> bool {
    matches!(alu, Alu::MovPred | Alu::MovB16 | Alu::MovB32 | Alu::MovB64 | Alu::MovB128)
}
