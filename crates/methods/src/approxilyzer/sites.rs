//! Error sites, path groups and classes as data.

use std::collections::BTreeMap;

use super::heuristics::{HeuristicCounts, Pruning};
use super::operand::{Bits, SiteOperand};
use super::site_facts::SiteFacts;

/// Threads whose paths are equal.
pub(super) struct PathGroup {
    /// Their launches, and their numbers there, ascending.
    pub(super) threads: Vec<(u32, u64)>,
    /// The kernel.
    pub(super) kernel: u32,
    /// Its threads by the lists of their stores; none where stores are not looked at.
    pub(super) parts: Vec<PathPart>,
}

/// Threads of a path group whose stores are read by the same loads.
pub(super) struct PathPart {
    /// Their launches, and their numbers there, ascending.
    pub(super) threads: Vec<(u32, u64)>,
    /// The lists of their stores, in their order; `None` if they are not known.
    pub(super) lists: Option<Vec<u128>>,
}

/// The sites of bits of an operand that are expected to end alike, bit by bit.
pub(super) struct Class {
    /// The kernel, an index into [`Sites::kernels`].
    pub(super) kernel: u32,
    /// The instruction, an index into the instructions of the program.
    pub(super) instruction: u32,
    /// The operand.
    pub(super) operand: SiteOperand,
    /// Its bits that are in the class.
    pub(super) bits: Bits,
    /// Sites of a member in each bit: two where the first use of a definition is a site that equals it.
    pub(super) weight: u64,
    /// A hash of the decisions of its members, or of the lists of their stores.
    hash: u128,
    /// The numbers of its thread, block and launch, where these are kept apart.
    apart: ApartKey,
    /// How many dynamic instances it has.
    pub(super) members: u64,
    /// Where they are, each once for all threads of its group.
    pub(super) places: Vec<Place>,
    /// The first uses of the members' values, each as instruction, operand and bits, with how many there are.
    pub(super) first_uses: BTreeMap<(u32, SiteOperand, Bits), u64>,
}

/// A dynamic instruction of the threads of a group.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The group, an index into [`Sites::groups`].
    pub(super) group: u32,
    /// The part of the group, if it is not the whole.
    pub(super) part: Option<u32>,
    /// The dynamic instruction, from 0.
    pub(super) dynamic: u64,
}

/// The sites of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelSites {
    /// Its name.
    pub(super) name: String,
    /// How many there are.
    pub(super) counts: HeuristicCounts,
    /// Its path groups.
    pub(super) groups: u64,
    /// Its threads, over all launches.
    pub(super) threads: u64,
}

/// Destinations of groups that are kept, at most: two thirds of a gigabyte.
pub(super) const MOST_STEPS: usize = 1 << 24;

/// Classes of a selection, at most, and path groups: about two gigabytes.
pub(super) const MOST_CLASSES: usize = 2_000_000;

/// All sites of a selection.
#[derive(Default)]
pub(super) struct Sites {
    /// The kernels, in the order of their first launches.
    pub(super) kernels: Vec<KernelSites>,
    /// The path groups.
    pub(super) groups: Vec<PathGroup>,
    /// The classes, in the order of their keys.
    pub(super) classes: Vec<Class>,
    /// By kernel and instruction, how many dynamic instances were executed, whether they have sites or not.
    pub(super) executed: BTreeMap<(u32, u32), u64>,
    /// Whether there were more accesses on all paths than are kept: flips in the others are not known to trap.
    pub(super) addresses_cut: bool,
    /// Whether there were more than [`MOST_CLASSES`] classes or path groups: then these sites are not all.
    pub(super) classes_cut: bool,
    /// Whether there were more stores than are kept: launches without lists are under control equivalence alone.
    pub(super) stores_cut: bool,
    /// The sites of known outcome, with how many instances there are.
    pub(super) known: BTreeMap<KnownSites, u64>,
    /// By group, every destination that its threads write, in the order of dynamic instructions and destinations; `None` unless
    /// they were asked for.
    pub(super) steps: Option<Vec<Vec<WalkStep>>>,
    /// By group and destination, what is known of its sites without a run; `None` unless it was asked for.
    pub(super) facts: Option<Vec<Vec<SiteFacts>>>,
    /// How many steps there were; beyond [`MOST_STEPS`] they are not kept.
    pub(super) step_count: usize,
    /// The classes of control equivalence that sites under store equivalence would be in.
    pub(super) beside: Vec<BesideClass>,
}

/// A destination that the threads of a group write.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkStep {
    /// The dynamic instruction of the thread, from 0.
    pub(super) dynamic: u32,
    /// The class of control equivalence that the sites under store equivalence would be in, an index into [`Sites::beside`].
    pub(super) beside: Option<u32>,
    /// Its position among the destinations of the instruction.
    pub(super) position: u8,
    /// How many bits it has.
    pub(super) bits: u8,
    /// How many of them, from the lowest, some instruction reads.
    pub(super) read_bits: u8,
    /// The bits whose flip makes an address misaligned.
    pub(super) misaligned: u64,
    /// The bits whose flip makes an address leave what is mapped.
    pub(super) unmapped: u64,
}

/// A class of control equivalence that sites under store equivalence would be in.
#[derive(Clone, Copy, Debug)]
pub(super) struct BesideClass {
    /// The kernel.
    pub(super) kernel: u32,
    /// The bits.
    pub(super) bits: Bits,
}

/// Sites of an instruction whose outcome is known without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KnownSites {
    /// The kernel.
    pub(super) kernel: u32,
    /// The instruction, an index into the instructions of the program.
    pub(super) instruction: u32,
    /// The operand.
    pub(super) operand: SiteOperand,
    /// The bits.
    pub(super) bits: Bits,
    /// Why it is known.
    pub(super) why: Pruning,
}

/// The bit that hashes of lists of stores have, and hashes of decisions do not.
pub(super) const STORES: u128 = 1 << 127;

/// The numbers of what is kept apart, 0 of what is not.
pub(super) type ApartKey = (u32, u64, u32);

/// The key of a class, which its instances have in common: the instruction, the operand, its bits and their weight, and a hash of the
/// decisions, or of the lists of stores.
pub(super) type ClassKey = (u32, u32, SiteOperand, Bits, u64, u128, ApartKey);

impl Sites {
    /// Why they are no account of a program, if they are not.
    pub(super) fn refusal(&self) -> Option<String> {
        self.classes_cut.then(|| {
            format!(
                "join the error sites: there are more than {MOST_CLASSES} classes; leave `control` on, lower `decisions`, keep less \
                 apart, or select kernels"
            )
        })
    }

    /// The threads at a place.
    pub(super) fn threads(&self, place: &Place) -> &[(u32, u64)] {
        let group = &self.groups[place.group as usize];
        place.part.and_then(|part| group.parts.get(part as usize)).map_or(&group.threads, |part| &part.threads)
    }
}

impl Class {
    /// One without members.
    pub(super) fn new((kernel, instruction, operand, bits, weight, hash, apart): ClassKey) -> Self {
        let (places, first_uses) = (Vec::new(), BTreeMap::new());
        Self { kernel, instruction, operand, bits, weight, hash, apart, members: 0, places, first_uses }
    }

    /// The key that its members have in common. Classes are in the order of their keys.
    pub(super) fn key(&self) -> ClassKey {
        (self.kernel, self.instruction, self.operand, self.bits, self.weight, self.hash, self.apart)
    }

    /// The word of the heuristic that joins its members.
    pub(super) fn heuristic(&self) -> &'static str {
        if self.by_stores() { "stores" } else { "control" }
    }

    /// Whether the loads that read its stores join its members; if not, their decisions do.
    pub(super) fn by_stores(&self) -> bool {
        self.hash & STORES != 0
    }
}
