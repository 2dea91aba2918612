//! A tree-structured Parzen estimator over mixed spaces (Bergstra et al., NIPS 2011, Section 4).
//!
//! The inputs of known value divide into a good share and the rest. The next input is the one of some drawn from the density
//! of the good that is the likeliest there compared with the rest. Inputs of a batch whose values are still unknown count
//! among the rest, with the worst value so far.

use space::{Point, Space};
use stats::Draws;
use std::collections::BTreeSet;

use super::parzen::Density;
use super::searcher::Searcher;

/// Random inputs at the start.
const START: u64 = 20;
/// Inputs of a batch after it.
const BATCH: u64 = 10;
/// The share of the inputs that count as good.
const GOOD: f64 = 0.15;
/// Inputs that are drawn for each that is chosen.
const DRAWN: u32 = 24;
/// The stream of draws of the batches, unlike that of random points.
const STREAM: u64 = 0x7470_6500_0000_0000;

/// A search that models good and bad inputs.
pub(super) struct Tpe {
    space: Space,
    seed: u64,
    batch: u64,
    /// Each input once, with its value.
    known: Vec<(Point, f64)>,
    names: BTreeSet<String>,
}

impl Tpe {
    pub(super) fn new(space: &Space, seed: u64) -> Self {
        Self { space: space.clone(), seed, batch: 0, known: Vec::new(), names: BTreeSet::new() }
    }

    /// The next input, given those of the batch that are chosen already.
    fn next(&self, chosen: &[Point], draws: &mut Draws) -> Point {
        let mut best: Vec<&(Point, f64)> = self.known.iter().collect();
        // Of equal ones the one that was told first.
        best.sort_by(|one, other| other.1.total_cmp(&one.1));
        let good = ((best.len() as f64 * GOOD).ceil() as usize).clamp(1, best.len());
        let (good, rest) = best.split_at(good);
        let densities: Vec<(Density<'_>, Density<'_>)> = (0..self.space.parameters().len())
            .map(|number| {
                let parameter = &self.space.parameters()[number];
                let values = |points: &[&(Point, f64)]| {
                    points.iter().filter_map(|(point, _)| point.value(number).cloned()).collect::<Vec<_>>()
                };
                let pending = chosen.iter().filter_map(|point| point.value(number).cloned());
                let rest = values(rest).into_iter().chain(pending).collect();
                (Density::of(parameter, values(good)), Density::of(parameter, rest))
            })
            .collect();
        let worth = |point: &Point| {
            let values = densities.iter().zip(point.values());
            values.map(|((good, rest), value)| good.log(value) - rest.log(value)).sum::<f64>()
        };
        let is_new = |point: &Point| !self.names.contains(&point.to_string()) && !chosen.contains(point);
        let mut found: Option<(f64, Point)> = None;
        for _ in 0..DRAWN {
            let mut point = self.space.reference();
            for (number, (good, _)) in densities.iter().enumerate() {
                point = point.with(number, good.draw(draws));
            }
            if self.space.check(&point).is_ok() && is_new(&point) {
                let worth = worth(&point);
                if found.as_ref().is_none_or(|(most, _)| worth > *most) {
                    found = Some((worth, point));
                }
            }
        }
        // Near the end of a small space the good region is used up.
        found.map_or_else(|| self.space.draw(self.seed, STREAM ^ draws.next()), |(_, point)| point)
    }
}

impl Searcher for Tpe {
    fn ask(&mut self) -> Vec<Point> {
        let batch = self.batch;
        self.batch += 1;
        if self.known.is_empty() {
            return (0..START).map(|number| self.space.draw(self.seed, batch * START + number)).collect();
        }
        let mut draws = Draws::new(self.seed, STREAM + batch);
        let mut chosen: Vec<Point> = Vec::new();
        for _ in 0..BATCH {
            let next = self.next(&chosen, &mut draws);
            chosen.push(next);
        }
        chosen
    }

    fn tell(&mut self, told: Vec<(Point, Option<f64>)>) {
        for (point, value) in told {
            if self.names.insert(point.to_string()) {
                self.known.push((point, value.unwrap_or(f64::NEG_INFINITY)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Value;

    const TEXT: &str = "arguments = ['{x}', '{y}', '{way}', '{seed}']
        [[parameters]]\nname = 'x'\nkind = 'int'\nrange = [1, 1000]\nscale = 'log'\nreference = 5
        [[parameters]]\nname = 'y'\nkind = 'float'\nrange = [0, 1]\nreference = 0.5
        [[parameters]]\nname = 'way'\nkind = 'choice'\nvalues = ['a', 'b', 'c']\nreference = 'a'
        [[parameters]]\nname = 'seed'\nkind = 'seed'\nreference = 1";

    /// Best at x = 300, y = 0.2, way b; the seed does nothing.
    fn value(point: &Point) -> f64 {
        let [x, y] = [0, 1].map(|at| match point.value(at) {
            Some(Value::Int(value)) => *value as f64,
            Some(Value::Float(value)) => *value,
            other => panic!("{other:?}"),
        });
        let way = f64::from(point.value(2) == Some(&Value::Text("b".into())));
        way - (x / 300.0).ln().abs() - 4.0 * (y - 0.2).abs()
    }

    fn search(seed: u64, evaluations: usize) -> (Vec<String>, f64) {
        let space = Space::read(TEXT).unwrap();
        let mut search = Tpe::new(&space, seed);
        let (mut history, mut best) = (Vec::new(), f64::NEG_INFINITY);
        while history.len() < evaluations {
            let points = search.ask();
            best = points.iter().map(value).fold(best, f64::max);
            history.extend(points.iter().map(ToString::to_string));
            search.tell(points.into_iter().map(|point| (point.clone(), Some(value(&point)))).collect());
        }
        (history, best)
    }

    #[test]
    fn the_same_seed_is_the_same_search_and_no_input_comes_twice() {
        let (history, _) = search(3, 100);
        assert_eq!(search(3, 100).0, history);
        assert_eq!(history.iter().collect::<BTreeSet<_>>().len(), history.len());
    }

    #[test]
    fn it_finds_more_than_as_many_random_inputs() {
        let space = Space::read(TEXT).unwrap();
        let random = |seed| (0..100).map(|number| value(&space.draw(seed, number))).fold(f64::NEG_INFINITY, f64::max);
        let better = (0..20).filter(|&seed| search(seed, 100).1 > random(seed)).count();
        // By chance alone 15 of 20 have a probability of 2 %.
        assert!(better >= 15, "{better} of 20");
    }

    #[test]
    fn a_space_without_inputs_that_run_is_searched_at_random() {
        let space = Space::read(TEXT).unwrap();
        let mut search = Tpe::new(&space, 1);
        for _ in 0..3 {
            let points = search.ask();
            search.tell(points.into_iter().map(|point| (point, None)).collect());
        }
        assert_eq!(search.ask().len(), BATCH as usize);
    }
}
