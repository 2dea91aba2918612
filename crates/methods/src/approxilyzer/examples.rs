//! Error sites with facts that are known without a run, beside their outcomes in truth: what a model learns from.

use fault::Selection;
use std::collections::BTreeMap;

use super::claims::{CLAIMS, Claim};
use super::counts::{CLASSES, TruthCounts, position};
use super::judgements::{Judgements, LEARNED};
use super::settings::Settings;
use super::site_facts::SiteFacts;
use super::sites::Sites;
use super::truth::{Truth, refused};
use super::walks::Walks;
use crate::kit::StudyError;

/// The sites of launches of a workload that have the same facts, with how many came to each class of outcome.
#[derive(Clone, Debug)]
pub struct SiteExample {
    /// The instruction, an index into the instructions of its kernel.
    pub instruction: u32,
    /// The half of the path groups that they are in: 0 or 1.
    pub(super) half: u8,
    /// Its kernel, an index into those of the workload.
    pub(super) kernel: usize,
    /// The variables, in the order of [`LearningStudy::variables`](super::LearningStudy::variables).
    pub variables: Vec<f64>,
    /// How many sites are masked, SDC and DUE.
    pub sites: [u64; 3],
}

/// The sites of launches of a workload as examples, and how the heuristics judge the same sites.
#[derive(Clone, Debug)]
pub struct SiteExamples {
    /// The workload.
    pub workload: String,
    /// The launches, as an exhaustive campaign was asked for them.
    pub(super) launches: Vec<String>,
    /// The kernels, by their names in the program.
    kernels: Vec<String>,
    /// The examples.
    pub examples: Vec<SiteExample>,
    /// Sites without one of these outcomes: undecided ones, and those that failed.
    pub(super) left_out: u64,
    /// How random pilots and what is claimed without a run judge the sites, as expected numbers.
    pub(super) heuristics: Judgements,
    /// The pilots of all classes, whatever the coverage.
    pub(super) pilots: u64,
}

/// The kernel, the facts, the half, the bit and the claim that the sites of an example have in common.
type ExampleKey = (usize, SiteFacts, u8, u8, Option<Claim>);

impl SiteExamples {
    /// Those of an exhaustive campaign, with the heuristics at their default settings.
    ///
    /// # Errors
    /// If the truth cannot be read, has other sites or more than can be counted, or if the comparison is stopped.
    pub fn of(workload: &str, truth: &Truth<'_>) -> Result<Self, StudyError> {
        let golden = truth.capsule.golden_run();
        let selection =
            Selection::default().in_kernels(truth.kernels()).map_err(|error| refused(&error.to_string()))?;
        let settings = Settings { sources: false, ..Settings::default() };
        let mut sites = Sites::with_steps(golden, &selection, &settings);
        let counts = TruthCounts::of(truth, &mut sites)?;
        let mut all = Self {
            workload: workload.to_owned(),
            launches: vec![truth.launches()],
            kernels: sites.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
            examples: Vec::new(),
            left_out: 0,
            heuristics: Judgements::default(),
            pilots: 0,
        };
        all.judge(&counts);
        drop(counts);
        let mut sites = Sites::with_facts(golden, &selection, &settings);
        let facts = sites.facts.take().unwrap_or_default();
        let walks = Walks::of(&mut sites);
        all.learn(truth, &facts, (&sites, &walks))?;
        Ok(all)
    }

    /// Adds other launches of the workload.
    pub fn add(&mut self, other: Self) {
        let number = |name: String| {
            let known = self.kernels.iter().position(|kernel| *kernel == name);
            known.unwrap_or_else(|| {
                self.kernels.push(name);
                self.kernels.len() - 1
            })
        };
        let kernels: Vec<usize> = other.kernels.into_iter().map(number).collect();
        let renumbered = other.examples.into_iter().map(|it| SiteExample { kernel: kernels[it.kernel], ..it });
        self.examples.extend(renumbered);
        self.launches.extend(other.launches);
        self.left_out += other.left_out;
        self.heuristics.add(&other.heuristics);
        self.pilots += other.pilots;
    }

    /// The sites that the examples stand for.
    #[must_use]
    pub fn sites(&self) -> u64 {
        self.examples.iter().flat_map(|it| it.sites).sum()
    }

    /// Adds the judgements of pilots of all classes, each drawn from the members of a class and bit, and of claims.
    fn judge(&mut self, counts: &TruthCounts) {
        let by_class = |of: &[u32]| {
            let mut sums = [0_u64; CLASSES.len()];
            for (outcome, &count) in counts.outcomes.iter().zip(of) {
                if let Some(class) = position(outcome.class()) {
                    sums[class] += u64::from(count);
                }
            }
            sums
        };
        for class in 0..counts.beside {
            for sites in counts.of_class(class).map(by_class) {
                let all: u64 = sites.iter().sum();
                self.pilots += u64::from(all > 0);
                for (truth, of) in sites.into_iter().enumerate().take(LEARNED) {
                    for (told, pilots) in sites.into_iter().enumerate().take(LEARNED) {
                        self.heuristics.tell(truth, told, of as f64 * pilots as f64 / all.max(1) as f64);
                    }
                    // A pilot that is undecided tells nothing.
                    self.heuristics.miss(truth, of as f64 * sites[LEARNED] as f64 / all.max(1) as f64);
                }
            }
        }
        for (claim, claimed) in counts.claimed.iter().flat_map(|of| CLAIMS.into_iter().zip(of)) {
            for (outcome, &count) in counts.outcomes.iter().zip(claimed) {
                let classes = (position(outcome.class()), position(claim.class()));
                if let (Some(truth @ 0..LEARNED), Some(told)) = classes {
                    self.heuristics.tell(truth, told, count as f64);
                }
            }
        }
    }

    /// Counts the outcomes of the sites by their facts.
    fn learn(
        &mut self,
        truth: &Truth<'_>,
        facts: &[Vec<SiteFacts>],
        (sites, walks): (&Sites, &Walks),
    ) -> Result<(), StudyError> {
        // By path group that has an outcome, its cells: bits of destinations in their order.
        let mut cells: BTreeMap<usize, Vec<[u32; LEARNED + 1]>> = BTreeMap::new();
        let mut firsts = Vec::new();
        truth.visit(&mut |threads, outcomes| {
            let mut left = outcomes;
            for &thread in threads {
                let Some(group) = walks.group(thread) else { continue };
                let count = (walks.sites(thread) as usize).min(left.len());
                let (of, behind) = left.split_at(count);
                left = behind;
                let cells = cells.entry(group).or_insert_with(|| {
                    firsts.push((group, thread));
                    vec![[0; LEARNED + 1]; count]
                });
                for (cell, &code) in cells.iter_mut().zip(of) {
                    let class = outcome::Outcome::from_code(code).and_then(|it| position(it.class()));
                    cell[class.unwrap_or(LEARNED).min(LEARNED)] += 1;
                }
            }
        })?;
        let mut sums: BTreeMap<ExampleKey, [u64; LEARNED]> = BTreeMap::new();
        for (half, (group, thread)) in [0, 1].into_iter().cycle().zip(firsts) {
            let kernel = sites.groups[group].kernel as usize;
            let mut cells = cells.remove(&group).unwrap_or_default().into_iter();
            for ((step, _), &of) in walks.of_thread(thread).zip(facts.get(group).map_or(&[][..], Vec::as_slice)) {
                for (bit, cell) in (0..step.bits).zip(cells.by_ref()) {
                    let sum = sums.entry((kernel, of, half, bit, step.claim(bit.into()))).or_default();
                    sum.iter_mut().zip(cell).for_each(|(sum, count)| *sum += u64::from(count));
                    self.left_out += u64::from(cell[LEARNED]);
                }
            }
        }
        let example = |((kernel, of, half, bit, claim), sites): (ExampleKey, [u64; LEARNED])| SiteExample {
            instruction: of.instruction,
            half,
            kernel,
            variables: of.variables(bit, claim),
            sites,
        };
        self.examples = sums.into_iter().filter(|(_, sites)| sites.iter().any(|&of| of > 0)).map(example).collect();
        Ok(())
    }
}
