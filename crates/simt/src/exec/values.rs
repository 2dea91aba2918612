//! Instructions that compute from the state of the warp itself.

use super::running::Running;
use crate::access::{Executing, inside};
use crate::collective;
use crate::memory::window::{DEVICE_BASE, LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW};
use crate::program::Micro;
use ::lanes::registers::{Slot, lanes};
use isa::{Space, Special};

impl Running<'_> {
    /// Counters are functions of the instructions issued to the warp: four cycles each, at 1 GHz.
    pub(super) fn counter(&mut self, micro: &Micro, special: Special) {
        let clock = self.issued() * 4;
        let value = match special {
            Special::ClockHi | Special::GlobaltimerHi => clock >> 32,
            _ => clock,
        };
        let slot = Slot { width: special.width(), index: micro.dst };
        lanes(self.executing.mask).for_each(|lane| self.executing.registers.set(slot, lane, value.into()));
    }
}

impl Executing<'_> {
    /// `isspacep`
    pub(super) fn isspacep(&mut self, micro: &Micro, space: Space) {
        let at = &self.registers.b64[usize::from(micro.src[0])].0;
        let within = |base| inside(at, self.mask, base);
        let bits = match space {
            Space::Shared => within(SHARED_BASE),
            Space::Local => within(LOCAL_BASE),
            Space::Param => within(PARAM_BASE),
            // What lies in no window is global, mapped or not (PTX ISA, §6.4.1.1).
            Space::Global => !(within(SHARED_BASE) | within(LOCAL_BASE) | within(PARAM_BASE)),
            Space::Const | Space::Generic => {
                let of_device = |at| at >= DEVICE_BASE && !(SHARED_BASE..PARAM_BASE + WINDOW).contains(&at);
                lanes(self.mask).filter(|&lane| of_device(at[lane])).fold(0, |bits, lane| bits | (1 << lane))
            }
        };
        collective::write_pred(self.registers, micro.dst, bits, self.mask);
    }

    /// Joins the registers of a list into one of 128 bits.
    pub(super) fn pack128(&mut self, micro: &Micro, list: &[Option<Slot>]) {
        let width = 128 / list.len().max(1) as u32;
        for lane in lanes(self.mask) {
            let parts = list.iter().flatten().zip((0..).step_by(width as usize));
            let joined = parts.fold(0, |joined, (slot, at)| joined | (self.registers.get(*slot, lane) << at));
            self.registers.b128[usize::from(micro.dst)].0[lane] = joined;
        }
    }

    /// The reverse.
    pub(super) fn unpack128(&mut self, micro: &Micro, list: &[Option<Slot>]) {
        let width = 128 / list.len().max(1) as u32;
        for lane in lanes(self.mask) {
            let joined = self.registers.b128[usize::from(micro.src[0])].0[lane];
            for (slot, at) in list.iter().zip((0..).step_by(width as usize)) {
                slot.iter().for_each(|slot| self.registers.set(*slot, lane, joined >> at));
            }
        }
    }
}
