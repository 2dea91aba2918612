//! How large silent corruptions are.

use outcome::OutputDiff;
use std::collections::BTreeMap;

/// Counts of real numbers by decade; what has no decade is apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decades {
    /// Numbers from 10^n up to, not including, 10^(n+1).
    pub(crate) bins: BTreeMap<i32, u64>,
    pub(crate) zero: u64,
    pub(crate) infinite: u64,
    pub(crate) nan: u64,
}

impl Decades {
    pub(crate) fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.nan += 1;
        } else if value.is_infinite() {
            self.infinite += 1;
        } else if value == 0.0 {
            self.zero += 1;
        } else {
            *self.bins.entry(decade(value.abs())).or_default() += 1;
        }
    }
}

/// The n of 10^n <= value < 10^(n+1). The logarithm may be off by one next to a power of ten; the comparison is not.
fn decade(value: f64) -> i32 {
    let guess = value.log10().floor() as i32;
    let power = |n: i32| format!("1e{n}").parse::<f64>().unwrap_or(f64::INFINITY);
    let near = (value.log10() - value.log10().round()).abs() < 1e-9;
    match guess {
        _ if !near => guess,
        n if power(n) > value => n - 1,
        n if power(n + 1) <= value => n + 1,
        n => n,
    }
}

/// What is counted of the outputs of silently corrupted runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Magnitudes {
    /// Runs.
    pub(crate) runs: u64,
    /// The largest relative error of any element of any output.
    pub(crate) max_relative: Decades,
    /// The relative error of an output as a whole, of the output where it is largest.
    pub(crate) l2: Decades,
    /// Elements that differ, over all outputs.
    pub(crate) elements: Decades,
    /// Their share of all elements.
    pub(crate) share: Decades,
    /// Runs with a new NaN, and with a new infinity.
    pub(crate) new_nan: u64,
    pub(crate) new_infinite: u64,
    /// Runs in which an output differs, by its name.
    pub(crate) outputs: BTreeMap<String, u64>,
}

impl Magnitudes {
    pub(crate) fn add(&mut self, outputs: &[OutputDiff]) {
        self.runs += 1;
        let differing = || outputs.iter().filter(|output| output.differing > 0);
        self.max_relative.add(worst(differing().map(|output| output.max_rel)));
        self.l2.add(worst(differing().map(|output| output.rel_l2)));
        let hit: u64 = differing().map(|output| output.differing).sum();
        let all: u64 = outputs.iter().map(|output| output.elements).sum();
        self.elements.add(hit as f64);
        self.share.add(hit as f64 / all.max(1) as f64);
        self.new_nan += u64::from(outputs.iter().any(|output| output.nan > 0));
        self.new_infinite += u64::from(outputs.iter().any(|output| output.inf > 0));
        for output in differing() {
            match self.outputs.get_mut(&output.name) {
                Some(runs) => *runs += 1,
                None => drop(self.outputs.insert(output.name.clone(), 1)),
            }
        }
    }
}

/// The largest of some errors; NaN is worse than any number.
fn worst(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, |worst, error| if worst.is_nan() || error.is_nan() { f64::NAN } else { error.max(worst) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_ten_begins_its_decade() {
        for n in -300..300 {
            let value: f64 = format!("1e{n}").parse().unwrap();
            assert_eq!(decade(value), n);
            assert_eq!(decade(value.next_down()), n - 1, "below 1e{n}");
            assert_eq!(decade(value * 9.0), n);
        }
    }

    #[test]
    fn what_has_no_decade_is_counted_apart() {
        let mut decades = Decades::default();
        [0.0, -0.0, f64::NAN, f64::INFINITY, -3.0, 0.02].into_iter().for_each(|value| decades.add(value));
        assert_eq!((decades.zero, decades.nan, decades.infinite), (2, 1, 1));
        assert_eq!(decades.bins, BTreeMap::from([(-2, 1), (0, 1)]));
    }

    #[test]
    fn a_run_is_as_bad_as_its_worst_output() {
        let output = |name: &str, differing, max_rel, nan| OutputDiff {
            name: name.into(),
            elements: 10,
            differing,
            max_abs: 1.0,
            sum_abs: Some(1.0),
            max_rel,
            rel_l2: max_rel / 2.0,
            nan,
            inf: 0,
            out_of_range: 0,
        };
        let mut magnitudes = Magnitudes::default();
        magnitudes.add(&[output("a", 1, 0.5, 0), output("b", 4, f64::NAN, 1), output("c", 0, 0.0, 0)]);
        assert_eq!((magnitudes.max_relative.nan, magnitudes.new_nan, magnitudes.new_infinite), (1, 1, 0));
        assert_eq!(magnitudes.elements.bins, BTreeMap::from([(0, 1)]));
        assert_eq!(magnitudes.share.bins, BTreeMap::from([(-1, 1)]));
        assert_eq!(magnitudes.outputs, BTreeMap::from([("a".into(), 1), ("b".into(), 1)]));
    }
}
