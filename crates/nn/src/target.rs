//! A network with its images as the target system of a campaign.

use std::borrow::Cow;
use std::time::Instant;

use campaign::{
    Engine, EngineOffer, Engines, GoldenSummary, Label, LabelColumn, Labels, Planner, RunFailure, RunIndex,
    SelectionWords, Site, Spot, Stratum, Subject, Sweep, SweptFault, SweptOperand, TargetError, Worker,
};
use outcome::{Criteria, End, FirstUse, Landed, Observation, Tier};

use crate::delta::Delta;
use crate::fault::{Fault, FaultPart};
use crate::forward::{Run, forward, top_class};
use crate::hit::{Hit, HitBits, LayerOperand};
use crate::images::Images;
use crate::network::Network;
use crate::observe;
use crate::population::{Population, SweptSet};
use crate::space::ElementSpace;

/// The engines, the usual one first; `auto` is `delta`.
pub const ENGINES: [EngineOffer; 3] = [
    EngineOffer { word: "auto", about: "what is fastest, which is delta" },
    EngineOffer { word: "delta", about: "computes what differs from the fault-free run" },
    EngineOffer { word: "full", about: "runs the whole network again" },
];

/// What is said of each fault besides its layer.
static LABELS: [LabelColumn; 5] = [
    LabelColumn::number("image", "the image, by its number in the data set"),
    LabelColumn::number(
        "channel",
        "the channel of the neuron, of the input or of the bias, or the filter of the weight",
    ),
    LabelColumn::number("position", "its other coordinates as one number: of a neuron row times width plus column"),
    LabelColumn::text("model", "the fault model, as ids write it"),
    LabelColumn::text("bits", "the bits that are hit or the value that replaces them, as ids write them"),
];

/// A network, its images, and their fault-free runs.
#[derive(Debug)]
pub struct NetworkTarget {
    network: Network,
    images: Images,
    digest: String,
    /// The fault-free runs, as far as there is memory for them; others are made again when they are needed.
    golden: Vec<Option<Run>>,
    /// The images whose class is right.
    right: Vec<usize>,
    seconds: f64,
}

/// A layer as a summary tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerSize {
    /// Its name.
    pub name: String,
    /// The class of its operator.
    pub class: &'static str,
    /// The operator's name in the file.
    pub opcode: String,
    /// Rows, columns and channels of its output.
    pub shape: [usize; 3],
    /// Its neurons: the elements of its output.
    pub neurons: u64,
    /// Its weights and biases.
    pub parameters: u64,
    /// Multiplications with a weight in one forward run.
    pub macs: u64,
}

/// How many images a network classifies as their labels say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// Images whose class is right.
    pub right: usize,
    /// All images.
    pub images: usize,
}

impl Accuracy {
    /// The share of images whose class is right.
    #[must_use]
    pub fn share(self) -> f64 {
        self.right as f64 / self.images as f64
    }
}

/// Why a network and images are no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("run the network `{network}` on images: it reads {expected} bytes, and an image has {found}")]
pub struct UnlikeSizes {
    network: String,
    expected: usize,
    found: usize,
}

/// The most places that a row counts, as many as a warp has threads; its id names all of them.
const COUNTED: usize = 32;

/// The most that fault-free runs take of memory, in bytes.
const KEPT: usize = 1 << 30;

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
        let (mut golden, mut right, mut left) = (Vec::new(), Vec::new(), KEPT);
        for image in 0..images.count() {
            let run = forward(&network, images.pixels(image), None);
            let is_right = top_class(run.logits()) == usize::from(images.labels()[image]);
            right.extend(is_right.then_some(image));
            let rest = left.checked_sub(run.bytes()).filter(|_| is_right);
            left = rest.unwrap_or(left);
            golden.push(rest.map(|_| run));
        }
        let digest = digest(file, &images);
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

    /// How many images it classifies as their labels say. Faults are drawn for these only.
    #[must_use]
    pub fn accuracy(&self) -> Accuracy {
        Accuracy { right: self.right.len(), images: self.images.count() }
    }

    /// Its layers with their sizes, in the order of their execution.
    #[must_use]
    pub fn layers(&self) -> Vec<LayerSize> {
        let size = |number: usize| {
            let (layer, shape) = (&self.network.layers()[number], self.network.output(number).shape);
            LayerSize {
                name: layer.name.clone(),
                class: layer.class(),
                opcode: layer.opcode.clone(),
                shape: [shape.height, shape.width, shape.channels],
                neurons: shape.elements() as u64,
                parameters: self.network.parameters(number) as u64,
                macs: self.network.macs(number),
            }
        };
        (0..self.network.layers().len()).map(size).collect()
    }

    /// What makes a corrupted output bad if nobody says otherwise: another class. Other logits of the same class are good.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        observe::criteria()
    }

    /// The neurons that `selection` draws from in each image, and how many images there are.
    ///
    /// # Errors
    /// When the selection names what the network does not have.
    pub fn population(&self, selection: &SelectionWords) -> Result<(u64, u64), TargetError> {
        let population = self.select(selection)?;
        let images = population.images() as u64;
        let members: u64 = population.strata().iter().map(|stratum| stratum.members).sum();
        Ok((members / images.max(1), images))
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
        let fault = Fault::parse(id).map_err(|error| TargetError::from_error(&error))?;
        fault.hit(&self.network, self.images.count()).map_err(|error| TargetError::from_error(&error))?;
        Ok(self.site_of(&fault))
    }

    fn select(&self, selection: &SelectionWords) -> Result<Population<'_>, TargetError> {
        Population::new(&self.network, &self.right, selection)
    }

    fn site_of(&self, fault: &Fault) -> Site {
        let (layer, operand) = fault.parts.first().map_or(("", LayerOperand::Out), |part| (&part.layer, part.operand));
        let number = self.network.layer_named(layer).unwrap_or(0);
        let space = ElementSpace::of(&self.network, number, operand);
        let one = match &fault.parts[..] {
            [FaultPart { at, .. }] if at.len() == 1 => at[0].only(),
            _ => None,
        };
        let numbers = one.zip(space).map(|(at, space)| {
            let rest = at[1..].iter().zip(&space.sizes()[1..]);
            [at[0] as u64, rest.fold(0, |position, (&at, &size)| position * size as u64 + at as u64)]
        });
        let number_of = |which: usize| numbers.map_or(Label::None, |numbers| numbers[which].into());
        let part = |text: fn(&FaultPart) -> String| fault.parts.first().map_or_else(String::new, text);
        let labels = Labels::new(vec![
            (fault.image as u64).into(),
            number_of(0),
            number_of(1),
            part(|part| part.model().to_owned()).into(),
            part(FaultPart::bits).into(),
        ]);
        Site::new(fault.to_string(), self.spot(number, operand), labels)
    }

    fn spot(&self, number: usize, operand: LayerOperand) -> Spot {
        let layer = &self.network.layers()[number];
        Spot {
            kernel: layer.name.clone(),
            pc: number as u32,
            target: operand.word().to_owned(),
            group: layer.class().to_owned(),
            opcode: layer.opcode.clone(),
            ..Spot::default()
        }
    }

    /// What is seen of a run that left these logits.
    fn observation(
        &self,
        golden: &Run,
        hit: &Hit,
        bits: Option<HitBits>,
        logits: &[u8],
        tier: Tier,
        macs: u64,
    ) -> Observation {
        let read = hit.places().iter().any(|place| {
            let shape = self.network.output(place.layer).shape;
            let position = place.element / shape.channels;
            let is_read = || self.network.is_read(place.layer, position / shape.width, position % shape.width);
            place.operand != LayerOperand::Out || is_read()
        });
        let threads = hit.places().len().min(COUNTED) as u32;
        let landed = |bits: HitBits| Landed { before: bits.before.into(), after: bits.after.into(), threads };
        Observation {
            landed: bits.map(landed),
            first_use: if read { FirstUse::Read { after: 1 } } else { FirstUse::Never },
            end: End::Completed,
            outputs: observe::outputs(golden.logits(), logits, self.network.logits().quantisation),
            host_visible: false,
            strayed: 0,
            instructions: macs,
            tier,
            host: None,
        }
    }

    /// Multiplications with a weight in one forward run.
    fn macs(&self) -> u64 {
        (0..self.network.layers().len()).map(|layer| self.network.macs(layer)).sum()
    }
}

/// The digest of the network and of all that it is run on.
fn digest(file: &[u8], images: &Images) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [file, images.all_pixels(), images.labels()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
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
        let images = self.images.count() as u64;
        let neurons = self.network.tensors()[1..].iter().map(|tensor| tensor.shape.elements() as u64).sum();
        let thread_instructions = self.macs() * images;
        GoldenSummary { launches: images, threads: neurons, thread_instructions, seconds: self.seconds }
    }
}

impl Planner for NetworkTarget {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], selection: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let population = self.select(selection)?;
        let site = |run: &RunIndex| {
            let drawn = population.draw(seed, run.0);
            let drawn = drawn.ok_or_else(|| TargetError::new("draw a fault: the selection has none"))?;
            Ok(Site { stratum: drawn.stratum, ..self.site_of(&drawn.fault) })
        };
        runs.iter().map(site).collect()
    }

    fn strata(&self, selection: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        Ok(self.select(selection)?.strata())
    }

    /// A unit is an operand of a layer in the inference on an image; images one after the other.
    fn sweep(&self, selection: &SelectionWords) -> Result<Sweep, TargetError> {
        let population = self.select(selection)?;
        let (swept, images) = (population.swept()?, population.images());
        let operand = |set: &SweptSet| {
            let spot = self.spot(set.layer, set.operand);
            SweptOperand { spot, elements: 1, bits: set.bits, weight: 1 }
        };
        let faults = swept.iter().map(|set| set.elements * u64::from(set.bits));
        let unit_faults = faults.cycle().take(swept.len() * images).collect();
        let members = swept.iter().map(|set| set.elements).sum::<u64>() * images as u64;
        Ok(Sweep { operands: swept.iter().map(operand).collect(), unit_faults, members })
    }

    fn unit(&self, selection: &SelectionWords, unit: u64) -> Result<Option<Vec<SweptFault>>, TargetError> {
        let faults = self.select(selection)?.unit(unit)?;
        let faults =
            faults.ok_or_else(|| TargetError::new(format!("list the faults of unit {unit}: there are less")))?;
        let swept =
            |(fault, bit): &(Fault, u32)| SweptFault { site: self.site_of(fault), operand: faults.operand, bit: *bit };
        Ok(Some(faults.faults.iter().map(swept).collect()))
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
}

/// Runs faults on one thread.
struct NetworkWorker<'t> {
    target: &'t NetworkTarget,
    /// Nothing runs the whole network again.
    delta: Option<Delta<'t>>,
}

impl Worker for NetworkWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let target = self.target;
        let id = site.fault().ok_or_else(|| RunFailure::new("run a fault: the site has none"))?;
        let fault = Fault::parse(id).map_err(|error| RunFailure::from_error(&error))?;
        let hit = fault.hit(&target.network, target.images.count()).map_err(|error| RunFailure::from_error(&error))?;
        let golden = target.golden_run(fault.image);
        Ok(match &mut self.delta {
            Some(delta) => {
                let run = delta.run(&golden, &hit);
                let logits = delta.tensor(&golden, target.network.layers().len());
                target.observation(&golden, &hit, run.hit, &logits, Tier::Delta, run.macs)
            }
            None => {
                let run = forward(&target.network, target.images.pixels(fault.image), Some(&hit));
                target.observation(&golden, &hit, run.hit, run.logits(), Tier::Full, target.macs())
            }
        })
    }
}
