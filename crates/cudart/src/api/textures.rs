//! Texture and surface objects: made, described and destroyed.

use super::entry::entry_points;
use crate::abi::types::{ResourceDesc, ResourceViewDesc, TextureDesc};
use crate::abi::{In, Out};
use crate::code::Code;
use crate::runtime;
use crate::runtime::textures::Texture;

/// A texture that exists.
fn texture(object: u64) -> Result<Texture, Code> {
    runtime::with(|runtime| runtime.textures.texture(object).copied())
}

entry_points! {
    [cudaCreateTextureObject] (
        to: Out<u64>, resource: In<ResourceDesc>, description: In<TextureDesc>, view: In<ResourceViewDesc>,
    ) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let texture = Texture { resource: resource.get()?, texture: description.get()?, view: view.get().ok() };
        to.put(runtime::with(|runtime| runtime.create_texture(texture))?)
    }

    [cudaDestroyTextureObject] (object: u64) {
        runtime::with(|runtime| runtime.destroy_texture(object))
    }

    [cudaGetTextureObjectResourceDesc] (to: Out<ResourceDesc>, object: u64) {
        to.put(texture(object)?.resource)
    }

    [cudaGetTextureObjectTextureDesc] (to: Out<TextureDesc>, object: u64) {
        to.put(texture(object)?.texture)
    }

    [cudaGetTextureObjectResourceViewDesc] (to: Out<ResourceViewDesc>, object: u64) {
        to.put(texture(object)?.view.ok_or(Code::INVALID_VALUE)?)
    }

    [cudaCreateSurfaceObject] (to: Out<u64>, resource: In<ResourceDesc>) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let resource = resource.get()?;
        to.put(runtime::with(|runtime| runtime.create_surface(resource))?)
    }

    [cudaDestroySurfaceObject] (object: u64) {
        runtime::with(|runtime| runtime.destroy_surface(object))
    }

    [cudaGetSurfaceObjectResourceDesc] (to: Out<ResourceDesc>, object: u64) {
        to.put(runtime::with(|runtime| runtime.textures.surface(object).copied())?)
    }
}
