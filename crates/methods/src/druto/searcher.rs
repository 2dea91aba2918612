//! What chooses inputs, and the simplest of it.

use space::{Point, Space};

/// Chooses inputs, and is told what they are worth. It starts no process.
pub(super) trait Searcher {
    /// The next inputs; some may have been asked for before.
    fn ask(&mut self) -> Vec<Point>;

    /// Takes what the inputs that were asked for last are worth; those that cannot be run are worth nothing.
    fn tell(&mut self, told: Vec<(Point, Option<f64>)>) {
        let _ = told;
    }
}

/// Random points, one after the other.
pub(super) struct RandomPoints {
    pub(super) space: Space,
    pub(super) seed: u64,
    /// The number of the next one.
    pub(super) next: u64,
}

impl Searcher for RandomPoints {
    fn ask(&mut self) -> Vec<Point> {
        self.next += 1;
        vec![self.space.draw(self.seed, self.next - 1)]
    }
}
