//! Modules, functions, variables and instructions as plain data.
//!
//! A function's body is one flat list of instructions; a [`Pc`] is an index into it and is what counts, sites,
//! traps and line tables speak of. Labels are names for such indices and matter only when the module is printed.

use crate::op::Op;
use crate::types::{Space, Special, Type};
use facts::{Files, FunctionId, Guard, Loc, Pc, Reg, Register};
use std::collections::BTreeMap;

/// One translation unit: what a PTX file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// PTX ISA version, major and minor.
    pub version: (u32, u32),
    /// Target and its options as written, for example `sm_80` or `sm_80, texmode_unified`.
    pub target: String,
    /// Global and constant variables, and shared variables of module scope.
    pub variables: Vec<Variable>,
    /// Kernels and device functions; declarations without a body have an empty one.
    pub functions: Vec<Function>,
    /// Source files by the number that line tables use.
    pub files: Files,
}

impl Module {
    /// The kernel of this name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<(FunctionId, &Function)> {
        let index = self.functions.iter().position(|f| f.kernel && f.name == name)?;
        Some((FunctionId(index as u32), &self.functions[index]))
    }

    /// The function behind an id.
    ///
    /// # Panics
    /// If the id is not of this module.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }
}

/// Who may see a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// This module alone.
    #[default]
    Internal,
    /// `.visible`: defined here, seen elsewhere.
    Visible,
    /// `.extern`: defined elsewhere. An extern shared array is the launch's dynamic shared memory.
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A variable in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name as written.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Type of one element.
    pub element: Type,
    /// Size in bytes; 0 for an extern array without a bound.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Who may see it.
    pub linkage: Linkage,
    /// First bytes; the rest is zero.
    pub init: Vec<u8>,
    /// Addresses to be written into `init` when the module is placed.
    pub relocations: Vec<Relocation>,
}

/// An address inside a variable's initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the initial value, in bytes.
    pub at: u64,
    /// What is pointed to.
    pub symbol: Symbol,
    /// Added to the address.
    pub addend: i64,
    /// Whether the address is a generic one.
    pub generic: bool,
}

/// A kernel or a device function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name as written (mangled).
    pub name: String,
    /// Whether it can be launched.
    pub kernel: bool,
    /// Who may see it.
    pub linkage: Linkage,
    /// Parameters in order, laid out as [`Function::layout`] says.
    pub params: Vec<Variable>,
    /// Return parameters of a device function.
    pub returns: Vec<Variable>,
    /// Registers by [`Reg`].
    pub registers: Vec<Register>,
    /// Variables of function scope: shared, local and call parameters.
    pub variables: Vec<Variable>,
    /// The instructions.
    pub body: Vec<Instruction>,
    /// Names of instructions; a label at the end of the body is one past the last.
    pub labels: BTreeMap<String, Pc>,
    /// What indirect calls name: prototypes and lists of targets, by label.
    pub prototypes: BTreeMap<String, Prototype>,
    /// Performance directives as written, for example `.maxntid 256, 1, 1`.
    pub directives: Vec<String>,
}

/// What an indirect call says of its callee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prototype {
    /// `.callprototype`: the parameters that the callee has. Their names mean nothing.
    Signature {
        /// Return parameters.
        returns: Vec<Variable>,
        /// Parameters.
        params: Vec<Variable>,
        /// `.noreturn` and the like, as written.
        directives: Vec<String>,
    },
    /// `.calltargets`: the functions that it may be.
    Targets(Vec<FunctionId>),
}

impl Function {
    /// The instruction at `pc`, if there is one.
    #[must_use]
    pub fn at(&self, pc: Pc) -> Option<&Instruction> {
        self.body.get(pc.index())
    }

    /// The register behind an index.
    ///
    /// # Panics
    /// If the register is not of this function.
    #[must_use]
    pub fn register(&self, reg: Reg) -> &Register {
        &self.registers[reg.index()]
    }

    /// Byte offset of every parameter and the size of all: each aligned to itself, in order, as the CUDA
    /// launch interface packs them.
    #[must_use]
    pub fn layout(&self) -> (Vec<u64>, u64) {
        let mut end = 0u64;
        let offsets = self
            .params
            .iter()
            .map(|param| {
                let at = end.next_multiple_of(u64::from(param.align.max(1)));
                end = at + param.bytes;
                at
            })
            .collect();
        (offsets, end)
    }
}

/// One architectural instruction: what counts, sites and traps speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Threads for which it is false do not execute the instruction.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// Destinations in the order written.
    pub dst: Vec<Dst>,
    /// Sources in the order written.
    pub src: Vec<Src>,
    /// The source line it came from.
    pub loc: Option<Loc>,
}

impl Instruction {
    /// Registers written, with their position among the destinations.
    pub fn writes(&self) -> impl Iterator<Item = (usize, Reg)> + '_ {
        self.dst.iter().enumerate().filter_map(|(i, dst)| match dst {
            Dst::Reg(reg) => Some((i, *reg)),
            Dst::Sink => None,
        })
    }

    /// Registers read: the guard, then sources and address bases in order.
    pub fn reads(&self) -> impl Iterator<Item = Reg> + '_ {
        let guard = self.guard.map(|guard| guard.pred);
        guard.into_iter().chain(self.src.iter().filter_map(Src::register))
    }
}

/// A destination operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// A register.
    Reg(Reg),
    /// `_`: the result is dropped.
    Sink,
}

/// A source operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Src {
    /// A register.
    Reg(Reg),
    /// A predicate read as its complement, `!p`.
    Not(Reg),
    /// A constant, its bits in the low end.
    Imm(u64),
    /// A special register.
    Special(Special),
    /// The address of a variable or function, plus an offset.
    Symbol(Symbol, i64),
    /// `[base + offset]`
    Address(Base, i64),
}

impl Src {
    /// The register that the operand reads, if any.
    #[must_use]
    pub fn register(&self) -> Option<Reg> {
        match self {
            Self::Reg(reg) | Self::Not(reg) | Self::Address(Base::Reg(reg), _) => Some(*reg),
            _ => None,
        }
    }
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Reg(Reg),
    /// A variable.
    Symbol(Symbol),
    /// An absolute address.
    Zero,
}

/// A named thing, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// A variable of the module.
    Module(u32),
    /// A variable of the function.
    Local(u32),
    /// A parameter of the function.
    Param(u32),
    /// A return parameter of the function.
    Return(u32),
    /// A function.
    Function(FunctionId),
}
