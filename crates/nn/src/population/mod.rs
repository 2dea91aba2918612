//! The population of a campaign: neurons, weights, biases or inputs, in inferences on images.

mod expression;
mod select;
mod sweep;
mod words;

use campaign::{SelectionWords, Stratify, Stratum, TargetError};
use fault::Ranges;
use stats::Draws;

use crate::fault::{ElementRegion, Fault, FaultPart, Span};
use crate::hit::LayerOperand;
use crate::network_sites::NetworkSites;
use crate::space::ElementSpace;
use crate::topology::{LayerLayout, Topology};
use select::select;
pub(crate) use sweep::SweptSet;
use words::{Change, OperandKind, Scope, ScopeShape, check_words};

/// The elements of some operands, each of which is drawn with the same chance.
#[derive(Clone, Debug)]
pub(crate) struct Population<'n> {
    sites: NetworkSites<'n>,
    change: Change,
    scope: Scope,
    /// The images that are drawn from.
    images: Vec<usize>,
    /// The parts that runs take turns in; one without a name if the campaign has no strata.
    parts: Vec<Part>,
    stratified: bool,
}

/// Some operands.
#[derive(Clone, Debug, Default)]
struct Part {
    name: String,
    sets: Vec<Set>,
    /// Elements of all of them.
    members: u64,
}

/// An operand of a layer.
#[derive(Clone, Debug)]
struct Set {
    layer: usize,
    operand: LayerOperand,
    space: ElementSpace,
    /// How many elements there are in the sets before.
    before: u64,
}

/// A draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) fault: Fault,
    pub(crate) stratum: Option<u32>,
}

impl<'n> Population<'n> {
    /// The part that `selection` selects of a network and of the images that it gets right.
    pub(crate) fn new(sites: NetworkSites<'n>, selection: &SelectionWords) -> Result<Self, TargetError> {
        let NetworkSites { network, right, .. } = sites;
        check_words(selection)?;
        let kind = OperandKind::parse(selection.target.as_deref())?;
        let change = Change::parse(selection.model.as_deref())?;
        let scope = Scope::parse(selection.scope.as_deref())?;
        let images = images(right, &selection.iterations)?;
        let mut parts: Vec<Part> = Vec::new();
        for layer in select(network, kind, selection)? {
            let Some(found) = network.layer(layer) else { continue };
            let name = part_name(found, selection.stratify)?;
            let at = parts.iter().position(|part| part.name == name).unwrap_or_else(|| {
                parts.push(Part { name: name.to_owned(), ..Part::default() });
                parts.len() - 1
            });
            parts[at].extend(network, layer, kind, scope)?;
        }
        parts.retain(|part| part.members > 0);
        if parts.is_empty() {
            return Err(TargetError::new("select elements: the selected layers have none of this kind"));
        }
        let bits = parts.iter().flat_map(|part| &part.sets).map(|set| network.bits(set.operand));
        if let Some(bits) = bits.clone().find(|&bits| !change.hits(bits)) {
            return Err(TargetError::new(format!("use the model on elements of {bits} bits: they have not as many")));
        }
        Ok(Self { sites, change, scope, images, parts, stratified: selection.stratify.is_some() })
    }

    /// The strata: a member is an element in the inference on an image.
    pub(crate) fn strata(&self) -> Vec<Stratum> {
        let images = self.images.len() as u64;
        self.parts.iter().map(|part| Stratum { name: part.name.clone(), members: part.members * images }).collect()
    }

    /// How many images it draws from.
    pub(crate) fn images(&self) -> usize {
        self.images.len()
    }

    /// Draws for a run: the image, the element with those that belong to it, what happens.
    pub(crate) fn draw(&self, seed: u64, run: u64) -> Option<Drawn> {
        let mut draws = Draws::new(seed, run);
        let number = run % self.parts.len() as u64;
        let part = &self.parts[number as usize];
        let image = *draws.one_of(&self.images)?;
        let parts = if self.scope.shape == ScopeShape::Layers {
            let each = part.sets.iter().map(|set| {
                let element = draws.below(set.space.elements() as u64)? as usize;
                self.part(&mut draws, image, set, element)
            });
            each.collect::<Option<Vec<_>>>()?
        } else {
            let member = draws.below(part.members)?;
            let set = part.sets.iter().rfind(|set| set.before <= member)?;
            vec![self.part(&mut draws, image, set, (member - set.before) as usize)?]
        };
        Some(Drawn { fault: Fault { image, parts }, stratum: self.stratified.then_some(number as u32) })
    }

    /// The places that belong to an element, and what happens to them.
    fn part(&self, draws: &mut Draws, image: usize, set: &Set, element: usize) -> Option<FaultPart> {
        let sizes = set.space.sizes();
        let at = self.regions(draws, set, &set.space.coordinates(element))?;
        let places = at.iter().flat_map(|region| region.places(sizes));
        let each = self.scope.each || self.change.is_of_element();
        let places = places.take(if each { usize::MAX } else { 1 });
        let mut model = |at: Vec<usize>| {
            self.change.draw(draws, &self.sites, image, (set.layer, set.operand, set.space.element(&at)?))
        };
        let mut models = places.map(&mut model).collect::<Option<Vec<_>>>()?;
        if models.iter().all(|model| *model == models[0]) {
            models.truncate(1);
        }
        let layer = self.sites.network.layer(set.layer)?.name.to_owned();
        Some(FaultPart { layer, operand: set.operand, at, models })
    }

    /// The places that belong to the one at these coordinates.
    fn regions(&self, draws: &mut Draws, set: &Set, at: &[usize]) -> Option<Vec<ElementRegion>> {
        let sizes = set.space.sizes();
        let mut region = ElementRegion::place(at);
        let last = at.len() - 1;
        let mut tile = |axis: usize, size: usize| {
            let first = at[axis] / size * size;
            region.0[axis] = Span::between(first, (first + size).min(sizes[axis]) - 1);
        };
        match self.scope.shape {
            ScopeShape::One | ScopeShape::Layers => {}
            ScopeShape::Row => region.0[last] = Span::All,
            ScopeShape::Column => region.0[last - 1] = Span::All,
            ScopeShape::Channel => region.0[1..].fill(Span::All),
            ScopeShape::Tile(rows, columns) => {
                tile(last - 1, rows);
                tile(last, columns);
            }
            ScopeShape::Any(places) => {
                let mut regions = vec![region];
                while regions.len() < places {
                    let other = draws.below(set.space.elements() as u64)? as usize;
                    let other = ElementRegion::place(&set.space.coordinates(other));
                    if !regions.contains(&other) {
                        regions.push(other);
                    }
                }
                return Some(regions);
            }
        }
        Some(vec![region])
    }
}

impl Part {
    /// Takes the operands of a layer in.
    fn extend(
        &mut self,
        network: &dyn Topology,
        layer: usize,
        kind: OperandKind,
        scope: Scope,
    ) -> Result<(), TargetError> {
        let Some(found) = network.layer(layer) else { return Ok(()) };
        for operand in kind.operands(found.inputs.len()) {
            let Some(space) = ElementSpace::of(network, layer, operand) else { continue };
            if scope.needs_rows() && space.sizes().len() < 2 {
                let what = format!("`{}` of the layer `{}` has no rows and columns", operand.word(), found.name);
                return Err(TargetError::new(format!("hit a pattern of rows and columns: {what}; leave it out")));
            }
            if let ScopeShape::Any(places) = scope.shape
                && space.elements() < places
            {
                let what = format!("the layer `{}` has {} in `{}`", found.name, space.elements(), operand.word());
                return Err(TargetError::new(format!("hit {places} places of a layer: {what}")));
            }
            let elements = space.elements() as u64;
            self.sets.push(Set { layer, operand, space, before: self.members });
            self.members += elements;
        }
        Ok(())
    }
}

/// The images that are drawn from: those of these numbers that the network gets right.
fn images(right: &[usize], numbers: &[String]) -> Result<Vec<usize>, TargetError> {
    let wanted = Ranges::parse("iterations", numbers).map_err(|error| TargetError::from_error(&error))?;
    let images: Vec<usize> = right.iter().copied().filter(|&image| wanted.holds(image as u64)).collect();
    match images.is_empty() {
        true => Err(TargetError::new("draw an image: the network gets none of those that are selected right")),
        false => Ok(images),
    }
}

/// The name of the part that a layer belongs to.
fn part_name(layer: LayerLayout<'_>, stratify: Option<Stratify>) -> Result<&str, TargetError> {
    match stratify {
        None => Ok(""),
        Some(Stratify::Kernel) => Ok(layer.name),
        Some(Stratify::Group) => Ok(layer.class),
        Some(Stratify::Threads) => {
            Err(TargetError::new("divide the population by threads: a network has `kernel` and `group`"))
        }
    }
}
