//! Injection priority with early termination (thesis, Sections 3.3.3 and 3.4.4), replayed on outcomes that are there already.
//!
//! The pilots of an instruction run in an order, and the first one that corrupts an output ends the instruction. All orders follow
//! from one set of outcomes and cost no further runs. The thesis names schemes and says that 38 orders were made of them, without a
//! list: here they are each scheme in both directions, each kind of register before each ordered scheme, and bits before sizes.

use stats::Draws;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Add;

/// A kernel, and the number of an instruction in it.
pub(super) type Pc = (String, u32);

/// A pilot that ended, with all that orders ask of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pilot {
    /// The number of its run.
    pub(super) run: u64,
    /// The bit that it flips.
    pub(super) bit: u32,
    /// The launch and the dynamic instruction of the thread.
    pub(super) instance: (u32, u64),
    /// The sites of its class in this bit.
    pub(super) size: u64,
    /// Whether the register holds a floating-point number.
    pub(super) is_float: bool,
    /// Whether the register is read, and not written.
    pub(super) is_source: bool,
    /// How it ended.
    pub(super) end: PilotEnd,
}

/// How a pilot ended: the outcome categories of Equation 3.1, output corruptions divided by whether they make an SDC-PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PilotEnd {
    /// The outputs are those of the golden run.
    Masked,
    /// The run did not end normally.
    Detected,
    /// The outputs differ, within their tolerance or so that a check notices.
    Tolerated,
    /// The outputs differ, and no criterion accepts them as good.
    Corrupting,
}

/// By instruction, the pilots of an analysis.
pub(super) type Pilots = BTreeMap<Pc, Vec<Pilot>>;

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
    of_sdc_pcs: [u64; 4],
    of_others: [u64; 4],
}

impl Runs {
    /// Until every SDC-PC is found, in these alone.
    pub(super) fn of_sdc_pcs(self) -> u64 {
        self.of_sdc_pcs.iter().sum()
    }

    /// All, with those of the instructions that are no SDC-PCs.
    pub(super) fn all(self) -> u64 {
        self.of_sdc_pcs() + self.of_others.iter().sum::<u64>()
    }

    /// All, by how they end.
    pub(super) fn ends(self) -> [u64; 4] {
        std::array::from_fn(|end| self.of_sdc_pcs[end] + self.of_others[end])
    }
}

impl Add for Runs {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |one: [u64; 4], two: [u64; 4]| std::array::from_fn(|end| one[end] + two[end]);
        Self { of_sdc_pcs: sum(self.of_sdc_pcs, other.of_sdc_pcs), of_others: sum(self.of_others, other.of_others) }
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

    /// The runs that this order takes; `skipped` are instructions of which none is run.
    pub(super) fn runs(&self, pilots: &Pilots, seed: u64, skipped: impl Fn(&Pc) -> bool) -> Runs {
        count(pilots, skipped, |own| {
            let mut first = None;
            for key in own.iter().filter(|it| it.corrupts()).map(|it| self.key(it, seed)) {
                first = Some(first.map_or(key, |first: Key| first.min(key)));
            }
            let first = first?;
            let mut ends = ends(own.iter().filter(|it| self.key(it, seed) < first));
            ends[PilotEnd::Corrupting as usize] += 1;
            Some(ends)
        })
    }

    fn key(&self, pilot: &Pilot, seed: u64) -> Key {
        let key = |number: usize| self.0.get(number).map_or((0, 0), |scheme| scheme.key(pilot));
        (key(0), key(1), Draws::new(seed, pilot.run).draw(0), pilot.run)
    }
}

/// What the pilots of an instruction are ordered by.
type Key = ((u64, u64), (u64, u64), u64, u64);

/// The runs of all pilots, without early termination.
pub(super) fn whole(pilots: &Pilots) -> Runs {
    count(pilots, |_| false, |own| own.iter().any(Pilot::corrupts).then(|| ends(own.iter())))
}

/// The runs of an oracle that finds each SDC-PC with one run.
pub(super) fn best(pilots: &Pilots) -> Runs {
    count(pilots, |_| false, |own| own.iter().find(|it| it.corrupts()).map(|it| ends(std::iter::once(it))))
}

/// The runs of an oracle that puts off each corruption to the end.
pub(super) fn worst(pilots: &Pilots) -> Runs {
    count(
        pilots,
        |_| false,
        |own| {
            let found = own.iter().find(|it| it.corrupts())?;
            Some(ends(own.iter().filter(|it| !it.corrupts()).chain(std::iter::once(found))))
        },
    )
}

/// Adds the runs of instructions: `found` says which runs find a corruption of one, if it has any.
fn count(pilots: &Pilots, skipped: impl Fn(&Pc) -> bool, found: impl Fn(&[Pilot]) -> Option<[u64; 4]>) -> Runs {
    let mut runs = Runs::default();
    for (_, own) in pilots.iter().filter(|(pc, _)| !skipped(pc)) {
        let one = match found(own) {
            Some(of_sdc_pcs) => Runs { of_sdc_pcs, ..Runs::default() },
            None => Runs { of_others: ends(own.iter()), ..Runs::default() },
        };
        runs = runs + one;
    }
    runs
}

/// How many pilots end in each way.
fn ends<'p>(pilots: impl Iterator<Item = &'p Pilot>) -> [u64; 4] {
    pilots.fold([0; 4], |mut ends, pilot| {
        ends[pilot.end as usize] += 1;
        ends
    })
}

impl Pilot {
    /// Whether it makes its instruction an SDC-PC.
    pub(super) fn corrupts(&self) -> bool {
        self.end == PilotEnd::Corrupting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn pilot(run: u64, bit: u32, size: u64, end: PilotEnd) -> Pilot {
        let (is_float, is_source) = (run.is_multiple_of(2), run > 3);
        Pilot { run, bit, instance: (0, 100 - run), size, is_float, is_source, end }
    }

    /// Of one instruction the third of four bits corrupts, of another none of two.
    fn pilots() -> Pilots {
        let own = |first: u64, ends: &[PilotEnd]| {
            let each = (0..).zip(ends).map(|(bit, &end)| pilot(first + u64::from(bit), bit, 7 - u64::from(bit), end));
            each.collect::<Vec<_>>()
        };
        use PilotEnd::{Corrupting, Detected, Masked, Tolerated};
        let pc = |number| ("k".to_owned(), number);
        BTreeMap::from([
            (pc(1), own(0, &[Masked, Tolerated, Corrupting, Detected])),
            (pc(2), own(4, &[Masked, Tolerated])),
        ])
    }

    #[test]
    fn there_are_38_orders_of_different_names() {
        let names: BTreeSet<String> = Order::all().iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), Order::random().to_string().as_str()), (38, "Random"));
        for name in ["BitPos A", "RT Float", "OP Dest + DI D", "BitPos A + ECS D"] {
            assert!(names.contains(name), "{names:?}");
        }
    }

    #[test]
    fn an_order_ends_an_instruction_at_its_first_corruption() {
        let (pilots, all) = (pilots(), Order::all());
        let of = |name: &str| {
            let runs = all.iter().find(|it| it.to_string() == name).unwrap().runs(&pilots, 1, |_| false);
            assert_eq!(runs.all(), runs.of_sdc_pcs() + 2);
            runs.of_sdc_pcs()
        };
        assert_eq!(["BitPos A", "BitPos D", "ECS A", "ECS D"].map(of), [3, 2, 2, 3]);
        assert_eq!(["DI A", "DI D", "OP Src + BitPos A"].map(of), [2, 3, 3]);
        // Two of four hold floating-point numbers; the corruption is the second of them.
        assert_eq!(["RT Float + BitPos A", "RT Float + BitPos D", "RT Int + BitPos D"].map(of), [2, 1, 3]);
        assert_eq!([best(&pilots), worst(&pilots), whole(&pilots)].map(Runs::of_sdc_pcs), [1, 4, 4]);
        // Masked, detected, tolerated and corrupting ones, with the two of the other instruction.
        assert_eq!([best(&pilots), whole(&pilots)].map(Runs::ends), [[1, 0, 1, 1], [2, 1, 2, 1]]);
        let others = Order::random().runs(&pilots, 1, |pc| pc.1 == 1);
        assert_eq!((others.of_sdc_pcs(), others.all(), (best(&pilots) + others).all()), (0, 2, 5));
    }

    #[test]
    fn a_random_order_takes_as_many_runs_as_expected() {
        // Of n pilots s corrupt: the first is found after (n + 1) / (s + 1) runs in the mean.
        let ends = |run| if run < 3 { PilotEnd::Corrupting } else { PilotEnd::Masked };
        let own = (0..19).map(|run| pilot(run, 0, 1, ends(run))).map(|it| Pilot { instance: (0, 0), ..it }).collect();
        let pilots = BTreeMap::from([(("k".to_owned(), 0), own)]);
        let seeds = 20_000;
        let total: u64 = (0..seeds).map(|seed| Order::random().runs(&pilots, seed, |_| false).all()).sum();
        let mean = total as f64 / seeds as f64;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
    }
}
