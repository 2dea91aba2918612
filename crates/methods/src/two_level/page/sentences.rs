//! What the page says in words, each sentence a function of what was measured.

use stats::{Bounded, Proportion};

use super::super::ipa::IpaTable;
use super::questions::{LEVEL, Questions};
use super::survey::{Measured, PATTERNS};
use super::tables::ranked;
use super::worlds::{COUNT, SURE, Worlds};
use crate::kit::words::{listed, of, percent, range};
use crate::kit::{Part, Verdict, tally};

/// A target rate, relative to hotspot's, as the example of the paper has it.
const TARGET: f64 = 0.5;

/// The sentences, by the names under which the template asks for them.
pub(super) fn sentences(
    all: &[Measured],
    ipa: &IpaTable,
    questions: &Questions,
    parts: &[Part],
) -> Vec<(&'static str, String)> {
    vec![
        ("say-tally", tally(&parts[1..], "workloads")),
        ("say-own-tables", tally(&parts[..1], "reading of its tables")),
        ("say-tests", tests(questions)),
        ("say-covered", covered(all)),
        ("say-coverage", coverage(all)),
        ("say-host", host(all)),
        ("say-lost", lost(all)),
        ("say-target", target(all, ipa)),
        ("say-patterns", patterns(all)),
        ("say-runs", runs(all)),
    ]
}

fn tests(questions: &Questions) -> String {
    format!(
        "The page makes {} tests; their p-values are corrected together by Holm's procedure, so that the chance of even one false alarm \
         is {} at most. Where rules speak of orders of workloads, they are asked of {} worlds in which strikes are as far off as their errors allow, alike for all \
         workloads, and chances as far as theirs: what is so in {} of them holds, what is so in {} at most does not, all else is undecided. Rules about \
         correlations and distances are asked of the estimates.",
        questions.count(),
        percent(LEVEL),
        study::spaced(COUNT),
        percent(SURE),
        percent(1.0 - SURE)
    )
}

fn covered(all: &[Measured]) -> String {
    let shares: Vec<f64> = all.iter().map(|it| it.composition.covered.0).collect();
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let bounds = (shares.iter().copied().fold(1.0, f64::min), shares.iter().copied().fold(0.0, f64::max));
    let paper: Vec<f64> = all.iter().filter(|it| it.paper.is_some()).map(|it| it.composition.covered.0).collect();
    let of_paper = paper.iter().sum::<f64>() / paper.len().max(1) as f64;
    format!(
        "Of the instructions of the {} workloads, {} have a rate on average ({}); of those that stand for programs of the paper {}, where \
         the paper has 80 %",
        all.len(),
        percent(mean),
        range(bounds),
        percent(of_paper)
    )
}

fn coverage(all: &[Measured]) -> String {
    let rates: Vec<f64> = all.iter().filter_map(|it| it.coverage.rate()).collect();
    let (held, made) = all.iter().fold((0, 0), |(a, b), it| (a + it.coverage.successes(), b + it.coverage.trials()));
    let together = Proportion::from_counts(held, made - held).rate().unwrap_or_default();
    format!(
        "How often they hold is simulated: what was measured is taken for the truth of each workload, and \
         measured anew again and again, strikes with their errors and faults with as many runs. The intervals of the SDC rate held the truth in \
         {} of all these, and in {} by workload",
        percent(together),
        range((rates.iter().copied().fold(1.0, f64::min), rates.iter().copied().fold(0.0, f64::max)))
    )
}

fn host(all: &[Measured]) -> String {
    let runs = |it: &Measured| {
        it.composition.types.iter().flat_map(|kind| &kind.cells).map(|cell| cell.all().runs()).sum::<u64>()
    };
    let mut seen: Vec<(&str, f64)> = all
        .iter()
        .map(|it| (it.name, it.counted.host_visible as f64 / runs(it).max(1) as f64))
        .filter(|(_, share)| *share > 0.0)
        .collect();
    seen.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = seen.iter().map(|(name, share)| format!("{name} {}", percent(*share)));
    format!("Shares of runs in which that is so: {}", listed(named.collect::<Vec<_>>()))
}

fn lost(all: &[Measured]) -> String {
    let lost: u64 = all.iter().map(|it| it.counted.lost).sum();
    if lost == 0 {
        "All runs came to an end that has a class".to_owned()
    } else {
        format!("{lost} runs came to no end that has a class, and count for nothing")
    }
}

fn target(all: &[Measured], ipa: &IpaTable) -> String {
    let found = ranked(all, 0);
    let worlds = Worlds::of_rates(&found.iter().map(|(it, _)| *it).collect::<Vec<_>>(), ipa, 0);
    let names = |verdict: Verdict| {
        let is = |it: &&(&Measured, Bounded)| worlds.exceeds(it.0.name, TARGET, "hotspot") == verdict;
        listed(found.iter().filter(is).map(|(it, _)| it.name).collect::<Vec<_>>())
    };
    format!(
        "At a target of {TARGET} of hotspot's rate, the paper selects hotspot and srad_v2 for protection. Here {} surely exceed it; {} surely \
         do not; what is measured does not tell for {}",
        names(Verdict::Holds),
        names(Verdict::Fails),
        names(Verdict::Open)
    )
}

fn patterns(all: &[Measured]) -> String {
    let sdc = |it: &Measured, at: usize| it.patterns[at].sdc as f64 / it.patterns[at].runs().max(1) as f64;
    let changed = |at: usize| {
        let differences: Vec<f64> = all.iter().map(|it| sdc(it, at) - sdc(it, 0)).collect();
        let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
        let least = differences.iter().copied().fold(f64::INFINITY, f64::min);
        let most = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{}: {:+.1} on average ({:+.1} to {:+.1})", PATTERNS[at].0, 100.0 * mean, 100.0 * least, 100.0 * most)
    };
    let higher = all.iter().filter(|it| sdc(it, 4) > sdc(it, 0)).count();
    format!(
        "Against one bit in one thread, SDC rates change by percentage points as follows. {}. With whole warps and random values the rate is higher in {} \
         workloads",
        (1..PATTERNS.len()).map(changed).collect::<Vec<_>>().join("; "),
        of(higher, all.len())
    )
}

fn runs(all: &[Measured]) -> String {
    let of = |it: &Measured| {
        it.composition.types.iter().flat_map(|kind| &kind.cells).map(|cell| cell.all().runs()).sum::<u64>()
    };
    let total: u64 = all.iter().map(of).sum();
    format!("{} faults in {} workloads", study::spaced(total), all.len())
}
