//! What a kernel and the functions it calls may ask of memory. More than any GPU has is refused before sizes are added
//! up, so that no sum of them overflows.
//!
//! Reference: CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications (512 KiB of local
//! memory for a thread; parameters of a kernel up to 32,764 bytes since PTX ISA 8.1).

use isa::{Function, FunctionId, Module, Pc, Space, Variable};
use simt::GuestError;
use simt::memory::window::WINDOW;

/// The most bytes that parameters of a kernel have.
const PARAM_BYTES: u64 = 32_764;
/// The most bytes that variables of a function have in a thread's local memory.
const LOCAL_BYTES: u64 = 512 << 10;

/// Refuses a kernel that asks for too much.
pub(super) fn check(module: &Module, kernel: &Function, reachable: &[FunctionId]) -> Result<(), GuestError> {
    let params = total(&kernel.params, |_| true);
    if params > PARAM_BYTES || kernel.layout().1 > PARAM_BYTES {
        return refuse(kernel, format!("a kernel with {params} bytes of parameters; it can have {PARAM_BYTES}"));
    }
    let is_shared = |variable: &Variable| variable.space == Space::Shared;
    let mut shared = total(&module.variables, is_shared);
    for &id in reachable {
        let function = module.function(id);
        let is_local = |variable: &Variable| matches!(variable.space, Space::Local | Space::Param);
        let own = if function.kernel { 0 } else { total(&function.params, |_| true) };
        let local = own.saturating_add(total(&function.returns, |_| true));
        let local = local.saturating_add(total(&function.variables, is_local));
        if local > LOCAL_BYTES {
            return refuse(function, format!("{local} bytes of local memory; a thread can have {LOCAL_BYTES}"));
        }
        shared = shared.saturating_add(total(&function.variables, is_shared));
    }
    if shared > WINDOW {
        return refuse(kernel, format!("{shared} bytes of shared memory; there is room for {WINDOW}"));
    }
    Ok(())
}

/// The bytes of some of the variables.
fn total(variables: &[Variable], belongs: impl Fn(&Variable) -> bool) -> u64 {
    let bytes = variables.iter().filter(|variable| belongs(variable)).map(|variable| variable.bytes);
    bytes.fold(0, u64::saturating_add)
}

fn refuse(function: &Function, what: String) -> Result<(), GuestError> {
    Err(GuestError::Unsupported { what, function: function.name.clone(), pc: Pc(0), line: None })
}
