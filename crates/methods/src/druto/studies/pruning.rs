//! Searches with the fitness of one launch and of all launches (Tables VI and VII).

use serde_json::json;
use stats::{Confidence, Median, median, ranks};
use study::{Cell, Table};

use super::super::bench::{Bench, Cost};
use super::super::contest::{Rules, enter};
use super::super::fitness::{Fitness, ProfiledLaunch};
use super::super::searchers::SEARCHERS;
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// The searches of one variant.
struct Variant {
    name: &'static str,
    rates: Vec<f64>,
    cost: Cost,
    evaluations: u64,
}

/// Bounds found with pruning and without.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let Some(offer) = SEARCHERS.iter().find(|offer| offer.name == "druto") else {
        return Err(StudyError::Nothing("pruning", "there is not a genetic search".to_owned()));
    };
    let before = bench.fitness;
    let launches = [("with pruning", before.launch), ("without pruning", ProfiledLaunch::All)];
    let mut variants = Vec::new();
    for (name, launch) in launches {
        bench.fitness = Fitness { launch, ..before };
        let mut variant = Variant { name, rates: Vec::new(), cost: Cost::default(), evaluations: 0 };
        for repetition in 0..studied.repeat {
            let rules = Rules { last: studied.runs, ..studied.rules.clone() };
            let entry = enter(bench, offer, &rules, studied.capsule, studied.seed.wrapping_add(repetition))?;
            variant.rates.extend(entry.answer.map(|answer| answer.tally.all.sdc().rate()));
            variant.cost.seconds += entry.found.cost.seconds;
            variant.evaluations += entry.found.evaluations();
        }
        variants.push(variant);
    }
    bench.fitness = before;
    let p = of_ranks(&variants[0].rates, &variants[1].rates);
    let mut table =
        Table::new("The bound with and without kernel-trace pruning", &["", "seeds", "SDC, median", "ms for an input"]);
    let row = |it: &Variant| {
        let rate = |Median { value, low, high, .. }| Cell::Rate { rate: value, low, high };
        let median = median(&it.rates, Confidence::PERCENT_95).map_or(Cell::None, rate);
        let cost = (it.cost.seconds * 1e5 / it.evaluations.max(1) as f64).round() / 100.0;
        vec![Cell::text(it.name), Cell::Count(it.rates.len() as u64), median, Cell::Number(cost)]
    };
    table.rows = variants.iter().map(row).collect();
    table.notes.push(format!(
        "{} inputs in each search. The counts of all launches come with the golden run: pruning changes the fitness, not the time.",
        studied.rules.budget.inputs
    ));
    table.notes.extend(p.map(|p| format!("The rank-sum test of the two has p = {p:.3}.")));
    let one = |it: &Variant| json!({ "variant": it.name, "rates": it.rates, "evaluations": it.evaluations });
    let json = json!({ "variants": variants.iter().map(one).collect::<Vec<_>>(), "p": p });
    Ok(Part { tables: vec![table], plots: Vec::new(), json })
}

/// The rank-sum test of two samples of rates, which are whole numbers of 10⁻⁹.
fn of_ranks(one: &[f64], other: &[f64]) -> Option<f64> {
    let whole = |rates: &[f64]| {
        let mut whole: Vec<u64> = rates.iter().map(|rate| (rate * 1e9).round() as u64).collect();
        whole.sort_unstable();
        whole
    };
    ranks(&whole(one), &whole(other)).map(|found| found.p)
}
