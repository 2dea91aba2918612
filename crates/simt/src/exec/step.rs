//! One micro-operation.

use super::plain::plain;
use super::running::{Running, Step};
use crate::access::{Executing, Fault};
use crate::atomic::atomic;
use crate::collective;
use crate::copy::copy;
use crate::matrix::matrix;
use crate::mbarrier::mbarrier;
use crate::program::{Kind, Micro};
use crate::texture::texture;
use crate::trap::TrapKind;
use ::lanes::Handlers;
use ::lanes::registers::{LANES, lanes};

impl Running<'_> {
    /// Executes a micro-operation.
    #[inline(always)]
    pub(crate) fn step<L: Handlers>(&mut self, level: L, micro: &Micro) -> Result<Step, Fault> {
        match micro.kind {
            Kind::Alu(_) | Kind::Pred(_) | Kind::Load(_) | Kind::Store(_) => {
                plain(level, self.program, &mut self.executing, micro)?;
                Ok(Step::Next)
            }
            Kind::Branch => Ok(self.branch(micro.imm as u32)),
            _ => self.seldom(level, micro),
        }
    }

    /// Those that are seldom, in a function of their own.
    #[inline(never)]
    fn seldom<L: Handlers>(&mut self, level: L, micro: &Micro) -> Result<Step, Fault> {
        let program = self.program;
        let on = &mut self.executing;
        match micro.kind {
            Kind::Alu(_) | Kind::Pred(_) | Kind::Load(_) | Kind::Store(_) => plain(level, program, on, micro)?,
            Kind::Atomic(plan) => atomic(on, &program.atomics[plan as usize])?,
            Kind::Copy(plan) => copy(on, &program.copies[plan as usize])?,
            Kind::Mbarrier(plan) => mbarrier(on, &program.mbarriers[plan as usize])?,
            Kind::Texture(plan) => texture(on, &program.textures[plan as usize])?,
            Kind::FrameAddress => frame_address(on, micro),
            Kind::Alloca(width) => self.alloca(micro, width)?,
            Kind::StackSave(width) => self.stack_save(micro, width),
            Kind::StackRestore(width) => self.stack_restore(micro, width),
            Kind::Counter(special) => self.counter(micro, special),
            Kind::Isspacep(space) => on.isspacep(micro, space),
            Kind::Activemask => collective::write_b32(on.registers, micro.dst, &[on.mask; LANES], on.mask),
            Kind::Pack128(list) => on.pack128(micro, &program.lists[list as usize]),
            Kind::Unpack128(list) => on.unpack128(micro, &program.lists[list as usize]),
            Kind::Shuffle(_) | Kind::Vote(_) | Kind::Elect | Kind::Match { .. } | Kind::Redux(..) | Kind::WarpSync => {
                return self.together(micro, |on| {
                    collective::execute(level, on.registers, micro, on.mask);
                    Ok(())
                });
            }
            Kind::Matrix(plan) => return self.together(micro, |on| matrix(on, &program.matrices[plan as usize])),
            Kind::Barrier(plan) => return Ok(self.barrier(micro, program.barriers[plan as usize])),
            Kind::Branch => return Ok(self.branch(micro.imm as u32)),
            Kind::BranchIndexed(list) => return self.branch_indexed(micro, &program.branches[list as usize]),
            Kind::Call(plan) => return self.call(plan),
            Kind::Return => return Ok(self.leave()),
            Kind::Exit => return Ok(self.exit()),
            Kind::Trap => return Err(Fault::new(TrapKind::Trap, on.first())),
            Kind::Assert => return Err(Fault::new(TrapKind::Assert, on.first())),
            Kind::Nop => {}
        }
        Ok(Step::Next)
    }
}

fn frame_address(on: &mut Executing<'_>, micro: &Micro) {
    let address = i64::from(on.frame_base).wrapping_add(micro.imm);
    let row = &mut on.registers.b64[usize::from(micro.dst)].0;
    lanes(on.mask).for_each(|lane| row[lane] = address as u64);
}
