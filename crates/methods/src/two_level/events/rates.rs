//! From counted events to rates: an IPA table.

use stats::{Bounded, Confidence, poisson};
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::category::Category;

/// Events of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All runs.
    pub runs: u64,
    /// Those that showed something, by what it was.
    pub events: BTreeMap<Category, u64>,
}

/// What the beam was, and the GPU in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Neutrons of high energy for each cm² and hour, where the rates are to hold.
    pub flux: f64,
    /// By program, neutrons for each cm² that went through the GPU while it ran.
    pub fluence: BTreeMap<String, f64>,
    /// By program, tested instructions that a multiprocessor issued in a cycle.
    pub issue: BTreeMap<String, f64>,
    /// Multiprocessors of the GPU.
    pub multiprocessors: u32,
}

impl Beam {
    /// The rate of so many events, in FIT for each instruction that a multiprocessor issues in a cycle.
    fn rate(&self, program: &str, events: u64) -> Option<Bounded> {
        let (fluence, issue) = (self.fluence.get(program)?, self.issue.get(program)?);
        let fit = self.flux * 1e9 / fluence;
        Some(poisson(events, Confidence::PERCENT_95).times(fit / issue / f64::from(self.multiprocessors)))
    }

    /// The IPA table of programs' events; none if there are none of a program with a fluence and an issue rate.
    #[must_use]
    pub fn table(&self, counted: &BTreeMap<String, Counts>) -> Option<String> {
        let mut text = String::new();
        for (program, counts) in counted {
            let mut rates = Vec::new();
            for category in Category::ALL {
                let Some(name) = category.manifestation() else { continue };
                let events = counts.events.get(&category).copied().unwrap_or(0);
                rates.push((name, self.rate(program, events)?));
            }
            let total: f64 = rates.iter().map(|(_, rate)| rate.value).sum();
            let upper = program.to_uppercase();
            write!(
                text,
                "\n[[instruction]]\nname = \"{upper}\"\nmeasured = [\"two-level:{program}\"]\nalike = [\"two-level:like-{program}\"]\n\
                 total = {total:e}\n\n[instruction.rates]\n"
            )
            .ok()?;
            for (name, Bounded { value, low, high }) in rates {
                writeln!(text, "\"{name}\" = {{ rate = {value:e}, low = {low:e}, high = {high:e} }}").ok()?;
            }
        }
        (!text.is_empty()).then(|| format!("{}{text}", self.head()))
    }

    fn head(&self) -> String {
        format!(
            "name = \"measured\"\nsource = \"Events of microbenchmarks by `beamline events`; flux {} neutrons for each cm² and hour; bounds \
             are Garwood's at 95 %.\"\nunit = \"FIT\"\nmultiprocessors = {}\n\n\
             [[manifestation]]\nname = \"1 bit\"\nmodel = \"flip\"\n\n[[manifestation]]\nname = \"2 bits\"\nmodel = \"double-any\"\n\n\
             [[manifestation]]\nname = \"3+ bits\"\nmodel = \"random\"\n\n\
             [[manifestation]]\nname = \"3+ bits, 2 threads\"\nmodel = \"random\"\nscope = \"pair\"\n\n\
             [[manifestation]]\nname = \"crash\"\n",
            self.flux, self.multiprocessors
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ipa::IpaTable;
    use super::*;

    #[test]
    fn counted_events_become_a_table_that_fit_reads() {
        let events = BTreeMap::from([(Category::OneBit, 20), (Category::RandomValue, 5), (Category::Hang, 9)]);
        let counted = BTreeMap::from([("iadd".to_owned(), Counts { runs: 1000, events })]);
        let of = |value: f64| BTreeMap::from([("iadd".to_owned(), value)]);
        let beam = Beam { flux: 13.0, fluence: of(1e11), issue: of(2.0), multiprocessors: 15 };
        let table = IpaTable::read(&beam.table(&counted).unwrap()).unwrap();
        // 20 events of 10¹¹ neutrons: 2·10⁻¹⁰ cm², at 13 neutrons for each cm² and hour 2.6 in 10⁹ hours, of 2 · 15 instructions.
        let rate = table.instructions[0].rate("1 bit").unwrap().0;
        assert!((rate.value - 2.6 / 30.0).abs() < 1e-12 && rate.low < rate.value && rate.value < rate.high);
        let none = table.instructions[0].rate("2 bits").unwrap().0;
        assert!(none.value == 0.0 && (none.high - 3.689 * 13e9 / 1e11 / 30.0).abs() < 1e-4, "{none:?}");
        assert_eq!((table.multiprocessors(), table.instructions[0].name.as_str()), (15, "IADD"));
        assert_eq!(Beam { issue: BTreeMap::new(), ..beam }.table(&counted), None);
    }
}
