//! A language model that continues its prompts.

use super::network::check_words;
use super::system::{StoredNumbers, System, SystemKind, SystemPart};
use crate::error::SessionError;
use crate::languages;
use campaign::{Config, Description, EngineOffer, Results, Site, StoreError, TargetSystem};
use methods::{Estimates, decoding};
use nn::LanguageTarget;
use nn::language::{GenerationFault, describe_generation};
use outcome::Criteria;

/// The kind.
pub(super) struct LanguageKind;

impl SystemKind for LanguageKind {
    fn takes(&self, config: &Config) -> bool {
        languages::named(&config.capsule).is_some()
    }

    fn engines(&self) -> &'static [EngineOffer] {
        &nn::ENGINES
    }

    fn check(&self, config: &Config) -> Result<(), SessionError> {
        check_words(config, "a language model")
    }

    fn describe(&self, config: &Config) -> Description {
        describe_generation(
            &config.selection,
            languages::format_of(languages::named(&config.capsule).unwrap_or_default()),
        )
    }

    fn sentence(&self, config: &Config, id: &str) -> Option<String> {
        let format = languages::format_of(languages::named(&config.capsule).unwrap_or_default());
        GenerationFault::parse(id).ok().map(|fault| fault.sentence(format))
    }

    fn open(&self, config: &Config, _: bool) -> Result<Box<dyn System>, SessionError> {
        Ok(Box::new(LanguageSystem(languages::open_named(languages::named(&config.capsule).unwrap_or_default())?)))
    }
}

/// A language model whose prompts were continued without a fault.
#[derive(Debug)]
struct LanguageSystem(LanguageTarget);

impl System for LanguageSystem {
    fn target(&self) -> TargetSystem<'_> {
        TargetSystem::from(&self.0)
    }

    fn criteria(&self) -> Criteria {
        self.0.criteria()
    }

    fn parts(&self) -> Vec<SystemPart> {
        let parts = self.0.model().parts().iter();
        parts.map(|part| SystemPart { name: part.name.clone(), group: part.class.to_owned() }).collect()
    }

    fn stored_numbers(&self) -> Option<StoredNumbers> {
        Some(StoredNumbers::Floats(self.0.model().format()))
    }

    fn estimates(&self, results: &Results) -> Result<Option<Estimates>, StoreError> {
        decoding::estimates(results).map(Some)
    }

    fn site(&self, id: &str) -> Result<Site, SessionError> {
        Ok(self.0.site(id)?)
    }
}
