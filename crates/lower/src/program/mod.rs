//! From a kernel of PTX to a program: registers become rows, operands that are constant become rows of their own,
//! and each architectural instruction becomes micro-operations.
//!
//! Everything that the machine could not execute is refused here, by name and source line, before anything runs.

mod asynchronous;
mod calls;
mod compare;
mod extended;
mod frame;
mod instruction;
mod joined;
mod limits;
mod matrix;
mod memory;
mod operand;
mod shared;
mod texture;

use crate::contract::Contract;
use crate::facts_builder::Teller;
use crate::place;
use crate::runtime_symbols;
use facts::{Facts, Flow};
use frame::Frame;
use isa::op::CallTarget;
use isa::{Base, Contraction, Function, FunctionId, Instruction, Module, Op, Pc, Space, Special, Src, Symbol, Width};
use shared::{SharedKey, SharedLayout};
use simt::guest::{GuestError, Placement};
use simt::program::{FunctionCode, Micro, MicroKind, NOWHERE, ParamRow, Program, StaticInstruction};
use simt::registers::{Sizes, Slot};
use simt::{HEAP_NAME, HeapPlace, WORKSPACE_NAME};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of local memory that calls and `alloca` may use beyond the kernel's own frame.
const STACK: u32 = 64 << 10;

/// Makes a kernel ready to run.
///
/// # Errors
/// If the kernel does not exist, or does something the machine cannot do.
pub(crate) fn lower(
    module: &Module,
    placement: &Placement,
    kernel: &str,
    contract: Contract,
) -> Result<Program, GuestError> {
    let (id, function) = module.kernel(kernel).ok_or_else(|| GuestError::NoKernel(kernel.to_owned()))?;
    refuse_clusters(function)?;
    let reachable = reachable(module, id);
    limits::check(module, function, &reachable)?;
    let mut lowering = Lowering::new(module, placement, function, &reachable)?;
    for (index, &id) in reachable.iter().enumerate() {
        lowering.declare(index as u32, id)?;
    }
    for index in 0..reachable.len() {
        lowering.body(index as u32, contract)?;
    }
    Ok(lowering.program)
}

/// A block is a cluster of its own; a kernel that is made for larger ones is refused.
fn refuse_clusters(kernel: &Function) -> Result<(), GuestError> {
    let larger = |directive: &&String| {
        let extents = directive.strip_prefix(".reqnctapercluster");
        extents.is_some_and(|extents| extents.split(',').any(|extent| extent.trim() != "1"))
    };
    match kernel.directives.iter().find(larger) {
        None => Ok(()),
        Some(directive) => Err(GuestError::Unsupported {
            what: format!("a kernel with `{directive}`"),
            function: kernel.name.clone(),
            pc: Pc(0),
            line: None,
        }),
    }
}

/// Whether a kernel reads its parameters otherwise than by loads from fixed places.
fn takes_address(kernel: &Function) -> bool {
    let names = |operand: &Src| {
        matches!(operand, Src::Symbol(Symbol::Param(_), _) | Src::Address(Base::Symbol(Symbol::Param(_)), _))
    };
    let loads = |op: &Op| matches!(op, Op::Ld(access) if access.space == Space::Param);
    kernel.body.iter().any(|instruction| !loads(&instruction.op) && instruction.src.iter().any(names))
}

/// The kernel first, then every function that it may call.
fn reachable(module: &Module, kernel: FunctionId) -> Vec<FunctionId> {
    let mut found = vec![kernel];
    let mut seen = vec![false; module.functions.len()];
    seen[kernel.0 as usize] = true;
    let mut any_callable = false;
    let mut next = 0;
    while next < found.len() {
        let function = module.function(found[next]);
        next += 1;
        for instruction in &function.body {
            let Op::Call(call) = &instruction.op else { continue };
            let callees: Vec<FunctionId> = match call.target {
                CallTarget::Direct(id) => vec![id],
                CallTarget::Indirect { .. } if std::mem::replace(&mut any_callable, true) => Vec::new(),
                CallTarget::Indirect { .. } => callable(module).collect(),
            };
            for callee in callees {
                let seen = std::mem::replace(&mut seen[callee.0 as usize], true);
                if !seen && !module.function(callee).body.is_empty() {
                    found.push(callee);
                }
            }
        }
    }
    found
}

/// Functions whose address may be taken.
fn callable(module: &Module) -> impl Iterator<Item = FunctionId> + '_ {
    let functions = module.functions.iter().enumerate();
    functions.filter(|(_, function)| !function.kernel).map(|(index, _)| FunctionId(index as u32))
}

/// A function being lowered, and what it needs to know of its program.
struct Lowering<'a> {
    module: &'a Module,
    placement: &'a Placement,
    program: Program,
    frames: Vec<Frame>,
    /// What is known of the instructions of each function, until they stand in the program.
    facts: Vec<Vec<Facts>>,
    files: Arc<facts::Files>,
    /// Indices of functions among those of the program.
    indices: BTreeMap<FunctionId, u32>,
    /// Where the heap is, if the module has one.
    heap: Option<HeapPlace>,
    /// Offsets of shared variables.
    shared: BTreeMap<SharedKey, u32>,
    constants: BTreeMap<(Width, u128), u16>,
    specials: BTreeMap<Special, u16>,
    params: BTreeMap<(u32, u8, bool, Width), u16>,
    /// Carry flags by the index of their function.
    carries: BTreeMap<u32, u16>,
    temporaries: BTreeMap<Width, Vec<u16>>,
    used: BTreeMap<Width, usize>,
    /// What is joined in the function that is being lowered.
    contraction: Contraction,
    /// The rows of factors that do not stay where they are, by width, number of the product among those that are needed at the same time, and which of its two
    /// it is. No two stretches of code are executed at a time by a thread, so all share them.
    factor_rows: BTreeMap<(Width, usize, usize), u16>,
    /// By the product's instruction, the rows that its factors are in until its last sum.
    kept_factors: BTreeMap<Pc, [u16; 2]>,
    at: Place<'a>,
}

/// The instruction being lowered.
#[derive(Clone, Copy)]
struct Place<'a> {
    function: &'a Function,
    id: FunctionId,
    /// Index among the program's functions.
    index: u32,
    pc: Pc,
    instruction: Option<&'a Instruction>,
}

impl<'a> Lowering<'a> {
    fn new(
        module: &'a Module,
        placement: &'a Placement,
        kernel: &'a Function,
        reachable: &[FunctionId],
    ) -> Result<Self, GuestError> {
        let layout = SharedLayout::of(module, reachable);
        let (_, param_bytes) = kernel.layout();
        let program = Program {
            name: kernel.name.clone(),
            micros: Vec::new(),
            instructions: Vec::new(),
            functions: Vec::new(),
            accesses: Vec::new(),
            atomics: Vec::new(),
            copies: Vec::new(),
            mbarriers: Vec::new(),
            matrices: Vec::new(),
            textures: Vec::new(),
            barriers: Vec::new(),
            calls: Vec::new(),
            branches: Vec::new(),
            lists: Vec::new(),
            sizes: Sizes::default(),
            constants: Vec::new(),
            specials: Vec::new(),
            params: Vec::new(),
            param_bytes: param_bytes as u32,
            shared_bytes: layout.bytes,
            stack: if reachable.len() > 1 { STACK } else { 0 },
            dynamic_align: layout.dynamic_align,
            workspace: runtime_symbols::find(module, WORKSPACE_NAME)
                .and_then(|(symbol, _)| place(placement, symbol))
                .unwrap_or(0),
            reads_param_addresses: takes_address(kernel),
        };
        let at = Place { function: kernel, id: reachable[0], index: 0, pc: Pc(0), instruction: None };
        let mut lowering = Self {
            module,
            placement,
            program,
            frames: Vec::new(),
            facts: Vec::new(),
            files: Arc::new(module.files.clone()),
            indices: BTreeMap::new(),
            heap: runtime_symbols::find(module, HEAP_NAME)
                .and_then(|(symbol, bytes)| Some(HeapPlace { base: place(placement, symbol)?, bytes })),
            shared: layout.offsets,
            constants: BTreeMap::new(),
            specials: BTreeMap::new(),
            params: BTreeMap::new(),
            carries: BTreeMap::new(),
            temporaries: BTreeMap::new(),
            used: BTreeMap::new(),
            contraction: Contraction::default(),
            factor_rows: BTreeMap::new(),
            kept_factors: BTreeMap::new(),
            at,
        };
        // Row 0 of the predicates is true: the guard of an instruction without one.
        lowering.constant(Width::Pred, 1)?;
        Ok(lowering)
    }

    /// Gives a function its rows and its frame.
    fn declare(&mut self, index: u32, id: FunctionId) -> Result<(), GuestError> {
        let function = self.module.function(id);
        self.at = Place { function, id, index, pc: Pc(0), instruction: None };
        let registers: Vec<Slot> =
            function.registers.iter().map(|register| self.row(register.width())).collect::<Result<_, _>>()?;
        let frame = Frame::of(function);
        let shared = |symbol| self.shared_offset(symbol);
        let (files, placement) = (&self.files, self.placement);
        let teller = Teller { function, files, placement, frame: &frame.offsets, shared: &shared };
        let facts: Vec<Facts> = function.body.iter().map(|instruction| teller.facts(instruction)).collect();
        let undefined = Flow::of(&facts).undefined_reads(&facts, registers.len());
        self.program.functions.push(FunctionCode {
            id,
            name: function.name.clone(),
            entry: 0,
            frame: frame.bytes,
            formals: frame.formals.clone(),
            returns: frame.returns.clone(),
            zeroed: undefined.into_iter().map(|register| registers[register.index()]).collect(),
            registers,
            declared: function.registers.clone(),
            held: BTreeMap::new(),
        });
        self.frames.push(frame);
        self.facts.push(facts);
        self.indices.insert(id, index);
        Ok(())
    }

    /// Lowers a function's instructions and resolves its branches.
    fn body(&mut self, index: u32, contract: Contract) -> Result<(), GuestError> {
        let id = self.program.functions[index as usize].id;
        let function = self.module.function(id);
        self.contraction = match contract {
            Contract::Ptxas => Contraction::of(function),
            Contract::Off => Contraction::default(),
        };
        self.kept_factors.clear();
        let entry = self.program.micros.len();
        self.program.functions[index as usize].entry = entry as u32;
        let mut starts = Vec::with_capacity(function.body.len() + 1);
        let facts = std::mem::take(&mut self.facts[index as usize]);
        for ((pc, instruction), facts) in function.body.iter().enumerate().zip(facts) {
            starts.push(self.program.micros.len() as u32);
            self.at = Place { function, id, index, pc: Pc(pc as u32), instruction: Some(instruction) };
            self.program.instructions.push(StaticInstruction { function: id, pc: self.at.pc, facts: Some(facts) });
            self.instruction(instruction)?;
        }
        starts.push(self.program.micros.len() as u32);
        self.program.instructions.push(StaticInstruction {
            function: id,
            pc: Pc(function.body.len() as u32),
            facts: None,
        });
        self.at.instruction = None;
        // Control that runs off the end returns: a `ret` that is executed and counted though it is not written.
        let end = self.emit(MicroKind::Return, 0, &[]);
        (end.first, end.last) = (true, true);
        for micro in &mut self.program.micros[entry..] {
            if micro.kind == MicroKind::Branch {
                micro.imm = i64::from(starts[micro.imm as usize]);
            }
            if let MicroKind::BranchIndexed(list) = micro.kind {
                for target in &mut self.program.branches[list as usize] {
                    *target = starts[*target as usize];
                }
            }
        }
        let mut straight = 0u16;
        for micro in self.program.micros[entry..].iter_mut().rev() {
            let plain = micro.kind.is_plain() && micro.guard == 0 && !micro.guard_not;
            straight = if plain { straight.saturating_add(1) } else { 0 };
            micro.straight = straight;
        }
        Ok(())
    }

    /// Lowers one architectural instruction; everything it emits belongs to it.
    fn instruction(&mut self, instruction: &'a Instruction) -> Result<(), GuestError> {
        self.used.clear();
        let first = self.program.micros.len();
        self.operation(instruction)?;
        if self.program.micros.len() == first {
            self.emit(MicroKind::Nop, 0, &[]);
        }
        let guard = instruction.guard.map(|guard| (self.register(guard.pred).index, guard.negated));
        let last = self.program.micros.len() - 1;
        for (at, micro) in self.program.micros[first..].iter_mut().enumerate() {
            micro.first = at == 0;
            micro.last = first + at == last;
            if let Some((row, negated)) = guard {
                (micro.guard, micro.guard_not) = (row, negated);
            }
        }
        Ok(())
    }

    fn emit(&mut self, kind: MicroKind, dst: u16, src: &[u16]) -> &mut Micro {
        let mut rows = [0; 4];
        rows[..src.len()].copy_from_slice(src);
        let micro = Micro {
            kind,
            first: false,
            last: false,
            guard_not: false,
            guard: 0,
            dst,
            second: NOWHERE,
            src: rows,
            straight: 0,
            instruction: self.program.instructions.len() as u32 - 1,
            imm: 0,
        };
        let at = self.program.micros.len();
        self.program.micros.push(micro);
        &mut self.program.micros[at]
    }

    fn unsupported(&self, what: impl Into<String>) -> GuestError {
        GuestError::Unsupported {
            what: what.into(),
            function: self.at.function.name.clone(),
            pc: self.at.pc,
            line: self.at.instruction.and_then(|it| it.loc.as_ref()).map(|loc| loc.outermost().line),
        }
    }

    /// A new row.
    fn row(&mut self, width: Width) -> Result<Slot, GuestError> {
        let too_many = || GuestError::TooManyRegisters(self.program.name.clone());
        // The last index means "nowhere".
        self.program.sizes.allocate(width).filter(|slot| slot.index < NOWHERE).ok_or_else(too_many)
    }

    /// A row that every lane reads as `bits`.
    fn constant(&mut self, width: Width, bits: u128) -> Result<u16, GuestError> {
        let bits = if width == Width::B128 { bits } else { bits & ((1u128 << width.bits()) - 1) };
        if let Some(&row) = self.constants.get(&(width, bits)) {
            return Ok(row);
        }
        let slot = self.row(width)?;
        self.constants.insert((width, bits), slot.index);
        self.program.constants.push((slot, bits));
        Ok(slot.index)
    }

    /// A row for a special register that does not change while a block runs.
    fn special(&mut self, special: Special) -> Result<u16, GuestError> {
        if let Some(&row) = self.specials.get(&special) {
            return Ok(row);
        }
        let slot = self.row(special.width())?;
        self.specials.insert(special, slot.index);
        self.program.specials.push((special, slot));
        Ok(slot.index)
    }

    /// A row for a kernel parameter, as wide as the register that it is loaded into.
    fn param(&mut self, offset: u32, bytes: u8, signed: bool, width: Width) -> Result<u16, GuestError> {
        let key = (offset, bytes, signed, width);
        if let Some(&row) = self.params.get(&key) {
            return Ok(row);
        }
        let slot = self.row(width)?;
        self.params.insert(key, slot.index);
        self.program.params.push(ParamRow { slot, offset, bytes, signed });
        Ok(slot.index)
    }

    /// A row for this instruction alone.
    fn temporary(&mut self, width: Width) -> Result<u16, GuestError> {
        let used = self.used.entry(width).or_insert(0);
        let index = *used;
        *used += 1;
        if let Some(&row) = self.temporaries.get(&width).and_then(|rows| rows.get(index)) {
            return Ok(row);
        }
        let row = self.row(width)?.index;
        self.temporaries.entry(width).or_default().push(row);
        Ok(row)
    }
}
