//! What makes a corrupted output good or bad: the criteria of all outputs, and the verdict by them.

use std::collections::{BTreeMap, BTreeSet};

use crate::observation::OutputDiff;
use crate::outcome::Sdc;
use crate::quality::{Element, Metric, Quality, QualityError};

/// What makes a corrupted output good or bad.
///
/// What names an output beats `*`, which speaks for outputs not named; a [`Quality`] beats a plain tolerance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criteria {
    /// For an output's name, the largest relative error that is still good.
    pub tolerance: BTreeMap<String, f64>,
    /// For an output's name, all that it has to keep to.
    pub quality: BTreeMap<String, Quality>,
    /// The buffers whose copies to the host are no outputs: a difference in them counts for nothing.
    pub scratch: BTreeSet<String>,
}

/// How an output is judged: good up to the tolerance, bad beyond the bound, maybe in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion<'a> {
    /// By which number.
    pub metric: Metric,
    /// At most this is good.
    pub tolerance: f64,
    /// More than this is bad; not below the tolerance.
    pub bad: f64,
    /// Bounds in between, ascending.
    pub bins: &'a [f64],
}

impl Criteria {
    /// Nothing is said of any output.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tolerance.is_empty() && self.quality.is_empty() && self.scratch.is_empty()
    }

    /// Whether they say of any output how good it is; a range and an element type alone do not.
    #[must_use]
    pub fn judges(&self) -> bool {
        !self.tolerance.is_empty() || self.quality.values().any(Quality::judges)
    }

    /// Whether they call the same good, bad and detectable as `other`, of whatever output.
    #[must_use]
    pub fn judges_like(&self, other: &Self) -> bool {
        let names = |criteria: &Self| -> BTreeSet<String> {
            criteria.tolerance.keys().chain(criteria.quality.keys()).cloned().collect()
        };
        let mut named = names(self);
        named.append(&mut names(other));
        named.insert("*".to_owned());
        self.scratch == other.scratch
            && named.iter().all(|name| self.of(name) == other.of(name) && self.range_of(name) == other.range_of(name))
    }

    /// These criteria, and `other`'s where these say nothing of an output.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.scratch.extend(other.scratch);
        let said: BTreeSet<String> = self.tolerance.keys().cloned().collect();
        for (name, tolerance) in other.tolerance {
            self.tolerance.entry(name).or_insert(tolerance);
        }
        for (name, theirs) in other.quality {
            let tolerated = said.contains(&name);
            let ours = self.quality.entry(name).or_default();
            // A tolerance that was given speaks of another metric than theirs may: it judges instead of theirs.
            let judges = tolerated || ours.judges();
            ours.range = ours.range.or(theirs.range);
            ours.element = ours.element.or(theirs.element);
            if !judges {
                *ours = Quality { range: ours.range, element: ours.element, ..theirs };
            }
        }
        self
    }

    /// How the output `name` is judged, if anything is said of that.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<Criterion<'_>> {
        let plain = self.tolerance.get(name).copied();
        let by_star = || self.tolerance.get("*").copied();
        let relative = |tolerance| Criterion { metric: Metric::MaxRel, tolerance, bad: tolerance, bins: &[] };
        let quality = |name: &str| self.quality.get(name).filter(|quality| quality.judges());
        match (quality(name), plain, quality("*")) {
            (Some(quality), _, _) => quality.criterion(plain.or_else(by_star)),
            (None, Some(tolerance), _) => Some(relative(tolerance)),
            (None, None, Some(quality)) => quality.criterion(by_star()),
            (None, None, None) => by_star().map(relative),
        }
    }

    /// The least and the largest value that an element of the output `name` may have, if that is said.
    #[must_use]
    pub fn range_of(&self, name: &str) -> Option<[f64; 2]> {
        self.said_of(name, |quality| quality.range)
    }

    /// What the elements of the output `name` are, if that is said.
    #[must_use]
    pub fn element_of(&self, name: &str) -> Option<Element> {
        self.said_of(name, |quality| quality.element)
    }

    fn said_of<T>(&self, name: &str, what: impl Fn(&Quality) -> Option<T>) -> Option<T> {
        let said = |name: &str| self.quality.get(name).and_then(&what);
        said(name).or_else(|| said("*"))
    }

    /// Checks that each quality makes sense.
    ///
    /// # Errors
    /// Of the first that does not, the output and why.
    pub fn check(&self) -> Result<(), (String, QualityError)> {
        let check = |(name, quality): (&String, &Quality)| {
            let relative = quality.metric.unwrap_or(Metric::MaxRel) == Metric::MaxRel;
            let fallback = self.tolerance.get(name).or_else(|| self.tolerance.get("*")).filter(|_| relative);
            quality.check(fallback.copied()).map_err(|error| (name.clone(), error))
        };
        self.quality.iter().try_for_each(check)
    }
}

impl Quality {
    /// How it judges; `relative` is the largest relative error that is good, where it does not say so itself.
    fn criterion(&self, relative: Option<f64>) -> Option<Criterion<'_>> {
        let metric = self.metric.unwrap_or(Metric::MaxRel);
        let tolerance = self.tolerance.or(relative.filter(|_| metric == Metric::MaxRel));
        let bad = self.bad.or(tolerance)?;
        Some(Criterion { metric, tolerance: tolerance.unwrap_or(0.0), bad, bins: &self.bins })
    }
}

impl Criterion<'_> {
    /// The verdict on an output that differs.
    #[must_use]
    pub fn judge(&self, diff: &OutputDiff) -> Sdc {
        let error = self.metric.of(diff);
        if error <= self.tolerance {
            Sdc::Good
        } else if error <= self.bad {
            let exceeded = self.bins.iter().take_while(|&&bound| error > bound).count();
            Sdc::Maybe(u8::try_from(exceeded).unwrap_or(u8::MAX))
        } else {
            // Also where the error is NaN, which is within nothing.
            Sdc::Bad
        }
    }
}

/// Judges outputs of which at least one differs.
///
/// One bad output is bad whatever the others are; outputs that nothing is said of leave the rest unjudged rather than
/// good; otherwise the worst counts.
pub(crate) fn judge(outputs: &[OutputDiff], criteria: &Criteria) -> Sdc {
    if outputs.iter().any(|output| output.nan > 0 || output.inf > 0 || output.out_of_range > 0) {
        return Sdc::Detectable;
    }
    let (mut worst, mut unjudged) = (Sdc::Good, false);
    for output in outputs.iter().filter(|output| output.differing > 0) {
        match criteria.of(&output.name).map(|criterion| criterion.judge(output)) {
            None => unjudged = true,
            Some(Sdc::Bad) => return Sdc::Bad,
            // Good comes before every bin, and bins are in their order.
            Some(verdict) => worst = worst.max(verdict),
        }
    }
    if unjudged { Sdc::Unjudged } else { worst }
}
