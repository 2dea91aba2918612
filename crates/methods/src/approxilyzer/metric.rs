//! The error of corrupted outputs by a command of the user (`--metric-command`).
//!
//! Every pilot with a silent corruption that no plain check would notice is run again in full. The command is given the golden and
//! the faulty outputs as files and prints a number, which is judged by the bounds of `--quality '*:…'`. Where it prints none, the
//! sites of the pilot are unjudged. Numbers are kept beside the campaign by the outputs that they are of, so that the same command
//! goes on where it was ended; after many outputs without a single number the command is not called again.

use campaign::{CampaignEvent, Finding, Results, Row, Subject};
use fault::Fault;
use inject::{CopyWatch, PRINTED, site};
use outcome::{Criteria, Criterion, Outcome, OutputDiff, Quality, Sdc};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use super::tally::judged;
use crate::kit::{
    Campaigns, CommandStarter, InputHistory, OpenedCapsule, OutputComparison, StudyError, StudyEvent, hash_named_files,
};
use crate::method::{CommandOption, Options};

/// The option that names the command.
pub(super) const COMMAND: CommandOption = CommandOption::any(
    "metric-command",
    "CMD",
    None,
    "Judge by the number that this command prints: $1 is the golden file of the first output, $2 the faulty one; BEAMLINE_GOLDEN and BEAMLINE_FAULTY are directories of all; --quality '*:tolerance=…,bad=…' has the bounds",
);

/// The option that says how long a call of it may take.
pub(super) const SECONDS: CommandOption =
    CommandOption::any("metric-seconds", "S", Some("10"), "Time that a call of --metric-command may take");

/// Seconds that a call may take, at most.
const MOST_SECONDS: f64 = 1e6;

/// Reasons why sites are unjudged that are told, at most.
const MOST_REASONS: usize = 3;

/// Outputs without a number after which the command is not called again, if it printed none before.
const MOST_FAILURES: usize = 32;

/// The evaluation under which numbers are kept.
const NUMBER: &str = "number";

/// The length of a repeated output that is not a number, in characters.
const MOST_SHOWN: usize = 40;

/// A command whose number is the error, and the bounds of that.
pub(super) struct ErrorMetric {
    command: String,
    seconds: f64,
    /// They judge `*`.
    bounds: Criteria,
}

/// A pilot whose outputs the command compares.
struct Pilot {
    run: u64,
    sites: u64,
    fault: Result<Fault, String>,
}

/// The verdicts on the pilots by the numbers of a command.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// By run, the verdict on its error.
    pub(super) verdicts: BTreeMap<u64, Sdc>,
    command: String,
    bounds: String,
    /// The outputs that differ from each other and have an answer: the command was called for each once.
    calls: usize,
    /// Of them, those whose number was kept from before.
    kept: usize,
    /// The pilots without a number.
    unjudged: u64,
    /// The sites that these stand for.
    unjudged_sites: u64,
    /// Some reasons for that.
    reasons: Vec<String>,
}

/// The answers of the command, by the digest of the outputs.
#[derive(Default)]
struct Answers {
    known: BTreeMap<String, Result<f64, String>>,
    numbers: usize,
    failures: usize,
}

/// A pilot with its number, and the outputs whose number was not known before.
type Compared = (usize, Result<f64, String>, Option<String>);

impl ErrorMetric {
    /// Of the options, if they name a command; `said` is what `--quality` says.
    ///
    /// # Errors
    /// If there are no bounds for its number, or another metric beside it.
    pub(super) fn of(options: &Options, said: &Criteria) -> Result<Option<Self>, StudyError> {
        let Some(command) = options.get::<String>("metric-command")? else { return Ok(None) };
        let seconds: f64 = options.get("metric-seconds")?.unwrap_or(10.0);
        let words = |text: String| Err(StudyError::Words(text));
        if !(seconds > 0.0 && seconds <= MOST_SECONDS) {
            return words(format!("allow --metric-command {seconds} s: expected more than 0, at most {MOST_SECONDS}"));
        }
        let metrics = |it: &Quality| [it.metric, it.bad_metric, it.bins_metric].iter().any(Option::is_some);
        let other = said.quality.iter().find(|(name, it)| metrics(it) || (*name != "*" && it.judges()));
        if let Some((name, _)) = other {
            return words(format!(
                "judge `{name}` by --quality beside --metric-command: its number is the error of a run; say bounds for that alone, as \
                 '*:tolerance=1e-4,bad=1'"
            ));
        }
        let Some(star) = said.quality.get("*").filter(|star| star.judges()) else {
            return words(
                "judge by --metric-command without bounds: say them as --quality '*:tolerance=1e-4,bad=1'".to_owned(),
            );
        };
        let bounds = Quality { range: None, element: None, ..star.clone() };
        let bounds = Criteria { quality: [("*".to_owned(), bounds)].into(), ..Criteria::default() };
        bounds.check().map_err(|(_, error)| StudyError::Words(error.to_string()))?;
        Ok(Some(Self { command, seconds, bounds }))
    }

    /// Compares what the pilots of a campaign leave that end in a corruption; the rows are judged by `criteria`.
    ///
    /// # Errors
    /// If the rows cannot be read, no command can be started, numbers cannot be kept, or the work is to end.
    pub(super) fn measure(
        &self,
        capsule: &OpenedCapsule,
        (results, criteria): (&Results, Option<&Criteria>),
        starter: &dyn CommandStarter,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Measured, StudyError> {
        let golden = capsule.golden_run();
        let right = |output: &capsule::Output| {
            let bytes = golden.copies().get(output.copy as usize).map(|copy| copy.bytes.clone());
            (output.name.clone(), bytes.unwrap_or_default())
        };
        let right: Vec<(String, Vec<u8>)> = golden.outputs().iter().map(right).collect();
        let comparison = starter.comparison(&self.command, self.seconds, &right).map_err(StudyError::Refused)?;
        let mut pilots = Vec::new();
        results.visit(&mut |row| pilots.extend(pilot(&row, criteria)))?;
        let history = InputHistory::open(&campaigns.dir, "metric", &self.identity(&right))?;
        let known: BTreeMap<String, Result<f64, String>> =
            history.all::<f64>(NUMBER)?.into_iter().map(|(outputs, number)| (outputs, Ok(number))).collect();
        let kept = known.len();
        let answers = Mutex::new(Answers { numbers: kept, failures: 0, known });
        let jobs = campaigns.workers().clamp(1, pilots.len().max(1));
        let (next, mut found, mut failure) = (AtomicUsize::new(0), BTreeMap::new(), None);
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel::<Compared>();
            for sender in std::iter::repeat_n(sender, jobs) {
                let (pilots, next, answers, comparison) = (&pilots, &next, &answers, &*comparison);
                let stop = campaigns.stop;
                scope.spawn(move || {
                    let mut watch = CopyWatch::new(golden);
                    while !stop.load(Ordering::Relaxed) {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(pilot) = pilots.get(at) else { break };
                        let (error, outputs) = error_of(&mut watch, pilot, comparison, answers);
                        if sender.send((at, error, outputs)).is_err() {
                            break;
                        }
                    }
                });
            }
            for (at, error, outputs) in receiver {
                if let (Some(outputs), Ok(number)) = (outputs, &error)
                    && let Err(error) = history.put(&outputs, NUMBER, number)
                {
                    failure = Some(error);
                    break;
                }
                found.insert(at, error);
                let event = CampaignEvent::Compared { done: found.len() as u64, all: pilots.len() as u64 };
                (campaigns.told)(capsule.name(), &StudyEvent::Campaign(event));
            }
        });
        failure.map_or(Ok(()), Err)?;
        if found.len() < pilots.len() {
            return Err(StudyError::Interrupted);
        }
        let calls = answers.into_inner().unwrap_or_else(PoisonError::into_inner).known.len();
        let mut measured = Measured { calls, kept, command: self.command.clone(), ..Measured::default() };
        if let Some(criterion) = self.bounds.of("*") {
            measured.bounds = self.bounds.quality["*"].to_string();
            found.into_iter().for_each(|(at, error)| measured.add(&pilots[at], error, criterion));
        }
        Ok(measured)
    }

    /// A digest of all that its numbers depend on beside the outputs of a run: the words of the command, the files among them, and
    /// the golden outputs.
    fn identity(&self, golden: &[(String, Vec<u8>)]) -> String {
        let mut hasher = blake3::Hasher::new();
        let words = self.command.split(|it: char| it.is_whitespace() || "'\"();|&<>".contains(it));
        hash_named_files(&mut hasher, Path::new("."), words);
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        };
        add(self.command.as_bytes());
        golden.iter().for_each(|(name, bytes)| {
            add(name.as_bytes());
            add(bytes);
        });
        hasher.finalize().to_hex().to_string()
    }
}

/// The pilot of a row, if its outputs are to be compared.
fn pilot(row: &Row, criteria: Option<&Criteria>) -> Option<Pilot> {
    let Some(Outcome::Sdc(sdc)) = judged(row, criteria) else { return None };
    let Finding::Seen { observation, .. } = &row.finding else { return None };
    if sdc == Sdc::Detectable {
        return None;
    }
    let printed = |output: &OutputDiff| output.name == PRINTED && output.differing > 0;
    let fault = if observation.host.is_some() {
        Err("the application finished the run, which full re-execution does not repeat".to_owned())
    } else if observation.outputs.iter().any(printed) {
        Err("the text that kernels print differs, which is not among the files".to_owned())
    } else {
        site::fault_of(&row.site).map_err(|error| error.to_string())
    };
    Some(Pilot { run: row.run.0, sites: row.site.weight, fault })
}

/// The number of a pilot; and its outputs, if the command was called for them.
fn error_of(
    watch: &mut CopyWatch<'_>,
    pilot: &Pilot,
    comparison: &dyn OutputComparison,
    answers: &Mutex<Answers>,
) -> (Result<f64, String>, Option<String>) {
    let mut outputs = || -> Result<Vec<Vec<u8>>, String> {
        let fault = pilot.fault.as_ref().map_err(String::clone)?;
        let outputs = watch.outputs(fault).map_err(|error| error.to_string())?;
        outputs.ok_or_else(|| "the run did not come to its end when it was repeated".to_owned())
    };
    let outputs = match outputs() {
        Ok(outputs) => outputs,
        Err(error) => return (Err(error), None),
    };
    let mut hasher = blake3::Hasher::new();
    for bytes in &outputs {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }
    let key = hasher.finalize().to_hex().to_string();
    {
        let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = answers.known.get(&key) {
            return (error.clone(), None);
        }
        if answers.numbers == 0 && answers.failures >= MOST_FAILURES {
            let why = format!("the command was not called again after {MOST_FAILURES} outputs without a number");
            return (Err(why), None);
        }
    }
    let error = comparison.printed(&outputs).and_then(|text| number(&text));
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    if error.is_ok() {
        answers.numbers += 1;
    } else {
        answers.failures += 1;
    }
    (answers.known.entry(key.clone()).or_insert(error).clone(), Some(key))
}

/// The number that a command printed.
fn number(text: &str) -> Result<f64, String> {
    let error: Option<f64> = text.trim().parse().ok().filter(|error| *error >= 0.0);
    error.ok_or_else(|| {
        let shown: String = text.trim().chars().take(MOST_SHOWN).collect();
        format!("read `{shown}` as an error: expected one number from 0")
    })
}

/// A difference of which this is the largest relative error, by which bounds judge that name no metric.
fn as_relative(error: f64) -> OutputDiff {
    OutputDiff { differing: 1, max_rel: error, ..OutputDiff::equal("*", 1) }
}

impl Measured {
    fn add(&mut self, pilot: &Pilot, error: Result<f64, String>, criterion: Criterion<'_>) {
        let verdict = match error {
            Ok(error) => criterion.judge(&as_relative(error)),
            Err(reason) => {
                self.unjudged += 1;
                self.unjudged_sites += pilot.sites;
                if self.reasons.len() < MOST_REASONS && !self.reasons.contains(&reason) {
                    self.reasons.push(reason);
                }
                Sdc::Unjudged
            }
        };
        self.verdicts.insert(pilot.run, verdict);
    }

    /// As the document has it, and as notes of a table.
    pub(super) fn told(&self) -> (Value, Vec<String>) {
        (self.document(), self.notes())
    }

    fn document(&self) -> Value {
        json!({
            "command": self.command,
            "bounds": self.bounds,
            "pilots": self.verdicts.len(),
            "calls": self.calls,
            "kept": self.kept,
            "unjudged": json!({ "pilots": self.unjudged, "sites": self.unjudged_sites, "reasons": self.reasons }),
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "The number that `{}` prints is judged by {}: {} pilots with a corruption were run again, {} of their outputs differ.",
            self.command,
            self.bounds,
            study::spaced(self.verdicts.len() as u64),
            study::spaced(self.calls as u64),
        )];
        if self.kept > 0 {
            notes.push(format!("{} of their numbers were kept from before.", study::spaced(self.kept as u64)));
        }
        if self.unjudged > 0 {
            notes.push(format!(
                "{} of these pilots have no number, so that {} sites are SDC-Maybe without a bin: {}.",
                study::spaced(self.unjudged),
                study::spaced(self.unjudged_sites),
                self.reasons.join("; "),
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_from_0_is_an_error_and_nothing_else() {
        for (text, error) in [(" 1.5e-3\n", 1.5e-3), ("0", 0.0), ("inf", f64::INFINITY)] {
            assert_eq!(number(text), Ok(error));
        }
        for text in ["", "1 2", "error: 3", "-1", "NaN"] {
            assert!(number(text).unwrap_err().contains("expected one number from 0"), "{text}");
        }
    }

    #[test]
    fn a_command_needs_bounds_and_no_other_metric() {
        let of = |quality: &[&str]| {
            let values = [("metric-command", "compare".to_owned())].into();
            let said = quality.iter().map(|text| Quality::parse(text).unwrap()).collect();
            let said = Criteria { quality: said, ..Criteria::default() };
            let metric = ErrorMetric::of(&Options { values, ..Options::default() }, &said);
            metric.map(|metric| metric.unwrap().bounds.quality["*"].to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(of(&["*:tolerance=1,bad=2,range=0..1", "out:range=0..2"]), Ok("tolerance=1.0,bad=2.0".to_owned()));
        for (quality, part) in [
            (&[][..], "without bounds"),
            (&["*:range=0..1"], "without bounds"),
            (&["*:metric=max-abs,tolerance=1"], "judge `*` by --quality beside --metric-command"),
            (&["*:bad=1", "out:bad=2"], "judge `out` by --quality beside --metric-command"),
            (&["*:tolerance=2,bad=1"], "`bad` must not be below"),
        ] {
            assert!(of(quality).is_err_and(|error| error.contains(part)), "{quality:?}");
        }
        assert!(ErrorMetric::of(&Options::default(), &Criteria::default()).unwrap().is_none());
    }

    #[test]
    fn pilots_without_a_number_are_unjudged_and_counted() {
        let bounds =
            Criteria { quality: [Quality::parse("*:tolerance=1,bad=9,bins=3").unwrap()].into(), ..Criteria::default() };
        let mut measured = Measured::default();
        let pilot = |run| Pilot { run, sites: 10, fault: Err(String::new()) };
        let errors = [Ok(1.0), Ok(2.0), Ok(4.0), Ok(f64::INFINITY), Err("no".to_owned()), Err("no".to_owned())];
        for (run, error) in (0..).zip(errors) {
            measured.add(&pilot(run), error, bounds.of("*").unwrap());
        }
        let verdicts: Vec<Sdc> = measured.verdicts.values().copied().collect();
        assert_eq!(verdicts, [Sdc::Good, Sdc::Maybe(0), Sdc::Maybe(1), Sdc::Bad, Sdc::Unjudged, Sdc::Unjudged]);
        assert_eq!(measured.document()["unjudged"], json!({ "pilots": 2, "sites": 20, "reasons": ["no"] }));
        assert!(measured.notes()[1].starts_with("2 of these pilots have no number, so that 20 sites"));
    }
}
