//! `beamline campaign` and `beamline resume`

use crate::args;
use crate::commands::bounds::{self, Stated};
use crate::failure::{Code, Coded, Failure};
use crate::progress::Progress;
use crate::{out, source};
use anyhow::anyhow;
use campaign::{CampaignError, Choices, Config, Ended, Engine, Size, Store, StoreError, Summary};
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
    let stated = Stated::of(&config, &args.bounds);
    let means = means(&config);
    let dir = args.out.unwrap_or_else(|| fresh_dir(target.golden_run().capsule().name.as_str()));
    let store = Store::create(&dir, config, &target).map_err(store_failure)?;
    target.set_means(means);
    irradiate(&target, store, &stop, args.json, &stated)
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
fn settled(choices: Choices) -> Result<Config, Failure> {
    let fill = |value: Option<String>, default: &str| Some(value.unwrap_or_else(|| default.to_owned()));
    let choices = Choices {
        model: fill(choices.model, "flip"),
        target: fill(choices.target, "dst"),
        scope: fill(choices.scope, "thread"),
        engine: Some(choices.engine.unwrap_or(Engine::Auto)),
        ..choices
    };
    choices.settle().code(Code::Usage)
}

/// Goes on with a campaign.
pub(crate) fn resume(args: &args::Resume) -> Result<Code, Failure> {
    let stop = stop_on_interrupt()?;
    let config = campaign::read_config(&args.dir).code(Code::Refused)?;
    let mut target = target(&config.capsule)?;
    // The types that were found out stand in the configuration; what does not was compared byte by byte.
    target.judge_by(&config.criteria, false).code(Code::Refused)?;
    let mut store = Store::resume(&args.dir, &target).map_err(store_failure)?;
    if args.jobs.is_some() {
        store.set_jobs(args.jobs);
    }
    if args.memory.is_some() {
        store.set_memory(args.memory);
    }
    target.set_means(means(store.config()));
    irradiate(&target, store, &stop, args.json, &Stated::of(&config, &args.bounds))
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

fn irradiate(
    target: &CapsuleTarget,
    mut store: Store,
    stop: &AtomicBool,
    json: bool,
    stated: &Stated,
) -> Result<Code, Failure> {
    let dir = store.dir().to_owned();
    let what = if store.config().size == Size::Exhaustive { "faults" } else { "runs" };
    let mut progress = Progress::new(what);
    let ended = campaign::run(target, &mut store, stop, &mut |event| progress.event(&event));
    progress.finish();
    match ended {
        Ok(Ended::Finished(summary)) => {
            show(&summary, json)?;
            if !json {
                out::text(&format!("\nresults in {}\n", dir.display()))?;
            }
            stated.judge(&dir)?;
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
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
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
