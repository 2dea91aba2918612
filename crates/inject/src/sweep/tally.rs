//! Counting the outcomes of a unit.

use super::population::Population;
use campaign::{SweptCount, SweptTiers, SweptUnit};
use outcome::Outcome;
use std::collections::BTreeMap;

/// The outcomes of a unit, as they come.
#[derive(Debug)]
pub(crate) struct UnitTally {
    /// For every bit of every operand, the outcomes that it came to, and how often.
    counts: Vec<Vec<(u8, u64)>>,
    /// Where the bits of each operand begin.
    starts: Vec<usize>,
    outcomes: Vec<u8>,
    tiers: SweptTiers,
    host_visible: u64,
}

impl UnitTally {
    pub(crate) fn new(population: &Population) -> Self {
        let mut bits = 0;
        let start = |operand: &campaign::SweptOperand| {
            bits += operand.bits as usize;
            bits - operand.bits as usize
        };
        let starts = population.sweep.operands.iter().map(start).collect();
        Self {
            counts: vec![Vec::new(); bits],
            starts,
            outcomes: Vec::new(),
            tiers: SweptTiers::default(),
            host_visible: 0,
        }
    }

    /// The faults of a tier.
    pub(crate) fn tiers(&mut self) -> &mut SweptTiers {
        &mut self.tiers
    }

    /// Adds the outcome of the next fault, in a bit of an operand.
    pub(crate) fn add(&mut self, operand: u32, bit: u32, outcome: u8, host_visible: bool) {
        self.outcomes.push(outcome);
        self.host_visible += u64::from(host_visible);
        let counts = &mut self.counts[self.starts[operand as usize] + bit as usize];
        match counts.iter_mut().find(|(code, _)| *code == outcome) {
            Some((_, count)) => *count += 1,
            None => counts.push((outcome, 1)),
        }
    }

    /// What the unit came to; begins the next.
    pub(crate) fn take(&mut self) -> SweptUnit {
        let outcomes: BTreeMap<u8, Outcome> = Outcome::all().map(|outcome| (outcome.code(), outcome)).collect();
        let ends = self.starts.iter().skip(1).copied().chain([self.counts.len()]);
        let mut counts = Vec::new();
        for ((&start, end), operand) in self.starts.iter().zip(ends).zip(0..) {
            for (found, bit) in self.counts[start..end].iter_mut().zip(0..) {
                let known = found.drain(..).filter_map(|(code, count)| Some((*outcomes.get(&code)?, count)));
                counts.extend(known.map(|(outcome, count)| SweptCount { operand, bit, outcome, count }));
            }
        }
        counts.sort_unstable();
        SweptUnit {
            counts,
            outcomes: std::mem::take(&mut self.outcomes),
            tiers: std::mem::take(&mut self.tiers),
            host_visible: std::mem::take(&mut self.host_visible),
        }
    }
}
