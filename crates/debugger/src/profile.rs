//! What a thread executes on the GPU: its kernel's code, and its way through it, instruction by instruction.
//!
//! This is phase II of GPU-Qin (B. Fang et al., ISPASS 2014, section III-B): the thread is single-stepped once, without a fault.

use crate::devices::Debugger;
use crate::error::DebuggerError;
use crate::mi::{Session, Trouble, address};
use crate::sass::{Guard, Instruction, Register};
use crate::thread::{Entered, Reached, Thread};
use fault::Isa;
use live::GoldenApplication;
use std::collections::BTreeMap;

/// The longest way that is followed: at 25 steps a second, a quarter of an hour.
const LONGEST: usize = 20_000;
/// The machine code of a device whose architecture is not known.
const UNKNOWN: Isa = Isa::SASS;
/// The bytes of an instruction, since sm_70.
pub(crate) const INSTRUCTION: u32 = 16;

/// An instruction of a kernel, or of a function behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) instruction: Instruction,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

/// The code of a kernel, and of the functions that the compiler keeps behind it, by distances from the kernel's first
/// instruction in bytes.
pub(crate) type Code = BTreeMap<u32, Line>;

/// An instruction that a thread came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceStep {
    /// In bytes from the first instruction of the kernel.
    pub(crate) offset: u32,
    /// Its guard was true.
    pub(crate) executed: bool,
}

/// The way of a thread, from the first instruction of its kernel to its end; without the instructions at which lanes
/// only come together, as the debugger does not stop at them every time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<TraceStep>,
    /// The first step before which the debugger can stop the thread.
    pub(crate) first: usize,
}

impl Trace {
    /// How many instructions were executed with a true guard before a step.
    pub(crate) fn dynamic(&self, step: usize) -> u64 {
        self.steps.iter().take(step).filter(|step| step.executed).count() as u64
    }

    /// The step at which the instruction with this number is executed.
    pub(crate) fn step_of(&self, dynamic: u64) -> Option<usize> {
        let executed = self.steps.iter().enumerate().filter(|(_, step)| step.executed);
        executed.map(|(at, _)| at).nth(usize::try_from(dynamic).ok()?)
    }
}

/// The profile of a thread that a debugger has followed.
#[derive(Debug)]
pub(crate) struct ThreadProfile {
    /// The instruction set that its code is in.
    pub(crate) isa: Isa,
    /// The code of its kernel.
    pub(crate) code: Code,
    /// Its way.
    pub(crate) trace: Trace,
}

/// Follows a thread from the start of its kernel to its end.
pub(crate) fn follow(
    debugger: &Debugger,
    application: &GoldenApplication,
    thread: &Thread,
) -> Result<ThreadProfile, DebuggerError> {
    let failed = |reason: String| DebuggerError::Profile {
        launch: thread.launch,
        cta: thread.cta,
        thread: thread.thread,
        reason,
    };
    let mut session = Session::start(debugger, application)?;
    let entered = match thread.enter(&mut session)? {
        Reached::There(entered) => entered,
        Reached::Missed(stop) => return Err(failed(format!("the application {}", stop.words()))),
        Reached::Strayed(reason) => return Err(failed(reason)),
    };
    let (isa, code) = (isa(&session.console("info cuda devices")?), code(&mut session, &entered)?);
    match thread.look(&mut session)? {
        Some(pc) if pc == entered.base + u64::from(entered.entry) => {}
        _ => return Err(failed("its block is not there when the launch begins".to_owned())),
    }
    let trace = walk(&mut session, thread, &entered, &code)?.map_err(failed)?;
    Ok(ThreadProfile { isa, code, trace })
}

/// The instruction set of the first device in a list of them, which names its architecture as `sm_90`.
fn isa(devices: &str) -> Isa {
    let architecture = devices.split_whitespace().find(|word| word.starts_with("sm_"));
    let name = architecture.map(|architecture| format!("sass-{architecture}"));
    name.and_then(|name| Isa::new(&name)).unwrap_or(UNKNOWN)
}

/// Steps a thread to its end.
pub(crate) fn walk(
    session: &mut Session<'_>,
    thread: &Thread,
    entered: &Entered,
    code: &Code,
) -> Result<Result<Trace, String>, Trouble> {
    let before = (0..entered.entry).step_by(INSTRUCTION as usize);
    let before = before.filter(|offset| code.get(offset).is_none_or(|line| !line.instruction.only_converges()));
    let mut steps: Vec<TraceStep> = before.map(|offset| TraceStep { offset, executed: true }).collect();
    let first = steps.len();
    let mut pc = entered.base + u64::from(entered.entry);
    while steps.len() < LONGEST {
        let offset = pc.checked_sub(entered.base).and_then(|offset| u32::try_from(offset).ok());
        let line = offset.and_then(|offset| Some((offset, code.get(&offset)?)));
        let Some((offset, line)) = line else {
            return Ok(Err("it leaves its kernel for a function, which this engine does not follow".to_owned()));
        };
        let executed = holds(session, line.instruction.guard)?;
        if !line.instruction.only_converges() {
            steps.push(TraceStep { offset, executed });
        }
        if executed && line.instruction.base() == "EXIT" {
            return Ok(Ok(Trace { steps, first }));
        }
        match thread.step(session, pc)? {
            Reached::There(Some(next)) => pc = next,
            Reached::There(None) => return Ok(Ok(Trace { steps, first })),
            Reached::Missed(stop) => return Ok(Err(format!("the application {}", stop.words()))),
            Reached::Strayed(reason) => return Ok(Err(reason)),
        }
    }
    Ok(Err(format!("it executes more than {LONGEST} instructions")))
}

/// Whether a guard is true for the thread in focus.
pub(crate) fn holds(session: &mut Session<'_>, guard: Option<Guard>) -> Result<bool, Trouble> {
    match guard {
        None => Ok(true),
        Some(Guard { register, negated }) => Ok((session.register(&register.to_string())? != 0) != negated),
    }
}

/// The code of the kernel that the thread in focus executes.
fn code(session: &mut Session<'_>, entered: &Entered) -> Result<Code, Trouble> {
    let mut code = listing(&session.console("disassemble")?, entered.base);
    for (offset, line) in &mut code {
        let address = entered.base + u64::from(*offset);
        (line.file, line.line) = match session.console(&format!("info line *{address:#x}")) {
            Ok(text) => source(&text),
            Err(Trouble::Refused { .. }) => (None, None),
            Err(trouble) => return Err(trouble),
        };
    }
    Ok(code)
}

/// The code in a listing, `   0x7ffd… <+16>:\tS2R R0,SR_CTAID.X`, of a kernel that begins at `base`.
///
/// The slow paths of division, root and reciprocal are functions behind the kernel, in its section. The debugger lists
/// them with it and counts `<+…>` from 0 in each, so that only addresses tell instructions apart. They belong to the
/// code: a thread that takes one is followed through it.
pub(crate) fn listing(text: &str, base: u64) -> Code {
    let lines = text.lines().filter_map(|line| {
        let (place, written) = line.split_once(">:\t")?;
        let (at, _) = place.split_once(" <")?;
        let offset = address(at.trim_start_matches("=>").trim())?.checked_sub(base)?;
        let instruction = Instruction::parse(written)?;
        Some((u32::try_from(offset).ok()?, Line { instruction, file: None, line: None }))
    });
    lines.collect()
}

/// The place in the source: `Line 42 of "/src/app.cu" starts at address …`; also where a line has no code of its own.
fn source(text: &str) -> (Option<String>, Option<u32>) {
    let place = || {
        let (number, rest) = text.trim_start().strip_prefix("Line ")?.split_once(" of \"")?;
        Some((rest.split('"').next()?.to_owned(), number.parse().ok()?))
    };
    place().map_or((None, None), |(file, line)| (Some(file), Some(line)))
}

/// What a thread first does with a register after a step, and at which step; `None` if nothing.
pub(crate) fn first_touch(code: &Code, trace: &Trace, after: usize, register: Register) -> Option<(usize, bool)> {
    trace.steps.iter().enumerate().skip(after + 1).find_map(|(at, step)| {
        let instruction = &code.get(&step.offset)?.instruction;
        let guarded = instruction.guard.is_some_and(|guard| guard.register == register);
        match (guarded || (step.executed && instruction.reads(register)), instruction.writes(register)) {
            (true, _) => Some((at, true)),
            (false, true) if step.executed => Some((at, false)),
            _ => None,
        }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A kernel of a few lines: a loop that a thread goes through three times.
    pub(crate) fn looped() -> (Code, Trace) {
        let text = "   0x100 <+0>:\tLDC R1,c[0x0][0x28]\n=> 0x110 <+16>:\tS2R R0,SR_TID.X\n   0x120 <+32>:\t@P1 IADD3 \
                    R2,R0,0x1,RZ\n   0x130 <+48>:\tISETP.NE.AND P0,PT,R2,RZ,PT\n   0x140 <+64>:\tBAR.SYNC.DEFER_BLOCKING \
                    0x0\n   0x150 <+80>:\t@P0 BRA 0x120\n   0x160 <+96>:\tSTG.E desc[UR4][R4.64],R0\n   0x170 \
                    <+112>:\tEXIT\nEnd of assembler dump.\n";
        let around = [32, 48, 64, 80];
        let offsets = [0, 16].into_iter().chain(around).chain(around).chain(around).chain([96, 112]);
        let step = |offset| TraceStep { offset, executed: offset != 32 };
        (listing(text, 0x100), Trace { steps: offsets.map(step).collect(), first: 1 })
    }

    #[test]
    fn dynamic_instructions_are_those_whose_guard_is_true() {
        let (code, trace) = looped();
        assert_eq!((code.len(), trace.steps.len()), (8, 16));
        assert_eq!(trace.dynamic(3), 2);
        assert_eq!(trace.step_of(2), Some(3));
        assert_eq!(trace.step_of(12), Some(15));
        assert_eq!(trace.step_of(13), None);
    }

    #[test]
    fn the_first_touch_is_a_read_even_where_the_register_is_written_too() {
        let (code, trace) = looped();
        let touch = |after, register| first_touch(&code, &trace, after, register);
        // An instruction with a false guard reads its guard and nothing else.
        assert_eq!(touch(1, Register::Predicate(1)), Some((2, true)));
        assert_eq!(touch(1, Register::General(0)), Some((14, true)));
        assert_eq!(touch(1, Register::General(2)), Some((3, true)));
        assert_eq!(touch(1, Register::Predicate(0)), Some((3, false)));
        assert_eq!(touch(14, Register::General(0)), None);
    }

    #[test]
    fn the_instruction_set_is_that_of_the_device() {
        let text = "  Dev PCI Bus/Dev ID  Name        Description SM Type SMs Warps/SM Lanes/Warp\n\
                    *   0   00:05.0       NVIDIA H200 GH100-A     sm_90   132 64       32\n";
        assert_eq!(isa(text).name(), "sass-sm_90");
        assert_eq!(isa("No CUDA devices.\n").name(), "sass");
    }

    #[test]
    fn source_places_are_read() {
        let text = "Line 42 of \"/src/a b.cu\" starts at address 0x7ffd <k+16> and ends at 0x7ffe <k+32>.\n";
        assert_eq!(source(text), (Some("/src/a b.cu".to_owned()), Some(42)));
        assert_eq!(source("No line number information available for address 0x7 <k>\n"), (None, None));
    }
}
