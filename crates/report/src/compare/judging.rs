//! Whether two campaigns mean the same by good and bad. A corruption that nobody has judged is neither, so that kinds of
//! silent corruptions are compared only where both campaigns have the same criteria, or none.

use crate::document::Report;

/// Why the kinds of silent corruptions of two campaigns are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherJudging {
    FirstUnjudged,
    SecondUnjudged,
    OtherCriteria,
}

impl OtherJudging {
    /// How corruptions were judged otherwise in `b` than in `a`; `None` where they were judged alike.
    pub(super) fn of(a: &Report, b: &Report) -> Option<Self> {
        let [first, second] = [a, b].map(|report| report.summary.config.is_judged());
        match (first, second) {
            _ if a.summary.config.is_judged_like(&b.summary.config) => None,
            (true, false) => Some(Self::SecondUnjudged),
            (false, true) => Some(Self::FirstUnjudged),
            _ => Some(Self::OtherCriteria),
        }
    }

    /// In a few words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::FirstUnjudged => "A was not judged",
            Self::SecondUnjudged => "B was not judged",
            Self::OtherCriteria => "criteria differ",
        }
    }

    fn sentence(self) -> String {
        let unjudged = |which: &str| {
            format!(
                "The {which} campaign was not judged: nothing says which of its corrupted outputs are good, so that kinds \
                 of SDC are not compared."
            )
        };
        match self {
            Self::FirstUnjudged => unjudged("first"),
            Self::SecondUnjudged => unjudged("second"),
            Self::OtherCriteria => {
                "The criteria of outputs are not the same: good and bad mean something else in each campaign, so that kinds \
                 of SDC are not compared."
                    .to_owned()
            }
        }
    }
}

/// What is to be said of it, in sentences.
pub(super) fn warnings(a: &Report, b: &Report) -> Vec<String> {
    let mut warnings: Vec<String> = OtherJudging::of(a, b).map(OtherJudging::sentence).into_iter().collect();
    if a.summary.config.live.judge != b.summary.config.live.judge {
        let text = "The judges of live runs are not the same: what one accepts may count as masked, so that the rates of \
                    masked and SDC differ by that as well.";
        warnings.push(text.to_owned());
    }
    warnings
}
