//! What the fake target sweeps: units whose faults and outcomes are made up, but the same every time.

use std::sync::atomic::Ordering;

use stats::Draws;

use super::fake::Fake;
use crate::sweep::{Sweep, Sweeper, SweptCount, SweptOperand, SweptTiers, SweptUnit};
use crate::{RunFailure, Spot};
use outcome::{Due, FAILED_CODE, Masked, Outcome, Sdc, TrapKind};

/// The widths of the destinations of each static instruction.
const INSTRUCTIONS: [&[u32]; 5] = [&[32], &[1], &[64, 1], &[16, 16, 32], &[32]];

/// A fault: its operand, its bit, and what it comes to, if it can be run.
pub(super) struct Fault {
    pub(super) operand: u32,
    pub(super) bit: u32,
    pub(super) outcome: Option<Outcome>,
}

/// How a unit of a fake with `fails` goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trouble {
    None,
    Panics,
    Fails,
    /// Its first fault does.
    OneFault,
}

impl Fake {
    pub(super) fn trouble(&self, unit: u64) -> Trouble {
        match unit % 7 {
            3 if self.fails => Trouble::Panics,
            5 if self.fails => Trouble::Fails,
            1 if self.fails => Trouble::OneFault,
            _ => Trouble::None,
        }
    }

    /// The static instructions that the threads of a unit execute.
    fn executed(unit: u64) -> impl Iterator<Item = usize> {
        let draws = Draws::new(unit, 3);
        (0..4 + draws.draw(0) % 9).map(move |at| (draws.draw(1 + at) % INSTRUCTIONS.len() as u64) as usize)
    }

    /// The faults of a unit, in their order.
    pub(super) fn faults(&self, unit: u64) -> Vec<Fault> {
        let first_operand = |pc: usize| INSTRUCTIONS[..pc].iter().map(|bits| bits.len() as u32).sum::<u32>();
        let places = Self::executed(unit).flat_map(move |pc| {
            let operands = INSTRUCTIONS[pc].iter().zip(first_operand(pc)..);
            operands.flat_map(|(&bits, operand)| (0..bits).map(move |bit| (operand, bit)))
        });
        let draws = Draws::new(unit, 4);
        let one_fails = self.trouble(unit) == Trouble::OneFault;
        let fault = |(at, (operand, bit))| {
            let failed = one_fails && at == 0;
            Fault { operand, bit, outcome: (!failed).then(|| outcome(operand, draws.draw(at))) }
        };
        (0..).zip(places).map(fault).collect()
    }

    pub(super) fn all_faults(&self) -> Sweep {
        let mut operands = Vec::new();
        for (pc, widths) in INSTRUCTIONS.iter().enumerate() {
            operands.extend(widths.iter().enumerate().map(|(position, &bits)| {
                let spot = Spot {
                    kernel: format!("kernel_{}", pc % 2),
                    pc: pc as u32,
                    target: format!("dst{position}"),
                    group: ["load", "fp32 fma"][pc / 3].into(),
                    opcode: "op".into(),
                    file: (pc > 1).then(|| "fake.cu".into()),
                    line: (pc > 1).then_some(pc as u32),
                };
                SweptOperand { spot, elements: widths.len() as u32, bits, weight: 1 }
            }));
        }
        Sweep {
            operands,
            unit_faults: (0..self.units).map(|unit| self.faults(unit).len() as u64).collect(),
            members: (0..self.units).map(|unit| Self::executed(unit).count() as u64).sum(),
        }
    }
}

/// One of every class, in shares that depend on the operand.
fn outcome(operand: u32, draw: u64) -> Outcome {
    match draw % (8 + u64::from(operand)) {
        0 => Outcome::Sdc(Sdc::Bad),
        1 => Outcome::Sdc(Sdc::Maybe(3)),
        2 => Outcome::Due(Due::Hang),
        3 => Outcome::Due(Due::Crash(TrapKind::IllegalAddress)),
        4 => Outcome::NotLanded,
        5 => Outcome::Masked(Masked::NeverRead),
        _ => Outcome::Masked(Masked::Logical),
    }
}

pub(super) struct FakeSweeper<'a> {
    fake: &'a Fake,
    /// A unit failed; the next must not be run with this.
    spent: bool,
}

impl<'a> FakeSweeper<'a> {
    pub(super) fn new(fake: &'a Fake) -> Self {
        Self { fake, spent: false }
    }
}

impl Sweeper for FakeSweeper<'_> {
    fn unit(&mut self, unit: u64, stop: &dyn Fn() -> bool) -> Result<Option<SweptUnit>, RunFailure> {
        assert!(!self.spent, "a sweeper is used again after it failed");
        if let Some(countdown) = &self.fake.stop
            && countdown.runs.fetch_sub(1, Ordering::Relaxed) == 1
        {
            countdown.flag.store(true, Ordering::Relaxed);
        }
        let trouble = self.fake.trouble(unit);
        self.spent = matches!(trouble, Trouble::Panics | Trouble::Fails);
        match trouble {
            Trouble::Panics => panic!("the fake fell over in unit {unit}"),
            Trouble::Fails => return Err(RunFailure::new("replay the launch: the fake is out of luck")),
            Trouble::None | Trouble::OneFault => {}
        }
        let mut swept = SweptUnit::default();
        for fault in self.fake.faults(unit) {
            if stop() {
                return Ok(None);
            }
            let Fault { operand, bit, outcome } = fault;
            swept.outcomes.push(outcome.map_or(FAILED_CODE, Outcome::code));
            swept.counts.extend(outcome.map(|outcome| SweptCount { operand, bit, outcome, count: 1 }));
        }
        std::thread::sleep(self.fake.delay);
        swept.counts.sort();
        let faults = swept.outcomes.len() as u64;
        swept.tiers = SweptTiers { full: 1, delta: 2, lanes: faults - 4, decided: 1 };
        swept.host_visible = unit % 3;
        Ok(Some(swept))
    }
}
