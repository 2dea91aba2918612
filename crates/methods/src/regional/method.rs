//! What the method is to the program.

use campaign::{Aim, SelectionWords, TargetError};
use inject::CapsuleTarget;
use std::sync::Arc;

use super::command::REGIONS;
use super::propagation::PROPAGATION;
use super::settings::Settings;
use super::target::{Regional, parsed};
use crate::kit::MethodSettings;
use crate::method::{Applied, Command};

/// Regional injection.
pub struct RegionalMethod;

impl crate::Method for RegionalMethod {
    fn name(&self) -> &'static str {
        Settings::NAME
    }

    fn about(&self) -> &'static str {
        "regions of the program in turn: source lines, kernels, iterations; or the faults of a map"
    }

    fn example(&self) -> Option<&'static str> {
        Some("regional:file=regions.toml; `beamline regions` makes such a campaign and compares its regions")
    }

    fn check(&self, words: &SelectionWords) -> Result<(), TargetError> {
        parsed(words).map(drop)
    }

    fn aims(&self, words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
        match parsed(words)? {
            Settings::Regions(regions) => Ok(regions.iter().map(|region| Aim::from(region.words())).collect()),
            Settings::File(_) | Settings::Profile(_) | Settings::Map(_) => Ok(Vec::new()),
        }
    }

    fn lasting(&self, words: &mut SelectionWords) -> Result<(), TargetError> {
        let settings = Settings::read(words)?;
        let held = settings.clone().held(&mut words.files).map_err(TargetError::new)?;
        words.method = if held == settings { words.method.take() } else { Some(held.choice()) };
        Ok(())
    }

    fn apply(&self, capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Box<dyn Applied>, TargetError> {
        Ok(Box::new(Regional::new(capsule, words)?))
    }

    fn commands(&self) -> &'static [Command] {
        const { &[REGIONS, PROPAGATION] }
    }
}
