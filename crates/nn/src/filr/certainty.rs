//! How certain a network is of its class, and from which threshold on an inference is run again.

use serde::Serialize;

use crate::arithmetic::Quantisation;

/// The number of the last threshold: thresholds are 0, 0.01 and so on to 1.
pub const LAST_STEP: usize = 100;

/// What decides whether an inference is run again: it is where this lies below a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The softmax of the class.
    Top1Conf,
    /// The softmax of the class, less that of the second.
    Top2Diff,
}

/// Of which run a criterion is read to decide whether an SDC is in an inference that is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Of the run without the fault, as the thesis does.
    FaultFree,
    /// Of the run with the fault, which is what a deployed check sees.
    Faulty,
}

impl Reading {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::FaultFree => "the fault-free run",
            Self::Faulty => "the faulty run",
        }
    }
}

/// The two readings, that of the thesis first.
pub const READINGS: [Reading; 2] = [Reading::FaultFree, Reading::Faulty];

/// How certain a run is, each number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// The largest softmax.
    pub top1conf: f64,
    /// The largest softmax less the second.
    pub top2diff: f64,
}

impl Certainty {
    /// That of logits, in 64 bits over their values.
    #[must_use]
    pub fn of(logits: &[u8], quantisation: Quantisation) -> Self {
        let values = values(logits, quantisation);
        let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for &value in &values {
            (first, second) = if value > first { (value, first) } else { (first, second.max(value)) };
        }
        let all: f64 = values.iter().map(|value| (value - first).exp()).sum();
        Self { top1conf: 1.0 / all, top2diff: (1.0 - (second - first).exp()) / all }
    }

    /// What a criterion reads.
    #[must_use]
    pub fn read(self, criterion: Criterion) -> f64 {
        match criterion {
            Criterion::Top1Conf => self.top1conf,
            Criterion::Top2Diff => self.top2diff,
        }
    }

    /// The first threshold, by number, at which the inference is run again; one more than the last if it never is.
    #[must_use]
    pub fn first_step(self, criterion: Criterion) -> usize {
        let value = self.read(criterion);
        // One below what it should be, so that rounding makes no difference.
        let mut step = ((value * LAST_STEP as f64) as usize).saturating_sub(1);
        while step <= LAST_STEP && value >= threshold(step) {
            step += 1;
        }
        step
    }
}

/// The threshold of a number.
#[must_use]
pub fn threshold(step: usize) -> f64 {
    step as f64 / LAST_STEP as f64
}

/// The cross entropy of logits to a label, in 64 bits over their values.
#[must_use]
pub fn cross_entropy(logits: &[u8], quantisation: Quantisation, label: usize) -> f64 {
    let values = values(logits, quantisation);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all: f64 = values.iter().map(|value| (value - largest).exp()).sum();
    all.ln() + largest - values.get(label).copied().unwrap_or(largest)
}

fn values(logits: &[u8], quantisation: Quantisation) -> Vec<f64> {
    logits.iter().map(|&logit| f64::from(quantisation.value(logit))).collect()
}
