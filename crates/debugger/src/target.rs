//! An application on a GPU as the target system of a campaign.

use crate::devices::Debugger;
use crate::error::DebuggerError;
use crate::groups::{Groups, thread_of};
use crate::inject::{Discarded, Injection};
use crate::mi::{Session, Stop};
use crate::profile::{Line, Trace};
use campaign::{
    Engine, EngineOffer, Engines, GoldenSummary, LabelColumn, Planner, RunFailure, RunIndex, SelectionWords, Site,
    Spot, Subject, TargetError, Worker,
};
use facts::Facts;
use fault::{Fault, Isa, Scope, ScopeKind, TargetKind, TargetOperand};
use inject::site::{LABELS, fault_of, site_of};
use inject::{CapsuleTarget, InjectError};
use live::{GoldenApplication, RunOutputs};
use outcome::{End, Host, Observation};
use stats::{Cumulative, Draws};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The engine of applications on a real GPU.
pub const CUDA_GDB: Engine = Engine::named(WORD);
/// Its word.
const WORD: &str = "cuda-gdb";
/// The engines of an application on a real GPU.
pub const ENGINES: [EngineOffer; 1] =
    [EngineOffer { word: WORD, about: "runs the application on a real GPU, in NVIDIA's debugger" }];

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
    capsule: Arc<CapsuleTarget>,
    application: GoldenApplication,
    debugger: Debugger,
    groups: Groups,
    digest: String,
    time: Duration,
    seconds: f64,
    isa: Isa,
}

/// What runs of a campaign are drawn from.
struct Population<'t> {
    isa: Isa,
    target: TargetKind,
    patterns: fault::Patterns,
    /// Each with its members, a number for every step of each.
    parts: Cumulative<Part<'t>>,
}

/// The members of a group that are selected, and the steps of each.
struct Part<'t> {
    kernel: &'t str,
    trace: &'t Trace,
    members: Vec<(u32, u64)>,
    steps: Vec<(usize, Vec<TargetOperand>)>,
}

impl GpuTarget {
    /// Runs the application on the GPU twice without a fault, finds groups of threads that behave alike, and follows one
    /// of each, `jobs` at a time.
    ///
    /// # Errors
    /// If there is no debugger, or the application does not run in it, or not the same twice.
    pub fn new(
        capsule: Arc<CapsuleTarget>,
        mut application: GoldenApplication,
        debugger: &Path,
        jobs: usize,
    ) -> Result<Self, DebuggerError> {
        let debugger = Debugger::new(debugger);
        let (outputs, _) = rehearse(&debugger, &application)?;
        application.refer_to(outputs)?;
        let (outputs, seconds) = rehearse(&debugger, &application)?;
        application.check_repeated(&outputs)?;
        let allowed = Duration::from_secs_f64(TIME_CONSTANT + TIME_FACTOR * seconds);
        let time = application.timeout().unwrap_or(allowed);
        let groups = Groups::profile(&debugger, &application, capsule.golden_run(), jobs)?;
        let isa = groups.isa;
        let digest = format!("{}+{}", capsule.digest(), fingerprint(&groups));
        Ok(Self { capsule, application, debugger, groups, digest, time, seconds, isa })
    }

    /// The application's work, as recorded on the simulator.
    #[must_use]
    pub fn capsule(&self) -> &Arc<CapsuleTarget> {
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
        Ok(self.site(fault, &located))
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
            match injection.run(&self.debugger, &self.application) {
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
        if fault.isa != self.isa {
            let error = InjectError::Isa { found: fault.isa, here: self.isa };
            return Err(RunFailure::from_error(&error));
        }
        let known = golden.launches().get(fault.launch as usize).map(|launch| launch.isa);
        inject::locate(golden, &Fault { dynamic: 0, isa: known.unwrap_or_default(), ..fault.clone() })
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
        let offset = group.trace.steps[step].offset;
        let line = self.groups.code[&group.kernel].get(&offset);
        let line = line.ok_or_else(|| failed("there is no such instruction"))?;
        let facts = line.instruction.facts();
        let operand = fault::operand(fault.target, &facts).filter(|operand| fault.model.fits(operand.bits));
        let operand = operand.ok_or_else(|| failed(&format!("`{}` has no such operand", line.instruction.opcode)))?;
        Ok(Located { thread, trace: &group.trace, step, offset, line, facts, operand })
    }

    fn site(&self, fault: &Fault, located: &Located<'_>) -> Site {
        let known = &self.capsule.golden_run().launches()[fault.launch as usize];
        let spot = Spot {
            kernel: known.program.name.clone(),
            pc: located.offset / crate::profile::INSTRUCTION,
            target: String::new(),
            group: located.facts.group.to_string(),
            opcode: located.facts.mnemonic.to_string(),
            file: located.line.file.clone(),
            line: located.line.line,
        };
        site_of(fault, spot)
    }

    fn population(&self, words: &SelectionWords) -> Result<Population<'_>, TargetError> {
        let selection = selection(words)?;
        let golden = self.capsule.golden_run();
        let parts = self.groups.profiled.iter().map(|group| {
            let holds = |&&(launch, number): &&(u32, u64)| Groups::holds(&selection, golden, launch, number);
            let members = group.members.iter().filter(holds).copied().collect();
            let code = &self.groups.code[&group.kernel];
            let steps = group.trace.steps.iter().enumerate().skip(group.trace.first).filter(|(_, step)| step.executed);
            let steps = steps.filter_map(|(at, step)| {
                let facts = code.get(&step.offset)?.instruction.facts();
                selection.holds(&facts).then(|| (at, selection.operands(&facts)))
            });
            let part = Part { kernel: &group.kernel, trace: &group.trace, members, steps: steps.collect() };
            let total = part.members.len() as u64 * part.steps.len() as u64;
            (part, total)
        });
        Ok(Population {
            isa: self.isa,
            target: selection.target,
            patterns: selection.patterns.clone(),
            parts: parts.collect(),
        })
    }
}

impl Population<'_> {
    /// The fault that draws come to.
    fn draw(&self, golden: &inject::Golden, draws: &mut Draws) -> Option<Fault> {
        let (part, at) = self.parts.find(draws.below(self.parts.total())?)?;
        let steps = part.steps.len() as u64;
        let &(launch, number) = part.members.get((at / steps) as usize)?;
        let (step, operands) = part.steps.get((at % steps) as usize)?;
        let operand = *draws.one_of(operands)?;
        let (model, _) = self.patterns.draw(draws, operand.bits, 1)?;
        let thread = thread_of(golden, launch, number)?;
        debug_assert_eq!(thread.kernel, part.kernel);
        let (cta, thread) = (thread.cta, thread.thread);
        let (dynamic, target) = (part.trace.dynamic(*step), operand.target);
        Some(Fault { isa: self.isa, launch, cta, thread, dynamic, target, model, scope: Scope::Thread })
    }
}

/// A place that was found.
struct Located<'t> {
    thread: crate::thread::Thread,
    trace: &'t Trace,
    step: usize,
    /// The instruction, in bytes from the first of its kernel.
    offset: u32,
    line: &'t Line,
    facts: Facts,
    operand: TargetOperand,
}

/// Whether the words of a selection mean something to this engine.
///
/// # Errors
/// If they do not, or it cannot do what they say.
pub fn check_words(words: &SelectionWords) -> Result<(), TargetError> {
    selection(words).map(drop)
}

/// The words of a selection, understood; refused where this engine cannot do what they say.
fn selection(words: &SelectionWords) -> Result<fault::Selection, TargetError> {
    let of = |error: fault::SelectionError| TargetError::from_error(&error);
    let (model, target, scope) = (words.model.as_deref(), words.target.as_deref(), words.scope.as_deref());
    let mut selection = fault::Selection::of_words(model, target, scope, &words.group, &[]).map_err(of)?;
    selection = selection.in_kernels(&words.kernel).map_err(of)?;
    selection.threads = fault::Ranges::parse("threads", &words.threads).map_err(of)?;
    selection.blocks = fault::Ranges::parse("blocks", &words.blocks).map_err(of)?;
    let refused = |reason: String| Err(TargetError::new(format!("draw faults for cuda-gdb: {reason}")));
    if !selection.target.is_operand() {
        return refused(format!("expected one of the targets {}", TargetKind::WORDS[..5].join(", ")));
    }
    if selection.patterns.iter().any(|pattern| pattern.scope != ScopeKind::Thread) {
        return refused("the debugger hits one thread (scope thread)".to_owned());
    }
    if words.method.is_some() {
        return refused("the methods choose instructions of PTX; this engine has groups of its own".to_owned());
    }
    if !words.iterations.is_empty() {
        return refused("iterations are counted on the simulator; a location of the debugger says its own".to_owned());
    }
    if !words.lines.is_empty() {
        return refused("machine instructions are chosen by kernels and by groups such as int_add".to_owned());
    }
    Ok(selection)
}

/// A run without a fault: what it left, and how long it took in the debugger.
fn rehearse(debugger: &Debugger, application: &GoldenApplication) -> Result<(RunOutputs, f64), DebuggerError> {
    DebuggerError::twice(|| rehearse_once(debugger, application))
}

fn rehearse_once(debugger: &Debugger, application: &GoldenApplication) -> Result<(RunOutputs, f64), DebuggerError> {
    let mut session = Session::start(debugger, application).map_err(|trouble| match trouble {
        crate::mi::Trouble::Io(source) => {
            DebuggerError::Start { program: debugger.program().display().to_string(), source }
        }
        other => other.into(),
    })?;
    let stop = session.resume("-exec-run", FIRST)?;
    let seconds = session.started().elapsed().as_secs_f64();
    match stop {
        Stop::Exited { code: 0 } => {
            let outputs = session.outputs(application).map_err(crate::mi::Trouble::Io)?;
            Ok((outputs, seconds))
        }
        died @ (Stop::Signalled { .. } | Stop::Gone { .. }) => Err(DebuggerError::Died { how: died.words() }),
        other => Err(DebuggerError::Ended { how: other.words() }),
    }
}

fn with_sessions(seen: Observation, sessions: u64) -> Observation {
    let host = seen.host.map(|host| {
        let debugged = host.debugged.map(|debugged| outcome::Debugged { sessions, ..debugged });
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

impl Subject for GpuTarget {
    fn name(&self) -> &str {
        self.capsule.name()
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn golden(&self) -> GoldenSummary {
        let executed = |trace: &Trace| trace.dynamic(trace.steps.len());
        let groups = self.groups.profiled.iter();
        let thread_instructions = groups.map(|group| group.members.len() as u64 * executed(&group.trace)).sum();
        GoldenSummary { thread_instructions, seconds: self.seconds, ..self.capsule.golden() }
    }
}

impl Planner for GpuTarget {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], words: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let population = self.population(words)?;
        let none = || {
            TargetError::new(format!(
                "find a site: no instruction of a followed thread has an operand for `{:?}`",
                population.target
            ))
        };
        let site = |run: &RunIndex| {
            let fault = population.draw(self.capsule.golden_run(), &mut Draws::new(seed, run.0)).ok_or_else(none)?;
            self.site_of(&fault).map_err(|failure| TargetError::from_error(&failure))
        };
        runs.iter().map(site).collect()
    }
}

impl Engines for GpuTarget {
    fn offered(&self) -> &[EngineOffer] {
        &ENGINES
    }

    fn worker(&self, _: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        Ok(Box::new(GpuWorker(self)))
    }
}

struct GpuWorker<'t>(&'t GpuTarget);

impl Worker for GpuWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        self.0.inject(&fault_of(site)?)
    }
}
