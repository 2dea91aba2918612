//! The one way to the simulated GPU: what is done to it is recorded as it is done.

use capsule::{AllocKind, Digest, Event, Launch, ModuleId, PlacedSymbol, Region};
use device::{Device, DeviceError, Image, KernelInfo, LaunchEnd, TrapDetail, TrapReport};

use std::sync::Arc;

use super::live::{LaunchAction, LiveRun};
use super::recorder::Recorder;
use super::sources::DeviceCode;
use crate::live::device_op::DeviceOp;

/// The simulated GPU with its recorder, if the run is recorded, and the live run that it is part of, if it is.
#[derive(Debug)]
pub(crate) struct Gpu {
    device: Device,
    recorder: Option<Recorder>,
    live: Option<LiveRun>,
    /// What replayed launches printed.
    printed: Vec<u8>,
    modules: u32,
    nanoseconds: u64,
    /// Whether it was said that not all launches were looked at for data races.
    is_unsearched_said: bool,
}

/// What an operation takes at least, so that no two happen at the same time.
const OPERATION_NANOSECONDS: u64 = 1000;
/// Instructions of threads per nanosecond: about what a GPU with the resources of ours retires.
const INSTRUCTIONS_PER_NANOSECOND: u64 = 1000;

impl Gpu {
    pub(crate) fn new(recorder: Option<Recorder>) -> Self {
        Self {
            device: Device::new(),
            recorder,
            live: None,
            printed: Vec::new(),
            modules: 0,
            nanoseconds: 0,
            is_unsearched_said: false,
        }
    }

    /// Makes it part of a live run.
    pub(super) fn set_live(&mut self, live: Option<LiveRun>) {
        if let Some(live) = &live {
            self.device.memory().set_profile(Arc::clone(live.addresses()));
            self.device.interleave(live.interleaved().clone());
        }
        self.live = live;
    }

    /// Whether it is part of a live run.
    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Ends a live run: we could not do what the application asked for, and so do not know what becomes of it.
    pub(crate) fn fail_live(&mut self, reason: &dyn std::fmt::Display) {
        if let Some(live) = &mut self.live {
            live.fail(reason);
        }
    }

    /// Tells a live run of something.
    fn take(&mut self, op: &DeviceOp<'_>) {
        if let Some(live) = &mut self.live {
            live.take(op);
        }
    }

    /// Has memory hold what replayed launches left there, in a region or everywhere.
    fn settle(&mut self, region: Option<&Region>) {
        if let Some(live) = &mut self.live {
            live.settle(&mut self.device, region);
        }
    }

    /// The time that events read: a count of what the GPU did, in nanoseconds of an imagined clock. The same
    /// application has the same times on every machine.
    pub(crate) fn nanoseconds(&self) -> u64 {
        self.nanoseconds
    }

    /// The recorder.
    pub(crate) fn recorder(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_mut()
    }

    /// Gives up the recording: we could not do what the application asked for.
    pub(crate) fn spoil(&mut self, reason: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.spoil(reason);
        }
    }

    fn record(&mut self, event: impl FnOnce(&mut Recorder) -> Event) {
        if let Some(recorder) = &mut self.recorder {
            let event = event(recorder);
            recorder.push(event);
        }
    }

    fn advance(&mut self, instructions: u64) {
        let worked = instructions / INSTRUCTIONS_PER_NANOSECOND;
        self.nanoseconds = self.nanoseconds.saturating_add(OPERATION_NANOSECONDS + worked);
    }

    /// Loads a module; where its variables are.
    pub(crate) fn load(&mut self, code: DeviceCode<'_>) -> Result<(ModuleId, Vec<PlacedSymbol>), DeviceError> {
        let module = ModuleId(self.modules);
        self.settle(None);
        self.take(&DeviceOp::Load { module, ptx: code.ptx.as_bytes() });
        let symbols = self.device.load(module, &code.name, Image::ptx(&code.ptx))?;
        self.modules += 1;
        self.record(|recorder| {
            recorder.module(module, code, &symbols);
            Event::Load { module }
        });
        Ok((module, symbols))
    }

    /// Sets memory aside.
    pub(crate) fn allocate(&mut self, bytes: u64, kind: AllocKind) -> Result<u64, DeviceError> {
        let address = self.reserve(bytes)?;
        self.announce(address, bytes, kind);
        Ok(address)
    }

    /// Sets memory aside at a given address.
    pub(crate) fn place(&mut self, address: u64, bytes: u64, kind: AllocKind) -> Result<(), DeviceError> {
        self.advance(0);
        self.device.place(address, bytes)?;
        self.announce(address, bytes, kind);
        Ok(())
    }

    /// Sets memory aside without recording it: [`Gpu::announce`] does when it turns out that the GPU uses it.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.advance(0);
        self.device.allocate(bytes)
    }

    /// Records memory that was set aside.
    pub(crate) fn announce(&mut self, address: u64, bytes: u64, kind: AllocKind) {
        self.take(&DeviceOp::Alloc { address, bytes, kind });
        self.record(|_| Event::Alloc { address, bytes, kind });
    }

    /// Gives memory back; `announced` if its allocation was recorded.
    pub(crate) fn free(&mut self, address: u64, announced: bool) -> Result<(), DeviceError> {
        self.advance(0);
        self.device.free(address)?;
        if announced {
            self.take(&DeviceOp::Free { address });
            self.record(|_| Event::Free { address });
        }
        Ok(())
    }

    /// Bytes of the host arrive.
    pub(crate) fn copy_in(&mut self, to: Region, packed: &[u8]) -> Result<(), DeviceError> {
        self.advance(0);
        self.settle(Some(&to));
        self.device.write(&to, packed)?;
        self.take(&DeviceOp::CopyIn { to, bytes: packed });
        self.record(|recorder| Event::CopyIn { to, data: recorder.blob(packed) });
        Ok(())
    }

    /// Bytes of the GPU reach the host.
    pub(crate) fn copy_out(&mut self, from: Region) -> Result<Vec<u8>, DeviceError> {
        self.advance(0);
        self.settle(Some(&from));
        let mut packed = self.device.read(&from)?;
        self.seen(from, &packed);
        if let Some(live) = &mut self.live {
            live.corrupt(&mut packed);
        }
        Ok(packed)
    }

    /// Corrupts bytes of memory that the host is about to share, on both sides, if a trial is to find out what it does about that.
    pub(crate) fn corrupt(&mut self, at: &Region, packed: &mut [u8]) -> Result<(), DeviceError> {
        let corrupted = self.live.as_mut().is_some_and(|live| live.corrupt(packed));
        if corrupted { self.device.write(at, packed) } else { Ok(()) }
    }

    /// The host could see these bytes of the GPU.
    pub(crate) fn seen(&mut self, from: Region, packed: &[u8]) {
        if let Some(live) = &mut self.live {
            live.take_copy(from, packed);
        }
        self.record(|_| Event::CopyOut { from, digest: Digest::of(packed), data: None });
    }

    /// Bytes of the GPU, for ourselves.
    pub(crate) fn peek(&mut self, from: &Region) -> Result<Vec<u8>, DeviceError> {
        self.settle(Some(from));
        self.device.read(from)
    }

    /// Bytes move on the GPU.
    pub(crate) fn copy_within(&mut self, to: Region, from: Region) -> Result<(), DeviceError> {
        self.advance(0);
        self.settle(Some(&from));
        self.settle(Some(&to));
        self.device.copy(&to, &from)?;
        self.take(&DeviceOp::CopyWithin { to, from });
        self.record(|_| Event::CopyWithin { to, from });
        Ok(())
    }

    /// Memory is set to a repeated value of 1, 2 or 4 bytes.
    pub(crate) fn fill(&mut self, to: Region, value: u32, width: u8) -> Result<(), DeviceError> {
        self.advance(0);
        self.settle(Some(&to));
        self.device.fill(&to, value, width)?;
        self.take(&DeviceOp::Fill { to, value, width });
        self.record(|_| Event::Fill { to, value, width });
        Ok(())
    }

    /// A kernel, if the module has one of that name.
    pub(crate) fn kernel(&self, module: ModuleId, name: &str) -> Option<KernelInfo> {
        self.device.kernel(module, name)
    }

    /// Why a kernel cannot be run, as far as its code says.
    pub(super) fn refusal(&self, module: ModuleId, name: &str) -> Option<DeviceError> {
        Some(DeviceError::Module(self.device.refusal(module, name)?.into()))
    }

    /// The names of a module's kernels.
    pub(crate) fn kernels(&self, module: ModuleId) -> Vec<String> {
        self.device.kernels(module)
    }

    /// A kernel runs; what it did wrong, if anything.
    pub(crate) fn launch(&mut self, launch: Launch) -> Result<Option<(TrapReport, TrapDetail)>, DeviceError> {
        let end = match self.run(&launch)? {
            LaunchEnd::Completed { instructions } => Ok(instructions),
            LaunchEnd::Trapped(report) => Err((self.device.explain(&launch, &report), report)),
        };
        self.record(|_| Event::Launch(launch));
        match end {
            Ok(instructions) => {
                self.advance(instructions);
                Ok(None)
            }
            Err((detail, report)) => Ok(Some((report, detail))),
        }
    }

    /// Runs a kernel, or replays it.
    fn run(&mut self, launch: &Launch) -> Result<LaunchEnd, DeviceError> {
        let Some(live) = &mut self.live else { return self.device.launch(launch) };
        live.take(&DeviceOp::Launch(launch));
        match live.way(launch) {
            LaunchAction::Replayed(known) => {
                self.printed.extend_from_slice(known.printed);
                Ok(LaunchEnd::Completed { instructions: known.instructions })
            }
            LaunchAction::Executed(fuel, fault) => {
                live.settle(&mut self.device, None);
                let (launched, injected) = strike::launch(&mut self.device, launch, fuel, fault.as_ref())?;
                live.executed(&launched, injected);
                Ok(launched.end)
            }
        }
    }

    /// What kernels have printed since this was last asked.
    pub(crate) fn take_printed(&mut self) -> Vec<u8> {
        let mut printed = std::mem::take(&mut self.printed);
        printed.extend(self.device.take_printed());
        printed
    }

    /// The first kernel whose search for data races the budget ended; said once.
    pub(crate) fn take_unsearched(&mut self) -> Option<String> {
        let kernel = self.device.first_unsearched().filter(|_| !self.is_unsearched_said)?.to_owned();
        self.is_unsearched_said = true;
        Some(kernel)
    }

    /// The data races that were found since this was last asked.
    pub(crate) fn take_races(&mut self) -> Vec<device::KernelRace> {
        self.device.take_races()
    }

    /// What failed assertions have to say since this was last asked.
    pub(crate) fn take_complaints(&mut self) -> Vec<u8> {
        self.device.take_complaints()
    }

    /// Whether a module with a heap of device code is loaded.
    pub(crate) fn has_heap(&self) -> bool {
        self.device.has_heap()
    }

    /// How large the heap of device code is from now on.
    pub(crate) fn set_heap_bytes(&mut self, bytes: u64) {
        self.device.set_heap_bytes(bytes);
    }

    /// The host waits.
    pub(crate) fn synchronize(&mut self) {
        self.take(&DeviceOp::Synchronize);
        self.record(|_| Event::Synchronize);
    }
}
