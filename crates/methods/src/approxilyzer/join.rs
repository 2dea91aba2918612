//! The sites of a path group, each put where it belongs: into a class, to the definition whose value it reads first, or to those
//! whose outcome is known.

use inject::threads::{PathDestination, PathSites, PathUse};
use std::collections::BTreeMap;

use super::heuristics::Pruning;
use super::lists::StorePath;
use super::operand::{Bits, SiteOperand};
use super::settings::Settings;
use super::sites::{ApartKey, Class, ClassKey, KnownSites, MOST_STEPS, Place, Sites, WalkStep};
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
struct At {
    step: u32,
    dynamic: u64,
    instruction: u32,
    operand: SiteOperand,
}

impl Sites {
    /// Adds the sites of a group to their classes.
    pub(super) fn join(
        &mut self,
        classes: &mut BTreeMap<ClassKey, Class>,
        by_control: &mut BTreeMap<ClassKey, u32>,
        path: &GroupPath<'_>,
    ) {
        let classes = &mut (classes, by_control);
        let group = &self.groups[path.group as usize];
        let (kernel, threads) = (group.kernel, group.threads.len() as u64);
        let Settings { sources, unread, def_use, .. } = *path.settings;
        let mut readers: Vec<(u32, &PathUse)> = Vec::new();
        if sources {
            self.kernels[kernel as usize].counts.unnamed += threads * path.found.guards_off;
            for it in &path.found.uses {
                let trapping = path.trapping(it);
                let known = trapping[0].1.or(trapping[1].1);
                trapping.iter().for_each(|(why, bits)| self.know(path, At::of_use(it), *bits, *why));
                let counts = &mut self.kernels[kernel as usize].counts;
                let sites = own(it).or(fresh(it)).count();
                counts.all += threads * u64::from(sites);
                counts.uses += threads * u64::from(sites);
                counts.unnamed += threads * u64::from(it.bits - sites);
                counts.predicates += if it.bits == 1 { threads * u64::from(sites) } else { 0 };
                let represented = represented(it, def_use);
                counts.def_use += threads * u64::from(represented.without(known).count());
                let own = own(it).or(fresh(it)).without(represented.or(known));
                self.add(classes, path, At::of_use(it), own, &[]);
            }
        }
        for it in &path.found.uses {
            readers.extend(it.written_by.map(|writer| (writer, it)));
        }
        readers.sort_by_key(|(writer, _)| *writer);
        let mut left = &readers[..];
        self.step_count += path.found.destinations.len();
        if self.step_count > MOST_STEPS {
            self.steps = None;
        }
        for (number, it) in (0..).zip(&path.found.destinations) {
            let (first_uses, behind) = left.split_at(left.partition_point(|(writer, _)| *writer <= number));
            left = behind;
            let counts = &mut self.kernels[kernel as usize].counts;
            counts.all += threads * u64::from(it.bits);
            counts.predicates += if it.bits == 1 { threads } else { 0 };
            let read_bits = if unread { it.read_bits } else { it.bits };
            let read = Bits::range(0..read_bits);
            let at = At::of_destination(it);
            self.know(path, at, Bits::range(0..it.bits).without(read), Pruning::Unread);
            let (mut left, mut joined, mut trapping) = (read, Bits::default(), [Bits::default(); 2]);
            for (_, it) in first_uses {
                for ((why, bits), all) in path.trapping(it).into_iter().zip(&mut trapping) {
                    self.know(path, at, bits.and(fresh(it)), why);
                    left = left.without(bits.and(fresh(it)));
                    *all = all.or(bits.and(fresh(it)));
                }
                joined = joined.or(represented(it, def_use));
            }
            if sources {
                self.add(classes, path, at, left.and(joined), first_uses);
                left = left.without(joined);
            }
            let beside = self.add(classes, path, at, left, &[]);
            if let Some(steps) = &mut self.steps {
                let [misaligned, unmapped] = trapping.map(Bits::low);
                let (bits, read_bits) = (it.bits as u8, read_bits as u8);
                let (dynamic, position) = (it.dynamic as u32, it.position);
                let step = WalkStep { dynamic, beside, position, bits, read_bits, misaligned, unmapped };
                steps[path.group as usize].push(step);
            }
        }
    }

    /// Adds sites of known outcome.
    fn know(&mut self, path: &GroupPath<'_>, at: At, bits: Bits, why: Pruning) {
        if bits.is_empty() {
            return;
        }
        let group = &self.groups[path.group as usize];
        let (kernel, threads) = (group.kernel, group.threads.len() as u64);
        let key = KnownSites { kernel, instruction: at.instruction, operand: at.operand, bits, why };
        *self.known.entry(key).or_default() += threads;
        self.kernels[kernel as usize].counts.add_known(why, threads * u64::from(bits.count()));
    }

    /// Adds bits of an operand to their class, with the first uses that equal them. If they are under store equivalence, the
    /// number of the class of control equivalence that they would be in.
    fn add(
        &self,
        (classes, by_control): &mut (&mut BTreeMap<ClassKey, Class>, &mut BTreeMap<ClassKey, u32>),
        path: &GroupPath<'_>,
        at: At,
        bits: Bits,
        first_uses: &[(u32, &PathUse)],
    ) -> Option<u32> {
        if bits.is_empty() {
            return None;
        }
        let group = &self.groups[path.group as usize];
        let At { step, dynamic, instruction, operand } = at;
        let weight = if first_uses.is_empty() { 1 } else { 2 };
        let key = |hash| (group.kernel, instruction, operand, bits, weight, hash, path.apart);
        let mut add = |hash, part, threads: usize| {
            let class = classes.entry(key(hash)).or_insert_with(|| Class::new(key(hash)));
            class.members += threads as u64;
            class.places.push(Place { group: path.group, part, dynamic });
            for (_, it) in first_uses {
                let used = fresh(it).and(bits);
                if !used.is_empty() {
                    let key = (it.instruction, SiteOperand::Register(it.register), used);
                    *class.first_uses.entry(key).or_default() += threads as u64;
                }
            }
        };
        // Without joining by decisions a class has one instance: its group has one thread.
        let alone = u128::from(path.group) << 32 | u128::from(step);
        let control = if path.settings.control { path.windows.from(step) } else { alone };
        let listed = |lists: &Vec<u128>| path.stores.as_ref()?.list(step, operand, lists);
        let hashes: Vec<Option<u128>> = group.parts.iter().map(|part| part.lists.as_ref().and_then(listed)).collect();
        if hashes.iter().all(Option::is_none) {
            add(control, None, group.threads.len());
            return None;
        }
        let fresh_number = by_control.len() as u32;
        let beside = *by_control.entry(key(control)).or_insert(fresh_number);
        for (number, (part, hash)) in (0..).zip(group.parts.iter().zip(hashes)) {
            add(hash.unwrap_or(control), Some(number), part.threads.len());
        }
        Some(beside)
    }
}

impl At {
    fn of_use(it: &PathUse) -> Self {
        let PathUse { step, dynamic, instruction, register, .. } = *it;
        Self { step, dynamic, instruction, operand: SiteOperand::Register(register) }
    }

    fn of_destination(it: &PathDestination) -> Self {
        let PathDestination { step, dynamic, instruction, position, .. } = *it;
        Self { step, dynamic, instruction, operand: SiteOperand::Destination(position) }
    }
}

/// The bits that an instruction is the first to read.
fn fresh(it: &PathUse) -> Bits {
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
