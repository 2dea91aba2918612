//! The statements of the chapter about the cost of protection (Section 2.5.3), with rules and verdicts.
//!
//! The chapter writes costs as whole percents of the dynamic instructions: two are the same where they differ by less than half a
//! point.

use serde_json::Value;

use super::rules::{find, ranked, statement};
use super::survey::{Measured, at};
use super::tables::cost_at;
use crate::statements::{Judged, Statement, Verdict};
use crate::words::percent;

/// The coverage at which costs are compared.
const COVERAGE: f64 = 0.99;

/// Costs that differ by less are the same number of the chapter.
const SAME: f64 = 0.005;

/// The corruptions against which instructions are protected.
#[derive(Clone, Copy)]
enum Protected {
    /// All output corruptions.
    All,
    /// SDC-Bad and SDC-Maybe.
    BadAndMaybe,
    /// SDC-Bad, and SDC-Maybe above this bin: 0 holds errors up to 1 %, or $0.001.
    Above(u64),
}

/// The cost of protection, as a share of the dynamic instructions.
fn cost(it: &Measured, what: Protected) -> Option<f64> {
    let bin = |curve: &Value| at(curve, "accepted.bin").and_then(Value::as_u64);
    let curves = it.list("tuning.curves");
    let curve = match what {
        Protected::All => curves.first(),
        Protected::BadAndMaybe => curves.get(1),
        Protected::Above(wanted) => curves.iter().find(|curve| bin(curve) == Some(wanted)),
    };
    cost_at(it, curve?.get("protected")?.as_str()?, COVERAGE)
}

/// The saving where less is protected, in points.
fn saved(it: &Measured, from: Protected, to: Protected) -> Option<f64> {
    Some(cost(it, from)? - cost(it, to)?)
}

/// A statement about two costs of an application.
struct Claim {
    name: &'static str,
    claim: &'static str,
    paper: &'static str,
    costs: [Protected; 2],
    rule: &'static str,
    holds: fn(f64, f64) -> bool,
}

/// The statements.
pub(super) fn statements(all: &[Measured]) -> Vec<Statement> {
    use Protected::{Above, All, BadAndMaybe};
    let claims = [
        Claim {
            name: "Blackscholes",
            claim: "Blackscholes saves overhead where instructions with DDC and SDC-Good alone are not protected",
            paper: "20 %",
            costs: [All, BadAndMaybe],
            rule: "protecting SDC-Bad and SDC-Maybe costs at least half a point less than protecting all",
            holds: |all, some| all - some >= SAME,
        },
        Claim {
            name: "Blackscholes",
            claim: "Blackscholes gains nothing from a larger accepted error",
            paper: "0 %",
            costs: [BadAndMaybe, Above(9)],
            rule: "accepting errors up to 10 % saves less than half a point",
            holds: |all, some| all - some < SAME,
        },
        Claim {
            name: "Swaptions",
            claim: "Swaptions has many instructions with SDC-Good alone, so that Bad and Maybe cost little",
            paper: "3 % at 99 % coverage",
            costs: [All, BadAndMaybe],
            rule: "protecting SDC-Bad and SDC-Maybe costs at most 3 %",
            holds: |_, some| some <= 0.03,
        },
        Claim {
            name: "Swaptions",
            claim: "Swaptions gains little more from a larger accepted error",
            paper: "2 %",
            costs: [BadAndMaybe, Above(0)],
            rule: "accepting errors up to $0.001 saves at most 2 points",
            holds: |all, some| all - some <= 0.02,
        },
        Claim {
            name: "FFT",
            claim: "the curves of FFT for all corruptions and for Bad and Maybe sit on top of each other",
            paper: "0 %",
            costs: [All, BadAndMaybe],
            rule: "both costs differ by less than half a point",
            holds: |all, some| (all - some).abs() < SAME,
        },
        Claim {
            name: "FFT",
            claim: "accepting errors up to 5 % instead of 1 % saves FFT much more",
            paper: "12 %",
            costs: [Above(0), Above(4)],
            rule: "it saves at least 12 points",
            holds: |one, five| one - five >= 0.12,
        },
        Claim {
            name: "LU",
            claim: "LU gains nothing where SDC-Good and DDC are not protected",
            paper: "0 %",
            costs: [All, BadAndMaybe],
            rule: "both costs differ by less than half a point",
            holds: |all, some| (all - some).abs() < SAME,
        },
        Claim {
            name: "LU",
            claim: "LU gains nothing from a larger accepted error",
            paper: "0 %",
            costs: [BadAndMaybe, Above(9)],
            rule: "accepting errors up to 10 % saves less than half a point",
            holds: |all, some| all - some < SAME,
        },
    ];
    let mut found: Vec<Statement> = claims.iter().map(|claim| judged(all, claim)).collect();
    for (name, error, least) in
        [("Blackscholes", "1 %", 0.20), ("Water", "1 %", 0.55), ("FFT", "1 %", 0.11), ("Swaptions", "$0.001", 0.26)]
    {
        let ours = find(all, name).and_then(|it| saved(it, All, Above(0)));
        found.push(statement(
            &format!(
                "accepting errors up to {error} saves {name} {} of the overhead at 99 % coverage (Section 2.5.3)",
                percent(least)
            ),
            &percent(least),
            ours.map_or_else(|| "not measured".to_owned(), percent),
            Judged::by(
                "ours saves at least as many points",
                ours.map_or(Verdict::Open, |ours| Verdict::plain(ours >= least - SAME)),
            ),
        ));
    }
    let savings = |it: &&Measured| Some((it.paper, saved(it, All, Above(0))?));
    let four: Vec<(&str, f64)> =
        all.iter().filter(|it| !["Sobel", "LU"].contains(&it.paper)).filter_map(|it| savings(&it)).collect();
    let complete = four.len() == 4;
    let (order, ours) = ranked(four);
    found.push(statement(
        "Water saves the most overhead where a small error is accepted (Section 2.5.3)",
        "55 %, Swaptions 26 %, Blackscholes 20 %, FFT 11 %",
        ours,
        Judged::by(
            "of the four, Water saves most at 1 % (Swaptions at $0.001)",
            if complete { Verdict::plain(order.first() == Some(&"Water")) } else { Verdict::Open },
        ),
    ));
    found
}

fn judged(all: &[Measured], claim: &Claim) -> Statement {
    let Claim { name, claim, paper, costs: [first, second], rule, holds } = *claim;
    let costs = find(all, name).and_then(|it| Some((cost(it, first)?, cost(it, second)?)));
    let words = |what: Protected| match what {
        Protected::All => "all".to_owned(),
        Protected::BadAndMaybe => "Bad and Maybe".to_owned(),
        Protected::Above(bin) => format!("these above bin {bin}"),
    };
    let ours = costs.map_or_else(
        || "not measured".to_owned(),
        |(one, other)| format!("{} for {}, {} for {}", percent(one), words(first), percent(other), words(second)),
    );
    let verdict = costs.map_or(Verdict::Open, |(one, other)| Verdict::plain(holds(one, other)));
    statement(&format!("{claim} (Section 2.5.3)"), paper, ours, Judged::by(rule, verdict))
}
