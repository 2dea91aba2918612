//! A replica that goes by the record of its thread: what it gets from others, and when it can no longer go by it.

use super::solo::{Alone, escape, step};
use super::{Running, Surroundings};
use crate::memory::PAGE;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::{AccessPlan, Micro};
use crate::replica::guide::{Guide, Part, Ports, give, holding};
use crate::warp::Warp;
use ::lanes::Handlers;

/// What a guided instruction comes to.
pub(super) enum Guided {
    /// These lanes execute it as ever.
    Execute(u32),
    /// It is over.
    Over,
}

/// Compares the lanes that come to an instruction with the record, and executes it as far as others have a part in it.
pub(super) fn guided<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    alone: &mut Alone<'_>,
    running: &mut Running,
    micro: &Micro,
    guide: Guide<'_>,
) -> Guided {
    let position = &mut alone.view.position;
    let recorded = guide.record.path.get(position.path).copied();
    position.path += 1;
    let Some((_, executed)) = recorded.filter(|(site, _)| *site == micro.site) else {
        escape(warp, running, alone, running.active, micro);
        return Guided::Over;
    };
    let should = if executed { running.active } else { 0 };
    escape(warp, running, alone, running.active & (running.executing ^ should), micro);
    let executing = running.executing & running.active;
    let ports = &guide.ports[micro.site as usize];
    if !executed || ports.part == Part::Own {
        return Guided::Execute(executing);
    }
    let from = alone.view.position.values;
    let (inputs, outputs) = (ports.inputs.len(), ports.outputs.len());
    alone.view.position.values += inputs + outputs;
    let values = guide.record.values.get(from..from + inputs + outputs).unwrap_or_default();
    let equal = holding(&warp.registers, &ports.inputs, values, executing);
    let differ = executing & !equal;
    match ports.part {
        Part::Own => Guided::Execute(executing),
        Part::Control => {
            escape(warp, running, alone, differ, micro);
            Guided::Execute(equal)
        }
        Part::Hidden => {
            escape(warp, running, alone, executing, micro);
            Guided::Over
        }
        Part::Others { memory } => {
            let dirty = if memory { alone.view.dirty } else { 0 };
            escape(warp, running, alone, differ | (equal & dirty), micro);
            give(&mut warp.registers, &ports.outputs, &values[inputs.min(values.len())..], equal & running.active);
            skip(around, running);
            Guided::Over
        }
        Part::Load(plan) | Part::Store(plan) => {
            let plan = &around.program.accesses[plan as usize];
            let address = golden_address(plan, ports, values);
            let bytes = usize::from(plan.bytes) * plan.values.len();
            let own = within(address, LOCAL_BASE) || within(address, PARAM_BASE);
            // Those that do not do what the record says do what they do themselves.
            let mut apart = if own { executing } else { differ };
            if matches!(ports.part, Part::Store(_)) {
                if apart != 0 && !own {
                    alone.view.dirty |= apart;
                    if within(address, SHARED_BASE) || !alone.may_leave(around, address, bytes) {
                        escape(warp, running, alone, apart, micro);
                    }
                }
                if !own && !within(address, SHARED_BASE) {
                    alone.view.wrote(&warp.registers, plan, address, equal);
                }
            } else if !own {
                // What they wrote, or did not write, is not on record.
                let written = alone.view.may_hold(address, bytes as u64);
                apart |= if written { executing } else { executing & alone.view.dirty };
            }
            each_micro(level, warp, around, alone, running, apart);
            let as_recorded = executing & !apart & running.active;
            give(&mut warp.registers, &ports.outputs, &values[inputs.min(values.len())..], as_recorded);
            skip(around, running);
            Guided::Over
        }
    }
}

/// The address that is on record for an access.
fn golden_address(plan: &AccessPlan, ports: &Ports, values: &[u128]) -> u64 {
    let base = plan.base.and_then(|base| ports.inputs.iter().position(|slot| *slot == base));
    let base = base.and_then(|at| values.get(at)).map_or(0, |value| *value as u64);
    base.wrapping_add(plan.offset as u64)
}

impl Alone<'_> {
    /// Whether nobody else of the block would notice that the thread does not write these bytes.
    fn may_leave(&self, around: &Surroundings<'_>, address: u64, bytes: usize) -> bool {
        let from = address as usize % PAGE;
        let page = around.global.page_number(address);
        page.is_some_and(|page| self.owners.may_write(self.view.thread(), page, from, (from + bytes).min(PAGE)))
    }
}

/// Executes the micro-operations of the instruction for some lanes.
fn each_micro<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    alone: &mut Alone<'_>,
    running: &mut Running,
    mask: u32,
) {
    let program = around.program;
    for micro in &program.micros[running.pc as usize..] {
        let executing = mask & running.active;
        if executing == 0 {
            return;
        }
        let _ = step(level, warp, around, alone, running, executing, micro);
        if micro.last {
            return;
        }
    }
}

/// Goes on after the instruction.
fn skip(around: &Surroundings<'_>, running: &mut Running) {
    let micros = &around.program.micros[running.pc as usize..];
    running.pc += 1 + micros.iter().position(|micro| micro.last).unwrap_or(0) as u32;
}
