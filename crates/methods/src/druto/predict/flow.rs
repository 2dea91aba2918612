//! Values of a run by the static instructions that make them, and the uses that are made of them.

use std::collections::BTreeMap;

/// Bits of a value that are told apart; higher ones count as the highest.
pub(super) const BITS: usize = 64;

/// The values that a static instruction makes: of a kernel, an instruction and an operand; in registers, or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueKey {
    pub(super) kernel: u32,
    pub(super) instruction: u32,
    pub(super) position: u8,
    pub(super) is_memory: bool,
}

/// How a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UseKind {
    /// Something is computed of it, or it makes an address or a guard: samples say what changes.
    Sampled,
    /// It is stored, loaded, or moved where only its place changes: the bit stays the bit.
    Carried,
    /// It says where control goes.
    Branch,
    /// The host reads it.
    Output,
}

/// A use that was looked at closely.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UseSample {
    /// The bits of the value whose flip traps.
    pub(super) traps: u64,
    /// By bit of the value, the bits that change in each value that is made.
    pub(super) changed: Vec<Vec<u64>>,
}

/// All uses of the values of one kind by one instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueUse {
    /// How often, in all threads that the followed ones stand for.
    pub(super) count: f64,
    /// How often it was noted.
    noted: u64,
    /// Uses since the last one that was looked at closely, which stands for them.
    unsampled: f64,
    /// The values that depend on it.
    pub(super) makes: Vec<usize>,
    /// Some uses, and how often there are such.
    pub(super) samples: BTreeMap<UseSample, f64>,
}

/// The values of a run.
#[derive(Debug, Default)]
pub(super) struct ValueFlow {
    pub(super) keys: BTreeMap<ValueKey, usize>,
    /// By value, how often it was made, and its bits.
    pub(super) made: Vec<(f64, u32)>,
    /// By value, its uses by instruction: the kernel, the instruction and how.
    pub(super) uses: Vec<BTreeMap<(u32, u32, UseKind), ValueUse>>,
    /// By kernel and instruction, how often threads executed it, by those that were followed through registers.
    pub(super) executed: BTreeMap<(u32, u32), f64>,
}

impl ValueFlow {
    /// The number of a value.
    pub(super) fn value(&mut self, key: ValueKey, bits: u32) -> usize {
        let next = self.made.len();
        let number = *self.keys.entry(key).or_insert(next);
        if number == next {
            self.made.push((0.0, bits.clamp(1, BITS as u32)));
            self.uses.push(BTreeMap::new());
        }
        number
    }

    /// Notes uses.
    pub(super) fn used(&mut self, value: usize, by: (u32, u32, UseKind), times: f64, makes: &[usize]) -> &mut ValueUse {
        let it = self.uses[value].entry(by).or_default();
        it.count += times;
        it.noted += 1;
        it.unsampled += times;
        for make in makes {
            if !it.makes.contains(make) {
                it.makes.push(*make);
            }
        }
        it
    }
}

impl ValueUse {
    /// Whether the last use is one of those that are looked at closely: the first eight, and four of each doubling.
    pub(super) fn is_looked_at(&self) -> bool {
        self.noted.is_multiple_of((self.noted.next_power_of_two() / 8).max(1))
    }

    /// Notes a sample, which stands for all uses since the one before.
    pub(super) fn sampled(&mut self, sample: UseSample) {
        *self.samples.entry(sample).or_default() += std::mem::take(&mut self.unsampled);
    }
}
