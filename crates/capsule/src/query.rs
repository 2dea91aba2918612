//! Questions about a capsule that its users share.

use std::collections::BTreeMap;
use std::fmt;

use crate::{BlobId, Capsule, Digest, Event, Launch, Metric, ModuleId, Output, RecordedModule, Region};

/// Names a launch: its place among the [`Event::Launch`] events, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaunchIndex(pub u32);

/// A copy to the host, borrowed from its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedOut<'a> {
    /// Its place in [`Capsule::events`].
    pub event: usize,
    /// Where the bytes are read.
    pub from: &'a Region,
    /// The digest of the bytes as recorded.
    pub digest: Digest,
    /// The bytes themselves, where the recorder kept them.
    pub data: Option<BlobId>,
}

/// How often a kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelUse {
    /// The module that defines it.
    pub module: ModuleId,
    /// Its name in the PTX.
    pub kernel: String,
    /// How many launches it has.
    pub launches: u64,
    /// How many threads all of them have.
    pub threads: u64,
}

/// A capsule in numbers. Sums stop at `u64::MAX`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapsuleSummary {
    /// Events.
    pub events: u64,
    /// Launches.
    pub launches: u64,
    /// Threads of all launches.
    pub threads: u64,
    /// Kernels, by module and name.
    pub kernels: Vec<KernelUse>,
    /// Allocations.
    pub allocations: u64,
    /// The most bytes that were allocated at one time.
    pub peak_bytes: u64,
    /// Copies to the device.
    pub copies_in: u64,
    /// Bytes copied to the device.
    pub bytes_in: u64,
    /// Copies to the host.
    pub copies_out: u64,
    /// Bytes copied to the host.
    pub bytes_out: u64,
    /// Bytes copied on the device.
    pub bytes_within: u64,
    /// Bytes filled.
    pub bytes_filled: u64,
    /// Bytes of all blobs, each content once.
    pub blob_bytes: u64,
}

impl Capsule {
    /// A module by its id.
    pub fn module(&self, id: ModuleId) -> Option<&RecordedModule> {
        self.modules.get(usize::try_from(id.0).ok()?)
    }

    /// The launches in order, each with its index.
    pub fn launches(&self) -> impl Iterator<Item = (LaunchIndex, &Launch)> {
        let launches = self.events.iter().filter_map(|event| match event {
            Event::Launch(launch) => Some(launch),
            _ => None,
        });
        (0..).map(LaunchIndex).zip(launches)
    }

    /// A launch by its index.
    pub fn launch(&self, index: LaunchIndex) -> Option<&Launch> {
        self.launches().find(|(found, _)| *found == index).map(|(_, launch)| launch)
    }

    /// How many launches there are.
    pub fn launch_count(&self) -> u64 {
        self.launches().count() as u64
    }

    /// The copies to the host in order, each with the index by which [`Output::copy`] names it.
    pub fn copies_out(&self) -> impl Iterator<Item = (u32, CopiedOut<'_>)> {
        let copies = self.events.iter().enumerate().filter_map(|(event, what)| match what {
            Event::CopyOut { from, digest, data } => Some(CopiedOut { event, from, digest: *digest, data: *data }),
            _ => None,
        });
        (0..).zip(copies)
    }

    /// Whether the host gets something before it gives the GPU the last of its work, so that what it does next may depend on it.
    pub fn host_may_decide(&self) -> bool {
        let last = self.events.iter().rposition(|event| matches!(event, Event::Launch(_))).unwrap_or(0);
        self.copies_out().any(|(_, copy)| copy.event < last)
    }

    /// What counts as output when nobody has said: the copies to the host after the last launch, or all of them if there are
    /// none.
    pub fn default_outputs(&self) -> Vec<Output> {
        let last = self.events.iter().rposition(|event| matches!(event, Event::Launch(_)));
        let after = |&(_, copy): &(u32, CopiedOut<'_>)| last.is_none_or(|last| copy.event > last);
        let mut copies: Vec<_> = self.copies_out().filter(after).collect();
        if copies.is_empty() {
            copies = self.copies_out().collect();
        }
        copies.into_iter().map(|(copy, _)| Output::untyped(copy)).collect()
    }

    /// The outputs that were declared, or the default ones if none were.
    pub fn effective_outputs(&self) -> Vec<Output> {
        if self.outputs.is_empty() { self.default_outputs() } else { self.outputs.clone() }
    }

    /// Everything counted.
    pub fn summary(&self) -> CapsuleSummary {
        let mut summary = CapsuleSummary::default();
        let mut memory = Memory::default();
        for event in &self.events {
            summary.count(event, &mut memory);
        }
        summary.peak_bytes = memory.peak;
        summary.kernels = self.kernels();
        summary.blob_bytes = self.blobs.identities().fold(0, |sum: u64, (bytes, _)| sum.saturating_add(bytes));
        summary
    }

    /// The kernels that are launched, by module and name.
    fn kernels(&self) -> Vec<KernelUse> {
        let mut kernels = BTreeMap::<(ModuleId, &str), (u64, u64)>::new();
        for (_, launch) in self.launches() {
            let (launches, threads) = kernels.entry((launch.module, &launch.kernel)).or_default();
            *launches += 1;
            *threads = threads.saturating_add(launch.threads());
        }
        let uses = kernels.into_iter();
        uses.map(|((module, kernel), (launches, threads))| KernelUse {
            module,
            kernel: kernel.to_owned(),
            launches,
            threads,
        })
        .collect()
    }
}

impl RecordedModule {
    /// A variable of the module by its name.
    pub fn global(&self, name: &str) -> Option<&crate::PlacedSymbol> {
        self.globals.iter().find(|symbol| symbol.name == name)
    }

    /// Where an instruction comes from, of the function with this number in the PTX; none where no protection was written.
    pub fn origin(&self, function: u32, pc: u32) -> Option<crate::InstructionOrigin> {
        let function = self.hardened.iter().find(|hardened| hardened.function == function)?;
        function.origins.get(pc as usize).copied()
    }
}

impl Output {
    /// An output of which nothing is known but its copy: compared by bytes.
    pub fn untyped(copy: u32) -> Self {
        Self {
            copy,
            name: format!("copy{copy}"),
            element: None,
            shape: Vec::new(),
            tolerance: None,
            metric: Metric::default(),
        }
    }
}

/// What is allocated at one point of the events.
#[derive(Default)]
struct Memory {
    live: BTreeMap<u64, u64>,
    bytes: u64,
    peak: u64,
}

impl Memory {
    fn alloc(&mut self, address: u64, bytes: u64) {
        self.free(address);
        self.live.insert(address, bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        self.peak = self.peak.max(self.bytes);
    }

    fn free(&mut self, address: u64) {
        let freed = self.live.remove(&address).unwrap_or(0);
        self.bytes = self.bytes.saturating_sub(freed);
    }
}

impl CapsuleSummary {
    fn count(&mut self, event: &Event, memory: &mut Memory) {
        let add = |sum: &mut u64, amount: u64| *sum = sum.saturating_add(amount);
        let region = |sum: &mut u64, region: &Region| add(sum, region.bytes().unwrap_or(u64::MAX));
        self.events += 1;
        match event {
            Event::Alloc { address, bytes, .. } => {
                self.allocations += 1;
                memory.alloc(*address, *bytes);
            }
            Event::Free { address } => memory.free(*address),
            Event::CopyIn { to, .. } => {
                self.copies_in += 1;
                region(&mut self.bytes_in, to);
            }
            Event::CopyOut { from, .. } => {
                self.copies_out += 1;
                region(&mut self.bytes_out, from);
            }
            Event::CopyWithin { to, .. } => region(&mut self.bytes_within, to),
            Event::Fill { to, .. } => region(&mut self.bytes_filled, to),
            Event::Launch(launch) => {
                self.launches += 1;
                add(&mut self.threads, launch.threads());
            }
            Event::Load { .. } | Event::Synchronize => {}
        }
    }
}

impl fmt::Display for LaunchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "launch {}", self.0)
    }
}
