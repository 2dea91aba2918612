//! What the elements of buffers in device memory are: what kernels load from them and store to them.
//!
//! Launches are executed again, one for each kernel and the buffers that it is given, that which executes most; each byte
//! of a buffer remembers the clearest of the types that are stored to it or loaded from it: a float more than a signed
//! integer, that more than one of which nothing shows the sign (zeros are often stored as integers); of two that are as
//! clear, the last store. A type that more than half of these bytes have is the buffer's.

use super::evidence::{Definitions, Stored};
use super::uses::Uses;
use super::{BLOCKS_TOGETHER, Unclear};
use crate::golden::{Golden, GoldenLaunch};
use capsule::ElementType;
use facts::{Effect, Space};
use simt::memory::{Allocations, ByteRun, GlobalMemory, PAGE, Version};
use simt::program::StaticInstruction;
use simt::registers::{Slot, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::{BTreeMap, BTreeSet};

/// So many bytes of a buffer tell whether its integers are signed.
const SIGN_BYTES: u64 = 1 << 20;

/// The types of buffers, `(address, bytes)` as they are allocated, in their order; why not, where one has none.
#[must_use]
pub fn buffer_elements(golden: &Golden, buffers: &[(u64, u64)]) -> Vec<Result<ElementType, Unclear>> {
    let mut accessed =
        Accessed { kinds: Vec::new(), bytes: BTreeMap::new(), alive: Vec::new(), instructions: Vec::new() };
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    for launch in telling(golden, buffers) {
        let allocations = golden.history.allocations(Version::before(launch.event as u32));
        accessed.alive = alive(&allocations, buffers);
        accessed.instructions = accesses(launch);
        let together = golden.runnable(launch).is_together();
        golden.rerun(launch, &mut memory, &mut executor, &mut accessed, |_, block, _| {
            !together || block < BLOCKS_TOGETHER
        });
    }
    (0..).zip(buffers).map(|(buffer, &place)| accessed.verdict(golden, buffer, place)).collect()
}

/// The buffers that are allocated: address, bytes and number, by ascending address.
fn alive(allocations: &Allocations, buffers: &[(u64, u64)]) -> Vec<(u64, u64, usize)> {
    let there = |&(_, &(address, bytes)): &(usize, &(u64, u64))| allocations.holding(address) == Some((address, bytes));
    let mut alive: Vec<_> =
        buffers.iter().enumerate().filter(there).map(|(number, &(address, bytes))| (address, bytes, number)).collect();
    alive.sort_unstable();
    alive
}

/// The launches that are executed again, in order.
fn telling<'g>(golden: &'g Golden, buffers: &[(u64, u64)]) -> Vec<&'g GoldenLaunch> {
    let mut most: BTreeMap<(&str, BTreeSet<usize>), (u64, usize)> = BTreeMap::new();
    for (number, launch) in golden.launches().iter().enumerate() {
        let allocations = golden.history.allocations(Version::before(launch.event as u32));
        let words = golden.recorded(launch).params.chunks_exact(8);
        let given = words.filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
        let given = given.filter_map(|address| allocations.holding(address));
        let given = given.filter_map(|place| buffers.iter().position(|&buffer| buffer == place)).collect();
        let executed = launch.thread_instructions();
        let of = most.entry((&launch.program.name, given)).or_insert((executed, number));
        if executed > of.0 {
            *of = (executed, number);
        }
    }
    let numbers: BTreeSet<usize> = most.into_values().map(|(_, number)| number).collect();
    numbers.into_iter().map(|number| &golden.launches()[number]).collect()
}

/// What an instruction accesses.
#[derive(Clone, Copy)]
struct Accessing {
    base: Option<Slot>,
    offset: i64,
    bytes: u64,
    found: Stored,
    stores: bool,
}

/// What each instruction of a launch's program accesses in global memory.
fn accesses(launch: &GoldenLaunch) -> Vec<Option<Accessing>> {
    let program = &launch.program;
    let mut functions = BTreeMap::new();
    let access = |(number, instruction): (u32, &StaticInstruction)| {
        let facts = instruction.facts.as_ref()?;
        let access = facts.access.filter(|access| matches!(access.space, Space::Global | Space::Generic))?;
        let code = program.function(instruction.function)?;
        let (definitions, uses) =
            functions.entry(code.id).or_insert_with(|| (Definitions::of(program, code), Uses::of(program, code)));
        let stores = access.effect != Effect::Read;
        let found = if stores { definitions.stored(access.element, facts) } else { uses.loaded(access.element, facts) };
        let (register, offset) = access.at?;
        let base = match register {
            Some(register) => Some(program.slot(number, register)?),
            None => None,
        };
        Some(Accessing { base, offset, bytes: access.bytes().into(), found, stores })
    };
    (0..).zip(&program.instructions).map(access).collect()
}

/// Notes every access to the buffers.
struct Accessed {
    /// What was found anywhere; bytes name it by its place here, from 1.
    kinds: Vec<Stored>,
    /// By buffer and page.
    bytes: BTreeMap<(usize, u32), Box<[u8; PAGE]>>,
    alive: Vec<(u64, u64, usize)>,
    instructions: Vec<Option<Accessing>>,
}

impl Hook for Accessed {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(access) = self.instructions[context.instruction as usize] else { return Interest::Stay };
        let kind = self.kind(access.found);
        for lane in lanes(context.executing) {
            let base = access.base.map_or(0, |slot| context.registers.get(slot, lane) as u64);
            self.note(base.wrapping_add_signed(access.offset), access, kind);
        }
        Interest::Stay
    }
}

impl Accessed {
    fn kind(&mut self, found: Stored) -> u8 {
        let place = self.kinds.iter().position(|&known| known == found).unwrap_or_else(|| {
            self.kinds.push(found);
            self.kinds.len() - 1
        });
        // There are fewer types than bytes have values.
        (place + 1).min(usize::from(u8::MAX)) as u8
    }

    fn note(&mut self, address: u64, access: Accessing, kind: u8) {
        let after = self.alive.partition_point(|&(start, ..)| start <= address);
        let Some(&(start, bytes, buffer)) = after.checked_sub(1).and_then(|at| self.alive.get(at)) else { return };
        let left = bytes.saturating_sub(address - start);
        for run in ByteRun::of(address, access.bytes.min(left)) {
            let known = self.bytes.entry((buffer, run.page)).or_insert_with(|| Box::new([0; PAGE]));
            for known in &mut known[run.range()] {
                let before = usize::from(*known).checked_sub(1).map(|at| self.kinds[at].clarity());
                let clarity = access.found.clarity();
                if before.is_none_or(|before| before < clarity || (access.stores && before == clarity)) {
                    *known = kind;
                }
            }
        }
    }

    fn verdict(&self, golden: &Golden, buffer: usize, place: (u64, u64)) -> Result<ElementType, Unclear> {
        let mut votes = vec![0u64; self.kinds.len()];
        let pages = self.bytes.range((buffer, 0)..=(buffer, u32::MAX));
        for at in pages.flat_map(|(_, kinds)| kinds.iter()).filter_map(|&kind| usize::from(kind).checked_sub(1)) {
            votes[at] += 1;
        }
        let all: u64 = votes.iter().sum();
        let most = votes.iter().enumerate().max_by_key(|(_, votes)| **votes).filter(|_| all > 0);
        let Some((winner, &count)) = most else { return Err(Unclear::NoAccess) };
        if 2 * count <= all {
            return Err(Unclear::Mixed);
        }
        match self.kinds[winner].element(&last_bytes(golden, place)) {
            None => Err(Unclear::Untyped),
            Some(element) if !place.1.is_multiple_of(element.bytes()) => Err(Unclear::Cut(element)),
            Some(element) => Ok(element),
        }
    }
}

/// What a buffer begins with after the last launch that it is there for.
fn last_bytes(golden: &Golden, place: (u64, u64)) -> Vec<u8> {
    let there = |launch: &&GoldenLaunch| {
        golden.history.allocations(Version::before(launch.event as u32)).holding(place.0) == Some(place)
    };
    let Some(launch) = golden.launches().iter().rev().find(there) else { return Vec::new() };
    let after = Version::before(launch.event as u32 + 1);
    let mut bytes = Vec::new();
    for run in ByteRun::of(place.0, place.1.min(SIGN_BYTES)) {
        match golden.history.page(run.page, after) {
            Some(page) => bytes.extend_from_slice(&page[run.range()]),
            None => bytes.resize(bytes.len() + run.range().len(), 0),
        }
    }
    bytes
}
