//! The page of the method: the figures of the paper with our workloads, its statements judged.

mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::{Part, mark as mark_choices, tally};
use methods::kit::StudyError;
use methods::regional::{RegionTally, plots};
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
        PageCampaign { name: "followed", count: 3000, about: "each region with what faults do to variables" },
    ],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let runs = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let sizes =
        Sizes { few: runs("few"), many: runs("many"), registers: runs("registers"), followed: runs("followed") };
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
        let file = |kind: &str| format!("{kind}-{}", it.name);
        let errors = |it: &RegionTally| it.errors_of_corrupted().collect();
        pieces.push((
            format!("plot-{}", file("corrupted")),
            Piece::Plot(plots::corrupted(&file("corrupted"), it.paper, &named)),
        ));
        pieces.push((
            format!("plot-{}", file("errors")),
            Piece::Plot(plots::errors(&file("errors"), it.paper, &named, errors)),
        ));
    }
    let mut parts = statements::statements(all);
    let (differing, asked) = mark(&mut parts, all);
    pieces.push(("say-registers".to_owned(), Piece::Text(registers(differing, asked))));
    pieces.push(("say-tally".to_owned(), Piece::Text(tally(&parts, "programs"))));
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces.push(("errors".to_owned(), Piece::Table(tables::errors(all))));
    pieces.push(("sizes".to_owned(), Piece::Table(tables::sizes(all))));
    if let Some(cjp) = all.iter().find(|it| it.name == "cjp") {
        pieces.push(("registers".to_owned(), Piece::Table(tables::registers(cjp))));
    }
    pieces
}

/// The parts that are about faults in destinations: elements and errors.
const OF_DESTINATIONS: usize = 2;

/// Says of each statement about destinations whether faults in one of 64 registers decide otherwise: of how many they do, and of how
/// many they are asked.
fn mark(parts: &mut [Part], all: &[Measured]) -> (usize, usize) {
    let in_registers: Vec<Measured> = all.iter().map(Measured::in_registers).collect();
    let parts = &mut parts[..OF_DESTINATIONS];
    let asked = parts.iter().map(|part| part.statements.len()).sum();
    (mark_choices(parts, &[("one of 64 registers", statements::statements(&in_registers))]), asked)
}

fn registers(differing: usize, asked: usize) -> String {
    format!(
        "The {asked} statements about elements and errors are judged by faults in destinations, and once more by faults in one of 64 registers, as in the paper: \
         {differing} come out otherwise then, and say so beside our numbers"
    )
}
