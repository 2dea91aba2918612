//! Outcomes in a byte each, for files that hold one for every fault.
//!
//! The codes are part of the format of such files and never change. The upper four bits are the class.
//!
//! | code | outcome |
//! |---|---|
//! | `00` – `02` | masked: never read, overwritten, logical |
//! | `10` – `13` | SDC: unjudged, good, bad, detectable |
//! | `20`, `21` | DUE: hang, detected |
//! | `22` – `27` | DUE: the signals, in the order of [`HostSignal`] |
//! | `28` – `2f` | DUE: the traps, in the order of [`TrapKind`], as far as they go |
//! | `30` | not landed |
//! | `50`, `51` | DUE: what came later, an invalid address space and out of fuel |
//! | `60` | undecided |
//! | `40` | failed ([`FAILED_CODE`]): no outcome at all |
//! | `80` – `ff` | SDC: the quality bins 0 to 127 |

use crate::host::HostSignal;
use crate::observation::TrapKind;
use crate::outcome::{Due, Masked, Outcome, Sdc};

/// The code of a fault that could not be run, and so has no outcome.
pub const FAILED_CODE: u8 = 0x40;

/// The code of quality bin 0.
const FIRST_BIN: u8 = 0x80;
/// The last quality bin with a code of its own.
const LAST_BIN: u8 = 0x7f;

impl Outcome {
    /// The byte that stands for the outcome. Quality bins beyond 127, which no criterion has, share its code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Masked(Masked::NeverRead) => 0x00,
            Self::Masked(Masked::Overwritten) => 0x01,
            Self::Masked(Masked::Logical) => 0x02,
            Self::Sdc(Sdc::Unjudged) => 0x10,
            Self::Sdc(Sdc::Good) => 0x11,
            Self::Sdc(Sdc::Bad) => 0x12,
            Self::Sdc(Sdc::Detectable) => 0x13,
            Self::Sdc(Sdc::Maybe(bin)) => FIRST_BIN | if bin < LAST_BIN { bin } else { LAST_BIN },
            Self::Due(Due::Hang) => 0x20,
            Self::Due(Due::OutOfFuel) => 0x51,
            Self::Due(Due::Detected) => 0x21,
            Self::Due(Due::Signal(HostSignal::Abort)) => 0x22,
            Self::Due(Due::Signal(HostSignal::Bus)) => 0x23,
            Self::Due(Due::Signal(HostSignal::FloatingPoint)) => 0x24,
            Self::Due(Due::Signal(HostSignal::Illegal)) => 0x25,
            Self::Due(Due::Signal(HostSignal::Segment)) => 0x26,
            Self::Due(Due::Signal(HostSignal::Other)) => 0x27,
            Self::Due(Due::Crash(TrapKind::IllegalAddress)) => 0x28,
            Self::Due(Due::Crash(TrapKind::OutOfRangeAddress)) => 0x29,
            Self::Due(Due::Crash(TrapKind::MisalignedAddress)) => 0x2a,
            Self::Due(Due::Crash(TrapKind::StackOverflow)) => 0x2b,
            Self::Due(Due::Crash(TrapKind::IllegalInstruction)) => 0x2c,
            Self::Due(Due::Crash(TrapKind::BarrierDeadlock)) => 0x2d,
            Self::Due(Due::Crash(TrapKind::Trap)) => 0x2e,
            Self::Due(Due::Crash(TrapKind::Assert)) => 0x2f,
            Self::Due(Due::Crash(TrapKind::InvalidAddressSpace)) => 0x50,
            Self::NotLanded => 0x30,
            Self::Undecided => 0x60,
        }
    }

    /// The outcome that `code` stands for; `None` for [`FAILED_CODE`] and for bytes that are no code.
    ///
    /// Who reads many makes a table of all 256.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::all().find(|outcome| outcome.code() == code)
    }

    /// Every outcome that has a code of its own.
    pub fn all() -> impl Iterator<Item = Self> {
        let sdc = [Sdc::Unjudged, Sdc::Good, Sdc::Bad, Sdc::Detectable].into_iter();
        let masked = Masked::ALL.iter().copied().map(Self::Masked);
        let sdc = sdc.chain((0..=LAST_BIN).map(Sdc::Maybe)).map(Self::Sdc);
        masked.chain(sdc).chain(Due::all().map(Self::Due)).chain([Self::NotLanded, Self::Undecided])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_read_back_from_its_code() {
        for outcome in Outcome::all() {
            assert_eq!(Outcome::from_code(outcome.code()), Some(outcome));
        }
        assert_eq!(Outcome::all().count(), 3 + 4 + 128 + 18 + 1 + 1);
    }

    #[test]
    fn a_code_that_means_no_outcome_is_read_as_none() {
        let codes = (0..=u8::MAX).filter(|&code| Outcome::from_code(code).is_some());
        assert_eq!(codes.count(), Outcome::all().count());
        assert_eq!(Outcome::from_code(FAILED_CODE), None);
    }

    #[test]
    fn codes_of_files_that_exist_keep_their_meaning() {
        let codes: Vec<(u8, String)> = Outcome::all()
            .filter(|outcome| !matches!(outcome, Outcome::Sdc(Sdc::Maybe(1..=126))))
            .map(|outcome| (outcome.code(), outcome.kind().unwrap_or_default().into_owned()))
            .collect();
        expect_test::expect![[r#"[(0, "never_read"), (1, "overwritten"), (2, "logical"), (16, "unjudged"), (17, "good"), (18, "bad"), (19, "detectable"), (128, "maybe_0"), (255, "maybe_127"), (40, "illegal_address"), (41, "out_of_range_address"), (42, "misaligned_address"), (43, "stack_overflow"), (44, "illegal_instruction"), (45, "barrier_deadlock"), (46, "trap"), (47, "assert"), (80, "invalid_address_space"), (32, "hang"), (81, "out_of_fuel"), (33, "detected"), (34, "sigabrt"), (35, "sigbus"), (36, "sigfpe"), (37, "sigill"), (38, "sigsegv"), (39, "signal"), (48, ""), (96, "")]"#]]
        .assert_eq(&format!("{codes:?}"));
    }
}
