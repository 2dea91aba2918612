//! The group of a warp that runs.

use super::plain::plain_by;
use crate::access::{Executing, LaneTrap, LocalWindow, Memories};
use crate::barrier::Arrival;
use crate::control::{Control, Group, QUANTUM, State};
use crate::launch::KernelLaunch;
use crate::memory::GlobalMemory;
use crate::program::{Micro, Program};
use crate::trap::{Assertion, Halt, Trap, TrapKind};
use crate::warp::Warp;
use ::lanes::Handlers;
use ::lanes::registers::LANES;

/// Where a group goes after a micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Next,
    /// All lanes go elsewhere.
    Jump(u32),
    /// The group was put back or ended: take the next.
    Pick,
}

/// What the warps of a block leave for others.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// What `printf` has written.
    pub(crate) printed: Vec<u8>,
    /// What failed.
    pub(crate) assertions: Vec<Assertion>,
    /// Who came to the block's barriers in this round.
    pub(crate) arrivals: Vec<Arrival>,
}

/// A warp that runs: what it works on, and where the group is whose turn it is.
pub(crate) struct Running<'a> {
    pub(crate) program: &'a Program,
    /// The lanes of the group that execute the instruction.
    pub(crate) executing: Executing<'a>,
    /// The groups that do not run, and what belongs to no group.
    pub(crate) control: &'a mut Control,
    pub(super) notes: &'a mut Notes,
    /// The warp, by its index in the block.
    pub(super) warp: u32,
    /// The block, linear in the grid.
    pub(super) block: u64,
    pub(crate) pc: u32,
    pub(crate) active: u32,
    pub(super) frame: u32,
    pub(super) state: State,
    /// Whether it has its turn although another group is behind it.
    fair: bool,
    /// Instructions left in the turn, and at its start since the counts were brought up to date.
    pub(super) left: i64,
    pub(super) since: i64,
    /// What the warp has issued when the turn is over.
    end: u64,
    /// Where the group must stop, because another is there.
    pub(super) limit: u32,
}

impl<'a> Running<'a> {
    /// A warp of a block at the start of its turn.
    pub(crate) fn new(
        launch: &KernelLaunch<'a>,
        block: u64,
        warp: &'a mut Warp,
        global: &'a mut GlobalMemory,
        shared: &'a mut [u8],
        notes: &'a mut Notes,
    ) -> Self {
        let program = launch.program;
        let Warp { index, registers, local, control } = warp;
        let local_window = LocalWindow::new(program, global.allocations().profile());
        let shared = within_reach(launch, global, shared);
        let memories = Memories { global, shared, local, local_window, params: launch.params };
        let executing = Executing { mask: 0, registers, memories, frame_base: local_window.base };
        let end = control.issued + u64::from(QUANTUM);
        Self {
            program,
            executing,
            control,
            notes,
            warp: *index,
            block,
            pc: 0,
            active: 0,
            frame: 0,
            state: State::Ready,
            fair: false,
            left: 0,
            since: 0,
            end,
            limit: 0,
        }
    }

    /// With a turn that does not end.
    pub(crate) fn without_end(self) -> Self {
        Self { end: u64::MAX, ..self }
    }

    /// Takes the group that runs next; whether there is one.
    pub(super) fn pick(&mut self) -> bool {
        let Some((group, fair)) = self.control.pick() else { return false };
        (self.pc, self.active, self.frame, self.state, self.fair) =
            (group.pc, group.mask, group.frame, group.state, fair);
        self.executing.mask = group.mask;
        let base = self.control.frames[group.frame as usize].base;
        self.executing.frame_base = self.executing.memories.local_window.base + base;
        self.limit = self.control.limit(group.pc, group.frame);
        self.refill();
        true
    }

    /// Finds out for how many instructions neither the end of the turn nor fuel need be looked at.
    pub(super) fn refill(&mut self) {
        self.left = self.control.fuel_check.min(self.end).saturating_sub(self.control.issued) as i64;
        self.since = self.left;
    }

    /// Whether the turn is over; then every group gets one.
    pub(super) fn is_turn_over(&mut self) -> bool {
        let over = self.control.issued >= self.end;
        if over {
            self.control.be_fair();
        }
        over
    }

    /// A turn of one instruction is over. For as many instructions as a turn has otherwise the group that is behind goes
    /// on, then for as many all that are ready in turn.
    pub(super) fn end_single_turn(&mut self) {
        if self.control.issued / u64::from(QUANTUM) % 2 == 1 {
            self.control.be_fair();
        } else {
            self.control.fair = 0;
        }
    }

    /// Instructions that were issued to the warp.
    pub(super) fn issued(&self) -> u64 {
        self.control.issued + (self.since - self.left) as u64
    }

    /// The group, as it would be if it were put back.
    pub(super) fn group(&self) -> Group {
        Group { pc: self.pc, mask: self.active, frame: self.frame, state: State::Ready }
    }

    /// Brings the counts of the running lanes up to date.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        self.control.count(self.active, (self.since - self.left) as u32);
        self.since = self.left;
    }

    /// Puts the group back.
    pub(crate) fn put_back(&mut self) {
        self.settle();
        self.control.park(self.group());
    }

    /// Counts an architectural instruction and finds out which lanes execute it.
    #[inline(always)]
    pub(crate) fn begin(&mut self, micro: &Micro) {
        let guard = self.executing.registers.pred[usize::from(micro.guard)];
        let executing = self.active & if micro.guard_not { !guard } else { guard };
        self.executing.mask = executing;
        self.left -= 1;
        if executing != self.active {
            self.control.discount(self.active & !executing);
        }
    }

    /// Executes plain micro-operations, which have no guard: so many, or up to where the group must stop.
    #[inline(always)]
    pub(super) fn row<L: Handlers>(&mut self, level: L, straight: u16) -> Result<(), Halt> {
        let program = self.program;
        let count = u32::from(straight).min(self.limit - self.pc);
        self.executing.mask = self.active;
        let mut left = self.left;
        let with = (level, L::loops(self.active));
        for micro in &program.micros[self.pc as usize..][..count as usize] {
            left -= i64::from(micro.first);
            if let Err(trap) = plain_by(with, program, &mut self.executing, micro) {
                self.left = left;
                return Err(self.trap(trap, micro).into());
            }
        }
        self.left = left;
        self.pc += count;
        Ok(())
    }

    /// A branch of the lanes that execute: all go one way, or the group splits and the part that is behind goes on.
    #[inline(always)]
    pub(super) fn branch(&mut self, target: u32) -> Step {
        let taken = self.executing.mask;
        if taken == self.active {
            return Step::Jump(target);
        }
        self.settle();
        let rest = self.active & !taken;
        let next = self.pc + 1;
        let (pc, active, other_pc, other) =
            if target < next { (target, taken, next, rest) } else { (next, rest, target, taken) };
        self.control.park(Group { pc: other_pc, mask: other, ..self.group() });
        self.active = active;
        Step::Jump(pc)
    }

    /// Finds out where a group that has jumped meets another.
    #[inline(always)]
    pub(super) fn meet(&mut self) {
        if !self.control.groups.is_empty() {
            let behind = self.control.is_behind(self.pc, self.frame) && !self.fair;
            self.limit = if behind { self.pc } else { self.control.limit(self.pc, self.frame) };
        }
    }

    /// Whether no lane that took a branch is out of fuel: that is a matter of each thread's own path.
    pub(crate) fn check_fuel(&mut self) -> Result<(), LaneTrap> {
        if self.control.issued < self.control.fuel_check {
            return Ok(());
        }
        let empty = self.control.out_of_fuel(self.executing.mask);
        self.control.move_fuel_check();
        let lane = empty.trailing_zeros() as usize;
        if empty == 0 { Ok(()) } else { Err(LaneTrap::new(TrapKind::OutOfFuel, lane)) }
    }

    /// What a lane did wrong, and where.
    pub(crate) fn trap(&self, trap: LaneTrap, micro: &Micro) -> Trap {
        let thread = self.warp * LANES as u32 + trap.lane as u32;
        Trap { kind: trap.kind, instruction: micro.instruction, block: self.block, thread, address: trap.address }
    }

    /// Takes lanes out of the group and of the warp.
    pub(crate) fn drop_lanes(&mut self, dropped: u32) {
        self.settle();
        self.control.exit(self.frame, dropped);
        // They may be in the group, or have left it with the branch that they took last.
        self.active &= !dropped;
        self.executing.mask &= !dropped;
        self.control.groups.iter_mut().for_each(|group| group.mask &= !dropped);
        self.control.groups.retain(|group| group.mask != 0);
        if self.active == 0 {
            self.limit = 0;
        }
    }
}

/// The shared memory that a block reaches: whole units, or what it asked for.
fn within_reach<'a>(launch: &KernelLaunch<'_>, global: &GlobalMemory, shared: &'a mut [u8]) -> &'a mut [u8] {
    let asked = launch.shared() as usize;
    if global.is_strict() && asked <= shared.len() { &mut shared[..asked] } else { shared }
}
