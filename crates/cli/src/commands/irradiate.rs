//! What campaigns on capsules and on applications share: how they begin, run and end.

use crate::args;
use crate::commands::bounds::Stated;
use crate::commands::method;
use crate::failure::{Code, Coded, Failure};
use crate::progress::Progress;
use crate::{out, source, waiting};
use anyhow::anyhow;
use campaign::{CampaignError, Choices, Config, Ended, Engine, EngineOffer, Size, Store, StoreError, Summary, Target};
use methods::gpu_qin::GpuQin;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Refuses what says two things of one output.
pub(crate) fn once_each(choose: &args::Choose) -> Result<(), Failure> {
    let mut named = BTreeSet::new();
    match choose.quality.iter().find(|(name, _)| !named.insert(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let error = anyhow!("judge `{name}` by two `--quality`: put all its keys into one, divided by commas");
            Err(Failure::new(Code::Usage, error))
        }
    }
}

/// The configuration that choices of the command line make; relative names of an application mean what they mean here.
pub(crate) fn settled(mut choices: Choices) -> Result<Config, Failure> {
    if !choices.live.app.words().is_empty() {
        choices.live.directory = source::lasting_directory(choices.live.directory.as_deref());
    }
    choices.settle().code(Code::Usage)
}

/// Refuses an engine that what is to be irradiated does not offer, before any work is done for it.
pub(crate) fn offered(engine: &Engine, offers: &[EngineOffer]) -> Result<(), Failure> {
    let failed = engine.among(offers).code(Code::Usage);
    if *engine == debugger::CUDA_GDB {
        return failed.map_err(|failure| failure.help(format!("`{engine}` runs applications: see `beamline live`")));
    }
    failed
}

/// How the end of a campaign is shown and judged.
pub(crate) struct Shown<'m> {
    pub(crate) json: bool,
    pub(crate) stated: Stated,
    /// The method that chose the sites.
    pub(crate) method: Option<&'m GpuQin<'m>>,
}

/// Makes a campaign and runs it.
pub(crate) fn create(
    target: Target<'_>,
    config: Config,
    out: Option<PathBuf>,
    stop: &AtomicBool,
    shown: &Shown<'_>,
) -> Result<Code, Failure> {
    let dir = out.unwrap_or_else(|| fresh_dir(target.subject.name()));
    let store = Store::create(&dir, config, target).map_err(store_failure)?;
    irradiate(target, store, stop, shown)
}

/// A selection that means nothing is a mistake on the command line; a directory that cannot be used is one too.
pub(crate) fn store_failure(error: StoreError) -> Failure {
    Failure::new(Code::Usage, error)
}

/// `NAME.campaign`, or the first of `NAME-2.campaign`, … that does not exist.
fn fresh_dir(name: &str) -> PathBuf {
    let numbered = (2u32..).map(|number| PathBuf::from(format!("{name}-{number}.campaign")));
    let mut candidates = std::iter::once(PathBuf::from(format!("{name}.campaign"))).chain(numbered);
    candidates.find(|dir| !dir.exists()).unwrap_or_else(|| PathBuf::from(format!("{name}.campaign")))
}

/// Runs a campaign, shows what it came to, and judges it.
pub(crate) fn irradiate(
    target: Target<'_>,
    mut store: Store,
    stop: &AtomicBool,
    shown: &Shown<'_>,
) -> Result<Code, Failure> {
    let dir = store.dir().to_owned();
    let what = if store.config().size == Size::Exhaustive { "faults" } else { "runs" };
    let mut progress = Progress::new(what);
    let ended = campaign::run(target, &mut store, stop, &mut |event| progress.event(&event));
    progress.finish();
    if let Ok(Ended::OutOfTime(summary)) = &ended {
        let left = out::number(summary.remaining.unwrap_or(0));
        out::note(&format!("its time is over with {left} {what} to go; {}", resume_line(&dir)));
    }
    match ended {
        Ok(Ended::Finished(summary) | Ended::OutOfTime(summary)) => {
            match shown.method {
                None => show(&summary, shown.json)?,
                Some(method) => method::show(&summary, &method::estimate(&dir, method)?, shown.json)?,
            }
            if !shown.json {
                out::text(&format!("\nresults in {}\n", dir.display()))?;
            }
            shown.stated.judge(&dir)?;
            Ok(Code::Done)
        }
        Ok(Ended::Interrupted(summary)) => {
            let left = summary.remaining.unwrap_or(0);
            let error = anyhow!("finish the campaign: it was interrupted with {left} {what} to go");
            Err(Failure::new(Code::Interrupted, error).help(resume_line(&dir)))
        }
        Err(error @ CampaignError::Store(_)) => Err(Failure::new(Code::Interrupted, error).help(resume_line(&dir))),
        Err(error) => Err(Failure::new(Code::Bug, error).help(resume_line(&dir))),
    }
}

fn resume_line(dir: &Path) -> String {
    format!("what was run is kept; go on with `beamline resume {}`", dir.display())
}

/// A flag that the first Ctrl-C raises; the second ends the program, as the first does where there is nothing to keep.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let handler = move || {
        let waiting = waiting::is_golden_run();
        if waiting {
            out::note("interrupted in the golden run; nothing was injected");
        }
        if raised.swap(true, Ordering::SeqCst) || waiting {
            #[expect(clippy::exit, reason = "everything written so far is durable, and what runs ends with us")]
            std::process::exit(3);
        }
    };
    ctrlc::set_handler(handler).code(Code::Bug)?;
    Ok(stop)
}

/// Prints a summary.
pub(crate) fn show(summary: &Summary, json: bool) -> Result<(), Failure> {
    if json { out::json(summary) } else { out::text(&report::text::summary(summary, fault::base_name)) }
}
