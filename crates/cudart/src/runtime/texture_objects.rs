//! Making texture and surface objects: what the application says of one becomes the record that kernels find behind its
//! handle.
//!
//! A handle is the address of a record in device memory, allocated and written as any memory of the application is,
//! so that a recording needs nothing else to replay kernels that use it.

use capsule::{AllocKind, Region};
use simt::texture::{Channel, Descriptor, Edge, RECORD, TexelFormat};

use super::arrays::{FLOAT, element_bytes};
use super::errors::code_of;
use super::textures::Texture;
use super::{Runtime, is_device};
use crate::abi::types::{ChannelFormatDesc, ResourceDesc};
use crate::code::Code;
use crate::report::say;

/// `cudaResourceType`.
const ARRAY: i32 = 0;
const LINEAR: i32 = 2;
const PITCHED: i32 = 3;
/// `cudaFilterModeLinear` and `cudaReadModeNormalizedFloat`.
const INTERPOLATES: i32 = 1;
const NORMALIZES: i32 = 1;

/// Where elements are: the first, how many there are, and bytes from row to row and slice to slice.
struct Elements {
    channel: ChannelFormatDesc,
    address: u64,
    extent: [u64; 3],
    pitch: u64,
    slice: u64,
}

impl Elements {
    fn descriptor(&self, surface: bool, normalizes: bool) -> Result<Descriptor, Code> {
        let ChannelFormatDesc { x, y, z, f, .. } = self.channel;
        let kind = match (f, normalizes) {
            (FLOAT, _) => Channel::Float,
            (0, false) => Channel::Signed,
            (0, true) => Channel::SignedFraction,
            (_, false) => Channel::Unsigned,
            (_, true) => Channel::UnsignedFraction,
        };
        let channels = if z > 0 { 4 } else { 1 + u8::from(y > 0) };
        let extent = self.extent.map(|count| u32::try_from(count.max(1)));
        let [Ok(width), Ok(height), Ok(depth)] = extent else { return Err(Code::INVALID_VALUE) };
        Ok(Descriptor {
            surface,
            format: TexelFormat { channels, bits: x as u8, kind },
            interpolates: false,
            normalized: false,
            edges: [Edge::Border; 3],
            extent: [width, height, depth],
            address: self.address,
            pitch: self.pitch,
            slice: self.slice,
            border: [0; 4],
        })
    }
}

impl Runtime {
    /// A texture of an array or of memory.
    pub(crate) fn create_texture(&mut self, texture: Texture) -> Result<u64, Code> {
        self.check_told()?;
        let Texture { resource, texture: how, view } = texture;
        let elements = self.elements(&resource)?;
        let ChannelFormatDesc { x, f, .. } = elements.channel;
        let normalizes = how.read_mode == NORMALIZES;
        if normalizes && (x == 32 || f == FLOAT) {
            return Err(Code::INVALID_NORM_SETTING);
        }
        if how.filter_mode == INTERPOLATES && f != FLOAT && !normalizes {
            return Err(Code::INVALID_FILTER_SETTING);
        }
        if how.srgb != 0 || view.is_some_and(|view| view.format != 0) {
            say("failed to make a texture: sRGB and views of resources are not supported");
            return Err(Code::NOT_SUPPORTED);
        }
        let mut descriptor = elements.descriptor(false, normalizes)?;
        // Linear memory is read by its index alone, and is zero outside.
        if resource.kind != LINEAR {
            descriptor.interpolates = how.filter_mode == INTERPOLATES;
            descriptor.normalized = how.normalized_coords != 0;
            for (edge, mode) in descriptor.edges.iter_mut().zip(how.address_mode) {
                let known = usize::try_from(mode).ok().and_then(Edge::from_number).ok_or(Code::INVALID_VALUE)?;
                let repeats = matches!(known, Edge::Wrap | Edge::Mirror);
                *edge = if repeats && !descriptor.normalized { Edge::Clamp } else { known };
            }
            descriptor.border = descriptor.format.border(how.border_color);
        }
        let handle = self.place(&descriptor)?;
        self.textures.textures.insert(handle, texture);
        Ok(handle)
    }

    /// A surface of an array.
    pub(crate) fn create_surface(&mut self, resource: ResourceDesc) -> Result<u64, Code> {
        if resource.kind != ARRAY {
            return Err(Code::INVALID_CHANNEL_DESCRIPTOR);
        }
        let descriptor = self.elements(&resource)?.descriptor(true, false)?;
        let handle = self.place(&descriptor)?;
        self.textures.surfaces.insert(handle, resource);
        Ok(handle)
    }

    pub(crate) fn destroy_texture(&mut self, texture: u64) -> Result<(), Code> {
        self.textures.textures.remove(&texture).ok_or(Code::INVALID_VALUE)?;
        self.free(texture, is_device)
    }

    pub(crate) fn destroy_surface(&mut self, surface: u64) -> Result<(), Code> {
        self.textures.surfaces.remove(&surface).ok_or(Code::INVALID_VALUE)?;
        self.free(surface, is_device)
    }

    /// Writes a record where kernels can read it.
    fn place(&mut self, descriptor: &Descriptor) -> Result<u64, Code> {
        let address = self.allocate(RECORD as u64, AllocKind::Device)?;
        let written = self.gpu.copy_in(Region::linear(address, RECORD as u64), &descriptor.encode());
        written.map_err(|error| code_of(&error))?;
        Ok(address)
    }

    /// What a texture or surface reads, which must be there.
    fn elements(&self, resource: &ResourceDesc) -> Result<Elements, Code> {
        let [address, _, _, _, size, height, pitch, ..] = resource.res;
        if resource.kind == ARRAY {
            let array = self.arrays.get(address)?;
            let (address, pitch, slice) = array.place();
            let extent = [array.extent.width, array.extent.height, array.extent.depth];
            return Ok(Elements { channel: array.channel, address, extent, pitch, slice });
        }
        let channel = resource.channel();
        let element = element_bytes(&channel)?;
        let (bytes, extent, pitch) = match resource.kind {
            LINEAR => (size, [size / element, 1, 1], size),
            PITCHED => (height.checked_mul(pitch).ok_or(Code::INVALID_VALUE)?, [size, height, 1], pitch),
            _ => return Err(Code::INVALID_VALUE),
        };
        let known =
            self.memory.covering(address, bytes).map(|_| Elements { channel, address, extent, pitch, slice: bytes });
        known.ok_or(Code::INVALID_VALUE)
    }
}
