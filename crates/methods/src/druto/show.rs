//! The answer of `beamline search`, as tables and as a document.

use serde_json::{Map, Value, json};
use stats::{Bounded, Confidence, median};
use std::collections::BTreeMap;
use study::{Cell, Mark, Plot, Point, Series, Study, Table, Vertical};

use super::comparison::{self, compare};
use super::contest::{Entry, Measured, Rules, best_of};
use super::ends::Rate;
use super::objective::Objective;
use super::search::Found;
use super::searchers::SEARCHERS;
use crate::kit::Inputs;
use crate::method::{Answer, Options};

/// All that a search came to.
pub(super) struct Outcome {
    pub(super) name: String,
    /// The words of a command line that name the application.
    pub(super) words: String,
    /// Instructions that a thread may execute before it is stopped, if the command line says so.
    pub(super) fuel: Option<u32>,
    pub(super) kernel: String,
    pub(super) searcher: String,
    pub(super) reference: Measured,
    pub(super) best: Measured,
    /// Whether the input found does the same work when it is run again.
    pub(super) repeats: bool,
    pub(super) entries: Vec<Entry>,
    pub(super) rules: Rules,
    pub(super) repeat: u64,
    pub(super) seed: u64,
}

/// The options that the command always says which repeats a search.
const ALWAYS: [&str; 4] = ["searcher", "budget", "runs", "final-runs"];
/// The options that it says where they were said.
const WHERE_SAID: [&str; 8] = ["seconds", "objective", "fitness", "launch", "rates", "times", "repeat", "faults"];

impl Outcome {
    /// The command that repeats the search.
    fn command(&self, options: &Options) -> String {
        let words = format!("{}{} --seed {} --kernel {}", self.words, words(options), self.seed, self.kernel);
        format!("beamline search {words}{}", fuel(self.fuel))
    }

    /// Whether values of the objective are shares.
    fn is_rate(&self) -> bool {
        matches!(self.rules.objective, Objective::Proxy | Objective::Sdc | Objective::Due)
    }

    /// The measure of the objective, in words.
    fn measure(&self) -> String {
        match &self.rules.objective {
            Objective::Proxy | Objective::Sdc => "SDC rate".to_owned(),
            Objective::SdcTime => "SDC rate × thread instructions".to_owned(),
            Objective::Due => "DUE rate".to_owned(),
            Objective::Fit(table) => {
                format!("SDCs of a run at the rates of {}, {}", table.name, table.unit().words())
            }
        }
    }

    /// The best answer of random search, if it is better than that of the searcher which was asked for, interval against interval.
    fn better_random(&self) -> Option<&Measured> {
        let random = self.entries.iter().filter(|entry| entry.searcher == SEARCHERS[0].name);
        let best = best_of(random.filter_map(|entry| entry.answer.as_ref()))?;
        (best.value?.low > self.best.value?.high).then_some(best)
    }

    /// The search that the answer says the evaluations of: the first that was asked for.
    fn first(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| self.searcher == "all" || entry.searcher == self.searcher)
    }
}

/// By reason, inputs that have no value.
pub(super) fn refused(entries: &[Entry]) -> BTreeMap<&str, u64> {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    // Several searches may have asked for the same input.
    let refused: BTreeMap<_, _> =
        entries.iter().flat_map(|entry| &entry.found.refused).map(|(input, why)| (input, why)).collect();
    refused.into_values().for_each(|why| *reasons.entry(why).or_default() += 1);
    reasons
}

/// The options of a search on the command line that repeats it.
fn words(options: &Options) -> String {
    let said = options.of(&WHERE_SAID).filter(|(key, _)| options.said.contains(key));
    options.of(&ALWAYS).chain(said).map(|(key, value)| format!(" --{key} {value}")).collect()
}

/// The limit of instructions of a thread on the command line, where there is one: rates depend on it.
fn fuel(limit: Option<u32>) -> String {
    limit.map_or_else(String::new, |limit| format!(" --fuel {limit}"))
}

/// The whole answer.
pub(super) fn answer(it: &Outcome, options: &Options, inputs: &dyn Inputs) -> Answer {
    let command = it.command(options);
    let compared = compare(&it.entries);
    let mut study = Study::new("search", "", "");
    study.tables.push(answers(it));
    if it.repeat > 1 {
        study.tables.push(comparison::table(&compared, &it.measure(), it.is_rate()));
    }
    study.tables.push(costs(it));
    study.plots.push(course(it));
    if let Some(last) = study.tables.last_mut() {
        let refused = refused(&it.entries);
        last.notes.extend(refused.iter().map(|(why, count)| format!("{count} inputs could not be run: {why}.")));
        last.notes.push(format!("The input: {}", inputs.command(&it.best.point)));
        last.notes.push(format!("The search again: {command}"));
    }
    let random = it.entries.iter().find(|entry| entry.searcher == SEARCHERS[0].name);
    let json = json!({
        "format": "beamline.search/1",
        "application": it.name,
        "kernel": it.kernel,
        "searcher": it.searcher,
        "objective": it.rules.objective.word(),
        "measure": it.measure(),
        "reference": document(&it.reference),
        "best": document(&it.best),
        "repeats": it.repeats,
        "random": random.and_then(|entry| entry.answer.as_ref()).map(document),
        "budget": { "inputs": it.rules.budget.inputs, "seconds": it.rules.budget.seconds },
        "times": it.rules.times,
        "evaluations": it.first().map_or(0, |entry| entry.found.evaluations()),
        "searches": it.entries.iter().map(entry_document).collect::<Vec<_>>(),
        "comparison": if it.repeat > 1 { comparison::document(&compared) } else { Value::Null },
        "refused": refused(&it.entries),
        "speed": speed(it),
        "command": command,
        "record": inputs.command(&it.best.point),
    });
    Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() }
}

/// A rate as a cell.
pub(super) fn rate_cell(rate: Rate) -> Cell {
    let bounds = rate.bounds();
    if rate.landed == 0 { Cell::None } else { Cell::Rate { rate: rate.rate(), low: bounds.low, high: bounds.high } }
}

fn answers(it: &Outcome) -> Table {
    let mut columns = vec!["input of", "input", "thread instructions", "SDC", "SDC of faults that are read", "DUE"];
    let measure = it.measure();
    let has_value = matches!(it.rules.objective, Objective::SdcTime | Objective::Fit(_));
    columns.extend(has_value.then_some(measure.as_str()));
    let title = format!("{}, kernel {}: silent data corruption by input", it.name, it.kernel);
    let mut table = Table::new(title, &columns);
    let row = |name: String, it: &Measured| {
        let mut row = vec![
            Cell::Text(name),
            Cell::text(it.point.to_string()),
            Cell::Count(it.instructions),
            rate_cell(it.tally.all.sdc()),
            rate_cell(it.tally.read.sdc()),
            rate_cell(it.tally.all.due()),
        ];
        let quantity = |Bounded { value, low, high }| Cell::Quantity { value, low, high };
        row.extend(has_value.then(|| it.value.map_or(Cell::None, quantity)));
        row
    };
    table.rows.push(row("reference".to_owned(), &it.reference));
    if it.repeat == 1 {
        let answers = it.entries.iter().filter_map(|entry| Some((entry.searcher, entry.answer.as_ref()?)));
        table.rows.extend(answers.map(|(name, answer)| row(name.to_owned(), answer)));
    }
    if let Some(random) = it.better_random() {
        table.notes.push(format!(
            "Random search found an input with a higher {measure}, beyond both intervals: {}.",
            random.point
        ));
    }
    if let (Some(reference), Some(best)) = (it.reference.value, it.best.value)
        && reference.low > best.high
    {
        table.notes.push(format!(
            "The reference has a higher {measure} than the input that was found, beyond both intervals: the search found nothing that is \
             more vulnerable."
        ));
    }
    if !it.repeats {
        table.notes.push(format!(
            "{} does not do the same work each time: its golden run differs from one run to the next, so that no rate of it can be repeated.",
            it.best.point
        ));
    }
    if it.repeat > 1 || it.searcher == "all" {
        table.rows.push(row("best of all".to_owned(), &it.best));
        table.notes.push("The best of all was measured once more after it was chosen.".to_owned());
    }
    table
        .notes
        .push(format!(
            "Each rate is of {} runs of a seed that no search has seen; bounds at 95 %. Outputs of the GPU are judged, and the application is not \
             asked what it makes of them (`campaign --no-app`).",
            it.rules.last
        ));
    table
}

/// The work of each search.
fn costs(it: &Outcome) -> Table {
    let columns = ["searcher", "searches", "inputs evaluated", "injection runs", "seconds", "ms for an input, median"];
    let mut table = Table::new("The work of the searches", &columns);
    for offer in &SEARCHERS {
        let of: Vec<_> = it.entries.iter().filter(|entry| entry.searcher == offer.name).map(|it| &it.found).collect();
        if of.is_empty() {
            continue;
        }
        let evaluations: u64 = of.iter().map(|found| found.evaluations()).sum();
        let seconds: f64 = of.iter().map(|found| found.cost.seconds).sum();
        table.rows.push(vec![
            Cell::text(offer.name),
            Cell::Count(of.len() as u64),
            Cell::Count(evaluations),
            Cell::Count(of.iter().map(|found| found.cost.runs).sum()),
            Cell::Number((seconds * 100.0).round() / 100.0),
            milliseconds(of.iter().copied())
                .map_or(Cell::None, |median| Cell::Number((median * 100.0).round() / 100.0)),
        ]);
    }
    if it.rules.times > 1 {
        table
            .notes
            .push(format!("Random, peppa-x and trident have {} times the budget of the others.", it.rules.times));
    }
    table.notes.push(
        "Seconds are of processes, golden runs and campaigns. An input that another search ran before counts as if it were run \
         again."
            .to_owned(),
    );
    table
}

/// Milliseconds of an evaluation, in the median over searches.
fn milliseconds<'f>(of: impl Iterator<Item = &'f Found>) -> Option<f64> {
    let seconds: Vec<f64> = of.flat_map(|found| found.seconds.iter().copied()).collect();
    median(&seconds, Confidence::PERCENT_95).map(|median| median.value * 1000.0)
}

/// The times of evaluations, by searcher, and of the final measurements.
fn speed(it: &Outcome) -> Value {
    let of = |name: &str| {
        let searches = || it.entries.iter().filter(move |entry| entry.searcher == name).map(|entry| &entry.found);
        let seconds: f64 = searches().map(|found| found.cost.seconds).sum();
        let median = milliseconds(searches())?;
        Some((name.to_owned(), json!({ "seconds": seconds, "milliseconds_for_an_input": median })))
    };
    let answers = it.entries.iter().filter_map(|entry| Some(entry.answer.as_ref()?.seconds * 1000.0));
    json!({
        "searchers": SEARCHERS.iter().filter_map(|offer| of(offer.name)).collect::<Map<_, _>>(),
        "milliseconds_for_an_answer": median(&answers.collect::<Vec<_>>(), Confidence::PERCENT_95).map(|median| median.value),
    })
}

/// The best value so far by evaluation, of the first seed; as a share of the last one of each searcher.
fn course(it: &Outcome) -> Plot {
    let series = |entry: &Entry| {
        let last = entry.found.course.last().copied().flatten().filter(|last| *last > 0.0);
        let point =
            |(at, value): (u32, &Option<f64>)| Some(Point { x: f64::from(at), y: (*value)? / last?, bounds: None });
        let points = (1..).zip(&entry.found.course).filter_map(point).collect();
        Series { name: entry.searcher.to_owned(), mark: Mark::Steps, points }
    };
    Plot {
        name: "course".to_owned(),
        title: format!("{}: the best value so far, of the last one", it.name),
        x: "inputs evaluated".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "best value so far, %".to_owned(),
        vertical: Vertical::Shares,
        series: it.entries.iter().filter(|entry| entry.seed == it.seed).map(series).collect(),
    }
}

/// A rate as documents have it; null where no run landed.
pub(super) fn rate_document(rate: Rate) -> Value {
    let bounds = rate.bounds();
    if rate.landed == 0 {
        return Value::Null;
    }
    json!({ "count": rate.count, "runs": rate.landed, "rate": rate.rate(), "low": bounds.low, "high": bounds.high })
}

fn document(it: &Measured) -> Value {
    json!({
        "input": it.point.to_string(),
        "thread_instructions": it.instructions,
        "sdc": rate_document(it.tally.all.sdc()),
        "sdc_of_read": rate_document(it.tally.read.sdc()),
        "due": rate_document(it.tally.all.due()),
        "value": it.value.map(|Bounded { value, low, high }| json!({ "value": value, "low": low, "high": high })),
    })
}

fn entry_document(entry: &Entry) -> Value {
    json!({
        "searcher": entry.searcher,
        "seed": entry.seed,
        "evaluations": entry.found.evaluations(),
        "runs": entry.found.cost.runs,
        "refused": entry.found.refused.iter().map(|(input, why)| json!({ "input": input, "why": why })).collect::<Vec<_>>(),
        "course": entry.found.course,
        "answer": entry.answer.as_ref().map(document),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Space;

    #[test]
    fn the_command_that_repeats_a_search_says_all_that_its_rates_depend_on() {
        let text = "arguments = ['{x}']
            [[parameters]]\nname = 'x'\nkind = 'int'\nrange = [1, 9]\nreference = 5";
        let point = Space::read(text).unwrap().reference();
        let measured =
            Measured { point, instructions: 1, tally: super::super::ends::Tally::default(), seconds: 0.0, value: None };
        let rules = Rules {
            budget: super::super::search::Budget { inputs: 5, seconds: None },
            times: 1,
            runs: 6,
            last: 7,
            faults: 8,
            objective: Objective::Sdc,
        };
        let outcome = |fuel| Outcome {
            name: "smooth".to_owned(),
            words: "./smooth --space smooth.toml".to_owned(),
            fuel,
            kernel: "k".to_owned(),
            searcher: "druto".to_owned(),
            reference: measured.clone(),
            best: measured.clone(),
            repeats: true,
            entries: Vec::new(),
            rules: rules.clone(),
            repeat: 1,
            seed: 3,
        };
        let values = [("searcher", "druto"), ("budget", "5"), ("faults", "8"), ("objective", "sdc")];
        let options = Options {
            values: values.into_iter().map(|(key, value)| (key, value.to_owned())).collect(),
            said: ["objective"].into(),
        };
        let command = "beamline search ./smooth --space smooth.toml --searcher druto --budget 5 --objective sdc --seed 3 --kernel k";
        assert_eq!(outcome(None).command(&options), command);
        assert_eq!(outcome(Some(1000)).command(&options), format!("{command} --fuel 1000"));
    }
}
