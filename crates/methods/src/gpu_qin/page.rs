//! The page of the method: every kernel of the paper measured, its tables made again, its heuristics held against the
//! unbiased choice.

use study::{Plot, Table};

use super::survey::{MeasuredKernel, SampleSizes, survey};
use super::{studies, tables};
use crate::kit::{Studied, StudyError};
use crate::method::{MethodPage, PageCampaign, Piece, Pieces, Workshop};

/// Instructions beyond ten times its own after which a thread is stopped: enough for an address that runs away to leave what
/// is mapped.
const FUEL: u32 = 1_000_000;

/// The page.
pub(super) static PAGE: MethodPage = MethodPage {
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: "large", count: 100_000, about: "the unbiased choice, for each kernel" },
        PageCampaign { name: "variants", count: 20_000, about: "the method and each of its variants" },
        PageCampaign { name: "published", count: 2000, about: "the method at the size of the paper's campaigns" },
        PageCampaign { name: "debug", count: 5000, about: "the unbiased choice on kernels built for a debugger" },
        PageCampaign { name: "caps", count: 10_000, about: "each loop-iteration cap of Fig. 6" },
    ],
    fuel: FUEL,
    make,
};

fn make(shop: &mut Workshop<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let runs = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let caps = runs("caps");
    let sizes = SampleSizes {
        large: runs("large"),
        variants: runs("variants"),
        published: runs("published"),
        debug: runs("debug"),
    };
    let kernels = survey(shop, sizes, only)?;
    if only.is_some() {
        return Ok(Vec::new());
    }
    let mut pieces = Vec::new();
    for (name, workload, kernel) in [("caps-mat", "matmul", "matmul"), ("caps-mriq", "mriq", "accumulate")] {
        shop.campaigns.kernels = vec![kernel.to_owned()];
        let studied = Studied { capsule: shop.workloads.bundled(workload)?, class: None };
        let study = studies::iterations::study(&[studied], caps, shop.campaigns)?;
        pieces.extend(study.tables.into_iter().take(1).map(|table| (name.to_owned(), Piece::Table(table))));
        pieces.extend(study.plots.into_iter().take(1).map(|plot| (format!("plot-{name}"), Piece::Plot(plot))));
    }
    pieces.extend(all_tables(&kernels).into_iter().map(|(name, table)| (name.to_owned(), Piece::Table(table))));
    pieces.extend(all_plots(&kernels)?.into_iter().map(|(name, plot)| (name.to_owned(), Piece::Plot(plot))));
    Ok(pieces)
}

fn all_tables(kernels: &[MeasuredKernel]) -> Vec<(&'static str, Table)> {
    vec![
        ("orderings", tables::orderings(kernels)),
        ("table-1", tables::categories(kernels)),
        ("table-2", tables::kernels(kernels)),
        ("table-3", tables::campaigns(kernels)),
        ("table-4", tables::monte(kernels)),
        ("table-5", tables::dwarfs(kernels)),
        ("table-6", tables::exceptions(kernels)),
        ("rates", tables::rates(kernels)),
        ("errors", tables::errors(kernels)),
        ("error-summary", tables::summary(kernels)),
        ("spreads", tables::spreads(kernels)),
        ("sad-groups", tables::group_rates(kernels, "SAD-k0")),
        ("regression", tables::regression(kernels)),
        ("compilers", tables::compilers(kernels)),
        ("state", tables::shares_of_state(kernels)),
        ("crashes", tables::crashes(kernels)),
    ]
}

fn all_plots(kernels: &[MeasuredKernel]) -> Result<Vec<(&'static str, Plot)>, StudyError> {
    let lost = |name: &str| StudyError::Nothing("latencies", format!("no kernel of the paper is called {name}"));
    let latencies = |name: &str| tables::latencies(kernels, name).ok_or_else(|| lost(name));
    Ok(vec![
        ("plot-sdc", tables::rates_plot(kernels, "sdc", "SDC rate", |rates| rates.sdc)),
        ("plot-crash", tables::rates_plot(kernels, "crash", "crash rate", |rates| rates.crash)),
        ("plot-hang", tables::rates_plot(kernels, "hang", "hang rate", |rates| rates.hang)),
        ("plot-groups", tables::popularity_plot(kernels)),
        ("plot-latency-aes", latencies("AES")?),
        ("plot-latency-mat", latencies("MAT")?),
    ])
}
