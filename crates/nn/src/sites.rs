//! The faults of a network as sites of campaigns, whatever numbers it computes with.

use campaign::{
    GoldenSummary, Label, LabelColumn, Labels, RunFailure, RunIndex, SelectionWords, Site, Spot, Stratum, Sweep,
    SweptFault, SweptOperand, TargetError,
};
use outcome::{End, FirstUse, Landed, Observation, OutputDiff, Tier};

use crate::fault::{Fault, FaultPart};
use crate::hit::{Hit, HitBits, LayerOperand};
use crate::network_sites::NetworkSites;
use crate::population::{Population, SweptSet};
use crate::space::ElementSpace;

/// The words of each fault besides its layer.
pub(crate) static LABELS: [LabelColumn; 5] = [
    LabelColumn::number("image", "the image, by its number in the data set"),
    LabelColumn::number(
        "channel",
        "the channel of the neuron, of the input or of the bias, or the filter of the weight; the first coordinate of matrices",
    ),
    LabelColumn::number("position", "its other coordinates as one number: of a neuron row times width plus column"),
    LabelColumn::text("model", "the fault model, as ids write it"),
    LabelColumn::text("bits", "the bits that are hit or the value that replaces them, as ids write them"),
];

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

/// The most places that a row counts, as many as a warp has threads; its id names all of them.
const COUNTED: usize = 32;

/// How a run was made, and what it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunCost {
    pub(crate) tier: Tier,
    /// Multiplications with a weight.
    pub(crate) macs: u64,
}

/// The image and the places of a site.
pub(crate) fn fault_of(site: &Site, sites: &NetworkSites<'_>) -> Result<(usize, Hit), RunFailure> {
    let id = site.fault().ok_or_else(|| RunFailure::new("run a fault: the site has none"))?;
    let fault = Fault::parse(id).map_err(|error| RunFailure::from_error(&error))?;
    let hit = fault.hit(sites.network, sites.images).map_err(|error| RunFailure::from_error(&error))?;
    Ok((fault.image, hit))
}

/// Faults that a thread has at once, at most: of each image some, so that what they read of its fault-free run is at hand.
const TOGETHER: u64 = 1 << 13;

/// The multiplications that runs of them may take, as whole runs, of which each makes about a fiftieth: seconds at most.
const MACS_TOGETHER: u64 = 1 << 38;

/// How many faults a thread has at once, at most: one where each is a forward run of its own.
pub(crate) fn batch_size(is_delta: bool, macs: u64) -> usize {
    if is_delta { (MACS_TOGETHER / macs.max(1)).clamp(1, TOGETHER) as usize } else { 1 }
}

/// Runs faults image by image, each with the fault-free run of its image, and layer by layer; results are in the order of the sites.
pub(crate) fn run_by_image<R>(
    sites: &[Site],
    of: &NetworkSites<'_>,
    golden: impl Fn(usize) -> R,
    mut run: impl FnMut(&R, usize, &Hit) -> Observation,
) -> Vec<Result<Observation, RunFailure>> {
    let faults: Vec<_> = sites.iter().map(|site| fault_of(site, of)).collect();
    let place = |(image, hit): &(usize, Hit)| (*image, hit.places().first().map(|place| place.layer));
    let mut order: Vec<usize> = (0..faults.len()).collect();
    order.sort_by_key(|&at| faults[at].as_ref().ok().map(place));
    let mut last = None;
    let mut observe = |(image, hit): (usize, Hit)| {
        let golden = last.take_if(|(of, _)| *of == image).map_or_else(|| golden(image), |(_, golden)| golden);
        let observed = run(&golden, image, &hit);
        last = Some((image, golden));
        observed
    };
    let mut found: Vec<(usize, Result<Observation, RunFailure>)> =
        order.into_iter().map(|at| (at, faults[at].clone().map(&mut observe))).collect();
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, result)| result).collect()
}

impl NetworkSites<'_> {
    fn select(&self, selection: &SelectionWords) -> Result<Population<'_>, TargetError> {
        Population::new(*self, selection)
    }

    /// The members that `selection` draws from in each image, and how many images there are.
    pub(crate) fn population(&self, selection: &SelectionWords) -> Result<(u64, u64), TargetError> {
        let population = self.select(selection)?;
        let images = population.images() as u64;
        let members: u64 = population.strata().iter().map(|stratum| stratum.members).sum();
        Ok((members / images.max(1), images))
    }

    /// The layers with their sizes, in the order of their execution.
    pub(crate) fn layers(&self) -> Vec<LayerSize> {
        let size = |(number, layer): (usize, crate::topology::LayerLayout<'_>)| {
            let shape = self.network.output_shape(number);
            LayerSize {
                name: layer.name.to_owned(),
                class: layer.class,
                opcode: layer.opcode.to_owned(),
                shape: [shape.height, shape.width, shape.channels],
                neurons: shape.elements() as u64,
                parameters: self.network.parameters(number) as u64,
                macs: self.network.macs(number),
            }
        };
        self.network.layouts().enumerate().map(size).collect()
    }

    /// Multiplications with a weight in one forward run.
    pub(crate) fn macs(&self) -> u64 {
        (0..self.network.layer_count()).map(|layer| self.network.macs(layer)).sum()
    }

    /// Launches are images, threads the neurons of a forward run, instructions the multiplications of all images.
    pub(crate) fn golden(&self, seconds: f64) -> GoldenSummary {
        let images = self.images as u64;
        let neurons = (0..self.network.layer_count()).map(|layer| self.network.output_shape(layer).elements() as u64);
        let thread_instructions = self.macs() * images;
        GoldenSummary { launches: images, threads: neurons.sum(), thread_instructions, seconds }
    }

    /// The site of a fault, from its text id.
    pub(crate) fn site(&self, id: &str) -> Result<Site, TargetError> {
        let fault = Fault::parse(id).map_err(|error| TargetError::from_error(&error))?;
        fault.hit(self.network, self.images).map_err(|error| TargetError::from_error(&error))?;
        Ok(self.site_of(&fault))
    }

    fn site_of(&self, fault: &Fault) -> Site {
        let (layer, operand) = fault.parts.first().map_or(("", LayerOperand::Out), |part| (&part.layer, part.operand));
        let number = self.network.layer_named(layer).unwrap_or(0);
        let space = ElementSpace::of(self.network, number, operand);
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
        let Some(layer) = self.network.layer(number) else { return Spot::default() };
        Spot {
            kernel: layer.name.to_owned(),
            pc: number as u32,
            target: operand.word().to_owned(),
            group: layer.class.to_owned(),
            opcode: layer.opcode.to_owned(),
            ..Spot::default()
        }
    }

    /// The observation of a run that left these outputs.
    pub(crate) fn observation(
        &self,
        hit: &Hit,
        bits: Option<HitBits>,
        outputs: Vec<OutputDiff>,
        RunCost { tier, macs }: RunCost,
    ) -> Observation {
        let read = hit.places().iter().any(|place| {
            let shape = self.network.output_shape(place.layer);
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
            outputs,
            host_visible: false,
            strayed: 0,
            instructions: macs,
            tier,
            host: None,
        }
    }

    pub(crate) fn plan(
        &self,
        runs: &[RunIndex],
        selection: &SelectionWords,
        seed: u64,
    ) -> Result<Vec<Site>, TargetError> {
        let population = self.select(selection)?;
        let site = |run: &RunIndex| {
            let drawn = population.draw(seed, run.0);
            let drawn = drawn.ok_or_else(|| TargetError::new("draw a fault: the selection has none"))?;
            Ok(Site { stratum: drawn.stratum, ..self.site_of(&drawn.fault) })
        };
        runs.iter().map(site).collect()
    }

    pub(crate) fn strata(&self, selection: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        Ok(self.select(selection)?.strata())
    }

    /// A unit is an operand of a layer in the inference on an image; images one after the other.
    pub(crate) fn sweep(&self, selection: &SelectionWords) -> Result<Sweep, TargetError> {
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

    pub(crate) fn unit(&self, selection: &SelectionWords, unit: u64) -> Result<Option<Vec<SweptFault>>, TargetError> {
        let faults = self.select(selection)?.unit(unit)?;
        let faults =
            faults.ok_or_else(|| TargetError::new(format!("list the faults of unit {unit}: there are less")))?;
        let swept =
            |(fault, bit): &(Fault, u32)| SweptFault { site: self.site_of(fault), operand: faults.operand, bit: *bit };
        Ok(Some(faults.faults.iter().map(swept).collect()))
    }
}
