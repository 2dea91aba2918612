//! A network with its images as the target system of a campaign.

use std::borrow::Cow;
use std::time::Instant;

use campaign::{
    Engine, EngineOffer, Engines, GoldenSummary, LabelColumn, Planner, RunFailure, RunIndex, SelectionWords, Site,
    Stratum, Subject, Sweep, SweptFault, TargetError, Worker,
};
use outcome::{Criteria, Observation, Tier};

use crate::delta::Delta;
use crate::fault_free::{FaultFreeRuns, fault_free_runs};
use crate::forward::{Run, forward};
use crate::hit::{Hit, HitBits, LayerOperand};
use crate::images::Images;
use crate::network::Network;
use crate::network_sites::{FaultFreeNumbers, NetworkSites};
use crate::notice::noticed;
use crate::sites::{LABELS, RunCost, batch_size, fault_of, run_by_image};

pub use crate::sites::LayerSize;

/// The engines, the usual one first; `auto` is `delta`.
pub const ENGINES: [EngineOffer; 3] = [
    EngineOffer { word: "auto", about: "what is fastest, which is delta" },
    EngineOffer { word: "delta", about: "computes what differs from the fault-free run" },
    EngineOffer { word: "full", about: "runs the whole network again" },
];

/// A network, its images, and their fault-free runs.
#[derive(Debug)]
pub struct NetworkTarget {
    network: Network,
    images: Images,
    digest: String,
    /// The fault-free runs, as far as there is memory for them; others are made again when they are needed.
    golden: Vec<Option<Run>>,
    /// The images of which it says what they show.
    right: Vec<usize>,
    seconds: f64,
}

/// Of how many images a network says what they show: their class, or all of their objects and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// Images of which it does.
    pub right: usize,
    /// All images.
    pub images: usize,
}

impl Accuracy {
    /// The share of such images.
    #[must_use]
    pub fn share(self) -> f64 {
        self.right as f64 / self.images as f64
    }
}

/// Why a network and images are no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("run the network `{network}` on images: it reads {expected} bytes, and an image has {found}")]
pub struct UnlikeSizes {
    pub(crate) network: String,
    pub(crate) expected: usize,
    pub(crate) found: usize,
}

impl NetworkTarget {
    /// Runs the network on all images, without faults; `file` is what it was read from, for the digest.
    ///
    /// # Errors
    /// When images have another size than what the network reads.
    #[expect(clippy::disallowed_methods, reason = "speed is measured with a clock; no result depends on it")]
    pub fn new(network: Network, file: &[u8], images: Images) -> Result<Self, UnlikeSizes> {
        let (expected, found) = (network.tensors()[0].shape.elements(), images.pixels(0).len());
        if expected != found {
            return Err(UnlikeSizes { network: network.name().to_owned(), expected, found });
        }
        let start = Instant::now();
        let run = |image| forward(&network, images.pixels(image), None);
        let is_right =
            |image: usize, run: &Run| Ok(images.is_right(image, &network.logits().quantisation.values(run.logits())));
        let FaultFreeRuns { golden, right } = fault_free_runs(images.count(), run, Run::bytes, is_right)?;
        let digest = images.digest(&[file]);
        Ok(Self { network, images, digest, golden, right, seconds: start.elapsed().as_secs_f64() })
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
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

    /// Another class, or other objects, make a corrupted output bad if nobody says otherwise.
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
    pub fn golden_run(&self, image: usize) -> Cow<'_, Run> {
        match self.golden.get(image) {
            Some(Some(run)) => Cow::Borrowed(run),
            _ => Cow::Owned(forward(&self.network, self.images.pixels(image), None)),
        }
    }

    /// What there is to know of a fault before it is run.
    ///
    /// # Errors
    /// When the id cannot be read, or the network has no such place.
    pub fn site(&self, id: &str) -> Result<Site, TargetError> {
        self.sites().site(id)
    }

    fn sites(&self) -> NetworkSites<'_> {
        NetworkSites { network: &self.network, images: self.images.count(), right: &self.right, numbers: self }
    }

    /// What is seen of a run that left these logits.
    fn observation(&self, golden: &Run, hit: &Hit, bits: Option<HitBits>, logits: &[u8], cost: RunCost) -> Observation {
        let [golden, found] = [golden.logits(), logits].map(|bytes| self.network.logits().quantisation.values(bytes));
        let outputs = self.images.task().outputs(&golden, &found);
        self.sites().observation(hit, bits, outputs, cost)
    }
}

impl FaultFreeNumbers for NetworkTarget {
    fn fault_free(&self, image: usize, layer: usize, operand: LayerOperand, element: usize) -> Option<f64> {
        let of = |tensor: usize| {
            let byte = *self.golden_run(image).tensors.get(tensor)?.get(element)?;
            Some(f64::from(self.network.tensors().get(tensor)?.quantisation.value(byte)))
        };
        match operand {
            LayerOperand::Out => of(layer + 1),
            LayerOperand::In(which) => of(*self.network.layers().get(layer)?.inputs.get(which)?),
            LayerOperand::Weight | LayerOperand::Bias => self.network.parameter(layer, operand, element),
        }
    }
}

impl Subject for NetworkTarget {
    fn name(&self) -> &str {
        self.network.name()
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    /// Launches are images, threads the neurons of a forward run, instructions the multiplications of all images.
    fn golden(&self) -> GoldenSummary {
        self.sites().golden(self.seconds)
    }
}

impl Planner for NetworkTarget {
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

impl Engines for NetworkTarget {
    fn offered(&self) -> &[EngineOffer] {
        &ENGINES
    }

    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        engine.among(&ENGINES).map_err(|error| TargetError::from_error(&error))?;
        let delta = (engine.word() != "full").then(|| Delta::new(&self.network));
        Ok(Box::new(NetworkWorker { target: self, delta }))
    }

    fn batch_size(&self, engine: &Engine) -> usize {
        batch_size(engine.word() != "full", self.sites().macs())
    }
}

/// Runs faults on one thread.
struct NetworkWorker<'t> {
    target: &'t NetworkTarget,
    /// Nothing runs the whole network again.
    delta: Option<Delta<'t>>,
}

impl NetworkWorker<'_> {
    fn observe(&mut self, golden: &Run, image: usize, hit: &Hit) -> Observation {
        let target = self.target;
        match &mut self.delta {
            Some(delta) => {
                let run = delta.run(golden, hit);
                let logits = delta.tensor(golden, target.network.layers().len());
                let tier = if run.stopped { Tier::Stopped } else { Tier::Delta };
                let cost = RunCost { tier, macs: run.macs };
                let seen = target.observation(golden, hit, run.hit, &logits, cost);
                noticed(seen, &target.network, |tensor| delta.differs(tensor), |tensor| delta.tensor(golden, tensor))
            }
            None => {
                let run = forward(&target.network, target.images.pixels(image), Some(hit));
                let cost = RunCost { tier: Tier::Full, macs: target.sites().macs() };
                let seen = target.observation(golden, hit, run.hit, run.logits(), cost);
                let differs = |tensor: usize| run.tensors[tensor] != golden.tensors[tensor];
                noticed(seen, &target.network, differs, |tensor| run.tensors[tensor].clone())
            }
        }
    }
}

impl Worker for NetworkWorker<'_> {
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
