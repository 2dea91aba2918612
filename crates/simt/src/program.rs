//! A kernel made ready to run: architectural instructions as micro-operations over rows of registers.
//!
//! A [guest](crate::guest) makes it from its instructions. One architectural instruction becomes one micro-operation
//! where it can, more where it must (a narrow operand in a wide register, `setp` with a combination, vector moves);
//! counting, hooks, traps and source lines speak of architectural instructions only.

mod plan;

pub use plan::{
    AccessPlan, AtomicPlan, BarrierPlan, CallPlan, CallTo, CopyFill, CopyPlan, FrameRange, HeapPlace, MatrixPlan,
    MbarrierPlan, SystemCall, TextureOp, TexturePlan,
};

use ::lanes::registers::{Sizes, Slot};
use facts::{Control, Facts, FunctionId, Pc, Reg, Register};
use isa::op::{Reduction, Shuffle, Vote};
use isa::{Space, Special, Type, Width};
use std::collections::BTreeMap;

/// What a micro-operation does. Indices point into the tables of [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MicroKind {
    /// A line of the table of pure instructions, by its number.
    Alu(u16),
    /// `dst = src0 op src1` over whole predicate masks.
    Pred(PredOp),
    /// A load; the index of its plan.
    Load(u32),
    /// A store; the index of its plan.
    Store(u32),
    /// An atomic access; the index of its plan.
    Atomic(u32),
    /// A copy that may read less than it writes; the index of its plan.
    Copy(u32),
    /// An access to a barrier object; the index of its plan.
    Mbarrier(u32),
    /// An instruction on matrices, which all lanes of the warp execute together; the index of its plan.
    Matrix(u32),
    /// An access to a texture or surface; the index of its plan.
    Texture(u32),
    /// `dst = ` the address of `imm` bytes into the frame.
    FrameAddress,
    /// Read a counter.
    Counter(Special),
    /// `isspacep`
    Isspacep(Space),
    /// `shfl.sync`: src = value, lane, clamp, membermask; dst = value, second = predicate.
    Shuffle(Shuffle),
    /// `vote.sync`: src = predicate, membermask.
    Vote(Vote),
    /// `match.sync`: src = value, membermask; second = predicate of `.all`.
    Match {
        /// `.all`
        all: bool,
        /// Whether the value has 64 bits.
        wide: bool,
    },
    /// `redux.sync`: src = value, membermask.
    Redux(Reduction, Type),
    /// `activemask`
    Activemask,
    /// `elect.sync`: src = membermask; dst = the lane, second = predicate.
    Elect,
    /// `alloca`: src = bytes; dst = address, both of this width; `imm` = alignment.
    Alloca(Width),
    /// `stacksave`: dst of this width.
    StackSave(Width),
    /// `stackrestore`: src of this width.
    StackRestore(Width),
    /// Join four 32-bit or two 64-bit registers into one of 128 bits; the index of its list.
    Pack128(u32),
    /// The reverse.
    Unpack128(u32),
    /// A barrier of the block; the index of its plan.
    Barrier(u32),
    /// `bar.warp.sync`: src = membermask.
    WarpSync,
    /// To the micro-operation `imm`.
    Branch,
    /// To an entry of a list of micro-operations; src = index.
    BranchIndexed(u32),
    /// A call; the index of its plan.
    Call(u32),
    /// Back to the caller, or the end of the thread.
    Return,
    /// The end of the thread.
    Exit,
    /// `trap`
    Trap,
    /// A failed `assert`.
    Assert,
    /// Nothing.
    Nop,
}

impl MicroKind {
    /// Whether control goes on with the next micro-operation, and no lane waits for another.
    #[must_use]
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Alu(_) | Self::Pred(_) | Self::Load(_) | Self::Store(_))
    }
}

/// Operations on predicate masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredOp {
    /// Both.
    And,
    /// Either.
    Or,
    /// One alone.
    Xor,
    /// The complement of the first.
    Not,
}

/// A decoded operation.
#[derive(Clone, Copy, Debug)]
pub struct Micro {
    /// What to do.
    pub kind: MicroKind,
    /// Whether this is the first of its architectural instruction: the guard is read and the instruction counted.
    pub first: bool,
    /// Whether this is the last.
    pub last: bool,
    /// Whether the guard is the complement of its predicate.
    pub guard_not: bool,
    /// Row of the guard predicate; row 0 is true in every lane.
    pub guard: u16,
    /// Row of the destination.
    pub dst: u16,
    /// Row of a second destination.
    pub second: u16,
    /// Rows of the sources.
    pub src: [u16; 4],
    /// How many micro-operations from this one on are plain and have no guard.
    pub straight: u16,
    /// The architectural instruction, an index into [`Program::instructions`].
    pub instruction: u32,
    /// A displacement or target.
    pub imm: i64,
}

/// Bytes at the start of every block's shared memory that belong to the system, and to cooperative groups; variables
/// follow them. Found on an H100, where they can be read and written like the rest.
pub const RESERVED_SHARED: u32 = 1024;

/// No row: the destination is dropped.
pub const NOWHERE: u16 = u16::MAX;

/// An architectural instruction of the program.
#[derive(Clone, Debug)]
pub struct StaticInstruction {
    /// The function it is in.
    pub function: FunctionId,
    /// Its index there.
    pub pc: Pc,
    /// What is known of it; nothing of the return behind the last instruction of a function, which is executed and
    /// counted though it is not written.
    pub facts: Option<Facts>,
}

/// A function of a program.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    /// Which function of the module.
    pub id: FunctionId,
    /// Its name.
    pub name: String,
    /// Its first micro-operation.
    pub entry: u32,
    /// Bytes of its frame: formal parameters, local variables and call parameters.
    pub frame: u32,
    /// Its formal parameters in the frame.
    pub formals: Vec<FrameRange>,
    /// Its return parameters in the frame.
    pub returns: Vec<FrameRange>,
    /// The registers that instructions name.
    pub declared: Vec<Register>,
    /// Where each of these is, and what the program has beside them, such as a carry flag; a recursive call saves all.
    pub registers: Vec<Slot>,
    /// Rows that may be read before they are written, and so start at zero.
    pub zeroed: Vec<Slot>,
    /// Rows that instructions read which do not name them: by instruction, those that are live before it.
    pub held: BTreeMap<Pc, Vec<Slot>>,
}

/// A kernel ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// Micro-operations of all functions.
    pub micros: Vec<Micro>,
    /// Architectural instructions.
    pub instructions: Vec<StaticInstruction>,
    /// The kernel first, then every function it may call.
    pub functions: Vec<FunctionCode>,
    /// Loads and stores.
    pub accesses: Vec<AccessPlan>,
    /// Atomic accesses.
    pub atomics: Vec<AtomicPlan>,
    /// Copies that may read less than they write.
    pub copies: Vec<CopyPlan>,
    /// Accesses to barrier objects.
    pub mbarriers: Vec<MbarrierPlan>,
    /// Instructions on matrices.
    pub matrices: Vec<MatrixPlan>,
    /// Accesses to textures and surfaces.
    pub textures: Vec<TexturePlan>,
    /// Barriers.
    pub barriers: Vec<BarrierPlan>,
    /// Calls.
    pub calls: Vec<CallPlan>,
    /// Targets of indexed branches.
    pub branches: Vec<Vec<u32>>,
    /// Register lists of 128-bit moves.
    pub lists: Vec<Vec<Option<Slot>>>,
    /// Register rows needed.
    pub sizes: Sizes,
    /// Rows with constants.
    pub constants: Vec<(Slot, u128)>,
    /// Rows with special registers.
    pub specials: Vec<(Special, Slot)>,
    /// Rows with kernel parameters: row, offset, bytes, sign.
    pub params: Vec<ParamRow>,
    /// Bytes of kernel parameters.
    pub param_bytes: u32,
    /// Bytes of static shared memory, with those that are reserved.
    pub shared_bytes: u32,
    /// Bytes of local memory that a thread may use beyond the kernel's own frame.
    pub stack: u32,
    /// Alignment at which dynamic shared memory starts.
    pub dynamic_align: u32,
    /// The workspace of cooperative launches, or 0 if the module asks for none.
    pub workspace: u64,
    /// Whether the kernel reads its parameters otherwise than from the rows that hold them.
    pub reads_param_addresses: bool,
}

/// A row that holds a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamRow {
    /// The row.
    pub slot: Slot,
    /// Where the value starts.
    pub offset: u32,
    /// Its bytes.
    pub bytes: u8,
    /// Whether it is extended with its sign.
    pub signed: bool,
}

impl Program {
    /// Whether its threads may print.
    #[must_use]
    pub fn prints(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.target, CallTo::System(SystemCall::Print)))
    }

    /// Whether it has accesses that the [search for races](crate::Executor::races) does not look at: tiles of matrices and
    /// surfaces.
    #[must_use]
    pub fn has_unsearched_accesses(&self) -> bool {
        let is_access = |plan: &MatrixPlan| !matches!(plan, MatrixPlan::Transpose { .. } | MatrixPlan::Multiply { .. });
        let is_surface = |plan: &TexturePlan| matches!(plan.op, TextureOp::Surface(_));
        self.matrices.iter().any(is_access) || self.textures.iter().any(is_surface)
    }

    /// What is known of an instruction.
    #[must_use]
    pub fn facts(&self, instruction: u32) -> Option<&Facts> {
        self.instructions.get(instruction as usize)?.facts.as_ref()
    }

    /// A function of the program.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<&FunctionCode> {
        self.functions.iter().find(|code| code.id == id)
    }

    /// The function that an instruction is in.
    #[must_use]
    pub fn function_of(&self, instruction: u32) -> Option<&FunctionCode> {
        self.function(self.instructions.get(instruction as usize)?.function)
    }

    /// What is known of the instructions of a function, in order.
    #[must_use]
    pub fn body(&self, id: FunctionId) -> Vec<&Facts> {
        let instructions = self.instructions.iter().filter(|instruction| instruction.function == id);
        instructions.filter_map(|instruction| instruction.facts.as_ref()).collect()
    }

    /// The row of a register of the function that an instruction is in.
    #[must_use]
    pub fn slot(&self, instruction: u32, reg: Reg) -> Option<Slot> {
        self.function_of(instruction)?.registers.get(reg.index()).copied()
    }

    /// Whether a thread that executes an instruction ends there.
    #[must_use]
    pub fn ends(&self, instruction: &StaticInstruction) -> bool {
        match &instruction.facts {
            Some(facts) => facts.control == Control::End,
            // Behind the last instruction stands a return.
            None => self.functions.first().is_some_and(|kernel| kernel.id == instruction.function),
        }
    }

    /// Where dynamic shared memory starts.
    #[must_use]
    pub fn dynamic_start(&self) -> u32 {
        self.shared_bytes.next_multiple_of(self.dynamic_align.max(1))
    }
}

/// The width that holds a memory element of this many bytes.
#[must_use]
pub fn width_of(bytes: u8) -> Width {
    match bytes {
        1 | 2 => Width::B16,
        4 => Width::B32,
        8 => Width::B64,
        _ => Width::B128,
    }
}
