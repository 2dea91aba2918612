//! `beamline harden`: protection written into the kernels of a capsule, and what it changes.

use crate::args;
use crate::commands::harden_choice::{Chosen, chosen};
use crate::commands::harden_executable::{HardenedExecutable, executable, is_same};
use crate::commands::harden_gpu::{Timed, timed};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{NOTHING_YET, stop_on_interrupt};
use crate::out::{self, number, percent};
use crate::progress::Progress;
use anyhow::anyhow;
use campaign::config::SelectionWords;
use campaign::summary::Rate;
use campaign::{CampaignEnd, Choices, Summary};
use capsule::Capsule;
use methods::hardening::{
    AutomaticChoice, Coverage, DetectionLatency, DetectionSummary, DynamicCounts, HardenedCapsule, InstructionTally,
    LoadCoverage, ProtectionChoice, RacingKernels, harden, harden_with_loads, tally_by_instruction,
};
use serde::Serialize;
use session::capsules;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The instructions of a hardened capsule that the capsule before had.
const ORIGINALS: &str = "protection:original";

/// What rates over all instructions do not say.
const DILUTION: &str = "Rates are over all instructions of the kernels: those that protection adds seldom corrupt anything, and dilute \
                        the rate. The rate times the instructions executed is what a beam sees.";

/// The note of a performance proxy.
const PROXY: &str = "This is a performance proxy of hardware that is not there: its kernels have about the cost that they would have \
                     with it, and detect nothing. No coverage follows from it, and no campaign runs on it.";

/// What came of hardening.
#[derive(Serialize)]
struct Hardened {
    format: &'static str,
    name: String,
    scheme: &'static str,
    /// Whether loads are executed twice, too; absent where they are not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    loads: bool,
    /// Whether protected kernels notice faults; a proxy for costs does not.
    detects: bool,
    /// The digest of the capsule that it was made of.
    original: String,
    digest: String,
    coverage: Coverage,
    /// The scheme of each kernel; absent where one scheme was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    automatic: Option<AutomaticChoice>,
    /// The choice of instructions; absent where all are protected.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<Chosen>,
    /// The campaign on the capsule as it was; absent where none was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Irradiated>,
    /// That on the hardened one.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Irradiated>,
    /// That on the hardened one with faults in the instructions that were there before alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_in_originals: Option<Irradiated>,
    /// The executable that has the protected kernels; absent where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<HardenedExecutable>,
    /// Both on the GPU; absent where that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu: Option<Timed>,
    note: &'static str,
}

/// What a campaign came to.
#[derive(Serialize)]
struct Irradiated {
    landed: u64,
    masked: Rate,
    sdc: Rate,
    due: Rate,
    /// Of `due`, the runs that protection noticed.
    detected: u64,
    /// Runs that end as the application decides, which is not there.
    undecided: Rate,
    /// How soon these were noticed, and whether an error reached memory before; absent where none was noticed.
    #[serde(skip_serializing_if = "Option::is_none")]
    detection: Option<DetectionSummary>,
    /// Instructions of all threads of the fault-free run, of those that the faults are drawn from.
    instructions: u64,
    /// These by where they come from: what is not executed twice is uncovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<DynamicCounts>,
    /// The rate of SDC times these.
    #[serde(skip_serializing_if = "Option::is_none")]
    exposure: Option<f64>,
    /// Faults by the static instruction that they hit, in order.
    by_instruction: Vec<InstructionTally>,
}

/// Hardens a capsule, and irradiates it before and after.
pub(crate) fn hardened(args: &args::Harden) -> Result<Code, Failure> {
    let stop = stop_on_interrupt(NOTHING_YET)?;
    let original = capsules::open(&args.capsule)?;
    let proxy = args.scheme.is_proxy();
    if (proxy || args.scheme.doubles_blocks()) && (!args.protect.is_empty() || args.from.is_some()) {
        let scheme = args.scheme.word();
        let why = if proxy { "is a performance proxy, which protects nothing" } else { "protects whole kernels" };
        let error = anyhow!("harden by {scheme}: it {why}; leave --protect and --from out");
        return Err(Failure::new(Code::Usage, error));
    }
    if args.loads && !args.scheme.has_loads() {
        let error = anyhow!(
            "harden by {} with --loads: loads are executed twice by drdv, fastsig-drdv, sriv and fastsig-sriv alone",
            args.scheme.word()
        );
        return Err(Failure::new(Code::Usage, error));
    }
    let read = [
        (Some(Path::new(&args.capsule)), "the capsule that is hardened"),
        (args.executable.as_deref(), "the executable"),
        (args.from.as_deref(), "the document of --from"),
    ];
    if let Some((_, what)) = read.into_iter().find(|(path, _)| path.is_some_and(|path| is_same(path, &args.out))) {
        let error = anyhow!("write {}: it is {what}; name another file with --out", args.out.display());
        return Err(Failure::new(Code::Usage, error));
    }
    let runs = if proxy { 0 } else { args.runs };
    let (choice, mut chosen) = chosen(args)?.unzip();
    let made = made(args, &original, choice.as_ref())?;
    let digest = made.capsule.digest().to_string();
    let executable = executable(args, &original, &made.capsule)?;
    out::file(&args.out, made.capsule.to_bytes().code(Code::Refused)?)?;
    // A name alone may be that of a bundled workload.
    let path = std::path::absolute(&args.out).code(Code::Refused)?.to_string_lossy().into_owned();
    let irradiated = |name: &str, group: &[&str]| (runs > 0).then(|| irradiated(args, name, group, &stop)).transpose();
    // Every golden run is compared with the recording: what is hardened gives the same bits, or this fails.
    if runs == 0 {
        capsules::ready(&path, &inject::Setup::default())?;
    }
    let (before, after) = (irradiated(&args.capsule, &[])?, irradiated(&path, &[])?);
    let after_in_originals = irradiated(&path, &[ORIGINALS])?;
    if let (Some(chosen), Some(before), Some(after)) = (&mut chosen, &before, &after) {
        chosen.measured((before.sdc, before.instructions), (after.sdc, after.instructions));
    }
    let document = Hardened {
        format: "beamline.hardened/1",
        name: made.capsule.name.clone(),
        scheme: args.scheme.word(),
        loads: args.loads,
        detects: !proxy,
        original: original.digest().to_string(),
        digest,
        coverage: made.coverage,
        automatic: made.automatic,
        choice: chosen,
        before,
        after,
        after_in_originals,
        executable: executable.map(|executable| executable.write()).transpose()?,
        gpu: args.gpu.then(|| timed(&original, &made.capsule, args.repeat)).transpose()?,
        note: if proxy { PROXY } else { DILUTION },
    };
    if args.json {
        out::json(&document)?;
    } else {
        out::text(&text(&document))?;
    }
    Ok(Code::Done)
}

/// The hardened capsule. Only a golden run says which kernels race.
fn made(
    args: &args::Harden,
    original: &Capsule,
    choice: Option<&ProtectionChoice>,
) -> Result<HardenedCapsule, Failure> {
    if !args.loads {
        return harden(original, args.scheme, choice).code(Code::Refused);
    }
    let target = capsules::ready(&args.capsule, &inject::Setup::default())?;
    let racing = RacingKernels::of(target.golden_run());
    harden_with_loads(original, args.scheme, &racing, choice).code(Code::Refused)
}

/// A campaign on a capsule, with faults in the instructions of these groups, or in all.
fn irradiated(args: &args::Harden, name: &str, group: &[&str], stop: &AtomicBool) -> Result<Irradiated, Failure> {
    let choices = Choices {
        capsule: Some(name.to_owned()),
        runs: Some(args.runs),
        seed: args.seed,
        no_app: true,
        selection: SelectionWords { group: group.iter().map(|&word| word.to_owned()).collect(), ..Default::default() },
        ..Choices::default()
    };
    let session = session::open(choices)?;
    let mut progress = Progress::new("runs");
    let (ended, results) = session
        .run_in_memory(stop, &mut |event| progress.event(&event))
        .map_err(|error| Failure::new(Code::Bug, error))?;
    progress.finish();
    if let CampaignEnd::Interrupted(_) = ended {
        return Err(Failure::new(Code::Interrupted, anyhow!("finish the campaign on {name}: it was interrupted")));
    }
    let by_instruction = tally_by_instruction(&results).code(Code::Refused)?;
    let classes = session.capsule().map(|target| DynamicCounts::of(target.golden_run()));
    let mut irradiated = Irradiated::of(&results.summary().code(Code::Refused)?, classes, by_instruction);
    if let (Some(classes), false) = (classes, group.is_empty()) {
        irradiated.among(classes.original());
    }
    if let Some(target) = session.capsule() {
        irradiated.detection = DetectionSummary::of(target, &results).code(Code::Refused)?;
    }
    Ok(irradiated)
}

impl Irradiated {
    fn of(summary: &Summary, classes: Option<DynamicCounts>, by_instruction: Vec<InstructionTally>) -> Self {
        let instructions = summary.golden.thread_instructions;
        Self {
            landed: summary.runs.landed,
            masked: summary.outcomes.masked,
            sdc: summary.outcomes.sdc,
            due: summary.outcomes.due,
            detected: summary.due.get("detected").copied().unwrap_or(0),
            undecided: summary.outcomes.undecided,
            detection: None,
            instructions,
            classes,
            exposure: summary.outcomes.sdc.rate.map(|rate| rate * instructions as f64),
            by_instruction,
        }
    }

    /// Says how many instructions the faults are drawn from, where these are not all.
    fn among(&mut self, instructions: u64) {
        self.instructions = instructions;
        self.classes = None;
        self.exposure = self.sdc.rate.map(|rate| rate * instructions as f64);
    }
}

fn text(document: &Hardened) -> String {
    let (coverage, of) = (&document.coverage, &document.coverage.instructions);
    let what = if document.detects { "protected" } else { "written as performance proxies, which detect nothing" };
    let mut text = format!(
        "{}: {} kernels {what}, {} left as they are\n\n",
        document.name,
        coverage.protected.len(),
        coverage.refused.len()
    );
    document.automatic.iter().for_each(|automatic| text.push_str(&schemes(automatic)));
    let functions = coverage.refused.iter().chain(&coverage.refused_functions);
    if !coverage.unchosen.is_empty() {
        let _ = writeln!(text, "not chosen: {}", coverage.unchosen.join(", "));
    }
    for refused in functions {
        let _ = writeln!(text, "left as it is: {}: {}", refused.name, refused.reason);
    }
    let classes = [
        ("original", of.original),
        ("duplicate", of.duplicate),
        ("copy", of.copy),
        ("check", of.check),
        ("notify", of.notify),
        ("entry", of.entry),
        ("all", of.all()),
        ("before", coverage.before),
    ];
    coverage.loads.iter().for_each(|loads| text.push_str(&of_loads(loads)));
    document.choice.iter().for_each(|chosen| text.push_str(&chosen.text()));
    for (class, count) in classes {
        let _ = writeln!(text, "{class:<10} {:>8} instructions", number(count));
    }
    if let (Some(before), Some(after)) = (&document.before, &document.after) {
        text.push('\n');
        let originals =
            document.after_in_originals.as_ref().map(|it| ("after, in the original's instructions alone:", it));
        for (when, irradiated) in [("before", before), ("after", after)].into_iter().chain(originals) {
            text.push_str(&line(when, irradiated));
        }
        if let (Some(before), Some(after)) = (before.exposure, after.exposure)
            && before > 0.0
        {
            let _ = writeln!(text, "\nSDC rate × instructions: {} of what it was", percent(after / before));
        }
        let _ = writeln!(text, "{}", document.note);
    }
    if !document.detects {
        let _ = writeln!(text, "\n{}", document.note);
    }
    document.executable.iter().for_each(|executable| text.push_str(&executable.text()));
    document.gpu.iter().for_each(|gpu| text.push_str(&gpu.text()));
    text
}

/// The loads that are executed twice, and those that are not.
fn of_loads(loads: &LoadCoverage) -> String {
    let mut text = format!("loads: {} executed twice, {} once\n", number(loads.twice), number(loads.once));
    for single in &loads.single {
        let _ = writeln!(text, "loads executed once: {} ({}): {}", single.name, number(single.loads), single.reason);
    }
    text
}

/// The scheme of each kernel, and why.
fn schemes(automatic: &AutomaticChoice) -> String {
    let AutomaticChoice { tree, applications, gpu, kernels } = automatic;
    let mut text = format!("schemes by a tree of {applications} other applications on {gpu}: {tree}\n");
    for chosen in kernels {
        let why = if chosen.reasons.is_empty() { "no condition".to_owned() } else { chosen.reasons.join("; ") };
        let _ = writeln!(text, "{}: {}, since {why}", chosen.kernel, chosen.scheme);
    }
    text.push('\n');
    text
}

/// A campaign in one line.
fn line(when: &str, it: &Irradiated) -> String {
    let rate = |rate: &Rate| {
        let share = rate.rate.map_or_else(|| "–".to_owned(), percent);
        format!("{share} [{}, {}]", percent(rate.low), percent(rate.high))
    };
    let exposure = it.exposure.map_or_else(|| "–".to_owned(), |exposure| format!("{exposure:.3e}"));
    let uncovered = it.classes.filter(|classes| classes.all() > 0);
    let uncovered = uncovered.map_or_else(String::new, |classes| {
        format!(" ({} uncovered)", percent(classes.uncovered as f64 / classes.all() as f64))
    });
    let undecided =
        if it.undecided.count == 0 { String::new() } else { format!("  undecided {}", rate(&it.undecided)) };
    let mut text = format!(
        "{when:<7} SDC {}  DUE {} ({} detected)  masked {}{undecided}  of {} runs; {} instructions executed{uncovered}, SDC rate × instructions {exposure}\n",
        rate(&it.sdc),
        rate(&it.due),
        number(it.detected),
        rate(&it.masked),
        number(it.landed),
        number(it.instructions),
    );
    if let Some(DetectionSummary { latency, contained }) = &it.detection {
        let DetectionLatency { median, low, high, p95 } = latency;
        let contained = rate(contained);
        let _ = writeln!(
            text,
            "        detected after {median} instructions of the thread in the median [{low}, {high}], 95 % within {}; {contained} before an error was stored",
            number(*p95),
        );
    }
    text
}
