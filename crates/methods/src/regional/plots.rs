//! What regions came to, as plots: how faults end, how many elements they corrupt, and by how much.

use stats::Interval;
use std::collections::BTreeMap;
use study::{Mark, Plot, Point, Series, Vertical};

use super::tally::RegionTally;

/// A region and what it came to.
pub type Named<'r> = (&'r str, &'r RegionTally);

/// All of them.
pub(super) fn all(name: &str, regions: &[Named<'_>]) -> Vec<Plot> {
    vec![
        ends("regions", name, regions),
        corrupted("corrupted", name, regions),
        errors("errors", name, regions, |it| it.errors_of_corrupted().collect()),
    ]
}

fn names(regions: &[Named<'_>]) -> Vec<String> {
    regions.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// SDC and DUE by region.
#[must_use]
pub fn ends(file: &str, name: &str, regions: &[Named<'_>]) -> Plot {
    let series = |name: &str, of: fn(&RegionTally) -> u64| Series {
        name: name.to_owned(),
        mark: Mark::Dots,
        points: regions.iter().enumerate().filter_map(|(x, (_, it))| rate(x, of(it), it)).collect(),
    };
    Plot {
        name: file.to_owned(),
        title: format!("{name}: how faults in regions end"),
        x: "region".to_owned(),
        logarithmic: false,
        names: names(regions),
        y: "of runs, %".to_owned(),
        vertical: Vertical::Shares,
        series: vec![series("SDC", |it| it.sdc), series("DUE", |it| it.due)],
    }
}

/// The rate of so many runs of a region at a place.
fn rate(x: usize, count: u64, it: &RegionTally) -> Option<Point> {
    let (rate, Interval { low, high }) = it.rate(count);
    Some(Point { x: x as f64, y: rate?, bounds: Some((low, high)) })
}

/// Box plots of how many elements SDCs corrupt.
#[must_use]
pub fn corrupted(file: &str, name: &str, regions: &[Named<'_>]) -> Plot {
    let fives: Vec<(f64, [f64; 5])> =
        (0..).zip(regions).filter_map(|(x, (_, it))| Some((f64::from(x), it.corrupted_quartiles()?))).collect();
    let series = |name: &str, mark: Mark, low: usize, high: usize| Series {
        name: name.to_owned(),
        mark,
        points: fives.iter().map(|&(x, five)| Point { x, y: five[2], bounds: Some((five[low], five[high])) }).collect(),
    };
    Plot {
        name: file.to_owned(),
        title: format!("{name}: elements that SDCs corrupt"),
        x: "region".to_owned(),
        logarithmic: false,
        names: names(regions),
        y: "elements".to_owned(),
        vertical: Vertical::Counts,
        series: vec![series("least and most", Mark::Whiskers, 0, 4), series("quartiles and median", Mark::Boxes, 1, 3)],
    }
}

/// A power of ten, or what lies beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decade {
    Zero,
    Power(i32),
    Infinite,
}

impl Decade {
    fn of(error: f64) -> Self {
        match error {
            0.0 => Self::Zero,
            error if error.is_finite() => Self::Power(error.log10().floor() as i32),
            _ => Self::Infinite,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Zero => "0".to_owned(),
            Self::Power(power) => format!("1e{power}"),
            Self::Infinite => "∞".to_owned(),
        }
    }
}

/// How many powers of ten a histogram tells apart, at most; with more, two, three … share a bar.
const BARS: i32 = 16;

/// Histograms of the errors of SDCs, by powers of ten.
#[must_use]
pub fn errors(file: &str, name: &str, regions: &[Named<'_>], of: impl Fn(&RegionTally) -> Vec<f64>) -> Plot {
    let found: Vec<Vec<Decade>> = regions.iter().map(|(_, it)| of(it).into_iter().map(Decade::of).collect()).collect();
    let powers = || {
        found.iter().flatten().filter_map(|it| match it {
            Decade::Power(power) => Some(*power),
            _ => None,
        })
    };
    let (least, most) = (powers().min().unwrap_or(0), powers().max().unwrap_or(0));
    let width = (most - least + BARS) / BARS;
    let together = |it: Decade| match it {
        Decade::Power(power) => Decade::Power(least + (power - least) / width * width),
        other => other,
    };
    let mut bins: BTreeMap<Decade, usize> =
        (0..=(most - least) / width).map(|bar| (Decade::Power(least + bar * width), 0)).collect();
    bins.extend(found.iter().flatten().map(|&it| (together(it), 0)));
    bins.values_mut().enumerate().for_each(|(at, place)| *place = at);
    let series = |((name, _), found): (&Named<'_>, &Vec<Decade>)| {
        let mut counts = vec![0_u64; bins.len()];
        found.iter().for_each(|&it| counts[bins[&together(it)]] += 1);
        let all = found.len().max(1) as f64;
        let point = |(x, count): (usize, u64)| Point { x: x as f64, y: count as f64 / all, bounds: None };
        Series {
            name: (*name).to_owned(),
            mark: Mark::Bars,
            points: counts.into_iter().enumerate().filter(|(_, count)| *count > 0).map(point).collect(),
        }
    };
    Plot {
        name: file.to_owned(),
        title: format!("{name}: mean absolute errors of the elements that SDCs corrupt"),
        x: "mean absolute error, from".to_owned(),
        logarithmic: false,
        names: bins.keys().map(|it| it.words()).collect(),
        y: "of the region's SDCs, %".to_owned(),
        vertical: Vertical::Shares,
        series: regions.iter().zip(&found).map(series).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::quartiles;
    use super::*;

    #[test]
    fn errors_are_counted_by_powers_of_ten_and_what_is_no_number_apart() {
        let tally = RegionTally {
            sdc: 4,
            corrupted: vec![1, 2, 1, 1],
            errors: vec![5.0, 400.0, f64::INFINITY, 0.0],
            ..RegionTally::default()
        };
        let plot = errors("errors", "x", &[("K1", &tally)], |it| it.errors_of_corrupted().collect());
        assert_eq!(plot.names, ["0", "1e0", "1e1", "1e2", "∞"]);
        let found: Vec<(f64, f64)> = plot.series[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(found, [(0.0, 0.25), (1.0, 0.25), (3.0, 0.25), (4.0, 0.25)]);
        let boxes = corrupted("corrupted", "x", &[("K1", &tally)]);
        assert_eq!(boxes.series[0].points[0].bounds, Some((1.0, 2.0)));
        assert_eq!(
            quartiles(vec![1.0, 2.0, 1.0, 1.0]).map(|five| five[3]),
            Some(boxes.series[1].points[0].bounds.unwrap().1)
        );
    }
}
