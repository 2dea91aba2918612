//! Calls: of functions of the module, through pointers, and of what the machine itself does.

use super::Lowering;
use isa::op::{Call, CallTarget};
use isa::{Instruction, Src, Type};
use simt::GuestError;
use simt::guest::DEVICE_LAUNCH;
use simt::program::{CallPlan, CallTo, FrameRange, MicroKind, SystemCall};

impl Lowering<'_> {
    pub(super) fn call(&mut self, instruction: &Instruction, call: &Call) -> Result<(), GuestError> {
        let mut operands = instruction.src.iter();
        let target = match &call.target {
            CallTarget::Direct(id) => {
                let callee = self.module.function(*id);
                match self.indices.get(id) {
                    Some(&index) => CallTo::Function(index),
                    None if callee.name == "__assertfail" => return self.assertion(operands),
                    None => CallTo::System(self.system_call(&callee.name)?),
                }
            }
            CallTarget::Indirect { .. } => {
                let address = operands.next().ok_or_else(|| self.unsupported("an indirect call without an address"))?;
                CallTo::Row(self.source(address, Type::U64)?)
            }
        };
        let ranges = operands.map(|operand| self.call_parameter(operand)).collect::<Result<Vec<_>, _>>()?;
        let (results, arguments) = ranges.split_at(usize::from(call.returns).min(ranges.len()));
        let (arguments, results) = (arguments.to_vec(), results.to_vec());
        self.program.calls.push(CallPlan { target, arguments, results });
        let index = self.program.calls.len() as u32 - 1;
        self.emit(MicroKind::Call(index), 0, &[]);
        Ok(())
    }

    fn call_parameter(&self, operand: &Src) -> Result<FrameRange, GuestError> {
        let range = match operand {
            Src::Symbol(symbol, 0) => self.frames[self.at.index as usize].offsets.get(symbol).copied(),
            _ => None,
        };
        range.ok_or_else(|| self.unsupported("a call argument that is not a `.param` variable"))
    }

    /// A call of `__assertfail`. One that is not as compilers make it has nothing to tell.
    fn assertion<'i>(&mut self, operands: impl Iterator<Item = &'i Src>) -> Result<(), GuestError> {
        let Ok(arguments) = operands.map(|operand| self.call_parameter(operand)).collect() else {
            return self.plain(MicroKind::Assert);
        };
        let target = CallTo::System(SystemCall::Assert);
        self.program.calls.push(CallPlan { target, arguments, results: Vec::new() });
        self.emit(MicroKind::Call(self.program.calls.len() as u32 - 1), 0, &[]);
        Ok(())
    }

    /// What the machine does in place of a function that has no body.
    fn system_call(&self, name: &str) -> Result<SystemCall, GuestError> {
        match (name, self.heap) {
            ("vprintf", _) => Ok(SystemCall::Print),
            ("malloc", Some(heap)) => Ok(SystemCall::Allocate { heap }),
            // Without `malloc` there is nothing to give back but null pointers.
            ("free", heap) => Ok(SystemCall::Free { heap: heap.unwrap_or_default() }),
            _ if launches(name) => Err(self.unsupported(format!(
                "a call of {name}: {DEVICE_LAUNCH} (launches of kernels by kernels) is not supported"
            ))),
            _ => Err(self.unsupported(format!("a call of {name}, which has no body in this module"))),
        }
    }
}

/// Whether a function without a body belongs to the device runtime, through which kernels launch kernels (CUDA C++
/// Programming Guide, "CUDA Dynamic Parallelism").
fn launches(name: &str) -> bool {
    let of_runtime =
        ["__cudaCDP", "cudaGetParameterBuffer", "cudaLaunchDevice", "cudaGraphLaunch", "cudaDeviceSynchronize"];
    of_runtime.iter().any(|prefix| name.starts_with(prefix))
}
