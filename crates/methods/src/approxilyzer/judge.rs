//! How corruptions are judged: as `--quality` says, as a bundled workload declares it for this method, or as the capsule says. What
//! the rows of pilots hold is enough, nothing runs again; ranges and element types alone have to be known before.

use campaign::Results;
use inject::CapsuleTarget;
use outcome::{Criteria, Quality};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::kit::StudyError;
use crate::method::{CommandOption, Options};

/// The option that says where criteria come from that `--quality` does not have.
pub(crate) const CRITERIA: CommandOption = CommandOption::of_words(
    "criteria",
    "FROM",
    &[
        (
            "workload",
            "as its workload.toml declares for this method (the thresholds of the thesis), else as the capsule says",
        ),
        ("capsule", "as the capsule says, as campaigns do"),
    ],
    Some("workload"),
    "How outputs are judged of which --quality says nothing",
);

/// Bounds of bins that a note lists, at most.
const LISTED: usize = 5;

/// A `workload.toml`; the other keys are for others.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Workload {
    approxilyzer: Declared,
}

/// The part of a `workload.toml` that is for this method.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Declared {
    /// By output, or by `*` for all that are not named.
    quality: BTreeMap<String, Quality>,
}

/// The criteria that decide instead of those of the capsule, by their sources.
pub(crate) struct Judging {
    said: Criteria,
    declared: Criteria,
}

/// How an output is judged.
struct OutputRule {
    name: String,
    from: &'static str,
    quality: Quality,
}

/// The criteria that have to be known before the capsule is opened.
///
/// # Errors
/// If an option or the workload says what means nothing.
pub(crate) fn before(options: &Options, workload: Option<&str>) -> Result<Criteria, StudyError> {
    Ok(Judging::of(options, workload)?.together().compared())
}

impl Judging {
    /// Of the options, and the `workload.toml` of a bundled workload.
    ///
    /// # Errors
    /// If one says what means nothing.
    pub(crate) fn of(options: &Options, workload: Option<&str>) -> Result<Self, StudyError> {
        let words = |error: &dyn std::fmt::Display| StudyError::Words(error.to_string());
        let mut said = Criteria::default();
        let text: String = options.get("quality")?.unwrap_or_default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, quality) = Quality::parse(part).map_err(|error| words(&error))?;
            if said.quality.insert(name.clone(), quality).is_some() {
                return Err(StudyError::Words(format!("judge `{name}` in two ways: say one `{name}:…` in --quality")));
            }
        }
        let from: Option<String> = options.get("criteria")?;
        let text = workload.filter(|_| from.as_deref() != Some("capsule")).unwrap_or_default();
        let workload: Workload = toml::from_str(text).map_err(|error| words(&error))?;
        let declared = Criteria { quality: workload.approxilyzer.quality, ..Criteria::default() };
        Ok(Self { said, declared })
    }

    /// The criteria of `--quality`.
    pub(super) fn said(&self) -> &Criteria {
        &self.said
    }

    /// All of them: where `--quality` has `*`, that goes before what the workload declares of an output by its name.
    fn together(&self) -> Criteria {
        let mut said = self.said.clone();
        if let Some(star) = self.said.quality.get("*") {
            let named = self.declared.quality.keys().map(|name| (name.clone(), star.clone())).collect();
            said = said.or(Criteria { quality: named, ..Criteria::default() });
        }
        said.or(self.declared.clone())
    }

    /// The criteria by which the rows of a capsule are judged; none if the capsule and its rows decide alone.
    ///
    /// # Errors
    /// If they mean nothing together, or name an output that the capsule does not have.
    pub(crate) fn criteria(&self, capsule: &CapsuleTarget) -> Result<Option<Criteria>, StudyError> {
        let names = names(capsule);
        let mut criteria = self.together();
        if let Some(name) = criteria.quality.keys().find(|name| *name != "*" && !names.contains(name)) {
            return Err(StudyError::Words(format!("judge the output `{name}`: there are {}", names.join(", "))));
        }
        // What the capsule says of an output by its name would go before `*`.
        if let Some(star) = criteria.quality.remove("*") {
            let quality = names.into_iter().map(|name| (name, star.clone())).collect();
            criteria = criteria.or(Criteria { quality, ..Criteria::default() });
        }
        criteria.check().map_err(|(name, error)| StudyError::Words(format!("judge `{name}`: {error}")))?;
        Ok((!criteria.is_empty()).then_some(criteria))
    }

    /// The words for the name of a campaign that compares outputs otherwise than the capsule says; none of any other.
    pub(super) fn label(&self) -> String {
        let compared = self.together().compared();
        compared.quality.iter().map(|(name, quality)| format!(",{name}:{quality}")).collect()
    }

    /// How each output is judged by these criteria, which are those of the rows with these in their place.
    fn rules(&self, capsule: &CapsuleTarget, criteria: &Criteria) -> Vec<OutputRule> {
        let judges = |of: &Criteria, name: &str| of.of(name).is_some();
        let rule = |name: String| {
            let from = match &name {
                name if judges(&self.said, name) => "--quality",
                name if judges(&self.declared, name) => "workload",
                name if judges(criteria, name) => "capsule",
                _ => "nothing",
            };
            let quality = criteria.quality_of(&name);
            OutputRule { name, from, quality }
        };
        names(capsule).into_iter().map(rule).collect()
    }

    /// How each output is judged, as the document has it and as notes of a table.
    pub(crate) fn told(&self, capsule: &CapsuleTarget, criteria: &Criteria) -> (Value, Vec<String>) {
        let rules = self.rules(capsule, criteria);
        let value = |it: &OutputRule| json!({ "output": it.name, "from": it.from, "quality": it.quality.to_string() });
        let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
        for rule in &rules {
            let text = rule.text();
            match notes.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(&rule.name),
                None => notes.push((text, vec![&rule.name])),
            }
        }
        let note = |(text, names): (String, Vec<&str>)| format!("{}: {text}.", names.join(", "));
        (rules.iter().map(value).collect(), notes.into_iter().map(note).collect())
    }
}

impl OutputRule {
    /// In words, without the name of the output.
    fn text(&self) -> String {
        let mut quality = self.quality.clone();
        let bins = std::mem::take(&mut quality.bins);
        let mut text = match quality.to_string() {
            said if said.is_empty() => "not judged".to_owned(),
            said => format!("judged by {said}"),
        };
        if let [first, .., last] = bins[..]
            && bins.len() > LISTED
        {
            text = format!("{text}, {} bounds of bins from {first} to {last}", bins.len());
        } else if !bins.is_empty() {
            let bins: Vec<String> = bins.iter().map(f64::to_string).collect();
            text = format!("{text},bins={}", bins.join("/"));
        }
        match self.from {
            "workload" => {
                format!("{text}, which the workload declares for this method (--criteria capsule: the capsule's own)")
            }
            "capsule" => format!("{text}, which the capsule says"),
            "nothing" => format!("{text}: neither --quality nor the capsule says how"),
            from => format!("{text}, which {from} says"),
        }
    }
}

/// The names of the outputs of a capsule.
fn names(capsule: &CapsuleTarget) -> Vec<String> {
    capsule.golden_run().outputs().iter().map(|output| output.name.clone()).collect()
}

/// The criteria of a campaign with these in their place where they say something.
///
/// # Errors
/// If they ask for something that had to be known before the pilots were run.
pub(super) fn for_rows(criteria: &Criteria, results: &Results) -> Result<Criteria, StudyError> {
    Ok(results.rejudge(criteria).map_err(|error| StudyError::Words(error.to_string()))?.criteria)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKLOAD: &str = "
        name = 'prices'
        [[outputs]]
        name = 'calls'
        [approxilyzer.quality.calls]
        metric = 'max-abs'
        tolerance = 1e-4
        range = [0, 500]
        [approxilyzer.quality.'*']
        bad = 1
        bins = [0.5]
        ";

    fn judging(quality: &str, from: &str) -> Result<Judging, String> {
        let values = [("quality", quality.to_owned()), ("criteria", from.to_owned())].into();
        let options = Options { values, ..Options::default() };
        Judging::of(&options, Some(WORKLOAD)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_workload_declares_criteria_and_the_option_goes_before_them() {
        let of = |quality: &str, from: &str, name: &str| judging(quality, from).unwrap().together().quality_of(name);
        let calls = "metric=max-abs,tolerance=0.0001,bad=0.0001,range=0.0..500.0";
        assert_eq!(of("", "workload", "calls").to_string(), calls);
        assert_eq!(of("", "workload", "puts").to_string(), "metric=max-rel,tolerance=0.0,bad=1.0,bins=0.5");
        assert_eq!(of("", "capsule", "calls"), Quality::default());
        // What is not judgement, the range, stays.
        let star = of("*:metric=rel-l2,tolerance=2", "workload", "calls").to_string();
        assert_eq!(star, "metric=rel-l2,tolerance=2.0,bad=2.0,range=0.0..500.0");
        let named = "calls:range=-1..1; puts:bad=3";
        assert_eq!(of(named, "workload", "calls").range, Some([-1.0, 1.0]));
        assert_eq!(of(named, "workload", "calls").metric.map(outcome::Metric::word), Some("max-abs"));
        assert_eq!(of(named, "workload", "puts").bad, Some(3.0));
    }

    #[test]
    fn campaigns_that_compare_otherwise_have_names_of_their_own() {
        let label = |quality: &str, from: &str| judging(quality, from).unwrap().label();
        assert_eq!(label("", "workload"), ",calls:range=0.0..500.0");
        assert_eq!(label("*:tolerance=1", "capsule"), "");
        assert_eq!(label("*:range=0..1", "capsule"), ",*:range=0.0..1.0");
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let why = |quality: &str| judging(quality, "workload").err().unwrap();
        assert!(why("calls:bad=much").contains("`much` is no number"));
        assert!(why("calls:bad=1;calls:bad=2").contains("judge `calls` in two ways"));
        let wrong = Judging::of(&Options::default(), Some("[approxilyzer.quality.a]\nbda = 1")).err().unwrap();
        assert!(wrong.to_string().contains("unknown field `bda`"), "{wrong}");
    }

    #[test]
    fn a_rule_is_told_with_its_source_and_without_a_long_list() {
        let rule = |quality: &str, from: &'static str| {
            let (name, quality) = Quality::parse(quality).unwrap();
            OutputRule { name, from, quality }.text()
        };
        assert_eq!(rule("a:bad=1,bins=0.25/0.5", "--quality"), "judged by bad=1.0,bins=0.25/0.5, which --quality says");
        let long = rule("a:bad=1,bins=0.1/0.2/0.3/0.4/0.5/0.6", "capsule");
        assert_eq!(long, "judged by bad=1.0, 6 bounds of bins from 0.1 to 0.6, which the capsule says");
        let nothing = OutputRule { name: String::new(), from: "nothing", quality: Quality::default() };
        assert_eq!(nothing.text(), "not judged: neither --quality nor the capsule says how");
    }
}
