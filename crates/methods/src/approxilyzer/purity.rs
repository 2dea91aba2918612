//! How alike the sites of a class are, where an exhaustive campaign has run all of them.
//!
//! A pilot that is drawn uniformly from a class of n sites, of which a share p comes to an outcome, judges n Σ p² of them rightly
//! on average. That holds without sampling: nothing here depends on a seed.

use fault::Selection;
use outcome::{Class, Outcome};
use std::collections::BTreeMap;

use super::counts::{TruthCounts, position};
use super::coverage::largest;
use super::settings::{Apart, Settings};
use super::sites::Sites;
use super::truth::{Truth, refused};
use crate::kit::StudyError;

/// Depths of control equivalence that are compared; `None` for all decisions.
const DEPTHS: [Option<u32>; 6] = [Some(0), Some(1), Some(5), Some(10), Some(50), None];

/// The classes of some settings against the truth.
pub struct Purity {
    /// The settings.
    pub(super) settings: Settings,
    /// The kernels.
    pub(super) kernels: Vec<PurityAccount>,
    /// All kernels together.
    pub(super) all: PurityAccount,
    /// By kernel and instruction (an index into the instructions of the program), its classes.
    pub(super) instructions: BTreeMap<(u32, u32), Accuracy>,
    /// The ids of the first pruned sites that are not masked.
    pub(super) examples: Vec<String>,
}

/// The sites of a kernel, and how random pilots judge them.
#[derive(Clone, Debug, Default)]
pub(super) struct PurityAccount {
    /// The name of the kernel, as people write it.
    pub(super) name: String,
    /// Its name in the program.
    pub(super) full_name: String,
    /// Sites with an outcome, pruned ones included.
    pub(super) sites: u64,
    /// Sites that failed in the truth: they are not compared.
    pub(super) failed: u64,
    /// Pruned sites.
    pub(super) pruned: u64,
    /// Pruned sites that are not masked.
    pub(super) pruned_wrong: u64,
    /// The classes.
    pub(super) classes: ClassAccount,
    /// The classes that the coverage reaches.
    pub(super) covered: ClassAccount,
    /// Sites by class of outcome in truth.
    pub(super) truth: [u64; 4],
    /// Of them, those that are pruned or of a class that the coverage reaches, pruned ones as masked: random pilots are
    /// expected to find these.
    pub(super) expected: [u64; 4],
    /// The variance of what random pilots find, in squares of sites.
    pub(super) variance: [f64; 4],
}

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
    /// The sites of classes in which all have one class of outcome.
    pub(super) pure_class: u64,
    /// The sites of classes in which all have one whole outcome.
    pub(super) pure_outcome: u64,
}

impl Purity {
    /// The classes of some settings against the truth.
    ///
    /// # Errors
    /// If the truth cannot be read, or has other sites.
    pub fn of(truth: &Truth<'_>, settings: &Settings) -> Result<Self, StudyError> {
        let selection =
            Selection::default().in_kernels(truth.kernels()).map_err(|error| refused(&error.to_string()))?;
        // The truth has the sites of destinations.
        let settings = &Settings { sources: false, addresses: false, stores: false, ..*settings };
        let sites = Sites::of(truth.capsule.golden_run(), &selection, settings);
        let counts = TruthCounts::of(truth, &sites)?;
        let mut purity = Self {
            settings: *settings,
            kernels: Vec::new(),
            all: PurityAccount { name: "all".to_owned(), ..PurityAccount::default() },
            instructions: BTreeMap::new(),
            examples: Vec::new(),
        };
        for (number, kernel) in sites.kernels.iter().enumerate() {
            let name = fault::base_name(&kernel.name).to_owned();
            purity.kernels.push(PurityAccount { name, full_name: kernel.name.clone(), ..PurityAccount::default() });
            purity.add_pruned(number, &counts);
        }
        let sizes: Vec<u64> =
            counts.members.iter().zip(&sites.classes).map(|(n, it)| n * u64::from(it.bits.count())).collect();
        let pruned = purity.kernels.iter().map(|kernel| kernel.pruned).sum();
        let mut covered = vec![false; sizes.len()];
        largest(&sizes, pruned, settings.coverage).into_iter().for_each(|class| covered[class] = true);
        for (number, class) in sites.classes.iter().enumerate().filter(|(number, _)| sizes[*number] > 0) {
            purity.add(number, (class.kernel, class.instruction), covered[number], &counts);
        }
        let Self { kernels, all, .. } = &mut purity;
        kernels.iter().for_each(|kernel| all.add(kernel));
        purity.examples = counts.examples;
        Ok(purity)
    }

    /// The same for other depths of control equivalence, and with threads, blocks or launches apart.
    ///
    /// # Errors
    /// If the truth cannot be read.
    pub fn others(truth: &Truth<'_>, settings: &Settings) -> Result<Vec<Self>, StudyError> {
        let depths = DEPTHS.map(|decisions| Settings { decisions, ..*settings });
        let apart = [
            Apart { threads: true, ..settings.apart },
            Apart { blocks: true, ..settings.apart },
            Apart { launches: true, ..settings.apart },
        ];
        let apart = apart.into_iter().filter(|it| *it != settings.apart).map(|apart| Settings { apart, ..*settings });
        depths.into_iter().chain(apart).map(|settings| Self::of(truth, &settings)).collect()
    }

    fn add_pruned(&mut self, number: usize, counts: &TruthCounts) {
        let kernel = &mut self.kernels[number];
        kernel.failed = counts.failed[number];
        for (outcome, &count) in counts.outcomes.iter().zip(&counts.pruned[number]) {
            kernel.sites += count;
            kernel.pruned += count;
            let masked = outcome.class() == Class::Masked;
            kernel.pruned_wrong += if masked { 0 } else { count };
            kernel.expected[0] += count;
            if let Some(of) = position(outcome.class()) {
                kernel.truth[of] += count;
            }
        }
    }

    /// Adds a class.
    fn add(&mut self, number: usize, (kernel, instruction): (u32, u32), covered: bool, counts: &TruthCounts) {
        let (mut found, mut by_class) = (ClassAccount { classes: 1, ..ClassAccount::default() }, [0; 4]);
        for bit in counts.of_class(number) {
            found.pilots += 1;
            found.accuracy.add_counts(&counts.outcomes, bit);
            for (outcome, &count) in counts.outcomes.iter().zip(bit) {
                if let Some(of) = position(outcome.class()) {
                    by_class[of] += u64::from(count);
                }
            }
        }
        self.instructions.entry((kernel, instruction)).or_default().add(&found.accuracy);
        let account = &mut self.kernels[kernel as usize];
        account.sites += found.accuracy.sites;
        account.classes.add(&found);
        account.truth.iter_mut().zip(by_class).for_each(|(sum, count)| *sum += count);
        if covered {
            account.covered.add(&found);
            account.expected.iter_mut().zip(by_class).for_each(|(sum, count)| *sum += count);
            let members = counts.members[number] as f64;
            for (of, sum) in account.variance.iter_mut().enumerate() {
                // One member is drawn for all bits: the variance of its share, times the square of all members.
                *sum += members * counts.squares[number][of] as f64 - (by_class[of] as f64).powi(2);
            }
        }
    }
}

impl PurityAccount {
    /// The sites that are pruned or of a class that the coverage reaches.
    pub(super) fn known(&self) -> u64 {
        self.pruned + self.covered.accuracy.sites
    }

    fn add(&mut self, other: &Self) {
        self.sites += other.sites;
        self.failed += other.failed;
        self.pruned += other.pruned;
        self.pruned_wrong += other.pruned_wrong;
        self.classes.add(&other.classes);
        self.covered.add(&other.covered);
        self.truth.iter_mut().zip(other.truth).for_each(|(sum, count)| *sum += count);
        self.expected.iter_mut().zip(other.expected).for_each(|(sum, count)| *sum += count);
        self.variance.iter_mut().zip(other.variance).for_each(|(sum, of)| *sum += of);
    }
}

impl ClassAccount {
    fn add(&mut self, other: &Self) {
        self.classes += other.classes;
        self.pilots += other.pilots;
        self.accuracy.add(&other.accuracy);
    }
}

impl Accuracy {
    /// Adds the sites of a class and bit, by outcome.
    fn add_counts(&mut self, outcomes: &[Outcome], counts: &[u32]) {
        let sites: u64 = counts.iter().copied().map(u64::from).sum();
        let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
        for (outcome, &count) in outcomes.iter().zip(counts) {
            *by_class.entry(outcome.class()).or_default() += u64::from(count);
        }
        let right = |counts: &mut dyn Iterator<Item = u64>| {
            // Products stay exact: sums of squares of whole numbers.
            let squares: u128 = counts.map(|count| u128::from(count).pow(2)).sum();
            if sites == 0 { 0.0 } else { squares as f64 / sites as f64 }
        };
        let pure = |is: bool| if is { sites } else { 0 };
        self.sites += sites;
        self.right_class += right(&mut by_class.values().copied());
        self.right_outcome += right(&mut counts.iter().copied().map(u64::from));
        self.pure_class += pure(by_class.values().any(|&count| count == sites));
        self.pure_outcome += pure(counts.iter().any(|&count| u64::from(count) == sites));
    }

    fn add(&mut self, other: &Self) {
        self.sites += other.sites;
        self.right_class += other.right_class;
        self.right_outcome += other.right_outcome;
        self.pure_class += other.pure_class;
        self.pure_outcome += other.pure_outcome;
    }

    /// A number of sites as a share of all; none if there are none.
    pub(super) fn share(&self, sites: f64) -> Option<f64> {
        (self.sites > 0).then(|| sites / self.sites as f64)
    }
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
        accuracy.add_counts(&outcomes, &[0, 1, 1, 0]);
        assert_eq!((accuracy.right_class, accuracy.right_outcome), (4.5, 3.5));
        assert_eq!((accuracy.sites, accuracy.pure_class, accuracy.pure_outcome), (6, 2, 0));
        accuracy.add_counts(&outcomes, &[0, 0, 0, 7]);
        assert_eq!((accuracy.sites, accuracy.pure_class, accuracy.pure_outcome), (13, 9, 7));
        assert_eq!(accuracy.share(accuracy.right_class), Some(11.5 / 13.0));
    }
}
