//! The attributes of a node: numbers, lists, windows.

use rten_onnx::onnx::{AttributeProto, NodeProto};

use super::error::{FileError, content};
use crate::operator::{Shape, Window};

/// The largest window, stride and padding.
pub(super) const MOST: i64 = 1 << 15;

/// The attributes of a node.
pub(super) struct Attributes<'n>(pub(super) &'n NodeProto, pub(super) String);

impl Attributes<'_> {
    /// The weights of a product with a constant of two sizes, in the order of positions, channels and outputs; and how many outputs
    /// there are.
    ///
    /// # Errors
    /// When the constant does not fit an input of this shape.
    pub(super) fn dense_weights<T: Copy + Default>(
        &self,
        dims: &[usize],
        stored: Vec<T>,
        shape: Shape,
    ) -> Result<(Vec<T>, usize), FileError> {
        let transposed = self.number("transB", 0) != 0;
        let (size, outputs) = match (dims, transposed) {
            (&[size, outputs], false) | (&[outputs, size], true) => (size, outputs),
            _ => return Err(content(&self.1, format!("weights have two sizes, found {dims:?}"))),
        };
        if size != shape.elements() || outputs == 0 {
            return Err(content(&self.1, format!("weights of {dims:?} do not fit an input of {shape:?}")));
        }
        let mut weights = vec![T::default(); stored.len()];
        for (number, weight) in stored.into_iter().enumerate() {
            let (element, output) =
                if transposed { (number % size, number / size) } else { (number / outputs, number % outputs) };
            // The elements of the file go channel by channel.
            let (channel, position) = (element / shape.positions(), element % shape.positions());
            weights[(position * shape.channels + channel) * outputs + output] = weight;
        }
        Ok((weights, outputs))
    }
}

impl<'n> Attributes<'n> {
    /// Those of a node with this name.
    ///
    /// # Errors
    /// When it has one that is not read.
    pub(super) fn of(node: &'n NodeProto, name: &str, known: &[&str]) -> Result<Self, FileError> {
        let place = format!("the node `{name}`");
        let mut names = node.attribute.iter().map(|attribute| attribute.name.as_deref().unwrap_or_default());
        match names.find(|name| !known.contains(name)) {
            Some(unknown) => {
                let what = format!("its attribute `{unknown}` is not read; {} are", known.join(", "));
                Err(content(place, what))
            }
            None => Ok(Self(node, place)),
        }
    }

    pub(super) fn find(&self, key: &str) -> Option<&AttributeProto> {
        self.0.attribute.iter().find(|attribute| attribute.name.as_deref() == Some(key))
    }

    pub(super) fn number(&self, key: &str, default: i64) -> i64 {
        // A writer of files may leave out zeros.
        self.find(key).map_or(default, |attribute| attribute.i.unwrap_or(0))
    }

    pub(super) fn real(&self, key: &str, default: f32) -> f32 {
        self.find(key).map_or(default, |attribute| attribute.f.unwrap_or(0.0))
    }

    /// A list of `N` numbers that are not below `least`.
    pub(super) fn list<const N: usize>(
        &self,
        key: &str,
        default: [usize; N],
        least: i64,
    ) -> Result<[usize; N], FileError> {
        let Some(attribute) = self.find(key) else { return Ok(default) };
        let numbers: Vec<usize> = attribute
            .ints
            .iter()
            .filter(|&&n| (least..=MOST).contains(&n))
            .filter_map(|&n| usize::try_from(n).ok())
            .collect();
        <[usize; N]>::try_from(numbers).ok().filter(|_| attribute.ints.len() == N).ok_or_else(|| {
            content(
                &self.1,
                format!("`{key}`: expected {N} numbers from {least} to {MOST}, found {:?}", attribute.ints),
            )
        })
    }

    /// Windows without holes, with pads in numbers.
    pub(super) fn plain_windows(&self) -> Result<(), FileError> {
        self.list("dilations", [1, 1], 1).and_then(|found| match found {
            [1, 1] => Ok(()),
            _ => Err(content(&self.1, format!("`dilations`: expected 1 and 1, found {found:?}"))),
        })?;
        self.pads_in_numbers()
    }

    fn pads_in_numbers(&self) -> Result<(), FileError> {
        if let Some(auto) = self.find("auto_pad").and_then(|attribute| attribute.s.as_deref())
            && auto != "NOTSET"
        {
            return Err(content(&self.1, format!("`auto_pad`: expected `NOTSET` and pads in numbers, found `{auto}`")));
        }
        Ok(())
    }

    /// The windows over an input, of these rows and columns if nothing is said, and the size of what they make. The input has `around`
    /// it rows above, columns to the left, rows below and columns to the right, besides the node's own padding.
    pub(super) fn windows(
        &self,
        input: Shape,
        kernel: [usize; 2],
        around: [usize; 4],
    ) -> Result<(Window, Shape), FileError> {
        self.pads_in_numbers()?;
        let pads = self.list("pads", [0; 4], 0)?;
        let [top, left, bottom, right] = [0, 1, 2, 3].map(|side| pads[side] + around[side]);
        let window = Window {
            kernel: self.list("kernel_shape", kernel, 1)?,
            stride: self.list("strides", [1, 1], 1)?,
            pad: [top, left],
            dilation: self.list("dilations", [1, 1], 1)?,
        };
        // A last window may end beyond the padding, if it begins before it.
        let reaches_beyond = match self.number("ceil_mode", 0) {
            0 => false,
            1 => true,
            other => return Err(content(&self.1, format!("`ceil_mode`: expected 0 or 1, found {other}"))),
        };
        let windows = |size: usize, pads: [usize; 2], axis: usize| {
            let (rest, stride) = ((size + pads[0] + pads[1]).checked_sub(window.extent(axis))?, window.stride[axis]);
            let whole = rest.checked_div(stride)? + 1;
            let begins_before_it = whole * stride < size + pads[0];
            Some([whole, usize::from(reaches_beyond && !rest.is_multiple_of(stride) && begins_before_it)])
        };
        let height = windows(input.height, [top, bottom], 0);
        let (Some([height, below]), Some([width, right])) = (height, windows(input.width, [left, right], 1)) else {
            let what = format!(
                "windows of {:?} with dilations of {:?} are larger than their input",
                window.kernel, window.dilation
            );
            return Err(content(&self.1, what));
        };
        if below + right > 0 && self.number("count_include_pad", 0) != 0 {
            let what = "`ceil_mode` and `count_include_pad`: a window ends beyond the padding, of which the rest does not count; \
                        expected one of them to be 0";
            return Err(content(&self.1, what));
        }
        Ok((window, Shape { height: height + below, width: width + right, ..input }))
    }

    /// What has to be as it usually is.
    pub(super) fn expect(&self, key: &str, expected: i64) -> Result<(), FileError> {
        match self.number(key, expected) {
            found if found == expected => Ok(()),
            found => Err(content(&self.1, format!("`{key}`: expected {expected}, found {found}"))),
        }
    }
}
