//! Every test that the page makes, and what its p-value is among so many.
//!
//! The p-values of all tests of the page are raised together by Holm's procedure ([`stats::holm`]): the chance that even one of them is
//! called significant where nothing is, is at most [`LEVEL`].

use methods::gpu_qin::studies::{LEVEL, MixPoint, Model, Spread, models};
use methods::gpu_qin::{Cause, WINDOW};
use stats::{RankComparison, holm, ranks};
use std::collections::BTreeMap;

use super::errors::{Rate, bias, capped, chance, variant};
use super::survey::{CAPS, MeasuredKernel, Variant};

/// Crashes of a cause that latencies are compared from.
pub const LEAST_CRASHES: usize = 20;

/// A question that a test answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Is the method off in a rate of a kernel?
    Bias(&'static str, Rate),
    /// Do its realisations spread by more than chance?
    Spread(&'static str, Rate),
    /// Does a heuristic, by its number among [`Variant::ALL`], change a rate of a kernel?
    Heuristic(&'static str, usize, Rate),
    /// Does a cap change a rate of a kernel?
    Cap(&'static str, u32, Rate),
    /// Do the groups of a kernel differ?
    Between(&'static str),
    /// Do threads within the groups of a kernel differ?
    Within(&'static str),
    /// Is one exception of a kernel sooner than another?
    Sooner(&'static str, String, String),
    /// Does the instruction mix say anything of a rate?
    Model(&'static str, &'static str),
}

/// The tests of the page.
pub struct Questions {
    corrected: BTreeMap<Question, f64>,
}

impl Questions {
    /// All of them.
    #[must_use]
    pub fn of(kernels: &[MeasuredKernel]) -> Self {
        let mut asked: BTreeMap<Question, f64> = kernels.iter().flat_map(of_kernel).collect();
        asked.extend(mix_models(kernels).iter().filter_map(|model| {
            let fit = model.fit.as_ref()?;
            Some((Question::Model(model.rate, model.variables), fit.p))
        }));
        let raised = holm(&asked.values().copied().collect::<Vec<_>>());
        Self { corrected: asked.into_keys().zip(raised).collect() }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.corrected.len()
    }

    /// The p-value of a question among all; none if it was not asked.
    #[must_use]
    pub fn p(&self, question: &Question) -> Option<f64> {
        self.corrected.get(question).copied()
    }

    /// Whether a question is answered with yes.
    #[must_use]
    pub fn is_sure(&self, question: &Question) -> bool {
        self.p(question).is_some_and(|p| p < LEVEL)
    }
}

fn of_kernel(it: &MeasuredKernel) -> Vec<(Question, f64)> {
    let name = it.paper.name;
    let mut asked = Vec::new();
    for rate in Rate::ALL {
        if let Some(error) = bias(it, rate) {
            asked.push((Question::Bias(name, rate), error.p()));
            asked.push((Question::Spread(name, rate), error.found.spread_test(chance(it, rate))));
        }
        for (number, heuristic) in Variant::ALL.into_iter().enumerate() {
            let error = variant(it, heuristic, rate);
            asked.extend(error.map(|error| (Question::Heuristic(name, number, rate), error.p())));
        }
        for cap in CAPS.into_iter().filter(|_| !it.caps.is_empty()) {
            let error = capped(it, cap, rate);
            asked.extend(error.map(|error| (Question::Cap(name, cap, rate), error.p())));
        }
    }
    let spread = spread(it);
    asked.extend(spread.between.map(|between| (Question::Between(name), between.p)));
    asked.extend(spread.within.map(|within| (Question::Within(name), within.p)));
    for (first, second, found) in latencies(it) {
        asked.push((Question::Sooner(name, first.trap.clone(), second.trap.clone()), found.p));
    }
    asked
}

/// How the trials of a kernel spread between its groups and within them.
#[must_use]
pub fn spread(it: &MeasuredKernel) -> Spread {
    Spread::of(&it.activated(Some(WINDOW)))
}

/// Pairs of causes of a kernel with enough crashes each, the more frequent first, and which is sooner.
#[must_use]
pub fn latencies(it: &MeasuredKernel) -> Vec<(&Cause, &Cause, RankComparison)> {
    let causes: Vec<&Cause> = it.causes.iter().filter(|cause| cause.latencies.len() >= LEAST_CRASHES).collect();
    let pairs = causes.iter().enumerate().flat_map(|(at, &first)| causes[at + 1..].iter().map(move |&it| (first, it)));
    pairs.filter_map(|(first, second)| Some((first, second, ranks(&first.latencies, &second.latencies)?))).collect()
}

/// Models of rates by the mix of instructions.
#[must_use]
pub fn mix_models(kernels: &[MeasuredKernel]) -> Vec<Model> {
    let point = |it: &MeasuredKernel| MixPoint {
        kernel: it.paper.name.to_owned(),
        class: String::new(),
        mix: it.mix,
        sdc: it.rates().sdc,
        crash: it.rates().crash,
        undecided: 0,
    };
    models(&kernels.iter().map(point).collect::<Vec<_>>())
}
