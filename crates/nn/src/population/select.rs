//! Which layers a campaign hits.

use campaign::{SelectionWords, TargetError};

use super::words::OperandKind;
use crate::topology::{LayerLayout, Topology};

/// The classes of operators whose neurons are drawn if nothing else is said: what neural accelerators compute.
const USUAL: [&str; 2] = ["conv", "depthwise"];

/// The layers that are selected; naming layers or classes replaces the usual ones.
///
/// The usual ones are convolutions for neurons (all layers with weights, where convolutions make less than half of the multiplications),
/// all that have some for weights and biases, and for inputs those that read the image.
pub(super) fn select(
    network: &dyn Topology,
    kind: OperandKind,
    selection: &SelectionWords,
) -> Result<Vec<usize>, TargetError> {
    let layers: Vec<LayerLayout<'_>> = network.layouts().collect();
    let names: Vec<&str> = layers.iter().map(|layer| layer.name).collect();
    let classes: Vec<&str> = layers.iter().map(|layer| layer.class).collect();
    known("layer", &selection.kernel, &names)?;
    known("operator class", &selection.group, &classes)?;
    let said = |list: &[String], word: &str| list.iter().any(|said| said == word);
    let macs =
        |such: &dyn Fn(usize) -> bool| (0..layers.len()).filter(|&at| such(at)).map(|at| network.macs(at)).sum::<u64>();
    let of_convolutions = macs(&|number| USUAL.contains(&classes[number]));
    let convolves = of_convolutions > 0 && 2 * of_convolutions >= macs(&|_| true);
    let usual = |number: usize| match kind {
        OperandKind::Neuron if convolves => USUAL.contains(&classes[number]),
        OperandKind::Neuron => layers[number].weights.is_some(),
        OperandKind::Weight | OperandKind::Bias => layers[number].weights.is_some(),
        OperandKind::Input => layers[number].inputs.contains(&0),
    };
    let wanted = |number: usize| match (&selection.kernel[..], &selection.group[..]) {
        ([], []) => usual(number),
        (kernels, groups) => {
            (kernels.is_empty() || said(kernels, names[number])) && (groups.is_empty() || said(groups, classes[number]))
        }
    };
    let selected: Vec<usize> = (0..layers.len()).filter(|&layer| wanted(layer)).collect();
    match selected.is_empty() {
        true => Err(TargetError::new("select layers: none has both the name and the class that are asked for")),
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
