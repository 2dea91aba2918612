//! Which lines of the instruction table have vectors.

use super::read::TestVector;
use isa::op::Comparison;
use isa::{Alu, Op, alu::spellings};
use std::collections::BTreeMap;

/// How many rows a line of the table needs; those of one predicate or two have fewer operands than that.
pub const ENOUGH: usize = 6;

/// Names every line of the table of pure instructions that has fewer than [`ENOUGH`] distinct rows, and every spelling
/// that has none.
#[must_use]
pub fn missing(rows: &[TestVector]) -> Vec<String> {
    let mut by_line: BTreeMap<Alu, Vec<&[u128]>> = BTreeMap::new();
    let mut by_spelling: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let lines = match &row.form.op {
            Op::Alu(form) => vec![form.alu],
            Op::Setp(Comparison { compare, combine: None, pair: false }) => vec![compare.alu],
            // The flag that `.cc` writes has a line of its own.
            Op::Extended(extended) if extended.reads && extended.product().is_none() => {
                let (result, flag) = extended.lines();
                if extended.writes { vec![result, flag] } else { vec![result] }
            }
            _ => continue,
        };
        for line in lines {
            by_line.entry(line).or_default().push(&row.operands);
        }
        *by_spelling.entry(&row.form.spelling).or_default() += 1;
    }
    let mut missing = Vec::new();
    for alu in Alu::spelled() {
        let distinct = by_line.get_mut(&alu).map_or(0, |rows| {
            rows.sort_unstable();
            rows.dedup();
            rows.len()
        });
        let possible = alu.sources().iter().map(|ty| ty.bits()).sum::<u32>();
        if distinct < ENOUGH.min(1 << possible.min(8)) {
            missing.push(format!("{} ({alu:?}): {distinct} rows", alu.pattern()));
        }
        let silent =
            spellings(alu.pattern()).into_iter().filter(|spelling| !by_spelling.contains_key(spelling.as_str()));
        missing.extend(silent.map(|spelling| format!("{spelling} ({alu:?}): no row has this spelling")));
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn a_line_without_rows_and_a_spelling_without_rows_are_named() {
        let all: String = (0..6).map(|i| format!("add.s32 0x{i} 0x1 = 0x{}\n", i + 1)).collect();
        let missing = missing(&read("t.vec", &all).unwrap());
        assert!(!missing.iter().any(|line| line.starts_with("add.{s32|u32} ")));
        assert!(missing.iter().any(|line| line == "add.u32 (AddB32): no row has this spelling"));
        assert!(missing.iter().any(|line| line == "sub.{s32|u32} (SubB32): 0 rows"));
    }
}
