//! The golden run: a capsule executed without a fault, and what injection runs need to know of it.
//!
//! It keeps the memory at the start of every launch (as pages that changed), the bytes of every copy to the host,
//! and how many instructions each thread executed. It must reproduce the recording: a copy to the host with other
//! bytes than recorded is an error, because every outcome would be judged against the wrong thing.

use crate::compare::Reference;
use crate::machine::{MachineWords, Order};
use capsule::{Capsule, ElementType, Event, Launch, Output, Position};
use counts::{Counts, CountsView};
use device::{
    AddressProfile, Contract, DeviceError, Guests, Interleavings, KernelRace, Modules, PROTECTION_SETS, RaceSearch,
    TrapReport, runnable,
};
use facts::NamedSet;
use fault::{Isa, base_name};
use simt::memory::Pages;
use simt::{Interleaving, LevelName, Program};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Why there is no golden run.
#[derive(Debug, Error)]
pub enum GoldenError {
    /// The device could not do what the capsule asks for.
    #[error("replay event {event} of the capsule ({what})")]
    Event {
        /// The event, from 0.
        event: usize,
        /// What it is.
        what: &'static str,
        /// Why not.
        #[source]
        source: Box<DeviceError>,
    },
    /// Some of the capsule's contents cannot be read.
    #[error(transparent)]
    Capsule(#[from] capsule::Error),
    /// A module has no code that a guest reads.
    #[error(
        "load module {0}: the capsule holds no PTX for it; build the application with PTX embedded (-arch=sm_80 does)"
    )]
    NoCode(u32),
    /// The program traps without any fault.
    #[error("complete the fault-free run: {0}")]
    Trapped(Box<TrapReport>),
    /// The run differs from the recording.
    #[error("reproduce the recording: copy {copy} to the host (event {event}) gives other bytes than were recorded")]
    Differs {
        /// The copy among all copies to the host.
        copy: u32,
        /// The event.
        event: usize,
    },
    /// A guest whose name no fault id can have.
    #[error("name faults of the instruction set {0:?}: a name is 1 to 23 of a-z, 0-9, '-', '_' and '.'")]
    Guest(&'static str),
    /// Nothing is launched.
    #[error("find work: the capsule launches no kernel")]
    NoLaunch,
}

/// One launch of the golden run.
#[derive(Debug)]
pub struct GoldenLaunch {
    /// Its event; also the version of memory at its start.
    pub event: usize,
    /// Its number among the launches of its kernel.
    pub number: u32,
    /// The kernel.
    pub program: Arc<Program>,
    /// Its instruction set.
    pub isa: Isa,
    /// How finely its warps take turns.
    pub interleaving: Interleaving,
    /// Whether its blocks waited for each other although it is not cooperative.
    pub waits: bool,
    /// Instructions that each thread executed.
    pub(crate) counts: Counts<u32>,
    /// The pages that it wrote.
    pub(crate) written: Vec<u32>,
    /// Its accesses outside every allocation.
    pub(crate) strayed: u64,
    /// What it printed.
    pub printed: Vec<u8>,
}

impl GoldenLaunch {
    /// Instructions that each thread executed, linear in the launch.
    #[must_use]
    pub fn counts(&self) -> CountsView<'_, u32> {
        self.counts.view()
    }

    /// Instructions that the threads of one of its blocks executed, of which each has so many.
    pub(crate) fn instructions_of(&self, block: u64, threads: u32) -> u64 {
        let start = block * u64::from(threads);
        self.counts().range(start..start + u64::from(threads)).map(u64::from).sum()
    }

    /// Instructions that all its threads executed.
    #[must_use]
    pub fn thread_instructions(&self) -> u64 {
        self.counts().total()
    }
}

/// One copy to the host.
#[derive(Debug)]
pub struct GoldenCopy {
    /// Its event.
    pub event: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The output that it is, by position among the outputs.
    pub output: Option<usize>,
    /// Whether a difference in it counts for nothing, because the criteria name its buffer as scratch.
    pub scratch: bool,
}

/// A fault-free run.
#[derive(Debug)]
pub struct Golden {
    pub(crate) capsule: Arc<Capsule>,
    pub(crate) modules: Modules,
    pub(crate) history: Arc<dyn Pages>,
    pub(crate) launches: Vec<GoldenLaunch>,
    /// Whether kernels may print; every run asks.
    pub(crate) prints: bool,
    pub(crate) copies: Vec<GoldenCopy>,
    /// Whether the host acts on what it gets after the last launch, once somebody has found out.
    pub(crate) acts_at_end: OnceLock<()>,
    pub(crate) outputs: Vec<Output>,
    /// What the outputs are compared with, in their order.
    pub(crate) references: Vec<Reference>,
    pub(crate) level: LevelName,
    pub(crate) addresses: Arc<AddressProfile>,
    pub(crate) contract: Contract,
    pub(crate) order: Order,
    /// The data races that were found.
    pub(crate) races: Vec<KernelRace>,
    /// How far they were looked for.
    pub(crate) race_search: RaceSearch,
    /// The pages that were ever written, ascending.
    pub(crate) written: Vec<u32>,
    /// Bytes of memory, copies and counts that are kept.
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    pub(crate) race_seconds: f64,
    pub(crate) fuel: u32,
    pub(crate) loops: u64,
    pub(crate) looks_ahead: bool,
}

impl Golden {
    /// The capsule.
    #[must_use]
    pub fn capsule(&self) -> &Arc<Capsule> {
        &self.capsule
    }

    /// The launches, in order.
    #[must_use]
    pub fn launches(&self) -> &[GoldenLaunch] {
        &self.launches
    }

    /// The outputs that runs are judged by.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The copies to the host, in order.
    #[must_use]
    pub fn copies(&self) -> &[GoldenCopy] {
        &self.copies
    }

    /// From now on, a difference in what the host gets after the last launch is one that the host can act on, too: its
    /// application was seen to do so. To be said before the first run.
    pub fn host_acts_at_end(&self) {
        let _ = self.acts_at_end.set(());
    }

    /// How an output differs whose bytes are these.
    #[must_use]
    pub fn compare(&self, output: usize, found: &[u8]) -> outcome::OutputDiff {
        let copy = self.copies.iter().find(|copy| copy.output == Some(output));
        self.references[output].compare(copy.map_or(&[], |copy| &copy.bytes), found)
    }

    /// Compares outputs by these types and within these ranges from now on; in the order of the outputs.
    pub(crate) fn judge_by(&mut self, elements: &[Option<ElementType>], ranges: &[Option<[f64; 2]>]) {
        for (output, element) in self.outputs.iter_mut().zip(elements) {
            output.element = *element;
        }
        let made = references(&self.outputs, &self.copies).into_iter();
        self.references = made.zip(ranges).map(|(reference, range)| reference.within(*range)).collect();
    }

    /// How large the elements of an output are: the root mean square of its golden bytes.
    #[must_use]
    pub fn scale(&self, output: usize) -> f64 {
        self.references[output].scale()
    }

    /// Threads over all launches.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.launches.iter().map(|launch| launch.counts().threads()).sum()
    }

    /// Instructions executed by all threads.
    #[must_use]
    pub fn thread_instructions(&self) -> u64 {
        self.launches.iter().map(GoldenLaunch::thread_instructions).sum()
    }

    /// How long it took, data races not looked for.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// How long it took to look for data races.
    #[must_use]
    pub fn race_seconds(&self) -> f64 {
        self.race_seconds
    }

    /// The recorded launch behind a golden one.
    #[must_use]
    pub fn recorded(&self, launch: &GoldenLaunch) -> &Launch {
        match &self.capsule.events[launch.event] {
            Event::Launch(recorded) => recorded,
            _ => unreachable!("golden launches are made from launch events only"),
        }
    }

    /// The last launch before an event.
    pub(crate) fn launch_before(&self, event: usize) -> Option<&GoldenLaunch> {
        self.launches[..self.launches.partition_point(|launch| launch.event < event)].last()
    }

    /// Where a launch stands among the events of the capsule.
    pub(crate) fn position(&self, number: usize) -> Position {
        let event = self.launches[number].event;
        Position { event, launches: number, copies: self.copies.partition_point(|copy| copy.event < event) }
    }

    /// A launch as the machine wants it.
    pub(crate) fn runnable<'g>(&'g self, launch: &'g GoldenLaunch) -> simt::KernelLaunch<'g> {
        let (interleaving, waits) = (launch.interleaving, launch.waits);
        simt::KernelLaunch { interleaving, waits, ..runnable(self.recorded(launch), &launch.program) }
    }

    /// The guests that read its modules.
    #[must_use]
    pub fn guests(&self) -> &Guests {
        self.modules.guests()
    }

    /// The sets of instructions that have names: those of the guests, and those of the protection.
    #[must_use]
    pub fn sets(&self) -> Vec<NamedSet> {
        [&self.guests().sets()[..], PROTECTION_SETS].concat()
    }

    /// The data races that were found; launches that have some are interleaved.
    #[must_use]
    pub fn races(&self) -> &[KernelRace] {
        &self.races
    }

    /// How far data races were looked for, in words; nothing if all was looked at.
    #[must_use]
    pub fn unsearched(&self) -> Option<String> {
        let RaceSearch { launches, whole, instructions, .. } = self.race_search;
        let all = self.thread_instructions();
        let part = (!self.race_search.is_whole()).then(|| {
            format!(
                "looked for in {instructions} of {all} instructions, in {whole} of {launches} launches to their end"
            )
        });
        let programs = self.launches.iter().filter(|launch| launch.program.has_unsearched_accesses());
        let kernels: BTreeSet<&str> = programs.map(|launch| base_name(&launch.program.name)).collect();
        let accesses = (!kernels.is_empty()).then(|| {
            let kernels = kernels.into_iter().collect::<Vec<_>>().join(", ");
            format!("not looked for in accesses of {kernels} to tiles of matrices and to surfaces")
        });
        let parts: Vec<String> = part.into_iter().chain(accesses).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The kernels whose warps are interleaved.
    #[must_use]
    pub fn interleaved(&self) -> Interleavings {
        let finely = self.launches.iter().filter(|launch| launch.interleaving != Interleaving::Turns);
        finely.map(|launch| (launch.program.name.clone(), launch.interleaving)).collect()
    }

    /// What becomes of accesses that miss what the program was given.
    #[must_use]
    pub fn addresses(&self) -> &Arc<AddressProfile> {
        &self.addresses
    }

    /// Which products are joined with the sums that read them.
    #[must_use]
    pub fn contract(&self) -> Contract {
        self.contract
    }

    /// What a configuration says of its machine.
    #[must_use]
    pub fn machine_words(&self) -> MachineWords {
        MachineWords::of(&self.addresses, self.contract, self.order)
    }

    /// How many instructions a thread may execute beyond ten times its own before it is stopped.
    #[must_use]
    pub fn fuel(&self) -> u32 {
        self.fuel
    }

    /// The same, if the configuration sets `fuel`; it then limits loops that are known to end, too.
    #[must_use]
    pub fn explicit_fuel(&self) -> Option<u32> {
        (self.loops == 0).then_some(self.fuel)
    }

    /// How many instructions more a thread may execute in loops of which it is known when they end.
    #[must_use]
    pub fn loops(&self) -> u64 {
        self.loops
    }

    /// Whoever says a number gets that, and nothing more for loops.
    pub(crate) fn set_fuel(&mut self, fuel: u32) {
        (self.fuel, self.loops) = (fuel, 0);
    }

    /// How many threads a block of a launch has.
    #[must_use]
    pub fn threads_per_block(&self, launch: &GoldenLaunch) -> usize {
        self.recorded(launch).threads_per_block() as usize
    }

    /// Whether kernels may print: their text is an output, by the name of [`PRINTED`](crate::PRINTED).
    #[must_use]
    pub fn prints(&self) -> bool {
        self.prints
    }

    /// Whether anything that leaves the device is an output.
    #[must_use]
    pub fn has_outputs(&self) -> bool {
        self.prints || !self.outputs.is_empty()
    }

    /// How many bytes kernels print.
    #[must_use]
    pub fn printed_bytes(&self) -> u64 {
        self.launches.iter().map(|launch| launch.printed.len() as u64).sum()
    }

    /// Whether runs have to execute all that follows a fault: what blocks that wait for each other read and write depends on
    /// all of them, and what a block prints is kept of whole launches.
    pub(crate) fn runs_whole(&self) -> bool {
        self.has_blocks_together() || self.prints()
    }

    /// Whether blocks of some launch wait for each other.
    pub(crate) fn has_blocks_together(&self) -> bool {
        self.launches.iter().any(|launch| launch.waits || self.runnable(launch).is_together())
    }
}

/// The outputs with their golden bytes; one that is never copied has none.
pub(crate) fn references(outputs: &[Output], copies: &[GoldenCopy]) -> Vec<Reference> {
    let of = |(at, output): (usize, &Output)| {
        let copy = copies.iter().find(|copy| copy.output == Some(at));
        Reference::new(output.clone(), copy.map_or(&[], |copy| &copy.bytes))
    };
    outputs.iter().enumerate().map(of).collect()
}
