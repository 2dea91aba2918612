//! A replica that goes by the record of its thread: what it gets from others, and when it can no longer go by it.

use super::alone::Alone;
use super::guide::{Guide, Ports, Sharing, give, holding};
use crate::exec::{Begun, Running};
use crate::memory::PAGE;
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::{AccessPlan, Micro};
use ::lanes::Handlers;

/// What is on record of an instruction that others may have a part in.
struct Recorded<'a> {
    ports: &'a Ports,
    /// What it read.
    inputs: &'a [u128],
    /// What it wrote.
    outputs: &'a [u128],
}

impl Alone<'_> {
    /// Compares the lanes that come to an instruction with the record, and executes it as far as others have a part in
    /// it.
    pub(super) fn go_by<L: Handlers>(
        &mut self,
        guide: Guide<'_>,
        level: L,
        running: &mut Running<'_>,
        micro: &Micro,
    ) -> Begun {
        let position = &mut self.view.position;
        let recorded = guide.record.path.get(position.path).copied();
        position.path += 1;
        let Some((_, executed)) = recorded.filter(|(instruction, _)| *instruction == micro.instruction) else {
            self.escape(running, running.active, micro);
            return Begun::Over;
        };
        let should = if executed { running.active } else { 0 };
        self.escape(running, running.active & (running.executing.mask ^ should), micro);
        let ports = &guide.ports[micro.instruction as usize];
        if !executed || ports.sharing == Sharing::Own {
            return Begun::Execute;
        }
        let recorded = self.next_on_record(guide, ports);
        self.compare(level, running, micro, &recorded)
    }

    fn next_on_record<'g>(&mut self, guide: Guide<'g>, ports: &'g Ports) -> Recorded<'g> {
        let from = self.view.position.values;
        let (inputs, outputs) = (ports.inputs.len(), ports.outputs.len());
        self.view.position.values += inputs + outputs;
        let values = guide.record.values.get(from..from + inputs + outputs).unwrap_or_default();
        let (inputs, outputs) = values.split_at(inputs.min(values.len()));
        Recorded { ports, inputs, outputs }
    }

    /// What becomes of an instruction, by the part that others have in it.
    fn compare<L: Handlers>(
        &mut self,
        level: L,
        running: &mut Running<'_>,
        micro: &Micro,
        recorded: &Recorded<'_>,
    ) -> Begun {
        let program = running.program;
        let executing = running.executing.mask;
        let equal = holding(running.executing.registers, &recorded.ports.inputs, recorded.inputs, executing);
        let differ = executing & !equal;
        match recorded.ports.sharing {
            Sharing::Own => return Begun::Execute,
            Sharing::Control => {
                self.escape(running, differ, micro);
                return Begun::Execute;
            }
            Sharing::Hidden => self.escape(running, executing, micro),
            Sharing::Others { memory } => {
                let dirty = if memory { self.view.dirty } else { 0 };
                self.escape(running, differ | (equal & dirty), micro);
                recorded.take(running);
            }
            Sharing::Load(plan) => {
                let apart = self.load_apart(&program.accesses[plan as usize], recorded, executing, differ);
                self.part_ways(level, running, micro, recorded, apart);
            }
            Sharing::Store(plan) => {
                let apart = self.store_apart(running, micro, &program.accesses[plan as usize], recorded, differ);
                self.part_ways(level, running, micro, recorded, apart);
            }
        }
        Begun::Over
    }

    /// The lanes that load on their own: those whose address differs, and those that may read what they, or the thread
    /// in their place, wrote or did not write, which is not on record.
    fn load_apart(&self, plan: &AccessPlan, recorded: &Recorded<'_>, executing: u32, differ: u32) -> u32 {
        let address = recorded.address(plan);
        let bytes = u64::from(plan.bytes) * plan.values.len() as u64;
        if is_own(address) || self.view.may_hold(address, bytes) {
            executing
        } else {
            differ | (executing & self.view.dirty)
        }
    }

    /// The lanes that store on their own: those whose address or value differs. The others write what is on record.
    fn store_apart(
        &mut self,
        running: &mut Running<'_>,
        micro: &Micro,
        plan: &AccessPlan,
        recorded: &Recorded<'_>,
        differ: u32,
    ) -> u32 {
        let address = recorded.address(plan);
        let equal = running.executing.mask & !differ;
        if is_own(address) {
            return running.executing.mask;
        }
        let shared = within(address, SHARED_BASE);
        if differ != 0 {
            self.view.dirty |= differ;
            if shared || !self.may_leave(running, address, usize::from(plan.bytes) * plan.values.len()) {
                self.escape(running, differ, micro);
            }
        }
        if !shared {
            self.view.wrote(running.executing.registers, plan, address, equal);
        }
        differ
    }

    /// Whether nobody else of the block would notice that the thread does not write these bytes.
    fn may_leave(&self, running: &Running<'_>, address: u64, bytes: usize) -> bool {
        let from = address as usize % PAGE;
        let page = running.executing.memories.global.page_number(address);
        page.is_some_and(|page| self.owners.may_write(self.view.thread(), page, from, (from + bytes).min(PAGE)))
    }

    /// Some lanes execute the instruction on their own; the others get what is on record.
    fn part_ways<L: Handlers>(
        &mut self,
        level: L,
        running: &mut Running<'_>,
        micro: &Micro,
        recorded: &Recorded<'_>,
        apart: u32,
    ) {
        let as_recorded = running.executing.mask & !apart;
        let program = running.program;
        let micros =
            program.micros[running.pc as usize..].iter().take_while(|own| own.instruction == micro.instruction);
        for micro in micros {
            running.executing.mask = apart & running.active;
            if running.executing.mask == 0 {
                break;
            }
            self.execute(level, running, micro);
        }
        running.executing.mask = as_recorded & running.active;
        recorded.take(running);
    }
}

impl Recorded<'_> {
    /// The address of an access.
    fn address(&self, plan: &AccessPlan) -> u64 {
        let base = plan.base.and_then(|base| self.ports.inputs.iter().position(|slot| *slot == base));
        let base = base.and_then(|at| self.inputs.get(at)).map_or(0, |value| *value as u64);
        base.wrapping_add(plan.offset as u64)
    }

    /// Gives the lanes that execute what the thread got, and goes on after the instruction.
    fn take(&self, running: &mut Running<'_>) {
        give(running.executing.registers, &self.ports.outputs, self.outputs, running.executing.mask);
        let micros = &running.program.micros[running.pc as usize..];
        running.pc += 1 + micros.iter().position(|micro| micro.last).unwrap_or(0) as u32;
    }
}

/// Whether an address is in memory of the thread's own.
fn is_own(address: u64) -> bool {
    within(address, LOCAL_BASE) || within(address, PARAM_BASE)
}
