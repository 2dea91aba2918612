//! What injections came to, counted by feature map: all that protections are chosen from.

use crate::filr::certainty::{Certainty, Criterion, LAST_STEP, READINGS, Reading};
use crate::filr::maps::FeatureMap;
use crate::filr::settings::FilrError;

/// What a fault-free run of an image came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageFacts {
    /// Whether its class is its label. Injections hit only such images.
    pub right: bool,
    /// How certain the network is.
    pub certainty: Certainty,
}

/// An injection that changed the class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sdc {
    /// The image, by its number in the set.
    pub image: usize,
    /// How certain the network was without the fault.
    pub fault_free: Certainty,
    /// How certain it was with it.
    pub faulty: Certainty,
}

impl Sdc {
    /// How certain a run was.
    #[must_use]
    pub fn certainty(&self, reading: Reading) -> Certainty {
        match reading {
            Reading::FaultFree => self.fault_free,
            Reading::Faulty => self.faulty,
        }
    }
}

/// An injection that changed logits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The image and how certain the network was, without and with the fault.
    pub seen: Sdc,
    /// Whether the class is another.
    pub mismatch: bool,
    /// How far the cross entropy changed, in either direction.
    pub loss: f64,
}

/// The injections of one feature map.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// All of them.
    pub injections: u64,
    /// Those that changed the class.
    pub sdcs: Vec<Sdc>,
    /// The sum of the changes of the cross entropy.
    pub loss: f64,
    /// The sum of the squares of these.
    pub loss_squares: f64,
    /// The sum of these for each reading and each number of the first threshold of Top2Diff that runs the inference again.
    loss_by_step: [Vec<f64>; 2],
}

impl Default for Tally {
    fn default() -> Self {
        let steps = || vec![0.0; LAST_STEP + 2];
        Self { injections: 0, sdcs: Vec::new(), loss: 0.0, loss_squares: 0.0, loss_by_step: [steps(), steps()] }
    }
}

impl Tally {
    /// Counts an injection; one without an effect left all logits as they were.
    pub fn count(&mut self, effect: Option<&Effect>) {
        self.injections += 1;
        let Some(effect) = effect else { return };
        self.sdcs.extend(effect.mismatch.then_some(effect.seen));
        self.loss += effect.loss;
        self.loss_squares += effect.loss * effect.loss;
        for (steps, reading) in self.loss_by_step.iter_mut().zip(READINGS) {
            steps[effect.seen.certainty(reading).first_step(Criterion::Top2Diff)] += effect.loss;
        }
    }

    /// The mean change of the cross entropy (Equation 6.4).
    #[must_use]
    pub fn mean_loss(&self) -> f64 {
        self.loss / self.injections.max(1) as f64
    }
}

/// As many injections for each feature map, and the images that they hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    maps: Vec<FeatureMap>,
    tallies: Vec<Tally>,
    images: Vec<ImageFacts>,
}

impl Table {
    /// The tally of each feature map, and all images of the set.
    ///
    /// # Errors
    /// When there are not as many tallies as feature maps, or not as many injections in each of them.
    pub fn new(maps: Vec<FeatureMap>, tallies: Vec<Tally>, images: Vec<ImageFacts>) -> Result<Self, FilrError> {
        let wrong = |what| Err(FilrError::Table { what });
        if maps.len() != tallies.len() || maps.is_empty() || images.is_empty() {
            let found = [maps.len(), tallies.len(), images.len()];
            return wrong(format!(
                "a tally for each feature map and some images, found {found:?} maps, tallies, images"
            ));
        }
        let injections = tallies[0].injections;
        match tallies.iter().find(|tally| tally.injections != injections || injections == 0) {
            Some(other) => wrong(format!(
                "the same number of injections for each feature map, at least 1, found {injections} and {}",
                other.injections
            )),
            None => Ok(Self { maps, tallies, images }),
        }
    }

    /// The feature maps.
    #[must_use]
    pub fn maps(&self) -> &[FeatureMap] {
        &self.maps
    }

    /// What the injections of each feature map came to.
    #[must_use]
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// The images, right or not.
    #[must_use]
    pub fn images(&self) -> &[ImageFacts] {
        &self.images
    }

    /// Injections that changed the class.
    #[must_use]
    pub fn sdcs(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.sdcs.len() as u64).sum()
    }

    /// What there is to protect if no inference is run again.
    #[must_use]
    pub fn all(&self) -> Left {
        let sdcs = self.tallies.iter().map(|tally| tally.sdcs.len() as u64).collect();
        Left { sdcs, loss: self.tallies.iter().map(|tally| tally.loss).collect() }
    }

    /// What is left to protect if inferences are run again whose Top2Diff is below the threshold of this number.
    #[must_use]
    pub fn left(&self, reading: Reading, step: usize) -> Left {
        let sdcs = |tally: &Tally| {
            let first = |sdc: &Sdc| sdc.certainty(reading).first_step(Criterion::Top2Diff);
            tally.sdcs.iter().filter(|sdc| first(sdc) > step).count() as u64
        };
        let which = usize::from(reading == Reading::Faulty);
        let loss = |tally: &Tally| tally.loss_by_step[which].iter().skip(step + 1).sum();
        Left { sdcs: self.tallies.iter().map(sdcs).collect(), loss: self.tallies.iter().map(loss).collect() }
    }

    /// The share of images that are run again at the threshold of this number, 0 to 1, right or not.
    #[must_use]
    pub fn reruns(&self, criterion: Criterion, step: usize) -> f64 {
        let again = self.images.iter().filter(|image| image.certainty.first_step(criterion) <= step).count();
        again as f64 / self.images.len() as f64
    }
}

/// What is not yet protected, for each feature map.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Injections that changed the class.
    pub sdcs: Vec<u64>,
    /// The sum of the changes of the cross entropy.
    pub loss: Vec<f64>,
}

impl Left {
    /// SDCs, each as heavy as the multiplications of its feature map: the vulnerability, but for a factor.
    #[must_use]
    pub fn mass(&self, maps: &[FeatureMap]) -> u128 {
        self.sdcs.iter().zip(maps).map(|(&sdcs, map)| u128::from(sdcs) * u128::from(map.macs)).sum()
    }

    /// SDCs, each as heavy as the neurons of its feature map: what a campaign over all neurons would find.
    #[must_use]
    pub fn mass_by_neurons(&self, maps: &[FeatureMap]) -> u128 {
        self.sdcs.iter().zip(maps).map(|(&sdcs, map)| u128::from(sdcs) * u128::from(map.neurons)).sum()
    }
}
