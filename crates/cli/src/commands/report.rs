//! `beamline report`

use crate::args::Report;
use crate::commands::bounds::Stated;
use crate::commands::campaign::show;
use crate::failure::{Code, Coded, Failure};
use campaign::Results;

/// Shows the results of a campaign as they now are.
pub(crate) fn report(args: &Report) -> Result<Code, Failure> {
    let summary = Results::open(&args.dir).and_then(|results| results.summary()).code(Code::Refused)?;
    show(&summary, args.json)?;
    Stated::only(&args.bounds).judge(&args.dir)?;
    Ok(Code::Done)
}
