//! The figures of the paper as plots, with our numbers.

use methods::two_level::{IpaTable, OutcomeCounts};
use stats::Bounded;
use study::{Mark, Plot, Point, Series, Vertical};

use super::survey::Measured;
use super::tables::{ends_of, mean, ranked};

/// All plots, by the words that the page has for them.
pub(super) fn plots(all: &[Measured], ipa: &IpaTable) -> Vec<(&'static str, Plot)> {
    let title = "How faults of each type and manifestation end";
    vec![
        ("plot-fractions", fractions(all, ipa)),
        ("plot-derating", derating(all, ipa, "derating", &format!("{title}: means over all workloads"))),
        ("plot-derating-one", {
            let one = all.iter().position(|it| it.name == ALONE).map_or(&[][..], |at| &all[at..=at]);
            derating(one, ipa, "derating-one", &format!("{title}: {ALONE}"))
        }),
        ("plot-rates", rates(all)),
    ]
}

/// The workload that Fig. 6 is drawn of alone: the one that rates are relative to.
const ALONE: &str = "hotspot";

/// Fig. 5: what the microbenchmarks execute, by type, what is like it, and the rest up to the whole.
fn fractions(all: &[Measured], ipa: &IpaTable) -> Plot {
    let series = |name: &str, of: &dyn Fn(&Measured) -> f64| Series {
        name: name.to_owned(),
        mark: Mark::Stacked,
        points: (0..).zip(all).map(|(x, it)| Point { x: f64::from(x), y: of(it), bounds: None }).collect(),
    };
    let types = 0..ipa.instructions.len();
    let mut parts: Vec<Series> =
        types.clone().map(|at| series(&ipa.instructions[at].name, &|it| it.shares.measured(at).0)).collect();
    let alike = |it: &Measured| types.clone().map(|at| it.shares.of_type(at).0 - it.shares.measured(at).0).sum();
    parts.push(series("alike, counted with one of these", &alike));
    Plot {
        name: "fractions".to_owned(),
        title: "Fractions of instructions that have a rate".to_owned(),
        x: "workload".to_owned(),
        logarithmic: false,
        names: all.iter().map(|it| it.name.to_owned()).collect(),
        y: "of all thread-instructions, %".to_owned(),
        vertical: Vertical::Shares,
        series: parts,
    }
}

/// Fig. 6: how faults end.
fn derating(all: &[Measured], ipa: &IpaTable, name: &str, title: &str) -> Plot {
    let mut names = Vec::new();
    let mut places: Vec<Vec<OutcomeCounts>> = Vec::new();
    for (number, kind) in ipa.instructions.iter().enumerate() {
        for (at, how) in ipa.manifestations.iter().enumerate() {
            let found: Vec<OutcomeCounts> = all.iter().filter_map(|it| ends_of(it, number, at)).collect();
            if !found.is_empty() {
                names.push(format!("{} {}", kind.name, how.name));
                places.push(found);
            }
        }
    }
    let series = |name: &str, count: fn(&OutcomeCounts) -> u64| Series {
        name: name.to_owned(),
        mark: Mark::Stacked,
        points: (0..)
            .zip(&places)
            .map(|(x, found)| Point { x: f64::from(x), y: mean(found.iter(), count), bounds: None })
            .collect(),
    };
    Plot {
        name: name.to_owned(),
        title: title.to_owned(),
        x: "type and manifestation".to_owned(),
        logarithmic: false,
        names,
        y: "of faults, %".to_owned(),
        vertical: Vertical::Shares,
        series: vec![
            series("masked", |ends| ends.masked),
            series("SDC", |ends| ends.sdc),
            series("DUE", |ends| ends.due),
        ],
    }
}

/// What fits into a plot of shares: bounds beyond the whole are cut there.
fn within(it: Bounded) -> Bounded {
    Bounded { high: it.high.min(1.0), ..it }
}

/// Fig. 7 as a plot: shares of the highest rate by IPA only, and chances by APA only.
fn rates(all: &[Measured]) -> Plot {
    let found = ranked(all, 0);
    let highest =
        found.iter().filter_map(|(it, _)| it.ipa_only(0)).map(|it| it.value).fold(f64::MIN_POSITIVE, f64::max);
    let series = |name: &str, of: &dyn Fn(&Measured, Bounded) -> Bounded| Series {
        name: name.to_owned(),
        mark: Mark::Dots,
        points: (0..).zip(&found).map(|(x, (it, two))| point(x, of(it, *two))).collect(),
    };
    Plot {
        name: "rates".to_owned(),
        title: "SDC rates by the two-level model and by either level alone".to_owned(),
        x: "workload".to_owned(),
        logarithmic: false,
        names: found.iter().map(|(it, _)| it.name.to_owned()).collect(),
        y: "relative rate; APA only: chance, %".to_owned(),
        vertical: Vertical::Shares,
        series: vec![
            series("two-level", &|_, two| within(two.times(1.0 / highest))),
            series("IPA only", &|it, _| within(it.ipa_only(0).unwrap_or(Bounded::ZERO).times(1.0 / highest))),
            series("APA only", &|it, _| it.apa_only()),
        ],
    }
}

fn point(x: u32, it: Bounded) -> Point {
    Point { x: f64::from(x), y: it.value, bounds: Some((it.low, it.high)) }
}
