//! How soon protection notices faults, and whether a corrupted value is stored before.

use crate::kit::StudyError;
use campaign::summary::Rate;
use campaign::{Finding, Results};
use inject::site::fault_of;
use inject::{CapsuleTarget, Detection};
use outcome::{Due, Outcome};
use serde::Serialize;
use stats::{Confidence, Proportion, median};

/// The detected faults of a campaign on a hardened capsule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DetectionSummary {
    /// Instructions that the thread with the fault executes between the fault and the notification.
    pub latency: DetectionLatency,
    /// The faults of which no store to global or shared memory before the notification differed from the golden run, as a share
    /// of all detected ones.
    pub contained: Rate,
}

/// The distribution of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DetectionLatency {
    /// The median.
    pub median: f64,
    /// The lower bound of the median at 95 %.
    pub low: f64,
    /// The upper bound of the median at 95 %.
    pub high: f64,
    /// The 95th percentile: the least latency that 95 % do not exceed.
    pub p95: u64,
}

impl DetectionSummary {
    /// Runs the detected faults of a campaign once more; none if none was detected.
    ///
    /// # Errors
    /// If the rows cannot be read, or a fault cannot be run.
    pub fn of(target: &CapsuleTarget, results: &Results) -> Result<Option<Self>, StudyError> {
        let mut faults = Vec::new();
        results.visit(&mut |row| {
            if matches!(row.finding, Finding::Seen { outcome: Outcome::Due(Due::Detected), .. }) {
                faults.push(fault_of(&row.site));
            }
        })?;
        let faults: Result<Vec<_>, _> = faults.into_iter().collect();
        let faults = faults.map_err(|error| StudyError::Refused(error.message().to_owned()))?;
        let found = target.detections(&faults).map_err(|error| StudyError::Refused(error.to_string()))?;
        Ok(Self::from_detections(&found.into_iter().flatten().collect::<Vec<_>>()))
    }

    fn from_detections(detections: &[Detection]) -> Option<Self> {
        let mut latencies: Vec<u64> = detections.iter().map(|it| it.latency).collect();
        latencies.sort_unstable();
        let values: Vec<f64> = latencies.iter().map(|&latency| latency as f64).collect();
        let middle = median(&values, Confidence::PERCENT_95)?;
        let p95 = latencies[(latencies.len() * 95).div_ceil(100) - 1];
        let (all, count) = (detections.len() as u64, detections.iter().filter(|it| it.contained).count() as u64);
        let bounds = Proportion::from_counts(count, all - count).wilson(Confidence::PERCENT_95);
        Some(Self {
            latency: DetectionLatency { median: middle.value, low: middle.low, high: middle.high, p95 },
            contained: Rate { count, rate: Some(count as f64 / all as f64), low: bounds.low, high: bounds.high },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_ordered_and_the_contained_counted() {
        let detection = |latency| Detection { latency, contained: latency > 5 };
        let detections: Vec<Detection> = (1..=20).rev().map(detection).collect();
        let found = DetectionSummary::from_detections(&detections).unwrap();
        // Conover's Table A3: of 20 values the 6th and the 15th.
        assert_eq!(found.latency, DetectionLatency { median: 10.5, low: 6.0, high: 15.0, p95: 19 });
        assert_eq!((found.contained.count, found.contained.rate), (15, Some(0.75)));
        assert!(found.contained.low < 0.6 && found.contained.high > 0.85 && found.contained.high < 1.0);
        assert_eq!(DetectionSummary::from_detections(&[]), None);
    }
}
