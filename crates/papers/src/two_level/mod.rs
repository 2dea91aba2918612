//! The page of the method: the figures and tables of the paper with our workloads, its statements judged.

mod monte_carlo;
mod plots;
mod questions;
mod sentences;
mod sizes;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;
mod variants;

use methods::kit::StudyError;
use methods::two_level::IpaTable;
use study::Table;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use questions::Questions;
use sizes::SizedWorkload;
use survey::{Measured, Sizes};

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "two-level",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign {
            name: "cell",
            count: 1068,
            about: "each type and manifestation; 1068 know every chance to ±3 %",
        },
        PageCampaign { name: "size", count: 1068, about: "each type and manifestation at another size" },
        PageCampaign { name: "pattern", count: 3000, about: "each pattern of bits and lanes" },
        PageCampaign { name: "worlds", count: 1000, about: "how often a measurement is made up to check its interval" },
    ],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let runs = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let size = runs("size");
    let sizes = Sizes { cell: runs("cell"), pattern: runs("pattern"), worlds: runs("worlds") };
    let all = survey::survey(shop, &sizes, only)?;
    if only.is_some() {
        return Ok(Vec::new());
    }
    let ipa = IpaTable::named("K40").map_err(StudyError::Words)?;
    let sized = sizes::measure(shop, size)?;
    Ok(pieces(&all, &sized, &ipa))
}

fn pieces(all: &[Measured], sized: &[SizedWorkload], ipa: &IpaTable) -> Pieces {
    let questions = Questions::of(all, ipa);
    let mut parts = statements::statements(all, ipa, &questions);
    let differing = variants::mark(&mut parts, all, ipa);
    let mut pieces: Vec<(&str, Piece)> = Vec::new();
    let said = sentences::sentences(all, ipa, &questions, &parts);
    pieces.extend(said.into_iter().map(|(name, text)| (name, Piece::Text(text))));
    pieces.push(("say-variants", Piece::Text(variants::sentence(&parts, differing, all))));
    pieces.push(("say-sizes", Piece::Text(sizes::sentence(all, sized))));
    pieces.extend(parts.iter().map(|part| (part.name, Piece::Table(part.table()))));
    let tables: Vec<(&str, Table)> = vec![
        ("strikes", tables::strikes(ipa)),
        ("microbenchmarks", tables::microbenchmarks(ipa)),
        ("fractions", tables::fractions(all, ipa)),
        ("left-out", tables::left_out(all)),
        ("derating", tables::derating(all, ipa)),
        ("rates-paper", tables::rates(all, 0)),
        ("rates-h200", tables::rates(all, 1)),
        ("issue", tables::issue(all)),
        ("trends", tables::trends(all)),
        ("kernels", tables::kernels(all)),
        ("patterns", tables::patterns(all)),
        ("variants", variants::table(all)),
        ("sizes", sizes::table(all, sized)),
    ];
    pieces.extend(tables.into_iter().map(|(name, table)| (name, Piece::Table(table))));
    pieces.extend(plots::plots(all, ipa).into_iter().map(|(name, plot)| (name, Piece::Plot(plot))));
    pieces.into_iter().map(|(name, piece)| (name.to_owned(), piece)).collect()
}
