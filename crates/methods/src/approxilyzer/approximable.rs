//! The instructions that may be approximated, to a first order (thesis, Sections 2.3.3 and 2.5.4).
//!
//! A bit of an operand is approximable if none of its sites, over all dynamic instances of the instruction, is detected,
//! detectable (DDC) or bad. Sites of unknown outcome spoil nothing, as in the thesis; a bit of which no site is known is not
//! approximable.

use serde_json::{Value, json};
use study::{Cell, Table};

use super::ends::{EndCounts, SiteEnd};
use super::instructions::InstructionSites;

/// How much of an instruction is approximable.
#[derive(Clone, Copy)]
enum Extent {
    /// Every bit of it.
    Instruction,
    /// All bits of one of its registers.
    Register,
    /// This number of neighbouring bits of one of its registers.
    Bits(usize),
}

const EXTENTS: [Extent; 4] = [Extent::Instruction, Extent::Register, Extent::Bits(32), Extent::Bits(8)];

/// Static instructions, and the dynamic ones that they make.
#[derive(Clone, Copy, Default)]
struct Amount {
    fixed: u64,
    dynamic: u64,
}

/// The approximable instructions of a program, by extent.
pub(super) struct Approximable {
    /// The worst case, in which no SDC-Maybe is acceptable, and the best one, in which all are.
    cases: Vec<(Extent, [Amount; 2])>,
    /// The instructions with a site of known outcome.
    studied: Amount,
    /// Those of them that have sites of unknown outcome, too.
    partly: u64,
    executed: u64,
}

impl Extent {
    fn name(self) -> String {
        match self {
            Self::Instruction => "FI: the full instruction".to_owned(),
            Self::Register => "PI-FR: a full register of it".to_owned(),
            Self::Bits(bits) => format!("PI-{bits}b: {bits} neighbouring bits of a register"),
        }
    }

    fn word(self) -> String {
        match self {
            Self::Instruction => "fi".to_owned(),
            Self::Register => "pi_fr".to_owned(),
            Self::Bits(bits) => format!("pi_{bits}b"),
        }
    }

    /// Whether it is there, if these bits of these registers are approximable.
    fn is_in(self, registers: &[Vec<bool>]) -> bool {
        let full = |register: &Vec<bool>| register.iter().all(|bit| *bit);
        let run = |register: &Vec<bool>, bits| register.windows(bits).any(|bits| bits.iter().all(|bit| *bit));
        match self {
            Self::Instruction => !registers.is_empty() && registers.iter().all(full),
            Self::Register => registers.iter().any(full),
            Self::Bits(bits) => registers.iter().any(|register| run(register, bits)),
        }
    }
}

impl Amount {
    fn add(&mut self, it: &InstructionSites) {
        self.fixed += 1;
        self.dynamic += it.executed;
    }
}

/// Whether sites that end like these may all be approximated; `maybe` says whether an SDC-Maybe may.
fn is_approximable(ends: &EndCounts, maybe: bool) -> bool {
    let accepted = |end| matches!(end, SiteEnd::Masked | SiteEnd::Good) || maybe && matches!(end, SiteEnd::Maybe(_));
    let known = ends.count(is_known);
    known > 0 && ends.count(accepted) == known
}

fn is_known(end: SiteEnd) -> bool {
    !matches!(end, SiteEnd::Undecided | SiteEnd::NotCovered)
}

/// Which registers of an instruction may be approximated bit by bit, in the worst case or the best one.
fn registers(it: &InstructionSites, maybe: bool) -> Vec<Vec<bool>> {
    let bits = |of: &Vec<EndCounts>| of.iter().map(|ends| is_approximable(ends, maybe)).collect();
    it.operands.values().map(bits).collect()
}

/// The widest extent to which an instruction may be approximated, in the worst case and in the best one.
pub(super) fn approximable(it: &InstructionSites) -> [Option<String>; 2] {
    [false, true].map(|maybe| {
        let registers = registers(it, maybe);
        EXTENTS.into_iter().find(|extent| extent.is_in(&registers)).map(Extent::word)
    })
}

impl Approximable {
    /// Of these instructions.
    pub(super) fn of(instructions: &[InstructionSites]) -> Self {
        let mut all = Self {
            cases: EXTENTS.map(|extent| (extent, Default::default())).into(),
            studied: Amount::default(),
            partly: 0,
            executed: instructions.iter().map(|it| it.executed).sum(),
        };
        for it in instructions.iter().filter(|it| it.ends.count(is_known) > 0) {
            all.studied.add(it);
            all.partly += u64::from(it.ends.count(|end| !is_known(end)) > 0);
            for (case, maybe) in [false, true].into_iter().enumerate() {
                let registers = registers(it, maybe);
                for (extent, amounts) in &mut all.cases {
                    if extent.is_in(&registers) {
                        amounts[case].add(it);
                    }
                }
            }
        }
        all
    }

    fn shares(&self, amount: Amount) -> [f64; 2] {
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        [share(amount.fixed, self.studied.fixed), share(amount.dynamic, self.executed)]
    }

    /// The shares of instructions.
    pub(super) fn table(&self) -> Table {
        let columns = ["approximable", "worst: static", "worst: dynamic", "best: static", "best: dynamic"];
        let mut table = Table::new("Instructions that may be approximated, to a first order", &columns);
        let row = |(extent, amounts): &(Extent, [Amount; 2])| {
            let shares = amounts.iter().flat_map(|amount| self.shares(*amount)).map(Cell::Share);
            std::iter::once(Cell::text(extent.name())).chain(shares).collect()
        };
        table.rows = self.cases.iter().map(row).collect();
        table.notes.push(format!(
            "A bit is approximable if no error in it, in any dynamic instance, ends detected, DDC or SDC-Bad. Worst: no SDC-Maybe is \
             acceptable; best: all are. Static: of the {} instructions with sites of known outcome; dynamic: of all {} executed.",
            study::spaced(self.studied.fixed),
            study::spaced(self.executed),
        ));
        if self.partly > 0 {
            table.notes.push(format!(
                "{} of these instructions have sites of unknown outcome, too, which spoil nothing here: some of them may not be \
                 approximable.",
                study::spaced(self.partly)
            ));
        }
        table
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let case = |amount: Amount| {
            let [of_static, of_dynamic] = self.shares(amount);
            json!({
                "static": amount.fixed,
                "dynamic": amount.dynamic,
                "share_of_static": of_static,
                "share_of_dynamic": of_dynamic,
            })
        };
        let extent = |(extent, [worst, best]): &(Extent, [Amount; 2])| {
            (extent.word(), json!({ "worst": case(*worst), "best": case(*best) }))
        };
        let mut all: serde_json::Map<String, Value> = self.cases.iter().map(extent).collect();
        all.insert("studied".to_owned(), json!(self.studied.fixed));
        all.insert("with_unknown_sites".to_owned(), json!(self.partly));
        all.insert("executed".to_owned(), json!(self.executed));
        Value::Object(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::operand::SiteOperand;
    use super::*;

    fn counts(ends: &[SiteEnd]) -> EndCounts {
        let mut counts = EndCounts::default();
        ends.iter().for_each(|end| counts.add(*end, 1));
        counts
    }

    fn instruction(destinations: Vec<Vec<EndCounts>>, executed: u64) -> InstructionSites {
        let ends = destinations.iter().flatten().collect();
        InstructionSites {
            kernel: 0,
            pc: 0,
            mnemonic: "add".into(),
            group: "INT".into(),
            source: None,
            executed,
            operands: (0..).map(SiteOperand::Destination).zip(destinations).collect(),
            ends,
        }
    }

    fn found(instructions: &[InstructionSites]) -> Vec<[u64; 2]> {
        let all = Approximable::of(instructions);
        all.cases.iter().map(|(_, amounts)| amounts.map(|amount| amount.dynamic)).collect()
    }

    #[test]
    fn an_instruction_is_approximable_as_far_as_no_instance_is_spoilt() {
        let [good, maybe] =
            [counts(&[SiteEnd::Good, SiteEnd::Masked]), counts(&[SiteEnd::Maybe(Some(1)), SiteEnd::Good])];
        let bad = counts(&[SiteEnd::Good, SiteEnd::Bad]);
        let register = |low: &EndCounts, high: &EndCounts| [vec![low.clone(); 16], vec![high.clone(); 16]].concat();
        // Worst and best case by extent: FI, PI-FR, PI-32b, PI-8b.
        assert_eq!(found(&[instruction(vec![register(&good, &good)], 3)]), [[3; 2]; 4]);
        let in_between = found(&[instruction(vec![register(&good, &maybe)], 3)]);
        assert_eq!(in_between, [[0, 3], [0, 3], [0, 3], [3, 3]]);
        let half = instruction(vec![register(&good, &bad), vec![maybe.clone()]], 3);
        assert_eq!(approximable(&half), [Some("pi_8b".to_owned()), Some("pi_fr".to_owned())]);
        assert_eq!(found(&[half]), [[0, 0], [0, 3], [0, 0], [3, 3]]);
        assert_eq!(found(&[instruction(vec![register(&bad, &bad)], 3)]), [[0; 2]; 4]);
    }

    #[test]
    fn unknown_sites_spoil_nothing_and_make_nothing_approximable() {
        let partly = counts(&[SiteEnd::NotCovered, SiteEnd::Masked]);
        let [unknown, detected] = [counts(&[SiteEnd::Undecided]), counts(&[SiteEnd::Detected])];
        let of = |ends: &EndCounts| instruction(vec![vec![ends.clone(); 8]], 1);
        assert_eq!(found(&[of(&partly), of(&unknown), of(&detected)]), [[1, 1], [1, 1], [0, 0], [1, 1]]);
        let all = Approximable::of(&[of(&partly), of(&unknown), of(&detected)]);
        assert_eq!((all.studied.fixed, all.partly, all.executed), (2, 1, 3));
    }
}
