//! Matrices that the lanes of a warp hold together.

mod layout;
mod multiply;

use crate::access::{Executing, LaneTrap, Memories, addresses, read_one, write_one};
use crate::atomic::resolve;
use crate::program::{AccessPlan, MatrixPlan};
use ::lanes::registers::{LANES, Registers, Slot, lanes};
use isa::Width;
use isa::op::matrix::{Fragment, Layout, Tiles};
use layout::place;

/// Executes an instruction on matrices.
pub(crate) fn matrix(on: &mut Executing<'_>, plan: &MatrixPlan) -> Result<(), LaneTrap> {
    let (mask, frame_base) = (on.mask, on.frame_base);
    let Executing { registers, memories, .. } = on;
    match plan {
        MatrixPlan::LoadTiles { tiles, access } => {
            let at = addresses(registers, access, frame_base);
            let mut loaded = [[0; LANES]; 4];
            for (tile, values) in loaded.iter_mut().enumerate().take(access.values.len()) {
                let mut rows = [0; 8];
                for (row, bits) in rows.iter_mut().enumerate() {
                    let lane = tile * 8 + row;
                    let (space, address) = resolve(access.space, at[lane]);
                    *bits = read_one(memories, space, address, lane)?;
                }
                *values = lanes_of(&rows, tiles.transposed);
            }
            for (slot, values) in access.values.iter().zip(&loaded) {
                write(registers, *slot, values, mask);
            }
        }
        MatrixPlan::StoreTiles { tiles, access } => store_tiles(registers, memories, *tiles, access, frame_base)?,
        MatrixPlan::Transpose { from, to } => {
            let values = lanes_of(&rows_of(&registers.b32[usize::from(*from)].0), true);
            write(registers, Some(*to), &values, mask);
        }
        MatrixPlan::Multiply { it, d, a, b, c } => multiply::multiply(registers, it, d, [a, b, c], mask),
        MatrixPlan::LoadFragment { it, access, stride } => {
            let at = addresses(registers, access, frame_base);
            let mut loaded = vec![[0u64; LANES]; access.values.len()];
            each_element(registers, it, &at, *stride, mask, |lane, register, shift, address| {
                let (space, address) = resolve(access.space, address);
                let bits = match it.element.bytes() {
                    1 => read_one::<u8>(memories, space, address, lane)?.into(),
                    2 => read_one::<u16>(memories, space, address, lane)?.into(),
                    4 => read_one::<u32>(memories, space, address, lane)?.into(),
                    _ => read_one::<u64>(memories, space, address, lane)?,
                };
                loaded[register][lane] |= bits << shift;
                Ok(())
            })?;
            for (slot, values) in access.values.iter().zip(&loaded) {
                let Some(slot) = *slot else { continue };
                lanes(mask).for_each(|lane| registers.set(slot, lane, values[lane].into()));
            }
        }
        MatrixPlan::StoreFragment { it, access, stride } => {
            let at = addresses(registers, access, frame_base);
            each_element(registers, it, &at, *stride, mask, |lane, register, shift, address| {
                let Some(slot) = access.values[register] else { return Ok(()) };
                let (space, address) = resolve(access.space, address);
                let bits = registers.get(slot, lane) as u64 >> shift;
                match it.element.bytes() {
                    1 => write_one(memories, space, address, lane, bits as u8),
                    2 => write_one(memories, space, address, lane, bits as u16),
                    4 => write_one(memories, space, address, lane, bits as u32),
                    _ => write_one(memories, space, address, lane, bits),
                }
            })?;
        }
    }
    Ok(())
}

fn store_tiles(
    registers: &Registers,
    memories: &mut Memories<'_>,
    tiles: Tiles,
    access: &AccessPlan,
    frame_base: u32,
) -> Result<(), LaneTrap> {
    let at = addresses(registers, access, frame_base);
    for (tile, slot) in access.values.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let mut rows = rows_of(&registers.b32[usize::from(slot.index)].0);
        if tiles.transposed {
            rows = rows_of(&lanes_of(&rows, true));
        }
        for (row, bits) in rows.into_iter().enumerate() {
            let lane = tile * 8 + row;
            let (space, address) = resolve(access.space, at[lane]);
            write_one(memories, space, address, lane, bits)?;
        }
    }
    Ok(())
}

fn write(registers: &mut Registers, slot: Option<Slot>, values: &[u32; LANES], mask: u32) {
    if let Some(Slot { width: Width::B32, index }) = slot {
        crate::collective::write_b32(registers, index, values, mask);
    } else if let Some(slot) = slot {
        lanes(mask).for_each(|lane| registers.set(slot, lane, values[lane].into()));
    }
}

/// The rows of an 8 by 8 matrix: lane `l` holds elements `2 * (l % 4)` and the next of row `l / 4`.
fn rows_of(values: &[u32; LANES]) -> [u128; 8] {
    std::array::from_fn(|row| (0..4).fold(0, |bits, part| bits | (u128::from(values[row * 4 + part]) << (32 * part))))
}

/// What each lane holds of an 8 by 8 matrix, or of its transpose.
fn lanes_of(rows: &[u128; 8], transposed: bool) -> [u32; LANES] {
    std::array::from_fn(|lane| {
        let (row, pair) = (lane / 4, lane % 4);
        if !transposed {
            return (rows[row] >> (32 * pair)) as u32;
        }
        let element = |row_of: usize| u32::from((rows[row_of] >> (16 * row)) as u16);
        element(2 * pair) | (element(2 * pair + 1) << 16)
    })
}

/// Calls a function for every element that a lane holds: lane, register, where in it, address.
pub(crate) fn each_element(
    registers: &Registers,
    it: &Fragment,
    at: &[u64; LANES],
    stride: Option<u16>,
    mask: u32,
    mut each: impl FnMut(usize, usize, u32, u64) -> Result<(), LaneTrap>,
) -> Result<(), LaneTrap> {
    let (rows, columns) = it.shape.of(it.role);
    let bytes = u64::from(it.element.bytes());
    for lane in lanes(mask) {
        let given = stride.map(|row| u64::from(registers.b32[usize::from(row)].0[lane]));
        for register in 0..usize::from(it.registers()) {
            for part in 0..usize::from(it.element.per_register()) {
                let (row, column) = place(it.shape, it.role, it.element, register, part, lane);
                let element = match it.layout {
                    Layout::Row => row as u64 * given.unwrap_or(columns.into()) + column as u64,
                    Layout::Col => column as u64 * given.unwrap_or(rows.into()) + row as u64,
                };
                let address = at[lane].wrapping_add(element.wrapping_mul(bytes));
                each(lane, register, (part as u64 * 8 * bytes) as u32, address)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_twice_changes_nothing() {
        let values: [u32; LANES] = std::array::from_fn(|lane| (lane as u32 * 2) | ((lane as u32 * 2 + 1) << 16));
        let once = lanes_of(&rows_of(&values), true);
        assert_eq!(once[1], 16 | (24 << 16));
        assert_eq!(lanes_of(&rows_of(&once), true), values);
        assert_eq!(lanes_of(&rows_of(&values), false), values);
    }
}
