//! The applications of the chapter and some of ours, each studied by the method as its command does.

use methods::kit::StudyError;
use serde_json::Value;

use crate::documents::{at, number};
use crate::page::PageContext;

/// An application.
pub(super) struct Application {
    /// Its name here.
    pub(super) name: &'static str,
    /// Its name in the chapter; none of one that the chapter does not have.
    pub(super) paper: Option<&'static str>,
    /// The share of the reference's instructions that the small input has to execute.
    pub(super) coverage: &'static str,
    /// The threshold of approximation in the chapter: a cent for prices, else a relative error of 5 %.
    pub(super) approximate: &'static str,
}

/// The threshold of applications that compute no prices.
const RELATIVE: &str = "max-rel=0.05";

/// The applications; a new one goes behind the others, as seeds count through.
pub(super) const APPLICATIONS: [Application; 10] = [
    of_chapter("blackscholes", "Blackscholes", "1", "max-abs=0.01"),
    of_chapter("swaptions", "Swaptions", "1", "max-abs=0.01"),
    of_chapter("streamcluster", "Streamcluster", "1", RELATIVE),
    of_chapter("lud", "LU", "1", RELATIVE),
    of_chapter("water", "Water", "1", RELATIVE),
    of_chapter("fft", "FFT", "1", RELATIVE),
    of_chapter("sobel", "Sobel", "1", RELATIVE),
    of_ours("pathfinder"),
    of_ours("hotspot"),
    of_ours("sssp"),
];

const fn of_chapter(
    name: &'static str,
    paper: &'static str,
    coverage: &'static str,
    approximate: &'static str,
) -> Application {
    Application { name, paper: Some(paper), coverage, approximate }
}

const fn of_ours(name: &'static str) -> Application {
    Application { name, paper: None, coverage: "1", approximate: RELATIVE }
}

/// The kind of runs that a page may have fewer or more of: pilots of an input.
pub(super) const PILOTS: &str = "pilots";

/// The share of the error sites that the chapter studies of every reference.
const MOST_SITES: &str = "0.99";

/// An application, studied.
pub(super) struct Measured {
    /// Its name in the chapter, or here.
    pub(super) name: &'static str,
    /// Whether the chapter has it.
    pub(super) is_of_chapter: bool,
    /// The document of the command at 99 % of the error sites.
    pub(super) document: Value,
    /// The same at all of them.
    pub(super) of_all_sites: Value,
}

impl Measured {
    /// The number at a path of keys, `found.rate`, if the document has it.
    pub(super) fn number(&self, path: &str) -> Option<f64> {
        number(&self.document, path)
    }

    /// The count at a path of keys; 0 where the document has none.
    pub(super) fn count(&self, path: &str) -> u64 {
        at(&self.document, path).and_then(Value::as_u64).unwrap_or_default()
    }

    /// The text at a path of keys.
    pub(super) fn text(&self, path: &str) -> &str {
        at(&self.document, path).and_then(Value::as_str).unwrap_or_default()
    }

    /// A way of analysing, such as `minimised_eip`: a number of it. `of` is where its document is: empty, or `approximable`.
    pub(super) fn way(&self, of: &str, analysis: &str, key: &str) -> Option<f64> {
        let path = format!("{of}{}priority.time", if of.is_empty() { "" } else { "." });
        let ways = at(&self.document, &path)?.as_array()?;
        ways.iter().find(|way| way["analysis"] == analysis)?[key].as_f64()
    }

    /// Whether all pilots of both inputs were run: if not, times say as much of the limit as of the inputs.
    pub(super) fn is_whole(&self) -> bool {
        ["reference", "minimised"]
            .iter()
            .all(|input| self.count(&format!("{input}.pilots")) == self.count(&format!("{input}.pilots_run")))
    }

    /// How many times longer one way takes than another, by Equation 3.1; none unless all pilots were run.
    pub(super) fn times(&self, of: &str, long: &str, short: &str) -> Option<f64> {
        if !self.is_whole() {
            return None;
        }
        Some(self.way(of, long, "seconds")? / self.way(of, short, "seconds").filter(|seconds| *seconds > 0.0)?)
    }

    /// By order and oracle, the factor by which its runs are fewer than all pilots of an input, `minimised` or `reference`.
    pub(super) fn gains(&self, input: &str) -> Vec<(&str, f64)> {
        let orders = at(&self.document, "priority.orders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let runs = |order: &Value| number(order, &format!("{input}.all"));
        let Some(all) = orders.last().and_then(runs) else { return Vec::new() };
        let gains =
            orders.iter().map(|order| Some((order["order"].as_str()?, all / runs(order).filter(|runs| *runs > 0.0)?)));
        gains.flatten().collect()
    }

    /// The gain of one of them.
    pub(super) fn gain(&self, input: &str, order: &str) -> Option<f64> {
        self.gains(input).into_iter().find(|(name, _)| *name == order).map(|(_, gain)| gain)
    }

    /// The shares of the explored instructions of both inputs that the small input and the reference explore.
    pub(super) fn explored(&self) -> Option<[f64; 2]> {
        let all = self.number("explored.either").filter(|all| *all > 0.0)?;
        Some([self.number("minimised.explored")? / all, self.number("reference.explored")? / all])
    }
}

/// Studies every application, or one.
pub(super) fn survey(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Vec<Measured>, StudyError> {
    let mut all = Vec::new();
    for (number, it) in (1..).zip(APPLICATIONS) {
        if only.is_some_and(|only| only != it.name) {
            continue;
        }
        shop.campaigns.seed = number;
        let early = [("terminate", "random"), ("approximate", it.approximate)];
        let document = answer(shop, &it, MOST_SITES, &early)?;
        let of_all_sites = answer(shop, &it, "1", &[])?;
        let (name, is_of_chapter) = (it.paper.unwrap_or(it.name), it.paper.is_some());
        all.push(Measured { name, is_of_chapter, document, of_all_sites });
    }
    Ok(all)
}

/// The document of the command.
fn answer(
    shop: &mut PageContext<'_, '_>,
    it: &Application,
    sites: &str,
    more: &[(&'static str, &str)],
) -> Result<Value, StudyError> {
    let pilots = shop.runs.get(PILOTS).copied().unwrap_or_default().to_string();
    let said = [("coverage", it.coverage), ("sites", sites), ("pilots", &pilots)];
    shop.of_inputs("minotaur", it.name, &[&said[..], more].concat())
}
