//! Iterations of a loop executed side by side: each lane of a warp does another.
//!
//! A loop whose iterations depend on nothing that the ones before them computed, but store what is not known beforehand,
//! cannot be skipped. One thread takes as long for an instruction as a warp of 32: so 32 iterations take as long as one.

use super::observer::Observer;
use super::steps::{Steps, advance};
use super::touched::{Act, Touched};
use super::trace::Trace;
use crate::exec::{Notes, Running};
use crate::launch::KernelLaunch;
use crate::memory::GlobalMemory;
use crate::trap::Halt;
use crate::warp::Warp;
use ::lanes::level::LevelName;
use ::lanes::registers::{FULL, LANES, Slot};
use isa::Space;

/// For how many iterations, of at most so many, it does not matter in which order they are executed, if it ever does not.
pub(super) fn independent(trace: &Trace, lanes: u32, most: u64) -> u64 {
    let is_own = |access: &Touched| access.space == Space::Local;
    if trace.is_carried || trace.waits || lanes.count_ones() != 1 || trace.touched.iter().any(is_own) {
        return 0;
    }
    let stores = || trace.touched.iter().filter(|access| matches!(access.act, Act::Writes(..)) && access.step != 0);
    let overlaps = |access: &Touched| access.spread > 0 && matches!(access.act, Act::Writes(..));
    if trace.touched.iter().any(overlaps)
        || stores().any(|store| store.step.cast_signed().unsigned_abs() < store.bytes.into())
    {
        return 0;
    }
    let pairs = trace.touched.iter().flat_map(|access| stores().map(move |store| (access, store)));
    pairs.filter(|(access, store)| !std::ptr::eq(*access, *store)).fold(most, |most, (access, store)| {
        let other = store.undisturbed(access, most);
        access.undisturbed(store, most).min(if matches!(access.act, Act::Writes(..)) { other } else { most })
    })
}

/// What executes iterations side by side.
pub(super) struct Abreast<'a, 'l> {
    pub(super) level: LevelName,
    pub(super) launch: &'a KernelLaunch<'l>,
    pub(super) block: u64,
    pub(super) memory: &'a mut GlobalMemory,
    pub(super) shared: &'a mut [u8],
    pub(super) notes: &'a mut Notes,
    /// The warp at the head of the loop.
    pub(super) warp: &'a Warp,
    pub(super) lane: usize,
    /// The head, and how often an iteration comes to it.
    pub(super) head: u32,
    pub(super) rounds: u32,
}

impl Abreast<'_, '_> {
    /// Executes so many times 32 iterations from the one on that the warp is at, each of at most so many instructions.
    ///
    /// # Errors
    /// What a lane does wrong; none should.
    pub(super) fn run(&mut self, steps: &Steps, times: u64, longest: u64) -> Result<(), Halt> {
        let mut warp = Warp::default();
        warp.copy_from(self.warp);
        warp.registers.spread(self.lane);
        let moving: Vec<(Slot, u64)> = steps.moving(self.lane).collect();
        for lane in 0..LANES {
            moving.iter().for_each(|&(slot, step)| advance(&mut warp.registers, slot, step, lane, lane as u64));
        }
        for _ in 0..times {
            warp.control.start(self.head, FULL);
            let running = Running::new(self.launch, self.block, &mut warp, self.memory, self.shared, self.notes);
            let mut observer = Observer::to(self.head, self.rounds, longest);
            match observer.observe(self.level, &mut running.without_end()) {
                Err(Halt::Stop) if observer.arrived => {}
                Err(halt) => return Err(halt),
                Ok(()) => return Err(Halt::Stop),
            }
            // Each lane has moved on by one iteration; 31 are done by others.
            for lane in 0..LANES {
                moving
                    .iter()
                    .for_each(|&(slot, step)| advance(&mut warp.registers, slot, step, lane, LANES as u64 - 1));
            }
        }
        Ok(())
    }
}
