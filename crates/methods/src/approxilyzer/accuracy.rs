//! How many error sites random pilots judge rightly, where the outcomes of all sites are known.

use outcome::{Class, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use study::Cell;

use super::agreement::{self, AGREEMENTS};
use super::ends::SiteEnd;

/// Classes, and how alike their sites are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClassAccount {
    /// How many classes there are.
    pub(super) classes: u64,
    /// How many pilots they take: one for each bit.
    pub(super) pilots: u64,
    /// How alike the sites are.
    pub(super) accuracy: Accuracy,
}

/// How many sites a random pilot judges rightly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accuracy {
    /// The sites.
    pub(super) sites: u64,
    /// The expected number of sites whose pilot has their class of outcome.
    pub(super) right_class: f64,
    /// The expected number of sites whose pilot has their whole outcome.
    pub(super) right_outcome: f64,
    /// The expected numbers of sites whose pilot predicts them, by agreement.
    pub(super) agreed: [f64; 9],
    /// The sites of classes in which all have one class of outcome.
    pub(super) pure_class: u64,
    /// The sites of classes in which all have one whole outcome.
    pub(super) pure_outcome: u64,
}

impl ClassAccount {
    /// Adds other classes.
    pub(super) fn add(&mut self, other: &Self) {
        self.classes += other.classes;
        self.pilots += other.pilots;
        self.accuracy.add(&other.accuracy);
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let mut document = self.accuracy.document();
        document["classes"] = json!(self.classes);
        document["pilots"] = json!(self.pilots);
        document
    }
}

impl Accuracy {
    /// Adds the sites of a class and bit, by outcome.
    pub(super) fn add_counts(&mut self, outcomes: &[Outcome], counts: &[u32]) {
        let sites: u64 = counts.iter().copied().map(u64::from).sum();
        let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
        let mut by_end: BTreeMap<SiteEnd, u64> = BTreeMap::new();
        for (outcome, &count) in outcomes.iter().zip(counts).filter(|(_, count)| **count > 0) {
            *by_class.entry(outcome.class()).or_default() += u64::from(count);
            *by_end.entry(SiteEnd::from(*outcome)).or_default() += u64::from(count);
        }
        // Products stay exact: sums of products of whole numbers.
        let share = |pairs: u128| if sites == 0 { 0.0 } else { pairs as f64 / sites as f64 };
        let squares = |counts: &mut dyn Iterator<Item = u64>| counts.map(|count| u128::from(count).pow(2)).sum();
        let pure = |is: bool| if is { sites } else { 0 };
        self.sites += sites;
        self.right_class += share(squares(&mut by_class.values().copied()));
        self.right_outcome += share(squares(&mut counts.iter().copied().map(u64::from)));
        self.pure_class += pure(by_class.values().any(|&count| count == sites));
        self.pure_outcome += pure(counts.iter().any(|&count| u64::from(count) == sites));
        for (agreement, agreed) in AGREEMENTS.iter().zip(&mut self.agreed) {
            let predicted = |pilot: SiteEnd| {
                by_end.iter().filter(|(end, _)| agreement.holds(pilot, **end)).map(|(_, sites)| sites).sum::<u64>()
            };
            let pairs = by_end.iter().map(|(end, sites)| u128::from(*sites) * u128::from(predicted(*end)));
            *agreed += share(pairs.sum());
        }
    }

    /// Adds other sites.
    pub(super) fn add(&mut self, other: &Self) {
        self.sites += other.sites;
        self.right_class += other.right_class;
        self.right_outcome += other.right_outcome;
        self.pure_class += other.pure_class;
        self.pure_outcome += other.pure_outcome;
        self.agreed.iter_mut().zip(other.agreed).for_each(|(sum, agreed)| *sum += agreed);
    }

    /// A number of sites as a share of all; none if there are none.
    pub(super) fn share(&self, sites: f64) -> Option<f64> {
        (self.sites > 0).then(|| sites / self.sites as f64)
    }

    /// The shares that are judged rightly by class and by whole outcome, and that of pure classes.
    pub(super) fn shares(&self) -> [Option<f64>; 3] {
        [self.right_class, self.right_outcome, self.pure_class as f64].map(|sites| self.share(sites))
    }

    /// The expected number of sites whose class of outcome is judged wrongly.
    pub(super) fn wrong(&self) -> f64 {
        self.sites as f64 - self.right_class
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        json!({
            "sites": self.sites,
            "right_class": self.share(self.right_class),
            "right_outcome": self.share(self.right_outcome),
            "pure_class": self.share(self.pure_class as f64),
            "pure_outcome": self.share(self.pure_outcome as f64),
            "accuracy": agreement::document(&self.agreed, |agreed| json!(self.share(*agreed))),
        })
    }
}

/// A share as a cell of a table.
pub(super) fn cell(share: Option<f64>) -> Cell {
    share.map_or(Cell::None, Cell::Share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::{Due, Masked, Sdc};

    #[test]
    fn a_random_pilot_is_right_about_the_sum_of_the_squares_of_the_shares() {
        let outcomes = [
            Outcome::Masked(Masked::Logical),
            Outcome::Sdc(Sdc::Good),
            Outcome::Sdc(Sdc::Bad),
            Outcome::Due(Due::Hang),
        ];
        let mut accuracy = Accuracy::default();
        accuracy.add_counts(&outcomes, &[3, 1, 0, 0]);
        assert_eq!((accuracy.right_class, accuracy.right_outcome, accuracy.pure_class), (2.5, 2.5, 0));
        // Masked and good are the same for both purposes.
        assert_eq!([0, 3, 6].map(|of| accuracy.agreed[of]), [2.5, 4.0, 4.0]);
        accuracy.add_counts(&outcomes, &[0, 1, 1, 0]);
        assert_eq!((accuracy.right_class, accuracy.right_outcome), (4.5, 3.5));
        assert_eq!((accuracy.sites, accuracy.pure_class, accuracy.pure_outcome), (6, 2, 0));
        accuracy.add_counts(&outcomes, &[0, 0, 0, 7]);
        assert_eq!((accuracy.sites, accuracy.pure_class, accuracy.pure_outcome), (13, 9, 7));
        assert_eq!(accuracy.share(accuracy.right_class), Some(11.5 / 13.0));
    }
}
