//! The consequence of a comparison that failed: it ends the launch, or sets a signature.

use crate::code::Coder;
use crate::protect::check::Checker;
use crate::protect::signature::Signature;

/// When a comparison that failed ends the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notification {
    /// Before the data is used.
    Immediate,
    /// Where the function ends.
    Deferred,
}

/// Comparisons of registers with what was computed once more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Checks {
    /// A trap where one differs.
    Immediate(Checker),
    /// A signature that is set where one differs.
    Deferred(Signature),
}

impl Checks {
    /// Registers for them.
    pub(super) fn new(coder: &mut Coder<'_>, notification: Notification) -> Self {
        match notification {
            Notification::Immediate => Self::Immediate(Checker::new(coder)),
            Notification::Deferred => Self::Deferred(Signature::new(coder)),
        }
    }
}
