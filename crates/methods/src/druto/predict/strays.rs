//! Accesses whose address has a flipped bit: they trap, or read or write something else.

use facts::{Access, Effect, Role, Space};
use simt::InstructionContext;

use super::flow::{BITS, UseSample};

/// For each of the bits of an address, whether the access traps, and the bits that change in what it makes.
///
/// `made` has the elements of its destinations. What is stored elsewhere is missing where it belongs and wrong where it
/// came to; both count as changes of what is stored.
pub(super) fn strays(
    context: &mut InstructionContext<'_>,
    access: &Access,
    lane: usize,
    base: u64,
    bits: u32,
    makes: &[Option<u8>],
) -> UseSample {
    let offset = access.at.map_or(0, |(_, offset)| offset);
    let (size, golden) = (access.element.bytes() as usize, base.wrapping_add_signed(offset));
    let bytes = size * usize::from(access.count);
    let is_written = access.effect != Effect::Read;
    let held = read(context, access.space, golden, bytes);
    let stored = if is_written { stored(context, access, lane) } else { None };
    let mut sample = UseSample { traps: 0, changed: vec![vec![0; makes.len()]; bits as usize] };
    for bit in 0..bits.min(BITS as u32) {
        let address = (base ^ 1 << bit).wrapping_add_signed(offset);
        let found = if address.is_multiple_of(bytes.max(1) as u64) {
            read(context, access.space, address, bytes)
        } else {
            None
        };
        let (Some(held), Some(found)) = (&held, found) else {
            sample.traps |= 1 << bit;
            continue;
        };
        for (make, changed) in makes.iter().zip(&mut sample.changed[bit as usize]) {
            let of = |all: &[u8], element: u8| {
                let at = usize::from(element) * size;
                let bytes = all.get(at..at + size).unwrap_or_default().iter().take(8).rev();
                bytes.fold(0, |value, &byte| value << 8 | u64::from(byte))
            };
            *changed = match (make, &stored) {
                (Some(element), None) if !is_written => of(held, *element) ^ of(&found, *element),
                (Some(element), Some(stored)) => {
                    let is_seen =
                        access.space == Space::Shared || context.global.allocations().holding(address).is_some();
                    let elsewhere = if is_seen { of(&found, *element) ^ of(stored, *element) } else { 0 };
                    of(held, *element) ^ of(stored, *element) | elsewhere
                }
                _ => u64::MAX,
            };
        }
    }
    sample
}

/// The bytes at an address, if they can be read.
fn read(context: &mut InstructionContext<'_>, space: Space, address: u64, bytes: usize) -> Option<Vec<u8>> {
    let end = address.checked_add(bytes as u64)?;
    if space == Space::Shared {
        return context.shared.get(usize::try_from(address).ok()?..usize::try_from(end).ok()?).map(<[u8]>::to_vec);
    }
    context.global.allocations().accessible_around(address)?;
    let mut found = vec![0; bytes];
    context.global.copy_out(address, &mut found).then_some(found)
}

/// The bytes that a plain store stores, if registers hold all of them.
fn stored(context: &InstructionContext<'_>, access: &Access, lane: usize) -> Option<Vec<u8>> {
    if access.effect != Effect::Write {
        return None;
    }
    let facts = context.program.facts(context.instruction)?;
    let size = access.element.bytes() as usize;
    let mut all = vec![0; size * usize::from(access.count)];
    let mut count = 0;
    for operand in facts.of_role(Role::Stored) {
        let slot = context.program.slot(context.instruction, operand.register)?;
        let value = context.registers.get(slot, lane).to_le_bytes();
        let at = usize::from(operand.position) * size;
        all.get_mut(at..at + size)?.copy_from_slice(value.get(..size)?);
        count += 1;
    }
    (count == access.count).then_some(all)
}
