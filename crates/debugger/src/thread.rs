//! One thread of a launch: where the debugger finds it, how it is stopped at the start of its kernel and stepped.

use crate::mi::{Focus, Session, Stop, Trouble};
use fault::base_name;
use std::time::Duration;

/// What the way to the first launch may take.
const START: Duration = Duration::from_secs(30);
/// What the way from one launch to the next may take.
const LAUNCH: Duration = Duration::from_secs(20);
/// What one instruction may take. Barriers take longest: the debugger steps the other warps of the block there.
const STEP: Duration = Duration::from_secs(20);
/// How often the warp of a thread is stepped while the thread itself waits for others.
const WAITS: u32 = 300;

/// A thread of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// The launch, from 0.
    pub(crate) launch: u32,
    /// The mangled name of its kernel.
    pub(crate) kernel: String,
    /// The block, linear in the grid.
    pub(crate) cta: u64,
    /// The thread, linear in the block.
    pub(crate) thread: u32,
    pub(crate) focus: Focus,
    /// What is true of it alone among the threads of its launch, for the debugger.
    pub(crate) condition: String,
}

/// Where a kernel's code lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    /// The address of its first instruction.
    pub(crate) base: u64,
    /// The instruction before which all its threads stand, in bytes from there.
    pub(crate) entry: u32,
}

/// What came of an attempt to get somewhere.
#[derive(Debug)]
pub(crate) enum Reached<T> {
    There(T),
    /// The program went on to this instead.
    Missed(Stop),
    /// The thread is elsewhere; why, in words that follow "failed to".
    Strayed(String),
}

/// The coordinates of a number, x fastest.
fn coordinates(number: u64, extents: [u32; 3]) -> [u64; 3] {
    let [x, y, _] = extents.map(|extent| u64::from(extent).max(1));
    [number % x, number / x % y, number / (x * y)]
}

/// What is true of a thread alone. The debugger evaluates it for every warp that comes to a breakpoint, so that axes
/// without extent are left out.
fn condition(focus: &Focus, grid: [u32; 3], block: [u32; 3]) -> String {
    let axes = [("blockIdx", focus.block, grid), ("threadIdx", focus.thread, block)];
    let terms = axes.into_iter().flat_map(|(name, at, extents)| {
        ["x", "y", "z"]
            .into_iter()
            .zip(at)
            .zip(extents)
            .filter(|(_, extent)| *extent > 1)
            .map(move |((axis, at), _)| format!("{name}.{axis} == {at}"))
    });
    let terms: Vec<String> = terms.collect();
    if terms.is_empty() { "1".to_owned() } else { terms.join(" && ") }
}

impl Thread {
    pub(crate) fn new(launch: u32, kernel: &str, cta: u64, thread: u32, grid: [u32; 3], block: [u32; 3]) -> Self {
        let focus = Focus { block: coordinates(cta, grid), thread: coordinates(thread.into(), block) };
        let condition = condition(&focus, grid, block);
        Self { launch, kernel: kernel.to_owned(), cta, thread, focus, condition }
    }

    /// Runs the application to the start of its launch: all blocks that are there stand before one instruction.
    pub(crate) fn enter(&self, session: &mut Session<'_>) -> Result<Reached<Entered>, Trouble> {
        session.console("set cuda break_on_launch application")?;
        let mut stop = session.resume("-exec-run", START)?;
        for _ in 0..self.launch {
            if !matches!(stop, Stop::Device { .. }) {
                return Ok(Reached::Missed(stop));
            }
            stop = session.resume("-exec-continue", LAUNCH)?;
        }
        session_quiet(session, &stop)?;
        match stop {
            Stop::Device { pc, function, .. } if is_kernel(&function, &self.kernel) => {
                let entry = offset(&session.console("info symbol $pc")?);
                let entered = entry.map(|entry| Entered { base: pc - u64::from(entry), entry });
                let unclear = || "find out where in its kernel the thread stands".to_owned();
                Ok(entered.map_or_else(|| Reached::Strayed(unclear()), Reached::There))
            }
            Stop::Device { function, .. } => Ok(Reached::Strayed(format!(
                "find launch {} of the application: it is of `{function}` and not of `{}`",
                self.launch,
                base_name(&self.kernel)
            ))),
            other => Ok(Reached::Missed(other)),
        }
    }

    /// Has the thread execute the instruction that it stands before; where it stands then. None if it is gone.
    pub(crate) fn step(&self, session: &mut Session<'_>, from: u64) -> Result<Reached<Option<u64>>, Trouble> {
        for _ in 0..WAITS {
            let pc = match session.resume("-exec-step-instruction", STEP)? {
                Stop::Device { focus, pc, .. } if focus == self.focus => pc,
                Stop::Device { .. } => match self.look(session)? {
                    Some(pc) => pc,
                    None => return Ok(Reached::There(None)),
                },
                other => return Ok(Reached::Missed(other)),
            };
            if pc != from {
                return Ok(Reached::There(Some(pc)));
            }
        }
        Ok(Reached::Strayed(format!("step over an instruction: the thread waited for {WAITS} steps of its warp")))
    }

    /// Brings the thread into focus; where it stands, if it is still there.
    pub(crate) fn look(&self, session: &mut Session<'_>) -> Result<Option<u64>, Trouble> {
        if !session.focus(&self.focus)? {
            return Ok(None);
        }
        session.program_counter().map(Some)
    }
}

/// No more stops at launches, if there is still somebody to tell.
fn session_quiet(session: &mut Session<'_>, stop: &Stop) -> Result<(), Trouble> {
    if matches!(stop, Stop::Device { .. }) {
        session.console("set cuda break_on_launch none")?;
    }
    Ok(())
}

/// Whether a function, as the debugger names it (`gemm<16, true>`), is a kernel.
fn is_kernel(function: &str, kernel: &str) -> bool {
    let plain = function.split(['<', '(']).next().unwrap_or_default();
    let plain = plain.rsplit("::").next().unwrap_or_default().trim();
    function == kernel || plain == base_name(kernel) || plain.rsplit(' ').next() == Some(base_name(kernel))
}

/// How far into a function an address lies: `k(int) + 16 in section …`.
fn offset(symbol: &str) -> Option<u32> {
    let (name, _) = symbol.split_once(" in section ")?;
    match name.rsplit_once(" + ") {
        Some((_, offset)) => offset.trim().parse().ok(),
        None => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_coordinates_with_x_fastest() {
        let thread = Thread::new(2, "k", 41, 35, [6, 7, 1], [16, 16, 1]);
        assert_eq!((thread.focus.block, thread.focus.thread), ([5, 6, 0], [3, 2, 0]));
        assert_eq!(coordinates(23, [2, 3, 4]), [1, 2, 3]);
        assert_eq!(thread.condition, "blockIdx.x == 5 && blockIdx.y == 6 && threadIdx.x == 3 && threadIdx.y == 2");
        assert_eq!(Thread::new(0, "k", 0, 0, [1; 3], [1; 3]).condition, "1");
    }

    #[test]
    fn functions_are_recognized_however_they_are_written() {
        for function in ["gemm<16, true>", "gemm", "gemm(int, float*)", "void gemm<16, true>(int)", "a::b::gemm<1>"] {
            assert!(is_kernel(function, "_Z4gemmILi16ELb1EEviiifPKfS1_fPf"), "{function}");
        }
        assert!(!is_kernel("gemv", "_Z4gemmv") && is_kernel("plain", "plain"));
    }

    #[test]
    fn offsets_are_read_from_symbols() {
        let text = "advance_rows(int const*, int) + 16 in section .text._Z12advance_rowsPKiS0_Piiii of /tmp/elf.o\n";
        assert_eq!(offset(text), Some(16));
        assert_eq!(offset("k in section .text.k of /tmp/elf.o"), Some(0));
        assert_eq!(offset("No symbol matches $pc."), None);
    }
}
