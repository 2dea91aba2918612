//! Equality of the tiers over many faults of a capsule.

pub use campaign::config::Selection;
use campaign::{RunIndex, Target};
use capsule::Capsule;
use inject::{CapsuleTarget, Golden, Means, Referee};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What came of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Selections of faults that something matched.
    pub selections: u64,
    /// Faults that every tier ran.
    pub faults: u64,
    /// Where the tiers disagree: the fault, and in what.
    pub disagreements: Vec<String>,
}

/// The target that a capsule is.
///
/// # Errors
/// If it has no golden run.
pub fn target(capsule: Capsule) -> Result<CapsuleTarget, String> {
    let golden = Golden::run(Arc::new(capsule)).map_err(|error| format!("failed to {error}"))?;
    Ok(CapsuleTarget::new(golden))
}

/// As [`target`], with what may be used for it.
///
/// # Errors
/// If it has no golden run.
pub fn target_with(capsule: Capsule, means: Means) -> Result<CapsuleTarget, String> {
    let mut target = target(capsule)?;
    target.set_means(means);
    Ok(target)
}

/// Draws faults and runs each by every tier. A selection that nothing matches has none.
///
/// # Errors
/// If a fault cannot be run.
pub fn compare(target: &CapsuleTarget, words: &Selection, runs: u64, seed: u64) -> Result<Compared, String> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let Ok(sites) = target.plan(&runs, words, seed) else { return Ok(Compared::default()) };
    let mut referee = Referee::new(target).map_err(|error| format!("failed to {error}"))?;
    let mut compared = Compared { selections: 1, ..Compared::default() };
    for site in sites {
        let fault = site.id.parse().map_err(|error| format!("{}: failed to {error}", site.id))?;
        let said = referee.judge(&fault).map_err(|error| format!("{}: failed to {error}", site.id))?;
        compared.faults += 1;
        compared.disagreements.extend(said.map(|said| format!("{}, {}: {said}", target.name(), site.id)));
    }
    Ok(compared)
}

/// Draws as many faults from every instruction group of every kernel, and runs each by every tier.
///
/// # Errors
/// If a fault cannot be run.
pub fn compare_all(target: &CapsuleTarget, runs: u64, seed: u64) -> Result<Compared, String> {
    let launches = target.golden_run().launches().iter();
    let kernels: BTreeSet<&str> = launches.map(|launch| launch.program.name.as_str()).collect();
    let of = |kernel: &str, group: isa::Group| Selection {
        kernel: vec![kernel.to_owned()],
        group: vec![group.to_string()],
        ..Selection::default()
    };
    let selections: Vec<Selection> =
        kernels.iter().flat_map(|kernel| isa::Group::ALL.iter().map(|&group| of(kernel, group))).collect();
    join(crate::in_parallel(&selections, |words| compare(target, words, runs, seed)))
}

/// One comparison of many.
///
/// # Errors
/// If one of them has failed.
pub fn join(all: Vec<Result<Compared, String>>) -> Result<Compared, String> {
    let mut joined = Compared::default();
    for one in all {
        let Compared { selections, faults, disagreements } = one?;
        joined.selections += selections;
        joined.faults += faults;
        joined.disagreements.extend(disagreements);
    }
    Ok(joined)
}
