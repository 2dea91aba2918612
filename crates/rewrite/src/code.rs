//! Code that is put into a function: registers of its own, and instructions by their spelling.

use crate::refusal::Refusal;
use facts::{Guard, Loc, Reg, Register};
use isa::{AluForm, Base, Dst, Function, Instruction, Op, Special, Src, Symbol, Type};

/// Makes code for one function.
pub(crate) struct Coder<'f> {
    function: &'f mut Function,
    /// What names of new registers begin with.
    prefix: String,
    /// The variable that holds the fault, where there is one.
    record: Option<Symbol>,
    /// The position that the code is said to be from.
    pub(crate) loc: Option<Loc>,
    /// What instructions execute under.
    pub(crate) guard: Option<Guard>,
    code: Vec<Instruction>,
}

impl<'f> Coder<'f> {
    /// A coder that has made nothing yet.
    pub(crate) fn new(function: &'f mut Function, record: Option<Symbol>) -> Self {
        let mut prefix = "%beamline_".to_owned();
        while function.registers.iter().any(|register| register.name.starts_with(&prefix)) {
            prefix.push('_');
        }
        Self { function, prefix, record, loc: None, guard: None, code: Vec::new() }
    }

    /// A new register.
    pub(crate) fn register(&mut self, ty: Type) -> Reg {
        let number = self.function.registers.len();
        self.function.registers.push(Register { name: format!("{}{number}", self.prefix), ty });
        Reg(number as u32)
    }

    /// What was made since this was last asked.
    pub(crate) fn take(&mut self) -> Vec<Instruction> {
        std::mem::take(&mut self.code)
    }

    /// An instruction that is there already.
    pub(crate) fn instruction(&mut self, instruction: Instruction) {
        self.code.push(instruction);
    }

    /// An instruction by its spelling.
    pub(crate) fn push(&mut self, spelling: &str, dst: &[Reg], src: Vec<Src>) -> Result<(), Refusal> {
        let op = operation(spelling)?;
        self.push_op(op, dst, src);
        Ok(())
    }

    /// An instruction that does this.
    pub(crate) fn push_op(&mut self, op: Op, dst: &[Reg], src: Vec<Src>) {
        let dst = dst.iter().copied().map(Dst::Reg).collect();
        self.code.push(Instruction { guard: self.guard, op, dst, src, loc: self.loc.clone() });
    }

    /// A new register of this type with the result of an instruction.
    pub(crate) fn make(&mut self, ty: Type, spelling: &str, src: Vec<Src>) -> Result<Reg, Refusal> {
        let register = self.register(ty);
        self.push(spelling, &[register], src)?;
        Ok(register)
    }

    /// What a special register holds.
    pub(crate) fn special(&mut self, special: Special) -> Result<Reg, Refusal> {
        self.make(Type::B32, "mov.u32", vec![Src::Special(special)])
    }

    /// A field of the variable, as an unsigned integer of this type.
    pub(crate) fn load(&mut self, ty: Type, at: i64) -> Result<Reg, Refusal> {
        let register = self.register(ty);
        self.load_into(register, ty, at)?;
        Ok(register)
    }

    /// Loads a field of the variable into a register that is there already.
    pub(crate) fn load_into(&mut self, register: Reg, ty: Type, at: i64) -> Result<(), Refusal> {
        self.push(&format!("ld.global.{ty}"), &[register], vec![self.field(at)?])
    }

    /// Stores to a field of the variable.
    pub(crate) fn store(&mut self, ty: Type, at: i64, value: Src) -> Result<(), Refusal> {
        self.push(&format!("st.global.{ty}"), &[], vec![self.field(at)?, value])
    }

    fn field(&self, at: i64) -> Result<Src, Refusal> {
        let record = self.record.ok_or_else(|| Refusal::Malformed("there is no variable".to_owned()))?;
        Ok(Src::Address(Base::Symbol(record), at))
    }

    /// The function that code is made for.
    pub(crate) fn function(&self) -> &Function {
        self.function
    }

    /// What instructions execute under from now on: where this predicate holds.
    pub(crate) fn where_holds(&mut self, pred: Reg) {
        self.guard = Some(Guard { pred, negated: false });
    }

    /// Takes 128 bits apart.
    pub(crate) fn halves(&mut self, wide: Reg) -> [Reg; 2] {
        let halves = [self.register(Type::B64), self.register(Type::B64)];
        self.push_op(Op::MovVector(Type::B128), &halves, vec![Src::Reg(wide)]);
        halves
    }

    /// Joins two halves to 128 bits.
    pub(crate) fn join(&mut self, wide: Reg, halves: [Reg; 2]) {
        self.push_op(Op::MovVector(Type::B128), &[wide], halves.map(Src::Reg).to_vec());
    }
}

fn operation(spelling: &str) -> Result<Op, Refusal> {
    let known = isa::op::spelling::parse(spelling).or_else(|| AluForm::from_spelling(spelling).map(Op::Alu));
    known.ok_or_else(|| Refusal::Malformed(format!("no instruction is spelled {spelling}")))
}
