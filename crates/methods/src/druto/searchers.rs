//! The table of searchers.

use space::{Point, Space};

use super::genetic::Genetic;
use super::searcher::Searcher;
use super::tpe::Tpe;

/// The values that a searcher is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guidance {
    /// Those of the objective that the user chooses.
    Objective,
    /// Rates that are measured by faults, also where the objective is the proxy.
    Measured,
    /// The expected rate by the probabilities of static instructions.
    Expected,
    /// The rate that the model without injections predicts.
    Predicted,
}

/// A searcher as the table has it.
pub(super) struct SearcherOffer {
    /// Its name.
    pub(super) name: &'static str,
    /// How it chooses, in a line.
    pub(super) about: &'static str,
    /// The values that it is told.
    pub(super) guidance: Guidance,
    /// Makes one for a space with a seed.
    pub(super) make: fn(&Space, u64) -> Box<dyn Searcher>,
}

/// The searchers; the others are compared with the first.
pub(super) const SEARCHERS: [SearcherOffer; 5] = [
    SearcherOffer {
        name: "random",
        about: "random inputs, each measured by faults",
        guidance: Guidance::Measured,
        make: |space, seed| Box::new(RandomPoints { space: space.clone(), seed, next: 0 }),
    },
    SearcherOffer {
        name: "druto",
        about: "the genetic search of the paper, by the objective",
        guidance: Guidance::Objective,
        make: |space, seed| Box::new(Genetic::new(space, seed)),
    },
    SearcherOffer {
        name: "peppa-x",
        about: "the genetic search, by the SDC probabilities of static instructions in the reference",
        guidance: Guidance::Expected,
        make: |space, seed| Box::new(Genetic::new(space, seed)),
    },
    SearcherOffer {
        name: "trident",
        about: "the genetic search, by the rate that the model of `beamline predict` expects without faults",
        guidance: Guidance::Predicted,
        make: |space, seed| Box::new(Genetic::new(space, seed)),
    },
    SearcherOffer {
        name: "tpe",
        about: "a tree-structured Parzen estimator, by the objective",
        guidance: Guidance::Objective,
        make: |space, seed| Box::new(Tpe::new(space, seed)),
    },
];

/// Inputs of a batch of random ones. It matters only where a batch is measured by halving.
const BATCH: u64 = 20;

/// Random points, one after the other.
struct RandomPoints {
    space: Space,
    seed: u64,
    /// The number of the next one.
    next: u64,
}

impl Searcher for RandomPoints {
    fn ask(&mut self) -> Vec<Point> {
        self.next += BATCH;
        (self.next - BATCH..self.next).map(|number| self.space.draw(self.seed, number)).collect()
    }
}
