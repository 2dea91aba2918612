//! Kernels that are refused because of what they hold, or what a function holds that they may call.

use isa::op::CallTarget;
use isa::{FunctionId, Module, Op};
use ptx::Errors;
use simt::GuestError;
use std::collections::{BTreeMap, VecDeque};

/// What is wrong with functions, and whom it concerns.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    errors: BTreeMap<FunctionId, Errors>,
    /// Functions that may execute what is refused, each with the function that holds it.
    concerned: BTreeMap<FunctionId, FunctionId>,
}

impl Refused {
    /// Follows the calls of a module back from the functions that are refused.
    pub(crate) fn of(module: &Module, errors: BTreeMap<FunctionId, Errors>) -> Self {
        let mut concerned: BTreeMap<FunctionId, FunctionId> = errors.keys().map(|&id| (id, id)).collect();
        if errors.is_empty() {
            return Self { errors, concerned };
        }
        let mut callers: BTreeMap<FunctionId, Vec<FunctionId>> = BTreeMap::new();
        let mut indirect = Vec::new();
        for (function, id) in module.functions.iter().zip((0..).map(FunctionId)) {
            for instruction in &function.body {
                let Op::Call(call) = &instruction.op else { continue };
                match call.target {
                    CallTarget::Direct(callee) => callers.entry(callee).or_default().push(id),
                    CallTarget::Indirect { .. } => indirect.push(id),
                }
            }
        }
        let mut next: VecDeque<FunctionId> = errors.keys().copied().collect();
        while let Some(id) = next.pop_front() {
            let holder = concerned[&id];
            // An address, also one that a fault has changed, may be that of any function that is no kernel.
            let by_address = if module.function(id).kernel { Vec::new() } else { std::mem::take(&mut indirect) };
            for caller in callers.remove(&id).unwrap_or_default().into_iter().chain(by_address) {
                concerned.entry(caller).or_insert_with(|| {
                    next.push_back(caller);
                    holder
                });
            }
        }
        Self { errors, concerned }
    }

    /// Why a kernel cannot be executed, if it is refused.
    pub(crate) fn error(&self, module: &Module, kernel: &str) -> Option<GuestError> {
        let (id, _) = if self.errors.is_empty() { None } else { module.kernel(kernel) }?;
        let holder = *self.concerned.get(&id)?;
        let errors = self.errors.get(&holder)?;
        Some(GuestError::Refused {
            kernel: kernel.to_owned(),
            callee: (holder != id).then(|| module.function(holder).name.clone()),
            mistakes: errors.render(),
            first: errors.first_in_a_line(),
        })
    }
}
