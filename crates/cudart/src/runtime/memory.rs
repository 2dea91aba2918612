//! What lies where: allocations on the GPU, and memory of the host that the runtime gave out or was told of.

use std::collections::BTreeMap;

use capsule::AllocKind;

/// A piece of memory that the runtime knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
}

/// What a piece of memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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
}

impl Memory {
    pub(crate) fn insert(&mut self, block: Block) {
        if !block.is_host() {
            self.allocated += block.bytes;
        }
        self.blocks.insert(block.address, block);
    }

    pub(crate) fn remove(&mut self, address: u64) -> Option<Block> {
        let block = self.blocks.remove(&address)?;
        if !block.is_host() {
            self.allocated -= block.bytes;
        }
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
        let of_application = |block: &&Block| matches!(block.kind, Kind::Allocated(_));
        self.blocks.values().filter(of_application).copied()
    }

    /// How much of the GPU's memory is taken.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.allocated
    }
}

impl Block {
    /// Whether it is memory of the host alone, as far as copies are concerned.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.kind, Kind::Pinned | Kind::Heap | Kind::Registered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_piece_that_holds_it() {
        let mut memory = Memory::default();
        let block = Block { address: 0x1000, bytes: 100, kind: Kind::Allocated(AllocKind::Device) };
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
