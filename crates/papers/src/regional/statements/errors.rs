//! By how much elements are off: Fig. 8 to 10.

use super::super::survey::Measured;
use super::super::tables::short;
use super::found::{Found, each, median_error, said, swept};
use crate::statements::{Judged, Statement};
use methods::regional::quartiles;

/// Medians of errors within such a factor are similar: errors go over many powers of ten.
const SIMILAR: [f64; 3] = [3.0, 10.0, 30.0];

/// The median of the medians of a program's regions.
fn overall(it: &Measured) -> f64 {
    let medians = it.of_paper().iter().map(|name| median_error(it.region(name)));
    quartiles(medians.collect()).map_or(f64::NAN, |five| five[2])
}

pub(super) fn statements(found: &Found<'_>) -> Vec<Statement> {
    let error = |program: &str, region: &str| median_error(found.region(program, region));
    let medians =
        |program: &str, names: &[&str]| format!("medians: {}", each(names, |name| short(error(program, name))));
    let similar = |program: &str, names: &[&str]| {
        let all = || names.iter().map(|name| error(program, name));
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        swept("the largest median over the smallest is at most, for each of", &SIMILAR, |factor| most <= factor * least)
    };
    let lowest = |program: &str, name: &str, others: &[&str]| {
        let lower = others.iter().all(|other| error(program, name) < error(program, other));
        Judged::plain("its median is the lowest", lower)
    };
    let (covar, corr) = (["KM", "KR", "KC.1", "KC.2"], ["KM", "KS", "KR", "KC.1", "KC.2"]);
    let fdtd = ["K1.1", "K1.2", "K2", "K3"];
    let arrays: Vec<&Measured> = found.0.iter().filter(|it| !["mm3", "cjp"].contains(&it.name)).collect();
    let gramschm = overall(found.program("gramschm"));
    let by_program: Vec<String> = arrays.iter().map(|it| format!("{} {}", it.paper, short(overall(it)))).collect();
    vec![
        said(
            "ATAX: errors of K2 are larger than those of K1",
            "\"more probable\"",
            medians("atax", &["K1", "K2"]),
            Judged::plain("their median is larger", error("atax", "K2") > error("atax", "K1")),
        ),
        said(
            "BICG: both kernels have similar errors",
            "\"similar\"",
            medians("bicg", &["K1.2", "K2.2"]),
            similar("bicg", &["K1.2", "K2.2"]),
        ),
        said(
            "COVAR: the errors of KR are the lowest",
            "",
            medians("covar", &covar),
            lowest("covar", "KR", &["KM", "KC.1", "KC.2"]),
        ),
        said(
            "COVAR: those of the others do not differ significantly",
            "",
            medians("covar", &["KM", "KC.1", "KC.2"]),
            similar("covar", &["KM", "KC.1", "KC.2"]),
        ),
        said(
            "CORR: the errors of KR are the lowest, as in COVAR",
            "\"similar\"",
            medians("corr", &corr),
            lowest("corr", "KR", &["KM", "KS", "KC.1", "KC.2"]),
        ),
        said(
            "FDTD-2D: errors do not differ significantly between kernels",
            "",
            medians("fdtd2d", &fdtd),
            similar("fdtd2d", &fdtd),
        ),
        said(
            "Errors are larger in the last kernel, in ATAX, COVAR and CORR",
            "\"trend\"",
            format!("{}; {}; {}", medians("atax", &["K1", "K2"]), medians("covar", &covar), medians("corr", &corr)),
            Judged::plain("each region of the last kernel is above each before it, in median", {
                let above = |program: &str, last: &[&str], before: &[&str]| {
                    last.iter().all(|last| before.iter().all(|it| error(program, last) > error(program, it)))
                };
                above("atax", &["K2"], &["K1"])
                    && above("covar", &["KC.1", "KC.2"], &["KM", "KR"])
                    && above("corr", &["KC.1", "KC.2"], &["KM", "KS", "KR"])
            }),
        ),
        said(
            "GRAMSCHM: errors are smaller than in the other programs",
            "\"smaller\"",
            format!("medians of the medians of regions: {}", by_program.join(", ")),
            Judged::plain(
                "its is the lowest of the six",
                arrays.iter().filter(|it| it.name != "gramschm").all(|it| gramschm < overall(it)),
            ),
        ),
    ]
}
