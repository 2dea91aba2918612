//! What regions came to, as tables and as a document.

use serde_json::{Value, json};
use stats::{Interval, holm, homogeneity, ranks};
use study::{Cell, Study, Table};

use super::map::FaultMap;
use super::plots;
use super::profile::RegionProfile;
use super::tally::{RegionTally, Tally, quartiles};
use super::target::Regional;
use crate::method::Estimates;

/// The chance of even one false alarm among the comparisons of regions, at most.
const LEVEL: f64 = 0.05;

/// All of it.
pub(super) fn estimates(method: &Regional, tally: &Tally) -> Estimates {
    let regions: Vec<(&str, &RegionTally)> = method
        .regions()
        .iter()
        .filter_map(|name| Some((name.as_str(), tally.regions.get(name).filter(|it| it.runs() + it.lost > 0)?)))
        .collect();
    let unlike = Unlike::of(&regions);
    let mut study = Study::new("regions", "", "");
    study.tables = vec![ends(method, &regions, &unlike.ends), criticality(&regions, &unlike)];
    study.plots = plots::all(method.name(), &regions);
    let json = json!({
        "format": "beamline.regions/1",
        "capsule": method.name(),
        "regions": regions.iter().enumerate().map(|(at, region)| document(region, &unlike, at)).collect::<Vec<_>>(),
        "empty": method.empty().iter().map(|(name, why)| json!({ "name": name, "why": why })).collect::<Vec<_>>(),
        "notes": method.notes(),
    });
    Estimates { json, study }
}

/// A fault map that is written and not injected.
pub(super) fn map(method: &Regional, map: &FaultMap) -> Estimates {
    let mut counts = Counts::new(map.rows.iter().map(|row| (row.region.as_str(), 1)));
    counts.empty = method.empty();
    counts.shown(
        method.name(),
        ["map", "fault map", "faults"],
        "Nothing is injected yet: --from-map injects the faults of a map.",
    )
}

/// A profile that is written, from which nothing is drawn.
pub(super) fn profile(method: &Regional, profile: &RegionProfile) -> Estimates {
    let mut counts = Counts::new(profile.rows.iter().map(|row| (row.region.as_str(), row.executions)));
    let note = "Executions of instructions by threads where faults can hit. Nothing is injected yet: --from-profile draws from the instructions of a profile.";
    counts.empty = method.empty();
    counts.shown(method.name(), ["profile", "profile", "executions"], note)
}

/// The counts of a file by region, in the order in which regions come first.
struct Counts<'r> {
    regions: Vec<(&'r str, u64)>,
    empty: &'r [(String, String)],
}

impl<'r> Counts<'r> {
    fn new(rows: impl Iterator<Item = (&'r str, u64)>) -> Self {
        let mut regions: Vec<(&str, u64)> = Vec::new();
        for (region, count) in rows {
            match regions.iter_mut().find(|(known, _)| *known == region) {
                Some((_, all)) => *all += count,
                None => regions.push((region, count)),
            }
        }
        Self { regions, empty: &[] }
    }

    /// As a table and a document; `words` are the key of the document, what the file is, and what is counted.
    fn shown(&self, capsule: &str, words: [&str; 3], note: &str) -> Estimates {
        let [key, what, counted] = words;
        let mut table = Table::new(format!("{capsule}: {what}"), &["region", counted]);
        table.rows =
            self.regions.iter().map(|(region, count)| vec![Cell::text(*region), Cell::Count(*count)]).collect();
        table.notes.extend(self.empty.iter().map(|(name, why)| format!("{name}: {why}.")));
        table.notes.push(note.to_owned());
        let mut study = Study::new("regions", "", "");
        study.tables = vec![table];
        let counts: Vec<Value> =
            self.regions.iter().map(|(name, count)| json!({ "name": name, counted: count })).collect();
        let json = json!({
            "format": "beamline.regions/1",
            "capsule": capsule,
            key: counts,
            "regions": [],
            "empty": self.empty.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect::<Vec<_>>(),
        });
        Estimates { json, study }
    }
}

fn rate(count: u64, it: &RegionTally) -> Cell {
    let (rate, Interval { low, high }) = it.rate(count);
    rate.map_or(Cell::None, |rate| Cell::Rate { rate, low, high })
}

/// SDCs of a region from which on its elements and errors are compared: the test of ranks asks for about as many.
const COMPARED: usize = 10;

/// By region, the regions that it differs from beyond chance; each family of comparisons is corrected by Holm's procedure.
struct Unlike<'r> {
    /// In how faults end (χ² for homogeneity), however undecided runs end.
    ends: Vec<Vec<&'r str>>,
    /// In how many elements SDCs corrupt (ranks).
    elements: Vec<Vec<&'r str>>,
    /// In the mean absolute errors of these (ranks).
    errors: Vec<Vec<&'r str>>,
}

impl<'r> Unlike<'r> {
    fn of(regions: &[(&'r str, &RegionTally)]) -> Self {
        let sorted = |values: Vec<u64>| {
            let mut values = values;
            values.sort_unstable();
            values
        };
        let elements: Vec<Vec<u64>> = regions.iter().map(|(_, it)| sorted(it.corrupted.clone())).collect();
        // Bits of numbers that are not negative are in their order, and NaN is above all.
        let bits = |it: &RegionTally| it.errors_of_corrupted().map(|error| error.abs().to_bits()).collect();
        let errors: Vec<Vec<u64>> = regions.iter().map(|(_, it)| sorted(bits(it))).collect();
        let by_ranks = |of: &[Vec<u64>], first: usize, second: usize| {
            let enough = of[first].len().min(of[second].len()) >= COMPARED;
            ranks(&of[first], &of[second]).filter(|_| enough).map_or(1.0, |found| found.p)
        };
        let by_ends = |first: usize, second: usize| {
            let [first, second] = most_alike(regions[first].1, regions[second].1);
            homogeneity(&[&first, &second]).map_or(1.0, |found| found.test.p)
        };
        Self {
            ends: differing(regions, by_ends),
            elements: differing(regions, |first, second| by_ranks(&elements, first, second)),
            errors: differing(regions, |first, second| by_ranks(&errors, first, second)),
        }
    }
}

/// By region, the regions that a comparison tells from it; `p` is the chance of so much if both are alike.
fn differing<'r>(regions: &[(&'r str, &RegionTally)], p: impl Fn(usize, usize) -> f64) -> Vec<Vec<&'r str>> {
    let pairs: Vec<(usize, usize)> =
        (0..regions.len()).flat_map(|first| (first + 1..regions.len()).map(move |second| (first, second))).collect();
    let corrected = holm(&pairs.iter().map(|&(first, second)| p(first, second)).collect::<Vec<_>>());
    let mut unlike = vec![Vec::new(); regions.len()];
    for (&(first, second), p) in pairs.iter().zip(corrected) {
        if p < LEVEL {
            unlike[first].push(regions[second].0);
            unlike[second].push(regions[first].0);
        }
    }
    unlike
}

/// The regions that one differs from, in words; `regions` are there in all.
fn others(unlike: &[&str], regions: usize) -> Cell {
    Cell::Text(match unlike.len() {
        _ if regions < 2 => "–".to_owned(),
        0 => "none".to_owned(),
        count if count + 1 == regions && count > 1 => "all others".to_owned(),
        _ => unlike.join(", "),
    })
}

/// The ends of two regions (masked, SDC, DUE) where each undecided run ends so that both are alike, as far as one run after the
/// other can make them so.
fn most_alike(one: &RegionTally, other: &RegionTally) -> [[u64; 3]; 2] {
    let mut ends = [one, other].map(|it| [it.masked, it.sdc, it.due]);
    let runs = [one, other].map(|it| (it.masked + it.sdc + it.due + it.undecided) as f64);
    let mut left = [one.undecided, other.undecided];
    while left != [0, 0] {
        for region in 0..2 {
            if left[region] == 0 {
                continue;
            }
            left[region] -= 1;
            let lack =
                |end: usize| ends[1 - region][end] as f64 / runs[1 - region] - ends[region][end] as f64 / runs[region];
            let end = (0..3).max_by(|&one, &other| lack(one).total_cmp(&lack(other))).unwrap_or_default();
            ends[region][end] += 1;
        }
    }
    ends
}

/// How faults end.
fn ends(method: &Regional, regions: &[(&str, &RegionTally)], unlike: &[Vec<&str>]) -> Table {
    let columns = ["region", "runs", "SDC", "DUE", "masked", "differs from"];
    let mut table = Table::new(format!("{} by region", method.name()), &columns);
    for ((name, it), unlike) in regions.iter().zip(unlike) {
        table.rows.push(vec![
            Cell::text(*name),
            Cell::Count(it.runs()),
            rate(it.sdc, it),
            rate(it.due, it),
            rate(it.masked, it),
            others(unlike, regions.len()),
        ]);
    }
    if regions.len() > 1 {
        table.notes.push(format!(
            "Whether regions differ in their ends beyond chance: tests for homogeneity, corrected by Holm's procedure, at {LEVEL}{}.",
            if regions.iter().any(|(_, it)| it.undecided > 0) { ", each for the undecided runs that make the two most alike" } else { "" }
        ));
    }
    let about = method.empty().iter().map(|(name, why)| format!("{name}: {why}."));
    table.notes.extend(about.chain(method.notes().iter().map(|note| format!("{note}."))));
    let undecided: u64 = regions.iter().map(|(_, it)| it.undecided).sum();
    table.notes.extend((undecided > 0).then(|| {
        format!(
            "{undecided} runs are undecided: the host saw a difference before the end and was not asked. Bounds are those of none and of all of \
             them."
        )
    }));
    let lost: u64 = regions.iter().map(|(_, it)| it.lost).sum();
    table.notes.extend((lost > 0).then(|| format!("{lost} runs ended in no class and count for nothing.")));
    table
}

/// How bad the corruptions are.
fn criticality(regions: &[(&str, &RegionTally)], unlike: &Unlike<'_>) -> Table {
    let columns = [
        "region",
        "SDC",
        "corrupted, least",
        "quartile",
        "median",
        "quartile",
        "most",
        "of elements",
        "error of those, median",
        "error of all, median",
        "elements differ from",
        "errors differ from",
    ];
    let mut table = Table::new("Criticality of silent data corruptions", &columns);
    for (at, (name, it)) in regions.iter().enumerate() {
        let number = |value: Option<f64>| value.map_or(Cell::None, Cell::Number);
        let five = it.corrupted_quartiles();
        let middle = |of: Vec<f64>| number(quartiles(of).map(|it| it[2]).filter(|it| it.is_finite()));
        let mut row = vec![Cell::text(*name), Cell::Count(it.sdc)];
        row.extend((0..5).map(|at| number(five.map(|five| five[at]))));
        row.push(Cell::Count(it.elements));
        row.push(middle(it.errors_of_corrupted().collect()));
        row.push(middle(it.errors_of_all().collect()));
        row.extend([&unlike.elements, &unlike.errors].map(|unlike| others(&unlike[at], regions.len())));
        table.rows.push(row);
    }
    table.notes.push(
        "Corrupted are elements of all outputs. Errors are absolute, means over the corrupted elements or over all, of each SDC; – where it is not finite."
            .to_owned(),
    );
    if regions.len() > 1 {
        table.notes.push(format!(
            "Whether regions differ in elements, and in errors over the corrupted ones, beyond chance: tests of ranks between those with {COMPARED} SDCs at least, corrected by Holm's procedure, at {LEVEL}."
        ));
    }
    table
}

fn document((name, it): &(&str, &RegionTally), unlike: &Unlike<'_>, at: usize) -> Value {
    let share = |count: u64, most: u64| {
        let (rate, Interval { low, high }) = it.share(count, most);
        json!({ "count": count, "rate": rate, "low": low, "high": high })
    };
    let rate = |count: u64| share(count, count + it.undecided);
    let five = |of: Option<[f64; 5]>| {
        of.map(|it| it.map(|value| if value.is_finite() { json!(value) } else { json!(value.to_string()) }))
    };
    json!({
        "name": name,
        "runs": it.runs(),
        "lost": it.lost,
        "sdc": rate(it.sdc),
        "due": rate(it.due),
        "masked": rate(it.masked),
        "undecided": share(it.undecided, it.undecided),
        "elements": it.elements,
        "corrupted": five(it.corrupted_quartiles()),
        "mean_error_of_corrupted": five(quartiles(it.errors_of_corrupted().collect())),
        "mean_error_of_all": five(quartiles(it.errors_of_all().collect())),
        "differs_from": unlike.ends[at],
        "elements_differ_from": unlike.elements[at],
        "errors_differ_from": unlike.errors[at],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_differ_only_where_undecided_runs_cannot_make_them_alike() {
        let tally = |[masked, sdc, due, undecided]: [u64; 4]| RegionTally {
            masked,
            sdc,
            due,
            undecided,
            ..RegionTally::default()
        };
        let differ = |one: [u64; 4], other: [u64; 4]| {
            !Unlike::of(&[("a", &tally(one)), ("b", &tally(other))]).ends[0].is_empty()
        };
        assert!(differ([392, 0, 350, 0], [67, 325, 376, 0]));
        assert!(!differ([392, 0, 350, 326], [67, 325, 376, 300]));
        assert!(differ([900, 0, 50, 50], [50, 800, 100, 50]));
        assert_eq!(most_alike(&tally([10, 0, 0, 0]), &tally([0, 0, 0, 10])), [[10, 0, 0], [10, 0, 0]]);
    }

    #[test]
    fn regions_are_compared_by_elements_and_by_errors_too() {
        let tally = |elements: [u64; 2], error: f64, sdc: u64| RegionTally {
            sdc,
            corrupted: (0..sdc).map(|at| elements[at as usize % 2]).collect(),
            errors: (0..sdc).map(|at| error * (1.0 + at as f64) * elements[at as usize % 2] as f64).collect(),
            elements: 100,
            ..RegionTally::default()
        };
        let (few, many) = (tally([1, 2], 1.0, 40), tally([30, 40], 1.0, 40));
        let (wrong, rare) = (tally([1, 2], f64::INFINITY, 40), tally([90, 90], 1e9, 9));
        let found = Unlike::of(&[("few", &few), ("many", &many), ("wrong", &wrong), ("rare", &rare)]);
        assert_eq!(found.elements[0], ["many"]);
        assert_eq!(found.errors[0], ["wrong"]);
        assert_eq!((found.elements[1].as_slice(), found.errors[1].as_slice()), (&["few", "wrong"][..], &["wrong"][..]));
        // Nine SDCs are too few to say.
        assert!(found.elements[3].is_empty() && found.errors[3].is_empty());
    }
}
