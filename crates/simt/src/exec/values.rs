//! Instructions that compute from the state of the warp itself.

use super::Warp;
use crate::collective;
use crate::memory::window::{DEVICE_BASE, LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW, within};
use crate::program::Micro;
use crate::registers::{Slot, lanes};
use isa::{Space, Special};

/// Counters are functions of the instructions issued to the warp: four cycles each, at 1 GHz.
pub(super) fn counter(warp: &mut Warp, micro: &Micro, special: Special, issued: u64, executing: u32) {
    let clock = issued * 4;
    let value = match special {
        Special::ClockHi | Special::GlobaltimerHi => clock >> 32,
        _ => clock,
    };
    let row = usize::from(micro.dst);
    for lane in lanes(executing) {
        match special.width() {
            isa::Width::B64 => warp.registers.b64[row].0[lane] = value,
            _ => warp.registers.b32[row].0[lane] = value as u32,
        }
    }
}

pub(super) fn isspacep(warp: &mut Warp, micro: &Micro, space: Space, executing: u32) {
    let addresses = &warp.registers.b64[usize::from(micro.src[0])].0;
    let inside = |address: u64| match space {
        Space::Shared => within(address, SHARED_BASE),
        Space::Local => within(address, LOCAL_BASE),
        Space::Param => within(address, PARAM_BASE),
        // What lies in no window is global, mapped or not (PTX ISA, §6.4.1.1).
        Space::Global => ![SHARED_BASE, LOCAL_BASE, PARAM_BASE].iter().any(|&base| within(address, base)),
        Space::Const | Space::Generic => {
            address >= DEVICE_BASE && !(SHARED_BASE..PARAM_BASE + WINDOW).contains(&address)
        }
    };
    let bits = lanes(executing).filter(|&lane| inside(addresses[lane])).fold(0, |m, lane| m | (1 << lane));
    collective::write_pred(&mut warp.registers, micro.dst, bits, executing);
}

pub(super) fn pack128(warp: &mut Warp, micro: &Micro, list: &[Option<Slot>], executing: u32) {
    let width = 128 / list.len().max(1) as u32;
    for lane in lanes(executing) {
        let parts = list.iter().flatten().enumerate();
        let joined =
            parts.fold(0u128, |joined, (at, slot)| joined | (warp.registers.get(*slot, lane) << (at as u32 * width)));
        warp.registers.b128[usize::from(micro.dst)].0[lane] = joined;
    }
}

pub(super) fn unpack128(warp: &mut Warp, micro: &Micro, list: &[Option<Slot>], executing: u32) {
    let width = 128 / list.len().max(1) as u32;
    for lane in lanes(executing) {
        let joined = warp.registers.b128[usize::from(micro.src[0])].0[lane];
        for (at, slot) in list.iter().enumerate() {
            if let Some(slot) = slot {
                warp.registers.set(*slot, lane, joined >> (at as u32 * width));
            }
        }
    }
}
