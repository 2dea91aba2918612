//! Which loads see what each store to global memory wrote: the list of the loads that read a byte of it before it is overwritten.
//!
//! A list has the static loads of all threads, blocks and launches in the order of execution, with repetitions, and each copy to
//! the host. It is kept as a hash of 128 bits. Accesses that say no address (surfaces, tiles of matrices, textures) are not
//! seen; atomic instructions read and overwrite, and have no list of their own.

use crate::golden::{Golden, GoldenLaunch};
use crate::rerun::When;
use capsule::Region;
use facts::{Effect, Space};
use simt::memory::GlobalMemory;
use simt::program::Program;
use simt::registers::{LANES, Slot, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::HashMap;

/// Bytes of memory whose owners are kept together.
const PAGE: u64 = 4096;

/// An odd number that spreads hashes.
const SPREAD: u128 = 0x2d35_8dcc_aa6c_78a5_8bb8_4b93_962e_acc9;

/// The lists of the stores of some launches.
#[derive(Debug)]
pub struct StoreLists {
    /// By store, in the order of execution: its thread in the launch, and the hash of its list.
    stores: Vec<(u32, u128)>,
    /// By launch, its stores; none where they are not kept.
    launches: Vec<Option<std::ops::Range<usize>>>,
    /// By page, for each granule the store that wrote it last, from 1; 0 if it is not known.
    owners: HashMap<u64, Vec<u32>>,
    /// Bytes that have one owner.
    granule: u64,
    /// How many stores and pages there may be.
    most: (usize, usize),
    is_cut: bool,
}

/// The lists of the threads of a launch.
#[derive(Clone, Debug)]
pub struct ThreadLists {
    /// By thread, where its lists begin; behind the last one their end.
    starts: Vec<u32>,
    lists: Vec<u128>,
}

/// An access whose address is known.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    effect: Effect,
    base: Option<Slot>,
    offset: i64,
    bytes: u64,
}

impl StoreLists {
    /// The lists of the stores of some launches, by launch, with at most this number of stores, and of pages of 4 KiB that are
    /// touched. Launches that would need more have none.
    #[must_use]
    pub fn of(golden: &Golden, selected: &[bool], most: (usize, usize)) -> Self {
        let launches = vec![None; golden.launches().len()];
        let accesses = |launch: &GoldenLaunch| tracked(&launch.program).into_iter().flatten();
        let bytes = golden.launches().iter().flat_map(accesses).map(|it| it.bytes.max(1) | 8);
        let granule = bytes.map(|bytes: u64| 1 << bytes.trailing_zeros()).min().unwrap_or(8);
        let mut lists = Self { stores: Vec::new(), launches, owners: HashMap::new(), granule, most, is_cut: false };
        let first = selected.iter().position(|selected| *selected).unwrap_or(selected.len());
        let mut event = golden.launches().get(first).map_or(0, |launch| launch.event);
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
        for (number, launch) in golden.launches().iter().enumerate().skip(first) {
            lists.follow(golden, event..launch.event);
            event = launch.event + 1;
            lists.run(golden, (number, launch), selected[number], (&mut memory, &mut executor));
        }
        lists.follow(golden, event..golden.capsule().events.len());
        lists.owners = HashMap::new();
        lists
    }

    /// Whether some launch has no lists because there were more stores than may be kept.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The lists of a launch, each thread's in the order of its stores; `None` if they are not kept.
    #[must_use]
    pub fn of_launch(&self, launch: usize, threads: usize) -> Option<ThreadLists> {
        let stores = &self.stores[self.launches.get(launch)?.clone()?];
        let mut starts = vec![0_u32; threads + 1];
        stores.iter().for_each(|(thread, _)| starts[*thread as usize + 1] += 1);
        (0..threads).for_each(|thread| starts[thread + 1] += starts[thread]);
        let (mut next, mut lists) = (starts.clone(), vec![0; stores.len()]);
        for (thread, list) in stores {
            let at = &mut next[*thread as usize];
            lists[*at as usize] = *list;
            *at += 1;
        }
        Some(ThreadLists { starts, lists })
    }

    /// Whether an instruction of a program is a store that has a list.
    #[must_use]
    pub fn listed(program: &Program) -> Vec<bool> {
        tracked(program).iter().map(|it| it.is_some_and(|it| it.effect == Effect::Write)).collect()
    }

    fn run(
        &mut self,
        golden: &Golden,
        (number, launch): (usize, &GoldenLaunch),
        selected: bool,
        (memory, executor): (&mut GlobalMemory, &mut Executor),
    ) {
        let size = golden.threads_per_block(launch);
        // Blocks that wait for each other are executed again for each that is looked at: the order is not that of the run.
        let together = launch.waits || golden.runnable(launch).is_together();
        let begin = self.stores.len();
        let kernel = launch.program.name.bytes().fold(1, |hash, byte| fold(hash, u64::from(byte)));
        let keeps = selected && !together && !self.is_cut;
        let accesses = tracked(&launch.program);
        let mut following = LoadReplay { lists: self, accesses, kernel, keeps, first: 0 };
        golden.rerun(launch, memory, executor, &mut following, |following, block, when| {
            if when == When::Before {
                following.first = block * size as u64;
            }
            true
        });
        let kept = following.keeps;
        if kept {
            self.launches[number] = Some(begin..self.stores.len());
        } else if keeps {
            // What was written stays without an owner that is asked for.
            self.is_cut = true;
        }
    }

    /// Follows what the host does.
    fn follow(&mut self, golden: &Golden, events: std::ops::Range<usize>) {
        let bytes = |region: &Region| region.rows().collect::<Vec<_>>();
        for event in events {
            let Some(it) = golden.capsule().events.get(event) else { continue };
            for (address, bytes) in it.reads().map(bytes).unwrap_or_default() {
                self.read(address, bytes, fold(2, event as u64));
            }
            for (address, bytes) in it.writes().map(bytes).unwrap_or_default() {
                self.write(address, bytes, 0);
            }
        }
    }

    /// A load of some bytes.
    fn read(&mut self, address: u64, bytes: u64, symbol: u128) {
        let (granule, mut last) = (self.granule, 0);
        for (page, range) in pages(address, bytes) {
            let Some(owners) = self.owners.get(&page) else { continue };
            for &owner in &owners[(range.start / granule) as usize..range.end.div_ceil(granule) as usize] {
                if owner != last
                    && let Some((_, list)) = (owner as usize).checked_sub(1).and_then(|at| self.stores.get_mut(at))
                {
                    *list = fold(*list, symbol as u64 ^ (symbol >> 64) as u64);
                }
                last = owner;
            }
        }
    }

    /// A store to some bytes by a store of this number, from 1; 0 for any other. Whether it could be noted.
    fn write(&mut self, address: u64, bytes: u64, owner: u32) -> bool {
        let granule = self.granule;
        for (page, range) in pages(address, bytes) {
            if owner == 0 && !self.owners.contains_key(&page) {
                continue;
            }
            if self.owners.len() >= self.most.1 && !self.owners.contains_key(&page) {
                return false;
            }
            let owners = self.owners.entry(page).or_insert_with(|| vec![0; (PAGE / granule) as usize]);
            owners[(range.start / granule) as usize..range.end.div_ceil(granule) as usize].fill(owner);
        }
        true
    }
}

impl ThreadLists {
    /// The lists of the stores of a thread, in their order.
    #[must_use]
    pub fn of(&self, thread: usize) -> &[u128] {
        match (self.starts.get(thread), self.starts.get(thread + 1)) {
            (Some(&from), Some(&to)) => &self.lists[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// Follows what the threads of a block do.
struct LoadReplay<'a> {
    lists: &'a mut StoreLists,
    accesses: Vec<Option<Tracked>>,
    kernel: u128,
    /// Whether stores get lists.
    keeps: bool,
    /// The first thread of the block.
    first: u64,
}

impl Hook for LoadReplay<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(Tracked { effect, base, offset, bytes }) = self.accesses[context.instruction as usize] else {
            return Interest::Stay;
        };
        let symbol = fold(self.kernel, u64::from(context.instruction));
        for lane in lanes(context.executing) {
            let base = base.map_or(0, |slot| context.registers.get(slot, lane) as u64);
            let address = base.wrapping_add_signed(offset);
            if effect != Effect::Write {
                self.lists.read(address, bytes, symbol);
            }
            if effect != Effect::Read {
                let thread = self.first + u64::from(context.warp) * LANES as u64 + lane as u64;
                let owner = if effect == Effect::Write { self.owner(thread) } else { 0 };
                self.keeps &= self.lists.write(address, bytes, owner) || !self.keeps;
            }
        }
        Interest::Stay
    }
}

impl LoadReplay<'_> {
    /// The number of a new store of a thread; 0 if it has no list.
    fn owner(&mut self, thread: u64) -> u32 {
        let Some(thread) = u32::try_from(thread).ok().filter(|_| self.keeps) else { return 0 };
        if self.lists.stores.len() >= self.lists.most.0 {
            self.keeps = false;
            return 0;
        }
        self.lists.stores.push((thread, 0));
        self.lists.stores.len() as u32
    }
}

fn tracked(program: &Program) -> Vec<Option<Tracked>> {
    let of = |number: u32| {
        let access = program.facts(number)?.access?;
        let (register, offset) = access.at.filter(|_| matches!(access.space, Space::Global | Space::Generic))?;
        let base = match register {
            Some(register) => Some(program.slot(number, register)?),
            None => None,
        };
        Some(Tracked { effect: access.effect, base, offset, bytes: access.bytes().into() })
    };
    (0..program.instructions.len() as u32).map(of).collect()
}

/// The pages of some bytes, each with the bytes within it.
fn pages(address: u64, bytes: u64) -> impl Iterator<Item = (u64, std::ops::Range<u64>)> {
    let end = address.saturating_add(bytes);
    (address / PAGE..end.div_ceil(PAGE)).map(move |page| {
        let from = address.max(page * PAGE) - page * PAGE;
        (page, from..(end - page * PAGE).min(PAGE))
    })
}

/// Adds a symbol to a hash.
fn fold(hash: u128, symbol: u64) -> u128 {
    let hash = (hash ^ u128::from(symbol).wrapping_mul(SPREAD)).wrapping_mul(SPREAD | 1).wrapping_add(1);
    hash.rotate_left(59)
}
