//! `beamline minotaur`: a small input that stands for the reference, and what both find.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use study::Study;

use super::analysis::{Analysis, Planned};
use super::approximable::Approximable;
use super::hot::HotInstructions;
use super::minimise::{Evaluated, Minimised, Minimiser};
use super::pilots::Question;
use super::request::Request;
use super::sdc_pcs::Division;
use super::show;
use super::terminated::EarlyEnds;
use super::time_show::Replay;
use crate::approxilyzer::judge;
use crate::kit::{Campaigns, Inputs, StudyError};
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
        CommandOption::of_words(
            "quality-of",
            "CRITERION",
            &[
                ("pc", "static instructions that are executed"),
                ("branch", "edges of branches: taken and not taken"),
                ("def-use", "pairs of instructions that write and read one value"),
            ],
            Some("pc"),
            "Measure the quality of inputs by these",
        ),
        CommandOption::any("sites", "SHARE", Some("0.99"), "Study this share of the error sites of each input"),
        CommandOption::any(
            "pilots",
            "N",
            Some("100000"),
            "Run at most this number of pilots for each input, evenly spaced among all",
        ),
        CommandOption::of_words(
            "operands",
            "OPERANDS",
            &[("destinations", "registers that instructions write"), ("all", "also those that they read")],
            Some("destinations"),
            "Take bits of these registers as error sites",
        ),
        CommandOption::any(
            "terminate",
            "ORDER",
            None,
            "Run pilots in this order, as random or 'BitPos D + ECS A', in rounds that end an instruction at its first corruption",
        ),
        CommandOption::of_words(
            "replay",
            "WHETHER",
            &[
                ("true", "run all pilots, and replay all orders on their outcomes"),
                ("false", "with --terminate: run only what early termination leaves"),
            ],
            Some("true"),
            "What is run beside early termination",
        ),
        CommandOption::any(
            "approximate",
            "METRIC=MOST",
            None,
            "Find instructions that may be approximated, too: no error is detected or above this, as in max-rel=0.05",
        ),
        CommandOption::any(
            "hot",
            "SHARE",
            None,
            "Study only the instructions that make up this share of the reference's dynamic instructions, the hottest first",
        ),
        CommandOption::any(
            "quality",
            "OUTPUT:key=value,…",
            None,
            "Judge an output (* for all not named), as `beamline approxilyzer` does; divide outputs by ;",
        ),
        judge::CRITERIA,
    ],
    criteria: Some(judge::before),
    run,
};

/// The analyses of both inputs, the small one first.
struct Analysed {
    inputs: [Planned; 2],
    /// Of all pilots, if they were run.
    whole: Option<[Analysis; 2]>,
    /// With early termination, if it was asked for.
    early: Option<EarlyEnds>,
}

impl Analysed {
    fn of(asked: &Request, inputs: [Planned; 2], campaigns: &mut Campaigns<'_>) -> Result<Self, StudyError> {
        let whole = if asked.replay { Some([inputs[0].run(campaigns)?, inputs[1].run(campaigns)?]) } else { None };
        let mut analysed = Self { inputs, whole, early: None };
        analysed.early = analysed.early(Question::Corrupting, asked, campaigns)?;
        Ok(analysed)
    }

    /// The analyses with early termination, if they are asked for.
    fn early(
        &self,
        question: Question,
        asked: &Request,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Option<EarlyEnds>, StudyError> {
        let run = |order| EarlyEnds::run(&self.inputs, question, order, self.whole.as_ref(), campaigns);
        asked.terminate.as_ref().map(run).transpose()
    }

    /// The analyses that answer a question: those of all pilots if there are some.
    fn both<'a>(&'a self, early: Option<&'a EarlyEnds>) -> Option<[&'a Analysis; 2]> {
        let whole = self.whole.as_ref().map(|[small, reference]| [small, reference]);
        whole.or_else(|| early.map(EarlyEnds::both))
    }
}

fn run(request: &mut InputRequest<'_>, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let asked = Request::of(&request.options, request.declared.as_deref())?;
    let found = Minimiser::run(request.inputs, asked.target, campaigns)?.kept(request.inputs, campaigns)?;
    // Both are planned before either is run: a refusal costs no runs.
    let planned = |input: &Evaluated| Planned::of(&input.capsule, &asked.settings, asked.judges(input)?, campaigns);
    let (reference, small) = (planned(&found.reference)?, planned(&found.smallest)?);
    let hot = HotInstructions::of(&reference, asked.hot);
    let inputs = [small, reference].map(|input| input.choose(asked.limit, hot.studied()));
    let [small, reference] = inputs;
    let analysed = Analysed::of(&asked, [small?, reference?], campaigns)?;
    let Some(both) = analysed.both(analysed.early.as_ref()) else {
        return Err(StudyError::Words("run nothing: name an order with --terminate".to_owned()));
    };
    let (mut json, mut study) = of_inputs(request.inputs, &asked, &found, both)?;
    let kept = found.smallest.capsule.config.capsule.clone();
    study.tables[0].notes.push(format!("The capsule of the small input is {kept}."));
    study.tables[0].notes.push(format!("Record it yourself: {}", request.inputs.command(&found.smallest.point)));
    json["capsule"] = json!(kept);
    let order = asked.order();
    if let Some([small, reference]) = &analysed.whole {
        let replay = Replay::of([small, reference], Question::Corrupting, &order, campaigns.seed);
        let early = analysed.early.as_ref();
        study.tables.extend([replay.orders(), replay.times(early), hot.table(&replay)]);
        json["priority"] = replay.document(early);
        json["hot"] = hot.document(&replay);
    }
    if let Some(early) = &analysed.early {
        study.tables.push(early.table(analysed.whole.as_ref()));
        json["termination"] = early.document(analysed.whole.as_ref());
    }
    if let Some(threshold) = asked.approximate {
        let early = analysed.early(Question::Egregious, &asked, campaigns)?;
        if let Some(both) = analysed.both(early.as_ref()) {
            let whole = analysed
                .whole
                .as_ref()
                .map(|[small, reference]| Replay::of([small, reference], Question::Egregious, &order, campaigns.seed));
            let found = Approximable { threshold, both, whole, early: early.as_ref(), all: analysed.whole.as_ref() };
            study.tables.extend(found.tables());
            json["approximable"] = found.document();
        }
    }
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() })
}

/// Both inputs and the SDC-PCs that they find.
fn of_inputs(
    inputs: &dyn Inputs,
    asked: &Request,
    found: &Minimised,
    [small, reference]: [&Analysis; 2],
) -> Result<(Value, Study), StudyError> {
    let name = inputs.name();
    let division = Division::of(small, reference);
    let either = small.pilots.keys().chain(reference.pilots.keys()).collect::<BTreeSet<_>>().len();
    let judges = asked.judges(&found.reference)?;
    let (criteria, notes) = asked.judging.told(&found.reference.capsule, &judges.corrupting);
    let mut parts = show::sdc_pcs(division);
    parts.notes.extend(notes);
    let mut study = Study::new("minotaur", format!("{name}: a small input for the reference"), "");
    study.tables = vec![show::inputs(found, small, reference), show::quality(found, asked.target), parts];
    let json = json!({
        "format": "beamline.minotaur/1",
        "application": name,
        "quality_of": asked.target.criterion.word(),
        "criteria": criteria,
        "evaluations": found.evaluations,
        "refused": found.refused.iter().map(|(input, why)| json!({ "input": input, "why": why })).collect::<Vec<_>>(),
        "reference": show::document(&found.reference, asked.target, reference),
        "minimised": show::document(&found.smallest, asked.target, small),
        "explored": { "either": either },
        "sdc_pcs": division.document(),
        "found": show::share(division.common, division.of_reference()),
        "accuracy": division.accuracy(),
        "speedup": show::speedup(small, reference),
    });
    Ok((json, study))
}
