//! Machine code as the disassembler writes it: which loaded values are factors of products with sums.

use std::collections::{BTreeMap, BTreeSet};

/// Offsets of loaded values in the record of a thread; products are known by that of their first factor.
pub(super) type Offsets = BTreeSet<u64>;

/// An instruction: whether it has a guard, its name, and its operands.
struct Line<'t> {
    guarded: bool,
    name: &'t str,
    operands: Vec<&'t str>,
}

/// Where the values of registers may have been loaded from, as offsets.
type Origins<'t> = BTreeMap<&'t str, Offsets>;

/// What is seen of a kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The offsets of values that are loaded to be multiplied by an instruction that adds as well.
    pub(super) joined: Offsets,
    /// Those of which it is not known: a register is loaded into under different guards.
    pub(super) unknown: Offsets,
}

/// Which of the offsets are those of values that are multiplied by an instruction that adds as well, in a kernel of a listing.
pub(super) fn joined(listing: &str, kernel: &str, factors: &Offsets) -> Option<Seen> {
    let (mut origins, mut seen) = (Origins::new(), Seen::default());
    for line in lines(listing, kernel)? {
        if line.is_fused() {
            let multiplied = line.operands[1..3].iter().filter_map(|operand| origins.get(plain(operand)));
            for from in multiplied {
                let known = if from.len() == 1 { &mut seen.joined } else { &mut seen.unknown };
                known.extend(from);
            }
        }
        line.follow(factors, &mut origins);
    }
    Some(seen)
}

/// How many instructions of a kernel multiply and add.
pub(super) fn fused(listing: &str, kernel: &str) -> Option<usize> {
    Some(lines(listing, kernel)?.filter(Line::is_fused).count())
}

/// The instructions of a kernel of a listing.
fn lines<'t>(listing: &'t str, kernel: &str) -> Option<impl Iterator<Item = Line<'t>>> {
    let (_, code) = listing.split_once(&format!(".section\t.text.{kernel},"))?;
    Some(code.split("\t.section\t").next()?.lines().filter_map(Line::of))
}

impl<'t> Line<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (_, text) = text.trim_start().strip_prefix("/*")?.split_once("*/")?;
        let (text, _) = text.split_once(';')?;
        let text = text.trim();
        let guarded = text.starts_with('@');
        let text = if guarded { text.split_once(' ')?.1 } else { text };
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        Some(Self { guarded, name, operands: rest.split(',').map(str::trim).collect() })
    }

    /// Whether it adds to a product something else than zero.
    fn is_fused(&self) -> bool {
        let base = self.name.split('.').next().unwrap_or("");
        let fused = matches!(base, "FFMA" | "DFMA" | "HFMA2") && self.operands.len() == 4;
        fused && plain(self.operands[3]) != "RZ"
    }

    /// What registers hold behind it.
    fn follow(&self, factors: &Offsets, origins: &mut Origins<'t>) {
        let Some(&to) = self.operands.first().filter(|operand| operand.starts_with('R')) else { return };
        if ["STG", "EXIT", "BRA", "BAR"].iter().any(|head| self.name.starts_with(head)) {
            return;
        }
        let is_load = self.name.starts_with("LDG");
        let loaded = is_load.then(|| self.offset()).filter(|offset| factors.contains(offset));
        let before = origins.remove(to).filter(|_| self.guarded && is_load).unwrap_or_default();
        let now: Offsets = before.into_iter().chain(loaded).collect();
        origins.insert(to, now);
    }

    /// The displacement of the address, zero where none is written.
    fn offset(&self) -> u64 {
        let displacement = self.operands.last().and_then(|address| address.split_once("+0x"));
        let digits = displacement.and_then(|(_, digits)| digits.split(']').next());
        digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
    }
}

/// A register without sign, absolute value and hints.
fn plain(operand: &str) -> &str {
    let operand = operand.trim_matches(['-', '|', '~']);
    operand.split('.').next().unwrap_or(operand).trim_end_matches('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_joined_products_are_found_by_where_they_were_loaded_from() {
        let code = "\t.section\t.text.k,\"ax\"\n\
            /*0010*/ LDG.E R0, desc[UR4][R4.64+0x14] ;\n\
            /*0020*/ @P0 LDG.E R7, desc[UR4][R4.64] ;\n\
            /*0030*/ FFMA R9, R7, -R0.reuse, R3 ;\n\
            /*0040*/ FMUL R0, R0, R7 ;\n\
            /*0050*/ FFMA R2, R0, R3, R3 ;\n\
            /*0060*/ HFMA2.MMA R1, R7, R7, -RZ ;\n";
        let seen = |joined| Some(Seen { joined, unknown: Offsets::new() });
        assert_eq!(joined(code, "k", &[0, 0x14].into()), seen([0, 0x14].into()));
        assert_eq!(joined(code, "k", &[0x14].into()), seen([0x14].into()));
        assert_eq!(joined(code, "other", &Offsets::new()), None);
    }
}
