//! What the paper says in its Section 6, each with our numbers and a verdict.

use methods::two_level::IpaTable;
use stats::{Bounded, Confidence, spearman};

use super::monte_carlo::{MonteCarlo, clear_cases, in_words};
use super::questions::{Compared, Questions, mean_difference};
use super::survey::Measured;
use super::tables::ranked;
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::{listed, of, percent};

/// Shares that differ by no more are similar.
const SIMILAR: f64 = 0.05;

/// All of them.
pub(super) fn statements(all: &[Measured], ipa: &IpaTable, questions: &Questions) -> Vec<Part> {
    vec![
        Part { name: "statements-strikes", statements: [strikes(ipa), vec![average_issue(all)]].concat() },
        Part { name: "statements-faults", statements: faults(all, ipa, questions) },
        Part { name: "statements-rates", statements: [orders(all, ipa), of_apa(all, ipa)].concat() },
    ]
}

/// A difference of shares, in percentage points.
fn in_points(difference: f64) -> String {
    format!("{:.1} points", 100.0 * difference)
}

fn said(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// Section 6.1, from the paper's own tables: whether they say what its text says.
pub(super) fn strikes(ipa: &IpaTable) -> Vec<Statement> {
    // F events are flips and crashes (Table 2), which Table 3 tells apart.
    let parts = ipa.microbenchmarks.iter().filter_map(|it| {
        let kind = ipa.instructions.iter().find(|kind| kind.name == it.name)?;
        let crashes = kind.rate("crash").map_or(0.0, |rate| rate.0.value) / kind.total;
        Some((it, it.f_bits * (1.0 - crashes), it.f_bits * crashes))
    });
    let parts: Vec<_> = parts.collect();
    let flips: f64 = parts.iter().map(|part| part.1).sum();
    let crashes: f64 = parts.iter().map(|part| part.2).sum();
    let is: f64 = ipa.microbenchmarks.iter().filter_map(|it| it.is_bits).sum();
    let all_crashes: f64 = ipa.microbenchmarks.iter().map(|it| it.hangs_and_crashes).sum();
    let more =
        parts.iter().filter(|(it, flips, _)| it.is_bits.is_some_and(|is| is > *flips)).map(|part| part.0.name.as_str());
    let scopes =
        ipa.manifestations.iter().all(|it| it.scope.as_deref().is_none_or(|scope| matches!(scope, "thread" | "pair")));
    vec![
        said(
            "Hangs and crashes are caused by I bits",
            "\"most\"",
            format!(
                "Tables 2 and 3: F bits crash {crashes:.2}, and {all_crashes:.2} more hang or crash, of bits that the tables do not tell apart"
            ),
            Judged::by("more than half are I bits'", Verdict::Open),
        ),
        said(
            "Hangs and crashes come before the kernel runs, and are of IM bits",
            "\"majority\"",
            "Table 2 does not say when they came".to_owned(),
            Judged::by("more than half do", Verdict::Open),
        ),
        said(
            "Events of F and IS bits are flips in registers",
            "\"majority\"",
            format!("Tables 2 and 3: {:.2} of {:.2}", flips + is, flips + is + crashes),
            Judged::plain("more than half, over all microbenchmarks", flips + is > crashes),
        ),
        said(
            "Flips of registers are attributed to F bits",
            "\"most\"",
            format!("Tables 2 and 3: {flips:.2} of {:.2}; not in {}", flips + is, listed(more)),
            Judged::plain("more than half, over all microbenchmarks", flips > is),
        ),
        said(
            "They corrupt one register in one or two threads",
            "",
            format!("Table 3 has {} manifestations", ipa.manifestations.len()),
            Judged::plain("none of Table 3 is of more than two threads", scopes),
        ),
    ]
}

/// Section 6.2.
pub(super) fn faults(all: &[Measured], ipa: &IpaTable, questions: &Questions) -> Vec<Statement> {
    let paper: Vec<&Measured> = all.iter().filter(|it| it.paper.is_some()).collect();
    let measured = |it: &&Measured| (0..ipa.instructions.len()).map(|at| it.shares.measured(at).0).sum::<f64>();
    let mean = |of: &dyn Fn(&&Measured) -> f64| paper.iter().map(of).sum::<f64>() / paper.len().max(1) as f64;
    let most = paper.iter().map(measured).fold(0.0, f64::max);
    let (types, of_types) = questions.types();
    let (workloads, of_workloads) = questions.workloads();
    let near = |ours: f64, paper: f64| {
        Judged::plain(format!("within {} of the paper's", in_points(SIMILAR)), (ours - paper).abs() <= SIMILAR)
    };
    let more_than_half = |some: usize, all: usize| Judged::plain("more than half", 2 * some > all);
    let (two, random, other) = (&questions.two_bits, &questions.random, &questions.random_or_two);
    let differ = |pairs: &[Compared]| {
        format!(
            "SDC rates differ by {} on average; ends differ beyond chance in {} pairs",
            in_points(mean_difference(pairs)),
            of(questions.differing(pairs), pairs.len())
        )
    };
    vec![
        said(
            "The seven instructions are so many of all, on average",
            "49 %",
            format!("{} of PTX, over the {} workloads of like name", percent(mean(&measured)), paper.len()),
            near(mean(&measured), 0.49),
        ),
        said("They are up to so many", "80 %", percent(most), near(most, 0.8)),
        said(
            "With those that are alike they are so many, on average",
            "80 %",
            percent(mean(&|it| it.composition.covered.0)),
            near(mean(&|it| it.composition.covered.0), 0.8),
        ),
        said(
            "Single and double bit flips have similar outcomes",
            "\"similar\"",
            differ(two),
            Judged::plain(format!("{} on average at most", in_points(SIMILAR)), mean_difference(two) <= SIMILAR),
        ),
        said(
            "Random values often have another distribution of outcomes than single flips",
            "\"often\"",
            differ(random),
            more_than_half(questions.differing(random), random.len()),
        ),
        said(
            "They often have another one than double flips",
            "\"often\"",
            differ(other),
            more_than_half(questions.differing(other), other.len()),
        ),
        said(
            "Propagation depends on the application",
            "\"heavily\"",
            format!(
                "one bit ends otherwise in other workloads, beyond chance in {} types",
                of(workloads, of_workloads)
            ),
            Judged::plain("in every type", workloads == of_workloads),
        ),
        said(
            "Within an application it depends on the type of the instruction",
            "\"heavily\"",
            format!("one bit ends otherwise in other types, beyond chance in {} workloads", of(types, of_types)),
            Judged::plain("in every workload", types == of_types),
        ),
    ]
}

/// Ranks of workloads, `hotspot 2, srad_v2 1`.
fn ranks(found: &[(&Measured, Bounded)], names: &[&str]) -> String {
    let rank = |name: &&str| {
        let at = found.iter().position(|(it, _)| it.name == *name);
        at.map_or_else(|| format!("{name} –"), |at| format!("{name} {}", at + 1))
    };
    format!("{} of {}", names.iter().map(rank).collect::<Vec<_>>().join(", "), found.len())
}

/// Of Table 4: hotspot and srad_v2 are neither high nor low.
fn average_issue(all: &[Measured]) -> Statement {
    let mut by: Vec<(&Measured, Bounded)> = all
        .iter()
        .filter(|it| it.paper.is_some())
        .filter_map(|it| Some((it, Bounded::exact(it.issue[0].as_ref()?.rate))))
        .collect();
    by.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let counts = clear_cases(by.len());
    let place = |name: &str| by.iter().position(|(it, _)| it.name == name);
    let is_between = |count: usize, name: &str| place(name).is_some_and(|at| (count..by.len() - count).contains(&at));
    let average = |count: usize| Verdict::plain(HIGH.iter().all(|name| is_between(count, name)));
    said(
        "hotspot and srad_v2 have average issue rates",
        "\"average\"",
        format!("Table 4: {}, of the programs that are here, too", ranks(&by, &HIGH)),
        Judged::by(
            format!("none among the {} highest or lowest", in_words(&counts)),
            Verdict::same(counts.map(average)),
        ),
    )
}

/// What the paper says of the rates of these programs.
const LOW: [&str; 4] = ["lud", "backprop", "streamcluster", "lulesh"];
const HIGH: [&str; 2] = ["hotspot", "srad_v2"];

/// ρ as a cell says it, with its interval.
fn rho(pairs: &[(f64, f64)]) -> String {
    spearman(pairs).map_or_else(String::new, |it| {
        let bounds = it.bounds(Confidence::PERCENT_95);
        format!("Spearman's ρ {:.2} ({:.2} to {:.2})", it.coefficient, bounds.low, bounds.high)
    })
}

/// What is said in a word that has no number in the paper, so that no number of ours decides it.
fn no_number() -> Judged {
    Judged::by("the paper gives no number", Verdict::Open)
}

/// Section 6.3 about orders, at the paper's issue rates.
fn orders(all: &[Measured], ipa: &IpaTable) -> Vec<Statement> {
    let two: Vec<(&Measured, Bounded)> = ranked(all, 0).into_iter().filter(|(it, _)| it.paper.is_some()).collect();
    let most = *clear_cases(two.len()).end();
    let alike: Vec<&Measured> = two.iter().map(|(it, _)| *it).collect();
    let (worlds, chances) = (MonteCarlo::of_rates(&alike, ipa), MonteCarlo::of_chances(&alike));
    let issue = MonteCarlo::of_issue(&alike);
    let by_two = top(two.iter().map(|(it, two)| (it.name, two.value)).collect());
    let by_apa = top(two.iter().map(|(it, _)| (it.name, it.apa_only().value)).collect());
    let other = by_apa.iter().filter(|name| !by_two.contains(name)).count();
    let issue_of = |it: &Measured| it.issue[0].as_ref().map_or(0.0, |issue| issue.rate);
    let lowest = |of: &dyn Fn(&Measured) -> f64| {
        let mut by: Vec<(&str, f64)> = alike.iter().map(|it| (it.name, of(it))).collect();
        by.sort_by(|a, b| a.1.total_cmp(&b.1));
        let names: Vec<&str> = by.into_iter().take(most).map(|it| it.0).collect();
        format!("the {most} lowest, in this order, are: {}", ranks(&two, &names))
    };
    let with = |of: &dyn Fn(&Measured) -> f64| -> Vec<(f64, f64)> {
        two.iter().map(|(it, two)| (two.value, of(it))).collect()
    };
    let ipa_of = |it: &Measured| it.ipa_only(0).map_or(0.0, |it| it.value);
    let apa_of = |it: &Measured| it.apa_only().value;
    vec![
        said(
            "hotspot and srad_v2 have the highest two-level rates",
            "1 and 2",
            ranks(&two, &HIGH),
            worlds.are_highest(&HIGH),
        ),
        said(
            "lud, backprop, streamcluster and Lulesh have low ones",
            "\"low\"",
            ranks(&two, &LOW),
            worlds.in_half(&LOW, false),
        ),
        said(
            "Of the five highest, APA only names others",
            "2 of 5",
            format!("{other} of 5: {} instead of {}", listed(&by_apa), listed(&by_two)),
            worlds.other_five(&chances),
        ),
        said(
            "A low chance by APA only implies a low two-level rate",
            "\"implies\"",
            lowest(&apa_of),
            worlds.lowest_are_low(&chances),
        ),
        said(
            "A low issue rate implies a low two-level rate",
            "\"implies\"",
            lowest(&issue_of),
            worlds.lowest_are_low(&issue),
        ),
        said(
            "A high issue rate has a high potential for a high two-level rate",
            "\"high potential\"",
            rho(&with(&issue_of)),
            worlds.trend(&issue, true),
        ),
        said(
            "IPA only has significantly other trends than the two-level rates",
            "\"significant\"",
            rho(&with(&ipa_of)),
            no_number(),
        ),
        said(
            "APA only has significantly other trends than the two-level rates",
            "\"significant\"",
            rho(&with(&apa_of)),
            no_number(),
        ),
    ]
}

/// The five highest.
fn top(mut by: Vec<(&'static str, f64)>) -> Vec<&'static str> {
    by.sort_by(|a, b| b.1.total_cmp(&a.1));
    by.into_iter().take(5).map(|it| it.0).collect()
}

/// What is said of either level alone.
fn of_apa(all: &[Measured], ipa: &IpaTable) -> Vec<Statement> {
    let mut by: Vec<(&Measured, Bounded)> =
        all.iter().filter(|it| it.paper.is_some()).map(|it| (it, it.apa_only())).collect();
    by.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let alike: Vec<&Measured> = by.iter().map(|(it, _)| *it).collect();
    let (chances, rates) = (MonteCarlo::of_chances(&alike), MonteCarlo::of_rates(&alike, ipa));
    let excess = MonteCarlo::of_excess(&alike, ipa);
    let above = |it: &Measured| it.composition.ipa_only().0.value > it.composition.sdc().0.value;
    let over = |it: &Measured| Some(it.ipa_only(0)?.value / it.two_level(0)?.value);
    let mut ten: Vec<(&str, f64)> =
        by.iter().filter_map(|(it, _)| Some((it.name, over(it)?))).filter(|it| it.1 > 10.0).collect();
    ten.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ten: Vec<&str> = ten.into_iter().map(|it| it.0).collect();
    let pairs: Vec<(f64, f64)> = by.iter().filter_map(|(it, apa)| Some((apa.value, over(it)?))).collect();
    let highest = by.first();
    let [first, second] = [0, 1].map(|at: usize| by.get(at));
    let ratio = first.zip(second).and_then(|(a, b)| {
        let [a, b] = [a.0.two_level(0)?.value, b.0.two_level(0)?.value];
        Some(a.max(b) / a.min(b))
    });
    let apart = first.zip(second).map_or(0.0, |(a, b)| a.1.value - b.1.value);
    let pair = first.zip(second).map_or_else(String::new, |(a, b)| format!("{} and {}", a.0.name, b.0.name));
    let of_lulesh = by.iter().find(|(it, _)| it.name == "lulesh");
    vec![
        said(
            "IPA only is always above the two-level rate",
            "all",
            of(all.iter().filter(|it| above(it)).count(), all.len()),
            Judged::plain("in every workload, which Equation 1 asks", all.iter().all(above)),
        ),
        said(
            "IPA only is more than ten times the two-level rate in several",
            "6 of 18",
            format!("{}: {}", of(ten.len(), by.len()), listed(&ten)),
            excess.several_above(10.0, 3),
        ),
        said(
            "lud, backprop, streamcluster and Lulesh have low chances by APA only",
            "\"low\"",
            ranks(&by, &LOW),
            chances.in_half(&LOW, false),
        ),
        said(
            "hotspot and srad_v2 have high chances by APA only",
            "\"high\"",
            ranks(&by, &HIGH),
            chances.in_half(&HIGH, true),
        ),
        said(
            "The highest chance by APA only is srad_v2's",
            "43 %",
            highest.map_or_else(String::new, |(it, apa)| format!("{}, {}", it.name, percent(apa.value))),
            chances.are_highest(&["srad_v2"]),
        ),
        said(
            "The two highest by APA only have similar chances, and two-level rates that differ by nearly 1.5 times",
            "1.5",
            format!(
                "{pair}: chances {} apart, rates {}",
                in_points(apart),
                ratio.map_or_else(String::new, |ratio| format!("{ratio:.2} times"))
            ),
            MonteCarlo::two_highest(&chances, &rates, SIMILAR, [1.3, 1.7]),
        ),
        said(
            "Where the chance by APA only is low, IPA only is further above the two-level rate",
            "",
            rho(&pairs),
            excess.trend(&chances, false),
        ),
        said(
            "Only a small percentage of faults propagates to the output of Lulesh",
            "\"small\"",
            of_lulesh.map_or_else(String::new, |(_, apa)| format!("{}, of one bit", percent(apa.value))),
            no_number(),
        ),
        said(
            "CoMD fails more often than Lulesh",
            "",
            ranks(&ranked(all, 0), &["comd", "lulesh"]),
            Judged::by("it does", rates.exceeds("comd", 1.0, "lulesh")),
        ),
    ]
}
