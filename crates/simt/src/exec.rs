//! The loop that runs a warp.
//!
//! It takes the group of lanes that is behind, runs it instruction by instruction, and puts it back when it meets
//! another group, has to wait, or has run for long enough. Counting costs one subtraction per instruction: the
//! lanes' counts are brought up to date where the set of lanes changes.

use crate::access::{self, Fault, Memories};
use crate::atomic::atomic;
use crate::collective;
use crate::hook::{Hook, Interest, Moment};
use crate::lanes::Handlers;
use crate::memory::GlobalMemory;
use crate::memory::window::{DEVICE_BASE, LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::{BarrierPlan, CallTo, FrameRange, Kind, Micro, PredOp, Program};
use crate::registers::{FULL, LANES, lanes};
use crate::trap::{Trap, TrapKind};
use crate::warp::{CallFrame, Group, QUANTUM, State, Warp};
use isa::{Space, Special};

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Every thread exited.
    Done,
    /// Every group waits at a barrier of the block.
    Blocked,
    /// It has run for its quantum.
    Turn,
}

/// What a warp runs in.
pub(crate) struct Surroundings<'a> {
    pub(crate) program: &'a Program,
    pub(crate) global: &'a mut GlobalMemory,
    pub(crate) shared: &'a mut [u8],
    pub(crate) params: &'a [u8],
    pub(crate) local_limit: u32,
    /// Where arrivals at the block's barriers are noted.
    pub(crate) arrivals: &'a mut Vec<Arrival>,
    /// The block, linear in the grid.
    pub(crate) block: u64,
}

/// Lanes of a warp that came to a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) barrier: u32,
    pub(crate) threads: u32,
    /// Threads that complete the barrier, where the instruction says.
    pub(crate) count: Option<u32>,
    pub(crate) wait: bool,
    pub(crate) reduce: Option<isa::op::Reduction>,
    /// Threads whose predicate holds.
    pub(crate) holds: u32,
}

/// Where a group goes after a micro-operation that is not plain.
enum Step {
    Next,
    /// All lanes go elsewhere.
    Jump(u32),
    /// The group was put back or ended: take the next.
    Pick,
}

/// The group that runs.
struct Running {
    pc: u32,
    active: u32,
    frame: u32,
    state: State,
    /// Whether it has its turn although another group is behind it.
    fair: bool,
    /// Instructions left in the turn, and at its start since the counts were brought up to date.
    left: i64,
    since: i64,
    limit: u32,
}

/// Runs a warp until it stops.
pub(crate) fn run<L: Handlers, H: Hook>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    hook: &mut H,
) -> Result<Stop, Trap> {
    let mut hooked = hook.wants(warp.index);
    let end = warp.issued + u64::from(QUANTUM);
    while let Some((group, fair)) = warp.pick() {
        let mut running = Running::new(warp, group, fair, end);
        let end_of_group = run_group::<L, H>(level, warp, around, hook, &mut hooked, &mut running);
        if let Err(trap) = end_of_group {
            // Whoever explains the trap wants to know how far each thread came.
            running.settle(warp);
            return Err(trap);
        }
        if warp.issued >= end {
            warp.be_fair();
            return Ok(Stop::Turn);
        }
    }
    Ok(if warp.is_done() { Stop::Done } else { Stop::Blocked })
}

impl Running {
    fn new(warp: &Warp, group: Group, fair: bool, end: u64) -> Self {
        let left = warp.fuel_check.min(end).saturating_sub(warp.issued) as i64;
        let limit = warp.limit(group.pc, group.frame);
        let Group { pc, mask, frame, state } = group;
        Self { pc, active: mask, frame, state, fair, left, since: left, limit }
    }

    fn group(&self) -> Group {
        Group { pc: self.pc, mask: self.active, frame: self.frame, state: State::Ready }
    }

    /// Brings the counts of the running lanes up to date.
    #[inline(always)]
    fn settle(&mut self, warp: &mut Warp) {
        warp.count(self.active, (self.since - self.left) as u32);
        self.since = self.left;
    }
}

/// Runs one group until it is put back or has ended.
#[inline(always)]
fn run_group<L: Handlers, H: Hook>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    hook: &mut H,
    hooked: &mut bool,
    running: &mut Running,
) -> Result<(), Trap> {
    let program = around.program;
    let mut executing = running.active;
    // A group that goes on from where it waited has been counted and has passed its guard.
    let mut resumed = running.state != State::Ready;
    loop {
        if running.pc >= running.limit {
            running.settle(warp);
            warp.park(running.group());
            return Ok(());
        }
        let micro = &program.micros[running.pc as usize];
        if resumed {
            resumed = false;
        } else if micro.first {
            let guard = warp.registers.pred[usize::from(micro.guard)];
            executing = running.active & if micro.guard_not { !guard } else { guard };
            running.left -= 1;
            if executing != running.active {
                warp.discount(running.active & !executing);
            }
            if *hooked {
                hook.before(moment(program, warp, micro, running.active, executing));
            }
        }
        if executing == 0 {
            running.pc += 1;
            continue;
        }
        let step = match micro.kind {
            Kind::Alu(number) => {
                L::TABLE[usize::from(number)](level, &mut warp.registers, micro, executing);
                Step::Next
            }
            Kind::Load(plan) => {
                let (registers, mut memories, base) = split(warp, around, running.frame);
                let plan = &program.accesses[plan as usize];
                access::load(level, registers, &mut memories, plan, base, executing)
                    .map_err(|fault| trap(fault, micro, warp.index, around.block))?;
                Step::Next
            }
            Kind::Store(plan) => {
                let (registers, mut memories, base) = split(warp, around, running.frame);
                let plan = &program.accesses[plan as usize];
                access::store(level, registers, &mut memories, plan, base, executing)
                    .map_err(|fault| trap(fault, micro, warp.index, around.block))?;
                Step::Next
            }
            Kind::Branch => branch(warp, running, executing, micro.imm as u32),
            _ => other(warp, around, running, executing, micro)
                .map_err(|fault| trap(fault, micro, warp.index, around.block))?,
        };
        match step {
            Step::Next => {
                if *hooked && micro.last {
                    let interest = hook.after(moment(program, warp, micro, running.active, executing));
                    *hooked = interest == Interest::Stay;
                }
                running.pc += 1;
            }
            Step::Jump(target) => {
                running.pc = target;
                if running.left <= 0 {
                    running.settle(warp);
                    check_fuel(warp, running, micro, around.block)?;
                    warp.park(running.group());
                    return Ok(());
                }
                if !warp.groups.is_empty() {
                    running.limit = if warp.is_behind(running.pc, running.frame) && !running.fair {
                        running.pc
                    } else {
                        warp.limit(running.pc, running.frame)
                    };
                }
            }
            Step::Pick => return Ok(()),
        }
    }
}

fn moment<'a>(program: &'a Program, warp: &'a mut Warp, micro: &Micro, active: u32, executing: u32) -> Moment<'a> {
    Moment { program, registers: &mut warp.registers, site: micro.site, warp: warp.index, active, executing }
}

fn trap(fault: Fault, micro: &Micro, warp: u32, block: u64) -> Trap {
    let thread = warp * LANES as u32 + fault.lane as u32;
    Trap { kind: fault.kind, site: micro.site, block, thread, address: fault.address }
}

fn check_fuel(warp: &mut Warp, running: &Running, micro: &Micro, block: u64) -> Result<(), Trap> {
    if warp.issued < warp.fuel_check {
        return Ok(());
    }
    match warp.out_of_fuel(running.active) {
        None => Ok(()),
        Some(lane) => Err(trap(Fault { kind: TrapKind::OutOfFuel, lane, address: None }, micro, warp.index, block)),
    }
}

#[inline(always)]
fn split<'w>(
    warp: &'w mut Warp,
    around: &'w mut Surroundings<'_>,
    frame: u32,
) -> (&'w mut crate::registers::Registers, Memories<'w>, u32) {
    let base = warp.frames[frame as usize].base;
    let memories = Memories {
        global: &mut *around.global,
        shared: &mut *around.shared,
        local: &mut warp.local,
        local_limit: around.local_limit,
        params: around.params,
    };
    (&mut warp.registers, memories, base)
}

/// A branch: all lanes go one way, or the group splits and the part that is behind goes on.
#[inline(always)]
fn branch(warp: &mut Warp, running: &mut Running, taken: u32, target: u32) -> Step {
    if taken == running.active {
        return Step::Jump(target);
    }
    running.settle(warp);
    let rest = running.active & !taken;
    let next = running.pc + 1;
    let (pc, active, other_pc, other) =
        if target < next { (target, taken, next, rest) } else { (next, rest, target, taken) };
    warp.park(Group { pc: other_pc, mask: other, frame: running.frame, state: State::Ready });
    running.active = active;
    Step::Jump(pc)
}

/// Everything that is neither pure, nor a load, store or branch.
fn other(
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
) -> Result<Step, Fault> {
    let program = around.program;
    let fault = |kind: TrapKind| Fault { kind, lane: executing.trailing_zeros() as usize, address: None };
    match micro.kind {
        Kind::Pred(op) => {
            let (a, b) =
                (warp.registers.pred[usize::from(micro.src[0])], warp.registers.pred[usize::from(micro.src[1])]);
            let bits = match op {
                PredOp::And => a & b,
                PredOp::Or => a | b,
                PredOp::Xor => a ^ b,
                PredOp::Not => !a,
            };
            collective::write_pred(&mut warp.registers, micro.dst, bits, executing);
        }
        Kind::Atomic(plan) => {
            let (registers, mut memories, base) = split(warp, around, running.frame);
            atomic(registers, &mut memories, &program.atomics[plan as usize], base, executing)?;
        }
        Kind::FrameAddress => {
            let address = i64::from(warp.frames[running.frame as usize].base) + micro.imm;
            let row = &mut warp.registers.b64[usize::from(micro.dst)].0;
            lanes(executing).for_each(|lane| row[lane] = address as u64);
        }
        Kind::Counter(special) => {
            let issued = warp.issued + (running.since - running.left) as u64;
            counter(warp, micro, special, issued, executing);
        }
        Kind::Isspacep(space) => isspacep(warp, micro, space, executing),
        Kind::Activemask => {
            collective::write_b32(&mut warp.registers, micro.dst, &[executing; LANES], executing);
        }
        Kind::Pack128(list) => pack128(warp, micro, &program.lists[list as usize], executing),
        Kind::Unpack128(list) => unpack128(warp, micro, &program.lists[list as usize], executing),
        Kind::Shuffle(_) | Kind::Vote(_) | Kind::Match { .. } | Kind::Redux(..) | Kind::WarpSync => {
            return Ok(synchronise(warp, running, executing, micro));
        }
        Kind::Barrier(plan) => {
            return Ok(barrier(warp, around, running, executing, micro, program.barriers[plan as usize]));
        }
        Kind::BranchIndexed(list) => {
            let targets = &program.branches[list as usize];
            return branch_indexed(warp, running, executing, micro, targets)
                .ok_or_else(|| fault(TrapKind::IllegalInstruction));
        }
        Kind::Call(_) => return call(warp, around, running, executing, micro),
        Kind::Return => return Ok(leave(warp, around, running, executing)),
        Kind::Exit => return Ok(exit(warp, running, executing)),
        Kind::Trap => return Err(fault(TrapKind::Trap)),
        Kind::Assert => return Err(fault(TrapKind::Assert)),
        Kind::Nop | Kind::Alu(_) | Kind::Load(_) | Kind::Store(_) | Kind::Branch => {}
    }
    Ok(Step::Next)
}

/// Counters are functions of the instructions issued to the warp: four cycles each, at 1 GHz.
fn counter(warp: &mut Warp, micro: &Micro, special: Special, issued: u64, executing: u32) {
    let clock = issued * 4;
    let value = match special {
        Special::ClockHi | Special::GlobaltimerHi => clock >> 32,
        _ => clock,
    };
    let row = usize::from(micro.dst);
    for lane in lanes(executing) {
        match special.width() {
            isa::Width::B64 => warp.registers.b64[row].0[lane] = value,
            _ => warp.registers.b32[row].0[lane] = value as u32,
        }
    }
}

fn isspacep(warp: &mut Warp, micro: &Micro, space: Space, executing: u32) {
    let addresses = &warp.registers.b64[usize::from(micro.src[0])].0;
    let inside = |address: u64| match space {
        Space::Shared => within(address, SHARED_BASE),
        Space::Local => within(address, LOCAL_BASE),
        Space::Param => within(address, PARAM_BASE),
        Space::Global | Space::Const | Space::Generic => {
            address >= DEVICE_BASE && !(address >= SHARED_BASE && address < PARAM_BASE + crate::memory::window::WINDOW)
        }
    };
    let bits = lanes(executing).filter(|&lane| inside(addresses[lane])).fold(0, |m, lane| m | (1 << lane));
    collective::write_pred(&mut warp.registers, micro.dst, bits, executing);
}

fn pack128(warp: &mut Warp, micro: &Micro, list: &[Option<crate::registers::Slot>], executing: u32) {
    let width = 128 / list.len().max(1) as u32;
    for lane in lanes(executing) {
        let parts = list.iter().flatten().enumerate();
        let joined =
            parts.fold(0u128, |joined, (at, slot)| joined | (warp.registers.get(*slot, lane) << (at as u32 * width)));
        warp.registers.b128[usize::from(micro.dst)].0[lane] = joined;
    }
}

fn unpack128(warp: &mut Warp, micro: &Micro, list: &[Option<crate::registers::Slot>], executing: u32) {
    let width = 128 / list.len().max(1) as u32;
    for lane in lanes(executing) {
        let joined = warp.registers.b128[usize::from(micro.src[0])].0[lane];
        for (at, slot) in list.iter().enumerate() {
            if let Some(slot) = slot {
                warp.registers.set(*slot, lane, joined >> (at as u32 * width));
            }
        }
    }
}

/// The lanes that execute an instruction leave the others behind, which go on after it.
fn part(warp: &mut Warp, running: &mut Running, executing: u32) {
    if executing != running.active {
        running.settle(warp);
        let rest = running.active & !executing;
        let next = Group { pc: running.pc + 1, mask: rest, frame: running.frame, state: State::Ready };
        warp.park(next);
        running.active = executing;
        running.limit = warp.limit(running.pc, running.frame);
    }
}

/// An instruction that lanes of the warp execute together: wait until all that are named and alive are here.
fn synchronise(warp: &mut Warp, running: &mut Running, executing: u32, micro: &Micro) -> Step {
    let source = match micro.kind {
        Kind::Shuffle(_) => 3,
        Kind::WarpSync => 0,
        _ => 1,
    };
    let members = warp.registers.b32[usize::from(micro.src[source])].0[executing.trailing_zeros() as usize];
    let forced = std::mem::replace(&mut running.state, State::Ready) == State::Forced;
    let mut executing = executing;
    if !forced && (members & warp.live) & !executing != 0 {
        part(warp, running, executing);
        running.settle(warp);
        let group = Group { state: State::WaitWarp, ..running.group() };
        warp.park(group);
        let here = |other: &Group| other.pc == group.pc && other.frame == group.frame && other.state == State::WaitWarp;
        let Some(at) = warp.groups.iter().position(here) else { return Step::Pick };
        if (members & warp.live) & !warp.groups[at].mask != 0 {
            return Step::Pick;
        }
        executing = warp.groups.swap_remove(at).mask;
        running.active = executing;
    }
    let registers = &mut warp.registers;
    match micro.kind {
        Kind::Shuffle(mode) => collective::shuffle(registers, micro, mode, executing),
        Kind::Vote(mode) => collective::vote(registers, micro, mode, executing),
        Kind::Match { all, wide } => collective::match_sync(registers, micro, all, wide, executing),
        Kind::Redux(op, ty) => collective::redux(registers, micro, op, ty, executing),
        _ => {}
    }
    Step::Next
}

/// A barrier of the block: be counted, and wait unless it is an arrival.
fn barrier(
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
    around.arrivals.push(Arrival {
        barrier: number,
        threads: executing.count_ones(),
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

/// A branch through a table: `None` where the index lies outside it.
fn branch_indexed(
    warp: &mut Warp,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
    targets: &[u32],
) -> Option<Step> {
    let indices = warp.registers.b32[usize::from(micro.src[0])].0;
    running.settle(warp);
    let (frame, next) = (running.frame, running.pc + 1);
    let rest = running.active & !executing;
    for lane in lanes(executing) {
        let pc = *targets.get(indices[lane] as usize)?;
        warp.park(Group { pc, mask: 1 << lane, frame, state: State::Ready });
    }
    warp.park(Group { pc: next, mask: rest, frame, state: State::Ready });
    Some(Step::Pick)
}

/// A call: arguments are copied into a new frame, and the lanes go on in the callee.
fn call(
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
) -> Result<Step, Fault> {
    let program = around.program;
    let Kind::Call(index) = micro.kind else { return Ok(Step::Next) };
    let plan = &program.calls[index as usize];
    let lane = executing.trailing_zeros() as usize;
    let (function, together) = match plan.target {
        CallTo::Function(function) => (function, executing),
        CallTo::Row(row) => callee(warp, program, row, executing)?,
    };
    if together != executing {
        // Lanes with another callee make their calls in turn.
        running.settle(warp);
        let others = Group { mask: executing & !together, ..running.group() };
        warp.park(Group { state: State::Forced, ..others });
        warp.park(Group { pc: running.pc + 1, mask: running.active & !executing, ..running.group() });
        running.active = together;
    }
    part(warp, running, together);
    running.settle(warp);
    let code = &program.functions[function as usize];
    let caller = &warp.frames[running.frame as usize];
    let caller_code = &program.functions[caller.function as usize];
    let (from, base, depth) = (caller.base, caller.base + caller_code.frame, caller.depth + 1);
    if u64::from(base) + u64::from(code.frame) > u64::from(around.local_limit) || depth > MAX_DEPTH {
        return Err(Fault { kind: TrapKind::StackOverflow, lane, address: None });
    }
    copy_ranges(warp, together, (from, &plan.arguments), (base, &code.formals));
    let saved = warp.is_active(running.frame, function).then(|| Box::new(warp.registers.clone()));
    let (parent, back) = (running.frame, running.pc + 1);
    let frame = CallFrame { parent, depth, function, back, call: index, base, lanes: together, saved };
    let frame = warp.open(frame);
    running.frame = frame;
    running.pc = code.entry;
    running.state = State::Ready;
    warp.park(running.group());
    Ok(Step::Pick)
}

/// Calls nested deeper than this overflow the stack whatever their frames need.
const MAX_DEPTH: u32 = 4096;

/// The function whose address the first lane holds, and the lanes that hold the same.
fn callee(warp: &Warp, program: &Program, row: u16, executing: u32) -> Result<(u32, u32), Fault> {
    let addresses = &warp.registers.b64[usize::from(row)].0;
    let lane = executing.trailing_zeros() as usize;
    let id = addresses[lane].wrapping_sub(crate::lower::FUNCTION_BASE);
    let named = |code: &crate::program::Code| u64::from(code.id.0) * 128 == id;
    // The kernel itself, function 0, cannot be called.
    let function = program.functions.iter().skip(1).position(named);
    let Some(function) = function else {
        return Err(Fault::at(TrapKind::IllegalInstruction, lane, addresses[lane]));
    };
    let same = lanes(executing).filter(|&other| addresses[other] == addresses[lane]);
    Ok((function as u32 + 1, same.fold(0, |mask, lane| mask | (1 << lane))))
}

/// Copies bytes between two frames of local memory, range by range.
fn copy_ranges(warp: &mut Warp, mask: u32, from: (u32, &[FrameRange]), to: (u32, &[FrameRange])) {
    for (source, target) in from.1.iter().zip(to.1) {
        let bytes = source.bytes.min(target.bytes);
        for byte in 0..bytes {
            let (a, b) = (from.0 + source.offset + byte, to.0 + target.offset + byte);
            let words = (a.max(b) / 4) as usize + 1;
            if warp.local.len() < words {
                warp.local.resize(words, [0; LANES]);
            }
            for lane in lanes(mask) {
                let value = (warp.local[(a / 4) as usize][lane] >> (8 * (a % 4))) & 0xff;
                let word = &mut warp.local[(b / 4) as usize][lane];
                *word = (*word & !(0xff << (8 * (b % 4)))) | (value << (8 * (b % 4)));
            }
        }
    }
}

/// A return: back to the caller with the results, or the end of the thread.
fn leave(warp: &mut Warp, around: &mut Surroundings<'_>, running: &mut Running, executing: u32) -> Step {
    if running.frame == 0 {
        return exit(warp, running, executing);
    }
    let program = around.program;
    running.settle(warp);
    let rest = Group { pc: running.pc + 1, mask: running.active & !executing, ..running.group() };
    warp.park(rest);
    let frame = warp.frames[running.frame as usize].clone();
    let plan = &program.calls[frame.call as usize];
    let code = &program.functions[frame.function as usize];
    let caller = warp.frames[frame.parent as usize].base;
    copy_ranges(warp, executing, (frame.base, &code.returns), (caller, &plan.results));
    if let Some(saved) = &frame.saved {
        for slot in &code.registers {
            for lane in lanes(executing) {
                let bits = saved.get(*slot, lane);
                warp.registers.set(*slot, lane, bits);
            }
        }
    }
    warp.leave(running.frame, executing);
    warp.park(Group { pc: frame.back, mask: executing, frame: frame.parent, state: State::Ready });
    Step::Pick
}

/// The end of threads.
fn exit(warp: &mut Warp, running: &mut Running, executing: u32) -> Step {
    running.settle(warp);
    warp.exit(running.frame, executing);
    running.active &= !executing;
    running.pc += 1;
    warp.park(running.group());
    Step::Pick
}
