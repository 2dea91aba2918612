//! Static instructions that two analyses find, whose faults corrupt outputs or which may be approximated, by who finds them.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::pilots::{Pc, Question, decided};

/// How the instructions that two inputs find divide (thesis, Section 3.4.3).
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
    /// The SDC-PCs of two analyses.
    pub(super) fn of(small: &Analysis, reference: &Analysis) -> Self {
        Self::of_sets(small, reference, Analysis::corrupting)
    }

    /// The approximable instructions of two analyses: those that are explored and have no egregious error.
    pub(super) fn of_approximable(small: &Analysis, reference: &Analysis) -> Self {
        Self::of_sets(small, reference, |of| {
            let spoilt = decided(&of.pilots, Question::Egregious);
            of.pilots.keys().filter(|pc| !spoilt.contains(*pc)).cloned().collect()
        })
    }

    fn of_sets(small: &Analysis, reference: &Analysis, set: impl Fn(&Analysis) -> BTreeSet<Pc>) -> Self {
        let explored = |of: &Analysis, pc: &Pc| of.pilots.contains_key(pc);
        let sets = [set(small), set(reference)];
        let mut division = Self::default();
        for pc in sets[0].union(&sets[1]) {
            let found = (sets[0].contains(pc), sets[1].contains(pc));
            let count = match found {
                (true, true) => &mut division.common,
                (true, false) if explored(reference, pc) => &mut division.min_sdc,
                (true, false) => &mut division.min_sdc_plus,
                (false, _) if explored(small, pc) => &mut division.ref_sdc,
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

    /// Those that the small input finds.
    pub(super) fn of_small(self) -> u64 {
        self.common + self.min_sdc + self.min_sdc_plus
    }

    /// Those that the reference finds.
    pub(super) fn of_reference(self) -> u64 {
        self.common + self.ref_sdc + self.ref_sdc_plus
    }
}

#[cfg(test)]
mod tests {
    use super::super::pilots::{EndedPilot, Pilot, PilotEnd};
    use super::*;

    #[test]
    fn every_instruction_is_in_one_part() {
        let analysis = |explored: &[u32], found: &[u32]| {
            let pilots = explored.iter().map(|&pc| {
                let pilot = Pilot { run: 0, bit: 0, instance: (0, 0), size: 1, is_float: false, is_source: false };
                let decides = [found.contains(&pc), !found.contains(&pc)];
                (("k".to_owned(), pc), vec![EndedPilot { pilot, end: PilotEnd::Masked, decides }])
            });
            Analysis { pilots: pilots.collect(), ..Analysis::default() }
        };
        let small = analysis(&[1, 2, 3, 4], &[1, 2, 3]);
        let reference = analysis(&[1, 2, 4, 5], &[1, 4, 5]);
        let division = Division::of(&small, &reference);
        let expected = Division { common: 1, min_sdc: 1, min_sdc_plus: 1, ref_sdc: 1, ref_sdc_plus: 1 };
        assert_eq!((division, division.all()), (expected, 5));
        assert_eq!((division.of_small(), division.of_reference()), (3, 3));
        assert_eq!(Division::of_approximable(&small, &reference), division);
    }
}
