//! How a warp is run while its loop is looked at: for so many iterations, or instructions.

use super::trace::Trace;
use crate::exec::{Begun, Policy, Running, Step, run};
use crate::program::Micro;
use crate::trap::Halt;
use ::lanes::Handlers;
use ::lanes::level::{LevelName, WithLevel, with_level};

/// Runs a warp until it has come to the head of a loop so often, or has executed so many instructions.
#[derive(Debug)]
pub(super) struct Observer {
    /// The micro-operation at which the loop begins.
    pub(super) head: Option<u32>,
    /// How often it is come to before the warp stops there.
    pub(super) visits: u32,
    /// Instructions that may still be executed.
    pub(super) left: u64,
    /// Where jumps back went, in order.
    pub(super) jumps: Vec<u32>,
    /// What is found out on the way.
    pub(super) trace: Option<Trace>,
    /// Whether the warp has stopped because it came so far.
    pub(super) arrived: bool,
}

impl Observer {
    pub(super) fn new(left: u64) -> Self {
        Self { head: None, visits: 0, left, jumps: Vec::new(), trace: None, arrived: false }
    }

    /// One that stops when the warp comes to the head of a loop so often.
    pub(super) fn to(head: u32, visits: u32, left: u64) -> Self {
        Self { head: Some(head), visits, ..Self::new(left) }
    }

    /// Runs a warp until it has come to where it should, or does not come there.
    ///
    /// # Errors
    /// That it was stopped, there or by its end; or what a lane does wrong.
    pub(super) fn observe(&mut self, level: LevelName, running: &mut Running<'_>) -> Result<(), Halt> {
        // The level was found available when the executor was made.
        with_level(level, Observed { observer: self, running }).unwrap_or(Ok(()))
    }
}

/// A warp that is run while it is observed.
struct Observed<'o, 'r, 'a> {
    observer: &'o mut Observer,
    running: &'r mut Running<'a>,
}

impl WithLevel for Observed<'_, '_, '_> {
    type Output = Result<(), Halt>;

    fn with<L: Handlers>(self, level: L) -> Self::Output {
        run(level, self.observer, self.running)
    }
}

impl Policy for Observer {
    const SINGLE: bool = false;

    fn row(&self, _: &Running<'_>, _: &Micro) -> u16 {
        0
    }

    fn begin<L: Handlers>(&mut self, _: L, running: &mut Running<'_>, micro: &Micro) -> Result<Begun, Halt> {
        if self.head == Some(running.pc) {
            self.arrived = self.visits == 0;
            self.visits = self.visits.saturating_sub(1);
        }
        if self.arrived || self.left == 0 {
            running.put_back();
            return Err(Halt::Stop);
        }
        self.left -= 1;
        if let Some(trace) = &mut self.trace {
            trace.guard(micro, running.active);
        }
        running.begin(micro);
        Ok(Begun::Execute)
    }

    fn step<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Step, Halt> {
        let from = running.pc;
        let done = match &mut self.trace {
            Some(trace) => trace.execute(level, running, micro),
            None => running.step(level, micro),
        };
        let step = done.map_err(|trap| running.trap(trap, micro))?;
        if let Step::Jump(to) = step
            && to <= from
        {
            self.jumps.push(to);
        }
        Ok(step)
    }

    fn end(&mut self, _: &mut Running<'_>, _: &Micro) -> Result<(), Halt> {
        Ok(())
    }

    fn out_of_fuel(&mut self, running: &mut Running<'_>, micro: &Micro) -> Result<(), Halt> {
        running.check_fuel().map_err(|trap| running.trap(trap, micro).into())
    }
}
