//! Elements in another order, with constants among them.

use crate::operator::Shape;

/// The number of an input that is constant.
pub const CONSTANT: u32 = u32::MAX;

/// Where each element of a tensor comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Rearrangement {
    /// The input by number, or [`CONSTANT`], and the element of it.
    origins: Vec<[u32; 2]>,
    constants: Vec<f32>,
    /// The positions of what is made that read each position of each input.
    readers: Vec<Vec<Vec<u32>>>,
}

impl Rearrangement {
    /// For each element of `to` the input that it is of, or [`CONSTANT`], and the element there; none if one of them lies outside.
    #[must_use]
    pub fn new(origins: Vec<[u32; 2]>, constants: Vec<f32>, inputs: &[Shape], to: Shape) -> Option<Self> {
        let mut readers: Vec<Vec<Vec<u32>>> = inputs.iter().map(|shape| vec![Vec::new(); shape.positions()]).collect();
        for (element, &[input, origin]) in origins.iter().enumerate() {
            if input == CONSTANT {
                constants.get(origin as usize)?;
                continue;
            }
            let shape = inputs.get(input as usize)?;
            let position = element.checked_div(to.channels)? as u32;
            let read = readers[input as usize].get_mut((origin as usize).checked_div(shape.channels)?)?;
            if read.last() != Some(&position) {
                read.push(position);
            }
        }
        Some(Self { origins, constants, readers })
    }

    /// Whether it is of inputs and an output of these sizes.
    pub(super) fn fits(&self, inputs: &[Shape], to: Shape) -> bool {
        self.origins.len() == to.elements()
            && Self::new(self.origins.clone(), self.constants.clone(), inputs, to).is_some_and(|made| made == *self)
    }

    /// The constants among the elements.
    pub(super) fn constants(&self) -> &[f32] {
        &self.constants
    }

    /// The origins of the elements of a position.
    pub(super) fn of_position(&self, at: usize, channels: usize) -> &[[u32; 2]] {
        &self.origins[at * channels..][..channels]
    }

    /// The positions that read a position of an input.
    pub(super) fn readers(&self, input: usize, at: usize) -> &[u32] {
        &self.readers[input][at]
    }
}
