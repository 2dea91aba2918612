//! What an analysis is told, and why there is none.

use crate::filr::neuron_fault::NeuronFault;
use crate::filr::order::Order;

/// What an analysis is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Injections for each feature map, at least 1.
    pub injections_per_map: u64,
    /// Injections of the deployment set, over all feature maps; as many as those of the analysis set if none.
    pub deployment_injections: Option<u64>,
    /// The seed of all draws.
    pub seed: u64,
    /// The share of images that belong to the analysis set, between 0 and 1.
    pub analysis_share: f64,
    /// The coverage that the combination has to reach on the analysis set, above 0 and at most 1.
    pub target: f64,
    /// By which measure the combination takes feature maps.
    pub order: Order,
    /// Images of the analysis set of which every fault is judged, to hold estimates against; 0 for none.
    pub exhaustive_images: usize,
    /// The fault of a neuron.
    pub fault: NeuronFault,
    /// How many threads run injections, at least 1; results do not depend on it.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            injections_per_map: 2048,
            deployment_injections: None,
            seed: 1,
            analysis_share: 0.8,
            target: 1.0,
            order: Order::Loss,
            exhaustive_images: 0,
            fault: NeuronFault::Flip,
            threads: 1,
        }
    }
}

/// Why there is no analysis.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FilrError {
    /// A setting means nothing.
    #[error("use the setting `{name}`: it is {expected}, found {found}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// The words that it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// There is nothing to protect.
    #[error("analyse the network `{network}`: it has no convolution, and so no feature map")]
    NoMaps {
        /// The network.
        network: String,
    },
    /// It finds objects.
    #[error(
        "analyse the network `{network}`: it finds objects, and feature maps and inferences are chosen by the class that a network says"
    )]
    Detector {
        /// The network.
        network: String,
    },
    /// A set has no image that faults could be injected into.
    #[error(
        "analyse the network `{network}`: the {set} set has {images} images, and the network gets none of them right"
    )]
    NoneRight {
        /// The network.
        network: String,
        /// The set.
        set: &'static str,
        /// Its images.
        images: usize,
    },
    /// A table is not one of as many injections for each feature map.
    #[error("read a table of injections: {what}")]
    Table {
        /// What was expected, and what was found.
        what: String,
    },
    /// Somebody asked to stop.
    #[error("analyse the network: it was stopped before the end")]
    Stopped,
}

impl Settings {
    /// Checks every setting.
    ///
    /// # Errors
    /// Of the first that means nothing.
    pub fn check(&self) -> Result<(), FilrError> {
        let wrong = |name, expected, found: String| Err(FilrError::Setting { name, expected, found });
        let least_one = "at least 1";
        // Runs are numbered in 64 bits, and masses are counted in 128.
        if self.injections_per_map == 0 || self.injections_per_map > 1 << 40 {
            return wrong("injections per feature map", "from 1 to 2^40", self.injections_per_map.to_string());
        }
        if self.deployment_injections.is_some_and(|runs| runs == 0 || runs > 1 << 60) {
            let found = self.deployment_injections.unwrap_or(0).to_string();
            return wrong("injections of the deployment set", "from 1 to 2^60", found);
        }
        if self.exhaustive_images > 0 && self.fault != NeuronFault::Flip {
            return wrong(
                "images of which every fault is judged",
                "0 where a neuron becomes a random number",
                self.exhaustive_images.to_string(),
            );
        }
        if self.threads == 0 {
            return wrong("threads", least_one, self.threads.to_string());
        }
        if !(self.analysis_share > 0.0 && self.analysis_share < 1.0) {
            return wrong("share of the analysis set", "between 0 and 1", self.analysis_share.to_string());
        }
        if !(self.target > 0.0 && self.target <= 1.0) {
            return wrong("target", "above 0 and at most 1", self.target.to_string());
        }
        Ok(())
    }
}
