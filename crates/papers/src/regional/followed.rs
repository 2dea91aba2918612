//! Faults that were followed through variables, and pictures of what single ones do to arrays.

use methods::kit::{OpenedCapsule, StudyError};
use methods::regional::propagation::{TrackedRun, worst_frames};
use study::Picture;

/// A fault that corrupted something.
#[derive(Clone)]
pub(super) struct FollowedFault {
    /// Its region.
    pub(super) region: String,
    /// Its id.
    pub(super) fault: String,
    /// The run with it.
    pub(super) run: TrackedRun,
}

/// Fig. 4: the first fault that corrupts one element of E and all of a row of G, and the first that corrupts two of both, each as the
/// last state of the two arrays. `variables` are the names of the program's.
///
/// # Errors
/// If a fault names no place.
pub(super) fn spreading(
    capsule: &OpenedCapsule,
    declared: &str,
    variables: &[String],
    followed: &[FollowedFault],
) -> Result<Vec<Picture>, StudyError> {
    let number = |name: &str| variables.iter().position(|it| it == name);
    let (Some(cause), Some(effect)) = (number("E"), number("G")) else { return Ok(Vec::new()) };
    let spreads = |it: &&FollowedFault, count: u64| {
        let last = |variable: usize| it.run.ends.get(&variable)?.last.as_ref();
        it.region == "K1"
            && it.run.completed
            && last(cause).is_some_and(|it| it.elements == count)
            && last(effect).is_some_and(|it| it.extent.rows == count && it.elements == count * it.extent.columns)
    };
    let mut pictures = Vec::new();
    for (count, name) in [(1, "one"), (2, "two")] {
        let Some(it) = followed.iter().find(|it| spreads(it, count)) else { continue };
        let fault = it.fault.parse().map_err(|error: fault::ParseFaultError| StudyError::Words(error.to_string()))?;
        let found = worst_frames(capsule, Some(declared), &fault, variables.len())?;
        let of_both = found.into_iter().filter(|it| ["E", "G"].contains(&it.name.as_str()));
        pictures.extend(of_both.map(|it| Picture { name: format!("{name}-{}", it.name.to_lowercase()), ..it }));
    }
    Ok(pictures)
}
