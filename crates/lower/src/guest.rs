//! The guest: PTX text to modules, modules to programs.

use crate::contract::Contract;
use crate::program::lower;
use crate::refused::Refused;
use crate::{pointee, runtime_symbols, sets};
use facts::{FunctionId, NamedSet, Pc};
use isa::{Function, Linkage, Module, Space};
use simt::Program;
use simt::guest::{
    Guest, GuestError, GuestModule, Image, KernelInfo, Listed, ParamInfo, Placement, Relocation, Variable,
};

/// What the code of this guest is called in messages.
const WHAT: &str = "PTX";

/// The instruction set PTX.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ptx {
    /// What becomes of products and sums that may be joined.
    pub contract: Contract,
}

/// A module of PTX.
#[derive(Debug)]
struct PtxModule {
    module: Module,
    /// Those of the module, in its order.
    variables: Vec<Variable>,
    /// Functions whose bodies are refused; they have none.
    refused: Refused,
    contract: Contract,
}

impl Guest for Ptx {
    fn name(&self) -> &'static str {
        "ptx"
    }

    fn sets(&self) -> &'static [NamedSet] {
        sets()
    }

    fn reads(&self, image: &Image<'_>) -> bool {
        image.kind == "ptx"
    }

    fn load(&self, name: &str, image: &Image<'_>, heap_bytes: u64) -> Result<Box<dyn GuestModule>, GuestError> {
        let not_text = |_| GuestError::NotText { name: name.to_owned(), what: WHAT };
        let text = std::str::from_utf8(image.bytes).map_err(not_text)?;
        let ptx::Reading { mut module, refused } =
            ptx::parse_parts(name, text).map_err(|errors| GuestError::Mistakes {
                name: name.to_owned(),
                what: WHAT,
                mistakes: errors.render(),
                first: errors.first_in_a_line(),
            })?;
        runtime_symbols::give_heap(&mut module, heap_bytes);
        runtime_symbols::give_workspace(&mut module);
        let variables = module.variables.iter_mut().map(variable).collect();
        let refused = Refused::of(&module, refused);
        Ok(Box::new(PtxModule { module, variables, refused, contract: self.contract }))
    }
}

/// A variable as the machine wants it; its initial value moves there.
fn variable(variable: &mut isa::Variable) -> Variable {
    let relocation = |it: &isa::Relocation| Relocation { at: it.at, to: pointee(it.symbol), addend: it.addend };
    Variable {
        name: variable.name.clone(),
        space: variable.space,
        bytes: variable.bytes,
        init: std::mem::take(&mut variable.init),
        relocations: variable.relocations.iter().map(relocation).collect(),
        external: variable.linkage == Linkage::Extern,
        own: runtime_symbols::is_own(&variable.name),
    }
}

impl GuestModule for PtxModule {
    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn kernels(&self) -> Vec<String> {
        let kernels = self.module.functions.iter().filter(|function| function.kernel);
        kernels.map(|function| function.name.clone()).collect()
    }

    fn kernel(&self, name: &str) -> Option<KernelInfo> {
        self.module.kernel(name).map(|(_, function)| info(function))
    }

    fn refusal(&self, kernel: &str) -> Option<GuestError> {
        self.refused.error(&self.module, kernel)
    }

    fn program(&self, kernel: &str, placement: &Placement) -> Result<Program, GuestError> {
        self.refusal(kernel).map_or(Ok(()), Err)?;
        lower(&self.module, placement, kernel, self.contract)
    }

    fn text(&self, function: FunctionId, pc: Pc) -> String {
        let function = self.module.functions.get(function.0 as usize);
        function.map_or_else(String::new, |function| ptx::print_instruction(&self.module, function, pc))
    }

    fn listing(&self) -> Vec<Listed> {
        let listed = |function: &Function| {
            let instructions = function.body.iter().zip(0..);
            let of = |(instruction, pc): (&isa::Instruction, u32)| Listed {
                function: function.name.clone(),
                pc: Pc(pc),
                mnemonic: instruction.op.to_string(),
                file: instruction.loc.as_ref().and_then(|loc| self.module.files.get(&loc.file).cloned()),
                line: instruction.loc.as_ref().map(|loc| loc.line),
                text: ptx::print_instruction(&self.module, function, Pc(pc)),
            };
            instructions.map(of).collect::<Vec<_>>()
        };
        self.module.functions.iter().flat_map(listed).collect()
    }
}

fn info(kernel: &Function) -> KernelInfo {
    let (offsets, bytes) = kernel.layout();
    let params = offsets.iter().zip(&kernel.params);
    let of_space = |space| kernel.variables.iter().filter(move |variable| variable.space == space);
    let bytes_of = |space| of_space(space).map(|variable| variable.bytes as u32).sum();
    KernelInfo {
        params: params.map(|(&offset, param)| ParamInfo { offset: offset as u32, bytes: param.bytes as u32 }).collect(),
        param_bytes: bytes as u32,
        static_shared_bytes: bytes_of(Space::Shared),
        local_bytes: bytes_of(Space::Local),
        registers: kernel.registers.len() as u32,
        register_words: kernel.registers.iter().map(|register| register.ty.bits().div_ceil(32)).sum(),
        max_threads: kernel.directives.iter().find_map(|directive| max_threads(directive)),
        instructions: kernel.body.len() as u32,
    }
}

/// The product of the numbers of `.maxntid 16, 16, 1` and `.reqntid`.
fn max_threads(directive: &str) -> Option<u32> {
    let numbers = directive.strip_prefix(".maxntid").or_else(|| directive.strip_prefix(".reqntid"))?;
    numbers.split(',').map(|number| number.trim().parse::<u32>().ok()).product()
}
