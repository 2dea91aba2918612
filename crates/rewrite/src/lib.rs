//! Modules of PTX with a fault or with protection written into them.
//!
//! ```text
//! module + static instruction + operand ──▶ module with the variable `__beamline_fault` and the code that obeys it
//! block, thread, occurrence, model      ──▶ bytes of that variable
//! ```
//!
//! [`with_fault`] makes the code: one text, compiled once, serves every fault of one operand of one static instruction.
//! Which thread is hit, at which of its executions of the instruction, and what happens to which bits is data
//! ([`Arming`]), written into the variable before the launch that is hit; what was hit stands there after it
//! ([`Fired`]). With nothing written there the module does what it did before.
//!
//! The code has no branch, so threads that ran together still do, and it speaks of nothing but PTX: whatever runs PTX
//! runs it, a GPU as well as the simulator. [`without_contraction`] and [`with_visible_variables`] make a module do on
//! a GPU what it does in the simulator, and let its variables be found there.
//!
//! [`protect()`] writes protection: each value is computed twice, and compared before it leaves the registers.

mod code;
mod fault;
mod protect;
mod record;
mod refusal;
mod whole;

pub use fault::{StaticSite, with_fault};
pub use protect::{
    Origin, OriginCounts, ProtectedModule, Protection, Scheme, Technique, Unprotected, connect, executed_twice,
    is_shared_load, live_words, protect, protect_each, sharing,
};
pub use record::{Arming, BYTES, Fired, VARIABLE};
pub use refusal::Refusal;
pub use whole::{with_visible_variables, without_contraction};
