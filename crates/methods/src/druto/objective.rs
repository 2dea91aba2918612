//! The objectives of a search, and the value that the runs of an input have for each.

use fault::InstructionClass;
use inject::Golden;
use stats::Bounded;
use std::collections::BTreeMap;

use super::ends::{Rate, Tally};
use super::executed::Executed;
use crate::two_level::IpaTable;

/// The aim of a search.
#[derive(Clone, Debug)]
pub(super) enum Objective {
    /// The fitness of Equation 1, without faults.
    Proxy,
    /// The rate of silent data corruption.
    Sdc,
    /// That rate times the dynamic instructions of all threads: corruptions of a run of the application.
    SdcTime,
    /// The rate of detected errors.
    Due,
    /// The rate of silent data corruption of a run of the application, at the rates of strikes of a table.
    Fit(IpaTable),
}

/// How often strikes hit the instructions of an input, by the types of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Exposure {
    /// By type: its rate times its dynamic instructions.
    types: Vec<f64>,
    /// The type of each static instruction that has one.
    of_pc: BTreeMap<u32, usize>,
}

impl Objective {
    /// The words, with their meaning.
    pub(super) const WORDS: &'static [(&'static str, &'static str)] = &[
        ("proxy", "dynamic instructions of dominant threads, as published; no faults"),
        ("sdc", "the rate of silent data corruption, measured by successive halving"),
        ("sdc-time", "that rate times the dynamic instructions of all threads"),
        ("due", "the rate of crashes and hangs, measured likewise"),
        ("fit", "the rate of silent data corruption of one run at the rates of a table (--rates)"),
    ];

    /// Its word.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Sdc => "sdc",
            Self::SdcTime => "sdc-time",
            Self::Due => "due",
            Self::Fit(_) => "fit",
        }
    }

    /// The value of an input by its runs, with bounds at 95 %; none if no run landed. The proxy stands for the rate of silent
    /// data corruption.
    pub(super) fn value(&self, tally: &Tally, instructions: u64, exposure: &Exposure) -> Option<Bounded> {
        let of = |rate: Rate| {
            let bounds = rate.bounds();
            Bounded { value: rate.rate(), low: bounds.low, high: bounds.high }
        };
        let sdc = of(tally.all.sdc());
        (tally.all.landed > 0).then(|| match self {
            Self::Proxy | Self::Sdc => sdc,
            Self::SdcTime => sdc.times(instructions as f64),
            Self::Due => of(tally.all.due()),
            Self::Fit(_) => exposure.corruptions(tally, sdc.value),
        })
    }
}

impl Exposure {
    /// The strikes of an input by a table.
    ///
    /// # Errors
    /// If a word of the table names no instructions.
    pub(super) fn of(table: &IpaTable, golden: &Golden, executed: &Executed) -> Result<Self, String> {
        let sets = golden.guests().sets();
        let class = |word: &String| {
            InstructionClass::parse(word, &sets)
                .map_err(|error| format!("count the instructions of the rate table `{}`: {error}", table.name))
        };
        let classes = |words: &[String]| words.iter().map(class).collect::<Result<Vec<_>, _>>();
        let types = table.instructions.iter().map(|it| classes(it.alike())).collect::<Result<Vec<_>, _>>()?;
        let mut exposure = Self { types: vec![0.0; types.len()], of_pc: BTreeMap::new() };
        let program = golden.launches().iter().find(|launch| launch.program.name == executed.kernel);
        let Some(program) = program.map(|launch| &launch.program) else { return Ok(exposure) };
        for (instruction, &count) in program.instructions.iter().zip(&executed.counts) {
            let Some(facts) = &instruction.facts else { continue };
            let of = types.iter().position(|classes| classes.iter().any(|class| class.holds(facts)));
            if let Some(of) = of.filter(|_| count > 0) {
                exposure.types[of] += table.instructions[of].all().value * count as f64;
                exposure.of_pc.insert(instruction.pc.0, of);
            }
        }
        Ok(exposure)
    }

    /// How often strikes corrupt the output: of each type its rate times its instructions times the share of its runs that
    /// did. A type without runs has the share of all, within 0 and 1.
    fn corruptions(&self, tally: &Tally, share_of_all: f64) -> Bounded {
        let mut ends = vec![Rate::default(); self.types.len()];
        for (pc, found) in &tally.pcs {
            if let Some(&of) = self.of_pc.get(pc) {
                ends[of].count += found.sdc;
                ends[of].landed += found.landed;
            }
        }
        Bounded::sum(self.types.iter().zip(&ends).map(|(&strikes, rate)| {
            let bounds = rate.bounds();
            let value = if rate.landed > 0 { rate.rate() } else { share_of_all };
            Bounded { value, low: bounds.low, high: bounds.high }.times(strikes)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::druto::ends::Ends;

    #[test]
    fn a_weighted_rate_is_the_sum_over_types() {
        let ends = |landed, sdc| Ends { landed, sdc, due: landed - sdc };
        let mut tally =
            Tally { pcs: BTreeMap::from([(1, ends(10, 5)), (2, ends(30, 15)), (3, ends(60, 0))]), ..Tally::default() };
        tally.pcs.values().for_each(|&found| tally.all.add(found));
        // Two instructions of the first type, one of the second, one without a type; none of the third was hit.
        let exposure = Exposure { types: vec![100.0, 7.0, 10.0], of_pc: BTreeMap::from([(1, 0), (2, 0), (3, 1)]) };
        let fit = exposure.corruptions(&tally, tally.all.sdc().rate());
        assert!((fit.value - (50.0 + 0.0 + 2.0)).abs() < 1e-9, "{fit:?}");
        assert!(fit.low < 40.0 && 60.0 < fit.high, "{fit:?}");
        let value = |objective: Objective| objective.value(&tally, 1000, &exposure).unwrap().value;
        assert_eq!([Objective::Sdc, Objective::SdcTime, Objective::Due].map(value), [0.2, 200.0, 0.8]);
        assert_eq!(Objective::Sdc.value(&Tally::default(), 1, &exposure), None);
    }
}
