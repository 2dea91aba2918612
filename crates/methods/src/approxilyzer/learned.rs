//! Outcomes of error sites predicted from facts that are known without a run: a model that learned from other workloads, or from
//! one half of the same, beside the most frequent class and the heuristics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use stats::{Confidence, Interval, Logistic, LogisticExample, bootstrap_of_ratio};

use super::examples::{SiteExample, SiteExamples};
use super::judgements::{Judgements, LEARNED};
use super::site_facts::variable_names;
use crate::kit::StudyError;

/// The weight of the squares of coefficients beside the mean loss; it was fixed before any workload was tested.
pub(super) const PENALTY: f64 = 1e-3;

/// The seed of the samples that intervals are made of.
pub(super) const SEED: u64 = 0;

/// Models that learned from exhaustive campaigns, each held against sites that it has not seen.
pub struct LearningStudy {
    pub(super) workloads: Vec<WorkloadTest>,
}

/// The predictions of the sites of a workload.
pub(super) struct WorkloadTest {
    pub(super) of: SiteExamples,
    /// By models that learned from all other workloads.
    pub(super) held_out: SplitTest,
    /// Each half of the static instructions by a model that learned from the other half; `None` where there is one.
    pub(super) instructions: Option<SplitTest>,
    /// The same with path groups.
    pub(super) path_groups: Option<SplitTest>,
}

/// The sites of a workload as models and the most frequent class of what these learned from tell them.
pub(super) struct SplitTest {
    pub(super) learned: Judgements,
    pub(super) frequent: Judgements,
    /// The bounds of the accuracy, static instructions drawn anew.
    pub(super) interval: Option<Interval>,
    /// The models, one for each part that was tested.
    pub(super) models: Vec<Logistic>,
}

/// The sites that a model learns from and is tested on.
#[derive(Clone, Copy)]
enum Split {
    HeldOut,
    Instructions,
    PathGroups,
}

const SPLITS: [Split; 3] = [Split::HeldOut, Split::Instructions, Split::PathGroups];

/// An example with the weight of each of its sites.
type Weighted<'a> = (&'a SiteExample, f64);

impl LearningStudy {
    /// Fits and tests models on `jobs` threads; the campaigns of a workload are taken together.
    ///
    /// # Errors
    /// If there are fewer than two workloads with sites, or a model has no best fit.
    pub fn of(campaigns: Vec<SiteExamples>, jobs: usize) -> Result<Self, StudyError> {
        let mut all: Vec<SiteExamples> = Vec::new();
        for campaign in campaigns.into_iter().filter(|it| it.sites() > 0) {
            match all.iter_mut().find(|it| it.workload == campaign.workload) {
                Some(known) => known.add(campaign),
                None => all.push(campaign),
            }
        }
        if all.len() < 2 {
            return Err(StudyError::Refused(
                "learn outcomes: give exhaustive campaigns of two workloads or more; one is held out of what is learned".to_owned(),
            ));
        }
        let mut tests = in_order(jobs, all.len() * SPLITS.len(), |task| {
            test(&all, task / SPLITS.len(), SPLITS[task % SPLITS.len()])
        })
        .into_iter();
        let mut next = || tests.next().transpose().map(Option::flatten);
        let mut found = Vec::new();
        for _ in 0..all.len() {
            found.push((next()?.ok_or_else(no_fit)?, next()?, next()?));
        }
        let workloads = all.into_iter().zip(found).map(|(of, (held_out, instructions, path_groups))| WorkloadTest {
            of,
            held_out,
            instructions,
            path_groups,
        });
        Ok(Self { workloads: workloads.collect() })
    }

    /// The names of the variables, in their order.
    #[must_use]
    pub fn variables() -> Vec<String> {
        variable_names()
    }
}

/// Tests the sites of a workload; `None` if a half of it would be empty.
fn test(all: &[SiteExamples], workload: usize, split: Split) -> Result<Option<SplitTest>, StudyError> {
    let examples = &all[workload].examples;
    let parts: Vec<(Vec<Weighted<'_>>, Vec<&SiteExample>)> = match split {
        Split::HeldOut => {
            // Every workload weighs the same, however large its launches are.
            let others = all.iter().enumerate().filter(|(at, _)| *at != workload).map(|(_, it)| it);
            let weighted = others.flat_map(|it| it.examples.iter().map(|example| (example, 1.0 / it.sites() as f64)));
            vec![(weighted.collect(), examples.iter().collect())]
        }
        Split::Instructions => halves(examples, &by_instruction(examples)),
        Split::PathGroups => halves(examples, &|example| example.half),
    };
    if parts.iter().any(|(learned, tested)| learned.is_empty() || tested.is_empty()) {
        return Ok(None);
    }
    let (mut learned, mut frequent, mut models) = (Judgements::default(), Judgements::default(), Vec::new());
    let mut by_instruction: BTreeMap<(usize, u32), (f64, f64)> = BTreeMap::new();
    for (from, tested) in parts {
        let model = fit(&from).ok_or_else(no_fit)?;
        let most = most_frequent(&from);
        for example in tested {
            let class = model.class(&example.variables);
            let sum = by_instruction.entry((example.kernel, example.instruction)).or_default();
            for (truth, &sites) in example.sites.iter().enumerate() {
                let sites = sites as f64;
                learned.tell(truth, class, sites);
                frequent.tell(truth, most, sites);
                sum.0 += if truth == class { sites } else { 0.0 };
                sum.1 += sites;
            }
        }
        models.push(model);
    }
    let sums: Vec<(f64, f64)> = by_instruction.into_values().collect();
    let interval = bootstrap_of_ratio(&sums, Confidence::PERCENT_95, SEED);
    Ok(Some(SplitTest { learned, frequent, interval, models }))
}

/// Each half of examples to be tested, with the other one to learn from.
fn halves<'a>(
    examples: &'a [SiteExample],
    half: &dyn Fn(&SiteExample) -> u8,
) -> Vec<(Vec<Weighted<'a>>, Vec<&'a SiteExample>)> {
    let part = |tested: u8| {
        let (tested, other): (Vec<_>, Vec<_>) = examples.iter().partition(|it| half(it) == tested);
        (other.into_iter().map(|it| (it, 1.0)).collect(), tested)
    };
    [0, 1].map(part).into()
}

/// The half of an example if every other static instruction is in the same.
fn by_instruction(examples: &[SiteExample]) -> impl Fn(&SiteExample) -> u8 + use<> {
    let mut known: Vec<(usize, u32)> = examples.iter().map(|it| (it.kernel, it.instruction)).collect();
    known.sort_unstable();
    known.dedup();
    move |it| (known.partition_point(|of| *of < (it.kernel, it.instruction)) % 2) as u8
}

fn weights((example, weight): &Weighted<'_>) -> [f64; LEARNED] {
    example.sites.map(|sites| sites as f64 * weight)
}

fn fit(from: &[Weighted<'_>]) -> Option<Logistic> {
    let all: Vec<[f64; LEARNED]> = from.iter().map(weights).collect();
    let examples: Vec<LogisticExample<'_>> =
        from.iter().zip(&all).map(|((it, _), weights)| LogisticExample { variables: &it.variables, weights }).collect();
    Logistic::fit(&examples, PENALTY)
}

/// The class of outcome that weighs most; of equal ones the first.
fn most_frequent(from: &[Weighted<'_>]) -> usize {
    let mut sums = [0.0; LEARNED];
    from.iter().map(weights).for_each(|of| sums.iter_mut().zip(of).for_each(|(sum, of)| *sum += of));
    (1..LEARNED).fold(0, |best, at| if sums[at] > sums[best] { at } else { best })
}

fn no_fit() -> StudyError {
    StudyError::Refused(
        "learn outcomes: the model has no best fit to these sites; add campaigns of other workloads".to_owned(),
    )
}

/// The results of `work` on each of `tasks` numbers, in their order, on `jobs` threads.
fn in_order<R: Send>(jobs: usize, tasks: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, tasks.max(1)) {
            scope.spawn(|| {
                loop {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    if task >= tasks {
                        break;
                    }
                    let result = work(task);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(task, result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}
