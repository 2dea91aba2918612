//! What the rows of a campaign come to, by region.

use campaign::{Finding, Results, Site, StoreError};
use outcome::{Class, End, Observation};
use stats::{Confidence, Interval, Proportion};
use std::collections::BTreeMap;

use super::target::region_of;

/// What faults in a region came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionTally {
    /// Runs whose outputs were right, or that changed nothing.
    pub masked: u64,
    /// Silent data corruptions.
    pub sdc: u64,
    /// Runs that ended otherwise.
    pub due: u64,
    /// Runs of which it is not known what the application would have done.
    pub undecided: u64,
    /// Runs that came to no class: they failed, or nothing landed.
    pub lost: u64,
    /// Of each SDC, the elements of all outputs that differ.
    pub corrupted: Vec<u64>,
    /// Of each SDC, the sum of the absolute errors of all elements; infinite where one is no finite number.
    pub errors: Vec<f64>,
    /// Elements of all outputs.
    pub elements: u64,
}

/// What a campaign came to, by region.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// By the names of the regions.
    pub regions: BTreeMap<String, RegionTally>,
}

impl Tally {
    /// Counts rows.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of(results: &Results) -> Result<Self, StoreError> {
        Self::by(results, &|site| vec![region_of(site).to_owned()])
    }

    /// Counts each row under all names that its site has.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn by(results: &Results, names: &dyn Fn(&Site) -> Vec<String>) -> Result<Self, StoreError> {
        let mut tally = Self::default();
        results.visit(&mut |row| {
            for name in names(&row.site) {
                let region = tally.regions.entry(name).or_default();
                match &row.finding {
                    Finding::Seen { observation, outcome, .. } => region.add(observation, outcome.class()),
                    _ => region.lost += 1,
                }
            }
        })?;
        Ok(tally)
    }

    /// What faults in a region came to; nothing where there were none.
    #[must_use]
    pub fn region(&self, name: &str) -> &RegionTally {
        self.regions.get(name).unwrap_or(&NONE)
    }
}

/// What no runs come to.
static NONE: RegionTally = RegionTally {
    masked: 0,
    sdc: 0,
    due: 0,
    undecided: 0,
    lost: 0,
    corrupted: Vec::new(),
    errors: Vec::new(),
    elements: 0,
};

impl RegionTally {
    fn add(&mut self, seen: &Observation, class: Class) {
        match class {
            Class::Masked => self.masked += 1,
            Class::Due => self.due += 1,
            Class::Undecided => self.undecided += 1,
            Class::NotLanded | Class::Failed => self.lost += 1,
            Class::Sdc => {
                self.sdc += 1;
                if seen.end == End::Completed {
                    self.corrupted.push(seen.outputs.iter().map(|output| output.differing).sum());
                    self.errors.push(seen.outputs.iter().map(|output| output.sum_abs.unwrap_or(f64::NAN)).sum());
                }
            }
        }
        self.elements = self.elements.max(seen.outputs.iter().map(|output| output.elements).sum());
    }

    /// The share of so many of its runs that ended in a way, with Wilson's interval at 95 %; the upper bound is that of the share
    /// if all that is undecided had ended so.
    #[must_use]
    pub fn rate(&self, count: u64) -> (Option<f64>, Interval) {
        self.share(count, count + self.undecided)
    }

    /// The share of at least and at most so many of its runs.
    pub(super) fn share(&self, count: u64, most: u64) -> (Option<f64>, Interval) {
        let of = |count: u64| Proportion::from_counts(count, self.runs() - count);
        let (low, high) = (of(count).wilson(Confidence::PERCENT_95).low, of(most).wilson(Confidence::PERCENT_95).high);
        (of(count).rate(), Interval { low, high })
    }

    /// Runs with a class.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.masked + self.sdc + self.due + self.undecided
    }

    /// The least, the quartiles and the largest of the numbers of corrupted elements; none without an SDC.
    #[must_use]
    pub fn corrupted_quartiles(&self) -> Option<[f64; 5]> {
        quartiles(self.corrupted.iter().map(|&count| count as f64).collect())
    }

    /// The mean absolute errors of its SDCs, over the elements that differ, as the paper has them.
    pub fn errors_of_corrupted(&self) -> impl Iterator<Item = f64> {
        self.errors.iter().zip(&self.corrupted).map(|(error, &count)| error / (count.max(1) as f64))
    }

    /// The same over all elements, the definition of Section 3.4.
    pub fn errors_of_all(&self) -> impl Iterator<Item = f64> {
        self.errors.iter().map(|error| error / (self.elements.max(1) as f64))
    }
}

/// The least, the quartiles (by linear interpolation) and the largest of some numbers.
#[must_use]
pub fn quartiles(mut of: Vec<f64>) -> Option<[f64; 5]> {
    of.sort_by(f64::total_cmp);
    let last = of.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let (below, above) = (of[place.floor() as usize], of[place.ceil() as usize]);
        if below == above { below } else { below + (above - below) * place.fract() }
    };
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_the_textbook() {
        assert_eq!(quartiles(vec![4.0, 1.0, 3.0, 2.0]), Some([1.0, 1.75, 2.5, 3.25, 4.0]));
        assert_eq!(quartiles(vec![7.0]), Some([7.0; 5]));
        assert_eq!(quartiles(vec![f64::INFINITY, f64::INFINITY, 1.0]).map(|it| it[2]), Some(f64::INFINITY));
        assert_eq!(quartiles(Vec::new()), None);
    }

    #[test]
    fn errors_are_means_over_all_and_over_what_differs() {
        let tally = RegionTally {
            sdc: 2,
            corrupted: vec![2, 1],
            errors: vec![3.0, 8.0],
            elements: 4,
            ..RegionTally::default()
        };
        assert_eq!(tally.errors_of_corrupted().collect::<Vec<_>>(), [1.5, 8.0]);
        assert_eq!(tally.errors_of_all().collect::<Vec<_>>(), [0.75, 2.0]);
    }
}
