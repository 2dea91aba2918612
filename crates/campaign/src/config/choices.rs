//! What users write: every key optional, in the same words on the command line and in files.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::keys::{Keys, OptionWords, Reader, keys};
use super::{Bytes, Config, ConfigError, IntervalMethod, Live, MarginBy, SelectionWords, Shard, Size, read};
use crate::bound::Bound;
use crate::engine::Engine;
use outcome::Criteria;

keys! {
    /// The choices of a campaign as written, unchecked. A key that is left out takes its default in
    /// [`settle`](Self::settle).
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Choices {
        /// The file or the bundled workload to irradiate.
        capsule: Option<String> = "capsule" apart,
        /// A fixed number of runs; with a margin, at most so many.
        runs: Option<u64> = "runs" one,
        /// Stop when the rates are within this margin that `margin-by` names.
        margin: Option<f64> = "margin" number,
        /// Which rates have to be within the margin.
        margin_by: Option<MarginBy> = "margin-by" one,
        /// Every site instead of a sample.
        exhaustive: bool = "exhaustive" flag,
        /// End after so many seconds of work.
        seconds: Option<f64> = "seconds" number,
        /// The confidence of every reported interval.
        confidence: Option<f64> = "confidence" number,
        /// The kind of interval.
        interval: Option<IntervalMethod> = "interval" one,
        /// The seed of all random choices.
        seed: Option<u64> = "seed" one,
        /// Which sites.
        selection: SelectionWords = part,
        /// What the campaign fails by.
        fail_if: Vec<Bound> = "fail-if" each,
        /// A bound that cannot be decided is exceeded.
        fail_if_undecided: bool = "fail-if-undecided" flag,
        /// Instructions that a thread may execute beyond ten times its fault-free ones before it is stopped.
        fuel: Option<u32> = "fuel" one,
        /// What becomes of accesses that miss what the program was given.
        addresses: Option<String> = "addresses" one,
        /// Which products are joined with the sums that read them.
        contract: Option<String> = "contract" one,
        /// In which order warps and blocks execute.
        order: Option<String> = "order" one,
        /// The path that runs take.
        engine: Option<Engine> = "engine" one,
        /// How many workers.
        jobs: Option<u32> = "jobs" one,
        /// What may be kept in memory.
        memory: Option<Bytes> = "memory" one,
        /// Which part of the runs is made here.
        shard: Option<Shard> = "shard" one,
        /// The application, for runs that have its host in the loop.
        live: Live = part,
        /// Leave undecided what the recorded application would have to be asked.
        no_app: bool = "no-app" flag,
        /// What outputs have to keep to.
        criteria: Criteria = part,
    }
}

impl Choices {
    /// Every key of a configuration file: the words of the command line.
    #[must_use]
    pub fn keys() -> Vec<&'static str> {
        let mut names = Vec::new();
        Self::names(&mut names);
        names
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, does not parse, or has a key that means nothing.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::from_toml(&text, &name),
            Err(source) => Err(ConfigError::Io { name, source }),
        }
    }

    /// Reads the text of a file called `name` in messages.
    ///
    /// # Errors
    /// When it does not parse, or has a key that means nothing.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| read::explain(text, name, &Self::keys(), &error))
    }

    /// These choices, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(self, mut other: Self) -> Self {
        // A number of runs overrides a margin and the other way round, and so does `exhaustive`: all say how long.
        if self.runs.is_some() || self.margin.is_some() || self.exhaustive {
            (other.runs, other.margin, other.exhaustive) = (None, None, false);
            other.margin_by = other.margin_by.filter(|_| self.margin.is_some());
        }
        self.merged(other)
    }

    /// These choices, and `criteria` of outputs that these say nothing of.
    #[must_use]
    pub fn judged_by(self, criteria: Criteria) -> Self {
        Self { criteria: self.criteria.or(criteria), ..self }
    }

    /// Whether anything says how good a corrupted output is: a criterion, or a judge of live runs.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.criteria.judges() || self.live.judge.is_some()
    }

    /// Whether corrupted outputs are judged as in `other`.
    #[must_use]
    pub fn is_judged_like(&self, other: &Self) -> bool {
        self.live.judge == other.live.judge && self.criteria.judges_like(&other.criteria)
    }

    /// What is said by options of the command line, key by key; a flag says `true`, and a key of which much is said
    /// stands there as often.
    #[must_use]
    pub fn entries(&self) -> Vec<OptionWords> {
        let mut entries = Vec::new();
        self.say(&mut entries);
        entries
    }
}

impl Serialize for Choices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader::default())
    }
}

impl From<&Config> for Choices {
    fn from(config: &Config) -> Self {
        let (runs, margin, exhaustive) = match config.size {
            Size::Runs(runs) => (Some(runs), None, false),
            Size::Margin(rule) => (rule.at_most, Some(rule), false),
            Size::Exhaustive => (None, None, true),
        };
        Self {
            capsule: Some(config.capsule.clone()).filter(|capsule| config.live.is_none() || !capsule.is_empty()),
            runs,
            margin: margin.map(|rule| rule.margin.get()),
            margin_by: margin.map(|rule| rule.by).filter(|by| *by != MarginBy::Overall),
            exhaustive,
            seconds: config.seconds,
            confidence: Some(config.confidence.level()),
            interval: Some(config.interval),
            seed: Some(config.seed),
            selection: config.selection.clone(),
            fail_if: config.bounds.clone(),
            fail_if_undecided: config.undecided_fails,
            fuel: config.fuel,
            addresses: config.addresses.clone(),
            contract: config.contract.clone(),
            order: config.order.clone(),
            engine: Some(config.engine.clone()),
            jobs: config.jobs.map(NonZeroU32::get),
            memory: config.memory,
            shard: (config.shard != Shard::WHOLE).then_some(config.shard),
            live: config.live.clone().unwrap_or_default(),
            no_app: config.no_app,
            criteria: config.criteria.clone(),
        }
    }
}

impl Config {
    /// The text from which [`from_toml`](Self::from_toml) reads this configuration.
    ///
    /// # Errors
    /// Never for a configuration that [`Choices::settle`] made.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        let mut table = toml::Table::try_from(Choices::from(self)).map_err(ConfigError::Write)?;
        if let Some(method) = &self.selection.method {
            table.insert("method".to_owned(), method.table().into());
        }
        toml::to_string(&table).map_err(ConfigError::Write)
    }
}
