//! The loop that runs a warp.
//!
//! It takes the group of lanes that is behind, runs it instruction by instruction, and puts it back when it meets
//! another group, has to wait, or has run for long enough. Counting costs one subtraction per instruction: the
//! lanes' counts are brought up to date where the set of lanes changes.

mod calls;
mod guided;
mod plain;
mod solo;
mod stack;
mod sync;
mod system;
mod values;

use crate::access::Fault;
use crate::atomic::atomic;
use crate::collective;
use crate::copy::copy;
use crate::hook::{Hook, Interest, Moment};
use crate::matrix::matrix;
use crate::mbarrier::mbarrier;
use crate::memory::GlobalMemory;
use crate::program::{Kind, Micro, Program};
use crate::registers::{LANES, lanes};
use crate::texture::texture;
use crate::trap::{Assertion, Halt, Trap, TrapKind};
use crate::warp::{Group, QUANTUM, State, Warp};
use ::lanes::Handlers;
use ::lanes::level::Level;
use calls::{call, exit, leave};
use plain::{plain, split};
pub(crate) use solo::{Alone, Pause, needs_others, run_alone};
use sync::{Met, barrier, synchronise};
use values::{counter, isspacep, pack128, unpack128};

/// What a warp runs in.
pub(crate) struct Surroundings<'a> {
    pub(crate) program: &'a Program,
    pub(crate) global: &'a mut GlobalMemory,
    pub(crate) shared: &'a mut [u8],
    pub(crate) params: &'a [u8],
    pub(crate) local_limit: u32,
    /// What `printf` has written.
    pub(crate) printed: &'a mut Vec<u8>,
    /// What failed.
    pub(crate) assertions: &'a mut Vec<Assertion>,
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
    /// Lanes of the warp without a living thread. A count of threads counts warps, so these are among them.
    pub(crate) absent: u32,
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
    /// The lanes of the group that execute the instruction.
    executing: u32,
    frame: u32,
    state: State,
    /// Whether it has its turn although another group is behind it.
    fair: bool,
    /// Instructions left in the turn, and at its start since the counts were brought up to date.
    left: i64,
    since: i64,
    /// What the warp has issued when the turn is over.
    end: u64,
    limit: u32,
}

/// Runs a warp until it stops.
pub(crate) fn run<L: Handlers, H: Hook + ?Sized>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    hook: &mut H,
) -> Result<(), Halt> {
    let mut hooked = hook.wants(warp.index);
    let end = warp.issued + u64::from(QUANTUM);
    while let Some((group, fair)) = warp.pick() {
        let mut running = Running::new(warp, group, fair, end);
        let end_of_group = run_group::<L, H>(level, warp, around, hook, &mut hooked, &mut running);
        if let Err(halt) = end_of_group {
            // Whoever explains a trap wants to know how far each thread came.
            running.settle(warp);
            return Err(halt);
        }
        if warp.issued >= end {
            warp.be_fair();
            return Ok(());
        }
    }
    Ok(())
}

impl Running {
    fn new(warp: &Warp, group: Group, fair: bool, end: u64) -> Self {
        let limit = warp.limit(group.pc, group.frame);
        let Group { pc, mask, frame, state } = group;
        let mut running = Self { pc, active: mask, executing: mask, frame, state, fair, left: 0, since: 0, end, limit };
        running.refill(warp);
        running
    }

    /// Finds out for how many instructions neither the end of the turn nor fuel need be looked at.
    fn refill(&mut self, warp: &Warp) {
        self.left = warp.fuel_check.min(self.end).saturating_sub(warp.issued) as i64;
        self.since = self.left;
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
fn run_group<L: Handlers, H: Hook + ?Sized>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    hook: &mut H,
    hooked: &mut bool,
    running: &mut Running,
) -> Result<(), Halt> {
    let program = around.program;
    // A group that goes on from where it waited has been counted and has passed its guard.
    let mut resumed = running.state != State::Ready;
    loop {
        if running.pc >= running.limit {
            running.settle(warp);
            warp.park(running.group());
            return Ok(());
        }
        let micro = &program.micros[running.pc as usize];
        if !*hooked && micro.straight > 0 {
            let (active, frame) = (running.active, running.frame);
            let count = u32::from(micro.straight).min(running.limit - running.pc);
            let mut left = running.left;
            let done = program.micros[running.pc as usize..][..count as usize].iter().try_for_each(|micro| {
                left -= i64::from(micro.first);
                plain(level, warp, around, frame, active, micro)
            });
            running.left = left;
            done?;
            running.executing = active;
            running.pc += count;
            continue;
        }
        if resumed {
            resumed = false;
        } else if micro.first {
            let guard = warp.registers.pred[usize::from(micro.guard)];
            let executing = running.active & if micro.guard_not { !guard } else { guard };
            running.executing = executing;
            running.left -= 1;
            if executing != running.active {
                warp.discount(running.active & !executing);
            }
            if *hooked {
                let interest = hook.before(moment(around, warp, micro, running));
                *hooked = stays(interest)?;
            }
        }
        let executing = running.executing;
        if executing == 0 {
            running.pc += 1;
            continue;
        }
        let step = match micro.kind {
            kind if kind.is_plain() => {
                plain(level, warp, around, running.frame, executing, micro)?;
                Step::Next
            }
            Kind::Branch => branch(warp, running, executing, micro.imm as u32),
            _ => other(level, warp, around, running, executing, micro)
                .map_err(|fault| trap(fault, micro, warp.index, around.block))?,
        };
        match step {
            Step::Next => {
                if *hooked && micro.last {
                    let interest = hook.after(moment(around, warp, micro, running));
                    *hooked = stays(interest)?;
                }
                running.pc += 1;
            }
            Step::Jump(target) => {
                running.pc = target;
                if running.left <= 0 {
                    running.settle(warp);
                    check_fuel(warp, running, micro, around.block)?;
                    // That fuel was looked at ends no turn: who runs when does not depend on how much there is.
                    running.refill(warp);
                    if running.left <= 0 {
                        warp.park(running.group());
                        return Ok(());
                    }
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

/// Whether a hook wants to see more; it may also end the run.
fn stays(interest: Interest) -> Result<bool, Halt> {
    if interest == Interest::Stop { Err(Halt::Stop) } else { Ok(interest == Interest::Stay) }
}

fn moment<'a>(around: &'a mut Surroundings<'_>, warp: &'a mut Warp, micro: &Micro, running: &Running) -> Moment<'a> {
    let frame = &warp.frames[running.frame as usize];
    let bytes = around.program.functions[frame.function as usize].frame;
    Moment {
        program: around.program,
        frame: frame.base..frame.base + bytes,
        registers: &mut warp.registers,
        global: &mut *around.global,
        shared: &mut *around.shared,
        local: &mut warp.local,
        site: micro.site,
        warp: warp.index,
        active: running.active,
        executing: running.executing,
    }
}

fn trap(fault: Fault, micro: &Micro, warp: u32, block: u64) -> Trap {
    let thread = warp * LANES as u32 + fault.lane as u32;
    Trap { kind: fault.kind, site: micro.site, block, thread, address: fault.address }
}

fn check_fuel(warp: &mut Warp, running: &Running, micro: &Micro, block: u64) -> Result<(), Trap> {
    if warp.issued < warp.fuel_check {
        return Ok(());
    }
    // Those that took the branch: whether a thread is out of fuel is a matter of its own path.
    match warp.out_of_fuel(running.executing) {
        None => Ok(()),
        Some(lane) => Err(trap(Fault { kind: TrapKind::OutOfFuel, lane, address: None }, micro, warp.index, block)),
    }
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
fn other<L: Level>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
) -> Result<Step, Fault> {
    let program = around.program;
    let fault = |kind: TrapKind| Fault { kind, lane: executing.trailing_zeros() as usize, address: None };
    match micro.kind {
        Kind::Atomic(plan) => {
            let (registers, mut memories, base) = split(warp, around, running.frame);
            atomic(registers, &mut memories, &program.atomics[plan as usize], base, executing)?;
        }
        Kind::Copy(plan) => {
            let (registers, mut memories, base) = split(warp, around, running.frame);
            copy(registers, &mut memories, &program.copies[plan as usize], base, executing)?;
        }
        Kind::Mbarrier(plan) => {
            let (registers, mut memories, base) = split(warp, around, running.frame);
            mbarrier(registers, &mut memories, &program.mbarriers[plan as usize], base, executing)?;
        }
        Kind::Texture(plan) => {
            let (registers, mut memories, _) = split(warp, around, running.frame);
            texture(registers, &mut memories, &program.textures[plan as usize], executing)?;
        }
        Kind::FrameAddress => {
            let address = i64::from(warp.frames[running.frame as usize].base).wrapping_add(micro.imm);
            let row = &mut warp.registers.b64[usize::from(micro.dst)].0;
            lanes(executing).for_each(|lane| row[lane] = address as u64);
        }
        Kind::Alloca(width) => stack::alloca(warp, around, running.frame, executing, micro, width)?,
        Kind::StackSave(width) => stack::save(warp, program, running.frame, executing, micro, width),
        Kind::StackRestore(width) => stack::restore(warp, around, running.frame, executing, micro, width),
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
        Kind::Shuffle(_) | Kind::Vote(_) | Kind::Elect | Kind::Match { .. } | Kind::Redux(..) | Kind::WarpSync => {
            match synchronise(warp, running, executing, micro)? {
                Met::All(together) => collective::execute(level, &mut warp.registers, micro, together),
                Met::Before => {}
                Met::No => return Ok(Step::Pick),
            }
        }
        Kind::Matrix(plan) => match synchronise(warp, running, executing, micro)? {
            Met::All(together) => {
                let (registers, mut memories, base) = split(warp, around, running.frame);
                matrix(registers, &mut memories, &program.matrices[plan as usize], base, together)?;
            }
            Met::Before => {}
            Met::No => return Ok(Step::Pick),
        },
        Kind::Barrier(plan) => {
            return Ok(barrier(warp, around, running, executing, micro, program.barriers[plan as usize]));
        }
        Kind::BranchIndexed(list) => {
            let targets = &program.branches[list as usize];
            return branch_indexed(warp, running, executing, micro, targets);
        }
        Kind::Call(_) => return call(warp, around, running, executing, micro),
        Kind::Return => return Ok(leave(warp, around, running, executing)),
        Kind::Exit => return Ok(exit(warp, running, executing)),
        Kind::Trap => return Err(fault(TrapKind::Trap)),
        Kind::Assert => return Err(fault(TrapKind::Assert)),
        Kind::Nop | Kind::Alu(_) | Kind::Pred(_) | Kind::Load(_) | Kind::Store(_) | Kind::Branch => {}
    }
    Ok(Step::Next)
}

/// A branch through a table; an index outside it is illegal.
fn branch_indexed(
    warp: &mut Warp,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
    targets: &[u32],
) -> Result<Step, Fault> {
    let indices = warp.registers.b32[usize::from(micro.src[0])].0;
    running.settle(warp);
    // A loop may be closed by nothing else.
    if warp.issued >= warp.fuel_check
        && let Some(lane) = warp.out_of_fuel(executing)
    {
        return Err(Fault { kind: TrapKind::OutOfFuel, lane, address: None });
    }
    let (frame, next) = (running.frame, running.pc + 1);
    let rest = running.active & !executing;
    for lane in lanes(executing) {
        let illegal = Fault { kind: TrapKind::IllegalInstruction, lane, address: None };
        let pc = *targets.get(indices[lane] as usize).ok_or(illegal)?;
        warp.park(Group { pc, mask: 1 << lane, frame, state: State::Ready });
    }
    warp.park(Group { pc: next, mask: rest, frame, state: State::Ready });
    Ok(Step::Pick)
}
