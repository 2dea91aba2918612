//! Cooperative launches: the blocks of a grid that wait for each other run together.
//!
//! A grid waits at a counter in memory that the driver provides; a kernel finds it through `%envreg1` (the upper half of
//! its address) and `%envreg2`. Like the heap it is a variable of the module. The blocks run in rounds: in each, every
//! warp of every block has its turn, in order, so that blocks that spin until others arrive see them arrive.

use crate::block::{Executor, Fuel, Launch, Round};
use crate::hook::{Hook, NoHook};
use crate::memory::GlobalMemory;
use crate::trap::RunEnd;
use isa::{Linkage, Module, Operand, Space, Special, Symbol, Type, Variable};
use std::ops::Range;

/// The name of the variable; no name of PTX has a space in it.
const WORKSPACE_NAME: &str = "grid workspace";
/// Its bytes: its own size, and the counter.
const WORKSPACE_BYTES: u64 = 64;

/// Gives a workspace to a module that asks where it is.
pub fn give_workspace(module: &mut Module) {
    let asks = |operand: &Operand| matches!(operand, Operand::Special(Special::Envreg1 | Special::Envreg2));
    let mut instructions = module.functions.iter().flat_map(|function| &function.body);
    if instructions.any(|instruction| instruction.src.iter().any(asks)) && workspace_of(module).is_none() {
        module.variables.push(Variable {
            name: WORKSPACE_NAME.to_owned(),
            space: Space::Global,
            element: Type::B32,
            bytes: WORKSPACE_BYTES,
            align: WORKSPACE_BYTES as u32,
            linkage: Linkage::Internal,
            init: (WORKSPACE_BYTES as u32).to_le_bytes().to_vec(),
            relocations: Vec::new(),
        });
    }
}

/// The workspace of a module, if it has one.
pub(crate) fn workspace_of(module: &Module) -> Option<Symbol> {
    let index = module.variables.iter().position(|variable| variable.name == WORKSPACE_NAME)?;
    Some(Symbol::Module(index as u32))
}

impl Executor {
    /// Runs all blocks of a launch in order, or together if they may wait for each other. The hook looks into one of
    /// them; `after` is told whenever blocks have ended, also by a trap.
    pub fn run(
        &mut self,
        launch: &Launch<'_>,
        memory: &mut GlobalMemory,
        fuel: Fuel<'_>,
        hooked: Option<u64>,
        hook: &mut dyn Hook,
        mut after: impl FnMut(&mut Self, &mut GlobalMemory, Range<u64>),
    ) -> RunEnd {
        if launch.is_together() {
            let end = self.run_together(launch, memory, fuel, hooked, hook);
            after(self, memory, 0..launch.blocks());
            return end;
        }
        for block in 0..launch.blocks() {
            let end = if hooked == Some(block) {
                self.run_block(launch, memory, block, fuel, hook)
            } else {
                self.run_block(launch, memory, block, fuel, &mut NoHook)
            };
            after(self, memory, block..block + 1);
            if end != RunEnd::Completed {
                return end;
            }
        }
        RunEnd::Completed
    }

    /// Runs the blocks of a cooperative launch; the hook looks into one of them.
    pub fn run_together(
        &mut self,
        launch: &Launch<'_>,
        memory: &mut GlobalMemory,
        fuel: Fuel<'_>,
        hooked: Option<u64>,
        hook: &mut dyn Hook,
    ) -> RunEnd {
        let mut blocks = std::mem::take(&mut self.grid);
        for (block, executor) in (0..).zip(&mut blocks) {
            executor.start(launch, block, fuel);
        }
        let end = rounds(&mut blocks, launch, memory, hooked, hook);
        self.grid = blocks;
        end
    }
}

fn rounds(
    blocks: &mut [Executor],
    launch: &Launch<'_>,
    memory: &mut GlobalMemory,
    hooked: Option<u64>,
    hook: &mut dyn Hook,
) -> RunEnd {
    loop {
        let (mut moved, mut stuck) = (false, None);
        for (block, executor) in (0..).zip(blocks.iter_mut()) {
            let round = if hooked == Some(block) {
                executor.round(launch, memory, block, hook)
            } else {
                executor.round(launch, memory, block, &mut NoHook)
            };
            match round {
                Err(trap) => return RunEnd::Trapped(trap),
                Ok(Round::Done) => {}
                Ok(Round::Moved) => moved = true,
                Ok(Round::Stuck) => stuck = stuck.or(Some(block)),
            }
        }
        match stuck {
            _ if moved => {}
            Some(block) => return RunEnd::Trapped(blocks[block as usize].deadlock(launch.program, block)),
            None => return RunEnd::Completed,
        }
    }
}
