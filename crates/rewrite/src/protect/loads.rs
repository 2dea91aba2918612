//! Loads that are executed twice, although other threads may write what they load (load duplication).
//!
//! ```text
//! ld.global.f32  r, [a]              the original
//! ld.volatile.global.f32  s, [b]     right beside it: the shadow or twin of the address, which holds the same
//! ```
//!
//! Two loads of one address load the same unless another thread writes there in between. Whether one does is not known of a
//! module, and so a function is taken to share memory while it runs if it has an instruction by which threads tell each other
//! what they wrote without meeting at a barrier: an atomic, a fence, or an access that is volatile, relaxed, acquire or release.
//! Calls hand this on in both directions. Barriers do not count: no barrier stands between the two loads.
//!
//! An assembler merges two weak loads of one address. It does not merge one with a volatile load, which is why the second is
//! one, without cache operators and policies, which volatile loads do not have.

use facts::Width;
use isa::op::{CallTarget, LoadStore, MemoryOrder};
use isa::{Function, FunctionId, Instruction, Module, Op, Space};

/// The most bytes of a load that can be volatile on every GPU.
const MOST: u32 = 16;

/// Whether load duplication executes an instruction twice that is otherwise executed once, where its function allows it.
#[must_use]
pub fn is_shared_load(instruction: &Instruction) -> bool {
    let Op::Ld(access) = &instruction.op else { return false };
    let shared = matches!(access.space, Space::Generic | Space::Global | Space::Shared);
    let narrow = access.ty.bytes() * u32::from(access.vector) <= MOST && access.ty.width() != Width::B128;
    shared && narrow && is_weak(access)
}

/// By function of a module: the instruction by which threads share memory while they run, of it or of one that it is connected
/// with by calls; none where loads may be executed twice.
#[must_use]
pub fn sharing(module: &Module) -> Vec<Option<String>> {
    let first = |function: &Function| function.body.iter().find(|it| shares(&it.op)).map(|it| it.op.to_string());
    let mut found: Vec<Option<String>> = module.functions.iter().map(first).collect();
    connect(module, &mut found);
    found
}

/// Hands on what is found of functions to those that they call and that call them, where nothing is found of these.
pub fn connect<T: Clone>(module: &Module, found: &mut [Option<T>]) {
    let calls: Vec<(usize, usize)> = calls(module).filter(|(from, to)| from.max(to) < &found.len()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &(from, to) in &calls {
            for (known, other) in [(from, to), (to, from)] {
                if found[other].is_none() && found[known].is_some() {
                    found[other] = found[known].clone();
                    changed = true;
                }
            }
        }
    }
}

/// The calls of functions that have a body: what is only declared is CUDA's own, and tells threads nothing.
fn calls(module: &Module) -> impl Iterator<Item = (usize, usize)> {
    let has_body = |at: usize| module.functions.get(at).is_some_and(|function| !function.body.is_empty());
    let of = |function: &Function| {
        let called = function.body.iter().filter_map(|instruction| match &instruction.op {
            Op::Call(call) => Some(&call.target),
            _ => None,
        });
        let direct = called.filter_map(|target| match target {
            CallTarget::Direct(FunctionId(to)) => Some(*to as usize),
            CallTarget::Indirect { .. } => None,
        });
        direct.collect::<Vec<_>>()
    };
    let all = module
        .functions
        .iter()
        .enumerate()
        .flat_map(move |(from, function)| of(function).into_iter().map(move |to| (from, to)).collect::<Vec<_>>());
    all.filter(move |(_, to)| has_body(*to))
}

/// Whether threads tell each other by it what they wrote, or are told.
fn shares(op: &Op) -> bool {
    match op {
        Op::Atom(_) | Op::Red(_) => true,
        Op::Ld(access) | Op::St(access) => !is_weak(access),
        Op::Fence(spelling) => !spelling.starts_with("griddepcontrol"),
        _ => false,
    }
}

fn is_weak(access: &LoadStore) -> bool {
    matches!(access.order, None | Some(MemoryOrder::Weak)) && !access.mmio
}

/// Makes a load that is executed twice the second one: an assembler does not merge it with the first.
pub(super) fn make_second(load: &mut Instruction) {
    if !is_shared_load(load) {
        return;
    }
    if let Op::Ld(access) = &mut load.op {
        access.order = Some(MemoryOrder::Volatile);
        access.uniform = false;
        access.cache.clear();
        // Behind the address stands the policy of a cache.
        load.src.truncate(1);
    }
}
