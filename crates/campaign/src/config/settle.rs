//! From choices to a configuration: every default filled in, every contradiction refused.

use std::num::NonZeroU32;

use stats::{Confidence, Margin, sample_size};

use super::{
    Choices, Config, ConfigError, DEFAULT_RUNS, Engine, IntervalMethod, Live, MAX_RUNS, MAX_SECONDS, MarginBy,
    MarginRule, SelectionWords, Shard, Size,
};
use outcome::{Criteria, Quality};

impl Config {
    /// Reads the text of a `campaign.toml` or of a `--config` file called `name` in messages.
    ///
    /// # Errors
    /// When the text is not such a file, or contradicts itself.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, ConfigError> {
        Choices::from_toml(text, name)?.settle()
    }

    /// The same, with an application that is started as `live` says.
    ///
    /// # Errors
    /// When `live` contradicts itself, or the campaign can have no application.
    pub fn with_application(self, live: Live) -> Result<Self, ConfigError> {
        let live = live.settled(self.jobs.map(NonZeroU32::get))?;
        let in_place = live.as_ref().is_some_and(|live| live.in_place);
        let config = Self { jobs: if in_place { Some(NonZeroU32::MIN) } else { self.jobs }, live, ..self };
        check_live(&config)?;
        Ok(config)
    }

    /// The same, with `criteria` for outputs of which it says nothing.
    ///
    /// # Errors
    /// When the criteria make no sense together.
    pub fn judged_by(self, criteria: Criteria) -> Result<Self, ConfigError> {
        Ok(Self { criteria: settled(self.criteria.or(criteria))?, ..self })
    }

    /// The configuration of a campaign of `runs` runs on the same capsule and machine, with the same application and the texts of
    /// its files.
    ///
    /// # Errors
    /// When there are too many runs or none, or the selection makes no sense with them.
    pub fn of_runs(self, selection: SelectionWords, runs: u64, seed: u64) -> Result<Self, ConfigError> {
        let mut selection = selection.settled();
        selection.files.extend(self.selection.files.clone());
        Self { selection, seed, shard: Shard::WHOLE, seconds: None, bounds: Vec::new(), ..self }.with_runs(runs)
    }

    /// The same, with a fixed number of runs.
    ///
    /// # Errors
    /// When there are too many runs or none, or the shard has none of them.
    pub fn with_runs(self, runs: u64) -> Result<Self, ConfigError> {
        let config = Self { size: Size::Runs(runs), ..self };
        check(&config)?;
        Ok(config)
    }
}

impl Choices {
    /// Fills in the defaults and checks that the choices make sense together.
    ///
    /// # Errors
    /// When a value is out of its range or two choices contradict each other.
    pub fn settle(self) -> Result<Config, ConfigError> {
        let (size, live) = (self.size()?, self.live.settled(self.jobs)?);
        let capsule = match &live {
            Some(_) => self.capsule.unwrap_or_default(),
            None => self.capsule.ok_or(ConfigError::NoCapsule)?,
        };
        let jobs = if live.as_ref().is_some_and(|live| live.in_place) { Some(1) } else { self.jobs };
        let config = Config {
            capsule,
            size,
            seconds: self.seconds,
            confidence: self.confidence.map_or(Ok(Confidence::PERCENT_95), Confidence::new)?,
            seed: self.seed.unwrap_or(0),
            selection: self.selection.settled(),
            criteria: settled(self.criteria)?,
            bounds: self.fail_if,
            undecided_fails: self.fail_if_undecided,
            fuel: self.fuel,
            addresses: self.addresses,
            contract: self.contract,
            order: self.order,
            engine: self.engine.unwrap_or(Engine::AUTO),
            interval: self.interval.unwrap_or(IntervalMethod::Wilson),
            shard: self.shard.unwrap_or(Shard::WHOLE),
            jobs: jobs.map(|jobs| NonZeroU32::new(jobs).ok_or(ConfigError::NoJobs)).transpose()?,
            memory: self.memory,
            live,
            no_app: self.no_app,
        };
        check(&config)?;
        Ok(config)
    }

    fn size(&self) -> Result<Size, ConfigError> {
        if let (Some(by), None) = (self.margin_by, self.margin) {
            return Err(ConfigError::MarginByAlone { by });
        }
        match (self.runs, self.margin, self.exhaustive) {
            (Some(_), None, true) => Err(ConfigError::ExhaustiveWithRuns),
            (_, Some(_), true) => Err(ConfigError::ExhaustiveWithMargin),
            (None, None, true) => Ok(Size::Exhaustive),
            (runs, None, false) => Ok(Size::Runs(runs.unwrap_or(DEFAULT_RUNS))),
            (at_most, Some(margin), false) => Ok(Size::Margin(MarginRule {
                margin: Margin::new(margin)?,
                by: self.margin_by.unwrap_or(MarginBy::Overall),
                at_most,
            })),
        }
    }
}

/// Criteria that make sense, without outputs of which nothing is said.
fn settled(mut criteria: Criteria) -> Result<Criteria, ConfigError> {
    criteria.quality.retain(|_, quality| *quality != Quality::default());
    let unusable = |value: f64| value.is_nan() || value < 0.0;
    if let Some((output, &value)) = criteria.tolerance.iter().find(|&(_, &value)| unusable(value)) {
        return Err(ConfigError::Tolerance { output: output.clone(), value });
    }
    criteria.check().map_err(|(output, source)| ConfigError::Quality { output, source })?;
    Ok(criteria)
}

/// Checks what no single value can be blamed for, and the values whose types hold more than is meant.
fn check(config: &Config) -> Result<(), ConfigError> {
    check_size(config)?;
    if let Some(seconds) = config.seconds.filter(|seconds| !(*seconds > 0.0 && *seconds <= MAX_SECONDS)) {
        return Err(ConfigError::Seconds { seconds });
    }
    check_live(config)?;
    if i64::try_from(config.seed).is_err() {
        return Err(ConfigError::Seed { seed: config.seed });
    }
    Ok(())
}

/// Checks what an application cannot be combined with.
fn check_live(config: &Config) -> Result<(), ConfigError> {
    match config.live {
        None => Ok(()),
        Some(_) if config.size == Size::Exhaustive => Err(ConfigError::ExhaustiveLive),
        Some(_) => Ok(()),
    }
}

fn check_size(config: &Config) -> Result<(), ConfigError> {
    let (runs, shard) = (config.planned(), config.shard);
    match (config.selection.stratify, config.size) {
        (Some(_), Size::Exhaustive) => return Err(ConfigError::StratifyExhaustive),
        (Some(_), Size::Margin(rule)) => {
            return Err(ConfigError::StratifyMargin { runs: sample_size(rule.margin, config.confidence) });
        }
        _ => {}
    }
    match config.size {
        Size::Exhaustive => match &config.selection.model {
            Some(model) if model != "flip" => Err(ConfigError::ExhaustiveModel { model: model.clone() }),
            _ => Ok(()),
        },
        Size::Margin(rule) if shard != Shard::WHOLE => {
            Err(ConfigError::MarginWithShard { runs: sample_size(rule.margin, config.confidence) })
        }
        Size::Margin(MarginRule { at_most: Some(most), .. }) if most == 0 || most > MAX_RUNS => {
            Err(ConfigError::Runs { runs: most })
        }
        Size::Margin(rule) if runs > MAX_RUNS => Err(ConfigError::MarginTooTight { margin: rule.margin.get(), runs }),
        Size::Runs(_) if runs == 0 || runs > MAX_RUNS => Err(ConfigError::Runs { runs }),
        _ if shard.share_of(runs) == 0 => {
            Err(ConfigError::EmptyShard { runs, number: shard.number(), count: shard.count() })
        }
        Size::Margin(_) | Size::Runs(_) => Ok(()),
    }
}
