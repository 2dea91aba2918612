//! Fat binaries: the containers, and the images decompressed.

use super::behaviour::ReadResult;
use super::bytes;
use super::dice::Dice;
use super::target::{FuzzTarget, folder, seeds_in};
use cudart::fatbin::{self, HEADER_BYTES, flags};
use std::path::Path;

/// The numbers in the header of an image: where they are, and their size in bytes.
const FIELDS: &[(usize, usize)] = &[
    (0, 2),
    (2, 2),
    (4, 4),
    (8, 8),
    (16, 4),
    (20, 4),
    (24, 4),
    (28, 4),
    (32, 4),
    (36, 4),
    (40, 8),
    (48, 8),
    (56, 8),
    (64, 4),
    (68, 4),
];
/// The longest input, and the longest image that is packed anew.
const LONGEST: usize = 64 << 10;

/// Fat binaries.
pub(super) struct Fatbin;

impl FuzzTarget for Fatbin {
    fn seeds(&self) -> Vec<Vec<u8>> {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cudart/src/fatbin/samples");
        let folders = [samples, folder("corpus/fatbin")];
        folders.iter().flat_map(|place| seeds_in(place, "fatbin")).collect()
    }

    fn mutate(&mut self, input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
        let mut mutated = input.to_vec();
        if dice.one_in(4) {
            bytes::mutate(&mut mutated, other, dice);
        } else {
            let mut images = images(input);
            for _ in 0..1 + dice.below(3) {
                change(&mut images, other, dice);
            }
            mutated = joined(&images);
        }
        if dice.one_in(8) {
            let (at, size) = dice.pick(&[(0, 4), (4, 2), (6, 2), (8, 8)]).copied().unwrap_or_default();
            bytes::set_number(&mut mutated, at, size, dice);
        }
        mutated.truncate(LONGEST);
        mutated
    }

    fn read(&self, input: &[u8]) -> ReadResult {
        let images = match fatbin::parse(input) {
            Ok(images) => images,
            Err(error) => return ReadResult::refused(error.to_string()),
        };
        let mut verdict = ReadResult::accepted();
        for image in &images {
            verdict.note(&format!("{:?} {:?} {}", image.kind, image.variant, image.is_relocatable()));
            assert!(image.compute().starts_with("compute_"), "an architecture without a name");
            match image.unpack() {
                Ok(raw) => assert!(raw.len() as u64 <= fatbin::IMAGE_BYTES, "an image beyond the bound"),
                Err(error) => verdict.note(&error.to_string()),
            }
        }
        match fatbin::choose(&images, 80) {
            Ok(chosen) => assert!(images[chosen.place] == *chosen.image, "a choice that is not in its place"),
            Err(error) => assert!(!error.to_string().is_empty(), "refused without a reason"),
        }
        verdict
    }
}

/// The images of a file that need not be sound, each with its header: what there is of them.
fn images(file: &[u8]) -> Vec<Vec<u8>> {
    let mut images = Vec::new();
    let mut rest = file.get(HEADER_BYTES..).unwrap_or_default();
    while !rest.is_empty() {
        let number =
            |at: usize| rest.get(at..at + 4).map_or(0, |four| u32::from_le_bytes(four.try_into().unwrap_or([0; 4])));
        let bytes = (number(4) as usize).saturating_add(number(8) as usize).max(64);
        let (image, after) = rest.split_at(bytes.min(rest.len()));
        images.push(image.to_vec());
        rest = after;
    }
    images
}

/// A file with these images and a header that fits.
fn joined(images: &[Vec<u8>]) -> Vec<u8> {
    let bytes: usize = images.iter().map(Vec::len).sum();
    let mut file = fatbin::MAGIC.to_le_bytes().to_vec();
    file.extend([1, 0, HEADER_BYTES as u8, 0]);
    file.extend((bytes as u64).to_le_bytes());
    file.extend(images.iter().flatten());
    file
}

fn change(images: &mut Vec<Vec<u8>>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(images.len());
    match dice.below(12) {
        0 => drop(images.drain(dice.stretch(images.len(), 1))),
        1 => images.extend_from_within(dice.stretch(images.len(), 2)),
        2 => images.extend(self::images(other)),
        3 => images.rotate_left(at),
        4 if dice.one_in(2) => repack(images.get_mut(at), other, dice),
        4 | 5 => {
            let Some(image) = images.get_mut(at) else { return };
            bytes::mutate(image, other, dice);
            repair(image);
        }
        _ => {
            let (Some(image), Some(&(field, size))) = (images.get_mut(at), dice.pick(FIELDS)) else { return };
            bytes::set_number(image, field, size, dice);
        }
    }
}

/// Decompresses an image, changes what comes out, and compresses it one way or the other.
fn repack(image: Option<&mut Vec<u8>>, other: &[u8], dice: &mut Dice) {
    let Some(image) = image else { return };
    let file = joined(std::slice::from_ref(image));
    let Ok(parsed) = fatbin::parse(&file) else { return };
    let Some(Ok(raw)) = parsed.first().map(fatbin::FatbinImage::unpack) else { return };
    let mut raw = raw.into_owned();
    bytes::mutate(&mut raw, other, dice);
    raw.truncate(LONGEST);
    let (flag, packed) = match dice.below(3) {
        0 => (flags::LZ4, lz4_flex::block::compress(&raw)),
        1 => (flags::ZSTD, zstd::bulk::compress(&raw, 1).unwrap_or_default()),
        _ => (0, raw.clone()),
    };
    let header = image.get(4..8).map_or(0, |size| u32::from_le_bytes(size.try_into().unwrap_or([0; 4])) as usize);
    let old = image.get(40..48).map_or(0, |flags| u64::from_le_bytes(flags.try_into().unwrap_or([0; 8])));
    image.truncate(header);
    image[40..48].copy_from_slice(&(old & !(flags::LZ4 | flags::ZSTD) | flag).to_le_bytes());
    let (stored, raw) = if flag == 0 { (0, 0) } else { (packed.len(), raw.len()) };
    image[16..20].copy_from_slice(&(stored as u32).to_le_bytes());
    image[56..64].copy_from_slice(&(raw as u64).to_le_bytes());
    image.extend(packed);
    repair(image);
}

/// Makes the size of the payload what it is.
fn repair(image: &mut Vec<u8>) {
    image.resize(image.len().next_multiple_of(8).max(64), 0);
    let header = u64::from(u32::from_le_bytes([image[4], image[5], image[6], image[7]]));
    let payload = (image.len() as u64).saturating_sub(header);
    image[8..16].copy_from_slice(&payload.to_le_bytes());
}
