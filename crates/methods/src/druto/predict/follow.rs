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
use super::flow::{BITS, UseKind, UseSample, ValueFlow, ValueKey};
use super::owners::ElementOwners;
use super::regions::{Regions, regions, settle};
use super::strata::drawn;
use super::strays::strays;

/// Separates the draws of threads from those of faults.
const STREAM: u64 = 0x7072_6564;
/// Threads of each launch, at least, so that those that execute differently are among them.
const OF_A_LAUNCH: u64 = 8;

/// The values that the instructions of a kernel make.
#[derive(Default)]
struct KernelValues {
    number: u32,
    evaluations: Vec<Option<Evaluation>>,
    /// By instruction, the values that it writes to registers.
    registers: Vec<Vec<usize>>,
    /// By instruction, those that it writes to memory that is followed.
    stored: Vec<Vec<usize>>,
    /// By instruction, the elements of its access that its values are, those in registers first.
    elements: Vec<Vec<Option<u8>>>,
    /// By instruction, whether it compares for equality.
    exact: Vec<bool>,
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

struct Following<'k> {
    flow: ValueFlow,
    kernel: &'k KernelValues,
    /// Of global memory, and of the shared memory of the block.
    owners: (ElementOwners, ElementOwners),
    /// By thread of the block that is followed, what it holds.
    held: BTreeMap<usize, FollowedThread>,
}

/// A thread that is followed through registers.
struct FollowedThread {
    /// The threads that it stands for.
    weight: f64,
    /// The values in registers, by function and register.
    values: BTreeMap<(u32, u32), usize>,
}

/// Follows all launches; of each kernel about this number of threads through registers.
pub(super) fn follow(golden: &Golden, threads: u64, seed: u64) -> FollowedRun {
    let (mut flow, mut kernels, mut names) = (ValueFlow::default(), Vec::new(), Vec::<String>::new());
    let mut decided = Regions::new();
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
    let (mut owners, mut event, mut followed) = (ElementOwners::default(), 0, vec![0; names.len()]);
    for (at, launch) in (0..).zip(golden.launches()) {
        host(golden, event..launch.event, &mut flow, &mut owners);
        event = launch.event + 1;
        let (kernel, size) = (number(launch), golden.threads_per_block(launch) as u64);
        if followed[kernel] == 0 {
            decided.extend(regions(&launch.program, kernel as u32));
        }
        let each = threads.div_ceil(launches[kernel]).max(OF_A_LAUNCH.min(threads));
        let chosen = drawn(launch.counts().iter(), each, &mut Draws::new(seed ^ STREAM, at));
        followed[kernel] += chosen.len() as u64;
        let owned = (owners, ElementOwners::default());
        let mut hook = Following { flow, kernel: &kernels[kernel], owners: owned, held: BTreeMap::new() };
        golden.rerun(launch, &mut memory, &mut executor, &mut hook, |hook, block, when| {
            if when == When::Before {
                hook.owners.1.clear();
                let own = chosen.range(block * size..(block + 1) * size);
                let held = |(thread, &weight): (&u64, &f64)| {
                    ((thread - block * size) as usize, FollowedThread { weight, values: BTreeMap::new() })
                };
                hook.held = own.map(held).collect();
            }
            true
        });
        (flow, owners) = (hook.flow, hook.owners.0);
    }
    host(golden, event..golden.capsule().events.len(), &mut flow, &mut owners);
    settle(&mut decided, &flow, |kernel, at| kernels[kernel as usize].exact[at as usize]);
    FollowedRun { flow, regions: decided, kernels: names, threads: followed }
}

/// Notes outputs, which the host reads; bytes that it writes have no maker.
fn host(golden: &Golden, events: std::ops::Range<usize>, flow: &mut ValueFlow, owners: &mut ElementOwners) {
    for event in events.filter_map(|event| golden.capsule().events.get(event)) {
        for (address, bytes) in event.reads().into_iter().flat_map(capsule::Region::rows) {
            for (value, count) in owners.within(address..address.saturating_add(bytes), false) {
                flow.used(value, (u32::MAX, 0, UseKind::Output), count as f64, &[]);
            }
        }
        for (address, bytes) in event.writes().into_iter().flat_map(capsule::Region::rows) {
            owners.within(address..address.saturating_add(bytes), true);
        }
    }
}

impl KernelValues {
    fn of(program: &Program, number: u32, flow: &mut ValueFlow) -> Self {
        let mut it = Self { number, evaluations: Evaluation::all(program), ..Self::default() };
        for instruction in 0..program.instructions.len() as u32 {
            let key = |position, is_memory| ValueKey { kernel: number, instruction, position, is_memory };
            let facts = program.facts(instruction);
            let written: Vec<_> = facts.into_iter().flat_map(|it| it.of_role(Role::Destination)).collect();
            let access = facts.and_then(|it| it.access);
            let is_equality = |word: &str| ["eq", "ne"].iter().any(|it| word.eq_ignore_ascii_case(it));
            it.exact.push(facts.is_some_and(|it| it.mnemonic.split('.').any(is_equality)));
            let stores = access.filter(|it| it.effect != Effect::Read && is_followed(it.space));
            let (count, bits) = stores.map_or((0, 0), |it| (it.count, it.element.bytes() * 8));
            let is_element = |position| access.filter(|access| position < access.count).map(|_| position);
            it.elements.push(written.iter().map(|it| is_element(it.position)).chain((0..count).map(Some)).collect());
            it.registers.push(written.iter().map(|it| flow.value(key(it.position, false), it.bits)).collect());
            it.stored.push((0..count).map(|position| flow.value(key(position, true), bits)).collect());
        }
        it
    }

    /// The bits that change in what an instruction makes if its guard is wrong: it leaves what was there, or makes what it
    /// computes.
    fn undone(&self, context: &InstructionContext<'_>, at: usize, lane: usize) -> Vec<u64> {
        let unknown = || vec![u64::MAX; self.registers[at].len() + self.stored[at].len()];
        self.evaluations[at].as_ref().map_or_else(unknown, |it| {
            let (before, after) = it.change(context.registers, lane);
            before.iter().zip(after).map(|(before, after)| folded(before ^ after)).collect()
        })
    }
}

fn is_followed(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic | Space::Shared)
}

impl Hook for Following<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, mut context: InstructionContext<'_>) -> Interest {
        let program = context.program;
        let Some(facts) = program.facts(context.instruction) else { return Interest::Stay };
        let first = context.warp as usize * LANES;
        if self.held.range(first..first + LANES).next().is_some() {
            for lane in lanes(context.active) {
                if let Some(mut thread) = self.held.remove(&(first + lane)) {
                    self.registers(&mut context, facts, lane, &mut thread);
                    self.held.insert(first + lane, thread);
                }
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
        context: &mut InstructionContext<'_>,
        facts: &Facts,
        lane: usize,
        thread: &mut FollowedThread,
    ) {
        let (kernel, weight, held) = (self.kernel, thread.weight, &mut thread.values);
        let (instruction, at) = (context.instruction, context.instruction as usize);
        let function = context.program.instructions[at].function.0;
        let by = |kind| (kernel.number, instruction, kind);
        let makes: Vec<usize> = kernel.registers[at].iter().chain(&kernel.stored[at]).copied().collect();
        if let Some(&value) = facts.guard.and_then(|guard| held.get(&(function, guard.pred.0))) {
            if matches!(facts.control, Control::Next | Control::Call) {
                let it = self.flow.used(value, by(UseKind::Sampled), weight, &makes);
                if it.is_looked_at() {
                    it.sampled(UseSample { traps: 0, changed: vec![kernel.undone(context, at, lane)] });
                }
            } else {
                self.flow.used(value, by(UseKind::Branch), weight, &[]);
            }
        }
        if context.executing >> lane & 1 == 0 {
            return;
        }
        *self.flow.executed.entry((kernel.number, instruction)).or_default() += weight;
        let mut seen = BTreeSet::new();
        for source in facts.of_role(Role::Source).filter(|it| seen.insert(it.register.0)) {
            let Some(&value) = held.get(&(function, source.register.0)) else { continue };
            let Some(slot) = context.program.slot(instruction, source.register) else { continue };
            let bits = self.flow.made[value].1;
            let is = |role| facts.of_role(role).find(|it| it.register == source.register);
            let access = facts
                .access
                .filter(|it| is_followed(it.space) && it.at.is_some_and(|(it, _)| it == Some(source.register)));
            if let Some(access) = access.filter(|_| is(Role::Address).is_some()) {
                let it = self.flow.used(value, by(UseKind::Sampled), weight, &makes);
                if it.is_looked_at() {
                    let elements: Vec<Option<u8>> = kernel.elements[at].clone();
                    let base = context.registers.get(slot, lane) as u64;
                    it.sampled(strays(context, &access, lane, base, bits, &elements));
                }
            } else if let Some(evaluation) = &kernel.evaluations[at] {
                let it = self.flow.used(value, by(UseKind::Sampled), weight, &makes);
                if it.is_looked_at() {
                    let results = |flip| evaluation.results(context.registers, lane, (slot, flip));
                    let golden = results(0);
                    let changed = |bit: u32| {
                        results(1u128 << bit).iter().zip(&golden).map(|(one, other)| folded(one ^ other)).collect()
                    };
                    it.sampled(UseSample { traps: 0, changed: (0..bits).map(changed).collect() });
                }
            } else {
                let stored = is(Role::Stored).and_then(|it| kernel.stored[at].get(usize::from(it.position)));
                let only: Vec<usize> = stored.copied().into_iter().collect();
                self.flow.used(value, by(UseKind::Carried), weight, if only.is_empty() { &makes } else { &only });
            }
        }
        for (it, &value) in facts.of_role(Role::Destination).zip(&kernel.registers[at]) {
            held.insert((function, it.register.0), value);
            self.flow.made[value].0 += weight;
        }
    }

    /// Follows the memory that the threads of a warp access.
    fn memory(&mut self, context: &InstructionContext<'_>, facts: &Facts) {
        let Some(access) = facts.access.filter(|it| is_followed(it.space)) else { return };
        let Some((register, offset)) = access.at else { return };
        let slot = register.and_then(|register| context.program.slot(context.instruction, register));
        let (kernel, at) = (self.kernel, context.instruction as usize);
        let owners = if access.space == Space::Shared { &mut self.owners.1 } else { &mut self.owners.0 };
        for element in 0..access.count {
            let stored = kernel.stored[at].get(usize::from(element)).copied();
            let mut read: BTreeMap<usize, f64> = BTreeMap::new();
            let step = offset + i64::from(access.element.bytes()) * i64::from(element);
            for lane in lanes(context.executing) {
                let base = slot.map_or(0, |slot| context.registers.get(slot, lane) as u64);
                let place = base.wrapping_add_signed(step);
                if let Some(value) = owners.get(place).filter(|_| access.effect != Effect::Write) {
                    *read.entry(value).or_default() += 1.0;
                }
                if let Some(value) = stored {
                    owners.insert(place, value);
                    self.flow.made[value].0 += 1.0;
                }
            }
            let loaded = kernel.registers[at].iter().zip(&kernel.elements[at]).filter(|(_, it)| **it == Some(element));
            let makes: Vec<usize> = loaded.map(|(value, _)| *value).chain(stored).collect();
            for (value, times) in read {
                self.flow.used(value, (kernel.number, context.instruction, UseKind::Carried), times, &makes);
            }
        }
    }
}

/// Changed bits of which those above the ones that are told apart count as the highest.
fn folded(changed: u128) -> u64 {
    let high = changed & !mask(BITS as u32) != 0;
    changed as u64 | u64::from(high) << (BITS - 1)
}
