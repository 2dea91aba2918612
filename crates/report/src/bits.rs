//! The outcomes by bit of the stored numbers, and by field of them, beside the summary of a campaign.

use std::collections::BTreeMap;

use campaign::{Results, StoreError};
use serde::Serialize;

use crate::document::{BitRates, NamedRates, Scale, bits};
use crate::gather::Gathered;
use crate::limits::{bad_name, counted};
use crate::measure::{ClassMasses, Measure};
use crate::number::{bounds, interval, plain, rate};
use crate::table::plain as table;

/// The outcomes of a campaign by bit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BitOutcomes {
    /// By bit, ascending; of a fault in several bits the lowest. Faults that name no bit are not here.
    pub by_bit: Vec<BitRates>,
    /// By field of the stored numbers, where they have fields: those of floating point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_field: Vec<NamedRates>,
    #[serde(skip)]
    bad_name: Option<&'static str>,
    #[serde(skip)]
    counted: &'static str,
    #[serde(skip)]
    level: Option<f64>,
}

impl BitOutcomes {
    /// Reads the results of a campaign once. `field` is the name of the field that a bit is in, none where numbers have no fields.
    ///
    /// # Errors
    /// When the results cannot be read.
    pub fn new(results: &Results, field: &dyn Fn(u32) -> Option<&'static str>) -> Result<Self, StoreError> {
        let Gathered { summary, operands, .. } = Gathered::from(results)?;
        let measure = Measure::of(&summary);
        let scale = Scale { measure, judged: summary.config.is_judged() };
        // The highest bit of a field gives its place: the most significant field comes first.
        let mut fields: BTreeMap<&str, (u32, ClassMasses)> = BTreeMap::new();
        for operand in &operands {
            for (bit, of) in (0..).zip(&operand.bits) {
                let Some(name) = field(bit).filter(|_| of.cell.runs() > 0) else { continue };
                let (highest, cell) = fields.entry(name).or_default();
                *highest = (*highest).max(bit);
                cell.merge(&of.cell);
            }
        }
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_by_key(|(_, (highest, _))| std::cmp::Reverse(*highest));
        let named = |(name, (_, cell)): (&str, (u32, ClassMasses))| NamedRates {
            name: name.to_owned(),
            account: scale.account(&cell),
        };
        Ok(Self {
            by_bit: bits(operands.iter(), scale),
            by_field: fields.into_iter().map(named).collect(),
            bad_name: bad_name(&summary).filter(|_| scale.judged),
            counted: counted(&summary),
            level: match measure {
                Measure::Exact => None,
                Measure::Sampled(_, level) => Some(level.level()),
            },
        })
    }

    /// A table for a terminal: by field where there are fields, by bit elsewhere; empty where no fault names a bit.
    #[must_use]
    pub fn to_text(&self) -> String {
        let (title, parts): (_, Vec<_>) = if self.by_field.is_empty() {
            ("bit", self.by_bit.iter().map(|it| (it.bit.to_string(), &it.account)).collect())
        } else {
            ("field", self.by_field.iter().map(|it| (it.name.clone(), &it.account)).collect())
        };
        if parts.is_empty() {
            return String::new();
        }
        let level = self.level.map(interval).unwrap_or_default();
        let short = level.trim_end_matches(" interval");
        let names = [Some("masked"), Some("sdc"), self.bad_name, Some("due")];
        let heads = names.into_iter().flatten();
        let heads = heads.flat_map(|name| [Some(name), self.level.map(|_| short)]).flatten();
        let heads: Vec<&str> = [title, self.counted].into_iter().chain(heads).collect();
        let row = |(name, account): (String, &crate::document::RateAccount)| {
            let outcomes = &account.outcomes;
            let bad = account.bad.as_ref().filter(|_| self.bad_name.is_some());
            let rates = [Some(&outcomes.masked), Some(&outcomes.sdc), bad, Some(&outcomes.due)];
            let mut row = vec![name, plain(account.runs)];
            for it in rates.into_iter().flatten() {
                row.push(rate(it.rate));
                row.extend(self.level.map(|_| it.rate.map_or_else(String::new, |_| bounds(it.low, it.high))));
            }
            row
        };
        table(&heads, "<>", &parts.into_iter().map(row).collect::<Vec<_>>())
    }
}
