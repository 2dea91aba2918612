//! Which faults are meant, in the same words wherever faults are drawn.

use campaign::SelectionWords;
use clap::Args as Group;

#[derive(Debug, Group)]
pub(crate) struct Select {
    /// Fault model: flip (one bit), double (two adjacent bits), double-any (any two), flip:N or burst:N (any N bits, or N
    /// adjacent ones), flip:N:MASK (of these), random (another value), zero, stuck0:MASK or stuck1:MASK, such as stuck1:0x80;
    /// several by weight, such as 0.4*flip|0.6*random@warp, or table:FILE for those of a table [default: flip]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What is hit: dst (any destination), pred (destination predicates), addr (the address of an access), store (a value
    /// being stored), src (a source, for one instruction), reg (an allocated register at a random time), reg:N (one of
    /// N registers, allocated or not), reg7 (that one, as ids count them), mem (a byte of
    /// memory at a random time), or global, shared, local or const for one memory [default: dst]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Instruction groups, for example int_add,fp32_fma, or the unions of other tools, for example nvbitfi:gp
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub(crate) group: Vec<String>,
    /// Threads hit at once: thread, pair (two of a warp), lanes:N (N of them) or warp (all of it that are active) [default:
    /// thread]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<String>,
    /// Kernel, or its n-th launch counted from 0
    #[arg(long, value_name = "NAME[#n]", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// Source lines
    #[arg(long, value_name = "FILE:a-b", value_delimiter = ',')]
    pub(crate) lines: Vec<String>,
    /// Threads, linear in their block, for example 0-31
    #[arg(long, value_name = "RANGE", value_delimiter = ',')]
    pub(crate) threads: Vec<String>,
    /// Blocks, linear in their grid
    #[arg(long, value_name = "RANGE", value_delimiter = ',')]
    pub(crate) blocks: Vec<String>,
    /// Times that a thread executes an instruction, counted from 0: iterations of its loop, for example 0 or 5-9
    #[arg(long, value_name = "RANGE", value_delimiter = ',')]
    pub(crate) iterations: Vec<String>,
}

impl Select {
    /// The words.
    pub(crate) fn words(&self) -> SelectionWords {
        SelectionWords {
            model: self.model.clone(),
            target: self.target.clone(),
            group: self.group.clone(),
            scope: self.scope.clone(),
            kernel: self.kernel.clone(),
            lines: self.lines.clone(),
            threads: self.threads.clone(),
            blocks: self.blocks.clone(),
            iterations: self.iterations.clone(),
            ..SelectionWords::default()
        }
    }
}
