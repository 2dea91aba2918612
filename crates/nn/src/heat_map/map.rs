//! The heat map itself: a number for each position of a layer.

use crate::operator::Shape;

/// How much each position of a layer speaks for a class.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Its rows and columns.
    pub size: [usize; 2],
    /// The values, row by row; 0 or more.
    pub values: Vec<f64>,
}

impl HeatMap {
    /// The heat map of feature maps by the gradients of a score, both position-major.
    #[must_use]
    pub fn new(shape: Shape, activations: &[f64], gradients: &[f64]) -> Self {
        let mut weights = vec![0.0; shape.channels];
        for position in gradients.chunks_exact(shape.channels) {
            for (weight, gradient) in weights.iter_mut().zip(position) {
                *weight += gradient / shape.positions() as f64;
            }
        }
        let heat = |position: &[f64]| position.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>();
        let values = activations.chunks_exact(shape.channels).map(|position| heat(position).max(0.0)).collect();
        Self { size: [shape.height, shape.width], values }
    }

    /// The same with 1 as its largest value; all zeros stay zeros.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        let by = if largest > 0.0 { largest } else { 1.0 };
        Self { size: self.size, values: self.values.iter().map(|value| value / by).collect() }
    }

    /// The values of a picture of these rows and columns, between the four nearest positions (bilinear; its corners are those of the map).
    #[must_use]
    pub fn scaled(&self, [rows, columns]: [usize; 2]) -> Vec<f64> {
        let [height, width] = self.size;
        if self.values.is_empty() {
            return vec![0.0; rows * columns];
        }
        let at = |row: usize, column: usize| self.values[row * width + column];
        let value = |row: usize, column: usize| {
            let ([above, below, y], [left, right, x]) = (between(row, rows, height), between(column, columns, width));
            let along = |row: f64| {
                let row = row as usize;
                at(row, left as usize) * (1.0 - x) + at(row, right as usize) * x
            };
            along(above) * (1.0 - y) + along(below) * y
        };
        (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(y, x)| value(y, x)).collect()
    }

    /// How much it differs from another of the same size: the mean, over positions, of how far the normalised maps are from each
    /// other, from 0 to 1.
    #[must_use]
    pub fn difference(&self, other: &Self) -> f64 {
        let [one, other] = [self.normalised(), other.normalised()];
        let apart: f64 = one.values.iter().zip(&other.values).map(|(a, b)| (a - b).abs()).sum();
        apart / one.values.len().max(1) as f64
    }

    /// Pearson's correlation with another of the same size; none if all values of one of them are equal.
    #[must_use]
    pub fn correlation(&self, other: &Self) -> Option<f64> {
        let deviations = |of: &Self| {
            let mean = of.values.iter().sum::<f64>() / of.values.len().max(1) as f64;
            of.values.iter().map(|value| value - mean).collect::<Vec<f64>>()
        };
        // Of maps whose values are near the largest numbers, products would be infinite.
        let [one, other] = [self.normalised(), other.normalised()].map(|map| deviations(&map));
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let both = (product(&one, &one) * product(&other, &other)).sqrt();
        (both > 0.0).then(|| (product(&one, &other) / both).clamp(-1.0, 1.0))
    }
}

/// The places among `few` before and behind one of `many`, and its distance from the first.
fn between(at: usize, many: usize, few: usize) -> [f64; 3] {
    let last = few.saturating_sub(1) as f64;
    let place = ((at as f64 + 0.5) * few as f64 / many as f64 - 0.5).clamp(0.0, last);
    [place.floor(), place.ceil(), place.fract()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(size: [usize; 2], values: &[f64]) -> HeatMap {
        HeatMap { size, values: values.to_vec() }
    }

    #[test]
    fn a_map_is_scaled_up_between_the_centres_of_its_positions() {
        let one = map([1, 2], &[0.0, 1.0]);
        assert_eq!(one.scaled([1, 4]), [0.0, 0.25, 0.75, 1.0]);
        assert_eq!(one.scaled([2, 2]), [0.0, 1.0, 0.0, 1.0]);
        let square = map([2, 2], &[0.0, 1.0, 2.0, 3.0]);
        assert_eq!(square.scaled([2, 2]), square.values);
        assert_eq!(square.scaled([4, 4])[5], 0.25 + 0.5);
        assert_eq!(map([1, 1], &[7.0]).scaled([2, 3]), [7.0; 6]);
        assert_eq!(map([0, 0], &[]).scaled([1, 2]), [0.0; 2]);
    }

    #[test]
    fn maps_that_differ_by_a_factor_do_not_differ() {
        let (one, twice) = (map([1, 3], &[1.0, 0.0, 4.0]), map([1, 3], &[2.0, 0.0, 8.0]));
        assert_eq!((one.difference(&twice), one.correlation(&twice)), (0.0, Some(1.0)));
        let nothing = map([1, 3], &[0.0; 3]);
        assert_eq!((nothing.normalised(), nothing.difference(&nothing)), (nothing.clone(), 0.0));
        assert_eq!((one.difference(&nothing), one.correlation(&nothing)), (1.25 / 3.0, None));
        let other = map([1, 3], &[4.0, 5.0, 1.0]);
        // Deviations are -2/3, -5/3, 7/3 and 2/3, 5/3, -7/3.
        assert!((one.correlation(&other).unwrap() + 1.0).abs() < 1e-12);
    }
}
