//! Making and freeing CUDA arrays.

use capsule::AllocKind;

use super::arrays::Array;
use super::{Runtime, is_device};
use crate::abi::types::{ChannelFormatDesc, Extent};
use crate::code::Code;

impl Runtime {
    /// An array that exists.
    pub(crate) fn array(&mut self, handle: u64) -> Result<Array, Code> {
        self.check()?;
        self.arrays.get(handle).copied()
    }

    pub(crate) fn allocate_array(
        &mut self,
        channel: ChannelFormatDesc,
        extent: Extent,
        flags: u32,
    ) -> Result<u64, Code> {
        self.check()?;
        let array = Array::new(channel, extent, flags)?;
        let address = self.allocate(array.bytes(), AllocKind::Device)?;
        Ok(self.arrays.add(Array { address, ..array }))
    }

    pub(crate) fn free_array(&mut self, array: u64) -> Result<(), Code> {
        self.check()?;
        if array == 0 {
            return Ok(());
        }
        let Array { address, .. } = self.arrays.remove(array)?;
        self.free(address, is_device)
    }
}
