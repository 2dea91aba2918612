//! Pages of documentation whose numbers are measured, as `papers` describes them.
//!
//! Campaigns are kept under `target/pages` and are not run again while they fit the capsules; the text is a template of
//! the page, in which `{{name}}` stands for a number, a sentence, a table or a plot.

use crate::repo::{beamline, root, say};
use crate::workloads::{debug_build, fixed_nvcc};
use anyhow::{Context, Error, Result, anyhow, ensure};
use campaign::{CampaignEvent, Choices};
use clap::Parser;
use methods::kit::{Campaigns, Inputs, OpenedCapsule, StudyError, StudyEvent};
use outcome::Criteria;
use papers::{MethodPage, PageContext, Piece, Workloads, registry};
use session::Session;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a page is asked for.
#[derive(Parser)]
pub(crate) struct Args {
    /// The method
    method: String,
    /// Only measure what is about this workload, and write nothing
    only: Option<String>,
    /// Runs of campaigns of a kind, such as large=1000
    #[arg(long, value_name = "KIND=N", value_parser = kind)]
    runs: Vec<(String, u64)>,
}

/// `KIND=N`
fn kind(text: &str) -> Result<(String, u64), String> {
    let (name, count) = text.split_once('=').ok_or("expected KIND=N, such as large=1000")?;
    Ok((name.to_owned(), count.parse().map_err(|_| format!("`{count}` is not a number"))?))
}

/// Measures, and writes the page and its plots.
pub(crate) fn page(args: &Args) -> Result<()> {
    let page = registry::find(&args.method).map_err(Error::msg)?;
    let runs = runs(page, &args.runs)?;
    let (stop, mut told) = (AtomicBool::new(false), String::new());
    let mut campaigns = Campaigns {
        dir: root().join("target/pages").join(page.method),
        seed: 0,
        kernels: Vec::new(),
        jobs: None,
        history: None,
        stop: &stop,
        told: &mut |name, event| tell(&mut told, name, event),
    };
    let mut workloads = Repository;
    let mut shop = PageContext { workloads: &mut workloads, campaigns: &mut campaigns, runs: runs.clone() };
    let pieces = (page.make)(&mut shop, args.only.as_deref())?;
    if args.only.is_some() {
        return say("measured; without a workload, the page is written");
    }
    let folder = Folder { root: root().join("docs/methods"), method: page.method };
    fs::create_dir_all(folder.root.join(page.method)).context("create the folder of the plots")?;
    let mut text = page.template.to_owned();
    let sizes = runs.iter().map(|(name, count)| (format!("runs-{name}"), Piece::Count(*count)));
    for (name, piece) in pieces.into_iter().chain(sizes) {
        fill(&mut text, &name, &folder.shown(&piece)?)?;
    }
    ensure!(!text.contains("{{"), "the template names a table or a plot that is not made");
    let file = format!("{}.md", page.method);
    fs::write(folder.root.join(&file), text).with_context(|| format!("write docs/methods/{file}"))?;
    say(&format!("docs/methods/{file} written"))
}

/// How many runs campaigns of each kind have.
fn runs(page: &MethodPage, said: &[(String, u64)]) -> Result<BTreeMap<&'static str, u64>> {
    let mut runs: BTreeMap<&'static str, u64> = page.runs.iter().map(|kind| (kind.name, kind.count)).collect();
    for (name, count) in said {
        let known = || page.runs.iter().map(|kind| format!("{} ({})", kind.name, kind.about)).collect::<Vec<_>>();
        let kind = runs.get_mut(name.as_str());
        *kind.ok_or_else(|| anyhow!("there is no kind `{name}` of campaigns, but {}", known().join(", ")))? = *count;
    }
    Ok(runs)
}

/// A line for each campaign that has to be run.
fn tell(told: &mut String, name: &str, event: &StudyEvent<'_>) {
    if let StudyEvent::Campaign(CampaignEvent::Started { planned, tally, .. }) = event
        && tally.total() < *planned
        && told != name
    {
        name.clone_into(told);
        // Progress that cannot be shown is no reason to stop.
        let _ = say(&format!("{name}: {planned} runs"));
    }
}

/// The workloads of this repository.
struct Repository;

impl Repository {
    fn build(&self, name: &str) -> Result<OpenedCapsule> {
        let recording = debug_build(&beamline()?, &fixed_nvcc()?, name)?;
        opened(&session::open_recording(Choices::default(), Arc::new(recording))?)
    }
}

/// A bundled workload, as commands open it: its application finishes runs where its host decides.
fn bundled(name: &str, criteria: Criteria) -> Result<OpenedCapsule> {
    let choices = Choices { capsule: Some(name.to_owned()), criteria, ..Choices::default() };
    opened(&session::open(choices)?)
}

fn opened(session: &Session) -> Result<OpenedCapsule> {
    session.opened_capsule()?.with_context(|| format!("{} is not a program of a GPU", session.name()))
}

impl Workloads for Repository {
    fn bundled(&mut self, name: &str) -> Result<OpenedCapsule, StudyError> {
        self.judged(name, Criteria::default())
    }

    fn judged(&mut self, name: &str, criteria: Criteria) -> Result<OpenedCapsule, StudyError> {
        bundled(name, criteria).map_err(|error| refused(&error))
    }

    fn unoptimised(&mut self, name: &str) -> Result<OpenedCapsule, StudyError> {
        self.build(name).map_err(|error| refused(&error))
    }

    fn declared(&mut self, name: &str) -> Result<String, StudyError> {
        let path = root().join("workloads").join(name).join("workload.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()));
        text.map_err(|error| refused(&error))
    }

    fn records(&mut self, folder: &str) -> Result<Vec<String>, StudyError> {
        texts(&root().join("records").join(folder)).map_err(|error| refused(&error))
    }

    fn inputs(&mut self, name: &str, criteria: Criteria) -> Result<Box<dyn Inputs>, StudyError> {
        let choices = Choices { criteria, ..Choices::default() };
        let opened = session::inputs::open_inputs(name, None, choices);
        Ok(Box::new(opened.map_err(|error| refused(&error.into()))?))
    }
}

/// The texts of the files of lines of JSON in a folder, in the order of their names.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let read = || format!("read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(read)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().with_context(read)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).with_context(|| format!("read {}", path.display()))).collect()
}

fn refused(error: &Error) -> StudyError {
    StudyError::Nothing("the workloads", format!("{error:#}"))
}

/// Where a page and its plots are.
struct Folder {
    root: PathBuf,
    method: &'static str,
}

impl Folder {
    /// A piece as it stands in the page.
    fn shown(&self, piece: &Piece) -> Result<String> {
        match piece {
            Piece::Count(count) => Ok(report::plain(*count)),
            Piece::Text(text) => Ok(text.clone()),
            Piece::Table(table) => Ok(report::study::markdown(table)),
            Piece::Plot(plot) => {
                self.write(&format!("{}.svg", plot.name), &plot.title, report::study::svg(plot).into())
            }
            Piece::Picture(picture) => {
                let bytes = report::study::png(picture).context("draw a picture")?;
                self.write(&format!("{}.png", picture.name), &picture.title, bytes)
            }
        }
    }

    /// Writes a plot or a picture beside the page.
    fn write(&self, name: &str, title: &str, bytes: Vec<u8>) -> Result<String> {
        let file = Path::new(self.method).join(name);
        fs::write(self.root.join(&file), bytes).with_context(|| format!("write {}", file.display()))?;
        Ok(format!("![{title}]({})\n", file.display()))
    }
}

/// Puts a text in the place of a name, which must be there.
fn fill(page: &mut String, name: &str, text: &str) -> Result<()> {
    let place = format!("{{{{{name}}}}}");
    ensure!(page.contains(&place), "the template has no {place}");
    *page = page.replace(&place, text.trim_end());
    Ok(())
}
