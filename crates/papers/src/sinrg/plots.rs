//! Curves of overhead against what silent data corruption is left.

use study::{Mark, Plot, Point, Series, Vertical};

use super::survey::{PartlyProtected, SinrgSurvey, remaining};

/// The curve of a workload: measured by scheme, and expected.
pub(super) fn curve(survey: &SinrgSurvey, name: &str) -> Plot {
    let of = || survey.parts.iter().filter(|it| it.name == name);
    let mut schemes: Vec<&str> = of().map(|it| it.scheme).collect();
    schemes.dedup();
    let expected =
        |it: &PartlyProtected| Some(Point { x: it.forecast.overhead, y: 1.0 - it.forecast.coverage?, bounds: None });
    let first = schemes.first().copied().unwrap_or_default();
    let mut series = vec![Series {
        name: "expected: duplicates alone".to_owned(),
        mark: Mark::Dots,
        points: of().filter(|it| it.scheme == first).filter_map(expected).collect(),
    }];
    let measured = |it: &PartlyProtected| {
        let (y, low, high) = remaining(it.ends, it.executed)?;
        let x = it.executed[1] as f64 / it.executed[0].max(1) as f64 - 1.0;
        // The axis ends at all of it.
        Some(Point { x, y: y.min(1.0), bounds: Some((low.min(1.0), high.min(1.0))) })
    };
    series.extend(schemes.iter().map(|&scheme| Series {
        name: format!("measured: {scheme}"),
        mark: Mark::Dots,
        points: of().filter(|it| it.scheme == scheme).filter_map(measured).collect(),
    }));
    Plot {
        name: format!("selective-{name}"),
        title: format!("{name}: what selective protection costs and leaves"),
        x: "more instructions executed, as a share of those before".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "SDC rate × instructions left, % of that without protection".to_owned(),
        vertical: Vertical::Shares,
        series,
    }
}
