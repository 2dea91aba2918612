//! The method as the planner of a campaign: a cell of the table after the other, each with as many runs.

use campaign::{
    Aim, Finding, Label, LabelColumn, Labels, Planner, Results, RunIndex, SelectionWords, Site, StoreError, Subject,
    TargetError,
};
use fault::Selection;
use inject::site::LABELS;
use inject::{CapsuleTarget, NarrowedWords, SelectionCycle};
use outcome::{Outcome, OutputDiff, Sdc};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::compose::{Composition, EndsByKernel, OutcomeCounts};
use super::ipa::IpaTable;
use super::issue::{KnownIssueRate, issue_rate};
use super::settings::{Cells, Grouping, SdcKind, Settings};
use super::shares::Shares;
use crate::kit::MethodSettings;
use crate::kit::chosen::first_explicit;

/// What is said of each site: what any campaign says, and what the method chose it for.
static COLUMNS: LazyLock<Vec<LabelColumn>> = LazyLock::new(|| {
    let cell = LabelColumn::text(
        "cell",
        "the instruction type and the manifestation of the IPA table that the run is of, and what that is to a campaign",
    );
    LABELS.iter().cloned().chain([cell]).collect()
});

/// A type of instructions and a manifestation that is made in them.
struct Cell {
    /// Their numbers in the table.
    at: (usize, usize),
    /// As rows name it.
    name: String,
    words: SelectionWords,
}

/// A capsule whose faults are those that an IPA table has rates for.
pub struct TwoLevel {
    capsule: Arc<CapsuleTarget>,
    settings: Settings,
    table: IpaTable,
    /// The texts of the files that the settings name.
    files: BTreeMap<String, String>,
    shares: Shares,
    issue: Option<KnownIssueRate>,
    /// Whether kernels are selected.
    is_part: bool,
    cells: Vec<Cell>,
    planned: SelectionCycle,
}

/// How the rows of a campaign ended.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// By type and manifestation.
    pub ends: BTreeMap<(usize, usize), EndsByKernel>,
    /// Runs in which the host was given other bytes than it was in the run without a fault and was not asked what it would have
    /// done.
    pub undecided: u64,
    /// All runs in which it was.
    pub host_visible: u64,
    /// Runs that ended in no class: they failed, or nothing landed.
    pub lost: u64,
}

/// What the words of a selection mean to the method.
pub(super) struct ParsedSettings {
    settings: Settings,
    table: IpaTable,
    files: BTreeMap<String, String>,
    selection: Selection,
}

impl ParsedSettings {
    /// Reads the words.
    ///
    /// # Errors
    /// If they mean no settings, or say what the method chooses itself.
    pub(super) fn of(words: &SelectionWords) -> Result<Self, TargetError> {
        let settings = Settings::read(words)?;
        check(words)?;
        let of = |error: fault::SelectionError| TargetError::from_error(&error);
        let selection = Selection::default().in_kernels(&words.kernel).map_err(of)?;
        let table = IpaTable::named_among(&settings.ipa, &words.files).map_err(TargetError::new)?;
        issue_rate(&settings.issue, "", "", &words.files).map_err(TargetError::new)?;
        let files = settings.files(&words.files).map_err(TargetError::new)?;
        Ok(Self { settings, table, files, selection })
    }

    /// What faults do, for each type and manifestation that is made.
    pub(super) fn aims(&self, kernels: &[String]) -> Vec<Aim> {
        cells(&self.table, &self.settings, kernels).into_iter().map(|cell| Aim::from(cell.words)).collect()
    }
}

/// Refuses words about what the method chooses itself.
fn check(words: &SelectionWords) -> Result<(), TargetError> {
    match first_explicit(words, &["kernel"]) {
        None => Ok(()),
        Some(key) => Err(TargetError::new(format!(
            "choose sites by an IPA table and by `{key}` too: the table says what is hit and how; leave `{key}` out"
        ))),
    }
}

impl TwoLevel {
    /// The method on a capsule, as `words` say.
    ///
    /// # Errors
    /// If the words mean no settings, say what the method chooses itself, or select nothing.
    pub fn new(capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Self, TargetError> {
        let ParsedSettings { settings, table, files, selection } = ParsedSettings::of(words)?;
        let golden = capsule.golden_run();
        let shares = Shares::of(golden, &table, settings.grouping, &selection).map_err(TargetError::new)?;
        let cells = cells(&table, &settings, &words.kernel);
        let selections: Vec<NarrowedWords> = cells.iter().map(|cell| cell.words.clone().into()).collect();
        let planned = capsule.cells(&selections)?;
        if planned.numbers().is_empty() {
            if shares.kernels.is_empty() {
                let kernels = words.kernel.join(", ");
                return Err(TargetError::new(format!(
                    "find a kernel: none matches {kernels}; `beamline profile` lists them"
                )));
            }
            let names: Vec<&str> = table.instructions.iter().map(|it| it.name.as_str()).collect();
            let names = names.join(", ");
            return Err(TargetError::new(format!(
                "make a fault of the IPA table `{}`: nothing that is executed has a register that \
                one of {names} flips",
                table.name
            )));
        }
        // A profile knows the application as a whole, not some of its kernels.
        let known = words.kernel.is_empty() || settings.issue.parse::<f64>().is_ok();
        let issue = issue_rate(&settings.issue, capsule.name(), capsule.digest(), &files).map_err(TargetError::new)?;
        let issue = issue.filter(|_| known);
        Ok(Self {
            capsule: Arc::clone(capsule),
            settings,
            table,
            files,
            shares,
            issue,
            is_part: !words.kernel.is_empty(),
            cells,
            planned,
        })
    }

    /// Lets campaigns of it keep no file but those that these settings name.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub(super) fn keep_files_of(&mut self, settings: &Settings) -> Result<(), String> {
        self.files = settings.files(&self.files)?;
        Ok(())
    }

    /// How many cells have instructions: run i is of cell i mod so many.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.planned.numbers().len()
    }

    /// The choices.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The table of rates.
    #[must_use]
    pub fn table(&self) -> &IpaTable {
        &self.table
    }

    /// What the application executes.
    #[must_use]
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Whether kernels are selected, so that profiles of whole applications say nothing of them.
    pub(super) fn is_part(&self) -> bool {
        self.is_part
    }

    /// The issue rate, if it is known.
    #[must_use]
    pub fn issue(&self) -> Option<&KnownIssueRate> {
        self.issue.as_ref()
    }

    /// The name of the capsule.
    #[must_use]
    pub fn name(&self) -> &str {
        self.capsule.name()
    }

    /// How the rows of a campaign of this method ended.
    ///
    /// # Errors
    /// If the rows cannot be read, or are of another table.
    pub fn count(&self, results: &Results) -> Result<Counted, StoreError> {
        let mut counted = Counted::default();
        // A cell that was planned has ends, whatever became of its runs.
        for &number in self.planned.numbers() {
            counted.ends.entry(self.cells[number].at).or_default();
        }
        let mut strange = None;
        results.visit(&mut |row| {
            let name = row.site.labels.text(LABELS.len()).unwrap_or_default();
            let planned = self.planned.of_run(row.run).map(|number| &self.cells[number]);
            let Some(&Cell { at, .. }) = planned.filter(|cell| cell.name == name) else {
                strange.get_or_insert_with(|| name.to_owned());
                return;
            };
            let Finding::Seen { observation, outcome, .. } = &row.finding else {
                counted.lost += 1;
                return;
            };
            counted.host_visible += u64::from(observation.host_visible);
            counted.undecided += u64::from(*outcome == Outcome::Undecided);
            let ends = counted.ends.entry(at).or_default().entry(row.site.spot.kernel.clone()).or_default();
            match end(*outcome, self.settings.sdc, &observation.outputs) {
                Some(end) => *end(ends) += 1,
                None => counted.lost += 1,
            }
        })?;
        match strange {
            None => Ok(counted),
            Some(name) => Err(StoreError::Method(format!(
                "compose the rates of `{}`: there are rows of `{name}`, which is not in the table; it was another one when they were \
                 made, so that they have to be made again",
                self.table.name
            ))),
        }
    }

    /// The same method, with another kind of SDC that counts: rows do not depend on it.
    #[must_use]
    pub fn counting(mut self, sdc: SdcKind) -> Self {
        self.settings.sdc = sdc;
        self
    }

    /// What the rows of a campaign of this method come to.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn compose(&self, results: &Results) -> Result<(Composition, Counted), StoreError> {
        let counted = self.count(results)?;
        Ok((Composition::of(&self.table, &self.shares, &counted.ends), counted))
    }
}

/// Which count an outcome belongs to.
fn end(outcome: Outcome, sdc: SdcKind, outputs: &[OutputDiff]) -> Option<fn(&mut OutcomeCounts) -> &mut u64> {
    match outcome {
        Outcome::Sdc(kind) if !sdc.counts(kind != Sdc::Good, outputs) => Some(|ends| &mut ends.masked),
        Outcome::Masked(_) => Some(|ends| &mut ends.masked),
        Outcome::Sdc(_) => Some(|ends| &mut ends.sdc),
        Outcome::Due(_) => Some(|ends| &mut ends.due),
        Outcome::Undecided => Some(|ends| &mut ends.undecided),
        Outcome::NotLanded => None,
    }
}

/// What has a rate and can be made, and what stands for all where strikes are not asked.
fn cells(table: &IpaTable, settings: &Settings, kernels: &[String]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (number, it) in table.instructions.iter().enumerate() {
        for (manifestation, kind) in table.manifestations.iter().enumerate() {
            let rated = it.rate(&kind.name).is_some() || it.uniform.as_ref() == Some(&kind.name);
            let wanted = rated || settings.cells == Cells::All;
            let Some(model) = kind.model.as_ref().filter(|_| wanted) else { continue };
            let words = SelectionWords {
                model: Some(model.clone()),
                scope: kind.scope.clone(),
                group: if settings.grouping == Grouping::Alike { it.alike().to_vec() } else { it.measured.clone() },
                kernel: kernels.to_vec(),
                ..SelectionWords::default()
            };
            let scope = kind.scope.as_ref().map_or_else(String::new, |scope| format!("@{scope}"));
            let name = format!("{}: {}: {model}{scope} in {}", it.name, kind.name, words.group.join(","));
            cells.push(Cell { at: (number, manifestation), name, words });
        }
    }
    cells
}

impl Planner for TwoLevel {
    fn files(&self) -> BTreeMap<String, String> {
        self.files.clone()
    }

    fn labels(&self) -> &[LabelColumn] {
        &COLUMNS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let sites = self.planned.plan(&self.capsule, runs, seed)?;
        let named = |(run, site): (&RunIndex, Site)| {
            let cell = self.planned.of_run(*run).map_or("", |number| &self.cells[number].name);
            let labels = site.labels.all().iter().cloned().chain([Label::from(cell)]).collect();
            Site { labels: Labels::new(labels), ..site }
        };
        Ok(runs.iter().zip(sites).map(named).collect())
    }
}
