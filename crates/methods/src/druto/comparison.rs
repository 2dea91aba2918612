//! Searchers compared over seeds: medians within order statistics, and rank-sum tests against random search.

use serde_json::{Value, json};
use stats::{Confidence, Median, holm, median, ranks};
use study::{Cell, Table};

use super::contest::Entry;
use super::searchers::SEARCHERS;

/// Seeds of a claim, at least: the rank test is made for about ten values of each.
pub(super) const LEAST: u64 = 10;
/// The level of the tests.
const LEVEL: f64 = 0.05;

/// One searcher over all seeds.
pub(super) struct Compared {
    pub(super) searcher: &'static str,
    /// The values of its answers, by seed.
    values: Vec<f64>,
    median: Median,
    /// The comparison with random search; none for that itself, and where all values are the same.
    test: Option<AgainstRandom>,
}

/// A searcher against random search.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AgainstRandom {
    /// The share of pairs in which its answer is better, ties for a half.
    better: f64,
    p: f64,
    /// The same, corrected for the number of searchers.
    corrected: f64,
}

/// The comparison of all searchers that have answers.
pub(super) fn compare(entries: &[Entry]) -> Vec<Compared> {
    let values = |name: &str| -> Vec<f64> {
        let of = entries.iter().filter(|entry| entry.searcher == name);
        of.filter_map(|entry| Some(entry.answer.as_ref()?.value?.value)).collect()
    };
    compare_values(&SEARCHERS.iter().map(|offer| (offer.name, values(offer.name))).collect::<Vec<_>>())
}

fn compare_values(searchers: &[(&'static str, Vec<f64>)]) -> Vec<Compared> {
    let random = searchers.iter().find(|(name, _)| *name == SEARCHERS[0].name).map_or(&[][..], |(_, values)| values);
    let mut compared = Vec::new();
    for (searcher, values) in searchers {
        let Some(median) = median(values, Confidence::PERCENT_95) else { continue };
        let test = (*searcher != SEARCHERS[0].name).then(|| against(values, random)).flatten();
        compared.push(Compared { searcher, values: values.clone(), median, test });
    }
    let p: Vec<f64> = compared.iter().filter_map(|it| Some(it.test?.p)).collect();
    let tests = compared.iter_mut().filter_map(|it| it.test.as_mut());
    tests.zip(holm(&p)).for_each(|(test, corrected)| test.corrected = corrected);
    compared
}

/// The rank-sum test of two samples of values.
fn against(values: &[f64], random: &[f64]) -> Option<AgainstRandom> {
    let mut all: Vec<f64> = values.iter().chain(random).copied().collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let places = |values: &[f64]| {
        let place = |value: &f64| all.partition_point(|other| other < value) as u64;
        let mut places: Vec<u64> = values.iter().map(place).collect();
        places.sort_unstable();
        places
    };
    let found = ranks(&places(random), &places(values))?;
    Some(AgainstRandom { better: found.smaller, p: found.p, corrected: found.p })
}

impl Compared {
    /// Whether the corrected test says that its answers are others than those of random search.
    fn differs(&self) -> bool {
        self.values.len() as u64 >= LEAST && self.test.is_some_and(|test| test.corrected < LEVEL)
    }

    fn verdict(&self) -> &'static str {
        match self.test {
            _ if self.searcher == SEARCHERS[0].name => "",
            _ if (self.values.len() as u64) < LEAST => "too few seeds",
            Some(test) if self.differs() && test.better > 0.5 => "differs: better",
            Some(_) if self.differs() => "differs: worse",
            _ => "no difference shown",
        }
    }
}

/// The comparison as a table; values are rates if `is_rate`.
pub(super) fn table(compared: &[Compared], objective: &str, is_rate: bool) -> Table {
    let title = format!("Answers over seeds, by {objective}");
    let columns = ["searcher", "seeds", "median", "better than random", "p", "p, corrected", "against random"];
    let mut table = Table::new(title, &columns);
    let row = |it: &Compared| {
        let Median { value, low, high, .. } = it.median;
        let median = if is_rate { Cell::Rate { rate: value, low, high } } else { Cell::Quantity { value, low, high } };
        let of = |get: fn(AgainstRandom) -> f64| it.test.map_or(Cell::None, |test| Cell::Number(rounded(get(test))));
        let better = it.test.map_or(Cell::None, |test| Cell::Share(test.better));
        let cells = [Cell::text(it.searcher), Cell::Count(it.values.len() as u64), median, better];
        cells.into_iter().chain([of(|test| test.p), of(|test| test.corrected), Cell::text(it.verdict())]).collect()
    };
    table.rows = compared.iter().map(row).collect();
    if let Some(reached) = compared.iter().map(|it| it.median.confidence).reduce(f64::min) {
        table.notes.push(format!(
            "Bounds of medians are values of the sample (order statistics) and hold with {:.1} % or more.",
            reached * 100.0
        ));
    }
    table.notes.push(format!(
        "Better: of all pairs of an answer and one of random search, the share in which it is the better one. Tests are rank-sum \
         tests with Holm's correction; a difference is claimed below {LEVEL} with {LEAST} seeds or more."
    ));
    table
}

/// Four digits after the point, or what is left of a smaller number.
fn rounded(p: f64) -> f64 {
    if p < 1e-4 { p } else { (p * 1e4).round() / 1e4 }
}

/// The comparison as documents have it.
pub(super) fn document(compared: &[Compared]) -> Value {
    let one = |it: &Compared| {
        let Median { value, low, high, confidence } = it.median;
        json!({
            "searcher": it.searcher,
            "values": it.values,
            "median": value, "low": low, "high": high, "confidence": confidence,
            "better_than_random": it.test.map(|test| test.better),
            "p": it.test.map(|test| test.p),
            "p_corrected": it.test.map(|test| test.corrected),
            "differs": it.differs(),
        })
    };
    compared.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_corrected_test_of_enough_seeds_claims_a_difference() {
        let from = |first: u32, count: u32| (first..first + count).map(f64::from).collect::<Vec<_>>();
        let compared = compare_values(&[
            ("random", from(0, 12)),
            ("druto", from(100, 12)),
            ("peppa-x", from(1, 12)),
            ("tpe", from(100, 9)),
        ]);
        let verdicts: Vec<&str> = compared.iter().map(Compared::verdict).collect();
        assert_eq!(verdicts, ["", "differs: better", "no difference shown", "too few seeds"]);
        let druto = compared[1].test.unwrap();
        assert!(druto.better == 1.0 && druto.p < 1e-4 && druto.corrected > druto.p, "{druto:?}");
        let worse = compare_values(&[("random", from(100, 12)), ("druto", from(0, 12))]);
        assert_eq!(worse[1].verdict(), "differs: worse");
        assert!(compare_values(&[("random", vec![]), ("druto", vec![])]).is_empty());
        assert_eq!(
            compare_values(&[("random", vec![0.0; 12]), ("druto", vec![0.0; 12])])[1].verdict(),
            "no difference shown"
        );
    }
}
