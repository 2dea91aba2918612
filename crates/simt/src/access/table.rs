//! The functions that load and store: one for each memory, element and kind of address, found by the plan of an access.

use super::address::{Address, Fixed, Narrow, Wide};
use super::executing::{Addresses, Executing, LaneTrap, displaced, displacement, inside};
use super::order::StoreOrder;
use super::space::{Const, Done, Global, Local, Memory, Params, Shared};
use super::word::{Word, read_row, read_run, row, row_mut, write_row};
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE};
use crate::program::AccessPlan;
use crate::trap::TrapKind;
use ::lanes::level::{Baseline, Level};
use ::lanes::registers::{LANES, Slot};
use isa::{Space, Width};

/// Functions on elements of a memory, one for each power of two that is the size of an element.
macro_rules! sizes {
    ($function:ident, $memory:ident) => {
        [
            $function::<L, u8, $memory>,
            $function::<L, u16, $memory>,
            $function::<L, u32, $memory>,
            $function::<L, u64, $memory>,
            $function::<L, u128, $memory>,
        ]
    };
}

/// The addresses of an access: those that are given, or those in the base of its plan, and a number added to them.
#[derive(Clone, Copy)]
struct At<'a> {
    given: Option<&'a Addresses>,
    by: u64,
}

impl At<'_> {
    /// The addresses in the base of a plan.
    #[inline(always)]
    fn of(plan: &AccessPlan, frame_base: u32) -> Self {
        Self { given: None, by: displacement(plan, frame_base) }
    }

    /// Those of an element of a vector.
    #[inline(always)]
    fn element<W: Word>(self, index: usize) -> Self {
        Self { by: self.by.wrapping_add((index * W::BYTES) as u64), ..self }
    }
}

/// Loads every element of a plan, or stores it.
type Run<L> = fn(L, &mut Executing<'_>, &AccessPlan, At<'_>) -> Done;

struct Table<L>(std::marker::PhantomData<L>);

impl<L: Level> Table<L> {
    const LOADS: [[Run<L>; 5]; 2 * PLACES] = [
        sizes!(load_one, Global),
        sizes!(load_one, Shared),
        sizes!(load_one, Local),
        sizes!(load_one, Params),
        [load_generic; 5],
        sizes!(load_one, Const),
        sizes!(load_each, Global),
        sizes!(load_each, Shared),
        sizes!(load_each, Local),
        sizes!(load_each, Params),
        [load_generic; 5],
        sizes!(load_each, Const),
    ];
    const STORES: [[Run<L>; 5]; PLACES] = [
        sizes!(store_each, Global),
        sizes!(store_each, Shared),
        sizes!(store_each, Local),
        sizes!(store_each, Params),
        [store_generic; 5],
        sizes!(store_each, Const),
    ];
}

// The places of the memories in the tables.
const GLOBAL: usize = 0;
const SHARED: usize = 1;
const LOCAL: usize = 2;
const PARAMS: usize = 3;
const GENERIC: usize = 4;
const CONST: usize = 5;
const PLACES: usize = 6;

/// The place of the memory that an access names.
#[inline(always)]
fn place(space: Space) -> usize {
    match space {
        Space::Global => GLOBAL,
        Space::Const => CONST,
        Space::Shared => SHARED,
        Space::Local => LOCAL,
        Space::Param => PARAMS,
        Space::Generic => GENERIC,
    }
}

/// The function that loads from a memory for a plan. Those of vectors follow those of single elements.
#[inline(always)]
fn loader<L: Level>(plan: &AccessPlan, place: usize) -> Run<L> {
    let vector = if plan.values.len() == 1 { 0 } else { PLACES };
    Table::LOADS[place + vector][size(plan.bytes)]
}

/// The function that stores to a memory for a plan.
#[inline(always)]
fn storer<L: Level>(plan: &AccessPlan, place: usize) -> Run<L> {
    Table::STORES[place][size(plan.bytes)]
}

/// The place of the function for an element of this many bytes.
#[inline(always)]
fn size(bytes: u8) -> usize {
    (bytes.trailing_zeros() as usize).min(4)
}

/// Loads into the registers of the plan.
#[inline(always)]
pub(crate) fn load<L: Level>(level: L, on: &mut Executing<'_>, plan: &AccessPlan) -> Done {
    loader::<L>(plan, place(plan.space))(level, on, plan, At::of(plan, on.frame_base))
}

/// Stores the registers of the plan; where lanes write the same byte, [`StoreOrder`] says whose value stays.
#[inline(always)]
pub(crate) fn store<L: Level>(level: L, on: &mut Executing<'_>, plan: &AccessPlan) -> Done {
    storer::<L>(plan, place(plan.space))(level, on, plan, At::of(plan, on.frame_base))
}

/// Loads from the memories that generic addresses are in.
fn load_generic<L: Level>(level: L, on: &mut Executing<'_>, plan: &AccessPlan, at: At<'_>) -> Done {
    by_memory(level, on, plan, at, loader)
}

/// Stores to the memories that generic addresses are in.
fn store_generic<L: Level>(level: L, on: &mut Executing<'_>, plan: &AccessPlan, at: At<'_>) -> Done {
    by_memory(level, on, plan, at, storer)
}

/// Calls the function of each memory that generic addresses are in, for the lanes whose addresses lie there.
fn by_memory<L: Level>(
    level: L,
    on: &mut Executing<'_>,
    plan: &AccessPlan,
    at: At<'_>,
    function: fn(&AccessPlan, usize) -> Run<L>,
) -> Done {
    let (at, all) = (displaced(on.registers, plan, at.by), on.mask);
    let mut each = |place, mask, at: &Addresses| {
        on.mask = mask;
        let done = function(plan, place)(level, on, plan, At { given: Some(at), by: 0 });
        on.mask = all;
        done
    };
    let mut rest = all;
    for (place, base) in [(SHARED, SHARED_BASE), (LOCAL, LOCAL_BASE), (PARAMS, PARAM_BASE)] {
        let inside = inside(&at, all, base);
        if inside != 0 {
            each(place, inside, &at.map(|address| address.wrapping_sub(base)))?;
        }
        rest &= !inside;
    }
    if rest == 0 { Ok(()) } else { each(GLOBAL, rest, &at).map_err(beyond_window) }
}

/// A generic address has the upper half of the window of shared memory but lies beyond it: for a GPU the instruction is
/// illegal.
#[cold]
fn beyond_window(trap: LaneTrap) -> LaneTrap {
    let is_beyond = trap.address.is_some_and(|address| address >> 32 == SHARED_BASE >> 32);
    if is_beyond && trap.kind == TrapKind::IllegalAddress {
        return LaneTrap { kind: TrapKind::IllegalInstruction, ..trap };
    }
    trap
}

/// Calls a function with the addresses. Rows of 32-bit ones are widened, and one for all is made a row, except where
/// `$narrow` and `$fixed` say that they are common and worth code of their own.
macro_rules! with_addresses {
    ($level:expr, $registers:expr, $plan:expr, $at:expr, $narrow:expr, $fixed:expr, |$addresses:ident| $run:expr) => {
        match ($at.given, $plan.base) {
            (None, None) if $fixed => {
                let $addresses = Fixed($at.by);
                $run
            }
            (None, Some(Slot { width, index })) if $narrow && width != Width::B64 => {
                let $addresses = Narrow($level, &$registers.b32[usize::from(index)].0, $at.by);
                $run
            }
            (given, base) => {
                let widened;
                let row = match (given, base) {
                    (Some(given), _) => given,
                    (None, Some(Slot { width: Width::B64, index })) => &$registers.b64[usize::from(index)].0,
                    (None, Some(Slot { index, .. })) => {
                        widened = $registers.b32[usize::from(index)].0.map(u64::from);
                        &widened
                    }
                    (None, None) => {
                        widened = [0; LANES];
                        &widened
                    }
                };
                let $addresses = Wide($level, row, $at.by);
                $run
            }
        }
    };
}

/// Reads one element into `words`.
#[inline(always)]
fn read<L: Level, W: Word, M: Memory>(
    level: L,
    on: &mut Executing<'_>,
    plan: &AccessPlan,
    at: At<'_>,
    words: &mut [W; LANES],
) -> Done {
    let (registers, memories, mask) = (&*on.registers, &mut on.memories, on.mask);
    with_addresses!(level, registers, plan, at, M::NARROW, M::FIXED, |at| {
        match M::row::<W, _>(memories, at, mask) {
            Some(bytes) => {
                read_run(bytes, words);
                Ok(())
            }
            None => M::gather(memories, at, mask, words),
        }
    })
}

/// Loads the only element of the plan.
fn load_one<L: Level, W: Word, M: Memory>(level: L, on: &mut Executing<'_>, plan: &AccessPlan, at: At<'_>) -> Done {
    level.run(
        #[inline(always)]
        || {
            let (memories, mask) = (&mut on.memories, on.mask);
            let bytes = with_addresses!(level, on.registers, plan, at, M::NARROW, M::FIXED, |at| {
                M::row::<W, _>(memories, at, mask)
            });
            if let (Some(bytes), Some(slot)) = (bytes, plan.values[0])
                && let Some(row) = row_mut::<W>(on.registers, slot)
            {
                read_run(bytes, row);
                return Ok(());
            }
            let mut words = [W::default(); LANES];
            if let Some(bytes) = bytes {
                read_run(bytes, &mut words);
            } else {
                with_addresses!(level, on.registers, plan, at, M::NARROW, M::FIXED, |at| {
                    M::gather(memories, at, mask, &mut words)
                })?;
            }
            if let Some(slot) = plan.values[0] {
                write_row(on.registers, slot, &words, plan.signed, on.mask);
            }
            Ok(())
        },
    )
}

/// Loads every element of the plan. All are loaded before any register is written: one may be the base.
fn load_each<L: Level, W: Word, M: Memory>(level: L, on: &mut Executing<'_>, plan: &AccessPlan, at: At<'_>) -> Done {
    check_vector::<W>(on, plan, at)?;
    let mut loaded = [[W::default(); LANES]; 8];
    for (index, words) in loaded.iter_mut().enumerate().take(plan.values.len()) {
        level.run(
            #[inline(always)]
            || read::<L, W, M>(level, on, plan, at.element::<W>(index), words),
        )?;
    }
    for (value, words) in plan.values.iter().zip(&loaded) {
        if let Some(slot) = *value {
            write_row(on.registers, slot, words, plan.signed, on.mask);
        }
    }
    Ok(())
}

/// Stores every element of the plan.
fn store_each<L: Level, W: Word, M: Memory>(level: L, on: &mut Executing<'_>, plan: &AccessPlan, at: At<'_>) -> Done {
    check_vector::<W>(on, plan, at)?;
    let order = StoreOrder::of(W::BYTES * plan.values.len());
    for (index, value) in plan.values.iter().enumerate() {
        let Some(slot) = *value else { continue };
        level.run(
            #[inline(always)]
            || {
                let (registers, memories, mask) = (&*on.registers, &mut on.memories, on.mask);
                let at = at.element::<W>(index);
                let narrowed;
                let words = match row::<W>(registers, slot) {
                    Some(row) => row,
                    None => {
                        narrowed = read_row::<W>(registers, slot);
                        &narrowed
                    }
                };
                with_addresses!(level, registers, plan, at, M::NARROW, M::FIXED, |at| {
                    M::scatter(memories, at, mask, words, order)
                })
            },
        )?;
    }
    Ok(())
}

/// A vector is aligned to its whole size.
#[inline(always)]
fn check_vector<W: Word>(on: &Executing<'_>, plan: &AccessPlan, at: At<'_>) -> Done {
    if plan.values.len() <= 1 {
        return Ok(());
    }
    let bytes = W::BYTES * plan.values.len();
    with_addresses!(Baseline, on.registers, plan, at, false, false, |at| at.misaligned(on.mask, bytes))
}
