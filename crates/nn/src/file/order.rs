//! How the file has a tensor: its sizes, and the order of its elements.

use std::rc::Rc;

use crate::float::FloatTensor;
use crate::operator::{Axes, Shape};

/// The order of the elements of a tensor of the file among those that are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The stored one.
    Plain,
    /// Channel by channel, where they are stored position by position.
    Image,
    /// The stored element of each.
    Moved(Rc<[u32]>),
}

/// The shape and the coordinates of a tensor of these sizes, stored in the file's own order; a batch of 1 counts for nothing.
pub(super) fn sized(dims: &[usize]) -> Option<FloatTensor> {
    let sizes = if dims.len() > 1 && dims[0] == 1 { &dims[1..] } else { dims };
    let (axes, [height, width, channels]) = match *sizes {
        [] => (Axes::Channels, [1, 1, 1]),
        [channels] => (Axes::Channels, [1, 1, channels]),
        [width, channels] => (Axes::Matrix, [1, width, channels]),
        [height, width, channels] => (Axes::Matrices, [height, width, channels]),
        _ => return None,
    };
    Some(FloatTensor { shape: Shape { height, width, channels }, axes })
}

/// The sizes in the file of an image.
pub(super) fn image_dims(Shape { height, width, channels }: Shape) -> Vec<usize> {
    vec![1, channels, height, width]
}

/// Weights of a convolution by row, column, channel of the input, and channel of the output within its group. `dims` are the sizes in the
/// file: filters, channels of a filter, rows, columns; groups divide the filters.
pub(super) fn by_tap<T: Copy + Default>(stored: Vec<T>, dims: [usize; 4], groups: usize) -> Vec<T> {
    let [filters, per_filter, rows, columns] = dims;
    let (per_group, channels) = (filters / groups, per_filter * groups);
    let mut weights = vec![T::default(); stored.len()];
    for (number, weight) in stored.into_iter().enumerate() {
        let (rest, column) = (number / columns, number % columns);
        let (rest, row) = (rest / rows, rest % rows);
        let (filter, within) = (rest / per_filter, rest % per_filter);
        let channel = filter / per_group * per_filter + within;
        weights[((row * columns + column) * channels + channel) * per_group + filter % per_group] = weight;
    }
    weights
}

/// The axis that a number means, from the end if it is below 0.
pub(super) fn axis_of(number: i64, rank: usize) -> Option<usize> {
    let number = if number < 0 { number.checked_add(i64::try_from(rank).ok()?)? } else { number };
    usize::try_from(number).ok().filter(|&axis| axis < rank)
}
