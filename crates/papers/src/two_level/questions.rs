//! Every test that the page makes, corrected together by Holm's procedure.

use methods::two_level::{IpaTable, OutcomeCounts};
use stats::{holm, homogeneity};

use super::survey::Measured;
use super::tables::ends_of;

/// The chance of even one false alarm on the page, at most.
pub(super) const LEVEL: f64 = 0.05;

/// Two manifestations in one type of one workload.
pub(super) struct Compared {
    /// The SDC rate of the second less that of the first.
    pub(super) difference: f64,
    p: usize,
}

/// All tests.
pub(super) struct Questions {
    /// One bit and two bits.
    pub(super) two_bits: Vec<Compared>,
    /// One bit and a random value.
    pub(super) random: Vec<Compared>,
    /// Two bits and a random value.
    pub(super) random_or_two: Vec<Compared>,
    /// By workload: do its types differ in how one bit ends?
    types: Vec<usize>,
    /// By type: do workloads differ?
    workloads: Vec<usize>,
    corrected: Vec<f64>,
}

fn sum(counts: [u64; 3]) -> f64 {
    counts.iter().sum::<u64>().max(1) as f64
}

fn counts(ends: OutcomeCounts) -> [u64; 3] {
    [ends.masked, ends.sdc, ends.due]
}

impl Questions {
    /// Asks all of them.
    pub(super) fn of(all: &[Measured], ipa: &IpaTable) -> Self {
        let mut p = Vec::new();
        let mut asked = |value: f64| {
            p.push(value);
            p.len() - 1
        };
        let manifestation = |name: &str| ipa.manifestations.iter().position(|it| it.name == name).unwrap_or(usize::MAX);
        let [one, two, random] = ["1 bit", "2 bits", "3+ bits"].map(manifestation);
        let mut compare = |first: usize, second: usize| -> Vec<Compared> {
            let types = 0..ipa.instructions.len();
            let pairs = all.iter().flat_map(|it| types.clone().map(move |number| (it, number)));
            let compared = pairs.filter_map(|(it, number)| {
                // Where two bits cannot flip, the destination is a predicate, and another value the same as one bit, or none.
                ends_of(it, number, two)?;
                let rows = [ends_of(it, number, first)?, ends_of(it, number, second)?].map(counts);
                let difference = rows[1][1] as f64 / sum(rows[1]) - rows[0][1] as f64 / sum(rows[0]);
                let p = homogeneity(&[&rows[0], &rows[1]]).map_or(1.0, |found| found.test.p);
                Some(Compared { difference, p: asked(p) })
            });
            compared.collect()
        };
        let two_bits = compare(one, two);
        let (random_or_two, random) = (compare(two, random), compare(one, random));
        let rows_of = |it: &Measured| -> Vec<[u64; 3]> {
            (0..ipa.instructions.len()).filter_map(|number| ends_of(it, number, one)).map(counts).collect()
        };
        let mut alike = |rows: Vec<[u64; 3]>| {
            let rows: Vec<&[u64]> = rows.iter().map(|row| &row[..]).collect();
            homogeneity(&rows).map(|found| asked(found.test.p))
        };
        let types = all.iter().filter_map(|it| alike(rows_of(it))).collect();
        let of_type = |number: usize| all.iter().filter_map(|it| ends_of(it, number, one)).map(counts).collect();
        let workloads = (0..ipa.instructions.len()).filter_map(|number| alike(of_type(number))).collect();
        let corrected = holm(&p);
        Self { two_bits, random, random_or_two, types, workloads, corrected }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.corrected.len()
    }

    fn sure(&self, question: usize) -> bool {
        self.corrected[question] < LEVEL
    }

    /// In how many of the pairs the two differ beyond chance.
    pub(super) fn differing(&self, pairs: &[Compared]) -> usize {
        pairs.iter().filter(|pair| self.sure(pair.p)).count()
    }

    /// Workloads whose types differ beyond chance, of how many.
    pub(super) fn types(&self) -> (usize, usize) {
        (self.types.iter().filter(|&&question| self.sure(question)).count(), self.types.len())
    }

    /// Types in which workloads differ beyond chance, of how many.
    pub(super) fn workloads(&self) -> (usize, usize) {
        (self.workloads.iter().filter(|&&question| self.sure(question)).count(), self.workloads.len())
    }
}

/// The mean of the absolute differences.
pub(super) fn mean_difference(pairs: &[Compared]) -> f64 {
    pairs.iter().map(|pair| pair.difference.abs()).sum::<f64>() / pairs.len().max(1) as f64
}
