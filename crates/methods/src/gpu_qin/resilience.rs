//! A grouping beyond the paper's: groups whose trials do not differ become one class.
//!
//! The paper calls its own grouping conservative: threads of different groups may have the same resilience (§IV-B). Given
//! trials of all groups, classes are made from the bottom up: of all pairs, the two whose ends differ least (the largest
//! p of a χ² test for homogeneity) are joined, as long as that p is above 5 %.

use serde::Serialize;
use stats::homogeneity;

use super::grouping::KernelGroups;
use super::settings::Settings;
use super::trials::{ENDS, Trial, ends_by};

/// Trials that a group must have to be compared.
pub(super) const LEAST: u64 = 50;
/// Groups that are compared pair by pair, the ones with most trials.
const MOST: usize = 64;

/// Groups of a kernel that are alike in how faults end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResilienceClass {
    /// The instructions of a thread of each of its groups.
    pub instructions: Vec<u32>,
    /// Its share of the kernel's threads.
    pub popularity: f64,
    /// How its activated trials ended: benign, SDC, crash, hang, undecided.
    pub ends: [u64; ENDS],
}

/// The classes of a kernel whose number is `number`, the most popular first, and the share of its threads in groups
/// with too few trials to compare.
#[must_use]
pub fn resilience_classes(
    kernel: &KernelGroups,
    number: usize,
    settings: Settings,
    trials: &[Trial],
) -> (Vec<ResilienceClass>, f64) {
    let own = trials.iter().filter(|trial| trial.kernel == number && trial.is_activated(settings.window));
    let ends = ends_by(own, |trial| trial.group);
    let mut classes: Vec<ResilienceClass> = ends
        .into_iter()
        .filter(|(_, ends)| ends.iter().sum::<u64>() >= LEAST)
        .map(|(group, ends)| ResilienceClass {
            instructions: vec![kernel.groups[group].instructions],
            popularity: kernel.groups[group].popularity,
            ends,
        })
        .collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.ends.iter().sum::<u64>()));
    classes.truncate(MOST);
    while let Some((a, b)) = closest(&classes) {
        let other = classes.remove(b);
        let class = &mut classes[a];
        class.instructions.extend(other.instructions);
        class.popularity += other.popularity;
        class.ends.iter_mut().zip(other.ends).for_each(|(ours, theirs)| *ours += theirs);
    }
    classes.iter_mut().for_each(|class| class.instructions.sort_unstable());
    classes.sort_by(|a, b| b.popularity.total_cmp(&a.popularity));
    let known: f64 = classes.iter().map(|class| class.popularity).sum();
    (classes, (1.0 - known).max(0.0))
}

/// The pair that differs least, the first of it before the second, if it can be joined.
fn closest(classes: &[ResilienceClass]) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (a, first) in classes.iter().enumerate() {
        for (b, second) in classes.iter().enumerate().skip(a + 1) {
            // Where nothing can deviate, both always end in the same way.
            let p = homogeneity(&[&first.ends, &second.ends]).map_or(1.0, |found| found.test.p);
            if p > 0.05 && best.is_none_or(|(most, _, _)| p > most) {
                best = Some((p, a, b));
            }
        }
    }
    best.map(|(_, a, b)| (a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(instructions: u32, [benign, sdc, crash, hang]: [u64; 4]) -> ResilienceClass {
        let ends = [benign, sdc, crash, hang, 0];
        ResilienceClass { instructions: vec![instructions], popularity: 0.1, ends }
    }

    #[test]
    fn the_pair_that_differs_least_is_found_and_no_other_joined() {
        let classes = [class(1, [90, 5, 5, 0]), class(2, [50, 30, 20, 0]), class(3, [88, 6, 6, 0])];
        assert_eq!(closest(&classes), Some((0, 2)));
        assert_eq!(closest(&classes[..2]), None);
        // Always the same end: nothing deviates.
        assert_eq!(closest(&[class(1, [60, 0, 0, 0]), class(2, [70, 0, 0, 0])]), Some((0, 1)));
    }
}
