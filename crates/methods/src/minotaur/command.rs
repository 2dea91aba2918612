//! `beamline minotaur`: a small input that stands for the reference, and what both find.

use serde_json::{Value, json};
use stats::{Confidence, Proportion};
use std::collections::BTreeMap;
use study::{Cell, Study, Table};

use super::analysis::{Analysis, Planned};
use super::coverage::Criterion;
use super::minimise::{Evaluated, Minimised, Minimiser, Target};
use super::sdc_pcs::Division;
use super::time_show::Replay;
use crate::approxilyzer::Settings;
use crate::kit::{Campaigns, MethodSettings, StudyError};
use crate::method::{Answer, CommandOption, InputCommand, InputRequest};

/// The command.
pub(super) const COMMAND: InputCommand = InputCommand {
    name: "minotaur",
    about: "Find a small input that executes what the reference does, and compare which corruptions both find",
    options: &[
        CommandOption::any(
            "coverage",
            "SHARE",
            Some("1"),
            "The quality that the input has to keep, as a share of the reference's",
        ),
        CommandOption {
            key: "quality-of",
            value: "CRITERION",
            words: &[
                ("pc", "static instructions that are executed"),
                ("branch", "edges of branches: taken and not taken"),
                ("def-use", "pairs of instructions that write and read one value"),
            ],
            default: Some("pc"),
            about: "Measure the quality of inputs by these",
        },
        CommandOption::any("sites", "SHARE", Some("0.99"), "Study this share of the error sites of each input"),
        CommandOption::any(
            "pilots",
            "N",
            Some("100000"),
            "Run at most this number of pilots for each input, evenly spaced among all",
        ),
        CommandOption {
            key: "operands",
            value: "OPERANDS",
            words: &[("destinations", "registers that instructions write"), ("all", "also those that they read")],
            default: Some("destinations"),
            about: "Take bits of these registers as error sites",
        },
    ],
    run,
};

fn run(request: &mut InputRequest<'_>, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let least: f64 = request.options.get("coverage")?.unwrap_or(1.0);
    if !(least > 0.0 && least <= 1.0) {
        return Err(StudyError::Words(format!("reach the coverage {least}: expected a share above 0, at most 1")));
    }
    let target = Target { criterion: request.options.get("quality-of")?.unwrap_or(Criterion::Pc), share: least };
    let limit: u64 = request.options.get("pilots")?.unwrap_or(u64::MAX);
    if limit == 0 {
        return Err(StudyError::Words("run 0 pilots: expected a number above 0".to_owned()));
    }
    let sites = request.options.get::<String>("sites")?.map(|share| ("coverage", share));
    let words = sites.into_iter().chain(request.options.of(&["operands"]));
    let settings = Settings { addresses: false, stores: false, ..Settings::of_options(words)? };
    let found = Minimiser::run(request.inputs, target, campaigns)?;
    // Both are planned before either is run: a refusal costs no runs.
    let reference = Planned::of(&found.reference.capsule, &settings, limit, campaigns)?;
    let small = Planned::of(&found.smallest.capsule, &settings, limit, campaigns)?;
    let small = small.run(campaigns)?;
    let reference = reference.run(campaigns)?;
    let replay = Replay::of(&small, &reference, campaigns.seed);
    let division = Division::of(&small, &reference);
    let dir = campaigns.dir.clone();
    let kept = request.inputs.keep(&found.smallest.point, &found.smallest.capsule, &dir)?;
    let name = request.inputs.name().to_owned();
    let mut study = Study::new("minotaur", format!("{name}: a small input for the reference"), "");
    study.tables = vec![
        inputs(&found, &small, &reference),
        quality(&found, target),
        parts(division),
        replay.orders(),
        replay.times(),
    ];
    study.tables[0].notes.push(format!("The capsule of the small input is {}.", kept.display()));
    study.tables[0].notes.push(format!("Record it yourself: {}", request.inputs.command(&found.smallest.point)));
    let json = json!({
        "format": "beamline.minotaur/1",
        "application": name,
        "quality_of": target.criterion.word(),
        "evaluations": found.evaluations,
        "refused": found.refused.iter().map(|(input, why)| json!({ "input": input, "why": why })).collect::<Vec<_>>(),
        "reference": document(&found.reference, target, &reference),
        "minimised": document(&found.smallest, target, &small),
        "sdc_pcs": {
            "common": division.common, "min_sdc": division.min_sdc, "min_sdc_plus": division.min_sdc_plus,
            "ref_sdc": division.ref_sdc, "ref_sdc_plus": division.ref_sdc_plus,
        },
        "found": share(division.common, division.of_reference()),
        "accuracy": { "minimised": share(division.of_small(), division.all()),
                      "reference": share(division.of_reference(), division.all()) },
        "speedup": speedup(&small, &reference),
        "priority": replay.document(),
        "capsule": kept,
    });
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() })
}

/// How many times faster the analysis of the small input is.
fn speedup(small: &Analysis, reference: &Analysis) -> f64 {
    reference.seconds / small.seconds.max(1e-9)
}

/// A share with bounds (Wilson, 95 %): of instructions as if they were drawn from a larger program.
fn share(some: u64, all: u64) -> Value {
    let proportion = Proportion::from_counts(some, all - some);
    let bounds = proportion.wilson(Confidence::PERCENT_95);
    json!({ "count": some, "of": all, "rate": proportion.rate(), "low": bounds.low, "high": bounds.high })
}

fn document(input: &Evaluated, target: Target, analysis: &Analysis) -> Value {
    let quality = |criterion: Criterion| {
        let covered = input.quality.of(criterion);
        (criterion.word(), json!({ "count": covered.count, "of": covered.of, "rate": covered.share() }))
    };
    let qualities: BTreeMap<&str, Value> = Criterion::ALL.into_iter().map(quality).collect();
    json!({
        "input": input.point.to_string(),
        "coverage": input.quality.of(target.criterion).share(),
        "quality": qualities,
        "thread_instructions": input.instructions(),
        "seconds": analysis.seconds,
        "golden_seconds": input.capsule.golden_run().seconds(),
        "sites": analysis.sites.all,
        "pilots": analysis.sites.run,
        "pilots_run": analysis.runs,
        "explored": analysis.pilots.len(),
        "sdc_pcs": analysis.corrupting().len(),
    })
}

fn inputs(found: &Minimised, small: &Analysis, reference: &Analysis) -> Table {
    let columns = ["", "input", "thread instructions", "error sites", "pilots", "seconds", "PCs explored", "SDC-PCs"];
    let mut table = Table::new("Both inputs", &columns);
    let row = |name: &str, input: &Evaluated, analysis: &Analysis| {
        vec![
            Cell::text(name),
            Cell::text(input.point.to_string()),
            Cell::Count(input.instructions()),
            Cell::Count(analysis.sites.all),
            Cell::Count(analysis.sites.run),
            Cell::Number((analysis.seconds * 1000.0).round() / 1000.0),
            Cell::Count(analysis.pilots.len() as u64),
            Cell::Count(analysis.corrupting().len() as u64),
        ]
    };
    table.rows = vec![row("reference", &found.reference, reference), row("minimised", &found.smallest, small)];
    table.notes.push(format!("{} inputs were run to find it.", found.evaluations));
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    found.refused.iter().for_each(|(_, why)| *reasons.entry(why).or_default() += 1);
    table.notes.extend(reasons.iter().map(|(why, count)| format!("{count} inputs could not be run: {why}.")));
    if found.smallest.point == found.reference.point {
        table.notes.push("No smaller input keeps the quality: the reference itself is the result.".to_owned());
    }
    let limited = [reference, small].iter().any(|it| it.runs < it.sites.run);
    table.notes.extend(limited.then(|| {
        format!(
            "Of the pilots of the reference {} were run, of the small input's {} (--pilots): an instruction may be an SDC-PC \
             though none of these shows it, and all times are of these alone.",
            reference.runs, small.runs
        )
    }));
    table.notes.push(format!(
        "The runs of the small input take 1/{:.1} of the time of the reference's.",
        speedup(small, reference)
    ));
    table
}

/// The quality of the small input by each criterion, the one that the search keeps marked.
fn quality(found: &Minimised, target: Target) -> Table {
    let columns = ["criterion", "of the reference", "of the small input", "coverage"];
    let mut table = Table::new("Quality of the small input", &columns);
    let row = |criterion: Criterion| {
        let covered = found.smallest.quality.of(criterion);
        let (of, count) = (Cell::Count(covered.of), Cell::Count(covered.count));
        vec![Cell::text(criterion.title()), of, count, Cell::Share(covered.share())]
    };
    table.rows = Criterion::ALL.into_iter().map(row).collect();
    table.notes.push(format!("The search keeps {} of {} at least.", target.criterion.title(), target.share));
    table.notes.push(
        "An edge is a branch with a guard or several targets and the instruction behind it; a pair is an instruction that \
         writes a register and one that reads the value."
            .to_owned(),
    );
    table
}

fn parts(division: Division) -> Table {
    let mut table =
        Table::new("Instructions whose faults corrupt outputs (SDC-PCs)", &["found by", "instructions", "of all"]);
    let all = division.all();
    let cell = |some: u64| {
        let proportion = Proportion::from_counts(some, all - some);
        let bounds = proportion.wilson(Confidence::PERCENT_95);
        proportion.rate().map_or(Cell::None, |rate| Cell::Rate { rate, low: bounds.low, high: bounds.high })
    };
    let rows = [
        ("both (Common)", division.common),
        ("the small input; the reference explored it (MinSDC)", division.min_sdc),
        ("the small input; the reference did not explore it (MinSDC+)", division.min_sdc_plus),
        ("the reference; the small input explored it (RefSDC)", division.ref_sdc),
        ("the reference; the small input did not explore it (RefSDC+)", division.ref_sdc_plus),
        ("the small input", division.of_small()),
        ("the reference", division.of_reference()),
    ];
    table.rows = rows.iter().map(|&(name, some)| vec![Cell::text(name), Cell::Count(some), cell(some)]).collect();
    let found = Proportion::from_counts(division.common, division.of_reference() - division.common);
    let bounds = found.wilson(Confidence::PERCENT_95);
    table.notes.extend(found.rate().map(|rate| {
        format!(
            "The small input finds {:.1} % ({:.1}–{:.1}) of the SDC-PCs of the reference.",
            rate * 100.0,
            bounds.low * 100.0,
            bounds.high * 100.0
        )
    }));
    table.notes.push(
        "Bounds are at 95 %, as if instructions were drawn from a larger program. An instruction counts where a pilot ends in a \
         corruption that is bad, between good and bad, or judged by no criterion."
            .to_owned(),
    );
    table
}
