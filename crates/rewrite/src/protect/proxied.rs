//! Shadows of a proxy: the operation in place of a comparison, and the shadows that are gathered to be kept alive.

use crate::protect::origin::Origin;
use crate::protect::place::NewBody;
use crate::protect::proxy::{HardwareProxy, Sink};
use crate::protect::shadow::Shadows;
use crate::protect::signature::leaves;
use crate::refusal::Refusal;
use facts::{Pc, Reg};
use isa::Instruction;

impl Shadows<'_> {
    /// Puts before instructions that are treated together what the hardware of a proxy would do there.
    pub(super) fn proxy_before(
        &mut self,
        sink: Sink,
        instructions: &[Instruction],
        start: usize,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        self.copies = true;
        let numbered = || instructions.iter().zip((start as u32..).map(Pc));
        if sink.proxy == HardwareProxy::Notify {
            for ((instruction, pc), at) in numbered().zip(0..) {
                self.coder.loc.clone_from(&instruction.loc);
                let guard = self.compared_guard(instruction).map(|guard| (guard.pred, self.shadow(guard.pred)));
                for (register, shadow) in guard.into_iter().chain(self.pairs(instruction, &instructions[..at])) {
                    sink.compare(&mut self.coder, [register, shadow])?;
                }
                body.put(Origin::Check(pc), self.coder.take());
            }
        }
        match numbered().find(|(instruction, _)| leaves(&instruction.op)) {
            Some((_, pc)) => sink.end(&mut self.coder, self.opaque, pc, body),
            None => Ok(()),
        }
    }

    /// Keeps the shadows alive that a duplicate has just written, where they are gathered.
    pub(super) fn gather(&mut self, sink: Sink, instruction: &Instruction) -> Result<(), Refusal> {
        let kept = instruction.writes().map(|(_, register)| register);
        let kept: Vec<Reg> = kept.filter(|it| self.gathered.get(it.index()).copied().unwrap_or(false)).collect();
        for register in kept {
            let arithmetic =
                self.arithmetic.get(register.index()).copied().unwrap_or(false) && !self.is_float(register);
            let shadow = self.shadow(register);
            sink.gather(&mut self.coder, shadow, arithmetic)?;
        }
        Ok(())
    }
}
