//! What differs between those who run a warp.

use super::running::{Running, Step};
use crate::program::Micro;
use crate::trap::Halt;
use ::lanes::Handlers;

/// What becomes of an architectural instruction to which a group comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// The lanes whose guard is true execute it.
    Execute,
    /// It is over; the group has gone on after it, or ended.
    Over,
}

/// How a warp is run.
pub(crate) trait Policy {
    /// Whether a warp's turn is over after one instruction.
    const SINGLE: bool;

    /// How many plain micro-operations from one on may run in a row, because nothing is asked before and after them.
    fn row(&self, running: &Running<'_>, micro: &Micro) -> u16;

    /// A group comes to an architectural instruction.
    fn begin<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Begun, Halt>;

    /// Executes a micro-operation.
    fn step<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Step, Halt>;

    /// The lanes that execute have executed a micro-operation, and go on with the next.
    fn end(&mut self, running: &mut Running<'_>, micro: &Micro) -> Result<(), Halt>;

    /// A branch was taken, and some lane of the warp may be out of fuel.
    fn out_of_fuel(&mut self, running: &mut Running<'_>, micro: &Micro) -> Result<(), Halt>;
}
