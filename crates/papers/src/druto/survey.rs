//! The kernels: their studies, made by the command, and their searches, as they are recorded.

use methods::kit::StudyError;
use serde_json::Value;

use crate::documents::at;
use crate::page::PageContext;

/// The kinds of runs that a page may have fewer or more of.
pub(super) const REPEAT: &str = "repeat";
pub(super) const BUDGET: &str = "budget";
/// Inputs of each search of the studies.
pub(super) const SEARCHED: u64 = 50;
pub(super) const INPUTS: &str = "inputs";
pub(super) const FAULTS: &str = "faults";

/// A workload of the page.
struct Application {
    name: &'static str,
    /// The seed of its studies.
    seed: u64,
    /// Its studies, as words of the command.
    studies: &'static [&'static str],
}

/// The studies of a workload whose searches and campaigns in each instruction would take the time of all others together.
const WITHOUT_SEARCHES: &[&str] = &["range", "kernels", "threads", "launches", "model"];

/// The workloads. The genetic search goes to the largest inputs; those of hotspot have up to 200 million thread instructions, and
/// the study of pruning would run hundreds of them.
const APPLICATIONS: [Application; 10] = [
    Application { name: "pathfinder", seed: 100, studies: &["all"] },
    Application { name: "blackscholes", seed: 200, studies: WITHOUT_SEARCHES },
    Application { name: "hotspot", seed: 300, studies: WITHOUT_SEARCHES },
    Application { name: "sobel", seed: 400, studies: &["all"] },
    Application { name: "conv2d", seed: 500, studies: &["all"] },
    Application { name: "mvt", seed: 600, studies: &["all"] },
    Application { name: "gemm", seed: 700, studies: &["all"] },
    Application { name: "nw", seed: 800, studies: WITHOUT_SEARCHES },
    Application { name: "jmeint", seed: 900, studies: WITHOUT_SEARCHES },
    Application { name: "particlefilter", seed: 1000, studies: WITHOUT_SEARCHES },
];

/// An objective of recorded searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The proxy of the paper.
    Proxy,
    /// The proxy, where random search may evaluate five times the inputs.
    Five,
    /// The same for PEPPA-X.
    FivePeppa,
    /// The proxy, where all searchers have equal times.
    Seconds,
    /// The rate itself.
    Rate,
}

impl Goal {
    pub(super) const ALL: [Self; 5] = [Self::Proxy, Self::Five, Self::FivePeppa, Self::Seconds, Self::Rate];

    /// As tables say it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Five => "proxy, random search with five times the inputs",
            Self::FivePeppa => "expected rate, both with five times the inputs",
            Self::Seconds => "proxy, equal times",
            Self::Rate => "measured rate",
        }
    }
}

/// The searches of `records/search.md`, each the document of its command.
const RECORDS: &[(&str, Goal, &str)] = &[
    ("pathfinder", Goal::Proxy, include_str!("../../../../records/search/pathfinder_advance_rows_proxy.json")),
    ("pathfinder", Goal::Five, include_str!("../../../../records/search/pathfinder_advance_rows_five.json")),
    ("pathfinder", Goal::FivePeppa, include_str!("../../../../records/search/pathfinder_advance_rows_five_peppa.json")),
    ("conv2d", Goal::FivePeppa, include_str!("../../../../records/search/conv2d_convolve_five_peppa.json")),
    ("blackscholes", Goal::Proxy, include_str!("../../../../records/search/blackscholes_price_proxy.json")),
    ("blackscholes", Goal::Five, include_str!("../../../../records/search/blackscholes_price_five.json")),
    ("conv2d", Goal::Proxy, include_str!("../../../../records/search/conv2d_convolve_proxy.json")),
    ("conv2d", Goal::Five, include_str!("../../../../records/search/conv2d_convolve_five.json")),
    ("pathfinder", Goal::Seconds, include_str!("../../../../records/search/pathfinder_advance_rows_seconds.json")),
    ("blackscholes", Goal::Seconds, include_str!("../../../../records/search/blackscholes_price_seconds.json")),
    ("conv2d", Goal::Seconds, include_str!("../../../../records/search/conv2d_convolve_seconds.json")),
    ("pathfinder", Goal::Rate, include_str!("../../../../records/search/pathfinder_sdc.json")),
    ("blackscholes", Goal::Rate, include_str!("../../../../records/search/blackscholes_sdc.json")),
    ("hotspot", Goal::Rate, include_str!("../../../../records/search/hotspot_sdc.json")),
    ("sobel", Goal::Rate, include_str!("../../../../records/search/sobel_sdc.json")),
];

/// A workload, searched and studied.
pub(super) struct Measured {
    /// Its name.
    pub(super) name: &'static str,
    /// The seed of its studies.
    pub(super) seed: u64,
    /// The documents of its recorded searches.
    pub(super) searches: Vec<(Goal, Value)>,
    /// The document of its studies.
    pub(super) studies: Value,
}

impl Measured {
    /// The document of the searches for a goal, if they are recorded.
    pub(super) fn search(&self, goal: Goal) -> Option<&Value> {
        self.searches.iter().find(|(it, _)| *it == goal).map(|(_, document)| document)
    }

    /// A search for a goal in which random inputs are measured as often as those of the other searchers: by the rate, or by the proxy.
    pub(super) fn of_equal_budgets(&self) -> Option<&Value> {
        self.search(Goal::Rate).or_else(|| self.search(Goal::Proxy))
    }

    /// The rate of the reference, as the searches measured it.
    pub(super) fn reference(&self) -> Option<&Value> {
        self.searches.first().and_then(|(_, search)| at(search, "reference.sdc"))
    }
}

/// Studies every application, or one.
pub(super) fn survey(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Vec<Measured>, StudyError> {
    let mut all = Vec::new();
    for it in &APPLICATIONS {
        if only.is_some_and(|only| only != it.name) {
            continue;
        }
        shop.campaigns.seed = it.seed;
        let count = |key: &'static str| (key, shop.runs.get(key).copied().unwrap_or_default().to_string());
        let size = [REPEAT, BUDGET, INPUTS, FAULTS].map(count);
        let mut documents = Vec::new();
        for study in it.studies {
            let mut said = vec![("study", *study)];
            said.extend(size.iter().map(|(key, count)| (*key, count.as_str())));
            documents.push(shop.of_inputs("inputs", it.name, &said)?);
        }
        all.push(Measured { name: it.name, seed: it.seed, searches: recorded(it.name)?, studies: joined(documents) });
    }
    Ok(all)
}

/// The recorded searches of a workload.
fn recorded(name: &str) -> Result<Vec<(Goal, Value)>, StudyError> {
    let of = RECORDS.iter().filter(|(workload, ..)| *workload == name);
    let read = |(_, goal, text): &(&str, Goal, &str)| {
        let unread = |error| StudyError::Refused(format!("read the recorded searches of {name}: {error}"));
        serde_json::from_str(text).map(|document| (*goal, document)).map_err(unread)
    };
    of.map(read).collect()
}

/// The documents of several studies of one application as one.
fn joined(documents: Vec<Value>) -> Value {
    let mut documents = documents.into_iter();
    let mut whole = documents.next().unwrap_or_default();
    for more in documents {
        let studies = at(&more, "studies").and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(into) = whole.get_mut("studies").and_then(Value::as_object_mut) {
            into.extend(studies);
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{list, number, text};
    use serde_json::json;

    #[test]
    fn studies_made_one_by_one_are_joined() {
        let one = |study: &str, value: u64| json!({ "kernel": "k", "studies": { study: value } });
        assert_eq!(
            joined(vec![one("range", 1), one("threads", 2)]),
            json!({ "kernel": "k", "studies": { "range": 1, "threads": 2 } })
        );
    }

    #[test]
    fn recorded_searches_are_of_their_workload_with_ten_seeds() {
        for (name, goal, _) in RECORDS {
            let all = recorded(name).unwrap();
            let (_, document) = all.iter().find(|(it, _)| it == goal).unwrap();
            assert_eq!(text(document, "application"), *name);
            assert_eq!(text(document, "objective"), if *goal == Goal::Rate { "sdc" } else { "proxy" });
            let is_long = matches!(goal, Goal::Five | Goal::FivePeppa);
            assert_eq!(number(document, "times").unwrap_or(1.0), if is_long { 5.0 } else { 1.0 });
            let searchers = list(document, "comparison").len();
            assert!(if is_long { searchers == 2 } else { searchers >= 4 }, "{name}");
            assert!(list(document, "comparison").iter().all(|row| list(row, "values").len() == 10), "{name}");
            assert!(number(document, "reference.sdc.rate").is_some() && text(document, "command").contains(name));
        }
    }
}
