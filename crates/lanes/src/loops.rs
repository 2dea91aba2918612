//! The loop of each pure instruction, made from its line in the table of `isa`.

use crate::level::{Baseline, Level};
use crate::registers::{self, Cell, LANES, Registers, Slot};
use isa::Alu;
use isa::table::prelude::*;

/// The loop of one pure instruction at one level: the rows of its destination and its sources, and the mask of the
/// lanes whose results are written.
pub type Handler<L> = fn(L, &mut Registers, u16, &[u16; 4], u32);

// These give a closure of the table its argument types while keeping its own type, so that it is inlined.
fn typed1<A, D, F: Fn(A) -> D>(f: F) -> F {
    f
}
fn typed2<A, B, D, F: Fn(A, B) -> D>(f: F) -> F {
    f
}
fn typed3<A, B, C, D, F: Fn(A, B, C) -> D>(f: F) -> F {
    f
}
fn typed4<A, B, C, E, D, F: Fn(A, B, C, E) -> D>(f: F) -> F {
    f
}

/// The results of all lanes, by a plain loop. `array::from_fn` goes through a closure of its own, which the compiler
/// calls 32 times instead of making vectors of it where what it does is long.
#[inline(always)]
fn each_lane<D: Cell>(f: impl Fn(usize) -> D) -> [D; LANES] {
    let mut results = [D::default(); LANES];
    for (lane, result) in results.iter_mut().enumerate() {
        *result = f(lane);
    }
    results
}

macro_rules! lane_loop {
    ($level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty) -> $d:ty, $f:expr) => {{
        let f = typed1::<$a, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $src[0]);
                let d = each_lane(|lane| f(a[lane]));
                <$d as Cell>::store($registers, $dst, &d, $mask);
            },
        )
    }};
    ($level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty) -> $d:ty, $f:expr) => {{
        let f = typed2::<$a, $b, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $src[0]);
                let b = <$b as Cell>::load($registers, $src[1]);
                let d = each_lane(|lane| f(a[lane], b[lane]));
                <$d as Cell>::store($registers, $dst, &d, $mask);
            },
        )
    }};
    ($level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty, $c:ty) -> $d:ty, $f:expr) => {{
        let f = typed3::<$a, $b, $c, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $src[0]);
                let b = <$b as Cell>::load($registers, $src[1]);
                let c = <$c as Cell>::load($registers, $src[2]);
                let d = each_lane(|lane| f(a[lane], b[lane], c[lane]));
                <$d as Cell>::store($registers, $dst, &d, $mask);
            },
        )
    }};
    ($level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty, $c:ty, $e:ty) -> $d:ty, $f:expr) => {{
        let f = typed4::<$a, $b, $c, $e, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $src[0]);
                let b = <$b as Cell>::load($registers, $src[1]);
                let c = <$c as Cell>::load($registers, $src[2]);
                let e = <$e as Cell>::load($registers, $src[3]);
                let d = each_lane(|lane| f(a[lane], b[lane], c[lane], e[lane]));
                <$d as Cell>::store($registers, $dst, &d, $mask);
            },
        )
    }};
}

/// One lane after the other, by the scalar semantics.
fn scalar(alu: Alu, registers: &mut Registers, dst: u16, src: &[u16; 4], mask: u32) {
    let slot = |ty: isa::Type, index: u16| Slot { width: ty.width(), index };
    for lane in registers::lanes(mask) {
        let mut bits = [0; 4];
        for ((bits, &ty), &index) in bits.iter_mut().zip(alu.sources()).zip(src) {
            *bits = registers.get(slot(ty, index), lane);
        }
        registers.set(slot(alu.destination(), dst), lane, alu.eval(&bits));
    }
}

/// The body of a loop: that of the line, or for a `rare` one the scalar semantics.
macro_rules! body {
    (rare $name:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, $($line:tt)*) => {{
        let _ = $level;
        scalar(Alu::$name, $registers, $dst, $src, $mask)
    }};
    ($name:ident, $($line:tt)*) => { lane_loop!($($line)*) };
}

/// How many pure instructions there are.
pub const COUNT: usize = Alu::ALL.len();

/// The loops of every pure instruction, in the table's order.
struct Table<L>(std::marker::PhantomData<L>);

macro_rules! handlers {
    ($($name:ident $group:ident $($rare:ident)? $pattern:literal ($($in:ty),+) -> $out:ty = $f:expr;)*) => {
        impl<L: Level> Table<L> {
            const ALL: [Handler<L>; COUNT] = [$({
                fn run<L: Level>(level: L, registers: &mut Registers, dst: u16, src: &[u16; 4], mask: u32) {
                    body!($($rare)? $name, level, registers, dst, src, mask, ($($in),+) -> $out, $f)
                }
                run::<L>
            }),*];
        }
    };
}
isa::alu_table!(handlers);

/// A level with its loops.
pub trait Handlers: Level {
    /// The loops of every pure instruction, in the table's order.
    fn table() -> &'static [Handler<Self>; COUNT];
}

// Statics of concrete levels, so that the loops are compiled here and in no other crate.
macro_rules! levels {
    ($($(#[$cfg:meta])? $level:ty;)*) => { $(
        $(#[$cfg])?
        impl Handlers for $level {
            #[inline(always)]
            fn table() -> &'static [Handler<Self>; COUNT] {
                static ALL: [Handler<$level>; COUNT] = Table::<$level>::ALL;
                &ALL
            }
        }
    )* };
}
levels! {
    Baseline;
    #[cfg(target_arch = "x86_64")] pulp::x86::V3;
    #[cfg(target_arch = "x86_64")] pulp::x86::V4;
}
