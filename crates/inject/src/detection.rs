//! When protection notices a fault, and whether a corrupted value has left its thread by then.
//!
//! The stores of each thread in the block with the fault are compared with those of the golden run: which instructions, in which
//! order, at which addresses, with which values. Stores to local memory, which no other thread reads, do not count. Other blocks
//! read nothing corrupted unless such a store was made.

use crate::full::Injector;
use crate::rerun::When;
use crate::run::{InjectError, locate};
use crate::target::CapsuleTarget;
use facts::{Effect, Facts, Role, Space};
use fault::Fault;
use outcome::End;
use simt::memory::GlobalMemory;
use simt::registers::{LANES, Slot, lanes};
use simt::{Executor, Hook, InstructionContext, Interest, Program};
use std::collections::BTreeMap;

/// How protection noticed a fault in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detection {
    /// Instructions that the thread with the fault executed between the fault and the notification.
    pub latency: u64,
    /// Whether every store to global and shared memory before the notification was one of the golden run.
    pub contained: bool,
}

impl CapsuleTarget {
    /// Runs faults once more and says how protection noticed each; none of a fault that it did not notice.
    ///
    /// # Errors
    /// If a fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn detections(&self, faults: &[Fault]) -> Result<Vec<Option<Detection>>, InjectError> {
        let golden = self.golden_run();
        let mut by_launch: BTreeMap<u32, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
        for (at, fault) in faults.iter().enumerate() {
            locate(golden, fault)?;
            by_launch.entry(fault.launch).or_default().entry(fault.cta).or_default().push(at);
        }
        let mut found: Vec<Result<_, InjectError>> = faults.iter().map(|_| Ok(None)).collect();
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
        let mut injector = Injector::new(golden);
        for (number, blocks) in by_launch {
            let launch = &golden.launches()[number as usize];
            let stores = shared_stores(&launch.program);
            let threads = golden.threads_per_block(launch);
            let mut expected = StoreLog::new(&stores, threads);
            golden.rerun(launch, &mut memory, &mut executor, &mut expected, |expected, block, when| {
                let Some(of_block) = blocks.get(&block) else { return false };
                if when == When::Before {
                    *expected = StoreLog::new(&stores, threads);
                    return true;
                }
                for &at in of_block {
                    found[at] = detection(&mut injector, &faults[at], expected);
                }
                true
            });
        }
        found.into_iter().collect()
    }
}

fn detection(
    injector: &mut Injector<'_>,
    fault: &Fault,
    expected: &StoreLog<'_>,
) -> Result<Option<Detection>, InjectError> {
    let mut found = StoreLog::new(expected.stores, expected.threads.len());
    let (observation, executed) = injector.watched(fault, &mut found, &mut ())?;
    let contained = expected.threads.iter().zip(&found.threads).all(|(golden, found)| golden.starts_with(found));
    let detection = Detection { latency: executed.saturating_sub(fault.dynamic + 1), contained };
    Ok(matches!(observation.end, End::Detected { .. }).then_some(detection))
}

/// A register that a store reads, and how many of its bits.
type StoredRegister = (Slot, u32);

/// By instruction, the registers that tell what it stores where; none if it writes no memory that others see.
fn shared_stores(program: &Program) -> Vec<Option<Vec<StoredRegister>>> {
    let of = |number: u32| {
        let facts = program.facts(number)?;
        let registers = stored(facts)?;
        Some(registers.filter_map(|it| Some((program.slot(number, it.register)?, it.bits))).collect())
    };
    (0..program.instructions.len() as u32).map(of).collect()
}

fn stored(facts: &Facts) -> Option<impl Iterator<Item = &facts::Operand>> {
    let effect = facts.access.map(|access| access.effect);
    let is_own = facts.access.is_some_and(|access| matches!(access.space, Space::Local | Space::Param));
    let writes = facts.stores || matches!(effect, Some(Effect::Write | Effect::Update));
    // What an atomic instruction compares decides what it stores, as well.
    let is_plain = effect == Some(Effect::Write);
    let tells = move |role: Role| match role {
        Role::Address | Role::Stored => is_plain,
        Role::Source => !is_plain,
        Role::Destination => false,
    };
    (writes && !is_own).then(|| facts.operands.iter().filter(move |operand| tells(operand.role)))
}

/// The stores of the threads of a block.
struct StoreLog<'a> {
    stores: &'a [Option<Vec<StoredRegister>>],
    /// By thread, a hash of each store, in order.
    threads: Vec<Vec<u64>>,
}

impl<'a> StoreLog<'a> {
    fn new(stores: &'a [Option<Vec<StoredRegister>>], threads: usize) -> Self {
        Self { stores, threads: vec![Vec::new(); threads.next_multiple_of(LANES)] }
    }
}

impl Hook for StoreLog<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(registers) = &self.stores[context.instruction as usize] else { return Interest::Stay };
        for lane in lanes(context.executing) {
            let values = registers.iter().map(|&(slot, bits)| {
                let value = context.registers.get(slot, lane);
                if bits < u128::BITS { value & ((1 << bits) - 1) } else { value }
            });
            let words = values.flat_map(|value| [value as u64, (value >> 64) as u64]);
            let hash = words.fold(u64::from(context.instruction), mix);
            self.threads[context.warp as usize * LANES + lane].push(hash);
        }
        Interest::Stay
    }
}

/// One step of a hash: FNV's, on whole words, with a rotation so that high bits come down.
fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}
