//! How alike the sites of a class are, where an exhaustive campaign has run all of them.
//!
//! A pilot that is drawn uniformly from a class of n sites, of which a share p comes to an outcome, judges n Σ p² of them rightly
//! on average. That holds without sampling: nothing here depends on a seed.

use fault::Selection;
use std::collections::BTreeMap;

use super::accuracy::{Accuracy, ClassAccount};
use super::claims::{CLAIMS, Claim};
use super::counts::{TruthCounts, position};
use super::coverage::largest;
use super::purity_heuristics::HeuristicAccounts;
use super::settings::{Apart, Settings};
use super::sites::{Class, Sites};
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
    /// The first pruned sites that are not as claimed, by their ids.
    pub(super) examples: Vec<(Claim, String)>,
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
    /// Sites whose outcome is claimed without a run.
    pub(super) pruned: u64,
    /// Of these, the sites whose class of outcome is another one.
    pub(super) pruned_wrong: u64,
    /// The sites by heuristic.
    pub(super) heuristics: HeuristicAccounts,
    /// The classes.
    pub(super) classes: ClassAccount,
    /// The classes that the coverage reaches.
    pub(super) covered: ClassAccount,
    /// Sites by class of outcome in truth.
    pub(super) truth: [u64; 4],
    /// Of them, those that are pruned or of a class that the coverage reaches, pruned ones as they are claimed: random pilots
    /// are expected to find these.
    pub(super) expected: [u64; 4],
    /// The variance of what random pilots find, in squares of sites.
    pub(super) variance: [f64; 4],
}

impl Purity {
    /// The classes of some settings against the truth.
    ///
    /// # Errors
    /// If the truth cannot be read, has other sites or more than can be counted, or if the comparison is stopped.
    pub fn of(truth: &Truth<'_>, settings: &Settings) -> Result<Self, StudyError> {
        let selection =
            Selection::default().in_kernels(truth.kernels()).map_err(|error| refused(&error.to_string()))?;
        truth.check_stop()?;
        // The truth has the sites of destinations.
        let settings = &Settings { sources: false, ..*settings };
        let mut sites = Sites::with_steps(truth.capsule.golden_run(), &selection, settings);
        let counts = TruthCounts::of(truth, &mut sites)?;
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
            purity.add(number, class, covered[number], &counts);
        }
        for (number, class) in (counts.beside..).zip(&sites.beside) {
            let (found, by_class) = counts.account(number);
            let variance = counts.variance(number, by_class);
            purity.kernels[class.kernel as usize].heuristics.by_control.add_class(&found, by_class, variance);
        }
        let Self { kernels, all, .. } = &mut purity;
        kernels.iter().for_each(|kernel| all.add(kernel));
        purity.examples = counts.examples;
        Ok(purity)
    }

    /// The same by control equivalence alone: at other depths, and with threads, blocks or launches apart; and with stores,
    /// if these settings have them. Settings whose classes are too many to be counted are left out.
    ///
    /// # Errors
    /// If the truth cannot be read.
    pub fn others(truth: &Truth<'_>, settings: &Settings) -> Result<Vec<Self>, StudyError> {
        let plain = Settings { stores: false, ..*settings };
        let depths = DEPTHS.map(|decisions| Settings { decisions, ..plain });
        let apart = [
            Apart { threads: true, ..settings.apart },
            Apart { blocks: true, ..settings.apart },
            Apart { launches: true, ..settings.apart },
        ];
        let apart = apart.into_iter().filter(|it| *it != settings.apart).map(|apart| Settings { apart, ..plain });
        let stores = Some(*settings).filter(|settings| settings.stores);
        let found = depths.into_iter().chain(apart).chain(stores).map(|settings| Self::of(truth, &settings));
        found.filter(|it| !matches!(it, Err(StudyError::Refused(_)))).collect()
    }

    fn add_pruned(&mut self, number: usize, counts: &TruthCounts) {
        let kernel = &mut self.kernels[number];
        kernel.failed = counts.failed[number];
        for (claim, claimed) in CLAIMS.into_iter().zip(&counts.claimed[number]) {
            for (outcome, &count) in counts.outcomes.iter().zip(claimed) {
                let wrong = if outcome.class() == claim.class() { 0 } else { count };
                kernel.heuristics.add_claimed(claim, count, wrong);
                kernel.sites += count;
                kernel.pruned += count;
                kernel.pruned_wrong += wrong;
                for (class, sums) in [(claim.class(), &mut kernel.expected), (outcome.class(), &mut kernel.truth)] {
                    if let Some(of) = position(class) {
                        sums[of] += count;
                    }
                }
            }
        }
    }

    /// Adds a class.
    fn add(&mut self, number: usize, class: &Class, covered: bool, counts: &TruthCounts) {
        let (found, by_class) = counts.account(number);
        let variance = counts.variance(number, by_class);
        self.instructions.entry((class.kernel, class.instruction)).or_default().add(&found.accuracy);
        let account = &mut self.kernels[class.kernel as usize];
        account.sites += found.accuracy.sites;
        account.classes.add(&found);
        account.heuristics.of_class(class.by_stores()).add_class(&found, by_class, variance);
        account.truth.iter_mut().zip(by_class).for_each(|(sum, count)| *sum += count);
        if covered {
            account.covered.add(&found);
            account.expected.iter_mut().zip(by_class).for_each(|(sum, count)| *sum += count);
            account.variance.iter_mut().zip(variance).for_each(|(sum, of)| *sum += of);
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
        self.heuristics.add(&other.heuristics);
        self.classes.add(&other.classes);
        self.covered.add(&other.covered);
        self.truth.iter_mut().zip(other.truth).for_each(|(sum, count)| *sum += count);
        self.expected.iter_mut().zip(other.expected).for_each(|(sum, count)| *sum += count);
        self.variance.iter_mut().zip(other.variance).for_each(|(sum, of)| *sum += of);
    }
}
