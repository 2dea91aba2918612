//! What an event is, and which bits a particle must have struck: Section 3.3.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::log::{Ended, Run};

/// Threads of a warp.
const WARP: u32 = 32;

/// Kinds of events; those with numbers are the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// 1: one bit flipped in one instruction.
    OneBit,
    /// 2: two bits.
    TwoBits,
    /// 3: another value, three bits or more.
    RandomValue,
    /// 4: other values in the same instruction in two threads.
    RandomInTwoThreads,
    /// 5: two bits in the same instruction in all threads of a warp.
    TwoBitsInWarp,
    /// 6: other values in the same instruction in all threads of a warp.
    RandomInWarp,
    /// 7: zero in the same instruction in all threads of a warp.
    ZeroInWarp,
    /// 8: other values in two instructions in all threads of two warps.
    RandomInTwoWarps,
    /// The same bits of one value in threads of several warps: a word that was read more than once.
    SharedWord,
    /// A branch went to where no fault-free one goes.
    WrongBranch,
    /// Wrong values of any other shape.
    OtherValues,
    /// A crash for an address that is out of range, or of the stack.
    AddressCrash,
    /// A crash for an instruction that is none.
    InstructionCrash,
    /// Any other crash of the kernel.
    OtherCrash,
    /// The kernel did not end.
    Hang,
    /// What failed before the kernel was started.
    BeforeKernel,
    /// Wrong values of which too few were recorded to tell their shape.
    NotRecorded,
    /// A wrong value of an instruction of the program that is not the tested one.
    OtherInstruction,
    /// All values are right: the check or the loop was struck, not the tested instructions.
    CheckOnly,
    /// Memory with ECC reported an error that it could not correct.
    Ecc,
}

/// Which bits were struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bits {
    /// Those of the pipeline, whose rate follows that of instructions.
    F,
    /// Those that hold data for a time, and may be read more than once.
    V,
    /// Those that corrupt some instructions, such as those of an instruction buffer.
    IS,
    /// Those that corrupt many, or the GPU as a whole.
    IM,
    /// Not known.
    Unknown,
    /// None that the test is about; the event is left out.
    LeftOut,
}

/// A value that is wrong where its inputs were right: block, thread, position in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    block: u32,
    thread: u32,
    position: usize,
    value: u32,
    flipped: u32,
}

impl Origin {
    fn warp(self) -> (u32, u32) {
        (self.block, self.thread / WARP)
    }

    fn bits(self) -> u32 {
        self.flipped.count_ones()
    }
}

/// What a run shows; none if it shows nothing.
#[must_use]
pub fn category(run: &Run) -> Option<Category> {
    match &run.ended {
        Ended::Failed(name) if name == "cudaErrorECCUncorrectable" => Some(Category::Ecc),
        Ended::Failed(_) | Ended::Hang | Ended::Crash | Ended::Cut if !run.started => Some(Category::BeforeKernel),
        Ended::Failed(name) => Some(match name.as_str() {
            "cudaErrorIllegalInstruction" => Category::InstructionCrash,
            "cudaErrorIllegalAddress"
            | "cudaErrorMisalignedAddress"
            | "cudaErrorInvalidAddressSpace"
            | "cudaErrorHardwareStackError"
            | "cudaErrorInvalidPc" => Category::AddressCrash,
            _ => Category::OtherCrash,
        }),
        Ended::Hang | Ended::Cut => Some(if run.finished { Category::OtherCrash } else { Category::Hang }),
        Ended::Crash => Some(Category::OtherCrash),
        Ended::Stopped => None,
        Ended::Completed if run.mismatches.is_empty() && run.unrecorded == 0 => None,
        Ended::Completed => Some(of_values(run)),
    }
}

fn of_values(run: &Run) -> Category {
    let mut origins = BTreeSet::new();
    for it in &run.mismatches {
        for (position, (&value, &computed)) in it.values.iter().zip(&it.computed).enumerate() {
            if value != computed {
                let flipped = value ^ computed;
                origins.insert(Origin { block: it.block, thread: it.thread, position, value, flipped });
            }
        }
    }
    let tested = run.chain.map_or(usize::MAX, |chain| chain as usize);
    let (origins, others): (Vec<Origin>, Vec<Origin>) = origins.into_iter().partition(|it| it.position < tested);
    let positions: BTreeSet<usize> = origins.iter().map(|it| it.position).collect();
    let mut warps: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for it in &origins {
        warps.entry(it.warp()).or_default().insert(it.thread);
    }
    // The last warp of a block may have fewer threads.
    let threads_of = |warp: u32| run.threads.saturating_sub(warp * WARP).min(WARP) as usize;
    let whole = warps.iter().all(|(&(_, warp), threads)| threads.len() == threads_of(warp) && threads.len() > 2);
    let threads: usize = warps.values().map(BTreeSet::len).sum();
    // A predicate has one bit, and any other value of it is that flipped.
    let random = run.program == "isetp" || origins.iter().all(|it| it.bits() > 2);
    let flipped: BTreeSet<u32> = origins.iter().map(|it| it.flipped).collect();
    match (origins.as_slice(), positions.len(), warps.len()) {
        // A warp has fewer records than there can be.
        _ if run.unrecorded > 0 && warps.len() <= 2 => Category::NotRecorded,
        ([], ..) if others.is_empty() => Category::CheckOnly,
        ([], ..) => Category::OtherInstruction,
        _ if !others.is_empty() => Category::OtherValues,
        // Its values are where it ended, and when.
        _ if run.program == "bra" => Category::WrongBranch,
        ([one], ..) => match one.bits() {
            1 => Category::OneBit,
            2 => Category::TwoBits,
            _ => Category::RandomValue,
        },
        (_, 1, _) if threads == 2 && random => Category::RandomInTwoThreads,
        (_, 1, 1) if whole && origins.iter().all(|it| it.value == 0) => Category::ZeroInWarp,
        (_, 1, 1) if whole && origins.iter().all(|it| it.bits() == 2) => Category::TwoBitsInWarp,
        (_, 1, 1) if whole && random => Category::RandomInWarp,
        (_, 2, 2) if whole && random => Category::RandomInTwoWarps,
        (_, _, 2..) if flipped.len() == 1 => Category::SharedWord,
        _ => Category::OtherValues,
    }
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::OneBit,
        Self::TwoBits,
        Self::RandomValue,
        Self::RandomInTwoThreads,
        Self::TwoBitsInWarp,
        Self::RandomInWarp,
        Self::ZeroInWarp,
        Self::RandomInTwoWarps,
        Self::SharedWord,
        Self::WrongBranch,
        Self::OtherValues,
        Self::AddressCrash,
        Self::InstructionCrash,
        Self::OtherCrash,
        Self::Hang,
        Self::BeforeKernel,
        Self::NotRecorded,
        Self::OtherInstruction,
        Self::CheckOnly,
        Self::Ecc,
    ];

    /// The bits that it is attributed to.
    #[must_use]
    pub fn bits(self) -> Bits {
        match self {
            Self::OneBit
            | Self::TwoBits
            | Self::RandomValue
            | Self::RandomInTwoThreads
            | Self::WrongBranch
            | Self::AddressCrash => Bits::F,
            Self::SharedWord => Bits::V,
            Self::TwoBitsInWarp
            | Self::RandomInWarp
            | Self::ZeroInWarp
            | Self::RandomInTwoWarps
            | Self::InstructionCrash => Bits::IS,
            Self::BeforeKernel => Bits::IM,
            Self::OtherValues | Self::OtherCrash | Self::Hang | Self::NotRecorded => Bits::Unknown,
            Self::OtherInstruction | Self::CheckOnly | Self::Ecc => Bits::LeftOut,
        }
    }

    /// The manifestation of an IPA table that it is, if it scales with the rate of instructions.
    #[must_use]
    pub fn manifestation(self) -> Option<&'static str> {
        match self {
            Self::OneBit => Some("1 bit"),
            Self::TwoBits => Some("2 bits"),
            Self::RandomValue => Some("3+ bits"),
            Self::RandomInTwoThreads => Some("3+ bits, 2 threads"),
            Self::AddressCrash => Some("crash"),
            _ => None,
        }
    }

    /// Its number in the paper.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        let at = Self::ALL.iter().position(|it| *it == self)?;
        u32::try_from(at + 1).ok().filter(|number| *number <= 8)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.number() {
            write!(f, "{number}: ")?;
        }
        f.write_str(match self {
            Self::OneBit => "1 bit in one instruction",
            Self::TwoBits => "2 bits in one instruction",
            Self::RandomValue => "another value in one instruction",
            Self::RandomInTwoThreads => "other values in the same instruction in two threads",
            Self::TwoBitsInWarp => "2 bits in the same instruction in a warp",
            Self::RandomInWarp => "other values in the same instruction in a warp",
            Self::ZeroInWarp => "zero in the same instruction in a warp",
            Self::RandomInTwoWarps => "other values in two instructions in two warps",
            Self::SharedWord => "the same bits in several warps",
            Self::WrongBranch => "a branch to another place",
            Self::OtherValues => "wrong values of another shape",
            Self::AddressCrash => "crash: address or stack",
            Self::InstructionCrash => "crash: illegal instruction",
            Self::OtherCrash => "crash: other",
            Self::Hang => "hang in the kernel",
            Self::BeforeKernel => "failure before the kernel",
            Self::NotRecorded => "wrong values that were not all recorded",
            Self::OtherInstruction => "a wrong value of another instruction",
            Self::CheckOnly => "check or loop only",
            Self::Ecc => "uncorrectable memory error",
        })
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F => "F",
            Self::V => "V",
            Self::IS => "IS",
            Self::IM => "IM",
            Self::Unknown => "unknown",
            Self::LeftOut => "left out",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::Mismatch;
    use super::*;

    /// A chain of four values, each the one before and one, from 1 on; one of them goes wrong in some threads.
    fn struck(threads: &[(u32, u32)], position: usize, wrong: impl Fn(u32, u32) -> u32) -> Vec<Mismatch> {
        let of = |&(block, thread): &(u32, u32)| {
            let (mut values, mut computed) = (Vec::new(), Vec::new());
            let mut value = 0x1000;
            for at in 0..4 {
                value += 1;
                computed.push(value);
                if at == position {
                    value = wrong(value, thread);
                }
                values.push(value);
            }
            Mismatch { block, thread, values, computed }
        };
        threads.iter().map(of).collect()
    }

    fn found(mismatches: Vec<Mismatch>) -> Category {
        let ended = Ended::Completed;
        category(&Run { threads: 64, started: true, finished: true, mismatches, ended, ..Run::default() }).unwrap()
    }

    fn warp(block: u32, warp: u32) -> Vec<(u32, u32)> {
        (warp * 32..warp * 32 + 32).map(|thread| (block, thread)).collect()
    }

    #[test]
    fn each_of_the_papers_categories_is_told_from_the_others() {
        let one = [(0, 5)];
        let random = |value: u32, thread: u32| value ^ (0x0f0f_0007 + thread * 0x100);
        assert_eq!(found(struck(&one, 1, |value, _| value ^ 8)), Category::OneBit);
        assert_eq!(found(struck(&one, 3, |value, _| value ^ 24)), Category::TwoBits);
        assert_eq!(found(struck(&one, 0, random)), Category::RandomValue);
        assert_eq!(found(struck(&[(0, 5), (0, 9)], 2, random)), Category::RandomInTwoThreads);
        assert_eq!(found(struck(&warp(1, 1), 2, |value, _| value ^ 24)), Category::TwoBitsInWarp);
        assert_eq!(found(struck(&warp(1, 1), 2, random)), Category::RandomInWarp);
        assert_eq!(found(struck(&warp(1, 0), 2, |_, _| 0)), Category::ZeroInWarp);
        let two = [struck(&warp(0, 0), 1, random), struck(&warp(2, 1), 3, random)].concat();
        assert_eq!(found(two), Category::RandomInTwoWarps);
        let numbers: Vec<Option<u32>> = Category::ALL.iter().map(|it| it.number()).collect();
        assert_eq!(numbers[..9], [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), Some(8), None]);
    }

    #[test]
    fn what_the_paper_has_no_number_for_is_told_too() {
        let same = |value: u32, _| value ^ 4;
        assert_eq!(found(struck(&[(0, 1), (0, 40), (1, 1)], 2, same)), Category::SharedWord);
        assert_eq!(found(struck(&[(0, 1), (0, 2)], 2, same)), Category::OtherValues);
        assert_eq!(found(struck(&warp(0, 0)[..31], 2, |value, _| value ^ 24)), Category::OtherValues);
        assert_eq!(found(struck(&[(0, 5)], 9, same)), Category::CheckOnly);
        let (mismatches, ended) = (struck(&[(0, 5)], 1, same), Ended::Completed);
        let branch = Run { program: "bra".into(), started: true, mismatches, ended, ..Run::default() };
        assert_eq!(category(&branch), Some(Category::WrongBranch));
    }

    #[test]
    fn what_is_not_the_tested_instruction_or_not_recorded_is_not_attributed_to_it() {
        let run = |position: usize, unrecorded: u64| {
            let mismatches = struck(&[(0, 5)], position, |value, _| value ^ 8);
            let ended = Ended::Completed;
            Run {
                threads: 64,
                chain: Some(3),
                started: true,
                finished: true,
                mismatches,
                unrecorded,
                ended,
                ..Run::default()
            }
        };
        assert_eq!(category(&run(2, 0)), Some(Category::OneBit));
        assert_eq!(category(&run(3, 0)), Some(Category::OtherInstruction));
        assert_eq!(category(&run(2, 1)), Some(Category::NotRecorded));
        assert_eq!(category(&Run { mismatches: Vec::new(), ..run(2, 7) }), Some(Category::NotRecorded));
        let two = [run(1, 0).mismatches, run(3, 0).mismatches].concat();
        assert_eq!(category(&Run { mismatches: two, ..run(1, 0) }), Some(Category::OtherValues));
        let predicate = struck(&[(0, 5), (0, 9)], 2, |value, _| value ^ 1);
        let isetp = Run { program: "isetp".into(), mismatches: predicate, ..run(1, 0) };
        assert_eq!(category(&isetp), Some(Category::RandomInTwoThreads));
    }

    #[test]
    fn runs_that_do_not_complete_are_attributed_by_where_they_were() {
        let of = |started: bool, ended: Ended| category(&Run { started, ended, ..Run::default() });
        let failed = |name: &str| Ended::Failed(name.to_owned());
        let bits = |category: Option<Category>| category.map(Category::bits);
        assert_eq!(bits(of(true, failed("cudaErrorIllegalInstruction"))), Some(Bits::IS));
        assert_eq!(bits(of(true, failed("cudaErrorIllegalAddress"))), Some(Bits::F));
        assert_eq!(bits(of(true, failed("cudaErrorHardwareStackError"))), Some(Bits::F));
        assert_eq!(bits(of(true, failed("cudaErrorLaunchFailure"))), Some(Bits::Unknown));
        assert_eq!(bits(of(false, failed("cudaErrorMemoryAllocation"))), Some(Bits::IM));
        assert_eq!(bits(of(false, Ended::Hang)), Some(Bits::IM));
        assert_eq!(bits(of(true, Ended::Hang)), Some(Bits::Unknown));
        assert_eq!(
            [of(false, Ended::Crash), of(true, Ended::Crash)],
            [Some(Category::BeforeKernel), Some(Category::OtherCrash)]
        );
        assert_eq!(bits(of(true, failed("cudaErrorECCUncorrectable"))), Some(Bits::LeftOut));
        assert_eq!(of(true, Ended::Completed), None);
    }
}
