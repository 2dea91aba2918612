//! Loads and stores: addresses of a warp, and the bytes behind them in every state space.
//!
//! Every combination of space, element and kind of address is a small function of its own. Two shapes are told apart
//! by looking at three lanes first: neighbouring lanes at neighbouring addresses, and all lanes at one address. The
//! rest is one pass over the lanes.

mod block;
mod global;
mod word;

use crate::memory::GlobalMemory;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::AccessPlan;
use crate::registers::{LANES, Registers, Slot, lanes};
use crate::trap::TrapKind;
use ::lanes::level::Level;
use isa::{Space, Width};
pub(crate) use word::Word;

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

/// Where the lanes of a warp access memory.
pub(crate) trait Address: Copy {
    /// The address of a lane.
    fn at(self, lane: usize) -> u64;

    /// Whether every lane's address lies `stride` bytes after its neighbour's.
    #[inline(always)]
    fn has_stride(self, stride: usize) -> bool {
        let from = self.at(0);
        let expected = |lane: usize| from.wrapping_add((lane * stride) as u64);
        // Most other shapes are told by two lanes; then all must be looked at.
        self.at(LANES - 1) == expected(LANES - 1)
            && self.at(1) == expected(1)
            && (0..LANES).fold(0, |different, lane| different | (self.at(lane) ^ expected(lane))) == 0
    }

    /// The first lane of the mask whose address is not a multiple of `size`, a power of two.
    fn misaligned(self, mask: u32, size: usize) -> Result<(), Fault> {
        let wrong = lanes(mask).find(|&lane| !self.at(lane).is_multiple_of(size as u64));
        wrong.map_or(Ok(()), |lane| Err(Fault::at(TrapKind::MisalignedAddress, lane, self.at(lane))))
    }
}

/// A row of 64-bit addresses and a displacement.
#[derive(Clone, Copy)]
struct Wide<'a>(&'a [u64; LANES], u64);

/// A row of 32-bit addresses and a displacement.
#[derive(Clone, Copy)]
struct Narrow<'a>(&'a [u32; LANES], u64);

/// One address for all.
#[derive(Clone, Copy)]
struct Fixed(u64);

impl Address for Wide<'_> {
    #[inline(always)]
    fn at(self, lane: usize) -> u64 {
        self.0[lane].wrapping_add(self.1)
    }
}

impl Address for Narrow<'_> {
    #[inline(always)]
    fn at(self, lane: usize) -> u64 {
        u64::from(self.0[lane]).wrapping_add(self.1)
    }
}

impl Address for Fixed {
    #[inline(always)]
    fn at(self, _: usize) -> u64 {
        self.0
    }
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
    /// Loads an element for the lanes of the mask.
    fn gather<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, mask: u32, words: &mut [W; LANES]) -> Done;
    /// Stores an element for the lanes of the mask, in ascending order.
    fn scatter<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, mask: u32, words: &[W; LANES]) -> Done;
}

macro_rules! memory {
    ($name:ident, |$m:ident, $at:ident, $mask:ident, $words:ident| $gather:expr, $scatter:expr) => {
        struct $name;
        impl Memory for $name {
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
    |m, at, mask, words| global::gather(m.global, at, mask, words),
    global::scatter(m.global, at, mask, words)
);
memory!(
    Shared,
    |m, at, mask, words| block::gather(m.shared, at, mask, words),
    block::scatter(m.shared, at, mask, words)
);
memory!(Local, |m, at, mask, words| block::gather_local(m, at, mask, words), block::scatter_local(m, at, mask, words));
memory!(Params, |m, at, mask, words| block::gather(m.params, at, mask, words), {
    // Kernel parameters are read-only.
    let (_, lane) = ((m, words), mask.trailing_zeros() as usize % LANES);
    Err(Fault::at(TrapKind::IllegalAddress, lane, at.at(lane)))
});

/// Calls `$run::<word, memory>(…)`, compiled for the level, for the element and space of a plan.
macro_rules! by_plan {
    ($level:expr, $bytes:expr, $space:expr, $run:ident $args:tt) => {
        match $space {
            Space::Global | Space::Const => by_plan!(@word $level, $bytes, Global, $run $args),
            Space::Shared => by_plan!(@word $level, $bytes, Shared, $run $args),
            Space::Local => by_plan!(@word $level, $bytes, Local, $run $args),
            Space::Param | Space::Generic => by_plan!(@word $level, $bytes, Params, $run $args),
        }
    };
    (@word $level:expr, $bytes:expr, $memory:ident, $run:ident ($($arg:expr),*)) => {
        match $bytes {
            4 => $level.run(#[inline(always)] || $run::<u32, $memory>($($arg),*)),
            8 => $level.run(#[inline(always)] || $run::<u64, $memory>($($arg),*)),
            2 => $level.run(#[inline(always)] || $run::<u16, $memory>($($arg),*)),
            1 => $level.run(#[inline(always)] || $run::<u8, $memory>($($arg),*)),
            _ => $level.run(#[inline(always)] || $run::<u128, $memory>($($arg),*)),
        }
    };
}

/// Loads into the registers of the plan.
#[inline(always)]
pub(crate) fn load<L: Level>(
    level: L,
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    frame_base: u32,
    mask: u32,
) -> Done {
    if plan.space == Space::Generic {
        let at = addresses(registers, plan, frame_base);
        return by_space(&at, mask, &mut |space, at, mask| {
            by_plan!(level, plan.bytes, space, load_each(registers, memories, plan, Each::Given(at), mask))
        });
    }
    let by = displacement(plan, frame_base);
    by_plan!(level, plan.bytes, plan.space, load_each(registers, memories, plan, Each::Plan(by), mask))
}

/// Stores the registers of the plan; where lanes write the same byte, the highest lane's value stays.
#[inline(always)]
pub(crate) fn store<L: Level>(
    level: L,
    registers: &Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    frame_base: u32,
    mask: u32,
) -> Done {
    if plan.space == Space::Generic {
        let at = addresses(registers, plan, frame_base);
        return by_space(&at, mask, &mut |space, at, mask| {
            by_plan!(level, plan.bytes, space, store_each(registers, memories, plan, Each::Given(at), mask))
        });
    }
    let by = displacement(plan, frame_base);
    by_plan!(level, plan.bytes, plan.space, store_each(registers, memories, plan, Each::Plan(by), mask))
}

/// Where the addresses of an access come from.
enum Each<'a> {
    /// The base register of the plan, and this displacement.
    Plan(u64),
    /// These, already within their space.
    Given(&'a Addresses),
}

/// Calls a function with the addresses in the form in which they are.
macro_rules! with_addresses {
    ($registers:expr, $plan:expr, $each:expr, $by:expr, |$at:ident| $run:expr) => {
        match (&$each, $plan.base) {
            (Each::Given(given), _) => {
                let $at = Wide(given, $by);
                $run
            }
            (Each::Plan(displacement), None) => {
                let $at = Fixed(displacement.wrapping_add($by));
                $run
            }
            (Each::Plan(displacement), Some(Slot { width: Width::B64, index })) => {
                let $at = Wide(&$registers.b64[usize::from(index)].0, displacement.wrapping_add($by));
                $run
            }
            (Each::Plan(displacement), Some(Slot { index, .. })) => {
                let $at = Narrow(&$registers.b32[usize::from(index)].0, displacement.wrapping_add($by));
                $run
            }
        }
    };
}

/// Loads every element of the plan. All are loaded before any register is written: one may be the base.
#[inline(always)]
fn load_each<W: Word, M: Memory>(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    each: Each<'_>,
    mask: u32,
) -> Done {
    if let [value] = plan.values[..] {
        let mut words = [W::default(); LANES];
        with_addresses!(registers, plan, each, 0, |at| M::gather(memories, at, mask, &mut words))?;
        write_value(registers, value, &words, plan.signed, mask);
        return Ok(());
    }
    let mut loaded = [[W::default(); LANES]; 8];
    with_addresses!(registers, plan, each, 0, |at| at.misaligned(mask, W::BYTES * plan.values.len()))?;
    for (index, words) in loaded.iter_mut().enumerate().take(plan.values.len()) {
        with_addresses!(registers, plan, each, (index * W::BYTES) as u64, |at| M::gather(memories, at, mask, words))?;
    }
    for (value, words) in plan.values.iter().zip(&loaded) {
        write_value(registers, *value, words, plan.signed, mask);
    }
    Ok(())
}

#[inline(always)]
fn write_value<W: Word>(registers: &mut Registers, value: Option<Slot>, words: &[W; LANES], signed: bool, mask: u32) {
    if let Some(slot) = value {
        word::write_row(registers, slot, words, signed, mask);
    }
}

/// Stores every element of the plan.
#[inline(always)]
fn store_each<W: Word, M: Memory>(
    registers: &Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    each: Each<'_>,
    mask: u32,
) -> Done {
    if plan.values.len() > 1 {
        with_addresses!(registers, plan, each, 0, |at| at.misaligned(mask, W::BYTES * plan.values.len()))?;
    }
    for (index, value) in plan.values.iter().enumerate() {
        let Some(slot) = *value else { continue };
        let words = word::read_row::<W>(registers, slot);
        with_addresses!(registers, plan, each, (index * W::BYTES) as u64, |at| M::scatter(memories, at, mask, &words))?;
    }
    Ok(())
}

/// Reads one element for a lane, for an atomic access.
pub(crate) fn read_one<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    address: u64,
    lane: usize,
) -> Result<W, Fault> {
    let (at, mask) = (Fixed(address), 1 << lane);
    let mut words = [W::default(); LANES];
    match space {
        Space::Global | Space::Const | Space::Generic => Global::gather(memories, at, mask, &mut words)?,
        Space::Shared => Shared::gather(memories, at, mask, &mut words)?,
        Space::Local => Local::gather(memories, at, mask, &mut words)?,
        Space::Param => Params::gather(memories, at, mask, &mut words)?,
    }
    Ok(words[lane])
}

/// Writes one element for a lane, for an atomic access.
pub(crate) fn write_one<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    address: u64,
    lane: usize,
    word: W,
) -> Done {
    let (at, mask, words) = (Fixed(address), 1 << lane, [word; LANES]);
    match space {
        Space::Global | Space::Const | Space::Generic => Global::scatter(memories, at, mask, &words),
        Space::Shared => Shared::scatter(memories, at, mask, &words),
        Space::Local => Local::scatter(memories, at, mask, &words),
        Space::Param => Params::scatter(memories, at, mask, &words),
    }
}
