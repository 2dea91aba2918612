//! Injections on several threads, with results that do not depend on how many.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use stats::Draws;

use crate::delta::Delta;
use crate::filr::maps::FeatureMap;
use crate::filr::neuron_fault::{Injecting, NeuronFault};
use crate::filr::part::Part;
use crate::filr::sets::AnalysisSet;
use crate::filr::settings::FilrError;
use crate::filr::table::{Effect, Table, Tally};
use crate::hit::Hit;
use crate::network::Network;
use fault::Model;

/// Is told how much of the work is done, and how much there is.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64);

/// How the work is done: nothing of it changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Work<'w> {
    /// On how many threads, at least 1.
    pub threads: usize,
    /// Whether somebody asks to stop.
    pub stop: &'w AtomicBool,
}

impl Work<'_> {
    /// Does all parts of a work, and gives their results in the order of the parts.
    ///
    /// A part returns nothing where it was stopped.
    pub(crate) fn parts<T: Send>(
        self,
        network: &Network,
        parts: usize,
        run: impl Fn(&mut Delta<'_>, usize) -> Option<T> + Sync,
        done: &mut dyn FnMut(usize),
    ) -> Result<Vec<T>, FilrError> {
        self.parts_with(|| Delta::new(network), parts, |delta, part| run(delta, part), done)
    }

    /// The same with a state of their own for threads.
    pub(crate) fn parts_with<S, T: Send>(
        self,
        state: impl Fn() -> S + Sync,
        parts: usize,
        run: impl Fn(&mut S, usize) -> Option<T> + Sync,
        done: &mut dyn FnMut(usize),
    ) -> Result<Vec<T>, FilrError> {
        let state = &state;
        let (next, run) = (AtomicUsize::new(0), &run);
        let mut results: Vec<Option<T>> = std::iter::repeat_with(|| None).take(parts).collect();
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.threads.clamp(1, parts.max(1)) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    let mut state = state();
                    loop {
                        let part = next.fetch_add(1, Ordering::Relaxed);
                        if part >= parts || self.stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let Some(result) = run(&mut state, part) else { break };
                        if sender.send((part, result)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (count, (part, result)) in receiver.iter().enumerate() {
                results[part] = Some(result);
                done(count + 1);
            }
        });
        results.into_iter().collect::<Option<Vec<T>>>().ok_or(FilrError::Stopped)
    }

    /// Whether somebody asks to stop.
    pub(crate) fn is_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What the injections of a set came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    /// All of them.
    pub table: Table,
    /// The first half of them in each feature map; none if there is one injection for each.
    pub half: Option<Table>,
    /// The first hundredth and the first thousandth of them in each feature map, where these are some.
    pub few: Vec<Table>,
}

/// By how much injections of a feature map are divided, for tables of the first of them.
const DIVISORS: [u64; 3] = [2, 100, 1000];

/// Injects into every feature map, `count` times: an image that is right and a neuron, each with the same chance.
///
/// # Errors
/// When no image is right, or somebody asks to stop.
pub fn campaign(
    set: &AnalysisSet<'_>,
    maps: &[FeatureMap],
    Injecting { count: each, seed, fault }: Injecting,
    work: Work<'_>,
    progress: Progress<'_>,
) -> Result<Campaign, FilrError> {
    let part = set.part();
    let network = part.network();
    if part.right().is_empty() {
        let (network, images) = (network.name().to_owned(), set.images().len());
        return Err(FilrError::NoneRight { network, set: "analysis", images });
    }
    let all = each * maps.len() as u64;
    let of_map = |delta: &mut Delta<'_>, map: usize| {
        let (mut tally, mut firsts) = (Tally::default(), DIVISORS.map(|_| Tally::default()));
        for injection in 0..each {
            for (first, divisor) in firsts.iter_mut().zip(DIVISORS) {
                if injection == each / divisor {
                    first.clone_from(&tally);
                }
            }
            if work.is_stopped() {
                return None;
            }
            let mut draws = Draws::new(seed, map as u64 * each + injection);
            tally.count(inject(part, delta, &maps[map], fault, &mut draws)?.as_ref());
        }
        Some((tally, firsts))
    };
    let tallies = work.parts(network, maps.len(), of_map, &mut |done| progress(done as u64 * each, all))?;
    let (tallies, firsts): (Vec<Tally>, Vec<[Tally; 3]>) = tallies.into_iter().unzip();
    let table = |tallies| Table::new(maps.to_vec(), tallies, part.facts().to_vec());
    let first = |at: usize| {
        let some = each >= DIVISORS[at];
        some.then(|| table(firsts.iter().map(|firsts| firsts[at].clone()).collect())).transpose()
    };
    let few = [first(1)?, first(2)?].into_iter().flatten().collect();
    Ok(Campaign { table: table(tallies)?, half: first(0)?, few })
}

/// Draws an image, a neuron of the feature map and what happens to it, and runs the fault. None if there is nothing to draw from.
pub(crate) fn inject(
    part: &Part<'_>,
    delta: &mut Delta<'_>,
    map: &FeatureMap,
    fault: NeuronFault,
    draws: &mut Draws,
) -> Option<Option<Effect>> {
    let image = *draws.one_of(part.right())?;
    let position = draws.below(map.neurons)? as usize;
    let model = match fault {
        NeuronFault::Flip => Model::single(draws.below(8)? as u32),
        NeuronFault::Random => Model::Value(draws.below(256)?.into()),
    };
    let channels = part.network().output(map.layer).shape.channels;
    let hit = Hit::neuron(map.layer, position * channels + map.channel, model);
    Some(part.effect(delta, image, &hit))
}
