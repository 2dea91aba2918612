//! Selective duplication for one input, met by another (case study 1, Figure 8).
//!
//! Static instructions are chosen by a knapsack: the cost of one is its dynamic instructions, its value the corruptions that
//! faults in all of them would be, by the same number of faults in each static instruction. Coverage is the share of the silent
//! data corruptions of another campaign that hit chosen ones.

use serde_json::{Value, json};
use stats::{Confidence, Knapsack, KnapsackItem, Proportion};
use std::collections::{BTreeMap, BTreeSet};
use study::{Cell, Mark, Plot, Point, Series, Table, Vertical};

use super::super::bench::{Bench, Ready, seed_of};
use super::super::ends::{Rate, Tally};
use super::super::executed::Executed;
use super::super::show::rate_document;
use super::studied::{Part, Studied};
use crate::kit::{StudyError, most_within};

/// The budgets, as shares of the dynamic instructions.
pub(super) const LEVELS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];
/// The stages of the campaigns: one to choose by, one to measure by.
const STAGES: [u64; 2] = [2400, 2401];
/// Instructions that are missed and shown.
const SHOWN: usize = 10;
/// The level whose missed instructions are shown.
const AT: usize = 1;

/// An input with two independent campaigns.
struct Side {
    /// By static instruction, its dynamic instructions.
    executed: BTreeMap<u32, u64>,
    /// By static instruction, the corruptions that faults in all its dynamic instructions would be.
    values: BTreeMap<u32, u64>,
    /// The campaign that it is measured by.
    check: Tally,
}

/// Protected static instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protection(pub(super) BTreeSet<u32>);

impl Protection {
    /// The most valuable instructions that cost at most a share of all dynamic instructions.
    pub(super) fn within(executed: &BTreeMap<u32, u64>, values: &BTreeMap<u32, u64>, level: f64) -> Self {
        let budget = (executed.values().sum::<u64>() as f64 * level) as u64;
        let pcs: Vec<u32> = executed.keys().copied().collect();
        let item = |pc: &u32| KnapsackItem { cost: executed[pc], value: values.get(pc).copied().unwrap_or(0) };
        let knapsack = Knapsack::new(pcs.iter().map(item));
        Self(most_within(&knapsack, budget).items.into_iter().map(|at| pcs[at]).collect())
    }

    /// Of the corruptions of a campaign, those in protected instructions.
    fn coverage(&self, tally: &Tally) -> Rate {
        let hit = tally.pcs.iter().filter(|(pc, _)| self.0.contains(pc)).map(|(_, ends)| ends.sdc).sum();
        Rate { count: hit, landed: tally.all.sdc }
    }

    /// Of the dynamic instructions of an input, the protected ones.
    fn cost(&self, side: &Side) -> f64 {
        let protected: u64 = self.0.iter().filter_map(|pc| side.executed.get(pc)).sum();
        protected as f64 / side.executed.values().sum::<u64>().max(1) as f64
    }
}

fn side(
    bench: &mut Bench<'_, '_>,
    studied: &Studied<'_>,
    point: &space::Point,
    capsule: &Ready,
) -> Result<Side, StudyError> {
    let counted = Executed::of(capsule.golden_run(), &bench.kernel);
    let [probabilities] = bench.probabilities(capsule, studied.faults, [seed_of(studied.seed, point, STAGES[0])])?;
    let (mut executed, mut values) = (BTreeMap::new(), BTreeMap::new());
    for (at, (&(pc, is_hit), &count)) in counted.instructions.iter().zip(&counted.counts).enumerate() {
        *executed.entry(pc).or_default() += count;
        if is_hit && count > 0 {
            // Jeffreys' estimate: that none of a few faults corrupted the output does not make an instruction worthless.
            let Rate { count: sdc, landed } = probabilities.0.get(at).copied().unwrap_or_default();
            let share = (sdc as f64 + 0.5) / (landed as f64 + 1.0);
            *values.entry(pc).or_default() += (share * count as f64).round() as u64;
        }
    }
    let check = bench.sample(capsule, studied.runs, seed_of(studied.seed, point, STAGES[1]))?;
    Ok(Side { executed, values, check })
}

/// Coverage of the reference and of the input that was found, protected for either.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let found = studied.found(bench)?;
    let gone = |why| StudyError::Refused(format!("run the input {found}: {why}"));
    let capsule = bench.run(&found)?.map_err(gone)?;
    let point = bench.inputs.space().reference();
    let reference = side(bench, studied, &point, studied.capsule)?;
    let other = side(bench, studied, &found, &capsule)?;
    let choose = |side: &Side, level| Protection::within(&side.executed, &side.values, level);
    let of_reference = LEVELS.map(|level| choose(&reference, level));
    let of_found = LEVELS.map(|level| choose(&other, level));
    let mut table = coverage(&reference, &other, &of_reference, &of_found);
    table.notes.insert(0, format!("The reference is {point}, the input that was found {found}."));
    table.notes.push(format!(
        "{} faults in each static instruction choose and {} runs measure, for each input; bounds at 95 %.",
        studied.faults, studied.runs
    ));
    let missed = missed(&capsule, bench, &other, &of_reference[AT]);
    let json = json!({
        "found": found.to_string(),
        "levels": document(&reference, &other, &of_reference, &of_found),
    });
    let plot = plot(studied, &reference, &other, &of_reference, &of_found);
    Ok(Part { tables: vec![table, missed], plots: vec![plot], json })
}

fn cell(rate: Rate) -> Cell {
    let bounds = Proportion::from_counts(rate.count, rate.landed - rate.count).wilson(Confidence::PERCENT_95);
    if rate.landed == 0 { Cell::None } else { Cell::Rate { rate: rate.rate(), low: bounds.low, high: bounds.high } }
}

fn coverage(reference: &Side, other: &Side, of_reference: &[Protection], of_found: &[Protection]) -> Table {
    let columns = [
        "budget",
        "for the reference: coverage of it (expected)",
        "of the input found (actual)",
        "cost with the input found",
        "for the input found: coverage of it",
        "of the reference",
    ];
    let mut table = Table::new("Coverage of SDCs by selective duplication", &columns);
    let row = |((level, for_reference), for_found): ((&f64, &Protection), &Protection)| {
        vec![
            Cell::Share(*level),
            cell(for_reference.coverage(&reference.check)),
            cell(for_reference.coverage(&other.check)),
            Cell::Share(for_reference.cost(other)),
            cell(for_found.coverage(&other.check)),
            cell(for_found.coverage(&reference.check)),
        ]
    };
    table.rows = LEVELS.iter().zip(of_reference).zip(of_found).map(row).collect();
    table
}

/// The instructions with the most corruptions of the input found that the protection of the reference leaves out.
fn missed(capsule: &Ready, bench: &Bench<'_, '_>, other: &Side, protection: &Protection) -> Table {
    let title = format!("Missed with the input found, at a budget of {:.0} %", LEVELS[AT] * 100.0);
    let mut table = Table::new(title, &["pc", "instruction", "line", "of its SDCs", "of its dynamic instructions"]);
    let program = capsule.golden_run().launches().iter().find(|launch| launch.program.name == bench.kernel);
    let facts = |pc: u32| {
        let instructions = program.map(|launch| &launch.program.instructions)?;
        instructions.iter().find(|it| it.pc.0 == pc)?.facts.as_ref()
    };
    let mut left: Vec<(u64, u32)> = other.check.pcs.iter().map(|(&pc, ends)| (ends.sdc, pc)).collect();
    left.retain(|(sdc, pc)| *sdc > 0 && !protection.0.contains(pc));
    left.sort_by_key(|&(sdc, pc)| (std::cmp::Reverse(sdc), pc));
    let all = other.executed.values().sum::<u64>().max(1) as f64;
    let row = |&(sdc, pc): &(u64, u32)| {
        let (mnemonic, line) = facts(pc).map_or((String::new(), None), |facts| {
            (facts.mnemonic.to_string(), facts.source.as_ref().map(facts::Source::line))
        });
        vec![
            Cell::Count(u64::from(pc)),
            Cell::Text(mnemonic),
            line.map_or(Cell::None, |line| Cell::Count(u64::from(line))),
            cell(Rate { count: sdc, landed: other.check.all.sdc }),
            Cell::Share(other.executed.get(&pc).copied().unwrap_or(0) as f64 / all),
        ]
    };
    table.rows = left.iter().take(SHOWN).map(row).collect();
    if left.len() > SHOWN {
        table.notes.push(format!("{} more instructions are missed.", left.len() - SHOWN));
    }
    table
}

fn plot(
    studied: &Studied<'_>,
    reference: &Side,
    other: &Side,
    of_reference: &[Protection],
    of_found: &[Protection],
) -> Plot {
    let series = |name: &str, protection: &[Protection], side: &Side| {
        let point = |(level, it): (&f64, &Protection)| {
            let (rate, bounds) = (it.coverage(&side.check), it.coverage(&side.check).bounds());
            Point { x: level * 100.0, y: rate.rate(), bounds: Some((bounds.low, bounds.high)) }
        };
        Series { name: name.to_owned(), mark: Mark::Dots, points: LEVELS.iter().zip(protection).map(point).collect() }
    };
    Plot {
        name: "protection".to_owned(),
        title: format!("{}: coverage of SDCs by selective duplication", studied.name),
        x: "budget, % of dynamic instructions".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "SDCs in protected instructions, %".to_owned(),
        vertical: Vertical::Shares,
        series: vec![
            series("for the reference, expected", of_reference, reference),
            series("for the reference, with the input found", of_reference, other),
            series("for the input found, with it", of_found, other),
        ],
    }
}

fn document(reference: &Side, other: &Side, of_reference: &[Protection], of_found: &[Protection]) -> Value {
    let one = |((level, for_reference), for_found): ((&f64, &Protection), &Protection)| {
        let sides = |it: &Protection| {
            json!({
                "reference": rate_document(it.coverage(&reference.check)),
                "found": rate_document(it.coverage(&other.check)),
                "cost_reference": it.cost(reference),
                "cost_found": it.cost(other),
                "pcs": it.0,
            })
        };
        json!({ "budget": level, "for_reference": sides(for_reference), "for_found": sides(for_found) })
    };
    LEVELS.iter().zip(of_reference).zip(of_found).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Draws;

    #[test]
    fn no_choice_within_the_budget_is_worth_more() {
        for seed in 0..20 {
            let mut draws = Draws::new(seed, 0);
            let mut below = |bound| draws.below(bound).unwrap();
            let executed: BTreeMap<u32, u64> = (0..10).map(|pc| (pc, 1 + below(30))).collect();
            let values: BTreeMap<u32, u64> = (0..10).map(|pc| (pc, below(20))).collect();
            for level in LEVELS {
                let budget = (executed.values().sum::<u64>() as f64 * level) as u64;
                let sums = |has: &dyn Fn(u32) -> bool| {
                    let sum = |of: &BTreeMap<u32, u64>| (0..10).filter(|pc| has(*pc)).map(|pc| of[&pc]).sum::<u64>();
                    (sum(&executed), sum(&values))
                };
                let all = (0..1u32 << 10).map(|set| sums(&|pc| set >> pc & 1 == 1));
                let best = all.filter(|(cost, _)| *cost <= budget).map(|(_, value)| value).max().unwrap();
                let found = Protection::within(&executed, &values, level);
                let (cost, value) = sums(&|pc| found.0.contains(&pc));
                assert!(cost <= budget && value == best, "{seed} {level}: {value} of {best}");
            }
        }
    }
}
