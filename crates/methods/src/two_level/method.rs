//! What the method is to the program.

use campaign::{Aim, SelectionWords, TargetError};
use inject::CapsuleTarget;
use std::sync::Arc;

use super::command::FIT;
use super::events::EVENTS;
use super::settings::Settings;
use super::target::{ParsedSettings, TwoLevel};
use crate::kit::MethodSettings;
use crate::method::{Applied, Command, Reader};

/// The two-level model.
pub struct TwoLevelMethod;

impl crate::Method for TwoLevelMethod {
    fn name(&self) -> &'static str {
        Settings::NAME
    }

    fn about(&self) -> &'static str {
        "what strikes do to instructions, by an IPA table, in turn: each instruction type with each manifestation"
    }

    fn example(&self) -> Option<&'static str> {
        Some("two-level:ipa=K40,issue=2.5; `beamline fit` makes such a campaign and composes its rates")
    }

    fn check(&self, words: &SelectionWords) -> Result<(), TargetError> {
        ParsedSettings::of(words).map(drop)
    }

    fn aims(&self, words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
        Ok(ParsedSettings::of(words)?.aims(&words.kernel))
    }

    fn lasting(&self, words: &mut SelectionWords) -> Result<(), TargetError> {
        let settings = Settings::read(words)?;
        let held = settings.clone().held(&mut words.files).map_err(TargetError::new)?;
        words.method = if held == settings { words.method.take() } else { Some(held.choice()) };
        Ok(())
    }

    fn apply(&self, capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Box<dyn Applied>, TargetError> {
        Ok(Box::new(TwoLevel::new(capsule, words)?))
    }

    fn commands(&self) -> &'static [Command] {
        const { &[FIT] }
    }

    fn readers(&self) -> &'static [Reader] {
        const { &[EVENTS] }
    }
}
