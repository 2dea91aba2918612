//! How a thread gets from one of its instructions to another: by a breakpoint for this thread and then step by step.
//!
//! GPU-Qin breaks at a source line, goes on once for every earlier iteration of the loop around it, and single-steps from there
//! (section III-C). A breakpoint can also be set at an instruction; the way chosen here is the cheapest of all that end
//! in a number of single steps within GPU-Qin's window.

use crate::mi::{Session, Stop, Trouble};
use crate::profile::{Code, Trace};
use crate::thread::{Entered, Reached, Thread};
use std::time::Duration;

/// The most instructions that are stepped through on the way to one, as in GPU-Qin.
pub(crate) const WINDOW: usize = 300;

/// What a way costs, in milliseconds as measured on an H200: an instruction, one that waits for the block, a stop at a
/// breakpoint (with the step off it, where it is not the last).
const STEP: u64 = 42;
const BARRIER: u64 = 320;
const STOP: u64 = 220;
/// What the way to a breakpoint may take.
const CONTINUE: Duration = Duration::from_secs(20);

/// A way to a step of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Route {
    /// Where the breakpoint is, if there is one, and how often the thread comes to it until it is where it should be.
    stop: Option<(usize, u32)>,
    /// The single steps after it.
    steps: usize,
    cost: u64,
}

/// A thread on its way, with what it took.
pub(crate) struct Navigator<'t> {
    pub(crate) thread: &'t Thread,
    pub(crate) code: &'t Code,
    pub(crate) trace: &'t Trace,
    pub(crate) entered: Entered,
    /// The step that it stands before.
    pub(crate) at: usize,
    pub(crate) steps: u64,
    pub(crate) stops: u64,
}

impl Navigator<'_> {
    /// Gets to a step that is not behind it.
    pub(crate) fn navigate(&mut self, session: &mut Session<'_>, to: usize) -> Result<Reached<()>, Trouble> {
        let Some(route) = route(self.code, self.trace, self.at, to) else {
            return Ok(Reached::Strayed(format!(
                "reach the instruction: it is more than {WINDOW} steps from any place to break at"
            )));
        };
        if let Some((landing, hits)) = route.stop {
            match self.stop_at(session, landing, hits)? {
                Reached::There(()) => {}
                other => return Ok(other),
            }
        }
        for _ in 0..route.steps {
            match self.step(session)? {
                Reached::There(()) => {}
                other => return Ok(other),
            }
        }
        Ok(Reached::There(()))
    }

    /// Goes on to a breakpoint so many times.
    fn stop_at(&mut self, session: &mut Session<'_>, landing: usize, hits: u32) -> Result<Reached<()>, Trouble> {
        let pc = self.address(landing);
        for hit in 0..hits {
            session.break_at(pc, &self.thread.condition)?;
            let stop = session.resume("-exec-continue", CONTINUE)?;
            match stop {
                Stop::Device { focus, pc: found, .. } if focus == self.thread.focus && found == pc => {}
                Stop::Device { pc, .. } => {
                    return Ok(Reached::Strayed(format!("break in the thread: it is at {pc:#x}")));
                }
                other => return Ok(Reached::Missed(other)),
            }
            self.stops += 1;
            // With its breakpoint in place a thread does not always get off an instruction.
            session.delete()?;
            if hit + 1 < hits {
                self.steps += 1;
                match self.thread.step(session, pc)? {
                    Reached::There(Some(_)) => {}
                    Reached::There(None) => return Ok(Reached::Strayed(ended())),
                    Reached::Missed(stop) => return Ok(Reached::Missed(stop)),
                    Reached::Strayed(reason) => return Ok(Reached::Strayed(reason)),
                }
            }
        }
        self.at = landing;
        Ok(Reached::There(()))
    }

    /// Executes one instruction, and those behind it at which lanes only come together and the debugger stops; the thread
    /// must then stand where its trace says.
    pub(crate) fn step(&mut self, session: &mut Session<'_>) -> Result<Reached<()>, Trouble> {
        let mut from = self.address(self.at);
        loop {
            self.steps += 1;
            let pc = match self.thread.step(session, from)? {
                Reached::There(Some(pc)) => pc,
                Reached::There(None) => return Ok(Reached::Strayed(ended())),
                Reached::Missed(stop) => return Ok(Reached::Missed(stop)),
                Reached::Strayed(reason) => return Ok(Reached::Strayed(reason)),
            };
            let offset = pc.wrapping_sub(self.entered.base);
            if self.trace.steps.get(self.at + 1).is_some_and(|step| u64::from(step.offset) == offset) {
                self.at += 1;
                return Ok(Reached::There(()));
            }
            let line = u32::try_from(offset).ok().and_then(|offset| self.code.get(&offset));
            if !line.is_some_and(|line| line.instruction.only_converges()) {
                let strayed = format!("follow the thread: it goes another way than its group, to +{offset}");
                return Ok(Reached::Strayed(strayed));
            }
            from = pc;
        }
    }

    fn address(&self, step: usize) -> u64 {
        self.entered.base + u64::from(self.trace.steps[step].offset)
    }
}

fn ended() -> String {
    "reach the instruction: the thread ended before it".to_owned()
}

/// The cheapest way, if there is one.
fn route(code: &Code, trace: &Trace, from: usize, to: usize) -> Option<Route> {
    if to < from || to >= trace.steps.len() {
        return None;
    }
    let cost = |step: usize| {
        let line = code.get(&trace.steps[step].offset);
        if line.is_some_and(|line| line.instruction.base() == "BAR") { BARRIER } else { STEP }
    };
    let mut stepping = 0;
    let mut best: Option<Route> = None;
    for landing in (from..=to).rev().take(WINDOW + 1) {
        let stop = (landing > from).then(|| {
            let offset = trace.steps[landing].offset;
            let hits = trace.steps[from + 1..=landing].iter().filter(|step| step.offset == offset).count();
            (landing, hits as u32)
        });
        let route =
            Route { stop, steps: to - landing, cost: stepping + stop.map_or(0, |(_, hits)| u64::from(hits) * STOP) };
        if best.is_none_or(|best| route.cost < best.cost) {
            best = Some(route);
        }
        if let Some(before) = landing.checked_sub(1) {
            stepping += cost(before);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{TraceStep, tests::looped};

    fn found(from: usize, to: usize) -> (Option<(usize, u32)>, usize) {
        let (code, trace) = looped();
        let route = route(&code, &trace, from, to).unwrap();
        (route.stop, route.steps)
    }

    #[test]
    fn what_is_near_is_stepped_to() {
        assert_eq!(found(1, 1), (None, 0));
        assert_eq!(found(1, 4), (None, 3));
    }

    #[test]
    fn barriers_and_loops_are_gone_through_at_full_speed() {
        // Behind the first barrier: a breakpoint where the thread comes for the first time.
        assert_eq!(found(1, 5), (Some((5, 1)), 0));
        // Behind the loop.
        assert_eq!(found(1, 14), (Some((14, 1)), 0));
        // In its third turn, from the end of the second.
        assert_eq!(found(1, 11), (Some((9, 2)), 2));
    }

    #[test]
    fn what_is_behind_or_beyond_the_end_is_not_reached() {
        let (code, trace) = looped();
        assert_eq!(route(&code, &trace, 3, 2), None);
        assert_eq!(route(&code, &trace, 3, 16), None);
    }

    #[test]
    fn not_more_than_the_window_is_stepped_through() {
        let steps = vec![TraceStep { offset: 16, executed: true }; 1000];
        let trace = Trace { steps, first: 0 };
        let route = route(&Code::new(), &trace, 0, 999).unwrap();
        assert!(route.steps <= WINDOW && route.stop.is_some());
    }
}
