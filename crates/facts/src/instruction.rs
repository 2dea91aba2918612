//! The facts of an instruction.

use crate::group::{Group, Sets};
use crate::order::{MemoryOrder, MemoryScope};
use crate::source::Source;
use crate::types::{Space, Type, Width};
use std::borrow::Cow;

/// Index of an instruction in its function's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pc(pub u32);

impl Pc {
    /// The index as the slice type wants it.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a register in its function's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

impl Reg {
    /// The index as the slice type wants it.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a function in its module's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A register of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name as written, for example `%r12`.
    pub name: String,
    /// The type it was declared with; only its width matters to the machine.
    pub ty: Type,
}

impl Register {
    /// Its width.
    #[must_use]
    pub fn width(&self) -> Width {
        self.ty.width()
    }

    /// Whether it is a predicate, and not a general-purpose register.
    #[must_use]
    pub fn is_predicate(&self) -> bool {
        self.width() == Width::Pred
    }
}

/// The predicate that an instruction executes under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub pred: Reg,
    /// Whether the instruction executes where the predicate is false.
    pub negated: bool,
}

/// What an operand is to its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It is written.
    Destination,
    /// It is read: every register that an instruction reads is a source once, the bases of addresses too.
    Source,
    /// It makes the address of a memory operand.
    Address,
    /// It is stored to memory.
    Stored,
}

/// An operand that is in a register. Constants and the addresses of variables are part of the instruction, and not of the
/// state of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What it is to the instruction. A register that is stored, or makes an address, is a source as well.
    pub role: Role,
    /// Its number among the operands of its role as they are written; those in no register are counted, too.
    pub position: u8,
    /// The register that holds it, or the first of those that do.
    pub register: Reg,
    /// How many bits it has, the low ones of the register.
    pub bits: u32,
    /// What is added to the register to make the operand: the displacement of an address.
    pub offset: i64,
    /// The type that the instruction gives it, where it says one.
    pub ty: Option<Type>,
}

/// Where control goes from an instruction that executes. Where its guard is false, it goes on behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// To the next instruction.
    #[default]
    Next,
    /// To one of these of its function.
    Jump(Box<[Pc]>),
    /// To another function, and back to the next instruction.
    Call,
    /// Back to the caller.
    Return,
    /// Nowhere: the thread ends.
    End,
    /// Nowhere: the launch fails.
    Trap,
}

/// What an instruction does to a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It reads it.
    Read,
    /// It writes it.
    Write,
    /// It reads and writes it as one.
    Update,
}

/// An access to memory by elements of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What it does there.
    pub effect: Effect,
    /// The state space.
    pub space: Space,
    /// The type of an element, as the instruction says.
    pub element: Type,
    /// How many elements each thread accesses.
    pub count: u8,
    /// Where: the register that the address is made from, if there is one, and what is added. `None` where it lies in
    /// what a call has of its own.
    pub at: Option<(Option<Reg>, i64)>,
    /// The order that it promises among accesses of other threads.
    pub order: MemoryOrder,
    /// The threads among which it promises this order, if the instruction names them.
    pub scope: Option<MemoryScope>,
}

impl Access {
    /// How many bytes each thread accesses.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.element.bytes() * u32::from(self.count)
    }
}

/// What an instruction makes its results of, as far as it tells what kind of value they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultKind {
    /// Of the bits of its sources, whatever these stand for: moves, selections, logic, and arithmetic on other numbers
    /// than integers, whose types say so.
    #[default]
    Bits,
    /// Integers of integers.
    Integers,
    /// Integers of parts or of many: of words of longer numbers, of the values of several lanes.
    Parts,
    /// Of registers joined, or of a register taken apart.
    Packed,
    /// Of something else than its sources: memory, another function.
    Elsewhere,
}

/// What is known of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// What it is called, with all its modifiers.
    pub mnemonic: Cow<'static, str>,
    /// Its group.
    pub group: Group,
    /// The named sets of its guest that it is in.
    pub sets: Sets,
    /// The named sets of the protection of its kernel that it is in; none where the program is not protected.
    pub protection: Sets,
    /// The predicate that it executes under.
    pub guard: Option<Guard>,
    /// Its operands in registers: by role, and in the order written.
    pub operands: Vec<Operand>,
    /// What it makes its results of.
    pub making: ResultKind,
    /// Where control goes.
    pub control: Control,
    /// The access to memory that it is, if it is one by elements of one type.
    pub access: Option<Access>,
    /// Whether it writes memory.
    pub stores: bool,
    /// Its source position.
    pub source: Option<Source>,
}

impl Facts {
    /// An instruction of which no more is known: it has no operands, and control goes on.
    #[must_use]
    pub fn new(mnemonic: impl Into<Cow<'static, str>>, group: Group) -> Self {
        Self {
            mnemonic: mnemonic.into(),
            group,
            sets: Sets::default(),
            protection: Sets::default(),
            guard: None,
            operands: Vec::new(),
            making: ResultKind::default(),
            control: Control::default(),
            access: None,
            stores: false,
            source: None,
        }
    }

    /// The operands of a role, in the order of their positions.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &Operand> + Clone {
        self.operands.iter().filter(move |operand| operand.role == role)
    }

    /// The registers that are written, in the order of the destinations.
    pub fn writes(&self) -> impl Iterator<Item = Reg> + Clone {
        self.of_role(Role::Destination).map(|operand| operand.register)
    }

    /// The registers that are read: the guard, then the sources.
    pub fn reads(&self) -> impl Iterator<Item = Reg> {
        let guard = self.guard.map(|guard| guard.pred);
        guard.into_iter().chain(self.of_role(Role::Source).map(|operand| operand.register))
    }

    /// Whether it writes general-purpose registers, and whether it writes predicates.
    #[must_use]
    pub fn writes_general_and_predicates(&self) -> (bool, bool) {
        let mut widths = self.of_role(Role::Destination).map(|operand| operand.bits);
        (widths.clone().any(|bits| bits > 1), widths.any(|bits| bits == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_is_read_first_and_every_source_once() {
        let operand = |role, position, register, bits| Operand {
            role,
            position,
            register: Reg(register),
            bits,
            offset: 0,
            ty: None,
        };
        let facts = Facts {
            guard: Some(Guard { pred: Reg(9), negated: true }),
            operands: vec![
                operand(Role::Destination, 1, 3, 1),
                operand(Role::Source, 0, 4, 64),
                operand(Role::Address, 0, 4, 64),
            ],
            ..Facts::new("ld", Group::LoadGlobal)
        };
        assert_eq!(facts.reads().collect::<Vec<_>>(), [Reg(9), Reg(4)]);
        assert_eq!(facts.writes().collect::<Vec<_>>(), [Reg(3)]);
        assert_eq!(facts.writes_general_and_predicates(), (false, true));
    }
}
