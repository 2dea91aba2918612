//! What campaigns on capsules and on applications share: how they begin, run and end.

use crate::args;
use crate::commands::bounds::FailConditions;
use crate::commands::parts::Parts;
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{can_resume, resume_line};
use crate::out;
use crate::progress::Progress;
use crate::waiting::Waiting;
use anyhow::anyhow;
use campaign::names::file_name;
use campaign::{CampaignEnd, CampaignError, Choices, Results, Size, Store, Summary};
use methods::{Estimates, registry};
use report::BitOutcomes;
use serde::Serialize;
use session::Session;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What the command line chooses, and behind it what a file does.
pub(crate) fn chosen(choose: &args::Choose, choices: Choices) -> Result<Choices, Failure> {
    once_each(choose)?;
    match &choose.config {
        None => Ok(choices),
        Some(path) => Ok(choices.or(Choices::from_file(path).code(Code::Usage)?)),
    }
}

/// Refuses what says two things of one output.
fn once_each(choose: &args::Choose) -> Result<(), Failure> {
    let mut named = BTreeSet::new();
    match choose.quality.iter().find(|(name, _)| !named.insert(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let error = anyhow!("judge `{name}` by two `--quality`: put all its keys into one, divided by commas");
            Err(Failure::new(Code::Usage, error))
        }
    }
}

/// Opens what is chosen, and says what is to be known of it. An application's golden run may take as long as it likes.
pub(crate) fn opened(choices: Choices) -> Result<Session, Failure> {
    let live = !choices.live.app.words().is_empty();
    let waiting = live.then(Waiting::of_golden_run);
    let session = session::open(choices)?;
    drop(waiting);
    session.notes().iter().for_each(|note| out::note(note));
    Ok(session)
}

/// The options that say how the end of a campaign is printed and judged.
pub(crate) struct EndOptions {
    pub(crate) json: bool,
    pub(crate) stated: FailConditions,
}

/// Makes a campaign and runs it.
pub(crate) fn create(
    session: &Session,
    out: Option<PathBuf>,
    stop: &AtomicBool,
    shown: EndOptions,
) -> Result<Code, Failure> {
    shown.stated.check(|| Ok(Parts::of_session(session)))?;
    let dir = out.unwrap_or_else(|| fresh_dir(session.name()));
    // Before there is anything to go on with.
    trust(session);
    let store = session.create(&dir)?;
    irradiate(session, store, &dir, stop, &shown)
}

/// Keeps in mind that the commands of a campaign are the user's; where that cannot be, it can still be gone on with.
pub(crate) fn trust(session: &Session) {
    if let Err(error) = session.trust() {
        out::note(&format!(
            "failed to keep in mind that you started this ({error}): `beamline resume` asks for --trust"
        ));
    }
}

/// `NAME.campaign`, or the first of `NAME-2.campaign`, … that does not exist.
fn fresh_dir(name: &str) -> PathBuf {
    // The name is the capsule's own, whoever made it: it does not say where.
    let name = file_name(name);
    let numbered = (2u32..).map(|number| PathBuf::from(format!("{name}-{number}.campaign")));
    let mut candidates = std::iter::once(PathBuf::from(format!("{name}.campaign"))).chain(numbered);
    candidates.find(|dir| !dir.exists()).unwrap_or_else(|| PathBuf::from(format!("{name}.campaign")))
}

/// Runs a campaign, shows what it came to, and judges it.
pub(crate) fn irradiate(
    session: &Session,
    mut store: Store,
    dir: &Path,
    stop: &AtomicBool,
    shown: &EndOptions,
) -> Result<Code, Failure> {
    let what = if session.config().size == Size::Exhaustive { "faults" } else { "runs" };
    if let Some(plan) = report::text::stopping_plan(session.config()) {
        out::note(&plan);
    }
    let mut progress = Progress::new(what);
    can_resume(dir);
    let ended = session.run(&mut store, stop, &mut |event| progress.event(&event));
    progress.finish();
    if let Ok(CampaignEnd::OutOfTime(summary)) = &ended {
        let left = out::number(summary.remaining.unwrap_or(0));
        out::note(&format!("its time is over with {left} {what} to go; {}", resume_line(dir)));
    }
    match ended {
        Ok(CampaignEnd::Finished(summary) | CampaignEnd::OutOfTime(summary)) => {
            let results = store.into_results();
            let numbers = session.stored_numbers();
            let bits = numbers.map(|it| BitOutcomes::new(&results, &|bit| it.field(bit)).code(Code::Refused));
            show_with_bits(&summary, estimates(session, &results)?.as_ref(), bits.transpose()?.as_ref(), shown.json)?;
            if !shown.json {
                out::text(&format!("\nresults in {}\n", dir.display()))?;
            }
            drop(results);
            shown.stated.judge(dir)?;
            Ok(Code::Done)
        }
        Ok(CampaignEnd::Interrupted(summary)) => {
            let left = summary.remaining.unwrap_or(0);
            let error = anyhow!("finish the campaign: it was interrupted with {left} {what} to go");
            Err(Failure::new(Code::Interrupted, error).help(resume_line(dir)))
        }
        Err(error @ CampaignError::Store(_)) => Err(Failure::new(Code::Interrupted, error).help(resume_line(dir))),
        Err(error @ CampaignError::Plan(_)) => Err(Failure::new(Code::Refused, error)),
        Err(error) => Err(Failure::new(Code::Bug, error).help(resume_line(dir))),
    }
}

/// What the method that chose the sites makes of the rows.
pub(crate) fn estimates(session: &Session, results: &Results) -> Result<Option<Estimates>, Failure> {
    session.estimates(results).code(Code::Refused)
}

/// A summary with the estimates of a method and the outcomes by bit, as one document.
#[derive(Serialize)]
struct Both<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// Why the rates of the summary are not those of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a serde_json::Value>,
    #[serde(flatten)]
    bits: Option<&'a BitOutcomes>,
}

/// Prints a summary, and what a method makes of the rows.
pub(crate) fn show(summary: &Summary, estimates: Option<&Estimates>, json: bool) -> Result<(), Failure> {
    show_with_bits(summary, estimates, None, json)
}

/// The same, with the outcomes by bit where the target system tells bits apart.
fn show_with_bits(
    summary: &Summary,
    estimates: Option<&Estimates>,
    bits: Option<&BitOutcomes>,
    json: bool,
) -> Result<(), Failure> {
    let note = registry::rates_elsewhere(summary.config.selection.method.as_ref());
    if json {
        let note = note.filter(|_| estimates.is_some());
        return out::json(&Both { summary, note, method: estimates.map(|it| &it.json), bits });
    }
    let note = note.map(|why| format!("Of these runs alone: {why}.\n\n"));
    let text = note.unwrap_or_default() + &report::text::summary(summary, fault::base_name);
    let bits = bits.map(BitOutcomes::to_text).filter(|table| !table.is_empty()).map(|table| format!("\n{table}"));
    let more = estimates.map(|estimates| format!("\n{}", report::study::text(&estimates.study)));
    out::text(&(text + &bits.unwrap_or_default() + &more.unwrap_or_default()))
}
