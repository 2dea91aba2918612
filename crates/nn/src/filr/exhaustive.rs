//! Every fault of some images, judged: the truth that estimates by some injections are held against.

use stats::Draws;

use crate::delta::Delta;
use crate::filr::inject::{Progress, Work};
use crate::filr::maps::{FeatureMap, by_macs};
use crate::filr::order::Order;
use crate::filr::part::Part;
use crate::filr::sets::AnalysisSet;
use crate::filr::settings::FilrError;
use crate::filr::table::Effect;
use crate::hit::Hit;
use fault::Model;

/// The bits of a neuron.
const BITS: usize = 8;

/// The run of the draws that choose the images. Injections have smaller numbers.
const IMAGES: u64 = u64::MAX - 2;

/// The most faults that are kept, four bytes each.
const MOST: usize = 1 << 29;

/// The end of every flip of every neuron of some images.
#[derive(Clone, Debug)]
pub struct FaultJudgements {
    maps: Vec<FeatureMap>,
    /// The number of the first fault of each feature map, and of all of an image.
    first: Vec<usize>,
    /// Of each image and fault the change of the cross entropy, below 0 (or -0) where the class is another one.
    losses: Vec<Vec<f32>>,
}

/// The end of one fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultJudgement {
    /// Whether the class is another.
    pub mismatch: bool,
    /// How far the cross entropy changed, in either direction.
    pub loss: f64,
}

/// Runs every fault of `images` images that the network gets right, drawn by the seed.
///
/// # Errors
/// When the set has fewer such images, when there are too many faults to keep, or when the work is stopped.
pub fn judge_all(
    set: &AnalysisSet<'_>,
    maps: &[FeatureMap],
    images: usize,
    seed: u64,
    work: Work<'_>,
    progress: Progress<'_>,
) -> Result<FaultJudgements, FilrError> {
    let part = set.part();
    let mut first = vec![0];
    for map in maps {
        first.push(first[first.len() - 1] + map.neurons as usize * BITS);
    }
    let each = first[maps.len()];
    let most = part.right().len().min(MOST / each.max(1));
    if images == 0 || images > most {
        let expected = "from 1 to the images of the analysis set that are right and fit into memory";
        let found = format!("{images}, and at most {most} are possible");
        return Err(FilrError::Setting { name: "images of the exhaustive truth", expected, found });
    }
    let chosen = choose(part, images, seed);
    let of_image = |delta: &mut Delta<'_>, number: usize| {
        let mut losses = Vec::with_capacity(each);
        for map in maps {
            let channels = part.network().output(map.layer).shape.channels;
            for fault in 0..map.neurons as usize * BITS {
                let element = fault / BITS * channels + map.channel;
                let hit = Hit::neuron(map.layer, element, Model::single((fault % BITS) as u32));
                losses.push(encoded(part.effect(delta, chosen[number], &hit).as_ref()));
            }
            if work.is_stopped() {
                return None;
            }
        }
        Some(losses)
    };
    let all = (images * each) as u64;
    let mut told = |done: usize| progress((done * each) as u64, all);
    let losses = work.parts(part.network(), images, of_image, &mut told)?;
    Ok(FaultJudgements { maps: maps.to_vec(), first, losses })
}

/// Images that are right, by their numbers in the part.
fn choose(part: &Part<'_>, images: usize, seed: u64) -> Vec<usize> {
    let (mut right, mut draws) = (part.right().to_vec(), Draws::new(seed, IMAGES));
    for place in 0..images {
        let other = draws.below((right.len() - place) as u64).map_or(place, |other| place + other as usize);
        right.swap(place, other);
    }
    right.truncate(images);
    right
}

fn encoded(effect: Option<&Effect>) -> f32 {
    effect.map_or(0.0, |effect| if effect.mismatch { -effect.loss as f32 } else { effect.loss as f32 })
}

impl FaultJudgements {
    /// The feature maps.
    #[must_use]
    pub fn maps(&self) -> &[FeatureMap] {
        &self.maps
    }

    /// How many images there are.
    #[must_use]
    pub fn images(&self) -> usize {
        self.losses.len()
    }

    /// How many faults were run.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.losses.iter().map(|losses| losses.len() as u64).sum()
    }

    /// Every fault of a feature map.
    pub fn of_map(&self, map: usize) -> impl Iterator<Item = FaultJudgement> {
        let range = self.first[map]..self.first[map + 1];
        self.losses.iter().flat_map(move |losses| losses[range.clone()].iter().copied().map(judgement))
    }

    /// A fault of a feature map: an image, a neuron and a bit, each with the same chance. None if there is nothing to draw from.
    pub fn draw(&self, map: usize, draws: &mut Draws) -> Option<FaultJudgement> {
        let losses = draws.one_of(&self.losses)?;
        let of_map = losses.get(self.first[map]..self.first[map + 1])?;
        draws.one_of(of_map).copied().map(judgement)
    }

    /// P_prop of each feature map by a measure: the share of mismatches, or the mean change of the cross entropy.
    #[must_use]
    pub fn propagation(&self, by: Order) -> Vec<f64> {
        let of = |map: usize| {
            let faults = self.losses.len() * (self.first[map + 1] - self.first[map]);
            let sum: f64 = self.of_map(map).map(|it| it.by(by)).sum();
            sum / faults as f64
        };
        (0..self.maps.len()).map(of).collect()
    }

    /// The vulnerabilities by a measure, but for a factor.
    #[must_use]
    pub fn vulnerabilities(&self, by: Order) -> Vec<f64> {
        let propagation = self.propagation(by);
        if by == Order::Rate { propagation } else { by_macs(&self.maps, &propagation) }
    }
}

impl FaultJudgement {
    /// The number that a measure sums up over faults.
    #[must_use]
    pub fn by(self, by: Order) -> f64 {
        match by {
            Order::Mismatch | Order::Rate => f64::from(u8::from(self.mismatch)),
            Order::Loss => self.loss,
        }
    }
}

fn judgement(encoded: f32) -> FaultJudgement {
    FaultJudgement { mismatch: encoded.is_sign_negative(), loss: f64::from(encoded.abs()) }
}
