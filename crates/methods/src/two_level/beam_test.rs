//! A beam test of the application itself, beside its two-level rate (the paper's Fig. 8).

use serde_json::{Value, json};
use stats::{Bounded, Confidence, poisson};
use study::{Cell, Table};

use super::bounded_view::{document, quantity};

/// FIT of one event, at most; more is a slip of the keyboard.
const MOST: f64 = 1e30;

/// Silent corruptions of an application in a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BeamTest {
    events: u64,
    /// Neutrons for each cm².
    fluence: f64,
    /// Neutrons for each cm² and hour at which the rates of the table hold.
    flux: f64,
}

impl BeamTest {
    /// Reads `EVENTS/FLUENCE`.
    ///
    /// # Errors
    /// If it is of another form, or a number is none above 0.
    pub(super) fn of(words: &str, flux: f64) -> Result<Self, String> {
        let is_positive = |number: f64| number.is_finite() && number > 0.0;
        let pair = words.split_once('/');
        let pair = pair.and_then(|(events, fluence)| Some((events.trim().parse().ok()?, fluence.trim().parse().ok()?)));
        match pair {
            Some((events, fluence)) if is_positive(fluence) && is_positive(flux) && flux * 1e9 / fluence < MOST => {
                Ok(Self { events, fluence, flux })
            }
            Some((_, fluence)) => {
                let (key, number) = if is_positive(fluence) { ("flux", flux) } else { ("beam", fluence) };
                Err(format!("read {number} for --{key}: it must be a number above 0 that makes a rate"))
            }
            None => Err(format!(
                "read `{words}` for --beam: expected EVENTS/FLUENCE, such as 7/2.4e10 for 7 silent corruptions after 2.4e10 neutrons for \
                 each cm²"
            )),
        }
    }

    /// The rate in FIT, with Garwood's bounds at 95 %.
    fn rate(self) -> Bounded {
        poisson(self.events, Confidence::PERCENT_95).times(self.flux * 1e9 / self.fluence)
    }

    /// The rate of the beam by that of the model.
    fn ratio(self, model: Bounded) -> Bounded {
        let inverse = Bounded { value: 1.0 / model.value, low: 1.0 / model.high, high: 1.0 / model.low };
        self.rate().product(inverse)
    }

    /// The outcome of the comparison in words.
    fn words(ratio: Bounded) -> &'static str {
        match () {
            () if ratio.low > 1.0 => "The beam saw more than the model says, beyond the bounds of both.",
            () if ratio.high < 1.0 => "The beam saw less than the model says, beyond the bounds of both.",
            () => "The two agree within their bounds.",
        }
    }

    /// As a document, from the rate of the model in FIT; an infinite bound is null.
    pub(super) fn json(self, model: Bounded) -> Value {
        let ratio = self.ratio(model);
        let finite = |value: f64| value.is_finite().then_some(value);
        json!({
            "events": self.events,
            "fluence": self.fluence,
            "flux": self.flux,
            "sdc": document(self.rate()),
            "ratio": { "value": finite(ratio.value), "low": finite(ratio.low), "high": finite(ratio.high) },
            "agrees": ratio.low <= 1.0 && ratio.high >= 1.0,
        })
    }

    /// As a table, from the rate of the model in FIT.
    pub(super) fn table(self, model: Bounded) -> Table {
        let mut table = Table::new("A beam test of the application", &["SDC rate", "estimate"]);
        let ratio = self.ratio(model);
        let rows = [("by the beam, FIT", self.rate()), ("by the model, FIT", model), ("beam / model", ratio)];
        table.rows.extend(rows.map(|(name, rate)| vec![Cell::text(name), quantity(rate)]));
        table.notes.push(format!(
            "{} silent corruptions after {:e} neutrons for each cm², at {} for each cm² and hour. {}",
            self.events,
            self.fluence,
            self.flux,
            Self::words(ratio)
        ));
        table.notes.push(
            "The beam strikes all bits, the model has those that the table is about: other bits and instructions without a rate add to the \
             beam's side alone."
                .to_owned(),
        );
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beam_test_is_a_rate_with_garwoods_bounds() {
        // 10 events after 2.6e10 neutrons at 13 for each hour: one in 2e8 hours, 5 FIT.
        let rate = BeamTest::of("10/2.6e10", 13.0).unwrap().rate();
        assert!(
            (rate.value - 5.0).abs() < 1e-12 && (rate.low - 2.3977).abs() < 1e-3 && (rate.high - 9.1951).abs() < 1e-3
        );
    }

    #[test]
    fn a_beam_and_the_model_agree_where_their_ratio_may_be_1() {
        let test = BeamTest::of("10/2.6e10", 13.0).unwrap();
        let model = |value: f64| Bounded { value, low: value / 2.0, high: value * 2.0 };
        assert_eq!([4.0, 0.5, 60.0].map(|value| test.json(model(value))["agrees"] == true), [true, false, false]);
        assert!(
            test.table(model(0.5)).notes[0]
                .ends_with("The beam saw more than the model says, beyond the bounds of both.")
        );
        assert!((test.ratio(model(4.0)).value - 1.25).abs() < 1e-12);
        // Nothing seen bounds the rate from above; a model that may be 0 bounds the ratio not at all.
        let quiet = BeamTest::of("0/2.6e10", 13.0).unwrap();
        let ratio = quiet.ratio(model(4.0));
        assert!(ratio.value == 0.0 && ratio.low == 0.0 && (ratio.high - 3.6889 * 0.5 / 2.0).abs() < 1e-3);
        let never = quiet.json(Bounded { value: 4.0, low: 0.0, high: 5.0 });
        assert_eq!((&never["ratio"]["high"], &never["agrees"]), (&Value::Null, &Value::from(true)));
    }

    #[test]
    fn words_that_are_no_beam_test_are_refused() {
        for (words, flux, part) in [
            ("7", 13.0, "expected EVENTS/FLUENCE"),
            ("-1/1e9", 13.0, "expected EVENTS/FLUENCE"),
            ("7/0", 13.0, "read 0 for --beam"),
            ("7/nan", 13.0, "read NaN for --beam"),
            ("7/1e-300", 13.0, "that makes a rate"),
            ("7/1e9", 0.0, "read 0 for --flux"),
        ] {
            let error = BeamTest::of(words, flux).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
