//! The sites of a path group, each put where it belongs: into a class, to the definition whose value it reads first, or to those
//! whose outcome is known.

use inject::threads::{PathDestination, PathSites, PathUse};
use std::collections::BTreeMap;

use super::heuristics::{HeuristicCounts, Pruning};
use super::lists::StorePath;
use super::operand::{Bits, SiteOperand};
use super::settings::Settings;
use super::sites::{ApartKey, Class, ClassKey, KnownSites, MOST_STEPS, PathGroup, Place, Sites, WalkStep};
use super::traps::BaseStep;
use super::windows::Windows;

/// The path that the threads of a group have in common.
pub(super) struct GroupPath<'a> {
    /// The group.
    pub(super) group: u32,
    /// The numbers of what keeps it apart.
    pub(super) apart: ApartKey,
    /// The operands that the threads write and read.
    pub(super) found: PathSites,
    /// Their decisions.
    pub(super) windows: Windows,
    /// Which sites there are, and what joins them.
    pub(super) settings: &'a Settings,
    /// The steps that access global memory by a base register.
    pub(super) accesses: Vec<BaseStep>,
    /// Its stores, if they are looked at.
    pub(super) stores: Option<StorePath<'a>>,
}

impl GroupPath<'_> {
    /// The bits of a register that an instruction reads whose flip makes it trap, whatever the thread does.
    fn trapping(&self, it: &PathUse) -> [(Pruning, Bits); 2] {
        let found = self.accesses.binary_search_by_key(&it.step, |access| access.step).ok();
        let found = found.and_then(|at| self.accesses.get(at)).filter(|access| access.register == it.register);
        let bits = |word: Option<u64>| Bits::word(word.unwrap_or_default()).and(Bits::range(0..it.bits));
        [
            (Pruning::Misaligned, bits(found.map(|access| access.misaligned))),
            (Pruning::Unmapped, bits(found.map(|access| access.unmapped))),
        ]
    }
}

/// An operand of a dynamic instruction.
#[derive(Clone, Copy)]
pub(super) struct At {
    step: u32,
    /// The dynamic instruction of the thread, from 0, that a fault in the operand names.
    pub(super) dynamic: u64,
    /// The instruction, an index into the instructions of the program.
    pub(super) instruction: u32,
    /// The operand.
    pub(super) operand: SiteOperand,
}

/// Who is told of the sites of a path.
pub(super) trait SiteVisitor {
    /// How many sites each thread of the path has, those of known outcome left out.
    fn count(&mut self, counts: HeuristicCounts);

    /// Sites of known outcome.
    fn know(&mut self, at: At, bits: Bits, why: Pruning);

    /// Sites that are in a class together with the first uses that equal them; the number of the class of control equivalence that
    /// they would be in, if they are under store equivalence.
    fn class(&mut self, at: At, bits: Bits, first_uses: &[(u32, &PathUse)]) -> Option<u32>;

    /// A destination, once its sites were told.
    fn written(&mut self, _: WalkStep) {}
}

/// The classes of an operand.
pub(super) struct OperandKeys {
    /// By control equivalence: the one of all parts that have none of their own.
    pub(super) control: ClassKey,
    /// By part of the group, the one by store equivalence.
    pub(super) parts: Vec<Option<ClassKey>>,
}

impl GroupPath<'_> {
    /// Tells of all sites of the path.
    pub(super) fn tell(&self, visitor: &mut dyn SiteVisitor) {
        let Settings { sources, unread, def_use, .. } = *self.settings;
        let mut readers: Vec<(u32, &PathUse)> = Vec::new();
        if sources {
            visitor.count(HeuristicCounts { unnamed: self.found.guards_off, ..HeuristicCounts::default() });
            for it in &self.found.uses {
                let trapping = self.trapping(it);
                let known = trapping[0].1.or(trapping[1].1);
                trapping.iter().for_each(|(why, bits)| visitor.know(At::of_use(it), *bits, *why));
                let sites = own(it).or(fresh(it)).count();
                let represented = represented(it, def_use);
                visitor.count(HeuristicCounts {
                    all: sites.into(),
                    uses: sites.into(),
                    unnamed: (it.bits - sites).into(),
                    predicates: if it.bits == 1 { sites.into() } else { 0 },
                    def_use: represented.without(known).count().into(),
                    ..HeuristicCounts::default()
                });
                let own = own(it).or(fresh(it)).without(represented.or(known));
                visitor.class(At::of_use(it), own, &[]);
                readers.extend(it.written_by.map(|writer| (writer, it)));
            }
        } else {
            readers.extend(self.found.uses.iter().filter_map(|it| Some((it.written_by?, it))));
        }
        readers.sort_by_key(|(writer, _)| *writer);
        let mut left = &readers[..];
        for (number, it) in (0..).zip(&self.found.destinations) {
            let (first_uses, behind) = left.split_at(left.partition_point(|(writer, _)| *writer <= number));
            left = behind;
            let predicates = u64::from(it.bits == 1);
            visitor.count(HeuristicCounts { all: it.bits.into(), predicates, ..HeuristicCounts::default() });
            let read_bits = if unread { it.read_bits } else { it.bits };
            let read = Bits::range(0..read_bits);
            let at = At::of_destination(it);
            visitor.know(at, Bits::range(0..it.bits).without(read), Pruning::Unread);
            let (mut left, mut joined, mut trapping) = (read, Bits::default(), [Bits::default(); 2]);
            for (_, it) in first_uses {
                for ((why, bits), all) in self.trapping(it).into_iter().zip(&mut trapping) {
                    visitor.know(at, bits.and(fresh(it)), why);
                    left = left.without(bits.and(fresh(it)));
                    *all = all.or(bits.and(fresh(it)));
                }
                joined = joined.or(represented(it, def_use));
            }
            if sources {
                visitor.class(at, left.and(joined), first_uses);
                left = left.without(joined);
            }
            let beside = visitor.class(at, left, &[]);
            let [misaligned, unmapped] = trapping.map(Bits::low);
            let (bits, read_bits) = (it.bits as u8, read_bits as u8);
            let (dynamic, position) = (it.dynamic as u32, it.position);
            visitor.written(WalkStep { dynamic, beside, position, bits, read_bits, misaligned, unmapped });
        }
    }

    /// The classes of bits of an operand in the threads of the group.
    pub(super) fn keys(&self, group: &PathGroup, at: At, bits: Bits, is_first_used: bool) -> OperandKeys {
        let At { step, instruction, operand, .. } = at;
        let weight = if is_first_used { 2 } else { 1 };
        let key = |hash| (group.kernel, instruction, operand, bits, weight, hash, self.apart);
        // Without joining by decisions a class has one instance: its group has one thread.
        let alone = u128::from(self.group) << 32 | u128::from(step);
        let control = if self.settings.control { self.windows.from(step) } else { alone };
        let listed = |lists: &Vec<u128>| self.stores.as_ref()?.list(step, operand, lists);
        let parts = group.parts.iter().map(|part| part.lists.as_ref().and_then(listed).map(key)).collect();
        OperandKeys { control: key(control), parts }
    }
}

/// Puts the sites of a path into their classes.
struct Joining<'a, 'b> {
    sites: &'a mut Sites,
    classes: &'a mut BTreeMap<ClassKey, Class>,
    by_control: &'a mut BTreeMap<ClassKey, u32>,
    path: &'a GroupPath<'b>,
}

impl Sites {
    /// Adds the sites of a group to their classes.
    pub(super) fn join(
        &mut self,
        classes: &mut BTreeMap<ClassKey, Class>,
        by_control: &mut BTreeMap<ClassKey, u32>,
        path: &GroupPath<'_>,
    ) {
        self.step_count += path.found.destinations.len();
        if self.step_count > MOST_STEPS {
            self.steps = None;
        }
        path.tell(&mut Joining { sites: self, classes, by_control, path });
    }
}

impl Joining<'_, '_> {
    fn group(&self) -> &PathGroup {
        &self.sites.groups[self.path.group as usize]
    }
}

impl SiteVisitor for Joining<'_, '_> {
    fn count(&mut self, counts: HeuristicCounts) {
        let (kernel, threads) = (self.group().kernel, self.group().threads.len() as u64);
        self.sites.kernels[kernel as usize].counts += counts.times(threads);
    }

    fn know(&mut self, at: At, bits: Bits, why: Pruning) {
        if bits.is_empty() {
            return;
        }
        let (kernel, threads) = (self.group().kernel, self.group().threads.len() as u64);
        let key = KnownSites { kernel, instruction: at.instruction, operand: at.operand, bits, why };
        *self.sites.known.entry(key).or_default() += threads;
        self.sites.kernels[kernel as usize].counts.add_known(why, threads * u64::from(bits.count()));
    }

    fn class(&mut self, at: At, bits: Bits, first_uses: &[(u32, &PathUse)]) -> Option<u32> {
        if bits.is_empty() {
            return None;
        }
        let group = &self.sites.groups[self.path.group as usize];
        let OperandKeys { control, parts } = self.path.keys(group, at, bits, !first_uses.is_empty());
        let mut add = |key: ClassKey, part, threads: usize| {
            let class = self.classes.entry(key).or_insert_with(|| Class::new(key));
            class.members += threads as u64;
            class.places.push(Place { group: self.path.group, part, dynamic: at.dynamic });
            for (_, it) in first_uses {
                let used = fresh(it).and(bits);
                if !used.is_empty() {
                    let key = (it.instruction, SiteOperand::Register(it.register), used);
                    *class.first_uses.entry(key).or_default() += threads as u64;
                }
            }
        };
        if parts.iter().all(Option::is_none) {
            add(control, None, group.threads.len());
            return None;
        }
        for (number, (part, key)) in (0..).zip(group.parts.iter().zip(parts)) {
            add(key.unwrap_or(control), Some(number), part.threads.len());
        }
        let fresh_number = self.by_control.len() as u32;
        Some(*self.by_control.entry(control).or_insert(fresh_number))
    }

    fn written(&mut self, step: WalkStep) {
        if let Some(steps) = &mut self.sites.steps {
            steps[self.path.group as usize].push(step);
        }
    }
}

impl At {
    /// A register that an instruction reads.
    pub(super) fn of_use(it: &PathUse) -> Self {
        let PathUse { step, dynamic, instruction, register, .. } = *it;
        Self { step, dynamic, instruction, operand: SiteOperand::Register(register) }
    }

    fn of_destination(it: &PathDestination) -> Self {
        let PathDestination { step, dynamic, instruction, position, .. } = *it;
        Self { step, dynamic, instruction, operand: SiteOperand::Destination(position) }
    }
}

/// The bits that an instruction is the first to read.
pub(super) fn fresh(it: &PathUse) -> Bits {
    Bits::range(it.fresh_from..it.fresh_to)
}

/// The bits of a first use that the definition stands for; of a use that no fault names always all.
fn represented(it: &PathUse, def_use: bool) -> Bits {
    if def_use || !it.is_named { fresh(it) } else { Bits::default() }
}

/// The bits of a use that are sites of their own.
fn own(it: &PathUse) -> Bits {
    it.own_bits().into_iter().fold(Bits::default(), |bits, range| bits.or(Bits::range(range)))
}
