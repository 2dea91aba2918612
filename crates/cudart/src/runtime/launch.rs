//! Launches: from a stub's address and pointers to arguments to a kernel that has run.

use capsule::Launch;
use inject::{DeviceError, TrapReport};
use simt::TrapKind;

use super::modules::{self, Kernel};
use super::work::Work;
use super::{Health, Runtime, code_of, occupancy, spec};
use crate::abi::types::Dim3;
use crate::abi::{Args, is_cuda_12};
use crate::code::Code;
use crate::report::say;

/// The extents of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) shared: u64,
    pub(crate) cooperative: bool,
}

/// A launch that was checked, with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct ReadyLaunch {
    function: u64,
    shape: Shape,
    params: Vec<u8>,
}

impl Runtime {
    /// Runs a kernel, or notes that it is to run.
    pub(crate) fn launch(&mut self, function: u64, shape: Shape, args: Args, stream: u64) -> Result<(), Code> {
        self.show_printed();
        self.check()?;
        self.streams.get(stream)?;
        let launch = self.prepare(function, shape, args)?;
        if self.graphs.note(stream, || Work::Kernel(launch.clone()))? { Ok(()) } else { self.start(&launch) }
    }

    /// Checks a launch and takes its arguments.
    pub(crate) fn prepare(&mut self, function: u64, shape: Shape, args: Args) -> Result<ReadyLaunch, Code> {
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
        self.expose(&launch.params)?;
        self.share_with_device()?;
        match self.gpu.launch(launch) {
            Ok(None) => self.mirrors.pull(&mut self.gpu, true).map_err(|error| code_of(&error)),
            Ok(Some(report)) => {
                self.fail(&report);
                Ok(())
            }
            Err(error) => Err(self.refuse(&kernel, &error)),
        }
    }

    /// A kernel, its module loaded.
    pub(crate) fn kernel(&mut self, function: u64) -> Result<Kernel, Code> {
        self.modules.kernel(function, &mut self.gpu, &mut self.memory)
    }

    /// A kernel did something wrong.
    fn fail(&mut self, report: &TrapReport) {
        let code = code_of_trap(report.trap.kind);
        say(format_args!("{report}; the application gets {}", code.name().to_string_lossy()));
        self.health = Health::Failing(code);
    }

    /// We cannot run a kernel.
    fn refuse(&mut self, kernel: &Kernel, error: &DeviceError) -> Code {
        let name = &kernel.function.name;
        let help = if self.modules.is_linked(&kernel.function) { modules::LINK_HELP } else { "" };
        say(format_args!("failed to launch `{name}`: {error}{help}"));
        self.gpu.spoil(format!("`{name}` could not be launched"));
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
fn check(kernel: &Kernel, shape: &Shape) -> Result<(), Code> {
    let fits = |dim: Dim3, bounds: [i32; 3]| {
        let within = |(extent, bound): (u32, i32)| extent >= 1 && extent <= bound.unsigned_abs();
        extents(dim).into_iter().zip(bounds).all(within)
    };
    let threads = product(shape.block);
    if !fits(shape.grid, spec::GRID)
        || !fits(shape.block, spec::BLOCK)
        || threads > u64::from(spec::THREADS_PER_BLOCK.unsigned_abs())
    {
        return Err(if is_cuda_12() { Code::INVALID_CONFIGURATION } else { Code::INVALID_VALUE });
    }
    if threads > u64::from(occupancy::max_threads(&kernel.info)) || shape.shared > dynamic_shared(kernel) {
        return Err(Code::INVALID_VALUE);
    }
    let blocks = product(shape.grid);
    if shape.cooperative && blocks > resident(kernel, threads, shape.shared) {
        return Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    if shape.cooperative && blocks > 1 {
        say("cooperative launches of more than one block are not supported yet");
        return Err(Code::NOT_SUPPORTED);
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

/// What CUDA calls the ends of a kernel. An H200 says "illegal address" for shared memory too, and when the stack
/// overflows, which it does into unmapped memory.
fn code_of_trap(kind: TrapKind) -> Code {
    match kind {
        TrapKind::IllegalAddress | TrapKind::OutOfRangeAddress | TrapKind::StackOverflow => Code::ILLEGAL_ADDRESS,
        TrapKind::MisalignedAddress => Code::MISALIGNED_ADDRESS,
        TrapKind::IllegalInstruction => Code::ILLEGAL_INSTRUCTION,
        TrapKind::BarrierDeadlock | TrapKind::OutOfFuel => Code::LAUNCH_TIMEOUT,
        TrapKind::Trap => Code::LAUNCH_FAILURE,
        TrapKind::Assert => Code::ASSERT,
    }
}
