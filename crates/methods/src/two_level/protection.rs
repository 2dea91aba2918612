//! The rate that is left where kernels are protected.

use serde_json::{Value, json};
use stats::Bounded;
use std::collections::BTreeMap;
use study::{Cell, Table};

use super::bounded_view::{document, quantity};
use super::compose::{CellPart, Composition, OutcomeCounts, chance};
use super::units::{Probability, RatePerInstruction};

/// Kernels that are protected, each with the share of its SDC that protection removes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Protection {
    /// By the full name of a kernel, from 0 to 1.
    coverage: BTreeMap<String, f64>,
}

impl Protection {
    /// Reads `K1=0.9,K2`; a kernel without a coverage is covered wholly. A name is a kernel's full one or its plain one, which stands for
    /// all kernels that have it.
    ///
    /// # Errors
    /// If a part is none of these, a kernel does not exist or is there twice, or a coverage is not from 0 to 1.
    pub(super) fn read<'a>(words: &str, kernels: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let kernels: Vec<&str> = kernels.collect();
        let mut coverage = BTreeMap::new();
        for part in words.split(',') {
            let wrong = |why: String| format!("read `{part}` for --protect: {why}");
            let (name, share) = part.split_once('=').map_or((part, Ok(1.0)), |(name, share)| (name, share.parse()));
            if name.is_empty() {
                return Err(wrong("expected KERNEL or KERNEL=COVERAGE, with commas between them".to_owned()));
            }
            let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
            let share = share.ok_or_else(|| wrong("the coverage must be a number from 0 to 1".to_owned()))?;
            let named: Vec<&str> =
                kernels.iter().copied().filter(|full| *full == name || fault::base_name(full) == name).collect();
            if named.is_empty() {
                let mut names: Vec<&str> = kernels.iter().map(|full| fault::base_name(full)).collect();
                names.sort_unstable();
                names.dedup();
                return Err(wrong(format!("there is not a kernel of this name; the kernels are {}", names.join(", "))));
            }
            for full in named {
                if coverage.insert(full.to_owned(), share).is_some() {
                    return Err(wrong("the kernel is there twice; name it once".to_owned()));
                }
            }
        }
        Ok(Self { coverage })
    }

    /// The share of a kernel's SDC that is removed.
    fn of(&self, kernel: &str) -> f64 {
        self.coverage.get(kernel).copied().unwrap_or(0.0)
    }

    /// The rate of SDC that is left.
    pub(super) fn sdc(&self, composition: &Composition) -> RatePerInstruction {
        RatePerInstruction::sum(
            composition.types.iter().map(|kind| kind.rate(|cell| cell.rate.ending(self.chance(cell)))),
        )
    }

    /// The chance that a fault of a cell comes to SDC and is not covered.
    ///
    /// Kernels of one coverage are counted together, so that without a coverage the chance is that of the cell with its interval.
    /// Counts of several coverages are parts of one sample and vary against each other, so that the bounds of their sum are rather too wide.
    fn chance(&self, cell: &CellPart) -> Probability {
        let mut by_coverage: Vec<(f64, OutcomeCounts)> = Vec::new();
        for (kernel, &ends) in cell.ends.iter().flatten() {
            let coverage = self.of(kernel);
            match by_coverage.iter_mut().find(|(known, _)| *known == coverage) {
                Some((_, all)) => *all = all.and(ends),
                None => by_coverage.push((coverage, ends)),
            }
        }
        let runs = cell.all().runs();
        let left =
            |(coverage, ends): (f64, OutcomeCounts)| chance(ends.sdc, ends.undecided, runs).0.times(1.0 - coverage);
        Probability(Bounded::sum(by_coverage.into_iter().map(left)))
    }

    /// As a document; `before` and `after` are the rates of the application without protection and with it.
    pub(super) fn json(&self, before: Bounded, after: Bounded) -> Value {
        let kernel = |(name, coverage): (&String, &f64)| json!({ "name": name, "coverage": coverage });
        json!({
            "kernels": self.coverage.iter().map(kernel).collect::<Vec<_>>(),
            "sdc": document(after),
            "removed": removed(before, after),
        })
    }

    /// As a table; `before` and `after` are the rates of the application without protection and with it.
    pub(super) fn table(&self, before: Bounded, after: Bounded) -> Table {
        let mut table =
            Table::new("If kernels were protected", &["protected", "coverage of SDC", "SDC rate", "removed"]);
        table.rows.push(vec![Cell::text("none"), Cell::None, quantity(before), Cell::None]);
        let (names, shares): (Vec<&str>, Vec<String>) =
            self.coverage.iter().map(|(name, share)| (fault::base_name(name), format!("{} %", 100.0 * share))).unzip();
        let share = removed(before, after).map_or(Cell::None, Cell::Share);
        table.rows.push(vec![Cell::Text(names.join(", ")), Cell::Text(shares.join(", ")), quantity(after), share]);
        table.notes.push(
            "A fault that protection covers is not silent: the application stops, or repeats the work. Strikes in the instructions that \
             protection adds are not in the rate."
                .to_owned(),
        );
        table
    }
}

/// The share of a rate that is gone; none if there was none.
fn removed(before: Bounded, after: Bounded) -> Option<f64> {
    (before.value > 0.0).then(|| (1.0 - after.value / before.value).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::compose::{EndsByKernel, TypePart};
    use super::super::units::Fraction;
    use super::*;

    const KERNELS: [&str; 4] = ["_Z4gemmILi16EEvPf", "_Z4gemmILi32EEvPf", "scan", "sort"];

    fn read(words: &str) -> Result<Protection, String> {
        Protection::read(words, KERNELS.into_iter())
    }

    /// One type with one cell of 100 faults: by kernel, those that came to SDC.
    fn composed(sdc: [u64; 4]) -> Composition {
        let ends = |sdc| OutcomeCounts { masked: 25 - sdc, sdc, due: 0, undecided: 0 };
        let by_kernel: EndsByKernel =
            KERNELS.into_iter().zip(sdc).map(|(name, sdc)| (name.to_owned(), ends(sdc))).collect();
        let rate = RatePerInstruction(Bounded::exact(2.0));
        let made = CellPart { manifestation: 1, rate, events: None, ends: Some(by_kernel) };
        let crash = CellPart { manifestation: 0, rate, events: None, ends: None };
        let kind = TypePart {
            number: 0,
            name: "ADD".into(),
            fraction: Fraction(0.5),
            measured: Fraction(0.5),
            error: Bounded::exact(1.0),
            cells: vec![crash, made],
            uniform: None,
        };
        let kernels = KERNELS.map(|name| (name.to_owned(), Fraction(0.25))).into();
        Composition { types: vec![kind], kernels, covered: Fraction(1.0), left_out: vec![], missing: vec![] }
    }

    #[test]
    fn a_coverage_removes_its_share_of_what_a_kernel_has() {
        let found = composed([10, 5, 20, 1]);
        let left = |words: &str| read(words).unwrap().sdc(&found).0;
        for (words, expected) in [("scan", 0.16), ("scan=0.5", 0.26), ("gemm=0.8,sort", 0.23), ("gemm,scan,sort", 0.0)]
        {
            let left = left(words);
            assert!((left.value - expected).abs() < 1e-12, "{words}: {left:?}");
            assert!(left.low <= left.value && left.value <= left.high, "{words}: {left:?}");
        }
        assert_eq!(left("gemm,scan,sort"), Bounded::ZERO);
        let whole = left("scan=0");
        let all = found.sdc().0;
        assert!((whole.low - all.low).abs() < 1e-12 && (whole.high - all.high).abs() < 1e-12, "{whole:?} {all:?}");
        assert!((removed(all, left("scan")).unwrap() - 20.0 / 36.0).abs() < 1e-12);
        assert_eq!(removed(Bounded::ZERO, Bounded::ZERO), None);
    }

    #[test]
    fn a_plain_name_stands_for_all_kernels_that_have_it() {
        assert_eq!(read("gemm=0.5").unwrap().coverage.len(), 2);
        let document = read("_Z4gemmILi32EEvPf=0.5").unwrap().json(Bounded::exact(2.0), Bounded::exact(1.5));
        assert_eq!(document["kernels"], json!([{ "name": "_Z4gemmILi32EEvPf", "coverage": 0.5 }]));
        assert_eq!(document["removed"], 0.25);
    }

    #[test]
    fn what_cannot_be_protected_is_refused() {
        for (words, part) in [
            ("fft", "read `fft` for --protect: there is not a kernel of this name; the kernels are gemm, scan, sort"),
            ("scan=1.1", "read `scan=1.1` for --protect: the coverage must be a number from 0 to 1"),
            ("scan=-0.1", "a number from 0 to 1"),
            ("scan=nan", "a number from 0 to 1"),
            ("scan=", "a number from 0 to 1"),
            ("scan,,sort", "read `` for --protect: expected KERNEL or KERNEL=COVERAGE"),
            ("", "expected KERNEL or KERNEL=COVERAGE"),
            ("=0.5", "expected KERNEL or KERNEL=COVERAGE"),
            ("scan,scan=0.5", "read `scan=0.5` for --protect: the kernel is there twice"),
            ("gemm,_Z4gemmILi16EEvPf", "the kernel is there twice"),
        ] {
            let error = read(words).unwrap_err();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
