//! Error sites by their class of outcome in truth and by the class that they are told to have.

use serde_json::{Map, Value, json};

use super::counts::CLASSES;

/// Classes of outcomes that are learned: masked, SDC, DUE.
pub(super) const LEARNED: usize = 3;

/// Sites by class of outcome in truth and as told; expected numbers where pilots are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Judgements {
    told: [[f64; LEARNED]; LEARNED],
    /// Sites of which nothing is told, by class in truth.
    missed: [f64; LEARNED],
}

impl Judgements {
    /// Adds sites of a class that are told to be of a class.
    pub(super) fn tell(&mut self, truth: usize, told: usize, sites: f64) {
        self.told[truth][told] += sites;
    }

    /// Adds sites of a class of which nothing is told.
    pub(super) fn miss(&mut self, truth: usize, sites: f64) {
        self.missed[truth] += sites;
    }

    /// Adds other sites.
    pub(super) fn add(&mut self, other: &Self) {
        for (truth, (told, missed)) in other.told.iter().zip(other.missed).enumerate() {
            told.iter().enumerate().for_each(|(class, sites)| self.tell(truth, class, *sites));
            self.miss(truth, missed);
        }
    }

    /// The sites.
    pub(super) fn sites(&self) -> f64 {
        self.told.iter().flatten().chain(&self.missed).sum()
    }

    /// The sites that are told rightly.
    pub(super) fn right(&self) -> f64 {
        (0..LEARNED).map(|class| self.told[class][class]).sum()
    }

    /// The share of the sites that is told rightly.
    pub(super) fn accuracy(&self) -> Option<f64> {
        share(self.right(), self.sites())
    }

    /// Of the sites of a class, the share that is told rightly.
    pub(super) fn recall(&self, class: usize) -> Option<f64> {
        share(self.told[class][class], self.of_class(class))
    }

    /// The sites of a class in truth.
    pub(super) fn of_class(&self, class: usize) -> f64 {
        self.told[class].iter().sum::<f64>() + self.missed[class]
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let words = || CLASSES.iter().take(LEARNED).map(|class| class.word().to_owned());
        let recalls: Map<String, Value> = words().zip((0..LEARNED).map(|class| self.recall(class).into())).collect();
        let told: Map<String, Value> = words().zip(self.told.iter().map(|of| json!(of))).collect();
        json!({ "accuracy": self.accuracy(), "recall": recalls, "told": told })
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
