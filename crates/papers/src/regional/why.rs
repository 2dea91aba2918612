//! Why statements of the paper do not hold: of each, the numbers that tell.

use methods::regional::RegionTally;
use study::{Cell, Table, spaced};

use super::statements::{Found, each, median, median_error, share, spread};
use super::survey::{Measured, Struck, last_step};
use super::tables::{NEXT_PHASE, short, single_errors};
use crate::statements::{Part, Verdict};
use crate::words::{of, percent};

/// Why a statement fails, if it does: the beginning of its claim, and what our numbers say.
type Reason = (&'static str, fn(&Found<'_>) -> String);

const REASONS: [Reason; 17] = [
    ("ATAX: SDCs of K1 corrupt all", atax),
    ("BICG: SDCs of the initialisations", bicg),
    ("COVAR: the number of elements varies less", covar_spread),
    ("COVAR: KR corrupts fewer", covar_fewer),
    ("CORR: KR and the KC are more diverse", corr_spread),
    ("FDTD-2D: SDCs of K1.1", fdtd),
    ("FDTD-2D: these corrupt one or four", fdtd_four),
    ("GRAMSCHM: of these K3.3", gramschm),
    ("3MM: a corrupted index", mm3),
    ("COVAR: the errors of KR", |found| errors(found, "covar", &["KM", "KR", "KC.1", "KC.2"])),
    ("COVAR: those of the others", |found| errors(found, "covar", &["KM", "KC.1", "KC.2"])),
    ("CORR: the errors of KR", |found| errors(found, "corr", &["KM", "KS", "KR", "KC.1", "KC.2"])),
    ("Errors are larger in the last kernel", last_kernel),
    ("CJP: SDCs are more frequent", cjp_order),
    ("CJP: faults in R7–R10", cjp_middle),
    ("CJP: SDCs are off by", cjp_next),
    ("CJP: SDCs have few", cjp_few),
];

/// A row for each statement that fails.
pub(super) fn reasons(parts: &[Part], all: &[Measured]) -> Table {
    let mut table = Table::new("reasons", &["what does not hold", "what our numbers say of it"]);
    for it in parts.iter().flat_map(|part| &part.statements).filter(|it| it.judged.verdict == Verdict::Fails) {
        let reason = REASONS.iter().find(|(claim, _)| it.claim.starts_with(claim));
        table.rows.push(vec![Cell::text(&it.claim), reason.map_or(Cell::None, |(_, of)| Cell::Text(of(&Found(all))))]);
    }
    table
}

/// `floats 97.0 %, integers 12.0 %`, of those of which there are some.
fn by_struck(found: &Found<'_>, program: &str, region: &str, number: impl Fn(&RegionTally) -> String) -> String {
    let kinds = [(Struck::Float, "floats"), (Struck::Integer, "integers"), (Struck::Predicate, "predicates")];
    let told = kinds.into_iter().filter_map(|(struck, name)| {
        let it = found.program(program).struck(region, struck);
        (!it.corrupted.is_empty()).then(|| format!("{name} {}", number(it)))
    });
    told.collect::<Vec<_>>().join(", ")
}

fn atax(found: &Found<'_>) -> String {
    let all = found.region("atax", "K1").elements;
    let whole = |it: &RegionTally| percent(share(it, |elements| elements == all));
    let debug = found.program("atax").in_debug_build();
    format!(
        "SDCs that corrupt all {all}, by what was struck: {}; in the debug build {}. A small difference of tmp is rounded away in some sums.",
        by_struck(found, "atax", "K1", whole),
        whole(debug.region("K1"))
    )
}

fn bicg(found: &Found<'_>) -> String {
    let one = |it: &RegionTally| percent(share(it, |elements| elements == 1));
    format!(
        "SDCs that corrupt one element, by what was struck: K1.1 {}; K2.1 {}. A wrong address leaves one element as it was, and changes another.",
        by_struck(found, "bicg", "K1.1", one),
        by_struck(found, "bicg", "K2.1", one)
    )
}

/// Standard deviations by what was struck, of some regions.
fn spreads(found: &Found<'_>, program: &str, names: &[&str]) -> String {
    let of = |name: &str| by_struck(found, program, name, |it| format!("{:.1}", spread(it)));
    names.iter().map(|name| format!("{name} {}", of(name))).collect::<Vec<_>>().join("; ")
}

fn covar_spread(found: &Found<'_>) -> String {
    format!(
        "Standard deviations by what was struck: {}. A wrong sum in KC.1 corrupts an element and its mirror image, two in any case; KM corrupts a row and a column, \
         of which small differences leave some as they were.",
        spreads(found, "covar", &["KM", "KR", "KC.1", "KC.2"])
    )
}

fn covar_fewer(found: &Found<'_>) -> String {
    let middle = |name: &str| by_struck(found, "covar", name, |it| median(it).to_string());
    let size = (found.region("covar", "KM").elements as f64).sqrt().round();
    format!(
        "Medians by what was struck: KM {}; KR {}. Both corrupt a row and a column, {} elements at most for one index; a mean that is off by little leaves some of them as they were.",
        middle("KM"),
        middle("KR"),
        2.0 * size - 1.0
    )
}

fn corr_spread(found: &Found<'_>) -> String {
    format!(
        "Standard deviations by what was struck: {}. KC.1 corrupts an element and its mirror image, two in any case.",
        spreads(found, "corr", &["KM", "KS", "KR", "KC.1", "KC.2"])
    )
}

/// The shares of some numbers of elements in the last step.
fn last(found: &Found<'_>, region: &str, elements: u64) -> String {
    percent(share(found.region("fdtd2d", &last_step(region)), |it| it == elements))
}

fn fdtd(found: &Found<'_>) -> String {
    let debug = found.program("fdtd2d").in_debug_build();
    let two = share(debug.region(&last_step("K1.1")), |it| it == 2);
    format!(
        "The line writes row 0 of ey, which one element of hz reads, by the paper's own listing; K1.2, which writes the other rows, corrupts two in {}. In the debug build K1.1 does in {}.",
        last(found, "K1.2", 2),
        percent(two)
    )
}

fn fdtd_four(found: &Found<'_>) -> String {
    format!(
        "An index that is struck corrupts two elements of row 0, of which each reaches one of hz; with K1.2 and K2, where each reaches two, four come in {} and {}.",
        last(found, "K1.2", 4),
        last(found, "K2", 4)
    )
}

fn gramschm(found: &Found<'_>) -> String {
    let names = ["K3.1", "K3.2", "K3.3"];
    let middle = |name: &&str| format!("{name} {}", by_struck(found, "gramschm", name, |it| median(it).to_string()));
    let medians: Vec<String> = names.iter().map(middle).collect();
    let small = each(&names, |name| percent(share(found.region("gramschm", name), |it| it == 1)));
    format!(
        "Medians by what was struck: {}. One element alone is corrupted in: {small}; columns that follow carry the others on.",
        medians.join("; ")
    )
}

fn mm3(found: &Found<'_>) -> String {
    let program = found.program("mm3");
    let integers = program.struck("K1", Struck::Integer).runs() + program.struck("K1", Struck::Predicate).runs();
    let debug = [program.in_debug_build()];
    let debug = Found(&debug);
    let two = debug.followed("mm3", "K1").filter(|it| it.run.completed);
    let variable = found.variable("mm3", "G");
    let extents: Vec<_> = two.filter_map(|it| Some(it.run.ends.get(&variable)?.last.as_ref()?.extent)).collect();
    format!(
        "{} of {} faults in the line strike an integer: an address that moves with the loop. The debug build computes row and column in the line, too: two rows are corrupted \
         by {} of its faults that reach G.",
        spaced(integers),
        spaced(found.region("mm3", "K1").runs()),
        of(extents.iter().filter(|it| it.rows == 2).count(), extents.len())
    )
}

/// Medians of errors, by what was struck.
fn errors(found: &Found<'_>, program: &str, names: &[&str]) -> String {
    let of = |name: &str| by_struck(found, program, name, |it| short(median_error(it)));
    let told: Vec<String> = names.iter().map(|name| format!("{name} {}", of(name))).collect();
    format!("Medians by what was struck: {}.", told.join("; "))
}

fn last_kernel(found: &Found<'_>) -> String {
    format!(
        "COVAR: {} CORR: {} A sum that is struck is off by any power of two; what is struck in the outer loop is an index, which puts right numbers in wrong places.",
        errors(found, "covar", &["KM", "KR", "KC.1", "KC.2"]),
        errors(found, "corr", &["KM", "KS", "KR", "KC.1", "KC.2"])
    )
}

/// The rates of SDC of regions of graph colouring, in one of 64 registers, from the least.
fn cjp_rates(found: &Found<'_>) -> Vec<(String, f64)> {
    let cjp = found.program("cjp");
    let rate = |name: &String| {
        let it = cjp.build.registers[0].region(name);
        (name.clone(), it.sdc as f64 / it.runs().max(1) as f64)
    };
    let mut rates: Vec<(String, f64)> = cjp.of_paper().iter().map(rate).collect();
    rates.sort_by(|a, b| a.1.total_cmp(&b.1));
    rates
}

fn cjp_order(found: &Found<'_>) -> String {
    let rates = cjp_rates(found);
    let least: Vec<String> = rates.iter().take(6).map(|(name, rate)| format!("{name} {}", percent(*rate))).collect();
    format!("The six regions with the fewest SDCs, one of 64 registers: {}.", least.join(", "))
}

fn cjp_middle(found: &Found<'_>) -> String {
    let names = ["R7", "R8", "R9", "R10"];
    let rate = |it: &RegionTally| percent(it.sdc as f64 / it.runs().max(1) as f64);
    let told = names.iter().map(|name| (name, by_struck(found, "cjp", name, rate)));
    let of_struck: Vec<String> =
        told.filter(|(_, rates)| !rates.is_empty()).map(|(name, rates)| format!("{name} {rates}")).collect();
    let kept = each(&names, |name| rate(found.program("cjp").build.registers[0].region(name)));
    format!(
        "SDCs of faults in destinations, by what was struck: {}; of one of 64 registers: {kept}. Registers that are live there hold what later regions use. Of 1 000 runs \
         none is an SDC, by chance, in one of twenty cases where the rate is 0.3 %.",
        of_struck.join("; ")
    )
}

fn cjp_next(found: &Found<'_>) -> String {
    let cjp = found.program("cjp");
    let many = |name: &&String| {
        let it = cjp.build.registers[0].region(name);
        let next = it.errors.iter().filter(|&&error| error == NEXT_PHASE).count();
        next > 0 && 2 * next > it.errors.len()
    };
    let where_most: Vec<&str> = cjp.of_paper().iter().filter(many).map(String::as_str).collect();
    let all: Vec<f64> =
        cjp.of_paper().iter().flat_map(|name| cjp.build.registers[0].region(name).errors.iter().copied()).collect();
    let small = all.iter().filter(|&&error| error <= 6.0).count();
    format!(
        "Off by {NEXT_PHASE} are more than half of the SDCs in {}; off by 6 at most, {}. A colour that differs costs others a few colours more before a phase is full.",
        if where_most.is_empty() { "no region".to_owned() } else { where_most.join(", ") },
        of(small, all.len())
    )
}

fn cjp_few(found: &Found<'_>) -> String {
    let cjp = found.program("cjp");
    let mut errors = RegionTally::default();
    cjp.of_paper().iter().for_each(|name| errors.errors.extend(&cjp.build.registers[0].region(name).errors));
    let values = single_errors(&errors);
    let four: u64 = values.iter().take(4).map(|it| it.1).sum();
    format!(
        "The four most frequent of {} errors are those of {} SDCs; {} errors were seen once. The number of colours is a maximum over vertices: each bit of a colour can become it.",
        values.len(),
        of(four as usize, errors.errors.len()),
        values.iter().filter(|it| it.1 == 1).count()
    )
}
