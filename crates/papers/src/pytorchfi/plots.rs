//! Outcomes by layer and by bit.

use stats::Proportion;
use study::{Mark, Plot, Point, Series, Vertical};

use super::measured::{Measured, OPERANDS};
use super::survey::{Ends, Runs, interval};
use super::tables::{bit_ends, layer_ends};

fn plot([name, title, x]: [&str; 3], names: Vec<String>, series: Vec<Series>) -> Plot {
    Plot {
        name: name.to_owned(),
        title: title.to_owned(),
        x: x.to_owned(),
        logarithmic: false,
        names,
        y: "runs with another class, %".to_owned(),
        vertical: Vertical::Shares,
        series,
    }
}

fn point(x: f64, of: Option<Proportion>) -> Option<Point> {
    let of = of?;
    let bounds = interval(of);
    Some(Point { x, y: of.rate()?, bounds: Some((bounds.low, bounds.high)) })
}

/// The operands that are bytes: biases change the class so much more often that they have a plot of their own.
fn bytes(of: &[Runs]) -> impl Iterator<Item = (&'static str, &Runs)> {
    OPERANDS.into_iter().zip(of).filter(|(operand, _)| *operand != "bias")
}

fn dots(name: &str, numbers: std::ops::Range<u32>, of: impl Fn(u32) -> Option<Ends>) -> Series {
    let points = numbers.filter_map(|number| point(f64::from(number), of(number)?.class())).collect();
    Series { name: name.to_owned(), mark: Mark::Dots, points }
}

/// The share of runs that change the class, by layer.
pub(super) fn layers(found: &Measured) -> Plot {
    let all = 0..found.layers.len() as u32;
    let series =
        bytes(&found.by_layer).map(|(name, runs)| dots(name, all.clone(), |layer| layer_ends(runs, layer as usize)));
    let words = ["layers", "Flips in bytes that change the class, by layer", "layer"];
    plot(words, found.layers.clone(), series.collect())
}

/// The share of runs that change the class, by bit of a byte.
pub(super) fn bits(found: &Measured) -> Plot {
    let series = bytes(&found.operands).map(|(name, runs)| dots(name, 0..8, |bit| bit_ends(runs, bit)));
    let names = (0..8).map(|bit: u32| bit.to_string()).collect();
    let words = ["bits", "Flips in bytes that change the class, by bit", "bit, 0 is the lowest"];
    plot(words, names, series.collect())
}

/// The same of biases.
pub(super) fn bias_bits(found: &Measured) -> Plot {
    let biases = OPERANDS.into_iter().zip(&found.operands).filter(|(operand, _)| *operand == "bias");
    let series = biases.map(|(name, runs)| dots(name, 0..32, |bit| bit_ends(runs, bit)));
    let words = ["bias-bits", "Flips in biases that change the class, by bit", "bit, 31 is the sign"];
    plot(words, Vec::new(), series.collect())
}
