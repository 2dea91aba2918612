//! The toy on the machine: its instructions as micro-operations that PTX uses, too.

use super::toy::{Kernel, Toyed, WORD, registers};
use facts::{Flow, FunctionId, Pc, Reg};
use isa::{AluForm, Space, Special, Width};
use simt::guest::GuestError;
use simt::program::{
    AccessPlan, BarrierPlan, FunctionCode, Micro, MicroKind, NOWHERE, ParamRow, Program, RESERVED_SHARED,
    StaticInstruction,
};
use simt::registers::{Sizes, Slot};
use std::collections::BTreeMap;

/// The line of the machine's table that computes what the toy names.
fn line(spelling: &str) -> MicroKind {
    MicroKind::Alu(AluForm::from_spelling(spelling).expect("the table has it").alu as u16)
}

struct Lowering<'a> {
    program: Program,
    rows: Vec<Slot>,
    address: &'a dyn Fn(usize) -> u64,
    /// Rows of 32 bits of this instruction alone.
    words: [u16; 2],
    specials: [u16; 3],
    zero: u16,
}

/// Makes a kernel ready to run; variables have these addresses.
pub(super) fn program(id: FunctionId, kernel: &Kernel, address: &dyn Fn(usize) -> u64) -> Result<Program, GuestError> {
    let mut lowering = Lowering::new(id, kernel, address).ok_or_else(too_many)?;
    let mut starts = Vec::new();
    for ((toyed, _), pc) in kernel.body.iter().zip(0..) {
        let first = lowering.program.micros.len();
        starts.push(first as i64);
        lowering.program.instructions.push(StaticInstruction { function: id, pc: Pc(pc), facts: Some(toyed.facts()) });
        lowering.instruction(toyed).ok_or_else(too_many)?;
        let last = lowering.program.micros.len() - 1;
        lowering.program.micros[first].first = true;
        lowering.program.micros[last].last = true;
    }
    lowering.program.instructions.push(StaticInstruction {
        function: id,
        pc: Pc(kernel.body.len() as u32),
        facts: None,
    });
    starts.push(lowering.program.micros.len() as i64);
    let end = lowering.emit(MicroKind::Return, 0, &[]);
    (end.first, end.last) = (true, true);
    for micro in lowering.program.micros.iter_mut().filter(|micro| micro.kind == MicroKind::Branch) {
        micro.imm = starts[micro.imm as usize];
    }
    Ok(lowering.program)
}

fn too_many() -> GuestError {
    GuestError::TooManyRegisters("a toy".to_owned())
}

impl<'a> Lowering<'a> {
    fn new(id: FunctionId, kernel: &Kernel, address: &'a dyn Fn(usize) -> u64) -> Option<Self> {
        let mut sizes = Sizes::default();
        // Row 0 of the predicates is true: the guard of what has none.
        let always = sizes.allocate(Width::Pred)?;
        let declared = registers();
        let rows: Vec<Slot> =
            declared.iter().map(|register| sizes.allocate(register.width())).collect::<Option<_>>()?;
        let mut word = || Some(sizes.allocate(Width::B32)?.index);
        let (words, specials, zero) = ([word()?, word()?], [word()?, word()?, word()?], word()?);
        let facts: Vec<_> = kernel.body.iter().map(|(toyed, _)| toyed.facts()).collect();
        let undefined = Flow::of(&facts).undefined_reads(&facts, rows.len());
        let b32 = |index| Slot { width: Width::B32, index };
        let special = [Special::TidX, Special::CtaidX, Special::NtidX];
        let code = FunctionCode {
            id,
            name: kernel.name.clone(),
            entry: 0,
            frame: 0,
            formals: Vec::new(),
            returns: Vec::new(),
            zeroed: undefined.into_iter().map(|register| rows[register.index()]).collect(),
            registers: rows.clone(),
            declared,
            held: BTreeMap::new(),
        };
        let program = Program {
            name: kernel.name.clone(),
            micros: Vec::new(),
            instructions: Vec::new(),
            functions: vec![code],
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
            sizes,
            constants: vec![(always, 1), (b32(zero), 0)],
            specials: special.into_iter().zip(specials.map(b32)).collect(),
            params: Vec::new(),
            param_bytes: kernel.params * WORD,
            shared_bytes: RESERVED_SHARED,
            stack: 0,
            dynamic_align: 16,
            workspace: 0,
            reads_param_addresses: false,
        };
        Some(Self { program, rows, address, words, specials, zero })
    }

    fn row(&self, register: Reg) -> u16 {
        self.rows[register.index()].index
    }

    /// A new row of 64 bits.
    fn wide(&mut self) -> Option<Slot> {
        self.program.sizes.allocate(Width::B64)
    }

    fn instruction(&mut self, toyed: &Toyed) -> Option<()> {
        match *toyed {
            // Several micro-operations are one architectural instruction.
            Toyed::Thread(to) => {
                let ([tid, block, threads], [first, number]) = (self.specials, self.words);
                self.emit(line("mul.lo.u32"), first, &[block, threads]);
                self.emit(line("add.u32"), number, &[first, tid]);
                self.emit(line("cvt.u64.u32"), self.row(to), &[number]);
            }
            Toyed::Set(to, value) => self.constant(to, value)?,
            Toyed::Of(to, variable) => self.constant(to, (self.address)(variable))?,
            Toyed::Arg(to, number) => {
                let slot = self.wide()?;
                self.program.params.push(ParamRow { slot, offset: number * WORD, bytes: WORD as u8, signed: false });
                self.emit(line("mov.b64"), self.row(to), &[slot.index]);
            }
            Toyed::Add(to, a, b) => self.compute("add.u64", to, a, b),
            Toyed::Xor(to, a, b) => self.compute("xor.b64", to, a, b),
            Toyed::Less(to, a, b) => self.compute("setp.lt.u64", to, a, b),
            Toyed::Jump(guard, to) => {
                let guard = self.row(guard);
                let micro = self.emit(MicroKind::Branch, 0, &[]);
                (micro.guard, micro.imm) = (guard, i64::from(to.0));
            }
            Toyed::Load(to, from) => {
                let plan = self.access(from, to);
                self.emit(MicroKind::Load(plan), 0, &[]);
            }
            Toyed::Store(to, value) => {
                let plan = self.access(to, value);
                self.emit(MicroKind::Store(plan), 0, &[]);
            }
            Toyed::Barrier => {
                let plan = BarrierPlan { number: self.zero, count: None, wait: true, reduce: None };
                self.program.barriers.push(plan);
                let index = self.program.barriers.len() as u32 - 1;
                self.emit(MicroKind::Barrier(index), NOWHERE, &[]);
            }
            Toyed::Exit => {
                self.emit(MicroKind::Exit, 0, &[]);
            }
        }
        Some(())
    }

    fn constant(&mut self, to: Reg, value: u64) -> Option<()> {
        let slot = self.wide()?;
        self.program.constants.push((slot, value.into()));
        self.emit(line("mov.b64"), self.row(to), &[slot.index]);
        Some(())
    }

    fn compute(&mut self, spelling: &str, to: Reg, a: Reg, b: Reg) {
        let rows = [self.row(a), self.row(b)];
        self.emit(line(spelling), self.row(to), &rows);
    }

    fn access(&mut self, address: Reg, value: Reg) -> u32 {
        self.program.accesses.push(AccessPlan {
            space: Space::Global,
            bytes: WORD as u8,
            signed: false,
            base: Some(self.rows[address.index()]),
            frame: false,
            offset: 0,
            values: vec![Some(self.rows[value.index()])],
        });
        self.program.accesses.len() as u32 - 1
    }

    fn emit(&mut self, kind: MicroKind, dst: u16, src: &[u16]) -> &mut Micro {
        let mut rows = [0; 4];
        rows[..src.len()].copy_from_slice(src);
        let at = self.program.micros.len();
        self.program.micros.push(Micro {
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
        });
        &mut self.program.micros[at]
    }
}
