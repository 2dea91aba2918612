//! The part of a live run that happens in the application's process.
//!
//! Up to the faulty launch, everything that is asked of the device must be what the recording has, so that launches
//! can be replayed: what they changed in memory is written there when somebody looks, what they printed is printed.
//! With the faulty launch the application is on its own: it executes, and so does what follows, with fuel that is
//! taken from the recording. What the watching process is to know is written down as it happens.
//!
//! What we cannot do ends the process at once with a note that says why: it is no outcome.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::process::parent_id;
use std::sync::Arc;

use capsule::{Digest, EventKind, Launch, Region};
use device::{AddressProfile, Device, Interleavings, LaunchEnd, Launched};
use fault::Fault;
use outcome::{End, ProgramPoint};
use simt::Fuel;
use simt::memory::window::DEVICE_BASE;
use simt::memory::{PAGE, address_of};
use strike::{FUEL_FACTOR, Injected};

use super::pages;
use crate::live::corruption::Corruption;
use crate::live::device_op::{DeviceOp, Fingerprint, shape};
use crate::live::golden_trace::{GoldenTrace, LaunchTrace, TracedRegion};
use crate::live::report::{Counters, LiveReportWriter, Note};
use crate::live::{Orders, VARIABLE};

/// The factor of fuel for launches that the golden run never made: each thread may execute this many times the most that
/// any thread of the golden run executed, plus [`UNKNOWN_CONSTANT`].
const UNKNOWN_FACTOR: u32 = FUEL_FACTOR;
/// The constant part of this fuel, in instructions; the campaign's own constant, if that is more.
pub(crate) const UNKNOWN_CONSTANT: u32 = 1_000_000;
/// The status of a process that we end; nobody takes it for the application's.
const ENDED_BY_US: i32 = 70;
/// Files of ours have numbers from this one on, so that those of the application are what they would be without us.
const FIRST_NUMBER: i32 = 500;
const F_DUPFD_CLOEXEC: i32 = 1030;

// As glibc and musl declare them.
unsafe extern "C" {
    fn _exit(status: i32) -> !;
    fn fcntl(file: i32, command: i32, ...) -> i32;
    fn close(file: i32) -> i32;
}

/// A live run, seen from within.
#[derive(Debug)]
pub(crate) struct LiveRun {
    trace: GoldenTrace<'static>,
    report: LiveReportWriter,
    regions: Vec<TracedRegion<'static>>,
    fault: Option<Fault>,
    replay: bool,
    /// What a thread may execute beyond the multiple.
    fuel: u32,
    loops: u64,
    addresses: Arc<AddressProfile>,
    interleaved: Interleavings,
    counters: Counters,
    /// The last operation of the golden run that is a launch.
    last_launch: u64,
    /// What becomes of what the host gets after it, in a trial.
    corruption: Option<Corruption>,
    /// How often the host got something that was corrupted.
    corrupted: u64,
    /// The last of them was a synchronisation; the recording has only the first of several.
    waited: bool,
    /// The faulty launch has begun.
    injected: bool,
    /// From the fault's first use to the end of its block.
    distance: u64,
    /// What the host got is not what it got in the golden run.
    differs: bool,
    /// Pages that replayed launches changed, by number, and where their bytes lie in the trace.
    pending: BTreeMap<u32, u64>,
}

/// What is done about a launch.
pub(super) enum LaunchAction {
    /// What it did is known.
    Replayed(LaunchTrace<'static>),
    /// It is executed, with this fuel and, if it is the faulty one, this fault.
    Executed(Fuel<'static>, Option<Fault>),
}

impl LiveRun {
    /// The live run that the environment asks for, if it asks this process.
    pub(crate) fn from_environment() -> Option<Self> {
        let text = env::var(VARIABLE).ok()?;
        let orders = Orders::parse(&text)?;
        if orders.parent != parent_id() {
            return None;
        }
        let report = own(orders.report).and_then(LiveReportWriter::new);
        // Without a report there is nobody to tell; who watches takes the silence for a failure.
        let mut report = report.unwrap_or_else(|_| leave());
        let fault = orders.fault.as_deref().map(str::parse::<Fault>).transpose();
        let trace = own(orders.trace).and_then(|file| pages::map(&file));
        match (fault, trace.map(GoldenTrace::read)) {
            (Ok(fault), Ok(Some(trace))) => Some(Self::new(trace, report, fault, &orders)),
            (Err(error), _) => give_up(&mut report, &error),
            (_, Err(error)) => give_up(&mut report, &format_args!("map the recording: {error}")),
            (_, Ok(None)) => give_up(&mut report, &"read the recording: it is none"),
        }
    }

    fn new(trace: GoldenTrace<'static>, report: LiveReportWriter, fault: Option<Fault>, orders: &Orders) -> Self {
        Self {
            trace,
            report,
            regions: trace.regions().collect(),
            fault,
            replay: orders.replay,
            fuel: orders.fuel,
            loops: orders.loops,
            addresses: Arc::clone(&orders.addresses),
            interleaved: orders.interleaved.clone(),
            counters: Counters::default(),
            last_launch: trace.last_launch() as u64,
            corruption: orders.corruption,
            corrupted: 0,
            waited: false,
            injected: false,
            distance: 0,
            differs: false,
            pending: BTreeMap::new(),
        }
    }

    /// What becomes of accesses that miss what the program was given.
    pub(crate) fn addresses(&self) -> &Arc<AddressProfile> {
        &self.addresses
    }

    /// The kernels that are interleaved.
    pub(crate) fn interleaved(&self) -> &Interleavings {
        &self.interleaved
    }

    /// We cannot go on.
    pub(crate) fn fail(&mut self, reason: &dyn Display) -> ! {
        give_up(&mut self.report, reason)
    }

    /// Takes note of what is done to the device. The number of a launch is that of those before it.
    pub(super) fn take(&mut self, op: &DeviceOp<'_>) {
        let waits = matches!(op, DeviceOp::Synchronize);
        if waits && self.waited {
            return;
        }
        self.waited = waits;
        let done = self.counters.operations;
        let (found, expected) = (op.fingerprint(), usize::try_from(done).ok().and_then(|done| self.trace.event(done)));
        self.counters.operations += 1;
        if self.corruption.is_some() {
            // Doing less than the golden run is other work, too, and shows at the end.
            self.count();
        }
        if self.is_corrupted(op, expected) {
            return;
        }
        let known = usize::try_from(self.counters.launches).ok().and_then(|number| self.trace.launch(number));
        let differs = match op {
            DeviceOp::Launch(launch) => !known.is_some_and(|known| known.has_arguments(&launch.params)),
            _ => false,
        };
        if differs || expected != Some(found) {
            if !self.injected {
                let expected = expected.map_or_else(|| "the end".to_owned(), |print| print.what());
                let launches = self.counters.launches;
                self.fail(&format_args!(
                    "repeat the application: before its fault, after {launches} launches, it did something else than in its \
                     golden run: event {done} was {expected}, and is {} with other places, bytes or arguments; \
                     an application that depends on time, on random numbers or on the order of its threads cannot be \
                     run live",
                    found.what()
                ));
            }
            // The host has seen it; whether it could have acted on it, the golden run says, or what it does now.
            self.differs = true;
            if done < self.last_launch && !self.counters.visible {
                self.counters.visible = true;
                self.count();
            }
        }
    }

    /// Takes note of a copy to the host.
    pub(super) fn take_copy(&mut self, from: Region, bytes: &[u8]) {
        let digest = Digest::of(bytes);
        self.take(&DeviceOp::CopyOut { from, digest });
        let copied = self.regions.iter().zip(0..).find(|(copied, _)| copied.region == from);
        if let Some((copied, number)) = copied {
            let known = copied.find(digest).map(|at| at as u64);
            self.written(|report| report.copy(number, known, bytes));
        }
    }

    /// Whether it is a copy of an output whose bytes both sides have since they were corrupted.
    fn is_corrupted(&self, op: &DeviceOp<'_>, expected: Option<Fingerprint>) -> bool {
        let of_output = match op {
            DeviceOp::CopyOut { from, .. } => self.regions.iter().any(|copied| copied.region == *from),
            _ => false,
        };
        self.corrupted > 0 && of_output && expected.and_then(Fingerprint::kind) == Some(EventKind::CopyOut)
    }

    /// Corrupts what the host is about to get, if this is a trial and the last launch of the golden run is done; whether it was.
    pub(super) fn corrupt(&mut self, bytes: &mut [u8]) -> bool {
        let Some(corruption) = self.corruption.filter(|_| self.counters.operations > self.last_launch) else {
            return false;
        };
        corruption.apply(self.corrupted, bytes);
        self.corrupted += 1;
        true
    }

    /// What is to be done about a launch.
    pub(super) fn way(&mut self, launch: &Launch) -> LaunchAction {
        let number = self.counters.launches;
        self.counters.launches += 1;
        let known = usize::try_from(number).ok().and_then(|number| self.trace.launch(number));
        let fault = self.fault.as_ref().filter(|fault| u64::from(fault.launch) == number).cloned();
        self.injected |= fault.is_some();
        if let (true, false, Some(known)) = (self.replay, self.injected, known) {
            self.counters.replayed += 1;
            self.pending.extend(known.pages.iter().map(|[page, at]| (*page as u32, *at)));
            self.count();
            return LaunchAction::Replayed(known);
        }
        self.counters.visible |= self.differs;
        self.count();
        let fuel = match known.filter(|known| known.shape == shape(launch)) {
            Some(known) => {
                let (constant, loops) = (self.fuel, self.loops);
                Fuel::Scaled { counts: known.counts, factor: FUEL_FACTOR, constant, loops, looks_ahead: true }
            }
            None => {
                let constant = self.fuel.max(UNKNOWN_CONSTANT);
                Fuel::Each(self.trace.most.saturating_mul(UNKNOWN_FACTOR).saturating_add(constant))
            }
        };
        LaunchAction::Executed(fuel, fault)
    }

    /// Takes note of a launch that was executed.
    pub(super) fn executed(&mut self, launched: &Launched, injected: Option<Injected>) {
        if !self.injected {
            return;
        }
        self.counters.instructions += launched.instructions;
        self.counters.strayed += launched.strayed;
        self.count();
        if let (Some(injected), Some(fault)) = (injected, &self.fault) {
            self.distance = injected.after(fault, launched.thread_instructions);
            let note = Note::Injected { landed: injected.landed, first_use: injected.first_use };
            self.written(|report| report.note(&note));
        }
        if let LaunchEnd::Trapped(trap) = &launched.end {
            let line = trap.line.as_ref().map(|(_, line)| *line);
            let at = ProgramPoint { kernel: trap.kernel.clone(), pc: trap.pc, line, after: self.distance };
            let end = strike::end(&trap.trap, at, None);
            let hangs = matches!(end, End::Hang { .. } | End::OutOfFuel { .. });
            self.written(|report| report.note(&Note::Ended(end)));
            if hangs {
                // On a GPU it would never return.
                leave();
            }
        }
    }

    /// Brings what replayed launches changed into memory, where it overlaps a region; everywhere, if none is given.
    pub(super) fn settle(&mut self, device: &mut Device, region: Option<&Region>) {
        if self.pending.is_empty() {
            return;
        }
        let page = |address: u64| (address.saturating_sub(DEVICE_BASE) / PAGE as u64) as u32;
        let (first, last) = region.map_or((0, u32::MAX), |region| {
            let end = region.address.saturating_add(region.span().unwrap_or(u64::MAX));
            (page(region.address), page(end))
        });
        let pages: Vec<(u32, u64)> = self.pending.range(first..=last).map(|(page, at)| (*page, *at)).collect();
        for (page, at) in pages {
            self.pending.remove(&page);
            let address = address_of(page);
            if !self.trace.page(at).is_some_and(|bytes| device.memory().copy_in(address, bytes)) {
                self.fail(&format_args!("replay a launch: the page at {address:#x} is not there"));
            }
        }
    }

    fn count(&mut self) {
        let counters = self.counters;
        self.written(|report| report.count(&counters));
    }

    /// Writes to the report. What cannot be written would be missed.
    fn written(&mut self, write: impl FnOnce(&mut LiveReportWriter) -> io::Result<()>) {
        if let Err(error) = write(&mut self.report) {
            self.fail(&format_args!("write the report of a live run: {error}"));
        }
    }
}

fn give_up(report: &mut LiveReportWriter, reason: &dyn Display) -> ! {
    // If even this cannot be written, the report ends without what it must have, which says enough.
    let _ = report.note(&Note::Failure(reason.to_string()));
    leave()
}

/// Ends the process, at once.
fn leave() -> ! {
    // SAFETY: ends the process without running anything of it.
    unsafe { _exit(ENDED_BY_US) }
}

/// A file that the process inherited, under a number that is out of the application's way.
fn own(number: i32) -> io::Result<File> {
    // SAFETY: a system call without pointers.
    let moved = unsafe { fcntl(number, F_DUPFD_CLOEXEC, FIRST_NUMBER) };
    if moved < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was made for us, and nothing else uses it.
    unsafe { close(number) };
    // SAFETY: the new number is open, and nobody else's.
    Ok(unsafe { File::from_raw_fd(moved) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::golden_trace::{GoldenTraceWriter, LaunchRecord};
    use capsule::ModuleId;
    use counts::Counts;

    /// A live run of a recording of one launch whose only thread executed five instructions.
    fn live(launch: &Launch, fuel: u32) -> LiveRun {
        let (mut trace, counts) = (GoldenTraceWriter::default(), Counts::from_iter([5u32]));
        trace.launch(&LaunchRecord { launch, counts: counts.view(), printed: b"", read: &[] }, std::iter::empty());
        let bytes = trace.finish(&[DeviceOp::Launch(launch).fingerprint()]);
        let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        let words: &'static [u64] = words.collect::<Vec<u64>>().leak();
        let trace = GoldenTrace::read(bytemuck::cast_slice(words)).unwrap();
        let report = LiveReportWriter::new(tempfile::tempfile().unwrap()).unwrap();
        let fault = "launch=0,cta=0,thread=0,dyn=1,target=dst0,model=flip,bits=0".parse().unwrap();
        let (addresses, interleaved) = (Arc::default(), Interleavings::new());
        let orders = Orders {
            trace: 0,
            report: 0,
            parent: 0,
            fuel,
            loops: 0,
            addresses,
            interleaved,
            replay: true,
            fault: None,
            corruption: None,
        };
        LiveRun::new(trace, report, Some(fault), &orders)
    }

    #[test]
    fn the_fuel_of_a_launch_is_what_the_orders_say_beyond_a_multiple_of_its_recorded_instructions() {
        let [grid, block] = [[1; 3]; 2];
        let (kernel, params) = ("k".to_owned(), Vec::new());
        let launch = Launch { module: ModuleId(0), kernel, grid, block, shared_bytes: 0, params, cooperative: false };
        let LaunchAction::Executed(fuel, Some(_)) = live(&launch, 7).way(&launch) else {
            panic!("the faulty launch executes")
        };
        let is_scaled = |fuel| matches!(fuel, Fuel::Scaled { counts, factor: FUEL_FACTOR, constant: 7, .. } if counts.iter().eq([5]));
        assert!(is_scaled(fuel), "{fuel:?}");
        let other = Launch { grid: [2, 1, 1], ..launch.clone() };
        for (given, constant) in [(7, UNKNOWN_CONSTANT), (2 * UNKNOWN_CONSTANT, 2 * UNKNOWN_CONSTANT)] {
            let LaunchAction::Executed(fuel, _) = live(&launch, given).way(&other) else { panic!("it executes") };
            assert!(matches!(fuel, Fuel::Each(each) if each == 50 + constant), "{fuel:?}");
        }
    }

    #[test]
    fn what_the_host_gets_is_corrupted_after_the_last_launch_of_a_trial_alone() {
        let [grid, block] = [[1; 3]; 2];
        let (kernel, params) = ("k".to_owned(), Vec::new());
        let launch = Launch { module: ModuleId(0), kernel, grid, block, shared_bytes: 0, params, cooperative: false };
        for corruption in [None, Some(Corruption::Zeros)] {
            let mut live = LiveRun { corruption, fault: None, ..live(&launch, 7) };
            let mut bytes = [1; 4];
            assert!(!live.corrupt(&mut bytes));
            live.take(&DeviceOp::Launch(&launch));
            assert_eq!((live.corrupt(&mut bytes), bytes == [0; 4]), (corruption.is_some(), corruption.is_some()));
        }
    }
}
