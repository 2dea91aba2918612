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
    /// The number that decides what is good.
    pub metric: Metric,
    /// At most this is good.
    pub tolerance: f64,
    /// The number that decides what is bad, of what is not good.
    pub bad_metric: Metric,
    /// More than this is bad; not below the tolerance if both are of one metric.
    pub bad: f64,
    /// The number that decides in which bin a maybe is.
    pub bins_metric: Metric,
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
        let relative = |tolerance| {
            let metric = Metric::MaxRel;
            Criterion { metric, tolerance, bad_metric: metric, bad: tolerance, bins_metric: metric, bins: &[] }
        };
        let quality = |name: &str| self.quality.get(name).filter(|quality| quality.judges());
        match (quality(name), plain, quality("*")) {
            (Some(quality), _, _) => quality.criterion(plain.or_else(by_star)),
            (None, Some(tolerance), _) => Some(relative(tolerance)),
            (None, None, Some(quality)) => quality.criterion(by_star()),
            (None, None, None) => by_star().map(relative),
        }
    }

    /// All that these criteria say of the output `name`, as one quality that needs no other; empty if they say nothing.
    #[must_use]
    pub fn quality_of(&self, name: &str) -> Quality {
        let bounds = self.of(name).map_or_else(Quality::default, |it| Quality {
            metric: Some(it.metric),
            tolerance: Some(it.tolerance),
            bad: Some(it.bad),
            bad_metric: Some(it.bad_metric).filter(|metric| *metric != it.metric),
            bins: it.bins.to_vec(),
            bins_metric: Some(it.bins_metric).filter(|metric| *metric != it.bad_metric),
            ..Quality::default()
        });
        Quality { range: self.range_of(name), element: self.element_of(name), ..bounds }
    }

    /// These criteria without what judges: the ranges and the element types, which have to be known before outputs are compared.
    #[must_use]
    pub fn compared(&self) -> Self {
        let only = |it: &Quality| Quality { range: it.range, element: it.element, ..Quality::default() };
        let all = self.quality.iter().map(|(name, quality)| (name.clone(), only(quality)));
        let quality = all.filter(|(_, quality)| *quality != Quality::default()).collect();
        Self { tolerance: BTreeMap::new(), quality, scratch: self.scratch.clone() }
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
        let [metric, bad_metric, bins_metric] = self.metrics();
        let tolerance = self.tolerance.or(relative.filter(|_| metric == Metric::MaxRel));
        let bad = self.bad.or(tolerance)?;
        let tolerance = tolerance.unwrap_or(0.0);
        Some(Criterion { metric, tolerance, bad_metric, bad, bins_metric, bins: &self.bins })
    }
}

impl Criterion<'_> {
    /// The verdict on an output that differs.
    #[must_use]
    pub fn judge(&self, diff: &OutputDiff) -> Sdc {
        if self.metric.of(diff) <= self.tolerance {
            Sdc::Good
        } else if self.bad_metric.of(diff) <= self.bad {
            let error = self.bins_metric.of(diff);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn criteria(quality: &str) -> Criteria {
        Criteria { quality: [Quality::parse(quality).unwrap()].into(), ..Criteria::default() }
    }

    #[test]
    fn good_bad_and_bins_may_each_have_a_metric() {
        let diff = |max_abs, max_rel, rel_l2| OutputDiff {
            differing: 1,
            max_abs,
            max_rel,
            rel_l2,
            ..OutputDiff::equal("calls", 8)
        };
        let verdict = |quality: &str, of: &OutputDiff| criteria(quality).of("calls").unwrap().judge(of);
        // Blackscholes of the thesis (Table 2.2): good by dollars, bad and bins by per cent.
        let thesis = "*:metric=max-abs,tolerance=1e-4,bad=1,bad-metric=max-rel,bins=0.01/0.02";
        for (max_abs, max_rel, sdc) in [
            // What is good is good, however large the error of a price near 0 is for that price.
            (1e-5, f64::INFINITY, Sdc::Good),
            (2.0, 0.001, Sdc::Maybe(0)),
            (2.0, 0.015, Sdc::Maybe(1)),
            (2.0, 0.99, Sdc::Maybe(2)),
            (2.0, 1.01, Sdc::Bad),
            (2.0, f64::NAN, Sdc::Bad),
        ] {
            assert_eq!(verdict(thesis, &diff(max_abs, max_rel, 0.0)), sdc, "{max_abs} {max_rel}");
        }
        let third = "*:metric=max-abs,tolerance=1e-4,bad=1,bad-metric=max-rel,bins=0.01/0.02,bins-metric=rel-l2";
        assert_eq!(verdict(third, &diff(2.0, 0.5, 0.0)), Sdc::Maybe(0));
        assert_eq!(verdict(third, &diff(2.0, 0.5, 9.0)), Sdc::Maybe(2));
        // A tolerance beside it is a relative error.
        let mut plain = criteria("calls:bad=2,bad-metric=max-abs");
        plain.tolerance.insert("calls".to_owned(), 0.5);
        assert_eq!(plain.check(), Ok(()));
        let of = |max_abs, max_rel| plain.of("calls").unwrap().judge(&diff(max_abs, max_rel, 0.0));
        assert_eq!([of(9.0, 0.5), of(2.0, 0.6), of(2.1, 0.6)], [Sdc::Good, Sdc::Maybe(0), Sdc::Bad]);
    }

    #[test]
    fn what_is_said_of_an_output_is_one_quality_that_judges_alike() {
        let star = "*:metric=max-abs,tolerance=1.0,bad=2.0,bad-metric=max-rel,bins=1.5";
        let mut all = criteria(star);
        all.quality.extend([Quality::parse("out:range=0..500,element=f64").unwrap()]);
        let of = all.quality_of("out");
        assert_eq!(format!("*:{of}"), format!("{star},range=0.0..500.0,element=f64"));
        assert_eq!(all.quality_of("other"), all.quality["*"]);
        let alone = Criteria { quality: [("out".to_owned(), of)].into(), ..Criteria::default() };
        assert_eq!((alone.of("out"), alone.range_of("out")), (all.of("out"), all.range_of("out")));
        assert_eq!(Criteria::default().quality_of("out"), Quality::default());
        let compared = all.compared();
        assert_eq!(compared.quality.keys().collect::<Vec<_>>(), ["out"]);
        assert!(!compared.judges() && compared.range_of("out") == Some([0.0, 500.0]));
    }

    #[test]
    fn a_metric_that_decides_nothing_makes_no_difference() {
        let plain = criteria("out:metric=max-abs,tolerance=1,bad=2");
        assert!(plain.judges_like(&criteria("out:metric=max-abs,tolerance=1,bad=2,bad-metric=max-abs")));
        assert!(!plain.judges_like(&criteria("out:metric=max-abs,tolerance=1,bad=2,bad-metric=max-rel")));
        let bins = |more: &str| criteria(&format!("out:metric=max-abs,tolerance=1,bad=9,bins=4{more}"));
        assert!(bins("").judges_like(&bins(",bins-metric=max-abs")));
        assert!(!bins("").judges_like(&bins(",bins-metric=rel-l2")));
    }
}
