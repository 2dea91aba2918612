//! Objects that a detector finds, and how those of two runs differ.
//!
//! The last tensor of a detector has a cell for each part of the image and these channels: 0 is positive where the centre of an object lies in
//! the cell; 1 and 2 are the row and the column of that centre from the centre of the cell, in cells; 3 and 4 are the
//! logarithms of its height and width in units of 2.5 cells; the rest are the logits of its class. Of two that overlap by more
//! than half of their union, the one whose channel 0 is smaller is dropped.

use crate::operator::Shape;

/// The least share of the union of two boxes in which they overlap, of the same object.
const SAME: f64 = 0.5;

/// Height and width of a box whose channels 3 and 4 are zero, in cells.
const UNIT: f64 = 2.5;

/// The channels before those of the classes.
const BEFORE_CLASSES: usize = 5;

/// Something that an image shows, with a box around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object {
    /// Its class.
    pub class: u16,
    /// Its first row, its first column, and the row and column that follow its last, in pixels.
    pub bounds: [f64; 4],
}

impl Object {
    /// An object of bytes: class, first row, first column, and the row and column that follow its last.
    #[must_use]
    pub fn of_bytes(&[class, top, left, bottom, right]: &[u8; 5]) -> Self {
        Self { class: class.into(), bounds: [top, left, bottom, right].map(f64::from) }
    }

    /// The share of the union of two boxes in which they overlap; NaN of boxes that are not finite.
    #[must_use]
    pub fn overlap(&self, other: &Self) -> f64 {
        let [a, b] = [self.bounds, other.bounds];
        let shared = |axis: usize| (a[axis + 2].min(b[axis + 2]) - a[axis].max(b[axis])).max(0.0);
        let area = |it: [f64; 4]| (it[2] - it[0]) * (it[3] - it[1]);
        let both = shared(0) * shared(1);
        both / (area(a) + area(b) - both)
    }
}

/// How a tensor of cells stands for objects of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    cells: Shape,
    /// Rows and columns of pixels in a cell.
    pixels: [f64; 2],
}

impl Grid {
    /// The cells of the last tensor of a detector on images of this size; none if it has no channels of classes.
    #[must_use]
    pub fn new(image: Shape, cells: Shape) -> Option<Self> {
        let pixels = [image.height as f64 / cells.height.max(1) as f64, image.width as f64 / cells.width.max(1) as f64];
        (cells.channels > BEFORE_CLASSES).then_some(Self { cells, pixels })
    }

    /// How many classes it tells apart.
    #[must_use]
    pub fn classes(self) -> usize {
        self.cells.channels - BEFORE_CLASSES
    }

    /// How many cells it has.
    #[must_use]
    pub fn positions(self) -> usize {
        self.cells.positions()
    }

    /// The objects of an image by the values of the last tensor, position-major: the surest first.
    #[must_use]
    pub fn objects(self, values: &[f64]) -> Vec<Object> {
        let cells = values.chunks_exact(self.cells.channels).enumerate();
        let mut sure: Vec<(usize, &[f64])> = cells.filter(|(_, cell)| cell[0] > 0.0).collect();
        sure.sort_by(|a, b| b.1[0].total_cmp(&a.1[0]));
        let mut kept: Vec<Object> = Vec::new();
        for (position, cell) in sure {
            let found = self.object(position, cell);
            // The overlap of boxes that are not finite is NaN, and not more than half.
            if !kept.iter().any(|other| found.overlap(other) > SAME) {
                kept.push(found);
            }
        }
        kept
    }

    fn object(self, position: usize, cell: &[f64]) -> Object {
        let at = [position / self.cells.width, position % self.cells.width];
        let middle = |axis: usize| (at[axis] as f64 + 0.5 + cell[1 + axis]) * self.pixels[axis];
        let half = |axis: usize| cell[3 + axis].exp() * UNIT * self.pixels[axis] / 2.0;
        let classes = &cell[BEFORE_CLASSES..];
        let largest = classes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let class = classes.iter().position(|&logit| logit == largest).unwrap_or(0) as u16;
        let bounds = [middle(0) - half(0), middle(1) - half(1), middle(0) + half(0), middle(1) + half(1)];
        Object { class, bounds }
    }
}

/// How the objects of a run differ from those of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Expected objects that no found one overlaps by half of their union.
    pub lost: usize,
    /// Found objects that overlap none.
    pub phantom: usize,
    /// Objects that are found as another class.
    pub reclassified: usize,
}

impl Differences {
    /// Compares objects: each found one, in its order, is the expected one that it overlaps most, if by half and if no other is.
    #[must_use]
    pub fn new(expected: &[Object], found: &[Object]) -> Self {
        let mut left: Vec<&Object> = expected.iter().collect();
        let mut differences = Self::default();
        for object in found {
            let overlaps = left.iter().map(|other| object.overlap(other)).enumerate();
            let most = overlaps.filter(|&(_, overlap)| overlap >= SAME).max_by(|a, b| a.1.total_cmp(&b.1));
            match most {
                Some((at, _)) => {
                    differences.reclassified += usize::from(left.swap_remove(at).class != object.class);
                }
                None => differences.phantom += 1,
            }
        }
        Self { lost: left.len(), ..differences }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: Shape = Shape { height: 2, width: 2, channels: 7 };

    fn grid() -> Grid {
        Grid::new(Shape { height: 16, width: 16, channels: 1 }, CELLS).unwrap()
    }

    /// A tensor of cells that hold nothing but these.
    fn values(of: &[(usize, [f64; 7])]) -> Vec<f64> {
        let mut values = vec![-1.0; CELLS.elements()];
        for (position, cell) in of {
            values[position * 7..][..7].copy_from_slice(cell);
        }
        values
    }

    fn object(class: u16, bounds: [f64; 4]) -> Object {
        Object { class, bounds }
    }

    #[test]
    fn a_cell_is_decoded_to_the_box_that_its_channels_say() {
        let log = (8.0_f64 / 20.0).ln();
        let found = grid().objects(&values(&[(3, [2.0, -0.5, 0.25, log, 2.0 * log, 0.0, 1.0])]));
        let [found] = &found[..] else { panic!("one object: {found:?}") };
        // The cell's centre is 12, 12; heights and widths are 8 and 3.2.
        let expected = [8.0 - 4.0, 14.0 - 1.6, 8.0 + 4.0, 14.0 + 1.6];
        assert_eq!(found.class, 1);
        assert!(found.bounds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn of_two_that_overlap_the_surer_one_is_kept() {
        let same = |sure: f64, column: f64| [sure, 0.0, column, 0.0, 0.0, 1.0, 0.0];
        // Cells side by side whose boxes are 20 pixels wide, and 8 apart if they are not moved: an overlap of 12 of 28.
        let apart = grid().objects(&values(&[(0, same(1.0, 0.0)), (1, same(2.0, 0.0))]));
        assert_eq!(apart.len(), 2);
        let together = grid().objects(&values(&[(0, same(1.0, 0.5)), (1, same(2.0, 0.0))]));
        assert_eq!(together.len(), 1);
        assert_eq!(together[0].bounds[1], 2.0);
    }

    #[test]
    fn objects_are_lost_found_where_none_is_and_found_as_another_class() {
        let (a, b) = (object(1, [0.0, 0.0, 4.0, 4.0]), object(2, [8.0, 8.0, 12.0, 12.0]));
        let of = |found: &[Object]| {
            let Differences { lost, phantom, reclassified } = Differences::new(&[a, b], found);
            [lost, phantom, reclassified]
        };
        assert_eq!(of(&[b, a]), [0, 0, 0]);
        assert_eq!(of(&[a]), [1, 0, 0]);
        assert_eq!(of(&[a, b, a]), [0, 1, 0]);
        assert_eq!(of(&[a, object(0, b.bounds)]), [0, 0, 1]);
        // Two of four rows overlap: 8 of 24 pixels.
        assert_eq!(of(&[object(1, [2.0, 0.0, 6.0, 4.0]), b]), [1, 1, 0]);
        let infinite = object(1, [f64::NEG_INFINITY, 0.0, f64::INFINITY, 4.0]);
        assert_eq!(of(&[infinite, b]), [1, 1, 0]);
    }

    #[test]
    fn what_is_no_number_is_no_object() {
        assert!(grid().objects(&values(&[(0, [f64::NAN; 7])])).is_empty());
        let found = grid().objects(&values(&[(0, [1.0, 0.0, 0.0, f64::INFINITY, 0.0, f64::NAN, 0.0])]));
        assert_eq!((found.len(), found[0].class), (1, 1));
        assert!(Grid::new(CELLS, Shape { channels: 5, ..CELLS }).is_none());
    }
}
