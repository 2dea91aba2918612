//! Every fault of a selection: a unit is an operand of a layer in the inference on an image.

use campaign::TargetError;
use fault::{Model, ModelKind};

use super::words::{Change, ScopeShape};
use super::{Population, Set};
use crate::fault::{ElementRegion, Fault, FaultPart};
use crate::hit::LayerOperand;

/// A unit, in words of the network.
pub(crate) struct UnitFaults {
    /// The number of its operand.
    pub(crate) operand: u32,
    /// The faults with the bit of each.
    pub(crate) faults: Vec<(Fault, u32)>,
}

/// An operand of a layer as a sweep has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweptSet {
    pub(crate) layer: usize,
    pub(crate) operand: LayerOperand,
    pub(crate) elements: u64,
    /// How many faults each element has.
    pub(crate) bits: u32,
}

impl Population<'_> {
    fn sets(&self) -> impl Iterator<Item = &Set> {
        self.parts.iter().flat_map(|part| &part.sets)
    }

    /// The models of an element of this number of bits, one for each fault.
    fn models(&self, bits: u32) -> Result<Vec<Model>, TargetError> {
        match self.change {
            Change::Bits(ModelKind::SINGLE) => Ok((0..bits).map(Model::single).collect()),
            Change::Bits(ModelKind::Zero) => Ok(vec![Model::Zero]),
            Change::Bits(ModelKind::Stuck { mask, ones }) => Ok(vec![Model::Stuck { mask, ones }]),
            _ => Err(TargetError::new(
                "list every fault: of a network they are those of the models flip, zero, stuck0 and stuck1",
            )),
        }
    }

    /// The operands, in the order of the units of an image.
    pub(crate) fn swept(&self) -> Result<Vec<SweptSet>, TargetError> {
        if self.scope.shape != ScopeShape::One {
            return Err(TargetError::new("list every fault: one place is hit in each; leave `scope` out"));
        }
        let swept = |set: &Set| {
            let bits = self.models(self.sites.network.bits(set.operand))?.len() as u32;
            Ok(SweptSet { layer: set.layer, operand: set.operand, elements: set.space.elements() as u64, bits })
        };
        self.sets().map(swept).collect()
    }

    /// The faults of a unit; none if there is no such unit.
    pub(crate) fn unit(&self, unit: u64) -> Result<Option<UnitFaults>, TargetError> {
        let sets = self.sets().count() as u64;
        let image = usize::try_from(unit / sets).ok().and_then(|image| self.images.get(image).copied());
        let (Some(image), Some(set)) = (image, self.sets().nth((unit % sets) as usize)) else { return Ok(None) };
        let models = self.models(self.sites.network.bits(set.operand))?;
        let Some(layer) = self.sites.network.layer(set.layer).map(|layer| layer.name) else { return Ok(None) };
        let mut faults = Vec::with_capacity(set.space.elements() * models.len());
        for element in 0..set.space.elements() {
            let at = ElementRegion::place(&set.space.coordinates(element));
            for (bit, &model) in models.iter().enumerate() {
                let (layer, at) = (layer.to_owned(), vec![at.clone()]);
                let part = FaultPart { layer, operand: set.operand, at, models: vec![model] };
                faults.push((Fault { image, parts: vec![part] }, bit as u32));
            }
        }
        Ok(Some(UnitFaults { operand: (unit % sets) as u32, faults }))
    }
}
