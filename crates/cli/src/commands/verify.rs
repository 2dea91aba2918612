//! `beamline verify`: the fast engine against full re-execution, the simulator against a real GPU.

use crate::args::{self, MachineWord};
use crate::commands::written::{self, AS_WRITTEN, written};
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::anyhow;
use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex, Site, Subject};
use capsule::Metric;
use differential::Agreement;
use gpu::{Gpu, GpuError};
use inject::site::fault_of;
use inject::{CapsuleTarget, Golden, Machine, Setup, TierCheck};
use outcome::Tier;
use serde::Serialize;
use session::capsules;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The format of the document.
const FORMAT: &str = "beamline.verify/1";

/// Faults that every engine runs where nobody says how many.
const RUNS: u64 = 1000;

#[derive(Serialize)]
struct Verified {
    format: &'static str,
    capsule: Named,
    engines: Option<Engines>,
    gpu: Option<OnGpu>,
    /// The same faults injected, and written into kernels.
    faults: Option<Agreement>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    digest: String,
}

/// The faults that every engine ran.
#[derive(Serialize)]
struct Engines {
    seed: u64,
    faults: u64,
    compared: [Tier; 3],
    /// The ids of those that were not observed alike, or left other bytes in memory.
    differing: Vec<String>,
}

/// What a GPU gave.
#[derive(Serialize)]
struct OnGpu {
    name: String,
    compute_capability: String,
    driver: String,
    launches: u64,
    /// Copies to the host, and how many of them are the same to the bit.
    copies: u64,
    same: u64,
    /// Instructions whose results the PTX ISA does not define to the bit.
    uncertain: BTreeSet<String>,
    differing: Vec<Difference>,
}

/// A copy to the host that is not the same to the bit.
#[derive(Serialize)]
struct Difference {
    copy: u64,
    output: Option<String>,
    elements: u64,
    differing: u64,
    /// The error by the output's metric, the largest relative one being divided by the root mean square of the output; none
    /// if it is no number.
    error: Option<f64>,
    #[serde(skip)]
    measure: &'static str,
    /// What is allowed: the output's tolerance where results are not defined to the bit, else nothing.
    bound: f64,
    agrees: bool,
}

/// Checks a capsule.
pub(crate) fn verify(args: &args::Verify) -> Result<Code, Failure> {
    if let Some(rows) = &args.again {
        let target = rounded_apart(args)?;
        return again(&target, args, rows);
    }
    let target = capsules::ready(&args.capsule, &Setup::default())?;
    let runs = args.runs.unwrap_or(if args.faults.is_some() { 0 } else { RUNS });
    let engines = (runs > 0).then(|| engines(&target, args.seed, runs)).transpose()?;
    let (gpu, absent) = match on_gpu(target.golden_run()) {
        Ok(found) => (Some(found), None),
        Err(error) if error.is_absence() && !args.gpu => (None, Some(error)),
        Err(error) => return Err(Failure::new(Code::Refused, error)),
    };
    let compare = |count| written(&*rounded_apart(args)?, args, count, machine(gpu.as_ref(), args));
    let faults = args.faults.map(compare).transpose()?;
    let interrupted = faults.as_ref().is_some_and(|written| written.interrupted);
    let faults = faults.map(|written| written.agreement);
    let capsule = Named { name: target.name().to_owned(), digest: target.digest().to_owned() };
    let verified = Verified { format: FORMAT, capsule, engines, gpu, faults };
    if args.json {
        out::json(&verified)?;
    } else {
        out::text(&render(&verified, absent.as_ref()))?;
    }
    if interrupted { Ok(Code::Interrupted) } else { verified.judge(args.gpu) }
}

/// The capsule as kernels execute it that faults are written into: no product is joined with a sum.
fn rounded_apart(args: &args::Verify) -> Result<Arc<CapsuleTarget>, Failure> {
    let machine = Machine { contract: AS_WRITTEN, ..Machine::default() };
    Ok(capsules::ready_on(machine, &args.capsule, &Setup::default())?)
}

/// Judges kept rows again.
fn again(target: &CapsuleTarget, args: &args::Verify, rows: &Path) -> Result<Code, Failure> {
    let written = written::again(target, args, rows)?;
    let capsule = Named { name: target.name().to_owned(), digest: target.digest().to_owned() };
    let faults = Some(written.agreement);
    if args.json {
        out::json(&Verified { format: FORMAT, capsule, engines: None, gpu: None, faults })?;
    } else {
        out::text(&format!("{}\n{}", capsule.name, faults.as_ref().map_or_else(String::new, written::render)))?;
    }
    Ok(if written.interrupted { Code::Interrupted } else { Code::Done })
}

/// What runs faults that are written into kernels.
fn machine<'g>(gpu: Option<&'g OnGpu>, args: &args::Verify) -> (MachineWord, &'g str) {
    match gpu.filter(|_| args.gpu) {
        Some(gpu) => (MachineWord::Gpu, &gpu.name),
        None => (MachineWord::Simulator, "simulator"),
    }
}

/// Runs the same faults by full re-execution and by the fast engines.
fn engines(target: &CapsuleTarget, seed: u64, runs: u64) -> Result<Engines, Failure> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let sites = target.plan(&runs, &SelectionWords::default(), seed).code(Code::Usage)?;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = sites.chunks(sites.len().div_ceil(workers).max(1));
    let differing = std::thread::scope(|scope| {
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || differing(target, part))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Engines {
        seed,
        faults: sites.len() as u64,
        compared: [Tier::Full, Tier::Delta, Tier::Lanes],
        differing: differing.concat(),
    })
}

fn differing(target: &CapsuleTarget, sites: &[Site]) -> Result<Vec<String>, Failure> {
    let mut tier_check = TierCheck::new(target);
    let mut differing = Vec::new();
    for site in sites {
        let fault = fault_of(site).code(Code::Bug)?;
        if tier_check.disagreement(&fault).code(Code::Bug)?.is_some() {
            differing.push(fault.to_string());
        }
    }
    Ok(differing)
}

/// Repeats the capsule on the GPU of this machine.
fn on_gpu(golden: &Golden) -> Result<OnGpu, GpuError> {
    let mut device = Gpu::open()?;
    let description = device.description().clone();
    let replayed = gpu::replay(&mut device, golden.capsule())?;
    let uncertain = gpu::uncertain(golden.capsule());
    let copies = golden.copies().iter().zip(&replayed.copies).zip(0..);
    let differing = copies
        .filter(|((expected, found), _)| expected.bytes != **found)
        .map(|((expected, found), copy)| difference(golden, copy, expected, found, !uncertain.is_empty()));
    let differing: Vec<Difference> = differing.collect();
    let version = |(major, minor): (i32, i32)| format!("{major}.{minor}");
    Ok(OnGpu {
        name: description.name,
        compute_capability: version(description.compute),
        driver: version(description.driver),
        launches: replayed.launches,
        copies: replayed.copies.len() as u64,
        same: (replayed.copies.len() - differing.len()) as u64,
        uncertain,
        differing,
    })
}

fn difference(golden: &Golden, copy: u64, expected: &inject::GoldenCopy, found: &[u8], may_differ: bool) -> Difference {
    let Some(output) = expected.output else {
        let pairs = expected.bytes.iter().zip(found);
        let (elements, differing) = (found.len() as u64, pairs.filter(|(a, b)| a != b).count() as u64);
        return Difference {
            copy,
            output: None,
            elements,
            differing,
            error: None,
            measure: "",
            bound: 0.0,
            agrees: false,
        };
    };
    let diff = golden.compare(output, found);
    let declared = &golden.outputs()[output];
    let known = declared.tolerance.filter(|_| may_differ && declared.metric != Metric::Unknown);
    let bound = known.unwrap_or(0.0);
    let (error, measure) = match declared.metric {
        Metric::MaxRel | Metric::Unknown => (diff.max_abs / golden.scale(output), "of their root mean square at most"),
        Metric::MaxAbs => (diff.max_abs, "at most"),
        Metric::RelL2 => (diff.rel_l2, "of their norm"),
    };
    Difference {
        copy,
        output: Some(diff.name),
        elements: diff.elements,
        differing: diff.differing,
        error: Some(error).filter(|error| error.is_finite()),
        measure,
        bound,
        agrees: error <= bound,
    }
}

impl Verified {
    /// A difference is a defect of ours; of written faults, where the simulator runs them: what a GPU does otherwise with
    /// a fault is what is to be found out.
    fn judge(&self, gpu: bool) -> Result<Code, Failure> {
        let ends = self.faults.iter().filter(|_| !gpu).flat_map(|faults| &faults.ends);
        // Written faults have more fuel, and may come out of what counts as a hang where they are injected.
        let other = ends.filter(|pair| {
            pair.simulator != pair.machine && pair.simulator != "hang" && pair.simulator != "out_of_fuel"
        });
        let written: u64 = other.map(|pair| pair.count).sum();
        if written > 0 {
            return Err(Failure::new(
                Code::Bug,
                anyhow!("agree: {written} faults come to another end where they are written into the kernel"),
            )
            .help("please report it with the capsule and the ids above"));
        }
        let faults = self.engines.as_ref().map_or(0, |engines| engines.differing.len());
        if faults > 0 {
            return Err(Failure::new(
                Code::Bug,
                anyhow!(
                    "agree: {faults} faults are observed otherwise by a fast engine, or leave other bytes in memory"
                ),
            )
            .help("please report it with the capsule and the ids above; `--engine full` is right"));
        }
        let wrong = self.gpu.iter().flat_map(|gpu| &gpu.differing).filter(|difference| !difference.agrees).count();
        if wrong > 0 {
            return Err(Failure::new(Code::Bug, anyhow!("agree: {wrong} copies to the host differ from the GPU's"))
                .help("a program with races gives other results each time; else please report it with the capsule"));
        }
        Ok(Code::Done)
    }
}

fn render(verified: &Verified, absent: Option<&GpuError>) -> String {
    let mut text = format!("{}\n", verified.capsule.name);
    if let Some(engines) = &verified.engines {
        let (faults, differing) = (out::number(engines.faults), engines.differing.len());
        text += &format!(
            "  {faults} faults by full re-execution, by delta and in lanes: {differing} differ in what is observed or in final memory\n"
        );
        for id in &engines.differing {
            text += &format!("    {id}\n");
        }
    }
    text += &match &verified.gpu {
        Some(gpu) => render_gpu(gpu),
        None => {
            let why = absent.map_or_else(String::new, ToString::to_string);
            format!("  not compared with a real GPU: failed to {why}\n")
        }
    };
    text + &verified.faults.as_ref().map_or_else(String::new, written::render)
}

fn render_gpu(gpu: &OnGpu) -> String {
    let mut text = String::new();
    text += &format!("  on {}, compute capability {}: ", gpu.name, gpu.compute_capability);
    text += &format!(
        "{} launches, {} of {} copies to the host are the same to the bit\n",
        out::number(gpu.launches),
        out::number(gpu.same),
        out::number(gpu.copies)
    );
    for difference in &gpu.differing {
        text += &format!(
            "    copy {}{}: {} of {} elements differ, by {} {}, allowed {:e}\n",
            difference.copy,
            difference.output.as_ref().map_or_else(String::new, |name| format!(" ({name})")),
            out::number(difference.differing),
            out::number(difference.elements),
            difference.error.map_or_else(|| "more than all".to_owned(), |error| format!("{error:.2e}")),
            difference.measure,
            difference.bound
        );
    }
    if !gpu.uncertain.is_empty() {
        let named: Vec<&str> = gpu.uncertain.iter().map(String::as_str).collect();
        text += &format!("  not defined to the bit by the PTX ISA: {}\n", named.join(", "));
    }
    text
}
