//! What the page says in words, each sentence a function of what was measured.

use methods::two_level::{IpaTable, RatePerInstruction, exceeds_target};
use stats::{Bounded, Confidence, poisson};

use super::monte_carlo::{COUNT, SURE};
use super::questions::{LEVEL, Questions};
use super::survey::{Coverage, Measured, PATTERNS};
use super::tables::ranked;
use crate::statements::{Part, Verdict, tally};
use crate::words::{listed, of, percent, range};

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
        ("say-tally", tally(&parts[1..3], "workloads")),
        ("say-own-tables", own_tables(&parts[0])),
        ("say-events", events(ipa)),
        ("say-unseen", unseen(all)),
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
         workloads, and chances as far as theirs: what is so in {} of them holds, what is so in {} at most does not, all else is undecided. Low and high \
         are the lower and the upper half of the workloads that the paper has, too; highest are as many as the statement names; that one thing implies another is \
         asked of its clear cases, from the lowest quarter to the lowest third, rounded up, and is undecided where these differ.",
        questions.count(),
        percent(LEVEL),
        study::spaced(COUNT),
        percent(SURE),
        percent(1.0 - SURE)
    )
}

/// How many statements of a part come out how: yes, no, undecided.
fn verdicts(part: &Part) -> [usize; 3] {
    [Verdict::Holds, Verdict::Fails, Verdict::Open]
        .map(|verdict| part.statements.iter().filter(|it| it.judged.verdict == verdict).count())
}

fn own_tables(part: &Part) -> String {
    let [holds, fails, open] = verdicts(part);
    format!(
        "of {} statements that its tables could decide, they bear {holds} out, not {fails}, and leave {open} open",
        holds + fails + open
    )
}

fn events(ipa: &IpaTable) -> String {
    let all: u64 = ipa.microbenchmarks.iter().filter_map(|it| it.events).sum();
    let of_f: u64 = ipa
        .instructions
        .iter()
        .flat_map(|kind| ipa.manifestations.iter().filter_map(|how| kind.events(&how.name)))
        .sum();
    format!("{of_f} of these {all} events are of F bits")
}

/// How much wider rates are because what no event showed is possible.
fn unseen(all: &[Measured]) -> String {
    let most = poisson(0, Confidence::PERCENT_95).high;
    let wider = |it: &Measured| {
        let mut seen = it.composition.clone();
        for cell in seen.types.iter_mut().flat_map(|kind| &mut kind.cells).filter(|cell| cell.rate.0.value == 0.0) {
            cell.rate = RatePerInstruction::NEVER;
        }
        it.composition.sdc().0.high / seen.sdc().0.high
    };
    let paper: Vec<f64> = all.iter().filter(|it| it.paper.is_some()).map(wider).collect();
    let (least, largest) =
        (paper.iter().copied().fold(f64::INFINITY, f64::min), paper.iter().copied().fold(0.0, f64::max));
    format!(
        "A manifestation that was not seen has the rate 0 and, as `beamline events` writes it into a table of one's own, the upper bound of no event, \
         {most:.1} events; this makes the upper bounds of the paper's workloads {least:.2} to {largest:.2} times as high as if it were impossible"
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
    let rates: Vec<f64> = all.iter().map(|it| it.coverage.held() as f64 / it.coverage.worlds as f64).collect();
    let (held, made) = all.iter().fold((0, 0), |(a, b), it| (a + it.coverage.held(), b + it.coverage.worlds));
    let together = held as f64 / made.max(1) as f64;
    let sides = |of: fn(&Coverage) -> u64| {
        let side = |it: &Measured| of(&it.coverage) as f64 / it.coverage.worlds as f64;
        let shares: Vec<f64> = all.iter().map(side).collect();
        range((shares.iter().copied().fold(1.0, f64::min), shares.iter().copied().fold(0.0, f64::max)))
    };
    format!(
        "How often they hold is simulated: what was measured is taken for the truth of each workload, and \
         measured anew again and again, strikes with their errors and faults with as many runs. The intervals of the SDC rate held the truth in \
         {} of all these, and in {} by workload; the truth was below them in {}, and above in {}, where 2.5 % either side are asked for",
        percent(together),
        range((rates.iter().copied().fold(1.0, f64::min), rates.iter().copied().fold(0.0, f64::max))),
        sides(|it| it.below),
        sides(|it| it.above),
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
    format!("{} of the runs", listed(named.collect::<Vec<_>>()))
}

fn lost(all: &[Measured]) -> String {
    let lost: u64 = all.iter().map(|it| it.counted.lost).sum();
    if lost == 0 {
        "All runs came to an end that has a class".to_owned()
    } else {
        format!("{lost} runs came to no end that has a class, and count for nothing")
    }
}

/// What `beamline fit --target` says of each workload, by the same rule.
fn target(all: &[Measured], ipa: &IpaTable) -> String {
    let found = ranked(all, 0);
    let target = found.iter().find(|(it, _)| it.name == "hotspot").map_or(0.0, |(_, rate)| TARGET * rate.value);
    let names = |exceeds: Option<bool>| {
        let is = |it: &&(&Measured, Bounded)| exceeds_target(it.1, target) == exceeds;
        listed(found.iter().filter(is).map(|(it, _)| it.name).collect::<Vec<_>>())
    };
    format!(
        "At a target of {TARGET} of hotspot's rate, the paper selects hotspot and srad_v2 for protection. Here that is {target:.4} ({}), which {} surely \
         exceed; {} surely do not; what is measured does not tell for {}. Strikes have large errors, which all workloads share: `beamline fit NAME --issue K40 --target {target:.4}` \
         gives the same answers",
        ipa.unit().words(),
        names(Some(true)),
        names(Some(false)),
        names(None)
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
