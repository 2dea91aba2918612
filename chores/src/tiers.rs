//! Equality of the tiers over many faults: of every kernel and instruction group of every workload, and of random
//! capsules.

use crate::repo::{root, say};
use crate::workloads;
use anyhow::{Result, anyhow, ensure};
use capsule::Capsule;
use inject::Resources;
use testkit::random_capsules::random_capsule;
use testkit::tiers::{
    SelectionWords, TierComparison, compare, compare_all, compare_models, compare_swept, join, target_of_all,
    target_with,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Faults of each kernel and group of each workload
    #[arg(long, default_value_t = 100)]
    runs: u64,
    /// Random capsules
    #[arg(long, default_value_t = 1000)]
    capsules: u64,
    /// Faults of each random capsule
    #[arg(long, default_value_t = 50)]
    each: u64,
    /// Faults of each target, model and scope of each workload, and of every tenth random capsule
    #[arg(long, default_value_t = 5)]
    models: u64,
    /// The key of all choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instructions of a block from one checkpoint to the next, at least; 0 for one after every round
    #[arg(long, value_name = "N")]
    spacing: Option<u64>,
    /// Bytes that the golden run and its index may take
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
}

impl Args {
    fn resources(&self) -> Resources {
        let default = Resources::default();
        Resources {
            memory: self.memory.unwrap_or(default.memory),
            spacing: self.spacing.unwrap_or(default.spacing),
            ..default
        }
    }
}

/// Compares, and prints a table.
pub(crate) fn tiers(args: &Args) -> Result<()> {
    say("| capsules | selections | faults | disagreements |\n|---|---:|---:|---:|")?;
    let resources = args.resources();
    let mut wrong = Vec::new();
    for workload in workloads::all()? {
        let path = root().join("workloads").join(&workload.name).join(format!("{}.capsule", workload.name));
        let found =
            target_with(Capsule::open(&path)?, resources).and_then(|target| compare_all(&target, args.runs, args.seed));
        line(&workload.name, found, &mut wrong)?;
    }
    for workload in workloads::all()? {
        let path = root().join("workloads").join(&workload.name).join(format!("{}.capsule", workload.name));
        let target = target_with(Capsule::open(&path)?, resources).map_err(|what| anyhow!(what))?;
        let found = compare_models(&target, args.models, args.seed);
        line(&format!("{}, all models", workload.name), found, &mut wrong)?;
    }
    let numbers: Vec<u64> = (0..args.capsules).collect();
    let some: Vec<u64> = numbers.iter().copied().filter(|number| number % 10 == 0).collect();
    let found = testkit::in_parallel(&some, |&number| {
        compare_models(&*target_with(random_capsule(args.seed, number)?, resources)?, args.models, number)
    });
    line("random, all models", join(found), &mut wrong)?;
    let found = testkit::in_parallel(&numbers, |&number| {
        compare(
            &*target_with(random_capsule(args.seed, number)?, resources)?,
            &SelectionWords::default(),
            args.each,
            number,
        )
    });
    line("random", join(found), &mut wrong)?;
    let found = testkit::in_parallel(&numbers, |&number| {
        compare_swept(&*target_of_all(random_capsule(args.seed, number)?, resources)?, 1, args.each, number)
    });
    line("random, swept", join(found), &mut wrong)?;
    ensure!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// A line of the table.
fn line(name: &str, found: Result<TierComparison, String>, wrong: &mut Vec<String>) -> Result<()> {
    let TierComparison { selections, faults, disagreements } = found.map_err(|what| anyhow!(what))?;
    say(&format!("| {name} | {selections} | {faults} | {} |", disagreements.len()))?;
    wrong.extend(disagreements);
    Ok(())
}
