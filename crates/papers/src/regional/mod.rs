//! The page of the method: the figures of the paper with our workloads, its statements judged.

mod figures;
mod followed;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;
mod why;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::{Part, Verdict, mark as mark_choices, tally};
use methods::kit::StudyError;
use methods::regional::{RegionTally, plots};
use study::Picture;
use survey::{Measured, Sizes};

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "regional",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: "few", count: 1000, about: "each region, as many as in the paper" },
        PageCampaign { name: "many", count: 100_000, about: "each region, a hundred times as many" },
        PageCampaign {
            name: "registers",
            count: 10_000,
            about: "each region with faults in one of 64 or 128 registers",
        },
        PageCampaign {
            name: "unoptimised",
            count: 500,
            about: "each region of the program that is built for a debugger, by each choice of registers",
        },
        PageCampaign { name: "followed", count: 3000, about: "each region with what faults do to variables" },
    ],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let runs = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let sizes = Sizes {
        few: runs("few"),
        many: runs("many"),
        registers: runs("registers"),
        followed: runs("followed"),
        unoptimised: runs("unoptimised"),
    };
    let all = survey::survey(shop, &sizes, only)?;
    if only.is_some() {
        return Ok(Vec::new());
    }
    Ok(pieces(&all))
}

fn pieces(all: &[Measured]) -> Pieces {
    let mut pieces: Vec<(String, Piece)> = Vec::new();
    for it in all {
        pieces.push((format!("corrupted-{}", it.name), Piece::Table(tables::corrupted(it))));
        let named: Vec<_> = it.of_paper().iter().map(|name| (name.as_str(), it.region(name))).collect();
        if it.name == "cjp" {
            pieces.push(("plot-cjp".to_owned(), Piece::Plot(plots::ends("cjp", it.paper, &named))));
            continue;
        }
        let picture = |it: &Picture| (format!("picture-{}", it.name), Piece::Picture(it.clone()));
        pieces.extend(it.pictures.iter().map(picture));
        let file = |kind: &str| format!("{kind}-{}", it.name);
        let errors = |it: &RegionTally| it.errors_of_corrupted().collect();
        pieces.push((
            format!("plot-{}", file("corrupted")),
            Piece::Plot(plots::corrupted(&file("corrupted"), it.paper, &named)),
        ));
        if let [.., first, second, third] = &named[..]
            && it.name == "gramschm"
        {
            let plot = plots::corrupted("corrupted-gramschm-k3", "GRAMSCHM, K3", &[*first, *second, *third]);
            pieces.push(("plot-corrupted-gramschm-k3".to_owned(), Piece::Plot(plot)));
        }
        pieces.push((
            format!("plot-{}", file("errors")),
            Piece::Plot(plots::errors(&file("errors"), it.paper, &named, errors)),
        ));
    }
    let mut parts = statements::statements(all);
    pieces.push(("reasons".to_owned(), Piece::Table(why::reasons(&parts, all))));
    pieces.push(("say-choices".to_owned(), Piece::Text(mark(&mut parts, all))));
    pieces.push(("say-tally".to_owned(), Piece::Text(tally(&parts, "programs"))));
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces.push(("plot-difference".to_owned(), Piece::Plot(figures::by_difference(all))));
    pieces.push(("errors".to_owned(), Piece::Table(tables::errors(all))));
    pieces.push(("sizes".to_owned(), Piece::Table(tables::sizes(all))));
    if let Some(cjp) = all.iter().find(|it| it.name == "cjp") {
        pieces.push(("registers".to_owned(), Piece::Table(tables::registers(cjp))));
        pieces.push(("absolute-errors".to_owned(), Piece::Table(tables::absolute_errors(cjp))));
        let plots = figures::in_registers(cjp).into_iter();
        pieces.extend(plots.map(|plot| (format!("plot-{}", plot.name), Piece::Plot(plot))));
    }
    pieces
}

/// The parts that are about faults in destinations: elements and errors.
const OF_DESTINATIONS: usize = 2;

/// A choice by which statements are judged beside that of the page.
struct Choice {
    name: &'static str,
    /// A program as if this choice were that of the page.
    of: fn(&Measured) -> Measured,
    /// The parts of the statements that it is about.
    parts: usize,
}

/// The choices of the paper: registers whether live or not, and a program as a debugger needs it.
const CHOICES: [Choice; 3] = [
    Choice { name: "one of 64 registers", of: Measured::in_registers, parts: OF_DESTINATIONS },
    Choice { name: "debug build", of: Measured::in_debug_build, parts: OF_DESTINATIONS + 1 },
    Choice {
        name: "debug build, one of 64 registers",
        of: |it| it.in_debug_build().in_registers(),
        parts: OF_DESTINATIONS,
    },
];

/// Says of each statement by which choices it comes out otherwise; the sentence counts them.
fn mark(parts: &mut [Part], all: &[Measured]) -> String {
    let judged = CHOICES.map(|choice| {
        let others: Vec<Measured> = all.iter().map(choice.of).collect();
        (choice.name, choice.parts, statements::statements(&others))
    });
    let counted = judged.iter().map(|(name, number, others)| {
        let asked: usize = others[..*number].iter().map(|part| part.statements.len()).sum();
        let agree = |verdict: Verdict| {
            let pairs = parts[..*number]
                .iter()
                .zip(others)
                .flat_map(|(part, other)| part.statements.iter().zip(&other.statements));
            pairs.filter(|(it, other)| it.judged.verdict != verdict && other.judged.verdict == verdict).count()
        };
        format!(
            "{name}: of {asked}, {} hold that do not above, {} do not that hold above",
            agree(Verdict::Holds),
            agree(Verdict::Fails)
        )
    });
    let counted: Vec<String> = counted.collect();
    for number in 0..parts.len() {
        let of_part = judged.iter().filter(|(_, parts, _)| number < *parts);
        let choices: Vec<_> = of_part.map(|(name, _, others)| (*name, vec![others[number].clone()])).collect();
        mark_choices(&mut parts[number..=number], &choices);
    }
    format!("{}.", counted.join("; "))
}
