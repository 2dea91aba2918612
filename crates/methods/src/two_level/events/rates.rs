//! From counted events to rates: an IPA table.

use stats::{Bounded, Confidence, poisson};
use std::collections::BTreeMap;

use super::super::ipa::IpaTable;
use super::category::{Bits, Category};
use super::log::Heartbeat;

/// Events of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// All runs.
    pub runs: u64,
    /// Those that showed something, by what it was.
    pub events: BTreeMap<Category, u64>,
    /// Those that hung: their signs of life before.
    pub hangs: Vec<Heartbeat>,
}

impl Counts {
    /// Events that are a manifestation of a table, which its rates count.
    #[must_use]
    pub fn rated(&self) -> u64 {
        let is = |(category, _): &(&Category, &u64)| category.manifestation().is_some();
        self.events.iter().filter(is).map(|(_, count)| count).sum()
    }

    /// Adds those of another log.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.hangs.extend(&other.hangs);
        for (&category, count) in &other.events {
            *self.events.entry(category).or_default() += count;
        }
    }

    /// Events that scale with the rate of instructions, or may do so, and are no manifestation of a table.
    pub fn left_out(&self) -> impl Iterator<Item = (Category, u64)> {
        let is = |category: &Category| {
            category.manifestation().is_none() && matches!(category.bits(), Bits::F | Bits::Unknown)
        };
        self.events.iter().filter(move |(category, _)| is(category)).map(|(&category, &count)| (category, count))
    }
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

    /// The IPA table of programs' events; none if there is one without a fluence or an issue rate.
    ///
    /// # Errors
    /// If a program is none of the microbenchmarks, or its rates are no numbers.
    pub fn table(&self, counted: &BTreeMap<String, Counts>) -> Result<Option<String>, String> {
        let mut text = self.head();
        for (program, counts) in counted {
            let Some(rows) = self.rows(program, counts)? else { return Ok(None) };
            text += &rows;
        }
        IpaTable::read(&text).map_err(|why| format!("make a table of these rates: {why}"))?;
        Ok(Some(text))
    }

    /// What the table says of a program.
    fn rows(&self, program: &str, counts: &Counts) -> Result<Option<String>, String> {
        let known = IpaTable::named(IpaTable::bundled().next().unwrap_or_default())?;
        let Some(kind) = known.instructions.iter().find(|it| it.name.eq_ignore_ascii_case(program)) else {
            let names: Vec<String> = known.instructions.iter().map(|it| it.name.to_lowercase()).collect();
            return Err(format!(
                "make a table of the rates of `{program}`: the microbenchmarks are {}; rename the program of the log, or write the \
                 row of the table by hand",
                names.join(", ")
            ));
        };
        let mut rates: Vec<(&str, u64, Bounded)> = Vec::new();
        for category in Category::ALL {
            let Some(name) = category.manifestation() else { continue };
            let events = counts.events.get(&category).copied().unwrap_or(0);
            // A branch has no value, and a comparison one bit.
            if events == 0 && kind.rate(name).is_none() {
                continue;
            }
            let Some(rate) = self.rate(program, events) else { return Ok(None) };
            if !rate.high.is_finite() {
                return Err(format!(
                    "make a table of the rates of {program}: by this fluence and issue rate they are no finite numbers"
                ));
            }
            rates.push((name, events, rate));
        }
        let total: f64 = rates.iter().map(|(_, _, rate)| rate.value).sum();
        // One stands for all where strikes are not asked: the simplest change of a value that was seen; a crash changes none.
        let values = || rates.iter().filter(|(name, ..)| *name != "crash");
        let seen = values().find(|(_, events, _)| *events > 0);
        let uniform = seen.or(values().next()).or(rates.first()).map_or("", |rate| rate.0);
        let mut text = format!(
            "\n[[instruction]]\nname = \"{}\"\nmeasured = {:?}\nalike = {:?}\nuniform = \"{uniform}\"\ntotal = {total:e}\n",
            kind.name,
            kind.measured,
            kind.alike()
        );
        for (category, events) in counts.left_out() {
            text += &format!("# Not in these rates: {events} of \"{category}\", {} bits.\n", category.bits());
        }
        text += "\n[instruction.rates]\n";
        for (name, events, Bounded { value, low, high }) in rates {
            text += &match events {
                0 => format!("\"{name}\" = {{ rate = {value:e}, low = {low:e}, high = {high:e} }}\n"),
                _ => format!("\"{name}\" = {{ rate = {value:e}, events = {events} }}\n"),
            };
        }
        Ok(Some(text))
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
    use super::*;

    #[test]
    fn counted_events_become_a_table_that_fit_reads() {
        let events = BTreeMap::from([(Category::OneBit, 20), (Category::RandomValue, 5), (Category::Hang, 9)]);
        let counted = BTreeMap::from([("iadd".to_owned(), Counts { runs: 1000, events, ..Counts::default() })]);
        let of = |value: f64| BTreeMap::from([("iadd".to_owned(), value)]);
        let beam = Beam { flux: 13.0, fluence: of(1e11), issue: of(2.0), multiprocessors: 15 };
        let text = beam.table(&counted).unwrap().unwrap();
        assert!(text.contains("# Not in these rates: 9 of \"hang in the kernel\", unknown bits."), "{text}");
        let table = IpaTable::read(&text).unwrap();
        assert_eq!(table.instructions[0].uniform.as_deref(), Some("1 bit"));
        assert_eq!(table.instructions[0].events("1 bit"), Some(20));
        // 20 events of 10¹¹ neutrons: 2·10⁻¹⁰ cm², at 13 neutrons for each cm² and hour 2.6 in 10⁹ hours, of 2 · 15 instructions.
        let rate = table.instructions[0].rate("1 bit").unwrap().0;
        assert!((rate.value - 2.6 / 30.0).abs() < 1e-12 && rate.low < rate.value && rate.value < rate.high);
        let none = table.instructions[0].rate("2 bits").unwrap().0;
        assert!(none.value == 0.0 && (none.high - 3.689 * 13e9 / 1e11 / 30.0).abs() < 1e-4, "{none:?}");
        assert_eq!((table.multiprocessors(), table.instructions[0].name.as_str()), (15, "IADD"));
        assert_eq!(Beam { issue: BTreeMap::new(), ..beam.clone() }.table(&counted), Ok(None));
        // A branch has no value, a comparison one bit, and a crash stands for no change of a value.
        let of_program = |name: &str, events: BTreeMap<Category, u64>| {
            let counted = BTreeMap::from([(name.to_owned(), Counts { runs: 1000, events, ..Counts::default() })]);
            let of = |value: f64| BTreeMap::from([(name.to_owned(), value)]);
            let beam = Beam { flux: 13.0, fluence: of(1e11), issue: of(2.0), multiprocessors: 15 };
            IpaTable::read(&beam.table(&counted).unwrap().unwrap()).unwrap().instructions.remove(0)
        };
        let branch = of_program("bra", BTreeMap::new());
        assert_eq!((branch.uniform.as_deref(), branch.rate("1 bit").is_none()), (Some("crash"), true));
        let comparison = of_program("isetp", BTreeMap::from([(Category::AddressCrash, 4)]));
        assert_eq!((comparison.uniform.as_deref(), comparison.rate("2 bits").is_none()), (Some("1 bit"), true));
        assert_eq!(of_program("iadd", BTreeMap::from([(Category::AddressCrash, 4)])).uniform.as_deref(), Some("1 bit"));
        let tiny = Beam { fluence: of(1e-320), ..beam.clone() }.table(&counted).unwrap_err();
        assert!(tiny.contains("no finite numbers"), "{tiny}");
        let strange = BTreeMap::from([("a\"b\n".to_owned(), Counts::default())]);
        assert!(beam.table(&strange).unwrap_err().contains("the microbenchmarks are iadd, fadd"));
    }
}
