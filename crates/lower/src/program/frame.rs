//! The frame of a function in a thread's local memory: formal parameters, local variables, call parameters.

use isa::{Function, Space, Symbol, Variable};
use simt::program::FrameRange;
use std::collections::BTreeMap;

/// Where a function's variables are in its frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) offsets: BTreeMap<Symbol, FrameRange>,
    pub(super) formals: Vec<FrameRange>,
    pub(super) returns: Vec<FrameRange>,
    /// Rounded up to 16, so that every frame starts aligned.
    pub(super) bytes: u32,
}

impl Frame {
    pub(super) fn of(function: &Function) -> Self {
        let mut frame = Self::default();
        // A kernel's own parameters are constant and not in its frame.
        if !function.kernel {
            for (index, param) in function.params.iter().enumerate() {
                let range = frame.place(param);
                frame.formals.push(range);
                frame.offsets.insert(Symbol::Param(index as u32), range);
            }
            for (index, param) in function.returns.iter().enumerate() {
                let range = frame.place(param);
                frame.returns.push(range);
                frame.offsets.insert(Symbol::Return(index as u32), range);
            }
        }
        for (index, variable) in function.variables.iter().enumerate() {
            if matches!(variable.space, Space::Local | Space::Param) {
                let range = frame.place(variable);
                frame.offsets.insert(Symbol::Local(index as u32), range);
            }
        }
        frame.bytes = frame.bytes.next_multiple_of(16);
        frame
    }

    fn place(&mut self, variable: &Variable) -> FrameRange {
        let offset = self.bytes.next_multiple_of(variable.align.max(1));
        let bytes = variable.bytes as u32;
        self.bytes = offset + bytes;
        FrameRange { offset, bytes }
    }
}
