//! The texture and surface objects of the process.

use std::collections::BTreeMap;

use crate::abi::types::{ResourceDesc, ResourceViewDesc, TextureDesc};
use crate::code::Code;

/// A texture object: what it reads and how, as the application says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texture {
    pub(crate) resource: ResourceDesc,
    pub(crate) texture: TextureDesc,
    pub(crate) view: Option<ResourceViewDesc>,
}

/// All textures and surfaces of the process, by their handles.
#[derive(Debug, Default)]
pub(crate) struct Textures {
    pub(super) textures: BTreeMap<u64, Texture>,
    pub(super) surfaces: BTreeMap<u64, ResourceDesc>,
}

impl Textures {
    pub(crate) fn texture(&self, texture: u64) -> Result<&Texture, Code> {
        self.textures.get(&texture).ok_or(Code::INVALID_VALUE)
    }

    pub(crate) fn surface(&self, surface: u64) -> Result<&ResourceDesc, Code> {
        self.surfaces.get(&surface).ok_or(Code::INVALID_VALUE)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
