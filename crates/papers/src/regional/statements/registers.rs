//! Graph colouring, and registers: Fig. 11 and 12; and what the paper observes of all programs.

use methods::regional::RegionTally;
use stats::{holm, homogeneity};

use super::super::survey::Measured;
use super::super::tables::{NEXT_PHASE, single_errors};
use super::found::{Found, said};
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{of, percent, range};

/// The chance of even one false alarm among the tests of the page, at most.
const LEVEL: f64 = 0.05;

/// The regions of graph colouring in which the paper has no SDC.
const MIDDLE: [&str; 4] = ["R7", "R8", "R9", "R10"];

fn rate(it: &RegionTally) -> f64 {
    it.sdc as f64 / it.runs().max(1) as f64
}

fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0), |(least, most), &it| (least.min(it), most.max(it)))
}

/// Programs whose regions differ in how faults end, beyond chance.
pub(super) fn differing(all: &[Measured]) -> (usize, usize) {
    let p = |it: &Measured| {
        let counts: Vec<[u64; 3]> = it
            .of_paper()
            .iter()
            .map(|name| it.region(name))
            .map(|region| [region.masked, region.sdc, region.due])
            .collect();
        let rows: Vec<&[u64]> = counts.iter().map(|row| &row[..]).collect();
        homogeneity(&rows).map_or(1.0, |found| found.test.p)
    };
    let corrected = holm(&all.iter().map(p).collect::<Vec<_>>());
    (corrected.iter().filter(|&&p| p < LEVEL).count(), corrected.len())
}

pub(super) fn statements(found: &Found<'_>) -> Vec<Statement> {
    let cjp = found.program("cjp");
    let among = |at: usize, name: &str| cjp.build.registers[at].region(name);
    let names: Vec<&str> = cjp.of_paper().iter().map(String::as_str).collect();
    let (middle, outer): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| MIDDLE.contains(name));
    let rates = |names: &[&str]| ends(&names.iter().map(|name| rate(among(0, name))).collect::<Vec<_>>());
    let (of_middle, of_outer) = (rates(&middle), rates(&outer));
    let exact = ends(&middle.iter().map(|name| rate(cjp.region(name))).collect::<Vec<_>>());
    let fewer = names.iter().filter(|name| rate(among(1, name)) < rate(among(0, name))).count();
    let mut errors = RegionTally::default();
    for name in &names {
        errors.errors.extend(&among(0, name).errors);
    }
    let values = single_errors(&errors);
    let next_phase = values.iter().find(|(error, _)| *error == NEXT_PHASE).map_or(0, |it| it.1) as usize;
    let first = values.first().copied().unwrap_or_default();
    let (differ, programs) = differing(found.0);
    vec![
        said(
            "CJP: SDCs are more frequent in R1–R6 and R11–R19 than in R7–R10",
            "up to 37 of 1000",
            format!("one of 64 registers: {} against {}", range(of_outer), range(of_middle)),
            Judged::plain("each of the first is above each of the others", of_outer.0 > of_middle.1),
        ),
        said(
            "CJP: faults in R7–R10 do not affect the result",
            "0 of 1000",
            format!("one of 64 registers: {}; destinations: {}", range(of_middle), range(exact)),
            Judged::plain("no SDC", of_middle.1 == 0.0),
        ),
        said(
            "CJP: with one of 128 registers there are fewer SDCs than with one of 64",
            "\"fewer\"",
            format!("fewer in {} regions", of(fewer, names.len())),
            Judged::plain("in every region", fewer == names.len()),
        ),
        said(
            "CJP: SDCs are off by as much as the next phase's first colour is",
            "\"most\": 239 = 257 − 18",
            format!(
                "by {NEXT_PHASE} = 257 − 14 in {} of {}; most frequent is {}, in {}",
                next_phase,
                errors.errors.len(),
                first.0,
                percent(first.1 as f64 / errors.errors.len().max(1) as f64)
            ),
            Judged::plain("more than half are", 2 * next_phase > errors.errors.len()),
        ),
        said(
            "CJP: SDCs have few different errors",
            "4",
            values.len().to_string(),
            Judged::plain("as many as the paper's at most", values.len() <= 4),
        ),
        said(
            "Observation 1: regions differ in their vulnerability, between kernels and within one",
            "",
            format!("ends differ beyond chance in {} programs", of(differ, programs)),
            Judged::plain("in every program", differ == programs),
        ),
        said(
            "Observation 3: with fewer threads that use the registers, corruption is more probable",
            "",
            "the register file of a multiprocessor is no target of these campaigns".to_owned(),
            Judged::by("strikes at the whole register file are compared", Verdict::Open),
        ),
    ]
}
