//! Two campaigns side by side: the document `beamline.comparison/1` and its views.

mod difference;
mod judging;
mod views;

use std::collections::BTreeMap;

use campaign::summary::Rate;
use outcome::Class;
use serde::Serialize;
use stats::{Confidence, Proportion};

use crate::document::{RateAccount, RateBounding, Report};
use crate::findings::place;
use difference::difference;
use judging::OtherJudging;
use stats::holm;

/// The format of the document.
pub const COMPARISON_FORMAT: &str = "beamline.comparison/1";

/// Two campaigns compared.
#[derive(Clone, Debug, Serialize)]
pub struct CampaignComparison {
    /// [`COMPARISON_FORMAT`].
    pub format: &'static str,
    /// The level of the intervals of differences, and below which (its complement) a difference is called clear.
    pub level: f64,
    /// The first.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// Settings that are not the same.
    pub settings: Vec<OtherSetting>,
    /// What speaks against comparing them.
    pub warnings: Vec<String>,
    /// The rates of the classes.
    pub outcomes: Vec<Contrast>,
    /// The rates of the kinds, as shares of what landed.
    pub kinds: Vec<Contrast>,
    /// SDC and DUE by kernel.
    pub kernels: Vec<Contrast>,
    /// SDC and DUE by instruction group.
    pub groups: Vec<Contrast>,
    /// SDC and DUE by source line.
    pub lines: Vec<Contrast>,
}

/// One of the campaigns.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its directory.
    pub dir: String,
    /// What was irradiated.
    pub capsule: campaign::summary::SubjectId,
    /// The account of its runs.
    pub runs: campaign::summary::Runs,
    /// How its rates are bounded.
    pub bounds: RateBounding,
    /// Whether anything says how good a corrupted output is.
    pub judged: bool,
    /// The command that makes it again.
    pub repeat: String,
}

/// A setting that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherSetting {
    /// Its key.
    pub key: String,
    /// Its value in the first; none where it is not set.
    pub a: Option<String>,
    /// Its value in the second.
    pub b: Option<String>,
}

/// A rate of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contrast {
    /// Of what.
    pub name: String,
    /// The class of outcome.
    pub class: String,
    /// In the first.
    pub a: Rate,
    /// In the second.
    pub b: Rate,
    /// Why the two are not compared; then neither has a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_comparable: Option<&'static str>,
    /// The second less the first; absent where one of them is not known.
    pub difference: Option<f64>,
    /// Its lower bound.
    pub low: Option<f64>,
    /// Its upper bound.
    pub high: Option<f64>,
    /// Of the test that there is none; absent where a rate is exact, since there is nothing to test.
    pub p_value: Option<f64>,
    /// The same, adjusted for the other tests of the list (Holm).
    pub adjusted: Option<f64>,
    /// Whether there is one, at the level of the comparison: by the adjusted test, or where there is none by the bounds.
    pub clear: bool,
}

impl CampaignComparison {
    /// Compares two reports. `dirs` are the directories of the campaigns.
    #[must_use]
    pub fn new(a: &Report, b: &Report, dirs: [String; 2]) -> Self {
        let levels = [a, b].map(|report| report.bounds.level);
        let level = levels
            .into_iter()
            .flatten()
            .fold(None, |level: Option<f64>, other| Some(level.map_or(other, |level| level.max(other))));
        let level = level.and_then(|level| Confidence::new(level).ok()).unwrap_or(Confidence::PERCENT_95);
        let pairs = Pairs {
            exact: [a.exact(), b.exact()],
            landed: [a, b].map(|report| report.summary.runs.landed),
            level,
            is_undecided: [a, b].iter().any(|report| report.summary.outcomes.undecided.count > 0),
            other_judging: OtherJudging::of(a, b),
        };
        let [dir_a, dir_b] = dirs;
        Self {
            format: COMPARISON_FORMAT,
            level: level.level(),
            settings: settings(a, b),
            warnings: warnings(a, b),
            outcomes: pairs.outcomes(a, b),
            kinds: pairs.kinds(a, b),
            kernels: pairs.parts(
                &accounts(a, |report| named(report, &report.kernels)),
                &accounts(b, |report| named(report, &report.kernels)),
            ),
            groups: pairs.parts(
                &accounts(a, |report| named(report, &report.groups)),
                &accounts(b, |report| named(report, &report.groups)),
            ),
            lines: pairs.parts(&accounts(a, lines), &accounts(b, lines)),
            a: side(a, dir_a),
            b: side(b, dir_b),
        }
    }

    /// The document.
    ///
    /// # Errors
    /// Never for a comparison of reports.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

fn side(report: &Report, dir: String) -> Side {
    Side {
        dir,
        capsule: report.summary.capsule.clone(),
        runs: report.summary.runs,
        bounds: report.bounds.clone(),
        judged: report.summary.config.is_judged(),
        repeat: report.provenance.repeat.clone(),
    }
}

/// Accounts by name; names that occur twice are told apart by nothing and so are left as the first.
fn accounts<'a>(
    report: &'a Report,
    of: impl Fn(&'a Report) -> Vec<(String, &'a RateAccount)>,
) -> BTreeMap<String, &'a RateAccount> {
    let mut accounts = BTreeMap::new();
    for (name, account) in of(report) {
        accounts.entry(name).or_insert(account);
    }
    accounts
}

fn named<'a>(report: &'a Report, parts: &'a [crate::document::NamedRates]) -> Vec<(String, &'a RateAccount)> {
    parts.iter().map(|part| (report.kernel(&part.name).to_owned(), &part.account)).collect()
}

/// Lines by file name and number: another checkout has other paths.
fn lines(report: &Report) -> Vec<(String, &RateAccount)> {
    report
        .shown
        .all_lines
        .iter()
        .filter(|line| line.line.is_some())
        .map(|line| (place(line.file.as_deref(), line.line), &line.account))
        .collect()
}

fn settings(a: &Report, b: &Report) -> Vec<OtherSetting> {
    let of = |report: &Report| {
        let mut settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for setting in &report.provenance.settings {
            settings.entry(setting.key.clone()).or_default().push(setting.value.clone());
        }
        settings
    };
    let (a, b) = (of(a), of(b));
    let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
    keys.sort();
    keys.dedup();
    let value = |settings: &BTreeMap<String, Vec<String>>, key: &str| settings.get(key).map(|values| values.join(", "));
    let other = |key: &String| OtherSetting { key: key.clone(), a: value(&a, key), b: value(&b, key) };
    keys.into_iter().map(other).filter(|setting| setting.a != setting.b).collect()
}

fn warnings(a: &Report, b: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    let same = a.summary.capsule.digest == b.summary.capsule.digest;
    if !same {
        warnings.push(
            "The capsules are not the same: differences may come from the program or its input as well.".to_owned(),
        );
    }
    let faults = |report: &Report| {
        let selection = &report.summary.config.selection;
        [&selection.model, &selection.target, &selection.scope].map(Clone::clone)
    };
    if faults(a) != faults(b) {
        warnings.push("The faults are not the same: the rates are conditional on different things.".to_owned());
    }
    if same && a.summary.seed == b.summary.seed && !a.exact() && !b.exact() {
        let text =
            "Capsule and seed are the same, so the runs may be the same faults: the test takes them for independent.";
        warnings.push(text.to_owned());
    }
    warnings.extend(judging::warnings(a, b));
    for (name, report) in [("first", a), ("second", b)] {
        if report.summary.remaining.is_some() {
            warnings.push(format!("The {name} campaign is not finished."));
        }
    }
    warnings
}

/// Two rates of which nothing is said yet.
fn unknown(name: &str, class: &str, [a, b]: [Rate; 2]) -> Contrast {
    Contrast {
        name: name.to_owned(),
        class: class.to_owned(),
        a,
        b,
        not_comparable: None,
        difference: None,
        low: None,
        high: None,
        p_value: None,
        adjusted: None,
        clear: false,
    }
}

/// Two counts that do not mean the same: they stay, and are no rates of one thing.
fn incomparable(name: &str, class: &str, rates: [Rate; 2], why: &'static str) -> Contrast {
    let counts = rates.map(|Rate { count, .. }| Rate { count, rate: None, low: 0.0, high: 1.0 });
    Contrast { not_comparable: Some(why), ..unknown(name, class, counts) }
}

/// How rates of two campaigns are set against each other.
struct Pairs {
    exact: [bool; 2],
    landed: [u64; 2],
    level: Confidence,
    /// Whether runs of one of them are undecided.
    is_undecided: bool,
    /// Why kinds of silent corruptions are not compared, if they are not.
    other_judging: Option<OtherJudging>,
}

impl Pairs {
    fn outcomes(&self, a: &Report, b: &Report) -> Vec<Contrast> {
        let (of_a, of_b) = (&a.summary.outcomes, &b.summary.outcomes);
        let classes = [("masked", of_a.masked, of_b.masked), ("sdc", of_a.sdc, of_b.sdc), ("due", of_a.due, of_b.due)];
        self.adjusted(classes.map(|(class, a, b)| self.contrast("all", class, [a, b], self.landed)).into())
    }

    fn kinds(&self, a: &Report, b: &Report) -> Vec<Contrast> {
        let of = |report: &Report| -> BTreeMap<(String, String), Rate> {
            report.kinds.iter().map(|kind| ((kind.class.clone(), kind.kind.clone()), kind.share)).collect()
        };
        let (of_a, of_b) = (of(a), of(b));
        let mut keys: Vec<&(String, String)> = of_a.keys().chain(of_b.keys()).collect();
        keys.sort();
        keys.dedup();
        let contrast = |key: &&(String, String)| {
            let rates = [(&of_a, 0), (&of_b, 1)]
                .map(|(rates, side)| rates.get(key).copied().unwrap_or_else(|| self.none(side)));
            match self.other_judging.filter(|_| key.0 == Class::Sdc.word()) {
                Some(why) => incomparable(&key.1, &key.0, rates, why.words()),
                None => self.contrast(&key.1, &key.0, rates, self.landed),
            }
        };
        let contrasts = keys.iter().map(contrast).filter(|contrast| contrast.a.count + contrast.b.count > 0);
        self.adjusted(contrasts.collect())
    }

    /// The rate of a kind that a campaign has never heard of.
    fn none(&self, side: usize) -> Rate {
        let known = (self.landed[side] > 0).then_some(0.0);
        let interval = Proportion::from_counts(0, self.landed[side]).wilson(self.level);
        let high = if self.exact[side] { known.unwrap_or(1.0) } else { interval.high };
        Rate { count: 0, rate: known, low: 0.0, high }
    }

    /// SDC and DUE of the parts that both have.
    fn parts(&self, a: &BTreeMap<String, &RateAccount>, b: &BTreeMap<String, &RateAccount>) -> Vec<Contrast> {
        let both = a.iter().filter_map(|(name, account)| Some((name, *account, *b.get(name)?)));
        let landed = |account: &RateAccount| account.runs - account.not_landed - account.failed;
        let (mut sdc, mut due) = (Vec::new(), Vec::new());
        for (name, a, b) in both {
            let landed = [landed(a), landed(b)];
            sdc.push(self.contrast(name, "sdc", [a.outcomes.sdc, b.outcomes.sdc], landed));
            due.push(self.contrast(name, "due", [a.outcomes.due, b.outcomes.due], landed));
        }
        sdc.append(&mut due);
        self.adjusted(sdc)
    }

    fn contrast(&self, name: &str, class: &str, [a, b]: [Rate; 2], landed: [u64; 2]) -> Contrast {
        let mut contrast = unknown(name, class, [a, b]);
        if self.is_undecided {
            contrast.not_comparable = Some("runs are undecided");
            return contrast;
        }
        let (Some(first), Some(second)) = (a.rate, b.rate) else { return contrast };
        let (mut found, mut low, mut high) = (second - first, b.low - first, b.high - first);
        if self.exact == [false, false] {
            let of = |rate: Rate, landed: u64| Proportion::from_counts(rate.count, landed.saturating_sub(rate.count));
            if let Some(difference) = difference(of(a, landed[0]), of(b, landed[1]), self.level) {
                (found, low, high) = (difference.estimate, difference.low, difference.high);
                contrast.p_value = Some(difference.p_value);
            }
        } else if self.exact == [false, true] {
            (low, high) = (second - a.high, second - a.low);
        }
        contrast.clear = low > 0.0 || high < 0.0;
        (contrast.difference, contrast.low, contrast.high) = (Some(found), Some(low), Some(high));
        contrast
    }

    /// Adjusts the tests of a list for each other.
    fn adjusted(&self, mut contrasts: Vec<Contrast>) -> Vec<Contrast> {
        let p_values: Vec<f64> = contrasts.iter().filter_map(|contrast| contrast.p_value).collect();
        let tested = contrasts.iter_mut().filter(|contrast| contrast.p_value.is_some());
        for (contrast, adjusted) in tested.zip(holm(&p_values)) {
            contrast.adjusted = Some(adjusted);
            contrast.clear = adjusted < self.level.alpha();
        }
        contrasts
    }
}
