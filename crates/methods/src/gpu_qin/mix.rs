//! What a kernel executes by kind, and how much of its state faults can reach.
//!
//! The paper (§IV-D) counts ALU, FP, memory and control-flow instructions. Its appendix B divides the bits of the registers
//! that instructions name, of all threads that execute them, by these and the bits of the instructions themselves, 64 for
//! each time a warp issues one, which its threads share; predicates are flags and count with the instructions.

use facts::{Facts, Group, Reg};
use fault::{TargetKind, operands};
use inject::{Golden, InstructionCount, profile};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bits of an instruction (paper, appendix B: Fermi).
const INSTRUCTION_BITS: u64 = 64;

/// Dynamic instructions by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// Integers, logic, comparisons, conversions and moves.
    pub alu: u64,
    /// Floating point, special functions and matrices.
    pub fp: u64,
    /// Loads, stores, atomics.
    pub memory: u64,
    /// Branches, calls, barriers, ends.
    pub control: u64,
}

/// Bits that faults can and cannot reach, added up over dynamic instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateBits {
    /// Registers.
    pub data: u64,
    /// Instructions and predicates.
    pub rest: u64,
}

impl Mix {
    /// The shares of ALU, FP, memory and control.
    #[must_use]
    pub fn shares(self) -> [f64; 4] {
        let all = (self.alu + self.fp + self.memory + self.control).max(1) as f64;
        [self.alu, self.fp, self.memory, self.control].map(|count| count as f64 / all)
    }

    fn add(&mut self, group: Group, count: u64) {
        use Group::{
            Atomic, Branch, Compare, Convert, Fp16, Fp32Add, Fp32Fma, Fp32Mul, Fp64, IntAdd, IntMulAdd, LoadConst,
            LoadGeneric, LoadGlobal, LoadLocal, LoadParam, LoadShared, LogicShift, Move, Other, SpecialFunction, Store,
            Tensor,
        };
        *match group {
            IntAdd | IntMulAdd | Compare | LogicShift | Convert | Move => &mut self.alu,
            Fp32Add | Fp32Mul | Fp32Fma | Fp64 | Fp16 | SpecialFunction | Tensor => &mut self.fp,
            LoadGlobal | LoadShared | LoadLocal | LoadConst | LoadParam | LoadGeneric | Store | Atomic => {
                &mut self.memory
            }
            Branch | Other => &mut self.control,
        } += count;
    }
}

impl StateBits {
    /// The share that faults can reach.
    #[must_use]
    pub fn injectable(self) -> f64 {
        self.data as f64 / (self.data + self.rest).max(1) as f64
    }

    fn add(&mut self, facts: &Facts, count: InstructionCount) {
        let named =
            [TargetKind::Destination, TargetKind::Address, TargetKind::Source].map(|target| operands(target, facts));
        let registers: BTreeMap<Reg, u32> =
            named.iter().flatten().map(|operand| (operand.register, operand.bits)).collect();
        for bits in registers.into_values() {
            let reached = if bits == 1 { &mut self.rest } else { &mut self.data };
            *reached += u64::from(bits) * count.executed;
        }
        self.rest += INSTRUCTION_BITS * count.warps;
    }
}

/// The mix and the state of every kernel, by name.
#[must_use]
pub fn mixes(golden: &Golden) -> BTreeMap<String, (Mix, StateBits)> {
    let mut kernels: BTreeMap<String, (Mix, StateBits)> = BTreeMap::new();
    for launch in profile(golden) {
        let (mix, state) = kernels.entry(launch.launch.program.name.clone()).or_default();
        for (facts, count) in launch.instructions() {
            mix.add(facts.group, count.executed);
            state.add(facts, count);
        }
    }
    kernels
}
