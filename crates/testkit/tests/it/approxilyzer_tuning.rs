//! Whether what Approxilyzer says of static instructions, of their protection and of their approximation adds up.

use campaign::Choices;
use inject::{CapsuleTarget, profile};
use methods::kit::{Campaigns, OpenedCapsule};
use methods::{Answer, Options, Request, registry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use testkit::workload;

/// The words of outcomes.
const OUTCOMES: [&str; 8] = ["masked", "detected", "detectable", "good", "maybe", "bad", "undecided", "not_covered"];

/// Criteria with bins, whatever the capsule says.
const BINS: (&str, &str) = ("quality", "*:metric=max-rel,tolerance=1e-6,bad=1,bins=0.01/0.05/0.1");

/// The capsule as a session opens it.
fn opened(capsule: &Arc<CapsuleTarget>) -> OpenedCapsule {
    let config = Choices { capsule: Some(capsule.opened_as().to_owned()), ..Choices::default() }.settle().unwrap();
    let config = config.judged_by(capsule.criteria()).unwrap();
    OpenedCapsule { capsule: Arc::clone(capsule), config, engines: None }
}

/// What the command answers, and its CSV.
fn answer(capsule: &Arc<CapsuleTarget>, dir: &tempfile::TempDir, options: &[(&'static str, &str)]) -> (Answer, String) {
    let command = registry::commands().find(|command| command.name == "approxilyzer").unwrap();
    let said = [&[("coverage", "0.9"), ("csv", "classes.csv")][..], options].concat();
    let values = said.into_iter().map(|(key, value)| (key, value.to_owned())).collect();
    let options = Options { values, ..Options::default() };
    let request = Request { capsule: opened(capsule), declared: None, options, commands: None };
    let stop = AtomicBool::new(false);
    let mut campaigns = Campaigns {
        dir: dir.path().to_owned(),
        seed: 0,
        kernels: Vec::new(),
        jobs: None,
        history: None,
        stop: &stop,
        told: &mut |_, _| {},
    };
    let answer = (command.run)(&request, &mut campaigns).unwrap();
    let [(_, text)] = &answer.files[..] else { panic!("{} files", answer.files.len()) };
    let text = text.clone();
    (answer, text)
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn sum(rows: &[Value], of: impl Fn(&Value) -> u64) -> u64 {
    rows.iter().map(of).sum()
}

/// The sites of instructions and lines are those of the program, by outcome and in all, and their dynamic instructions are
/// those of the profile.
fn the_account_adds_up(capsule: &CapsuleTarget, json: &Value) {
    let quality = &json["quality"];
    for rows in ["by_instruction", "by_line", "by_kernel"].map(|key| list(quality, key)) {
        for word in OUTCOMES {
            let all = number(&quality["outcomes"], word);
            assert_eq!(sum(rows, |row| number(&row["outcomes"], word)), all, "{word}");
        }
    }
    assert_eq!(sum(list(quality, "by_instruction"), |row| number(row, "sites")), number(&json["sites"], "all"));
    let outcomes = &quality["outcomes"];
    assert_eq!(number(outcomes, "not_covered"), number(&json["sites"], "not_covered"));
    let of_class = |class: &str| number(&json["outcomes"][class], "count");
    assert_eq!((number(outcomes, "masked"), number(outcomes, "detected")), (of_class("masked"), of_class("due")));
    let corruptions = ["detectable", "good", "maybe", "bad"].map(|word| number(outcomes, word));
    assert_eq!(corruptions.iter().sum::<u64>(), of_class("sdc"));
    assert_eq!(number(&json["tuning"], "corruptions"), of_class("sdc"));
    let bins = outcomes["maybe_by_bin"].as_object().unwrap();
    assert!(bins.values().filter_map(Value::as_u64).sum::<u64>() <= number(outcomes, "maybe"));
    let profiles = profile(capsule.golden_run());
    let executed: u64 = profiles.iter().flat_map(|launch| &launch.instructions).map(|it| it.executed).sum();
    assert_eq!((number(quality, "executed"), number(&json["tuning"], "executed")), (executed, executed));
    for rows in ["by_instruction", "by_line"].map(|key| list(quality, key)) {
        assert_eq!(sum(rows, |row| number(row, "executed")), executed);
    }
}

/// The sites of an instruction that have to be protected if the first so many bins are accepted; `None` for all corruptions.
fn to_protect(instruction: &Value, accepted: Option<Option<u64>>) -> u64 {
    let outcomes = &instruction["outcomes"];
    let of = |words: &[&str]| words.iter().map(|word| number(outcomes, word)).sum::<u64>();
    let Some(bin) = accepted else { return of(&["detectable", "good", "maybe", "bad"]) };
    let bins = outcomes["maybe_by_bin"].as_object().unwrap().iter();
    let accepted = bins.filter(|(it, _)| bin.is_some_and(|bin| it.parse::<u64>().unwrap() <= bin));
    of(&["maybe", "bad"]) - accepted.filter_map(|(_, sites)| sites.as_u64()).sum::<u64>()
}

/// Curves rise, lie below each other, cost no more than a greedy choice, and end at the cost of all instructions that have
/// sites to protect.
fn curves_end_at_what_must_be_protected(json: &Value) {
    let (tuning, instructions) = (&json["tuning"], list(&json["quality"], "by_instruction"));
    let corruptions = number(tuning, "corruptions");
    let mut before: Option<Vec<u64>> = None;
    for curve in list(tuning, "curves") {
        let accepted = match &curve["accepted"] {
            Value::String(word) if word == "nothing" => None,
            Value::String(_) => Some(None),
            of => Some(Some(number(of, "bin"))),
        };
        let mut items: Vec<(u64, u64)> =
            instructions.iter().map(|it| (number(it, "executed"), to_protect(it, accepted))).collect();
        items.retain(|(_, sites)| *sites > 0);
        let (cost, sites) = items.iter().fold((0, 0), |(cost, sites), item| (cost + item.0, sites + item.1));
        assert_eq!((number(curve, "sites"), number(curve, "instructions")), (sites, items.len() as u64));
        let points = list(curve, "points");
        let costs: Vec<u64> = points.iter().map(|point| number(point, "executed")).collect();
        assert!(costs.is_sorted() && costs.last() == Some(&cost), "{costs:?} up to {cost}");
        assert!(before.is_none_or(|before| before.iter().zip(&costs).all(|(before, cost)| before >= cost)));
        items.sort_by(|left, right| (right.1 as f64 / right.0 as f64).total_cmp(&(left.1 as f64 / left.0 as f64)));
        for point in points {
            assert_eq!(number(point, "executed_at_least"), number(point, "executed"));
            let share = point["coverage"].as_f64().unwrap();
            let covered = number(point, "sites") + corruptions - sites;
            assert!(covered as f64 >= share * corruptions as f64 - 1e-3, "{covered} of {corruptions} for {share}");
            let demand = (share * corruptions as f64).ceil() as u64 + 1;
            let demand = demand.saturating_sub(corruptions - sites);
            let (mut greedy, mut reached) = (0, 0);
            for (cost, sites) in &items {
                if reached < demand {
                    (greedy, reached) = (greedy + cost, reached + sites);
                }
            }
            assert!(number(point, "executed") <= greedy);
        }
        before = Some(costs);
    }
}

/// More is approximable in the best case than in the worst, and by smaller parts than by larger ones.
fn parts_are_approximable_where_the_whole_is(json: &Value) {
    let all = &json["approximable"];
    let of = |extent: &str, case: &str| number(&all[extent][case], "static");
    for case in ["worst", "best"] {
        assert!(of("fi", case) <= of("pi_fr", case) && of("pi_32b", case) <= of("pi_8b", case));
    }
    for extent in ["fi", "pi_fr", "pi_32b", "pi_8b"] {
        assert!(of(extent, "worst") <= of(extent, "best") && of(extent, "best") <= number(all, "studied"));
    }
}

/// The rows hold every site once, and their weights by outcome are those of the document.
fn rows_hold_every_site(json: &Value, text: &str) {
    let mut reader = text.lines();
    let columns: Vec<&str> = reader.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().rposition(|column| *column == name).unwrap();
    // Behind the id of a fault, which has commas: count from the end.
    let from_end = |name: &str| columns.len() - 1 - at(name);
    let (outcome, weight) = (from_end("outcome"), from_end("weight"));
    let mut weights: BTreeMap<String, u64> = BTreeMap::new();
    let mut rows = 0;
    for line in reader {
        let cells: Vec<&str> = line.rsplit(',').collect();
        *weights.entry(cells[outcome].to_owned()).or_default() += cells[weight].parse::<u64>().unwrap();
        rows += 1;
    }
    assert!(rows > number(&json["sites"], "run"));
    for class in ["masked", "sdc", "due"] {
        let count = number(&json["outcomes"][class], "count");
        assert_eq!(weights.get(class).copied().unwrap_or_default(), count, "{class}");
    }
    assert_eq!(weights.get("not_covered").copied().unwrap_or_default(), 0);
}

#[test]
fn what_is_said_of_instructions_and_of_their_protection_adds_up() {
    for (name, judged) in [("pathfinder", false), ("blackscholes", true)] {
        let (capsule, dir) = (workload(name), tempfile::tempdir().unwrap());
        for options in [&[][..], &[BINS]] {
            let (Answer { json, study, .. }, text) = answer(&capsule, &dir, options);
            the_account_adds_up(&capsule, &json);
            curves_end_at_what_must_be_protected(&json);
            parts_are_approximable_where_the_whole_is(&json);
            rows_hold_every_site(&json, &text);
            let (outcomes, curves) = (&json["quality"]["outcomes"], list(&json["tuning"], "curves"));
            let bins = outcomes["maybe_by_bin"].as_object().unwrap().len();
            assert_eq!((curves.len(), study.plots[0].series.len()), (2 + bins, 2 + bins), "{name}");
            // The tolerance of blackscholes is its bound, too: nothing is in between. Pathfinder has none.
            let (maybe, good) = (number(outcomes, "maybe"), number(outcomes, "good"));
            match options {
                [] => assert_eq!((maybe == 0, good > 0, bins), (judged, judged, 0), "{name}"),
                _ => assert!(bins > 1, "{name}: {outcomes}"),
            }
        }
    }
}
