//! Engines: the ways in which a target makes its runs.
//!
//! An engine is a word that the campaign stores and hands on. Targets say which words they understand
//! ([`Engines::offered`](crate::Engines::offered)); a campaign whose target does not offer its engine is refused before anything is written.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The word of a way to make runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Engine(Cow<'static, str>);

/// An engine that a target offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOffer {
    /// Its word.
    pub word: &'static str,
    /// How it makes runs, in a line.
    pub about: &'static str,
}

/// An engine that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use the engine `{engine}`: it is none of {}", list(offered))]
pub struct NoSuchEngine {
    /// The engine.
    pub engine: Engine,
    /// What is offered instead.
    pub offered: Vec<EngineOffer>,
}

impl Engine {
    /// What the target thinks best for each run.
    pub const AUTO: Self = Self::named("auto");

    /// The engine of a word.
    #[must_use]
    pub const fn named(word: &'static str) -> Self {
        Self(Cow::Borrowed(word))
    }

    /// The word.
    #[must_use]
    pub fn word(&self) -> &str {
        &self.0
    }

    /// Checks that the engine is one of `offers`.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn among(&self, offers: &[EngineOffer]) -> Result<(), NoSuchEngine> {
        if offers.iter().any(|offer| offer.word == self.word()) {
            return Ok(());
        }
        Err(NoSuchEngine { engine: self.clone(), offered: offers.to_vec() })
    }
}

impl From<String> for Engine {
    fn from(word: String) -> Self {
        Self(Cow::Owned(word))
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Words with what they mean, in one line.
fn list(offers: &[EngineOffer]) -> String {
    let offers = offers.iter().map(|offer| format!("`{}` ({})", offer.word, offer.about));
    offers.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERS: [EngineOffer; 2] =
        [EngineOffer { word: "auto", about: "the best" }, EngineOffer { word: "slow", about: "the simplest" }];

    #[test]
    fn an_engine_that_is_not_offered_is_answered_with_those_that_are() {
        assert_eq!(Engine::AUTO.among(&OFFERS), Ok(()));
        assert_eq!(Engine::from("slow".to_owned()).among(&OFFERS), Ok(()));
        let error = Engine::named("warp").among(&OFFERS).unwrap_err();
        assert_eq!(error.to_string(), "use the engine `warp`: it is none of `auto` (the best), `slow` (the simplest)");
    }
}
