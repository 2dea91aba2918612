//! `beamline approxilyzer`: every error site of a program judged from one run of each class.

use super::judge::{self, Judging};
use super::metric::{self, ErrorMetric, Measured};
use super::purity::Purity;
use super::settings::{Settings, ValidationSize};
use super::show;
use super::site_rows;
use super::tally::{RowJudge, SiteTally};
use super::target::Approxilyzer;
use super::truth::Truth;
use super::validation::Validation;
use super::validation_show::ValidationView;
use super::views::{self, Views};
use crate::kit::{Campaigns, MethodSettings, OpenedCapsule, StudyError};
use crate::method::{Answer, Applied, Command, CommandOption, Estimates, Request};
use campaign::{Results, StoreError};
use outcome::Criteria;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use study::{Sheet, Table};

/// The options that are parameters of the method, by the same names.
const KEYS: [&str; 10] =
    ["coverage", "decisions", "control", "guards", "apart", "operands", "unread", "def-use", "addresses", "stores"];

/// The command.
pub(super) const COMMAND: Command = Command {
    name: "approxilyzer",
    about: "Judge every error site of a program from one run of each class of sites",
    options: &[
        CommandOption::any(
            "coverage",
            "SHARE",
            Some("0.99"),
            "Study classes, the largest first, up to this share of the sites",
        ),
        CommandOption::any(
            "decisions",
            "N|all",
            Some("50"),
            "Join instances of an instruction whose next N branch decisions are the same",
        ),
        CommandOption::any(
            "control",
            "true|false",
            Some("true"),
            "Join instances by their decisions; without, each is in a class of its own",
        ),
        CommandOption::any("guards", "true|false", Some("true"), "Count guards of other instructions as decisions"),
        CommandOption::any(
            "apart",
            "none|threads+blocks+launches",
            Some("none"),
            "Keep instances in different threads of a block, blocks or launches apart",
        ),
        CommandOption::any("operands", "destinations|all", Some("all"), "Study registers that instructions read, too"),
        CommandOption::any("unread", "true|false", Some("true"), "Prune bits that no instruction reads"),
        CommandOption::any(
            "def-use",
            "true|false",
            Some("true"),
            "Have the pilot of a value stand for the first instruction that reads it, too",
        ),
        CommandOption::any("addresses", "true|false", Some("true"), "Prune flips in addresses that are known to trap"),
        CommandOption::any("stores", "true|false", Some("true"), "Join stored values that the same loads read"),
        CommandOption::any(
            "truth",
            "DIR",
            None,
            "Hold the classes against an exhaustive campaign of the same launches",
        ),
        CommandOption::any(
            "validate",
            "PILOTS[xMEMBERS]",
            None,
            "Hold this number of pilots of each heuristic against other members of their classes, 750 of each unless given",
        ),
        CommandOption::any(
            "quality",
            "OUTPUT:key=value,…",
            None,
            "Judge an output (* for all not named) by metric, tolerance, bad, bad-metric, bins and bins-metric, as in out:tolerance=1e-6,bad=1,bins=0.01/0.05; divide outputs by ;",
        ),
        judge::CRITERIA,
        metric::COMMAND,
        metric::SECONDS,
        CommandOption::file("csv", "F.csv", "Write the classes: a row for each bit of each"),
        CommandOption::file("parquet", "F.parquet", "The same as Parquet, with the heuristic of each class"),
        CommandOption::file(
            "sites",
            "F.parquet",
            "Write every error site as Parquet: a row for each path, operand of a dynamic instruction and bit",
        ),
        CommandOption::file("threads", "F.parquet", "Write every thread with its path, as the rows of --sites have it"),
        CommandOption::any(
            "site",
            "FAULT",
            None,
            "Show the class and the outcome of one error site, by the id of its fault",
        ),
    ],
    without: &[],
    criteria: Some(judge::before),
    run,
};

fn run(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let settings = Settings::of_options(request.options.of(&KEYS))?;
    let method = Arc::new(Approxilyzer::new(&request.capsule, &campaigns.selection(settings.choice()))?);
    let truth = request.options.get::<PathBuf>("truth")?;
    let purity = truth.map(|dir| against(&dir, request, campaigns, &settings)).transpose()?;
    let validation = validation_size(&request.options.get::<String>("validate")?, campaigns.seed)?;
    let judging = Judging::of(&request.options, request.declared.as_deref())?;
    let given = judging.criteria(&request.capsule)?;
    let metric = ErrorMetric::of(&request.options, judging.said())?;
    let label = format!("{}{}", settings.choice(), judging.label());
    let results = match method.runs() {
        0 => None,
        runs => Some(campaigns.planned(&request.capsule, &label, settings.choice(), &*method, runs)?.results),
    };
    let criteria = given.as_ref().zip(results.as_ref()).map(|(given, results)| judge::for_rows(given, results));
    let criteria = criteria.transpose()?;
    let rows = results.as_ref().map(|results| (results, criteria.as_ref()));
    let measured = metric.zip(rows).map(|(metric, rows)| measure(&metric, request, rows, campaigns));
    let measured = measured.transpose()?;
    let verdicts = measured.as_ref().map(|measured| &measured.verdicts);
    let judge = RowJudge { criteria: criteria.as_ref(), measured: verdicts };
    let tally = results.as_ref().map(|results| SiteTally::of(results, judge)).transpose()?.unwrap_or_default();
    let program = Views::of(&method, results.as_ref(), judge)?;
    let Estimates { mut json, mut study } = program.add_to(show::estimates(&method, &tally));
    let stored = results.as_ref().map(|results| &results.config().criteria);
    let known = criteria.as_ref().or(stored).or(given.as_ref()).cloned().unwrap_or_default();
    let (key, (document, notes)) = match &measured {
        Some(measured) => ("metric", measured.told()),
        None => ("criteria", judging.told(&request.capsule, &known)),
    };
    json[key] = document;
    views::judged_by(&mut study, notes);
    if let Some((document, mut tables, of_truth)) = purity {
        if of_truth != known {
            let note = "The exhaustive campaign judged its outputs by other criteria than the pilots are judged by here; it keeps outcomes and \
                        no errors, so that shares by quality are of its criteria. Give it the same --quality.";
            tables.iter_mut().for_each(|table| table.notes.push(note.to_owned()));
        }
        json["purity"] = document;
        study.tables.extend(tables);
    }
    if let Some(size) = validation {
        let (document, tables) = validated(size, (&request.capsule, &method), campaigns, given.as_ref())?;
        json["validation"] = document;
        study.tables.extend(tables);
    }
    let path: Option<PathBuf> = request.options.get("csv")?;
    let files = path.map(|path| Ok::<_, StudyError>((path, program.rows()?))).transpose()?;
    let path: Option<PathBuf> = request.options.get("parquet")?;
    let mut sheets: Vec<(PathBuf, Sheet)> = Vec::new();
    if let Some(path) = path {
        sheets.push((path, program.sheet()?));
    }
    if let Some(text) = request.options.get::<String>("site")? {
        let (document, table) = site_rows::site(&program.profile(&method), &text)?;
        json["site"] = document;
        study.tables.insert(0, table);
    }
    if let Some(path) = request.options.get("threads")? {
        sheets.push((path, site_rows::threads(Arc::clone(&method))));
    }
    if let Some(path) = request.options.get("sites")? {
        sheets.push((path, site_rows::sites(program.profile(&method))));
    }
    Ok(Answer { json, study, files: files.into_iter().collect(), pictures: Vec::new(), sheets })
}

/// The verdicts of the user's command on the corruptions of a campaign's pilots.
fn measure(
    metric: &ErrorMetric,
    request: &Request,
    rows: (&Results, Option<&Criteria>),
    campaigns: &mut Campaigns<'_>,
) -> Result<Measured, StudyError> {
    let none = || StudyError::Refused("run --metric-command: no command of a user may be started here".to_owned());
    let starter = request.commands.as_deref().ok_or_else(none)?;
    metric.measure(&request.capsule, rows, starter, campaigns)
}

/// How the classes hold against the exhaustive campaign in a directory, as a document and as tables.
fn against(
    dir: &Path,
    request: &Request,
    campaigns: &Campaigns<'_>,
    settings: &Settings,
) -> Result<(serde_json::Value, Vec<Table>, Criteria), StudyError> {
    let results = Results::open(dir)?;
    let truth = Truth::of(&request.capsule, &results, &campaigns.kernels, campaigns.stop)?;
    let purity = Purity::of(&truth, settings)?;
    let others = Purity::others(&truth, settings)?;
    let golden = request.capsule.golden_run();
    let criteria = results.config().criteria.clone();
    Ok((purity.document(&others, golden), purity.tables(&others, golden), criteria))
}

/// The size of the validation that an option asks for, with this seed unless it names one.
fn validation_size(text: &Option<String>, seed: u64) -> Result<Option<ValidationSize>, StudyError> {
    let Some(text) = text else { return Ok(None) };
    let whole = if text.contains('@') { text.clone() } else { format!("{text}@{seed}") };
    let size = whole.parse().map_err(|error| StudyError::Words(format!("read `{text}` for --validate: {error}")))?;
    Ok(Some(size))
}

/// Pilots held against members of their classes, in a campaign of their own, as a document and as tables.
fn validated(
    size: ValidationSize,
    (capsule, method): (&OpenedCapsule, &Arc<Approxilyzer>),
    campaigns: &mut Campaigns<'_>,
    criteria: Option<&Criteria>,
) -> Result<(serde_json::Value, [Table; 2]), StudyError> {
    let validation = Validation::new(Arc::clone(method), size)?;
    let choice = Settings { validate: Some(size), ..method.settings() }.choice();
    let results = campaigns.make(capsule, choice, &validation, validation.runs())?.results;
    let criteria = criteria.map(|criteria| judge::for_rows(criteria, &results)).transpose()?;
    let judged = validation.judged(&results, criteria.as_ref())?;
    let view = ValidationView::of(&validation, &judged);
    Ok((view.document(), view.tables()))
}

impl Applied for Validation {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        Ok(ValidationView::of(self, &self.judged(results, None)?).estimates())
    }
}

impl Applied for Approxilyzer {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        self.check_pilots(results)?;
        let judge = RowJudge::default();
        Ok(Views::of(self, Some(results), judge)?.add_to(show::estimates(self, &SiteTally::of(results, judge)?)))
    }
}
