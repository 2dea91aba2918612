//! One pass over a campaign's results, counting everything that a report says.
//!
//! Memory depends on what was hit (operands of static instructions, their bits, launches) and not on how many rows
//! there are: a row is added to a few counters and forgotten.

mod doubling;
mod ends;
mod logarithmic;
mod magnitude;
mod spots;

use campaign::{Results, RowView, StoreError, Stratum, Summary};
use outcome::Class;
use std::collections::BTreeMap;

pub(crate) use doubling::Doubling;
pub(crate) use ends::{Death, EndCounts};
pub(crate) use logarithmic::Logarithmic;
pub(crate) use magnitude::{Decades, Magnitudes};
pub(crate) use spots::{BitCell, OperandCounts, Operands};

use crate::measure::{ClassMasses, FaultClass, Mass};

/// Different messages of failed runs that are kept; the others are counted together.
const MESSAGES: usize = 100;

/// Everything counted.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) summary: Summary,
    /// What was hit, bit by bit.
    pub(crate) operands: Vec<OperandCounts>,
    /// Faults by class and kind.
    pub(crate) kinds: BTreeMap<(Class, String), Mass>,
    /// What only single runs tell; absent from an exhaustive campaign, which keeps no rows.
    pub(crate) rows: Option<FromRows>,
}

/// What only single runs tell.
#[derive(Debug, Default)]
pub(crate) struct FromRows {
    /// By launch: its kernel, and its faults.
    pub(crate) launches: BTreeMap<u32, (String, ClassMasses)>,
    /// By kernel: faults along the dynamic instructions of their threads.
    pub(crate) times: BTreeMap<String, Doubling>,
    pub(crate) ends: EndCounts,
    pub(crate) magnitudes: Magnitudes,
    /// The first runs that died, and whose corruption was read and came to nothing.
    pub(crate) first_due: Option<u64>,
    pub(crate) first_absorbed: Option<u64>,
    /// Messages of failed runs.
    pub(crate) failures: BTreeMap<String, u64>,
    /// Failed runs with yet other messages.
    pub(crate) other_failures: u64,
}

impl Gathered {
    /// Reads all results of a campaign once.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn from(results: &Results) -> Result<Self, StoreError> {
        let mut pass = Pass { weights: weights(&results.strata()?), ..Pass::default() };
        let (summary, spots) = results.scan(&mut |row| pass.add(row))?;
        if summary.exhaustive.is_some() {
            return Self::swept(results, summary);
        }
        let mut rows = pass.rows;
        rows.launches = pass
            .launches
            .into_iter()
            .map(|(launch, (spot, cell))| (launch, (spots[spot].kernel.clone(), cell)))
            .collect();
        for (spot, bins) in spots.iter().zip(&pass.times) {
            rows.times.entry(spot.kernel.clone()).or_default().merge(bins);
        }
        let mut kinds: BTreeMap<(Class, String), Mass> = BTreeMap::new();
        for (class, words) in [(Class::Masked, &summary.masked), (Class::Sdc, &summary.sdc), (Class::Due, &summary.due)]
        {
            let weighed = |word: &String| pass.kinds.get(&(class, word.clone())).copied().unwrap_or_default();
            let mass = |(word, &count)| if pass.weights.is_empty() { Mass::of(count) } else { weighed(word) };
            kinds.extend(words.iter().map(|entry| ((class, entry.0.clone()), mass(entry))));
        }
        Ok(Self { summary, operands: pass.operands.finish(&spots), kinds, rows: Some(rows) })
    }

    /// Of an exhaustive campaign there are counts.
    fn swept(results: &Results, summary: Summary) -> Result<Self, StoreError> {
        let (spots, counts) = (results.operands()?, results.counts()?);
        let mut operands = Operands::default();
        let mut kinds: BTreeMap<(Class, String), Mass> = BTreeMap::new();
        for (class, words) in [(Class::Masked, &summary.masked), (Class::Sdc, &summary.sdc), (Class::Due, &summary.due)]
        {
            kinds.extend(words.keys().map(|word| ((class, word.clone()), Mass::default())));
        }
        for count in counts {
            let Some(spot) = spots.get(count.operand as usize) else { continue };
            let weight =
                count.count as f64 * spot.weight as f64 / (u64::from(spot.elements) * u64::from(spot.bits)) as f64;
            let (class, mass) = (count.outcome.class(), Mass { count: count.count, weight, squares: 0.0 });
            let kind = count.outcome.kind();
            let of = FaultClass::new(class, kind.as_deref());
            operands.add(count.operand as usize, Some(count.bit), of, mass, None);
            if let Some(kind) = kind {
                kinds.entry((class, kind.into_owned())).or_default().add(mass);
            }
        }
        let spots: Vec<_> = spots.into_iter().map(|operand| operand.spot).collect();
        Ok(Self { summary, operands: operands.finish(&spots), kinds, rows: None })
    }
}

/// What the rows so far came to.
#[derive(Default)]
struct Pass {
    /// What a run of each stratum weighs; nothing without strata, where each weighs 1.
    weights: Vec<f64>,
    /// With strata, what the runs of each kind weigh.
    kinds: BTreeMap<(Class, String), Mass>,
    operands: Operands,
    /// By launch: the spot of its first row, which tells its kernel, and its faults.
    launches: BTreeMap<u32, (usize, ClassMasses)>,
    /// By spot.
    times: Vec<Doubling>,
    rows: FromRows,
}

impl Pass {
    fn add(&mut self, row: &RowView<'_>) -> Result<(), String> {
        let (class, weight) = (row.class, self.weights.get(row.stratum as usize));
        let one = Mass::one(weight.copied().unwrap_or(row.weight as f64));
        if let (Some(_), Some(kind)) = (weight, row.kind) {
            self.kinds.entry((class, kind.to_owned())).or_default().add(one);
        }
        let of = FaultClass::new(class, row.kind);
        self.operands.add(row.spot, row.bits.and_then(lowest_bit), of, one, Some(row.run));
        if let Some(launch) = row.launch {
            self.launches.entry(launch).or_insert((row.spot, ClassMasses::default())).1.add(of, one);
        }
        if self.times.len() <= row.spot {
            self.times.resize(row.spot + 1, Doubling::default());
        }
        if let Some(dynamic) = row.dynamic {
            self.times[row.spot].add(dynamic, of, one);
        }
        self.rows.ends.add(row);
        match class {
            Class::Due => drop(self.rows.first_due.get_or_insert(row.run)),
            Class::Masked if row.kind == Some("logical") => drop(self.rows.first_absorbed.get_or_insert(row.run)),
            Class::Sdc => self.rows.magnitudes.add(row.outputs),
            Class::Failed => self.failed(row.error.unwrap_or_default()),
            _ => {}
        }
        Ok(())
    }

    fn failed(&mut self, message: &str) {
        let failures = &mut self.rows.failures;
        let room = failures.len() < MESSAGES;
        match failures.get_mut(message) {
            Some(count) => *count += 1,
            None if room => drop(failures.insert(message.to_owned(), 1)),
            None => self.rows.other_failures += 1,
        }
    }
}

/// What a run of each stratum weighs: they all get as many runs, so that it is the size of the stratum; on average 1.
fn weights(strata: &[Stratum]) -> Vec<f64> {
    let all: f64 = strata.iter().map(|stratum| stratum.members as f64).sum();
    strata.iter().map(|stratum| stratum.members as f64 * strata.len() as f64 / all).collect()
}

/// The lowest bit that a fault names: `12`, or `3` of `3+7`; none where it names a value instead.
fn lowest_bit(bits: &str) -> Option<u32> {
    bits.split('+').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::lowest_bit;

    #[test]
    fn bits_are_read_as_ids_write_them() {
        assert_eq!(["12", "3+7", "0x1f", "", "127"].map(lowest_bit), [Some(12), Some(3), None, None, Some(127)]);
    }
}
