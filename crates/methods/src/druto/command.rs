//! `beamline search`: the input that makes a kernel most vulnerable.

use serde_json::{Value, json};
use space::Point;
use std::collections::BTreeMap;
use study::{Cell, Study, Table};

use super::fitness::main_kernel;
use super::search::{Found, Rate, Searched};
use crate::kit::{Campaigns, StudyError};
use crate::method::{Answer, CommandOption, InputCommand, InputRequest};

/// Runs of the measurements at the end: ±3 % at 95 %.
const FINAL_RUNS: u64 = 1067;
/// What makes the seed of these unlike all others.
const FINAL: u64 = 0x6669_6e61_6c00_0000;
/// Inputs and runs, at most: more is a slip of the keyboard.
const MOST: u64 = 1_000_000;

/// The command.
pub(super) const COMMAND: InputCommand = InputCommand {
    name: "search",
    about: "Search the inputs of an application for the one whose faults corrupt its output most often",
    options: &[
        CommandOption {
            key: "searcher",
            value: "SEARCHER",
            words: &[
                ("druto", "the genetic search of the paper, by dynamic instructions of dominant threads"),
                ("random", "random inputs, each measured"),
            ],
            default: Some("druto"),
            about: "How inputs are chosen; random search stands beside it in any case",
        },
        CommandOption::any("budget", "N", Some("100"), "Evaluate N different inputs in each search"),
        CommandOption::any("runs", "N", Some("200"), "Measure inputs by N runs each where the search measures"),
        CommandOption::any("final-runs", "N", Some("1067"), "Measure the reference and what is found by N runs"),
    ],
    criteria: None,
    run,
};

/// An input with its final measurement.
struct Measured {
    name: &'static str,
    point: Point,
    rate: Option<Rate>,
    instructions: u64,
}

fn run(request: &mut InputRequest<'_>, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let number = |key: &str, default: u64| -> Result<u64, StudyError> {
        let number = request.options.get(key)?.unwrap_or(default);
        let within = (1..=MOST).contains(&number);
        within
            .then_some(number)
            .ok_or_else(|| StudyError::Words(format!("take {number} for --{key}: expected 1 to {MOST}")))
    };
    let (budget, runs, last) = (number("budget", 100)?, number("runs", 200)?, number("final-runs", FINAL_RUNS)?);
    let searcher: String = request.options.get("searcher")?.unwrap_or_default();
    if campaigns.kernels.len() > 1 {
        return Err(StudyError::Words("search for one kernel at a time: name one with --kernel".to_owned()));
    }
    let (name, point, seed) = (request.inputs.name().to_owned(), request.inputs.space().reference(), campaigns.seed);
    let mut searched = Searched { inputs: &mut *request.inputs, kernel: String::new(), runs };
    let reference = searched.capsule(&point, campaigns)?;
    let reference =
        reference.map_err(|why| StudyError::Refused(format!("run {name} with the reference input {point}: {why}")))?;
    searched.kernel = kernel(&reference, campaigns)?;
    let random = searched.random(budget, seed, campaigns)?;
    let druto = if searcher == "random" { None } else { Some(searched.druto(budget, seed, campaigns)?) };
    let mut measured = Vec::new();
    let winners = [
        Some(("reference", Some(point))),
        Some(("random", random.best.clone())),
        druto.as_ref().map(|it| ("druto", it.best.clone())),
    ];
    for (name, point) in winners.into_iter().flatten() {
        let Some(point) = point else { continue };
        let capsule = match name {
            "reference" => reference.clone(),
            _ => match searched.capsule(&point, campaigns)? {
                Ok(capsule) => capsule,
                Err(_) => continue,
            },
        };
        // The same seed for all: a new one, which no search has seen.
        let rate = searched.measure(&capsule, last, seed ^ FINAL, campaigns)?;
        let instructions = capsule.golden_run().thread_instructions();
        if name == searcher {
            let dir = campaigns.dir.clone();
            searched.inputs.keep(&point, &capsule, &dir)?;
        }
        measured.push(Measured { name, point, rate, instructions });
    }
    let kernel = fault::base_name(&searched.kernel).to_owned();
    answer(request, campaigns, &Outcome { name, kernel, searcher, random, druto, measured, budget, runs, last })
}

/// The kernel that is searched for: the one that is named, or that which executes most.
fn kernel(reference: &inject::CapsuleTarget, campaigns: &Campaigns<'_>) -> Result<String, StudyError> {
    let golden = reference.golden_run();
    let Some(wanted) = campaigns.kernels.first() else {
        let none = || StudyError::Refused("find a kernel: the reference input launches none".to_owned());
        return main_kernel(golden).ok_or_else(none);
    };
    let names = golden.launches().iter().map(|launch| launch.program.name.as_str());
    let named = |name: &&str| *name == wanted || fault::base_name(name) == wanted;
    let unknown = || StudyError::Words(format!("find the kernel `{wanted}`: the reference input does not launch it"));
    names.clone().find(named).map(str::to_owned).ok_or_else(unknown)
}

struct Outcome {
    name: String,
    kernel: String,
    searcher: String,
    random: Found,
    druto: Option<Found>,
    measured: Vec<Measured>,
    budget: u64,
    runs: u64,
    last: u64,
}

impl Outcome {
    fn of(&self, name: &str) -> Option<&Measured> {
        self.measured.iter().find(|it| it.name == name)
    }
}

fn answer(request: &InputRequest<'_>, campaigns: &Campaigns<'_>, it: &Outcome) -> Result<Answer, StudyError> {
    let best = it.of(&it.searcher).ok_or_else(|| {
        StudyError::Nothing("inputs", format!("none of {} inputs of {} could be run", it.budget, it.name))
    })?;
    let command = format!(
        "beamline search {} --searcher {} --budget {} --runs {} --final-runs {} --seed {} --kernel {}",
        it.name, it.searcher, it.budget, it.runs, it.last, campaigns.seed, it.kernel
    );
    let mut table = Table::new(
        format!("{}, kernel {}: silent data corruption by input", it.name, it.kernel),
        &["input of", "input", "thread instructions", "SDC"],
    );
    table.rows = it
        .measured
        .iter()
        .map(|it| {
            vec![
                Cell::text(it.name),
                Cell::text(it.point.to_string()),
                Cell::Count(it.instructions),
                it.rate.map_or(Cell::None, |rate| Cell::Rate {
                    rate: rate.rate(),
                    low: rate.bounds().low,
                    high: rate.bounds().high,
                }),
            ]
        })
        .collect();
    table.notes.push(format!("Each rate is of {} runs of a seed that no search has seen; bounds at 95 %.", it.last));
    let evaluations = it.druto.as_ref().map_or(0, |found| found.evaluations);
    table.notes.push(format!(
        "Random search measured {} inputs by {} runs each; the genetic search counted instructions of {evaluations}.",
        it.random.evaluations, it.runs
    ));
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    let refused = it.random.refused.iter().chain(it.druto.iter().flat_map(|found| &found.refused));
    refused.for_each(|(_, why)| *reasons.entry(why).or_default() += 1);
    table.notes.extend(reasons.iter().map(|(why, count)| format!("{count} inputs could not be run: {why}.")));
    table.notes.push(format!("The input: {}", request.inputs.command(&best.point)));
    table.notes.push(format!("The search again: {command}"));
    let mut study = Study::new("search", "", "");
    study.tables = vec![table];
    let json = json!({
        "format": "beamline.search/1",
        "application": it.name,
        "kernel": it.kernel,
        "searcher": it.searcher,
        "reference": it.of("reference").map(document),
        "best": document(best),
        "random": it.of("random").map(document),
        "evaluations": if it.searcher == "random" { it.random.evaluations } else { evaluations },
        "refused": reasons,
        "command": command,
        "record": request.inputs.command(&best.point),
    });
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() })
}

fn document(it: &Measured) -> Value {
    let sdc = it.rate.map(|rate| {
        let bounds = rate.bounds();
        json!({ "count": rate.count, "runs": rate.landed, "rate": rate.rate(), "low": bounds.low, "high": bounds.high })
    });
    json!({ "input": it.point.to_string(), "thread_instructions": it.instructions, "sdc": sdc })
}
