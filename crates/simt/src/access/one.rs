//! Accesses of one lane to one element.

use super::address::Fixed;
use super::executing::{LaneTrap, Memories};
use super::order::StoreOrder;
use super::space::{Const, Global, Local, Memory, Params, Shared};
use super::word::Word;
use super::{block, global};
use ::lanes::registers::LANES;
use isa::Space;

/// Replaces one element by what a function makes of it, for an atomic access; the old one.
#[inline(always)]
pub(crate) fn exchange_one<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    address: u64,
    lane: usize,
    new: impl FnOnce(W) -> W,
) -> Result<W, LaneTrap> {
    match space {
        Space::Global | Space::Const | Space::Generic => global::exchange(memories.global, Fixed(address), lane, new),
        Space::Shared => block::exchange(memories.shared, Fixed(address), lane, new),
        Space::Local | Space::Param => {
            let old = read_one(memories, space, address, lane)?;
            write_one(memories, space, address, lane, new(old))?;
            Ok(old)
        }
    }
}

/// Reads one element for a lane.
pub(crate) fn read_one<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    address: u64,
    lane: usize,
) -> Result<W, LaneTrap> {
    let (at, mask) = (Fixed(address), 1 << lane);
    let mut words = [W::default(); LANES];
    match space {
        Space::Global | Space::Generic => Global::gather(memories, at, mask, &mut words)?,
        Space::Const => Const::gather(memories, at, mask, &mut words)?,
        Space::Shared => Shared::gather(memories, at, mask, &mut words)?,
        Space::Local => Local::gather(memories, at, mask, &mut words)?,
        Space::Param => Params::gather(memories, at, mask, &mut words)?,
    }
    Ok(words[lane])
}

/// Writes one element for a lane.
pub(crate) fn write_one<W: Word>(
    memories: &mut Memories<'_>,
    space: Space,
    address: u64,
    lane: usize,
    word: W,
) -> Result<(), LaneTrap> {
    let (at, mask, words, order) = (Fixed(address), 1 << lane, [word; LANES], StoreOrder::of(W::BYTES));
    match space {
        Space::Global | Space::Const | Space::Generic => Global::scatter(memories, at, mask, &words, order),
        Space::Shared => Shared::scatter(memories, at, mask, &words, order),
        Space::Local => Local::scatter(memories, at, mask, &words, order),
        Space::Param => Params::scatter(memories, at, mask, &words, order),
    }
}
