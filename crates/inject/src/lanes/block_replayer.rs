//! A block, ready for replicas of its threads.

use super::record::Recorder;
use super::touches::Touches;
use crate::golden::Golden;
use crate::index::Index;
use crate::run::fuel;
use simt::memory::{AccessTrace, GlobalMemory, Owners, Pages, Version};
use simt::registers::LANES;
use simt::replica::guide::{Guide, Record};
use simt::replica::{ReplicaContext, Write};
use simt::{Executor, Hook, NoHook, Replica};
use std::sync::Arc;

/// One block, and memory as it was before it.
#[derive(Debug)]
pub(super) struct BlockReplayer<'g> {
    golden: &'g Golden,
    index: Arc<Index>,
    clean: Arc<dyn Pages>,
    memory: GlobalMemory,
    executor: Executor,
    owners: Owners,
    /// Where it stands.
    at: Option<Place>,
    /// By launch, made when first needed.
    touches: Vec<Option<Arc<Touches>>>,
}

#[derive(Debug)]
struct Place {
    launch: usize,
    block: u32,
    independence: Independence,
    /// The warp whose threads are on record, and what they did.
    records: Option<(u32, Vec<Record>)>,
}

/// What replicas of the threads of a block go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Independence {
    /// The threads depend on no other: each goes its own way.
    Free,
    /// They go by what their thread did.
    Guided,
    /// Nothing: there can be none.
    None,
}

impl<'g> BlockReplayer<'g> {
    pub(super) fn new(golden: &'g Golden, index: &Arc<Index>) -> Self {
        Self {
            golden,
            index: Arc::clone(index),
            clean: Arc::clone(index) as Arc<dyn Pages>,
            memory: GlobalMemory::new(),
            executor: Executor::new(golden.level),
            owners: Owners::default(),
            at: None,
            touches: vec![None; golden.launches.len()],
        }
    }

    /// What the instructions of a launch read and write.
    pub(super) fn touches(&mut self, launch: usize) -> Arc<Touches> {
        let program = &self.golden.launches[launch].program;
        Arc::clone(self.touches[launch].get_or_insert_with(|| Arc::new(Touches::of(program))))
    }

    /// Stands at a block, and finds out what replicas of its threads go by.
    pub(super) fn enter(&mut self, launch: usize, block: u32) -> Independence {
        if let Some(place) = self.at.as_ref().filter(|place| (place.launch, place.block) == (launch, block)) {
            return place.independence;
        }
        let prepared = self.at.as_ref().is_some_and(|place| place.launch == launch);
        let golden = &self.golden.launches[launch];
        let runnable = self.golden.runnable(golden);
        let mut place = Place { launch, block, independence: Independence::None, records: None };
        if !prepared {
            self.executor.prepare(&runnable);
        }
        let index = Arc::clone(&self.index);
        // What a launch that runs whole finds in memory before a block is not known.
        let indexed = index.launch(launch).filter(|_| !runnable.is_together());
        if let Some(index) = indexed {
            let touches = self.touches(launch);
            self.owners.clear();
            self.memory.set_trace(Some(AccessTrace::by_thread(std::mem::take(&mut self.owners))));
            self.run_block(&place, &mut NoHook);
            self.owners = self.memory.set_trace(None).and_then(AccessTrace::into_owners).unwrap_or_default();
            let strays = index.strayed_before(block + 1) - index.strayed_before(block);
            place.independence = match strays {
                0 if touches.is_solitary() && !self.owners.is_tangled() => Independence::Free,
                0 => Independence::Guided,
                _ => Independence::None,
            };
        }
        self.rewind(&place);
        let independence = place.independence;
        self.at = Some(place);
        independence
    }

    /// Runs the whole block, from memory as it was before it.
    fn run_block(&mut self, place: &Place, hook: &mut dyn Hook) {
        let launch = &self.golden.launches[place.launch];
        let runnable = self.golden.runnable(launch);
        self.memory.reset(&self.clean, Version { event: launch.event as u32, block: place.block });
        self.executor.run_block(&runnable, &mut self.memory, u64::from(place.block), fuel(self.golden, launch), hook);
    }

    /// Goes back to before the block.
    fn rewind(&mut self, place: &Place) {
        let launch = &self.golden.launches[place.launch];
        let runnable = self.golden.runnable(launch);
        self.memory.reset(&self.clean, Version { event: launch.event as u32, block: place.block });
        self.executor.begin_block(&runnable, u64::from(place.block), fuel(self.golden, launch));
    }

    /// Puts the warp of a thread on record.
    fn put_on_record(&mut self, thread: u32) {
        let warp = thread / LANES as u32;
        let Some(mut place) = self.at.take() else { return };
        let known = place.records.as_ref().is_some_and(|(known, _)| *known == warp);
        if !known {
            let touches = self.touches(place.launch);
            let mut recorder = Recorder::new(touches.ports(), warp);
            self.run_block(&place, &mut recorder);
            place.records = Some((warp, recorder.finish()));
            self.rewind(&place);
        }
        self.at = Some(place);
    }

    /// The instructions that a thread of the block comes to, and whether it executes them.
    pub(super) fn path(&mut self, thread: u32) -> Vec<(u32, bool)> {
        self.put_on_record(thread);
        let records = self.at.as_ref().and_then(|place| place.records.as_ref());
        records.map_or_else(Vec::new, |(_, records)| records[thread as usize % LANES].path.clone())
    }

    /// Makes a replica of a thread of the block at its start.
    pub(super) fn start(&mut self, replica: &mut Replica, thread: u32) {
        if self.at.as_ref().is_some_and(|place| place.independence == Independence::Guided) {
            self.put_on_record(thread);
        }
        let Some(place) = &self.at else { return };
        let launch = &self.golden.launches[place.launch];
        replica.start(&self.executor, &self.golden.runnable(launch), thread);
    }

    /// Runs every lane of a replica to its end, or a replica without faults for some instructions; whether the thread
    /// executes as many.
    pub(super) fn run(&mut self, replica: &mut Replica, thread: u32, instructions: Option<u64>) -> bool {
        let Some(place) = &self.at else { return false };
        let launch = &self.golden.launches[place.launch];
        let runnable = self.golden.runnable(launch);
        let records = place.records.as_ref().filter(|_| place.independence == Independence::Guided);
        let record = records.map(|(_, records)| &records[thread as usize % LANES]);
        let touches = self.touches[place.launch].as_ref();
        let guide = record.zip(touches).map(|(record, touches)| Guide { ports: touches.ports(), record });
        let context = ReplicaContext { memory: &mut self.memory, owners: &self.owners, guide };
        match instructions {
            Some(instructions) => replica.step(&runnable, u64::from(place.block), context, instructions),
            None => {
                replica.run(&runnable, u64::from(place.block), context);
                false
            }
        }
    }

    /// The bytes that end otherwise if a thread writes this and not what it wrote in the golden run, with their values,
    /// ascending.
    pub(super) fn difference(&mut self, golden: &[Write], found: impl Iterator<Item = Write>) -> Vec<(u64, u8)> {
        let (golden, found) = (bytes(golden.iter().copied()), bytes(found));
        let mut golden = golden.into_iter().peekable();
        let mut differs = Vec::new();
        let before = |at: u64, memory: &mut GlobalMemory| {
            let mut byte = [0];
            let _ = memory.copy_out(at, &mut byte);
            byte[0]
        };
        for (at, value) in found {
            while let Some((missing, expected)) = golden.next_if(|(address, _)| *address < at) {
                let left = before(missing, &mut self.memory);
                differs.extend((left != expected).then_some((missing, left)));
            }
            let expected = golden.next_if(|(address, _)| *address == at).map(|(_, value)| value);
            let expected = expected.unwrap_or_else(|| before(at, &mut self.memory));
            differs.extend((value != expected).then_some((at, value)));
        }
        for (missing, expected) in golden {
            let left = before(missing, &mut self.memory);
            differs.extend((left != expected).then_some((missing, left)));
        }
        differs
    }
}

/// The bytes that writes leave behind, ascending.
fn bytes(writes: impl Iterator<Item = Write>) -> Vec<(u64, u8)> {
    let of = |write: Write| {
        (write.address..).zip(write.value.to_le_bytes()).take(usize::from(write.bytes)).collect::<Vec<_>>()
    };
    let mut bytes: Vec<(u64, u8)> = writes.flat_map(of).collect();
    // Of several writes to a byte the last one stays.
    bytes.reverse();
    bytes.sort_by_key(|(address, _)| *address);
    bytes.dedup_by_key(|(address, _)| *address);
    bytes
}
