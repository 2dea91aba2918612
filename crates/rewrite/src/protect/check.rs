//! Comparisons of registers with their shadows, chained into one predicate, and the notification behind them.
//!
//! The comparisons of an instruction run under its guard, which is compared first. Bits are compared, whatever they stand
//! for; predicates become words before. The guard of a branch is compared before the branch.

use crate::code::Coder;
use crate::protect::doubles::only_numbers;
use crate::protect::halves::crossed;
use crate::refusal::Refusal;
use facts::{Guard, Reg, Width};
use isa::{Op, Src, Type};

/// Makes comparisons for one function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checker {
    /// Whether one failed.
    failed: Reg,
}

impl Checker {
    /// Registers for it.
    pub(super) fn new(coder: &mut Coder<'_>) -> Self {
        Self { failed: coder.register(Type::Pred) }
    }

    /// The predicate that says whether one failed.
    pub(super) fn failed(self) -> Reg {
        self.failed
    }

    /// Compares the guard of an instruction with its shadow, as words, where it has one with a shadow, and then other registers
    /// where it holds, each with its shadow.
    pub(super) fn compare(
        self,
        coder: &mut Coder<'_>,
        (guard, words): (Option<Guard>, Option<(Reg, Reg)>),
        pairs: &[(Reg, Reg)],
    ) -> Result<(), Refusal> {
        let Some((guard, words)) = guard.zip(words) else { return self.compare_under(coder, guard, pairs) };
        let mut begun = false;
        self.pair(coder, words, &mut begun)?;
        coder.guard = Some(guard);
        let compared = pairs.iter().try_for_each(|&pair| self.pair(coder, pair, &mut begun));
        coder.guard = None;
        compared
    }

    /// Compares registers where a guard holds, without looking at the guard.
    pub(super) fn compare_under(
        self,
        coder: &mut Coder<'_>,
        guard: Option<Guard>,
        pairs: &[(Reg, Reg)],
    ) -> Result<(), Refusal> {
        let mut begun = guard.is_some();
        if begun {
            coder.push("setp.ne.u32", &[self.failed], vec![Src::Imm(0), Src::Imm(0)])?;
        }
        coder.guard = guard;
        let compared = pairs.iter().try_for_each(|&pair| self.pair(coder, pair, &mut begun));
        coder.guard = None;
        compared
    }

    /// Compares a double with its twin where a guard holds and the twin is a number.
    pub(super) fn compare_numbers(
        self,
        coder: &mut Coder<'_>,
        guard: Option<Guard>,
        (double, twin): (Reg, Reg),
    ) -> Result<(), Refusal> {
        self.compare_under(coder, guard, &[(double, twin)])?;
        only_numbers(coder, guard, self.failed, twin)
    }

    /// Ends the launch where a comparison failed.
    pub(super) fn notify(self, coder: &mut Coder<'_>) {
        coder.where_holds(self.failed);
        coder.push_op(Op::Trap, &[], Vec::new());
        coder.guard = None;
    }

    fn pair(self, coder: &mut Coder<'_>, (register, shadow): (Reg, Reg), begun: &mut bool) -> Result<(), Refusal> {
        let ty = match coder.function().registers.get(register.index()).map(facts::Register::width) {
            Some(Width::B16) => {
                let words = crossed(coder, [register, shadow]);
                return self.values(coder, Type::B32, words, begun);
            }
            Some(Width::B32 | Width::Pred) | None => Type::B32,
            Some(Width::B64) => Type::B64,
            Some(Width::B128) => {
                let (halves, of_shadow) = (coder.halves(register), coder.halves(shadow));
                for (half, shadow) in halves.into_iter().zip(of_shadow) {
                    self.values(coder, Type::B64, [half, shadow], begun)?;
                }
                return Ok(());
            }
        };
        self.values(coder, ty, [register, shadow], begun)
    }

    fn values(self, coder: &mut Coder<'_>, ty: Type, pair: [Reg; 2], begun: &mut bool) -> Result<(), Refusal> {
        let mut sources = pair.map(Src::Reg).to_vec();
        let chain = if *begun { ".or" } else { "" };
        sources.extend(begun.then_some(Src::Reg(self.failed)));
        *begun = true;
        coder.push(&format!("setp.ne{chain}.{ty}"), &[self.failed], sources)
    }
}
