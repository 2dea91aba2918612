//! The bits of operands that corrupt most.

use std::cmp::Ordering;

use super::capped::SITES;
use super::scale::Scale;
use super::{Capped, SiteRates};
use crate::gather::{BitCell, OperandCounts};
use crate::input::Listing;
use crate::measure::ClassMasses;

/// Every bit of every operand that came to a silent corruption.
pub(super) struct Sites<'a> {
    operands: &'a [OperandCounts],
    hit: Vec<Hit>,
    scale: Scale,
    all: ClassMasses,
    listing: &'a Listing<'a>,
}

/// A bit of an operand.
#[derive(Clone, Copy)]
struct Hit {
    /// The operand's index.
    operand: usize,
    bit: u32,
    /// The lower bound of the rate that it is ranked by.
    low: f64,
    /// The lower bound of its rate of silent corruption.
    low_of_sdc: f64,
}

impl<'a> Sites<'a> {
    pub(super) fn new(operands: &'a [OperandCounts], scale: Scale, all: ClassMasses, listing: &'a Listing<'a>) -> Self {
        let mut hit = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            for (bit, of) in (0..).zip(&operand.bits).filter(|(_, of)| of.cell.sdc.count > 0) {
                let low_of_sdc = scale.measure.share(of.cell.sdc, of.cell.landed()).low;
                let low = match scale.judged {
                    true => scale.measure.share(of.cell.bad, of.cell.landed()).low,
                    false => low_of_sdc,
                };
                hit.push(Hit { operand: index, bit, low, low_of_sdc });
            }
        }
        Self { operands, hit, scale, all, listing }
    }

    fn cell(&self, hit: &Hit) -> &BitCell {
        &self.operands[hit.operand].bits[hit.bit as usize]
    }

    /// What is ranked, and all silent corruptions, by weight.
    fn weights(&self, hit: &Hit) -> [f64; 2] {
        let cell = &self.cell(hit).cell;
        [self.scale.worst(cell).weight, cell.sdc.weight]
    }

    /// Those with the largest share of all bad corruptions; of equal ones the surest first. What has none follows, by
    /// silent ones.
    pub(super) fn most(&self) -> Capped<SiteRates> {
        self.ranked(|a, b| {
            let ([bad_a, sdc_a], [bad_b, sdc_b]) = (self.weights(a), self.weights(b));
            let (by_low, by_sdc) = (b.low.total_cmp(&a.low), sdc_b.total_cmp(&sdc_a));
            bad_b.total_cmp(&bad_a).then(by_low).then(by_sdc).then(b.low_of_sdc.total_cmp(&a.low_of_sdc))
        })
    }

    /// Those that corrupt most surely, by the lower bound of the rate; of equal ones the most frequent first.
    pub(super) fn surest(&self) -> Capped<SiteRates> {
        self.ranked(|a, b| {
            let ([bad_a, sdc_a], [bad_b, sdc_b]) = (self.weights(a), self.weights(b));
            let (by_weight, by_sdc) = (bad_b.total_cmp(&bad_a), b.low_of_sdc.total_cmp(&a.low_of_sdc));
            b.low.total_cmp(&a.low).then(by_weight).then(by_sdc).then(sdc_b.total_cmp(&sdc_a))
        })
    }

    fn ranked(&self, order: impl Fn(&Hit, &Hit) -> Ordering) -> Capped<SiteRates> {
        let mut hit = self.hit.clone();
        hit.sort_by(order);
        let left_out = hit.len().saturating_sub(SITES) as u64;
        hit.truncate(SITES);
        Capped { left_out, rows: hit.iter().map(|hit| self.part(hit)).collect() }
    }

    fn part(&self, hit: &Hit) -> SiteRates {
        let (spot, of) = (&self.operands[hit.operand].spot, self.cell(hit));
        let example = if self.scale.judged { of.bad_example.or(of.example) } else { of.example };
        SiteRates {
            kernel: spot.kernel.clone(),
            pc: spot.pc,
            opcode: spot.opcode.clone(),
            text: self.listing.text(&spot.kernel, spot.pc, &spot.opcode, spot.line).map(str::to_owned),
            file: spot.file.clone(),
            line: spot.line,
            target: spot.target.clone(),
            bit: hit.bit,
            share_of_sdc: self.scale.share_of_sdc(&of.cell, &self.all),
            share_of_bad: self.scale.share_of_bad(&of.cell, &self.all),
            // The run for now; its fault is looked up for those that are shown.
            example: example.map(|run| run.to_string()),
            sentence: None,
            command: None,
            account: self.scale.account(&of.cell),
        }
    }
}
