//! The lane loops: each pure instruction of the table as a loop over the 32 lanes of a warp's [`registers`], compiled
//! for every [`level`].
//!
//! They take most of the time that the machine takes to compile and change only with the table, and so they live in a
//! crate of their own.

pub mod level;
mod loops;
pub mod registers;

pub use loops::{Handler, Handlers, Loops};
