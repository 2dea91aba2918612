//! Figures beside the tables: elements by the difference that they come from, and graph colouring.

use methods::regional::plots;
use study::{Mark, Plot, Point, Series, Vertical};

use super::statements::pairs;
use super::survey::{Measured, REGISTERS};

/// Dots of a plot, at most.
const DOTS: usize = 400;

/// Fig. 6: elements that faults in a region corrupt in the end, by the largest difference of the variable that was corrupted first.
pub(super) fn by_difference(all: &[Measured]) -> Plot {
    let found = pairs(all, "covar", "KM", "mean", "symmat");
    let finite = found.into_iter().filter(|(difference, _)| difference.is_finite() && *difference > 0.0);
    let points = finite.take(DOTS).map(|(x, y)| Point { x, y, bounds: None }).collect();
    Plot {
        name: "difference-covar".to_owned(),
        title: "COVAR, KM: elements of symmat by the difference of mean".to_owned(),
        x: "difference of mean".to_owned(),
        logarithmic: true,
        names: Vec::new(),
        y: "elements of symmat that differ".to_owned(),
        vertical: Vertical::Counts,
        series: vec![Series { name: "a fault".to_owned(), mark: Mark::Dots, points }],
    }
}

/// Fig. 11: how faults in one of 64 and one of 128 registers end in each region of graph colouring.
pub(super) fn in_registers(cjp: &Measured) -> [Plot; 2] {
    [0, 1].map(|at| {
        let of = |name| cjp.build.registers[at].region(name);
        let named: Vec<_> = cjp.of_paper().iter().map(|name| (name.as_str(), of(name))).collect();
        plots::ends(&format!("cjp-{}", REGISTERS[at]), &format!("CJP, one of {} registers", REGISTERS[at]), &named)
    })
}
