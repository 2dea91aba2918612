//! The statements of the page, about programs that are made by hand.

mod made;

use methods::regional::{RegionTally, Tally};

use super::statements::statements;
use super::survey::{BuildFaults, Measured, first_step, last_step};
use super::{PAGE, pieces, tables};
use crate::checks;
use crate::page::Piece;
use crate::statements::Verdict;
use made::{ELEMENTS, region};

use Verdict::{Fails, Holds};

/// What is decided of a statement about programs of which one has other regions, twice.
fn both(claim: &str, program: &str, [first, second]: [&[(&str, RegionTally)]; 2]) -> [Verdict; 2] {
    [first, second].map(|others| checks::verdict(&statements(&made::with(program, others)), claim))
}

fn ours(all: &[Measured], claim: &str) -> String {
    checks::statement(&statements(all), claim).ours.clone()
}

#[test]
fn every_statement_has_a_rule_and_the_page_has_all_of_them() {
    let all = made::all();
    let parts = statements(&all);
    checks::are_judged(&parts);
    checks::are_in(include_str!("../../../../../docs/methods/regional.md"), &parts);
    checks::fill(&PAGE, &pieces(&all));
}

#[test]
fn all_and_most_are_shares_of_the_corrupted() {
    let ones = region(&[1; 10], 1.0);
    let two = region(&[&[1; 9][..], &[2]].concat(), 1.0);
    let all = "ATAX: SDCs of K2 corrupt exactly one element";
    assert_eq!(both(all, "atax", [&[("K2", ones.clone())], &[("K2", two.clone())]]), [Holds, Fails]);
    assert_eq!(ours(&made::with("atax", &[("K2", two.clone())]), all), "90.0 %");
    let whole = |count: usize| region(&[vec![ELEMENTS; count], vec![7; 10 - count]].concat(), 1.0);
    let most = "ATAX: SDCs of K1 corrupt all elements of y";
    assert_eq!(both(most, "atax", [&[("K1", whole(6))], &[("K1", whole(5))]]), [Holds, Fails]);
    let said = ours(&made::with("atax", &[("K1", whole(6))]), most);
    assert_eq!(said, "60.0 % corrupt all 1000; the median is 1000");
    let first = &*first_step("K1");
    let most = "GRAMSCHM: SDCs of K1 corrupt all elements (of the columns that follow)";
    assert_eq!(both(most, "gramschm", [&[(first, whole(6))], &[(first, whole(5))]]), [Holds, Fails]);
    let different = "GRAMSCHM: SDCs of K2 corrupt different numbers of elements";
    assert_eq!(both(different, "gramschm", [&[("K2", whole(5))], &[("K2", whole(6))]]), [Holds, Fails]);
    let last = &*last_step("K3");
    let usually = "FDTD-2D: SDCs of K3 corrupt one element";
    assert_eq!(both(usually, "fdtd2d", [&[(last, two.clone())], &[(last, region(&[1, 2, 2], 1.0))]]), [Holds, Fails]);
    let outlier = "FDTD-2D: K3 corrupts two elements as an outlier";
    assert_eq!(both(outlier, "fdtd2d", [&[(last, two.clone())], &[(last, ones.clone())]]), [Holds, Fails]);
    let multiplications = "BICG: SDCs of the multiplications corrupt exactly one element";
    let one_of_two = [("K1.2", ones.clone()), ("K2.2", two)];
    let both_regions = [("K1.2", ones.clone()), ("K2.2", ones)];
    assert_eq!(both(multiplications, "bicg", [&both_regions, &one_of_two]), [Holds, Fails]);
}

#[test]
fn most_of_the_faults_that_are_followed_corrupt_one_row() {
    let rows = |ones: usize| {
        let mut all = made::all();
        let own = all.iter_mut().find(|it| it.name == "mm3").unwrap();
        let row = |rows: u64| made::fault("K1", &[(0, 32, 1.0, 32, [rows, 32])]);
        own.build.followed[0] = (0..10).map(|at| row(if at < ones { 1 } else { 2 })).collect();
        all
    };
    for (ones, expected) in [(6, [Holds, Holds]), (5, [Fails, Holds]), (10, [Holds, Fails])] {
        let parts = statements(&rows(ones));
        let claims = ["3MM: a fault corrupts one row", "3MM: a corrupted index corrupts two rows"];
        assert_eq!(claims.map(|claim| checks::verdict(&parts, claim)), expected, "{ones}");
    }
    assert!(ours(&rows(6), "3MM: a fault").starts_with("K1 (E): one row in 6 of 10 of the faults that reach G"));
}

#[test]
fn regions_are_ordered_by_their_medians_and_spreads() {
    let (few, many) = (region(&[2; 9], 1.0), region(&[30; 9], 1.0));
    let fewer = "COVAR: KR corrupts fewer elements than KM";
    let orders: [&[_]; 2] =
        [&[("KR", few.clone()), ("KM", many.clone())], &[("KR", many.clone()), ("KM", few.clone())]];
    assert_eq!(both(fewer, "covar", orders), [Holds, Fails]);
    assert_eq!(ours(&made::with("covar", orders[0]), fewer), "medians: KM 30, KR 2");
    let varies = "COVAR: the number of elements varies less in KM";
    assert_eq!(
        both(varies, "covar", [&[("KM", few.clone())], &[("KM", few.clone()), ("KC.2", few.clone())]]),
        [Holds, Fails]
    );
    let more = "KR of CORR corrupts more elements than KR of COVAR";
    assert_eq!(both(more, "corr", [&[("KR", many.clone())], &[("KR", few.clone())]]), [Holds, Fails]);
    let fewest = "GRAMSCHM: of these K3.3 corrupts the fewest";
    assert_eq!(both(fewest, "gramschm", [&[("K3.3", few.clone())], &[("K3.3", many)]]), [Holds, Fails]);
    let larger = "ATAX: errors of K2 are larger than those of K1";
    let error = |error: f64| region(&[1, 2, 3], error);
    assert_eq!(both(larger, "atax", [&[("K2", error(2.0))], &[("K2", error(0.5))]]), [Holds, Fails]);
    let lowest = "COVAR: the errors of KR are the lowest";
    assert_eq!(both(lowest, "covar", [&[("KR", error(0.5))], &[("KR", error(1.5))]]), [Holds, Fails]);
    let correlated = made::all();
    assert_eq!(checks::verdict(&statements(&correlated), "COVAR: the larger the difference of mean"), Holds);
    assert_eq!(ours(&correlated, "COVAR: the larger the difference of mean"), "Spearman's ρ 1.00");
}

#[test]
fn similar_is_undecided_where_it_hangs_on_the_bound() {
    let median = |elements: u64| region(&[elements; 9], 1.0);
    let decided = |claim: &str, program: &str, others: &[(&str, RegionTally)]| {
        checks::verdict(&statements(&made::with(program, others)), claim)
    };
    for (other, expected) in [(501, Holds), (510, Verdict::Open), (700, Fails)] {
        let regions = [("KC.1", median(500)), ("KC.2", median(other))];
        assert_eq!(decided("COVAR: KC.1 and KC.2 have similar medians", "covar", &regions), expected, "{other}");
    }
    for (error, expected) in [(2.0, Holds), (10.5, Verdict::Open), (31.0, Fails)] {
        let regions = [("K1.2", region(&[1], 1.0)), ("K2.2", region(&[1], error))];
        assert_eq!(decided("BICG: both kernels have similar errors", "bicg", &regions), expected, "{error}");
    }
    let fewest = "GRAMSCHM: of these K3.3 corrupts the fewest";
    assert_eq!(decided(fewest, "gramschm", &[]), Verdict::Open);
}

#[test]
fn registers_are_compared_among_as_many() {
    let mut all = made::all();
    let cjp = all.iter_mut().find(|it| it.name == "cjp").unwrap();
    let middle = |name: &str| ["R7", "R8", "R9", "R10"].contains(&name);
    for (name, tally) in &mut cjp.build.registers[0].regions {
        *tally = if middle(name) { region(&[], 0.0) } else { region(&[1; 8], 243.0) };
    }
    cjp.build.registers[1].regions.values_mut().for_each(|it| *it = region(&[1; 4], 243.0));
    let claims = [
        "CJP: SDCs are more frequent in R1–R6 and R11–R19 than in R7–R10",
        "CJP: faults in R7–R10 do not affect the result",
        "CJP: SDCs are off by as much as the next phase's first colour is",
        "CJP: SDCs have few different errors",
        "CJP: with one of 128 registers there are fewer SDCs than with one of 64",
    ];
    let decided = |all: &[Measured]| claims.map(|claim| checks::verdict(&statements(all), claim));
    assert_eq!(decided(&all), [Holds, Holds, Holds, Holds, Fails]);
    assert!(ours(&all, claims[2]).starts_with("by 243 = 257 − 14 in 120 of 120"));
    assert_eq!(decided(&made::all()), [Fails, Fails, Fails, Fails, Fails]);
}

#[test]
fn the_sentence_of_the_page_counts_what_was_decided() {
    let all = made::all();
    let parts = statements(&all);
    let verdicts: Vec<Verdict> = parts.iter().flat_map(|part| &part.statements).map(|it| it.judged.verdict).collect();
    let [holds, fails] = [Holds, Fails].map(|word| verdicts.iter().filter(|&&it| it == word).count());
    let said = pieces(&all).into_iter().find(|it| it.0 == "say-tally").unwrap().1;
    let Piece::Text(said) = said else { panic!("{said:?}") };
    let expected = format!(
        "Of {} statements of the paper that numbers can decide, {holds} hold for our programs, {fails} do not, and 2 ",
        verdicts.len()
    );
    assert!(said.starts_with(&expected), "{said}");
    assert_eq!(tables::frequent(&region(&[3, 1, 3, 2], 1.0)), [(3, 2), (1, 1), (2, 1)]);
}

#[test]
fn a_statement_says_which_choices_decide_otherwise() {
    let mut all = made::all();
    all.iter_mut().for_each(|it| it.build.registers[0] = it.build.many.clone());
    all.iter_mut().for_each(|it| it.unoptimised = it.build.clone());
    let mut same = statements(&all);
    let said = super::mark(&mut same, &all);
    assert!(
        said.starts_with("one of 64 registers: of 34, 0 hold that do not above, 0 do not that hold above; "),
        "{said}"
    );
    assert!(same.iter().flat_map(|part| &part.statements).all(|it| !it.ours.contains("debug build")));
    all.iter_mut().for_each(|it| it.build.registers[0] = Tally::default());
    all.iter_mut().for_each(|it| it.unoptimised.many = Tally::default());
    let mut parts = statements(&all);
    super::mark(&mut parts, &all);
    let marked =
        |word: &str| parts.iter().flat_map(|part| &part.statements).filter(|it| it.ours.contains(word)).count();
    assert!(marked("(one of 64 registers: ") > 0 && marked("debug build: ") > 0);
}

#[test]
fn every_statement_that_fails_has_its_reason() {
    // Among programs of which nothing is known, and those whose regions are all alike, each statement fails that can.
    let nothing: Vec<Measured> = made::all().into_iter().map(|it| Measured { build: empty(), ..it }).collect();
    for all in [made::all(), nothing] {
        let parts = statements(&all);
        let table = super::why::reasons(&parts, &all);
        let failing = parts.iter().flat_map(|part| &part.statements).filter(|it| it.judged.verdict == Fails);
        assert_eq!(table.rows.len(), failing.count());
    }
    let page = include_str!("../../../../../docs/methods/regional.md");
    let reasons = page.split("### Why statements do not hold").nth(1).unwrap();
    assert!(reasons.lines().filter(|line| line.starts_with("| ")).all(|line| !line.contains("| – |")), "{reasons}");
}

fn empty() -> BuildFaults {
    BuildFaults {
        many: Tally::default(),
        registers: [Tally::default(), Tally::default()],
        followed: [Vec::new(), Vec::new()],
    }
}
