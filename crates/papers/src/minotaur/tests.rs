//! Documents made by hand: each rule holds and fails where it should.

use serde_json::{Value, json};

use super::pieces;
use super::statements::statements;
use super::survey::{APPLICATIONS, Measured};
use crate::checks::{are_judged, fill, is_whole, verdict};
use crate::page::Piece;
use crate::statements::Verdict;

/// The numbers of a document: the accuracy of Min and of Ref in percent, and the gain of every step.
#[derive(Clone, Copy)]
struct Found {
    small: u64,
    reference: u64,
    gain: f64,
}

fn share(count: u64) -> Value {
    json!({ "count": count, "of": 100, "rate": count as f64 / 100.0, "low": 0.0, "high": 1.0 })
}

/// Ways by their seconds: Ref takes `gain³`, Min and RefEIP one factor less, MinEIP two.
fn priority(gain: f64) -> Value {
    let way = |analysis: &str, seconds: f64| json!({ "analysis": analysis, "runs": 10, "seconds": seconds, "seconds_measured": seconds });
    let (small, reference) = (gain, gain * gain);
    let order =
        |name: &str, all: f64| json!({ "order": name, "minimised": { "all": all }, "reference": { "all": all } });
    json!({
        "time": [
            way("reference", gain.powi(3)), way("minimised", reference), way("reference_eip", reference),
            way("minimised_eip", small), way("both_eip", small * gain.min(3.0)), way("input_priority", small * 1.2),
        ],
        "orders": [
            order("Oracle best", 10.0), order("Random", 11.0), order("BitPos A", 20.0), order("Oracle worst", 90.0),
            order("without early termination", 11.0 * gain),
        ],
    })
}

fn document(Found { small, reference, gain }: Found) -> Value {
    let input = |name: &str, instructions: f64, pilots: u64, explored: u64| {
        let quality = json!({ "rate": if name == "n=9" || small > 90 { 1.0 } else { 0.999 } });
        json!({
            "input": name, "thread_instructions": instructions as u64, "pilots": pilots, "pilots_run": pilots,
            "explored": explored, "seconds_of_a_run": instructions,
            "quality": { "pc": quality, "branch": quality, "def-use": quality },
        })
    };
    let accuracy = json!({ "minimised": share(small), "reference": share(reference) });
    let common = (small + reference).saturating_sub(100);
    json!({
        "reference": input("n=9", 10.0 * gain, 50, 50), "minimised": input("n=1", 10.0, 10, 90),
        "explored": { "either": 100 }, "evaluations": 3, "refused": [],
        "accuracy": accuracy, "found": share(common),
        "sdc_pcs": { "common": common, "min_sdc": 20, "min_sdc_plus": 20, "ref_sdc": 100 - small, "ref_sdc_plus": 0 },
        "priority": priority(gain),
        "termination": { "analyses": [{ "analysis": "minimised", "pilots": 10, "run": 4, "same": true }] },
        "approximable": { "metric": "max-rel", "most": 0.05, "accuracy": accuracy, "priority": priority(gain) },
        "hot": { "shares": [{ "share": 0.25, "speedup": gain, "common": small, "reference": { "sdc_pcs": 97 } }] },
    })
}

/// Applications of which each is like this one.
fn measured(found: Found) -> Vec<Measured> {
    let of = |it: super::survey::Application| Measured {
        name: it.paper.unwrap_or(it.name),
        is_of_chapter: it.paper.is_some(),
        document: document(found),
        of_all_sites: document(found),
    };
    APPLICATIONS.into_iter().map(of).collect()
}

#[test]
fn numbers_on_the_side_of_the_chapter_hold_and_others_do_not() {
    let alike = statements(&measured(Found { small: 98, reference: 60, gain: 8.5 }));
    are_judged(&alike);
    let other = statements(&measured(Found { small: 70, reference: 99, gain: 1.1 }));
    for claim in [
        "Min finds 96 % of the SDC-PCs",
        "Ref finds 64 %",
        "a run of Min is 2.1",
        "Min speeds the analysis up by 4.1",
        "MinEIP speeds it up by 10.3",
        "for approximation, injection priority",
        "for the hottest 25 %",
        "it finds all of their SDC-PCs",
        "4 % are RefSDC",
    ] {
        assert_eq!(verdict(&alike, claim), Verdict::Holds, "{claim}");
        assert_eq!(verdict(&other, claim), Verdict::Fails, "{claim}");
    }
    for claim in ["for many workloads", "random order is very close", "the application itself"] {
        assert_eq!(verdict(&alike, claim), Verdict::Open, "{claim}");
    }
}

#[test]
fn an_interval_around_the_number_of_the_chapter_leaves_it_undecided() {
    let mut all = measured(Found { small: 98, reference: 60, gain: 8.5 });
    for it in all.iter_mut().skip(5) {
        it.document = document(Found { small: 93, reference: 60, gain: 8.5 });
    }
    assert_eq!(verdict(&statements(&all), "Min finds 96 % of the SDC-PCs"), Verdict::Open);
    let one = measured(Found { small: 98, reference: 60, gain: 8.5 }).into_iter().take(1).collect::<Vec<_>>();
    assert_eq!(verdict(&statements(&one), "Min finds 96 % of the SDC-PCs"), Verdict::Open);
    assert!(statements(&[]).iter().flat_map(|part| &part.statements).all(|it| it.judged.verdict != Verdict::Holds));
}

#[test]
fn every_piece_has_a_place_and_tables_are_whole() {
    let made = pieces(&measured(Found { small: 98, reference: 60, gain: 8.5 }));
    fill(&super::PAGE, &made);
    for (name, piece) in &made {
        if let Piece::Table(table) = piece {
            is_whole(name, table);
        }
    }
}
