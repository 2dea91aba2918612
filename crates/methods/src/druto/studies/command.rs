//! `beamline inputs`: how the input of an application changes the effects of faults.

use serde_json::{Map, json};
use study::Study;

use super::super::bench::Bench;
use super::super::command::{BUDGET, FITNESS, LAUNCH, OBJECTIVE, RATES, fitness, number, objective, open};
use super::super::contest::Rules;
use super::super::search::Budget;
use super::studied::{Part, Studied};
use super::subjects::Subjects;
use super::{instructions, kernels, launches, model, protection, pruning, range, threads};
use crate::kit::{Campaigns, StudyError};
use crate::method::{Answer, CommandOption, InputCommand, InputRequest};

/// A study.
struct Offer {
    name: &'static str,
    about: &'static str,
    /// Whether it is about random inputs.
    has_subjects: bool,
    make: fn(&mut Bench<'_, '_>, &Studied<'_>) -> Result<Part, StudyError>,
}

/// The studies.
#[rustfmt::skip] // One line each.
const STUDIES: [Offer; 8] = [
    Offer { name: "range", about: "SDC rates over random inputs", has_subjects: true, make: range::make },
    Offer { name: "kernels", about: "whether dominant threads and counts rank inputs as rates do", has_subjects: true, make: kernels::make },
    Offer { name: "threads", about: "whether threads that execute more are more vulnerable", has_subjects: true, make: threads::make },
    Offer { name: "instructions", about: "whether static instructions keep their ranks", has_subjects: true, make: instructions::make },
    Offer { name: "launches", about: "how alike the launches of the kernel are", has_subjects: true, make: launches::make },
    Offer { name: "model", about: "whether the model of `beamline predict` follows the input", has_subjects: true, make: model::make },
    Offer { name: "pruning", about: "searches by one launch and by all launches", has_subjects: false, make: pruning::make },
    Offer { name: "protection", about: "selective duplication for one input, met by another", has_subjects: false, make: protection::make },
];

/// The studies as words, with all of them.
const WORDS: [(&str, &str); STUDIES.len() + 1] = {
    let mut words = [("all", "all of them"); STUDIES.len() + 1];
    let mut at = 0;
    while at < STUDIES.len() {
        words[at] = (STUDIES[at].name, STUDIES[at].about);
        at += 1;
    }
    words
};

/// The command.
pub(in super::super) const COMMAND: InputCommand = InputCommand {
    name: "inputs",
    about: "Study how the inputs of an application change the effects of faults",
    options: &[
        CommandOption::of_words("study", "STUDY", &WORDS, Some("range"), "The question"),
        CommandOption::any("inputs", "N", Some("30"), "Draw N random inputs"),
        CommandOption::any("runs", "N", Some("1067"), "Measure the kernel in an input by N runs"),
        CommandOption::any("faults", "N", Some("100"), "Measure static instructions and threads by N faults in each"),
        CommandOption::any("input", "POINT", None, "Protect against this input [default: that which druto finds]"),
        BUDGET,
        CommandOption::any("repeat", "K", Some("10"), "Search with K seeds to compare fitnesses"),
        OBJECTIVE,
        FITNESS,
        LAUNCH,
        RATES,
    ],
    criteria: None,
    run,
};

fn run(request: &mut InputRequest<'_>, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let options = request.options.clone();
    let number = |key| number(&options, key);
    let word: String = options.get("study")?.unwrap_or_default();
    let asked = || STUDIES.iter().filter(|offer| word == "all" || offer.name == word);
    let (runs, faults) = (number("runs")?, number("faults")?);
    let rules = Rules {
        budget: Budget { inputs: number("budget")?, seconds: None },
        times: 1,
        runs,
        last: runs,
        faults,
        objective: objective(&options)?,
    };
    let (wanted, repeat) = (number("inputs")?, number("repeat")?);
    let input = options
        .get::<String>("input")?
        .map(|text| request.inputs.space().parse(&text).map_err(|error| StudyError::Words(error.to_string())));
    let (name, seed) = (request.inputs.name().to_owned(), campaigns.seed);
    let mut bench = Bench::new(&mut *request.inputs, campaigns, fitness(&options)?);
    let capsule = open(&mut bench)?;
    let wanted = if asked().any(|offer| offer.has_subjects) { wanted } else { 0 };
    let subjects = Subjects::draw(&mut bench, wanted, seed)?;
    let input = input.transpose()?;
    let studied = Studied { name, subjects: &subjects, capsule: &capsule, runs, faults, rules, repeat, seed, input };
    let kernel = fault::base_name(&bench.kernel).to_owned();
    let title = format!("{}, kernel {kernel}: the input and the effects of faults", studied.name);
    let mut study = Study::new("inputs", title, "");
    let mut parts = Map::new();
    for offer in asked() {
        let part = (offer.make)(&mut bench, &studied)?;
        study.tables.extend(part.tables);
        study.plots.extend(part.plots);
        parts.insert(offer.name.to_owned(), part.json);
    }
    if let Some(last) = study.tables.last_mut() {
        last.notes.extend(subjects.notes());
    }
    let json = json!({
        "format": "beamline.inputs/1",
        "application": studied.name,
        "kernel": kernel,
        "inputs": subjects.points.len(),
        "same": subjects.same,
        "refused": subjects.refused,
        "studies": parts,
    });
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() })
}
