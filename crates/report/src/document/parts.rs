//! Faults by what they hit.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::capped::{KERNELS_IN_TIME, LAUNCHES};
use super::{Account, BitPart, Capped, HeatRow, InstructionPart, LaunchPart, LinePart, Part, TimeBin, TimeSeries};
use crate::gather::{Doubling, Operand};
use crate::input::Listing;
use crate::measure::{Cell, Mass, Measure};

/// The account of a cell.
pub(super) fn account(cell: &Cell, measure: Measure) -> Account {
    Account { runs: cell.runs(), not_landed: cell.not_landed, failed: cell.failed, outcomes: cell.rates(measure) }
}

/// Most silent corruptions first; what is equal in them keeps its order.
pub(super) fn worst_first<T>(mut parts: Vec<T>, account: impl Fn(&T) -> &Account) -> Vec<T> {
    parts.sort_by_key(|part| {
        let account = account(part);
        Reverse((account.outcomes.sdc.count, account.outcomes.due.count, account.runs))
    });
    parts
}

pub(super) fn named(operands: &[Operand], measure: Measure, name: impl Fn(&Operand) -> &String) -> Vec<Part> {
    let mut cells: BTreeMap<&String, Cell> = BTreeMap::new();
    for operand in operands {
        cells.entry(name(operand)).or_default().merge(&operand.cell());
    }
    let part = |(name, cell): (&String, Cell)| Part { name: name.clone(), account: account(&cell, measure) };
    worst_first(cells.into_iter().map(part).collect(), |part| &part.account)
}

/// Every line that was hit, by file and line.
pub(super) fn lines(operands: &[Operand], measure: Measure, sdc: Mass) -> Vec<LinePart> {
    let mut cells: BTreeMap<(Option<&str>, Option<u32>), Cell> = BTreeMap::new();
    for operand in operands {
        cells.entry((operand.spot.file.as_deref(), operand.spot.line)).or_default().merge(&operand.cell());
    }
    let part = |((file, line), cell): ((Option<&str>, Option<u32>), Cell)| LinePart {
        file: file.map(str::to_owned),
        line,
        share_of_sdc: measure.share(cell.sdc, sdc),
        account: account(&cell, measure),
    };
    cells.into_iter().map(part).collect()
}

/// Every static instruction that was hit, in program order.
pub(super) fn instructions(operands: &[Operand], measure: Measure, listing: &Listing<'_>) -> Vec<InstructionPart> {
    let same = |a: &Operand, b: &Operand| {
        let key = |operand: &Operand| {
            let spot = &operand.spot;
            (spot.kernel.clone(), spot.pc, spot.opcode.clone(), spot.file.clone(), spot.line, spot.group.clone())
        };
        key(a) == key(b)
    };
    let part = |operands: &[Operand]| {
        let mut cell = Cell::default();
        operands.iter().for_each(|operand| cell.merge(&operand.cell()));
        let spot = &operands[0].spot;
        InstructionPart {
            kernel: spot.kernel.clone(),
            pc: spot.pc,
            opcode: spot.opcode.clone(),
            text: listing.text(&spot.kernel, spot.pc, &spot.opcode, spot.line).map(str::to_owned),
            group: spot.group.clone(),
            file: spot.file.clone(),
            line: spot.line,
            account: account(&cell, measure),
        }
    };
    operands.chunk_by(same).map(part).collect()
}

/// The bits of some operands, those that were hit.
pub(super) fn bits<'a>(operands: impl Iterator<Item = &'a Operand>, measure: Measure) -> Vec<BitPart> {
    let mut cells: BTreeMap<u32, Cell> = BTreeMap::new();
    for operand in operands {
        for (bit, of) in (0..).zip(&operand.bits) {
            cells.entry(bit).or_default().merge(&of.cell);
        }
    }
    cells.retain(|_, cell| cell.runs() > 0);
    cells.into_iter().map(|(bit, cell)| BitPart { bit, account: account(&cell, measure) }).collect()
}

/// The bits of each group.
pub(super) fn heat(operands: &[Operand], measure: Measure) -> Vec<HeatRow> {
    let mut groups: BTreeMap<&str, Vec<&Operand>> = BTreeMap::new();
    for operand in operands {
        groups.entry(&operand.spot.group).or_default().push(operand);
    }
    let row = |(group, operands): (&str, Vec<&Operand>)| HeatRow {
        group: group.to_owned(),
        bits: bits(operands.into_iter(), measure),
    };
    groups.into_iter().map(row).filter(|row| !row.bits.is_empty()).collect()
}

pub(super) fn launches(launches: &BTreeMap<u32, (String, Cell)>, measure: Measure) -> Capped<LaunchPart> {
    let part = |(&launch, (kernel, cell)): (&u32, &(String, Cell))| LaunchPart {
        launch,
        kernel: kernel.clone(),
        account: account(cell, measure),
    };
    Capped::first(launches.iter().map(part).collect(), LAUNCHES)
}

/// The kernels with most faults, along the time of their threads.
pub(super) fn times(times: &BTreeMap<String, Doubling>, measure: Measure) -> Capped<TimeSeries> {
    let bin = |(from, to, cell): (u64, u64, &Cell)| TimeBin { from, to, account: account(cell, measure) };
    let series = |(kernel, bins): (&String, &Doubling)| TimeSeries {
        kernel: kernel.clone(),
        bins: bins.bins().map(bin).collect(),
    };
    let mut all: Vec<TimeSeries> = times.iter().map(series).collect();
    all.sort_by_key(|series| Reverse(series.bins.iter().map(|bin| bin.account.runs).sum::<u64>()));
    Capped::first(all, KERNELS_IN_TIME)
}
