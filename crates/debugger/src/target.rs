//! An application on a GPU as the target of a campaign.

use crate::devices::Debugger;
use crate::error::DebuggerError;
use crate::groups::{Groups, thread_of};
use crate::inject::{Discarded, Injection};
use crate::mi::{Session, Stop};
use crate::operand::{AIMS, Operand, can_aim, operand, operands};
use crate::profile::{Line, Trace};
use crate::sass::group;
use campaign::{
    End, Engine, Golden, Host, Observation, RunFailure, RunIndex, Selection, Site, Target, TargetError, Worker,
};
use fault::{Extent, Fault, Scope};
use inject::CapsuleTarget;
use live::{Bench, Remains};
use stats::Draws;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

/// What a run may take, from what one without a fault took: this many times as long, plus these seconds.
const TIME_FACTOR: f64 = 10.0;
const TIME_CONSTANT: f64 = 5.0;
/// What the first run without a fault may take.
const FIRST: Duration = Duration::from_secs(600);
/// Sessions that a fault may take where the debugger itself fails, and that must see a hang before it is believed:
/// sessions that share a GPU stall each other now and then, which looks the same.
const SESSIONS: u64 = 2;

/// An application whose work is recorded, and whose threads are known as they are on the GPU.
#[derive(Debug)]
pub struct GpuTarget {
    capsule: CapsuleTarget,
    bench: Bench,
    debugger: Debugger,
    groups: Groups,
    digest: String,
    time: Duration,
    seconds: f64,
}

/// What runs of a campaign are drawn from.
struct Population<'t> {
    aim: fault::Aim,
    pattern: fault::Pattern,
    parts: Vec<Part<'t>>,
    total: u64,
}

/// The members of a group that are selected, and the steps of each.
struct Part<'t> {
    kernel: &'t str,
    trace: &'t Trace,
    members: Vec<(u32, u64)>,
    steps: Vec<(usize, Vec<Operand>)>,
}

impl GpuTarget {
    /// Runs the application on the GPU twice without a fault, finds groups of threads that behave alike, and follows one
    /// of each, `jobs` at a time.
    ///
    /// # Errors
    /// If there is no debugger, or the application does not run in it, or not the same twice.
    pub fn new(capsule: CapsuleTarget, mut bench: Bench, debugger: &Path, jobs: usize) -> Result<Self, DebuggerError> {
        let debugger = Debugger::new(debugger);
        let (remains, _) = rehearse(&debugger, &bench)?;
        bench.refer_to(remains)?;
        let (remains, seconds) = rehearse(&debugger, &bench)?;
        bench.check_repeated(&remains)?;
        let allowed = Duration::from_secs_f64(TIME_CONSTANT + TIME_FACTOR * seconds);
        let time = bench.timeout().unwrap_or(allowed);
        let groups = Groups::profile(&debugger, &bench, capsule.golden_run(), jobs)?;
        let digest = format!("{}+{}", Target::digest(&capsule), fingerprint(&groups));
        Ok(Self { capsule, bench, debugger, groups, digest, time, seconds })
    }

    /// The application's work, as recorded on the simulator.
    #[must_use]
    pub fn capsule(&self) -> &CapsuleTarget {
        &self.capsule
    }

    /// What was found about the threads, in a line.
    #[must_use]
    pub fn note(&self) -> String {
        let Groups { profiled, threads, covered, found, .. } = &self.groups;
        let share = 100.0 * *covered as f64 / (*threads).max(1) as f64;
        let steps: usize = profiled.iter().map(|group| group.trace.steps.len()).sum();
        format!(
            "followed {} of {found} groups of threads on the GPU ({share:.1} % of {threads} threads, {steps} steps); a run \
             may take {:.1} seconds",
            profiled.len(),
            self.time.as_secs_f64()
        )
    }

    /// The labels of a fault.
    ///
    /// # Errors
    /// If its place does not exist, or was not followed.
    pub fn site_of(&self, fault: &Fault) -> Result<Site, RunFailure> {
        let located = self.locate(fault)?;
        Ok(self.site(fault, located.line))
    }

    /// Runs the application with a fault.
    ///
    /// # Errors
    /// If its place does not exist or is not reached, or the debugger fails.
    pub fn inject(&self, fault: &Fault) -> Result<Observation, RunFailure> {
        let located = self.locate(fault)?;
        let injection = Injection {
            fault,
            thread: &located.thread,
            code: &self.groups.code[&located.thread.kernel],
            trace: located.trace,
            step: located.step,
            operand: &located.operand,
            time: self.time,
        };
        let mut failed = String::new();
        for sessions in 1..=SESSIONS {
            match injection.run(&self.debugger, &self.bench) {
                Ok(seen) if seen.end == End::TimedOut && sessions < SESSIONS => {}
                Ok(seen) => return Ok(with_sessions(seen, sessions)),
                Err(Discarded::Unreached(reason)) => return Err(RunFailure::new(reason)),
                Err(Discarded::Debugger(reason)) => failed = reason,
            }
        }
        Err(RunFailure::new(format!("{failed} (in {SESSIONS} sessions)")))
    }

    fn locate(&self, fault: &Fault) -> Result<Located<'_>, RunFailure> {
        let golden = self.capsule.golden_run();
        inject::locate(golden, &Fault { dynamic: 0, ..fault.clone() })
            .map_err(|error| RunFailure::from_error(&error))?;
        let failed = |reason: &str| RunFailure::new(format!("find `{fault}`: {reason}"));
        if fault.scope != Scope::Thread {
            return Err(failed("the debugger hits one thread (scope thread)"));
        }
        let known = &golden.launches()[fault.launch as usize];
        let number = fault.cta * golden.recorded(known).threads_per_block() + u64::from(fault.thread);
        let group = self.groups.of(fault.launch, number);
        let group = group.ok_or_else(|| failed("no thread like this one was followed on the GPU"))?;
        let thread = thread_of(golden, fault.launch, number).ok_or_else(|| failed("there is no such thread"))?;
        let step =
            group.trace.step_of(fault.dynamic).ok_or_else(|| failed("the thread executes fewer instructions"))?;
        if step < group.trace.first {
            return Err(failed("the thread cannot be stopped so early"));
        }
        let line = self.groups.code[&group.kernel].get(&group.trace.steps[step].offset);
        let line = line.ok_or_else(|| failed("there is no such instruction"))?;
        let operand = operand(fault.target, &line.instruction).filter(|operand| fault.model.fits(operand.bits()));
        let operand = operand.ok_or_else(|| failed(&format!("`{}` has no such operand", line.instruction.opcode)))?;
        Ok(Located { thread, trace: &group.trace, step, line, operand })
    }

    fn site(&self, fault: &Fault, line: &Line) -> Site {
        let known = &self.capsule.golden_run().launches()[fault.launch as usize];
        let code = &self.groups.code[&known.program.name];
        let offset = code.iter().find(|(_, known)| std::ptr::eq(*known, line)).map_or(0, |(offset, _)| *offset);
        Site {
            id: fault.to_string(),
            kernel: known.program.name.clone(),
            launch: fault.launch,
            cta: fault.cta,
            thread: fault.thread,
            dynamic: fault.dynamic,
            pc: offset / crate::profile::INSTRUCTION,
            target: fault.target.to_string(),
            model: fault.model.name().to_owned(),
            bits: fault.model.bits(),
            group: group(&line.instruction.opcode).to_owned(),
            opcode: line.instruction.opcode.clone(),
            file: line.file.clone(),
            line: line.line,
            stratum: None,
        }
    }

    fn population(&self, words: &Selection) -> Result<Population<'_>, TargetError> {
        let selection = selection(words)?;
        let golden = self.capsule.golden_run();
        let parts = self.groups.profiled.iter().map(|group| {
            let holds = |&&(launch, number): &&(u32, u64)| Groups::holds(&selection, golden, launch, number);
            let members = group.members.iter().filter(holds).copied().collect();
            let code = &self.groups.code[&group.kernel];
            let steps = group.trace.steps.iter().enumerate().skip(group.trace.first).filter(|(_, step)| step.executed);
            let steps = steps.filter_map(|(at, step)| {
                let instruction = &code.get(&step.offset)?.instruction;
                let wanted = words.group.is_empty()
                    || words
                        .group
                        .iter()
                        .flat_map(|text| text.split(','))
                        .any(|word| word.trim() == crate::sass::group(&instruction.opcode));
                let mut all = operands(selection.aim, instruction);
                all.retain(|operand| selection.pattern.hits(operand.bits()));
                (wanted && !all.is_empty()).then_some((at, all))
            });
            Part { kernel: &group.kernel, trace: &group.trace, members, steps: steps.collect() }
        });
        let parts: Vec<Part<'_>> = parts.collect();
        let total = parts.iter().map(Part::total).sum();
        Ok(Population { aim: selection.aim, pattern: selection.pattern, parts, total })
    }
}

impl Part<'_> {
    fn total(&self) -> u64 {
        self.members.len() as u64 * self.steps.len() as u64
    }
}

impl Population<'_> {
    /// The fault that draws come to.
    fn draw(&self, golden: &inject::Golden, draws: &mut Draws) -> Option<Fault> {
        let mut below = |bound: u64| NonZeroU64::new(bound).map(|bound| draws.below(bound));
        let mut at = below(self.total)?;
        let part = self.parts.iter().find(|part| {
            let within = at < part.total();
            at -= if within { 0 } else { part.total() };
            within
        })?;
        let steps = part.steps.len() as u64;
        let &(launch, number) = part.members.get((at / steps) as usize)?;
        let (step, operands) = part.steps.get((at % steps) as usize)?;
        let operand = operands.get(below(operands.len() as u64)? as usize)?;
        let model = self.pattern.draw(operand.bits(), &mut |bound| draws.below(bound));
        let thread = thread_of(golden, launch, number)?;
        debug_assert_eq!(thread.kernel, part.kernel);
        let (cta, thread) = (thread.cta, thread.thread);
        let (dynamic, target) = (part.trace.dynamic(*step), operand.target);
        Some(Fault { launch, cta, thread, dynamic, target, model, scope: Scope::Thread })
    }
}

/// A place that was found.
struct Located<'t> {
    thread: crate::thread::Thread,
    trace: &'t Trace,
    step: usize,
    line: &'t Line,
    operand: Operand,
}

/// The words of a selection, understood; refused where this engine cannot do what they say.
fn selection(words: &Selection) -> Result<fault::Selection, TargetError> {
    let of = |error: fault::SelectionError| TargetError::from_error(&error);
    let (model, target, scope) = (words.model.as_deref(), words.target.as_deref(), words.scope.as_deref());
    let mut selection = fault::Selection::of_words(model, target, scope, &words.group).map_err(of)?;
    selection = selection.in_kernels(&words.kernel).map_err(of)?;
    selection.threads = fault::Ranges::parse("threads", &words.threads).map_err(of)?;
    selection.blocks = fault::Ranges::parse("blocks", &words.blocks).map_err(of)?;
    let refused = |reason: String| Err(TargetError::new(format!("draw faults for cuda-gdb: {reason}")));
    if !can_aim(selection.aim) {
        return refused(format!("expected one of the targets {AIMS}"));
    }
    if selection.extent != Extent::Thread {
        return refused("the debugger hits one thread (scope thread)".to_owned());
    }
    if words.method.is_some() {
        return refused("the methods choose instructions of PTX; this engine has groups of its own".to_owned());
    }
    if !words.lines.is_empty() || words.group.iter().any(|group| group.contains(':')) {
        return refused("machine instructions are chosen by kernels and by groups such as int_add".to_owned());
    }
    Ok(selection)
}

/// A run without a fault: what it left, and how long it took in the debugger.
fn rehearse(debugger: &Debugger, bench: &Bench) -> Result<(Remains, f64), DebuggerError> {
    let mut session = Session::start(debugger, bench).map_err(|trouble| match trouble {
        crate::mi::Trouble::Io(source) => {
            DebuggerError::Start { program: debugger.program().display().to_string(), source }
        }
        other => other.into(),
    })?;
    let stop = session.resume("-exec-run", FIRST)?;
    let seconds = session.started().elapsed().as_secs_f64();
    match stop {
        Stop::Exited { code: 0 } => {
            let remains = session.remains(bench).map_err(crate::mi::Trouble::Io)?;
            Ok((remains, seconds))
        }
        other => Err(DebuggerError::Ended { how: other.words() }),
    }
}

fn with_sessions(seen: Observation, sessions: u64) -> Observation {
    let host = seen.host.map(|host| {
        let debugged = host.debugged.map(|debugged| campaign::Debugged { sessions, ..debugged });
        Host { debugged, ..host }
    });
    Observation { host, ..seen }
}

/// What was followed: another GPU, compiler or way is another population.
fn fingerprint(groups: &Groups) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    // Names and lists are of any length, so each says its own.
    let length = |length: usize| (length as u64).to_le_bytes();
    for (kernel, code) in &groups.code {
        hasher.update(&length(kernel.len())).update(kernel.as_bytes()).update(&length(code.len()));
        for (offset, line) in code {
            let opcode = line.instruction.opcode.as_bytes();
            hasher.update(&offset.to_le_bytes()).update(&length(opcode.len())).update(opcode);
        }
    }
    for group in &groups.profiled {
        hasher.update(&length(group.members.len())).update(&length(group.trace.steps.len()));
        for step in &group.trace.steps {
            hasher.update(&step.offset.to_le_bytes()).update(&[u8::from(step.executed)]);
        }
    }
    hasher.finalize()
}

impl Target for GpuTarget {
    fn name(&self) -> &str {
        Target::name(&self.capsule)
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn golden(&self) -> Golden {
        let executed = |trace: &Trace| trace.dynamic(trace.steps.len());
        let groups = self.groups.profiled.iter();
        let thread_instructions = groups.map(|group| group.members.len() as u64 * executed(&group.trace)).sum();
        Golden { thread_instructions, seconds: self.seconds, ..Target::golden(&self.capsule) }
    }

    fn plan(&self, runs: &[RunIndex], words: &Selection, seed: u64) -> Result<Vec<Site>, TargetError> {
        let population = self.population(words)?;
        let none = || {
            TargetError::new(format!(
                "find a site: no instruction of a followed thread has an operand for `{:?}`",
                population.aim
            ))
        };
        let site = |run: &RunIndex| {
            let fault = population.draw(self.capsule.golden_run(), &mut Draws::new(seed, run.0)).ok_or_else(none)?;
            self.site_of(&fault).map_err(|failure| TargetError::from_error(&failure))
        };
        runs.iter().map(site).collect()
    }

    fn worker(&self, _: Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        Ok(Box::new(GpuWorker(self)))
    }
}

struct GpuWorker<'t>(&'t GpuTarget);

impl Worker for GpuWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let fault: Fault = site.id.parse().map_err(|error: fault::ParseFaultError| RunFailure::from_error(&error))?;
        self.0.inject(&fault)
    }
}
