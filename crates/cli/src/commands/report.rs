//! `beamline report`

use crate::args;
use crate::commands::bounds::FailConditions;
use crate::commands::irradiate::{estimates, show};
use crate::commands::listing;
use crate::commands::parts::Parts;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use campaign::{Results, StoreError, Summary};
use methods::registry;
use report::{CampaignComparison, Context, Report};
use std::path::Path;

/// Stories that a report tells unasked, and the seconds that a golden run may take for it.
const STORIES: usize = 3;
const QUICK: f64 = 2.0;
/// Variables of which a story has pictures.
const PICTURES: usize = 3;

/// Shows the results of a campaign as they now are, and writes what is asked for.
pub(crate) fn report(args: &args::Report) -> Result<Code, Failure> {
    let results = Results::open(&args.dir).map_err(refused)?;
    if let Some(other) = &args.compare {
        return compare(args, &results, other);
    }
    FailConditions::only(&args.bounds).check(|| Parts::of_results([args.dir.as_path()]))?;
    write_rows(&results, args.parquet.as_deref())?;
    let asked = [&args.html, &args.markdown, &args.report_json, &args.sarif];
    if asked.into_iter().all(Option::is_none) {
        show_all(&results, &results.summary().map_err(refused)?, args)?;
        FailConditions::only(&args.bounds).judge(&args.dir)?;
        return Ok(Code::Done);
    }
    let mut report = made(&results, args, &args.dir)?;
    tell_stories(&results, args, &mut report);
    write(args.html.as_deref(), || Ok(report.to_html()))?;
    write(args.markdown.as_deref(), || Ok(report.to_markdown()))?;
    write(args.report_json.as_deref(), || report.to_json().code(Code::Bug))?;
    write(args.sarif.as_deref(), || report.to_sarif().code(Code::Bug))?;
    show_all(&results, &report.summary, args)?;
    FailConditions::only(&args.bounds).judge(&args.dir)?;
    Ok(Code::Done)
}

/// Shows the summary, and what the method that chose the sites makes of the rows, where the capsule is there.
fn show_all(results: &Results, summary: &Summary, args: &args::Report) -> Result<(), Failure> {
    if results.config().selection.method.is_none() {
        return show(summary, None, args.json);
    }
    match session::open_results(results, args.capsule.as_deref()) {
        Ok(session) => show(summary, estimates(&session, results)?.as_ref(), args.json),
        Err(why) => {
            out::note(&format!("the estimates of the method are not shown: failed to {why}"));
            show(summary, None, args.json)
        }
    }
}

/// Compares with another campaign: everything that is written or shown is the comparison.
fn compare(args: &args::Report, results: &Results, other: &Path) -> Result<Code, Failure> {
    let others = Results::open(other).map_err(refused)?;
    let (a, b) = (made(results, args, &args.dir)?, made(&others, args, other)?);
    let comparison = CampaignComparison::new(&a, &b, [&args.dir, other].map(|dir| dir.display().to_string()));
    write(args.html.as_deref(), || Ok(comparison.to_html(env!("CARGO_PKG_VERSION"))))?;
    write(args.markdown.as_deref(), || Ok(comparison.to_markdown()))?;
    write(args.report_json.as_deref(), || comparison.to_json().code(Code::Bug))?;
    if args.json {
        out::json(&comparison)?;
    } else {
        out::text(&comparison.to_text())?;
    }
    Ok(Code::Done)
}

/// Makes the report of a campaign, with the source and the instructions where there are any.
fn made(results: &Results, args: &args::Report, dir: &Path) -> Result<Report, Failure> {
    let name = args.capsule.as_deref().unwrap_or(&results.config().capsule);
    let context = listing::context(name, &results.digest().map_err(refused)?, dir.display().to_string());
    let description = session::describe(results.config());
    Report::new(results, Context { description, fault_sentence: session::fault_sentence, ..context }).map_err(refused)
}

/// Tells the stories of some faults, where the capsule is there to run them. A report without them is a report still.
fn tell_stories(results: &Results, args: &args::Report, report: &mut Report) {
    let quick = report.summary.golden.seconds < QUICK;
    let count = args.explain.unwrap_or(if quick { STORIES } else { 0 });
    let faults = report.examples(count);
    if faults.is_empty() {
        return;
    }
    let told = session::open_results(results, args.capsule.as_deref()).and_then(|session| {
        let Some(capsule) = session.capsule() else { return Ok(()) };
        let story = |fault: &String| session.story_of(fault);
        report.stories = faults.iter().map(story).collect::<Result<Vec<_>, _>>()?;
        if args.html.is_some() {
            let declared = session::bundled::find(&session.config().capsule).map(|it| it.toml());
            for id in faults {
                let Ok(fault) = id.parse() else { continue };
                // What is not a variable has no picture, and a page without one is a page still.
                let drawn = registry::worst_frames(capsule, declared, &fault, PICTURES).unwrap_or_default();
                report.pictures.insert(id, drawn);
            }
        }
        Ok(())
    });
    if let Err(why) = told {
        out::note(&format!("the report tells no story: failed to {why}"));
    }
}

fn refused(error: StoreError) -> Failure {
    Failure::new(Code::Refused, error)
}

/// Writes a document where one is asked for, and says so.
fn write(path: Option<&Path>, text: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    out::file(path, text()?)
}

/// Writes the rows where they are asked for.
#[cfg(feature = "parquet")]
fn write_rows(results: &Results, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let written =
        campaign::files::write(path, |file| report::write_parquet(results, file).map_err(anyhow::Error::from));
    let rows = written.map_err(|error: anyhow::Error| {
        let code = if error.is::<std::io::Error>() { Code::Usage } else { Code::Refused };
        Failure::new(code, error.context(format!("write {}", path.display())))
    })?;
    out::note(&format!("wrote {}, {} rows", path.display(), out::number(rows)));
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn write_rows(_: &Results, path: Option<&Path>) -> Result<(), Failure> {
    match path {
        None => Ok(()),
        Some(path) => {
            let error =
                anyhow::anyhow!("write {}: this beamline was built without the feature `parquet`", path.display());
            Err(Failure::new(Code::Usage, error).help("build it with `cargo build --release --features parquet`"))
        }
    }
}
