//! A numeric parameter as positions from 0 to 1, on its scale.

use space::{Kind, Parameter, Scale, Value};

/// The position of a value on its scale, from 0 to 1; none of a word or a seed.
pub(super) fn position(parameter: &Parameter, value: &Value) -> Option<f64> {
    let (low, high, scale) = ends(&parameter.kind)?;
    let at = match value {
        Value::Int(value) => *value as f64,
        Value::Float(value) => *value,
        Value::Text(_) => return None,
    };
    let of = |number: f64| if scale == Scale::Log { number.ln() } else { number };
    let span = of(high) - of(low);
    Some(if span > 0.0 { ((of(at) - of(low)) / span).clamp(0.0, 1.0) } else { 0.5 })
}

/// The value at a position; none of a parameter that has no positions.
pub(super) fn value(parameter: &Parameter, position: f64) -> Option<Value> {
    let (low, high, scale) = ends(&parameter.kind)?;
    let at = match scale {
        Scale::Linear => low + position * (high - low),
        Scale::Log => (low.ln() + position * (high.ln() - low.ln())).exp(),
    };
    Some(match parameter.kind {
        Kind::Int { low, high, step, .. } => {
            let steps = ((at - low as f64) / step as f64).round() as i64;
            Value::Int(low.saturating_add(steps.saturating_mul(step)).clamp(low, high))
        }
        _ => Value::Float(at.clamp(low, high)),
    })
}

/// The ends of a scale. Each whole number has the share from half a step below it to half a step above it.
fn ends(kind: &Kind) -> Option<(f64, f64, Scale)> {
    match *kind {
        Kind::Int { low, high, step, scale } => {
            let half = step as f64 / 2.0;
            let below = if scale == Scale::Log { half.min(low as f64 - 0.5) } else { half };
            Some((low as f64 - below, high as f64 + half, scale))
        }
        Kind::Float { low, high, scale } => Some((low, high, scale)),
        Kind::Choice(_) | Kind::Seed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back_from_its_position() {
        for scale in [Scale::Linear, Scale::Log] {
            let kind = Kind::Int { low: 3, high: 43, step: 4, scale };
            let parameter = Parameter { name: "x".into(), kind, reference: Value::Int(3) };
            let mut last = 0.0;
            for number in (3..=43).step_by(4) {
                let at = position(&parameter, &Value::Int(number)).unwrap();
                assert!(last < at && at < 1.0, "{number}: {at}");
                assert_eq!(value(&parameter, at), Some(Value::Int(number)));
                last = at;
            }
            assert_eq!(value(&parameter, 0.0), Some(Value::Int(3)));
            assert_eq!(value(&parameter, 1.0), Some(Value::Int(43)));
        }
        let seed = Parameter { name: "x".into(), kind: Kind::Seed, reference: Value::Int(3) };
        assert_eq!((position(&seed, &Value::Int(3)), value(&seed, 0.5)), (None, None));
    }
}
