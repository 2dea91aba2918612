//! Where the local memory of a thread lies in its window.
//!
//! As on a GPU it is the end of the window: a thread reaches so many bytes there, of which its frames take what they need and
//! the rest is zero until it is written. Frames follow each other upwards from the [base](LocalWindow::base).

use crate::memory::window::WINDOW;
use crate::memory::{AddressProfile, LOCAL_TOP};
use crate::program::Program;
use crate::trap::TrapKind;

/// Local memory is given to threads in units of this many bytes.
const UNIT: u32 = 512;

/// The local memory of the threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalWindow {
    /// Where the frame of the kernel begins.
    pub(crate) base: u32,
    /// Bytes that frames may take.
    pub(crate) frames: u32,
    /// Bytes that a thread reaches, counted from the end of the window; none beyond its frames if 0.
    reach: u32,
}

impl LocalWindow {
    pub(crate) fn new(program: &Program, profile: &AddressProfile) -> Self {
        let frames = program.functions[0].frame + program.stack;
        let taken = (frames + LOCAL_TOP).next_multiple_of(16);
        let reach = if profile.strict { 0 } else { profile.local.max(taken.next_multiple_of(UNIT)) };
        Self { base: WINDOW as u32 - taken, frames, reach }
    }

    /// The addresses that a thread reaches, within the window.
    pub(crate) fn range(self) -> std::ops::Range<u64> {
        let end = WINDOW as u32;
        if self.reach == 0 {
            self.base.into()..u64::from(self.base + self.frames)
        } else {
            u64::from(self.base.min(end - self.reach))..end.into()
        }
    }

    /// Where an element is kept, as its distance from the base; what lies before it is kept behind all else.
    pub(crate) fn place(self, address: u64, bytes: u32) -> Result<usize, TrapKind> {
        // A GPU looks at 32 bits of an address.
        let address = address as u32;
        let from = address.wrapping_sub(self.base);
        let is_aligned = address.is_multiple_of(bytes);
        if from.checked_add(bytes).is_some_and(|end| end <= self.frames) && is_aligned {
            return Ok(from as usize);
        }
        let end = WINDOW as u32;
        if address < end - self.reach || address.checked_add(bytes).is_none_or(|to| to > end) {
            return Err(TrapKind::OutOfRangeAddress);
        }
        if !is_aligned {
            return Err(TrapKind::MisalignedAddress);
        }
        let place = if address >= self.base { from } else { from.wrapping_add(self.reach) };
        Ok(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn window(frame: u32, stack: u32, profile: &AddressProfile) -> LocalWindow {
        let taken = (frame + stack + LOCAL_TOP).next_multiple_of(16);
        let reach = if profile.strict { 0 } else { profile.local.max(taken.next_multiple_of(UNIT)) };
        LocalWindow { base: WINDOW as u32 - taken, frames: frame + stack, reach }
    }

    #[test]
    fn a_thread_reaches_what_an_h200_lets_it_reach() {
        // An array of 256 bytes: an H200 has it at 0xfffcc0, and faults 1,024 bytes before it and 1,020 behind its start.
        let local = window(256, 0, &AddressProfile::h200());
        assert_eq!(local.base, 0xff_fcc0);
        let at = |offset: i64| local.place((i64::from(local.base) + offset) as u64, 4);
        assert!([-512, -4, 0, 252, 256, 512].iter().all(|&offset| at(offset).is_ok()));
        let out = Err(TrapKind::OutOfRangeAddress);
        assert!([-1024, 1020, 1024, 1 << 20, 1 << 24, 1 << 31].iter().all(|&offset| at(offset) == out));
        assert_eq!((at(1 << 32), at(2)), (Ok(0), Err(TrapKind::MisalignedAddress)));
    }

    #[test]
    fn every_byte_that_is_reached_is_kept_in_a_place_of_its_own() {
        for (frame, stack) in [(0, 0), (40, 0), (1200, 0), (64, 1 << 16)] {
            let local = window(frame, stack, &AddressProfile::h200());
            let from = WINDOW as u32 - local.reach;
            let places: BTreeSet<usize> =
                (from..WINDOW as u32).filter_map(|at| local.place(at.into(), 1).ok()).collect();
            assert_eq!(places, (0..local.reach as usize).collect());
        }
    }

    #[test]
    fn a_sanitizer_lets_frames_alone_pass() {
        let local = window(256, 0, &AddressProfile::strict());
        let at = |offset: u32| local.place(u64::from(local.base + offset), 4);
        assert_eq!((at(252), at(256)), (Ok(252), Err(TrapKind::OutOfRangeAddress)));
        assert!(local.place(u64::from(local.base) - 4, 4).is_err());
    }
}
