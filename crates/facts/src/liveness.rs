//! Which registers are live within a function: those that may be read before they are written.
//!
//! A write under a guard does not end the life of the old value. Registers are written whole.

use crate::flow::Flow;
use crate::instruction::{Facts, Pc, Reg};
use std::borrow::Borrow;

/// Some of the registers of a function, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegSet(Vec<u64>);

impl RegSet {
    /// None of so many registers.
    #[must_use]
    pub fn new(registers: usize) -> Self {
        Self(vec![0; registers.div_ceil(64)])
    }

    /// Its registers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Reg> {
        self.0.iter().zip(0..).flat_map(|(&word, number): (&u64, u32)| {
            let after = std::iter::successors(Some(word), |&left| Some(left & left.wrapping_sub(1)));
            after.take_while(|&left| left != 0).map(move |left| Reg(number * 64 + left.trailing_zeros()))
        })
    }

    /// Turns the registers live after an instruction into those live before it.
    pub fn step_back(&mut self, facts: &Facts) {
        if facts.guard.is_none() {
            facts.writes().for_each(|register| *self.word(register) &= !bit(register));
        }
        facts.reads().for_each(|register| self.add(register));
    }

    fn word(&mut self, register: Reg) -> &mut u64 {
        &mut self.0[register.index() / 64]
    }

    fn add(&mut self, register: Reg) {
        *self.word(register) |= bit(register);
    }

    /// Adds registers; whether some were not there.
    fn add_all(&mut self, other: &Self) -> bool {
        let mut new = 0;
        for (word, &more) in self.0.iter_mut().zip(&other.0) {
            new |= more & !*word;
            *word |= more;
        }
        new != 0
    }

    fn remove_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, &less)| *word &= !less);
    }
}

fn bit(register: Reg) -> u64 {
    1 << (register.0 % 64)
}

/// What a block does to registers.
struct Touched {
    /// What is live before it, whatever is live behind it.
    read: RegSet,
    /// What is not live before it though it is live behind it, unless it is read.
    written: RegSet,
}

impl Touched {
    fn by(block: &[impl Borrow<Facts>], registers: usize) -> Self {
        let mut touched = Self { read: RegSet::new(registers), written: RegSet::new(registers) };
        for facts in block.iter().rev().map(Borrow::borrow) {
            touched.read.step_back(facts);
            if facts.guard.is_none() {
                facts.writes().for_each(|register| touched.written.add(register));
            }
        }
        touched
    }
}

impl Flow {
    /// Registers live at the start of every block, of a function with so many.
    #[must_use]
    pub fn live_in(&self, body: &[impl Borrow<Facts>], registers: usize) -> Vec<RegSet> {
        let by = |(start, end): (Pc, Pc)| Touched::by(&body[start.index()..end.index()], registers);
        let touched: Vec<Touched> = self.blocks.iter().map(|block| by((block.start, block.end))).collect();
        let mut live: Vec<RegSet> = touched.iter().map(|touched| touched.read.clone()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (block, touched) in touched.iter().enumerate().rev() {
                let mut passed = self.live_out(block, &live, registers);
                passed.remove_all(&touched.written);
                changed |= live[block].add_all(&passed);
            }
        }
        live
    }

    /// Registers live at the end of a block, given those live at the start of every one.
    #[must_use]
    pub fn live_out(&self, block: usize, live_in: &[RegSet], registers: usize) -> RegSet {
        let mut live = RegSet::new(registers);
        for &next in &self.blocks[block].next {
            live.add_all(&live_in[next]);
        }
        live
    }

    /// Registers that may be read before they are written, ascending: live at the entry.
    #[must_use]
    pub fn undefined_reads(&self, body: &[impl Borrow<Facts>], registers: usize) -> Vec<Reg> {
        self.live_in(body, registers).first().map_or_else(Vec::new, |live| live.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;
    use crate::instruction::{Control, Guard, Operand, Role};

    fn facts(control: Control, written: &[u32], read: &[u32], guard: Option<u32>) -> Facts {
        let operands = |role, registers: &[u32]| {
            let of = |(&register, position): (&u32, u8)| Operand {
                role,
                position,
                register: Reg(register),
                bits: 32,
                offset: 0,
                ty: None,
            };
            registers.iter().zip(0..).map(of).collect::<Vec<_>>()
        };
        Facts {
            guard: guard.map(|pred| Guard { pred: Reg(pred), negated: false }),
            operands: [operands(Role::Destination, written), operands(Role::Source, read)].concat(),
            control,
            ..Facts::new("any", Group::Other)
        }
    }

    #[test]
    fn what_a_loop_reads_is_live_around_it() {
        let body = [
            facts(Control::Next, &[1], &[2, 3], None),
            facts(Control::Next, &[1], &[1, 2], None),
            facts(Control::Jump([Pc(1)].into()), &[], &[], Some(4)),
            facts(Control::Return, &[], &[69], None),
        ];
        let flow = Flow::of(&body);
        let live = flow.live_in(&body, 70);
        assert_eq!(live[1].iter().collect::<Vec<_>>(), [Reg(1), Reg(2), Reg(4), Reg(69)]);
        assert_eq!(flow.live_out(0, &live, 70), live[1]);
        assert_eq!(flow.undefined_reads(&body, 70), [Reg(2), Reg(3), Reg(4), Reg(69)]);
    }

    #[test]
    fn a_guarded_write_keeps_the_old_value_alive() {
        let body = |guard| {
            [
                facts(Control::Next, &[1], &[2, 2], guard),
                facts(Control::Next, &[5], &[1, 1], None),
                facts(Control::End, &[], &[], None),
            ]
        };
        let undefined = |guard| Flow::of(&body(guard)).undefined_reads(&body(guard), 6);
        assert_eq!(undefined(Some(4)), [Reg(1), Reg(2), Reg(4)]);
        assert_eq!(undefined(None), [Reg(2)]);
    }

    #[test]
    fn an_empty_body_reads_nothing() {
        let body: [Facts; 0] = [];
        assert!(Flow::of(&body).undefined_reads(&body, 6).is_empty());
    }
}
