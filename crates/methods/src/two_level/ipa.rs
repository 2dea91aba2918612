//! The implementation level as data: how often strikes show in instructions, and how.

use serde::{Deserialize, Serialize};
use stats::Bounded;
use std::collections::BTreeMap;

use super::rate_word::RateWord;
use super::units::RatePerInstruction;
use crate::kit::{lasting, patterns};

/// The bundled tables: their names and their texts.
const BUNDLED: [(&str, &str); 1] = [("K40", include_str!("../../../../profiles/ipa/k40.toml"))];

/// Rates of strikes by instruction type and manifestation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IpaTable {
    /// What it is called.
    pub name: String,
    /// Where its rates come from.
    pub source: String,
    /// What its rates are in.
    unit: UnitWord,
    /// What a relative rate of 1 is.
    reference: Option<String>,
    /// Multiprocessors of the device, each of which has these rates.
    multiprocessors: Option<u32>,
    /// The last digit that rates are printed to.
    #[serde(default)]
    rounded_to: f64,
    /// What a strike can do.
    #[serde(rename = "manifestation")]
    pub manifestations: Vec<Manifestation>,
    /// The types of instructions.
    #[serde(rename = "instruction")]
    pub instructions: Vec<InstructionType>,
    /// What was seen of each microbenchmark, all kinds of bits; for readers.
    #[serde(default, rename = "microbenchmark")]
    pub microbenchmarks: Vec<Microbenchmark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum UnitWord {
    #[serde(rename = "FIT")]
    Fit,
    #[serde(rename = "relative")]
    Relative,
}

/// What rates are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Failures in 10⁹ hours of the device.
    Fit,
    /// Multiples of a rate that nobody knows, which is named.
    Relative(String),
}

/// One way in which a strike shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifestation {
    /// What it is called.
    pub name: String,
    /// What happens to the bits of the destination, as campaigns say it (`table:FILE`, too); none if the program ends.
    pub model: Option<String>,
    /// In how many threads, as campaigns say it.
    pub scope: Option<String>,
}

/// A type of instructions, and what strikes do to it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionType {
    /// What it is called.
    pub name: String,
    /// Where its rates come from, if not from where the table's do.
    pub source: Option<String>,
    /// The instructions that were measured: words of a campaign's `group`.
    pub measured: Vec<String>,
    /// The instructions that are taken to be alike, the measured ones too; those alone if it is left out.
    pub alike: Option<Vec<String>>,
    /// All its rates together.
    pub total: f64,
    /// By how much of themselves all its rates may be less and more, at 95 %; nothing is known if it is left out and its
    /// rates have no bounds.
    error: Option<ErrorShares>,
    /// The manifestation that stands for all where strikes are not asked.
    pub uniform: Option<String>,
    /// By manifestation.
    rates: BTreeMap<String, RateWord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorShares {
    below: f64,
    above: f64,
}

/// Events of a microbenchmark by the bits that they are attributed to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Microbenchmark {
    /// What it is called.
    pub name: String,
    /// All of them.
    pub total: f64,
    /// Hangs and crashes, of any bits.
    pub hangs_and_crashes: f64,
    /// Flips and crashes of bits that scale with the rate of instructions.
    pub f_bits: f64,
    /// Flips in several instructions.
    pub is_bits: Option<f64>,
    /// How many events there were.
    pub events: Option<u64>,
}

impl IpaTable {
    /// The names of the bundled tables; the first is the one that applies if nobody names another.
    pub fn bundled() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|&(name, _)| name)
    }

    /// Whether a bundled table has this name.
    #[must_use]
    pub fn is_bundled(name: &str) -> bool {
        Self::bundled().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The table of a name, or of a file.
    ///
    /// # Errors
    /// If it is neither bundled nor a file, or the file is no such table.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::named_among(name, &BTreeMap::new())
    }

    /// The table of a name, or of a file; `files` has the texts that a campaign kept.
    ///
    /// # Errors
    /// If it is neither bundled nor a file, or the file is no such table.
    pub fn named_among(name: &str, files: &BTreeMap<String, String>) -> Result<Self, String> {
        let refused = |why: &str| format!("read the IPA table `{name}`: {why}");
        let text = match BUNDLED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, text)) => (*text).to_owned(),
            None => lasting::read(name, files).map_err(|why| Self::unread(name, &why))?,
        };
        Self::read(&text).map_err(|why| refused(&format!("{why}; profiles/ipa/k40.toml shows what a table says")))
    }

    /// The message where neither a bundled table nor a file has a name.
    pub(super) fn unread(name: &str, why: &str) -> String {
        let names = Self::bundled().collect::<Vec<_>>().join(", ");
        format!("read the IPA table `{name}`: {why}; bundled is {names}, anything else is the name of a file")
    }

    /// Reads the text of a table.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut table: Self = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        for it in &mut table.manifestations {
            let looked_up = patterns::looked_up(it.model.take());
            it.model = looked_up.map_err(|error| format!("manifestation {}: {error}; {}", it.name, error.help))?;
        }
        table.check()?;
        Ok(table)
    }

    fn check(&self) -> Result<(), String> {
        match (self.unit, &self.reference, self.multiprocessors) {
            (UnitWord::Relative, None, _) => {
                return Err("relative rates need a `reference`: what a rate of 1 is".into());
            }
            (UnitWord::Fit, _, None) => {
                return Err("rates in FIT need `multiprocessors`: how many of them the device has".into());
            }
            (UnitWord::Fit, Some(_), _) => return Err("`reference` is for relative rates".into()),
            _ => {}
        }
        if self.unit == UnitWord::Relative && self.multiprocessors.is_some() {
            return Err("`multiprocessors` is for rates in FIT; a relative rate is of one".into());
        }
        let largest = self.instructions.iter().map(|it| it.total).fold(0.0, f64::max);
        if !(0.0..=largest / 10.0).contains(&self.rounded_to) {
            return Err(format!(
                "`rounded_to` is the last digit of the rates, from 0 to a tenth of the largest: not {}",
                self.rounded_to
            ));
        }
        if self.multiprocessors == Some(0) {
            return Err("`multiprocessors` is 0".into());
        }
        unlike("manifestation", self.manifestations.iter().map(|it| &it.name))?;
        unlike("instruction", self.instructions.iter().map(|it| &it.name))?;
        for it in &self.manifestations {
            if it.model.is_none() && it.scope.is_some() {
                return Err(format!("manifestation {}: a scope without a model", it.name));
            }
            fault::Patterns::parse(it.model.as_deref(), it.scope.as_deref())
                .map_err(|error| format!("manifestation {}: {error}", it.name))?;
        }
        let numbers = |it: &Microbenchmark| [it.total, it.hangs_and_crashes, it.f_bits, it.is_bits.unwrap_or(0.0)];
        let counts = |it: &Microbenchmark| numbers(it).iter().all(|number| number.is_finite() && *number >= 0.0);
        if let Some(it) = self.microbenchmarks.iter().find(|it| !counts(it)) {
            return Err(format!("microbenchmark {}: its numbers are counts or shares, from 0", it.name));
        }
        self.instructions.iter().try_for_each(|it| self.check_instruction(it))
    }

    fn check_instruction(&self, it: &InstructionType) -> Result<(), String> {
        let wrong = |why: String| Err(format!("instruction {}: {why}", it.name));
        if it.measured.is_empty() || it.alike().is_empty() {
            return wrong("`measured` and `alike` have to name instructions".into());
        }
        let known = |name: &String| self.manifestations.iter().any(|it| it.name == *name);
        if let Some(name) = it.rates.keys().chain(&it.uniform).find(|name| !known(name)) {
            return wrong(format!("`{name}` is no manifestation of the table"));
        }
        let shares = it.error.map_or([0.0, 0.0], |error| [error.below, error.above]);
        if !(0.0..1.0).contains(&shares[0]) || !(0.0..f64::INFINITY).contains(&shares[1]) {
            return wrong("`error` has to be shares of the rates: below from 0 to less than 1, above from 0".into());
        }
        for (name, rate) in &it.rates {
            if let RateWord::Counted { events: 0, .. } = rate {
                return wrong(format!(
                    "the rate of {name} cannot be estimated from 0 events: say its `low` and its `high`"
                ));
            }
            let Bounded { value, low, high } = rate.bounded();
            let finite = [value, low, high].iter().all(|it| it.is_finite());
            if !(finite && 0.0 <= low && low <= value && value <= high) {
                return wrong(format!("the rate of {name} has to be a number from 0, within its bounds"));
            }
        }
        let sum: f64 = it.rates.values().map(|rate| rate.bounded().value).sum();
        // Every printed number is off by at most half of its last digit.
        let rounding = self.rounded_to / 2.0 * (it.rates.len() as f64 + 1.0) + 1e-9 * it.total.abs();
        if !it.total.is_finite() || (sum - it.total).abs() > rounding {
            return wrong(format!("its rates add up to {sum}, and its total is {}", it.total));
        }
        Ok(())
    }

    /// What the rates are in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        match (self.unit, &self.reference) {
            (UnitWord::Relative, Some(reference)) => Unit::Relative(reference.clone()),
            _ => Unit::Fit,
        }
    }

    /// Multiprocessors by which rates are multiplied.
    #[must_use]
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors.unwrap_or(1)
    }
}

/// Refuses names that are there twice.
fn unlike<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut names = names.peekable();
    if names.peek().is_none() {
        return Err(format!("there is no [[{what}]] in it"));
    }
    names.find(|name| !seen.insert(*name)).map_or(Ok(()), |name| Err(format!("the {what} {name} is there twice")))
}

impl InstructionType {
    /// The rate of a manifestation, with its own bounds; none if it was not seen.
    #[must_use]
    pub fn rate(&self, manifestation: &str) -> Option<RatePerInstruction> {
        self.rates.get(manifestation).map(|rate| RatePerInstruction(rate.bounded()))
    }

    /// How many events the rate of a manifestation was estimated from, if the table says so.
    #[must_use]
    pub fn events(&self, manifestation: &str) -> Option<u64> {
        match self.rates.get(manifestation)? {
            RateWord::Counted { events, .. } => Some(*events),
            RateWord::Plain(_) | RateWord::Bounded { .. } => None,
        }
    }

    /// All its rates together, with bounds.
    #[must_use]
    pub fn all(&self) -> Bounded {
        Bounded::sum(self.rates.values().map(|rate| rate.bounded())).product(self.common_error())
    }

    /// By how much all its rates may be off together: a factor that is 1.
    #[must_use]
    pub fn common_error(&self) -> Bounded {
        self.error.map_or(Bounded::exact(1.0), |error| Bounded {
            value: 1.0,
            low: 1.0 - error.below,
            high: 1.0 + error.above,
        })
    }

    /// The instructions that it stands for.
    #[must_use]
    pub fn alike(&self) -> &[String] {
        self.alike.as_deref().unwrap_or(&self.measured)
    }
}

impl Unit {
    /// As tables say it.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Fit => "FIT".to_owned(),
            Self::Relative(reference) => format!("relative to {reference}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "name = 'x'\nsource = 'y'\nunit = 'FIT'\nmultiprocessors = 4\n\
        manifestation = [{ name = 'crash' }, { name = '1 bit', model = 'flip' }]\n\
        [[instruction]]\nname = 'ADD'\nmeasured = ['int_add']\ntotal = 3.0\n\
        rates = { crash = 1.0, '1 bit' = { rate = 2.0, low = 1.5, high = 4.0 } }";

    #[test]
    fn the_bundled_tables_are_those_of_the_paper() {
        let table = IpaTable::named("k40").unwrap();
        assert_eq!((table.name.as_str(), table.unit()), ("K40", Unit::Relative("the rate of IMAD".into())));
        assert_eq!(table.instructions.len(), 7);
        let imad = &table.instructions[2];
        assert_eq!(imad.rate("2 bits").map(|rate| rate.0.value), Some(0.40));
        // No event: 3.69 times the rate of one of five.
        let unseen = imad.rate("crash").unwrap().0;
        assert!((unseen.value, unseen.low) == (0.0, 0.0) && (unseen.high - 0.2 * 3.6889).abs() < 1e-4, "{unseen:?}");
        // Garwood's interval of two events is 0.242 to 7.22.
        let bounds = imad.rate("2 bits").unwrap().0;
        assert!((bounds.low - 0.2 * 0.2422).abs() < 1e-4 && (bounds.high - 0.2 * 7.2247).abs() < 1e-4, "{bounds:?}");
        let events = |of: usize| -> u64 {
            table.manifestations.iter().filter_map(|it| table.instructions[of].events(&it.name)).sum()
        };
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(events), [9, 5, 5, 8, 4, 1, 4]);
        // Table 2: shares of a row add up to its first column but for rounding.
        for it in &table.microbenchmarks {
            let sum = it.hangs_and_crashes + it.f_bits + it.is_bits.unwrap_or(0.0);
            assert!((sum - it.total).abs() < 0.0201, "{}: {sum}", it.name);
        }
    }

    #[test]
    fn a_table_of_ones_own_has_bounds_and_a_unit() {
        let table = IpaTable::read(TABLE).unwrap();
        assert_eq!((table.unit(), table.multiprocessors()), (Unit::Fit, 4));
        let add = &table.instructions[0];
        assert_eq!(add.rate("1 bit").unwrap().0, Bounded { value: 2.0, low: 1.5, high: 4.0 });
        assert_eq!((add.alike(), add.common_error()), (&["int_add".to_owned()][..], Bounded::exact(1.0)));
    }

    #[test]
    fn each_mistake_is_named() {
        for (from, to, part) in [
            ("multiprocessors = 4\n", "", "need `multiprocessors`"),
            ("crash = 1.0", "crash = { rate = 1.0, events = 0 }", "cannot be estimated from 0 events"),
            ("crash = 1.0", "crash = { rate = 1.0, events = 7, low = 0.5, high = 2.0 }", "or { rate, events }"),
            ("crash = 1.0", "crash = { rate = 1.0, low = 0.5 }", "or { rate, events }"),
            ("crash = 1.0", "crash = { rate = 1.0, low = 0.5, high = 2.0, hihg = 3.0 }", "unknown field `hihg`"),
            ("crash = 1.0", "crash = { rate = 1.0, events = -7 }", "invalid value: integer `-7`"),
            ("crash = 1.0", "crash = 'often'", "a rate is a number"),
            ("model = 'flip'", "model = 'table:nowhere'", "bundled are gate-level-burst"),
            ("unit = 'FIT'", "unit = 'relative'", "need a `reference`"),
            ("unit = 'FIT'", "unit = 'fits'", "unknown variant"),
            ("multiprocessors = 4", "multiprocessors = 0", "is 0"),
            ("total = 3.0", "total = 4.0", "add up to 3, and its total is 4"),
            ("low = 1.5", "low = 2.5", "within its bounds"),
            ("crash = 1.0", "crash = -1.0", "a number from 0"),
            ("crash = 1.0", "crash = nan", "a number from 0"),
            ("crash = 1.0", "hang = 1.0", "`hang` is no manifestation"),
            ("'flip' }", "'twist' }", "manifestation 1 bit: use model `twist`"),
            ("name = 'crash'", "name = 'crash', scope = 'pair'", "a scope without a model"),
            ("name = '1 bit'", "name = 'crash'", "crash is there twice"),
            ("measured = ['int_add']", "measured = []", "have to name instructions"),
            ("measured = ['int_add']", "measured = ['int_add']\nalike = []", "have to name instructions"),
            ("unit = 'FIT'", "unit = 'FIT'\nrounded_to = 1e9", "not 1000000000"),
            ("unit = 'FIT'", "unit = 'FIT'\nrounded_to = nan", "not NaN"),
            ("unit = 'FIT'", "unit = 'relative'\nreference = 'z'", "a relative rate is of one"),
            ("total = 3.0", "total = 3.0\nerror = { below = 1.5, above = 0 }", "shares of the rates"),
            ("name = 'ADD'", "name = 'ADD'\nweight = 3", "unknown field `weight`"),
        ] {
            assert!(TABLE.contains(from), "{from}");
            let error = IpaTable::read(&TABLE.replace(from, to)).unwrap_err();
            assert!(error.contains(part), "{from} -> {to}: {error}");
        }
        assert!(IpaTable::named("K99").unwrap_err().contains("bundled is K40"));
    }
}
