//! What one output has to keep to: [`Quality`], in the words of `[quality.OUTPUT]` in a file and of
//! `--quality OUTPUT:key=value,…` on the command line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::observation::OutputDiff;
use crate::{UnknownWord, nearest, words};

words! {
    /// By which number a corrupted output is judged. All of them are in every observation.
    pub enum Metric ("metric") {
        /// The largest relative error of an element.
        MaxRel = "max-rel",
        /// The largest absolute error of an element.
        MaxAbs = "max-abs",
        /// The relative error of the whole, ‖found - golden‖₂ / ‖golden‖₂.
        RelL2 = "rel-l2",
        /// How many elements differ.
        Differing = "differing",
        /// The share of elements that differ.
        DifferingShare = "differing-share",
    }
}

words! {
    /// What the elements of an output are.
    pub enum Element ("element type") {
        /// An unsigned byte.
        U8 = "u8",
        /// A signed byte.
        S8 = "s8",
        /// 16 bits, unsigned.
        U16 = "u16",
        /// 16 bits, signed.
        S16 = "s16",
        /// 32 bits, unsigned.
        U32 = "u32",
        /// 32 bits, signed.
        S32 = "s32",
        /// 64 bits, unsigned.
        U64 = "u64",
        /// 64 bits, signed.
        S64 = "s64",
        /// IEEE half precision.
        F16 = "f16",
        /// The upper half of single precision.
        Bf16 = "bf16",
        /// IEEE single precision.
        F32 = "f32",
        /// IEEE double precision.
        F64 = "f64",
    }
}

/// What one output has to keep to, as written; a key that is left out says nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quality {
    /// The number that it is judged by; `max-rel` if not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// At most this is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// More than this is bad; what is neither good nor bad is maybe. The tolerance if not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad: Option<f64>,
    /// The number that `bad` bounds; `metric` if not said.
    #[serde(rename = "bad-metric", skip_serializing_if = "Option::is_none")]
    pub bad_metric: Option<Metric>,
    /// Bounds between tolerance and bad, ascending: a maybe has the number of those that it exceeds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<f64>,
    /// The number that `bins` divide; that of `bad` if not said.
    #[serde(rename = "bins-metric", skip_serializing_if = "Option::is_none")]
    pub bins_metric: Option<Metric>,
    /// The least and the largest value that an element may have: a check of the application would notice others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// What the elements are, whatever the capsule says or the program shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Element>,
}

/// The keys of [`Quality`].
pub const QUALITY_KEYS: [&str; 8] =
    ["metric", "tolerance", "bad", "bad-metric", "bins", "bins-metric", "range", "element"];

/// The most bounds that bins may have: an outcome has a code for each bin.
const MAX_BINS: usize = 127;

/// Why a quality cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QualityError {
    /// It is not written `OUTPUT:key=value,…`.
    #[error("read `{0}`: write OUTPUT:key=value,… such as out:metric=rel-l2,tolerance=1e-3")]
    Form(String),
    /// A key that means nothing.
    #[error("read `{pair}`: unknown key `{key}`; did you mean `{nearest}`?")]
    Key {
        /// Key and value.
        pair: String,
        /// The key.
        key: String,
        /// The key that it resembles most.
        nearest: &'static str,
    },
    /// A key twice.
    #[error("read `{0}`: its key was there before; say it once")]
    Twice(String),
    /// A value that its key cannot take.
    #[error("read `{pair}`: {expected}")]
    Value {
        /// Key and value.
        pair: String,
        /// What the value may be.
        expected: String,
    },
    /// A bound that is no distance.
    #[error("use {value} as `{key}`: an error is a number from 0")]
    Negative {
        /// The key.
        key: &'static str,
        /// The bound.
        value: f64,
    },
    /// What is good would be bad.
    #[error("call an error above {bad} bad and one up to {tolerance} good: `bad` must not be below `tolerance`")]
    Crossed {
        /// The tolerance.
        tolerance: f64,
        /// The bound.
        bad: f64,
    },
    /// Bins without the bound that ends them.
    #[error("divide errors into bins without an end: say from where on they are `bad`")]
    Endless,
    /// Bins that do not lie as they should.
    #[error(
        "divide errors at {value}: `bins` ascend, and lie between {low} and {high}, neither included; \
         `tolerance` and `bad` are their ends if they are of the same metric"
    )]
    Bins {
        /// The first bound that does not fit.
        value: f64,
        /// The tolerance, or 0 if that is of another metric.
        low: f64,
        /// The error from which on outputs are bad, or infinity if that is of another metric.
        high: f64,
    },
    /// A metric without its bound.
    #[error("use `{key}` without `{bound}`: say `{bound}`, too, or leave `{key}` out")]
    Unbounded {
        /// The key of the metric.
        key: &'static str,
        /// The key of the bound.
        bound: &'static str,
    },
    /// More bins than have names.
    #[error("divide errors at {0} bounds: at most {MAX_BINS} are told apart")]
    TooMany(usize),
    /// A range without anything in it.
    #[error("use {low}..{high} as a range: write the least value first")]
    Range {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
}

impl Quality {
    /// Whether it says by what the output is judged.
    #[must_use]
    pub fn judges(&self) -> bool {
        let metrics = [self.metric, self.bad_metric, self.bins_metric];
        let bounds = [self.tolerance, self.bad];
        metrics.iter().any(Option::is_some) || bounds.iter().any(Option::is_some) || !self.bins.is_empty()
    }

    /// The metrics of what is good, of what is bad, and of bins.
    pub(crate) fn metrics(&self) -> [Metric; 3] {
        let good = self.metric.unwrap_or(Metric::MaxRel);
        let bad = self.bad.and(self.bad_metric).unwrap_or(good);
        [good, bad, self.bins_metric.filter(|_| !self.bins.is_empty()).unwrap_or(bad)]
    }

    /// Reads `OUTPUT:key=value,…`; the bounds of `bins` are divided by slashes, the ends of `range` by two dots.
    ///
    /// # Errors
    /// When it is not of this form, or a key or a value means nothing.
    pub fn parse(text: &str) -> Result<(String, Self), QualityError> {
        let form = || QualityError::Form(text.to_owned());
        // Values have no colon, names may.
        let (name, pairs) = text.rsplit_once(':').ok_or_else(form)?;
        let (mut quality, mut seen) = (Self::default(), Vec::new());
        for pair in pairs.split(',') {
            let (key, value) = pair.split_once('=').ok_or_else(form)?;
            if seen.contains(&key) {
                return Err(QualityError::Twice(pair.to_owned()));
            }
            seen.push(key);
            quality.set(pair, key.trim(), value.trim())?;
        }
        if name.is_empty() { Err(form()) } else { Ok((name.to_owned(), quality)) }
    }

    fn set(&mut self, pair: &str, key: &str, value: &str) -> Result<(), QualityError> {
        let wrong = |expected: String| QualityError::Value { pair: pair.to_owned(), expected };
        let number = |text: &str| {
            let expected = |_| wrong(format!("`{text}` is no number"));
            text.trim().parse::<f64>().map_err(expected)
        };
        match key {
            "metric" => self.metric = Some(word(value).map_err(wrong)?),
            "bad-metric" => self.bad_metric = Some(word(value).map_err(wrong)?),
            "bins-metric" => self.bins_metric = Some(word(value).map_err(wrong)?),
            "element" => self.element = Some(word(value).map_err(wrong)?),
            "tolerance" => self.tolerance = Some(number(value)?),
            "bad" => self.bad = Some(number(value)?),
            "bins" => self.bins = value.split('/').map(number).collect::<Result<_, _>>()?,
            "range" => {
                let ends = value.split_once("..");
                let (low, high) = ends.ok_or_else(|| wrong("write the range as LOW..HIGH, such as 0..1".to_owned()))?;
                self.range = Some([number(low)?, number(high)?]);
            }
            _ => {
                let (pair, key, nearest) = (pair.to_owned(), key.to_owned(), nearest(key, &QUALITY_KEYS));
                return Err(QualityError::Key { pair, key, nearest });
            }
        }
        Ok(())
    }

    /// Checks that the bounds make sense together; `fallback` is the tolerance where none is said here.
    pub(crate) fn check(&self, fallback: Option<f64>) -> Result<(), QualityError> {
        let negative = |value: &f64| value.is_nan() || *value < 0.0;
        for (key, value) in [("tolerance", self.tolerance), ("bad", self.bad)] {
            if let Some(value) = value.filter(negative) {
                return Err(QualityError::Negative { key, value });
            }
        }
        if let Some([low, high]) = self.range
            && (low.is_nan() || high.is_nan() || low > high)
        {
            return Err(QualityError::Range { low, high });
        }
        let unbounded = |key, bound| Err(QualityError::Unbounded { key, bound });
        let tolerance = self.tolerance.or(fallback).unwrap_or(0.0);
        let [good_metric, bad_metric, bins_metric] = self.metrics();
        match self.bad {
            _ if self.bins_metric.is_some() && self.bins.is_empty() => unbounded("bins-metric", "bins"),
            None if self.bad_metric.is_some() => unbounded("bad-metric", "bad"),
            Some(bad) if bad < tolerance && bad_metric == good_metric => Err(QualityError::Crossed { tolerance, bad }),
            Some(bad) => self.check_bins(
                if bins_metric == good_metric { tolerance } else { 0.0 },
                if bins_metric == bad_metric { bad } else { f64::INFINITY },
            ),
            None if self.bins.is_empty() => Ok(()),
            None => Err(QualityError::Endless),
        }
    }

    fn check_bins(&self, low: f64, high: f64) -> Result<(), QualityError> {
        if self.bins.len() > MAX_BINS {
            return Err(QualityError::TooMany(self.bins.len()));
        }
        let mut last = low;
        for &value in &self.bins {
            if value.is_nan() || value <= last || value >= high {
                return Err(QualityError::Bins { value, low, high });
            }
            last = value;
        }
        Ok(())
    }
}

impl fmt::Display for Quality {
    /// As [`parse`](Quality::parse) reads it behind the name of the output.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |numbers: &[f64], between: &str| {
            numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(between)
        };
        let number = |number: f64| joined(&[number], "");
        let word = |metric: Metric| metric.to_string();
        let pairs = [
            ("metric", self.metric.map(word)),
            ("tolerance", self.tolerance.map(number)),
            ("bad", self.bad.map(number)),
            ("bad-metric", self.bad_metric.map(word)),
            ("bins", (!self.bins.is_empty()).then(|| joined(&self.bins, "/"))),
            ("bins-metric", self.bins_metric.map(word)),
            ("range", self.range.map(|range| joined(&range, ".."))),
            ("element", self.element.map(|element| element.to_string())),
        ];
        let said = pairs.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        f.write_str(&said.collect::<Vec<_>>().join(","))
    }
}

impl Metric {
    /// The number that a difference has by this metric.
    #[must_use]
    pub fn of(self, diff: &OutputDiff) -> f64 {
        match self {
            Self::MaxRel => diff.max_rel,
            Self::MaxAbs => diff.max_abs,
            Self::RelL2 => diff.rel_l2,
            Self::Differing => diff.differing as f64,
            Self::DifferingShare => diff.differing as f64 / diff.elements.max(1) as f64,
        }
    }
}

/// A word of a list, or the list.
fn word<T: FromStr<Err = UnknownWord>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_says_what_a_file_says() {
        let line = "a:b:metric=rel-l2,tolerance=1e-3,bad=0.1,bins=0.01/0.05,range=-1..2.5,element=f32";
        let file =
            "metric = 'rel-l2'\ntolerance = 1e-3\nbad = 0.1\nbins = [0.01, 0.05]\nrange = [-1, 2.5]\nelement = 'f32'";
        let (name, quality) = Quality::parse(line).unwrap();
        assert_eq!(name, "a:b");
        assert_eq!(quality, toml::from_str(file).unwrap());
        assert_eq!(quality.check(None), Ok(()));
        assert_eq!(Quality::parse(&format!("a:b:{quality}")), Ok((name, quality)));
    }

    #[test]
    fn a_metric_of_its_own_for_bad_and_for_bins_is_read_back() {
        let line = "o:metric=max-abs,tolerance=1e-4,bad=1,bad-metric=max-rel,bins=1e-3/7,bins-metric=max-abs";
        let file = "metric = 'max-abs'\ntolerance = 1e-4\nbad = 1\nbad-metric = 'max-rel'\nbins = [1e-3, 7]\n\
                    bins-metric = 'max-abs'";
        let (name, quality) = Quality::parse(line).unwrap();
        assert_eq!(quality, toml::from_str(file).unwrap());
        assert_eq!(serde_json::from_str::<Quality>(&serde_json::to_string(&quality).unwrap()).unwrap(), quality);
        assert_eq!(Quality::parse(&format!("o:{quality}")), Ok((name, quality.clone())));
        assert_eq!(quality.metrics(), [Metric::MaxAbs, Metric::MaxRel, Metric::MaxAbs]);
        assert_eq!(quality.check(None), Ok(()));
        let old = Quality::parse("o:metric=rel-l2,bad=1").unwrap().1;
        assert_eq!(serde_json::to_string(&old).unwrap(), r#"{"metric":"rel-l2","bad":1.0}"#);
        assert_eq!(old.metrics(), [Metric::RelL2; 3]);
    }

    #[test]
    fn what_is_no_quality_is_answered_with_what_to_write() {
        let text = |line: &str| Quality::parse(line).unwrap_err().to_string();
        assert!(text("out").starts_with("read `out`: write OUTPUT:key=value,…"));
        assert!(text(":bad=1").starts_with("read `:bad=1`: write OUTPUT:key=value,…"));
        assert_eq!(text("out:metrik=rel-l2"), "read `metrik=rel-l2`: unknown key `metrik`; did you mean `metric`?");
        assert_eq!(text("out:bad=much"), "read `bad=much`: `much` is no number");
        assert_eq!(text("out:range=3"), "read `range=3`: write the range as LOW..HIGH, such as 0..1");
        assert_eq!(text("out:bad=1,bad=2"), "read `bad=2`: its key was there before; say it once");
        let metric = "read `metric=l2`: unknown metric `l2`: it is one of max-rel, max-abs, rel-l2, differing, ";
        assert!(text("out:metric=l2").starts_with(metric));
    }

    #[test]
    fn bounds_that_contradict_each_other_are_refused() {
        let check = |line: &str| Quality::parse(line).unwrap().1.check(None).unwrap_err();
        assert_eq!(check("o:tolerance=-1"), QualityError::Negative { key: "tolerance", value: -1.0 });
        assert!(matches!(check("o:bad=nan"), QualityError::Negative { key: "bad", .. }));
        assert_eq!(check("o:tolerance=1,bad=0.5"), QualityError::Crossed { tolerance: 1.0, bad: 0.5 });
        assert_eq!(check("o:bins=1"), QualityError::Endless);
        assert!(matches!(check("o:bad=1,bins=0.5/0.4"), QualityError::Bins { value: 0.4, .. }));
        assert!(matches!(check("o:tolerance=0.5,bad=1,bins=0.5"), QualityError::Bins { value: 0.5, .. }));
        assert!(matches!(check("o:bad=1,bins=1"), QualityError::Bins { value: 1.0, .. }));
        assert_eq!(check("o:range=1..0"), QualityError::Range { low: 1.0, high: 0.0 });
        // Bounds of different metrics have nothing to do with each other.
        let fits = |line: &str| Quality::parse(line).unwrap().1.check(None);
        assert_eq!(fits("o:metric=differing,tolerance=9,bad=1,bad-metric=max-rel,bins=0.5"), Ok(()));
        assert!(matches!(check("o:tolerance=9,bad=1,bad-metric=max-abs,bins=1"), QualityError::Bins { low: 0.0, .. }));
        let bins = check("o:tolerance=0.5,bad=1,bad-metric=max-abs,bins=0.5,bins-metric=max-rel");
        assert_eq!(bins, QualityError::Bins { value: 0.5, low: 0.5, high: f64::INFINITY });
        let unbounded = check("o:tolerance=1,bad-metric=max-abs");
        assert_eq!(unbounded, QualityError::Unbounded { key: "bad-metric", bound: "bad" });
        let unbounded = check("o:bad=1,bins-metric=max-abs");
        assert_eq!(unbounded, QualityError::Unbounded { key: "bins-metric", bound: "bins" });
        let many: Vec<String> = (1..=128).map(|n| n.to_string()).collect();
        assert_eq!(check(&format!("o:bad=1000,bins={}", many.join("/"))), QualityError::TooMany(128));
    }
}
