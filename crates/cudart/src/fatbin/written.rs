//! Fat binaries as bytes.

use super::format::{HEADER_BYTES, MAGIC, flags};
use super::image::FatbinImage;

/// The size of an image's header with options that are empty; NVIDIA's driver looks at options in any case, and ends the process
/// where there are none.
const IMAGE_HEADER_BYTES: u32 = 80;
/// Where the place of the options stands in it, and where they are.
const OPTIONS: [u32; 2] = [0x40, 0x48];

/// A fat binary with one PTX text, plain, for the devices that `image` is for.
#[must_use]
pub fn of_ptx(text: &str, image: &FatbinImage<'_>) -> Vec<u8> {
    let mut payload = text.as_bytes().to_vec();
    payload.push(0);
    payload.resize(payload.len().next_multiple_of(8), 0);
    let devices = image.flags & (flags::ARCHITECTURE | flags::FAMILY);
    let mut bytes = Vec::with_capacity(HEADER_BYTES + IMAGE_HEADER_BYTES as usize + payload.len());
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(1u16.to_le_bytes());
    bytes.extend((HEADER_BYTES as u16).to_le_bytes());
    bytes.extend((u64::from(IMAGE_HEADER_BYTES) + payload.len() as u64).to_le_bytes());
    // PTX, and the version of its header.
    bytes.extend([1u16, 0x101].map(u16::to_le_bytes).concat());
    bytes.extend(IMAGE_HEADER_BYTES.to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    // Not compressed.
    bytes.extend([0u32, OPTIONS[0], image.isa, image.arch].map(u32::to_le_bytes).concat());
    // Without a name.
    bytes.extend([0u64, HOST_64 | devices, 0, 0].map(u64::to_le_bytes).concat());
    bytes.extend([OPTIONS[1], 0, 0, 0].map(u32::to_le_bytes).concat());
    bytes.extend(payload);
    bytes
}

/// The flags of an image for hosts of 64 bits on Linux, as nvcc 13.0 sets them.
const HOST_64: u64 = 0x11;

#[cfg(test)]
mod tests {
    use super::super::{ImageKind, parse};
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let sample = include_bytes!("samples/zstd.fatbin");
        let images = parse(sample).unwrap();
        let image = images.iter().find(|image| image.kind == ImageKind::Ptx).unwrap();
        assert_eq!(of_ptx("", image)[..HEADER_BYTES + 8][8..], [88, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 80, 0, 0, 0]);
        for text in ["", ".version 9.0\n", "four word", &"x".repeat(1000)] {
            let bytes = of_ptx(text, image);
            let [found] = &parse(&bytes).unwrap()[..] else { panic!("one image") };
            assert_eq!(
                (found.kind, found.arch, found.variant, found.isa),
                (ImageKind::Ptx, image.arch, image.variant, image.isa)
            );
            assert_eq!(String::from_utf8_lossy(&found.unpack().unwrap()).trim_end_matches('\0'), text);
        }
    }
}
