//! Capsule files: what opening one and reading all of it does.
//!
//! Digests would refuse every change at once, so that mutations are made behind them: a file is taken apart, a part
//! changed raw or packed, and the file put together with digests, sizes and seal that fit.

use super::behaviour::ReadResult;
use super::bytes;
use super::dice::Dice;
use super::target::{FuzzTarget, folder, seeds_in};
use super::text::{self, Dictionary};
use ::capsule::format::{self, PartEntry};
use ::capsule::{Capsule, Digest};
use std::path::Path;

/// Words of manifests that no seed may hold.
const WORDS: &[&str] = &[
    "load",
    "alloc",
    "free",
    "copy_in",
    "copy_out",
    "copy_within",
    "fill",
    "launch",
    "synchronize",
    "device",
    "managed",
    "pinned",
    "pool",
    "height",
    "depth",
    "pitch",
    "slice",
    "width",
    "cooperative",
    "element",
    "shape",
    "tolerance",
    "metric",
    "rel-l2",
    "u8",
    "f16",
    "bf16",
    "f64",
    "cubin",
    "fatbin",
    "lto_ir",
    "null",
    "true",
    "false",
];
/// What is decompressed of a part that is to be changed, at most.
const RAW: usize = 1 << 20;
/// Parts that a mutated file may have.
const PARTS: usize = 64;
/// One accepted capsule in so many is written and read again.
const WRITTEN: u8 = 16;

/// Capsule files.
pub(super) struct CapsuleFile {
    dictionary: Dictionary,
}

/// A part with what the table says about it.
#[derive(Clone)]
struct Part {
    entry: PartEntry,
    packed: Vec<u8>,
}

impl CapsuleFile {
    pub(super) fn new() -> Self {
        let manifests: Vec<Vec<u8>> = seeds().iter().filter_map(|seed| take_apart(seed).first()?.raw()).collect();
        let texts = manifests.iter().filter_map(|manifest| std::str::from_utf8(manifest).ok());
        Self { dictionary: Dictionary::new(texts, WORDS.iter().map(|&word| word.to_owned())) }
    }

    /// The raw bytes of a part changed; those of the manifest as text.
    fn change_raw(&self, parts: &mut [Part], at: usize, other: &[Part], dice: &mut Dice) {
        let Some(mut raw) = parts[at].raw() else { return };
        let other = dice.pick(if at == 0 { &other[..other.len().min(1)] } else { other }).and_then(Part::raw);
        let other = other.unwrap_or_default();
        match std::str::from_utf8(&raw) {
            Ok(text) if at == 0 && !dice.one_in(8) => {
                raw = text::mutate(text, &String::from_utf8_lossy(&other), &self.dictionary, dice).into_bytes();
            }
            _ => bytes::mutate(&mut raw, &other, dice),
        }
        let before = parts[at].entry.raw;
        parts[at] = Part::of(&raw);
        if at > 0 && dice.one_in(2) {
            rename(parts, before, Digest::of(&raw));
        }
    }
}

/// In the manifest, one digest becomes another.
fn rename(parts: &mut [Part], before: Digest, after: Digest) {
    let manifest = parts.first().and_then(Part::raw).and_then(|raw| String::from_utf8(raw).ok());
    if let Some(manifest) = manifest {
        parts[0] = Part::of(manifest.replace(&before.to_string(), &after.to_string()).as_bytes());
    }
}

/// The sample of the capsule crate, and the corpus.
fn seeds() -> Vec<Vec<u8>> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capsule/tests/it");
    [samples, folder("corpus/capsule")].iter().flat_map(|place| seeds_in(place, "capsule")).collect()
}

impl FuzzTarget for CapsuleFile {
    fn seeds(&self) -> Vec<Vec<u8>> {
        seeds()
    }

    fn mutate(&mut self, input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
        let mut parts = take_apart(input);
        if parts.is_empty() || dice.one_in(8) {
            let mut mutated = input.to_vec();
            bytes::mutate(&mut mutated, other, dice);
            return mutated;
        }
        let other = take_apart(other);
        for _ in 0..1 + dice.below(3) {
            // The manifest is the richest part.
            let at = if dice.one_in(2) { 0 } else { dice.below(parts.len()) };
            match dice.below(16) {
                0 => parts.extend_from_within(dice.stretch(parts.len(), 2)),
                1 if parts.len() > 1 => drop(parts.remove(at)),
                2 => parts.extend(dice.pick(&other).cloned()),
                3 => parts.rotate_left(at),
                4 => {
                    bytes::mutate(&mut parts[at].packed, &[], dice);
                    parts[at].reseal();
                }
                5 => parts[at].lie(dice),
                _ => self.change_raw(&mut parts, at, &other, dice),
            }
        }
        parts.truncate(PARTS);
        joined(&parts)
    }

    fn read(&self, input: &[u8]) -> ReadResult {
        let capsule = match Capsule::from_bytes(input.to_vec()) {
            Ok(capsule) => capsule,
            Err(error) => return ReadResult::refused(error.to_string()),
        };
        capsule.validate().expect("what was read is valid");
        if let Err(error) = capsule.read_all() {
            return ReadResult::refused(error.to_string());
        }
        let (digest, summary) = (capsule.digest(), capsule.summary());
        assert_eq!(summary.launches, capsule.launch_count());
        let outputs = capsule.effective_outputs();
        assert!(outputs.iter().all(|output| capsule.copies_out().any(|(copy, _)| copy == output.copy)));
        if Digest::of(input).as_bytes()[0].is_multiple_of(WRITTEN) {
            let written = capsule.to_bytes().expect("what was read can be written");
            let again = Capsule::from_bytes(written).expect("what was written can be read");
            assert!(again == capsule && again.digest() == digest, "another capsule when written and read");
        }
        let mut verdict = ReadResult::accepted();
        verdict.note(&format!("{} kernels, outputs {}", summary.kernels.len().min(3), outputs.is_empty()));
        verdict
    }
}

impl Part {
    /// A part that is what it should be.
    fn of(raw: &[u8]) -> Self {
        let packed = zstd::bulk::compress(raw, 1).unwrap_or_default();
        let entry = PartEntry {
            packed_bytes: packed.len() as u64,
            raw_bytes: raw.len() as u64,
            packed: Digest::of(&packed),
            raw: Digest::of(raw),
        };
        Self { entry, packed }
    }

    fn raw(&self) -> Option<Vec<u8>> {
        let bytes = usize::try_from(self.entry.raw_bytes).ok().filter(|&bytes| bytes <= RAW)?;
        zstd::bulk::decompress(&self.packed, bytes).ok()
    }

    /// Makes the table say of the packed bytes what they are.
    fn reseal(&mut self) {
        self.entry.packed_bytes = self.packed.len() as u64;
        self.entry.packed = Digest::of(&self.packed);
        if let Some(raw) = self.raw() {
            self.entry.raw_bytes = raw.len() as u64;
            self.entry.raw = Digest::of(&raw);
        }
    }

    /// Makes the table say what is not true.
    fn lie(&mut self, dice: &mut Dice) {
        let mut size = self.entry.raw_bytes.to_le_bytes();
        bytes::set_number(&mut size, 0, 8, dice);
        let size = u64::from_le_bytes(size);
        match dice.below(4) {
            0 => self.entry.packed_bytes = size,
            1 => self.entry.raw = Digest::of(&size.to_le_bytes()),
            _ => self.entry.raw_bytes = size,
        }
    }
}

/// The parts of a file, as far as its table describes what is there.
fn take_apart(file: &[u8]) -> Vec<Part> {
    let Some(count) = file.get(12..16).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes) else {
        return Vec::new();
    };
    let table = file.get(HEADER..).unwrap_or_default();
    let count = (count as usize).min(PARTS).min(table.len() / ENTRY);
    let mut rest = &table[count * ENTRY..];
    let mut parts = Vec::with_capacity(count);
    for bytes in table.as_chunks::<ENTRY>().0.iter().take(count) {
        let entry = PartEntry::decode(bytes);
        let (packed, after) = rest.split_at(rest.len().min(entry.packed_bytes as usize));
        parts.push(Part { entry, packed: packed.to_vec() });
        rest = after;
    }
    parts
}

/// A file of these parts with a proper seal.
fn joined(parts: &[Part]) -> Vec<u8> {
    let entries: Vec<PartEntry> = parts.iter().map(|part| part.entry).collect();
    let mut file = format::encode(&entries);
    file.extend(parts.iter().flat_map(|part| &part.packed));
    file
}

const HEADER: usize = format::HEADER_BYTES as usize;
const ENTRY: usize = format::ENTRY_BYTES as usize;
