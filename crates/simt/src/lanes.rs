//! The lane loops: each pure instruction of the table as a loop over 32 lanes, compiled for every level.

use crate::level::Level;
use crate::program::Micro;
use crate::registers::{Cell, LANES, Registers};
use isa::Alu;
use isa::semantics::convert::{self, Integral};
use isa::semantics::float::{self, Toward};
use isa::semantics::{approx, int};

/// The loop of one pure instruction at one level: operands by the rows in the micro-operation, results written
/// where the mask allows.
pub(crate) type Handler<L> = fn(L, &mut Registers, &Micro, u32);

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

macro_rules! lane_loop {
    ($level:ident, $registers:ident, $micro:ident, $mask:ident, ($a:ty) -> $d:ty, $f:expr) => {{
        let f = typed1::<$a, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $micro.src[0]);
                let d: [$d; LANES] = std::array::from_fn(|lane| f(a[lane]));
                <$d as Cell>::store($registers, $micro.dst, &d, $mask);
            },
        )
    }};
    ($level:ident, $registers:ident, $micro:ident, $mask:ident, ($a:ty, $b:ty) -> $d:ty, $f:expr) => {{
        let f = typed2::<$a, $b, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $micro.src[0]);
                let b = <$b as Cell>::load($registers, $micro.src[1]);
                let d: [$d; LANES] = std::array::from_fn(|lane| f(a[lane], b[lane]));
                <$d as Cell>::store($registers, $micro.dst, &d, $mask);
            },
        )
    }};
    ($level:ident, $registers:ident, $micro:ident, $mask:ident, ($a:ty, $b:ty, $c:ty) -> $d:ty, $f:expr) => {{
        let f = typed3::<$a, $b, $c, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $micro.src[0]);
                let b = <$b as Cell>::load($registers, $micro.src[1]);
                let c = <$c as Cell>::load($registers, $micro.src[2]);
                let d: [$d; LANES] = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]));
                <$d as Cell>::store($registers, $micro.dst, &d, $mask);
            },
        )
    }};
    ($level:ident, $registers:ident, $micro:ident, $mask:ident, ($a:ty, $b:ty, $c:ty, $e:ty) -> $d:ty, $f:expr) => {{
        let f = typed4::<$a, $b, $c, $e, $d, _>($f);
        $level.run(
            #[inline(always)]
            || {
                let a = <$a as Cell>::load($registers, $micro.src[0]);
                let b = <$b as Cell>::load($registers, $micro.src[1]);
                let c = <$c as Cell>::load($registers, $micro.src[2]);
                let e = <$e as Cell>::load($registers, $micro.src[3]);
                let d: [$d; LANES] = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane], e[lane]));
                <$d as Cell>::store($registers, $micro.dst, &d, $mask);
            },
        )
    }};
}

/// How many pure instructions there are.
const COUNT: usize = Alu::ALL.len();

/// The loops of every pure instruction at a level, in the table's order.
pub(crate) trait Handlers: Level {
    const TABLE: &'static [Handler<Self>; COUNT];
}

macro_rules! handlers {
    ($($name:ident $group:ident $pattern:literal ($($in:ty),+) -> $out:ty = $f:expr;)*) => {
        impl<L: Level> Handlers for L {
            const TABLE: &'static [Handler<L>; COUNT] = &[$({
                fn run<L: Level>(level: L, registers: &mut Registers, micro: &Micro, mask: u32) {
                    lane_loop!(level, registers, micro, mask, ($($in),+) -> $out, $f)
                }
                run::<L>
            }),*];
        }
    };
}
isa::alu_table!(handlers);
