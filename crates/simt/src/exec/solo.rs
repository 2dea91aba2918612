//! The loop that runs a replica: a warp whose lanes are one thread, each with a fault of its own.
//!
//! It is the machine's loop without hooks, turns and other warps. What a lane does wrong stops that lane alone, and so
//! does what a thread cannot do without others.

use super::guided::{Guided, guided};
use super::{Running, Step, Surroundings, branch, other, plain};
use crate::access::addresses;
use crate::memory::Owners;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::{CallTo, Kind, Micro, Program};
use crate::registers::{LANES, lanes};
use crate::replica::guide::Guide;
use crate::replica::{Common, Stop, View};
use crate::trap::TrapKind;
use crate::warp::{State, Warp};
use ::lanes::Handlers;
use isa::Space;

/// Where a run of a replica came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// After as many instructions as were asked for.
    Reached,
    /// No lane is left.
    Ended,
}

/// What the lanes see, what other threads of the block access, and what the thread did where these have a part in it.
pub(crate) struct Alone<'a> {
    pub(crate) view: &'a mut View,
    pub(crate) owners: &'a Owners,
    pub(crate) guide: Option<Guide<'a>>,
}

/// Runs a replica until no lane is left, or for a number of instructions, which all lanes must execute together, and
/// which are noted.
pub(crate) fn run_alone<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    alone: &mut Alone<'_>,
    mut steps: u64,
) -> Pause {
    while let Some((group, fair)) = warp.pick() {
        let mut running = Running::new(warp, group, fair, u64::MAX);
        if group_alone(level, warp, around, alone, &mut running, &mut steps) == Pause::Reached {
            return Pause::Reached;
        }
    }
    Pause::Ended
}

/// Runs one group until it is put back or has ended.
fn group_alone<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    alone: &mut Alone<'_>,
    running: &mut Running,
    steps: &mut u64,
) -> Pause {
    let program = around.program;
    let mut resumed = running.state != State::Ready;
    while running.active != 0 {
        if running.pc >= running.limit {
            break;
        }
        let micro = &program.micros[running.pc as usize];
        if resumed {
            resumed = false;
        } else if micro.first {
            if *steps == 0 {
                running.settle(warp);
                warp.park(running.group());
                return Pause::Reached;
            }
            let guard = warp.registers.pred[usize::from(micro.guard)];
            let executing = running.active & if micro.guard_not { !guard } else { guard };
            running.executing = executing;
            running.left -= 1;
            if *steps != u64::MAX {
                *steps -= u64::from(executing != 0);
                alone.view.path.push((micro.site, executing != 0));
            }
            if executing != running.active {
                warp.discount(running.active & !executing);
            }
            if let Some(guide) = alone.guide {
                match guided(level, warp, around, alone, running, micro, guide) {
                    Guided::Execute(lanes) => running.executing = lanes,
                    Guided::Over => continue,
                }
            }
        }
        let executing = running.executing & running.active;
        if executing == 0 {
            running.pc += 1;
            continue;
        }
        match step(level, warp, around, alone, running, executing, micro) {
            Step::Next => running.pc += 1,
            Step::Jump(target) => {
                running.pc = target;
                if running.left <= 0 {
                    refuel(warp, running, alone, executing, micro);
                }
                if !warp.groups.is_empty() {
                    let behind = warp.is_behind(running.pc, running.frame);
                    running.limit = if behind { running.pc } else { warp.limit(running.pc, running.frame) };
                }
            }
            Step::Pick => return Pause::Ended,
        }
    }
    running.settle(warp);
    warp.park(running.group());
    Pause::Ended
}

/// Executes one micro-operation. Lanes that it stops leave the group.
#[inline(always)]
pub(super) fn step<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    alone: &mut Alone<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
) -> Step {
    match micro.kind {
        Kind::Alu(_) | Kind::Pred(_) => {
            let _ = plain(level, warp, around, running.frame, executing, micro);
            Step::Next
        }
        Kind::Load(_) | Kind::Store(_) => {
            access(level, warp, around, alone, running, executing, micro);
            Step::Next
        }
        Kind::Branch => branch(warp, running, executing, micro.imm as u32),
        Kind::Trap => {
            stop(warp, running, alone, executing, Stop::Trapped(TrapKind::Trap), micro);
            Step::Next
        }
        kind if needs_others(kind, around.program) => {
            escape(warp, running, alone, executing, micro);
            Step::Next
        }
        _ => other(level, warp, around, running, executing, micro).unwrap_or_else(|_| {
            escape(warp, running, alone, executing, micro);
            Step::Next
        }),
    }
}

/// Whether an operation involves other threads, or what the whole block shares.
pub(crate) fn needs_others(kind: Kind, program: &Program) -> bool {
    match kind {
        Kind::Load(plan) | Kind::Store(plan) => program.accesses[plan as usize].space == Space::Shared,
        Kind::Call(plan) => matches!(program.calls[plan as usize].target, CallTo::System(_)),
        Kind::Alu(_)
        | Kind::Pred(_)
        | Kind::FrameAddress
        | Kind::Isspacep(_)
        | Kind::Alloca(_)
        | Kind::StackSave(_)
        | Kind::StackRestore(_)
        | Kind::Pack128(_)
        | Kind::Unpack128(_)
        | Kind::Branch
        | Kind::BranchIndexed(_)
        | Kind::Return
        | Kind::Exit
        | Kind::Trap
        | Kind::Nop => false,
        Kind::Atomic(_)
        | Kind::Copy(_)
        | Kind::Mbarrier(_)
        | Kind::Matrix(_)
        | Kind::Texture(_)
        | Kind::Counter(_)
        | Kind::Shuffle(_)
        | Kind::Vote(_)
        | Kind::Match { .. }
        | Kind::Redux(..)
        | Kind::Activemask
        | Kind::Elect
        | Kind::Barrier(_)
        | Kind::WarpSync
        | Kind::Assert => true,
    }
}

/// A load or store: to global memory as each lane sees it, to the thread's own as ever.
fn access<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    alone: &mut Alone<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
) {
    let program = around.program;
    let (Kind::Load(plan) | Kind::Store(plan)) = micro.kind else { return };
    let plan = &program.accesses[plan as usize];
    let (mut global, mut own, mut shared) = match plan.space {
        Space::Global | Space::Const => (executing, 0, 0),
        Space::Local | Space::Param => (0, executing, 0),
        Space::Shared => (0, 0, executing),
        Space::Generic => (executing, 0, 0),
    };
    if global != 0 {
        let at = addresses(&warp.registers, plan, warp.frames[running.frame as usize].base);
        if plan.space == Space::Generic {
            let inside =
                |base: u64| lanes(executing).filter(|&lane| within(at[lane], base)).fold(0, |m, l| m | (1 << l));
            shared = inside(SHARED_BASE);
            own = inside(LOCAL_BASE) | inside(PARAM_BASE);
            global &= !(shared | own);
        }
        if global != 0 {
            let common = Common { memory: around.global, owners: alone.owners };
            let stopped = match micro.kind {
                Kind::Load(_) => alone.view.load(common, &mut warp.registers, plan, &at, global),
                _ => alone.view.store(common, &warp.registers, plan, &at, global),
            };
            for lane in lanes(stopped.lanes) {
                stop(warp, running, alone, 1 << lane, stopped.why[lane], micro);
            }
        }
    }
    escape(warp, running, alone, shared, micro);
    while own != 0 {
        let Err(trap) = plain(level, warp, around, running.frame, own, micro) else { break };
        let lane = trap.thread % LANES as u32;
        own &= !(1 << lane);
        stop(warp, running, alone, 1 << lane, Stop::Trapped(trap.kind), micro);
    }
}

/// Lanes escape.
pub(super) fn escape(warp: &mut Warp, running: &mut Running, alone: &mut Alone<'_>, lanes: u32, micro: &Micro) {
    stop(warp, running, alone, lanes, Stop::Escaped, micro);
}

/// Takes lanes out of the group and of the warp.
fn stop(warp: &mut Warp, running: &mut Running, alone: &mut Alone<'_>, stopped: u32, why: Stop, micro: &Micro) {
    if stopped == 0 {
        return;
    }
    running.settle(warp);
    for lane in lanes(stopped) {
        alone.view.stop(lane, why, micro.site);
    }
    warp.exit(running.frame, stopped);
    // They may be in the group, or have left it with the branch that they took last.
    running.active &= !stopped;
    warp.groups.iter_mut().for_each(|group| group.mask &= !stopped);
    warp.groups.retain(|group| group.mask != 0);
}

/// Stops the lanes that took a branch without fuel, and says how long the others need not be asked.
#[cold]
fn refuel(warp: &mut Warp, running: &mut Running, alone: &mut Alone<'_>, taken: u32, micro: &Micro) {
    running.settle(warp);
    let empty =
        lanes(taken).filter(|&lane| warp.counts[lane] > warp.fuel[lane]).fold(0, |mask, lane| mask | (1 << lane));
    stop(warp, running, alone, empty, Stop::Trapped(TrapKind::OutOfFuel), micro);
    warp.out_of_fuel(0);
    running.refill(warp);
}
