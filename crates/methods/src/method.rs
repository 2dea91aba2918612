//! What a method is: how it chooses sites, what it makes of rows, and what it adds to the program.

use campaign::{Aim, Planner, Results, SelectionWords, StoreError, TargetError};
use inject::CapsuleTarget;
use outcome::Criteria;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Picture, Sheet, Study};

use crate::kit::{Campaigns, CommandStarter, Inputs, OpenedCapsule, StudyError, StudySubject};

/// A published method.
pub trait Method: Sync {
    /// The word that names it, in campaigns (`--method NAME:settings`) and for its page.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn about(&self) -> &'static str;

    /// An example of its word with settings, for help; none if it has no settings.
    fn example(&self) -> Option<&'static str> {
        None
    }

    /// Whether it chooses sites of campaigns (`--method NAME`). Others choose inputs, or change programs.
    fn chooses_sites(&self) -> bool {
        true
    }

    /// Why the rates of its runs are not those of the program, if they are not: a sentence that says where those stand.
    fn rates_elsewhere(&self) -> Option<&'static str> {
        None
    }

    /// Whether the words mean something, as far as that can be told without a capsule.
    ///
    /// # Errors
    /// If they mean no settings, or say what the method chooses itself; of a method that chooses no sites, always.
    fn check(&self, words: &SelectionWords) -> Result<(), TargetError> {
        let _ = words;
        Err(TargetError::new(format!("choose sites by {}: it chooses none; it has commands of its own", self.name())))
    }

    /// What its faults are, by its words: one for each kind of place and change that its sites have. Nothing, if it cannot be
    /// said, which claims nothing.
    ///
    /// # Errors
    /// If the words mean no settings.
    fn aims(&self, words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
        let _ = words;
        Ok(Vec::new())
    }

    /// Makes the settings of `words` mean the same later and from anywhere. Where a user names a file, it is read once: its
    /// content takes the place of its name, or its text stands in `words.files` (`kit::lasting`).
    ///
    /// # Errors
    /// If a file cannot be read, or the method does not have the settings.
    fn lasting(&self, words: &mut SelectionWords) -> Result<(), TargetError> {
        let _ = words;
        Ok(())
    }

    /// The method on a capsule, with the settings that `words.method` has.
    ///
    /// # Errors
    /// If the words mean no settings, say what the method chooses itself, or select nothing; of a method that chooses no
    /// sites, always.
    fn apply(&self, capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Box<dyn Applied>, TargetError> {
        let _ = capsule;
        self.check(words).and(Err(TargetError::new(format!("choose sites by {}", self.name()))))
    }

    /// The questions that it asks of capsules.
    fn studies(&self) -> &'static [StudyOffer] {
        &[]
    }

    /// Its models of outcomes that learn from exhaustive campaigns; none if it has none.
    fn learning(&self) -> Option<OutcomeLearning> {
        None
    }

    /// The commands that it adds to the program.
    fn commands(&self) -> &'static [Command] {
        &[]
    }

    /// The commands that it adds to the program and that read files, not a capsule.
    fn readers(&self) -> &'static [Reader] {
        &[]
    }

    /// The commands that it adds to the program and that are about the inputs of an application.
    fn input_commands(&self) -> &'static [InputCommand] {
        &[]
    }
}

/// A method on a capsule: the planner of a campaign, and who reads its rows.
pub trait Applied: Planner {
    /// What it makes of the rows of a campaign that it planned.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError>;
}

/// What a method makes of rows.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// As a document with a `format` of its own.
    pub json: serde_json::Value,
    /// As tables.
    pub study: Study,
}

/// Fits models of outcomes to exhaustive campaigns, on as many threads as the number says, and tests them on campaigns that they have
/// not seen; the flag ends it.
pub type OutcomeLearning = fn(&[ExhaustiveCampaign], usize, &AtomicBool) -> Result<Estimates, StudyError>;

/// An exhaustive campaign and its capsule.
pub struct ExhaustiveCampaign {
    /// The name of the workload.
    pub workload: String,
    /// The capsule.
    pub capsule: Arc<CapsuleTarget>,
    /// The campaign.
    pub results: Results,
}

/// A question, answered by campaigns on one or more capsules: `beamline study NAME`.
pub struct StudyOffer {
    /// The word that asks for it.
    pub name: &'static str,
    /// What is asked, in a line.
    pub about: &'static str,
    /// Answers it, by campaigns of so many runs.
    pub make: fn(&[StudySubject], u64, &mut Campaigns<'_>) -> Result<Study, StudyError>,
}

/// The criteria by which the capsule of a command is opened: ranges and element types, which have to be known before outputs are
/// compared.
pub type OpeningCriteria = fn(&Options, Option<&str>) -> Result<Criteria, StudyError>;

/// A command that a method adds to the program: of one capsule, with options of its own beside those that all have (the
/// capsule, its kernels, seed and fuel, where campaigns are kept, a plot, JSON).
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Its own options.
    pub options: &'static [CommandOption],
    /// Of the options that all have, those that would do nothing here, each with the reason.
    pub without: &'static [(&'static str, &'static str)],
    /// The criteria by which the capsule is opened, from the command's own options and from the `workload.toml` of a bundled
    /// workload; none if the capsule is compared as it says itself.
    pub criteria: Option<OpeningCriteria>,
    /// Answers a request.
    pub run: fn(&Request, &mut Campaigns<'_>) -> Result<Answer, StudyError>,
}

/// A command that a method adds to the program, about the inputs of an application.
pub struct InputCommand {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Its own options.
    pub options: &'static [CommandOption],
    /// The criteria that have to be known before an input is recorded, of its options and of what a bundled workload declares.
    pub criteria: Option<OpeningCriteria>,
    /// Answers a request.
    pub run: fn(&mut InputRequest<'_>, &mut Campaigns<'_>) -> Result<Answer, StudyError>,
}

/// What a command about inputs is asked.
pub struct InputRequest<'a> {
    /// The application.
    pub inputs: &'a mut dyn Inputs,
    /// Of a bundled workload, what it declares of itself: the text of its `workload.toml`.
    pub declared: Option<String>,
    /// What is said of its own options.
    pub options: Options,
}

/// A command that a method adds to the program and that reads files.
pub struct Reader {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// What stands for the files in help.
    pub files: &'static str,
    /// Its own options.
    pub options: &'static [CommandOption],
    /// Answers a request.
    pub run: fn(&FilesRequest) -> Result<Answer, StudyError>,
}

/// What a command that reads files is asked.
pub struct FilesRequest {
    /// The files' names and texts.
    pub files: Vec<(String, String)>,
    /// What is said of its own options.
    pub options: Options,
}

/// An option of a command, `--key VALUE`.
#[derive(Clone, Copy, Debug)]
pub struct CommandOption {
    /// Its name.
    pub key: &'static str,
    /// What stands for its value in help.
    pub value: &'static str,
    /// The words that it can be, with what they mean; any, if there are none.
    pub words: &'static [(&'static str, &'static str)],
    /// What it is if it is not said.
    pub default: Option<&'static str>,
    /// What it says, in a line.
    pub about: &'static str,
    /// Whether its value is the name of a file that the command writes.
    pub is_written: bool,
}

impl CommandOption {
    /// An option that takes any value.
    #[must_use]
    pub const fn any(
        key: &'static str,
        value: &'static str,
        default: Option<&'static str>,
        about: &'static str,
    ) -> Self {
        Self::of_words(key, value, &[], default, about)
    }

    /// An option that takes one of some words, each with what it means.
    #[must_use]
    pub const fn of_words(
        key: &'static str,
        value: &'static str,
        words: &'static [(&'static str, &'static str)],
        default: Option<&'static str>,
        about: &'static str,
    ) -> Self {
        Self { key, value, words, default, about, is_written: false }
    }

    /// An option that names a file to write.
    #[must_use]
    pub const fn file(key: &'static str, value: &'static str, about: &'static str) -> Self {
        Self { key, value, words: &[], default: None, about, is_written: true }
    }
}

/// What a command is asked.
pub struct Request {
    /// The capsule, its golden run done.
    pub capsule: OpenedCapsule,
    /// Of a bundled workload, what it declares of itself: the text of its `workload.toml`.
    pub declared: Option<String>,
    /// What is said of its own options.
    pub options: Options,
    /// Starts commands of the user that compare outputs; none where none may be started.
    pub commands: Option<Arc<dyn CommandStarter>>,
}

/// What is said of the options of a command.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// By option, its value, defaults included.
    pub values: BTreeMap<&'static str, String>,
    /// Those that stand on the command line, with `seed`, which all commands on capsules share.
    pub said: BTreeSet<&'static str>,
}

impl Options {
    /// The value of an option, if it is said or has a default.
    ///
    /// # Errors
    /// If it means nothing.
    pub fn get<T: FromStr>(&self, key: &str) -> Result<Option<T>, StudyError>
    where
        T::Err: std::fmt::Display,
    {
        let value = self
            .values
            .get(key)
            .map(|text| text.parse().map_err(|error| StudyError::Words(format!("read `{text}` for --{key}: {error}"))));
        value.transpose()
    }

    /// The values of those of these options that have one, by their names.
    pub fn of<'k>(&self, keys: &'k [&'k str]) -> impl Iterator<Item = (&'k str, String)> {
        keys.iter().filter_map(|key| Some((*key, self.values.get(key)?.clone())))
    }

    /// Whether an option is said or has a default.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// The first of these options that stands on the command line.
    #[must_use]
    pub fn first_explicit(&self, keys: &[&'static str]) -> Option<&'static str> {
        keys.iter().copied().find(|key| self.said.contains(key))
    }
}

/// What a command answers.
pub struct Answer {
    /// As a document with a `format` of its own.
    pub json: serde_json::Value,
    /// As tables; the first plot is what `--plot` writes.
    pub study: Study,
    /// Files that were asked for, by name.
    pub files: Vec<(PathBuf, String)>,
    /// Pictures that were asked for, by the names of their files.
    pub pictures: Vec<(PathBuf, Picture)>,
    /// Rows that were asked for as Parquet, by the names of their files.
    pub sheets: Vec<(PathBuf, Sheet)>,
}
