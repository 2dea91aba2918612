//! What lies where: allocations on the GPU, and memory of the host that the runtime gave out or was told of.

use std::collections::{BTreeMap, VecDeque};

use capsule::AllocKind;
use simt::memory::window;

/// A piece of memory that the runtime knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: MemoryKind,
}

/// What a piece of memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// Allocated by the application on the GPU.
    Allocated(AllocKind),
    /// A variable of a module.
    Variable,
    /// Allocated by the application on the host, in page-locked memory.
    Pinned,
    /// The same, where it cannot lie at an address that the GPU keeps free.
    Heap,
    /// Memory of the application that it declared to be page-locked.
    Registered,
}

/// The pieces by address. Ones on the GPU and ones on the host never overlap, because the addresses of the GPU are
/// reserved.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    blocks: BTreeMap<u64, Block>,
    allocated: u64,
    /// The numbers of the pieces, counted by what made them.
    numbers: BTreeMap<u64, u64>,
    made: BTreeMap<&'static str, u64>,
    /// What was freed last, and its number.
    freed: VecDeque<(Block, u64)>,
}

/// How many freed pieces are remembered, to explain errors.
const MOST_FREED: usize = 1 << 12;

impl Memory {
    pub(crate) fn insert(&mut self, block: Block) {
        if !block.is_host() {
            self.allocated += block.bytes;
        }
        let number = self.made.entry(block.maker()).or_default();
        *number += 1;
        self.numbers.insert(block.address, *number);
        self.blocks.insert(block.address, block);
    }

    pub(crate) fn remove(&mut self, address: u64) -> Option<Block> {
        let block = self.blocks.remove(&address)?;
        if !block.is_host() {
            self.allocated -= block.bytes;
        }
        let number = self.numbers.remove(&address).unwrap_or_default();
        self.freed.truncate(MOST_FREED - 1);
        self.freed.push_front((block, number));
        Some(block)
    }

    /// The piece that begins at an address.
    pub(crate) fn starting(&self, address: u64) -> Option<Block> {
        self.blocks.get(&address).copied()
    }

    /// The piece that holds an address.
    pub(crate) fn holding(&self, address: u64) -> Option<Block> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        (address - block.address < block.bytes.max(1)).then_some(*block)
    }

    /// The piece that holds a range, all of it.
    pub(crate) fn covering(&self, address: u64, bytes: u64) -> Option<Block> {
        let block = self.holding(address)?;
        (bytes <= block.bytes - (address - block.address).min(block.bytes)).then_some(block)
    }

    /// The pieces that the application allocated on the GPU, in order of address.
    pub(crate) fn allocated(&self) -> impl Iterator<Item = Block> + '_ {
        let of_application = |block: &&Block| matches!(block.kind, MemoryKind::Allocated(_));
        self.blocks.values().filter(of_application).copied()
    }

    /// The piece that begins nearest below an address, and the one above it.
    fn around(&self, address: u64) -> [Option<Block>; 2] {
        let below = self.blocks.range(..=address).next_back();
        let above = self.blocks.range(address.saturating_add(1)..).next();
        [below, above].map(|found| found.map(|(_, block)| *block))
    }

    /// A piece in words: `the allocation of 4096 bytes at 0x3f4000000000 (cudaMalloc #3)`.
    fn named(block: Block, number: u64) -> String {
        let Block { address, bytes, .. } = block;
        format!("the allocation of {bytes} bytes at {address:#x} ({} #{number})", block.maker())
    }

    /// Where an address is, in words that follow it.
    pub(crate) fn describe(&self, address: u64) -> String {
        let named = |block: Block| Self::named(block, self.numbers.get(&block.address).copied().unwrap_or_default());
        if let Some(block) = self.holding(address) {
            return format!("is {} bytes into {}", address - block.address, named(block));
        }
        let held = |block: &Block| address.checked_sub(block.address).is_some_and(|at| at < block.bytes);
        if let Some((block, number)) = self.freed.iter().find(|(block, _)| held(block)) {
            let at = address - block.address;
            return format!("is {at} bytes into {}, which was freed", Self::named(*block, *number));
        }
        if address < 1 << 16 {
            return "is in no allocation; it looks like a null pointer".to_owned();
        }
        if address.wrapping_sub(window::DEVICE_BASE) >= window::DEVICE_BYTES {
            return "is in no allocation of the device; it looks like memory of the host".to_owned();
        }
        let [below, above] =
            self.around(address).map(|block| block.filter(|block| block.kind != MemoryKind::Registered));
        let past = below.map(|block| (address - block.address - block.bytes, block));
        let before = above.map(|block| (block.address - address, block));
        match (past, before) {
            (Some((past, block)), before) if before.is_none_or(|(before, _)| past <= before) => {
                format!("is {past} bytes past the end of {}", named(block))
            }
            (_, Some((before, block))) => format!("is {before} bytes before {}", named(block)),
            _ => "is in no allocation; there is none".to_owned(),
        }
    }

    /// How much of the GPU's memory is taken.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.allocated
    }
}

impl Block {
    /// What made it.
    fn maker(&self) -> &'static str {
        match self.kind {
            MemoryKind::Allocated(AllocKind::Managed) => "cudaMallocManaged",
            MemoryKind::Allocated(AllocKind::Pool) => "cudaMallocAsync",
            MemoryKind::Allocated(_) => "cudaMalloc",
            MemoryKind::Variable => "variable",
            MemoryKind::Pinned | MemoryKind::Heap => "cudaMallocHost",
            MemoryKind::Registered => "cudaHostRegister",
        }
    }

    /// Whether it is memory of the host alone, as far as copies are concerned.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.kind, MemoryKind::Pinned | MemoryKind::Heap | MemoryKind::Registered)
    }
}

/// The kinds of memory that `cudaFree` frees.
pub(crate) fn is_device(kind: MemoryKind) -> bool {
    matches!(kind, MemoryKind::Allocated(AllocKind::Device | AllocKind::Managed | AllocKind::Pool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_described_by_what_is_near() {
        let mut memory = Memory::default();
        let base = window::DEVICE_BASE;
        let kind = MemoryKind::Allocated(AllocKind::Device);
        let check = |memory: &Memory, address: u64, expect: &str| assert_eq!(memory.describe(address), expect);
        check(&memory, base, "is in no allocation; there is none");
        memory.insert(Block { address: base, bytes: 64, kind });
        memory.insert(Block { address: base + 0x10_0000, bytes: 100, kind });
        let first = "the allocation of 64 bytes at 0x3f4000000000 (cudaMalloc #1)";
        let second = "the allocation of 100 bytes at 0x3f4000100000 (cudaMalloc #2)";
        check(&memory, base + 4, &format!("is 4 bytes into {first}"));
        check(&memory, base + 64, &format!("is 0 bytes past the end of {first}"));
        check(&memory, base + 0xf_fffc, &format!("is 4 bytes before {second}"));
        check(&memory, 8, "is in no allocation; it looks like a null pointer");
        check(&memory, 0x7fff_0000_0000, "is in no allocation of the device; it looks like memory of the host");
        memory.remove(base + 0x10_0000);
        check(&memory, base + 0x10_0008, &format!("is 8 bytes into {second}, which was freed"));
    }

    #[test]
    fn an_address_belongs_to_the_piece_that_holds_it() {
        let mut memory = Memory::default();
        let block = Block { address: 0x1000, bytes: 100, kind: MemoryKind::Allocated(AllocKind::Device) };
        memory.insert(block);
        assert_eq!(memory.holding(0x1063), Some(block));
        assert_eq!(memory.holding(0x1064), None);
        assert_eq!(memory.covering(0x1060, 4), Some(block));
        assert_eq!(memory.covering(0x1060, 5), None);
        assert_eq!(memory.covering(0x1060, u64::MAX), None);
        assert_eq!(memory.allocated_bytes(), 100);
        assert_eq!(memory.remove(0x1000), Some(block));
        assert_eq!((memory.holding(0x1000), memory.allocated_bytes()), (None, 0));
    }
}
