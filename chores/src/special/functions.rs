//! The functions of the unit: what is asked to learn their coefficients, and what an answer says of a sum.

use super::segment::Bound;
use super::sweep::Sweep;
use isa::semantics::approx::circular::{segment, turns};
use isa::semantics::approx::hyperbolic::{BINADES, FIRST};
use isa::semantics::approx::interpolator::BITS;

/// A function of the unit.
pub(super) struct Function {
    /// The name of its table.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) meaning: &'static str,
    /// The instructions that are executed.
    pub(super) sweeps: &'static [Sweep],
    /// How its coefficients stand.
    pub(super) shape: Shape,
    /// How many segments it has.
    pub(super) segments: u32,
    /// What an argument and its result, as bits, say; nothing where they are special.
    pub(super) observe: fn(u32, u32) -> Option<Observation>,
}

/// How the coefficients stand to one another: the lowest bit of the one of x counts as 1.
pub(super) struct Shape {
    /// What the constant counts, as a power of 2.
    pub(super) constant: u32,
    /// What the square times its coefficient counts, as a power of 2.
    pub(super) square: u32,
}

/// A bound of a segment.
pub(super) struct Observation {
    /// The segment.
    pub(super) segment: u32,
    /// What is known of one of its sums.
    pub(super) bound: Bound,
}

/// The bits of 1.
const ONE: u32 = 0x3f80_0000;
const BINADE: u32 = 1 << 23;
const LOW: u32 = (1 << BITS) - 1;

const fn sweep(spelling: &'static str, from: u32, step: u32, count: u32) -> Sweep {
    Sweep { spelling, from, step, count }
}

/// All functions, as their tables stand in the source.
pub(super) const FUNCTIONS: [Function; 7] = [
    Function {
        name: "RCP",
        meaning: "1/x of [1, 2) in 128 segments, with x of 16 bits and a zero behind them.",
        sweeps: &[sweep("rcp.approx.ftz.f32", ONE, 1, BINADE)],
        shape: Shape { constant: 14, square: 1 },
        segments: 128,
        observe: |x, y| observed((x & 0x7f_ffff) >> 16, (x & 0xffff) << 1, y, 40),
    },
    Function {
        name: "RSQ",
        meaning: "1/√x of [1, 2), then of [2, 4).",
        sweeps: &[sweep("rsqrt.approx.ftz.f32", ONE, 1, 2 * BINADE)],
        shape: Shape { constant: 14, square: 2 },
        segments: 128,
        observe: reciprocal_root,
    },
    Function {
        name: "SQRT",
        meaning: "√x of [1, 2), then of [2, 4).",
        sweeps: &[sweep("sqrt.approx.ftz.f32", ONE, 1, 2 * BINADE)],
        shape: Shape { constant: 15, square: 1 },
        segments: 128,
        observe: |x, y| observed((x - ONE) >> BITS, x & LOW, y, 40),
    },
    Function {
        name: "EX2",
        meaning: "2^x of [0, 1).",
        sweeps: &[sweep("ex2.approx.ftz.f32", ONE, 1, BINADE)],
        shape: Shape { constant: 13, square: 0 },
        segments: 64,
        observe: |x, y| observed((x & 0x7f_ffff) >> BITS, x & LOW, y - BINADE, 38),
    },
    Function {
        name: "LG2",
        meaning: "The logarithm to base 2 of [1, 2).",
        sweeps: &[sweep("lg2.approx.ftz.f32", 0x3f00_0000, 1, 3 * BINADE)],
        shape: Shape { constant: 12, square: 1 },
        segments: 64,
        observe: logarithm,
    },
    Function {
        name: "SIN",
        meaning: "The sine of a quarter turn.",
        sweeps: &[sweep("sin.approx.ftz.f32", 0x3e80_0000, 1, 5 * BINADE)],
        shape: Shape { constant: 11, square: 0 },
        segments: 64,
        observe: sine,
    },
    Function {
        name: "TANH",
        meaning: "The hyperbolic tangent of [2⁻⁸, 8), divided as `hyperbolic::BINADES` says.",
        sweeps: &[
            sweep("tanh.approx.f32", 0x3b80_0000, 64, 5 * BINADE / 64),
            sweep("tanh.approx.f32", 0x3e00_0000, 1, 6 * BINADE),
        ],
        shape: Shape { constant: 15, square: 1 },
        segments: 51,
        observe: tangent,
    },
];

/// What a positive result says of the sum with `fraction` bits behind the point that it is the truncation of.
fn observed(segment: u32, x: u32, result: u32, fraction: i32) -> Option<Observation> {
    let (low, high) = sums(result, fraction);
    Some(Observation { segment, bound: Bound { x, low, high } })
}

/// The integers that a positive result is the truncation of: from the first to just below the second.
fn sums(result: u32, fraction: i32) -> (i64, i64) {
    let significand = i64::from(result & 0x7f_ffff | 0x80_0000);
    let shift = (result >> 23) as i32 - 127 - 23 + fraction;
    let scaled = |significand: i64| {
        if shift >= 0 { significand << shift } else { -(-significand >> -shift) }
    };
    (scaled(significand), scaled(significand + 1))
}

/// That of one is not a sum.
fn reciprocal_root(x: u32, y: u32) -> Option<Observation> {
    if x == ONE { None } else { observed((x - ONE) >> BITS, x & LOW, y, 40) }
}

/// The sum is cut by two bits, and complemented where the exponent makes it negative. That of one is not a sum.
fn logarithm(x: u32, y: u32) -> Option<Observation> {
    if x == ONE {
        return None;
    }
    let exponent = i64::from(x >> 23) - 127;
    let (low, high) = sums(y & 0x7fff_ffff, 36);
    let (low, high) = if y >> 31 == 0 { (low, high) } else { (-high, -low) };
    let whole = exponent << 36;
    let bound = Bound { x: x & LOW, low: (low - whole) * 4, high: (high - whole) * 4 };
    Some(Observation { segment: (x & 0x7f_ffff) >> BITS, bound })
}

fn sine(x: u32, y: u32) -> Option<Observation> {
    let quarters = f64::from(turns(f32::from_bits(x))) * 4.0 * f64::from(BINADE);
    let (segment, x) = segment(quarters as u32);
    if y << 1 == 0 { None } else { observed(segment, x, y & 0x7fff_ffff, 37) }
}

fn tangent(x: u32, y: u32) -> Option<Observation> {
    let binade = BINADES[((x >> 23) as i32 - 127 - FIRST) as usize];
    let rest = (x & 0x7f_ffff) >> binade.dropped;
    observed(binade.first + (rest >> BITS), rest & LOW, y, binade.fraction as i32)
}
