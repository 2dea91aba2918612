//! What the calling thread writes into, and tells, whatever kind of campaign it is.

use super::event::CampaignEvent;
use super::watch::Stopwatch;
use crate::store::Rows;
use crate::tally::Tally;
use crate::target::TargetSystem;

/// The rows of a campaign while a session adds to them, and who is told of it.
pub(super) struct Ledger<'a> {
    target: TargetSystem<'a>,
    pub(super) rows: &'a mut Rows,
    pub(super) on_event: &'a mut dyn FnMut(CampaignEvent<'_>),
    pub(super) tally: Tally,
    pub(super) session: i64,
    /// Runs since the session began.
    pub(super) watch: Stopwatch,
    /// Something was written.
    began: bool,
}

impl<'a> Ledger<'a> {
    /// Nothing was written yet in this session; `tally` is of the rows before it.
    pub(super) fn open(
        target: TargetSystem<'a>,
        rows: &'a mut Rows,
        on_event: &'a mut dyn FnMut(CampaignEvent<'_>),
        tally: Tally,
        session: i64,
    ) -> Self {
        Self { target, rows, on_event, tally, session, watch: Stopwatch::start(), began: false }
    }

    /// Tells that something was written; the first time also, what is kept in memory for it.
    pub(super) fn written(&mut self) {
        if !std::mem::replace(&mut self.began, true)
            && let Some(memory) = self.target.engines.memory()
        {
            (self.on_event)(CampaignEvent::Prepared { memory: &memory });
        }
        (self.on_event)(CampaignEvent::Written { tally: self.tally });
    }
}
