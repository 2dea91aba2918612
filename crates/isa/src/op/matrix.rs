//! Matrices that the lanes of a warp hold together: `ldmatrix`, `stmatrix`, `movmatrix`, `mma` and `wmma`.
//!
//! Reference: PTX ISA 9.0, §9.7.14 and §9.7.15.

use super::modifiers::{self, Words};
use super::operand::{OperandKind, Signature, sources};
use crate::types::{Space, Type, words};
use facts::Group;
use std::fmt;

/// An instruction on matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// `ldmatrix` of 8 by 8 elements of 16 bits each.
    Load(Tiles),
    /// `stmatrix`
    Store(Tiles),
    /// `movmatrix.trans`
    Transpose,
    /// `mma` or `wmma.mma`: `d = a * b + c`.
    Multiply(Multiply),
    /// `wmma.load`
    LoadFragment(Fragment),
    /// `wmma.store`
    StoreFragment(Fragment),
}

/// Matrices of 8 by 8 elements of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// How many: 1, 2 or 4, each in a register of its own.
    pub count: u8,
    /// Whether each is transposed between memory and registers.
    pub transposed: bool,
    /// The state space of the rows.
    pub space: Space,
}

words! {
    /// What the elements of a matrix are.
    MatrixElement {
        F16 = "f16", Bf16 = "bf16", Tf32 = "tf32", F32 = "f32", F64 = "f64", U8 = "u8", S8 = "s8", S32 = "s32",
    }
}

words! {
    /// Which elements lie next to each other.
    Layout { Row = "row", Col = "col" }
}

/// Rows and columns: `d` and `c` are m by n, `a` is m by k, `b` is k by n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixShape {
    /// Rows of the result.
    pub m: u8,
    /// Columns of the result.
    pub n: u8,
    /// Products in each sum.
    pub k: u8,
}

words! {
    /// Which matrix of a multiplication.
    MatrixRole { A = "a", B = "b", C = "c", D = "d" }
}

/// A multiplication of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiply {
    /// Whether it is spelled `wmma.mma`.
    pub wmma: bool,
    /// The shape.
    pub shape: MatrixShape,
    /// The layouts of `a` and `b` as written. Registers hold elements, so that they change no result.
    pub layouts: (Layout, Layout),
    /// Elements of `d`, `a`, `b` and `c`.
    pub elements: [MatrixElement; 4],
    /// Whether integer sums are clamped (`.satfinite`).
    pub saturate: bool,
}

/// A matrix of a `wmma` multiplication in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Which matrix.
    pub role: MatrixRole,
    /// The shape of the multiplication.
    pub shape: MatrixShape,
    /// Which elements lie next to each other in memory.
    pub layout: Layout,
    /// What the elements are.
    pub element: MatrixElement,
    /// The state space.
    pub space: Space,
}

impl MatrixElement {
    /// Elements in one register.
    #[must_use]
    pub fn per_register(self) -> u8 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::U8 | Self::S8 => 4,
            Self::Tf32 | Self::F32 | Self::S32 | Self::F64 => 1,
        }
    }

    /// The type of a register that holds elements.
    #[must_use]
    pub fn register(self) -> Type {
        match self {
            Self::F32 => Type::F32,
            Self::F64 => Type::F64,
            _ => Type::B32,
        }
    }

    /// Bytes of one element in memory.
    #[must_use]
    pub fn bytes(self) -> u8 {
        (self.register().bytes() as u8) / self.per_register()
    }
}

impl MatrixShape {
    /// Rows and columns of a matrix.
    #[must_use]
    pub fn of(self, role: MatrixRole) -> (u8, u8) {
        match role {
            MatrixRole::A => (self.m, self.k),
            MatrixRole::B => (self.k, self.n),
            MatrixRole::C | MatrixRole::D => (self.m, self.n),
        }
    }

    /// Registers of each lane that hold a matrix, every element once.
    #[must_use]
    pub fn registers(self, role: MatrixRole, element: MatrixElement) -> u8 {
        let (rows, columns) = self.of(role);
        (u32::from(rows) * u32::from(columns) / 32 / u32::from(element.per_register())) as u8
    }

    fn from_word(word: &str) -> Option<Self> {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Self { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }

    /// Whether a warp multiplies matrices of this shape and of these elements, with `mma` or with `wmma`.
    fn exists(self, wmma: bool, [d, a, b, c]: [MatrixElement; 4]) -> bool {
        use MatrixElement::{Bf16, F16, F32, F64, S8, S32, Tf32, U8};
        let shape = (self.m, self.n, self.k);
        let wide = matches!(shape, (16, 16, 16) | (32, 8, 16) | (8, 32, 16));
        let same = d == c;
        match (a, b) {
            (F16, F16) if wmma => wide && matches!(d, F16 | F32) && matches!(c, F16 | F32),
            (Bf16, Bf16) if wmma => wide && same && d == F32,
            (Tf32, Tf32) if wmma => shape == (16, 16, 8) && same && d == F32,
            (U8, U8) | (S8, S8) if wmma => wide && same && d == S32,
            (F64, F64) if wmma => shape == (8, 8, 4) && same && d == F64,
            (F16, F16) => matches!(shape, (16, 8, 8 | 16)) && same && matches!(d, F16 | F32),
            (Bf16, Bf16) => matches!(shape, (16, 8, 8 | 16)) && same && d == F32,
            (Tf32, Tf32) => matches!(shape, (16, 8, 4 | 8)) && same && d == F32,
            (U8 | S8, U8 | S8) => !wmma && matches!(shape, (8, 8, 16) | (16, 8, 16 | 32)) && same && d == S32,
            (F64, F64) => matches!(shape, (8, 8, 4) | (16, 8, 4 | 8 | 16)) && same && d == F64,
            _ => false,
        }
    }
}

impl fmt::Display for MatrixShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

impl Multiply {
    /// Registers that are named for a matrix. `wmma` has two registers for each one that halves of `a` and `b` need.
    #[must_use]
    pub fn registers(&self, role: MatrixRole) -> u8 {
        let [d, a, b, c] = self.elements;
        let element = match role {
            MatrixRole::A => a,
            MatrixRole::B => b,
            MatrixRole::C => c,
            MatrixRole::D => d,
        };
        named(self.wmma, self.shape, role, element)
    }

    fn operand(&self, role: MatrixRole, element: MatrixElement) -> OperandKind {
        OperandKind::Vector(element.register(), self.registers(role))
    }
}

fn named(wmma: bool, shape: MatrixShape, role: MatrixRole, element: MatrixElement) -> u8 {
    if wmma && element == MatrixElement::F16 && matches!(role, MatrixRole::A | MatrixRole::B) {
        8
    } else {
        shape.registers(role, element)
    }
}

impl Fragment {
    /// Registers that are named.
    #[must_use]
    pub fn registers(&self) -> u8 {
        named(true, self.shape, self.role, self.element)
    }

    fn operand(&self) -> OperandKind {
        OperandKind::Vector(self.element.register(), self.registers())
    }

    /// Whether a multiplication has this matrix.
    fn exists(&self) -> bool {
        use MatrixElement::{Bf16, F16, F32, F64, S8, S32, Tf32, U8};
        let of = |d, a| self.shape.exists(true, [d, a, a, d]);
        let space = matches!(self.space, Space::Generic | Space::Global | Space::Shared);
        space
            && match (self.role, self.element) {
                (MatrixRole::A | MatrixRole::B, F16 | Bf16 | Tf32) => of(F32, self.element),
                (MatrixRole::A | MatrixRole::B, U8 | S8) => of(S32, self.element),
                (_, F64) => of(F64, F64),
                (MatrixRole::C | MatrixRole::D, F16) => of(F16, F16),
                (MatrixRole::C | MatrixRole::D, F32) => of(F32, F16) || of(F32, Tf32),
                (MatrixRole::C | MatrixRole::D, S32) => of(S32, S8),
                _ => false,
            }
    }
}

/// Reads what follows the first word of an instruction on matrices.
pub(super) fn parse(head: &str, words: &mut Words<'_>) -> Option<Matrix> {
    match head {
        "ldmatrix" => tiles(words).map(Matrix::Load),
        "stmatrix" => tiles(words).map(Matrix::Store),
        "movmatrix" => transpose(words),
        "mma" => mma(words),
        _ => wmma(words),
    }
}

/// Reads what follows `ldmatrix` or `stmatrix`: `.sync.aligned.m8n8.x4{.trans}{.shared}.b16`.
fn tiles(words: &mut Words<'_>) -> Option<Tiles> {
    words.word("sync")?;
    words.word("aligned")?;
    words.word("m8n8")?;
    let count = words.take(|word| match word {
        "x1" => Some(1),
        "x2" => Some(2),
        "x4" => Some(4),
        _ => None,
    })?;
    let transposed = words.word("trans").is_some();
    let space = words.space_or_generic();
    words.word("b16")?;
    let fits = matches!(space, Space::Generic | Space::Shared);
    if fits { words.end(Tiles { count, transposed, space }) } else { None }
}

/// Reads what follows `movmatrix`.
fn transpose(words: &mut Words<'_>) -> Option<Matrix> {
    ["sync", "aligned", "m8n8", "trans", "b16"].into_iter().try_for_each(|word| words.word(word))?;
    words.end(Matrix::Transpose)
}

/// Reads what follows `mma`: `.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32`.
fn mma(words: &mut Words<'_>) -> Option<Matrix> {
    words.word("sync")?;
    words.word("aligned")?;
    let shape = words.take(MatrixShape::from_word)?;
    let layouts = (words.take(Layout::from_word)?, words.take(Layout::from_word)?);
    let saturate = words.word("satfinite").is_some();
    let nearest = words.word("rn").is_some();
    let elements = elements(words)?;
    if nearest && elements[0] != MatrixElement::F64 {
        return None;
    }
    if layouts != (Layout::Row, Layout::Col) {
        return None;
    }
    multiply(words, Multiply { wmma: false, shape, layouts, elements, saturate })
}

fn elements(words: &mut Words<'_>) -> Option<[MatrixElement; 4]> {
    let mut next = || words.take(MatrixElement::from_word);
    Some([next()?, next()?, next()?, next()?])
}

fn multiply(words: &Words<'_>, it: Multiply) -> Option<Matrix> {
    let saturates = !it.saturate || it.elements[0] == MatrixElement::S32;
    if saturates && it.shape.exists(it.wmma, it.elements) { words.end(Matrix::Multiply(it)) } else { None }
}

/// Reads what follows `wmma`.
fn wmma(words: &mut Words<'_>) -> Option<Matrix> {
    match words.take(|word| Some(word.to_owned()))?.as_str() {
        "load" => {
            let role = words.take(MatrixRole::from_word).filter(|role| *role != MatrixRole::D)?;
            fragment(words, role).map(Matrix::LoadFragment)
        }
        "store" => {
            words.word("d")?;
            fragment(words, MatrixRole::D).map(Matrix::StoreFragment)
        }
        "mma" => {
            words.word("sync")?;
            words.word("aligned")?;
            let layouts = (words.take(Layout::from_word)?, words.take(Layout::from_word)?);
            let shape = words.take(MatrixShape::from_word)?;
            // Doubles are always rounded so.
            let nearest = words.word("rn").is_some();
            let (d, second) = (words.take(MatrixElement::from_word)?, words.take(MatrixElement::from_word)?);
            // Halves are not spelled: `.f32.f32` are those of `d` and `c`.
            let elements = match words.take(MatrixElement::from_word) {
                Some(b) => [d, second, b, words.take(MatrixElement::from_word)?],
                None => [d, MatrixElement::F16, MatrixElement::F16, second],
            };
            let saturate = words.word("satfinite").is_some();
            if nearest && d != MatrixElement::F64 {
                return None;
            }
            multiply(words, Multiply { wmma: true, shape, layouts, elements, saturate })
        }
        _ => None,
    }
}

fn fragment(words: &mut Words<'_>, role: MatrixRole) -> Option<Fragment> {
    words.word("sync")?;
    words.word("aligned")?;
    let layout = words.take(Layout::from_word)?;
    let shape = words.take(MatrixShape::from_word)?;
    let space = words.space_or_generic();
    let element = words.take(MatrixElement::from_word)?;
    let fragment = Fragment { role, shape, layout, element, space };
    if fragment.exists() { words.end(fragment) } else { None }
}

impl Matrix {
    pub(super) fn signature(&self) -> Signature {
        use OperandKind::{Address, Value, Vector};
        let word = Value(Type::B32);
        let (dst, src, optional_src) = match self {
            Self::Load(tiles) => (vec![Vector(Type::B32, tiles.count)], sources([Address]), 0),
            Self::Store(tiles) => (vec![], vec![Address.into(), Vector(Type::B32, tiles.count).stored()], 0),
            Self::Transpose => (vec![word], sources([word]), 0),
            Self::Multiply(it) => {
                let [d, a, b, c] = it.elements;
                let src = [it.operand(MatrixRole::A, a), it.operand(MatrixRole::B, b), it.operand(MatrixRole::C, c)];
                (vec![it.operand(MatrixRole::D, d)], sources(src), 0)
            }
            // The stride may be left out.
            Self::LoadFragment(it) => (vec![it.operand()], sources([Address, word]), 1),
            Self::StoreFragment(it) => (vec![], vec![Address.into(), it.operand().stored(), word.into()], 1),
        };
        Signature { optional_src, ..Signature::new(dst, src) }
    }

    pub(super) fn group(&self) -> Group {
        match self {
            Self::Load(_) => Group::LoadShared,
            Self::LoadFragment(it) => match it.space {
                Space::Global => Group::LoadGlobal,
                Space::Shared => Group::LoadShared,
                _ => Group::LoadGeneric,
            },
            Self::Store(_) | Self::StoreFragment(_) => Group::Store,
            Self::Transpose => Group::Move,
            Self::Multiply(_) => Group::Tensor,
        }
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tiles = |it: &Tiles| {
            let trans = if it.transposed { ".trans" } else { "" };
            format!("matrix.sync.aligned.m8n8.x{}{trans}{}.b16", it.count, modifiers::space(it.space))
        };
        let fragment = |it: &Fragment| {
            let Fragment { role, shape, layout, element, space } = it;
            format!("{role}.sync.aligned.{layout}.{shape}{}.{element}", modifiers::space(*space))
        };
        match self {
            Self::Load(it) => write!(f, "ld{}", tiles(it)),
            Self::Store(it) => write!(f, "st{}", tiles(it)),
            Self::Transpose => f.write_str("movmatrix.sync.aligned.m8n8.trans.b16"),
            Self::LoadFragment(it) => write!(f, "wmma.load.{}", fragment(it)),
            Self::StoreFragment(it) => write!(f, "wmma.store.{}", fragment(it)),
            Self::Multiply(it) => {
                let Multiply { wmma, shape, layouts: (row, col), elements: [d, a, b, c], saturate } = it;
                let saturate = if *saturate { ".satfinite" } else { "" };
                if !wmma {
                    return write!(f, "mma.sync.aligned.{shape}.{row}.{col}{saturate}.{d}.{a}.{b}.{c}");
                }
                let elements = if *a == MatrixElement::F16 { format!("{d}.{c}") } else { format!("{d}.{a}.{b}.{c}") };
                write!(f, "wmma.mma.sync.aligned.{row}.{col}.{shape}.{elements}{saturate}")
            }
        }
    }
}
