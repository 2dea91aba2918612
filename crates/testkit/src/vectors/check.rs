//! Running vectors on the machine and comparing.

use super::form::{Form, in_register, is_immediate};
use super::kernel::{CELL, KernelVariant, module_text};
use super::read::TestVector;
use capsule::{Launch, ModuleId, Region};
use device::Image;
use device::{Device, DeviceError, LaunchEnd};
use isa::{Type, Width};
use simt::LevelName;
use std::collections::BTreeMap;

/// Threads of a block: a whole warp and a part of one.
pub(super) const BLOCK: usize = 40;

/// Threads at the end of the launch that have no row.
const IDLE: usize = 3;

/// Checks rows at every level of this host; returns what is wrong, one line for each result.
#[must_use]
pub fn check(rows: &[TestVector]) -> Vec<String> {
    let groups: Vec<Vec<TestVector>> = groups(rows);
    let mut failures: Vec<String> = rows.iter().filter_map(check_scalar).collect();
    failures.extend(crate::in_parallel(&groups, |rows| check_group(rows)).into_iter().flatten());
    failures
}

/// Rows that can be one launch: of one form, with the same immediate operands.
pub(super) fn groups(rows: &[TestVector]) -> Vec<Vec<TestVector>> {
    let mut groups: BTreeMap<(String, usize, Vec<u128>), Vec<TestVector>> = BTreeMap::new();
    for row in rows {
        let operands = row.operands.iter().enumerate();
        let immediates = operands.filter(|(at, _)| is_immediate(&row.form.spelling, *at)).map(|(_, &bits)| bits);
        let key = (row.form.spelling.clone(), row.form.results.len(), immediates.collect());
        groups.entry(key).or_default().push(row.clone());
    }
    groups.into_values().collect()
}

/// The semantics without the machine.
fn check_scalar(row: &TestVector) -> Option<String> {
    let found = row.form.eval(&row.operands)?;
    let ty = row.form.results[0];
    let expected = in_register(ty, row.expected[0]);
    (!row.bound.allows(ty, expected, found)).then(|| describe(row, 0, expected, found, "Alu::eval"))
}

fn describe(row: &TestVector, result: usize, expected: u128, found: u128, how: &str) -> String {
    let types = &row.form.sources;
    let operands: Vec<String> = row.operands.iter().zip(types).map(|(&bits, &ty)| hex(ty, bits)).collect();
    let ty = row.form.results[result];
    let (place, spelling, operands) = (&row.place, &row.form.spelling, operands.join(" "));
    format!("{place}: {spelling} {operands}: expected {}, found {} ({how})", hex(ty, expected), hex(ty, found))
}

fn hex(ty: Type, bits: u128) -> String {
    if ty == Type::Pred { bits.to_string() } else { format!("{bits:#0width$x}", width = ty.bits() as usize / 4 + 2) }
}

fn check_group(rows: &[TestVector]) -> Vec<String> {
    let form = &rows[0].form;
    let text = module_text(form, rows, &KernelVariant::ALL);
    let mut failures = Vec::new();
    for level in crate::levels() {
        for variant in KernelVariant::ALL.into_iter().filter(|variant| variant.fits(form)) {
            match Run::new(form, variant, rows).execute(level, &text) {
                Ok(found) => failures.extend(compare(rows, variant, &level.to_string(), &found)),
                Err(what) => failures.push(format!("{}: {}: {what} ({level})", rows[0].place, form.spelling)),
            }
        }
    }
    failures
}

/// What a launch reads and writes.
pub(super) struct Run<'a> {
    variant: KernelVariant,
    /// Threads with a row.
    pub(super) threads: usize,
    pub(super) blocks: usize,
    form: &'a Form,
    rows: &'a [TestVector],
}

impl<'a> Run<'a> {
    pub(super) fn new(form: &'a Form, variant: KernelVariant, rows: &'a [TestVector]) -> Self {
        // At least three blocks: rows are used again, so that each is met in several lanes.
        let blocks = (rows.len() + IDLE).div_ceil(BLOCK).max(3);
        let threads = if variant == KernelVariant::Constant { rows.len() } else { blocks * BLOCK - IDLE };
        Self { variant, threads, blocks, form, rows }
    }

    /// Runs the launch; the bits of the results of every thread, or every row of constants.
    pub(super) fn execute(&self, level: LevelName, text: &str) -> Result<Vec<Vec<u128>>, String> {
        let words = |error: DeviceError| error.to_string();
        let mut device = Device::at_level(level);
        device.load(ModuleId(0), &self.form.spelling, Image::ptx(text)).map_err(words)?;
        let (input, output) = (self.input(), self.output());
        let (at, out) = (device.allocate(input.len() as u64), device.allocate(output.len() as u64));
        let (at, out) = (at.map_err(words)?, out.map_err(words)?);
        device.write(&Region::linear(at, input.len() as u64), &input).map_err(words)?;
        device.write(&Region::linear(out, output.len() as u64), &output).map_err(words)?;
        let end = device.launch(&self.launch(at, out)).map_err(words)?;
        if let LaunchEnd::Trapped(report) = end {
            return Err(report.to_string());
        }
        let bytes = device.read(&Region::linear(out, output.len() as u64)).map_err(words)?;
        Ok(self.found(&bytes))
    }

    /// The bits of the results of every thread in what a launch left.
    pub(super) fn found(&self, bytes: &[u8]) -> Vec<Vec<u128>> {
        bytes.chunks(self.form.results.len() * CELL).map(|record| self.results(record)).collect()
    }

    fn launch(&self, input: u64, output: u64) -> Launch {
        let constant = self.variant == KernelVariant::Constant;
        let mut params = [input.to_le_bytes(), output.to_le_bytes()].concat();
        params.extend((self.threads as u32).to_le_bytes());
        Launch {
            module: ModuleId(0),
            kernel: self.variant.kernel().to_owned(),
            grid: [if constant { 1 } else { self.blocks as u32 }, 1, 1],
            block: [if constant { 1 } else { BLOCK as u32 }, 1, 1],
            shared_bytes: 0,
            params,
            cooperative: false,
        }
    }

    pub(super) fn input(&self) -> Vec<u8> {
        let rows = self.rows.iter().cycle().take(self.threads);
        let operands = rows.flat_map(|row| row.operands.iter().zip(&row.form.sources));
        operands.flat_map(|(&bits, &ty)| cell(ty, bits)).collect()
    }

    /// The old values of the results.
    pub(super) fn output(&self) -> Vec<u8> {
        let results = &self.form.results;
        let old =
            (0..self.threads).flat_map(|thread| results.iter().map(move |&ty| cell(register(ty), old(ty, thread))));
        old.flatten().collect()
    }

    fn results(&self, record: &[u8]) -> Vec<u128> {
        let cells = record.chunks(CELL).map(|cell| u128::from_le_bytes(cell.try_into().unwrap_or([0; CELL])));
        cells.zip(&self.form.results).map(|(bits, ty)| bits & mask(ty.width().bits())).collect()
    }
}

fn mask(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// The type that fills the register of a type.
fn register(ty: Type) -> Type {
    if ty.width() == Width::B16 { Type::B16 } else { ty }
}

/// A value of the type that no instruction is likely to leave by chance.
fn old(ty: Type, thread: usize) -> u128 {
    (0x9d37_51c2_e86b_0f43_a5d9_1e7c_3b60_f284 ^ (thread as u128).wrapping_mul(0x0101_0101)) & mask(ty.width().bits())
}

/// A value in memory; what does not belong to it is junk, and the upper half of an 8-bit operand's register too.
fn cell(ty: Type, bits: u128) -> [u8; CELL] {
    let used = if ty == Type::Pred { 8 } else { ty.bits() };
    let junk = 0x5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a & !mask(used);
    (junk | bits).to_le_bytes()
}

pub(super) fn compare(rows: &[TestVector], variant: KernelVariant, on: &str, found: &[Vec<u128>]) -> Vec<String> {
    let mut failures = Vec::new();
    for (thread, found) in found.iter().enumerate() {
        let row = &rows[thread % rows.len()];
        let executes = variant != KernelVariant::Guarded || thread % BLOCK % 2 == 1;
        for (at, (&found, &ty)) in found.iter().zip(&row.form.results).enumerate() {
            let expected = if executes { in_register(ty, row.expected[at]) } else { old(ty, thread) };
            let allowed = if executes { row.bound.allows(ty, expected, found) } else { expected == found };
            if !allowed {
                let how = format!("{}, {on}, thread {thread}, result {at}", variant.kernel());
                failures.push(describe(row, at, expected, found, &how));
            }
        }
    }
    failures
}
