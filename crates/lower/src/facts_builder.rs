//! What is known of an instruction of PTX.

use crate::{place, sets};
use facts::{Access, Control, Effect, Facts, Files, MemoryOrder, Operand, Reg, ResultKind, Role, Source, Type};
use isa::op::matrix::Matrix;
use isa::op::{AtomOp, CopyAsync, LoadStore, MbarrierOp, OperandKind, SourceRole};
use isa::{AluClass, Base, Dst, Function, Instruction, Op, Src, Symbol};
use simt::guest::Placement;
use simt::program::FrameRange;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tells the facts of a function's instructions.
pub(crate) struct Teller<'a> {
    pub(crate) function: &'a Function,
    pub(crate) files: &'a Arc<Files>,
    pub(crate) placement: &'a Placement,
    /// What a call of the function has of its own.
    pub(crate) frame: &'a BTreeMap<Symbol, FrameRange>,
    /// Where a shared variable lies in the shared memory of a block.
    pub(crate) shared: &'a dyn Fn(Symbol) -> Option<u32>,
}

impl Teller<'_> {
    /// The facts of an instruction.
    pub(crate) fn facts(&self, instruction: &Instruction) -> Facts {
        let op = &instruction.op;
        let mut facts = Facts {
            guard: instruction.guard,
            operands: self.operands(instruction),
            making: making(op),
            control: self.control(op),
            access: self.access(instruction),
            stores: stores(op),
            source: instruction.loc.clone().map(|loc| Source { loc, files: Arc::clone(self.files) }),
            ..Facts::new(op.spelling(), op.group())
        };
        facts.sets = sets::of(op, &facts);
        facts
    }

    fn operands(&self, instruction: &Instruction) -> Vec<Operand> {
        // Lines of the table, which most instructions are, have values alone; no shape is made of them.
        if let Op::Alu(form) = &instruction.op {
            let sources = form.sources().iter().map(|&ty| (SourceRole::Value, Some(ty)));
            return self.operands_of(instruction, [Some(form.destination())].into_iter(), sources);
        }
        let signature = instruction.op.signature();
        let kinds = signature.dst.iter().flat_map(|kind| kind.parts()).map(OperandKind::ty);
        self.operands_of(instruction, kinds, signature.source_parts().map(|part| (part.role, part.kind.ty())))
    }

    /// The operands of an instruction, given the types of its destinations, and what its sources are.
    fn operands_of(
        &self,
        instruction: &Instruction,
        mut written: impl Iterator<Item = Option<Type>>,
        mut parts: impl Iterator<Item = (SourceRole, Option<Type>)>,
    ) -> Vec<Operand> {
        let mut operands = Vec::with_capacity(instruction.dst.len() + 2 * instruction.src.len());
        for (dst, position) in instruction.dst.iter().zip(0..) {
            let ty = written.next().flatten();
            if let Dst::Reg(register) = dst {
                operands.push(self.operand(Role::Destination, position, *register, ty));
            }
        }
        let (mut addresses, mut stored) = (0, 0);
        for (source, position) in instruction.src.iter().zip(0..) {
            let (role, ty) = parts.next().unwrap_or((SourceRole::Value, None));
            if let Some(register) = source.register()
                && !operands.iter().any(|it| it.role == Role::Source && it.register == register)
            {
                operands.push(self.operand(Role::Source, position, register, ty));
            }
            match (role, source) {
                (SourceRole::Address, Src::Address(base, offset)) => {
                    if let Base::Reg(register) = base {
                        let whole = self.operand(Role::Address, addresses, *register, None);
                        operands.push(Operand { offset: *offset, ..whole });
                    }
                    addresses += 1;
                }
                (SourceRole::Stored, source) => {
                    if let Src::Reg(register) = source {
                        let whole = self.operand(Role::Stored, stored, *register, ty);
                        operands.push(Operand { bits: ty.map_or(whole.bits, |ty| ty.bits().min(whole.bits)), ..whole });
                    }
                    stored += 1;
                }
                _ => {}
            }
        }
        operands
    }

    /// A whole register as an operand.
    fn operand(&self, role: Role, position: u8, register: Reg, ty: Option<Type>) -> Operand {
        let bits = self.function.register(register).width().bits();
        Operand { role, position, register, bits, offset: 0, ty }
    }

    fn control(&self, op: &Op) -> Control {
        match op {
            Op::Bra { target, .. } => Control::Jump([*target].into()),
            Op::BrxIdx { targets, .. } => Control::Jump(targets.as_slice().into()),
            Op::Call(_) => Control::Call,
            Op::Ret { .. } if !self.function.kernel => Control::Return,
            Op::Ret { .. } | Op::Exit => Control::End,
            Op::Trap => Control::Trap,
            _ => Control::Next,
        }
    }

    fn access(&self, instruction: &Instruction) -> Option<Access> {
        let at = || instruction.src.first().and_then(|source| self.address(source));
        let of = |effect, it: &LoadStore| Access {
            effect,
            space: it.space,
            element: it.ty,
            count: it.vector,
            at: at(),
            order: order(it),
            scope: it.scope,
        };
        match &instruction.op {
            Op::Ld(it) => Some(of(Effect::Read, it)),
            Op::St(it) => Some(of(Effect::Write, it)),
            Op::Atom(it) | Op::Red(it) => Some(Access {
                effect: Effect::Update,
                space: it.space,
                element: it.ty,
                count: it.vector,
                at: at(),
                // Atomic instructions without an order are relaxed.
                order: it.order.unwrap_or(MemoryOrder::Relaxed),
                scope: it.scope,
            }),
            _ => None,
        }
    }

    /// Where an address points, if it does not point into the frame of the function.
    fn address(&self, source: &Src) -> Option<(Option<Reg>, i64)> {
        match source {
            Src::Address(Base::Reg(register), offset) => Some((Some(*register), *offset)),
            Src::Address(Base::Zero, offset) => Some((None, *offset)),
            Src::Address(Base::Symbol(symbol), offset) if !self.frame.contains_key(symbol) => {
                let shared = (self.shared)(*symbol).map(u64::from);
                let start = shared.or_else(|| place(self.placement, *symbol))?;
                Some((None, start.wrapping_add_signed(*offset) as i64))
            }
            _ => None,
        }
    }
}

/// The order of a load or store: without one, it is weak; accesses to the memory of devices are relaxed.
fn order(access: &LoadStore) -> MemoryOrder {
    let default = if access.mmio { MemoryOrder::Relaxed } else { MemoryOrder::Weak };
    access.order.unwrap_or(default)
}

fn making(op: &Op) -> ResultKind {
    match op {
        Op::Alu(form) => match form.alu.class() {
            AluClass::IntAdd | AluClass::IntMul | AluClass::IntMulAdd | AluClass::Convert => ResultKind::Integers,
            _ => ResultKind::Bits,
        },
        Op::Extended(_) | Op::Redux(..) => ResultKind::Parts,
        Op::Atom(atom) => match atom.op {
            AtomOp::Add | AtomOp::Min | AtomOp::Max | AtomOp::Inc | AtomOp::Dec => ResultKind::Parts,
            AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Exch | AtomOp::Cas => ResultKind::Elsewhere,
        },
        Op::Ld(_) | Op::Call(_) => ResultKind::Elsewhere,
        Op::MovVector(_) => ResultKind::Packed,
        _ => ResultKind::Bits,
    }
}

fn stores(op: &Op) -> bool {
    match op {
        Op::St(_) | Op::Atom(_) | Op::Red(_) | Op::CopyAsync(CopyAsync::Copy { .. } | CopyAsync::Arrive { .. }) => true,
        Op::Surface(surface) => surface.store,
        Op::Matrix(matrix) => matches!(matrix, Matrix::Store(_) | Matrix::StoreFragment(_)),
        Op::Mbarrier(mbarrier) => matches!(
            mbarrier.op,
            MbarrierOp::Init
                | MbarrierOp::Inval
                | MbarrierOp::Arrive
                | MbarrierOp::ArriveNoComplete
                | MbarrierOp::ArriveDrop
                | MbarrierOp::ArriveDropNoComplete
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::Ptx;
    use facts::{Access, Control, Effect, Facts, MemoryOrder, MemoryScope, Pc, Reg, ResultKind, Role, Space, Type};
    use simt::guest::{Guest, Image, Placement};
    use std::collections::BTreeMap;

    const NAMES: [&str; 10] = ["%a0", "%a1", "%v0", "%v1", "%v2", "%v3", "%w0", "%w1", "%p0", "%p1"];

    /// The facts of a kernel's instructions; `%a` are addresses, `%v` values of 32 bits, `%w` of 64, `%p` predicates.
    fn facts(body: &str) -> Vec<Facts> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 8 .b8 g[64];\n.visible .entry k()\n{{\n\
             .reg .b64 %a<2>;\n.reg .b32 %v<4>;\n.reg .b64 %w<2>;\n.reg .pred %p<2>;\n{body}\n}}\n"
        );
        let module = Ptx::default().load("k.ptx", &Image::ptx(&text), 0).unwrap();
        let program = module.program("k", &Placement { addresses: vec![Some(0x1000)] }).unwrap();
        program.instructions.into_iter().filter_map(|instruction| instruction.facts).collect()
    }

    /// The facts of a kernel's instructions, and which register each name became: each is written once behind them.
    fn named(body: &str) -> (Vec<Facts>, BTreeMap<Reg, &'static str>) {
        let moves = NAMES.map(|name| match name.as_bytes()[1] {
            b'p' => format!("setp.eq.u32 {name}, 0, 0;\n"),
            b'v' => format!("mov.b32 {name}, 0;\n"),
            _ => format!("mov.b64 {name}, 0;\n"),
        });
        let mut all = facts(&format!("{body}\n{}", moves.concat()));
        let moves = all.split_off(all.len() - NAMES.len());
        let registers = moves.iter().filter_map(|it| it.of_role(Role::Destination).next()).map(|it| it.register);
        (all, registers.zip(NAMES).collect())
    }

    /// The operands of a role: positions, registers and bits.
    fn of(role: Role, body: &str) -> Vec<(u8, &'static str, u32)> {
        let (facts, names) = named(body);
        facts[0].of_role(role).map(|operand| (operand.position, names[&operand.register], operand.bits)).collect()
    }

    #[test]
    fn what_is_stored_is_told_from_addresses_and_hints() {
        let hinted = "st.global.L2::cache_hint.v2.b32 [%a0+4], {%v1, %v2}, %w0;";
        assert_eq!(of(Role::Stored, hinted), [(0, "%v1", 32), (1, "%v2", 32)]);
        assert_eq!(of(Role::Address, hinted), [(0, "%a0", 64)]);
        assert_eq!(of(Role::Source, hinted), [(0, "%a0", 64), (1, "%v1", 32), (2, "%v2", 32), (3, "%w0", 64)]);
        assert_eq!(of(Role::Stored, "st.global.b16 [%a0], %v1;"), [(0, "%v1", 16)]);
        assert_eq!(of(Role::Stored, "atom.global.cas.b32 %v0, [%a0], %v1, %v2;"), [(0, "%v2", 32)]);
        assert_eq!(of(Role::Stored, "atom.global.add.u32 %v0, [%a0], %v0;"), [(0, "%v0", 32)]);
        assert_eq!(of(Role::Stored, "st.global.v2.b32 [%a0], {1, %v2};"), [(1, "%v2", 32)]);
    }

    #[test]
    fn what_is_fetched_ahead_is_no_access() {
        assert_eq!(of(Role::Address, "prefetch.global.L2 [%a0];"), []);
        assert_eq!(of(Role::Address, "cp.async.ca.shared.global [%a0], [%a1], 4;"), [(0, "%a0", 64), (1, "%a1", 64)]);
    }

    #[test]
    fn a_register_that_is_read_twice_is_one_source() {
        assert_eq!(of(Role::Source, "mad.lo.s32 %v0, %v1, %v2, %v1;"), [(0, "%v1", 32), (1, "%v2", 32)]);
        assert_eq!(of(Role::Destination, "setp.eq.s32 %p0|%p1, %v1, 3;"), [(0, "%p0", 1), (1, "%p1", 1)]);
    }

    #[test]
    fn order_and_scope_of_an_access_are_told() {
        let of = |body: &str| facts(body)[0].access.map(|access| (access.order, access.scope)).unwrap();
        let gpu = Some(MemoryScope::Gpu);
        assert_eq!(of("ld.global.u32 %v0, [%a0];"), (MemoryOrder::Weak, None));
        assert_eq!(of("st.weak.global.u32 [%a0], %v0;"), (MemoryOrder::Weak, None));
        assert_eq!(of("ld.volatile.global.u32 %v0, [%a0];"), (MemoryOrder::Volatile, None));
        assert_eq!(of("ld.relaxed.gpu.global.u32 %v0, [%a0];"), (MemoryOrder::Relaxed, gpu));
        assert_eq!(of("ld.acquire.gpu.global.u32 %v0, [%a0];"), (MemoryOrder::Acquire, gpu));
        assert_eq!(of("st.release.cta.shared.u32 [%a0], %v0;"), (MemoryOrder::Release, Some(MemoryScope::Cta)));
        assert_eq!(of("ld.mmio.relaxed.sys.global.u32 %v0, [%a0];"), (MemoryOrder::Relaxed, Some(MemoryScope::Sys)));
        assert_eq!(of("atom.global.add.u32 %v0, [%a0], %v1;"), (MemoryOrder::Relaxed, None));
        assert_eq!(of("atom.acq_rel.gpu.global.add.u32 %v0, [%a0], %v1;"), (MemoryOrder::AcqRel, gpu));
        assert_eq!(of("red.release.gpu.global.add.u32 [%a0], %v1;"), (MemoryOrder::Release, gpu));
    }

    #[test]
    fn control_accesses_and_making_are_told() {
        let body = "@%p0 bra L;\nld.global.f32 %v0, [g+8];\nadd.s32 %v1, %v0, 1;\nL:\nexit;";
        let (facts, names) = named(body);
        let [bra, load, add, exit] = <[Facts; 4]>::try_from(facts).unwrap();
        assert_eq!(bra.control, Control::Jump([Pc(3)].into()));
        assert_eq!(bra.reads().map(|it| names[&it]).collect::<Vec<_>>(), ["%p0"]);
        let (space, element, at) = (Space::Global, Type::F32, Some((None, 0x1008)));
        let (order, scope) = (MemoryOrder::Weak, None);
        assert_eq!(load.access, Some(Access { effect: Effect::Read, space, element, count: 1, at, order, scope }));
        assert_eq!((load.making, add.making), (ResultKind::Elsewhere, ResultKind::Integers));
        assert_eq!((exit.control, load.stores), (Control::End, false));
    }

    #[test]
    fn a_shared_variable_of_a_function_has_the_address_that_its_loads_read() {
        let body = ".shared .align 8 .b8 first[12];\n.shared .align 8 .b8 second[8];\n\
                    st.shared.u32 [second+4], %v0;\nld.shared.u32 %v1, [first];\nexit;";
        let at = |number: usize| facts(body)[number].access.and_then(|access| access.at).unwrap();
        let (second, first) = (at(0), at(1));
        assert_eq!((second.0, first.0), (None, None));
        // `second` lies behind the 12 bytes of `first`, aligned to 8.
        assert_eq!(second.1 - first.1, 16 + 4);
    }
}
