//! A box of device memory: rows of bytes, in planes, in a volume, as the copies of CUDA have them.
//!
//! In JSON, what follows from the rest is left out: `height` and `depth` are 1, `pitch` is `width`, and `slice` is
//! `pitch × height` unless they are given. A linear region is just `{"address": …, "width": …}`.
//!
//! Reference: CUDA Driver API, `CUDA_MEMCPY3D`.

use serde::{Deserialize, Serialize};

/// `depth` slices of `height` rows of `width` bytes.
///
/// Row *y* of slice *z* begins at `address + y × pitch + z × slice`. No method panics, whatever the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "RegionJson", into = "RegionJson")]
pub struct Region {
    /// The first byte.
    pub address: u64,
    /// Bytes in a row.
    pub width: u64,
    /// Rows in a slice.
    pub height: u64,
    /// Slices.
    pub depth: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Bytes from one slice to the next.
    pub slice: u64,
}

impl Region {
    /// `bytes` bytes in one piece.
    pub const fn linear(address: u64, bytes: u64) -> Self {
        Self { address, width: bytes, height: 1, depth: 1, pitch: bytes, slice: bytes }
    }

    /// `height` rows of `width` bytes, `pitch` bytes apart.
    pub const fn pitched(address: u64, width: u64, height: u64, pitch: u64) -> Self {
        Self { address, width, height, depth: 1, pitch, slice: pitch.saturating_mul(height) }
    }

    /// How many bytes it has, without the gaps between rows; `None` if the number overflows.
    pub fn bytes(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        self.width.checked_mul(self.height)?.checked_mul(self.depth)
    }

    /// Whether it has no bytes at all.
    pub const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// The distance from its first byte to just past its last one, gaps included; `None` if that overflows.
    pub fn span(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        let slices = self.slice.checked_mul(self.depth - 1)?;
        slices.checked_add(self.plane_span()?)
    }

    /// Its rows in order, as `(address, bytes)`; none if it is empty. Addresses wrap if the region was not validated.
    pub fn rows(&self) -> Rows {
        Rows { region: *self, y: 0, z: if self.is_empty() { self.depth } else { 0 } }
    }

    /// Whether its rows follow each other without gaps, so that it is `bytes()` bytes from `address`.
    pub fn is_contiguous(&self) -> bool {
        self.bytes().is_some_and(|bytes| self.span() == Some(bytes))
    }

    /// The span of one slice that is not empty.
    fn plane_span(&self) -> Option<u64> {
        self.pitch.checked_mul(self.height - 1)?.checked_add(self.width)
    }

    /// What keeps it from being a box of memory: `(expected, found)`. Rows may not overlap, nor leave the address space.
    pub(crate) fn fault(&self) -> Option<(String, String)> {
        if self.is_empty() {
            return None;
        }
        if self.height > 1 && self.pitch < self.width {
            return Some((format!("a pitch of at least the width, {}", self.width), self.pitch.to_string()));
        }
        let Some(plane) = self.plane_span() else {
            return Some(self.overflow());
        };
        if self.depth > 1 && self.slice < plane {
            return Some((format!("slices at least {plane} bytes apart"), self.slice.to_string()));
        }
        let end = self.span().and_then(|span| self.address.checked_add(span));
        if end.is_none() || self.bytes().is_none() { Some(self.overflow()) } else { None }
    }

    fn overflow(&self) -> (String, String) {
        let Self { address, width, height, depth, pitch, slice } = self;
        (
            "a region inside the 64-bit address space".to_owned(),
            format!("{width} × {height} × {depth} bytes from {address:#x} with pitch {pitch} and slice {slice}"),
        )
    }
}

/// The rows of a [`Region`], slice after slice, as `(address, bytes)`.
#[derive(Debug, Clone)]
pub struct Rows {
    region: Region,
    y: u64,
    z: u64,
}

impl Iterator for Rows {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let region = &self.region;
        if self.z >= region.depth {
            return None;
        }
        let offset = self.y.wrapping_mul(region.pitch).wrapping_add(self.z.wrapping_mul(region.slice));
        self.y += 1;
        if self.y == region.height {
            self.y = 0;
            self.z += 1;
        }
        Some((region.address.wrapping_add(offset), region.width))
    }
}

/// A region as the manifest spells it.
#[derive(Serialize, Deserialize)]
struct RegionJson {
    address: u64,
    width: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slice: Option<u64>,
}

impl From<RegionJson> for Region {
    fn from(json: RegionJson) -> Self {
        let height = json.height.unwrap_or(1);
        let pitch = json.pitch.unwrap_or(json.width);
        Self {
            address: json.address,
            width: json.width,
            height,
            depth: json.depth.unwrap_or(1),
            pitch,
            slice: json.slice.unwrap_or(pitch.saturating_mul(height)),
        }
    }
}

impl From<Region> for RegionJson {
    fn from(region: Region) -> Self {
        let unless = |value: u64, default: u64| (value != default).then_some(value);
        Self {
            address: region.address,
            width: region.width,
            height: unless(region.height, 1),
            depth: unless(region.depth, 1),
            pitch: unless(region.pitch, region.width),
            slice: unless(region.slice, region.pitch.saturating_mul(region.height)),
        }
    }
}
