//! From counts to accounts: how rates are bounded, and by what parts are ranked.
//!
//! Where outputs are judged, what counts against a part are the corruptions that no criterion accepts; elsewhere all silent
//! corruptions.

use campaign::summary::Rate;

use super::{LineRates, RateAccount, SiteRates};
use crate::measure::{ClassMasses, Mass, Measure};

/// How counts become accounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) measure: Measure,
    /// Whether outputs are judged.
    pub(crate) judged: bool,
}

impl Scale {
    /// The account of a cell.
    pub(crate) fn account(self, cell: &ClassMasses) -> RateAccount {
        RateAccount {
            runs: cell.runs(),
            not_landed: cell.not_landed,
            failed: cell.failed,
            outcomes: cell.rates(self.measure),
            bad: self.judged.then(|| cell.share(cell.bad, self.measure)),
        }
    }

    /// What counts against a part.
    pub(super) fn worst(self, cell: &ClassMasses) -> Mass {
        if self.judged { cell.bad } else { cell.sdc }
    }

    /// The share of a part in all silent corruptions.
    pub(super) fn share_of_sdc(self, part: &ClassMasses, all: &ClassMasses) -> Rate {
        self.measure.share(part.sdc, all.sdc)
    }

    /// The share of a part in all those that no criterion accepts.
    pub(super) fn share_of_bad(self, part: &ClassMasses, all: &ClassMasses) -> Option<Rate> {
        self.judged.then(|| self.measure.share(part.bad, all.bad))
    }
}

impl RateAccount {
    /// The rate that parts are ranked by: of bad corruptions, or of all where nothing is judged.
    pub(crate) fn worst(&self) -> &Rate {
        self.bad.as_ref().unwrap_or(&self.outcomes.sdc)
    }
}

impl LineRates {
    /// Its share of what lines are ranked by.
    pub(crate) fn share_of_worst(&self) -> &Rate {
        self.share_of_bad.as_ref().unwrap_or(&self.share_of_sdc)
    }
}

impl SiteRates {
    /// Its share of what sites are ranked by.
    pub(crate) fn share_of_worst(&self) -> &Rate {
        self.share_of_bad.as_ref().unwrap_or(&self.share_of_sdc)
    }
}
