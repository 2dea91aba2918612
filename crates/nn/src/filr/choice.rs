//! Choices that are measured on the deployment set, all of them made before that is opened.

use serde::Serialize;

use crate::filr::certainty::{Criterion, READINGS, Reading};
use crate::filr::combine::Combination;
use crate::filr::deploy::{Deployed, DeployedPoint, Deployment, Opened, Protection};
use crate::filr::flr::{CurvePoint, curve, order};
use crate::filr::ilr::{ThresholdPoint, sweep};
use crate::filr::order::Order;
use crate::filr::table::Table;

/// The coverages of FLR alone and of ILR alone that are held against the deployment set.
const PREDICTED: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// A technique of protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FilrTechnique {
    /// Feature maps are made twice.
    Flr,
    /// Inferences are run again.
    Ilr,
    /// Both together.
    Filr,
}

impl FilrTechnique {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flr => "FLR",
            Self::Ilr => "ILR",
            Self::Filr => "FILR",
        }
    }
}

/// The cheapest protection by a technique, with feature maps in the order of the settings, that reaches the target on the analysis
/// set and that a deployed check can do, since it reads Top2Diff of the run that may be faulty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TechniqueChoice {
    /// The technique.
    pub technique: FilrTechnique,
    /// The measure by which feature maps were taken; none without feature maps.
    pub order: Option<Order>,
    /// The feature maps that are made twice, by number.
    pub maps: Vec<usize>,
    /// The Top2Diff below which an inference is run again; none if none is.
    pub threshold: Option<f64>,
    /// The coverage of the analysis set, 0 to 1.
    pub coverage: f64,
    /// The overhead on the analysis set, as a share of multiplications.
    pub overhead: f64,
    /// The same on the deployment set; none if that could not be measured.
    pub deployed: Option<DeployedPoint>,
}

impl TechniqueChoice {
    /// Before the deployment set is opened; coverage and overhead are those of the analysis set.
    fn new(
        technique: FilrTechnique,
        (by, maps): (Order, Vec<usize>),
        threshold: Option<f64>,
        [coverage, overhead]: [f64; 2],
    ) -> Self {
        let order = Some(by).filter(|_| !maps.is_empty());
        Self { technique, order, maps, threshold, coverage, overhead, deployed: None }
    }
}

/// All that is measured on the deployment set.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    combinations: Vec<Combination>,
    flr: Vec<(CurvePoint, Vec<usize>)>,
    ilr: Vec<(Reading, ThresholdPoint)>,
    techniques: Vec<TechniqueChoice>,
}

impl Choices {
    /// The combinations, one for each reading, and what else is chosen by the analysis set.
    pub(crate) fn new(table: &Table, combinations: Vec<Combination>, by: Order, target: f64) -> Self {
        let (numbers, points) = (order(table.maps(), &table.all(), by), curve(table, by));
        // The cheapest of several orders would be that whose coverage the same mismatches overstate most.
        let first_maps = |target: f64| {
            let point = *points.iter().find(|point| point.coverage >= target)?;
            Some((point, numbers[..point.maps].to_vec()))
        };
        let sweeps = READINGS.map(|reading| (reading, sweep(table, Criterion::Top2Diff, reading)));
        let first_threshold = |(reading, points): &(Reading, Vec<ThresholdPoint>), target: f64| {
            Some((*reading, *points.iter().find(|point| point.coverage >= target)?))
        };
        let thresholds = |sweep| PREDICTED.iter().filter_map(move |&target| first_threshold(sweep, target));
        let is_faulty = |reading: Reading| reading == Reading::Faulty;
        let flr = first_maps(target).map(|(point, maps)| {
            TechniqueChoice::new(FilrTechnique::Flr, (by, maps), None, [point.coverage, point.overhead])
        });
        let ilr = sweeps.iter().find(|(reading, _)| is_faulty(*reading)).and_then(|it| first_threshold(it, target));
        let ilr = ilr.map(|(_, point)| {
            let reached = [point.coverage, point.overhead];
            TechniqueChoice::new(FilrTechnique::Ilr, (by, Vec::new()), Some(point.threshold), reached)
        });
        let both = combinations.iter().find(|it| is_faulty(it.reading)).map(|it| {
            let threshold = Some(it.threshold).filter(|&threshold| threshold > 0.0);
            TechniqueChoice::new(FilrTechnique::Filr, (by, it.maps.clone()), threshold, [it.coverage, it.overhead])
        });
        Self {
            flr: PREDICTED.iter().filter_map(|&target| first_maps(target)).collect(),
            ilr: sweeps.iter().flat_map(thresholds).collect(),
            techniques: [flr, ilr, both].into_iter().flatten().collect(),
            combinations,
        }
    }

    /// The protections, in the order in which [`Choices::deployed`] takes their results.
    pub(crate) fn protections(&self) -> Vec<Protection> {
        let combinations = self.combinations.iter().map(Protection::from);
        let flr = self.flr.iter().map(|(_, maps)| Protection::new(Reading::FaultFree, 0.0, maps));
        let ilr = self.ilr.iter().map(|(reading, point)| Protection::new(*reading, point.threshold, &[]));
        let chosen = |it: &TechniqueChoice| Protection::new(Reading::Faulty, it.threshold.unwrap_or(0.0), &it.maps);
        combinations.chain(flr).chain(ilr).chain(self.techniques.iter().map(chosen)).collect()
    }

    /// The choice of each technique, and the deployment set with the results of all.
    pub(crate) fn deployed(mut self, opened: Option<Opened>) -> (Vec<TechniqueChoice>, Option<Deployment>) {
        let Some(Opened { accuracy, injections, sdcs, images_with_sdcs, protections }) = opened else {
            return (self.techniques, None);
        };
        let mut results = protections.into_iter();
        let combinations: Vec<Deployed> = results.by_ref().take(self.combinations.len()).collect();
        let point = |predicted: [f64; 2], found: Option<Deployed>| found.and_then(|it| it.point(predicted));
        let mut of = |predicted| point(predicted, results.next());
        let flr = self.flr.iter().filter_map(|(it, _)| of([it.coverage, it.overhead])).collect();
        let ilr = self.ilr.iter().filter_map(|(_, it)| of([it.coverage, it.overhead])).collect();
        for choice in &mut self.techniques {
            choice.deployed = of([choice.coverage, choice.overhead]);
        }
        let deployment =
            Deployment { accuracy, injections, sdcs, images_with_sdcs, protections: combinations, flr, ilr };
        (self.techniques, Some(deployment))
    }
}
