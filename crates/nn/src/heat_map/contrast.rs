//! The feature maps of a layer to which a class is least and most sensitive, and heat maps with a fault in each.

use fault::Model;

use super::layer::{HeatMapper, MappedRun};
use crate::fault::{ElementRegion, Fault, FaultError, FaultPart, Span};
use crate::hit::LayerOperand;

/// A run without a fault, and runs with one in the feature map to which its class is least sensitive, and in the most sensitive one.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityContrast {
    /// The run without a fault.
    pub fault_free: MappedRun,
    /// The channels of the least and of the most sensitive feature map; of equal ones the first.
    pub channels: [usize; 2],
    /// Their faults.
    pub faults: [Fault; 2],
    /// The runs with them, seen for the class of the run without a fault.
    pub faulty: [MappedRun; 2],
}

impl SensitivityContrast {
    /// Both faults store a number, as near as a byte comes to it, in all neurons of their feature map.
    ///
    /// # Errors
    /// When the image lies beyond the number of images.
    pub fn new(
        mapper: HeatMapper<'_>,
        (image, pixels): (usize, &[u8]),
        number: f64,
        images: usize,
    ) -> Result<Self, FaultError> {
        let fault_free = mapper.fault_free(pixels);
        let channels = extremes(&fault_free.sensitivities);
        let faults = channels.map(|channel| channel_fault(mapper, image, channel, number));
        let run = |fault: &Fault| {
            let hit = fault.hit(mapper.network(), images)?;
            Ok(mapper.faulty(pixels, &hit, fault_free.class))
        };
        let faulty = [run(&faults[0])?, run(&faults[1])?];
        Ok(Self { fault_free, channels, faults, faulty })
    }

    /// How much the heat map differs with either fault from that without.
    #[must_use]
    pub fn differences(&self) -> [f64; 2] {
        [0, 1].map(|which| self.fault_free.map.difference(&self.faulty[which].map))
    }
}

/// The fault that stores a number, as near as a byte comes to it, in all neurons of a feature map of the layer.
#[must_use]
pub fn channel_fault(mapper: HeatMapper<'_>, image: usize, channel: usize, number: f64) -> Fault {
    let (network, layer) = (mapper.network(), mapper.layer());
    let byte = network.output(layer).quantisation.stored(number as f32);
    let part = FaultPart {
        layer: network.layers()[layer].name.clone(),
        operand: LayerOperand::Out,
        at: vec![ElementRegion(vec![Span::One(channel), Span::All, Span::All])],
        models: vec![Model::Value(byte.into())],
    };
    Fault { image, parts: vec![part] }
}

/// The first of the least and the first of the largest numbers.
fn extremes(numbers: &[f64]) -> [usize; 2] {
    let first = |is_better: fn(f64, f64) -> bool| {
        let better = |best: usize, at: usize| if is_better(numbers[at], numbers[best]) { at } else { best };
        (0..numbers.len()).reduce(better).unwrap_or(0)
    };
    [first(|a, b| a < b), first(|a, b| a > b)]
}
