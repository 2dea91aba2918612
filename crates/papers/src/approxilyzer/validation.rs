//! Pilots held against members of their classes (Figures 2.5, 2.6 and 2.9), and what the chapter says of them.

use study::{Cell, Table};

use super::chapter::OF_FIGURES;
use super::survey::{Measured, SIZE};
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::percent;

/// The applications of Figure 2.9, which ran on x86.
const OF_X86: [&str; 5] = ["Blackscholes", "Swaptions", "LU", "FFT", "Sobel"];

/// The outcomes whose pilots are said to be nearly always right, by the keys of our document.
const CERTAIN: [(&str, &str); 3] = [("masked", "masked"), ("good", "SDC-Good"), ("detected", "detected")];

/// Statements that these campaigns do not ask about, each with the reason.
const UNDECIDED: [(&str, &str, &str); 4] = [
    (
        "pilots in integer registers of Swaptions predict 97 % (Section 2.5.2, approximation, δ = 2)",
        "97 %",
        "these campaigns do not tell: pilots are drawn by class, not by the type of what their instruction computes",
    ),
    (
        "with a quality threshold of 5, Blackscholes and FFT predict more than 90 % (Section 2.6.3)",
        "more than 90 %",
        "these campaigns do not tell: members are held against pilots by quality bins, not by a threshold of a user",
    ),
    (
        "with a quality threshold, pilots predict more than 97 % on average (Section 2.6.3)",
        "more than 97 %",
        "these campaigns do not tell: members are held against pilots by quality bins, not by a threshold of a user",
    ),
    (
        "another instruction set gives other outcomes, and other instructions to protect (Section 2.6.4)",
        "x86 and SPARC, as pictures",
        "these campaigns do not tell: they are of one instruction set, PTX",
    ),
];

/// A share with its bounds.
#[derive(Clone, Copy)]
struct Bounded {
    rate: f64,
    low: f64,
    high: f64,
}

impl Bounded {
    /// The share of members that pilots predict: `all.all`, `resilience`, 2.
    fn of(it: &Measured, part: &str, purpose: &str, delta: u32) -> Option<Self> {
        let number = |key: &str| it.number(&format!("validation.{part}.accuracy.{purpose}.delta_{delta}.{key}"));
        Some(Self { rate: number("rate")?, low: number("low")?, high: number("high")? })
    }

    /// Of all classes.
    fn of_all(it: &Measured, purpose: &str, delta: u32) -> Option<Self> {
        Self::of(it, "all.all", purpose, delta)
    }

    /// The mean over applications, with the means of their bounds: none is known better than they are.
    fn mean(all: &[Self]) -> Option<Self> {
        let count = all.len() as f64;
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / count;
        (!all.is_empty()).then(|| Self { rate: mean(|it| it.rate), low: mean(|it| it.low), high: mean(|it| it.high) })
    }

    /// Whether it is at least this much: undecided where its bounds hold the number.
    fn at_least(self, least: f64) -> Verdict {
        if self.low >= least {
            Verdict::Holds
        } else if self.high < least {
            Verdict::Fails
        } else {
            Verdict::Open
        }
    }

    /// Whether it is more than another one: undecided where their bounds overlap.
    fn is_above(self, other: Self) -> Verdict {
        if self.low > other.high {
            Verdict::Holds
        } else if self.high < other.low {
            Verdict::Fails
        } else {
            Verdict::Open
        }
    }

    fn text(self) -> String {
        format!("{} ({:.1} to {:.1})", percent(self.rate), 100.0 * self.low, 100.0 * self.high)
    }
}

/// The predictions of pilots, by application and heuristic.
pub(super) fn table(all: &[Measured]) -> Table {
    let columns =
        ["application", "heuristic", "covered", "pilots", "δ = 0", "resilience, δ = 2", "approximation, δ = 2"];
    let mut table = Table::new("Members of classes that their pilots predict", &columns);
    for it in all {
        for (part, heuristic) in [("control", "decisions"), ("stores", "stores"), ("all", "both")] {
            let Some(covered) = it.number("validation.coverage") else { continue };
            let cell = |purpose: &str, delta: u32| {
                let found = Bounded::of(it, &format!("{part}.all"), purpose, delta);
                Cell::text(found.map_or_else(|| "–".to_owned(), Bounded::text))
            };
            table.rows.push(vec![
                Cell::text(it.paper),
                Cell::text(heuristic),
                Cell::text(percent(covered)),
                Cell::Count(it.count(&format!("validation.{part}.all.pilots"))),
                cell("any", 0),
                cell("resilience", 2),
                cell("approximation", 2),
            ]);
        }
    }
    table.notes = vec![format!(
        "{SIZE}: this many pilots of each heuristic, drawn by class and bit, and members of each. Covered are sites in classes whose pilots \
         may be drawn. Intervals (95 %) have the pilots as sampling unit. δ is in quality bins."
    )];
    table
}

fn statement(claim: &str, paper: &str, ours: String, rule: &str, verdict: Verdict) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged: Judged::by(rule, verdict) }
}

/// A share of an application, or that there is none.
fn said(found: Option<Bounded>) -> String {
    found.map_or_else(|| "not measured".to_owned(), Bounded::text)
}

/// The statements of the chapter about validation.
pub(super) fn statements(all: &[Measured]) -> Part {
    let find = |paper: &str| all.iter().find(|it| it.paper == paper);
    let of = |paper: &str, purpose: &str, delta: u32| Bounded::of_all(find(paper)?, purpose, delta);
    let least = |found: Option<Bounded>, least: f64| found.map_or(Verdict::Open, |it| it.at_least(least));
    let mut found = Vec::new();
    for (purpose, figure, mean) in [("resilience", "2.5", 0.96), ("approximation", "2.6", 0.94)] {
        let five: Vec<Bounded> = OF_FIGURES.iter().filter_map(|name| of(name, purpose, 2)).collect();
        let ours = Bounded::mean(&five).filter(|_| five.len() == OF_FIGURES.len());
        found.push(statement(
            &format!(
                "in the mean of five applications pilots predict {} (Figure {figure}, {purpose}, δ = 2)",
                percent(mean)
            ),
            &percent(mean),
            said(ours),
            &format!("our mean is at least {}; undecided between the means of the bounds", percent(mean)),
            least(ours, mean),
        ));
    }
    let means = ["resilience", "approximation"].map(|purpose| {
        let five: Vec<Bounded> = OF_FIGURES.iter().filter_map(|name| of(name, purpose, 2)).collect();
        Bounded::mean(&five).filter(|_| five.len() == OF_FIGURES.len())
    });
    let both = means[0].zip(means[1]).and_then(|(one, other)| Bounded::mean(&[one, other]));
    found.push(statement(
        "in the mean of both purposes pilots predict 95 % (Section 2.5.2, δ = 2)",
        "95 %",
        said(both),
        "the mean of our means is at least 95 %; undecided between the means of the bounds",
        least(both, 0.95),
    ));
    let mut others = OF_FIGURES.iter().filter(|name| **name != "Blackscholes").map(|name| of(name, "resilience", 2));
    let lowest = of("Blackscholes", "resilience", 2).map(|blackscholes| {
        Verdict::all(others.by_ref().map(|other| other.map_or(Verdict::Open, |other| other.is_above(blackscholes))))
    });
    found.push(statement(
        "Blackscholes has the lowest accuracy of the five (Section 2.5.2)",
        "90 %",
        said(of("Blackscholes", "resilience", 2)),
        "each of the others has more, by its bounds (resilience, δ = 2)",
        lowest.unwrap_or(Verdict::Open),
    ));
    for (name, theirs) in [("Water", "71 % and 98 %"), ("Swaptions", "79 % and 99 %")] {
        let both = ["any", "resilience"].map(|purpose| of(name, purpose, 0));
        found.push(statement(
            &format!("{name} gains much where masked, SDC-Good, DDC and detected are one outcome (Section 2.5.2)"),
            theirs,
            both.map(said).join(" and "),
            "the chapter does not say how much is much, and where outcomes are joined a pilot predicts no less by definition",
            Verdict::Open,
        ));
    }
    for (part, heuristic) in [("control", "control"), ("stores", "store")] {
        let mut shares = Vec::new();
        for purpose in ["resilience", "approximation"] {
            let of = |name: &&str| Bounded::of(find(name)?, &format!("{part}.all"), purpose, 2);
            let five: Vec<Bounded> = OF_X86.iter().filter_map(of).collect();
            shares.push(Bounded::mean(&five).filter(|_| five.len() == OF_X86.len()));
        }
        let ours: Vec<String> = shares.iter().map(|it| said(*it)).collect();
        found.push(statement(
            &format!("{heuristic} equivalence predicts more than 92 % on average (Figure 2.9)"),
            "more than 92 %",
            ours.join(" and "),
            "our means for resilience and for approximation (δ = 2) are above 92 %; undecided between the means of the bounds",
            Verdict::all(shares.into_iter().map(|it| least(it, 0.92))),
        ));
    }
    for (part, heuristic, theirs) in [("control", "control", "87 % and 86 %"), ("stores", "store", "78 % and 79 %")] {
        let of = |name: &str, purpose: &str| Bounded::of(find(name)?, &format!("{part}.all"), purpose, 2);
        let purposes = ["resilience", "approximation"];
        let is_lowest = |purpose: &str| {
            let blackscholes = of("Blackscholes", purpose)?;
            let others = OF_X86.iter().filter(|name| **name != "Blackscholes").map(|name| of(name, purpose));
            Some(Verdict::all(others.map(|other| other.map_or(Verdict::Open, |it| it.is_above(blackscholes)))))
        };
        found.push(statement(
            &format!("Blackscholes has the poorest accuracy of {heuristic} equivalence (Section 2.6.3)"),
            theirs,
            purposes.map(|purpose| said(of("Blackscholes", purpose))).join(" and "),
            "each of the other four has more for resilience and for approximation (δ = 2), by its bounds",
            Verdict::all(purposes.map(|purpose| is_lowest(purpose).unwrap_or(Verdict::Open))),
        ));
    }
    for (name, threshold) in [("Swaptions", 0.94), ("LU", 0.985), ("Sobel", 0.999)] {
        let both = ["resilience", "approximation"].map(|purpose| of(name, purpose, 2));
        found.push(statement(
            &format!("{name} has an accuracy of more than {} across the board (Section 2.6.3)", percent(threshold)),
            &percent(threshold),
            both.map(said).join(" and "),
            "both purposes (δ = 2) are above it; undecided where its bounds hold the number",
            Verdict::all(both.map(|it| least(it, threshold))),
        ));
    }
    for (key, name) in CERTAIN {
        let of = |it: &Measured| Bounded::of(it, &format!("by_pilot.{key}"), "resilience", 2);
        let shares: Vec<(&str, Bounded)> = all.iter().filter_map(|it| Some((it.paper, of(it)?))).collect();
        let worst = shares.iter().min_by(|a, b| a.1.rate.total_cmp(&b.1.rate));
        found.push(statement(
            &format!("pilots that end {name} predict more than 99.9 % in all applications (Section 2.6.3)"),
            "more than 99.9 %",
            worst.map_or_else(|| "not measured".to_owned(), |(name, it)| format!("least {name}, {}", it.text())),
            "each application with such pilots is above it (resilience, δ = 2); undecided where its bounds hold the number",
            if shares.is_empty() { Verdict::Open } else { Verdict::all(shares.iter().map(|(_, it)| it.at_least(0.999))) },
        ));
    }
    for (claim, paper, why) in UNDECIDED {
        found.push(statement(claim, paper, "not measured".to_owned(), why, Verdict::Open));
    }
    Part { name: "statements-validation", statements: found }
}
