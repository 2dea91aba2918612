//! The machine: warps of 32 lanes that run kernels as the PTX ISA says, deterministically and fast.
//!
//! A [`Guest`] makes a [`Program`] of a kernel; an [`Executor`] runs its blocks over a [`GlobalMemory`], and a [`Hook`]
//! may look in. What the program did wrong is a value ([`RunEnd`]); what we cannot do is refused when the
//! program is made. Nothing here knows faults.
//!
//! A launch says how its warps take turns ([`Interleaving`]). By default, blocks run one after the other in ascending
//! linear order, and the warps of a block in ascending order, each until it waits at a barrier or has had its turn. Blocks
//! of cooperative launches, and blocks that wait for each other, run together.

mod access;
mod ahead;
mod atomic;
mod barrier;
mod block;
mod checkpoint;
mod collective;
mod control;
mod copy;
mod exec;
mod grid;
pub mod guest;
mod heap;
mod hook;
mod launch;
mod liveness;
mod matrix;
mod mbarrier;
pub mod memory;
pub mod occupancy;
mod placement;
mod print;
pub mod program;
mod races;
pub mod replica;
mod special;
mod state;
pub mod texture;
mod touch;
mod trap;
mod turns;
mod waiting;
mod warp;

pub use ::lanes::level::LevelName;
pub use ::lanes::registers;
pub use ahead::REACH;
pub use block::Executor;
pub use checkpoint::Checkpoint;
pub use grid::{WORKSPACE_BYTES, WORKSPACE_NAME};
pub use guest::{Guest, GuestError, GuestModule};
pub use heap::{HEAP_ALIGN, HEAP_BYTES, HEAP_NAME, heap_size};
pub use hook::{Hook, InstructionContext, Interest, NoHook, RoundContext};
pub use launch::{Fuel, Interleaving, KernelLaunch};
pub use liveness::Liveness;
pub use memory::{Allocations, GlobalMemory, History};
pub use program::{HeapPlace, Program};
pub use races::{Race, RaceBudget, Races};
pub use replica::Replica;
pub use state::BlockState;
pub use touch::OwnByte;
pub use trap::{Assertion, RunEnd, Trap, TrapKind};
