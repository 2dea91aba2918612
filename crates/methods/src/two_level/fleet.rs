//! Mean times to silent data corruption of a fleet of GPUs that all run the application.

use serde_json::{Value, json};
use stats::Bounded;
use study::{Cell, Table};

use super::bounded_view::{document, quantity};

/// Hours in which a rate of 1 FIT is one failure.
const FIT_HOURS: f64 = 1e9;

/// Hours of a day.
const DAY: f64 = 24.0;

/// Most GPUs of a fleet; more is a slip of the keyboard.
const MOST: u64 = 1_000_000_000;

/// A number of GPUs, each of which runs the application all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fleet {
    gpus: u64,
}

impl Fleet {
    /// A fleet of this number of GPUs.
    ///
    /// # Errors
    /// If there are none or too many.
    pub(super) fn of(gpus: u64) -> Result<Self, String> {
        if !(1..=MOST).contains(&gpus) {
            return Err(format!("tell the mean time to SDC of {gpus} GPUs: --gpus takes a number from 1 to {MOST}"));
        }
        Ok(Self { gpus })
    }

    /// The rate of all GPUs, from that of one, in the same unit.
    fn rate(self, of_one: Bounded) -> Bounded {
        of_one.times(self.gpus as f64)
    }

    /// The mean time to SDC in hours, from the rate of one GPU in FIT; infinite where the rate is 0.
    fn hours(self, of_one: Bounded) -> Bounded {
        let rate = self.rate(of_one);
        let hours = |rate: f64| FIT_HOURS / rate;
        Bounded { value: hours(rate.value), low: hours(rate.high), high: hours(rate.low) }
    }

    /// As a document, from the rate of one GPU in FIT; an infinite time is null.
    pub(super) fn json(self, of_one: Bounded) -> Value {
        let time = |time: Bounded| {
            let finite = |value: f64| value.is_finite().then_some(value);
            json!({ "mean": finite(time.value), "low": finite(time.low), "high": finite(time.high) })
        };
        let hours = self.hours(of_one);
        json!({
            "gpus": self.gpus,
            "sdc": document(self.rate(of_one)),
            "hours": time(hours),
            "days": time(hours.times(1.0 / DAY)),
        })
    }

    /// As a table; `rows` are rates of one GPU in FIT, each with its name.
    pub(super) fn table(self, rows: &[(&str, Bounded)]) -> Table {
        let columns = ["application", "SDC rate of all, FIT", "mean time to SDC, hours", "in days"];
        let mut table = Table::new(format!("Mean time to SDC of {} GPUs", self.gpus), &columns);
        for &(name, rate) in rows {
            let hours = self.hours(rate);
            let days = hours.times(1.0 / DAY);
            table.rows.push(vec![Cell::text(name), quantity(self.rate(rate)), quantity(hours), quantity(days)]);
        }
        table.notes.push(
            "All GPUs run the application all the time, at the flux of the IPA table. Instructions without a rate are not in these times, \
             so that the true ones may be shorter."
                .to_owned(),
        );
        if rows.iter().any(|(_, rate)| rate.low <= 0.0) {
            table.notes.push("The rate may be 0, so that a time has no upper bound (inf).".to_owned());
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_gpus_fail_a_thousand_times_as_often() {
        let fleet = Fleet::of(1000).unwrap();
        // 500 FIT: once in 2·10⁶ hours of one GPU, in 2000 hours of a thousand.
        let found = fleet.json(Bounded { value: 500.0, low: 250.0, high: 1000.0 });
        assert_eq!(found["hours"], json!({ "mean": 2000.0, "low": 1000.0, "high": 4000.0 }));
        assert_eq!(found["sdc"], json!({ "rate": 500_000.0, "low": 250_000.0, "high": 1_000_000.0 }));
        assert!((found["days"]["mean"].as_f64().unwrap() - 2000.0 / 24.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn a_rate_that_may_be_nothing_has_a_time_without_an_upper_bound() {
        let fleet = Fleet::of(1).unwrap();
        let found = fleet.json(Bounded { value: 0.0, low: 0.0, high: 1000.0 });
        assert_eq!(found["hours"], json!({ "mean": null, "low": 1e6, "high": null }));
        let table = fleet.table(&[("as it is", Bounded { value: 0.0, low: 0.0, high: 1000.0 })]);
        assert!(table.notes.iter().any(|note| note.contains("no upper bound")), "{:?}", table.notes);
        assert_eq!(fleet.table(&[("as it is", Bounded::exact(3.0))]).notes.len(), 1);
    }

    #[test]
    fn a_fleet_has_a_gpu_and_not_too_many() {
        for gpus in [0, u64::MAX] {
            let error = Fleet::of(gpus).unwrap_err();
            assert!(error.contains(&format!("of {gpus} GPUs: --gpus takes a number from 1 to 1000000000")), "{error}");
        }
    }
}
