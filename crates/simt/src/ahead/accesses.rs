//! Loads, stores and atomic accesses of the iteration that is looked at.

use super::progression::low;
use super::touched::{Act, Reach, Touched, element, narrow};
use super::trace::{Trace, Unclear};
use super::value::Range;
use crate::access::LaneTrap;
use crate::atomic::resolve;
use crate::exec::{Running, Step};
use crate::memory::window::{WINDOW, constant};
use crate::program::{AccessPlan, AtomicPlan, Micro};
use ::lanes::Handlers;
use ::lanes::registers::lanes;
use isa::{Space, Width};

impl Trace {
    /// Where a lane accesses memory with all elements of a plan; `None` in memory that need not be looked at.
    fn place(&mut self, running: &Running<'_>, plan: &AccessPlan, elements: usize, lane: usize) -> Option<Touched> {
        let mut address = running.executing.addresses(plan)[lane];
        let (mut step, mut spread) = (0, 0);
        if let Some(slot) = plan.base {
            let base = running.executing.registers.get(slot, lane) as u64;
            let offset = address.wrapping_sub(base);
            match (self.step_of(slot, lane), self.steps.within(slot, lane)) {
                (Some(by), _) if slot.width == Width::B64 => step = by,
                (Some(by), _) => {
                    let (by, wraps) = narrow(address, offset, by);
                    self.reach.limit = self.reach.limit.min(wraps);
                    step = by;
                }
                (None, Some(Range { low, high, zeros, .. })) => {
                    (address, spread) = (low.wrapping_add(offset), high - low);
                    let whole = u64::from(plan.bytes) * elements as u64;
                    if !address.is_multiple_of(whole) || (1 << zeros.min(32)) % whole != 0 {
                        self.fail(Unclear::Control);
                    }
                }
                (None, None) => self.fail(Unclear::Control),
            }
        }
        let (space, address) = resolve(plan.space, address);
        let bytes = u32::from(plan.bytes) * elements as u32;
        let found = Touched { lane, space, address, step, spread, bytes, act: Act::Reads };
        match space {
            Space::Param if step != 0 || spread != 0 => {
                self.fail(Unclear::Instruction);
                None
            }
            Space::Param => None,
            _ => Some(found),
        }
    }

    /// Finds out how far an access can move.
    fn touch(&mut self, running: &Running<'_>, whole: &Touched) {
        let memories = &running.executing.memories;
        let allocations = memories.global.allocations();
        let (range, is_trap): (_, &dyn Fn(u64) -> bool) = match whole.space {
            Space::Shared => {
                let length = memories.shared.len() as u64;
                (Some(0..length), &move |address| address >= length && address < WINDOW)
            }
            Space::Local => (Some(memories.local_window.range()), &|_| false),
            // What lies where they end counts as stray, or is not there.
            Space::Const if !memories.global.is_strict() => {
                if memories.global.page_number(whole.address).is_none()
                    && memories.global.page_number(constant(whole.address)).is_some()
                {
                    self.fail(Unclear::Control);
                }
                let (at, to) = (whole.address, |upwards| allocations.without_constants(whole.address, upwards));
                let gap = || at.saturating_sub(to(false))..at.saturating_add(to(true));
                (Some(allocations.accessible_around(at).unwrap_or_else(gap)), &|_| false)
            }
            _ if whole.spread > 0 => {
                (allocations.holding(whole.address).map(|(from, size)| from..from + size), &|_| false)
            }
            _ => (allocations.accessible_around(whole.address), &|address| {
                allocations.accessible_around(address).is_none()
            }),
        };
        let of_window = matches!(whole.space, Space::Local | Space::Shared);
        let address = if of_window { whole.address & 0xffff_ffff } else { whole.address };
        let whole = Touched { address, ..*whole };
        let end = whole.address.saturating_add(whole.spread + u64::from(whole.bytes));
        match range {
            Some(range) if whole.spread > 0 && (whole.address < range.start || end > range.end) => {
                self.fail(Unclear::Control);
            }
            Some(range) if whole.space == Space::Const && !memories.global.is_strict() => {
                let mut bank = Reach::ENDLESS;
                bank.within(&whole, &range, is_trap);
                self.reach.turns = self.reach.turns.min(bank.leaves());
            }
            Some(range) => self.reach.within(&whole, &range, is_trap),
            // It traps now, or is zero for ever.
            None if whole.step == 0 && whole.spread == 0 => {}
            None => self.fail(Unclear::Control),
        }
    }

    /// Executes a load.
    pub(super) fn load<L: Handlers>(
        &mut self,
        level: L,
        running: &mut Running<'_>,
        micro: &Micro,
        plan: &AccessPlan,
    ) -> Result<Step, LaneTrap> {
        let mask = running.executing.mask;
        let (mut touched, mut known) = (Vec::new(), 0u32);
        for lane in lanes(mask) {
            let Some(whole) = self.place(running, plan, plan.values.len(), lane) else {
                known |= 1 << lane;
                continue;
            };
            self.touch(running, &whole);
            self.loads_move |= whole.step != 0;
            let changes = self.changing.iter().any(|place| place.is_met(&whole));
            self.is_carried |= changes;
            let same = whole.spread == 0 && (whole.step == 0 || self.strict) && !changes;
            known |= u32::from(same) << lane;
            for one in elements(&whole, plan.bytes, plan.values.len()) {
                let value = if same { element(&mut running.executing.memories, &one, one.address) } else { None };
                touched.push(Touched { act: value.map_or(Act::Reads, Act::Finds), ..one });
            }
        }
        let done = running.step(level, micro)?;
        for (lane, slot) in lanes(mask).flat_map(|lane| plan.values.iter().flatten().map(move |slot| (lane, *slot))) {
            self.steps.set(slot, lane, ((known >> lane) & 1 == 1).then_some(0));
            if !plan.signed {
                self.bound(slot, lane, Range::of_bits(u32::from(plan.bytes) * 8).within(slot.width.bits()));
            }
        }
        self.touched.extend(touched);
        Ok(done)
    }

    /// Notes a store that is about to be executed.
    pub(super) fn store(&mut self, running: &mut Running<'_>, plan: &AccessPlan) {
        for lane in lanes(running.executing.mask) {
            let Some(whole) = self.place(running, plan, plan.values.len(), lane) else { continue };
            self.touch(running, &whole);
            for (one, value) in elements(&whole, plan.bytes, plan.values.len()).zip(&plan.values) {
                let Some(slot) = *value else { continue };
                let stored = running.executing.registers.get(slot, lane);
                let stored = if one.bytes < 16 { u128::from(low(stored as u64, one.bytes * 8)) } else { stored };
                let by = self.step_of(slot, lane);
                let held = element(&mut running.executing.memories, &one, one.address);
                // What is stored where it is already, again and again, changes nothing.
                let silent = one.step == 0 && one.spread == 0 && by == Some(0) && held == Some(stored);
                self.is_unknown |= one.spread > 0 || (by.is_none() && one.step != 0);
                self.touched.push(Touched { act: if silent { Act::Reads } else { Act::Writes(stored, by) }, ..one });
            }
        }
    }

    /// Executes an atomic access. One that leaves memory as it was finds the same again.
    pub(super) fn atomic<L: Handlers>(
        &mut self,
        level: L,
        running: &mut Running<'_>,
        micro: &Micro,
        plan: &AtomicPlan,
    ) -> Result<Step, LaneTrap> {
        let (mask, access) = (running.executing.mask, &plan.access);
        let operands = plan.operands.iter().chain(&plan.swap);
        let constant = operands.fold(true, |constant, slot| self.is_constant(*slot, mask) & constant);
        let mut touched = Vec::new();
        for lane in lanes(mask) {
            let Some(whole) = self.place(running, access, plan.operands.len(), lane) else {
                self.fail(Unclear::Instruction);
                continue;
            };
            self.touch(running, &whole);
            for one in elements(&whole, access.bytes, plan.operands.len()) {
                let held = element(&mut running.executing.memories, &one, one.address);
                touched.push(Touched { act: held.map_or(Act::Reads, Act::Finds), ..one });
            }
        }
        let done = running.step(level, micro)?;
        let memories = &mut running.executing.memories;
        let unchanged = touched.iter().all(|one| match one.act {
            Act::Finds(held) => one.step == 0 && one.spread == 0 && element(memories, one, one.address) == Some(held),
            _ => false,
        });
        let same =
            constant && unchanged && !touched.iter().any(|one| self.changing.iter().any(|place| place.is_met(one)));
        if !same {
            touched.iter_mut().for_each(|one| one.act = Act::Writes(0, None));
            self.is_carried = true;
        }
        for slot in access.values.iter().flatten() {
            lanes(mask).for_each(|lane| self.steps.set(*slot, lane, same.then_some(0)));
        }
        self.touched.extend(touched);
        Ok(done)
    }
}

/// The elements of a vector.
fn elements(whole: &Touched, bytes: u8, count: usize) -> impl Iterator<Item = Touched> {
    let (whole, bytes) = (*whole, u32::from(bytes));
    (0..count as u64).map(move |index| Touched {
        address: whole.address.wrapping_add(index * u64::from(bytes)),
        bytes,
        ..whole
    })
}
