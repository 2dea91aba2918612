//! How many elements faults corrupt: Fig. 5 to 7, and 4.

use methods::regional::{RegionTally, quartiles};
use stats::spearman;

use super::super::survey::{first_step, last_step};
use super::super::tables::frequent;
use super::found::{Found, each, median, said, share, shares, spread, swept};
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{of, percent};

/// A rank correlation from there on is one.
const CORRELATED: [f64; 3] = [0.3, 0.5, 0.7];

/// Medians are similar that differ by such a share of the elements at most.
const SIMILAR: [f64; 3] = [0.001, 0.01, 0.1];

fn similar(one: &RegionTally, other: &RegionTally) -> Judged {
    let difference = (median(one) - median(other)).abs();
    let rule = "medians differ, of all elements, by at most, for each of";
    swept(rule, &SIMILAR, |share| difference <= share * one.elements as f64)
}

pub(super) fn statements(found: &Found<'_>) -> Vec<Statement> {
    [atax(found), bicg(found), covar(found), corr(found), fdtd(found), gramschm(found), mm3(found)].concat()
}

fn atax(found: &Found<'_>) -> Vec<Statement> {
    let (k1, k2) = (found.region("atax", "K1"), found.region("atax", "K2"));
    let all = k1.elements;
    let whole = share(k1, |it| it == all);
    let small = found.pairs("atax", "K1", "tmp", "y");
    let middle = |full: bool| {
        let errors = small.iter().filter(|(_, elements)| (*elements == all as f64) == full).map(|pair| pair.0);
        quartiles(errors.collect()).map_or(f64::NAN, |five| five[2])
    };
    vec![
        said(
            "ATAX: SDCs of K2 corrupt exactly one element",
            "all",
            percent(share(k2, |it| it == 1)),
            Judged::plain("all do", share(k2, |it| it == 1) == 1.0),
        ),
        said(
            "ATAX: SDCs of K1 corrupt all elements of y",
            "\"most\"",
            format!("{} corrupt all {all}; the median is {}", percent(whole), median(k1)),
            Judged::plain("more than half do", whole > 0.5),
        ),
        said(
            "ATAX: they corrupt fewer where the difference of tmp is small",
            "the smallest of all",
            format!("median differences of tmp: {:.1e} where fewer, {:.1e} where all", middle(false), middle(true)),
            Judged::plain("the median difference is smaller where fewer are corrupted", middle(false) < middle(true)),
        ),
    ]
}

fn bicg(found: &Found<'_>) -> Vec<Statement> {
    let one = |name: &str| share(found.region("bicg", name), |it| it == 1);
    let statement = |claim: &str, names: [&str; 2]| {
        said(
            claim,
            "all",
            shares(&names, one),
            Judged::plain("all do, in both regions", names.iter().all(|name| one(name) == 1.0)),
        )
    };
    vec![
        statement("BICG: SDCs of the multiplications corrupt exactly one element", ["K1.2", "K2.2"]),
        statement("BICG: SDCs of the initialisations corrupt exactly one element", ["K1.1", "K2.1"]),
    ]
}

/// A median that should be the lowest; it is undecided beside one that is the same.
fn lowest(own: f64, other: f64) -> Judged {
    let verdict = if own == other { Verdict::Open } else { Verdict::plain(own < other) };
    Judged::by("its median is the lowest; the same median is undecided", verdict)
}

/// The share of faults that corrupt a variable in two elements at once, of those that corrupt it.
fn doubled(found: &Found<'_>, region: &str, variable: &str) -> f64 {
    let variable = found.variable("covar", variable);
    let first = found.followed("covar", region).filter_map(|it| Some(it.run.ends.get(&variable)?.first.elements));
    let first: Vec<u64> = first.collect();
    first.iter().filter(|&&it| it == 2).count() as f64 / first.len().max(1) as f64
}

fn covar(found: &Found<'_>) -> Vec<Statement> {
    let region = |name: &str| found.region("covar", name);
    let range = |name: &str| region(name).corrupted_quartiles().map_or(f64::NAN, |five| five[4] - five[0]);
    let all = ["KM", "KR", "KC.1", "KC.2"];
    let others = &all[1..];
    let differences = spearman(&found.pairs("covar", "KM", "mean", "symmat")).map_or(f64::NAN, |it| it.coefficient);
    let (of_mean, of_data) = (doubled(found, "KM", "mean"), doubled(found, "KR", "data"));
    vec![
        said(
            "COVAR: the number of elements varies less in KM than in the other regions",
            "",
            format!("standard deviations: {}", each(&all, |name| format!("{:.1}", spread(region(name))))),
            Judged::plain(
                "its standard deviation is the lowest",
                others.iter().all(|name| spread(region("KM")) < spread(region(name))),
            ),
        ),
        said(
            "COVAR: KR corrupts fewer elements than KM",
            "",
            format!("medians: {}", each(&["KM", "KR"], |name| median(region(name)).to_string())),
            Judged::plain("its median is lower", median(region("KR")) < median(region("KM"))),
        ),
        said(
            "COVAR: the range of KR is larger than that of KM",
            "",
            each(&["KM", "KR"], |name| range(name).to_string()),
            Judged::plain("the most less the least", range("KR") > range("KM")),
        ),
        said(
            "COVAR: KC.1 and KC.2 have similar medians",
            "\"similar\"",
            each(&["KC.1", "KC.2"], |name| median(region(name)).to_string()),
            similar(region("KC.1"), region("KC.2")),
        ),
        said(
            "COVAR: two elements at once are corrupted more often by KR than by KM",
            "",
            format!(
                "{} of faults that corrupt data, {} of those that corrupt mean",
                percent(of_data),
                percent(of_mean)
            ),
            Judged::plain("its share is larger", of_data > of_mean),
        ),
        said(
            "COVAR: the larger the difference of mean, the more elements are corrupted (Fig. 6)",
            "\"in general\"",
            format!("Spearman's ρ {differences:.2}"),
            swept("ρ is at least, for each of", &CORRELATED, |least| differences >= least),
        ),
    ]
}

fn corr(found: &Found<'_>) -> Vec<Statement> {
    let region = |name: &str| found.region("corr", name);
    let part = |program: &str| {
        let it = found.region(program, "KR");
        median(it) / it.elements as f64
    };
    let (steady, diverse) = (["KM", "KS"], ["KR", "KC.1", "KC.2"]);
    let least_diverse = diverse.iter().map(|name| spread(region(name))).fold(f64::INFINITY, f64::min);
    vec![
        said(
            "CORR: KM and KS corrupt similarly many elements",
            "\"similar\"",
            format!("medians: {}", each(&steady, |name| median(region(name)).to_string())),
            similar(region("KM"), region("KS")),
        ),
        said(
            "CORR: KR and the KC are more diverse",
            "",
            format!(
                "standard deviations: {}",
                each(&[&steady[..], &diverse[..]].concat(), |name| format!("{:.1}", spread(region(name))))
            ),
            Judged::plain(
                "the lowest standard deviation of theirs is above those of KM and KS",
                steady.iter().all(|name| spread(region(name)) < least_diverse),
            ),
        ),
        said(
            "KR of CORR corrupts more elements than KR of COVAR",
            "",
            format!("medians, of all elements: {} and {}", percent(part("corr")), percent(part("covar"))),
            Judged::plain("its median share is larger", part("corr") > part("covar")),
        ),
    ]
}

fn fdtd(found: &Found<'_>) -> Vec<Statement> {
    let region = |name: &str| found.region("fdtd2d", &last_step(name));
    let mode = |name: &str| frequent(region(name)).first().map_or(0, |it| it.0);
    let usually = |name: &str, elements: u64| {
        let whole = found.region("fdtd2d", name);
        said(
            &format!("FDTD-2D: SDCs of {name} corrupt {}", if elements == 1 { "one element" } else { "two elements" }),
            "",
            format!(
                "in the last step {}; in any step {}",
                percent(share(region(name), |it| it == elements)),
                percent(share(whole, |it| it == elements))
            ),
            Judged::plain("no other number is as frequent, in the last step", mode(name) == elements),
        )
    };
    let times = |name: &str, elements: u64| share(region(name), |it| it == elements);
    let three = ["K1.1", "K1.2", "K2"];
    vec![
        usually("K1.1", 2),
        usually("K1.2", 2),
        usually("K2", 2),
        said(
            "FDTD-2D: these corrupt one or four elements, too",
            "\"as well\"",
            format!("one: {}; four: {}", shares(&three, |name| times(name, 1)), shares(&three, |name| times(name, 4))),
            Judged::plain(
                "each of the three does both, in the last step",
                three.iter().all(|name| times(name, 1) > 0.0 && times(name, 4) > 0.0),
            ),
        ),
        usually("K3", 1),
        said(
            "FDTD-2D: K3 corrupts two elements as an outlier",
            "once",
            percent(times("K3", 2)),
            Judged::plain("some do, in the last step", times("K3", 2) > 0.0),
        ),
    ]
}

fn gramschm(found: &Found<'_>) -> Vec<Statement> {
    let region = |name: &str| found.region("gramschm", name);
    let first = region(&first_step("K1"));
    // All columns but the first, which is the first that is done: 2047 of the paper's 2048.
    let reached = first.corrupted.iter().copied().max().unwrap_or(0);
    let whole = share(first, |it| it == reached);
    let most = frequent(region("K2"));
    let largest = most.first().map_or(0.0, |it| it.1 as f64 / region("K2").corrupted.len().max(1) as f64);
    let three = ["K3.1", "K3.2", "K3.3"];
    let medians = each(&["K1", "K2", "K3.1", "K3.2", "K3.3"], |name| median(region(name)).to_string());
    let before = median(region("K1")).min(median(region("K2")));
    vec![
        said(
            "GRAMSCHM: SDCs of K1 corrupt all elements (of the columns that follow)",
            "4192256 = 2048·2047",
            format!(
                "{} corrupt {reached} of {} in the first step; in any step the median is {}",
                percent(whole),
                first.elements,
                median(region("K1"))
            ),
            Judged::plain("more than half do, in the first step", whole > 0.5),
        ),
        said(
            "GRAMSCHM: SDCs of K2 corrupt different numbers of elements",
            "\"different\"",
            format!("{} numbers; the most frequent in {}", most.len(), percent(largest)),
            Judged::plain("none is in more than half", largest <= 0.5),
        ),
        said(
            "GRAMSCHM: the regions of K3 corrupt fewer than K1 and K2",
            "",
            format!("medians: {medians}"),
            Judged::plain("their medians are lower", three.iter().all(|name| median(region(name)) < before)),
        ),
        said(
            "GRAMSCHM: of these K3.3 corrupts the fewest",
            "\"tends to\"",
            format!("medians: {}", each(&three, |name| median(region(name)).to_string())),
            lowest(median(region("K3.3")), median(region("K3.1")).min(median(region("K3.2")))),
        ),
    ]
}

fn mm3(found: &Found<'_>) -> Vec<Statement> {
    let region = |name: &str| found.region("mm3", name);
    let variable = found.variable("mm3", "G");
    let lines = |name: &str, rows: &dyn Fn(u64, u64) -> bool| {
        let ends = found.followed("mm3", name).filter(|it| it.run.completed);
        let extents = ends.filter_map(|it| Some(it.run.ends.get(&variable)?.last.as_ref()?.extent));
        let extents: Vec<_> = extents.collect();
        let such = extents.iter().filter(|it| rows(it.rows, it.columns)).count();
        (such, extents.len())
    };
    let (row, of_rows) = lines("K1", &|rows, _| rows == 1);
    let (column, of_columns) = lines("K2", &|_, columns| columns == 1);
    let (two, of_two) = lines("K1", &|rows, _| rows == 2);
    let mode = |name: &str| frequent(region(name)).first().map_or(0, |it| it.0);
    vec![
        said(
            "3MM: a fault corrupts one row of the output",
            "",
            format!(
                "K1 (E): one row in {} of the faults that reach G, {} elements being the most frequent number; K2 (F): one column in {}",
                of(row, of_rows),
                mode("K1"),
                of(column, of_columns)
            ),
            Judged::plain("more than half of K1's", 2 * row > of_rows),
        ),
        said(
            "3MM: a corrupted index corrupts two rows",
            "",
            format!("two rows in {}", of(two, of_two)),
            Judged::plain("some of K1's do", two > 0),
        ),
    ]
}
