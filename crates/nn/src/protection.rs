//! Protection that a network carries with it: feature maps that are made twice and compared, and a margin of the class below
//! which an inference is to be run again.

/// Feature maps of a layer that another layer makes once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The layer, by number.
    pub layer: usize,
    /// The layer that makes them once more.
    pub duplicate: usize,
    /// The channels of the layer, in the order of those of the duplicate.
    pub channels: Vec<usize>,
}

/// All of it; a network without has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protection {
    /// The comparisons.
    pub checks: Vec<Check>,
    /// The least difference of the two largest softmaxes (Top2Diff) with which an inference is not run again.
    pub margin: Option<f64>,
}

/// The word of a mismatch of duplicates, in ends of runs.
pub const DUPLICATE: &str = "duplicate";

/// The word of a small margin, in ends of runs.
pub const MARGIN: &str = "top2diff";

impl Protection {
    /// Whether there is any.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.checks.is_empty() && self.margin.is_none()
    }
}
