//! Which PTX of a fat binary runs.

use std::fmt;

use super::{ArchVariant, FatbinImage, ImageKind};

/// The PTX to run, and what is worth knowing about the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen<'i, 'a> {
    /// The image.
    pub image: &'i FatbinImage<'a>,
    /// Its place among the images.
    pub place: usize,
}

/// A fat binary without PTX: there is nothing that the simulator could run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected PTX in the application's device code, found only {found}: build it with nvcc -arch=sm_80, which embeds PTX (-code=sm_80 alone does not)"
)]
pub struct NoPtx {
    /// What there is instead.
    pub found: Contents,
}

/// The images of a fat binary, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents(Vec<(ImageKind, u32)>);

/// Chooses the PTX that a driver would compile for a device of this architecture: the highest one that is not above
/// it. If all are above, the lowest of them; the real device would refuse it, but nothing keeps a simulator from
/// running it. PTX that is tied to one architecture or family is taken only when there is no other.
///
/// # Errors
/// There is no PTX.
pub fn choose<'i, 'a>(images: &'i [FatbinImage<'a>], device: u32) -> Result<Chosen<'i, 'a>, NoPtx> {
    let ptx = images.iter().enumerate().filter(|(_, image)| image.kind == ImageKind::Ptx);
    let chosen = ptx.min_by_key(|(place, image)| {
        let tied = image.variant != ArchVariant::Plain;
        let above = image.arch > device;
        (tied, above, image.arch.abs_diff(device), *place)
    });
    let found = || Contents(images.iter().map(|image| (image.kind, image.arch)).collect());
    chosen.map(|(place, image)| Chosen { image, place }).ok_or_else(|| NoPtx { found: found() })
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        for (place, (kind, arch)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}a {kind} for sm_{arch}")?;
        }
        Ok(())
    }
}
