//! How often each static instruction of a kernel is executed, and the expected rate of PEPPA-X.
//!
//! M. H. Rahman, A. Shamji, S. Guo & G. Li, *PEPPA-X: finding program test inputs to bound silent data corruption
//! vulnerability in HPC applications*, SC 2021. A campaign on one input gives each static instruction a probability pᵢ that a
//! fault in it corrupts the output. The fitness of another input, which executes it nᵢ times, is Σ pᵢ nᵢ / Σ nᵢ.

use fault::Selection;
use inject::{Golden, profile};
use serde::{Deserialize, Serialize};

use super::ends::Rate;

/// Dynamic instructions of a kernel by static instruction, over all its launches and threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Executed {
    /// The kernel.
    pub(super) kernel: String,
    /// By the index of the instruction in the program.
    pub(super) counts: Vec<u64>,
    /// The number of the instruction in its function, and whether it has a destination that a fault can hit; by the same index.
    pub(super) instructions: Vec<(u32, bool)>,
}

impl Executed {
    /// Counts a golden run; nothing if the kernel is never launched.
    pub(super) fn of(golden: &Golden, kernel: &str) -> Self {
        let mut executed = Self { kernel: kernel.to_owned(), ..Self::default() };
        for launch in profile(golden).iter().filter(|launch| launch.launch.program.name == kernel) {
            executed.counts.resize(launch.instructions.len(), 0);
            if executed.instructions.is_empty() {
                let about = launch.launch.program.instructions.iter().map(|it| {
                    let has_destination =
                        it.facts.as_ref().is_some_and(|facts| !Selection::default().operands(facts).is_empty());
                    (it.pc.0, has_destination)
                });
                executed.instructions = about.collect();
            }
            executed.counts.iter_mut().zip(&launch.instructions).for_each(|(sum, count)| *sum += count.executed);
        }
        executed
    }
}

/// The probabilities of the static instructions of a kernel, by the index in the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Probabilities(pub(super) Vec<Rate>);

impl Probabilities {
    /// The expected rate of an input; none if it executes no instruction that a fault can hit. An instruction without a
    /// probability, because the reference never executes it, counts as one whose faults do nothing.
    pub(super) fn expected(&self, executed: &Executed) -> Option<f64> {
        let (mut sum, mut all) = (0.0, 0u64);
        for (at, (&count, &(_, is_hit))) in executed.counts.iter().zip(&executed.instructions).enumerate() {
            if is_hit {
                all += count;
                sum += self.0.get(at).copied().unwrap_or_default().rate() * count as f64;
            }
        }
        (all > 0).then(|| sum / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_rate_weighs_probabilities_by_executed_instructions() {
        let executed = Executed {
            kernel: "k".into(),
            counts: vec![10, 30, 1000, 60],
            instructions: vec![(0, true), (1, true), (2, false), (3, true)],
        };
        let rates = [(1, 2), (1, 4), (0, 0), (0, 0)].map(|(count, landed)| Rate { count, landed });
        // (0.5 × 10 + 0.25 × 30 + 0 × 60) / 100; the branch in the middle writes nothing.
        assert_eq!(Probabilities(rates.to_vec()).expected(&executed), Some(0.125));
        assert_eq!(Probabilities::default().expected(&Executed::default()), None);
    }
}
