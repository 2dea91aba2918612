//! Analyses of the hottest instructions alone (thesis, Section 3.6.2).

use serde_json::{Value, json};
use std::collections::BTreeSet;
use study::{Cell, Table};

use super::analysis::Planned;
use super::pilots::Pc;
use super::time_show::Replay;

/// The shares of dynamic instructions whose analysis is replayed.
const SHARES: [f64; 3] = [0.25, 0.5, 0.75];

/// The instructions that make up a share of the reference's dynamic instructions.
struct Hottest {
    share: f64,
    instructions: BTreeSet<Pc>,
    /// The share that they make up.
    of: f64,
}

/// The hottest instructions of the reference.
pub(super) struct HotInstructions {
    shares: Vec<Hottest>,
    /// Whether those of the last share alone are studied.
    is_chosen: bool,
}

impl HotInstructions {
    /// Those of the shares that are replayed, or of the one that is chosen.
    pub(super) fn of(reference: &Planned, chosen: Option<f64>) -> Self {
        let hottest = |share| {
            let (instructions, of) = reference.hot(share);
            Hottest { share, instructions, of }
        };
        let shares = chosen.map_or_else(|| SHARES.to_vec(), |share| vec![share]);
        Self { shares: shares.into_iter().map(hottest).collect(), is_chosen: chosen.is_some() }
    }

    /// The instructions that are studied, if not all.
    pub(super) fn studied(&self) -> Option<&BTreeSet<Pc>> {
        self.shares.last().filter(|_| self.is_chosen).map(|it| &it.instructions)
    }

    /// By share, the analysis of these instructions alone.
    pub(super) fn table(&self, replay: &Replay<'_>) -> Table {
        let columns = [
            "share of dynamic instructions",
            "instructions",
            "their share",
            "runs, reference (Ref)",
            "runs, small input (MinEIP)",
            "speedup by Equation 3.1",
            "SDC-PCs of the reference",
            "of the small input",
            "of both",
        ];
        let mut table = Table::new("Analysis of the hottest instructions alone", &columns);
        let row = |it: &Hottest| {
            let ([all, early], [small, reference, both]) =
                (replay.of_some(&it.instructions), replay.decided_of(&it.instructions));
            vec![
                Cell::Share(it.share),
                Cell::Count(it.instructions.len() as u64),
                Cell::Share(it.of),
                Cell::Count(all.0),
                Cell::Count(early.0),
                Cell::Number((all.1 / early.1.max(1e-9) * 1000.0).round() / 1000.0),
                Cell::Count(reference),
                Cell::Count(small),
                Cell::Count(both),
            ]
        };
        table.rows = self.shares.iter().map(row).collect();
        table.notes.push(if self.is_chosen {
            "All tables are of these instructions alone (--hot).".to_owned()
        } else {
            "Replayed on the outcomes of all pilots; --hot SHARE runs the pilots of these instructions alone."
                .to_owned()
        });
        table
    }

    /// In the document.
    pub(super) fn document(&self, replay: &Replay<'_>) -> Value {
        let line = |it: &Hottest| {
            let ([all, early], [small, reference, both]) =
                (replay.of_some(&it.instructions), replay.decided_of(&it.instructions));
            json!({
                "share": it.share, "instructions": it.instructions.len(), "of": it.of,
                "reference": { "runs": all.0, "seconds": all.1, "sdc_pcs": reference },
                "minimised_eip": { "runs": early.0, "seconds": early.1, "sdc_pcs": small },
                "common": both, "speedup": all.1 / early.1.max(1e-9),
            })
        };
        json!({ "studied_alone": self.is_chosen, "shares": self.shares.iter().map(line).collect::<Vec<_>>() })
    }
}
