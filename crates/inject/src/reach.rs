//! The bytes of memory that a thread reaches: allocations and variables, shared memory of its block, its own local memory.
//! What the machine keeps for itself (the heap of `malloc`, the workspace of cooperative launches, the reserved start of
//! shared memory) is left out.

use crate::golden::{Golden, GoldenLaunch};
use crate::registers::has;
use fault::{Memory, Selection, TargetKind};
use simt::memory::Version;
use simt::program::RESERVED_SHARED;
use std::ops::Range;

/// Whether a launch has at all times what a selection aims at; operands are looked for instruction by instruction.
pub(crate) fn has_target(golden: &Golden, launch: &GoldenLaunch, selection: &Selection) -> bool {
    match selection.target {
        TargetKind::Memory(memory) => {
            let frame = launch.program.functions[0].frame;
            let mut all = device_bytes(golden, launch);
            all.extend(own_bytes(golden, launch, frame));
            let wanted =
                |(kind, range): &(Memory, Range<u64>)| memory.is_none_or(|wanted| wanted == *kind) && !range.is_empty();
            selection.patterns.hits(u8::BITS, 1) && all.iter().any(wanted)
        }
        TargetKind::ChosenRegister(number) => {
            launch.program.functions.iter().all(|code| has(code, number, &selection.patterns))
        }
        _ => true,
    }
}

/// The bytes of device memory at the start of a launch, ascending.
pub(crate) fn device_bytes(golden: &Golden, launch: &GoldenLaunch) -> Vec<(Memory, Range<u64>)> {
    let (constants, reserved) = golden.modules.placed();
    let allocations = golden.history.allocations(Version::before(launch.event as u32));
    let allocations = allocations.iter().filter(|(start, _)| !reserved.contains(start));
    let kind = |start: &u64| if constants.contains(start) { Memory::Const } else { Memory::Global };
    allocations.map(|(start, bytes)| (kind(&start), start..start + bytes)).collect()
}

/// The bytes of shared memory of a block, and those of local memory of a thread that has so many.
pub(crate) fn own_bytes(golden: &Golden, launch: &GoldenLaunch, local: u32) -> [(Memory, Range<u64>); 2] {
    let shared = golden.runnable(launch).shared();
    let shared = u64::from(RESERVED_SHARED.min(shared))..u64::from(shared);
    [(Memory::Shared, shared), (Memory::Local, 0..u64::from(local))]
}
