//! Equation 1: rates of strikes, chances of ends and fractions of instructions put together.
//!
//! Bounds of both levels go through it by [`Bounded`]: chances have Wilson's interval at 95 %, the rates of a type an error that
//! they share and, where the table has them, bounds of their own; fractions are counted, not estimated.

use stats::{Bounded, Confidence, Proportion};
use std::collections::BTreeMap;

use super::ipa::{InstructionType, IpaTable};
use super::shares::Shares;
use super::units::{Fraction, Probability, RatePerInstruction};

/// How runs ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// The outputs are those of the run without a fault, or good enough.
    pub masked: u64,
    /// Silent data corruption.
    pub sdc: u64,
    /// The program ended otherwise.
    pub due: u64,
    /// What the application would have done is not known.
    pub undecided: u64,
}

impl OutcomeCounts {
    /// All runs.
    #[must_use]
    pub fn runs(self) -> u64 {
        self.masked + self.sdc + self.due + self.undecided
    }

    /// The runs of both counts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            masked: self.masked + other.masked,
            sdc: self.sdc + other.sdc,
            due: self.due + other.due,
            undecided: self.undecided + other.undecided,
        }
    }
}

/// So many of so many runs, as a chance with Wilson's interval; its upper bound is that of the chance if all that are undecided
/// counted.
#[must_use]
pub fn chance(count: u64, undecided: u64, runs: u64) -> Probability {
    let of = |count: u64| Proportion::from_counts(count, runs.saturating_sub(count));
    let interval = |count| of(count).wilson(Confidence::PERCENT_95);
    let (low, high) = (interval(count).low, interval(count + undecided).high);
    Probability(Bounded { value: of(count).rate().unwrap_or(0.0), low, high })
}

/// How faults of a type and a manifestation ended, by kernel.
pub type EndsByKernel = BTreeMap<String, OutcomeCounts>;

/// A manifestation in instructions of a type.
#[derive(Clone, Debug)]
pub struct CellPart {
    /// The manifestation, by its number in the table.
    pub manifestation: usize,
    /// How often it is in instructions of the type; nothing where no strike did it, and the campaign is for comparison.
    pub rate: RatePerInstruction,
    /// How many events that was estimated from, if it is known.
    pub events: Option<u64>,
    /// How its faults ended, by kernel; none if the program ends by itself.
    pub ends: Option<EndsByKernel>,
}

impl CellPart {
    /// How its faults ended.
    #[must_use]
    pub fn all(&self) -> OutcomeCounts {
        self.ends.iter().flat_map(BTreeMap::values).fold(OutcomeCounts::default(), |all, &ends| all.and(ends))
    }

    /// The chance of SDC.
    #[must_use]
    pub fn sdc(&self) -> Probability {
        self.chance(|ends| ends.sdc, 0.0)
    }

    /// The chance of another end.
    #[must_use]
    pub fn due(&self) -> Probability {
        self.chance(|ends| ends.due, 1.0)
    }

    fn chance(&self, of: fn(OutcomeCounts) -> u64, crash: f64) -> Probability {
        let all = self.all();
        if self.ends.is_some() {
            chance(of(all), all.undecided, all.runs())
        } else {
            Probability(Bounded::exact(crash))
        }
    }

    /// The chance that a fault somewhere in the application ends so, and in this kernel.
    fn in_kernel(&self, kernel: &str, of: fn(OutcomeCounts) -> u64) -> Probability {
        let own = self.ends.as_ref().and_then(|ends| ends.get(kernel)).copied().unwrap_or_default();
        chance(of(own), own.undecided, self.all().runs())
    }
}

/// A type of instructions in an application.
#[derive(Clone, Debug)]
pub struct TypePart {
    /// Its number in the table.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// f.
    pub fraction: Fraction,
    /// The share of what was measured.
    pub measured: Fraction,
    /// An error that all its rates share.
    pub error: Bounded,
    /// What strikes do to it.
    pub cells: Vec<CellPart>,
    /// The manifestation that stands for all where strikes are not asked, by its number in the table.
    pub uniform: Option<usize>,
}

impl TypePart {
    /// Its part of a rate of the application that `of` says of each cell.
    pub(super) fn rate(&self, of: impl Fn(&CellPart) -> RatePerInstruction) -> RatePerInstruction {
        let sum = RatePerInstruction::sum(self.cells.iter().map(of));
        sum.off_by(self.error).of(self.fraction)
    }

    /// Its part of the SDC rate of the application.
    #[must_use]
    pub fn sdc(&self) -> RatePerInstruction {
        self.rate(|cell| cell.rate.ending(cell.sdc()))
    }

    /// Its part of the rate of other ends.
    #[must_use]
    pub fn due(&self) -> RatePerInstruction {
        self.rate(|cell| cell.rate.ending(cell.due()))
    }

    /// Its part of the SDC rate if every flip came to the output.
    #[must_use]
    pub fn ipa_only(&self) -> RatePerInstruction {
        self.rate(|cell| if cell.ends.is_some() { cell.rate } else { RatePerInstruction::NEVER })
    }

    /// The chance of SDC of the manifestation that stands for all; none if the table has none, or no fault was made of it.
    #[must_use]
    pub fn apa_only(&self) -> Option<Probability> {
        self.cells.iter().find(|cell| Some(cell.manifestation) == self.uniform).map(CellPart::sdc)
    }

    fn in_kernel(&self, kernel: &str, of: fn(OutcomeCounts) -> u64) -> RatePerInstruction {
        self.rate(|cell| {
            if cell.ends.is_some() { cell.rate.ending(cell.in_kernel(kernel, of)) } else { RatePerInstruction::NEVER }
        })
    }
}

/// The reason for which a rate of the table is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotComposable {
    /// Nothing in the program can show it.
    NoSite,
    /// No run of it has come to an end that counts.
    NoRuns,
}

impl NotComposable {
    /// As tables say it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NoSite => "nothing in the program can show it",
            Self::NoRuns => "no run of it has ended yet",
        }
    }
}

/// A rate of the table that has no chances to go with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// The type.
    pub name: String,
    /// The manifestation.
    pub manifestation: String,
    /// The share of instructions whose rate lacks it.
    pub fraction: Fraction,
    /// The reason.
    pub why: NotComposable,
}

/// An application's rates, for one issued instruction of a multiprocessor in each cycle.
#[derive(Clone, Debug)]
pub struct Composition {
    /// By type, those that the application executes.
    pub types: Vec<TypePart>,
    /// The shares of its kernels.
    pub kernels: Vec<(String, Fraction)>,
    /// The share of instructions that have a rate.
    pub covered: Fraction,
    /// By instruction group, the share of those that have none, the largest first.
    pub left_out: Vec<(&'static str, Fraction)>,
    /// Rates that are left out.
    pub missing: Vec<Missing>,
}

impl Composition {
    /// Puts a table, what is executed, and how faults ended together; `ends` is by type and manifestation, and has nothing
    /// where no fault could be made.
    #[must_use]
    pub fn of(table: &IpaTable, shares: &Shares, ends: &BTreeMap<(usize, usize), EndsByKernel>) -> Self {
        let (mut types, mut missing) = (Vec::new(), Vec::new());
        for (number, it) in table.instructions.iter().enumerate() {
            let fraction = shares.of_type(number);
            if fraction.0 > 0.0 {
                types.push(type_part(table, (number, it), shares, ends, &mut missing));
            }
        }
        let mut left_out: Vec<_> =
            shares.left_out().into_iter().map(|(group, count)| (group, shares.fraction(count))).collect();
        left_out.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(b.0)));
        let kernels = shares.kernels.keys().map(|name| (name.clone(), shares.of_kernel(name))).collect();
        Self { types, kernels, covered: shares.covered(), left_out, missing }
    }

    /// The rate of SDC, Equation 1 without s.
    #[must_use]
    pub fn sdc(&self) -> RatePerInstruction {
        RatePerInstruction::sum(self.types.iter().map(TypePart::sdc))
    }

    /// The rate of other ends, of the bits that the table is about.
    #[must_use]
    pub fn due(&self) -> RatePerInstruction {
        RatePerInstruction::sum(self.types.iter().map(TypePart::due))
    }

    /// The rate of SDC if every flip came to the output.
    #[must_use]
    pub fn ipa_only(&self) -> RatePerInstruction {
        RatePerInstruction::sum(self.types.iter().map(TypePart::ipa_only))
    }

    /// The chance of SDC if all instructions were struck alike, and showed it alike; none if the table does not say how for one
    /// of the types that are executed.
    #[must_use]
    pub fn apa_only(&self) -> Option<Probability> {
        let parts = self.types.iter().map(|it| Some(it.apa_only()?.0.times(it.fraction.0)));
        Some(Probability(Bounded::sum(parts.collect::<Option<Vec<_>>>()?)))
    }

    /// The part of the SDC rate that comes from faults in a kernel: what protecting it would save.
    #[must_use]
    pub fn sdc_of(&self, kernel: &str) -> RatePerInstruction {
        RatePerInstruction::sum(self.types.iter().map(|it| it.in_kernel(kernel, |ends| ends.sdc)))
    }
}

fn type_part(
    table: &IpaTable,
    (number, it): (usize, &InstructionType),
    shares: &Shares,
    ends: &BTreeMap<(usize, usize), EndsByKernel>,
    missing: &mut Vec<Missing>,
) -> TypePart {
    let mut cells = Vec::new();
    for (manifestation, kind) in table.manifestations.iter().enumerate() {
        let (rate, events) = (it.rate(&kind.name), it.events(&kind.name));
        let found = ends.get(&(number, manifestation));
        let ended = found.filter(|ends| ends.values().any(|ends| ends.runs() > 0));
        match (rate, &kind.model, ended) {
            (Some(rate), None, _) => cells.push(CellPart { manifestation, rate, events, ends: None }),
            (rate, Some(_), Some(ends)) => {
                let rate = rate.unwrap_or(RatePerInstruction::NEVER);
                cells.push(CellPart { manifestation, rate, events, ends: Some(ends.clone()) });
            }
            (Some(_), Some(_), None) => missing.push(Missing {
                name: it.name.clone(),
                manifestation: kind.name.clone(),
                fraction: shares.of_type(number),
                why: if found.is_some() { NotComposable::NoRuns } else { NotComposable::NoSite },
            }),
            (None, _, _) => {}
        }
    }
    let uniform = it.uniform.as_ref().and_then(|name| table.manifestations.iter().position(|kind| kind.name == *name));
    TypePart {
        number,
        name: it.name.clone(),
        fraction: shares.of_type(number),
        measured: shares.measured(number),
        error: it.common_error(),
        cells,
        uniform,
    }
}

#[cfg(test)]
mod tests {
    use super::super::shares::Executed;
    use super::super::units::IssueRate;
    use super::*;

    const TABLE: &str = "name = 'x'\nsource = 'y'\nunit = 'relative'\nreference = 'z'\n\
        manifestation = [{ name = 'crash' }, { name = '1 bit', model = 'flip' }, { name = 'any', model = 'random' }]\n\
        [[instruction]]\nname = 'ADD'\nmeasured = ['int_add']\ntotal = 0.7\nuniform = '1 bit'\n\
        rates = { '1 bit' = 0.5, any = 0.2 }\n\
        [[instruction]]\nname = 'LDS'\nmeasured = ['load_shared']\ntotal = 0.4\nuniform = '1 bit'\n\
        rates = { crash = 0.3, '1 bit' = 0.1 }\n\
        [[instruction]]\nname = 'BRA'\nmeasured = ['branch']\ntotal = 0.2\nuniform = 'crash'\nrates = { crash = 0.2 }";

    fn ends(masked: u64, sdc: u64, due: u64) -> OutcomeCounts {
        OutcomeCounts { masked, sdc, due, undecided: 0 }
    }

    fn shares() -> Shares {
        let executed = |all, types: [u64; 3]| Executed {
            all,
            types: types.to_vec(),
            measured: types.to_vec(),
            left_out: [("store", 100)].into(),
        };
        let kernels =
            [("a".to_owned(), executed(600, [300, 100, 100])), ("b".to_owned(), executed(400, [100, 100, 100]))];
        Shares { kernels: kernels.into() }
    }

    fn composed() -> Composition {
        let table = IpaTable::read(TABLE).unwrap();
        let shares = shares();
        let of = |a: OutcomeCounts, b: OutcomeCounts| EndsByKernel::from([("a".to_owned(), a), ("b".to_owned(), b)]);
        let ends = BTreeMap::from([
            ((0, 1), of(ends(30, 40, 5), ends(10, 10, 5))),
            ((0, 2), of(ends(10, 60, 10), ends(10, 0, 10))),
            ((1, 1), of(ends(20, 20, 10), ends(10, 30, 10))),
        ]);
        Composition::of(&table, &shares, &ends)
    }

    #[test]
    fn equation_1_by_hand() {
        // f: ADD 0.4, LDS 0.2, BRA 0.2. pSDC: 50 of 100 and 60 of 100 in ADD, 50 of 100 in LDS.
        let found = composed();
        let near =
            |found: Bounded, expected: f64| assert!((found.value - expected).abs() < 1e-12, "{found:?} {expected}");
        let sdc = 0.4 * (0.5 * 0.5 + 0.2 * 0.6) + 0.2 * (0.1 * 0.5);
        near(found.sdc().0, sdc);
        near(found.sdc().at(IssueRate(2.5)).0, sdc * 2.5);
        // Crashes are not silent, and are ends for sure: pDUE is 10 and 20 of 100 in ADD, 20 of 100 in LDS.
        near(found.due().0, 0.4 * (0.5 * 0.1 + 0.2 * 0.2) + 0.2 * (0.3 + 0.1 * 0.2) + 0.2 * 0.2);
        near(found.ipa_only().0, 0.4 * 0.7 + 0.2 * 0.1);
        near(found.apa_only().unwrap().0, 0.4 * 0.5 + 0.2 * 0.5);
        assert!(found.sdc().0.low > 0.0 && found.sdc().0.high < found.ipa_only().0.value);
    }

    #[test]
    fn kernels_share_the_rate() {
        let found = composed();
        let [a, b] = ["a", "b"].map(|kernel| found.sdc_of(kernel).0.value);
        assert!((a - (0.4 * (0.5 * 0.4 + 0.2 * 0.6) + 0.2 * (0.1 * 0.2))).abs() < 1e-12);
        assert!((a + b - found.sdc().0.value).abs() < 1e-12);
        assert_eq!(found.kernels, [("a".to_owned(), Fraction(0.6)), ("b".to_owned(), Fraction(0.4))]);
    }

    #[test]
    fn what_has_no_rate_is_listed() {
        let found = composed();
        assert_eq!((found.covered, found.left_out.clone()), (Fraction(0.8), vec![("store", Fraction(0.2))]));
        assert!(found.missing.is_empty());
        let without = shares().without("store");
        assert_eq!((without.all(), without.of_type(0), without.covered()), (800, Fraction(0.5), Fraction(1.0)));
        assert_eq!(without.of_kernel("a"), Fraction(500.0 / 800.0));
        let table = IpaTable::read(TABLE).unwrap();
        let executed = Executed { all: 10, types: vec![10, 0, 0], measured: vec![4, 0, 0], ..Executed::default() };
        let shares = Shares { kernels: [("a".to_owned(), executed)].into() };
        let only = BTreeMap::from([((0, 1), EndsByKernel::from([("a".to_owned(), ends(5, 5, 0))]))]);
        let found = Composition::of(&table, &shares, &only);
        let expected = |why| Missing { name: "ADD".into(), manifestation: "any".into(), fraction: Fraction(1.0), why };
        assert_eq!((found.missing, found.types.len()), (vec![expected(NotComposable::NoSite)], 1));
        assert_eq!(found.types[0].measured, Fraction(0.4));
        // Runs that are still to come are no chance of nothing.
        let none_yet = [only, BTreeMap::from([((0, 2), EndsByKernel::new())])].into_iter().flatten().collect();
        let found = Composition::of(&table, &shares, &none_yet);
        assert_eq!(found.missing, [expected(NotComposable::NoRuns)]);
    }

    #[test]
    fn a_type_that_nothing_stands_for_has_no_apa_only() {
        let table = IpaTable::read(&TABLE.replace("total = 0.7\nuniform = '1 bit'", "total = 0.7")).unwrap();
        let executed = Executed { all: 10, types: vec![10, 0, 0], measured: vec![10, 0, 0], ..Executed::default() };
        let shares = Shares { kernels: [("a".to_owned(), executed)].into() };
        let all = EndsByKernel::from([("a".to_owned(), ends(0, 10, 0))]);
        let found = Composition::of(&table, &shares, &BTreeMap::from([((0, 1), all.clone()), ((0, 2), all)]));
        assert_eq!(found.apa_only(), None);
    }

    #[test]
    fn an_error_of_a_type_widens_the_bounds() {
        let text = TABLE.replace("total = 0.7", "total = 0.7\nerror = { below = 0.3, above = 0.5 }");
        let table = IpaTable::read(&text).unwrap();
        let executed = Executed { all: 10, types: vec![10, 0, 0], measured: vec![10, 0, 0], ..Executed::default() };
        let shares = Shares { kernels: [("a".to_owned(), executed)].into() };
        let all = EndsByKernel::from([("a".to_owned(), ends(0, 1_000_000, 0))]);
        let found = Composition::of(&table, &shares, &BTreeMap::from([((0, 1), all.clone()), ((0, 2), all)]));
        let Bounded { value, low, high } = found.sdc().0;
        assert!((value - 0.7).abs() < 1e-5 && (low - 0.49).abs() < 1e-4 && (high - 1.05).abs() < 1e-4, "{low} {high}");
    }
}
