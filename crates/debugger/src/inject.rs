//! One fault in one run on the GPU: phase III of GPU-Qin.
//!
//! ```text
//! start ─▶ launch ─▶ way to the instruction ─▶ flip ─▶ way to the first use ─▶ run on ─▶ crash, hang, or what is left
//! ```

use crate::clock::now;
use crate::devices::Debugger;
use crate::exceptions;
use crate::mi::{Session, Stop, Trouble};
use crate::navigate::Navigator;
use crate::profile::{Code, Trace, first_touch, holds};
use crate::sass::{Register, registers};
use crate::thread::{Reached, Thread};
use campaign::error_chain;
use fault::{Fault, TargetOperand};
use live::GoldenApplication;
use outcome::{Debugged, End, FirstUse, Host, Landed, Observation, ProgramPoint, Tier};
use std::time::{Duration, Instant};

/// How far a first use is waited for, in instructions, as in GPU-Qin. One that is farther off is known from the profile
/// and not waited for.
const ACTIVATION: u64 = 1600;

/// A fault, and all that is known of its place.
pub(crate) struct Injection<'a> {
    pub(crate) fault: &'a Fault,
    pub(crate) thread: &'a Thread,
    pub(crate) code: &'a Code,
    pub(crate) trace: &'a Trace,
    /// The step of the trace whose instruction is hit.
    pub(crate) step: usize,
    pub(crate) operand: &'a TargetOperand,
    /// What the run may take once the fault is there.
    pub(crate) time: Duration,
}

/// Why there is no observation.
#[derive(Debug)]
pub(crate) enum Discarded {
    /// The fault could not be put where it should be. The text follows "failed to".
    Unreached(String),
    /// The debugger failed, which says nothing about the fault: another session may do better.
    Debugger(String),
}

impl From<Trouble> for Discarded {
    fn from(trouble: Trouble) -> Self {
        Self::Debugger(error_chain(&trouble))
    }
}

/// A fault that is there.
struct Injected {
    landed: Landed,
    first_use: FirstUse,
    /// The step that uses it first, if one does.
    used: Option<usize>,
    activated: bool,
    /// Since when it is used, or there if its use is not waited for; none if the program ended on the way to its use.
    since: Option<Instant>,
    /// How the program went on, if it did so before it was let run.
    ended: Option<Stop>,
}

/// A value in registers, lowest first.
fn value(parts: &[(Register, u32)]) -> u128 {
    parts.iter().rev().fold(0, |value, (register, part)| value << register.bits() | u128::from(*part))
}

impl Injection<'_> {
    /// Makes the run.
    pub(crate) fn run(&self, debugger: &Debugger, application: &GoldenApplication) -> Result<Observation, Discarded> {
        let mut session = Session::start(debugger, application)?;
        let seen = self.observe(&mut session)?;
        let host = self.host(&session, application, &seen.end)?;
        let of_run = seen.host.unwrap_or_default();
        let host = Host { status: of_run.status, debugged: of_run.debugged, ..host };
        let host_visible = host.differs() || seen.end != End::Completed;
        Ok(Observation { host_visible, host: Some(host), ..seen })
    }

    /// Puts the fault into a program that is not started yet, and says what became of it; not what the program left.
    pub(crate) fn observe(&self, session: &mut Session<'_>) -> Result<Observation, Discarded> {
        let entered = reached(self.thread.enter(session)?)?;
        let mut navigator = Navigator {
            thread: self.thread,
            code: self.code,
            trace: self.trace,
            entered,
            at: self.trace.first,
            steps: 0,
            stops: 0,
        };
        // A block that is not there yet is waited for at the breakpoint.
        if self.thread.look(session)?.is_none() && self.step == self.trace.first {
            return Err(Discarded::Unreached(
                "find the thread: its block is not there when the launch begins".to_owned(),
            ));
        }
        reached(navigator.navigate(session, self.step)?)?;
        let instruction = &self.code[&self.trace.steps[self.step].offset].instruction;
        if !holds(session, instruction.guard)? {
            return Err(Discarded::Unreached("hit the instruction: its guard is false in this thread".to_owned()));
        }
        let injected = if self.fault.target.is_before() {
            self.strike_before(session, &mut navigator)?
        } else {
            self.strike_after(session, &mut navigator)?
        };
        self.finish(session, &navigator, injected)
    }

    /// Hits what the instruction has written.
    fn strike_after(&self, session: &mut Session<'_>, navigator: &mut Navigator<'_>) -> Result<Injected, Discarded> {
        reached(navigator.step(session)?)?;
        let landed = self.flip(session)?;
        let register = registers(self.operand).first().copied();
        let touch = register.and_then(|register| first_touch(self.code, self.trace, self.step, register));
        let (first_use, used) = match touch {
            None => (FirstUse::Never, None),
            Some((at, reads)) => {
                let after = self.trace.dynamic(at).saturating_sub(self.fault.dynamic + 1);
                if reads { (FirstUse::Read { after }, Some(at)) } else { (FirstUse::Overwritten { after }, None) }
            }
        };
        let mut injected = Injected { landed, first_use, used, activated: false, since: Some(now()), ended: None };
        if let (FirstUse::Read { after: 0..=ACTIVATION }, Some(at), Some(register)) = (first_use, used, register) {
            match navigator.navigate(session, at)? {
                Reached::There(()) => {
                    let found = u128::from(session.register(&register.to_string())?);
                    injected.activated = found == landed.after;
                    injected.since = Some(now());
                }
                Reached::Missed(stop) => (injected.ended, injected.since) = (Some(stop), None),
                Reached::Strayed(_) => injected.since = Some(now()),
            }
        }
        Ok(injected)
    }

    /// Hits what the instruction is about to read, for it alone.
    fn strike_before(&self, session: &mut Session<'_>, navigator: &mut Navigator<'_>) -> Result<Injected, Discarded> {
        let originals = self.read(session)?;
        let landed = self.flip(session)?;
        let since = Some(now());
        let ended = match navigator.step(session)? {
            Reached::There(()) => {
                let instruction = &self.code[&self.trace.steps[self.step].offset].instruction;
                for (register, original) in originals.iter().filter(|(register, _)| !instruction.writes(*register)) {
                    session.set_register(&register.to_string(), *original)?;
                }
                None
            }
            Reached::Missed(stop) => Some(stop),
            // Its true value cannot be given back: the fault would be another one.
            Reached::Strayed(reason) => return Err(Discarded::Unreached(reason)),
        };
        let first_use = FirstUse::Read { after: 0 };
        Ok(Injected { landed, first_use, used: Some(self.step), activated: true, since, ended })
    }

    fn read(&self, session: &mut Session<'_>) -> Result<Vec<(Register, u32)>, Trouble> {
        let registers = registers(self.operand).into_iter();
        registers.map(|register| Ok((register, session.register(&register.to_string())?))).collect()
    }

    /// Changes the bits of the operand, and reads back what is there then.
    fn flip(&self, session: &mut Session<'_>) -> Result<Landed, Discarded> {
        let before = value(&self.read(session)?);
        let mut wanted = self.fault.model.apply(before);
        let whole = wanted;
        for register in registers(self.operand) {
            let part = wanted & ((1 << register.bits()) - 1);
            session.set_register(&register.to_string(), part as u32)?;
            wanted >>= register.bits();
        }
        let after = value(&self.read(session)?);
        if after != whole {
            return Err(Discarded::Unreached(format!(
                "write {whole:#x} to {}: the debugger then reads {after:#x}",
                self.fault.target
            )));
        }
        Ok(Landed { before, after, threads: 1 })
    }

    /// Lets the program run, and says how it ended.
    fn finish(
        &self,
        session: &mut Session<'_>,
        navigator: &Navigator<'_>,
        injected: Injected,
    ) -> Result<Observation, Discarded> {
        let stop = match injected.ended.clone() {
            Some(stop) => stop,
            None => session.resume("-exec-continue", self.time)?,
        };
        let latency = injected.since.map(micros);
        let debugged = |exception| Debugged {
            exception,
            latency,
            activated: injected.activated,
            steps: navigator.steps,
            stops: navigator.stops,
            sessions: 1,
            took: micros(session.started()),
        };
        let place = |pc, line| self.place(navigator, &injected, pc, line);
        let (end, exception, status) = match stop {
            Stop::Exited { code: 0 } => (End::Completed, None, Some(0)),
            Stop::Exited { code } => (End::Exited { code }, None, Some(code)),
            Stop::Exception { name, pc, line, .. } => {
                let trap = exceptions::exception(&name);
                let trap = trap.ok_or_else(|| Discarded::Unreached(format!("say what {name} is: it is not known")))?;
                (End::Trapped { trap, at: place(pc, line), address: None }, Some(name), None)
            }
            Stop::Driver { code, name } => match exceptions::driver(code) {
                Some(trap) => (End::Trapped { trap, at: place(None, None), address: None }, Some(name), None),
                None => (End::TimedOut, Some(name), None),
            },
            Stop::Signalled { name } => {
                let signal = exceptions::signal(&name);
                let signal = signal.ok_or_else(|| Discarded::Unreached(format!("say what signal {name} is")))?;
                (End::Signalled { signal }, None, Some(128 + signal))
            }
            Stop::Late => (End::TimedOut, None, None),
            other @ (Stop::Gone { .. } | Stop::Device { .. } | Stop::Host) => {
                return Err(Discarded::Debugger(format!("run on after the fault: the application {}", other.words())));
            }
        };
        let host = Host { status, debugged: Some(debugged(exception)), ..Host::default() };
        Ok(Observation {
            landed: Some(injected.landed),
            first_use: injected.first_use,
            host_visible: end != End::Completed,
            end,
            outputs: Vec::new(),
            strayed: 0,
            instructions: 0,
            tier: Tier::Live,
            host: Some(host),
        })
    }

    /// What the application left, if it came to its end.
    fn host(&self, session: &Session<'_>, application: &GoldenApplication, end: &End) -> Result<Host, Discarded> {
        if !matches!(end, End::Completed | End::Exited { .. }) {
            return Ok(Host::default());
        }
        let unreadable = |error| Discarded::Debugger(format!("read what the application left: {error}"));
        let outputs = session.outputs(application).map_err(unreadable)?;
        let host = application.compared(&outputs);
        let completed = *end == End::Completed;
        let verdict =
            if completed { application.verdict(&outputs, &host).map_err(Discarded::Unreached)? } else { None };
        Ok(Host { verdict, ..host })
    }

    /// Where the hardware says that it happened; how many instructions after the first use, if the thread went there as
    /// it does without a fault.
    fn place(
        &self,
        navigator: &Navigator<'_>,
        injected: &Injected,
        pc: Option<u64>,
        line: Option<u32>,
    ) -> ProgramPoint {
        let from = injected.used.unwrap_or(self.step);
        let offset = pc.map_or(self.trace.steps[from].offset, |pc| pc.wrapping_sub(navigator.entered.base) as u32);
        let ahead = self.trace.steps.iter().skip(from).position(|step| step.offset == offset);
        let after = ahead.map_or(0, |ahead| self.trace.dynamic(from + ahead).saturating_sub(self.trace.dynamic(from)));
        let known = self.code.get(&offset).and_then(|known| known.line);
        ProgramPoint {
            kernel: self.thread.kernel.clone(),
            pc: offset / crate::profile::INSTRUCTION,
            line: line.or(known),
            after,
        }
    }
}

/// What there is on the way, or why the fault cannot be put there.
fn reached<T>(reached: Reached<T>) -> Result<T, Discarded> {
    match reached {
        Reached::There(there) => Ok(there),
        // Nothing is wrong with the program yet, so that nobody but the debugger is to blame.
        Reached::Missed(stop @ (Stop::Late | Stop::Gone { .. } | Stop::Host)) => {
            Err(Discarded::Debugger(format!("reach the instruction: the application {}", stop.words())))
        }
        Reached::Missed(stop) => {
            Err(Discarded::Unreached(format!("reach the instruction: before it, the application {}", stop.words())))
        }
        Reached::Strayed(reason) => Err(Discarded::Unreached(reason)),
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_register_holds_the_lowest_bits() {
        let parts = [(Register::General(4), 0x9abc_def0), (Register::General(5), 0x1234_5678)];
        assert_eq!(value(&parts), 0x1234_5678_9abc_def0);
        assert_eq!(value(&[(Register::Predicate(0), 1)]), 1);
    }
}
