//! The bits of operands that corrupt most.

use super::capped::SITES;
use super::parts::account;
use super::{Capped, SiteRates};
use crate::gather::{BitCell, OperandCounts};
use crate::input::Listing;
use crate::measure::{Mass, Measure};

/// Every bit of every operand that came to a silent corruption.
pub(super) struct Sites<'a> {
    operands: &'a [OperandCounts],
    /// The operand's index, the bit, and the lower bound of its rate of silent corruption.
    hit: Vec<(usize, u32, f64)>,
    measure: Measure,
    sdc: Mass,
    listing: &'a Listing<'a>,
}

impl<'a> Sites<'a> {
    pub(super) fn new(operands: &'a [OperandCounts], measure: Measure, sdc: Mass, listing: &'a Listing<'a>) -> Self {
        let mut hit = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            for (bit, of) in (0..).zip(&operand.bits).filter(|(_, of)| of.cell.sdc.count > 0) {
                hit.push((index, bit, measure.share(of.cell.sdc, of.cell.landed()).low));
            }
        }
        Self { operands, hit, measure, sdc, listing }
    }

    fn cell(&self, operand: usize, bit: u32) -> &BitCell {
        &self.operands[operand].bits[bit as usize]
    }

    /// Those with the largest share of all silent corruptions; of equal ones the surest first.
    pub(super) fn most(&self) -> Capped<SiteRates> {
        let weight = |&(operand, bit, _): &(usize, u32, f64)| self.cell(operand, bit).cell.sdc.weight;
        self.ranked(|a, b| weight(b).total_cmp(&weight(a)).then(b.2.total_cmp(&a.2)))
    }

    /// Those that corrupt most surely, by the lower bound of the rate; of equal ones the most frequent first.
    pub(super) fn surest(&self) -> Capped<SiteRates> {
        let weight = |&(operand, bit, _): &(usize, u32, f64)| self.cell(operand, bit).cell.sdc.weight;
        self.ranked(|a, b| b.2.total_cmp(&a.2).then(weight(b).total_cmp(&weight(a))))
    }

    fn ranked(
        &self,
        order: impl Fn(&(usize, u32, f64), &(usize, u32, f64)) -> std::cmp::Ordering,
    ) -> Capped<SiteRates> {
        let mut hit = self.hit.clone();
        hit.sort_by(order);
        let left_out = hit.len().saturating_sub(SITES) as u64;
        hit.truncate(SITES);
        Capped { left_out, rows: hit.into_iter().map(|(operand, bit, _)| self.part(operand, bit)).collect() }
    }

    fn part(&self, operand: usize, bit: u32) -> SiteRates {
        let (spot, of) = (&self.operands[operand].spot, self.cell(operand, bit));
        SiteRates {
            kernel: spot.kernel.clone(),
            pc: spot.pc,
            opcode: spot.opcode.clone(),
            text: self.listing.text(&spot.kernel, spot.pc, &spot.opcode, spot.line).map(str::to_owned),
            file: spot.file.clone(),
            line: spot.line,
            target: spot.target.clone(),
            bit,
            share_of_sdc: self.measure.share(of.cell.sdc, self.sdc),
            // The run for now; its fault is looked up for those that are shown.
            example: of.example.map(|run| run.to_string()),
            command: None,
            account: account(&of.cell, self.measure),
        }
    }
}
