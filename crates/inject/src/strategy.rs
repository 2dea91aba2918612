//! The engines of a capsule, and what runs of each do.

use campaign::{Engine, EngineOffer, TargetError};
use outcome::words;

words! {
    /// How much of a capsule a run executes; all strategies observe the same.
    pub enum Strategy ("engine") {
        /// The fastest that is exact for each run.
        Auto = "auto",
        /// Everything again.
        Full = "full",
        /// What the fault could change.
        Delta = "delta",
        /// Many faults in the lanes of one warp.
        Lanes = "lanes",
    }
}

/// The engines of a capsule.
pub const ENGINES: [EngineOffer; 4] =
    [Strategy::Auto.offer(), Strategy::Full.offer(), Strategy::Delta.offer(), Strategy::Lanes.offer()];

impl Strategy {
    const fn offer(self) -> EngineOffer {
        let about = match self {
            Self::Auto => "the fastest that is exact for each run",
            Self::Full => "executes everything again",
            Self::Delta => "executes what the fault could change",
            Self::Lanes => "runs many faults in the lanes of one warp",
        };
        EngineOffer { word: self.word(), about }
    }
}

impl From<Strategy> for Engine {
    fn from(strategy: Strategy) -> Self {
        Self::named(strategy.word())
    }
}

impl TryFrom<&Engine> for Strategy {
    type Error = TargetError;

    fn try_from(engine: &Engine) -> Result<Self, TargetError> {
        engine.among(&ENGINES).map_err(|error| TargetError::from_error(&error))?;
        engine.word().parse().map_err(|error: outcome::UnknownWord| TargetError::from_error(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_offered_as_the_engine_that_means_it() {
        let offered = ENGINES.map(|offer| offer.word);
        assert!(Strategy::ALL.iter().map(|strategy| strategy.word()).eq(offered));
        for &strategy in Strategy::ALL {
            assert_eq!(Strategy::try_from(&Engine::from(strategy)), Ok(strategy));
        }
        assert!(Strategy::try_from(&Engine::named("cuda-gdb")).is_err());
    }
}
