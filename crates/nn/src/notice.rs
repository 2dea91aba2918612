//! The protection of a network at the end of a run.

use outcome::{End, Observation};

use crate::filr::certainty::Certainty;
use crate::network::Network;
use crate::protection::{Check, DUPLICATE, MARGIN};

/// The word of the protection that notices something in a run with these tensors, if any does: `tensor` gives the bytes of one by
/// number, the output of layer i being i + 1; `differs` says whether one differs from the fault-free run, in which no duplicate does.
fn speaker(
    network: &Network,
    differs: impl Fn(usize) -> bool,
    tensor: impl Fn(usize) -> Vec<u8>,
) -> Option<&'static str> {
    let mismatch = |check: &Check| {
        let [original, duplicate] = [check.layer + 1, check.duplicate + 1];
        if !differs(original) && !differs(duplicate) {
            return false;
        }
        let [channels, of_duplicate] = [original, duplicate].map(|at| network.tensors()[at].shape.channels);
        let [original, duplicate] = [original, duplicate].map(&tensor);
        let positions = original.chunks_exact(channels).zip(duplicate.chunks_exact(of_duplicate));
        positions.into_iter().any(|(a, b)| check.channels.iter().zip(b).any(|(&channel, b)| a[channel] != *b))
    };
    if network.protection().checks.iter().any(mismatch) {
        return Some(DUPLICATE);
    }
    let margin = network.protection().margin?;
    let logits = tensor(network.layers().len());
    (Certainty::of(&logits, network.logits().quantisation).top2diff < margin).then_some(MARGIN)
}

/// The observation of a run of whose fault the protection of the network may speak.
pub(crate) fn noticed(
    seen: Observation,
    network: &Network,
    differs: impl Fn(usize) -> bool,
    tensor: impl Fn(usize) -> Vec<u8>,
) -> Observation {
    match speaker(network, differs, tensor) {
        Some(by) => Observation { end: End::Detected { by: by.to_owned() }, ..seen },
        None => seen,
    }
}
