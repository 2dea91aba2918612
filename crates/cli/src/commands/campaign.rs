//! `beamline campaign` and `beamline resume`

use crate::args;
use crate::commands::bounds::{self, Stated};
use crate::commands::live;
use crate::failure::{Code, Coded, Failure};
use crate::progress::Progress;
use crate::{out, source};
use anyhow::anyhow;
use campaign::{CampaignError, Choices, Config, Ended, Engine, Size, Store, StoreError, Summary, Target};
use inject::{CapsuleTarget, Means};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Irradiates a capsule.
pub(crate) fn campaign(args: args::Campaign) -> Result<Code, Failure> {
    // From the first file on, an interruption leaves something to go on with.
    let stop = stop_on_interrupt()?;
    let mut named = std::collections::BTreeSet::new();
    if let Some((name, _)) = args.quality.iter().find(|(name, _)| !named.insert(name)) {
        let error = anyhow!("judge `{name}` by two `--quality`: put all its keys into one, divided by commas");
        return Err(Failure::new(Code::Usage, error));
    }
    let mut choices = args.choices();
    if let Some(path) = &args.config {
        choices = choices.or(Choices::from_file(path).code(Code::Usage)?);
    }
    let no_capsule = || Failure::new(Code::Usage, anyhow!("find out what to irradiate: name a capsule or a workload"));
    let name = choices.capsule.clone().ok_or_else(no_capsule)?;
    // Everything about the choices is checked before work begins.
    let criteria = settled(choices.clone())?.criteria;
    let mut target = target(&name)?;
    choices.capsule = Some(source::lasting_name(&name));
    for note in target.judge_by(&criteria, true).code(Code::Usage)? {
        out::note(&note);
    }
    let config = settled(choices.judged_by(target.criteria()))?;
    bounds::check_names(&target, &config.bounds)?;
    let shown = Shown { json: args.json, stated: Stated::of(&config, &args.bounds) };
    target.set_means(means(&config));
    match config.live {
        None => create(&target, config, args.out, &stop, &shown),
        Some(_) => create(&live::beside(target, &config)?, config, args.out, &stop, &shown),
    }
}

/// How the end of a campaign is shown and judged.
pub(crate) struct Shown {
    pub(crate) json: bool,
    pub(crate) stated: Stated,
}

/// Makes a campaign and runs it.
pub(crate) fn create(
    target: &dyn Target,
    config: Config,
    out: Option<PathBuf>,
    stop: &AtomicBool,
    shown: &Shown,
) -> Result<Code, Failure> {
    let dir = out.unwrap_or_else(|| fresh_dir(target.name()));
    let store = Store::create(&dir, config, target).map_err(store_failure)?;
    irradiate(target, store, stop, shown)
}

/// What a campaign may use; what is not said is the machine's.
fn means(config: &Config) -> Means {
    let default = Means::default();
    Means {
        memory: config.memory.map_or(default.memory, |memory| memory.0),
        jobs: config.jobs.map_or(default.jobs, |jobs| jobs.get() as usize),
        ..default
    }
}

/// Fills in every default, so that the stored configuration says what was done.
pub(crate) fn settled(choices: Choices) -> Result<Config, Failure> {
    let fill = |value: Option<String>, default: &str| Some(value.unwrap_or_else(|| default.to_owned()));
    let choices = Choices {
        model: fill(choices.model, "flip"),
        target: fill(choices.target, "dst"),
        scope: fill(choices.scope, "thread"),
        engine: Some(choices.engine.unwrap_or(Engine::Auto)),
        directory: choices.app.as_ref().and(source::lasting_directory(choices.directory.as_deref())),
        ..choices
    };
    choices.settle().code(Code::Usage)
}

/// Goes on with a campaign.
pub(crate) fn resume(args: &args::Resume) -> Result<Code, Failure> {
    let stop = stop_on_interrupt()?;
    let mut config = campaign::read_config(&args.dir).code(Code::Refused)?;
    // Runs in place are one at a time.
    if !config.live.as_ref().is_some_and(|live| live.in_place) {
        config.jobs = args.jobs.or(config.jobs);
    }
    config.memory = args.memory.or(config.memory);
    let target: Box<dyn Target> = match &config.live {
        Some(_) if config.capsule.is_empty() => Box::new(live::recorded(&config, false)?),
        live => {
            let mut target = target(&config.capsule)?;
            // The types that were found out stand in the configuration; what does not was compared byte by byte.
            target.judge_by(&config.criteria, false).code(Code::Refused)?;
            target.set_means(means(&config));
            if live.is_some() { Box::new(live::beside(target, &config)?) } else { Box::new(target) }
        }
    };
    let mut store = Store::resume(&args.dir, &*target).map_err(store_failure)?;
    store.set_jobs(config.jobs);
    store.set_memory(config.memory);
    let shown = Shown { json: args.json, stated: Stated::of(&config, &args.bounds) };
    irradiate(&*target, store, &stop, &shown)
}

fn target(name: &str) -> Result<CapsuleTarget, Failure> {
    Ok(CapsuleTarget::new(source::golden(source::open(name)?)?))
}

/// A selection that means nothing is a mistake on the command line; a directory that cannot be used is one too.
fn store_failure(error: StoreError) -> Failure {
    Failure::new(Code::Usage, error)
}

/// `NAME.campaign`, or the first of `NAME-2.campaign`, … that does not exist.
fn fresh_dir(name: &str) -> PathBuf {
    let numbered = (2u32..).map(|number| PathBuf::from(format!("{name}-{number}.campaign")));
    let mut candidates = std::iter::once(PathBuf::from(format!("{name}.campaign"))).chain(numbered);
    candidates.find(|dir| !dir.exists()).unwrap_or_else(|| PathBuf::from(format!("{name}.campaign")))
}

fn irradiate(target: &dyn Target, mut store: Store, stop: &AtomicBool, shown: &Shown) -> Result<Code, Failure> {
    let dir = store.dir().to_owned();
    let what = if store.config().size == Size::Exhaustive { "faults" } else { "runs" };
    let mut progress = Progress::new(what);
    let ended = campaign::run(target, &mut store, stop, &mut |event| progress.event(&event));
    progress.finish();
    match ended {
        Ok(Ended::Finished(summary)) => {
            show(&summary, shown.json)?;
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

/// A flag that the first Ctrl-C raises; the second ends the program.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let handler = move || {
        if raised.swap(true, Ordering::SeqCst) {
            #[expect(clippy::exit, reason = "asked for twice; everything written so far is durable")]
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
