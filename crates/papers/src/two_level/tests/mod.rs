//! The statements and sentences of the page, about workloads that are made by hand.

mod made;

use methods::two_level::{IpaTable, runs_of_cell};
use stats::Bounded;
use std::slice;

use super::monte_carlo::MonteCarlo;
use super::questions::Questions;
use super::sentences::sentences;
use super::statements::{faults, statements, strikes};
use super::survey::{Measured, OF_PAPER};
use super::{PAGE, pieces};
use crate::checks;
use crate::statements::{Part, Verdict};
use made::Said;

use Verdict::{Fails, Holds, Open};

fn parts(all: &[Measured], ipa: &IpaTable) -> Vec<Part> {
    statements(all, ipa, &Questions::of(all, ipa))
}

/// What is decided of a statement about some workloads.
fn decided(several: &[Said], claim: &str) -> Verdict {
    let ipa = made::table();
    checks::verdict(&parts(&made::workloads(several, &ipa), &ipa), claim)
}

/// The same of what Section 6.2 says of faults.
fn of_faults(several: &[Said], claim: &str) -> Verdict {
    checks::verdict(&[faults_of(several)], claim)
}

fn faults_of(several: &[Said]) -> Part {
    let ipa = made::table();
    let all = made::workloads(several, &ipa);
    Part { name: "faults", statements: faults(&all, &ipa, &Questions::of(&all, &ipa)) }
}

/// Four workloads, with their SDCs of 1000 whatever the fault.
fn four(sdc: [u64; 4]) -> Vec<Said> {
    let names = ["hotspot", "srad_v2", "comd", "lulesh"];
    names.into_iter().zip(sdc).map(|(name, sdc)| Said { sdc: [sdc; 3], ..Said::of(name) }).collect()
}

#[test]
fn faults_of_a_type_are_as_many_as_the_margin_of_the_paper_takes() {
    let cell = PAGE.runs.iter().find(|kind| kind.name == "cell").unwrap();
    assert_eq!(cell.count, runs_of_cell(0.03).unwrap());
}

#[test]
fn every_statement_has_a_rule_and_the_page_has_all_of_them() {
    let ipa = made::table();
    let several: Vec<Said> = (0..)
        .zip(OF_PAPER)
        .map(|(at, (name, _))| Said {
            sdc: [100 + 20 * at; 3],
            issue: [1.0 + at as f64 / 10.0, 2.0 - at as f64 / 10.0],
            ..Said::of(name)
        })
        .collect();
    let all = made::workloads(&several, &ipa);
    let parts = parts(&all, &ipa);
    for part in &parts {
        checks::are_judged(slice::from_ref(part));
    }
    checks::are_in(include_str!("../../../../../docs/methods/two-level.md"), &parts);
    checks::fill(&PAGE, &pieces(&all, &[], &ipa));
}

#[test]
fn shares_are_within_five_points_of_the_papers() {
    let measured = |of: [u64; 2]| [Said { executed: [[500, 400], of], ..Said::of("lud") }];
    let average = "The seven instructions are so many of all, on average";
    assert_eq!([[300, 239], [300, 241]].map(|of| of_faults(&measured(of), average)), [Holds, Fails]);
    let most = "They are up to so many";
    assert_eq!([[400, 351], [400, 349]].map(|of| of_faults(&measured(of), most)), [Holds, Fails]);
    let alike = "With those that are alike they are so many, on average";
    let covered = |types: [u64; 2]| [Said { executed: [types, [300, 190]], ..Said::of("lud") }];
    assert_eq!([[500, 340], [500, 360]].map(|of| of_faults(&covered(of), alike)), [Holds, Fails]);
    let similar = "Single and double bit flips have similar outcomes";
    let two = |two: u64| [Said { sdc: [200, two, 200], ..Said::of("lud") }];
    assert_eq!([240, 260].map(|sdc| of_faults(&two(sdc), similar)), [Holds, Fails]);
}

#[test]
fn often_is_more_than_half_of_the_pairs() {
    let random = |sdc: u64, name| Said { sdc: [200, 200, sdc], ..Said::of(name) };
    let claim = "Random values often have another distribution of outcomes than single flips";
    let most = [random(400, "lud"), random(400, "nn"), random(200, "nw")];
    let some = [random(400, "lud"), random(200, "nn"), random(200, "nw")];
    assert_eq!([of_faults(&most, claim), of_faults(&some, claim)], [Holds, Fails]);
    let ours = checks::statement(&[faults_of(&some)], claim).ours.clone();
    // Of six pairs, three workloads with two types each, two are 20 points apart.
    assert_eq!(ours, "SDC rates differ by 6.7 points on average; ends differ beyond chance in 2 of 6 pairs");
}

#[test]
fn most_events_are_counted_in_the_papers_tables() {
    let mut ipa = made::table();
    let claims = ["Flips of registers are attributed to F bits", "They corrupt one register in one or two threads"];
    let both = |ipa: &IpaTable| {
        let part = [Part { name: "strikes", statements: strikes(ipa) }];
        claims.map(|claim| checks::verdict(&part, claim))
    };
    ipa.microbenchmarks.iter_mut().for_each(|it| it.is_bits = Some(0.0));
    assert_eq!(both(&ipa), [Holds, Holds]);
    ipa.microbenchmarks.iter_mut().for_each(|it| it.is_bits = Some(1.0));
    ipa.manifestations[4].scope = Some("warp".to_owned());
    assert_eq!(both(&ipa), [Fails, Fails]);
}

#[test]
fn orders_hold_in_all_worlds_or_in_none_or_are_open() {
    let highest = "hotspot and srad_v2 have the highest two-level rates";
    for (sdc, expected) in [([600, 500, 200, 100], Holds), ([600, 100, 200, 500], Fails), ([600, 400, 401, 100], Open)]
    {
        assert_eq!(decided(&four(sdc), highest), expected, "{sdc:?}");
    }
    let more = "CoMD fails more often than Lulesh";
    for (sdc, expected) in [([600, 500, 200, 100], Holds), ([600, 500, 100, 200], Fails), ([600, 500, 200, 201], Open)]
    {
        assert_eq!(decided(&four(sdc), more), expected, "{sdc:?}");
    }
    let slow: Vec<Said> = four([600, 500, 400, 300])
        .into_iter()
        .map(|it| Said { issue: [if it.name == "hotspot" { 0.1 } else { 1.0 }, 1.0], ..it })
        .collect();
    assert_eq!(decided(&slow, highest), Fails, "an issue rate takes part");
    let small = "Only a small percentage of faults propagates to the output of Lulesh";
    assert_eq!(
        [20, 300].map(|sdc| decided(&four([600, 500, 400, sdc]), small)),
        [Open; 2],
        "the paper does not say what small is"
    );
}

#[test]
fn an_order_is_asked_of_worlds() {
    let ipa = made::table();
    let all = made::workloads(&four([600, 500, 200, 100]), &ipa);
    let several: Vec<&Measured> = all.iter().collect();
    let (chances, rates) = (MonteCarlo::of_chances(&several), MonteCarlo::of_rates(&several, &ipa));
    assert_eq!(rates.in_half(&["hotspot", "srad_v2"], true).verdict, Holds);
    assert_eq!(rates.in_half(&["hotspot", "lulesh"], false).verdict, Fails);
    assert_eq!(rates.in_half(&["hotspot", "nobody"], true).verdict, Open);
    assert_eq!(rates.exceeds("srad_v2", 2.0, "comd"), Holds);
    assert_eq!(rates.exceeds("srad_v2", 4.0, "comd"), Fails);
    assert_eq!(chances.several_above(0.4 * 0.8, 2).verdict, Holds);
    assert_eq!(chances.several_above(0.4 * 0.8, 3).verdict, Fails);
}

#[test]
fn a_trend_is_one_if_the_interval_of_its_correlation_is_on_one_side() {
    let ipa = made::table();
    let of = |count: usize| {
        let several = (0..).zip(OF_PAPER).take(count);
        let said = several.map(|(at, (name, _))| Said { sdc: [50 + 55 * at; 3], ..Said::of(name) }).collect::<Vec<_>>();
        let all = made::workloads(&said, &ipa);
        let several: Vec<&Measured> = all.iter().collect();
        let (chances, rates) = (MonteCarlo::of_chances(&several), MonteCarlo::of_rates(&several, &ipa));
        let [with, against] = [true, false].map(|with| rates.trend(&chances, with));
        assert_eq!(with.rule, "ρ's interval is above 0");
        [with.verdict, against.verdict]
    };
    assert_eq!(of(12), [Holds, Fails]);
    assert_eq!(of(3), [Open, Open], "three workloads have no interval");
}

#[test]
fn what_was_not_seen_widens_the_upper_bounds() {
    let ipa = made::table();
    let mut all = made::workloads(&four([600, 500, 200, 100]), &ipa);
    for kind in all.iter_mut().flat_map(|it| &mut it.composition.types) {
        let mut cell = kind.cells.last().unwrap().clone();
        cell.rate.0 = Bounded { value: 0.0, low: 0.0, high: 0.3 };
        kind.cells.push(cell);
    }
    let (questions, parts) = (Questions::of(&all, &ipa), parts(&all, &ipa));
    let said = sentences(&all, &ipa, &questions, &parts);
    let text = &said.iter().find(|it| it.0 == "say-unseen").unwrap().1;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [rate, events, least, largest] = *numbers else { panic!("{text}") };
    assert_eq!((rate, events), (0.0, 3.7));
    assert!(1.0 <= least && least <= largest && 1.0 < largest && largest < 2.0, "{text}");
}

#[test]
fn sentences_have_the_numbers_that_were_measured() {
    let ipa = made::table();
    let mut all = made::workloads(&four([600, 500, 200, 100]), &ipa);
    all[2].counted.host_visible = 1500;
    all[0].counted.lost = 7;
    all[1].coverage.below = 12;
    let (questions, parts) = (Questions::of(&all, &ipa), parts(&all, &ipa));
    let said = sentences(&all, &ipa, &questions, &parts);
    let said = |name: &str| said.iter().find(|it| it.0 == name).unwrap().1.as_str();
    assert_eq!(said("say-lost"), "7 runs came to no end that has a class, and count for nothing");
    // Two types of three manifestations, 1000 faults each.
    assert_eq!(said("say-host"), "comd 25.0 % of the runs");
    assert_eq!(said("say-runs"), "24 000 faults in 4 workloads");
    assert!(said("say-covered").contains("80.0 % have a rate on average"), "{}", said("say-covered"));
    // 95 of 100 hold in three workloads, 85 in one.
    assert!(
        said("say-coverage").contains("92.5 % of all these, and in 85.0–95.0 % by workload"),
        "{}",
        said("say-coverage")
    );
    let tests = format!("The page makes {} tests", questions.count());
    assert!(said("say-tests").starts_with(&tests), "{}", said("say-tests"));
}

#[test]
fn a_statement_says_which_choices_decide_otherwise() {
    let ipa = made::table();
    let mut all = made::workloads(&four([600, 500, 200, 100]), &ipa);
    let mut same = parts(&all, &ipa);
    assert_eq!(super::variants::mark(&mut same, &all, &ipa), 0);
    // By the second variant the chances of hotspot are those of Lulesh.
    let variant = all[3].variants[1].clone();
    all[0].variants[1] = variant;
    let mut parts = parts(&all, &ipa);
    assert!(super::variants::mark(&mut parts, &all, &ipa) > 0);
    let ours = &checks::statement(&parts, "hotspot and srad_v2 have the highest two-level rates").ours;
    assert_eq!(ours, "hotspot 1, srad_v2 2 of 4 (the workload's criterion: no)");
    let columns = super::variants::table(&all).rows[0].len();
    assert_eq!(columns, 8, "a name, three chances and four rates");
}
