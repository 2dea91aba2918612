//! Neural networks as what campaigns run on. In configurations a network is called `nn:NAME`, in place of a capsule.

use crate::error::{ErrorKind, SessionError};
use nn::NetworkTarget;

/// What stands before the name of a network.
const PREFIX: &str = "nn:";

/// The name by which campaigns know a network.
#[must_use]
pub fn name(network: &str) -> String {
    format!("{PREFIX}{network}")
}

/// The network that a campaign names in place of a capsule, if it names one.
#[must_use]
pub(crate) fn named(capsule: &str) -> Option<&str> {
    capsule.strip_prefix(PREFIX)
}

/// The bundled networks: their names and what they are, a line each.
pub fn bundled() -> impl Iterator<Item = (&'static str, &'static str)> {
    nn::bundled::NETWORKS.iter().map(|it| (it.name, it.about))
}

/// Opens a network by its own name, and runs it on its images without a fault.
///
/// # Errors
/// If there is none of this name.
pub fn open(network: &str) -> Result<NetworkTarget, SessionError> {
    nn::bundled::open(network).map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))
}
