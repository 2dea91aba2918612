//! Static instructions whose faults corrupt outputs, as an analysis of error sites finds them.

use campaign::{Finding, Results, SelectionWords, StoreError};
use inject::CapsuleTarget;
use outcome::{Outcome, Sdc};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::approxilyzer::{Approxilyzer, Settings, SiteCounts};
use crate::kit::{Campaigns, MethodSettings, StudyError};

/// A kernel, and the number of an instruction in it.
pub(super) type Pc = (String, u32);

/// The analysis of one input.
pub(super) struct Analysis {
    /// The account of its error sites.
    pub(super) sites: SiteCounts,
    /// Instructions of which at least one site was run.
    pub(super) explored: BTreeSet<Pc>,
    /// Those with a site that ends in a corruption that no criterion accepts as good (thesis, Section 3.6.1).
    pub(super) corrupting: BTreeSet<Pc>,
    /// What the runs took, in seconds.
    pub(super) seconds: f64,
}

impl Analysis {
    /// Analyses every error site of an input by Approxilyzer.
    ///
    /// # Errors
    /// If the runs cannot be made.
    pub(super) fn of(
        capsule: &Arc<CapsuleTarget>,
        settings: &Settings,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Self, StudyError> {
        let selection = SelectionWords { method: Some(settings.choice()), ..SelectionWords::default() };
        let method = Approxilyzer::new(capsule, &selection)?;
        let (runs, seed) = (method.runs(), campaigns.seed);
        let results = campaigns.in_memory(capsule, Some(&method), selection, runs, seed)?;
        let seconds = results.summary()?.speed.seconds;
        let (explored, corrupting) = pcs(&results)?;
        Ok(Self { sites: method.counts(), explored, corrupting, seconds })
    }
}

fn pcs(results: &Results) -> Result<(BTreeSet<Pc>, BTreeSet<Pc>), StoreError> {
    let (mut explored, mut corrupting) = (BTreeSet::new(), BTreeSet::new());
    results.visit(&mut |row| {
        let Finding::Seen { outcome, .. } = &row.finding else { return };
        let pc = (row.site.spot.kernel.clone(), row.site.spot.pc);
        if matches!(outcome, Outcome::Sdc(Sdc::Maybe(_) | Sdc::Bad | Sdc::Unjudged)) {
            corrupting.insert(pc.clone());
        }
        explored.insert(pc);
    })?;
    Ok((explored, corrupting))
}

/// How the instructions that corrupt outputs divide (thesis, Section 3.4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Division {
    /// Both inputs find them.
    pub(super) common: u64,
    /// The small input finds them; the reference explored them and does not.
    pub(super) min_sdc: u64,
    /// The small input finds them; the reference did not explore them.
    pub(super) min_sdc_plus: u64,
    /// The reference finds them; the small input explored them and does not.
    pub(super) ref_sdc: u64,
    /// The reference finds them; the small input did not explore them.
    pub(super) ref_sdc_plus: u64,
}

impl Division {
    /// Of two analyses.
    pub(super) fn of(small: &Analysis, reference: &Analysis) -> Self {
        let mut division = Self::default();
        for pc in small.corrupting.union(&reference.corrupting) {
            let found = (small.corrupting.contains(pc), reference.corrupting.contains(pc));
            let count = match found {
                (true, true) => &mut division.common,
                (true, false) if reference.explored.contains(pc) => &mut division.min_sdc,
                (true, false) => &mut division.min_sdc_plus,
                (false, _) if small.explored.contains(pc) => &mut division.ref_sdc,
                (false, _) => &mut division.ref_sdc_plus,
            };
            *count += 1;
        }
        division
    }

    /// All that either finds.
    pub(super) fn all(self) -> u64 {
        self.common + self.min_sdc + self.min_sdc_plus + self.ref_sdc + self.ref_sdc_plus
    }

    /// Those that the reference finds.
    pub(super) fn of_reference(self) -> u64 {
        self.common + self.ref_sdc + self.ref_sdc_plus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_is_in_one_part() {
        let set = |numbers: &[u32]| numbers.iter().map(|&pc| ("k".to_owned(), pc)).collect();
        let analysis = |explored: &[u32], corrupting: &[u32]| Analysis {
            sites: SiteCounts::default(),
            explored: set(explored),
            corrupting: set(corrupting),
            seconds: 0.0,
        };
        let small = analysis(&[1, 2, 3, 4], &[1, 2, 3]);
        let reference = analysis(&[1, 2, 4, 5], &[1, 4, 5]);
        let division = Division::of(&small, &reference);
        let expected = Division { common: 1, min_sdc: 1, min_sdc_plus: 1, ref_sdc: 1, ref_sdc_plus: 1 };
        assert_eq!((division, division.all(), division.of_reference()), (expected, 5, 3));
    }
}
