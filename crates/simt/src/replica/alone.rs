//! What a replica does in ways of its own: its lanes see global memory each as it wrote it, and what one does wrong stops
//! that lane alone, as does what a thread cannot do without others.

use super::guide::{Guide, needs_others};
use super::view::{Access, Stop, View};
use crate::access::{Addresses, inside};
use crate::exec::{Running, Step, plain};
use crate::memory::Owners;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE};
use crate::program::{AccessPlan, Micro, MicroKind};
use crate::trap::TrapKind;
use ::lanes::Handlers;
use ::lanes::registers::lanes;
use isa::Space;

/// What the lanes see, what other threads of the block access, and what the thread did where these have a part in it.
pub(super) struct Alone<'a> {
    pub(super) view: &'a mut View,
    pub(super) owners: &'a Owners,
    pub(super) guide: Option<Guide<'a>>,
    /// How many instructions more are to be executed, by all lanes together and noted; without end if this is the most.
    pub(super) steps: u64,
}

impl Alone<'_> {
    /// Executes one micro-operation. Lanes that it stops leave the group.
    #[inline(always)]
    pub(super) fn execute<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Step {
        let executing = running.executing.mask;
        match micro.kind {
            MicroKind::Alu(_) | MicroKind::Pred(_) => {
                // Neither can fail.
                let _ = plain(level, running.program, &mut running.executing, micro);
            }
            MicroKind::Load(plan) | MicroKind::Store(plan) => {
                let program = running.program;
                self.access(level, running, micro, &program.accesses[plan as usize]);
            }
            MicroKind::Trap => self.stop(running, executing, Stop::Trapped(TrapKind::Trap, None), micro),
            kind if needs_others(kind, running.program) => self.escape(running, executing, micro),
            _ => match running.step(level, micro) {
                Ok(step) => return step,
                Err(_) => self.escape(running, executing, micro),
            },
        }
        Step::Next
    }

    /// A load or store: to global memory as each lane sees it, to the thread's own as ever.
    fn access<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro, plan: &AccessPlan) {
        let executing = running.executing.mask;
        match plan.space {
            Space::Global | Space::Const => {
                let at = running.executing.addresses(plan);
                self.access_global(running, micro, plan, &at);
            }
            Space::Local | Space::Param => self.access_own(level, running, micro),
            Space::Shared => self.escape(running, executing, micro),
            Space::Generic => {
                let at = running.executing.addresses(plan);
                let of = |base| inside(&at, executing, base);
                let (shared, own) = (of(SHARED_BASE), of(LOCAL_BASE) | of(PARAM_BASE));
                running.executing.mask = executing & !(shared | own);
                self.access_global(running, micro, plan, &at);
                self.escape(running, shared, micro);
                running.executing.mask = own;
                self.access_own(level, running, micro);
                running.executing.mask = executing & running.active;
            }
        }
    }

    fn access_global(&mut self, running: &mut Running<'_>, micro: &Micro, plan: &AccessPlan, at: &Addresses) {
        let on = &mut running.executing;
        if on.mask == 0 {
            return;
        }
        let mut access = Access { memory: on.memories.global, owners: self.owners, plan, at, mask: on.mask };
        let stopped = match micro.kind {
            MicroKind::Load(_) => self.view.load(&mut access, on.registers),
            _ => self.view.store(&access, on.registers),
        };
        for lane in lanes(stopped.lanes) {
            self.stop(running, 1 << lane, stopped.why[lane], micro);
        }
    }

    fn access_own<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) {
        while running.executing.mask != 0 {
            let Err(trap) = plain(level, running.program, &mut running.executing, micro) else { return };
            self.stop(running, 1 << trap.lane, Stop::Trapped(trap.kind, trap.address), micro);
        }
    }

    /// Lanes escape.
    pub(super) fn escape(&mut self, running: &mut Running<'_>, escaped: u32, micro: &Micro) {
        self.stop(running, escaped, Stop::Escaped, micro);
    }

    /// Takes lanes out of the group and of the warp.
    pub(super) fn stop(&mut self, running: &mut Running<'_>, stopped: u32, why: Stop, micro: &Micro) {
        if stopped == 0 {
            return;
        }
        for lane in lanes(stopped) {
            self.view.stop(lane, why, micro.instruction);
        }
        running.drop_lanes(stopped);
    }
}
