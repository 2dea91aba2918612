//! `beamline merge`

use crate::args::Merge;
use crate::commands::bounds::FailConditions;
use crate::commands::irradiate::show;
use crate::commands::parts::Parts;
use crate::failure::{Code, Coded, Failure};
use std::path::PathBuf;

/// Joins the shards of a campaign.
pub(crate) fn merge(args: &Merge) -> Result<Code, Failure> {
    FailConditions::only(&args.bounds).check(|| Parts::of_results(args.dirs.iter().map(PathBuf::as_path)))?;
    let summary = campaign::merge(&args.dirs, &args.out).code(Code::Refused)?;
    show(&summary, None, args.json)?;
    let config = campaign::read_config(&args.out).code(Code::Refused)?;
    FailConditions::of(&config, &args.bounds).judge(&args.out)?;
    Ok(Code::Done)
}
