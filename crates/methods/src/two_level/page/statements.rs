//! What the paper says in its Section 6, each with our numbers and a verdict.

use stats::{Bounded, spearman};

use super::super::ipa::IpaTable;
use super::questions::{Compared, Questions, mean_difference};
use super::survey::Measured;
use super::tables::ranked;
use super::worlds::Worlds;
use crate::kit::words::{listed, of, percent};
use crate::kit::{Judged, Part, Statement, Verdict};

/// Shares that differ by no more are similar.
const SIMILAR: f64 = 0.05;

/// All of them.
pub(super) fn statements(all: &[Measured], ipa: &IpaTable, questions: &Questions) -> Vec<Part> {
    vec![
        Part { name: "statements-strikes", statements: strikes(ipa) },
        Part { name: "statements-faults", statements: faults(all, ipa, questions) },
        Part { name: "statements-rates", statements: rates(all, ipa) },
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
fn strikes(ipa: &IpaTable) -> Vec<Statement> {
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
fn faults(all: &[Measured], ipa: &IpaTable, questions: &Questions) -> Vec<Statement> {
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

/// Section 6.3, at the paper's issue rates and at those of an H200.
fn rates(all: &[Measured], ipa: &IpaTable) -> Vec<Statement> {
    let low = ["lud", "backprop", "streamcluster", "lulesh"];
    let high = ["hotspot", "srad_v2"];
    let mut found = Vec::new();
    for (at, issue) in [(0, "K40's issue rates"), (1, "H200's issue rates")] {
        // Of the same workloads, whichever have another issue rate.
        let two: Vec<(&Measured, Bounded)> = ranked(all, at).into_iter().filter(|(it, _)| it.paper.is_some()).collect();
        let third = two.len().div_ceil(3);
        let alike: Vec<&Measured> = two.iter().map(|(it, _)| *it).collect();
        let (worlds, chances) = (Worlds::of_rates(&alike, ipa, at), Worlds::of_chances(&alike));
        found.push(said(
            &format!("hotspot and srad_v2 have the highest two-level rates ({issue})"),
            "1 and 2",
            ranks(&two, &high),
            worlds.among(&high, third, true),
        ));
        found.push(said(
            &format!("lud, backprop, streamcluster and Lulesh have low ones ({issue})"),
            "\"low\"",
            ranks(&two, &low),
            worlds.among(&low, third, false),
        ));
        let by_two = top(two.iter().map(|(it, two)| (it.name, two.value)).collect());
        let by_apa = top(two.iter().map(|(it, _)| (it.name, it.apa_only().value)).collect());
        let other = by_apa.iter().filter(|name| !by_two.contains(name)).count();
        found.push(said(
            &format!("Of the five highest, APA only names others ({issue})"),
            "2 of 5",
            format!("{} of 5: {} instead of {}", other, listed(&by_apa), listed(&by_two)),
            worlds.other_five(&chances),
        ));
        let lowest = |of: &dyn Fn(&Measured) -> f64| {
            let mut by: Vec<(&str, f64)> = alike.iter().map(|it| (it.name, of(it))).collect();
            by.sort_by(|a, b| a.1.total_cmp(&b.1));
            let names: Vec<&str> = by.into_iter().take(third).map(|it| it.0).collect();
            ranks(&two, &names)
        };
        found.push(said(
            &format!("A low chance by APA only implies a low two-level rate ({issue})"),
            "\"implies\"",
            format!("the {third} lowest are: {}", lowest(&|it| it.apa_only().value)),
            worlds.lowest_are(&chances),
        ));
        found.push(said(
            &format!("A low issue rate implies a low two-level rate ({issue})"),
            "\"implies\"",
            format!("the {third} lowest are: {}", lowest(&|it| it.issue[at].as_ref().map_or(0.0, |issue| issue.rate))),
            worlds.lowest_are(&Worlds::of_issue(&alike, at)),
        ));
        for (other, of) in [
            (
                "IPA",
                (|it: &Measured, at: usize| it.ipa_only(at).map(|it| it.value)) as fn(&Measured, usize) -> Option<f64>,
            ),
            ("APA", |it, _| Some(it.apa_only().value)),
        ] {
            let pairs: Vec<(f64, f64)> = two.iter().filter_map(|(it, two)| Some((two.value, of(it, at)?))).collect();
            let trend = spearman(&pairs).map(|it| it.coefficient);
            found.push(said(
                &format!("{other} only has significantly other trends than the two-level rates ({issue})"),
                "\"significant\"",
                trend.map_or_else(String::new, |it| format!("Spearman's ρ {it:.2}")),
                Judged::plain("ρ below 0.5", trend.is_some_and(|it| it < 0.5)),
            ));
        }
    }
    found.extend(of_apa(all, ipa, &low));
    found
}

/// The five highest.
fn top(mut by: Vec<(&'static str, f64)>) -> Vec<&'static str> {
    by.sort_by(|a, b| b.1.total_cmp(&a.1));
    by.into_iter().take(5).map(|it| it.0).collect()
}

/// What is said of APA only.
fn of_apa(all: &[Measured], ipa: &IpaTable, low: &[&str]) -> Vec<Statement> {
    let mut by: Vec<(&Measured, Bounded)> =
        all.iter().filter(|it| it.paper.is_some()).map(|it| (it, it.apa_only())).collect();
    by.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let third = by.len().div_ceil(3);
    let chances = Worlds::of_chances(&by.iter().map(|(it, _)| *it).collect::<Vec<_>>());
    let rates = Worlds::of_rates(&by.iter().map(|(it, _)| *it).collect::<Vec<_>>(), ipa, 0);
    let mut by_issue: Vec<(&Measured, Bounded)> =
        by.iter().filter_map(|(it, _)| Some((*it, Bounded::exact(it.issue[0].as_ref()?.rate)))).collect();
    by_issue.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let above = |it: &Measured| it.composition.ipa_only().0.value > it.composition.sdc().0.value;
    let over = |it: &Measured| Some(it.ipa_only(0)?.value / it.two_level(0)?.value);
    let mut ten: Vec<(&str, f64)> =
        by.iter().filter_map(|(it, _)| Some((it.name, over(it)?))).filter(|it| it.1 > 10.0).collect();
    ten.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ten: Vec<&str> = ten.into_iter().map(|it| it.0).collect();
    let pairs: Vec<(f64, f64)> = by
        .iter()
        .filter_map(|(it, apa)| Some((apa.value, it.ipa_only(0)?.value / it.two_level(0)?.value)))
        .filter(|pair| pair.1.is_finite())
        .collect();
    let trend = spearman(&pairs);
    let highest = by.first();
    let [first, second] = [0, 1].map(|at: usize| by.get(at));
    let ratio = first.zip(second).and_then(|(a, b)| {
        let [a, b] = [a.0.two_level(0)?.value, b.0.two_level(0)?.value];
        Some(a.max(b) / a.min(b))
    });
    let apart = first.zip(second).map_or(0.0, |(a, b)| a.1.value - b.1.value);
    let pair = first.zip(second).map_or_else(String::new, |(a, b)| format!("{} and {}", a.0.name, b.0.name));
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
            Worlds::of_excess(&by.iter().map(|(it, _)| *it).collect::<Vec<_>>(), ipa).several_above(10.0, 3),
        ),
        said(
            "lud, backprop, streamcluster and Lulesh have low chances by APA only",
            "\"low\"",
            ranks(&by, low),
            chances.among(low, third, false),
        ),
        said(
            "hotspot and srad_v2 have high chances by APA only",
            "\"high\"",
            ranks(&by, &["hotspot", "srad_v2"]),
            chances.among(&["hotspot", "srad_v2"], third, true),
        ),
        said(
            "They have average issue rates (the paper's Table 4)",
            "\"average\"",
            format!("{}, of the programs that are here, too", ranks(&by_issue, &["hotspot", "srad_v2"])),
            Judged::plain(
                "in the middle third of Table 4",
                ["hotspot", "srad_v2"].iter().all(|name| {
                    by_issue
                        .iter()
                        .position(|(it, _)| it.name == *name)
                        .is_some_and(|at| (third..2 * third).contains(&at))
                }),
            ),
        ),
        said(
            "The highest chance by APA only is srad_v2's",
            "43 %",
            highest.map_or_else(String::new, |(it, apa)| format!("{}, {}", it.name, percent(apa.value))),
            chances.among(&["srad_v2"], 1, true),
        ),
        said(
            "The two highest by APA only have similar chances, and two-level rates that differ by nearly 1.5 times (K40's issue rates)",
            "1.5",
            format!(
                "{pair}: chances {} apart, rates {}",
                in_points(apart),
                ratio.map_or_else(String::new, |ratio| format!("{ratio:.2} times"))
            ),
            Judged::plain(
                format!("chances within {}, rates by 1.3 to 1.7 times", in_points(SIMILAR)),
                apart <= SIMILAR && ratio.is_some_and(|ratio| (1.3..=1.7).contains(&ratio)),
            ),
        ),
        said(
            "Where the chance by APA only is low, IPA only is further above the two-level rate",
            "",
            trend.map_or_else(String::new, |it| format!("Spearman's ρ {:.2}", it.coefficient)),
            Judged::plain("ρ below -0.5", trend.is_some_and(|it| it.coefficient < -0.5)),
        ),
        said(
            "CoMD fails more often than Lulesh (K40's issue rates)",
            "",
            ranks(&ranked(all, 0), &["comd", "lulesh"]),
            Judged::by("it does", rates.exceeds("comd", 1.0, "lulesh")),
        ),
    ]
}
