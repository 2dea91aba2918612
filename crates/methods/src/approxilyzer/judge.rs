//! Corruptions judged by other criteria than those of the capsule: what the rows of pilots hold is enough, nothing runs again.

use campaign::Results;
use inject::CapsuleTarget;
use outcome::{Criteria, Quality};

use crate::kit::StudyError;

/// The criteria that an option says, `OUTPUT:key=value,…`, those of several outputs divided by semicolons.
///
/// # Errors
/// If they mean nothing, or name an output that the capsule does not have.
pub(super) fn criteria(text: &str, capsule: &CapsuleTarget) -> Result<Criteria, StudyError> {
    let words = |error: &dyn std::fmt::Display| StudyError::Words(error.to_string());
    let names: Vec<&str> = capsule.golden_run().outputs().iter().map(|output| &*output.name).collect();
    let mut criteria = Criteria::default();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, quality) = Quality::parse(part).map_err(|error| words(&error))?;
        if name != "*" && !names.contains(&&*name) {
            return Err(StudyError::Words(format!("judge the output `{name}`: there are {}", names.join(", "))));
        }
        criteria.quality.insert(name, quality);
    }
    // What the capsule says of an output by its name would go before `*`.
    if let Some(quality) = criteria.quality.remove("*") {
        for name in names {
            criteria.quality.entry(name.to_owned()).or_insert_with(|| quality.clone());
        }
    }
    criteria.check().map_err(|(name, error)| StudyError::Words(format!("judge `{name}`: {error}")))?;
    Ok(criteria)
}

/// The criteria of a campaign with these in their place where they say something.
///
/// # Errors
/// If they ask for something that had to be known before the pilots were run.
pub(super) fn for_rows(criteria: &Criteria, results: &Results) -> Result<Criteria, StudyError> {
    Ok(results.rejudge(criteria).map_err(|error| StudyError::Words(error.to_string()))?.criteria)
}
