//! All workloads, each measured in every way that the page speaks of.

use campaign::{Finding, SelectionWords};
use methods::kit::{Campaigns, MethodSettings, OpenedCapsule, StudyError};
use methods::two_level::{
    Cells, Composition, Counted, IpaTable, IssueProfile, KnownIssueRate, OutcomeCounts, RatePerInstruction, SdcKind,
    Settings, Shares, TwoLevel,
};
use outcome::Class;
use stats::{Bounded, Confidence, Draws, poisson};
use std::collections::BTreeMap;

use crate::page::PageContext;

/// The workloads of the paper that have one of like name here, in the order of its Table 4, and its names.
pub(super) const OF_PAPER: [(&str, &str); 16] = [
    ("pathfinder", "pathfinder"),
    ("nw", "nw"),
    ("nn", "nn"),
    ("kmeans", "kmeans"),
    ("hotspot", "hotspot"),
    ("gaussian", "gaussian"),
    ("bfs", "bfs"),
    ("srad_v1", "srad_v1"),
    ("lud", "lud"),
    ("srad_v2", "srad_v2"),
    ("backprop", "backprop"),
    ("lavamd", "lavaMD"),
    ("streamcluster", "streamcluster"),
    ("btree", "b+tree"),
    ("comd", "CoMD"),
    ("lulesh", "Lulesh"),
];

/// The other bundled workloads; a new one goes behind the others, as seeds count through.
pub(super) const OTHERS: [&str; 28] = [
    "aes",
    "blackscholes",
    "gemm",
    "hash",
    "lbm",
    "matmul",
    "mergesort",
    "montecarlo",
    "mriq",
    "pagerank",
    "reduce",
    "sad",
    "scan",
    "sssp",
    "stencil",
    "transpose",
    "atax",
    "bicg",
    "cjp",
    "corr",
    "covar",
    "fdtd2d",
    "gramschm",
    "mm3",
    "fft",
    "swaptions",
    "water",
    "sobel",
];

/// What bits do by published gate-level results, in the corners that they leave open; the first is what is compared with.
pub(super) const PATTERNS: [(&str, &str, &str); 5] = [
    ("one bit", "flip", "thread"),
    ("40 % one bit, else two adjacent bits", "0.4*flip|0.6*double", "thread"),
    ("40 % one bit, else a random value", "0.4*flip|0.6*random", "thread"),
    ("the same, in whole warps: two adjacent bits", "0.4*flip@warp|0.6*double@warp", "thread"),
    ("the same, in whole warps: a random value", "0.4*flip@warp|0.6*random@warp", "thread"),
];

/// Choices beside the paper's, by which any difference of an output counts, and all instructions of PTX are counted.
pub(super) const VARIANTS: [&str; 3] = ["six digits", "the workload's criterion", "no parameter loads"];

/// Instructions of PTX that a machine has none of: it reads parameters as operands.
const PARAMETER_LOADS: &str = "load_param";

/// The relative error up to which numbers agree in six digits.
const SIX_DIGITS: f64 = 1e-6;

/// A workload, measured.
#[derive(Clone)]
pub(super) struct Measured {
    /// Its name.
    pub(super) name: &'static str,
    /// Its name in the paper, if it stands for one of its programs.
    pub(super) paper: Option<&'static str>,
    /// Thread instructions of the run without a fault.
    pub(super) instructions: u64,
    /// What it executes.
    pub(super) shares: Shares,
    /// Its rates for one issued instruction in each cycle.
    pub(super) composition: Composition,
    /// What rows came to.
    pub(super) counted: Counted,
    /// Issue rates: the paper's for the program of like name, and ours on an H200.
    pub(super) issue: [Option<KnownIssueRate>; 2],
    /// By [`PATTERNS`], how faults ended in any destination.
    pub(super) patterns: Vec<OutcomeCounts>,
    /// How often the interval of the SDC rate held the truth.
    pub(super) coverage: Coverage,
    /// By [`VARIANTS`]: executed instructions, rates, and counts of rows.
    pub(super) variants: Vec<(Shares, Composition, Counted)>,
}

/// Intervals, and how often the truth was outside.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coverage {
    /// All of them.
    pub(super) worlds: u64,
    /// The truth was below.
    pub(super) below: u64,
    /// It was above.
    pub(super) above: u64,
}

impl Coverage {
    /// It was within.
    pub(super) fn held(self) -> u64 {
        self.worlds - self.below - self.above
    }
}

impl Measured {
    /// As if the choices of a variant were the paper's.
    pub(super) fn by(&self, variant: usize) -> Self {
        let (shares, composition, counted) = self.variants[variant].clone();
        Self { shares, composition, counted, variants: Vec::new(), ..self.clone() }
    }

    /// The SDC rate by the two-level model, at the paper's or at our issue rate.
    pub(super) fn two_level(&self, at: usize) -> Option<Bounded> {
        self.scaled(at, self.composition.sdc())
    }

    /// As [`two_level`](Self::two_level) if every flip came to the output.
    pub(super) fn ipa_only(&self, at: usize) -> Option<Bounded> {
        self.scaled(at, self.composition.ipa_only())
    }

    fn scaled(&self, at: usize, rate: RatePerInstruction) -> Option<Bounded> {
        Some(rate.at(self.issue[at].as_ref()?.get()).0)
    }

    /// The chance of SDC if strikes are not asked.
    pub(super) fn apa_only(&self) -> Bounded {
        // The bundled table says what stands for all in every type.
        self.composition.apa_only().map_or(Bounded::ZERO, |chance| chance.0)
    }
}

/// How many runs campaigns have.
pub(super) struct Sizes {
    /// Of each type and manifestation.
    pub(super) cell: u64,
    /// Of each pattern.
    pub(super) pattern: u64,
    /// Simulated beams in which intervals are checked.
    pub(super) worlds: u64,
}

/// Measures every workload, or one.
pub(super) fn survey(
    shop: &mut PageContext<'_, '_>,
    sizes: &Sizes,
    only: Option<&str>,
) -> Result<Vec<Measured>, StudyError> {
    let paper = OF_PAPER.iter().map(|&(name, paper)| (name, Some(paper)));
    let others = OTHERS.iter().map(|&name| (name, None));
    let profiles: Result<Vec<IssueProfile>, String> = ["K40", "H200"].into_iter().map(IssueProfile::named).collect();
    let profiles = profiles.map_err(StudyError::Words)?;
    let mut all = Vec::new();
    for (number, (name, paper)) in
        (1..).zip(paper.chain(others)).filter(|(_, (name, _))| only.is_none_or(|only| only == *name))
    {
        let capsule = shop.workloads.bundled(name)?;
        shop.campaigns.seed = number * SEEDS;
        let settings = Settings { cells: Cells::All, issue: "none".to_owned(), ..Settings::default() };
        let method = TwoLevel::new(&capsule, &shop.campaigns.selection(settings.choice()))?;
        let runs = sizes.cell * method.cells() as u64;
        let finished = shop.campaigns.make(&capsule, settings.choice(), &method, runs)?;
        let (composition, counted) = method.compose(&finished.results)?;
        let (shares, table) = (method.shares().clone(), method.table().clone());
        let coverage = coverage(&composition, &table, number, sizes.worlds);
        let (mut method, mut variants) = (method, Vec::new());
        for sdc in [SdcKind::Above(SIX_DIGITS), SdcKind::Bad] {
            method = method.counting(sdc);
            let (composition, counted) = method.compose(&finished.results)?;
            variants.push((shares.clone(), composition, counted));
        }
        let without = shares.without(PARAMETER_LOADS);
        variants.push((without.clone(), Composition::of(&table, &without, &counted.ends), counted.clone()));
        let mut patterns = Vec::new();
        for (at, (_, model, scope)) in (1..).zip(PATTERNS) {
            shop.campaigns.seed = number * SEEDS + at;
            patterns.push(pattern(shop.campaigns, &capsule, (model, scope), sizes.pattern)?);
        }
        let digest = campaign::Subject::digest(&**capsule).to_owned();
        let issue = [0, 1].map(|at: usize| profiles[at].of(name, &digest));
        let instructions = capsule.golden_run().thread_instructions();
        all.push(Measured {
            name,
            paper,
            instructions,
            shares,
            composition,
            counted,
            issue,
            patterns,
            coverage,
            variants,
        });
    }
    Ok(all)
}

/// Seeds of a workload.
const SEEDS: u64 = 100;

/// How faults of one pattern in any destination end.
fn pattern(
    campaigns: &mut Campaigns<'_>,
    capsule: &OpenedCapsule,
    (model, scope): (&str, &str),
    runs: u64,
) -> Result<OutcomeCounts, StudyError> {
    let words =
        SelectionWords { model: Some(model.to_owned()), scope: Some(scope.to_owned()), ..SelectionWords::default() };
    let label = model.replace(['*', '|'], "-");
    let finished = campaigns.drawn(capsule, &label, words, runs)?;
    let mut ends = OutcomeCounts::default();
    finished.results.visit(&mut |row| {
        if let Finding::Seen { outcome, .. } = row.finding {
            match outcome.class() {
                Class::Masked => ends.masked += 1,
                Class::Sdc => ends.sdc += 1,
                Class::Due => ends.due += 1,
                Class::Undecided => ends.undecided += 1,
                Class::NotLanded | Class::Failed => {}
            }
        }
    })?;
    Ok(ends)
}

/// What a measurement of a rate gives: where events were counted, as many as come by chance, with the bounds of their number.
fn measured_again(truth: Bounded, events: Option<u64>, draws: &mut Draws) -> Bounded {
    if truth.value == 0.0 {
        return truth;
    }
    let Some(expected) = events else { return truth.times((-truth.log_error(draws)).exp()) };
    let mut found = 0;
    let mut left = expected as f64;
    loop {
        left += (1.0 - draws.unit()).ln();
        if left < 0.0 {
            return poisson(found, Confidence::PERCENT_95).times(truth.value / expected as f64);
        }
        found += 1;
    }
}

/// How often the interval of the SDC rate holds the truth, if what was measured is the truth: in each world every chance is
/// measured again by as many runs, and every rate by as many events as come by chance.
fn coverage(truth: &Composition, table: &IpaTable, seed: u64, worlds: u64) -> Coverage {
    let exact = truth.sdc().0.value;
    let mut coverage = Coverage { worlds, ..Coverage::default() };
    for world in 0..worlds {
        let mut draws = Draws::new(seed, world);
        let mut measured = truth.clone();
        for kind in &mut measured.types {
            let error = table.instructions[kind.number].common_error();
            let factor = (-error.log_error(&mut draws)).exp();
            for cell in &mut kind.cells {
                cell.rate.0 = measured_again(cell.rate.0, cell.events, &mut draws).times(factor);
                let chance = cell.sdc().0.value;
                let runs = cell.all().runs();
                if let Some(ends) = &mut cell.ends {
                    let sdc = (0..runs).filter(|_| draws.unit() < chance).count() as u64;
                    *ends = BTreeMap::from([(
                        String::new(),
                        OutcomeCounts { masked: runs - sdc, sdc, ..OutcomeCounts::default() },
                    )]);
                }
            }
        }
        let found = measured.sdc().0;
        coverage.below += u64::from(exact < found.low);
        coverage.above += u64::from(found.high < exact);
    }
    coverage
}
