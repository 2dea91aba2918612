//! One micro-operation.

use super::plain::plain;
use super::running::{Running, Step};
use crate::access::{Executing, LaneTrap};
use crate::atomic::atomic;
use crate::collective;
use crate::copy::copy;
use crate::matrix::matrix;
use crate::mbarrier::mbarrier;
use crate::program::{Micro, MicroKind};
use crate::texture::texture;
use crate::trap::TrapKind;
use ::lanes::Handlers;
use ::lanes::registers::{LANES, lanes};

impl Running<'_> {
    /// Executes a micro-operation.
    #[inline(always)]
    pub(crate) fn step<L: Handlers>(&mut self, level: L, micro: &Micro) -> Result<Step, LaneTrap> {
        match micro.kind {
            MicroKind::Alu(_) | MicroKind::Pred(_) | MicroKind::Load(_) | MicroKind::Store(_) => {
                plain(level, self.program, &mut self.executing, micro)?;
                Ok(Step::Next)
            }
            MicroKind::Branch => Ok(self.branch(micro.imm as u32)),
            _ => self.seldom(level, micro),
        }
    }

    /// Those that are seldom, in a function of their own.
    #[inline(never)]
    fn seldom<L: Handlers>(&mut self, level: L, micro: &Micro) -> Result<Step, LaneTrap> {
        let program = self.program;
        let on = &mut self.executing;
        match micro.kind {
            MicroKind::Alu(_) | MicroKind::Pred(_) | MicroKind::Load(_) | MicroKind::Store(_) => {
                plain(level, program, on, micro)?;
            }
            MicroKind::Atomic(plan) => atomic(on, &program.atomics[plan as usize])?,
            MicroKind::Copy(plan) => copy(on, &program.copies[plan as usize])?,
            MicroKind::Mbarrier(plan) => mbarrier(on, &program.mbarriers[plan as usize])?,
            MicroKind::Texture(plan) => texture(on, &program.textures[plan as usize])?,
            MicroKind::FrameAddress => frame_address(on, micro),
            MicroKind::Alloca(width) => self.alloca(micro, width)?,
            MicroKind::StackSave(width) => self.stack_save(micro, width),
            MicroKind::StackRestore(width) => self.stack_restore(micro, width),
            MicroKind::Counter(special) => self.counter(micro, special),
            MicroKind::Isspacep(space) => on.isspacep(micro, space),
            MicroKind::Activemask => collective::write_b32(on.registers, micro.dst, &[on.mask; LANES], on.mask),
            MicroKind::Pack128(list) => on.pack128(micro, &program.lists[list as usize]),
            MicroKind::Unpack128(list) => on.unpack128(micro, &program.lists[list as usize]),
            MicroKind::Shuffle(_)
            | MicroKind::Vote(_)
            | MicroKind::Elect
            | MicroKind::Match { .. }
            | MicroKind::Redux(..)
            | MicroKind::WarpSync => {
                return self.together(micro, |on, elsewhere| {
                    collective::execute(level, on.registers, micro, on.mask, elsewhere);
                    Ok(())
                });
            }
            // Those on matrices have their own plan each: lanes meet at one of them only.
            MicroKind::Matrix(plan) => {
                return self.together(micro, |on, _| matrix(on, &program.matrices[plan as usize]));
            }
            MicroKind::Barrier(plan) => return Ok(self.barrier(micro, program.barriers[plan as usize])),
            MicroKind::Branch => return Ok(self.branch(micro.imm as u32)),
            MicroKind::BranchIndexed(list) => return self.branch_indexed(micro, &program.branches[list as usize]),
            MicroKind::Call(plan) => return self.call(plan),
            MicroKind::Return => return Ok(self.leave()),
            MicroKind::Exit => return Ok(self.exit()),
            MicroKind::Trap => return Err(LaneTrap::new(TrapKind::Trap, on.first())),
            MicroKind::Assert => return Err(LaneTrap::new(TrapKind::Assert, on.first())),
            MicroKind::Nop => {}
        }
        Ok(Step::Next)
    }
}

fn frame_address(on: &mut Executing<'_>, micro: &Micro) {
    let address = i64::from(on.frame_base).wrapping_add(micro.imm);
    let row = &mut on.registers.b64[usize::from(micro.dst)].0;
    lanes(on.mask).for_each(|lane| row[lane] = address as u64);
}
