//! Fat binaries made by nvcc 13.0's `fatbinary` from `samples/twice.ptx`, and ones made here by hand.

use super::*;

const PTX: &[u8] = include_bytes!("samples/twice.ptx");
const PLAIN: &[u8] = include_bytes!("samples/plain.fatbin");
const LZ4: &[u8] = include_bytes!("samples/lz4.fatbin");
const ZSTD: &[u8] = include_bytes!("samples/zstd.fatbin");

/// An image to be made by hand.
struct Sketch {
    kind: u16,
    arch: u32,
    flags: u64,
    name: &'static str,
    options: &'static str,
    raw: Vec<u8>,
}

fn ptx(arch: u32, flags: u64) -> Sketch {
    Sketch { kind: 1, arch, flags, name: "", options: "", raw: PTX.to_vec() }
}

fn cubin(arch: u32) -> Sketch {
    Sketch { kind: 2, raw: b"\x7fELF cubin".to_vec(), ..ptx(arch, 0) }
}

impl Sketch {
    fn bytes(&self) -> Vec<u8> {
        let stored = match self.flags & (flags::LZ4 | flags::ZSTD) {
            0 => self.raw.clone(),
            flags::LZ4 => lz4_flex::block::compress(&self.raw),
            _ => zstd::bulk::compress(&self.raw, 3).unwrap(),
        };
        let packed = self.flags & (flags::LZ4 | flags::ZSTD) != 0;
        let padded = stored.len().next_multiple_of(8);
        let (name, options) = (self.name.len(), self.options.len());
        let header = (72 + name + options).next_multiple_of(8);
        let mut bytes = Vec::new();
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(0x101_u16.to_le_bytes());
        bytes.extend((header as u32).to_le_bytes());
        bytes.extend((padded as u64).to_le_bytes());
        bytes.extend((if packed { stored.len() as u32 } else { 0 }).to_le_bytes());
        bytes.extend(64_u32.to_le_bytes());
        bytes.extend(0x9_0000_u32.to_le_bytes());
        bytes.extend(self.arch.to_le_bytes());
        bytes.extend([(72 + options) as u32, name as u32].map(u32::to_le_bytes).concat());
        bytes.extend((0x11 | self.flags).to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend((if packed { self.raw.len() as u64 } else { 0 }).to_le_bytes());
        bytes.extend([72, options as u32].map(u32::to_le_bytes).concat());
        bytes.extend([self.options.as_bytes(), self.name.as_bytes()].concat());
        bytes.resize(header, 0);
        bytes.extend(&stored);
        bytes.resize(header + padded, 0);
        bytes
    }
}

fn fatbin(images: &[Sketch]) -> Vec<u8> {
    let images: Vec<u8> = images.iter().flat_map(Sketch::bytes).collect();
    let mut bytes = MAGIC.to_le_bytes().to_vec();
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend(16_u16.to_le_bytes());
    bytes.extend((images.len() as u64).to_le_bytes());
    bytes.extend(images);
    bytes
}

fn without_padding(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

#[test]
fn what_nvcc_makes_is_read_in_every_compression() {
    for sample in [PLAIN, LZ4, ZSTD] {
        let images = parse(sample).unwrap();
        let [image] = images.as_slice() else { panic!("expected one image, found {images:?}") };
        assert_eq!((image.kind, image.arch, image.variant), (ImageKind::Ptx, 80, ArchVariant::Plain));
        assert_eq!(without_padding(&image.unpack().unwrap()), PTX);
    }
}

#[test]
fn what_is_made_by_hand_is_read_in_every_compression() {
    let images = [ptx(75, 0), ptx(80, flags::LZ4), ptx(90, flags::ZSTD), cubin(80)];
    let bytes = fatbin(&images);
    let parsed = parse(&bytes).unwrap();
    assert_eq!(parsed.len(), images.len());
    for (image, sketch) in parsed.iter().zip(&images) {
        assert_eq!((image.arch, image.name), (sketch.arch, None));
        assert_eq!(without_padding(&image.unpack().unwrap()), sketch.raw);
    }
}

#[test]
fn a_fat_binary_cut_short_anywhere_is_an_error() {
    let by_hand = fatbin(&[cubin(80), ptx(80, flags::ZSTD), ptx(90, flags::LZ4)]);
    for whole in [PLAIN, LZ4, ZSTD, &by_hand] {
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "cut at {end} of {}", whole.len());
        }
        assert!(parse(&[whole, &[1, 2, 3]].concat()).is_ok());
    }
}

#[test]
fn no_byte_that_changes_makes_it_panic() {
    let by_hand = fatbin(&[cubin(80), ptx(80, flags::ZSTD), ptx(90, flags::LZ4)]);
    for whole in [PLAIN, LZ4, ZSTD, &by_hand] {
        for place in 0..whole.len() {
            for value in [0x00, 0x01, 0x7f, 0xff] {
                let mut changed = whole.to_vec();
                changed[place] = value;
                for image in parse(&changed).unwrap_or_default() {
                    let _ = image.unpack();
                }
            }
        }
    }
}

#[test]
fn a_declared_size_alone_takes_no_memory() {
    for method in [flags::LZ4, flags::ZSTD] {
        let mut bytes = fatbin(&[ptx(80, method)]);
        let size_at = HEADER_BYTES + 56;
        bytes[size_at..size_at + 8].copy_from_slice(&(IMAGE_BYTES - 1).to_le_bytes());
        let error = parse(&bytes).unwrap()[0].unpack().unwrap_err();
        assert!(matches!(error, FatbinError::Unpack { .. }), "{error}");
        bytes[size_at..size_at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(parse(&bytes).unwrap()[0].unpack().is_err());
    }
}

#[test]
fn the_highest_ptx_that_suits_the_device_is_chosen() {
    let check = |images: &[Sketch], expect: u32| {
        let bytes = fatbin(images);
        let images = parse(&bytes).unwrap();
        assert_eq!(choose(&images, 80).unwrap().image.arch, expect);
    };
    check(&[ptx(75, 0), cubin(80), ptx(80, 0), ptx(90, 0)], 80);
    check(&[ptx(52, 0), ptx(75, 0)], 75);
    check(&[ptx(100, 0), ptx(90, 0)], 90);
    check(&[ptx(90, flags::ARCHITECTURE), ptx(100, 0)], 100);
    check(&[ptx(90, flags::ARCHITECTURE)], 90);
}

#[test]
fn a_fat_binary_without_ptx_says_what_it_has_and_what_to_do() {
    let bytes = fatbin(&[cubin(80), cubin(90)]);
    let error = choose(&parse(&bytes).unwrap(), 80).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a cubin for sm_80, a cubin for sm_90"), "{text}");
    assert!(text.contains("-arch=sm_80"), "{text}");
}

#[test]
fn names_and_options_are_read() {
    let bytes = fatbin(&[Sketch { name: "k.cu", options: "--compile-only  ", ..ptx(80, 0) }]);
    let images = parse(&bytes).unwrap();
    assert_eq!((images[0].name, images[0].options), (Some("k.cu"), Some("--compile-only")));
    assert!(images[0].is_relocatable());
    assert_eq!(images[0].compute(), "compute_80");
}

#[test]
fn other_bytes_are_no_fat_binary() {
    let check = |bytes: &[u8], expect: &str| assert_eq!(parse(bytes).unwrap_err().to_string(), expect);
    check(b"\x7fELF............", "expected a fat binary that begins with 0xba55ed50, found 0x464c457f");
    check(b"", "the fat binary at byte 0: expected 16 bytes, found 0");
    let mut newer = PLAIN.to_vec();
    newer[4] = 2;
    check(&newer, "expected version 1 of the fat binary format, found version 2");
}
