//! A target whose sites and outcomes are made up, but the same every time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use stats::Draws;

use super::fake_sweep::FakeSweeper;
use crate::{
    DataRace, Engine, EngineOffer, Engines, GoldenSummary, Label, LabelColumn, Labels, Planner, RacedMemory, Racers,
    RacingAccess, RunFailure, RunIndex, SelectionWords, Site, Spot, Stratify, Stratum, Subject, Sweep, Sweeper,
    TargetError, Worker,
};
use outcome::{Criteria, End, FirstUse, Host, Landed, Observation, OutputDiff, ProgramPoint, Tier, TrapKind, Verdict};

/// Makes up a run of every kind: masked, corrupted, crashed, hung, detected, not landed, failed, panicked.
#[derive(Clone, Debug)]
pub(super) struct Fake {
    /// What it says its digest is.
    pub(super) digest: String,
    /// How long a run takes.
    pub(super) delay: Duration,
    /// Of 1000 runs, how many are masked; the others are of every other kind.
    pub(super) masked: u64,
    /// Whether faults land.
    pub(super) lands: bool,
    /// How many units there are to sweep.
    pub(super) units: u64,
    /// Whether some units fail or panic.
    pub(super) fails: bool,
    /// Members that each stratum has more.
    pub(super) more: u64,
    /// Raises the flag once this many runs are made.
    pub(super) stop: Option<Arc<Countdown>>,
    /// What it makes of each site that it planned.
    pub(super) change: fn(Site) -> Site,
    /// What planning says, if it fails.
    pub(super) plan_error: Option<String>,
    /// What making a worker says, if it fails.
    pub(super) worker_error: Option<String>,
}

/// A flag that is raised after a number of runs.
#[derive(Debug)]
pub(super) struct Countdown {
    pub(super) runs: AtomicU64,
    pub(super) flag: AtomicBool,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            digest: "fa4e".to_owned(),
            delay: Duration::ZERO,
            masked: 500,
            lands: true,
            units: 24,
            fails: false,
            more: 0,
            stop: None,
            change: |site| site,
            plan_error: None,
            worker_error: None,
        }
    }
}

impl Subject for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn golden(&self) -> GoldenSummary {
        GoldenSummary { launches: 2, threads: 64, thread_instructions: 4096, seconds: 0.25 }
    }

    fn races(&self) -> Vec<DataRace> {
        let access = |pc, line: Option<u32>| RacingAccess { pc, file: line.map(|_| "fake.cu".to_owned()), line };
        let (between, memory) = (Racers::Blocks, RacedMemory::Global);
        let accesses = [access(3, Some(9)), access(7, None)];
        vec![DataRace { kernel: "kernel_0".into(), between, memory, accesses, words: 96 }]
    }

    fn races_unsearched(&self) -> Option<String> {
        Some("looked for in 1 of 2 launches".into())
    }
}

impl Planner for Fake {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], selection: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        if let Some(message) = &self.plan_error {
            return Err(TargetError::new(message));
        }
        let model = selection.model.as_deref().unwrap_or("flip");
        let strata = selection.stratify.map(|_| STRATA.len() as u64);
        Ok(runs.iter().map(|&run| (self.change)(site(run, model, seed, strata))).collect())
    }

    fn strata(&self, selection: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        match selection.stratify {
            Some(Stratify::Kernel) => {
                Ok(STRATA.map(|(name, members)| Stratum { name: name.into(), members: members + self.more }).to_vec())
            }
            _ => Err(TargetError::new("divide the population: the fake has kernels only")),
        }
    }

    fn sweep(&self, _selection: &SelectionWords) -> Result<Sweep, TargetError> {
        match &self.plan_error {
            Some(message) => Err(TargetError::new(message)),
            None => Ok(self.all_faults()),
        }
    }
}

impl Engines for Fake {
    fn offered(&self) -> &[EngineOffer] {
        &[EngineOffer { word: "auto", about: "makes them up" }]
    }

    fn worker(&self, _engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        match &self.worker_error {
            Some(message) => Err(TargetError::new(message)),
            None => Ok(Box::new(FakeWorker { fake: self })),
        }
    }

    fn sweeper(
        &self,
        _engine: &Engine,
        _selection: &SelectionWords,
        _criteria: &Criteria,
    ) -> Result<Box<dyn Sweeper + '_>, TargetError> {
        match &self.worker_error {
            Some(message) => Err(TargetError::new(message)),
            None => Ok(Box::new(FakeSweeper::new(self))),
        }
    }
}

/// The kernels of the fake and their members, for campaigns with strata: of the last one little is masked.
pub(super) const STRATA: [(&str, u64); 3] = [("kernel_0", 9000), ("kernel_1", 900), ("kernel_2", 100)];

/// Marks the dynamic instructions of the last stratum.
const LAST: u64 = 1 << 41;

fn site(run: RunIndex, model: &str, seed: u64, strata: Option<u64>) -> Site {
    let draws = Draws::new(seed, run.0);
    let pick = |k: u64, count: u64| draws.draw(k) % count;
    let stratum = strata.map(|strata| (run.0 % strata) as u32);
    let last = if stratum == Some(2) { LAST } else { 0 };
    let (thread, dynamic) = (pick(0, 32) as u32, last + pick(1, 1 << 40));
    let pc = pick(2, 12) as u32;
    let spot = Spot {
        kernel: format!("kernel_{}", stratum.unwrap_or(pc % 2)),
        pc,
        target: "dst0".into(),
        group: ["load", "fp32 fma", "quote ' tab \t newline \n"][pc as usize % 3].into(),
        opcode: "op".into(),
        file: (pc > 3).then(|| "fake.cu".into()),
        line: (pc > 3).then_some(pc),
    };
    let labels = vec![dynamic.into(), pick(4, 32).to_string().into(), Label::None];
    let id = format!("thread={thread},dyn={dynamic},model={model}");
    Site { stratum, ..Site::new(id, spot, Labels::new(labels)) }
}

/// Labels of every kind, one of which no site has.
pub(super) static LABELS: [LabelColumn; 3] = [
    LabelColumn::number("dynamic", "the dynamic instruction of the thread"),
    LabelColumn::text("bits", "the bits"),
    LabelColumn::number("layer", "the layer"),
];

/// The dynamic instruction of a site.
fn dynamic(site: &Site) -> u64 {
    site.labels.number(0).expect("every site has one")
}

/// The kind of run that does not land.
const NOT_LANDED: u64 = 6;

struct FakeWorker<'a> {
    fake: &'a Fake,
}

impl Worker for FakeWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        if !self.fake.delay.is_zero() {
            std::thread::sleep(self.fake.delay);
        }
        if let Some(stop) = &self.fake.stop
            && stop.runs.fetch_sub(1, Ordering::Relaxed) == 1
        {
            stop.flag.store(true, Ordering::Relaxed);
        }
        let draws = Draws::new(dynamic(site), 99);
        if !self.fake.lands {
            return Ok(observation(NOT_LANDED, &draws));
        }
        let masked = if dynamic(site) & LAST == 0 { self.fake.masked } else { 0 };
        let kind = if draws.draw(0) % 1000 < masked { 0 } else { 1 + draws.draw(1) % 8 };
        match kind {
            7 => Err(RunFailure::new("replay the run: the fake is out of luck")),
            // Panics are part of the contract; their message goes to stderr, which the harness captures.
            8 if draws.draw(2) < u64::MAX / 4 => panic!("the fake fell over at {}", dynamic(site)),
            _ => Ok(observation(kind, &draws)),
        }
    }
}

fn observation(kind: u64, draws: &Draws) -> Observation {
    let after = draws.draw(3) % 1000;
    let at = ProgramPoint { kernel: "kernel_0".into(), pc: 3, line: Some(9), after };
    let trap = TrapKind::ALL[draws.draw(4) as usize % TrapKind::ALL.len()];
    let differing = if kind == 1 || kind == 2 { 1 + draws.draw(5) % 50 } else { 0 };
    let end = match kind {
        3 => End::Trapped { trap, at, address: (!after.is_multiple_of(3)).then_some(draws.draw(8)) },
        4 => End::Hang { at, endless: true },
        5 if after.is_multiple_of(2) => End::Exited { code: 3 },
        5 => End::Detected { by: "a checksum".into() },
        _ => End::Completed,
    };
    Observation {
        landed: (kind != NOT_LANDED).then_some(Landed {
            before: u128::from(draws.draw(6)),
            after: u128::MAX,
            threads: 1,
        }),
        first_use: [FirstUse::Read { after }, FirstUse::Overwritten { after }, FirstUse::Never][after as usize % 3],
        outputs: if end == End::Completed { vec![output(differing, kind == 2, draws)] } else { Vec::new() },
        end,
        host_visible: false,
        strayed: draws.draw(8) % 2,
        instructions: draws.draw(9) >> 1,
        tier: [Tier::Full, Tier::Delta, Tier::Lanes][draws.draw(10) as usize % 3],
        host: (kind > 2 && draws.draw(12).is_multiple_of(2)).then(|| host(draws)),
    }
}

fn host(draws: &Draws) -> Host {
    let bit = |number: u32| draws.draw(13) >> number & 1 == 1;
    let verdict = [None, Some(Verdict::Acceptable), Some(Verdict::Bad)][draws.draw(14) as usize % 3];
    let files = if bit(2) { vec!["out put.bin".to_owned()] } else { Vec::new() };
    Host {
        status: bit(0).then_some(3),
        stdout: bit(1),
        stderr: bit(3),
        files,
        special: bit(4),
        verdict,
        debugged: None,
    }
}

fn output(differing: u64, nan: bool, draws: &Draws) -> OutputDiff {
    let error = if differing == 0 { 0.0 } else { draws.draw(11) as f64 / 1e19 };
    OutputDiff {
        name: "out".into(),
        elements: 64,
        differing,
        max_abs: if nan { f64::INFINITY } else { error },
        sum_abs: Some(error),
        max_rel: error,
        rel_l2: error / 3.0,
        nan: u64::from(nan),
        inf: 0,
        out_of_range: 0,
    }
}
