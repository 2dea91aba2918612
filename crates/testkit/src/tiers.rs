//! Equality of the tiers over many faults of a capsule.

pub use campaign::config::SelectionWords;
use campaign::{Engines, Planner, RunIndex, Subject};
use capsule::Capsule;
use inject::site::fault_of;
use inject::{CapsuleTarget, Resources, Setup, Strategy, TierCheck};
use outcome::{Outcome, classify};
use session::capsules;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What came of a comparison.
#[derive(Clone, Debug, Default)]
pub struct TierComparison {
    /// Selections of faults that something matched.
    pub selections: u64,
    /// Faults that every tier ran.
    pub faults: u64,
    /// Where the tiers disagree: the fault, and in what.
    pub disagreements: Vec<String>,
}

/// The target that a capsule is, with nothing said of it.
///
/// # Errors
/// If it has no golden run.
pub fn target(capsule: Capsule) -> Result<Arc<CapsuleTarget>, String> {
    target_with(capsule, Resources::default())
}

/// As [`target_with`], for campaigns of all faults, which have their own fuel.
///
/// # Errors
/// If it has no golden run.
pub fn target_of_all(capsule: Capsule, resources: Resources) -> Result<Arc<CapsuleTarget>, String> {
    made(capsule, &Setup { resources, fuel: Some(Setup::FUEL_OF_ALL), ..Setup::default() })
}

/// As [`target`], with what may be used for it.
///
/// # Errors
/// If it has no golden run.
pub fn target_with(capsule: Capsule, resources: Resources) -> Result<Arc<CapsuleTarget>, String> {
    made(capsule, &Setup { resources, ..Setup::default() })
}

fn made(capsule: Capsule, setup: &Setup) -> Result<Arc<CapsuleTarget>, String> {
    capsules::target(Arc::new(capsule), setup).map_err(|error| format!("failed to {error}"))
}

/// Draws faults and runs each by every tier. A selection that nothing matches has none.
///
/// # Errors
/// If a fault cannot be run.
pub fn compare(target: &CapsuleTarget, words: &SelectionWords, runs: u64, seed: u64) -> Result<TierComparison, String> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let Ok(sites) = target.plan(&runs, words, seed) else { return Ok(TierComparison::default()) };
    let mut tier_check = TierCheck::new(target);
    let mut compared = TierComparison { selections: 1, ..TierComparison::default() };
    for site in sites {
        let fault = fault_of(&site).map_err(|error| format!("failed to {error}"))?;
        let said = tier_check.disagreement(&fault).map_err(|error| format!("{fault}: failed to {error}"))?;
        compared.faults += 1;
        compared.disagreements.extend(said.map(|said| format!("{}, {fault}: {said}", target.name())));
    }
    Ok(compared)
}

/// Draws as many faults from every instruction group of every kernel, and runs each by every tier.
///
/// # Errors
/// If a fault cannot be run.
pub fn compare_all(target: &CapsuleTarget, runs: u64, seed: u64) -> Result<TierComparison, String> {
    let launches = target.golden_run().launches().iter();
    let kernels: BTreeSet<&str> = launches.map(|launch| launch.program.name.as_str()).collect();
    let of = |kernel: &str, group: isa::Group| SelectionWords {
        kernel: vec![kernel.to_owned()],
        group: vec![group.to_string()],
        ..SelectionWords::default()
    };
    let selections: Vec<SelectionWords> =
        kernels.iter().flat_map(|kernel| isa::Group::ALL.iter().map(|&group| of(kernel, group))).collect();
    join(crate::in_parallel(&selections, |words| compare(target, words, runs, seed)))
}

/// What faults can hit, what can happen there, and to how many threads, as campaigns say it.
pub const TARGETS: &[&str] =
    &["dst", "pred", "addr", "store", "src", "reg", "mem", "global", "shared", "local", "const"];
/// As [`TARGETS`].
pub const MODELS: &[&str] =
    &["flip", "double", "double-any", "burst:3:0xff0f", "random", "zero", "stuck0:0xf0f0", "stuck1:0x81"];
/// As [`TARGETS`].
pub const SCOPES: &[&str] = &["thread", "pair", "lanes:3", "warp"];

/// Draws as many faults of every target, each with another model and scope, and runs each by every tier.
///
/// # Errors
/// If a fault cannot be run.
pub fn compare_targets(target: &CapsuleTarget, runs: u64, seed: u64) -> Result<TierComparison, String> {
    let of = |(at, kind): (usize, &&str)| {
        let scope = if at < 6 { SCOPES[at % SCOPES.len()] } else { "thread" };
        let words = SelectionWords {
            target: Some((*kind).to_owned()),
            model: Some(MODELS[at % MODELS.len()].to_owned()),
            scope: Some(scope.to_owned()),
            ..SelectionWords::default()
        };
        compare(target, &words, runs, seed)
    };
    join(TARGETS.iter().enumerate().map(of).collect())
}

/// Draws as many faults of every target with every model and scope, and runs each by every tier. Combinations that
/// nothing matches, or that mean nothing, have none.
///
/// # Errors
/// If a fault cannot be run.
pub fn compare_models(target: &CapsuleTarget, runs: u64, seed: u64) -> Result<TierComparison, String> {
    let word = |word: &str| Some(word.to_owned());
    let of = |(kind, model, scope): (&str, &str, &str)| SelectionWords {
        target: word(kind),
        model: word(model),
        scope: word(scope),
        ..SelectionWords::default()
    };
    let models = |kind| MODELS.iter().map(move |&model| (kind, model));
    let all = TARGETS.iter().flat_map(|&kind| models(kind));
    let all = all.flat_map(|(kind, model)| SCOPES.iter().map(move |&scope| (kind, model, scope)));
    let selections: Vec<SelectionWords> = all.map(of).collect();
    join(crate::in_parallel(&selections, |words| compare(target, words, runs, seed)))
}

/// Runs every fault of some units of an exhaustive campaign, and compares the outcomes of some with full re-execution's. Of
/// kernels that race, in which all faults are executed whole, those of four threads.
///
/// # Errors
/// If a unit or a fault cannot be run.
pub fn compare_swept(target: &CapsuleTarget, units: u64, each: u64, seed: u64) -> Result<TierComparison, String> {
    let failed = |error: &dyn std::error::Error| format!("{}: failed to {error}", target.name());
    let races = !target.golden_run().interleaved().is_empty();
    let threads = if races { vec!["0-3".to_owned()] } else { Vec::new() };
    let words = SelectionWords { threads, ..SelectionWords::default() };
    let count = target.sweep(&words).map_err(|error| failed(&error))?.units();
    let mut draws = stats::Draws::new(seed, 0);
    let mut draw = |below: u64| draws.below(below).unwrap_or(0);
    let criteria = target.criteria();
    let mut sweeper = target.sweeper(&Strategy::Lanes.into(), &words, &criteria).map_err(|error| failed(&error))?;
    let mut full = target.runner(Strategy::Full);
    let mut compared = TierComparison::default();
    for _ in 0..units {
        let unit = draw(count);
        let swept = sweeper.unit(unit, &|| false).map_err(|error| failed(&error))?;
        let outcomes = swept.map(|swept| swept.outcomes).unwrap_or_default();
        let faults = target.faults_of(&words, unit).map_err(|error| failed(&error))?;
        if faults.len() != outcomes.len() {
            return Err(format!("unit {unit} has {} faults and {} outcomes", faults.len(), outcomes.len()));
        }
        compared.selections += 1;
        for _ in 0..each.min(faults.len() as u64) {
            let at = draw(faults.len() as u64) as usize;
            let observation = full.run(&faults[at]).map_err(|error| failed(&error))?;
            let (expected, found) = (classify(&observation, &criteria), Outcome::from_code(outcomes[at]));
            compared.faults += 1;
            if Some(expected) != found {
                let said = format!("{}, {}: {expected:?}, swept as {found:?}", target.name(), faults[at]);
                compared.disagreements.push(said);
            }
        }
    }
    Ok(compared)
}

/// One comparison of many.
///
/// # Errors
/// If one of them has failed.
pub fn join(all: Vec<Result<TierComparison, String>>) -> Result<TierComparison, String> {
    let mut joined = TierComparison::default();
    for one in all {
        let TierComparison { selections, faults, disagreements } = one?;
        joined.selections += selections;
        joined.faults += faults;
        joined.disagreements.extend(disagreements);
    }
    Ok(joined)
}
