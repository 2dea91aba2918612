//! Tuning curves: how much protection costs for a coverage of the output corruptions (thesis, Sections 2.3.4 and 2.5.3).
//!
//! Protecting a static instruction costs each of its dynamic instructions once more, and covers all of its sites. Sites whose
//! corruption is tolerated are covered without protection, as in the example of Section 2.5.3.

use serde_json::{Value, json};
use stats::{Cover, Knapsack, KnapsackItem};
use std::collections::BTreeSet;
use study::{Cell, Mark, Plot, Point, Series, Table, Vertical};

use super::ends::{EndCounts, SiteEnd};
use super::instructions::InstructionSites;

/// The coverages of the table, in thousandths of the output corruptions.
const SHOWN: [u64; 4] = [900, 950, 990, 1000];

/// The bins that the table and the plot show, at most.
const MOST_BINS: usize = 5;

/// The output corruptions that the user accepts without protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tolerance {
    /// None.
    Nothing,
    /// Good ones, and those that a check of the output notices.
    Negligible,
    /// Also those whose quality bin is at most this one.
    Bins(u8),
}

/// The cost of protection by coverage.
pub(super) struct Curve {
    tolerance: Tolerance,
    /// The sites that have to be protected.
    sites: u64,
    /// The static instructions that have such sites.
    instructions: u64,
    points: Vec<CurvePoint>,
}

/// The cheapest protection for a coverage.
struct CurvePoint {
    /// The coverage, in thousandths of the output corruptions.
    coverage: u64,
    /// Its items are instructions.
    cover: Cover,
}

/// The curves of a program, and what their shares are of.
pub(super) struct Curves<'a> {
    all: Vec<Curve>,
    instructions: &'a [InstructionSites],
    corruptions: u64,
    executed: u64,
    open: u64,
}

impl Tolerance {
    /// Those that make a difference for such sites.
    fn all(ends: &EndCounts) -> Vec<Self> {
        let bins = ends.bins().map(|(bin, _)| Self::Bins(bin));
        [Self::Nothing, Self::Negligible].into_iter().chain(bins).collect()
    }

    /// Whether a site that ends like this has to be protected. A corruption that no criterion judges always has.
    fn leaves(self, end: SiteEnd) -> bool {
        match (self, end) {
            (Self::Nothing, end) => end.is_corruption(),
            (Self::Bins(most), SiteEnd::Maybe(Some(bin))) => bin > most,
            (_, end) => matches!(end, SiteEnd::Bad | SiteEnd::Maybe(_)),
        }
    }

    /// The name of its curve: what is protected.
    fn name(self) -> String {
        match self {
            Self::Nothing => "all output corruptions".to_owned(),
            Self::Negligible => "SDC-Bad + SDC-Maybe".to_owned(),
            Self::Bins(bin) => format!("SDC-Bad + SDC-Maybe above bin {bin}"),
        }
    }
}

impl Curve {
    fn of(tolerance: Tolerance, instructions: &[InstructionSites], corruptions: u64) -> Self {
        let to_protect = |it: &InstructionSites| it.ends.count(|end| tolerance.leaves(end));
        let item = |it: &InstructionSites| KnapsackItem { cost: it.executed, value: to_protect(it) };
        let knapsack = Knapsack::new(instructions.iter().map(item));
        let sites = knapsack.value();
        let fine = (0..100).map(|percent| percent * 10).chain((990..=1000).skip(1));
        let point = |coverage: u64| {
            let demand = (u128::from(corruptions) * u128::from(coverage)).div_ceil(1000) as u64;
            let cover = knapsack.cover(demand.saturating_sub(corruptions - sites))?;
            Some(CurvePoint { coverage, cover })
        };
        let instructions = instructions.iter().filter(|it| to_protect(it) > 0).count() as u64;
        Self { tolerance, sites, instructions, points: fine.filter_map(point).collect() }
    }

    fn at(&self, coverage: u64) -> Option<&CurvePoint> {
        self.points.iter().find(|point| point.coverage == coverage)
    }

    fn cost(&self, coverage: u64) -> Option<u64> {
        self.at(coverage).map(|point| point.cover.cost)
    }
}

impl<'a> Curves<'a> {
    /// Of these instructions.
    pub(super) fn of(instructions: &'a [InstructionSites]) -> Self {
        let ends: EndCounts = instructions.iter().map(|it| &it.ends).collect();
        let corruptions = ends.count(SiteEnd::is_corruption);
        let curve = |tolerance| Curve::of(tolerance, instructions, corruptions);
        Self {
            all: Tolerance::all(&ends).into_iter().map(curve).collect(),
            instructions,
            corruptions,
            executed: instructions.iter().map(|it| it.executed).sum(),
            open: ends.count(|end| matches!(end, SiteEnd::NotCovered | SiteEnd::Undecided)),
        }
    }

    /// The curves that are shown: of many bins some, the least and the greatest among them.
    fn shown(&self) -> Vec<&Curve> {
        let (first, bins) = self.all.split_at(self.all.len().min(2));
        let step = |at: usize| at * (bins.len() - 1) / (MOST_BINS - 1);
        let some: BTreeSet<usize> = match bins.len() {
            0..=MOST_BINS => (0..bins.len()).collect(),
            _ => (0..MOST_BINS).map(step).collect(),
        };
        first.iter().chain(some.into_iter().map(|at| &bins[at])).collect()
    }

    fn share(&self, cost: u64) -> f64 {
        cost as f64 / self.executed.max(1) as f64
    }

    /// The cost at some coverages.
    pub(super) fn table(&self) -> Table {
        let columns =
            ["protected", "their sites", "instructions", "cost for 90 %", "for 95 %", "for 99 %", "for 100 %"];
        let mut table =
            Table::new("The cost of protecting instructions, by coverage of the output corruptions", &columns);
        table.columns.push("saved at 99 %".to_owned());
        let all = self.all.first().and_then(|curve| curve.cost(990));
        let cell = |cost: Option<u64>| cost.map_or(Cell::None, |cost| Cell::Share(self.share(cost)));
        let row = |curve: &&Curve| {
            let sites = Cell::Share(curve.sites as f64 / self.corruptions.max(1) as f64);
            let mut cells = vec![Cell::text(curve.tolerance.name()), sites, Cell::Count(curve.instructions)];
            cells.extend(SHOWN.map(|coverage| cell(curve.cost(coverage))));
            let saved = all.zip(curve.cost(990)).map(|(all, cost)| all.saturating_sub(cost));
            cells.push(if curve.tolerance == Tolerance::Nothing { Cell::None } else { cell(saved) });
            cells
        };
        table.rows = self.shown().iter().map(row).collect();
        table.notes = self.notes();
        table
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!(
                "Cost: the dynamic instructions of the protected static instructions, each executed once more, as a share of all \
                 {}; the cheapest choice of static instructions. Saved: how much of that share the user gets back by accepting \
                 the other corruptions.",
                study::spaced(self.executed)
            ),
            "Coverage: of all output corruptions, those in protected instructions and those that need no protection, because \
             they are SDC-Good, DDC or in an accepted bin."
                .to_owned(),
        ];
        if self.open > 0 {
            notes.push(format!(
                "{} error sites of unknown outcome count as no output corruptions here.",
                study::spaced(self.open)
            ));
        }
        let gap = self.all.iter().flat_map(|curve| &curve.points).map(|it| self.share(it.cover.cost - it.cover.least));
        let gap = gap.fold(0.0, f64::max);
        if gap > 0.0 {
            notes.push(format!("The cheapest choice may cost up to {:.3} % less than some costs here.", gap * 100.0));
        }
        notes
    }

    /// The curves as a picture.
    pub(super) fn plot(&self, name: &str) -> Plot {
        // A legend has little room.
        let series = |curve: &&Curve| Series {
            name: curve.tolerance.name().replace("SDC-", ""),
            mark: Mark::Steps,
            points: curve.points.iter().map(|it| self.point(it)).collect(),
        };
        Plot {
            name: "tuning".to_owned(),
            title: format!("{name}: the cost of protection by coverage"),
            x: "coverage of output corruptions, %".to_owned(),
            logarithmic: false,
            names: Vec::new(),
            y: "dynamic instructions protected, %".to_owned(),
            vertical: Vertical::Shares,
            series: self.shown().iter().map(series).collect(),
        }
    }

    fn point(&self, point: &CurvePoint) -> Point {
        Point { x: point.coverage as f64 / 10.0, y: self.share(point.cover.cost), bounds: None }
    }

    /// As the document has it.
    pub(super) fn document(&self, kernel: impl Fn(u32) -> String) -> Value {
        let chosen = |point: &CurvePoint| -> Vec<Value> {
            let of = |&number: &usize| self.instructions.get(number);
            let named = |it: &InstructionSites| json!({ "kernel": kernel(it.kernel), "pc": it.pc });
            point.cover.items.iter().filter_map(of).map(named).collect()
        };
        let point = |point: &CurvePoint| {
            let CurvePoint { coverage, cover } = point;
            let mut value = json!({
                "coverage": *coverage as f64 / 1000.0,
                "cost": self.share(cover.cost),
                "executed": cover.cost,
                "executed_at_least": cover.least,
                "sites": cover.value,
            });
            if SHOWN.contains(coverage) {
                value["instructions"] = json!(chosen(point));
            }
            value
        };
        let curve = |curve: &Curve| {
            let accepted = match curve.tolerance {
                Tolerance::Nothing => json!("nothing"),
                Tolerance::Negligible => json!("negligible"),
                Tolerance::Bins(bin) => json!({ "bin": bin }),
            };
            json!({
                "protected": curve.tolerance.name(),
                "accepted": accepted,
                "sites": curve.sites,
                "instructions": curve.instructions,
                "points": curve.points.iter().map(point).collect::<Vec<_>>(),
            })
        };
        json!({
            "executed": self.executed,
            "corruptions": self.corruptions,
            "unknown": self.open,
            "curves": self.all.iter().map(curve).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn instruction(pc: u32, executed: u64, ends: &[(SiteEnd, u64)]) -> InstructionSites {
        let mut counts = EndCounts::default();
        ends.iter().for_each(|&(end, sites)| counts.add(end, sites));
        InstructionSites {
            kernel: 0,
            pc,
            mnemonic: "fma.rn.f32".into(),
            group: "FP".into(),
            source: None,
            executed,
            operands: BTreeMap::new(),
            ends: counts,
        }
    }

    /// Section 2.5.3: A has 30 of 100 output corruptions with a loss of 1 %, B 20 with one of 4 %. Bins are of a percent.
    #[test]
    fn the_example_of_the_thesis_costs_fifteen_percent_and_ten_with_a_loss_allowed() {
        let program = [
            instruction(0, 5, &[(SiteEnd::Maybe(Some(1)), 30), (SiteEnd::Masked, 5)]),
            instruction(1, 10, &[(SiteEnd::Maybe(Some(4)), 20)]),
            instruction(2, 85, &[(SiteEnd::Bad, 50), (SiteEnd::Detected, 7)]),
        ];
        let curves = Curves::of(&program);
        let cost = |curve: usize, coverage| curves.all[curve].cost(coverage).unwrap();
        assert_eq!(
            curves.all.iter().map(|curve| curve.tolerance).collect::<Vec<_>>(),
            [Tolerance::Nothing, Tolerance::Negligible, Tolerance::Bins(1), Tolerance::Bins(4)]
        );
        assert_eq!((cost(0, 500), cost(1, 500), cost(2, 500), cost(3, 500)), (15, 15, 10, 0));
        assert_eq!((cost(0, 1000), cost(2, 1000), cost(3, 1000)), (100, 95, 85));
        assert_eq!(cost(0, 300), 5);
    }

    #[test]
    fn unjudged_corruptions_are_protected_whatever_bin_is_accepted() {
        let program = [
            instruction(0, 1, &[(SiteEnd::Maybe(None), 3), (SiteEnd::Maybe(Some(2)), 1)]),
            instruction(1, 2, &[(SiteEnd::Good, 3), (SiteEnd::Detectable, 1)]),
            instruction(2, 4, &[(SiteEnd::NotCovered, 9)]),
        ];
        let curves = Curves::of(&program);
        let most: Vec<u64> = curves.all.iter().map(|curve| curve.cost(1000).unwrap()).collect();
        assert_eq!((most, curves.corruptions, curves.open), (vec![3, 1, 1], 8, 9));
        assert!(curves.notes().iter().any(|note| note.contains("9 error sites")));
    }

    #[test]
    fn a_program_without_corruptions_costs_nothing() {
        let curves = Curves::of(&[]);
        assert!(curves.all.iter().all(|curve| curve.cost(1000) == Some(0)));
        assert_eq!(curves.table().rows.len(), 2);
    }
}
