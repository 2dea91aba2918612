//! Instructions at which lanes or warps wait for each other.

use super::{Arrival, Fault, Running, Step, Surroundings, Warp};
use crate::collective;
use crate::program::{BarrierPlan, Kind, Micro};
use crate::registers::{FULL, LANES, has, lanes};
use crate::trap::TrapKind;
use crate::warp::{Group, State};

/// The lanes that execute an instruction leave the others behind, which go on after it.
pub(super) fn part(warp: &mut Warp, running: &mut Running, executing: u32) {
    if executing != running.active {
        running.settle(warp);
        let rest = running.active & !executing;
        let next = Group { pc: running.pc + 1, mask: rest, frame: running.frame, state: State::Ready };
        warp.park(next);
        running.active = executing;
        running.limit = warp.limit(running.pc, running.frame);
    }
}

/// Whether the lanes that execute an instruction together have met.
pub(super) enum Met {
    /// They have, and these execute it now.
    All(u32),
    /// They have, and others have executed it for all.
    Before,
    /// They wait.
    No,
}

/// An instruction that lanes of the warp execute together: when all that they name and that are alive have come and name
/// the same. They may have come by different calls of the function that it is in.
///
/// As on hardware, a lane must name itself, and lanes that name others, such as the two halves of a warp, wait for their
/// own only. See docs/design/machine-loop.md.
pub(super) fn synchronise(warp: &mut Warp, running: &mut Running, executing: u32, micro: &Micro) -> Result<Met, Fault> {
    let state = std::mem::replace(&mut running.state, State::Ready);
    if state == State::Met {
        return Ok(Met::Before);
    }
    let named = named(warp, micro);
    let outsiders = (0..LANES).fold(0, |found, lane| found | (u32::from(!has(named[lane], lane)) << lane)) & executing;
    if outsiders != 0 {
        let lane = outsiders.trailing_zeros() as usize;
        return Err(Fault { kind: TrapKind::IllegalInstruction, lane, address: None });
    }
    let forced = state == State::Forced;
    let members = named[executing.trailing_zeros() as usize];
    let mut keep = naming(&named, members, executing);
    let mut complete = forced || (members & warp.live) & !keep == 0;
    if keep != executing {
        if matches!(micro.kind, Kind::Shuffle(_) | Kind::WarpSync) {
            // What lanes read of each other does not depend on whom they name: all that need not wait act at once.
            let ready = |&lane: &usize| named[lane] & warp.live & !naming(&named, named[lane], executing) == 0;
            let all = lanes(executing).filter(ready).fold(0, |all, lane| all | (1 << lane));
            (keep, complete) = if all == 0 { (keep, complete) } else { (all, true) };
        }
        set_aside(warp, running, executing, keep);
    }
    running.executing = keep;
    if complete {
        return Ok(Met::All(keep));
    }
    part(warp, running, keep);
    running.settle(warp);
    let group = Group { state: State::WaitWarp(members), ..running.group() };
    warp.park(group);
    let here = |other: &&mut Group| other.pc == group.pc && other.state == group.state;
    let met = warp.groups.iter_mut().filter(here).fold(0, |met, other| met | other.mask);
    if (members & warp.live) & !met != 0 {
        return Ok(Met::No);
    }
    // Those that came by other calls go on from here each in its own.
    warp.groups.iter_mut().filter(here).for_each(|other| other.state = State::Met);
    let own = |other: &Group| other.pc == group.pc && other.frame == group.frame && other.state == State::Met;
    let Some(at) = warp.groups.iter().position(own) else { return Ok(Met::No) };
    running.active = warp.groups.swap_remove(at).mask;
    running.executing = running.active;
    Ok(Met::All(met))
}

/// The lanes that each lane names.
fn named(warp: &Warp, micro: &Micro) -> [u32; LANES] {
    let source = match micro.kind {
        Kind::Matrix(_) => return [FULL; LANES],
        Kind::Shuffle(_) => 3,
        Kind::WarpSync | Kind::Elect => 0,
        _ => 1,
    };
    warp.registers.b32[usize::from(micro.src[source])].0
}

/// The executing lanes that name these.
fn naming(named: &[u32; LANES], members: u32, executing: u32) -> u32 {
    (0..LANES).fold(0, |same, lane| same | (u32::from(named[lane] == members) << lane)) & executing
}

/// Leaves the executing lanes that are not kept at this instruction, to execute it later.
fn set_aside(warp: &mut Warp, running: &mut Running, executing: u32, keep: u32) {
    part(warp, running, executing);
    running.settle(warp);
    warp.park(Group { mask: executing & !keep, state: State::Apart, ..running.group() });
    running.active = keep;
    // They come together again after it.
    running.limit = running.pc + 1;
}

/// A barrier of the block: be counted, and wait unless it is an arrival.
pub(super) fn barrier(
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
    plan: BarrierPlan,
) -> Step {
    if let State::Released(result) = std::mem::replace(&mut running.state, State::Ready) {
        release(warp, micro, plan, result, executing);
        return Step::Next;
    }
    let lane = executing.trailing_zeros() as usize;
    let word = |row: u16| warp.registers.b32[usize::from(row)].0[lane];
    let number = word(plan.number) & 15;
    let holds = plan.reduce.map_or(0, |(_, row)| warp.registers.pred[usize::from(row)] & executing);
    // A warp may come in several groups: the one with its lowest thread stands for the lanes that never come.
    let leads = executing & (warp.live & warp.live.wrapping_neg()) != 0;
    around.arrivals.push(Arrival {
        barrier: number,
        threads: executing.count_ones(),
        absent: if leads { warp.live.count_zeros() } else { 0 },
        count: plan.count.map(word),
        wait: plan.wait,
        reduce: plan.reduce.map(|(op, _)| op),
        holds: holds.count_ones(),
    });
    if !plan.wait {
        return Step::Next;
    }
    part(warp, running, executing);
    running.settle(warp);
    let group = Group { state: State::WaitBlock(number), ..running.group() };
    warp.park(group);
    Step::Pick
}

fn release(warp: &mut Warp, micro: &Micro, plan: BarrierPlan, result: u32, executing: u32) {
    match plan.reduce {
        Some((isa::op::Reduction::Popc, _)) => {
            collective::write_b32(&mut warp.registers, micro.dst, &[result; LANES], executing);
        }
        Some(_) => {
            let bits = if result == 0 { 0 } else { FULL };
            collective::write_pred(&mut warp.registers, micro.dst, bits, executing);
        }
        None => {}
    }
}
