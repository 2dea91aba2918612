//! Kernel tests: PTX files that say in their head what to do with them.
//!
//! The comment lines before the first line of PTX are the head. One that begins with a capital letter is prose, one
//! with a small letter a directive, which goes on in the next line where it ends in `\`:
//!
//! ```text
//! // buffer in: u32 = iota 96                    device memory, by name; values as in `Values`
//! // buffer out: f32[96] = zero                  a bound, where the values do not say how many there are
//! // run: kernel grid=2,1,1 block=48,1,1 shared=256 fuel=1000
//! // param: &in &out+4 5u32 -1.5f32 {u8 1 2 3}   of the run before: addresses, scalars, bytes of an array
//! // read: out                                   a copy to the host here; all buffers are copied at the end
//! // expect out = for 96: i * 2                  what a buffer holds at the end
//! // expect table: u32 = 1 2 3                   what a variable of the module holds
//! // counts: 64 of 11                            instructions of every thread of the run before
//! // trap: illegal_address line=7 pc=5 thread=3 block=1 address=&in+4096
//! // prints: "a line\n"                         what all runs print
//! // strayed: 2                                  accesses outside every allocation, all runs together
//! // error: kernel                               loading, or making the kernel ready, fails as `.expected` says
//! // inject: launch=0,…,bits=3 => sdc differing=1 landed=0x0->0x8 use=read@2 line=7 pc=5 after=1 visible strayed=1
//! ```
//!
//! A directive that is not understood, and a run whose end is not the one that is expected, fail the test. [`check`]
//! runs a test at every level, and where it expects no trap, as a capsule too: the golden run must reproduce the
//! copies, count the same instructions, and have a profile that adds up to them.

mod capsule;
mod check;
mod directive;
mod expression;
mod faults;
mod machine;
mod script;
mod values;

pub use self::capsule::capsule_of;
pub use check::check;
pub use directive::{Argument, Buffer, Directive, ExpectedFault, ExpectedTrap, LaunchDirective};
pub use script::{Script, read};
pub use values::{BufferType, Values};

#[cfg(test)]
mod tests;
