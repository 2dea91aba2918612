//! What finished protections are worth on images that they were not chosen from.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::{Cumulative, Draws};

use crate::delta::Delta;
use crate::filr::certainty::{Criterion, READINGS, Reading};
use crate::filr::combine::{Combination, overhead};
use crate::filr::inject::{Progress, Work, inject};
use crate::filr::maps::{FeatureMap, duplication};
use crate::filr::neuron_fault::Injecting;
use crate::filr::sets::DeploymentSet;
use crate::filr::settings::FilrError;
use crate::filr::share::Share;
use crate::filr::table::{ImageFacts, Sdc};

/// Injections that a thread makes at a time.
const CHUNK: u64 = 4096;

/// How often images are drawn again for an interval.
const REPEATS: u64 = 1000;

/// What was chosen: a threshold and feature maps. It holds no measure that could be chosen by.
#[derive(Clone, Debug, PartialEq)]
pub struct Protection {
    /// Of which run Top2Diff was read for the choice.
    reading: Reading,
    threshold: f64,
    maps: Vec<usize>,
}

impl From<&Combination> for Protection {
    fn from(chosen: &Combination) -> Self {
        Self { reading: chosen.reading, threshold: chosen.threshold, maps: chosen.maps.clone() }
    }
}

/// Coverage of a protection, if Top2Diff is read of a certain run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DeploymentCoverage {
    /// Of which run.
    pub reading: Reading,
    /// Covered SDCs of all. Feature maps were drawn as often as they have multiplications, so that all weigh the same.
    pub covered: Share,
    /// The interval at 95 % over images, since SDCs of an image go together: the 2.5th and 97.5th percentile over images drawn
    /// again, and at least Wilson's of as many trials as images have an SDC.
    pub by_images: [f64; 2],
    /// The coverage if all neurons were drawn alike, 0 to 1, as the thesis has it.
    pub by_neurons: f64,
}

impl Protection {
    /// Inferences with a Top2Diff below a threshold are run again, and these feature maps are made twice.
    #[must_use]
    pub fn new(reading: Reading, threshold: f64, maps: &[usize]) -> Self {
        Self { reading, threshold, maps: maps.to_vec() }
    }
}

/// The prediction for a protection by the analysis set, and its result on the deployment set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DeployedPoint {
    /// Of which run Top2Diff was read.
    pub reading: Reading,
    /// How many feature maps are made twice.
    pub maps: usize,
    /// The Top2Diff below which an inference is run again.
    pub threshold: f64,
    /// The coverage of the analysis set, 0 to 1.
    pub predicted: f64,
    /// The overhead on the analysis set, as a share of multiplications.
    pub predicted_overhead: f64,
    /// Covered SDCs of the deployment set, of all.
    pub covered: Share,
    /// The interval at 95 % of that coverage over images.
    pub by_images: [f64; 2],
    /// The overhead on the deployment set.
    pub overhead: f64,
}

/// What a protection came to on the deployment set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deployed {
    /// Of which run Top2Diff was read for the choice.
    pub chosen_by: Reading,
    /// How many feature maps are made twice.
    pub maps: usize,
    /// The Top2Diff below which an inference is run again.
    pub threshold: f64,
    /// Coverage by either reading; empty if no injection changed the class.
    pub coverage: Vec<DeploymentCoverage>,
    /// The share of multiplications that are made twice in every inference, 0 to 1.
    pub duplication: f64,
    /// Images that are run again without a fault, right or not.
    pub reruns: Share,
    /// What both cost.
    pub overhead: f64,
}

/// The deployment set after it was opened, with the result of each protection, in the order in which they were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Images that the network gets right.
    pub accuracy: Share,
    /// Injections, over all feature maps.
    pub injections: u64,
    /// Injections that changed the class.
    pub sdcs: Share,
    /// Images with such an injection.
    pub images_with_sdcs: u64,
    /// The results.
    pub protections: Vec<Deployed>,
}

/// The deployment set, with the results of all that was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deployment {
    /// Images that the network gets right.
    pub accuracy: Share,
    /// Injections, over all feature maps.
    pub injections: u64,
    /// Injections that changed the class. The share is the vulnerability of the network, by multiplications.
    pub sdcs: Share,
    /// Images with such an injection.
    pub images_with_sdcs: u64,
    /// The combination by each reading.
    pub protections: Vec<Deployed>,
    /// FLR alone by the measure that combinations take feature maps by, for some predicted coverages.
    pub flr: Vec<DeployedPoint>,
    /// ILR alone by Top2Diff, for the same coverages, by each reading.
    pub ilr: Vec<DeployedPoint>,
}

/// An SDC with its feature map.
type Found = (usize, Sdc);

impl DeploymentSet<'_> {
    /// Injects into the images that are right and measures finished protections, which uses the set up.
    ///
    /// # Errors
    /// When no image is right, or somebody asks to stop.
    pub fn open(
        self,
        protections: &[Protection],
        maps: &[FeatureMap],
        Injecting { count: injections, seed, fault }: Injecting,
        work: Work<'_>,
        progress: Progress<'_>,
    ) -> Result<Opened, FilrError> {
        let images = self.count();
        let part = self.into_part();
        let network = part.network();
        let by_macs: Cumulative<usize> = maps.iter().enumerate().map(|(map, data)| (map, data.macs)).collect();
        if part.right().is_empty() || by_macs.is_empty() {
            let network = network.name().to_owned();
            return Err(FilrError::NoneRight { network, set: "deployment", images });
        }
        let chunk = |delta: &mut Delta<'_>, chunk: usize| {
            let (mut found, first) = (Vec::new(), chunk as u64 * CHUNK);
            for run in first..(first + CHUNK).min(injections) {
                if work.is_stopped() {
                    return None;
                }
                let mut draws = Draws::new(seed, run);
                let &map = by_macs.find(draws.below(by_macs.total())?)?.0;
                let effect = inject(&part, delta, maps.get(map)?, fault, &mut draws)?;
                found.extend(effect.filter(|effect| effect.mismatch).map(|effect| (map, effect.seen)));
            }
            Some(found)
        };
        let chunks = injections.div_ceil(CHUNK) as usize;
        let mut told = |done: usize| progress((done as u64 * CHUNK).min(injections), injections);
        let found: Vec<Found> = work.parts(network, chunks, chunk, &mut told)?.into_iter().flatten().collect();
        let deployed = |protection: &Protection| protection.measure(maps, &found, part.facts(), seed);
        let mut with_sdcs: Vec<usize> = found.iter().map(|(_, sdc)| sdc.image).collect();
        with_sdcs.sort_unstable();
        with_sdcs.dedup();
        Ok(Opened {
            accuracy: Share::new(part.right().len() as u64, images as u64),
            injections,
            sdcs: Share::new(found.len() as u64, injections),
            images_with_sdcs: with_sdcs.len() as u64,
            protections: protections.iter().map(deployed).collect(),
        })
    }
}

impl Deployed {
    /// The coverage by the reading that it was chosen by, beside the coverage and the overhead that were predicted; none if there is
    /// no SDC.
    pub(crate) fn point(&self, [predicted, predicted_overhead]: [f64; 2]) -> Option<DeployedPoint> {
        let coverage = self.coverage.iter().find(|coverage| coverage.reading == self.chosen_by)?;
        Some(DeployedPoint {
            reading: self.chosen_by,
            maps: self.maps,
            threshold: self.threshold,
            predicted,
            predicted_overhead,
            covered: coverage.covered,
            by_images: coverage.by_images,
            overhead: self.overhead,
        })
    }
}

impl Protection {
    fn is_rerun(&self, image: f64) -> bool {
        image < self.threshold
    }

    fn measure(&self, maps: &[FeatureMap], found: &[Found], images: &[ImageFacts], seed: u64) -> Deployed {
        let again = |image: &&ImageFacts| self.is_rerun(image.certainty.read(Criterion::Top2Diff));
        let reruns = Share::new(images.iter().filter(again).count() as u64, images.len() as u64);
        let duplication = duplication(maps, &self.maps);
        let coverage = |reading| self.coverage(reading, maps, found, seed);
        Deployed {
            chosen_by: self.reading,
            maps: self.maps.len(),
            threshold: self.threshold,
            coverage: READINGS.into_iter().filter(|_| !found.is_empty()).map(coverage).collect(),
            duplication,
            reruns,
            overhead: overhead(duplication, reruns.share.unwrap_or(0.0)),
        }
    }

    fn coverage(&self, reading: Reading, maps: &[FeatureMap], found: &[Found], seed: u64) -> DeploymentCoverage {
        let is_covered = |map: usize, sdc: &Sdc| {
            self.maps.contains(&map) || self.is_rerun(sdc.certainty(reading).read(Criterion::Top2Diff))
        };
        // Drawn by multiplications and counted by neurons.
        let weight = |map: usize| maps[map].neurons as f64 / maps[map].macs as f64;
        let mut by_image: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
        let (mut covered, mut by_neurons) = (0, [0.0; 2]);
        for (map, sdc) in found {
            let is_covered = is_covered(*map, sdc);
            covered += u64::from(is_covered);
            by_neurons[0] += if is_covered { weight(*map) } else { 0.0 };
            by_neurons[1] += weight(*map);
            let image = by_image.entry(sdc.image).or_default();
            image[0] += u64::from(is_covered);
            image[1] += 1;
        }
        let images: Vec<[u64; 2]> = by_image.into_values().collect();
        DeploymentCoverage {
            reading,
            covered: Share::new(covered, found.len() as u64),
            by_images: interval_over_images(&images, seed),
            by_neurons: by_neurons[0] / by_neurons[1],
        }
    }
}

/// The interval at 95 % of the share of the first counts in the second, over images.
fn interval_over_images(images: &[[u64; 2]], seed: u64) -> [f64; 2] {
    let all = images.iter().fold([0, 0], |sums, image| [sums[0] + image[0], sums[1] + image[1]]);
    let count = images.len() as u64;
    // Where few images have an SDC that is not covered, or none has, draws hardly differ.
    let covered = (count as f64 * all[0] as f64 / all[1].max(1) as f64).round() as u64;
    let wilson = Share::new(covered, count);
    let share = |repeat: u64| {
        // Injections have smaller numbers, and the division has the last.
        let mut draws = Draws::new(seed, u64::MAX - 1 - repeat);
        let drawn = (0..images.len()).filter_map(|_| draws.one_of(images).copied());
        let sums = drawn.fold([0, 0], |sums, image| [sums[0] + image[0], sums[1] + image[1]]);
        sums[0] as f64 / sums[1].max(1) as f64
    };
    let mut shares: Vec<f64> = (0..REPEATS).map(share).collect();
    shares.sort_by(f64::total_cmp);
    let last = REPEATS as usize - 1;
    let [low, high] = [0.025, 0.975].map(|at| shares[(last as f64 * at).round() as usize]);
    [low.min(wilson.low), high.max(wilson.high)]
}
