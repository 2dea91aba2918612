//! Launches: from a stub's address and pointers to arguments to a kernel that has run.

use capsule::Launch;
use device::{DeviceError, MemoryAccess, TrapDetail, TrapReport};
use simt::TrapKind;
use simt::guest::DEVICE_LAUNCH;

use super::errors::{code_of, code_of_trap};
use super::modules::{self, Kernel};
use super::state::{Health, Runtime};
use super::work::{LaunchShape, ReadyLaunch, Work};
use super::{occupancy, spec};
use crate::abi::types::Dim3;
use crate::abi::{Args, is_cuda_12};
use crate::code::Code;
use crate::report::{because, explaining, say};

impl Runtime {
    /// Runs a kernel, or notes that it is to run.
    pub(crate) fn launch(&mut self, function: u64, shape: LaunchShape, args: Args, stream: u64) -> Result<(), Code> {
        self.show_printed();
        self.check()?;
        self.streams.get(stream)?;
        let launch = self.prepare(function, shape, args)?;
        if self.graphs.note(stream, || Work::Kernel(launch.clone()))? { Ok(()) } else { self.start(&launch) }
    }

    /// Checks a launch and takes its arguments.
    pub(crate) fn prepare(&mut self, function: u64, shape: LaunchShape, args: Args) -> Result<ReadyLaunch, Code> {
        let kernel = self.kernel(function)?;
        check(&kernel, &shape)?;
        Ok(ReadyLaunch { function, shape, params: arguments(&kernel, args)? })
    }

    /// Runs a kernel. What it does wrong is reported by a later call, as with a GPU.
    pub(super) fn start(&mut self, ready: &ReadyLaunch) -> Result<(), Code> {
        self.check()?;
        let kernel = self.kernel(ready.function)?;
        let launch = Launch {
            module: kernel.module,
            kernel: kernel.function.name.clone(),
            grid: extents(ready.shape.grid),
            block: extents(ready.shape.block),
            shared_bytes: u32::try_from(ready.shape.shared).map_err(|_| Code::INVALID_VALUE)?,
            params: ready.params.clone(),
            cooperative: ready.shape.cooperative,
        };
        // The host may look at managed variables before it has named one.
        self.initialize(kernel.function.handle)?;
        self.expose(&launch.params)?;
        self.share_with_device()?;
        match self.gpu.launch(launch) {
            Ok(None) => self.mirrors.pull(&mut self.gpu, true).map_err(|error| code_of(&error)),
            Ok(Some((report, detail))) => {
                self.fail(&report, &detail);
                Ok(())
            }
            Err(error) => Err(self.refuse(&kernel, &error)),
        }
    }

    /// A kernel that can be run, its module loaded.
    pub(crate) fn kernel(&mut self, function: u64) -> Result<Kernel, Code> {
        self.modules.kernel(function, &mut self.gpu, &mut self.memory)
    }

    /// A kernel as it is declared, its module loaded.
    pub(crate) fn declared(&mut self, function: u64) -> Result<Kernel, Code> {
        self.modules.declared(function, &mut self.gpu, &mut self.memory)
    }

    /// A kernel did something wrong.
    fn fail(&mut self, report: &TrapReport, detail: &TrapDetail) {
        let code = code_of_trap(report.trap.kind);
        let what = if explaining() { self.explain(report, detail) } else { report.to_string() };
        // What a live run's kernel did is for its report, not for the application's standard error.
        if !self.gpu.is_live() {
            say(format_args!("{what}; the application gets {}", code.name().to_string_lossy()));
        }
        self.failure = format!("kernel {} failed: {}", report.kernel, report.trap.kind);
        self.gpu.spoil(self.failure.clone());
        self.health = Health::Failing(code);
    }

    /// What a kernel did wrong, in full.
    fn explain(&self, report: &TrapReport, detail: &TrapDetail) -> String {
        let TrapReport { trap, kernel, function, pc, line } = report;
        let place = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        let (block, thread) = (place(detail.block), place(detail.thread));
        let mut text = format!("{} in kernel {kernel}, block {block}, thread {thread}, instruction {pc}", trap.kind);
        if function != kernel {
            text += &format!(" of {function}");
        }
        if !detail.instruction.is_empty() {
            text += &format!(" `{}`", detail.instruction);
        }
        if let Some((file, line)) = line {
            text += &format!(", {file}:{line}");
        }
        let space = detail.access.map(|access| access.space);
        if let Some(MemoryAccess { verb, bytes, space }) = detail.access {
            let gap = if space.is_empty() { "" } else { " " };
            text += &format!(", {verb} of {bytes} bytes of {space}{gap}memory");
        }
        let Some(address) = trap.address else { return text };
        text += &format!(", address {address:#x}");
        if trap.kind == TrapKind::IllegalAddress && !matches!(space, Some("shared" | "local")) {
            text += &format!(" {}", self.memory.describe(address));
        }
        text
    }

    /// We cannot run a kernel.
    fn refuse(&mut self, kernel: &Kernel, error: &DeviceError) -> Code {
        let name = &kernel.function.name;
        let reason = error.to_string();
        let linked = self.modules.is_linked(&kernel.function) && !reason.contains(DEVICE_LAUNCH);
        let help = if linked { modules::LINK_HELP } else { "" };
        say(format_args!("failed to launch `{name}`: {reason}{help}"));
        self.gpu.spoil(format!("`{name}` could not be launched"));
        if let DeviceError::Module(_) | DeviceError::HostMemory(_) = error {
            self.gpu.fail_live(&format_args!("launch `{name}`: {error}"));
        }
        code_of(error)
    }
}

fn extents(dim: Dim3) -> [u32; 3] {
    [dim.x, dim.y, dim.z]
}

/// The product of extents that may be anything.
fn product(dim: Dim3) -> u64 {
    extents(dim).into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// What is refused before it starts. For extents that no device has, CUDA 13 has another word than CUDA 12.
fn check(kernel: &Kernel, shape: &LaunchShape) -> Result<(), Code> {
    let fits = |dim: Dim3, bounds: [i32; 3]| {
        let within = |(extent, bound): (u32, i32)| extent >= 1 && extent <= bound.unsigned_abs();
        extents(dim).into_iter().zip(bounds).all(within)
    };
    let threads = product(shape.block);
    let asked = |what: &str, asked: [u32; 3], bounds: [i32; 3]| {
        because(format_args!("{what} of {asked:?} asked for; the most is {bounds:?}, and the least 1"));
    };
    if !fits(shape.grid, spec::GRID)
        || !fits(shape.block, spec::BLOCK)
        || threads > u64::from(spec::THREADS_PER_BLOCK.unsigned_abs())
    {
        match () {
            () if !fits(shape.grid, spec::GRID) => asked("a grid", extents(shape.grid), spec::GRID),
            () if !fits(shape.block, spec::BLOCK) => asked("a block", extents(shape.block), spec::BLOCK),
            () => because(format_args!("{threads} threads in a block; the most is {}", spec::THREADS_PER_BLOCK)),
        }
        return Err(if is_cuda_12() { Code::INVALID_CONFIGURATION } else { Code::INVALID_VALUE });
    }
    let (most, dynamic) = (u64::from(occupancy::max_threads(&kernel.info)), dynamic_shared(kernel));
    if threads > most || shape.shared > dynamic {
        let (name, shared) = (&kernel.function.name, shape.shared);
        if threads > most {
            because(format_args!("{threads} threads in a block; kernel {name} can have {most}"));
        } else {
            because(format_args!("{shared} bytes of dynamic shared memory; kernel {name} can have {dynamic}"));
        }
        return Err(Code::INVALID_VALUE);
    }
    let blocks = product(shape.grid);
    if shape.cooperative && blocks > resident(kernel, threads, shape.shared) {
        return Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

/// How many blocks are on the device at a time.
fn resident(kernel: &Kernel, threads: u64, shared: u64) -> u64 {
    let of_multiprocessor = occupancy::blocks(&kernel.info, threads as u32, shared);
    u64::from(of_multiprocessor) * u64::from(spec::MULTIPROCESSORS.unsigned_abs())
}

/// The dynamic shared memory that a launch may ask for.
pub(crate) fn dynamic_shared(kernel: &Kernel) -> u64 {
    let unasked = i64::from(spec::SHARED_PER_BLOCK) - i64::from(kernel.info.static_shared_bytes);
    let allowed = kernel.function.dynamic_shared.map_or(unasked, i64::from);
    allowed.max(0).unsigned_abs()
}

/// The arguments, packed as the kernel declares them.
fn arguments(kernel: &Kernel, args: Args) -> Result<Vec<u8>, Code> {
    let mut packed = vec![0; kernel.info.param_bytes as usize];
    for (index, param) in kernel.info.params.iter().enumerate() {
        let argument = args.read(index, param.bytes as usize)?;
        let place = packed.get_mut(param.offset as usize..).and_then(|rest| rest.get_mut(..argument.len()));
        place.ok_or(Code::INVALID_VALUE)?.copy_from_slice(&argument);
    }
    Ok(packed)
}
