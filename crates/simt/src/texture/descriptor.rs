//! What a texture or surface object names: a record of 64 bytes in global memory, whose address the object is.
//!
//! The hardware's format is its secret. Ours is sixteen little-endian words: a magic number; whether it is a surface,
//! and the channels, bits and kind of an element; flags and the edges of three dimensions; width, height and depth;
//! then address, pitch and slice of two words each; last the border, as an element has it.

use isa::semantics::format::{F16, Rounding};
use isa::semantics::narrow;

/// Bytes of a record, and what its address is a multiple of.
pub const RECORD: usize = 64;

const MAGIC: u32 = u32::from_le_bytes(*b"BLTX");
const INTERPOLATES: u8 = 1;
const NORMALIZED: u8 = 2;

/// What a texture or surface reads, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Whether it is a surface, whose memory is accessed as bytes.
    pub surface: bool,
    /// The elements.
    pub format: TexelFormat,
    /// Whether neighbouring elements are mixed.
    pub interpolates: bool,
    /// Whether coordinates run from 0 to 1.
    pub normalized: bool,
    /// What lies outside, in each dimension.
    pub edges: [Edge; 3],
    /// Elements, rows, and slices or layers; at least 1 of each.
    pub extent: [u32; 3],
    /// Where the first element is.
    pub address: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes from slice to slice.
    pub slice: u64,
    /// What [`Edge::Border`] reads: a channel each, as an element has it.
    pub border: [u32; 4],
}

/// The elements of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelFormat {
    /// Channels: 1, 2 or 4.
    pub channels: u8,
    /// Bits of a channel: 8, 16 or 32.
    pub bits: u8,
    /// What the bits mean.
    pub kind: Channel,
}

/// What the bits of a channel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A number of half or single precision.
    Float,
    /// A signed integer of 8 or 16 bits, read as a number from -1 to 1.
    SignedFraction,
    /// An unsigned integer of 8 or 16 bits, read as a number from 0 to 1.
    UnsignedFraction,
}

/// What lies outside of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The texture again.
    Wrap,
    /// The element at the edge.
    Clamp,
    /// The texture mirrored.
    Mirror,
    /// The border.
    Border,
}

const CHANNELS: [Channel; 5] =
    [Channel::Signed, Channel::Unsigned, Channel::Float, Channel::SignedFraction, Channel::UnsignedFraction];
const EDGES: [Edge; 4] = [Edge::Wrap, Edge::Clamp, Edge::Mirror, Edge::Border];

impl Edge {
    /// The edge with one of CUDA's numbers.
    #[must_use]
    pub fn from_number(number: usize) -> Option<Self> {
        EDGES.get(number).copied()
    }
}

impl TexelFormat {
    /// Bytes of an element.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.channels) * u64::from(self.bits) / 8
    }

    /// A colour as an element holds it: a fraction in its range, a half cut off, and of a whole number the lowest bits
    /// of the number that was given. So does the hardware.
    #[must_use]
    pub fn border(self, colour: [f32; 4]) -> [u32; 4] {
        let bits = u32::from(self.bits);
        let mut border = [0; 4];
        for (held, value) in border.iter_mut().zip(colour).take(self.channels.into()) {
            let most = f64::from(u32::MAX >> (32 - bits));
            let wide = f64::from(value);
            let whole = match self.kind {
                Channel::Float if bits == 16 => {
                    let nearest = nearest_half(wide);
                    u32::from(nearest) - u32::from(half(nearest).abs() > wide.abs())
                }
                Channel::UnsignedFraction => (wide.clamp(0.0, 1.0) * most).round() as u32,
                Channel::SignedFraction => (wide.clamp(-1.0, 1.0) * (most / 2.0).floor()).round() as i32 as u32,
                Channel::Float | Channel::Signed | Channel::Unsigned => value.to_bits(),
            };
            *held = whole & (u32::MAX >> (32 - bits));
        }
        border
    }

    fn is_sound(self) -> bool {
        let bits = match self.kind {
            Channel::Signed | Channel::Unsigned => matches!(self.bits, 8 | 16 | 32),
            Channel::Float => matches!(self.bits, 16 | 32),
            Channel::SignedFraction | Channel::UnsignedFraction => matches!(self.bits, 8 | 16),
        };
        bits && matches!(self.channels, 1 | 2 | 4)
    }
}

/// The number that half precision holds; of a NaN only the sign is kept.
pub(super) fn half(bits: u16) -> f64 {
    let number = f64::from(narrow::single(F16(bits)));
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    if number.is_nan() { f64::NAN.copysign(sign) } else { number }
}

/// The nearest number of half precision.
pub(super) fn nearest_half(x: f64) -> u16 {
    narrow::from_f64::<F16>(Rounding::Nearest, x).0
}

impl Descriptor {
    fn is_sound(&self) -> bool {
        let whole = matches!(self.format.kind, Channel::Signed | Channel::Unsigned);
        self.format.is_sound() && !self.extent.contains(&0) && !(whole && self.interpolates)
    }

    /// The record in memory.
    #[must_use]
    pub fn encode(&self) -> [u8; RECORD] {
        let flags = u8::from(self.interpolates) * INTERPOLATES + u8::from(self.normalized) * NORMALIZED;
        let [x, y, z] = self.edges.map(|edge| edge as u8);
        let TexelFormat { channels, bits, kind } = self.format;
        let [width, height, depth] = self.extent;
        let head = [
            MAGIC,
            u32::from_le_bytes([self.surface.into(), channels, bits, kind as u8]),
            u32::from_le_bytes([flags, x, y, z]),
            width,
            height,
            depth,
        ];
        let wide =
            [self.address, self.pitch, self.slice].into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]);
        let words = head.into_iter().chain(wide).chain(self.border);
        let mut record = [0; RECORD];
        for (bytes, word) in record.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        record
    }

    /// What a record says, if it is one.
    #[must_use]
    pub fn decode(record: &[u8; RECORD]) -> Option<Self> {
        let mut words = [0u32; RECORD / 4];
        for (word, bytes) in words.iter_mut().zip(record.chunks_exact(4)) {
            *word = bytes.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte));
        }
        let [magic, element, how, width, height, depth, wide @ .., b0, b1, b2, b3] = words;
        let [address, pitch, slice] = [0, 2, 4].map(|at| u64::from(wide[at]) | (u64::from(wide[at + 1]) << 32));
        let [surface, channels, bits, kind] = element.to_le_bytes();
        let [flags, x, y, z] = how.to_le_bytes();
        let edge = |number: u8| Edge::from_number(number.into());
        let descriptor = Self {
            surface: surface == 1,
            format: TexelFormat { channels, bits, kind: *CHANNELS.get(usize::from(kind))? },
            interpolates: flags & INTERPOLATES != 0,
            normalized: flags & NORMALIZED != 0,
            edges: [edge(x)?, edge(y)?, edge(z)?],
            extent: [width, height, depth],
            address,
            pitch,
            slice,
            border: [b0, b1, b2, b3],
        };
        let known = magic == MAGIC && surface <= 1 && flags <= INTERPOLATES | NORMALIZED;
        (known && descriptor.is_sound()).then_some(descriptor)
    }

    /// The address of a byte of a row of a slice; whatever the numbers are, this is one.
    pub(super) fn place(&self, byte: u64, row: u32, slice: u32) -> u64 {
        let rows = self.pitch.wrapping_mul(row.into());
        self.address.wrapping_add(byte).wrapping_add(rows).wrapping_add(self.slice.wrapping_mul(slice.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_was_written_and_nothing_else_is_one() {
        let descriptor = Descriptor {
            surface: false,
            format: TexelFormat { channels: 4, bits: 8, kind: Channel::UnsignedFraction },
            interpolates: true,
            normalized: false,
            edges: [Edge::Clamp, Edge::Border, Edge::Mirror],
            extent: [7, 5, 3],
            address: 0x3f40_0000_0200,
            pitch: 512,
            slice: 2560,
            border: [1, 2, 3, 255],
        };
        let record = descriptor.encode();
        assert_eq!(Descriptor::decode(&record), Some(descriptor));
        for (at, wrong) in [(0, 0), (4, 2), (5, 3), (6, 32), (7, 1), (7, 9), (8, 4), (9, 4), (12, 0)] {
            let mut record = record;
            record[at] = wrong;
            assert_eq!(Descriptor::decode(&record), None, "{at}");
        }
        assert_eq!(Descriptor::decode(&[0; RECORD]), None);
    }

    #[test]
    fn a_border_is_what_an_element_can_hold() {
        let of = |bits, kind| TexelFormat { channels: 2, bits, kind }.border([0.6, -2.6, 1.0, 1.0]);
        assert_eq!(of(32, Channel::Float), [0.6f32.to_bits(), (-2.6f32).to_bits(), 0, 0]);
        assert_eq!(of(16, Channel::Float), [0x38cc, 0xc133, 0, 0]);
        assert_eq!(of(8, Channel::UnsignedFraction), [153, 0, 0, 0]);
        assert_eq!(of(8, Channel::SignedFraction), [76, 0x81, 0, 0]);
        assert_eq!(of(16, Channel::SignedFraction), [19660, 0x8001, 0, 0]);
        assert_eq!(of(8, Channel::Signed), [0x9a, 0x66, 0, 0]);
    }
}
