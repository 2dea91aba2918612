//! The state of the simulated CUDA runtime in this process, and the way to it.
//!
//! There is one state, and whoever uses it has it alone: calls of several threads happen one after the other, and
//! each is done when it returns. Streams therefore need no queues, and events have happened when they are recorded.
//!
//! An error of a kernel is not reported by its launch but by the next call that waits, copies, allocates or launches,
//! and by every call after that, as on a GPU, where it takes the context with it; not even a reset brings that back.
//! Other errors are reported by the call that made them and change nothing.
//!
//! Which code a misuse gets was measured with libcudart 13.0 and driver 580 on an H200, where the documentation
//! leaves it open.

use std::cell::Cell;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::advice::Advices;
use super::arrays::Arrays;
use super::errors::code_of;
use super::gpu::Gpu;
use super::graphs::Graphs;
use super::live::LiveRun;
use super::memory::{Memory, MemoryKind};
use super::mirrors::Mirrors;
use super::modules::{Handle, Modules};
use super::output;
use super::pages::Reservation;
use super::recorder::Recorder;
use super::streams::Streams;
use super::textures::Textures;
use crate::code::Code;
use crate::report::fails;

/// Everything that the runtime knows.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) gpu: Gpu,
    pub(crate) modules: Modules,
    pub(crate) memory: Memory,
    pub(crate) streams: Streams,
    pub(crate) graphs: Graphs,
    pub(crate) arrays: Arrays,
    pub(crate) textures: Textures,
    pub(crate) advice: Advices,
    pub(super) mirrors: Mirrors,
    pub(super) reservation: Option<Reservation>,
    pub(super) health: Health,
    /// What the kernel that failed did.
    pub(super) failure: String,
    /// `cudaSetDeviceFlags`.
    pub(crate) flags: u32,
    /// `cudaDeviceSetLimit`, by number.
    pub(crate) limits: [u64; 7],
    /// How much memory the pool keeps, as the application wants it.
    pub(crate) pool_threshold: u64,
}

/// Whether a kernel has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    Good,
    /// One has, and the application has not been told.
    Failing(Code),
    /// One has, and nothing works any more.
    Failed(Code),
}

/// What a device has for stack, printf, heap, synchronisation depth, pending launches, fetch granularity and
/// persisting cache.
const LIMITS: [u64; 7] = [1024, 8_650_752, 8 << 20, 0, 2048, 64, 0];

pub(super) static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

thread_local! {
    /// Whether this thread has the state: a signal handler that interrupts it may not wait for itself.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Does something with the state.
///
/// # Errors
/// What `work` says; or that this thread is in the middle of another call.
pub(crate) fn with<T>(work: impl FnOnce(&mut Runtime) -> Result<T, Code>) -> Result<T, Code> {
    let _inside = Inside::enter().ok_or(Code::NOT_PERMITTED)?;
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    work(runtime.get_or_insert_with(Runtime::new))
}

/// Has the mark of the thread while it lives.
pub(super) struct Inside;

impl Inside {
    pub(super) fn enter() -> Option<Self> {
        (!INSIDE.replace(true)).then_some(Self)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

impl Runtime {
    fn new() -> Self {
        let mut runtime = Self::recording(Recorder::from_environment());
        runtime.gpu.set_live(LiveRun::from_environment());
        runtime
    }

    pub(super) fn recording(recorder: Option<Recorder>) -> Self {
        Self {
            gpu: Gpu::new(recorder),
            modules: Modules::default(),
            memory: Memory::default(),
            streams: Streams::default(),
            graphs: Graphs::default(),
            arrays: Arrays::default(),
            textures: Textures::default(),
            advice: Advices::default(),
            mirrors: Mirrors::default(),
            reservation: Reservation::new(),
            health: Health::Good,
            failure: String::new(),
            flags: 0,
            limits: LIMITS,
            pool_threshold: 0,
        }
    }

    /// Reports the error of a kernel, if there was one.
    pub(crate) fn check(&mut self) -> Result<(), Code> {
        match self.health {
            Health::Good => Ok(()),
            Health::Failing(code) | Health::Failed(code) => {
                self.health = Health::Failed(code);
                Err(fails(code, &self.failure))
            }
        }
    }

    /// As [`check`](Self::check), for calls that do not wait for kernels.
    pub(crate) fn check_told(&self) -> Result<(), Code> {
        match self.health {
            Health::Failed(code) => Err(fails(code, &self.failure)),
            Health::Good | Health::Failing(_) => Ok(()),
        }
    }

    /// Whether host and device share the memory that begins here.
    pub(crate) fn is_shared(&self, address: u64) -> bool {
        self.mirrors.device_of(address).is_some()
    }

    /// Whether no kernel has failed.
    pub(crate) fn is_good(&self) -> bool {
        self.health == Health::Good
    }

    /// The host waits until all is done.
    pub(crate) fn synchronize(&mut self) -> Result<(), Code> {
        self.show_printed();
        self.check()?;
        self.gpu.synchronize();
        self.mirrors.see(&mut self.gpu);
        Ok(())
    }

    /// Where CUDA does: what kernels printed appears on the application's standard output.
    pub(super) fn show_printed(&mut self) {
        let printed = self.gpu.take_printed();
        if !printed.is_empty() {
            output::write(&printed);
        }
        self.tell_races();
        let complaints = self.gpu.take_complaints();
        if !complaints.is_empty() {
            // As ever, if stderr is closed there is nobody to tell.
            let _ = std::io::stderr().write_all(&complaints);
        }
    }

    /// Says which data races were found, once; silent where what the application writes is compared.
    fn tell_races(&mut self) {
        let (races, unsearched) = (self.gpu.take_races(), self.gpu.take_unsearched());
        if races.is_empty() && unsearched.is_none() || std::env::var_os(crate::runner::SILENT).is_some() {
            return;
        }
        // Races at several instructions of a line read alike.
        let lines: std::collections::BTreeSet<String> =
            races.iter().map(|race| format!("beamline: {race}\n")).collect();
        let mut text: String = lines.into_iter().collect();
        if !text.is_empty() {
            text += "beamline: what these kernels compute depends on who runs first; their warps are interleaved, as on a GPU\n";
        }
        if let Some(kernel) = unsearched {
            text += &format!(
                "beamline: data races are looked for in a part of what is launched ({kernel} is the first kernel of which some is left out); elsewhere one warp runs after the other\n"
            );
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// Before the GPU does something: what the host changed in shared memory goes there.
    pub(super) fn share_with_device(&mut self) -> Result<(), Code> {
        self.mirrors.push(&mut self.gpu).map_err(|error| code_of(&error))
    }

    /// After the GPU did something that is no kernel: what it changed in shared memory comes back.
    pub(super) fn share_with_host(&mut self, blocking: bool) -> Result<(), Code> {
        self.mirrors.pull(&mut self.gpu, false).map_err(|error| code_of(&error))?;
        if blocking {
            self.show_printed();
            self.mirrors.see(&mut self.gpu);
        }
        Ok(())
    }

    /// Whether an address can only be one of the GPU.
    pub(super) fn is_reserved(&self, address: u64) -> bool {
        use simt::memory::window::{DEVICE_BASE, DEVICE_BYTES};
        self.reservation.is_some() && address.wrapping_sub(DEVICE_BASE) < DEVICE_BYTES
    }

    /// Gives back all that the application has. Modules stay as they are, and a device on which a kernel failed is
    /// lost to this process.
    pub(crate) fn reset(&mut self) {
        self.show_printed();
        if self.health != Health::Good {
            self.health = Health::Failed(Code::DEVICES_UNAVAILABLE);
            self.failure = "a kernel failed before the device was reset".to_owned();
            return;
        }
        let allocated: Vec<_> = self.memory.allocated().collect();
        for block in allocated {
            // It is there, so it can be freed.
            let _ = self.free(block.address, |kind| matches!(kind, MemoryKind::Allocated(_)));
        }
        self.streams.clear();
        self.graphs.clear();
        self.arrays.clear();
        self.textures.clear();
        self.advice.clear();
        self.flags = 0;
        self.limits = LIMITS;
        self.gpu.set_heap_bytes(LIMITS[2]);
    }

    /// Loads what has to be there before the application uses it: managed variables.
    pub(crate) fn initialize(&mut self, handle: Handle) -> Result<(), Code> {
        if !self.modules.has_managed(handle) {
            return Ok(());
        }
        for managed in self.modules.managed(handle, &mut self.gpu, &mut self.memory)? {
            self.share_variable(managed)?;
        }
        Ok(())
    }
}
