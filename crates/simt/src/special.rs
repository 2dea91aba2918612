//! What special registers and rows of parameters hold.

use crate::launch::KernelLaunch;
use crate::program::{ParamRow, RESERVED_SHARED};
use ::lanes::registers::{FULL, LANES, Registers, Slot};
use isa::Special;

/// Bytes of the reserved part of shared memory that cooperative groups use.
const RESERVED_USED: u32 = 288;

/// What the size of shared memory is a multiple of.
const SHARED_UNIT: u32 = 128;

/// The axis of the block's place in the grid that a special register holds.
pub(crate) fn block_axis(special: Special) -> Option<usize> {
    match special {
        Special::CtaidX | Special::ClusteridX => Some(0),
        Special::CtaidY | Special::ClusteridY => Some(1),
        Special::CtaidZ | Special::ClusteridZ => Some(2),
        _ => None,
    }
}

/// A parameter as the bits of its row.
pub(crate) fn param_bits(params: &[u8], param: &ParamRow) -> u128 {
    let mut bytes = [0; 16];
    let from = param.offset as usize;
    if let Some(found) = params.get(from..from + usize::from(param.bytes)) {
        bytes[..found.len()].copy_from_slice(found);
    }
    let bits = u128::from_le_bytes(bytes);
    let unused = 128 - 8 * u32::from(param.bytes);
    if param.signed { ((bits << unused) as i128 >> unused) as u128 } else { bits }
}

/// Writes what a special register holds in every block of a launch.
pub(crate) fn place_special(
    registers: &mut Registers,
    launch: &KernelLaunch<'_>,
    warp: u32,
    special: Special,
    slot: Slot,
) {
    let [bx, by, _] = launch.block;
    for lane in 0..LANES as u32 {
        let thread = warp * LANES as u32 + lane;
        let value = match special {
            Special::TidX => thread % bx,
            Special::TidY => thread / bx % by,
            Special::TidZ => thread / bx / by,
            Special::NtidX => launch.block[0],
            Special::NtidY => launch.block[1],
            Special::NtidZ => launch.block[2],
            Special::NclusteridX => launch.grid[0],
            Special::NclusteridY => launch.grid[1],
            Special::NclusteridZ => launch.grid[2],
            Special::NctaidX => launch.grid[0],
            Special::NctaidY => launch.grid[1],
            Special::NctaidZ => launch.grid[2],
            Special::Laneid => lane,
            Special::Warpid => warp,
            Special::Nwarpid => launch.warps(),
            // A block is a cluster of its own.
            Special::Nsmid
            | Special::ClusterNctaidX
            | Special::ClusterNctaidY
            | Special::ClusterNctaidZ
            | Special::ClusterNctarank => 1,
            Special::LanemaskEq => 1 << lane,
            Special::LanemaskLe => FULL >> (31 - lane),
            Special::LanemaskLt => (FULL >> (31 - lane)) >> 1,
            Special::LanemaskGe => FULL << lane,
            Special::LanemaskGt => (FULL << lane) << 1,
            Special::DynamicSmemSize => launch.dynamic_shared,
            Special::TotalSmemSize => (launch.shared() - RESERVED_SHARED).next_multiple_of(SHARED_UNIT),
            Special::AggrSmemSize => launch.shared(),
            Special::ReservedSmemOffsetEnd => RESERVED_USED,
            Special::ReservedSmemOffsetCap => RESERVED_SHARED,
            // Where the blocks of a cooperative launch wait for each other.
            Special::Envreg1 if launch.cooperative => (launch.program.workspace >> 32) as u32,
            Special::Envreg2 if launch.cooperative => launch.program.workspace as u32,
            // One processor, one grid; the block's place is set for every block, and counters are read as they run.
            Special::Smid
            | Special::Gridid
            | Special::CtaidX
            | Special::CtaidY
            | Special::CtaidZ
            | Special::ClusteridX
            | Special::ClusteridY
            | Special::ClusteridZ
            | Special::ClusterCtaidX
            | Special::ClusterCtaidY
            | Special::ClusterCtaidZ
            | Special::ClusterCtarank
            | Special::IsExplicitCluster
            | Special::CurrentGraphExec
            | Special::ReservedSmemOffsetBegin
            | Special::ReservedSmemOffset0
            | Special::ReservedSmemOffset1
            | Special::Envreg0
            | Special::Envreg1
            | Special::Envreg2
            | Special::Envreg3
            | Special::Envreg4
            | Special::Envreg5
            | Special::Envreg6
            | Special::Envreg7
            | Special::Clock
            | Special::ClockHi
            | Special::Clock64
            | Special::Globaltimer
            | Special::GlobaltimerLo
            | Special::GlobaltimerHi => 0,
        };
        registers.set(slot, lane as usize, u128::from(value));
    }
}
