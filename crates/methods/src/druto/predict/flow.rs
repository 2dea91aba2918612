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
    /// Something is computed of it.
    Computed,
    /// It makes an address.
    Address,
    /// It is stored, loaded, or moved where only its place changes: the bit stays the bit.
    Carried,
    /// It says whether an instruction executes.
    Guard,
    /// The host reads it.
    Output,
}

/// All uses of the values of one kind by one instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueUse {
    /// How often.
    pub(super) count: u64,
    /// The values that depend on it.
    pub(super) makes: Vec<usize>,
    /// Of some uses, by bit, the bits that change in each value that is made.
    pub(super) samples: Vec<Vec<Vec<u64>>>,
    /// Of some uses as an address, the bits whose flip traps.
    pub(super) traps: Vec<u64>,
}

/// The values of a run.
#[derive(Debug, Default)]
pub(super) struct ValueFlow {
    pub(super) keys: BTreeMap<ValueKey, usize>,
    /// By value, how often it was made, and its bits.
    pub(super) made: Vec<(u64, u32)>,
    /// By value, its uses by instruction: the kernel, the instruction and how.
    pub(super) uses: Vec<BTreeMap<(u32, u32, UseKind), ValueUse>>,
}

impl ValueFlow {
    /// The number of a value.
    pub(super) fn value(&mut self, key: ValueKey, bits: u32) -> usize {
        let next = self.made.len();
        let number = *self.keys.entry(key).or_insert(next);
        if number == next {
            self.made.push((0, bits.clamp(1, BITS as u32)));
            self.uses.push(BTreeMap::new());
        }
        number
    }

    /// Notes a use. Whether it is one of those that are looked at closely: the first, the second, the fourth and so on.
    pub(super) fn used(&mut self, value: usize, by: (u32, u32, UseKind), makes: &[usize]) -> Option<&mut ValueUse> {
        let it = self.uses[value].entry(by).or_default();
        it.count += 1;
        for make in makes {
            if !it.makes.contains(make) {
                it.makes.push(*make);
            }
        }
        it.count.is_power_of_two().then_some(it)
    }
}
