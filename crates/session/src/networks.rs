//! Neural networks as what campaigns run on. In configurations a network is called `nn:NAME`, in place of a capsule.

use crate::error::{ErrorKind, SessionError};
use campaign::{Choices, Config, Description};
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

/// What reports say of the faults of a campaign, if it is on a network.
#[must_use]
pub fn describe(config: &Choices) -> Option<Description> {
    named(config.capsule.as_deref()?).map(|_| nn::describe(&config.selection))
}

/// Refuses what a network has nothing for, before any work is done.
pub(crate) fn check(config: &Config) -> Result<(), SessionError> {
    let words = [
        ("fuel", config.fuel.is_some()),
        ("addresses", config.addresses.is_some()),
        ("contract", config.contract.is_some()),
        ("order", config.order.is_some()),
        ("app", config.live.is_some()),
    ];
    match words.into_iter().find(|(_, is_said)| *is_said) {
        Some((word, _)) => {
            let message = format!("choose `{word}` of a network: that is of programs on a GPU");
            Err(SessionError::new(ErrorKind::Words, message).with_help(format!("leave `{word}` out")))
        }
        None => Ok(()),
    }
}
