//! Networks of one topology trained with faults in neurons (Section 5.4.3), and against adversarial images (Section 5.4.2).

use stats::{Confidence, Proportion};
use study::{Cell, Table};

use super::judging::{decided, statement};
use super::networks::Trained;
use super::survey::{Ends, rate, said};
use crate::mean::SeedMean;
use crate::statements::{Judged, Statement, Verdict};

/// A network trained with faults, and the one of the same seed without.
struct Pair<'t> {
    with: &'t Trained,
    without: &'t Trained,
}

fn pairs(all: &[Trained]) -> Vec<Pair<'_>> {
    let plain =
        |seed: u64| all.iter().find(|it| it.training.seed == seed && !it.training.inject && it.training.alpha == 0.0);
    let with = all.iter().filter(|it| it.training.inject);
    with.filter_map(|with| Some(Pair { with, without: plain(with.training.seed)? })).collect()
}

/// The baseline of networks that are trained against adversarial images, and these.
fn robust_networks(all: &[Trained]) -> Option<(&Trained, Vec<&Trained>)> {
    let robust: Vec<&Trained> = all.iter().filter(|it| it.training.alpha > 0.0).collect();
    let seed = robust.first()?.training.seed;
    let plain = |it: &&Trained| it.training.seed == seed && !it.training.inject && it.training.alpha == 0.0;
    Some((all.iter().find(plain)?, robust))
}

/// Each pair of networks.
pub(super) fn injected(all: &[Trained]) -> Table {
    let columns =
        ["seed", "trained", "seconds", "right, as floats", "another class by a flip", "by a number from −1 to 1"];
    let mut table = Table::new("Trained with faults and without", &columns);
    for pair in pairs(all) {
        for (words, it) in [("without faults", pair.without), ("with faults", pair.with)] {
            table.rows.push(vec![
                Cell::Count(it.training.seed),
                Cell::text(words),
                Cell::Number(it.training.seconds),
                Cell::Share(it.training.float),
                rate(it.all_flips().class()),
                rate(it.range.class()),
            ]);
        }
    }
    table
}

/// Networks trained against adversarial images, after the one without.
pub(super) fn robust(all: &[Trained]) -> Table {
    let columns = [
        "α",
        "ε",
        "right, as floats",
        "another class: first two layers",
        "other layers",
        "all layers",
        "first two: times less often",
    ];
    let mut table = Table::new("Trained against adversarial images", &columns);
    let Some((plain, robust)) = robust_networks(all) else { return table };
    let row = |it: &&Trained| {
        let ratio = ratio(plain.flips[0], it.flips[0], 0.95).filter(|_| it.training.alpha > 0.0);
        vec![
            Cell::Number(it.training.alpha),
            Cell::Number(it.training.eps),
            Cell::Share(it.training.float),
            rate(it.flips[0].class()),
            rate(it.flips[1].class()),
            rate(it.all_flips().class()),
            ratio.map_or(Cell::None, |[value, low, high]| Cell::Quantity { value, low, high }),
        ]
    };
    table.rows = std::iter::once(&plain).chain(&robust).map(row).collect();
    table
}

/// How much more often the class changes in the first than in the second, with bounds of a confidence by Wilson's interval of
/// the first's share of both: the numbers of runs are nearly equal and changes are few.
fn ratio(first: Ends, second: Ends, confidence: f64) -> Option<[f64; 3]> {
    let of = Proportion::new(first.class, first.class + second.class).filter(|of| of.trials() > 0)?;
    let bounds = of.wilson(Confidence::new(confidence).ok()?);
    let weight = second.runs as f64 / first.runs.max(1) as f64;
    let odds = |share: f64| share / (1.0 - share) * weight;
    Some([odds(of.rate()?), odds(bounds.low), odds(bounds.high)])
        .filter(|it| it.iter().all(|number| number.is_finite()))
}

/// The chapter's statements on both.
pub(super) fn statements(all: &[Trained]) -> Vec<Statement> {
    let mut found = robust_statements(all);
    found.extend(injected_statements(all));
    found
}

fn injected_statements(all: &[Trained]) -> Vec<Statement> {
    let pairs = pairs(all);
    let share = |ends: Ends| ends.class().and_then(Proportion::rate);
    let of_range = SeedMean::of(&pairs, |it| Some(share(it.with.range)? / share(it.without.range)?));
    let of_flips = SeedMean::of(&pairs, |it| Some(share(it.with.all_flips())? / share(it.without.all_flips())?));
    let accuracy = SeedMean::of(&pairs, |it| Some(it.with.training.float - it.without.training.float));
    let seconds = SeedMean::of(&pairs, |it| Some(it.with.training.seconds / it.without.training.seconds));
    let ours =
        |found: Option<SeedMean>, words: fn(SeedMean) -> String| found.map_or_else(|| "not measured".to_owned(), words);
    let below_one = |it: SeedMean| decided(it.high < 1.0, it.low > 1.0);
    vec![
        statement(
            [
                "training with injections makes a network more resilient (ResNet18, Table 5.1)",
                "10,543 → 7,701 of 24 million: 0.730×",
            ],
            format!(
                "ratio of misclassifications by numbers from −1 to 1: {}; by flips: {}",
                ours(of_range, SeedMean::number),
                ours(of_flips, SeedMean::number)
            ),
            Judged::by(
                "over pairs of networks of one seed, the 95 % interval of the mean ratio of misclassifications by the fault of the training \
                 is all below 1",
                of_range.map_or(Verdict::Open, below_one),
            ),
        ),
        statement(
            ["and costs 0.16 % of accuracy (Table 5.1)", "95.50 % → 95.34 %"],
            ours(accuracy, SeedMean::points),
            Judged::by(
                "the 95 % interval over seeds of the difference is all below 0; all above it says no",
                accuracy.map_or(Verdict::Open, |it| decided(it.high < 0.0, it.low > 0.0)),
            ),
        ),
        statement(
            ["and no time (Table 5.1)", "2 h 8 min 33 s → 2 h 8 min 57 s: 1.003×"],
            format!("ratio of times: {}", ours(seconds, SeedMean::number)),
            Judged::by(
                "the 95 % interval over seeds of the ratio of training times is all at most 1.05; the chapter names no bound, this one is ours",
                seconds.map_or(Verdict::Open, |it| it.is_at_most(1.05)),
            ),
        ),
    ]
}

/// How many times more often the class changes in the least resilient network without IBP or faults than in the most resilient one:
/// they differ in nothing but their seeds.
fn by_seed(all: &[Trained], of: fn(&Trained) -> Ends) -> f64 {
    let plain = all.iter().filter(|it| !it.training.inject && it.training.alpha == 0.0);
    let rates: Vec<f64> = plain.filter_map(|it| of(it).class()?.rate()).filter(|rate| *rate > 0.0).collect();
    let (least, most) = (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
    if rates.is_empty() { 1.0 } else { most / least }
}

fn robust_statements(all: &[Trained]) -> Vec<Statement> {
    let found = robust_networks(all);
    let count = found.as_ref().map_or(1, |(_, robust)| robust.len()).max(1);
    // All networks are asked at once: each interval has its part of the 5 %.
    let confidence = 1.0 - 0.05 / count as f64;
    let ratios = |of: fn(&Trained) -> Ends| -> Vec<[f64; 3]> {
        let each =
            found.iter().flat_map(|(plain, robust)| robust.iter().map(move |it| ratio(of(plain), of(it), confidence)));
        each.flatten().collect()
    };
    let (first, total) = (ratios(|it| it.flips[0]), ratios(Trained::all_flips));
    // One network of each α and ε was trained: the seed moves a ratio as well.
    let [of_first, of_total] = [by_seed(all, |it| it.flips[0]), by_seed(all, Trained::all_flips)];
    let wide = |factor: f64| move |[value, low, high]: [f64; 3]| [value, low / factor, high * factor];
    let first: Vec<[f64; 3]> = first.into_iter().map(wide(of_first)).collect();
    let total: Vec<[f64; 3]> = total.into_iter().map(wide(of_total)).collect();
    let largest = first.iter().copied().max_by(|a, b| a[0].total_cmp(&b[0]));
    let times = |[value, low, high]: [f64; 3]| format!("{value:.2}× ({low:.2} to {high:.2})");
    let up_to_four =
        largest.map_or(Verdict::Open, |[_, low, high]| decided(low <= 4.0 && high >= 4.0, high < 4.0 || low > 4.0));
    let improved = |all: &[[f64; 3]]| match all.is_empty() {
        true => Verdict::Open,
        false => decided(all.iter().all(|it| it[1] > 1.0), all.iter().any(|it| it[2] < 1.0)),
    };
    let range = |all: &[[f64; 3]]| {
        let ends = [
            all.iter().copied().reduce(|a, b| if a[0] < b[0] { a } else { b }),
            all.iter().copied().reduce(|a, b| if a[0] > b[0] { a } else { b }),
        ];
        match ends {
            [Some(least), Some(most)] => format!("from {} to {}", times(least), times(most)),
            _ => "not measured".to_owned(),
        }
    };
    let apart = total.iter().any(|a| total.iter().any(|b| a[2] < b[1]));
    let losses: Vec<f64> = found
        .iter()
        .flat_map(|(plain, robust)| robust.iter().map(|it| it.training.float - plain.training.float))
        .collect();
    let [least, most] =
        [losses.iter().copied().fold(f64::MIN, f64::max), losses.iter().copied().fold(f64::MAX, f64::min)];
    let baseline =
        found.as_ref().map_or_else(|| "not measured".to_owned(), |(plain, _)| said(plain.all_flips().class()));
    let bounds = format!(
        "the intervals of {count} networks together are at 95 % (Bonferroni), and wider by the factor by which networks without IBP differ whose \
         seeds alone do, since each was trained once"
    );
    vec![
        statement(
            [
                "adversarial training (IBP) makes the first two layers of AlexNet up to 4× more resilient (Figure 5.4)",
                "4×",
            ],
            largest.map_or_else(
                || "not measured".to_owned(),
                |it| format!("{} at most; seeds alone: {of_first:.2}×", times(it)),
            ),
            Judged::by(format!("the interval of the largest ratio has 4 within it; {bounds}"), up_to_four),
        ),
        statement(
            ["training with IBP improves the total resilience (Section 5.4.2)", "no number"],
            format!("{}; without it {baseline} change the class; seeds alone: {of_total:.2}×", range(&total)),
            Judged::by(
                format!("each network changes its class less often by flips than that without IBP; {bounds}"),
                improved(&total),
            ),
        ),
        statement(
            [
                "not all networks that are trained against adversarial images are equally resilient (Section 5.4.2)",
                "no number",
            ],
            range(&total),
            Judged::by(
                format!("the intervals of two of them do not meet; {bounds}"),
                if total.is_empty() { Verdict::Open } else { decided(apart, false) },
            ),
        ),
        statement(
            ["and their accuracy on clean images falls by about 3 % (Section 5.4.2)", "3 %"],
            if losses.is_empty() {
                "not measured".to_owned()
            } else {
                format!("from {:.2} to {:.2} points", least * 100.0, most * 100.0)
            },
            Judged::by(
                "it falls for every one; how much depends on α and ε, of which the chapter names no pair",
                match losses.is_empty() {
                    true => Verdict::Open,
                    false => decided(false, losses.iter().any(|loss| *loss >= 0.0)),
                },
            ),
        ),
    ]
}
