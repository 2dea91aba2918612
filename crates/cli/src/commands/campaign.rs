//! `beamline campaign` and `beamline resume`

use crate::args;
use crate::commands::live;
use crate::failure::{Code, Coded, Failure};
use crate::progress::Progress;
use crate::{out, source};
use anyhow::anyhow;
use campaign::summary::{Account, Outcomes, Rate};
use campaign::{CampaignError, Choices, Config, Ended, Engine, Size, Store, StoreError, Summary, Target};
use inject::{CapsuleTarget, Means};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Irradiates a capsule.
pub(crate) fn campaign(args: args::Campaign) -> Result<Code, Failure> {
    // From the first file on, an interruption leaves something to go on with.
    let stop = stop_on_interrupt()?;
    let mut choices = args.choices();
    if let Some(path) = &args.config {
        choices = choices.or(Choices::from_file(path).code(Code::Usage)?);
    }
    let no_capsule = || Failure::new(Code::Usage, anyhow!("find out what to irradiate: name a capsule or a workload"));
    let name = choices.capsule.clone().ok_or_else(no_capsule)?;
    // Everything about the choices is checked before work begins.
    settled(choices.clone())?;
    let mut target = target(&name)?;
    choices.capsule = Some(source::lasting_name(&name));
    choices.tolerance = choices.tolerance.or(target.criteria());
    let config = settled(choices)?;
    target.set_means(means(&config));
    match config.live {
        None => create(&target, config, args.out, &stop, args.json),
        Some(_) => create(&live::beside(target, &config)?, config, args.out, &stop, args.json),
    }
}

/// Makes a campaign and runs it.
pub(crate) fn create(
    target: &dyn Target,
    config: Config,
    out: Option<PathBuf>,
    stop: &AtomicBool,
    json: bool,
) -> Result<Code, Failure> {
    let dir = out.unwrap_or_else(|| fresh_dir(target.name()));
    let store = Store::create(&dir, config, target).map_err(store_failure)?;
    irradiate(target, store, stop, json)
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
        Some(_) if config.capsule.is_empty() => Box::new(live::recorded(&config)?),
        live => {
            let mut target = target(&config.capsule)?;
            target.set_means(means(&config));
            if live.is_some() { Box::new(live::beside(target, &config)?) } else { Box::new(target) }
        }
    };
    let mut store = Store::resume(&args.dir, &*target).map_err(store_failure)?;
    store.set_jobs(config.jobs);
    store.set_memory(config.memory);
    irradiate(&*target, store, &stop, args.json)
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

fn irradiate(target: &dyn Target, mut store: Store, stop: &AtomicBool, json: bool) -> Result<Code, Failure> {
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

/// What a summary counts.
fn counted(summary: &Summary) -> &'static str {
    if summary.exhaustive.is_some() { "faults" } else { "runs" }
}

/// Prints a summary.
pub(crate) fn show(summary: &Summary, json: bool) -> Result<(), Failure> {
    if json { out::json(summary) } else { out::text(&render(summary)) }
}

fn render(summary: &Summary) -> String {
    let golden = &summary.golden;
    let (runs, what) = (&summary.runs, counted(summary));
    let mut text = format!(
        "{}: {} launches, {} threads, {} thread-instructions, golden run {:.3} s\n",
        summary.capsule.name,
        out::number(golden.launches),
        out::number(golden.threads),
        out::number(golden.thread_instructions),
        golden.seconds
    );
    text += &format!(
        "{} {what} planned: {} landed, {} not landed, {} failed{}\n",
        out::number(runs.planned),
        out::number(runs.landed),
        out::number(runs.not_landed),
        out::number(runs.failed),
        summary.remaining.map_or_else(String::new, |left| format!(", {} to go", out::number(left)))
    );
    if let Some(exhaustive) = &summary.exhaustive {
        text += &format!(
            "every bit of {} destinations in {} executed instructions, in {} units; rates are exact\n",
            out::number(exhaustive.operands),
            out::number(exhaustive.members),
            out::number(exhaustive.units)
        );
    }
    text += "\n";
    text += &outcomes(summary);
    text += &parts(summary);
    let speed = &summary.speed;
    let tiers: Vec<String> =
        speed.tiers.iter().filter(|(_, n)| **n > 0).map(|(tier, n)| format!("{tier} {}", out::number(*n))).collect();
    text += &format!(
        "\n{} {what} per second with {} workers; engine: {}{}\n",
        out::number(speed.runs_per_second.round() as u64),
        speed.jobs,
        if tiers.is_empty() { "none".to_owned() } else { tiers.join(", ") },
        if summary.exhaustive.is_some() { String::new() } else { format!("; seed {}", summary.seed) }
    );
    text + &host_line(summary)
}

/// What is to be said of the host, if it saw anything.
fn host_line(summary: &Summary) -> String {
    let (what, visible, resolved) = (counted(summary), summary.host_visible, summary.resolved);
    let saw = format!("in {} {what} the host saw a difference before the end", out::number(visible));
    match (visible, resolved) {
        (0, _) => String::new(),
        (_, 0) => format!("{saw} and was assumed to act as in the golden run\n"),
        _ if visible == resolved => format!("{saw}; all of them were judged with the host in the loop\n"),
        _ => {
            let resolved = out::number(resolved);
            format!(
                "{saw}; {resolved} of them were judged with the host in the loop, in the others it was assumed to act as \
                 in the golden run\n"
            )
        }
    }
}

fn outcomes(summary: &Summary) -> String {
    let level = summary.config.confidence.unwrap_or(0.95) * 100.0;
    let classes = [
        ("masked", summary.outcomes.masked, &summary.masked),
        ("sdc", summary.outcomes.sdc, &summary.sdc),
        ("due", summary.outcomes.due, &summary.due),
    ];
    let rows = classes.iter().map(|(name, Rate { count, rate, low, high }, kinds)| {
        let kinds = kinds.iter().filter(|(_, n)| **n > 0);
        let mut row = vec![
            (*name).to_owned(),
            out::number(*count),
            rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.2} %", rate * 100.0)),
            format!("{:.2} – {:.2} %", low * 100.0, high * 100.0),
            kinds.map(|(kind, n)| format!("{kind} {}", out::number(*n))).collect::<Vec<_>>().join(", "),
        ];
        if summary.exhaustive.is_some() {
            row.remove(3);
        }
        row
    });
    let (interval, rows) = (format!("{level:.0} % interval"), rows.collect());
    match summary.exhaustive {
        // Nothing was drawn, so there is no interval.
        Some(_) => out::table(&["outcome", "faults", "rate", "of these"], "<>><", rows),
        None => out::table(&["outcome", "runs", "rate", &interval, "of these"], "<>>><", rows),
    }
}

/// The kernels, the groups and the ten source lines with most silent corruptions.
fn parts(summary: &Summary) -> String {
    let row = |name: String, account: &Account| {
        let outcomes = account.outcomes;
        let landed = outcomes.masked + outcomes.sdc + outcomes.due;
        let share = |n: u64| n as f64 / landed as f64;
        let shares = Outcomes { masked: share(outcomes.masked), sdc: share(outcomes.sdc), due: share(outcomes.due) };
        let rates = account.rates.unwrap_or(shares);
        let percent = |rate: f64| if landed == 0 { "–".to_owned() } else { out::percent(rate) };
        vec![name, out::number(account.runs), percent(rates.masked), percent(rates.sdc), percent(rates.due)]
    };
    let mut text = String::new();
    let mut section = |title: &str, rows: Vec<Vec<String>>| {
        text += &format!("\n{}", out::table(&[title, counted(summary), "masked", "sdc", "due"], "<>", rows));
    };
    let kernels = summary.by_kernel.iter().map(|part| row(fault::base_name(&part.name).to_owned(), &part.account));
    section("kernel", kernels.collect());
    section("group", summary.by_group.iter().map(|part| row(part.name.clone(), &part.account)).collect());
    let mut lines: Vec<_> = summary.by_line.iter().filter(|part| part.line.is_some()).collect();
    lines.sort_by_key(|part| (std::cmp::Reverse(part.account.outcomes.sdc), part.file.clone(), part.line));
    lines.truncate(10);
    let place = |file: &Option<String>, line: Option<u32>| {
        let file = file.as_deref().unwrap_or("?");
        format!("{}:{}", file.rsplit('/').next().unwrap_or(file), line.unwrap_or(0))
    };
    if !lines.is_empty() {
        section("line", lines.iter().map(|part| row(place(&part.file, part.line), &part.account)).collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A summary of two faults, one of them masked, the other of four times its weight.
    fn exhaustive() -> Summary {
        let rate = |count: u64, rate: f64| json!({"count": count, "rate": rate, "low": rate, "high": rate});
        let counts = json!({"masked": 1, "sdc": 1, "due": 0});
        let rates = json!({"masked": 0.2, "sdc": 0.8, "due": 0.0});
        let part = json!({"name": "k", "runs": 2, "not_landed": 0, "failed": 0, "outcomes": counts, "rates": rates});
        let summary = json!({
            "format": "beamline.summary/1",
            "capsule": {"name": "gemm", "digest": "0"},
            "config": {"exhaustive": true},
            "seed": 0,
            "golden": {"launches": 1, "threads": 1, "thread_instructions": 2, "seconds": 0.0},
            "runs": {"planned": 2, "landed": 2, "not_landed": 0, "failed": 0},
            "exhaustive": {"units": 1, "operands": 2, "members": 2},
            "outcomes": {"masked": rate(1, 0.2), "sdc": rate(1, 0.8), "due": rate(0, 0.0)},
            "masked": {"logical": 1}, "sdc": {"bad": 1}, "due": {},
            "host_visible": 1,
            "by_kernel": [part], "by_group": [], "by_line": [],
            "speed": {"seconds": 1.0, "runs_per_second": 2.0, "jobs": 1, "tiers": {"decided": 1, "full": 1}},
        });
        serde_json::from_value(summary).expect("it is a summary")
    }

    #[test]
    fn an_exhaustive_campaign_is_shown_by_weight_and_without_intervals() {
        let text = render(&exhaustive());
        let words = [
            "2 faults planned: 2 landed",
            "every bit of 2 destinations in 2 executed instructions, in 1 units; rates are exact",
            "20.00 %",
            "80.0 %",
            "2 faults per second with 1 workers; engine: decided 1, full 1\n",
            "in 1 faults the host",
        ];
        for word in words {
            assert!(text.contains(word), "no `{word}` in\n{text}");
        }
        for word in ["interval", "seed", "runs", "50.0 %"] {
            assert!(!text.contains(word), "`{word}` in\n{text}");
        }
    }
}
