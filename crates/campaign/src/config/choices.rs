//! What users write: every key optional, in the same words on the command line and in files.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stats::{Confidence, Margin, sample_size};

use super::{
    Bytes, CommandLine, Config, ConfigError, DEFAULT_RUNS, IntervalMethod, MAX_RUNS, Selection, Shard, Size, Stratify,
    live,
};
use crate::bound::Bound;
use crate::engine::Engine;
use outcome::{Criteria, QUALITY_KEYS, Quality, nearest};

/// The choices of a campaign as written, unchecked. A key that is left out takes its default in
/// [`settle`](Self::settle).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Choices {
    /// The file or the bundled workload to irradiate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capsule: Option<String>,
    /// A fixed number of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Stop when every reported rate is within this margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Every site instead of a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<bool>,
    /// The confidence of every reported interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The kind of interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalMethod>,
    /// The seed of all random choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The fault model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The operand that is hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Instruction groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// How many threads are hit at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel: Vec<String>,
    /// Source lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Ranges of threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// Ranges of blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<String>,
    /// By what the population is divided into strata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stratify: Option<Stratify>,
    /// The published method that chooses sites, with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What the campaign fails by.
    #[serde(rename = "fail-if", skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Bound>,
    /// Whether a bound that cannot be decided is exceeded.
    #[serde(rename = "fail-if-undecided", skip_serializing_if = "Option::is_none")]
    pub fail_if_undecided: Option<bool>,
    /// Instructions that a thread may execute beyond ten times its fault-free ones before it counts as hanging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u32>,
    /// The path that runs take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// How many workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// What may be kept in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Which part of the runs is made here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The application, for runs that have its host in the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<CommandLine>,
    /// The directory that the application is started for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Files that the application leaves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file: Vec<String>,
    /// A command that says whether what the application left is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The seconds that the application may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Whether the application runs in its directory itself.
    #[serde(rename = "in-place", skip_serializing_if = "Option::is_none")]
    pub in_place: Option<bool>,
    /// For each output, the relative error that is still good.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tolerance: BTreeMap<String, f64>,
    /// For each output, all that it has to keep to.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quality: BTreeMap<String, Quality>,
}

/// Every key, for suggestions.
const KEYS: [&str; 32] = [
    "capsule",
    "runs",
    "margin",
    "exhaustive",
    "confidence",
    "interval",
    "seed",
    "model",
    "target",
    "group",
    "scope",
    "kernel",
    "lines",
    "threads",
    "blocks",
    "stratify",
    "method",
    "fail-if",
    "fail-if-undecided",
    "fuel",
    "engine",
    "jobs",
    "memory",
    "shard",
    "app",
    "directory",
    "file",
    "judge",
    "timeout",
    "in-place",
    "tolerance",
    "quality",
];

impl Choices {
    /// Every key of a configuration file: the words of the command line.
    pub const KEYS: &[&str] = &KEYS;

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
        toml::from_str(text).map_err(|error| explain(text, name, &error))
    }

    /// These choices, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        let criteria = self.take_criteria().or(other.clone().take_criteria());
        let list = |one: Vec<String>, other| if one.is_empty() { other } else { one };
        // A number of runs overrides a margin and the other way round, and so does `exhaustive`: all say how long.
        let sized = self.runs.is_some() || self.margin.is_some() || self.exhaustive == Some(true);
        Self {
            capsule: self.capsule.or(other.capsule),
            runs: if sized { self.runs } else { other.runs },
            margin: if sized { self.margin } else { other.margin },
            exhaustive: if sized { self.exhaustive } else { self.exhaustive.or(other.exhaustive) },
            confidence: self.confidence.or(other.confidence),
            interval: self.interval.or(other.interval),
            seed: self.seed.or(other.seed),
            model: self.model.or(other.model),
            target: self.target.or(other.target),
            group: list(self.group, other.group),
            scope: self.scope.or(other.scope),
            kernel: list(self.kernel, other.kernel),
            lines: list(self.lines, other.lines),
            threads: list(self.threads, other.threads),
            blocks: list(self.blocks, other.blocks),
            stratify: self.stratify.or(other.stratify),
            method: self.method.or(other.method),
            fail_if: if self.fail_if.is_empty() { other.fail_if } else { self.fail_if },
            fail_if_undecided: self.fail_if_undecided.or(other.fail_if_undecided),
            fuel: self.fuel.or(other.fuel),
            engine: self.engine.or(other.engine),
            jobs: self.jobs.or(other.jobs),
            memory: self.memory.or(other.memory),
            shard: self.shard.or(other.shard),
            tolerance: criteria.tolerance,
            quality: criteria.quality,
            app: self.app.or(other.app),
            directory: self.directory.or(other.directory),
            file: list(self.file, other.file),
            judge: self.judge.or(other.judge),
            timeout: self.timeout.or(other.timeout),
            in_place: self.in_place.or(other.in_place),
        }
    }

    /// These choices, and `criteria` of outputs that these say nothing of.
    #[must_use]
    pub fn judged_by(mut self, criteria: Criteria) -> Self {
        let Criteria { tolerance, quality } = self.take_criteria().or(criteria);
        Self { tolerance, quality, ..self }
    }

    fn take_criteria(&mut self) -> Criteria {
        Criteria { tolerance: std::mem::take(&mut self.tolerance), quality: std::mem::take(&mut self.quality) }
    }

    /// Fills in the defaults and checks that the choices make sense together.
    ///
    /// # Errors
    /// When a value is out of its range or two choices contradict each other.
    pub fn settle(self) -> Result<Config, ConfigError> {
        let live = self.live()?;
        let alone = live.as_ref().is_some_and(|live| live.in_place);
        let jobs = if alone { Some(1) } else { self.jobs };
        let capsule = match &live {
            Some(_) => self.capsule.clone().unwrap_or_default(),
            None => self.capsule.clone().ok_or(ConfigError::NoCapsule)?,
        };
        let config = Config {
            live,
            capsule,
            size: self.size()?,
            confidence: self.confidence.map_or(Ok(Confidence::PERCENT_95), Confidence::new)?,
            seed: self.seed.unwrap_or(0),
            criteria: Criteria { tolerance: self.tolerance, quality: self.quality },
            bounds: self.fail_if,
            undecided_fails: self.fail_if_undecided.unwrap_or(false),
            fuel: self.fuel,
            engine: self.engine.unwrap_or(Engine::AUTO),
            interval: self.interval.unwrap_or(IntervalMethod::Wilson),
            shard: self.shard.unwrap_or(Shard::WHOLE),
            jobs: jobs.map(|jobs| NonZeroU32::new(jobs).ok_or(ConfigError::NoJobs)).transpose()?,
            memory: self.memory,
            selection: Selection {
                model: self.model,
                target: self.target,
                group: self.group,
                scope: self.scope,
                kernel: self.kernel,
                lines: self.lines,
                threads: self.threads,
                blocks: self.blocks,
                stratify: self.stratify,
                method: self.method,
            },
        };
        check(&config)?;
        Ok(config)
    }

    fn size(&self) -> Result<Size, ConfigError> {
        match (self.runs, self.margin, self.exhaustive.unwrap_or(false)) {
            (Some(_), Some(_), _) => Err(ConfigError::RunsAndMargin),
            (Some(_), None, true) => Err(ConfigError::ExhaustiveWithRuns),
            (None, Some(_), true) => Err(ConfigError::ExhaustiveWithMargin),
            (None, None, true) => Ok(Size::Exhaustive),
            (runs, None, false) => Ok(Size::Runs(runs.unwrap_or(DEFAULT_RUNS))),
            (None, Some(margin), false) => Ok(Size::Margin(Margin::new(margin)?)),
        }
    }
}

/// Checks what no single value can be blamed for, and the values whose types hold more than is meant.
fn check(config: &Config) -> Result<(), ConfigError> {
    check_size(config)?;
    if config.live.is_some() {
        live::check(config.size)?;
    }
    if i64::try_from(config.seed).is_err() {
        return Err(ConfigError::Seed { seed: config.seed });
    }
    let unusable = |value: f64| value.is_nan() || value < 0.0;
    match config.criteria.tolerance.iter().find(|&(_, &value)| unusable(value)) {
        Some((output, &value)) => Err(ConfigError::Tolerance { output: output.clone(), value }),
        None => config.criteria.check().map_err(|(output, source)| ConfigError::Quality { output, source }),
    }
}

fn check_size(config: &Config) -> Result<(), ConfigError> {
    let (runs, shard) = (config.planned(), config.shard);
    match (config.selection.stratify, config.size) {
        (Some(_), Size::Exhaustive) => return Err(ConfigError::StratifyExhaustive),
        (Some(_), Size::Margin(margin)) => {
            return Err(ConfigError::StratifyMargin { runs: sample_size(margin, config.confidence) });
        }
        _ => {}
    }
    match config.size {
        Size::Exhaustive => match &config.selection.model {
            Some(model) if model != "flip" => Err(ConfigError::ExhaustiveModel { model: model.clone() }),
            _ => Ok(()),
        },
        Size::Margin(margin) if shard != Shard::WHOLE => {
            Err(ConfigError::MarginWithShard { runs: sample_size(margin, config.confidence) })
        }
        Size::Margin(margin) if runs > MAX_RUNS => Err(ConfigError::MarginTooTight { margin: margin.get(), runs }),
        Size::Runs(_) if runs == 0 || runs > MAX_RUNS => Err(ConfigError::Runs { runs }),
        _ if shard.share_of(runs) == 0 => {
            Err(ConfigError::EmptyShard { runs, number: shard.number(), count: shard.count() })
        }
        Size::Margin(_) | Size::Runs(_) => Ok(()),
    }
}

impl From<&Config> for Choices {
    fn from(config: &Config) -> Self {
        let selection = config.selection.clone();
        let (runs, margin, exhaustive) = match config.size {
            Size::Runs(runs) => (Some(runs), None, None),
            Size::Margin(margin) => (None, Some(margin.get()), None),
            Size::Exhaustive => (None, None, Some(true)),
        };
        let live = config.live.clone();
        Self {
            capsule: Some(config.capsule.clone()).filter(|capsule| live.is_none() || !capsule.is_empty()),
            runs,
            margin,
            exhaustive,
            confidence: Some(config.confidence.level()),
            interval: Some(config.interval),
            seed: Some(config.seed),
            model: selection.model,
            target: selection.target,
            group: selection.group,
            scope: selection.scope,
            kernel: selection.kernel,
            lines: selection.lines,
            threads: selection.threads,
            blocks: selection.blocks,
            stratify: selection.stratify,
            method: selection.method,
            fail_if: config.bounds.clone(),
            fail_if_undecided: config.undecided_fails.then_some(true),
            fuel: config.fuel,
            engine: Some(config.engine.clone()),
            jobs: config.jobs.map(NonZeroU32::get),
            memory: config.memory,
            shard: (config.shard != Shard::WHOLE).then_some(config.shard),
            tolerance: config.criteria.tolerance.clone(),
            quality: config.criteria.quality.clone(),
            app: live.as_ref().map(|live| live.app.clone()),
            directory: live.as_ref().and_then(|live| live.directory.clone()),
            file: live.as_ref().map(|live| live.file.clone()).unwrap_or_default(),
            judge: live.as_ref().and_then(|live| live.judge.clone()),
            timeout: live.as_ref().and_then(|live| live.timeout),
            in_place: live.filter(|live| live.in_place).map(|_| true),
        }
    }
}

/// Turns a parser's complaint into ours: an unknown key gets a suggestion, anything else its line.
fn explain(text: &str, name: &str, error: &toml::de::Error) -> ConfigError {
    let name = name.to_owned();
    let table = toml::from_str::<toml::Table>(text).unwrap_or_default();
    if let Some((key, nearest)) = unknown_key(&table) {
        let quotes = [' ', '\t', '[', '"', '\''];
        let names_it = |line: &str| line.trim_start_matches(quotes).starts_with(&key);
        let line = text.lines().position(names_it).map(|at| at + 1);
        return ConfigError::UnknownKey { name, line, nearest, key };
    }
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| before.matches('\n').count() + 1);
    // Lines that show a place in a value are for those who see the value.
    let message = error.message().lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>().join("; ");
    ConfigError::Syntax { name, line, message }
}

/// The first key that means nothing, here or in the quality of an output, and the one that it resembles most.
fn unknown_key(table: &toml::Table) -> Option<(String, &'static str)> {
    let unknown = |table: &toml::Table, known: &[&'static str]| {
        let key = table.keys().find(|key| !known.contains(&key.as_str()))?;
        Some((key.clone(), nearest(key, known)))
    };
    let qualities = table.get("quality").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    unknown(table, &KEYS)
        .or_else(|| qualities.filter_map(toml::Value::as_table).find_map(|quality| unknown(quality, &QUALITY_KEYS)))
}
