//! The faults of neurons that are injected.

use serde::Serialize;

/// The fault of a neuron.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NeuronFault {
    /// One of the eight bits of its byte flips (FxP-Flip).
    #[default]
    Flip,
    /// Its byte becomes any of 256, each with the same chance (FxP-Rand).
    Random,
}

/// The injections of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct Injecting {
    /// How many there are: in each feature map of the analysis set, over all of them on the deployment set.
    pub count: u64,
    /// The seed of their draws.
    pub seed: u64,
    /// What each does to its neuron.
    pub fault: NeuronFault,
}
