//! Loads and stores: addresses of a warp, and the bytes behind them in every state space.
//!
//! A lane outside the mask is given the address of one inside it, so that the lane loops need no mask; what it loads
//! is dropped. The common shapes are fast: all lanes in one page of global memory, or in shared memory.

mod block;
mod global;
mod word;

use crate::level::Level;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::memory::GlobalMemory;
use crate::program::AccessPlan;
use crate::registers::{FULL, LANES, Registers, Slot, has, lanes};
use crate::trap::TrapKind;
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

/// The address that each lane accesses.
#[inline(always)]
pub(crate) fn addresses(registers: &Registers, plan: &AccessPlan, frame_base: u32) -> Addresses {
    let offset = if plan.frame { plan.offset.wrapping_add(i64::from(frame_base)) } else { plan.offset } as u64;
    match plan.base {
        None => [offset; LANES],
        Some(Slot { width: Width::B64, index }) => {
            let mut at = registers.b64[usize::from(index)].0;
            for address in &mut at {
                *address = address.wrapping_add(offset);
            }
            at
        }
        Some(Slot { index, .. }) => {
            let row = &registers.b32[usize::from(index)].0;
            let mut at = [offset; LANES];
            for (address, base) in at.iter_mut().zip(row) {
                *address = u64::from(*base).wrapping_add(offset);
            }
            at
        }
    }
}

/// The space that generic addresses are in, where it is one for all.
#[inline(always)]
fn one_space(at: &Addresses) -> Option<Space> {
    // Every window lies above global memory: one comparison tells the usual case.
    let highest = at.iter().fold(0, |highest, &address| highest.max(address));
    if highest < SHARED_BASE {
        return Some(Space::Global);
    }
    let space_of = |address: u64| {
        if within(address, SHARED_BASE) {
            Space::Shared
        } else if within(address, LOCAL_BASE) {
            Space::Local
        } else if within(address, PARAM_BASE) {
            Space::Param
        } else {
            Space::Global
        }
    };
    // Within a window, addresses must be made relative to it: leave that to the general way.
    at.iter().all(|&address| space_of(address) == Space::Global).then_some(Space::Global)
}

/// Splits a mask by the space that its generic addresses are in and calls `each` with addresses within the space.
#[inline(never)]
fn by_space(
    addresses: &Addresses,
    mask: u32,
    each: &mut dyn FnMut(Space, &Addresses, u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let windows = [(Space::Shared, SHARED_BASE), (Space::Local, LOCAL_BASE), (Space::Param, PARAM_BASE)];
    let mut rest = mask;
    for (space, base) in windows {
        let inside = lanes(mask).filter(|&lane| within(addresses[lane], base)).fold(0, |m, lane| m | (1 << lane));
        if inside != 0 {
            let mut relative = addresses.map(|address| address.wrapping_sub(base));
            fill(&mut relative, inside);
            each(space, &relative, inside)?;
        }
        rest &= !inside;
    }
    if rest == 0 {
        return Ok(());
    }
    let mut global = *addresses;
    fill(&mut global, rest);
    each(Space::Global, &global, rest)
}

/// Gives lanes outside the mask the address of the first lane inside it.
#[inline(always)]
fn fill(at: &mut Addresses, mask: u32) {
    if mask != FULL {
        let first = at[mask.trailing_zeros() as usize % LANES];
        for (lane, address) in at.iter_mut().enumerate() {
            *address = if has(mask, lane) { *address } else { first };
        }
    }
}

/// Whether every lane's address follows its neighbour's.
#[inline(always)]
fn is_contiguous<W: Word>(at: &Addresses) -> bool {
    let mut different = 0;
    for lane in 0..LANES {
        different |= at[lane] ^ at[0].wrapping_add((lane * W::BYTES) as u64);
    }
    different == 0
}

/// Refuses addresses that are not multiples of the access size, a power of two.
#[inline(always)]
fn check_alignment(at: &Addresses, mask: u32, size: u64) -> Result<(), Fault> {
    let low = at.iter().fold(0, |low, &address| low | address) & (size - 1);
    if low == 0 {
        return Ok(());
    }
    let wrong = lanes(mask).find(|&lane| !at[lane].is_multiple_of(size)).unwrap_or(0);
    Err(Fault::at(TrapKind::MisalignedAddress, wrong, at[wrong]))
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
) -> Result<(), Fault> {
    level.run(
        #[inline(always)]
        || {
            let at = addresses(registers, plan, frame_base);
            each_space(
                plan,
                at,
                mask,
                #[inline(always)]
                |space, at, mask| load_from(registers, memories, plan, space, at, mask),
            )
        },
    )
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
) -> Result<(), Fault> {
    level.run(
        #[inline(always)]
        || {
            let at = addresses(registers, plan, frame_base);
            each_space(
                plan,
                at,
                mask,
                #[inline(always)]
                |space, at, mask| store_to(registers, memories, plan, space, at, mask),
            )
        },
    )
}

/// Calls `access` for the space of the plan, or for every space that its generic addresses are in.
#[inline(always)]
fn each_space(
    plan: &AccessPlan,
    mut at: Addresses,
    mask: u32,
    mut access: impl FnMut(Space, &Addresses, u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    fill(&mut at, mask);
    let space = match plan.space {
        Space::Generic => one_space(&at).unwrap_or(Space::Generic),
        space => space,
    };
    if space == Space::Generic { by_space(&at, mask, &mut access) } else { access(space, &at, mask) }
}

#[inline(always)]
fn load_from(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    space: Space,
    at: &Addresses,
    mask: u32,
) -> Result<(), Fault> {
    check_alignment(at, mask, u64::from(plan.bytes) * plan.values.len() as u64)?;
    for (index, value) in plan.values.iter().enumerate() {
        let at = shifted(at, index as u64 * u64::from(plan.bytes));
        match plan.bytes {
            4 => load_element::<u32>(registers, memories, plan, space, &at, mask, *value)?,
            8 => load_element::<u64>(registers, memories, plan, space, &at, mask, *value)?,
            1 => load_element::<u8>(registers, memories, plan, space, &at, mask, *value)?,
            2 => load_element::<u16>(registers, memories, plan, space, &at, mask, *value)?,
            _ => load_wide(registers, memories, space, &at, mask, *value)?,
        }
    }
    Ok(())
}

/// Addresses `by` bytes further on.
#[inline(always)]
fn shifted(at: &Addresses, by: u64) -> Addresses {
    let mut at = *at;
    for address in &mut at {
        *address = address.wrapping_add(by);
    }
    at
}

/// Loads one element for every lane.
#[inline(always)]
fn load_element<W: Word>(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    space: Space,
    at: &Addresses,
    mask: u32,
    value: Option<Slot>,
) -> Result<(), Fault> {
    let mut words = [W::default(); LANES];
    gather(memories, space, at, mask, &mut words)?;
    if let Some(slot) = value {
        word::write_row(registers, slot, &words, plan.signed, mask);
    }
    Ok(())
}

/// An element of 16 bytes.
#[inline(never)]
fn load_wide(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    space: Space,
    at: &Addresses,
    mask: u32,
    value: Option<Slot>,
) -> Result<(), Fault> {
    let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
    gather(memories, space, at, mask, &mut low)?;
    gather(memories, space, &shifted(at, 8), mask, &mut high)?;
    if let Some(slot) = value {
        for lane in lanes(mask) {
            registers.set(slot, lane, (u128::from(high[lane]) << 64) | u128::from(low[lane]));
        }
    }
    Ok(())
}

/// Reads an element for every lane; lanes outside the mask must have the address of one inside it.
#[inline(always)]
pub(crate) fn gather<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    at: &Addresses,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), Fault> {
    match space {
        Space::Global | Space::Const | Space::Generic => global::gather(memories.global, at, mask, words),
        Space::Shared => block::gather(memories.shared, at, mask, words),
        Space::Param => block::gather(memories.params, at, mask, words),
        Space::Local => block::gather_local(memories, at, mask, words),
    }
}

#[inline(always)]
fn store_to(
    registers: &Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    space: Space,
    at: &Addresses,
    mask: u32,
) -> Result<(), Fault> {
    check_alignment(at, mask, u64::from(plan.bytes) * plan.values.len() as u64)?;
    for (index, value) in plan.values.iter().enumerate() {
        let Some(slot) = *value else { continue };
        let at = shifted(at, index as u64 * u64::from(plan.bytes));
        match plan.bytes {
            4 => scatter(memories, space, &at, mask, &word::read_row::<u32>(registers, slot))?,
            8 => scatter(memories, space, &at, mask, &word::read_row::<u64>(registers, slot))?,
            1 => scatter(memories, space, &at, mask, &word::read_row::<u8>(registers, slot))?,
            2 => scatter(memories, space, &at, mask, &word::read_row::<u16>(registers, slot))?,
            _ => {
                let row = &registers.b128[usize::from(slot.index)].0;
                scatter(memories, space, &at, mask, &row.map(|bits| bits as u64))?;
                scatter(memories, space, &shifted(&at, 8), mask, &row.map(|bits| (bits >> 64) as u64))?;
            }
        }
    }
    Ok(())
}

/// Writes an element for every lane of the mask; the others must have the address of one inside it.
#[inline(always)]
pub(crate) fn scatter<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    at: &Addresses,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), Fault> {
    match space {
        Space::Global | Space::Const | Space::Generic => global::scatter(memories.global, at, mask, words),
        Space::Shared => block::scatter(memories.shared, at, mask, words),
        Space::Local => block::scatter_local(memories, at, mask, words),
        Space::Param => {
            // Kernel parameters are read-only.
            let lane = mask.trailing_zeros() as usize;
            Err(Fault::at(TrapKind::IllegalAddress, lane, at[lane]))
        }
    }
}
