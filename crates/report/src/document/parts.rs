//! Faults by what they hit.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::capped::{KERNELS_IN_TIME, LAUNCHES};
use super::scale::Scale;
use super::{
    BitRates, Capped, HeatRow, InstructionRates, LaunchRates, LineRates, NamedRates, RateAccount, TimeBin, TimeSeries,
};
use crate::gather::{Doubling, OperandCounts};
use crate::input::Listing;
use crate::measure::ClassMasses;

/// Most bad corruptions first, or silent ones where nothing is judged; what is equal in them keeps its order.
pub(super) fn worst_first<T>(mut parts: Vec<T>, account: impl Fn(&T) -> &RateAccount) -> Vec<T> {
    parts.sort_by_key(|part| {
        let account = account(part);
        Reverse((account.worst().count, account.outcomes.sdc.count, account.outcomes.due.count, account.runs))
    });
    parts
}

pub(super) fn named(
    operands: &[OperandCounts],
    scale: Scale,
    name: impl Fn(&OperandCounts) -> &String,
) -> Vec<NamedRates> {
    let mut cells: BTreeMap<&String, ClassMasses> = BTreeMap::new();
    for operand in operands {
        cells.entry(name(operand)).or_default().merge(&operand.cell());
    }
    let part = |(name, cell): (&String, ClassMasses)| NamedRates { name: name.clone(), account: scale.account(&cell) };
    worst_first(cells.into_iter().map(part).collect(), |part| &part.account)
}

/// Every line that was hit, by file and line.
pub(super) fn lines(operands: &[OperandCounts], scale: Scale, all: &ClassMasses) -> Vec<LineRates> {
    let mut cells: BTreeMap<(Option<&str>, Option<u32>), ClassMasses> = BTreeMap::new();
    for operand in operands {
        cells.entry((operand.spot.file.as_deref(), operand.spot.line)).or_default().merge(&operand.cell());
    }
    let part = |((file, line), cell): ((Option<&str>, Option<u32>), ClassMasses)| LineRates {
        file: file.map(str::to_owned),
        line,
        share_of_sdc: scale.share_of_sdc(&cell, all),
        share_of_bad: scale.share_of_bad(&cell, all),
        account: scale.account(&cell),
    };
    cells.into_iter().map(part).collect()
}

/// Every static instruction that was hit, in program order.
pub(super) fn instructions(operands: &[OperandCounts], scale: Scale, listing: &Listing<'_>) -> Vec<InstructionRates> {
    let same = |a: &OperandCounts, b: &OperandCounts| {
        let key = |operand: &OperandCounts| {
            let spot = &operand.spot;
            (spot.kernel.clone(), spot.pc, spot.opcode.clone(), spot.file.clone(), spot.line, spot.group.clone())
        };
        key(a) == key(b)
    };
    let part = |operands: &[OperandCounts]| {
        let mut cell = ClassMasses::default();
        operands.iter().for_each(|operand| cell.merge(&operand.cell()));
        let spot = &operands[0].spot;
        InstructionRates {
            kernel: spot.kernel.clone(),
            pc: spot.pc,
            opcode: spot.opcode.clone(),
            text: listing.text(&spot.kernel, spot.pc, &spot.opcode, spot.line).map(str::to_owned),
            group: spot.group.clone(),
            file: spot.file.clone(),
            line: spot.line,
            account: scale.account(&cell),
        }
    };
    operands.chunk_by(same).map(part).collect()
}

/// The bits of some operands, those that were hit.
pub(crate) fn bits<'a>(operands: impl Iterator<Item = &'a OperandCounts>, scale: Scale) -> Vec<BitRates> {
    let mut cells: BTreeMap<u32, ClassMasses> = BTreeMap::new();
    for operand in operands {
        for (bit, of) in (0..).zip(&operand.bits) {
            cells.entry(bit).or_default().merge(&of.cell);
        }
    }
    cells.retain(|_, cell| cell.runs() > 0);
    cells.into_iter().map(|(bit, cell)| BitRates { bit, account: scale.account(&cell) }).collect()
}

/// The bits of each group.
pub(super) fn heat(operands: &[OperandCounts], scale: Scale) -> Vec<HeatRow> {
    let mut groups: BTreeMap<&str, Vec<&OperandCounts>> = BTreeMap::new();
    for operand in operands {
        groups.entry(&operand.spot.group).or_default().push(operand);
    }
    let row = |(group, operands): (&str, Vec<&OperandCounts>)| HeatRow {
        group: group.to_owned(),
        bits: bits(operands.into_iter(), scale),
    };
    groups.into_iter().map(row).filter(|row| !row.bits.is_empty()).collect()
}

pub(super) fn launches(launches: &BTreeMap<u32, (String, ClassMasses)>, scale: Scale) -> Capped<LaunchRates> {
    let part = |(&launch, (kernel, cell)): (&u32, &(String, ClassMasses))| LaunchRates {
        launch,
        kernel: kernel.clone(),
        account: scale.account(cell),
    };
    Capped::first(launches.iter().map(part).collect(), LAUNCHES)
}

/// The kernels with most faults, along the time of their threads.
pub(super) fn times(times: &BTreeMap<String, Doubling>, scale: Scale) -> Capped<TimeSeries> {
    let bin = |(from, to, cell): (u64, u64, &ClassMasses)| TimeBin { from, to, account: scale.account(cell) };
    let series = |(kernel, bins): (&String, &Doubling)| TimeSeries {
        kernel: kernel.clone(),
        bins: bins.bins().map(bin).collect(),
    };
    let mut all: Vec<TimeSeries> = times.iter().map(series).collect();
    all.sort_by_key(|series| Reverse(series.bins.iter().map(|bin| bin.account.runs).sum::<u64>()));
    Capped::first(all, KERNELS_IN_TIME)
}
