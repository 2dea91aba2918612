//! A network of floating point with its images as the target system of a campaign.

use std::borrow::Cow;
use std::time::Instant;

use campaign::{
    Engine, EngineOffer, Engines, GoldenSummary, LabelColumn, Planner, RunFailure, RunIndex, SelectionWords, Site,
    Stratum, Subject, Sweep, SweptFault, TargetError, Worker,
};
use outcome::{Criteria, Observation, Tier};

use super::network::FloatNetwork;
use super::run::{FloatDelta, FloatRun, float_forward};
use crate::fault_free::{FaultFreeRuns, fault_free_runs};
use crate::hit::{Hit, LayerOperand};
use crate::images::Images;
use crate::network_sites::{FaultFreeNumbers, NetworkSites};
use crate::sites::{LABELS, LayerSize, RunCost, batch_size, fault_of, run_by_image};
use crate::target::{Accuracy, ENGINES, UnlikeSizes};
use crate::topology::Topology as _;

/// A network of floating point, its images, and their fault-free runs. A pixel is its byte divided by 255.
#[derive(Debug)]
pub struct FloatTarget {
    network: FloatNetwork,
    images: Images,
    digest: String,
    /// The fault-free runs, as far as there is memory for them; others are made again when they are needed.
    golden: Vec<Option<FloatRun>>,
    /// The images of which it says what they show.
    right: Vec<usize>,
    seconds: f64,
}

/// Why a network of floating point and images are no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FloatTargetError {
    /// Images have another size.
    #[error(transparent)]
    Sizes(#[from] UnlikeSizes),
    /// A fault-free run makes NaN or infinity.
    #[error(
        "run the network `{network}` on image {image}: without a fault its logits are {found:?}; expected finite numbers"
    )]
    Logits {
        /// The network.
        network: String,
        /// The image.
        image: usize,
        /// The logits, as texts.
        found: Vec<String>,
    },
}

/// The values of the bytes of an image.
fn values(pixels: &[u8]) -> Vec<f32> {
    pixels.iter().map(|&byte| f32::from(byte) / 255.0).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

impl FloatTarget {
    /// Runs the network on all images, without faults; `file` is what it was read from, for the digest.
    ///
    /// # Errors
    /// When images have another size than what the network reads, or a run without a fault has logits that are not finite.
    #[expect(clippy::disallowed_methods, reason = "speed is measured with a clock; no result depends on it")]
    pub fn new(network: FloatNetwork, file: &[u8], images: Images) -> Result<Self, FloatTargetError> {
        let (expected, found) = (network.tensors()[0].shape.elements(), images.pixels(0).len());
        if expected != found {
            return Err(UnlikeSizes { network: network.name().to_owned(), expected, found }.into());
        }
        let start = Instant::now();
        let run = |image| float_forward(&network, &values(images.pixels(image)), None);
        let is_right = |image: usize, run: &FloatRun| {
            if run.logits().iter().any(|logit| !logit.is_finite()) {
                let found = run.logits().iter().map(ToString::to_string).collect();
                return Err(FloatTargetError::Logits { network: network.name().to_owned(), image, found });
            }
            Ok(images.is_right(image, &wide(run.logits())))
        };
        let FaultFreeRuns { golden, right } = fault_free_runs(images.count(), run, FloatRun::bytes, is_right)?;
        let digest = images.digest(&[file, network.format().word().as_bytes()]);
        Ok(Self { network, images, digest, golden, right, seconds: start.elapsed().as_secs_f64() })
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &FloatNetwork {
        &self.network
    }

    /// The images.
    #[must_use]
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// Of how many images it says what they show. Faults are drawn for these only.
    #[must_use]
    pub fn accuracy(&self) -> Accuracy {
        Accuracy { right: self.right.len(), images: self.images.count() }
    }

    /// Its layers with their sizes, in the order of their execution.
    #[must_use]
    pub fn layers(&self) -> Vec<LayerSize> {
        self.sites().layers()
    }

    /// The usual criteria: another class, or other objects, make a corrupted output bad.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        self.images.task().criteria()
    }

    /// The neurons that `selection` draws from in each image, and how many images there are.
    ///
    /// # Errors
    /// When the selection names what the network does not have.
    pub fn population(&self, selection: &SelectionWords) -> Result<(u64, u64), TargetError> {
        self.sites().population(selection)
    }

    /// The fault-free run of an image.
    #[must_use]
    pub fn golden_run(&self, image: usize) -> Cow<'_, FloatRun> {
        match self.golden.get(image) {
            Some(Some(run)) => Cow::Borrowed(run),
            _ => Cow::Owned(float_forward(&self.network, &values(self.images.pixels(image)), None)),
        }
    }

    /// The site of a fault, from its text id.
    ///
    /// # Errors
    /// When the id cannot be read, or the network has no such place.
    pub fn site(&self, id: &str) -> Result<Site, TargetError> {
        self.sites().site(id)
    }

    fn sites(&self) -> NetworkSites<'_> {
        NetworkSites { network: &self.network, images: self.images.count(), right: &self.right, numbers: self }
    }
}

impl FaultFreeNumbers for FloatTarget {
    fn fault_free(&self, image: usize, layer: usize, operand: LayerOperand, element: usize) -> Option<f64> {
        let layers = self.network.layers();
        let of = |tensor: usize| self.golden_run(image).tensors.get(tensor)?.get(element).copied();
        let number = match operand {
            LayerOperand::Out => of(layer + 1),
            LayerOperand::In(which) => of(*layers.get(layer)?.inputs.get(which)?),
            LayerOperand::Weight => layers.get(layer)?.conv()?.weights.get(element).copied(),
            LayerOperand::Bias => layers.get(layer)?.conv()?.bias.get(element).copied(),
        };
        number.map(f64::from)
    }
}

impl Subject for FloatTarget {
    fn name(&self) -> &str {
        self.network.name()
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn golden(&self) -> GoldenSummary {
        self.sites().golden(self.seconds)
    }
}

impl Planner for FloatTarget {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], selection: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        self.sites().plan(runs, selection, seed)
    }

    fn strata(&self, selection: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        self.sites().strata(selection)
    }

    fn sweep(&self, selection: &SelectionWords) -> Result<Sweep, TargetError> {
        self.sites().sweep(selection)
    }

    fn unit(&self, selection: &SelectionWords, unit: u64) -> Result<Option<Vec<SweptFault>>, TargetError> {
        self.sites().unit(selection, unit)
    }
}

impl Engines for FloatTarget {
    fn offered(&self) -> &[EngineOffer] {
        &ENGINES
    }

    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        engine.among(&ENGINES).map_err(|error| TargetError::from_error(&error))?;
        let delta = (engine.word() != "full").then(|| FloatDelta::new(&self.network));
        Ok(Box::new(FloatWorker { target: self, delta }))
    }

    fn batch_size(&self, engine: &Engine) -> usize {
        batch_size(engine.word() != "full", self.sites().macs())
    }
}

/// Runs faults on one thread.
struct FloatWorker<'t> {
    target: &'t FloatTarget,
    /// Nothing runs the whole network again.
    delta: Option<FloatDelta<'t>>,
}

impl FloatWorker<'_> {
    fn observe(&mut self, golden: &FloatRun, image: usize, hit: &Hit) -> Observation {
        let (target, sites) = (self.target, self.target.sites());
        let observed = |bits, logits: &[f32], cost| {
            let outputs = target.images.task().outputs(&wide(golden.logits()), &wide(logits));
            sites.observation(hit, bits, outputs, cost)
        };
        match &mut self.delta {
            Some(delta) => {
                let run = delta.run(golden, hit);
                let logits = delta.tensor(target.network.layers().len());
                let tier = if run.stopped { Tier::Stopped } else { Tier::Delta };
                observed(run.hit, logits, RunCost { tier, macs: run.macs })
            }
            None => {
                let run = float_forward(&target.network, &values(target.images.pixels(image)), Some(hit));
                observed(run.hit, run.logits(), RunCost { tier: Tier::Full, macs: sites.macs() })
            }
        }
    }
}

impl Worker for FloatWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let target = self.target;
        let (image, hit) = fault_of(site, &target.sites())?;
        Ok(self.observe(&target.golden_run(image), image, &hit))
    }

    fn batch_size(&self) -> usize {
        batch_size(self.delta.is_some(), self.target.sites().macs())
    }

    fn run_batch(&mut self, sites: &[Site]) -> Vec<Result<Observation, RunFailure>> {
        let target = self.target;
        let golden = |image| target.golden_run(image);
        run_by_image(sites, &target.sites(), golden, |golden, image, hit| self.observe(golden, image, hit))
    }
}
