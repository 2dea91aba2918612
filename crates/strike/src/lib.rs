//! Where a fault meets the machine: one fault as a hook.
//!
//! [`Hit`] makes a fault happen in its block and watches what is first done with the corrupted value; what it saw is
//! [`Injected`]. Whoever executes the block may use it: a run of a capsule, or the process of a live run ([`launch`]).
//! Both judge in the same way when a thread hangs ([`FUEL_FACTOR`]) and what the end of a program is ([`end`]).

mod end;
mod fuel;
mod hit;
mod injected;
mod launch;

pub use end::{end, protection};
pub use fuel::{FUEL_CONSTANT, FUEL_FACTOR, loop_fuel};
pub use hit::{Hit, first_touch, touch_by_host};
pub use injected::Injected;
pub use launch::launch;
