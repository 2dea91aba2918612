//! Faults on a real GPU, by NVIDIA's debugger, in the way of GPU-Qin (B. Fang, K. Pattabiraman, M. Ripeanu, S. Gurumurthi,
//! ISPASS 2014): break in one thread, step to the instruction, flip a bit of its register, wait until the value is used, let
//! the program run, and see what becomes of it.
//!
//! ```text
//! golden run on the simulator ─▶ groups of threads that behave alike          (phase I)
//!      one thread of each group ─▶ its machine instructions, stepped on the GPU  (phase II)
//!                         plan ─▶ one session of cuda-gdb for each fault        (phase III)
//! ```
//!
//! A [`GpuTarget`] offers machine instructions of the followed threads to a campaign. Its faults have the text ids of any other; the
//! dynamic instruction counts machine instructions with a true guard. What it promises is in `docs/live.md`; why it is so
//! in `docs/design/cuda-gdb.md`.

mod clock;
mod describe;
mod devices;
mod error;
mod exceptions;
mod groups;
mod inject;
mod mi;
mod navigate;
mod profile;
mod sass;
mod target;
mod thread;

#[cfg(test)]
mod tests;

pub use describe::describe_machine;
pub use devices::sessions;
pub use error::DebuggerError;
pub use target::{CUDA_GDB, ENGINES, GpuTarget, check_words};
