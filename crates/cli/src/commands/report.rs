//! `beamline report`

use crate::args;
use crate::commands::campaign::show;
use crate::commands::listing;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::Context as _;
use campaign::{Results, StoreError};
use report::Report;
use std::path::Path;

/// Shows the results of a campaign as they now are, and writes what is asked for.
pub(crate) fn report(args: &args::Report) -> Result<Code, Failure> {
    let results = Results::open(&args.dir).code(Code::Refused)?;
    let asked = [&args.html, &args.markdown, &args.report_json, &args.sarif];
    if asked.into_iter().any(Option::is_some) {
        let report = made(&results, args, &args.dir)?;
        write(args.html.as_deref(), || Ok(report.to_html()))?;
        write(args.report_json.as_deref(), || report.to_json().code(Code::Bug))?;
        return show(&report.summary, args.json).map(|()| Code::Done);
    }
    show(&results.summary().code(Code::Refused)?, args.json)?;
    Ok(Code::Done)
}

/// Makes the report of a campaign, with the source and the instructions where there are any.
fn made(results: &Results, args: &args::Report, dir: &Path) -> Result<Report, Failure> {
    let name = args.capsule.as_deref().unwrap_or(&results.config().capsule);
    let context = listing::context(name, &results.digest().code(Code::Refused)?, dir.display().to_string());
    Report::new(results, context).map_err(refused)
}

fn refused(error: StoreError) -> Failure {
    Failure::new(Code::Refused, error)
}

/// Writes a document where one is asked for, and says so.
fn write(path: Option<&Path>, text: impl FnOnce() -> Result<String, Failure>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let written = std::fs::write(path, text()?).with_context(|| format!("write {}", path.display()));
    written.code(Code::Usage)?;
    out::note(&format!("wrote {}", path.display()));
    Ok(())
}
