//! From what was counted to the document.

use std::collections::BTreeMap;

use campaign::{Choices, Results, StoreError};
use outcome::Class;

use super::capped::{FAILURES, INSTRUCTIONS, LINES};
use super::scale::Scale;
use super::{
    Capped, FailureReason, OutcomeKind, REPORT_FORMAT, RateBounding, Report, ViewTexts, distributions, parts,
    provenance, sites,
};
use crate::gather::{FromRows, Gathered};
use crate::input::{Context, Listing};
use crate::limits::bad_name;
use crate::measure::{ClassMasses, Mass, Measure};

impl Report {
    /// Reads the results of a campaign once and makes its report.
    ///
    /// # Errors
    /// When the results cannot be read.
    pub fn new(results: &Results, context: Context) -> Result<Self, StoreError> {
        let gathered = Gathered::from(results)?;
        let measure = Measure::of(&gathered.summary);
        let provenance = provenance::of(results.config(), &gathered.summary, &context);
        let others = gathered.rows.as_ref().map(|rows| [rows.first_absorbed, rows.first_due]);
        let mut report = build(gathered, measure, &Listing::new(&context.listing), provenance);
        let choices = Choices::from(results.config());
        let command = |fault: &str| provenance::run_command(&choices, fault);
        for site in report.most_corrupting.rows.iter_mut().chain(&mut report.surest_corrupting.rows) {
            let Some(run) = site.example.take().and_then(|run| run.parse().ok()) else { continue };
            site.example = results.fault_of(run)?;
            site.command = site.example.as_deref().map(command);
            site.sentence = site.example.as_deref().and_then(|fault| (context.fault_sentence)(results.config(), fault));
        }
        for run in others.into_iter().flatten().flatten() {
            report.shown.other_examples.extend(results.fault_of(run)?);
        }
        report.shown.names = names(&report, context.short_name);
        report.shown.sources = context.sources;
        report.shown.without_source = context.without_source;
        Ok(report)
    }
}

/// Makes the document. Examples of sites are the numbers of their runs, and have no command yet.
fn build(gathered: Gathered, measure: Measure, listing: &Listing<'_>, provenance: super::ReportProvenance) -> Report {
    let Gathered { summary, operands, kinds, rows } = gathered;
    let mut all = ClassMasses::default();
    operands.iter().for_each(|operand| all.merge(&operand.cell()));
    let scale = Scale { measure, judged: summary.config.is_judged() };
    let all_instructions = parts::instructions(&operands, scale, listing);
    let all_lines = parts::lines(&operands, scale, &all);
    let sites = sites::Sites::new(&operands, scale, all, listing);
    let rows = rows.as_ref();
    Report {
        format: REPORT_FORMAT,
        bounds: bounds(measure),
        kinds: self::kinds(&kinds, measure, all.landed()),
        ranked_by: bad_name(&summary).unwrap_or("sdc"),
        bad_of_sdc: scale.judged.then(|| measure.share(all.bad, all.sdc)),
        kernels: parts::named(&operands, scale, |operand| &operand.spot.kernel),
        groups: parts::named(&operands, scale, |operand| &operand.spot.group),
        lines: Capped::first(parts::worst_first(all_lines.clone(), |line| &line.account), LINES),
        instructions: Capped::first(
            parts::worst_first(all_instructions.clone(), |instruction| &instruction.account),
            INSTRUCTIONS,
        ),
        bits: parts::bits(operands.iter(), scale),
        without_bit: operands.iter().map(|operand| operand.unplaced.cell.runs()).sum(),
        heat: parts::heat(&operands, scale),
        launches: rows.map(|rows| parts::launches(&rows.launches, scale)),
        times: rows.map(|rows| parts::times(&rows.times, scale)),
        deaths: rows.map(|rows| distributions::deaths(&rows.ends, measure, all.due, listing)),
        latencies: rows.map(|rows| distributions::latencies(&rows.ends, measure, all.landed())),
        magnitudes: rows.map(|rows| distributions::magnitudes(&rows.magnitudes, measure)),
        most_corrupting: sites.most(),
        surest_corrupting: sites.surest(),
        failures: failures(rows, summary.runs.failed),
        stories: Vec::new(),
        pictures: BTreeMap::new(),
        provenance,
        shown: ViewTexts { all_lines, all_instructions, ..ViewTexts::default() },
        summary,
    }
}

/// Short names of kernels; a kernel whose short name is another's too keeps its whole name.
fn names(report: &Report, short: fn(&str) -> &str) -> BTreeMap<String, String> {
    let all = || report.kernels.iter().map(|part| part.name.as_str());
    let unique = all().filter(|name| all().filter(|other| short(other) == short(name)).count() == 1);
    unique.map(|name| (name.to_owned(), short(name).to_owned())).collect()
}

fn bounds(measure: Measure) -> RateBounding {
    match measure {
        Measure::Exact => RateBounding { method: "exact".to_owned(), level: None },
        Measure::Sampled(method, level) => {
            let known = campaign::IntervalMethod::ALL.iter().find(|known| known.method() == method);
            let method = known.map_or("wilson", |known| known.word()).to_owned();
            RateBounding { method, level: Some(level.level()) }
        }
    }
}

fn kinds(kinds: &BTreeMap<(Class, String), Mass>, measure: Measure, landed: Mass) -> Vec<OutcomeKind> {
    let kind = |((class, kind), mass): (&(Class, String), &Mass)| OutcomeKind {
        class: class.to_string(),
        kind: kind.clone(),
        share: measure.share(*mass, landed),
    };
    kinds.iter().map(kind).collect()
}

fn failures(rows: Option<&FromRows>, failed: u64) -> Capped<FailureReason> {
    let mut listed: Vec<FailureReason> = Vec::new();
    if let Some(rows) = rows {
        let failure = |(message, &count): (&String, &u64)| FailureReason { message: message.clone(), count };
        listed.extend(rows.failures.iter().map(failure));
        listed.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    } else if failed > 0 {
        let message = "in units of the exhaustive campaign that could not be run".to_owned();
        listed.push(FailureReason { message, count: failed });
    }
    let mut capped = Capped::first(listed, FAILURES);
    // Of what is left out, runs are counted: their messages are not all kept.
    capped.left_out = failed.saturating_sub(capped.rows.iter().map(|failure| failure.count).sum());
    capped
}
