//! The statements of the chapter, each with its rule and its verdict.

use serde_json::Value;

use super::chapter::{OF_FIGURES, PRUNED};
use super::rules::{find, ranked, statement};
use super::survey::{Corruptions, Measured};
use super::{tuning, validation};
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::{many, percent};

/// All statements.
pub(super) fn statements(all: &[Measured]) -> Vec<Part> {
    vec![
        Part { name: "statements-pruning", statements: pruning(all) },
        Part { name: "statements-corruptions", statements: corruptions(all) },
        Part { name: "statements-tuning", statements: tuning::statements(all) },
        Part { name: "statements-approximation", statements: approximation(all) },
        validation::statements(all),
    ]
}

/// The share of sites that are not run, among those that are covered.
fn pruned(it: &Measured) -> f64 {
    let covered = it.count("sites.all") - it.count("sites.not_covered");
    1.0 - it.count("sites.run") as f64 / covered.max(1) as f64
}

fn pruning(all: &[Measured]) -> Vec<Statement> {
    let mut found = Vec::new();
    let [mut run, mut covered] = [0, 0];
    for it in all {
        run += it.count("sites.run");
        covered += it.count("sites.all") - it.count("sites.not_covered");
    }
    let together = 1.0 - run as f64 / covered.max(1) as f64;
    found.push(statement(
        "pruning techniques prune 99.78 % of the error sites (Relyzer, Section 2.2)",
        "99.78 % over its applications",
        format!("{} of the covered sites of {} applications", percent(together), all.len()),
        Judged::plain(
            "of the covered sites of all our applications together, at most 0.22 % are run",
            !all.is_empty() && together >= 0.9978,
        ),
    ));
    let of_table: Vec<(&str, f64)> =
        PRUNED.iter().filter_map(|row| Some((row.application, pruned(find(all, row.application)?)))).collect();
    let complete = of_table.len() == PRUNED.len();
    let (order, ours) = ranked(of_table);
    let (theirs, paper) = ranked(PRUNED.iter().map(|row| (row.application, row.all)).collect());
    let same = |place: fn(&[&str]) -> Option<String>| place(&order) == place(&theirs);
    for (claim, place) in [
        ("Sobel is pruned most (Table 2.3)", first as fn(&[&str]) -> Option<String>),
        ("Blackscholes is pruned least (Table 2.3)", last),
    ] {
        let verdict = if complete { Verdict::plain(same(place)) } else { Verdict::Open };
        found.push(statement(claim, &paper, ours.clone(), Judged::by("it has the same place in our order", verdict)));
    }
    let joined: Vec<(&str, u64, u64)> =
        PRUNED.iter().filter_map(|row| Some(joined(find(all, row.application)?))).collect();
    let text = joined
        .iter()
        .map(|(name, control, store)| format!("{name} {} and {}", study::spaced(*control), study::spaced(*store)));
    let theirs =
        PRUNED.iter().map(|it| format!("{} {} and {}", it.application, percent(it.control), percent(it.store)));
    found.push(statement(
        "control equivalence prunes more than store equivalence in every application (Table 2.3)",
        &theirs.collect::<Vec<_>>().join(", "),
        text.collect::<Vec<_>>().join(", "),
        Judged::by(
            "in each application of the table more sites are joined by decisions alone than by the loads that read their stores",
            if complete { Verdict::plain(joined.iter().all(|it| it.1 > it.2)) } else { Verdict::Open },
        ),
    ));
    let factor = |it: &Measured| {
        let covered = it.count("sites.all") - it.count("sites.not_covered");
        covered as f64 / it.count("sites.run").max(1) as f64
    };
    let others = PRUNED.iter().filter(|row| row.application != "Blackscholes");
    let others: Vec<(&str, f64)> =
        others.filter_map(|row| Some((row.application, factor(find(all, row.application)?)))).collect();
    found.push(statement(
        "apart from Blackscholes, one to two orders of magnitude fewer injections are needed (Section 2.6.3)",
        "4.5 to 284 times",
        others.iter().map(|(name, factor)| format!("{name} {factor:.0}")).collect::<Vec<_>>().join(", "),
        Judged::by("the chapter does not say it of its own table, where LU needs 4.5 times fewer", Verdict::Open),
    ));
    let size = find(all, "Blackscholes").map(factor);
    found.push(statement(
        "the classes of Blackscholes are small, which limits its pruning (Section 2.6.3)",
        "1.96 on average",
        size.map_or_else(|| "not measured".to_owned(), |size| format!("{size:.0} sites for each pilot")),
        Judged::by(
            "a pilot of ours stands for at most 1.96 sites on average",
            size.map_or(Verdict::Open, |size| Verdict::plain(size <= 1.96)),
        ),
    ));
    found
}

/// The sites of an application that decisions alone join, and those that loads join.
fn joined(it: &Measured) -> (&str, u64, u64) {
    let stores = it.count("sites.heuristics.stores.sites");
    let pruned = ["unread", "unmapped", "misaligned"].map(|key| it.count(&format!("sites.heuristics.{key}")));
    let classes = it.count("sites.all").saturating_sub(pruned.iter().sum());
    (it.paper, classes.saturating_sub(stores), stores)
}

fn first(order: &[&str]) -> Option<String> {
    order.first().map(|name| (*name).to_owned())
}

fn last(order: &[&str]) -> Option<String> {
    order.last().map(|name| (*name).to_owned())
}

fn every(_: &Value) -> bool {
    true
}

fn corruptions(all: &[Measured]) -> Vec<Statement> {
    let shares: Vec<(&str, f64)> = OF_FIGURES
        .iter()
        .filter_map(|name| {
            let it = find(all, name)?;
            Some((*name, it.corruptions(every).all() as f64 / it.count("sites.all").max(1) as f64))
        })
        .collect();
    let complete = shares.len() == OF_FIGURES.len();
    let (order, ours) = ranked(shares);
    let place = |holds: bool| if complete { Verdict::plain(holds) } else { Verdict::Open };
    let mut found = vec![
        statement(
            "LU has the most error sites that corrupt the output (Section 2.5.1)",
            "68.8 %",
            ours.clone(),
            Judged::by("LU has the largest share of the five", place(order.first() == Some(&"LU"))),
        ),
        statement(
            "Swaptions has the fewest (Section 2.5.1)",
            "15.6 %",
            ours,
            Judged::by("Swaptions has the smallest share of the five", place(order.last() == Some(&"Swaptions"))),
        ),
    ];
    type Part = fn(Corruptions) -> u64;
    let classes: [(&str, &str, &str, Part, f64); 4] = [
        ("Swaptions", "SDC-Good", "76 %", |it| it.good, 0.5),
        ("Water", "SDC-Good", "58 %", |it| it.good, 0.5),
        ("Blackscholes", "DDC", "68 %", |it| it.detectable, 0.5),
        ("LU", "SDC-Bad", "more than 98 %", |it| it.bad, 0.98),
    ];
    for (name, class, paper, part, least) in classes {
        let share = find(all, name).map(|it| {
            let all = it.corruptions(every);
            all.share(part(all))
        });
        let verdict = share.map_or(Verdict::Open, |share| Verdict::plain(share > least));
        found.push(statement(
            &format!("of the output corruptions of {name}, {paper} are {class} (Figure 2.4)"),
            paper,
            share.map_or_else(|| "not measured".to_owned(), percent),
            Judged::by(format!("more than {} are {class}", percent(least)), verdict),
        ));
    }
    found
}

fn approximation(all: &[Measured]) -> Vec<Statement> {
    let share = |it: &Measured, part: &str, case: &str, of: &str| {
        it.number(&format!("approximable.{part}.{case}.share_of_{of}"))
    };
    let of = |it: &Measured, part: &str, case: &str| share(it, part, case, "static");
    let five: Vec<&Measured> = OF_FIGURES.iter().filter_map(|name| find(all, name)).collect();
    let complete = five.len() == OF_FIGURES.len();
    let mean = |case: &str, kind: &str| {
        let shares: Vec<f64> = five.iter().filter_map(|it| share(it, "pi_32b", case, kind)).collect();
        shares.iter().sum::<f64>() / shares.len().max(1) as f64
    };
    let (worst, best) = (mean("worst", "static"), mean("best", "static"));
    let overlap = worst <= 0.40 && best >= 0.34;
    let dynamic = (mean("worst", "dynamic"), mean("best", "dynamic"));
    let dynamic_overlap = dynamic.0 <= 0.36 && dynamic.1 >= 0.27;
    let open = |holds: bool| if complete { Verdict::plain(holds) } else { Verdict::Open };
    let (order, ranks) = ranked(five.iter().filter_map(|it| Some((it.paper, of(it, "pi_32b", "best")?))).collect());
    let pockets: Vec<&&Measured> = five.iter().filter(|it| of(it, "fi", "best") == Some(0.0)).collect();
    let all_have = pockets.iter().all(|it| of(it, "pi_8b", "best").is_some_and(|share| share > 0.0));
    let grows = |kind: &'static str| {
        let it = find(all, "Blackscholes")?;
        Some((share(it, "fi", "best", kind)?, share(it, "pi_32b", "best", kind)?))
    };
    vec![
        statement(
            "in the mean, 34 to 40 % of the static instructions have 32 bits that may be approximated (Section 2.5.4)",
            "34 % (worst) to 40 % (best)",
            format!("{} (worst) to {} (best)", percent(worst), percent(best)),
            Judged::by("our range has a value in common with theirs", open(overlap)),
        ),
        statement(
            "these static instructions account for 27 to 36 % of the dynamic ones (Section 2.5.4)",
            "27 % (worst) to 36 % (best)",
            format!("{} (worst) to {} (best)", percent(dynamic.0), percent(dynamic.1)),
            Judged::by("our range has a value in common with theirs", open(dynamic_overlap)),
        ),
        statement(
            "Swaptions has the most potential for approximation (Section 2.5.4)",
            "the first of five",
            ranks,
            Judged::by(
                "its best case with 32 bits is the largest of the five",
                open(order.first() == Some(&"Swaptions")),
            ),
        ),
        statement(
            "applications without a full instruction that may be approximated have smaller parts that may (Section 2.5.4)",
            "–",
            format!("{} without a full instruction", many(pockets.len(), "application")),
            Judged::by(
                "each of these has 8 bits of a register that may be",
                if pockets.is_empty() { Verdict::Open } else { Verdict::plain(all_have) },
            ),
        ),
        growth("instructions", "4 % and 29 %", grows("static")),
        growth("dynamic instructions", "3 % and 31 %", grows("dynamic")),
    ]
}

/// That Blackscholes has more that may be approximated in 32 bits than as a whole.
fn growth(of: &str, paper: &str, grows: Option<(f64, f64)>) -> Statement {
    let ours = |(full, part): (f64, f64)| format!("{} and {}", percent(full), percent(part));
    statement(
        &format!("in Blackscholes, more {of} may be approximated in 32 bits than as a whole (Section 2.5.4)"),
        paper,
        grows.map_or_else(|| "not measured".to_owned(), ours),
        Judged::by(
            "the best case with 32 bits is larger than that of full instructions",
            grows.map_or(Verdict::Open, |(full, part)| Verdict::plain(part > full)),
        ),
    )
}
