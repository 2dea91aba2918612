//! Judging bounds by the rows of a campaign.

use stats::{Interval, trials_to_decide, trials_to_shrink};

use super::parse::{CRASH, MAYBE};
use super::{Bound, BoundVerdict, Judgement, More, Subpopulation, Term};
use crate::config::{Config, Shard};
use crate::store::{By, Count, Results, StoreError};
use crate::summary::{Estimator, Rate};
use outcome::{Class, Due, Outcome, Sdc};

impl Term {
    /// Whether a run can count for both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let same = |one: &str, other: &str| {
            one == other || [(one, other), (other, one)].iter().any(|(all, kind)| is_kind_of(self.class, kind, all))
        };
        self.class == other.class
            && match (&self.kind, &other.kind) {
                (Some(one), Some(other)) => same(one, other),
                _ => true,
            }
    }

    fn holds(&self, count: &Count) -> bool {
        let kind = count.kind.as_deref().unwrap_or_default();
        let fits = |wanted: &String| wanted == kind || is_kind_of(self.class, kind, wanted);
        self.class == count.class && self.kind.as_ref().is_none_or(fits)
    }

    /// Whether only the criteria of outputs tell which runs are meant.
    fn needs_criteria(&self) -> bool {
        let kind = self.kind.as_deref().filter(|_| self.class == Class::Sdc);
        let outcome = kind.and_then(|kind| Outcome::from_words(self.class, Some(kind)));
        kind == Some(MAYBE) || matches!(outcome, Some(Outcome::Sdc(Sdc::Good | Sdc::Maybe(_) | Sdc::Bad)))
    }
}

/// Whether `kind` is one of those that `all` stands for.
fn is_kind_of(class: Class, kind: &str, all: &str) -> bool {
    match Outcome::from_words(class, Some(kind)) {
        Some(Outcome::Sdc(Sdc::Maybe(_))) => all == MAYBE,
        Some(Outcome::Due(Due::Crash(_))) => all == CRASH,
        _ => false,
    }
}

impl Subpopulation {
    /// By what rows are counted for it.
    fn by(&self) -> By {
        match self {
            Self::Whole => By::Outcome,
            Self::Kernel(_) => By::Kernel,
            Self::Group(_) => By::Group,
            Self::Line(..) => By::Line,
        }
    }

    /// Whether a run is of it whose kernel, group or file is `label`, as it is a bound on kernels, groups or lines;
    /// `plain` gives the plain name in that of a kernel.
    pub fn holds(&self, label: &str, line: Option<u32>, plain: &dyn Fn(&str) -> &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Kernel(name) => name == label || name == plain(label),
            Self::Group(name) => name == label,
            Self::Line(file, of) => {
                let ends = label.strip_suffix(file.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
                ends && line == Some(*of)
            }
        }
    }
}

impl Results {
    /// Judges each bound by the rows as they now are. `plain` gives the plain name in that of a kernel.
    ///
    /// # Errors
    /// When the rows cannot be read.
    pub fn judge(&self, bounds: &[Bound], plain: &dyn Fn(&str) -> &str) -> Result<Vec<BoundVerdict>, StoreError> {
        if bounds.is_empty() {
            return Ok(Vec::new());
        }
        let (config, origin) = (self.config(), self.rows().origin()?);
        let size = origin.outline.map(|outline| outline.size);
        let estimator = Estimator::of(config, size, &origin.strata, &self.rows().counts_by_kind(By::Outcome)?);
        let done = self.rows().tally()?.total();
        // An exact rate is exact when every fault is in it.
        let partial = size.is_some_and(|size| done < size.faults || config.shard != Shard::WHOLE);
        let judge = |bound: &Bound| {
            let mut counts = self.rows().counts_by_kind(bound.scope.by())?;
            counts.retain(|count| bound.scope.holds(count.label.as_deref().unwrap_or_default(), count.line, plain));
            Ok(verdict(bound, &counts, &Campaign { estimator: &estimator, config, done, partial }))
        };
        bounds.iter().map(judge).collect()
    }
}

/// What a verdict has to know of a campaign.
struct Campaign<'a> {
    estimator: &'a Estimator,
    config: &'a Config,
    /// Runs that were made.
    done: u64,
    /// Faults of an exhaustive campaign are missing.
    partial: bool,
}

fn verdict(bound: &Bound, counts: &[Count], campaign: &Campaign<'_>) -> BoundVerdict {
    let landed = counts.iter().filter(|count| count.class.has_landed()).map(|count| count.count).sum();
    let hits = |count: &Count| bound.terms.iter().any(|term| term.holds(count));
    let rate = campaign.estimator.rate(counts, &hits);
    let exact = matches!(campaign.estimator, Estimator::Exact);
    let judgement = match bound.side(rate.low, rate.high) {
        _ if campaign.partial => Judgement::Undecided(More::Rest),
        _ if !campaign.config.is_judged() && bound.terms.iter().any(Term::needs_criteria) => {
            Judgement::Undecided(More::Criteria)
        }
        Some(true) => Judgement::Exceeded,
        Some(false) => Judgement::Kept,
        None => Judgement::Undecided(more(bound, counts, &hits, campaign)),
    };
    let confidence = (!exact).then(|| campaign.config.confidence.level());
    BoundVerdict { bound: bound.clone(), rate, landed, confidence, judgement }
}

/// What would decide a bound that lies within the interval of a rate.
fn more(bound: &Bound, counts: &[Count], hits: &dyn Fn(&Count) -> bool, campaign: &Campaign<'_>) -> More {
    let estimator = campaign.estimator;
    let (least, most) = (estimator.known(counts, hits), estimator.at_most(counts, hits));
    let number = |of: &dyn Fn(Class) -> bool| counts.iter().filter(|it| of(it.class)).map(|it| it.count).sum::<u64>();
    let (landed, undecided) = (number(&Class::has_landed), number(&|class| class == Class::Undecided));
    let (Some(low), Some(high)) = (least.rate.filter(|_| landed > 0), most.rate) else { return More::Anything };
    // However many runs there are, the rate is between these two, as far as the runs themselves tell.
    if undecided > 0 && (low..=high).contains(&bound.limit) {
        return if matches!(estimator, Estimator::Exact) {
            More::Sample(undecided)
        } else {
            More::Application(undecided)
        };
    }
    if bound.limit <= 0.0 || bound.limit >= 1.0 {
        return More::Everything;
    }
    // The rate that its interval has to leave the limit with.
    let Rate { low, high, rate, .. } = if bound.limit > high { most } else { least };
    let (rate, method, level) = (rate.unwrap_or(0.0), campaign.config.interval.method(), campaign.config.level());
    let needed = match estimator {
        Estimator::Plain(..) => trials_to_decide(rate, bound.limit, method, level),
        _ => trials_to_shrink(landed, rate, Interval { low, high }, bound.limit),
    };
    // As many of the runs to come will land there as of those that were made.
    let per_landed = campaign.done as f64 / landed as f64;
    let runs = |needed: u64| (needed.saturating_sub(landed).max(1) as f64 * per_landed).ceil() as u64;
    needed.map_or(More::Nothing, |needed| More::Runs(runs(needed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choices;
    use stats::{Confidence, IntervalKind};

    /// What would decide, of a thousand runs with so many corruptions and undecided ones.
    fn of_thousand(text: &str, estimator: &Estimator, sdc: u64, undecided: u64) -> More {
        let of = |class, count| Count {
            label: None,
            line: None,
            class,
            kind: None,
            count,
            weight: 1,
            inverse_weight: 1,
            stratum: 0,
        };
        let counts = [of(Class::Masked, 1000 - sdc - undecided), of(Class::Sdc, sdc), of(Class::Undecided, undecided)];
        let config = Choices { capsule: Some("it".into()), ..Choices::default() }.settle().unwrap();
        let campaign = Campaign { estimator, config: &config, done: 1000, partial: false };
        match verdict(&text.parse().unwrap(), &counts, &campaign).judgement {
            Judgement::Undecided(more) => more,
            decided => panic!("{text}: {decided:?}"),
        }
    }

    #[test]
    fn what_hangs_on_undecided_runs_is_not_left_to_more_runs() {
        let sampled = Estimator::Plain(IntervalKind::Wilson, Confidence::PERCENT_95);
        assert_eq!(of_thousand("sdc>0.15", &sampled, 100, 200), More::Application(200));
        assert_eq!(of_thousand("sdc>0", &sampled, 0, 200), More::Application(200));
        assert_eq!(of_thousand("sdc>0.15", &Estimator::Exact, 100, 200), More::Sample(200));
        // Beside what is undecided, more runs decide: below the rate that is known, and above the one that may be.
        assert!(matches!(of_thousand("sdc>0.09", &sampled, 100, 200), More::Runs(1..)));
        let More::Runs(more) = of_thousand("sdc>0.31", &sampled, 100, 200) else { panic!("more runs decide") };
        assert!(matches!(of_thousand("sdc>0.31", &sampled, 300, 0), More::Runs(same) if same == more));
    }
}
