//! Follows the values of a golden run: through registers in some threads, through global and shared memory in all.
//!
//! Local memory, textures and the parameters of calls are not followed: what goes there counts as lost.

use facts::{Control, Effect, Facts, Role, Space};
use inject::{Golden, GoldenLaunch, When};
use simt::memory::GlobalMemory;
use simt::registers::{LANES, lanes};
use simt::{Executor, Hook, InstructionContext, Interest, LevelName, Program};
use stats::Draws;
use std::collections::{BTreeMap, BTreeSet};

use super::evaluate::{Evaluation, mask};
use super::flow::{BITS, UseKind, ValueFlow, ValueKey};
use super::model::Regions;

/// Separates the draws of threads from those of faults.
const STREAM: u64 = 0x7072_6564;

/// The values that the instructions of a kernel make.
struct KernelValues {
    number: u32,
    evaluations: Vec<Option<Evaluation>>,
    /// By instruction, the values that it writes to registers.
    registers: Vec<Vec<usize>>,
    /// By instruction, those that it writes to memory that is followed.
    stored: Vec<Vec<usize>>,
}

/// A run that was followed.
pub(super) struct FollowedRun {
    pub(super) flow: ValueFlow,
    pub(super) regions: Regions,
    /// The names of the kernels, by number.
    pub(super) kernels: Vec<String>,
    /// Threads that were followed through registers, by kernel.
    pub(super) threads: Vec<u64>,
}

/// The place of an element: shared memory of the block or global memory, and the address.
type Place = (bool, u64);

struct Following<'k> {
    flow: ValueFlow,
    kernel: &'k KernelValues,
    owners: BTreeMap<Place, usize>,
    /// By thread of the block that is followed, the values in registers, by function and register.
    held: BTreeMap<usize, BTreeMap<(u32, u32), usize>>,
}

/// Follows all launches; of each kernel about this number of threads through registers.
pub(super) fn follow(golden: &Golden, threads: u64, seed: u64) -> FollowedRun {
    let (mut flow, mut kernels, mut names) = (ValueFlow::default(), Vec::new(), Vec::<String>::new());
    let mut regions = Regions::new();
    for launch in golden.launches() {
        if !names.contains(&launch.program.name) {
            kernels.push(KernelValues::of(&launch.program, names.len() as u32, &mut flow));
            names.push(launch.program.name.clone());
        }
    }
    let number = |launch: &GoldenLaunch| names.iter().position(|name| *name == launch.program.name).unwrap_or_default();
    let mut launches = vec![0; names.len()];
    golden.launches().iter().for_each(|launch| launches[number(launch)] += 1);
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(LevelName::best()));
    let (mut owners, mut event, mut followed) = (BTreeMap::new(), 0, vec![0; names.len()]);
    for (at, launch) in (0..).zip(golden.launches()) {
        host(golden, event..launch.event, &mut flow, &mut owners);
        event = launch.event + 1;
        let (kernel, size) = (number(launch), golden.threads_per_block(launch) as u64);
        if regions.range((kernel as u32, 0)..(kernel as u32 + 1, 0)).next().is_none() {
            regions.extend(kernels[kernel].regions(&launch.program));
        }
        let (all, mut draws) = (golden.recorded(launch).threads(), Draws::new(seed ^ STREAM, at));
        let each = threads.div_ceil(launches[kernel]);
        let chosen: BTreeSet<u64> = (0..each).filter_map(|_| draws.below(all)).collect();
        followed[kernel] += chosen.len() as u64;
        let mut hook = Following { flow, kernel: &kernels[kernel], owners, held: BTreeMap::new() };
        golden.rerun(launch, &mut memory, &mut executor, &mut hook, |hook, block, when| {
            if when == When::Before {
                hook.owners.retain(|(is_shared, _), _| !is_shared);
                let own = chosen.range(block * size..(block + 1) * size);
                hook.held = own.map(|thread| ((thread - block * size) as usize, BTreeMap::new())).collect();
            }
            true
        });
        (flow, owners) = (hook.flow, hook.owners);
    }
    host(golden, event..golden.capsule().events.len(), &mut flow, &mut owners);
    FollowedRun { flow, regions, kernels: names, threads: followed }
}

/// Notes outputs, which the host reads; bytes that it writes have no maker.
fn host(golden: &Golden, events: std::ops::Range<usize>, flow: &mut ValueFlow, owners: &mut BTreeMap<Place, usize>) {
    for event in events.filter_map(|event| golden.capsule().events.get(event)) {
        for (address, bytes) in event.reads().into_iter().flat_map(capsule::Region::rows) {
            for (_, &value) in owners.range((false, address)..(false, address.saturating_add(bytes))) {
                flow.used(value, (u32::MAX, 0, UseKind::Output), &[]);
            }
        }
        for (address, bytes) in event.writes().into_iter().flat_map(capsule::Region::rows) {
            let gone: Vec<Place> =
                owners.range((false, address)..(false, address.saturating_add(bytes))).map(|(at, _)| *at).collect();
            for at in gone {
                owners.remove(&at);
            }
        }
    }
}

impl KernelValues {
    fn of(program: &Program, number: u32, flow: &mut ValueFlow) -> Self {
        let (mut registers, mut stored) = (Vec::new(), Vec::new());
        for instruction in 0..program.instructions.len() as u32 {
            let key = |position, is_memory| ValueKey { kernel: number, instruction, position, is_memory };
            let Some(facts) = program.facts(instruction) else {
                registers.push(Vec::new());
                stored.push(Vec::new());
                continue;
            };
            let written = facts.of_role(Role::Destination).map(|it| flow.value(key(it.position, false), it.bits));
            registers.push(written.collect());
            let access = facts.access.filter(|it| it.effect != Effect::Read && is_followed(it.space));
            let elements = access.map_or(0, |it| it.count);
            let bits = access.map_or(0, |it| it.element.bytes() * 8);
            stored.push((0..elements).map(|position| flow.value(key(position, true), bits)).collect());
        }
        Self { number, evaluations: Evaluation::all(program), registers, stored }
    }

    /// By branch, what is made between it and where it goes; behind it, if the thread ends or returns there.
    fn regions(&self, program: &Program) -> Regions {
        let of = |at: usize| {
            let (it, facts) = (&program.instructions[at], program.facts(at as u32)?);
            facts.guard?;
            let between = match &facts.control {
                Control::Jump(targets) => {
                    let (low, high) = (targets.iter().min()?.min(&it.pc).0, targets.iter().max()?.max(&it.pc).0);
                    low..high
                }
                Control::End | Control::Return => it.pc.0..u32::MAX,
                _ => return None,
            };
            let inside = program.instructions.iter().enumerate();
            let inside = inside.filter(|(_, other)| other.function == it.function && between.contains(&other.pc.0));
            let values = inside.flat_map(|(at, _)| self.registers[at].iter().chain(&self.stored[at]).copied());
            Some(((self.number, at as u32), values.collect()))
        };
        (0..program.instructions.len()).filter_map(of).collect()
    }
}

fn is_followed(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic | Space::Shared)
}

impl Hook for Following<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(facts) = context.program.facts(context.instruction) else { return Interest::Stay };
        let first = context.warp as usize * LANES;
        for lane in lanes(context.active) {
            if let Some(mut held) = self.held.remove(&(first + lane)) {
                self.registers(&context, facts, lane, &mut held);
                self.held.insert(first + lane, held);
            }
        }
        self.memory(&context, facts);
        Interest::Stay
    }
}

impl Following<'_> {
    /// Follows the registers of a thread.
    fn registers(
        &mut self,
        context: &InstructionContext<'_>,
        facts: &Facts,
        lane: usize,
        held: &mut BTreeMap<(u32, u32), usize>,
    ) {
        let kernel = self.kernel;
        let (instruction, at) = (context.instruction, context.instruction as usize);
        let function = context.program.instructions[at].function.0;
        let by = |kind| (kernel.number, instruction, kind);
        let makes: Vec<usize> = kernel.registers[at].iter().chain(&kernel.stored[at]).copied().collect();
        if let Some(&value) = facts.guard.and_then(|guard| held.get(&(function, guard.pred.0))) {
            self.flow.used(value, by(UseKind::Guard), &makes);
        }
        if context.executing >> lane & 1 == 0 {
            return;
        }
        let mut seen = BTreeSet::new();
        for source in facts.of_role(Role::Source).filter(|it| seen.insert(it.register.0)) {
            let Some(&value) = held.get(&(function, source.register.0)) else { continue };
            let Some(slot) = context.program.slot(instruction, source.register) else { continue };
            let bits = self.flow.made[value].1;
            let is = |role| facts.of_role(role).find(|it| it.register == source.register);
            if is(Role::Address).is_some() {
                if let Some(it) = self.flow.used(value, by(UseKind::Address), &makes) {
                    it.traps.push(traps(context, facts, context.registers.get(slot, lane), bits));
                }
            } else if let Some(evaluation) = &kernel.evaluations[at] {
                if let Some(it) = self.flow.used(value, by(UseKind::Computed), &makes) {
                    let results = |flip| evaluation.results(context.registers, lane, (slot, flip));
                    let golden = results(0);
                    let changed = |bit: u32| {
                        results(1u128 << bit).iter().zip(&golden).map(|(one, other)| folded(one ^ other)).collect()
                    };
                    it.samples.push((0..bits).map(changed).collect());
                }
            } else {
                let stored = is(Role::Stored).and_then(|it| kernel.stored[at].get(usize::from(it.position)));
                let only: Vec<usize> = stored.copied().into_iter().collect();
                self.flow.used(value, by(UseKind::Carried), if only.is_empty() { &makes } else { &only });
            }
        }
        for (it, &value) in facts.of_role(Role::Destination).zip(&kernel.registers[at]) {
            held.insert((function, it.register.0), value);
            self.flow.made[value].0 += 1;
        }
    }

    /// Follows the memory that the threads of a warp access.
    fn memory(&mut self, context: &InstructionContext<'_>, facts: &Facts) {
        let Some(access) = facts.access.filter(|it| is_followed(it.space)) else { return };
        let Some((register, offset)) = access.at else { return };
        let slot = register.and_then(|register| context.program.slot(context.instruction, register));
        let kernel = self.kernel;
        let at = context.instruction as usize;
        for lane in lanes(context.executing) {
            let base = slot.map_or(0, |slot| context.registers.get(slot, lane) as u64);
            for element in 0..access.count {
                let step = i64::from(access.element.bytes()) * i64::from(element);
                let place = (access.space == Space::Shared, base.wrapping_add_signed(offset + step));
                if access.effect != Effect::Write
                    && let Some(&value) = self.owners.get(&place)
                {
                    let is_it = |it: &facts::Operand| it.position == element;
                    let loaded = facts.of_role(Role::Destination).position(is_it);
                    let loaded = loaded.map(|position| kernel.registers[at][position]);
                    let kept = kernel.stored[at].get(usize::from(element)).copied();
                    let makes: Vec<usize> = loaded.into_iter().chain(kept).collect();
                    self.flow.used(value, (kernel.number, context.instruction, UseKind::Carried), &makes);
                }
                if let Some(&value) = kernel.stored[at].get(usize::from(element)) {
                    self.owners.insert(place, value);
                    self.flow.made[value].0 += 1;
                }
            }
        }
    }
}

/// The bits of an address whose flip traps: the access leaves what can be accessed, or is not aligned.
fn traps(context: &InstructionContext<'_>, facts: &Facts, base: u128, bits: u32) -> u64 {
    let Some((access, (_, offset))) = facts.access.and_then(|it| Some((it, it.at?))) else { return 0 };
    let bytes = u64::from(access.bytes()).max(1);
    let inside = |address: u64| match access.space {
        Space::Shared => address.saturating_add(bytes) <= context.shared.len() as u64,
        Space::Global | Space::Generic => context.global.allocations().accessible_around(address).is_some(),
        _ => true,
    };
    let golden = (base as u64).wrapping_add_signed(offset);
    let fails = |bit: &u32| {
        let address = (base as u64 ^ 1 << bit).wrapping_add_signed(offset);
        !address.is_multiple_of(bytes) || inside(golden) && !inside(address)
    };
    (0..bits.min(BITS as u32)).filter(fails).fold(0, |all, bit| all | 1 << bit)
}

/// Changed bits of which those above the ones that are told apart count as the highest.
fn folded(changed: u128) -> u64 {
    let high = changed & !mask(BITS as u32) != 0;
    changed as u64 | u64::from(high) << (BITS - 1)
}
