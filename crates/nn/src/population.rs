//! Which neurons of which images a campaign draws from.

use campaign::{SelectionWords, Stratify, Stratum, TargetError};
use stats::Draws;
use std::num::NonZeroU8;

use crate::hit::{Hit, Model};
use crate::network::Network;

/// The classes of operators whose neurons are drawn if nothing else is said: what neural accelerators compute.
const USUAL: [&str; 2] = ["conv", "depthwise"];

/// The models of campaigns.
const MODELS: [&str; 3] = ["flip", "random", "zero"];

/// What a campaign says happens to a neuron.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelKind {
    Flip,
    Random,
    Zero,
}

/// The neurons of some layers, each of which is drawn with the same chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Population {
    model: ModelKind,
    /// The images that are drawn from.
    images: Vec<usize>,
    /// The parts that runs take turns in; one without a name if the campaign has no strata.
    parts: Vec<Part>,
    stratified: bool,
}

/// Some layers, with how many neurons there are before each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Part {
    name: String,
    layers: Vec<(usize, u64)>,
    neurons: u64,
}

/// What was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) image: usize,
    pub(crate) hit: Hit,
    pub(crate) stratum: Option<u32>,
}

impl Population {
    /// What `selection` selects of a network and of images.
    pub(crate) fn new(network: &Network, images: Vec<usize>, selection: &SelectionWords) -> Result<Self, TargetError> {
        check_words(selection)?;
        let model = match selection.model.as_deref() {
            None | Some("flip") => ModelKind::Flip,
            Some("random") => ModelKind::Random,
            Some("zero") => ModelKind::Zero,
            Some(other) => {
                return Err(TargetError::new(format!("use the model `{other}`: it is one of {}", MODELS.join(", "))));
            }
        };
        if images.is_empty() {
            return Err(TargetError::new("draw an image: the network gets none of them right"));
        }
        let layers = select(network, selection)?;
        let mut parts: Vec<Part> = Vec::new();
        for layer in layers {
            let name = match selection.stratify {
                None => "",
                Some(Stratify::Kernel) => &network.layers()[layer].name,
                Some(Stratify::Group) => network.layers()[layer].class(),
                Some(Stratify::Threads) => {
                    return Err(TargetError::new(
                        "divide the population by threads: a network has `kernel` and `group`",
                    ));
                }
            };
            let at = parts.iter().position(|part| part.name == name).unwrap_or_else(|| {
                parts.push(Part { name: name.to_owned(), ..Part::default() });
                parts.len() - 1
            });
            let part = &mut parts[at];
            part.layers.push((layer, part.neurons));
            part.neurons += network.output(layer).shape.elements() as u64;
        }
        Ok(Self { model, images, parts, stratified: selection.stratify.is_some() })
    }

    /// The strata: a member is a neuron of an image.
    pub(crate) fn strata(&self) -> Vec<Stratum> {
        let images = self.images.len() as u64;
        self.parts.iter().map(|part| Stratum { name: part.name.clone(), members: part.neurons * images }).collect()
    }

    /// Draws for a run: the image, the neuron, the bit.
    pub(crate) fn draw(&self, seed: u64, run: u64) -> Option<Drawn> {
        let mut draws = Draws::new(seed, run);
        let number = run % self.parts.len() as u64;
        let part = &self.parts[number as usize];
        let image = *draws.one_of(&self.images)?;
        let neuron = draws.below(part.neurons)?;
        let &(layer, before) = part.layers.iter().rfind(|&&(_, before)| before <= neuron)?;
        let model = match self.model {
            ModelKind::Flip => Model::Flip(NonZeroU8::new(1 << draws.below(8)?)?),
            ModelKind::Random => Model::Value(draws.below(256)? as u8),
            ModelKind::Zero => Model::Zero,
        };
        let hit = Hit { layer, element: (neuron - before) as usize, model };
        Some(Drawn { image, hit, stratum: self.stratified.then_some(number as u32) })
    }
}

/// The layers that are selected; naming layers or classes replaces the usual ones.
fn select(network: &Network, selection: &SelectionWords) -> Result<Vec<usize>, TargetError> {
    let layers = network.layers();
    let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    let classes: Vec<&str> = layers.iter().map(|layer| layer.class()).collect();
    known("layer", &selection.kernel, &names)?;
    known("operator class", &selection.group, &classes)?;
    let said = |list: &[String], word: &str| list.iter().any(|said| said == word);
    let wanted = |class: &str, name: &str| match (&selection.kernel[..], &selection.group[..]) {
        ([], []) => USUAL.contains(&class),
        (kernels, groups) => (kernels.is_empty() || said(kernels, name)) && (groups.is_empty() || said(groups, class)),
    };
    let selected: Vec<usize> =
        (0..layers.len()).filter(|&layer| wanted(layers[layer].class(), &layers[layer].name)).collect();
    match selected.is_empty() {
        true => Err(TargetError::new("select neurons: no layer has both the name and the class that are asked for")),
        false => Ok(selected),
    }
}

fn known(what: &str, said: &[String], known: &[&str]) -> Result<(), TargetError> {
    let Some(unknown) = said.iter().find(|said| !known.contains(&said.as_str())) else { return Ok(()) };
    let mut list: Vec<&str> = Vec::new();
    for word in known {
        if !list.contains(word) {
            list.push(word);
        }
    }
    Err(TargetError::new(format!("select the {what} `{unknown}`: there are {}", list.join(", "))))
}

/// Refuses what a network has nothing for.
fn check_words(selection: &SelectionWords) -> Result<(), TargetError> {
    let none = |what: &str, list: &[String]| match list.first() {
        Some(word) => {
            Err(TargetError::new(format!("select {what} `{word}`: a network has layers and operator classes")))
        }
        None => Ok(()),
    };
    none("source lines", &selection.lines)?;
    none("threads", &selection.threads)?;
    none("blocks", &selection.blocks)?;
    none("iterations", &selection.iterations)?;
    if let Some(method) = &selection.method {
        return Err(TargetError::new(format!("choose sites by `{method}`: no method is known for networks")));
    }
    // `dst` and `thread` are what a campaign says if nobody else does.
    match (selection.target.as_deref(), selection.scope.as_deref()) {
        (None | Some("dst" | "out"), None | Some("thread")) => Ok(()),
        (None | Some("dst" | "out"), Some(scope)) => {
            Err(TargetError::new(format!("hit the scope `{scope}`: one neuron is hit, which is `thread`")))
        }
        (Some(target), _) => {
            Err(TargetError::new(format!("hit `{target}`: the output of a neuron is hit, which is `out`")))
        }
    }
}
