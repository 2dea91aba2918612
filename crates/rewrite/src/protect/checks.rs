//! The consequence of a comparison that failed: it ends the launch, or sets a signature; proxies of hardware have none.

use crate::code::Coder;
use crate::protect::check::Checker;
use crate::protect::opaque::Opaque;
use crate::protect::origin::Origin;
use crate::protect::place::NewBody;
use crate::protect::proxy::{HardwareProxy, Sink};
use crate::protect::signature::{Accumulation, Signature};
use crate::refusal::Refusal;
use facts::Pc;
use isa::Op;

/// When a comparison that failed ends the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notification {
    /// Before the data is used.
    Immediate,
    /// Where the function ends.
    Deferred(Accumulation),
    /// Never: this has the cost of hardware that would do it.
    Proxy(HardwareProxy),
}

/// Comparisons of registers with what was computed once more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Checks {
    /// A trap where one differs.
    Immediate(Checker),
    /// A signature that is set where one differs.
    Deferred(Signature),
    /// No trap: values are kept alive.
    Proxy(Sink),
}

impl Checks {
    /// Registers for them.
    pub(super) fn new(coder: &mut Coder<'_>, notification: Notification) -> Self {
        match notification {
            Notification::Immediate => Self::Immediate(Checker::new(coder)),
            Notification::Deferred(accumulation) => Self::Deferred(Signature::new(coder, accumulation)),
            Notification::Proxy(proxy) => Self::Proxy(Sink::new(coder, proxy)),
        }
    }

    /// Clears what they gather in, at the entry of the function.
    pub(super) fn begin(self, coder: &mut Coder<'_>) -> Result<(), Refusal> {
        match self {
            Self::Immediate(_) => Ok(()),
            Self::Deferred(signature) => signature.begin(coder),
            Self::Proxy(sink) => sink.begin(coder),
        }
    }

    /// Puts the test of what was gathered before an instruction that leaves the function.
    pub(super) fn end(
        self,
        coder: &mut Coder<'_>,
        opaque: Opaque,
        pc: Pc,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        match self {
            Self::Immediate(_) => Ok(()),
            Self::Deferred(signature) => signature.end(coder, pc, body),
            Self::Proxy(sink) => sink.end(coder, opaque, pc, body),
        }
    }

    /// The end of a body behind its last instruction, with a test if control may come to it.
    pub(super) fn close(
        self,
        coder: &mut Coder<'_>,
        opaque: Opaque,
        (last, reached): (Pc, bool),
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        if matches!(self, Self::Immediate(_)) {
            return Ok(());
        }
        coder.loc = None;
        body.begin();
        if reached {
            self.end(coder, opaque, last, body)?;
            coder.push_op(Op::Ret { uni: false }, &[], Vec::new());
            body.put(Origin::Check(last), coder.take());
        }
        Ok(())
    }
}
