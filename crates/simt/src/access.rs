//! Loads and stores: addresses of a warp, and the bytes behind them in every state space.
//!
//! The common shapes are fast: neighbouring lanes at neighbouring addresses, and all lanes at one address. The rest
//! goes lane by lane, page by page.

use crate::level::Level;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::memory::{GlobalMemory, PAGE};
use crate::program::AccessPlan;
use crate::registers::{FULL, LANES, Registers, Slot, has, lanes};
use crate::trap::TrapKind;
use isa::{Space, Width};

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
            let row = &registers.b64[usize::from(index)].0;
            std::array::from_fn(|lane| row[lane].wrapping_add(offset))
        }
        Some(Slot { index, .. }) => {
            let row = &registers.b32[usize::from(index)].0;
            std::array::from_fn(|lane| u64::from(row[lane]).wrapping_add(offset))
        }
    }
}

/// The space that the lanes in a mask access through generic addresses, where it is one for all.
fn one_space(addresses: &Addresses, mask: u32) -> Option<Space> {
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
    let mut spaces = lanes(mask).map(|lane| space_of(addresses[lane]));
    let first = spaces.next()?;
    spaces.all(|space| space == first).then_some(first)
}

/// Splits a mask by the space that its generic addresses are in and calls `each` with addresses within the space.
fn by_space(
    addresses: &Addresses,
    mask: u32,
    mut each: impl FnMut(Space, &Addresses, u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let windows = [(Space::Shared, SHARED_BASE), (Space::Local, LOCAL_BASE), (Space::Param, PARAM_BASE)];
    let mut rest = mask;
    for (space, base) in windows {
        let inside = lanes(mask).filter(|&lane| within(addresses[lane], base)).fold(0, |m, lane| m | (1 << lane));
        if inside != 0 {
            each(space, &addresses.map(|address| address.wrapping_sub(base)), inside)?;
        }
        rest &= !inside;
    }
    if rest == 0 { Ok(()) } else { each(Space::Global, addresses, rest) }
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
            if plan.space == Space::Generic && one_space(&at, mask) != Some(Space::Global) {
                return by_space(&at, mask, |space, at, mask| load_space(registers, memories, plan, space, at, mask));
            }
            load_space(registers, memories, plan, plan.space, &at, mask)
        },
    )
}

#[inline(always)]
fn load_space(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    space: Space,
    at: &Addresses,
    mask: u32,
) -> Result<(), Fault> {
    check_alignment(at, mask, u64::from(plan.bytes) * plan.values.len() as u64)?;
    for (index, value) in plan.values.iter().enumerate() {
        let shift = index as u64 * u64::from(plan.bytes);
        match plan.bytes {
            1 => element::<1>(registers, memories, plan, space, at, mask, shift, *value)?,
            2 => element::<2>(registers, memories, plan, space, at, mask, shift, *value)?,
            4 => element::<4>(registers, memories, plan, space, at, mask, shift, *value)?,
            8 => element::<8>(registers, memories, plan, space, at, mask, shift, *value)?,
            _ => wide_element(registers, memories, space, at, mask, shift, *value)?,
        }
    }
    Ok(())
}

#[inline(always)]
fn check_alignment(at: &Addresses, mask: u32, size: u64) -> Result<(), Fault> {
    let mut low = 0;
    for lane in 0..LANES {
        low |= if has(mask, lane) { at[lane] & (size - 1) } else { 0 };
    }
    if low == 0 {
        return Ok(());
    }
    let wrong = lanes(mask).find(|&lane| !at[lane].is_multiple_of(size)).unwrap_or(0);
    Err(Fault::at(TrapKind::MisalignedAddress, wrong, at[wrong]))
}

/// Loads one element of `N` bytes for every lane.
#[expect(clippy::too_many_arguments, reason = "one place that binds a plan to memories and registers")]
#[inline(always)]
fn element<const N: usize>(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AccessPlan,
    space: Space,
    at: &Addresses,
    mask: u32,
    shift: u64,
    value: Option<Slot>,
) -> Result<(), Fault> {
    let mut bits = [0u64; LANES];
    gather::<N>(memories, space, at, mask, shift, &mut bits)?;
    let Some(slot) = value else { return Ok(()) };
    if plan.signed && N < 8 {
        let unused = 64 - 8 * N as u32;
        for bits in &mut bits {
            *bits = ((*bits << unused) as i64 >> unused) as u64;
        }
    }
    write_row(registers, slot, &bits, mask);
    Ok(())
}

/// Writes values to a register of any width, where the mask allows.
#[inline(always)]
pub(crate) fn write_row(registers: &mut Registers, slot: Slot, bits: &[u64; LANES], mask: u32) {
    let index = usize::from(slot.index);
    macro_rules! write {
        ($row:expr, $t:ty) => {{
            let row = $row;
            for lane in 0..LANES {
                row[lane] = if has(mask, lane) { bits[lane] as $t } else { row[lane] };
            }
        }};
    }
    match slot.width {
        Width::B16 => write!(&mut registers.b16[index].0, u16),
        Width::B32 => write!(&mut registers.b32[index].0, u32),
        Width::B64 => write!(&mut registers.b64[index].0, u64),
        Width::B128 => write!(&mut registers.b128[index].0, u128),
        Width::Pred => {
            for lane in lanes(mask) {
                registers.set(slot, lane, u128::from(bits[lane]));
            }
        }
    }
}

/// Reads a register of any width, its low 64 bits.
#[inline(always)]
pub(crate) fn read_row(registers: &Registers, slot: Slot) -> [u64; LANES] {
    let index = usize::from(slot.index);
    match slot.width {
        Width::Pred => std::array::from_fn(|lane| u64::from(has(registers.pred[index], lane))),
        Width::B16 => registers.b16[index].0.map(u64::from),
        Width::B32 => registers.b32[index].0.map(u64::from),
        Width::B64 => registers.b64[index].0,
        Width::B128 => registers.b128[index].0.map(|bits| bits as u64),
    }
}

/// An element of 16 bytes, lane by lane.
fn wide_element(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    space: Space,
    at: &Addresses,
    mask: u32,
    shift: u64,
    value: Option<Slot>,
) -> Result<(), Fault> {
    let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
    gather::<8>(memories, space, at, mask, shift, &mut low)?;
    gather::<8>(memories, space, at, mask, shift + 8, &mut high)?;
    if let Some(slot) = value {
        for lane in lanes(mask) {
            registers.set(slot, lane, (u128::from(high[lane]) << 64) | u128::from(low[lane]));
        }
    }
    Ok(())
}

/// Reads `N` bytes for every lane of the mask.
#[inline(always)]
pub(crate) fn gather<const N: usize>(
    memories: &mut Memories<'_>,
    space: Space,
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &mut [u64; LANES],
) -> Result<(), Fault> {
    match space {
        Space::Global | Space::Const | Space::Generic => gather_global::<N>(memories.global, at, mask, shift, bits),
        Space::Shared => gather_bytes::<N>(memories.shared, at, mask, shift, bits),
        Space::Param => gather_bytes::<N>(memories.params, at, mask, shift, bits),
        Space::Local => {
            for lane in lanes(mask) {
                let address = local_range::<N>(memories, at[lane].wrapping_add(shift), lane)?;
                bits[lane] = read_local::<N>(memories.local, address, lane);
            }
            Ok(())
        }
    }
}

#[inline(always)]
fn le<const N: usize>(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..N].copy_from_slice(&bytes[..N]);
    u64::from_le_bytes(word)
}

/// Whether every lane's address follows its neighbour's.
#[inline(always)]
fn is_contiguous<const N: usize>(at: &Addresses) -> bool {
    let mut different = 0;
    for lane in 0..LANES {
        different |= at[lane] ^ at[0].wrapping_add((lane * N) as u64);
    }
    different == 0
}

#[inline(always)]
fn gather_global<const N: usize>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &mut [u64; LANES],
) -> Result<(), Fault> {
    let start = at[0].wrapping_add(shift);
    let from = (start % PAGE as u64) as usize;
    if mask == FULL && is_contiguous::<N>(at) && from + N * LANES <= PAGE && memory.is_covered(start) {
        let Some(page) = memory.page(start) else { return Err(Fault::at(TrapKind::IllegalAddress, 0, start)) };
        for (bits, bytes) in bits.iter_mut().zip(page[from..from + N * LANES].chunks_exact(N)) {
            *bits = le::<N>(bytes);
        }
        return Ok(());
    }
    gather_pages::<N>(memory, at, mask, shift, bits)
}

/// Lane by lane, looking a page up once for a run of lanes in it.
fn gather_pages<const N: usize>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &mut [u64; LANES],
) -> Result<(), Fault> {
    let mut left = mask;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        let first = at[lane].wrapping_add(shift);
        if !memory.is_covered(first) {
            memory.note(first, N as u64);
        }
        let covered = memory.is_covered(first);
        let Some(page) = memory.page(first) else { return Err(Fault::at(TrapKind::IllegalAddress, lane, first)) };
        let number = first / PAGE as u64;
        loop {
            let lane = left.trailing_zeros() as usize;
            let address = at[lane].wrapping_add(shift);
            if address / PAGE as u64 != number {
                break;
            }
            let from = (address % PAGE as u64) as usize;
            bits[lane] = le::<N>(&page[from..from + N]);
            left &= left - 1;
            // A page that allocations cover only in part is looked up for every lane, to note strayed accesses.
            if left == 0 || !covered {
                break;
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn gather_bytes<const N: usize>(
    memory: &[u8],
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &mut [u64; LANES],
) -> Result<(), Fault> {
    let start = at[0].wrapping_add(shift);
    if mask == FULL && is_contiguous::<N>(at) {
        let from = usize::try_from(start).unwrap_or(usize::MAX);
        if let Some(bytes) = from.checked_add(N * LANES).and_then(|to| memory.get(from..to)) {
            for (bits, bytes) in bits.iter_mut().zip(bytes.chunks_exact(N)) {
                *bits = le::<N>(bytes);
            }
            return Ok(());
        }
    }
    let mut left = mask;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let address = at[lane].wrapping_add(shift);
        let from = usize::try_from(address).unwrap_or(usize::MAX);
        let bytes = from.checked_add(N).and_then(|to| memory.get(from..to));
        let Some(bytes) = bytes else { return Err(Fault::at(TrapKind::OutOfRangeAddress, lane, address)) };
        bits[lane] = le::<N>(bytes);
    }
    Ok(())
}

/// Checks a local address and makes sure that its words exist.
fn local_range<const N: usize>(memories: &mut Memories<'_>, address: u64, lane: usize) -> Result<usize, Fault> {
    let end = address.checked_add(N as u64).filter(|&end| end <= u64::from(memories.local_limit));
    let Some(end) = end else { return Err(Fault::at(TrapKind::OutOfRangeAddress, lane, address)) };
    let words = (end as usize).div_ceil(4);
    if memories.local.len() < words {
        memories.local.resize(words, [0; LANES]);
    }
    Ok(address as usize)
}

fn read_local<const N: usize>(local: &[[u32; LANES]], address: usize, lane: usize) -> u64 {
    let word = u64::from(local[address / 4][lane]);
    match N {
        8 => (u64::from(local[address / 4 + 1][lane]) << 32) | word,
        4 => word,
        _ => (word >> (8 * (address % 4))) & (u64::MAX >> (64 - 8 * N)),
    }
}

fn write_local<const N: usize>(local: &mut [[u32; LANES]], address: usize, lane: usize, bits: u64) {
    let word = &mut local[address / 4][lane];
    match N {
        8 => {
            *word = bits as u32;
            local[address / 4 + 1][lane] = (bits >> 32) as u32;
        }
        4 => *word = bits as u32,
        _ => {
            let mask = (u32::MAX >> (32 - 8 * N.min(4))) << (8 * (address % 4));
            *word = (*word & !mask) | (((bits as u32) << (8 * (address % 4))) & mask);
        }
    }
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
            if plan.space == Space::Generic && one_space(&at, mask) != Some(Space::Global) {
                return by_space(&at, mask, |space, at, mask| store_space(registers, memories, plan, space, at, mask));
            }
            store_space(registers, memories, plan, plan.space, &at, mask)
        },
    )
}

#[inline(always)]
fn store_space(
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
        let shift = index as u64 * u64::from(plan.bytes);
        let bits = read_row(registers, slot);
        match plan.bytes {
            1 => scatter::<1>(memories, space, at, mask, shift, &bits)?,
            2 => scatter::<2>(memories, space, at, mask, shift, &bits)?,
            4 => scatter::<4>(memories, space, at, mask, shift, &bits)?,
            8 => scatter::<8>(memories, space, at, mask, shift, &bits)?,
            _ => {
                let high = registers.b128[usize::from(slot.index)].0.map(|bits| (bits >> 64) as u64);
                scatter::<8>(memories, space, at, mask, shift, &bits)?;
                scatter::<8>(memories, space, at, mask, shift + 8, &high)?;
            }
        }
    }
    Ok(())
}

/// Writes `N` bytes for every lane of the mask.
#[inline(always)]
pub(crate) fn scatter<const N: usize>(
    memories: &mut Memories<'_>,
    space: Space,
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &[u64; LANES],
) -> Result<(), Fault> {
    match space {
        Space::Global | Space::Const | Space::Generic => scatter_global::<N>(memories.global, at, mask, shift, bits),
        Space::Shared => scatter_bytes::<N>(memories.shared, at, mask, shift, bits),
        Space::Param => {
            // Kernel parameters are read-only.
            let lane = mask.trailing_zeros() as usize;
            Err(Fault::at(TrapKind::IllegalAddress, lane, at[lane].wrapping_add(shift)))
        }
        Space::Local => {
            for lane in lanes(mask) {
                let address = local_range::<N>(memories, at[lane].wrapping_add(shift), lane)?;
                write_local::<N>(memories.local, address, lane, bits[lane]);
            }
            Ok(())
        }
    }
}

#[inline(always)]
fn scatter_global<const N: usize>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &[u64; LANES],
) -> Result<(), Fault> {
    let start = at[0].wrapping_add(shift);
    let from = (start % PAGE as u64) as usize;
    if mask == FULL && is_contiguous::<N>(at) && from + N * LANES <= PAGE && memory.is_covered(start) {
        let Some(page) = memory.page_mut(start) else { return Err(Fault::at(TrapKind::IllegalAddress, 0, start)) };
        for (bits, bytes) in bits.iter().zip(page[from..from + N * LANES].chunks_exact_mut(N)) {
            bytes.copy_from_slice(&bits.to_le_bytes()[..N]);
        }
        return Ok(());
    }
    scatter_pages::<N>(memory, at, mask, shift, bits)
}

fn scatter_pages<const N: usize>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &[u64; LANES],
) -> Result<(), Fault> {
    for lane in lanes(mask) {
        let address = at[lane].wrapping_add(shift);
        if !memory.is_covered(address) {
            memory.note(address, N as u64);
        }
        let Some(page) = memory.page_mut(address) else {
            return Err(Fault::at(TrapKind::IllegalAddress, lane, address));
        };
        let from = (address % PAGE as u64) as usize;
        page[from..from + N].copy_from_slice(&bits[lane].to_le_bytes()[..N]);
    }
    Ok(())
}

#[inline(always)]
fn scatter_bytes<const N: usize>(
    memory: &mut [u8],
    at: &Addresses,
    mask: u32,
    shift: u64,
    bits: &[u64; LANES],
) -> Result<(), Fault> {
    let mut left = mask;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let address = at[lane].wrapping_add(shift);
        let from = usize::try_from(address).unwrap_or(usize::MAX);
        let bytes = from.checked_add(N).and_then(|to| memory.get_mut(from..to));
        let Some(bytes) = bytes else { return Err(Fault::at(TrapKind::OutOfRangeAddress, lane, address)) };
        bytes.copy_from_slice(&bits[lane].to_le_bytes()[..N]);
    }
    Ok(())
}
