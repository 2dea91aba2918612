//! `--fail-if`: what became of the bounds that were stated, on standard error and in the exit code.

use crate::args;
use crate::commands::parts::Parts;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::anyhow;
use campaign::{Bound, BoundVerdict, Config, Judgement, Results, Subpopulation, Summary};
use fault::base_name;
use methods::registry;
use std::path::Path;

/// The conditions under which a campaign fails: bounds, and whether one that cannot be decided counts as exceeded.
pub(crate) struct FailConditions {
    bounds: Vec<Bound>,
    strict: bool,
    /// Whether the command line says so.
    said: bool,
}

impl FailConditions {
    /// Those of a campaign, and those of the command line.
    pub(crate) fn of(config: &Config, args: &args::Bounds) -> Self {
        let more = args.fail_if.iter().filter(|bound| !config.bounds.contains(bound));
        let bounds = config.bounds.iter().chain(more).cloned().collect();
        Self { bounds, strict: config.undecided_fails || args.fail_if_undecided, said: args.fail_if_undecided }
    }

    /// Those of the command line alone.
    pub(crate) fn only(args: &args::Bounds) -> Self {
        Self { bounds: args.fail_if.clone(), strict: args.fail_if_undecided, said: args.fail_if_undecided }
    }

    /// Checks that each names a part that there is, before work begins.
    pub(crate) fn check(&self, parts: impl FnOnce() -> Result<Parts, Failure>) -> Result<(), Failure> {
        if self.said && self.bounds.is_empty() {
            let why = anyhow!("take `--fail-if-undecided` without a bound: state one with `--fail-if`");
            return Err(Failure::new(Code::Usage, why));
        }
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
        let results = Results::open(dir).code(Code::Refused)?;
        if let Some(why) = registry::rates_elsewhere(results.config().selection.method.as_ref()) {
            return Err(Failure::new(Code::Unjudged, anyhow!("judge the bounds: {why}")));
        }
        let verdicts = results.judge(&self.bounds, &base_name).code(Code::Refused)?;
        self.tell(&verdicts)?;
        match unjudged(&results.summary().code(Code::Refused)?, &verdicts) {
            Some(why) => Err(Failure::new(Code::Unjudged, anyhow!("judge the bounds: {why}"))),
            None => Ok(()),
        }
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

/// Why bounds are not kept although none is exceeded: a gate does not pass by failure.
fn unjudged(summary: &Summary, verdicts: &[BoundVerdict]) -> Option<String> {
    let (runs, undecided) = (summary.runs, summary.outcomes.undecided.count);
    let is_open = verdicts.iter().any(|verdict| matches!(verdict.judgement, Judgement::Undecided(_)));
    if runs.failed > 0 {
        return Some(format!("{} of {} runs failed, and may have come to anything", runs.failed, runs.planned));
    }
    if runs.landed == 0 {
        return Some(format!("none of {} runs landed", runs.planned));
    }
    let (what, asks) = match summary.exhaustive {
        Some(_) => ("faults", "a sample (`--runs N`) with `--app 'APP ARGS'` asks the application"),
        None => ("runs", "`--app 'APP ARGS'` asks the application"),
    };
    (undecided > 0 && is_open)
        .then(|| format!("{undecided} of {} {what} are undecided, which would decide them; {asks}", runs.planned))
}
