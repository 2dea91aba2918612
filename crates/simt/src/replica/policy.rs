//! The machine's loop as a replica runs it: a warp whose lanes are one thread, each with a fault of its own, without
//! hooks, turns and other warps.

use super::alone::Alone;
use crate::exec::{Begun, Policy, Running, Step};
use crate::program::Micro;
use crate::trap::Halt;
use ::lanes::Handlers;

impl Policy for Alone<'_> {
    const SINGLE: bool = false;

    #[inline(always)]
    fn row(&self, _: &Running<'_>, _: &Micro) -> u16 {
        0
    }

    /// Stops after as many instructions as were asked for.
    #[inline(always)]
    fn begin<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Begun, Halt> {
        if self.steps == 0 {
            running.put_back();
            return Err(Halt::Stop);
        }
        running.begin(micro);
        if self.steps != u64::MAX {
            let executed = running.executing.mask != 0;
            self.steps -= u64::from(executed);
            self.view.path.push((micro.instruction, executed));
        }
        Ok(match self.guide {
            Some(guide) => self.go_by(guide, level, running, micro),
            None => Begun::Execute,
        })
    }

    #[inline(always)]
    fn step<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Step, Halt> {
        Ok(self.execute(level, running, micro))
    }

    #[inline(always)]
    fn end(&mut self, _: &mut Running<'_>, _: &Micro) -> Result<(), Halt> {
        Ok(())
    }

    /// Lanes that have executed far more than they should are in a loop: whether it ends is for others to find out.
    #[cold]
    fn out_of_fuel(&mut self, running: &mut Running<'_>, micro: &Micro) -> Result<(), Halt> {
        let empty = running.control.out_of_fuel(running.executing.mask);
        self.escape(running, empty, micro);
        running.control.move_fuel_check();
        Ok(())
    }
}
