//! Allocating and freeing, on the GPU, on the host, and for both.

use capsule::{AllocKind, Region};

use super::errors::code_of;
use super::memory::{Block, MemoryKind};
use super::modules::Managed;
use super::{Runtime, host, pages};
use crate::abi::pointer;
use crate::code::Code;
use crate::report::{fails, say};

impl Runtime {
    /// Memory on the GPU. Nothing is at the null address, which is also what an allocation of nothing gets.
    pub(crate) fn allocate(&mut self, bytes: u64, kind: AllocKind) -> Result<u64, Code> {
        self.check()?;
        if bytes == 0 {
            return Ok(0);
        }
        self.refuse_more_than_there_is(bytes)?;
        let address = self.gpu.allocate(bytes, kind).map_err(|error| code_of(&error))?;
        self.memory.insert(Block { address, bytes, kind: MemoryKind::Allocated(kind) });
        Ok(address)
    }

    /// Memory of a graph, at an address that it had before, unless it is still there.
    pub(super) fn allocate_at(&mut self, address: u64, bytes: u64) -> Result<(), Code> {
        self.check()?;
        if self.memory.covering(address, bytes).is_some() {
            return Ok(());
        }
        self.refuse_more_than_there_is(bytes)?;
        self.gpu.place(address, bytes, AllocKind::Pool).map_err(|error| code_of(&error))?;
        self.memory.insert(Block { address, bytes, kind: MemoryKind::Allocated(AllocKind::Pool) });
        Ok(())
    }

    /// Memory that both sides see at the same address.
    pub(crate) fn allocate_managed(&mut self, bytes: u64) -> Result<u64, Code> {
        if bytes == 0 {
            return Ok(0);
        }
        let address = self.allocate(bytes, AllocKind::Managed)?;
        let shared = self.open(address, bytes).and_then(|()| {
            // SAFETY: the pages were opened just now, and stay open.
            let added = unsafe { self.mirrors.add_from_device(&mut self.gpu, address, bytes) };
            added.map_err(|error| code_of(&error))
        });
        if shared.is_err() {
            self.free(address, super::is_device)?;
        }
        shared.map(|()| address)
    }

    /// Page-locked memory of the host. It lies at an address that the GPU keeps free, so that kernels can use it when
    /// they do.
    pub(crate) fn allocate_pinned(&mut self, bytes: u64, mapped: bool) -> Result<u64, Code> {
        self.check()?;
        if bytes == 0 {
            return Ok(0);
        }
        let address = match &self.reservation {
            Some(_) => self.allocate_shared_pages(bytes)?,
            None => pages::heap(bytes).ok_or(Code::MEMORY_ALLOCATION)?,
        };
        let kind = if self.reservation.is_some() { MemoryKind::Pinned } else { MemoryKind::Heap };
        self.memory.insert(Block { address, bytes, kind });
        if mapped {
            self.device_address(address)?;
        }
        Ok(address)
    }

    /// Zeroed pages of the host at an address that the GPU keeps free.
    fn allocate_shared_pages(&mut self, bytes: u64) -> Result<u64, Code> {
        let address = self.gpu.reserve(bytes).map_err(|error| code_of(&error))?;
        if let Err(code) = self.open(address, bytes) {
            self.gpu.free(address, false).map_err(|error| code_of(&error))?;
            return Err(code);
        }
        // SAFETY: the pages were opened just now, and the application does not know of them yet.
        unsafe { host::fill(&Region::linear(address, bytes), &[0]) };
        Ok(address)
    }

    /// Notes memory of the application that it declares to be page-locked.
    pub(crate) fn register(&mut self, address: u64, bytes: u64) -> Result<(), Code> {
        self.check()?;
        let end = address.checked_add(bytes);
        if address == 0 || bytes == 0 || end.is_none() || self.is_reserved(address) {
            return Err(Code::INVALID_VALUE);
        }
        if self.memory.holding(address).is_some() || self.memory.holding(address + bytes - 1).is_some() {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED);
        }
        self.memory.insert(Block { address, bytes, kind: MemoryKind::Registered });
        Ok(())
    }

    /// The address at which the GPU sees page-locked memory that begins here. From now on it does.
    pub(crate) fn device_address(&mut self, address: u64) -> Result<u64, Code> {
        let block = self.memory.starting(address).filter(Block::is_host).ok_or(Code::INVALID_VALUE)?;
        if let Some(device) = self.mirrors.device_of(address) {
            return Ok(device);
        }
        let device = match block.kind {
            MemoryKind::Pinned => address,
            _ => self.gpu.reserve(block.bytes).map_err(|error| code_of(&error))?,
        };
        self.gpu.announce(device, block.bytes, AllocKind::Pinned);
        // SAFETY: pinned pages stay open; for registered memory the application vouches until it unregisters it.
        let added = unsafe { self.mirrors.add_from_host(&mut self.gpu, address, device, block.bytes) };
        added.map_err(|error| code_of(&error))?;
        Ok(device)
    }

    /// Shows the GPU all pinned memory that arguments of a kernel point into.
    pub(super) fn expose(&mut self, params: &[u8]) -> Result<(), Code> {
        let words = params.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes));
        let pinned = words.filter_map(|word| self.memory.holding(word));
        let pinned: Vec<Block> = pinned.filter(|block| block.kind == MemoryKind::Pinned).collect();
        for block in pinned {
            self.device_address(block.address)?;
        }
        Ok(())
    }

    /// Lets the host see a managed variable, and tells the application where it is.
    pub(super) fn share_variable(&mut self, managed: Managed) -> Result<(), Code> {
        let Managed { pointer, address, bytes } = managed;
        if self.mirrors.device_of(address).is_some() {
            return Ok(());
        }
        self.share_place(address, bytes)?;
        // SAFETY: the application registered this place for the variable's address.
        unsafe { pointer::store_at(pointer, address) }
    }

    /// Lets the host see memory of the device.
    pub(crate) fn share_place(&mut self, address: u64, bytes: u64) -> Result<(), Code> {
        if self.mirrors.device_of(address).is_some() {
            return Ok(());
        }
        self.open(address, bytes)?;
        // SAFETY: the pages were opened just now, and stay open.
        let added = unsafe { self.mirrors.add_from_device(&mut self.gpu, address, bytes) };
        added.map_err(|error| code_of(&error))
    }

    /// Gives memory back, if it is of a kind that the call frees.
    pub(crate) fn free(&mut self, address: u64, frees: impl Fn(MemoryKind) -> bool) -> Result<(), Code> {
        self.check()?;
        if address == 0 {
            return Ok(());
        }
        let block = self.memory.starting(address).filter(|block| frees(block.kind));
        let place = || {
            format!("{address:#x} is not where an allocation of this kind starts; it {}", self.memory.describe(address))
        };
        let block = block.ok_or_else(|| fails(Code::INVALID_VALUE, place()))?;
        let mirrored = self.mirrors.remove(address);
        let on_device = match block.kind {
            MemoryKind::Allocated(_) => Some((address, true)),
            MemoryKind::Pinned => Some((address, mirrored.is_some())),
            MemoryKind::Registered | MemoryKind::Heap => mirrored.map(|device| (device, true)),
            MemoryKind::Variable => return Err(Code::INVALID_VALUE),
        };
        if block.kind == MemoryKind::Heap {
            // SAFETY: allocated so, and forgotten below.
            unsafe { pages::free_heap(address, block.bytes) };
        }
        if let Some((device, announced)) = on_device {
            self.gpu.free(device, announced).map_err(|error| code_of(&error))?;
        }
        self.memory.remove(address);
        self.advice.remove(&address);
        Ok(())
    }

    /// Opens pages of the host at an address of the GPU.
    fn open(&self, address: u64, bytes: u64) -> Result<(), Code> {
        let Some(reservation) = &self.reservation else {
            say(
                "failed to share memory with the simulated GPU: its addresses are in use in this process; start it again",
            );
            return Err(Code::NOT_SUPPORTED);
        };
        reservation.open(address, bytes).map_err(|_| Code::MEMORY_ALLOCATION)
    }

    fn refuse_more_than_there_is(&self, bytes: u64) -> Result<(), Code> {
        let taken = self.memory.allocated_bytes().checked_add(bytes);
        if taken.is_some_and(|taken| taken <= super::spec::MEMORY_BYTES) {
            Ok(())
        } else {
            let (free, most) = (super::spec::MEMORY_BYTES - self.memory.allocated_bytes(), super::spec::MEMORY_BYTES);
            Err(fails(Code::MEMORY_ALLOCATION, format_args!("{bytes} bytes asked for; {free} of {most} are free")))
        }
    }
}
