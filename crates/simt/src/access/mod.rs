//! Loads and stores: addresses of a warp, and the bytes behind them in every state space.
//!
//! Every combination of space, element and kind of address is a small function of its own. Two shapes are told apart
//! by looking at three lanes first, in the warp and in each of its halves: neighbouring lanes at neighbouring addresses,
//! and all lanes at one address. The rest is one pass over the lanes.

mod address;
mod block;
mod global;
mod one;
mod word;

use crate::memory::GlobalMemory;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::AccessPlan;
use crate::registers::{LANES, Registers, Slot, lanes};
use crate::trap::TrapKind;
use ::lanes::level::Level;
use address::{Address, Fixed, Narrow, Wide};
use isa::{Space, Width};
pub(crate) use one::{exchange_one, read_one, write_one};
pub(crate) use word::{Word, read_row, write_row};

/// What a lane did wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: TrapKind,
    pub(crate) lane: usize,
    pub(crate) address: Option<u64>,
}

impl Fault {
    pub(crate) fn at(kind: TrapKind, lane: usize, address: u64) -> Self {
        Self { kind, lane, address: Some(address) }
    }
}

pub(crate) type Addresses = [u64; LANES];

/// The memories that a warp sees.
pub(crate) struct Memories<'a> {
    pub(crate) global: &'a mut GlobalMemory,
    pub(crate) shared: &'a mut [u8],
    pub(crate) local: &'a mut Vec<[u32; LANES]>,
    /// Bytes of local memory that a thread may have.
    pub(crate) local_limit: u32,
    pub(crate) params: &'a [u8],
}

/// The displacement of a plan: for a variable of the function, from the start of its frame.
#[inline(always)]
fn displacement(plan: &AccessPlan, frame_base: u32) -> u64 {
    (if plan.frame { plan.offset.wrapping_add(i64::from(frame_base)) } else { plan.offset }) as u64
}

/// The address that each lane accesses.
pub(crate) fn addresses(registers: &Registers, plan: &AccessPlan, frame_base: u32) -> Addresses {
    let by = displacement(plan, frame_base);
    match plan.base {
        None => [by; LANES],
        Some(Slot { width: Width::B64, index }) => {
            let row = Wide(&registers.b64[usize::from(index)].0, by);
            std::array::from_fn(|lane| row.at(lane))
        }
        Some(Slot { index, .. }) => {
            let row = Narrow(&registers.b32[usize::from(index)].0, by);
            std::array::from_fn(|lane| row.at(lane))
        }
    }
}

/// Splits a mask by the space that its generic addresses are in and calls `each` with addresses within the space.
#[inline(never)]
fn by_space(
    at: &Addresses,
    mask: u32,
    each: &mut dyn FnMut(Space, &Addresses, u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let windows = [(Space::Shared, SHARED_BASE), (Space::Local, LOCAL_BASE), (Space::Param, PARAM_BASE)];
    let mut rest = mask;
    for (space, base) in windows {
        let inside = lanes(mask).filter(|&lane| within(at[lane], base)).fold(0, |m, lane| m | (1 << lane));
        if inside != 0 {
            each(space, &at.map(|address| address.wrapping_sub(base)), inside)?;
        }
        rest &= !inside;
    }
    if rest == 0 { Ok(()) } else { each(Space::Global, at, rest) }
}

type Done = Result<(), Fault>;

/// A state space as a type.
trait Memory {
    /// Whether 32-bit addresses are common here.
    const NARROW: bool;
    /// Whether addresses without a register are common here.
    const FIXED: bool;
    /// Loads an element for the lanes of the mask.
    fn gather<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, mask: u32, words: &mut [W; LANES]) -> Done;
    /// Stores an element for the lanes of the mask, in ascending order.
    fn scatter<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, mask: u32, words: &[W; LANES]) -> Done;
}

macro_rules! memory {
    ($name:ident, $narrow:literal, $fixed:literal, |$m:ident, $at:ident, $mask:ident, $words:ident| $gather:expr, $scatter:expr) => {
        struct $name;
        impl Memory for $name {
            const NARROW: bool = $narrow;
            const FIXED: bool = $fixed;
            #[inline(always)]
            fn gather<W: Word, A: Address>($m: &mut Memories<'_>, $at: A, $mask: u32, $words: &mut [W; LANES]) -> Done {
                $gather
            }
            #[inline(always)]
            fn scatter<W: Word, A: Address>($m: &mut Memories<'_>, $at: A, $mask: u32, $words: &[W; LANES]) -> Done {
                $scatter
            }
        }
    };
}
memory!(
    Global,
    false,
    false,
    |m, at, mask, words| global::gather(m.global, at, mask, words),
    global::scatter(m.global, at, mask, words)
);
memory!(
    Shared,
    true,
    false,
    |m, at, mask, words| block::gather(m.shared, at, mask, words),
    block::scatter(m.shared, at, mask, words)
);
memory!(
    Local,
    false,
    false,
    |m, at, mask, words| block::gather_local(m, at, mask, words),
    block::scatter_local(m, at, mask, words)
);
memory!(Params, false, true, |m, at, mask, words| block::gather(m.params, at, mask, words), {
    // Kernel parameters are read-only.
    let (_, lane) = ((m, words), mask.trailing_zeros() as usize % LANES);
    Err(Fault::at(TrapKind::IllegalAddress, lane, at.at(lane)))
});

/// Where the addresses of an access come from.
#[derive(Clone, Copy)]
enum Base<'a> {
    /// A register, or none.
    Register(Option<Slot>),
    /// These.
    Given(&'a Addresses),
}

/// Calls `$function::<level, word, memory>(…)` for the element and space of a plan.
macro_rules! by_plan {
    ($bytes:expr, $space:expr, $function:ident $arguments:tt) => {
        match $space {
            Space::Global | Space::Const => by_plan!(@word $bytes, Global, $function $arguments),
            Space::Shared => by_plan!(@word $bytes, Shared, $function $arguments),
            Space::Local => by_plan!(@word $bytes, Local, $function $arguments),
            Space::Param | Space::Generic => by_plan!(@word $bytes, Params, $function $arguments),
        }
    };
    (@word $bytes:expr, $memory:ident, $function:ident ($($argument:expr),*)) => {
        match $bytes {
            4 => $function::<L, u32, $memory>($($argument),*),
            8 => $function::<L, u64, $memory>($($argument),*),
            2 => $function::<L, u16, $memory>($($argument),*),
            1 => $function::<L, u8, $memory>($($argument),*),
            _ => $function::<L, u128, $memory>($($argument),*),
        }
    };
}

/// Loads into the registers of the plan.
pub(crate) fn load<L: Level>(
    level: L,
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    frame_base: u32,
    mask: u32,
) -> Done {
    let by = displacement(plan, frame_base);
    if plan.space != Space::Generic {
        let base = Base::Register(plan.base);
        return by_plan!(plan.bytes, plan.space, load_each(level, registers, memories, plan, base, by, mask));
    }
    let at = addresses(registers, plan, frame_base);
    by_space(&at, mask, &mut |space, at, mask| {
        by_plan!(plan.bytes, space, load_each(level, registers, memories, plan, Base::Given(at), 0, mask))
    })
}

/// Stores the registers of the plan; where lanes write the same byte, the highest lane's value stays.
pub(crate) fn store<L: Level>(
    level: L,
    registers: &Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    frame_base: u32,
    mask: u32,
) -> Done {
    let by = displacement(plan, frame_base);
    if plan.space != Space::Generic {
        let base = Base::Register(plan.base);
        return by_plan!(plan.bytes, plan.space, store_each(level, registers, memories, plan, base, by, mask));
    }
    let at = addresses(registers, plan, frame_base);
    by_space(&at, mask, &mut |space, at, mask| {
        by_plan!(plan.bytes, space, store_each(level, registers, memories, plan, Base::Given(at), 0, mask))
    })
}

/// Calls a function with the addresses. Rows of 32-bit ones are widened, and one for all is made a row, except where
/// `$narrow` and `$fixed` say that they are common and worth code of their own.
macro_rules! with_addresses {
    ($registers:expr, $base:expr, $by:expr, $narrow:expr, $fixed:expr, |$at:ident| $run:expr) => {
        match $base {
            Base::Register(None) if $fixed => {
                let $at = Fixed($by);
                $run
            }
            Base::Register(Some(Slot { width, index })) if $narrow && width != Width::B64 => {
                let $at = Narrow(&$registers.b32[usize::from(index)].0, $by);
                $run
            }
            base => {
                let mut widened = [0; LANES];
                let row = match base {
                    Base::Given(given) => given,
                    Base::Register(Some(Slot { width: Width::B64, index })) => &$registers.b64[usize::from(index)].0,
                    Base::Register(Some(Slot { index, .. })) => {
                        widened = $registers.b32[usize::from(index)].0.map(u64::from);
                        &widened
                    }
                    Base::Register(None) => &widened,
                };
                let $at = Wide(row, $by);
                $run
            }
        }
    };
}

/// Loads every element of the plan. All are loaded before any register is written: one may be the base.
#[inline(never)]
fn load_each<L: Level, W: Word, M: Memory>(
    level: L,
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    base: Base<'_>,
    by: u64,
    mask: u32,
) -> Done {
    if let [Some(slot)] = plan.values[..] {
        return level.run(
            #[inline(always)]
            || {
                let mut words = [W::default(); LANES];
                with_addresses!(registers, base, by, M::NARROW, M::FIXED, |at| M::gather(
                    memories, at, mask, &mut words
                ))?;
                write_row(registers, slot, &words, plan.signed, mask);
                Ok(())
            },
        );
    }
    let mut fetch = |registers: &Registers, index: usize, words: &mut [W; LANES]| {
        let by = by.wrapping_add((index * W::BYTES) as u64);
        level.run(
            #[inline(always)]
            || with_addresses!(registers, base, by, M::NARROW, M::FIXED, |at| M::gather(memories, at, mask, words)),
        )
    };
    check_vector::<W>(registers, plan, base, by, mask)?;
    let mut loaded = [[W::default(); LANES]; 8];
    for (index, words) in loaded.iter_mut().enumerate().take(plan.values.len()) {
        fetch(registers, index, words)?;
    }
    for (value, words) in plan.values.iter().zip(&loaded) {
        if let Some(slot) = *value {
            write_row(registers, slot, words, plan.signed, mask);
        }
    }
    Ok(())
}

/// Stores every element of the plan.
#[inline(never)]
fn store_each<L: Level, W: Word, M: Memory>(
    level: L,
    registers: &Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    base: Base<'_>,
    by: u64,
    mask: u32,
) -> Done {
    check_vector::<W>(registers, plan, base, by, mask)?;
    for (index, value) in plan.values.iter().enumerate() {
        let Some(slot) = *value else { continue };
        let by = by.wrapping_add((index * W::BYTES) as u64);
        level.run(
            #[inline(always)]
            || {
                let words = read_row::<W>(registers, slot);
                with_addresses!(registers, base, by, M::NARROW, M::FIXED, |at| M::scatter(memories, at, mask, &words))
            },
        )?;
    }
    Ok(())
}

/// A vector is aligned to its whole size.
#[inline(always)]
fn check_vector<W: Word>(registers: &Registers, plan: &AccessPlan, base: Base<'_>, by: u64, mask: u32) -> Done {
    if plan.values.len() <= 1 {
        return Ok(());
    }
    with_addresses!(registers, base, by, false, false, |at| at.misaligned(mask, W::BYTES * plan.values.len()))
}
