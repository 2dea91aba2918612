//! Injection priority with early termination (thesis, Sections 3.3.3 and 3.4.4), replayed on outcomes that are there already.
//!
//! The pilots of an instruction run in an order, and the first one that corrupts an output ends the instruction. All orders follow
//! from one set of outcomes and cost no further runs. The thesis names schemes and says that 38 orders were made of them, without a
//! list: here they are each scheme in both directions, each kind of register before each ordered scheme, and bits before sizes.

use stats::Draws;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Add;
use std::str::FromStr;

use super::pilots::{EndedPilot, Pc, Pilot, Pilots, Question};

/// One scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    /// By the position of the bit.
    Bit { descending: bool },
    /// By the dynamic instance.
    Instance { descending: bool },
    /// By the size of the equivalence class.
    Size { descending: bool },
    /// Registers of one type first.
    Type { floats: bool },
    /// Operands of one kind first.
    Operand { sources: bool },
}

/// An order of the pilots of an instruction: by its schemes, the first one first; equal ones, and all of an order without schemes, at random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order(Vec<Scheme>);

/// Runs that an analysis with early termination takes, by how they end in the order of [`PilotEnd`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    of_decided: [u64; 3],
    of_others: [u64; 3],
}

impl Runs {
    /// Those of the instructions that a pilot decides, the SDC-PCs or those that are not approximable, until each is found.
    pub(super) fn of_decided(self) -> u64 {
        self.of_decided.iter().sum()
    }

    /// All, with those of the other instructions.
    pub(super) fn all(self) -> u64 {
        self.of_decided() + self.of_others.iter().sum::<u64>()
    }

    /// All, by how they end.
    pub(super) fn ends(self) -> [u64; 3] {
        std::array::from_fn(|end| self.of_decided[end] + self.of_others[end])
    }
}

impl Add for Runs {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |one: [u64; 3], two: [u64; 3]| std::array::from_fn(|end| one[end] + two[end]);
        Self { of_decided: sum(self.of_decided, other.of_decided), of_others: sum(self.of_others, other.of_others) }
    }
}

impl Scheme {
    fn key(self, pilot: &Pilot) -> (u64, u64) {
        let turned =
            |(first, second): (u64, u64), descending| if descending { (!first, !second) } else { (first, second) };
        match self {
            Self::Bit { descending } => turned((pilot.bit.into(), 0), descending),
            Self::Instance { descending } => turned((pilot.instance.0.into(), pilot.instance.1), descending),
            Self::Size { descending } => turned((pilot.size, 0), descending),
            Self::Type { floats } => ((pilot.is_float != floats).into(), 0),
            Self::Operand { sources } => ((pilot.is_source != sources).into(), 0),
        }
    }

    /// The schemes that order pilots, in both directions.
    fn ordered() -> [Self; 6] {
        let both = |scheme: fn(bool) -> Self| [scheme(false), scheme(true)];
        let [bit, instance, size] = [
            both(|descending| Self::Bit { descending }),
            both(|descending| Self::Instance { descending }),
            both(|descending| Self::Size { descending }),
        ];
        [bit[0], bit[1], instance[0], instance[1], size[0], size[1]]
    }

    /// The schemes that pick a kind of register.
    fn picking() -> [Self; 4] {
        [
            Self::Type { floats: false },
            Self::Type { floats: true },
            Self::Operand { sources: true },
            Self::Operand { sources: false },
        ]
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = |descending| if descending { "D" } else { "A" };
        match *self {
            Self::Bit { descending } => write!(f, "BitPos {}", direction(descending)),
            Self::Instance { descending } => write!(f, "DI {}", direction(descending)),
            Self::Size { descending } => write!(f, "ECS {}", direction(descending)),
            Self::Type { floats } => f.write_str(if floats { "RT Float" } else { "RT Int" }),
            Self::Operand { sources } => f.write_str(if sources { "OP Src" } else { "OP Dest" }),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("Random"),
            [one] => one.fmt(f),
            [first, rest @ ..] => rest.iter().fold(write!(f, "{first}"), |sofar, it| sofar.and(write!(f, " + {it}"))),
        }
    }
}

impl Order {
    /// The random order.
    pub(super) fn random() -> Self {
        Self(Vec::new())
    }

    /// The 38 orders of schemes.
    pub(super) fn all() -> Vec<Self> {
        let (ordered, picking) = (Scheme::ordered(), Scheme::picking());
        let singles = ordered.iter().chain(&picking).map(|&scheme| Self(vec![scheme]));
        let picked = picking.iter().flat_map(|&kind| ordered.iter().map(move |&by| Self(vec![kind, by])));
        let bits = ordered[..2].iter().flat_map(|&bit| ordered[4..].iter().map(move |&size| Self(vec![bit, size])));
        singles.chain(picked).chain(bits).collect()
    }

    /// The runs that this order takes for these instructions.
    pub(super) fn runs<'p>(&self, pilots: impl Instructions<'p>, question: Question, seed: u64) -> Runs {
        count(pilots, |own| {
            let found = own.iter().filter(|it| it.decides(question));
            let (first, it) = found.map(|it| (self.key(&it.pilot, seed), it)).min_by_key(|(key, _)| *key)?;
            let before = own.iter().filter(|it| self.key(&it.pilot, seed) < first);
            Some(ends(before.chain(std::iter::once(it))))
        })
    }

    /// What the pilots of an instruction are ordered by.
    pub(super) fn key(&self, pilot: &Pilot, seed: u64) -> Key {
        let key = |number: usize| self.0.get(number).map_or((0, 0), |scheme| scheme.key(pilot));
        (key(0), key(1), Draws::new(seed, pilot.run).draw(0), pilot.run)
    }
}

impl FromStr for Order {
    type Err = String;

    /// An order by its name, in small letters or capitals.
    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |text: &str| text.replace(' ', "").to_lowercase();
        let found = Self::all().into_iter().chain([Self::random()]).find(|it| plain(&it.to_string()) == plain(text));
        found.ok_or_else(|| {
            "expected random, BitPos, DI or ECS with A or D behind (`BitPos A`), `RT Int`, `RT Float`, `OP Src` or `OP Dest`, or two \
             joined by + as the table of orders has them"
                .to_owned()
        })
    }
}

/// The key by which pilots are sorted.
pub(super) type Key = ((u64, u64), (u64, u64), u64, u64);

/// Instructions, each with its pilots.
pub(super) trait Instructions<'p>: IntoIterator<Item = (&'p Pc, &'p Vec<EndedPilot>)> {}

impl<'p, I: IntoIterator<Item = (&'p Pc, &'p Vec<EndedPilot>)>> Instructions<'p> for I {}

/// All instructions but those that are skipped.
pub(super) fn without<'p>(pilots: &'p Pilots, skipped: &BTreeSet<Pc>) -> impl Instructions<'p> {
    pilots.iter().filter(move |(pc, _)| !skipped.contains(*pc))
}

/// The runs of all pilots, without early termination.
pub(super) fn whole<'p>(pilots: impl Instructions<'p>, question: Question) -> Runs {
    count(pilots, |own| own.iter().any(|it| it.decides(question)).then(|| ends(own)))
}

/// The runs of an oracle that decides an instruction with one run, if one can.
pub(super) fn best<'p>(pilots: impl Instructions<'p>, question: Question) -> Runs {
    count(pilots, |own| own.iter().find(|it| it.decides(question)).map(|it| ends([it])))
}

/// The runs of an oracle that puts off the run that decides to the end.
pub(super) fn worst<'p>(pilots: impl Instructions<'p>, question: Question) -> Runs {
    count(pilots, |own| {
        let found = own.iter().find(|it| it.decides(question))?;
        Some(ends(own.iter().filter(|it| !it.decides(question)).chain(std::iter::once(found))))
    })
}

/// Adds the runs of instructions: `found` says which runs decide one, if any does.
fn count<'p>(pilots: impl Instructions<'p>, found: impl Fn(&[EndedPilot]) -> Option<[u64; 3]>) -> Runs {
    let runs = |(_, own): (&Pc, &'p Vec<EndedPilot>)| match found(own) {
        Some(of_decided) => Runs { of_decided, ..Runs::default() },
        None => Runs { of_others: ends(own), ..Runs::default() },
    };
    pilots.into_iter().map(runs).fold(Runs::default(), Add::add)
}

/// How many pilots end in each way.
fn ends<'p>(pilots: impl IntoIterator<Item = &'p EndedPilot>) -> [u64; 3] {
    let mut ends = [0; 3];
    pilots.into_iter().for_each(|it| ends[it.end as usize] += 1);
    ends
}

#[cfg(test)]
mod tests {
    use super::super::pilots::PilotEnd;
    use super::*;

    const QUESTION: Question = Question::Corrupting;

    fn pilot(run: u64, bit: u32, size: u64, end: PilotEnd, decides: bool) -> EndedPilot {
        let (is_float, is_source) = (run.is_multiple_of(2), run > 3);
        let pilot = Pilot { run, bit, instance: (0, 100 - run), size, is_float, is_source };
        EndedPilot { pilot, end, decides: [decides, false] }
    }

    /// Of one instruction the third of four bits decides, of another none of two.
    fn pilots() -> Pilots {
        use PilotEnd::{Corrupted, Detected, Masked};
        let own = |first: u64, ends: &[(PilotEnd, bool)]| {
            let each = (0..)
                .zip(ends)
                .map(|(bit, &(end, decides))| pilot(first + u64::from(bit), bit, 7 - u64::from(bit), end, decides));
            each.collect::<Vec<_>>()
        };
        let pc = |number| ("k".to_owned(), number);
        Pilots::from([
            (pc(1), own(0, &[(Masked, false), (Corrupted, false), (Corrupted, true), (Detected, false)])),
            (pc(2), own(4, &[(Masked, false), (Corrupted, false)])),
        ])
    }

    #[test]
    fn there_are_38_orders_of_different_names_that_are_read_again() {
        let all = Order::all();
        let names: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), Order::random().to_string().as_str()), (38, "Random"));
        for name in ["BitPos A", "RT Float", "OP Dest + DI D", "BitPos A + ECS D"] {
            assert!(names.contains(name), "{names:?}");
        }
        assert!(all.iter().all(|order| order.to_string().parse().as_ref() == Ok(order)));
        assert_eq!(("random".parse(), "bitpos a+ecs d".parse()), (Ok(Order::random()), Ok(all[35].clone())));
        assert!("by luck".parse::<Order>().is_err());
    }

    #[test]
    fn an_order_ends_an_instruction_at_its_first_corruption() {
        let (pilots, all) = (pilots(), Order::all());
        let of = |name: &str| {
            let runs = all.iter().find(|it| it.to_string() == name).unwrap().runs(&pilots, QUESTION, 1);
            assert_eq!(runs.all(), runs.of_decided() + 2);
            runs.of_decided()
        };
        assert_eq!(["BitPos A", "BitPos D", "ECS A", "ECS D"].map(of), [3, 2, 2, 3]);
        assert_eq!(["DI A", "DI D", "OP Src + BitPos A"].map(of), [2, 3, 3]);
        // Two of four hold floating-point numbers; the corruption is the second of them.
        assert_eq!(["RT Float + BitPos A", "RT Float + BitPos D", "RT Int + BitPos D"].map(of), [2, 1, 3]);
        let oracles = [best(&pilots, QUESTION), worst(&pilots, QUESTION), whole(&pilots, QUESTION)];
        assert_eq!(oracles.map(Runs::of_decided), [1, 4, 4]);
        // Masked, detected and corrupted ones, with the two of the other instruction.
        assert_eq!([oracles[0], oracles[2]].map(Runs::ends), [[1, 0, 2], [2, 1, 3]]);
        let others = Order::random().runs(without(&pilots, &[("k".to_owned(), 1)].into()), QUESTION, 1);
        assert_eq!((others.of_decided(), others.all(), (oracles[0] + others).all()), (0, 2, 5));
    }

    #[test]
    fn a_random_order_takes_as_many_runs_as_expected() {
        // Of n pilots s corrupt: the first is found after (n + 1) / (s + 1) runs in the mean.
        let own = (0..19).map(|run| pilot(run, 0, 1, PilotEnd::Corrupted, run < 3)).collect();
        let pilots = Pilots::from([(("k".to_owned(), 0), own)]);
        let seeds = 20_000;
        let total: u64 = (0..seeds).map(|seed| Order::random().runs(&pilots, QUESTION, seed).all()).sum();
        let mean = total as f64 / seeds as f64;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
    }
}
