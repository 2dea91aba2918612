//! Shadows with a signature: where registers are compared, and where the signature is tested.
//!
//! ```text
//! not eligible              each register that it reads is compared before it, under its guard
//! guarded bra, ret, exit    before it, where the guard holds, its shadow has to hold; behind it, not
//! guarded store             the same behind it, under its guard and under the opposite
//! other guards              compared before it
//! ret, exit, call           the signature is tested before it: a function that is called may end the thread
//! ```
//!
//! So the comparison of a guard executes under the guard itself, which an assembler does not compute anew for it. A block
//! of its own for the edge of a taken branch would do the same, but the assembler of CUDA 13.0 then doubles loops. A test
//! ends the launch whatever the guard of what it stands before: the fault is noticed, sooner than it had to be.

use crate::protect::origin::Origin;
use crate::protect::place::NewBody;
use crate::protect::shadow::Shadows;
use crate::protect::signature::{Signature, leaves};
use crate::refusal::Refusal;
use facts::{Guard, Pc};
use isa::{Instruction, Op};

/// Where the guard of an instruction is compared with its shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardCheck {
    /// Before it where it holds, behind it where it does not: control leaves where it holds.
    Ways,
    /// Behind it.
    Behind,
    /// Before it.
    Before,
}

impl GuardCheck {
    fn of(instruction: &Instruction) -> Self {
        match &instruction.op {
            Op::Bra { .. } | Op::Ret { .. } | Op::Exit => Self::Ways,
            Op::Call(_) | Op::BrxIdx { .. } | Op::Trap => Self::Before,
            _ if instruction.dst.is_empty() => Self::Behind,
            _ => Self::Before,
        }
    }
}

impl Shadows<'_> {
    /// Puts comparisons and tests before instructions that are treated together.
    pub(super) fn sign_before(
        &mut self,
        signature: Signature,
        instructions: &[Instruction],
        start: usize,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        let numbered = || instructions.iter().zip((start as u32..).map(Pc));
        for ((instruction, pc), at) in numbered().zip(0..) {
            self.coder.loc.clone_from(&instruction.loc);
            for (register, shadow) in self.pairs(instruction, &instructions[..at]) {
                let arithmetic = self.arithmetic.get(register.index()).copied().unwrap_or(false);
                let pair = [register, shadow];
                signature.compare(&mut self.coder, self.opaque, instruction.guard, pair, arithmetic)?;
                self.copies = true;
            }
            if let Some(guard) = self.compared_guard(instruction) {
                match GuardCheck::of(instruction) {
                    GuardCheck::Ways => self.expect(signature, Some(guard), guard, true)?,
                    GuardCheck::Behind if instructions.len() == 1 => {}
                    GuardCheck::Behind | GuardCheck::Before => {
                        let pair = [guard.pred, self.shadow(guard.pred)];
                        signature.compare(&mut self.coder, self.opaque, None, pair, false)?;
                        self.copies = true;
                    }
                }
            }
            body.put(Origin::Check(pc), self.coder.take());
        }
        match numbered().find(|(instruction, _)| leaves(&instruction.op)) {
            Some((_, pc)) => signature.end(&mut self.coder, pc, body),
            None => Ok(()),
        }
    }

    /// Puts comparisons of a guard behind an instruction.
    pub(super) fn sign_behind(
        &mut self,
        signature: Signature,
        instructions: &[Instruction],
        start: usize,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        let [instruction] = instructions else { return Ok(()) };
        let Some(guard) = self.compared_guard(instruction) else { return Ok(()) };
        let opposite = Guard { negated: !guard.negated, ..guard };
        self.coder.loc.clone_from(&instruction.loc);
        match GuardCheck::of(instruction) {
            GuardCheck::Ways => self.expect(signature, None, guard, false)?,
            GuardCheck::Behind => {
                self.expect(signature, Some(guard), guard, true)?;
                self.expect(signature, Some(opposite), guard, false)?;
            }
            GuardCheck::Before => {}
        }
        body.put(Origin::Check(Pc(start as u32)), self.coder.take());
        Ok(())
    }

    /// Sets the signature where `under` holds, unless the shadow of a guard holds or does not, as it should.
    fn expect(&mut self, signature: Signature, under: Option<Guard>, guard: Guard, holds: bool) -> Result<(), Refusal> {
        let shadow = self.shadow(guard.pred);
        self.copies = true;
        signature.expect(&mut self.coder, self.opaque, under, (shadow, holds != guard.negated))
    }
}
