//! Textures and surfaces: `tex`, `tld4`, `suld` and `sust` on objects that a register names.

use super::modifiers::{self, Words};
use super::operand::{OperandKind, Signature, sources};
use crate::types::{Type, words};
use std::fmt;

words! {
    /// The form of what is read or written: a line, a plane, a box, or layers of lines or planes.
    Geometry { Line = "1d", Plane = "2d", Volume = "3d", Lines = "a1d", Planes = "a2d" }
}

words! {
    /// What an access outside of a surface does: ends the program, goes to the edge, or reads zero and writes nothing.
    Outside { Trap = "trap", Clamp = "clamp", Zero = "zero" }
}

/// `tex` and `tld4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The form of the texture.
    pub geometry: Geometry,
    /// `tld4`: this channel of the four elements that an interpolation would mix.
    pub gather: Option<u8>,
    /// Whether an operand says which level of detail to read (`.level`).
    pub level: bool,
    /// Type of the four results.
    pub to: Type,
    /// Type of the coordinates: 32 bits, integer or floating-point.
    pub from: Type,
}

/// `suld` and `sust`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Whether it writes.
    pub store: bool,
    /// The form of the surface.
    pub geometry: Geometry,
    /// Number of values: 1, 2 or 4.
    pub vector: u8,
    /// Type of one value.
    pub ty: Type,
    /// What an access outside does.
    pub outside: Outside,
}

const CHANNELS: [&str; 4] = ["r", "g", "b", "a"];

impl Geometry {
    /// Whether the first coordinate is the number of a layer.
    #[must_use]
    pub fn is_layered(self) -> bool {
        matches!(self, Self::Lines | Self::Planes)
    }

    /// Coordinates beside the layer.
    #[must_use]
    pub fn dimensions(self) -> usize {
        match self {
            Self::Line | Self::Lines => 1,
            Self::Plane | Self::Planes => 2,
            Self::Volume => 3,
        }
    }

    /// Coordinates as they are written: three are followed by one that means nothing.
    #[must_use]
    pub fn written(self) -> u8 {
        match self.dimensions() + usize::from(self.is_layered()) {
            1 => 1,
            2 => 2,
            _ => 4,
        }
    }

    fn operand(self, ty: Type) -> OperandKind {
        OperandKind::Texel { ty, count: self.written(), layered: self.is_layered() }
    }
}

/// Reads what follows `tex`.
pub(super) fn tex(words: &mut Words<'_>) -> Option<Fetch> {
    let level = words.word("level").is_some();
    let geometry = words.take(Geometry::from_word)?;
    words.word("v4")?;
    let to = words.take(texel)?;
    let from = words.take(|word| if word == "s32" { Some(Type::S32) } else { float(word) })?;
    // Compilers write integer coordinates for lines alone.
    let fits = from == Type::F32 || (geometry == Geometry::Line && !level);
    if fits { words.end(Fetch { geometry, gather: None, level, to, from }) } else { None }
}

/// Reads what follows `tld4`.
pub(super) fn tld4(words: &mut Words<'_>) -> Option<Fetch> {
    let channel = words.take(|word| CHANNELS.iter().position(|channel| *channel == word))?;
    words.word("2d")?;
    words.word("v4")?;
    let to = words.take(texel)?;
    let from = words.take(float)?;
    words.end(Fetch { geometry: Geometry::Plane, gather: Some(channel as u8), level: false, to, from })
}

/// Reads what follows `suld` or `sust`.
pub(super) fn surface(words: &mut Words<'_>, store: bool) -> Option<Surface> {
    words.word("b")?;
    let geometry = words.take(Geometry::from_word)?;
    let vector = words.elements();
    let ty = words.take(Type::from_word)?;
    let outside = words.take(Outside::from_word)?;
    let fits = matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64) && ty.bytes() * u32::from(vector) <= 16;
    if fits && vector <= 4 { words.end(Surface { store, geometry, vector, ty, outside }) } else { None }
}

fn texel(word: &str) -> Option<Type> {
    Type::from_word(word).filter(|ty| matches!(ty, Type::F32 | Type::S32 | Type::U32))
}

fn float(word: &str) -> Option<Type> {
    (word == "f32").then_some(Type::F32)
}

impl Fetch {
    pub(super) fn signature(&self) -> Signature {
        let level = self.level.then_some(OperandKind::Value(Type::F32));
        let src = sources([self.geometry.operand(self.from)].into_iter().chain(level));
        Signature::new(vec![OperandKind::Vector(self.to, 4)], src)
    }
}

impl Surface {
    /// Bytes that one thread moves.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.ty.bytes() * u32::from(self.vector)
    }

    pub(super) fn signature(&self) -> Signature {
        let (place, values) = (self.geometry.operand(Type::S32), OperandKind::Vector(self.ty, self.vector));
        if self.store {
            Signature::new(vec![], vec![place.into(), values.stored()])
        } else {
            Signature::new(vec![values], vec![place.into()])
        }
    }
}

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { geometry, to, from, .. } = self;
        match self.gather {
            Some(channel) => write!(f, "tld4.{}", CHANNELS[usize::from(channel) % CHANNELS.len()])?,
            None => f.write_str(if self.level { "tex.level" } else { "tex" })?,
        }
        write!(f, ".{geometry}.v4.{to}.{from}")
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { geometry, ty, outside, .. } = self;
        let head = if self.store { "sust" } else { "suld" };
        write!(f, "{head}.b.{geometry}{}.{ty}.{outside}", modifiers::vector(self.vector))
    }
}
