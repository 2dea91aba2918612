//! Which neurons of a layer differ, as a shape.

use nn::network::Shape;

/// The shape of the neurons of a layer that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeuronPattern {
    /// One neuron.
    Single,
    /// Several of one feature map in one row.
    Row,
    /// Several of one feature map in one column.
    Column,
    /// Several of one feature map, in several rows and columns.
    FeatureMap,
    /// Several feature maps at one position.
    Position,
    /// Several feature maps at several positions.
    Several,
}

impl NeuronPattern {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Single, Self::Row, Self::Column, Self::FeatureMap, Self::Position, Self::Several];

    /// The shape of these elements, position-major, of a tensor; none of no element.
    #[must_use]
    pub fn of(elements: &[usize], shape: Shape) -> Option<Self> {
        let first = *elements.first()?;
        let place = |element: usize| {
            let position = element / shape.channels;
            [position / shape.width, position % shape.width, element % shape.channels]
        };
        let is_one = |axis: usize| elements.iter().all(|&element| place(element)[axis] == place(first)[axis]);
        Some(match [0, 1, 2].map(is_one) {
            [true, true, true] => Self::Single,
            [true, false, true] => Self::Row,
            [false, true, true] => Self::Column,
            [false, false, true] => Self::FeatureMap,
            [true, true, false] => Self::Position,
            _ => Self::Several,
        })
    }

    /// Its name, in words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Single => "one neuron",
            Self::Row => "a row of a feature map",
            Self::Column => "a column of a feature map",
            Self::FeatureMap => "several rows and columns of a feature map",
            Self::Position => "several feature maps at a position",
            Self::Several => "several feature maps at several positions",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neurons_that_differ_have_a_shape() {
        let shape = Shape { height: 3, width: 4, channels: 2 };
        let at = |row: usize, column: usize, channel: usize| (row * 4 + column) * 2 + channel;
        let of = |places: &[[usize; 3]]| {
            NeuronPattern::of(
                &places.iter().map(|&[row, column, channel]| at(row, column, channel)).collect::<Vec<_>>(),
                shape,
            )
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[[2, 3, 1]]), Some(NeuronPattern::Single));
        assert_eq!(of(&[[2, 0, 1], [2, 3, 1]]), Some(NeuronPattern::Row));
        assert_eq!(of(&[[0, 3, 1], [2, 3, 1]]), Some(NeuronPattern::Column));
        assert_eq!(of(&[[0, 1, 1], [2, 3, 1]]), Some(NeuronPattern::FeatureMap));
        assert_eq!(of(&[[1, 1, 0], [1, 1, 1]]), Some(NeuronPattern::Position));
        assert_eq!(of(&[[1, 1, 0], [1, 2, 1]]), Some(NeuronPattern::Several));
    }
}
