//! What the paper says in its Section 6, each with our numbers and a verdict.

use stats::{Bounded, spearman};

use super::super::ipa::IpaTable;
use super::questions::{Questions, mean_difference};
use super::survey::Measured;
use super::tables::ranked;
use super::worlds::Worlds;
use crate::kit::words::{listed, of, percent};
use crate::kit::{Judged, Part, Statement};

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

fn said(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// Section 6.1, from the paper's own tables.
fn strikes(ipa: &IpaTable) -> Vec<Statement> {
    let sum = |of: &dyn Fn(&super::super::ipa::Microbenchmark) -> f64| ipa.microbenchmarks.iter().map(of).sum::<f64>();
    let (flips, is) = (sum(&|it| it.f_bits), sum(&|it| it.is_bits.unwrap_or(0.0)));
    let more = ipa.microbenchmarks.iter().filter(|it| it.is_bits.is_some_and(|is| is > it.f_bits));
    let crashes = sum(&|it| it.hangs_and_crashes);
    let threads =
        |it: &super::super::ipa::InstructionType| it.rate("3+ bits, 2 threads").map_or(0.0, |rate| rate.0.value);
    let single: f64 = ipa.instructions.iter().map(|it| it.total - threads(it)).sum();
    let total: f64 = ipa.instructions.iter().map(|it| it.total).sum();
    vec![
        said(
            "Manifestations that flip bits of registers are attributed to F bits",
            "\"most\"",
            format!("its Table 2: {flips:.2} of {:.2}; not in {}", flips + is, listed(more.map(|it| it.name.as_str()))),
            Judged::plain("more than half, over all microbenchmarks", flips > is),
        ),
        said(
            "They corrupt one register in one or two threads; a simple model is enough",
            "",
            format!("its Table 3: {} of all rates are of one thread, the rest of two", percent(single / total)),
            Judged::plain(
                "no manifestation of Table 3 is of more than two threads",
                ipa.manifestations
                    .iter()
                    .all(|it| it.scope.as_deref().is_none_or(|scope| matches!(scope, "thread" | "pair"))),
            ),
        ),
        said(
            "Events are hangs and crashes more often than flips",
            "",
            format!("its Table 2: {crashes:.2} to {:.2}", flips + is),
            Judged::plain("more than half, over all microbenchmarks", crashes > flips + is),
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
        Judged::plain(format!("within {} of the paper's", percent(SIMILAR)), (ours - paper).abs() <= SIMILAR)
    };
    let more_than_half = |some: usize, all: usize| Judged::plain("more than half", 2 * some > all);
    let (two, random) = (&questions.two_bits, &questions.random);
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
            format!(
                "SDC rates differ by {} on average, beyond chance in {} pairs",
                percent(mean_difference(two)),
                of(questions.differing(two), two.len())
            ),
            Judged::plain(format!("{} on average at most", percent(SIMILAR)), mean_difference(two) <= SIMILAR),
        ),
        said(
            "Random values often have another distribution of outcomes",
            "\"often\"",
            format!(
                "SDC rates differ by {} on average, beyond chance in {} pairs",
                percent(mean_difference(random)),
                of(questions.differing(random), random.len())
            ),
            more_than_half(questions.differing(random), random.len()),
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
        let two = ranked(all, at);
        let third = two.len().div_ceil(3);
        let worlds = Worlds::of_rates(all, ipa, at);
        let over: Vec<f64> = two.iter().filter_map(|(it, two)| Some(it.ipa_only(at)?.value / two.value)).collect();
        let above = over.iter().filter(|over| **over > 1.0).count();
        let ten = two.iter().filter(|(it, two)| it.ipa_only(at).is_some_and(|ipa| ipa.value > 10.0 * two.value));
        let ten: Vec<&str> = ten.map(|(it, _)| it.name).collect();
        found.push(said(
            &format!("IPA only is always higher ({issue})"),
            "all",
            of(above, two.len()),
            Judged::plain("in every workload", above == two.len()),
        ));
        found.push(said(
            &format!("It is more than ten times higher in several ({issue})"),
            "6 of 18",
            format!("{}: {}", of(ten.len(), two.len()), listed(&ten)),
            Judged::plain("in at least three", ten.len() >= 3),
        ));
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
            Judged::plain("at least one", other > 0),
        ));
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
    let chances = Worlds::of_chances(all);
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
    let pair = first.zip(second).map_or_else(String::new, |(a, b)| format!("{} and {}", a.0.name, b.0.name));
    vec![
        said(
            "lud, backprop, streamcluster and Lulesh have low chances by APA only",
            "\"low\"",
            ranks(&by, low),
            chances.among(low, third, false),
        ),
        said(
            "The highest chance by APA only is srad_v2's",
            "43 %",
            highest.map_or_else(String::new, |(it, apa)| format!("{}, {}", it.name, percent(apa.value))),
            chances.among(&["srad_v2"], 1, true),
        ),
        said(
            "The two highest by APA only have similar chances, and two-level rates that differ by 1.5 times",
            "1.5",
            format!("{pair}: {}", ratio.map_or_else(String::new, |ratio| format!("{ratio:.2} times"))),
            Judged::plain("by 1.5 times or more", ratio.is_some_and(|ratio| ratio >= 1.5)),
        ),
        said(
            "Where the chance by APA only is low, IPA only is further above the two-level rate",
            "",
            trend.map_or_else(String::new, |it| format!("Spearman's ρ {:.2}, p {:.2e}", it.coefficient, it.p)),
            Judged::plain("ρ below 0 with p below 0.05", trend.is_some_and(|it| it.coefficient < 0.0 && it.p < 0.05)),
        ),
        said(
            "CoMD fails more often than Lulesh",
            "",
            ranks(&ranked(all, 0), &["comd", "lulesh"]),
            Judged::by("it does", Worlds::of_rates(all, ipa, 0).exceeds("comd", 1.0, "lulesh")),
        ),
    ]
}
