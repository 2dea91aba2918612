//! CUDA arrays.
//!
//! How a GPU lays an array out is its secret; ours are rows with a pitch, in slices without gaps. Applications cannot
//! tell, because only copies, textures and surfaces reach into arrays. Handles look like pointers, and are never
//! followed.

use std::collections::BTreeMap;

use capsule::Region;

use super::spec;
use crate::abi::types::{ChannelFormatDesc, Extent};
use crate::code::Code;
use crate::report::say_unsupported;

/// An array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array {
    pub(super) address: u64,
    pub(super) pitch: u64,
    pub(crate) channel: ChannelFormatDesc,
    /// Elements, rows, slices or layers; what a line or a plane does not have is zero.
    pub(crate) extent: Extent,
    pub(crate) flags: u32,
}

/// All arrays of the process.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    arrays: BTreeMap<u64, Array>,
    made: u64,
}

/// `cudaArrayLayered`, `cudaArraySurfaceLoadStore` and `cudaArrayTextureGather`: of no account for the layout.
const KNOWN_FLAGS: u32 = 1 | 2 | 8;
/// Flags of arrays that CUDA has and we do not, as they are named when one is asked for.
const UNSUPPORTED_FLAGS: &[(u32, &str)] = &[
    (4, "cube map arrays (cudaArrayCubemap)"),
    (0x40, "sparse arrays (cudaArraySparse)"),
    (0x80, "arrays with deferred mapping (cudaArrayDeferredMapping)"),
];
/// `cudaChannelFormatKindFloat`.
pub(super) const FLOAT: i32 = 2;
/// The bytes of an element: one, two or four channels of the same 8, 16 or 32 bits.
pub(super) fn element_bytes(channel: &ChannelFormatDesc) -> Result<u64, Code> {
    let ChannelFormatDesc { x, y, z, w, f } = *channel;
    let channels = match [y, z, w].map(|bits| bits == x) {
        [false, false, false] if (y, z, w) == (0, 0, 0) => 1,
        [true, false, false] if (z, w) == (0, 0) => 2,
        [true, true, true] => 4,
        _ => return Err(Code::INVALID_CHANNEL_DESCRIPTOR),
    };
    let known = matches!((x, f), (8 | 16 | 32, 0 | 1) | (16 | 32, FLOAT));
    if known { Ok(x.unsigned_abs() as u64 / 8 * channels) } else { Err(Code::INVALID_CHANNEL_DESCRIPTOR) }
}

/// Whether arrays can be so large.
fn check_extent(extent: Extent) -> Result<(), Code> {
    let [width, height, depth] = match extent {
        Extent { depth: 0, .. } => [131_072, 65_536, 0],
        _ => [16_384, 16_384, 16_384],
    };
    let within = (1..=width).contains(&extent.width) && extent.height <= height && extent.depth <= depth;
    if within { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

impl Array {
    /// An array whose memory is not yet set aside.
    pub(super) fn new(channel: ChannelFormatDesc, extent: Extent, flags: u32) -> Result<Self, Code> {
        let element = element_bytes(&channel)?;
        check_extent(extent)?;
        if let Some((_, what)) = UNSUPPORTED_FLAGS.iter().find(|(flag, _)| flags & flag != 0) {
            say_unsupported(what);
            return Err(Code::NOT_SUPPORTED);
        }
        if flags & !KNOWN_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let pitch = (extent.width * element).next_multiple_of(spec::PITCH_ALIGNMENT);
        Ok(Self { address: 0, pitch, channel, extent, flags })
    }

    /// The memory that it needs.
    pub(super) fn bytes(&self) -> u64 {
        self.pitch * self.extent.height.max(1) * self.extent.depth.max(1)
    }

    /// The bytes of an element.
    pub(crate) fn element_bytes(&self) -> u64 {
        // Checked when the array was made.
        element_bytes(&self.channel).unwrap_or(1)
    }

    /// Where its first element is, and the bytes from row to row and from slice to slice.
    pub(super) fn place(&self) -> (u64, u64, u64) {
        (self.address, self.pitch, self.pitch * self.extent.height.max(1))
    }

    /// A box of the array: its corner in bytes, rows and slices, and its extents in the same.
    pub(crate) fn part(&self, [x, y, z]: [u64; 3], [width, height, depth]: [u64; 3]) -> Result<Region, Code> {
        let rows = self.extent.height.max(1);
        let fits = |from: u64, count: u64, all: u64| from.checked_add(count).is_some_and(|end| end <= all);
        let row = self.extent.width * self.element_bytes();
        if !fits(x, width, row) || !fits(y, height, rows) || !fits(z, depth, self.extent.depth.max(1)) {
            return Err(Code::INVALID_VALUE);
        }
        let (pitch, slice) = (self.pitch, self.pitch * rows);
        Ok(Region { address: self.address + x + y * pitch + z * slice, width, height, depth, pitch, slice })
    }

    /// So many bytes from a corner on, if they are a part of a row or whole rows.
    pub(crate) fn line(&self, x: u64, y: u64, bytes: u64) -> Result<Region, Code> {
        let row = self.extent.width * self.element_bytes();
        if x.checked_add(bytes).is_some_and(|end| end <= row) {
            self.part([x, y, 0], [bytes, 1, 1])
        } else if x == 0 && bytes.is_multiple_of(row) {
            self.part([0, y, 0], [row, bytes / row, 1])
        } else {
            Err(Code::NOT_SUPPORTED)
        }
    }
}

impl Arrays {
    fn handle(&mut self) -> u64 {
        self.made += 1;
        0xa44a_0000 + 64 * self.made
    }

    /// Keeps an array, and gives its handle.
    pub(super) fn add(&mut self, array: Array) -> u64 {
        let handle = self.handle();
        self.arrays.insert(handle, array);
        handle
    }

    pub(super) fn remove(&mut self, array: u64) -> Result<Array, Code> {
        self.arrays.remove(&array).ok_or(Code::INVALID_RESOURCE_HANDLE)
    }

    pub(crate) fn get(&self, array: u64) -> Result<&Array, Code> {
        self.arrays.get(&array).ok_or(Code::INVALID_RESOURCE_HANDLE)
    }

    /// The array whose memory holds an address, and the place in it: element, row, slice.
    pub(crate) fn holding(&self, address: u64) -> Option<(u64, [u64; 3])> {
        self.arrays.iter().find_map(|(&handle, array)| {
            let (start, pitch, slice) = array.place();
            let at = address.checked_sub(start).filter(|at| *at < slice * array.extent.depth.max(1))?;
            Some((handle, [at % pitch / array.element_bytes(), at % slice / pitch, at / slice]))
        })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self { made: self.made, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHARS: ChannelFormatDesc = ChannelFormatDesc { x: 8, y: 8, z: 8, w: 8, f: 1 };

    #[test]
    fn elements_have_equal_channels() {
        assert_eq!(element_bytes(&CHARS), Ok(4));
        assert_eq!(element_bytes(&ChannelFormatDesc { x: 32, y: 32, z: 0, w: 0, f: 2 }), Ok(8));
        for (x, y, z, f) in [(8, 8, 8, 1), (8, 0, 0, 2), (24, 0, 0, 0), (32, 16, 0, 0), (0, 0, 0, 0), (32, 0, 0, 3)] {
            let channel = ChannelFormatDesc { x, y, z, w: 0, f };
            assert_eq!(element_bytes(&channel), Err(Code::INVALID_CHANNEL_DESCRIPTOR), "{channel:?}");
        }
    }

    #[test]
    fn arrays_that_cuda_has_and_we_do_not_are_not_the_applications_fault() {
        let made = |flags| Array::new(CHARS, Extent { width: 8, height: 8, depth: 6 }, flags).map(|array| array.flags);
        assert_eq!([0, 1, 4, 5, 0x40, 0x100].map(made), {
            let refused = Err(Code::NOT_SUPPORTED);
            [Ok(0), Ok(1), refused, refused, refused, Err(Code::INVALID_VALUE)]
        });
    }

    #[test]
    fn parts_lie_within_the_array() {
        let extent = Extent { width: 10, height: 4, depth: 0 };
        let array = Array { address: 0x1000, pitch: 512, channel: CHARS, extent, flags: 0 };
        let part = array.part([8, 1, 0], [32, 3, 1]).unwrap();
        assert_eq!((part.address, part.pitch, part.slice), (0x1000 + 8 + 512, 512, 2048));
        assert_eq!(array.part([12, 1, 0], [32, 3, 1]), Err(Code::INVALID_VALUE));
        assert_eq!(array.part([0, 2, 0], [4, 3, 1]), Err(Code::INVALID_VALUE));
        assert_eq!(array.part([0, u64::MAX, 0], [4, 3, 1]), Err(Code::INVALID_VALUE));
        assert_eq!(array.line(0, 1, 120).map(|line| (line.width, line.height)), Ok((40, 3)));
        assert_eq!(array.line(4, 1, 80), Err(Code::NOT_SUPPORTED));
    }
}
