//! The part of `beamline verify` that writes faults into kernels: the same faults on the simulator and on a machine that
//! is told nothing of them.

use crate::args::{self, MachineWord};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::stop_on_interrupt;
use crate::out;
use anyhow::{Context as _, anyhow};
use campaign::{Planner, RunIndex, Site, Subject};
use device::Contract;
use differential::{
    Agreement, Disagreement, Header, MachineInfo, Pool, Progress, Rows, Share, check_relocatable, compare,
};
use fault::Fault;
use inject::CapsuleTarget;
use inject::site::fault_of;
use methods::kit::patterns;
use session::SessionError;
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long a written fault may run beyond the fault-free run of the simulator, in seconds.
const LIMIT: f64 = 2.0;

/// How many queues to the GPU a context has. One is enough for a worker, which waits for all that it asks for, and a third of
/// the time that it takes to open a context with eight.
const CONNECTIONS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
/// Both machines round every product: a fault in one that is joined with a sum has no place in machine code, and code that
/// writes one apart from it.
pub(crate) const AS_WRITTEN: Contract = Contract::Off;

/// What a comparison came to.
pub(crate) struct Written {
    /// Where both agree.
    pub(crate) agreement: Agreement,
    /// Whether it was interrupted on the way.
    pub(crate) interrupted: bool,
}

/// Compares as many faults as are asked for; `machine` is the name of what runs those that are written.
pub(crate) fn written(
    target: &CapsuleTarget,
    args: &args::Verify,
    faults: u64,
    machine: (MachineWord, &str),
) -> Result<Written, Failure> {
    let refused = |error: String| Failure::new(Code::Refused, anyhow!(error));
    if machine.0 == MachineWord::Gpu {
        check_relocatable(target.golden_run().capsule()).map_err(refused)?;
    }
    let kept = args.out.as_ref().map_or("nothing is kept without --out", |_| "the same command goes on");
    let stop = stop_on_interrupt(kept)?;
    let header = Header::new(target.name(), target.digest(), machine.1);
    let mut rows = match &args.out {
        Some(directory) => Rows::open(directory, &header).code(Code::Usage)?,
        None => Rows::default(),
    };
    let program = env::current_exe().context("find the program itself").code(Code::Bug)?;
    let command = || {
        let mut command = Command::new(&program);
        command.args(["worker", machine.0.word(), target.opened_as()]).env(CONNECTIONS, "1");
        command
    };
    let pool = Pool { command: &command, jobs: jobs(args), limit: limit(args, target)? };
    let shown = ProgressNotes::default();
    compare(target, drawn(target, args, faults)?, &mut rows, &pool, &stop, &|at| shown.show(at)).code(Code::Refused)?;
    let interrupted = stop.load(Ordering::Relaxed);
    if interrupted {
        out::note(&format!("interrupted; {kept}"));
    }
    Ok(Written { agreement: Agreement::of(&rows), interrupted })
}

/// Has the simulator run the faults of kept rows again.
pub(crate) fn again(target: &CapsuleTarget, args: &args::Verify, rows: &Path) -> Result<Written, Failure> {
    let kept = Rows::kept(rows, target.name(), target.digest()).code(Code::Usage)?;
    if kept.cut > 0 {
        out::note(&format!("the last line of {} is cut off and left out ({} bytes)", rows.display(), kept.cut));
    }
    let (stop, shown) = (stop_on_interrupt("the kept rows are as they were")?, ProgressNotes::default());
    let rows = differential::again(target, kept, jobs(args), &stop, &|at| shown.show(at)).code(Code::Refused)?;
    Ok(Written { agreement: Agreement::of(&rows), interrupted: stop.load(Ordering::Relaxed) })
}

/// How much is done at once.
fn jobs(args: &args::Verify) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(cores, |jobs| jobs as usize)
}

/// How long a written fault may run.
fn limit(args: &args::Verify, target: &CapsuleTarget) -> Result<Duration, Failure> {
    let seconds = args.limit.unwrap_or(LIMIT + target.golden_run().seconds());
    Duration::try_from_secs_f64(seconds).context("take the limit: it has to be a number of seconds").code(Code::Usage)
}

/// The faults, as a campaign of so many runs would draw them.
fn drawn(target: &CapsuleTarget, args: &args::Verify, faults: u64) -> Result<Vec<(Site, Fault)>, Failure> {
    let runs: Vec<RunIndex> = (0..faults).map(RunIndex).collect();
    let mut words = args.select.words();
    words.model = patterns::looked_up(words.model).map_err(SessionError::from)?;
    let sites = target.plan(&runs, &words, args.seed).code(Code::Usage)?;
    let fault = |site: Site| Ok((fault_of(&site).code(Code::Bug)?, site));
    sites.into_iter().map(fault).map(|pair| pair.map(|(fault, site)| (site, fault))).collect()
}

/// Prints the progress of a comparison, ten times on its way.
#[derive(Default)]
struct ProgressNotes {
    simulated: AtomicU64,
    compared: AtomicU64,
}

impl ProgressNotes {
    fn show(&self, progress: Progress) {
        let (last, done, all, what) = match progress {
            Progress::Simulated(done, all) => (&self.simulated, done, all, "run by the simulator"),
            Progress::Compared(done, all) => (&self.compared, done, all, "compared"),
        };
        let tenths = (10 * done).checked_div(all).unwrap_or(0);
        if last.fetch_max(tenths, Ordering::Relaxed) < tenths {
            out::note(&format!("{} of {} faults are {what}", out::number(done), out::number(all)));
        }
    }
}

/// The agreement as text.
pub(crate) fn render(agreement: &Agreement) -> String {
    let Agreement { machines, agree, same_bytes, fault_free, .. } = agreement;
    let names: Vec<&str> = machines.first().iter().map(|info| info.name.as_str()).collect();
    let mut text = format!("  faults written into kernels, on {}:\n", names.first().unwrap_or(&"nothing"));
    text += &layout(machines);
    text += &format!("    the same end: {}\n", share(agree));
    if agreement.late > 0 {
        let late = out::number(agreement.late);
        text += &format!("    {late} more end so late here that the machine was not waited for\n");
    }
    if agreement.placed > 0 {
        let placed = out::number(agreement.placed);
        text += &format!("    {placed} more with memory where the machine had it\n");
    }
    text += &format!("    the same bytes where both corrupt an output: {}\n", share(same_bytes));
    text += &format!("    rewritten kernels that do without a fault what the simulator does: {}\n", share(fault_free));
    text += &indented(&ends(agreement));
    if !agreement.codes.is_empty() {
        text += &indented(&codes(agreement));
    }
    for Disagreement { what, count, examples } in &agreement.disagreements {
        text += &format!("    {} × {what}\n", out::number(*count));
        examples.iter().for_each(|id| text += &format!("      {id}\n"));
    }
    for (reason, count) in &agreement.refused {
        text += &format!("    {} were not run: failed to {reason}\n", out::number(*count));
    }
    text
}

/// Whether allocations lie to each other as in the recording.
fn layout(machines: &[MachineInfo]) -> String {
    let other = machines.iter().filter(|info| info.shift().is_none()).count();
    if other == 0 {
        return String::new();
    }
    let all = out::number(machines.len() as u64);
    format!("    in {other} of {all} placements allocations lie otherwise to each other than in the recording\n")
}

/// Ends on the simulator by ends on the machine.
fn ends(agreement: &Agreement) -> String {
    let columns: BTreeSet<&str> = agreement.ends.iter().map(|pair| pair.machine.as_str()).collect();
    let head = ["simulator".to_owned()].into_iter().chain(columns.iter().map(|name| format!("{name} there")));
    let head: Vec<String> = head.chain(["the same end".to_owned()]).collect();
    let row = |(end, same): (&String, &Share)| {
        let count = |column: &&str| {
            let pair = agreement.ends.iter().find(|pair| pair.simulator == *end && pair.machine == **column);
            out::number(pair.map_or(0, |pair| pair.count))
        };
        [end.clone()].into_iter().chain(columns.iter().map(count)).chain([share(same)]).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = agreement.by_end.iter().map(row).collect();
    let align = format!("<{}<", ">".repeat(columns.len()));
    out::table(&head.iter().map(String::as_str).collect::<Vec<_>>(), &align, &rows)
}

/// Crashes on both by their names.
fn codes(agreement: &Agreement) -> String {
    let row =
        |pair: &differential::CodePair| vec![pair.simulator.clone(), pair.machine.clone(), out::number(pair.count)];
    out::table(&["crash here", "crash there", "faults"], "<<>", &agreement.codes.iter().map(row).collect::<Vec<_>>())
}

/// `98.1 % (97.9 to 98.3 %), 4 905 of 5 000`
fn share(share: &Share) -> String {
    let Some(rate) = share.rate else { return "none of none".to_owned() };
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    let (rate, low, high) = (percent(rate), percent(share.low), percent(share.high));
    format!("{rate} % ({low} to {high} %), {} of {}", out::number(share.count), out::number(share.of))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
