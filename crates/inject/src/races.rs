//! The data races of a golden run, and a golden run in which the kernels that have some are interleaved.

use crate::golden::{Golden, GoldenError};
use crate::machine::Machine;
use capsule::Capsule;
use device::{Interleavings, KernelRace, interleavings, races_of};
use simt::memory::Version;
use simt::{Executor, Interleaving};
use std::collections::HashSet;
use std::sync::Arc;

impl Golden {
    /// Runs a capsule, looks for data races, and runs it again with the warps of the kernels interleaved that have some.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_interleaved(capsule: Arc<Capsule>, machine: &Machine) -> Result<Self, GoldenError> {
        let run =
            |interleaved: Interleavings| Self::run_on(Arc::clone(&capsule), Machine { interleaved, ..machine.clone() });
        let (golden, taken) = match run(Interleavings::new()) {
            // What was recorded with its warps interleaved is found again only so.
            Err(error @ GoldenError::Differs { .. }) => {
                let all = every_kernel(&capsule);
                (run(all.clone()).map_err(|_| error)?, all)
            }
            golden => (golden?, Interleavings::new()),
        };
        let races = golden.find_races();
        let racing = interleavings(&races);
        let golden = if racing == taken { golden } else { run(racing)? };
        Ok(Self { races, ..golden })
    }

    /// The data races that were found before it was made, and because of which kernels are interleaved.
    #[must_use]
    pub fn races(&self) -> &[KernelRace] {
        &self.races
    }

    /// The data races of its launches: of each kernel at its first launch in every shape.
    fn find_races(&self) -> Vec<KernelRace> {
        let (mut executor, mut seen) = (Executor::new(self.level), HashSet::new());
        let mut found: Vec<KernelRace> = Vec::new();
        for launch in &self.launches {
            let recorded = self.recorded(launch);
            let shape = (Arc::as_ptr(&launch.program), recorded.grid, recorded.block);
            if seen.insert(shape) {
                let before = (&self.history, Version::before(launch.event as u32));
                let races = races_of(&mut executor, recorded, &launch.program, before);
                let known = |race: &KernelRace| found.iter().any(|other| same(race, other));
                let new: Vec<KernelRace> = races.into_iter().filter(|race| !known(race)).collect();
                found.extend(new);
            }
        }
        found
    }
}

/// Whether two races are of the same instructions.
fn same(one: &KernelRace, other: &KernelRace) -> bool {
    let key = |race: &KernelRace| (race.kernel.clone(), race.between, race.shared, race.instructions);
    key(one) == key(other)
}

/// Every kernel that a capsule launches, as finely as there is.
fn every_kernel(capsule: &Capsule) -> Interleavings {
    capsule.launches().map(|(_, launch)| (launch.kernel.clone(), Interleaving::Blocks)).collect()
}
