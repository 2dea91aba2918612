//! The images divided in two: what protections are chosen from, and what they are measured on.
//!
//! Choices take an [`AnalysisSet`] or the table that was made of it. A [`DeploymentSet`] tells how many images it has, how
//! many of these are in the other set, too, and nothing else, until it is opened with [finished protections](crate::filr::deploy::Protection), which uses it up.

use std::collections::HashSet;

use stats::Draws;

use crate::filr::part::Part;
use crate::target::NetworkTarget;

/// The run of the draws that divide images. Injections have smaller numbers.
const DIVISION: u64 = u64::MAX;

/// The images that everything is chosen from.
#[derive(Clone, Debug)]
pub struct AnalysisSet<'t> {
    numbers: Vec<usize>,
    part: Part<'t>,
}

/// The images that what was chosen is measured on.
#[derive(Debug)]
pub struct DeploymentSet<'t> {
    target: &'t NetworkTarget,
    numbers: Vec<usize>,
    /// Images that are also in the analysis set, pixel by pixel.
    also_analysed: usize,
}

/// Divides the images of a target by a seed: `share` of them are analysed, but at least one and not all if there are two.
#[must_use]
pub fn divide(target: &NetworkTarget, share: f64, seed: u64) -> (AnalysisSet<'_>, DeploymentSet<'_>) {
    let count = target.images().count();
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut draws = Draws::new(seed, DIVISION);
    for last in (1..count).rev() {
        let other = draws.below(last as u64 + 1).map_or(last, |other| other as usize);
        numbers.swap(last, other);
    }
    let most = count.saturating_sub(1).max(1);
    let analysed = ((count as f64 * share).round() as usize).clamp(1, most);
    let mut deployment = numbers.split_off(analysed.min(numbers.len()));
    // Their order means nothing.
    numbers.sort_unstable();
    deployment.sort_unstable();
    let analysed: HashSet<&[u8]> = numbers.iter().map(|&image| target.images().pixels(image)).collect();
    let also_analysed = deployment.iter().filter(|&&image| analysed.contains(target.images().pixels(image))).count();
    let part = Part::new(target, numbers.clone());
    (AnalysisSet { numbers, part }, DeploymentSet { target, numbers: deployment, also_analysed })
}

impl<'t> AnalysisSet<'t> {
    /// Its images, by their numbers in the target.
    #[must_use]
    pub fn images(&self) -> &[usize] {
        &self.numbers
    }

    /// How many of them the network gets right.
    #[must_use]
    pub fn right(&self) -> usize {
        self.part.right().len()
    }

    pub(crate) fn part(&self) -> &Part<'t> {
        &self.part
    }
}

impl<'t> DeploymentSet<'t> {
    /// How many images it has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// How many of them are also in the analysis set, pixel by pixel.
    #[must_use]
    pub fn also_analysed(&self) -> usize {
        self.also_analysed
    }

    /// The images, at the end.
    pub(crate) fn into_part(self) -> Part<'t> {
        Part::new(self.target, self.numbers)
    }
}
