//! A sample of what compares the tiers, limited by time: kernel tests, faults of workloads, random capsules and random
//! kernels, in an order that a seed gives.

use crate::repo::{root, say};
use crate::{kernels, workloads};
use anyhow::{Context, Result, anyhow, ensure};
use capsule::Capsule;
use inject::Resources;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use testkit::random_capsules::random_capsule;
use testkit::random_kernels::{Forms, Kernel};
use testkit::tiers::{SelectionWords, TierComparison, compare, compare_swept, target, target_of_all};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The key of all choices [default: the number of today]
    #[arg(long)]
    seed: Option<u64>,
    /// Seconds after which no further part of the sample begins
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Faults of each workload and of each random capsule.
const FAULTS: u64 = 40;

/// Compares parts of the sample until the time is over, and prints how many there were.
///
/// The order of the parts depends on the seed alone, the number of them on the host: a disagreement names its part.
pub(crate) fn sample(args: &Args) -> Result<()> {
    let seed = args.seed.map_or_else(today, Ok)?;
    say(&format!("seed {seed}; the same sample again: cargo xtask sample --seed {seed}"))?;
    let forms = Forms::all()?;
    let scripts = shuffled(testkit::files(&testkit::filetests("kernels"), "ptx")?, seed);
    let names = shuffled(workloads::all()?.into_iter().map(|workload| workload.name).collect(), seed);
    let quarter = Duration::from_secs(args.seconds) / 4;
    let random: Vec<u64> = (0..MOST).collect();
    let mut wrong = Vec::new();
    part("kernel tests", quarter, &scripts, |path| kernel_test(path.as_path()), &mut wrong)?;
    part("workloads", quarter, &names, |name| workload(name, seed), &mut wrong)?;
    part("random capsules", quarter, &random, |&number| capsule(seed, number), &mut wrong)?;
    part("random kernels", quarter, &random, |&number| kernel(&forms, seed, number), &mut wrong)?;
    ensure!(wrong.is_empty(), "{} disagreements, printed above", wrong.len());
    Ok(())
}

/// Random capsules and kernels that there are at most.
const MOST: u64 = 100_000;

/// The days since 1970: a seed that is another one every day.
#[expect(clippy::disallowed_methods, reason = "the seed of a sample changes with the date, and is printed")]
fn today() -> Result<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).context("read the date")?;
    Ok(since.as_secs() / (24 * 60 * 60))
}

/// Items in an order that a seed gives.
fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut draws = stats::Draws::new(seed, 0);
    for at in (1..items.len()).rev() {
        let other = draws.below(at as u64 + 1).unwrap_or(0);
        items.swap(at, other as usize);
    }
    items
}

/// Compares items, as many at once as the host has processors, until the time of the part is over, and prints how many.
#[expect(clippy::disallowed_methods, reason = "the time limits how much is compared, never what a comparison finds")]
fn part<T: Sync>(
    name: &str,
    limit: Duration,
    items: &[T],
    check: impl Fn(&T) -> Result<Vec<String>, String> + Sync,
    wrong: &mut Vec<String>,
) -> Result<()> {
    let start = Instant::now();
    let mut compared = 0;
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    for batch in items.chunks(at_once) {
        if start.elapsed() >= limit {
            break;
        }
        for found in testkit::in_parallel(batch, &check) {
            let found = found.map_err(|what| anyhow!(what))?;
            found.iter().try_for_each(|what| say(what))?;
            wrong.extend(found);
        }
        compared += batch.len();
    }
    say(&format!("   {compared} {name}, {:.1} s", start.elapsed().as_secs_f64()))
}

fn kernel_test(path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("read {}: {error}", path.display()))?;
    let script = testkit::kernels::read(path, &text).map_err(|error| error.to_string())?;
    Ok(testkit::kernels::check(&script, false))
}

fn workload(name: &str, seed: u64) -> Result<Vec<String>, String> {
    let path = root().join("workloads").join(name).join(format!("{name}.capsule"));
    let capsule = Capsule::open(&path).map_err(|error| format!("{name}: {error}"))?;
    Ok(compare(&*target(capsule)?, &SelectionWords::default(), FAULTS, seed)?.disagreements)
}

/// Drawn faults of a random capsule, and all faults of one of its warps.
fn capsule(seed: u64, number: u64) -> Result<Vec<String>, String> {
    let drawn = compare(&*target(random_capsule(seed, number)?)?, &SelectionWords::default(), FAULTS, number)?;
    let all = target_of_all(random_capsule(seed, number)?, Resources::default())?;
    let swept = compare_swept(&all, 1, FAULTS, number)?;
    let found = [drawn, swept].into_iter().flat_map(|TierComparison { disagreements, .. }| disagreements);
    Ok(found.map(|what| format!("random capsule {number} of seed {seed}: {what}")).collect())
}

fn kernel(forms: &Forms, seed: u64, number: u64) -> Result<Vec<String>, String> {
    let kernel = Kernel::new(forms, seed, number);
    let Err(what) = kernels::simulate(&kernel) else { return Ok(Vec::new()) };
    let path = kernels::keep(seed, number, &kernel).map_err(|error| error.to_string())?;
    Ok(vec![format!("random kernel {number} of seed {seed}: {what}; its text is in {}", path.display())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_one_place_which_the_seed_gives() {
        let items: Vec<u32> = (0..50).collect();
        let (one, other) = (shuffled(items.clone(), 1), shuffled(items.clone(), 2));
        assert_eq!(one, shuffled(items.clone(), 1));
        assert!(one != other && one != items);
        let mut sorted = other;
        sorted.sort_unstable();
        assert_eq!(sorted, items);
    }

    #[test]
    fn no_part_begins_when_the_time_is_over_and_what_is_wrong_is_kept() {
        let mut wrong = Vec::new();
        let fails = |item: &u32| Ok(vec![format!("{item} is wrong")]);
        part("items", Duration::ZERO, &[1, 2], fails, &mut wrong).unwrap();
        assert!(wrong.is_empty());
        part("items", Duration::from_secs(600), &[1, 2, 3], fails, &mut wrong).unwrap();
        assert_eq!(wrong, ["1 is wrong", "2 is wrong", "3 is wrong"]);
    }
}
