//! `beamline study`

use crate::args;
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{SAME_COMMAND, stop_on_interrupt};
use crate::out;
use crate::progress::Progress;
use anyhow::{Context as _, anyhow};
use campaign::names::file_name;
use campaign::{Choices, StoreError};
use methods::kit::{Campaigns, OpenedCapsule, StudyError, StudyEvent, StudySubject};
use methods::registry;
use outcome::Criteria;
use session::{Session, bundled};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use study::Study;

/// Makes a study and shows it.
pub(crate) fn study(args: &args::Study) -> Result<Code, Failure> {
    let Some(offer) = registry::studies().find(|study| study.name == args.name) else {
        let names: Vec<&str> = registry::studies().map(|study| study.name).collect();
        let error = anyhow!("make the study `{}`: there are {}", args.name, names.join(", "));
        return Err(Failure::new(Code::Usage, error));
    };
    let stop = stop_on_interrupt(SAME_COMMAND)?;
    let sessions: Vec<Session> = args
        .capsules
        .iter()
        .map(|name| open(name, &args.kept, args.no_app, Criteria::default()))
        .collect::<Result<_, _>>()?;
    let studied = |(name, session): (&String, &Session)| {
        let class = bundled::find(name).map(|workload| workload.description().class);
        Ok(StudySubject { capsule: capsule_of(session)?, class })
    };
    let subjects = args.capsules.iter().zip(&sessions).map(studied).collect::<Result<Vec<_>, Failure>>()?;
    let mut told = ProgressPrinter::default();
    let mut event = |name: &str, event: &StudyEvent<'_>| told.event(name, event);
    let mut campaigns = campaigns(&args.kept, &stop, &mut event);
    let study = (offer.make)(&subjects, args.runs, &mut campaigns).map_err(failure)?;
    if let Some(dir) = &args.plots {
        write_plots(dir, &study, &args.name)?;
    }
    if args.json {
        out::json(&study)?;
    } else {
        out::text(&report::study::text(&study))?;
    }
    Ok(Code::Done)
}

/// Writes the plots of a study, by the name that it was asked for, into a directory.
pub(super) fn write_plots(dir: &Path, study: &Study, name: &str) -> Result<(), Failure> {
    if study.plots.is_empty() {
        out::note(&format!("the study `{name}` draws no plots"));
    }
    std::fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display())).code(Code::Usage)?;
    for plot in &study.plots {
        out::file(&dir.join(format!("{}.svg", file_name(&plot.name))), report::study::svg(plot))?;
    }
    Ok(())
}

/// A capsule, ready for the faults of a study, with its application where that finishes runs; its outputs are compared by `criteria`.
pub(crate) fn open(
    name: &str,
    kept: &args::StudyOptions,
    no_app: bool,
    criteria: Criteria,
) -> Result<Session, Failure> {
    let choices = Choices { capsule: Some(name.to_owned()), fuel: kept.fuel, no_app, criteria, ..Choices::default() };
    let session = session::open(choices)?;
    session.application_notes().iter().for_each(|note| out::note(note));
    Ok(session)
}

/// The capsule of a session.
pub(crate) fn capsule_of(session: &Session) -> Result<OpenedCapsule, Failure> {
    let none = || Failure::new(Code::Usage, anyhow!("study {}: it is not a capsule", session.name()));
    session.opened_capsule()?.ok_or_else(none)
}

/// Campaigns that are kept as the command line says.
pub(crate) fn campaigns<'a>(
    kept: &args::StudyOptions,
    stop: &'a AtomicBool,
    told: &'a mut dyn FnMut(&str, &StudyEvent<'_>),
) -> Campaigns<'a> {
    let args::StudyOptions { kernel, seed, jobs, out, .. } = kept;
    Campaigns { dir: out.clone(), seed: *seed, kernels: kernel.clone(), jobs: *jobs, history: None, stop, told }
}

/// Shows the campaigns of a study, one after the other.
#[derive(Default)]
pub(crate) struct ProgressPrinter {
    name: String,
    progress: Option<Progress>,
}

impl ProgressPrinter {
    /// Takes an event of the campaign or the search `name`.
    pub(crate) fn event(&mut self, name: &str, event: &StudyEvent<'_>) {
        if self.name != name {
            self.progress.take().inspect(Progress::finish);
            out::note(name);
            name.clone_into(&mut self.name);
        }
        let what = if matches!(event, StudyEvent::Campaign(_)) { "runs" } else { "inputs" };
        let progress = self.progress.get_or_insert_with(|| Progress::new(what));
        match event {
            StudyEvent::Campaign(event) => progress.event(event),
            StudyEvent::Inputs { done, all, best } => progress.inputs(*done, *all, *best),
        }
    }
}

impl Drop for ProgressPrinter {
    fn drop(&mut self) {
        self.progress.take().inspect(Progress::finish);
    }
}

/// What went wrong, with the code for it.
pub(crate) fn failure(error: StudyError) -> Failure {
    let code = match &error {
        StudyError::Interrupted | StudyError::Unkept => Code::Interrupted,
        StudyError::Campaign(_) => Code::Bug,
        StudyError::Refused(_) => Code::Refused,
        StudyError::Store(error) if !matches!(**error, StoreError::Create { .. }) => Code::Refused,
        StudyError::Words(_)
        | StudyError::Config(_)
        | StudyError::Target(_)
        | StudyError::Store(_)
        | StudyError::Nothing(..) => Code::Usage,
    };
    Failure::new(code, error)
}

/// Prints tables of a command about networks.
pub(crate) fn show(tables: Vec<study::Table>) -> Result<(), Failure> {
    let mut study = Study::new("nn", "", "");
    study.tables = tables;
    out::text(&report::study::text(&study))
}
