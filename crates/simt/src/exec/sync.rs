//! Instructions at which lanes or warps wait for each other.

use super::{Arrival, Running, Step, Surroundings, Warp};
use crate::collective;
use crate::program::{BarrierPlan, Kind, Micro};
use crate::registers::{FULL, LANES};
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

/// An instruction that lanes of the warp execute together: the lanes that are here when all that are named and alive
/// have come, or `None` while they wait. Lanes that name others, such as the two halves of a warp, do so separately.
pub(super) fn synchronise(warp: &mut Warp, running: &mut Running, executing: u32, micro: &Micro) -> Option<u32> {
    let (members, executing) = members(warp, running, executing, micro);
    let forced = std::mem::replace(&mut running.state, State::Ready) == State::Forced;
    if forced || (members & warp.live) & !executing == 0 {
        return Some(executing);
    }
    part(warp, running, executing);
    running.settle(warp);
    let group = Group { state: State::WaitWarp(members), ..running.group() };
    warp.park(group);
    let here = |other: &Group| other.pc == group.pc && other.frame == group.frame && other.state == group.state;
    let at = warp.groups.iter().position(here)?;
    if (members & warp.live) & !warp.groups[at].mask != 0 {
        return None;
    }
    running.active = warp.groups.swap_remove(at).mask;
    Some(running.active)
}

/// The mask that the first lane names, and the lanes that name the same; the others are set aside.
fn members(warp: &mut Warp, running: &mut Running, executing: u32, micro: &Micro) -> (u32, u32) {
    let source = match micro.kind {
        Kind::Matrix(_) => return (FULL, executing),
        Kind::Shuffle(_) => 3,
        Kind::WarpSync | Kind::Elect => 0,
        _ => 1,
    };
    let named = &warp.registers.b32[usize::from(micro.src[source])].0;
    let members = named[executing.trailing_zeros() as usize];
    let same = (0..LANES).fold(0, |same, lane| same | (u32::from(named[lane] == members) << lane)) & executing;
    if same != executing {
        part(warp, running, executing);
        running.settle(warp);
        warp.park(Group { mask: executing & !same, state: State::Apart, ..running.group() });
        running.active = same;
        // They come together again after it.
        running.limit = running.pc + 1;
    }
    (members, same)
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
