//! `--fail-if`: what became of the bounds that were stated, on standard error and in the exit code.

use crate::args;
use crate::commands::parts::Parts;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::anyhow;
use campaign::{Bound, BoundVerdict, Config, Judgement, Results, Subpopulation};
use fault::base_name;
use std::path::Path;

/// Bounds, and whether one that cannot be decided counts as exceeded.
pub(crate) struct Stated {
    bounds: Vec<Bound>,
    strict: bool,
}

impl Stated {
    /// Those of a campaign, and those of the command line.
    pub(crate) fn of(config: &Config, args: &args::Bounds) -> Self {
        let more = args.fail_if.iter().filter(|bound| !config.bounds.contains(bound));
        let bounds = config.bounds.iter().chain(more).cloned().collect();
        Self { bounds, strict: config.undecided_fails || args.fail_if_undecided }
    }

    /// Those of the command line alone.
    pub(crate) fn only(args: &args::Bounds) -> Self {
        Self { bounds: args.fail_if.clone(), strict: args.fail_if_undecided }
    }

    /// Checks that each names a part that there is, before work begins.
    pub(crate) fn check(&self, parts: impl FnOnce() -> Result<Parts, Failure>) -> Result<(), Failure> {
        if self.bounds.iter().all(|bound| *bound.scope() == Subpopulation::Whole) {
            Ok(())
        } else {
            parts()?.check(&self.bounds)
        }
    }

    /// Judges the campaign in `dir`.
    pub(crate) fn judge(&self, dir: &Path) -> Result<(), Failure> {
        if self.bounds.is_empty() {
            return Ok(());
        }
        let verdicts = Results::open(dir).and_then(|results| results.judge(&self.bounds, &base_name));
        self.tell(&verdicts.code(Code::Refused)?)
    }

    fn tell(&self, verdicts: &[BoundVerdict]) -> Result<(), Failure> {
        let mut broken = Vec::new();
        for verdict in verdicts {
            let bound = &verdict.bound;
            match verdict.judgement {
                Judgement::Exceeded => broken.push(format!("keep the bound {bound}: {verdict}")),
                Judgement::Undecided(_) if self.strict => broken.push(format!("decide the bound {bound}: {verdict}")),
                Judgement::Undecided(_) => out::note(&format!("the bound {bound} is undecided: {verdict}")),
                Judgement::Kept => out::note(&format!("the bound {bound} is kept: {verdict}")),
            }
        }
        let Some((last, others)) = broken.split_last() else { return Ok(()) };
        for other in others {
            Failure::new(Code::Exceeded, anyhow!("{other}")).report();
        }
        Err(Failure::new(Code::Exceeded, anyhow!("{last}")))
    }
}
