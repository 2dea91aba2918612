//! The page of the method: every kernel of the paper measured, its tables made again, its statements judged, its heuristics held
//! against the unbiased choice.

use methods::gpu_qin::{ITERATIONS, STEPS, WINDOW};
use methods::kit::StudyError;
use study::{Plot, Table};

use super::errors::Rate;
use super::questions::Questions;
use super::sentences::{Measurements, sentences};
use super::statements::statements;
use super::survey::{MeasuredKernel, SampleSizes, survey};
use super::tables;
use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "gpu-qin",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: "unbiased", count: 30_000, about: "the unbiased choice, for each kernel" },
        PageCampaign { name: "published", count: 2000, about: "the method at the size of the paper's campaigns" },
        PageCampaign { name: "realisations", count: 20, about: "how often the method is repeated" },
        PageCampaign { name: "variants", count: 8, about: "how often each variant of the method is repeated" },
        PageCampaign { name: "debug", count: 3000, about: "the unbiased choice on kernels built for a debugger" },
    ],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let runs = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let sizes = SampleSizes {
        unbiased: runs("unbiased"),
        published: runs("published"),
        realisations: runs("realisations"),
        variants: runs("variants"),
        debug: runs("debug"),
    };
    let kernels = survey(shop, sizes, only)?;
    if only.is_some() {
        return Ok(Vec::new());
    }
    pieces(&kernels)
}

/// All that the template asks for.
pub(super) fn pieces(kernels: &[MeasuredKernel]) -> Result<Pieces, StudyError> {
    let questions = Questions::of(kernels);
    let parts = statements(kernels, &questions);
    let said = sentences(&Measurements { kernels, questions: &questions, parts: &parts });
    let thresholds = [("iterations", u64::from(ITERATIONS)), ("window", WINDOW), ("steps", u64::from(STEPS))];
    let mut pieces: Vec<(&str, Piece)> = thresholds.map(|(name, count)| (name, Piece::Count(count))).to_vec();
    pieces.extend(said.into_iter().map(|(name, text)| (name, Piece::Text(text))));
    pieces.extend(parts.iter().map(|part| (part.name, Piece::Table(part.table()))));
    pieces.extend(all_tables(kernels, &questions).into_iter().map(|(name, table)| (name, Piece::Table(table))));
    pieces.extend(all_plots(kernels)?.into_iter().map(|(name, plot)| (name, Piece::Plot(plot))));
    Ok(pieces.into_iter().map(|(name, piece)| (name.to_owned(), piece)).collect())
}

fn all_tables(kernels: &[MeasuredKernel], questions: &Questions) -> Vec<(&'static str, Table)> {
    vec![
        ("table-1", tables::categories(kernels)),
        ("table-2", tables::kernels(kernels)),
        ("table-3", tables::campaigns(kernels)),
        ("table-4", tables::monte(kernels)),
        ("table-5", tables::dwarfs(kernels)),
        ("table-6", tables::exceptions(kernels)),
        ("rates", tables::rates(kernels)),
        ("errors", tables::errors(kernels, questions)),
        ("coverages", tables::coverages(kernels)),
        ("summary", tables::summary(kernels, questions)),
        ("caps", tables::caps(kernels, questions)),
        ("spreads", tables::spreads(kernels, questions)),
        ("sad-groups", tables::group_rates(kernels, "SAD-k0")),
        ("given-up", tables::given_up(kernels)),
        ("unread", tables::unread(kernels)),
        ("regression", tables::regression(kernels, questions)),
        ("compilers", tables::compilers(kernels)),
        ("state", tables::shares_of_state(kernels)),
        ("crashes", tables::crashes(kernels)),
        ("sooner", tables::sooner(kernels, questions)),
    ]
}

fn all_plots(kernels: &[MeasuredKernel]) -> Result<Vec<(&'static str, Plot)>, StudyError> {
    let lost = |name: &str| StudyError::Nothing("latencies", format!("no kernel of the paper is called {name}"));
    let latencies = |name: &str| tables::latencies(kernels, name).ok_or_else(|| lost(name));
    Ok(vec![
        ("plot-sdc", tables::rates_plot(kernels, "sdc", Rate::Sdc)),
        ("plot-crash", tables::rates_plot(kernels, "crash", Rate::Crash)),
        ("plot-groups", tables::popularity_plot(kernels)),
        ("plot-latency-aes", latencies("AES")?),
        ("plot-latency-mat", latencies("MAT")?),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that say how many without saying it.
    const VAGUE: [&str; 9] = ["most", "nearly", "few", "rare", "rarely", "mostly", "hardly", "largely", "almost"];

    /// The prose of the template: no code, no definitions, no names of parts of the paper.
    fn prose() -> String {
        let (before, rest) = PAGE.template.split_once("## What is counted").unwrap();
        let after = rest.split_once("## What the paper says, and whether it holds").unwrap().1;
        let after = after.split_once("## The same of your own kernels").unwrap().0;
        let mut text = before.split_once("B. Fang").unwrap().1.to_owned() + after;
        for (open, close) in [("`", "`"), ("(../", ")"), ("{{", "}}"), ("(IEEE", "2016)")] {
            while let Some((head, tail)) = text.split_once(open) {
                text = format!("{head}{}", tail.split_once(close).map_or("", |(_, tail)| tail));
            }
        }
        for name in [
            "Fig. 6",
            "Fig. 7",
            "Fig. 9",
            "Eq. 1",
            "Eq. 2",
            "Eq. 3",
            "Eq. 4 and 5",
            "(1 - ΣN_i/N)",
            "χ²/df is about 1",
            "Tesla C2075",
            "H200",
            "95 %",
            "bits",
            "SAD-k0",
        ] {
            text = text.replace(name, "");
        }
        text
    }

    #[test]
    fn the_template_says_no_number_and_no_word_for_one() {
        let text = prose();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        let numbers: Vec<&&str> = words.iter().filter(|word| word.chars().any(|c| c.is_ascii_digit())).collect();
        assert_eq!(numbers, [&"64"], "that registers have 64 bits is a fact of PTX");
        let vague: Vec<&&str> = words.iter().filter(|word| VAGUE.contains(&word.to_lowercase().as_str())).collect();
        assert!(vague.is_empty(), "{vague:?}");
    }
}
