//! Searchers: they are asked for inputs and told their values.
//!
//! A searcher is a function of its seed and of the values that it was told. It starts no process, and a search that was
//! interrupted goes on by telling a new one the values that are known.

use space::Point;

/// Chooses inputs.
pub(super) trait Searcher {
    /// The next inputs, a batch whose values are all told before the next one; some may have been asked for before.
    fn ask(&mut self) -> Vec<Point>;

    /// Takes the values of the inputs that were asked for last, in their order; inputs that cannot be run have none.
    fn tell(&mut self, told: Vec<(Point, Option<f64>)>) {
        let _ = told;
    }
}
