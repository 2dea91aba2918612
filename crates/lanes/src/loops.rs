//! The loop of each pure instruction, made from its line in the table of `isa`.

use crate::level::{Baseline, Level};
use crate::registers::{self, Cell, LANES, Registers, Slot};
use isa::Alu;
use isa::semantics::approx::interpolator::Columns;
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

/// The loop over all lanes, or that over those of the mask alone, of a line of the table.
macro_rules! lane_loop {
    ($how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty) -> $d:ty, $f:expr) => {
        lane_loop!($how, $level, $registers, $dst, $src, $mask, typed1::<$a, $d, _>($f), $d, (a: $a, 0))
    };
    ($how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty) -> $d:ty, $f:expr) => {
        lane_loop!($how, $level, $registers, $dst, $src, $mask, typed2::<$a, $b, $d, _>($f), $d, (a: $a, 0), (b: $b, 1))
    };
    ($how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty, $c:ty) -> $d:ty, $f:expr) => {
        lane_loop!(
            $how, $level, $registers, $dst, $src, $mask, typed3::<$a, $b, $c, $d, _>($f), $d,
            (a: $a, 0), (b: $b, 1), (c: $c, 2)
        )
    };
    ($how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty, $c:ty, $e:ty) -> $d:ty, $f:expr) => {
        lane_loop!(
            $how, $level, $registers, $dst, $src, $mask, typed4::<$a, $b, $c, $e, $d, _>($f), $d,
            (a: $a, 0), (b: $b, 1), (c: $c, 2), (e: $e, 3)
        )
    };
    (all, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, $f:expr, $d:ty, $(($x:ident: $t:ty, $at:literal)),+) => {{
        let f = $f;
        $level.run(
            #[inline(always)]
            || {
                $(let $x = <$t as Cell>::load($registers, $src[$at]);)+
                let d = each_lane(|lane| f($($x[lane]),+));
                <$d as Cell>::store($registers, $dst, &d, $mask);
            },
        )
    }};
    (few, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, $f:expr, $d:ty, $(($x:ident: $t:ty, $at:literal)),+) => {{
        let f = $f;
        $level.run(
            #[inline(always)]
            || {
                for lane in registers::lanes($mask) {
                    $(let $x = <$t as Cell>::load_one($registers, $src[$at], lane);)+
                    <$d as Cell>::store_one($registers, $dst, lane, f($($x),+));
                }
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

/// The loops of a line whose semantics look into a table. Where a level picks the numbers for all lanes at once, it is noted first
/// what each looks for, and nothing is done with what it finds; then all is done with what was found.
macro_rules! looked_loop {
    ($how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty) -> $d:ty, $f:expr) => {
        looked_loop!(
            $how, $level, $registers, $dst, $src, $mask, $d, $f, (a: $a, 0),
            lane_loop!($how, $level, $registers, $dst, $src, $mask, ($a) -> $d, |a| $f(interpolator::at, a))
        )
    };
    ($how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, ($a:ty, $b:ty) -> $d:ty, $f:expr) => {
        looked_loop!(
            $how, $level, $registers, $dst, $src, $mask, $d, $f, (a: $a, 0) (b: $b, 1),
            lane_loop!($how, $level, $registers, $dst, $src, $mask, ($a, $b) -> $d, |a, b| $f(interpolator::at, a, b))
        )
    };
    (few, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, $d:ty, $f:expr, $(($x:ident: $t:ty, $at:literal))+, $one_by_one:expr) => {
        $one_by_one
    };
    (all, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, $d:ty, $f:expr, $(($x:ident: $t:ty, $at:literal))+, $one_by_one:expr) => {
        if L::PICKS {
            $level.run(
                #[inline(always)]
                || {
                    $(let $x = <$t as Cell>::load($registers, $src[$at]);)+
                    let table: std::cell::Cell<Columns> = std::cell::Cell::default();
                    let segments = each_lane(|lane| {
                        let noted = std::cell::Cell::new(0);
                        let note = |columns: Columns, segment| {
                            table.set(columns);
                            noted.set(segment);
                            [0; 2]
                        };
                        let _ = $f(note, $($x[lane]),+);
                        noted.get()
                    });
                    let [constants, slopes] = table.get();
                    let (constants, slopes) = ($level.pick(constants, &segments), $level.pick(slopes, &segments));
                    let d = each_lane(|lane| -> $d { $f(|_, _| [constants[lane], slopes[lane]], $($x[lane]),+) });
                    <$d as Cell>::store($registers, $dst, &d, $mask);
                },
            )
        } else {
            $one_by_one
        }
    };
}

/// The body of a loop: that of the line, or for a `rare` one the scalar semantics.
macro_rules! body {
    (looked $name:ident, $($line:tt)*) => { looked_loop!($($line)*) };
    (rare $name:ident, $how:ident, $level:ident, $registers:ident, $dst:ident, $src:ident, $mask:ident, $($line:tt)*) => {{
        let _ = $level;
        scalar(Alu::$name, $registers, $dst, $src, $mask)
    }};
    ($name:ident, $($line:tt)*) => { lane_loop!($($line)*) };
}

/// How many pure instructions there are.
const COUNT: usize = Alu::ALL.len();

/// The loops of every pure instruction, in the table's order: over all lanes, whatever the mask, and over few.
struct Table<L>(std::marker::PhantomData<L>);

macro_rules! handlers {
    ($($name:ident $group:ident $($mark:ident)? $pattern:literal ($($in:ty),+) -> $out:ty = $f:expr;)*) => {
        impl<L: Level> Table<L> {
            const ALL: Loops<L> = [$({
                fn run<L: Level>(level: L, registers: &mut Registers, dst: u16, src: &[u16; 4], mask: u32) {
                    body!($($mark)? $name, all, level, registers, dst, src, mask, ($($in),+) -> $out, $f)
                }
                run::<L>
            }),*];
            const FEW: Loops<L> = [$({
                fn run<L: Level>(level: L, registers: &mut Registers, dst: u16, src: &[u16; 4], mask: u32) {
                    body!($($mark)? $name, few, level, registers, dst, src, mask, ($($in),+) -> $out, $f)
                }
                run::<L>
            }),*];
        }
    };
}
isa::alu_table!(handlers);

/// The loops of every pure instruction, in the table's order.
pub type Loops<L> = [Handler<L>; COUNT];

/// A level with its loops.
pub trait Handlers: Level {
    /// The loops for the lanes of a mask, which give the same for any: those over all lanes at once, or those over one
    /// lane after the other where it is one.
    fn loops(mask: u32) -> &'static Loops<Self>;
}

// Statics of concrete levels, so that the loops are compiled here and in no other crate.
macro_rules! levels {
    ($($(#[$cfg:meta])? $level:ty;)*) => { $(
        $(#[$cfg])?
        impl Handlers for $level {
            #[inline(always)]
            fn loops(mask: u32) -> &'static Loops<Self> {
                static ALL: Loops<$level> = Table::<$level>::ALL;
                static FEW: Loops<$level> = Table::<$level>::FEW;
                if mask.is_power_of_two() { &FEW } else { &ALL }
            }
        }
    )* };
}
levels! {
    Baseline;
    #[cfg(target_arch = "x86_64")] pulp::x86::V3;
    #[cfg(target_arch = "x86_64")] pulp::x86::V4;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::{LevelName, WithLevel, with_level};
    use crate::registers::{FULL, Sizes};
    use isa::Width;

    struct Compare;

    impl WithLevel for Compare {
        type Output = ();

        fn with<L: Handlers>(self, level: L) {
            for (number, &alu) in Alu::ALL.iter().enumerate() {
                for lane in [0, 13, 31] {
                    let mut all = filled(number as u64 + 1);
                    let mut one = all.clone();
                    L::loops(FULL)[number](level, &mut all, 4, &[0, 1, 2, 3], 1 << lane);
                    L::loops(1 << lane)[number](level, &mut one, 4, &[0, 1, 2, 3], 1 << lane);
                    let rows = |of: &Registers| {
                        (of.pred.clone(), of.b16.clone(), of.b32.clone(), of.b64.clone(), of.b128.clone())
                    };
                    assert!(rows(&all) == rows(&one), "{} in lane {lane}", alu.pattern());
                }
            }
        }
    }

    /// Five registers of each width with numbers that have no order.
    fn filled(seed: u64) -> Registers {
        let mut registers = Registers::new(Sizes { pred: 5, b16: 5, b32: 5, b64: 5, b128: 5 });
        let mut state = seed;
        let widths = [Width::Pred, Width::B16, Width::B32, Width::B64, Width::B128];
        for (width, index) in widths.into_iter().flat_map(|width| (0..5).map(move |index| (width, index))) {
            for lane in 0..LANES {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                registers.set(Slot { width, index }, lane, u128::from(state) << 40 ^ u128::from(state >> 17));
            }
        }
        registers
    }

    #[test]
    fn one_lane_alone_computes_what_it_computes_among_all() {
        for level in LevelName::ALL {
            with_level(level, Compare);
        }
    }
}
