//! The genetic search of the paper (Sections II-E, IV-B): a fitness, and generations of inputs.

use space::{Point, Space};
use stats::Draws;

use super::searcher::Searcher;

/// Inputs of a generation. The paper does not say how many.
const POPULATION: usize = 20;
/// The chance that a child is changed (Section IV-B1).
const MUTATION: f64 = 0.4;
/// The chance that a child has two parents (Section IV-B1).
const CROSSOVER: f64 = 0.05;
/// The stream of draws of the generations, unlike that of random points.
const STREAM: u64 = 0x6472_7574_6f00_0000;
/// Redraws of a parameter that is to change, until a number of one value is given up.
const REDRAWS: u32 = 16;
/// Redraws of a child that does not fulfil the constraints, until a random point takes its place.
const CHILDREN: u32 = 100;

/// A search that is asked for generations and told what they are worth.
pub(super) struct Genetic {
    space: Space,
    seed: u64,
    generation: u64,
    /// The last generation with its fitness; empty before the first.
    population: Vec<(Point, f64)>,
}

impl Genetic {
    pub(super) fn new(space: &Space, seed: u64) -> Self {
        Self { space: space.clone(), seed, generation: 0, population: Vec::new() }
    }

    /// The fittest of the last generation; of equal ones the first.
    fn fittest(&self) -> Option<&(Point, f64)> {
        self.population.iter().reduce(|best, other| if other.1 > best.1 { other } else { best })
    }

    /// The fitter of two that are drawn.
    fn parent(&self, draws: &mut Draws) -> &Point {
        let mut one = || draws.below(self.population.len() as u64).unwrap_or_default() as usize;
        let (first, second) = (&self.population[one()], &self.population[one()]);
        if second.1 > first.1 { &second.0 } else { &first.0 }
    }

    /// A child that fulfils the constraints.
    fn child(&self, draws: &mut Draws) -> Point {
        let fulfils = |child: &Point| self.space.check(child).is_ok();
        let child = (0..CHILDREN).map(|_| self.any_child(draws)).find(fulfils);
        child.unwrap_or_else(|| self.space.draw(self.seed, STREAM ^ draws.next()))
    }

    fn any_child(&self, draws: &mut Draws) -> Point {
        let mut child = self.parent(draws).clone();
        if draws.unit() < CROSSOVER {
            let other = self.parent(draws);
            for number in 0..self.space.parameters().len() {
                if draws.unit() < 0.5
                    && let Some(value) = other.value(number)
                {
                    child = child.with(number, value.clone());
                }
            }
        }
        let parameters = self.space.parameters();
        if draws.unit() < MUTATION
            && let Some(number) = draws.below(parameters.len() as u64).map(|number| number as usize)
        {
            for _ in 0..REDRAWS {
                let changed = child.with(number, parameters[number].draw(draws));
                if changed != child {
                    return changed;
                }
            }
        }
        child
    }
}

impl Searcher for Genetic {
    /// The inputs of the next generation: at first random ones, then the fittest so far and children.
    fn ask(&mut self) -> Vec<Point> {
        let mut draws = Draws::new(self.seed, STREAM + self.generation);
        self.generation += 1;
        let Some((fittest, _)) = self.fittest().cloned() else {
            return (0..POPULATION as u64).map(|number| self.space.draw(self.seed, number)).collect();
        };
        let children = (1..POPULATION).map(|_| self.child(&mut draws));
        std::iter::once(fittest).chain(children).collect()
    }

    /// Takes what the inputs of a generation are worth; those that cannot be run are worth the least.
    fn tell(&mut self, generation: Vec<(Point, Option<f64>)>) {
        let worth = |(point, fitness): (Point, Option<f64>)| (point, fitness.unwrap_or(f64::NEG_INFINITY));
        self.population = generation.into_iter().map(worth).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Value;

    const TEXT: &str = "arguments = ['{x}', '{y}']
        [[parameters]]\nname = 'x'\nkind = 'int'\nrange = [0, 99]\nreference = 5
        [[parameters]]\nname = 'y'\nkind = 'int'\nrange = [0, 99]\nreference = 5";

    fn fitness(point: &Point) -> f64 {
        let number =
            |at| if let Some(Value::Int(value)) = point.value(at) { *value as f64 } else { panic!("an integer") };
        -(number(0) - 37.0).abs() - (number(1) - 61.0).abs()
    }

    /// The best of so many generations.
    fn best(seed: u64, generations: u32) -> (Vec<String>, f64) {
        let space = Space::read(TEXT).unwrap();
        let mut search = Genetic::new(&space, seed);
        let mut history = Vec::new();
        for _ in 0..generations {
            let points = search.ask();
            assert_eq!(points.len(), POPULATION);
            history.extend(points.iter().map(ToString::to_string));
            search.tell(points.into_iter().map(|point| (point.clone(), Some(fitness(&point)))).collect());
        }
        (history, search.fittest().unwrap().1)
    }

    #[test]
    fn the_same_seed_is_the_same_search_and_the_best_never_falls() {
        assert_eq!(best(3, 12), best(3, 12));
        assert_ne!(best(3, 2).0, best(4, 2).0);
        for seed in 0..10 {
            let values: Vec<f64> = [1, 10, 60].map(|generations| best(seed, generations).1).into();
            assert!(values.is_sorted(), "{values:?}");
        }
    }

    #[test]
    fn it_finds_more_than_as_many_random_points() {
        let space = Space::read(TEXT).unwrap();
        let random = |seed| (0..600).map(|number| fitness(&space.draw(seed, number))).fold(f64::NEG_INFINITY, f64::max);
        let (found, drawn): (f64, f64) = (0..20)
            .map(|seed| (best(seed, 30).1, random(seed)))
            .fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        assert!(found > drawn, "{found} and {drawn}");
    }

    #[test]
    fn children_fulfil_the_constraints() {
        let space = Space::read(&format!("constraints = ['x + y <= 40']\n{TEXT}")).unwrap();
        let mut search = Genetic::new(&space, 1);
        for _ in 0..30 {
            let points = search.ask();
            assert!(points.iter().all(|point| space.check(point).is_ok()));
            search.tell(points.into_iter().map(|point| (point.clone(), Some(fitness(&point)))).collect());
        }
    }

    #[test]
    fn inputs_that_cannot_be_run_are_never_the_fittest() {
        let space = Space::read(TEXT).unwrap();
        let mut search = Genetic::new(&space, 1);
        let points = search.ask();
        let known = points[7].clone();
        let told = points.into_iter().map(|point| (point.clone(), (point == known).then_some(-3.0)));
        search.tell(told.collect());
        assert_eq!(search.ask()[0], known);
    }
}
