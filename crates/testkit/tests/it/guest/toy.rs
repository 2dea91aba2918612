//! A toy instruction set: twelve instructions on registers of 64 bits, one on a line.
//!
//! ```text
//! toy                 the first line of every module
//! var seeds 3 5 7     words in device memory
//! kernel mix 2        a kernel with two parameters of 64 bits
//! thread x0           the number of the thread in the grid
//! less q0 x6 x7       a comparison, to a predicate
//! jump q0 11          to the instruction with this number where the predicate is true
//! ```
//!
//! There are registers `x0` to `x15` and predicates `q0` to `q3`, of which none is kept across kernels.

use facts::{
    Access, Control, Effect, Facts, FunctionId, Group, Guard, MemoryOrder, NamedSet, Operand, Pc, Reg, Register,
    ResultKind, Role, Sets, Space, Type,
};
use simt::Program;
use simt::guest::{Guest, GuestError, GuestModule, Image, KernelInfo, Listed, ParamInfo, Placement, Pointee, Variable};

use super::machine;

/// General-purpose registers; predicates are numbered behind them.
pub(super) const GENERAL: u32 = 16;
const PREDICATES: u32 = 4;
/// Bytes of whatever is loaded, stored and passed.
pub(super) const WORD: u32 = 8;

/// The sets that the toy has names for.
const SETS: &[NamedSet] = &[
    NamedSet { name: "toy:memory", meaning: "loads and stores" },
    NamedSet { name: "toy:sums", meaning: "additions" },
];

/// The instruction set.
#[derive(Debug)]
pub(super) struct Toy;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Toyed {
    /// `thread x`: the number of the thread in the grid.
    Thread(Reg),
    /// `set x n`
    Set(Reg, u64),
    /// `arg x n`: a parameter.
    Arg(Reg, u32),
    /// `of x name`: the address of a variable.
    Of(Reg, usize),
    /// `add x y z`
    Add(Reg, Reg, Reg),
    /// `xor x y z`
    Xor(Reg, Reg, Reg),
    /// `less q y z`, unsigned
    Less(Reg, Reg, Reg),
    /// `jump q n`
    Jump(Reg, Pc),
    /// `load x y`: from the address in `y`
    Load(Reg, Reg),
    /// `store y x`: to the address in `y`
    Store(Reg, Reg),
    /// `barrier` of the block
    Barrier,
    /// `exit`
    Exit,
}

#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) params: u32,
    pub(super) body: Vec<(Toyed, String)>,
}

#[derive(Debug, Default)]
struct Module {
    variables: Vec<Variable>,
    kernels: Vec<Kernel>,
}

impl Guest for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn sets(&self) -> &'static [NamedSet] {
        SETS
    }

    fn reads(&self, image: &Image<'_>) -> bool {
        (image.kind, image.arch) == ("other", 1)
    }

    fn load(&self, name: &str, image: &Image<'_>, _: u64) -> Result<Box<dyn GuestModule>, GuestError> {
        let not_text = |_| GuestError::NotText { name: name.to_owned(), what: "toy code" };
        let text = std::str::from_utf8(image.bytes).map_err(not_text)?;
        let mut module = Module::default();
        for (number, line) in text.lines().enumerate().skip(1) {
            module.line(line).ok_or_else(|| GuestError::Mistakes {
                name: name.to_owned(),
                what: "toy code",
                mistakes: format!("line {}: `{line}`", number + 1),
                first: line.to_owned(),
            })?;
        }
        Ok(Box::new(module))
    }
}

impl Module {
    /// Reads a line.
    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        match words.next()? {
            "var" => {
                let name = words.next()?.to_owned();
                let init: Vec<u8> = words.filter_map(|word| word.parse().ok()).flat_map(u64::to_le_bytes).collect();
                let (bytes, space) = (init.len() as u64, Space::Global);
                let (relocations, external, own) = (Vec::new(), false, false);
                self.variables.push(Variable { name, space, bytes, init, relocations, external, own });
            }
            "kernel" => {
                let (name, params) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
                self.kernels.push(Kernel { name, params, body: Vec::new() });
            }
            _ => {
                let toyed = self.instruction(line)?;
                self.kernels.last_mut()?.body.push((toyed, line.trim().to_owned()));
            }
        }
        Some(())
    }

    fn instruction(&self, line: &str) -> Option<Toyed> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let x = |at: usize| general(words.get(at)?);
        let q = |at: usize| predicate(words.get(at)?);
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        Some(match words[0] {
            "thread" => Toyed::Thread(x(1)?),
            "set" => Toyed::Set(x(1)?, number(2)?),
            "arg" => Toyed::Arg(x(1)?, number(2)? as u32),
            "of" => {
                Toyed::Of(x(1)?, self.variables.iter().position(|variable| Some(&&*variable.name) == words.get(2))?)
            }
            "add" => Toyed::Add(x(1)?, x(2)?, x(3)?),
            "xor" => Toyed::Xor(x(1)?, x(2)?, x(3)?),
            "less" => Toyed::Less(q(1)?, x(2)?, x(3)?),
            "jump" => Toyed::Jump(q(1)?, Pc(number(2)? as u32)),
            "load" => Toyed::Load(x(1)?, x(2)?),
            "store" => Toyed::Store(x(1)?, x(2)?),
            "barrier" => Toyed::Barrier,
            "exit" => Toyed::Exit,
            _ => return None,
        })
    }

    fn find(&self, kernel: &str) -> Option<(FunctionId, &Kernel)> {
        let at = self.kernels.iter().position(|it| it.name == kernel)?;
        Some((FunctionId(at as u32), &self.kernels[at]))
    }
}

fn general(word: &str) -> Option<Reg> {
    word.strip_prefix('x')?.parse().ok().filter(|&number| number < GENERAL).map(Reg)
}

fn predicate(word: &str) -> Option<Reg> {
    let number: u32 = word.strip_prefix('q')?.parse().ok()?;
    (number < PREDICATES).then_some(Reg(GENERAL + number))
}

/// The registers of every kernel.
pub(super) fn registers() -> Vec<Register> {
    let of = |prefix: &str, count: u32, ty: Type| {
        (0..count).map(|number| Register { name: format!("{prefix}{number}"), ty }).collect::<Vec<_>>()
    };
    [of("x", GENERAL, Type::U64), of("q", PREDICATES, Type::Pred)].concat()
}

impl Toyed {
    /// What is known of it.
    pub(super) fn facts(&self) -> Facts {
        let operand = |role, position, register: Reg| {
            let bits = if register.0 < GENERAL { Type::U64.bits() } else { 1 };
            Operand { role, position, register, bits, offset: 0, ty: (bits > 1).then_some(Type::U64) }
        };
        let computes = |name: &'static str, group, to: Reg, from: &[Reg]| {
            let mut operands = vec![operand(Role::Destination, 0, to)];
            let fresh = from.iter().enumerate().filter(|(at, register)| !from[..*at].contains(register));
            operands.extend(fresh.map(|(at, register)| operand(Role::Source, at as u8, *register)));
            Facts { operands, ..Facts::new(name, group) }
        };
        let access = |effect, address: Reg| {
            let (order, at) = (MemoryOrder::Weak, Some((Some(address), 0)));
            Some(Access { effect, space: Space::Global, element: Type::U64, count: 1, at, order, scope: None })
        };
        let control = |name: &'static str, control| Facts { control, ..Facts::new(name, Group::Branch) };
        match *self {
            Self::Thread(to) => computes("thread", Group::Move, to, &[]),
            Self::Set(to, _) => computes("set", Group::Move, to, &[]),
            Self::Arg(to, _) => computes("arg", Group::LoadParam, to, &[]),
            Self::Of(to, _) => computes("of", Group::Move, to, &[]),
            Self::Add(to, a, b) => Facts {
                making: ResultKind::Integers,
                sets: Sets::new(SETS, 0b10),
                ..computes("add", Group::IntAdd, to, &[a, b])
            },
            Self::Xor(to, a, b) => computes("xor", Group::LogicShift, to, &[a, b]),
            Self::Less(to, a, b) => computes("less", Group::Compare, to, &[a, b]),
            Self::Jump(pred, to) => {
                Facts { guard: Some(Guard { pred, negated: false }), ..control("jump", Control::Jump([to].into())) }
            }
            Self::Load(to, from) => {
                let mut facts = computes("load", Group::LoadGlobal, to, &[from]);
                facts.operands.push(operand(Role::Address, 0, from));
                let (sets, access) = (Sets::new(SETS, 0b01), access(Effect::Read, from));
                Facts { sets, access, making: ResultKind::Elsewhere, ..facts }
            }
            Self::Store(to, value) => {
                let roles =
                    [(Role::Source, 0, to), (Role::Source, 1, value), (Role::Address, 0, to), (Role::Stored, 0, value)];
                let operands =
                    roles.into_iter().filter(|(role, at, _)| *role != Role::Source || *at == 0 || to != value);
                Facts {
                    operands: operands.map(|(role, at, register)| operand(role, at, register)).collect(),
                    sets: Sets::new(SETS, 0b01),
                    access: access(Effect::Write, to),
                    stores: true,
                    ..Facts::new("store", Group::Store)
                }
            }
            Self::Barrier => Facts::new("barrier", Group::Other),
            Self::Exit => control("exit", Control::End),
        }
    }
}

impl GuestModule for Module {
    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn kernels(&self) -> Vec<String> {
        self.kernels.iter().map(|kernel| kernel.name.clone()).collect()
    }

    fn kernel(&self, name: &str) -> Option<KernelInfo> {
        let (_, kernel) = self.find(name)?;
        Some(KernelInfo {
            params: (0..kernel.params).map(|number| ParamInfo { offset: number * WORD, bytes: WORD }).collect(),
            param_bytes: kernel.params * WORD,
            static_shared_bytes: 0,
            local_bytes: 0,
            registers: GENERAL + PREDICATES,
            register_words: 2 * GENERAL + PREDICATES,
            max_threads: None,
            instructions: kernel.body.len() as u32,
        })
    }

    fn program(&self, kernel: &str, placement: &Placement) -> Result<Program, GuestError> {
        let (id, kernel) = self.find(kernel).ok_or_else(|| GuestError::NoKernel(kernel.to_owned()))?;
        machine::program(id, kernel, &|variable| placement.address(Pointee::Variable(variable)).unwrap_or(0))
    }

    fn text(&self, function: FunctionId, pc: Pc) -> String {
        let kernel = self.kernels.get(function.0 as usize);
        let line = kernel.and_then(|kernel| kernel.body.get(pc.index()));
        line.map_or_else(String::new, |(_, text)| text.clone())
    }

    fn listing(&self) -> Vec<Listed> {
        let of = |kernel: &Kernel| {
            let lines = kernel.body.iter().zip(0..);
            let listed = lines.map(|((toyed, text), pc)| Listed {
                function: kernel.name.clone(),
                pc: Pc(pc),
                mnemonic: toyed.facts().mnemonic.into_owned(),
                file: None,
                line: None,
                text: text.clone(),
            });
            listed.collect::<Vec<_>>()
        };
        self.kernels.iter().flat_map(of).collect()
    }
}
