//! Tables of machine instructions: what the first operands are, how wide the others.

use facts::Group;

/// Which of the first operands an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// None.
    Nothing,
    /// None; what follows the memory operand goes to memory.
    Stores,
    /// So many predicates.
    Predicates(usize),
    /// Predicates, a register, predicates.
    Value,
    /// The same; what follows the memory operand goes to memory.
    Updates,
    /// A mask and a predicate, or a predicate.
    Vote,
    /// Not known.
    Unknown,
}

impl Shape {
    pub(super) fn writes_memory(self) -> bool {
        matches!(self, Self::Stores | Self::Updates)
    }
}

/// What an instruction writes.
pub(super) fn shape(opcode: &str) -> Shape {
    match base(opcode) {
        "BAR" | "BRA" | "BRX" | "BSSY" | "BSYNC" | "BREAK" | "CALL" | "CCTL" | "CCTLL" | "DEPBAR" | "ERRBAR"
        | "EXIT" | "FENCE" | "JMP" | "JMX" | "KILL" | "LDGDEPBAR" | "LDGSTS" | "MEMBAR" | "NANOSLEEP" | "NOP"
        | "RET" | "WARPSYNC" | "YIELD" | "BPT" | "PMTRIG" | "ARRIVES" | "UCGABAR_ARV" | "UCGABAR_WAIT" => {
            Shape::Nothing
        }
        "ST" | "STG" | "STS" | "STL" | "STSM" | "RED" | "REDG" | "REDS" => Shape::Stores,
        "ATOM" | "ATOMG" | "ATOMS" => Shape::Updates,
        "ISETP" | "FSETP" | "DSETP" | "HSETP2" | "PSETP" | "PLOP3" | "UISETP" | "UPLOP3" => Shape::Predicates(2),
        "FCHK" => Shape::Predicates(1),
        "VOTE" | "VOTEU" => Shape::Vote,
        "BMSK" | "BREV" | "CS2R" | "DADD" | "DFMA" | "DMUL" | "F2F" | "F2FP" | "F2I" | "FADD" | "FFMA" | "FLO"
        | "FMNMX" | "FMUL" | "FRND" | "FSEL" | "FSET" | "FSWZADD" | "HADD2" | "HFMA2" | "HMNMX2" | "HMUL2"
        | "HSET2" | "I2F" | "I2FP" | "I2I" | "IABS" | "IADD" | "IADD3" | "IDP" | "IMAD" | "IMNMX" | "IMUL"
        | "ISCADD" | "LD" | "LDC" | "LDG" | "LDL" | "LDS" | "LEA" | "LOP" | "LOP3" | "MATCH" | "MOV" | "MUFU"
        | "P2R" | "POPC" | "PRMT" | "REDUX" | "S2R" | "SEL" | "SGXT" | "SHF" | "SHFL" | "SHL" | "SHR" | "VABSDIFF"
        | "VABSDIFF4" | "VIADD" | "VIADDMNMX" | "VIMNMX" | "VIMNMX3" => Shape::Value,
        // What follows belongs to the warp.
        "R2UR" | "S2UR" | "ULDC" | "UBMSK" | "UBREV" | "UFLO" | "UIADD3" | "UIMAD" | "UISCADD" | "ULEA" | "ULOP"
        | "ULOP3" | "UMOV" | "UP2UR" | "UPOPC" | "UPRMT" | "USEL" | "USGXT" | "USHF" | "USHL" | "USHR" => Shape::Value,
        _ => Shape::Unknown,
    }
}

/// An opcode without modifiers.
pub(super) fn base(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or(opcode)
}

fn has(opcode: &str, modifier: &str) -> bool {
    opcode.split('.').skip(1).any(|known| known == modifier)
}

/// How many registers an access of memory moves.
fn accessed(opcode: &str) -> u8 {
    match () {
        () if has(opcode, "128") => 4,
        () if has(opcode, "64") => 2,
        () => 1,
    }
}

/// How many registers are written from the one that is named.
pub(super) fn words(opcode: &str) -> u8 {
    match base(opcode) {
        "LD" | "LDC" | "LDG" | "LDL" | "LDS" | "ULDC" | "ATOM" | "ATOMG" | "ATOMS" => accessed(opcode),
        "DADD" | "DFMA" | "DMUL" => 2,
        "IMAD" | "UIMAD" if has(opcode, "WIDE") => 2,
        "CS2R" if !has(opcode, "32") => 2,
        "F2F" | "I2F" if opcode.split('.').nth(1) == Some("F64") => 2,
        "F2I" if has(opcode, "S64") || has(opcode, "U64") => 2,
        _ => 1,
    }
}

/// How many registers the source at a position of `count` is read from.
pub(super) fn source_words(opcode: &str, at: usize, count: usize) -> u8 {
    match base(opcode) {
        "ST" | "STG" | "STS" | "STL" | "RED" | "REDG" | "REDS" | "ATOM" | "ATOMG" | "ATOMS" => accessed(opcode),
        "DADD" | "DFMA" | "DMUL" | "DSETP" => 2,
        // What is added to the wide product.
        "IMAD" | "UIMAD" if (has(opcode, "WIDE") || has(opcode, "HI")) && at + 1 == count.min(3) => 2,
        "F2F" if has(opcode, "F64") && opcode.split('.').nth(1) != Some("F64") => 2,
        "F2I" | "FRND" if has(opcode, "F64") => 2,
        "I2F" if has(opcode, "S64") || has(opcode, "U64") => 2,
        _ => 1,
    }
}

/// The instruction group.
pub(super) fn group(opcode: &str) -> Group {
    match base(opcode) {
        "IADD" | "IADD3" | "VIADD" | "ISCADD" | "LEA" | "UIADD3" | "ULEA" => Group::IntAdd,
        "IMAD" if has(opcode, "MOV") => Group::Move,
        "IMAD" if has(opcode, "IADD") => Group::IntAdd,
        "IMAD" | "IMUL" | "UIMAD" | "IDP" => Group::IntMulAdd,
        "FADD" => Group::Fp32Add,
        "FMUL" => Group::Fp32Mul,
        "FFMA" => Group::Fp32Fma,
        "DADD" | "DMUL" | "DFMA" => Group::Fp64,
        "HFMA2" if has(opcode, "MMA") => Group::Move,
        "HADD2" | "HMUL2" | "HFMA2" => Group::Fp16,
        "ISETP" | "FSETP" | "DSETP" | "HSETP2" | "PSETP" | "PLOP3" | "IMNMX" | "FMNMX" | "HMNMX2" | "VIMNMX"
        | "VIMNMX3" | "UISETP" | "UPLOP3" | "FSET" | "HSET2" => Group::Compare,
        "LOP" | "LOP3" | "SHF" | "SHL" | "SHR" | "PRMT" | "BMSK" | "BREV" | "SGXT" | "ULOP3" | "USHF" => {
            Group::LogicShift
        }
        "I2F" | "I2FP" | "I2I" | "F2F" | "F2FP" | "F2I" | "FRND" => Group::Convert,
        "MOV" | "S2R" | "S2UR" | "CS2R" | "SEL" | "FSEL" | "SHFL" | "R2UR" | "P2R" | "UMOV" | "USEL" => Group::Move,
        "LDG" => Group::LoadGlobal,
        "LDS" => Group::LoadShared,
        "LDL" => Group::LoadLocal,
        "LDC" | "ULDC" => Group::LoadConst,
        "LD" => Group::LoadGeneric,
        "ST" | "STG" | "STS" | "STL" | "STSM" => Group::Store,
        "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" | "REDS" => Group::Atomic,
        "BRA" | "BRX" | "EXIT" | "CALL" | "RET" | "JMP" => Group::Branch,
        "MUFU" => Group::SpecialFunction,
        _ => Group::Other,
    }
}
