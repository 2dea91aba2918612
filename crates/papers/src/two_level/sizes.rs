//! Programs of which the paper says something that does not hold here, at other sizes.

use campaign::SelectionWords;
use methods::kit::{MethodSettings, OpenedCapsule, Realised, StudyError};
use methods::two_level::{Cells, Composition, Settings, TwoLevel};
use outcome::Criteria;
use stats::Bounded;
use study::{Cell, Table};

use super::survey::Measured;
use super::tables::{quantity, rate};
use crate::page::PageContext;
use crate::words::{listed, many, of};

/// The programs, each with a smaller and a larger input.
const INPUTS: [(&str, [&str; 2]); 3] = [
    ("lud", ["rows=48", "rows=256"]),
    ("backprop", ["inputs=250,steps=3", "inputs=4000,steps=3"]),
    ("lulesh", ["side=4,steps=12", "side=10,steps=12"]),
];

/// Seeds from here on are of these campaigns; those of workloads are below.
const SEED: u64 = 2_000_000;

/// A program at one size.
pub(super) struct SizedWorkload {
    name: &'static str,
    input: String,
    /// Thread instructions of the run without a fault.
    instructions: u64,
    composition: Composition,
}

/// Measures the programs at the other sizes, as many faults of each type and manifestation as `runs` says.
pub(super) fn measure(shop: &mut PageContext<'_, '_>, runs: u64) -> Result<Vec<SizedWorkload>, StudyError> {
    let mut found = Vec::new();
    for (name, inputs) in INPUTS {
        let opened = shop.workloads.inputs(name, Criteria::default())?;
        for input in inputs {
            let refused = |why: String| StudyError::Words(format!("run {name} with {input}: {why}"));
            let point = opened.space().parse(input).map_err(|error| refused(error.to_string()))?;
            let capsule = match opened.realise(&point)? {
                Realised::Ready(capsule, _) => capsule,
                Realised::Not(why) | Realised::NotNow(why) => return Err(refused(why)),
            };
            let seed = SEED + found.len() as u64;
            let composition = compose(shop, &capsule, runs, seed)?;
            let instructions = capsule.golden_run().thread_instructions();
            found.push(SizedWorkload { name, input: input.to_owned(), instructions, composition });
        }
    }
    Ok(found)
}

fn compose(
    shop: &mut PageContext<'_, '_>,
    capsule: &OpenedCapsule,
    runs: u64,
    seed: u64,
) -> Result<Composition, StudyError> {
    let settings = Settings { cells: Cells::Rated, issue: "none".to_owned(), ..Settings::default() };
    let words = SelectionWords { method: Some(settings.choice()), ..SelectionWords::default() };
    let method = TwoLevel::new(capsule, &words)?;
    let all = runs * method.cells() as u64;
    let results = shop.campaigns.in_memory(capsule, Some(&method), words, all, seed)?;
    Ok(method.compose(&results)?.0)
}

/// A program at one size: the bundled one or another.
struct Line<'m> {
    workload: &'m Measured,
    input: &'m str,
    instructions: u64,
    composition: &'m Composition,
    /// Places by the chance of APA only and by the two-level rate, the highest first, among the workloads of the paper, all others at
    /// their bundled size.
    ranks: [usize; 2],
}

impl Line<'_> {
    fn apa_only(composition: &Composition) -> Bounded {
        composition.apa_only().map_or(Bounded::ZERO, |chance| chance.0)
    }

    fn two_level(&self) -> Option<Bounded> {
        Some(self.composition.sdc().at(self.workload.issue[0].as_ref()?.get()).0)
    }
}

/// The programs at all sizes, the bundled one first.
fn lines<'m>(all: &'m [Measured], sized: &'m [SizedWorkload]) -> Vec<Line<'m>> {
    let mut lines = Vec::new();
    for (name, _) in INPUTS {
        let Some(workload) = all.iter().find(|it| it.name == name) else { continue };
        let bundled = ("as bundled", workload.instructions, &workload.composition);
        let others = sized.iter().filter(|it| it.name == name);
        let others = others.map(|it| (it.input.as_str(), it.instructions, &it.composition));
        for (input, instructions, composition) in std::iter::once(bundled).chain(others) {
            let mut line = Line { workload, input, instructions, composition, ranks: [0; 2] };
            let own = [Line::apa_only(composition), line.two_level().unwrap_or(Bounded::ZERO)].map(|it| it.value);
            let rivals = all.iter().filter(|it| it.paper.is_some() && it.name != name);
            for it in rivals {
                let theirs = [it.apa_only(), it.two_level(0).unwrap_or(Bounded::ZERO)].map(|it| it.value);
                for (rank, (theirs, own)) in line.ranks.iter_mut().zip(theirs.into_iter().zip(own)) {
                    *rank += usize::from(theirs > own);
                }
            }
            lines.push(line);
        }
    }
    lines
}

/// The workloads of the paper.
fn rivals(all: &[Measured]) -> usize {
    all.iter().filter(|it| it.paper.is_some()).count()
}

/// The programs at all sizes.
pub(super) fn table(all: &[Measured], sized: &[SizedWorkload]) -> Table {
    let columns = ["workload", "input", "instructions", "APA only", "place", "two-level", "place"];
    let mut table = Table::new("Sizes", &columns);
    let hotspot = all.iter().find(|it| it.name == "hotspot").and_then(|it| it.two_level(0));
    let unit = hotspot.map_or(1.0, |it| 1.0 / it.value);
    let place = |rank: usize| Cell::Text(of(rank + 1, rivals(all)));
    table.rows.extend(lines(all, sized).iter().map(|it| {
        vec![
            Cell::text(it.workload.name),
            Cell::text(it.input),
            Cell::Count(it.instructions),
            rate(Line::apa_only(it.composition)),
            place(it.ranks[0]),
            quantity(it.two_level().map(|it| it.times(unit))),
            place(it.ranks[1]),
        ]
    }));
    table
}

/// At how many sizes each program is in the lower half.
pub(super) fn sentence(all: &[Measured], sized: &[SizedWorkload]) -> String {
    let lines = lines(all, sized);
    let half = rivals(all).div_ceil(2);
    let low = |name: &str, by: usize| {
        let own: Vec<&Line<'_>> = lines.iter().filter(|it| it.workload.name == name).collect();
        of(own.iter().filter(|it| it.ranks[by] >= half).count(), own.len())
    };
    let by = |by: usize| listed(INPUTS.map(|(name, _)| format!("{name} at {}", low(name, by))));
    format!(
        "{} are measured at other sizes. In the lower half by APA only are {} sizes; by the two-level rate {}",
        many(INPUTS.len(), "program"),
        by(0),
        by(1)
    )
}
