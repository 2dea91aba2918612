//! The kernels, each searched and studied by the commands.

use methods::kit::StudyError;
use serde_json::Value;

use crate::page::PageContext;

/// The kinds of runs that a page may have fewer or more of.
pub(super) const REPEAT: &str = "repeat";
pub(super) const BUDGET: &str = "budget";
pub(super) const INPUTS: &str = "inputs";
pub(super) const FAULTS: &str = "faults";

/// The workloads; a new one goes behind the others, as seeds count through.
const APPLICATIONS: [&str; 4] = ["pathfinder", "blackscholes", "hotspot", "sobel"];

/// The objectives of the searches: the paper's, and the rate itself.
pub(super) const OBJECTIVES: [&str; 2] = ["proxy", "sdc"];

/// A workload, searched and studied.
pub(super) struct Measured {
    /// Its name.
    pub(super) name: &'static str,
    /// The documents of the searches, in the order of [`OBJECTIVES`].
    pub(super) searches: [Value; 2],
    /// The document of the studies.
    pub(super) studies: Value,
}

/// Studies every application, or one.
pub(super) fn survey(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Vec<Measured>, StudyError> {
    let mut all = Vec::new();
    for (number, name) in (1..).zip(APPLICATIONS) {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        shop.campaigns.seed = number * 100;
        let of = |shop: &PageContext<'_, '_>, key| shop.runs.get(key).copied().unwrap_or_default().to_string();
        let [repeat, budget, inputs, faults] = [REPEAT, BUDGET, INPUTS, FAULTS].map(|key| of(shop, key));
        let size = [("repeat", repeat.as_str()), ("budget", &budget), ("faults", &faults)];
        let mut search = |objective| {
            let said = [&[("searcher", "all"), ("objective", objective)][..], &size].concat();
            shop.of_inputs("search", name, &said)
        };
        let searches = [search(OBJECTIVES[0])?, search(OBJECTIVES[1])?];
        let said = [&[("study", "all"), ("inputs", inputs.as_str())][..], &size].concat();
        all.push(Measured { name, searches, studies: shop.of_inputs("inputs", name, &said)? });
    }
    Ok(all)
}
