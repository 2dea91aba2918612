//! The page of GPU-Qin: every kernel of the paper measured, its tables made again, its heuristics held against the
//! unbiased choice.
//!
//! Campaigns are kept under `target/gpu-qin` and are not run again while they fit the capsules; the text is a template
//! beside this file, in which `{{name}}` stands for a table or a plot.

use crate::repo::{beamline, root, say};
use crate::workloads::{debug_build, fixed_nvcc};
use anyhow::{Context, Result, anyhow, ensure};
use campaign::Event;
use capsule::Capsule;
use inject::{CapsuleTarget, Golden};
use methods::gpu_qin::studies::{Subject, study};
use methods::gpu_qin::{Bench, Sizes, StudyError, Surveyed, survey, tables};
use methods::study::{Plot, Table};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Instructions beyond ten times its own after which a thread hangs: enough for an address that runs away to leave what
/// is mapped.
const FUEL: u32 = 1_000_000;

/// The text around the numbers.
const TEMPLATE: &str = include_str!("gpu_qin.md");

/// Measures all kernels and writes the page and its plots.
pub(crate) fn gpu_qin(sizes: Sizes, only: Option<&str>) -> Result<()> {
    let (stop, mut told) = (AtomicBool::new(false), String::new());
    let mut bench = Bench {
        dir: root().join("target/gpu-qin"),
        seed: 0,
        kernels: Vec::new(),
        jobs: None,
        stop: &stop,
        told: &mut |name, event| tell(&mut told, name, event),
    };
    let (program, nvcc) = (beamline()?, fixed_nvcc()?);
    let both = |name: &str| -> Result<[CapsuleTarget; 2]> {
        Ok([bundled(name)?, target(debug_build(&program, &nvcc, name)?)?])
    };
    let kernels = survey(sizes, only, &mut bench, &mut |name| both(name).map_err(|error| refused(&error)))?;
    if only.is_some() {
        return say("measured; without a name, the page is written");
    }
    let folder = root().join("docs/methods");
    fs::create_dir_all(folder.join("gpu-qin")).context("create docs/methods/gpu-qin")?;
    let mut page = TEMPLATE.to_owned();
    for (name, workload, kernel) in [("caps-mat", "matmul", "matmul"), ("caps-mriq", "mriq", "accumulate")] {
        bench.kernels = vec![kernel.to_owned()];
        let subject = Subject { capsule: &bundled(workload)?, class: None };
        let study = study("iterations", &[subject], sizes.caps, &mut bench)?;
        fill(&mut page, name, &report::study::markdown(&study.tables[0]))?;
        plot(&folder, &mut page, &format!("plot-{name}"), &study.plots[0])?;
    }
    for table in all_tables(&kernels) {
        fill(&mut page, table.0, &report::study::markdown(&table.1))?;
    }
    for (name, it) in all_plots(&kernels)? {
        plot(&folder, &mut page, name, &it)?;
    }
    fill(&mut page, "fuel", &report::plain(FUEL.into()))?;
    let sizes = [
        ("runs-caps", sizes.caps),
        ("runs-debug", sizes.debug),
        ("runs-large", sizes.large),
        ("runs-variants", sizes.variants),
        ("runs-published", sizes.published),
    ];
    for (name, runs) in sizes {
        fill(&mut page, name, &report::plain(runs))?;
    }
    ensure!(!page.contains("{{"), "the template names a table or a plot that is not made");
    fs::write(folder.join("gpu-qin.md"), page).context("write docs/methods/gpu-qin.md")?;
    say("docs/methods/gpu-qin.md written")
}

fn refused(error: &anyhow::Error) -> StudyError {
    StudyError::Nothing("the workloads", format!("{error:#}"))
}

/// A line for each campaign that has to be run.
fn tell(told: &mut String, name: &str, event: &Event<'_>) {
    if let Event::Started { planned, tally, .. } = event
        && tally.total() < *planned
        && told != name
    {
        name.clone_into(told);
        // Progress that cannot be shown is no reason to stop.
        let _ = say(&format!("{name}: {planned} runs"));
    }
}

/// A bundled workload, ready for faults.
fn bundled(name: &str) -> Result<CapsuleTarget> {
    let path = root().join("workloads").join(name).join(format!("{name}.capsule"));
    target(Capsule::open(&path).with_context(|| format!("open {}", path.display()))?)
}

/// Writes a plot beside the page and puts it in the place of a name.
fn plot(folder: &Path, page: &mut String, name: &str, plot: &Plot) -> Result<()> {
    let file = format!("gpu-qin/{}.svg", plot.name);
    fs::write(folder.join(&file), report::study::svg(plot)).with_context(|| format!("write {file}"))?;
    fill(page, name, &format!("![{}]({file})\n", plot.title))
}

/// A capsule, ready for faults.
fn target(capsule: Capsule) -> Result<CapsuleTarget> {
    let mut target = CapsuleTarget::new(Golden::run(Arc::new(capsule))?);
    let criteria = target.criteria();
    target.judge_by(&criteria, true)?;
    target.set_fuel(FUEL);
    Ok(target)
}

/// Puts a text in the place of a name, which must be there.
fn fill(page: &mut String, name: &str, text: &str) -> Result<()> {
    let place = format!("{{{{{name}}}}}");
    ensure!(page.contains(&place), "the template has no {place}");
    *page = page.replace(&place, text.trim_end());
    Ok(())
}

fn all_tables(kernels: &[Surveyed]) -> Vec<(&'static str, Table)> {
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

fn all_plots(kernels: &[Surveyed]) -> Result<Vec<(&'static str, Plot)>> {
    let latencies =
        |name: &str| tables::latencies(kernels, name).ok_or_else(|| anyhow!("no kernel of the paper is called {name}"));
    Ok(vec![
        ("plot-sdc", tables::rates_plot(kernels, "sdc", "SDC rate", |rates| rates.sdc)),
        ("plot-crash", tables::rates_plot(kernels, "crash", "crash rate", |rates| rates.crash)),
        ("plot-hang", tables::rates_plot(kernels, "hang", "hang rate", |rates| rates.hang)),
        ("plot-groups", tables::popularity_plot(kernels)),
        ("plot-latency-aes", latencies("AES")?),
        ("plot-latency-mat", latencies("MAT")?),
    ])
}
