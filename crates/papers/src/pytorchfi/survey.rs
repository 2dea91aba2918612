//! Campaigns on the network, run by run, and what their ends come to.

use campaign::{Engine, Engines, Planner, RunIndex, SelectionWords, Stratify};
use methods::kit::StudyError;
use nn::delta::Delta;
use nn::{Fault, NetworkTarget};
use outcome::{Outcome, Sdc, classify};
use stats::{Confidence, Interval, Proportion};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::scope;
use study::Cell;

use super::clock::cpu_seconds;

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the logits of the fault-free run.
    Masked,
    /// With other logits and the same class.
    Logits,
    /// With another class.
    Class,
}

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunEnd {
    /// The layer that is hit, by number.
    pub(super) layer: usize,
    /// The bit that flips, if one does.
    pub(super) bit: Option<u32>,
    pub(super) ending: Ending,
    /// Multiplications with a weight.
    pub(super) macs: u64,
}

/// The runs of a campaign, in their order.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub(super) all: Vec<RunEnd>,
    /// The time that the processor worked on them, drawing and judging included, if the system says it.
    pub(super) seconds: Option<f64>,
}

/// The ways in which campaigns are run.
#[derive(Clone, Copy)]
pub(super) struct Laboratory<'t> {
    pub(super) target: &'t NetworkTarget,
    pub(super) threads: usize,
    pub(super) stop: &'t AtomicBool,
}

/// Runs that a thread takes at a time.
const CHUNK: u64 = 1024;

/// The seed of all campaigns. Draws begin with the image and the element, so that run i of two scopes hits the same ones.
const SEED: u64 = 1;

/// A selection of a campaign.
pub(super) fn selection(target: &str, model: &str, scope: &str) -> SelectionWords {
    let [target, model, scope] = [target, model, scope].map(|word| Some(word.to_owned()));
    SelectionWords { target, model, scope, ..SelectionWords::default() }
}

/// Flips in elements of a kind, as many in each of some layers; in all layers that campaigns usually hit if none is named.
pub(super) fn by_layer(target: &str, layers: &[String]) -> SelectionWords {
    let all = selection(target, "flip", "one");
    SelectionWords { kernel: layers.to_vec(), stratify: Some(Stratify::Kernel), ..all }
}

impl Laboratory<'_> {
    /// Runs a campaign.
    pub(super) fn runs(&self, selection: &SelectionWords, engine: &'static str, runs: u64) -> Result<Runs, StudyError> {
        let (next, parts) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let failed = |error: &dyn std::fmt::Display| StudyError::Words(format!("run a campaign on a network: {error}"));
        let work = || {
            let start = cpu_seconds();
            let mut worker = self.target.worker(&Engine::named(engine)).map_err(|error| failed(&error))?;
            loop {
                let chunk = next.fetch_add(CHUNK, Ordering::Relaxed);
                if chunk >= runs {
                    break;
                }
                if self.stop.load(Ordering::Relaxed) {
                    return Err(StudyError::Unkept);
                }
                let indices: Vec<RunIndex> = (chunk..runs.min(chunk + CHUNK)).map(RunIndex).collect();
                let sites = self.target.plan(&indices, selection, SEED).map_err(|error| failed(&error))?;
                let criteria = self.target.criteria();
                let mut found = Vec::with_capacity(sites.len());
                for site in &sites {
                    let seen = worker.run(site).map_err(|error| failed(&error))?;
                    let ending = match classify(&seen, &criteria) {
                        Outcome::Masked(_) => Ending::Masked,
                        Outcome::Sdc(Sdc::Bad) => Ending::Class,
                        _ => Ending::Logits,
                    };
                    let bit = site.labels.text(BITS).and_then(|bits| bits.parse().ok());
                    found.push(RunEnd { layer: site.spot.pc as usize, bit, ending, macs: seen.instructions });
                }
                parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((chunk, found));
            }
            Ok(start.zip(cpu_seconds()).map(|(start, end)| end - start))
        };
        let seconds = scope(|scope| {
            let threads: Vec<_> = (0..self.threads.max(1)).map(|_| scope.spawn(work)).collect();
            let joined = threads.into_iter().map(|thread| thread.join().map_err(|_| failed(&"a thread panicked"))?);
            joined.collect::<Result<Vec<Option<f64>>, StudyError>>()
        })?;
        let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        parts.sort_by_key(|(first, _)| *first);
        let all = parts.into_iter().flat_map(|(_, found)| found).collect();
        Ok(Runs { all, seconds: seconds.into_iter().sum() })
    }
}

impl Laboratory<'_> {
    /// The share of the first runs of a campaign of which nothing differs before the last layer.
    pub(super) fn early(&self, selection: &SelectionWords, runs: u64) -> Result<Proportion, StudyError> {
        let network = self.target.network();
        let failed = |error: &dyn std::fmt::Display| StudyError::Words(format!("run faults of a network: {error}"));
        let indices: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
        let sites = self.target.plan(&indices, selection, SEED).map_err(|error| failed(&error))?;
        let mut delta = Delta::new(network);
        let mut early = 0;
        for site in &sites {
            if self.stop.load(Ordering::Relaxed) {
                return Err(StudyError::Unkept);
            }
            let fault = Fault::parse(site.fault().unwrap_or_default()).map_err(|error| failed(&error))?;
            let hit = fault.hit(network, self.target.images().count()).map_err(|error| failed(&error))?;
            early += u64::from(delta.run(&self.target.golden_run(fault.image), &hit).stopped);
        }
        Proportion::new(early, runs).ok_or_else(|| failed(&"there are none"))
    }
}

/// The label of a network's site that says the bits.
const BITS: usize = 4;

/// How some runs ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) runs: u64,
    pub(super) masked: u64,
    pub(super) class: u64,
}

impl Ends {
    pub(super) fn of<'r>(runs: impl IntoIterator<Item = &'r RunEnd>) -> Self {
        runs.into_iter().fold(Self::default(), |sum, run| Self {
            runs: sum.runs + 1,
            masked: sum.masked + u64::from(run.ending == Ending::Masked),
            class: sum.class + u64::from(run.ending == Ending::Class),
        })
    }

    /// The share of runs with the logits of the fault-free run.
    pub(super) fn masked(self) -> Option<Proportion> {
        Proportion::new(self.masked, self.runs)
    }

    /// The share of runs with another class.
    pub(super) fn class(self) -> Option<Proportion> {
        Proportion::new(self.class, self.runs)
    }
}

/// Wilson's interval at 95 %.
pub(super) fn interval(of: Proportion) -> Interval {
    of.wilson(Confidence::PERCENT_95)
}

/// A share with its interval.
pub(super) fn rate(of: Option<Proportion>) -> Cell {
    of.and_then(|of| Some((of.rate()?, interval(of)))).map_or(Cell::None, |(rate, bounds)| Cell::Rate {
        rate,
        low: bounds.low,
        high: bounds.high,
    })
}

/// A share with its interval, in words.
pub(super) fn said(of: Option<Proportion>) -> String {
    of.and_then(|of| Some((of.rate()?, interval(of)))).map_or_else(
        || "not measured".to_owned(),
        |(rate, bounds)| {
            let [rate, low, high] = [rate, bounds.low, bounds.high].map(|share| share * 100.0);
            format!("{rate:.3} % ({low:.3} to {high:.3})")
        },
    )
}

/// Of the patterns that change the class, those of which a flip of one neuron, the one that was drawn, does not.
pub(super) fn missed(pattern: &Runs, single: &Runs) -> Option<Proportion> {
    let pairs = pattern.all.iter().zip(&single.all).filter(|(pattern, _)| pattern.ending == Ending::Class);
    let (mut all, mut missed) = (0, 0);
    for (_, single) in pairs {
        all += 1;
        missed += u64::from(single.ending != Ending::Class);
    }
    Proportion::new(missed, all).filter(|_| all > 0)
}
